"""Two runs side by side, compared on the pairs that both judged."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from judgenet.core.aggregate import aggregation_title
from judgenet.report.blocks import Line, Strong
from judgenet.report.verdict_index import Turn
from judgenet.report.words import p_value, plural, points
from judgenet.ui.parts import link
from judgenet.ui.results.figures_table import Column, FiguresTable, Row
from judgenet.ui.results.line_label import LineLabel
from judgenet.ui.results.panel import Panel
from judgenet.ui.results.state import Beside, Results
from judgenet.ui.theme import Theme


class ComparePanel(Panel):
    """The figures of two runs, and on which pairs only one of them is right.

    Signals:
        pairs_wanted: indexes of pairs of the run in focus, and in words which they are.
        closed: the other run is to be put away.
    """

    pairs_wanted = Signal(object, str)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.table = FiguresTable(
            "Two runs",
            (
                Column("Run", "name"),
                Column("", "place"),
                Column("Accuracy, %", "accuracy"),
                Column("Macro-F1", "macro_f1"),
                Column("Kappa", "kappa"),
                Column("n used", "used"),
            ),
            theme,
        )
        self.line = LineLabel(theme)
        self.close_link = link("Put it away", "Put the other run away")
        super().__init__("Two runs", theme, flush=True, parent=parent)
        self.head.addWidget(self.close_link)
        self._turns: tuple[Turn, ...] = ("right", "wrong", "all")
        self.links: dict[Turn, QPushButton] = {turn: link("") for turn in self._turns}
        self._grid = QGridLayout()
        self._grid.setColumnStretch(3, 1)
        for turn in self._turns:
            column = self._turns.index(turn)
            self._grid.addWidget(self.links[turn], 0, column)
            self.links[turn].clicked.connect(self._clicked)
        self._inner = QGridLayout()
        self._inner.addWidget(self.line, 0, 0)
        self._inner.addLayout(self._grid, 1, 0)
        self.body.addWidget(self.table)
        self.body.addLayout(self._inner)
        self.close_link.clicked.connect(self.closed)
        self._beside: Beside | None = None
        self._words: dict[Turn, str] = {}
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self.body.setSpacing(0)
        self.table.set_theme(theme)
        self.line.set_theme(theme)
        side = theme.px(16)
        self._inner.setContentsMargins(side, theme.px(10), side, theme.px(10))
        self._inner.setSpacing(theme.px(8))
        self._grid.setHorizontalSpacing(theme.px(24))

    def show_both(self, mine: Results, beside: Beside) -> None:
        """Shows the run in focus and the one beside it."""
        self._beside = beside
        other = beside.other
        one, two = f"Run {mine.run.number}", f"Run {other.run.number}"
        self.title.setText(f"{one} beside {two.lower()}")
        rows = [
            Row(
                f"{name}, {aggregation_title(of.report.decides)}, {of.report.spec.name}",
                of.report.headline,
                subject=of is mine,
            )
            for name, of in ((one, mine), (two, other))
        ]
        self.table.show_rows(rows)
        found = beside.comparison.overturns
        line: Line
        if not beside.common:
            line = ("The two runs have no pair in common: their figures are about different pairs.",)
        elif found.gain is None:
            line = (f"On the {plural(beside.common, 'pair')} that both have: {found.reasons.get('gain', '')}.",)
        else:
            line = (
                Strong(f"{points(found.gain)} for {one.lower()} "),
                f"on the {plural(found.n_labelled, 'labelled pair')} that both judged, of "
                f"{plural(beside.common, 'pair')} in common (exact sign test, {p_value(found.p)}).",
            )
        self.line.say(line)
        counts: dict[Turn, int] = {"right": found.to_right, "wrong": found.to_wrong, "all": found.overturned}
        texts: dict[Turn, str] = {
            "right": f"only {one.lower()} is right",
            "wrong": f"only {two.lower()} is right",
            "all": "they differ",
        }
        for turn in self._turns:
            button = self.links[turn]
            self._words[turn] = f"{one.lower()} beside {two.lower()}: {texts[turn]}"
            button.setText(f"{plural(counts[turn], 'pair')}: {texts[turn]}")
            button.setAccessibleName(button.text())
            button.setEnabled(counts[turn] > 0)
            button.setVisible(found.n > 0)

    def _clicked(self) -> None:
        for turn, button in self.links.items():
            if button is self.sender() and self._beside is not None:
                self.pairs_wanted.emit(self._beside.comparison.pairs[turn], self._words[turn])
