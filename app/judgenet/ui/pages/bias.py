"""The page Bias: the biases of a network compared with those of a single judge, and the pairs behind each figure."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.bias import PROBES
from judgenet.core.wording import near_day, plural
from judgenet.report.bias_card import bias_card, subjects
from judgenet.stats.lab import LabResult
from judgenet.stats.people_bias import PEOPLE_JUDGE
from judgenet.ui import clock
from judgenet.ui.actions import known_action
from judgenet.ui.bias import texts
from judgenet.ui.bias.card import BiasCardView
from judgenet.ui.bias.pair_table import BarPair, BarPairsPanel, bar_pairs
from judgenet.ui.bias.ranks import RanksView
from judgenet.ui.bias.side import BiasSidebar
from judgenet.ui.bias.state import BiasState
from judgenet.ui.context import Context
from judgenet.ui.elements import ComboBox, label, upright
from judgenet.ui.empty import EmptyState
from judgenet.ui.icons import icon
from judgenet.ui.labels.people_desk import PeopleDesk
from judgenet.ui.measures import Gap, measure
from judgenet.ui.navigation import Visit
from judgenet.ui.pages.base import Page
from judgenet.ui.tokens import PAGE_MARGIN


class BiasPage(Page):
    """Judges and probes at the left, the card in the middle, the pairs behind a bar below it."""

    key = "bias"
    smallest = (1000, 460)
    primary = "bias.run"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.state = BiasState(context.document, context.runner, context.tasks, context.errors, self)
        self._wanted: str | None = None
        """Whose bars the user chose. Without a choice they are the network's as soon as it has any."""
        self._subject: str | None = None
        self._probe: str | None = None
        context.actions.add(
            known_action("bias.run", self.state.start, self._can_run),
            known_action("bias.stop", self.state.stop, self._can_stop),
            known_action("bias.people", self._ask_people, self._can_ask_people),
        )
        self.lab_choice = ComboBox(texts.WHICH_LAB)
        self.lab_choice.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self.lab_choice.activated.connect(self._lab_chosen)
        self.side = BiasSidebar(self.state)
        self.headline = label("", "page", wrap=True)
        self.subline = label("", tone="text2", wrap=True)
        self.note = label("", tone="text2", wrap=True)
        self.judge_choice = ComboBox(texts.WHOSE_BARS)
        self.judge_choice.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self.judge_choice.activated.connect(self._subject_chosen)
        self.to_report = QPushButton(texts.REPORT)
        self.to_report.setIcon(icon("report", "text"))
        self.to_report.setToolTip(texts.REPORT_TIP)
        self.to_report.clicked.connect(self._go_report)
        self.ask_people = QPushButton(texts.ASK_PEOPLE)
        self.ask_people.setIcon(icon("labels", "text"))
        self.ask_people.clicked.connect(self._ask_people)
        self._desk: PeopleDesk | None = None
        self.card = BiasCardView()
        self._lay_out()

    def _lay_out(self) -> None:
        self.card.chosen.connect(self._choose)
        self.ranks = RanksView()
        self.foot_left = label(texts.CLICK_A_ROW, tone="text2")
        self.foot_right = label("", tone="text2", wrap=True)
        self.behind = BarPairsPanel()
        self.behind.opened.connect(self._open_pairs)
        self.behind.picked.connect(self._look_at)
        self.behind.closed.connect(self._close)
        self.empty = EmptyState("bias")
        self._arrange()
        state = self.state
        state.plan_changed.connect(self._show_plan)
        state.result_changed.connect(self._show_result)
        state.going_changed.connect(self._show_going)
        state.progressed.connect(self._show_progress)
        state.look_changed.connect(self._show_look)
        self.side.changed.connect(self._chosen)
        self.side.stop_wanted.connect(state.stop)
        for button in (self.to_report, self.ask_people):
            measure(button, icon=16)
        measure(self._column, margins=(Gap(PAGE_MARGIN), 16, Gap(PAGE_MARGIN), Gap(PAGE_MARGIN)), spacing=Gap(16))
        measure(self._head, spacing=16)
        measure(self._words, spacing=4)
        measure(self._foot, spacing=24)
        state.refresh_labs()
        self._show_choice()
        self._show_going()

    def _arrange(self) -> None:
        head = QHBoxLayout()
        words = QVBoxLayout()
        head.addWidget(self.headline, stretch=1)
        head.addWidget(self.judge_choice, alignment=Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.ask_people, alignment=Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.to_report, alignment=Qt.AlignmentFlag.AlignTop)
        # The sentences below take the full width.
        words.addLayout(head)
        words.addWidget(self.subline)
        words.addWidget(self.note)
        foot = QHBoxLayout()
        foot.addWidget(self.foot_left)
        foot.addWidget(self.foot_right, stretch=1)
        self.foot_right.setAlignment(Qt.AlignmentFlag.AlignRight)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.addLayout(words)
        column.addWidget(self.card)
        column.addLayout(foot)
        column.addWidget(self.ranks)
        column.addStretch(1)
        self.area = QScrollArea()
        self.area.setProperty("part", "surface")
        self.area.setAccessibleName(texts.WHAT_THE_LAB_FOUND)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(inner)
        contents = QWidget()
        stacked = QVBoxLayout(contents)
        stacked.setContentsMargins(0, 0, 0, 0)
        stacked.setSpacing(0)
        stacked.addWidget(self.area, stretch=1)
        stacked.addWidget(self.behind)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(contents)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.side)
        row.addWidget(upright())
        row.addWidget(self.stack, stretch=1)
        self._head, self._words, self._foot, self._column = head, words, foot, column
        self._stacked = stacked
        self.behind.hide()

    # Called by the window

    def top_widgets(self) -> Sequence[QWidget]:
        return (self.lab_choice,)

    def regions(self) -> Sequence[QWidget]:
        return (self.side, self.area, self.behind)

    def enter(self, visit: Visit) -> None:
        self._show_choice()
        self.lab_choice.setVisible(bool(self.state.labs))
        self.state.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.state.watch(False)

    def _can_run(self) -> bool | str:
        return self.state.why_not() or True

    def _can_stop(self) -> bool | str:
        return self.state.going or texts.NO_LAB_IS_RUNNING

    # What is chosen

    def _chosen(self) -> None:
        self.state.choose(self.side.choice())

    def _show_choice(self) -> None:
        self.side.show_choice(self.state.choice, self.state.names, self.context.document.spec)

    def _show_plan(self) -> None:
        if self.state.choice != self.side.choice() or self._names_differ():
            self._show_choice()
        self.side.show_plan()
        if self.state.result is not None:
            self._show_note(self.state.result)
        self.context.actions.refresh_soon()
        self._show_empty()

    def _names_differ(self) -> bool:
        shown = tuple(self.side.own.itemData(place) for place in range(1, self.side.own.count()))
        return shown != self.state.names

    def _show_going(self) -> None:
        self.side.set_still(not self.state.going)
        self._show_progress()
        self.context.actions.refresh_soon()
        self._show_empty()

    def _show_progress(self) -> None:
        self.side.show_progress()

    # What was found

    def _show_result(self) -> None:
        state = self.state
        self.lab_choice.blockSignals(True)
        self.lab_choice.clear()
        for lab in reversed(state.labs):
            self.lab_choice.addItem(f"{lab.title}, {near_day(lab.created_at, clock.today())}", lab.id)
        if state.lab is not None:
            self.lab_choice.setCurrentIndex(self.lab_choice.findData(state.lab.id))
        self.lab_choice.blockSignals(False)
        self.lab_choice.setVisible(bool(state.labs) and self.isVisible())
        result = state.result
        card = None if result is None else bias_card(result, self._wanted)
        if result is None or card is None:
            self._show_empty()
            return
        self.stack.setCurrentIndex(1)
        self._subject = card.subject.id
        self.headline.setText(result.headline)
        self.subline.setText(result.subline)
        self.subline.setVisible(bool(result.subline))
        self._show_people(result)
        self._show_note(result)
        self.judge_choice.blockSignals(True)
        self.judge_choice.clear()
        for judge in subjects(result):
            self.judge_choice.addItem(judge.title, judge.id)
        self.judge_choice.setCurrentIndex(self.judge_choice.findData(card.subject.id))
        self.judge_choice.blockSignals(False)
        self.card.show_card(card)
        self.ranks.show_ranks(result, state.orders)
        divided = (
            texts.BASED_ON_VALID_PAIRS
            if result.lab.settings.denominator == "valid"
            else texts.ALL_PAIRS_AS_IN_THE_PAPER
        )
        self.foot_right.setText(texts.share_of(divided))
        self._show_behind()

    def _show_people(self, result: LabResult) -> None:
        """Shows how many labels people gave, and whether they can be asked."""
        why = self.state.read_only
        people = result.people
        done = (
            "" if people is None else " " + texts.answers_of_people(f"{people.prompts:,}", f"{people.prompts_total:,}")
        )
        tip = texts.ASK_PEOPLE_TIP
        self.ask_people.setToolTip(why or f"{tip}{done}")
        self.ask_people.setEnabled(not why)

    def _show_note(self, result: LabResult) -> None:
        lab, ended = result.lab, self.state.ended
        parts = [
            texts.lab_settings(
                plural(lab.pairs, "pair"),
                plural(lab.questions, "instruction"),
                lab.settings.seed,
                f"{lab.settings.margin:g}",
            )
        ]
        if self.state.going:
            parts.append(texts.PRELIMINARY)
        elif ended is not None and ended.state != "done" and ended.message:
            parts.append(ended.message)
        if self.state.of_another_network:
            parts.append(texts.OF_ANOTHER_NETWORK)
        self.note.setText(". ".join(parts))

    def _show_empty(self) -> None:
        state = self.state
        if state.result is not None and state.result.judges:
            return
        self.stack.setCurrentIndex(0)
        if state.lab is not None and state.result is None:
            self.empty.say(texts.reading(state.lab.title), "")
        elif state.going:
            self.empty.say(texts.FIGURES_APPEAR_SOON, "")
        else:
            why = state.why_not()
            self.empty.say(
                texts.NO_LAB_YET,
                why,
                "" if why else texts.RUN_THE_LAB,
                state.start,
            )

    def _subject_chosen(self, place: int) -> None:
        self._wanted = self.judge_choice.itemData(place)
        self._show_result()

    def _lab_chosen(self, place: int) -> None:
        self._wanted = None
        self.state.show_lab(self.lab_choice.itemData(place))

    def _ask_people(self) -> None:
        """Opens the label desk on the prompts of the lab, of the chosen probe alone where one is chosen."""
        if self.state.lab is not None:
            self._desk = PeopleDesk(self.context, self)
            self._desk.finished.connect(self._people_done)
            self._desk.show_for(self.state.lab, None if self._probe is None else (self._probe,))

    def _can_ask_people(self) -> bool | str:
        measured = self.state.result is not None and bool(self.state.result.judges)
        return self.state.read_only or measured or texts.RUN_THE_LAB_FIRST

    def _people_done(self) -> None:
        if self._desk is not None and self._desk.changed and self.state.lab is not None:
            self.state.show_lab(self.state.lab.id)
        self._desk = None

    def _go_report(self) -> None:
        self.context.navigator.go("report", part="bias")

    # The pairs behind a bar

    def _choose(self, probe: str) -> None:
        self._probe = probe
        self._show_behind()

    def _show_behind(self) -> None:
        result, probe, subject = self.state.result, self._probe, self._subject
        if (
            result is None
            or probe is None
            or subject is None
            or all(probe != of_lab.key for of_lab in result.lab.probes)
        ):
            self._close()
            return
        if subject == PEOPLE_JUDGE.id:
            # The answers of people are kept by person, and are not listed.
            self._close()
            return
        cell = result.cell(probe, subject)
        title = next(judge.title for judge in result.judges if judge.id == subject)
        questions = {pair.id: pair.readable(pair.question) for pair in self.context.document.pairs}
        text = texts.pairs_of_probe(PROBES[probe].title, title, f"{cell.hits:,}", plural(cell.n, "valid pair"))
        self.behind.say(text, cell, bar_pairs(result, cell), questions)
        self.card.mark(probe)
        if self.behind.isHidden():
            self.behind.show()
            # The list takes room from the card, so the chosen row is scrolled back into view.
            self._stacked.activate()
            if (row := self.card.row_of(probe)) is not None:
                self.area.ensureWidgetVisible(row)

    def _look_at(self, row: BarPair) -> None:
        result = self.state.result
        judges = () if result is None else result.judges
        judge = next((candidate for candidate in judges if candidate.id == self._subject), None)
        if judge is not None:
            self.state.look_at(judge, row.item)

    def _show_look(self) -> None:
        self.behind.show_look(self.state.look)

    def _close(self) -> None:
        self._probe = None
        self.card.mark(None)
        self.behind.hide()

    def _open_pairs(self, ids: tuple[str, ...]) -> None:
        places = {pair.id: place for place, pair in enumerate(self.context.document.pairs)}
        pairs = tuple(places[pair_id] for pair_id in ids if pair_id in places)
        if not pairs:
            self.context.errors.post(texts.PAIRS_NOT_LOADED, texts.DATA, level="warning")
            return
        self.context.navigator.go("data", pairs=pairs, why=self.behind.title.whole)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.behind.isVisible():
            self._close()
            return
        super().keyPressEvent(event)
