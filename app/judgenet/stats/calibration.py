"""Corrected win rates: what people would say of all pairs, estimated from the network's verdicts on all of them and
human labels of some.

The win rate is how often B is better than A, a tie counting half. Everything is computed from counts over pairs: of the
labelled pairs by verdict and label, of the others by verdict. An estimate that cannot be made, or that the way in which
the labels were chosen does not allow, is ``None`` with a reason that says what would help.

"People" are those who gave the labels: their own errors are not corrected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

from judgenet.core.labels import Chosen
from judgenet.core.pairs import Verdict
from judgenet.stats import formulas
from judgenet.stats.intervals import RESAMPLES, Interval, Z, shown_rate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Method = Literal["naive", "stratified", "ppi", "human_only", "lee", "k_class"]

Labelled = Mapping[tuple[Verdict, Verdict], int]
"""How many labelled pairs have which verdict and which human label, in this order."""

ORDER: tuple[Verdict, ...] = ("a", "tie", "b")
"""The classes by their score."""
SCORES: dict[Verdict, float] = {"a": 0.0, "tie": 0.5, "b": 1.0}

FEWEST_LABELS = 10
FEWEST_IN_STRATUM = 2
FEWEST_WITH_ONE_VERDICT = 20
"""Below so many labels the headline has no interval where the network gave one and the same verdict on every pair."""
FEWEST_DECIDED = 5
"""Below so many labels that decide for A or B there is no rate of decided pairs."""
FEWEST_RARER = 5
"""Below so many labels besides the commonest the error of PPI++ is not known."""
_LARGE_STRATUM = 0.1
_SAID: dict[Verdict, str] = {"a": "A", "tie": "tie", "b": "B"}

_ALLOWED: dict[Chosen, frozenset[Method]] = {
    "random": frozenset({"naive", "stratified", "ppi", "human_only", "lee"}),
    "within-verdict": frozenset({"naive", "stratified"}),
    "targeted": frozenset({"naive"}),
    "imported": frozenset({"naive", "lee", "k_class"}),
}
_REFUSED: dict[Chosen, str] = {
    "random": "this correction is for class-balanced labels or labels from elsewhere only; "
    "for labels chosen at random the stratified estimate is narrower",
    "within-verdict": "the labels were chosen within each verdict, so that only the stratified estimate holds; "
    "labels chosen at random from all pairs would allow it",
    "targeted": "the labelled pairs were chosen for a property of theirs, so that they do not stand for the others; "
    "label pairs chosen at random",
    "imported": "the labels were not chosen at random from these pairs, so they can only estimate the judge's error "
    "rates; label some of these pairs at random",
}
_WIDER = (
    "wider than the human labels alone unless the judge is right on about 87 to 97 % of the pairs of each class; "
    "meant for class-balanced labels or labels from elsewhere"
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A win rate with its 95 % interval, or ``None`` with a ``reason``.

    ``n`` is the number of pairs it rests on, ``labels`` of them with a human label. ``notes`` are what to know beside
    it. ``questions`` is how many questions the pairs have that carry the interval (the labelled ones, but for the
    uncorrected rate): the effective n. It is ``None`` where questions are not known. A value without an interval has a
    ``reason`` too: too few questions.
    """

    value: float | None
    interval: Interval | None
    n: int
    labels: int
    reason: str = ""
    notes: tuple[str, ...] = ()
    questions: int | None = None

    def refused(self, reason: str) -> Estimate:
        """The same without a value."""
        return replace(self, value=None, interval=None, reason=reason, notes=())

    def without_interval(self, why: str) -> Estimate:
        """The same value with the reason why it has no interval; unchanged where there is no value."""
        return self if self.value is None else replace(self, interval=None, reason=f"no interval: {why}")


def clipped(middle: float, spread: float) -> Interval:
    """``spread`` to both sides, held within 0 to 1."""
    return Interval(min(1.0, max(0.0, middle - spread)), min(1.0, max(0.0, middle + spread)))


def classes_of(labelled: Labelled, unlabelled: Mapping[Verdict, int]) -> tuple[Verdict, ...]:
    """A, tie and B; without the tie where neither people nor network ever gave one."""
    ties = unlabelled.get("tie", 0) or any(count for pair, count in labelled.items() if "tie" in pair)
    return ORDER if ties else ("a", "b")


