"""``judgenet panel``: effective votes of a run's neurons, which of them are alike, and which adds most."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, figure, interval_text, open_run
from judgenet.cli.metrics import print_votes
from judgenet.cli.terminal import Terminal
from judgenet.figures.panel import ChoiceFigures, RunPanel, run_panel
from judgenet.stats.panel_choice import LARGEST
from judgenet.store.taught import fair_frame

_BY_VOTES = (
    "Chosen by effective votes: first the neuron that is right most often, then always the one with which the panel "
    "has the most effective votes"
)
_BY_LABELS = "Chosen by labels: always the neuron with which the majority is right most often"
_ALIKE = 5


def print_panel(figures: RunPanel, console: Console) -> None:
    """The figures as tables for people."""
    print_votes(figures.worth, console)
    chosen = figures.chosen
    if chosen is not None:
        for basis, votes in (("errors", chosen.errors), ("verdicts", chosen.verdicts)):
            value = f"n/a – {votes.reason}"
            if votes.value is not None:
                value = f"{votes.value:.2f} votes ({interval_text(votes.ci, 2) or 'no interval'})"
            console.print(
                f"{', '.join(chosen.neurons)}, by {basis}: {value}, {votes.n:,} of {votes.n_total:,} pairs",
                soft_wrap=True,
                markup=False,
            )
    _print_alike(figures, console)
    for title, choice in ((_BY_VOTES, figures.choice.votes), (_BY_LABELS, figures.choice.labels)):
        _print_choice(title, choice, console)


def _print_alike(figures: RunPanel, console: Console) -> None:
    """The pairs of neurons that are most alike; the whole matrix is in JSON."""
    correlations, names = figures.correlations, figures.neurons
    basis, basis_correlations = (
        ("errors", correlations.errors) if correlations.errors.reason is None else ("verdicts", correlations.verdicts)
    )
    if basis_correlations.reason is not None:
        return
    twos = sorted(
        (
            (value, basis_correlations.n[row][column], names[row], names[column])
            for row, values in enumerate(basis_correlations.r)
            for column, value in enumerate(values[:row])
            if value is not None
        ),
        reverse=True,
    )
    pairs_text = "; ".join(f"{first} and {second} {value:.2f} (n {n:,})" for value, n, first, second in twos[:_ALIKE])
    console.print(f"Most alike by the correlation of their {basis}: {pairs_text}", soft_wrap=True, markup=False)


def _print_choice(title: str, choice: ChoiceFigures, console: Console) -> None:
    if choice.reason is not None:
        console.print(f"{title}: n/a – {choice.reason}", soft_wrap=True)
        return
    console.print(f"\n{title}.", soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("size", "adds", "votes", "accuracy", "95 %", "tied", "any", "first"):
        if heading == "adds":
            table.add_column(heading, overflow="fold")
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    gains = []
    for step in choice.steps:
        table.add_row(
            f"{step.size}",
            Text(step.neuron),
            "n/a" if step.votes is None else f"{step.votes:.2f}",
            figure(step.accuracy.value),
            interval_text(step.accuracy.ci),
            f"{step.tied:.2f}",
            f"{step.random:.3f}",
            f"{step.with_first:.3f}",
        )
        if step.size > 1:
            ends = interval_text(step.gain_over_first.ci, signed=True) or "no interval"
            gains.append(f"{step.size}: {step.gain_over_first.value:+.3f} ({ends})")
    console.print(table)
    console.print(
        f"On {choice.n:,} of {choice.n_total:,} pairs; each is judged by a panel that was chosen on other questions "
        f"({choice.folds} folds). any: the mean accuracy of all panels of the size; first: of those that hold the "
        "neuron chosen first." + (f" Gain over these, by size: {'; '.join(gains)}." if gains else ""),
        soft_wrap=True,
    )


def panel(
    run: RunArgument,
    neuron: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A neuron of a set whose effective votes are shown too. Repeatable.",
            show_default=False,
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="The largest panel that is chosen.")] = LARGEST,
    seed: Annotated[int, typer.Option(help="Seed of the folds and of resampling.")] = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show how many independent votes the neurons are worth, and which neuron adds most.

    Neurons that err on the same pairs are copies of one another: n of them with the mean correlation of errors r are
    worth n / (1 + (n - 1) r) votes (Kish 1965). Panels are chosen neuron by neuron on one part of the questions and
    measured on the other.

    Example: judgenet panel out --neuron 'layer 1, neuron 1' --neuron 'layer 1, neuron 2'
    """
    with open_run(run, project) as (store, info):
        figures = run_panel(fair_frame(store, info), neuron or (), most=most, seed=seed)
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_panel(figures, Terminal())
