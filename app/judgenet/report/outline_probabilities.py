"""What a report says of a run that was scored by token probabilities: for how many calls, and what that changes."""

from __future__ import annotations

from collections.abc import Iterable

from judgenet.core.probabilities import LEAST_SEEN, SCORE_SOURCE_WORDS
from judgenet.core.wording import aggregation_title, of, percent, plural
from judgenet.figures.parts import AgreementFigures, MeanFigures
from judgenet.figures.probabilities import ProbabilityFigures
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


def method_words(report: Report) -> str:
    """The method of scoring, in sentences for a paper; empty where scores are those of the texts."""
    found = report.probabilities
    if found is None:
        return ""
    return (
        f"Scores are expected scores over the scale from 1 to 10 by token probabilities (Liu et al., 2023) in "
        f"{of(found.used, found.calls)} scored calls{_others(found)}. "
    )


def _others(found: ProbabilityFigures) -> str:
    left = found.calls - found.used
    return f", and those of the sampled text in the other {left:,}" if left else ""


def probabilities_section(report: Report) -> Iterable[Block]:
    """For how many calls token probabilities were used, and what soft votes and expected scores change."""
    found = report.probabilities
    if found is None:
        return
    yield Section("Scores by token probabilities", f"{of(found.used, found.calls)} calls")
    if found.by_text:
        lines = [_why(why, count, found.calls) for why, count in found.by_text.items()]
        yield Paragraph(("The scores of the other calls are those of the sampled text:",))
        yield Bullets(tuple(lines))
    rows = [
        Row(((aggregation_title(name),), (_share(report, name),), (_accuracy(found.sampled.get(name)),)))
        for name in report.aggregations
        if name in found.sampled or name.startswith("soft_")
    ]
    if report.headline.agreement.n_used:
        yield Table(("", "Accuracy", "By sampled text"), (False, True, True), tuple(rows))
    yield Paragraph((found.sharpness_line,))
    if found.brier.value is not None:
        yield Paragraph(
            (
                f"Brier score of the neurons' mean probabilities of A, tie and B (0 is best): {_mean(found.brier)}; of "
                f"the shares of votes by sampled text: {_mean(found.brier_sampled)}; difference "
                f"{_mean(found.brier_difference, signed=True)}; {plural(found.brier.n, 'labelled pair')}.",
            )
        )
    yield Paragraph((ABOUT,), "note")


def _why(why: str, count: int, total: int) -> Line:
    words = next((text for source, text in SCORE_SOURCE_WORDS.items() if source == why), why)
    return (f"{of(count, total)} calls: {words.removeprefix('sampled text, as ')}.",)


def _share(report: Report, name: str) -> str:
    accuracy = report.aggregations[name].agreement.accuracy
    return "n/a" if accuracy is None else percent(accuracy)


def _accuracy(figures: AgreementFigures | None) -> str:
    return "" if figures is None else "n/a" if figures.accuracy is None else percent(figures.accuracy)


def _mean(mean: MeanFigures, *, signed: bool = False) -> str:
    form = "+.3f" if signed else ".3f"
    if mean.value is None:
        return "n/a"
    return format(mean.value, form) + ("" if mean.ci is None else f" ({mean.ci.low:{form}} to {mean.ci.high:{form}})")
