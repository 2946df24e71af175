"""``judgenet export``: calls, verdicts and roles of a run as lines that other programs read."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from judgenet.cli.common import ProjectOption, RunArgument, open_output, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import exact_stdout
from judgenet.core.documents import well_formed
from judgenet.core.evaluation import Evaluation, Unscored
from judgenet.core.network import NetworkSpec
from judgenet.core.network_json import from_json
from judgenet.core.project import PROJECT_SUFFIX
from judgenet.formats.tables import guard_cell
from judgenet.report.network_files import NETWORK_FORMATS
from judgenet.stats.lab import counted_pairs
from judgenet.store.columns import DONE_PHASE
from judgenet.store.db import Store
from judgenet.store.files import atomic_write, load_project
from judgenet.store.frame import RunFrame
from judgenet.store.labels import history_records
from judgenet.store.labs import lab_result, labs
from judgenet.store.locate import find_run
from judgenet.store.run_bias import run_bias
from judgenet.store.runs import RunInfo, full_calls, run_info, run_pairs, runs


class What(StrEnum):
    CALLS = "calls"
    VERDICTS = "verdicts"
    ROLES = "roles"
    LABELS = "labels"
    BIAS = "bias"
    NETWORK = "network"


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    GRAPHML = "graphml"
    JSON = "json"
    DOT = "dot"
    SVG = "svg"


def call_records(store: Store, run: RunInfo) -> Iterator[dict[str, Any]]:
    """One record a call. Layer 0 is role generation, which has neither neuron nor order."""
    for call in full_calls(store, run):
        site, result = call.site, call.result
        scored = result if isinstance(result, Evaluation) else None
        yield {
            "pair_id": call.pair_id,
            "layer": site.layer,
            "neuron": site.neuron or None,
            "role": call.role,
            "order": site.order,
            "sample": site.sample,
            "endpoint": call.endpoint,
            "model": call.model,
            "returned_model": call.returned_model,
            "status": call.status,
            "reason": result.reason.value if isinstance(result, Unscored) else None,
            "detail": result.detail if isinstance(result, Unscored) else None,
            "verdict": None if scored is None else scored.verdict,
            "score_a": None if scored is None else scored.score_a,
            "score_b": None if scored is None else scored.score_b,
            "evidence": None if scored is None else scored.evidence,
            "missing": list(call.missing),
            "messages": [{"role": role, "content": text} for role, text in call.messages],
            "raw_text": call.raw_text,
            "earlier_answers": list(call.earlier),
            "thinking": call.thinking,
            "finish_reason": call.finish_reason,
            "form": call.form,
            "parameters": call.parameters,
            "applied": call.applied,
            "usage": call.usage,
            "price": call.price,
            "latency_s": call.latency_s,
            "attempts": call.attempts,
            "cached": call.cached,
            "started_at": datetime.fromtimestamp(call.started_at, UTC).isoformat(),
        }


def verdict_records(store: Store, run: RunInfo) -> Iterator[dict[str, Any]]:
    """One record a pair, finished or not: an outstanding verdict is ``null``."""
    frame = RunFrame.read(store, run)
    pairs, table, judged = frame.pairs, frame.table, frame.judged.tolist()
    means = [[None if score != score else score for score in of.tolist()] for of in frame.mean_scores()]
    neurons = len(frame.places)
    used = table.calls[:, :neurons].sum(axis=(1, 2, 3)).tolist()
    total = table.asked[:, :neurons].sum(axis=1).tolist()
    for index, pair_id in enumerate(pairs.ids):
        done = judged[index]
        record: dict[str, Any] = {"pair_id": pair_id, "human": frame.human_label(index)}
        record.update({name: frame.verdict(name, index) for name in frame.aggregations})
        record.setdefault("chair", None)
        record.update(
            mean_a=means[0][index],
            mean_b=means[1][index],
            votes_a=int(table.cast[index, 0]) if done else None,
            votes_b=int(table.cast[index, 1]) if done else None,
            votes_tie=int(table.cast[index, 2]) if done else None,
            calls_used=used[index] if done else 0,
            calls_total=total[index] if done else int(pairs.expected[index]) or None,
            state="open" if frame.states[index] < DONE_PHASE else frame.pair_state(index),
            note=pairs.note_texts[pairs.notes[index]] or None,
            task=pairs.task_names[pairs.tasks[index]],
        )
        yield record


def role_records(store: Store, run: RunInfo) -> Iterator[dict[str, Any]]:
    """One record a role of a pair, in the order of the neurons."""
    for pair in run_pairs(store, run):
        for number, role in enumerate(pair.roles or (), 1):
            yield {
                "pair_id": pair.pair.id,
                "task": pair.pair.task,
                "neuron": number,
                "role": role.name,
                "description": role.description,
                "note": pair.note or None,
            }


def label_records(store: Store, run: RunInfo) -> Iterator[dict[str, Any]]:
    """One record a label given at the desk or imported, of the pairs of a run: all that ever was, with what is in
    force. ``label`` is about the responses of the pair, whatever the side on which they were shown."""
    yield from history_records(store, (pair.pair for pair in run_pairs(store, run)))


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return guard_cell(well_formed(value))
    if isinstance(value, (dict, list)):
        return guard_cell(json.dumps(value, allow_nan=False))
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


class _UnixLines:
    """Takes rows that end with CR LF, and writes them with the line ends of text files."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, row: str) -> int:
        return self._out.write(row.removesuffix("\r\n") + "\n")


