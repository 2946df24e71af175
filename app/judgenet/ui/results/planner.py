"""How many pairs people should label, the interval that this gives, and which pairs to label next."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Final, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from judgenet.core.wording import SPOKEN, capitalized, plural
from judgenet.figures.rates import CorrectedRates
from judgenet.report.axis import round_ticks
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.plotting import ReferenceLine
from judgenet.ui.results import texts
from judgenet.ui.results.panel import Big, Panel
from judgenet.ui.results.point_chart import Picture, PointChart, PointMark, Series, Tick
from judgenet.ui.results.state import Results
from judgenet.ui.results.what_if import Slider

if TYPE_CHECKING:
    from judgenet.stats.label_plan import LabelPlan, PlanMethod

_TARGET_WIDTHS: Final = (2, 40)
"""The least and the largest target width of the interval, in points."""
_USUAL_WIDTH: Final = 10
_NAMES: Final[dict[PlanMethod, str]] = {
    "within_verdict": texts.WITHIN_VERDICTS,
    "random": texts.AT_RANDOM,
    "ppi": texts.PPI,
    "human_only": texts.LABELS_ONLY,
}
_WORDS: Final[dict[PlanMethod, str]] = {
    "within_verdict": texts.WITHIN_VERDICTS_METHOD,
    "random": texts.AT_RANDOM_METHOD,
    "ppi": texts.PPI_METHOD,
    "human_only": texts.LABELS_ONLY_METHOD,
}
_DRAWN_FROM: Final = 10
LABEL_TICKS: Final = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
"""Where a logarithmic axis of labels has its ticks."""
_TENS: Final = (10, 100, 1000, 10_000, 100_000)
_MOST_TICKS: Final = 5
"""With more ticks than these only powers of ten and three times these are shown, so that numbers do not touch."""


class PlannerPanel(Panel):
    """The number of labels that a target width of the interval needs, with the curve, by method.

    Signals:
        label_wanted: the user wants to label the next pairs.
    """

    label_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.width_slider = Slider(texts.TARGET_WIDTH_IN_POINTS)
        self.width_slider.setRange(*_TARGET_WIDTHS)
        self.width_slider.setValue(_USUAL_WIDTH)
        self.width_value = label("", "strong")
        self.chart = PointChart(texts.WIDTH_BY_LABELS)
        self.needed, self.more = Big(), Big()
        self.needs = {method: (label(_WORDS[method], tone="text2"), label("", wrap=True)) for method in _NAMES}
        self.note = label("", tone="text2", wrap=True)
        self.next_button = QPushButton(texts.LABEL_THESE_NEXT)
        super().__init__(texts.HOW_MANY_LABELS, parent=parent)
        self._row = QHBoxLayout()
        self._row.addWidget(label(texts.TARGET_WIDTH, tone="text2"))
        self._row.addWidget(self.width_slider, 1)
        self._row.addWidget(self.width_value)
        self._figures = QHBoxLayout()
        for big in (self.needed, self.more):
            self._figures.addWidget(big, 1, Qt.AlignmentFlag.AlignTop)
        self._figures.addWidget(self.next_button, alignment=Qt.AlignmentFlag.AlignVCenter)
        self._grid = QGridLayout()
        self._grid.setColumnStretch(1, 1)
        for row, (name, text) in enumerate(self.needs.values()):
            self._grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(text, row, 1, Qt.AlignmentFlag.AlignTop)
            measure(text, font="body", tabular=True)
        self.body.addLayout(self._row)
        self.body.addWidget(self.chart, 1)
        self.body.addLayout(self._figures)
        self.body.addLayout(self._grid)
        self.body.addWidget(self.note)
        self._results: Results | None = None
        self.plan: LabelPlan | None = None
        self.width_slider.valueChanged.connect(self._fill)
        self.next_button.clicked.connect(self.label_wanted)
        measure(self._row, spacing=12)
        measure(self._figures, spacing=16)
        measure(self._grid, across=16, down=2)
        measure(self.width_value, font="strong", tabular=True, min_width=72)

    @property
    def target_width(self) -> float:
        """The target width of the interval, as a share: 0.1 for 10 points."""
        return self.width_slider.value() / 100

    def show_results(self, results: Results) -> None:
        """Plans for a run and its labels."""
        self._results = results
        self._fill()

    def draw(self) -> tuple[int, ...]:
        """The places in the run of the pairs to label next, in the order in which to label them; empty where no labels
        are advised."""
        from judgenet.stats.planning import draw_labels

        if self._results is None or self.plan is None or not self._advised:
            return ()
        results = self._results
        free = results.frame.unlabelled(results.report.decides, counting=results.report.rates.counting)
        return tuple(draw_labels(free, self.plan.more))

    @property
    def _advised(self) -> int | None:
        return None if self.plan is None else self.plan.needs["within_verdict"].labels

    def _fill(self) -> None:
        from judgenet.figures.label_plan import sample_plan

        points = self.width_slider.value()
        self.width_value.setText(texts.points(str(points)))
        results = self._results
        self.plan = None
        rates: CorrectedRates | None = None if results is None else results.report.rates
        known = rates is not None and rates.judged > 0
        for widget in (self.chart, self.needed, self.more, self.next_button, *_both(self.needs)):
            widget.setVisible(known)
        if results is None or rates is None or not known:
            self.note.setText(texts.NOTHING_TO_PLAN)
            self.say("")
            return
        plan = self.plan = sample_plan(results.frame, rates.aggregation, self.target_width).plan
        self.say(texts.labels_so_far(plural(sum(plan.have.values()), "random label"), plan.pairs))
        advised = self._advised
        if advised is None:
            self.needed.say(texts.IMPOSSIBLE, texts.interval_of(points))
            self.more.say("–", texts.TO_LABEL_NEXT)
        else:
            more = sum(plan.more.values())
            self.needed.say(f"{advised:,}", texts.labels_give_interval(points))
            split = ", ".join(texts.of_verdict(count, SPOKEN[said]) for said, count in plan.more.items() if count)
            self.more.say(f"{more:,}", texts.to_label_next(split) if split else texts.TO_LABEL_NEXT)
        self.next_button.setVisible(bool(advised and sum(plan.more.values())))
        for method, (_, text) in self.needs.items():
            need = plan.needs[method]
            if need.labels is None:
                text.setText(texts.IMPOSSIBLE.lower())
            else:
                labels = plural(need.labels, "label")
                text.setText(
                    texts.in_all_at_best(labels, f"{100 * need.floor:.1f}") if need.floor else texts.in_all(labels)
                )
        self.note.setText(" ".join(_notes(plan, counting=rates.counting)))
        self.chart.show_picture(plan_picture(plan))


def _notes(plan: LabelPlan, *, counting: bool) -> list[str]:
    """What to know of a plan; ``counting``: whether the labels there are count in estimates."""
    notes = [texts.assumed(plan.assumption)] if plan.assumption else []
    if plan.effect.words:
        notes.append(f"{capitalized(plan.effect.words)}.")
    if plan.labelled and not counting:
        notes.append(texts.not_random(plural(plan.labelled, "label")))
    possible = plan.needs["within_verdict"].labels is not None
    reasons: dict[str, list[str]] = {}
    # Where the best method cannot reach the width, its reason is enough: the others need more labels.
    for method, need in plan.needs.items():
        if need.reason and (possible or method == "within_verdict"):
            reasons.setdefault(need.reason, []).append(_NAMES[method])
    notes += [f"{', '.join(names)}: {reason}." for reason, names in reasons.items()]
    if not possible:
        notes.append(texts.MORE_LABELS_DO_NOT_HELP)
    return [*notes, texts.HOW_PAIRS_ARE_DRAWN]


def _both(needs: dict[PlanMethod, tuple[QLabel, QLabel]]) -> list[QWidget]:
    return [widget for two in needs.values() for widget in two]


def plan_picture(plan: LabelPlan) -> Picture:
    """The expected width by labels in all, by method; the axis of labels is logarithmic."""
    series = []
    for place, method in enumerate(cast("tuple[PlanMethod, ...]", tuple(_NAMES))):
        spots = tuple(
            PointMark(
                log10(labels),
                width,
                texts.width_of(_WORDS[method], plural(labels, "label"), plan.pairs, f"{100 * width:.1f}"),
            )
            for labels, width in plan.curve(method)
        )
        series.append(Series(_NAMES[method], spots, place - 1, f"{100 * spots[-1].y:.1f}" if spots else ""))
    widest = max((spot.y for line in series for spot in line.spots), default=0.1)
    ticks = tuple((tick, f"{100 * tick:.0f}") for tick in round_ticks(0.0, widest, (0.05, 0.1, 0.2, 0.25, 0.5)))
    ticks = (*ticks[:-1], (ticks[-1][0], texts.points_tick(ticks[-1][1])))
    counts = [count for count in LABEL_TICKS if count <= plan.pairs]
    if len(counts) > _MOST_TICKS:
        counts = [count for ten in counts if ten in _TENS for count in (ten, 3 * ten) if count <= plan.pairs]
    x_ticks: tuple[Tick, ...] = tuple((log10(count), f"{count:,}") for count in counts)
    if plan.pairs < _DRAWN_FROM:
        x_ticks = ((log10(plan.pairs), f"{plan.pairs:,}"),)
    return Picture(
        tuple(series),
        x_ticks,
        ticks,
        texts.LABELS_IN_ALL,
        ReferenceLine(texts.TARGET, f"{100 * plan.width:.0f}", plan.width),
    )
