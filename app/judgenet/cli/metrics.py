"""``judgenet metrics``: how a run agrees with people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.common import InputError, JsonOption, ProjectOption, RunArgument, open_run
from judgenet.core.aggregate import PairVerdicts, aggregation_names, deciding, merged
from judgenet.core.evaluation import Evaluation
from judgenet.core.pairs import Order, Pair, Verdict
from judgenet.stats.agreement import (
    Agreement,
    PositionConsistency,
    agreement_of,
    position,
    position_of,
    review_share,
)
from judgenet.stats.curves import Codes, pair_counts, verdict_codes
from judgenet.stats.intervals import AgreementIntervals, Interval, agreements_intervals
from judgenet.stats.panel import Coefficient, PanelAgreement, panel_agreement
from judgenet.stats.provenance import LabelSources
from judgenet.stats.resampling import label_table
from judgenet.store.db import Store
from judgenet.store.results import PairResult, network_of, neuron_names, pair_calls, question_numbers, verdicts_of
from judgenet.store.runs import CallRow, RunInfo, Spent, spent


def agreement_json(found: Agreement, within: AgreementIntervals) -> dict[str, Any]:
    """Agreement with people as stable keys, with 95 % intervals; what is undefined is ``null`` with a reason.

    ``n_questions`` is how many questions the pairs used have: where it is less than ``n_used`` it is the effective n.
    """
    return {
        "accuracy": found.accuracy,
        "accuracy_ci": _ends(within.accuracy),
        "macro_f1": found.macro_f1,
        "macro_f1_ci": _ends(within.macro_f1),
        "kappa": found.kappa,
        "kappa_ci": _ends(within.kappa),
        "n_used": found.n_used,
        "n_total": found.n_total,
        "n_questions": within.questions,
        "labels": list(found.labels),
        "confusion": [list(row) for row in found.confusion],
        "majority_baseline": found.majority_baseline,
        "reasons": dict(found.reasons) | {f"{figure}_ci": reason for figure, reason in within.reasons.items()},
        "resamples": within.resamples,
        "seed": within.seed,
        "few": within.few,
    }


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)


def agreement_figures(questions: NDArray[np.int64], human: Codes, said: Mapping[str, Codes]) -> dict[str, Any]:
    """Agreement of each of ``said`` with the labels ``human``, all given as codes by pair
    (:data:`judgenet.stats.curves.CODES`), with intervals over questions where these repeat."""
    found = {name: agreement_of(pair_counts(human, codes)) for name, codes in said.items()}
    tables = [label_table(questions, human, codes) for codes in said.values()]
    spreads = agreements_intervals(list(found.values()), tables)
    return {name: agreement_json(of, spread) for (name, of), spread in zip(found.items(), spreads, strict=True)}


def aggregation_figures(names: Sequence[str], results: list[PairResult]) -> dict[str, Any]:
    """Agreement of each aggregation over pairs; pairs without label or verdict are in ``n_total`` only."""
    named = [{} if result.verdicts is None else result.verdicts.named() for result in results]
    return agreement_figures(
        question_numbers(result.pair.pair for result in results),
        verdict_codes(result.pair.pair.human for result in results),
        {name: verdict_codes(of.get(name) for of in named) for name in names},
    )


def run_metrics(store: Store, run: RunInfo, by: str | None = None) -> dict[str, Any]:
    """All figures of a run: agreement by aggregation, flip rate between orders, calls used, unscored."""
    spec = network_of(run)
    names = aggregation_names(spec.depth, chair=spec.chair is not None)
    results: list[PairResult] = []
    neurons: dict[tuple[int, int], _Neuron] = {}
    for pair, calls in pair_calls(store, run):
        result = PairResult(pair, verdicts_of(pair, calls, spec.depth, spec.aggregation))
        results.append(result)
        if result.verdicts is not None:
            _count_neurons(neurons, len(results) - 1, result, calls)
    judged = [result.verdicts for result in results if result.verdicts is not None]
    sums = spent(store, run)
    figures: dict[str, Any] = {
        "run": run.id,
        "state": run.state,
        "message": run.message,
        "pairs": {
            "total": len(results),
            "finished": len(judged),
            "labelled": sum(result.pair.pair.human is not None for result in results),
        },
        "aggregations": aggregation_figures(names, results),
        "neurons": {},
        "position": {"c1": _position(judged, len(results))},
        "calls": _calls(sums, judged),
        "cost": {
            "tokens_in": sums.tokens_in,
            "tokens_out": sums.tokens_out,
            "tokens_cached": sums.tokens_cached,
            "price": None if sums.unpriced else sums.price,
            "price_known": sums.price,
            "calls_unpriced": sums.unpriced,
            "calls_new": sums.calls_new,
            "calls_from_store": sums.calls - sums.calls_new,
        },
    }
    questions = question_numbers(result.pair.pair for result in results)
    human = verdict_codes(result.pair.pair.human for result in results)
    said: dict[str, Codes] = {}
    for place, name in neuron_names(spec, sorted(neurons)).items():
        neuron = neurons[place]
        missing = len(results) - neuron.orders.total()
        said[name] = np.zeros(len(results), dtype=np.uint8)
        said[name][neuron.pairs] = verdict_codes(neuron.said)
        figures["position"][name] = position_json(position_of(neuron.orders + Counter({(None, None): missing})))
    figures["neurons"] = agreement_figures(questions, human, said)
    sources = LabelSources()
    for result in results:
        sources.add(result.pair.pair.human, result.pair.people)
    figures["labels"] = {
        "used": dict(sources.counted),
        "left_out": dict(sources.left_out),
        "disputed": sources.disputed,
        "settled": sources.settled,
    }
    panel = panel_agreement(dict(result.pair.pair.annotators) for result in results)
    figures["annotators"] = annotators_json(panel)
    decides = deciding(chair=spec.chair is not None)
    figures["review_share"] = _review(decides, figures["aggregations"][decides], panel.h)
    figures["questions"] = int(questions.max(initial=-1)) + 1
    figures["notes"] = _notes(len(results), figures["questions"], len(neurons)) + sources.notes
    if by is not None:
        key = _KEYS.get(by)
        if key is None:
            raise InputError(f"--by {by}: there is no such grouping. Choose one of: {', '.join(_KEYS)}.")
        groups: dict[str, list[PairResult]] = {}
        for result in results:
            groups.setdefault(key(result.pair.pair) or "(none)", []).append(result)
        figures["by"] = {by: {name: aggregation_figures(names, part) for name, part in sorted(groups.items())}}
    return figures


_KEYS: dict[str, Callable[[Pair], str | None]] = {"task": lambda pair: pair.task, "human": lambda pair: pair.human}


@dataclass(slots=True)
class _Neuron:
    """What a neuron said: its verdicts with the places of their pairs, and counts of (verdict in AB, verdict in BA)."""

    pairs: list[int] = field(default_factory=list)
    said: list[Verdict | None] = field(default_factory=list)
    orders: Counter[tuple[Verdict | None, Verdict | None]] = field(default_factory=Counter)


def _count_neurons(
    neurons: dict[tuple[int, int], _Neuron], number: int, result: PairResult, calls: Sequence[CallRow]
) -> None:
    assert result.verdicts is not None
    differences: dict[tuple[int, int], dict[Order, list[float]]] = {}
    for row in calls:
        if row.site.order is not None and isinstance(row.result, Evaluation):
            of = differences.setdefault((row.site.layer, row.site.neuron), {"ab": [], "ba": []})
            of[row.site.order].append(row.result.difference)
    for said in result.verdicts.neurons:
        place = (said.layer, said.neuron)
        neuron = neurons.setdefault(place, _Neuron())
        neuron.pairs.append(number)
        neuron.said.append(said.verdict)
        orders = differences.get(place, {"ab": [], "ba": []})
        neuron.orders[merged(orders["ab"]), merged(orders["ba"])] += 1


def _position(judged: list[PairVerdicts], total: int) -> dict[str, Any]:
    ab: list[Verdict | None] = [found.c1_ab for found in judged]
    ba: list[Verdict | None] = [found.c1_ba for found in judged]
    return position_json(position(ab, ba)) | {"n_total": total}


def position_json(found: PositionConsistency) -> dict[str, Any]:
    """Verdicts in both orders as stable keys; undefined figures are ``null`` with a reason."""
    return {
        "first_first": found.primacy,
        "last_last": found.recency,
        "partial": found.partial,
        "valid_both": found.n,
        "n_total": found.n_total,
        "consistent": found.consistent,
        "flip_rate": found.flip_rate,
        "net": found.net,
        "p": found.p,
        "reason": found.reason or None,
    }


def annotators_json(panel: PanelAgreement) -> dict[str, Any]:
    """A panel's agreement with itself as stable keys; kappas by ``NAME|NAME``."""
    named = {
        "h": panel.h,
        "alpha_nominal": panel.alpha_nominal,
        "alpha_ordinal": panel.alpha_ordinal,
        "fleiss": panel.fleiss,
    }
    kappas = {f"{one}|{other}": found for (one, other), found in panel.pairwise.items()}
    reasons = {name: found.reason for name, found in named.items() if found.reason}
    reasons |= {name: found.reasons["kappa"] for name, found in kappas.items() if "kappa" in found.reasons}
    return {
        "names": list(panel.raters),
        **{name: found.value for name, found in named.items()},
        "n": panel.h.n,
        "pairwise_kappa": {name: found.kappa for name, found in kappas.items()},
        "pairwise_n": {name: found.n_used for name, found in kappas.items()},
        "reasons": reasons,
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
    ends = None if ci is None else [review_share(end, h.value).review for end in reversed(ci)]
    values = (share.review, share.saved, share.relative, ends)
    return {
        **figures,
        **dict(zip(keys, values, strict=True)),
        "reason": share.reason or None,
        "caveats": list(_REVIEW_CAVEATS),
    }


_MANY = 5


def _notes(pairs: int, questions: int, neurons: int) -> list[str]:
    notes = []
    if questions < pairs:
        notes.append(f"the {pairs:,} pairs hold {questions:,} different questions: intervals are over questions")
    if neurons >= _MANY:
        notes.append(f"{neurons:,} neurons are compared: the best of them looks better here than it is")
    return notes


def _calls(sums: Spent, judged: list[PairVerdicts]) -> dict[str, Any]:
    return {
        "finished_pairs_used": sum(found.calls_used + found.chair_used for found in judged),
        "finished_pairs_total": sum(found.calls_total + found.chair_total for found in judged),
        "all": sums.calls,
        "scored": sums.scored,
        "unscored": sums.unscored,
    }


def _figure(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}"


def print_metrics(figures: dict[str, Any], console: Console) -> None:
    """The figures as a table for people; every one with its n."""
    pairs = figures["pairs"]
    console.print(
        f"{figures['run']} ({figures['state']}): {pairs['finished']:,} of {pairs['total']:,} pairs finished, "
        f"{pairs['labelled']:,} with a human label",
        soft_wrap=True,
    )
    _print_table(figures["aggregations"], console)
    for by, groups in figures.get("by", {}).items():
        for name, part in groups.items():
            console.print(f"\n{by}: {name}", markup=False, soft_wrap=True)
            _print_table(part, console)
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
        _print_neurons(figures, console)
    _print_people(figures, console)
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


def _print_neurons(figures: dict[str, Any], console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("neuron")
    for heading in ("accuracy", "95 % interval", "kappa", "n used", "flip rate", "net", "p"):
        table.add_column(heading, justify="right")
    for name, found in figures["neurons"].items():
        flips = figures["position"][name]
        ci = found["accuracy_ci"]
        table.add_row(
            Text(name),
            _figure(found["accuracy"]),
            "" if ci is None else f"{ci[0]:.3f}–{ci[1]:.3f}",
            _figure(found["kappa"]),
            f"{found['n_used']:,} of {found['n_total']:,}",
            *(_figure(flips[key]) for key in ("flip_rate", "net", "p")),
        )
    console.print(table)


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
    for name in ("accuracy", "macro-F1", "kappa", "n used", "baseline"):
        table.add_column(name, justify="right")
    why: dict[str, list[str]] = {}
    for name, found in aggregations.items():
        table.add_row(
            name,
            *(_figure(found[figure]) for figure in ("accuracy", "macro_f1", "kappa")),
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
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show accuracy, macro-F1 and kappa against the human labels for every aggregation of a run.

    Beside them stand the share of the commonest label (the baseline), the number of pairs used of all, and how
    often the verdict depends on the order of the responses.

    Example: judgenet metrics out --by task
    """
    with open_run(run, project) as (store, info):
        figures = run_metrics(store, info, by)
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        print_metrics(figures, Console())
