"""What the page Design says, in the order in which it is seen."""

from __future__ import annotations

# The row over the canvas
CANVAS_TOOLS = "Tools of the canvas"
NETWORK_SIZE = "Size of the network"
NETWORK_SIZE_TIP = "Neurons and layers"
NEURONS_PER_LAYER = "Neurons per layer"
LAYERS = "Layers"
ONE_NEURON_PER_ROLE = "One neuron per role"
SIZE_BY_COMMAND = "Or type 4x2 after Ctrl+K."
WIRING = "Wiring"
FULL_WIRING = "Full"
NEXT_WINDOW = "Window ±1"
CUSTOM_WIRING = "Custom"
ONE_LAYER = "There is only one layer"
ORDERS = "Orders"
BOTH_ORDERS = "Both orders"
AB_ONLY = "AB only"
ZOOM_OUT = "Zoom out"
ZOOM_TO_FULL = "Zoom to 100 %"
FULL_ZOOM = "100 %"
ZOOM_IN = "Zoom in"
FIT = "Fit"
FIT_NETWORK = "Fit the network"
MORE_TOOLS = "More tools"
MORE_TOOLS_TIP = "Tools that do not fit here"


def window(reach: str) -> str:
    return f"Window {reach}"


# The nodes of the canvas
PAIR = "Pair"
NO_PAIRS = "No pairs are loaded yet."


def pair_number(number: int) -> str:
    return f"Pair {number:,}"


NO_FIXED_ROLES = "None yet"
SAME_ROLES = "Same for each pair"
CRITERIA = "Criteria"
CRITERIA_OF_PAIRS = "Of each pair"
GENERATED = "Generated"
GENERATED_FOR_PAIRS = "For each pair"


def width_range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"


def width_by_question(low: int, high: int) -> str:
    return f"{low} per question" if low == high else f"{low} to {high}, by question"


def role_limit(limit: int) -> str:
    return f"≤ {limit}"


UNNAMED_ROLE = "Role without a name"
ROLE = "Role"
NO_ROLE = "No role"
CRITERION = "Criterion"
JUDGE = "Judge"
CHAIR = "Chair"


def temperature(value: float) -> str:
    return f"Temp. {value:g}"


def short_temperature(value: float) -> str:
    return f"T {value:g}"


def thinks(reasoning: str) -> str:
    return f"Thinks {reasoning}"


def layer(number: int | str) -> str:
    return f"Layer {number}"


MEANS = "Means of all scores"
CHAIR_DECIDES = "The chair decides"
LEARNED_WEIGHTS = "Weights learned from a run"
REST_FOR_PEOPLE = "The rest is for people"
TIED_VOTE_IS_TIE = "A tied vote is a tie"
TIED_VOTE_BY_SCORES = "A tied vote is decided by c1*"
VOTES_FOR_TIE = "A tie is voted for, too"
VOTES_FOR_TIE_ELSE_SCORES = "Ties vote, else c1*"


def quorum_of(neurons: str) -> str:
    return f"Quorum of {neurons}"


# Problems, in the few words that fit on a node
NO_MODEL = "No model chosen"
NO_ENDPOINT = "No such endpoint"
ROLE_HAS_NO_NAME = "Its role has no name"
READS_NOTHING = "Reads nothing"
WRONG_EDGES = "Its edges are wrong"
READ_BY_NONE = "Read by no neuron"
CHECK_TEMPERATURE = "Check the temperature"
LITTLE_ROOM = "Little room to answer"
CHECK_SAMPLES = "Check the samples"
CHECK_STOP_RULE = "Check the stop rule"


def copy_of(neuron: str) -> str:
    return f"Copy of neuron {neuron}"


# What the votes of a layer are worth, below it
CALCULATE_WORTH = "Calculate what the layers are worth"


def votes(number: str) -> str:
    return f"{number} votes"


def neurons_worth(neurons: str, worth: str) -> str:
    return f"{neurons}, worth {worth}"


def worth(votes: str) -> str:
    return f"worth {votes}"


def worth_before_edit(votes: str) -> str:
    return f"{votes} before this edit"


