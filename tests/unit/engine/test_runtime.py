"""The engine's loop: what is told together, and how often garbage is looked for."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest

from judgenet.engine import runtime
from judgenet.engine.runtime import TurnBuffer, fewer_collections


@pytest.fixture(autouse=True)
def usual_collection(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a new process: tests of the studio switch collecting off, and others leave runs behind that never end."""
    monkeypatch.setattr(runtime, "_runs", 0)
    was_on = gc.isenabled()
    gc.enable()
    yield
    if not was_on:
        gc.disable()


def test_what_is_told_in_a_turn_is_told_at_its_end_in_order() -> None:
    async def go() -> None:
        heard: list[int] = []
        tell = TurnBuffer(heard.append)
        tell(1)
        tell(2)
        assert heard == []
        await asyncio.sleep(0)
        assert heard == [1, 2]
        tell(3)
        tell.flush()
        tell(4)
        await asyncio.sleep(0)
        assert heard == [1, 2, 3, 4]

    asyncio.run(go())


def test_garbage_is_looked_for_less_often_until_the_last_run_ends() -> None:
    usual = gc.get_threshold()
    try:
        gc.set_threshold(700, 10, 10)
        with fewer_collections():
            first = gc.get_threshold()
            with fewer_collections():
                assert gc.get_threshold() == first
            assert gc.get_threshold() == first
        assert first[0] > 700
        assert first[1:] == (10, 10)
        assert gc.get_threshold() == (700, 10, 10)
    finally:
        gc.set_threshold(*usual)


def test_whoever_collects_otherwise_keeps_that() -> None:
    usual = gc.get_threshold()
    try:
        for theirs in ((50_000, 5, 5), (0, 10, 10)):
            gc.set_threshold(*theirs)
            with fewer_collections():
                assert gc.get_threshold() == theirs
            assert gc.get_threshold() == theirs
        gc.set_threshold(700, 10, 10)
        with fewer_collections():
            gc.set_threshold(800, 10, 10)
        assert gc.get_threshold() == (800, 10, 10)
    finally:
        gc.set_threshold(*usual)
