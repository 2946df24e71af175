"""Editing a design: pure functions from one network to the next.

Layers and neurons are named by 0-based places, as in :mod:`judgenet.core.network`; messages count from 1. An edit of a
sound design gives a sound design, with two exceptions that :func:`~judgenet.core.checks.check` names: a neuron whose
last edge was removed, and a neuron beyond the number of fixed roles. Edges to a neuron that goes away are dropped; a
neuron that would then read nothing reads the place nearest its own, and a window is widened as far as that needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal, TypeVar

from judgenet.core.network import (
    ChairSpec,
    LayerSpec,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    Role,
    Settings,
    Wiring,
    WiringKind,
    designed_width,
)
from judgenet.core.network_graph import design_graph

T = TypeVar("T")

DesignPlace = Literal["network", "roles", "chair"] | tuple[int] | tuple[int, int]
"""Whose settings: the network's, role generation's, the chair's, a layer's ``(layer,)`` or a neuron's."""

# Layers


def set_depth(spec: NetworkSpec, depth: int) -> NetworkSpec:
    """The network with so many layers: the last ones are removed, or the last one is repeated."""
    if depth < 1:
        raise NetworkError(f"A network has one layer or more, not {depth}.")
    while spec.depth > depth:
        spec = remove_layer(spec, spec.depth - 1)
    while spec.depth < depth:
        spec = add_layer(spec)
    return spec


def add_layer(spec: NetworkSpec, at: int | None = None, layer: LayerSpec | None = None) -> NetworkSpec:
    """The network with one more layer before place ``at`` (``None``: at the end).

    Without ``layer`` it is a copy of the layer before it, or of the first where it becomes the first.
    """
    at = spec.depth if at is None else at
    if not 0 <= at <= spec.depth:
        raise NetworkError(f"A layer cannot be added at place {at + 1} of {spec.depth}.")
    if layer is None:
        if not spec.layers:
            raise NetworkError("The network has no layer that a new one could be a copy of.")
        layer = spec.layers[max(at - 1, 0)]
    return _refitted(replace(spec, layers=(*spec.layers[:at], layer, *spec.layers[at:])), at, at + 1)


def remove_layer(spec: NetworkSpec, layer: int) -> NetworkSpec:
    """The network without a layer. What read it reads the same places of the layer before."""
    _layer(spec, layer)
    if spec.depth == 1:
        raise NetworkError("The only layer cannot be removed.")
    return _refitted(replace(spec, layers=(*spec.layers[:layer], *spec.layers[layer + 1 :])), layer)


def set_width(spec: NetworkSpec, layer: int, width: int | None) -> NetworkSpec:
    """The network with so many neurons in a layer; ``None`` makes it as wide as there are roles.

    The last neurons are removed, or neurons that inherit all their settings are added. An adaptive layer's pattern
    becomes the pattern of all.
    """
    layer_spec = _layer(spec, layer)
    if width is None:
        if spec.roles.kind == "none":
            raise NetworkError("An adaptive layer needs roles: choose generated or fixed roles, or criteria, first.")
        pattern = replace(layer_spec.neurons[0], role=None, inputs=None)
        wiring = Wiring(window=layer_spec.wiring.window) if layer_spec.wiring.kind == "explicit" else layer_spec.wiring
        layer_spec = replace(layer_spec, neurons=(pattern,), adaptive=True, wiring=wiring)
    elif width < 1:
        raise NetworkError(f"A layer has one neuron or more, not {width}.")
    elif layer_spec.adaptive:
        layer_spec = replace(layer_spec, neurons=layer_spec.neurons * width, adaptive=False)
    else:
        more = tuple(
            NeuronSpec(inputs=_own_place(spec, layer, place)) for place in range(len(layer_spec.neurons), width)
        )
        layer_spec = replace(layer_spec, neurons=(*layer_spec.neurons, *more)[:width])
    return _with_layer(spec, layer, layer_spec)


def one_neuron_per_role(spec: NetworkSpec) -> NetworkSpec:
    """The network with each layer as wide as there are roles."""
    for layer in range(spec.depth):
        spec = set_width(spec, layer, None)
    return spec


def set_size(spec: NetworkSpec, width: int | None, depth: int) -> NetworkSpec:
    """The network with so many layers of so many neurons each; ``None`` makes them as wide as there are roles.

    Generated roles are no longer limited to fewer than there are neurons.
    """
    spec = set_depth(spec, depth)
    for layer in range(depth):
        spec = set_width(spec, layer, width)
    limit = spec.roles.limit
    if width is not None and limit is not None and limit < width:
        spec = replace(spec, roles=replace(spec.roles, limit=None))
    return spec


# Neurons


