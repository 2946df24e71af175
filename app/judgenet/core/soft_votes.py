"""Votes of neurons whose verdicts are distributions over A, tie and B: the probabilities are summed, not counted.

``soft_l1`` … ``soft_lL`` and ``soft_all`` are the sums over a layer's neurons and over all; a neuron's distribution is
the mean of those of its calls. In ``soft_entropy`` each counts by how sure it is
(:func:`judgenet.core.probabilities.sureness`). What counts as a voter, what becomes of ties and what a tied vote gives
are the network's rules of the vote, as for the votes ``c2_…``.

Where neurons have the weights of criteria, a neuron's distribution counts as much as its weight, and one of weight 0
does not vote.

A call that was scored by its text gives its whole vote to its verdict: the sampled text is one draw from the
distribution that the endpoint did not send, and right on average. The same for all pairs at once is in
:mod:`judgenet.stats.soft_votes`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Final

from judgenet.core.evaluation import VerdictShares
from judgenet.core.network import Aggregation
from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.core.probabilities import sureness

SOFT_ALL: Final = "soft_all"
SOFT_ENTROPY: Final = "soft_entropy"

WHOLE: Final[dict[Verdict, VerdictShares]] = {
    "a": VerdictShares(1.0, 0.0, 0.0),
    "tie": VerdictShares(0.0, 1.0, 0.0),
    "b": VerdictShares(0.0, 0.0, 1.0),
}
"""The vote of a call that says a verdict without its probabilities."""

DIGITS: Final = 9
"""Sums are compared to so many digits, so that the order of adding does not matter."""


def soft_names(depth: int) -> tuple[str, ...]:
    """The names of the soft votes of a network so deep."""
    return (*(f"soft_l{layer}" for layer in range(1, depth + 1)), SOFT_ALL, SOFT_ENTROPY)


def voting_layer(name: str) -> int | None:
    """The layer whose neurons vote in an aggregation: 2 of ``c2_l2`` and ``soft_l2``; ``None`` where it is not one
    layer's vote."""
    kind, _, layer = name.partition("_l")
    return int(layer) if kind in ("c2", "soft") and layer.isdecimal() else None


@dataclass(frozen=True, slots=True)
class SoftVerdicts:
    """The soft votes of a pair, ``None`` where no call is valid; ``shares`` is the mean distribution of the voters of
    all layers."""

    layers: tuple[Verdict | None, ...]
    of_all: Verdict | None
    by_entropy: Verdict | None
    shares: VerdictShares | None

    def named(self) -> dict[str, Verdict | None]:
        """The verdicts by name, in the order of :func:`soft_names`."""
        return dict(zip(soft_names(len(self.layers)), (*self.layers, self.of_all, self.by_entropy), strict=True))

    def without(self, names: Collection[str]) -> SoftVerdicts:
        """These without the verdicts of some names."""
        kept = {name: None if name in names else verdict for name, verdict in self.named().items()}
        *layers, of_all, by_entropy = kept.values()
        return replace(self, layers=tuple(layers), of_all=of_all, by_entropy=by_entropy)


def soft_verdicts(
    calls: Mapping[tuple[int, int], Sequence[VerdictShares]],
    depth: int,
    rules: Aggregation,
    c1: Verdict | None,
    last_asked: int | None = None,
    weights: Mapping[tuple[int, int], float] | None = None,
) -> SoftVerdicts:
    """The soft votes of one pair. ``calls`` has, by layer and neuron, the distributions of its valid calls; ``c1`` is
    the average's verdict, and ``last_asked`` as in :func:`judgenet.core.aggregate.aggregate`. ``weights`` are those of
    the neurons, 1 where nothing is said; the mean distribution takes no account of them."""
    voters: list[list[VerdictShares]] = [[] for _ in range(depth)]
    counting: list[list[tuple[VerdictShares, float]]] = [[] for _ in range(depth)]
    for (layer, neuron), shares in calls.items():
        mine = shares if rules.vote == "call" else [mean_shares(shares)]
        weight = (weights or {}).get((layer, neuron), 1.0)
        voters[layer - 1] += mine
        counting[layer - 1] += [(of_voter, weight) for of_voter in mine if weight > 0]
    everyone = [shares for of_layer in voters for shares in of_layer]
    of_all = [of_voter for of_layer in counting for of_voter in of_layer]
    layers = [_soft_plurality(of_layer, rules, c1) for of_layer in counting]
    if last_asked is not None:
        layers[last_asked:] = [layers[last_asked - 1]] * (depth - last_asked)
    return SoftVerdicts(
        tuple(layers),
        _soft_plurality(of_all, rules, c1),
        _soft_plurality([(shares, weight * sureness(shares)) for shares, weight in of_all], rules, c1),
        mean_shares(everyone) if everyone else None,
    )


def mean_shares(shares: Sequence[VerdictShares]) -> VerdictShares:
    """The mean of one or more distributions."""
    return VerdictShares(*(fsum(column) / len(shares) for column in zip(*shares, strict=True)))


def _soft_plurality(
    voters: Sequence[tuple[VerdictShares, float]], rules: Aggregation, c1: Verdict | None
) -> Verdict | None:
    """The verdict of summed probabilities, by the rules of :func:`judgenet.core.aggregate.plurality`; each voter with
    its weight. Voters that are all without any weight make a tied vote."""
    if not voters:
        return None
    a, tie, b = (
        round(fsum(weight * shares[place] for shares, weight in voters), DIGITS) for place in range(len(VERDICTS))
    )
    if rules.ties == "candidate" and tie > max(a, b):
        return "tie"
    if a == b or (rules.ties == "candidate" and tie == max(a, b)):
        return "tie" if rules.fallback == "tie" else c1
    return "a" if a > b else "b"
