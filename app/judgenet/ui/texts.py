"""What the window says around its pages, what all pages say, and what the dialogs of the window say."""

from __future__ import annotations

# Names of the pages, on the rail

DESIGN = "Design"
DATA = "Data"
LABELS = "Labels"
RUN = "Run"
RESULTS = "Results"
BIAS = "Bias"
REPORT = "Report"
SETTINGS = "Settings"
PAGES = "Pages"

# Top bar

JUDGENET_STUDIO = "JudgeNet Studio"


def window_title(project: str) -> str:
    return f"{project} – JudgeNet Studio"


def window_title_read_only(project: str) -> str:
    return f"{project} (read-only) – JudgeNet Studio"


TOP_BAR = "Top bar"
MENU = "Menu"
NAME_OF_THE_PROJECT = "Name of the project"
RENAME_THE_PROJECT = "Rename the project"
SAVED = "Saved"
SAVING = "Saving…"
NOT_SAVED = "Not saved"
READ_ONLY = "Read-only"
DRAFT = "Draft"
KEPT_AS_A_DRAFT = "Kept as a draft; give it a name with Save as"
FIND_OR_DO = "Find or do"
COMMAND_PALETTE_TIP = "Command palette (Ctrl+K)"
FIND_OR_DO_HINT = "Find or do…"
CTRL_K = "Ctrl K"
RESUME = "Resume"
PAUSE = "Pause"
STOP = "Stop"
STOPPING_NOW = "Stopping…"

# Status bar

STATUS_BAR = "Status bar"
PROGRESS = "Progress"
STATE = "State"
PAIRS = "Pairs"
CALLS = "Calls"
NOTE = "Note"
UNSCORED = "Unscored"
SPEED = "Speed"
PARALLEL_CALLS = "Parallel calls"
PRICE = "Price"
TIME_LEFT = "Time left"
STOP_THIS_WORK = "Stop this work"
FINISHING = "Finishing"
PAUSED = "Paused"
STOPPING = "Stopping"


def of_all(count: str, total: str) -> str:
    return f"{count} of {total}"


def calls_per_second(rate: str) -> str:
    return f"{rate} calls/s"


def running(calls: str) -> str:
    return f"{calls} running"


def time_until_the_end(time: str) -> str:
    return f"{time} left"


def unscored(calls: str) -> str:
    return f"{calls} unscored"


def show_their_pairs(reasons: str) -> str:
    return f"{reasons}\nShow their pairs"


NONE_UNSCORED = "0 unscored"
PRICE_UNKNOWN = "Price unknown"


def of_about(price: str) -> str:
    return f" of ≈ {price}"


def with_unknown_price(price: str, calls: str) -> str:
    return f"{price} + {calls} of unknown price"


NO_RUN_IN_PROGRESS = "No run in progress"


def run(number: int) -> str:
    return f"Run {number}"


FINISHED = "finished"
STOPPED_AT_ITS_LIMIT = "stopped at its limit"
STOPPED = "stopped"
FAILED = "failed"
STOPPED_ENOUGH_IS_KNOWN = "stopped: enough is known"
HALTED = "halted"
WAS_INTERRUPTED = "was interrupted"


def run_of_shards(number: int, shards: str) -> str:
    return f"Run {number}: {shards}"


def run_and_state(number: int, state: str) -> str:
    return f"Run {number} {state}"


def judged(pairs: str) -> str:
    return f"{pairs} judged"


def pairs_loaded(pairs: str) -> str:
    return f"{pairs} loaded"


def labels_with_the_data(labels: str) -> str:
    return f"{labels} came with the data"


# Menu

PROJECT = "Project"
EDIT = "Edit"
NETWORK = "Network"
RECENT_PROJECTS = "Recent projects"

# Closing the window

CLOSE_THE_WINDOW = "Close the window"
A_RUN_GOES_ON = "A run goes on"
STOP_THE_RUN_AND_CLOSE = "Stop the run and close? Finished calls are kept, and the run resumes from there next time."
STOP_AND_CLOSE = "Stop and close"
KEEP_RUNNING = "Keep running"

# Starting the program

