"""``judgenet export``: a run as files for other programs, and the network as a graph."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, cast

import typer

from judgenet.cli.common import ProjectOption, RunArgument, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import exact_stdout
from judgenet.core.network import NetworkSpec
from judgenet.core.network_json import from_json
from judgenet.core.project import PROJECT_SUFFIX
from judgenet.core.wording import plural
from judgenet.report.network_files import NETWORK_FORMATS
from judgenet.report.run_files import (
    RUN_EXPORTS,
    WHOLE_EXPORTS,
    ExportedRun,
    ExportFormat,
    Records,
    WholeExport,
    write_export,
    write_text,
)
from judgenet.report.run_records import bias_records
from judgenet.store.db import Store
from judgenet.store.files import FileError, atomic_write, load_project
from judgenet.store.locate import find_run
from judgenet.store.runs import RunInfo


class What(StrEnum):
    CALLS = "calls"
    VERDICTS = "verdicts"
    PAIRS = "pairs"
    ROLES = "roles"
    LABELS = "labels"
    PREFERENCES = "preferences"
    SYSTEMS = "systems"
    LLM_COMPARATOR = "llm-comparator"
    ARGILLA = "argilla"
    LABEL_STUDIO = "label-studio"
    EXPLORER = "explorer"
    DATASET = "dataset"
    BIAS = "bias"
    NETWORK = "network"


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"
    GRAPHML = "graphml"
    DOT = "dot"
    SVG = "svg"


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


def export(
    run: RunArgument,
    what: Annotated[
        What,
        typer.Option(
            metavar="KIND",
            help="calls: every call in full; verdicts: one row per pair; pairs: as a file of pairs, "
            "with their pictures; roles; labels: the human labels with their history; preferences: chosen "
            "and rejected responses for training; systems: one row per response with its system's score; "
            "llm-comparator, argilla, label-studio: files of these programs; explorer: one HTML file to "
            "explore; dataset: a folder with a card; bias: every pair that a bias lab counts, with its answers "
            "(RUN is then the lab's folder, or FOLDER/lab-2), or that bias --recorded counts (a folder without "
            "a lab, or FOLDER/run-1); network: the graph of who reads whom, of a project file as it stands, or "
            "of a run.",
        ),
    ],
    format: Annotated[
        Format | None,
        typer.Option(
            help="jsonl, csv or parquet; systems are csv, files of other programs json, unless asked otherwise; a "
            "network is json (node-link, the default), graphml, dot (Graphviz) or svg (a picture). judgenet network "
            "import reads graphml and json. Default: the ending of -o, else the first of these.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write; standard output if left out.")
    ] = None,
    aggregation: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The verdicts in preferences, systems and suggestions: c1, c2_all …, or human for the human labels. "
            "Default: the network's.",
            show_default=False,
        ),
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Write a run for other programs: calls, verdicts, labels, preferences for training, files of labelling tools.

    What an export leaves out, such as ties among preferences, is counted and reported.

    Example: judgenet export out --what preferences -o preferences.parquet

    Example: judgenet export study.judgenet --what network --format graphml -o network.graphml
    """
    if what in WHOLE_EXPORTS:
        _write_whole(WHOLE_EXPORTS[what], run, output, aggregation, project)
        return
    formats: dict[What, tuple[str, ...]] = {What.NETWORK: tuple(NETWORK_FORMATS), What.BIAS: _LINES}
    kind = _format(what, format, output, formats[what] if what in formats else RUN_EXPORTS[what].formats)
    if what is What.NETWORK:
        _write_text(NETWORK_FORMATS[kind](_network_of(run, project)), output)
    elif what is What.BIAS:
        path, name = find_run(run, project)
        with Store.open(path, readonly=True) as store:
            _write(Records("answered pair of biases and judges", partial(bias_records, store, name)), kind, output)
    else:
        with open_run(run, project) as (store, info):
            exported = _exported(store, info, aggregation)
            _write(RUN_EXPORTS[what].of(exported), kind, output)
            if exported.pictures.words:
                typer.echo(exported.pictures.words, err=True)
            if exported.left_out:
                typer.echo(f"Left out: {exported.left_out_words}", err=True)


_LINES: tuple[ExportFormat, ...] = ("jsonl", "csv")


def _format(what: What, asked: Format | None, output: Path | None, allowed: Sequence[str]) -> str:
    """The format that was asked for, or that of the file's ending, else the default.

    :raises InputError: there is no such format of this export.
    """
    ending = "" if output is None else output.suffix.removeprefix(".").lower()
    usual = "json" if what is What.NETWORK else allowed[0]
    format = str(asked or (ending if ending in allowed else usual))
    if format not in allowed:
        raise InputError(f"--format {format}: --what {what} is written as {', '.join(allowed)}.")
    return format


def _exported(store: Store, info: RunInfo, aggregation: str | None) -> ExportedRun:
    try:
        return ExportedRun.of(store, info, aggregation)
    except ValueError as error:
        raise InputError(f"--aggregation: {error}") from None


def _write(records: Records, format: str, output: Path | None) -> None:
    """Writes records to a file, or to standard output."""
    kind = cast("ExportFormat", format)
    if output is not None:
        try:
            count = write_export(records, kind, output)
        except FileError as error:
            raise InputError(f"-o {error}") from None
        typer.echo(f"{output}: {plural(count, records.unit)}", err=True)
        return
    if kind == "parquet":
        raise InputError("--format parquet: this is a binary format. Name a file with -o.")
    try:
        write_text(records, kind, exact_stdout())
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe (head, less) has seen enough. What is left must not fail when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_whole(
    export: WholeExport, run: str, output: Path | None, aggregation: str | None, project: Path | None
) -> None:
    """Writes an export that is a file or a folder of its own form."""
    if output is None:
        kind = f"file, such as run{export.suffix}" if export.suffix else "new folder"
        raise InputError(f"{export.title}: name a {kind}, with -o.")
    with open_run(run, project) as (store, info):
        exported = _exported(store, info, aggregation)
        try:
            counts = export.write(exported, output)
        except FileError as error:
            raise InputError(f"-o {error}") from None
    typer.echo(f"{output}: {', '.join(plural(count, unit) for unit, count in counts.items())}", err=True)
    if exported.left_out:
        typer.echo(f"Left out of the preferences: {exported.left_out_words}", err=True)
