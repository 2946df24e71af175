"""The verdicts of smaller networks, from the recorded calls of a larger one: no call is made.

Only sub-networks are asked whose every call is recorded as it would have been made: deeper layers are dropped, neurons
of the last layer that is left, one order where no layer reads another, and the last samples. Roles stay as they were.

Calls are an array of shape (pairs, neurons, orders, samples): A minus B of each valid call, NaN for the others.
Verdicts are codes as in :mod:`judgenet.stats.curves`: 0 none, 1 A, 2 tie, 3 B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, sqrt
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from judgenet.core.evaluation import TIE_TOLERANCE
from judgenet.core.network import Aggregation
from judgenet.core.pairs import ORDERS, Order
from judgenet.stats.agreement import sign_test_over_questions
from judgenet.stats.comparison import McNemar, mcnemar, tango
from judgenet.stats.curves import Codes
from judgenet.stats.intervals import (
    RESAMPLES,
    Interval,
    Z,
    bootstrap_interval,
    share_interval,
    wilson,
)
from judgenet.stats.resampling import few_questions, pseudo_cells, resampled

Differences = NDArray[np.float64]
Asked = NDArray[np.bool_]
VoteRule = Literal["c1", "c2_all", "c2_last"]
"""``c2_last`` is the vote of the last layer that is left."""

SUBSETS = 200
"""So many choices of neurons are averaged at most; where there are more, they are drawn by a seed."""

ONE_POINT = 0.01


@dataclass(frozen=True, slots=True)
class Calls:
    """The recorded calls of a run. ``layers`` has a layer (from 1) for each neuron; ``asked`` is true where there was a
    call, valid or not; ``human`` are the labels' codes, 0 where there is none. ``questions`` numbers the question of
    each pair; where one has several pairs, intervals are over questions. ``weights`` are those of the neurons on each
    pair, of shape (pairs, neurons); ``None`` where all are 1."""

    differences: Differences
    asked: Asked
    layers: NDArray[np.int64]
    human: Codes
    questions: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None

    @property
    def depth(self) -> int:
        return int(self.layers.max(initial=0))

    @property
    def orders(self) -> tuple[Order, ...]:
        """The orders in which there are calls."""
        there = [self.asked[:, :, place].any() for place in range(len(ORDERS))]
        return tuple(order for order, some in zip(ORDERS, there, strict=True) if some)

    @property
    def samples(self) -> int:
        return int(self.differences.shape[3])


@dataclass(frozen=True, slots=True)
class Point:
    """The accuracy of sub-networks of one size.

    ``width`` of ``of_width`` neurons of layer ``depth`` are kept, with all of the layers before: ``neurons`` together.
    ``accuracy`` is the mean over ``subsets`` choices of them (all, where ``every``), over the labelled pairs that have
    a verdict; ``lowest`` and ``highest`` are those of single choices. ``interval`` is over pairs: Wilson's for one
    choice, else the delta method's; where pairs share questions it is a bootstrap over questions, and ``None`` (as
    ``difference_interval``) where these are too few. ``calls`` is the mean number of calls per pair. ``difference`` is
    the accuracy minus that of the whole network, on the same pairs, with its interval.
    """

    depth: int
    width: int
    of_width: int
    neurons: int
    orders: tuple[Order, ...]
    samples: int
    calls: float
    subsets: int
    every: bool
    accuracy: float
    interval: Interval | None
    lowest: float
    highest: float
    n_used: float
    difference: float
    difference_interval: Interval | None


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The whole network, all sub-networks by size, and the smallest within a tolerance.

    ``best_neuron`` is the accuracy of the single neuron of layer 1 that agrees most with people, and its column: chosen
    on the very pairs that it is measured on, hence flattering. ``best`` is the same as a network of that neuron alone,
    with its intervals; its ``difference`` is from the whole network. ``questions`` is how many questions the labelled
    pairs have, where that is known; ``few`` says why so few have no intervals.
    """

    whole: Point
    points: tuple[Point, ...]
    smallest: Point
    tolerance: float
    best_neuron: tuple[int, float]
    best: Point
    questions: int | None = None
    few: str = ""


