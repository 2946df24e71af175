"""What the page Run says, in the order in which it is seen. Its shards have texts of their own."""

from __future__ import annotations

# The strip above the canvas
PAIR_IN_FOCUS = "Pair in focus"
PREVIOUS_PAIR = "Previous pair"
NEXT_PAIR = "Next pair"
WHICH_PAIR = "Which pair"
PINNED = "Pinned"
FOLLOW_NEWEST = "Follow newest"
NO_RUN_IN_PROGRESS = "No run is in progress"


def pair_number(number: int) -> str:
    return f"Pair {number:,}"


# The bar above dense layers
DENSE_LAYERS = "Dense layers"
CELLS_SHOW = "Cells show"
VERDICT = "Verdict"
STATE = "State"
CHANGED_MIND = "Changed mind"
ORDERS_DIFFER = "Orders differ"
FIND_NEURON = "Find a neuron"
FIND_NEURON_TIP = "Find a neuron (Tab on the canvas)"
ZOOM_OUT = "Zoom out"
ZOOM_IN = "Zoom in"
FIT_NETWORK = "Fit the network into view"
FULL_ZOOM = "100 %"

# The legend of dense layers
CELLS = "Cells: "
STRONG = "by 2 points or more"
WEAK = "by less"
BEING_ASKED = "being asked"
WAITING_STATE = "waiting"
UNSCORED_STATE = "unscored"
SCORED_STATE = "scored"
WRITING_STATE = "writing"
ASKED_STATE = "asked"
CHANGED_TO_A = "changed to A"
CHANGED_TO_B = "changed to B"
UNCHANGED = "as before"
ORDERS_DIFFER_STATE = "orders differ"
ORDERS_AGREE_STATE = "orders agree"

# The canvas while there is no run
RUN_BEGINS = "The run begins…"
RUN_TO_WATCH = "Run the network to watch every neuron judge, pair by pair."
RUN = "Run"
TRY_FIRST = "Try it first…"
CALL = "call"
CALLS = "calls"
FREE = "free"


def reading_run(number: int) -> str:
    return f"Reading run {number:,}…"


def run_without_pairs(number: int) -> str:
    return f"Run {number:,} has no pairs."


def untried_model(model: str, calls: int) -> str:
    return (
        f"{model} has not judged in this project yet. Ten built-in pairs show whether it can, in at most {calls} calls."
    )


def untried_models(models: str, calls: int) -> str:
    return (
        f"{models} have not judged in this project yet. Ten built-in pairs show whether they can, in at most {calls} "
        "calls."
    )


def about(price: str) -> str:
    return f"about {price}"


def at_most(limits: str) -> str:
    return f"at most {limits}"


# The nodes of the canvas
CHAIR = "Chair"


def judge(number: int) -> str:
    return f"Judge {number}"


TEXTS_UNREADABLE = "Its texts cannot be read"
FIXED_ROLES = "The same for all pairs"
GENERATED_ROLES = "Generated for this pair"
CRITERIA_ROLES = "Criteria of this pair"
OWN_ROLES = "Its own for each neuron"
NO_ROLES = "None: one question for all"
ROLES_BEING_GENERATED = "Being generated"
NOT_USED_NODE = "Not used"
NO_ROLE_ON_PAIR = "No role on this pair"
NOT_ASKED = "Not asked"
DECIDED_EARLY = "Decided early"
UNSCORED = "Unscored"
RETRIED_ONCE = "Retried once"


def retried(times: int) -> str:
    return f"Retried {times} times"


OUT_OF_VOTE = "Not in the vote"
STAND_IN = "stand-in"


def stand_in(calls: str) -> str:
    return f"stand-in {calls}"


WAITS_FOR_CHAIR = "Waits for the chair"
FOR_PEOPLE = "For people"


def no_quorum(neurons: str) -> str:
    return f"No quorum: {neurons}"


