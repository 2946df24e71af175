"""The dialogs of Help: about the program, and keyboard shortcuts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from judgenet.engine.versions import licences, versions
from judgenet.store.recovery import log_file
from judgenet.ui import texts
from judgenet.ui.actions import Action
from judgenet.ui.context import Context
from judgenet.ui.elements import field, label
from judgenet.ui.measures import measure
from judgenet.ui.theme import dress
from judgenet.ui.widgets import set_kind

_WIDE: Final = 640
_HIGH: Final = 620
_AREAS: Final = {
    "project": texts.PROJECT,
    "edit": texts.EDIT,
    "data": texts.DATA,
    "labels": texts.LABELS,
    "run": texts.RUN,
    "models": texts.RUN,
    "experiments": texts.RUN,
    "results": texts.RESULTS,
    "report": texts.REPORT,
    "bias": texts.BIAS,
    "neuron": texts.DESIGN,
    "layer": texts.DESIGN,
    "chair": texts.DESIGN,
    "network": texts.DESIGN,
    "templates": texts.DESIGN,
    "canvas": texts.DESIGN,
    "design": texts.DESIGN,
    "page": texts.WINDOW,
    "palette": texts.WINDOW,
    "view": texts.WINDOW,
    "theme": texts.WINDOW,
    "endpoints": texts.WINDOW,
    "help": texts.WINDOW,
    "app": texts.WINDOW,
}
"""The part of the sheet by the area of an action's id."""
_ORDER: Final = (
    texts.WINDOW,
    texts.PROJECT,
    texts.EDIT,
    texts.DESIGN,
    texts.DATA,
    texts.LABELS,
    texts.RUN,
    texts.RESULTS,
    texts.BIAS,
    texts.REPORT,
)
_PAGE_KEYS: Final = (
    (texts.DESIGN, texts.ARROW_KEYS, texts.ARROW_KEYS_DO),
    (texts.DESIGN, texts.ENTER, texts.ENTER_OPENS_THE_NEURON),
    (texts.DESIGN, texts.CONTROL_PLUS_MINUS, texts.CONTROL_PLUS_MINUS_DO),
    (texts.DESIGN, texts.ALT_UP_DOWN, texts.ALT_UP_DOWN_DO),
    (texts.DESIGN, texts.DELETE, texts.DELETE_DOES),
    (texts.DATA, texts.ENTER, texts.ENTER_READS_THE_PAIR),
    (texts.LABELS, texts.LETTER_KEYS, texts.LETTER_KEYS_DO),
)
"""Keys of single pages that are no actions: where, the keys, what they do."""