JUDGENET = "JudgeNet"
REOPENED_AS_AT_THE_LAST_CHANGE = "JudgeNet ended without closing this project. It is as it was at the last change."
ENDED_WITHOUT_CLOSING = "JudgeNet ended without closing this project."
OPEN_IT = "Open it"
SCREEN_LOST = "The connection to the screen was lost. Nothing is lost: open the project again, and its run goes on."
NO_SCREEN = "no screen"


def lacks_libraries(name: str, platform: str, libraries: str) -> str:
    return f"Qt's plug-in for {name} ({platform}) lacks {libraries}"


def install_the_packages(reason: str) -> str:
    return f"{reason} Install the packages of your system that hold these libraries."


def install_what_is_missing(reason: str, command: str) -> str:
    return f"{reason} Install what is missing: {command}."


STUDIO_NEEDS_A_SCREEN = "There is no screen here, and the studio needs one."
NO_PLUG_IN_LOADS = "Qt has no platform plug-in that loads"


def no_window_with(name: str, value: str) -> str:
    return f"No window can be opened with {name}={value}"


NO_WINDOW = "No window can be opened"


def font_cannot_be_loaded(name: str, folder: str) -> str:
    return f"The font {name} cannot be loaded from {folder}; reinstall JudgeNet."


# What cannot be done now

OPEN_A_PROJECT_FIRST = "Open a project first."
STOP_THE_RUN_FIRST = "Stop the run first."
NOTHING_TO_UNDO = "Nothing to undo."
NOTHING_TO_REDO = "Nothing to redo."
PROJECT_IS_IN_VIEW = "The project is in view."
NO_JUDGMENTS_RECORDED_ELSEWHERE = "The project holds no judgments recorded elsewhere."
NO_RUN_IS_IN_PROGRESS = "No run is in progress."
ALREADY_STOPPING = "Already stopping."
NO_OTHER_RUN = "There is no other run to compare with."
NO_RUN_YET = "There is no run yet."
RUN_IN_PROGRESS = "A run is already in progress."


def other_work_in_progress(work: str) -> str:
    return f"{work} is in progress. Stop it first."


JUDGED_IN_SHARDS = "The project is judged in shards. Make one run of them on the page Run to go on with it here."
PAIRS_STILL_LOADING = "The pairs are still being loaded."
NO_PAIRS_TO_JUDGE = "There are no pairs to judge. Add some on the page Data."

# Messages of trouble

ERROR = "Error"
WARNING = "Warning"


def at(time: str) -> str:
    return f"at {time}"


FIX_IT = "Fix it"
ANOTHER_WAY = "Another way"
COPY_DETAILS = "Copy details"
COPIED = "Copied"
CLOSE_THIS_MESSAGE = "Close this message"


def more_messages(count: str) -> str:
    return f"and {count} more"


def error_in_the_program(kind: str, error: str) -> str:
    return f"Something went wrong in the program ({kind}: {error})."


# Where there is nothing to show yet

NOTHING_TO_DO = "Nothing to do"
NOTHING_MORE_TO_DO = "Nothing more to do"


def progress_of_reading(what: str) -> str:
    return f"Progress of reading {what}"


def stop_reading(what: str) -> str:
    return f"Stop reading {what}"


# Command palette

COMMAND_PALETTE = "Command palette"
FIND_OR_DO_WITH_EXAMPLE = "Find or do… (4x2 makes two layers of four)"
COMMANDS_FOUND = "Commands found"
NOTHING_FOUND = "Nothing found"
AS_MANY_NEURONS_AS_ROLES = "as many neurons as roles"


def make_it(layers: str, neurons: str) -> str:
    return f"Make it {layers} of {neurons}"


def design_with_pair(number: str) -> str:
    return f"Design with pair {number} in view"


CHANGE_THE_SIZE = "Change the size"
MATCH_SYSTEM_THEME = "Match system theme"
LIGHT_THEME = "Light theme"
DARK_THEME = "Dark theme"
HIGH_CONTRAST_THEME = "High-contrast theme"


def page(name: str) -> str:
    return f"Page {name}"


SEARCH_WORDS_OF_PAGES = "go show"
SEARCH_WORDS_OF_THEMES = "theme look colours mode"
PICTURE_OF_THE_PAGE_COPIED = "A picture of the page is on the clipboard."


