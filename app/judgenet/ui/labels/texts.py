"""What the page Labels and the label desk of a bias lab say, in the order in which it is seen."""

from __future__ import annotations

# The desk: the pair on it and the buttons

LABEL_DESK = "Label desk"
QUESTION = "Question"
RESPONSES = "Responses"
MARKDOWN = "Markdown"
PLAIN = "Plain"
TIE = "Tie"
UNSURE = "Unsure"
SKIP = "Skip"
BACK = "Back"


def response(letter: str) -> str:
    return f"Response {letter}"


def question_and_criteria(question: str, criteria: str) -> str:
    return f"{question}\n\nCriteria:\n\n{criteria}"


def question_and_reference(question: str, reference: str) -> str:
    return f"{question}\n\nReference answer:\n\n{reference}"


# The panel at the right: how pairs are chosen, and whether their labels count

LABELS = "Labels"
ABOUT_LABELS = "About the labels"
RANDOM_SAMPLE = "Random sample"
RANDOM_SAMPLE_LEAD = (
    "Drawn at random from all pairs. Order of pairs and sides is shuffled; names and verdicts are hidden."
)
PLANNED_SAMPLE = "Planned sample"
PLANNED_SAMPLE_LEAD = (
    "Drawn at random within each verdict, more where labels are more informative. Sides are shuffled; names and "
    "verdicts are hidden."
)
TARGETED_REVIEW = "Targeted review"
TARGETED_REVIEW_LEAD = (
    "The most uncertain pairs first, or those you picked. They stand for no other pair and enter no estimate and no "
    "agreement."
)
RESOLVE = "Resolve"
RESOLVE_LEAD = (
    "Pairs on which the annotators differ. What you say becomes the label, under your name. A and B are the pair's own "
    "sides here."
)
FOR_PEOPLE = "For people"
FOR_PEOPLE_LEAD = (
    "The pairs whose verdict was not sure enough, the least sure first. Labels settle their own pairs; they stand for "
    "no other pair and enter no estimate and no agreement."
)
COUNTS = "✓ Counts"
COUNTS_FOR_ESTIMATES = "Counts for estimates"
DOES_NOT_COUNT = "Does not count"
DOES_NOT_COUNT_FOR_ESTIMATES = "Does not count for estimates"
HOW_PAIRS_ARE_CHOSEN = "How pairs are chosen"
RANDOM = "Random"
PLANNED = "Planned"
TARGETED = "Targeted"
TARGET_NUMBER = "Target number of labels"

# The panel at the right: the interval that the labels give

INTERVAL = "Interval of the win rate"
ASSUMED_JUDGE = "Planned with an assumed judge."


def interval_now(points: str) -> str:
    return f"now ± {points} points"


def interval_now_with(points: str, labels: int) -> str:
    return f"now ± {points} points with {labels:,} labels"


def interval_goal(points: str, labels: int) -> str:
    return f"± {points} points with {labels:,}"


def interval_curve(points: str) -> str:
    return f"Interval of the win rate: {points}"


def interval_at(labels: int, points: str) -> str:
    return f"At {labels:,} labels: ± {points} points."


def design_effect(questions: str, effect: str) -> str:
    return f"{questions} only: design effect {effect}."


# The panel at the right: annotators and their agreement

ANNOTATORS = "Annotators"
NO_COMMON_PAIR = "no pair in common"
RESOLVE_DISAGREEMENTS = "Resolve disagreements"


def kappa(value: str) -> str:
    return f"Agreement, kappa {value}"


def no_kappa(reason: str) -> str:
    return f"Agreement, kappa: n/a, {reason}"


def alpha(value: str) -> str:
    return f"Agreement, Krippendorff's alpha {value}"


def stale_labels(pairs: str) -> str:
    return f"{pairs} labelled before its text changed"


def pairs_to_settle(pairs: str) -> str:
    return f"{pairs} to settle"


# The panel at the right: latest labels, and the labels of the data file

LATEST = "Latest"
UNDO_HINT = "Ctrl Z undoes"
FILE_LABELS = "Labels of the data file"
FILE_LABELS_CHOSEN = "How the labelled pairs of the data file were chosen"
UNKNOWN_SAMPLING = "unknown sampling"
DRAWN_AT_RANDOM = "drawn at random"
DRAWN_WITHIN_VERDICTS = "drawn within verdicts"
PICKED = "picked, do not count"
NO_MAJORITY_IS = "No majority is"
WITHOUT_MAJORITY = "Without a majority"
NO_LABEL = "No label"


