"""Hands and eyes of a person: mouse and keys on real widgets, and looking for controls by their names."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QWidget

from judgenet.ui.canvas.model import Target
from judgenet.ui.canvas.view import NetworkView
from judgenet.ui.errors import ErrorBar

W = TypeVar("W", bound=QWidget)

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


def name_of(widget: QWidget) -> str:
    """What a screen reader calls a control: its accessible name, else its text."""
    if widget.accessibleName():
        return widget.accessibleName()
    return widget.text().replace("&", "") if isinstance(widget, QAbstractButton) else ""


def find(parent: QWidget, kind: type[W], name: str) -> W:
    """The visible control with this accessible name."""
    found = [widget for widget in parent.findChildren(kind) if name_of(widget) == name and widget.isVisible()]
    names = sorted({name_of(w) for w in parent.findChildren(kind) if w.isVisible()})
    assert len(found) == 1, f"{len(found)} × {name!r} among {names}"
    return found[0]


def click(widget: QWidget, at: QPoint | None = None, modifier: Qt.KeyboardModifier = NONE) -> None:
    """Clicks on a widget."""
    assert widget.isVisible(), widget.accessibleName()
    assert widget.isEnabled(), f"{widget.accessibleName()}: {widget.toolTip()}"
    QTest.mouseClick(widget, LEFT, modifier, at or widget.rect().center())


def press(parent: QWidget, name: str) -> None:
    """Clicks on the button with this name."""
    click(find(parent, QAbstractButton, name))


def choose(box: QComboBox, text: str) -> None:
    """Chooses an entry of a combo box with the keyboard."""
    place = next(i for i in range(box.count()) if box.itemText(i).startswith(text))
    box.setFocus()
    box.setCurrentIndex(place)
    box.activated.emit(place)


def type_text(widget: QWidget, text: str) -> None:
    """Types into a widget."""
    widget.setFocus()
    QTest.keyClicks(widget, text)


def key(widget: QWidget, code: Qt.Key, modifier: Qt.KeyboardModifier = NONE) -> None:
    """Strikes a key."""
    QTest.keyClick(widget, code, modifier)


def on_canvas(view: NetworkView, x: float, y: float) -> QPoint:
    """Where a point of the scene is on the canvas."""
    return view.mapFromScene(QPointF(x, y))


def click_node(view: NetworkView, target: Target, modifier: Qt.KeyboardModifier = NONE) -> None:
    """Clicks on a node of the canvas."""
    rect = view.canvas.layout.rect_of(target)
    QTest.mouseClick(view.viewport(), LEFT, modifier, on_canvas(view, rect.x + 30, rect.y + 20))


def click_at(view: NetworkView, x: float, y: float) -> None:
    """Clicks on a point of the canvas, given in the scene."""
    QTest.mouseClick(view.viewport(), LEFT, NONE, on_canvas(view, x, y))


def drag(view: NetworkView, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drags on the canvas from one point of the scene to another."""
    a, b = on_canvas(view, *start), on_canvas(view, *end)
    port = view.viewport()
    QTest.mousePress(port, LEFT, NONE, a)
    for share in (0.25, 0.5, 0.75, 1.0):
        QTest.mouseMove(port, QPoint(round(a.x() + (b.x() - a.x()) * share), round(a.y() + (b.y() - a.y()) * share)))
    QTest.mouseRelease(port, LEFT, NONE, b)


def close_all(bar: ErrorBar) -> None:
    """Closes all messages of errors, one after the other."""
    while bar.troubles:
        bar.close_first()