def shortcut_of_two(keys: str, first: str, second: str) -> str:
    return f"{keys} is the shortcut of {first} and of {second}."


# The project

UNTITLED = "Untitled"
CHOOSE_THE_RULE_OF_THE_VOTE = "Choose the rule of the vote"
CHANGES_NOT_SAVED = "Your last changes could not be saved to the project file; a copy was kept."
RESTORE_THEM = "Restore them"
RESTORE_UNSAVED_CHANGES = "Restore unsaved changes"


def nothing_was_changed(reason: str) -> str:
    return f"Nothing was changed. {reason}"


LOAD_THE_PAIRS = "Load the pairs"
PAIRS_WERE_NOT_LOADED = "The pairs were not loaded."
LOAD_THEM = "Load them"
TRY_AGAIN = "Try again"
OPEN_ELSEWHERE = "The project is open in another window or run, so it is read-only here."
FOLDER_CANNOT_BE_WRITTEN = "The folder of the project cannot be written, so the project is read-only."
SAVE_THE_PROJECT = "Save the project"
OVERWRITE = "Overwrite"


def open_recent(file: str) -> str:
    return f"open recent {file}"


def undo(what: str) -> str:
    return f"Undo {what}"


UNDO = "Undo"


def redo(what: str) -> str:
    return f"Redo {what}"


REDO = "Redo"
THIS_PROJECT_IS_SAVED = "This project is saved, and listed among the recent projects."
BACK_TO_IT = "Back to it"
OPEN_A_PROJECT = "Open a project"
OPEN_PROJECT = "Open project"
SAVE_AS = "Save as"
CHOOSE_ANOTHER_PLACE = "Choose another place"
RENAME = "Rename"


def network(size: str) -> str:
    return f"network {size}"


def run_in_a_line(number: int) -> str:
    return f"run {number}"


def draft(line: str) -> str:
    return f"Draft, {line}"


# What the user approves of a project

DO_YOU_TRUST_THIS_PROJECT = "Do you trust this project?"


def asks_for_something_new(project: str) -> str:
    return f"“{project}” asks for something you have not approved"


WHAT_THE_PROJECT_ASKS_FOR = "What the project asks for"
SEND_THE_PROMPTS = "Send the prompts with the pairs to:"
READ_THIS_FILE = "Read this file, which is outside the project's folder:"


def send_your_key(name: str) -> str:
    return f"Send your key {name}, and the prompts with the pairs, to:"


def send_the_header(name: str) -> str:
    return f"Send the header {name} to:"


def endpoint(name: str) -> str:
    return f"Endpoint {name}"


ALLOW_ONLY_IF_YOU_KNOW = (
    "Allow it only if you know who made the project and recognise each address and file. Your answer is kept on "
    "this computer, not in the project. You can take it back in Settings."
)
DO_NOT_ALLOW = "Do not allow"
ALLOW = "Allow"
NOTHING_WAS_SENT = "Nothing was sent"
NO_PAIRS_WERE_READ = "No pairs were read"


def files_outside_the_folder(files: str) -> str:
    return f"The project names pairs or pictures outside its own folder, which were not read: {files}"


DECIDE = "Decide…"
APPROVE_FILES = "Approve files"

# Import and export

CHOOSE_A_FILE_OF_PAIRS = "Choose a file of pairs"
IMPORT_JUDGMENTS = "Import judgments"
CHOOSE_FILES_OF_JUDGMENTS = "Choose files of judgments"
CHOOSE_THE_JUDGED_PAIRS = "Choose the pairs that were judged"
SAVE_THE_PROJECT_WITH_JUDGMENTS = "Save the project with the judgments"
NO_JUDGMENTS_IMPORTED = "No judgments were imported"
IMPORT_NETWORK = "Import network"
NO_NETWORK_IMPORTED = "No network was imported"
EXPORT_NETWORK = "Export network"
NETWORK_NOT_EXPORTED = "The network was not exported"


def network_is_in(file: str) -> str:
    return f"The network is in {file}."


# Export of a run