def worth_before(votes: str) -> str:
    return f"before: {votes}"


def worth_tip(run: int, neurons: str, layer: int, worth: str, interval: str, basis: str, mean: str, pairs: str) -> str:
    return (
        f"In run {run} the {neurons} of layer {layer} were worth {worth} {interval} independent votes, since the mean "
        f"correlation of their {basis} is {mean} ({pairs} pairs)."
    )


EDITED_SINCE = " The layer, or what it rests on, was edited since."

# The menus of the canvas
FULL_WIRING_CHOICE = "Full: all of the layer before"
NEXT_WINDOW_CHOICE = "Window ±1: neighbours"
WIDE_WINDOW_CHOICE = "Window ±2"
REMOVE_THIS_EDGE = "Remove this edge"
STOP_RULE_BEFORE_LAYER = "Stop rule before the layer"
STOP_RULE_BETWEEN_NEURONS = "Stop rule between its neurons"

# The network as a tree
TREE = "Network as a tree"
NODE = "Node"
MODEL = "Model"
TEMPERATURE = "Temperature"
SAMPLES = "Samples"
REASONING = "Reasoning"
READS = "Reads"
PROBLEM = "Problem"
ROLES_BY_MODEL = "Roles, named by the model"
FIXED_ROLES_ROW = "Roles, fixed"
CRITERIA_ROW = "Roles, the criteria of each pair"
VERDICT = "Verdict"
AS_MANY_AS_CRITERIA = "as many as criteria"
AS_MANY_AS_ROLES = "as many as roles"


def vote_by(rule: str) -> str:
    return f"Vote, {rule}"


def chair_row(stop_rules: str) -> str:
    return f"Chair{stop_rules}"


def layer_row(number: int, neurons: str, stop_rules: str) -> str:
    return f"Layer {number}, {neurons}{stop_rules}"


def not_asked_where(rule: str) -> str:
    return f"; not asked where {rule}"


def in_turn_until(rule: str) -> str:
    return f"; in turn, until {rule}"


def reads_all(neurons: int) -> str:
    return f"all {neurons:,}"


def reads_range(first: int, last: int) -> str:
    return f"{first} to {last}"


READS_NONE = "nothing"
EMPTY_CELL = "none"
NOT_A_TEMPERATURE = "A temperature is a number from 0 to 2, or default."

# The inspector
INSPECTOR = "Inspector"
DUPLICATE = "Duplicate"
REMOVE = "Remove"
SELECT_NOTHING = "Select nothing"
CHANGE_FOR = "Change for"
NEURON = "Neuron"
SELECTED = "Selected"
LAYER = "Layer"
ALL = "All"
REMOVE_LAYER_LINK = "Remove the layer"
REMOVE_LAYERS_LINK = "Remove the layers"
FIX_IT = "Fix it"


def neuron_place(layer: int, neuron: int, width: int) -> str:
    return f"Layer {layer}, neuron {neuron} of {width:,}"


def neuron_for_each(layer: int, role: str) -> str:
    return f"Layer {layer}, a neuron for each {role}"


PAIR_TIP = "What all neurons of the first layer read"
ROLES = "Roles"
ROLES_TIP = "The roles from which the pair is judged"
VOTE = "Vote"
VOTE_TIP = "How the neurons' verdicts become one"
CHAIR_TIP = "Reads the last layer and decides"
VERDICT_TIP = "A, tie or B, with the votes beside it"
NETWORK = "Network"


def network_size(layers: str, neurons: str) -> str:
    return f"{layers}, {neurons}. Select one to change it alone."


# The inspector: size and questions of the network
SIZE_AND_QUESTIONS = "Size and questions"
NAME_OF_NETWORK = "Name of the network"
NAME = "Name"
SAME_WIDTH = "Same width for all layers"
NEURONS = "Neurons"
NETWORK_HAS_NO_ROLES = "The network has no roles"


def neurons_of_layer(number: int) -> str:
    return f"Neurons of layer {number}"


