"""Small widgets that all pages use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QCursor, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QWidget,
)

from judgenet.ui.icons import icon, paint_icon
from judgenet.ui.measures import apply_own_measures, measure
from judgenet.ui.text_view import plain_tip, showable
from judgenet.ui.tokens import ICON_TEXT
from judgenet.ui.widgets import set_kind

_WHOLE: Final = re.compile(r"\[[^\]]{1,24}\]|\bn/a\b")
_BREAKS: Final = re.compile("[\\s\x85\u2028\u2029]*[\t-\r\x85\u2028\u2029][\\s\x85\u2028\u2029]*")


def label(text: str = "", kind: str = "", tone: str = "", *, wrap: bool = False) -> QLabel:
    """A label of plain text in a step of the type scale and a tone of the style sheet."""
    widget = WrappedLabel(text) if wrap else QLabel(text)
    widget.setTextFormat(Qt.TextFormat.PlainText)
    widget.setWordWrap(wrap)
    if kind:
        widget.setProperty("type", kind)
    if tone:
        widget.setProperty("tone", tone)
    return widget


class WrappedLabel(QLabel):
    """A label that wraps its text, but never inside an interval or "n/a" (:func:`unbroken`)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._given = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setText(text)

    def setText(self, text: str) -> None:
        self._given = text
        super().setText(unbroken(text))

    def text(self) -> str:
        """The text as it was given."""
        return self._given


def unbroken(text: str) -> str:
    """A text that wraps, but not inside an interval or "n/a": "[46.7, 82.0]" stays on one line."""
    return _WHOLE.sub(lambda match: match[0].replace(" ", "\u00a0").replace("/", "/\u2060"), text)


