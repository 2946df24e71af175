"""What the page Data says, in the order in which it is seen."""

from __future__ import annotations

# The page without pairs
NO_PAIRS = "No pairs yet"
WHAT_A_PAIR_IS = (
    "A pair is a question with two responses and, where there is one, what people said. Drop a file or a folder here, "
    "or choose one."
)
CHOOSE_FILE = "Choose a file…"
CHOOSE_FILE_NAME = "Choose a file of pairs"
CHOOSE_FOLDER = "Choose a folder…"
CHOOSE_FOLDER_NAME = "Choose a folder of pairs"
USE_EXAMPLE = "Use the example pairs"
FILE_FORMS = (
    "JSON Lines, JSON, CSV, TSV, Excel, Parquet, or a zip of these. Published sets (LLMEval², FairEval, PandaLM, "
    "LLMBar, JudgeBench, Chatbot Arena and others) are known by their content."
)

# The import: the file
IMPORT = "Import"
OTHER_FILE = "Other file…"
OTHER_FILE_NAME = "Choose another file"
SHEET_NAME = "Sheet of the workbook"
SHEET_TIP = "The sheet that is read"
JSON_LINES = "JSON Lines"
JSON = "JSON"
CSV = "CSV"
TSV = "TSV"
PARQUET = "Parquet"
EXCEL = "Excel"
TEXT = "Text"
JUDGENET_PAIRS = "JudgeNet pairs"
SEVERAL_RESPONSES = "Several responses per question"
ROW_PER_SYSTEM = "A row for each system"


def kilobytes(size: int) -> str:
    return f"{size:,} kB"


def megabytes(size: float) -> str:
    return f"{size:,.1f} MB"


def and_more(first: str, others: int) -> str:
    return f"{first} and {others} more"


AND = " and "
OR = " or "


def read_in(seconds: float) -> str:
    return f"read in {seconds:.1f} s"


def sheet(name: str) -> str:
    return f"Sheet {name}"


# The import: how far it is
PROBLEM = "There is a problem"
READY = "Ready"
LABEL_UNDECIDED = "label is not decided"
LABELS_UNDECIDED = "labels are not decided"


def choose_columns(fields: str) -> str:
    return f"Choose columns: {fields}"


# The import: what is wrong
NUMBER_ROWS = "Number the rows"
LEAVE_OUT_BAD_ROWS = "Leave out bad rows"
READ_AS_WINDOWS = "Read it as Windows-1252"


def row(number: int) -> str:
    return f"row {number:,}"


def column(name: str) -> str:
    return f"column '{name}'"


# The import: columns
COLUMNS = "Columns"
MORE_COLUMNS = "More columns"
FEWER_COLUMNS = "Fewer columns"
RESPONSES_ARE = "The responses are"
A_AND_B = "A and B"
BETTER_AND_WORSE = "Better, worse"
SEVERAL = "Several"
A_ROW_EACH = "A row each"
RESPONSE = "Response"
CHOOSE_COLUMN = "Choose a column"
NOT_READ = "Not read"
SEVERAL_COLUMNS = "Several columns…"


def column_of(field: str) -> str:
    return f"Column of {field}"


def columns_of(field: str) -> str:
    return f"Columns of {field}"


def as_format_has_it(form: str) -> str:
    return f"As the format has it ({form})"


def with_sample(column: str, value: str) -> str:
    return f"{column}   “{value}”"


def candidates(columns: str) -> str:
    return f"It may be {columns}: choose."


def id_candidates(columns: str) -> str:
    return f"Each value of {columns} occurs once: it can be the id."


# The import: the meaning of labels
LABEL_MEANINGS = "Meaning of the labels"
A = "A"
B = "B"
TIE = "tie"
LEAVE_OUT_VALUE = "leave out"
DECIDED = "decided"
TO_BE_DECIDED = "to be decided"
SAY_MEANING = "Say what it means"
WITHOUT_MAJORITY = "Without a majority"
WITHOUT_MAJORITY_NAME = "Annotators without a majority"
NO_LABEL = "no label"


def meaning_of(value: str) -> str:
    return f"Meaning of {value}"


def said_by_annotators(count: int) -> str:
    return f"{count:,} said by annotators"


def labelled(count: int) -> str:
    return f"{count:,} labelled"


