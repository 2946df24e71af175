"""Help of the window: what program this is, and which keys do what."""

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
from judgenet.ui.actions import Action
from judgenet.ui.context import Context
from judgenet.ui.elements import field, label
from judgenet.ui.measures import measure
from judgenet.ui.theme import dress
from judgenet.ui.widgets import set_kind

_WIDE: Final = 640
_HIGH: Final = 620
_AREAS: Final = {
    "project": "Project",
    "edit": "Edit",
    "data": "Data",
    "labels": "Labels",
    "run": "Run",
    "models": "Run",
    "experiments": "Run",
    "results": "Results",
    "report": "Report",
    "bias": "Bias",
    "neuron": "Design",
    "layer": "Design",
    "chair": "Design",
    "network": "Design",
    "templates": "Design",
    "canvas": "Design",
    "design": "Design",
    "page": "Window",
    "palette": "Window",
    "view": "Window",
    "theme": "Window",
    "endpoints": "Window",
    "help": "Window",
    "app": "Window",
}
"""The part of the sheet by the area of an action's id."""
_ORDER: Final = ("Window", "Project", "Edit", "Design", "Data", "Labels", "Run", "Results", "Bias", "Report")
_PAGE_KEYS: Final = (
    ("Design", "Arrow keys", "Go from neuron to neuron; with Shift, extend the selection"),
    ("Design", "Enter", "Open the neuron in the inspector"),
    ("Design", "Ctrl++ / Ctrl+-", "One neuron more or fewer in the layer"),
    ("Design", "Alt+Up / Alt+Down", "Move the neuron within its layer"),
    ("Design", "Delete", "Remove the selected neurons or the edge"),
    ("Data", "Enter", "Read the pair"),
    ("Labels", "A / T / B", "Response A is better, a tie, response B is better"),
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
        self.leave = QPushButton("Close")
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
        super().__init__(context, parent, "About JudgeNet Studio")
        self.title = label("", "page")
        self.text = label(
            "Networks of judges for pairs of responses. JudgeNet is free software under the Apache License 2.0.",
            wrap=True,
        )
        self.system = label("", tone="text2", wrap=True)
        self.log = label("", tone="text2", wrap=True)
        for text in (self.system, self.log):
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.show_log = QPushButton("Show log file")
        self.show_log.clicked.connect(self._show_log)
        self.buttons.insertWidget(0, self.show_log)
        heads = (self.title, self.text, self.system, self.log, label("Licences of the parts", "section"))
        for place, widget in enumerate(heads):
            self.column.insertWidget(place, widget)

    def fill(self) -> None:
        known = versions()
        self.title.setText(f"JudgeNet Studio {known['judgenet']}")
        self.system.setText(f"Python {known['python']}, {known['system']}")
        there = log_file().exists()
        # A path may break after each of its parts.
        path = str(log_file()).replace(os.sep, f"{os.sep}\u200b")
        self.log.setText(f"Log file: {path}" + ("" if there else " (nothing was logged yet)"))
        self.show_log.setEnabled(there)
        self.clear()
        parts = [*licences(), ("Inter (font)", "", "OFL-1.1"), ("JetBrains Mono (font)", "", "OFL-1.1")]
        for row, (name, version, licence) in enumerate(parts):
            self.grid.addWidget(label(name), row, 0)
            self.grid.addWidget(label(version, tone="text2"), row, 1)
            self.grid.addWidget(label(licence or "in the package", tone="text2", wrap=True), row, 2)
        self.grid.setRowStretch(len(parts), 1)

    def _show_log(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_file())))


class KeysDialog(_Sheet):
    """All shortcuts, from the table of actions, to be searched."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(context, parent, "Keyboard shortcuts")
        self.search: QLineEdit = field("Search the shortcuts", "Search")
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
            self.grid.addWidget(label("No shortcut has these words.", tone="text2"), 0, 0, 1, 2)
        for place in range(self.grid.rowCount()):
            self.grid.setRowStretch(place, 0)
        self.grid.setRowStretch(row + 1, 1)


def _keys_words(action: Action) -> str:
    """The shortcuts of an action as they stand on the keys: "F5 / Ctrl+R"."""
    return " / ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.keys)
