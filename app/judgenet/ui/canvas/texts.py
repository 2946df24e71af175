"""What the canvas of the network says: the names of its parts, what stands on nodes, and what is said of them."""

from __future__ import annotations

# Headers and nodes
INPUT = "Input"
OUTPUT = "Output"
LAYER = "Layer"
ANY_WIDTH = "n"


def layer(number: int) -> str:
    return f"{LAYER} {number}"


def short_layer(number: str) -> str:
    return f"L {number}"


WIRED_BY_HAND = "by hand"
PAIR = "Pair"
ROLES = "Roles"
VOTE = "Vote"
CHAIR = "Chair"
VERDICT = "Verdict"
ADD_A_CHAIR = "Add a chair"


def votes_used(number: str) -> str:
    return f"{number} used"


def more_layers(layers: str) -> str:
    return f"and {layers}"


ALL_LAYERS = "All"
HUMAN_LABEL = "Human label"
HUMAN = "Human"
NO_ROLE = "No role"
UNSCORED = "Unscored"
VERDICT_ONLY = "verdict only"
DIFFER = "differ"
ORDERS_DIFFER = "orders differ"


def stop(rule: str) -> str:
    return f"Stop: {rule}"


# What a node says while it waits or works
WAITING = "Waiting"
ASKED = "Asked"
WRITING = "Writing"


def writing(order: str) -> str:
    return f"Writing {order}"


# What a screen reader and the tool tip of a node say
A = "A"
B = "B"
TIE = "tie"
NO_MODEL = "no model"


def unscored(order: str, reason: str) -> str:
    return f"{order} unscored, {reason}"


def no_verdict(order: str) -> str:
    return f"{order} no verdict"


def scores(order: str, score_a: str, score_b: str) -> str:
    return f"{order} {score_a} to {score_b}"


def verdict(verdict: str) -> str:
    return f"verdict {verdict}"


def unscored_because(reason: str) -> str:
    return f"unscored, {reason}"


def changed_from(verdict: str) -> str:
    return f"changed from {verdict}"


def learned_weight(number: str) -> str:
    return f"learned weight {number}"


def answered_by(stand_in: str) -> str:
    return f"answered by a {stand_in}"


def problem(text: str) -> str:
    return f"problem: {text}"


def lengths(length_a: str, length_b: str) -> str:
    return f", A {length_a}, B {length_b}"


def vote_of(name: str, rule: str) -> str:
    return f"Vote of {name}, {rule}"


def vote(rule: str) -> str:
    return f"Vote, {rule}"


def votes(a: str, tie: str, b: str) -> str:
    return f", A {a}, tie {tie}, B {b}"


def chair_with_rule(rule: str) -> str:
    return f"Chair ({rule})"


def verdict_of_network(state: str) -> str:
    return f"Verdict, {state}"


def with_human_label(text: str, label: str) -> str:
    return f"{text}, human label {label}"


# The verdict of the network
WHAT_THE_VERDICT_CAN_BE = "A, tie or B, with the votes beside it"
NO_VERDICT = "No verdict"


def decided(outstanding: str) -> str:
    return f"decided, {outstanding} to come"


def leads(verdict: str, outstanding: str) -> str:
    return f"{verdict} leads, {outstanding} to go"


def waits_for(neurons: str) -> str:
    return f"Waits for {neurons}"


# Below a dense layer
def scored(count: str) -> str:
    return f"{count} scored"


def number_unscored(count: str) -> str:
    return f"{count} unscored"


def to_come(count: str) -> str:
    return f"{count} to come"


# Stop rules
VOTE_DECIDED = "vote decided"
ORDERS_AGREE = "orders agree"
NEURONS_AGREE = "neurons agree"


def lead_at_least(number: str) -> str:
    return f"lead ≥ {number}"


def scores_apart(number: str) -> str:
    return f"scores ≥ {number} apart"


def not_asked_where(rule: str) -> str:
    return f"Not asked where {rule}"


def pairs_that_go_on(share: str, pairs: str) -> str:
    return f"; {share} of pairs go on, as in {pairs}"


# Learned weights
WEIGHTS_OF_0_OR_MORE = "weights of 0 or more"
WEIGHTS_OF_ANY_SIGN = "weights of any sign"
LOG_ODDS_BY_DAWID_AND_SKENE = "log odds by Dawid and Skene, without labels"
LOG_ODDS_BY_AN_ISING_MODEL = "log odds by an Ising model"


def weight(number: str) -> str:
    return f"w {number}"


def from_labels(labels: str, run: str) -> str:
    return f"from {labels} labels of {run}"


def from_run(run: str) -> str:
    return f"from {run}"


def weights_legend(kind: str, source: str) -> str:
    return f"w: how far the learned aggregation trusts a neuron ({kind}), {source}"


# Tool tips of the handles and buttons
ONE_NEURON_FEWER = "One neuron fewer"
ONE_NEURON_MORE = "One neuron more"
REMOVE_THIS_LAYER = "Remove this layer"
ADD_A_LAYER_HERE = "Add a layer here"
EDIT_THE_STOP_RULE = "Edit the stop rule"
CHOOSE_THE_WIRING = "Choose the wiring"
DRAG_TO_CHANGE_THE_NUMBER_OF_NEURONS = "Drag to change the number of neurons"
ADD_A_CHAIR_THAT_DECIDES = "Add a chair that reads the last layer and decides"
CHOOSE_THE_RULE_OF_THE_VOTE = "Choose the rule of the vote"
SELECT_THE_EDGE = "Select the edge; Delete removes it"


def drag_to_join(node: str) -> str:
    return f"{node}. Drag to join it with a neuron"


JUDGE_NETWORK = "Judge network"

# Overview in the corner
OVERVIEW_OF_THE_NETWORK = "Overview of the network"
OVERVIEW_TIP = "Overview: drag to move the view"

# Search
FIND_A_NEURON = "Find a neuron"
FIND_BY_ROLE_LAYER_OR_MODEL = "Find a neuron by role, layer or model"
NEURONS_FOUND = "Neurons found"


def place_of_neuron(layer: str, number: int) -> str:
    return f"{layer}, neuron {number}"


NOTHING_FOUND = "Nothing found"

# Errors of writing a picture
PICTURE_TOO_LARGE = "The picture would be too large; choose a smaller scale."


def cannot_be_written(path: str) -> str:
    return f"{path} cannot be written; choose another folder or free some space."
