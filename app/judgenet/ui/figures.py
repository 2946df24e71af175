"""What the design costs, and whether it differs from the newest run: computed in a thread after each change."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from judgenet.core.network import NetworkError
from judgenet.core.pairs import Pair, data_hash
from judgenet.core.plan import PriceError, pair_tokens
from judgenet.core.prompts import PromptError
from judgenet.engine.estimate import RunEstimate, estimate_run
from judgenet.engine.session import Start
from judgenet.engine.setup import changes_since, start_of
from judgenet.store.db import Store, StoreError
from judgenet.store.runs import RunInfo
from judgenet.ui import texts
from judgenet.ui.project_state import ProjectParts, ProjectState

WAIT_MS: Final = 150
"""Changes that follow each other faster (ms) are estimated once."""

_WORDS: Final = {"network": texts.NETWORK, "prompts": texts.PROMPTS, "pairs": texts.PAIRS}


class _Superseded(Exception):
    """The design changed while it was estimated."""


@dataclass(frozen=True, slots=True)
class _PairFacts:
    """What is the same for all designs on the same pairs."""

    pairs: Sequence[Pair]
    lengths: tuple[int, ...]
    hash: str


class DesignEstimate(ProjectState):
    """The estimate of the document's design.

    Attributes:
        estimate: calls, tokens, price and time, ``None`` where the design cannot be estimated.
        problem: why not, in words.
        stale: a newer estimate is on its way.

    Signals:
        changed: any of these changed.
    """

    changed = Signal()

    def __init__(self, parts: ProjectParts, parent: QObject | None = None) -> None:
        super().__init__(parts, parent)
        self.estimate: RunEstimate | None = None
        self.problem = ""
        self.stale = False
        self._facts: _PairFacts | None = None
        self._stop = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WAIT_MS)
        self._timer.timeout.connect(self._begin)
        for signal in (self._document.project_changed, self._document.profiles_changed, self._run_state.runs_changed):
            signal.connect(self.refresh)

    @property
    def currency(self) -> str:
        """The currency of prices; USD before there is an estimate."""
        return "USD" if self.estimate is None else self.estimate.estimate.currency

    def refresh(self) -> None:
        """Starts a new estimate soon."""
        self._stop.set()
        if not self.stale:
            self.stale = True
            self.changed.emit()
        self._timer.start()

    def _begin(self) -> None:
        if not self._document.is_open:
            return
        stop = self._stop = threading.Event()
        self._task = self._tasks.start(self._estimate_now(stop), texts.ESTIMATE_THE_COST)

    async def _estimate_now(self, stop: threading.Event) -> None:
        document = self._document
        pairs, store, newest = document.pairs, document.own_store, self._run_state.newest
        try:
            start = start_of(document.project, pairs, document.profiles, folder=document.folder)
            facts = self._facts if self._facts is not None and self._facts.pairs is pairs else None
            work = _EstimateWork(start, store, newest, facts, stop)
            estimate, facts, differs = await self._tasks.off_thread(work)
        except _Superseded:
            return
        except (NetworkError, PriceError, PromptError) as error:
            self._take(None, str(error).splitlines()[0], "")
            return
        except (StoreError, sqlite3.Error) as error:
            # Another project was opened meanwhile, and the store of the one before is closed.
            if document.own_store is store:
                self._errors.post_exception(error)
            return
        if stop.is_set() or document.pairs is not pairs:
            return
        self._facts = facts
        text = ""
        if not pairs:
            # Their file may be gone: it is not known whether they are others.
            differs = tuple(part for part in differs if part != "pairs")
        if differs and newest is not None:
            what = texts.AND.join(_WORDS[part] for part in differs).capitalize()
            text = texts.changed_since_run(what, newest.number)
        self._take(estimate, "", text)

    def _take(self, estimate: RunEstimate | None, problem: str, difference: str) -> None:
        self.estimate, self.problem, self.stale = estimate, problem, False
        self._document.note_changed_since_run(difference)
        self.changed.emit()


class _EstimateWork:
    """The work of one estimate, for a thread."""

    def __init__(
        self, start: Start, store: Store | None, newest: RunInfo | None, facts: _PairFacts | None, stop: threading.Event
    ) -> None:
        self._start = start
        self._store = store
        self._newest = newest
        self._facts = facts
        self._stop = stop

    def __call__(self) -> tuple[RunEstimate, _PairFacts, tuple[str, ...]]:
        facts = self._facts or self._look_at_pairs()
        differs = () if self._newest is None else changes_since(self._newest, self._start, facts.hash)
        estimate = estimate_run(self._start, self._store, lengths=facts.lengths, check=self._check)
        return estimate, facts, differs

    def _check(self) -> None:
        if self._stop.is_set():
            raise _Superseded

    def _look_at_pairs(self) -> _PairFacts:
        pairs = self._start.pairs
        lengths = []
        for number, pair in enumerate(pairs):
            if number % 500 == 0:
                self._check()
            lengths.append(pair_tokens(pair))
        return _PairFacts(pairs, tuple(lengths), data_hash(pairs))
