"""Search of the pairs that a filter lets pass, and their order, in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from judgenet.engine.pair_index import DatasetVerdicts, PairFilter, PairIndex, SortKey
from judgenet.ui.data import texts
from judgenet.ui.tasks import Tasks


class _Superseded(Exception):
    """A newer search has begun."""


class RowFinder(QObject):
    """Finds the rows of the table of pairs. A newer search ends the one before.

    Attributes:
        busy: a search is running.
        sort: the key by which rows are sorted, ``None`` for the order of the source, and whether descending.

    Signals:
        found: the positions of the pairs in order, and the filter that they match.
    """

    found = Signal(object, object)

    def __init__(self, tasks: Tasks, parent: QObject) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._stop = threading.Event()
        self.busy = False
        self.sort: tuple[SortKey | None, bool] = (None, False)

    def cancel(self) -> None:
        """Ends the search that is running."""
        self._stop.set()
        self.busy = False

    def find(
        self,
        index: PairIndex,
        wanted: PairFilter,
        verdicts: DatasetVerdicts | None,
        chosen: NDArray[np.bool_] | None,
        findings: Mapping[str, frozenset[str]],
    ) -> None:
        """Begins to search the pairs that match a filter."""
        self._stop.set()
        stop = self._stop = threading.Event()
        self.busy = True
        key, descending = self.sort

        def check() -> None:
            if stop.is_set():
                raise _Superseded

        def work() -> NDArray[np.int32]:
            order = index.order(key, descending=descending, verdicts=verdicts, chosen=chosen, check=check)
            if wanted.empty:
                return order
            mask = index.mask(wanted, verdicts=verdicts, chosen=chosen, findings=findings, check=check)
            return order[mask[order]]

        self._tasks.start(self._emit_found(work, wanted, stop), texts.FIND_PAIRS)

    async def _emit_found(
        self, work: Callable[[], NDArray[np.int32]], wanted: PairFilter, stop: threading.Event
    ) -> None:
        try:
            rows = await self._tasks.off_thread(work)
        except _Superseded:
            return
        if not stop.is_set():
            self.busy = False
            self.found.emit(rows, wanted)