def _table(labelled: Labelled, classes: Sequence[Verdict]) -> list[list[int]]:
    return [[labelled.get((verdict, human), 0) for human in classes] for verdict in classes]


# The headline


@dataclass(frozen=True, slots=True)
class VerdictStratum:
    """The pairs with one verdict: their share of all, how many of them are labelled, and what people say of them.

    ``mean`` is the mean score for B with one pseudo-label, ``sd`` the standard deviation of the score.
    """

    verdict: Verdict
    share: float
    n: int
    labels: int
    mean: float
    sd: float


KNOWN = "known: every judged pair has a label"
"""The note beside a rate that is no estimate."""


@dataclass(frozen=True, slots=True)
class Stratified:
    """The verdict-stratified estimate.

    ``these_pairs`` is the estimate where the win rate of just these pairs is meant, not of all that they stand for:
    labelled pairs count as they are, and where all are labelled the rate is known. ``se`` and ``se_these_pairs`` are
    the standard errors.
    """

    estimate: Estimate
    strata: tuple[VerdictStratum, ...]
    these_pairs: Estimate
    se: float | None
    se_these_pairs: float | None


def stratified(labelled: Labelled, unlabelled: Mapping[Verdict, int]) -> Stratified:
    """The win rate from what people say of each verdict, weighed by how often the network gives it.

    Post-stratification with one pseudo-label a verdict, spread evenly over the classes. It holds for labels chosen at
    random from all pairs, and within each verdict in whatever numbers.
    """
    classes = classes_of(labelled, unlabelled)
    table = _table(labelled, classes)
    counts = [sum(row) for row in table]
    totals = [count + unlabelled.get(verdict, 0) for count, verdict in zip(counts, classes, strict=True)]
    n, m = sum(totals), sum(counts)
    if not n:
        nothing = Estimate(None, None, 0, 0, "no pair has a verdict")
        return Stratified(nothing, (), nothing, None, None)
    scores = [SCORES[verdict] for verdict in classes]
    parts = [formulas.stratum(row, scores) for row in table]
    value, se, value_these, se_these = (float(number) for number in formulas.weighted(parts, counts, totals))
    strata = tuple(
        VerdictStratum(verdict, total / n, total, count, float(part.mean), sqrt(max(0.0, float(part.variance))))
        for verdict, total, count, part in zip(classes, totals, counts, parts, strict=True)
        if total
    )
    notes = tuple(
        f"no pair with the verdict {_SAID[part.verdict]} is labelled: its {part.share:.1%} of pairs count as even"
        for part in strata
        if not part.labels
    )
    these = Estimate(value_these, clipped(value_these, Z * se_these), n, m, notes=notes if m < n else (KNOWN,))
    return Stratified(Estimate(value, clipped(value, Z * se), n, m, notes=notes), strata, these, se, se_these)


def decided_rate(labelled: Labelled, unlabelled: Mapping[Verdict, int]) -> Estimate:
    """How often B is better among the pairs that people decide: the stratified share of B over that of A and B.

    It holds for labels chosen at random from all pairs, and within each verdict. The interval is by the delta method
    (:func:`judgenet.stats.formulas.decided`); below 5 labels that decide there is no rate.
    """
    classes = classes_of(labelled, unlabelled)
    table = _table(labelled, classes)
    m = sum(map(sum, table))
    n = m + sum(unlabelled.values())
    empty = Estimate(None, None, n, m)
    if not m:
        return empty.refused("no judged pair has a human label")
    decided = sum(row[0] + row[-1] for row in table)
    if decided < FEWEST_DECIDED:
        return empty.refused(
            f"{decided} of {m:,} labels decide for A or B: {FEWEST_DECIDED} are needed for a rate of decided pairs"
        )
    totals = [sum(row) + unlabelled.get(verdict, 0) for row, verdict in zip(table, classes, strict=True)]
    value, se = (float(number) for number in formulas.decided(table, totals))
    return replace(empty, value=value, interval=clipped(value, Z * se))


