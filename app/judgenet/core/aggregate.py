"""From the recorded evaluations of a pair to verdicts: averages, votes and the chair.

``c1`` is the average over all valid calls, ``c2_l1`` … ``c2_lL`` are the votes within a layer and ``c2_all`` is the
vote over all layers (WideDeep, arXiv 2308.01862; what the paper leaves open is a setting, see
:class:`~judgenet.core.network.Aggregation`). Of networks that are scored by token probabilities there are soft votes
too (:mod:`judgenet.core.soft_votes`). All are computed from what was recorded: another rule never costs a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, isfinite
from typing import Final, NamedTuple

from judgenet.core.acceptance import ACCEPTED, PairCalls, accepts, pair_confidence
from judgenet.core.evaluation import TIE_TOLERANCE, Evaluation, Unscored, VerdictShares
from judgenet.core.learned import LEARNED, learned_verdict
from judgenet.core.network import AcceptanceRule, Aggregation, NetworkSpec, asks_probabilities, designed_width
from judgenet.core.pairs import VERDICTS, Order, Verdict
from judgenet.core.soft_votes import WHOLE, SoftVerdicts, soft_names, soft_verdicts, voting_layer

NO_QUORUM: Final = "no quorum"
"""What is said of a verdict that is missing because too few neurons have a valid answer."""


class Opinion(NamedTuple):
    """One recorded call of a neuron or of the chair.

    ``layer`` is 1 to depth for neurons and depth + 1 for the chair; ``neuron`` and ``sample`` count from 1.
    Scores in ``result`` are those of responses A and B, whatever the order. ``weight`` is that of its neuron on this
    pair: of its criterion (:func:`judgenet.core.criteria.vote_weights`), else 1; equal for all calls of a neuron.
    """

    layer: int
    neuron: int
    order: Order
    sample: int
    result: Evaluation | Unscored
    weight: float = 1


class Votes(NamedTuple):
    """How many voters chose A, B and the tie: whole numbers, or sums of weights where neurons have some. Voters
    without a valid call do not vote."""

    a: float
    b: float
    tie: float


class NeuronVerdict(NamedTuple):
    """What a neuron says of the pair, its calls merged: ``None`` where none of them is valid."""

    layer: int
    neuron: int
    verdict: Verdict | None
    calls_used: int
    calls_total: int


@dataclass(frozen=True, slots=True)
class PairVerdicts:
    """All that a network's calls say of one pair.

    ``None`` stands for "no valid call in scope". ``c1_ab`` and ``c1_ba`` are the average over the calls of one
    order: where they differ, the verdict depends on the order. Means are over the valid calls that have scores
    (``calls_scored``). ``calls_used`` of ``calls_total`` neuron calls are valid; the chair's are counted apart.
    ``chair_left_out``: the pair was decided before the chair was asked. ``valid`` has, by layer, how many neurons have
    a valid call, and ``no_quorum`` the names of the aggregations that have no verdict because these are too few.
    ``soft`` are the soft votes, ``None`` in a network that is not scored by token probabilities.
    ``confidence`` is that of the verdict which the acceptance rule accepts or leaves to people (``for_people``).
    """

    c1: Verdict | None
    c1_ab: Verdict | None
    c1_ba: Verdict | None
    c2_layers: tuple[Verdict | None, ...]
    c2_all: Verdict | None
    chair: Verdict | None
    mean_a: float | None
    mean_b: float | None
    votes: Votes
    layer_votes: tuple[Votes, ...]
    neurons: tuple[NeuronVerdict, ...]
    calls_used: int
    calls_total: int
    calls_scored: int
    chair_used: int
    chair_total: int
    learned: Verdict | None = None
    has_learned: bool = False
    chair_left_out: bool = False
    accepted: Verdict | None = None
    has_acceptance: bool = False
    confidence: float | None = None
    for_people: bool = False
    valid: tuple[int, ...] = ()
    no_quorum: tuple[str, ...] = ()
    soft: SoftVerdicts | None = None

    def named(self) -> dict[str, Verdict | None]:
        """The verdict of each aggregation by name, in the order of :func:`aggregation_names`."""
        layers = {f"c2_l{place}": verdict for place, verdict in enumerate(self.c2_layers, 1)}
        named = {"c1": self.c1, **layers, "c2_all": self.c2_all, **({} if self.soft is None else self.soft.named())}
        if self.chair_total or self.chair_left_out:
            named["chair"] = self.chair
        if self.has_learned:
            named[LEARNED] = self.learned
        if self.has_acceptance:
            named[ACCEPTED] = self.accepted
        return named


def aggregation_names(spec: NetworkSpec) -> tuple[str, ...]:
    """The names of a network's aggregations: c1, c2_l1 … c2_lL, c2_all and, where there are such, soft_l1 …
    soft_entropy, chair, learned and accepted."""
    accepted = (ACCEPTED,) if spec.aggregation.acceptance is not None else ()
    return (*verdict_names(spec), *accepted)


def verdict_names(spec: NetworkSpec) -> tuple[str, ...]:
    """The names of a network's aggregations that give each pair with calls a verdict: all but the accepted ones."""
    layers = [f"c2_l{layer}" for layer in range(1, spec.depth + 1)]
    soft = soft_names(spec.depth) if asks_probabilities(spec) else ()
    chair = ("chair",) if spec.chair is not None else ()
    return ("c1", *layers, "c2_all", *soft, *chair, *((LEARNED,) if spec.aggregation.learned is not None else ()))


