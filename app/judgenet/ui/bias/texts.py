"""What the page Bias says, in the order in which it is seen."""

from __future__ import annotations

# The column at the left: judges and probes

WHAT_IS_MEASURED = "What is measured"
JUDGES = "Judges"
NETWORK = "Network"
SINGLE_JUDGE = "Single judge, same model"
FAIREVAL = "FairEval, 3 samples"
LAYERS_NEED_NO_CALLS = "Layers and neurons are measured from the network's own calls."
PROBES = "Probes"


def network(size: str) -> str:
    return f"Network {size}"


# The column at the left: the plan

PLAN = "Plan"
CALCULATING = "Calculating …"
PAIRS = "Pairs"
PROMPTS_PER_JUDGE = "Prompts per judge"
CALLS = "Calls"
ALREADY_PAID = "Already paid"
PRICE = "Price"
UNKNOWN = "unknown"
PRICE_UNKNOWN = "price unknown"
RANKINGS = "Rankings"
TIME = "Time"
NO_TIME = "none"
WHY = "Why?"
WHY_PROBES_SKIP_PAIRS = "Why some probes skip pairs"


def instructions_and_seed(instructions: int, seed: int) -> str:
    return f"{instructions:,}, seed {seed}"


def about(time: str) -> str:
    return f"about {time}"


def no_pairs_for(probes: str) -> str:
    return f"No pairs for {probes}."


def probes_skip_pairs(probes: int) -> str:
    return "1 probe skips some pairs." if probes == 1 else f"{probes} probes skip some pairs."


# The column at the left: progress

PROGRESS = "Progress of the lab"
STOP = "Stop"
STOP_LAB = "Stop the lab"


def calls_so_far(calls: int, planned: str) -> str:
    return f"{calls:,} of about {planned}"


# The column at the left: settings

SETTINGS = "Settings"
INSTRUCTIONS = "Instructions"
INSTRUCTIONS_TO_DRAW = "Instructions, randomly drawn"
ALL_INSTRUCTIONS = "all"
RANDOM_SEED = "Random seed"
OWN_SYSTEM = "Own system"
OWN_SYSTEM_OF_JUDGE = "The judge's own system"
OWN_SYSTEM_TIP = "The system in the pairs that is the judge's own model: the probe Own system needs it"
NO_OWN_SYSTEM = "none"
INVENTED_MAJORITY = "Invented majority"
INVENTED_MAJORITY_PERCENT = "Invented majority, per cent"
INVENTED_MAJORITY_TIP = "The share of people that the probe Bandwagon claims to prefer a response"
REPETITIONS = "Repetitions"
REPETITIONS_OF_A_PROMPT = "Times each prompt is asked by the probe Repeats"
MARGIN = "No-bias margin"
MARGIN_OF_NET_EFFECT = "Margin of the net effect for no bias"
MARGIN_TIP = (
    "A judge is said to have no bias only where an equivalence test rules out a net effect above this margin. Changing "
    "it needs no new calls."
)
PERCENTAGES_BASED_ON = "Percentages based on"
BASED_ON_VALID_PAIRS = "valid pairs"
BASED_ON_ALL_PAIRS = "all pairs, as the paper's code"
BASED_ON_ALL_PAIRS_TIP = "All pairs: as the published code of CoBBLEr divides, unreadable answers included"
RANK_IN_ONE_CALL = "Rank several responses in one call"
RESPONSES_IN_ONE_CALL = "Responses ranked in one call"
NO_RANKINGS = "no rankings"
RESPONSES_UNIT = " responses"
RANK_IN_ONE_CALL_TIP = "Also asks the network's model, once per instruction, to rank this many responses at once"
TIES_ALLOWED = "Judges may call a tie"

# The card: titles of its columns

BIASES = "Biases"
BIAS = "Bias"
SHARE_AND_INTERVAL = "Share and 95 % interval"
SHARE_AND_INTERVAL_SHORT = "Share, 95 % CI"
COIN_ON_SAME_PAIRS = "RANDOM: a coin on the same pairs"
COIN_SHORT = "RANDOM: a coin"
SINGLE_TO_NETWORK = "From single judge to network"
SINGLE_TO_NETWORK_SHORT = "Single to network"
NET_EFFECT = "Net effect"
VALID_N = "Valid n"
FINDING = "Finding"


def share_and_interval_of(judge: str) -> str:
    return f"{judge}, share and 95 % interval"


# The card: a row, its tooltip and its accessible name


def interval(low: str, high: str) -> str:
    return f", interval {low} to {high}"


def interval_95(low: str, high: str) -> str:
    return f", 95 % interval {low} to {high}"


def coin(share: str) -> str:
    return f", a coin {share}"


def row_name(bias: str, share: str, net: str, valid: int, asked: int, finding: str, people: str) -> str:
    return f"{bias}: {share}{net}; {valid:,} valid of {asked:,}. {finding}. {people}"


def row_share(bias: str, share: str) -> str:
    return f"{bias}, share {share}"


def valid_and_asked(hits: int, valid: int, asked: int) -> str:
    return f"{hits:,} of {valid:,} valid pairs, {asked:,} asked"


def net_with_interval(net: str) -> str:
    return f"{net} (95 % interval)"


# The rankings of systems below the card

