"""The panel beside the desk: how pairs are chosen and whether that counts, how far the labels reach, who labelled."""

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
from judgenet.core.wording import duration, plural
from judgenet.engine.labelling import Desk, Mode, Survey, turned
from judgenet.stats.label_plan import LabelPlan, PlanMethod
from judgenet.ui.elements import ComboBox, ElidedLabel, SpinBox, label, line, link, set_tone
from judgenet.ui.labels.state import LabelsState
from judgenet.ui.labels.width_plot import WidthPlot
from judgenet.ui.measures import measure
from judgenet.ui.text_view import one_line
from judgenet.ui.tokens import INSPECTOR, PANEL_INSIDE
from judgenet.ui.widgets import Segment

TITLES: Final[dict[Mode, str]] = {
    "random": "Random sample",
    "planned": "Planned sample",
    "targeted": "Targeted review",
    "settle": "Resolve",
}
_HIDDEN: Final = "Order of pairs and sides is shuffled; names and verdicts are hidden."
_WORDS: Final[dict[Mode, str]] = {
    "random": f"Drawn at random from all pairs. {_HIDDEN}",
    "planned": "Drawn at random within each verdict, more where a label tells more. Sides are shuffled; names and "
    "verdicts are hidden.",
    "targeted": "The most uncertain pairs first, or those you picked. They stand for no other pair and enter no "
    "estimate and no agreement.",
    "settle": "Pairs on which the annotators differ. What you say becomes the label, under your name. A and B are the "
    "pair's own sides here.",
}
_FOR_PEOPLE: Final = (
    "The pairs whose verdict was not sure enough, the least sure first. Labels settle their own pairs; they stand for "
    "no other pair and enter no estimate and no agreement."
)
_KEY: Final = {"a": "A", "b": "B", "tie": "T", "skip": "S", "unsure": "U"}
_CHOSEN_WORDS: Final[dict[Chosen, str]] = {
    "imported": "unknown sampling",
    "random": "drawn at random",
    "within-verdict": "drawn within verdicts",
    "targeted": "picked, do not count",
}
_LATEST: Final = 3
_MOST_ANNOTATORS: Final = 8


