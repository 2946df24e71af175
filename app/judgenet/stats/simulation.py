"""Do the 95 % intervals hold what they promise? Simulated judges, rates and labels, with the very formulas in use.

Of each simulated run the truth is known: coverage is the share of runs whose interval holds it. It is to be 95 %, up to
the error of the simulation, sqrt(.95 x .05 / runs). Simulated are two classes and three, labels from elsewhere, and
labels that were picked within the pool, since each estimate holds for some of these and for others not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from judgenet.stats import formulas
from judgenet.stats import simulation_reference as reference
from judgenet.stats.calibration import Method, inverted, smoothed_inverse
from judgenet.stats.intervals import Z

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.floating]


class Setting(NamedTuple):
    """A judge (its specificity and sensitivity), the true share of B, and how many pairs are labelled at random."""

    specificity: float
    sensitivity: float
    theta: float
    labels: int


@dataclass(frozen=True, slots=True)
class Covered:
    """Of one method in one setting: the share of intervals that hold the truth, their mean width, and how far the
    estimate is off on average."""

    coverage: float
    width: float
    bias: float | None = None


Simulated = Method | Literal["k_class_bootstrap", "labels_where_present"]
"""The methods, the K-class estimate with a bootstrap in the place of the delta method, and the mean of human labels
where there are such and verdicts elsewhere."""


_JUDGES = ((0.6, 0.7), (0.8, 0.8), (0.7, 0.9), (0.9, 0.9))
GRID: tuple[Setting, ...] = tuple(
    Setting(*judge, theta, labels) for judge in _JUDGES for theta in (0.5, 0.7, 0.9) for labels in (50, 100, 200, 400)
)
"""Weak to strong judges, even to one-sided rates, few to many labels."""


def simulate(setting: Setting, *, unlabelled: int = 1000, runs: int = 4000, seed: int = 0) -> dict[Method, Covered]:
    """Coverage and width of each method's interval over ``runs`` simulated runs of a setting.

    Widths are of intervals that may reach beyond 0 and 1, but for Lee et al.'s, which has no mean width otherwise.
    Where that method finds the judge no better than chance, its interval counts as 0 to 1.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(setting.labels, _cells(setting.theta, setting.specificity, setting.sensitivity), size=runs)
    positive = rng.binomial(unlabelled, _positive(setting.theta, setting.specificity, setting.sensitivity), size=runs)
    return _two_classes(drawn.astype(float), positive.astype(float), unlabelled, setting.theta)


def _cells(theta: float, specificity: float, sensitivity: float) -> list[float]:
    """The shares by verdict and then by truth, A before B."""
    return [
        (1 - theta) * specificity,
        theta * (1 - sensitivity),
        (1 - theta) * (1 - specificity),
        theta * sensitivity,
    ]


def _positive(theta: float, specificity: float, sensitivity: float) -> float:
    return sum(_cells(theta, specificity, sensitivity)[2:])


def _two_classes(labelled: Array, positive: Array, unlabelled: int, theta: float) -> dict[Method, Covered]:
    """Every method for two classes: ``labelled`` has the shape (runs, 4), by verdict and then by label, ``positive`` of
    ``unlabelled`` others have the verdict B."""
    import numpy as np

    aa, ab, ba, bb = labelled.T
    m = labelled.sum(axis=1)
    others = [unlabelled - positive, positive]
    table = [[aa, ab], [ba, bb]]

    parts = [formulas.stratum(row, (0.0, 1.0)) for row in table]
    counts: list[Array] = [aa + ab, ba + bb]
    totals = [count + rest for count, rest in zip(counts, others, strict=True)]
    headline = formulas.weighted(parts, counts, totals)

    moments = formulas.moments(table, others, (0.0, 1.0))
    spread = np.asarray(moments.spread)
    best = np.divide(moments.cov, (1 + m / unlabelled) * spread, out=np.zeros(len(m)), where=spread > 0)
    powered = formulas.powered(moments, np.clip(best, 0.0, 1.0))

    # A judge at chance divides by 0; what comes of it is replaced.
    with np.errstate(divide="ignore", invalid="ignore"):
        lee = formulas.adjusted(positive, unlabelled, aa, aa + ba, bb, bb + ab)
        middle, half = np.asarray(lee.theta) + lee.shift, Z * np.asarray(lee.se)
        usable = np.asarray(lee.judge) > 1e-12
        low = np.where(usable, np.clip(middle - half, 0.0, 1.0), 0.0)
        high = np.where(usable, np.clip(middle + half, 0.0, 1.0), 1.0)
        # The point is of the rates as they are, the interval of the smoothed ones.
        raw = aa / (aa + ba) + bb / (bb + ab) - 1
        point = np.clip((positive / unlabelled + aa / (aa + ba) - 1) / raw, 0.0, 1.0)
        point = np.where(usable & (raw > 1e-12), point, np.nan)
    return {
        "naive": _wilson(positive, np.full(len(m), float(unlabelled)), theta),
        "lee": _covered((low + high) / 2, (high - low) / 2, theta, point),
        "ppi": _covered(np.asarray(powered[0]), Z * np.asarray(powered[1]), theta),
        "stratified": _covered(np.asarray(headline.value), Z * np.asarray(headline.se), theta),
        "human_only": _wilson(ab + bb, m, theta),
    }


