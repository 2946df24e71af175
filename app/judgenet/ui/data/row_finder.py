"""Which pairs are shown and in which order, found in a thread; a newer search ends the one before."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from judgenet.engine.pair_index import DatasetVerdicts, PairFilter, PairIndex, SortKey
from judgenet.ui.tasks import Tasks

VERDICTS_WAIT_MS: Final = 1000
"""While a run goes on, filters and order follow new verdicts so often."""


class _Superseded(Exception):
    """Other rows are wanted meanwhile."""


class RowFinder(QObject):
    """Finds the rows of the table of pairs.

    Attributes:
        busy: rows are being found.
        sort: the key by which rows are sorted, ``None`` for the order of the source, and whether descending.

    Signals:
        found: the positions of the rows, and the filter that they fit.
    """

    found = Signal(object, object)

    def __init__(self, tasks: Tasks, parent: QObject) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._stop = threading.Event()
        self.busy = False
        self.sort: tuple[SortKey | None, bool] = (None, False)

    def cancel(self) -> None:
        """Nothing that is looked for now is wanted any more."""
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
        """Begins to find the pairs that fit a filter."""
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

        self._tasks.start(self._tell(work, wanted, stop), "Find the pairs")

    async def _tell(self, work: Callable[[], NDArray[np.int32]], wanted: PairFilter, stop: threading.Event) -> None:
        try:
            rows = await self._tasks.off_thread(work)
        except _Superseded:
            return
        if not stop.is_set():
            self.busy = False
            self.found.emit(rows, wanted)