def deciding(spec: NetworkSpec) -> str:
    """The name of the aggregation that is a network's verdict: the accepted ones where a rule says which these are,
    else :func:`deciding_of_all`."""
    return deciding_of_all(spec) if spec.aggregation.acceptance is None else ACCEPTED


def deciding_of_all(spec: NetworkSpec) -> str:
    """The aggregation that is a network's verdict where no pair is left to people: the learned one where that is to
    decide, else its chair's where it has one, else the vote of all."""
    learned = spec.aggregation.learned
    if learned is not None and learned.decides:
        return LEARNED
    return "chair" if spec.chair is not None else "c2_all"


def most_voters(spec: NetworkSpec, name: str) -> int | None:
    """The most neurons that a network's aggregation can rest on, as its quorum counts them; ``None`` where the roles
    decide."""
    if name == LEARNED:
        return len(spec.aggregation.learned.neurons) if spec.aggregation.learned is not None else 0
    layers: Sequence[int] = range(spec.depth)
    if name == "chair":
        layers = range(max(0, spec.depth - 1), spec.depth)
    elif (layer := voting_layer(name)) is not None:
        layers = (layer - 1,)
    widths = [designed_width(spec, layer) for layer in layers]
    return None if None in widths else sum(width for width in widths if width is not None)


