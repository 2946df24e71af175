"""``judgenet labels --compare``: how many labelled pairs a comparison of two networks needs."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import open_run
from judgenet.cli.errors import InputError
from judgenet.cli.rate import aggregation_of, labels_used
from judgenet.cli.terminal import Terminal
from judgenet.core.labels import Chosen
from judgenet.core.wording import plural
from judgenet.figures.comparison_plan import RunPower, run_power
from judgenet.figures.power import in_points
from judgenet.stats.power import DIFFERENCE
from judgenet.store.taught import fair_frame

OptionalRun = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN",
        help="Folder of a run (--out), a project (its newest run), FOLDER/run-2, or a run's id. Only a plan with "
        "--discordance needs none.",
        show_default=False,
    ),
]
CompareOption = Annotated[
    str | None,
    typer.Option(
        metavar="RUN",
        help="Plan a comparison from how often only one of this run and RUN is right. Without it, a second network "
        "is assumed to err independently of this run's.",
        show_default=False,
    ),
]
DifferenceOption = Annotated[
    float | None,
    typer.Option(
        help="Plan a comparison: the difference of the accuracies to detect. Default: 0.03.", show_default=False
    ),
]
PowerOption = Annotated[float, typer.Option(help="The power of the test, with --compare.")]
AlphaOption = Annotated[float, typer.Option(help="The level of McNemar's test, with --compare.")]
DiscordanceOption = Annotated[
    float | None,
    typer.Option(
        help="Plan a comparison with this share of pairs that only one of the two networks gets right.",
        show_default=False,
    ),
]


class PlanOptions(NamedTuple):
    """The options of a planned comparison: the difference to detect, power, level, and the run to compare with."""

    compare: str | None
    difference: float | None
    power: float
    alpha: float
    discordance: float | None


def print_power(figures: RunPower, console: Console) -> None:
    """The plan of a comparison for people."""
    console.print(figures.words, soft_wrap=True)
    console.print(f"Discordance: {figures.discordance.words}", soft_wrap=True, markup=False)
    if figures.pairs_ci is not None:
        low, high = figures.pairs_ci
        console.print(f"At the ends of its interval: {low:,} and {plural(high, 'pair')}", soft_wrap=True)
    if figures.design_effect > 1:
        console.print(
            f"Pairs of one question are alike: design effect {figures.design_effect:.2f}, in all numbers",
            soft_wrap=True,
        )
    if figures.pairs_formula is not None:
        console.print(
            f"By Connor's formula (1987), for the test by chi squared: {figures.pairs_formula:,}", soft_wrap=True
        )
    if figures.power_at_n is not None:
        shown = "no difference" if figures.smallest is None else in_points(figures.smallest)
        console.print(
            f"With the existing {figures.n:,} labelled pairs: power {figures.power_at_n:.1%}; the smallest "
            f"difference shown with {figures.power:.0%} is {shown}",
            soft_wrap=True,
        )
    elif figures.n is not None:
        console.print(f"With the existing {figures.n:,} labelled pairs: {figures.reasons['power_at_n']}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("difference, points", "labelled pairs"):
        table.add_column(heading, justify="right")
    for row in figures.table:
        table.add_row(f"{100 * row.difference:g}", "n/a" if row.pairs is None else f"{row.pairs:,}")
    console.print(table)
    for reason in dict.fromkeys(row.reason for row in figures.table if row.reason):
        console.print(f"n/a – {reason}", soft_wrap=True)


def plan_labels_to_compare(
    run: str | None,
    wanted: PlanOptions,
    aggregation: str | None,
    labels: str,
    chosen: Chosen | None,
    project: Path | None,
    *,
    as_json: bool,
) -> None:
    """Plans a comparison of the network of ``run`` with another and prints the plan.

    :raises InputError: an option is out of its range, or the comparison lacks its first run.
    """
    if run is None and wanted.compare is not None:
        raise InputError("--compare: name the first run, too: judgenet labels RUN --compare RUN")
    difference = DIFFERENCE if wanted.difference is None else wanted.difference
    for name, share in (("difference", difference), ("power", wanted.power), ("alpha", wanted.alpha)):
        if not 0 < share < 1:
            raise InputError(f"--{name} {share:g}: a share between 0 and 1, such as 0.05.")
    if wanted.discordance is not None and not 0 < wanted.discordance <= 1:
        raise InputError(f"--discordance {wanted.discordance:g}: a share above 0 and up to 1, such as 0.2.")
    with ExitStack() as stack:
        runs = [stack.enter_context(open_run(name, project)) for name in (run, wanted.compare) if name is not None]
        frames = [(store, fair_frame(store, info)) for store, info in runs]
        names = [aggregation_of(info, aggregation) for _, info in runs]
        figures = run_power(
            *frames,
            difference=difference,
            power=wanted.power,
            alpha=wanted.alpha,
            discordance=wanted.discordance,
            aggregations=(names[0], names[-1]) if names else None,
            chosen=chosen,
            used=labels_used(frames[0][1], labels) if frames else None,
        )
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_power(figures, Terminal())
