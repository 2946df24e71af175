"""A run, or a bias lab, as records for other programs: a dictionary a call, pair, role, label, response, preference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import Any, Final

from judgenet.core.acceptance import ACCEPTED, FOR_PEOPLE
from judgenet.core.aggregate import NO_QUORUM, aggregation_names, deciding
from judgenet.core.evaluation import Evaluation, Unscored
from judgenet.core.network import asks_probabilities
from judgenet.core.pairs import Verdict
from judgenet.formats.writing import pair_record
from judgenet.report.exported_pictures import (
    PictureFiles,
    comparator_text,
    holder_of,
    images_of,
    label_studio_pictures,
    markdown_text,
    message,
    picture_rows,
)
from judgenet.stats.lab import counted_pairs
from judgenet.store.acceptance import final_verdict, left_to_people, rule_confidence
from judgenet.store.columns import DONE_PHASE
from judgenet.store.db import Store
from judgenet.store.decided_early import stopped_after
from judgenet.store.frame import RunFrame
from judgenet.store.labels import history_records
from judgenet.store.labs import lab_result, labs
from judgenet.store.pictures import picture_bytes
from judgenet.store.quorum import lacks_quorum, quorum_words
from judgenet.store.results import network_of
from judgenet.store.run_bias import run_bias
from judgenet.store.runs import CallRow, FullCall, RunInfo, RunPair, call_rows, full_calls, run_info, run_pairs, runs
from judgenet.store.taught import fair_frame

Record = dict[str, Any]
Omitted = Counter[str]
"""The number of pairs that an export leaves out, by reason."""

HUMAN: Final = "human"
"""The source of verdicts that stands for the labels of people."""


def call_records(store: Store, run: RunInfo) -> Iterator[dict[str, Any]]:
    """One record a call. Layer 0 is role generation, which has neither neuron nor order."""
    probabilities = asks_probabilities(network_of(run))
    for call in full_calls(store, run):
        site, result = call.site, call.result
        scored = result if isinstance(result, Evaluation) else None
        yield {
            "pair_id": call.pair_id,
            "layer": site.layer,
            "neuron": site.neuron or None,
            "role": call.role,
            "order": site.order,
            "sample": site.sample,
            "endpoint": call.endpoint,
            "model": call.model,
            "returned_model": call.returned_model,
            "status": call.status,
            "reason": result.reason.value if isinstance(result, Unscored) else None,
            "detail": result.detail if isinstance(result, Unscored) else None,
            "verdict": None if scored is None else scored.verdict,
            "score_a": None if scored is None else scored.score_a,
            "score_b": None if scored is None else scored.score_b,
            "evidence": None if scored is None else scored.evidence,
            "missing": list(call.missing),
            "messages": [{"role": role, "content": text} for role, text in call.messages],
            "raw_text": call.raw_text,
            "earlier_answers": list(call.earlier),
            "thinking": call.thinking,
            "finish_reason": call.finish_reason,
            "form": call.form,
            "parameters": call.parameters and call.parameters.asked,
            "applied": call.parameters and call.parameters.applied,
            "usage": call.usage,
            "price": call.price,
            "latency_s": call.latency_s,
            "attempts": call.attempts,
            "cached": call.cached,
            "started_at": datetime.fromtimestamp(call.started_at, UTC).isoformat(),
            **(_likely_record(call) if probabilities else {}),
        }


def _likely_record(call: FullCall) -> Record:
    """The further columns of a call that was to be scored by token probabilities: the source of its scores, the scores
    of its sampled text, the probabilities of the verdicts, and those of the scores 1 to 10 for each response."""
    scored = call.result if isinstance(call.result, Evaluation) else None
    sampled = None if scored is None else scored.sampled
    shares = None if scored is None else scored.shares
    record: Record = {
        "scores_from": None if scored is None else scored.scores_from,
        "sampled_a": None if sampled is None else sampled[0],
        "sampled_b": None if sampled is None else sampled[1],
        "share_a": None if shares is None else shares.a,
        "share_tie": None if shares is None else shares.tie,
        "share_b": None if shares is None else shares.b,
        "probabilities_a": None,
        "probabilities_b": None,
    }
    if call.likely is not None:
        shown = (list(call.likely.first), list(call.likely.second))
        a, b = shown if call.site.order == "ab" else shown[::-1]
        record |= {"probabilities_a": a, "probabilities_b": b}
    return record


def verdict_records(store: Store, run: RunInfo) -> Iterator[dict[str, Any]]:
    """One record a pair, finished or not: a verdict that is not there yet is ``null``."""
    frame = RunFrame.read(store, run)
    pairs, table, judged = frame.pairs, frame.table, frame.judged.tolist()
    means = [[None if score != score else score for score in scores.tolist()] for scores in frame.mean_scores()]
    neurons = len(frame.places)
    used = table.calls[:, :neurons].sum(axis=(1, 2, 3)).tolist()
    total = table.asked[:, :neurons].sum(axis=1).tolist()
    rule = frame.spec.aggregation.acceptance
    stopped = None if frame.early is None else stopped_after(frame.early)
    short = None if frame.spec.aggregation.quorum is None else quorum_words(frame)
    people, sure = frame.for_people.tolist(), rule_confidence(frame).tolist()
    for index, pair_id in enumerate(pairs.ids):
        done = judged[index]
        record: dict[str, Any] = {"pair_id": pair_id, "human": frame.human_label(index)}
        record.update({name: frame.verdict(name, index) for name in frame.aggregations})
        if rule is not None:
            # An abstention is no missing verdict: it says so.
            record["decision"] = FOR_PEOPLE if people[index] else ACCEPTED if record[ACCEPTED] else None
            record["final"], record["final_by"] = final_verdict(frame, index)
            record["confidence"] = None if sure[index] != sure[index] else round(sure[index], 9)
        record.setdefault("chair", None)
        if stopped is not None:
            record["stopped_after"] = stopped[index]
        if short is not None:
            record["no_quorum"] = short[index]
        record.update(
            mean_a=means[0][index],
            mean_b=means[1][index],
            votes_a=_votes(table.cast[index, 0]) if done else None,
            votes_b=_votes(table.cast[index, 1]) if done else None,
            votes_tie=_votes(table.cast[index, 2]) if done else None,
            calls_used=used[index] if done else 0,
            calls_total=total[index] if done else int(pairs.expected[index]) or None,
            state="open" if frame.states[index] < DONE_PHASE else frame.pair_state(index),
            note=pairs.note_texts[pairs.notes[index]] or None,
            task=pairs.task_names[pairs.tasks[index]],
        )
        yield record


def _votes(cast: Any) -> float:
    """A number of votes: whole, or a sum of weights where neurons have weights."""
    return int(cast) if cast.dtype.kind in "ui" else round(float(cast), 9)


def role_records(store: Store, run: RunInfo) -> Iterator[dict[str, Any]]:
    """One record a role of a pair, in the order of the neurons."""
    by_criteria = network_of(run).roles.kind == "criteria"
    for pair in run_pairs(store, run):
        weights = [criterion.weight for criterion in pair.pair.criteria] if by_criteria else None
        for number, role in enumerate(pair.roles or (), 1):
            yield {
                "pair_id": pair.pair.id,
                "task": pair.pair.task,
                "neuron": number,
                "role": role.name,
                "description": role.description,
                "note": pair.note or None,
                **({} if weights is None else {"weight": weights[number - 1] if number <= len(weights) else 1.0}),
            }


def label_records(store: Store, run: RunInfo) -> Iterator[dict[str, Any]]:
    """One record a label given at the desk or imported, of the pairs of a run: all of the history, with
    what is in force. ``label`` is about the responses of the pair, whatever the side on which they were shown."""
    yield from history_records(store, (pair.pair for pair in run_pairs(store, run)))


def bias_records(store: Store, name: str | None = None) -> Iterator[dict[str, Any]]:
    """One record for every pair behind every figure of a bias lab, with the answers to its prompts; of a run's biases
    (``bias --recorded``) where ``name`` is a run, or the store has no lab."""
    ordinary = any(run.id == name for run in runs(store)) if name else not labs(store)
    result = run_bias(store, run_info(store, name)).result if ordinary else lab_result(store, name)
    return counted_pairs(result)


# Records for training and for other programs


def verdict_source(run: RunInfo, name: str | None) -> str:
    """The source of verdicts for an export: an aggregation of the run, ``human``, or with ``None`` the network's
    verdict.

    :raises ValueError: the run has no such aggregation.
    """
    spec = network_of(run)
    names = (*aggregation_names(spec), HUMAN)
    if name is None:
        return deciding(spec)
    if name not in names:
        raise ValueError(f"{run.id} has no aggregation {name!r}. Choose one of: {', '.join(names)}.")
    return name


def _said(frame: RunFrame, source: str, place: int) -> Verdict | None:
    return frame.human_label(place) if source == HUMAN else frame.verdict(source, place)


def _pairs(store: Store, run: RunInfo) -> Iterator[tuple[RunFrame, RunPair, float | None, float | None]]:
    """The pairs of a run with its frame, and the mean scores of both responses, ``None`` where no call has scores."""
    frame = fair_frame(store, run)
    means = [[None if score != score else score for score in scores.tolist()] for scores in frame.mean_scores()]
    for place, pair in enumerate(run_pairs(store, run)):
        yield frame, pair, means[0][place], means[1][place]


def pair_records(store: Store, run: RunInfo) -> Iterator[Record]:
    """The pairs as a file of pairs has them, with their current labels, and their pictures from the store."""
    for recorded_pair in run_pairs(store, run):
        # Of shards, each has the pictures of its own pairs.
        held = store.holder(run, recorded_pair.index)[0] if recorded_pair.pair.pictures else store
        yield pair_record(recorded_pair.pair, partial(picture_bytes, stores=(held,)))


def have_pictures(store: Store, run: RunInfo) -> bool:
    """Whether a pair of a run has pictures."""
    return any(run_pair.pair.pictures for run_pair in run_pairs(store, run))


def picture_records(store: Store, run: RunInfo, files: PictureFiles) -> Iterator[Record]:
    """One record a picture of a pair, with the path of its file."""
    for run_pair in run_pairs(store, run):
        if run_pair.pair.pictures:
            yield from picture_rows(run_pair.pair, holder_of(store, run, run_pair.index), files)


def preference_records(
    store: Store, run: RunInfo, source: str, left_out: Omitted, files: PictureFiles
) -> Iterator[Record]:
    """One record a pair with a decision, for training on preferences: ``prompt``, ``chosen`` and ``rejected``. Where a
    pair of the run has pictures, the three are messages, and ``images`` has the paths of the pictures in the order of
    prompt, chosen and rejected response.

    ``margin`` is the mean score of the chosen response less that of the other (``null`` without scores; it may be
    below 0 where votes and scores differ). Ties and pairs without a verdict, or left to people, are left out and
    counted.
    """
    left_out.clear()
    seen = have_pictures(store, run)
    for place, (frame, recorded_pair, mean_a, mean_b) in enumerate(_pairs(store, run)):
        verdict = _said(frame, source, place)
        if verdict is None or verdict == "tie":
            people = source == ACCEPTED and left_to_people(frame, place)
            missing = "without a label" if source == HUMAN else FOR_PEOPLE if people else "without a verdict"
            if source != HUMAN and lacks_quorum(frame, source, place):
                missing = NO_QUORUM
            left_out["ties" if verdict else missing] += 1
            continue
        pair = recorded_pair.pair
        sides = ((pair.response_a, pair.model_a, mean_a), (pair.response_b, pair.model_b, mean_b))
        (chosen, chosen_model, high), (rejected, rejected_model, low) = sides if verdict == "a" else sides[::-1]
        texts: Record = {"prompt": pair.question, "chosen": chosen, "rejected": rejected}
        if seen:
            held = holder_of(store, run, recorded_pair.index) if pair.pictures else store
            images = images_of(texts.values(), pair, held, files)
            texts = {
                name: message("user" if name == "prompt" else "assistant", text, pair) for name, text in texts.items()
            } | {"images": images}
        yield {
            **texts,
            "margin": None if high is None or low is None else high - low,
            "chosen_model": chosen_model,
            "rejected_model": rejected_model,
            "preferred_by": source,
            "human": frame.human_label(place),
            "pair_id": pair.id,
            "task": pair.task,
        }


_POINTS: Final[dict[Verdict | None, tuple[float | None, float | None]]] = {
    "a": (1.0, 0.0),
    "tie": (0.5, 0.5),
    "b": (0.0, 1.0),
    None: (None, None),
}


def system_records(store: Store, run: RunInfo, source: str) -> Iterator[Record]:
    """Two records a pair, one a response: its system, its mean score, and what it won (1, .5 for a tie, 0; ``null``
    without a verdict) by the verdict and by people."""
    for place, (frame, recorded_pair, *means) in enumerate(_pairs(store, run)):
        pair = recorded_pair.pair
        won, human = _POINTS[_said(frame, source, place)], _POINTS[frame.human_label(place)]
        systems = (pair.model_a, pair.model_b)
        for side in (0, 1):
            yield {
                "pair_id": pair.id,
                "question": int(frame.pairs.questions[place]),
                "task": pair.task,
                "side": "ab"[side],
                "system": systems[side],
                "against": systems[1 - side],
                "score": means[side],
                "score_against": means[1 - side],
                "won": won[side],
                "won_by_people": human[side],
                "verdict_of": source,
            }


def _scored_by_pair(store: Store, run: RunInfo) -> Iterator[tuple[int, list[CallRow]]]:
    """The calls with a verdict of each pair that has some, by its place."""
    for place, calls in groupby(call_rows(store, run), lambda row: row.site.pair):
        yield place, [row for row in calls if isinstance(row.result, Evaluation)]


_COMPARATOR_END: Final = 1.5
"""LLM Comparator's scores reach from -1.5 (B is much better) to 1.5 (A is)."""
_SIGNS: Final[dict[Verdict, float]] = {"a": 1.0, "tie": 0.0, "b": -1.0}