BA_ONLY = "BA only"
DRAWN_ORDER = "One, drawn by the seed"
SEED = "Seed"
LANGUAGE = "Language"
PROMPT_LANGUAGE = "Language of the prompts"
SAME_AS_PAIR = "Same as pair"
ENGLISH = "English"
CHINESE = "Chinese"
TASK = "Task"
TASK_KIND = "Kind of task"
EVIDENCE_FIRST = "Ask for evidence before the scores"

# The inspector: the role of a neuron
ROLE_SOURCE = "Where the role comes from"
NAME_OF_ROLE = "Name of the role"
ROLE_LOOKS_AT = "What the role looks at"
ROLE_LOOKS_AT_HINT = "What does this role look at? One or two sentences."
SEVERAL_ROLES = "Several roles"
FROM_LIBRARY = "From library"
OWN_ROLE = "Own"
GENERATED_BY_MODEL = "Generated by the model"
NO_ROLE_YET = "No role yet"
CRITERION_OF_PAIR = "A criterion of the pair"
GENERATED_FOR_EACH_PAIR = "Generated for each pair"
ROLE_OF_NETWORK = "The network's"
CRITERION_OF_THE_PAIR = "The pair's criterion"
NONE = "None"
BACK_TO_GENERATED = "Generated by the model for each pair"
BACK_TO_NETWORK = "The network's for this place"
BACK_TO_CRITERION = "The pair's criterion for this place"


def takes_one_of(roles: str) -> str:
    return f"Each neuron of this layer takes one of the pair's {roles}"


def role_number(number: int) -> str:
    return f"Role {number}"


# The inspector: the roles of the network
ROLES_FROM = "Where they come from"
FIXED_ROLES_KIND = "Fixed"
GENERATED_NOTE = "Before a pair is judged, the model names the roles in which to judge it."
FIXED_NOTE = "The first neuron of each layer takes the first role, and so on."
CRITERIA_NOTE = (
    "Each neuron judges by one criterion of the pair and votes with its weight: a layer has as many neurons as the "
    "question has criteria."
)
NO_ROLES_NOTE = "All neurons ask the general question."


def criteria_each(least: int, most: int) -> str:
    return f" ({least} to {most} each)"


FIXED_ROLE = "fixed role"


def judged_by_fixed(roles: str) -> str:
    return f" The others are judged by {roles}."


def pairs_with_criteria(pairs: str, each: str, rest: str) -> str:
    return f"\n{pairs} pairs have criteria{each}.{rest}"


AT_MOST = "At most"
MOST_ROLES = "Maximum number of roles"
AS_MANY_AS_NEURONS = "as many as neurons"
FIXED_ROLES = "Fixed roles"
ROLE_LOOKS_AT_SHORT_HINT = "What does this role look at?"
NO_NAME = "No name"
ADD_FROM_LIBRARY = "Add from library"
ADD_OWN = "Add own"
MOVE_ROLE_UP = "Move the role up"
MOVE_ROLE_DOWN = "Move the role down"
REMOVE_ROLE = "Remove the role"

# The inspector: the rules of the vote
RULES = "Rules"
VERDICT_RULE = "Rule of the verdict"
VERDICT_BY = "Verdict by"
WHO_VOTES = "Who votes"
VOTES = "Votes"
EACH_NEURON = "Each neuron"
EACH_CALL = "Each call"
NEURON_SEES_TIE = "A neuron that sees a tie"
ON_TIE = "On a tie"
ABSTAINS = "Abstains"
VOTES_TIE = "Votes tie"
A_TIED_VOTE = "A tied vote"
TIED_VOTE = "Tied vote"
IS_TIE = "Is a tie"
BY_SCORES = "Decided by c1*"
QUORUM = "Quorum"
QUORUM_NAME = "Quorum: the fewest neurons with a valid answer"
QUORUM_TIP = "With fewer neurons that have a valid answer there is no verdict: it counts as missing"
RULES_COST_NOTHING = (
    "All rules are calculated from the same calls: choosing another costs nothing, and Results compares them."
)
THE_CHAIRS_DECISION = "the chair's decision"


def means_of_all(rule: str) -> str:
    return f"{rule}, means of all scores"


