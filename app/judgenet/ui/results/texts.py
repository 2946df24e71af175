"""What the page Results says, panel by panel in the order in which they stand.

A figure comes worded: as text, or as a whole number that is written with its thousands here.
"""

from __future__ import annotations

from collections.abc import Sequence

# The top bar: which run, which run beside it, and the panels of the page

NO_RUN_YET = "No run yet"
WHICH_RUN = "Which run"
RUNS = "Runs"
COMPARE = "Compare"
COMPARE_WITH_ANOTHER = "Compare with another run"
RUNS_TO_COMPARE_WITH = "Runs to compare with"
COMPARE_TIP = "Compare this run with another one"
NO_OTHER_RUN = "There is no other run to compare with."
NO_COMPARISON = "None"
SECTIONS = "Sections"
GO_TO_SECTION = "Go to a section of this page"
SECTIONS_OF_PAGE = "Sections of this page"
SECTION_WORDS = "section panel go show"
NO_RUN = "There is no run yet."
NOT_IN_THIS_RUN = "Not part of the results of this run."


def run(number: int) -> str:
    return f"Run {number}"


def run_in_text(number: int) -> str:
    return f"run {number}"


def run_named(number: int, name: str, shards: str) -> str:
    return f"Run {number:,} “{name}”{shards}" if name else f"Run {number:,}{shards}"


def choose_another(current: str) -> str:
    return f"{current}, choose another"


def compared_with_run(number: int) -> str:
    return f"Compared with run {number}"


def section_action(panel: str) -> str:
    return f"Results: {panel}"


# The notice above the panels

NO_NOTICE = "Nothing to do"

# Win rate: the figure

WIN_RATE = "Win rate"
WIN_RATE_OF = "Win rate of "
OVER = " over "
NO_VERDICT_YET = "No verdict yet"
VALID_AT_ANY_TIME = "valid at any time"
CORRECTED_AT_ANY_TIME = "Corrected (at any time)"
OTHER_INTERVALS_FIXED = "Agreement with people changes too; the other panels keep intervals for a fixed n."
CORRECTED = "Corrected"
CORRECTED_BY_UNKNOWN_SAMPLING = "Corrected by error rates on labels of unknown sampling"
UNCORRECTED = "Uncorrected: "
SYSTEM = "system"
SIDE = "side"
ABOVE = "above"
BELOW = "below"
NO_HUMAN_LABEL = (
    "No judged pair has a human label: how far these verdicts can be trusted is unknown. Label some pairs chosen at "
    "random."
)


def win_rates(rates: str) -> str:
    return f"Win rate of B over A: {rates}"


def interval_to(low: str, high: str) -> str:
    return f"{low} to {high}"


def interval_uncorrected(interval: str) -> str:
    return f"{interval}, uncorrected"


def corrected_interval(corrected: str, validity: str, network: str) -> str:
    return f"{corrected}, 95 % interval{validity}. Uncorrected, the network says {network}. A tie counts half."


def uncorrected_verdicts(pairs: str) -> str:
    return f"the network's verdicts on {pairs}, with their errors. A tie counts half."


def not_corrected(reason: str) -> str:
    return f"Not corrected: {reason}."


def undecided(what: str) -> str:
    return f"The interval includes 50 %: not decided which {what} is better."


def is_better(where: str) -> str:
    return f" is better: the interval lies {where} 50 %."


# Win rate: all estimates, and the labels of the data file

FILE_LABELS_CHOSEN = "How the labelled pairs of the data file were chosen"
FILE_UNKNOWN_SAMPLING = "unknown sampling"
FILE_RANDOM = "chosen at random from these pairs"
FILE_WITHIN_VERDICTS = "chosen at random within verdicts"
FILE_TARGETED = "chosen for a property of theirs"


def file_labels(labels: str) -> str:
    return f"{labels} came with the data, of pairs"


def pairs_labelled(pairs: str, labels: int) -> str:
    return f"{pairs}, {labels:,} labelled"


# Win rate: what it rests on

RESTS_ON = "Rests on"
RESTS_ON_IN_LINE = "Rests on: "
PLAN_LABELS = "Plan labels"
PLAN_MORE_LABELS = "Plan more labels"
RANDOM_LABELS = "random labels"
LABELS_WITHIN_VERDICTS = "labels, random within verdicts"
LABELS_TARGETED = "labels of a targeted review"
LABELS_UNKNOWN_SAMPLING = "labels of unknown sampling"
HUMAN_LABELS = "human labels"
HAVE_A_VERDICT = "have a verdict"
WITHOUT_ACCEPTED_VERDICT = "without an accepted verdict"
NO_GAIN = " (no gain from the network)"
NETWORK = "Network"


def decided_and_for_people(for_people: int) -> str:
    return f"decided, {for_people:,} for people"


def of_pairs(pairs: str, verdicts: str) -> str:
    return f" of {pairs} {verdicts}"


def without_quorum(pairs: str) -> str:
    return f" of {pairs} without a quorum"


def by_stand_in(calls: str) -> str:
    return f" of {calls} by a stand-in"


def not_counted(pairs: str) -> str:
    return f"Not counted: {pairs}"


def worth_of_a_label(labels: str, gain: str) -> str:
    return f"Each label is worth {labels} labels{gain}"


# Two runs

TWO_RUNS = "Two runs"
CLOSE_COMPARISON = "Close comparison"
RUN = "Run"
FIRST = "First"
SECOND = "Second"
DIFFERENCE = "Difference"
INTERVAL = "95 % interval"
CORRECTED_WIN_RATE = "Win rate of B, corrected"
DIFFERENT_JUDGES = "These are different judges. "
NONE = "none"
THE_NETWORK = "the network"
THE_PROMPTS = "the prompts"
MODEL_ASKED = "the model asked"
MODEL_THAT_ANSWERED = "the model that answered"
NO_COMMON_PAIR = "The two runs have no pair in common: their figures are about different pairs."
THEY_DIFFER = "they differ"


