"""``judgenet calibration``: whether the probabilities that a run implies are calibrated, at no cost."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, figure, interval_text, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import Terminal
from judgenet.figures.reliability import SOURCE_TITLES, SOURCE_WORDS, RunReliability, reliability_words, run_reliability
from judgenet.stats.reliability import BINS, Binning
from judgenet.store.taught import fair_frame

_BINNINGS: dict[str, Binning] = {"uniform": "uniform", "quantile": "quantile"}


def print_reliability(figures: RunReliability, console: Console) -> None:
    """The curve and its errors, one table for each kind of probability."""
    for source, title in SOURCE_TITLES.items():
        of_source = figures.sources[source]
        console.print(f"\n{title}: {reliability_words(of_source)}", soft_wrap=True)
        console.print(f"The probability is {SOURCE_WORDS[source]}.", soft_wrap=True)
        if not of_source.curve:
            continue
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("probability of B", "mean", "people prefer B", "95 %", "n"):
            table.add_column(heading, justify="right")
        for point in of_source.curve:
            table.add_row(
                f"{point.low:.2f} to {point.high:.2f}",
                f"{point.predicted:.3f}",
                f"{point.observed:.3f}",
                interval_text(point.ci) or "no interval",
                f"{point.n:,}",
            )
        console.print(table)
        console.print(
            f"Brier score {figure(of_source.brier.value)} ({interval_text(of_source.brier.ci) or 'no interval'}); "
            f"always giving the share of B: {figure(of_source.brier_base)}. {of_source.n_ties:,} pairs that people "
            "call a tie are left out.",
            soft_wrap=True,
        )
        if of_source.reason:
            console.print(f"No interval: {of_source.reason}", soft_wrap=True)
    width = "equal width" if figures.binning == "uniform" else "about equally many pairs"
    console.print(
        f"\n{figures.bins} bins of {width}. Chance alone makes an expected calibration error larger than it is, the "
        "more so the more bins and the fewer pairs: compare it with that of calibrated probabilities.",
        soft_wrap=True,
    )


def calibration(
    run: RunArgument,
    bins: Annotated[int, typer.Option(min=2, max=100, help="Bins of the curve.")] = BINS,
    binning: Annotated[
        str,
        typer.Option(
            metavar="uniform|quantile", help="Bins of equal width, or of about equally many pairs.", show_default=True
        ),
    ] = "uniform",
    seed: Annotated[int, typer.Option(help="Seed of the folds and of resampling.")] = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show whether probabilities mean what they say: reliability curve, expected calibration error, Brier score.

    Probabilities that B is better come from the share of calls, from the score difference, and from learned weights;
    the last two are fitted to the labels of other questions. All are compared with the human labels.

    Example: judgenet calibration out --bins 5 --binning quantile
    """
    if binning not in _BINNINGS:
        raise InputError(f"--binning {binning}: choose uniform or quantile.")
    with open_run(run, project) as (store, info):
        figures = run_reliability(fair_frame(store, info), bins, _BINNINGS[binning], seed=seed)
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_reliability(figures, Terminal())
