"""The executor where the store or an answer is not as it should be, and a run that is stopped before it began."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.events import CallFinished, Event, RunFinished, StoreTrouble
from judgenet.engine.executor import Executor
from judgenet.engine.ports import ChatReply, ChatRequest, Usage
from judgenet.engine.session import Engine
from judgenet.store import writer
from judgenet.store.db import Store
from judgenet.store.runs import full_calls, run_info, spent, write_outcome
from tests.unit.engine.harness import FakeEndpoint, pairs, plain_answer, run, start


def told(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def until(comes: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not comes():
            await asyncio.sleep(0.001)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The store cannot keep calls while the last entry is true."""
    full = [False]
    real = write_outcome

    def write(*arguments: Any) -> None:
        if full[-1]:
            raise sqlite3.OperationalError("database or disk is full")
        real(*arguments)

    monkeypatch.setattr("judgenet.engine.executor.write_outcome", write)
    monkeypatch.setattr(writer, "_RETRY_SECONDS", 0.02)
    return full


def test_a_full_disk_holds_the_run_and_loses_nothing(tmp_path: Path, full_disk: list[bool]) -> None:
    path = tmp_path / "s.judgenet.db"
    endpoint = FakeEndpoint(delay=0.002, concurrency=4)
    asked: list[int] = []

    async def during(executor: Executor, events: list[Event]) -> None:
        await until(lambda: len(told(events, CallFinished)) >= 10)
        full_disk.append(True)
        await until(lambda: told(events, StoreTrouble))
        await until(lambda: not endpoint.in_flight)
        asked.append(len(endpoint.asked))
        await asyncio.sleep(0.1)
        asked.append(len(endpoint.asked))
        full_disk.append(False)

    ran = run(path, start(judged=pairs(5)), endpoint, during=during)
    assert ran.finished.state == "done"
    assert asked[0] == asked[1] < len(endpoint.asked) == 5 * 13
    messages = [event.message for event in told(ran.events, StoreTrouble)]
    assert "disk is full" in messages[0]
    assert messages[-1] == ""
    with Store.open(path, readonly=True) as store:
        assert spent(store, run_info(store)).calls_new == 65


def test_a_run_on_a_full_disk_can_be_cancelled(tmp_path: Path, full_disk: list[bool]) -> None:
    async def during(executor: Executor, events: list[Event]) -> None:
        await until(lambda: len(told(events, CallFinished)) >= 10)
        full_disk.append(True)
        await until(lambda: told(events, StoreTrouble))
        executor.cancel()
        await until(lambda: told(events, RunFinished))
        full_disk.append(False)

    ran = run(tmp_path / "s.judgenet.db", start(judged=pairs(5)), FakeEndpoint(delay=0.002), during=during)
    assert ran.finished.state == "cancelled"
    assert "disk is full" in ran.finished.message
    assert "finished calls are not kept" in ran.finished.message


def test_an_entry_that_cannot_be_kept_ends_the_run_and_spares_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "s.judgenet.db"
    real = write_outcome

    def write(db: sqlite3.Connection, store: Store, number: int, outcome: Any, answer: Any) -> None:
        if outcome.site[:4] == (2, 1, 1, "ab"):
            raise OverflowError("Python int too large to convert to SQLite INTEGER")
        real(db, store, number, outcome, answer)

    monkeypatch.setattr("judgenet.engine.executor.write_outcome", write)
    ran = run(path, start(judged=pairs(5)), FakeEndpoint(delay=0.002))
    assert ran.finished.state == "failed"
    assert "cannot be kept (OverflowError" in ran.finished.message
    assert "a write to" in caplog.text
    monkeypatch.setattr("judgenet.engine.executor.write_outcome", real)
    rest = run(path, start(judged=pairs(5)))
    assert rest.finished.state == "done"
    assert len(rest.asked) == 5 * 13 - len(told(ran.events, CallFinished))


def test_what_an_endpoint_says_of_itself_may_be_no_text(tmp_path: Path) -> None:
    """Lone surrogates in the model's name, the fingerprint, the finish reason, the answer and the thinking."""
    path = tmp_path / "s.judgenet.db"
    odd = "odd\ud800"

    def answer(request: ChatRequest) -> ChatReply:
        text = plain_answer(request).replace("seen", odd)
        return ChatReply(text, "stop", odd, model=odd, fingerprint=odd, thinking=odd, usage=Usage(1, 1))

    ran = run(path, start(judged=pairs(1)), FakeEndpoint(answer))
    assert ran.finished.state == "done"
    with Store.open(path, readonly=True) as store:
        call = list(full_calls(store, run_info(store)))[1]
    assert (call.returned_model, call.fingerprint, call.thinking) == ("odd\ufffd", "odd\ufffd", odd)
    assert call.raw_text is not None
    assert odd in call.raw_text


@pytest.mark.parametrize("at_once", [True, False])
def test_a_run_can_be_cancelled_before_it_began(tmp_path: Path, at_once: bool) -> None:
    """On the caller's thread, when the engine may not have taken it up yet."""
    with Store.open(tmp_path / "s.judgenet.db") as store, Engine() as engine:
        events: list[Event] = []
        handle = engine.start(store, start(judged=pairs(3)), events.append)
        if not at_once:
            handle.pause()
        handle.cancel()
        assert handle.future.result(30).state == "cancelled"
    assert told(events, CallFinished) == []