def votes_of_all(rule: str) -> str:
    return f"{rule}, votes of all layers"


def the_vote(rule: str) -> str:
    return f"{rule}, the vote"


def weights_of_run(rule: str) -> str:
    return f"{rule}, weights of neurons from a run"


def sure_verdicts(rule: str) -> str:
    return f"{rule}, verdicts sure enough for the rule of a run"


def summed_probabilities(rule: str) -> str:
    return f"{rule}, summed probabilities"


def votes_of_layer(rule: str, layer: str) -> str:
    return f"{rule}, votes of layer {layer}"


# The inspector: the learned aggregation
LEARNED = "Learned aggregation"
REMOVE_LEARNED = "Remove the learned aggregation"
KIND = "Kind"
LEARNED_FROM = "Learned from"
LABELS = "Labels"
DATE = "Date"
WEIGHTS = "Weights"
LEARNED_DECIDES = "It gives the verdict"
NO_LABELS = "none"
NONNEGATIVE = "Weights of 0 or more"
ANY_SIGN = "Weights of any sign"
DAWID_SKENE = "Dawid–Skene, no labels"
ISING = "Ising, neurons depend on one another"


def weights(count: int) -> str:
    return f"{count:,}, one a neuron"


# The inspector: verdicts with a guarantee
GUARANTEE = "Verdicts with a guarantee"
REMOVE_GUARANTEE = "Remove the rule that accepts verdicts"
ASKED_OTHERWISE = "It was chosen on a run with other settings: its guarantee may not hold here."


def chosen_on(rule: str, date: str) -> str:
    return f"{rule} Chosen on {date}."


# The inspector: the settings of calls
MODEL_FOR_ALL = "Model for all"
INHERIT = "Inherit"
INHERIT_TIP = "Remove the neuron's own settings"
SEVERAL_MODELS = "Several models"
ANOTHER_MODEL_CHOICE = "Another model…"
ENDPOINTS_CHOICE = "Endpoints and keys…"
DEFAULT_TEMPERATURE_TIP = "“default” leaves it to the endpoint"
MAX_TOKENS = "Max. tokens"
MAX_TOKENS_NAME = "Maximum tokens per answer"
NEURONS_DIFFER = "The selected neurons differ; a change sets all of them"
ROLES_ONCE = "Roles are requested once per pair"
STAND_IN = "Stand-in"
STAND_IN_TIP = (
    "ENDPOINT/MODEL that is asked in place of the model when its endpoint stops, or is out of reach for 120 s "
    "(“after=60” says another time). Several, separated by commas, are asked in their order. Every record says who "
    "answered."
)

# The dialog that names another model
ANOTHER_MODEL = "Another model"
CHOOSE_MODEL = "Choose a model"
MODEL_NAME_NOTE = "The name as the endpoint knows it."
ENDPOINT = "Endpoint"
NAME_OF_MODEL = "Name of the model"

# The inspector: stop rules
STOP_RULES = "Ask only where it matters"
STOP_BEFORE = "Before"
STOP_BEFORE_NAME = "Stop rule before"
STOP_IN_TURN = "In turn"
STOP_IN_TURN_NAME = "Stop rule between neurons"
ASK_EVERY_PAIR = "Ask every pair"
AS_SET_FOR_LAYERS = "As set for each layer"
VOTE_DECIDED = "Vote cannot change"
ORDERS_AGREE = "Both orders agree"
NEURONS_AGREE = "All neurons agree"
LEAD_IN_VOTES = "Lead in votes"
SCORE_DIFFERENCE = "Difference of scores"
STOP_RULES_NOTE = "A pair that fulfils the rule is decided early; nothing more is asked of it."
SHARE_UNKNOWN = "The share of pairs that go on is known once some pairs are recorded."


def at_least(rule: str) -> str:
    return f"{rule}: at least"


# The inspector: the texts of the pair
PAIR_TEXTS = "Texts"
SHOW_ALL_PAIRS = "Show all pairs"
LOAD_PAIRS = "Load pairs"


def lengths(size_a: str, size_b: str) -> str:
    return f"A {size_a}, B {size_b}"