def by_annotators(count: int) -> str:
    return f"{count:,} by annotators"


def no_label_column(values: int) -> str:
    return f"The column holds {values:,} different values: that is no label. Choose another column, or none."


def label_needs_choice(label: str) -> str:
    return f"{label} needs your choice before the import."


def labels_need_choice(labels: str) -> str:
    return f"{labels} need your choice before the import."


CHOOSE_COLUMNS_FIRST = "Choose the columns first."


def choose_label_column(columns: str) -> str:
    return f"Choose the column of the label: {columns}."


RATINGS_BECOME_LABELS = "People's ratings of all responses become the labels of the pairs that they cover."
NO_RATINGS = "No column with ranks, scores, a ranking or winners: there will be verdicts, but no accuracy."
COIN_DECIDES = "For each pair, a coin decides whether the better response is A or B; the label says which."
NO_LABEL_COLUMN = "No column with labels: there will be verdicts, but no accuracy."
NO_LABELS_IN_COLUMN = "The column holds no labels."

# The import: pairs of questions with more than two responses
PAIRS_TO_JUDGE = "Pairs to judge"
ALL_PAIRS = "All pairs"
NUMBER_PER_QUESTION = "A number per question"
SHARE = "A share"
PAIRS_PER_QUESTION = "Pairs of each question"
SHARE_NAME = "Share of the pairs, in per cent"
PER_CENT = " %"
SEED = "Seed"
SEED_NAME = "Seed of the sample"
COUNTING_PAIRS = "Counting the pairs …"
CALCULATING_COST = "Calculating the cost …"

# The import: the preview
PREVIEW = "Preview"
PREVIEW_NAME = "Preview of the pairs"
NO_PREVIEW = "Choose the columns to see a preview."
FILE_AS_IT_IS = "The file as it is"
SHOW_FIRST = "Show the first rows"


def first_rows(rows: str) -> str:
    return f"first {rows}"


# The import: findings and the end
IMPORT_FINDINGS = "Findings of the import"
USE = "Use"
CANCEL = "Cancel"
CANCEL_IMPORT = "Cancel the import"


def rows_read(rows: str) -> str:
    return f"{rows} read"


def pairs_from_rows(rows: str, pairs: int) -> str:
    return f"{rows} read, {pairs:,} will be pairs"


def pair_from_rows(rows: str) -> str:
    return f"{rows} read, 1 will be a pair"


def labels_wait(labels: str) -> str:
    return f"{labels} for you to say what they mean."


LABEL_WAITS = "label waits"
LABELS_WAIT = "labels wait"
STOP_RUN_FIRST = "Stop the run first."
STILL_READING = "The files are still being read."
PROBLEM_ABOVE = "There is a problem: see above the preview."
SAY_MEANINGS_FIRST = "Say what each label means first."
STILL_LOOKING = "The pairs are still being looked through."
LOOK_THROUGH_FIRST = "Look through the pairs first."
ALL_LEFT_OUT = "All pairs would be left out."
CANNOT_BE_READ_YET = "The pairs cannot be read yet."
LOOKING_STOPPED = "Not looked through: it was stopped."


def nothing_imported(why: str) -> str:
    return f"Nothing was imported. {why}"


# Findings
FINDINGS = "Findings"
LOOKING = "Looking through the pairs…"
LOOK_THROUGH = "Look through the pairs"
FINE = "Fine"
WARNING = "Warning"
NOTE = "Note"
SHOW = "Show"
SHOW_PAIRS = "Show the pairs"
KEEP = "Keep"
KEEP_ALL = "Keep all"
KEEP_FIRST = "Keep first"
LEAVE_OUT = "Leave out"


def finding(severity: str, title: str, figure: str) -> str:
    return f"{severity}: {title}, {figure}"


def show_pairs_of(finding: str) -> str:
    return f"Show the pairs: {finding}"


def pairs_with(finding: str) -> str:
    return f"Pairs with the finding {finding}"


