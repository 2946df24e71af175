"""The verdicts of all pairs of a run at once, from arrays of its calls.

The rules are those of :func:`judgenet.core.aggregate.aggregate` (WideDeep, arXiv 2308.01862; statistics 1.2), which
states them for one pair. Verdicts are codes as in :data:`judgenet.stats.curves.CODES`: 0 none, 1 A, 2 tie, 3 B.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.evaluation import TIE_TOLERANCE
from judgenet.core.learned import LEARNED
from judgenet.core.network import AcceptanceRule, Aggregation, LearnedRule
from judgenet.core.pairs import ORDERS, Order
from judgenet.core.soft_votes import voting_layer
from judgenet.stats.confidence import confidences
from judgenet.stats.curves import Codes, Floats
from judgenet.stats.soft_votes import SoftSums, mean_distribution, soft_codes, soft_sums, weighted_sums

IntArray = NDArray[np.int64]
Flags = NDArray[np.bool_]
Tallies = NDArray[np.unsignedinteger[Any]]

_CALLS_AT_ONCE = 4_000_000
"""Larger runs are worked on in blocks of pairs, so that memory does not grow with them."""
_NEVER = 1e-300
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class CallScores:
    """The calls of a run's neurons and of its chair.

    ``difference`` has the shape (pairs, neurons, orders, samples): A minus B of each valid call (+1, -1 or 0 for a
    verdict without scores), NaN for the others. ``asked`` has the same shape and is true where a call is in, valid or
    not. ``places`` has the layer and the number of each neuron, both from 1; the chair's layer is ``depth + 1``.
    ``last_asked`` has, by pair, the last layer that was asked of a pair that was decided early, and 0 for the others
    (:mod:`judgenet.core.cascade`); ``None`` where no pair was. ``weights`` are those of the neurons on each pair, of
    shape (pairs, neurons) (:attr:`judgenet.core.aggregate.Opinion.weight`); ``None`` where all are 1.
    """

    difference: Floats
    asked: Flags
    places: tuple[tuple[int, int], ...]
    depth: int
    last_asked: IntArray | None = None
    shares: Floats | None = None
    """Of a network that is scored by token probabilities: the shape of ``difference`` and 3 more, the probabilities of
    A, tie and B of each call that has them, NaN for the others."""
    weights: Floats | None = None

    def of_order(self, order: Order) -> CallScores:
        """The calls with the responses in one order; the others count as not asked."""
        return self._without(np.array([other_order != order for other_order in ORDERS]))

    def smaller(
        self, widths: Sequence[int | None], orders: Sequence[Order] = ORDERS, samples: int | None = None
    ) -> CallScores:
        """The calls that a smaller network would have made: of as many layers as there are ``widths``, each at most so
        wide (``None``: of any width), without the chair, in these orders, the first ``samples`` of each neuron."""
        wanted = [
            column
            for column, (layer, neuron) in enumerate(self.places)
            if layer <= min(len(widths), self.depth) and neuron <= (widths[layer - 1] or neuron)
        ]
        places = tuple(self.places[column] for column in wanted)
        part = np.s_[:, wanted, :, :samples]
        shares = None if self.shares is None else self.shares[part]
        weights = None if self.weights is None else self.weights[:, wanted]
        mine = CallScores(self.difference[part], self.asked[part], places, len(widths), shares=shares, weights=weights)
        return mine._without(np.array([order not in orders for order in ORDERS]))

    def _without(self, orders: Flags) -> CallScores:
        left_out = orders[:, None]
        difference = np.where(left_out, np.nan, self.difference)
        return replace(self, difference=difference, asked=self.asked & ~left_out)


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """The verdict of each aggregation, neuron and order on each pair.

    Attributes:
        aggregations: codes by pair, for each name of :func:`judgenet.core.aggregate.aggregation_names`.
        c1_ab, c1_ba: the average over the calls of one order, codes by pair.
        balanced: the average of the two orders' averages (FairEval's balanced position calibration), codes by pair.
        neurons, neurons_ab, neurons_ba: codes of shape (pairs, neurons): all calls of a neuron merged, and by order.
        calls: of shape (pairs, neurons, 2, 3): how many valid calls of each order said A, tie and B.
        cast: of shape (pairs, 3): the votes of all layers for A, for B and for a tie, by the rules of the vote; sums of
            weights where neurons have some.
        layers_ab, layers_ba: codes of shape (pairs, layers): the average over the calls of a layer in one order.
        soft: of shape (pairs, 3): the mean of the voters' distributions over A, tie and B; ``None`` where the network
            is not scored by token probabilities.
        no_quorum: by pair, for each aggregation, whether it has no verdict because too few neurons have a valid call;
            empty where the rules ask for no quorum.
        asked: of shape (pairs, neurons): how many calls of a neuron are in, valid or not.
        used, total: by pair, the valid calls of neurons and chair, and all that are in.
        margin: by pair, the absolute mean of A minus B over the valid calls without the chair's, all of one weight; NaN
            without one.
    """

    aggregations: dict[str, Codes]
    c1_ab: Codes
    c1_ba: Codes
    balanced: Codes
    neurons: Codes
    neurons_ab: Codes
    neurons_ba: Codes
    calls: Tallies
    cast: Tallies | Floats
    layers_ab: Codes
    layers_ba: Codes
    asked: Tallies
    used: Tallies
    total: Tallies
    margin: Floats
    no_quorum: dict[str, Flags]
    soft: Floats | None = None

    @property
    def votes(self) -> Floats:
        """Of shape (pairs, neurons): the mean over a neuron's valid calls of +1 (A), -1 (B) and 0 (tie); NaN without a
        valid call."""
        said = self.calls.sum(axis=2, dtype=np.int64)
        return _means(said[..., 0] - said[..., 2], said.sum(axis=2))


def verdict_table(scores: CallScores, names: tuple[str, ...], rules: Aggregation) -> VerdictTable:
    """The verdicts of all pairs under the given rules.

    ``names`` are the aggregations that are wanted.

    :raises ValueError: a score is not finite.
    """
    pairs, *shape = scores.difference.shape
    step = max(1, _CALLS_AT_ONCE // max(1, int(np.prod(shape))))
    blocks = [_block(scores, slice(at, at + step), names, rules) for at in range(0, max(1, pairs), step)]
    if len(blocks) == 1:
        return blocks[0]

    def joined(name: str) -> Any:
        parts = [getattr(block, name) for block in blocks]
        if isinstance(parts[0], dict):
            return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        if parts[0] is None:
            return None
        return np.concatenate(parts)

    return VerdictTable(**{name: joined(name) for name in VerdictTable.__slots__})


class _Summed(NamedTuple):
    """The calls of a block of pairs, summed by neuron.

    ``sums`` and ``counts`` have the shape (pairs, neurons, orders): A minus B over the valid calls, and how many there
    are; ``weighted`` and ``counting`` are the same times the neurons' weights. ``said``, of shape (pairs, neurons,
    orders, 3), counts the calls for A, a tie and B, ``asked`` (pairs, neurons) all calls. ``neurons`` are codes of
    shape (pairs, neurons), ``cast`` the votes for A, B and a tie, of shape (pairs, neurons, 3), and ``votes`` the means
    of
    :attr:`VerdictTable.votes`. ``soft_votes`` are ``soft`` times the weights. ``layers`` has the layer of each neuron,
    ``network`` is false for the chair, and ``last`` is the block's ``last_asked``.
    """

    sums: Floats
    counts: IntArray
    weighted: Floats
    counting: IntArray | Floats
    said: IntArray
    asked: IntArray
    neurons: Codes
    cast: IntArray | Floats
    votes: Floats
    soft: SoftSums | None
    soft_votes: SoftSums | None
    layers: IntArray
    network: Flags
    last: IntArray | None

    @property
    def by_order(self) -> tuple[Floats, IntArray | Floats]:
        """A minus B times weight over the calls of each order, and the sums of weights, of shape (pairs, orders)."""
        return self.weighted[:, self.network].sum(axis=1), self.counting[:, self.network].sum(axis=1)

    def layer_codes(self, order: int, depth: int) -> Codes:
        """The average over the calls of each layer in one order, of shape (pairs, layers)."""
        columns = [self.layers == layer for layer in range(1, depth + 1)]
        sums = np.stack([self.weighted[:, column, order].sum(axis=1) for column in columns], axis=1)
        counts = np.stack([self.counting[:, column, order].sum(axis=1) for column in columns], axis=1)
        return sign_codes(sums, counts > 0)


def _summed(scores: CallScores, part: slice, rules: Aggregation) -> _Summed:
    difference, asked = scores.difference[part], scores.asked[part]
    valid = ~np.isnan(difference)
    filled = np.where(valid, difference, 0.0)
    if not np.isfinite(filled).all():
        raise ValueError("A score is not a number.")
    for_a, for_b = filled > TIE_TOLERANCE, filled < -TIE_TOLERANCE
    for_tie = valid & ~for_a & ~for_b
    sums, counts = filled.sum(axis=3), valid.sum(axis=3)
    weights = None if scores.weights is None else scores.weights[part]
    there = counts.sum(axis=2)
    neurons = sign_codes(sums.sum(axis=2), there > 0)
    cast = np.stack([votes.sum(axis=(2, 3)) for votes in (for_a, for_b, for_tie)], axis=2)
    if rules.vote == "neuron":
        cast = np.stack([neurons == code for code in (1, 3, 2)], axis=2).astype(np.int64)
    said = np.stack([votes.sum(axis=3) for votes in (for_a, for_tie, for_b)], axis=3)
    layers = np.array([layer for layer, _ in scores.places], dtype=np.int64)
    soft = None
    if scores.shares is not None:
        soft = soft_sums(scores.shares[part], difference, sign_codes(filled, valid), rules)
    return _Summed(
        sums=sums,
        counts=counts,
        weighted=sums if weights is None else sums * weights[:, :, None],
        counting=counts if weights is None else counts * weights[:, :, None],
        said=said,
        asked=asked.sum(axis=(2, 3)),
        neurons=neurons,
        cast=cast if weights is None else cast * weights[:, :, None],
        votes=_means((said[..., 0] - said[..., 2]).sum(axis=2), there),
        soft=soft,
        soft_votes=soft if soft is None or weights is None else weighted_sums(soft, weights),
        layers=layers,
        network=layers <= scores.depth,
        last=None if scores.last_asked is None else scores.last_asked[part],
    )


def _aggregation(name: str, calls: _Summed, c1: Codes, scores: CallScores, rules: Aggregation) -> Codes:
    """The verdicts of one aggregation, the accepted ones apart; no quorum is asked for."""

    def vote_of(voters: Flags) -> Codes:
        a, b, tie = np.moveaxis(calls.cast[:, voters].sum(axis=1), 1, 0)
        return plurality_codes(a, b, tie, c1, rules)

    if name == "c1":
        return c1
    if name == "chair":
        chair = np.s_[:, ~calls.network]
        of_chair = sign_codes(calls.sums[chair].sum(axis=(1, 2)), calls.counts[chair].sum(axis=(1, 2)) > 0)
        return of_chair if calls.last is None else np.where(calls.last > 0, vote_of(calls.network), of_chair)
    if name == LEARNED:
        if rules.learned is None:
            raise ValueError("The rules hold no learned rule.")
        return learned_codes(rules.learned, calls.votes, scores.places)
    if name.startswith("soft_"):
        if calls.soft_votes is None:
            raise ValueError("The calls have no probabilities.")
        return soft_codes(name, calls.soft_votes, calls.layers, scores.depth, c1, rules, calls.last)
    layer = None if name == "c2_all" else int(name.removeprefix("c2_l"))
    codes = vote_of(calls.network if layer is None else calls.layers == layer)
    for earlier in range(1, layer or 1) if calls.last is not None else ():
        codes = np.where(calls.last == earlier, vote_of(calls.layers == earlier), codes)
    return codes


def _accepted(
    aggregations: Mapping[str, Codes], calls: _Summed, margin: Floats, scores: CallScores, rules: Aggregation
) -> Codes:
    """The accepted verdicts, from those of the other aggregations."""
    if rules.acceptance is None:
        raise ValueError("The rules hold no acceptance rule.")
    mine = np.s_[:, calls.network]
    places = [place for place, inside in zip(scores.places, calls.network.tolist(), strict=True) if inside]
    mean = None if calls.soft is None else mean_distribution(calls.soft, calls.network)
    return accepted_codes(
        rules.acceptance, aggregations, calls.said[mine], calls.neurons[mine], margin, calls.votes[mine], places, mean
    )


def _block(scores: CallScores, part: slice, names: tuple[str, ...], rules: Aggregation) -> VerdictTable:
    calls = _summed(scores, part, rules)
    network, there = calls.network, calls.counts.sum(axis=2)
    by_order, in_order = calls.by_order
    c1 = sign_codes(by_order.sum(axis=1), in_order.sum(axis=1) > 0)
    aggregations = {name: _aggregation(name, calls, c1, scores, rules) for name in names if name != ACCEPTED}
    no_quorum = _without_quorum(names, rules, there > 0, scores.asked[part], scores, calls.last)
    for name, short in no_quorum.items():
        aggregations[name] = np.where(short, 0, aggregations[name]).astype(np.uint8)
    margin = np.abs(_means(calls.sums[:, network].sum(axis=(1, 2)), calls.counts[:, network].sum(axis=(1, 2))))
    if ACCEPTED in names:
        aggregations[ACCEPTED] = _accepted(aggregations, calls, margin, scores, rules)
        if rules.acceptance is not None and rules.acceptance.aggregation in no_quorum:
            no_quorum[ACCEPTED] = no_quorum[rules.acceptance.aggregation]
    cast = calls.cast[:, network].sum(axis=1)
    return VerdictTable(
        aggregations=aggregations,
        c1_ab=sign_codes(by_order[:, 0], in_order[:, 0] > 0),
        c1_ba=sign_codes(by_order[:, 1], in_order[:, 1] > 0),
        balanced=_balanced(by_order, in_order),
        neurons=calls.neurons,
        neurons_ab=sign_codes(calls.sums[:, :, 0], calls.counts[:, :, 0] > 0),
        neurons_ba=sign_codes(calls.sums[:, :, 1], calls.counts[:, :, 1] > 0),
        calls=_narrow(calls.said),
        cast=_narrow(cast) if scores.weights is None else cast,
        layers_ab=calls.layer_codes(0, scores.depth),
        layers_ba=calls.layer_codes(1, scores.depth),
        asked=_narrow(calls.asked),
        used=_narrow(there.sum(axis=1)),
        total=_narrow(calls.asked.sum(axis=1)),
        margin=margin,
        no_quorum=no_quorum,
        soft=None if calls.soft is None else mean_distribution(calls.soft, network),
    )


def _without_quorum(
    names: Sequence[str], rules: Aggregation, valid: Flags, asked: Flags, scores: CallScores, last: IntArray | None
) -> dict[str, Flags]:
    """By aggregation, the pairs without a verdict for want of a quorum, as :func:`judgenet.core.aggregate.aggregate`.

    ``valid``, of shape (pairs, neurons), says which neurons have a valid call; ``last`` is ``scores.last_asked``.
    """
    if rules.quorum is None:
        return {}
    layers = np.array([layer for layer, _ in scores.places], dtype=np.int64)
    network = layers <= scores.depth
    weighed = {
        (neuron_weight.layer, neuron_weight.neuron)
        for neuron_weight in (rules.learned.neurons if rules.learned else ())
    }
    early = np.zeros(len(valid), np.int64) if last is None else last
    there = np.any(asked[:, network], axis=(1, 2, 3))
    missing: dict[str, Flags] = {}
    for name in names:
        if name == ACCEPTED:
            continue
        voters, was_asked = np.broadcast_to(network, valid.shape), there
        if name == LEARNED:
            voters = np.broadcast_to(np.array([place in weighed for place in scores.places], np.bool_), valid.shape)
        elif name == "chair":
            voters = np.where(early[:, None] > 0, network, layers == scores.depth)
            was_asked = there & ((early > 0) | np.any(asked[:, ~network], axis=(1, 2, 3)))
        elif (layer := voting_layer(name)) is not None:
            voters = layers == np.where(early > 0, np.minimum(early, layer), layer)[:, None]
        missing[name] = np.asarray(was_asked & ((valid & voters).sum(axis=1) < rules.quorum))
    return missing


def _narrow(counts: IntArray) -> Tallies:
    """Counts in the smallest type that holds them: a table is kept for each pair of a run."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def _means(lead: IntArray | Floats, there: IntArray) -> Floats:
    means: Floats = np.divide(lead, there, out=np.full(there.shape, np.nan), where=there > 0)
    return means