def comparator_head(store: Store, run: RunInfo) -> Record:
    """The members of an LLM Comparator file other than its examples. With more than two systems its two models are
    the sides A and B, and the systems are custom fields."""
    systems = {(recorded_pair.pair.model_a, recorded_pair.pair.model_b) for recorded_pair in run_pairs(store, run)}
    first, second = next(iter(systems)) if len(systems) == 1 else (None, None)
    fields = [
        {"name": name, "type": kind}
        for name, kind in (("pair_id", "string"), ("human", "category"), ("system_a", "string"), ("system_b", "string"))
    ]
    return {
        "metadata": {"source_path": run.id, "custom_fields_schema": fields},
        "models": [{"name": first or "Response A"}, {"name": second or "Response B"}],
    }


def comparator_examples(store: Store, run: RunInfo, left_out: Omitted) -> Iterator[Record]:
    """The pairs as examples of LLM Comparator, a rater a call with its evidence. The score of an example is the mean of
    its calls' verdicts. Pairs without any are left out and counted."""
    left_out.clear()
    calls_of = _scored_by_pair(store, run)
    at, calls = next(calls_of, (-1, []))
    for place, (frame, recorded_pair, _, _) in enumerate(_pairs(store, run)):
        while 0 <= at < place:
            at, calls = next(calls_of, (-1, []))
        raters = [_rater(row) for row in calls] if at == place else []
        if not raters:
            left_out["without a verdict"] += 1
            continue
        pair = recorded_pair.pair
        human = frame.human_label(place)
        held = holder_of(store, run, recorded_pair.index) if pair.pictures else store
        yield {
            "input_text": comparator_text(pair.question, pair, held),
            "tags": [*([] if pair.task is None else [pair.task]), *pair.tags],
            "output_text_a": comparator_text(pair.response_a, pair, held),
            "output_text_b": comparator_text(pair.response_b, pair, held),
            "score": sum(rater["score"] for rater in raters) / len(raters),
            "individual_rater_scores": raters,
            "custom_fields": {
                "pair_id": pair.id,
                "human": human or "",
                "system_a": pair.model_a or "",
                "system_b": pair.model_b or "",
            },
        }


