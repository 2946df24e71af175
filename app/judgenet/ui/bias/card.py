"""The bias card: for each bias the share beside a coin's, the change from single judge to network, the net effect and
the finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QVBoxLayout, QWidget

from judgenet.report.bias_card import BiasCard, BiasRow, Mark
from judgenet.report.bias_chart import card_ticks
from judgenet.report.drawing import Token
from judgenet.report.marks import MARK, At, bias_bar, judge_mark, judges_way
from judgenet.stats.bias import Mood
from judgenet.stats.bias_conclusions import signed
from judgenet.ui.bias import texts
from judgenet.ui.export import paint_marks
from judgenet.ui.icons import icon
from judgenet.ui.theme import Theme, current_theme
from judgenet.ui.tokens import TypeRole

MOODS: Final[dict[Mood, tuple[str, str]]] = {
    "good": ("tick", "good"),
    "neutral": ("dash", "text3"),
    "info": ("info", "text2"),
    "warning": ("warning", "warn"),
    "bad": ("error", "bad"),
    "none": ("dash", "text3"),
}
"""Icon and colour by how a figure is to be taken."""

_ROW: Final = 64
_HEAD: Final = 64
_AXIS: Final = 32
_GAP: Final = 16
_SIDE: Final = 4
_WIDE: Final = 860
"""Narrower than this many px at 100 %, the chart from judge to judge is hidden: the words say the same."""
_COIN_INSIDE: Final = 10.0
_WAY_INSIDE: Final = 13.0
"""The marks of the coin and of the judges keep this far from the ends of a row, in px at 100 %."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the card in px: left and width of each. The width is 0 where there is no room."""

    name: tuple[float, float]
    bar: tuple[float, float]
    way: tuple[float, float]
    net: tuple[float, float]
    valid: tuple[float, float]
    words: tuple[float, float]

    @classmethod
    def of(cls, width: int, theme: Theme, *, with_way: bool) -> Columns:
        """The columns of a card of this width in px."""
        scale, gap, side = theme.scale, _GAP * theme.scale, _SIDE * theme.scale
        free = max(0.0, width - 2 * side)
        name = min(186 * scale, max(110 * scale, 0.2 * free))
        net, valid = 96 * scale, 56 * scale
        words = max(140 * scale, 0.22 * free)
        drawn = max(0.0, free - name - net - valid - words - 4 * gap)
        with_way = with_way and free / scale > _WIDE
        bar = (drawn - gap) * 0.48 if with_way else drawn
        way = drawn - gap - bar if with_way else 0.0
        left = side
        columns = []
        for size in (name, bar, way, net, valid, words):
            columns.append((left, size))
            left += size + (gap if size else 0.0)
        return cls(*columns)


