"""Corrections of what Qt tells screen readers: the names of combo boxes, and the pages of the rail as tabs."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractButton, QAccessibleWidget, QComboBox

PAGE_TAB = "pageTab"
"""A checkable button with this dynamic property is one of several pages."""

_SHOW = "ShowMenu"


class _Combo(QAccessibleWidget):
    """A combo box by its name and its value; Qt gives the value for both on Linux."""

    def __init__(self, box: QComboBox) -> None:
        super().__init__(box, QAccessible.Role.ComboBox, "")
        self._box = box

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self._box.accessibleName()
        return self._box.currentText() if kind == QAccessible.Text.Value else str(super().text(kind))

    def state(self) -> QAccessible.State:
        state = super().state()
        state.hasPopup = True
        state.expandable = True
        state.expanded = self._box.view().isVisible()
        state.editable = self._box.isEditable()
        return state

    def actionNames(self) -> list[str]:
        return [_SHOW, *super().actionNames()]

    def doAction(self, name: str) -> None:
        if name == _SHOW:
            self._box.showPopup()
        else:
            super().doAction(name)


class _PageTab(QAccessibleWidget):
    """A button of the rail: one page of several."""

    def __init__(self, button: QAbstractButton) -> None:
        super().__init__(button, QAccessible.Role.PageTab, "")
        self._button = button

    def text(self, kind: QAccessible.Text) -> str:
        return self._button.accessibleName() if kind == QAccessible.Text.Name else str(super().text(kind))

    def state(self) -> QAccessible.State:
        state = super().state()
        state.selectable = True
        state.selected = self._button.isChecked()
        return state

    def actionNames(self) -> list[str]:
        return ["Press", *super().actionNames()]

    def doAction(self, name: str) -> None:
        if name == "Press":
            self._button.click()
        else:
            super().doAction(name)


_interfaces: list[QAccessibleInterface] = []
"""Qt keeps the interfaces by address only, so Python must not collect them."""


def _make(_key: str, made_for: QObject) -> QAccessibleInterface | None:
    interface: _Combo | _PageTab
    if isinstance(made_for, QComboBox) and made_for.accessibleName():
        interface = _Combo(made_for)
    elif isinstance(made_for, QAbstractButton) and made_for.property(PAGE_TAB):
        interface = _PageTab(made_for)
    else:
        return None
    _interfaces.append(interface)
    made_for.destroyed.connect(lambda: _interfaces.remove(interface))
    return interface


@cache
def install_names() -> None:
    """Installs the corrections in Qt, once. They cost nothing while no screen reader runs."""
    QAccessible.installFactory(_make)
