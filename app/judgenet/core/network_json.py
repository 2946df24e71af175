"""The JSON form of a design, and the hash of what determines its answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from judgenet.core.documents import DocumentError, Fields
from judgenet.core.network import (
    DEFAULTS,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    Settings,
    chair_settings,
    needs_roles,
    neuron_settings,
    role_limit,
    role_settings,
)
from judgenet.core.values import Schema, read, schema_of, write

VERSION = 1
"""The version of the form, under ``network``."""

# Writing


def to_json(spec: NetworkSpec) -> dict[str, Any]:
    """The design as JSON values, names sorted. What is inherited or not set is left out, all else is written.

    ``null`` stands for a setting without a value where the form has a default. Places in ``inputs`` count from 0.
    :func:`from_json` gives back an equal design.
    """
    record: dict[str, Any] = _sorted({"network": VERSION, **write(spec)})
    return record


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(item) for name, item in sorted(value.items())}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


# Reading


def from_json(record: object, path: str = "", *, refuse_unknown: bool = True) -> NetworkSpec:
    """The inverse of :func:`to_json`; only ``layers`` must be there, the rest has its defaults.

    ``path`` is where the record stands in a larger document. Whether the design is sound is for
    :func:`~judgenet.core.checks.check` to say.

    :raises NetworkError: for a value of the wrong type or kind, a newer version of the form, and (with
        ``refuse_unknown``) a name that it does not have. The message begins with the path.
    """
    try:
        return read_network(record, path, refuse_unknown)
    except DocumentError as error:
        raise NetworkError(str(error)) from None


def read_network(record: object, path: str, refuse_unknown: bool) -> NetworkSpec:
    """As :func:`from_json`, for readers of larger documents.

    :raises DocumentError: as there.
    """
    # The version first: a newer form may have names that this one does not.
    given = Fields(record, path)
    version = given.whole("network", VERSION)
    if version != VERSION:
        raise given.error("network", f"the form has version {version}, and this program reads version {VERSION}")
    return read(NetworkSpec, record, path, refuse_unknown=refuse_unknown, also=("network",))


def network_schema(defined: dict[str, Schema]) -> Schema:
    """A reference to the JSON Schema of a network, entered in ``defined`` with its parts."""
    reference = schema_of(NetworkSpec, defined)
    defined[NetworkSpec.__name__]["properties"]["network"] = {"const": VERSION, "description": "Version of the form."}
    return reference


def neurons_to_json(neurons: Iterable[NeuronSpec]) -> dict[str, Any]:
    """Neurons to be taken to another network. Their edges stay behind: they mean nothing there."""
    return {"judgenet_neurons": VERSION, "neurons": [write(replace(neuron, inputs=None)) for neuron in neurons]}


def neurons_from_json(record: object) -> tuple[NeuronSpec, ...]:
    """The inverse of :func:`neurons_to_json`.

    :raises NetworkError: not neurons of a network.
    """
    try:
        taken = read(_Neurons, record, refuse_unknown=False)
        if taken.judgenet_neurons != VERSION:
            raise DocumentError("judgenet_neurons", f"is not {VERSION}: these are no neurons of a network")
    except DocumentError as error:
        raise NetworkError(str(error)) from None
    return taken.neurons


@dataclass(frozen=True, slots=True)
class _Neurons:
    judgenet_neurons: int
    neurons: tuple[NeuronSpec, ...]


# What determines the answers


def digest(spec: NetworkSpec) -> str:
    """SHA-256 (hex) of what determines which calls are made and what is asked.

    Two designs that make the same calls have the same hash, wherever their settings are written. The name and the
    rules of aggregation are left out: they cost no call.
    """
    roles = spec.roles
    asked: dict[str, Any] = {
        "orders": spec.orders,
        "seed": spec.seed,
        "language": spec.language,
        "family": spec.family,
        "evidence": spec.evidence,
        "roles": {
            "kind": roles.kind,
            "limit": role_limit(spec) if needs_roles(spec) else None,
            "settings": write(_filled(replace(role_settings(spec), samples=1))) if needs_roles(spec) else None,
            "roles": [] if roles.kind == "none" else [write(role) for role in roles.roles],
        },
        "layers": [_asked(spec, layer) for layer in range(spec.depth)],
        "chair": None if spec.chair is None else write(_filled(chair_settings(spec))),
    }
    # Only where there are such, so that designs without them keep their hash.
    if stops := _stop_rules(spec):
        asked["stop"] = stops
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("ascii")).hexdigest()


def _stop_rules(spec: NetworkSpec) -> dict[str, Any]:
    """The stop rules by place."""
    given = {f"before {layer}": layer_spec.gate for layer, layer_spec in enumerate(spec.layers, 1)}
    given |= {f"within {layer}": layer_spec.between for layer, layer_spec in enumerate(spec.layers, 1)}
    given["chair"] = None if spec.chair is None else spec.chair.gate
    return {place: write(rule) for place, rule in given.items() if rule is not None}


def _asked(spec: NetworkSpec, layer: int) -> dict[str, Any]:
    layer_spec = spec.layers[layer]
    kind = layer_spec.wiring.kind if layer else None
    return {
        "adaptive": layer_spec.adaptive,
        "wiring": [kind, layer_spec.wiring.window] if kind == "window" else kind,
        "neurons": [
            {
                "role": None if neuron.role is None else write(neuron.role),
                "settings": write(_filled(neuron_settings(spec, layer, place))),
                "inputs": sorted(set(neuron.inputs or ())) if kind == "explicit" else None,
            }
            for place, neuron in enumerate(layer_spec.neurons)
        ],
    }


def _filled(settings: Settings) -> Settings:
    given = settings.over(DEFAULTS)
    # What asks for nothing is the same as nothing.
    given = replace(given, reasoning=None) if given.reasoning == "default" else given
    given = replace(given, scores=None) if given.scores == "text" else given
    return replace(given, extra=None) if given.extra == "{}" else given