EXPORT_THE_RUN = "Export the run"
WHAT_IS_EXPORTED = "What is exported"
EXPORT = "Export"
FORMAT = "Format"
VERDICTS_OF = "Verdicts of"
HUMAN_LABELS = "Human labels"
EXPORT_OF_CALLS = "One row per call: prompt, reply, scores, evidence, tokens and price."
EXPORT_OF_VERDICTS = (
    "One row per pair: the verdict of each aggregation, mean scores and votes. A missing verdict stays empty."
)
EXPORT_OF_PAIRS = "The pairs as a file that can be imported again, with their labels and pictures."
EXPORT_OF_ROLES = "One row per role: its name and description, as the pair's neurons had them."
EXPORT_OF_LABELS = "One row per human label, with who gave it and how its pair was chosen."
EXPORT_OF_PREFERENCES = (
    "Chosen and rejected responses, for training on preferences. Ties and pairs without a verdict are left out and "
    "counted."
)
EXPORT_OF_SYSTEMS = "One row per response: its system, its mean score, and whether it won."
EXPORT_FOR_LLM_COMPARATOR = "A file that LLM Comparator opens, with one rater per call."
EXPORT_FOR_ARGILLA = (
    "Records for Argilla with the verdicts as suggestions. What people answer there comes back on the page Labels."
)
EXPORT_FOR_LABEL_STUDIO = (
    "Tasks for Label Studio with the verdicts as predictions. What people answer there comes back on the page Labels."
)
EXPORT_AS_EXPLORER = (
    "One HTML file to explore: all pairs, each neuron's evidence, filters and smaller networks. It needs no server "
    "and makes no request."
)
EXPORT_AS_DATASET = "A new folder with Parquet files and a card, as data set hubs have them."
JSON_LINES = "JSON Lines"
CSV = "CSV"
PARQUET = "Parquet"
JSON = "JSON"
EXPORT_TO_A_FILE = "Export…"
CANCEL = "Cancel"


def export_to(file: str) -> str:
    return f"Export to {file}"


def export_was_stopped(file: str) -> str:
    return f"{file} was not written: the export was stopped."


RUN_NOT_EXPORTED = "The run was not exported"


def left_out(what: str) -> str:
    return f" Left out: {what}."


def is_written(file: str, what: str, more: str) -> str:
    return f"{file} is written: {what}.{more}"


FOLDER_FOR_THE_DATA_SET = "A folder for the data set"

# Runs

CHANGE_THE_LIMITS_OF_A_RUN = "Change the limits of a run"
NO_RUN_WAS_STARTED = "No run was started"
ENTER_THE_PRICE = "Enter the price"
START_THE_RUN = "Start the run"


def limit_not_held(no_price: str, limit: str) -> str:
    return f"{no_price}, so that the limit of {limit} could not be held. Enter it, or limit calls or tokens instead."


def to_judge_the_others(message: str) -> str:
    return f"{message} To judge the others too, run it without the rule."


CHANGE_THE_RULE = "Change the rule"


def pairs_judged_and_kept(done: str, pairs: str) -> str:
    return f"{done} of {pairs} are judged, and all answers are kept."


def run_goes_on_with_as_much(message: str, pairs: str) -> str:
    return f"{message} {pairs} Run goes on with as much again; or change the limits first."


CHANGE_THE_LIMITS = "Change the limits"


def judgments_recorded_elsewhere(judges: str) -> str:
    return (
        f"These are judgments of {judges} that were recorded elsewhere: there is no model to ask, and their figures "
        "are on the page Results already. A network of your own can judge the same pairs beside them."
    )


NOTHING_WAS_RUN = "Nothing was run"
DESIGN_A_NETWORK = "Design a network"
JUDGE_WITH_A_NETWORK = "Judge with a network"
RUN_THE_EXAMPLE = "Run the example"
FETCH_THE_SMALL_MODEL = "Fetch the small model (93 MB)"
THE_EXAMPLE = "The example"
TWO_LAYERS_OF_THREE = "Two layers of three"
EXAMPLE = "Example"
WITH_UNSCORED_CALLS = "with unscored calls"
NAME_THE_RUN = "Name the run"
NAME_OF_THE_RUN = "Name of the run"


def read(run: str) -> str:
    return f"Read {run}"


READ_THE_LABELS = "Read the labels"


def read_run(number: int) -> str:
    return f"Read run {number}"


ESTIMATE_THE_COST = "Estimate the cost of the design"
PROMPTS = "Prompts"
AND = " and "