# The inspector: the prompt
PROMPT = "Prompt as sent"
PROMPT_NAME = "Prompt as it will be sent"
EDIT_TEMPLATE = "Edit template"
EDIT_TEMPLATE_NAME = "Edit the templates of the prompts"
PREVIOUS_PAIR = "Previous pair"
NEXT_PAIR = "Next pair"
NO_PAIR_YET = "No pair yet"
ORDER = "Order"
AB = "AB"
BA = "BA"
EXAMPLE_QUESTION = "What is asked stands here."
EXAMPLE_RESPONSE_A = "Response A stands here."
EXAMPLE_RESPONSE_B = "Response B stands here."
SHOW_PROMPT = "Show the prompt"
ROLES_NOT_GENERATED = "The model is not asked for roles."
ANSWERED_ALREADY = "Answered already: asking again costs nothing."
TOKENS_TIP = "Estimated; the endpoint counts them when it answers"

# The strip with the costs
COSTS = "What the design costs"
CALLS = "calls"
TOKENS = "tokens"
PRICE = "price"
TIME = "time"
CALCULATING = "Calculating …"
CALL_PER_PAIR = "call per pair"
CALLS_PER_PAIR = "calls per pair"
LOAD_PAIRS_FOR_COSTS = "Load pairs to see tokens, price and time."


def calls_for(pairs: str) -> str:
    return f"calls, {pairs}"


def expected_calls(calls: str, pairs: str) -> str:
    return f"About {calls} calls, as in {pairs}"


RECORDED_PAIR = "recorded pair"
NEW_TOKENS = "new tokens"


def tokens_tip(tokens_in: str, tokens_out: str) -> str:
    return f"in {tokens_in}, out {tokens_out}; calls already paid for are left out"


def thinking_tip(tokens: str) -> str:
    return f". Thinking is estimated at {tokens}"


ALREADY_PAID = "already paid"
ALREADY_PAID_TIP = "Answers that are in the project's store"


def counted_on(pairs: int) -> str:
    return f"Counted on {pairs:,} of the pairs"


NEW_CALLS = "new calls"
FREE = "free"
UNKNOWN_PRICE = "unknown"
ALL_PAID = "All calls are paid for"
ON_THIS_COMPUTER = "Runs on this computer"


def prices_of(date: str) -> str:
    return f"Prices of {date}; check them"


def by_batches_or_live(live: str) -> str:
    return f"by batches, {live} live"


def price_tip(tip: str, batch: str) -> str:
    return f"{tip}. By batches: {batch}"


def each_within(hours: int) -> str:
    return f"each within {hours} h"


ONE_AFTER_OTHER = "One after the other"
TIME_MEASURED = "Estimated from the answers so far"


def time_assumed(seconds: float) -> str:
    return f"Assuming {seconds:g} s per call: no call was measured yet"


SCORES_ALONE = "Deeper neurons read scores alone"
NO_PROBLEM = "No problem"
NEURON_IS_COPY = "neuron is a copy"
NEURONS_ARE_COPIES = "neurons are copies"
NEURON_HAS = "neuron has"
NEURONS_HAVE = "neurons have"


def neurons_without_model(neurons_have: str) -> str:
    return f"{neurons_have} no model"


def show_problem(problem: str) -> str:
    return f"{problem}. Show it"


LIMITS = "Limits"
UNTIL_ENOUGH = "Until enough is known"
ENTER_PRICE = "Enter the price"


def at_most(limits: str) -> str:
    return f"At most {limits}"


def limits_of_run(limits: str) -> str:
    return f"Limits of a run: {limits}"


TEST_MODELS = "Test the models"
EXPERIMENTS = "Experiments"
PLAN_COMPARISON = "Plan a comparison"

# The templates of the prompts
TEMPLATES = "Templates"
TEMPLATES_NAME = "Templates of the prompts"
FIND_TEMPLATE = "Find a template"
FIND_TEMPLATE_HINT = "Find a template by name or text"
TEMPLATE_TEXT = "Text of the template"
RESET_TEMPLATE = "Back to the text as shipped"
CLOSE_TEMPLATES = "Close the templates"
CLOSE_TEMPLATES_TIP = "Back to the network"
TEMPLATES_NOTE = "The prompt at the right follows as you write. Changed templates make a new run."
NO_PLACEHOLDER = "It holds no placeholder."


