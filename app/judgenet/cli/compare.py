"""``judgenet compare``: two runs on the pairs that both judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, figure, interval_text, open_run
from judgenet.cli.rate import ChosenOption, LabelsOption, SeedOption, aggregation_of, labels_used
from judgenet.cli.terminal import Terminal
from judgenet.core.wording import plural
from judgenet.figures.comparison import RunComparison, run_comparison
from judgenet.store.taught import fair_frame

_TITLES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "kappa": "kappa", "rate": "win rate, corrected"}


def print_comparison(figures: RunComparison, console: Console) -> None:
    """The differences as a table for people, warnings first."""
    for note in figures.notes:
        console.print(f"Warning: {note}", soft_wrap=True, markup=False)
    for line in _judges_lines(figures):
        console.print(line, soft_wrap=True, markup=False)
    pairs, who = figures.pairs, []
    for side in (figures.first, figures.second):
        name = f" “{side.name}”" if side.name else ""
        who.append(f"{side.run}{name} {side.aggregation}")
    console.print(
        f"{who[0]} less {who[1]}: {pairs.both_judged:,} of {pairs.common:,} common pairs judged by both, "
        f"{pairs.labelled:,} labelled",
        soft_wrap=True,
        markup=False,
    )
    _print_differences(figures, console)
    test = figures.mcnemar
    if test.p is not None:
        over = "" if test.questions_p is None else f"; over questions p = {test.questions_p:.4f}"
        console.print(
            f"Only the first is right on {plural(test.only_first_right, 'pair')}, only the second on "
            f"{test.only_second_right:,} (McNemar, exact p = {test.p:.4f}{over})",
            soft_wrap=True,
        )
    if pairs.questions < pairs.both_judged:
        console.print(
            f"These pairs hold {pairs.questions:,} different questions: intervals are over questions",
            soft_wrap=True,
        )
    if figures.power.pairs is not None:
        console.print(figures.power.words, soft_wrap=True)


def _judges_lines(figures: RunComparison) -> Iterator[str]:
    """The settings in which the two judges differ, one line each."""
    for name, (first, second) in figures.judges_differ.items():
        if name == "network":
            first, second = figures.first.network, figures.second.network
            if first != second:
                yield f"  network: {first} → {second}"
            yield from (f"  {change.what}: {change.first} → {change.second}" for change in figures.network_changes)
        elif name != "prompts":
            yield f"  {name.replace('_', ' ')}: {first} → {second}"


def _print_differences(figures: RunComparison, console: Console) -> None:
    """The figures of both runs with their differences and the notes on them."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for heading in ("first", "second", "difference", "95 % interval", "n"):
        table.add_column(heading, justify="right")
    shown = {title: {**figures.differences, "rate": figures.rate}[name] for name, title in _TITLES.items()}
    for title, difference in shown.items():
        table.add_row(
            title,
            figure(difference.first),
            figure(difference.second),
            "n/a" if difference.difference is None else f"{difference.difference:+.4f}",
            interval_text(difference.ci, 4, signed=True),
            f"{difference.n:,}",
        )
    console.print(table)
    for title, difference in shown.items():
        for text in (difference.reason, difference.note):
            if text:
                console.print(f"{title}: {text}", soft_wrap=True, markup=False)


def compare_runs(
    first: Annotated[str, typer.Argument(metavar="RUN", help="A run, as in the other commands.")],
    second: Annotated[str, typer.Argument(metavar="RUN", help="The run to compare it with.")],
    aggregation: Annotated[
        str | None,
        typer.Option(
            help="The aggregation that gives the verdicts of both runs. Default: each network's own.",
            show_default=False,
        ),
    ] = None,
    labels: LabelsOption = "all",
    chosen: ChosenOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Compare two runs on the pairs that both judged: accuracy, macro-F1, kappa and the corrected win rate.

    Differences are the first less the second, with intervals over pairs, and McNemar's test. Differences of the
    judges in network, prompts or model are listed.

    Example: judgenet compare wide deep
    """
    with open_run(first, project) as first_run, open_run(second, project) as second_run:
        names = (aggregation_of(first_run[1], aggregation), aggregation_of(second_run[1], aggregation))
        first_frame, second_frame = fair_frame(*first_run), fair_frame(*second_run)
        used = labels_used(first_frame, labels)
        figures = run_comparison(
            (first_run[0], first_frame), (second_run[0], second_frame), names, chosen, used=used, seed=seed
        )
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_comparison(figures, Terminal())
