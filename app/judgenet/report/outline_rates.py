"""The win rate in a report: its headline, and the section with every estimate of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from judgenet.core.labels import Chosen
from judgenet.core.pairs import Verdict
from judgenet.core.wording import SPOKEN, aggregation_title, capitalized, of, percent, percent_interval, plural, ratio
from judgenet.figures.rates import CorrectedRates
from judgenet.report.blocks import (
    Block,
    Bullets,
    Figure,
    Given,
    Headline,
    Line,
    Paragraph,
    Row,
    Section,
    Strong,
    Table,
    VerdictMark,
)
from judgenet.report.charts import ForestRow as Drawn
from judgenet.report.drawing import Drawing
from judgenet.report.marks import RowEmphasis
from judgenet.report.model import Report
from judgenet.report.outline_tables import PLACES, forest, system_name
from judgenet.stats.calibration import Estimate, Method
from judgenet.stats.provenance import left_words

RATE_TITLES: dict[Method, str] = {
    "stratified": "Corrected (stratified)",
    "ppi": "PPI++, cross-check",
    "human_only": "Human labels only",
    "lee": "Lee et al., two classes",
    "k_class": "Error rates, K classes",
    "naive": "Uncorrected",
}
CHOSEN_WORDS: dict[Chosen, str] = {
    "random": "drawn at random from all pairs",
    "within-verdict": "drawn at random within each verdict",
    "targeted": "chosen by a property of theirs",
    "imported": "labelled elsewhere",
}
_IN_HEAD: tuple[Method, ...] = ("stratified", "ppi", "human_only", "naive")
_LOOKS: dict[Method, RowEmphasis] = {"stratified": "subject", "naive": "uncorrected"}


def one_b(report: Report) -> bool:
    """Whether B is the same system on all pairs, or none is named: only then its win rate is a headline."""
    return report.data.system_b is not None or not report.data.systems


def rate_title(report: Report) -> str:
    """The question that the win rate answers."""
    data = report.data
    if data.system_a is None or data.system_b is None:
        return "How often is response B better than A?"
    return f"Is {data.system_b} better than {data.system_a}?"


def win_of(report: Report) -> Line:
    """``win rate of B name over A name``."""
    b, a = system_name(report, "b"), system_name(report, "a")
    return ("win rate of ", VerdictMark("b"), *b, " over ", VerdictMark("a"), *a)


def rate_headline(report: Report) -> Iterable[Block]:
    """The corrected win rate with its interval, what it means, and the other estimates.

    ``report.rates.corrected`` has a value.
    """
    rates, corrected = report.rates, report.rates.corrected
    within = "no interval"
    if corrected.interval is not None:
        within = f"95 % interval {100 * corrected.interval.low:.1f} to {100 * corrected.interval.high:.1f}"
    yield Headline(
        percent(corrected.value),
        within,
        (
            "corrected ",
            *win_of(report),
            f" by {aggregation_title(report.decides)}, ties count half; {of(rates.labelled, rates.judged)} judged "
            "pairs have a label",
        ),
    )
    yield Paragraph(rate_line(report))
    yield Figure(*rate_forest(report))
    yield Paragraph(chosen_line(report), "note")


def rate_line(report: Report) -> Line:
    """Whether the corrected rate differs from 50 %, and what the verdicts alone would have shown."""
    rates, corrected = report.rates, report.rates.corrected
    naive = rates.estimates["naive"]
    side = _decided(corrected)
    if corrected.interval is None:
        line: Line = (f"Not decided: there is no interval, {corrected.reason}. ",)
    elif side is None:
        line = ("Not decided: the interval includes 50 %. ",)
    else:
        where = "above" if side == "b" else "below"
        line = (VerdictMark(side), *system_name(report, side), f" is better: the interval lies {where} 50 %. ")
    alone = _decided(naive)
    if naive.value is not None:
        sentence = f"The network alone reports {percent(naive.value)} {percent_interval(naive.interval)}"
        if alone is not None and side is None:
            win = "win" if alone == "b" else "loss"
            sentence += f": its interval excludes 50 %, which would have been read as a {win} of B"
        elif alone is not None and alone != side:
            sentence += ": it would have been read the other way round"
        line = (*line, f"{sentence}. ")
    strata = {part.verdict: part for part in rates.stratified.strata}
    said_b = strata["b"].labels if "b" in strata else 0
    labels = report.headline.agreement.confusion[PLACES.index("b")]
    return (
        *line,
        f"On the {plural(rates.labelled, 'pair')} that people judged too, the network says B {said_b:,} times and "
        f"people say B {sum(labels):,} times.",
    )


def _decided(estimate: Estimate) -> Verdict | None:
    if estimate.interval is None:
        return None
    return "b" if estimate.interval.low > 0.5 else "a" if estimate.interval.high < 0.5 else None


def chosen_line(report: Report) -> Line:
    """How the labels were chosen, and how many labels the network's verdicts are worth."""
    return (f"{chosen_words(report.rates)} {worth_words(report.rates)}",)


