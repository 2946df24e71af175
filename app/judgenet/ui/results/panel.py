"""Panels, and the rows in which a page shows them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLayout, QSizePolicy, QVBoxLayout, QWidget

from judgenet.ui.elements import label
from judgenet.ui.measures import Gap, measure
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import PAGE_MARGIN, PANEL_GAP, PANEL_HEADER, PANEL_INSIDE, TABLE_EDGE


class Panel(QFrame):
    """A surface with a title at the left, a fact at the right of it, and a body."""

    def __init__(self, title: str, *, flush: bool = False, parent: QWidget | None = None) -> None:
        """``flush`` lets the body reach the sides, as tables need; the title then aligns with their first column."""
        super().__init__(parent)
        self.setProperty("part", "panel")
        self.setAccessibleName(title)
        self.title = label(title, "section")
        self.fact = label("", tone="text2")
        self.fact.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.head = QHBoxLayout()
        self.head.addWidget(self.title)
        self.head.addStretch(1)
        self.head.addWidget(self.fact)
        self.body = QVBoxLayout()
        column = QVBoxLayout(self)
        column.setSpacing(0)
        column.addLayout(self.head)
        column.addLayout(self.body, stretch=1)
        measure(self.head, spacing=12)
        measure(self.body, spacing=12)
        measure(self.title, min_height=PANEL_HEADER)
        measure(self.fact, font="body", tabular=True)
        inside = Gap(PANEL_INSIDE)
        side, edge = (0, TABLE_EDGE) if flush else (inside, inside)
        measure(column, margins=(1, 1, 1, 4 if flush else inside))
        measure(self.head, margins=(edge, 0, edge, 0))
        measure(self.body, margins=(side, 0, side, 0))

    def say(self, fact: str) -> None:
        """Sets the fact beside the title."""
        self.fact.setText(fact)


class Rows(QWidget):
    """Rows of panels: side by side by their weights, or below each other where the page is narrow."""

    def __init__(self, narrow: int, parent: QWidget | None = None) -> None:
        """``narrow`` is the width in px at 100 % below which there is one panel a row."""
        super().__init__(parent)
        self._narrow = narrow
        self._rows: list[QBoxLayout] = []
        self._column = QVBoxLayout(self)
        measure(self._column, spacing=Gap(PANEL_GAP), margins=Gap(PAGE_MARGIN))

    def add(self, *panels: QWidget, weights: Sequence[int] = ()) -> None:
        """Adds a row of panels."""
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.setContentsMargins(0, 0, 0, 0)
        for place, panel in enumerate(panels):
            row.addWidget(panel, weights[place] if weights else 1)
        self._rows.append(row)
        self._column.addLayout(row)
        measure(row, spacing=Gap(PANEL_GAP))
        self._turn()

    def add_stretch(self) -> None:
        """Leaves the remaining room free at the end."""
        self._column.addStretch(1)

    @property
    def is_narrow(self) -> bool:
        """Whether panels stand below each other."""
        return self.width() < current_theme().px(self._narrow)

    def _turn(self) -> None:
        for row in self._rows:
            stack(row, self.is_narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn()


def stack(row: QBoxLayout, narrow: bool) -> bool:
    """Puts the parts of a row below each other where it is ``narrow``, else side by side; tells whether that changed
    anything."""
    direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
    if row.direction() == direction:
        return False
    row.setDirection(direction)
    return True


class Big(QWidget):
    """A figure in large letters with its words below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figure = label("", "title")
        self.words = label("", tone="text2", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.figure)
        column.addWidget(self.words)
        column.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        measure(self.figure, font="title", tabular=True)
        measure(self.words, font="body", tabular=True)

    def say(self, figure: str, words: str) -> None:
        """Shows a figure."""
        self.figure.setText(figure)
        self.words.setText(words)
        self.setAccessibleName(f"{figure} {words}")


def clear_layout(layout: QLayout) -> None:
    """Takes everything out of a layout and deletes its widgets."""
    while layout.count():
        item = layout.takeAt(0)
        widget = item.widget() if item is not None else None
        if widget is not None:
            widget.hide()
            widget.deleteLater()
