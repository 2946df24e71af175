"""The table of all actions: menus, buttons, shortcuts and the command palette are made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QToolButton, QWidget

from judgenet.ui import texts
from judgenet.ui.action_texts import ACTION_TEXTS, Menu
from judgenet.ui.icons import icon

Enabled = Callable[[], "bool | str"]
"""``True``, or why not: ``False`` or the reason in words, which becomes the tool tip."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something the user can do.

    ``id`` is ``area.verb``. ``text`` is what menus and palette show, in sentence case; with ``…`` where more is asked.
    ``key`` holds shortcuts in Qt's portable form, several apart by ``"; "``. ``words`` are further words by which the
    palette finds it. ``checked`` makes it a switch. ``scope`` limits its shortcuts to a widget and its children.
    """

    id: str
    text: str
    callback: Callable[[], object]
    key: str = ""
    icon: str = ""
    enabled: Enabled | None = None
    checked: Callable[[], bool] | None = None
    menu: Menu = ""
    words: str = ""
    scope: QWidget | None = None

    @property
    def keys(self) -> list[QKeySequence]:
        return QKeySequence.listFromString(self.key, QKeySequence.SequenceFormat.PortableText) if self.key else []


def known_action(
    action_id: str,
    callback: Callable[[], object],
    enabled: Enabled | None = None,
    checked: Callable[[], bool] | None = None,
    *,
    scope: QWidget | None = None,
) -> Action:
    """An action with the words of :data:`~judgenet.ui.action_texts.ACTION_TEXTS`. Raises ``KeyError`` where there are
    none."""
    shown = ACTION_TEXTS[action_id]
    return Action(
        action_id, shown.text, callback, shown.key, shown.icon, enabled, checked, shown.menu, shown.words, scope
    )


class ActionTable(QObject):
    """All actions by id. Pages add theirs when they are made.

    Signals:
        changed: actions came or went.
        refreshed: the states (enabled, checked) were updated.
    """

    changed = Signal()
    refreshed = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.refresh)
        self._actions: dict[str, Action] = {}
        self._qactions: dict[str, QAction] = {}

    def add(self, *actions: Action) -> None:
        """Adds actions; one with an id that is there replaces it.

        :raises ValueError: a shortcut is taken already within the same scope.
        """
        for action in actions:
            self._refuse_double_key(action)
            self._actions[action.id] = action
            qaction = self._qactions.get(action.id)
            if qaction is not None:
                (self._scope_of(qaction) or self._window).removeAction(qaction)
            self._qactions[action.id] = self._make(action)
        self.refresh_soon()
        self.changed.emit()

    def remove(self, *action_ids: str) -> None:
        """Removes actions; unknown ids are ignored."""
        ids = [action_id for action_id in action_ids if action_id in self._actions]
        for action_id in ids:
            qaction = self._qactions.pop(action_id)
            (self._scope_of(qaction) or self._window).removeAction(qaction)
            del self._actions[action_id]
            qaction.deleteLater()
        if ids:
            self.changed.emit()

    def _refuse_double_key(self, action: Action) -> None:
        for other in self._actions.values():
            if other.id != action.id and other.scope is action.scope:
                for key in action.keys:
                    if key in other.keys:
                        raise ValueError(texts.shortcut_of_two(key.toString(), other.id, action.id))

    def _make(self, action: Action) -> QAction:
        qaction = QAction(_without_mnemonic(action.text), self)
        qaction.setObjectName(action.id)
        if action.icon:
            qaction.setIcon(icon(action.icon))
        qaction.setShortcuts(action.keys)
        qaction.setCheckable(action.checked is not None)
        qaction.triggered.connect(self._triggered)
        if action.scope is not None:
            qaction.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        (action.scope or self._window).addAction(qaction)
        return qaction

    def _scope_of(self, qaction: QAction) -> QWidget | None:
        return self._actions[qaction.objectName()].scope

    def _triggered(self) -> None:
        qaction = self.sender()
        if isinstance(qaction, QAction):
            self.trigger(qaction.objectName())

    def __getitem__(self, action_id: str) -> Action:
        return self._actions[action_id]

    def __contains__(self, action_id: object) -> bool:
        return action_id in self._actions

    def __iter__(self) -> Iterator[Action]:
        return iter(self._actions.values())

    def qaction(self, action_id: str) -> QAction:
        """The Qt action, for menus and tool buttons; its state follows :meth:`refresh`."""
        return self._qactions[action_id]

    def why_not(self, action_id: str) -> str | None:
        """``None`` where an action is possible now, else why it is not (may be empty)."""
        action = self._actions[action_id]
        state = True if action.enabled is None else action.enabled()
        if state is True:
            return None
        return state if isinstance(state, str) else ""

    def trigger(self, action_id: str) -> None:
        """Triggers an action if it is possible now."""
        if self.why_not(action_id) is None:
            self._actions[action_id].callback()
        self.refresh()

    def refresh_soon(self) -> None:
        """Refreshes once the current events have been handled."""
        if not self._timer.isActive():
            self._timer.start(0)

    def refresh(self) -> None:
        """Updates which actions are possible and which switches are on."""
        self._timer.stop()
        for action_id, action in self._actions.items():
            qaction = self._qactions[action_id]
            why = self.why_not(action_id)
            qaction.setEnabled(why is None)
            qaction.setToolTip(self.tip(action_id))
            if action.checked is not None:
                qaction.setChecked(action.checked())
        self.refreshed.emit()

    def tip(self, action_id: str) -> str:
        """Text, shortcut, and why it is not possible now."""
        action = self._actions[action_id]
        keys = action.keys
        text = action.text.removesuffix("…")
        if keys:
            text += f" ({keys[0].toString(QKeySequence.SequenceFormat.NativeText)})"
        return f"{text}\n{why}" if (why := self.why_not(action_id)) else text

    def set_text(self, action_id: str, text: str) -> None:
        """Gives an action another text ("Undo add a layer")."""
        self._actions[action_id] = replace(self._actions[action_id], text=text)
        self._qactions[action_id].setText(_without_mnemonic(text))
        self.refresh_soon()

    def attach(self, button: QAbstractButton, action_id: str) -> None:
        """Makes a button do an action and follow its state; text and icon of the button stay its own."""
        qaction = self._qactions[action_id]
        if isinstance(button, QToolButton):
            button.setDefaultAction(qaction)
        else:
            button.clicked.connect(qaction.trigger)
            qaction.enabledChanged.connect(button.setEnabled)
            button.setEnabled(qaction.isEnabled())
        button.setAccessibleName(self._actions[action_id].text.removesuffix("…"))


def _without_mnemonic(text: str) -> str:
    """A text in which Qt takes no "&" for the mark of an access key: names of projects may hold one."""
    return text.replace("&", "&&")
