"""``judgenet report``: the report of a run as a file, or its figures as CSV or JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from judgenet.cli.common import ProjectOption, RunArgument, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.rate import ChosenOption
from judgenet.cli.terminal import Terminal
from judgenet.core.labels import Chosen
from judgenet.report.bias_figures import lab_figures
from judgenet.report.blocks import ReportDocument
from judgenet.report.build import build
from judgenet.report.forms import FORMS
from judgenet.report.judge_analysis import deepen
from judgenet.report.model import Report
from judgenet.report.outline import PARTS, PartKey, outline
from judgenet.report.outline_bias import lab_document
from judgenet.report.rules import ProjectRules, project_rules
from judgenet.report.run_comparison import compare_runs
from judgenet.report.short import short_document, short_figures
from judgenet.report.writers.csv import lab_csv
from judgenet.report.writers.html import html
from judgenet.report.writers.json import lab_report_json
from judgenet.report.writers.latex import latex
from judgenet.report.writers.markdown import markdown
from judgenet.report.writers.pdf import font_warning, pdf
from judgenet.stats.intervals import RESAMPLES
from judgenet.store.db import Store
from judgenet.store.files import atomic_write
from judgenet.store.frame import RunFrame
from judgenet.store.locate import find_run
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, runs
from judgenet.store.taught import fair_frame

_Writer = Callable[[Report, ReportDocument], str | bytes]


_WRITERS: dict[str, _Writer] = {
    **{ending: form.write for ending, form in FORMS.items()},
    ".htm": FORMS[".html"].write,
}
_OF_DOCUMENT: dict[str, Callable[[ReportDocument], str | bytes]] = {
    ".html": html,
    ".htm": html,
    ".md": markdown,
    ".tex": latex,
    ".pdf": pdf,
}
"""The formats that are written from the document alone."""


def _parts(wanted: Sequence[str], without: Sequence[str]) -> tuple[PartKey, ...]:
    for option, names in (("--part", wanted), ("--without", without)):
        for name in names:
            if name not in PARTS:
                raise InputError(f"{option} {name}: there is no such part. Parts: {', '.join(PARTS)}.")
    return tuple(key for key in PARTS if (not wanted or key in wanted) and key not in without)


def report(
    run: RunArgument,
    output: Annotated[
        list[Path],
        typer.Option(
            "-o", "--output", metavar="FILE", help="File to write: .html, .pdf, .md, .tex, .csv or .json. Repeatable."
        ),
    ],
    aggregation: Annotated[
        str | None,
        typer.Option(help="The aggregation that counts as the network's verdict: c1, c2_l1, …, c2_all, chair."),
    ] = None,
    pairs: Annotated[int, typer.Option(min=0, help="Example pairs of each kind.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    resamples: Annotated[int, typer.Option(min=0, help="Resamples of the bootstrap; 0 leaves it out.")] = RESAMPLES,
    compare: Annotated[
        str | None, typer.Option(metavar="RUN", help="Another run to compare this one with.", show_default=False)
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help=f"A part to include, instead of all: {', '.join(PARTS)}. Repeatable.",
            show_default=False,
        ),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="PART", help="A part to leave out. Repeatable.", show_default=False)
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="One page: the rate, agreement, bias, what was left out, the method.")
    ] = False,
    chosen: ChosenOption = None,
    own_rules: Annotated[
        bool,
        typer.Option(
            "--own-rules", help="Count votes by the rules that the run recorded, not by the project's current ones."
        ),
    ] = False,
    project: ProjectOption = None,
) -> None:
    """Write the report of a run: the corrected win rate, agreement with people, the method, what was left out.

    Votes are counted by the rules of the project that the run is in. HTML is one file without remote
    content. CSV and JSON hold every figure of all parts, LaTeX the tables and the method. The part bias is the newest
    bias lab of the project; a folder with a lab and no run gets a report of the lab.

    \b
    Examples:
      judgenet report out -o report.html
      judgenet report out -o report.html -o report.pdf -o figures.csv
      judgenet report out -o report.html --compare other --without pairs
      judgenet report out -o page.pdf --short
    """
    shown = _parts(part or [], without or [])
    if short and (part or without or compare):
        raise InputError("--short has its own parts. Leave --part, --without and --compare out, or leave out --short.")
    for path in output:
        if path.suffix.lower() not in _WRITERS:
            raise InputError(
                f"-o {path}: the ending of the file sets the format. Known endings: {', '.join(_WRITERS)}."
            )
    if _lab_alone(run, project, output):
        return
    with open_run(run, project) as (store, info), _ShownProgress() as progress:
        rules = ProjectRules(None, None) if own_rules else project_rules(store.path, info)
        frame = fair_frame(store, info, rules.aggregation, progress.on_progress)
        try:
            built = build(
                store,
                frame,
                recorded=network_of(info).aggregation,
                decides=aggregation or rules.decides,
                chosen=chosen,
                each=pairs,
                seed=seed,
                resamples=resamples,
            )
        except ValueError as error:
            raise InputError(f"--aggregation {error}") from None
        if short:
            built = replace(built, bias=lab_figures(store, lambda: progress.on_step("Bias lab")))
        else:
            built = deepen(store, built, frame, chosen=chosen, on_step=progress.on_step)
        if compare is not None:
            built = _compared(store, info, built, frame, compare, project, chosen, progress)
    document = short_document(built) if short else outline(built, shown)
    if short:
        built = short_figures(built)
    for path in output:
        _write(path, _WRITERS[path.suffix.lower()](built, document))
        _warn_of_letters(path, document)


class _ShownProgress:
    """Shows on standard error how far a report is, where that is a terminal."""

    def __init__(self) -> None:
        console = Terminal(stderr=True)
        self._bar = Progress(
            console=console,
            transient=True,
            disable=not console.is_terminal,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("Reading the run", total=None)

    def __enter__(self) -> _ShownProgress:
        self._bar.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._bar.stop()

    def on_progress(self, done: int, total: int) -> None:
        """Shows how much of a step is done."""
        self._bar.update(self._task, completed=done, total=total)

    def on_step(self, name: str) -> None:
        """Shows the next step."""
        self._bar.update(self._task, description=name, total=None)


def _compared(
    store: Store,
    info: RunInfo,
    built: Report,
    frame: RunFrame,
    compare: str,
    project: Path | None,
    chosen: Chosen | None,
    progress: _ShownProgress,
) -> Report:
    """The report with the comparison with another run.

    :raises InputError: the runs cannot be compared.
    """
    progress.on_step(f"Reading {compare}")
    with open_run(compare, project) as (other_store, other):
        try:
            return compare_runs(
                store, info, built, frame, other_store, other, chosen=chosen, on_progress=progress.on_progress
            )
        except ValueError as error:
            raise InputError(f"--compare {compare}: {error}") from None


def _warn_of_letters(path: Path, document: ReportDocument) -> None:
    warning = font_warning(document) if path.suffix.lower() == ".pdf" else ""
    if warning:
        typer.echo(f"{path}: {warning}", err=True)


def _write(path: Path, written: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, written)
    typer.echo(str(path), err=True)


def _lab_alone(run: str, project: Path | None, output: Sequence[Path]) -> bool:
    """Writes the newest bias lab of a place that has no run; false where it has one, or has no lab."""
    place, run_id = find_run(run, project)
    if run_id is not None:
        return False
    with Store.open(place, readonly=True) as store:
        lab = None if runs(store) else lab_figures(store)
    if lab is None:
        return False
    document = lab_document(lab)
    for path in output:
        ending = path.suffix.lower()
        if ending == ".csv":
            _write(path, lab_csv(lab))
        elif ending == ".json":
            _write(path, lab_report_json(lab))
        else:
            _write(path, _OF_DOCUMENT[ending](document))
            _warn_of_letters(path, document)
    return True