def _rater(row: CallRow) -> Record:
    evaluation, site = row.result, row.site
    assert isinstance(evaluation, Evaluation)
    verdict = evaluation.verdict
    return {
        "is_flipped": site.order == "ba",
        "score": _COMPARATOR_END * _SIGNS[verdict],
        "rating_label": {"a": "A is better", "tie": "Tie", "b": "B is better"}[verdict],
        "rationale": evaluation.evidence or "",
        "rater_id": f"layer {site.layer}, neuron {site.neuron}" + (f", {row.role}" if row.role else ""),
    }


def _agreeing(frame: RunFrame, verdict: Verdict, place: int) -> float | None:
    """The share of a pair's votes that are for its verdict; ``None`` without votes."""
    cast = frame.table.cast[place].tolist()
    total = sum(cast)
    return cast[("a", "b", "tie").index(verdict)] / total if total else None


def argilla_records(store: Store, run: RunInfo, source: str) -> Iterator[Record]:
    """The pairs as records of Argilla: the texts as fields, the network's verdict as a suggestion (its score is the
    share of votes for it), the labels of the pair's annotators as responses. The record's id is that of the pair.
    Pictures stand in the texts as Markdown, which the fields show with ``use_markdown``."""
    for place, (frame, recorded_pair, _, _) in enumerate(_pairs(store, run)):
        pair, verdict = recorded_pair.pair, _said(frame, source, place)
        texts = {"question": pair.question, "response_a": pair.response_a, "response_b": pair.response_b}
        texts |= {} if pair.reference is None else {"reference": pair.reference}
        if pair.pictures:
            held = holder_of(store, run, recorded_pair.index)
            texts = {name: markdown_text(text, pair, held) for name, text in texts.items()}
        suggestions: Record = {}
        if verdict is not None:
            share = _agreeing(frame, verdict, place)
            suggestions["verdict"] = {"value": verdict, "score": share, "agent": f"{run.id} {source}"}
        yield {
            "id": pair.id,
            "fields": texts,
            "metadata": {} if pair.task is None else {"task": pair.task},
            "suggestions": suggestions,
            "responses": {"verdict": [{"value": said, "user_id": who} for who, said in pair.annotators]},
        }


