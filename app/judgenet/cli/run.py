"""``judgenet run``: judges pairs with a network; what is finished is kept."""

from __future__ import annotations

import errno
import json
import os
import queue
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TextIO

import typer
from rich.console import Console

from judgenet.cli.common import JsonOption, open_output
from judgenet.cli.errors import ExitCode, InputError
from judgenet.cli.progress import Reporter, print_findings
from judgenet.cli.run_options import with_setup
from judgenet.cli.terminal import Terminal
from judgenet.core.events import Event, RunFinished, event_json
from judgenet.core.project import PROJECT_SUFFIX
from judgenet.core.shards import SHARD_RECORD
from judgenet.core.wording import plural
from judgenet.engine.estimate import estimate_run
from judgenet.engine.prepare import Setup
from judgenet.engine.session import Engine, RunHandle, endpoints_of
from judgenet.engine.shard_desk import STOPPED, ShardDesk
from judgenet.store.db import Store
from judgenet.store.local_disk import on_network
from judgenet.store.locate import SHARDS_SUFFIX, has_run
from judgenet.store.opened_file import Trouble
from judgenet.store.recovery import rescue_store
from judgenet.store.runs import run_info
from judgenet.store.secrets import scrub

if TYPE_CHECKING:
    from judgenet.figures.metrics import RunMetrics

CODES = {
    "done": ExitCode.DONE,
    "enough": ExitCode.DONE,
    "budget": ExitCode.BUDGET,
    "cancelled": ExitCode.INTERRUPTED,
    "halted": ExitCode.FAILED,
    "failed": ExitCode.FAILED,
}
"""The exit code by how a run ended."""

_TICK_S = 0.1
"""Seconds after which a command that follows a run checks whether it was stopped."""


def follow(
    handle: RunHandle,
    events: queue.SimpleQueue[Event],
    reporter: Reporter,
    log: TextIO | None,
    beat: Callable[[], object] = lambda: None,
) -> RunFinished:
    """Shows a run until it ends, with a ``beat`` from time to time, and logs its events."""

    def keep(event: Event) -> None:
        if log is not None:
            # A full disk holds the run, and must not end it: the line is written with a later event.
            with suppress(OSError):
                log.write(json.dumps(event_json(event), allow_nan=False) + "\n")
                log.flush()

    finished = take_events(handle, events, reporter, keep, beat)
    return handle.future.result() if finished is None else finished


class Cancellable(Protocol):
    """What goes on in the engine and can be stopped."""

    future: Future[Any]

    def cancel(self) -> None:
        """Ends it."""


def take_events(
    handle: Cancellable,
    events: queue.SimpleQueue[Event],
    reporter: Reporter,
    on_event: Callable[[Event], object] = lambda event: None,
    beat: Callable[[], object] = lambda: None,
) -> RunFinished | None:
    """Shows the events of a run until it ends; ``None`` where all runs of the handle have ended. The first interrupt
    stops the run cleanly, a second one leaves at once."""
    stopping = False
    while True:
        try:
            beat()
            try:
                event = events.get(timeout=_TICK_S)
            except queue.Empty:
                reporter.refresh()
                if handle.future.done() and events.empty():
                    return None
                continue
            reporter.take(event)
            on_event(event)
            if isinstance(event, RunFinished):
                return event
            if events.empty():
                reporter.refresh()
        except KeyboardInterrupt:
            if stopping:
                raise
            stopping = True
            handle.cancel()


def _rescue(store: Store) -> None:
    """Saves the content of a store that was deleted while a run used it, and says where."""
    try:
        place = rescue_store(store)
    except (OSError, sqlite3.Error) as error:
        typer.echo(f"judgenet: what was kept cannot be saved elsewhere ({error}).", err=True)
        return
    typer.echo(
        f"judgenet: all that was kept is saved in {place}. Copy it to {store.path}, and the same command goes on from "
        "there; or read it where it is.",
        err=True,
    )


