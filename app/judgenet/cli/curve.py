"""``judgenet curve``: accuracy against the size of the network, from the calls of a run and at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, interval_text, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.wording import plural
from judgenet.figures.curve import RunCurve, run_curve
from judgenet.figures.parts import PointFigures
from judgenet.stats.intervals import Interval
from judgenet.stats.whatif import ONE_POINT
from judgenet.store.taught import fair_frame


class RuleOption(StrEnum):
    C1 = "c1"
    C2_ALL = "c2_all"
    C2_LAST = "c2_last"


def print_curve(figures: RunCurve, console: Console) -> None:
    """The curve as a table for people."""
    whole, smallest, best = figures.whole, figures.smallest, figures.best_neuron
    if whole is None or smallest is None or best is None:
        console.print(f"{figures.run}: n/a – {figures.reason}", soft_wrap=True)
        return
    _print_points(figures.curve, console)
    console.print(
        f"{figures.aggregation} of all {whole.neurons:,} neurons: {whole.accuracy:.4f} "
        f"({_span(whole.accuracy_ci)}) of {whole.n_used:,.0f} labelled pairs. "
        f"Best single neuron of layer 1, chosen on the same pairs: {best.name} {best.accuracy:.4f} "
        f"({_span(best.accuracy_ci)}); the whole network minus it {best.whole_minus_best:+.4f} "
        f"({_span(best.whole_minus_best_ci)}).",
        soft_wrap=True,
        markup=False,
    )
    within = "1 point" if figures.within == ONE_POINT else f"{100 * figures.within:g} points"
    console.print(
        f"Smallest network within {within} of that: {plural(smallest.neurons, 'neuron')} in "
        f"{plural(smallest.depth, 'layer')}, {plural(len(smallest.orders), 'order')} "
        f"({'+'.join(smallest.orders)}), {plural(smallest.samples, 'sample')}, "
        f"{smallest.calls_per_pair:.1f} calls per pair instead of {whole.calls_per_pair:.1f}: "
        f"{smallest.accuracy:.4f}, difference {smallest.difference:+.4f} ({_span(smallest.difference_ci)}).",
        soft_wrap=True,
        markup=False,
    )
    if figures.reason:
        console.print(f"{figures.reason.capitalize()}.", soft_wrap=True)
    elif figures.questions is not None and figures.questions < figures.pairs.labelled:
        console.print(
            f"The labelled pairs hold {plural(figures.questions, 'question')}: intervals are over questions.",
            soft_wrap=True,
        )
    console.print(
        "Calls are those of a pair. A size stands for the mean over choices of neurons of its last layer; "
        "lowest and highest are single choices.",
        soft_wrap=True,
    )


def _print_points(points: Sequence[PointFigures], console: Console) -> None:
    """The sizes as a table, a row each."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("neurons", "layers", "orders", "samples", "calls", "accuracy", "95 % interval", "lowest", "highest"):
        table.add_column(name, justify="right", no_wrap=True)
    for point in points:
        table.add_row(
            f"{point.neurons:,}",
            str(point.depth),
            "+".join(point.orders),
            str(point.samples),
            f"{point.calls_per_pair:.1f}",
            f"{point.accuracy:.4f}",
            _span(point.accuracy_ci),
            f"{point.lowest:.4f}",
            f"{point.highest:.4f}",
        )
    console.print(table)


def _span(interval: Interval | None) -> str:
    return interval_text(interval) or "no interval"


def curve(
    run: RunArgument,
    aggregation: Annotated[
        RuleOption, typer.Option(help="c1: the average; c2_all: the vote of all neurons; c2_last: of the last layer.")
    ] = RuleOption.C2_ALL,
    within: Annotated[
        float, typer.Option(help="The loss of accuracy that the smallest network may have, as a share.")
    ] = ONE_POINT,
    seed: Annotated[int, typer.Option(help="Seed of the choices of neurons where not all of them are tried.")] = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show how accurate smaller networks would have been, and the smallest that is nearly as good. No call is made.

    Only networks are shown whose every call is recorded as they would have made it: without the deeper layers, without
    some neurons of the last layer, with one order of a single layer, with fewer samples.

    Example: judgenet curve out --aggregation c1
    """
    if not 0 <= within < 1:
        raise InputError(f"--within {within}: a share from 0 to 1, such as 0.01 for one point.")
    with open_run(run, project) as (store, info):
        figures = run_curve(fair_frame(store, info), aggregation.value, within, seed=seed)
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_curve(figures, Terminal())
