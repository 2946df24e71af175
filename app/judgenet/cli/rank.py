"""``judgenet rank``: the systems of a run from the strongest to the weakest."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, interval_text, open_run, p_text
from judgenet.cli.rate import AggregationOption, SeedOption, aggregation_of
from judgenet.cli.terminal import Terminal
from judgenet.core.wording import plural
from judgenet.figures.ranking import RunRanking, SeparationFigures, run_ranking
from judgenet.stats.ranking import RESAMPLES, Ties
from judgenet.store.taught import fair_frame

_MATRIX = 12
"""The most systems for which the table of wins is printed."""


def print_ranking(figures: RunRanking, console: Console, *, matrix: bool = False) -> None:
    """The ranking as a table for people, with the rating by human labels."""
    tie = "a tie is half a win to each" if figures.ties == "half" else "ties are left out"
    console.print(
        f"{figures.run}, {figures.aggregation}: Bradley–Terry over {figures.n:,} judged pairs of "
        f"{plural(figures.questions, 'question')} (mean rating 1000; {tie})",
        soft_wrap=True,
    )
    people = {system.name: system for system in figures.human.systems or ()}
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("system")
    headings = ["rating", "95 % interval", "wins", "ties", "losses", "win rate", "at equal length"]
    for heading in (*headings, *(("by people",) if people else ())):
        table.add_column(heading, justify="right")
    for system in figures.systems:
        human, even = people.get(system.name), system.at_equal_length.value
        table.add_row(
            Text(system.name),
            f"{system.rating:.0f}",
            interval_text(system.ci, 0) or "n/a",
            *(f"{count:,}" for count in (system.wins, system.ties, system.losses)),
            "n/a" if system.win_rate is None else f"{system.win_rate:.3f}",
            "n/a" if even is None else f"{even:.3f}",
            *((f"{human.rating:.0f}",) if human else ()),
        )
    console.print(table)
    if matrix or len(figures.systems) <= _MATRIX:
        _print_matrix(figures, console)
    if figures.triples:
        console.print(
            f"Of {plural(figures.triples, 'triple')} of systems {figures.intransitive:,} form a cycle"
            + (f" (on single questions {figures.question_intransitive:,} of {figures.question_triples:,})"),
            soft_wrap=True,
        )
        for circle in figures.circles:
            console.print(Text(f"  {' beats '.join((*circle, circle[0]))}"), soft_wrap=True)
    _print_separation(figures.separation, console)
    _print_people(figures, console)
    if figures.reason:
        console.print(figures.reason, soft_wrap=True)
    for place, group in enumerate(figures.groups if len(figures.groups) > 1 else (), 1):
        console.print(Text(f"Group {place}: {', '.join(group)}"), soft_wrap=True)
    for note in figures.notes:
        console.print(f"Note: {note}", soft_wrap=True)


def _print_matrix(figures: RunRanking, console: Console) -> None:
    """How often the system of a row won against that of a column, of their games."""
    names, wins, games = figures.matrix.systems, figures.matrix.wins, figures.matrix.games
    console.print("\nWins of the row against the column, of their games")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for place in range(1, len(names) + 1):
        table.add_column(str(place), justify="right")
    for i, name in enumerate(names):
        cells = [f"{wins[i][j]:g}/{games[i][j]}" if games[i][j] else "" for j in range(len(names))]
        table.add_row(Text(f"{i + 1} {name}"), *cells)
    console.print(table)


def _print_separation(separation_figures: SeparationFigures, console: Console) -> None:
    """Prints whether each system is separated from the next."""
    chosen = (
        f"; the run chose its matches, {separation_figures.played:,} of {separation_figures.n_total:,} pairs"
        if separation_figures.auto
        else ""
    )
    line = f"\nSeparated from the next, valid at any time (Holm over all pairs of systems){chosen}"
    console.print(line, soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("system", "next"):
        table.add_column(heading)
    for heading in ("matches", "won", "e", "p", "separated"):
        table.add_column(heading, justify="right")
    for neighbours in separation_figures.neighbours:
        table.add_row(
            Text(neighbours.better),
            Text(neighbours.worse),
            f"{neighbours.n:,}",
            "n/a" if neighbours.rate is None else f"{neighbours.rate:.3f}",
            f"{neighbours.e_value:.4g}",
            p_text(neighbours.p),
            "yes" if neighbours.separated else "no",
        )
    console.print(table)


def _print_people(figures: RunRanking, console: Console) -> None:
    against = figures.against_people
    among = against.among_people
    if among.rbo is not None:
        plain = among.rbo_not_extrapolated
        console.print(
            f"Overlap of people's rankings with each other: {among.rbo:.3f} ({plain:.3f} not extrapolated) "
            f"over {among.questions:,} comparisons of two people on a question",
            soft_wrap=True,
        )
    if against.rbo is None:
        return
    own = against.by_question
    mean = f"n/a ({own.reason})" if own.rbo is None else f"{own.rbo:.3f}"
    console.print(
        f"Overlap with the ranking by people (RBO, p = 0.8, extrapolated): {against.rbo:.3f} over {against.pairs:,} "
        f"pairs with both; question by question {mean} on average ({own.questions:,} of {own.total:,} "
        "questions)",
        soft_wrap=True,
    )


def rank_systems(
    run: RunArgument,
    aggregation: AggregationOption = None,
    ties: Annotated[
        Ties, typer.Option(help="How to count a tie: as half a win for each (half), or not at all (drop).")
    ] = "half",
    resamples: Annotated[int, typer.Option(min=0, max=100_000, help="Resamples of the questions.")] = RESAMPLES,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Print the table of wins for any number of systems.")
    ] = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Rank the systems whose responses were judged, by the model of Bradley and Terry.

    The pairs must name their systems (model_a, model_b). Intervals are over questions. Cycles (x beats y, y beats z,
    z beats x) are counted and named; systems that never met are shown in groups. With human labels the ranking by
    people is shown too, with the overlap of the two (RBO). For each system and the next it says whether their matches
    separate them, valid at any time: judgenet run --matches auto judges pairs until they do.

    \b
    Examples:
      judgenet rank out
      judgenet rank out --aggregation c1 --ties drop --json
    """
    with open_run(run, project) as (store, info):
        name, frame = aggregation_of(info, aggregation), fair_frame(store, info)
        figures = run_ranking(frame, name, ties=ties, resamples=resamples, seed=seed)
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_ranking(figures, Terminal(), matrix=matrix)
