"""The soft votes of all pairs at once; :mod:`judgenet.core.soft_votes` states the rules for one pair.

Codes are as in :data:`judgenet.stats.curves.CODES`; distributions have their probabilities in the order A, tie, B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgenet.core.network import Aggregation
from judgenet.core.soft_votes import DIGITS, SOFT_ENTROPY, voting_layer
from judgenet.stats.curves import Codes, Floats


@dataclass(frozen=True, slots=True)
class SoftSums:
    """Distributions summed by neuron, of shape (pairs, neurons, 3): each voter's, ``plain`` and by how sure it is; and
    how many voters each neuron is, of shape (pairs, neurons)."""

    plain: Floats
    by_sureness: Floats
    voters: NDArray[np.int64]


def sureness_of(shares: Floats) -> Floats:
    """:func:`judgenet.core.probabilities.sureness` of distributions along the last axis; NaN where they are."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    sureness: Floats = np.maximum(0.0, 1.0 + (shares * logs).sum(axis=-1) / np.log(3))
    return sureness


SHARPNESS_BOUNDS = (0.5, 0.7, 0.9)
"""Where the bins of :func:`sharpness` begin after the first, which begins at 1/3."""


@dataclass(frozen=True, slots=True)
class Sharpness:
    """How sharp distributions over A, tie and B are. ``counts`` are distributions by their largest probability: below
    50 %, 50 to 70 %, 70 to 90 %, 90 % or more. ``entropy`` is their mean entropy divided by ln 3 (0: all certain, 1:
    all even), ``largest`` the mean of the largest probability; both are ``None`` without a distribution."""

    counts: tuple[int, ...]
    entropy: float | None
    largest: float | None

    @property
    def n(self) -> int:
        return sum(self.counts)


def sharpness(shares: Floats) -> Sharpness:
    """How sharp the distributions along the last axis are; those that are NaN are left out. Entropy is Shannon's."""
    known = shares[~np.isnan(shares).any(axis=-1)]
    largest = known.max(axis=-1) if len(known) else np.zeros(0)
    # A probability of .9 that was summed in another order may be .8999…
    bins = np.searchsorted(SHARPNESS_BOUNDS, np.round(largest, DIGITS), side="right")
    counts = tuple(np.bincount(bins, minlength=len(SHARPNESS_BOUNDS) + 1).tolist())
    if not len(known):
        return Sharpness(counts, None, None)
    return Sharpness(counts, float(np.mean(1 - sureness_of(known))), float(largest.mean()))


def soft_sums(shares: Floats, difference: Floats, said: Codes, rules: Aggregation) -> SoftSums:
    """The sums by neuron of the distributions of its calls.

    ``shares`` has the shape (pairs, neurons, orders, samples, 3), NaN for calls without probabilities; ``difference``
    and ``said`` have that of its first four axes: A minus B (NaN where a call is not valid), and its sign as a code. A
    valid call without probabilities votes whole for what it says.
    """
    valid = ~np.isnan(difference)
    whole = np.stack([said == code for code in (1, 2, 3)], axis=-1).astype(float)
    each = np.where(valid[..., None], np.where(np.isnan(shares), whole, shares), 0.0)
    calls = valid.sum(axis=(2, 3))
    total = each.sum(axis=(2, 3))
    if rules.vote == "call":
        return SoftSums(total, (each * (sureness_of(each) * valid)[..., None]).sum(axis=(2, 3)), calls)
    mean = np.divide(total, calls[..., None], out=np.zeros(total.shape), where=calls[..., None] > 0)
    voting = calls > 0
    return SoftSums(mean, mean * (sureness_of(mean) * voting)[..., None], voting.astype(np.int64))


def weighted_sums(sums: SoftSums, weights: Floats) -> SoftSums:
    """The sums with neurons counted by their weights, of shape (pairs, neurons); one of weight 0 is no voter."""
    by = weights[..., None]
    return SoftSums(sums.plain * by, sums.by_sureness * by, np.where(weights > 0, sums.voters, 0))


def soft_codes(
    name: str, sums: SoftSums, layers: NDArray[np.int64], depth: int, c1: Codes, rules: Aggregation, last: Any = None
) -> Codes:
    """The verdicts of a soft vote. ``layers`` has the layer of each neuron, ``last`` the last layer that was asked of
    pairs that were decided early, 0 for the others."""
    part = sums.by_sureness if name == SOFT_ENTROPY else sums.plain
    layer = voting_layer(name)

    def vote_of(voters: NDArray[np.bool_]) -> Codes:
        a, tie, b = np.round(np.moveaxis(part[:, voters].sum(axis=1), 1, 0), DIGITS)
        codes = np.where(a > b, 1, 3)
        tied = a == b
        if rules.ties == "candidate":
            tied |= tie == np.maximum(a, b)
        codes = np.where(tied, c1 if rules.fallback == "c1" else 2, codes)
        if rules.ties == "candidate":
            codes = np.where(tie > np.maximum(a, b), 2, codes)
        return np.where(sums.voters[:, voters].sum(axis=1) > 0, codes, 0).astype(np.uint8)

    codes = vote_of(layers <= depth if layer is None else layers == layer)
    for earlier in range(1, layer or 1) if last is not None else ():
        codes = np.where(last == earlier, vote_of(layers == earlier), codes)
    return codes


def mean_distribution(sums: SoftSums, network: NDArray[np.bool_]) -> Floats:
    """The mean distribution of the voters of all layers by pair, of shape (pairs, 3); NaN without one."""
    voters = sums.voters[:, network].sum(axis=1)[:, None]
    total = sums.plain[:, network].sum(axis=1)
    mean: Floats = np.divide(total, voters, out=np.full(total.shape, np.nan), where=voters > 0)
    return mean


def brier(shares: Floats, human: Codes | Sequence[int]) -> Floats:
    """The Brier score of distributions over A, tie and B against labels, a value a pair: the sum of the squared
    distances from the distribution that is certain of the label (Brier, Monthly Weather Review 78, 1950). 0 where the
    label was certain, 2 where another verdict was; NaN without a distribution or a label."""
    codes = np.asarray(human)
    certain = np.stack([codes == code for code in (1, 2, 3)], axis=-1).astype(float)
    scores: Floats = np.where(codes > 0, ((shares - certain) ** 2).sum(axis=-1), np.nan)
    return scores