def _drawn(rng: np.random.Generator, counts: NDArray[np.float64], resamples: int) -> NDArray[np.float64]:
    import numpy as np

    total = counts.sum()
    if not total:
        return np.zeros((resamples, len(counts)))
    return rng.multinomial(int(total), counts / total, size=resamples).astype(float)


# The cross-check


@dataclass(frozen=True, slots=True)
class Powered:
    """The prediction-powered estimate with its weight on the network's verdicts: 0 is human labels alone, 1 is plain
    PPI."""

    estimate: Estimate
    weight: float | None


def prediction_powered(labelled: Labelled, unlabelled: Mapping[Verdict, int], weight: float | None = None) -> Powered:
    """PPI++ (Angelopoulos et al., arXiv 2311.01453), for labels chosen at random from all pairs.

    Without ``weight`` it is the one of least variance, held within 0 to 1. It is refused while fewer than 5 labels
    differ from the commonest: for labels that hardly vary, the formula gives an error that is too small, or zero.
    """
    m, n = sum(labelled.values()), sum(unlabelled.values())
    if not m:
        return Powered(Estimate(None, None, n, 0, "no judged pair has a human label"), None)
    if not n:
        why = "every judged pair is labelled: nothing is left to predict, and the human labels alone are the answer"
        return Powered(Estimate(None, None, m, m, why), None)
    rarer = m - max(_marginal(labelled, 1).values())
    if rarer < FEWEST_RARER:
        why = (
            f"{m - rarer:,} of {m:,} labels are the same: from fewer than {FEWEST_RARER} others this method takes its "
            f"error for too small; {FEWEST_RARER - rarer} more of the rarer labels are needed"
        )
        return Powered(Estimate(None, None, m + n, m, why), None)
    moments = formulas.moments(
        _table(labelled, ORDER), [unlabelled.get(v, 0) for v in ORDER], [SCORES[v] for v in ORDER]
    )
    if weight is None:
        spread = float(moments.spread)
        weight = min(1.0, max(0.0, float(moments.cov) / ((1 + m / n) * spread))) if spread > 0 else 0.0
    value, se = (float(number) for number in formulas.powered(moments, weight))
    estimate = Estimate(min(1.0, max(0.0, value)), clipped(value, Z * se), m + n, m)
    return Powered(estimate, weight)


@dataclass(frozen=True, slots=True)
class Worth:
    """What the network's verdicts are worth in human labels.

    With them each human label counts as ``multiplier`` labels; ``per_verdict`` is what that makes of one verdict on an
    unlabelled pair, in labels. ``correlation`` is that of human and network scores over the labelled pairs.
    """

    multiplier: float | None
    per_verdict: float | None
    correlation: float | None
    reason: str = ""


def worth(labelled: Labelled, unlabelled: float) -> Worth:
    """How many labels a label counts as, thanks to the network's verdicts on ``unlabelled`` others (may be infinite):
    1 / (1 - rho² n / (n + m)), by the variance of PPI++ against human labels alone."""
    m = sum(labelled.values())
    if not m:
        return Worth(None, None, None, "no judged pair has a human label")
    moments = formulas.moments(_table(labelled, ORDER), (1, 0, 0), [SCORES[v] for v in ORDER])
    var_f, var_y = float(moments.var_f), float(moments.var_y)
    if var_f <= 0 or var_y <= 0:
        who = "network" if var_f <= 0 else "people"
        return Worth(None, None, None, f"the {who} gave one and the same verdict on all {m:,} labelled pairs")
    rho = min(1.0, float(moments.cov) / sqrt(var_f * var_y))
    part = 1.0 if unlabelled == inf else unlabelled / (unlabelled + m)
    left = 1 - rho * rho * part if rho > 0 else 1.0
    if left <= 1e-12:
        return Worth(None, None, rho, "the network agrees with all labels, so that no limit can be given")
    multiplier = 1 / left
    per_verdict = m * (multiplier - 1) / unlabelled if 0 < unlabelled < inf else None
    return Worth(multiplier, per_verdict, rho)


def human_only(labelled: Labelled) -> Estimate:
    """The win rate of the human labels, as if there were no network."""
    humans = _marginal(labelled, 1)
    win = shown_rate(humans["a"], humans["b"], humans["tie"])
    reason = "" if win.n else "no judged pair has a human label"
    return Estimate(win.value, win.interval, win.n, win.n, reason)