def compared(run: str, other: str) -> str:
    return f"{run} compared with {other}"


def they_differ_in(older: int, newer: int) -> str:
    return (
        "Their win rates are not comparable as they are, only corrected by human labels. From run "
        f"{older} to run {newer} they differ in "
    )


def more_differences(differences: str) -> str:
    return f", and {differences}"


def no_gain(pairs: str, reason: str) -> str:
    return f"On the {pairs} that both have: {reason}."


def gain_for(gain: str, run: str) -> str:
    return f"{gain} for {run} "


def on_common_pairs(labelled: str, common: str, test: str) -> str:
    return f"on the {labelled} that both judged, of {common} in common ({test})."


def mcnemar(p: str) -> str:
    return f"McNemar's exact test, {p}"


def mcnemar_over_questions(p: str) -> str:
    return f"McNemar's test over questions, {p}"


def only_right(run: str) -> str:
    return f"only {run} is right"


def pairs_compared(run: str, other: str, pairs: str) -> str:
    return f"{run} compared with {other}: {pairs}"


def over_questions(questions: int) -> str:
    return f"These pairs hold {questions:,} different questions: intervals are over questions."


# Agreement with people

AGREEMENT = "Agreement with people"
AGREEMENT_BY_AGGREGATION = "Agreement with people by aggregation"
AGGREGATION = "Aggregation"
ACCURACY_PERCENT = "Accuracy, %"
MACRO_F1 = "Macro-F1"
KAPPA = "Kappa"
N_USED = "n used"
INTERVALS_IN_BRACKETS = "95 % intervals in brackets"
INTERVALS_AT_ANY_TIME = "95 % intervals, valid at any time"
NO_LABELS = (
    "The network can be compared with people where pairs have both a human label and a verdict. Labels come with the "
    "pairs, in a column that is taken for the label when they are imported, or are given on the page Labels."
)
SHOW_PAIRS_UNDER_DATA = "Show the pairs under Data"


def always(label: str) -> str:
    return f"Always {label}"


def let_it_decide(aggregation: str) -> str:
    return f"Let {aggregation} give the verdict"


# Where they differ

WHERE_THEY_DIFFER = "Where they differ"
NETWORK_SAID = "Network said"
PEOPLE_SAID = "People said"


def off_the_diagonal(pairs: str, total: int) -> str:
    return f"{pairs} of {total:,} off the diagonal. Click a count for its pairs."


def rows_by_columns(rows: str, columns: str) -> str:
    return f"{rows} by {columns}"


# Ranking of the systems

RANKING = "Ranking of the systems"
RANKING_SHOWS = "Ranking shows"
RATINGS = "Ratings"
WINS = "Wins"
SYSTEMS_BY_RATING = "Systems by rating"
WINS_BY_SYSTEM = "Wins of the row against the column"
RATINGS_OF_SYSTEMS = "Ratings of the systems"
RATINGS_HINT = "Point at a system for its figures."
SYSTEM_COLUMN = "System"
RATING = "Rating"
WON_TIED_LOST = "Won, tied, lost"
EQUAL_LENGTH = "Equal length"
BY_PEOPLE = "By people"
WINS_OF_GAMES = "Wins of the row, of its games"
RANK = "Rank"
MEAN = "Mean"
TIE_IS_HALF_A_WIN = "A tie is half a win to each."
ALL_SEPARATED = "Valid at any time, each system is separated from the next."
NONE_SEPARATED = "No system is separated from the next at any time"
BEATS = " beats "


def pairs_of(system: str) -> str:
    return f"pairs of {system}"


def ranked_by(aggregation: str, pairs: str, questions: str) -> str:
    return f"{aggregation}, {pairs} of {questions}"


def system_rating(system: str, rating: str, interval: str, won: str, ties: str) -> str:
    return f"{system}: {rating} ({interval}), {won} won, {ties}"


def better_from_worse(better: str, worse: str) -> str:
    return f"{better} from {worse}"


def both(first: str, second: str) -> str:
    return f"{first} and {second}"


def matches_chosen(pairs: str) -> str:
    return f" The run chose its matches: {pairs} pairs."


def separated(systems: str) -> str:
    return f"Separated at any time: {systems}"


def not_separated(systems: str) -> str:
    return f"; not {systems}"


def circles(count: int, triples: str) -> str:
    return f"{count:,} of {triples} of systems form a cycle"


def overlap_with_people(overlap: str, pairs: str) -> str:
    return f"Overlap with the ranking by people (RBO, p = 0.8): {overlap} over {pairs}"


def overlap_by_question(overlap: str) -> str:
    return f", question by question {overlap} on average"


# How many labels?

HOW_MANY_LABELS = "How many labels?"
TARGET_WIDTH = "Target width"
TARGET_WIDTH_IN_POINTS = "Target width of the interval, in points"
WIDTH_BY_LABELS = "Width of the interval against number of labels"
LABEL_THESE_NEXT = "Label these next"
WITHIN_VERDICTS = "Within verdicts"
AT_RANDOM = "At random"
PPI = "PPI++"
LABELS_ONLY = "Labels only"
WITHIN_VERDICTS_METHOD = "Corrected, labels drawn within each verdict"
AT_RANDOM_METHOD = "Corrected, labels drawn from all pairs"
PPI_METHOD = "PPI++, labels drawn from all pairs"
LABELS_ONLY_METHOD = "Human labels only"
NOTHING_TO_PLAN = "No pair has a verdict yet, so that nothing can be planned."
IMPOSSIBLE = "Impossible"
TO_LABEL_NEXT = "to label next"
MORE_LABELS_DO_NOT_HELP = "More labels of these pairs do not help: more pairs, or a wider interval, would."
HOW_PAIRS_ARE_DRAWN = "Pairs are drawn at random within each verdict, more where people and network differ more."
LABELS_IN_ALL = "labels in all"
TARGET = "Target"


def points(number: str) -> str:
    return f"{number} points"


