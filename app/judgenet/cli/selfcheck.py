"""``judgenet selfcheck``: does the program hold what it says?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import ExitCode, JsonOption
from judgenet.cli.terminal import Terminal
from judgenet.stats import simulation_reference as reference
from judgenet.stats.simulation import (
    GRID,
    ORIGINS,
    PICKS,
    PUBLISHED_UNLABELLED,
    THREE,
    Covered,
    deviations,
    pick_failures,
    shortfalls,
    simulate,
    simulate_origin,
    simulate_pick,
    simulate_three,
    simulation_error,
    three_words,
    two_words,
)

app = typer.Typer(help="Check that the program holds what it says.", no_args_is_help=True, rich_markup_mode=None)

_TITLES: dict[str, str] = {
    "naive": "naive",
    "labels_where_present": "labels first",
    "lee": "Lee",
    "k_class": "K-class",
    "k_class_bootstrap": "bootstrap",
    "ppi": "PPI++",
    "stratified": "stratified",
    "human_only": "people",
}
_FEWEST_RUNS = 100


@app.callback()
def group() -> None:
    """Check that the program holds what it says."""


def coverage(runs: int, unlabelled: int, seed: int) -> dict[str, Any]:
    """Coverage and width of every method in every simulation, and what is not as it should be."""
    two = [(of, simulate(of, unlabelled=unlabelled, runs=runs, seed=seed + place)) for place, of in enumerate(GRID)]
    three_runs, pick_runs = max(_FEWEST_RUNS, runs // 2), max(_FEWEST_RUNS, 3 * runs // 8)
    three = [(of, simulate_three(of, runs=three_runs, seed=seed + place)) for place, of in enumerate(THREE)]
    origins = [(of, simulate_origin(of, runs=runs, seed=seed + place)) for place, of in enumerate(ORIGINS)]
    picks = {pick: simulate_pick(pick, runs=pick_runs, seed=seed + place) for place, pick in enumerate(PICKS)}
    told = shortfalls([(two_words(of), methods) for of, methods in two], runs)
    told += shortfalls([(three_words(of), methods) for of, methods in three], three_runs)
    told += pick_failures(picks, pick_runs)
    if unlabelled == PUBLISHED_UNLABELLED:
        told += deviations(
            [(two_words(of), methods, reference.TWO[of]) for of, methods in two if of in reference.TWO],
            runs, 4000, 0.0005,
        )  # fmt: skip
    told += deviations(
        [(three_words(of), methods, reference.THREE[of.judge.name, of.people, of.labels]) for of, methods in three],
        three_runs, 2000, 0.01,
    )  # fmt: skip
    told += deviations([(of.name, methods, reference.ORIGINS[of.name]) for of, methods in origins], runs, 4000, 0.0005)
    return {
        "nominal": 0.95,
        "runs": runs,
        "unlabelled": unlabelled,
        "seed": seed,
        "error": simulation_error(0.95, runs),
        "cells": [{**setting._asdict(), "methods": _methods(methods)} for setting, methods in two],
        "three_classes": {
            "runs": three_runs,
            "cells": [
                {
                    "judge": setting.judge.name,
                    "people": list(setting.people),
                    "labels": setting.labels,
                    "unlabelled": setting.unlabelled,
                    "methods": _methods(methods),
                }
                for setting, methods in three
            ],
        },
        "origins": {
            "runs": runs,
            "cells": [{"origin": origin.name, "methods": _methods(methods)} for origin, methods in origins],
        },
        "picks": {
            "runs": pick_runs,
            "cells": [{"pick": pick, "methods": _methods(methods)} for pick, methods in picks.items()],
        },
        "shortfalls": told,
    }


def _methods(found: Mapping[Any, Covered]) -> dict[str, dict[str, float | None]]:
    return {name: {"coverage": of.coverage, "width": of.width, "bias": of.bias} for name, of in found.items()}


def print_coverage(figures: dict[str, Any], console: Console) -> None:
    """The simulations as tables for people: coverage / mean width."""
    console.print(
        f"Coverage of nominal 95 % intervals / their mean width: {figures['runs']:,} simulated runs a line, "
        f"{figures['unlabelled']:,} unlabelled pairs each (standard error of a coverage {figures['error']:.4f})",
        soft_wrap=True,
    )
    _print_cells(
        figures["cells"],
        {
            "judge": lambda cell: f"{cell['specificity']:g}/{cell['sensitivity']:g}",
            "rate": lambda cell: f"{cell['theta']:g}",
            "labels": lambda cell: f"{cell['labels']}",
        },
        console,
    )
    console.print(
        f"\nThree classes, {figures['three_classes']['runs']:,} runs a setting: coverage above, width below",
        soft_wrap=True,
    )
    _print_cells(
        figures["three_classes"]["cells"],
        {
            "judge": lambda cell: str(cell["judge"]),
            "people": lambda cell: "/".join(f"{share:g}".removeprefix("0") for share in cell["people"]),
            "labels": lambda cell: f"{cell['labels']}",
        },
        console,
        stacked=("coverage", "width"),
    )
    console.print("\nLabels from elsewhere (bias in the third line): rate .7, 200 labels", soft_wrap=True)
    lines = ("coverage", "width", "bias")
    _print_cells(figures["origins"]["cells"], {"labels": lambda cell: str(cell["origin"])}, console, stacked=lines)
    console.print("\nLabels picked within the pool (bias in the third line): rate .65, 200 of 1,000", soft_wrap=True)
    words = {"random": "at random", "within_verdict": "as many of each verdict"}
    _print_cells(
        figures["picks"]["cells"],
        {"labels": lambda cell: words.get(cell["pick"], f"the {cell['pick']} first")},
        console,
        stacked=lines,
    )
    for told in figures["shortfalls"]:
        console.print(told, soft_wrap=True)
    if not figures["shortfalls"]:
        console.print(
            "\nAs it should be: the stratified intervals cover what they should and are no wider than the human "
            "labels alone, in two classes and three; each estimate holds for the labels that it is made for, and fails "
            "for the others; and coverage and width are those of an independent simulation, up to the error of both.",
            soft_wrap=True,
        )


def _print_cells(
    cells: list[dict[str, Any]],
    heads: dict[str, Callable[[dict[str, Any]], str]],
    console: Console,
    *,
    stacked: tuple[str, ...] = (),
) -> None:
    """The cells of a simulation, a line each; with ``stacked`` the figures of a method stand one below the other."""
    methods = [name for name in _TITLES if name in cells[0]["methods"]]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in (*heads, *(_TITLES[name] for name in methods)):
        table.add_column(
            heading, justify="left" if heading in heads and stacked else "right", no_wrap=not stacked, overflow="fold"
        )
    for cell in cells:
        found = [cell["methods"][name] for name in methods]
        shown = [_covered(of) if not stacked else "\n".join(_number(of[key], key) for key in stacked) for of in found]
        table.add_row(*(of(cell) for of in heads.values()), *shown)
    console.print(table)


def _covered(found: dict[str, float | None]) -> str:
    return "/".join(_number(found[key], key) for key in ("coverage", "width"))


def _number(value: float | None, key: str) -> str:
    if value is None:
        return "n/a"
    return f"{value:+.3f}" if key == "bias" else f"{value:.3f}".removeprefix("0")


@app.command("statistics")
def statistics(
    runs: Annotated[int, typer.Option(min=100, max=1_000_000, help="Simulated runs for each line.")] = 4000,
    unlabelled: Annotated[int, typer.Option(min=10, help="Unlabelled pairs in each run.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    as_json: JsonOption = False,
) -> int:
    """Simulate judges of known errors and see how often each method's 95 % interval holds the truth.

    Two classes and three, labels from elsewhere, and labels that were picked. Needs no run and no network. The exit
    code is 1 where the stratified interval does not hold what it promises, where an estimate holds or fails against
    what is known of it, or where a figure is not that of an independent simulation.

    Example: judgenet selfcheck statistics --runs 2000
    """
    figures = coverage(runs, unlabelled, seed)
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        print_coverage(figures, Terminal())
    return ExitCode.FAILED if figures["shortfalls"] else ExitCode.DONE