class _Sheet(QDialog):
    """A dialog with a scrolled grid of texts, and buttons below it."""

    def __init__(self, context: Context, parent: QWidget, title: str) -> None:
        super().__init__(parent)
        self._context = context
        self._over = parent
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        inner = QWidget()
        self.grid = QGridLayout(inner)
        self.grid.setColumnStretch(self._wide_column, 1)
        self.area = QScrollArea()
        self.area.setWidget(inner)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setAccessibleName(title)
        self.leave = QPushButton(texts.CLOSE)
        self.leave.setDefault(True)
        self.leave.clicked.connect(self.accept)
        self.buttons = QHBoxLayout()
        self.buttons.addStretch(1)
        self.buttons.addWidget(self.leave)
        self.column = QVBoxLayout(self)
        self.column.addWidget(self.area, stretch=1)
        self.column.addLayout(self.buttons)
        measure(self.column, margins=(24, 20, 24, 16), spacing=12)
        measure(self.grid, across=24, down=6)

    _wide_column = 1

    def show_for(self) -> None:
        """Opens the dialog in the present look."""
        theme = self._context.theme.theme
        self.fill()
        room = theme.px(32)
        self.resize(min(theme.px(_WIDE), self._over.width() - room), min(theme.px(_HIGH), self._over.height() - room))
        dress(self)
        self.leave.setFocus()
        self.open()

    def fill(self) -> None:
        """Puts the texts in place."""
        raise NotImplementedError

    def clear(self) -> None:
        """Takes all texts out of the grid."""
        while (item := self.grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()


class AboutDialog(_Sheet):
    """Version, licences, and where the log file is."""

    _wide_column = 2

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(context, parent, texts.ABOUT)
        self.title = label("", "page")
        self.text = label(
            texts.WHAT_JUDGENET_IS,
            wrap=True,
        )
        self.system = label("", tone="text2", wrap=True)
        self.log = label("", tone="text2", wrap=True)
        for text in (self.system, self.log):
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.show_log = QPushButton(texts.SHOW_LOG_FILE)
        self.show_log.clicked.connect(self._show_log)
        self.buttons.insertWidget(0, self.show_log)
        heads = (self.title, self.text, self.system, self.log, label(texts.LICENCES_OF_THE_PARTS, "section"))
        for place, widget in enumerate(heads):
            self.column.insertWidget(place, widget)

    def fill(self) -> None:
        installed = versions()
        self.title.setText(texts.studio_version(installed["judgenet"]))
        self.system.setText(texts.python_and_system(installed["python"], installed["system"]))
        logged = log_file().exists()
        # A path may break after each of its parts.
        path = str(log_file()).replace(os.sep, f"{os.sep}\u200b")
        self.log.setText(texts.log_file(path) + ("" if logged else texts.NOTHING_LOGGED_YET))
        self.show_log.setEnabled(logged)
        self.clear()
        parts = [
            *licences(),
            (texts.INTER, "", texts.OPEN_FONT_LICENCE),
            (texts.JETBRAINS_MONO, "", texts.OPEN_FONT_LICENCE),
        ]
        for row, (name, version, licence) in enumerate(parts):
            self.grid.addWidget(label(name), row, 0)
            self.grid.addWidget(label(version, tone="text2"), row, 1)
            self.grid.addWidget(label(licence or texts.IN_THE_PACKAGE, tone="text2", wrap=True), row, 2)
        self.grid.setRowStretch(len(parts), 1)

    def _show_log(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_file())))


class KeysDialog(_Sheet):
    """All shortcuts, from the table of actions, to be searched."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(context, parent, texts.KEYBOARD_SHORTCUTS)
        self.search: QLineEdit = field(texts.SEARCH_THE_SHORTCUTS, texts.SEARCH)
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._search)
        set_kind(self.leave, "flat")
        self.column.insertWidget(0, self.search)

    def show_for(self) -> None:
        self.search.clear()
        super().show_for()
        self.search.setFocus()

    def _search(self) -> None:
        self.fill()

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """Part of the window, keys and what they do; actions first."""
        for action in self._context.actions:
            if action.keys:
                yield _AREAS[action.id.partition(".")[0]], _keys_words(action), action.text.removesuffix("…")
        yield from _PAGE_KEYS

    def fill(self) -> None:
        self.clear()
        wanted = self.search.text().casefold().split()
        rows = [line for line in self.lines() if all(word in " ".join(line).casefold() for word in wanted)]
        row = 0
        for area in _ORDER:
            of_area = [line for line in rows if line[0] == area]
            if not of_area:
                continue
            self.grid.addWidget(label(area, "section"), row, 0, 1, 2)
            row += 1
            for _, keys, text in of_area:
                self.grid.addWidget(label(keys, "mono"), row, 0)
                self.grid.addWidget(label(text, wrap=True), row, 1)
                row += 1
        if not rows:
            self.grid.addWidget(label(texts.NO_SHORTCUT_MATCHES, tone="text2"), 0, 0, 1, 2)
        for place in range(self.grid.rowCount()):
            self.grid.setRowStretch(place, 0)
        self.grid.setRowStretch(row + 1, 1)


def _keys_words(action: Action) -> str:
    """The shortcuts of an action as they stand on the keys: "F5 / Ctrl+R"."""
    return " / ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.keys)