def labels_so_far(labels: str, pairs: int) -> str:
    return f"{labels} so far, {pairs:,} judged pairs"


def interval_of(points: int) -> str:
    return f"an interval {points} points wide"


def labels_give_interval(points: int) -> str:
    return f"labels in all give an interval {points} points wide"


def of_verdict(labels: int, verdict: str) -> str:
    return f"{labels:,} of verdict {verdict}"


def to_label_next(split: str) -> str:
    return f"to label next: {split}"


def in_all(labels: str) -> str:
    return f"{labels} in all"


def in_all_at_best(labels: str, points: str) -> str:
    return f"{labels} in all ({points} points at best)"


def assumed(assumption: str) -> str:
    return f"Assumed: {assumption}."


def not_random(labels: str) -> str:
    return (
        f"The existing {labels} were not chosen at random: they show how often people and network agree, but do not "
        "count."
    )


def width_of(method: str, labels: str, pairs: int, width: str) -> str:
    return f"{method}: {labels} of {pairs:,} pairs give an interval {width} points wide."


def points_tick(points: str) -> str:
    return f"{points} pts"


# Accuracy by layer, neuron, role or task

ACCURACY_BY = "Accuracy by"
ACCURACY_BY_PARTS = "Accuracy by layer, neuron, role or task"
ACCURACY_BY_LAYER = "Accuracy by layer"
LAYER = "Layer"
NEURON = "Neuron"
ROLE = "Role"
TASK = "Task"
BREAKDOWN_HINT = "Point at a mark for its interval and n."
ROW_LEADS_TO_PAIRS = "A row, or a mark, leads to the pairs that it has wrong."
ORDERS_DIFFER = "Orders differ"
CALLS_SCORED = "Calls scored"
CHANGED_ITS_MIND = "Changed its mind"
GAIN_BY_CHANGES = "Gain by it"
NO_ROLES = "No neuron had a role."
PAIRS_JUDGED = "Pairs judged"
NO_TASK = "(no task)"
MOST_COMMON_LABEL = "Most common label, %"
TASK_BASELINE = "The vertical mark is the accuracy of always giving the most common label of the task."


def accuracy_by(part: str) -> str:
    return f"Accuracy by {part}"


def dashed_line(label: str, accuracy: str) -> str:
    return f"The dashed line is always {label}, {accuracy}."


def layer(number: int) -> str:
    return f"Layer {number}"


def best_of_many(neurons: int) -> str:
    return f"{neurons:,} neurons are compared: the best of them looks better here than it is."


def verdict_of_role(role: str, roles: str) -> str:
    return (
        f"A {role}'s verdict on a pair merges all its calls, whichever neuron had it; {roles} judged different pairs."
    )


def accuracy_of(name: str, accuracy: str, interval: str, used: str) -> str:
    return f"{name}: accuracy {accuracy} {interval}, n {used}."


# Does the order matter?

DOES_ORDER_MATTER = "Does the order matter?"
VERDICT_OF_ONE_ORDER = "c1*, over the calls of one order"
ALL_CALLS = "All calls"
ORDERS_DIFFER_SELECTION = "the two orders differ"
FIRST_WON_BOTH = "the response shown first won both times"
LAST_WON_BOTH = "the response shown last won both times"
TIE_IN_ONE_ORDER = "a tie in one of the two orders"


def order_bar(name: str, parts: str, differ: str) -> str:
    return f"{name}: {parts}, differ {differ}"


def order_bars(bars: str) -> str:
    return f"Verdicts in both orders. {bars}"


# Do the probabilities mean what they say?

RELIABILITY = "Do probabilities mean what they say?"
PROBABILITY_SOURCE = "The probability comes from"
CALLS = "Calls"
SOURCE_SCORES = "Scores"
SOURCE_LEARNED = "Learned"
PREFER_B_BY_PROBABILITY = "Share where people prefer B, by probability"
RELIABILITY_HINT = "Point at a bin for its figures."
PEOPLE_PREFER_B = "People prefer B"
CALIBRATED = "Calibrated"
PROBABILITY_AXIS = "probability that B is better, %"


def n_of_pairs(count: int, total: int) -> str:
    return f"{count:,} of {total:,} pairs"


def not_available(reason: str) -> str:
    return f"n/a – {reason}."


def ties_left_out(ties: int) -> str:
    return f" {ties:,} pairs that people call a tie are left out."


def probability_is(meaning: str, ties: str) -> str:
    return f"The probability is {meaning}.{ties}"


def calibration_error(error: str, interval: str) -> str:
    return f"Calibration error {error} {interval}"


def error_by_chance(error: str) -> str:
    return f"; calibrated probabilities would show {error} by chance"


def brier_score(error: str, brier: str, constant: str) -> str:
    return f"{error}. Brier score {brier}; a constant answer {constant}."


def probability_bin(low: str, high: str, pairs: int, mean: str, observed: str, interval: str) -> str:
    return (
        f"Probability {low} to {high} %: on {pairs:,} pairs with a mean of {mean} people prefer B in {observed} "
        f"{interval}."
    )


def calibrated(share: str) -> str:
    return f"Calibrated: {share}"


# Scores by token probabilities

TOKEN_PROBABILITIES = "Scores by token probabilities"
PROBABILITIES_TABLE = "Soft votes beside votes by scores"
VOTE_COLUMN = "Vote"
SOFT_COLUMNS = ("Accuracy", "κ", "Brier score", "n")
LARGEST_PROBABILITY = "Calls by the largest of the probabilities of A, tie and B"
LARGEST_BINS = ("below 50 %", "50 to 70 %", "70 to 90 %", "90 % or more")
NO_LABELS_FOR_PROBABILITIES = "No pair has a human label: there is no accuracy, kappa or Brier score to compare."
BRIER_MEANING = "Brier score: 0 is best, 2 worst. Expected scores are rarely equal, so their votes are rarely ties."


