"""The JSON form of a design, and the hash of what determines its answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from judgenet.core.documents import DocumentError, Fields, kind_of
from judgenet.core.network import (
    AGGREGATION_CHOICES,
    DEFAULTS,
    Aggregation,
    ChairSpec,
    Language,
    LayerSpec,
    LearnedKind,
    LearnedRule,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    NeuronWeight,
    OrderSetting,
    Role,
    RoleKind,
    RolesSpec,
    Settings,
    Wiring,
    WiringKind,
    chair_settings,
    needs_roles,
    neuron_settings,
    role_limit,
    role_settings,
)
from judgenet.core.pairs import VERDICTS

VERSION = 1
"""The version of the form, under ``network``."""

SETTINGS = ("endpoint", "model", "temperature", "max_tokens", "samples")
_NOTHING_SET = Settings()
_PLAIN = NetworkSpec(())

_ORIGIN = ("run", "data", "network", "labels", "seed", "made", "pairs", "decides")
_LEARNED = ("kind", "neurons", "widths", "prior", "penalty", *_ORIGIN)

# Writing


def to_json(spec: NetworkSpec) -> dict[str, Any]:
    """The design as JSON values, names sorted. What is inherited or not set is left out, all else is written.

    ``null`` stands for a setting without a value where the form has a default. Places in ``inputs`` count from 0.
    :func:`from_json` gives back an equal design.
    """
    record: dict[str, Any] = {
        "network": VERSION,
        "name": spec.name,
        "layers": [_layer_json(layer) for layer in spec.layers],
        "roles": {
            "kind": spec.roles.kind,
            "roles": [_role_json(role) for role in spec.roles.roles],
            "settings": _settings_json(spec.roles.settings, _PLAIN.roles.settings),
        },
        "orders": spec.orders,
        "seed": spec.seed,
        "settings": _settings_json(spec.settings, _PLAIN.settings),
        "aggregation": _aggregation_json(spec.aggregation),
        "language": spec.language,
        "family": spec.family,
        "evidence": spec.evidence,
    }
    if spec.roles.limit is not None:
        record["roles"]["limit"] = spec.roles.limit
    if spec.chair is not None:
        record["chair"] = {"settings": _settings_json(spec.chair.settings)}
    sorted_record: dict[str, Any] = _sorted(record)
    return sorted_record


def _aggregation_json(rules: Aggregation) -> dict[str, Any]:
    record: dict[str, Any] = {name: getattr(rules, name) for name in AGGREGATION_CHOICES}
    if rules.learned is not None:
        record["learned"] = learned_to_json(rules.learned)
    return record


def learned_to_json(rule: LearnedRule) -> dict[str, Any]:
    """A learned rule as JSON values. Layers and neurons count from 1; ``table`` and ``prior`` are there for Dawid and
    Skene's alone."""
    record: dict[str, Any] = {
        "kind": rule.kind,
        "neurons": [_weight_json(of) for of in rule.neurons],
        "widths": list(rule.widths),
        **{name: getattr(rule, name) for name in _ORIGIN},
    }
    if rule.prior:
        record["prior"] = list(rule.prior)
    if rule.penalty is not None:
        record["penalty"] = rule.penalty
    return record


def _weight_json(of: NeuronWeight) -> dict[str, Any]:
    record: dict[str, Any] = {"layer": of.layer, "neuron": of.neuron, "weight": float(of.weight)}
    if of.role is not None:
        record["role"] = of.role
    if of.table:
        record["table"] = [list(row) for row in of.table]
    return record


def _layer_json(layer: LayerSpec) -> dict[str, Any]:
    return {
        "adaptive": layer.adaptive,
        "neurons": [_neuron_json(neuron) for neuron in layer.neurons],
        "settings": _settings_json(layer.settings),
        "wiring": {"kind": layer.wiring.kind, "window": layer.wiring.window},
    }


