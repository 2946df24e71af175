"""The command palette: finds actions by typing, and acts on special entries such as ``4x2``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QIcon, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from judgenet.ui import texts
from judgenet.ui.actions import Action, ActionTable
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.theme import current_theme

MOST: Final = 60

ActionSearch = Callable[[str], Sequence[Action]]
"""Actions that a typed text means by itself."""

_ACTION: Final = Qt.ItemDataRole.UserRole
_WHY: Final = Qt.ItemDataRole.UserRole + 1


def rank(text: str, typed: str) -> int | None:
    """How well ``typed`` fits ``text``, less is better; ``None`` where it does not.

    Every word typed must begin a word of the text or stand within it; else its letters must come in order.
    """
    text, typed = text.casefold(), typed.casefold().strip()
    if not typed:
        return 0
    words = text.split()
    total = 0
    for part in typed.split():
        if any(word.startswith(part) for word in words):
            total += 0 if words[0].startswith(part) else 1
        elif part in text:
            total += 3
        else:
            break
    else:
        return total
    at = -1
    for letter in typed.replace(" ", ""):
        at = text.find(letter, at + 1)
        if at < 0:
            return None
    return 10


class _Row(QStyledItemDelegate):
    """A row: icon, text, where it stands, and its key at the right."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(option.rect.width(), current_theme().row)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme = current_theme()
        action: Action = index.data(_ACTION)
        why: str | None = index.data(_WHY)
        box = option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("accentTint"))
        side, gap = theme.px(20), theme.px(12)
        color = "text" if why is None else "text3"
        if action.icon:
            mode = QIcon.Mode.Normal if why is None else QIcon.Mode.Disabled
            icon(action.icon).paint(
                painter,
                QRect(box.x() + gap, box.center().y() - side // 2, side, side),
                Qt.AlignmentFlag.AlignCenter,
                mode,
            )
        keys = action.keys
        key = keys[0].toString(QKeySequence.SequenceFormat.NativeText) if keys else ""
        painter.setFont(theme.font())
        metrics = painter.fontMetrics()
        text_box = box.adjusted(gap * 2 + side, 0, -gap, 0)
        right = key or why or action.menu
        room = text_box.width() - metrics.horizontalAdvance(right) - gap
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(theme.color(color))
        text = metrics.elidedText(action.text, Qt.TextElideMode.ElideRight, max(room, text_box.width() // 2))
        painter.drawText(text_box, middle | Qt.AlignmentFlag.AlignLeft, text)
        painter.setPen(theme.color("text3"))
        left = metrics.horizontalAdvance(text) + gap
        right_box = text_box.adjusted(left, 0, 0, 0)
        painter.drawText(
            right_box,
            middle | Qt.AlignmentFlag.AlignRight,
            metrics.elidedText(right, Qt.TextElideMode.ElideRight, right_box.width()),
        )
        painter.restore()


class Palette(QFrame):
    """A field over the window with a list of matching actions. Enter runs the selected one, Escape closes."""

    def __init__(self, actions: ActionTable, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self._actions = actions
        self._answers: list[ActionSearch] = []
        self._before: QWidget | None = None
        self.setProperty("part", "popup")
        self.setAccessibleName(texts.COMMAND_PALETTE)
        self._field = QLineEdit(self)
        self._field.setPlaceholderText(texts.FIND_OR_DO_WITH_EXAMPLE)
        self._field.setAccessibleName(texts.FIND_OR_DO)
        self._list = QListWidget(self)
        self._list.setAccessibleName(texts.COMMANDS_FOUND)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setUniformItemSizes(True)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._row = _Row(self._list)
        self._list.setItemDelegate(self._row)
        self._none = QLabel(texts.NOTHING_FOUND, self)
        self._none.setProperty("tone", "text3")
        column = QVBoxLayout(self)
        for widget in (self._field, self._list, self._none):
            column.addWidget(widget)
        measure(column, margins=12, spacing=8)
        self._field.textChanged.connect(self._filter)
        self._field.installEventFilter(self)
        parent.installEventFilter(self)
        self._list.itemClicked.connect(self._take)
        self.hide()

    def add_answers(self, answers: ActionSearch) -> None:
        """Adds a function that makes actions from a typed text."""
        self._answers.append(answers)

    def open(self, text: str = "") -> None:
        """Shows the palette over its parent and takes the focus."""
        self._before = self._over.focusWidget()
        self._actions.refresh()
        self._field.setText(text)
        self._filter(text)
        self._place()
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.PopupFocusReason)
        self._field.selectAll()

    def matches(self, text: str) -> list[Action]:
        """The actions that a typed text finds, best first."""
        typed = text.strip()
        answers = [action for answer in self._answers for action in answer(typed)] if typed else []
        ranked = []
        for place, action in enumerate(self._actions):
            worth = rank(f"{action.text} {action.words} {action.menu}", typed)
            if worth is not None:
                ranked.append((worth, self._actions.why_not(action.id) is not None, place, action))
        ranked.sort(key=lambda row: row[:3])
        return [*answers, *(action for *_, action in ranked)][:MOST]

    def _filter(self, text: str) -> None:
        self._list.clear()
        for action in self.matches(text):
            item = QListWidgetItem(action.text)
            item.setData(_ACTION, action)
            why = self._actions.why_not(action.id) if action.id in self._actions else None
            item.setData(_WHY, why)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{action.text}, {why}" if why else action.text)
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        self._none.setVisible(self._list.count() == 0)
        self._fit()

    def _place(self) -> None:
        """In the middle, below the top bar."""
        self.move((self._over.width() - self.width()) // 2, current_theme().px(56))

    def _fit(self) -> None:
        """Makes the palette as high as its list needs."""
        theme = current_theme()
        rows = min(self._list.count(), max(3, (self._over.height() - theme.px(200)) // theme.row), 12)
        self._list.setFixedHeight(rows * theme.row + 2)
        self._list.setVisible(rows > 0)
        self.setFixedWidth(min(theme.px(560), self._over.width() - 32))
        self.adjustSize()

    def _take(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        action: Action = item.data(_ACTION)
        if item.data(_WHY) is not None:
            return
        self.close_palette()
        if action.id in self._actions:
            self._actions.trigger(action.id)
        else:
            action.callback()
            self._actions.refresh()

    def close_palette(self) -> None:
        """Hides the palette; the focus goes back."""
        self.hide()
        before, self._before = self._before, None
        if before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._over and event.type() == QEvent.Type.Resize and self.isVisible():
            self._fit()
            self._place()
        if watched is self._field and event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.hide()
        if watched is not self._field or not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key = event.key()
        count = self._list.count()
        page = max(1, self._list.height() // current_theme().row - 1)
        steps = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Tab: 1,
            Qt.Key.Key_Backtab: -1,
            Qt.Key.Key_PageDown: page,
            Qt.Key.Key_PageUp: -page,
        }
        if key == Qt.Key.Key_Escape:
            self.close_palette()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take(self._list.currentItem())
        elif key in steps:
            if count:
                step = steps[Qt.Key(key)]
                wanted = self._list.currentRow() + step
                self._list.setCurrentRow(wanted % count if abs(step) == 1 else max(0, min(count - 1, wanted)))
        else:
            return super().eventFilter(watched, event)
        return True