def _close_log(log: TextIO) -> None:
    try:
        log.close()
    except OSError as error:
        typer.echo(f"judgenet: --events {log.name}: the last events are missing ({error.strerror or error}).", err=True)


@contextmanager
def ends_cleanly() -> Iterator[None]:
    """Inside, SIGTERM, and SIGHUP where it is not ignored (nohup), end a run as Ctrl+C does."""

    def end(signum: int, frame: Any) -> None:
        _leave_terminal()
        raise KeyboardInterrupt

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    heard = [number for number in numbers if before[number] is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


def _leave_terminal() -> None:
    """Writes to nowhere from now on what went to a terminal that is gone: an error of writing must not end a run that
    keeps what it has."""
    try:
        import termios
    except ImportError:  # Windows has neither
        return
    for number in (1, 2):
        try:
            termios.tcgetattr(number)
        except termios.error as error:
            if error.args[0] == errno.EIO:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, number)
                os.close(nowhere)


def _fit(setup: Setup, console: Console, *, quiet: bool) -> bool:
    """Tries the models of a run before it; false where one is red, so that nothing of the run is sent."""
    if any(
        profile.kind == "replay" for profile in (setup.start.profiles[name] for name in endpoints_of(setup.start.spec))
    ):
        raise InputError("--preflight: a recorded run has no answers to the built-in pairs. Leave the option out.")
    from judgenet.cli.preflight import print_preflights, run_preflights

    preflights = run_preflights(setup.start, console, quiet=quiet)
    print_preflights(preflights, console)
    if all(model_preflight.assessment.light != "red" for model_preflight in preflights):
        return True
    console.print("Nothing of the run was sent. Choose another model, or leave --preflight out to judge all the same.")
    return False


def _desk(setup: Setup, tell: Path | None) -> ShardDesk | None:
    """The desk to which a shard reports its state and from which it takes commands; ``None`` for an ordinary run.

    :raises InputError: ``--tell`` without ``--shard``.
    """
    own = setup.project_path.parent
    if SHARD_RECORD in setup.start.record:
        return ShardDesk(own if tell is None else tell / own.name, shared=own if on_network(own) else None)
    if tell is not None:
        raise InputError("--tell is for the shards of a run. Give --shard K/N too, or leave it out.")
    return None


def _require_merged(setup: Setup) -> None:
    """Refuses to ask again what the shards of a project hold.

    :raises InputError: shards have ended, and the project has no run of its own that they were merged into.
    """
    if setup.given is None:
        return
    folder = setup.project_path.with_name(setup.project_path.name.removesuffix(PROJECT_SUFFIX) + SHARDS_SUFFIX)
    if not folder.is_dir() or has_run(setup.store_path):
        return
    from judgenet.store.shards import MANIFEST  # most runs need none of it

    if ended := sum(1 for _ in folder.glob(f"*-of-*/{MANIFEST}")):
        raise InputError(
            f"{setup.given}: {folder.name} holds {plural(ended, 'judged shard')}, and this would ask all of it again. "
            f"Make one run of them first: judgenet merge {setup.given} (with --partial where some are missing). "
            "To begin anew all the same, put that folder elsewhere."
        )


@contextmanager
def _failure_told(desk: ShardDesk | None) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if desk is not None:
            desk.fail(error)
        raise