def _covered(middle: Array, half: Array, truth: float, point: Array | None = None) -> Covered:
    import numpy as np

    inside = abs(middle - truth) <= half
    values = middle if point is None else point[~np.isnan(point)]
    bias = float(values.mean()) - truth if len(values) else None
    return Covered(float(inside.mean()), float(2 * half.mean()), bias)


def _wilson(hits: Array, n: Array, truth: float) -> Covered:
    share = hits / n
    scale = 1 + Z * Z / n
    half = Z * (share * (1 - share) / n + Z * Z / (4 * n * n)) ** 0.5 / scale
    return _covered((share + Z * Z / (2 * n)) / scale, half, truth, share)


# Three classes


class SimulatedJudge(NamedTuple):
    """A judge of three classes: its verdicts (columns A, tie, B) by what is true (rows A, tie, B)."""

    name: str
    errors: tuple[tuple[float, float, float], ...]


STRONG = SimulatedJudge("strong", ((0.85, 0.125, 0.025), (0.15, 0.7, 0.15), (0.025, 0.125, 0.85)))
TYPICAL = SimulatedJudge("typical", ((0.7, 0.1, 0.2), (0.375, 0.25, 0.375), (0.2, 0.1, 0.7)))
HARDLY_TIES = SimulatedJudge("hardly ever ties", ((0.72, 0.034, 0.246), (0.46, 0.08, 0.46), (0.238, 0.032, 0.73)))


class ThreeSetting(NamedTuple):
    """A judge, the shares of A, tie and B among people, how many pairs are labelled at random, and how many are not."""

    judge: SimulatedJudge
    people: tuple[float, float, float]
    labels: int
    unlabelled: int = 1000


_EVEN, _ONE_SIDED, _NEARLY_ALL = (0.4, 0.2, 0.4), (0.2, 0.15, 0.65), (0.05, 0.05, 0.9)
THREE: tuple[ThreeSetting, ...] = (
    ThreeSetting(STRONG, _EVEN, 100),
    ThreeSetting(STRONG, _ONE_SIDED, 300),
    ThreeSetting(TYPICAL, _EVEN, 100),
    ThreeSetting(TYPICAL, _ONE_SIDED, 100),
    ThreeSetting(TYPICAL, _ONE_SIDED, 300),
    ThreeSetting(HARDLY_TIES, _EVEN, 300),
    ThreeSetting(STRONG, _NEARLY_ALL, 30, 470),
    ThreeSetting(STRONG, _NEARLY_ALL, 100, 400),
)
"""Judges of people's ties, from good to none, and few labels of a nearly one-sided pool."""

_SCORES = (0.0, 0.5, 1.0)
_BOOTSTRAP_RUNS = 300
_BOOTSTRAP_RESAMPLES = 300


