"""The figures of an experiment from its recorded runs: what its tables, plots and files are made of."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from judgenet.core import network_json
from judgenet.core.experiments import EXPERIMENTS, Experiment, ExperimentRow
from judgenet.core.network import NetworkSpec, needs_roles
from judgenet.core.pairs import ORDERS, VERDICTS, Order, Pair, Verdict, data_hash
from judgenet.core.wording import aggregation_title, plural
from judgenet.engine.experiments import runs_of
from judgenet.figures.experiment import (
    ExperimentFigures,
    ExperimentSet,
    RecordedModel,
    RecordedParameters,
    RecordedSource,
    RowDifference,
    RowWork,
    SavingRow,
    SetCalls,
    SetMajority,
    SetPairs,
    SetRecord,
    SetRoles,
    SetRow,
    SetSaving,
    SetStandIns,
    StatedLabour,
    TaskWords,
)
from judgenet.stats.agreement import agreement_of, review_share
from judgenet.stats.comparison import TwoVerdicts, compare
from judgenet.stats.curves import CODES, Codes, pair_counts, verdict_codes
from judgenet.stats.intervals import agreements_intervals
from judgenet.stats.labour import Labour, work
from judgenet.stats.multiple import holm
from judgenet.stats.panel import panel_agreement
from judgenet.stats.resampling import label_table, question_counts
from judgenet.stats.uncertainty import ReviewNeed, entropies, review_need
from judgenet.stats.verdicts import verdict_table
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.results import network_of, question_numbers
from judgenet.store.runs import RunInfo, run_pairs, spent
from judgenet.store.stand_ins import stood_in_counts
from judgenet.store.usage import ParameterUse, different_calls, models_used, parameters_used
from judgenet.version import __version__

PAPER_AGREEMENT = 0.8
"""How far people agree with each other in the paper: the target where the pairs have no panel of their own."""

RESULTS_VERSION = 1
"""The version of the results' JSON: results of another version are not added to."""


class _Read:
    """What a row says of each pair (``verdicts`` are codes), and how many calls, neurons and judged pairs that took."""

    def __init__(self, pairs: int) -> None:
        self.verdicts: Codes = np.zeros(pairs, np.uint8)
        self.uncertainty = np.full(pairs, np.nan)
        self.calls = self.neurons = self.judged = self.no_quorum = 0


def experiment_set(
    store: Store,
    experiment: Experiment,
    pairs: Sequence[Pair],
    runs: Mapping[str, Sequence[str]],
    *,
    name: str,
    state: str,
    message: str = "",
    target: float | None = None,
    labour: Labour | None = None,
    selection: str = "all pairs",
    source: Mapping[str, Any] | None = None,
    this_time: int = 0,
) -> ExperimentSet:
    """The figures of an experiment on one set of pairs.

    ``runs`` are the ids of each arm's runs; ``name`` is that of the set, ``selection`` says in words which of its pairs
    were taken. ``target`` is the agreement that people's review is to reach (``None``: as measured on these pairs, else
    the paper's), ``labour`` the time and the wage for a label.
    ``this_time`` is the number of calls that the last start made.
    """
    places = {pair.id: place for place, pair in enumerate(pairs)}
    infos = {arm.key: runs_of(store, runs.get(arm.key, ())) for arm in experiment.arms}
    read = {row.key: _Read(len(pairs)) for row in experiment.rows}
    for arm in experiment.arms:
        rows = [row for row in experiment.rows if row.arm == arm.key]
        for run in infos[arm.key] if rows else ():
            frame = RunFrame.read(store, run)
            for row in rows:
                _read_run(read[row.key], row, arm.width_of is not None, places, frame)
    used = list({run.number: run for runs_with_info in infos.values() for run in runs_with_info}.values())
    role_counts = [_role_counts(store, run, arm.spec) for arm in experiment.arms for run in infos[arm.key]]
    saving = words = None
    if experiment.kind == "saving":
        prices = {arm.key: _price_of(store, infos[arm.key]) for arm in experiment.arms}
        saving = _saving(experiment, read, pairs, target, labour or Labour(), prices)
    if experiment.kind == "clouds":
        words = _words(store, infos["roles"])
    return ExperimentSet(
        set=name,
        state=state,
        message=message,
        at=time.time(),
        pairs=_set_pairs(pairs, selection),
        majority=_majority(pairs),
        rows=_with_holm([_row(experiment, row, read, pairs) for row in experiment.rows]),
        runs={key: tuple(ids) for key, ids in runs.items()},
        networks={arm.key: network_json.to_json(arm.spec) for arm in experiment.arms},
        roles=SetRoles(
            pairs=sum(counts[0] for counts in role_counts),
            fewer=sum(counts[1] for counts in role_counts),
            none=sum(counts[2] for counts in role_counts),
        ),
        calls=_calls(store, used, this_time),
        record=_record(store, used, source or {}, experiment.choices.seed),
        saving=saving,
        words=words,
    )


