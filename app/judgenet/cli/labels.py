"""``judgenet labels``: how many pairs to label for an interval of a wished width, and which."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import InputError, JsonOption, ProjectOption, RunArgument, open_output, open_run
from judgenet.cli.rate import (
    AggregationOption,
    LabelsOption,
    aggregation_of,
    labelled_counts,
    labels_used,
    verdicts_and_labels,
)
from judgenet.core.pairs import Verdict
from judgenet.stats.calibration import FEWEST_LABELS, lee
from judgenet.stats.label_plan import plan_labels
from judgenet.stats.planning import Need, draw_labels, published_allocation, two_class_labels
from judgenet.store.db import Store
from judgenet.store.results import PairResult, pair_results
from judgenet.store.runs import RunInfo


def run_plan(
    store: Store, run: RunInfo, aggregation: str | None, width: float, labels: str, seed: int
) -> tuple[dict[str, Any], list[str]]:
    """The plan for a run, and the ids of the pairs to label next.

    :raises InputError: no pair has a verdict yet.
    """
    name = aggregation_of(run, aggregation)
    results = list(pair_results(store, run))
    labelled, others = labelled_counts(results, name, labels_used(results, labels))
    if not labelled and not others.total():
        raise InputError(f"{run.id}: no pair has a verdict of {name} yet, so that nothing can be planned.")
    plan = plan_labels(labelled, others, width)
    figures: dict[str, Any] = {
        "run": run.id,
        "aggregation": name,
        "width": width,
        "pairs": plan.pairs,
        "labelled": plan.labelled,
        "assumed": plan.assumed,
        "assumption": plan.assumption or None,
        "needs": {method: need_json(need) for method, need in plan.needs.items()},
        "two_class": _two_class(labelled, others, width),
        "strata": {
            verdict: {
                **asdict(part),
                "pairs": plan.totals[verdict],
                "labels": plan.have.get(verdict, 0),
                "target": plan.targets[verdict],
            }
            for verdict, part in plan.strata.items()
        },
        "curve": [{"labels": count, "width": expected} for count, expected in plan.curve("random")],
    }
    possible = plan.needs["within_verdict"].labels is not None
    following = draw_labels(_unlabelled(results, name), plan.more, seed) if possible else []
    figures["next"] = following
    figures["next_seed"] = seed
    figures["next_chosen"] = "within-verdict"
    return figures, following


def need_json(need: Need) -> dict[str, Any]:
    """A number of labels as stable keys: ``needed`` by the formula, ``labels`` as advised, ``null`` with a reason."""
    return {"needed": need.needed, "labels": need.labels, "floor": need.floor, "reason": need.reason or None}


def _two_class(labelled: Counter[tuple[Verdict, Verdict]], others: Counter[Verdict], width: float) -> dict[str, Any]:
    """Labels for the correction by error rates, from the judge's rates on the labels there are."""
    found = lee(labelled, others).estimate
    if sum(labelled.values()) < FEWEST_LABELS or found.value is None:
        return {"reason": found.reason or f"at least {FEWEST_LABELS} labels must show the judge's error rates first"}
    right_0, right_1 = labelled["a", "a"], labelled["b", "b"]
    specificity = right_0 / (right_0 + labelled["b", "a"])
    sensitivity = right_1 / (right_1 + labelled["a", "b"])
    n = others.total()
    needs = two_class_labels(found.value, specificity, sensitivity, n, width)
    optimal = needs.optimal.labels
    return {
        "optimal": need_json(needs.optimal),
        "equal": need_json(needs.equal),
        "random": need_json(needs.at_random),
        "published_allocation": (
            None
            if optimal is None
            else dict(zip("ab", published_allocation(optimal, others["b"] / n, specificity, sensitivity), strict=True))
        ),
        "reason": None,
    }


def _unlabelled(results: list[PairResult], name: str) -> dict[Verdict, list[str]]:
    found: dict[Verdict, list[str]] = {}
    for result, (verdict, human) in zip(results, verdicts_and_labels(results, name), strict=True):
        if verdict is not None and human is None:
            found.setdefault(verdict, []).append(result.pair.pair.id)
    return found


_TITLES = {
    "random": "stratified, labels at random",
    "within_verdict": "stratified, labels within verdicts",
    "ppi": "PPI++, labels at random",
    "human_only": "human labels alone",
}


def print_plan(figures: dict[str, Any], console: Console) -> None:
    """The plan as a table for people."""
    console.print(
        f"{figures['run']}, {figures['aggregation']}: labels for a 95 % interval of the win rate {figures['width']:g} "
        f"wide; {figures['pairs']:,} pairs judged, {figures['labelled']:,} of them labelled",
        soft_wrap=True,
    )
    if figures["assumption"]:
        console.print(f"Assumed: {figures['assumption']}", soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("estimate")
    for heading in ("labels in all", "by formula", "narrowest"):
        table.add_column(heading, justify="right")
    for method, title in _TITLES.items():
        need = figures["needs"][method]
        shown = [f"{need[key]:,}" if need[key] is not None else "n/a" for key in ("labels", "needed")]
        table.add_row(title, *shown, f"{need['floor']:.4f}" if need["floor"] else "")
    console.print(table)
    for method, title in _TITLES.items():
        if figures["needs"][method]["reason"]:
            console.print(f"{title}: {figures['needs'][method]['reason']}", soft_wrap=True)
    for verdict, part in figures["strata"].items():
        console.print(
            f"Verdict {verdict}: {part['pairs']:,} pairs, {part['labels']:,} labelled, {part['target']:,} wished",
            soft_wrap=True,
        )
    console.print(f"To label next, at random within the verdicts: {len(figures['next']):,} pairs", soft_wrap=True)


def labels(
    run: RunArgument,
    width: Annotated[float, typer.Option(help="The wished width of the 95 % interval of the win rate.")] = 0.1,
    aggregation: AggregationOption = None,
    labels: LabelsOption = "all",
    following: Annotated[
        Path | None,
        typer.Option("--next", help="Write the ids of the pairs to label next, a line each.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw of pairs.")] = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Tell how many labels an interval of a wished width needs, and which pairs to label next.

    The pairs to label next are drawn at random within each verdict, more where people and network disagree more.
    Estimate from them with: judgenet rate RUN --chosen within-verdict

    Example: judgenet labels out --width 0.1 --next next.txt
    """
    if not 0 < width <= 1:
        raise InputError(f"--width {width:g}: a width is a number above 0 and up to 1, as in 0.1.")
    with open_run(run, project) as (store, info):
        figures, ids = run_plan(store, info, aggregation, width, labels, seed)
    if following is not None:
        with open_output("--next", following, "w") as out:
            out.writelines(f"{name}\n" for name in ids)
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        print_plan(figures, Console())