def simulate_three(setting: ThreeSetting, *, runs: int = 2000, seed: int = 0) -> dict[Simulated, Covered]:
    """Coverage and width of each method for three classes.

    The K-class estimates are never refused here, and their widths are of intervals held within 0 and 1. The bootstrap
    is repeated for at most 300 of the runs, with 300 resamples each.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    people = np.asarray(setting.people)
    scores = np.asarray(_SCORES)
    errors = np.asarray(setting.judge.errors)
    joint, verdicts = (errors * people[:, None]).T, people @ errors
    truth = float(people @ scores)
    n, m = setting.unlabelled, setting.labels
    labelled = rng.multinomial(m, joint.ravel(), size=runs).reshape(-1, 3, 3).astype(float)
    others = rng.multinomial(n, verdicts, size=runs).astype(float)

    rows = [[labelled[:, said, human] for human in range(3)] for said in range(3)]
    rest = list(others.T)
    parts = [formulas.stratum(row, _SCORES) for row in rows]
    counts = [labelled[:, said].sum(axis=1) for said in range(3)]
    totals = [count + unlabelled for count, unlabelled in zip(counts, rest, strict=True)]
    headline = formulas.weighted(parts, counts, totals)
    moments = formulas.moments(rows, rest, _SCORES)
    spread = np.asarray(moments.spread)
    best = np.divide(moments.cov, (1 + m / n) * spread, out=np.zeros(runs), where=spread > 0)
    powered = formulas.powered(moments, np.clip(best, 0.0, 1.0))
    delta = smoothed_inverse(labelled, others, scores)
    half = Z * delta.se
    low, high = np.clip(delta.value - half, 0.0, 1.0), np.clip(delta.value + half, 0.0, 1.0)
    return {
        "naive": _mean(others, truth),
        "k_class": _covered((low + high) / 2, (high - low) / 2, truth, np.clip(delta.value, 0.0, 1.0)),
        "k_class_bootstrap": _resampled(labelled[:_BOOTSTRAP_RUNS], others[:_BOOTSTRAP_RUNS], truth, rng),
        "ppi": _covered(np.asarray(powered[0]), Z * np.asarray(powered[1]), truth),
        "stratified": _covered(np.asarray(headline.value), Z * np.asarray(headline.se), truth),
        "human_only": _mean(labelled.sum(axis=1), truth),
    }


def _mean(counts: Array, truth: float) -> Covered:
    """The mean score of counts by class, with one pseudo-label spread evenly."""
    import numpy as np

    mean = formulas.stratum(list(counts.T), _SCORES)
    middle = np.asarray(mean.mean)
    raw = counts @ np.asarray(_SCORES) / counts.sum(axis=1)
    return _covered(middle, Z * np.sqrt(np.asarray(mean.variance) / mean.n), truth, raw)


def _resampled(labelled: Array, others: Array, truth: float, rng: np.random.Generator) -> Covered:
    import numpy as np

    ends = []
    for table, rest in zip(labelled, others, strict=True):
        m, n = int(table.sum()), int(rest.sum())
        drawn = rng.multinomial(m, table.ravel() / m, size=_BOOTSTRAP_RESAMPLES).reshape(-1, 3, 3).astype(float)
        drawn_rest = rng.multinomial(n, rest / n, size=_BOOTSTRAP_RESAMPLES).astype(float)
        values, usable = inverted(drawn, drawn_rest, np.asarray(_SCORES))
        # Without a usable resample nothing is known.
        ends.append(np.clip(np.percentile(values[usable], (2.5, 97.5)), 0.0, 1.0) if usable.any() else (0.0, 1.0))
    low, high = np.asarray(ends).T
    return _covered((low + high) / 2, (high - low) / 2, truth)


# Where the labels come from


class Origin(NamedTuple):
    """Where the labelled pairs come from: the true share of B among them (``None``: as many of each class), and the
    judge's specificity and sensitivity there and on the pairs that the rate is wanted of."""

    name: str
    theta: float | None
    there: tuple[float, float]
    here: tuple[float, float]


_RATE, _ORIGIN_LABELS = 0.7, 200
ORIGINS: tuple[Origin, ...] = (
    Origin("random subset of the same pairs", _RATE, (0.8, 0.85), (0.8, 0.85)),
    Origin("as many of each class", None, (0.8, 0.85), (0.8, 0.85)),
    Origin("other pairs, 90 % B", 0.9, (0.8, 0.85), (0.8, 0.85)),
    Origin("easier pairs", _RATE, (0.9, 0.9), (0.75, 0.75)),
)


