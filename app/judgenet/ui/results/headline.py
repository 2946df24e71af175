"""The head of the page: the corrected win rate, what it rests on, and notices about the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.labels import Chosen
from judgenet.core.pairs import Verdict
from judgenet.core.wording import aggregation_title, capitalized, percent, percent_interval, plural
from judgenet.figures.rates import CorrectedRates
from judgenet.report.axis import Axis, ticks_within
from judgenet.report.blocks import Given, Line, Strong, VerdictMark
from judgenet.report.drawing import Label, Path, Shape, Token, line
from judgenet.report.marks import RowEmphasis, estimate_mark
from judgenet.report.model import Report
from judgenet.report.outline_rates import RATE_TITLES
from judgenet.report.outline_tables import system_name
from judgenet.stats.calibration import Estimate, Method
from judgenet.stats.intervals import Interval
from judgenet.stats.provenance import WORDS, left_words
from judgenet.ui.elements import ComboBox, IconLabel, label, link, upright
from judgenet.ui.export import paint_marks
from judgenet.ui.measures import Gap, measure
from judgenet.ui.results import texts
from judgenet.ui.results.figures_table import axis_of
from judgenet.ui.results.line_label import LineLabel
from judgenet.ui.results.panel import stack
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import PANEL_INSIDE

_TICK_ROOM: Final = 40
"""Room that a tick of the axis needs, in px at 100 %."""
_TICK_STEPS: Final = (0.05, 0.1, 0.2, 0.25, 0.5)
_WIDE, _NARROW = 1040, 780
"""Narrower than the first of these widths in px at 100 % the head has two columns, narrower than the second one
column."""


@dataclass(frozen=True, slots=True)
class RateRow:
    """A rate with its interval, as a row of :class:`RateAxis`; ``value`` is ``None`` where the estimate is refused."""

    name: str
    value: float | None
    interval: Interval | None
    look: RowEmphasis
    note: str


class RateAxis(QWidget):
    """Rates on a common axis, with a mark at 50 %."""

    _ROW: Final = 32

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rates: tuple[RateRow, ...] = ()
        self._axis = Axis(0.0, 1.0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_rates(self, rates: Sequence[RateRow]) -> None:
        """Sets the rates."""
        self._rates = tuple(rates)
        shares = [0.5]
        for rate in rates:
            shares += [] if rate.value is None else [rate.value, *(rate.interval or ())]
        self._axis = axis_of(shares)
        spoken = "; ".join(f"{r.name} {percent(r.value)} {percent_interval(r.interval)}, {r.note}" for r in rates)
        self.setAccessibleName(texts.win_rates(spoken))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        px = current_theme().px
        return QSize(px(460), px(self._ROW) * len(self._rates) + px(28))

    def minimumSizeHint(self) -> QSize:
        return QSize(current_theme().px(270), self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        paint_marks(painter, self._shapes(self.width() / current_theme().scale))

    def _shapes(self, width: float) -> list[Shape]:
        """All rows, in px at 100 %."""
        theme = current_theme()
        metrics = QFontMetricsF(theme.font("node")), QFontMetricsF(theme.font("node", tabular=True))
        names = max((metrics[0].horizontalAdvance(rate.name) for rate in self._rates), default=0.0) / theme.scale
        figures = max((metrics[1].horizontalAdvance(_figure(rate)) for rate in self._rates), default=0.0) / theme.scale
        left, length = names + 24, width - names - figures - 44
        bottom = self._ROW * len(self._rates)

        def at(share: float) -> float:
            return self._axis.at(share, left, length)

        shapes: list[Shape] = []
        ticks = ticks_within(self._axis, _TICK_STEPS, length / _TICK_ROOM)
        for tick in ticks:
            x = round(at(tick)) + 0.5
            text = f"{100 * tick:.0f} %" if tick == ticks[-1] else f"{100 * tick:.0f}"
            shapes.append(Path(line(x, 4, x, bottom), "line"))
            shapes.append(Label(x, bottom + 18, text, "text2", "middle", tabular=True))
        shapes.append(Path(line(at(0.5), 0, at(0.5), bottom), "text", dash=(6, 4)))
        for place, rate in enumerate(self._rates):
            y = (place + 0.5) * self._ROW
            subject = rate.look == "subject"
            weight: Literal[400, 600] = 600 if subject else 400
            color: Token = "text" if subject else "text2"
            shapes.append(Label(0, y + 5, rate.name, color, weight=weight))
            tone: Token = "text3" if rate.value is None else color
            shapes.append(Label(width, y + 5, _figure(rate), tone, "end", weight, tabular=True))
            if rate.value is not None:
                shapes += estimate_mark(rate.value, rate.interval, y, at, rate.look)
        return shapes


def _figure(rate: RateRow) -> str:
    return f"{percent(rate.value, unit=False)} {percent_interval(rate.interval)}".strip()


class HeadPanel(QFrame):
    """The headline figure at the left, all estimates in the middle, what they rest on at the right.

    Signals:
        plan_wanted: the user wants the plan for more labels.
        file_chosen_changed: how the labelled pairs of the data file were chosen, as the user says
            (:data:`~judgenet.core.labels.Chosen`).
    """

    plan_wanted = Signal()
    file_chosen_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("part", "panel")
        self.setAccessibleName(texts.WIN_RATE)
        self.figure = label("", "headline")
        self.interval = label("", "title")
        self.line = LineLabel(color="text2")
        self.judgement = LineLabel()
        self.win_title = LineLabel(color="text2")
        self.rates = RateAxis()
        self.win_note = LineLabel(color="text2")
        self.plan_links = (link(texts.PLAN_LABELS), link(texts.PLAN_LABELS))
        self.rests = label(texts.RESTS_ON, tone="text2")
        self.facts = LineLabel()
        self.rests_on = LineLabel(color="text2")

        self._lay_out()

    def _lay_out(self) -> None:
        figures = QHBoxLayout()
        figures.addWidget(self.figure, alignment=Qt.AlignmentFlag.AlignBottom)
        figures.addWidget(self.interval, alignment=Qt.AlignmentFlag.AlignBottom)
        figures.addStretch(1)
        self._figures = figures
        self._left, left = _column(self.win_title, figures, self.line, self.judgement)
        self._middle, middle = _column(self.rates, self.win_note)
        self._right, right = _column(self.rests, self.facts, self.plan_links[0])
        self.file_words = label("", tone="text2")
        self.file_chosen = ComboBox(texts.FILE_LABELS_CHOSEN)
        for key, text in _FILE_CHOSEN:
            self.file_chosen.addItem(text, key)
        self.file_chosen.setMinimumContentsLength(33)
        self.file_chosen.activated.connect(self._file_chosen)
        file_row = QHBoxLayout()
        file_row.addWidget(self.file_words)
        file_row.addWidget(self.file_chosen)
        file_row.addStretch(1)
        self._columns = (left, middle, right)
        self._lines = (upright(), upright())
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.addWidget(self._left, 42)
        self._row.addWidget(self._lines[0])
        self._row.addWidget(self._middle, 39)
        self._row.addWidget(self._lines[1])
        self._row.addWidget(self._right, 19)
        outer = QVBoxLayout(self)
        outer.addLayout(self._row, 1)
        outer.addLayout(file_row)
        foot = QHBoxLayout()
        foot.addWidget(self.rests_on, 1)
        foot.addWidget(self.plan_links[1], alignment=Qt.AlignmentFlag.AlignBottom)
        outer.addLayout(foot)
        for button in self.plan_links:
            button.clicked.connect(self.plan_wanted)
        measure(self._figures, spacing=12)
        measure(self.figure, font="headline", tabular=True)
        measure(self.interval, font="title", tabular=True, margins=(0, 0, 0, 5))
        measure(outer, margins=Gap(PANEL_INSIDE), spacing=Gap(12))
        for row in (self._row, file_row):
            measure(row, margins=(8, 0, 8, 0))
        measure(self._row, spacing=Gap(24))
        for column in self._columns:
            measure(column, spacing=6)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def _turn(self) -> None:
        """Arranges the head by its width: in three columns; in two, with what they rest on in a line below; or in
        one."""
        wide = self.width() >= current_theme().px(_WIDE)
        narrow = self.width() < current_theme().px(_NARROW)
        stack(self._row, narrow)
        self._lines[0].setVisible(not narrow)
        for widget in (self._lines[1], self._right):
            widget.setVisible(wide)
        self.rests_on.setVisible(not wide)
        self.plan_links[1].setVisible(not wide)

    def add_switch(self, switch: QWidget) -> None:
        """Puts a choice of intervals above the estimates."""
        layout = self._middle.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(0, switch)

    def show_results(self, report: Report, *, at_any_time: bool = False) -> None:
        """Shows the headline win rate, the other estimates, and what all of them rest on. With ``at_any_time`` the
        report is that of :func:`judgenet.report.anytime_view.at_any_time`."""
        best = report.rates.headline
        method: Method = best or "naive"
        estimate = report.rates.estimates[method]
        known = estimate.value is not None
        self.figure.setText(percent(estimate.value) if known else texts.NO_VERDICT_YET)
        self.figure.setProperty("tone", "text3" if best is None and known else "")
        self.figure.style().unpolish(self.figure)
        self.figure.style().polish(self.figure)
        self.figure.setFont(current_theme().font("headline" if known else "page", tabular=True))
        ends = estimate.interval
        interval = "" if ends is None else texts.interval_to(f"{100 * ends.low:.1f}", f"{100 * ends.high:.1f}")
        self.interval.setText(interval if best is not None or not known else texts.interval_uncorrected(interval))
        self.figure.setAccessibleName(f"{self.figure.text()}, {self.interval.text()}")
        self.win_title.say(win_title(report))
        others: tuple[Line, ...] = ((texts.OTHER_INTERVALS_FIXED,),) if at_any_time else ()
        self.line.say(*headline_lines(report.rates, texts.VALID_AT_ANY_TIME if at_any_time else ""), *others)
        self.judgement.say(*judgement_lines(report))
        titles = RATE_TITLES | ({"stratified": texts.CORRECTED_AT_ANY_TIME} if at_any_time else {})
        self._show_estimates(report.rates, method, titles)
        self._show_facts(report)

    def show_file_labels(self, chosen: Chosen, count: int) -> None:
        """Lets the user say how the pairs of the ``count`` labels that came with the data were chosen; hidden where
        there are none."""
        self.file_chosen.setCurrentIndex(self.file_chosen.findData(chosen))
        self.file_words.setText(texts.file_labels(plural(count, "label")))
        for widget in (self.file_words, self.file_chosen):
            widget.setVisible(count > 0)

    def _file_chosen(self, _place: int) -> None:
        self.file_chosen_changed.emit(self.file_chosen.currentData())

    def _show_estimates(self, corrected: CorrectedRates, subject: Method, titles: Mapping[Method, str]) -> None:
        estimates = corrected.estimates
        elsewhere = corrected.sample.chosen == "imported"
        shown: list[Method] = [subject] if subject not in _ALWAYS else []
        shown += [method for method in titles if method in _ALWAYS or (elsewhere and method != subject)]
        rates = [
            RateRow(
                titles[method],
                estimates[method].value,
                estimates[method].interval,
                "uncorrected" if method == "naive" else "subject" if method == subject else "other",
                _rests_on(estimates[method]),
            )
            for method in shown
        ]
        self.rates.show_rates(rates)
        refused: dict[str, list[str]] = {}
        for method in shown:
            if estimates[method].value is None:
                refused.setdefault(estimates[method].reason, []).append(titles[method])
        lines: list[Line] = [(f"{'; '.join(names)}: n/a – {reason}.",) for reason, names in refused.items()]
        lines += [(f"{capitalized(note)}.",) for note in estimates[subject].notes if note != "uncorrected"]
        self.win_note.say(*lines)
        self.win_note.setVisible(bool(lines))

    def _show_facts(self, report: Report) -> None:
        rates, worth, sample = report.rates, report.rates.worth, report.rates.sample
        count = sample.labelled.total()
        labels = CHOSEN_SHORT[sample.chosen if count else None]
        if count == 1:
            labels = labels.replace("labels", "label")
        accepted = report.acceptance if rates.aggregation == ACCEPTED else None
        verdicts = texts.HAVE_A_VERDICT if accepted is None else texts.decided_and_for_people(accepted.for_people)
        lines: list[Line] = [
            (Strong(f"{rates.judged:,}"), texts.of_pairs(plural(len(rates.frame), "pair"), verdicts)),
            (Strong(f"{count:,}"), f" {labels}"),
        ]
        lines += _answered_lines(report)
        left = left_words(sample.left_out)
        if accepted is not None:
            left = left.replace(WORDS["no verdict"], texts.WITHOUT_ACCEPTED_VERDICT)
        if left:
            lines.append((texts.not_counted(left),))
        if worth.multiplier is not None:
            labels_each = f"{worth.multiplier:.2f}"
            gain = texts.NO_GAIN if labels_each == "1.00" else ""
            lines.append((texts.worth_of_a_label(labels_each, gain),))
        network = report.spec.name or texts.NETWORK
        lines.append((Given(network), f", {aggregation_title(rates.aggregation)}"))
        in_line: list[str | Strong | Given | VerdictMark] = [texts.RESTS_ON_IN_LINE]
        for place, fact in enumerate(lines):
            first = fact[0]
            if isinstance(first, str):
                first = f"{first[:1].lower()}{first[1:]}"
            in_line += [*(("; ",) if place else ()), first, *fact[1:]]
        self.facts.say(*lines)
        self.rests_on.say((*in_line, "."))
        for button in self.plan_links:
            button.setText(texts.PLAN_MORE_LABELS if rates.with_label else texts.PLAN_LABELS)
            button.setAccessibleName(button.text())


def _answered_lines(report: Report) -> list[Line]:
    """The pairs without a quorum, and the calls that stand-ins answered, where there are such."""
    lines: list[Line] = []
    quorum, stood_in = report.quorum, report.stand_ins
    if quorum is not None and (short := quorum.without.get(report.rates.aggregation, 0)):
        lines.append((Strong(f"{short:,}"), texts.without_quorum(plural(quorum.n_total, "pair"))))
    if stood_in is not None:
        lines.append((Strong(f"{stood_in.calls:,}"), texts.by_stand_in(plural(stood_in.n_total, "call"))))
    return lines


CHOSEN_SHORT: Final[dict[Chosen | None, str]] = {
    "random": texts.RANDOM_LABELS,
    "within-verdict": texts.LABELS_WITHIN_VERDICTS,
    "targeted": texts.LABELS_TARGETED,
    "imported": texts.LABELS_UNKNOWN_SAMPLING,
    None: texts.HUMAN_LABELS,
}
_FILE_CHOSEN: Final[tuple[tuple[Chosen, str], ...]] = (
    ("imported", texts.FILE_UNKNOWN_SAMPLING),
    ("random", texts.FILE_RANDOM),
    ("within-verdict", texts.FILE_WITHIN_VERDICTS),
    ("targeted", texts.FILE_TARGETED),
)
_ALWAYS: Final[tuple[Method, ...]] = ("stratified", "ppi", "human_only", "naive")


def win_title(report: Report) -> Line:
    """ "Win rate of B over A", with the systems' names where all pairs have the same."""
    return (
        texts.WIN_RATE_OF,
        VerdictMark("b"),
        *system_name(report, "b"),
        texts.OVER,
        VerdictMark("a"),
        *system_name(report, "a"),
    )


