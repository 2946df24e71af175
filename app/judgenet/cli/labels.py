"""``judgenet labels``: how many pairs to label for an interval of a wished width, and which."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, open_output, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.export import Format, label_records, write_file
from judgenet.cli.rate import (
    AggregationOption,
    ChosenOption,
    LabelsOption,
    aggregation_of,
    labels_used,
    sample_json,
)
from judgenet.cli.terminal import Terminal
from judgenet.core.labels import Chosen, LabelRules, NoMajority
from judgenet.formats.labels import read_labels
from judgenet.stats.label_plan import KClassPlan, TwoClassPlan, plan_k_class, plan_labels, plan_two_class
from judgenet.stats.planning import Need, draw_labels
from judgenet.store.db import Store, now
from judgenet.store.labels import add_labels, label_rules, set_label_rules
from judgenet.store.locate import find_run
from judgenet.store.results import within_name
from judgenet.store.runs import RunInfo, run_info, run_pairs
from judgenet.store.taught import fair_frame


def run_plan(
    store: Store, run: RunInfo, aggregation: str | None, width: float, labels: str, chosen: Chosen | None, seed: int
) -> tuple[dict[str, Any], list[str]]:
    """The plan for a run, and the ids of the pairs to label next.

    :raises InputError: no pair has a verdict yet.
    """
    name = aggregation_of(run, aggregation)
    frame = fair_frame(store, run)
    used = labels_used(frame, labels)
    sample = frame.label_sample(name, chosen, used)
    labelled, others = sample.labelled, sample.others
    if not labelled and not others.total():
        raise InputError(f"{run.id}: no pair has a verdict of {name} yet, so that nothing can be planned.")
    counting = sample.chosen in ("random", "within-verdict")
    plan = plan_labels(labelled, others, width, counting=counting, by_question=frame.by_question(name, sample, used))
    figures: dict[str, Any] = {
        "run": run.id,
        "aggregation": name,
        "width": width,
        "pairs": plan.pairs,
        "labelled": sum(plan.have.values()),
        "pilot": plan.labelled,
        "chosen": sample.chosen,
        "label_sources": sample_json(sample),
        "assumed": plan.assumed,
        "assumption": plan.assumption,
        "n_questions": plan.effect.questions,
        "design_effect": {
            "value": plan.effect.value,
            "source": plan.effect.source or None,
            "words": plan.effect.words,
            "reasons": {} if plan.effect.source else {"source": "no two judged pairs have the same question"},
        },
        "needs": {method: need_json(need) for method, need in plan.needs.items()},
        "two_class": _two_class(plan_two_class(labelled, others, width, plan.effect)),
        "k_class": _k_class(plan_k_class(labelled, others, width, plan.effect)),
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
    unlabelled = {
        verdict: [frame.pairs.ids[index] for index in indexes]
        for verdict, indexes in frame.unlabelled(name, counting=counting).items()
    }
    following = draw_labels(unlabelled, plan.more, seed) if possible else []
    figures["next"] = following
    figures["next_seed"] = seed
    figures["next_chosen"] = "within-verdict"
    return figures, following


def need_json(need: Need) -> dict[str, Any]:
    """A number of labels as stable keys: ``needed`` by the formula, ``labels`` as advised, ``null`` with a reason."""
    return {"needed": need.needed, "labels": need.labels, "floor": need.floor, "reason": need.reason or None}


def _two_class(plan: TwoClassPlan) -> dict[str, Any]:
    found = plan.needs
    if found is None:
        return {"assumed": False, "reason": plan.reason}
    allocation = plan.allocation
    return {
        "assumed": plan.assumed,
        "rate": plan.rate,
        "specificity": plan.specificity,
        "sensitivity": plan.sensitivity,
        "optimal": need_json(found.optimal),
        "equal": need_json(found.equal),
        "random": need_json(found.at_random),
        "published_allocation": None if allocation is None else dict(zip("ab", allocation, strict=True)),
        "reason": None,
        "reasons": {} if allocation is not None else {"published_allocation": found.optimal.reason},
    }


def _k_class(plan: KClassPlan) -> dict[str, Any]:
    if plan.needs is None:
        return {"reason": plan.reason}
    return {
        "optimal": need_json(plan.needs.optimal),
        "equal": need_json(plan.needs.equal),
        "allocation": dict(zip(plan.classes, plan.needs.allocation, strict=True)),
        "reason": None,
    }


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
    if figures["design_effect"]["words"]:
        console.print(f"Questions: {figures['design_effect']['words']}", soft_wrap=True)
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
    if figures["needs"]["within_verdict"]["labels"] is None:
        console.print("To label next: none is drawn for a width out of reach; judge more pairs, or give --width")
    else:
        console.print(f"To label next, at random within the verdicts: {len(figures['next']):,} pairs", soft_wrap=True)


def labels(
    run: RunArgument,
    width: Annotated[float, typer.Option(help="The wished width of the 95 % interval of the win rate.")] = 0.1,
    aggregation: AggregationOption = None,
    labels: LabelsOption = "all",
    chosen: ChosenOption = None,
    following: Annotated[
        Path | None,
        typer.Option("--next", help="Write the ids of the pairs to label next, a line each.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw of pairs.")] = 0,
    given: Annotated[
        Path | None,
        typer.Option("--import", help="Enter the labels of a file (CSV, JSON, XLSX …).", show_default=False),
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Who gave the imported labels, where the file does not say.", show_default=False)
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--export", help="Write all labels people gave, as CSV (.csv) or JSON Lines.", show_default=False),
    ] = None,
    file_labels: Annotated[
        Chosen | None,
        typer.Option(help="Keep in the store how the labelled pairs of the data file were chosen.", show_default=False),
    ] = None,
    no_majority: Annotated[
        NoMajority | None,
        typer.Option(
            help="Keep in the store what a pair counts as whose annotators have no majority.", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Plan how many labels an interval of a wished width needs, and which are next; import and export labels.

    The pairs to label next are drawn at random within each verdict, more where people and network disagree more. Import
    what people say of them with --chosen within-verdict. Labels without a way of choosing count as imported.

    \b
    Examples: judgenet labels out --width 0.1 --next next.txt
              judgenet labels out --import said.csv --annotator Ada \\
                --chosen within-verdict
              judgenet labels out --export labels.csv
    """
    if not 0 < width <= 1:
        raise InputError(f"--width {width:g}: a width is a number above 0 and up to 1, as in 0.1.")
    if given is None and annotator is not None:
        raise InputError("--annotator: is for imported labels. Name their file: --import FILE")
    told: dict[str, Any] = {}
    if given is not None or file_labels is not None or no_majority is not None:
        path, run_id = find_run(run, project)
        with Store.open(path) as store:
            info = run_info(store, run_id)
            if file_labels is not None or no_majority is not None:
                rules = label_rules(store)
                rules = LabelRules(no_majority or rules.no_majority, file_labels or rules.file_chosen)
                set_label_rules(store, rules)
                told["rules"] = asdict(rules)
            if given is not None:
                told["imported"] = _import(store, info, given, annotator, chosen, aggregation)
    if to is not None:
        with open_run(run, project) as (store, info):
            format = Format.CSV if to.suffix.lower() == ".csv" else Format.JSONL
            told["exported"] = {"file": str(to), "n": write_file(label_records(store, info), format, to, "--export")}
    if told and following is None:
        if as_json:
            typer.echo(json.dumps({"run": info.id, **told}, allow_nan=False))
        else:
            _print_told(told)
        return
    with open_run(run, project) as (store, info):
        figures, ids = run_plan(store, info, aggregation, width, labels, None if given else chosen, seed)
    if following is not None:
        with open_output("--next", following, "w") as out:
            out.writelines(f"{name}\n" for name in ids)
    if as_json:
        typer.echo(json.dumps({**figures, **told}, allow_nan=False))
    else:
        _print_told(told)
        print_plan(figures, Terminal())


