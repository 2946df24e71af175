"""How many labelled pairs a comparison of two networks needs: power and sample size of McNemar's test.

Only pairs that one alone of the two networks gets right tell them apart. Their share, the discordance psi, comes from a
recorded comparison or is assumed; the difference delta of the two accuracies is what somebody wants to see. The power
is unconditional (Miettinen, Biometrics 1968): the number of such pairs is random, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from judgenet.stats.design_effect import FEWEST_TWINS, likeness
from judgenet.stats.distributions import normal_quantile
from judgenet.stats.intervals import Interval, wilson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

DIFFERENCE: Final = 0.03
"""The difference of two accuracies that is planned for unless another is given."""
POWER: Final = 0.8
ALPHA: Final = 0.05
ASSUMED_DISCORDANCE: Final = 0.2
"""One alone of two networks is right on so many pairs, where nothing is known. On LLMBar's recorded judges it is .15 to
.3 for judges of one strength."""
FEWEST_PILOT: Final = 30
"""With fewer pairs labelled and judged by both networks their discordance is not estimated."""
MOST_PAIRS: Final = 1_000_000
_SETTLED: Final = 40
"""Power rises in small steps that can fall back: a number of pairs is enough if it and so many more are."""
_SMOOTH: Final = 5000
"""From so many pairs on the steps are too small to matter."""
_SPREADS: Final = 9.0
"""Numbers of discordant pairs further than so many standard deviations from the mean do not occur."""

PilotSource = Literal["runs", "accuracy", "given", "assumed"]


def connor_pairs(difference: float, discordance: float, power: float = POWER, alpha: float = ALPHA) -> int:
    """The pairs that McNemar's test needs by Connor's formula (Biometrics 1987, p. 209): with z the quantiles of
    alpha / 2 and of the power, (z_a sqrt(psi) + z_b sqrt(psi - delta²))² / delta².

    :raises ValueError: as in :func:`pairs_needed`.
    """
    _check(difference, discordance, power, alpha)
    z_a, z_b = normal_quantile(1 - alpha / 2), normal_quantile(power)
    root = z_a * sqrt(discordance) + z_b * sqrt(max(0.0, discordance - difference**2))
    return ceil((root / difference) ** 2 - 1e-9)


def mcnemar_power(n: int, difference: float, discordance: float, alpha: float = ALPHA) -> float:
    """The probability that the exact two-sided McNemar test of ``n`` independent pairs rejects at ``alpha``.

    :raises ValueError: as in :func:`pairs_needed`.
    """
    import numpy as np
    from scipy.special import bdtr, bdtrik, gammaln, xlog1py, xlogy  # type: ignore[import-untyped]

    _check(difference, discordance, POWER, alpha)
    centre, spread = n * discordance, sqrt(n * discordance * (1 - discordance))
    low, high = max(0, int(centre - _SPREADS * spread) - 1), min(n, int(centre + _SPREADS * spread) + 1)
    discordant = np.arange(low, high + 1)
    logs = gammaln(n + 1) - gammaln(discordant + 1) - gammaln(n - discordant + 1)
    likely = np.exp(logs + xlogy(discordant, discordance) + xlog1py(n - discordant, -discordance))
    # Reject where at most `most` of the discordant pairs are of one kind: the largest count whose tail is alpha / 2.
    with np.errstate(invalid="ignore"):
        most = np.floor(np.nan_to_num(bdtrik(alpha / 2, discordant, 0.5), nan=-1.0))
    for step in (1.0, 0.0):
        most = np.where(_tail(most + step, discordant) <= alpha / 2, most + step, most)
    most = np.where(_tail(most, discordant) <= alpha / 2, most, most - 1)
    better = min(1.0, (1 + abs(difference) / discordance) / 2)
    there = most >= 0
    most = np.maximum(most, 0.0)
    rejected = bdtr(most, discordant, 1 - better) + bdtr(most, discordant, better)
    return float(min(1.0, (likely * np.where(there, rejected, 0.0)).sum()))


def _tail(most: Array, discordant: NDArray[np.int64]) -> Array:
    """P(at most ``most`` of ``discordant`` fair coins are heads); below 0 it is 0, as no count is."""
    import numpy as np
    from scipy.special import bdtr

    tail: Array = np.where(most < 0, 0.0, bdtr(np.clip(most, 0, discordant), discordant, 0.5))
    return tail


def pairs_needed(difference: float, discordance: float, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """The fewest independent pairs with which the exact two-sided McNemar test finds ``difference`` with ``power``;
    ``None`` where more than :data:`MOST_PAIRS` are needed.

    :raises ValueError: a difference of 0 or above the discordance, or a share, power or alpha outside 0 to 1.
    """
    _check(difference, discordance, power, alpha)

    def enough(n: int) -> bool:
        return mcnemar_power(n, difference, discordance, alpha) >= power

    low = high = connor_pairs(difference, discordance, power, alpha)
    if low > MOST_PAIRS:
        return None
    while not enough(high):
        low, high = high, high + max(8, high // 8)
    while low > 1 and enough(low):
        low = low // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    if high > _SMOOTH:
        return high
    fails = [n for n in range(max(1, high - _SETTLED), high + _SETTLED) if not enough(n)]
    return max(fails, default=high - 1) + 1


def detectable(n: int, discordance: float, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """The smallest difference that ``n`` independent pairs show with ``power``; ``None`` where even one as large as the
    discordance is not shown."""
    if n < 1 or mcnemar_power(n, discordance, discordance, alpha) < power:
        return None
    low, high = 0.0, discordance
    for _ in range(40):
        middle = (low + high) / 2
        if mcnemar_power(n, middle, discordance, alpha) >= power:
            high = middle
        else:
            low = middle
    return high


def _check(difference: float, discordance: float, power: float, alpha: float) -> None:
    if not 0 < discordance <= 1:
        raise ValueError(f"A discordance is a share above 0 and up to 1, not {discordance:g}.")
    if not 0 < abs(difference) <= discordance:
        raise ValueError(
            f"Networks of which one alone is right on {100 * discordance:g} % of the pairs differ by more than 0 and "
            f"at most {100 * discordance:g} points, not by {100 * difference:g}."
        )
    for name, share in (("power", power), ("alpha", alpha)):
        if not 0 < share < 1:
            raise ValueError(f"{name} {share:g} is not between 0 and 1.")


# What is known of two networks before they are compared


@dataclass(frozen=True, slots=True)
class Discordance:
    """How often one alone of two networks is right: ``share``, with Wilson's ``interval`` where ``count`` of ``n``
    labelled pairs show it.

    ``source`` says where it comes from: two recorded ``runs``; the ``accuracy`` of one, for a second network whose
    errors are independent of it; ``given`` by the user; or ``assumed``. ``effect`` is the design effect of the
    difference, where pairs share questions: it multiplies the pairs needed. ``share`` is ``None`` where it cannot be
    had, and ``reason`` says why.
    """

    share: float | None
    source: PilotSource
    count: int | None = None
    n: int | None = None
    interval: Interval | None = None
    effect: float = 1.0
    reason: str = ""


def given_discordance(share: float | None = None) -> Discordance:
    """A discordance that nothing measures: ``share``, or the one that is assumed."""
    return Discordance(ASSUMED_DISCORDANCE, "assumed") if share is None else Discordance(share, "given")


def measured_discordance(only_first: int, only_second: int, n: int, by_question: Array | None = None) -> Discordance:
    """The discordance of two recorded runs on ``n`` labelled pairs.

    ``by_question`` has the shape (questions, 4, 4, 4): counts by label, first and second verdict
    (:func:`judgenet.stats.resampling.question_counts`).
    """
    count = only_first + only_second
    effect = 1.0 if by_question is None else difference_effect(by_question)
    if n < FEWEST_PILOT:
        why = f"{n:,} pairs are labelled and judged by both; at least {FEWEST_PILOT} must be"
        return Discordance(None, "runs", count, n, effect=effect, reason=why)
    if not count:
        why = f"both are right on the same pairs in all of {n:,}; give a discordance"
        return Discordance(None, "runs", 0, n, wilson(0, n), effect, why)
    return Discordance(count / n, "runs", count, n, wilson(count, n), effect)


def independent_discordance(
    right: int, n: int, difference: float = DIFFERENCE, by_question: Array | None = None
) -> Discordance:
    """The discordance of a network that is right on ``right`` of ``n`` pairs and of one ``difference`` better whose
    errors are independent of it: a (1 - b) + b (1 - a). Networks that share errors, as most do, have less of it and
    need fewer pairs.

    ``by_question`` has the shape (questions, 4, 4): counts by label and verdict. The design effect is that of the
    accuracy, which pairs of one question share at least as much as a difference of two.
    """
    if n < FEWEST_PILOT:
        why = f"{n:,} pairs have a label and a verdict; at least {FEWEST_PILOT} are needed"
        return Discordance(None, "accuracy", None, n, reason=why)
    effect = 1.0
    if by_question is not None:
        labelled, same = by_question[:, 1:, 1:], _same()
        effect = _effect([(labelled * kind).sum(axis=(1, 2)) for kind in (~same, same)], (0.0, 1.0))
    first = right / n
    second = min(1.0, first + abs(difference))
    return Discordance(
        max(abs(difference), first * (1 - second) + second * (1 - first)), "accuracy", None, n, effect=effect
    )


def difference_effect(by_question: Array) -> float:
    """The design effect of the difference of two accuracies (:mod:`judgenet.stats.design_effect`), from the counts of
    :func:`measured_discordance`; 1 where few labelled pairs share a question."""
    labelled, same = by_question[:, 1:, 1:, 1:], _same()
    first, second = same[:, :, None], same[:, None, :]
    kinds = [~first & second, (first & second) | (~first & ~second), first & ~second]
    return _effect([(labelled * kind).sum(axis=(1, 2, 3)) for kind in kinds], (-1.0, 0.0, 1.0))


def _same() -> NDArray[np.bool_]:
    """Where label and verdict are the same, of the three classes."""
    import numpy as np

    return np.eye(3, dtype=bool)


def _effect(columns: Sequence[Array], scores: Sequence[float]) -> float:
    """The design effect of the mean of ``scores``, from how many pairs of each question have which."""
    import numpy as np

    table = np.stack(columns, axis=1)
    sizes = table.sum(axis=1)
    pairs, twins = float(sizes.sum()), float((sizes * (sizes - 1)).sum())
    if twins < 2 * FEWEST_TWINS:
        return 1.0
    alike = likeness(table, np.array(scores))
    return 1 + min(1.0, max(0.0, alike)) * twins / pairs


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """How many labelled pairs show a ``difference`` of two accuracies with ``power`` at ``alpha``.

    ``pairs`` are for the exact test and ``formula`` by Connor's, both times the design effect. With ``n`` pairs the
    power is ``power_at``, and ``smallest`` the smallest difference that they show with ``power``. What is undefined is
    ``None``: ``reason`` says why of all, ``smallest_reason`` why of the last.
    """

    difference: float
    power: float
    alpha: float
    discordance: Discordance
    pairs: int | None = None
    formula: int | None = None
    range: tuple[int | None, int | None] | None = None
    n: int | None = None
    power_at: float | None = None
    smallest: float | None = None
    reason: str = ""
    smallest_reason: str = ""


def plan_comparison(
    discordance: Discordance,
    difference: float = DIFFERENCE,
    power: float = POWER,
    alpha: float = ALPHA,
    n: int | None = None,
) -> ComparisonPlan:
    """Plans a comparison; ``n`` are the labelled pairs there are, ``None`` where nothing is known of them.

    ``range`` are the pairs at the ends of the discordance's interval.

    :raises ValueError: ``difference`` is 0, or ``power`` or ``alpha`` is not between 0 and 1.
    """
    difference = abs(difference)
    _check(difference, 1.0, power, alpha)
    share, effect = discordance.share, discordance.effect
    plan = ComparisonPlan(difference, power, alpha, discordance, n=n, reason=discordance.reason)
    if share is None:
        return plan
    if difference > share:
        why = (
            f"one alone of the two is right on {100 * share:.1f} % of the pairs, so that they cannot differ by "
            f"{100 * difference:g} points"
        )
        return ComparisonPlan(difference, power, alpha, discordance, n=n, reason=why)

    def needed(power_wanted: float) -> int | None:
        pairs = pairs_needed(difference, max(power_wanted, difference), power, alpha)
        return None if pairs is None else ceil(pairs * effect - 1e-9)

    pairs, ends = needed(share), discordance.interval
    power_at = smallest = None
    worth = 0 if n is None else int(n / effect + 1e-9)
    why = "no pair is labelled and judged by both" if n is not None and not worth else ""
    if worth:
        power_at = mcnemar_power(worth, difference, share, alpha)
        smallest = detectable(worth, share, power, alpha)
        if smallest is None:
            why = f"{n:,} pairs show no difference with {100 * power:g} %"
    return ComparisonPlan(
        difference,
        power,
        alpha,
        discordance,
        pairs=pairs,
        formula=ceil(connor_pairs(difference, share, power, alpha) * effect - 1e-9),
        range=None if ends is None else (needed(ends.low), needed(ends.high)),
        n=n,
        power_at=power_at,
        smallest=smallest,
        reason="" if pairs is not None else f"more than {MOST_PAIRS:,} pairs are needed",
        smallest_reason=why,
    )