def _set_pairs(pairs: Sequence[Pair], selection: str) -> SetPairs:
    labels = Counter(pair.human for pair in pairs)
    return SetPairs(
        total=len(pairs),
        labelled=sum(labels[verdict] for verdict in VERDICTS),
        labels={verdict: labels[verdict] for verdict in VERDICTS},
        questions=len(set(question_numbers(pairs).tolist())),
        tasks=len({pair.task for pair in pairs} - {None}),
        selection=selection,
        data_hash=data_hash(pairs),
    )


def _majority(pairs: Sequence[Pair]) -> SetMajority:
    """The most frequent label, and the accuracy of always giving it."""
    labels = Counter(pair.human for pair in pairs)
    labelled = sum(labels[verdict] for verdict in VERDICTS)
    if not labelled:
        return SetMajority(label=None, accuracy=None, reason="no pair has a human label")
    label = max(VERDICTS, key=lambda verdict: labels[verdict])
    return SetMajority(label=label, accuracy=labels[label] / labelled, reason=None)


# Reading the runs


def _read_run(into: _Read, row: ExperimentRow, any_width: bool, places: Mapping[str, int], frame: RunFrame) -> None:
    """Takes in one run: of its calls those that the row's network would have made."""
    network, done = row.network, frame.done
    widths = [None if any_width else layer.width for layer in network.layers]
    orders: tuple[Order, ...] = ORDERS if network.orders not in ORDERS else (network.orders,)
    scores = frame.call_scores().smaller(widths, orders, network.settings.samples or 1)
    table = verdict_table(scores, (row.rule,), replace(network.aggregation, quorum=row.quorum))
    of_data = [places[frame.pairs.ids[index]] for index in done]
    into.verdicts[of_data] = table.aggregations[row.rule][done]
    into.uncertainty[of_data] = entropies(table.calls[done].sum(axis=(1, 2), dtype=np.int64))
    into.calls += int(table.total.sum()) + (len(done) if needs_roles(network) else 0)
    into.neurons += int((table.asked > 0).sum())
    into.judged += len(done)
    if (short := table.no_quorum.get(row.rule)) is not None:
        into.no_quorum += int(short[done].sum())


# Figures


def _row(experiment: Experiment, row: ExperimentRow, read: Mapping[str, _Read], pairs: Sequence[Pair]) -> SetRow:
    read_row = read[row.key]
    human, questions = verdict_codes(pair.human for pair in pairs), question_numbers(pairs)
    agreement = agreement_of(pair_counts(human, read_row.verdicts))
    [within] = agreements_intervals([agreement], [label_table(questions, human, read_row.verdicts)])
    any_width = experiment.arm(row.arm).width_of is not None
    reasons = dict(agreement.reasons) | {f"{figure}_ci": why for figure, why in within.reasons.items()}
    if row.x is None:
        reasons["x"] = "the experiment has no axis"
    if row.against is None:
        reasons["difference"] = "the others are compared with this row"
    if not read_row.judged:
        reasons |= dict.fromkeys(("neurons_per_pair", "calls_per_pair"), "no pair was judged")
    return SetRow(
        row=row.key,
        network=row.title,
        aggregation=row.rule,
        name=row.name,
        group=row.group,
        x=row.x,
        subject=row.subject,
        layers=tuple(None if any_width else layer.width for layer in row.network.layers),
        samples=row.network.settings.samples or 1,
        neurons_per_pair=read_row.neurons / read_row.judged if read_row.judged else None,
        calls_per_pair=read_row.calls / read_row.judged if read_row.judged else None,
        judged=read_row.judged,
        accuracy=agreement.accuracy,
        accuracy_ci=within.accuracy,
        macro_f1=agreement.macro_f1,
        macro_f1_ci=within.macro_f1,
        kappa=agreement.kappa,
        kappa_ci=within.kappa,
        quorum=row.quorum,
        no_quorum=None if row.quorum is None else read_row.no_quorum,
        n_used=agreement.n_used,
        n_total=agreement.n_total,
        confusion=agreement.confusion,
        difference=None if row.against is None else _difference(experiment.row(row.against), row, read, pairs),
        reasons=reasons,
    )


