"""Verdicts that are accepted without people: how sure the verdict of one pair is, and whether that is enough.

A verdict below the threshold is an abstention: the pair is for people. It is neither a tie nor a verdict that is
missing for want of calls. The same for all pairs at once is in :mod:`judgenet.stats.confidence`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum
from typing import Final

from judgenet.core.endpoint_extra import with_endpoint_extra
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import VerdictShares
from judgenet.core.learned import LEARNED, misfit
from judgenet.core.network import AcceptanceRule, Confidence, LearnedRule, NetworkSpec
from judgenet.core.network_json import digest
from judgenet.core.pairs import VERDICTS, Order, Verdict
from judgenet.core.probabilities import sureness
from judgenet.core.values import write
from judgenet.core.wording import plural

ACCEPTED: Final = "accepted"
"""The name of the accepted verdicts, beside those of :mod:`judgenet.core.aggregate`."""

FOR_PEOPLE: Final = "for people"
"""What is said of a pair whose verdict is not sure enough."""

CONFIDENCE_WORDS: dict[Confidence, str] = {
    "calls": "share of the valid calls that say the verdict",
    "orders": "that share, and 1 more where both orders say the verdict",
    "neurons": "share of the neurons that say the verdict",
    "samples": "share of a neuron's samples that say the same",
    "margin": "distance of the mean scores",
    "learned": "learned probability that the verdict is right",
    "entropy": "1 minus the entropy of the probabilities of A, tie and B, divided by that of equal ones",
}
"""What each confidence is, in words."""

_EQUAL = 1e-9


def accepts(rule: AcceptanceRule, confidence: float | None) -> bool:
    """Whether a verdict of this confidence is accepted."""
    return confidence is not None and confidence >= rule.threshold - _EQUAL


@dataclass(frozen=True, slots=True)
class PairCalls:
    """The valid calls of a pair by neuron (layer and number) and order: A minus B of each, the sign of each as a
    verdict, and each neuron's merged verdict."""

    differences: Mapping[tuple[int, int, Order], Sequence[float]]
    said: Mapping[tuple[int, int, Order], Sequence[Verdict]]
    neurons: Mapping[tuple[int, int], Verdict]
    shares: VerdictShares | None = None
    """The mean of the neurons' distributions over A, tie and B; ``None`` without token probabilities."""


def pair_confidence(
    kind: Confidence, verdict: Verdict | None, calls: PairCalls, learned: LearnedRule | None = None
) -> float | None:
    """How sure the verdict of a pair is; ``None`` without a verdict, or where that is not defined."""
    if verdict is None:
        return None
    match kind:
        case "margin":
            every = [value for values in calls.differences.values() for value in values]
            return abs(fsum(every)) / len(every) if every else None
        case "neurons":
            voting = list(calls.neurons.values())
            return voting.count(verdict) / len(voting) if voting else None
        case "samples":
            several = [said for said in calls.said.values() if len(said) > 1]
            same = [max(said.count(choice) for choice in VERDICTS) / len(said) for said in map(list, several)]
            return fsum(same) / len(same) if same else None
        case "entropy":
            return None if calls.shares is None else sureness(calls.shares)
        case "learned":
            return _learned_probability(learned, verdict, calls)
    all_said = [call_verdict for said in calls.said.values() for call_verdict in said]
    if not all_said:
        return None
    share = all_said.count(verdict) / len(all_said)
    return share + (_both_orders(calls, verdict) if kind == "orders" else 0)


def _both_orders(calls: PairCalls, verdict: Verdict) -> bool:
    for order in ("ab", "ba"):
        said = [
            call_verdict
            for (_, _, shown), all_said in calls.said.items()
            if shown == order
            for call_verdict in all_said
        ]
        lead = said.count("a") - said.count("b")
        if not said or verdict != ("a" if lead > 0 else "b" if lead < 0 else "tie"):
            return False
    return True


def _learned_probability(rule: LearnedRule | None, verdict: Verdict, calls: PairCalls) -> float | None:
    """The probability that the verdict is right; a tie has none: 0."""
    if rule is None:
        return None
    votes: dict[tuple[int, int], list[float]] = {}
    for (layer, neuron, _), said in calls.said.items():
        votes.setdefault((layer, neuron), []).extend(_SIGN[verdict_said] for verdict_said in said)
    known = [
        (neuron_weight.weight, votes[neuron_weight.layer, neuron_weight.neuron])
        for neuron_weight in rule.neurons
        if votes.get((neuron_weight.layer, neuron_weight.neuron))
    ]
    if not known:
        return None
    score = fsum(weight * fsum(values) / len(values) for weight, values in known)
    better_a = 1 / (1 + exp(-score)) if score > 0 else 1 - 1 / (1 + exp(score))
    return {"a": better_a, "b": 1 - better_a, "tie": 0.0}[verdict]


_SIGN: dict[Verdict, float] = {"a": 1.0, "b": -1.0, "tie": 0.0}


def acceptance_misfit(spec: NetworkSpec, names: Sequence[str]) -> str:
    """Why a network's acceptance rule cannot be used by it: its verdicts are not there (``names`` are the network's
    other aggregations), other rules of the vote or other learned weights make them, or its learned confidence comes
    from other neurons. Empty where it fits."""
    rules, rule = spec.aggregation, spec.aggregation.acceptance
    if rule is None:
        return ""
    if rule.aggregation not in names:
        return f"It accepts the verdicts {rule.aggregation}, and the network has {', '.join(names)}."
    if (rule.vote, rule.ties, rule.fallback, rule.quorum) != (rules.vote, rules.ties, rules.fallback, rules.quorum):
        return "It was chosen for other rules of the vote."
    if rule.aggregation == LEARNED and rule.weights != weights_hash(rules.learned):
        return "It was chosen for other learned weights."
    return misfit(spec, rule.learned) if rule.learned is not None else ""


def weights_hash(rule: LearnedRule | None) -> str:
    """The first digits of the SHA-256 (hex) of what a learned rule says of each neuron; empty without a rule."""
    if rule is None:
        return ""
    said = {name: value for name, value in write(rule).items() if name in ("kind", "neurons", "prior", "tie_odds")}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode("ascii")).hexdigest()[:16]


def asks_otherwise(spec: NetworkSpec, endpoints: Mapping[str, EndpointProfile] | None = None) -> bool:
    """Whether the acceptance rule comes from a network that made other calls: what it promises need not hold here.
    ``endpoints`` are those that a design would ask; what a run recorded has their further fields already."""
    rule = spec.aggregation.acceptance
    if rule is None or not rule.network:
        return False
    return rule.network != digest(with_endpoint_extra(spec, endpoints or {}))


def acceptance_words(rule: AcceptanceRule) -> str:
    """What a rule promises, in a sentence."""
    return (
        f"Verdicts of {rule.aggregation} with a confidence of at least {rule.threshold:.4g} are accepted "
        f"({CONFIDENCE_WORDS[rule.confidence]}): with a probability of {1 - rule.delta:.4g}, over the choice of the "
        f"{plural(rule.labels, 'label')} of {rule.run or 'a run'}, at most {100 * rule.alpha:.4g} % of them are wrong. "
        "The other pairs are for people."
    )
