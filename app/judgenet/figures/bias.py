"""The biases of judges, from a bias lab or from the recorded calls of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from judgenet.core.bias import PROBES
from judgenet.core.bias.base import Denominator, LabSettings
from judgenet.core.bias.lab import ProbePlan
from judgenet.figures.base import ASKED, Figures, Keys, taken_over
from judgenet.figures.parts import OverlapFigures, Reasons, overlap_figures
from judgenet.stats.bias import Cell, Chance, Conclusion, Judge, Mood, Shift
from judgenet.stats.intervals import Interval
from judgenet.stats.lab import LabResult, NamesEffect, RankAgreement
from judgenet.stats.net_effect import Over
from judgenet.store.run_bias import RunBias


@dataclass(frozen=True)
class VarietyFigures:
    """The biased pairs of one form of a probe."""

    hits: int
    n: int


@dataclass(frozen=True)
class LabSettingsFigures:
    """How a lab was asked and judged."""

    own: Annotated[tuple[str, ...], "names of the judge's own systems"]
    share: Annotated[int, "per cent of people in the invented majority"]
    tie: Annotated[bool, "whether a tie is offered"]
    denominator: Annotated[Denominator, "valid or paper"]
    repeats: Annotated[int, "how often the very same is asked"]
    instructions: Annotated[int | None, "how many were drawn"]
    margin: Annotated[
        float, "the net effect that must be ruled out before a judge is said to have no bias (`--margin`)"
    ]
    seed: int
    reasons: Reasons


@dataclass(frozen=True)
class ProbeFigures:
    """A probe of a lab."""

    probe: Annotated[str, "the key of the bias"]
    title: str
    tells: str
    pairs: Annotated[int, "pairs that it allows"]
    left_out: Annotated[Mapping[str, int], Keys(("WHY",)), "pairs that it does not allow, by reason"]
    random: Annotated[float | None, "what a fair coin comes to"]
    random_mean: Annotated[float | None, "mean of so many coins on as many pairs"]
    random_97_5: Annotated[float | None, "their 97.5 % point"]
    random_repetitions: int
    pair_ids: Annotated[tuple[str, ...] | None, ASKED]
    reasons: Reasons


@dataclass(frozen=True)
class LabJudgeFigures:
    """A judge, or a part of a network that is measured as one."""

    id: str
    title: str
    kind: Annotated[str, "single, baseline, neuron, layer, aggregation or network"]
    layer: Annotated[int | None, "from 1"]
    neuron: Annotated[int | None, "from 1"]
    reasons: Reasons


@dataclass(frozen=True)
class CellFigures:
    """A bias of a judge."""

    probe: Annotated[str, "a bias of a judge"]
    judge: Annotated[str, "the judge's id"]
    share: Annotated[float | None, "`hits` of `n`"]
    interval: Interval | None
    interval_method: Annotated[str, "Wilson, or bootstrap over instructions"]
    hits: Annotated[int, "biased pairs"]
    n: Annotated[int, "the denominator"]
    items: Annotated[int, "pairs that were asked"]
    valid_first: Annotated[int, "pairs whose first answer is valid"]
    valid: Annotated[int, "pairs with a valid answer to each prompt"]
    valid_rate: Annotated[float | None, "`valid_first` of `items`"]
    counts: Annotated[Mapping[str, int], Keys(("OUTCOME",)), "pairs by what their answers come to"]
    net: Annotated[float | None, "target less rival, of the valid pairs: what the verdict rests on"]
    net_ci: Annotated[
        Interval | None, "Tango's, of as many independent pairs as these are worth where pairs share instructions"
    ]
    net_ci90: Annotated[Interval | None, "the 90 % interval, which the equivalence test looks at"]
    net_p: Annotated[float | None, "exact sign test"]
    net_p_holm: Annotated[float | None, "after Holm over the probes of the judge that have a rival"]
    net_over: Annotated[Over | None, "pairs, or questions where pairs share them: the units of the sign test"]
    equivalent: Annotated[
        bool | None, "the 90 % interval of the net effect (`identical`, `repeats`: of the share) lies within the margin"
    ]
    pairs_needed: Annotated[int | None, "where `conclusion` is unclear: pairs that would tell, in four of five labs"]
    p: Annotated[
        float | None,
        "against RANDOM: exact and binomial; where pairs share instructions the larger of that and the test over these",
    ]
    p_holm: Annotated[float | None, "after Holm over the probes of the judge"]
    z: Annotated[float | None, "the paper's test"]
    z_p: float | None
    consistent_share: Annotated[float | None, "own system: of the pairs judged the same way in both orders"]
    varieties: Annotated[Mapping[str, VarietyFigures], Keys(("FORM",)), "by form, where a probe has several"]
    codes: Annotated[
        tuple[str, ...] | None,
        ASKED,
        "a text a pair, in the order of `pair_ids`: `+` target, `-` rival, `=` tie, `?` unreadable, `.` not asked",
    ]
    reasons: Reasons
    conclusion: Annotated[
        Conclusion,
        "toward_target, toward_rival, negligible (significant, below the margin), no_bias, "
        "unclear (too few pairs to tell) or none (no verdict)",
    ]
    words: Annotated[str, "what it means"]
    mood: Annotated[Mood, "good, neutral, info, warning, bad or none"]


@dataclass(frozen=True)
class ShiftFigures:
    """A bias of two judges on the pairs that count for both."""

    probe: Annotated[str, "two judges on the pairs that count for both"]
    first: Annotated[str, "id"]
    second: Annotated[str, "id"]
    first_share: float | None
    second_share: float | None
    difference: Annotated[float | None, "second less first"]
    interval: Interval | None
    only_first: Annotated[int, "pairs on which only the first is biased"]
    only_second: int
    n: int
    p: Annotated[float | None, "exact (McNemar; the sign test of instructions where pairs share them)"]
    p_holm: float | None
    first_net: Annotated[float | None, "net effects, on the pairs that are valid for both"]
    second_net: float | None
    net_difference: Annotated[float | None, "second less first"]
    net_ci: Interval | None
    net_n: Annotated[int, "pairs that are valid for both"]
    net_p: Annotated[
        float | None, "exact sign test of the pairs (questions, where pairs share them) on which they differ"
    ]
    net_p_holm: Annotated[float | None, "the verdict on the difference rests on it"]
    reason: str | None
    reasons: Reasons


@dataclass(frozen=True)
class NamesEffectFigures:
    """What real names change."""

    judge: Annotated[str, "what real names change, where `compassion` is measured"]
    share_named: Annotated[float | None, "first-first with names"]
    share_plain: Annotated[float | None, "without"]
    difference: float | None
    n: int
    p: float | None
    own_named: Annotated[float | None, "how often the own system wins where it is marked"]
    own_n: int
    systems: Annotated[
        Mapping[str, tuple[float | None, float | None]], Keys(("SYSTEM",)), "wins per appearance with names and without"
    ]
    reasons: Reasons


@dataclass(frozen=True)
class RankPairFigures(OverlapFigures):
    """Rank-biased overlap of two raters, p = 0.8, extrapolated."""

    first: Annotated[str, "rank-biased overlap of two raters, p = 0.8, extrapolated"]
    second: str


@dataclass(frozen=True)
class RankAgreementFigures:
    """How alike raters rank the systems."""

    systems: tuple[str, ...]
    raters: Annotated[tuple[str, ...], "ids of judges, people, at_once, names of other labs"]
    others: Annotated[
        Mapping[str, str],
        Keys(("LAB",)),
        "title of another network that judged the same pairs, by the name of its lab",
    ]
    overlaps: tuple[RankPairFigures, ...]
    shares: Annotated[Mapping[str, Mapping[str, float]], Keys(("RATER", "SYSTEM")), "wins per appearance"]
    reason: str | None
    persons: Annotated[int, "people who labelled by name"]
    among_people: Annotated[OverlapFigures | None, "each two of them"]
    with_people: Annotated[Mapping[str, OverlapFigures], Keys(("RATER",)), "a rater and each of them"]
    reasons: Reasons


@dataclass(frozen=True)
class PeopleBiasFigures:
    """What people answered to the prompts of a lab."""

    persons: Annotated[tuple[str, ...], "who answered prompts of the lab, seeing what judges see"]
    answers: Annotated[int, "answers of all of them"]
    prompts: Annotated[int, "different prompts that have an answer"]
    prompts_total: Annotated[int, "prompts of the lab"]
    pairs: Annotated[Mapping[str, int], Keys(("PROBE",)), "different pairs that somebody answered in full"]
    cells: Annotated[
        tuple[CellFigures, ...],
        "as `cells`, of the judge `people`; an item is a person and a pair with an answer to each prompt",
    ]
    reason: str | None


@dataclass(frozen=True, repr=False)
class BiasFigures(Figures):
    """The biases of judges."""

    _rows = "cells"

    headline: Annotated[str, "what was found, in a sentence"]
    subline: Annotated[str, "the figures behind it"]
    settings: LabSettingsFigures
    pairs: int
    instructions: Annotated[int, "different questions"]
    probes: tuple[ProbeFigures, ...]
    judges: tuple[LabJudgeFigures, ...]
    cells: tuple[CellFigures, ...]
    differences: tuple[ShiftFigures, ...]
    names_effects: tuple[NamesEffectFigures, ...]
    rank_agreement: RankAgreementFigures
    people: PeopleBiasFigures


def bias_figures(result: LabResult, *, pair_by_pair: bool = True) -> BiasFigures:
    """The figures of a result; those of single pairs (``codes``, ``pair_ids``) only where they are asked for."""
    settings = result.lab.settings
    return BiasFigures(
        headline=result.headline,
        subline=result.subline,
        settings=LabSettingsFigures(
            **_same(settings), reasons=_missing(settings, {"instructions": "all of the pairs are used"})
        ),
        pairs=result.lab.pairs,
        instructions=result.lab.questions,
        probes=tuple(_probe(plan, result.chances[plan.key], pair_by_pair) for plan in result.lab.probes),
        judges=tuple(_judge(judge) for judge in result.judges),
        cells=tuple(_cell(cell, pair_by_pair) for cell in result.cells),
        differences=tuple(_shift(shift) for shift in result.shifts),
        names_effects=tuple(_names(effect) for effect in result.names_effects),
        rank_agreement=_ranks(result.ranks),
        people=_people(result),
    )


@dataclass(frozen=True, repr=False)
class RecordedBias(BiasFigures):
    """The biases of a run's parts, from its recorded calls."""

    run: str
    orders: Annotated[tuple[str, ...], "the orders in which the run asked: `ab`, `ba`"]
    notes: Annotated[tuple[str, ...], "how to take the figures"]


