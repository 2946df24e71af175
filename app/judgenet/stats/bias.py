"""Biases counted: shares, chance, intervals, tests, differences between judges, and what they mean in words.

The counting is that of CoBBLEr (Koo et al. 2023) with its valid pairs as the denominator: its released code divides by
all pairs, so that an incoherent judge looks fair. That way of dividing is a setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from judgenet.core.bias import PROBES
from judgenet.core.bias.base import MARGIN, Denominator, Position, Probe, Rule
from judgenet.core.bias.lab import Item, ProbePlan
from judgenet.core.evaluation import Choice
from judgenet.stats.agreement import clustered_sign_test, sign_test_over_questions
from judgenet.stats.distributions import binomial_test, normal_tail
from judgenet.stats.intervals import RESAMPLES, Interval, shares_over_questions, wilson
from judgenet.stats.net_effect import NetEffect, Over, Rate, difference_interval, net_effect, rate
from judgenet.stats.resampling import few_questions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int8]
    Flags = NDArray[np.bool_]

HIT, MISS, TIE, INVALID, NOT_ASKED = 1, 0, 2, -1, -2
"""An answer as seen from the prompt's target: chosen, not chosen, a tie, unreadable, and none, for nobody asked."""

COINS = 1000
FEWEST_VALID = 0.5
"""Below this valid rate there is no verdict on a bias."""
LEVEL = 0.05
_CELLS = 4_000_000

Mood = Literal["good", "neutral", "info", "warning", "bad", "none"]
"""How to take a figure; ``none`` where there is no verdict."""

Conclusion = Literal["toward_target", "toward_rival", "negligible", "no_bias", "unclear", "none"]
"""The conclusion on a bias of a judge. ``toward_target`` and ``toward_rival``: the net effect is significant (without a
rival, ``toward_target``: the share is above the margin). ``negligible``: significant, and yet within the margin.
``no_bias``: a net effect (or share) above the margin is ruled out. ``unclear``: too few pairs to tell. ``none``: no
verdict, since nothing was asked or too few answers are valid."""

PairOutcome = Literal["target", "rival", "mixed", "tie", "invalid", "not_asked"]
OUTCOMES: tuple[PairOutcome, ...] = ("target", "rival", "mixed", "tie", "invalid", "not_asked")

Answers = Mapping[str, Choice | None]
"""A judge's answers by the id of the prompt. ``None`` is an answer that cannot be read; what is not asked is absent."""


# Counting


def codes_of(items: Sequence[Item], answers: Answers) -> Codes:
    """The answers to the prompts of items, (items, prompts), as seen from the targets."""
    import numpy as np

    def code(prompt: str, target: Position) -> int:
        if prompt not in answers:
            return NOT_ASKED
        said = answers[prompt]
        return INVALID if said is None else TIE if said == "tie" else HIT if said == target else MISS

    wide = len(items[0].prompts) if items else 1
    rows = [[code(*each) for each in zip(item.prompts, item.targets, strict=True)] for item in items]
    return np.asarray(rows, dtype=np.int8).reshape(len(items), wide)


def outcomes_of(rule: Rule, codes: Codes) -> NDArray[np.int8]:
    """The outcome of the answers to each item, as places in :data:`OUTCOMES`.

    A tie in any prompt is a tie, neither biased nor consistent, but under ``changed``: there the answers are compared
    as they are, and ``target`` or ``rival`` are those that stay the same.
    """
    import numpy as np

    outcomes = np.full(codes.shape[:-1], OUTCOMES.index("mixed"), dtype=np.int8)
    outcomes[(codes == HIT).all(axis=-1)] = OUTCOMES.index("target")
    outcomes[(codes == MISS).all(axis=-1)] = OUTCOMES.index("rival")
    tied = (codes == TIE).all(axis=-1) if rule == "changed" else (codes == TIE).any(axis=-1)
    outcomes[tied] = OUTCOMES.index("tie")
    outcomes[(codes == INVALID).any(axis=-1)] = OUTCOMES.index("invalid")
    outcomes[(codes == NOT_ASKED).any(axis=-1)] = OUTCOMES.index("not_asked")
    return outcomes


