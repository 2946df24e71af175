"""What is wrong with a design: where, what, and how to mend it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from judgenet.core.acceptance import acceptance_misfit, asks_otherwise
from judgenet.core.aggregate import deciding_of_all, most_voters, verdict_names
from judgenet.core.cascade import doubts
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.extra_fields import context_problem
from judgenet.core.learned import misfit
from judgenet.core.network import (
    AGGREGATION_CHOICES,
    RECORDED,
    Language,
    NetworkError,
    NetworkSpec,
    OrderSetting,
    RoleKind,
    ScoresSetting,
    Settings,
    WiringKind,
    chair_settings,
    designed_role,
    designed_width,
    needs_roles,
    neuron_settings,
    role_settings,
    roles_vary,
)
from judgenet.core.network_graph import MOST_ROLES, NetworkGraph, design_graph
from judgenet.core.probabilities import PROBABILITIES
from judgenet.core.reasoning import CHOICES, reasoning_problem
from judgenet.core.stand_ins import stand_in_text

Severity = Literal["error", "warning"]

_DECIDE_WIDTHS = ("roles.kind", "roles.limit", "roles.roles")

TINY_ANSWER = 64
"""An answer with evidence does not fit into fewer tokens."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a design. Only errors keep it from running.

    ``path`` is the place in the design's JSON form, ``layer`` and ``neuron`` the same place 0-based where there is
    one. ``message`` counts from 1, as people do.
    """

    severity: Severity
    path: str
    message: str
    mend: str
    layer: int | None = None
    neuron: int | None = None

    def __str__(self) -> str:
        where = ""
        if self.layer is not None:
            where = f"Layer {self.layer + 1}, "
            where = f"{where}neuron {self.neuron + 1}: " if self.neuron is not None else f"{where[:-2]}: "
        return f"{where}{self.message} {self.mend}"


def check(spec: NetworkSpec, endpoints: Mapping[str, EndpointProfile] | None = None) -> tuple[Problem, ...]:
    """All problems of a design, errors first, then by place.

    ``endpoints`` are the endpoints that there are, by name; without them only ``embedded`` is taken to need no model.
    """
    roles = [*_roles(spec)]
    form = [problem for layer in range(spec.depth) for problem in _layer(spec, layer)]
    problems = [*_choices(spec), *roles, *_settings(spec), *form]
    if not spec.layers:
        problems.append(Problem("error", "layers", "The network has no layer.", "Add one."))
    # Edges mean nothing where a layer has no form or nothing decides its width.
    undecided = any(problem.severity == "error" and problem.path in _DECIDE_WIDTHS for problem in roles)
    formless = {problem.layer for problem in form if problem.severity == "error"}
    wired = _checked_graph(spec)
    for layer in range(spec.depth):
        problems += _too_few_roles(spec, layer)
        if not undecided and layer not in formless and layer - 1 not in formless:
            problems += _edges(spec, wired, layer)
    if not undecided and not formless:
        problems += _unreached(spec, wired)
    problems += _calls(spec, endpoints)
    problems += _learned(spec)
    if not formless:
        problems += _stop_rules(spec)
    problems += _acceptance(spec, endpoints)
    problems += _quorum(spec)
    return tuple(sorted(problems, key=lambda problem: problem.severity == "warning"))


def require_valid(spec: NetworkSpec, endpoints: Mapping[str, EndpointProfile] | None = None) -> None:
    """Raises :class:`NetworkError` with all errors of a design, a line each; warnings pass."""
    errors = [str(problem) for problem in check(spec, endpoints) if problem.severity == "error"]
    if errors:
        raise NetworkError("\n".join(errors))


def _choices(spec: NetworkSpec) -> Iterator[Problem]:
    """Values that the types allow only some of; a design made without a type checker may hold others."""
    given: list[tuple[str, object, tuple[object, ...]]] = [
        ("orders", spec.orders, get_args(OrderSetting)),
        ("language", spec.language, get_args(Language)),
        ("roles.kind", spec.roles.kind, get_args(RoleKind)),
        *(
            (f"aggregation.{name}", getattr(spec.aggregation, name), choices)
            for name, choices in AGGREGATION_CHOICES.items()
        ),
        *(
            (f"layers[{i}].wiring.kind", layer_spec.wiring.kind, get_args(WiringKind))
            for i, layer_spec in enumerate(spec.layers)
        ),
    ]
    for path, value, choices in given:
        if value not in choices:
            allowed = ", ".join(map(str, choices))
            yield Problem("error", path, f"{path} is {value!r}.", f"Choose one of {allowed}.")


def _stop_rules(spec: NetworkSpec) -> Iterator[Problem]:
    for doubt in doubts(spec):
        yield Problem("error" if doubt.wrong else "warning", doubt.path, doubt.message, doubt.mend, doubt.layer)


def _learned(spec: NetworkSpec) -> Iterator[Problem]:
    rule = spec.aggregation.learned
    if rule is None:
        return
    why = misfit(spec, rule)
    if why:
        yield Problem(
            "error",
            "aggregation.learned",
            f"The learned aggregation does not fit this network any more. {why}",
            "Undo the change, remove the learned aggregation, or learn it again from a run of this network.",
        )


def _acceptance(spec: NetworkSpec, endpoints: Mapping[str, EndpointProfile] | None) -> Iterator[Problem]:
    why = acceptance_misfit(spec, verdict_names(spec))
    if why:
        yield Problem(
            "error",
            "aggregation.acceptance",
            f"The rule that accepts verdicts does not fit this network any more. {why}",
            "Undo the change, remove the rule, or choose it again from a run of this network (judgenet guarantee).",
        )
    elif asks_otherwise(spec, endpoints):
        yield Problem(
            "warning",
            "aggregation.acceptance",
            "The rule that accepts verdicts comes from a network that asked otherwise (models, prompts or settings): "
            "what it promises need not hold.",
            "Choose it again from a run of this network (judgenet guarantee), or remove it.",
        )


def _quorum(spec: NetworkSpec) -> Iterator[Problem]:
    quorum = spec.aggregation.quorum
    if quorum is None:
        return
    path = "aggregation.quorum"
    if quorum < 1:
        yield Problem("error", path, f"The quorum is {quorum}.", "Ask for 1 neuron or more, or for none.")
        return
    for name in verdict_names(spec):
        most = most_voters(spec, name)
        if most is None or most >= quorum:
            continue
        decides = name == deciding_of_all(spec)
        neurons = "1 neuron" if most == 1 else f"{most:,} neurons"
        yield Problem(
            "error" if decides else "warning",
            path,
            f"The quorum is {quorum:,} neurons, but {name} rests on {neurons}: it never has a verdict.",
            f"Ask for {most:,} or fewer, or widen the network.",
        )


def _roles(spec: NetworkSpec) -> Iterator[Problem]:
    roles = spec.roles
    if roles.limit is not None and roles.limit < 1:
        yield Problem("error", "roles.limit", f"At most {roles.limit} roles are asked for.", "Ask for one or more.")
    for place, role in enumerate(roles.roles):
        if not role.name.strip():
            yield Problem("error", f"roles.roles[{place}].name", f"Role {place + 1} has no name.", "Give it one.")
    names = [role.name for role in roles.roles]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Problem("warning", "roles.roles", f"The role {name!r} is there twice.", "Rename or remove one.")
    if spec.roles.kind == "none" and any(layer_spec.adaptive for layer_spec in spec.layers):
        yield Problem(
            "error",
            "roles.kind",
            "An adaptive layer is as wide as there are roles, but the network has none.",
            "Give the layer a number of neurons, or choose generated or fixed roles, or criteria.",
        )
    lacking = [neuron for layer_spec in spec.layers for neuron in layer_spec.neurons if neuron.role is None]
    if roles.kind == "fixed" and not roles.roles and lacking:
        yield Problem(
            "error", "roles.roles", "Roles are fixed, but there are none.", "Add roles, or choose generated or none."
        )


def _layer(spec: NetworkSpec, layer: int) -> Iterator[Problem]:
    layer_spec = spec.layers[layer]
    path = f"layers[{layer}]"

    def problem(severity: Severity, field: str, message: str, mend: str, neuron: int | None = None) -> Problem:
        place = path if neuron is None else f"{path}.neurons[{neuron}]"
        return Problem(severity, f"{place}.{field}", message, mend, layer, neuron)

    if not layer_spec.neurons:
        yield problem("error", "neurons", "is empty.", "Add a neuron or remove the layer.")
    if layer_spec.wiring.window < 1:
        yield problem(
            "error",
            "wiring.window",
            f"has a window of {layer_spec.wiring.window}.",
            "The window reaches 1 place or more.",
        )
    for place, neuron in enumerate(layer_spec.neurons):
        if neuron.role is not None and not neuron.role.name.strip():
            yield problem("error", "role.name", "has a role without a name.", "Name it, or remove the role.", place)
    if layer_spec.adaptive:
        if len(layer_spec.neurons) > 1:
            yield problem(
                "error",
                "neurons",
                f"is adaptive and holds {len(layer_spec.neurons)} neurons.",
                "Keep one, the pattern for all, or give the layer its number of neurons.",
            )
        if any(neuron.role is not None for neuron in layer_spec.neurons):
            yield problem(
                "error", "role", "is the pattern of an adaptive layer and has a role of its own.", "Remove it.", 0
            )
        if layer_spec.wiring.kind == "explicit" and layer:
            yield problem(
                "error",
                "wiring.kind",
                "is adaptive and has edges of its own.",
                "Choose full or window, or give the layer its number of neurons.",
            )


def _too_few_roles(spec: NetworkSpec, layer: int) -> Iterator[Problem]:
    neurons = spec.layers[layer].neurons
    path = f"layers[{layer}].neurons"
    if spec.layers[layer].adaptive:
        return
    if spec.roles.kind == "fixed" and spec.roles.roles:
        there = len(spec.roles.roles)
        for place, neuron in enumerate(neurons):
            if place >= there and neuron.role is None:
                yield Problem(
                    "error",
                    f"{path}[{place}].role",
                    f"has no role: the network has {there}.",
                    "Add a role, give the neuron its own, or make the layer narrower.",
                    layer,
                    place,
                )
    limit = spec.roles.limit
    if spec.roles.kind == "generated" and limit is not None:
        resting = [place + 1 for place, neuron in enumerate(neurons) if place >= limit and neuron.role is None]
        if resting:
            yield Problem(
                "warning",
                path,
                f"has {len(neurons)} neurons, but at most {limit} roles are asked for: "
                f"neurons {', '.join(map(str, resting))} never work.",
                "Ask for more roles, or make the layer narrower.",
                layer,
            )


def _edges(spec: NetworkSpec, wired: NetworkGraph, layer: int) -> Iterator[Problem]:
    layer_spec = spec.layers[layer]
    path = f"layers[{layer}]"
    explicit = layer_spec.wiring.kind == "explicit" and layer > 0
    for place, neuron in enumerate(layer_spec.neurons):
        if neuron.inputs is not None and not explicit:
            first = "reads other neurons, but the first layer has none before it."
            yield Problem(
                "error" if layer == 0 and neuron.inputs else "warning",
                f"{path}.neurons[{place}].inputs",
                first if layer == 0 else f"has inputs that its layer's {layer_spec.wiring.kind} wiring does not use.",
                "Remove its inputs." if layer == 0 else "Choose explicit wiring, or remove them.",
                layer,
                place,
            )
    if not layer:
        return
    if explicit:
        yield from _explicit(spec, wired, layer)
    if layer_spec.adaptive:
        yield from _adaptive_reach(spec, wired, layer)
        return
    yield from _reads_nothing(spec, wired, layer)
    if not spec.layers[layer - 1].adaptive:
        yield from _read_by_nobody(wired, layer - 1)


def _reads_nothing(spec: NetworkSpec, wired: NetworkGraph, layer: int) -> Iterator[Problem]:
    explicit = spec.layers[layer].wiring.kind == "explicit"
    before = designed_width(spec, layer - 1)
    has = "" if before is None else f", which has {before}"
    for place in wired.layers[layer]:
        if wired.inputs(layer, place) or wired.dangling(layer, place):
            continue
        if explicit and spec.layers[layer].neurons[place].inputs:
            continue  # It reads neurons of an adaptive layer that few pairs have roles for.
        yield Problem(
            "error",
            f"layers[{layer}].neurons[{place}]" + (".inputs" if explicit else ""),
            f"reads nothing of layer {layer}{has}.",
            "Connect it." if explicit else "Widen the window, or choose full wiring.",
            layer,
            place,
        )


def _read_by_nobody(wired: NetworkGraph, layer: int) -> Iterator[Problem]:
    for place in wired.unread(layer):
        yield Problem(
            "warning",
            f"layers[{layer}].neurons[{place}]",
            f"is read by no neuron of layer {layer + 2}; it still counts in c1 and c2.",
            "Connect it, if that is not meant.",
            layer,
            place,
        )


def _adaptive_reach(spec: NetworkSpec, wired: NetworkGraph, layer: int) -> Iterator[Problem]:
    before = designed_width(spec, layer - 1)
    if before is None:
        return
    unread = [place for place in wired.layers[layer] if not wired.inputs(layer, place)]
    if unread:
        yield Problem(
            "warning" if designed_width(spec, layer) is None else "error",
            f"layers[{layer}].wiring.window",
            f"neurons from place {unread[0] + 1} on read nothing of layer {layer}, which has {before}.",
            "Widen the window, or choose full wiring.",
            layer,
        )


def _explicit(spec: NetworkSpec, wired: NetworkGraph, layer: int) -> Iterator[Problem]:
    before = designed_width(spec, layer - 1)
    there = f"which has {before}" if before is not None else "where places count from 1"
    for place in wired.layers[layer]:
        dangling = wired.dangling(layer, place)
        problems = {
            read: (f"reads neuron {read + 1} of layer {layer} twice.", "Remove one of the two.")
            for read in wired.doubled(layer, place)
        }
        for read in dangling:
            message = f"reads neuron {read + 1} of layer {layer}, {there}."
            problems[read] = (message, "An edge leads from a neuron of the layer before.")
        for _, (message, mend) in sorted(problems.items()):
            yield Problem("error", f"layers[{layer}].neurons[{place}].inputs", message, mend, layer, place)


def _unreached(spec: NetworkSpec, wired: NetworkGraph) -> Iterator[Problem]:
    """Neurons that read others, to none of which anything leads from the pair."""
    for layer, place in wired.unreached():
        if layer and not spec.layers[layer].adaptive and wired.inputs(layer, place):
            yield Problem(
                "warning",
                f"layers[{layer}].neurons[{place}].reached",
                f"reads only neurons of layer {layer} that read nothing themselves.",
                "Connect those.",
                layer,
                place,
            )


def _checked_graph(spec: NetworkSpec) -> NetworkGraph:
    """The graph in which a layer as wide as the model names roles reaches beyond every edge into and out of it."""
    fixed = max((len(layer_spec.neurons) for layer_spec in spec.layers if not layer_spec.adaptive), default=0)
    window = max(
        (layer_spec.wiring.window for layer_spec in spec.layers if layer_spec.wiring.kind == "window"), default=0
    )
    wires = [read for layer_spec in spec.layers for neuron in layer_spec.neurons for read in neuron.inputs or ()]
    return design_graph(spec, max(1, min(MOST_ROLES, max(fixed + window, *wires, 0) + 1)))


def _settings(spec: NetworkSpec) -> Iterator[Problem]:
    """Values that no call can have, where they are set."""
    yield from _values(spec.settings, "settings", None, None)
    yield from _values(spec.roles.settings, "roles.settings", None, None)
    if spec.chair is not None:
        yield from _values(spec.chair.settings, "chair.settings", None, None)
    for layer, layer_spec in enumerate(spec.layers):
        yield from _values(layer_spec.settings, f"layers[{layer}].settings", layer, None)
        for place, neuron in enumerate(layer_spec.neurons):
            yield from _values(neuron.settings, f"layers[{layer}].neurons[{place}].settings", layer, place)


def _values(settings: Settings, path: str, layer: int | None, neuron: int | None) -> Iterator[Problem]:
    temperature: object = settings.temperature
    number = isinstance(temperature, int | float) and math.isfinite(temperature) and 0 <= temperature <= 2
    if temperature is not None and temperature != "default" and not number:
        message = f"The temperature is {temperature!r}."
        mend = "Give a number from 0 to 2, or 'default'."
        yield Problem("error", f"{path}.temperature", message, mend, layer, neuron)
    if settings.scores not in (None, *get_args(ScoresSetting)):
        choices = " or ".join(get_args(ScoresSetting))
        yield Problem(
            "error", f"{path}.scores", f"The scores are {settings.scores!r}.", f"Give {choices}.", layer, neuron
        )
    if settings.reasoning is not None and reasoning_problem(settings.reasoning):
        message = f"The reasoning is {settings.reasoning!r}."
        yield Problem("error", f"{path}.reasoning", message, f"Give one of {CHOICES}.", layer, neuron)
    if settings.max_tokens is not None and settings.max_tokens < 1:
        message = f"The limit of an answer is {settings.max_tokens} tokens."
        yield Problem("error", f"{path}.max_tokens", message, "Allow 1 or more.", layer, neuron)
    if settings.samples is not None and settings.samples < 1:
        message = f"The number of samples is {settings.samples}."
        yield Problem("error", f"{path}.samples", message, "Ask 1 or more times.", layer, neuron)


@dataclass(frozen=True, slots=True)
class _Finding:
    severity: Severity
    field: str
    message: str
    mend: str


def _calls(spec: NetworkSpec, endpoints: Mapping[str, EndpointProfile] | None) -> Iterator[Problem]:
    """What is wrong with the settings in force. Each problem is reported once, for the network, a layer or a neuron,
    and not for each call."""
    neurons = {
        (layer, place): _in_force(neuron_settings(spec, layer, place), endpoints, spec.evidence)
        for layer, layer_spec in enumerate(spec.layers)
        for place in range(len(layer_spec.neurons))
    }
    everywhere = _shared(neurons.values())
    for finding in everywhere:
        yield _at(finding, "settings")
    for layer, layer_spec in enumerate(spec.layers):
        in_layer = _shared(neurons[layer, place] for place in range(len(layer_spec.neurons)))
        for finding in in_layer:
            if finding not in everywhere:
                yield _at(finding, f"layers[{layer}].settings", layer)
        for place in range(len(layer_spec.neurons)):
            for finding in neurons[layer, place]:
                if finding not in in_layer:
                    yield _at(finding, f"layers[{layer}].neurons[{place}].settings", layer, place)
    if needs_roles(spec):
        # One call per pair, whatever the number of samples, and no scores.
        in_force = replace(role_settings(spec), samples=1, scores=None)
        for finding in _in_force(in_force, endpoints, True):
            if finding not in everywhere:
                yield _at(finding, "roles.settings")
    if spec.chair is not None:
        for finding in _in_force(chair_settings(spec), endpoints, spec.evidence):
            if finding not in everywhere:
                yield _at(finding, "chair.settings")
    if not spec.evidence and (spec.depth > 1 or spec.chair is not None):
        yield Problem(
            "warning",
            "evidence",
            "Neurons give scores without evidence, so deeper neurons have only scores to read.",
            "Ask for evidence.",
        )


def _shared(findings: Iterable[tuple[_Finding, ...]]) -> list[_Finding]:
    """The findings that all have, in the order of the first."""
    first, *others = [*findings] or [()]
    return [finding for finding in first if all(finding in finding_list for finding_list in others)]


def _at(finding: _Finding, path: str, layer: int | None = None, neuron: int | None = None) -> Problem:
    return Problem(finding.severity, f"{path}.{finding.field}", finding.message, finding.mend, layer, neuron)


def _in_force(
    settings: Settings, endpoints: Mapping[str, EndpointProfile] | None, evidence: bool
) -> tuple[_Finding, ...]:
    findings = []
    if not settings.endpoint:
        findings.append(_Finding("error", "endpoint", "No endpoint is chosen.", "Choose one."))
    elif endpoints is not None and settings.endpoint == RECORDED and RECORDED not in endpoints:
        message = "These judgments were made elsewhere: there is no model to ask."
        findings.append(_Finding("error", "endpoint", message, "Choose a network and a model to judge the pairs anew."))
    elif endpoints is not None and settings.endpoint not in endpoints:
        there = ", ".join(sorted(endpoints)) or "none"
        findings.append(
            _Finding("error", "endpoint", f"There is no endpoint {settings.endpoint!r}.", f"Endpoints: {there}.")
        )
    elif not settings.model and _needs_model(settings.endpoint, endpoints):
        message = f"The endpoint {settings.endpoint!r} needs the name of a model."
        findings.append(_Finding("error", "model", message, "Name one."))
    findings += _stand_ins(settings, endpoints)
    if settings.samples is not None and settings.samples > 1 and settings.temperature == 0:
        message = f"{settings.samples} samples are asked at temperature 0 and will hardly differ."
        findings.append(_Finding("warning", "temperature", message, "Raise the temperature, or ask once."))
    profile = (endpoints or {}).get(settings.endpoint or "")
    if settings.scores == PROBABILITIES and profile is not None and profile.kind == "anthropic":
        message = (
            f"The API of the endpoint {profile.name!r} gives no token probabilities: its scores are those of texts."
        )
        findings.append(_Finding("warning", "scores", message, "Ask another endpoint, or take scores as written."))
    if profile is not None and (wrong := context_problem(settings.extra, profile.kind)):
        findings.append(_Finding("error", "extra", *_context_words(wrong[0], profile)))
    if evidence and settings.max_tokens is not None and 0 < settings.max_tokens < TINY_ANSWER:
        message = f"An answer may have {settings.max_tokens} tokens: its scores will be cut off."
        findings.append(_Finding("warning", "max_tokens", message, f"Allow {TINY_ANSWER} or more."))
    return tuple(findings)


def _context_words(path: str, profile: EndpointProfile) -> tuple[str, str]:
    """What is wrong with a length of the context among further fields, and what to do."""
    if profile.kind == "ollama":
        return f"The further field {path} has no effect at {profile.name!r}.", "Move it into options, as Ollama has it."
    message = f"The further field {path} has an effect on Ollama's own API only, which {profile.name!r} does not use."
    return message, "Choose the API type Ollama for this endpoint, or leave the field out."


def _stand_ins(settings: Settings, endpoints: Mapping[str, EndpointProfile] | None) -> Iterator[_Finding]:
    asked = {(settings.endpoint, settings.model)}
    for place, stand_in in enumerate(settings.stand_in or ()):
        path = f"stand_in[{place}]"
        if stand_in.endpoint == RECORDED or (endpoints is not None and stand_in.endpoint not in endpoints):
            there = ", ".join(sorted(set(endpoints or ()) - {RECORDED})) or "none"
            message = f"A stand-in is asked at {stand_in.endpoint!r}, and there is no such endpoint."
            yield _Finding("error", f"{path}.endpoint", message, f"Endpoints: {there}.")
        elif not stand_in.model and _needs_model(stand_in.endpoint, endpoints):
            message = f"The stand-in at {stand_in.endpoint!r} needs the name of a model."
            yield _Finding("error", f"{path}.model", message, "Name one.")
        elif (stand_in.endpoint, stand_in.model) in asked:
            message = f"The stand-in {stand_in_text(stand_in)} is a model that is asked before it: it never helps."
            yield _Finding("warning", path, message, "Name another endpoint or model, or remove it.")
        profile = (endpoints or {}).get(stand_in.endpoint)
        if profile is not None and (wrong := context_problem(stand_in.extra, profile.kind)):
            yield _Finding("error", f"{path}.extra", *_context_words(wrong[0], profile))
        asked.add((stand_in.endpoint, stand_in.model))


def _needs_model(endpoint: str, endpoints: Mapping[str, EndpointProfile] | None) -> bool:
    if endpoints is None:
        return endpoint != "embedded"
    profile = endpoints[endpoint]
    return profile.kind not in ("embedded", "replay") and not profile.model


def copies(spec: NetworkSpec) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Neurons that ask the very same question: the 0-based layer and places of each group of them.

    They have the same role, or none, ask the same model at the same endpoint and temperature, and read the same.
    A neuron that reads its own place of the layer before is shown which evaluations are its own, and is no copy.
    """
    copied = []
    wired = design_graph(spec)
    for layer, layer_spec in enumerate(spec.layers):
        if layer_spec.adaptive:
            continue
        groups: dict[tuple[object, ...], list[int]] = {}
        for place, neuron in enumerate(layer_spec.neurons):
            inputs = wired.inputs(layer, place)
            if place in inputs or (neuron.role is None and roles_vary(spec)):
                continue
            role = designed_role(spec, layer, place)
            settings = replace(neuron_settings(spec, layer, place), samples=None)
            groups.setdefault((role, settings, inputs), []).append(place)
        copied += [(layer, tuple(places)) for places in groups.values() if len(places) > 1]
    return tuple(copied)


def copy_problems(spec: NetworkSpec) -> tuple[Problem, ...]:
    """A warning for each neuron that is a copy of an earlier one: its votes are repeats and no other opinion."""
    problems = []
    for layer, places in copies(spec):
        temperature = neuron_settings(spec, layer, places[0]).temperature
        hardly = " At temperature 0 the answers will hardly differ." if temperature == 0 else ""
        for place in places[1:]:
            problems.append(
                Problem(
                    "warning",
                    f"layers[{layer}].neurons[{place}].copy",
                    f"is a copy: it asks the very same question as neuron {places[0] + 1}, of the same model.{hardly}",
                    "Give it a role or a model of its own, unless repeats are meant.",
                    layer,
                    place,
                )
            )
    return tuple(problems)


def copies_words(spec: NetworkSpec) -> str:
    """Which neurons are copies, in a sentence; empty where none are."""
    named = []
    for layer, places in copies(spec):
        shown = ", ".join(str(place + 1) for place in places[:8]) + (", …" if len(places) > 8 else "")
        named.append(f"layer {layer + 1}: {len(places):,} neurons ask the very same question ({shown})")
    return "; ".join(named)