def aggregate(
    opinions: Iterable[Opinion],
    depth: int,
    rules: Aggregation | None = None,
    *,
    last_asked: int | None = None,
    chair_left_out: bool = False,
    soft: bool = False,
) -> PairVerdicts:
    """The verdicts of one pair, whatever the order of ``opinions``.

    ``last_asked`` is the last layer that was asked of a pair that was decided early: its vote stands for those of the
    layers after it, and with ``chair_left_out`` the vote of all for the chair's verdict (:mod:`judgenet.core.cascade`).

    ``soft`` asks for the soft votes, of networks that are scored by token probabilities.

    With a quorum there is a verdict only where so many neurons have a valid call: of the layer for its vote, of the
    last layer for the chair, which reads it, of those that a learned rule weighs for its verdict, and of all layers for
    the vote of all and the average. What is missing is no tie. The averages of one order do not ask for it.

    Neurons of criteria have weights (:attr:`Opinion.weight`): a vote, of a neuron or of a call, counts as much as its
    weight, and averages (c1, by order and over all, and the means of scores) are of scores times weight. A neuron
    without a valid call has no weight in any of them, and one of weight 0 counts nowhere: where no voter has a weight
    above 0 there is no verdict. Ties are those of the sums. A neuron's own verdict, the chair, learned rules and the
    confidence of an acceptance rule take no account of weights. With equal weights all is as without.

    Sums within 1e-9 are a tie. A call that gives a verdict without scores counts as a difference of one
    point, and has no part in the means: where such calls are mixed with scored ones, ``c1`` may therefore differ
    from what the means show.

    :raises ValueError: a call is there twice, lies outside the network, or has scores that are no numbers.
    """
    rules = rules or Aggregation()
    gathered = _gathered(opinions, depth)
    differences = gathered.in_order["ab"] + gathered.in_order["ba"]
    c1 = merged(differences)
    of_neurons = sorted((place, calls) for place, calls in gathered.neurons.items() if place[0] <= depth)
    of_chair = [calls for place, calls in gathered.neurons.items() if place[0] > depth]
    chair_verdicts = [difference for calls in of_chair for difference in calls.differences]
    verdicts = tuple(
        NeuronVerdict(*place, merged(calls.differences), len(calls.differences), calls.total)
        for place, calls in of_neurons
    )
    by_layer = _layer_votes(of_neurons, verdicts, depth, rules)
    pooled = Votes(*(sum(votes) for votes in zip(*by_layer, strict=True))) if depth else Votes(0, 0, 0)
    of_layers = [plurality(votes, rules, c1) for votes in by_layer]
    if last_asked is not None:
        of_layers[last_asked:] = [of_layers[last_asked - 1]] * (depth - last_asked)
    of_all = plurality(pooled, rules, c1)
    scored = fsum(weight for _, _, weight in gathered.scores)
    valid = tuple(sum(v.layer == layer and v.verdict is not None for v in verdicts) for layer in range(1, depth + 1))
    joined = PairVerdicts(
        c1=c1,
        c1_ab=merged(gathered.in_order["ab"]),
        c1_ba=merged(gathered.in_order["ba"]),
        c2_layers=tuple(of_layers),
        c2_all=of_all,
        chair=of_all if chair_left_out else merged(chair_verdicts),
        mean_a=fsum(a * weight for a, _, weight in gathered.scores) / scored if scored else None,
        mean_b=fsum(b * weight for _, b, weight in gathered.scores) / scored if scored else None,
        votes=pooled,
        layer_votes=by_layer,
        neurons=verdicts,
        calls_used=sum(verdict.calls_used for verdict in verdicts),
        calls_total=sum(verdict.calls_total for verdict in verdicts),
        calls_scored=len(gathered.scores),
        chair_used=len(chair_verdicts),
        chair_total=sum(calls.total for calls in of_chair),
        learned=None if rules.learned is None else learned_verdict(rules.learned, _shares(of_neurons)),
        has_learned=rules.learned is not None,
        chair_left_out=chair_left_out,
        valid=valid,
    )
    if soft:
        voters = {place: calls.shares for place, calls in of_neurons if calls.shares}
        weights = {place: calls.weight for place, calls in of_neurons}
        joined = replace(joined, soft=soft_verdicts(voters, depth, rules, c1, last_asked, weights))
    if rules.quorum is not None:
        joined = _with_quorum(joined, rules, last_asked)
    if rules.acceptance is not None:
        joined = _with_acceptance(joined, rules.acceptance, gathered.neurons, depth)
    return joined


def _with_quorum(verdicts: PairVerdicts, rules: Aggregation, last_asked: int | None) -> PairVerdicts:
    """The verdicts of a pair without those for which too few neurons have a valid call."""
    quorum = rules.quorum or 0
    of_all, last = sum(verdicts.valid), len(verdicts.valid) if last_asked is None else last_asked
    weighed = {
        (neuron_verdict.layer, neuron_verdict.neuron)
        for neuron_verdict in (rules.learned.neurons if rules.learned else ())
    }
    valid = {"c1": of_all, "c2_all": of_all}
    by_layer = {layer: verdicts.valid[min(layer, last) - 1] for layer in range(1, len(verdicts.valid) + 1)}
    valid |= {f"c2_l{layer}": count for layer, count in by_layer.items()}
    valid |= {name: by_layer.get(voting_layer(name) or 0, of_all) for name in soft_names(len(by_layer))}
    valid["chair"] = of_all if verdicts.chair_left_out else verdicts.valid[-1] if verdicts.valid else 0
    valid[LEARNED] = sum(
        (neuron_verdict.layer, neuron_verdict.neuron) in weighed and neuron_verdict.verdict is not None
        for neuron_verdict in verdicts.neurons
    )
    asked = verdicts.calls_total > 0
    short = tuple(name for name in verdicts.named() if asked and name in valid and valid[name] < quorum)
    return replace(
        verdicts,
        c1=None if "c1" in short else verdicts.c1,
        c2_layers=tuple(
            None if f"c2_l{layer}" in short else verdict for layer, verdict in enumerate(verdicts.c2_layers, 1)
        ),
        c2_all=None if "c2_all" in short else verdicts.c2_all,
        chair=None if "chair" in short else verdicts.chair,
        learned=None if LEARNED in short else verdicts.learned,
        soft=None if verdicts.soft is None else verdicts.soft.without(short),
        no_quorum=short,
    )