@with_setup
def run(
    setup: Setup,
    events: Annotated[
        Path | None,
        typer.Option("--events", metavar="FILE", help="Append every event to a file, as one JSON object a line."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--preflight", help="Try each model on ten built-in pairs first, and stop where one is red."),
    ] = False,
    retry_unscored: Annotated[
        bool,
        typer.Option(
            "--retry-unscored",
            help="Repeat the unscored calls of finished pairs, also where an answer could not be read; old answers "
            "stay.",
        ),
    ] = False,
    tell: Annotated[
        Path | None,
        typer.Option(
            "--tell",
            metavar="FOLDER",
            help="With --shard: the folder PROJECT.shards to report to, where this shard is judged on a disk of its "
            "own.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the run in tables, comparisons and reports.")
    ] = None,
    note: Annotated[str | None, typer.Option("--note", help="A note on the run.")] = None,
    engine_name: Annotated[
        Literal["ray"] | None,
        typer.Option(
            "--engine",
            help="Spread a project over the workers of a Ray cluster, or of this machine: ray (pip install "
            "'judgenet[ray]').",
            show_default=False,
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--address", metavar="ADDRESS", help="With --engine ray: a running Ray to join: auto, HOST:PORT or ray://…"
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            help="With --engine ray: number of shards judged in parallel.",
            show_default="all cores",
        ),
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(
            "--shards",
            metavar="N",
            min=1,
            help="With --engine ray: number of shards.",
            show_default="2,000 pairs each",
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> int:
    """Judge pairs with a network. The same command resumes a run and pays for no call twice.

    Progress goes to standard error, results to standard output. Ctrl+C stops within a second; what is finished
    is kept.

    \b
    Examples:
      judgenet run --pairs pairs.jsonl --out out
      judgenet run --pairs pairs.csv --width 4 --depth 2 --budget 5 --out out \\
        --endpoint openai --model gpt-4.1-mini
      judgenet run --pairs pairs.jsonl --out out -j 64 \\
        --base-url http://localhost:8000/v1 --model my-model
      judgenet run study.judgenet --limit 100
      judgenet run study.judgenet --until 'c2_all excludes 50% or width <= 0.1'
      judgenet run study.judgenet --retry-unscored
      judgenet run study.judgenet --engine ray --workers 8
    """
    setup.require_approved()
    console = Terminal(stderr=True)
    given = {key: text.strip() for key, text in (("name", name), ("note", note)) if text is not None}
    setup = replace(setup, start=replace(setup.start, record={**setup.start.record, **given}))
    if retry_unscored:
        # On Ray the shards are looked at, each of which has a store.
        if engine_name is None and not setup.store_path.exists():
            raise InputError(
                f"--retry-unscored: {setup.store_path.parent} holds no run yet. Run the same command without it first."
            )
        setup = replace(setup, start=replace(setup.start, scope="unscored"))
    if check and not _fit(setup, console, quiet=quiet):
        return ExitCode.FAILED
    if engine_name is not None:
        if SHARD_RECORD in setup.start.record:
            raise InputError("--shard cannot be combined with --engine ray. Leave one of the two out.")
        return _judge_on_ray(setup, (address, workers, shards), events, as_json=as_json, quiet=quiet)
    if (address, workers, shards) != (None, None, None):
        raise InputError("--address, --workers and --shards go with --engine ray.")
    desk = _desk(setup, tell)
    if desk is None:
        _require_merged(setup)
    if desk is not None and not desk.may_begin():
        typer.echo(f"judgenet: {STOPPED}", err=True)
        return ExitCode.INTERRUPTED
    with _own_disk(setup, desk, quiet=quiet) as store:
        return _judge_here(setup, store, desk, console, events, as_json=as_json, quiet=quiet)


def _judge_on_ray(
    setup: Setup,
    options: tuple[str | None, int | None, int | None],
    events: Path | None,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Judges on Ray, with the events of all workers in one file where that is wanted."""
    from judgenet.cli.run_ray import RayOptions, run_on_ray

    log = None if events is None else open_output("--events", events, "a")
    try:
        return run_on_ray(setup, RayOptions(*options, log), as_json=as_json, quiet=quiet)
    finally:
        if log is not None:
            _close_log(log)


@contextmanager
def _own_disk(setup: Setup, desk: ShardDesk | None, *, quiet: bool) -> Iterator[Path]:
    """Where the store of a run lies while it goes on: of a shard whose folder lies on a network file system on this
    machine's own disk.

    :raises StoreInUse: another machine judges this shard.
    """
    if desk is None:
        yield setup.store_path
        return
    from judgenet.engine.shard_disk import close_journal, locked, own_disk  # runs that are no shards need none of it

    if desk.shared is None:
        yield setup.store_path
        close_journal(setup.store_path)
        return
    if not quiet:
        typer.echo(
            f"{desk.shared} is on a network file system: this shard is judged on this machine's own disk, and copied "
            "there every minute.",
            err=True,
        )
    with locked(setup.store_path), own_disk(desk.shared, setup.start.salt) as folder:
        yield folder / setup.store_path.name


def _judge_here(
    setup: Setup,
    path: Path,
    desk: ShardDesk | None,
    console: Terminal,
    events: Path | None,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Judges in this process, with the store at a path, prints the figures, and says how the run ended."""
    log = None if events is None else open_output("--events", events, "a")
    with Store.open(path) as store, _failure_told(desk):
        replace(setup, project_path=path.with_suffix("")).save()
        finished, run_id = _followed(setup, store, desk, console, log, quiet=quiet)
        kept = store.flush(0.0 if store.trouble is not None else 1.0)
        if not kept and store.trouble is not None and store.trouble.gone:
            if desk is not None:
                desk.end(finished)
            return _without_store(store, store.trouble, finished, quiet=quiet)
        info = run_info(store, run_id)
        # A full disk does not take in how the run ended either.
        info = info if kept else replace(info, state=finished.state)
        if desk is not None:
            desk.keep(store, info)
            desk.end(finished)
        # Loaded while nobody waits for a first request: pandas' and numpy's part of the start is a third of it.
        from judgenet.figures.metrics import run_metrics
        from judgenet.store.taught import fair_frame

        figures = run_metrics(store, fair_frame(store, info))
    _print_end(setup, figures, finished, as_json=as_json, quiet=quiet)
    return CODES[finished.state]


def _followed(
    setup: Setup, store: Store, desk: ShardDesk | None, console: Terminal, log: TextIO | None, *, quiet: bool
) -> tuple[RunFinished, str]:
    """Starts the run and shows it until it ends: how it ended, and its name in the store."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    try:
        ids = [pair.id for pair in setup.start.pairs]
        with Engine() as engine, Reporter(console, ids, quiet=quiet) as reporter:
            if not quiet:
                print_findings(console, setup.dataset.findings)
                if setup.start.scope != "unscored":
                    line = estimate_run(setup.start, store).line()
                    console.print(line, soft_wrap=True, markup=False, highlight=False)
            handle = engine.start(store, setup.start, events.put)
            if desk is not None:
                desk.follow(store, handle)
            with ends_cleanly():
                finished = follow(handle, events, reporter, log, lambda: desk.beat() if desk is not None else None)
    finally:
        if log is not None:
            _close_log(log)
    return finished, handle.run.id


def _without_store(store: Store, trouble: Trouble, finished: RunFinished, *, quiet: bool) -> int:
    """Reports the end of a run whose store is gone: there are no figures to show."""
    if quiet or finished.state not in ("failed", "cancelled"):
        typer.echo(f"judgenet: {finished.state}: {trouble.what} {trouble.afterwards}", err=True)
    if trouble.lost:
        _rescue(store)
    return CODES[finished.state] or ExitCode.FAILED


def _print_end(setup: Setup, figures: RunMetrics, finished: RunFinished, *, as_json: bool, quiet: bool) -> None:
    """Prints the figures and the next steps."""
    place = setup.project_path.parent if setup.project_path.parent != Path() else setup.project_path
    if as_json:
        sys.stdout.write(json.dumps({**figures.to_dict(), "place": str(place)}, allow_nan=False) + "\n")
    else:
        from judgenet.cli.metrics import print_metrics

        print_metrics(figures, Terminal())
        if figures.calls.all and not quiet:
            typer.echo(f"Every call: judgenet export {place} --what calls -o calls.jsonl", err=True)
    if finished.state == "budget" and not quiet:
        hint = "All answers are kept: the same command goes on with as much again, or with other limits."
        typer.echo(hint, err=True)
    if finished.state == "enough" and not quiet:
        typer.echo("The other pairs can be asked later: the same command without --until, or with another.", err=True)
    if finished.message and quiet:
        typer.echo(f"judgenet: {finished.state}: {scrub(finished.message)}", err=True)
