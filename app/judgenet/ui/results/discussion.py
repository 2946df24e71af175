"""How far verdicts depend on the order, and what a later layer changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from judgenet.core.pairs import Verdict
from judgenet.core.wording import plural
from judgenet.report.charts import BarPart
from judgenet.report.model import LayerChange, Report
from judgenet.report.outline_figures import change_line, order_parts, orders_line
from judgenet.report.outline_tables import share_of
from judgenet.report.selection import OrdersDiffer, Overturned, PairSelection, Swayed, Turn, Turned
from judgenet.ui.elements import ComboBox, label, link
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.line_label import LineLabel
from judgenet.ui.results.panel import Panel
from judgenet.ui.results.verdict_grid import SHOWN, GridCell, VerdictGrid
from judgenet.ui.theme import current_theme

_PLACE: Final[dict[Verdict, int]] = {"a": 0, "b": 1, "tie": 2}


class Swatch(QWidget):
    """The key of a chart: the look of one part of a bar, beside its words."""

    def __init__(self, strength: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strength = strength
        measure(self, width=13, height=12)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        _piece(painter, QRectF(self.rect()), self._strength)


def _piece(painter: QPainter, box: QRectF, strength: float) -> None:
    theme = current_theme()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("sunken"))
    painter.drawRoundedRect(box, 2 * theme.scale, 2 * theme.scale)
    if strength:
        painter.setBrush(theme.color("accent", strength))
        painter.drawRoundedRect(box, 2 * theme.scale, 2 * theme.scale)


class SplitBars(QWidget):
    """Bars that are split into the same parts, one bar a row."""

    _ROW: Final = 30

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[tuple[str, Sequence[BarPart], str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_rows(self, rows: Sequence[tuple[str, Sequence[BarPart], str]]) -> None:
        """Sets the rows: name, parts, and the text at the right."""
        self._rows = tuple(rows)
        spoken = "; ".join(
            texts.order_bar(name, ", ".join(f"{part.name} {part.count:,}" for part in parts), note)
            for name, parts, note in rows
        )
        self.setAccessibleName(texts.order_bars(spoken))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(420), current_theme().px(self._ROW) * len(self._rows))

    def minimumSizeHint(self) -> QSize:
        return QSize(current_theme().px(240), self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, px = current_theme(), current_theme().px
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        body, strong = theme.font(tabular=True), theme.font("strong", tabular=True)
        metrics = QFontMetricsF(strong)
        names = max((metrics.horizontalAdvance(name) for name, _, _ in self._rows), default=0.0)
        notes = max((metrics.horizontalAdvance(note) for _, _, note in self._rows), default=0.0)
        left, right = round(names) + px(16), self.width() - round(notes) - px(16)
        flags = Qt.AlignmentFlag.AlignVCenter
        for place, (name, parts, note) in enumerate(self._rows):
            box = QRect(0, place * px(self._ROW), self.width(), px(self._ROW))
            painter.setFont(strong if not place else body)
            painter.setPen(theme.color("text" if not place else "text2"))
            painter.drawText(box, flags | Qt.AlignmentFlag.AlignLeft, name)
            painter.drawText(box, flags | Qt.AlignmentFlag.AlignRight, note)
            total = sum(part.count for part in parts)
            bar = QRectF(left, box.center().y() - px(20) / 2 + 0.5, max(1, right - left), px(20))
            if not total:
                pen = QPen(theme.color("unscored"), px(1))
                pen.setDashPattern([3, 3])
                painter.setPen(pen)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(bar, px(3), px(3))
                continue
            x = float(left)
            painter.setFont(strong)
            for part in parts:
                width = bar.width() * part.count / total
                if width <= 0:
                    continue
                piece = QRectF(x, bar.y(), max(width - 1, 0.75), bar.height())
                _piece(painter, piece, part.strength)
                text = f"{part.count:,}"
                if metrics.horizontalAdvance(text) + px(10) < width:
                    painter.setPen(theme.color("onAccent" if part.strength > 0.5 else "text"))
                    painter.drawText(piece, Qt.AlignmentFlag.AlignCenter, text)
                x += width


_SWAYED: Final[tuple[tuple[Swayed, str], ...]] = (
    ("first", texts.FIRST_WON_BOTH),
    ("last", texts.LAST_WON_BOTH),
    ("partial", texts.TIE_IN_ONE_ORDER),
)


class OrdersPanel(Panel):
    """How often the two orders disagree, and on which pairs.

    Signals:
        chosen: a selection of pairs.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.bars = SplitBars()
        self.line = LineLabel()
        self.links = {kind: link("") for kind, _ in _SWAYED}
        super().__init__(texts.DOES_ORDER_MATTER, parent=parent)
        self.say(texts.VERDICT_OF_ONE_ORDER)
        self._grid = QGridLayout()
        self._grid.setColumnStretch(2, 1)
        strengths = {"first": 1.0, "last": 0.55, "partial": 0.22}
        self._swatches = []
        self._words = []
        for row, (kind, words) in enumerate(_SWAYED):
            swatch = Swatch(strengths[kind])
            text = label(words, tone="text2", wrap=True)
            self._swatches.append(swatch)
            self._words.append(text)
            self._grid.addWidget(swatch, row, 0)
            self._grid.addWidget(self.links[kind], row, 1)
            self._grid.addWidget(text, row, 2)
            self.links[kind].clicked.connect(self._clicked)
        self.body.addWidget(self.bars)
        self.body.addLayout(self._grid)
        self.body.addWidget(self.line)
        self.body.addStretch(1)
        measure(self._grid, across=8, down=4)

    def show_report(self, report: Report) -> None:
        """Shows how verdicts depend on the order."""
        position = report.position
        known = position.flip_rate is not None
        rows = [(texts.ALL_CALLS, order_parts(position), share_of(position.flip_rate, position.n))]
        if len(report.layers) > 1:
            rows += [
                (
                    texts.layer(layer.layer),
                    order_parts(layer.position),
                    share_of(layer.position.flip_rate, layer.position.n),
                )
                for layer in report.layers[:8]
            ]
        self.bars.show_rows(rows)
        self.bars.setVisible(known)
        self.line.say(orders_line(position))
        counts = {"first": position.primacy, "last": position.recency, "partial": position.partial}
        for (kind, words), swatch, text in zip(_SWAYED, self._swatches, self._words, strict=True):
            button = self.links[kind]
            button.setText(plural(counts[kind], "pair"))
            button.setAccessibleName(f"{plural(counts[kind], 'pair')}: {words}")
            button.setEnabled(counts[kind] > 0)
            for widget in (button, swatch, text):
                widget.setVisible(known)

    def _clicked(self) -> None:
        for kind, button in self.links.items():
            if button is self.sender():
                self.chosen.emit(OrdersDiffer(kind))


