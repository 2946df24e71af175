"""``judgenet metrics``: agreement of a run with people, and further figures of its judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.anytime import AnytimeOption, print_anytime
from judgenet.cli.cascade import print_stages
from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, figure, interval_text, open_run, p_text
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.wording import plural, spent_text
from judgenet.figures.acceptance import AcceptanceFigures
from judgenet.figures.criteria import CriteriaCounts, CriteriaFigures
from judgenet.figures.judge_parts import PanelsFigures, UncertaintyFigures
from judgenet.figures.metrics import GROUPINGS, JudgeOptions, RunMetrics, run_metrics
from judgenet.figures.panel_worth import PanelWorth
from judgenet.figures.parts import AgreementFigures
from judgenet.figures.probabilities import ProbabilityFigures
from judgenet.stats.panel import distinguished_words
from judgenet.store.evidence import SAMPLED_PAIRS
from judgenet.store.taught import fair_frame


def _called(figures: RunMetrics) -> str:
    """The name and the note of the run, to follow its id."""
    name = f" “{figures.name}”" if figures.name else ""
    return f"{name}, {figures.note}" if figures.note else name


def print_metrics(figures: RunMetrics, console: Console, *, every_row: bool = False) -> None:
    """The figures as tables for people, each with its n. Long tables are shortened unless ``every_row``."""
    pairs = figures.pairs
    console.print(
        f"{figures.run}{_called(figures)} ({figures.state}): {pairs.finished:,} of {pairs.total:,} pairs "
        f"finished, {pairs.labelled:,} with a human label"
        + (f"; {pairs.not_asked:,} not asked" if figures.state == "enough" else ""),
        soft_wrap=True,
        markup=False,
    )
    if figures.state == "enough":
        console.print(figures.message, soft_wrap=True, markup=False)
    _print_table(figures.aggregations, console)
    _print_acceptance(figures.acceptance, console)
    for sentence in (figures.quorum, figures.stand_ins):
        if sentence is not None:
            console.print(sentence.words, soft_wrap=True, markup=False)
    for by, groups in (figures.by or {}).items():
        _print_groups(by, groups, figures.review_share.aggregation, console, every_row=every_row)
    flips = figures.position["c1"]
    if flips.flip_rate is None:
        console.print(f"Flip rate between orders: n/a – {flips.reason}", soft_wrap=True)
    else:
        console.print(
            f"Flip rate between orders (c1): {flips.flip_rate:.4f} of {flips.valid_both:,} pairs with both "
            f"orders, of {flips.n_total:,} (first shown preferred twice {flips.first_first:,}, "
            f"last shown {flips.last_last:,})",
            soft_wrap=True,
        )
    if len(figures.neurons) > 1:
        _print_neurons(figures, console, every_row=every_row)
    if figures.criteria is not None:
        _print_criteria(figures.criteria, console, every_row=every_row)
    _print_people(figures, console)
    if figures.uncertainty is not None:
        _print_uncertainty(figures.uncertainty, console)
    _print_layers(figures, console)
    if figures.effective_votes is not None:
        print_votes(figures.effective_votes, console)
    if figures.panel is not None:
        _print_best(figures.panel, console)
    if figures.cascade is not None:
        print_stages(figures.cascade, console)
    if figures.probabilities is not None:
        _print_probabilities(figures.probabilities, console)
    _print_spent(figures, console)


def _print_probabilities(probability_figures: ProbabilityFigures, console: Console) -> None:
    """For how many calls token probabilities were used, how sharp they are, and what that changes."""
    console.print(f"{probability_figures.line}.", soft_wrap=True, markup=False)
    console.print(probability_figures.sharpness_line, soft_wrap=True, markup=False)
    if (
        probability_figures.brier.value is None
        or probability_figures.brier_sampled.value is None
        or probability_figures.brier_difference.value is None
    ):
        console.print(f"Brier score: n/a – {probability_figures.brier.reason}", soft_wrap=True)
        return
    ends = probability_figures.brier_difference.ci
    within = f" ({ends.low:+.4f} to {ends.high:+.4f})" if ends is not None else ""
    console.print(
        f"Brier score of the probabilities of A, tie, B: {probability_figures.brier.value:.4f}; of votes by sampled "
        f"text {probability_figures.brier_sampled.value:.4f}; difference "
        f"{probability_figures.brier_difference.value:+.4f}{within}, "
        f"{plural(probability_figures.brier.n, 'labelled pair')}",
        soft_wrap=True,
    )


def _print_spent(figures: RunMetrics, console: Console) -> None:
    """The calls that the figures rest on, unscored calls, and the cost."""
    calls, cost = figures.calls, figures.cost
    console.print(
        f"Calls used in finished pairs: {calls.finished_pairs_used:,} of {calls.finished_pairs_total:,}",
        soft_wrap=True,
    )
    if calls.unscored:
        named = ", ".join(f"{count:,} {reason}" for reason, count in calls.unscored.items())
        console.print(f"Unscored: {named}", soft_wrap=True)
    price = spent_text(cost.price_known, cost.calls_unpriced)
    batched = f"{cost.calls_by_batch:,} by batch, " if cost.calls_by_batch else ""
    console.print(
        f"Spent: {cost.calls_new:,} new calls ({batched}{cost.calls_from_store:,} from the store), "
        f"{plural(cost.tokens_in, 'token')} in ({cost.tokens_cached:,} cached), {cost.tokens_out:,} out, {price}",
        soft_wrap=True,
    )


_ROWS = 12
"""The most rows of a table of neurons, unless all are asked for."""

_FEW_GROUPS = 6
"""Up to this number, each group has a table of all aggregations."""


def _table(first: str, headings: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _print_acceptance(acceptance_figures: AcceptanceFigures | None, console: Console) -> None:
    """What the rule accepted, and what it left to people."""
    if acceptance_figures is None:
        return
    console.print(f"{acceptance_figures.line}. {acceptance_figures.words}", soft_wrap=True, markup=False)
    for note in acceptance_figures.notes:
        console.print(f"Note: {note}", soft_wrap=True, markup=False)


def _print_groups(
    by: str, groups: Mapping[str, Mapping[str, AgreementFigures]], decides: str, console: Console, *, every_row: bool
) -> None:
    if len(groups) <= _FEW_GROUPS or every_row:
        for name, part in groups.items():
            console.print(f"\n{by}: {name}", markup=False, soft_wrap=True)
            _print_table(part, console)
        return
    console.print(f"\nBy {by}, {decides} (--all: every aggregation)", markup=False, soft_wrap=True)
    table = _table(by, ("accuracy", "95 % interval", "macro-F1", "kappa", "n used", "baseline"))
    for name, part in groups.items():
        by_group = part[decides]
        table.add_row(
            Text(name),
            figure(by_group.accuracy),
            interval_text(by_group.accuracy_ci),
            figure(by_group.macro_f1),
            figure(by_group.kappa),
            f"{by_group.n_used:,} of {by_group.n_total:,}",
            figure(by_group.majority_baseline),
        )
    console.print(table)


def _print_neurons(figures: RunMetrics, console: Console, *, every_row: bool) -> None:
    named = figures.neurons
    shown = list(named)
    if len(shown) > _ROWS and not every_row:
        best = sorted(shown, key=lambda name: -1.0 if (x := named[name].accuracy) is None else x, reverse=True)
        chosen = set(best[: _ROWS - 2])
        shown = [name for name in shown if name in chosen]
    table = _table("neuron", ("accuracy", "95 % interval", "kappa", "n used", "flip rate", "p"))
    for name in shown:
        neurons, flips = named[name], figures.position[name]
        table.add_row(
            Text(name),
            figure(neurons.accuracy),
            interval_text(neurons.accuracy_ci),
            figure(neurons.kappa),
            f"{neurons.n_used:,} of {neurons.n_total:,}",
            figure(flips.flip_rate),
            p_text(flips.p if flips.questions_p is None else flips.questions_p),
        )
    console.print(table)
    if len(shown) < len(named):
        console.print(f"The best {len(shown):,} of {len(named):,} neurons (--all: every neuron)", soft_wrap=True)


def _print_criteria(criteria: CriteriaFigures, console: Console, *, every_row: bool) -> None:
    """How many pairs have criteria, and the neurons of each where they are the neurons."""
    shown_to_all = "" if criteria.neurons else "; each neuron was shown all of them"
    counted = CriteriaCounts(criteria.pairs, criteria.pairs_total, criteria.weighted, criteria.fewest, criteria.most)
    console.print(f"{counted.words}{shown_to_all}", soft_wrap=True)
    named = list(criteria.by_name.items())
    if not named:
        return
    shown = named if every_row else named[:_ROWS]
    table = _table("criterion", ("accuracy", "95 % interval", "kappa", "n used", "pairs"))
    for name, of_name in shown:
        agreement = of_name.agreement
        table.add_row(
            Text(name),
            figure(agreement.accuracy),
            interval_text(agreement.accuracy_ci),
            figure(agreement.kappa),
            f"{agreement.n_used:,} of {agreement.n_total:,}",
            f"{of_name.pairs:,}",
        )
    console.print(table)
    if len(shown) < len(named):
        console.print(f"The {len(shown):,} criteria of the most pairs, of {len(named):,} (--all: every one)")
    if criteria.on_one_pair:
        alone = plural(criteria.on_one_pair, "more criterion is", "more criteria are")
        console.print(f"{alone} on one pair alone.", soft_wrap=True)


def _print_uncertainty(uncertainty_figures: UncertaintyFigures, console: Console) -> None:
    scope_figures = uncertainty_figures.scopes[uncertainty_figures.scope]
    if scope_figures.entropy.value is None:
        console.print(f"Uncertainty: n/a – {scope_figures.entropy.reason}", soft_wrap=True)
        return
    console.print(
        f"Uncertainty (BPDE, {uncertainty_figures.scope} calls): mean {scope_figures.entropy.value:.4f} nats, "
        f"{scope_figures.relative.value:.1%} of ln 3; all calls agree on {scope_figures.certain.value:.1%} of "
        f"{plural(scope_figures.certain.n, 'pair')}, of {scope_figures.n_total:,}",
        soft_wrap=True,
    )
    review = uncertainty_figures.review
    point = min(review.points, key=lambda candidate: abs(candidate.share - 0.2), default=None)
    if point is not None:
        rest = point.untouched
        apart = "none is left" if rest.accuracy is None else f"{rest.accuracy:.4f} of the {rest.n:,} others"
        console.print(
            f"People review the {point.reviewed:,} most uncertain of {review.n:,} pairs: accuracy "
            f"{point.accuracy:.4f} ({point.by_chance:.4f} for pairs at random); {apart}",
            soft_wrap=True,
        )
    needed = uncertainty_figures.needed
    if needed is not None and needed.measured is not None:
        random = "out of reach" if needed.random is None else f"{needed.random:.1%}"
        ends = needed.measured_ci
        within = "no interval" if ends is None else f"{ends[0]:.1%} to {ends[1]:.1%}"
        console.print(
            f"To be as accurate as people agree with each other ({needed.target:.4f}): {needed.measured:.1%} "
            f"({within}) the most uncertain first, {random} at random",
            soft_wrap=True,
        )


def _print_layers(figures: RunMetrics, console: Console) -> None:
    """What the neurons of a layer have in common, and what they change, a row a layer."""
    if figures.panel is None or figures.diversity is None or figures.discussion is None:
        return
    panel, alike, changes = figures.panel.layers, figures.diversity.layers, figures.discussion.layers
    table = _table("layer", ("agree", "alpha", "unanimous", "Q", "both wrong", "texts apart", "n"))
    for layer, diversity in alike.items():
        table.add_row(
            layer,
            figure(panel[layer].h),
            figure(panel[layer].alpha_nominal),
            figure(diversity.unanimous.value),
            figure(diversity.q.value),
            figure(diversity.double_fault.value),
            "" if diversity.evidence is None else figure(diversity.evidence.distance.value),
            f"{diversity.n:,} of {diversity.n_total:,}",
        )
    console.print(table)
    sample = figures.diversity.evidence_sample
    if sample is not None:
        console.print(
            f"Texts apart: on {sample.pairs:,} of {sample.n_total:,} finished pairs, drawn at random",
            soft_wrap=True,
        )
    if not changes:
        return
    table = _table("layer", ("changed", "to others", "to right", "to wrong", "gain", "95 % interval", "p"))
    for layer, change in changes.items():
        changed = change.neurons
        table.add_row(
            layer,
            figure(changed.changed.value),
            figure(changed.to_others.value),
            f"{changed.to_right:,}",
            f"{changed.to_wrong:,}",
            _signed(changed.gain.value),
            interval_text(changed.gain.ci, signed=True),
            p_text(changed.p),
        )
    console.print(table)
    console.print(
        "Of the neurons' verdicts of a layer: changed from the layer before, and taken over where most others had said "
        "otherwise; became right, became wrong, and what that gains in accuracy",
        soft_wrap=True,
    )


def print_votes(panel_worth: PanelWorth, console: Console) -> None:
    """How many independent votes the network, its layers and its models are worth."""
    if panel_worth.network.neurons < 2:
        return
    whole = panel_worth.network
    rows = {"all neurons": whole, "all neurons, by verdicts": panel_worth.verdicts}
    rows |= {
        name: votes
        for part in (panel_worth.layers, panel_worth.models)
        for name, votes in part.items()
        if votes.neurons > 1
    }
    table = _table("effective votes", ("neurons", "worth", "95 % interval", "correlation", "n used"))
    for name, votes in rows.items():
        table.add_row(
            Text(name),
            f"{votes.neurons:,}",
            "n/a" if votes.value is None else f"{votes.value:.2f}",
            interval_text(votes.ci, 2),
            figure(votes.correlation),
            f"{votes.n:,} of {votes.n_total:,}",
        )
    console.print(table)
    if whole.value is None:
        console.print(f"n/a – {whole.reason}", soft_wrap=True)
    if whole.n_missing:
        console.print(
            f"{plural(whole.n_missing, 'verdict')} of neurons missing on these pairs: each counts as not right",
            soft_wrap=True,
        )


def _signed(value: float | None) -> str:
    return "n/a" if value is None else f"{value:+.4f}"


def _print_best(panel: PanelsFigures, console: Console) -> None:
    best = panel.against_people
    others = sum(row.n > 0 for row in best.ranking) - 1
    if best.best is None or others < 1:
        return
    console.print(
        f"{best.best} agrees with people most; the labelled pairs {distinguished_words(others, len(best.not_worse))} "
        "(sign tests, Holm-adjusted, at .05)",
        soft_wrap=True,
        markup=False,
    )
    if best.warning:
        console.print(f"Note: {best.warning}", soft_wrap=True, markup=False)


def _print_people(figures: RunMetrics, console: Console) -> None:
    panel, review = figures.annotators, figures.review_share
    if panel.h is not None:
        console.print(
            f"Annotators agree on {panel.h:.4f} of their pairs of labels ({plural(panel.n, 'pair')}; "
            f"Krippendorff's alpha {figure(panel.alpha_nominal)}, ordinal {figure(panel.alpha_ordinal)}; "
            f"Fleiss' kappa {figure(panel.fleiss)})",
            soft_wrap=True,
        )
    if review.review is not None:
        ends = "no interval" if review.review_ci is None else " to ".join(f"{x:.1%}" for x in review.review_ci)
        console.print(
            f"To be as accurate as that, people would still review {review.review:.1%} ({ends}) "
            f"of the pairs of {review.aggregation}",
            soft_wrap=True,
        )
    for note in figures.notes:
        console.print(f"Note: {note}", soft_wrap=True)


_FIGURES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "kappa": "kappa", "majority_baseline": "baseline"}


def _print_table(aggregations: Mapping[str, AgreementFigures], console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("aggregation")
    for name in ("accuracy", "95 % interval", "macro-F1", "kappa", "n used", "baseline"):
        table.add_column(name, justify="right", no_wrap=True)
    why: dict[str, list[str]] = {}
    for name, row in aggregations.items():
        table.add_row(
            Text(name),
            figure(row.accuracy),
            interval_text(row.accuracy_ci),
            figure(row.macro_f1),
            figure(row.kappa),
            f"{row.n_used:,} of {row.n_total:,}",
            figure(row.majority_baseline),
        )
        for key in ("accuracy", "macro_f1", "kappa", "majority_baseline"):
            if getattr(row, key) is None:
                reason = row.reasons.get(key, "undefined")
                why.setdefault(reason, []).append(f"{name} {_FIGURES[key]}")
    console.print(table)
    for reason, undefined in why.items():
        which = "" if len(undefined) == len(aggregations) * len(_FIGURES) else f" ({', '.join(undefined)})"
        console.print(f"n/a{which} – {reason}", soft_wrap=True)


def metrics(
    run: RunArgument,
    by: Annotated[
        str | None, typer.Option(help="Show the figures for each group as well: task, or human (the human label).")
    ] = None,
    scope: Annotated[
        str,
        typer.Option(metavar="all|last|NEURON", help="The calls whose entropy says how sure the network is of a pair."),
    ] = "all",
    evidence: Annotated[
        int, typer.Option(min=0, help="Number of pairs, drawn at random, whose evidence is compared.")
    ] = SAMPLED_PAIRS,
    every_row: Annotated[bool, typer.Option("--all", help="Every row of every table.")] = False,
    anytime: AnytimeOption = False,
    seed: Annotated[int, typer.Option(help="Seed of resampling, of the sample, and of ties in uncertainty.")] = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show accuracy, macro-F1 and kappa against the human labels for every aggregation of a run.

    Also shown: the share of the most common label (the baseline), the number of pairs used of all, and how often the
    verdict depends on the order of the responses; how sure the network is and what a review of the uncertain pairs
    gains; how its neurons agree, what later layers change, and whether they become alike.

    The keys of --json are listed in resources/figures.md.

    Example: judgenet metrics out --by task
    """
    if by is not None and by not in GROUPINGS:
        raise InputError(f"--by {by}: there is no such grouping. Choose one of: {', '.join(GROUPINGS)}.")
    with open_run(run, project) as (store, info):
        frame = fair_frame(store, info)
        if scope not in ("all", "last", *frame.names):
            named = ", ".join(frame.names[:20]) + (", …" if len(frame.names) > 20 else "")
            raise InputError(f"--scope {scope}: choose all, last, or a neuron of {info.id}: {named}.")
        figures = run_metrics(store, frame, by, judges=JudgeOptions(scope, evidence), anytime=anytime, seed=seed)
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_metrics(figures, Terminal(), every_row=every_row)
        if figures.anytime is not None:
            print_anytime(figures.anytime, Terminal())