def _neuron_json(neuron: NeuronSpec) -> dict[str, Any]:
    record: dict[str, Any] = {}
    if neuron.inputs is not None:
        record["inputs"] = list(neuron.inputs)
    if neuron.role is not None:
        record["role"] = _role_json(neuron.role)
    if neuron.settings != Settings():
        record["settings"] = _settings_json(neuron.settings)
    return record


def _role_json(role: Role) -> dict[str, Any]:
    return {"name": role.name, "description": role.description}


def _settings_json(settings: Settings, plain: Settings = _NOTHING_SET) -> dict[str, Any]:
    """The settings that differ from nothing; ``None`` is written where ``plain`` has a value."""
    record: dict[str, Any] = {name: getattr(settings, name) for name in SETTINGS}
    if isinstance(record["temperature"], int):
        record["temperature"] = float(record["temperature"])
    return {name: value for name, value in record.items() if value is not None or getattr(plain, name) is not None}


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(item) for name, item in sorted(value.items())}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


# Reading

_NETWORK = (
    "network",
    "name",
    "layers",
    "roles",
    "orders",
    "seed",
    "settings",
    "chair",
    "aggregation",
    "language",
    "family",
    "evidence",
)


def from_json(record: object, path: str = "", *, refuse_unknown: bool = True) -> NetworkSpec:
    """The inverse of :func:`to_json`; only ``layers`` must be there, the rest has its defaults.

    ``path`` is where the record stands in a larger document. Whether the design is sound is for
    :func:`~judgenet.core.checks.check` to say.

    :raises NetworkError: for a value of the wrong type or kind, a newer version of the form, and (with
        ``refuse_unknown``) a name that it does not have. The message begins with the path.
    """
    try:
        return _Reader(refuse_unknown).network(record, path)
    except DocumentError as error:
        raise NetworkError(str(error)) from None


def neurons_to_json(neurons: Iterable[NeuronSpec]) -> dict[str, Any]:
    """Neurons to be taken to another network. Their edges stay behind: they mean nothing there."""
    return {"judgenet_neurons": VERSION, "neurons": [_neuron_json(replace(one, inputs=None)) for one in neurons]}


def neurons_from_json(record: object) -> tuple[NeuronSpec, ...]:
    """The inverse of :func:`neurons_to_json`.

    :raises NetworkError: not neurons of a network.
    """
    try:
        given = Fields(record)
        if given.whole("judgenet_neurons") != VERSION:
            raise given.error("judgenet_neurons", f"is not {VERSION}: these are no neurons of a network")
        reader = _Reader(False)
        return tuple(reader.neuron(value, place) for value, place in _items(given, "neurons", required=True))
    except DocumentError as error:
        raise NetworkError(str(error)) from None