@dataclass(frozen=True, slots=True)
class Subnetwork:
    """One exact sub-network: all of the layers before ``depth``, the first ``width`` neurons of layer ``depth``, and of
    each call the first ``samples``. One order alone is exact where ``depth`` is 1."""

    depth: int
    width: int
    orders: tuple[Order, ...]
    samples: int


@dataclass(frozen=True, slots=True)
class SubnetworkVerdicts:
    """The verdicts of a sub-network.

    ``codes`` are its verdicts by pair. ``accuracy`` is over the ``n_used`` pairs with a verdict and a label, of
    ``n_total``, with Wilson's interval, or a bootstrap over questions where pairs share them; ``None`` where there is
    none. ``calls`` is the mean number of calls per pair.
    """

    choice: Subnetwork
    codes: Codes
    accuracy: float | None
    interval: Interval | None
    n_used: int
    n_total: int
    calls: float


def whole_choice(calls: Calls) -> Subnetwork:
    """The network as it was run."""
    return Subnetwork(calls.depth, int((calls.layers == calls.depth).sum()), calls.orders, calls.samples)


def answer(calls: Calls, choice: Subnetwork, rules: Aggregation, rule: VoteRule = "c2_all") -> SubnetworkVerdicts:
    """What one sub-network would have said; fast enough for a slider.

    :raises ValueError: the sub-network is not exact, or larger than the network.
    """
    last = np.flatnonzero(calls.layers == choice.depth)
    if not 1 <= choice.width <= len(last) or not 1 <= choice.samples <= calls.samples or not choice.orders:
        raise ValueError(f"{choice} is no part of this network.")
    if choice.depth > 1 and choice.orders != calls.orders:
        raise ValueError("A deeper layer has read both orders: one alone is another network.")
    kept = np.concatenate((np.flatnonzero(calls.layers < choice.depth), last[: choice.width]))
    axes = np.array([place for place, order in enumerate(ORDERS) if order in choice.orders])
    part = np.ix_(np.arange(len(calls.human)), kept, axes, np.arange(choice.samples))
    weights = None if calls.weights is None else calls.weights[:, kept]
    codes = verdict_codes(
        calls.differences[part], calls.layers[kept], np.ones((1, len(kept)), dtype=bool), rules, rule, weights
    )[0]
    judged = (codes > 0) & (calls.human > 0)
    n, hits = int(judged.sum()), int((judged & (codes == calls.human)).sum())
    asked = calls.asked[part].sum() / len(calls.human) if len(calls.human) else 0.0
    interval = wilson(hits, n)
    if calls.questions is not None and n:
        interval = share_interval(calls.questions[judged], (codes == calls.human)[judged])
    return SubnetworkVerdicts(choice, codes, hits / n if n else None, interval, n, len(calls.human), float(asked))


@dataclass(frozen=True, slots=True)
class SubnetworkChange:
    """What another sub-network changes. ``changed`` are the places of the pairs on which both have a verdict and not
    the same; of those with a label ``to_right`` and ``to_wrong`` became right and wrong. ``test`` compares the
    accuracies on the pairs that both judged, the first less the second; ``n`` are the pairs with both verdicts."""

    changed: NDArray[np.int64]
    n: int
    test: McNemar

    @property
    def to_right(self) -> int:
        return self.test.only_first

    @property
    def to_wrong(self) -> int:
        return self.test.only_second


class WithCodes(Protocol):
    """Something that has verdicts, codes by pair."""

    @property
    def codes(self) -> Codes: ...


