"""``judgenet rate``: the win rate of a run, corrected for the network's errors by labelled pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from judgenet.cli.anytime import AnytimeOption, print_anytime
from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, figure, interval_text, open_run, p_text
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.aggregate import aggregation_names, deciding
from judgenet.core.labels import Chosen
from judgenet.core.wording import plural
from judgenet.figures.parts import EstimateFigures, GivenFigures
from judgenet.figures.rates import LengthAdjustedFigures, RunRates, WorthFigures, run_rates
from judgenet.stats.calibration import Method
from judgenet.store.frame import RunFrame
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo
from judgenet.store.taught import fair_frame

AggregationOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The aggregation that gives the verdicts: c1, c2_l1 …, c2_all, chair, learned or accepted. Default: the "
        "network's own.",
        show_default=False,
    ),
]
LabelsOption = Annotated[
    str, typer.Option(metavar="all|every:K|FILE", help="The human labels to use; FILE has one pair id a line.")
]
ChosenOption = Annotated[
    Chosen | None,
    typer.Option(
        help="How the labelled pairs were chosen. Default: as recorded with each label; labels of the data file count "
        "as imported unless every judged pair has one.",
        show_default=False,
    ),
]
SeedOption = Annotated[int, typer.Option(help="Seed of the resampling.")]


def aggregation_of(run: RunInfo, name: str | None) -> str:
    """The name of an aggregation of a run; without a name that of the network's verdict.

    :raises InputError: the run has none of this name.
    """
    spec = network_of(run)
    names = aggregation_names(spec)
    if name is None:
        return deciding(spec)
    if name not in names:
        raise InputError(f"--aggregation {name}: {run.id} has no such aggregation. Choose one of: {', '.join(names)}.")
    return name


def labels_used(frame: RunFrame, labels: str) -> NDArray[np.bool_]:
    """The labels that ``--labels`` selects, as one boolean a pair: all of them, every K-th labelled pair from the
    first, or those of the pairs that a file names.

    :raises InputError: the option or the file cannot be read, or the file names a pair that is not there.
    """
    labelled = frame.human > 0
    if labels == "all":
        return labelled
    kind, _, step = labels.partition(":")
    if kind == "every":
        if not step.isdecimal() or int(step) < 1:
            raise InputError(f"--labels {labels}: K is a whole number of at least 1, as in every:5.")
        used = np.zeros(len(frame), np.bool_)
        used[np.flatnonzero(labelled)[:: int(step)]] = True
        return used
    path = Path(labels)
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        why = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
        raise InputError(
            f"--labels {labels}: cannot be read ({why}). Give all, every:K, or a file with one pair id a line."
        ) from None
    known = set(frame.pairs.ids)
    for row, line in enumerate(lines, 1):
        if line and line not in known:
            raise InputError(f"--labels {labels}, line {row}: the run has no pair {line!r}.")
    wanted = set(lines)
    named = np.array([pair_id in wanted for pair_id in frame.pairs.ids], dtype=np.bool_)
    without = sorted(frame.pairs.ids[index] for index in np.flatnonzero(named & ~labelled))
    if without:
        raise InputError(
            f"--labels {labels}: {len(without):,} of these pairs have no human label, the first {without[0]!r}. "
            "Name labelled pairs only."
        )
    return named


_TITLES: dict[Method, str] = {
    "stratified": "stratified by verdict",
    "ppi": "PPI++",
    "human_only": "human labels alone",
    "lee": "Lee et al.",
    "k_class": "K-class",
    "naive": "verdicts, uncorrected",
}


def print_rates(figures: RunRates, console: Console) -> None:
    """The estimates as a table for people, the headline first."""
    pairs = figures.pairs
    console.print(
        f"{figures.run}, {figures.aggregation}: win rate of B, ties count half; {pairs.judged:,} of "
        f"{plural(pairs.total, 'pair')} judged, {pairs.labelled:,} of them labelled "
        f"({figures.chosen}: {figures.labels.why})",
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("estimate")
    for heading in ("win rate", "95 % interval", "pairs", "labels"):
        table.add_column(heading, justify="right")
    first, *others = figures.estimates
    lines: dict[str, EstimateFigures | LengthAdjustedFigures] = {
        _TITLES[first]: figures.estimates[first],
        "the same, of just these pairs": figures.these_pairs,
        **{_TITLES[method]: figures.estimates[method] for method in others},
        "decided pairs only": figures.decided,
        "verdicts at equal length": figures.length_adjusted,
    }
    for title, estimate in lines.items():
        table.add_row(
            title,
            figure(estimate.value),
            interval_text(estimate.ci, 4),
            f"{estimate.n:,}",
            f"{estimate.labels:,}",
        )
    console.print(table)
    for title, estimate in lines.items():
        if estimate.reason:
            prefix = "n/a – " if estimate.value is None else ""
            console.print(f"{title}: {prefix}{estimate.reason}", soft_wrap=True, markup=False)
        for note in estimate.notes:
            console.print(f"{title}: {note}", soft_wrap=True, markup=False)
    for title, counts in (("Verdicts", figures.verdicts), ("Human labels", figures.people)):
        if counts.n:
            console.print(f"{title}: {_given_words(counts)}", soft_wrap=True)
    for part in figures.strata:
        console.print(
            f"Verdict {part.verdict} ({part.share:.1%} of pairs): people's mean score for B is "
            f"{part.mean:.3f} (of {part.labels:,} labels and one even pseudo-label)",
            soft_wrap=True,
        )
    console.print(_worth_words(figures.worth), soft_wrap=True, markup=False)
    for note in figures.notes:
        console.print(f"Note: {note}", soft_wrap=True, markup=False)


def _worth_words(worth: WorthFigures) -> str:
    if worth.multiplier is None:
        return f"Worth of the verdicts in labels: n/a – {worth.reason}"
    return f"With the network's verdicts a human label counts as {worth.multiplier:.2f} labels"


def _given_words(counts: GivenFigures) -> str:
    """How often A, tie and B were given, with the sign test of A against B."""
    decided = counts.decided
    over, p = "", decided.p
    if decided.questions_p is not None:
        over, p = " over questions", decided.questions_p
    test = f"; sign test{over} p {'' if p < 0.0001 else '= '}{p_text(p)}" if p is not None else ""
    return f"A {counts.a:,}, tie {counts.tie:,} ({counts.tie_share:.1%}), B {counts.b:,}{test}"


def rate(
    run: RunArgument,
    aggregation: AggregationOption = None,
    labels: LabelsOption = "all",
    chosen: ChosenOption = None,
    anytime: AnytimeOption = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Estimate how often people prefer B: from the verdicts on all pairs, corrected by those with a human label.

    The headline is stratified by verdict. Also shown: PPI++, the human labels alone, the corrections by error rates,
    and the uncorrected verdicts. Estimates that the choice of the labelled pairs does not allow are refused with a
    reason.

    Example: judgenet rate out --labels every:5 --chosen random
    """
    with open_run(run, project) as (store, info):
        name, frame = aggregation_of(info, aggregation), fair_frame(store, info)
        figures = run_rates(frame, name, chosen, used=labels_used(frame, labels), anytime=anytime, seed=seed)
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_rates(figures, Terminal())
        if figures.anytime is not None:
            print_anytime(figures.anytime, Terminal())