# The nodes of the canvas: reasons that are too long for a node, in fewer words
NO_VERDICT_IN_ANSWER = "No verdict in it"
OFF_THE_SCALE = "Off the scale"
CUT_AT_LIMIT = "Cut at the limit"
REFUSED_TO_JUDGE = "Refused to judge"
FILTERED = "Filtered"
TOO_LONG = "Too long for it"
NOT_ACCEPTED = "Not accepted"
STOPPED = "Stopped"

# The inspector: its head
INSPECTOR = "Inspector"
SELECT_NODE = "Select a node of the network to read what it says."
PAIR = "Pair"
ROLES = "Roles"
VOTE = "Vote"
NEURON_ABOVE = "Neuron above"
NEURON_BELOW = "Neuron below"
VIEW_OF_NEURON = "View of the neuron"
EVIDENCE = "Evidence"
INPUTS = "Inputs"
PROMPT = "Prompt"
RAW_ANSWER = "Raw answer"
RAW_SHORT = "Raw"
CALLS_TAB = "Calls"


def weight(weight: float) -> str:
    return f", weight {weight:g}"


def chair_place(layers: int) -> str:
    return f"Reads layer {layers} and decides"


def neuron_place(layer: int, neuron: int, width: int, weight: str) -> str:
    return f"Layer {layer}, neuron {neuron} of {width}{weight}"


def calls_by_stand_in(place: str, calls: str) -> str:
    return f"{place}; {calls} calls by a stand-in"


def writing_order(order: str) -> str:
    return f"Writing {order}"


WRITING = "Writing"
ASKED = "Asked"
WAITING = "Waiting"

# The inspector: scores and changes
NO_CHANGE = "No change"
NO_SCORES = "No scores"


def changed_mind(before: str, after: str) -> str:
    return f"Changed its mind from {before} to {after}"


def scores(a: str, b: str) -> str:
    return f"A {a}, B {b}"


# The inspector: evidence
A_FIRST = "A was shown first"
B_FIRST = "B was shown first"
ORDER = "Order"
BOTH = "Both"
AB = "AB"
BA = "BA"
SAMPLE = "Sample"


def order(order: str) -> str:
    return f"Order {order}"


def evidence_in(order: str) -> str:
    return f"Evidence in order {order}"


def sample_of(number: int, total: int) -> str:
    return f"Sample {number} of {total}"


def order_writing(order: str) -> str:
    return f"{order}, writing"


def order_asked(order: str) -> str:
    return f"{order}, asked"


VERDICT_WITHOUT_SCORES = "Gave a verdict without scores"
NO_EVIDENCE = "It gave no evidence."
NO_ANSWER = "There is no answer."
SCORES_FOLLOW = "Scores follow the evidence"
ASKED_NOW = "Asked. Nothing has been written yet."


def asked_ago(time: str) -> str:
    return f"Asked {time} ago. Nothing has been written yet."


RUN_STOPPED_BEFORE = "It was not asked: the run stopped before."
RUN_PAUSED = "It waits: the run is paused."
WAITS_FOR_TURN = "It waits for its turn."


def waits_for_layer(layer: int) -> str:
    return f"It waits for layer {layer}."


def response(letter: str) -> str:
    return f"Response {letter}"


# The inspector: the thread of a neuron through the layers
THROUGH_LAYERS = "Through the layers"
SO_FAR = "so far"
SAID_IN_EACH_LAYER = "What it said in each layer"
NOT_IN_LAYER = "Not in this layer"
NOT_USED = "Not used: no role on this pair"
NOT_ASKED_EARLY = "Not asked: the pair was decided early"
VERDICT_ONLY = "verdict only"


def layer(number: int) -> str:
    return f"Layer {number}"


def why_in_layer(number: int) -> str:
    return f"Why, in layer {number}"


# The inspector: the line of facts below
FACTS = "Tokens, time, price and attempts"
PRICE_UNKNOWN = "price unknown"
FROM_STORE = "from the store"
FIRST_ATTEMPT = "first attempt"
PAIR_DECIDED_EARLY = "The pair was decided early"
NO_ANSWER_YET = "No answer yet"


def tokens_in_and_out(tokens_in: int, tokens_out: int) -> str:
    return f"{tokens_in:,} in, {tokens_out:,} out"


