"""What the pages Welcome, Report and Settings say, and what Report and Results say until a run is read."""

from __future__ import annotations

# Welcome: the left side

JUDGENET_STUDIO = "JudgeNet Studio"


def back_to(project: str) -> str:
    return f"Back to {project}"


WHICH_ANSWER_IS_BETTER = (
    "Which of two answers is better? Several judges take different roles, read each other, and vote."
)
OPEN_PROJECT = "Open project"
FILE_OF_PAIRS = "File of pairs"
DROP_THE_FILE = "Or drop the file anywhere on this window"
RECENT = "Recent"
RECENT_PROJECTS = "Recent projects"
NO_RECENT_PROJECTS = "Projects that you open are listed here."
UNTITLED = "Untitled"
DRAFT = "Draft"
TWO_MINUTE_TOUR = "Two-minute tour"
CHECK_AN_ENDPOINT = "Check an endpoint"

# Welcome: new networks and the example

NEW_NETWORK = "New network"
PRICE_IS_SHOWN_FIRST = "Price is shown before anything is sent."
PAIRS_WITH_CRITERIA = "Pairs with criteria, a checklist or a rubric for each question:"
TRY_IT_NOW = "Try it now, offline"
RUN_THE_EXAMPLE = "Run the example"
EXAMPLE_AND_MODEL = (
    "A dozen example pairs with human labels, judged by a small model on this computer. The small model is weak, and "
    "the results say so."
)
EXAMPLE_AND_MODEL_TO_FETCH = (
    "A dozen example pairs with human labels, judged by a small model on this computer. It is fetched once (93 MB). "
    "The small model is weak, and the results say so."
)

# Welcome: the picture of how a network judges

HOW_A_NETWORK_JUDGES = "How a network judges"
HOW_A_NETWORK_JUDGES_IN_WORDS = (
    "How a network judges: each neuron of layer 1 judges the pair from one perspective. Each neuron of layer 2 "
    "reads the others and judges again. All vote."
)
QUESTION = "Question"
ONE_ANSWER = "one answer"
ANOTHER_ANSWER = "another"
ACCURACY = "Accuracy"
CLARITY = "Clarity"
SAFETY = "Safety"
VOTE = "Vote"
FOUR_TO_TWO_FOR = "4 to 2 for"
A_PAIR = "A pair"
JUDGE_FROM_ONE_PERSPECTIVE = "Judge from one perspective"
READ_THE_OTHERS = "Read the others, judge again"
VERDICT_WITH_ITS_VOTES = "Verdict, with its votes"

# Report and Results, until a run is read

THE_RUN = "the run"


def no_run_yet(what_to_do: str) -> str:
    return f"There is no run yet. {what_to_do}"


RUN = "Run"


def reading_was_stopped(run: int) -> str:
    return f"Reading run {run} was stopped."


READ_IT = "Read it"
READING_THE_RUN = "Reading the run"


def reading_run(number: int) -> str:
    return f"Reading run {number}"


# Report

WHAT_THE_REPORT_WILL_SHOW = "This page will show the report of a run, ready to read, print and share."
REPORT_AS_MARKDOWN = "The report as Markdown"


def report_of_run(number: int) -> str:
    return f"Report of run {number}"


def save_report_as(form: str) -> str:
    return f"Save the report as {form}…"


SEARCH_WORDS_OF_SAVING = "export write"
NO_REPORT_YET = "There is no report yet."
STILL_CALCULATED = "Panels, weights and smaller networks are still being calculated."
LAY_OUT_THE_REPORT = "Lay out the report"
CALCULATE_PANELS_AND_WEIGHTS = "Calculate panels, weights and smaller networks"
LOOK_FOR_A_NEWER_LAB = "Look for a newer bias lab"
LAY_OUT_THE_PAGES = "Lay out the pages"
SAVE_PICTURES = "Save pictures"
SAVE_THE_REPORT = "Save the report"


def known_endings(endings: str) -> str:
    return f"The file ending sets the format. Known endings: {endings}."


def write(form: str) -> str:
    return f"Write {form}"


SAVE_ALL_CHARTS = "Save all charts in a folder"
WRITE_THE_CHARTS = "Write the charts"
SAVE_THE_NETWORK = "Save the network"
SAVED = "Saved."


def saved(what: str) -> str:
    return f"Saved: {what}."


SHOW_FOLDER = "Show folder"
OPEN = "Open"

# Settings: the look

SETTINGS = "Settings"
LOOK = "Look"
APPEARANCE = "Appearance"
THEME = "Theme"
MATCH_SYSTEM = "Match system"
LIGHT = "Light"
DARK = "Dark"
HIGH_CONTRAST = "High contrast"
ZOOM = "Zoom"
DENSITY = "Density"
COMFORTABLE = "Comfortable"
COMPACT = "Compact"
MOTION = "Motion"
SHOW_MOTION = "Show"
REDUCE_MOTION = "Reduce"
TEXTS = "Texts"
SHOW_AS_MARKDOWN = "Show responses and evidence as Markdown (never as HTML, nothing is loaded)"

# Settings: endpoints

ENDPOINTS = "Endpoints"
KEYS_ARE_STORED_SECURELY = "Keys are stored securely and never displayed."
OF_THE_PROJECT = "project"
YOURS = "yours"
BUILT_IN = "built in"
ADD_AN_ENDPOINT = "Add an endpoint"
SAVE = "Save"
TEST = "Test"
TEST_TIP = "Sends one short question; a paid endpoint charges for it"
REMOVE = "Remove"
BACK_TO_BUILT_IN = "Back to the built-in settings"
ENDPOINT_OF_THE_PROJECT = "This endpoint belongs to the project"
SAVE_THE_ENDPOINT = "Save the endpoint"


def endpoint_is_saved(name: str) -> str:
    return f"{name} is saved."


def endpoint_is_saved_untested(name: str) -> str:
    return f"{name} is saved. It has not been tested: press Test to see whether it answers."


def test_of(endpoint: str) -> str:
    return f"Test {endpoint}"


def list_the_models_of(endpoint: str) -> str:
    return f"List the models of {endpoint}"


ADDRESS_NOT_APPROVED = "Nothing was sent: you have not approved the address."


def asking_for_models(endpoint: str) -> str:
    return f"Asking {endpoint} for its models…"


def is_not_among_them(model: str) -> str:
    return f"{model} is not among them."


def lists_models(endpoint: str, models: str, missing: str) -> str:
    return f"{endpoint} lists {models}.{missing} Choose one under Default model."


ENTER_THE_MODEL_FIRST = "Enter the default model first, or press List models."


def asking(endpoint: str) -> str:
    return f"Asking {endpoint}…"


def did_not_answer(endpoint: str, reason: str, message: str) -> str:
    return f"{endpoint} did not answer ({reason}): {message}"


def answers(endpoint: str, model: str, seconds: str) -> str:
    return f"{endpoint} answers as {model} in {seconds} s."


OUTPUT_BY_SCHEMA = "Structured output: JSON schema."
OUTPUT_AS_TEXT = "Structured output: none, plain text."
IT_SEES_PICTURES = "It sees pictures."
IT_MAY_NOT_SEE_PICTURES = "It may not see pictures: it missed the colour of one."


def it_said(reply: str) -> str:
    return f"It said: {reply}"


# Settings: what is approved for projects

APPROVED_FOR_PROJECTS = "Approved for projects"
ALLOWED_ON_THIS_COMPUTER = "A project may do this on this computer because you allowed it, or added the file yourself."
NOTHING_APPROVED_YET = "Nothing yet. A project that wants to send a key, or to read outside its folder, asks first."
REVOKE = "Revoke"
