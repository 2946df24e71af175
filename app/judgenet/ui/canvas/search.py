"""Find a neuron by typing: a small window over the canvas."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from judgenet.core.wording import of
from judgenet.ui.canvas import texts
from judgenet.ui.canvas.model import NetworkState, Part, Place, Target
from judgenet.ui.theme import Theme

LIMIT: Final = 100
"""So many matches are listed; typing on narrows them down."""

PARTS: Final[dict[Part, str]] = {
    "pair": texts.PAIR,
    "roles": texts.ROLES,
    "vote": texts.VOTE,
    "chair": texts.CHAIR,
    "verdict": texts.VERDICT,
}


def search(network: NetworkState, text: str) -> list[tuple[str, str, Target]]:
    """The nodes whose name, place or model holds every word: (name, place, target), best first."""
    words = text.casefold().split()
    hits: list[tuple[int, str, str, Target]] = []
    for number, layer in enumerate(network.layers):
        where = network.title(number)
        for neuron, state in enumerate(layer.neurons):
            name = state.role or texts.NO_ROLE
            place = texts.place_of_neuron(where, neuron + 1)
            text_of = f"{name} {place} {state.model}".casefold()
            if all(word in text_of for word in words):
                starts = not words or name.casefold().startswith(words[0])
                hits.append((0 if starts else 1, name, place, Place(number, neuron)))
    for part, name in PARTS.items():
        present = {"roles": network.roles is not None, "chair": network.chair is not None}.get(part, True)
        if present and words and all(word in name.casefold() for word in words):
            hits.append((0, name, "", part))
    hits.sort(key=lambda row: row[0])
    return [(name, place, target) for _, name, place, target in hits]


class SearchPopup(QFrame):
    """A field and the nodes that match it. Enter goes to the marked one, Escape closes.

    Signals:
        chosen: the :data:`Target`.
        closed: without a choice.
    """

    chosen = Signal(object)
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setProperty("part", "popup")
        self.setAccessibleName(texts.FIND_A_NEURON)
        self._network: NetworkState | None = None
        self._field = QLineEdit(self)
        self._field.setPlaceholderText(texts.FIND_BY_ROLE_LAYER_OR_MODEL)
        self._field.setAccessibleName(texts.FIND_A_NEURON)
        self._list = QListWidget(self)
        self._list.setAccessibleName(texts.NEURONS_FOUND)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._count = QLabel(self)
        self._count.setProperty("tone", "text3")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 8)
        column.setSpacing(8)
        for widget in (self._field, self._list, self._count):
            column.addWidget(widget)
        self._field.textChanged.connect(self._filter)
        self._field.installEventFilter(self)
        self._list.itemClicked.connect(self._take)
        self.hide()

    def open(self, network: NetworkState, theme: Theme) -> None:
        """Shows the popup over its parent and takes the focus."""
        self._network = network
        parent = self._over
        self.resize(min(theme.px(360), parent.width() - 32), min(theme.px(320), parent.height() - 32))
        self.move((parent.width() - self.width()) // 2, min(theme.px(48), (parent.height() - self.height()) // 2))
        self._field.clear()
        self._filter("")
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.PopupFocusReason)

    def _filter(self, text: str) -> None:
        if self._network is None:
            return
        hits = search(self._network, text)
        self._list.clear()
        for name, place, target in hits[:LIMIT]:
            item = QListWidgetItem(f"{name}    {place}" if place else name)
            item.setData(Qt.ItemDataRole.UserRole, target)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{name}, {place}" if place else name)
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        shown = min(LIMIT, len(hits))
        self._count.setText(of(shown, len(hits)) if hits else texts.NOTHING_FOUND)

    def _take(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        self.hide()
        self.chosen.emit(item.data(Qt.ItemDataRole.UserRole))

    def close_popup(self) -> None:
        """Hides the popup without a choice."""
        self.hide()
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._field and event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.hide()
        if watched is not self._field or not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.close_popup()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take(self._list.currentItem())
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            step = 1 if key in (Qt.Key.Key_Down, Qt.Key.Key_Tab) else -1
            count = self._list.count()
            if count:
                self._list.setCurrentRow((self._list.currentRow() + step) % count)
        else:
            return super().eventFilter(watched, event)
        return True
