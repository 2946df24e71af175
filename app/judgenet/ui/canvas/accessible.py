"""The canvas for screen readers: a list of its nodes, each with the words of its picture."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QRect
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface, QWindow
from PySide6.QtWidgets import QAccessibleWidget

from judgenet.ui.canvas.descriptions import target_words
from judgenet.ui.canvas.model import Place, Target

if TYPE_CHECKING:
    from judgenet.ui.canvas.view import NetworkView


class _Node(QAccessibleInterface):
    """One node of the canvas, by its place in the order of reading."""

    def __init__(self, view: NetworkView, index: int) -> None:
        super().__init__()
        self._view = view
        self.index = index

    def _target(self) -> Target | None:
        every = self._view.canvas.targets
        return every[self.index] if self.index < len(every) else None

    def isValid(self) -> bool:
        return self._target() is not None

    def object(self) -> QObject | None:  # type: ignore[override]  # the stubs forbid what Qt allows
        return None

    def window(self) -> QWindow | None:  # type: ignore[override]
        return self._view.window().windowHandle()

    def parent(self) -> QAccessibleInterface | None:  # type: ignore[override]
        return QAccessible.queryAccessibleInterface(self._view)

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        return None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        return None

    def childCount(self) -> int:
        return 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return -1

    def text(self, kind: QAccessible.Text) -> str:
        target = self._target()
        if target is None or kind != QAccessible.Text.Name:
            return ""
        return target_words(self._view.canvas.network, target)

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """The canvas is changed by its owner only."""

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def rect(self) -> QRect:
        target = self._target()
        if target is None:
            return QRect()
        rect = self._view.canvas.layout.rect_of(target)
        top = self._view.mapFromScene(rect.x, rect.y)
        bottom = self._view.mapFromScene(rect.right, rect.bottom)
        box = QRect(top, bottom)
        return QRect(self._view.viewport().mapToGlobal(box.topLeft()), box.size())

    def state(self) -> QAccessible.State:
        target = self._target()
        state = QAccessible.State()
        if target is None:
            state.invalid = True
            return state
        canvas = self._view.canvas
        state.focusable = True
        state.focused = self._view.hasFocus() and target == canvas.current
        if isinstance(target, Place):
            state.selectable = True
            state.extSelectable = True
            state.selected = target in canvas.selection
        state.offscreen = not self._view.viewport().rect().intersects(self._local())
        return state

    def _local(self) -> QRect:
        box = self.rect()
        return QRect(self._view.viewport().mapFromGlobal(box.topLeft()), box.size())


class _Canvas(QAccessibleWidget):
    """The view as a list of nodes."""

    def __init__(self, view: NetworkView) -> None:
        super().__init__(view, QAccessible.Role.List, view.accessibleName())
        self._view = view
        self._nodes: dict[int, tuple[_Node, int]] = {}
        view.destroyed.connect(self._forget)

    def _forget(self) -> None:
        for _, number in self._nodes.values():
            QAccessible.deleteAccessibleInterface(number)
        self._nodes = {}

    def childCount(self) -> int:
        return len(self._view.canvas.targets)

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        if not 0 <= index < self.childCount():
            return None
        if index not in self._nodes:
            node = _Node(self._view, index)
            self._nodes[index] = (node, QAccessible.registerAccessibleInterface(node))
        return self._nodes[index][0]

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return child.index if isinstance(child, _Node) else -1

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        view = self._view
        at = view.mapToScene(view.viewport().mapFromGlobal(QRect(x, y, 1, 1).topLeft()))
        target = view.canvas.layout.target_at(at.x(), at.y())
        return None if target is None else self.child(view.canvas.targets.index(target))

    def focusChild(self) -> QAccessibleInterface | None:  # type: ignore[override]
        current = self._view.canvas.current
        if current is None or not self._view.hasFocus():
            return None
        return self.child(self._view.canvas.targets.index(current))


_interfaces: list[_Canvas] = []
"""Qt keeps the interfaces by address only, so Python must not collect them."""


def _make(_key: str, made_for: QObject) -> QAccessibleInterface | None:
    if type(made_for).__name__ != "NetworkView":
        return None
    interface = _Canvas(cast("NetworkView", made_for))
    _interfaces.append(interface)
    made_for.destroyed.connect(lambda: _interfaces.remove(interface))
    return interface


@cache
def install_accessibility() -> None:
    """Installs the accessibility of canvases in Qt, once. It costs nothing while no screen reader runs."""
    QAccessible.installFactory(_make)


def tell_focus(view: NetworkView, target: Target) -> None:
    """Tells a screen reader that the keyboard moved to a node."""
    if not QAccessible.isActive():
        return
    event = QAccessibleEvent(view, QAccessible.Event.Focus)
    event.setChild(view.canvas.targets.index(target))
    QAccessible.updateAccessibility(event)