def sign_codes(lead: Floats | IntArray, there: Flags) -> Codes:
    """Codes of the sign of A minus B, equal within :data:`~judgenet.core.evaluation.TIE_TOLERANCE`; 0 where nothing is
    ``there``."""
    codes = np.where(lead > TIE_TOLERANCE, 1, np.where(lead < -TIE_TOLERANCE, 3, 2))
    return np.where(there, codes, 0).astype(np.uint8)


def plurality_codes(
    a: Floats | IntArray, b: Floats | IntArray, tie: Floats | IntArray, c1: Codes, rules: Aggregation
) -> Codes:
    """The verdicts of votes, by the rules of :func:`judgenet.core.aggregate.plurality`; ``a``, ``b``, ``tie`` and
    ``c1`` have the same shape."""
    voted: Flags = a + b + tie > 0
    codes = sign_codes(a - b, voted)
    ahead = tie - np.maximum(a, b)
    candidate = rules.ties == "candidate"
    tied = (codes == 2) | (candidate & (np.abs(ahead) <= TIE_TOLERANCE) & (tie > 0))
    codes = np.where(tied, c1 if rules.fallback == "c1" else np.uint8(2), codes)
    return np.where(candidate & (ahead > TIE_TOLERANCE), np.uint8(2), codes).astype(np.uint8)