def write_records(records: Iterable[dict[str, Any]], format: Format, out: TextIO) -> int:
    """Writes records one by one, so that memory stays flat. Returns how many.

    JSON Lines hold lone surrogates as escapes and never NaN. In CSV a text cell that a spreadsheet would take for
    a formula gets an apostrophe; numbers stay as they are; a missing value is an empty cell.
    """
    count = 0
    writer: csv.DictWriter[str] | None = None
    for record in records:
        count += 1
        if format is Format.JSONL:
            out.write(json.dumps(record, allow_nan=False) + "\n")
            continue
        if writer is None:
            # The writer quotes the characters of its own line end, so that only this one quotes a bare carriage return.
            writer = csv.DictWriter(_UnixLines(out), list(record), lineterminator="\r\n")
            writer.writeheader()
        writer.writerow({name: _cell(value) for name, value in record.items()})
    return count


def write_file(records: Iterable[dict[str, Any]], format: Format, path: Path, option: str) -> int:
    """Writes records to a file and returns how many. Written beside and moved: a stopped export leaves no half file in
    the place of a whole one.

    :raises InputError: it cannot be written; ``option`` names it.
    """
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder. Name a file in it.")
    beside = path.with_name(path.name + ".part")
    with open_output(option, beside, "w") as out:
        count = write_records(records, format, out)
    beside.replace(path)
    return count


def bias_records(store: Store, name: str | None = None) -> Iterator[dict[str, Any]]:
    """One record for every pair behind every figure of a bias lab, with the answers to its prompts; of a run's biases
    (``bias --recorded``) where ``name`` is a run, or the store has no lab."""
    ordinary = any(run.id == name for run in runs(store)) if name else not labs(store)
    result = run_bias(store, run_info(store, name)).result if ordinary else lab_result(store, name)
    return counted_pairs(result)


def _network_of(run: str, project: Path | None) -> NetworkSpec:
    """The network of a project file, or the one that a run was judged by."""
    if run.endswith(PROJECT_SUFFIX) and Path(run).is_file():
        return load_project(Path(run)).network
    with open_run(run, project) as (_, info):
        return from_json(info.record["network"])


def _write_text(text: str, output: Path | None) -> None:
    """Writes to a file, whole or not at all, or to standard output."""
    if output is None:
        exact_stdout().write(text)
        sys.stdout.flush()
        return
    if output.is_dir():
        raise InputError(f"-o {output}: is a folder. Name a file in it.")
    output.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(output, text)
    typer.echo(f"{output}: the network", err=True)


_RECORDS = {
    What.CALLS: call_records,
    What.VERDICTS: verdict_records,
    What.ROLES: role_records,
    What.LABELS: label_records,
}


def export(
    run: RunArgument,
    what: Annotated[
        What,
        typer.Option(
            help="calls: all of each call; verdicts: a line a pair; roles; people's labels; bias: every pair that a "
            "bias lab counts, with its answers (RUN is then the lab's folder, or FOLDER/lab-2), or that bias "
            "--recorded counts (a folder without a lab, or FOLDER/run-1); network: the graph of who reads whom, of a "
            "project file as it stands, or of a run."
        ),
    ],
    format: Annotated[
        Format | None,
        typer.Option(
            help="jsonl (the default) or csv; of a network json (node-link, the default), graphml, dot (Graphviz) or "
            "svg (a picture). judgenet network import reads graphml and json.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write; standard output if left out.")
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Write the calls, verdicts, roles or human labels of a run, the pairs behind biases, or the network.

    Example: judgenet export out --what verdicts --format csv -o verdicts.csv

    Example: judgenet export study.judgenet --what network --format graphml -o network.graphml
    """
    allowed = tuple(map(Format, NETWORK_FORMATS)) if what is What.NETWORK else (Format.JSONL, Format.CSV)
    format = format or (Format.JSON if what is What.NETWORK else Format.JSONL)
    if format not in allowed:
        raise InputError(f"--format {format}: --what {what} is written as {', '.join(allowed)}.")
    if what is What.NETWORK:
        _write_text(NETWORK_FORMATS[format](_network_of(run, project)), output)
        return
    with ExitStack() as stack:
        if what is What.BIAS:
            path, name = find_run(run, project)
            records = bias_records(stack.enter_context(Store.open(path, readonly=True)), name)
        else:
            store, info = stack.enter_context(open_run(run, project))
            records = _RECORDS[what](store, info)
        if output is None:
            try:
                write_records(records, format, exact_stdout())
                sys.stdout.flush()
            except BrokenPipeError:
                # The reader of the pipe (head, less) has seen enough. What is left must not fail when Python ends.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
        count = write_file(records, format, output, "-o")
        named = "answered pairs of biases and judges" if what is What.BIAS else what.value
        typer.echo(f"{output}: {count:,} {named}", err=True)