def recorded_bias(run_id: str, bias: RunBias) -> RecordedBias:
    """The figures of :func:`judgenet.store.run_bias.run_bias`."""
    return RecordedBias(**vars(bias_figures(bias.result)), run=run_id, orders=bias.orders, notes=bias.notes)


def _same(value: LabSettings | Judge | Cell | Shift | NamesEffect) -> dict[str, Any]:
    """The fields of a value that figures of the same names take over."""
    return {member.name: getattr(value, member.name) for member in fields(value)}


def _missing(value: object, reasons: Mapping[str, str]) -> Reasons:
    """The reason of each figure that is not there."""
    return {name: why for name, why in reasons.items() if getattr(value, name) is None}


def _probe(plan: ProbePlan, chance: Chance, pair_by_pair: bool) -> ProbeFigures:
    why = "no pair allows it" if not plan.items else "chance is no meaningful reference here"
    values = {"random": chance.analytic, "random_mean": chance.mean, "random_97_5": chance.high}
    return ProbeFigures(
        probe=plan.key,
        title=PROBES[plan.key].title,
        tells=PROBES[plan.key].tells,
        pairs=len(plan.items),
        left_out=plan.left_out,
        **values,
        random_repetitions=chance.repetitions,
        pair_ids=tuple(item.pair for item in plan.items) if pair_by_pair else None,
        reasons={name: why for name, value in values.items() if value is None},
    )


