"""``judgenet status``: watches, pauses and stops the shards of a project, from any machine that sees their folder."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, figure, interval_text
from judgenet.cli.errors import ExitCode, InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.wording import of, plural, spent_text
from judgenet.figures.shards import (
    ShardSetFigures,
    missing_words,
    project_shards,
    shard_set,
    state_counts_words,
    trouble_groups,
    trouble_words,
)
from judgenet.store.shard_states import Want, write_command
from judgenet.store.shard_watch import ShardWatch

EVERY_S: Final = 1.0
"""Seconds between two looks of ``--watch``."""
_TROUBLES: Final = 10
"""The most faults that are listed; ``--json`` has all of them, with their shards."""


def status(
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="The project whose shards are run.")],
    watch: Annotated[bool, typer.Option("--watch", help="Update every second until all shards have ended.")] = False,
    pause: Annotated[bool, typer.Option("--pause", help="Pause all shards; calls in flight end.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume paused shards.")] = False,
    stop: Annotated[
        bool, typer.Option("--stop", help="Stop all shards cleanly; the same commands resume them.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Show the shards of a project: states, pairs, calls, cost, failures. Also pauses and stops them.

    It reads small files in the folder of the shards, which must be accessible here; nothing else has to run. Workers
    obey a command within seconds. With --json --watch there is one object a line.

    \b
    Examples:
      judgenet status study.judgenet
      judgenet status study.judgenet --watch
      judgenet status study.judgenet --pause
    """
    wanted: list[Want] = [word for word, given in (("pause", pause), ("run", resume), ("stop", stop)) if given]  # type: ignore[misc]
    if len(wanted) > 1:
        raise InputError("--pause, --resume and --stop: give one of them.")
    looking = ShardWatch(project_shards(project))
    figures = shard_set(project, looking)
    if wanted:
        write_command(looking.folder, wanted[0])
        figures = shard_set(project, looking)
    console = Terminal()
    try:
        while True:
            if as_json:
                typer.echo(json.dumps(figures.to_dict(), allow_nan=False))
            else:
                if watch and console.is_terminal:
                    console.clear()
                print_shards(figures, console)
            if not watch or figures.state in ("done", "failed", "stopped"):
                return ExitCode.FAILED if figures.state == "failed" else ExitCode.DONE
            time.sleep(EVERY_S)
            figures = shard_set(project, looking)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def print_shards(figures: ShardSetFigures, console: Console) -> None:
    """The shards as a table, and what is wrong with some."""
    by = f", led by {figures.engine}" if figures.engine else ""
    console.print(f"{figures.project}: {figures.state}{by}. {figures.message}".rstrip(), soft_wrap=True)
    if figures.want != "run":
        command = {"pause": "pause", "stop": "stop, and none begins"}[figures.want]
        line = f"All shards were told to {command}. To go on: judgenet status {figures.project} --resume"
        console.print(line, soft_wrap=True)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column()
    pairs = figures.pairs
    total = f"{pairs.finished:,} finished ({pairs.reason})" if pairs.total is None else of(pairs.finished, pairs.total)
    table.add_row("shards", state_counts_words(figures.shards))
    if figures.missing and len(figures.missing) < figures.shards.total:
        table.add_row("not begun", missing_words(figures.missing))
    table.add_row("pairs", total)
    table.add_row("calls", f"{figures.calls:,}, {figures.unscored:,} of them unscored")
    rates = figures.rates
    if rates.calls_per_second is None:
        table.add_row("speed", f"n/a – {rates.reason}")
    else:
        speed = "" if rates.pairs_per_second is None else f", {rates.pairs_per_second:,.1f} pairs/s"
        table.add_row("speed", f"{rates.calls_per_second:,.1f} calls/s{speed}")
    table.add_row("price", spent_text(figures.price, figures.unpriced))
    if (agreement := figures.agreement) is not None:
        interval = f" ({interval_text(agreement.ci)})" if agreement.ci is not None else ""
        table.add_row(
            "accuracy",
            f"{figure(agreement.accuracy)}{interval}, kappa {figure(agreement.kappa)}, {agreement.aggregation}, on "
            f"{of(agreement.n, agreement.n_labelled)} labelled pairs of {of(agreement.shards, figures.shards.total)} "
            "shards",
        )
    for endpoint in figures.endpoints:
        said = f": {endpoint.message}" if endpoint.message else ""
        table.add_row(
            "endpoint",
            f"{endpoint.name}, {endpoint.model}: {of(endpoint.in_flight, endpoint.window)} in flight, "
            f"{endpoint.state}{said}",
        )
    console.print(table)
    groups = trouble_groups(figures.troubles)
    for words, troubles in list(groups.items())[:_TROUBLES]:
        console.print(trouble_words(words, troubles), soft_wrap=True)
    if (more := len(groups) - _TROUBLES) > 0:
        console.print(f"… and {plural(more, 'other fault')}; --json has them all")
    if how := _how_to_go_on(figures):
        console.print(how, soft_wrap=True)


def _how_to_go_on(figures: ShardSetFigures) -> str:
    """What to do about shards in trouble; empty where there are none, or somebody sees to them."""
    if figures.troubles and figures.engine != "ray":
        command = f"judgenet run {figures.project} --shard K/{figures.shards.total}"
        return f"To go on with one of them: {command}. It keeps what it has."
    if figures.state == "failed":
        return "To go on with them: the same judgenet run --engine ray. They keep what they have."
    return ""
