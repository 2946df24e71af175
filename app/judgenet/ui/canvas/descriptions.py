"""What the canvas says in words: accessible names, tool tips, and the short texts on the nodes."""

from __future__ import annotations

from judgenet.core.pairs import Order, Verdict
from judgenet.core.wording import duration, of, plural, score_text
from judgenet.ui.canvas import texts
from judgenet.ui.canvas.model import NetworkState, NeuronState, OrderState, Place, Target, VoteState, VoteTally

SPOKEN: dict[Verdict, str] = {"a": texts.A, "b": texts.B, "tie": texts.TIE}


def order_words(order: Order, state: OrderState) -> str:
    """One order in words: "AB 8 to 7"."""
    name = order.upper()
    if state.unscored:
        return texts.unscored(name, state.unscored)
    if state.a is None or state.b is None:
        return f"{name} {SPOKEN[state.verdict]}" if state.verdict else texts.no_verdict(name)
    return texts.scores(name, score_text(state.a), score_text(state.b))


def state_words(neuron: NeuronState) -> str:
    """The line at a node's foot while it waits or works."""
    if neuron.phase == "waiting":
        return texts.WAITING
    time = "" if neuron.seconds is None else f", {duration(neuron.seconds)}"
    if neuron.phase == "asked":
        return f"{texts.ASKED}{time}"
    if neuron.phase == "writing":
        return f"{texts.writing(neuron.writing.upper()) if neuron.writing else texts.WRITING}{time}"
    return "" if neuron.seconds is None else duration(neuron.seconds)


def neuron_words(network: NetworkState, place: Place) -> str:
    """What the picture of a neuron says, for a screen reader: role, place, verdict, marks, scores."""
    neuron = network.neuron(place)
    layer = f"{network.title(place.layer).lower()}{_gate_words(network, place)}"
    return f"{neuron.role or texts.NO_ROLE}, {layer}, {_neuron_state(neuron)}"


def _gate_words(network: NetworkState, place: Place) -> str:
    """The stop rules before a neuron, in brackets; empty where there are none."""
    layer = network.layers[place.layer]
    gates = [layer.gate] if place.neuron == 0 or layer.between is None else [layer.between]
    words = [gate.words or gate.rule for gate in gates if gate is not None]
    return f" ({'; '.join(words)})" if words else ""


def _neuron_state(neuron: NeuronState) -> str:
    parts: list[str] = []
    if neuron.phase == "scored" and neuron.verdict is not None:
        parts.append(texts.verdict(SPOKEN[neuron.verdict]))
    elif neuron.phase == "unscored":
        parts.append(texts.unscored_because(neuron.reason) if neuron.reason else texts.UNSCORED.lower())
    elif neuron.phase == "idle":
        parts += [text for text in (neuron.model, neuron.settings) if text]
    else:
        parts.append(state_words(neuron).lower())
    if neuron.orders_differ:
        parts.append(texts.ORDERS_DIFFER)
    if neuron.changed_from is not None and neuron.verdict is not None:
        parts.append(texts.changed_from(SPOKEN[neuron.changed_from]))
    for order in neuron.orders:
        state = neuron.order(order)
        if state is not None:
            parts.append(order_words(order, state))
    if neuron.weight:
        parts.append(texts.learned_weight(neuron.weight.removeprefix(texts.weight(""))))
    if neuron.stood_in:
        parts.append(texts.answered_by(neuron.stood_in))
    if neuron.problem is not None:
        parts.append(texts.problem(neuron.problem.text))
    return ", ".join(parts) or texts.NO_MODEL


def target_words(network: NetworkState, target: Target) -> str:
    """What the picture of a node says."""
    if isinstance(target, Place):
        return neuron_words(network, target)
    if target == "pair":
        pair = network.pair
        lengths = texts.lengths(pair.length_a, pair.length_b) if pair.length_a else ""
        return f"{pair.title}{lengths}" + (f": {pair.question}" if pair.question else "")
    if target == "roles":
        roles = network.roles
        if roles is None:
            return texts.ROLES
        return ", ".join([texts.ROLES, *(text for text in (roles.count, *roles.lines, roles.note) if text)])
    if target == "vote":
        vote = network.vote
        text = texts.vote_of(vote.name, vote.rule) if vote.name else texts.vote(vote.rule)
        if vote.votes is not None:
            a, tie, b = (score_text(count) for count in vote.votes)
            text += texts.votes(a, tie, b)
        used = votes_used(vote)
        return f"{text}, {used}" if used else text
    if target == "chair":
        gate = network.chair_gate
        name = texts.CHAIR if gate is None else texts.chair_with_rule(gate.words or gate.rule)
        return f"{name}, {_neuron_state(network.chair)}" if network.chair is not None else name
    verdict = network.verdict
    text = texts.verdict_of_network(verdict_words(network))
    return texts.with_human_label(text, SPOKEN[verdict.human]) if verdict.human is not None else text


def verdict_words(network: NetworkState, *, short: bool = False) -> str:
    """The state of the network's verdict in words; in the short form without the word "neurons"."""
    state = network.verdict
    if state.note:
        return state.note
    if state.verdict is not None:
        return SPOKEN[state.verdict] if not state.outstanding else texts.decided(f"{state.outstanding:,}")
    if network.mode == "design":
        return texts.WHAT_THE_VERDICT_CAN_BE
    if state.outstanding and state.leads is not None:
        return texts.leads(SPOKEN[state.leads], f"{state.outstanding:,}")
    if state.outstanding:
        return texts.waits_for(f"{state.outstanding:,}" if short else plural(state.outstanding, "neuron"))
    return texts.NO_VERDICT


def votes_used(vote: VoteState) -> str:
    """How many votes of neurons a vote used: "5 of 6 used"; empty before any are in."""
    return "" if vote.used is None or vote.total is None else texts.votes_used(of(vote.used, vote.total))


def layer_words(count: VoteTally, *, short: bool = False) -> str:
    """How far a layer is: "3 of 4 scored"."""
    text = of(count.scored, count.total)
    return text if short else texts.scored(text)


def outstanding_words(count: VoteTally) -> str:
    """What a dense layer lacks: "1 unscored, 68 to come"."""
    parts = []
    if count.unscored:
        parts.append(texts.number_unscored(f"{count.unscored:,}"))
    if count.pending:
        parts.append(texts.to_come(f"{count.pending:,}"))
    return ", ".join(parts)
