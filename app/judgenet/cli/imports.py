"""``judgenet import``: judgments made elsewhere as a run."""

from __future__ import annotations

import json
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from judgenet.cli.common import JsonOption
from judgenet.cli.errors import InputError
from judgenet.cli.progress import print_findings
from judgenet.cli.run_options import with_options
from judgenet.cli.terminal import Terminal
from judgenet.core.wording import plural
from judgenet.engine.options import RunOptions
from judgenet.engine.prepare import read_named
from judgenet.engine.recorded_project import record_judgments
from judgenet.formats.judgments import parse_conditions, read_judgments
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.recorded import NEURON, describe

_PAIRS = ("pairs", "columns", "labels", "encoding", "sheet", "leave_out_bad", "unpack_limit")
"""The options for reading files of pairs, as in ``run``."""


class ReadingOption(StrEnum):
    RECORDED = "recorded"
    TEXT = "text"


class UnreadOption(StrEnum):
    MISSING = "missing"
    TIE = "tie"


@partial(with_options, names=_PAIRS, texts={"pairs": "The pairs that were judged; several files as in run."})
def import_judgments(
    options: RunOptions,
    judgments: Annotated[
        list[Path],
        typer.Argument(metavar="JUDGMENTS...", help="Files of judgments; several become one run.", show_default=False),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder for the run.", show_default=False)],
    reading: Annotated[
        ReadingOption,
        typer.Option(
            help="recorded: the verdicts and scores of the source, and its texts where it has none; "
            "text: the texts, read by JudgeNet's own reader."
        ),
    ] = ReadingOption.RECORDED,
    where: Annotated[
        str | None,
        typer.Option(
            help="Only judgments with these values: judge=GPT-4,prompt=CoT,prompt=Vanilla. Several values of a column "
            "are alternatives, * stands for any characters, task may be the pairs' task.",
            show_default=False,
        ),
    ] = None,
    neuron: Annotated[str, typer.Option(help="The columns that name a neuron.")] = ",".join(NEURON),
    unread: Annotated[
        UnreadOption,
        typer.Option(help="How to count a call in which the source read nothing: missing, or a tie."),
    ] = UnreadOption.MISSING,
    as_json: JsonOption = False,
) -> None:
    """Make a run from judgments that were made elsewhere, so that metrics, report and the other commands work on it.

    Each judge, or judge and prompt, becomes a neuron of one layer, named JUDGE or JUDGE|PROMPT. Of several stages of
    a judge the last one counts; several judgments of a pair in one order are samples.

    \b
    Judgments are a table with pair_id, judge, order (ab: response A was shown
    first, or ba) and one of
      text     the judge's reply
      verdict  a, b or tie: which response is better, whatever the order
      scores   of responses A and B, whatever the order
    or the files of PandaLM, MT-bench, AlpacaEval, LLM Comparator, arena-hard or
    JudgeBench.

    \b
    Example: judgenet import judgments.jsonl --pairs pairs.jsonl --out recorded
    """
    conditions = None if where is None else parse_conditions(where)
    files = read_judgments(judgments)
    source, dataset = read_named(options)
    print_findings(Terminal(stderr=True), dataset.findings)
    by = tuple(part.strip() for part in neuron.split(",") if part.strip())
    if not by:
        raise InputError("--neuron: names no column. Name one or several: --neuron judge,prompt")
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: is a file. Name a folder.")
    run, selected = record_judgments(
        out / RUN_PROJECT,
        files,
        dataset,
        source,
        conditions=conditions,
        where=where,
        neuron=by,
        reading=reading.value,
        unread=unread.value,
    )
    recorded = run.record["recorded"]
    if as_json:
        typer.echo(json.dumps({"run": run.id, "place": str(out), "neurons": list(selected.names), **recorded}))
        return
    typer.echo(
        f"{run.id}: {plural(len(selected.pairs), 'pair')}, {plural(len(selected.names), 'neuron')}. "
        f"{describe(recorded)}"
    )
    left_out = {name: count for name, count in selected.notes.items() if count}
    for name, count in left_out.items():
        typer.echo(f"Left out: {count:,} {name.replace('_', ' ')}", err=True)
