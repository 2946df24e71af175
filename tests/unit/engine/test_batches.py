"""Runs by batches: nothing lost, nothing paid twice, at half the price, whatever the endpoint does."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.cascade import with_rule
from judgenet.core.endpoints import EndpointKind, EndpointProfile
from judgenet.core.events import (
    BatchesChanged,
    CallFinished,
    EndpointChanged,
    Event,
    LayerFinished,
    PairFinished,
    RunFinished,
)
from judgenet.core.network import NetworkSpec, Settings, StandIn
from judgenet.core.plan import prices_from_json
from judgenet.core.presets import network
from judgenet.core.prompts import PromptBook
from judgenet.engine import batch_desk
from judgenet.engine import batches as batches_module
from judgenet.engine.batch_apis import AnthropicBatches, GeminiBatches, OpenAIBatches
from judgenet.engine.batches import BatchChoice
from judgenet.engine.budget import Limits
from judgenet.engine.session import Engine, Start, with_models
from judgenet.store.batch_book import BatchBook
from judgenet.store.db import Store
from judgenet.store.runs import full_calls, run_info, spent
from tests.fakes.batch_server import SentBatch
from tests.fakes.judge_server import JudgeServer
from tests.unit.engine.harness import pairs

KINDS: tuple[EndpointKind, ...] = ("openai", "anthropic", "gemini")
ROOTS = {"openai": "/v1", "anthropic": "", "gemini": ""}
PRICES = prices_from_json(
    '{"prices": 1, "date": "2026-11-30", "entries": [{"models": ["judge"], "input": 10, "output": 20}]}'
)
PAIRS = 4
CALLS = 9
"""Of a pair: roles, and two layers of two neurons in both orders."""


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        yield running


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_LEAST_LOOK_S", "_BACKOFF_S", "_FULL_S", "_MOST_BACKOFF_S"):
        monkeypatch.setattr(batch_desk, name, 0.01)
    monkeypatch.setattr(batch_desk, "LOST_S", 0.05)


class Study:
    """One run over some pairs, started as often as one likes."""

    def __init__(self, server: JudgeServer, folder: Path, kind: EndpointKind = "openai", count: int = PAIRS) -> None:
        self.server = server
        self.path = folder / "run.judgenet.db"
        self.profile = EndpointProfile("lab", kind, base_url=server.url + ROOTS[kind], model="judge", retries=1)
        self.pairs = pairs(count)
        self.events: list[Event] = []

    def start(self, spec: NetworkSpec | None = None, **changes: Any) -> Start:
        spec = spec or network(2, 2, settings=Settings(endpoint="lab", temperature=0.0))
        values: dict[str, Any] = {
            "spec": with_models(spec, {"lab": self.profile}),
            "pairs": self.pairs,
            "book": PromptBook.default(),
            "prices": PRICES,
            "profiles": {"lab": self.profile},
            "salt": "salt",
            "batch": BatchChoice(),
        }
        return Start(**values | changes)

    def run(self, timeout: float = 20, **changes: Any) -> RunFinished:
        """Starts the run and waits for its end."""
        self.events = []
        with Store.open(self.path) as store, Engine() as engine:
            handle = engine.start(store, self.start(**changes), self.events.append)
            finished = handle.future.result(timeout)
            store.flush()
        return finished

    def run_until_stage(self, stage: int, **changes: Any) -> None:
        """Starts the run and leaves as a program does that is closed, once batches of a stage are out."""
        self.events = []
        with Store.open(self.path) as store, Engine() as engine:
            handle = engine.start(store, self.start(**changes), self.events.append)
            until = time.monotonic() + 10
            while not any(isinstance(of, BatchesChanged) and of.batches and of.stage == stage for of in self.events):
                assert time.monotonic() < until
                assert not handle.future.done()
                time.sleep(0.005)
            handle.cancel()
            assert handle.future.result(10).state == "cancelled"

    def check(self, *, paid_again: int = 0, live: int = 1, calls: int | None = None) -> None:
        """All calls are answered and kept, nothing is paid for that need not be, and batches cost half."""
        calls = len(self.pairs) * CALLS if calls is None else calls
        stats = self.server.judge.stats()
        assert stats["paid"] == calls + paid_again
        assert stats["paid_again"] == paid_again
        assert stats["batch_answers"] == calls + paid_again - live
        with Store.open(self.path, readonly=True) as store:
            run = run_info(store)
            assert run.state == "done"
            kept = list(full_calls(store, run))
            assert len(kept) == len({call.site for call in kept}) == calls
            assert {call.status for call in kept} <= {"scored", "roles"}
            by_batch = store.reader.execute("SELECT key, batch IS NOT NULL, price, tokens_in, tokens_out FROM calls")
            rows = by_batch.fetchall()
            assert sum(row[1] for row in rows) == calls - live
            for _, batched, price, tokens_in, tokens_out in rows:
                share = 0.5 if batched else 1.0
                assert price == pytest.approx(share * (10 * tokens_in + 20 * tokens_out) / 1e6)
            assert spent(store, run).price == pytest.approx(sum(row[2] for row in rows))
            assert store.reader.execute("SELECT count(*) FROM batch_calls").fetchone()[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_a_batch(server: JudgeServer, tmp_path: Path, kind: EndpointKind) -> None:
    study = Study(server, tmp_path, kind)
    assert study.run().state == "done"
    study.check()
    sizes = [len(batch.requests) for batch in server.judge.batches.batches]
    # Roles; layer 1; layer 2. The first pair, whose roles were asked live, is one layer ahead.
    assert sizes == [PAIRS - 1 + 4, 4 * (PAIRS - 1) + 4, 4 * (PAIRS - 1)]
    told = [event for event in study.events if isinstance(event, BatchesChanged) and event.batches]
    assert {(event.stage, event.stages, event.layer) for event in told} == {(1, 3, 0), (2, 3, 1), (3, 3, 2)}
    assert told[-1].message.startswith(f"Batch 3 of 3: layer 2, 0 of {4 * (PAIRS - 1)} calls, ")
    # Each call, layer and pair is told of once, however often its pair was taken up.
    for what, count in ((CallFinished, PAIRS * CALLS), (LayerFinished, PAIRS * 2), (PairFinished, PAIRS)):
        assert sum(isinstance(event, what) for event in study.events) == count


FAULTS: dict[str, tuple[dict[str, Any], int]] = {
    "expired": ({"batch_faults": [["expired"], ["expired"]]}, 0),
    # What the endpoint lost it had answered: it must be asked again.
    "lost": ({"batch_faults": [["lost"]]}, 3),
    "duplicated, reordered": ({"batch_faults": [["duplicated"], ["reordered", "duplicated", "foreign"]]}, 0),
    "errors": ({"batch_faults": [["errors"], [], ["errors"]]}, 0),
    "queue full": ({"batch_faults": [["full"], ["full"]]}, 0),
    "results fail once": ({"batch_faults": [["result_500"], ["result_cut"], ["result_cut"]]}, 0),
    "429 at creation": ({"batch_sending": ["429", "429", None, "429"], "retry_after": 0.01}, 0),
    "refused for its size": ({"batch_most": 5}, 0),
    "created, and an error": ({"batch_sending": ["created_500", None, "created_500"]}, 0),
    "created, and no answer": ({"batch_sending": ["created_reset", "created_reset"]}, 0),
    "not created": ({"batch_sending": ["500", None, "500"]}, 0),
    "upload fails": ({"batch_sending": ["upload_500", None, "upload_500"]}, 0),
    "cut answers": ({"script": [None, "length", None, "length"]}, 2),
}


SAME_FOR_ALL = ("cut answers", "errors", "429 at creation", "refused for its size")
"""Faults that look the same at each endpoint but for their words; and Anthropic refuses a full queue at creation."""
CASES = [
    (kind, fault)
    for kind in KINDS
    for fault in FAULTS
    if (kind == "openai" or fault not in SAME_FOR_ALL)
    and (kind != "anthropic" or fault not in ("queue full", "upload fails"))
]


@pytest.mark.parametrize(("kind", "fault"), CASES)
def test_nothing_is_lost_or_paid_twice(server: JudgeServer, tmp_path: Path, kind: EndpointKind, fault: str) -> None:
    settings, paid_again = FAULTS[fault]
    server.set(**{name: list(of) if isinstance(of, list) else of for name, of in settings.items()})
    study = Study(server, tmp_path, kind)
    assert study.run().state == "done"
    if fault == "cut answers":
        check_cut(study)
    else:
        study.check(paid_again=paid_again)


def check_cut(study: Study) -> None:
    """A cut answer is asked once more in the next batch, with more room; both are paid for."""
    stats = study.server.judge.stats()
    assert (stats["paid"], stats["paid_again"]) == (PAIRS * CALLS + 2, 0)
    with Store.open(study.path, readonly=True) as store:
        kept = [call for call in full_calls(store, run_info(store)) if call.attempts == 2]
        assert len(kept) == 2
        assert all(call.parameters is not None and "longer" in (call.parameters.applied or {}) for call in kept)
        assert {call.status for call in kept} <= {"scored", "roles"}


KILLED_ELSEWHERE: list[tuple[EndpointKind, str]] = [
    ("anthropic", "before create"),
    ("anthropic", "after create"),
    ("gemini", "before create"),
    ("gemini", "after create"),
]
STEPS = (
    "open", "write_out", "before upload", "after upload", "change", "before create", "after create", "created",
    "after look", "take_results", "end",
)  # fmt: skip
"""Between these steps of a batch the program is killed."""


class Killer:
    """Kills the program at the n-th time that a step is reached: from then on nothing is written, sent or told."""

    def __init__(self, patch: pytest.MonkeyPatch, step: str, times: int) -> None:
        self.dead = threading.Event()
        self.step, self.left = step, times
        for name in ("open", "write_out", "change", "created", "take_results", "end"):
            self._wrap(patch, BatchBook, name)
        for name in ("put", "run_now"):
            self._wrap(patch, Store, name)
        for api in (OpenAIBatches, AnthropicBatches, GeminiBatches):
            for name in ("upload", "create", "look"):
                self._wrap_sending(patch, api, name)

    def check(self, step: str) -> None:
        if step == self.step and not self.dead.is_set():
            self.left -= 1
            if self.left <= 0:
                self.dead.set()
        if self.dead.is_set():
            raise asyncio.CancelledError

    def _wrap(self, patch: pytest.MonkeyPatch, of: type, name: str) -> None:
        was = getattr(of, name)

        def wrapped(*values: Any, **more: Any) -> Any:
            self.check("")
            found = was(*values, **more)
            self.check(name)
            return found

        patch.setattr(of, name, wrapped)

    def _wrap_sending(self, patch: pytest.MonkeyPatch, of: type, name: str) -> None:
        was = getattr(of, name)

        async def wrapped(*values: Any) -> Any:
            self.check(f"before {name}")
            found = await was(*values)
            self.check(f"after {name}")
            return found

        patch.setattr(of, name, wrapped)


def run_killed(study: Study, step: str, times: int) -> None:
    """Starts the run and kills it; what was queued for the store before is on disk, as after a commit."""
    with pytest.MonkeyPatch.context() as patch, Store.open(study.path) as store:
        killer = Killer(patch, step, times)
        engine = Engine()
        handle = engine.start(store, study.start(), study.events.append)
        assert killer.dead.wait(10), f"{step} was not reached"
        engine.close()
        del handle


@pytest.mark.parametrize(("kind", "step"), [*(("openai", step) for step in STEPS), *KILLED_ELSEWHERE])
def test_a_kill_between_two_steps_loses_nothing_and_pays_nothing_twice(
    server: JudgeServer, tmp_path: Path, kind: EndpointKind, step: str
) -> None:
    study = Study(server, tmp_path, kind, count=2)
    for times in (1, 2):
        run_killed(study, step, times)
    assert study.run().state == "done"
    study.check()
    # No second batch for what was sent before.
    stats = server.judge.stats()
    assert stats["batch_calls"] == stats["batch_answers"] == 2 * CALLS - 1


def test_a_run_that_is_left_says_what_goes_on_and_waits_for_it_again(server: JudgeServer, tmp_path: Path) -> None:
    server.set(batch_s=600.0)
    study = Study(server, tmp_path)
    study.run_until_stage(1)
    with Store.open(study.path, readonly=True) as store:
        message = run_info(store).message
    calls = PAIRS - 1 + 4
    assert (
        message
        == f"Stopped here. Still out: 1 batch with {calls} calls at lab. The same command takes their answers in."
    )
    # The next day the batches are done. The run needs not be told that it goes by batches.
    server.set(batch_s=0.0)
    assert study.run(batch=None).state == "done"
    study.check()


def test_a_deadline_cancels_what_is_out_and_asks_the_rest_live(server: JudgeServer, tmp_path: Path) -> None:
    server.set(batch_faults=[[], ["stuck"]])
    study = Study(server, tmp_path)
    study.run_until_stage(2)
    batches = server.judge.batches.batches
    assert [batch.state for batch in batches] == ["completed", "in_progress"]
    assert study.run(batch=BatchChoice("now")).state == "done"
    # Half of the second batch was answered before it was cancelled, and is taken over; all that is left goes live.
    first, second = batches[0].answered, batches[1].answered
    assert second == len(batches[1].requests) / 2
    study.check(live=PAIRS * CALLS - first - second)
    with Store.open(study.path, readonly=True) as store:
        record = run_info(store).record["batch"]
    assert record["live_after"] == "now"
    assert record["until"] <= time.time()


def test_a_deadline_while_the_run_goes_on(server: JudgeServer, tmp_path: Path) -> None:
    server.set(batch_faults=[["stuck"]])
    study = Study(server, tmp_path)
    # The smallest span that can be written is a minute: the parsed time is set closer.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches_module, "parse_live_after", lambda text: time.time() + 0.3)
        assert study.run(batch=BatchChoice("1min")).state == "done"
    [batch] = server.judge.batches.batches
    study.check(live=PAIRS * CALLS - batch.answered)
    told = [event.message for event in study.events if isinstance(event, BatchesChanged)]
    assert any("cancelled at the deadline" in message for message in told)


def test_a_batch_that_cannot_be_cancelled_is_not_waited_for_and_late_answers_are_taken(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_desk, "CANCEL_S", 0.2)
    server.set(batch_faults=[["deaf"]], batch_s=600.0)
    study = Study(server, tmp_path)
    study.run_until_stage(1)
    assert study.run(batch=BatchChoice("now")).state == "done"
    [batch] = server.judge.batches.batches
    assert not batch.results
    told = [event.message for event in study.events if isinstance(event, EndpointChanged)]
    assert any("did not end in time. Their calls are asked live" in message for message in told)
    # Its answers come after all; the run has its own, and a start with more pairs does not ask for them again.
    server.set(batch_s=0.0)
    paid = server.judge.stats()["paid"]
    assert paid == PAIRS * CALLS + len(batch.requests)
    assert study.run(batch=None).state == "done"
    assert server.judge.stats()["paid"] == paid


def test_each_layer_at_its_own_endpoint(server: JudgeServer, tmp_path: Path) -> None:
    study = Study(server, tmp_path)
    other = EndpointProfile("other", "anthropic", base_url=server.url, model="second")
    spec = network(2, 2, settings=Settings(endpoint="lab", temperature=0.0))
    layers = (spec.layers[0], replace(spec.layers[1], settings=Settings(endpoint="other", model="second")))
    profiles = {"lab": study.profile, "other": other}
    spec = with_models(replace(spec, layers=layers), profiles)
    assert study.run(spec=spec, profiles=profiles).state == "done"
    stats = server.judge.stats()
    assert (stats["paid"], stats["paid_again"]) == (PAIRS * CALLS, 0)
    assert stats["batch_answers"] == PAIRS * CALLS - 2
    assert {batch.dialect for batch in server.judge.batches.batches} == {"openai", "anthropic"}


@pytest.mark.parametrize("root", ["", "/openai/v1"])
def test_batches_of_azure(server: JudgeServer, tmp_path: Path, root: str) -> None:
    """By the classic addresses and the newer ones, with a file that is not ready when the batch is created
    (learn.microsoft.com/azure/ai-services/openai/how-to/batch)."""
    server.set(batch_sending=["pending", "pending"])
    study = Study(server, tmp_path)
    study.profile = replace(study.profile, kind="azure", base_url=server.url + root)
    assert study.run().state == "done"
    study.check()
    assert len(server.judge.batches.files) == len(server.judge.batches.batches) == 3  # no file is uploaded again


def test_equal_pairs_are_asked_once(server: JudgeServer, tmp_path: Path) -> None:
    study = Study(server, tmp_path)
    study.pairs = [*study.pairs, *(replace(pair, id=f"again {pair.id}") for pair in study.pairs)]
    assert study.run().state == "done"
    stats = server.judge.stats()
    assert (stats["paid"], stats["paid_again"]) == (PAIRS * CALLS, 0)
    with Store.open(study.path, readonly=True) as store:
        kept = list(full_calls(store, run_info(store)))
        assert len(kept) == 2 * PAIRS * CALLS
        assert spent(store, run_info(store)).calls_new == PAIRS * CALLS


def test_pairs_that_are_decided_early_ask_no_more(server: JudgeServer, tmp_path: Path) -> None:
    spec = with_rule(network(2, 2, settings=Settings(endpoint="lab", temperature=0.0)), "orders-agree after=1")
    by_batch, live = Study(server, tmp_path / "batch"), Study(server, tmp_path / "live")
    assert by_batch.run(spec=spec).state == "done"
    paid = server.judge.stats()["paid"]
    assert paid < PAIRS * CALLS
    assert live.run(spec=spec, batch=False).state == "done"
    assert server.judge.stats()["paid"] == 2 * paid


@pytest.mark.parametrize("kind", KINDS)
def test_an_outage_is_waited_out_however_long(server: JudgeServer, tmp_path: Path, kind: EndpointKind) -> None:
    server.set(batch_looks=6)
    study = Study(server, tmp_path, kind)
    assert study.run().state == "done"
    study.check()
    told = [event.state for event in study.events if isinstance(event, EndpointChanged)]
    assert told == ["away", "open"]


@pytest.mark.parametrize(("kind", "throttles"), [("openai", False), ("gemini", True), ("anthropic", True)])
def test_a_small_queue_takes_small_batches(
    server: JudgeServer, tmp_path: Path, kind: EndpointKind, throttles: bool
) -> None:
    server.set(batch_room=9, batch_room_429=throttles, retry_after=0.01, batch_s=0.05)
    study = Study(server, tmp_path, kind)
    assert study.run().state == "done"
    study.check()
    told = [event.message for event in study.events if isinstance(event, EndpointChanged)]
    assert any("Going on with batches of " in message for message in told)
    answered = [batch for batch in server.judge.batches.batches if batch.answered]
    assert max(len(batch.requests) for batch in answered) <= 9


def test_batches_gathered_before_a_limit_was_known_make_it_no_smaller(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAIBatches, "most_calls", 6)
    server.set(batch_room=4, batch_s=0.02)
    study = Study(server, tmp_path, count=8)
    assert study.run().state == "done"
    study.check()
    told = [event.message for event in study.events if isinstance(event, EndpointChanged) and event.state == "learned"]
    assert len(told) == 1
    assert told[0].endswith("Going on with batches of 3 calls.")


def test_results_that_stop_coming_are_fetched_again(server: JudgeServer, tmp_path: Path) -> None:
    server.set(batch_faults=[["result_hang"]], hang_s=2.0)
    study = Study(server, tmp_path)
    study.profile = replace(study.profile, idle_timeout=0.2)
    assert study.run().state == "done"
    study.check()


def test_a_batch_that_carries_no_mark_is_known_by_its_calls(server: JudgeServer, tmp_path: Path) -> None:
    study = Study(server, tmp_path, "anthropic", count=2)
    size = 2 - 1 + 4
    others = [
        SentBatch(f"msgbatch_x{at}", "anthropic", "m", [(f"x{at}-{n}", {}) for n in range(size)], []) for at in (1, 2)
    ]
    for batch in others:
        # Of the same size and time, ended and answered by nobody.
        batch.state = "expired"
        batch.results = [{"custom_id": mark, "result": {"type": "expired"}} for mark, _ in batch.requests]
    server.judge.batches.batches += others
    server.set(batch_s=0.4)
    run_killed(study, "after create", 1)
    assert study.run().state == "done"
    study.check()
    assert server.judge.stats()["batch_calls"] == 2 * CALLS - 1


def test_without_batches_those_that_are_out_are_called_in(server: JudgeServer, tmp_path: Path) -> None:
    server.set(batch_s=600.0)
    study = Study(server, tmp_path)
    study.run_until_stage(1)
    assert study.run(batch=False).state == "done"
    [batch] = server.judge.batches.batches
    assert batch.cancelled
    study.check(live=PAIRS * CALLS - batch.answered)


def test_batches_are_called_in_and_nothing_else_is_asked(server: JudgeServer, tmp_path: Path) -> None:
    server.set(batch_s=600.0)
    study = Study(server, tmp_path)
    study.run_until_stage(1)
    finished = study.run(batch=False, limits=Limits(max_calls=0))
    assert finished.state == "budget"
    [batch] = server.judge.batches.batches
    assert batch.cancelled
    stats = server.judge.stats()
    assert stats["paid"] == 1 + batch.answered
    with Store.open(study.path, readonly=True) as store:
        assert spent(store, run_info(store)).calls_new == 1 + batch.answered
    server.set(batch_s=0.0)
    assert study.run(batch=BatchChoice()).state == "done"
    study.check()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("404", "It seems to take no batches: leave --batch out, and it is asked live."),
        ("401", "The key is missing or not accepted."),
    ],
)
def test_an_endpoint_without_batches_stops_the_run_with_advice(
    server: JudgeServer, tmp_path: Path, fault: str, words: str
) -> None:
    server.set(batch_sending=[fault])
    study = Study(server, tmp_path)
    finished = study.run()
    assert finished.state == "halted"
    assert words in finished.message
    assert study.run().state == "done"
    study.check()


def test_a_batch_that_is_refused_stops_the_run(server: JudgeServer, tmp_path: Path) -> None:
    server.set(batch_faults=[["failed"]])
    study = Study(server, tmp_path)
    finished = study.run()
    assert finished.state == "halted"
    assert "the batch was refused: This line is no JSON" in finished.message
    assert study.run().state == "done"
    study.check()


def test_a_wrong_key_shows_before_anything_is_uploaded(server: JudgeServer, tmp_path: Path) -> None:
    server.set(key="secret")
    study = Study(server, tmp_path)
    assert study.run().state == "halted"
    assert not server.judge.batches.files


def test_a_finished_run_needs_no_key(server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(server, tmp_path)
    assert study.run().state == "done"
    looked_up: list[str] = []
    monkeypatch.setattr(batch_desk.BatchExchange, "set_key", lambda exchange, key: looked_up.append(key))
    assert study.run(batch=None).state == "done"
    assert not looked_up
    study.check()


@pytest.mark.parametrize("refused", ["temperature", "schema"])
def test_what_an_endpoint_refuses_is_learned_by_the_first_call(
    server: JudgeServer, tmp_path: Path, refused: str
) -> None:
    server.set(refuse=[refused])
    study = Study(server, tmp_path)
    assert study.run().state == "done"
    study.check()


def test_what_is_refused_later_is_learned_from_the_results(server: JudgeServer, tmp_path: Path) -> None:
    server.set(batch_s=600.0)
    study = Study(server, tmp_path)
    study.run_until_stage(1)
    server.set(refuse=["temperature"], batch_s=0.0)
    assert study.run().state == "done"
    study.check()
    with Store.open(study.path, readonly=True) as store:
        kept = [call.parameters for call in full_calls(store, run_info(store)) if call.parameters is not None]
    assert sum(of.applied == {"temperature": "not applied"} for of in kept) == PAIRS * CALLS - 1


def test_limits_hold_over_what_is_in_batches(server: JudgeServer, tmp_path: Path) -> None:
    study = Study(server, tmp_path)
    finished = study.run(limits=Limits(max_calls=10))
    assert finished.state == "budget"
    assert server.judge.stats()["paid"] == 10
    with Store.open(study.path, readonly=True) as store:
        assert spent(store, run_info(store)).calls_new == 10
    assert study.run().state == "done"
    study.check()


def test_what_is_out_counts_for_the_limits_of_the_next_start(server: JudgeServer, tmp_path: Path) -> None:
    server.set(batch_s=600.0)
    study = Study(server, tmp_path)
    study.run_until_stage(1)
    out = server.judge.stats()["batch_calls"]
    server.set(batch_s=0.0)
    assert study.run(limits=Limits(max_calls=out)).state == "budget"
    stats = server.judge.stats()
    assert (stats["paid"], stats["batch_calls"]) == (out + 1, out)
    assert study.run().state == "done"
    study.check()


def test_a_budget_is_held_at_the_prices_of_batches(server: JudgeServer, tmp_path: Path) -> None:
    whole = Study(server, tmp_path / "whole")
    assert whole.run().state == "done"
    with Store.open(whole.path, readonly=True) as store:
        cost = spent(store, run_info(store)).price
    study = Study(server, tmp_path / "part")
    finished = study.run(limits=Limits(max_price=cost / 2))
    assert finished.state == "budget"
    with Store.open(study.path, readonly=True) as store:
        used = spent(store, run_info(store)).price
    assert used <= cost / 2
    assert study.run(limits=Limits(max_price=cost * 3)).state == "done"


def test_answers_that_could_not_be_read_are_asked_again_by_a_batch(server: JudgeServer, tmp_path: Path) -> None:
    study = Study(server, tmp_path)
    server.set(script=[None, None, None, None, None, None, "prose"])
    assert study.run(spec=network(2, 1, settings=Settings(endpoint="lab", temperature=0.0))).state == "done"
    paid = server.judge.stats()["paid"]
    with Store.open(study.path, readonly=True) as store:
        assert sum(call.status == "unscored" for call in full_calls(store, run_info(store))) == 1
    again = study.run(spec=network(2, 1, settings=Settings(endpoint="lab", temperature=0.0)), scope="unscored")
    assert again.state == "done"
    assert server.judge.stats()["paid"] == paid + 1
    with Store.open(study.path, readonly=True) as store:
        calls = list(full_calls(store, run_info(store)))
        assert {call.status for call in calls} == {"scored", "roles"}
        assert sum(bool(call.earlier) for call in calls) == 1


class TestStandIns:
    """A model by batches whose endpoint stops, with a stand-in at another one."""

    def study(self, server: JudgeServer, tmp_path: Path, other: JudgeServer) -> tuple[Study, dict[str, Any]]:
        study = Study(server, tmp_path)
        second = EndpointProfile("other", "anthropic", base_url=other.url, model="second", retries=1)
        profiles = {"lab": study.profile, "other": second}
        settings = Settings(endpoint="lab", temperature=0.0, stand_in=(StandIn("other", "second", after=0.05),))
        spec = with_models(network(2, 2, settings=settings), profiles)
        return study, {"spec": spec, "profiles": profiles}

    def kept(self, study: Study) -> Counter[str]:
        """Which endpoints answered how many of the run's calls."""
        with Store.open(study.path, readonly=True) as store:
            rows = store.reader.execute("SELECT endpoint FROM run_calls WHERE call_id IS NOT NULL").fetchall()
        return Counter(row[0] for row in rows)

    def test_one_that_is_not_needed_is_not_asked(self, server: JudgeServer, tmp_path: Path) -> None:
        with JudgeServer() as other:
            study, changes = self.study(server, tmp_path, other)
            assert study.run(**changes).state == "done"
            study.check()
            assert other.judge.stats()["paid"] == 0

    @pytest.mark.parametrize("when", ["before", "at the batch", "while it is out"])
    def test_the_rest_goes_to_its_batches(self, server: JudgeServer, tmp_path: Path, when: str) -> None:
        total = PAIRS * CALLS
        with JudgeServer() as other:
            study, changes = self.study(server, tmp_path, other)
            if when == "before":
                server.set(key="another")
            elif when == "at the batch":
                server.set(batch_sending=["401"])
            else:
                server.set(batch_s=600.0)
                study.run_until_stage(1, **changes)
                server.set(key="another")
            assert study.run(**changes).state == "done"
            own = 0 if when == "before" else 1  # the first call, which goes live
            assert self.kept(study) == Counter({"lab": own, "other": total - own}) - Counter()
            stats = other.judge.stats()
            assert (stats["paid"], stats["paid_again"]) == (total - own, 0)
            assert stats["batch_answers"] == total - own - 1
            assert study.run(**changes).state == "done"
            assert other.judge.stats()["paid"] == total - own

    def test_what_a_batch_brought_before_the_stop_counts(self, server: JudgeServer, tmp_path: Path) -> None:
        """The key is withdrawn when the first batch is back: its answers count, and what follows goes elsewhere."""
        with JudgeServer() as other:
            study, changes = self.study(server, tmp_path, other)
            server.set(batch_s=0.0, batch_sending=[None, "401"])
            assert study.run(**changes).state == "done"
            own = 1 + len(server.judge.batches.batches[0].requests)
            assert self.kept(study) == {"lab": own, "other": PAIRS * CALLS - own}
            assert server.judge.stats()["paid"] == own
            stats = other.judge.stats()
            assert (stats["paid"], stats["paid_again"]) == (PAIRS * CALLS - own, 0)
            assert stats["batch_answers"] == PAIRS * CALLS - own - 1

    def test_the_limit_holds_over_both(self, server: JudgeServer, tmp_path: Path) -> None:
        server.set(batch_s=600.0)
        with JudgeServer() as other:
            study, changes = self.study(server, tmp_path, other)
            study.run_until_stage(1, **changes)
            server.set(key="another")
            assert study.run(limits=Limits(max_calls=10), **changes).state == "budget"
            assert server.judge.stats()["paid"] + other.judge.stats()["paid"] <= 1 + 10
            assert study.run(**changes).state == "done"
            assert sum(self.kept(study).values()) == PAIRS * CALLS
            assert other.judge.stats()["paid_again"] == 0
