"""``judgenet experiment``: the experiments of the paper and the baselines, which share calls where they can."""

from __future__ import annotations

import json
import queue
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.common import JsonOption
from judgenet.cli.errors import ExitCode, InputError
from judgenet.cli.progress import Reporter, print_findings
from judgenet.cli.run import CODES, ends_cleanly, follow
from judgenet.cli.run_options import with_options
from judgenet.cli.terminal import Terminal
from judgenet.core.events import Event
from judgenet.core.experiments import (
    EXPERIMENTS,
    FAIREVAL_SAMPLES,
    Experiment,
    ExperimentPreset,
    make,
    selection_of,
    set_name,
)
from judgenet.core.project import select
from judgenet.engine.experiments import Course, ExperimentEstimate, choices_of, estimate_experiment
from judgenet.engine.options import RunOptions
from judgenet.engine.prepare import Setup, prepare
from judgenet.engine.session import Engine
from judgenet.figures.experiment import ExperimentPlace
from judgenet.report.blocks import Block, Bullets, Notice, Paragraph, ReportDocument, Section, plain_line
from judgenet.report.blocks import Table as TableBlock
from judgenet.report.experiment_document import document
from judgenet.report.experiment_files import ResultsError, write_results
from judgenet.report.experiment_results import experiment_set
from judgenet.stats.labour import Labour
from judgenet.store.db import Store
from judgenet.store.secrets import scrub

DEFAULT_OUT = Path("judgenet-experiments")

_SHARED = (
    "pairs", "columns", "labels", "encoding", "language", "endpoint", "base_url", "model", "api_key_env",
    "temperature", "max_tokens", "reasoning", "scores", "extra", "stand_in", "quorum", "seed", "concurrency",
    "max_calls", "token_budget", "price", "budget",
)  # fmt: skip
"""The options of ``run`` that an experiment takes."""


_QUORUM = (
    "No verdict where fewer neurons than this have a valid answer: such pairs count as missing. A verdict that rests "
    "on fewer neurons needs all of them."
)


@partial(with_options, names=_SHARED, texts={"quorum": _QUORUM})
def experiment(
    options: RunOptions,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"One of {', '.join(EXPERIMENTS)}; 'list' says what each does.")
    ],
    limit: Annotated[int | None, typer.Option(min=1, help="Judge at most this many pairs, drawn by --seed.")] = None,
    per_task: Annotated[
        int | None,
        typer.Option(
            min=0, help="Judge this many pairs of each task, drawn by --seed; 0 for all. Default for width-depth: 20."
        ),
    ] = None,
    named: Annotated[
        str | None, typer.Option("--set", help="Name of this set of pairs in the tables. Default: the file's.")
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(help="Neurons in each layer of the network, or 'auto': one per role (the default)."),
    ] = None,
    widths: Annotated[
        str | None, typer.Option(metavar="1..8", help="width-depth: the numbers of neurons, such as 1..8 or 1,2,4.")
    ] = None,
    depths: Annotated[str | None, typer.Option(metavar="1..4", help="width-depth: the numbers of layers.")] = None,
    neurons: Annotated[
        int | None, typer.Option(min=1, help="neuron-budget: the largest number of neurons. Default: 10.")
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="FairEval's k: samples in each order.")] = FAIREVAL_SAMPLES,
    target: Annotated[
        float | None,
        typer.Option(
            help="annotation-saving: the agreement to reach. Default: that of the pairs' annotators, else 0.8."
        ),
    ] = None,
    label_seconds: Annotated[
        float | None, typer.Option(help="annotation-saving: seconds that an annotator needs for a label.")
    ] = None,
    wage: Annotated[
        float | None,
        typer.Option(help="annotation-saving: an annotator's wage, USD an hour; with --label-seconds."),
    ] = None,
    annotators: Annotated[float, typer.Option(help="annotation-saving: how many people label a pair.")] = 1,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Folder of store and results. Experiments in one folder share their calls."),
    ] = DEFAULT_OUT,
    estimate: Annotated[bool, typer.Option("--estimate", help="Show calls, tokens and price; make no call.")] = False,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> int:
    """Run an experiment of the paper, or the baselines: several networks on the same pairs, in one store, so that no
    call is paid for twice. The same command resumes it. Its tables (Markdown, CSV, LaTeX, JSON), plots (SVG) and the
    text of the method go to DIR/NAME; another set of pairs in the same folder is added to the same tables.

    \b
    Examples:
      judgenet experiment list
      judgenet experiment main-table --pairs pairs.jsonl --out paper --estimate
      judgenet experiment main-table --pairs pairs.jsonl --out paper \\
        --endpoint openai --model gpt-4.1-mini --budget 5
      judgenet experiment width-depth --pairs pairs.jsonl --out paper \\
        --widths 1..8 --depths 1..4
    """
    if name == "list":
        _show_list(as_json)
        return ExitCode.DONE
    preset = EXPERIMENTS.get(name)
    if preset is None:
        raise InputError(f"There is no experiment {name!r}. There are: {', '.join(EXPERIMENTS)}.")
    if target is not None and not 0 < target <= 1:
        raise InputError(f"--target {target:g}: a share above 0 and up to 1, such as 0.8.")
    labour = _labour(label_seconds, wage, annotators)
    if limit is not None and per_task:
        raise InputError("--limit and --per-task choose pairs in two ways. Give one of them.")
    # The quorum is the experiment's: its networks have other sizes than the one that is prepared here.
    setup = prepare(replace(options, quorum=None, out=out))
    selection, words = selection_of(preset, limit, per_task, options.seed)
    pairs = select(setup.dataset.pairs, selection)
    source = setup.project.pairs
    assert source is not None
    setup = replace(
        setup,
        start=replace(setup.start, pairs=pairs),
        project=replace(setup.project, pairs=replace(source, selection=selection)),
    )
    changes: dict[str, Any] = {"samples": samples}
    if options.quorum is not None:
        changes["quorum"] = options.quorum
    if width is not None and width.lower() != "auto":
        changes["width"] = _numbers("--width", width)[0]
    if widths is not None:
        changes["widths"] = _numbers("--widths", widths)
    if depths is not None:
        changes["depths"] = _numbers("--depths", depths)
    if neurons is not None:
        changes["budget"] = neurons
    chosen = make(name, choices_of(setup.start, **changes))
    _refuse_too_few(preset, setup)
    named = named or set_name(Path(source.files[0]).absolute())
    if estimate:
        _estimate_only(chosen, setup, as_json)
        return ExitCode.DONE
    return _run(chosen, setup, named, words, target, labour, out / name, as_json=as_json, quiet=quiet)


