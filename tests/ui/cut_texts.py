"""Finds texts that are cut: of labels, controls, tabs and headers by their room, of pictures by what is drawn."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QScrollArea,
    QStyle,
    QStyleOptionComboBox,
    QTabBar,
    QWidget,
)

from judgenet.ui.canvas.ink import Ink
from judgenet.ui.elements import ElidedLabel

SLACK = 1.5
"""Px by which a text may be wider than its room: fractions of glyphs."""

_SHRINKS = ("\u2026",)


def path(widget: QWidget) -> str:
    names = []
    at: QWidget | None = widget
    while at is not None and len(names) < 4:
        names.append(type(at).__name__)
        parent = at.parent()
        at = parent if isinstance(parent, QWidget) else None
    return " < ".join(names)


def _lines(text: str) -> list[str]:
    return text.split("\n") or [""]


def _wide(metrics: QFontMetrics, text: str) -> float:
    return max(metrics.size(Qt.TextFlag.TextShowMnemonic, line).width() for line in _lines(text))


def _label(label: QLabel) -> str | None:
    text = label.text()
    if not text or label.textFormat() == Qt.TextFormat.RichText:
        return None
    if isinstance(label, ElidedLabel) and text != label.whole:
        return f"elided: {label.whole!r}"
    room = label.contentsRect()
    if label.wordWrap():
        high = label.heightForWidth(label.width())
        if high > label.height() + SLACK:
            return f"{high} px of text in {label.height()} px"
        longest = max((_wide(label.fontMetrics(), word) for word in text.replace("\u200b", " ").split()), default=0)
        return f"a word of {longest:.0f} px in {room.width()} px" if longest > room.width() + SLACK else None
    wide = _wide(label.fontMetrics(), text)
    if wide > room.width() + SLACK:
        return f"{wide:.0f} px of text in {room.width()} px"
    high = label.fontMetrics().height() * len(_lines(text))
    return f"{high} px high in {label.height()} px" if high > label.height() + 4 else None


def _button(button: QAbstractButton) -> str | None:
    text = button.text()
    icon_only = button.property("toolButtonStyle")
    if not text or (icon_only is not None and Qt.ToolButtonStyle(icon_only) == Qt.ToolButtonStyle.ToolButtonIconOnly):
        return None
    if text.endswith(_SHRINKS) and text != button.accessibleName() and button.toolTip():
        return f"elided: {text!r}"
    wide = _wide(button.fontMetrics(), text)
    if not button.icon().isNull() and not str(button.property("kind")).startswith("rail"):
        wide += button.iconSize().width()
    if wide > button.width() + SLACK:
        return f"{wide:.0f} px of text in {button.width()} px"
    hint = button.minimumSizeHint()
    if hint.isValid() and hint.width() > button.width() + 12:
        return f"wants {hint.width()} px, has {button.width()}"
    high = button.fontMetrics().height()
    return f"{high} px high in {button.height()} px" if high > button.height() + 2 else None


def _combo(combo: QComboBox) -> str | None:
    option = QStyleOptionComboBox()
    option.initFrom(combo)
    option.editable = combo.isEditable()
    field = combo.style().subControlRect(
        QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, combo
    )
    wide = _wide(combo.fontMetrics(), combo.currentText())
    return f"{wide:.0f} px of {combo.currentText()!r} in {field.width()} px" if wide > field.width() + SLACK else None


def _field(field: QLineEdit) -> str | None:
    """A number is cut, or the hint of an empty field; what somebody writes may be longer than its field."""
    inside = isinstance(field.parent(), QAbstractSpinBox)
    text = field.displayText() if inside else "" if field.text() else field.placeholderText()
    margins = field.textMargins()
    room = field.contentsRect().width() - margins.left() - margins.right()
    wide = _wide(field.fontMetrics(), text) if text else 0
    return f"{wide:.0f} px of {text!r} in {room} px" if wide > room + SLACK else None


def _tabs(bar: QTabBar) -> str | None:
    for place in range(bar.count()):
        if not bar.isTabVisible(place):
            continue
        rect = bar.tabRect(place)
        wide = _wide(bar.fontMetrics(), bar.tabText(place))
        if wide > rect.width() + SLACK:
            return f"{wide:.0f} px of {bar.tabText(place)!r} in {rect.width()} px"
        if rect.right() > bar.width() + SLACK or rect.left() < -SLACK:
            return f"{bar.tabText(place)!r} is out of the bar's {bar.width()} px"
    return None


def _header(header: QHeaderView) -> str | None:
    model = header.model()
    if model is None or header.orientation() != Qt.Orientation.Horizontal:
        return None
    for place in range(model.columnCount()):
        text = str(model.headerData(place, Qt.Orientation.Horizontal) or "")
        if header.isSectionHidden(place) or not text:
            continue
        wide, room = _wide(header.fontMetrics(), text), header.sectionSize(place)
        if wide > room - 4:
            return f"{wide:.0f} px of {text!r} in a column of {room} px"
    return None


def _beyond(widget: QWidget) -> str | None:
    """Cut by what it stands in: parts that can be scrolled into view do not count."""
    rect = QRect(QPoint(0, 0), widget.size())
    at, holder = widget, widget.parentWidget()
    while holder is not None and not at.isWindow():
        rect.translate(at.pos())
        room = holder.rect()
        area = holder.parentWidget()
        scrolls_x = scrolls_y = False
        if isinstance(area, QAbstractScrollArea) and area.viewport() is holder:
            scrolls_x = area.horizontalScrollBar().maximum() > 0 and (
                area.horizontalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            )
            scrolls_y = area.verticalScrollBar().maximum() > 0 and (
                area.verticalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            )
        if not scrolls_x and (rect.left() < room.left() - 2 or rect.right() > room.right() + 2):
            return f"{rect.left()} to {rect.right()} in the {room.width()} px of {type(area or holder).__name__}"
        if not scrolls_y and (rect.top() < room.top() - 2 or rect.bottom() > room.bottom() + 2):
            return f"{rect.top()} to {rect.bottom()} in the {room.height()} px high {type(area or holder).__name__}"
        if scrolls_x or scrolls_y:
            return None
        at, holder = holder, holder.parentWidget()
    return None


_KINDS: tuple[tuple[type[QWidget], Any], ...] = (
    (QLabel, _label),
    (QAbstractButton, _button),
    (QComboBox, _combo),
    (QLineEdit, _field),
    (QTabBar, _tabs),
    (QHeaderView, _header),
)


def cut_widgets(window: QWidget) -> Iterator[tuple[QWidget, str, str]]:
    """Visible widgets whose text has too little room, with the text and what is wrong."""
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or widget.window() is not window or isinstance(widget, QScrollArea):
            continue
        for kind, check in _KINDS:
            if isinstance(widget, kind):
                text = widget.text() if isinstance(widget, QLabel | QAbstractButton) else type(widget).__name__
                found = check(widget) or (_beyond(widget) if text else None)
                if found:
                    yield widget, text, found


def overlapping(window: QWidget) -> Iterator[tuple[QWidget, QWidget]]:
    """Visible labels and controls with a text that lie over each other."""
    found: list[tuple[QWidget, QRect]] = []
    for widget in window.findChildren(QWidget):
        if not isinstance(widget, QLabel | QAbstractButton | QComboBox | QAbstractSpinBox) or not widget.isVisible():
            continue
        if widget.window() is not window or (isinstance(widget, QLabel | QAbstractButton) and not widget.text()):
            continue
        seen = widget.visibleRegion().boundingRect()
        if not seen.isEmpty():
            found.append((widget, QRect(widget.mapTo(window, seen.topLeft()), seen.size())))
    for place, (one, box) in enumerate(found):
        for other, other_box in found[place + 1 :]:
            common = box.intersected(other_box)
            if (
                common.width() > 3
                and common.height() > 5
                and not one.isAncestorOf(other)
                and not other.isAncestorOf(one)
            ):
                yield one, other


@contextmanager
def painted_texts() -> Iterator[list[tuple[str, str, str]]]:
    """Collects the texts that are cut while something is painted: (module that drew it, text, what is wrong)."""
    found: list[tuple[str, str, str]] = []

    def where(depth: int = 2) -> str:
        frame = sys._getframe(depth)
        return f"{frame.f_globals.get('__name__', '')}:{frame.f_code.co_name}"

    elide, elide_f, draw = QFontMetrics.elidedText, QFontMetricsF.elidedText, QPainter.drawText
    elide_ink = Ink.elide

    def elided(self: QFontMetrics, text: str, *rest: Any) -> str:
        shown = elide(self, text, *rest)
        if shown != text:
            found.append((where(), text, f"elided to {shown!r}"))
        return shown

    def elided_f(self: QFontMetricsF, text: str, *rest: Any) -> str:
        shown = elide_f(self, text, *rest)
        if shown != text:
            found.append((where(), text, f"elided to {shown!r}"))
        return shown

    def elided_ink(self: Ink, text: str, *rest: Any) -> str:
        shown = elide_ink(self, text, *rest)
        if shown != text:
            found.append((where(3 if sys._getframe(1).f_code.co_name == "text" else 2), text, f"elided to {shown!r}"))
        return shown

    def drawn(self: QPainter, *args: Any) -> Any:
        box = args[0] if args else None
        if isinstance(box, QRect | QRectF):
            text = next((arg for arg in args[1:] if isinstance(arg, str)), "")
            flags = next((arg for arg in args[1:] if isinstance(arg, int | Qt.AlignmentFlag | Qt.TextFlag)), 0)
            bits = int(flags.value if hasattr(flags, "value") else flags)
            metrics = QFontMetricsF(self.font())
            if bits & Qt.TextFlag.TextWordWrap.value:
                needed = metrics.boundingRect(QRectF(box), bits, text)
                if needed.height() > box.height() + SLACK and not bits & Qt.TextFlag.TextDontClip.value:
                    found.append((where(), text, f"{needed.height():.0f} px high in {box.height():.0f} px"))
            elif text and metrics.horizontalAdvance(text) > box.width() + SLACK:
                found.append((where(), text, f"{metrics.horizontalAdvance(text):.0f} px in {box.width():.0f} px"))
        return draw(self, *args)

    with (
        patch.object(QFontMetrics, "elidedText", elided),
        patch.object(QFontMetricsF, "elidedText", elided_f),
        patch.object(QPainter, "drawText", drawn),
        patch.object(Ink, "elide", elided_ink),
    ):
        yield found
