"""What learning gives: aggregations that are learned from labels, and the weight of each neuron."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QWidget

from judgenet.core.wording import SPOKEN, aggregation_title, minus, plural
from judgenet.report.axis import round_ticks
from judgenet.report.model import Report
from judgenet.report.outline_tables import in_order
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.figures_table import FigureRow, FiguresTable, agreement_columns
from judgenet.ui.results.learning import KIND, Learning
from judgenet.ui.results.panel import Panel, clear_layout
from judgenet.ui.results.point_chart import Picture, PointChart, PointMark, Series, Tick
from judgenet.ui.tokens import TABLE_EDGE

if TYPE_CHECKING:
    from judgenet.ui.results.learning import LearnedRun

_MOST_ROWS: Final = 24
"""The table shows at most so many weights; the chart shows all of them."""


class LearnPanel(Panel):
    """Learned aggregations compared with the others, with the weight of each neuron.

    Signals:
        neuron_chosen: layer and neuron (from 1) whose weight was clicked.
    """

    neuron_chosen = Signal(object)

    def __init__(self, learning: Learning, parent: QWidget | None = None) -> None:
        self._learning = learning
        self.table = FiguresTable(
            texts.LEARNED_AND_OTHERS,
            agreement_columns(texts.AGGREGATION),
            most=14,
        )
        self.learn_button = QPushButton(texts.LEARN_WEIGHTS)
        self.use_button = QPushButton(texts.USE_IN_NETWORK)
        self.note = label("", tone="text2", wrap=True)
        self.chart = PointChart(texts.WEIGHTS, texts.WEIGHTS_HINT)
        super().__init__(texts.LEARNED_AGGREGATION, flush=True, parent=parent)
        self.body.setSpacing(0)
        self.body.addWidget(self.table)
        self._foot = QHBoxLayout()
        self._foot.addWidget(self.note, 1)
        self._foot.addWidget(self.learn_button)
        self._foot.addWidget(self.use_button)
        self.body.addLayout(self._foot)
        self._weights = QGridLayout()
        self._plot = QHBoxLayout()
        self._plot.addLayout(self._weights)
        self._plot.addWidget(self.chart, 1)
        self.body.addLayout(self._plot)
        self.body.addStretch(1)
        self._report: Report | None = None
        self._labelled = 0
        self.learn_button.clicked.connect(learning.learn)
        self.use_button.clicked.connect(learning.use)
        self.chart.chosen.connect(self.neuron_chosen)
        learning.changed.connect(self.refresh)
        measure(self.body, spacing=0)
        measure(self._foot, margins=(TABLE_EDGE, 10, TABLE_EDGE, 10), spacing=12)
        measure(self._plot, margins=(TABLE_EDGE, 0, TABLE_EDGE, 8), spacing=24)
        measure(self._weights, across=16, down=2)
        measure(self.chart, max_height=260)
        self.refresh()

    def show_report(self, report: Report) -> None:
        """Shows a report's aggregations beside the learned ones."""
        self._report = report
        self._labelled = report.data.labelled
        self.refresh()

    def refresh(self) -> None:
        """Shows what was learned, or why nothing can be."""
        from judgenet.figures.learned import WARNINGS, WAY_TITLES
        from judgenet.report.learned_gain import gain_words

        report, learning, learned = self._report, self._learning, self._learning.learned
        why = learning.why_not(self._labelled)
        self.learn_button.setEnabled(not why and not learning.working)
        self.learn_button.setToolTip(why)
        self.learn_button.setText(
            texts.LEARNING if learning.working else texts.LEARN_AGAIN if learned else texts.LEARN_WEIGHTS
        )
        self.use_button.setVisible(learned is not None and learned.rule is not None)
        why_not_use = learning.why_not_use()
        self.use_button.setEnabled(not why_not_use)
        self.use_button.setToolTip(why_not_use)
        for widget in (self.table, self.chart):
            widget.setVisible(learned is not None)
        clear_layout(self._weights)
        if learned is None or report is None:
            self.say("")
            self.note.setText(why or texts.WHAT_LEARNING_DOES)
            return
        self.say(texts.cross_fitted(plural(learned.labels, "label")))
        rows = [
            FigureRow(WAY_TITLES[way], figures, way, subject=way == KIND) for way, figures in learned.figures.items()
        ]
        rows += [FigureRow(aggregation_title(name), report.aggregations[name]) for name in in_order(report)]
        baseline = None
        if report.baseline is not None:
            baseline = report.baseline.figures.agreement.accuracy
            rows.append(FigureRow(texts.always(SPOKEN[report.baseline.label]), report.baseline.figures))
        self.table.show_rows(rows, baseline=baseline)
        others = ("best_single", report.decides)
        notes = [gain_words(way, less, others) for way, less in learned.less.items() if way != "dawid_skene"]
        notes += [f"{WAY_TITLES[way]}: n/a – {reason}." for way, reason in learned.reasons.items()]
        notes += [f"{WAY_TITLES[way]}: {words}." for way, words in learned.below_baseline.items() if words]
        notes += [f"{WAY_TITLES[way]}: {text}" for way, text in WARNINGS.items() if way in learned.figures]
        notes.append(texts.WEIGHTS_OF_ALL_PAIRS)
        if not self.use_button.isHidden():
            notes.append(why_not_use)
        self.note.setText("\n".join(filter(None, notes)))
        self._show_weights(learned)

    def _show_weights(self, learned: LearnedRun) -> None:
        weights = learned.weights.get(KIND)
        self.chart.setVisible(weights is not None)
        if weights is None:
            return
        heads = (texts.NEURON, texts.WEIGHT, texts.ANY_SIGN)
        other = learned.weights.get("any_sign")
        for column, text in enumerate(heads if other is not None else heads[:2]):
            self._weights.addWidget(label(text, "strong", "text2"), 0, column)
        order = sorted(range(len(weights)), key=lambda place: -weights[place])
        for row, place in enumerate(order[:_MOST_ROWS], 1):
            self._weights.addWidget(label(learned.names[place]), row, 0)
            self._weights.addWidget(label(minus(f"{weights[place]:.2f}"), "strong"), row, 1)
            if other is not None:
                self._weights.addWidget(label(minus(f"{other[place]:.2f}"), tone="text2"), row, 2)
        self._weights.setRowStretch(min(len(order), _MOST_ROWS) + 1, 1)
        self.chart.show_picture(weights_picture(learned))


def weights_picture(learned: LearnedRun) -> Picture:
    """The weight of each neuron as a mark, layer by layer."""
    weights = learned.weights[KIND]
    spots = tuple(
        PointMark(
            float(place + 1),
            weight,
            texts.weight_of(learned.names[place], f"{weight:.3f}", learned.labels),
            key=learned.places[place],
        )
        for place, weight in enumerate(weights)
    )
    top = max((spot.y for spot in spots), default=0.0) or 1.0
    steps = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
    ticks: tuple[Tick, ...] = tuple((tick, f"{tick:.2f}") for tick in round_ticks(0.0, top, steps))
    every = max(1, -(-len(spots) // 8))
    x_ticks = tuple((spot.x, f"{spot.x:.0f}") for place, spot in enumerate(spots) if place % every == 0)
    return Picture((Series("", spots, -1, joined=False),), x_ticks, ticks, texts.NEURON_AXIS)