class _Reader:
    def __init__(self, refuse_unknown: bool) -> None:
        self._refuse_unknown = refuse_unknown

    def _fields(self, value: object, path: str, known: tuple[str, ...]) -> Fields:
        fields = Fields(value, path)
        if self._refuse_unknown:
            fields.refuse_unknown(known)
        return fields

    def _inner(self, owner: Fields, name: str, known: tuple[str, ...]) -> Fields:
        value = owner.members.get(name)
        return self._fields({} if value is None else value, owner.at(name), known)

    def network(self, record: object, path: str) -> NetworkSpec:
        # Read the version first: a newer form may have names that this one does not.
        version = Fields(record, path).whole("network", VERSION)
        if version != VERSION:
            raise DocumentError(
                f"{path}.network" if path else "network",
                f"the form has version {version}, and this program reads version {VERSION}",
            )
        given = self._fields(record, path, _NETWORK)
        plain = _PLAIN
        chair = given.members.get("chair")
        aggregation = self._inner(given, "aggregation", (*AGGREGATION_CHOICES, "learned"))
        learned = aggregation.members.get("learned")
        return NetworkSpec(
            layers=tuple(self._layer(value, place) for value, place in _items(given, "layers", required=True)),
            roles=self._roles(given),
            orders=given.choice("orders", OrderSetting, plain.orders),
            seed=given.whole("seed", plain.seed),
            settings=self._settings(given, plain.settings),
            chair=None if chair is None else ChairSpec(self._settings(self._inner(given, "chair", ("settings",)))),
            aggregation=Aggregation(
                **{
                    name: _choice(aggregation, name, choices, getattr(plain.aggregation, name))
                    for name, choices in AGGREGATION_CHOICES.items()
                },
                learned=None if learned is None else self._learned(learned, aggregation.at("learned")),
            ),
            language=given.choice("language", Language, plain.language),
            family=given.text("family", plain.family),
            evidence=_flag(given, "evidence", plain.evidence),
            name=given.text("name", plain.name),
        )

    def _learned(self, value: object, path: str) -> LearnedRule:
        given = self._fields(value, path, _LEARNED)
        kind: LearnedKind = given.choice("kind", LearnedKind)
        rule = LearnedRule(
            kind=kind,
            neurons=tuple(self._weight(value, place, kind) for value, place in _items(given, "neurons", required=True)),
            widths=tuple(_width(value, place) for value, place in _items(given, "widths", required=True)),
            prior=_shares(given, "prior") if kind == "dawid_skene" else (),
            run=given.text("run", ""),
            data=given.text("data", ""),
            network=given.text("network", ""),
            labels=given.whole("labels", 0),
            seed=given.whole("seed", 0),
            penalty=given.number("penalty"),
            made=given.text("made", ""),
            pairs=given.text("pairs", ""),
            decides=_flag(given, "decides", False),
        )
        if not rule.neurons:
            raise given.error("neurons", "is empty: a learned rule needs a neuron")
        if len({(of.layer, of.neuron) for of in rule.neurons}) < len(rule.neurons):
            raise given.error("neurons", "has a neuron twice")
        return rule

    def _weight(self, value: object, path: str, kind: LearnedKind) -> NeuronWeight:
        given = self._fields(value, path, ("layer", "neuron", "role", "weight", "table"))
        layer, neuron, weight = given.whole("layer"), given.whole("neuron"), given.number("weight")
        if layer is None or neuron is None or weight is None:
            missing = next(name for name in ("layer", "neuron", "weight") if given.members.get(name) is None)
            raise given.error(missing, "is missing")
        if min(layer, neuron) < 1:
            raise given.error("layer" if layer < 1 else "neuron", "must count from 1")
        if kind == "nonnegative" and weight < 0:
            raise given.error("weight", f"must be 0 or more for weights that are not negative, but is {weight}")
        table: tuple[tuple[float, ...], ...] = ()
        if kind == "dawid_skene":
            rows = _items(given, "table", required=True)
            table = tuple(_shares(Fields({"row": row}, at), "row") for row, at in rows)
            if len(table) != len(VERDICTS):
                raise given.error("table", "must have three rows: what a neuron says where A, B and the tie are true")
        return NeuronWeight(layer, neuron, given.optional_text("role"), float(weight), table)

    def _roles(self, owner: Fields) -> RolesSpec:
        given = self._inner(owner, "roles", ("kind", "limit", "roles", "settings"))
        plain = _PLAIN.roles
        return RolesSpec(
            kind=given.choice("kind", RoleKind, plain.kind),
            limit=given.whole("limit"),
            roles=tuple(self._role(value, place) for value, place in _items(given, "roles")),
            settings=self._settings(given, plain.settings),
        )

    def _role(self, value: object, path: str) -> Role:
        given = self._fields(value, path, ("name", "description"))
        return Role(given.text("name"), given.text("description", ""))

    def _layer(self, value: object, path: str) -> LayerSpec:
        given = self._fields(value, path, ("adaptive", "neurons", "settings", "wiring"))
        wiring = self._inner(given, "wiring", ("kind", "window"))
        plain = Wiring()
        return LayerSpec(
            neurons=tuple(self.neuron(value, place) for value, place in _items(given, "neurons", required=True)),
            adaptive=_flag(given, "adaptive", False),
            wiring=Wiring(wiring.choice("kind", WiringKind, plain.kind), wiring.whole("window", plain.window)),
            settings=self._settings(given),
        )

    def neuron(self, value: object, path: str) -> NeuronSpec:
        given = self._fields(value, path, ("inputs", "role", "settings"))
        role = given.members.get("role")
        inputs = None
        if given.members.get("inputs") is not None:
            inputs = tuple(_place(value, place) for value, place in _items(given, "inputs"))
        return NeuronSpec(
            role=None if role is None else self._role(role, given.at("role")),
            settings=self._settings(given),
            inputs=inputs,
        )

    def _settings(self, owner: Fields, plain: Settings = _NOTHING_SET) -> Settings:
        given = self._inner(owner, "settings", SETTINGS)
        temperature = given.members.get("temperature")
        read = Settings(
            endpoint=given.optional_text("endpoint"),
            model=given.optional_text("model"),
            temperature="default" if temperature == "default" else given.number("temperature"),
            max_tokens=given.whole("max_tokens"),
            samples=given.whole("samples"),
        )
        absent = {name: getattr(plain, name) for name in SETTINGS if name not in given.members}
        return replace(read, **absent)