def naive(labelled: Labelled, unlabelled: Mapping[Verdict, int]) -> Estimate:
    """The win rate of the network's verdicts on all pairs, uncorrected for their errors."""
    verdicts = _marginal(labelled, 0)
    for verdict in ORDER:
        verdicts[verdict] += unlabelled.get(verdict, 0)
    win = shown_rate(verdicts["a"], verdicts["b"], verdicts["tie"])
    reason = "" if win.n else "no pair has a verdict"
    return Estimate(win.value, win.interval, win.n, 0, reason, ("uncorrected",) if win.n else ())


def _marginal(labelled: Labelled, place: Literal[0, 1]) -> dict[Verdict, int]:
    counts = dict.fromkeys(ORDER, 0)
    for pair, count in labelled.items():
        counts[pair[place]] += count
    return counts


# Corrections by the judge's error rates


@dataclass(frozen=True, slots=True)
class TwoClass:
    """Lee et al.'s estimate. ``theta``, ``shift`` and ``se`` are those of its interval, which smoothes the rates.

    ``established`` is false where the judge may be no better than chance on the labels: the interval is then to be
    shown as doubtful.
    """

    estimate: Estimate
    theta: float | None = None
    shift: float | None = None
    se: float | None = None
    established: bool = False


def two_class(positive: int, n: int, right_0: int, m_0: int, right_1: int, m_1: int) -> TwoClass:
    """The share of truly positive pairs from a judge that finds ``positive`` of ``n`` unlabelled pairs so.

    It is right on ``right_0`` of ``m_0`` truly negative and ``right_1`` of ``m_1`` truly positive labelled pairs (Rogan
    and Gladen 1978; interval of Lee et al., arXiv 2511.21140, version 1).

    :raises ValueError: more are right or positive than there are.
    """
    for hits, total in ((positive, n), (right_0, m_0), (right_1, m_1)):
        if not 0 <= hits <= total:
            raise ValueError(f"{hits} of {total} is no share.")
    empty = Estimate(None, None, n, m_0 + m_1)
    if not n:
        return TwoClass(empty.refused("every judged pair is labelled: no pair is left to correct"))
    if not m_0 or not m_1:
        return TwoClass(empty.refused("the labels hold one class only, so that one error rate is unknown"))
    judge = (right_0 * m_1 + right_1 * m_0 - m_0 * m_1) / (m_0 * m_1)
    smoothed = (right_0 + 1) / (m_0 + 2) + (right_1 + 1) / (m_1 + 2) - 1
    if judge <= 1e-12 or smoothed <= 1e-12:
        return TwoClass(empty.refused("the judge is no better than chance on the labelled pairs"))
    result = formulas.adjusted(positive, n, right_0, m_0, right_1, m_1)
    theta, shift, se = float(result.theta), float(result.shift), float(result.se)
    low, high = theta + shift - Z * se, theta + shift + Z * se
    if high < 0 or low > 1:
        why = (
            "labelled pairs and the others disagree: no win rate from 0 to 1 gives these verdicts with this judge; "
            "label some of the other pairs"
        )
        return TwoClass(empty.refused(why), theta, shift, se)
    value = (positive / n + right_0 / m_0 - 1) / judge
    established = smoothed - _ONE_SIDED * sqrt(float(result.judge_variance)) > 0
    notes = (
        () if established else ("judge quality not established: it may be no better than chance on the labelled pairs",)
    )
    estimate = replace(empty, value=min(1.0, max(0.0, value)), interval=clipped(theta + shift, Z * se), notes=notes)
    return TwoClass(estimate, theta, shift, se, established)


_ONE_SIDED = 1.6448536269514722


