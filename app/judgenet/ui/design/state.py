"""What the canvas shows of a design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.checks import Problem
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.fixes import fix
from judgenet.core.learned import LEARNED
from judgenet.core.network import (
    USUAL_ROLES,
    NetworkSpec,
    Settings,
    chair_settings,
    designed_role,
    designed_width,
    neuron_settings,
)
from judgenet.core.network_graph import design_graph
from judgenet.core.pairs import ORDERS, Order, Pair
from judgenet.core.soft_votes import voting_layer
from judgenet.core.wording import plural, rule_name, rule_words, text_size_words
from judgenet.engine.embedded_model import model_name
from judgenet.ui.canvas.model import (
    LayerState,
    NetworkState,
    NeuronState,
    PairNodeState,
    RolesState,
    VerdictState,
    VoteState,
    boxes_of,
)
from judgenet.ui.canvas.model import NodeProblem as Mistake
from judgenet.ui.design import texts

_RULE_NOTES: Final = {
    "c1": texts.MEANS,
    "chair": texts.CHAIR_DECIDES,
    LEARNED: texts.LEARNED_WEIGHTS,
    ACCEPTED: texts.REST_FOR_PEOPLE,
}
_TIES: Final = {
    ("abstain", "tie"): texts.TIED_VOTE_IS_TIE,
    ("abstain", "c1"): texts.TIED_VOTE_BY_SCORES,
    ("candidate", "tie"): texts.VOTES_FOR_TIE,
    ("candidate", "c1"): texts.VOTES_FOR_TIE_ELSE_SCORES,
}


def model_of(settings: Settings, profiles: Mapping[str, EndpointProfile]) -> str:
    """The model that settings name, themselves or by their endpoint; empty without one."""
    if settings.model:
        return settings.model
    profile = profiles.get(settings.endpoint or "")
    if profile is None:
        return ""
    return profile.model or (model_name(profile.source) if profile.kind == "embedded" else "")


def settings_words(settings: Settings) -> str:
    """Temperature and samples in one line, shorter with a reasoning setting: ``Temp. 0.7 · 1 sample``,
    ``Thinks high · T 0 · 1×``."""
    samples = settings.samples or 1
    temperature = None if settings.temperature == "default" else settings.temperature
    if settings.reasoning in (None, "default"):
        parts = ["" if temperature is None else texts.temperature(temperature), plural(samples, "sample")]
    else:
        heat = "" if temperature is None else texts.short_temperature(temperature)
        parts = [texts.thinks(reasoning_mark(settings.reasoning)), heat, f"{samples}×"]
    return " · ".join(part for part in parts if part)


def reasoning_mark(reasoning: int | str | None) -> str:
    """A reasoning setting in a few letters: ``high``, ``2.05k`` (thinking tokens), ``0`` for none."""
    if isinstance(reasoning, int):
        return f"{reasoning / 1000:.3g}k" if reasoning >= 1000 else str(reasoning)
    return "0" if reasoning == "none" else reasoning or "default"


def width_of(spec: NetworkSpec, layer: int) -> int:
    """How many neurons of a layer are drawn; a typical number where it depends on the roles of a pair."""
    return designed_width(spec, layer) or USUAL_ROLES


def spec_place(spec: NetworkSpec, layer: int, neuron: int) -> tuple[int, int]:
    """Layer and neuron of the design behind a drawn neuron: an adaptive layer has one neuron for all that are drawn."""
    return (layer, 0 if spec.layers[layer].adaptive else neuron)


def role_words(spec: NetworkSpec, layer: int, neuron: int) -> str:
    """The name of a neuron, counted from 0: its role; ``Role 2`` where the model names it, ``Criterion 2`` where it
    takes the pair's, ``Judge 2`` where there are no roles."""
    role = designed_role(spec, layer, neuron)
    if role is not None:
        return role.name.strip() or texts.UNNAMED_ROLE
    word = {"generated": texts.ROLE, "fixed": texts.NO_ROLE, "criteria": texts.CRITERION, "none": texts.JUDGE}[
        spec.roles.kind
    ]
    return word if spec.roles.kind == "fixed" else f"{word} {neuron + 1}"


