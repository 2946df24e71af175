"""What the dialog Experiments says, in the order in which it is seen."""

from __future__ import annotations

from pathlib import Path

# The dialog

EXPERIMENTS = "Experiments"
VIEW = "View"
PLAN = "Plan"
RESULTS = "Results"
METHOD = "Method"
METHOD_AS_MARKDOWN = "The method as Markdown, for a paper"
PROGRESS = "Progress of the experiment"
SAVE_FILES = "Save files…"
STOP = "Stop"
CLOSE = "Close"
RUN = "Run"
RESUME = "Resume"

# The plan: which pairs, which networks, and limits

PLAN_OF_THE_EXPERIMENT = "Plan of the experiment"
PAIRS = "Pairs"
ALL_PAIRS = "All pairs"
NUMBER_PER_TASK = "A number per task"
RANDOM_SAMPLE = "Random sample"
NUMBER_OF_PAIRS = "Number of pairs"
WIDTH = "Width"
WIDTH_OF_THE_NETWORK = "Width of the network"
ONE_NEURON_PER_ROLE = "One neuron per role"
FIXED_NUMBER = "A fixed number"
NEURONS_PER_LAYER = "Neurons per layer"
FAIREVAL_SAMPLES = "FairEval samples"
FAIREVAL_SAMPLES_PER_ORDER = "FairEval samples per order"
MAXIMUM_NEURONS_PER_LAYER = "Maximum neurons per layer"
MAXIMUM_LAYERS = "Maximum layers"
MAXIMUM_NEURONS_IN_TOTAL = "Maximum neurons in total"
TARGET_AGREEMENT = "Target agreement, %"
SAME_AS_ANNOTATORS = "same as annotators"
SECONDS_PER_LABEL = "Seconds per label"
WAGE = "Wage, USD per hour"
ANNOTATORS_PER_PAIR = "Annotators per pair"
NOT_STATED = "not stated"
MAXIMUM_CALLS = "Maximum calls"
NO_LIMIT = "no limit"

# The estimate beside the plan

CALLS = "calls"
CALCULATING = "calculating …"
STILL_TO_ASK = "still to ask"
PRICE = "price"


def no_human_labels(pairs: str) -> str:
    return (
        f"None of the {pairs} has a human label: there will be verdicts, but neither accuracy nor kappa. Labels that "
        "come later cost no call."
    )


# While it runs


def experiment(title: str) -> str:
    return f"Experiment: {title}"


def calls_asked(step: int, steps: int, network: str, calls: int) -> str:
    return f"{step} of {steps}: {network}, {calls:,} calls asked"


def calls_asked_of(step: int, steps: int, network: str, calls: int, most_calls: int) -> str:
    return f"{step} of {steps}: {network}, {calls:,} of about {most_calls:,} calls asked"


NOT_RUN = "The experiment was not run"

# Results and their files

RESULTS_OF_THE_EXPERIMENT = "Results of the experiment"
FOLDER_FOR_RESULTS = "Folder for the results"


def table_of(columns: str) -> str:
    return f"Table: {columns}"


def results_are_in(folder: Path) -> str:
    return f"Results are in {folder}."


def files_written(folder: Path, files: str) -> str:
    return f"Written to {folder}: {files}."


# Work in the background, named in messages about it

LOOK_FOR_RESULTS = "Look for earlier results"
ESTIMATE_COST = "Estimate the cost of the experiment"
RUN_EXPERIMENT = "Run the experiment"
SAVE_RESULTS = "Save the results"
