"""Whether the probabilities that a run implies are calibrated."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QWidget

from judgenet.core.wording import percent, percent_interval, ratio, ratio_interval
from judgenet.ui.context import Context
from judgenet.ui.elements import label, unbroken
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.latest import LatestComputation
from judgenet.ui.results.panel import Panel
from judgenet.ui.results.point_chart import Picture, PointChart, PointMark, Series, share_ticks
from judgenet.ui.results.state import Results
from judgenet.ui.widgets import Segment

if TYPE_CHECKING:
    from judgenet.figures.reliability import ReliabilityFigures, RunReliability
    from judgenet.store.frame import RunFrame

_CHART: Final = 264
"""Height of the chart in px at 100 %."""
_TICKS: Final = tuple((share / 4, f"{25 * share}") for share in range(5))


class ReliabilityPanel(Panel):
    """ "Do probabilities mean what they say?": reliability curve, expected calibration error and Brier score.

    It is computed in a thread. The panel is hidden while a run is running, and where no pair has a label.
    """

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        choices = [("votes", texts.CALLS), ("scores", texts.SOURCE_SCORES), ("learned", texts.SOURCE_LEARNED)]
        self.source = Segment(texts.PROBABILITY_SOURCE, choices)
        self.chart = PointChart(texts.PREFER_B_BY_PROBABILITY, texts.RELIABILITY_HINT)
        self.words = label("", wrap=True)
        self.note = label("", tone="text2", wrap=True)
        super().__init__(texts.RELIABILITY, parent=parent)
        self.reliability: RunReliability | None = None
        self._latest = LatestComputation(context)
        for widget in (self.source, self.words, self.chart, self.note):
            self.body.addWidget(widget)
        self.body.addStretch(1)
        self.source.chosen.connect(self._fill)
        context.document.opened.connect(self.forget)
        self.hide()
        measure(self.chart, height=_CHART)
        for text in (self.words, self.note):
            measure(text, font="body", tabular=True)

    def forget(self) -> None:
        """Forgets everything: another project was opened."""
        self._latest.forget()
        self.reliability = None
        self.hide()

    def look(self, results: Results, *, live: bool) -> None:
        """Shows the calibration of a run; not while it is running."""
        if live or not results.frame.human.any():
            self.forget()
            return
        if self._latest.is_new((results.run.id, results.frame)):
            work = partial(_reliability, results.frame)
            self._latest.start(texts.CALCULATE_CALIBRATION, work, self._take, about=results.run.id)

    def _take(self, reliability: RunReliability) -> None:
        self.reliability = reliability
        self._fill()

    def _fill(self) -> None:
        from judgenet.figures.reliability import SOURCE_WORDS

        if self.reliability is None:
            return
        self.show()
        source = self.source.current
        figures = self.reliability.sources[source]
        meaning = next(words for name, words in SOURCE_WORDS.items() if name == source)
        self.chart.setVisible(bool(figures.curve))
        self.say(texts.n_of_pairs(figures.n, figures.n_total))
        if figures.ece is None:
            self.words.setText(texts.not_available(figures.reason or ""))
            self.note.setText("")
            return
        self.words.setText(unbroken(_errors(figures)))
        ties = texts.ties_left_out(figures.n_ties) if figures.n_ties else ""
        self.note.setText(texts.probability_is(meaning, ties))
        self.chart.show_picture(reliability_picture(figures))


def _reliability(frame: RunFrame) -> RunReliability:
    from judgenet.figures.reliability import run_reliability

    return run_reliability(frame)


def _errors(figures: ReliabilityFigures) -> str:
    words = texts.calibration_error(percent(figures.ece), percent_interval(figures.ece_ci))
    if figures.ece_by_chance is not None:
        words += texts.error_by_chance(percent(figures.ece_by_chance))
    brier = f"{ratio(figures.brier.value)} {ratio_interval(figures.brier.ci)}"
    return texts.brier_score(words, brier, ratio(figures.brier_base))


def reliability_picture(figures: ReliabilityFigures) -> Picture:
    """The reliability curve beside the diagonal of calibrated probabilities."""
    spots = tuple(
        PointMark(
            bin_.predicted,
            bin_.observed,
            texts.probability_bin(
                f"{100 * bin_.low:.0f}",
                f"{100 * bin_.high:.0f}",
                bin_.n,
                percent(bin_.predicted),
                percent(bin_.observed),
                percent_interval(bin_.ci),
            ),
            bin_.ci,
        )
        for bin_ in figures.curve
    )
    ends = tuple(PointMark(share, share, texts.calibrated(percent(share))) for share in (0.0, 1.0))
    series = (
        Series(texts.PEOPLE_PREFER_B, spots, spread="bars", value=""),
        Series(texts.CALIBRATED, ends, 0, marked=False),
    )
    return Picture(series, _TICKS, share_ticks((0.0, 1.0)), texts.PROBABILITY_AXIS)