def calls_by_probabilities(used: str, others: Sequence[str]) -> str:
    whole = f"Expected scores in {used} calls."
    return f"{whole} The others have the scores of their text: {'; '.join(others)}." if others else whole


def calls_by_text(calls: str, source: str) -> str:
    reason = source.removeprefix("sampled text, as ")
    return f"{calls} {reason}"


def mean_entropy(entropy: str) -> str:
    return f"entropy {entropy}"


def by_expected_scores(aggregation: str) -> str:
    return f"{aggregation}, expected scores"


def by_sampled_text(aggregation: str) -> str:
    return f"{aggregation}, sampled text"


def brier_missing(reason: str) -> str:
    return f"No difference: {reason}."


def brier_difference(difference: str, pairs: str, significant: bool) -> str:
    significance = "significant" if significant else "not distinguishable from chance"
    compared = f"Brier score of soft votes less that of sampled text: {difference}, {significance}"
    return f"{compared}; {pairs}."


def sharpness_read_out(rows: str) -> str:
    return f"{LARGEST_PROBABILITY}. {rows}"


# People in the loop

REVIEW = "People in the loop"
ACCURACY_BY_REVIEW = "Accuracy against the share that people review"
REVIEWED_PAIRS = "Reviewed pairs count as right here and enter no estimate."
NO_TWO_ANNOTATORS = "Agreement between annotators: n/a – no pair has labels by two named annotators."
LEAST_SURE_FIRST = "Least sure first"
UNREVIEWED_PART = "Unreviewed part"
PEOPLE = "People"
REVIEWED_BY_PEOPLE = "% reviewed by people"


def no_review(reason: str) -> str:
    return f"n/a – {reason}. Label some pairs."


def labelled(count: str) -> str:
    return f"{count} labelled"


def gain_of_review(gain: str) -> str:
    return f"Reviewing the least sure pairs first gains {gain} on average over reviewing at random."


def review_needed(target: str, share: str, interval: str) -> str:
    return (
        f"To be right as often as people agree with each other ({target}), they must review {share} {interval} of the "
        "pairs."
    )


def no_share_to_review(reason: str) -> str:
    return f"Share to review: n/a – {reason}."


def annotators_agree(annotators: int, agreement: str, pairs: str, alpha: str, ordinal: str, fleiss: str) -> str:
    return (
        f"{annotators:,} annotators agree on {agreement} of their pairs of labels ({pairs}); Krippendorff's alpha "
        f"{alpha}, ordinal {ordinal}; Fleiss' kappa {fleiss}."
    )


def annotation_saved(share: str) -> str:
    return f"By the formula, reviewing pairs at random saves {share} of the annotation."


def no_annotation_saved(reason: str) -> str:
    return f"Annotation saved: n/a – {reason}."


def reviewed_least_sure(share: str, accuracy: str, interval: str, n: int, mistakes: str) -> str:
    return f"{share} reviewed, the least sure first: {accuracy} {interval} right, n {n:,}; {mistakes} corrected."


def reviewed_at_random(share: str, accuracy: str) -> str:
    return f"{share} reviewed at random: {accuracy}."


def not_reviewed(share: str, accuracy: str, interval: str, n: int) -> str:
    return f"The part that nobody reviewed, {share} of the pairs: {accuracy} {interval}, n {n:,}."


# Judge instead of people?

JUDGE_INSTEAD = "Judge instead of people?"
ANNOTATORS_ARE = "Annotators are"
EXPERTS = "Experts"
SKILLED = "Skilled"
CROWD = "Crowd"
JUDGES_AGAINST_ANNOTATORS = "Judges against the annotators"
JUDGE = "Judge"
WINS_AGAINST = "Wins against"
AS_CLOSE = "As close, %"
PAIRS = "Pairs"
MAY_REPLACE = "May replace"
YES = "yes"
NO = "no"
ALT_TEST = (
    "Alternative Annotator Test: each annotator is left out in turn, and judge and annotator are compared with "
    "the others. A judge that wins against half of the annotators or more may replace people."
)


def epsilon_and_annotators(epsilon: str, annotators: int) -> str:
    return f"ε = {epsilon}, {annotators:,} annotators"


def not_tested(reason: str) -> str:
    return f"Not tested: {reason}."


# Verdicts with a guarantee

GUARANTEE = "Verdicts with a guarantee"
ERROR_AT_MOST_PERCENT = "Error at most, in per cent"
ERROR_AT_MOST = "Error at most (α)"
RISK = "Risk that it is more"
RISK_DELTA = "Risk that it is more (δ)"
CONFIDENCE = "Confidence"
CONFIDENCE_MEASURE = "What tells how sure a verdict is"
AGREEMENT_OF_CALLS = "Agreement of calls"
AGREEMENT_OF_ORDERS = "Agreement of orders"
AGREEMENT_OF_NEURON_VOTES = "Agreement of neurons"
AGREEMENT_OF_SAMPLES = "Agreement of samples"
MARGIN_OF_SCORES = "Margin of scores"
LEARNED_PROBABILITY = "Learned probability"
ENTROPY = "Entropy of probabilities"
CHART = "Chart"
BY_ERROR = "By error"
BY_LABELS = "By labels"
SHARE_ACCEPTED = "Share of verdicts accepted"
SHARE_BY_ERROR = "Share of verdicts accepted against the error"
SHARE_BY_LABELS = "Share of verdicts accepted against labels"
GUARANTEE_HINT = "Point at a mark for its numbers."
ERROR_AXIS = "error at most"
ACCEPTED = "Accepted"
ANY_PROMISE = "Any promise"
NOW = "now"
SAVE_RULE = "Save this rule in the project"
SAVE_RULE_TIP = "It decides new runs of this project. Can be undone."
QUEUE_FOR_PEOPLE = "Queue for people"
ALL_QUEUED_LABELLED = "Every pair for people is labelled."
SAVE_LIST = "Save the list…"
LABEL_AT_RANDOM = "Label at random"
REMOVE_RULE = "Remove it"
REMOVE_RULE_TIP = "Remove the rule from the project"
QUEUE_OF_RUN = "Queue the pairs that the rule of this run left to people"
SAME_RULE = "The same rule decides new runs."
GUARANTEE_AT_THE_END = "What can be promised is computed when the run has ended."
COMPUTING = "Computing …"
NOTHING = "Nothing"
NOTHING_WITH_THESE_LABELS = "can be promised with these labels"
NO_NUMBER_OF_LABELS = "no number of labels is likely to be enough"
LABELS_FIRST = "labels are needed first"
LABELS_MIGHT_DO = "labels might do"
LABELS_BEYOND_RUN = "labels might do, more than this run has questions"
CHOOSE_FIRST = (
    "Choose error, risk, confidence and the number of labels before you look: a promise holds for one choice and one "
    "look. A larger error does not always accept more: its thresholds are tested from another start."
)
NOTHING_PROMISED_YET = "Nothing can be promised yet."
PROJECT_HAS_RULE = "The project has this rule."
NETWORK_DIFFERS = "The current network differs from that of this run: run it, and choose the rule from the new run."


