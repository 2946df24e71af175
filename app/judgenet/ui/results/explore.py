"""What a smaller network would have said: the recorded calls of the run in focus as arrays, evaluated in threads."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from judgenet.core.network import Aggregation
from judgenet.store.db import Store, StoreError
from judgenet.store.runs import RunInfo
from judgenet.ui.context import Context
from judgenet.ui.results import texts
from judgenet.ui.results.state import Results
from judgenet.ui.tasks import Job, JobCancelled

if TYPE_CHECKING:
    from judgenet.stats.whatif import Calls, Subnetwork, SubnetworkChange, SubnetworkVerdicts, VoteRule, WhatIf

_MOST_CELLS: Final = 4e7
"""With more cells than these (labelled pairs × sizes × choices of neurons) fewer choices of neurons are averaged."""


@dataclass(frozen=True, slots=True)
class Explored:
    """The calls of a run. ``pairs`` has the place in the run of each pair of the calls."""

    run: RunInfo
    calls: Calls
    names: tuple[str, ...]
    pairs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WhatIfQuestion:
    """A sub-network, the aggregation that gives its verdict, and the rules by which votes are counted."""

    choice: Subnetwork
    rule: VoteRule
    rules: Aggregation


@dataclass(frozen=True, slots=True)
class Reply:
    """The verdicts of the sub-network, and how they change the run's own."""

    question: WhatIfQuestion
    answer: SubnetworkVerdicts
    own: SubnetworkVerdicts
    change: SubnetworkChange


def own_question(calls: Calls, decides: str, rules: Aggregation) -> WhatIfQuestion:
    """The question whose answer is the run's own verdict; where a chair decides, the vote below it."""
    from judgenet.stats.whatif import Subnetwork, whole_choice

    whole = whole_choice(calls)
    if decides == "c1":
        return WhatIfQuestion(whole, "c1", rules)
    if decides.startswith("c2_l"):
        layer = int(decides.removeprefix("c2_l"))
        if layer <= calls.depth:
            width = int((calls.layers == layer).sum())
            return WhatIfQuestion(Subnetwork(layer, width, calls.orders, calls.samples), "c2_last", rules)
    return WhatIfQuestion(whole, "c2_all", rules)