def lee(labelled: Labelled, unlabelled: Mapping[Verdict, int]) -> TwoClass:
    """:func:`two_class` of verdicts and labels, where "positive" is B better; refused where there are ties."""
    n, m = sum(unlabelled.values()), sum(labelled.values())
    if "tie" in classes_of(labelled, unlabelled):
        ties = unlabelled.get("tie", 0) + sum(count for pair, count in labelled.items() if "tie" in pair)
        why = f"made for two classes, but {ties:,} pairs have a tie as verdict or label; see the K-class estimate"
        return TwoClass(Estimate(None, None, n, m, why))
    return two_class(
        unlabelled.get("b", 0),
        n,
        labelled.get(("a", "a"), 0),
        labelled.get(("a", "a"), 0) + labelled.get(("b", "a"), 0),
        labelled.get(("b", "b"), 0),
        labelled.get(("b", "b"), 0) + labelled.get(("a", "b"), 0),
    )


@dataclass(frozen=True, slots=True)
class KClass:
    """The K-class estimate: shares of A, tie and B among people (``shares``, may lie outside 0 to 1), the value and
    standard error before they are judged, and the smallest singular value of the matrix of the judge's errors."""

    estimate: Estimate
    shares: tuple[float, ...] | None = None
    value: float | None = None
    se: float | None = None
    smallest: float | None = None


def k_class(labelled: Labelled, unlabelled: Mapping[Verdict, int]) -> KClass:
    """The win rate that the shares of verdicts imply, by inverting the judge's matrix of errors.

    Rogan and Gladen's estimator for several classes ("adjusted classify and count"), smoothed, with the error by the
    delta method. Refused where the matrix does not separate the classes.
    """
    import numpy as np

    classes = classes_of(labelled, unlabelled)
    table = np.asarray(_table(labelled, classes), dtype=float)
    others = np.asarray([unlabelled.get(verdict, 0) for verdict in classes], dtype=float)
    per_class = table.sum(axis=0)
    n, m = int(others.sum()), int(table.sum())
    empty = Estimate(None, None, n, m)
    if not n:
        return KClass(empty.refused("every judged pair is labelled: no pair is left to correct"))
    scores = np.asarray([SCORES[verdict] for verdict in classes])
    inverse = smoothed_inverse(table[None], others[None], scores)
    smallest = float(inverse.smallest[0])
    few = [f"{verdict} {int(count)}" for verdict, count in zip(classes, per_class, strict=True) if count < 5]
    scarce = f"ties cannot be separated: people gave fewer than 5 labels of a class ({', '.join(few)})" if few else ""
    if smallest < _SINGULAR:
        return KClass(empty.refused(scarce or "ties cannot be separated by this judge"), smallest=smallest)
    people = inverse.shares[0]
    value, se = float(inverse.value[0]), float(inverse.se[0])
    reason = scarce
    if not reason and smallest < 0.15:
        reason = "ties cannot be separated: the judge's verdicts hardly depend on the class (more labels do not help)"
    if not reason and (people.min() < -0.05 or people.max() > 1.05):
        reason = "ties cannot be separated: the verdicts imply shares outside 0 to 1"
    if not reason and se > 0.25:
        reason = "ties cannot be separated: the standard error exceeds 0.25; more labels of each class would help"
    estimate = (
        empty.refused(reason)
        if reason
        else replace(empty, value=min(1.0, max(0.0, value)), interval=clipped(value, Z * se))
    )
    return KClass(estimate, tuple(float(share) for share in people), value, se, smallest)


class SmoothedInverse(NamedTuple):
    """The K-class estimate of many tables: shares of the classes among people (tables, k), the win rate and its
    standard error by the delta method, and the smallest singular value of each matrix of errors (below 1e-12 the others
    mean nothing)."""

    shares: NDArray[np.float64]
    value: NDArray[np.float64]
    se: NDArray[np.float64]
    smallest: NDArray[np.float64]


