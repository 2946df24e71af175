"""``judgenet selfcheck``: does the program hold what it says?"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import ExitCode, JsonOption
from judgenet.stats.simulation import GRID, shortfalls, simulate, simulation_error

app = typer.Typer(help="Check that the program holds what it says.", no_args_is_help=True, rich_markup_mode=None)

_TITLES = {
    "naive": "naive",
    "lee": "Lee",
    "ppi": "PPI++",
    "stratified": "stratified",
    "human_only": "people",
}


@app.callback()
def group() -> None:
    """Check that the program holds what it says."""


def coverage(runs: int, unlabelled: int, seed: int) -> dict[str, Any]:
    """Coverage and width of every method on the grid, and what is not as it should be."""
    found = [
        (setting, simulate(setting, unlabelled=unlabelled, runs=runs, seed=seed + place))
        for place, setting in enumerate(GRID)
    ]
    return {
        "nominal": 0.95,
        "runs": runs,
        "unlabelled": unlabelled,
        "seed": seed,
        "error": simulation_error(0.95, runs),
        "cells": [
            {
                **setting._asdict(),
                "methods": {name: {"coverage": of.coverage, "width": of.width} for name, of in methods.items()},
            }
            for setting, methods in found
        ],
        "shortfalls": shortfalls(found, runs),
    }


def print_coverage(figures: dict[str, Any], console: Console) -> None:
    """The grid as a table for people: coverage / mean width."""
    console.print(
        f"Coverage of nominal 95 % intervals / their mean width: {figures['runs']:,} simulated runs a line, "
        f"{figures['unlabelled']:,} unlabelled pairs each (standard error of a coverage {figures['error']:.4f})",
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("judge", "rate", "labels", *_TITLES.values()):
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in figures["cells"]:
        table.add_row(
            f"{cell['specificity']:g}/{cell['sensitivity']:g}",
            f"{cell['theta']:g}",
            f"{cell['labels']}",
            *(_covered(cell["methods"][name]) for name in _TITLES),
        )
    console.print(table)
    for told in figures["shortfalls"]:
        console.print(told, soft_wrap=True)
    if not figures["shortfalls"]:
        console.print(
            "The stratified intervals hold: in every line they cover what they should, and are no wider than the human "
            "labels alone.",
            soft_wrap=True,
        )


def _covered(found: dict[str, float]) -> str:
    return "/".join(f"{found[key]:.3f}".removeprefix("0") for key in ("coverage", "width"))


@app.command("statistics")
def statistics(
    runs: Annotated[int, typer.Option(min=100, max=1_000_000, help="Simulated runs for each line.")] = 4000,
    unlabelled: Annotated[int, typer.Option(min=10, help="Unlabelled pairs in each run.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    as_json: JsonOption = False,
) -> int:
    """Simulate judges of known errors and see how often each method's 95 % interval holds the truth.

    Needs no run and no network. The exit code is 1 where the stratified interval does not hold what it promises.

    Example: judgenet selfcheck statistics --runs 2000
    """
    figures = coverage(runs, unlabelled, seed)
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        print_coverage(figures, Console())
    return ExitCode.FAILED if figures["shortfalls"] else ExitCode.DONE
