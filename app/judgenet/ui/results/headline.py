"""The head of the page: the figure that can be defended, what it rests on, and how the run stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Final, Literal

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from judgenet.report.blocks import Chip, Given, Headline, Line, Paragraph, Strong
from judgenet.report.model import Report
from judgenet.report.outline import accuracy_headline
from judgenet.report.outline_parts import flip_words, system_name
from judgenet.report.words import of, percent, percent_interval
from judgenet.stats.intervals import Interval, WinRate
from judgenet.ui.icons import icon
from judgenet.ui.parts import label, upright
from judgenet.ui.results.figures_table import Axis, axis_of, draw_estimate
from judgenet.ui.results.line_label import LineLabel
from judgenet.ui.theme import Theme
from judgenet.ui.tokens import PANEL_INSIDE

_TICK_ROOM: Final = 40
"""A tick of the axis needs so many px."""
_WIDE, _NARROW = 1040, 780
"""Below the first of these widths in px the head has two columns, below the second one."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate with its interval, as a row of :class:`Rates`."""

    name: str
    value: float | None
    interval: Interval | None
    look: Literal["subject", "other", "uncorrected"]
    note: str


class Rates(QWidget):
    """Rates on a common axis, with a mark at even."""

    _ROW: Final = 32

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rates: tuple[Rate, ...] = ()
        self._axis = Axis(0.0, 1.0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_theme(self, theme: Theme) -> None:
        """Shows them in another theme."""
        self._theme = theme
        self.updateGeometry()
        self.update()

    def show_rates(self, rates: Sequence[Rate]) -> None:
        """Sets the rates."""
        self._rates = tuple(rates)
        shares = [0.5]
        for rate in rates:
            shares += [] if rate.value is None else [rate.value, *(rate.interval or ())]
        self._axis = axis_of(shares)
        said = "; ".join(f"{r.name} {percent(r.value)} {percent_interval(r.interval)}, {r.note}" for r in rates)
        self.setAccessibleName(f"Win rate of B over A: {said}")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        px = self._theme.px
        return QSize(px(460), px(self._ROW) * len(self._rates) + px(28))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(270), self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, px = self._theme, self._theme.px
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        body = theme.font(tabular=True)
        metrics = QFontMetricsF(body)
        names = max((QFontMetricsF(theme.font()).horizontalAdvance(rate.name) for rate in self._rates), default=0.0)
        figures = max((metrics.horizontalAdvance(_figure(rate)) for rate in self._rates), default=0.0)
        left, right = round(names) + px(24), self.width() - round(figures) - px(20)
        bottom = px(self._ROW) * len(self._rates)
        ticks = _ticks(self._axis, (right - left) / px(_TICK_ROOM))
        for tick in ticks:
            x = round(self._axis.at(tick, left, right - left)) + 0.5
            painter.setPen(QPen(theme.color("line"), px(1)))
            painter.drawLine(QPointF(x, px(4)), QPointF(x, bottom))
            painter.setPen(theme.color("text2"))
            painter.setFont(body)
            text = f"{100 * tick:.0f} %" if tick == ticks[-1] else f"{100 * tick:.0f}"
            box = QRect(round(x) - px(30), bottom + px(2), px(60), px(22))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        pen = QPen(theme.color("text"), px(1))
        pen.setDashPattern([6, 4])
        painter.setPen(pen)
        even = self._axis.at(0.5, left, right - left)
        painter.drawLine(QPointF(even, 0), QPointF(even, bottom))
        flags = Qt.AlignmentFlag.AlignVCenter
        for place, rate in enumerate(self._rates):
            box = QRect(0, place * px(self._ROW), self.width(), px(self._ROW))
            painter.setFont(theme.font())
            painter.setPen(theme.color("text2"))
            painter.drawText(box, flags | Qt.AlignmentFlag.AlignLeft, rate.name)
            painter.setFont(body)
            painter.drawText(box, flags | Qt.AlignmentFlag.AlignRight, _figure(rate))
            if rate.value is not None:
                ends = rate.interval and tuple(self._axis.at(end, left, right - left) for end in rate.interval)
                x = self._axis.at(rate.value, left, right - left)
                draw_estimate(painter, theme, box.center().y() + 0.5, x, ends, rate.look)


def _ticks(axis: Axis, most: float) -> list[float]:
    """Round shares on the axis, at most so many."""
    steps = (0.05, 0.1, 0.2, 0.25, 0.5)
    step = next((step for step in steps if (axis.high - axis.low) / step < most), steps[-1])
    first, last = ceil(axis.low / step - 1e-9), floor(axis.high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def _figure(rate: Rate) -> str:
    return f"{percent(rate.value, unit=False)} {percent_interval(rate.interval)}".strip()


class HeadPanel(QFrame):
    """The figure of the page at the left, who wins in the middle, what both rest on at the right."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("part", "panel")
        self.setAccessibleName("Result")
        self._theme = theme
        self.figure = label("", "headline")
        self.interval = label("", "title")
        self.line = LineLabel(theme, color="text2")
        self.judgement = LineLabel(theme)
        self.win_title = LineLabel(theme, color="text2")
        self.rates = Rates(theme)
        self.win_note = label("", tone="text2", wrap=True)
        self.rests = label("Rests on", tone="text2")
        self.facts = LineLabel(theme)
        self.rests_on = LineLabel(theme, color="text2")

        figures = QHBoxLayout()
        figures.addWidget(self.figure, alignment=Qt.AlignmentFlag.AlignBottom)
        figures.addWidget(self.interval, alignment=Qt.AlignmentFlag.AlignBottom)
        figures.addStretch(1)
        self._figures = figures
        self._left, left = _column(figures, self.line, self.judgement)
        self._middle, middle = _column(self.win_title, self.rates, self.win_note)
        self._right, right = _column(self.rests, self.facts)
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
        outer.addWidget(self.rests_on)
        self._outer = outer
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Takes on a theme's measures."""
        self._theme = theme
        inside = theme.gap(PANEL_INSIDE)
        self._outer.setContentsMargins(inside + theme.px(8), inside, inside + theme.px(8), inside)
        self._outer.setSpacing(theme.gap(12))
        self._row.setSpacing(theme.gap(24))
        self._figures.setSpacing(theme.px(12))
        for column in self._columns:
            column.setSpacing(theme.px(6))
        self.figure.setFont(theme.font("headline", tabular=True))
        self.interval.setFont(theme.font("title", tabular=True))
        # The smaller letters stand on the line of the large ones.
        self.interval.setContentsMargins(0, 0, 0, theme.px(5))
        for part in (self.line, self.judgement, self.win_title, self.facts, self.rests_on, self.rates):
            part.set_theme(theme)
        self._turn()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()

    def _turn(self) -> None:
        """Three columns; two with what they rest on in a line below; one."""
        wide = self.width() >= self._theme.px(_WIDE)
        narrow = self.width() < self._theme.px(_NARROW)
        wanted = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._row.direction() != wanted:
            self._row.setDirection(wanted)
        self._lines[0].setVisible(not narrow)
        for widget in (self._lines[1], self._right):
            widget.setVisible(wide)
        self.rests_on.setVisible(not wide)

    def show_report(self, report: Report) -> None:
        """Shows the head of a report: the same words and figures."""
        blocks = tuple(accuracy_headline(report))
        head = next((block for block in blocks if isinstance(block, Headline)), None)
        lines = [block.line for block in blocks if isinstance(block, Paragraph)]
        self.figure.setText("No verdict yet" if head is None else head.figure)
        self.figure.setProperty("tone", "text3" if head is not None and head.hollow else "")
        self.figure.style().unpolish(self.figure)
        self.figure.style().polish(self.figure)
        self.figure.setFont(self._theme.font("headline" if head is not None else "page", tabular=True))
        self.interval.setText("" if head is None else head.interval)
        self.figure.setAccessibleName(f"{self.figure.text()}, {self.interval.text()}")
        self.line.say(*(() if head is None else (head.line,)))
        self.judgement.say(*lines)
        self._show_winner(report)
        self._show_facts(report)

    def _show_winner(self, report: Report) -> None:
        self.win_title.say(
            ("Win rate of ", Chip("b"), *system_name(report, "b"), " over ", Chip("a"), *system_name(report, "a"))
        )
        rates = [_rate("Network, uncorrected", report.verdicts, report.data.pairs, "uncorrected")]
        if report.human.n:
            rates.append(_rate("People, labelled pairs", report.human, report.data.pairs, "other"))
        self.rates.show_rates(rates)
        notes = "; ".join(f"{rate.name.split(',')[0].lower()} {rate.note}" for rate in rates)
        self.win_note.setText(f"Ties count half. Pairs used: {notes}. The network's errors are not corrected here.")

    def _show_facts(self, report: Report) -> None:
        data, spent = report.data, report.about.spent
        unscored = sum(spent.unscored.values())
        lines: list[Line] = [
            (Strong(f"{report.verdicts.n:,}"), f" {'verdict' if report.verdicts.n == 1 else 'verdicts'}"),
            (Strong(f"{data.labelled:,}"), f" {'human label' if data.labelled == 1 else 'human labels'}"),
            (Strong(f"{spent.calls:,}"), f" calls, {unscored:,} unscored"),
        ]
        in_line: list[str | Strong | Given | Chip] = ["Rests on "]
        for place, line in enumerate(lines):
            in_line += [*(("; ",) if place == 2 else (", ",) if place else ()), *line]
        if report.position.flip_rate is not None:
            differ = f"The orders differ on {flip_words(report.position)}."
            lines.append((differ,))
            in_line.append(f". {differ}")
        self.facts.say(*lines)
        self.rests_on.say(tuple(in_line))


def _rate(name: str, found: WinRate, total: int, look: Literal["other", "uncorrected"]) -> Rate:
    return Rate(name, found.value, found.interval, look, of(found.n, total))


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


class Strip(QFrame):
    """What must be known before any figure is read, with a button that mends it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon_name = "info"
        self._tone = "text2"
        self._do: Callable[[], object] | None = None
        self.icon = QLabel(self)
        self.text = LineLabel(theme, parent=self)
        self.button = QPushButton(self)
        self.button.setProperty("size", "small")
        self.button.clicked.connect(self._clicked)
        row = QHBoxLayout(self)
        row.addWidget(self.icon, alignment=Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.text, 1, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.button, alignment=Qt.AlignmentFlag.AlignVCenter)
        self._row = row
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Takes on a theme's measures."""
        self._theme = theme
        self._row.setContentsMargins(theme.px(16), theme.px(7), theme.px(12), theme.px(7))
        self._row.setSpacing(theme.px(12))
        self.text.set_theme(theme)
        side = theme.px(16)
        self.icon.setPixmap(icon(self._icon_name, self._tone).pixmap(side, side))

    def say(
        self,
        line: Line,
        *,
        warning: bool = False,
        button: str = "",
        do: Callable[[], object] | None = None,
        why_not: str = "",
    ) -> None:
        """Sets what is said; an empty line hides the strip. ``why_not`` says why the button cannot be used now."""
        part = "caution" if warning else "panel"
        if self.property("part") != part:
            self.setProperty("part", part)
            self.style().unpolish(self)
            self.style().polish(self)
        self._icon_name, self._tone = ("warning", "warn") if warning else ("info", "text2")
        self._do = do
        self.text.say(line)
        self.button.setText(button)
        self.button.setAccessibleName(button or "Nothing to do")
        self.button.setVisible(bool(button))
        self.button.setEnabled(not why_not)
        self.button.setToolTip(why_not)
        self.set_theme(self._theme)
        self.setVisible(bool(line))

    def _clicked(self) -> None:
        if self._do is not None:
            self._do()
