"""The weights of a learned aggregation on the nodes of the canvas."""

from __future__ import annotations

from dataclasses import replace

from judgenet.core.network import LearnedKind, LearnedRule
from judgenet.core.wording import MINUS
from judgenet.ui.canvas.model import NetworkState

_KINDS: dict[LearnedKind, str] = {
    "nonnegative": "weights of 0 or more",
    "any_sign": "weights of any sign",
    "dawid_skene": "log odds by Dawid and Skene, without labels",
    "ising": "log odds by an Ising model",
}


def weight_text(weight: float) -> str:
    """A weight as a node shows it: "w 0.42"."""
    return f"w {weight:.2f}".replace("-", MINUS)


def with_weights(network: NetworkState, rule: LearnedRule | None) -> NetworkState:
    """The same with the weights of a learned aggregation on its neurons, and with none where there is none."""
    if rule is None:
        return network
    texts = {(of.layer - 1, of.neuron - 1): weight_text(of.weight) for of in rule.neurons}
    return replace(
        network,
        layers=tuple(
            replace(
                layer,
                neurons=tuple(
                    replace(neuron, weight=texts.get((number, place), "")) for place, neuron in enumerate(layer.neurons)
                ),
            )
            for number, layer in enumerate(network.layers)
        ),
    )


def weights_legend(rule: LearnedRule | None) -> str:
    """What the marks are, with n; empty where there are none."""
    if rule is None:
        return ""
    of = f"from {rule.labels:,} labels of {rule.run}" if rule.labels else f"from {rule.run}"
    return f"w: how far the learned aggregation trusts a neuron ({_KINDS[rule.kind]}), {of}"
