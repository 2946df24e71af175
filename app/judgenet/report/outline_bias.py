"""The section of a report about the biases that a lab measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from judgenet.core.bias import PROBES
from judgenet.core.bias.base import LabSettings
from judgenet.core.presets import size_name
from judgenet.core.wording import day, of, p_value, plural, ratio, ratio_interval
from judgenet.report.bias_chart import bias_chart
from judgenet.report.bias_figures import LabFigures
from judgenet.report.blocks import (
    Block,
    Bullets,
    Figure,
    Given,
    Line,
    Paragraph,
    ReportDocument,
    Row,
    Section,
    Strong,
    Table,
)
from judgenet.report.model import Report
from judgenet.stats.bias import Cell, Judge
from judgenet.stats.bias_conclusions import signed
from judgenet.stats.intervals import Interval
from judgenet.stats.lab import AT_ONCE, PEOPLE, LabResult, RankAgreement
from judgenet.stats.people_bias import PEOPLE_JUDGE
from judgenet.version import __version__

_PARTS = ("single", "baseline", "layer", "aggregation", "network")
"""The judges of which a report has a column each."""


def bias_section(report: Report) -> Iterable[Block]:
    """The newest lab of the project: the card, its figures, the way from the single judge to the network, what names
    change, rankings, what was left out, and how it was measured."""
    if report.bias is not None:
        yield from lab_blocks(report.bias)


def lab_document(lab: LabFigures) -> ReportDocument:
    """A lab without a run, as a report of its own."""
    named = "Single judge" if lab.spec is None else lab.spec.name or f"Network {size_name(lab.spec)}"
    return ReportDocument(
        kicker=("Report of a bias lab, ", Given(named)),
        date=day(lab.created_at),
        title="Biases of the judges",
        blocks=tuple(lab_blocks(lab)),
        foot=f"JudgeNet {__version__}, one file, no remote content",
    )


def lab_blocks(lab: LabFigures) -> Iterable[Block]:
    """A lab as blocks."""
    result, card = lab.result, lab.card
    counts = f"{plural(result.lab.pairs, 'pair')} of {plural(result.lab.questions, 'instruction')}"
    yield Section("Bias lab", f"{lab.title}, {counts}")
    if card is None:
        yield Paragraph(("No judge of the lab has answered yet.",))
        return
    if lab.unfinished:
        names = " and ".join(lab.unfinished)
        yield Paragraph((Strong("The lab is not finished: "), f"calls of {names} are missing."))
    yield Paragraph((Strong(f"{result.headline}."), *((f" {result.subline}",) if result.subline else ())))
    said = "; ".join(
        f"{row.title} {', '.join(part for part in (ratio(row.share), row.net_text) if part)} ({row.words})"
        for row in card.rows
    )
    yield Figure(bias_chart(card, f"Shares of {card.subject.title}: {said}"), _card_table(result, card.subject))
    yield Paragraph(
        (
            "A bar is the share of valid pairs on which the bias decides. RANDOM is the share that chance alone gives: "
            "it measures noise and is no threshold, since a judge with a bias on few pairs is below it too. The "
            "findings rest on the net effect: the share on which the bias decides less the share on which its opposite "
            f"does. “No bias”: an equivalence test rules out a net effect above {result.lab.settings.margin:g} "
            "(the 90 % interval lies within it on both sides).",
        ),
        "note",
    )
    yield _net_table(result, card.subject)
    if len(_columns(result)) > 1:
        yield Section("Single judge, layers and network", level=3)
        yield _parts_table(result, "Net effect", _net)
        yield _parts_table(result, "Share", lambda cell: ratio(cell.share))
        yield from _differences(result)
    yield from _people(result)
    yield from _names(result)
    yield from _ranks(result.ranks, result.judges)
    if lab.orders is not None:
        orders = lab.orders
        rate = "" if orders.valid_rate is None else f" ({ratio(orders.valid_rate)})"
        yield Paragraph(
            (
                f"Asked for an order of {orders.size:,} responses at once: "
                f"{of(len(orders.rankings), orders.asked)} answers are valid{rate}.",
            )
        )
    yield from _left_out(result)
    yield Paragraph(_method(lab), "note")


def _people(result: LabResult) -> Iterable[Block]:
    """People's answers to the same prompts; no block where nobody answered."""
    people = result.people
    if people is None:
        return
    yield Section("People on the same prompts", level=3)
    yield Paragraph(
        (
            f"{plural(len(people.persons), 'person', 'persons')} gave {plural(people.answers, 'answer')} to "
            f"{of(people.prompts, people.prompts_total)} prompts, shuffled and without a hint of the probe. They are "
            "counted as those of judges; a person counts once for a pair whose prompts they all answered, and several "
            "persons on one pair share its question.",
        )
    )
    yield Table(
        ("People", "Share", "95 % interval", "n", "Pairs", "Net effect", "95 % interval", "Finding"),
        (False, True, True, True, True, True, True, False),
        tuple(
            Row(
                (
                    (PROBES[cell.probe].title,),
                    (ratio(cell.share),),
                    (ratio_interval(cell.interval),),
                    (of(cell.n, cell.items),),
                    (of(people.pairs[cell.probe], len(result.plan(cell.probe).items)),),
                    (_net(cell),),
                    (_ends(cell.net_ci if PROBES[cell.probe].has_rival else None) or "–",),
                    (cell.words,),
                )
            )
            for cell in people.cells
        ),
    )


