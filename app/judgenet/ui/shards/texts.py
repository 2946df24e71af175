"""What the page Run says about shards, in the order in which it is seen."""

from __future__ import annotations

# The switch in the top bar
SHOWN_PART = "What the page shows"
SHARDS = "Shards"
PAIRS = "Pairs"


def shards_shown(count: str) -> str:
    return f"{count} shards"


# The head of the view
ALL_SHARDS = "All shards"
WAITING = "Waiting"
RUNNING = "Running"
PAUSED = "Paused"
STOPPED = "Stopped"
ALL_DONE = "All shards are done"


def failed_shards(shards: str) -> str:
    return f"{shards} failed"


def silent_shards(shards: str) -> str:
    return f"No news of {shards}"


def led_by(engine: str) -> str:
    return f"Led by {engine}. "


PAUSE = "Pause"
PAUSE_ALL = "Pause all shards"
RESUME = "Resume"
RESUME_ALL = "Resume all shards"
NONE_RUNNING = "No shard is running."
STOP = "Stop"
STOP_ALL = "Stop all shards"
STOPPING = "Stopping…"
MERGE = "Make one run"
MERGE_TIP = "Puts all shards into the project's own store, so that Run goes on with them"

# The figures
DONE_SHARDS_FIGURE = "shards done"
PAIRS_FIGURE = "pairs"
PAIRS_UNKNOWN = "The total is unknown until all shards have begun."
PAIRS_PER_SECOND_FIGURE = "pairs/s"
CALLS_PER_SECOND_FIGURE = "calls/s"
RATE_UNKNOWN_YET = "Known after a few seconds."
PRICE_FIGURE = "price"
PRICE_UNKNOWN = "unknown"


def price_partly_unknown(calls: str) -> str:
    return f"price, {calls} unknown"


UNSCORED_FIGURE = "unscored"


def of_calls(calls: str) -> str:
    return f"of {calls}"


ACCURACY_FIGURE = "accuracy against people"
NO_LABELS = "No pair of the shards that have ended is labelled."


def accuracy_basis(aggregation: str, labelled: str, shards: str) -> str:
    return f"{aggregation}, on {labelled} labelled pairs of {shards} shards."


# The grid of shards
GRID = "Grid of shards"


def shard_state(shard: str, state: str) -> str:
    return f"Shard {shard}: {state}"


def shard_progress(shard_and_state: str, pairs: str) -> str:
    return f"{shard_and_state}, {pairs} pairs"


# The line below the grid
READING = "The shards that have ended are being read."
RESULTS_LATER = "Results appear when the first shard has ended."
READ_ENDED = "Read them"


def shards_in_results(shards: str) -> str:
    return f"Results, Labels and Report show {shards} shards."


MORE_HAS = "more has"
MORE_HAVE = "more have"


def ended_since(more_have: str) -> str:
    return f" {more_have} ended since."


def pairs_of_shard(shard: str) -> str:
    return f"of shard {shard}"


# The inspector of a shard
INSPECTOR = "Inspector of a shard"
INSPECTOR_WIDTH = "Width of the inspector of a shard"
CHOOSE_SHARD = "Choose a shard to see how it is."
NOT_BEGUN = "It has not begun."
CALLS = "Calls"
UNSCORED = "Unscored"
PRICE = "Price"
ATTEMPT = "Attempt"
MACHINE = "Machine"
LAST_NEWS = "Last news"


def shard_number(index: int, total: int) -> str:
    return f"Shard {index:,} of {total:,}"


def ago(time: str) -> str:
    return f"{time} ago"


def silent_for(time: str) -> str:
    return (
        f"It was running, but has sent no news for {time}. Its machine may be gone. What it had copied is kept; "
        "start the shard again."
    )


SHOW_PAIRS = "Show its pairs"
SHOW_PAIRS_TIP = "Its pairs, on this page"
PAIRS_LATER = "Its pairs can be shown when it has ended and was read."
OPEN_STORE = "Open its store"
OPEN_STORE_TIP = "Read-only, as it is on the disk now"
NO_STORE_YET = "It has not begun: there is no store yet."
LOOKING_FOR_STORE = "Looking for its store…"
STORE_ON_WORKER = "Its store is on its worker's disk until it ends, or until it is next copied."


def parallel_calls(endpoint: str, model: str, calls: str) -> str:
    return f"{endpoint}, {model}: {calls} parallel calls"


ENDPOINT_SLOW = "; slowed down by the endpoint"


def endpoint_stopped(why: str) -> str:
    return f"; stopped. {why}"


SHOW_FAULTY_SHARD = "Show the shard"


def faulty_shards(number: int) -> str:
    return f"Shards with fault {number}"


def go_through_shards(count: int) -> str:
    return f"Go through {count:,} shards"


OTHER_FAULT = "other fault"


def more_faults(faults: str) -> str:
    return f"and {faults}"


# Why something cannot be done, and what went wrong
BEING_READ = "The shards are being read."
STORE_NOT_WRITABLE = "The project's store cannot be written."
NO_STORE = "There is no store."
NONE_ENDED = "No shard has ended yet."
STILL_RUNNING = "Shards are still running. Merging before they end leaves out their answers."
OPEN_ELSEWHERE = "The shards are open in another window: they are open read-only here."
THE_SHARDS = "The shards"
TRY_AGAIN = "Try again"


def shard(number: str) -> str:
    return f"Shard {number}"


def shard_shown(shard: str) -> str:
    return f"Shard {shard} is shown. It can only be read."


# Work in the status bar
LOOK_AT_SHARDS = "Look at the shards"
READ_SHARDS = "Read the shards"
OPEN_SHARD = "Open a shard"
MERGE_SHARDS = "Merge the shards"
COMMAND_SHARDS = "Send a command to the shards"


# The status bar
def shards_status(shards_by_state: str) -> str:
    return f"Shards: {shards_by_state}"


def pairs_judged(pairs: str) -> str:
    return f"{pairs} pairs judged"