def biased_of(rule: Rule, codes: Codes, denominator: Denominator = "valid", key: str = "") -> tuple[Flags, Flags]:
    """Which items count as biased, and which are in the denominator. Works on a stack of judges at once.

    ``paper`` divides as CoBBLEr's code does: order and the induced biases by all pairs; own system and length also
    count pairs whose second answer is unreadable, by the first one.
    """
    import numpy as np

    what = outcomes_of(rule, codes)
    target, rival, mixed, _, invalid, not_asked = (what == place for place in range(len(OUTCOMES)))
    asked = ~not_asked
    valid = asked & ~invalid
    if rule == "decided":
        return target | rival, valid
    if rule == "changed":
        return mixed, valid
    # The second answer alone is missing.
    half = np.zeros_like(valid)
    if denominator == "paper" and codes.shape[-1] > 1:
        half = asked & (codes[..., 1] == INVALID)
    if rule == "consistent":
        extra = half & (codes[..., 0] == HIT)
        return target | extra, target | rival | extra | (half & (codes[..., 0] == MISS))
    if denominator == "valid":
        return target, valid
    return (target | (half & (codes[..., 0] == HIT)) if key == "egocentric" else target), asked


def random_codes(shape: tuple[int, ...], rng: np.random.Generator) -> Codes:
    """The answers of fair coins."""
    import numpy as np

    return rng.integers(0, 2, size=shape, dtype=np.int8)


@dataclass(frozen=True, slots=True)
class Chance:
    """The share that a coin reaches on the same items: ``analytic``, and the mean and the 97.5 % point over
    ``repetitions`` coins. ``None`` where chance is no yardstick, or there is no item.
    """

    analytic: float | None
    mean: float | None
    high: float | None
    repetitions: int


@lru_cache(maxsize=64)
def chance_of(
    rule: Rule, items: int, prompts: int, analytic: float | None, *, repetitions: int = COINS, seed: int = 0
) -> Chance:
    """Runs coins through the counting, at least 1,000 (statistics 4.3); none where ``repetitions`` is 0. Probes of
    equal size share them."""
    import numpy as np

    if not items or not repetitions or analytic is None:
        return Chance(analytic, None, None, 0)
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // (items * prompts))
    shares: list[NDArray[np.float64]] = []
    for start in range(0, repetitions, step):
        count = min(step, repetitions - start)
        biased, counted = biased_of(rule, random_codes((count, items, prompts), rng))
        n = counted.sum(axis=1)
        shares.append((biased & counted).sum(axis=1)[n > 0] / n[n > 0])
    every = np.concatenate(shares)
    if not len(every):
        return Chance(analytic, None, None, repetitions)
    return Chance(analytic, float(every.mean()), float(np.percentile(every, 97.5)), repetitions)


def z_test(x1: float, n1: float, x2: float, n2: float) -> tuple[float | None, float | None]:
    """The pooled two-sample z and its two-sided p, with which the paper compares with RANDOM; ``None`` where all or
    none are biased in both samples."""
    if not n1 or not n2 or not 0 < x1 + x2 < n1 + n2:
        return None, None
    pooled = (x1 + x2) / (n1 + n2)
    z = (x1 / n1 - x2 / n2) / (pooled * (1 - pooled) * (1 / n1 + 1 / n2)) ** 0.5
    return float(z), 2 * normal_tail(abs(z))


def exact_test(hits: int, n: int, chance: float) -> float | None:
    """The exact two-sided binomial p against chance; ``None`` without a pair."""
    if not n:
        return None
    return binomial_test(hits, n, chance)


def chance_test(biased: Flags, counted: Flags, questions: Sequence[int], chance: float) -> tuple[float | None, str]:
    """The two-sided p of a share against chance, or why there is none. Exact where every pair has an instruction of its
    own; where they share them, by what each instruction has above chance
    (:func:`judgenet.stats.agreement.clustered_sign_test`), and no smaller than the exact one over pairs."""
    table = _by_question(questions, counted, biased & counted)
    table = table[table[:, 0] > 0]
    n, hits = (int(total) for total in table.sum(axis=0))
    over_pairs = exact_test(hits, n, chance)
    if len(table) == n or over_pairs is None:
        return over_pairs, ""
    if why := few_questions(len(table), n):
        return None, why
    clustered = clustered_sign_test(table[:, 1] - chance * table[:, 0])
    return max(over_pairs, 1.0 if clustered is None else clustered), ""