def smoothed_inverse(
    labelled: NDArray[np.float64], others: NDArray[np.float64], scores: NDArray[np.float64]
) -> SmoothedInverse:
    """The K-class estimate of many tables at once; arguments as for :func:`inverted`.

    Each class has one label more of every verdict, and the others have z² pairs more, spread evenly.
    """
    import numpy as np

    k = len(scores)
    per_class, n = labelled.sum(axis=1), others.sum(axis=1)
    matrix = (labelled + 1) / (per_class + k)[:, None, :]
    shares = (others + Z * Z / k) / (n + Z * Z)[:, None]
    smallest = np.linalg.svd(matrix, compute_uv=False)[:, -1]
    safe = np.where((smallest < _SINGULAR)[:, None, None], np.eye(k), matrix)
    people = np.linalg.solve(safe, shares[:, :, None])[:, :, 0]
    weights = np.linalg.solve(safe.transpose(0, 2, 1), np.broadcast_to(scores[:, None], (len(safe), k, 1)))[:, :, 0]

    def variance(share: NDArray[np.float64]) -> NDArray[np.float64]:
        spread: NDArray[np.float64] = (share * weights**2).sum(axis=1) - (share * weights).sum(axis=1) ** 2
        return spread

    error = variance(shares) / (n + Z * Z)
    for place in range(k):
        error = error + people[:, place] ** 2 * variance(matrix[:, :, place]) / (per_class[:, place] + k)
    return SmoothedInverse(people, people @ scores, np.sqrt(np.maximum(error, 0.0)), smallest)


_SINGULAR = 1e-12