# Search and filters
SEARCH_AND_FILTERS = "Search and filters"
SEARCH_ALL = "Search all texts"
CLEAR_SEARCH = "Clear the search"
TASK = "Task"
LABEL = "Label"
VERDICT = "Verdict"
AGREEMENT = "Agreement"
FINDING = "Finding"
CHOSEN = "Chosen"
NO_TASK = "no task"
CHOSEN_OPTION = "chosen"
NOT_CHOSEN = "not chosen"
NOT_JUDGED = "not judged yet"
UNSCORED = "unscored"
AGREE = "agree"
DIFFER = "differ"
ALL_PASS = "all"
SHOW_ALL = "Show all"
CLEAR_FILTERS = "Clear all filters"
SEARCHING = "Searching…"


def more_options(count: int) -> str:
    return f"and {count:,} more: search for them"


def filter_by(title: str, values: str) -> str:
    return f"Filter by {title}: {values}"


def pairs_shown(count: int, pairs: str) -> str:
    return f"{count:,} of {pairs}"


# The table of pairs
PAIRS = "Pairs"
NO_PAIR_MATCHES = "No pair matches. Show all clears the search and the filters."

# The open pair
PAIR = "Pair"
PREVIOUS_PAIR = "Previous pair"
NEXT_PAIR = "Next pair"
SHOW_TEXTS = "Show the texts"
MARKDOWN = "Markdown"
PLAIN_TEXT = "Plain text"
PAIR_ALONE = "Pair alone"
CLOSE_PAIR = "Close the pair"
SHOW_IN_RUN = "Show in the run"
SHOW_IN_RUN_NAME = "Show this pair in the run"
TEXT_ABOVE = "Text above the responses"
QUESTION = "Question"
REFERENCE = "Reference"
CRITERIA = "Criteria"
EMPTY = "empty"
PEOPLE = "People"
NETWORK = "Network"
AS_LONG = "as long as A"


def pair(name: str) -> str:
    return f"Pair {name}"


def response(letter: str) -> str:
    return f"Response {letter}"


def times_as_long(times: float) -> str:
    return f"{times:,.0f} times as long as A"


def longer(share: str) -> str:
    return f"{share} longer than A"


def shorter(share: str) -> str:
    return f"{share} shorter than A"


# About the pairs: which are chosen
ABOUT_PAIRS = "About the pairs"
CHOSEN_PAIRS = "Chosen pairs"
ALL = "All"
SHOWN = "Shown"
SAMPLE = "Sample"
PER_TASK = "Per task"
HOW_MANY = "How many pairs"
PAIRS_WORD = "pairs"
OF_EACH_TASK = "of each task"
SEED_WORD = "seed"
CHOOSE_SHOWN = "Choose the pairs shown"
SHOWN_WHEN_CHOSEN = "Those that the filters showed when they were chosen."
SAMPLE_NOTE = "Drawn at random by the seed. A larger sample holds the smaller one, so nothing is paid for twice."
FILTER_FIRST = "Search or filter first: then what is shown can be chosen."
NO_TASKS = "The pairs have no different tasks."


def chosen_of(chosen: int, pairs: str, left_out: str) -> str:
    return f"{chosen:,} of {pairs} chosen{left_out}"


def left_out(count: int) -> str:
    return f", {count:,} left out"


def first_pairs(count: int) -> str:
    return f"The first {count:,} pairs of the file."


def choose_shown_now(count: int) -> str:
    return f"Choose the {count:,} shown now"


# About the pairs: what judging them costs
CALLS = "Calls"
ALREADY_PAID = "Already paid for"
PRICE = "Price"
PRICE_UNKNOWN = "unknown"
TIME = "Time"


def cost_unknown(why: str) -> str:
    return f"What it costs is not known: {why}"


# About the pairs: where they come from
SOURCE = "Source"
COLUMNS_AND_LABELS = "Columns and labels…"
COLUMNS_AND_LABELS_NAME = "Change columns and labels"
NO_HUMAN_LABELS = "No human labels"


def source_facts(pairs: str, size: str, digest: str) -> str:
    return f"{pairs}, {size}, SHA-256 {digest}…"


def labels_of_people(a: int, tie: int, b: int, missing: int) -> str:
    return f"People say A {a:,}, tie {tie:,}, B {b:,}; {missing:,} without a label"


def no_majority(pairs: str) -> str:
    return f"No label yet: {pairs} with annotators but no majority; the page Labels resolves them"


def network_and_people(why: str) -> str:
    return f"Network and people: {why}"


def agreement(share: str, pairs: str, kappa: str, judged: str) -> str:
    return f"Network and people agree on {share} of {pairs}{kappa} ({judged} judged pairs have both)"