def changed_since_run(what: str, run: int) -> str:
    return f"{what} changed since run {run}"


# Limits of a run

LIMITS_OF_A_RUN = "Limits of a run"
LIMITS_LEAD = (
    "A run stops before it exceeds these limits. Leave a field empty for no limit. Answers that the project already "
    "has cost nothing and do not count."
)
MAXIMUM_COST = "Maximum cost, USD"
NO_LIMIT = "no limit"
MAXIMUM_NEW_CALLS = "Maximum new calls"
MAXIMUM_TOKENS = "Maximum tokens, in and out"
STOP_WHEN = "Stop when"
STOP_WHEN_EXAMPLE = "no rule; for example, c2_all excludes 50%"
STOP_WHEN_TIP = (
    "The run stops as soon as enough is known, by intervals that are valid however often one looks. Examples:\n"
    "c2_all excludes 50%\n"
    "accuracy above 70%\n"
    "corrected excludes 50%\n"
    "width <= 0.1\n"
    "Several are joined by “or”. Pairs are then asked in drawn order; the others stay unasked."
)
CHOOSE_PAIRS_UNTIL_SEPARATED = "Choose pairs until each system is separated from the next"
UNTIL_SEPARATED_TIP = (
    "In rounds the run asks pairs of systems whose ranks are least separated, and stops when each system is "
    "separated from the next one."
)
ASK_BY_BATCHES = "Ask by batches: about half the price, within a day"


def ask_by_batches(batch_price: str, live_price: str) -> str:
    return f"Ask by batches: {batch_price} in place of {live_price}, within a day"


BATCHES_TIP = (
    "Each layer is sent as a batch, which the endpoint answers within a day, at about half the price. The window "
    "may be closed meanwhile: Run takes the answers in the next time."
)
ASK_LIVE_AFTER = "Ask live after"
ASK_LIVE_AFTER_EXAMPLE = "no deadline; for example, 18:00 or 6h"
ASK_LIVE_AFTER_TIP = (
    "What is not back by then is cancelled and asked live. A time of day (18:00), a date and time "
    "(2026-12-01T06:00), or a span from the start of the run (6h)."
)
SAVE = "Save"


def price_of_side(model: str, endpoint: str, side: str) -> str:
    return f"{model} at {endpoint}, {side}"


TOKENS_IN = "in"
TOKENS_OUT = "out"
PRICE_OF_MODELS_UNKNOWN = (
    "The price of these models is unknown. USD per million tokens, in and out; kept on this computer for this "
    "endpoint and model."
)


def until(rule: str) -> str:
    return f"until {rule}"


UNTIL_RANKS_ARE_SEPARATED = "until ranks are separated"


def by_batches_until(deadline: str) -> str:
    return f"by batches until {deadline}"


BY_BATCHES = "by batches"
LEAVE_ONE_STOP_RULE_OUT = "Use either a stop rule or the separation of systems, not both."
PRICES = "Prices"
TOKENS = "Tokens"
MONEY = "Money"


def limit_of_money_needs_it(models: str) -> str:
    return f"{models} The limit of money needs it."


def both_prices_needed(model: str) -> str:
    return f"{model}: both prices are needed, for tokens in and out."


def no_whole_number(field: str, entered: str) -> str:
    return f"{field}: {entered} is not a whole number of 1 or more. Leave it empty for no limit."


def no_amount(field: str, entered: str) -> str:
    return f"{field}: {entered} is not an amount of 0 or more, such as 5 or 0.15."


# Test of the models


def model_at(model: str, endpoint: str) -> str:
    return f"{model} at {endpoint}"


TEST_THE_MODELS = "Test the models"


def what_the_test_asks(calls: int) -> str:
    return (
        f"Ten pairs with an obvious answer, in both orders: at most {calls} paid calls per model. They show whether "
        "a model can judge at all before you rely on it."
    )


RESULTS_OF_THE_TEST = "Results of the test"
TEST = "Test"
CLOSE = "Close"
TEST_AGAIN = "Test again"
GREEN = "Green"
YELLOW = "Yellow"
RED = "Red"
NOT_SEEN = "Not seen"
MODELS_NOT_TESTED = "The models were not tested"