def _card_table(result: LabResult, subject: Judge) -> Table:
    rows = []
    for plan in result.lab.probes:
        cell, chance = result.cell(plan.key, subject.id), result.chances[plan.key]
        rows.append(
            Row(
                (
                    (PROBES[plan.key].title,),
                    (ratio(cell.share),),
                    (ratio_interval(cell.interval),),
                    ("–" if chance.analytic is None else ratio(chance.analytic),),
                    (of(cell.n, cell.items),),
                    (cell.words,),
                )
            )
        )
    columns = ("Bias", "Share", "95 % interval", "RANDOM", "n", "Finding")
    return Table(columns, (False, True, True, True, True, False), tuple(rows))


def _net_table(result: LabResult, subject: Judge) -> Table:
    """Valid rate, both sides, net effect and tests."""
    rows = []
    for plan in result.lab.probes:
        probe, cell, chance = PROBES[plan.key], result.cell(plan.key, subject.id), result.chances[plan.key]
        names = probe.outcomes[2:] if probe.rule == "changed" else probe.outcomes[:2]
        others = [name for name in ("tie", "invalid") if cell.counts[name]]
        sides = ", ".join(f"{name} {cell.counts[name]:,}" for name in (*names, *others))
        rows.append(
            Row(
                (
                    (probe.title,),
                    (sides if cell.items else "–",),
                    (ratio(cell.valid_rate),),
                    (_net(cell),),
                    (_ends(cell.net_ci if probe.has_rival else None) or "–",),
                    ("–" if cell.net_p_holm is None else _p(cell.net_p_holm),),
                    ("–" if chance.high is None else ratio(chance.high),),
                    ("–" if cell.p_holm is None else _p(cell.p_holm),),
                )
            )
        )
    columns = (
        "Bias",
        "Pairs",
        "Valid rate",
        "Net effect",
        "95 % interval",
        "p of net",
        "97.5 % point of chance",
        "p against RANDOM",
    )
    return Table(columns, (False, False, *(True,) * 6), tuple(rows))


def _ends(interval: Interval | None) -> str:
    return "" if interval is None else f"[{signed(interval.low)}, {signed(interval.high)}]"


def _p(p: float) -> str:
    return p_value(p).removeprefix("p ").removeprefix("= ")


def _columns(result: LabResult) -> list[Judge]:
    people = () if result.people is None else (PEOPLE_JUDGE,)
    return [*(judge for judge in result.judges if judge.kind in _PARTS), *people]


def _net(cell: Cell) -> str:
    return "–" if cell.net is None or not PROBES[cell.probe].has_rival else signed(cell.net)


def _parts_table(result: LabResult, title: str, figure: Callable[[Cell], str]) -> Table:
    """A figure of each bias, from the single judge by the layers to the network."""
    judges = _columns(result)
    rows = tuple(
        Row(
            (
                (PROBES[plan.key].title,),
                *((figure(result.cell(plan.key, judge.id)),) for judge in judges),
            )
        )
        for plan in result.lab.probes
    )
    return Table((title, *(judge.title for judge in judges)), (False, *(True,) * len(judges)), rows)


def _differences(result: LabResult) -> Iterable[Block]:
    """What the network changes compared with the single judge, and each layer compared with the one before it."""
    titles = {judge.id: judge.title for judge in result.judges}
    rows = []
    kinds = {judge.id: judge.kind for judge in result.judges}
    for shift in result.shifts:
        whole = (kinds[shift.first], kinds[shift.second]) == ("single", "network")
        net = PROBES[shift.probe].has_rival
        difference = shift.net_difference if net else shift.difference
        p = shift.net_p_holm if net else shift.p_holm
        if difference is None or not (whole or shift.clear):
            continue
        ends = (shift.first_net, shift.second_net) if net else (shift.first_share, shift.second_share)
        rows.append(
            Row(
                (
                    (PROBES[shift.probe].title,),
                    (f"{titles[shift.first]} → {titles[shift.second]}",),
                    (" → ".join("–" if end is None else signed(end) if net else ratio(end) for end in ends),),
                    (signed(difference),),
                    (_ends(shift.net_ci if net else shift.interval),),
                    ("–" if p is None else _p(p),),
                    (f"{shift.net_n if net else shift.n:,}",),
                )
            )
        )
    if rows:
        columns = ("Bias", "From → to", "Net effects", "Difference", "95 % interval", "p (Holm)", "n")
        yield Paragraph(
            (
                "Net effects on the pairs that are valid for both (without a rival: shares), with exact sign tests of "
                "the pairs on which the two differ. Of the steps from layer to layer only significant ones are shown; "
                "all of them are in the CSV form.",
            ),
            "note",
        )
        yield Table(columns, (False, False, True, True, True, True, True), tuple(rows))


