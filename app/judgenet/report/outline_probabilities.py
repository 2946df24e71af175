"""What a report says of a run that was scored by token probabilities: for how many calls, and what that changes."""

from __future__ import annotations

from collections.abc import Iterable

from judgenet.core.probabilities import LEAST_SEEN, SCORE_SOURCE_WORDS
from judgenet.core.wording import aggregation_title, minus, of, percent_with_interval
from judgenet.figures.parts import AgreementFigures, MeanFigures
from judgenet.report.blocks import Block, Bullets, Line, Paragraph, Row, Section, Table
from judgenet.report.model import Report

ABOUT = (
    "The score of a response is the expected score over the scale (Liu et al., 2023): the sum of the scores, each "
    "times the probability that the judge writes it at that place, given all that it wrote before. A number of several "
    "tokens is read as a sequence. Probability outside the scale, or on tokens that the endpoint did not send, is left "
    f"out and the rest renormalised; where less than {100 * LEAST_SEEN:.0f} % is on the scale the text is used. The "
    "second score is written after the first, so that the probabilities of A, tie and B, which take the two as "
    "independent, are an approximation; the difference of the expected scores is not."
)


BRIER = (
    "The Brier score is the sum of the squared differences between the probabilities of A, tie and B and the human "
    "label (1 for the label, 0 for the others), from 0 (best) to 2."
)


def method_words(report: Report) -> str:
    """The method of scoring, in sentences for a paper; empty where scores are those of the texts."""
    figures = report.probabilities
    if figures is None:
        return ""
    left = figures.calls - figures.used
    others = f", and those of the sampled text in the other {left:,}" if left else ""
    return (
        f"Scores are expected scores over the scale from 1 to 10 by token probabilities (Liu et al., 2023) in "
        f"{of(figures.used, figures.calls)} scored calls{others}. "
    )


def probabilities_section(report: Report) -> Iterable[Block]:
    """For how many calls token probabilities were used, and what soft votes and expected scores change."""
    figures = report.probabilities
    if figures is None:
        return
    yield Section("Scores by token probabilities", f"{of(figures.used, figures.calls)} scored calls")
    if figures.by_text:
        yield Paragraph(("The scores of the other calls are those of the sampled text:",))
        yield Bullets(tuple(_reason(source, count, figures.calls) for source, count in figures.by_text.items()))
    if report.headline.agreement.n_used:
        yield Table(
            ("Aggregation", "Accuracy, %", "By the sampled text, %", "n used"),
            (False, True, True, True),
            tuple(
                _accuracy_row(report, name, figures.sampled.get(name))
                for name in report.aggregations
                if name in figures.sampled or name.startswith("soft_")
            ),
        )
    yield Paragraph((figures.sharpness_line,))
    if figures.brier.value is not None:
        yield Table(
            ("Brier score against people", "Mean", "95 % interval", "Labelled pairs"),
            (False, True, True, True),
            (
                _brier_row("Mean probabilities of the neurons", figures.brier),
                _brier_row("Shares of the neurons' votes by the sampled text", figures.brier_sampled),
                _brier_row("Difference", figures.brier_difference, signed=True),
            ),
        )
        yield Paragraph((BRIER,), "note")
    yield Paragraph((ABOUT,), "note")


def _reason(source: str, count: int, total: int) -> Line:
    words = next((text for known, text in SCORE_SOURCE_WORDS.items() if known == source), source)
    return (f"{of(count, total)} calls: {words.removeprefix('sampled text, as ')}.",)


def _accuracy_row(report: Report, name: str, sampled: AgreementFigures | None) -> Row:
    """An aggregation by expected scores, and by the sampled text of the same calls where it can be counted by them."""
    reported = report.aggregations[name]
    by_text = "–" if sampled is None else percent_with_interval(sampled.accuracy, sampled.accuracy_ci)
    return Row(
        (
            (aggregation_title(name),),
            (percent_with_interval(reported.agreement.accuracy, reported.intervals.accuracy),),
            (by_text,),
            (of(*reported.used),),
        ),
        name == report.decides,
    )


def _brier_row(name: str, mean: MeanFigures, *, signed: bool = False) -> Row:
    form = "+.3f" if signed else ".3f"
    value = "n/a" if mean.value is None else minus(format(mean.value, form))
    ends = "" if mean.ci is None else f"[{minus(format(mean.ci.low, form))}, {minus(format(mean.ci.high, form))}]"
    return Row(((name,), (value,), (ends,), (f"{mean.n:,}",)))