def chosen_words(rates: CorrectedRates) -> str:
    """How the labelled pairs were chosen, as a sentence."""
    left = f" Left out: {left_words(rates.sample.left_out)}." if any(rates.sample.left_out.values()) else ""
    if not rates.labelled:
        return f"No judged pair has a human label that counts.{left}"
    count = plural(rates.labelled, "label")
    if rates.assumed:
        return (
            f"The {count} came with the data, and nothing is recorded of how their pairs were chosen: they do not "
            f"count as drawn at random.{left}"
        )
    if rates.sample.complete:
        return f"All judged pairs are labelled; no sampling was needed.{left}"
    return f"The pairs of the {count} were {CHOSEN_WORDS[rates.chosen]}.{left}"


def worth_words(rates: CorrectedRates) -> str:
    """How many labels the network's verdicts are worth, as a sentence."""
    worth = rates.worth
    if worth.multiplier is None:
        return f"What the network is worth in human labels: n/a – {worth.reason}."
    each = "" if worth.per_verdict is None else f"; one verdict on an unlabelled pair is worth {worth.per_verdict:.3f}"
    return (
        f"With the network's verdicts each human label counts as {worth.multiplier:.2f} labels{each} "
        f"(correlation of verdicts and labels {ratio(worth.correlation)})."
    )


def rate_forest(report: Report, methods: tuple[Method, ...] = _IN_HEAD) -> tuple[Drawing, Table]:
    """The estimates as a chart, and as its table."""
    rows = [
        Drawn(
            RATE_TITLES[method],
            estimate.value,
            estimate.interval,
            _LOOKS.get(method, "other"),
            _rests_on(estimate),
            estimate.reason,
        )
        for method in methods
        for estimate in (report.rates.estimates[method],)
    ]
    return forest(rows, "Win rate of B over A", ("even at", 0.5))


def _rests_on(estimate: Estimate) -> str:
    if estimate.value is None:
        return ""
    return f"n {estimate.n:,}, {estimate.labels:,} labelled" if estimate.labels else f"n {estimate.n:,}"


def winner_section(report: Report) -> Iterable[Block]:
    """Every estimate of the win rate, why some are missing, and what people say of each verdict."""
    rates = report.rates
    if not rates.judged:
        return
    yield Section("Which response wins", "ties count half")
    if rates.corrected.value is None or not one_b(report):
        yield Figure(*rate_forest(report))
    if not one_b(report):
        yield Paragraph(
            (
                "A and B are not the same two systems on all pairs: this rate says how often the response in the "
                "place of B wins.",
            ),
            "note",
        )
    yield _estimates(rates)
    notes = list(_notes(rates))
    if notes:
        yield Bullets(tuple(notes))
    yield Paragraph(chosen_line(report))
    if rates.labelled:
        yield Section("What people say of each verdict", level=3)
        yield _strata(rates)
        yield Paragraph(
            (
                "Mean score of B: 1 where people say B, half where a tie, 0 where A, with one label more spread evenly "
                "over the classes. The corrected rate is the mean of these, weighted by how often the network gives "
                "the verdict. The truth is what these people say: their own errors are not corrected.",
            ),
            "note",
        )
    counts = report.verdicts
    yield Paragraph(
        (
            f"The network says A {counts.a:,}, a tie {counts.tie:,} and B {counts.b:,} times; "
            f"{of(counts.n, report.data.pairs)} pairs have a verdict.",
        ),
        "note",
    )