def _labour(seconds: float | None, wage: float | None, annotators: float) -> Labour:
    """The time and the wage for a label.

    :raises InputError: a number is out of its range.
    """
    for option, value in (("--label-seconds", seconds), ("--wage", wage), ("--annotators", annotators)):
        if value is not None and not 0 < value < float("inf"):
            raise InputError(f"{option} {value:g}: a number above 0.")
    if wage is not None and seconds is None:
        raise InputError("--wage needs --label-seconds too: the cost of a label is its time times the wage.")
    return Labour(seconds, wage, annotators)


def _numbers(option: str, text: str) -> tuple[int, ...]:
    """``1..8``, ``1,2,4`` or ``4`` as numbers."""
    numbers: list[int] = []
    for part in text.split(","):
        low, dots, high = part.partition("..")
        ends = [low, high] if dots else [low]
        if not all(end.strip().isdecimal() and int(end) for end in ends) or int(ends[-1]) > 64:
            raise InputError(f"{option} {text}: whole numbers from 1 to 64, such as 1..8 or 1,2,4.")
        numbers += range(int(ends[0]), int(ends[-1]) + 1)
    if not numbers:
        raise InputError(f"{option} {text}: the first number is larger than the last.")
    return tuple(dict.fromkeys(numbers))


def _refuse_too_few(preset: ExperimentPreset, setup: Setup) -> None:
    """Refuses an experiment without pairs; warns, before anything is paid for, where there are no labels."""
    pairs = setup.start.pairs
    if not pairs:
        raise InputError("There are no pairs to judge.")
    if preset.labels and not any(pair.human for pair in pairs):
        typer.echo(
            f"warning: none of the {len(pairs):,} pairs has a human label: there will be verdicts, but no accuracy "
            "or kappa. Stop here (Ctrl+C) unless labels come later; they cost no call then.",
            err=True,
        )


def _estimate_only(chosen: Experiment, setup: Setup, as_json: bool) -> None:
    store = Store.open(setup.store_path, readonly=True) if setup.store_path.exists() else None
    try:
        experiment_estimate = estimate_experiment(setup.start, chosen, store)
    finally:
        if store is not None:
            store.close()
    if as_json:
        typer.echo(json.dumps({"experiment": chosen.key, **experiment_estimate.to_json()}, allow_nan=False))
    else:
        _show_estimate(experiment_estimate, Terminal())


def _show_estimate(experiment_estimate: ExperimentEstimate, console: Console) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right", overflow="fold")
    for label, text in experiment_estimate.lines():
        table.add_row(label, text)
    console.print(table)