def _judge(judge: Judge) -> LabJudgeFigures:
    reasons = {"layer": "it is no part of one layer", "neuron": "it is more than one neuron of a network"}
    return LabJudgeFigures(**_same(judge), reasons=_missing(judge, reasons))


_OWN_ONLY = "it is told of own system only, where a pair is judged the same way in both orders"


def _cell(cell: Cell, pair_by_pair: bool) -> CellFigures:
    no_share = cell.reasons.get("share", "")
    no_test = cell.reasons.get("p", "")
    changed = PROBES[cell.probe].rule == "changed"
    no_net = "answers to the same prompt have no other side" if changed else no_share or "no pair has valid answers"
    no_z = no_test or "all or none of the pairs are biased"
    reasons = {
        "share": no_share,
        "interval": cell.reasons.get("interval", no_share),
        "valid_rate": no_share or "no pair was asked",
        "net": no_net,
        "net_ci": cell.reasons.get("net_ci", no_net),
        "net_ci90": cell.reasons.get("net_ci", no_net),
        "net_p": no_net,
        "net_p_holm": no_net if PROBES[cell.probe].has_rival else "the verdict rests on the share",
        "net_over": no_net,
        "equivalent": cell.reasons.get("equivalent", no_share or "no pair has valid answers"),
        "pairs_needed": _why_no_plan(cell),
        "p": no_test,
        "p_holm": no_test,
        "z": no_z,
        "z_p": no_z,
        "consistent_share": no_share if cell.probe == "egocentric" and no_share else _OWN_ONLY,
    }
    own = {
        "varieties": {name: VarietyFigures(hits, n) for name, (hits, n) in cell.varieties.items()},
        "codes": cell.codes if pair_by_pair else None,
        "reasons": _missing(cell, reasons),
    }
    return CellFigures(**_same(cell) | own)


