"""Reasoning and further fields from the command line to the request, the record and the report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from judgenet.core.network import Settings
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.store.files import save_project
from tests.fakes.judge_reasoning import THINKING_TOKENS
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

ONE = ("--width", 1, "--depth", 1, "--roles", "none")


def _plain(path: str) -> str:
    return Path(path).read_text(encoding="utf-8").replace("\\", "")


def test_options_of_a_run(judgenet: Judgenet, server: JudgeServer, pairs: Path, at: tuple[str, ...]) -> None:
    asked = ("run", "--pairs", pairs, *at, *ONE, "--price", "1,2", "--out", "out")
    more = ("--reasoning", "low", "--extra", '{"top_k": 20, "chat_template_kwargs": {"language": "en"}}')
    assert judgenet(*asked, *more).code == 0
    first = server.requests
    for entry in server.log:
        assert entry.asked["reasoning_effort"] == "low"
        assert entry.asked["chat_template_kwargs"] == {"enable_thinking": True, "language": "en"}
        assert entry.asked["top_k"] == 20
        assert entry.asked["max_tokens"] == 1024 + 1024
    calls = judgenet("export", "out", "--what", "calls").lines
    for call in calls:
        assert call["parameters"][4] == {
            "reasoning": "low",
            "extra": {"chat_template_kwargs": {"language": "en"}, "top_k": 20},
        }
        assert call["thinking"]
        usage = call["usage"]
        assert usage["reasoning_tokens"] == THINKING_TOKENS
        # Thinking is paid for: 1 USD a million tokens in, 2 out.
        assert abs(call["price"] - (usage["prompt_tokens"] + 2 * usage["completion_tokens"]) / 1e6) < 1e-12
    assert judgenet("report", "out", "-o", "out.md").code == 0
    text = _plain("out.md")
    assert "with reasoning low (with room for thinking on top of the limit)" in text
    assert 'further fields {"chat_template_kwargs":{"language":"en"},"top_k":20}' in text
    assert f"({len(calls) * THINKING_TOKENS} of them thinking)" in text
    # The same again asks nothing; another setting is another question.
    assert judgenet(*asked, *more).code == 0
    assert server.requests == first
    assert judgenet(*asked, "--reasoning", "2000").code == 0
    assert server.requests == 2 * first
    assert server.log[-1].asked["thinking_token_budget"] == 2000
    assert "top_k" not in server.log[-1].asked


def test_a_layer_that_thinks_and_one_that_does_not(judgenet: Judgenet, pairs: Path) -> None:
    with JudgeServer(refuse=["reasoning_none"]) as server:
        spec = network(1, 2, roles="none", orders="ab", settings=Settings("judge", "judge", 0.0))
        high, none = (
            replace(of, settings=Settings(reasoning=reasoning))
            for of, reasoning in zip(spec.layers, ("high", "none"), strict=True)
        )
        project = Project.new("Two", replace(spec, layers=(high, none)))
        save_project(replace(project, pairs=PairsSource((pairs.name,))), Path("two.judgenet"))
        assert judgenet("endpoint", "add", "judge", "--base-url", server.url, "--model", "judge").code == 0
        assert judgenet("run", "two.judgenet").code == 0
        layers: dict[str | None, int] = {"high": 0, None: 0}
        for entry in server.log:
            if entry.status == 200:
                layers[entry.asked.get("reasoning_effort")] += 1
        assert layers == {"high": 4, None: 4}
        # What is refused is learned once; calls that were on their way are sent again.
        assert {entry.asked.get("reasoning_effort") for entry in server.log if entry.status == 400} == {"none"}
    calls = judgenet("export", "two.judgenet", "--what", "calls").lines
    assert [call["applied"] for call in calls if call["layer"] == 1] == [{}] * 4
    assert [call["applied"] for call in calls if call["layer"] == 2] == [{"reasoning": "not applied"}] * 4
    assert {call["layer"] for call in calls if call["thinking"]} == {1}
    assert judgenet("report", "two.judgenet", "-o", "two.md").code == 0
    text = _plain("two.md")
    assert "with reasoning high in 4 of 8 answers and reasoning none in 4 of 8 answers" in text
    assert "Reasoning none was not applied in 4 of 4 answers: the endpoint refuses or ignores it." in text
    assert "Reasoning high was" not in text


def test_an_estimate_reckons_with_thinking(judgenet: Judgenet, pairs: Path, at: tuple[str, ...]) -> None:
    asked = ("estimate", "--pairs", pairs, *at, *ONE, "--json")
    plain = judgenet(*asked).json
    assert "thinking" not in plain
    thinking = judgenet(*asked, "--reasoning", "medium").json
    # Four pairs in both orders; an eighth of the room of 8,192 tokens, and all of it.
    assert thinking["thinking"] == {"medium": [1024, 8192]}
    before, after = plain["tokens_out"], thinking["tokens_out"]
    assert [after[0] - before[0], after[1] - before[1]] == [8 * 1024, 8 * 8192]
    out = judgenet(*asked[:-1], "--reasoning", "2000").out
    assert "250 to 2,000 tokens a call with a budget of 2,000 tokens" in out


def test_bad_values_say_how_to_mend_them(judgenet: Judgenet, pairs: Path, at: tuple[str, ...]) -> None:
    run = ("run", "--pairs", pairs, *at, "--out", "out")
    for option, value, words in (
        ("--reasoning", "hgh", "--reasoning: must be one of none, minimal, low, medium, high, xhigh, max, a number of"),
        (
            "--reasoning",
            "0",
            "--reasoning: must be 1 thinking token or more, but is 0; to reason not at all it is none",
        ),
        (
            "--extra",
            "top_k=20",
            '--extra: not JSON: a value is expected (line 1, column 1); it looks like {"top_k": 20',
        ),
        ("--extra", '{"stream": true}', "--extra: stream: is filled by the program and cannot be replaced"),
    ):
        refused = judgenet(*run, option, value)
        assert refused.code == 2
        assert words in " ".join(refused.err.split())


def test_a_run_that_needs_a_longer_context_warns_first(judgenet: Judgenet, tmp_path: Path) -> None:
    long = {"id": "p", "question": "Which?", "response_a": "word " * 4000, "response_b": "short"}
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps(long) + "\n", encoding="utf-8")
    with JudgeServer(models=["judge"], context=4096) as server:
        ran = judgenet("run", "--pairs", path, "--base-url", server.url, "--model", "judge", *ONE, "--out", "out")
    assert ran.code == 0
    told = " ".join(ran.err.split())
    assert "the server reports a context of 4,096 tokens; the longest prompt of this run has about" in told
    assert told.index("the server reports a context") < told.index("Every call:")


def test_an_endpoint_has_fields_of_its_own(judgenet: Judgenet, server: JudgeServer, pairs: Path) -> None:
    at = ("--base-url", server.url, "--model", "judge")
    assert judgenet("endpoint", "add", "judge", *at, "--extra", '{"top_k": 20, "a": {"b": 1}}').code == 0
    assert judgenet("endpoint", "show", "judge", "--json").json["extra"] == {"top_k": 20, "a": {"b": 1}}
    assert judgenet("endpoint", "test", "judge").code == 0
    assert server.log[-1].asked["top_k"] == 20
    assert f"({THINKING_TOKENS} of them thinking)" in judgenet("endpoint", "test", "judge", "--reasoning", "low").out
    run = ("run", "--pairs", pairs, "--endpoint", "judge", *ONE, "--out", "out")
    assert judgenet(*run, "--extra", '{"a": {"c": 2}, "top_k": 5}').code == 0
    # The network's own fields go over the endpoint's.
    assert server.log[-1].asked["a"] == {"b": 1, "c": 2}
    assert server.log[-1].asked["top_k"] == 5
    assert json.loads(json.dumps(judgenet("export", "out", "--what", "calls").lines[0]["parameters"][4])) == {
        "extra": {"a": {"b": 1, "c": 2}, "top_k": 5}
    }
    assert judgenet("endpoint", "add", "judge", "--extra", "{}").code == 0
    assert judgenet("endpoint", "show", "judge", "--json").json["extra"] is None