def headline_lines(rates: CorrectedRates, validity: str = "") -> tuple[Line, ...]:
    """What the figure is, and what the network alone says; or why it is uncorrected. ``validity`` is added to what is
    said of its interval."""
    naive = rates.estimates["naive"]
    if rates.headline is None:
        if naive.value is None:
            return ((f"{capitalized(naive.reason)}.",),)
        return (
            (
                Strong(texts.UNCORRECTED),
                texts.uncorrected_verdicts(plural(naive.n, "pair")),
            ),
        )
    return (
        (
            texts.corrected_interval(
                _CORRECTED_WORDS[rates.headline], f" {validity}" if validity else "", percent(naive.value)
            ),
        ),
    )


_CORRECTED_WORDS: Final[dict[Method, str]] = {
    "stratified": texts.CORRECTED,
    "lee": texts.CORRECTED_BY_UNKNOWN_SAMPLING,
    "k_class": texts.CORRECTED_BY_UNKNOWN_SAMPLING,
}


def judgement_lines(report: Report) -> tuple[Line, ...]:
    """Which of the two is better by the headline, or why that cannot be said and what would help."""
    rates = report.rates
    best = rates.headline
    if best is None:
        if rates.estimates["naive"].value is None:
            return ()
        if not rates.with_label:
            return ((texts.NO_HUMAN_LABEL,),)
        return ((texts.not_corrected(rates.estimates["stratified"].reason),),)
    interval = rates.estimates[best].interval
    if interval is None:
        return ()
    one_system = report.data.system_b is not None
    compared = texts.SYSTEM if one_system else texts.SIDE
    if interval.low <= 0.5 <= interval.high:
        return ((Strong(texts.undecided(compared)),),)
    side: Verdict = "b" if interval.low > 0.5 else "a"
    where = texts.ABOVE if side == "b" else texts.BELOW
    return ((VerdictMark(side), *system_name(report, side), Strong(texts.is_better(where))),)


