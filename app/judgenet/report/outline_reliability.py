"""The section of a report about calibration: whether the probabilities that a run implies mean what they say."""

from __future__ import annotations

from collections.abc import Iterable

from judgenet.core.wording import (
    capitalized,
    of,
    p_figure,
    percent,
    percent_with_interval,
    plural,
    ratio,
    ratio_with_interval,
)
from judgenet.figures.reliability import SOURCE_TITLES, SOURCE_WORDS, ReliabilityFigures, RunReliability
from judgenet.report.blocks import Block, Bullets, Figure, Line, Paragraph, Row, Section, Strong, Table
from judgenet.report.curve_charts import ChartLine, CurveAxes, CurvePoint, curves
from judgenet.report.drawing import Drawing
from judgenet.report.model import Report


def reliability_section(report: Report) -> Iterable[Block]:
    """The reliability curves, the expected calibration errors and the Brier scores."""
    reliability = None if report.more is None else report.more.reliability
    if reliability is None:
        return
    shown = {
        title: reliability.sources[name] for name, title in SOURCE_TITLES.items() if reliability.sources[name].curve
    }
    if not shown:
        return
    yield Section("Do probabilities mean what they say?", "that response B is better")
    width = "equal width" if reliability.binning == "uniform" else "about equally many pairs"
    yield Table(
        (
            "Probability",
            "Calibration error, %",
            "If calibrated, %",
            "p",
            "Brier score",
            "Constant answer",
            "Pairs",
        ),
        (False, True, True, True, True, True, True),
        tuple(_row(title, figures) for title, figures in shown.items()),
    )
    yield Figure(_picture(shown), _bins(shown))
    notes: list[Line] = [
        (Strong(f"{title}. "), f"The probability is {SOURCE_WORDS[name]}.")
        for name, title in SOURCE_TITLES.items()
        if title in shown
    ]
    notes += [
        (Strong(f"{title}: n/a. "), f"{capitalized(reliability.sources[name].reason or 'unknown')}.")
        for name, title in SOURCE_TITLES.items()
        if title not in shown
    ]
    yield Bullets(tuple(notes))
    yield Paragraph((_method(reliability, shown, width),), "note")


def _row(title: str, reliability_figures: ReliabilityFigures) -> Row:
    return Row(
        (
            (title,),
            (percent_with_interval(reliability_figures.ece, reliability_figures.ece_ci),),
            (percent(reliability_figures.ece_by_chance, unit=False),),
            (p_figure(reliability_figures.p),),
            (ratio_with_interval(reliability_figures.brier.value, reliability_figures.brier.ci),),
            (ratio(reliability_figures.brier_base),),
            (of(reliability_figures.n, reliability_figures.n_total),),
        )
    )


def _bins(shown: dict[str, ReliabilityFigures]) -> Table:
    return Table(
        ("Probability", "Bin, %", "Mean, %", "People prefer B, %", "Pairs"),
        (False, True, True, True, True),
        tuple(
            Row(
                (
                    (title,),
                    (f"{100 * point.low:.0f} to {100 * point.high:.0f}",),
                    (percent(point.predicted, unit=False),),
                    (percent_with_interval(point.observed, point.ci),),
                    (f"{point.n:,}",),
                )
            )
            for title, figures in shown.items()
            for point in figures.curve
        ),
    )


def _picture(shown: dict[str, ReliabilityFigures]) -> Drawing:
    calibrated = ChartLine("Calibrated", (CurvePoint(0.0, 0.0), CurvePoint(1.0, 1.0)))
    panels = [
        CurveAxes(
            title,
            (
                calibrated,
                ChartLine(
                    title,
                    tuple(CurvePoint(point.predicted, point.observed, point.ci) for point in figures.curve),
                    subject=True,
                ),
            ),
        )
        for title, figures in shown.items()
    ]
    return curves(
        panels,
        "How often people prefer B, by the probability that B is better",
        "probability that B is better, %",
        ticks=(0.0, 0.25, 0.5, 0.75, 1.0),
        tick_text=lambda share: f"{100 * share:.0f}",
    )


def _method(figures: RunReliability, shown: dict[str, ReliabilityFigures], width: str) -> str:
    ties = max(source.n_ties for source in shown.values())
    left = f"{plural(ties, 'pair')} that people call a tie {'is' if ties == 1 else 'are'} left out. " if ties else ""
    reasons = {source.reason for source in shown.values() if source.reason}
    why = f"No interval: {'; '.join(sorted(reasons))}. " if reasons else ""
    return (
        "The expected calibration error (Naeini et al. 2015) is the mean distance, over pairs, of the probability from "
        f"the share of pairs where people prefer B, in {figures.bins} bins of {width}. It is never below 0, so that "
        "chance alone makes it larger than it is: the next column is what calibrated probabilities would show in these "
        f"bins, and p the probability of an error as large (wild bootstrap over questions). {left}{why}Points are "
        "bins, with Wilson's intervals, or intervals over questions where pairs share them; the constant answer gives "
        "the share of B to all pairs."
    )
