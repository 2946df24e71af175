"""Token probabilities from servers that send them, refuse them, or leave them out: requests, runs, and the record.

The forms are those of platform.openai.com "Chat completions: logprobs, top_logprobs", docs.vllm.ai "OpenAI-compatible
server" (``max_logprobs`` 20), llama.cpp's server README (``logprobs``, ``top_logprobs`` of chat completions), and
ai.google.dev "GenerationConfig: responseLogprobs, logprobs"; Anthropic's API has none.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.calls import Parameters, scores_setting
from judgenet.core.endpoints import EndpointKind, EndpointProfile
from judgenet.core.evaluation import Evaluation, ScoreSource
from judgenet.core.events import RunFinished
from judgenet.core.network import Settings
from judgenet.core.presets import network
from judgenet.engine import exchange
from judgenet.engine.client import HttpEndpoint
from judgenet.engine.executor import Executor
from judgenet.engine.ports import ChatRequest
from judgenet.engine.providers.anthropic import Anthropic
from judgenet.engine.providers.gemini import Gemini
from judgenet.engine.providers.openai import OpenAI
from judgenet.engine.session import plan_run
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import call_rows, full_calls, run_info
from tests.fakes.clock import FastClock
from tests.fakes.judge_server import JudgeServer
from tests.fakes.judge_tokens import likely_numbers
from tests.unit.engine.harness import pairs, start
from tests.unit.engine.test_client import REQUEST, Bench, ask
from tests.unit.engine.test_client import run as run_in_loop

SETTINGS = Settings(endpoint="fake", model="judge", temperature=0.0, scores="probabilities")
WANTED = replace(REQUEST, more={"scores": "probabilities"})


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(tokens="joined") as running:
        yield running


def expected(number: int) -> float:
    """The expected score where this number was sampled, of the probabilities that the fake server gives."""
    shares = likely_numbers(number)
    return sum(value * share for value, share in shares.items()) / sum(shares.values())


def judge(path: Path, server: JudgeServer, kind: EndpointKind = "openai", stream: bool = False, depth: int = 1) -> None:
    """Runs 3 pairs in layers of 2 neurons."""
    profile = EndpointProfile("fake", kind=kind, base_url=server.url, model="judge")
    judged_pairs = pairs(3, human="a")
    begin = start(
        network(2, 1, roles="none", settings=SETTINGS), judged_pairs, profiles={"fake": profile}, stream=stream
    )

    async def go() -> RunFinished:
        endpoint = HttpEndpoint(profile, clock=FastClock())
        try:
            return await Executor(plan_run(store, begin), store, {"fake": endpoint}, lambda _: None).run()
        finally:
            await endpoint.close()

    with Store.open(path) as store:
        finished = asyncio.run(go())
    assert finished.state == "done", finished.message


def judged(path: Path, server: JudgeServer, kind: EndpointKind = "openai", stream: bool = False) -> list[Any]:
    """Runs, and returns all that is kept of the calls."""
    judge(path, server, kind, stream)
    with Store.open(path, readonly=True) as store:
        return list(full_calls(store, run_info(store)))


def sources(calls: Any) -> Counter[ScoreSource | None]:
    return Counter(call.result.scores_from for call in calls)


# Requests


def test_what_each_api_is_asked() -> None:
    request = ChatRequest("m", "", "", "Which?", more=scores_setting(SETTINGS))
    plain = ChatRequest("m", "", "", "Which?")
    for provider, names in ((OpenAI(""), {"logprobs": True, "top_logprobs": 20}), (Anthropic(""), {})):
        body = provider.body(request, {}, False)
        assert body == {**provider.body(plain, {}, False), **names}
    config = Gemini("").body(request, {}, False)["generationConfig"]
    assert (config["responseLogprobs"], config["logprobs"]) == (True, 20)
    fewer = OpenAI("").body(request, {"scores": "5 alternatives a token"}, False)
    assert fewer["top_logprobs"] == 5
    assert "logprobs" not in OpenAI("").body(request, {"scores": "not applied"}, False)


def test_the_setting_is_part_of_the_key_only_where_it_is_set() -> None:
    def digest(scores: Any) -> str:
        return Parameters("m", None, 100, None, scores_setting(Settings(scores=scores))).digest()

    assert digest(None) == digest("text") == Parameters("m", None, 100, None).digest()
    assert json.loads(digest("probabilities"))[4] == {"scores": "probabilities"}


@pytest.mark.parametrize("kind", ["openai", "gemini", "ollama"])
def test_refusals_are_learned(server: JudgeServer, kind: EndpointKind) -> None:
    """First fewer alternatives are asked for, then none; the answer says what was applied."""
    bench = Bench(server, kind=kind)
    server.set(refuse=["top_logprobs"])
    reply = ask(bench, WANTED)
    assert (reply.attempts, reply.applied) == (2, {})
    assert bench.endpoint.learned("judge") == {"scores": "5 alternatives a token"}
    assert max(len(token.alternatives) for token in reply.tokens) > 1
    server.set(refuse=["logprobs"])
    reply = ask(Bench(server, kind=kind), WANTED)
    assert (reply.attempts, reply.applied["scores"], reply.tokens) == (3, "not applied", ())


def test_an_answer_with_tokens_may_be_larger_but_not_its_text(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.set(script=["huge"])
    reply = ask(Bench(server), WANTED)
    assert (reply.finish_reason, reply.tokens) == ("too_large", ())
    monkeypatch.setattr(exchange, "MOST_BYTES", 2_000)
    assert ask(Bench(server), REQUEST).finish_reason == "stop"
    reply = ask(Bench(server), WANTED)
    assert reply.finish_reason == "stop"
    assert sum(len(token.text) for token in reply.tokens) == len(reply.text)


def test_alternatives_are_kept_where_a_score_may_stand(server: JudgeServer) -> None:
    """Of all tokens the text is kept, so that places can be found; alternatives only at digits and after them."""
    reply = ask(Bench(server), WANTED)
    digits = [token.text.isdigit() for token in reply.tokens]
    for place, token in enumerate(reply.tokens):
        near = digits[place] or (place > 0 and digits[place - 1])
        assert bool(token.alternatives) == near


@pytest.mark.parametrize(
    ("tokens", "kind", "words"),
    [
        ("", "openai", "answers came without token probabilities; such scores are those of the text"),
        ("joined", "anthropic", "answers are of an API that gives no token probabilities"),
    ],
)
def test_missing_probabilities_are_told_once(server: JudgeServer, tokens: str, kind: EndpointKind, words: str) -> None:
    server.set(tokens=tokens)
    bench = Bench(server, kind=kind)
    run_in_loop(bench, bench.all(4, WANTED))
    assert [words in state.message for state in bench.states] == [True]


# Runs


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("tokens", ["joined", "boundary", "joined+no_bytes", "joined+extra", "boundary+fewer"])
def test_scores_are_expected_ones(tmp_path: Path, server: JudgeServer, tokens: str, stream: bool) -> None:
    """Whole numbers as tokens, with punctuation, without bytes, beside tokens that the text lacks, and with two
    alternatives only (which see .9 of the probability, and so miss the number above)."""
    server.set(tokens=tokens)
    calls = judged(tmp_path / "s.judgenet.db", server, stream=stream)
    assert sources(calls) == {"probabilities": 12}
    for call in calls:
        said = json.loads(call.raw_text)
        shown = (said["score_1"], said["score_2"])
        by_order = shown if call.site.order == "ab" else shown[::-1]
        assert call.result.sampled == by_order
        assert sum(call.result.shares) == pytest.approx(1)
        if "fewer" not in tokens:
            assert (call.result.score_a, call.result.score_b) == pytest.approx(tuple(map(expected, by_order)))


def test_one_digit_a_token(tmp_path: Path, server: JudgeServer) -> None:
    """1 and 10 are told apart where "1" was sampled; where it was not, a part of more than .2 would be unclear."""
    server.set(tokens="digits")
    calls = judged(tmp_path / "s.judgenet.db", server)
    assert sources(calls) == {"probabilities": 12}
    for call in calls:
        said = json.loads(call.raw_text)
        for name, score in zip(("score_1", "score_2"), call.likely.expected, strict=True):
            known = likely_numbers(said[name])
            if said[name] == 10:  # "1" is followed by "0" for certain
                known = {10: 0.75, 9: 0.15}
            if said[name] == 9:  # the "1" of the 10 is unclear
                known = {9: 0.75, 8: 0.15}
            if said[name] == 2:  # and so is the "1" beside a 2
                known = {2: 0.75, 3: 0.1}
            whole = sum(known.values())
            assert score == pytest.approx(sum(v * p for v, p in known.items()) / whole, abs=1e-6), said


@pytest.mark.parametrize(
    ("tokens", "refuse", "kind", "why"),
    [
        ("", [], "openai", "not_sent"),
        ("joined", ["logprobs"], "openai", "not_applied"),
        ("joined", ["logprobs"], "gemini", "not_applied"),
        ("joined", [], "anthropic", "not_applied"),
        ("joined+missing", [], "openai", "not_seen"),
        ("joined+shifted", [], "openai", "not_found"),
    ],
)
def test_sampled_text_is_used_and_said(
    tmp_path: Path, server: JudgeServer, tokens: str, refuse: list[str], kind: EndpointKind, why: ScoreSource
) -> None:
    server.set(tokens=tokens, refuse=refuse)
    calls = judged(tmp_path / "s.judgenet.db", server, kind=kind)
    assert sources(calls) == {why: 12}
    for call in calls:
        assert (call.likely, call.result.shares, call.result.sampled) == (None, None, None)
        first = "score_a" if call.site.order == "ab" else "score_b"
        assert getattr(call.result, first) == json.loads(call.raw_text)["score_1"]


def test_gemini_sends_its_own_form(tmp_path: Path, server: JudgeServer) -> None:
    calls = judged(tmp_path / "s.judgenet.db", server, kind="gemini")
    assert sources(calls) == {"probabilities": 12}


def test_a_run_of_both_and_its_frame(tmp_path: Path, server: JudgeServer) -> None:
    """Null for some calls: the frame as it was told live equals the one that is read, and a start again from the
    store's answers gives the same without a request."""
    server.set(tokens="joined+null")
    path = tmp_path / "s.judgenet.db"
    judge(path, server, depth=2)
    with Store.open(path, readonly=True) as store:
        calls: list[Any] = list(full_calls(store, run_info(store)))
    found = sources(calls)
    # A later layer reads expected scores with two digits, and scores of texts as they were written.
    first = {(call.pair_id, call.site.order): call.result for call in calls if call.site.layer == 1}
    for call in calls:
        if call.site.layer == 2:
            text = call.messages[-1][1]
            said = first[call.pair_id, call.site.order]
            digits = ".2f" if said.shares is not None else ".10g"
            assert all(format(score, digits) in text for score in (said.score_a, said.score_b))
    assert set(found) == {"probabilities", "not_sent"}
    asked = server.requests
    with Store.open(path, readonly=True) as store:
        info = run_info(store)
        frame = RunFrame.read(store, info)
        rows = {row.site: row.result for row in call_rows(store, info, evidence=False)}
    for site, result in rows.items():
        state = frame.call(site)
        assert isinstance(result, Evaluation)
        assert (state.shares, state.scores_from, state.score_a) == (result.shares, result.scores_from, result.score_a)
    assert {"soft_l1", "soft_all", "soft_entropy"} <= set(frame.aggregations)
    assert frame.table.soft is not None
    with Store.open(path) as store:
        store.run_now(lambda db: db.execute("DELETE FROM run_calls"))
        store.run_now(lambda db: db.execute("UPDATE run_pairs SET state='open'"))
    judge(path, server, depth=2)
    assert server.requests == asked
    with Store.open(path, readonly=True) as store:
        assert {row.site: row.result for row in call_rows(store, run_info(store), evidence=False)} == rows
