"""What can be guaranteed for the verdicts of the run in focus, computed in a thread; and the rule that the project
keeps."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from judgenet.core.acceptance import acceptance_misfit, asks_otherwise
from judgenet.core.aggregate import verdict_names
from judgenet.core.network import AcceptanceRule, Confidence
from judgenet.store.db import StoreError
from judgenet.ui.clock import today
from judgenet.ui.context import Context
from judgenet.ui.results import texts
from judgenet.ui.results.state import Results

if TYPE_CHECKING:
    from judgenet.figures.guarantee import ConfidentVerdicts, RunGuarantee

ALPHA: Final = 0.1
DELTA: Final = 0.05


@dataclass(frozen=True, slots=True)
class GuaranteeQuestion:
    """``alpha`` is the largest error of accepted verdicts, ``delta`` the probability that it is larger, ``confidence``
    the measure by which verdicts are accepted."""

    alpha: float = ALPHA
    delta: float = DELTA
    confidence: Confidence = "calls"


@dataclass(frozen=True, slots=True)
class GuaranteeAnswer:
    """What can be guaranteed. ``rule`` is the rule that the project would keep, ``None`` where nothing can be
    guaranteed. ``queue`` are the places in the run of the pairs for people without a label, the least sure first;
    ``decided_queue`` those that the run's own rule left to people."""

    question: GuaranteeQuestion
    figures: RunGuarantee
    rule: AcceptanceRule | None
    queue: tuple[int, ...]
    decided_queue: tuple[int, ...]


class GuaranteeState(QObject):
    """Answers questions about the run in focus. Of questions that come faster than their answers only the last one is
    answered.

    Attributes:
        question: the question in force; ``answer`` is ``None`` while there is none.
        working: an answer is being computed.
        live: the run is running, and nothing is computed.

    Signals:
        changed: any of these changed.
    """

    changed = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.question = GuaranteeQuestion()
        self.answer: GuaranteeAnswer | None = None
        self.working = False
        self.live = False
        self._results: Results | None = None
        self._verdicts: dict[Confidence, ConfidentVerdicts] = {}
        self._number = 0
        context.document.opened.connect(self.forget)
        context.document.network_changed.connect(self.changed)
        context.document.read_only_changed.connect(self.changed)

    def forget(self) -> None:
        """Forgets everything: another project was opened."""
        self._number += 1
        self._results = self.answer = None
        self._verdicts = {}
        self.working = False
        self.changed.emit()

    def look(self, results: Results, *, live: bool) -> None:
        """Answers the question for a run; not while it is running."""
        if results is self._results and live == self.live:
            return
        before = self._results
        if live or before is None or before.run.id != results.run.id:
            self.answer = None
        self._results, self.live, self._verdicts = results, live, {}
        self._number += 1
        self.working = False
        if not live:
            self._begin()
        self.changed.emit()

    def ask(self, question: GuaranteeQuestion) -> None:
        """Asks another question."""
        if question == self.question:
            return
        self.question = question
        if not self.live and not self.working:
            self._begin()
        self.changed.emit()

    def _begin(self) -> None:
        results = self._results
        if results is not None:
            self.working = True
            self._context.tasks.start(self._answer(results, self._number), texts.CALCULATE_GUARANTEE)

    async def _answer(self, results: Results, number: int) -> None:
        date = today().isoformat()
        while number == self._number:
            question = self.question
            known = self._verdicts.get(question.confidence)
            try:
                verdicts, answer = await self._context.tasks.off_thread(answered, results, question, known, date)
            except (StoreError, sqlite3.Error) as error:
                if number == self._number:
                    self.working = False
                    self._context.errors.post_exception(error, results.run.id)
                return
            if number != self._number:
                return
            self._verdicts[question.confidence] = verdicts
            self.answer = answer
            self.working = self.question != question
            self.changed.emit()
            if not self.working:
                return

    # The project

    def why_not_save(self) -> str:
        """Why the rule cannot go into the project; empty where it can."""
        document, answer = self._context.document, self.answer
        if answer is None or answer.rule is None:
            return texts.NOTHING_PROMISED_YET
        if document.read_only:
            return document.read_only
        kept = document.spec.aggregation.acceptance
        if kept is not None and replace(kept, made=answer.rule.made) == answer.rule:
            return texts.PROJECT_HAS_RULE
        spec = replace(document.spec, aggregation=replace(document.spec.aggregation, acceptance=answer.rule))
        if why := acceptance_misfit(spec, verdict_names(spec)):
            return texts.other_network(why)
        if asks_otherwise(spec, document.profiles):
            return texts.NETWORK_DIFFERS
        return ""

    def save(self) -> None:
        """Keeps the rule in the project: it decides new runs. Can be undone."""
        if self.why_not_save() or self.answer is None:
            return
        self._set_rule(texts.SAVE_ACCEPTANCE, self.answer.rule)

    @property
    def project_rule(self) -> AcceptanceRule | None:
        """The rule that decides the project's new runs."""
        return self._context.document.spec.aggregation.acceptance

    def remove(self) -> None:
        """Takes the rule out of the project. Can be undone."""
        if self.project_rule is not None and not self._context.document.read_only:
            self._set_rule(texts.REMOVE_ACCEPTANCE, None)

    def _set_rule(self, action: str, rule: AcceptanceRule | None) -> None:
        spec = self._context.document.spec
        self._context.document.edit_network(
            action, replace(spec, aggregation=replace(spec.aggregation, acceptance=rule))
        )
        self.changed.emit()


def answered(
    results: Results, question: GuaranteeQuestion, known: ConfidentVerdicts | None, date: str
) -> tuple[ConfidentVerdicts, GuaranteeAnswer]:
    """The answer to a question. ``known`` are the verdicts with this measure of confidence where they were computed
    before; ``date`` is that of the rule, as ISO text."""
    from judgenet.figures.acceptance import people_queue, without_label
    from judgenet.figures.guarantee import acceptance_rule, confident_verdicts, for_people, guarantee_of

    frame = results.frame
    verdicts = known or confident_verdicts(frame, results.report.decides, question.confidence)
    figures = guarantee_of(frame, verdicts, question.alpha, question.delta)
    rule = None if figures.threshold is None else acceptance_rule(frame, figures, verdicts, date)
    people = for_people(verdicts, figures.threshold)
    queue = tuple(people[without_label(frame)[people]].tolist())
    return verdicts, GuaranteeAnswer(question, figures, rule, queue, people_queue(frame))
