"""The weights of a learned aggregation on the nodes of the canvas."""

from __future__ import annotations

from dataclasses import replace

from judgenet.core.network import LearnedKind, LearnedRule
from judgenet.core.wording import minus
from judgenet.ui.canvas import texts
from judgenet.ui.canvas.model import NetworkState

_KINDS: dict[LearnedKind, str] = {
    "nonnegative": texts.WEIGHTS_OF_0_OR_MORE,
    "any_sign": texts.WEIGHTS_OF_ANY_SIGN,
    "dawid_skene": texts.LOG_ODDS_BY_DAWID_AND_SKENE,
    "ising": texts.LOG_ODDS_BY_AN_ISING_MODEL,
}


def weight_text(weight: float) -> str:
    """A weight as a node shows it: "w 0.42"."""
    return texts.weight(minus(f"{weight:.2f}"))


def with_weights(network: NetworkState, rule: LearnedRule | None) -> NetworkState:
    """The state with the weights of a learned aggregation on its neurons; without weights where there is none."""
    if rule is None:
        return network
    weights = {(weighted.layer - 1, weighted.neuron - 1): weight_text(weighted.weight) for weighted in rule.neurons}
    return replace(
        network,
        layers=tuple(
            replace(
                layer,
                neurons=tuple(
                    replace(neuron, weight=weights.get((number, place), ""))
                    for place, neuron in enumerate(layer.neurons)
                ),
            )
            for number, layer in enumerate(network.layers)
        ),
    )


def weights_legend(rule: LearnedRule | None) -> str:
    """The legend of the weights, with the number of labels; empty where there are none."""
    if rule is None:
        return ""
    source = texts.from_labels(f"{rule.labels:,}", rule.run) if rule.labels else texts.from_run(rule.run)
    return texts.weights_legend(_KINDS[rule.kind], source)
