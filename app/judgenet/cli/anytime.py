"""Intervals that are valid at any time, as commands print them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.common import figure, interval_text
from judgenet.figures.anytime import AnytimeEstimate, RunAnytime

AnytimeOption = Annotated[
    bool,
    typer.Option(
        "--anytime", help="Also show intervals that stay valid however often you look (confidence sequences)."
    ),
]


def print_anytime(run_anytime: RunAnytime, console: Console) -> None:
    """One row for each figure of each aggregation."""
    console.print(
        f"\nValid at any time, however often you look: {run_anytime.n:,} of {run_anytime.n_total:,} pairs count"
        + (f", {run_anytime.waiting:,} finished ones wait for their turn" if run_anytime.waiting else ""),
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("figure")
    for heading in ("value", "95 % interval", "pairs", "questions", "e against 1/2"):
        table.add_column(heading, justify="right", no_wrap=True)
    reasons: dict[str, list[str]] = {}
    for name, aggregation_figures in run_anytime.aggregations.items():
        rows: dict[str, AnytimeEstimate] = {
            f"{name} win rate": aggregation_figures.win_rate,
            f"{name} accuracy": aggregation_figures.accuracy,
            f"{name} corrected": aggregation_figures.corrected,
        }
        for title, row in rows.items():
            if row.value is None:
                reasons.setdefault(row.reason or "undefined", []).append(title)
                continue
            e = aggregation_figures.win_rate.e_value if row is aggregation_figures.win_rate else None
            cells = (figure(row.value), interval_text(row.ci, 3), f"{row.n:,}", f"{row.n_questions:,}")
            table.add_row(Text(title), *cells, "" if e is None else f"{e:.4g}")
    console.print(table)
    for reason, titles in reasons.items():
        console.print(f"n/a ({', '.join(titles)}): {reason}", soft_wrap=True, markup=False)
    for note in run_anytime.notes:
        console.print(f"Note: {note}", soft_wrap=True, markup=False)
