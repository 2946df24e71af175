"""What the canvas says in words: accessible names, tool tips, and the short texts on the nodes."""

from __future__ import annotations

from judgenet.core.pairs import Order, Verdict
from judgenet.core.wording import duration, score_text
from judgenet.ui.canvas.model import NetworkState, NeuronState, OrderState, Place, Target, VoteTally

SPOKEN: dict[Verdict, str] = {"a": "A", "b": "B", "tie": "tie"}


def order_words(order: Order, state: OrderState) -> str:
    """One order in words: "AB 8 to 7"."""
    name = order.upper()
    if state.unscored:
        return f"{name} unscored, {state.unscored}"
    if state.a is None or state.b is None:
        return f"{name} {SPOKEN[state.verdict]}" if state.verdict else f"{name} no verdict"
    return f"{name} {score_text(state.a)} to {score_text(state.b)}"


def state_words(neuron: NeuronState) -> str:
    """The line at a node's foot while it waits or works."""
    if neuron.phase == "waiting":
        return "Waiting"
    time = "" if neuron.seconds is None else f", {duration(neuron.seconds)}"
    if neuron.phase == "asked":
        return f"Asked{time}"
    if neuron.phase == "writing":
        return f"Writing {neuron.writing.upper()}{time}" if neuron.writing else f"Writing{time}"
    return "" if neuron.seconds is None else duration(neuron.seconds)


def neuron_words(network: NetworkState, place: Place) -> str:
    """What the picture of a neuron says, for a screen reader: role, place, verdict, marks, scores."""
    neuron = network.neuron(place)
    layer = f"{network.title(place.layer).lower()}{_gate_words(network, place)}"
    return f"{neuron.role or 'No role'}, {layer}, {_neuron_state(neuron)}"


def _gate_words(network: NetworkState, place: Place) -> str:
    """The stop rules before a neuron, in brackets; empty where there are none."""
    layer = network.layers[place.layer]
    gates = [layer.gate] if place.neuron == 0 or layer.between is None else [layer.between]
    words = [gate.words or gate.rule for gate in gates if gate is not None]
    return f" ({'; '.join(words)})" if words else ""


def _neuron_state(neuron: NeuronState) -> str:
    parts: list[str] = []
    if neuron.phase == "scored" and neuron.verdict is not None:
        parts.append(f"verdict {SPOKEN[neuron.verdict]}")
    elif neuron.phase == "unscored":
        parts.append(f"unscored, {neuron.reason}" if neuron.reason else "unscored")
    elif neuron.phase == "idle":
        parts += [text for text in (neuron.model, neuron.settings) if text]
    else:
        parts.append(state_words(neuron).lower())
    if neuron.orders_differ:
        parts.append("orders differ")
    if neuron.changed_from is not None and neuron.verdict is not None:
        parts.append(f"changed from {SPOKEN[neuron.changed_from]}")
    for order in neuron.orders:
        state = neuron.order(order)
        if state is not None:
            parts.append(order_words(order, state))
    if neuron.weight:
        parts.append(f"learned weight {neuron.weight.removeprefix('w ')}")
    if neuron.stood_in:
        parts.append(f"answered by a {neuron.stood_in}")
    if neuron.problem is not None:
        parts.append(f"problem: {neuron.problem.text}")
    return ", ".join(parts) or "no model"


def target_words(network: NetworkState, target: Target) -> str:
    """What the picture of a node says."""
    if isinstance(target, Place):
        return neuron_words(network, target)
    if target == "pair":
        pair = network.pair
        lengths = f", A {pair.length_a}, B {pair.length_b}" if pair.length_a else ""
        return f"{pair.title}{lengths}" + (f": {pair.question}" if pair.question else "")
    if target == "roles":
        roles = network.roles
        if roles is None:
            return "Roles"
        return ", ".join(["Roles", *(text for text in (roles.count, *roles.lines, roles.note) if text)])
    if target == "vote":
        vote = network.vote
        text = f"Vote of {vote.name}, {vote.rule}" if vote.name else f"Vote, {vote.rule}"
        if vote.votes is not None:
            a, tie, b = (score_text(count) for count in vote.votes)
            text += f", A {a}, tie {tie}, B {b}"
        if vote.used is not None and vote.of is not None:
            text += f", {vote.used} of {vote.of} used"
        return text
    if target == "chair":
        gate = network.chair_gate
        name = "Chair" if gate is None else f"Chair ({gate.words or gate.rule})"
        return f"{name}, {_neuron_state(network.chair)}" if network.chair is not None else name
    verdict = network.verdict
    text = f"Verdict, {verdict_words(network)}"
    return f"{text}, human label {SPOKEN[verdict.human]}" if verdict.human is not None else text


def verdict_words(network: NetworkState) -> str:
    """The state of the network's verdict in words."""
    state = network.verdict
    if state.note:
        return state.note
    if state.verdict is not None:
        return SPOKEN[state.verdict] if not state.outstanding else f"decided, {state.outstanding:,} to come"
    if network.mode == "design":
        return "A, tie or B, with the votes beside it"
    if state.outstanding and state.leads is not None:
        return f"{SPOKEN[state.leads]} leads, {state.outstanding:,} to go"
    if state.outstanding:
        return f"Waits for {state.outstanding:,} neuron{'s' if state.outstanding != 1 else ''}"
    return "No verdict"


def layer_words(count: VoteTally, *, short: bool = False) -> str:
    """How far a layer is: "3 of 4 scored"."""
    text = f"{count.scored:,} of {count.total:,}"
    return text if short else f"{text} scored"


def outstanding_words(count: VoteTally) -> str:
    """What a dense layer lacks: "1 unscored, 68 to come"."""
    parts = []
    if count.unscored:
        parts.append(f"{count.unscored:,} unscored")
    if count.pending:
        parts.append(f"{count.pending:,} to come")
    return ", ".join(parts)
