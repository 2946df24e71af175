"""Judgments made elsewhere as a run: its one layer holds the recorded judges as neurons.

What is kept is what a run of our own keeps, so that metrics, export, report and studio work on it unchanged.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from judgenet.core import network_json
from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Evaluation, Reason, Unscored, choice_of
from judgenet.core.network import RECORDED, LayerSpec, NetworkSpec, NeuronSpec, Role, RolesSpec, Settings
from judgenet.core.pairs import Order, Pair, Verdict, data_hash
from judgenet.formats.errors import DataError, listed
from judgenet.formats.judgments import Conditions, Judgment, JudgmentFile, PairFinder, chosen, holds
from judgenet.store.db import Store, now
from judgenet.store.runs import Answer, Outcome, RunInfo, run_info, start_run, write_outcome, write_pair

ReadingMode = Literal["recorded", "text"]
"""``recorded``: what the source took a reply for, and its text where the source says nothing. ``text``: the text where
there is one, and what the source says where there is none."""

Unread = Literal["missing", "tie"]
"""What a reply counts as in which the source read nothing: no verdict, or a tie, as some published figures have it."""

ENDPOINT = RECORDED
"""The endpoint under which recorded calls are kept."""

NO_PROMPTS = "the judgments were recorded elsewhere: what the judges were asked is not known"

SCALE = (0.0, 10.0)
"""The scale of texts read anew: judges elsewhere rate from 0 or 1 to 10."""

NEURON = ("judge", "prompt")
"""The columns that name a neuron, by default."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The judgments of an import by site: place of the pair, neuron from 1, order and sample from 1.

    ``pairs`` are those with a judgment, ``names`` and ``models`` those of the neurons. ``notes`` counts what was left
    out: judgments of pairs that are not there, pairs without a judgment, earlier stages.
    """

    pairs: tuple[Pair, ...]
    names: tuple[str, ...]
    models: tuple[str, ...]
    sites: Mapping[CallSite, Judgment]
    notes: Mapping[str, int]


def select(
    files: Sequence[JudgmentFile],
    pairs: Sequence[Pair],
    conditions: Conditions | None = None,
    neuron: Sequence[str] = NEURON,
) -> Selected:
    """Chooses judgments and lays them out as calls of neurons.

    A neuron is named by the values of the columns ``neuron`` that a judgment has, joined by ``|``. A condition on
    ``task`` is one on the pairs where the judgments have no such column. Of a judge's stages on a pair in an order the
    last one counts. Several judgments of one neuron on a pair in an order are its samples, in the order of the files.

    :raises DataError: no judgment is left, or none is about one of the pairs.
    """
    every = [entry for file in files for entry in file.judgments]
    if not every:
        raise DataError("There are no judgments in the file.", "Name another file.", file=files[0].path)
    wanted = dict(conditions or {})
    here: Sequence[int] = range(len(pairs))
    if "task" in wanted and not any("task" in entry.columns for entry in every):
        here = _pairs_of_tasks(pairs, wanted.pop("task"))
    left = chosen(every, wanted)
    matched = _matched(left, pairs, frozenset(here), neuron)
    if not matched.judgments:
        raise DataError(
            f"None of the {len(left):,} judgments is about one of the {len(here):,} pairs; they name "
            f"{listed(list(matched.strangers), 5) or 'pairs of other tasks'}, the pairs are "
            f"{listed([pairs[place].id for place in here], 5)}.",
            "Name the pairs that were judged: --pairs FILE",
        )
    judged = sorted({place for place, _, _ in matched.judgments})
    new_place = {place: index for index, place in enumerate(judged)}
    number = {name: index for index, name in enumerate(matched.models, 1)}
    sites: dict[CallSite, Judgment] = {}
    earlier = 0
    for (place, name, order), several in matched.judgments.items():
        last = max(entry.stage for entry in several)
        final = [entry for entry in several if entry.stage == last]
        earlier += len(several) - len(final)
        for sample, entry in enumerate(final, 1):
            sites[CallSite(new_place[place], 1, number[name], order, sample)] = entry
    return Selected(
        tuple(pairs[place] for place in judged),
        tuple(matched.models),
        tuple(matched.models.values()),
        sites,
        {
            "judgments_without_pair": matched.strangers.total(),
            "judgments_of_other_tasks": matched.elsewhere,
            "judgments_of_earlier_stages": earlier,
            "pairs_without_judgment": len(here) - len(judged),
            "games_without_judgment": sum(file.empty for file in files),
        },
    )


def _pairs_of_tasks(pairs: Sequence[Pair], tasks: Sequence[str]) -> list[int]:
    """The places of the pairs of some tasks.

    :raises DataError: there are none.
    """
    here = [place for place, pair in enumerate(pairs) if holds(pair.task, tasks)]
    if not here:
        there = listed(sorted({pair.task or "(none)" for pair in pairs}))
        raise DataError(f"--where task={' or '.join(tasks)}: no pair has it.", f"Tasks: {there}.")
    return here


class _Matched(NamedTuple):
    """Judgments by the place of their pair, the name of their neuron and the order; the judge of each neuron; how many
    judgments are about pairs that are not there, by these; and how many about pairs that were not chosen."""

    judgments: dict[tuple[int, str, Order], list[Judgment]]
    models: dict[str, str]
    strangers: Counter[str]
    elsewhere: int


def _matched(
    judgments: Iterable[Judgment], pairs: Sequence[Pair], here: Container[int], neuron: Sequence[str]
) -> _Matched:
    """The judgments about the pairs at the places ``here``; ``neuron`` are the columns that name a neuron."""
    finder = PairFinder(pairs)
    by_call: dict[tuple[int, str, Order], list[Judgment]] = {}
    models: dict[str, str] = {}
    strangers: Counter[str] = Counter()
    elsewhere = 0
    for entry in judgments:
        hit = finder.find(entry)
        if hit is None:
            strangers[str(entry.pair)] += 1
            continue
        place, judgment = hit
        if place not in here:
            elsewhere += 1
            continue
        name = "|".join(judgment.columns[column] for column in neuron if judgment.columns.get(column))
        name = name or judgment.judge
        models.setdefault(name, judgment.judge)
        by_call.setdefault((place, name, judgment.order), []).append(judgment)
    return _Matched(by_call, models, strangers, elsewhere)


def network_for(selected: Selected) -> NetworkSpec:
    """The network of one layer whose neurons are the recorded judges, with fixed roles of their names."""
    samples = [1] * len(selected.names)
    orders: set[Order] = set()
    for site in selected.sites:
        samples[site.neuron - 1] = max(samples[site.neuron - 1], site.sample)
        if site.order is not None:
            orders.add(site.order)
    roles = tuple(Role(name, "Judgments recorded elsewhere") for name in selected.names)
    neurons = tuple(
        NeuronSpec(role, Settings(model=model, samples=k))
        for role, model, k in zip(roles, selected.models, samples, strict=True)
    )
    return NetworkSpec(
        (LayerSpec(neurons),),
        roles=RolesSpec("fixed", roles=roles),
        orders="both" if len(orders) == 2 else next(iter(orders)),
        settings=Settings(ENDPOINT, selected.models[0], "default", 1024, 1),
        name="Recorded judges",
    )


def evaluated(judgment: Judgment, reading: ReadingMode, unread: Unread) -> tuple[Evaluation | Unscored, str]:
    """(the evaluation of a judgment, how it was read: ``recorded`` or the reader's rule, empty for neither).

    Where a verdict and scores are recorded, the verdict counts: scores of reward models have no common scale.
    """
    text = judgment.text
    if text is not None and (reading == "text" or not judgment.stated):
        # Its patterns take long to compile: the studio opens without them.
        from judgenet.core.reading import read_judgement

        read = read_judgement(text, finish_reason=judgment.finish, scale=SCALE)
        if isinstance(read, Unscored):
            return read, ""
        return Evaluation.from_reading(read, judgment.order), read.rule
    evidence = text or ""
    if judgment.verdict is not None:
        return Evaluation(evidence, judgment.verdict), ENDPOINT
    if judgment.scores is not None:
        first, second = judgment.scores
        verdict: Verdict = {"first": "a", "second": "b", "tie": "tie"}[choice_of(first, second)]  # type: ignore[assignment]
        return Evaluation(evidence, verdict, first, second), ENDPOINT
    if not judgment.stated:
        return Unscored(Reason.NOT_RECORDED, "neither text nor verdict"), ""
    if unread == "tie":
        return Evaluation(evidence, "tie"), ENDPOINT
    return Unscored(Reason.UNPARSED, "the source read no verdict"), ENDPOINT


def import_run(
    store: Store,
    selected: Selected,
    *,
    reading: ReadingMode = "recorded",
    unread: Unread = "missing",
    record: Mapping[str, Any] | None = None,
) -> RunInfo:
    """Enters recorded judgments in the store as a finished run; the same again is the same run.

    The run's record says under ``recorded`` how they were read and what was left out. Calls cost nothing. A call that
    a neuron has on some pairs and not on this one is kept as ``not_recorded``.
    """
    spec = network_for(selected)
    outcomes = {site: evaluated(judgment, reading, unread) for site, judgment in selected.sites.items()}
    taken = Counter(
        "recorded" if rule == ENDPOINT else "text" if rule or selected.sites[site].text is not None else "neither"
        for site, (_, rule) in outcomes.items()
    )
    reading_record = {
        "reading": reading,
        "unread": unread,
        "calls": len(outcomes),
        "taken_as_recorded": taken["recorded"],
        "read_from_text": taken["text"],
        **selected.notes,
    }
    whole = {
        "network": network_json.to_json(spec),
        "prompts": None,
        "prompts_reason": NO_PROMPTS,
        "data_hash": data_hash(selected.pairs),
        "pairs": len(selected.pairs),
        "endpoints": {ENDPOINT: {"kind": ENDPOINT, "base_url": None}},
        "starts": [{"at": now()}],
        **(record or {}),
        "recorded": reading_record,
    }
    run = start_run(store, _import_digest(selected, spec, reading, unread), whole, selected.pairs)
    by_pair: dict[int, list[CallSite]] = {}
    for site in _all_sites(selected):
        by_pair.setdefault(site.pair, []).append(site)
    store.run_now(partial(_write, store=store, run=run.number, selected=selected, by_pair=by_pair, outcomes=outcomes))
    _finish(store, run.id, describe(reading_record))
    return run_info(store, run.id)


def _import_digest(selected: Selected, spec: NetworkSpec, reading: ReadingMode, unread: Unread) -> str:
    """What tells an import from another: its network, pairs, judgments and how these are read."""
    parts = [network_json.digest(spec), data_hash(selected.pairs), reading, unread]
    digest = hashlib.sha256(json.dumps(parts).encode("ascii"))
    for site, judgment in sorted(selected.sites.items()):
        said = [*site, judgment.text, judgment.verdict, judgment.scores, judgment.stated]
        digest.update(json.dumps(said).encode("ascii"))
    return digest.hexdigest()


def describe(reading_record: Mapping[str, Any]) -> str:
    """How judgments were read, in a sentence for people; ``reading_record`` is the member ``recorded`` of a run's
    record."""
    by_source, by_text = reading_record["taken_as_recorded"], reading_record["read_from_text"]
    words = [f"Recorded judgments: {by_source:,} of {reading_record['calls']:,} calls as the source read them"]
    words.append(f"{by_text:,} read from their texts")
    if reading_record["unread"] == "tie":
        words.append("calls in which the source read nothing count as ties")
    return ", ".join(words) + "."


def _all_sites(selected: Selected) -> list[CallSite]:
    """The sites that each neuron has on any pair, for every pair."""
    kinds = sorted({(site.neuron, site.order, site.sample) for site in selected.sites if site.sample == 1})
    every = {
        CallSite(pair, 1, neuron, order, sample)
        for pair in range(len(selected.pairs))
        for neuron, order, sample in kinds
    }
    return sorted(every | set(selected.sites))


def _write(
    db: sqlite3.Connection,
    *,
    store: Store,
    run: int,
    selected: Selected,
    by_pair: Mapping[int, Sequence[CallSite]],
    outcomes: Mapping[CallSite, tuple[Evaluation | Unscored, str]],
) -> None:
    roles = tuple(Role(name, "Judgments recorded elsewhere") for name in selected.names)
    missing = Unscored(Reason.NOT_RECORDED, "the source has no such judgment")
    for pair, sites in by_pair.items():
        for site in sites:
            judgment = selected.sites.get(site)
            result, rule = outcomes.get(site, (missing, ""))
            name, model = selected.names[site.neuron - 1], selected.models[site.neuron - 1]
            answer = None if judgment is None else _answer(judgment, name, model, selected.pairs[pair], site)
            outcome = Outcome(site, result, ENDPOINT, model, role=name, rule=rule, cached=True)
            write_outcome(db, store, run, outcome, answer)
        write_pair(db, run, pair, "done", roles, "", len(sites), sites)


def _answer(judgment: Judgment, name: str, model: str, pair: Pair, site: CallSite) -> Answer:
    text = "" if judgment.text is None else judgment.text
    said = [name, pair.id, pair.content_hash, site.order, site.sample, text, judgment.verdict, judgment.scores]
    return Answer(
        key=hashlib.sha256(json.dumps([ENDPOINT, *said]).encode("ascii")).digest(),
        endpoint=ENDPOINT,
        model=model,
        form="text",
        parameters=json.dumps([model, None, 0, None]),
        system="",
        shared="",
        own="",
        raw_text=text,
        finish_reason=judgment.finish,
        price=0.0,
    )


def _finish(store: Store, run_id: str, message: str) -> None:
    store.run_now(
        lambda db: db.execute(
            "UPDATE runs SET state='done', message=?, finished_at=? WHERE id=?", (message, now(), run_id)
        )
    )
