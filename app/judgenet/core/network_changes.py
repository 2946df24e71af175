"""What makes two designs different, place by place, in words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from judgenet.core.cascade import stop_rule_words
from judgenet.core.network import LayerSpec, NetworkSpec, NeuronSpec, Role, RolesSpec, Settings, StopRule, Wiring
from judgenet.core.stand_ins import stand_in_words

_SETTINGS = ("endpoint", "model", "stand_in", "temperature", "max_tokens", "samples", "reasoning", "scores", "extra")
_WORDS = {"max_tokens": "tokens of an answer", "samples": "samples", "stand_in": "stand-in", "extra": "further fields"}
_MODELS = ("endpoint", "model", "stand-in")
_RULES = {"vote": "who has a vote", "ties": "tied voters", "fallback": "equal votes", "quorum": "quorum"}


class Change(NamedTuple):
    """One difference: what it is ("role of neuron 2 of layer 1"), and its value in the first design and the second."""

    what: str
    first: str
    second: str


def network_changes(first: NetworkSpec, second: NetworkSpec, *, models: bool = True) -> tuple[Change, ...]:
    """The differences of two designs, from the whole to the parts; layers and neurons count from 1.

    A name makes no difference, nor does an aggregation that was learned. ``models=False`` leaves out which models are
    asked.
    """
    changes = [*_whole(first, second), *_roles(first.roles, second.roles)]
    changes += _settings("", first.settings, second.settings, "not set")
    changes += _settings(" of role generation", first.roles.settings, second.roles.settings)
    for number, (mine, theirs) in enumerate(zip(first.layers, second.layers, strict=False), 1):
        changes += _layer(f"layer {number}", mine, theirs)
    if first.chair is not None and second.chair is not None:
        changes += _settings(" of the chair", first.chair.settings, second.chair.settings)
        changes.append(Change("stop rule before the chair", _stop(first.chair.gate), _stop(second.chair.gate)))
    if not models:
        changes = [change for change in changes if change.what.split(" of ")[0] not in _MODELS]
    return tuple(change for change in changes if change.first != change.second)


def changed_layers(before: NetworkSpec, after: NetworkSpec) -> frozenset[int]:
    """The layers of ``after``, from 1, whose neurons are asked or read otherwise than in ``before``: an edited layer
    and all after it, which read it; all layers where something that holds for all was edited, such as the model or the
    roles. How votes are counted, and the chair, are no part of a layer."""
    whole = {"number of layers", "chair", *_RULES.values()}
    changes = [
        *_whole(before, after),
        *_roles(before.roles, after.roles),
        *_settings("", before.settings, after.settings),
    ]
    changes += _settings(" of role generation", before.roles.settings, after.roles.settings)
    first = 1 if any(edit.first != edit.second for edit in changes if edit.what not in whole) else after.depth + 1
    for number, (mine, theirs) in enumerate(zip_longest(before.layers, after.layers), 1):
        if (
            mine is None
            or theirs is None
            or any(difference.first != difference.second for difference in _layer("", mine, theirs))
        ):
            first = min(first, number)
    return frozenset(range(first, after.depth + 1))


def _whole(first: NetworkSpec, second: NetworkSpec) -> Iterator[Change]:
    yield Change("number of layers", str(first.depth), str(second.depth))
    yield Change("chair", *("none" if spec.chair is None else "a chair" for spec in (first, second)))
    yield Change("orders", first.orders, second.orders)
    yield Change("evidence", *("asked for" if spec.evidence else "not asked for" for spec in (first, second)))
    yield Change("language", first.language, second.language)
    yield Change("task family", first.family, second.family)
    if "random" in (first.orders, second.orders):
        yield Change("seed of the orders", str(first.seed), str(second.seed))
    for name, words in _RULES.items():
        rules = (getattr(spec.aggregation, name) for spec in (first, second))
        yield Change(words, *("none" if rule is None else str(rule) for rule in rules))


def _roles(first: RolesSpec, second: RolesSpec) -> Iterator[Change]:
    yield Change("roles", first.kind, second.kind)
    yield Change(
        "most roles", *("as many as found" if roles.limit is None else f"{roles.limit:,}" for roles in (first, second))
    )
    what = "role of neuron" if "fixed" in (first.kind, second.kind) else "fallback role"
    for number, (mine, theirs) in enumerate(zip_longest(first.roles, second.roles), 1):
        yield from _role(f"{what} {number}", mine, theirs)


def _role(what: str, first: Role | None, second: Role | None) -> Iterator[Change]:
    names = ["none" if role is None else role.name for role in (first, second)]
    yield Change(what, names[0], names[1])
    if first is not None and second is not None and first.name == second.name:
        yield Change(
            f"description of the {what} ({first.name})", first.description or "none", second.description or "none"
        )


def _layer(where: str, first: LayerSpec, second: LayerSpec) -> Iterator[Change]:
    yield Change(
        f"width of {where}",
        *("as many as roles" if layer_spec.width is None else str(layer_spec.width) for layer_spec in (first, second)),
    )
    yield Change(f"wiring of {where}", _wiring(first.wiring), _wiring(second.wiring))
    yield Change(f"stop rule before {where}", _stop(first.gate), _stop(second.gate))
    yield Change(f"stop rule between the neurons of {where}", _stop(first.between), _stop(second.between))
    yield from _settings(f" of {where}", first.settings, second.settings)
    if first.adaptive == second.adaptive:
        for number, (mine, theirs) in enumerate(zip(first.neurons, second.neurons, strict=False), 1):
            yield from _neuron("all neurons" if first.adaptive else f"neuron {number}", where, mine, theirs)


def _wiring(wiring: Wiring) -> str:
    return f"window of {wiring.window}" if wiring.kind == "window" else wiring.kind


def _stop(rule: StopRule | None) -> str:
    return "none" if rule is None else stop_rule_words(rule)


def _neuron(who: str, where: str, first: NeuronSpec, second: NeuronSpec) -> Iterator[Change]:
    whole = f"{who} of {where}"
    yield from _role(f"role of {whole}", first.role, second.role)
    yield Change(f"inputs of {whole}", _inputs(first), _inputs(second))
    yield from _settings(f" of {whole}", first.settings, second.settings)


def _inputs(neuron: NeuronSpec) -> str:
    if neuron.inputs is None:
        return "as the layer"
    return ", ".join(str(place + 1) for place in sorted(neuron.inputs)) or "none"


def _settings(where: str, first: Settings, second: Settings, unset: str = "inherited") -> Iterator[Change]:
    for name in _SETTINGS:
        values = [getattr(settings, name) for settings in (first, second)]
        yield Change(f"{_WORDS.get(name, name)}{where}", *(_value(value, unset) for value in values))


def _value(value: object, unset: str) -> str:
    if value is None:
        return unset
    if isinstance(value, tuple):
        return stand_in_words(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
