"""From a run in the store to a :class:`~judgenet.report.model.Report`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.aggregate import deciding
from judgenet.core.calls import CallSite
from judgenet.core.labels import Chosen
from judgenet.core.network import Aggregation, NetworkSpec, chair_settings, needs_roles, neuron_settings
from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.engine.negotiation import lesson_words
from judgenet.figures.acceptance import acceptance_figures
from judgenet.figures.answered import StandInFigures, quorum_figures, stand_in_figures
from judgenet.figures.anytime import chosen_pairs_notes, run_anytime, until_figures
from judgenet.figures.cascade import cascade_figures
from judgenet.figures.criteria import counted_criteria
from judgenet.figures.guarantee import ALPHA, DELTA, RunGuarantee, run_guarantee
from judgenet.figures.learned import run_learned_notes
from judgenet.figures.probabilities import probability_figures, probability_notes
from judgenet.figures.rates import corrected_rates
from judgenet.figures.trust import agreements
from judgenet.report.exemplars import exemplars, pair_studies
from judgenet.report.model import (
    FIRST_IDS,
    About,
    Data,
    EndpointFacts,
    LayerChange,
    LayerFigures,
    Left,
    LeftOutCount,
    Majority,
    NeuronFigures,
    PromptSample,
    Report,
    ReportedAgreement,
    RoleFigures,
    RoleWords,
    TaskFigures,
    UnscoredCount,
    excerpt,
)
from judgenet.report.selection import OfLeftOut, selected
from judgenet.stats.agreement import LabelSet, position_of, position_of_codes
from judgenet.stats.curves import Codes, pair_counts
from judgenet.stats.discussion import overturns_by_question
from judgenet.stats.intervals import (
    FEW_PAIRS,
    RESAMPLES,
    WinRate,
    shown_rate,
)
from judgenet.stats.resampling import FEWEST_QUESTIONS
from judgenet.store.columns import PAIR_PHASES, VERDICT_CODES
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.quorum import without_quorum
from judgenet.store.recorded import describe
from judgenet.store.runs import RunInfo, Spent, full_calls, pair_roles, spent
from judgenet.store.shards import ShardsInRun
from judgenet.store.usage import models_used, parameters_used, unread_inputs

PROMPT_CHARS = 6000
WORDS_EACH = 60
"""Names of roles kept for a task: more cannot be read in a cloud."""

_NO_RESAMPLES = 0


def build(
    store: Store,
    frame: RunFrame,
    *,
    recorded: Aggregation | None = None,
    decides: str | None = None,
    labels: LabelSet = "occurring",
    chosen: Chosen | None = None,
    each: int = 3,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Report:
    """The report of a run, from its frame (:func:`judgenet.store.taught.fair_frame`).

    ``recorded`` are the run's own rules of aggregation where the frame has others. ``decides`` is the aggregation that
    counts as the network's verdict, where it is not the network's own. ``chosen`` says how the labelled pairs were
    chosen. ``each`` is the number of example pairs of each kind. ``seed`` and ``resamples`` are those of the bootstrap.

    :raises ValueError: ``decides`` is no aggregation of this network.
    """
    spec, run = frame.spec, frame.run
    decides = decides or deciding(spec)
    if decides not in frame.aggregations:
        raise ValueError(f"{decides}: this network has no such aggregation. It has: {', '.join(frame.aggregations)}.")
    sums = spent(store, run)
    stood_in = stand_in_figures(store, frame)
    figures = _FiguresOf(frame, labels, resamples, seed)
    verdicts = frame.aggregations[decides]
    aggregations = figures.of_all(frame.aggregations)
    about = _about(store, run, sums)
    examples = exemplars(frame, decides, each)
    return Report(
        about=about,
        spec=spec,
        recorded=recorded or spec.aggregation,
        data=_data(frame),
        decides=decides,
        bootstrap_seed=seed,
        resamples=resamples,
        verdicts=_shown_rate(verdicts),
        human=_shown_rate(frame.human),
        rates=corrected_rates(frame, decides, chosen, resamples=resamples, seed=seed),
        aggregations=aggregations,
        baseline=figures.baseline(verdicts),
        tasks=tuple(
            TaskFigures(
                task, len(places), figures.of_all(frame.aggregations, places), figures.baseline(verdicts, places)
            )
            for task, places in _by_task(frame)
        ),
        layers=tuple(_layer(frame, layer, aggregations) for layer in range(1, spec.depth + 1)),
        neurons=tuple(_neuron(frame, column, figures) for column in range(len(frame.voters))),
        roles=tuple(
            RoleFigures(role.name, len(role.pairs), figures.of(role.codes, role.pairs, draws=_NO_RESAMPLES, own=True))
            for _, role in sorted(frame.role_verdicts().items(), key=lambda item: (-len(item[1].pairs), item[0]))
        ),
        position=position_of_codes(frame.table.c1_ab, frame.table.c1_ba, frame.groups),
        changes=tuple(_change(frame, layer) for layer in range(2, spec.depth + 1)),
        calls_used=int(frame.table.used.sum()),
        calls_total=int(frame.table.total.sum()),
        unscored=tuple(UnscoredCount(reason, calls) for reason, calls in sums.unscored.items()),
        left_out=_left_out(store, frame, sums, decides, aggregations[decides]),
        cautions=_cautions(frame, about, aggregations[decides], stood_in),
        words=_words(store, frame) if needs_roles(spec) else (),
        studies=pair_studies(store, frame, decides, examples),
        disagreements=examples.counts,
        prompts=_prompts(store, run, spec),
        anytime=run_anytime(frame, None, chosen),
        until=until_figures(run),
        acceptance=acceptance_figures(frame),
        quorum=quorum_figures(frame),
        stand_ins=stood_in,
        guarantee=_guarantee(frame, decides, chosen),
        cascade=cascade_figures(store, frame),
        probabilities=probability_figures(frame, seed),
    )


def _change(frame: RunFrame, layer: int) -> LayerChange:
    """What the vote of a layer changes of that of the layer before."""
    before, after = (frame.aggregations[f"c2_l{number}"] for number in (layer - 1, layer))
    return LayerChange(layer - 1, layer, overturns_by_question(before, after, frame.human, frame.groups))


def _guarantee(frame: RunFrame, decides: str, chosen: Chosen | None) -> RunGuarantee | None:
    """What can be guaranteed with the labels of a run, without the ids of pairs; ``None`` without a label."""
    if not bool((frame.human > 0).any()):
        return None
    return replace(run_guarantee(frame, decides, "calls", ALPHA, DELTA, chosen=chosen), for_people=(), queue=())


class _FiguresOf:
    """Agreement of verdicts with the human labels, with intervals over questions where these repeat."""

    def __init__(self, frame: RunFrame, labels: LabelSet, resamples: int, seed: int) -> None:
        self._frame = frame
        self._labels = labels
        self._resamples = resamples
        self._seed = seed

    def of_all(
        self, said: Mapping[str, Codes], places: NDArray[np.int64] | None = None
    ) -> dict[str, ReportedAgreement]:
        """The figures of verdicts by name on the pairs at ``places`` (``None``: all)."""
        human, questions = self._frame.human, self._frame.questions
        if places is not None:
            human, questions = human[places], np.unique(questions[places], return_inverse=True)[1]
            said = {name: codes[places] for name, codes in said.items()}
        agreement = agreements(questions, human, said, labels=self._labels, resamples=self._resamples, seed=self._seed)
        return {name: ReportedAgreement(*figures) for name, figures in agreement.items()}

    def of(
        self, codes: Codes, places: NDArray[np.int64] | None = None, *, draws: int | None = None, own: bool = False
    ) -> ReportedAgreement:
        """The figures of verdicts on the pairs at ``places`` (``None``: all). ``codes`` are of all pairs, or with
        ``own`` of these alone. ``draws`` is the number of resamples where questions do not repeat."""
        human = self._frame.human if places is None else self._frame.human[places]
        said = codes if places is None or own else codes[places]
        repeated = self._frame.groups is not None
        resamples = self._resamples if draws is None or repeated else draws
        asked = self._frame.questions if places is None else self._frame.questions[places]
        questions = np.unique(asked, return_inverse=True)[1]
        agreement = agreements(questions, human, {"": said}, labels=self._labels, resamples=resamples, seed=self._seed)
        return ReportedAgreement(*agreement[""])

    def baseline(self, codes: Codes, places: NDArray[np.int64] | None = None) -> Majority | None:
        """The figures of the most common human label as a constant answer wherever there is a verdict."""
        human = self._frame.human if places is None else self._frame.human[places]
        judged = codes if places is None else codes[places]
        label = _most_common(human[judged > 0])
        if label is None:
            return None
        constant = np.where(codes > 0, np.uint8(VERDICT_CODES[label]), np.uint8(0))
        return Majority(label, self.of(constant, places))


def _most_common(human: Codes) -> Verdict | None:
    """The most common human label; of equally common ones the first of a, b, tie."""
    counts = np.bincount(human, minlength=4)
    if not counts[1:].any():
        return None
    label: Verdict = max(VERDICTS, key=lambda verdict: int(counts[VERDICT_CODES[verdict]]))
    return label


def _shown_rate(codes: Codes) -> WinRate:
    _, a, tie, b = (int(count) for count in np.bincount(codes, minlength=4))
    return shown_rate(a, b, tie)


def _by_task(frame: RunFrame) -> list[tuple[str | None, NDArray[np.int64]]]:
    """The tasks with the indexes of their pairs, the largest task first."""
    tasks = [(name, np.flatnonzero(frame.pairs.tasks == at)) for at, name in enumerate(frame.pairs.task_names)]
    return sorted(tasks, key=lambda item: (-len(item[1]), item[0] or ""))


def _layer(frame: RunFrame, layer: int, aggregations: Mapping[str, ReportedAgreement]) -> LayerFigures:
    mine, judged = frame.columns_of(layer), frame.judged
    ab, ba = frame.layer_orders(layer)
    return LayerFigures(
        layer,
        aggregations[f"c2_l{layer}"],
        position_of(pair_counts(ab[judged], ba[judged])),
        int(frame.table.calls[:, mine].sum()),
        int(frame.table.asked[:, mine].sum()),
    )


def _neuron(frame: RunFrame, column: int, figures: _FiguresOf) -> NeuronFigures:
    layer, neuron = frame.voters[column]
    table, spec = frame.table, frame.spec
    asked = table.asked[:, column] > 0
    places = np.flatnonzero(asked)
    roles = {frame.role_names.values[code] for code in np.unique(frame.roles((layer, neuron))[places])} - {None}
    changed = None
    if 1 < layer <= spec.depth and (layer - 1, neuron) in frame.voters:
        before = frame.voters.index((layer - 1, neuron))
        both = asked & (table.asked[:, before] > 0)
        if both.any():
            neurons, groups = table.neurons[both], None if frame.groups is None else frame.groups[both]
            changed = overturns_by_question(neurons[:, before], neurons[:, column], frame.human[both], groups)
    return NeuronFigures(
        layer=layer,
        neuron=neuron,
        role=next(iter(roles)) if len(roles) == 1 else None,
        roles=len(roles),
        model=_model_of(spec, layer, neuron),
        figures=figures.of(table.neurons[:, column], places, draws=_NO_RESAMPLES),
        position=position_of_codes(
            table.neurons_ab[places, column],
            table.neurons_ba[places, column],
            None if frame.groups is None else frame.groups[places],
        ),
        changed=changed,
        calls_scored=int(table.calls[:, column].sum()),
        calls_total=int(table.asked[:, column].sum()),
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
            EndpointFacts(name, str(profile.get("kind", "")), _host(profile.get("base_url")))
            for name, profile in sorted(source_endpoints.items())
        ),
        models=models,
        parameters=tuple(parameters_used(store, run)),
        refused=_refused(record.get("learned", {})),
        spent=sums,
        latency_s=sum(use.latency_s for use in models),
        recorded=describe(record["recorded"]) if "recorded" in record else "",
        name=run.name,
        note=run.note,
        shards=ShardsInRun.of_run(run),
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
        f"{endpoint}, {model}: {words}"
        for endpoint, models in sorted(learned.items())
        for model, lessons in sorted(models.items())
        for name, value in sorted(lessons.items(), key=lambda item: item[0])
        if (words := lesson_words(name, value))
    )


def _data(frame: RunFrame) -> Data:
    pairs, source = frame.pairs, frame.run.record.get("source", {})
    sides = [{pairs.system_names[code] for code in np.unique(pairs.systems[:, side])} for side in (0, 1)]
    only = tuple(next(iter(side)) if len(side) == 1 else None for side in sides)
    one_pair_of_systems = None not in only and only[0] != only[1]
    several = [panel for panel in frame.panel_counts if len(panel) > 1]
    return Data(
        hash=str(frame.run.record.get("data_hash", "")),
        pairs=len(frame),
        finished=int(frame.judged.sum()),
        labelled=int((frame.human > 0).sum()),
        questions=frame.question_count,
        files=tuple((str(name), str(digest)) for name, digest in source.get("files", ())),
        format=str(source.get("format", "")),
        system_a=only[0] if one_pair_of_systems else None,
        system_b=only[1] if one_pair_of_systems else None,
        annotated=sum(frame.panel_counts[panel] for panel in several),
        annotators=len({name for panel in several for name, _ in panel}),
        systems=tuple(sorted(system for system in pairs.system_names if system)),
        criteria=counted_criteria(frame).words,
        weighted=frame.weights(frame.places) is not None,
    )


def _words(store: Store, frame: RunFrame) -> tuple[RoleWords, ...]:
    """The names of generated roles by task; a name counts once a pair."""
    names: dict[int, Counter[str]] = {}
    for index, roles in pair_roles(store, frame.run):
        of_task = names.setdefault(int(frame.pairs.tasks[index]), Counter())
        of_task.update({" ".join(role.name.split()): 1 for role in roles})
    numbers = {name: at for at, name in enumerate(frame.pairs.task_names)}
    return tuple(
        RoleWords(task, len(places), tuple(counts.most_common(WORDS_EACH)), len(counts))
        for task, places in _by_task(frame)
        if (counts := names.get(numbers[task]))
    )


def _left_out(
    store: Store, frame: RunFrame, sums: Spent, decides: str, headline: ReportedAgreement
) -> tuple[LeftOutCount, ...]:
    agreement = headline.agreement
    judged, labelled = int(frame.judged.sum()), int((frame.human > 0).sum())
    verdicts = int((frame.aggregations[decides] > 0).sum())
    people = int(frame.for_people.sum()) if decides == ACCEPTED else 0
    people_labelled = int((frame.for_people & (frame.human > 0)).sum()) if decides == ACCEPTED else 0
    short = int(without_quorum(frame, decides).sum())
    failed = int((frame.judged & (frame.states == PAIR_PHASES.index("failed"))).sum())
    rows = (
        LeftOutCount("not judged", len(frame) - judged, len(frame), frame.run.message),
        LeftOutCount("calls missing", failed, judged),
        LeftOutCount("for people", people, judged),
        LeftOutCount("no quorum", short, judged),
        LeftOutCount("no verdict", judged - verdicts - people - short, judged),
        LeftOutCount("no label", agreement.n_unlabelled, len(frame)),
        LeftOutCount("label without verdict", agreement.n_unjudged - people_labelled, labelled),
        LeftOutCount("unscored", sum(sums.unscored.values()), sums.calls),
        LeftOutCount("unread inputs", unread_inputs(store, frame.run), sums.calls),
    )
    return tuple(replace(row, first=_first(frame, row.what, decides)) for row in rows if row.count)


def _first(frame: RunFrame, what: Left, decides: str) -> tuple[str, ...]:
    """The ids of the first pairs, or calls, that were left out for this reason."""
    if what == "unread inputs":
        return ()
    indexes = selected(frame, OfLeftOut(what, decides))[:FIRST_IDS]
    if what != "unscored":
        return tuple(frame.pairs.ids[index] for index in indexes)
    calls = (
        f"{frame.pairs.ids[index]} {site.layer}.{site.neuron} {site.order} {site.sample}"
        for index in indexes
        for site in frame.sites(index)
        if site.order is not None and frame.call(site).phase == "unscored"
    )
    return tuple(islice(calls, FIRST_IDS))


def _cautions(
    frame: RunFrame, about: About, headline: ReportedAgreement, stood_in: StandInFigures | None
) -> tuple[str, ...]:
    cautions = [] if stood_in is None else [stood_in.words]
    spec, n = frame.spec, headline.agreement.n_used
    if 0 < n < FEW_PAIRS:
        cautions.append(
            f"Only {n:,} {'pair has' if n == 1 else 'pairs have'} both a human label and a verdict: "
            f"below {FEW_PAIRS} the intervals say little."
        )
    notes = [*chosen_pairs_notes(frame), *frame.sources.notes, *run_learned_notes(frame), *probability_notes(frame)]
    cautions.extend(f"{note[0].upper()}{note[1:].rstrip('.')}." for note in notes)
    if frame.groups is not None:
        cautions.append(
            f"{len(frame):,} pairs ask {frame.question_count:,} different questions: intervals are over questions, "
            f"which count as n, and {FEWEST_QUESTIONS} of which are needed, and so are tests."
        )
    if spec.orders != "both":
        order = "one drawn by the seed" if spec.orders == "random" else f"{spec.orders.upper()} only"
        cautions.append(
            f"Responses were shown in one order ({order}): how much the verdicts depend on the order is unknown."
        )
    answered: dict[tuple[str, str], set[tuple[str | None, str | None]]] = {}
    for use in about.models:
        answered.setdefault((use.endpoint, use.requested), set()).add((use.returned, use.fingerprint))
    for (endpoint, model), versions in answered.items():
        if len(versions) > 1:
            cautions.append(
                f"{endpoint} answered for {model} with {len(versions)} different models or versions: "
                "the answers are not all of one judge."
            )
    noted = Counter(code for code in frame.pairs.notes.tolist() if frame.pairs.note_texts[code])
    for note, count in noted.most_common(3):
        cautions.append(f"Roles on {count:,} of {len(frame):,} pairs: {frame.pairs.note_texts[note]}.")
    if len(noted) > 3:
        cautions.append(f"Roles differ from the design in {len(noted) - 3} more ways.")
    return tuple(cautions)


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