def change(
    first: WithCodes, second: WithCodes, human: Codes, questions: NDArray[np.int64] | None = None
) -> SubnetworkChange:
    """What ``first`` says otherwise than ``second``. Where ``questions`` repeat, interval and p are over
    them (:func:`judgenet.stats.agreement.sign_test_over_questions`)."""
    both = (first.codes > 0) & (second.codes > 0)
    differ = both & (first.codes != second.codes)
    used = both & (human > 0)
    right, wrong = (int((used & differ & (subnetwork.codes == human)).sum()) for subnetwork in (first, second))
    test = mcnemar(right, wrong, int(used.sum()))
    if questions is not None and used.any():
        _, number = np.unique(questions[used], return_inverse=True)
        there = int(number.max()) + 1
        if there < test.n:
            lead = (first.codes == human)[used].astype(float) - (second.codes == human)[used]
            table = np.stack(
                [np.bincount(number, weights=values) for values in (lead, np.ones(test.n))], axis=1
            ).astype(float)
            ends = None
            if not few_questions(there, test.n):
                # Sums that are drawn are no less than 0: the lead is counted from -1.
                [drawn] = resampled([table + [1, 0] * table[:, 1:]], resamples=RESAMPLES, seed=0)
                extra = _pseudo_pairs(RESAMPLES, test.n / there, 0)
                hits = drawn[:, 0] - drawn[:, 1] + extra.this - extra.whole
                assert test.difference is not None
                ends = bootstrap_interval(hits / (drawn[:, 1] + extra.n), test.difference, there, (-1.0, 1.0))
            p = sign_test_over_questions(questions[used], np.rint(lead).astype(np.int64))
            test = replace(test, interval=ends, p=p)
    return SubnetworkChange(np.flatnonzero(differ), int(both.sum()), test)


def what_if(
    calls: Calls,
    rules: Aggregation,
    rule: VoteRule = "c2_all",
    *,
    tolerance: float = ONE_POINT,
    seed: int = 0,
    subsets: int = SUBSETS,
    on_progress: Callable[[int, int], None] | None = None,
) -> WhatIf | None:
    """The accuracy of every size of exact sub-network; ``None`` where no labelled pair has a verdict.

    ``smallest`` is the one with the fewest calls whose accuracy is at most ``tolerance`` below the whole network's. At
    most ``subsets`` choices of neurons are averaged for a size. ``on_progress`` is called with how many sizes of how
    many are done; what it raises ends the work."""
    asked = calls.asked.mean(axis=0) if len(calls.asked) else np.zeros(calls.asked.shape[1:])
    labelled = calls.human > 0
    if not labelled.any():
        return None
    # Pairs without a label change no accuracy, and there may be very many of them.
    calls = _part_of(calls, labelled)
    clusters = None
    if calls.questions is not None and calls.questions.max() + 1 < len(calls.questions):
        clusters = _Clusters(calls.questions)
    whole_masks = np.ones((1, len(calls.layers)), dtype=bool)
    base = _shares(verdict_codes(calls.differences, calls.layers, whole_masks, rules, rule, calls.weights), calls.human)
    if not base[1].sum():
        return None
    points = []
    sizes = [
        (depth, width, orders, samples)
        for depth, orders, samples in _kinds(calls)
        for width in range(1, int((calls.layers == depth).sum()) + 1)
    ]
    for done, size in enumerate(sizes):
        if on_progress is not None:
            on_progress(done, len(sizes))
        at_size = _point(calls, asked, rules, rule, base, size, subsets, seed, clusters)
        if at_size is not None:
            points.append(at_size)
    best = _best_neuron(calls)
    alone = np.arange(len(calls.layers))[None, :] == best[0]
    # One neuron by itself is no network: no quorum is asked of it.
    of_one = replace(rules, quorum=None)
    single = _point(calls, asked, of_one, "c1", base, (1, 1, calls.orders, calls.samples), 1, seed, clusters, alone)
    assert single is not None
    points.append(single)
    if clusters is not None:
        points = clusters.intervals(points, seed)
    single = points.pop()
    whole = next(point for point in points if _is_whole(point, calls))
    near = [point for point in points if point.difference >= -tolerance - TIE_TOLERANCE]
    smallest = min(near, key=lambda point: (point.calls, point.neurons, -point.accuracy))
    questions = None if calls.questions is None else int(calls.questions.max()) + 1
    few = "" if clusters is None else clusters.few
    return WhatIf(whole, tuple(points), smallest, tolerance, best, single, questions, few)


