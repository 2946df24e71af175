"""The plan of an experiment: its pairs and networks, and what it comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QBoxLayout,
    QFormLayout,
    QFrame,
    QGridLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.experiments import EXPERIMENTS, FAIREVAL_SAMPLES
from judgenet.engine.budget import Limits
from judgenet.stats.labour import Labour
from judgenet.ui.elements import ComboBox, SpinBox, add_row, label
from judgenet.ui.experiments import work
from judgenet.ui.measures import measure

_FIELD: Final = 200
"""A field of the plan is at least so wide, in px at 100 %: as its longest choice."""
_MOST_NEURONS: Final = 64
_LIMIT: Final = 100

_WITH_WIDTH: Final = ("main-table", "roles", "annotation-saving", "baselines")
_WITH_SAMPLES: Final = ("main-table", "annotation-saving", "baselines")


class ExperimentPlan(QScrollArea):
    """What is chosen of an experiment, and what that comes to.

    Signals:
        edited: something was chosen.
    """

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._key = next(iter(EXPERIMENTS))
        self.lead = label("", "evidence", wrap=True)
        self.cost = label("", tone="text2", wrap=True)
        self._make_size()
        self._make_bounds()
        self._form = self._make_form()
        self._facts = QGridLayout()
        self._facts.setColumnStretch(1, 1)
        self.note = label("", tone="warn", wrap=True)
        side = QVBoxLayout()
        side.addLayout(self._facts)
        side.addWidget(self.note)
        side.addStretch(1)
        halves = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        halves.addLayout(self._form, stretch=5)
        halves.addLayout(side, stretch=6)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.lead)
        column.addWidget(self.cost)
        column.addLayout(halves)
        column.addStretch(1)
        self._halves = halves
        measure(column, spacing=12)
        measure(halves, spacing=32)
        measure(self._facts, down=8, across=16)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Plan of the experiment")
        self.setWidget(inner)

    def _make_size(self) -> None:
        self.pairs = ComboBox("Pairs")
        self.number = SpinBox("Number of pairs", 1, 1_000_000)
        self.wide = ComboBox("Width of the network")
        self.wide.addItem("One neuron per role", "auto")
        self.wide.addItem("A fixed number", "fixed")
        self.width_of = SpinBox("Neurons per layer", 1, _MOST_NEURONS)
        self.width_of.setValue(4)
        self.samples = SpinBox("FairEval samples per order", 1, 32)
        self.samples.setValue(FAIREVAL_SAMPLES)

    def _make_bounds(self) -> None:
        self.widest = SpinBox("Maximum neurons per layer", 1, _MOST_NEURONS)
        self.widest.setValue(8)
        self.deepest = SpinBox("Maximum layers", 1, 16)
        self.deepest.setValue(4)
        self.neurons = SpinBox("Maximum neurons in total", 1, _MOST_NEURONS)
        self.neurons.setValue(10)
        self.target = SpinBox("Target agreement, %", 0, 100)
        self.target.setSpecialValueText("same as annotators")
        self.seconds = SpinBox("Seconds per label", 0, 36_000)
        self.wage = SpinBox("Wage, USD per hour", 0, 10_000)
        self.annotators = SpinBox("Annotators per pair", 1, 100)
        for spin in (self.seconds, self.wage):
            spin.setSpecialValueText("not stated")
        self.most_calls = SpinBox("Maximum calls", 0, 100_000_000)
        self.most_calls.setSpecialValueText("no limit")
        for text, key in (("All pairs", "all"), ("A number per task", "each"), ("Random sample", "limit")):
            self.pairs.addItem(text, key)

    def _make_form(self) -> QFormLayout:
        form = QFormLayout()
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for text, widget in (
            ("Pairs", self.pairs),
            ("Number of pairs", self.number),
            ("Width", self.wide),
            ("Neurons per layer", self.width_of),
            ("FairEval samples", self.samples),
            ("Maximum neurons per layer", self.widest),
            ("Maximum layers", self.deepest),
            ("Maximum neurons in total", self.neurons),
            ("Target agreement, %", self.target),
            ("Seconds per label", self.seconds),
            ("Wage, USD per hour", self.wage),
            ("Annotators per pair", self.annotators),
            ("Maximum calls", self.most_calls),
        ):
            add_row(form, text, widget)
            measure(widget, min_width=_FIELD)
        measure(form, down=8, across=16)
        for box in (self.pairs, self.wide):
            box.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
            box.currentIndexChanged.connect(self.edited)
        for spin in (self.number, self.width_of, self.samples, self.widest, self.deepest, self.neurons, self.target):
            spin.valueChanged.connect(self.edited)
        self.seconds.valueChanged.connect(self.edited)
        self.most_calls.valueChanged.connect(self.edited)
        return form

    def set_narrow(self, narrow: bool) -> None:
        """Form and figures stand below each other where there is no room for both."""
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._halves.setDirection(way)
        wrap = QFormLayout.RowWrapPolicy
        self._form.setRowWrapPolicy(wrap.WrapAllRows if narrow else wrap.WrapLongRows)

    def choose(self, key: str, *, tasks: bool) -> None:
        """Shows another experiment as it is usually run; ``tasks``: the pairs have some."""
        self._key = key
        preset = EXPERIMENTS[key]
        self.lead.setText(preset.description)
        self.cost.setText(preset.cost[0].upper() + preset.cost[1:] + ".")
        for widget in (self.pairs, self.number):
            widget.blockSignals(True)
        self.pairs.setCurrentIndex(1 if preset.each and tasks else 0)
        self.number.setValue(preset.each or _LIMIT)
        for widget in (self.pairs, self.number):
            widget.blockSignals(False)

    def show_fields(self) -> None:
        """Shows what goes with what is chosen."""
        key, pairs = self._key, self.pairs.currentData()
        shown = {
            self.number: pairs != "all",
            self.wide: key in _WITH_WIDTH and key != "roles",
            self.width_of: key == "roles" or (key in _WITH_WIDTH and self.wide.currentData() == "fixed"),
            self.samples: key in _WITH_SAMPLES,
            self.widest: key == "width-depth",
            self.deepest: key == "width-depth",
            self.neurons: key == "neuron-budget",
            self.target: key == "annotation-saving",
            self.seconds: key == "annotation-saving",
            self.wage: key == "annotation-saving" and self.seconds.value() > 0,
            self.annotators: key == "annotation-saving" and self.seconds.value() > 0,
        }
        for widget, visible in shown.items():
            self._form.setRowVisible(widget, visible)

    def wanted(self) -> work.Wanted:
        """What is to be run."""
        key, pairs = self._key, self.pairs.currentData()
        changes: dict[str, Any] = {}
        if not self.width_of.isHidden() and (key == "roles" or self.wide.currentData() == "fixed"):
            changes["width"] = self.width_of.value()
        if key in _WITH_SAMPLES:
            changes["samples"] = self.samples.value()
        if key == "width-depth":
            changes["widths"] = tuple(range(1, self.widest.value() + 1))
            changes["depths"] = tuple(range(1, self.deepest.value() + 1))
        if key == "neuron-budget":
            changes["budget"] = self.neurons.value()
        return work.Wanted(
            key,
            each=self.number.value() if pairs == "each" else 0,
            limit=self.number.value() if pairs == "limit" else None,
            changes=changes,
            target=self.target.value() / 100 if key == "annotation-saving" and self.target.value() else None,
            labour=self._labour(),
            limits=Limits(max_calls=self.most_calls.value() or None),
        )

    def _labour(self) -> Labour:
        """What a label takes and costs, as far as it is stated."""
        seconds = self.seconds.value()
        if self._key != "annotation-saving" or not seconds:
            return Labour()
        return Labour(float(seconds), float(self.wage.value()) or None, float(self.annotators.value()))

    def show_estimate(self, lines: Sequence[tuple[str, str]], note: str) -> None:
        """Shows what it comes to, line by line, and what to know of it."""
        while (item := self._facts.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.hide()
                old.deleteLater()
        for place, (name, text) in enumerate(lines):
            self._facts.addWidget(label(name[0].upper() + name[1:], tone="text2"), place, 0, Qt.AlignmentFlag.AlignTop)
            value = label(text, "strong" if name in ("still to ask", "price") else "", wrap=True)
            self._facts.addWidget(value, place, 1)
        self.note.setText(note)
        self.note.setVisible(bool(note))
