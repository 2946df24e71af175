"""``judgenet rate``: the win rate of a run, corrected for the network's errors by labelled pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, get_args

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.aggregate import aggregation_names, deciding
from judgenet.core.labels import Chosen
from judgenet.core.learned import LEARNED
from judgenet.figures.learned import run_learned_notes
from judgenet.stats.calibration import SCORES, Estimate, Method, Rates, k_class_bootstrap
from judgenet.stats.clustered import rates_over_questions
from judgenet.stats.curves import CODES
from judgenet.stats.intervals import decided_win_rate
from judgenet.stats.length import length_adjusted
from judgenet.stats.provenance import Sample, left_words
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo
from judgenet.store.taught import fair_frame

AggregationOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Whose verdicts: c1, c2_l1 …, c2_all, chair or learned. Default: the network's.",
        show_default=False,
    ),
]
LabelsOption = Annotated[
    str, typer.Option(metavar="all|every:K|FILE", help="Which human labels to use; FILE has an id of a pair a line.")
]
ChosenOption = Annotated[
    Chosen | None,
    typer.Option(
        help="How the labelled pairs were chosen. Without it each label counts as it was kept; "
        "labels of the data file count as imported unless every judged pair has one.",
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
    """Which labels ``--labels`` means, a value a pair: all of them, every K-th labelled pair from the first, or those
    of the pairs that a file names.

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
        why = "it is no UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
        raise InputError(
            f"--labels {labels}: cannot be read ({why}). Give all, every:K, or a file with the id of a pair a line."
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


def sample_json(sample: Sample) -> dict[str, Any]:
    """Which labels were used and which not, as stable keys: counts of pairs by how they were chosen, and by reason."""
    return {
        "chosen": sample.chosen,
        "why": sample.why,
        "used": dict(sample.used),
        "n_used": sample.labelled.total(),
        "left_out": dict(sample.left_out),
        "n_left_out": sum(sample.left_out.values()),
        "drawn_from": sample.population,
        "reasons": {} if sample.population else {"drawn_from": "it is not kept from how many pairs they were drawn"},
    }


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """An estimate as stable keys; where there is none, ``value`` and ``ci`` are ``null`` and ``reason`` says why.

    Too few questions leave ``value`` and take ``ci`` alone. ``n_questions`` is the effective n where questions repeat.
    """
    return {
        "value": estimate.value,
        "ci": None if estimate.interval is None else list(estimate.interval),
        "n": estimate.n,
        "labels": estimate.labels,
        "n_questions": estimate.questions,
        "reason": estimate.reason or None,
        "notes": list(estimate.notes),
    }


def run_rates(
    store: Store, run: RunInfo, aggregation: str | None, labels: str, chosen: Chosen | None, seed: int
) -> dict[str, Any]:
    """Every estimate of the win rate of B over A in a run, and what they rest on."""
    name = aggregation_of(run, aggregation)
    frame = fair_frame(store, run)
    used = labels_used(frame, labels)
    sample = frame.label_sample(name, chosen, used)
    counts = frame.by_question(name, sample, used)
    found = rates_over_questions(counts, sample.chosen, seed=seed)
    labelled, judged = sample.labelled.total(), sample.labelled.total() + sample.others.total()
    return {
        **{method: estimate_json(estimate) for method, estimate in found.estimates.items()},
        "run": run.id,
        "aggregation": name,
        "pairs": {
            "total": len(frame),
            "judged": judged,
            "not_judged": len(frame) - judged,
            "labelled": labelled,
            "labelled_not_judged": sample.left_out.get("no verdict", 0),
        },
        "chosen": found.chosen,
        "chosen_assumed": chosen is None and found.chosen == "imported",
        "labels": sample_json(sample),
        "classes": list(found.classes),
        "strata": [
            {
                "verdict": part.verdict,
                "share": part.share,
                "n": part.n,
                "labels": part.labels,
                "mean": part.mean,
                "sd": part.sd,
            }
            for part in found.stratified.strata
        ],
        **_more(found, sample, counts, seed),
        "length_adjusted": _length(frame, name),
        "notes": _notes(frame, sample, chosen) + (run_learned_notes(frame) if name == LEARNED else []),
    }


def counts_json(by_question: NDArray[np.float64], seed: int = 0) -> dict[str, Any]:
    """How often A, tie and B were given, from counts by question (questions, 3); the share of ties, and the win rate of
    B among the decided, uncorrected: Wilson's interval and the exact sign test, over questions where these repeat."""
    a, tie, b = (int(count) for count in by_question.sum(axis=0))
    n = a + tie + b
    found = decided_win_rate(a, b, by_question[:, [0, 2]], seed=seed)
    return {
        "a": a,
        "b": b,
        "tie": tie,
        "n": n,
        "tie_share": tie / n if n else None,
        "reason": None if n else "there is none",
        "decided": {
            "value": found.value,
            "ci": None if found.interval is None else list(found.interval),
            "n": found.n,
            "n_questions": found.questions,
            "p": found.p,
            "questions_p": found.questions_p,
            "reason": found.reason or None,
            "reasons": _NOT_OVER_QUESTIONS if found.n and found.questions_p is None else {},
        },
    }


_NOT_OVER_QUESTIONS = {"questions_p": "every question has one pair, so that p is over questions already"}


def _bootstrap_json(found: Rates, sample: Sample, seed: int) -> dict[str, Any]:
    """The K-class interval by resampling pairs, beside that of the delta method, where the estimate is shown."""
    shown = found.estimates["k_class"]
    keys = ("ci", "refused", "resamples", "seed")
    if shown.value is None:
        return {**dict.fromkeys(keys), "reason": shown.reason}
    spread = k_class_bootstrap(sample.labelled, sample.others, seed=seed)
    ends = None if spread.interval is None else list(spread.interval)
    return {
        **dict(zip(keys, (ends, spread.refused, spread.resamples, spread.seed), strict=True)),
        "reason": spread.reason or None,
    }


def _more(found: Rates, sample: Sample, counts: NDArray[np.float64], seed: int) -> dict[str, Any]:
    these = found.stratified.these_pairs
    worth = found.worth
    per_verdict = worth.reason or "every judged pair has a human label"
    return {
        "these_pairs": estimate_json(these),
        "stratified_these_pairs": None if these.interval is None else list(these.interval),
        "reasons": {"stratified_these_pairs": these.reason} if these.interval is None else {},
        "decided": estimate_json(found.decided),
        "verdicts": counts_json(counts[:, 1:].sum(axis=2), seed),
        "people": counts_json(counts[:, 1:, 1:].sum(axis=1), seed),
        "k_class_bootstrap": _bootstrap_json(found, sample, seed),
        "worth": {
            "multiplier": worth.multiplier,
            "per_verdict": worth.per_verdict,
            "correlation": worth.correlation,
            "reason": worth.reason or None,
            "reasons": {"per_verdict": per_verdict} if worth.per_verdict is None else {},
        },
    }


def _length(frame: RunFrame, name: str) -> dict[str, Any]:
    said = frame.aggregations[name]
    judged = np.flatnonzero(said)
    scores = [SCORES[verdict] for code in said[judged] if (verdict := CODES[code]) is not None]
    found = length_adjusted(scores, frame.longer_b[judged].tolist(), frame.questions[judged].tolist())
    return {
        "value": found.value,
        "ci": None if found.interval is None else list(found.interval),
        "n": found.n,
        "labels": 0,
        "slope": found.slope,
        "reason": found.reason or None,
        "reasons": {"slope": found.reason or "all responses differ equally in length"} if found.slope is None else {},
        "notes": ["uncorrected; where longer answers are truly better, this takes away real quality"],
    }


def _notes(frame: RunFrame, sample: Sample, chosen: Chosen | None) -> list[str]:
    notes = ["the truth is what these people say: their own errors are not corrected"]
    if chosen is None and sample.chosen == "imported":
        notes.append(
            "the labels came with the data: they do not count as chosen at random. Where they were, say so with "
            "--chosen random, or once for this store with: judgenet labels RUN --file-labels random"
        )
    if left := left_words(sample.left_out):
        notes.append(f"labelled pairs that are left out: {left}")
    if sample.population is not None and sample.population < len(frame):
        notes.append(
            f"labels were drawn from {sample.population:,} pairs, the run has {len(frame):,}: "
            "they stand for the other pairs only if those are like these"
        )
    questions = frame.question_count
    if questions < len(frame):
        notes.append(f"the {len(frame):,} pairs hold {questions:,} different questions: intervals are over questions")
    return notes


_TITLES: dict[Method, str] = {
    "stratified": "stratified by verdict",
    "ppi": "PPI++",
    "human_only": "human labels alone",
    "lee": "Lee et al.",
    "k_class": "K-class",
    "naive": "verdicts, uncorrected",
}


def print_rates(figures: dict[str, Any], console: Console) -> None:
    """The estimates as a table for people, the headline first."""
    pairs = figures["pairs"]
    console.print(
        f"{figures['run']}, {figures['aggregation']}: win rate of B, ties count half; {pairs['judged']:,} of "
        f"{pairs['total']:,} pairs judged, {pairs['labelled']:,} of them labelled "
        f"({figures['chosen']}: {figures['labels']['why']})",
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("estimate")
    for heading in ("win rate", "95 % interval", "pairs", "labels"):
        table.add_column(heading, justify="right")
    shown = {_TITLES[method]: figures[method] for method in get_args(Method)}
    lines = {_TITLES["stratified"]: figures["stratified"], "the same, of just these pairs": figures["these_pairs"]}
    lines |= {title: shown[title] for title in _TITLES.values()} | {
        "decided pairs only": figures["decided"],
        "verdicts at equal length": figures["length_adjusted"],
    }
    for title, found in lines.items():
        ci = found["ci"]
        table.add_row(
            title,
            "n/a" if found["value"] is None else f"{found['value']:.4f}",
            "" if ci is None else f"{ci[0]:.4f} to {ci[1]:.4f}",
            f"{found['n']:,}",
            f"{found['labels']:,}",
        )
    console.print(table)
    for title, found in lines.items():
        if found["reason"]:
            prefix = "n/a – " if found["value"] is None else ""
            console.print(f"{title}: {prefix}{found['reason']}", soft_wrap=True, markup=False)
        for note in found["notes"]:
            console.print(f"{title}: {note}", soft_wrap=True, markup=False)
    for who, title in (("verdicts", "Verdicts"), ("people", "Human labels")):
        counts = figures[who]
        if counts["n"]:
            decided = counts["decided"]
            over, p = "", decided["p"]
            if decided["questions_p"] is not None:
                over, p = " over questions", decided["questions_p"]
            test = f"; sign test{over} p {'< 0.0001' if p < 0.0001 else f'= {p:.4f}'}" if p is not None else ""
            ties = f"tie {counts['tie']:,} ({counts['tie_share']:.1%})"
            console.print(f"{title}: A {counts['a']:,}, {ties}, B {counts['b']:,}{test}", soft_wrap=True)
    for part in figures["strata"]:
        console.print(
            f"Verdict {part['verdict']} ({part['share']:.1%} of pairs): people's mean score for B is "
            f"{part['mean']:.3f} (of {part['labels']:,} labels and one even pseudo-label)",
            soft_wrap=True,
        )
    worth = figures["worth"]
    if worth["multiplier"] is not None:
        console.print(
            f"With the network's verdicts a human label counts as {worth['multiplier']:.2f} labels", soft_wrap=True
        )
    else:
        console.print(f"Worth of the verdicts in labels: n/a – {worth['reason']}", soft_wrap=True, markup=False)
    for note in figures["notes"]:
        console.print(f"Note: {note}", soft_wrap=True, markup=False)


def rate(
    run: RunArgument,
    aggregation: AggregationOption = None,
    labels: LabelsOption = "all",
    chosen: ChosenOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Estimate how often people prefer B: from the verdicts on all pairs, corrected by those with a human label.

    The headline is stratified by verdict. Beside it stand PPI++, the human labels alone, the corrections by error
    rates, and the uncorrected verdicts; what the choice of the labelled pairs does not allow is refused with a reason.

    Example: judgenet rate out --labels every:5 --chosen random
    """
    with open_run(run, project) as (store, info):
        figures = run_rates(store, info, aggregation, labels, chosen, seed)
    if as_json:
        typer.echo(json.dumps(figures, allow_nan=False))
    else:
        print_rates(figures, Terminal())
