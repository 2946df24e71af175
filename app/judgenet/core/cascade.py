"""Cascades: asking a further judge only where it matters.

A :class:`~judgenet.core.network.StopRule` stands before a layer, before the chair, or between the neurons of a layer,
which are then asked one after another. Where it holds, the pair is **decided early**: nothing more is asked of it, in
this layer or a later one. This module states the rules for one pair; :mod:`judgenet.stats.cascade` has the same for all
pairs of a recorded run at once.

Rules look at calls that are all in, never at some of them, so that the order in which answers come back changes
nothing. A missing verdict (a neuron without a valid call in one of the orders in which it was asked) is never
agreement: it may still say anything.

- ``orders_agree``: in the layer that was asked last, the average over the calls in order AB and the average over those
  in order BA give the same verdict. Each neuron must have a valid call in both orders.
- ``neurons_agree``: all neurons of the layer that were asked so far, two at least, give the same verdict.
- ``margin``: in that layer the leader has ``at_least`` votes more than the next. Missing votes count against it.
- ``difference``: in that layer the mean of score A minus score B is ``at_least`` points away from 0; no verdict is
  missing.
- ``decided``: no voter of any layer that is missing or was not asked can change the vote of all neurons (c2_all).

Where neurons have the weights of criteria, votes are sums of weights, and so are missing votes; averages are of what is
said times weight, and neurons of weight 0 alone decide nothing.

The verdicts of a pair that was decided early: the average, the vote of all and a learned rule use the calls that were
made. The vote of a layer that was not asked is that of the last layer that was, and in place of a chair that was not
asked stands the vote of all: the verdict of the part that was asked.

Confidence-based cascades of judges: Jung et al., "Trust or Escalate" (arXiv 2407.18370); Chen et al., "FrugalGPT"
(arXiv 2305.05176).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Literal, NamedTuple, get_args

from judgenet.core.aggregate import Opinion, Votes, decided, merged
from judgenet.core.evaluation import TIE_TOLERANCE, Evaluation
from judgenet.core.network import (
    Aggregation,
    NetworkError,
    NetworkSpec,
    StopRule,
    StopWhen,
    chair_settings,
    designed_width,
    neuron_settings,
)
from judgenet.core.network_graph import network_graph
from judgenet.core.pairs import VERDICTS, Order, Verdict

NEVER = "never"
"""The text of no stop rule."""

AFTER_NEURONS = "neurons"
"""Where a rule stands that is asked between the neurons of each layer."""

_NO_WEIGHT = "the neurons that were asked have no weight"
_NEEDS_NUMBER: tuple[StopWhen, ...] = ("margin", "difference")


class Stage(NamedTuple):
    """Calls of a pair that are asked side by side: neurons of a layer, or the chair (layer ``depth + 1``).

    ``layer`` and ``neurons`` count from 1. ``rule`` is looked at before they are asked; ``None`` always asks.
    """

    layer: int
    neurons: tuple[int, ...]
    rule: StopRule | None


class Stop(NamedTuple):
    """Where a pair was decided early: after the neuron ``neuron`` of layer ``layer``, both from 1, its last one asked.
    ``whole`` is true where all of the layer was asked."""

    layer: int
    neuron: int
    whole: bool

    def words(self) -> str:
        """``decided early after layer 1``."""
        return f"decided early after {self.place()}"

    def place(self) -> str:
        """``layer 1``, or ``layer 1, neuron 2``."""
        return f"layer {self.layer}" if self.whole else f"layer {self.layer}, neuron {self.neuron}"


@dataclass(frozen=True, slots=True)
class StopDecision:
    """What a stop rule says of a pair: whether nothing more is asked of it, and why."""

    stops: bool
    reason: str


def has_stop_rules(spec: NetworkSpec) -> bool:
    """Whether some pairs may be decided early."""
    layers = any(layer_spec.gate is not None or layer_spec.between is not None for layer_spec in spec.layers)
    return layers or (spec.chair is not None and spec.chair.gate is not None)


def without_stop_rules(spec: NetworkSpec) -> NetworkSpec:
    """The network that asks everything of every pair."""
    if not has_stop_rules(spec):
        return spec
    layers = tuple(replace(layer_spec, gate=None, between=None) for layer_spec in spec.layers)
    return replace(spec, layers=layers, chair=None if spec.chair is None else replace(spec.chair, gate=None))


def stages(spec: NetworkSpec, roles: int | None = None) -> tuple[Stage, ...]:
    """The stages of a pair with ``roles`` roles (``None``: as designed), in the order in which they are asked."""
    pair_stages: list[Stage] = []
    for layer, places in enumerate(network_graph(spec, roles).layers):
        layer_spec = spec.layers[layer]
        neurons = tuple(place + 1 for place in places)
        if not neurons:
            continue
        if layer_spec.between is None:
            pair_stages.append(Stage(layer + 1, neurons, layer_spec.gate))
        else:
            rules = (layer_spec.gate, *(layer_spec.between for _ in neurons[1:]))
            pair_stages += [Stage(layer + 1, (neuron,), rule) for neuron, rule in zip(neurons, rules, strict=True)]
    if spec.chair is not None:
        pair_stages.append(Stage(spec.depth + 1, (1,), spec.chair.gate))
    return tuple(pair_stages)


def sure_stages(pair_stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """The stages that are asked of every pair: those before the first rule."""
    first = next(
        (place for place, stage in enumerate(pair_stages) if stage.rule is not None and place), len(pair_stages)
    )
    return tuple(pair_stages[:first])


def stop_at(pair_stages: Sequence[Stage], last: int) -> Stop | None:
    """Where a pair was decided early whose last stage is the one at ``last``; ``None`` where nothing was left out."""
    if last >= len(pair_stages) - 1:
        return None
    stage = pair_stages[last]
    return Stop(stage.layer, stage.neurons[-1], pair_stages[last + 1].layer != stage.layer)


def voters_of(spec: NetworkSpec, stage: Stage, weight: Callable[[int, int], float] = lambda layer, neuron: 1) -> float:
    """How many votes a stage has by the network's rule: one a neuron, or one a call. The chair has none. ``weight`` is
    that of a neuron, by layer and number from 1."""
    if stage.layer > spec.depth:
        return 0
    by_call = spec.aggregation.vote == "call"
    return sum(
        weight(stage.layer, neuron) * (calls_of(spec, stage._replace(neurons=(neuron,))) if by_call else 1)
        for neuron in stage.neurons
    )


def calls_of(spec: NetworkSpec, stage: Stage) -> int:
    """How many calls a stage has."""
    orders = 2 if spec.orders == "both" else 1
    if stage.layer > spec.depth:
        return orders * (chair_settings(spec).samples or 1)
    each = (neuron_settings(spec, stage.layer - 1, neuron - 1).samples or 1 for neuron in stage.neurons)
    return orders * sum(each)


class _Voter:
    """The calls of a neuron: A minus B of the valid ones, by order, how many are not valid, and its weight."""

    __slots__ = ("differences", "missing", "weight")

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.differences: dict[Order, list[float]] = {}
        self.missing = 0

    @property
    def complete(self) -> bool:
        """Each order in which it was asked has a valid call."""
        return all(self.differences.values())

    @property
    def verdict(self) -> Verdict | None:
        return merged([difference for some in self.differences.values() for difference in some])


def look(rule: StopRule, opinions: Iterable[Opinion], layer: int, unasked: float, rules: Aggregation) -> StopDecision:
    """Whether a pair is decided, by a rule and the calls so far, all of them in.

    ``layer`` is the last one that was asked, from 1; ``unasked`` are the voters (neurons or calls, by the rule of the
    vote; their weights together, where they have some) that were not asked yet. No rule holds while the neurons with a
    valid call are fewer than the quorum.
    """
    voters: dict[tuple[int, int], _Voter] = {}
    for opinion in opinions:
        voter = voters.setdefault((opinion.layer, opinion.neuron), _Voter(opinion.weight))
        valid = voter.differences.setdefault(opinion.order, [])
        if isinstance(opinion.result, Evaluation):
            valid.append(opinion.result.difference)
        else:
            voter.missing += 1
    answered = sum(voter.verdict is not None for voter in voters.values())
    if rules.quorum is not None and answered < rules.quorum:
        return StopDecision(False, f"{answered:,} of the {rules.quorum:,} neurons of the quorum have a valid answer")
    if rule.when == "decided":
        return _decided(list(voters.values()), unasked, rules)
    mine = [voter for (of_layer, _), voter in voters.items() if of_layer == layer]
    if rule.when == "margin":
        return _margin(mine, rule, rules)
    missing = sum(not voter.complete for voter in mine)
    if missing or not mine:
        return StopDecision(False, f"{_count(missing, 'verdict')} missing" if missing else "nothing was asked yet")
    if rule.when == "orders_agree":
        return _orders_agree(mine)
    if rule.when == "neurons_agree":
        return _neurons_agree(mine)
    return _difference(mine, rule)


def _decided(voters: Sequence[_Voter], unasked: float, rules: Aggregation) -> StopDecision:
    votes, missing = _votes(voters, rules)
    left = unasked + missing
    verdict = decided(votes, left, rules)
    counts = f"the vote is {votes.a:.3g} for A, {votes.b:.3g} for B, {votes.tie:.3g} for a tie"
    if verdict is None:
        return StopDecision(False, f"{counts}, and {_count(left, 'voter')} may still change it")
    return StopDecision(True, f"{counts}, which {_count(left, 'voter')} cannot change")


def _margin(voters: Sequence[_Voter], rule: StopRule, rules: Aggregation) -> StopDecision:
    votes, missing = _votes(voters, rules)
    lead = vote_lead(votes, rules) - missing
    text = f"a lead of {_count(max(lead, 0), 'vote')}"
    return StopDecision(
        lead >= (rule.at_least or 0) - TIE_TOLERANCE,
        text if lead > 0 or not missing else f"{text}, {_number(missing)} missing",
    )


def _orders_agree(voters: Sequence[_Voter]) -> StopDecision:
    counting = [voter for voter in voters if voter.weight > 0]
    if not counting:
        return StopDecision(False, _NO_WEIGHT)
    by_order = {
        order: [difference * voter.weight for voter in counting for difference in voter.differences.get(order, ())]
        for order in ("ab", "ba")
    }
    asked_in_both = all(len(voter.differences) == len(by_order) for voter in voters)
    if not asked_in_both:
        return StopDecision(False, "not every neuron was asked in both orders")
    first, second = (merged(differences) for differences in by_order.values())
    if first != second:
        return StopDecision(False, f"order AB says {_verdict_words(first)}, order BA says {_verdict_words(second)}")
    return StopDecision(True, f"both orders say {_verdict_words(first)}")


def _neurons_agree(voters: Sequence[_Voter]) -> StopDecision:
    if len(voters) < 2:
        return StopDecision(False, "one neuron alone was asked")
    said = [voter.verdict for voter in voters]
    if len(set(said)) > 1:
        counts = ", ".join(
            f"{said.count(verdict):,} for {_verdict_words(verdict)}" for verdict in VERDICTS if verdict in said
        )
        return StopDecision(False, f"the neurons differ: {counts}")
    return StopDecision(True, f"{len(said):,} neurons say {_verdict_words(said[0])}")


def _difference(voters: Sequence[_Voter], rule: StopRule) -> StopDecision:
    every = [
        (difference, voter.weight)
        for voter in voters
        if voter.weight > 0
        for some in voter.differences.values()
        for difference in some
    ]
    if not every:
        return StopDecision(False, _NO_WEIGHT)
    mean = fsum(difference * weight for difference, weight in every) / fsum(weight for _, weight in every)
    return StopDecision(
        abs(mean) >= (rule.at_least or 0) - TIE_TOLERANCE, f"the scores are {abs(mean):.2g} points apart on average"
    )


def _votes(voters: Sequence[_Voter], rules: Aggregation) -> tuple[Votes, float]:
    """The votes of those who surely voted, and how many votes are missing."""
    counts: dict[Verdict, float] = dict.fromkeys(VERDICTS, 0)
    missing: float = 0
    for voter in voters:
        if rules.vote == "call":
            missing += voter.missing * voter.weight
            said = [merged([difference]) for some in voter.differences.values() for difference in some]
        elif not voter.complete:
            missing += voter.weight
            continue
        else:
            said = [voter.verdict]
        for verdict in said:
            if verdict is not None:
                counts[verdict] += voter.weight
    return Votes(counts["a"], counts["b"], counts["tie"]), missing


def vote_lead(votes: Votes, rules: Aggregation) -> float:
    """By how many votes the leader is ahead of the next; the tie counts as one of the choices where it is a
    candidate."""
    if rules.ties == "abstain":
        return abs(votes.a - votes.b)
    _, second, first = sorted(votes)
    return first - second


def _verdict_words(verdict: Verdict | None) -> str:
    return "nothing" if verdict is None else "a tie" if verdict == "tie" else verdict.upper()


def _count(number: float, what: str) -> str:
    return f"{_number(number)} {what}{'' if number == 1 else 's'}"


def _number(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.3g}"


StopPlace = tuple[Literal["before", "within"], int]
"""Where a rule stands: before a layer (from 0; the number of layers means the chair), or between its neurons."""


def rule_at(spec: NetworkSpec, place: StopPlace) -> StopRule | None:
    """The stop rule at a place, if there is one."""
    side, layer = place
    if layer == spec.depth:
        return None if spec.chair is None else spec.chair.gate
    return spec.layers[layer].gate if side == "before" else spec.layers[layer].between


def put_rule(spec: NetworkSpec, place: StopPlace, rule: StopRule | None) -> NetworkSpec:
    """The network with another stop rule at a place, or none.

    :raises NetworkError: there is no such place.
    """
    side, layer = place
    if layer == spec.depth and side == "before" and spec.chair is not None:
        return replace(spec, chair=replace(spec.chair, gate=rule))
    if not 0 <= layer < spec.depth or (not layer and side == "before"):
        raise NetworkError(
            "A stop rule stands before a later layer, before the chair, or between the neurons of a layer."
        )
    layer_spec = spec.layers[layer]
    changed = replace(layer_spec, gate=rule) if side == "before" else replace(layer_spec, between=rule)
    return replace(spec, layers=(*spec.layers[:layer], changed, *spec.layers[layer + 1 :]))


def stop_places(spec: NetworkSpec) -> tuple[StopPlace, ...]:
    """The places of a network that have a stop rule, in the order in which they are passed."""
    every: list[StopPlace] = []
    for layer in range(spec.depth):
        every += [("before", layer), ("within", layer)]
    if spec.chair is not None:
        every.append(("before", spec.depth))
    return tuple(place for place in every if rule_at(spec, place) is not None)


def place_words(spec: NetworkSpec, place: StopPlace) -> str:
    """Where a rule stands, for people: ``before layer 2``, ``between the neurons of layer 1``, ``before the chair``."""
    side, layer = place
    if layer == spec.depth:
        return "before the chair"
    return f"before layer {layer + 1}" if side == "before" else f"between the neurons of layer {layer + 1}"


class Doubt(NamedTuple):
    """A stop rule that cannot work where it stands: the member's path in the design, whether the design cannot run with
    it, the layer from 0, what is wrong, and what helps."""

    path: str
    wrong: bool
    layer: int | None
    message: str
    mend: str


def doubts(spec: NetworkSpec) -> Iterator[Doubt]:
    """The stop rules of a design that cannot work where they stand."""
    for layer, layer_spec in enumerate(spec.layers):
        path = f"layers[{layer}]"
        if layer_spec.gate is not None:
            if not layer:
                message = "has a stop rule before it, but nothing is asked before the first layer."
                yield Doubt(f"{path}.gate", True, layer, message, "Move it to a later layer or remove it.")
            else:
                yield from _doubts_of(spec, layer_spec.gate, layer - 1, Doubt(f"{path}.gate", False, layer, "", ""))
        if layer_spec.between is not None:
            if not layer_spec.adaptive and len(layer_spec.neurons) == 1:
                message = "has a stop rule between its neurons, but only one neuron."
                yield Doubt(f"{path}.between", False, layer, message, "Add neurons or remove the rule.")
            else:
                yield from _doubts_of(spec, layer_spec.between, layer, Doubt(f"{path}.between", False, layer, "", ""))
    if spec.chair is not None and spec.chair.gate is not None and spec.layers:
        at = Doubt("chair.gate", False, None, "", "")
        if spec.chair.gate.when == "decided":
            message = "All votes are in before the chair: with this rule it is asked only where one is missing."
            yield at._replace(message=message, mend="Choose another rule if the chair is to be asked.")
        yield from _doubts_of(spec, spec.chair.gate, spec.depth - 1, at)


def _doubts_of(spec: NetworkSpec, rule: StopRule, looks_at: int, at: Doubt) -> Iterator[Doubt]:
    """Why a rule never holds that looks at a layer, from 0."""
    layer_spec = spec.layers[looks_at]
    where = f"The stop rule '{stop_rule_words(rule)}'"
    if rule.when == "orders_agree" and spec.orders != "both":
        message = f"{where} never holds: the network does not ask each neuron in both orders."
        yield at._replace(message=message, mend="Ask in both orders, or choose another rule.")
    if rule.when == "neurons_agree" and designed_width(spec, looks_at) == 1:
        message = f"{where} never holds: layer {looks_at + 1} has one neuron."
        yield at._replace(message=message, mend="Choose another rule, such as that both orders agree.")
    if rule.when == "margin" and not layer_spec.adaptive and rule.at_least is not None:
        votes = voters_of(spec, Stage(looks_at + 1, tuple(range(1, len(layer_spec.neurons) + 1)), None))
        if rule.at_least > votes:
            message = f"{where} never holds: layer {looks_at + 1} has {_count(votes, 'vote')}."
            yield at._replace(message=message, mend="Lower the number of votes.")


# Rules as texts

_RULE_TEXT = re.compile(r"([a-z_-]+)(?:\s*>=?\s*([0-9.]+))?", re.IGNORECASE)


def stop_rule_text(rule: StopRule | None) -> str:
    """A rule as it is written on the command line: ``orders-agree``, ``margin>=2``, ``never``."""
    return NEVER if rule is None else rule.text


def stop_rule_words(rule: StopRule) -> str:
    """A rule for people: when a pair is not asked further."""
    at_least = 0.0 if rule.at_least is None else rule.at_least
    votes = f"{at_least:g} vote{'' if at_least == 1 else 's'}"
    points = f"{at_least:g} point{'' if at_least == 1 else 's'}"
    return {
        "decided": "the vote can no longer change",
        "orders_agree": "both orders agree",
        "neurons_agree": "all neurons agree",
        "margin": f"the lead is {votes} or more",
        "difference": f"the scores are {points} or more apart",
    }[rule.when]


def read_stop_rule(text: str) -> StopRule | None:
    """The inverse of :func:`stop_rule_text`; ``None`` for ``never``.

    :raises NetworkError: the text is no rule; the message says which there are.
    """
    match = _RULE_TEXT.fullmatch(text.strip())
    name = "" if match is None else match[1].lower().replace("-", "_")
    if name == NEVER and match is not None and match[2] is None:
        return None
    try:
        number = None if match is None or match[2] is None else float(match[2])
    except ValueError:
        number = None
    if name not in get_args(StopWhen) or (number is not None) != (name in _NEEDS_NUMBER) or number == 0:
        raise NetworkError(
            f"{text!r} is no stop rule. There are decided, orders-agree, neurons-agree, margin>=VOTES, "
            "difference>=POINTS, and never."
        )
    return StopRule(name, number)  # type: ignore[arg-type]


def read_placed_rule(text: str) -> tuple[StopRule | None, str]:
    """A rule and where it stands: ``orders-agree``, ``margin>=2 after=1``, ``decided,after=neurons``. The place is
    empty where none is named.

    :raises NetworkError: the text is no rule, or names no place.
    """
    rule, _, place = (part.strip() for part in text.replace(",", " ").partition("after="))
    if place and place != AFTER_NEURONS and not (place.isdecimal() and int(place) >= 1):
        raise NetworkError(f"after={place}: name a layer, from 1, or after={AFTER_NEURONS}.")
    return read_stop_rule(rule), place


def with_rule(spec: NetworkSpec, text: str) -> NetworkSpec:
    """The network with one stop rule in place of those that it has; ``text`` as in :func:`read_placed_rule`.

    Without a place the rule stands before every layer but the first and before the chair; in a network of one layer
    and no chair it stands between the neurons. ``decided`` is not put before the chair, which has no part in the vote.

    :raises NetworkError: the text is no rule, or the network has no such place.
    """
    rule, place = read_placed_rule(text)
    spec = without_stop_rules(spec)
    if rule is None:
        return spec
    last = spec.depth if spec.chair is None else spec.depth + 1
    if place == AFTER_NEURONS or (not place and last == 1):
        return replace(spec, layers=tuple(replace(layer_spec, between=rule) for layer_spec in spec.layers))
    if place and int(place) >= last:
        raise NetworkError(
            f"after={place}: nothing is asked after layer {place} of this network. "
            f"Name a layer from 1 to {last - 1}, or after={AFTER_NEURONS}."
        )
    wanted = {int(place)} if place else set(range(1, last))
    layers = tuple(
        replace(layer_spec, gate=rule if layer in wanted else None) for layer, layer_spec in enumerate(spec.layers)
    )
    chair = spec.chair
    if chair is not None and spec.depth in wanted and (place or rule.when != "decided"):
        chair = replace(chair, gate=rule)
    return replace(spec, layers=layers, chair=chair)