def other_network(why: str) -> str:
    return f"The current network is a different one. {why}"


def without_verdict(pairs: int) -> str:
    return f", {pairs:,} without a verdict"


def run_decided(accepted: str, for_people: int, labelled: int, missing: str) -> str:
    return f"This run decided {accepted} pairs; {for_people:,} are for people, {labelled:,} of them labelled{missing}."


def queue_left(pairs: str) -> str:
    return f"Queue {pairs} that this run left to people"


def rule_decides_new_runs(rule: str) -> str:
    return f"New runs are decided by a rule. {rule}"


def labels_and_pairs(labels: str, judged: int, total: int) -> str:
    return f"{labels}, {judged:,} of {total:,} pairs with a verdict"


def verdicts_accepted(accepted: int, judged: int, confidence: str) -> str:
    return f"{accepted:,} of {judged:,} verdicts accepted, with a confidence of {confidence} or more"


def pairs_for_people(unlabelled: int) -> str:
    return f"pairs for people, {unlabelled:,} of them without a label"


def nothing_promised(reason: str) -> str:
    return f"Nothing can be promised: {reason}."


def promise(probability: str, error: str, wrong: int, labels: str) -> str:
    return (
        f"With a probability of {probability} %, over the choice of the labels, at most {error} % of such verdicts are "
        f"wrong: {wrong:,} of {labels} are."
    )


def nothing_at_error(percent: int) -> str:
    return f"Error at most {percent} %: nothing can be promised."


def accepted_at_error(percent: int, accepted: str, share: str, for_people: str) -> str:
    return f"Error at most {percent} %: {accepted} verdicts accepted ({share} %), {for_people} pairs for people."


def accepted_with_labels(labels: str, share: str, used: str, promised: str) -> str:
    return (
        f"{labels}: {share} % of the verdicts are accepted on average, if verdicts err as the {used} say; something "
        f"can be promised in {promised} % of the draws."
    )


# What if

WHAT_IF = "What if"
LAYERS = "Layers"
SAMPLES_PER_CALL = "Samples per call"
ORDERS = "Orders"
BOTH_ORDERS = "Both"
A_FIRST = "A first"
B_FIRST = "B first"
VOTE_OF_ALL = "Vote of all layers, c2*(all)"
VOTE_OF_LAST = "Vote of the last layer kept"
AVERAGE_OF_ALL = "Average of all, c1*"
VOTE = "Vote"
WHO_VOTES = "Who has a vote"
EACH_NEURON = "Each neuron"
EACH_CALL = "Each call"
TIED_VOTER = "A tied voter"
ABSTAINS = "Abstains"
VOTES_FOR_A_TIE = "Votes for a tie"
EQUAL_VOTES = "Equal votes"
EQUAL_VOTES_TIE = "Are a tie"
AVERAGE_DECIDES = "Average decides"
SHOW_THEM = "Show them"
SHOW_CHANGED_PAIRS = "Show the pairs whose verdict changes"
BACK_TO_RUN = "Back to the run as it was"
READ_THEM = "Read them"
READ_CALLS = "Read the calls of the run"
ONE_LAYER_ONLY = "The network has one layer."
ONE_ORDER_SHOWN = "The responses were shown in one order only."
LAYER_1 = "layer 1"
VERDICT_OF_WHOLE_NETWORK = (
    "A chair and a learned or accepted verdict depend on the whole network: the vote of all neurons is shown instead."
)
NO_ACCURACY = "accuracy: no pair has both a human label and a verdict"
RUN_AS_IT_WAS = "the run as it was"
NO_LABEL_TO_COMPARE = "against the run: no label"
CHANGED_BY_WHAT_IF = "the smaller network under “What if” changes the verdict"


def neurons_of_layer(layer: int) -> str:
    return f"Neurons, layer {layer}"


def layer_left_out(layer: int) -> str:
    return f"Layer {layer} is left out."


def layer_was_read(layer: int, after: int) -> str:
    return f"Layer {after} has read all of layer {layer}: without some of it, it would have said something else."


def layer_of_one(layer: int) -> str:
    return f"Layer {layer} has one neuron."


def read_both_orders(layer: int) -> str:
    return f"Layer {layer} has read both orders: one alone would be another network."


def layers_up_to(layer: int) -> str:
    return f"layers 1 to {layer}"


def only_last_layer(layer: int, kept: str) -> str:
    return f"Only the last layer kept can lose neurons, and both orders stay: layer {layer} has read {kept}."


def first_neurons_kept(layer: int, neurons: str, total: int) -> str:
    return f"Of layer {layer} the first {neurons} of {total:,} are kept."


def accuracy_on_pairs(interval: str, pairs: str) -> str:
    return f"accuracy {interval}, {pairs}"


def calls_per_pair_saved(saved: str) -> str:
    return f"calls per pair{saved}"


def against_run(interval: str) -> str:
    return f"against the run {interval}"