class IconLabel(QLabel):
    """An icon in a tone of the theme, ``side`` px wide and high at 100 %.

    It keeps the icon's name: an icon that a widget holds can be destroyed after its engine when both are garbage,
    which ends the program.
    """

    def __init__(
        self, name: str = "", tone: str = "text2", side: float = ICON_TEXT, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._icon = (name, tone)
        measure(self, width=side, height=side)

    def show_icon(self, name: str, tone: str = "text2") -> None:
        """Shows another icon, none for an empty name."""
        self._icon = (name, tone)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        name, tone = self._icon
        if name:
            paint_icon(QPainter(self), self.rect(), name, tone)


def set_tone(widget: QWidget, tone: str) -> None:
    """Sets the property ``tone`` that the style sheet reads (``text2``, ``warn``, ``good`` …)."""
    if widget.property("tone") != tone:
        widget.setProperty("tone", tone)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
        apply_own_measures(widget)


def field(name: str, hint: str = "") -> QLineEdit:
    """A line of text with its accessible name."""
    edit = QLineEdit()
    edit.setAccessibleName(name)
    edit.setPlaceholderText(hint)
    return edit


def link(text: str, name: str = "") -> QPushButton:
    """A button that looks like a link; ``name`` is its accessible name where the text does not say enough."""
    button = QPushButton(text)
    set_kind(button, "link")
    button.setAccessibleName(name or text)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return button


def icon_button(icon_name: str, name: str, color: str = "text2") -> QToolButton:
    """A button with an icon alone; ``name`` is its accessible name and its tooltip."""
    button = QToolButton()
    button.setIcon(icon(icon_name, color))
    button.setAccessibleName(name)
    button.setToolTip(name)
    return button


class ScrollColumn(QScrollArea):
    """An area that scrolls up and down, without a frame; what is in it takes its width."""

    def __init__(self, inner: QWidget | None = None, name: str = "", *, focusable: bool = True) -> None:
        """``name`` is the accessible name; ``focusable``: the keyboard reaches the area itself."""
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if name:
            self.setAccessibleName(name)
        if not focusable:
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if inner is not None:
            self.setWidget(inner)


def line() -> QFrame:
    """A hairline."""
    frame = QFrame()
    frame.setProperty("part", "line")
    return frame


def upright() -> QFrame:
    """An upright hairline."""
    frame = QFrame()
    frame.setProperty("part", "upright")
    return frame


class ElidedLabel(QLabel):
    """A line of plain text that ends in an ellipsis where it has no room; the tool tip then has all of it."""

    def __init__(self, text: str = "", kind: str = "", tone: str = "", *, fitted: bool = False) -> None:
        """``fitted``: no wider than its text; else as wide as there is room."""
        super().__init__()
        self._whole = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        if kind:
            self.setProperty("type", kind)
        if tone:
            self.setProperty("tone", tone)
        across = QSizePolicy.Policy.Maximum if fitted else QSizePolicy.Policy.Ignored
        self.setSizePolicy(across, QSizePolicy.Policy.Fixed)
        self.say(text)

    @property
    def whole(self) -> str:
        """All of the text."""
        return self._whole

    def say(self, text: str) -> None:
        """Shows a text; line breaks become spaces."""
        text = showable(_BREAKS.sub(" ", text))
        if text != self._whole:
            self._whole = text
            self.setAccessibleName(text)
            self.updateGeometry()
            self._elide()

    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        wide = self.fontMetrics().horizontalAdvance(self._whole) + margins.left() + margins.right() + 1
        return QSize(wide, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self.contentsRect().width())
        if shown != self.text():
            self.setText(shown)
        self.setToolTip(plain_tip(self._whole) if shown != self._whole else "")


class RowLabel(QLabel):
    """The label of a row of a form: as high as what it names, so that both stand on one line."""

    def __init__(self, text: str, named: QWidget) -> None:
        super().__init__(text)
        self._named = named
        self._aligned: tuple[RowLabel, ...] = (self,)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setBuddy(named)

    def sizeHint(self) -> QSize:
        widest = max(QLabel.sizeHint(row).width() for row in self._aligned)
        return QSize(widest, max(super().sizeHint().height(), self._named.sizeHint().height()))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def align_with(self, rows: Sequence[RowLabel]) -> None:
        """Is as wide as the widest of these labels from now on."""
        self._aligned = tuple(rows)
        self.updateGeometry()


def add_row(form: QFormLayout, text: str, widget: QWidget) -> None:
    """Adds a row to a form."""
    form.addRow(RowLabel(text, widget), widget)


def align_labels(container: QWidget) -> None:
    """Lets the fields of all forms in a container begin at one x: their labels become as wide as the widest."""
    labels = container.findChildren(RowLabel)
    for row in labels:
        row.align_with(labels)


def _is_for(widget: QWidget, event: QWheelEvent) -> bool:
    """Whether a turn of the wheel changes a widget: only while it has the focus; else it scrolls the area around it."""
    if not widget.hasFocus():
        event.ignore()
    return widget.hasFocus()


def _set_up(box: QAbstractSpinBox, name: str) -> None:
    """What the spin boxes have in common; ``name`` is the accessible name."""
    box.setAccessibleName(name)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    box.setKeyboardTracking(False)
    box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    _indent(box)


def _indent(box: QAbstractSpinBox) -> None:
    """Sets the text of a spin box off its border; style sheets do not reach it there."""
    box.lineEdit().setTextMargins(box.fontMetrics().height() // 2, 0, 0, 0)


class SpinBox(QSpinBox):
    """A spin box that the wheel changes only while it has the focus, so that scrolling past it changes nothing."""

    def __init__(self, name: str, low: int, high: int) -> None:
        super().__init__()
        self.setRange(low, high)
        self.setGroupSeparatorShown(True)
        _set_up(self, name)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            _indent(self)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if _is_for(self, event):
            super().wheelEvent(event)


class ComboBox(QComboBox):
    """A combo box that the wheel changes only while it has the focus, and that is as narrow as it must."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)

    def hidePopup(self) -> None:
        super().hidePopup()
        # While its list is open, Qt does not tell the box that the pointer leaves it: it would stay highlighted.
        self.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, self.rect().contains(self.mapFromGlobal(QCursor.pos())))
        self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if _is_for(self, event):
            super().wheelEvent(event)


class DecimalBox(QDoubleSpinBox):
    """As :class:`SpinBox`, for numbers with decimals."""

    def __init__(self, name: str, low: float, high: float, decimals: int = 2) -> None:
        super().__init__()
        self.setRange(low, high)
        self.setDecimals(decimals)
        _set_up(self, name)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            _indent(self)

    def textFromValue(self, value: float) -> str:
        return f"{value:.{self.decimals()}f}".rstrip("0").rstrip(".") if self.decimals() else f"{value:.0f}"

    def wheelEvent(self, event: QWheelEvent) -> None:
        if _is_for(self, event):
            super().wheelEvent(event)
