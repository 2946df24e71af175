"""``judgenet labels``: how many pairs to label for an interval of a given width, and which; import and export."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, open_output, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.label_power import (
    AlphaOption,
    CompareOption,
    DifferenceOption,
    DiscordanceOption,
    OptionalRun,
    PlanOptions,
    PowerOption,
    plan_labels_to_compare,
)
from judgenet.cli.rate import (
    AggregationOption,
    ChosenOption,
    LabelsOption,
    aggregation_of,
    labels_used,
)
from judgenet.cli.terminal import Terminal
from judgenet.core.labels import Chosen, LabelRules, NoMajority
from judgenet.core.wording import plural
from judgenet.figures.acceptance import people_queue
from judgenet.figures.label_plan import run_label_plan
from judgenet.formats.labels import read_labels
from judgenet.report.run_files import ExportFormat, Records, write_export
from judgenet.report.run_records import label_records
from judgenet.stats.power import ALPHA, POWER
from judgenet.store.db import Store, now
from judgenet.store.files import FileError
from judgenet.store.labels import add_labels, label_rules, set_label_rules
from judgenet.store.locate import find_run
from judgenet.store.results import within_name
from judgenet.store.runs import RunInfo, run_info, run_pairs
from judgenet.store.taught import fair_frame

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
    for heading in ("labels in total", "by formula", "narrowest"):
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
            f"Verdict {verdict}: {part['pairs']:,} pairs, {part['labels']:,} labelled, {part['target']:,} needed",
            soft_wrap=True,
        )
    if figures["needs"]["within_verdict"]["labels"] is None:
        console.print("To label next: none, as the width is out of reach; judge more pairs, or give another --width")
    else:
        console.print(f"To label next, at random within the verdicts: {len(figures['next']):,} pairs", soft_wrap=True)


def labels(
    run: OptionalRun = None,
    width: Annotated[float, typer.Option(help="The target width of the 95 % interval of the win rate.")] = 0.1,
    aggregation: AggregationOption = None,
    labels: LabelsOption = "all",
    chosen: ChosenOption = None,
    following: Annotated[
        Path | None,
        typer.Option("--next", help="Write the ids of the pairs to label next, one a line.", show_default=False),
    ] = None,
    queue: Annotated[
        Path | None,
        typer.Option(
            "--queue",
            help="Write the ids of the pairs that the network left to people, without those that have a label, the "
            "least sure first.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw of pairs.")] = 0,
    given: Annotated[
        Path | None,
        typer.Option("--import", help="Enter the labels of a file (CSV, JSON, XLSX …).", show_default=False),
    ] = None,
    annotator: Annotated[
        str | None,
        typer.Option(help="Annotator of the imported labels, where the file names none.", show_default=False),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--export", help="Write all human labels, as CSV (.csv) or JSON Lines.", show_default=False),
    ] = None,
    file_labels: Annotated[
        Chosen | None,
        typer.Option(
            help="Record in the store how the labelled pairs of the data file were chosen.", show_default=False
        ),
    ] = None,
    no_majority: Annotated[
        NoMajority | None,
        typer.Option(
            help="Record in the store how to count a pair whose annotators have no majority.", show_default=False
        ),
    ] = None,
    compare: CompareOption = None,
    difference: DifferenceOption = None,
    power: PowerOption = POWER,
    alpha: AlphaOption = ALPHA,
    discordance: DiscordanceOption = None,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Plan how many labels an interval of a given width needs, and which are next; import and export labels.

    With --compare, --difference or --discordance it plans the comparison of two networks instead: how many labelled
    pairs are needed to show a difference of their accuracies.

    The pairs to label next are drawn at random within each verdict, more where people and network disagree more. Import
    their labels with --chosen within-verdict. Labels without --chosen count as imported.

    --queue is for a run whose network accepts verdicts by a rule (judgenet guarantee --save): import the labels of
    these pairs with --chosen targeted. They decide their own pairs and enter no estimate.

    \b
    Examples: judgenet labels out --width 0.1 --next next.txt
              judgenet labels out --import said.csv --annotator Ada \\
                --chosen within-verdict
              judgenet labels out --export labels.csv
              judgenet labels out --queue for-people.txt
              judgenet labels wide --compare deep --difference 0.03
              judgenet labels --discordance 0.15
    """
    if any(given is not None for given in (compare, difference, discordance)):
        wanted = PlanOptions(compare, difference, power, alpha, discordance)
        plan_labels_to_compare(run, wanted, aggregation, labels, chosen, project, as_json=as_json)
        return
    if run is None:
        raise InputError("RUN is missing: name a run, or give --discordance to plan a comparison without one.")
    if not 0 < width <= 1:
        raise InputError(f"--width {width:g}: a width is a number above 0 and up to 1, as in 0.1.")
    if given is None and annotator is not None:
        raise InputError("--annotator goes with --import FILE.")
    results: dict[str, Any] = {}
    path, run_id = find_run(run, project)
    if given is not None or file_labels is not None or no_majority is not None:
        with Store.open(path) as store:
            if file_labels is not None or no_majority is not None:
                results["rules"] = _set_rules(store, no_majority, file_labels)
            if given is not None:
                results["imported"] = _import(store, run_info(store, run_id), given, annotator, chosen, aggregation)
    if to is not None:
        results["exported"] = _export(run, project, to)
    if queue is not None:
        results["queue"] = _write_queue(run, project, queue)
    with open_run(run, project) as (store, info):
        if results and following is None:
            _print_results({"run": info.id, **results}, as_json=as_json)
            return
        name, frame = aggregation_of(info, aggregation), fair_frame(store, info)
        used = labels_used(frame, labels)
        figures = run_label_plan(frame, name, width, None if given else chosen, used=used, seed=seed)
    if following is not None:
        with open_output("--next", following, "w") as out:
            out.writelines(f"{name}\n" for name in figures.next)
    _print_results({**figures.to_dict(), **results}, as_json=as_json)
    if not as_json:
        print_plan(figures.to_dict(), Terminal())


