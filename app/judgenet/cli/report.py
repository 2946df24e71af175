"""``judgenet report``: a run as one file for people, or as figures for machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from judgenet.cli.common import InputError, ProjectOption, RunArgument, open_run
from judgenet.report.blocks import Document
from judgenet.report.build import build
from judgenet.report.forms import FORMS
from judgenet.report.model import Report
from judgenet.report.outline import outline
from judgenet.stats.intervals import RESAMPLES
from judgenet.store.files import atomic_write

_Writer = Callable[[Report, Document], str | bytes]


def _pdf(report: Report, document: Document) -> bytes:
    try:
        # Qt is loaded for PDF alone, and needs libraries of the system.
        from judgenet.ui.export import pdf
    except ImportError as error:
        raise InputError(
            f"PDF is written by Qt, which cannot be loaded here ({error}). On Debian or Ubuntu: apt-get install libgl1 "
            "libegl1 libxkbcommon0 libfontconfig1 libglib2.0-0 libdbus-1-3. Or write HTML: it prints the same."
        ) from None
    return pdf(document)


_WRITERS: dict[str, _Writer] = {
    **{ending: form.write for ending, form in FORMS.items()},
    ".htm": FORMS[".html"].write,
    ".pdf": _pdf,
}


def report(
    run: RunArgument,
    output: Annotated[
        list[Path],
        typer.Option(
            "-o", "--output", metavar="FILE", help="File to write: .html, .pdf, .md, .tex, .csv or .json. Repeatable."
        ),
    ],
    aggregation: Annotated[
        str | None, typer.Option(help="What counts as the network's verdict: c1, c2_l1, …, c2_all, chair.")
    ] = None,
    pairs: Annotated[int, typer.Option(min=0, help="Pairs of each kind to read closely.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    resamples: Annotated[int, typer.Option(min=0, help="Resamples of the bootstrap; 0 leaves it out.")] = RESAMPLES,
    project: ProjectOption = None,
) -> None:
    """Write the report of a run: what was run, how it agrees with people, and the most instructive pairs.

    HTML is one file that asks nothing of the network. CSV and JSON hold every figure, LaTeX the tables.

    \b
    Examples:
      judgenet report out -o report.html
      judgenet report out -o report.html -o report.pdf -o figures.csv
    """
    for path in output:
        if path.suffix.lower() not in _WRITERS:
            raise InputError(f"-o {path}: the ending says the form. Known: {', '.join(_WRITERS)}.")
    console = Console(stderr=True)
    bar = Progress(console=console, transient=True, disable=not console.is_terminal)
    with open_run(run, project) as (store, info), bar as progress:
        task = progress.add_task("Reading the run", total=None)
        try:
            found = build(
                store,
                info,
                decides=aggregation,
                each=pairs,
                seed=seed,
                resamples=resamples,
                on_progress=lambda done, total: progress.update(task, completed=done, total=total),
            )
        except ValueError as error:
            raise InputError(f"--aggregation {error}") from None
    document = outline(found)
    for path in output:
        path.parent.mkdir(parents=True, exist_ok=True)
        written = _WRITERS[path.suffix.lower()](found, document)
        atomic_write(path, written)
        typer.echo(str(path), err=True)