def add_neuron(spec: NetworkSpec, layer: int, neuron: NeuronSpec | None = None, at: int | None = None) -> NetworkSpec:
    """The network with one more neuron before place ``at`` of a layer (``None``: at the end)."""
    layer_spec = _fixed_layer(spec, layer)
    at = len(layer_spec.neurons) if at is None else at
    if not 0 <= at <= len(layer_spec.neurons):
        raise NetworkError(
            f"Layer {layer + 1} has {len(layer_spec.neurons)} neurons: none can be added at place {at + 1}."
        )
    neuron = neuron or NeuronSpec()
    if neuron.inputs is None:
        neuron = replace(neuron, inputs=_own_place(spec, layer, at))
    layer_spec = replace(layer_spec, neurons=(*layer_spec.neurons[:at], neuron, *layer_spec.neurons[at:]))
    return _with_layer(spec, layer, layer_spec, lambda place: (place + (place >= at),))


def remove_neuron(spec: NetworkSpec, layer: int, neuron: int) -> NetworkSpec:
    """The network without a neuron and its edges."""
    layer_spec = _fixed_layer(spec, layer)
    _neuron(spec, layer, neuron)
    if len(layer_spec.neurons) == 1:
        raise NetworkError(f"The only neuron of layer {layer + 1} cannot be removed: remove the layer.")
    layer_spec = replace(layer_spec, neurons=(*layer_spec.neurons[:neuron], *layer_spec.neurons[neuron + 1 :]))
    return _with_layer(spec, layer, layer_spec, lambda place: () if place == neuron else (place - (place > neuron),))


def move_neuron(spec: NetworkSpec, layer: int, neuron: int, to: int) -> NetworkSpec:
    """The network with a neuron at another place of its layer; its edges come along.

    Roles of the network belong to places, so that a neuron takes along only a role of its own.
    """
    layer_spec = _fixed_layer(spec, layer)
    moved = _neuron(spec, layer, neuron)
    _neuron(spec, layer, to)
    order = [place for place in range(len(layer_spec.neurons)) if place != neuron]
    order.insert(to, neuron)
    neurons = [*layer_spec.neurons[:neuron], *layer_spec.neurons[neuron + 1 :]]
    neurons.insert(to, moved)
    return _with_layer(spec, layer, replace(layer_spec, neurons=tuple(neurons)), lambda place: (order.index(place),))


def duplicate_neuron(spec: NetworkSpec, layer: int, neuron: int) -> NetworkSpec:
    """The network with a copy of a neuron behind it: the same role, settings and edges, in and out."""
    layer_spec = _fixed_layer(spec, layer)
    copy = _neuron(spec, layer, neuron)
    layer_spec = replace(
        layer_spec, neurons=(*layer_spec.neurons[: neuron + 1], copy, *layer_spec.neurons[neuron + 1 :])
    )

    def moved(place: int) -> tuple[int, ...]:
        return (place, place + 1) if place == neuron else (place + (place > neuron),)

    return _with_layer(spec, layer, layer_spec, moved)


def set_role(spec: NetworkSpec, layer: int, neuron: int, role: Role | None) -> NetworkSpec:
    """The network with a role of its own for a neuron; ``None`` gives it the network's role for its place."""
    _fixed_layer(spec, layer)
    if role is not None and not role.name.strip():
        raise NetworkError("A role has a name.")
    return _with_neuron(spec, layer, neuron, replace(_neuron(spec, layer, neuron), role=role))


# Edges


def set_wiring(spec: NetworkSpec, layer: int, kind: WiringKind, window: int = 1) -> NetworkSpec:
    """The network with another wiring of a layer. ``explicit`` starts with the edges that there are now."""
    layer_spec = _layer(spec, layer)
    if not layer:
        raise NetworkError("The first layer reads no other: its wiring cannot be set.")
    if window < 1:
        raise NetworkError(f"A window reaches 1 place or more, not {window}.")
    if kind == "explicit":
        return replace(spec, layers=_put(spec.layers, layer, _explicit(spec, layer)))
    neurons = tuple(replace(neuron, inputs=None) for neuron in layer_spec.neurons)
    layer_spec = replace(layer_spec, neurons=neurons, wiring=Wiring(kind, window))
    return _refitted(replace(spec, layers=_put(spec.layers, layer, layer_spec)), layer)


def connect(spec: NetworkSpec, source: tuple[int, int], target: tuple[int, int]) -> NetworkSpec:
    """The network with an edge from a neuron (layer, place) to one of the next layer.

    The layer of the target gets explicit wiring, its other edges as they were.
    """
    inputs, layer_spec = _edge(spec, source, target)
    return _with_inputs(spec, target, layer_spec, tuple(sorted({*inputs, source[1]})))