def attempts(count: int) -> str:
    return f"{count} attempts"


# The inspector: inputs of a call
ORDER_AB = "Order AB"
ORDER_BA = "Order BA"
SHOW_PAIR = "Show the pair"
SHOW_ALL = "Show all"
EVALUATIONS_READ = "Evaluations that it read"
READS_PAIR_ALONE = "The first layer reads the pair alone."
ITS_OWN = "Its own"


def reads_nothing(layer: int) -> str:
    return f"It reads nothing of layer {layer}."


def reads(neurons: str, layer: int, evaluations: str, failed: str) -> str:
    return f"{neurons} of layer {layer}, {evaluations}{failed}. Scores are mapped back to A and B."


def failed_evaluations(count: int) -> str:
    return f"; {count:,} of them failed, and the prompt said so"


def show_more(count: int) -> str:
    return f"Show {count:,} more"


def judge_in_layer(name: str, layer: int) -> str:
    return f"{name}, layer {layer}"


def evidence_of(name: str, order: str) -> str:
    return f"Evidence of {name}, order {order}"


# The inspector: the prompt of a call
COPY = "Copy"
COPIED = "Copied"
COPY_PROMPT = "Copy the prompt"
SYSTEM = "System"
SYSTEM_MESSAGE = "System message"
USER = "User"
USER_MESSAGE = "User message"
AS_SENT = "As it was sent."
AS_TO_BE_SENT = "As it will be sent."


def exactly_as_sent(endpoint: str) -> str:
    return f"Exactly as it was sent to {endpoint}."


# The inspector: the raw answer of a call
SHOW = "Show"
ANSWER = "Answer"
THINKING = "Thinking"
COPY_ANSWER = "Copy the answer"
BEING_WRITTEN = "The answer is being written."
NOTHING_WRITTEN = "Nothing has been written yet."
NOT_ASKED_YET = "Not asked yet."


def earlier_answer(number: int, total: int, text: str) -> str:
    return f"– Answer {number} of {total}, which could not be read –\n{text}"


def read_by_rule(rule: str) -> str:
    return f"Read by rule “{rule}”"


def ended_with(reason: str) -> str:
    return f"ended with “{reason}”"


def asked_times(times: int) -> str:
    return f"asked {times} times; the earlier answers stand below"


# The inspector: all calls of a neuron
CALLS_OF_NEURON = "Calls of this neuron"
TOKENS_IN = "In"
TOKENS_OUT = "Out"
TIME = "Time"
PRICE = "Price"
TRIES = "Tries"
A = "A"
B = "B"
TIE = "Tie"

# The inspector: one call in full
CHOSEN_CALL = "The chosen call"
SCORES = "Scores"
ENDPOINT = "Endpoint"
MODEL = "Model"
ANSWERED_BY = "Answered by"
BATCH = "Batch"
PARAMETERS = "Parameters"
CACHE = "Cache"
DETAIL = "Detail"
OWN_TEMPERATURE = "endpoint’s own temperature"
TEMPERATURE_REFUSED = " not applied, as it is refused"
JSON_SCHEMA = "structured output (JSON schema)"
PLAIN_TEXT = "text"
FROM_STORE_FREE = "From the store, at no cost to this run"
MISSING = "Missing: "


def stand_in_for(model: str, own: str) -> str:
    return f"{model}, a stand-in for {own}"


def written_scores(written: str, a: str, tie: str, b: str, on_scale: str) -> str:
    return f"; written: {written}. A {a}, tie {tie}, B {b}. On the scale: {on_scale} or more"


def temperature(value: float) -> str:
    return f"temperature {value:g}"


def most_tokens(tokens: int) -> str:
    return f"at most {tokens:,} tokens"


def thinking_tokens(thinking: int, total: int) -> str:
    return f"{thinking:,} of the {total:,} tokens out"


def cached_tokens(tokens: int) -> str:
    return f"{tokens:,} tokens of the prompt came from the endpoint’s cache"


