"""What the label desk shows: the pairs drawn, the pair in view, and the annotators. Every label is saved at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoCommand

from judgenet.core.labels import Chosen, HumanLabel, LabelRules, NoMajority, Said
from judgenet.core.pairs import Pair
from judgenet.core.wording import plural
from judgenet.engine.labelling import (
    Desk,
    Draw,
    Mode,
    Survey,
    agreement_with_network,
    draw_for_people,
    draw_given,
    draw_picked,
    draw_planned,
    draw_random,
    draw_uncertain,
    planned,
    survey,
    turned,
)
from judgenet.stats.agreement import Agreement
from judgenet.stats.label_plan import LabelPlan
from judgenet.store.db import Store, StoreError
from judgenet.store.frame import RunFrame
from judgenet.store.labels import LabelBook, label_rules, put_label, set_label_rules, take_back
from judgenet.ui.clock import monotonic
from judgenet.ui.context import Context
from judgenet.ui.labels import texts
from judgenet.ui.results.state import decided_by
from judgenet.ui.tasks import JobCancelled

FIRST_ANNOTATOR: Final = "You"
GOAL: Final = 200
WIDTH: Final = 0.1
"""The target width of the interval of the win rate, for which labels are planned."""
_SURVEY_MS: Final = 700
_LATE_MS: Final = 3000


@dataclass(frozen=True, slots=True)
class _DeskChoice:
    """What a desk is drawn from."""

    store: Store | None
    pairs: Sequence[Pair]
    table: RunFrame | None
    aggregation: str
    mode: Mode
    picked: tuple[int, ...]
    annotator: str
    seed: str
    goal: int
    for_people: bool


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A desk, with the annotators' agreement, the plan where there is one, and the rules of labels."""

    desk: Desk
    survey: Survey
    plan: LabelPlan | None
    rules: LabelRules


class _Labelled(QUndoCommand):
    """A label as an edit: undo withdraws it, redo gives it again."""

    def __init__(self, state: LabelsState, place: int, label: HumanLabel, before: HumanLabel | None) -> None:
        words = {
            "a": texts.LABEL_A,
            "b": texts.LABEL_B,
            "tie": texts.LABEL_TIE,
            "skip": texts.SKIP,
            "unsure": texts.UNSURE,
        }
        # By the letter that stood on the desk.
        super().__init__(words[turned(label.said) if label.swapped else label.said])
        self._state = state
        self._place = place
        self._label = label
        self._before = before
        self._fresh = True

    def redo(self) -> None:
        self._state.give(self._place, self._label, fresh=self._fresh)
        self._fresh = False

    def undo(self) -> None:
        self._state.withdraw(self._place, self._label, self._before)


