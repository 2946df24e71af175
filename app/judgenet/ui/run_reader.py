"""Pairs and calls of a run as the store keeps them, with the last ones that were read at hand."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Evaluation, Unscored
from judgenet.store.runs import FullCall, RunInfo, RunPair, call_row, full_calls, run_pair
from judgenet.ui.document import Document

_PAIRS_KEPT: Final = 256
_CALLS_KEPT: Final = 256


class RunReader:
    """Reads from the store of a document.

    Attributes:
        run: the run that is read, ``None`` for none.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self.run: RunInfo | None = None
        self._pairs: OrderedDict[int, RunPair] = OrderedDict()
        self._calls: OrderedDict[CallSite, FullCall] = OrderedDict()
        self._results: OrderedDict[CallSite, Evaluation | Unscored | None] = OrderedDict()

    def clear(self) -> None:
        """Forgets all that was read."""
        self.forget_pairs()
        self._calls.clear()
        self._results.clear()

    def forget_pairs(self) -> None:
        """Forgets the pairs that were read."""
        self._pairs.clear()

    def forget_pair(self, index: int) -> None:
        """Forgets a pair that was read."""
        self._pairs.pop(index, None)

    def forget_call(self, site: CallSite) -> None:
        """Forgets a call that was read."""
        self._calls.pop(site, None)
        self._results.pop(site, None)

    def pair(self, index: int) -> RunPair:
        """A pair of the run.

        :raises IndexError: there is no run, or no such pair.
        :raises StoreError: the store cannot be read.
        """
        kept_pair = self._pairs.get(index)
        if kept_pair is None:
            store, run = self._document.store, self.run
            if store is None or run is None:
                raise IndexError(index)
            kept_pair = self._pairs[index] = run_pair(store, run, index)
            if len(self._pairs) > _PAIRS_KEPT:
                self._pairs.popitem(last=False)
        return kept_pair

    def call(self, site: CallSite) -> FullCall | None:
        """All that is kept of a call; ``None`` where the store has none.

        :raises StoreError: the store cannot be read.
        """
        full_call = self._calls.get(site)
        store, run = self._document.store, self.run
        if full_call is None and store is not None and run is not None:
            full_call = next(full_calls(store, run, site), None)
            if full_call is not None:
                self._calls[site] = full_call
                if len(self._calls) > _CALLS_KEPT:
                    self._calls.popitem(last=False)
        return full_call

    def result(self, site: CallSite) -> Evaluation | Unscored | None:
        """What a call says, with its evidence or the detail of its reason; ``None`` where the store has none.

        :raises StoreError: the store cannot be read.
        """
        if site in self._results:
            return self._results[site]
        store, run = self._document.store, self.run
        row = None if store is None or run is None else call_row(store, run, site)
        if row is None:
            return None
        self._results[site] = row.result
        if len(self._results) > _CALLS_KEPT:
            self._results.popitem(last=False)
        return row.result