def verdicts_change(count: int, verdicts: str) -> str:
    return f"{count:,} of {verdicts} change"


def right_and_wrong(right: int, wrong: int, p: str) -> str:
    return f": {right:,} became right, {wrong:,} wrong; {p}"


# Accuracy against the size of the network

ACCURACY_AGAINST = "Accuracy against"
NEURONS_CHOICE = "Neurons"
ACCURACY_BY_NEURONS = "Accuracy against number of neurons"
ACCURACY_BY_CALLS = "Accuracy against calls per pair"
NO_CURVE = "n/a – no pair has both a human label and a verdict. Label some pairs to see how small it may be."
NO_SMALLER_NETWORK = "No smaller network that is exact stays within one point of the whole one."
NEURONS_AXIS = "neurons"
CALLS_PER_PAIR = "calls per pair"
ONE_ORDER = "One order"
FEWER_SAMPLES = "Fewer samples"
LAYER_1_ONLY = "layer 1 only"
IN_BOTH_ORDERS = "both orders"
STOPPED_EARLY = (
    "The run had stop rules: not every call of a smaller network is on record. See “Ask only where it matters”."
)
CRITERIA_OF_QUESTIONS = (
    "Each question has criteria of its own, and so neurons of its own: there is no smaller network that all pairs "
    "share."
)
SMALLER_AT_THE_END = "Smaller networks can be evaluated when the run has ended."
READING_STOPPED = "Reading the calls was stopped."
NO_NEURON_ANSWERED = "No neuron has answered: there is nothing to leave out."


def smallest(neurons: str) -> str:
    return f"Smallest network within one point: {neurons}"


def smallest_instead_of(size: str, calls: str, accuracy: str, difference: str, interval: str) -> str:
    return (
        f"The smallest within one point has {size} instead of {calls}: {accuracy}, {difference} {interval} against the "
        "whole network."
    )


def network_of(layers: str) -> str:
    return f"Network {layers}"


def layer_joins(layer: int) -> str:
    return f"layer {layer} joins"


def in_one_order(order: str) -> str:
    return f"{order} only"


def network_size(neurons: str, layers: str, orders: str, samples: str, calls: str) -> str:
    return f"{neurons} in {layers}, {orders}{samples}: {calls} calls per pair"


def size_accuracy(size: str, accuracy: str, interval: str, n: str) -> str:
    return f"{size}. Accuracy {accuracy} {interval}, n {n}"


def mean_over_choices(choices: int, lowest: str, highest: str) -> str:
    return f"; mean over {choices:,} choices of neurons, {lowest} to {highest} %"


# Ask only where it matters

ASK_WHERE_IT_MATTERS = "Ask only where it matters"
FROM_RECORDED_RUN = "from the recorded run, no cost"
STAGES = "Stages"
LAYER_BY_LAYER = "Layer by layer"
NEURON_BY_NEURON = "Neuron by neuron"
TWO_NEURONS = "Two neurons"
FIRST_STAGE = "First stage"
NEXT_STAGE = "Next stage"
NEXT_STAGE_SHORT = "Then"
DECIDED_WHERE = "Decided where"
PAIR_DECIDED_WHERE = "A pair is decided where"
ORDERS_AGREE = "Both orders agree"
NEURONS_AGREE = "All neurons agree"
VOTE_IS_DECIDED = "The vote cannot change"
LEAD_IN_VOTES = "Lead in votes"
DIFFERENCE_OF_SCORES = "Difference of scores"
AT_LEAST = "At least"
USE_RULE = "Use this rule in the design"
USE_RULE_TIP = "Put this stop rule into the network of the project"
RULE_LOOKS_BETTER = (
    "A rule that is chosen on the pairs on which it is measured looks better than it is: try it on others before you "
    "rely on it."
)
WHOLE_NETWORK_STAND_IN = (
    "A chair and a learned verdict depend on the whole network: the vote of all neurons is shown instead."
)
ACCURACY = "Accuracy"
EVERY_CALL = "Every call is made"


def lead(votes: str) -> str:
    return f"{votes} votes"


def as_it_ran(early: str, calls: str, saved: str, price: str, asked: str) -> str:
    return (
        f"As it ran: {early} pairs decided early, {calls} calls made ({saved} saved{price}); pairs asked: {asked}. "
        "Pairs whose later calls are not on record have no verdict below."
    )


def accuracy_on(interval: str, pairs: str) -> str:
    return f"accuracy {interval}, {pairs} labelled pairs"


def of_the_calls(calls: str) -> str:
    return f"of the calls: {calls}"


def against_everything(interval: str) -> str:
    return f"against asking everything {interval}"


def stage_on(stage: str, pairs: str) -> str:
    return f"{stage} on {pairs} pairs"


def asked(stages: str) -> str:
    return f"Asked: {stages}."


def last_stage_alone(accuracy: str) -> str:
    return f"The last stage alone: {accuracy}."


def pairs_unknown(pairs: int) -> str:
    return f"{pairs:,} pairs have no verdict: the calls that they need are not on record."


# What the votes are worth, which neurons go together, which neuron adds most

VOTES_WORTH = "What the votes are worth"
EFFECTIVE_VOTES = "Effective votes"
BASIS = "By"
VOTES_COLUMN = "Votes"
MEAN_R = "Mean r"
CHOSEN = "Chosen"
CHOOSE_NONE = "Choose none"
CHOOSE_IN_MAP = "Choose neurons in the map to see what they are worth together."
NEURONS_TOGETHER = "Which neurons go together"
CORRELATION_OF = "Correlation of"
ERRORS = "Errors"
VERDICTS = "Verdicts"
MAP_HINT = "Point at a cell for its two neurons. Click names, cells or branches to choose neurons."
IS_CHOSEN = "chosen"
IS_NOT_CHOSEN = "not chosen"
ADDS_MOST = "Which neuron adds most"
CHOSEN_BY = "Chosen by"
BY_EFFECTIVE_VOTES = "By effective votes"
PANELS_BY_SIZE = "Chosen panels by size"
PANELS_ACCURACY = "Accuracy of chosen panels by size"
PANELS_HINT = "Point at a mark for its figures."
ADDS = "Adds"
ALL_OF_SIZE_PERCENT = "All of this size, %"
WITH_FIRST_PERCENT = "With the first, %"
MORE_POINTS = "More, points"
WITH_FIRST = "With the first"
ALL_OF_SIZE = "All of this size"


