"""A pair of a run as the canvas draws it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import REASON_WORDS, Reason
from judgenet.core.network import NetworkSpec, needs_roles
from judgenet.core.network_graph import network_graph
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.wording import aggregation_title, capitalized, of, rule_name, text_size_words
from judgenet.engine.pair_snapshot import NeuronSnapshot, OrderSnapshot, PairSnapshot
from judgenet.ui.canvas.gates import with_gates
from judgenet.ui.canvas.model import (
    LayerState,
    NetworkState,
    NeuronState,
    OrderState,
    PairNodeState,
    RolesState,
    VerdictState,
    VoteBox,
    VoteState,
)
from judgenet.ui.run import texts
from judgenet.ui.text_view import one_line

Since = Callable[[CallSite], float | None]

_ROLE_LINES: Final = {
    "fixed": texts.FIXED_ROLES,
    "generated": texts.GENERATED_ROLES,
    "criteria": texts.CRITERIA_ROLES,
}

_SHORT: Final[dict[Reason, str]] = {
    Reason.UNPARSED: texts.NO_VERDICT_IN_ANSWER,
    Reason.OUT_OF_RANGE: texts.OFF_THE_SCALE,
    Reason.TRUNCATED: texts.CUT_AT_LIMIT,
    Reason.REFUSED: texts.REFUSED_TO_JUDGE,
    Reason.FILTERED: texts.FILTERED,
    Reason.CONTEXT_LENGTH: texts.TOO_LONG,
    Reason.BAD_REQUEST: texts.NOT_ACCEPTED,
    Reason.CANCELLED: texts.STOPPED,
}
"""Shorter words for reasons that are too long for a node."""


def role_name(now: NeuronSnapshot, spec: NetworkSpec) -> str:
    """The name of a neuron: its role, ``Judge 2`` where it has none, or ``Chair``."""
    if now.layer > spec.depth:
        return texts.CHAIR
    return one_line(now.role.name) if now.role is not None and now.role.name.strip() else texts.judge(now.neuron)


def neuron_state(now: NeuronSnapshot, spec: NetworkSpec, since: Since) -> NeuronState:
    """The node of a neuron. ``since`` gives the time at which a running call was asked."""
    name = role_name(now, spec)
    if now.phase == "resting":
        return NeuronState(name, model=texts.NOT_USED_NODE, settings=texts.NO_ROLE_ON_PAIR, phase="idle")
    if now.phase == "left_out":
        return NeuronState(name, model=texts.NOT_ASKED, settings=texts.DECIDED_EARLY, phase="idle")
    begun = [at for at in (since(site) for site in now.busy) if at is not None]
    orders = {asked.order: order_state(asked) for asked in now.orders}
    note = note2 = reason = ""
    if now.phase == "unscored":
        reason = short_reason(now.reason) if now.reason is not None else texts.UNSCORED
        retried = now.attempts - 1
        note = "" if retried < 1 else texts.RETRIED_ONCE if retried == 1 else texts.retried(retried)
        note2 = texts.OUT_OF_VOTE if now.layer <= spec.depth else ""
    return NeuronState(
        name,
        now.settings.model or "",
        phase=now.phase,
        orders=tuple(asked.order for asked in now.orders),
        ab=orders.get("ab"),
        ba=orders.get("ba"),
        verdict=now.verdict if now.phase == "scored" else None,
        writing=now.writing,
        seconds=now.seconds,
        since=min(begun, default=None),
        changed_from=now.changed_from if now.phase == "scored" else None,
        reason=reason,
        note=note or note2,
        note2=note2 if note else "",
        stood_in=stood_in_tag(now),
    )


def stood_in_tag(now: NeuronSnapshot) -> str:
    """A note that a stand-in answered calls of a neuron; empty where none did."""
    if not now.stood_in:
        return ""
    return texts.STAND_IN if now.stood_in == now.answered else texts.stand_in(of(now.stood_in, now.answered))


def short_reason(reason: Reason) -> str:
    """A reason in words short enough for a node."""
    return _SHORT.get(reason, REASON_WORDS[reason])


def order_state(order: OrderSnapshot) -> OrderState | None:
    """One order of a neuron; ``None`` until its result is in."""
    if order.reason is not None:
        return OrderState(unscored=short_reason(order.reason))
    return None if order.verdict is None else OrderState(order.score_a, order.score_b, order.verdict)


def network_state(now: PairSnapshot, pair: Pair | None, note: str, human: Verdict | None, since: Since) -> NetworkState:
    """Everything that the canvas shows of a pair. ``note`` says how its roles differ from the design, ``human`` is its
    label, ``since`` gives the time at which a running call was asked."""
    spec = now.spec
    # Neurons without a role on this pair are drawn with their edges too.
    graph = network_graph(spec, max((len(neurons) for neurons in now.layers), default=0))
    layers = []
    for number, neurons in enumerate(now.layers):
        designed = spec.layers[number]
        inputs = tuple(graph.inputs(number, place) for place in range(len(neurons))) if number else ()
        layers.append(
            LayerState(
                tuple(neuron_state(neuron, spec, since) for neuron in neurons),
                inputs,
                designed.wiring.kind,
                designed.wiring.window,
                designed.adaptive,
            )
        )
    state = NetworkState(
        tuple(layers),
        mode="run",
        pair=pair_state(now.pair, pair),
        roles=roles_state(now, note),
        vote=vote_state(now),
        verdict=verdict_state(now, human),
        chair=None if now.chair is None else neuron_state(now.chair, spec, since),
        editable=False,
    )
    return with_gates(state, spec)


def pair_state(index: int, pair: Pair | None) -> PairNodeState:
    """The node of the pair; ``index`` counts from 0."""
    if pair is None:
        return PairNodeState(texts.pair_number(index + 1), empty=texts.TEXTS_UNREADABLE)
    return PairNodeState(
        texts.pair_number(index + 1),
        title_of(pair),
        *(text_size_words(text, pair.pictures) for text in (pair.response_a, pair.response_b)),
    )


def title_of(pair: Pair) -> str:
    """A title for a pair, in one line: its question, else the beginning of a response."""
    return one_line(pair.readable(pair.question if pair.question.strip() else pair.response_a), 600)


def roles_state(now: PairSnapshot, note: str) -> RolesState:
    """The node of the roles: how many there are and where they come from."""
    spec = now.spec
    kind = spec.roles.kind
    if kind == "none":
        return RolesState("0", (texts.NO_ROLES,))
    count = max((len(layer) for layer in now.layers), default=0)
    if not now.roles_known:
        return RolesState("", (texts.ROLES_BEING_GENERATED,))
    line = _ROLE_LINES[kind] if kind != "generated" or needs_roles(spec) else texts.OWN_ROLES
    return RolesState(f"{count:,}", (line,), capitalized(note))


def vote_box(now: NeuronSnapshot) -> VoteBox:
    """The box of a neuron in the vote."""
    if now.phase == "scored" and now.verdict is not None:
        return now.verdict
    return "unscored" if now.phase in ("unscored", "resting", "left_out") else "pending"


def vote_state(now: PairSnapshot) -> VoteState:
    """The node of the vote."""
    boxes = tuple(tuple(vote_box(neuron) for neuron in layer) for layer in now.layers)
    votes = (now.votes.a, now.votes.tie, now.votes.b)
    rule = "c2_all"
    return VoteState(
        aggregation_title(rule), boxes=boxes, votes=votes, used=now.used, total=now.of, name=rule_name(rule)
    )


def verdict_state(now: PairSnapshot, human: Verdict | None) -> VerdictState:
    """The node of the verdict of the network."""
    outstanding, note = now.outstanding, ""
    if now.chair is not None:
        outstanding = 0
        if not now.chair.complete:
            note = texts.WAITS_FOR_CHAIR
    if now.no_quorum is not None:
        note = texts.no_quorum(of(now.no_quorum, now.spec.aggregation.quorum or 0))
        return VerdictState(None, votes=(now.votes.a, now.votes.tie, now.votes.b), note=note, human=human)
    if now.for_people:
        return VerdictState(None, votes=(now.votes.a, now.votes.tie, now.votes.b), note=texts.FOR_PEOPLE, human=human)
    return VerdictState(
        now.verdict,
        outstanding,
        now.leads,
        (now.votes.a, now.votes.tie, now.votes.b) if now.chair is None else None,
        note,
        human,
    )