class SidePanel(QFrame):
    """What stands beside the desk.

    Signals:
        mode_chosen, goal_chosen, file_chosen, no_majority_chosen: a choice was made.
        settle_wanted: the disagreements are to be settled; ``shown`` a labelled pair is to be seen again, by place.
    """

    mode_chosen = Signal(str)
    goal_chosen = Signal(int)
    file_chosen = Signal(str)
    no_majority_chosen = Signal(str)
    settle_wanted = Signal()
    shown = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("part", "inspector")
        self.setAccessibleName("Labels")
        self.title = label("", "section")
        self.counts = label("")
        self.counts.setProperty("part", "tag")
        self.words = label("", tone="text2", wrap=True)
        self.mode = Segment(
            "How pairs are chosen", [("random", "Random"), ("planned", "Planned"), ("targeted", "Targeted")]
        )
        self.mode.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.mode.chosen.connect(self.mode_chosen)
        self.goal = SpinBox("Target number of labels", 1, 1_000_000)
        self.goal.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.goal.valueChanged.connect(self.goal_chosen)
        self.width_title = label("Interval of the win rate", "section")
        self.plot = WidthPlot()
        self.width_words = label("", tone="text2", wrap=True)
        self.people_title = label("Annotators", "section")
        self.people = QGridLayout()
        self.people.setColumnStretch(1, 1)
        self.agreement = label("", tone="text2", wrap=True)
        self.settle = link("", "Resolve disagreements")
        self.settle.clicked.connect(self.settle_wanted)
        self.latest = QGridLayout()
        self.latest.setColumnStretch(1, 1)
        self.file = ComboBox("How the labelled pairs of the data file were chosen")
        for chosen, words in _CHOSEN_WORDS.items():
            self.file.addItem(words, chosen)
        self.file.activated.connect(self._file_activated)
        self.no_majority = Segment("Without a majority", [("tie", "Tie"), ("drop", "No label")])
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
        self.goal_words = label("Target number of labels", tone="text2")
        goal.addWidget(self.goal_words)
        goal.addStretch(1)
        goal.addWidget(self.goal)
        self.latest_head = QWidget()
        latest = QHBoxLayout(self.latest_head)
        latest.setContentsMargins(0, 0, 0, 0)
        latest.addWidget(label("Latest", "section"))
        latest.addStretch(1)
        latest.addWidget(label("Ctrl Z undoes", tone="text2"))
        self.rules_file = QWidget()
        of_file = QVBoxLayout(self.rules_file)
        of_file.setContentsMargins(0, 0, 0, 0)
        of_file.addWidget(label("Labels of the data file", tone="text2"))
        of_file.addWidget(self.file)
        majority = QHBoxLayout()
        majority.addWidget(label("No majority is", tone="text2"))
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
        area.setAccessibleName("About the labels")
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
        self.title.setText("For people" if for_people else TITLES[mode])
        self.counts.setText("✓ Counts" if counts else "Does not count")
        self.counts.setAccessibleName("Counts for estimates" if counts else "Does not count for estimates")
        set_tone(self.counts, "good" if counts else "warn")
        self.words.setText(_FOR_PEOPLE if for_people else _WORDS[mode])
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
        where = "" if desk.draw.mode == "random" else " in this list"
        saved = "" if state.why_not else "Saving…, " if state.pending else "Autosaved, "
        self.kept.setText(f"{saved}{plural(desk.labelled, 'label')} by {one_line(desk.annotator, 24)}{where}")
        each = desk.seconds_each
        left = max(0, desk.wished - desk.labelled)
        self.pace.setText(
            ""
            if each is None
            else f"Median {each:,.0f} s per pair" + (f", ≈ {duration(each * left)} left" if left else "")
        )

    def _show_latest(self, desk: Desk | None) -> None:
        _empty(self.latest)
        there = desk is not None and bool(desk.given)
        self.latest_head.setVisible(there)
        self._lines[2].setVisible(there)
        if desk is None:
            return
        for row, place in enumerate(list(desk.given)[: -_LATEST - 1 : -1]):
            pair, said = desk.pairs[place], desk.given[place].said
            shown = turned(said) if desk.given[place].swapped else said
            number = label(f"{desk.number(place):,}", tone="text3")
            text = ElidedLabel(one_line(pair.told(pair.question), 80) or pair.id)
            key = label(_KEY[shown])
            key.setProperty("part", "key")
            key.setAccessibleName(f"You said {shown}")
            for column, widget in enumerate((number, text, key)):
                self.latest.addWidget(widget, row, column)

    def show_survey(self, state: LabelsState) -> None:
        """Shows how the annotators stand, and how far the labels reach."""
        survey = state.survey
        _empty(self.people)
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
        text = ""
        if survey is not None and survey.kappa is not None:
            agreement, interval = survey.kappa
            if agreement.kappa is not None:
                text = f"Agreement, kappa {agreement.kappa:.2f}"
                text += f" [{interval.low:.2f}, {interval.high:.2f}]" if interval is not None else ""
                text = f"{text}, {plural(agreement.n_used, 'pair')}".replace("-", "−")
            else:
                text = f"Agreement, kappa: n/a, {agreement.reasons.get('kappa', 'no pair in common')}"
        elif survey is not None and len(survey.panel.raters) > 2:
            alpha = survey.panel.alpha_nominal
            shown = (
                f"{alpha.value:.2f}, {plural(alpha.n, 'pair')}" if alpha.value is not None else f"n/a, {alpha.reason}"
            )
            text = f"Agreement, Krippendorff's alpha {shown}"
        if survey is not None and survey.stale:
            text += ("\n" if text else "") + f"{plural(survey.stale, 'pair')} labelled before its text changed"
        self.agreement.setText(text)
        self.agreement.setVisible(bool(text))
        disputed = 0 if survey is None else len(survey.disputed)
        self.settle.setText(f"{plural(disputed, 'pair')} to settle")
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
        words = f"At {goal:,} labels: ± {50 * plan.expected_width(method, goal):.1f} points."
        if plan.assumed:
            words += " Planned with an assumed judge."
        if plan.effect.source:
            words += f" {plural(plan.effect.questions, 'question')} only: design effect {plan.effect.value:.2f}."
        self.width_words.setText(words)

    def _file_activated(self, place: int) -> None:
        self.file_chosen.emit(self.file.itemData(place))


def _empty(grid: QGridLayout) -> None:
    while grid.count():
        item = grid.takeAt(0)
        widget = item.widget() if item is not None else None
        if widget is not None:
            widget.hide()
            widget.deleteLater()
