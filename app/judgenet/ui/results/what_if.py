"""What if votes were counted by other rules: answered from the recorded calls."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from judgenet.core.aggregate import aggregation_title
from judgenet.core.network import Aggregation
from judgenet.report.verdict_index import Comparison, compare
from judgenet.report.words import of, p_value, percent, percent_interval, plural, points
from judgenet.ui.parts import label, line, link
from judgenet.ui.results.panel import Big, Panel
from judgenet.ui.results.state import Results
from judgenet.ui.theme import Theme
from judgenet.ui.widgets import Segment


def looked_at(decides: str) -> str:
    """The aggregation whose figures stand below the rules: averages and the chair do not vote."""
    return decides if decides.startswith("c2") else "c2_all"


class WhatIfPanel(Panel):
    """The rules that the sources leave open, and what they change.

    Signals:
        rules_chosen: an :class:`Aggregation`, ``None`` for the run's own.
        pairs_wanted: indexes of pairs, and in words which they are.
    """

    rules_chosen = Signal(object)
    pairs_wanted = Signal(object, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self.vote = Segment("Who has a vote", [("neuron", "Each neuron"), ("call", "Each call")])
        self.ties = Segment("A tied voter", [("abstain", "Abstains"), ("candidate", "Votes for a tie")])
        self.fallback = Segment("Equal votes", [("tie", "Are a tie"), ("c1", "Average decides")])
        self.accuracy = Big(theme)
        self.gain = Big(theme)
        self.turned = Big(theme)
        self.show_them = link("Show them", "Show the pairs whose verdict other rules change")
        self.back = link("The run's own rules", "Go back to the run's own rules")
        super().__init__("What if", theme, parent=parent)
        self.say("from the recorded calls, no cost")
        grid = QGridLayout()
        grid.setColumnStretch(0, 1)
        for place, (text, segment) in enumerate(
            (("Vote", self.vote), ("A tied voter", self.ties), ("Equal votes", self.fallback))
        ):
            grid.addWidget(label(text, tone="text2"), place, 0)
            grid.addWidget(segment, place, 1, Qt.AlignmentFlag.AlignRight)
            segment.chosen.connect(self._chosen)
        self._grid = grid
        figures = QHBoxLayout()
        for big, share in ((self.accuracy, 4), (self.gain, 4), (self.turned, 3)):
            figures.addWidget(big, share, Qt.AlignmentFlag.AlignTop)
        links = QHBoxLayout()
        links.addWidget(self.back)
        links.addStretch(1)
        links.addWidget(self.show_them)
        self.body.addLayout(grid)
        self.body.addWidget(line())
        self.body.addLayout(figures)
        self.body.addStretch(1)
        self.body.addLayout(links)
        self.back.clicked.connect(self._go_back)
        self.show_them.clicked.connect(self._show)
        self._comparison: Comparison | None = None
        self._figures = figures
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        for big in (self.accuracy, self.gain, self.turned):
            big.set_theme(theme)
        self._grid.setVerticalSpacing(theme.px(8))
        self._figures.setSpacing(theme.px(16))

    @property
    def rules(self) -> Aggregation:
        """The rules as they are set."""
        vote: Literal["neuron", "call"] = "neuron" if self.vote.current == "neuron" else "call"
        ties: Literal["abstain", "candidate"] = "abstain" if self.ties.current == "abstain" else "candidate"
        return Aggregation(vote, ties, "tie" if self.fallback.current == "tie" else "c1")

    def show_results(self, own: Results, results: Results, rules: Aggregation) -> None:
        """Shows the rules in force and what they change of the run's own."""
        self.vote.set_current(rules.vote)
        self.ties.set_current(rules.ties)
        self.fallback.set_current(rules.fallback)
        name = looked_at(results.report.decides)
        found = results.report.aggregations[name]
        interval = percent_interval(found.intervals.accuracy)
        self.accuracy.say(
            percent(found.agreement.accuracy),
            f"{aggregation_title(name)} {interval}, {of(*found.used)}"
            if found.agreement.accuracy is not None
            else f"accuracy: {found.agreement.reasons.get('accuracy', '')}",
        )
        same = results.rules == own.report.recorded
        self._comparison = None if same else compare(own.index, results.index, (name, name))
        self.back.setVisible(not same)
        for big in (self.gain, self.turned):
            big.setVisible(not same)
        if self._comparison is None:
            self.show_them.hide()
            return
        changed = self._comparison.overturns
        if changed.gain is None:
            self.gain.say("n/a", changed.reasons.get("gain", ""))
        else:
            self.gain.say(
                points(changed.gain),
                f"{changed.to_right:,} became right, {changed.to_wrong:,} wrong; {p_value(changed.p)}",
            )
        self.turned.say(f"{changed.overturned:,}", f"of {plural(changed.n, 'verdict')} changed")
        self.show_them.setVisible(changed.overturned > 0)

    def _chosen(self, _key: str) -> None:
        self.rules_chosen.emit(self.rules)

    def _go_back(self) -> None:
        self.rules_chosen.emit(None)

    def _show(self) -> None:
        if self._comparison is not None:
            self.pairs_wanted.emit(self._comparison.pairs["all"], "other rules change the verdict")
