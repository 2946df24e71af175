"""A network on the real server of the embedded model, from the command line to verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgenet.cli.main import main


def test_a_network_judges_a_pair_on_the_embedded_model(
    weights: Path, config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Roles, two layers and both orders: every answer has the form that the schema asks for, and is read."""
    monkeypatch.chdir(tmp_path)
    pair = {"id": "1", "question": "What is two and two?", "response_a": "Four.", "response_b": "A fish.", "human": "a"}
    Path("pairs.jsonl").write_text(json.dumps(pair) + "\n", encoding="utf-8")
    command = ["run", "--pairs", "pairs.jsonl", "--out", "out", "--width", "1", "--depth", "2", "--json", "--quiet"]
    assert main(command) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["pairs"] == {"total": 1, "finished": 1, "labelled": 1, "not_asked": 0}
    assert (figures["calls"]["scored"], figures["calls"]["unscored"]) == (4, {})
    assert figures["cost"]["price"] == 0.0
    assert main(["export", "out", "--what", "calls"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    roles, *judged = lines
    assert roles["status"] == "roles"
    for line in judged:
        assert 1 <= line["score_a"] <= 10
        assert 1 <= line["score_b"] <= 10
        assert line["form"] == "json"
        assert line["usage"]["completion_tokens"] > 0
        assert not line["usage"]["estimated"]
    # The pair's texts come first in each prompt, so the server finds them in its cache.
    assert sum(line["usage"]["cached_tokens"] for line in judged) > 0
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["cost"]["calls_new"] == 5