class _Calls:
    """A neuron's calls: how many there are, A minus B of the valid ones, the probabilities of their verdicts, and the
    neuron's weight."""

    __slots__ = ("differences", "in_order", "shares", "total", "weight")

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.differences: list[float] = []
        self.in_order: dict[Order, list[float]] = {"ab": [], "ba": []}
        self.shares: list[VerdictShares] = []
        self.total = 0


@dataclass(slots=True)
class _Gathered:
    """What the calls of a pair said: by neuron (the chair is one), and over the neurons of all layers: A minus B times
    weight by order, and the scores of A and B with their weight."""

    neurons: dict[tuple[int, int], _Calls]
    in_order: dict[Order, list[float]]
    scores: list[tuple[float, float, float]]


def _gathered(opinions: Iterable[Opinion], depth: int) -> _Gathered:
    neurons: dict[tuple[int, int], _Calls] = {}
    gathered = _Gathered(neurons, {"ab": [], "ba": []}, [])
    seen: set[tuple[int, int, Order, int]] = set()
    for layer, neuron, order, sample, result, weight in opinions:
        seen_before = len(seen)
        seen.add((layer, neuron, order, sample))
        if len(seen) == seen_before:
            raise ValueError(f"Layer {layer}, neuron {neuron}, order {order}, sample {sample} is there twice.")
        calls = neurons.get((layer, neuron))
        if calls is None:
            if not 1 <= layer <= depth + 1:
                raise ValueError(f"Layer {layer} is outside a network of depth {depth}.")
            calls = neurons[layer, neuron] = _Calls(weight)
        calls.total += 1
        if isinstance(result, Unscored):
            continue
        difference = result.difference
        calls.differences.append(difference)
        calls.in_order[order].append(difference)
        calls.shares.append(result.shares or WHOLE[_sign(difference)])
        if layer <= depth:
            if weight > 0:
                gathered.in_order[order].append(difference * weight)
            if result.score_a is not None and result.score_b is not None:
                gathered.scores.append((result.score_a, result.score_b, weight))
    return gathered


_OfNeurons = Sequence[tuple[tuple[int, int], _Calls]]


def _layer_votes(
    of_neurons: _OfNeurons, verdicts: Sequence[NeuronVerdict], depth: int, rules: Aggregation
) -> tuple[Votes, ...]:
    """The votes of each layer: one a neuron, or one a call, each as much as its weight."""
    by_layer: list[list[float]] = [[0, 0, 0] for _ in range(depth)]
    for ((layer, _), calls), neuron in zip(of_neurons, verdicts, strict=True):
        votes = by_layer[layer - 1]
        # Votes without weights stay whole numbers.
        vote = 1 if calls.weight == 1 else calls.weight
        if rules.vote == "call":
            for difference in calls.differences:
                votes[_PLACE[_sign(difference)]] += vote
        elif neuron.verdict is not None:
            votes[_PLACE[neuron.verdict]] += vote
    return tuple(Votes(*votes) for votes in by_layer)


def _shares(of_neurons: _OfNeurons) -> dict[tuple[int, int], float]:
    """The mean of +1 (A), -1 (B) and 0 (tie) over the valid calls of each neuron that has some."""
    return {
        place: sum(_SIGN[_sign(difference)] for difference in calls.differences) / len(calls.differences)
        for place, calls in of_neurons
        if calls.differences
    }


