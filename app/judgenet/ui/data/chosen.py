"""The panel that chooses which pairs are judged, and shows what that costs."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from judgenet.core.project import Selection
from judgenet.core.wording import duration_range, money_span, plural, span
from judgenet.ui.data import texts
from judgenet.ui.elements import SpinBox, label, set_tone
from judgenet.ui.figures import DesignEstimate
from judgenet.ui.measures import Gap, measure
from judgenet.ui.widgets import Segment

_KINDS: Final = (("all", texts.ALL), ("ids", texts.SHOWN), ("sample", texts.SAMPLE), ("per_task", texts.PER_TASK))
_USUAL: Final = {"sample": 100, "per_task": 20}
"""How many pairs a sample begins with."""
_MOST: Final = 10_000_000


class ChosenPanel(QWidget):
    """Chooses all pairs, those that the filters show, a sample, or a number of each task.

    Signals:
        chosen: the :class:`Selection` that the user made; for the pairs shown its ``ids`` are empty.
    """

    chosen = Signal(object)

    def __init__(self, figures: DesignEstimate, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(texts.CHOSEN_PAIRS)
        self._figures = figures
        self._selection = Selection()
        self._shown = self._total = 0
        self._filtered = False
        self.title = label(texts.CHOSEN_PAIRS, "title")
        self.fact = label(tone="text2")
        self.kind = Segment(texts.PAIRS_TO_JUDGE, list(_KINDS))
        self.kind.chosen.connect(self._kind_chosen)
        for key, _ in _KINDS:
            self.kind.button(key).setProperty("tight", True)
        self.number = SpinBox(texts.HOW_MANY, 1, _MOST)
        self.seed = SpinBox(texts.SEED_NAME, 0, 2**31 - 1)
        for spin in (self.number, self.seed):
            spin.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._number_word = label(texts.PAIRS_WORD, tone="text2")
        self._seed_word = label(texts.SEED_WORD, tone="text2")
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
        self.again = QPushButton(texts.CHOOSE_SHOWN)
        self.again.setProperty("control", "small")
        self.again.clicked.connect(self._again)
        self._lay_out(figures)

    def _lay_out(self, figures: DesignEstimate) -> None:
        self._grid = QGridLayout()
        self._grid.setColumnStretch(0, 1)
        self._costs: dict[str, QLabel] = {}
        self._cost_names: dict[str, QLabel] = {}
        for row, name in enumerate((texts.CALLS, texts.ALREADY_PAID, texts.PRICE, texts.TIME)):
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
        """Shows which pairs are chosen.

        Args:
            chosen, total: how many pairs are chosen, and how many there are.
            shown: how many pairs the filters let pass; ``filtered``: they hide some.
            tasks: how many tasks the pairs have.
            why_not: why nothing can be changed; empty where it can.
        """
        self._selection = selection
        self._shown, self._total, self._filtered = shown, total, filtered
        kind = "ids" if selection.kind == "first" else selection.kind
        self.kind.set_current(kind)
        left_out = texts.left_out(len(selection.left_out)) if selection.left_out else ""
        self.fact.setText(texts.chosen_of(chosen, plural(total, "pair"), left_out))
        for key, _ in _KINDS:
            button = self.kind.button(key)
            why = why_not
            if not why and key == "ids" and not filtered and kind != "ids":
                why = texts.FILTER_FIRST
            if not why and key == "per_task" and tasks < 2 and kind != "per_task":
                why = texts.NO_TASKS
            button.setEnabled(not why)
            button.setToolTip(why)
        sampled = kind in _USUAL
        self._sample.setVisible(sampled)
        self._sample.setEnabled(not why_not)
        if sampled:
            self._number_word.setText(texts.OF_EACH_TASK if kind == "per_task" else texts.PAIRS_WORD)
            for spin, value in ((self.number, selection.count or _USUAL[kind]), (self.seed, selection.seed)):
                spin.blockSignals(True)
                spin.setValue(value)
                spin.blockSignals(False)
        note = ""
        if selection.kind == "first":
            note = texts.first_pairs(selection.count or 0)
        elif selection.kind == "ids":
            note = texts.SHOWN_WHEN_CHOSEN
        elif sampled:
            note = texts.SAMPLE_NOTE
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.again.setVisible(kind == "ids" and filtered and shown > 0 and not why_not)
        self.again.setText(texts.choose_shown_now(shown))
        self.again.setAccessibleName(self.again.text())

    def _kind_chosen(self, key: str) -> None:
        if key in ("all", "ids"):
            self._choose(Selection("all" if key == "all" else "ids"))
        else:
            same = self._selection.kind == key
            number = self._selection.count if same else min(_USUAL[key], max(1, self._total))
            self._choose(Selection("sample" if key == "sample" else "per_task", number, self._selection.seed))

    def _choose(self, selection: Selection) -> None:
        # The next choice builds on it, even before this one has taken effect.
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
        self.problem.setText(texts.cost_unknown(figures.problem) if figures.problem else "")
        if estimate is None:
            return
        costs = estimate.estimate
        price = texts.PRICE_UNKNOWN if costs.price is None else money_span(*costs.price, costs.currency)
        words = {
            texts.CALLS: span(*costs.calls),
            texts.ALREADY_PAID: f"{costs.calls_recorded:,}",
            texts.PRICE: price,
            texts.TIME: duration_range(estimate.duration.low, estimate.duration.high),
        }
        for name, value in self._costs.items():
            value.setText(words[name])
            value.setAccessibleName(f"{name}: {words[name]}")
            set_tone(value, "text3" if figures.stale else "")
        paid = costs.calls_recorded > 0
        self._costs[texts.ALREADY_PAID].setVisible(paid)
        self._cost_names[texts.ALREADY_PAID].setVisible(paid)