# The inspector: the probabilities of a call
NO_PROBABILITIES = "No probabilities"


def expected_scores(a: str, b: str, written: str, a_share: str, tie_share: str, b_share: str) -> str:
    return f"Expected scores A {a}, B {b}{written}. A is better: {a_share}, tie: {tie_share}, B is better: {b_share}"


def written(a: str, b: str) -> str:
    return f" (written: A {a}, B {b})"


# The inspector: the pair and its roles
QUESTION = "Question"
NO_QUESTION = "There is no question."
ROLES_OF_PAIR = "Roles of this pair"
ROLES_UNKNOWN = "The roles of this pair are not known yet."
ONE_QUESTION = "All neurons ask the same question."
NO_DESCRIPTION = "Without a description."


def role(name: str) -> str:
    return f"Role {name}"


# The inspector: the vote
VOTE_AND_VERDICTS = "Vote and verdicts"
ALL_LAYERS = "All"
HUMAN_LABEL = "Human label"
NO_VERDICT = "No verdict"
WHEN_ALL_CALLS_IN = "When all calls are in"
NO_QUORUM = "No quorum"


def votes_used(votes: str) -> str:
    return f"{votes} used"


def votes_to_come(used: str, outstanding: int) -> str:
    return f"{used}, {outstanding:,} to come"


PROMPTS_CHANGED = "The prompts have changed since: only those of answered calls are known."
NO_PAIR = "There is no pair."

# The dock of all pairs
ALL_PAIRS = "All pairs"
VIEW_OF_ALL_PAIRS = "View of all pairs"
PAIRS_AND_ACCURACY = "Pairs and accuracy"
SCORE_DIFFERENCE = "Score difference"
SPEED_AND_PRICE = "Speed and price"

# The list of pairs
PAIRS = "Pairs"
PAIRS_OF_RUN = "Pairs of the run"
WHICH_PAIRS = "Which pairs are shown"
ON_THEIR_WAY = "On their way"
DISAGREEMENT = "Network and people disagree"
WITH_UNSCORED = "With unscored calls"
NETWORK_COLUMN = "net"
HUMAN_COLUMN = "human"
NOT_BEGUN = "not begun"
ON_ITS_WAY = "on its way"
FINISHED = "finished"
FINISHED_WITH_FAILURES = "finished, some calls without an answer"
EARLY = "early"
PAIR_UNREADABLE = "This pair cannot be read"


def pair_row(number: int, state: str) -> str:
    return f"Pair {number:,}, {state}"


def network_says(verdict: str) -> str:
    return f"network {verdict}"


def people_say(verdict: str) -> str:
    return f"people {verdict}"


# The grid of scores
SCORE_GRID = "Score differences, neurons by pairs"
GRID_LEGEND = "A up, B down, a dash for a tie, a cross for unscored"
UP = "up"
DOWN = "down"
BLANK_UNSCORED = "blank: unscored"
NARROWER = "Narrower columns, more pairs"
WIDER = "Wider columns, fewer pairs"
TIED = "a tie"
DECIDES = "decides"
NOT_ASKED_IN_GRID = "not asked yet"
NO_EVALUATION = "no evaluation"
TIE_WORD = "tie"


def pairs_in_view(first: int, last: int) -> str:
    return f"{first:,} to {last:,}"


def better_by(letter: str, points: str) -> str:
    return f"{letter} by {points}"


def in_layer(number: int) -> str:
    return f"layer {number}"


def grid_cell(name: str, layer: str, pair: int, calls: str) -> str:
    return f"{name}, {layer}, pair {pair:,}: {calls}"


def order_scores(order: str, a: str, b: str) -> str:
    return f"{order} {a} to {b}"


def order_unscored(order: str, reason: str) -> str:
    return f"{order} unscored: {reason}"


