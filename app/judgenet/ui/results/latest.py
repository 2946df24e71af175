"""Computations of a panel in a thread, of which only the latest counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from judgenet.store.db import Store, StoreError
from judgenet.ui.context import Context
from judgenet.ui.tasks import Job, JobCancelled

T = TypeVar("T")


class _Asked(NamedTuple):
    """Which computation it is, and the store that was open when it was asked for."""

    number: int
    store: Store | None


class LatestComputation:
    """Computes in a thread; what comes of it is dropped where something else was asked for meanwhile."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._key: object = None
        self._number = 0
        self._job: Job | None = None

    def forget(self) -> None:
        """Drops what is under way; the next key is new."""
        self._key = None
        self._drop()

    def _drop(self) -> None:
        self._number += 1
        if self._job is not None:
            self._job.cancel()
            self._job = None

    def is_new(self, key: object) -> bool:
        """Whether ``key``, all that the computation depends on, is another one than before; if so, what is under way
        is dropped."""
        if key == self._key:
            return False
        self._key = key
        self._drop()
        return True

    def start(
        self,
        name: str,
        work: Callable[[], T],
        take: Callable[[T], object],
        *,
        about: str,
        refuse: Callable[[str], object] | None = None,
    ) -> None:
        """Computes ``work`` in a thread and gives its result to ``take``; of a ``FiguresError`` ``refuse`` gets the
        message. ``name`` says in words what is done, ``about`` of what; both are for messages about errors."""
        self._context.tasks.start(self._compute(work, take, about, refuse, self._asked()), name)

    async def _compute(
        self,
        work: Callable[[], T],
        take: Callable[[T], object],
        about: str,
        refuse: Callable[[str], object] | None,
        asked: _Asked,
    ) -> None:
        # The window opens before the figures are loaded.
        from judgenet.figures.errors import FiguresError

        try:
            result = await self._context.tasks.off_thread(work)
        except FiguresError as error:
            if refuse is None:
                raise
            if asked.number == self._number:
                refuse(str(error))
            return
        except (StoreError, sqlite3.Error) as error:
            self._tell(error, about, asked)
            return
        if asked.number == self._number:
            take(result)

    def start_job(
        self,
        name: str,
        work: Callable[[Job], T],
        take: Callable[[T], object],
        *,
        about: str,
        stopped: Callable[[], object] = lambda: None,
        refuse: Callable[[str], object] | None = None,
    ) -> None:
        """As :meth:`start`, as a job with its progress and a stop in the status bar. ``stopped`` is called where the
        user stopped it; the next key is then new. ``refuse`` gets the message of an error of the store, which is else
        told as others are."""
        self._context.tasks.start(self._run_job(name, work, take, about, stopped, refuse, self._asked()), name)

    async def _run_job(
        self,
        name: str,
        work: Callable[[Job], T],
        take: Callable[[T], object],
        about: str,
        stopped: Callable[[], object],
        refuse: Callable[[str], object] | None,
        asked: _Asked,
    ) -> None:
        def latest(job: Job) -> T:
            if asked.number != self._number:
                raise JobCancelled
            self._job = job
            return work(job)

        try:
            result = await self._context.tasks.job(name, latest)
        except JobCancelled:
            if asked.number == self._number:
                self._key = self._job = None
                stopped()
            return
        except (StoreError, sqlite3.Error) as error:
            if refuse is None:
                self._tell(error, about, asked)
            elif asked.number == self._number:
                refuse(str(error))
            return
        if asked.number == self._number:
            self._job = None
            take(result)

    def _asked(self) -> _Asked:
        return _Asked(self._number, self._context.document.store)

    def _tell(self, error: Exception, about: str, asked: _Asked) -> None:
        # Where another project was opened meanwhile, the store of the one before is closed.
        if asked.number == self._number and self._context.document.store is asked.store:
            self._context.errors.post_exception(error, about)
