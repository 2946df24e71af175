"""``judgenet metrics``: how a run agrees with people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import InputError, JsonOption, ProjectOption, RunArgument, open_run
from judgenet.core.aggregate import PairVerdicts, aggregation_names
from judgenet.core.pairs import Pair, Verdict
from judgenet.stats.agreement import Agreement, agreement, position
from judgenet.store.db import Store
from judgenet.store.results import PairResult, network_of, pair_results
from judgenet.store.runs import RunInfo, Spent, spent


def agreement_json(found: Agreement) -> dict[str, Any]:
    """Agreement with people as stable keys; an undefined figure is ``null`` with a reason."""
    return {
        "accuracy": found.accuracy,
        "macro_f1": found.macro_f1,
        "kappa": found.kappa,
        "n_used": found.n_used,
        "n_total": found.n_total,
        "labels": list(found.labels),
        "confusion": [list(row) for row in found.confusion],
        "majority_baseline": found.majority_baseline,
        "reasons": dict(found.reasons),
    }


def aggregation_figures(names: Iterable[str], results: list[PairResult]) -> dict[str, Any]:
    """Agreement of each aggregation over pairs; pairs without label or verdict are in ``n_total`` only."""
    human = [result.pair.pair.human for result in results]
    return {
        name: agreement_json(
            agreement(human, [None if r.verdicts is None else r.verdicts.named().get(name) for r in results])
        )
        for name in names
    }


def run_metrics(store: Store, run: RunInfo, by: str | None = None) -> dict[str, Any]:
    """All figures of a run: agreement by aggregation, flip rate between orders, calls used, unscored."""
    spec = network_of(run)
    names = aggregation_names(spec.depth, chair=spec.chair is not None)
    results = list(pair_results(store, run))
    judged = [result.verdicts for result in results if result.verdicts is not None]
    sums = spent(store, run)
    figures: dict[str, Any] = {
        "run": run.id,
        "state": run.state,
        "message": run.message,
        "pairs": {
            "total": len(results),
            "finished": len(judged),
            "labelled": sum(result.pair.pair.human is not None for result in results),
        },
        "aggregations": aggregation_figures(names, results),
        "position": {"c1": _position(judged, len(results))},
        "calls": _calls(sums, judged),
        "cost": {
            "tokens_in": sums.tokens_in,
            "tokens_out": sums.tokens_out,
            "tokens_cached": sums.tokens_cached,
            "price": None if sums.unpriced else sums.price,
            "price_known": sums.price,
            "calls_unpriced": sums.unpriced,
            "calls_new": sums.calls_new,
            "calls_from_store": sums.calls - sums.calls_new,
        },
    }
    if by is not None:
        key = _KEYS.get(by)
        if key is None:
            raise InputError(f"--by {by}: there is no such grouping. Choose one of: {', '.join(_KEYS)}.")
        groups: dict[str, list[PairResult]] = {}
        for result in results:
            groups.setdefault(key(result.pair.pair) or "(none)", []).append(result)
        figures["by"] = {by: {name: aggregation_figures(names, part) for name, part in sorted(groups.items())}}
    return figures


_KEYS: dict[str, Callable[[Pair], str | None]] = {"task": lambda pair: pair.task, "human": lambda pair: pair.human}


def _position(judged: list[PairVerdicts], total: int) -> dict[str, Any]:
    ab: list[Verdict | None] = [found.c1_ab for found in judged]
    ba: list[Verdict | None] = [found.c1_ba for found in judged]
    found = position(ab, ba)
    return {
        "first_first": found.primacy,
        "last_last": found.recency,
        "valid_both": found.n,
        "n_total": total,
        "flip_rate": found.flip_rate,
        "net": found.net,
        "p": found.p,
        "reason": found.reason or None,
    }


def _calls(sums: Spent, judged: list[PairVerdicts]) -> dict[str, Any]:
    return {
        "finished_pairs_used": sum(found.calls_used + found.chair_used for found in judged),
        "finished_pairs_total": sum(found.calls_total + found.chair_total for found in judged),
        "all": sums.calls,
        "scored": sums.scored,
        "unscored": sums.unscored,
    }


def _figure(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}"


def print_metrics(figures: dict[str, Any], console: Console) -> None:
    """The figures as a table for people; every one with its n."""
    pairs = figures["pairs"]
    console.print(
        f"{figures['run']} ({figures['state']}): {pairs['finished']:,} of {pairs['total']:,} pairs finished, "
        f"{pairs['labelled']:,} with a human label",
        soft_wrap=True,
    )
    _print_table(figures["aggregations"], console)
    for by, groups in figures.get("by", {}).items():
        for name, part in groups.items():
            console.print(f"\n{by}: {name}", markup=False, soft_wrap=True)
            _print_table(part, console)
    flips = figures["position"]["c1"]
    if flips["flip_rate"] is None:
        console.print(f"Flip rate between orders: n/a – {flips['reason']}", soft_wrap=True)
    else:
        console.print(
            f"Flip rate between orders (c1): {flips['flip_rate']:.4f} of {flips['valid_both']:,} pairs with both "
            f"orders, of {flips['n_total']:,} (first shown preferred twice {flips['first_first']:,}, "
            f"last shown {flips['last_last']:,})",
            soft_wrap=True,
        )
    calls, cost = figures["calls"], figures["cost"]
    console.print(
        f"Calls used in finished pairs: {calls['finished_pairs_used']:,} of {calls['finished_pairs_total']:,}",
        soft_wrap=True,
    )
    if calls["unscored"]:
        named = ", ".join(f"{count:,} {reason}" for reason, count in calls["unscored"].items())
        console.print(f"Unscored: {named}", soft_wrap=True)
    price = "unknown price" if cost["price"] is None else f"{cost['price']:.4f} USD"
    if cost["price"] is None and cost["price_known"]:
        price = f"{cost['price_known']:.4f} USD and {cost['calls_unpriced']:,} calls of unknown price"
    console.print(
        f"Spent: {cost['calls_new']:,} new calls ({cost['calls_from_store']:,} from the store), "
        f"{cost['tokens_in']:,} tokens in ({cost['tokens_cached']:,} cached), {cost['tokens_out']:,} out, {price}",
        soft_wrap=True,
    )


_FIGURES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "kappa": "kappa", "majority_baseline": "baseline"}


def _print_table(aggregations: dict[str, Any], console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("aggregation")
    for name in ("accuracy", "macro-F1", "kappa", "n used", "baseline"):
        table.add_column(name, justify="right")
    why: dict[str, list[str]] = {}
    for name, found in aggregations.items():
        table.add_row(
            name,
            *(_figure(found[figure]) for figure in ("accuracy", "macro_f1", "kappa")),
            f"{found['n_used']:,} of {found['n_total']:,}",
            _figure(found["majority_baseline"]),
        )
        for figure in ("accuracy", "macro_f1", "kappa", "majority_baseline"):
            if found[figure] is None:
                reason = found["reasons"].get(figure, "undefined")
                why.setdefault(reason, []).append(f"{name} {_FIGURES[figure]}")
    console.print(table)
    for reason, undefined in why.items():
        which = "" if len(undefined) == len(aggregations) * len(_FIGURES) else f" ({', '.join(undefined)})"
        console.print(f"n/a{which}: {reason}", soft_wrap=True)


def metrics(
    run: RunArgument,
    by: Annotated[str | None, typer.Option(help="Also for each group: task, or human (the human label).")] = None,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show accuracy, macro-F1 and kappa against the human labels for every aggregation of a run.

    Beside them stand the share of the commonest label (the baseline), the number of pairs used of all, and how
    often the verdict depends on the order of the responses.

    Example: judgenet metrics out --by task
    """
    with open_run(run, project) as (store, info):
        figures = run_metrics(store, info, by)
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        print_metrics(figures, Console())