def _part_of(calls: Calls, pairs: NDArray[np.bool_]) -> Calls:
    """The calls of some pairs, whose questions are numbered anew."""
    return replace(
        calls,
        differences=calls.differences[pairs],
        asked=calls.asked[pairs],
        human=calls.human[pairs],
        questions=None if calls.questions is None else np.unique(calls.questions[pairs], return_inverse=True)[1],
        weights=None if calls.weights is None else calls.weights[pairs],
    )


def _is_whole(point: Point, calls: Calls) -> bool:
    return (point.depth, point.width, point.orders, point.samples) == (
        calls.depth,
        point.of_width,
        calls.orders,
        calls.samples,
    )


class _Clusters:
    """Right and judged pairs of each question, size by size, and the intervals that follow."""

    def __init__(self, questions: NDArray[np.int64]) -> None:
        self.questions = questions
        self.few = few_questions(int(questions.max()) + 1, len(questions))
        self._tables: list[NDArray[np.float64]] = []

    def add(self, *by_pair: NDArray[np.float64]) -> None:
        """Takes a size in: its right and judged pairs, and those of the whole network."""
        self._tables.append(np.stack([np.bincount(self.questions, weights=weights) for weights in by_pair], axis=1))

    def intervals(self, points: list[Point], seed: int) -> list[Point]:
        """The points with intervals over questions in place of those over pairs."""
        if self.few:
            return [replace(point, interval=None, difference_interval=None) for point in points]
        # In one table, so that each size and the whole network are drawn on the same questions.
        [drawn] = resampled([np.concatenate(self._tables, axis=1)], resamples=RESAMPLES, seed=seed)
        there_are = int(self.questions.max()) + 1
        extra = _pseudo_pairs(RESAMPLES, len(self.questions) / there_are, seed)
        with_intervals = []
        for place, point in enumerate(points):
            hits, n, base_hits, base_n = drawn[:, 4 * place : 4 * place + 4].T
            shares = (hits + extra.this) / (n + extra.n)
            against = shares - (base_hits + extra.whole) / (base_n + extra.n)
            whole = point.difference_interval is not None and _known(point.difference_interval)
            with_intervals.append(
                replace(
                    point,
                    interval=bootstrap_interval(shares, point.accuracy, there_are),
                    difference_interval=(
                        point.difference_interval
                        if whole
                        else bootstrap_interval(against, point.difference, there_are, (-1.0, 1.0))
                    ),
                )
            )
        return with_intervals


class _PseudoPairs(NamedTuple):
    """What pseudo-pairs add in each resample: those that the smaller network gets right, that the whole does, and
    all."""

    this: NDArray[np.float64]
    whole: NDArray[np.float64]
    n: NDArray[np.float64]


def _pseudo_pairs(resamples: int, weight: float, seed: int) -> _PseudoPairs:
    """A pair that only the smaller network gets right, one that only the whole one does, half a pair that both and half
    that neither does, so that resamples vary where all pairs are equal."""
    only, second_only, both, neither = pseudo_cells((resamples,), np.array([1.0, 1.0, 0.5, 0.5]), weight, seed).T
    return _PseudoPairs(only + both, second_only + both, only + second_only + both + neither)


def _known(interval: Interval) -> bool:
    """Whether the difference is that of a network to itself."""
    return interval == (0.0, 0.0)