def chosen_neurons(count: int) -> str:
    return f"Chosen ({count:,})"


def missing_is_not_right(missing: int) -> str:
    return f"By errors, a missing verdict counts as not right ({missing:,} missing)."


def count_of_pairs(count: str) -> str:
    return f"{count} pairs"


def correlations(basis: str, neurons: str) -> str:
    return f"Correlations of the {basis} of {neurons}, those that are alike side by side"


def never_varies(neurons: str, n: int) -> str:
    return f"{neurons}: r n/a – one of the two never varies, n {n:,}."


def correlation(neurons: str, r: str, basis: str, n: int) -> str:
    return f"{neurons}: r {r} of their {basis}, n {n:,}."


def joined_at(neurons: str, distance: str) -> str:
    return f"{neurons}: joined at 1 − r = {distance}."


def pairs_and_folds(pairs: str, folds: int) -> str:
    return f"{pairs} pairs, {folds} folds"


def against_mean(gain: str) -> str:
    return f", {gain} against the mean of all"


def neuron_added(size: str, neuron: str, share: str, gain: str, n: int) -> str:
    return f"{size}, {neuron} added: {share}{gain}, n {n:,}."


def all_panels(size: str, share: str, n: int) -> str:
    return f"{size}: all panels of this size are right on {share}, n {n:,}."


def panels_with_first(size: str, share: str, n: int) -> str:
    return f"{size}: panels with the neuron chosen first are right on {share}, n {n:,}."


# Learned aggregation

LEARNED_AGGREGATION = "Learned aggregation"
LEARNED_AND_OTHERS = "Learned aggregations compared with the others"
LEARN_WEIGHTS = "Learn weights"
LEARNING = "Learning …"
LEARN_AGAIN = "Learn again"
USE_IN_NETWORK = "Use in the network"
WEIGHTS = "Weights of the neurons"
WEIGHTS_HINT = "Point at a mark for the weight of its neuron."
WHAT_LEARNING_DOES = "How much each neuron's vote counts can be learned from labels. No pair is used to judge itself."
WEIGHTS_OF_ALL_PAIRS = "No pair is used to judge itself. The weights below are fitted to all labelled pairs."
WEIGHT = "Weight"
ANY_SIGN = "any sign"
NEURON_AXIS = "neuron"
LEARN_AT_THE_END = "Weights can be learned when the run has ended."
NOTHING_LEARNED = "Nothing was learned yet."
NETWORK_HAS_WEIGHTS = "The network has these weights."


def cross_fitted(labels: str) -> str:
    return f"cross-fitted, {labels}"


def too_few_labels(labelled: int, needed: int, missing: str) -> str:
    return f"{labelled:,} labelled pairs are too few to learn from: {needed} are needed. Label {missing}."


def weight_of(neuron: str, weight: str, labels: int) -> str:
    return f"{neuron}: weight {weight}, learned from {labels:,} labels."


# What a layer changed

WHICH_LAYER = "Which layer"
KEPT = "kept"
BECAME_RIGHT = "became right"
BECAME_WRONG = "became wrong"
STAYED_WRONG = "stayed wrong"


def layer_to_layer(before: int, after: int) -> str:
    return f"Layer {before} to {after}"


def what_layer_changed(layer: int) -> str:
    return f"What layer {layer} changed"


def vote_to_vote(before: int, after: int) -> str:
    return f"c2*(l{before}) to c2*(l{after})"


def layer_said(layer: int) -> str:
    return f"Layer {layer} said"


# Do the layers become alike?

LAYERS_ALIKE = "Do the layers become alike?"
AGREEMENT_OF_NEURONS = "Agreement between neurons"
DIVERSITY_BY_LAYER = "Diversity and changes of mind by layer"
ONE_NEURON = "n/a – a layer of one neuron has no diversity."
ONE_LAYER = "The network has one layer: no neuron can change its verdict."
DISAGREE = "Disagree"
EVIDENCE_DIFFERS = "Evidence differs"
CHANGED_MIND = "Changed mind"
TWO_NEURONS_DISAGREE = "two neurons disagree"
DISTANCE_OF_TEXTS = "distance of two texts about a pair"
NEURONS_CHANGED = "neurons changed their mind"


def gain_by_changes(gain: str) -> str:
    return f", {gain} of accuracy by it"


def layer_changed(layer: int, changed: int, verdicts: int, towards: int, away: int, gain: str) -> str:
    return (
        f"Layer {layer}: {changed:,} of {verdicts:,} verdicts changed, {towards:,} towards most others, {away:,} "
        f"away{gain}."
    )


def disagreement_changed(before: int, after: int, change: str, pairs: str) -> str:
    return f"Disagreement from layer {before} to layer {after}: {change} ({pairs})."


def layer_mean(layer: int, what: str, mean: str, interval: str, n: int) -> str:
    return f"Layer {layer}, {what}: {mean} {interval}, n {n:,}."


# Roles generated by the model

GENERATED_ROLES = "Roles generated by the model"
LARGER_IS_MORE = "the larger, the more pairs"

# Requirements

REQUIREMENTS = "Requirements"
WHAT_REQUIREMENTS_ARE = (
    "A release can depend on a run: it passes when all requirements are met. Write a figure by its key and what it "
    "must be; KEY.low and KEY.high are the ends of its interval."
)
NEW_REQUIREMENT = "New requirement"
REQUIREMENT_EXAMPLE = "c2_all.kappa.low >= .6"
ADD = "Add"
ADD_THE_REQUIREMENT = "Add the requirement"
REMOVE = "Remove"
CHECKED_AT_THE_END = "checked when the run has ended"
CHECKING = "checking …"
ADD_REQUIREMENT = "Add a requirement"
REMOVE_REQUIREMENT = "Remove a requirement"