def orders_of(spec: NetworkSpec) -> tuple[Order, ...]:
    """The orders in which a neuron may be asked."""
    return (spec.orders,) if spec.orders in ("ab", "ba") else ORDERS


def problems_at(spec: NetworkSpec, problems: Sequence[Problem]) -> dict[tuple[int, int], Problem]:
    """The first problem of each drawn neuron. A problem in the settings of a layer or of all neurons is each one's."""
    by_place: dict[tuple[int, int], Problem] = {}
    for problem in problems:
        if problem.layer is not None and problem.layer >= spec.depth:
            continue
        layers = range(spec.depth) if problem.layer is None else (problem.layer,)
        if problem.layer is None and not problem.path.startswith("settings."):
            continue
        for layer in layers:
            if problem.neuron is not None and not spec.layers[layer].adaptive:
                by_place.setdefault((layer, problem.neuron), problem)
                continue
            for neuron in range(width_of(spec, layer)):
                by_place.setdefault((layer, neuron), problem)
    return by_place


def problem_words(problem: Problem) -> str:
    """A problem in the few words that fit on a node of the canvas."""
    field = problem.path.rpartition(".")[2]
    short = {
        "model": texts.NO_MODEL,
        "endpoint": texts.NO_ENDPOINT,
        "role": texts.NO_ROLE,
        "name": texts.ROLE_HAS_NO_NAME,
        "inputs": texts.READS_NOTHING if "reads nothing" in problem.message else texts.WRONG_EDGES,
        "temperature": texts.CHECK_TEMPERATURE,
        "max_tokens": texts.LITTLE_ROOM,
        "samples": texts.CHECK_SAMPLES,
        "window": texts.READS_NOTHING,
        "gate": texts.CHECK_STOP_RULE,
        "between": texts.CHECK_STOP_RULE,
        "copy": texts.copy_of(problem.message.partition("as neuron ")[2].partition(",")[0]),
    }
    if field in short:
        return short[field]
    # Of a neuron as a whole the only warning is that none reads it.
    whole_neuron = field.startswith("neurons[") and problem.severity == "warning"
    return texts.READ_BY_NONE if whole_neuron else problem.message


def with_widths(state: NetworkState, widths: tuple[int, int] | None) -> NetworkState:
    """The canvas with the widths of layers that have a neuron a criterion, over the pairs that are loaded."""
    if widths is None:
        return state
    words = (texts.width_by_question(*widths), texts.width_range(*widths))
    layers = tuple(replace(layer, widths=words) if layer.adaptive else layer for layer in state.layers)
    roles = state.roles and replace(state.roles, count=texts.width_range(*widths))
    return replace(state, layers=layers, roles=roles)


def pair_state(pair: Pair | None, index: int) -> PairNodeState:
    """The node of the pair; ``index`` is its place, from 0."""
    if pair is None:
        return PairNodeState(texts.PAIR, texts.NO_PAIRS)
    question = pair.question if pair.question.strip() else pair.response_a
    sizes = (text_size_words(text, pair.pictures) for text in (pair.response_a, pair.response_b))
    return PairNodeState(texts.pair_number(index + 1), pair.readable(question), *sizes)


def roles_state(spec: NetworkSpec) -> RolesState | None:
    """The node of the roles; ``None`` where there are none."""
    roles = spec.roles
    if roles.kind == "none":
        return None
    if roles.kind == "fixed":
        names = ", ".join(role.name for role in roles.roles[:3])
        more = ", …" if len(roles.roles) > 3 else ""
        return RolesState(
            str(len(roles.roles)), (names + more,) if names else (texts.NO_FIXED_ROLES,), texts.SAME_ROLES
        )
    if roles.kind == "criteria":
        return RolesState("", (texts.CRITERIA,), texts.CRITERIA_OF_PAIRS)
    most = "" if roles.limit is None else texts.role_limit(roles.limit)
    return RolesState(most, (texts.GENERATED,), texts.GENERATED_FOR_PAIRS)