def template_place(language: str, group: str) -> str:
    return f"{language}, {group}. "


def placeholders(names: str) -> str:
    return f"It may hold {names}."


def changed_template(title: str) -> str:
    return f"{title} (changed)"


# The templates: headings of their groups
SYSTEM_GROUP = "What the model is"
OPENING_GROUP = "What the texts are"
TEXTS_GROUP = "The texts"
ROLES_GROUP = "Asking for roles"
JUDGE_GROUP = "The question and the form of the answer"
HEARD_GROUP = "Evaluations of other neurons"
OWN_GROUP = "Instructions for one neuron"
MISSING_GROUP = "Where an evaluation is missing"
FAMILIES_GROUP = "Kinds of task"
BIAS_GROUP = "Further instructions of the bias lab"
NO_TIE_GROUP = "The question where a tie is not offered"
RANKING_GROUP = "Several responses put in order at once"

# The templates: titles where the name does not say enough
EVIDENCE_QUESTION = "Question, evidence asked for"
SCORES_QUESTION = "Question, scores alone"
JSON_EVIDENCE_FORM = "Form of the answer: JSON with evidence"
JSON_SCORES_FORM = "Form of the answer: JSON, scores alone"
TEXT_EVIDENCE_FORM = "Form of the answer: text with evidence"
TEXT_SCORES_FORM = "Form of the answer: text, scores alone"
QUESTION = "The question"
JSON_FORM = "Form of the answer: JSON"
TEXT_FORM = "Form of the answer: text"

# Why something cannot be done
OPEN_PROJECT_FIRST = "Open a project first."
SELECT_NEURON_FIRST = "Select a neuron first."
NEURON_FOR_EACH_ROLE = "This layer has a neuron for each role."
ONLY_LAYER = "It is the only layer."
DESIGN_HAS_NO_PROBLEM = "The design has no problem."
NEEDS_A_NEURON = "The network needs a neuron."
CLIPBOARD_EMPTY = "There are no neurons on the clipboard."

# Edits, as Undo names them
RENAME_NETWORK = "Rename the network"
CHANGE_WIDTH = "Change the width"
CHANGE_DEPTH = "Change the depth"
ADD_LAYER = "Add a layer"
REMOVE_LAYER = "Remove a layer"
REMOVE_LAYERS = "Remove layers"
ADD_NEURON = "Add a neuron"
MOVE_NEURON = "Move a neuron"
REMOVE_NEURON = "Remove a neuron"
PASTE = "Paste"
ADD_EDGE = "Add an edge"
REMOVE_EDGE = "Remove an edge"
CHANGE_WIRING = "Change the wiring"
CHANGE_ROLE = "Change the role"
TAKE_NETWORK_ROLE = "Take the network's role"
CHANGE_ROLES = "Change the roles"
CHANGE_ORDERS = "Change the orders"
CHANGE_SEED = "Change the seed"
CHANGE_LANGUAGE = "Change the language"
CHANGE_TASK_KIND = "Change the kind of task"
CHANGE_EVIDENCE = "Change the evidence"
CHANGE_VOTE = "Change the vote"
CHOOSE_RULE = "Choose the rule of the vote"
CHANGE_STOP_RULE = "Change the stop rule"
CHANGE_STOP_RULES = "Change the stop rules"
ADD_CHAIR = "Add a chair"
REMOVE_CHAIR = "Remove the chair"
EDIT_TEMPLATE_TEXT = "Edit a template"
FURTHER_FIELDS = "further fields"


def remove_neurons(count: int) -> str:
    return f"Remove {count} neurons"


def change(settings: str) -> str:
    return f"Change the {settings}"


# Pictures of the network

NO_PICTURE_COPIED = "No picture was copied"
PICTURE_IS_COPIED = "The picture of the network is on the clipboard."
SAVE_PICTURE = "Save picture of the network"
