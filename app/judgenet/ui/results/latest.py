"""Computations of a panel in a thread, of which only the latest counts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from judgenet.store.db import StoreError
from judgenet.ui.context import Context

T = TypeVar("T")


class LatestComputation:
    """Computes in a thread; what comes of it is dropped where something else was asked for meanwhile."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._key: object = None
        self._number = 0

    def forget(self) -> None:
        """Drops what is under way; the next key is new."""
        self._key = None
        self._number += 1

    def is_new(self, key: object) -> bool:
        """Whether ``key``, all that the computation depends on, is another one than before; if so, what is under way
        is dropped."""
        if key == self._key:
            return False
        self._key = key
        self._number += 1
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
        self._context.tasks.start(self._compute(work, take, about, refuse, self._number), name)

    async def _compute(
        self,
        work: Callable[[], T],
        take: Callable[[T], object],
        about: str,
        refuse: Callable[[str], object] | None,
        number: int,
    ) -> None:
        # The window opens before the figures are loaded.
        from judgenet.figures.errors import FiguresError

        store = self._context.document.store
        try:
            result = await self._context.tasks.off_thread(work)
        except FiguresError as error:
            if refuse is None:
                raise
            if number == self._number:
                refuse(str(error))
            return
        except (StoreError, sqlite3.Error) as error:
            # Another project was opened meanwhile, and the store of the one before is closed.
            if number == self._number and self._context.document.store is store:
                self._context.errors.tell_exception(error, about)
            return
        if number == self._number:
            take(result)