def _why_no_plan(cell: Cell) -> str:
    if cell.conclusion == "unclear":
        return cell.reasons.get("equivalent", "there are too few questions")
    return "no verdict" if cell.conclusion == "none" else "there are pairs enough to tell"


def _shift(shift: Shift) -> ShiftFigures:
    few = shift.reason or "too few instructions that several pairs share"
    no_pair = "no pair counts for both"
    no_net = "answers have no other side" if not PROBES[shift.probe].has_rival else no_pair
    reasons = {
        **dict.fromkeys(("first_share", "second_share", "difference"), no_pair),
        **dict.fromkeys(("interval", "p", "p_holm"), few),
        **dict.fromkeys(("first_net", "second_net", "net_difference"), no_net),
        "net_ci": no_net if shift.net_difference is None else few,
        **dict.fromkeys(("net_p", "net_p_holm"), no_net if shift.net_difference is None else shift.reason),
    }
    return ShiftFigures(**_same(shift) | {"reason": shift.reason or None, "reasons": _missing(shift, reasons)})


def _names(effect: NamesEffect) -> NamesEffectFigures:
    none = "no pair counts both with names and without"
    reasons = dict.fromkeys(("share_named", "share_plain", "difference", "p"), none)
    reasons["own_named"] = "no pair has the judge's own system"
    return NamesEffectFigures(**_same(effect), reasons=_missing(effect, reasons))


def _people(result: LabResult) -> PeopleBiasFigures:
    people = result.people
    if people is None:
        prompts = {prompt for plan in result.lab.probes for item in plan.items for prompt in item.prompts}
        return PeopleBiasFigures((), 0, 0, len(prompts), {}, (), "nobody answered prompts of this lab")
    return taken_over(
        PeopleBiasFigures,
        people,
        cells=tuple(_cell(cell, False) for cell in people.cells),
        reason=None,
    )


def _ranks(ranks: RankAgreement) -> RankAgreementFigures:
    reasons = {"among_people": ranks.reason or "fewer than two people labelled by name"}
    return RankAgreementFigures(
        systems=ranks.systems,
        raters=ranks.raters,
        others=ranks.others,
        overlaps=tuple(
            RankPairFigures(**vars(overlap_figures(overlap)), first=first, second=second)
            for (first, second), overlap in ranks.overlaps.items()
        ),
        shares=ranks.shares,
        reason=ranks.reason or None,
        persons=ranks.persons,
        among_people=None if ranks.among_people is None else overlap_figures(ranks.among_people),
        with_people={rater: overlap_figures(overlap) for rater, overlap in ranks.with_people.items()},
        reasons=_missing(ranks, reasons),
    )