def _run(
    chosen: Experiment,
    setup: Setup,
    named: str,
    selection: str,
    target: float | None,
    labour: Labour,
    folder: Path,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    setup.require_approved()
    console = Terminal(stderr=True)
    with Store.open(setup.store_path) as store:
        setup.save()
        if not quiet:
            print_findings(console, setup.dataset.findings)
            _show_estimate(estimate_experiment(setup.start, chosen, store), console)
        course = Course(store, setup.start, chosen)
        _go(course, store, console, quiet)
        store.require_kept()
        assert course.end is not None
        values = experiment_set(
            store,
            chosen,
            setup.start.pairs,
            course.runs,
            name=named,
            state=course.end.state,
            message=course.end.message,
            target=target,
            labour=labour,
            selection=selection,
            source=dict(setup.start.record.get("source", {})),
            this_time=course.used.calls,
        )
        try:
            results, files = write_results(folder, chosen.key, values)
        except ResultsError as error:
            raise InputError(str(error)) from None
    if as_json:
        place = ExperimentPlace(str(folder), tuple(path.name for path in files))
        sys.stdout.write(replace(results, place=place).to_json() + "\n")
    else:
        show(document(results), Terminal())
        typer.echo(f"Written to {folder}: {', '.join(path.name for path in files)}.")
    if course.end.message and (quiet or course.end.state != "done"):
        typer.echo(f"judgenet: {course.end.state}: {scrub(course.end.message)}", err=True)
    return CODES[course.end.state]


def _go(course: Course, store: Store, console: Console, quiet: bool) -> None:
    """Runs the experiment, one run after the other."""
    with ends_cleanly(), Engine() as engine:
        while (step := course.next()) is not None:
            events: queue.SimpleQueue[Event] = queue.SimpleQueue()
            ids = [pair.id for pair in step.start.pairs]
            with Reporter(console, ids, quiet=quiet, each_pair=False) as reporter:
                if not quiet:
                    head = f"{step.number} of {step.total}: {step.arm.title}"
                    console.print(head, style="bold", markup=False, highlight=False)
                handle = engine.start(store, step.start, events.put)
                finished = follow(handle, events, reporter, None)
            course.ended(step, handle.run, finished, handle.used)


# On the terminal


def show(report_document: ReportDocument, console: Console) -> None:
    """The document on a terminal."""
    console.print(Text(report_document.title, style="bold"))
    for block in report_document.blocks:
        _show_block(block, console)


def _show_block(block: Block, console: Console) -> None:
    if isinstance(block, Section):
        fact = f" ({block.fact})" if block.fact else ""
        console.print(Text(f"\n{block.title}{fact}"), soft_wrap=True)
    elif isinstance(block, TableBlock):
        for part, columns in enumerate(_columns_that_fit(block, console.width)):
            if part:
                console.print()
            table = Table(box=None, pad_edge=False, header_style="bold")
            for column in columns:
                justify: Literal["left", "right"] = "right" if block.numeric[column] else "left"
                table.add_column(Text(block.columns[column]), justify=justify, overflow="fold")
            for row in block.rows:
                cells = (Text(plain_line(row.cells[column])) for column in columns)
                table.add_row(*cells, style="bold" if row.strong else "")
            console.print(table)
    elif isinstance(block, (Notice, Paragraph)):
        console.print(Text(plain_line(block.line)), soft_wrap=True)
    elif isinstance(block, Bullets):
        for item in block.items:
            console.print(Text(f"- {plain_line(item)}"), soft_wrap=True)


_BETWEEN = 2
"""Spaces between the columns of a table."""


def _columns_that_fit(table: TableBlock, width: int) -> list[list[int]]:
    """The columns in parts that fit the terminal, the first one in each of them; an interval stays with its figure."""
    cells = [[name, *(plain_line(row.cells[place]) for row in table.rows)] for place, name in enumerate(table.columns)]
    widths = [max(map(cell_len, column)) + _BETWEEN for column in cells]
    together: list[list[int]] = []
    for place, name in enumerate(table.columns[1:], 1):
        if name == "95 %" and together:
            together[-1].append(place)
        else:
            together.append([place])
    parts, room = [[0]], width - widths[0] + _BETWEEN
    for places in together:
        wanted = sum(widths[place] for place in places)
        if wanted > room and len(parts[-1]) > 1:
            parts.append([0])
            room = width - widths[0] + _BETWEEN
        parts[-1] += places
        room -= wanted
    return parts


def _show_list(as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "name": preset.key,
                "title": preset.title,
                "description": preset.description,
                "calls": preset.cost,
                "needs_labels": preset.labels,
                "pairs_of_each_task": preset.each,
                "reasons": {} if preset.each else {"pairs_of_each_task": "all pairs, unless told otherwise"},
            }
            for preset in EXPERIMENTS.values()
        ]
        typer.echo(json.dumps({"experiments": rows}, allow_nan=False))
        return
    for preset in EXPERIMENTS.values():
        typer.echo(f"{preset.key}\n  {preset.description}\n  {preset.cost}")