def _import(
    store: Store, run: RunInfo, path: Path, annotator: str | None, chosen: Chosen | None, aggregation: str | None
) -> dict[str, Any]:
    """Enters the labels of a file, all or none."""
    pairs = {of.pair.id: of.pair for of in run_pairs(store, run)}
    found = read_labels(path, pairs, annotator=annotator, chosen=chosen, at=now())
    within = within_name(run, aggregation_of(run, aggregation))
    entered = [
        replace(label, within=label.within or within) if label.chosen == "within-verdict" else label
        for label in found.labels
    ]
    new = add_labels(store, entered)
    return {
        "file": str(path),
        "n": len(found.labels),
        "new": new,
        "known": len(found.labels) - new,
        "stale": found.stale,
        "empty": found.empty,
        "inactive": found.inactive,
        "annotators": sorted({label.annotator for label in found.labels}),
        "chosen": dict(Counter(label.chosen for label in found.labels)),
    }


def _print_told(told: dict[str, Any]) -> None:
    if rules := told.get("rules"):
        typer.echo(f"Labels of the data file count as {rules['file_chosen']}, no majority as {rules['no_majority']}")
    if found := told.get("imported"):
        ways = ", ".join(f"{count:,} {name}" for name, count in found["chosen"].items())
        typer.echo(f"{found['file']}: {found['new']:,} labels entered ({ways}) by {', '.join(found['annotators'])}")
        for key, words in (
            ("known", "were there already"),
            ("stale", "are of other texts than the pairs have now, and do not count"),
            ("empty", "records have no label"),
            ("inactive", "were taken back or replaced"),
        ):
            if found[key]:
                typer.echo(f"{found[key]:,} {words}", err=True)
    if found := told.get("exported"):
        typer.echo(f"{found['file']}: {found['n']:,} labels", err=True)
