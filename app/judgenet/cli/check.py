"""``judgenet check``: a gate for releases: requirements on the figures of a run, with their own exit code."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, open_run
from judgenet.cli.errors import ExitCode, InputError
from judgenet.cli.rate import SeedOption
from judgenet.cli.terminal import Terminal
from judgenet.core.documents import DocumentError
from judgenet.core.requirements import Requirement, figure_words, parse_requirement
from judgenet.figures.gate import GateFigures, RequirementFigures, run_gate
from judgenet.store.copies import project_path
from judgenet.store.files import atomic_write, load_project
from judgenet.store.locate import find_run
from judgenet.store.taught import fair_frame


def print_gate(figures: GateFigures, console: Console) -> None:
    """The requirements as a table for people, with what weakens or fails them."""
    beside = "" if figures.against is None else f", against {figures.against}"
    pairs = figures.pairs
    console.print(
        f"{figures.run} ({figures.state}){beside}: {pairs.finished:,} of {pairs.total:,} pairs finished, "
        f"{pairs.labelled:,} with a human label",
        soft_wrap=True,
        markup=False,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("requirement", "figure", "outcome"):
        table.add_column(heading, justify="right" if heading == "figure" else "left")
    for row in figures.requirements:
        table.add_row(Text(row.requirement), Text(figure_words(row.figure)), Text(row.outcome))
    console.print(table)
    for row in figures.requirements:
        for note in (*filter(None, [row.reason]), *row.notes):
            console.print(f"{row.requirement}: {note}", soft_wrap=True, markup=False)
    for note in figures.notes:
        console.print(f"Note: {note}", soft_wrap=True, markup=False)
    console.print(
        f"{'Passed' if figures.passed else 'Failed'}: {figures.met:,} of {figures.total:,} requirements are met",
        soft_wrap=True,
    )


def _failure(row: RequirementFigures) -> str:
    """Why a requirement is not met, in a sentence."""
    if row.outcome == "undefined":
        return f"{row.key} is undefined: {row.reason}"
    return f"{row.key} is {figure_words(row.figure)}, required: {row.requirement}"


def junit(figures: GateFigures) -> str:
    """The requirements as a JUnit report: a test case each, with what weakens it as its output."""
    failed = sum(row.outcome == "not met" for row in figures.requirements)
    suite = ElementTree.Element(
        "testsuite",
        name=f"judgenet check {figures.run}",
        tests=str(figures.total),
        failures=str(failed),
        errors=str(figures.total - figures.met - failed),
        skipped="0",
    )
    for row in figures.requirements:
        case = ElementTree.SubElement(suite, "testcase", classname="judgenet.check", name=row.requirement)
        if row.outcome != "met":
            kind = "error" if row.outcome == "undefined" else "failure"
            ElementTree.SubElement(case, kind, type=row.outcome, message=_failure(row))
        for note in row.notes:
            ElementTree.SubElement(case, "system-out").text = note
    for note in figures.notes:
        ElementTree.SubElement(suite, "system-out").text = note
    suites = ElementTree.Element("testsuites", name="judgenet check")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def github_annotations(figures: GateFigures) -> list[str]:
    """The requirements that are not met, and what weakens the others, as annotations of GitHub Actions."""
    lines = []
    for row in figures.requirements:
        if row.outcome != "met":
            lines.append(_annotation("error", row.requirement, _failure(row)))
        else:
            lines += [_annotation("warning", row.requirement, note) for note in row.notes]
    return lines + [_annotation("warning", "judgenet check", note) for note in figures.notes]


def _annotation(level: str, title: str, message: str) -> str:
    def escaped(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    return f"::{level} title={escaped(title).replace(':', '%3A').replace(',', '%2C')}::{escaped(message)}"


def requirements_of(texts: list[str], run: str, project: Path | None) -> list[Requirement]:
    """The requirements that were given, or else those that the run's project keeps.

    :raises InputError: one cannot be read, or there is none.
    :raises ProjectError: the project cannot be read.
    """
    if texts:
        try:
            return [parse_requirement(text, "--require") for text in texts]
        except DocumentError as error:
            raise InputError(str(error)) from None
    place = project_path(find_run(run, project)[0])
    kept = load_project(place).requirements if place.exists() else ()
    if not kept:
        raise InputError(
            "There is no requirement. Give one or more, such as --require 'c2_all.kappa.low >= .6'; "
            "those in the project's requirements are used without the option."
        )
    return [parse_requirement(text) for text in kept]


def check(
    run: RunArgument,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'KEY >= NUMBER'",
            help="A figure by its key in --json, and the limit that it must meet. The ends of an interval are KEY.low "
            "and KEY.high. Repeatable. Default: the requirements in the project.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="The run for requirements on compare.", show_default=False),
    ] = None,
    junit_file: Annotated[
        Path | None,
        typer.Option("--junit", metavar="FILE", help="Write a JUnit report here.", show_default=False),
    ] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Print annotations for GitHub Actions (the default where it runs there).")
    ] = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Check requirements on the figures of a run, as a gate before a release. The exit code is 4 where one is not met.

    A key begins with its command: rate.corrected.low, compare.differences.kappa.low (with --against), rank, learn,
    bias; without one it is a key of metrics, where an aggregation or a neuron may come first. A figure that the run
    does not have fails.

    Example: judgenet check out --require 'c2_all.kappa.low >= .6' --require 'rate.corrected.low > .5'
    """
    asked = requirements_of(require or [], run, project)
    with ExitStack() as opened:
        store, info = opened.enter_context(open_run(run, project))
        compared = None
        if against is not None:
            beside = opened.enter_context(open_run(against, project))
            compared = (beside[0], fair_frame(*beside))
        figures = run_gate(store, fair_frame(store, info), asked, compared, seed=seed)
    if junit_file is not None:
        atomic_write(junit_file, junit(figures))
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_gate(figures, Terminal())
    if github or os.environ.get("GITHUB_ACTIONS") == "true":
        # Standard output is one JSON object where that was asked for.
        for line in github_annotations(figures):
            typer.echo(line, err=as_json)
    if not figures.passed:
        raise typer.Exit(ExitCode.NOT_MET)
