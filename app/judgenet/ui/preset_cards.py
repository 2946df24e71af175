"""The cards of the welcome page: a small picture of a network, its name, what it is for, and its calls."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from judgenet.core.network import NetworkSpec, designed_width
from judgenet.core.plan import count_calls
from judgenet.core.presets import PRESETS
from judgenet.core.wording import plural
from judgenet.ui import texts
from judgenet.ui.theme import Theme, current_theme

CARDS: Final[tuple[tuple[str, str, str], ...]] = (
    ("single", texts.SINGLE_JUDGE, texts.SINGLE_JUDGE_IS),
    ("faireval", texts.FAIREVAL, texts.FAIREVAL_IS),
    ("jury", texts.FLAT_JURY, texts.FLAT_JURY_IS),
    ("widedeep", texts.TWO_LAYERS, texts.TWO_LAYERS_ARE),
    ("review", texts.REVIEW_WITH_A_CHAIR, texts.REVIEW_WITH_A_CHAIR_IS),
    ("panel", texts.DIFFERENT_MODELS, texts.DIFFERENT_MODELS_ARE),
)
"""Key of the preset, title and line of each card."""

BY_CRITERIA: Final = "criteria"
"""The preset for pairs whose criteria become the judges: a line below the cards, which fill their grid."""

RECOMMENDED: Final = "widedeep"
"""The preset that is recommended to new users."""
_NODE: Final = (21.0, 14.0)
_ROW: Final = 18.0
_GAP: Final = 45.0
_MOST: Final = 4
_BESIDE: Final = 27.0
"""From box to box in a layer of more neurons than stand below each other."""


def calls_words(spec: NetworkSpec) -> str:
    """How many calls a pair needs: "16 calls per pair"."""
    return texts.calls_per_pair(plural(count_calls(spec).total, "call"))


class PresetCard(QAbstractButton):
    """A card. A click, Space or Enter begins a project with its network.

    Signals:
        chosen: the preset's key.
    """

    chosen = Signal(str)

    def __init__(self, key: str, title: str, line: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.key = key
        self.spec = PRESETS[key].spec
        self._title = title
        self._line = line
        self._calls = calls_words(self.spec)
        if self.spec.layers[0].adaptive:
            self._calls = texts.about(self._calls)
        self._over = False
        tag = f", {texts.RECOMMENDED.lower()}" if key == RECOMMENDED else ""
        self.setAccessibleName(f"{title}{tag}, {self._calls}. {line}")
        self.setAccessibleDescription(PRESETS[key].description)
        self.setToolTip(PRESETS[key].description)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self._choose)

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(280), current_theme().px(190))

    def minimumSizeHint(self) -> QSize:
        return QSize(current_theme().px(200), current_theme().px(184))

    def _choose(self) -> None:
        self.chosen.emit(self.key)

    def enterEvent(self, event: QEnterEvent) -> None:
        self._over = True
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: object) -> None:
        self._over = False
        self.update()
        super().leaveEvent(event)  # type: ignore[arg-type]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lit = self._over or self.isDown()
        painter.setPen(QPen(theme.color("accent" if lit else "line"), 2 if lit else 1))
        painter.setBrush(theme.color("surface"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), theme.px(8), theme.px(8))
        side = theme.px(20)
        inner = QRectF(self.rect()).adjusted(side, side, -side, -side)
        painter.setFont(theme.font())
        painter.setPen(theme.color("text2"))
        top = QRectF(inner.x(), inner.y(), inner.width(), theme.line_height("body"))
        painter.drawText(top, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._calls)
        painter.save()
        painter.translate(inner.x(), inner.y() + theme.px(36))
        painter.scale(theme.scale, theme.scale)
        draw_network(painter, theme, self.spec, self.key)
        painter.restore()
        y = inner.y() + theme.px(84)
        painter.setFont(theme.font("section"))
        painter.setPen(theme.color("text"))
        painter.drawText(
            QRectF(inner.x(), y, inner.width(), theme.px(22)),
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            self._title,
        )
        if self.key == RECOMMENDED:
            after = inner.x() + painter.fontMetrics().horizontalAdvance(self._title) + theme.px(10)
            self._draw_tag(painter, QRectF(after, y, inner.right() - after, theme.px(22)))
        painter.setFont(theme.font())
        painter.setPen(theme.color("text2"))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        painter.drawText(
            QRectF(inner.x(), y + theme.px(24), inner.width(), inner.bottom() - y - theme.px(24)),
            flags | Qt.TextFlag.TextWordWrap,
            self._line,
        )

    def _draw_tag(self, painter: QPainter, line: QRectF) -> None:
        """The tag beside the title."""
        theme = current_theme()
        painter.setFont(theme.font("node"))
        wide = painter.fontMetrics().horizontalAdvance(texts.RECOMMENDED) + theme.px(16)
        box = QRectF(line.x(), line.y(), wide, line.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accentTint"))
        painter.drawRoundedRect(box, theme.px(4), theme.px(4))
        painter.setPen(theme.color("accent"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, texts.RECOMMENDED)


def draw_network(painter: QPainter, theme: Theme, spec: NetworkSpec, key: str) -> None:
    """A small picture of a network around y = 0, at 100 %: boxes for neurons, a dot for the verdict."""
    w, h = _NODE
    columns: list[list[QPointF]] = []
    x = 0.0
    for layer in range(spec.depth):
        width = 3 if key == "faireval" else designed_width(spec, layer) or _MOST
        rows = min(_MOST, width)
        columns.append([QPointF(x + at // rows * _BESIDE, (at % rows - (rows - 1) / 2) * _ROW) for at in range(width)])
        x += _GAP + (width - 1) // rows * _BESIDE
    if spec.chair is not None:
        columns.append([QPointF(x - 12, 0)])
        x += _GAP - 12
    elif spec.depth == 1:
        x += 14
    dot = QPointF(x + 18, 0)
    edge = QPen(theme.color("edge"), 1.2)
    painter.setPen(edge)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for before, after in pairwise(columns):
        for source in before:
            for target in after:
                painter.drawLine(QPointF(source.x() + w, source.y()), target)
    for source in columns[-1]:
        path = QPainterPath(QPointF(source.x() + w, source.y()))
        path.lineTo(QPointF(dot.x() - 8, dot.y()))
        painter.drawPath(path)
    fills = ("surface", "sunken", "text2")
    for column in columns:
        for place, at in enumerate(column):
            painter.setPen(QPen(theme.color("text2"), 1.5))
            painter.setBrush(theme.color(fills[place % 3] if key == "panel" else "surface"))
            painter.drawRoundedRect(QRectF(at.x(), at.y() - h / 2, w, h), 4, 4)
        if key in PRESETS and PRESETS[key].spec.layers[0].adaptive:
            # So many as the model finds: the layer goes on.
            last = column[-1]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("text2"))
            for dot_of in range(3):
                painter.drawEllipse(QPointF(last.x() + w / 2 + (dot_of - 1) * 5, last.y() + h / 2 + 6), 1.2, 1.2)
    if key == "faireval":
        painter.setPen(QPen(theme.color("text2"), 1.2, Qt.PenStyle.DashLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(-7, -_ROW - h / 2 - 7, w + 14, 2 * _ROW + h + 14), 6, 6)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("accent"))
    painter.drawEllipse(dot, 7, 7)