def you_said(letter: str) -> str:
    return f"You said {letter}"


# The foot of the panel: what is saved, and the pace

SAVING = "Saving…, "
SAVED = "Autosaved, "
IN_THIS_LIST = " in this list"


def labels_by(saved: str, labels: str, annotator: str, where: str) -> str:
    return f"{saved}{labels} by {annotator}{where}"


def pace(seconds: str) -> str:
    return f"Median {seconds} s per pair"


def left_to_label(time: str) -> str:
    return f", ≈ {time} left"


# Edits, as undo names them

LABEL_A = "Label A"
LABEL_B = "Label B"
LABEL_TIE = "Label tie"

# Notes and errors

READ_ONLY = "The project is open read-only: labels cannot be saved."
NO_RUN = "There is no run yet."


def not_written(labels: str) -> str:
    return (
        f"The last {labels} could not be saved yet. Free some disk space; they are kept in memory meanwhile, and the "
        "studio keeps trying."
    )


# The desk of a bias lab

WHICH_IS_BETTER = "Which response is better?"
ANNOTATOR = "Annotator"
CLOSE = "Close"
READING_PROMPTS = "Reading the prompts …"
NO_PROMPTS = "There are no prompts yet."
RUN_LAB_FIRST = "Run the lab first: people answer what judges were asked."


def all_answered(answers: str, prompts: int) -> str:
    return f"{answers} of {prompts:,}. Thank you."


# Work in the background, named in its progress and in messages about it

DRAW_THE_PAIRS = "Draw the pairs to label"
DRAW_PAIRS = "Draw pairs to label"
COMPARE_ANNOTATORS = "Compare the annotators"
READ_PROMPTS = "Read the prompts for people"
SAVE_ANSWER = "Save an answer"

# The page around the desk

ANNOTATOR_TIP = "Who labels: choose a name, or write another one"
THE_RUN = "the run"
DRAWING_PAIRS = "Drawing pairs"
LABELS_GIVEN = "Labels given: "
NO_PAIRS_TO_LABEL = "This page is for labelling pairs. There are no pairs yet."
NO_FILE_OF_PAIRS = "This page is for labelling pairs. The project names no file of pairs."


def recorded_elsewhere(pairs: str) -> str:
    return f"The {pairs} of the run in view were recorded elsewhere."


CHOOSE_PAIRS = "Choose pairs"
ANNOTATORS_AGREE = "The annotators agree on every pair that two of them labelled."
PLANNER_NEEDS_A_RUN = "The planner draws pairs within the verdicts of a run."
DRAW_FROM_ALL_PAIRS = "Draw from all pairs"
WHAT_A_TARGETED_REVIEW_IS = "A targeted review goes through the pairs on which the network is least certain."


def settled(pairs: str) -> str:
    return f"{pairs} settled."


def network_agrees(hits: str, pairs: str, share: str) -> str:
    return f"The network agrees with you on {hits} of {pairs} pairs ({share})."


LABELS_ENTER_NO_ESTIMATE = "These labels enter no estimate and no agreement."


def labels_given(labels: str, annotator: str) -> str:
    return f"{labels} by {annotator}."


TARGET_REACHED = "The target number is reached."
EVERY_PAIR_SEEN = "Every pair was looked at."
LABEL_50_MORE = "Label 50 more"
SEE_THE_RESULTS = "See the results"
NOTHING_TO_SETTLE = "The annotators agree, or there are no labels yet."

# Import and export of labels

NO_PAIRS_YET = "There are no pairs yet."
NO_LABELS_TO_EXPORT = "No pair has a label yet."
IMPORT_LABELS = "Import labels"
IMPORT_THE_LABELS = "Import the labels"


def of_other_texts(count: str) -> str:
    return f", {count} of them of other texts than the pairs have now"


def imported(new_labels: str, total: str, stale: str) -> str:
    return f"{new_labels} of {total}{stale}."


EXPORT_LABELS = "Export labels"
EXPORT_THE_LABELS = "Export the labels"