# The charts
WHICH_CHART = "Which chart"
ACCURACY = "Accuracy"
ACCURACY_TITLE = "Accuracy against people"
MACRO_F1 = "Macro-F1"
MACRO_F1_TITLE = "Macro-F1 against people"
KAPPA = "Kappa"
KAPPA_TITLE = "Kappa against people"
WIN_RATE = "Win rate"
WIN_RATE_TITLE = "Win rate of B"
CALLS_PER_SECOND = "Calls per second"
TOKENS_PER_SECOND = "Tokens per second"
NOTHING_YET = "Nothing yet"
MAJORITY = "majority"
CHANCE = "chance"
EVEN = "even"
LABELLED_PAIRS = "labelled pairs"
JUDGED_PAIRS = "judged pairs"
MINUTES = "minutes"
SECONDS = "seconds"


def labelled_with_verdict(pairs: str) -> str:
    return f"{pairs} finished pairs with a human label have a verdict"


def finished_with_verdict(pairs: str) -> str:
    return f"{pairs} finished pairs have a verdict"


def finished_that_count(pairs: str) -> str:
    return f"{pairs} finished pairs count: they have a verdict, and their turn has come"


def e_value(value: float) -> str:
    return f"e = {value:.3g}"


E_VALUE_TIP = (
    "The evidence against a win rate of 50 % by the deciding verdict, valid at any time: 20 or more excludes it."
)

# The charts: why there is nothing to show
NO_RUN = "There is no run yet."
NO_LABELS = "The pairs have no human labels: there is nothing to compare with."
NO_LABELLED_FINISHED = "No labelled pair is finished yet."
NO_LABELLED_VERDICT = "No labelled pair has a verdict."
NO_VERDICT_YET = "No finished pair has a verdict yet."
NO_TURN = "No question has had its turn with all its pairs yet: an interval that is valid at any time waits."
ONE_CLASS = "one class only"
SPEED_LATER = "Shown once the run has gone on for some seconds."
PRICES_UNKNOWN = "The price of the models is unknown. Prices can be given in the settings."


def kappa_undefined(why: str) -> str:
    return f"Kappa is undefined: {why}."


# The charts: the line below
DIFFER = "differ"
ONE_ORDER = "one order only"
TOKENS_IN_FOOT = "tokens in"
TOKENS_OUT_FOOT = "out"
LONGEST = "Longest running:"
LONGEST_NAME = "The call that has been running longest"
ROLES_CALL = "roles"


def orders_differ_tip(pairs: int) -> str:
    return f"The average’s verdict differs between the two orders; {pairs:,} pairs have both"


def unscored_calls(calls: str) -> str:
    return f"{calls} calls"


def neuron(layer: int, neuron: int) -> str:
    return f"neuron {layer}.{neuron}"


def longest_call(pair: int, place: str, time: str) -> str:
    return f"Pair {pair:,}, {place}, {time}"


def longest_call_name(pair: int, place: str, time: str) -> str:
    return f"Longest running: pair {pair:,}, {place}, {time}"


# The page around the canvas

WHICH_RUN_IS_SHOWN = "Which run is shown"
NO_RUN_SHOWN = "No run"
HEIGHT_OF_THE_DOCK = "Height of the dock"
WIDTH_OF_THE_INSPECTOR = "Width of the inspector"


def batches_out(batches: str, calls: str) -> str:
    return f"{batches} with {calls} still out: Run takes the answers in"


def run_number(number: str) -> str:
    return f"Run {number}"


# How a run stands, in the list of runs

GOES_ON = "goes on"
PAUSED = "paused"
ENOUGH_IS_KNOWN = "stopped: enough is known"
STOPPED_AT_ITS_LIMIT = "stopped at its limit"
HALTED = "halted"
STOPPED_BY_USER = "stopped"
FAILED = "failed"

# Why something is not possible now

NOTHING_TO_RETRY = "Nothing to retry: every call has an answer that can be read."
NO_RUN_TO_BEGIN_AFRESH = "No run has both started and untouched pairs."
THIS_IS_THE_FIRST_PAIR = "This is the first pair."
THIS_IS_THE_LAST_PAIR = "This is the last pair."
THERE_IS_NO_RUN = "There is no run."
NO_RUN_IN_PROGRESS_NOW = "No run is in progress."
