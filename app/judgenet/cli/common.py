"""Common parts of the commands: options, opening runs and output files, figures as text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, TextIO

import typer

from judgenet.cli.errors import InputError
from judgenet.store.db import Store
from judgenet.store.locate import find_run
from judgenet.store.runs import RunInfo, run_info

RunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="Folder of a run (--out), a project (its newest run), FOLDER/run-2, or a run's id."
    ),
]
ProjectOption = Annotated[
    Path | None, typer.Option("--project", help="The project of the run, where RUN is an id.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]


def figure(value: float | None) -> str:
    """A figure as tables show it: ``0.7108``, ``n/a`` where there is none."""
    return "n/a" if value is None else f"{value:.4f}"


def interval_text(interval: tuple[float, float] | None, decimals: int = 3, *, signed: bool = False) -> str:
    """A 95 % interval as tables and sentences show it: ``0.571 to 0.713``; empty where there is none. Ends of
    differences are ``signed``."""
    if interval is None:
        return ""
    low, high = (f"{end:{'+' if signed else ''}.{decimals}f}" for end in interval)
    return f"{low} to {high}"


def p_text(p: float | None) -> str:
    """A p-value as tables show it: ``0.0312``, ``< 0.0001``, ``n/a`` where there is none."""
    return "n/a" if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def open_output(option: str, path: Path, mode: Literal["w", "a"]) -> TextIO:
    """A file to write text to, with its folders; ``option`` names it in errors.

    :raises InputError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open(mode, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(
            f"{option} {path}: cannot be written ({error.strerror or error}). Name another file."
        ) from None


@contextmanager
def open_run(name: str, project: Path | None) -> Iterator[tuple[Store, RunInfo]]:
    """The store (read-only) and the run that the user names."""
    path, run_id = find_run(name, project)
    with Store.open(path, readonly=True) as store:
        yield store, run_info(store, run_id)
