"""``judgenet estimate``: what a run would cost, before anything is sent."""

from __future__ import annotations

import json
from typing import Any

import typer
from rich.table import Table

from judgenet.cli.common import JsonOption
from judgenet.cli.progress import print_findings
from judgenet.cli.run_options import with_setup
from judgenet.cli.terminal import Terminal
from judgenet.core.batches import USUAL_HOURS, stages_of
from judgenet.core.wording import plural
from judgenet.engine.batches import BatchChoice
from judgenet.engine.estimate import estimate_run
from judgenet.engine.prepare import Setup
from judgenet.store.db import Store


@with_setup
def estimate(setup: Setup, as_json: JsonOption = False) -> int:
    """Count the calls, tokens and price of a run before it is started. Takes the options of run.

    Answers that the store has already cost nothing and are counted separately. An unknown price is unknown, never 0.
    Findings of the import come first.

    \b
    Example: judgenet estimate --pairs pairs.jsonl --width 4 --depth 2 \\
        --endpoint openai --model gpt-4.1-mini
    """
    store = Store.open(setup.store_path, readonly=True) if setup.store_path.exists() else None
    try:
        run_estimate = estimate_run(setup.start, store)
    finally:
        if store is not None:
            store.close()
    several = setup.dataset.systems
    record: dict[str, Any] = run_estimate.to_json() | {"systems": None if several is None else several.to_json()}
    if several is None:
        record["reasons"]["systems"] = "each record is one pair of responses"
    if as_json:
        typer.echo(json.dumps(record, allow_nan=False))
        return 0
    print_findings(Terminal(stderr=True), setup.dataset.findings)
    console = Terminal()
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    if several is not None:
        console.print(f"{several.line()}.", soft_wrap=True)
    for name, text in run_estimate.lines():
        if name == "time" and isinstance(setup.start.batch, BatchChoice):
            batches = plural(len(stages_of(setup.start.spec)), "batch", "batches")
            text = f"{batches}, one after the other, each within {USUAL_HOURS} h"
        table.add_row(name, text)
    console.print(table)
    if setup.start.until is not None or setup.start.auto_matches:
        console.print("This is an upper bound: the run stops by itself when enough is known.", soft_wrap=True)
    return 0