class CardRow(QAbstractButton):
    """A row of the card: one bias. Choosing it by mouse or keyboard shows the pairs behind it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.row: BiasRow | None = None
        self._end = 1.0
        self._with_way = True
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(600), current_theme().px(_ROW))

    def heightForWidth(self, width: int) -> int:
        """A row is as high as its finding needs, which is never cut."""
        if self.row is None:
            return current_theme().px(_ROW)
        _, room = self._words(Columns.of(width, current_theme(), with_way=self._with_way))
        high = sum(self._word_heights(self.row, room))
        return max(current_theme().px(_ROW), round(high) + current_theme().px(16))

    def _word_heights(self, row: BiasRow, room: float) -> tuple[float, float]:
        """The heights of the finding and of what people came to below it, in px."""
        parts = (row.words, self._words_font(row)), (row.people, current_theme().font())
        box = QRectF(0, 0, room, 10_000)
        words, people = (
            QFontMetricsF(font).boundingRect(box, int(Qt.TextFlag.TextWordWrap), text).height() if text else 0.0
            for text, font in parts
        )
        return words, people

    def _words(self, columns: Columns) -> tuple[float, float]:
        """Left and width of the finding in px, at the right of its icon."""
        left, width = columns.words
        beside = current_theme().px(24)
        return left + beside, width - beside

    def _words_font(self, row: BiasRow) -> QFont:
        return current_theme().font("node" if row.mood == "bad" else "body")

    def say(self, row: BiasRow, end: float, *, with_way: bool) -> None:
        """Shows a bias; ``end`` is the end of the axis."""
        self.row, self._end, self._with_way = row, end, with_way
        share = "n/a" if row.share is None else f"{row.share:.2f}"
        ends = None if row.interval is None else (f"{row.interval.low:.2f}", f"{row.interval.high:.2f}")
        coin = "" if row.random is None else texts.coin(f"{row.random:.2f}")
        net = f"; {row.net_text}" if row.net_text else ""
        spoken = share + (texts.interval(*ends) if ends else "") + coin
        self.setAccessibleName(texts.row_name(row.title, spoken, net, row.n, row.items, row.words, row.people))
        self.setToolTip(_tooltip(row, share + (texts.interval_95(*ends) if ends else "") + coin))
        self.updateGeometry()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        row, theme = self.row, current_theme()
        if row is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        columns = Columns.of(self.width(), theme, with_way=self._with_way)
        high = float(self.height())
        if self.isChecked():
            painter.fillRect(self.rect(), theme.color("accentTint"))
        elif self.underMouse():
            painter.fillRect(self.rect(), theme.color("hover"))
        painter.fillRect(QRectF(0, high - 1, self.width(), 1), theme.color("line"))
        self._grid(painter, columns, high)
        self._name(painter, columns.name, row, high)
        self._plots(painter, columns, row, high)
        self._figures(painter, columns, row, high)
        if self.hasFocus():
            wide = theme.focus_width
            painter.setPen(QPen(theme.color("accent"), wide))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(wide, wide, -wide, -wide), 4, 4)
        painter.end()

    def _at(self, share: float, column: tuple[float, float]) -> float:
        """Where a share lies in a column, in px. Marks keep a little off its ends."""
        inside = 8 * current_theme().scale
        return column[0] + inside + min(share, self._end) / self._end * (column[1] - 2 * inside)

    def _grid(self, painter: QPainter, columns: Columns, high: float) -> None:
        # Where lines are as strong as text, they must not be taken for the coin's mark.
        painter.setPen(QPen(current_theme().color("line", 0.35 if current_theme().name == "contrast" else 1.0), 1))
        for column in (columns.bar, columns.way):
            if column[1]:
                for tick in card_ticks(self._end):
                    x = round(self._at(tick, column)) + 0.5
                    painter.drawLine(QPointF(x, 0), QPointF(x, high - 1))

    def _name(self, painter: QPainter, column: tuple[float, float], row: BiasRow, high: float) -> None:
        theme = current_theme()
        line = theme.px(20)
        top = (high - 2 * line) / 2
        _text(painter, theme, QRectF(column[0], top, column[1], line), row.title, "node")
        _text(painter, theme, QRectF(column[0], top + line, column[1], line), row.tells, "body", "text2")

    def _plots(self, painter: QPainter, columns: Columns, row: BiasRow, high: float) -> None:
        """The bar and, where there is room, the chart from judge to judge."""
        scale = current_theme().scale
        middle, coin = high / 2 / scale, high / 2 / scale - _COIN_INSIDE

        def within(column: tuple[float, float]) -> At:
            return lambda share: self._at(share, column) / scale

        marks = bias_bar(row, middle, within(columns.bar), coin)
        if columns.way[1]:
            ground: Token = "accentTint" if self.isChecked() else "hover" if self.underMouse() else "surface"
            marks += judges_way(row, middle, 2 * (middle - _WAY_INSIDE), within(columns.way), coin, ground)
        paint_marks(painter, marks)

    def _figures(self, painter: QPainter, columns: Columns, row: BiasRow, high: float) -> None:
        theme = current_theme()
        left, width = columns.valid
        box = QRectF(left, 0, width, high)
        painter.setFont(theme.font(tabular=True))
        painter.setPen(theme.color("text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{row.n:,}")
        self._net(painter, columns.net, row, high)
        name, tone = MOODS[row.mood]
        side = theme.px(16)
        icon(name, tone).paint(painter, round(columns.words[0]), round((high - side) / 2), side, side)
        left, width = self._words(columns)
        words, people = self._word_heights(row, width)
        top = (high - words - people) / 2
        painter.setFont(self._words_font(row))
        painter.setPen(theme.color("text"))
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap)
        painter.drawText(QRectF(left, top, width, words + 1), flags, row.words)
        painter.setFont(theme.font())
        painter.setPen(theme.color("text2"))
        painter.drawText(QRectF(left, top + words, width, people + 1), flags, row.people)

    def _net(self, painter: QPainter, column: tuple[float, float], row: BiasRow, high: float) -> None:
        """The net effect above its interval."""
        theme = current_theme()
        left, width = column
        flags = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.setPen(theme.color("text"))
        if row.net is None:
            painter.drawText(QRectF(left, 0, width, high), flags, "–")
            return
        line = theme.px(20)
        top = (high - 2 * line) / 2 if row.net_ci is not None else (high - line) / 2
        painter.drawText(QRectF(left, top, width, line), flags, signed(row.net))
        if row.net_ci is not None:
            painter.setPen(theme.color("text2"))
            ends = f"{signed(row.net_ci.low)}, {signed(row.net_ci.high)}"
            painter.drawText(QRectF(left, top + line, width, line), flags, ends)


class _CardPart(QWidget):
    """A part of the card above or below its rows, drawn in the same columns."""

    height_px: ClassVar[int]

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._card: BiasCard | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(600), current_theme().px(self.height_px))

    def say(self, card: BiasCard) -> None:
        """Shows this part of a card."""
        self._card = card
        self.update()


class CardHead(_CardPart):
    """The titles of the columns, the meaning of the coin's mark, and the legend of the chart from judge to judge."""

    height_px = _HEAD

    def paintEvent(self, _event: QPaintEvent) -> None:
        card, theme = self._card, current_theme()
        if card is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        columns = Columns.of(self.width(), theme, with_way=len(card.legend) > 1)
        line, top = theme.px(20), theme.px(8)
        second = top + theme.px(26)
        titles = (
            (columns.name, texts.BIAS),
            (columns.bar, self._bar_title(card, columns.bar[1])),
            (columns.way, self._fitting(columns.way[1], texts.SINGLE_TO_NETWORK, texts.SINGLE_TO_NETWORK_SHORT)),
            (columns.words, texts.FINDING),
        )
        for (left, width), text in titles:
            if width:
                _text(painter, theme, QRectF(left, top, width, line), text, "node")
        flags = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.setFont(theme.font("node"))
        painter.setPen(theme.color("text"))
        for (left, width), text in ((columns.net, texts.NET_EFFECT), (columns.valid, texts.VALID_N)):
            painter.drawText(QRectF(left, top, width, line), flags, text)
        left, width = columns.bar
        painter.fillRect(
            QRectF(left + theme.px(2), second + theme.px(3), 2 * theme.scale, line * 0.7), theme.color("text")
        )
        text = self._fitting(width - theme.px(12), texts.COIN_ON_SAME_PAIRS, texts.COIN_SHORT)
        _text(painter, theme, QRectF(left + theme.px(12), second, width - theme.px(12), line), text, "body", "text2")
        # Beside the legend nothing stands but columns of figures, which are empty there.
        room = columns.words[0] - columns.way[0] if columns.way[1] else 0.0
        self._legend(painter, (columns.way[0], room), card.legend, second, line)
        painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), theme.color("line2"))
        painter.end()

    def _bar_title(self, card: BiasCard, width: float) -> str:
        whole = texts.share_and_interval_of(card.subject.title)
        return self._fitting(width, whole, texts.SHARE_AND_INTERVAL, texts.SHARE_AND_INTERVAL_SHORT)

    def _fitting(self, width: float, *titles: str) -> str:
        """The first title that fits, else the last."""
        metrics = QFontMetricsF(current_theme().font("node"))
        return next((title for title in titles if metrics.horizontalAdvance(title) <= width), titles[-1])

    def _legend(
        self, painter: QPainter, column: tuple[float, float], marks: Sequence[Mark], top: float, line: float
    ) -> None:
        theme = current_theme()
        left, width = column
        if not width:
            return
        metrics = QFontMetricsF(theme.font())
        x = left + MARK * theme.scale
        for mark in marks:
            room = metrics.horizontalAdvance(mark.title)
            if x + theme.px(12) + room > left + width:
                return
            paint_marks(painter, judge_mark(mark.shape, x / theme.scale, (top + line / 2) / theme.scale))
            _text(painter, theme, QRectF(x + theme.px(12), top, room + 2, line), mark.title, "body", "text2")
            x += theme.px(26) + room