def _with_holm(rows: Sequence[SetRow]) -> tuple[SetRow, ...]:
    """The rows with the p of their differences adjusted for all that are compared on this set of pairs."""
    adjusted = holm([None if row.difference is None else row.difference.p for row in rows])
    corrected = []
    for row, p in zip(rows, adjusted, strict=True):
        difference = row.difference
        if difference is not None:
            reasons = difference.reasons if p is not None else difference.reasons | {"p_holm": difference.reasons["p"]}
            difference = replace(difference, p_holm=p, reasons=reasons)
        corrected.append(replace(row, difference=difference))
    return tuple(corrected)


def _two_verdicts(human: Codes, first_codes: Codes, second_codes: Codes) -> TwoVerdicts:
    """How many pairs have which label and which two verdicts."""
    said = Counter(zip(human.tolist(), first_codes.tolist(), second_codes.tolist(), strict=True))
    counts: Counter[tuple[Verdict | None, Verdict, Verdict]] = Counter()
    for (label, first, second), count in said.items():
        first_verdict, second_verdict = CODES[first], CODES[second]
        if first_verdict is not None and second_verdict is not None:
            counts[CODES[label], first_verdict, second_verdict] += count
    return counts


def _difference(
    against: ExperimentRow, row: ExperimentRow, read: Mapping[str, _Read], pairs: Sequence[Pair]
) -> RowDifference:
    """A row less the row that it is compared with, over the pairs that both judged."""
    row_codes, against_codes = read[row.key].verdicts, read[against.key].verdicts
    both: list[int] = np.flatnonzero((row_codes > 0) & (against_codes > 0)).tolist()
    codes = [verdict_codes(pairs[place].human for place in both), row_codes[both], against_codes[both]]
    counts = _two_verdicts(*codes)
    labelled = sum(count for (human, _, _), count in counts.items() if human is not None)
    figures = ("accuracy", "macro_f1", "kappa")
    if not labelled:
        nothing = dict.fromkeys((*figures, *(f"{name}_ci" for name in figures), "p", "p_over", "p_holm"))
        reasons = dict.fromkeys(nothing, "no pair with both verdicts has a human label")
        return RowDifference(against.key, labelled, len(pairs), **nothing, reasons=reasons)
    questions = question_numbers(pairs[place] for place in both)
    compared = compare(counts, by_question=question_counts(questions, *codes))
    reasons = {}
    accuracy, macro_f1, kappa = (compared.differences[name] for name in figures)
    for name, difference in compared.differences.items():
        if difference.reason:
            reasons[f"{name}_ci"] = difference.reason
        if difference.difference is None:
            reasons[name] = difference.reason
    repeated = accuracy.questions != labelled
    p = compared.questions_p if repeated else compared.test.p
    if p is None and "accuracy_ci" in reasons:
        reasons["p"] = reasons["accuracy_ci"]
    elif p is None:
        # No question has one of the two ahead.
        p = 1.0
    return RowDifference(
        against=against.key,
        n_used=labelled,
        n_total=len(pairs),
        accuracy=accuracy.difference,
        accuracy_ci=accuracy.interval,
        macro_f1=macro_f1.difference,
        macro_f1_ci=macro_f1.interval,
        kappa=kappa.difference,
        kappa_ci=kappa.interval,
        p=p,
        p_over="questions" if repeated else "pairs",
        p_holm=None,
        reasons=reasons,
    )


def _price_of(store: Store, runs: Sequence[RunInfo]) -> tuple[float | None, str]:
    """What the calls of a network cost, or why that is not known."""
    if not runs:
        return None, "the network has not run"
    sums = different_calls(store, runs)
    return (None, f"the price of {plural(sums.unpriced, 'call')} is unknown") if sums.unpriced else (sums.price, "")


def _saving(
    experiment: Experiment,
    read: Mapping[str, _Read],
    pairs: Sequence[Pair],
    target: float | None,
    labour: Labour,
    prices: Mapping[str, tuple[float | None, str]],
) -> SetSaving:
    """What people must still review, and the time and money that takes, row by row."""
    panel = panel_agreement(dict(pair.annotators) for pair in pairs).h
    if target is not None:
        source, goal = "given", target
    elif panel.value is not None:
        source, goal = "measured", panel.value
    else:
        source, goal = "paper", PAPER_AGREEMENT
    human, questions = verdict_codes(pair.human for pair in pairs), question_numbers(pairs)
    rows = []
    for row in experiment.rows:
        read_row = read[row.key]
        need = review_need(human, read_row.verdicts, read_row.uncertainty, goal, groups=questions)
        work = _work(need, len(pairs), labour, prices[row.arm], read_row.judged)
        rows.append(_saving_row(row.key, need, goal, len(pairs), work))
    unstated = {name: "not stated" for name in ("seconds", "wage") if getattr(labour, name) is None}
    return SetSaving(
        target=goal,
        target_from=source,
        target_n=panel.n if source == "measured" else None,
        measured_agreement=panel.value,
        labour=StatedLabour(labour.seconds, labour.wage, labour.annotators, unstated),
        rows=tuple(rows),
        reasons={
            **({} if source == "measured" else {"target_n": "the target was not measured on these pairs"}),
            **({"measured_agreement": panel.reason} if panel.reason else {}),
        },
    )