def _estimates(rates: CorrectedRates) -> Table:
    rows = []
    for method in RATE_TITLES:
        estimate = rates.estimates[method]
        rows.append(_estimate(RATE_TITLES[method], estimate, strong=method == "stratified"))
        if method == "stratified" and rates.stratified.these_pairs.value is not None and rates.labelled < rates.judged:
            rows.append(_estimate("the same, of just these pairs", rates.stratified.these_pairs))
    rows.append(_estimate("Decided pairs only, corrected", rates.decided))
    length = rates.length_adjusted
    rows.append(_estimate("At equal length, uncorrected", Estimate(length.value, length.interval, length.n, 0)))
    return Table(
        ("Estimate", "Win rate of B, %", "95 % interval", "Pairs", "Labels"),
        (False, True, True, True, True),
        tuple(rows),
    )


def _estimate(name: str, estimate: Estimate, *, strong: bool = False) -> Row:
    cells: tuple[Line, ...] = (
        (name,),
        (percent(estimate.value, unit=False),),
        (percent_interval(estimate.interval),),
        (f"{estimate.n:,}",),
        (f"{estimate.labels:,}",),
    )
    return Row(cells, strong)


def _notes(rates: CorrectedRates) -> Iterable[Line]:
    """Why estimates are missing, and notes on those that are there."""
    named = {RATE_TITLES[method]: rates.estimates[method] for method in get_args(Method)}
    named["Decided pairs only, corrected"] = rates.decided
    reasons: dict[str, list[str]] = {}
    for name, estimate in named.items():
        if estimate.value is None or (estimate.interval is None and estimate.reason):
            reasons.setdefault(estimate.reason, []).append(name)
    for reason, names in reasons.items():
        there = any(named[name].value is not None for name in names)
        what = "no interval" if there else "n/a"
        yield (Strong(f"{'; '.join(names)}: {what}. "), f"{capitalized(reason)}.")
    for name, estimate in named.items():
        for note in estimate.notes:
            if note != "uncorrected":
                yield (Strong(f"{name}. "), f"{capitalized(note)}.")
    length = rates.length_adjusted
    if length.value is None:
        yield (Strong("At equal length, uncorrected: n/a. "), f"{capitalized(length.reason)}.")
    else:
        slope = "" if length.slope is None else f" (slope {ratio(length.slope)})"
        yield (
            Strong("At equal length. "),
            f"A logistic regression on the difference of lengths{slope}; where longer answers are truly better, it "
            "takes away real quality.",
        )


def _strata(rates: CorrectedRates) -> Table:
    return Table(
        ("The network says", "Pairs", "Share, %", "Labels", "People's mean score of B", "Standard deviation"),
        (False, True, True, True, True, True),
        tuple(
            Row(
                (
                    (SPOKEN[part.verdict],),
                    (f"{part.n:,}",),
                    (percent(part.share, unit=False),),
                    (f"{part.labels:,}",),
                    (f"{part.mean:.3f}",),
                    (f"{part.sd:.3f}",),
                )
            )
            for part in rates.stratified.strata
        ),
    )


def no_rate_line(report: Report) -> Line:
    """Why there is no corrected win rate; empty where there is one."""
    corrected = report.rates.corrected
    if corrected.value is not None:
        return ()
    return (Strong("No corrected win rate: "), Given(f"{corrected.reason}."))
