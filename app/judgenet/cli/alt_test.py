"""``judgenet alt-test``: whether the judges of a run may replace its annotators, at no cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, figure, interval_text, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.wording import aggregation_title, plural
from judgenet.figures.alt_test import AltTestFigures, RunAltTest, epsilon_words, run_alt_test
from judgenet.stats.alt_test import EPSILON
from judgenet.store.taught import fair_frame

_ANSWERS = {True: "yes", False: "no", None: "n/a"}


def print_alt_test(figures: RunAltTest, console: Console) -> None:
    """The test as tables for people: all judges, and the network's verdicts against each annotator."""
    console.print(
        f"{figures.run}: {figures.pairs_annotated:,} of {figures.pairs:,} pairs have two annotators or more; "
        f"{plural(len(figures.annotators), 'annotator')}; {epsilon_words(figures.epsilon)}",
        soft_wrap=True,
    )
    if figures.reason is not None:
        console.print(f"Not tested: {figures.reason}", soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("judge")
    for heading in ("wins", "winning rate", "advantage", "95 %", "n", "passes"):
        table.add_column(heading, justify="right")
    named: Mapping[str, AltTestFigures] = {
        **{aggregation_title(name): judge for name, judge in figures.aggregations.items()},
        **figures.neurons,
    }
    for name, judge in named.items():
        table.add_row(
            Text(name),
            f"{judge.won:,} of {judge.tested:,}",
            figure(judge.winning_rate),
            figure(judge.advantage.value),
            interval_text(judge.advantage.ci),
            f"{judge.advantage.n:,}",
            _ANSWERS[judge.passes],
        )
    console.print(table)
    for name, judge in named.items():
        if judge.reason:
            console.print(f"{name}: {judge.reason}", soft_wrap=True, markup=False)
    _print_annotators(figures, console)
    console.print(
        "A judge wins against an annotator if it is as close to the other annotators, less ε (one-sided t test, false "
        f"discovery rate {figures.fdr:g}); it may replace people if it wins against half of them (arXiv 2501.10970).",
        soft_wrap=True,
    )


def _print_annotators(figures: RunAltTest, console: Console) -> None:
    name, judge = list(figures.aggregations.items())[-1]
    table = Table(
        box=None, pad_edge=False, header_style="bold", title=f"{aggregation_title(name)} against each annotator"
    )
    table.add_column("left out")
    for heading in ("judge as close", "annotator as close", "p", "p, adjusted", "n", "won"):
        table.add_column(heading, justify="right")
    for annotator, against in judge.annotators.items():
        table.add_row(
            Text(annotator),
            figure(against.judge),
            figure(against.annotator),
            figure(against.p),
            figure(against.p_adjusted),
            f"{against.n:,} of {against.n_total:,}",
            _ANSWERS[against.won],
        )
    console.print(table)
    for annotator, against in judge.annotators.items():
        if against.reason:
            console.print(f"{annotator}: {against.reason}", soft_wrap=True, markup=False)


def instead_of_people(
    run: RunArgument,
    epsilon: Annotated[
        float,
        typer.Option(
            help="How much worse a judge may be, as a share of pairs, since it costs less: 0.2 where annotators are "
            "experts, 0.15 where they are skilled, 0.1 where they are crowd workers."
        ),
    ] = EPSILON,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Test whether the network, its layers and neurons may judge instead of people (Alternative Annotator Test).

    Each annotator is left out in turn, and judge and annotator are compared with the others. The test needs
    three named annotators with 30 pairs each.

    Example: judgenet alt-test out --epsilon 0.15
    """
    if not 0 <= epsilon < 1:
        raise InputError(f"--epsilon {epsilon:g}: a share from 0 to 1, such as 0.2.")
    with open_run(run, project) as (store, info):
        figures = run_alt_test(fair_frame(store, info), epsilon)
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_alt_test(figures, Terminal())
