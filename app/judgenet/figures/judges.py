"""What makes two runs different judges, and what follows for their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judgenet.core.learned import LEARNED
from judgenet.core.network import Aggregation, NetworkSpec, Settings
from judgenet.core.network_changes import Change, network_changes
from judgenet.core.network_json import digest
from judgenet.core.wording import aggregation_title
from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo
from judgenet.store.usage import models_used

Differing = Mapping[str, tuple[str, str]]
"""By what differs (``network``, ``prompts``, ``model``, ``returned_model``, ``aggregation``), as the first and the
second have it."""


def what_differs(
    first: tuple[Store, RunInfo], second: tuple[Store, RunInfo], aggregations: tuple[str, str] | None = None
) -> dict[str, tuple[str, str]]:
    """What of two runs makes them different judges: network (layers, roles, orders, settings, rules of the vote),
    prompts, models asked and models that answered, each as the first and the second have it.

    Another name makes no other judge, and neither does an aggregation that was learned beside the others. With
    ``aggregations``, those whose verdicts are compared, it is named where they are not the same, or not learned alike.
    """
    specs = (network_of(first[1]), network_of(second[1]))
    described = []
    for (store, run), spec in zip((first, second), specs, strict=True):
        used = models_used(store, run)
        described.append(
            {
                "network": digest(_without_models(spec)) + str(_votes(spec)),
                "prompts": run.record.get("prompts") or "(not known)",
                "model": ", ".join(sorted({f"{use.endpoint}:{use.requested}" for use in used})),
                "returned_model": ", ".join(sorted({use.returned or "(not named)" for use in used})),
            }
        )
    first_run, second_run = described
    differing = {name: (first_run[name], second_run[name]) for name in first_run if first_run[name] != second_run[name]}
    # The same models, asked by other neurons.
    moved = "model" not in differing and digest(specs[0]) != digest(specs[1])
    if "network" in differing or moved:
        changes = network_changes(*specs, models=moved)
        words = [
            network_words(run) + _values([(change.what, change[1 + side]) for change in changes])
            for side, run in enumerate((first[1], second[1]))
        ]
        differing = {"network": (words[0], words[1])} | {k: v for k, v in differing.items() if k != "network"}
    if aggregations is not None:
        rules = [spec.aggregation.learned if LEARNED in aggregations else None for spec in specs]
        if aggregations[0] != aggregations[1] or rules[0] != rules[1]:
            ways = [_way(name, spec) for name, spec in zip(aggregations, specs, strict=True)]
            differing["aggregation"] = (ways[0], ways[1])
    return differing


def _way(name: str, spec: NetworkSpec) -> str:
    rule = spec.aggregation.learned
    if name != LEARNED or rule is None:
        return aggregation_title(name)
    return f"{aggregation_title(name)} ({rule.kind.replace('_', ' ')}, from {rule.run or 'an unknown run'})"


def _without_models(spec: NetworkSpec) -> NetworkSpec:
    def bare(settings: Settings) -> Settings:
        return replace(settings, endpoint=None, model=None)

    layers = tuple(
        replace(
            layer_spec,
            settings=bare(layer_spec.settings),
            neurons=tuple(replace(neuron, settings=bare(neuron.settings)) for neuron in layer_spec.neurons),
        )
        for layer_spec in spec.layers
    )
    chair = None if spec.chair is None else replace(spec.chair, settings=bare(spec.chair.settings))
    roles = replace(spec.roles, settings=bare(spec.roles.settings))
    return replace(spec, settings=bare(spec.settings), layers=layers, chair=chair, roles=roles)


def _votes(spec: NetworkSpec) -> Aggregation:
    return replace(spec.aggregation, learned=None)


_MOST_NAMED = 8
"""More differences than these are counted."""


def _values(values: Sequence[tuple[str, str]]) -> str:
    """What a network has where it differs from another: " (orders: both; role of neuron 2: Accuracy)"."""
    named = [f"{what}: {value}" for what, value in values[:_MOST_NAMED]]
    if len(values) > _MOST_NAMED:
        named.append(f"and {len(values) - _MOST_NAMED:,} more")
    return f" ({'; '.join(named)})" if named else ""


def changes_between(first: RunInfo, second: RunInfo, differing: Differing) -> tuple[Change, ...]:
    """Each difference of two runs' networks, place by place; models only where the same ones are asked by other
    neurons. ``differing`` is :func:`what_differs` of them."""
    if "network" not in differing:
        return ()
    return network_changes(network_of(first), network_of(second), models="model" not in differing)


def network_words(run: RunInfo) -> str:
    """A run's network in words: "Four by three, layers of 4 + 3"."""
    spec = network_of(run)
    widths = " + ".join("as roles" if layer.adaptive else str(len(layer.neurons)) for layer in spec.layers)
    return f"{spec.name}, layers of {widths}"


def judges_warning(differing: Differing) -> str:
    """What follows where the judges differ, in one sentence; empty where they are the same."""
    if not differing:
        return ""
    return (
        f"the judges differ ({', '.join(name.replace('_', ' ') for name in differing)}): their win rates are not "
        "comparable as they are, only corrected by human labels"
    )