def _with_acceptance(
    pair_verdicts: PairVerdicts, rule: AcceptanceRule, calls: Mapping[tuple[int, int], _Calls], depth: int
) -> PairVerdicts:
    by_order = {
        (*place, order): values
        for place, neuron_calls in calls.items()
        for order, values in neuron_calls.in_order.items()
    }
    differences = {place: values for place, values in by_order.items() if place[0] <= depth and values}
    said = {place: [_sign(value) for value in values] for place, values in differences.items()}
    neurons = {
        (neuron_verdict.layer, neuron_verdict.neuron): neuron_verdict.verdict
        for neuron_verdict in pair_verdicts.neurons
        if neuron_verdict.verdict is not None
    }
    verdict = pair_verdicts.named().get(rule.aggregation)
    shares = None if pair_verdicts.soft is None else pair_verdicts.soft.shares
    sure = pair_confidence(rule.confidence, verdict, PairCalls(differences, said, neurons, shares), rule.learned)
    accepted = verdict if accepts(rule, sure) else None
    left = verdict is not None and accepted is None
    short = pair_verdicts.no_quorum
    if rule.aggregation in short:
        short = (*short, ACCEPTED)
    return replace(
        pair_verdicts, accepted=accepted, has_acceptance=True, confidence=sure, for_people=left, no_quorum=short
    )


def plurality(votes: Votes, rules: Aggregation, c1: Verdict | None) -> Verdict | None:
    """The verdict of a vote, ``None`` where nobody voted.

    With ``ties="abstain"`` the larger of A and B wins; with ``"candidate"`` the largest of the three. A shared top is a
    tied vote: it gives a tie, or ``c1`` with ``fallback="c1"``. It is never broken at random or by who comes first.
    """
    a, b, tie = votes
    if not a and not b and not tie:
        return None
    ahead = tie - max(a, b)
    if rules.ties == "candidate" and ahead > TIE_TOLERANCE:
        return "tie"
    top_is_tie = rules.ties == "candidate" and abs(ahead) <= TIE_TOLERANCE
    if abs(a - b) <= TIE_TOLERANCE or top_is_tie:
        return "tie" if rules.fallback == "tie" else c1
    return "a" if a > b else "b"


def decided(votes: Votes, outstanding: float, rules: Aggregation, c1: Verdict | None = None) -> Verdict | None:
    """The verdict of a vote that ``outstanding`` voters (their weights together, where they have some) can no longer
    change, ``None`` while they can.

    Each of them may choose anything or not vote at all. Without outstanding voters it is :func:`plurality`, which
    alone asks for ``c1``.
    """
    if not outstanding:
        return plurality(votes, rules, c1)
    a, b, tie = votes
    others = {"a": max(b, tie), "b": max(a, tie), "tie": max(a, b)}
    if rules.ties == "abstain":
        others = {"a": b, "b": a}
    return next(
        (
            verdict
            for verdict in VERDICTS
            if verdict in others and votes[_PLACE[verdict]] - others[verdict] > outstanding + TIE_TOLERANCE
        ),
        None,
    )


def leading(votes: Votes) -> Verdict | None:
    """The response with more votes, ``None`` where neither has."""
    return None if abs(votes.a - votes.b) <= TIE_TOLERANCE else "a" if votes.a > votes.b else "b"


_PLACE: dict[Verdict, int] = {"a": 0, "b": 1, "tie": 2}
_SIGN: dict[Verdict, int] = {"a": 1, "b": -1, "tie": 0}


def _sign(difference: float) -> Verdict:
    if abs(difference) <= TIE_TOLERANCE:
        return "tie"
    return "a" if difference > 0 else "b"


def merged(differences: Sequence[float]) -> Verdict | None:
    """The verdict of several calls: the sign of the sum of A minus B, ``None`` without a call.

    :raises ValueError: a difference is not finite.
    """
    if not differences:
        return None
    total = fsum(differences)
    if not isfinite(total):
        raise ValueError("A score is not a number.")
    return _sign(total)
