"""A learned way to join the neurons of a network: what it says of a pair, and whether it still fits the network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, fsum, log

from judgenet.core.evaluation import TIE_TOLERANCE
from judgenet.core.network import LearnedRule, NetworkSpec, NeuronWeight, designed_role, designed_width
from judgenet.core.pairs import Pair, Verdict

LEARNED = "learned"
"""The name of its verdict, beside those of :mod:`judgenet.core.aggregate`."""

_NEVER = 1e-300
_DIGITS = 8


def fixed_role(spec: NetworkSpec, layer: int, neuron: int) -> str | None:
    """The role that a neuron (``layer`` and ``neuron`` from 1) has on every pair; ``None`` where it has none, or one
    that changes with the pair."""
    role = designed_role(spec, layer - 1, neuron - 1)
    return None if role is None else role.name


def designed_widths(spec: NetworkSpec) -> tuple[int | None, ...]:
    """The neurons of each layer by the design, ``None`` where only the roles of a pair tell."""
    return tuple(designed_width(spec, layer) for layer in range(spec.depth))


def misfit(spec: NetworkSpec, rule: LearnedRule) -> str:
    """Why a rule cannot be used by a network: its layers, neurons or roles are not those that it was learned from.
    Empty where it fits."""
    widths = designed_widths(spec)
    if widths != rule.widths:
        return f"It was learned from layers of {_widths(rule.widths)} neurons, and the network has {_widths(widths)}."
    for neuron_weight in rule.neurons:
        role = fixed_role(spec, neuron_weight.layer, neuron_weight.neuron)
        if role != neuron_weight.role:
            had, has = (f"the role {name!r}" if name else "no role of its own" for name in (neuron_weight.role, role))
            place = f"Neuron {neuron_weight.neuron} of layer {neuron_weight.layer}"
            return f"{place} had {had} when it was learned, and has {has}."
    return ""


def _widths(widths: tuple[int | None, ...]) -> str:
    return " + ".join("as many as roles" if width is None else str(width) for width in widths) or "no"


def fingerprint(pairs: Iterable[Pair]) -> str:
    """What :attr:`LearnedRule.pairs` keeps of the pairs that a rule is learned from."""
    return "".join(sorted(pair.content_hash[:_DIGITS] for pair in pairs))


def teachers(rule: LearnedRule | None) -> Callable[[Pair], bool]:
    """Returns a function that says whether a rule was learned from the label of a pair."""
    text = "" if rule is None or not rule.labels else rule.pairs
    known = {text[start : start + _DIGITS] for start in range(0, len(text), _DIGITS)}
    # Most networks have no such rule, and hashing many texts takes its time.
    return lambda pair: bool(known) and pair.content_hash[:_DIGITS] in known


@dataclass(frozen=True, slots=True)
class Taught:
    """The pairs of a run, by index, whose labels taught its learned aggregation.

    ``verdicts`` are the cross-fitted ones. Where not all of the labels that taught it are here, its fit cannot be done
    again without a pair: then these pairs have no verdict that could be compared with their labels, ``None``, and
    ``reason`` says so. Both are empty where nothing was taught by these pairs.
    """

    verdicts: Mapping[int, Verdict | None] = field(default_factory=dict)
    reason: str = ""

    def words(self, labelled: int) -> str:
        """The note beside figures of the learned aggregation; empty where it was learned elsewhere."""
        if not self.verdicts:
            return ""
        share = f"{len(self.verdicts):,} of the {labelled:,} labelled pairs taught the learned aggregation"
        if self.reason:
            return f"{share}: its figures leave them out, as {self.reason}"
        return f"{share}: on these its figures take the cross-fitted verdicts, for which no pair helps to judge itself"


NOTHING_TAUGHT = Taught()


def learned_verdict(rule: LearnedRule, votes: Mapping[tuple[int, int], float]) -> Verdict | None:
    """What a rule says of a pair, from the vote of each neuron that has a valid call: the mean over its valid calls of
    +1 (A), -1 (B) and 0 (tie), by layer and neuron from 1. ``None`` where no neuron votes.

    A logistic rule is the sign of the weighted sum of votes. The rules of Dawid and Skene and of an Ising model say the
    class that is likeliest given the neurons' merged verdicts.
    """
    there = [
        (neuron_weight, votes[neuron_weight.layer, neuron_weight.neuron])
        for neuron_weight in rule.neurons
        if (neuron_weight.layer, neuron_weight.neuron) in votes
    ]
    if not there:
        return None
    if rule.kind == "ising":
        return _by_ising(rule, there)
    if rule.kind != "dawid_skene":
        score = fsum(neuron_weight.weight * vote for neuron_weight, vote in there)
        return "tie" if abs(score) < TIE_TOLERANCE else "a" if score > 0 else "b"
    logs = [log(max(share, _NEVER)) for share in rule.prior]
    for neuron_weight, vote in there:
        said = _merged(vote)
        for truth, row in enumerate(neuron_weight.table):
            logs[truth] += log(max(row[said], _NEVER))
    most = max(logs)
    shares = [exp(value - most) for value in logs]
    a, b, tie = (share / sum(shares) for share in shares)
    if tie > max(a, b) or abs(a - b) <= TIE_TOLERANCE:
        return "tie"
    return "a" if a > b else "b"


def _merged(vote: float) -> int:
    """A neuron's verdict as its place in A, B, tie."""
    return 2 if abs(vote) <= TIE_TOLERANCE else 0 if vote > 0 else 1


def _by_ising(rule: LearnedRule, there: Sequence[tuple[NeuronWeight, float]]) -> Verdict:
    """The likeliest class: log P(A) = odds + side / 2, log P(B) = odds - side / 2 and log P(tie) = 0, but for what all
    three share."""
    merged = [(neuron_weight, (1.0, -1.0, 0.0)[_merged(vote)]) for neuron_weight, vote in there]
    side = fsum(neuron_weight.weight * sign for neuron_weight, sign in merged)
    if abs(side) < TIE_TOLERANCE:
        return "tie"
    if rule.tie_odds is not None:
        odds = rule.tie_odds + fsum(neuron_weight.tie_weight * abs(sign) for neuron_weight, sign in merged)
        if odds + abs(side) / 2 < 0:
            return "tie"
    return "a" if side > 0 else "b"