def _rests_on(estimate: Estimate) -> str:
    pairs = plural(estimate.n, "pair")
    return texts.pairs_labelled(pairs, estimate.labels) if estimate.labels else pairs


def _column(*parts: QWidget | QHBoxLayout) -> tuple[QWidget, QVBoxLayout]:
    widget = QWidget()
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    for part in parts:
        if isinstance(part, QWidget):
            column.addWidget(part)
        else:
            column.addLayout(part)
    column.addStretch(1)
    return widget, column


class NoticeStrip(QFrame):
    """A notice to be read before any figure, with a button that settles the matter."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._do: Callable[[], object] | None = None
        self.icon = IconLabel("info", parent=self)
        self.text = LineLabel(parent=self)
        self.button = QPushButton(self)
        self.button.setProperty("control", "small")
        self.button.clicked.connect(self._clicked)
        row = QHBoxLayout(self)
        row.addWidget(self.icon, alignment=Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.text, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.button, alignment=Qt.AlignmentFlag.AlignVCenter)
        self._row = row
        measure(self._row, margins=(16, 7, 12, 7), spacing=12)
        self.hide()

    def say(
        self,
        line: Line,
        *,
        warning: bool = False,
        button: str = "",
        do: Callable[[], object] | None = None,
        why_not: str = "",
    ) -> None:
        """Shows a line; an empty one hides the strip. ``why_not`` says why the button cannot be used now."""
        part = "caution" if warning else "panel"
        if self.property("part") != part:
            self.setProperty("part", part)
            self.style().unpolish(self)
            self.style().polish(self)
        self.icon.show_icon(*(("warning", "warn") if warning else ("info", "text2")))
        self._do = do
        self.text.say(line)
        self.button.setText(button)
        self.button.setAccessibleName(button or texts.NO_NOTICE)
        self.button.setVisible(bool(button))
        self.button.setEnabled(not why_not)
        self.button.setToolTip(why_not)
        self.setVisible(bool(line))

    def _clicked(self) -> None:
        if self._do is not None:
            self._do()