def inverted(
    labelled: NDArray[np.float64], others: NDArray[np.float64], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The K-class win rate of many tables at once, without smoothing, and where there is one: each class has a label
    and the matrix of errors can be inverted.

    ``labelled`` has the shape (tables, k, k), by verdict and label; ``others`` (tables, k); ``scores`` those of the k
    classes.
    """
    import numpy as np

    per_class = labelled.sum(axis=1, keepdims=True)
    matrix = labelled / np.maximum(per_class, 1)
    n = others.sum(axis=1, keepdims=True)
    usable = (per_class[:, 0] > 0).all(axis=1) & (n[:, 0] > 0)
    usable &= np.linalg.svd(matrix, compute_uv=False)[:, -1] > 1e-9
    matrix = np.where(usable[:, None, None], matrix, np.eye(len(scores)))
    weights = np.linalg.solve(
        matrix.transpose(0, 2, 1), np.broadcast_to(scores[:, None], (len(matrix), len(scores), 1))
    )
    return (weights[:, :, 0] * others / np.maximum(n, 1)).sum(axis=1), usable


@dataclass(frozen=True, slots=True)
class KClassBootstrap:
    """The K-class interval by resampling: percentiles over the resamples that have a value. ``refused`` of
    ``resamples`` have none."""

    interval: Interval | None
    refused: int
    resamples: int
    seed: int
    reason: str = ""


def k_class_bootstrap(
    labelled: Labelled, unlabelled: Mapping[Verdict, int], *, resamples: int = RESAMPLES, seed: int = 0
) -> KClassBootstrap:
    """The bootstrap in the place of the delta method of :func:`k_class`: labelled pairs and the verdicts of the others
    are drawn anew, each time without smoothing, and the ends are held within 0 to 1.

    ``None`` where more than 1 % of the resamples have no value.
    """
    import numpy as np

    classes = classes_of(labelled, unlabelled)
    table = np.asarray(_table(labelled, classes), dtype=float)
    others = np.asarray([unlabelled.get(verdict, 0) for verdict in classes], dtype=float)
    k = len(classes)
    rng = np.random.default_rng(seed)
    drawn = _drawn(rng, table.ravel(), resamples).reshape(-1, k, k)
    scores = np.asarray([SCORES[verdict] for verdict in classes])
    values, usable = inverted(drawn, _drawn(rng, others, resamples), scores)
    refused = int((~usable).sum())
    if refused > _MOST_REFUSED * resamples:
        why = f"the judge's errors cannot be inverted in {refused:,} of {resamples:,} resamples"
        return KClassBootstrap(None, refused, resamples, seed, why)
    low, high = np.clip(np.percentile(values[usable], (2.5, 97.5)), 0.0, 1.0)
    if (shown := k_class(labelled, unlabelled).estimate.value) is not None:
        # The estimate beside it is of the smoothed table: the interval reaches to it.
        low, high = min(low, shown), max(high, shown)
    return KClassBootstrap(Interval(float(low), float(high)), refused, resamples, seed)


_MOST_REFUSED = 0.01


# Which of them may be shown


def one_verdict(labelled: Labelled, unlabelled: Mapping[Verdict, int]) -> str:
    """Why the headline has no interval although it has labels enough: with one verdict there is one stratum, and its
    normal interval covers too seldom below 20 labels. Empty where that does not hold, or every pair has a label."""
    m = sum(labelled.values())
    counts = _marginal(labelled, 0)
    given = [verdict for verdict in ORDER if counts[verdict] + unlabelled.get(verdict, 0)]
    if len(given) != 1 or m >= min(FEWEST_WITH_ONE_VERDICT, m + sum(unlabelled.values())):
        return ""
    return (
        f"the network gave the verdict {_SAID[given[0]]} on every pair, and {m} labels are too few for an interval "
        f"then: {FEWEST_WITH_ONE_VERDICT - m} more are needed"
    )


def too_few(labelled: Labelled, unlabelled: Mapping[Verdict, int]) -> str:
    """Why there are too few labels for a corrected estimate, and how many more are needed; empty where there are
    enough: 10 in all, and 2 of each verdict that 10 % of the pairs have."""
    m = sum(labelled.values())
    counts = _marginal(labelled, 0)
    n = m + sum(unlabelled.values())
    problems = []
    if m < FEWEST_LABELS:
        problems.append(f"{m} labels are too few: {FEWEST_LABELS - m} more are needed")
    for verdict in ORDER:
        total = counts[verdict] + unlabelled.get(verdict, 0)
        if n and total >= _LARGE_STRATUM * n and counts[verdict] < FEWEST_IN_STRATUM:
            more = FEWEST_IN_STRATUM - counts[verdict]
            if total >= FEWEST_IN_STRATUM:
                problems.append(
                    f"of the pairs with the verdict {_SAID[verdict]} ({100 * total / n:.0f} % of all) "
                    f"{counts[verdict]} are labelled: {more} more are needed"
                )
    return "; ".join(problems)


@dataclass(frozen=True, slots=True)
class Rates:
    """All estimates of one win rate, and what they rest on. ``decided`` goes with the stratified estimate."""

    estimates: dict[Method, Estimate]
    stratified: Stratified
    decided: Estimate
    worth: Worth
    chosen: Chosen
    classes: tuple[Verdict, ...]


def rates(labelled: Labelled, unlabelled: Mapping[Verdict, int], chosen: Chosen) -> Rates:
    """Every estimate that the way the labels were chosen allows; the others are refused with a reason.

    Labels chosen at random allow the stratified estimate (the headline), PPI++, human labels alone and, with a warning,
    Lee et al.'s; those chosen within each verdict allow the stratified only; labels from elsewhere allow only the
    corrections by error rates; targeted labels allow none.
    """
    headline = stratified(labelled, unlabelled)
    estimates: dict[Method, Estimate] = {
        "naive": naive(labelled, unlabelled),
        "stratified": headline.estimate,
        "ppi": prediction_powered(labelled, unlabelled).estimate,
        "human_only": human_only(labelled),
        "lee": lee(labelled, unlabelled).estimate,
        "k_class": k_class(labelled, unlabelled).estimate,
    }
    few = too_few(labelled, unlabelled)
    for method, estimate in estimates.items():
        if method not in _ALLOWED[chosen]:
            estimates[method] = estimate.refused(_REFUSED[chosen])
        elif few and method not in ("naive", "human_only"):
            estimates[method] = estimate.refused(few)
    if chosen == "random" and estimates["lee"].value is not None:
        estimates["lee"] = replace(estimates["lee"], notes=(*estimates["lee"].notes, _WIDER))
    value = worth(labelled, sum(unlabelled.values()))
    decided = decided_rate(labelled, unlabelled)
    if why := one_verdict(labelled, unlabelled):
        estimates["stratified"] = estimates["stratified"].without_interval(why)
        decided = decided.without_interval(why)
        headline = replace(
            headline, estimate=estimates["stratified"], these_pairs=headline.these_pairs.without_interval(why)
        )
    if (refused := estimates["stratified"]).value is None:
        decided = decided.refused(refused.reason)
        headline = replace(headline, these_pairs=headline.these_pairs.refused(refused.reason))
    if chosen != "random":
        value = Worth(None, None, None, "only labels chosen at random from all pairs tell it")
    return Rates(estimates, headline, decided, value, chosen, classes_of(labelled, unlabelled))
