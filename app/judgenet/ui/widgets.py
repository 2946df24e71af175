"""Small parts that Qt lacks: a segment of exclusive choices, and the chip that names A, B or a tie."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from judgenet.core.pairs import Verdict
from judgenet.ui import texts
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.paint import draw_chip, draw_people
from judgenet.ui.theme import current_theme


def set_kind(widget: QWidget, kind: str) -> None:
    """Sets the property ``kind`` that the style sheet reads (``primary``, ``flat``, ``link``, ``bare``, …)."""
    widget.setProperty("kind", kind)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def _place_word(place: int, count: int) -> str:
    """Where a button stands in a row of joined buttons, as the style sheet calls it."""
    return "only" if count == 1 else "first" if place == 0 else "last" if place == count - 1 else "mid"


def _set_segment(button: QAbstractButton, where: str) -> None:
    if button.property("segment") != where:
        button.setProperty("segment", where)
        button.style().unpolish(button)
        button.style().polish(button)


class Segment(QWidget):
    """Two to four exclusive choices side by side; the arrow keys move between them.

    Signals:
        chosen: the key of the choice that the user made.
    """

    chosen = Signal(str)

    def __init__(self, name: str, choices: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        """``name`` is the accessible name; ``choices`` are (key, text)."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)
        self._keys = [key for key, _ in choices]
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for place, (_key, text) in enumerate(choices):
            button = QToolButton(self)
            button.setText(text)
            button.setCheckable(True)
            button.setAccessibleName(f"{name}: {text}")
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            button.installEventFilter(self)
            button.setProperty("segment", _place_word(place, len(choices)))
            self._group.addButton(button, place)
            button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            row.addWidget(button)
        self._group.setExclusive(True)
        self._group.idClicked.connect(self._click)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.set_current(self._keys[0])

    @property
    def current(self) -> str:
        """The key of the choice that is set."""
        return self._keys[self._group.checkedId()]

    def set_current(self, key: str) -> None:
        """Sets a choice without a signal."""
        self.button(key).setChecked(True)

    def clear(self) -> None:
        """Sets no choice: it is still to be made."""
        self._group.setExclusive(False)
        for button in self._group.buttons():
            button.setChecked(False)
        self._group.setExclusive(True)

    def show_only(self, keys: Collection[str]) -> None:
        """Shows these choices alone."""
        shown = [key for key in self._keys if key in keys]
        for key in self._keys:
            button = self.button(key)
            button.setVisible(key in shown)
            if key in shown:
                _set_segment(button, _place_word(shown.index(key), len(shown)))

    def button(self, key: str) -> QAbstractButton:
        """The button of a choice."""
        return self._group.button(self._keys.index(key))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress or event.key() not in steps:
            return super().eventFilter(watched, event)
        step = steps[Qt.Key(event.key())]
        place = self._group.checkedId() + step
        while 0 <= place < len(self._keys) and self._group.button(place).isHidden():
            place += step
        if 0 <= place < len(self._keys):
            button = self._group.button(place)
            button.setFocus(Qt.FocusReason.TabFocusReason)
            button.click()
        return True

    def _click(self, place: int) -> None:
        self.chosen.emit(self._keys[place])


class Chip(QWidget):
    """A, B or = in the colour of its side; a dashed dash for what is unscored; nothing for ``None``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._verdict: Verdict | None = None
        self._unscored = self._people = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_verdict(self, verdict: Verdict | None, *, unscored: bool = False, people: bool = False) -> None:
        """Sets what the chip says; ``people`` says that the verdict is left to people."""
        self._verdict = verdict
        self._unscored = unscored
        self._people = people and verdict is None
        nothing = texts.FOR_PEOPLE if people else texts.UNSCORED if unscored else texts.NO_VERDICT
        words = {"a": texts.A, "b": texts.B, "tie": texts.TIE, None: nothing}
        self.setAccessibleName(words[verdict])
        self.setToolTip(words[verdict])
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(24), current_theme().px(20))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = Ink.of(current_theme())
        painter.scale(ink.scale, ink.scale)
        if self._people:
            draw_people(painter, ink, QRectF(0, 0, 24, 20))
        elif self._verdict is not None or self._unscored:
            draw_chip(painter, ink, QRectF(0, 0, 24, 20), self._verdict)
