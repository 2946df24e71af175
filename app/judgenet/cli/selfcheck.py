"""``judgenet selfcheck``: checks of the program itself: its statistics by simulation, and the screen."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption
from judgenet.cli.errors import ExitCode, InputError
from judgenet.cli.selfcheck_anytime import anytime_grid
from judgenet.cli.terminal import Terminal
from judgenet.stats import simulation_edges as at_edges
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
from judgenet.ui.screen_check import install_command, platform_gaps, screen_trouble

app = typer.Typer(
    help="Check the program itself: its statistics by simulation, and whether the studio can open.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

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
    """Check the program itself: its statistics by simulation, and whether the studio can open."""


def coverage(runs: int, unlabelled: int, seed: int) -> dict[str, Any]:
    """Coverage and width of every method in every simulation, and the deviations from what is expected."""
    two = [
        (cell, simulate(cell, unlabelled=unlabelled, runs=runs, seed=seed + place)) for place, cell in enumerate(GRID)
    ]
    three_runs, pick_runs = max(_FEWEST_RUNS, runs // 2), max(_FEWEST_RUNS, 3 * runs // 8)
    three = [(cell, simulate_three(cell, runs=three_runs, seed=seed + place)) for place, cell in enumerate(THREE)]
    origins = [(origin, simulate_origin(origin, runs=runs, seed=seed + place)) for place, origin in enumerate(ORIGINS)]
    picks = {pick: simulate_pick(pick, runs=pick_runs, seed=seed + place) for place, pick in enumerate(PICKS)}
    failures = shortfalls([(two_words(cell), methods) for cell, methods in two], runs)
    failures += shortfalls([(three_words(cell), methods) for cell, methods in three], three_runs)
    failures += pick_failures(picks, pick_runs)
    if unlabelled == PUBLISHED_UNLABELLED:
        failures += deviations(
            [(two_words(cell), methods, reference.TWO[cell]) for cell, methods in two if cell in reference.TWO],
            runs, 4000, 0.0005,
        )  # fmt: skip
    failures += deviations(
        [
            (three_words(cell), methods, reference.THREE[cell.judge.name, cell.people, cell.labels])
            for cell, methods in three
        ],
        three_runs, 2000, 0.01,
    )  # fmt: skip
    failures += deviations(
        [(origin.name, methods, reference.ORIGINS[origin.name]) for origin, methods in origins], runs, 4000, 0.0005
    )
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
        "shortfalls": failures,
    }


def _methods(by_method: Mapping[Any, Covered]) -> dict[str, dict[str, float | None]]:
    return {
        name: {"coverage": covered.coverage, "width": covered.width, "bias": covered.bias}
        for name, covered in by_method.items()
    }


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
    console.print("\nLabels of unknown sampling (bias in the third line): rate .7, 200 labels", soft_wrap=True)
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
    for failure in figures["shortfalls"]:
        console.print(failure, soft_wrap=True)
    if not figures["shortfalls"]:
        console.print(
            "\nAs expected, in what was simulated here (the corrected rates of the whole population, over pairs): "
            "the stratified intervals reach their nominal coverage and are no wider than the human labels alone, in "
            "two classes and three; each estimate holds for the labels that it is made for, and fails for the others; "
            "and coverage and width are those of an independent simulation, up to the error of both. Not simulated "
            "here: decided pairs, these pairs only, accuracy, macro-F1, kappa, differences of runs, questions, "
            "rankings, and few or one-sided labels; see --grid edges.",
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
        covered = [cell["methods"][name] for name in methods]
        shown = [
            _covered(entry) if not stacked else "\n".join(_number(entry[key], key) for key in stacked)
            for entry in covered
        ]
        table.add_row(*(head(cell) for head in heads.values()), *shown)
    console.print(table)


def _covered(shares: dict[str, float | None]) -> str:
    return "/".join(_number(shares[key], key) for key in ("coverage", "width"))


def _number(value: float | None, key: str) -> str:
    if value is None:
        return "n/a"
    return f"{value:+.3f}" if key == "bias" else f"{value:.3f}".removeprefix("0")


@app.command("screen")
def check_screen(as_json: JsonOption = False) -> int:
    """Check whether the studio can open a window here, and which system packages Qt's plug-ins for X11 and Wayland
    lack.

    A child process tries it, so that a crash cannot end this one. The exit code is 1 where no window opens.

    Example: judgenet selfcheck screen
    """
    trouble = screen_trouble(os.environ)
    gaps = [platform_gaps(platform) for platform in ("xcb", "wayland")] if sys.platform == "linux" else []
    if as_json:
        record = {
            "opens": trouble is None,
            "reason": None if trouble is None else trouble.reason,
            "plugins": [asdict(gap) for gap in gaps],
        }
        typer.echo(json.dumps(record))
    else:
        for gap in gaps:
            typer.echo(f"{gap}." if gap.libraries else f"Qt's plug-in {gap.platform} has all libraries that it needs.")
            if command := install_command(gap.packages):
                typer.echo(f"Install them: {command}")
        typer.echo("The studio can open a window here." if trouble is None else trouble.reason)
    return ExitCode.DONE if trouble is None else ExitCode.FAILED


@app.command("statistics")
def statistics(
    runs: Annotated[int, typer.Option(min=10, max=1_000_000, help="Simulated runs for each line.")] = 4000,
    unlabelled: Annotated[int, typer.Option(min=10, help="Unlabelled pairs in each run.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the simulation.")] = 0,
    grid: Annotated[
        Literal["standard", "edges", "anytime"],
        typer.Option(
            help="Which settings: the standard ones of corrected rates, the edges of every figure, or a look at every "
            "pair."
        ),
    ] = "standard",
    page: Annotated[
        Path | None,
        typer.Option(
            help="With --grid edges or anytime: also write the result to this Markdown file.", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Simulate judges with known errors and count how often each method's 95 % interval contains the truth.

    The standard grid has the corrected rates: two classes and three, labels of unknown sampling, and labels
    that were picked. The exit code is 1 where the stratified interval does not reach its coverage, where an estimate
    holds or fails contrary to what is known of it, or where a figure differs from an independent simulation.

    The grid of edges has every figure with an interval, for few labels, one-sided labels and verdicts, judges that are
    nearly always right, and few questions. The exit code is 1 where one that is shown covers less than 93 %.

    The grid anytime looks at intervals after every pair: how often anytime-valid and ordinary ones ever exclude the
    truth, and how many pairs a run judges that stops when 50 % is excluded. The exit code is 1 where an
    interval that is valid at any time excludes the truth more often than it promises. None of the grids needs a run or
    a network.

    Example: judgenet selfcheck statistics --grid edges --runs 1000
    """
    if grid == "edges":
        return _edges(runs, seed, page, as_json=as_json)
    if grid == "anytime":
        return anytime_grid(runs, seed, page, as_json=as_json)
    if page is not None:
        raise InputError("--page goes with --grid edges and --grid anytime.")
    if runs < _FEWEST_RUNS:
        raise InputError(f"--runs {runs}: the standard grid takes {_FEWEST_RUNS} runs or more.")
    figures = coverage(runs, unlabelled, seed)
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        print_coverage(figures, Terminal())
    return ExitCode.FAILED if figures["shortfalls"] else ExitCode.DONE