class LabelsState(QObject):
    """The desk of the open project.

    Attributes:
        mode: how pairs are chosen; ``annotator`` is who labels, ``goal`` the target number of labels.
        desk: the pairs drawn and the position among them, ``None`` before they are drawn.
        survey, plan: the annotators' agreement, and the plan where there is a run; both are updated a little after each
            label.
        working: pairs are being drawn.
        pending: the number of labels that are being written to the disk.

    Signals:
        changed: another pair, desk, mode or annotator.
        surveyed: :attr:`survey` or :attr:`plan` changed.
        saved: :attr:`pending` changed.
    """

    changed = Signal()
    surveyed = Signal()
    saved = Signal()
    _committed = Signal(object)

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.mode: Mode = "random"
        self.annotator = context.settings.text("annotator", FIRST_ANNOTATOR) or FIRST_ANNOTATOR
        self.goal = GOAL
        self.desk: Desk | None = None
        self.survey: Survey | None = None
        self.plan: LabelPlan | None = None
        self.rules = LabelRules()
        self.working = False
        self.pending = 0
        self.in_view = False
        self._picked: tuple[int, ...] = ()
        self._for_people = False
        self._stale = True
        self._unseen = False
        self._wanted = 0
        self._since = monotonic()
        self._task: asyncio.Task[None] | None = None
        self._survey_task: asyncio.Task[None] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SURVEY_MS)
        self._timer.timeout.connect(self._survey_now)
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(_LATE_MS)
        self._late.timeout.connect(self._tell_late)
        self._committed.connect(self._take_committed)
        document = context.document
        document.opened.connect(self._opened)
        document.pairs_changed.connect(self._outdated)
        document.read_only_changed.connect(self.changed)
        context.run_state.run_changed.connect(self._run_changed)
        context.run_state.loading_changed.connect(self._run_changed)

    # What there is

    @property
    def store(self) -> Store | None:
        return self._context.document.store

    @property
    def why_not(self) -> str:
        """Why nothing can be labelled, in words; empty where it can."""
        store = self.store
        return texts.READ_ONLY if store is None or store.readonly or self._context.document.read_only else ""

    @property
    def table(self) -> RunFrame | None:
        """The run in focus; ``None`` where there is none that has been read."""
        state = self._context.run_state
        return None if state.loading else state.table

    @property
    def aggregation(self) -> str:
        """The aggregation whose verdicts the planner and the estimate use."""
        run = self._context.run_state.run
        return "" if run is None else decided_by(run, self._context.document.rule)

    # The user's choices

    def enter(self, picked: tuple[int, ...] | None = None, *, drawn: bool = False, for_people: bool = False) -> None:
        """Shows the desk. ``picked`` are pairs to review or, where the planner drew them within the verdicts of the run
        in focus (``drawn``), its next pairs; with ``for_people`` they are the pairs whose verdict was not sure enough,
        and all of them are the target."""
        self.in_view = True
        self._since = monotonic()
        if picked:
            self._picked, self.mode, self._stale = picked, "planned" if drawn else "targeted", True
            self._for_people = for_people
            if for_people:
                self.goal = len(picked)
        if self._stale:
            self.refresh()

    def leave(self) -> None:
        """Leaves the desk: what depends on labels is read anew."""
        self.in_view = False
        if self._unseen and self.store is not None:
            self._unseen = False
            self._context.results.labels_changed()
            self._context.run_state.labels_changed()

    def set_mode(self, mode: Mode) -> None:
        """Sets how pairs are chosen."""
        if mode != self.mode or self._picked:
            self.mode, self._picked, self._for_people = mode, (), False
            self.refresh()

    def set_annotator(self, name: str) -> None:
        """Sets who labels."""
        name = " ".join(name.split())
        if name and name != self.annotator:
            self.annotator = name
            self._context.settings.keep_text("annotator", name)
            self.refresh()

    def set_goal(self, goal: int) -> None:
        """Sets the target number of labels."""
        if goal != self.goal:
            self.goal = goal
            if self.desk is not None:
                self.desk.goal = goal
            self.changed.emit()
            self.surveyed.emit()

    def set_rules(self, *, no_majority: NoMajority | None = None, file_chosen: Chosen | None = None) -> None:
        """Sets how several labels become one label of a pair."""
        store = self.store
        if store is None or store.readonly:
            return
        rules = LabelRules(no_majority or self.rules.no_majority, file_chosen or self.rules.file_chosen)
        try:
            set_label_rules(store, rules)
        except StoreError as error:
            self._context.errors.post_exception(error)
            return
        self.rules = rules
        self._unseen = True
        self._timer.start()

    # Labelling

    def say(self, shown: Said) -> bool:
        """Labels the pair on the desk; ``a`` is the response shown at the left. False where that is not possible."""
        desk = self.desk
        if desk is None or desk.place is None or self.working or self.why_not or desk.finished:
            return False
        place, before = desk.place, desk.given.get(desk.place)
        label = desk.say(shown, monotonic() - self._since, time.time())
        self._since = monotonic()
        self._context.document.undo_stack.push(_Labelled(self, place, label, before))
        return True

    def back(self) -> bool:
        """Goes back to the pair before; false where there is none."""
        if self.desk is None or not self.desk.back():
            return False
        self._since = monotonic()
        self.changed.emit()
        return True

    def go_on(self) -> None:
        """Sets the target 50 labels above those there are."""
        if self.desk is not None:
            self.set_goal(self.desk.labelled + 50)

    def give(self, place: int, label: HumanLabel, *, fresh: bool) -> None:
        """Saves a label. A ``fresh`` one is on the desk already."""
        store = self.store
        if store is None or store.readonly:
            return
        self._expect()
        put_label(store, label, self._committed.emit)
        if not fresh:
            self._set(place, label, label)
        self._after()

    def withdraw(self, place: int, label: HumanLabel, before: HumanLabel | None) -> None:
        """Withdraws a label and shows its pair."""
        store = self.store
        if store is None or store.readonly:
            return
        self._expect()
        take_back(store, label, self._committed.emit)
        self._set(place, label, before)
        self._after()

    def _set(self, place: int, label: HumanLabel, now: HumanLabel | None) -> None:
        desk = self.desk
        if desk is None or not desk.mine(label):
            self._stale = True
            return
        if place < len(desk.pairs) and desk.pairs[place].id == label.pair_id:
            desk.take(place, now)
            desk.show(place)
            self._since = monotonic()

    def _after(self) -> None:
        self._unseen = True
        self._timer.start()
        self.saved.emit()
        self.changed.emit()
        if self._stale and self.in_view:
            self.refresh()

    def _expect(self) -> None:
        """Counts a label that is being written to the disk."""
        self.pending += 1
        if not self._late.isActive():
            self._late.start()

    def _take_committed(self, labels: Sequence[HumanLabel]) -> None:
        self.pending = max(0, self.pending - len(labels))
        if not self.pending:
            self._late.stop()
        self.saved.emit()

    def _tell_late(self) -> None:
        store = self.store
        self._context.errors.post(
            texts.not_written(plural(self.pending, "label")),
            "" if store is None else str(store.path),
        )

    # Drawing, off the interface's thread

    def _opened(self) -> None:
        self.desk = self.survey = self.plan = None
        self.mode, self._picked, self._for_people = "random", (), False
        self.pending = 0
        self._late.stop()
        self._unseen = False
        self._outdated()

    def _outdated(self) -> None:
        self._stale = True
        if self.in_view:
            self.refresh()

    def _run_changed(self) -> None:
        if self.mode in ("planned", "targeted") and not self._context.run_state.loading:
            self._outdated()
        elif self.in_view:
            self._timer.start()

    def refresh(self) -> None:
        """Draws the pairs anew."""
        self._stale = False
        self._wanted += 1
        self.working = True
        self.changed.emit()
        choice = _DeskChoice(
            self.store,
            self._context.document.pairs,
            self.table,
            self.aggregation,
            self.mode,
            self._picked,
            self.annotator,
            self._context.document.project.salt,
            self.goal,
            self._for_people,
        )
        self._task = self._context.tasks.start(self._draw(choice, self._wanted), texts.DRAW_THE_PAIRS)

    async def _draw(self, choice: _DeskChoice, wanted: int) -> None:
        try:
            drawn = await self._context.tasks.job(texts.DRAW_PAIRS, lambda _job: _drawn(choice))
        except JobCancelled:
            if wanted == self._wanted:
                self.working = False
                self._stale = True
                self.changed.emit()
            return
        if wanted != self._wanted:
            return
        self.desk, self.survey, self.plan, self.rules = drawn.desk, drawn.survey, drawn.plan, drawn.rules
        self.desk.goal = self.goal
        self.working = False
        self._since = monotonic()
        self.changed.emit()
        self.surveyed.emit()

    def _survey_now(self) -> None:
        if self.desk is not None and not self.working:
            self._survey_task = self._context.tasks.start(self._update_survey(self._wanted), texts.COMPARE_ANNOTATORS)

    async def _update_survey(self, wanted: int) -> None:
        store, desk, table, name = self.store, self.desk, self.table, self.aggregation
        if store is None or desk is None:
            return
        survey_now, plan = await self._context.tasks.off_thread(_survey_and_plan, store, desk, table, name)
        if wanted == self._wanted:
            self.survey, self.plan = survey_now, plan
            self.surveyed.emit()

    def labels_imported(self) -> None:
        """Draws the pairs anew: labels came from a file."""
        self._unseen = True
        self.refresh()

    def votes(self, pair: Pair) -> list[tuple[str, str]]:
        """What each annotator said of a pair, in words, for whoever resolves it."""
        store = self.store
        if store is None:
            return []
        merged, _ = LabelBook.of(store, pair.id).merged(pair)
        words = {"a": "A", "b": "B", "tie": "tie"}
        return [(name, words[said]) for name, said in merged.annotators]

    def with_network(self) -> Agreement | None:
        """How often the network agrees with this annotator; known only when the desk is finished, ``None`` before."""
        desk, table = self.desk, self.table
        if desk is None or table is None or not desk.finished or not desk.labelled or desk.draw.mode == "settle":
            return None
        rule = table.spec.aggregation.acceptance
        # Pairs for people have no accepted verdict: what the network would have said is compared.
        name = rule.aggregation if rule is not None and desk.draw.for_people else self.aggregation
        return agreement_with_network(desk.pairs, table, name, list(desk.given.values()))