_TURNS: Final[tuple[tuple[Turn, str], ...]] = (
    ("right", texts.BECAME_RIGHT),
    ("wrong", texts.BECAME_WRONG),
    ("between", texts.STAYED_WRONG),
)


class ChangesPanel(Panel):
    """Where a layer overturned the one before, and whether that was right.

    Signals:
        chosen: a selection of pairs, ``None`` where a count was clicked again.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.grid = VerdictGrid(texts.layer(1), texts.layer_said(2), right=texts.KEPT)
        self.line = LineLabel()
        self.layers = ComboBox(texts.WHICH_LAYER)
        self.links = {turn: link("") for turn, _ in _TURNS}
        super().__init__(texts.what_layer_changed(2), parent=parent)
        self.head.insertWidget(1, self.layers)
        self._grid = QGridLayout()
        self._grid.setColumnStretch(3, 1)
        for column, (turn, _) in enumerate(_TURNS):
            self._grid.addWidget(self.links[turn], 0, column)
            self.links[turn].clicked.connect(self._clicked)
        self.body.addWidget(self.grid)
        self.body.addWidget(self.line)
        self.body.addLayout(self._grid)
        self.body.addStretch(1)
        self.grid.chosen.connect(self._cell)
        self.layers.currentIndexChanged.connect(self._turned)
        self._changes: tuple[LayerChange, ...] = ()
        measure(self._grid, across=24)

    def show_report(self, report: Report) -> None:
        """Shows what layers changed; hidden for a network of one layer."""
        self._changes = report.changes
        names = [texts.layer_to_layer(change.before, change.after) for change in report.changes]
        if names != [self.layers.itemText(place) for place in range(self.layers.count())]:
            self.layers.blockSignals(True)
            self.layers.clear()
            self.layers.addItems(names)
            self.layers.blockSignals(False)
        self.layers.setVisible(len(names) > 1)
        self.setVisible(bool(names))
        self._fill()

    def select(self, chosen: PairSelection | None) -> None:
        """Marks the count of a selection that was made elsewhere, or none."""
        change = self._change
        mine = isinstance(chosen, Turned) and change is not None and chosen.after == change.after
        self.grid.select((chosen.was, chosen.now) if mine and isinstance(chosen, Turned) else None)

    @property
    def _change(self) -> LayerChange | None:
        place = self.layers.currentIndex()
        return self._changes[place] if 0 <= place < len(self._changes) else None

    def _turned(self, _place: int) -> None:
        self.grid.select(None)
        self._fill()

    def _fill(self) -> None:
        change = self._change
        if change is None:
            return
        overturns = change.overturns
        self.title.setText(texts.what_layer_changed(change.after))
        self.say(texts.vote_to_vote(change.before, change.after))
        self.grid.set_names(texts.layer_said(change.before).replace(" ", "\u00a0", 1), texts.layer_said(change.after))
        self.grid.show_counts({(was, now): overturns.table[_PLACE[was]][_PLACE[now]] for was in SHOWN for now in SHOWN})
        self.grid.setVisible(overturns.n > 0)
        self.line.say(change_line(change))
        counts = {"right": overturns.to_right, "wrong": overturns.to_wrong, "between": overturns.between_wrong}
        for turn, words in _TURNS:
            button = self.links[turn]
            button.setText(f"{counts[turn]:,} {words}")
            button.setAccessibleName(f"{plural(counts[turn], 'pair')} {words}")
            button.setEnabled(counts[turn] > 0)
            button.setVisible(overturns.n_labelled > 0)

    def _cell(self, place: GridCell | None) -> None:
        change = self._change
        if change is not None:
            self.chosen.emit(None if place is None else Turned(change.before, change.after, *place))

    def _clicked(self) -> None:
        change = self._change
        for turn, button in self.links.items():
            if button is self.sender() and change is not None:
                self.chosen.emit(Overturned(change.before, change.after, turn))