def test_of_model(model: str, number: int, total: int) -> str:
    return f"Test {model} ({number} of {total})"


def asking_model(model: str, number: int, models: str) -> str:
    return f"Asking {model}, {number} of {models} …"


STOPPED_SENTENCE = "Stopped."
CALLS_ALREADY_MADE = "Calls are already being made. Test the models when they have finished."
CHOOSE_A_MODEL_FIRST = "Choose a model for each neuron first."


def recorded_answers_only(endpoint: str) -> str:
    return f"{endpoint} holds recorded answers only: there is no model to test."


NO_MODEL = "No model"
NO_ENDPOINT = "no endpoint"
NOT_TESTED_YET = "Not tested yet"


def calls_scored(count: int, calls: str, share: str) -> str:
    return f"{count} of {calls} scored ({share})"


def seconds_per_call(seconds: str) -> str:
    return f"{seconds} s per call"


def context_of(tokens: str) -> str:
    return f"context of {tokens} tokens"


def answers_as(model: str) -> str:
    return f"answers as {model}"


# Form of an endpoint

NAME_OF_THE_ENDPOINT = "Name of the endpoint"
NAME = "Name"
API_TYPE = "API type"
OPENAI_COMPATIBLE = "OpenAI-compatible"
AZURE_OPENAI = "Azure OpenAI"
ANTHROPIC = "Anthropic"
GOOGLE_GEMINI = "Google Gemini"
OLLAMA = "Ollama"
LOCAL_MODEL = "Local model (GGUF file)"
RECORDED_RUN = "A recorded run"
ADDRESS = "Address"
DEFAULT_MODEL = "Default model"
LIST_MODELS = "List models"
LIST_MODELS_TIP = "Asks the server which models it has; that costs nothing"
USD_PER_MILLION = "USD per million"
PRICE_OF_TOKENS_IN = "Price of tokens in, USD per million"
IN_UNKNOWN = "in, unknown"
PRICE_OF_TOKENS_OUT = "Price of tokens out, USD per million"
OUT_UNKNOWN = "out, unknown"
PRICE_UNKNOWN_TIP = "The price of this model is unknown: enter it to see costs and to set a limit of money."
NAME_OF_THE_KEY = "Name of the key"
KEY_NAME = "Key name"
KEY = "Key"
PASTE_THE_KEY = "Paste the key for the keyring"
SAVE_KEY = "Save key"
MAXIMUM_PARALLEL_CALLS = "Parallel calls (max.)"
REQUESTS_PER_MINUTE = "Requests per minute"
CONTEXT_LENGTH = "Context length"
CONTEXT_LENGTH_IN_TOKENS = "Context length in tokens"
SERVERS_OWN = "server's own"
CONTEXT_LENGTH_TIP = "How many tokens of prompt and answer a model holds; Ollama loads it with so many"
FURTHER_FIELDS_OF_EVERY_REQUEST = "Further fields of every request"
FURTHER_FIELDS_TIP = "Fields of the request that only this endpoint knows, as a JSON object; no keys"
FURTHER_FIELDS = "Further fields"
FILE_OR_FOLDER = "File or folder"
PATH_OF_FILE_OR_FOLDER = "Path of the file or folder"
FILE = "File"
THE_MODEL = "The model"
NAME_THE_MODEL = "Name the model whose price this is."
NO_KEY_IS_SENT = "No key is sent."
LOOKING_FOR_THE_KEY = "Looking for the key…"
LOOK_FOR_THE_KEY = "Look for the key"


def key_is_set(name: str, source: str) -> str:
    return f"{name} is set ({source})."


def key_is_not_set(name: str) -> str:
    return f"{name} is not set."


ENTER_NAME_AND_KEY = "Enter the key's name and paste the key."


def key_is_stored(name: str) -> str:
    return f"{name} is in the system's key store."


KEY_WAS_NOT_STORED = "The system's key store did not save it."


def key_kept_for_this_session(reason: str, name: str) -> str:
    return f"Key kept for this session only. {reason} To keep it, set the environment variable {name}."


# How a model is asked