def _kinds(calls: Calls) -> Iterator[tuple[int, tuple[Order, ...], int]]:
    """(depth, orders, samples) of the sub-networks that are exact."""
    for depth in range(1, calls.depth + 1):
        # A deeper neuron has read both orders of the layer before.
        single = [(order,) for order in calls.orders] if depth == 1 and len(calls.orders) > 1 else []
        for orders in (calls.orders, *single):
            for samples in range(calls.samples, 0, -1):
                yield depth, orders, samples


def _point(
    calls: Calls,
    asked: NDArray[np.float64],
    rules: Aggregation,
    rule: VoteRule,
    base: tuple[NDArray[np.float64], NDArray[np.float64]],
    size: tuple[int, int, tuple[Order, ...], int],
    subsets: int,
    seed: int,
    clusters: _Clusters | None,
    masks: Asked | None = None,
) -> Point | None:
    """The accuracy of a size, over choices of neurons, or of the given ``masks`` alone."""
    depth, width, orders, samples = size
    axes = [place for place, order in enumerate(ORDERS) if order in orders]
    differences = calls.differences[:, :, axes, :samples]
    last = np.flatnonzero(calls.layers == depth)
    own = masks is not None
    masks = _masks(calls.layers, depth, last, width, subsets, seed) if masks is None else masks
    codes = verdict_codes(differences, calls.layers, masks, rules, rule, calls.weights)
    right, judged = _each(codes, calls.human)
    hits, there = right.mean(axis=0), judged.mean(axis=0)
    n = float(there.sum())
    if not n:
        return None
    if clusters is not None:
        clusters.add(hits, there, *base)
    accuracy = float(hits.sum() / n)
    singles = [float(r.sum() / j.sum()) for r, j in zip(right, judged, strict=True) if j.any()]
    slope = (hits - accuracy * there) / n
    base_n = base[1].sum()
    base_accuracy = base[0].sum() / base_n
    against = slope - (base[0] - base_accuracy * base[1]) / base_n
    difference, spread = accuracy - float(base_accuracy), Z * sqrt(float((against**2).sum()))
    whole = not own and bool(masks.all()) and orders == calls.orders and samples == calls.samples
    within = Interval(difference - spread, difference + spread)
    if whole:
        within = Interval(0.0, 0.0)
    elif spread < 1e-12:
        # No pair tells the two apart, which does not say that none would.
        within = tango(0, 0, max(1, round(n)))
    return Point(
        depth=depth,
        width=width,
        of_width=len(last),
        neurons=int(masks[0].sum()),
        orders=orders,
        samples=samples,
        calls=float((masks @ asked[:, axes, :samples].sum(axis=(1, 2))).mean()),
        subsets=len(masks),
        every=not own and len(masks) == comb(len(last), width),
        accuracy=accuracy,
        interval=_interval(hits, accuracy, n, slope, len(masks)),
        lowest=min(singles),
        highest=max(singles),
        n_used=n,
        difference=difference,
        difference_interval=within,
    )


def _interval(
    hits: NDArray[np.float64], accuracy: float, n: float, slope: NDArray[np.float64], subsets: int
) -> Interval:
    spread = Z * sqrt(float((slope**2).sum()))
    if subsets == 1 or not spread:
        interval = wilson(round(float(hits.sum())), round(n))
        return interval or Interval(0.0, 1.0)
    return Interval(max(0.0, accuracy - spread), min(1.0, accuracy + spread))


def _masks(layers: NDArray[np.int64], depth: int, last: NDArray[np.intp], width: int, subsets: int, seed: int) -> Asked:
    """The neurons that are kept, a row a choice."""
    if comb(len(last), width) <= subsets:
        chosen: Sequence[Sequence[int]] = list(combinations(last.tolist(), width))
    else:
        rng = np.random.default_rng((seed, depth, width))
        drawn: set[tuple[int, ...]] = set()
        while len(drawn) < subsets:
            drawn.add(tuple(sorted(rng.choice(last, width, replace=False).tolist())))
        chosen = sorted(drawn)
    masks = np.zeros((len(chosen), len(layers)), dtype=bool)
    masks[:, layers < depth] = True
    for row, places in enumerate(chosen):
        masks[row, list(places)] = True
    return masks