def requirements_met(met: int, total: int) -> str:
    return f"{met:,} of {total:,} met"


def same_check(project: str) -> str:
    return f"The same check with an exit code, for scripts: judgenet check {project}"


def remove(requirement: str) -> str:
    return f"Remove {requirement}"


# Left out, and why

LEFT_OUT = "Left out, and why"
NOTHING_LEFT_OUT = "Nothing: every pair was judged, has a label and a verdict, and every call is scored."


def unscored_calls(reason: str, calls: str, share: str) -> str:
    return f"{reason}: {calls} calls, {share}"


def show_pairs(which: str) -> str:
    return f"Show the pairs: {which}"


# The pairs of a figure, beside the panels

PAIRS_OF_FIGURE = "Pairs of a figure"
PAIRS_OF_THIS_FIGURE = "Pairs of this figure"
CLOSE_LIST = "Close the list of pairs"
CLOSE_LIST_TIP = "Close the list (Escape)"
SHOW_ALL_UNDER_DATA = "Show all of them under Data"
NETWORK_AND_HUMAN = "net   human"
PAIRS_NOT_LOADED = "These pairs are not among those that are loaded now."
DATA = "Data"
SAVE_LIST_OF_PAIRS = "Save the list of pairs"
SAVE_LIST_FOR_PEOPLE = "Save the list of pairs for people"
TEXT_FILES = "Text (*.txt)"


def pair_in_list(number: int, network: str, people: str, question: str) -> str:
    return f"Pair {number:,}, network {network}, people {people}: {question}"


def some_not_loaded(pairs: str) -> str:
    return f"{pairs} of the run are not loaded now."


def pairs_saved(pairs: str) -> str:
    return f"{pairs} saved."


# The pairs of a figure: which they are, after "16 pairs: "

NOT_JUDGED_YET = "not judged yet"
CALLS_MISSING = "calls without an answer"
FOR_PEOPLE = "for people"
NO_QUORUM = "no quorum"
NO_VERDICT = "no verdict"
NO_LABEL = "no human label"
LABEL_WITHOUT_VERDICT = "a label and no verdict"
UNSCORED = "with an unscored call"
UNREAD = "an evaluation could not be read"
RIGHT = "right"
WRONG = "wrong"
WITHOUT_TASK = "no task"
CHAIR = "chair"
THE_VERDICT = "network"


def verdict_and_label(who: str, verdict: str, label: str) -> str:
    return f"{who} {verdict}, people {label}"


def overturned(layer: int) -> str:
    return f"overturned by layer {layer}"


def layer_made_right(layer: int) -> str:
    return f"layer {layer} made it right"


def layer_made_wrong(layer: int) -> str:
    return f"layer {layer} made it wrong"


def stayed_wrong(layer: int) -> str:
    return f"wrong before and after layer {layer}"


def turned(before: int, was: str, after: int, now: str) -> str:
    return f"layer {before} {was}, layer {after} {now}"


def neuron_at(layer: int, neuron: int) -> str:
    return f"layer {layer}, neuron {neuron}"


# The preview of the report

REPORT_PREVIEW = "Preview of the report"


def report_preview(pages: str) -> str:
    return f"Preview of the report, {pages}"


# Work in the background, named in its progress and in messages about it

CALLS_ARE_READ = "The calls are being read."
CALCULATED_AT_THE_END = "This is calculated when the run has ended."
STOPPED = "Stopped. It starts again when the page is opened."
CALCULATE_CERTAINTY = "Calculate how certain the network is"
CALCULATE_RESULTS = "Calculate the results"
CALCULATE_VOTES = "Calculate what the votes are worth"
CALCULATE_NEURONS = "Calculate the worth of neurons"
CALCULATE_GUARANTEE = "Calculate what can be guaranteed"
CALCULATE_CALIBRATION = "Calculate the calibration"
RANK_SYSTEMS = "Rank the systems"
EVALUATE_SMALLER = "Evaluate smaller networks"
EVALUATE_A_SMALLER = "Evaluate a smaller network"
TEST_JUDGES = "Test judges against annotators"
CHECK_REQUIREMENTS = "Check the requirements"
VERDICTS_ARE_READ = "The verdicts are being read."
COMPUTED_AT_THE_END = "This is computed when the run has ended."
REPLAY_RULE = "Replay the stop rule"

# Edits, as undo names them

SAVE_ACCEPTANCE = "Save the rule that accepts verdicts"
REMOVE_ACCEPTANCE = "Remove the rule that accepts verdicts"
USE_LEARNED_WEIGHTS = "Use the learned weights"
CHANGE_RULES = "Change the stop rules"

# The page around its panels

WHAT_THE_PAGE_WILL_SHOW = "This page will show how well the network agrees with people, and where it does not."
RESULTS_OF_THE_RUN = "Results of the run"
RESUME = "Resume"
NOT_POSSIBLE_NOW = "Not possible now."
RUNS_OWN_RULES = "The run's own rules"


def figures_are_about_the_run(changed: str) -> str:
    return f"{changed}: these figures are about the run."


COUNTING_BY_OTHER_RULES = "Counting the votes by the other rules …"
STOP = "Stop"
SAVE_HOW_LABELS_WERE_CHOSEN = "Save how the labels were chosen"
LABELS = "Labels"
DRAW_THE_WORD_CLOUDS = "Draw the word clouds"

# Why the pairs of a list are shown

PAIRS_TO_LABEL_NEXT = "to label next, drawn within verdicts"
PAIRS_LEAST_SURE = "the network is least sure, reviewed first"


def neurons_of_layer_differ(layer: int) -> str:
    return f"the neurons of layer {layer} differ"


SMALLER_NETWORK_IS_WRONG = "the smaller network is wrong"
