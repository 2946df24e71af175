"""The section of a report with the intervals that are valid at any time, and the rule that stopped the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgenet.core.until import FIGURE_WORDS
from judgenet.core.wording import aggregation_title, capitalized, of, percent, percent_interval, plural, ratio
from judgenet.figures.anytime import AnytimeEstimate, UntilFigures
from judgenet.report.blocks import Block, Bullets, Given, Line, Paragraph, Row, Section, Table
from judgenet.report.model import Report
from judgenet.stats.intervals import Interval

ABOUT = (
    "An interval for one look is too narrow for those who look while the run goes on, or stop it by what they see. The "
    "intervals of the last column hold together after every pair with a probability of at least 95 %, without "
    "approximation (confidence sequences by betting, Waudby-Smith and Ramdas 2024): they may be looked at, and the run "
    "stopped, at any time. In return they are wider."
)
_CORRECTED = (
    "The corrected rate is the mean of the verdicts plus the mean difference between label and verdict on the pairs "
    "labelled at random, and it is the mean of the labels: its interval is what both say in common (union bound). It "
    "is not the stratified estimate, of which no such interval is known."
)


def anytime_section(report: Report) -> Iterable[Block]:
    """The figures of the deciding verdict with both kinds of interval."""
    anytime = report.anytime
    if anytime is None or not anytime.n:
        return
    yield Section("Valid at any time", f"{of(anytime.n, anytime.n_total)} pairs count")
    if report.until is not None:
        yield Paragraph(until_line(report.until))
    rows = tuple(_rows(report))
    yield Table(
        ("", "For one look", "Valid at any time", "Pairs", "Questions"),
        (False, True, True, True, True),
        tuple(
            Row(((title,), (once,), (always,), (f"{figure.n:,}",), (f"{figure.n_questions:,}",)))
            for title, once, always, figure in rows
        ),
    )
    rate = anytime.aggregations[report.decides].win_rate
    if rate.e_value is not None:
        side = "excluded" if rate.e_value >= 1 / anytime.alpha else "not excluded"
        yield Paragraph(
            (
                f"A win rate of 50 % is {side} at any time: e = {rate.e_value:.4g} (20 or more excludes it), p = "
                f"{ratio(rate.p)}.",
            )
        )
    reasons = {f"{title}: {figure.reason}." for title, _, _, figure in rows if figure.value is None}
    if lines := sorted(reasons | {f"{capitalized(note)}." for note in anytime.notes}):
        yield Bullets(tuple((Given(line),) for line in lines))
    yield Paragraph((ABOUT,), "note")
    if anytime.aggregations[report.decides].corrected.value is not None:
        yield Paragraph((_CORRECTED,), "note")


def _rows(report: Report) -> Iterator[tuple[str, str, str, AnytimeEstimate]]:
    assert report.anytime is not None
    rates_at_any_time, rates = report.anytime.aggregations[report.decides], report.rates
    naive = rates.estimates["naive"]
    yield "Win rate of B, uncorrected", _shown(naive.value, naive.interval), *_always(rates_at_any_time.win_rate)
    accuracy = report.headline
    yield (
        "Accuracy",
        _shown(accuracy.agreement.accuracy, accuracy.intervals.accuracy),
        *_always(rates_at_any_time.accuracy),
    )
    corrected = rates.corrected
    yield "Win rate of B, corrected", _shown(corrected.value, corrected.interval), *_always(rates_at_any_time.corrected)


def _always(estimate: AnytimeEstimate) -> tuple[str, AnytimeEstimate]:
    return _shown(estimate.value, estimate.ci), estimate


def _shown(value: float | None, interval: Interval | None) -> str:
    return "n/a" if value is None else f"{percent(value)} {percent_interval(interval)}".strip()


def until_line(figures: UntilFigures) -> Line:
    """The stop rule of the run, and the figure that met it."""
    if not figures.met or figures.ci is None or figures.figure is None or figures.aggregation is None:
        return ("The run was to stop at ", Given(figures.rule), ", which was not met.")
    what = next(words for name, words in FIGURE_WORDS.items() if name == figures.figure)
    evidence = "" if figures.e_value is None else f", e = {figures.e_value:.4g}"
    return (
        "The run stopped itself at ",
        Given(figures.rule),
        f": after {plural(figures.pairs or 0, 'pair')} the {what} by {aggregation_title(figures.aggregation)} was "
        f"{percent(figures.value)} {percent_interval(figures.ci)}{evidence}.",
    )