# The grid of edges

_PART_TITLES: dict[at_edges.EdgePart, str] = {
    "labels": "Win rates from labels chosen at random",
    "agreement": "Agreement with people",
    "differences": "Differences of two judges",
    "question_rates": "Win rates over questions",
    "question_agreement": "Agreement and differences over questions",
    "ranking": "Ratings of systems",
}
_DOUBTS = {
    "shortfalls": "Covers less than it should",
    "wilson": "Below .93 by the steps of Wilson's interval (few outcomes: one pair more or less)",
    "seldom": "Below .93 where it is shown so seldom that the runs which show it are a choice of odd ones",
}


def edge_coverage(runs: int, seed: int, on_cell: Callable[[str], object] | None = None) -> dict[str, Any]:
    """Coverage of every figure at the edges, setting by setting, and the figures that cover too little."""
    edges = [edge for part in at_edges.PARTS for edge in at_edges.edges(part, runs, seed, on_cell)]
    verdicts = at_edges.judged(edges)
    return {
        "grid": "edges",
        "nominal": 0.95,
        "goal": at_edges.GOAL,
        "runs": runs,
        "resamples": at_edges.RESAMPLES,
        "seed": seed,
        "error": simulation_error(at_edges.GOAL, runs),
        "edges": [
            {
                "part": edge.part,
                "setting": edge.words,
                "figures": {
                    name: {
                        "shown": tally.shown / tally.runs,
                        "coverage": tally.coverage,
                        "width": tally.mean_width,
                        "reason": None if tally.shown else "never shown here",
                    }
                    for name, tally in edge.figures.items()
                },
            }
            for edge in edges
        ],
        "shortfalls": verdicts.short,
        "wilson": verdicts.wilson,
        "seldom": verdicts.seldom,
    }


