"""The section of a report on whether its judges may replace the annotators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from judgenet.core.wording import aggregation_title, capitalized, of, percent, percent_with_interval, plural, ratio
from judgenet.figures.alt_test import AltTestFigures, RunAltTest, alt_test_words, epsilon_words
from judgenet.report.blocks import Block, Given, Line, Paragraph, Row, Section, Strong, Table
from judgenet.report.model import Report
from judgenet.report.outline_tables import in_order

_MOST_NEURONS: Final = 24
_ANSWERS: Final = {True: "yes", False: "no", None: "n/a"}


def alt_test_section(report: Report) -> Iterable[Block]:
    """The Alternative Annotator Test of the aggregations and neurons."""
    figures = None if report.more is None else report.more.alt_test
    if figures is None:
        return
    yield Section("Judge instead of people?", epsilon_words(figures.epsilon))
    decided = figures.aggregations[report.decides]
    if figures.reason is not None:
        yield Paragraph((Strong("Not tested. "), f"{capitalized(figures.reason)}."))
        return
    yield Paragraph((Strong(f"{aggregation_title(report.decides)} "), f"{alt_test_words(decided)}."))
    named: list[tuple[Line, AltTestFigures]] = [
        ((aggregation_title(name),), figures.aggregations[name])
        for name in in_order(report)
        if name in figures.aggregations
    ]
    named += [
        ((Given(name),), neuron_figures) for name, neuron_figures in list(figures.neurons.items())[:_MOST_NEURONS]
    ]
    yield Table(
        ("Judge", "Wins against", "Winning rate, %", "As close as people, %", "Pairs", "May replace people"),
        (False, True, True, True, True, False),
        tuple(
            Row(
                (
                    name,
                    (of(figures_of_judge.won, figures_of_judge.tested),),
                    (percent(figures_of_judge.winning_rate, unit=False),),
                    (percent_with_interval(figures_of_judge.advantage.value, figures_of_judge.advantage.ci),),
                    (of(figures_of_judge.advantage.n, figures.pairs),),
                    (_ANSWERS[figures_of_judge.passes],),
                ),
                strong=figures_of_judge is decided,
            )
            for name, figures_of_judge in named
        ),
    )
    left = len(figures.neurons) - _MOST_NEURONS
    if left > 0:
        yield Paragraph((f"{plural(left, 'more neuron')}: in the JSON form.",), "note")
    yield from _annotators(figures, report.decides)


def _annotators(figures: RunAltTest, decides: str) -> Iterable[Block]:
    rows = figures.aggregations[decides].annotators
    yield Table(
        ("Left out", "Judge as close, %", "Annotator as close, %", "p, adjusted", "Pairs", "Judge wins"),
        (False, True, True, True, True, False),
        tuple(
            Row(
                (
                    (Given(name),),
                    (percent(annotator.judge, unit=False),),
                    (percent(annotator.annotator, unit=False),),
                    (ratio(annotator.p_adjusted),),
                    (of(annotator.n, annotator.n_total),),
                    (_ANSWERS[annotator.won],),
                )
            )
            for name, annotator in rows.items()
        ),
    )
    yield Paragraph(
        (
            f"The Alternative Annotator Test (Calderon et al. 2025) for {aggregation_title(decides)}: each annotator "
            "is left out in turn, and judge and annotator are compared with the others, by the share of them that say "
            "the same. A judge wins where it is as close to them as the annotator in all but at most "
            f"ε = {figures.epsilon:g} of the pairs: one-sided t test over pairs, or over questions where pairs share "
            f"them, with a false discovery rate of {figures.fdr:g} (Benjamini and Yekutieli 2001). It may replace "
            "people if it wins against half of the annotators or more. "
            f"{of(figures.pairs_annotated, figures.pairs)} pairs have two annotators or more.",
        ),
        "note",
    )
