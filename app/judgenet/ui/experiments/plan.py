"""The plan of an experiment: its pairs, networks and limits, with the estimate beside them."""

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
from judgenet.core.wording import capitalized
from judgenet.engine.budget import Limits
from judgenet.stats.labour import Labour
from judgenet.ui.elements import ComboBox, SpinBox, add_row, label
from judgenet.ui.experiments import texts, work
from judgenet.ui.measures import measure
from judgenet.ui.results.panel import clear_layout, stack

_FIELD: Final = 200
"""Least width of a field in px at 100 %: that of the longest choice."""
_MOST_NEURONS: Final = 64
_LIMIT: Final = 100

_WITH_WIDTH: Final = ("main-table", "roles", "annotation-saving", "baselines")
_WITH_SAMPLES: Final = ("main-table", "annotation-saving", "baselines")


class ExperimentPlan(QScrollArea):
    """The settings of an experiment, and the estimate of its calls and price.

    Signals:
        edited: a setting was changed.
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
        self.setAccessibleName(texts.PLAN_OF_THE_EXPERIMENT)
        self.setWidget(inner)

    def _make_size(self) -> None:
        self.pairs = ComboBox(texts.PAIRS)
        self.pair_count = SpinBox(texts.NUMBER_OF_PAIRS, 1, 1_000_000)
        self.width_rule = ComboBox(texts.WIDTH_OF_THE_NETWORK)
        self.width_rule.addItem(texts.ONE_NEURON_PER_ROLE, "auto")
        self.width_rule.addItem(texts.FIXED_NUMBER, "fixed")
        self.layer_width = SpinBox(texts.NEURONS_PER_LAYER, 1, _MOST_NEURONS)
        self.layer_width.setValue(4)
        self.samples = SpinBox(texts.FAIREVAL_SAMPLES_PER_ORDER, 1, 32)
        self.samples.setValue(FAIREVAL_SAMPLES)

    def _make_bounds(self) -> None:
        self.most_width = SpinBox(texts.MAXIMUM_NEURONS_PER_LAYER, 1, _MOST_NEURONS)
        self.most_width.setValue(8)
        self.most_depth = SpinBox(texts.MAXIMUM_LAYERS, 1, 16)
        self.most_depth.setValue(4)
        self.most_neurons = SpinBox(texts.MAXIMUM_NEURONS_IN_TOTAL, 1, _MOST_NEURONS)
        self.most_neurons.setValue(10)
        self.target = SpinBox(texts.TARGET_AGREEMENT, 0, 100)
        self.target.setSpecialValueText(texts.SAME_AS_ANNOTATORS)
        self.seconds = SpinBox(texts.SECONDS_PER_LABEL, 0, 36_000)
        self.wage = SpinBox(texts.WAGE, 0, 10_000)
        self.annotators = SpinBox(texts.ANNOTATORS_PER_PAIR, 1, 100)
        for spin in (self.seconds, self.wage):
            spin.setSpecialValueText(texts.NOT_STATED)
        self.most_calls = SpinBox(texts.MAXIMUM_CALLS, 0, 100_000_000)
        self.most_calls.setSpecialValueText(texts.NO_LIMIT)
        for text, key in ((texts.ALL_PAIRS, "all"), (texts.NUMBER_PER_TASK, "each"), (texts.RANDOM_SAMPLE, "limit")):
            self.pairs.addItem(text, key)

    def _make_form(self) -> QFormLayout:
        form = QFormLayout()
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for text, widget in (
            (texts.PAIRS, self.pairs),
            (texts.NUMBER_OF_PAIRS, self.pair_count),
            (texts.WIDTH, self.width_rule),
            (texts.NEURONS_PER_LAYER, self.layer_width),
            (texts.FAIREVAL_SAMPLES, self.samples),
            (texts.MAXIMUM_NEURONS_PER_LAYER, self.most_width),
            (texts.MAXIMUM_LAYERS, self.most_depth),
            (texts.MAXIMUM_NEURONS_IN_TOTAL, self.most_neurons),
            (texts.TARGET_AGREEMENT, self.target),
            (texts.SECONDS_PER_LABEL, self.seconds),
            (texts.WAGE, self.wage),
            (texts.ANNOTATORS_PER_PAIR, self.annotators),
            (texts.MAXIMUM_CALLS, self.most_calls),
        ):
            add_row(form, text, widget)
            measure(widget, min_width=_FIELD)
        measure(form, down=8, across=16)
        for box in (self.pairs, self.width_rule):
            box.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
            box.currentIndexChanged.connect(self.edited)
        for spin in (
            self.pair_count,
            self.layer_width,
            self.samples,
            self.most_width,
            self.most_depth,
            self.most_neurons,
            self.target,
        ):
            spin.valueChanged.connect(self.edited)
        self.seconds.valueChanged.connect(self.edited)
        self.most_calls.valueChanged.connect(self.edited)
        return form

    def set_narrow(self, narrow: bool) -> None:
        """Puts the estimate below the form instead of beside it, where the dialog is narrow."""
        stack(self._halves, narrow)
        policy = QFormLayout.RowWrapPolicy
        self._form.setRowWrapPolicy(policy.WrapAllRows if narrow else policy.WrapLongRows)

    def choose(self, key: str, *, tasks: bool) -> None:
        """Shows another experiment with its usual settings. ``tasks``: whether the pairs name tasks, which a number of
        pairs per task needs."""
        self._key = key
        preset = EXPERIMENTS[key]
        self.lead.setText(preset.description)
        self.cost.setText(f"{capitalized(preset.cost)}.")
        for widget in (self.pairs, self.pair_count):
            widget.blockSignals(True)
        self.pairs.setCurrentIndex(1 if preset.each and tasks else 0)
        self.pair_count.setValue(preset.each or _LIMIT)
        for widget in (self.pairs, self.pair_count):
            widget.blockSignals(False)

    def show_fields(self) -> None:
        """Shows the fields that the experiment and the other settings use, and hides the rest."""
        key, pairs = self._key, self.pairs.currentData()
        visibility = {
            self.pair_count: pairs != "all",
            self.width_rule: key in _WITH_WIDTH and key != "roles",
            self.layer_width: key == "roles" or (key in _WITH_WIDTH and self.width_rule.currentData() == "fixed"),
            self.samples: key in _WITH_SAMPLES,
            self.most_width: key == "width-depth",
            self.most_depth: key == "width-depth",
            self.most_neurons: key == "neuron-budget",
            self.target: key == "annotation-saving",
            self.seconds: key == "annotation-saving",
            self.wage: key == "annotation-saving" and self.seconds.value() > 0,
            self.annotators: key == "annotation-saving" and self.seconds.value() > 0,
        }
        for widget, visible in visibility.items():
            self._form.setRowVisible(widget, visible)

    def choice(self) -> work.ExperimentChoice:
        """The experiment as it is set."""
        key, pairs = self._key, self.pairs.currentData()
        changes: dict[str, Any] = {}
        if not self.layer_width.isHidden() and (key == "roles" or self.width_rule.currentData() == "fixed"):
            changes["width"] = self.layer_width.value()
        if key in _WITH_SAMPLES:
            changes["samples"] = self.samples.value()
        if key == "width-depth":
            changes["widths"] = tuple(range(1, self.most_width.value() + 1))
            changes["depths"] = tuple(range(1, self.most_depth.value() + 1))
        if key == "neuron-budget":
            changes["budget"] = self.most_neurons.value()
        return work.ExperimentChoice(
            key,
            each=self.pair_count.value() if pairs == "each" else 0,
            limit=self.pair_count.value() if pairs == "limit" else None,
            changes=changes,
            target=self.target.value() / 100 if key == "annotation-saving" and self.target.value() else None,
            labour=self._labour(),
            limits=Limits(max_calls=self.most_calls.value() or None),
        )

    def _labour(self) -> Labour:
        """The time and price of a label, as far as they are stated."""
        seconds = self.seconds.value()
        if self._key != "annotation-saving" or not seconds:
            return Labour()
        return Labour(float(seconds), float(self.wage.value()) or None, float(self.annotators.value()))

    def show_estimate(self, lines: Sequence[tuple[str, str]], note: str) -> None:
        """Shows the lines of the estimate as (name, value), and a warning below them; none where ``note`` is empty."""
        clear_layout(self._facts)
        for row, (name, text) in enumerate(lines):
            self._facts.addWidget(label(capitalized(name), tone="text2"), row, 0, Qt.AlignmentFlag.AlignTop)
            value = label(text, "strong" if name in (texts.STILL_TO_ASK, texts.PRICE) else "", wrap=True)
            self._facts.addWidget(value, row, 1)
        self.note.setText(note)
        self.note.setVisible(bool(note))
