"""A pair of a run as the canvas draws it: states and words from what the engine knows of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import REASON_WORDS, Reason
from judgenet.core.network import NetworkSpec, needs_roles
from judgenet.core.network_graph import network_graph
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.wording import aggregation_title, rule_name, text_size_words
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
from judgenet.ui.text_view import one_line

Since = Callable[[CallSite], float | None]

_ROLE_LINES: Final = {
    "fixed": "The same for all pairs",
    "generated": "Generated for this pair",
    "criteria": "Criteria of this pair",
}

_SHORT: Final[dict[Reason, str]] = {
    Reason.UNPARSED: "No verdict in it",
    Reason.OUT_OF_RANGE: "Off the scale",
    Reason.TRUNCATED: "Cut at the limit",
    Reason.REFUSED: "Refused to judge",
    Reason.FILTERED: "Filtered",
    Reason.CONTEXT_LENGTH: "Too long for it",
    Reason.BAD_REQUEST: "Not accepted",
    Reason.CANCELLED: "Stopped",
}
"""Reasons that are too long for a node, in fewer words."""


def role_name(now: NeuronSnapshot, spec: NetworkSpec) -> str:
    """What a neuron is called: its role, "Judge 2" where it has none, "Chair"."""
    if now.layer > spec.depth:
        return "Chair"
    return one_line(now.role.name) if now.role is not None and now.role.name.strip() else f"Judge {now.neuron}"


def neuron_state(now: NeuronSnapshot, spec: NetworkSpec, since: Since) -> NeuronState:
    """A neuron as a node."""
    name = role_name(now, spec)
    if now.phase == "resting":
        return NeuronState(name, model="Rests", settings="No role on this pair", phase="idle")
    if now.phase == "left_out":
        return NeuronState(name, model="Not asked", settings="Decided early", phase="idle")
    begun = [at for at in (since(site) for site in now.busy) if at is not None]
    orders = {one.order: order_state(one) for one in now.orders}
    note = note2 = reason = ""
    if now.phase == "unscored":
        reason = short_reason(now.reason) if now.reason is not None else "Unscored"
        retried = now.attempts - 1
        note = "" if retried < 1 else "Retried once" if retried == 1 else f"Retried {retried} times"
        note2 = "Out of the vote" if now.layer <= spec.depth else ""
    return NeuronState(
        name,
        now.settings.model or "",
        phase=now.phase,
        orders=tuple(one.order for one in now.orders),
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
    """That a stand-in answered calls of a neuron; empty where none did."""
    if not now.stood_in:
        return ""
    return "stand-in" if now.stood_in == now.answered else f"stand-in {now.stood_in:,} of {now.answered:,}"


def short_reason(reason: Reason) -> str:
    """A reason in the words of a node."""
    return _SHORT.get(reason, REASON_WORDS[reason])


def order_state(one: OrderSnapshot) -> OrderState | None:
    """One order of a neuron, ``None`` until it has said something."""
    if one.reason is not None:
        return OrderState(unscored=short_reason(one.reason))
    return None if one.verdict is None else OrderState(one.score_a, one.score_b, one.verdict)


def network_state(now: PairSnapshot, pair: Pair | None, note: str, human: Verdict | None, since: Since) -> NetworkState:
    """The whole canvas on a pair. ``note`` says where its roles differ from the design."""
    spec = now.spec
    # Neurons without a role on this pair are drawn with their edges.
    wired = network_graph(spec, max((len(neurons) for neurons in now.layers), default=0))
    layers = []
    for number, neurons in enumerate(now.layers):
        of = spec.layers[number]
        inputs = tuple(wired.inputs(number, place) for place in range(len(neurons))) if number else ()
        layers.append(
            LayerState(
                tuple(neuron_state(neuron, spec, since) for neuron in neurons),
                inputs,
                of.wiring.kind,
                of.wiring.window,
                of.adaptive,
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
    """The pair as a node."""
    if pair is None:
        return PairNodeState(f"Pair {index + 1:,}", empty="Its texts cannot be read")
    return PairNodeState(
        f"Pair {index + 1:,}",
        title_of(pair),
        *(text_size_words(text, pair.pictures) for text in (pair.response_a, pair.response_b)),
    )


def title_of(pair: Pair) -> str:
    """What a pair is about in one line: its question, else the beginning of a response."""
    return one_line(pair.told(pair.question if pair.question.strip() else pair.response_a), 600)


def roles_state(now: PairSnapshot, note: str) -> RolesState:
    """Where the roles of the pair come from."""
    spec = now.spec
    kind = spec.roles.kind
    if kind == "none":
        return RolesState("0", ("None: one question for all",))
    count = max((len(layer) for layer in now.layers), default=0)
    if not now.roles_known:
        return RolesState("", ("Being named",))
    line = _ROLE_LINES[kind] if kind != "generated" or needs_roles(spec) else "Its own for each neuron"
    return RolesState(f"{count:,}", (line,), note[:1].upper() + note[1:])


def vote_box(now: NeuronSnapshot) -> VoteBox:
    """What stands for a neuron in the vote."""
    if now.phase == "scored" and now.verdict is not None:
        return now.verdict
    return "unscored" if now.phase in ("unscored", "resting", "left_out") else "pending"


def vote_state(now: PairSnapshot) -> VoteState:
    """The vote as a node."""
    boxes = tuple(tuple(vote_box(neuron) for neuron in layer) for layer in now.layers)
    votes = (now.votes.a, now.votes.tie, now.votes.b)
    rule = "c2_all"
    return VoteState(aggregation_title(rule), boxes=boxes, votes=votes, used=now.used, of=now.of, name=rule_name(rule))


def verdict_state(now: PairSnapshot, human: Verdict | None) -> VerdictState:
    """The network's verdict as a node."""
    outstanding, note = now.outstanding, ""
    if now.chair is not None:
        outstanding = 0
        if not now.chair.complete:
            note = "Waits for the chair"
    if now.no_quorum is not None:
        note = f"No quorum: {now.no_quorum:,} of {now.spec.aggregation.quorum:,}"
        return VerdictState(None, votes=(now.votes.a, now.votes.tie, now.votes.b), note=note, human=human)
    if now.for_people:
        return VerdictState(None, votes=(now.votes.a, now.votes.tie, now.votes.b), note="For people", human=human)
    return VerdictState(
        now.verdict,
        outstanding,
        now.leads,
        (now.votes.a, now.votes.tie, now.votes.b) if now.chair is None else None,
        note,
        human,
    )