class Explorer(QObject):
    """Reads the calls of a finished run once, and answers questions about smaller networks.

    Attributes:
        explored: the calls, ``None`` while they are not read; :attr:`why` then says why.
        curve: accuracy by size of network under the chosen rules, ``None`` where it is not computed or no pair has a
            label.
        reply: the answer to the last question.
        working: the calls are being read, or the curve is being computed.
        stopped: the user stopped it; :meth:`again` resumes.

    Signals:
        changed: calls or curve came or went.
        answered: a :class:`Reply` is there.
    """

    changed = Signal()
    answered = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.explored: Explored | None = None
        self.curve: WhatIf | None = None
        self.reply: Reply | None = None
        self.why = texts.NO_RUN
        self.stopped = False
        self._results: Results | None = None
        self._key: tuple[object, ...] | None = None
        self._curve_key: tuple[object, ...] | None = None
        self._own: tuple[WhatIfQuestion, SubnetworkVerdicts] | None = None
        self._asked: WhatIfQuestion | None = None
        self._asking = False
        self.working = False
        self._rule: VoteRule | None = None
        self._number = 0
        context.document.opened.connect(self.forget)

    def forget(self) -> None:
        """Forgets everything: another project was opened."""
        self._number += 1
        self.working = False
        self.explored = self.curve = self.reply = self._own = self._results = self._key = self._curve_key = None
        self.stopped = False
        self.changed.emit()

    def look(self, results: Results, *, live: bool) -> None:
        """Reads a run under the rules of ``results``, unless it was read before; not while it is running."""
        key = (results.run.id, results.run.finished_at, results.report.data.finished, results.labels_key)
        self._results = results
        if live:
            # What was read before is of another run, or of this one when it had fewer pairs.
            self.why = texts.SMALLER_AT_THE_END
            if self.explored is not None or self.working:
                self.forget()
                self._results = results
            return
        by_criteria = results.frame.spec.roles.kind == "criteria"
        if by_criteria or results.frame.early is not None:
            self.why = texts.CRITERIA_OF_QUESTIONS if by_criteria else texts.STOPPED_EARLY
            if self.explored is not None or self.working:
                self.forget()
            self._key, self._results = None, results
            self.changed.emit()
            return
        if key != self._key:
            self.forget()
            self._key, self._results = key, results
        self._begin()

    def again(self) -> None:
        """Reads the calls again after the user had stopped it."""
        self.stopped = False
        self._begin()

    def choose_rule(self, rule: VoteRule) -> None:
        """Sets the aggregation whose accuracy the curve shows."""
        if rule != self._rule:
            self._rule = rule
            self._begin()

    def _begin(self) -> None:
        store, results = self._context.document.store, self._results
        if store is None or results is None or self.stopped or self._key is None:
            return
        rules, rule = results.rules, self._rule
        curve_key = (self._key, rules, rule, results.report.decides)
        if curve_key == self._curve_key and (self.working or self.explored is not None):
            return
        self._curve_key = curve_key
        self._number += 1
        self.working = True
        self.why = texts.CALLS_ARE_READ
        self._context.tasks.start(self._read(store, results, rules, rule, self._number), texts.EVALUATE_SMALLER)

    async def _read(
        self, store: Store, results: Results, rules: Aggregation, rule: VoteRule | None, number: int
    ) -> None:
        known = self.explored

        def work(job: Job) -> tuple[Explored, WhatIf | None]:
            def report(done: float) -> None:
                if number != self._number:
                    raise JobCancelled
                job.share_is(done)

            exploration = known or _explored(
                store, results.run, lambda done, total: report(0.5 * done / total if total else 0.0)
            )
            return exploration, _curve(
                exploration, results, rules, rule, lambda done, total: report(0.5 + 0.5 * done / total)
            )

        try:
            explored, curve = await self._context.tasks.job(texts.EVALUATE_SMALLER, work)
        except JobCancelled:
            if number == self._number:
                self.working, self._curve_key = False, None
                self.stopped, self.why = True, texts.READING_STOPPED
                self.changed.emit()
            return
        except (StoreError, sqlite3.Error) as error:
            if number == self._number and self._context.document.store is store:
                self.working = False
                self._context.errors.post_exception(error, results.run.id)
            return
        if number != self._number:
            return
        self.working, self.why = False, ""
        self.explored, self.curve = explored, curve
        if not explored.names:
            self.why = texts.NO_NEURON_ANSWERED
        self._own = None
        self.changed.emit()

    def ask(self, question: WhatIfQuestion) -> None:
        """Asks a sub-network. Of questions that come faster than their answers only the last one is answered."""
        self._asked = question
        if not self._asking and self.explored is not None:
            self._asking = True
            self._context.tasks.start(self._answer(), texts.EVALUATE_A_SMALLER)

    def wrong(self, reply: Reply) -> tuple[int, ...]:
        """The places in the run of the labelled pairs on which an answer is wrong."""
        explored = self.explored
        if explored is None:
            return ()
        codes, human = reply.answer.codes, explored.calls.human
        places = ((codes > 0) & (human > 0) & (codes != human)).nonzero()[0]
        return tuple(explored.pairs[place] for place in places)

    async def _answer(self) -> None:
        try:
            while self._asked is not None and self.explored is not None and self._results is not None:
                question, self._asked = self._asked, None
                explored = self.explored
                own = own_question(explored.calls, self._results.report.decides, self._results.report.recorded)
                if self._own is None or self._own[0] != own:
                    self._own = own, await self._context.tasks.off_thread(_answer, explored, own)
                reply = await self._context.tasks.off_thread(_reply, explored, question, self._own[1])
                if explored is self.explored and self._asked is None:
                    self.reply = reply
                    self.answered.emit()
        finally:
            self._asking = False


def _explored(store: Store, run: RunInfo, on_progress: Callable[[int, int], None]) -> Explored:
    from judgenet.store.frame import RunFrame

    frame = RunFrame.read(store, run, on_progress=on_progress)
    return Explored(run, frame.what_if_calls(), frame.names, tuple(frame.done.tolist()))


def _curve(
    explored: Explored,
    results: Results,
    rules: Aggregation,
    rule: VoteRule | None,
    on_progress: Callable[[int, int], None],
) -> WhatIf | None:
    from judgenet.stats.whatif import SUBSETS, what_if

    calls = explored.calls
    if not explored.names:
        return None
    labelled = int((calls.human > 0).sum())
    sizes = max(1, len(calls.layers))
    subsets = max(8, min(SUBSETS, round(_MOST_CELLS / max(1, labelled * sizes))))
    own = own_question(calls, results.report.decides, rules)
    return what_if(
        calls,
        rules,
        rule or own.rule,
        subsets=subsets,
        on_progress=on_progress,
    )


def _answer(explored: Explored, question: WhatIfQuestion) -> SubnetworkVerdicts:
    from judgenet.stats.whatif import answer

    return answer(explored.calls, question.choice, question.rules, question.rule)


def _reply(explored: Explored, question: WhatIfQuestion, own: SubnetworkVerdicts) -> Reply:
    from judgenet.stats.whatif import change

    answer = _answer(explored, question)
    return Reply(question, answer, own, change(answer, own, explored.calls.human, explored.calls.questions))
