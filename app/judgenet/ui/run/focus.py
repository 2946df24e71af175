"""The pair in focus: its neurons and calls for all parts of the page, followed call by call."""

from __future__ import annotations

import sqlite3

from PySide6.QtCore import QObject, Signal

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Evaluation, Unscored
from judgenet.core.network import NetworkError
from judgenet.core.pairs import Order, Pair
from judgenet.core.prompts import Heard, PromptBook, PromptError
from judgenet.core.roles import stand_in_roles
from judgenet.core.schemas import ReplyForm
from judgenet.engine.pair_snapshot import NeuronSnapshot, PairSnapshot
from judgenet.engine.questions import Question, Questions
from judgenet.engine.rebuild import Rebuilt
from judgenet.store.db import StoreError
from judgenet.store.frame import RunFrame
from judgenet.store.runs import FullCall, RunInfo, pair_call_rows
from judgenet.ui.context import Context
from judgenet.ui.run import texts
from judgenet.ui.run.picture import role_name


class FocusPair(QObject):
    """The pair in focus and the results of its calls.

    Attributes:
        now: the current state of its neurons, ``None`` where there is no run.

    Signals:
        replaced: another pair or run is in focus, or the pair has other neurons since its roles became known.
        neurons_changed: the set of (layer, neuron), both from 1, that changed.
    """

    replaced = Signal()
    neurons_changed = Signal(object)

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._run_state = context.run_state
        self.now: PairSnapshot | None = None
        self._table: RunFrame | None = None
        self._rebuilt: Rebuilt | None = None
        self._questions: Questions | None = None
        self._pair: Pair | None = None
        self._run_state.run_changed.connect(self._run_changed)
        self._run_state.focus_changed.connect(self._focus_changed)
        self._run_state.calls_changed.connect(self._calls_changed)
        self._run_state.pairs_changed.connect(self._pairs_changed)
        self.rebuild()

    # Following the run

    def _run_changed(self) -> None:
        if self._run_state.table is not self._table:
            self.rebuild()

    def _focus_changed(self, index: object) -> None:
        if self.now is None or index != self.now.pair:
            self.rebuild()

    def rebuild(self) -> None:
        """Reads everything about the pair again."""
        table, index = self._run_state.table, self._run_state.focus
        if table is not self._table:
            self._questions = None
        self._table = table
        self._rebuilt = None
        self._pair = None
        self.now = None
        if table is not None and index is not None and self._context.document.store is not None:
            try:
                self._pair = self._run_state.pair(index)
                roles = self._run_state.roles(index)
            except (StoreError, sqlite3.Error) as error:
                self._context.errors.post_exception(error)
                roles = None
            self.now = PairSnapshot(table, index, roles)
        self.replaced.emit()

    def _calls_changed(self, sites: set[CallSite]) -> None:
        if self.now is None:
            return
        pair = self.now.pair
        mine = [site for site in sites if site.pair == pair]
        if not mine:
            return
        self._rebuilt = None
        changed = self.now.take(mine)
        if changed:
            self.neurons_changed.emit(changed)

    def _pairs_changed(self, pairs: set[int]) -> None:
        now = self.now
        if now is None or now.pair not in pairs:
            return
        if now.roles_known:
            if self._table is not None and now.stop != self._table.stop(now.pair):
                self.rebuild()
        else:
            try:
                roles = self._run_state.roles(now.pair)
            except (StoreError, sqlite3.Error) as error:
                self._context.errors.post_exception(error)
                return
            if roles is not None:
                self.rebuild()

    # The pair and its neurons

    @property
    def pair(self) -> Pair | None:
        """The pair itself; ``None`` where there is none or it cannot be read."""
        return self._pair

    @property
    def index(self) -> int | None:
        """The index of the pair in the run, from 0; ``None`` where there is no run."""
        return None if self.now is None else self.now.pair

    def name(self, now: NeuronSnapshot) -> str:
        """The name of a neuron."""
        assert self.now is not None
        return role_name(now, self.now.spec)

    def names(self, layer: int) -> list[str]:
        """The names of the neurons of a layer, counted from 1; empty for the chair."""
        if self.now is None or not 1 <= layer <= len(self.now.layers):
            return []
        return [self.name(neuron) for neuron in self.now.layers[layer - 1]]

    # Results and inputs of calls

    def result(self, site: CallSite) -> Evaluation | Unscored | None:
        """The result of a call; ``None`` before it is in, or where it cannot be read, which shows an error."""
        try:
            return self._run_state.result(site)
        except (StoreError, sqlite3.Error) as error:
            self._context.errors.post_exception(error)
            return None

    def call(self, site: CallSite) -> FullCall | None:
        """All that is kept of a call; ``None`` before it is in, or where it cannot be read, which shows an error."""
        try:
            return self._run_state.call(site)
        except (StoreError, sqlite3.Error) as error:
            self._context.errors.post_exception(error)
            return None

    def site(self, layer: int, neuron: int, order: Order, sample: int = 1) -> CallSite:
        """The site of a call of the pair; layer, neuron and sample count from 1."""
        assert self.now is not None
        return CallSite(self.now.pair, layer, neuron, order, sample)

    def heard(self, site: CallSite) -> tuple[Heard, ...]:
        """The evaluations that a call reads.

        :raises NetworkError: the layer before is not in yet.
        """
        return self._rebuild_calls().heard(site)

    def question(self, site: CallSite, form: ReplyForm) -> Question:
        """The prompt of a call and its reply form, as sent or as it will be sent.

        :raises NetworkError: it is not known yet, or the prompts have changed since.
        """
        run = self._run_state.run
        rebuilt = self._rebuild_calls()
        if run is not None and run.record.get("prompts") != self._book(run).digest:
            raise NetworkError(texts.PROMPTS_CHANGED)
        return rebuilt.question(site, form)

    def _book(self, run: RunInfo) -> PromptBook:
        try:
            book = PromptBook.default().edited(self._context.document.project.prompts)
            return book.of_digest(run.record.get("prompts"))
        except PromptError as error:
            raise NetworkError(str(error)) from None

    def _rebuild_calls(self) -> Rebuilt:
        """What the calls of the pair read, made once for each state of the pair."""
        now, pair, run, store = self.now, self._pair, self._run_state.run, self._context.document.store
        if now is None or pair is None or run is None or store is None:
            raise NetworkError(texts.NO_PAIR)
        if self._questions is None:
            salt = store.salt(self._context.document.project.salt)
            self._questions = Questions(now.spec, self._book(run), salt, stand_in_roles)
        if self._rebuilt is None:
            roles = self._run_state.roles(now.pair)
            self._rebuilt = Rebuilt(self._questions, now.pair, pair, roles, pair_call_rows(store, run, now.pair))
        return self._rebuilt
