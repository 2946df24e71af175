"""``judgenet compare``: two runs on the pairs that both judged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.rate import ChosenOption, LabelsOption, SeedOption, aggregation_of, labels_used, sample_json
from judgenet.cli.terminal import Terminal
from judgenet.core.labels import Chosen
from judgenet.figures.comparing import both_judged, compare_pairs
from judgenet.figures.judges import Differing, changes_between, judges_warning, network_words, what_differs
from judgenet.stats.comparison import Comparison, Difference, known_difference
from judgenet.stats.provenance import Sample, left_words
from judgenet.store.db import Store
from judgenet.store.results import common_pairs, within_name
from judgenet.store.runs import RunInfo
from judgenet.store.taught import fair_frame


def run_comparison(
    first: tuple[Store, RunInfo],
    second: tuple[Store, RunInfo],
    aggregation: tuple[str, str],
    labels: str,
    chosen: Chosen | None,
    seed: int,
) -> dict[str, Any]:
    """All differences of two runs, the first less the second, on the pairs that both judged.

    :raises InputError: they have no pair in common.
    """
    one, other = fair_frame(*first), fair_frame(*second)
    common = sorted(common_pairs(first, second))
    both, conflicting = both_judged(one, other, aggregation, common, labels_used(one, labels))
    if not common:
        raise InputError(
            f"{first[1].id} and {second[1].id}: no pair is in both (the same id and the same texts). "
            "Compare runs of the same pairs."
        )
    compared = compare_pairs(both, within_name(first[1], aggregation[0]), chosen, seed)
    found, sample, rate = compared.figures, compared.sample, compared.rate
    if aggregation[0] == aggregation[1] and (first[0].path, first[1].id) == (second[0].path, second[1].id):
        differences = {name: known_difference(of) for name, of in found.differences.items()}
        test = replace(found.test, interval=differences["accuracy"].interval)
        found, rate = replace(found, differences=differences, test=test), known_difference(rate)
    differing = what_differs(first, second, aggregation)
    return {
        "first": _who(first[1], aggregation[0]),
        "second": _who(second[1], aggregation[1]),
        "pairs": {
            "first": len(one),
            "second": len(other),
            "common": len(common),
            "both_judged": found.n,
            "labelled": found.test.n,
            "labels_differ": conflicting,
            "questions": compared.questions,
        },
        "mcnemar": _mcnemar_json(found),
        "differences": {name: difference_json(of) for name, of in found.differences.items()},
        "rate": difference_json(rate),
        "agree": {
            "value": found.agree / found.n if found.n else None,
            "n": found.n,
            "reason": None if found.n else "no pair has a verdict of both",
        },
        "chosen": sample.chosen,
        "chosen_assumed": chosen is None and sample.chosen == "imported",
        "labels": sample_json(sample),
        "judges_differ": {name: list(values) for name, values in differing.items()},
        "network_changes": [change._asdict() for change in changes_between(first[1], second[1], differing)],
        "notes": _notes(differing, conflicting, sample),
    }


def _who(run: RunInfo, aggregation: str) -> dict[str, str]:
    return {
        "run": run.id,
        "name": run.name,
        "note": run.note,
        "aggregation": aggregation,
        "network": network_words(run),
    }


def _mcnemar_json(found: Comparison) -> dict[str, Any]:
    test = found.test
    reasons: dict[str, str] = {}
    if test.chi2_p is None:
        reasons["chi2_p"] = "on no pair one alone of the two is right"
    if found.questions_p is None:
        reasons["questions_p"] = "every question has one pair, or the questions are too few"
    if test.interval is None:
        reasons["ci"] = found.differences["accuracy"].reason
    return {
        "only_first_right": test.only_first,
        "only_second_right": test.only_second,
        "n": test.n,
        "p": test.p if test.n else None,
        "chi2_p": test.chi2_p,
        "questions_p": found.questions_p,
        "difference": test.difference,
        "ci": None if test.interval is None else list(test.interval),
        "reason": None if test.n else "no pair with both verdicts has a human label",
        "reasons": reasons,
    }


def difference_json(found: Difference) -> dict[str, Any]:
    """A difference as stable keys; what is undefined is ``null`` with a reason."""
    return {
        "first": found.first,
        "second": found.second,
        "difference": found.difference,
        "ci": None if found.interval is None else list(found.interval),
        "n": found.n,
        "n_questions": found.questions,
        "reason": found.reason or None,
        "note": found.note,
    }


def _notes(differing: Differing, conflicting: int, sample: Sample) -> list[str]:
    notes = [judges_warning(differing)] if differing else []
    if conflicting:
        notes.append(f"{conflicting:,} pairs have different human labels in the two runs and count as unlabelled")
    if left := left_words(sample.left_out):
        notes.append(f"labelled pairs that the difference of win rates leaves out: {left}")
    if sample.chosen == "targeted":
        notes.append(
            "the labelled pairs were chosen for a property of theirs: accuracy, macro-F1 and kappa are of these pairs "
            "and do not stand for the others"
        )
    return notes


_TITLES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "kappa": "kappa", "rate": "win rate, corrected"}


def print_comparison(figures: dict[str, Any], console: Console) -> None:
    """The differences as a table for people, the warning first."""
    for note in figures["notes"]:
        console.print(f"Warning: {note}", soft_wrap=True, markup=False)
    for name, (one, other) in figures["judges_differ"].items():
        if name == "network":
            one, other = figures["first"]["network"], figures["second"]["network"]
            if one != other:
                console.print(f"  network: {one} → {other}", soft_wrap=True, markup=False)
            for change in figures["network_changes"]:
                console.print(
                    f"  {change['what']}: {change['first']} → {change['second']}", soft_wrap=True, markup=False
                )
        elif name != "prompts":
            console.print(f"  {name.replace('_', ' ')}: {one} → {other}", soft_wrap=True, markup=False)
    pairs, who = figures["pairs"], []
    for of in (figures["first"], figures["second"]):
        name = f" “{of['name']}”" if of["name"] else ""
        who.append(f"{of['run']}{name} {of['aggregation']}")
    console.print(
        f"{who[0]} less {who[1]}: {pairs['both_judged']:,} of {pairs['common']:,} common pairs judged by both, "
        f"{pairs['labelled']:,} labelled",
        soft_wrap=True,
        markup=False,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for heading in ("first", "second", "difference", "95 % interval", "n"):
        table.add_column(heading, justify="right")
    shown = {title: (figures["differences"] | {"rate": figures["rate"]})[name] for name, title in _TITLES.items()}
    for title, found in shown.items():
        ci = found["ci"]
        table.add_row(
            title,
            *("n/a" if found[key] is None else f"{found[key]:.4f}" for key in ("first", "second")),
            "n/a" if found["difference"] is None else f"{found['difference']:+.4f}",
            "" if ci is None else f"{ci[0]:+.4f} to {ci[1]:+.4f}",
            f"{found['n']:,}",
        )
    console.print(table)
    for title, found in shown.items():
        for said in (found["reason"], found["note"]):
            if said:
                console.print(f"{title}: {said}", soft_wrap=True, markup=False)
    test = figures["mcnemar"]
    if test["p"] is not None:
        over = "" if test["questions_p"] is None else f"; over questions p = {test['questions_p']:.4f}"
        console.print(
            f"Only the first is right on {test['only_first_right']:,} pairs, only the second on "
            f"{test['only_second_right']:,} (McNemar, exact p = {test['p']:.4f}{over})",
            soft_wrap=True,
        )
    if pairs["questions"] < pairs["both_judged"]:
        console.print(
            f"These pairs hold {pairs['questions']:,} different questions: intervals are over questions",
            soft_wrap=True,
        )


def compare_runs(
    first: Annotated[str, typer.Argument(metavar="RUN", help="A run, as in the other commands.")],
    second: Annotated[str, typer.Argument(metavar="RUN", help="The run to compare it with.")],
    aggregation: Annotated[
        str | None,
        typer.Option(help="Whose verdicts, of both runs. Default: the network's.", show_default=False),
    ] = None,
    labels: LabelsOption = "all",
    chosen: ChosenOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Compare two runs on the pairs that both judged: accuracy, macro-F1, kappa and the corrected win rate.

    Differences are the first less the second, with intervals over pairs, and McNemar's test. Where the judges differ
    in network, prompts or model, it is said.

    Example: judgenet compare wide deep
    """
    with open_run(first, project) as one, open_run(second, project) as other:
        names = (aggregation_of(one[1], aggregation), aggregation_of(other[1], aggregation))
        figures = run_comparison(one, other, names, labels, chosen, seed)
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        print_comparison(figures, Terminal())
