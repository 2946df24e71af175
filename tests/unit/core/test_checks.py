"""What checks find: each problem with its place and its mend."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from judgenet.core.checks import Problem, check, copies, copies_words, copy_problems, require_valid
from judgenet.core.design import override
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import (
    Aggregation,
    ChairSpec,
    LayerSpec,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    Role,
    RolesSpec,
    Settings,
    Wiring,
)
from judgenet.core.presets import PRESETS, network

PLAIN = network(3, 2)


def only(spec: NetworkSpec, **endpoints: EndpointProfile) -> Problem:
    found = check(spec, endpoints or None)
    assert len(found) == 1, [str(problem) for problem in found]
    return found[0]


def deeper(spec: NetworkSpec, **changes: Any) -> NetworkSpec:
    return replace(spec, layers=(spec.layers[0], replace(spec.layers[1], **changes)))


def explicit(*inputs: tuple[int, ...] | None) -> NetworkSpec:
    """Three neurons, then one for each of ``inputs``."""
    neurons = tuple(NeuronSpec(inputs=each) for each in inputs)
    return deeper(PLAIN, neurons=neurons, wiring=Wiring("explicit"))


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_presets_are_sound(preset: Any) -> None:
    assert check(preset.spec) == ()


def test_no_layer_and_an_empty_layer() -> None:
    assert only(NetworkSpec(())).path == "layers"
    found = only(replace(PLAIN, layers=(LayerSpec(()),)))
    assert (found.severity, found.path, found.layer) == ("error", "layers[0].neurons", 0)
    assert str(found) == "Layer 1: is empty. Add a neuron or remove the layer."
    assert [problem.path for problem in check(deeper(PLAIN, neurons=()))] == ["layers[1].neurons"]


@pytest.mark.parametrize(
    ("layer", "path", "words"),
    [
        (LayerSpec((NeuronSpec(), NeuronSpec()), adaptive=True), "neurons", "adaptive and holds 2"),
        (LayerSpec((NeuronSpec(role=Role("X")),), adaptive=True), "neurons[0].role", "role of its own"),
        (LayerSpec((NeuronSpec(),), adaptive=True, wiring=Wiring("explicit")), "wiring.kind", "edges of its own"),
    ],
)
def test_rules_of_adaptive_layers(layer: LayerSpec, path: str, words: str) -> None:
    found = only(replace(network(None, 2), layers=(network(None, 1).layers[0], layer)))
    assert (found.severity, found.path) == ("error", f"layers[1].{path}")
    assert words in found.message


def test_an_adaptive_layer_needs_roles() -> None:
    found = only(replace(network(None, 1), roles=RolesSpec("none")))
    assert (found.severity, found.path) == ("error", "roles.kind")


@pytest.mark.parametrize(
    ("inputs", "path", "words"),
    [
        (((0,), (3,)), "layers[1].neurons[1].inputs", "reads neuron 4 of layer 1, which has 3"),
        (((0,), (-1,)), "layers[1].neurons[1].inputs", "reads neuron 0 of layer 1"),
        (((0, 0), (1,)), "layers[1].neurons[0].inputs", "reads neuron 1 of layer 1 twice"),
        (((0, 1, 2), ()), "layers[1].neurons[1].inputs", "reads nothing of layer 1"),
        (((0, 1, 2), None), "layers[1].neurons[1].inputs", "reads nothing of layer 1"),
    ],
)
def test_edges_lead_from_the_layer_before(inputs: tuple[tuple[int, ...], ...], path: str, words: str) -> None:
    errors = [problem for problem in check(explicit(*inputs)) if problem.severity == "error"]
    assert len(errors) == 1
    assert errors[0].path == path
    assert words in errors[0].message


def test_edges_into_the_first_layer() -> None:
    first = LayerSpec((NeuronSpec(inputs=(0,)), NeuronSpec()))
    found = only(replace(PLAIN, layers=(first,)))
    assert (found.severity, found.path) == ("error", "layers[0].neurons[0].inputs")


def test_edges_that_the_wiring_does_not_use() -> None:
    found = only(deeper(PLAIN, neurons=(NeuronSpec(inputs=(0,)), NeuronSpec())))
    assert (found.severity, found.path) == ("warning", "layers[1].neurons[0].inputs")


def test_a_neuron_that_nobody_reads() -> None:
    found = only(explicit((0,), (1,)))
    assert (found.severity, found.layer, found.neuron) == ("warning", 0, 2)
    assert str(found).startswith("Layer 1, neuron 3: is read by no neuron of layer 2")


def test_a_window_that_reaches_nothing() -> None:
    narrow = replace(PLAIN, layers=(replace(PLAIN.layers[0], neurons=(NeuronSpec(),)), PLAIN.layers[1]))
    found = only(deeper(narrow, wiring=Wiring("window", 1)))
    assert (found.severity, found.path) == ("error", "layers[1].neurons[2]")
    assert check(deeper(narrow, wiring=Wiring("window", 2))) == ()


def test_a_window_of_an_adaptive_layer_that_may_reach_nothing() -> None:
    adaptive = LayerSpec((NeuronSpec(),), adaptive=True, wiring=Wiring("window", 1))
    spec = replace(network(None, 2), layers=(network(1, 1).layers[0], adaptive))
    assert only(spec).severity == "warning"
    assert only(replace(spec, roles=RolesSpec("generated", limit=3))).severity == "error"
    assert check(replace(spec, roles=RolesSpec("generated", limit=2))) == ()


def test_a_window_below_one() -> None:
    found = only(deeper(PLAIN, wiring=Wiring("window", 0)))
    assert (found.severity, found.path) == ("error", "layers[1].wiring.window")


def test_explicit_edges_from_an_adaptive_layer() -> None:
    after = LayerSpec((NeuronSpec(inputs=(4,)),), wiring=Wiring("explicit"))
    spec = replace(network(None, 1), layers=(network(None, 1).layers[0], after))
    assert check(spec) == ()
    fixed = RolesSpec("fixed", roles=tuple(Role(name) for name in "abc"))
    assert "which has 3" in only(replace(spec, roles=fixed)).message
    nothing = replace(after, neurons=(NeuronSpec(inputs=()),))
    assert "reads nothing" in only(replace(spec, layers=(spec.layers[0], nothing))).message


def test_fixed_roles() -> None:
    roles = (Role("Truth"), Role("Form"))
    assert only(replace(PLAIN, roles=RolesSpec("fixed"))).path == "roles.roles"
    found = check(replace(PLAIN, roles=RolesSpec("fixed", roles=roles)))
    assert [problem.path for problem in found] == ["layers[0].neurons[2].role", "layers[1].neurons[2].role"]
    own = (NeuronSpec(), NeuronSpec(), NeuronSpec(role=Role("Style")))
    layers = tuple(replace(layer, neurons=own) for layer in PLAIN.layers)
    assert check(replace(PLAIN, layers=layers, roles=RolesSpec("fixed", roles=roles))) == ()
    all_own = tuple(replace(layer, neurons=own[2:]) for layer in PLAIN.layers)
    assert check(replace(PLAIN, layers=all_own, roles=RolesSpec("fixed"))) == ()


def test_names_of_roles() -> None:
    roles = (Role("Truth"), Role(" "), Role("Truth"))
    found = check(replace(PLAIN, roles=RolesSpec("fixed", roles=roles)))
    assert [(problem.severity, problem.path) for problem in found] == [
        ("error", "roles.roles[1].name"),
        ("warning", "roles.roles"),
    ]
    nameless = deeper(PLAIN, neurons=(NeuronSpec(role=Role("")), NeuronSpec()))
    assert only(nameless).path == "layers[1].neurons[0].role.name"


def test_limits_of_generated_roles() -> None:
    assert only(replace(network(None, 1), roles=RolesSpec(limit=0))).path == "roles.limit"
    found = check(replace(network(3, 1), roles=RolesSpec(limit=2)))
    assert [(problem.severity, problem.path) for problem in found] == [("warning", "layers[0].neurons")]
    assert "neurons 3 never work" in found[0].message


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        (Settings(temperature=-0.1), "temperature"),
        (Settings(temperature=2.1), "temperature"),
        (Settings(temperature=float("nan")), "temperature"),
        (Settings(temperature="cold"), "temperature"),  # type: ignore[arg-type]
        (Settings(max_tokens=0), "max_tokens"),
        (Settings(samples=0), "samples"),
    ],
)
def test_settings_that_no_call_can_have(settings: Settings, path: str) -> None:
    places = {
        f"settings.{path}": replace(PLAIN, settings=settings.over(PLAIN.settings)),
        f"roles.settings.{path}": replace(PLAIN, roles=RolesSpec(settings=settings)),
        f"chair.settings.{path}": replace(PLAIN, chair=ChairSpec(settings)),
        f"layers[1].settings.{path}": deeper(PLAIN, settings=settings),
        f"layers[1].neurons[1].settings.{path}": deeper(PLAIN, neurons=(NeuronSpec(), NeuronSpec(settings=settings))),
    }
    for place, spec in places.items():
        found = only(spec)
        assert (found.severity, found.path) == ("error", place)


def test_samples_at_temperature_zero_are_warned_of_once() -> None:
    same = replace(PLAIN, settings=replace(PLAIN.settings, samples=3, temperature=0.0))
    found = only(same)
    assert (found.severity, found.path, found.layer) == ("warning", "settings.temperature", None)
    layer = deeper(PLAIN, settings=Settings(samples=2, temperature=0))
    assert (only(layer).path, only(layer).layer, only(layer).neuron) == ("layers[1].settings.temperature", 1, None)
    neuron = deeper(PLAIN, neurons=(NeuronSpec(), NeuronSpec(settings=Settings(samples=2, temperature=0.0))))
    assert (only(neuron).layer, only(neuron).neuron) == (1, 1)
    # Roles are asked once a pair, at temperature 0 by default: no samples there.
    assert check(replace(PLAIN, settings=replace(PLAIN.settings, samples=3))) == ()


def test_an_endpoint_must_be_there() -> None:
    nowhere = replace(PLAIN, settings=replace(PLAIN.settings, endpoint=None))
    assert only(nowhere).message == "No endpoint is chosen."
    elsewhere = replace(PLAIN, settings=replace(PLAIN.settings, endpoint="lab", model="m"))
    assert check(elsewhere) == ()
    found = only(elsewhere, work=EndpointProfile("work"))
    assert (found.path, found.mend) == ("settings.endpoint", "Endpoints: work.")


def test_a_model_where_the_endpoint_needs_one() -> None:
    lab = replace(PLAIN, settings=replace(PLAIN.settings, endpoint="lab"))
    assert only(lab).path == "settings.model"
    assert only(lab, lab=EndpointProfile("lab")).path == "settings.model"
    assert check(lab, {"lab": EndpointProfile("lab", model="m")}) == ()
    assert check(lab, {"lab": EndpointProfile("lab", kind="embedded")}) == ()
    assert check(lab, {"lab": EndpointProfile("lab", kind="replay", source="run")}) == ()
    one = deeper(PLAIN, neurons=(NeuronSpec(), NeuronSpec(settings=Settings(endpoint="lab"))))
    assert only(one).path == "layers[1].neurons[1].settings.model"
    chair = replace(PLAIN, chair=ChairSpec(Settings(endpoint="lab")))
    assert only(chair).path == "chair.settings.model"
    roles = replace(PLAIN, roles=RolesSpec(settings=Settings(endpoint="lab")))
    assert only(roles).path == "roles.settings.model"
    assert check(replace(roles, roles=replace(roles.roles, kind="none"))) == ()


def test_tiny_answers_and_missing_evidence_are_warned_of() -> None:
    assert only(replace(PLAIN, settings=replace(PLAIN.settings, max_tokens=16))).path == "settings.max_tokens"
    found = only(replace(PLAIN, evidence=False))
    assert (found.severity, found.path) == ("warning", "evidence")


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (replace(PLAIN, orders="bba"), "orders"),  # type: ignore[arg-type]
        (replace(PLAIN, language="de"), "language"),  # type: ignore[arg-type]
        (replace(PLAIN, aggregation=Aggregation(vote="layer")), "aggregation.vote"),  # type: ignore[arg-type]
        (deeper(PLAIN, wiring=Wiring("ring")), "layers[1].wiring.kind"),  # type: ignore[arg-type]
        (replace(PLAIN, roles=RolesSpec("some")), "roles.kind"),  # type: ignore[arg-type]
    ],
)
def test_values_of_no_kind(spec: NetworkSpec, path: str) -> None:
    assert path in [problem.path for problem in check(spec) if problem.severity == "error"]


def test_require_valid_names_all_errors_and_lets_warnings_pass() -> None:
    require_valid(explicit((0,), (1,)))
    with pytest.raises(NetworkError) as raised:
        require_valid(deeper(explicit((5,), ()), settings=Settings(samples=0)))
    lines = str(raised.value).splitlines()
    assert len(lines) == 3
    assert sum(line.startswith("Layer 2, neuron ") for line in lines) == 2


def test_neurons_that_ask_the_very_same_question_are_copies() -> None:
    bare = network(3, 1, roles="none")
    assert copies(bare) == ((0, (0, 1, 2)),)
    assert [(problem.layer, problem.neuron, problem.severity) for problem in copy_problems(bare)] == [
        (0, 1, "warning"),
        (0, 2, "warning"),
    ]
    assert "same question as neuron 1" in copy_problems(bare)[0].message
    # Models or temperatures of their own make other voices; so do roles, generated for each pair or fixed.
    own = override(override(bare, (0, 1), model="other"), (0, 2), temperature=0.5)
    assert copies(own) == ()
    assert copies(override(bare, (0, 1), model="other")) == ((0, (0, 2)),)
    assert copies(network(3, 2)) == copies(network(2, 1, roles=(Role("A"), Role("B")))) == ()
    assert copies(network(2, 1, roles=(Role("A"), Role("A")))) == ((0, (0, 1)),)
    # In deeper layers a neuron is told which of the earlier evaluations is its own.
    assert copies(network(3, 2, roles="none")) == ((0, (0, 1, 2)),)
    assert copies_words(bare) == "layer 1: 3 neurons ask the very same question (1, 2, 3)"
    assert copies_words(own) == ""
