"""From a run in the store to a :class:`~judgenet.report.model.Report`."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from judgenet.core.aggregate import aggregation_names, deciding
from judgenet.core.calls import CallSite
from judgenet.core.labels import Chosen
from judgenet.core.network import Aggregation, NetworkSpec, chair_settings, needs_roles, neuron_settings
from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.engine.negotiation import IN_WORDS
from judgenet.report.closest import Closest
from judgenet.report.collect import Cells, Counts, Observe, Progress, Two, collect, two_verdicts
from judgenet.report.learned import learned_notes
from judgenet.report.model import (
    About,
    Data,
    Endpoint,
    Figures,
    LayerChange,
    LayerFigures,
    LeftOut,
    Majority,
    NeuronFigures,
    PromptSample,
    RateFigures,
    Report,
    RoleFigures,
    RoleWords,
    TaskFigures,
    Unscored,
    excerpt,
)
from judgenet.report.questions import Questions, always
from judgenet.stats.agreement import LabelSet, agreement_of, position_of
from judgenet.stats.calibration import SCORES, rates
from judgenet.stats.clustered import rates_over_questions
from judgenet.stats.discussion import overturns_of
from judgenet.stats.intervals import FEW_PAIRS, RESAMPLES, agreement_intervals, agreements_intervals, shown_rate
from judgenet.stats.length import length_adjusted
from judgenet.stats.provenance import LabelTally
from judgenet.stats.resampling import FEWEST_QUESTIONS
from judgenet.store.db import Store
from judgenet.store.recorded import describe
from judgenet.store.results import network_of, within_name
from judgenet.store.runs import RunInfo, Spent, full_calls, spent
from judgenet.store.usage import models_used, parameters_used, unread_inputs

PROMPT_CHARS = 6000
WORDS_EACH = 60
"""Names of roles kept for a task: more cannot be read in a cloud."""

_NO_RESAMPLES = 0


def build(
    store: Store,
    run: RunInfo,
    *,
    rules: Aggregation | None = None,
    decides: str | None = None,
    labels: LabelSet = "occurring",
    chosen: Chosen | None = None,
    each: int = 3,
    seed: int = 0,
    resamples: int = RESAMPLES,
    on_progress: Progress | None = None,
    observe: Observe | None = None,
) -> Report:
    """A run in one value. The run is read once; memory does not grow with the number of pairs.

    ``rules`` are other aggregation rules than the run's own, ``decides`` another aggregation than the network's as
    its verdict. ``chosen`` says how the labelled pairs were chosen. ``each`` pairs of each kind are read closely.
    ``seed`` and ``resamples`` are those of the bootstrap. What ``on_progress`` raises ends the building. ``observe``
    hears of each pair, for figures of one's own.

    :raises ValueError: ``decides`` is no aggregation of this network.
    """
    spec = network_of(run)
    recorded = spec.aggregation
    if rules is not None:
        spec = replace(spec, aggregation=rules)
    names = aggregation_names(spec)
    decides = decides or deciding(spec)
    if decides not in names:
        raise ValueError(f"{decides}: this network has no such aggregation. It has: {', '.join(names)}.")
    closest = Closest(decides, spec.depth, each)
    counts = collect(store, run, spec, decides, closest, rules, on_progress, observe)
    sums = spent(store, run)
    questions = Questions(counts.questions)

    def figures(table: Two, cells: Cells | bytearray, places: Sequence[int] | None = None, draws: int = -1) -> Figures:
        """``cells`` are the verdicts that ``table`` counts; of those of all pairs the ones at ``places``."""
        found = agreement_of(table, labels)
        by_question = questions.table(cells, places)
        if by_question is not None:
            return Figures(found, agreements_intervals([found], [by_question], resamples=resamples, seed=seed)[0])
        return Figures(found, agreement_intervals(found, resamples=resamples if draws < 0 else draws, seed=seed))

    def baseline(table: Two, cells: bytearray, places: Sequence[int] | None = None) -> Majority | None:
        label = _commonest(table)
        if label is None:
            return None
        constant: Two = Counter()
        for (human, judged), count in table.items():
            answer: Verdict | None = None if judged is None else label
            constant[human, answer] += count
        return Majority(label, figures(constant, always(cells, label), places))

    aggregations = {name: figures(counts.against[name], counts.cells[name]) for name in names}
    about = _about(store, run, sums)
    words = _words(counts) if needs_roles(spec) else ()
    return Report(
        about=about,
        spec=spec,
        recorded=recorded,
        data=_data(run, counts, questions),
        decides=decides,
        bootstrap_seed=seed,
        resamples=resamples,
        verdicts=shown_rate(counts.verdicts["a"], counts.verdicts["b"], counts.verdicts["tie"]),
        human=shown_rate(counts.human["a"], counts.human["b"], counts.human["tie"]),
        rates=_rates(counts, questions, decides, within_name(run, decides), chosen, resamples, seed),
        aggregations=aggregations,
        baseline=baseline(counts.against[decides], counts.cells[decides]),
        tasks=tuple(
            TaskFigures(
                task,
                of.pairs,
                {name: figures(table, counts.cells[name], of.places) for name, table in of.against.items()},
                baseline(of.against[decides], counts.cells[decides], of.places),
            )
            for task, of in sorted(counts.tasks.items(), key=lambda item: (-item[1].pairs, item[0] or ""))
        ),
        layers=tuple(
            LayerFigures(layer, aggregations[f"c2_l{layer}"], position_of(of.orders), of.scored, of.total)
            for layer, of in counts.layers.items()
        ),
        neurons=tuple(
            NeuronFigures(
                layer=layer,
                neuron=neuron,
                role=next(iter(of.roles)) if len(of.roles) == 1 else None,
                roles=len(of.roles),
                model=_model_of(spec, layer, neuron),
                figures=figures(of.against, of.cells, draws=_NO_RESAMPLES),
                position=position_of(of.orders),
                changed=overturns_of(of.changes) if of.changes else None,
                calls_scored=of.scored,
                calls_total=of.total,
            )
            for (layer, neuron), of in sorted(counts.neurons.items())
        ),
        roles=tuple(
            RoleFigures(of.name, of.pairs, figures(of.against, of.cells, draws=_NO_RESAMPLES))
            for _, of in sorted(counts.roles.items(), key=lambda item: (-item[1].pairs, item[0]))
        ),
        position=questions.orders(counts.order_cells),
        changes=tuple(
            LayerChange(layer - 1, layer, overturns_of(table)) for layer, table in counts.layer_changes.items()
        ),
        calls_used=counts.calls_used,
        calls_total=counts.calls_total,
        unscored=tuple(Unscored(reason, calls) for reason, calls in sums.unscored.items()),
        left_out=_left_out(store, run, counts, sums, aggregations[decides]),
        cautions=_cautions(spec, about, counts, questions, aggregations[decides]),
        words=words,
        studies=closest.studies(store, run),
        disagreements=dict(closest.counts),
        prompts=_prompts(store, run, spec),
    )


def _commonest(table: Two) -> Verdict | None:
    """The commonest human label among the pairs that have a verdict too; of equal ones the first of a, b, tie."""
    rows = dict.fromkeys(VERDICTS, 0)
    for (human, judged), count in table.items():
        if human is not None and judged is not None:
            rows[human] += count
    if not any(rows.values()):
        return None
    commonest: Verdict = max(rows, key=lambda verdict: rows[verdict])
    return commonest


def _rates(
    counts: Counts,
    questions: Questions,
    decides: str,
    within: str,
    chosen: Chosen | None,
    resamples: int,
    seed: int,
) -> RateFigures:
    """``within`` names the verdicts within which labels may have been drawn."""
    cells = counts.cells[decides]
    kinds = tuple(counts.people_numbers)
    tally = LabelTally(within)
    of_kinds = Counter(zip(cells, counts.people, strict=True))
    for (code, kind), count in of_kinds.items():
        human, verdict = two_verdicts(code)
        tally.add(verdict, human, kinds[kind], count=count)
    sample = tally.sample(chosen)
    if questions.repeated and counts.finished and resamples:
        # A label that is not used leaves its pair among the others.
        used = {(code, kind): code if tally.counts(kinds[kind], sample) else code & 3 for code, kind in of_kinds}
        counted = bytearray(used[pair] for pair in zip(cells, counts.people, strict=True))
        found = rates_over_questions(questions.by_verdict(counted), sample.chosen, resamples=resamples, seed=seed)
    else:
        found = rates(sample.labelled, sample.others, sample.chosen)
    scores, lengths, asked = array("d"), array("q"), array("q")
    for code, length, question in zip(cells, counts.lengths, questions.numbers, strict=True):
        verdict = two_verdicts(code)[1]
        if verdict is not None:
            scores.append(SCORES[verdict])
            lengths.append(length)
            asked.append(int(question))
    return RateFigures(
        estimates=found.estimates,
        strata=found.stratified.strata,
        these_pairs=found.stratified.these_pairs,
        decided=found.decided,
        worth=found.worth,
        length_adjusted=length_adjusted(scores, lengths, asked if questions.repeated else None),
        chosen=found.chosen,
        assumed=chosen is None and found.chosen == "imported",
        labelled=sample.labelled.total(),
        judged=sample.labelled.total() + sample.others.total(),
        why=sample.why,
        left_out=sample.left_out,
    )


def _model_of(spec: NetworkSpec, layer: int, neuron: int) -> str:
    if layer > spec.depth:
        return chair_settings(spec).model or ""
    return neuron_settings(spec, layer - 1, neuron - 1).model or ""


def _about(store: Store, run: RunInfo, sums: Spent) -> About:
    record = run.record
    models = tuple(models_used(store, run))
    source_endpoints: Mapping[str, Mapping[str, Any]] = record.get("endpoints", {})
    return About(
        run_id=run.id,
        number=run.number,
        state=run.state,
        message=run.message,
        created_at=run.created_at,
        finished_at=run.finished_at,
        starts=tuple(start["at"] for start in record.get("starts", ())),
        prompts_digest=record.get("prompts") or "",
        seed=record.get("seed"),
        versions=dict(record.get("versions", {})),
        endpoints=tuple(
            Endpoint(name, str(of.get("kind", "")), _host(of.get("base_url")))
            for name, of in sorted(source_endpoints.items())
        ),
        models=models,
        parameters=tuple(parameters_used(store, run)),
        refused=_refused(record.get("learned", {})),
        spent=sums,
        latency_s=sum(use.latency_s for use in models),
        recorded=describe(record["recorded"]) if "recorded" in record else "",
        name=run.name,
        note=run.note,
    )


def _host(base_url: str | None) -> str | None:
    """Host and port alone: a path or a user name may be a secret."""
    if not base_url:
        return None
    parts = urlsplit(base_url)
    if parts.hostname is None:
        return None
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname


def _refused(learned: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> tuple[str, ...]:
    return tuple(
        f"{endpoint}, {model}: {IN_WORDS[name, value]}"
        for endpoint, models in sorted(learned.items())
        for model, lessons in sorted(models.items())
        for name, value in sorted(lessons.items(), key=lambda item: item[0])
        if (name, value) in IN_WORDS
    )


def _data(run: RunInfo, counts: Counts, questions: Questions) -> Data:
    source = run.record.get("source", {})
    sides = [{system for system, number in counts.systems.items() if number in of} for of in map(set, counts.played)]
    only = tuple(next(iter(side)) if len(side) == 1 else None for side in sides)
    one_pair_of_systems = None not in only and only[0] != only[1]
    return Data(
        hash=str(run.record.get("data_hash", "")),
        pairs=counts.pairs,
        finished=counts.finished,
        labelled=counts.labelled,
        questions=questions.count,
        files=tuple((str(name), str(digest)) for name, digest in source.get("files", ())),
        format=str(source.get("format", "")),
        system_a=only[0] if one_pair_of_systems else None,
        system_b=only[1] if one_pair_of_systems else None,
        annotated=counts.annotated,
        annotators=len(counts.annotators),
        systems=tuple(sorted(system for system in counts.systems if system)),
    )


def _words(counts: Counts) -> tuple[RoleWords, ...]:
    return tuple(
        RoleWords(task, of.pairs, tuple(of.role_names.most_common(WORDS_EACH)), len(of.role_names))
        for task, of in sorted(counts.tasks.items(), key=lambda item: (-item[1].pairs, item[0] or ""))
        if of.role_names
    )


def _left_out(store: Store, run: RunInfo, counts: Counts, sums: Spent, headline: Figures) -> tuple[LeftOut, ...]:
    found = headline.agreement
    no_verdict = counts.finished - sum(counts.verdicts[verdict] for verdict in VERDICTS)
    rows = (
        LeftOut("not judged", counts.pairs - counts.finished, counts.pairs, run.message),
        LeftOut("calls missing", counts.failed, counts.finished),
        LeftOut("no verdict", no_verdict, counts.finished),
        LeftOut("no label", found.n_unlabelled, counts.pairs),
        LeftOut("label without verdict", found.n_unjudged, counts.labelled),
        LeftOut("unscored", sum(sums.unscored.values()), sums.calls),
        LeftOut("unread inputs", unread_inputs(store, run), sums.calls),
    )
    return tuple(replace(row, first=tuple(counts.first.get(row.what, ()))) for row in rows if row.count)


def _cautions(
    spec: NetworkSpec, about: About, counts: Counts, questions: Questions, headline: Figures
) -> tuple[str, ...]:
    told = []
    n = headline.agreement.n_used
    if 0 < n < FEW_PAIRS:
        told.append(
            f"Only {n:,} {'pair has' if n == 1 else 'pairs have'} both a human label and a verdict: "
            f"below {FEW_PAIRS} the intervals say little."
        )
    notes = [*counts.sources.notes, *learned_notes(spec, counts.taught, counts.labelled)]
    told.extend(f"{note[0].upper()}{note[1:].rstrip('.')}." for note in notes)
    if questions.repeated:
        told.append(
            f"{counts.pairs:,} pairs ask {questions.count:,} different questions: intervals are over questions, "
            f"which count as n, and {FEWEST_QUESTIONS} of which are needed. Sign tests of verdicts are over pairs, as "
            "if these had nothing to do with each other: their p is rather too small."
        )
    if spec.orders != "both":
        order = "one drawn by the seed" if spec.orders == "random" else f"{spec.orders.upper()} only"
        told.append(
            f"Responses were shown in one order ({order}): how much the verdicts depend on the order is unknown."
        )
    answered: dict[tuple[str, str], set[tuple[str | None, str | None]]] = {}
    for use in about.models:
        answered.setdefault((use.endpoint, use.requested), set()).add((use.returned, use.fingerprint))
    for (endpoint, model), versions in answered.items():
        if len(versions) > 1:
            told.append(
                f"{endpoint} answered for {model} with {len(versions)} different models or versions: "
                "the answers are not all of one judge."
            )
    for note, count in counts.notes.most_common(3):
        told.append(f"Roles on {count:,} of {counts.pairs:,} pairs: {note}.")
    if len(counts.notes) > 3:
        told.append(f"Roles differ from the design in {len(counts.notes) - 3} more ways.")
    return tuple(told)


def _prompts(store: Store, run: RunInfo, spec: NetworkSpec) -> tuple[PromptSample, ...]:
    """What was sent for the first pair that has answers: roles, the first neuron of each layer, the chair."""
    row = store.reader.execute(
        "SELECT min(pair) FROM run_calls WHERE run=? AND call_id IS NOT NULL", (run.number,)
    ).fetchone()
    if row[0] is None:
        return ()
    first: dict[int, CallSite] = {}
    for layer, neuron, order in store.reader.execute(
        "SELECT layer, neuron, ord FROM run_calls WHERE run=? AND pair=? AND call_id IS NOT NULL AND sample=1 "
        "ORDER BY layer, neuron, ord",
        (run.number, row[0]),
    ):
        first.setdefault(layer, CallSite(row[0], layer, neuron, order or None, 1))
    samples = []
    for layer, site in first.items():
        for call in full_calls(store, run, site):
            if call.messages:
                said = dict(call.messages)
                samples.append(
                    PromptSample(
                        call.pair_id,
                        layer,
                        site.neuron,
                        site.order,
                        excerpt(said.get("system", ""), PROMPT_CHARS),
                        excerpt(said.get("user", ""), PROMPT_CHARS),
                    )
                )
    return tuple(samples)
