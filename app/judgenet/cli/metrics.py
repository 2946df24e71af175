"""``judgenet metrics``: how a run agrees with people, and how far its judges can be trusted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.as_json import (
    annotators_json,
    discussion_json,
    diversity_json,
    figures_json,
    panels_json,
    position_json,
    scores_json,
    uncertainty_json,
)
from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.aggregate import deciding
from judgenet.figures.learned import run_learned_notes
from judgenet.figures.trust import (
    agreements,
    discussion,
    diversity,
    panels,
    uncertainty_figures,
    with_evidence,
)
from judgenet.stats.agreement import position_of_codes, review_interval, review_share
from judgenet.stats.curves import CODES, Codes, right_by_order
from judgenet.stats.panel import (
    Coefficient,
    PanelAgreement,
    each_annotator,
    panel_agreement,
    told_from,
    with_intervals,
)
from judgenet.stats.resampling import few_note
from judgenet.stats.uncertainty import conflicts
from judgenet.store.db import Store
from judgenet.store.evidence import SAMPLED_PAIRS
from judgenet.store.frame import RunFrame
from judgenet.store.runs import RunInfo, Spent, score_sums, spent
from judgenet.store.taught import fair_frame


@dataclass(frozen=True, slots=True)
class More:
    """What is computed beyond agreement and position: whose calls say how sure the network is, and of how many pairs
    the evidence is compared."""

    scope: str = "all"
    evidence: int = SAMPLED_PAIRS


def run_metrics(
    store: Store, run: RunInfo, by: str | None = None, *, more: More | None = None, seed: int = 0
) -> dict[str, Any]:
    """All figures of a run: agreement by aggregation and neuron, position, annotators, calls, cost; and with ``more``
    uncertainty, panels, discussion and diversity.

    :raises InputError: there is no such grouping or scope.
    """
    found = fair_frame(store, run)
    spec = found.spec
    decides = deciding(spec)
    if by is not None and by not in _GROUPINGS:
        raise InputError(f"--by {by}: there is no such grouping. Choose one of: {', '.join(_GROUPINGS)}.")
    if more is not None and more.scope not in ("all", "last", *found.names):
        named = ", ".join(found.names[:20]) + (", …" if len(found.names) > 20 else "")
        raise InputError(f"--scope {more.scope}: choose all, last, or a neuron of {run.id}: {named}.")
    sums, scores = spent(store, run), score_sums(store, run)
    neurons = {name: found.neurons[:, place] for place, name in enumerate(found.names)}
    figures: dict[str, Any] = {
        "run": run.id,
        "name": run.name,
        "note": run.note,
        "state": run.state,
        "message": run.message,
        "pairs": {
            "total": len(found),
            "finished": int(found.judged.sum()),
            "labelled": int((found.human > 0).sum()),
        },
        "aggregations": _figures(found, found.aggregations, seed=seed),
        "neurons": _figures(found, neurons, seed=seed),
        "position": {
            name: position_json(
                position_of_codes(*both, found.groups),
                conflicts(*both, found.groups, seed=seed),
                right_by_order(found.human, *both),
            )
            for name, both in found.both_orders.items()
        },
        "scores": {name: scores_json(scores.get(place)) for place, name in zip(found.places, found.names, strict=True)},
        "calls": _calls(sums, found),
        "cost": _cost(sums),
    }
    panel = _people(found, seed)
    figures["labels"] = {
        "used": dict(found.sources.counted),
        "left_out": dict(found.sources.left_out),
        "disputed": found.sources.disputed,
        "settled": found.sources.settled,
    }
    figures["annotators"] = annotators_json(panel, each_annotator(found.panels), repeated=found.groups is not None)
    figures["review_share"] = _review(decides, figures["aggregations"][decides], panel.h)
    figures["questions"] = len(np.unique(found.questions))
    figures["notes"] = _notes(found) + found.sources.notes + run_learned_notes(found)
    if more is not None:
        figures |= _more(store, run, found, decides, panel.h, more, seed)
    if by is not None:
        groups = sorted(_groups(found, by).items())
        for key, said in (("by", found.aggregations), ("neurons_by", neurons)):
            figures[key] = {by: {name: _figures(found, said, places, seed=seed) for name, places in groups}}
    return figures


_GROUPINGS = ("task", "human")
_NO_GROUP = "(none)"


def _groups(found: RunFrame, by: str) -> dict[str, NDArray[np.intp]]:
    """The places of the pairs of each task, or of each human label."""
    numbers, names = (found.pairs.tasks, found.pairs.task_names) if by == "task" else (found.human, CODES)
    places = {name or _NO_GROUP: np.flatnonzero(numbers == number) for number, name in enumerate(names)}
    return {name: of for name, of in places.items() if len(of)}


def _figures(
    found: RunFrame, said: Mapping[str, Codes], places: NDArray[np.intp] | None = None, *, seed: int
) -> dict[str, Any]:
    """Agreement with people by name; pairs without label or verdict are in ``n_total`` only."""
    questions, human = found.questions, found.human
    if places is not None:
        questions, human = np.unique(questions[places], return_inverse=True)[1], human[places]
        said = {name: codes[places] for name, codes in said.items()}
    return {name: figures_json(*of) for name, of in agreements(questions, human, said, seed=seed).items()}


def _people(found: RunFrame, seed: int) -> PanelAgreement:
    panel = panel_agreement(dict(profile) for (_, profile), times in found.panels.items() for _ in range(times))
    return with_intervals(panel, found.pairs.annotations, groups=found.groups, seed=seed)


def _more(
    store: Store, run: RunInfo, found: RunFrame, decides: str, h: Coefficient, more: More, seed: int
) -> dict[str, Any]:
    alike = diversity(found)
    if more.evidence:
        alike = with_evidence(alike, found, store, run, more.evidence, seed=seed)
    unsure = uncertainty_figures(found, decides, scope=more.scope, target=h.value, seed=seed)
    return {
        "uncertainty": uncertainty_json(unsure, f"people's agreement is unknown: {h.reason}"),
        "panel": panels_json(panels(found, seed=seed)),
        "discussion": discussion_json(discussion(found)),
        "diversity": diversity_json(alike),
    }


_REVIEW_CAVEATS = (
    "a reviewed pair counts as right, although people agree with each other less than that",
    "for pairs reviewed at random; the most uncertain first may need fewer",
)


def _review(name: str, found: dict[str, Any], h: Coefficient) -> dict[str, Any]:
    """The share of pairs that people must review to be as accurate as they are among themselves, also at both ends of
    the interval of the accuracy."""
    accuracy, ci = found["accuracy"], found["accuracy_ci"]
    figures: dict[str, Any] = {"aggregation": name, "accuracy": accuracy, "target": h.value}
    keys = ("review", "saved", "relative", "review_ci")
    if accuracy is None or h.value is None:
        reason = found["reasons"].get("accuracy") or f"people's agreement is unknown: {h.reason}"
        return {**figures, **dict.fromkeys(keys), "reason": reason, "caveats": list(_REVIEW_CAVEATS)}
    share = review_share(accuracy, h.value)
    ends, why = None, share.reason or found["reasons"].get("accuracy_ci", "")
    if ci is not None:
        ends, known = review_interval(ci[0], ci[1], h.value)
        why = why or known
    values = (share.review, share.saved, share.relative, None if ends is None else [end.review for end in ends])
    return {
        **figures,
        **dict(zip(keys, values, strict=True)),
        "reason": why or None,
        "caveats": list(_REVIEW_CAVEATS),
    }


_MANY = 5


def _notes(found: RunFrame) -> list[str]:
    notes = []
    questions = len(np.unique(found.questions))
    if questions < len(found):
        notes.append(f"the {len(found):,} pairs hold {questions:,} different questions: intervals are over questions")
        if few := few_note(questions):
            notes.append(few)
    if len(found.names) >= _MANY:
        notes.append(f"{len(found.names):,} neurons are compared: the best of them looks better here than it is")
    return notes


def _calls(sums: Spent, found: RunFrame) -> dict[str, Any]:
    return {
        "finished_pairs_used": int(found.table.used.sum()),
        "finished_pairs_total": int(found.table.total.sum()),
        "all": sums.calls,
        "scored": sums.scored,
        "unscored": sums.unscored,
    }


def _cost(sums: Spent) -> dict[str, Any]:
    return {
        "tokens_in": sums.tokens_in,
        "tokens_out": sums.tokens_out,
        "tokens_cached": sums.tokens_cached,
        "price": None if sums.unpriced else sums.price,
        "price_known": sums.price,
        "calls_unpriced": sums.unpriced,
        "calls_new": sums.calls_new,
        "calls_from_store": sums.calls - sums.calls_new,
        "reason": f"{sums.unpriced:,} calls have no known price" if sums.unpriced else None,
    }


def _figure(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}"


def _called(figures: dict[str, Any]) -> str:
    """What somebody called the run and noted of it, after its id."""
    name = f" “{figures['name']}”" if figures["name"] else ""
    return f"{name}, {figures['note']}" if figures["note"] else name


def print_metrics(figures: dict[str, Any], console: Console, *, every_row: bool = False) -> None:
    """The figures as tables for people; every one with its n. Long tables are cut unless ``every_row``."""
    pairs = figures["pairs"]
    console.print(
        f"{figures['run']}{_called(figures)} ({figures['state']}): {pairs['finished']:,} of {pairs['total']:,} pairs "
        f"finished, {pairs['labelled']:,} with a human label",
        soft_wrap=True,
        markup=False,
    )
    _print_table(figures["aggregations"], console)
    for by, groups in figures.get("by", {}).items():
        _print_groups(by, groups, figures["review_share"]["aggregation"], console, every_row=every_row)
    flips = figures["position"]["c1"]
    if flips["flip_rate"] is None:
        console.print(f"Flip rate between orders: n/a – {flips['reason']}", soft_wrap=True)
    else:
        console.print(
            f"Flip rate between orders (c1): {flips['flip_rate']:.4f} of {flips['valid_both']:,} pairs with both "
            f"orders, of {flips['n_total']:,} (first shown preferred twice {flips['first_first']:,}, "
            f"last shown {flips['last_last']:,})",
            soft_wrap=True,
        )
    if len(figures["neurons"]) > 1:
        _print_neurons(figures, console, every_row=every_row)
    _print_people(figures, console)
    if "uncertainty" in figures:
        _print_uncertainty(figures["uncertainty"], console)
        _print_layers(figures, console)
        _print_best(figures["panel"], console)
    calls, cost = figures["calls"], figures["cost"]
    console.print(
        f"Calls used in finished pairs: {calls['finished_pairs_used']:,} of {calls['finished_pairs_total']:,}",
        soft_wrap=True,
    )
    if calls["unscored"]:
        named = ", ".join(f"{count:,} {reason}" for reason, count in calls["unscored"].items())
        console.print(f"Unscored: {named}", soft_wrap=True)
    price = "unknown price" if cost["price"] is None else f"{cost['price']:.4f} USD"
    if cost["price"] is None and cost["price_known"]:
        price = f"{cost['price_known']:.4f} USD and {cost['calls_unpriced']:,} calls of unknown price"
    console.print(
        f"Spent: {cost['calls_new']:,} new calls ({cost['calls_from_store']:,} from the store), "
        f"{cost['tokens_in']:,} tokens in ({cost['tokens_cached']:,} cached), {cost['tokens_out']:,} out, {price}",
        soft_wrap=True,
    )


_ROWS = 12
"""A table of neurons has so many rows, unless all are asked for."""

_FEW_GROUPS = 6
"""Up to so many groups have a table of all aggregations each."""


def _table(first: str, headings: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _print_groups(by: str, groups: dict[str, Any], decides: str, console: Console, *, every_row: bool) -> None:
    if len(groups) <= _FEW_GROUPS or every_row:
        for name, part in groups.items():
            console.print(f"\n{by}: {name}", markup=False, soft_wrap=True)
            _print_table(part, console)
        return
    console.print(f"\nBy {by}, {decides} (--all: every aggregation)", markup=False, soft_wrap=True)
    table = _table(by, ("accuracy", "95 % interval", "macro-F1", "kappa", "n used", "baseline"))
    for name, part in groups.items():
        found = part[decides]
        table.add_row(
            Text(name),
            _figure(found["accuracy"]),
            _ends(found["accuracy_ci"]),
            _figure(found["macro_f1"]),
            _figure(found["kappa"]),
            f"{found['n_used']:,} of {found['n_total']:,}",
            _figure(found["majority_baseline"]),
        )
    console.print(table)


def _ends(ci: list[float] | None) -> str:
    return "" if ci is None else f"{ci[0]:.3f}–{ci[1]:.3f}"


def _print_neurons(figures: dict[str, Any], console: Console, *, every_row: bool) -> None:
    named = figures["neurons"]
    shown = list(named)
    if len(shown) > _ROWS and not every_row:
        best = sorted(shown, key=lambda name: -1.0 if (x := named[name]["accuracy"]) is None else x, reverse=True)
        chosen = set(best[: _ROWS - 2])
        shown = [name for name in shown if name in chosen]
    table = _table("neuron", ("accuracy", "95 % interval", "kappa", "n used", "flip rate", "p"))
    for name in shown:
        found, flips = named[name], figures["position"][name]
        table.add_row(
            Text(name),
            _figure(found["accuracy"]),
            _ends(found["accuracy_ci"]),
            _figure(found["kappa"]),
            f"{found['n_used']:,} of {found['n_total']:,}",
            _figure(flips["flip_rate"]),
            _p(flips["p"] if flips["questions_p"] is None else flips["questions_p"]),
        )
    console.print(table)
    if len(shown) < len(named):
        console.print(f"The best {len(shown):,} of {len(named):,} neurons (--all: every neuron)", soft_wrap=True)


def _print_uncertainty(found: dict[str, Any], console: Console) -> None:
    of = found["scopes"][found["scope"]]
    if of["entropy"]["value"] is None:
        console.print(f"Uncertainty: n/a – {of['entropy']['reason']}", soft_wrap=True)
        return
    console.print(
        f"Uncertainty (BPDE, {found['scope']} calls): mean {of['entropy']['value']:.4f} nats, "
        f"{of['relative']['value']:.1%} of ln 3; all calls agree on {of['certain']['value']:.1%} of "
        f"{of['certain']['n']:,} pairs, of {of['n_total']:,}",
        soft_wrap=True,
    )
    review = found["review"]
    point = min(review["points"], key=lambda one: abs(one["share"] - 0.2), default=None)
    if point is not None:
        rest = point["untouched"]
        apart = "none is left" if rest["accuracy"] is None else f"{rest['accuracy']:.4f} of the {rest['n']:,} others"
        console.print(
            f"People review the {point['reviewed']:,} most uncertain of {review['n']:,} pairs: accuracy "
            f"{point['accuracy']:.4f} ({point['by_chance']:.4f} for pairs at random); {apart}",
            soft_wrap=True,
        )
    needed = found["needed"]
    if needed is not None and needed["measured"] is not None:
        random = "out of reach" if needed["random"] is None else f"{needed['random']:.1%}"
        ends = needed["measured_ci"]
        within = "no interval" if ends is None else f"{ends[0]:.1%} to {ends[1]:.1%}"
        console.print(
            f"To be as accurate as people among themselves ({needed['target']:.4f}): {needed['measured']:.1%} "
            f"({within}) the most uncertain first, {random} at random",
            soft_wrap=True,
        )


def _print_layers(figures: dict[str, Any], console: Console) -> None:
    """What the neurons of a layer have in common, and what they change, a row a layer."""
    panel, alike, changes = figures["panel"]["layers"], figures["diversity"]["layers"], figures["discussion"]["layers"]
    table = _table("layer", ("agree", "alpha", "unanimous", "Q", "both wrong", "texts apart", "n"))
    for layer, of in alike.items():
        table.add_row(
            layer,
            _figure(panel[layer]["h"]),
            _figure(panel[layer]["alpha_nominal"]),
            _figure(of["unanimous"]["value"]),
            _figure(of["q"]["value"]),
            _figure(of["double_fault"]["value"]),
            "" if of["evidence"] is None else _figure(of["evidence"]["distance"]["value"]),
            f"{of['n']:,} of {of['n_total']:,}",
        )
    console.print(table)
    sample = figures["diversity"]["evidence_sample"]
    if sample is not None:
        console.print(
            f"Texts apart: on {sample['pairs']:,} of {sample['n_total']:,} finished pairs, drawn at random",
            soft_wrap=True,
        )
    if not changes:
        return
    table = _table("layer", ("changed", "to others", "to right", "to wrong", "gain", "95 % interval", "p"))
    for layer, of in changes.items():
        changed = of["neurons"]
        table.add_row(
            layer,
            _figure(changed["changed"]["value"]),
            _figure(changed["to_others"]["value"]),
            f"{changed['to_right']:,}",
            f"{changed['to_wrong']:,}",
            _signed(changed["gain"]["value"]),
            "" if changed["gain"]["ci"] is None else " to ".join(f"{end:+.3f}" for end in changed["gain"]["ci"]),
            _p(changed["p"]),
        )
    console.print(table)
    console.print(
        "Of the neurons' verdicts of a layer: changed from the layer before, and taken over where most others had said "
        "otherwise; became right, became wrong, and what that gains in accuracy",
        soft_wrap=True,
    )


def _p(value: float | None) -> str:
    return "n/a" if value is None else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return "n/a" if value is None else f"{value:+.4f}"


def _print_best(panel: dict[str, Any], console: Console) -> None:
    found = panel["against_people"]
    others = sum(row["n"] > 0 for row in found["ranking"]) - 1
    if found["best"] is None or others < 1:
        return
    console.print(
        f"{found['best']} agrees with people most; the labelled pairs {told_from(others, len(found['not_worse']))} "
        "(sign tests, Holm-adjusted, at .05)",
        soft_wrap=True,
        markup=False,
    )
    if found["warning"]:
        console.print(f"Note: {found['warning']}", soft_wrap=True, markup=False)


def _print_people(figures: dict[str, Any], console: Console) -> None:
    panel, review = figures["annotators"], figures["review_share"]
    if panel["h"] is not None:
        console.print(
            f"Annotators agree on {panel['h']:.4f} of their pairs of labels ({panel['n']:,} pairs; "
            f"Krippendorff's alpha {_figure(panel['alpha_nominal'])}, ordinal {_figure(panel['alpha_ordinal'])}; "
            f"Fleiss' kappa {_figure(panel['fleiss'])})",
            soft_wrap=True,
        )
    if review["review"] is not None:
        ends = "no interval" if review["review_ci"] is None else " to ".join(f"{x:.1%}" for x in review["review_ci"])
        console.print(
            f"To be as accurate as that, people would still review {review['review']:.1%} ({ends}) "
            f"of the pairs of {review['aggregation']}",
            soft_wrap=True,
        )
    for note in figures["notes"]:
        console.print(f"Note: {note}", soft_wrap=True)


_FIGURES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "kappa": "kappa", "majority_baseline": "baseline"}


def _print_table(aggregations: dict[str, Any], console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("aggregation")
    for name in ("accuracy", "95 % interval", "macro-F1", "kappa", "n used", "baseline"):
        table.add_column(name, justify="right", no_wrap=True)
    why: dict[str, list[str]] = {}
    for name, found in aggregations.items():
        table.add_row(
            Text(name),
            _figure(found["accuracy"]),
            _ends(found["accuracy_ci"]),
            _figure(found["macro_f1"]),
            _figure(found["kappa"]),
            f"{found['n_used']:,} of {found['n_total']:,}",
            _figure(found["majority_baseline"]),
        )
        for figure in ("accuracy", "macro_f1", "kappa", "majority_baseline"):
            if found[figure] is None:
                reason = found["reasons"].get(figure, "undefined")
                why.setdefault(reason, []).append(f"{name} {_FIGURES[figure]}")
    console.print(table)
    for reason, undefined in why.items():
        which = "" if len(undefined) == len(aggregations) * len(_FIGURES) else f" ({', '.join(undefined)})"
        console.print(f"n/a{which}: {reason}", soft_wrap=True)


def metrics(
    run: RunArgument,
    by: Annotated[str | None, typer.Option(help="Also for each group: task, or human (the human label).")] = None,
    scope: Annotated[
        str, typer.Option(metavar="all|last|NEURON", help="Whose calls say how sure the network is of a pair.")
    ] = "all",
    evidence: Annotated[
        int, typer.Option(min=0, help="So many pairs, drawn at random, have their evidence compared.")
    ] = SAMPLED_PAIRS,
    every_row: Annotated[bool, typer.Option("--all", help="Every row of every table.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of resampling, of the sample, and of ties in uncertainty.")] = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show accuracy, macro-F1 and kappa against the human labels for every aggregation of a run.

    Beside them stand the share of the commonest label (the baseline), the number of pairs used of all, and how
    often the verdict depends on the order of the responses. Then: how sure the network is and what a review of the
    uncertain pairs gains, how its neurons agree, what later layers change, and whether they become alike.

    The keys of --json are listed in resources/figures.md.

    Example: judgenet metrics out --by task
    """
    with open_run(run, project) as (store, info):
        figures = run_metrics(store, info, by, more=More(scope, evidence), seed=seed)
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        print_metrics(figures, Terminal(), every_row=every_row)
