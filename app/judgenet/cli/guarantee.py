"""``judgenet guarantee``: the verdicts of a run that can be accepted with a bounded error, at no cost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.rate import AggregationOption, ChosenOption, aggregation_of
from judgenet.cli.terminal import Terminal
from judgenet.core.acceptance import CONFIDENCE_WORDS, acceptance_words
from judgenet.core.network import AcceptanceRule, Confidence
from judgenet.core.project import ProjectError
from judgenet.engine.project_rules import save_acceptance
from judgenet.figures.guarantee import (
    ALPHA,
    DELTA,
    RunGuarantee,
    acceptance_rule,
    confident_verdicts,
    guarantee_of,
    promise_sentences,
)
from judgenet.store.files import atomic_write
from judgenet.store.taught import fair_frame

_KINDS: tuple[Confidence, ...] = get_args(Confidence)
_SHOWN_ALPHAS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


def print_guarantee(figures: RunGuarantee, console: Console) -> None:
    """The thresholds that were tested, and what is guaranteed."""
    pairs = figures.pairs
    console.print(
        f"{figures.run}, {figures.aggregation}: {pairs.judged:,} of {pairs.total:,} pairs have a verdict, "
        f"{pairs.labelled:,} of them a label ({figures.chosen_why}); one label per question is used, "
        f"{pairs.labels_used:,} in total",
        soft_wrap=True,
    )
    console.print(f"Confidence: {CONFIDENCE_WORDS[figures.confidence]}", soft_wrap=True)
    if figures.tested:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("confidence at least", "labels", "errors", "p"):
            table.add_column(heading, justify="right")
        for test in figures.tested:
            table.add_row(f"{test.confidence:.4g}", f"{test.n:,}", f"{test.errors:,}", f"{test.p:.4f}")
        console.print(table)
    for sentence in promise_sentences(figures):
        console.print(sentence, soft_wrap=True)
    if figures.chosen == "imported":
        console.print(
            "If these pairs were drawn at random, say so: --chosen random here, or for all figures judgenet labels "
            f"{figures.run} --file-labels random",
            soft_wrap=True,
        )
    _print_other_alphas(figures, console)
    for note in figures.notes:
        console.print(f"Note: {note}.", soft_wrap=True)
    if figures.saved:
        console.print(figures.saved, soft_wrap=True, markup=False)


def _print_other_alphas(figures: RunGuarantee, console: Console) -> None:
    shown = [figures_at for figures_at in figures.by_alpha if figures_at.alpha in _SHOWN_ALPHAS]
    if shown:
        words = ", ".join(f"{figures_at.alpha:g}: {figures_at.share:.0%}" for figures_at in shown)
        console.print(f"Accepted by alpha, had it been chosen before the labels were seen: {words}", soft_wrap=True)


def saved_words(rule: AcceptanceRule, project: Path) -> str:
    """The rule that was written into a project, in words."""
    return f"Written to {project}; it decides new runs of this project. {acceptance_words(rule)}"


def guarantee_verdicts(
    run: RunArgument,
    alpha: Annotated[float, typer.Option(help="The largest share of accepted verdicts that may be wrong.")] = ALPHA,
    delta: Annotated[float, typer.Option(help="The probability that more of them are wrong.")] = DELTA,
    confidence: Annotated[
        str,
        typer.Option(
            metavar="calls|orders|neurons|samples|margin|learned", help="The measure of how sure a verdict is."
        ),
    ] = "calls",
    aggregation: AggregationOption = None,
    chosen: ChosenOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the ids of the pairs for people, without those that have a label, the least sure first."
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="PROJECT", help="Write the rule into a project: it decides its new runs."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draw of one pair per question.")] = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Choose which verdicts can be accepted, so that at most a share alpha of them is wrong.

    Thresholds on the confidence are tested on pairs with a human label, from the strictest to the loosest (Learn then
    Test, arXiv 2110.01052), so that the promise holds with probability 1 - delta. The labelled pairs must be drawn at
    random from all pairs, and alpha, delta, confidence and the number of labels be chosen before these are seen:
    looking again after every few labels breaks the promise more often. Where nothing can be promised, the reason and
    the number of labels that might be enough are shown.

    With --save a new run of the project accepts verdicts by this rule and leaves the other pairs to people. A project
    that does not exist is created with the network of the run.

    \b
    Examples: judgenet guarantee out --alpha 0.15 --out for-people.txt
              judgenet guarantee out --alpha 0.15 --save judges.judgenet
              judgenet labels out --queue for-people.txt
    """
    for name, share in (("alpha", alpha), ("delta", delta)):
        if not 0 < share < 1:
            raise InputError(f"--{name} {share:g}: a share between 0 and 1, such as 0.1.")
    kind = next((known for known in _KINDS if known == confidence), None)
    if kind is None:
        raise InputError(f"--confidence {confidence}: choose {', '.join(_KINDS[:-1])} or {_KINDS[-1]}.")
    with open_run(run, project) as (store, info):
        frame = fair_frame(store, info)
        verdicts = confident_verdicts(frame, aggregation_of(info, aggregation), kind, chosen, seed)
        figures = guarantee_of(frame, verdicts, alpha, delta, seed)
        if save is not None:
            if figures.threshold is None:
                raise InputError(f"--save {save}: nothing was written. Nothing can be promised: {figures.reason}.")
            rule = acceptance_rule(frame, figures, verdicts, datetime.now(UTC).date().isoformat())
            try:
                save_acceptance(store, info, rule, save)
            except ProjectError as error:
                raise InputError(f"--save {save}: {error}") from None
            figures = replace(figures, saved=saved_words(rule, save))
    if out is not None:
        atomic_write(out, "".join(f"{pair}\n" for pair in figures.queue))
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_guarantee(figures, Terminal())