def _names(result: LabResult) -> Iterable[Block]:
    titles = {judge.id: judge.title for judge in _columns(result)}
    effects = [effect for effect in result.names_effects if effect.judge in titles and effect.n]
    if not effects:
        return
    yield Section("What real names change", "first–first", level=3)
    rows = tuple(
        Row(
            (
                (titles[effect.judge],),
                (ratio(effect.share_plain),),
                (ratio(effect.share_named),),
                ("–" if effect.difference is None else signed(effect.difference),),
                ("–" if effect.p is None else _p(effect.p),),
                (f"{effect.n:,}",),
                ("–" if effect.own_named is None else f"{ratio(effect.own_named)} of {effect.own_n:,}",),
            )
        )
        for effect in effects
    )
    columns = ("Judge", "Without names", "With names", "Difference", "p", "n", "Own system wins, named")
    yield Table(columns, (False, True, True, True, True, True, True), rows)


def _ranks(ranks: RankAgreement, judges: Iterable[Judge]) -> Iterable[Block]:
    titles = {judge.id: judge.title for judge in judges if judge.kind in ("single", "baseline", "layer", "network")}
    titles |= {PEOPLE: "people", AT_ONCE: "orders at once", **ranks.others} | ranks.others
    rows = [
        Row(
            (
                (f"{titles[first]} and {titles[second]}",),
                (ratio(overlap.value),),
                (of(overlap.questions, overlap.total),),
            )
        )
        for (first, second), overlap in ranks.overlaps.items()
        if first in titles and second in titles
    ]
    if ranks.among_people is not None:
        among = ranks.among_people
        rows.append(Row((("people with each other",), (ratio(among.value),), (of(among.questions, among.total),))))
    if not rows:
        return
    yield Section("Similarity of the rankings", "rank-biased overlap, p = 0.8", level=3)
    yield Table(("Rankings by", "Overlap", "Instructions"), (False, True, True), tuple(rows))


def _left_out(result: LabResult) -> Iterable[Block]:
    items: list[Line] = []
    for plan in result.lab.probes:
        if plan.left_out:
            why = "; ".join(f"{count:,}: {reason}" for reason, count in plan.left_out.items())
            total = len(plan.items) + sum(plan.left_out.values())
            items.append((f"{PROBES[plan.key].title}: {of(len(plan.items), total)} pairs ({why}).",))
    if items:
        yield Section("Left out of the lab", level=3)
        yield Bullets(tuple(items))


def _method(lab: LabFigures) -> Line:
    settings = lab.result.lab.settings
    asked = "the single judge" if lab.spec is None else f"a network of {size_name(lab.spec)}"
    models: Line = (" on ", Given(", ".join(lab.models))) if lab.models else ()
    own: Line = (" Own system: ", Given(", ".join(settings.own)), ".") if settings.own else ()
    number = f" It is the newest of {lab.labs:,} labs of this project." if lab.labs > 1 else ""
    return (
        f"Measured on {day(lab.created_at)}: {asked}",
        *models,
        ". Each pair is shown in two prompts, each in one order; the whole network answers in that order. ",
        _told(settings),
        *own,
        " A tie in either prompt is neither biased nor consistent; a pair found order-biased has no part in length. "
        "Net effects have Tango's interval and the exact sign test, over instructions where pairs share them. Shares "
        "have Wilson's interval, or one that draws instructions with replacement, and an exact binomial test against "
        f"RANDOM. All p are Holm-adjusted over the probes. Margin for “no bias”: {settings.margin:g}. Seed "
        f"{settings.seed}.{number}",
    )


def _told(settings: LabSettings) -> str:
    shares = (
        "Shares are of pairs with a valid answer to each prompt; below a valid rate of one half there is no verdict."
        if settings.denominator == "valid"
        else "Shares are divided as CoBBLEr's released code does, by all pairs."
    )
    tie = "" if settings.tie else " A tie was not offered."
    return f"{shares} The invented majority is {settings.share} %.{tie}"
