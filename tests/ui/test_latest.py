"""Computations of panels: only the latest counts, and those before it end."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from judgenet.figures.errors import FiguresError
from judgenet.store.db import StoreError
from judgenet.ui.context import Context
from judgenet.ui.results.latest import LatestComputation
from judgenet.ui.tasks import Job, Tasks
from tests.ui.conftest import settle, until


class Desk:
    """What a panel has of the studio, and what it was told."""

    def __init__(self) -> None:
        self.tasks = Tasks()
        self.document = SimpleNamespace(store="a store")
        self.told: list[str] = []
        self.taken: list[object] = []
        errors = SimpleNamespace(post_exception=lambda error, about: self.told.append(f"{about}: {error}"))
        context = SimpleNamespace(tasks=self.tasks, document=self.document, errors=errors)
        self.latest = LatestComputation(cast(Context, context))

    def start(self, work: Any) -> None:
        self.latest.start("Count", work, self.taken.append, about="run-1", refuse=self.told.append)

    def start_job(self, work: Any) -> None:
        self.latest.start_job("Count", work, self.taken.append, about="run-1", stopped=self.stopped)

    def stopped(self) -> None:
        self.told.append("stopped")


def raising(error: Exception) -> Any:
    def work(*_: object) -> None:
        raise error

    return work


async def test_what_a_later_question_overtook_is_dropped(qapp: object) -> None:
    desk, gate = Desk(), threading.Event()
    assert desk.latest.is_new("first")
    desk.start(lambda: gate.wait(10) and "first")
    assert not desk.latest.is_new("first")
    assert desk.latest.is_new("second")
    desk.start(lambda: "second")
    await until(lambda: desk.taken == ["second"])
    gate.set()
    await settle()
    assert desk.taken == ["second"]
    desk.latest.forget()
    assert desk.latest.is_new("second")
    await desk.tasks.close()


@pytest.mark.parametrize("begin", ["start", "start_job"])
async def test_errors_are_told_unless_another_project_was_opened(qapp: object, begin: str) -> None:
    desk = Desk()
    getattr(desk, begin)(raising(StoreError("disk full")))
    await until(lambda: desk.told == ["run-1: disk full"])
    getattr(desk, begin)(raising(StoreError("closed")))
    desk.document.store = "another"
    await settle()
    await until(lambda: not desk.tasks.jobs)
    assert desk.told == ["run-1: disk full"]
    assert desk.taken == []
    await desk.tasks.close()


async def test_a_figure_that_cannot_be_computed_is_refused_with_its_reason(qapp: object) -> None:
    desk = Desk()
    desk.start(raising(FiguresError("no such figure")))
    await until(lambda: desk.told == ["no such figure"])
    await desk.tasks.close()


async def test_a_job_that_was_overtaken_ends_and_a_stopped_one_can_begin_again(qapp: object) -> None:
    desk, begun, ended = Desk(), threading.Event(), threading.Event()

    def long(job: Job) -> None:
        begun.set()
        try:
            while True:
                job.check()
        finally:
            ended.set()

    assert desk.latest.is_new("first")
    desk.start_job(long)
    await until(begun.is_set)
    assert desk.latest.is_new("second")
    await until(ended.is_set)
    assert desk.told == []
    begun.clear()
    desk.start_job(long)
    await until(begun.is_set)
    desk.tasks.jobs[-1].cancel()
    await until(lambda: desk.told == ["stopped"])
    assert desk.latest.is_new("second")
    assert desk.taken == []
    await desk.tasks.close()