def _set_rules(store: Store, no_majority: NoMajority | None, file_labels: Chosen | None) -> dict[str, Any]:
    """Records how labels count, where an option says so."""
    rules = label_rules(store)
    rules = LabelRules(no_majority or rules.no_majority, file_labels or rules.file_chosen)
    set_label_rules(store, rules)
    return asdict(rules)


def _export(run: str, project: Path | None, path: Path) -> dict[str, Any]:
    """Writes all human labels."""
    format: ExportFormat = "csv" if path.suffix.lower() == ".csv" else "jsonl"
    with open_run(run, project) as (store, info):
        kept = Records("label", partial(label_records, store, info))
        try:
            return {"file": str(path), "n": write_export(kept, format, path)}
        except FileError as error:
            raise InputError(f"--export {error}") from None


def _import(
    store: Store, run: RunInfo, path: Path, annotator: str | None, chosen: Chosen | None, aggregation: str | None
) -> dict[str, Any]:
    """Enters the labels of a file, all or none."""
    pairs = {recorded_pair.pair.id: recorded_pair.pair for recorded_pair in run_pairs(store, run)}
    label_file = read_labels(path, pairs, annotator=annotator, chosen=chosen, at=now())
    within = within_name(run, aggregation_of(run, aggregation))
    entered = [
        replace(label, within=label.within or within) if label.chosen == "within-verdict" else label
        for label in label_file.labels
    ]
    new = add_labels(store, entered)
    return {
        "file": str(path),
        "n": len(label_file.labels),
        "new": new,
        "known": len(label_file.labels) - new,
        "stale": label_file.stale,
        "empty": label_file.empty,
        "inactive": label_file.inactive,
        "annotators": sorted({label.annotator for label in label_file.labels}),
        "chosen": dict(Counter(label.chosen for label in label_file.labels)),
    }


def _write_queue(run: str, project: Path | None, path: Path) -> dict[str, Any]:
    """Writes the pairs that the network left to people."""
    with open_run(run, project) as (store, info):
        frame = fair_frame(store, info)
    if frame.spec.aggregation.acceptance is None:
        raise InputError(
            f"--queue: the network of {info.id} has no rule that leaves pairs to people. To choose one: judgenet "
            f"guarantee {run} --out {path}"
        )
    pairs = people_queue(frame)
    with open_output("--queue", path, "w") as out:
        out.writelines(f"{frame.pairs.ids[pair]}\n" for pair in pairs)
    return {"file": str(path), "n": len(pairs), "for_people": int(frame.for_people.sum())}


def _print_results(results: dict[str, Any], *, as_json: bool) -> None:
    """Prints what was recorded and written."""
    if as_json:
        typer.echo(json.dumps(results, allow_nan=False))
        return
    if rules := results.get("rules"):
        typer.echo(f"Labels of the data file count as {rules['file_chosen']}, no majority as {rules['no_majority']}")
    if message := results.get("imported"):
        ways = ", ".join(f"{count:,} {name}" for name, count in message["chosen"].items())
        typer.echo(
            f"{message['file']}: {message['new']:,} labels entered ({ways}) by {', '.join(message['annotators'])}"
        )
        for key, words in (
            ("known", "were there already"),
            ("stale", "are for earlier texts of their pairs, and do not count"),
            ("empty", "records have no label"),
            ("inactive", "were taken back or replaced"),
        ):
            if message[key]:
                typer.echo(f"{message[key]:,} {words}", err=True)
    if message := results.get("queue"):
        typer.echo(
            f"{message['file']}: {plural(message['n'], 'pair')} to label, of {message['for_people']:,} for people",
            err=True,
        )
    if message := results.get("exported"):
        typer.echo(f"{message['file']}: {message['n']:,} labels", err=True)
