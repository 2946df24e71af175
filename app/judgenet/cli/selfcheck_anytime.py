"""``judgenet selfcheck statistics --grid anytime``: intervals under a look at every pair."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.errors import ExitCode
from judgenet.cli.terminal import Terminal
from judgenet.stats.anytime import ALPHA
from judgenet.stats.simulation import simulation_error
from judgenet.stats.simulation_anytime import PAIRS, anytime_failures, simulate_anytime

_ABOUT = (
    "Share of the runs in which a 95 % interval excludes the truth at some look. Valid at any time: confidence "
    "sequences (betting); ordinary: the interval for one look, checked after every pair."
)
_SAVED = (
    "A run that stops as soon as the interval valid at any time excludes 50 %: the share of runs that stop before "
    "their last pair, and the median share of the pairs that are judged. For comparison the share of runs in which the "
    "ordinary interval, checked once after all pairs, excludes 50 %."
)


_RANKED = (
    "`--matches auto`: the share of the runs in which two neighbours are separated that are equal or the other way "
    "round, of those in which each system is separated from the next, and the median share of all matches that are "
    "played. Gap: the distance of neighbours' strengths (1 is a rate of 73 % between them, 0 makes all systems equal); "
    "one match in ten is a tie."
)


def anytime_coverage(runs: int, seed: int) -> dict[str, Any]:
    """How often intervals ever exclude the truth when checked after every pair, what stopping saves, and what fails."""
    looks, savings, rankings = simulate_anytime(runs, seed)
    return {
        "grid": "anytime",
        "alpha": ALPHA,
        "runs": runs,
        "pairs": PAIRS,
        "seed": seed,
        "error": simulation_error(1 - ALPHA, runs),
        "looks": [
            {
                "setting": row.setting.words,
                "pairs": row.pairs,
                "at_any_time": row.at_any_time,
                "ordinary": row.ordinary,
                "reason": None if row.ordinary is not None else "the ordinary interval is not simulated here",
            }
            for row in looks
        ],
        "savings": [
            {**row.setting._asdict(), "stopped": row.stopped, "asked": row.asked, "ordinary_at_end": row.found}
            for row in savings
        ],
        "rankings": [
            {
                **row.setting._asdict(),
                "runs": row.runs,
                "wrong": row.wrong,
                "separated": row.separated,
                "played": row.played,
            }
            for row in rankings
        ],
        "shortfalls": anytime_failures(looks, rankings),
    }


def anytime_page(figures: dict[str, Any], day: str) -> str:
    """The result as a Markdown page."""
    lines = [
        "# Intervals under a look at every pair",
        "",
        f"`judgenet selfcheck statistics --grid anytime --runs {figures['runs']} --seed {figures['seed']} --page FILE`"
        f", {day}: {figures['runs']:,} simulated runs a line (standard error of a share near .05: "
        f"{figures['error']:.4f}).",
        "",
        "## False exclusions",
        "",
        f"{_ABOUT} Of a corrected rate it is an upper bound: the share in which one of its three parts excludes its "
        "truth.",
        "",
        f"| setting, {figures['pairs']:,} pairs | valid at any time | ordinary |",
        "| --- | --- | --- |",
        *(f"| {row['setting']} | {row['at_any_time']:.4f} | {_share(row['ordinary'])} |" for row in figures["looks"]),
        "",
        "## Calls saved",
        "",
        _SAVED,
        "",
        "| win rate | ties | pairs | stopped early | pairs asked (median) | ordinary, at the end |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {row['mean']:g} | {row['ties']:.0%} | {row['pairs']:,} | {row['stopped']:.1%} | {row['asked']:.1%} | "
            f"{row['ordinary_at_end']:.1%} |"
            for row in figures["savings"]
        ),
        "",
        "## Rankings by chosen matches",
        "",
        f"{_RANKED}",
        "",
        "| systems | questions | gap | runs | wrongly separated | each separated from the next | matches played |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {row['systems']} | {row['questions']} | {row['gap']:g} | {row['runs']:,} | {row['wrong']:.4f} | "
            f"{row['separated']:.1%} | {row['played']:.1%} |"
            for row in figures["rankings"]
        ),
        "",
        "## Excludes the truth, or separates wrongly, more often than it should",
        "",
        *(f"- {words}" for words in figures["shortfalls"] or ["Nothing."]),
        "",
    ]
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _print(figures: dict[str, Any], console: Console) -> None:
    console.print(f"{_ABOUT} {figures['runs']:,} runs of {figures['pairs']:,} pairs a line.", soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting")
    for heading in ("valid at any time", "ordinary"):
        table.add_column(heading, justify="right")
    for row in figures["looks"]:
        table.add_row(row["setting"], _share(row["at_any_time"]), _share(row["ordinary"]))
    console.print(table)
    console.print(f"\n{_SAVED}", soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("win rate", "ties", "pairs", "stopped early", "pairs asked", "ordinary, at the end"):
        table.add_column(heading, justify="right")
    for row in figures["savings"]:
        shares = (f"{row[key]:.1%}" for key in ("stopped", "asked", "ordinary_at_end"))
        table.add_row(f"{row['mean']:g}", f"{row['ties']:.0%}", f"{row['pairs']:,}", *shares)
    console.print(table)
    console.print(f"\n{_RANKED}", soft_wrap=True, markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("systems", "questions", "gap", "runs", "wrongly separated", "separated", "matches played"):
        table.add_column(heading, justify="right")
    for row in figures["rankings"]:
        numbers = (
            f"{row['systems']}",
            f"{row['questions']}",
            f"{row['gap']:g}",
            f"{row['runs']:,}",
            f"{row['wrong']:.4f}",
        )
        table.add_row(*numbers, f"{row['separated']:.1%}", f"{row['played']:.1%}")
    console.print(table)
    for words in figures["shortfalls"]:
        console.print(f"Too often: {words}", soft_wrap=True)
    if not figures["shortfalls"]:
        console.print(
            "\nNo interval excludes the truth, and no ranking separates systems wrongly, more often than it promises.",
            soft_wrap=True,
        )


def anytime_grid(runs: int, seed: int, page: Path | None, *, as_json: bool) -> int:
    """Runs the grid, prints it, and writes the page; the exit code says whether all intervals hold."""
    figures = anytime_coverage(runs, seed)
    if page is not None:
        page.write_text(anytime_page(figures, datetime.now(UTC).date().isoformat()), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        _print(figures, Terminal())
    return ExitCode.FAILED if figures["shortfalls"] else ExitCode.DONE