def _items(owner: Fields, name: str, *, required: bool = False) -> list[tuple[object, str]]:
    """The items of a list, each with its path."""
    value = owner.members.get(name)
    if value is None and not required:
        return []
    if value is None:
        raise owner.error(name, "is missing")
    if not isinstance(value, list | tuple):
        raise owner.error(name, f"must be a list, but is {kind_of(value)}")
    return [(item, f"{owner.at(name)}[{place}]") for place, item in enumerate(value)]


def _place(value: object, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        shown = value if isinstance(value, int) else kind_of(value)
        raise DocumentError(
            path,
            f"must be the place of a neuron in the layer before, counted from 0, but is {shown}; "
            "edges lead from a layer to the next one only",
        )
    return value


def _width(value: object, path: str) -> int | None:
    return None if value is None else _place(value, path)


def _shares(owner: Fields, name: str) -> tuple[float, ...]:
    """Three shares that add up to 1."""
    values = [Fields({"share": value}, place).number("share") for value, place in _items(owner, name, required=True)]
    found = tuple(float(value) for value in values if value is not None)
    if len(found) != len(VERDICTS) or min(found) < 0 or abs(sum(found) - 1) > 1e-6:
        raise owner.error(name, "must be three shares that add up to 1, for A, B and the tie")
    return found


def _flag(owner: Fields, name: str, default: bool) -> bool:
    value = owner.members.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise owner.error(name, f"must be true or false, but is {kind_of(value)}")
    return value


def _choice(owner: Fields, name: str, choices: tuple[str, ...], default: str) -> Any:
    value = owner.text(name, default)
    if value not in choices:
        raise owner.error(name, f"must be one of {', '.join(choices)}, but is {value!r}")
    return value


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
            "settings": _settings_json(_filled(replace(role_settings(spec), samples=1))) if needs_roles(spec) else None,
            "roles": [] if roles.kind == "none" else [_role_json(role) for role in roles.roles],
        },
        "layers": [_asked(spec, layer) for layer in range(spec.depth)],
        "chair": None if spec.chair is None else _settings_json(_filled(chair_settings(spec))),
    }
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("ascii")).hexdigest()


def _asked(spec: NetworkSpec, layer: int) -> dict[str, Any]:
    of = spec.layers[layer]
    kind = of.wiring.kind if layer else None
    return {
        "adaptive": of.adaptive,
        "wiring": [kind, of.wiring.window] if kind == "window" else kind,
        "neurons": [
            {
                "role": None if neuron.role is None else _role_json(neuron.role),
                "settings": _settings_json(_filled(neuron_settings(spec, layer, place))),
                "inputs": sorted(set(neuron.inputs or ())) if kind == "explicit" else None,
            }
            for place, neuron in enumerate(of.neurons)
        ],
    }


def _filled(settings: Settings) -> Settings:
    return settings.over(DEFAULTS)