def kappa(value: float) -> str:
    return f", kappa {value:.2f}"


# Single pairs: why something cannot be done
SELECT_PAIRS = "Select pairs in the table first."
SELECT_ONE = "Select one pair: texts are edited one at a time."
SELECT_NOT_LEFT_OUT = "Select pairs that are not left out."
NONE_LEFT_OUT = "None of the selected pairs is left out."
NONE_CHANGED = "None of the selected pairs was changed."
NONE_IN_RUN = "The run in focus has none of the selected pairs."
NONE_TO_JUDGE = "No pair would be left to judge."
TEXT_CHANGED = (
    "The text is changed in this project; the file stays as it is. The next run asks the judges about the new text: "
    "calls on the old one are not used again."
)
SELECTED_ON_DATA = "selected on the page Data"


def pair_named(name: str) -> str:
    return f"pair {name}"


# The dialogs that edit a label or texts
SAVE = "Save"
EDIT_HUMAN_LABEL = "Edit the human label"
HUMAN_LABEL = "Human label"
A_IS_BETTER = "A is better"
TIE_CHOICE = "Tie"
B_IS_BETTER = "B is better"
NO_LABEL_CHOICE = "No label"
EDIT_TEXTS_TITLE = "Edit the texts"
RESPONSE_A = "Response A"
RESPONSE_B = "Response B"
CRITERIA_HINT = "[3] Correct: all claims are true.\n[1] Short"
CRITERIA_FORM = "Criteria, one a line: [weight] name: description"
LABEL_NOTE = (
    "The change belongs to this project: the file stays as it is, and Undo takes the change back. Finished runs keep "
    "the label that they were judged with until they are run again."
)
TEXT_NOTE = (
    "The change belongs to this project: the file stays as it is, and Undo takes the change back. Calls with the old "
    "text stay in the store; the next run asks this pair anew."
)


def human_label_of(pairs: str) -> str:
    return f"Human label of {pairs}"


# Edits, as Undo names them
PICK_FORM = "Choose how the file holds the responses"
PICK_MATCHES = "Choose the pairs to judge"
PICK_LABEL = "Say what a label means"
PICK_NO_MAJORITY = "Choose the label without a majority"
LEAVE_PAIRS_OUT = "Leave pairs out"
KEEP_PAIRS = "Keep pairs"
CHANGE_MAPPING = "Change the mapping"
CHOOSE_ALL = "Choose all pairs"
CHOOSE_SAMPLE = "Choose a sample of the pairs"
CHOOSE_PER_TASK = "Choose pairs of each task"
EDIT_LABEL = "Edit label"
EDIT_TEXTS = "Edit texts"


def import_files(names: str) -> str:
    return f"Import {names}"


def choose_the_shown(pairs: str) -> str:
    return f"Choose the {pairs} shown"


def leave_out(pairs: str) -> str:
    return f"Leave out {pairs}"


def include_again(pairs: str) -> str:
    return f"Include {pairs} again"


def edit_of(edit: str, pairs: str) -> str:
    return f"{edit} of {pairs}"


def restore(pairs: str) -> str:
    return f"Restore {pairs}"


# Work in the status bar
OPEN_FILES = "Open the files"
CHECK_PAIRS = "Check the pairs"
IMPORT_PAIRS = "Import the pairs"
END_IMPORT = "End the import"
FIND_PAIRS = "Find the pairs"
SHOW_VERDICTS = "Show the verdicts"
CHOOSE_PAIRS = "Choose pairs"
EDIT_THE_LABEL = "Edit the label"


def read_files(names: str) -> str:
    return f"Read {names}"


# The page around its views

DATA = "Data"
THE_PAIRS = "the pairs"


def reading(files: str) -> str:
    return f"Reading {files}"


PAIRS_NOT_LOADED = "The pairs are not loaded"


def should_come_from(files: str) -> str:
    return f"They should come from {files}. Choose where they are now."


CHOOSE_A_FOLDER = "Choose a folder"

# Why something is not possible now

OPEN_A_PROJECT_FIRST = "Open a project first."
THERE_ARE_NO_PAIRS = "There are no pairs yet."
NO_PAIRS_TO_LOOK_THROUGH = "There are no pairs to look through."