class CardAxis(_CardPart):
    """The ticks under the bars."""

    height_px = _AXIS

    def paintEvent(self, _event: QPaintEvent) -> None:
        card, theme = self._card, current_theme()
        if card is None:
            return
        painter = QPainter(self)
        painter.setFont(theme.font(tabular=True))
        painter.setPen(theme.color("text2"))
        columns = Columns.of(self.width(), theme, with_way=len(card.legend) > 1)
        inside, half = 8 * theme.scale, 24 * theme.scale
        for left, width in (columns.bar, columns.way):
            if not width:
                continue
            for tick in card_ticks(card.end):
                x = left + inside + tick / card.end * (width - 2 * inside)
                box = QRectF(x - half, theme.px(6), 2 * half, theme.px(20))
                painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, f"{tick:.1f}".removesuffix(".0"))
        painter.end()


class BiasCardView(QWidget):
    """The whole card. Up and down move from row to row.

    Signals:
        chosen: the key of the probe whose row was chosen.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._card: BiasCard | None = None
        self.setAccessibleName(texts.BIASES)
        self.head = CardHead(self)
        self.axis = CardAxis(self)
        self.rows: list[CardRow] = []
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._group.buttonClicked.connect(self._clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.axis)
        self._column = column
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def show_card(self, card: BiasCard) -> None:
        """Shows a card; the chosen row stays chosen."""
        self._card = card
        while len(self.rows) > len(card.rows):
            gone = self.rows.pop()
            self._group.removeButton(gone)
            gone.hide()
            gone.deleteLater()
        while len(self.rows) < len(card.rows):
            row_widget = CardRow(self)
            self._group.addButton(row_widget)
            self._column.insertWidget(len(self.rows) + 1, row_widget)
            self.rows.append(row_widget)
        for widget, row in zip(self.rows, card.rows, strict=True):
            widget.say(row, card.end, with_way=len(card.legend) > 1)
        self.head.say(card)
        self.axis.say(card)

    def mark(self, probe: str | None) -> None:
        """Marks the row of a probe, none for ``None``."""
        self._group.setExclusive(False)
        for row in self.rows:
            row.setChecked(row.row is not None and row.row.probe == probe)
        self._group.setExclusive(True)

    def row_of(self, probe: str) -> CardRow | None:
        """The row of a probe, ``None`` where the card has none."""
        return next((row for row in self.rows if row.row is not None and row.row.probe == probe), None)

    def _clicked(self, button: QAbstractButton) -> None:
        if isinstance(button, CardRow) and button.row is not None:
            self.chosen.emit(button.row.probe)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        at = next((place for place, row in enumerate(self.rows) if row.hasFocus()), None)
        if step is None or at is None:
            super().keyPressEvent(event)
            return
        place = min(len(self.rows) - 1, max(0, at + step))
        self.rows[place].setFocus(Qt.FocusReason.TabFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for part in (self.head, self.axis, *self.rows):
            part.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()


def _tooltip(row: BiasRow, share: str) -> str:
    """The figures of a bias, line by line; ``share`` has its interval and the coin's share with it."""
    marks = ", ".join(f"{mark.title} {mark.share:.2f}" for mark in row.marks if mark.share is not None)
    lines = [texts.row_share(row.title, share), texts.valid_and_asked(row.hits, row.n, row.items)]
    if row.net_text:
        lines.append(texts.net_with_interval(row.net_text))
    return "\n".join([*lines, row.words, *(text for text in (row.people, marks) if text)])


def _text(painter: QPainter, theme: Theme, box: QRectF, text: str, role: TypeRole, tone: str = "text") -> None:
    """A line of text, cut where it has no room."""
    font = theme.font(role)
    painter.setFont(font)
    painter.setPen(theme.color(tone))
    elided = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), elided)