def _balanced(sums: Floats, counts: IntArray | Floats) -> Codes:
    """The verdict of differences A minus B that are averaged within each order first; both arguments are of shape
    (pairs, 2). ``counts`` are sums of weights where calls have some."""
    there: Flags = counts > 0
    if counts.dtype.kind == "f":
        means = np.divide(sums, counts, out=np.zeros(sums.shape), where=there)
        return sign_codes(means.sum(axis=1), np.any(there, axis=1))
    # Compared as sums, so that a tie of means that are no binary fractions stays a tie.
    whole = np.where(there, counts, 1).prod(axis=1)
    total = (sums * (whole[:, None] // np.where(there, counts, 1))).sum(axis=1)
    either: Flags = np.any(there, axis=1)
    return sign_codes(total / whole, either)


def learned_codes(rule: LearnedRule, votes: Floats, places: Sequence[tuple[int, int]]) -> Codes:
    """What a learned rule says of each pair, as :func:`judgenet.core.learned.learned_verdict`.

    ``votes`` are of shape (pairs, neurons); ``places`` has the layer and number of each neuron, both from 1.
    """
    columns = {place: column for column, place in enumerate(places)}
    known = [
        (neuron_weight, columns[neuron_weight.layer, neuron_weight.neuron])
        for neuron_weight in rule.neurons
        if (neuron_weight.layer, neuron_weight.neuron) in columns
    ]
    if not known:
        return np.zeros(len(votes), np.uint8)
    mine = votes[:, [column for _, column in known]]
    voting = ~np.isnan(mine)
    there: Flags = np.any(voting, axis=1)
    if rule.kind == "ising":
        merged = np.where(voting & (np.abs(mine) > TIE_TOLERANCE), np.sign(np.where(voting, mine, 0.0)), 0.0)
        side = merged @ np.array([neuron_weight.weight for neuron_weight, _ in known])
        codes = sign_codes(side, there)
        if rule.tie_odds is None:
            return codes
        odds = rule.tie_odds + np.abs(merged) @ np.array([neuron_weight.tie_weight for neuron_weight, _ in known])
        return np.where(there & (odds + np.abs(side) / 2 < 0), np.uint8(2), codes).astype(np.uint8)
    if rule.kind != "dawid_skene":
        weights = np.array([neuron_weight.weight for neuron_weight, _ in known])
        return sign_codes(np.where(voting, mine, 0.0) @ weights, there)
    logs = np.tile(np.log(np.maximum(np.array(rule.prior), _NEVER)), (len(votes), 1))
    for place, (neuron_weight, _) in enumerate(known):
        vote = mine[:, place]
        said = np.where(np.abs(vote) <= TIE_TOLERANCE, 2, np.where(vote > 0, 0, 1))
        table = np.log(np.maximum(np.array(neuron_weight.table), _NEVER))
        logs += np.where(voting[:, place, None], table[:, said].T, 0.0)
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    a, b, tie = (shares / shares.sum(axis=1, keepdims=True)).T
    codes = sign_codes(a - b, there)
    return np.where(there & (tie > np.maximum(a, b)), np.uint8(2), codes).astype(np.uint8)


def learned_probability(rule: LearnedRule, votes: Floats, places: Sequence[tuple[int, int]]) -> Floats:
    """The probability that A is better by a logistic rule, by pair; NaN where none of its neurons votes. Arguments as
    for :func:`learned_codes`."""
    columns = {place: column for column, place in enumerate(places)}
    known = [
        (rule_neuron.weight, columns[rule_neuron.layer, rule_neuron.neuron])
        for rule_neuron in rule.neurons
        if (rule_neuron.layer, rule_neuron.neuron) in columns
    ]
    mine = votes[:, [column for _, column in known]]
    score = np.where(np.isnan(mine), 0.0, mine) @ np.array([weight for weight, _ in known])
    there: Flags = np.any(~np.isnan(mine), axis=1)
    return np.where(there, 1 / (1 + np.exp(-np.clip(score, -500, 500))), np.nan)


def accepted_codes(
    rule: AcceptanceRule,
    aggregations: Mapping[str, Codes],
    calls: Tallies | IntArray,
    neurons: Codes,
    margin: Floats,
    votes: Floats,
    places: Sequence[tuple[int, int]],
    soft: Floats | None = None,
) -> Codes:
    """The verdicts that a rule accepts; 0 for the pairs that are for people, and for those without a verdict.

    Without the verdicts that it is about nothing is accepted. ``calls``, ``neurons``, ``margin``, ``votes`` and
    ``soft`` are those of :class:`VerdictTable`, for the neurons at ``places``.
    """
    codes = aggregations.get(rule.aggregation, np.zeros(len(margin), np.uint8))
    probability = (
        np.full(len(margin), np.nan) if rule.learned is None else learned_probability(rule.learned, votes, places)
    )
    sure = confidences(rule.confidence, codes, calls, neurons, margin, probability, soft)
    return np.where(sure >= rule.threshold - _EQUAL, codes, 0).astype(np.uint8)
