"""The dock below the canvas: pairs, grid and charts side by side, or in tabs where room is short."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from judgenet.ui.context import Context
from judgenet.ui.elements import line, upright
from judgenet.ui.measures import measure
from judgenet.ui.run import texts
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.grid_pane import GridPane
from judgenet.ui.run.pair_list import PairsPane
from judgenet.ui.run.plots import FIGURES, SPEEDS, ChartPane, SpeedPane

SHARES: Final = (298, 258, 294)
"""The shares of the width of the three panes side by side."""


class RunDock(QFrame):
    """All pairs of the run.

    Signals:
        pair_chosen: the index of a pair, from 0.
        call_opened: the pair from 0, layer and neuron from 1 of a cell.
        call_wanted: the :class:`CallSite` of a call to show.
    """

    pair_chosen = Signal(int)
    call_opened = Signal(int, int, int)
    call_wanted = Signal(object)

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setProperty("part", "surface")
        self.setAccessibleName(texts.ALL_PAIRS)
        self.pairs = PairsPane(context)
        self.grid = GridPane(context, focus)
        self.chart = ChartPane(context, focus, (*FIGURES, *SPEEDS))
        self.speed = SpeedPane(context, focus)
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(texts.VIEW_OF_ALL_PAIRS)
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        for text in (texts.PAIRS_AND_ACCURACY, texts.SCORE_DIFFERENCE, texts.SPEED_AND_PRICE):
            self.tabs.addTab(text)
        self._tab_line = line()
        self._stack = QStackedWidget()
        self._first = QWidget()
        self._first_row = QHBoxLayout(self._first)
        self._second = QWidget()
        self._second_row = QHBoxLayout(self._second)
        for row in (self._first_row, self._second_row):
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(0)
        self._between = [upright(), upright()]
        for page in (self._first, self._second, self.speed):
            self._stack.addWidget(page)
        self.tabs.currentChanged.connect(self._stack.setCurrentIndex)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._tab_row = QHBoxLayout()
        self._tab_row.addWidget(self.tabs)
        column.addLayout(self._tab_row)
        column.addWidget(self._tab_line)
        column.addWidget(self._stack, stretch=1)
        self.pairs.pair_chosen.connect(self.pair_chosen)
        self.grid.call_opened.connect(self.call_opened)
        self.chart.call_wanted.connect(self.call_wanted)
        self.speed.call_wanted.connect(self.call_wanted)
        self._narrow: bool | None = None
        self.set_narrow(False)
        measure(self._tab_row, margins=(6, 0, 0, 0))
        # No pane may force the window to be wider.
        for pane in (self.pairs, self.grid, self.chart, self.speed, *self.speed.panes):
            measure(pane, min_width=150)

    def set_narrow(self, narrow: bool) -> None:
        """Puts the panes into tabs (``narrow``), or side by side."""
        if narrow == self._narrow:
            return
        self._narrow = narrow
        for widget in (self.pairs, self.grid, self.chart, *self._between):
            for row in (self._first_row, self._second_row):
                row.removeWidget(widget)
        if narrow:
            shown: tuple[QWidget, ...] = (self.pairs, self._between[0], self.chart)
            self._second_row.addWidget(self.grid)
        else:
            shown = (self.pairs, self._between[0], self.grid, self._between[1], self.chart)
            self.tabs.setCurrentIndex(0)
        panes: tuple[QWidget, ...] = (self.pairs, self.grid, self.chart)
        shares = dict(zip(panes, SHARES, strict=True))
        for part in shown:
            self._first_row.addWidget(part, shares.get(part, 0))
            part.show()
        self.chart.set_narrow(narrow)
        self.grid.set_narrow(narrow)
        self._between[1].setVisible(not narrow)
        self.tabs.setVisible(narrow)
        self._tab_line.setVisible(narrow)

    def show_tab(self, place: int) -> None:
        """Shows a tab of the narrow dock, by its place from 0."""
        self.tabs.setCurrentIndex(place)
