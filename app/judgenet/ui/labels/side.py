"""The panel beside the desk: how pairs are chosen and whether their labels count, the interval that the labels give,
and the annotators."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.labels import Chosen
from judgenet.core.wording import duration, minus, plural
from judgenet.engine.labelling import Desk, Mode, Survey, turned
from judgenet.stats.agreement import Agreement
from judgenet.stats.intervals import Interval
from judgenet.stats.label_plan import LabelPlan, PlanMethod
from judgenet.ui.elements import ComboBox, ElidedLabel, SpinBox, label, line, link, set_tone
from judgenet.ui.labels import texts
from judgenet.ui.labels.state import LabelsState
from judgenet.ui.labels.width_plot import WidthPlot
from judgenet.ui.measures import measure
from judgenet.ui.results.panel import clear_layout
from judgenet.ui.text_view import one_line
from judgenet.ui.tokens import INSPECTOR, PANEL_INSIDE
from judgenet.ui.widgets import Segment

TITLES: Final[dict[Mode, str]] = {
    "random": texts.RANDOM_SAMPLE,
    "planned": texts.PLANNED_SAMPLE,
    "targeted": texts.TARGETED_REVIEW,
    "settle": texts.RESOLVE,
}
_LEADS: Final[dict[Mode, str]] = {
    "random": texts.RANDOM_SAMPLE_LEAD,
    "planned": texts.PLANNED_SAMPLE_LEAD,
    "targeted": texts.TARGETED_REVIEW_LEAD,
    "settle": texts.RESOLVE_LEAD,
}
_KEY: Final = {"a": "A", "b": "B", "tie": "T", "skip": "S", "unsure": "U"}
_CHOSEN_WORDS: Final[dict[Chosen, str]] = {
    "imported": texts.UNKNOWN_SAMPLING,
    "random": texts.DRAWN_AT_RANDOM,
    "within-verdict": texts.DRAWN_WITHIN_VERDICTS,
    "targeted": texts.PICKED,
}
_LATEST: Final = 3
_MOST_ANNOTATORS: Final = 8


class SidePanel(QFrame):
    """The panel beside the desk.

    Signals:
        mode_chosen, goal_chosen, file_chosen, no_majority_chosen: a choice was made.
        settle_wanted: the user wants to resolve disagreements.
    """

    mode_chosen = Signal(str)
    goal_chosen = Signal(int)
    file_chosen = Signal(str)
    no_majority_chosen = Signal(str)
    settle_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("part", "inspector")
        self.setAccessibleName(texts.LABELS)
        self.title = label("", "section")
        self.counts = label("")
        self.counts.setProperty("part", "tag")
        self.words = label("", tone="text2", wrap=True)
        self.mode = Segment(
            texts.HOW_PAIRS_ARE_CHOSEN,
            [("random", texts.RANDOM), ("planned", texts.PLANNED), ("targeted", texts.TARGETED)],
        )
        self.mode.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.mode.chosen.connect(self.mode_chosen)
        self.goal = SpinBox(texts.TARGET_NUMBER, 1, 1_000_000)
        self.goal.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.goal.valueChanged.connect(self.goal_chosen)
        self.width_title = label(texts.INTERVAL, "section")
        self.plot = WidthPlot()
        self.width_words = label("", tone="text2", wrap=True)
        self.people_title = label(texts.ANNOTATORS, "section")
        self.people = QGridLayout()
        self.people.setColumnStretch(1, 1)
        self.agreement = label("", tone="text2", wrap=True)
        self.settle = link("", texts.RESOLVE_DISAGREEMENTS)
        self.settle.clicked.connect(self.settle_wanted)
        self.latest = QGridLayout()
        self.latest.setColumnStretch(1, 1)
        self.file = ComboBox(texts.FILE_LABELS_CHOSEN)
        for chosen, words in _CHOSEN_WORDS.items():
            self.file.addItem(words, chosen)
        self.file.activated.connect(self._file_activated)
        self.no_majority = Segment(texts.WITHOUT_MAJORITY, [("tie", texts.TIE), ("drop", texts.NO_LABEL)])
        self.no_majority.chosen.connect(self.no_majority_chosen)
        self.kept = label("", tone="text2", wrap=True)
        self.pace = label("", tone="text2")
        self._lay_out()
        for grid in (self.people, self.latest):
            measure(grid, across=12, down=6)
        measure(self, width=INSPECTOR["other"])
        measure(self.goal, width=96)

    def _lay_out(self) -> None:
        inside = QWidget()
        inside.setProperty("part", "surface")
        column = QVBoxLayout(inside)
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self.counts)
        goal = QHBoxLayout()
        self.goal_words = label(texts.TARGET_NUMBER, tone="text2")
        goal.addWidget(self.goal_words)
        goal.addStretch(1)
        goal.addWidget(self.goal)
        self.latest_head = QWidget()
        latest = QHBoxLayout(self.latest_head)
        latest.setContentsMargins(0, 0, 0, 0)
        latest.addWidget(label(texts.LATEST, "section"))
        latest.addStretch(1)
        latest.addWidget(label(texts.UNDO_HINT, tone="text2"))
        self.rules_file = QWidget()
        of_file = QVBoxLayout(self.rules_file)
        of_file.setContentsMargins(0, 0, 0, 0)
        of_file.addWidget(label(texts.FILE_LABELS, tone="text2"))
        of_file.addWidget(self.file)
        majority = QHBoxLayout()
        majority.addWidget(label(texts.NO_MAJORITY_IS, tone="text2"))
        majority.addStretch(1)
        majority.addWidget(self.no_majority)
        self._sections: list[tuple[QWidget | QHBoxLayout | QGridLayout, ...]] = [
            (head, self.words, self.mode, goal),
            (self.width_title, self.plot, self.width_words),
            (self.people_title, self.people, self.agreement, self.settle),
            (self.latest_head, self.latest),
            (self.rules_file, majority),
        ]
        self._lines = [line() for _ in self._sections[1:]]
        for place, parts in enumerate(self._sections):
            if place:
                column.addWidget(self._lines[place - 1])
            for part in parts:
                if isinstance(part, QWidget):
                    column.addWidget(part)
                else:
                    column.addLayout(part)
        column.addStretch(1)
        measure(column, margins=PANEL_INSIDE, spacing=12)
        self._lay_around(inside)

    def _lay_around(self, inside: QWidget) -> None:
        area = QScrollArea()
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setAccessibleName(texts.ABOUT_LABELS)
        foot = QVBoxLayout()
        foot.addWidget(self.kept)
        foot.addWidget(self.pace)
        measure(foot, margins=(PANEL_INSIDE, 8, PANEL_INSIDE, 8), spacing=4)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(area, 1)
        whole.addWidget(line())
        whole.addLayout(foot)

    # What is shown

    def show_state(self, state: LabelsState) -> None:
        """Shows mode, progress and the latest labels: what changes with every key."""
        mode = state.mode
        counts = mode != "targeted"
        for_people = mode == "targeted" and state.desk is not None and state.desk.draw.for_people
        self.title.setText(texts.FOR_PEOPLE if for_people else TITLES[mode])
        self.counts.setText(texts.COUNTS if counts else texts.DOES_NOT_COUNT)
        self.counts.setAccessibleName(texts.COUNTS_FOR_ESTIMATES if counts else texts.DOES_NOT_COUNT_FOR_ESTIMATES)
        set_tone(self.counts, "good" if counts else "warn")
        self.words.setText(texts.FOR_PEOPLE_LEAD if for_people else _LEADS[mode])
        if mode == "settle":
            self.mode.clear()
        else:
            self.mode.set_current(mode)
        for widget in (self.goal_words, self.goal):
            widget.setVisible(mode != "settle")
        self.goal.blockSignals(True)
        self.goal.setValue(state.goal)
        self.goal.blockSignals(False)
        self.file.setCurrentIndex(self.file.findData(state.rules.file_chosen))
        self.no_majority.set_current(state.rules.no_majority)
        for control in (self.file, self.no_majority):
            control.setEnabled(not state.why_not)
        desk = state.desk
        self._show_latest(desk)
        if desk is None:
            self.kept.setText("")
            self.pace.setText("")
            return
        # At random the list is all pairs. Where nothing can be kept, the desk says why.
        where = "" if desk.draw.mode == "random" else texts.IN_THIS_LIST
        saved = "" if state.why_not else texts.SAVING if state.pending else texts.SAVED
        self.kept.setText(texts.labels_by(saved, plural(desk.labelled, "label"), one_line(desk.annotator, 24), where))
        each = desk.seconds_each
        left = max(0, desk.wished - desk.labelled)
        self.pace.setText(
            ""
            if each is None
            else texts.pace(f"{each:,.0f}") + (texts.left_to_label(duration(each * left)) if left else "")
        )

    def _show_latest(self, desk: Desk | None) -> None:
        clear_layout(self.latest)
        any_given = desk is not None and bool(desk.given)
        self.latest_head.setVisible(any_given)
        self._lines[2].setVisible(any_given)
        if desk is None:
            return
        for row, place in enumerate(list(desk.given)[: -_LATEST - 1 : -1]):
            pair, said = desk.pairs[place], desk.given[place].said
            shown = turned(said) if desk.given[place].swapped else said
            number = label(f"{desk.number(place):,}", tone="text3")
            text = ElidedLabel(one_line(pair.readable(pair.question), 80) or pair.id)
            key = label(_KEY[shown])
            key.setProperty("part", "key")
            key.setAccessibleName(texts.you_said(shown))
            for column, widget in enumerate((number, text, key)):
                self.latest.addWidget(widget, row, column)

    def show_survey(self, state: LabelsState) -> None:
        """Shows the annotators and their agreement, and the interval that the labels give."""
        survey = state.survey
        clear_layout(self.people)
        labelled = survey is not None and bool(survey.said)
        self.people_title.setVisible(labelled)
        self._lines[1].setVisible(labelled)
        if survey is not None:
            self._show_people(survey, state.annotator, state.goal if state.desk is None else state.desk.wished)
        self._show_agreement(survey)
        self._show_width(state.plan, state)
        self.rules_file.setVisible(state.desk is not None and any(pair.human for pair in state.desk.pairs))

    def _show_people(self, survey: Survey, me: str, goal: int) -> None:
        names = sorted(survey.said, key=lambda name: (name != me, -survey.said[name]))[:_MOST_ANNOTATORS]
        most = max([goal, *survey.said.values()])
        for row, name in enumerate(names):
            shown = label(one_line(name, 18), "node" if name == me else "")
            bar = QProgressBar()
            bar.setTextVisible(False)
            bar.setRange(0, most)
            bar.setValue(survey.said[name])
            bar.setProperty("tone", "accent" if name == me else "text3")
            bar.setAccessibleName(f"{name}: {plural(survey.said[name], 'label')}")
            number = label(f"{survey.said[name]:,}", tone="text2")
            number.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for column, widget in enumerate((shown, bar, number)):
                self.people.addWidget(widget, row, column)

    def _show_agreement(self, survey: Survey | None) -> None:
        lines = []
        if survey is not None and survey.kappa is not None:
            lines.append(_kappa_words(*survey.kappa))
        elif survey is not None and len(survey.panel.raters) > 2:
            alpha = survey.panel.alpha_nominal
            value = f"n/a, {alpha.reason}" if alpha.value is None else f"{alpha.value:.2f}, {plural(alpha.n, 'pair')}"
            lines.append(texts.alpha(value))
        if survey is not None and survey.stale:
            lines.append(texts.stale_labels(plural(survey.stale, "pair")))
        text = "\n".join(lines)
        self.agreement.setText(text)
        self.agreement.setVisible(bool(text))
        disputed = 0 if survey is None else len(survey.disputed)
        self.settle.setText(texts.pairs_to_settle(plural(disputed, "pair")))
        self.settle.setVisible(bool(disputed))

    def _show_width(self, plan: LabelPlan | None, state: LabelsState) -> None:
        shown = plan is not None and plan.pairs >= 20 and state.mode != "targeted"
        for part in (self._lines[0], self.width_title, self.plot, self.width_words):
            part.setVisible(shown)
        if not shown or plan is None:
            return
        method: PlanMethod = "within_verdict" if state.mode == "planned" else "random"
        curve = [(labels, width / 2) for labels, width in plan.curve(method)]
        have = sum(plan.have.values())
        now = (have, plan.expected_width(method, have) / 2) if have >= 10 else None
        goal = min(plan.pairs, max(10, state.goal))
        self.plot.show_curve(curve, now, (goal, plan.expected_width(method, goal) / 2))
        sentences = [texts.interval_at(goal, f"{50 * plan.expected_width(method, goal):.1f}")]
        if plan.assumed:
            sentences.append(texts.ASSUMED_JUDGE)
        if plan.effect.source:
            questions = plural(plan.effect.questions, "question")
            sentences.append(texts.design_effect(questions, f"{plan.effect.value:.2f}"))
        self.width_words.setText(" ".join(sentences))

    def _file_activated(self, place: int) -> None:
        self.file_chosen.emit(self.file.itemData(place))


def _kappa_words(agreement: Agreement, interval: Interval | None) -> str:
    if agreement.kappa is None:
        return texts.no_kappa(agreement.reasons.get("kappa", texts.NO_COMMON_PAIR))
    ends = f" [{interval.low:.2f}, {interval.high:.2f}]" if interval is not None else ""
    return minus(f"{texts.kappa(f'{agreement.kappa:.2f}')}{ends}, {plural(agreement.n_used, 'pair')}")