def simulate_origin(origin: Origin, *, runs: int = 4000, seed: int = 0) -> dict[Method, Covered]:
    """Coverage, width and bias of each method for a rate of .7 of 1,000 pairs, with 200 labels from an origin."""
    import numpy as np

    rng = np.random.default_rng(seed)
    theta = 0.5 if origin.theta is None else origin.theta
    cells = np.asarray(_cells(theta, *origin.there))
    if origin.theta is None:
        half = _ORIGIN_LABELS // 2
        labelled = np.zeros((runs, 4))
        for truth in (0, 1):
            columns = [truth, 2 + truth]
            labelled[:, columns] = rng.multinomial(half, cells[columns] / cells[columns].sum(), size=runs)
    else:
        labelled = rng.multinomial(_ORIGIN_LABELS, cells, size=runs).astype(float)
    positive = rng.binomial(1000, _positive(_RATE, *origin.here), size=runs).astype(float)
    return _two_classes(labelled, positive, 1000, _RATE)


# How the labels were picked

LabelDraw = Literal["random", "within_verdict", "hardest", "easiest"]
PICKS: tuple[LabelDraw, ...] = get_args(LabelDraw)
_POOL, _PICKED, _PICK_RATE = 1000, 200, 0.65


def simulate_pick(pick: LabelDraw, *, runs: int = 1500, seed: int = 0) -> dict[Simulated, Covered]:
    """Coverage, width and bias of each method where 200 labels are picked within a pool of 1,000 pairs: at random, as
    many of each verdict, the most or the least difficult first.

    A pair of difficulty d (even from 0 to 1) goes to B with .775 - .25 d. The judge finds B with 1 - .34 d and A with
    .69 - .6 d: it errs more where people prefer A, and more where it is difficult.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    shape = (runs, _POOL)
    difficulty = rng.random(shape)
    truth = rng.random(shape) < _PICK_RATE + 0.125 - 0.25 * difficulty
    right = np.where(truth, 1 - 0.34 * difficulty, 0.69 - 0.6 * difficulty)
    said = np.where(rng.random(shape) < right, truth, ~truth)
    match pick:
        case "random":
            order = rng.random(shape)
        case "hardest":
            order = -difficulty
        case "easiest":
            order = difficulty
        case "within_verdict":
            # The place of a pair among those of its verdict, in random order.
            mixed = np.argsort(rng.random(shape), axis=1)
            sorted_said = np.take_along_axis(said, mixed, axis=1)
            places = np.where(sorted_said, np.cumsum(sorted_said, axis=1), np.cumsum(~sorted_said, axis=1))
            order = np.empty(shape)
            np.put_along_axis(order, mixed, places + 0.5 * sorted_said, axis=1)
    chosen = np.zeros(shape, dtype=bool)
    np.put_along_axis(chosen, np.argpartition(order, _PICKED, axis=1)[:, :_PICKED], True, axis=1)
    labelled = np.stack(
        [(chosen & (said == v) & (truth == t)).sum(axis=1) for v in (False, True) for t in (False, True)], axis=1
    ).astype(float)
    positive = (~chosen & said).sum(axis=1).astype(float)
    covered: dict[Simulated, Covered] = dict(_two_classes(labelled, positive, _POOL - _PICKED, _PICK_RATE).items())
    covered["naive"] = _wilson(said.sum(axis=1).astype(float), np.full(runs, float(_POOL)), _PICK_RATE)
    mixed_hits = (np.where(chosen, truth, said)).sum(axis=1).astype(float)
    covered["labels_where_present"] = _wilson(mixed_hits, np.full(runs, float(_POOL)), _PICK_RATE)
    return covered


# Is it as it should be?

LEAST_COVERAGE = 0.94
"""What the stratified interval must cover at least, before the error of the simulation."""


PUBLISHED_UNLABELLED = 1000
"""The unlabelled pairs of the independent simulation of two classes."""


def simulation_error(coverage: float, runs: int) -> float:
    """The standard error of a simulated coverage."""
    return sqrt(coverage * (1 - coverage) / runs)


Found = Mapping[Any, Covered]
"""What was found in one setting, by method."""


def shortfalls(results: Sequence[tuple[str, Found]], runs: int) -> list[str]:
    """What is not as it should be: a stratified interval that covers less than 94 % by more than three standard errors,
    or is wider than the human labels alone by more than 2 %. Settings are given in words."""
    least = LEAST_COVERAGE - 3 * simulation_error(LEAST_COVERAGE, runs)
    lines = []
    for where, methods in results:
        headline = methods["stratified"]
        if headline.coverage < least:
            lines.append(f"{where}: the stratified interval covers {headline.coverage:.3f}")
        if headline.width > 1.02 * methods["human_only"].width:
            lines.append(f"{where}: the stratified interval is wider than the human labels alone")
    return lines


def two_words(setting: Setting) -> str:
    """A setting of two classes in words."""
    judge = f"judge {setting.specificity:g}/{setting.sensitivity:g}"
    return f"{judge}, rate {setting.theta:g}, {setting.labels} labels"


def three_words(setting: ThreeSetting) -> str:
    """A setting of three classes in words."""
    shares = "/".join(f"{share:g}" for share in setting.people)
    return f"{setting.judge.name} judge, people {shares}, {setting.labels} labels"


_FEW_RUNS = ("k_class_bootstrap",)


def deviations(
    results: Sequence[tuple[str, Found, Mapping[str, reference.PublishedFigure]]],
    runs: int,
    published_runs: int,
    slack: float,
) -> list[str]:
    """Where coverage or width is not what an independent simulation found: apart by more than four standard errors of
    both and ``slack``, or in width by more than ``slack``, 3 % and its error (K-class widths vary a lot)."""
    lines = []
    for where, methods, published in results:
        for name, (coverage, width) in published.items():
            mine = methods[name]
            each = [min(count, _BOOTSTRAP_RUNS) if name in _FEW_RUNS else count for count in (runs, published_runs)]
            variance = max(coverage * (1 - coverage), 0.001)
            allowed = 4 * sqrt(variance * sum(1 / count for count in each)) + slack
            if abs(mine.coverage - coverage) > allowed:
                lines.append(f"{where}: {name} covers {mine.coverage:.3f}, and covered {coverage:.3f} elsewhere")
            spread = 0.03 + (2.0 if name.startswith("k_class") else 0.4) / sqrt(min(each))
            if width >= 0 and abs(mine.width - width) > 0.001 + slack + spread * width:
                lines.append(f"{where}: {name} is {mine.width:.3f} wide, and was {width:.3f} wide elsewhere")
    return lines


_HOLD: dict[LabelDraw, tuple[Simulated, ...]] = {
    "random": ("stratified", "ppi", "human_only"),
    "within_verdict": ("stratified",),
    "hardest": (),
    "easiest": (),
}
_FAIL: dict[LabelDraw, tuple[Simulated, ...]] = {
    "random": ("naive", "labels_where_present"),
    "within_verdict": ("naive", "labels_where_present", "lee", "human_only"),
    "hardest": ("naive", "labels_where_present", "ppi", "stratified", "human_only"),
    "easiest": ("naive", "labels_where_present", "ppi", "stratified", "human_only"),
}
_FAILING = 0.7


def pick_failures(results: Mapping[LabelDraw, Found], runs: int) -> list[str]:
    """Where a way of picking labels does not do what is known of it: random labels allow the estimates, labels within
    each verdict the stratified one alone, and labels picked by difficulty none."""
    least = LEAST_COVERAGE - 3 * simulation_error(LEAST_COVERAGE, runs)
    lines = []
    for pick, methods in results.items():
        words = pick.replace("_", " ")
        lines += [
            f"labels picked {words}: {name} covers {methods[name].coverage:.3f}"
            for name in _HOLD[pick]
            if methods[name].coverage < least
        ]
        lines += [
            f"labels picked {words}: {name} covers {methods[name].coverage:.3f}, though it cannot hold"
            for name in _FAIL[pick]
            if methods[name].coverage > _FAILING
        ]
    return lines
