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
    "sequences (betting); ordinary: the interval for one look, looked at as often."
)
_SAVED = (
    "A run that stops as soon as the interval valid at any time excludes 50 %: the share of runs that stop before "
    "their last pair, and the median share of the pairs that are asked. Beside it the share of runs in which the "
    "ordinary interval, looked at once after all pairs, excludes 50 %."
)


_RANKED = (
    "`--matches auto`: the share of the runs in which two neighbours are separated that are equal or the other way "
    "round, of those in which each system is separated from the next, and the median share of all matches that are "
    "played. Gap: the distance of neighbours' strengths (1 is a rate of 73 % between them, 0 makes all systems equal); "
    "one match in ten is a tie."
)


def anytime_coverage(runs: int, seed: int) -> dict[str, Any]:
    """How often the truth is excluded under a look at every pair, what a stop saves, and what fails."""
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
                "setting": of.setting.words,
                "pairs": of.pairs,
                "at_any_time": of.at_any_time,
                "ordinary": of.ordinary,
                "reason": None if of.ordinary is not None else "the ordinary interval is not simulated here",
            }
            for of in looks
        ],
        "savings": [
            {**of.setting._asdict(), "stopped": of.stopped, "asked": of.asked, "ordinary_at_end": of.found}
            for of in savings
        ],
        "rankings": [
            {
                **of.setting._asdict(),
                "runs": of.runs,
                "wrong": of.wrong,
                "separated": of.separated,
                "played": of.played,
            }
            for of in rankings
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
        *(f"| {of['setting']} | {of['at_any_time']:.4f} | {_share(of['ordinary'])} |" for of in figures["looks"]),
        "",
        "## Calls saved",
        "",
        _SAVED,
        "",
        "| win rate | ties | pairs | stopped early | pairs asked (median) | ordinary, at the end |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {of['mean']:g} | {of['ties']:.0%} | {of['pairs']:,} | {of['stopped']:.1%} | {of['asked']:.1%} | "
            f"{of['ordinary_at_end']:.1%} |"
            for of in figures["savings"]
        ),
        "",
        "## Rankings by chosen matches",
        "",
        f"{_RANKED}",
        "",
        "| systems | questions | gap | runs | wrongly separated | each separated from the next | matches played |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {of['systems']} | {of['questions']} | {of['gap']:g} | {of['runs']:,} | {of['wrong']:.4f} | "
            f"{of['separated']:.1%} | {of['played']:.1%} |"
            for of in figures["rankings"]
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
    for of in figures["looks"]:
        table.add_row(of["setting"], _share(of["at_any_time"]), _share(of["ordinary"]))
    console.print(table)
    console.print(f"\n{_SAVED}", soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("win rate", "ties", "pairs", "stopped early", "pairs asked", "ordinary, at the end"):
        table.add_column(heading, justify="right")
    for of in figures["savings"]:
        shares = (f"{of[key]:.1%}" for key in ("stopped", "asked", "ordinary_at_end"))
        table.add_row(f"{of['mean']:g}", f"{of['ties']:.0%}", f"{of['pairs']:,}", *shares)
    console.print(table)
    console.print(f"\n{_RANKED}", soft_wrap=True, markup=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("systems", "questions", "gap", "runs", "wrongly separated", "separated", "matches played"):
        table.add_column(heading, justify="right")
    for of in figures["rankings"]:
        numbers = (f"{of['systems']}", f"{of['questions']}", f"{of['gap']:g}", f"{of['runs']:,}", f"{of['wrong']:.4f}")
        table.add_row(*numbers, f"{of['separated']:.1%}", f"{of['played']:.1%}")
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