def disconnect(spec: NetworkSpec, source: tuple[int, int], target: tuple[int, int]) -> NetworkSpec:
    """The network without an edge; without effect where there is none."""
    inputs, layer_spec = _edge(spec, source, target)
    return _with_inputs(spec, target, layer_spec, tuple(place for place in inputs if place != source[1]))


def _edge(spec: NetworkSpec, source: tuple[int, int], target: tuple[int, int]) -> tuple[tuple[int, ...], LayerSpec]:
    before = _layer(spec, source[0])
    _layer(spec, target[0])
    if source[0] + 1 != target[0]:
        raise NetworkError(
            f"An edge leads from a layer to the next one, not from layer {source[0] + 1} to layer {target[0] + 1}."
        )
    if not before.adaptive:
        _neuron(spec, *source)
    elif source[1] < 0:
        raise NetworkError(f"Layer {source[0] + 1} has no neuron {source[1] + 1}.")
    layer_spec = _explicit(spec, target[0])
    _neuron(spec, *target)
    return layer_spec.neurons[target[1]].inputs or (), layer_spec


def _explicit(spec: NetworkSpec, layer: int) -> LayerSpec:
    """The layer with explicit wiring and the same edges."""
    layer_spec = _fixed_layer(spec, layer)
    if layer_spec.wiring.kind == "explicit":
        return layer_spec
    before = spec.layers[layer - 1]
    if before.adaptive:
        raise NetworkError(
            f"Layer {layer} is adaptive: give it its number of neurons before you draw edges to layer {layer + 1}."
        )
    wired = design_graph(spec)
    neurons = tuple(
        replace(neuron, inputs=wired.inputs(layer, place)) for place, neuron in enumerate(layer_spec.neurons)
    )
    return replace(layer_spec, neurons=neurons, wiring=replace(layer_spec.wiring, kind="explicit"))


def _with_inputs(
    spec: NetworkSpec, target: tuple[int, int], layer_spec: LayerSpec, inputs: tuple[int, ...]
) -> NetworkSpec:
    layer, place = target
    layer_spec = replace(
        layer_spec, neurons=_put(layer_spec.neurons, place, replace(layer_spec.neurons[place], inputs=inputs))
    )
    return replace(spec, layers=_put(spec.layers, layer, layer_spec))


# Settings


def settings_at(spec: NetworkSpec, place: DesignPlace) -> Settings:
    """The settings that are set at a place; what it inherits is ``None``."""
    if place == "network":
        return spec.settings
    if place == "roles":
        return spec.roles.settings
    if place == "chair":
        return _chair(spec).settings
    return _layer(spec, place[0]).settings if len(place) == 1 else _neuron(spec, *place).settings


def set_settings(spec: NetworkSpec, place: DesignPlace, settings: Settings) -> NetworkSpec:
    """The network with other settings at a place; ``None`` inherits."""
    if place == "network":
        return replace(spec, settings=settings)
    if place == "roles":
        return replace(spec, roles=replace(spec.roles, settings=settings))
    if place == "chair":
        return replace(spec, chair=replace(_chair(spec), settings=settings))
    if len(place) == 1:
        layer_spec = replace(_layer(spec, place[0]), settings=settings)
        return replace(spec, layers=_put(spec.layers, place[0], layer_spec))
    return _with_neuron(spec, *place, replace(_neuron(spec, *place), settings=settings))


def override(spec: NetworkSpec, place: DesignPlace, **changes: object) -> NetworkSpec:
    """The network with settings changed at a place so that they hold for all below it: a layer's for its neurons, the
    network's for layers and neurons. ``None`` inherits. Role generation and the chair keep their own."""
    spec = set_settings(spec, place, replace(settings_at(spec, place), **changes))  # type: ignore[arg-type]
    if place in ("roles", "chair") or len(place) == 2:
        return spec
    nothing: dict[str, None] = dict.fromkeys(changes)
    layers = []
    for number, layer_spec in enumerate(spec.layers):
        if place != "network" and place != (number,):
            layers.append(layer_spec)
            continue
        neurons = tuple(replace(neuron, settings=replace(neuron.settings, **nothing)) for neuron in layer_spec.neurons)
        settings = replace(layer_spec.settings, **nothing) if place == "network" else layer_spec.settings
        layers.append(replace(layer_spec, neurons=neurons, settings=settings))
    return replace(spec, layers=tuple(layers))


def remove_neurons(spec: NetworkSpec, places: Iterable[tuple[int, int]]) -> NetworkSpec:
    """The network without these neurons (layer, place); a layer that loses all goes, and the last layer keeps one."""
    by_layer: dict[int, set[int]] = {}
    for layer, neuron in places:
        by_layer.setdefault(layer, set()).add(neuron)
    for layer in sorted(by_layer, reverse=True):
        wanted = by_layer[layer]
        if len(wanted) >= len(_fixed_layer(spec, layer).neurons) and spec.depth > 1:
            spec = remove_layer(spec, layer)
            continue
        for neuron in sorted(wanted, reverse=True):
            if len(spec.layers[layer].neurons) > 1:
                spec = remove_neuron(spec, layer, neuron)
    return spec


