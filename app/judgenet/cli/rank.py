"""``judgenet rank``: the systems of a run from the strongest to the weakest."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.common import InputError, JsonOption, ProjectOption, RunArgument, open_run
from judgenet.cli.rate import AggregationOption, SeedOption, aggregation_of, verdicts_and_labels
from judgenet.stats.ranking import PRIOR, RESAMPLES, Game, Ranking, rank
from judgenet.store.db import Store
from judgenet.store.results import PairResult, pair_results
from judgenet.store.runs import RunInfo


def run_ranking(store: Store, run: RunInfo, aggregation: str | None, resamples: int, seed: int) -> dict[str, Any]:
    """The ranking of a run's systems by its verdicts and, where there are labels, by people.

    :raises InputError: fewer than two systems are named.
    """
    name = aggregation_of(run, aggregation)
    results = list(pair_results(store, run))
    names = sorted(
        {system for result in results for system in (result.pair.pair.model_a, result.pair.pair.model_b) if system}
    )
    if len(names) < 2:
        raise InputError(
            f"{run.id}: the pairs name {len(names)} systems, and a ranking needs two. "
            "Name the systems in the columns model_a and model_b of the pairs."
        )
    verdicts, human = (_games(results, names, name, place) for place in (0, 1))
    figures = {
        "run": run.id,
        "aggregation": name,
        "pairs": len(results),
        "unnamed": sum(1 for result in results if not _named(result)),
        **ranking_json(rank(names, verdicts, resamples=resamples, seed=seed), len(verdicts)),
        "human": (
            ranking_json(rank(names, human, resamples=resamples, seed=seed), len(human))
            if human
            else {"systems": None, "reason": "no pair of two named systems has a human label"}
        ),
    }
    figures["notes"] = ["uncorrected: the verdicts' own errors are not taken out"]
    if figures["prior"]:
        figures["notes"].append(
            f"some systems never lost to, or never met, the others: {PRIOR:g} wins each way were added to every two"
        )
    return figures


def _named(result: PairResult) -> bool:
    pair = result.pair.pair
    return bool(pair.model_a and pair.model_b and pair.model_a != pair.model_b)


def _games(results: list[PairResult], names: list[str], aggregation: str, place: int) -> list[Game]:
    """The judged pairs of two named systems, by the verdicts (place 0) or by people (1)."""
    places = {name: i for i, name in enumerate(names)}
    games = []
    for result, said in zip(results, verdicts_and_labels(results, aggregation), strict=True):
        verdict, pair = said[place], result.pair.pair
        if verdict is not None and _named(result) and pair.model_a and pair.model_b:
            games.append(Game(places[pair.model_a], places[pair.model_b], verdict, pair.question))
    return games


def ranking_json(found: Ranking, n: int) -> dict[str, Any]:
    """A ranking as stable keys; intervals are ``null`` with a reason where there are none."""
    return {
        "systems": [
            {
                **{key: value for key, value in asdict(system).items() if key != "interval"},
                "games": system.games,
                "ci": None if system.interval is None else list(system.interval),
            }
            for system in found.systems
        ],
        "n": n,
        "questions": found.questions,
        "prior": found.prior,
        "intransitive": found.intransitive,
        "triples": found.triples,
        "resamples": found.resamples,
        "seed": found.seed,
        "reason": found.reason or None,
    }


def print_ranking(figures: dict[str, Any], console: Console) -> None:
    """The ranking as a table for people, people's own rating beside it."""
    console.print(
        f"{figures['run']}, {figures['aggregation']}: Bradley–Terry over {figures['n']:,} judged pairs of "
        f"{figures['questions']:,} questions (mean rating 1000; a tie is half a win to each)",
        soft_wrap=True,
    )
    people = {system["name"]: system for system in figures["human"]["systems"] or ()}
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("system")
    for heading in ("rating", "95 % interval", "wins", "ties", "losses", *(("by people",) if people else ())):
        table.add_column(heading, justify="right")
    for system in figures["systems"]:
        ci, human = system["ci"], people.get(system["name"])
        table.add_row(
            Text(system["name"]),
            f"{system['rating']:.0f}",
            "n/a" if ci is None else f"{ci[0]:.0f} to {ci[1]:.0f}",
            *(f"{system[key]:,}" for key in ("wins", "ties", "losses")),
            *((f"{human['rating']:.0f}",) if human else ()),
        )
    console.print(table)
    if figures["triples"]:
        console.print(
            f"Of {figures['triples']:,} triples of systems {figures['intransitive']:,} form a circle", soft_wrap=True
        )
    if figures["reason"]:
        console.print(figures["reason"], soft_wrap=True)
    for note in figures["notes"]:
        console.print(f"Note: {note}", soft_wrap=True)


def rank_systems(
    run: RunArgument,
    aggregation: AggregationOption = None,
    resamples: Annotated[int, typer.Option(min=0, max=100_000, help="Resamples of the questions.")] = RESAMPLES,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Rank the systems whose responses were judged, by the model of Bradley and Terry.

    The pairs must name their systems (model_a, model_b). Intervals are over questions.

    Example: judgenet rank out
    """
    with open_run(run, project) as (store, info):
        figures = run_ranking(store, info, aggregation, resamples, seed)
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        print_ranking(figures, Console())