REASONING = "Reasoning"
ENDPOINTS_OWN = "Endpoint’s own"
TOKEN_BUDGET = "Token budget"
EFFORT_NONE = "None"
EFFORT_MINIMAL = "Minimal"
EFFORT_LOW = "Low"
EFFORT_MEDIUM = "Medium"
EFFORT_HIGH = "High"
EFFORT_EXTRA_HIGH = "Extra high"
EFFORT_MAXIMUM = "Maximum"
MAXIMUM_THINKING_TOKENS = "Thinking tokens (max.)"


def room_for_thinking(tokens: str) -> str:
    return f"Room for {tokens} thinking tokens comes on top of the limit of an answer"


SCORES = "Scores"
FROM_THE_TEXT = "From the text"
TOKEN_PROBABILITIES = "Token probabilities"
TOKEN_PROBABILITIES_TIP = (
    "Token probabilities: expected scores, where the endpoint gives them; the run counts the calls where it does not"
)
FURTHER_FIELDS_OF_NEURON_TIP = "Fields of the request that only this endpoint knows, JSON"
NEURONS_DIFFER_TIP = "The selected neurons differ; a change sets all of them"

# Keyboard shortcuts

KEYBOARD_SHORTCUTS = "Keyboard shortcuts"
SEARCH_THE_SHORTCUTS = "Search the shortcuts"
SEARCH = "Search"
NO_SHORTCUT_MATCHES = "No shortcut matches."
WINDOW = "Window"
ARROW_KEYS = "Arrow keys"
ARROW_KEYS_DO = "Go from neuron to neuron; with Shift, extend the selection"
ENTER = "Enter"
ENTER_OPENS_THE_NEURON = "Open the neuron in the inspector"
CONTROL_PLUS_MINUS = "Ctrl++ / Ctrl+-"
CONTROL_PLUS_MINUS_DO = "One neuron more or fewer in the layer"
ALT_UP_DOWN = "Alt+Up / Alt+Down"
ALT_UP_DOWN_DO = "Move the neuron within its layer"
DELETE = "Delete"
DELETE_DOES = "Remove the selected neurons or the edge"
ENTER_READS_THE_PAIR = "Read the pair"
LETTER_KEYS = "A / T / B"
LETTER_KEYS_DO = "Response A is better, a tie, response B is better"

# About JudgeNet

ABOUT = "About JudgeNet Studio"


def studio_version(version: str) -> str:
    return f"JudgeNet Studio {version}"


def python_and_system(python: str, system: str) -> str:
    return f"Python {python}, {system}"


WHAT_JUDGENET_IS = "Networks of judges for pairs of responses. JudgeNet is free software under the Apache License 2.0."
SHOW_LOG_FILE = "Show log file"


def log_file(path: str) -> str:
    return f"Log file: {path}"


NOTHING_LOGGED_YET = " (nothing was logged yet)"
LICENCES_OF_THE_PARTS = "Licences of the parts"
INTER = "Inter (font)"
OPEN_FONT_LICENCE = "OFL-1.1"
JETBRAINS_MONO = "JetBrains Mono (font)"
IN_THE_PACKAGE = "in the package"

# Two-minute tour

TWO_MINUTE_TOUR = "Two-minute tour"
TOUR_NETWORK_TITLE = "A network of judges"
TOUR_NETWORK = (
    "A question has two answers, A and B. Each neuron of layer 1 judges them in one role, in both orders. Each "
    "neuron of the next layer reads those evaluations and judges again. In the end all neurons vote."
)
TOUR_DESIGN = (
    "Drag the handle under a layer to change its width, press + between two columns to add a layer, drag from the "
    "edge of a neuron to wire by hand. Select a neuron to change its role and model. Its cost is shown below."
)
TOUR_DATA = (
    "Drop a file of pairs on the window. You see how its columns were read and confirm what its labels mean before "
    "anything is imported."
)
TOUR_LABELS = (
    "Choose the better response with A, T (tie) or B, without seeing names or verdicts. Labels of randomly drawn "
    "pairs correct the win rate and give it an interval."
)
TOUR_RUN = (
    "Press Run. Neurons answer layer by layer. Click one to read its evidence as it is written, the evaluations it "
    "received, and its prompt. A mark shows where the two orders disagree or a neuron changed its verdict."
)
TOUR_RESULTS = (
    "How often one response wins, corrected by people's labels, and how well the network agrees with people: with "
    "intervals, and always with the number of pairs behind it. The sliders show the verdicts of smaller networks."
)
TOUR_BIAS = (
    "The lab measures the bias of each layer of the network by order, length, names, an invented majority or a "
    "planted score, compared with chance and with the single judge. Click a row to list its pairs."
)
TOUR_REPORT = "One file that says what was run and what came out. Ctrl+K finds everything else."
BACK = "Back"
NEXT = "Next"
DONE = "Done"

