"""A report says what calls were really sent with, not what was asked for: endpoints refuse parameters."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from judgenet.report.settings import applied_temperature, not_applied, setting_words
from judgenet.store.usage import ParameterUse
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

ONE = ("--width", 1, "--depth", 1, "--roles", "none")


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Three pairs, as of a server that takes no temperature but the default."""
    path = tmp_path / "three.jsonl"
    texts = [("Why does ice float?", "a"), ("What is 2+2?", "b"), ("Name a mammal.", "a")]
    path.write_text(
        "".join(
            json.dumps({"id": f"p{i}", "question": asks, "response_a": "Yes.", "response_b": "No.", "human": label})
            + "\n"
            for i, (asks, label) in enumerate(texts, 1)
        ),
        encoding="utf-8",
    )
    return path


def _report(judgenet: Judgenet, server: JudgeServer, pairs: Path, *more: object) -> str:
    at = ("--base-url", server.url, "--model", "judge")
    assert judgenet("run", "--pairs", pairs, *at, *ONE, *more, "--out", "out").code == 0
    assert judgenet("report", "out", "-o", "out.md").code == 0
    return Path("out.md").read_text(encoding="utf-8").replace("\\", "")


def test_a_temperature_that_is_refused_was_not_applied(judgenet: Judgenet, three: Path) -> None:
    with JudgeServer(refuse=["temperature"]) as server:
        text = _report(judgenet, server, three, "--temperature", 0)
    assert "with the endpoint's own temperature" in text
    assert "Temperature 0 was not applied in 6 of 6 answers, as the endpoint refuses it." in text
    assert "temperature 0 not applied, at most 1,024 tokens" in text
    assert "with temperature 0" not in text
    assert "temperature 0," not in text
    calls = judgenet("export", "out", "--what", "calls").lines
    assert [call["applied"] for call in calls] == [{"temperature": "not applied"}] * 6
    assert [call["parameters"][1] for call in calls] == [0] * 6


def test_a_store_of_an_earlier_program_says_it_by_its_run(judgenet: Judgenet, three: Path) -> None:
    with JudgeServer(refuse=["temperature"]) as server:
        text = _report(judgenet, server, three, "--temperature", 0)
    (store,) = Path("out").glob("*.db")
    with sqlite3.connect(store) as db:
        for number, parameters in db.execute("SELECT id, parameters FROM calls").fetchall():
            db.execute("UPDATE calls SET parameters=? WHERE id=?", (json.dumps(json.loads(parameters)[:4]), number))
    db.close()
    assert judgenet("report", "out", "-o", "old.md").code == 0
    old = Path("old.md").read_text(encoding="utf-8")
    for sentence in ("was not applied in 6 of 6 answers", "temperature 0 not applied, at most 1,024 tokens"):
        assert sentence in text
        assert sentence in old
    assert [call["applied"] for call in judgenet("export", "out", "--what", "calls").lines] == [None] * 6


def test_what_was_applied_is_stated_as_it_was(judgenet: Judgenet, three: Path) -> None:
    with JudgeServer() as server:
        text = _report(judgenet, server, three, "--temperature", 0.5)
    assert "with temperature 0.5 and at most 1,024 tokens a reply" in text
    assert "not applied" not in text
    assert [call["applied"] for call in judgenet("export", "out", "--what", "calls").lines] == [{}] * 6


@pytest.mark.parametrize(
    ("refused", "sentence"),
    [
        ("system", "The system message was put into the user message in 6 of 6 answers"),
        ("schema_limits", "The reply schema was sent without its limits in 6 of 6 answers"),
        ("max_tokens", "The limit of tokens was sent as max_completion_tokens in 6 of 6 answers."),
    ],
)
def test_other_settings_that_are_refused(judgenet: Judgenet, three: Path, refused: str, sentence: str) -> None:
    with JudgeServer(refuse=[refused]) as server:
        assert sentence in _report(judgenet, server, three)


def test_the_share_of_answers_without_a_setting() -> None:
    sent = ParameterUse("lab", "m", "json", 0.0, 512, 6)
    left_out = sent._replace(calls=2, applied=(("longer", 2048), ("temperature", "not applied")))
    free = sent._replace(temperature=None, calls=4)
    assert not_applied((sent, free)) == ()
    assert not_applied((sent, left_out, free)) == (
        "Temperature 0 was not applied in 2 of 8 answers, as the endpoint refuses it.",
        "An answer that was cut was asked for again with a limit of up to 2,048 tokens in 2 of 12 answers.",
    )
    assert (applied_temperature((sent, left_out)), applied_temperature((left_out,))) == (0.0, None)
    assert setting_words(left_out) == (
        "temperature 0 not applied, at most 512 tokens, cut and asked again for up to 2,048, reply schema"
    )
