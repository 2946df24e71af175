"""``judgenet guarantee``: the verdicts of a run that can be accepted with a bounded error, at no cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.rate import AggregationOption, ChosenOption, aggregation_of
from judgenet.cli.terminal import Terminal
from judgenet.figures.guarantee import RunGuarantee, run_guarantee
from judgenet.stats.guarantee import Confidence
from judgenet.store.files import atomic_write
from judgenet.store.taught import fair_frame

_CONFIDENCES: dict[Confidence, str] = {
    "calls": "share of a pair's valid calls that say the verdict",
    "orders": "that share, and 1 more where both orders say it",
    "margin": "distance of the mean scores",
}


def print_guarantee(figures: RunGuarantee, console: Console) -> None:
    """The thresholds that were tested, and what is promised."""
    pairs = figures.pairs
    console.print(
        f"{figures.run}, {figures.aggregation}: {pairs.judged:,} of {pairs.total:,} pairs have a verdict, "
        f"{pairs.labelled:,} of them a label ({figures.chosen_why}); one label a question is used, "
        f"{pairs.labels_used:,} in all",
        soft_wrap=True,
    )
    if figures.tested:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("confidence", "labels", "errors", "p"):
            table.add_column(heading, justify="right")
        for of in figures.tested:
            table.add_row(f"{of.confidence:.4g}", f"{of.n:,}", f"{of.errors:,}", f"{of.p:.4f}")
        console.print(table)
        console.print(f"Confidence: {_CONFIDENCES[figures.confidence]}", soft_wrap=True)
    if figures.threshold is None or figures.share is None:
        console.print(f"Nothing can be promised: {figures.reason}", soft_wrap=True)
        return
    console.print(
        f"Verdicts with a confidence of at least {figures.threshold:.4g} can be accepted: those of "
        f"{figures.accepted:,} of {pairs.judged:,} pairs ({figures.share:.1%}). With a probability of "
        f"{1 - figures.delta:.3g}, over the choice of the labels, at most {figures.alpha:.3g} of such verdicts "
        "are wrong.",
        soft_wrap=True,
    )
    console.print(f"The other {len(figures.for_people):,} pairs are for people.", soft_wrap=True)


def guarantee_verdicts(
    run: RunArgument,
    alpha: Annotated[float, typer.Option(help="The most error that accepted verdicts may have.")] = 0.1,
    delta: Annotated[float, typer.Option(help="The probability that they have more.")] = 0.05,
    confidence: Annotated[
        str, typer.Option(metavar="calls|orders|margin", help="What tells how sure a verdict is.")
    ] = "calls",
    aggregation: AggregationOption = None,
    chosen: ChosenOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the ids of the pairs for people here, the least sure first.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the pair of each question that is used.")] = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Choose which verdicts can be accepted, so that at most a share alpha of them is wrong.

    Thresholds on the confidence are tested on pairs with a human label, from the strictest to the loosest (Learn then
    Test, arXiv 2110.01052), so that the promise holds with probability 1 - delta. The labelled pairs must be drawn at
    random from all pairs.

    Example: judgenet guarantee out --alpha 0.15 --out for-people.txt
    """
    for name, share in (("alpha", alpha), ("delta", delta)):
        if not 0 < share < 1:
            raise InputError(f"--{name} {share:g}: a share between 0 and 1, such as 0.1.")
    kind = next((of for of in _CONFIDENCES if of == confidence), None)
    if kind is None:
        raise InputError(f"--confidence {confidence}: choose calls, orders or margin.")
    with open_run(run, project) as (store, info):
        name, frame = aggregation_of(info, aggregation), fair_frame(store, info)
        figures = run_guarantee(frame, name, kind, alpha, delta, chosen=chosen, seed=seed)
    if out is not None:
        atomic_write(out, "".join(f"{pair}\n" for pair in figures.for_people))
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_guarantee(figures, Terminal())