# Cards of the preset networks

RECOMMENDED = "Recommended"
SINGLE_JUDGE = "Single judge"
SINGLE_JUDGE_IS = "One judge, asked once. The baseline."
FAIREVAL = "FairEval"
FAIREVAL_IS = "One judge asked three times, both orders."
FLAT_JURY = "Flat jury"
FLAT_JURY_IS = "Eight roles vote without talking."
TWO_LAYERS = "Two layers"
TWO_LAYERS_ARE = "One neuron per role the model names; layer 2 reads layer 1."
REVIEW_WITH_A_CHAIR = "Review with a chair"
REVIEW_WITH_A_CHAIR_IS = "Reviews, a discussion, one decision."
DIFFERENT_MODELS = "Different models"
DIFFERENT_MODELS_ARE = "Same question, one model for each judge."


def calls_per_pair(calls: str) -> str:
    return f"{calls} per pair"


def about(calls: str) -> str:
    return f"about {calls}"


# Panel of the report's contents

CONTENTS_OF_THE_REPORT = "Contents of the report"
PREVIEW = "Preview"
PREVIEW_PAGES = "Pages"
MARKDOWN = "Markdown"
LENGTH = "Length"
FULL = "Full"
SHORT_ONE_PAGE = "Short (one page)"
PARTS = "Parts"
EXAMPLE_PAIRS_OF_EACH_KIND = "Example pairs of each kind"


def save_as(form: str, what_it_holds: str) -> str:
    return f"Save as {form}: {what_it_holds}"


PICTURES = "Pictures"
ALL_CHARTS = "All charts"
THE_NETWORK = "The network"


def picture_as(what: str, form: str) -> str:
    return f"{what} as {form}"


RUN_HAS_NO_DATA_FOR_THIS_PART = "This run has no data for this part."
CHOOSE_A_RUN_TO_COMPARE = "Choose a run to compare with in the top bar."


def no_pair_in_common(run: int) -> str:
    return f"Run {run} has no pair in common with this one."


SHORT_REPORT_HAS_ITS_OWN_PARTS = "The short report has its own parts."

# Which intervals are shown

INTERVAL = "Interval"


def interval(kind: str) -> str:
    return f"Interval: {kind}"


FIXED_N = "Fixed n"
VALID_AT_ANY_TIME = "Valid at any time"
FIXED_N_SHORT = "fixed n"
AT_ANY_TIME_SHORT = "at any time"
FIXED_N_TIP = (
    "The 95 % interval for one look at a number of pairs that was fixed in advance. If you look repeatedly, or stop "
    "because of what you see, it is wrong far more often than in 5 % of runs."
)
AT_ANY_TIME_TIP = (
    "95 % intervals that are valid together after every pair: look as often as you like, and stop when you know "
    "enough. They are wider. Pairs count in the order in which they were drawn."
)

# Chips

FOR_PEOPLE = "For people"
NO_VERDICT = "No verdict"
A = "A"
B = "B"
TIE = "Tie"

# Criteria of a pair

WITH_WEIGHTS = " with weights"


def weight(number: str) -> str:
    return f" (weight {number})"


# Pictures in a pair

BYTES_CANNOT_BE_SHOWN = "The file cannot be read as a picture."


def cannot_be_shown(reason: str) -> str:
    return f"It cannot be shown ({reason})."


def return_opens_the_first(pictures: str) -> str:
    return f"{pictures}. Return opens the first one."


def not_shown(reason: str) -> str:
    return f"Not shown. {reason}"


def picture_of(picture: str, place: str) -> str:
    return f"{picture} of {place}"


LOADING_THE_PICTURE = "Loading the picture…"


def image_not_loaded(name: str, size: str) -> str:
    return f"[Image, not loaded: {name}, {size}]"
