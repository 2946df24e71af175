"""Which pairs are judged, and what that costs."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from judgenet.core.project import Selection
from judgenet.core.wording import duration_range, money_span, plural, span
from judgenet.ui.elements import SpinBox, label, set_tone
from judgenet.ui.figures import DesignEstimate
from judgenet.ui.measures import Gap, measure
from judgenet.ui.widgets import Segment

_KINDS: Final = (("all", "All"), ("ids", "Shown"), ("sample", "Sample"), ("per_task", "Per task"))
_USUAL: Final = {"sample": 100, "per_task": 20}
_MOST: Final = 10_000_000


class ChosenPanel(QWidget):
    """All pairs, those that the filters show, a sample, or so many of each task.

    Signals:
        chosen: the :class:`Selection` that the user made; for the pairs shown its ``ids`` are left empty.
    """

    chosen = Signal(object)

    def __init__(self, figures: DesignEstimate, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Chosen pairs")
        self._figures = figures
        self._selection = Selection()
        self._shown = self._total = 0
        self._filtered = False
        self.title = label("Chosen pairs", "title")
        self.fact = label(tone="text2")
        self.kind = Segment("Pairs to judge", list(_KINDS))
        self.kind.chosen.connect(self._kind_chosen)
        for key, _ in _KINDS:
            self.kind.button(key).setProperty("tight", True)
        self.number = SpinBox("How many pairs", 1, _MOST)
        self.seed = SpinBox("Seed of the sample", 0, 2**31 - 1)
        for spin in (self.number, self.seed):
            spin.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._number_word = label("pairs", tone="text2")
        self._seed_word = label("seed", tone="text2")
        self.number.valueChanged.connect(self._numbers_changed)
        self.seed.valueChanged.connect(self._numbers_changed)
        self._sample = QWidget()
        sample = QHBoxLayout(self._sample)
        sample.setContentsMargins(0, 0, 0, 0)
        sample.addWidget(self.number)
        sample.addWidget(self._number_word)
        sample.addStretch(1)
        sample.addWidget(self._seed_word)
        sample.addWidget(self.seed)
        self._sample_row = sample
        self.note = label(tone="text2", wrap=True)
        self.again = QPushButton("Choose the pairs shown")
        self.again.setProperty("control", "small")
        self.again.clicked.connect(self._again)
        self._lay_out(figures)

    def _lay_out(self, figures: DesignEstimate) -> None:
        self._grid = QGridLayout()
        self._grid.setColumnStretch(0, 1)
        self._costs: dict[str, QLabel] = {}
        self._cost_names: dict[str, QLabel] = {}
        for row, name in enumerate(("Calls", "Already paid for", "Price", "Time")):
            self._cost_names[name] = label(name, tone="text2")
            self._costs[name] = label(kind="node")
            measure(self._costs[name], font="node", tabular=True)
            self._grid.addWidget(self._cost_names[name], row, 0)
            self._grid.addWidget(self._costs[name], row, 1)
        self.problem = label(tone="text2", wrap=True)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self.title)
        self._column.addWidget(self.fact)
        self._column.addWidget(self.kind)
        self._column.addWidget(self._sample)
        self._column.addWidget(self.note)
        self._column.addWidget(self.again)
        self._column.addLayout(self._grid)
        self._column.addWidget(self.problem)
        figures.changed.connect(self._show_costs)
        measure(self._column, margins=16, spacing=Gap(8))
        measure(self._sample_row, spacing=8)
        measure(self._grid, down=4)
        measure(self.number, width=96)
        measure(self.seed, width=84)
        self._show_costs()

    def show_selection(
        self, selection: Selection, chosen: int, total: int, shown: int, *, filtered: bool, tasks: int, why_not: str
    ) -> None:
        """Shows what is chosen: ``chosen`` of ``total`` pairs. The filters show ``shown`` of them (``filtered``: they
        leave some out); there are so many ``tasks``. ``why_not`` says why nothing can be changed."""
        self._selection = selection
        self._shown, self._total, self._filtered = shown, total, filtered
        kind = "ids" if selection.kind == "first" else selection.kind
        self.kind.set_current(kind)
        left_out = len(selection.left_out)
        also = f", {left_out:,} left out" if left_out else ""
        self.fact.setText(f"{chosen:,} of {plural(total, 'pair')} chosen{also}")
        for one, _ in _KINDS:
            button = self.kind.button(one)
            why = why_not
            if not why and one == "ids" and not filtered and kind != "ids":
                why = "Search or filter first: then what is shown can be chosen."
            if not why and one == "per_task" and tasks < 2 and kind != "per_task":
                why = "The pairs have no different tasks."
            button.setEnabled(not why)
            button.setToolTip(why)
        sampled = kind in _USUAL
        self._sample.setVisible(sampled)
        self._sample.setEnabled(not why_not)
        if sampled:
            self._number_word.setText("of each task" if kind == "per_task" else "pairs")
            for spin, value in ((self.number, selection.count or _USUAL[kind]), (self.seed, selection.seed)):
                spin.blockSignals(True)
                spin.setValue(value)
                spin.blockSignals(False)
        note = ""
        if selection.kind == "first":
            note = f"The first {selection.count or 0:,} pairs of the file."
        elif selection.kind == "ids":
            note = "Those that the filters showed when they were chosen."
        elif sampled:
            note = "Drawn at random by the seed. A larger sample holds the smaller one, so nothing is paid for twice."
        self.note.setText(note)
        self.note.setVisible(bool(note))
        other = kind == "ids" and filtered and shown > 0 and not why_not
        self.again.setVisible(other)
        self.again.setText(f"Choose the {shown:,} shown now")
        self.again.setAccessibleName(self.again.text())

    def _kind_chosen(self, key: str) -> None:
        if key in ("all", "ids"):
            self._choose(Selection("all" if key == "all" else "ids"))
        else:
            same = self._selection.kind == key
            number = self._selection.count if same else min(_USUAL[key], max(1, self._total))
            self._choose(Selection("sample" if key == "sample" else "per_task", number, self._selection.seed))

    def _choose(self, selection: Selection) -> None:
        # What is chosen next builds on it, although it takes a moment until it holds.
        self._selection = selection
        self.chosen.emit(selection)

    def _numbers_changed(self) -> None:
        kind = self._selection.kind
        if kind in ("sample", "per_task"):
            self._choose(Selection(kind, self.number.value(), self.seed.value()))

    def _again(self) -> None:
        self._choose(Selection("ids"))

    def _show_costs(self) -> None:
        figures = self._figures
        estimate = figures.estimate
        for widget in (*self._costs.values(), *self._cost_names.values()):
            widget.setVisible(estimate is not None)
        self.problem.setVisible(estimate is None and bool(figures.problem))
        self.problem.setText(f"What it costs is not known: {figures.problem}" if figures.problem else "")
        if estimate is None:
            return
        costs = estimate.estimate
        price = "unknown" if costs.price is None else money_span(*costs.price, costs.currency)
        words = {
            "Calls": span(*costs.calls),
            "Already paid for": f"{costs.calls_recorded:,}",
            "Price": price,
            "Time": duration_range(estimate.duration.low, estimate.duration.high),
        }
        for name, value in self._costs.items():
            value.setText(words[name])
            value.setAccessibleName(f"{name}: {words[name]}")
            set_tone(value, "text3" if figures.stale else "")
        paid = costs.calls_recorded > 0
        self._costs["Already paid for"].setVisible(paid)
        self._cost_names["Already paid for"].setVisible(paid)