def edge_page(figures: dict[str, Any], day: str) -> str:
    """The result as a Markdown page: a table for each part, with what covers too little first."""
    lines = [
        "# Coverage of intervals at the edges",
        "",
        f"`judgenet selfcheck statistics --grid edges --runs {figures['runs']} --seed {figures['seed']} --page FILE`, "
        f"{day}: {figures['runs']:,} simulated runs a line, nominal 95 %, by the functions that the program shows its "
        f"figures with (bootstraps with {figures['resamples']} resamples). Standard error of a coverage near .93: "
        f"{figures['error']:.4f}.",
        "",
        "A cell is the coverage where an interval is shown; in brackets the share of runs that show one, where that is "
        "not all. The others are refused with a reason. Truth of macro-F1: over the classes that the sample has.",
        "",
    ]
    for key, title in _DOUBTS.items():
        lines += [f"## {title}", "", *(f"- {words}" for words in figures[key] or ["Nothing."]), ""]
    for part, title in _PART_TITLES.items():
        cells = [cell for cell in figures["edges"] if cell["part"] == part]
        names = list(dict.fromkeys(name for cell in cells for name in cell["figures"]))
        heads = ["setting", *(at_edges.figure_title(name) for name in names)]
        lines += [f"## {title}", "", f"| {' | '.join(heads)} |", f"| {' | '.join(['---'] * len(heads))} |"]
        for cell in cells:
            shown = [_edge_words(cell["figures"].get(name)) for name in names]
            lines.append(f"| {cell['setting']} | {' | '.join(shown)} |")
        lines.append("")
    return "\n".join(lines)


def _edge_words(edge: dict[str, Any] | None) -> str:
    if edge is None or edge["coverage"] is None:
        return "–"
    share = edge["shown"]
    return _number(edge["coverage"], "coverage") + (f" ({share:.0%})" if share < 0.995 else "")


def _print_edges(figures: dict[str, Any], console: Console) -> None:
    console.print(
        f"Coverage of nominal 95 % intervals at the edges: {figures['runs']:,} simulated runs a setting (standard "
        f"error of a coverage {figures['error']:.4f}); lowest of all settings of a part",
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("part", "figure"):
        table.add_column(heading)
    for heading in ("settings", "lowest", "mean", "shown"):
        table.add_column(heading, justify="right")
    for part, title in _PART_TITLES.items():
        cells = [cell["figures"] for cell in figures["edges"] if cell["part"] == part]
        for name in dict.fromkeys(name for cell in cells for name in cell):
            part_cells = [cell[name] for cell in cells]
            often = [
                cell_figures["coverage"] for cell_figures in part_cells if cell_figures["shown"] >= at_edges.SELDOM
            ]
            table.add_row(
                title,
                at_edges.figure_title(name),
                f"{len(part_cells)}",
                _number(min(often, default=None), "coverage"),
                _number(sum(often) / len(often) if often else None, "coverage"),
                f"{sum(cell_figures['shown'] for cell_figures in part_cells) / len(part_cells):.0%}",
            )
    console.print(table)
    for key, title in _DOUBTS.items():
        if figures[key]:
            console.print(f"\n{title}:", soft_wrap=True)
            for words in figures[key]:
                console.print(f"  {words}", soft_wrap=True, markup=False)
    if not figures["shortfalls"]:
        console.print(
            f"\nOf the figures above each covers {100 * figures['goal']:.0f} % or more wherever it is shown, up to the "
            "error of the simulation and but for what is named.",
            soft_wrap=True,
        )


def _edges(runs: int, seed: int, page: Path | None, *, as_json: bool) -> int:
    figures = edge_coverage(runs, seed)
    if page is not None:
        page.write_text(edge_page(figures, datetime.now(UTC).date().isoformat()), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        _print_edges(figures, Terminal())
    return ExitCode.FAILED if figures["shortfalls"] else ExitCode.DONE