def _saving_row(key: str, need: ReviewNeed, goal: float, pairs: int, work: RowWork) -> SavingRow:
    as_people = None if need.accuracy is None else review_share(need.accuracy, goal, goal)
    return SavingRow(
        row=key,
        accuracy=need.accuracy,
        relative=None if need.random is None else need.random.relative,
        review=None if need.random is None else need.random.review,
        review_ends=None if need.random_ends is None else tuple(end.review for end in need.random_ends),
        saved=None if need.random is None else need.random.saved,
        review_if_reviewers_err=None if as_people is None else as_people.review,
        uncertain_first=need.measured,
        uncertain_first_ci=need.interval,
        n_used=need.n,
        n_total=pairs,
        seed=need.seed,
        work=work,
        reasons=_saving_reasons(need),
    )


def _work(need: ReviewNeed, pairs: int, labour: Labour, price: tuple[float | None, str], judged: int) -> RowWork:
    """People's time and money for all pairs, at the review share and at both ends of its interval."""
    paid, why = price
    if paid is not None:
        # What the pairs that were judged cost, for all of them.
        paid, why = (paid * pairs / judged, "") if judged else (None, "no pair was judged")
    no_share = need.reasons.get("accuracy") or need.reasons.get("random", "")
    share = None if need.random is None else need.random.review
    saving = work(share, pairs, labour, paid, reason=no_share, price_reason=why)
    ends = None
    if need.random_ends is not None:
        ends = [work(end.review, pairs, labour, paid, reason=no_share, price_reason=why) for end in need.random_ends]
    values = {field.name: getattr(saving, field.name) for field in fields(saving) if field.name != "reasons"}
    reasons = dict(saving.reasons)
    for name in ("faster", "cost_saved"):
        at_ends = None if ends is None else [getattr(end, name) for end in ends]
        values[f"{name}_ends"] = None if at_ends is None or None in at_ends else tuple(at_ends)
        if values[f"{name}_ends"] is None:
            reasons[f"{name}_ends"] = (
                reasons.get(name) or need.reasons.get("random_ends", "") or "nothing must be reviewed at one end"
            )
    return RowWork(**values, reasons=reasons)


def _saving_reasons(need: ReviewNeed) -> dict[str, str]:
    """Why figures of a row are missing, by their names here."""
    why_missing = need.reasons
    why = why_missing.get("accuracy") or why_missing.get("random", "")
    names = ("relative", "review", "review_ends", "saved", "review_if_reviewers_err")
    reasons = {"accuracy": why_missing.get("accuracy", ""), **dict.fromkeys(names, why)}
    reasons["review_ends"] = why or why_missing.get("random_ends", "")
    reasons |= {
        "uncertain_first": why_missing.get("measured", ""),
        "uncertain_first_ci": why_missing.get("measured_ci", ""),
    }
    return {name: reason for name, reason in reasons.items() if reason}


def _words(store: Store, runs: Sequence[RunInfo]) -> tuple[TaskWords, ...]:
    """The roles that the model named, by task, the largest first. Roles that stood in for missing ones do not count."""
    tasks: dict[str | None, tuple[list[int], Counter[str]]] = {}
    for run in runs:
        for recorded_pair in run_pairs(store, run):
            total, names = tasks.setdefault(recorded_pair.pair.task, ([0, 0], Counter()))
            total[1] += 1
            if recorded_pair.roles and not recorded_pair.note:
                total[0] += 1
                names.update({role.name for role in recorded_pair.roles})
    return tuple(
        TaskWords(task or "", total[0], total[1], len(names), tuple(names.most_common()))
        for task, (total, names) in sorted(tasks.items(), key=lambda item: (-item[1][0][1], item[0] or ""))
    )


# What was paid, and with what


def _role_counts(store: Store, run: RunInfo, spec: NetworkSpec) -> tuple[int, int, int]:
    """The number of pairs for which roles were generated; of these, pairs with fewer roles than neurons, and pairs with
    none, where roles of the library stood in."""
    if not needs_roles(spec):
        return 0, 0, 0
    notes = [recorded_pair.note for recorded_pair in run_pairs(store, run) if recorded_pair.roles is not None]
    none = sum("stand in" in note for note in notes)
    return len(notes), sum(bool(note) for note in notes) - none, none