def _drawn(choice: _DeskChoice) -> _Drawn:
    book = LabelBook.of(choice.store) if choice.store is not None else LabelBook()
    pairs, table = choice.pairs, choice.table
    standing = survey(pairs, book, choice.seed)
    plan = None
    match choice.mode:
        case "random":
            draw = draw_random(pairs, choice.seed)
        case "settle":
            draw = Draw("settle", standing.disputed, "random", len(pairs))
        case "targeted" if choice.picked:
            draw = replace(draw_picked(pairs, choice.picked), for_people=choice.for_people)
        case _ if table is None:
            chosen: Chosen = "targeted" if choice.mode == "targeted" else "within-verdict"
            draw = Draw(choice.mode, (), chosen, len(pairs), note=texts.NO_RUN)
        case "planned" if choice.picked:
            draw = draw_given(pairs, table, choice.aggregation, choice.picked)
        case "targeted" if table.spec.aggregation.acceptance is not None:
            draw = draw_for_people(pairs, table)
        case "targeted":
            draw = draw_uncertain(pairs, table, choice.aggregation)
        case _:
            draw, plan = draw_planned(pairs, table, choice.aggregation, book, WIDTH, choice.seed)
    if plan is None and table is not None:
        plan = planned(pairs, table, choice.aggregation, book, WIDTH)
    desk = Desk.of(pairs, draw, choice.annotator, choice.seed, book, choice.goal)
    rules = label_rules(choice.store) if choice.store is not None else LabelRules()
    return _Drawn(desk, standing, plan, rules)


def _survey_and_plan(
    store: Store, desk: Desk, table: RunFrame | None, aggregation: str
) -> tuple[Survey, LabelPlan | None]:
    book = LabelBook.of(store)
    survey_now = survey(desk.pairs, book, desk.seed)
    return survey_now, None if table is None else planned(desk.pairs, table, aggregation, book, WIDTH)