def label_studio_tasks(store: Store, run: RunInfo, source: str) -> Iterator[Record]:
    """The pairs as tasks of Label Studio: texts and ``pair_id`` in ``data``, the network's verdict as a prediction, the
    labels of the pair's annotators as annotations. They fit a labelling form with a choice named ``verdict``. Where a
    pair of the run has pictures, each task has lists of them beside its texts, for tags ``Image``."""
    seen = have_pictures(store, run)
    for place, (frame, recorded_pair, _, _) in enumerate(_pairs(store, run)):
        pair, verdict = recorded_pair.pair, _said(frame, source, place)
        data: Record = {"question": pair.question, "response_a": pair.response_a, "response_b": pair.response_b}
        if seen:
            data = label_studio_pictures(
                data, pair, holder_of(store, run, recorded_pair.index) if pair.pictures else store
            )
        data = {"pair_id": pair.id} | data
        task: Record = {"data": data if pair.task is None else data | {"task": pair.task}}
        if verdict is not None:
            task["predictions"] = [
                {
                    "model_version": f"{run.id} {source}",
                    "score": _agreeing(frame, verdict, place),
                    "result": [_choice(verdict)],
                }
            ]
        task["annotations"] = [
            {"completed_by": {"email": who}, "result": [_choice(said)]} for who, said in pair.annotators
        ]
        yield task


def _choice(verdict: Verdict) -> Record:
    return {"from_name": "verdict", "to_name": "question", "type": "choices", "value": {"choices": [verdict]}}