def _layer_state(
    spec: NetworkSpec,
    number: int,
    profiles: Mapping[str, EndpointProfile],
    mistakes: Sequence[Mistake | None],
) -> LayerState:
    """A layer, counted from 0; ``mistakes`` has the problem of each of its neurons."""
    orders, graph, layer = orders_of(spec), design_graph(spec), spec.layers[number]
    neurons = []
    for place, mistake in enumerate(mistakes):
        settings = neuron_settings(spec, number, place)
        neurons.append(
            NeuronState(
                role_words(spec, number, place),
                model_of(settings, profiles),
                settings_words(settings),
                orders=orders,
                problem=mistake,
            )
        )
    inputs = tuple(graph.inputs(number, place) for place in range(len(mistakes))) if number else ()
    wiring = "full" if number == 0 else layer.wiring.kind
    return LayerState(tuple(neurons), inputs, wiring, layer.wiring.window, layer.adaptive)


def _chair_state(
    spec: NetworkSpec, profiles: Mapping[str, EndpointProfile], mistake: Mistake | None
) -> NeuronState | None:
    """The node of the chair; ``None`` without one."""
    if spec.chair is None:
        return None
    settings = chair_settings(spec)
    return NeuronState(
        texts.CHAIR, model_of(settings, profiles), settings_words(settings), orders=orders_of(spec), problem=mistake
    )


def _drawn_widths(spec: NetworkSpec, criteria: tuple[int, int] | None) -> list[int]:
    """How many neurons of each layer are drawn."""
    widths = [width_of(spec, number) for number in range(spec.depth)]
    if criteria is None:
        return widths
    most = max(1, criteria[1])
    return [min(width, most) if spec.layers[at].adaptive else width for at, width in enumerate(widths)]


def _vote_state(spec: NetworkSpec, layers: tuple[LayerState, ...], rule: str) -> VoteState:
    """The node of the vote: the neurons that the rule counts, and a note on the rule."""
    titles = tuple(texts.layer(number + 1) for number in range(spec.depth))
    if (layer := voting_layer(rule)) is not None:
        layers, titles = layers[layer - 1 : layer], titles[layer - 1 : layer]
    aggregation = spec.aggregation
    note = _RULE_NOTES.get(rule, "")
    if not note and aggregation.quorum is not None:
        note = texts.quorum_of(plural(aggregation.quorum, "neuron"))
    note = note or _TIES.get((aggregation.ties, aggregation.fallback), "")
    return VoteState(rule_words(rule), titles, boxes_of(layers), note=note, name=rule_name(rule))


def design_state(
    spec: NetworkSpec,
    profiles: Mapping[str, EndpointProfile],
    problems: Sequence[Problem],
    rule: str,
    pair: Pair | None,
    index: int,
    *,
    editable: bool = True,
    criteria: tuple[int, int] | None = None,
) -> NetworkState:
    """Everything that the canvas shows of a design. ``criteria`` are the fewest and the most criteria of the pairs that
    are loaded, where these decide widths: a usual number of neurons is drawn, and no more than there are."""
    at_places = problems_at(spec, problems)
    mistakes: dict[Problem, Mistake] = {}

    def mistake(problem: Problem | None) -> Mistake | None:
        if problem is None:
            return None
        if problem not in mistakes:
            repair = fix(spec, problem, profiles) if editable else None
            mistakes[problem] = Mistake(problem_words(problem), repair.words if repair else "")
        return mistakes[problem]

    widths = _drawn_widths(spec, criteria)
    layers = tuple(
        _layer_state(spec, number, profiles, [mistake(at_places.get((number, place))) for place in range(width)])
        for number, width in enumerate(widths)
    )
    of_chair = [problem for problem in problems if problem.path.startswith("chair.")]
    chair = _chair_state(spec, profiles, mistake(of_chair[0] if of_chair else None))
    state = NetworkState(
        layers,
        pair=pair_state(pair, index),
        roles=roles_state(spec),
        vote=_vote_state(spec, layers, rule),
        verdict=VerdictState(human=None if pair is None else pair.human),
        chair=chair,
        editable=editable,
    )
    return with_widths(state, criteria)
