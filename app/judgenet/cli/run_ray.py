"""``judgenet run --engine ray``: the shards of a study on the workers of a Ray cluster, or of this machine."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import NamedTuple, TextIO

import typer

from judgenet.cli.errors import ExitCode, InputError
from judgenet.cli.metrics import print_metrics
from judgenet.cli.run import ends_cleanly
from judgenet.cli.terminal import Terminal
from judgenet.core.project import Project
from judgenet.core.wording import plural, spent_text
from judgenet.engine.divided_run import ClusterOptions, DividedRun
from judgenet.engine.prepare import Setup
from judgenet.engine.ray_shards import RayRun, RayShards, joined, workers_of
from judgenet.engine.session import Start
from judgenet.engine.shard_events import ShardEventReader
from judgenet.figures.metrics import run_metrics
from judgenet.store.db import Store
from judgenet.store.locate import find_store
from judgenet.store.runs import run_info
from judgenet.store.shard_states import ShardsReport
from judgenet.store.shards import read_shards
from judgenet.store.taught import fair_frame

_LINE_EVERY_S = 10.0
_DRAW_EVERY_S = 0.5
_MOST_CALLS = 10_000_000
"""With more calls than this no figures are printed at the end (they take 80 s for a million)."""
_GO_ON = " All workers wait. Once this is fixed: judgenet status PROJECT --resume; Ctrl+C ends the run."


class RayOptions(NamedTuple):
    """The options of the command for Ray; ``events`` is the file to which all events are written."""

    address: str | None = None
    workers: int | None = None
    shards: int | None = None
    events: TextIO | None = None


class _Progress:
    """A line that is drawn again on a terminal, and a line now and then elsewhere."""

    def __init__(self, console: Terminal, *, quiet: bool) -> None:
        self._console = console
        self._quiet = quiet
        self._told = 0.0
        self._state = self._message = ""

    def take(self, report: ShardsReport) -> None:
        now = time.monotonic()
        every = _DRAW_EVERY_S if self._console.is_terminal else _LINE_EVERY_S
        new = (report.state, report.message) != (self._state, self._message)
        if self._quiet or (not new and now - self._told < every):
            return
        new_message = report.message != self._message
        self._told, self._state, self._message = now, report.state, report.message
        line = progress_line(report)
        if report.message and new_message:
            also = _GO_ON if report.state == "paused" else ""
            self._print(report.message + also, "\n")
        self._print(line, "\r" if self._console.is_terminal else "\n")

    def _print(self, line: str, end: str) -> None:
        width = self._console.width if end == "\r" else 0
        text = line[:width].ljust(width) if width else line
        self._console.print(text, end=end, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        if not self._quiet and self._console.is_terminal:
            self._console.print()


def progress_line(report: ShardsReport) -> str:
    """The state of all shards in one line."""
    states = report.by_state
    parts = [f"{states.get('done', 0):,} of {plural(report.shards, 'shard')} done"]
    parts += [f"{states[state]:,} {state}" for state in ("running", "failed") if states.get(state)]
    parts.append(f"{report.pairs.get('done', 0):,} of {plural(report.pairs.get('total', 0), 'pair')}")
    parts.append(f"{plural(report.calls, 'call')}, {report.calls_per_second:,.1f} a second")
    parts.append(spent_text(report.price, report.unpriced))
    return f"{report.state}: " + " · ".join(parts)


def run_on_ray(setup: Setup, options: RayOptions, *, as_json: bool, quiet: bool) -> int:
    """Judges the shards of a study on Ray, and prints the figures of all that have ended.

    :raises InputError: there is no project.
    :raises OptionError: it cannot be divided so, or Ray cannot be used.
    """
    if setup.given is None:
        raise InputError(
            "--engine ray needs a project file. Save the study as a project, or take the run.judgenet of a run."
        )
    with ends_cleanly():
        report, folder = judge_on_ray(setup.start, setup.project, setup.project_path, options, quiet=quiet)
    _print_figures(folder, report, as_json=as_json, quiet=quiet)
    return _code(report)


def judge_on_ray(
    start: Start, project: Project, project_path: Path, options: RayOptions, *, quiet: bool
) -> tuple[ShardsReport, Path]:
    """Judges the shards of a start on Ray; returns their final state and their folder.

    :raises OptionError: it cannot be divided so, or Ray cannot be used.
    """
    progress = _Progress(Terminal(stderr=True), quiet=quiet)
    with joined(options.address, options.workers or os.cpu_count() or 1) as ray:
        log = options.events
        cluster = ClusterOptions(options.workers or workers_of(ray), options.shards, events=log is not None)
        divided = DividedRun(start, project, project_path, cluster)
        events = None if log is None else ShardEventReader(log, divided.folder, divided.of)
        run = RayRun(divided.plan(), divided.of, divided.folder, divided.job, events=events)
        shards = RayShards(ray, run, progress.take)
        try:
            return shards.follow(), divided.folder
        finally:
            progress.close()
            shards.end()


def _code(report: ShardsReport) -> ExitCode:
    if report.state == "done":
        return ExitCode.DONE
    if report.state == "stopped":
        return ExitCode.BUDGET if report.message.startswith("Stopped by the limit") else ExitCode.INTERRUPTED
    return ExitCode.FAILED


def _print_figures(folder: Path, report: ShardsReport, *, as_json: bool, quiet: bool) -> None:
    if report.message and (quiet or as_json):
        typer.echo(f"judgenet: {report.state}: {report.message}", err=True)
    if not any(folder.glob("*-of-*/manifest.json")):
        return
    if report.calls > _MOST_CALLS:
        typer.echo(f"The figures of so many calls take a while: judgenet metrics {folder}", err=True)
        return
    with Store.open(find_store(folder), readonly=True) as store:
        figures = run_metrics(store, fair_frame(store, run_info(store)))
    if as_json:
        sys.stdout.write(json.dumps({**figures.to_dict(), "place": str(folder)}, allow_nan=False) + "\n")
        return
    print_metrics(figures, Terminal())
    if not quiet and read_shards(folder).complete:
        typer.echo(f"To make one store of all shards: judgenet merge {folder.stem}.judgenet", err=True)