# The parts


def _put(items: tuple[T, ...], place: int, item: T) -> tuple[T, ...]:
    return (*items[:place], item, *items[place + 1 :])


def _layer(spec: NetworkSpec, layer: int) -> LayerSpec:
    if not 0 <= layer < spec.depth:
        raise NetworkError(f"There is no layer {layer + 1}: the network has {spec.depth}.")
    return spec.layers[layer]


def _fixed_layer(spec: NetworkSpec, layer: int) -> LayerSpec:
    layer_spec = _layer(spec, layer)
    if layer_spec.adaptive:
        raise NetworkError(f"Layer {layer + 1} is as wide as there are roles: give it its number of neurons first.")
    return layer_spec


def _neuron(spec: NetworkSpec, layer: int, neuron: int) -> NeuronSpec:
    neurons = _layer(spec, layer).neurons
    if not 0 <= neuron < len(neurons):
        raise NetworkError(f"There is no neuron {neuron + 1} in layer {layer + 1}, which has {len(neurons)}.")
    return neurons[neuron]


def _chair(spec: NetworkSpec) -> ChairSpec:
    if spec.chair is None:
        raise NetworkError("The network has no chair.")
    return spec.chair


def _with_neuron(spec: NetworkSpec, layer: int, place: int, neuron: NeuronSpec) -> NetworkSpec:
    layer_spec = spec.layers[layer]
    return replace(
        spec, layers=_put(spec.layers, layer, replace(layer_spec, neurons=_put(layer_spec.neurons, place, neuron)))
    )


def _with_layer(
    spec: NetworkSpec, layer: int, layer_spec: LayerSpec, moved: Callable[[int], tuple[int, ...]] | None = None
) -> NetworkSpec:
    """The network with a layer replaced. ``moved`` says where its neurons went, so that edges follow them."""
    spec = replace(spec, layers=_put(spec.layers, layer, layer_spec))
    after = layer + 1
    if moved is not None and after < spec.depth and spec.layers[after].wiring.kind == "explicit":
        following = spec.layers[after]
        neurons = tuple(
            _rewired(neuron, moved, place, len(layer_spec.neurons)) for place, neuron in enumerate(following.neurons)
        )
        spec = replace(spec, layers=_put(spec.layers, after, replace(following, neurons=neurons)))
    return _refitted(spec, layer, after)


def _rewired(neuron: NeuronSpec, moved: Callable[[int], tuple[int, ...]], place: int, width_before: int) -> NeuronSpec:
    had = (place,) if neuron.inputs is None else neuron.inputs
    inputs = tuple(sorted({new for old in had for new in moved(old)}))
    if had and not inputs:
        inputs = (min(place, width_before - 1),)
    return replace(neuron, inputs=inputs)


def _refitted(spec: NetworkSpec, *layers: int) -> NetworkSpec:
    """The network with the edges into these layers made to fit the layers before them, where they exist."""
    for layer in layers:
        if layer < spec.depth:
            spec = replace(spec, layers=_put(spec.layers, layer, _fitted(spec, layer)))
    return spec


def _fitted(spec: NetworkSpec, layer: int) -> LayerSpec:
    layer_spec = spec.layers[layer]
    if layer == 0:
        neurons = tuple(replace(neuron, inputs=None) for neuron in layer_spec.neurons)
        wiring = Wiring(window=layer_spec.wiring.window) if layer_spec.wiring.kind == "explicit" else layer_spec.wiring
        return replace(layer_spec, neurons=neurons, wiring=wiring, gate=None)
    before, width = designed_width(spec, layer - 1), designed_width(spec, layer)
    if before is None:
        return layer_spec
    if layer_spec.wiring.kind == "explicit":
        kept = [
            _rewired(neuron, lambda old: (old,) if old < before else (), place, before)
            for place, neuron in enumerate(layer_spec.neurons)
        ]
        return replace(layer_spec, neurons=tuple(kept))
    if layer_spec.wiring.kind == "window" and width is not None:
        return replace(
            layer_spec, wiring=replace(layer_spec.wiring, window=max(layer_spec.wiring.window, width - before))
        )
    return layer_spec


def _own_place(spec: NetworkSpec, layer: int, place: int) -> tuple[int, ...] | None:
    """What a new neuron reads: its own place in the layer before, where edges are explicit."""
    if not layer or spec.layers[layer].wiring.kind != "explicit":
        return None
    before = designed_width(spec, layer - 1)
    return (place if before is None else min(place, before - 1),)