def _calls(store: Store, runs: Sequence[RunInfo], this_time: int) -> SetCalls:
    """Calls over all runs: ``all`` that the networks rest on, ``different`` once those that several share count once.
    Tokens and price are those of the different ones, whenever they were asked."""
    unscored: Counter[str] = Counter()
    for run in runs:
        unscored.update(spent(store, run).unscored)
    sums = different_calls(store, runs)
    return SetCalls(
        all=sums.calls,
        different=sums.different,
        shared=sums.calls - sums.different,
        asked_this_time=this_time,
        unscored=dict(unscored),
        tokens_in=sums.tokens_in,
        tokens_out=sums.tokens_out,
        price=None if sums.unpriced else sums.price,
        stand_ins=_stand_ins(store, runs),
        reasons={"price": f"the price of {plural(sums.unpriced, 'call')} is unknown"} if sums.unpriced else {},
    )


def _stand_ins(store: Store, runs: Sequence[RunInfo]) -> SetStandIns | None:
    """The calls that stand-ins answered; ``None`` where they answered none."""
    by_model: Counter[str] = Counter()
    answered = 0
    for run in runs:
        stood_in, calls = stood_in_counts(store, run, network_of(run))
        answered += calls
        for stand_in in stood_in:
            by_model[f"{stand_in.endpoint}/{stand_in.model}"] += stand_in.calls
    return SetStandIns(by_model.total(), answered, dict(by_model)) if by_model else None


def _record(store: Store, runs: Sequence[RunInfo], source: Mapping[str, Any], seed: int) -> SetRecord:
    models = sorted(
        {(use.endpoint, use.requested, use.returned or "") for run in runs for use in models_used(store, run)}
    )
    parameters: dict[tuple[str, str, float, int, str], list[ParameterUse]] = {}
    for run in runs:
        for use in parameters_used(store, run):
            temperature = use.temperature if use.temperature is not None else -1.0
            parameters.setdefault((use.model, use.form, temperature, use.max_tokens, use.more), []).append(use)
    return SetRecord(
        judgenet=__version__,
        models=tuple(RecordedModel(endpoint, asked, name) for endpoint, asked, name in models),
        parameters=tuple(
            RecordedParameters(
                model=model,
                form=form,
                temperature="default" if temperature < 0 else temperature,
                max_tokens=most,
                answers=sum(use.calls for use in uses),
                temperature_not_applied=sum(use.calls for use in uses if use.otherwise("temperature")),
                more=more or None,
                reasoning_otherwise=sum(use.calls for use in uses if use.otherwise("reasoning")) if more else None,
            )
            for (model, form, temperature, most, more), uses in sorted(parameters.items())
        ),
        prompts=tuple(sorted({str(run.record.get("prompts", "")) for run in runs})),
        seed=seed,
        source=RecordedSource(
            files=tuple(source.get("files", ())),
            format=str(source.get("format", "")),
            **{name: source.get(name) for name in ("systems", "questions", "responses", "matches", "possible_matches")},
        ),
    )


# All sets of an experiment


def with_set(results: ExperimentFigures | None, key: str, of_set: ExperimentSet) -> ExperimentFigures:
    """The figures of an experiment with those of a set of pairs in place of its earlier ones, or after the
    others."""
    sets = [] if results is None or results.experiment != key else list(results.sets)
    places = [place for place, earlier in enumerate(sets) if earlier.set == of_set.set]
    if places:
        sets[places[0]] = of_set
    else:
        sets.append(of_set)
    return ExperimentFigures(__version__, RESULTS_VERSION, key, EXPERIMENTS[key].title, None, tuple(sets))


def kind_of(results: ExperimentFigures) -> str:
    """The kind of the experiment, as its kept results show it."""
    first = results.sets[0]
    if first.saving is not None:
        return "saving"
    if first.words is not None:
        return "clouds"
    groups = {row.group for row in first.rows}
    if groups == {""}:
        return "table"
    return "budget" if "FairEval" in groups else "sweep"


def row_of(of_set: ExperimentSet, key: str) -> SetRow:
    """A row by its key."""
    return next(row for row in of_set.rows if row.row == key)


def group_name(group: str, rule: str) -> str:
    """A curve's name: the judges and their aggregation; FairEval has but one."""
    return group if group == "FairEval" else f"{group}, {aggregation_title(rule)}"