def verdict_codes(
    differences: Differences,
    layers: NDArray[np.int64],
    masks: Asked,
    rules: Aggregation,
    rule: VoteRule,
    weights: NDArray[np.float64] | None = None,
) -> Codes:
    """The verdict on each pair (columns) by the neurons of each mask (rows), by the rules of
    :func:`judgenet.core.aggregate.aggregate`. ``weights`` as in :class:`Calls`."""
    valid = ~np.isnan(differences)
    filled = np.where(valid, differences, 0.0)
    sums, counts = filled.sum(axis=(2, 3)), valid.sum(axis=(2, 3))
    kept = masks.astype(float)
    by_weight = 1.0 if weights is None else weights
    total, used = kept @ (sums * by_weight).T, kept @ (counts * by_weight).T
    enough = used > 0
    if rules.quorum is not None:
        answered = (counts > 0).T.astype(float)
        enough &= kept @ answered >= rules.quorum
    c1 = _codes(total, enough)
    if rule == "c1":
        return c1
    if rule == "c2_last":
        deepest = np.where(masks, layers, 0).max(axis=1, keepdims=True)
        kept = kept * (layers == deepest)
        if rules.quorum is not None:
            enough = kept @ answered >= rules.quorum
    if rules.vote == "call":
        for_a = (valid & (filled > TIE_TOLERANCE)).sum(axis=(2, 3))
        for_b = (valid & (filled < -TIE_TOLERANCE)).sum(axis=(2, 3))
        for_tie = counts - for_a - for_b
    else:
        for_a, for_b = (sums > TIE_TOLERANCE).astype(int), (sums < -TIE_TOLERANCE).astype(int)
        for_tie = (counts > 0).astype(int) - for_a - for_b
    a, b, tie = (kept @ (votes * by_weight).T for votes in (for_a, for_b, for_tie))
    if weights is None:
        a, b, tie = np.rint(a), np.rint(b), np.rint(tie)
    codes = _codes(a - b, a + b + tie > 0)
    ahead = tie - np.maximum(a, b)
    tied = (codes == 2) | ((rules.ties == "candidate") & (np.abs(ahead) <= TIE_TOLERANCE) & (tie > 0))
    if rules.fallback == "c1":
        codes = np.where(tied, c1, codes).astype(np.uint8)
    else:
        codes = np.where(tied, 2, codes).astype(np.uint8)
    if rules.ties == "candidate":
        codes = np.where(ahead > TIE_TOLERANCE, 2, codes).astype(np.uint8)
    return codes if rules.quorum is None else np.where(enough, codes, 0).astype(np.uint8)


def _codes(lead: NDArray[np.float64], there: NDArray[np.bool_]) -> Codes:
    codes = np.where(lead > TIE_TOLERANCE, 1, np.where(lead < -TIE_TOLERANCE, 3, 2))
    return np.where(there, codes, 0).astype(np.uint8)


def _each(codes: Codes, human: Codes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(right, judged) of each verdict on a labelled pair."""
    judged = (codes > 0) & (human > 0)
    return judged & (codes == human), judged


def _shares(codes: Codes, human: Codes) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    right, judged = _each(codes, human)
    return right.mean(axis=0), judged.mean(axis=0)


def _best_neuron(calls: Calls) -> tuple[int, float]:
    first = np.flatnonzero(calls.layers == 1)
    masks = np.zeros((len(first), len(calls.layers)), dtype=bool)
    masks[np.arange(len(first)), first] = True
    right, judged = _each(verdict_codes(calls.differences, calls.layers, masks, Aggregation(), "c1"), calls.human)
    n = judged.sum(axis=1)
    shares = np.divide(right.sum(axis=1), n, out=np.zeros(len(first)), where=n > 0)
    best = int(shares.argmax())
    return int(first[best]), float(shares[best])