SIMILARITY_OF_RANKINGS = "Similarity of the rankings"
OVERLAP_AND_RANKS = (
    "Average rank-biased overlap over instructions (p = 0.8, extrapolated; 1: the same ranking). Below: rank of each "
    "system, and its wins per appearance."
)
PEOPLE = "People"
AT_ONCE = "At once"


def valid_rankings(responses: int, valid: int, answers: str) -> str:
    return f"At once: {responses} responses ranked in one call; {valid:,} of {answers} valid."


def overlap(rater: str, other: str, value: str, instructions: int) -> str:
    return f"{rater} and {other} {value} over {instructions:,} instructions"


def overlaps(listed: str) -> str:
    return f"Overlap of rankings. {listed}"


def rankings(listed: str) -> str:
    return f"Rankings of systems. {listed}"


# The pairs behind a bar

PAIRS_BEHIND_BAR = "Pairs behind the bar"
PAIR = "Pair"
QUESTION = "Question"
CHOSEN = "Chosen"
OUTCOME = "Outcome"
UNREADABLE = "unreadable"
NOT_LOADED = "not loaded"
WHICH_PAIRS = "Which pairs"
SHOW_ON_DATA = "Show on page Data"
CLOSE_LIST = "Close the list of pairs"


def all_pairs(count: int) -> str:
    return f"All ({count:,})"


# What was asked and said of a pair behind a bar

ANSWERS_OR_PROMPTS = "Answers or prompts"
ANSWERS = "Answers"
PROMPTS_SENT = "Prompts sent"
ASKED_AND_SAID = "What was asked and said of the pair"
READING = "Reading …"
NOT_ASKED = "Not asked."
NO_ANSWER = "no answer"
NO_ANSWERS = "No answers."


def prompt_title(number: int, prompts: int, prompt: str, target: str) -> str:
    return f"PROMPT {number} OF {prompts}: {prompt}. The bias would choose the {target} response."


def neuron(layer: int, place: int) -> str:
    return f"Layer {layer}, neuron {place}"


def sample(number: int) -> str:
    return f", sample {number}"


def no_verdict(neuron: str, reason: str) -> str:
    return f"{neuron} – no verdict: {reason}"


def answer(neuron: str, first: str, second: str, evidence: str) -> str:
    return f"{neuron} – Response 1: {first}, Response 2: {second}\n{evidence}"


def sent_to(neuron: str, messages: str) -> str:
    return f"To {neuron}\n{messages}"


# Why no lab can be run

OPEN_A_PROJECT = "Open a project first."
PAIRS_ARE_LOADING = "The pairs are still being loaded."
NO_PAIRS = "There are no pairs to judge. Add some on the page Data."
JUDGES_CANNOT_BE_ASKED = "These judges were recorded elsewhere and cannot be asked. Design a network first."
CHOOSE_A_JUDGE = "Choose a judge."
CHOOSE_A_PROBE = "Choose a probe."
LAB_IS_RUNNING = "The bias lab is already running."
COST_IS_CALCULATED = "The cost is being calculated."

# Work in the background, named in its progress and in messages about it

LAB = "Bias lab"
THE_LAB = "The bias lab"
ESTIMATE_LAB = "Estimate the bias lab"
RUN_LAB = "Run the bias lab"
READ_ANSWERS = "Read the answers about a pair"


def read_lab(lab: str) -> str:
    return f"Read {lab}"


def calls_of_planned(calls: int, planned: int) -> str:
    return f"{calls:,} of {planned:,} calls"


def ranking_calls(responses: int, calls: int) -> str:
    return f"Rankings of {responses} responses, {calls:,} calls"


# The page around the card

WHICH_LAB = "Which lab"
WHOSE_BARS = "Whose bars"
REPORT = "Report"
REPORT_TIP = "The report of the project includes the newest lab"
ASK_PEOPLE = "Ask people"
ASK_PEOPLE_TIP = "People answer the same prompts on the label desk and do not see which probe it is."


def answers_of_people(prompts: str, total: str) -> str:
    return f"So far {prompts} of {total} prompts have an answer."


WHAT_THE_LAB_FOUND = "What the lab found"
CLICK_A_ROW = "Click a row to list its pairs."
ALL_PAIRS_AS_IN_THE_PAPER = "all pairs, as in the paper's code"


def share_of(pairs: str) -> str:
    return (
        f"Share of {pairs}. Net effect: pairs where the bias decides less those where its opposite does, of valid "
        "pairs. Order-biased pairs do not count for Length."
    )


def lab_settings(pairs: str, instructions: str, seed: int, margin: str) -> str:
    return f"{pairs} of {instructions}, seed {seed}, no-bias margin {margin}"


PRELIMINARY = "Preliminary: the lab is still running"
OF_ANOTHER_NETWORK = "Measured on another network than the current design"


def reading(lab: str) -> str:
    return f"Reading {lab} …"


FIGURES_APPEAR_SOON = "The lab is running. Figures appear with the first finished prompts."
NO_LAB_YET = "No lab yet. A lab measures the biases of the network beside those of a single judge."
RUN_THE_LAB = "Run lab"


def pairs_of_probe(probe: str, judge: str, hits: str, valid_pairs: str) -> str:
    return f"{probe}, {judge}: {hits} of {valid_pairs}"


# Why something is not possible now

NO_LAB_IS_RUNNING = "No lab is running."
RUN_THE_LAB_FIRST = "Run the lab first."
PAIRS_NOT_LOADED = "These pairs are not among those that are loaded now."
DATA = "Data"
