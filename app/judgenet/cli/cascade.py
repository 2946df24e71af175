"""``judgenet cascade``: the verdicts and the cost of a run, had stop rules decided its easy pairs early."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, figure, interval_text, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.cascade import NEVER, read_placed_rule, stop_rule_text
from judgenet.core.network import NetworkError
from judgenet.core.wording import money, of, percent
from judgenet.figures.cascade import CascadeFigures, RunCascade, run_cascade
from judgenet.store.taught import fair_frame


class CascadeVote(StrEnum):
    C1 = "c1"
    C2_ALL = "c2_all"
    C2_LAST = "c2_last"


def print_stages(figures: CascadeFigures, console: Console) -> None:
    """How far the pairs went, stage by stage, and what was saved."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("stage", "skipped where", "pairs asked", "share", "decided here", "calls"):
        table.add_column(
            heading, justify="left" if heading in ("stage", "skipped where") else "right", no_wrap=heading != "stage"
        )
    for stage in figures.stages:
        table.add_row(
            Text(stage.name),
            "" if stage.rule == NEVER else stage.rule,
            of(stage.asked, stage.n_total),
            percent(stage.share),
            of(stage.decided, stage.asked),
            of(stage.calls, stage.calls_most),
        )
    console.print(table)
    saved = "" if figures.calls_saved is None else f" ({percent(figures.calls_saved)} saved)"
    price = "" if figures.price_saved is None else f", {money(figures.price_saved)} saved"
    console.print(
        f"Decided early: {of(figures.decided_early, figures.n_total)} pairs. "
        f"Calls: {of(figures.calls, figures.calls_most)}{saved}{price}"
        + (f". Price: {figures.reason}" if figures.reason and figures.price_saved is None else ""),
        soft_wrap=True,
        markup=False,
    )


def print_cascade(figures: RunCascade, console: Console) -> None:
    """The cascade as tables for people."""
    print_stages(figures, console)
    for name, value, interval, n in (
        (f"Accuracy of the cascade ({figures.aggregation})", figures.accuracy, figures.accuracy_ci, figures.n_used),
        ("The last stage alone", figures.last_accuracy, figures.last_accuracy_ci, figures.last_n_used),
    ):
        ends = "" if value is None else f" ({interval_text(interval) or 'no interval'})"
        console.print(
            f"{name}: {figure(value)}{ends}, {of(n, figures.labelled)} labelled pairs", soft_wrap=True, markup=False
        )
    if figures.unknown:
        console.print(
            f"{figures.unknown:,} pairs have no verdict: the calls that they would need are not on record.",
            soft_wrap=True,
        )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("rule", "accuracy", "n", "gain", "95 %", "calls", "last stage"):
        table.add_column(heading, justify="left" if heading == "rule" else "right", no_wrap=True)
    for row in figures.variants:
        table.add_row(
            row.rule,
            figure(row.accuracy),
            of(row.n_used, figures.labelled),
            "n/a" if row.difference is None else f"{row.difference:+.4f}",
            interval_text(row.difference_ci, signed=True),
            percent(row.calls_share),
            percent(row.last_share),
        )
    console.print(table)
    console.print(
        "gain: accuracy less that of never, on the same pairs; calls: share of those of never; last stage: share of "
        "pairs that reach it. Rules are chosen on the pairs on which they are measured: the best of many looks better "
        "than it is.",
        soft_wrap=True,
    )


def cascade(
    run: RunArgument,
    stop_when: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="The stop rule between the stages: orders-agree, neurons-agree, decided, margin>=VOTES, "
            "difference>=POINTS, or never; with after=LAYER or after=neurons for its place.",
        ),
    ] = "orders-agree",
    first: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A neuron of the first stage. Repeatable.", show_default=False),
    ] = None,
    then: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="The neuron of the next stage. Repeatable.", show_default=False),
    ] = None,
    aggregation: Annotated[
        CascadeVote,
        typer.Option(help="c1: the average; c2_all: the vote of all that were asked; c2_last: of the last layer."),
    ] = CascadeVote.C2_ALL,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show the verdicts and the cost of a run, had stop rules decided its easy pairs early. No call is made.

    Stages are the layers of the network, the neurons of its only layer, or those that --first and --then name.

    Example: judgenet cascade recorded --first 'PaLM2|Vanilla' --then 'GPT-4|Vanilla' --stop-when orders-agree
    """
    if bool(first) != bool(then):
        raise InputError("--first and --then go together: name the neurons of the first stage and of each later one.")
    try:
        rule, after = read_placed_rule(stop_when)
    except NetworkError as error:
        raise InputError(f"--stop-when: {error}") from None
    groups = (first, *([name] for name in then)) if first and then else ()
    with open_run(run, project) as (store, info):
        frame = fair_frame(store, info)
        figures = run_cascade(store, frame, stop_rule_text(rule), groups, after=after, aggregation=aggregation.value)
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_cascade(figures, Terminal())