def clustered_interval(
    biased: Flags, counted: Flags, questions: Sequence[int], *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[Interval | None, str]:
    """The 95 % interval of a share, and how it came about or why there is none.

    Where every pair has an instruction of its own it is Wilson's; where they share them, whole instructions are drawn
    with replacement (:func:`judgenet.stats.intervals.shares_over_questions`). Where all pairs agree a bootstrap has no
    width: it is Wilson's then, over instructions.
    """
    table = _by_question(questions, counted & ~biased, biased & counted)
    table = table[table.any(axis=1)]
    misses, hits = (int(total) for total in table.sum(axis=0))
    n = misses + hits
    if why := few_questions(len(table), n):
        return None, why
    if len(table) == n:
        return wilson(hits, n), "Wilson"
    method = "bootstrap over instructions" if hits and misses else "Wilson over instructions"
    return shares_over_questions(table, resamples=resamples, seed=seed), method


def _by_question(questions: Sequence[int], *flags: Flags) -> NDArray[np.float64]:
    """How many items of each instruction have which flag: (instructions, flags)."""
    import numpy as np

    places = np.asarray(questions, dtype=np.int64)
    return np.stack([np.bincount(places, weights=flag).astype(np.float64) for flag in flags], axis=1)


# One judge and one probe


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge, or a part of a network that is measured as one.

    ``kind``: ``single``, ``baseline`` (another judge beside the network), ``neuron``, ``layer`` (its vote),
    ``aggregation`` or ``network`` (its verdict). ``layer`` and ``neuron`` count from 1.
    """

    id: str
    title: str
    kind: Literal["single", "baseline", "neuron", "layer", "aggregation", "network"]
    layer: int | None = None
    neuron: int | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A bias of a judge.

    ``share`` is that of ``hits`` among ``n``. ``items`` were asked, ``valid_first`` have a valid first answer,
    ``valid`` one to each prompt. ``counts`` are the outcomes by the probe's names with ``tie`` and ``invalid``.

    The verdict rests on ``net``, (target - rival) / valid, with its 95 % interval ``net_ci``, the 90 % interval
    ``net_ci90``, and the exact sign test ``net_p`` over ``net_over``, corrected over the probes in ``net_p_holm``.
    ``equivalent`` says whether a net effect above the margin is ruled out; without a rival (``identical``, ``repeats``)
    a share above it. ``pairs_needed`` is how many pairs would tell, where these do not. ``conclusion`` is what follows,
    ``words`` say it, and ``mood`` how to take it.

    Against chance, as published: ``p`` is exact (over instructions where pairs share them, :func:`chance_test`),
    ``p_holm`` corrected over the probes; ``z`` and ``z_p`` are the
    paper's test. ``consistent_share`` is the share among the pairs that are judged the same way in both orders, for own
    system. ``varieties`` splits (hits, n) where a probe has several forms, such as the scripts of planted instructions.
    ``codes`` has a text an item, in the order of the plan: ``+`` the target, ``-`` its rival, ``=`` a tie, ``?``
    unreadable, ``.`` not asked. ``reasons`` says why a figure is ``None``.
    """

    probe: str
    judge: str
    share: float | None
    interval: Interval | None
    interval_method: str
    hits: int
    n: int
    items: int
    valid_first: int
    valid: int
    valid_rate: float | None
    counts: dict[str, int]
    net: float | None
    net_ci: Interval | None
    net_ci90: Interval | None
    net_p: float | None
    net_p_holm: float | None
    net_over: Over | None
    equivalent: bool | None
    pairs_needed: int | None
    p: float | None
    p_holm: float | None
    z: float | None
    z_p: float | None
    consistent_share: float | None
    varieties: dict[str, tuple[int, int]]
    codes: tuple[str, ...] = field(repr=False)
    reasons: dict[str, str]
    conclusion: Conclusion = "unclear"
    words: str = ""
    mood: Mood = "neutral"


_SIGNS = {HIT: "+", MISS: "-", TIE: "=", INVALID: "?", NOT_ASKED: "."}


def measure(
    plan: ProbePlan,
    judge: str,
    codes: Codes,
    denominator: Denominator,
    analytic: float | None,
    seed: int = 0,
    margin: float = MARGIN,
    tests: int = 1,
) -> Cell:
    """Counts a judge's answers (:func:`codes_of`) to a probe. Corrected p, conclusion and words come with the other
    probes; ``tests`` is how many of these have a rival."""
    probe = PROBES[plan.key]
    asked = ~(codes == NOT_ASKED).any(axis=1)
    biased, counted = biased_of(probe.rule, codes, denominator, probe.key)
    counts = _counts(probe, codes)
    items, n, hits = int(asked.sum()), int(counted.sum()), int((biased & counted).sum())
    valid = items - counts["invalid"]
    valid_first = int((asked & (codes[:, 0] != INVALID)).sum()) if len(codes) else 0
    rate_valid = valid_first / items if items else None
    reasons: dict[str, str] = {}
    if not n:
        reasons = dict.fromkeys(("share", "interval", "p"), _why_no_share(probe, items, valid))
    interval, method = None, ""
    if n:
        interval, method = clustered_interval(biased, counted, _questions(plan), seed=seed)
        if interval is None:
            reasons["interval"], method = method, ""
    too_few_valid = rate_valid is not None and rate_valid < FEWEST_VALID
    if too_few_valid:
        reasons["p"] = f"{valid_first:,} of {items:,} first answers are valid: no verdict below {FEWEST_VALID:.0%}"
    p, z, z_p = _against_chance(plan, biased, counted, analytic, reasons) if not too_few_valid else (None, None, None)
    net = _net(plan, probe, codes, margin, tests) if valid else None
    if net is not None and net.reason:
        reasons["net_ci"] = net.reason
    judged, why = _judged_small(plan, probe, net, biased & counted, counted, margin)
    if too_few_valid:
        judged, why = None, reasons["p"]
    if why:
        reasons["equivalent"] = why
    target, rival = counts[probe.outcomes[0]], counts[probe.outcomes[1]]
    consistent = target / (target + rival) if probe.key == "egocentric" and target + rival else None
    return Cell(
        probe=probe.key,
        judge=judge,
        share=hits / n if n else None,
        interval=interval,
        interval_method=method,
        hits=hits,
        n=n,
        items=items,
        valid_first=valid_first,
        valid=valid,
        valid_rate=rate_valid,
        counts=counts,
        net=None if net is None else net.value,
        net_ci=None if net is None else net.interval,
        net_ci90=None if net is None else net.interval_90,
        net_p=None if net is None else net.p,
        net_p_holm=None,
        net_over=None if net is None else net.over,
        equivalent=None if judged is None else judged.small if isinstance(judged, Rate) else judged.equivalent,
        pairs_needed=None if judged is None else judged.pairs_needed,
        p=p,
        p_holm=None,
        z=z,
        z_p=z_p,
        consistent_share=consistent,
        varieties=_varieties(plan, biased & counted, counted),
        codes=tuple("".join(_SIGNS[int(code)] for code in row) for row in codes),
        reasons=reasons,
    )


def _why_no_share(probe: Probe, items: int, valid: int) -> str:
    if probe.rule == "consistent" and valid:
        return "no pair was judged the same way in both orders"
    return "no pair has valid answers" if items else "no pair of it is judged"


def _questions(plan: ProbePlan) -> list[int]:
    return [item.question for item in plan.items]


def _against_chance(
    plan: ProbePlan, biased: Flags, counted: Flags, analytic: float | None, reasons: dict[str, str]
) -> tuple[float | None, float | None, float | None]:
    """(p, z and its p) of the share of biased pairs against chance; why there is no p goes into ``reasons``."""
    if analytic is None:
        reasons.setdefault("p", "chance is no meaningful reference here")
        return None, None, None
    n = int(counted.sum())
    if not n:
        return None, None, None
    p, why_not = chance_test(biased, counted, _questions(plan), analytic)
    if p is None:
        reasons["p"] = why_not
    return (p, *z_test(int((biased & counted).sum()), n, analytic * n, n))


def _net(plan: ProbePlan, probe: Probe, codes: Codes, margin: float, tests: int) -> NetEffect | None:
    """The net effect of a probe that has one."""
    if probe.rule == "changed":
        return None
    leads, there = leads_of(probe.rule, codes)
    return net_effect(leads[there], question_numbers(plan)[there], margin, tests)


def _judged_small(
    plan: ProbePlan, probe: Probe, net: NetEffect | None, hits: Flags, counted: Flags, margin: float
) -> tuple[NetEffect | Rate | None, str]:
    """What says whether a bias is small: the net effect, or the share of pairs where a probe has no rival; ``None`` and
    why, where neither has an interval."""
    questions = question_numbers(plan)
    shown: NetEffect | Rate | None = net
    if not probe.has_rival:
        shown = rate(hits[counted], questions[counted], margin) if counted.any() else None
    if shown is None or shown.interval_90 is not None:
        return shown, ""
    if probe.has_rival and net is not None and net.reason:
        return None, net.reason
    return None, few_questions(len(set(questions[counted].tolist())), int(counted.sum()))


def question_numbers(plan: ProbePlan) -> NDArray[np.int64]:
    """The number of the instruction of each item."""
    import numpy as np

    return np.asarray([item.question for item in plan.items], dtype=np.int64)


def leads_of(rule: Rule, codes: Codes) -> tuple[NDArray[np.int64], Flags]:
    """For each item 1 where the target was chosen throughout, -1 where its rival was, else 0; and which are valid."""
    import numpy as np

    what = outcomes_of(rule, codes)
    leads = (what == OUTCOMES.index("target")).astype(np.int64) - (what == OUTCOMES.index("rival"))
    return leads, ~np.isin(what, [OUTCOMES.index("invalid"), OUTCOMES.index("not_asked")])


def _varieties(plan: ProbePlan, hits: Flags, counted: Flags) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for place, item in enumerate(plan.items):
        if item.variety and counted[place]:
            before = counts.get(item.variety, (0, 0))
            counts[item.variety] = (before[0] + int(hits[place]), before[1] + 1)
    return dict(sorted(counts.items()))


def _counts(probe: Probe, codes: Codes) -> dict[str, int]:
    what = outcomes_of(probe.rule, codes)
    names = outcome_names(probe)
    counts = dict.fromkeys((*probe.outcomes, "tie", "invalid"), 0)
    for place, outcome in enumerate(OUTCOMES):
        if outcome != "not_asked":
            counts[names[outcome]] += int((what == place).sum())
    return counts


def outcome_names(probe: Probe) -> dict[PairOutcome, str]:
    """What a probe calls each outcome."""
    target, rival, mixed = probe.outcomes
    names: dict[PairOutcome, str] = {"target": target, "rival": rival, "mixed": mixed}
    return names | {"tie": "tie", "invalid": "invalid", "not_asked": "not_asked"}


def outcome_of_signs(probe: Probe, signs: str) -> str:
    """The outcome that an item's signs (:class:`Cell`) stand for, by the probe's name for it."""
    return outcome_names(probe)[OUTCOMES[int(outcomes_of(probe.rule, codes_of_signs([signs]))[0])]]


def codes_of_signs(rows: Sequence[str]) -> Codes:
    """The answers that the signs of items stand for."""
    import numpy as np

    back = {sign: code for code, sign in _SIGNS.items()}
    wide = len(rows[0]) if rows else 1
    return np.asarray([[back[sign] for sign in signs] for signs in rows], dtype=np.int8).reshape(len(rows), wide)


def answer_of_sign(sign: str, target: Position) -> Choice | None:
    """The answer to a prompt whose target is known; ``None`` where it is unreadable or was not asked."""
    rival: Position = "second" if target == "first" else "first"
    said: dict[str, Choice] = {"+": target, "-": rival, "=": "tie"}
    return said.get(sign)


# Two judges


@dataclass(frozen=True, slots=True)
class Shift:
    """A bias of two judges on the pairs that count for both: the second's figures less the first's.

    Shares as published: ``only_first`` and ``only_second`` are the pairs where only one of them is biased; ``p`` is the
    exact test of the two (McNemar; the sign test of questions where pairs share them), ``p_holm`` corrected over the
    probes. Verdicts rest on the net effects, on the ``net_n`` pairs that are valid for both: ``net_p`` is the exact
    sign test of the pairs (or, where they share them, questions) on which one leans more to the target than the other.
    Where the valid rate of either is too low for a verdict there is no p, and ``reason`` says so.
    """

    probe: str
    first: str
    second: str
    first_share: float | None
    second_share: float | None
    difference: float | None
    interval: Interval | None
    only_first: int
    only_second: int
    n: int
    p: float | None
    p_holm: float | None = None
    first_net: float | None = None
    second_net: float | None = None
    net_difference: float | None = None
    net_ci: Interval | None = None
    net_n: int = 0
    net_p: float | None = None
    net_p_holm: float | None = None
    reason: str = ""

    @property
    def test(self) -> float | None:
        """The p that the verdict rests on, before the correction."""
        return self.net_p if PROBES[self.probe].has_rival else self.p

    @property
    def clear(self) -> bool:
        """Whether the two differ significantly."""
        p = self.net_p_holm if PROBES[self.probe].has_rival else self.p_holm
        return p is not None and p < LEVEL and bool(self.grows)

    @property
    def grows(self) -> float:
        """By how much the bias of the second is larger, whichever side it is toward; negative where it is smaller."""
        if not PROBES[self.probe].has_rival:
            return self.difference or 0.0
        return abs(self.second_net or 0.0) - abs(self.first_net or 0.0)


def shift_of(
    plan: ProbePlan,
    first: tuple[str, Codes],
    second: tuple[str, Codes],
    denominator: Denominator,
) -> Shift:
    """Compares two judges, each with its answers (:func:`codes_of`), pair by pair.

    For own system the shares are of the pairs that both judge the same way in both orders: a judge that is only
    steadier chooses both more often.
    """
    import numpy as np

    probe = PROBES[plan.key]
    rule: Rule = "consistent" if probe.by_consistent else probe.rule
    questions = question_numbers(plan)
    too_few = any(_first_valid(codes) < FEWEST_VALID for _, codes in (first, second))
    reason = f"fewer than {FEWEST_VALID:.0%} of a judge's first answers are valid" if too_few else ""
    shift = Shift(plan.key, first[0], second[0], None, None, None, None, 0, 0, 0, None, reason=reason)
    if probe.has_rival:
        shift = _with_net(shift, probe, first[1], second[1], questions, tested=not too_few)
    flags = [biased_of(rule, codes, denominator, probe.key) for _, codes in (first, second)]
    both = flags[0][1] & flags[1][1]
    first_flags, second_flags = flags[0][0] & both, flags[1][0] & both
    n = int(both.sum())
    if not n:
        return replace(shift, reason=shift.reason or "no pair counts for both")
    only_first, only_second = int((first_flags & ~second_flags).sum()), int((second_flags & ~first_flags).sum())
    leads = (second_flags.astype(np.int64) - first_flags)[both]
    return replace(
        shift,
        first_share=int(first_flags.sum()) / n,
        second_share=int(second_flags.sum()) / n,
        difference=(only_second - only_first) / n,
        interval=net_effect(leads, questions[both], MARGIN).interval,
        only_first=only_first,
        only_second=only_second,
        n=n,
        p=None if too_few else sign_test_over_questions(questions[both], leads),
    )


def _with_net(
    shift: Shift, probe: Probe, first: Codes, second: Codes, questions: NDArray[np.int64], *, tested: bool
) -> Shift:
    """The comparison of two judges with that of their net effects, on the pairs that are valid for both."""
    (first_leads, first_valid), (second_leads, second_valid) = (
        leads_of(probe.rule, codes) for codes in (first, second)
    )
    there = first_valid & second_valid
    n = int(there.sum())
    if not n:
        return shift
    moved = (second_leads - first_leads)[there]
    return replace(
        shift,
        first_net=float(first_leads[there].sum()) / n,
        second_net=float(second_leads[there].sum()) / n,
        net_difference=float(moved.sum()) / n,
        net_ci=difference_interval(moved, questions[there]),
        net_n=n,
        net_p=sign_test_over_questions(questions[there], moved) if tested else None,
    )


def _first_valid(codes: Codes) -> float:
    """The share of valid first answers among those that were asked for; 1 where none was."""
    asked = codes[~(codes == NOT_ASKED).any(axis=1)]
    return float((asked[:, 0] != INVALID).mean()) if len(asked) else 1.0


def compared(judges: Sequence[Judge]) -> list[tuple[str, str]]:
    """The pairs of judges that are compared: the single judge with the network, and the way from one to the other."""
    kinds = {judge.kind: judge.id for judge in judges}
    layers = [judge.id for judge in sorted(judges, key=lambda judge: judge.layer or 0) if judge.kind == "layer"]
    way = [*([kinds["single"]] if "single" in kinds else []), *layers]
    comparisons = list(pairwise(way))
    if "single" in kinds and "network" in kinds:
        comparisons.insert(0, (kinds["single"], kinds["network"]))
    return comparisons
