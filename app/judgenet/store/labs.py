"""Bias labs in the store: what each of them counts, the runs that answer it, and its result from what is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core import network_json
from judgenet.core.aggregate import aggregation_names, deciding
from judgenet.core.bias.lab import Lab
from judgenet.core.calls import ROLES_LAYER
from judgenet.core.evaluation import Choice
from judgenet.core.network import NetworkSpec
from judgenet.core.pairs import ORDERS, Order, Pair
from judgenet.core.presets import size_name
from judgenet.core.wording import aggregation_title
from judgenet.stats.bias import COINS, Judge
from judgenet.stats.curves import Codes
from judgenet.stats.lab import LabResult, evaluate
from judgenet.stats.people_bias import people_bias
from judgenet.stats.verdicts import VerdictTable
from judgenet.store.columns import DONE_PHASE
from judgenet.store.db import Store, StoreError, now
from judgenet.store.frame import RunFrame
from judgenet.store.lab_people import lab_prompts, people_answers
from judgenet.store.results import network_of, neuron_names
from judgenet.store.runs import FullCall, full_calls, pair_call_rows, pair_heads, run_info, run_pairs

LabJudge = Literal["network", "single", "faireval"]
LAB_RECORD = "lab"
"""The member of a run's record that names the lab for which it was made."""

NETWORK: LabJudge = "network"
_LABS = "labs"
_MOST_OTHERS = 4
_SIZE = re.compile(r"Network|(?:\d+|n)(?:[×+](?:\d+|n))+")
"""Names of networks that say no more than their size, which may have changed since."""

BASELINES: dict[LabJudge, Judge] = {
    "single": Judge("single", "Single judge", "single"),
    "faireval": Judge("faireval", "FairEval, 3 samples", "baseline"),
}
"""Judges beside the network that are measured as a whole."""


@dataclass(frozen=True, slots=True)
class LabInfo:
    """A lab as kept. ``runs`` are the ids of its runs by judge."""

    id: str
    number: int
    created_at: float
    lab: Lab
    runs: Mapping[LabJudge, str]

    @property
    def title(self) -> str:
        """The lab's name for people."""
        return f"Lab {self.number}"


@dataclass(frozen=True, slots=True)
class OrderAnswers:
    """A judge's answers when it was asked to order ``size`` responses at once.

    ``asked`` of ``groups`` instructions have an answer; ``rankings`` are the valid ones, systems best first by the
    number of the instruction in the lab. ``reasons`` counts the others. ``calls_new`` were asked now.
    """

    size: int
    groups: int
    asked: int
    rankings: Mapping[int, tuple[str, ...]]
    reasons: Mapping[str, int]
    left_out: Mapping[str, int]
    calls_new: int = 0
    message: str = ""

    @property
    def valid_rate(self) -> float | None:
        """The share of valid orders among the answers, ``None`` without an answer."""
        return len(self.rankings) / self.asked if self.asked else None

    def to_json(self) -> dict[str, Any]:
        """Stable keys."""
        return {
            **asdict(self),
            "rankings": {str(question): list(names) for question, names in self.rankings.items()},
            "valid": len(self.rankings),
            "valid_rate": self.valid_rate,
        }


NO_ORDERS = {"nwise": "no order of several responses was asked for (--nwise)"}
"""Why a lab has no orders of responses."""


def keep_orders(store: Store, lab_id: str, orders: OrderAnswers) -> None:
    """Keeps the orders of a lab."""
    store.set_meta(f"lab {lab_id} orders", json.dumps(orders.to_json()))


def lab_orders(store: Store, lab_id: str) -> OrderAnswers | None:
    """The orders of a lab, ``None`` where none were asked for."""
    text = store.meta(f"lab {lab_id} orders")
    if text is None:
        return None
    record: dict[str, Any] = json.loads(text)
    rankings = {int(question): tuple(names) for question, names in record["rankings"].items()}
    known = {name: record[name] for name in ("size", "groups", "asked", "reasons", "left_out", "calls_new", "message")}
    return OrderAnswers(rankings=rankings, **known)


def labs(store: Store) -> list[str]:
    """The ids of all labs, oldest first."""
    kept: list[str] = json.loads(store.meta(_LABS) or "[]")
    return kept


def keep_lab(
    store: Store, lab_id: str, lab: Lab, runs: Mapping[LabJudge, str], *, created_at: float | None = None
) -> LabInfo:
    """Keeps a lab, or the further runs of one that is there. ``created_at`` (POSIX time) stands in for now."""
    known = labs(store)
    if lab_id in known:
        earlier = lab_info(store, lab_id)
        created, runs = earlier.created_at, {**earlier.runs, **runs}
    else:
        created = now()
    created = created if created_at is None else created_at
    record = {"created_at": created, "lab": lab.to_json(), "runs": dict(runs)}
    store.set_meta(f"lab {lab_id}", json.dumps(record))
    if lab_id not in known:
        store.set_meta(_LABS, json.dumps([*known, lab_id]))
    return lab_info(store, lab_id)


def lab_info(store: Store, lab_id: str | None = None) -> LabInfo:
    """A lab by its id, its title (``lab-2``), or the newest.

    :raises StoreError: there is no such lab; the message lists those that there are.
    """
    known = labs(store)
    by_name = {f"lab-{number}": lab_name for number, lab_name in enumerate(known, 1)} | {
        lab_name: lab_name for lab_name in known
    }
    info = (known[-1] if known else None) if lab_id is None else by_name.get(lab_id)
    if info is None:
        there = ", ".join(f"lab-{number}" for number in range(1, len(known) + 1)) or "none"
        raise StoreError(f"{store.path}: no bias lab {lab_id or ''} here. Labs: {there}. Make one with: judgenet bias")
    record: dict[str, Any] = json.loads(store.meta(f"lab {info}") or "{}")
    return LabInfo(
        info,
        known.index(info) + 1,
        record["created_at"],
        Lab.from_json(record["lab"]),
        record["runs"],
    )


def lab_answers(
    store: Store, info: LabInfo, *, neurons: bool = True
) -> tuple[tuple[Judge, ...], dict[str, dict[str, Choice | None]]]:
    """The judges of a lab, and the answers of each by prompt, in the order in which the responses were shown.

    What is outstanding is absent. A part of a network that does not work on a pair, such as a neuron whose role did not
    come back, has no answer there either.
    """
    judges: dict[str, Judge] = {}
    answers: dict[str, dict[str, Choice | None]] = {}
    for kind, run_id in info.runs.items():
        run = run_info(store, run_id)
        spec = network_of(run)
        parts: dict[str, Judge] = {kind: BASELINES[kind]} if kind in BASELINES else parts_of(spec)
        frame = RunFrame.read(store, run)
        wanted = (frame.states >= DONE_PHASE) & frame.begun & (frame.pairs.shown > 0)
        places: set[tuple[int, int]] = set()
        for part in verdicts_by_part(frame.table, spec, frame.places if neurons and kind not in BASELINES else ()):
            if kind in BASELINES and part.id != NETWORK:
                continue
            there = wanted & part.there
            if part.place is not None and there.any():
                places.add(part.place)
            of_part = answers.setdefault(kind if kind in BASELINES else part.id, {})
            for code, shown in enumerate(ORDERS, 1):
                of_order = np.flatnonzero(there & (frame.pairs.shown == code))
                chosen = positions_of(part.codes[of_order], shown)
                of_part |= {frame.pairs.ids[index]: choice for index, choice in zip(of_order, chosen, strict=True)}
        for place, name in neuron_names(spec, sorted(places)).items():
            parts[neuron_id(*place)] = Judge(neuron_id(*place), name, "neuron", *place)
        judges |= parts
    order = {"single": 0, "baseline": 1, "neuron": 2, "layer": 3, "aggregation": 4, "network": 5}
    ranked = sorted(judges.values(), key=lambda judge: (order[judge.kind], judge.layer or 0, judge.neuron or 0))
    return tuple(ranked), {judge.id: answers.get(judge.id, {}) for judge in ranked}


def lab_network(store: Store, info: LabInfo) -> str | None:
    """The digest of the network that a lab measured, ``None`` where it measured none."""
    run_id = info.runs.get(NETWORK)
    return None if run_id is None else network_json.digest(network_of(run_info(store, run_id)))


def lab_calls(store: Store, info: LabInfo, judge: Judge, prompts: Sequence[str]) -> list[tuple[FullCall, ...]]:
    """The calls from which a judge's answer to each prompt comes, with what was sent and said: a neuron's own, those of
    a layer, or all of a network or single judge; none where the prompt was not asked."""
    kind = next((kind for kind, baseline in BASELINES.items() if baseline.id == judge.id), NETWORK)
    run_id = info.runs.get(kind)
    if run_id is None:
        return [() for _ in prompts]
    run = run_info(store, run_id)
    wanted = set(prompts)
    places = {head.pair_id: head.pair for head in pair_heads(store, run) if head.pair_id in wanted}
    calls = []
    for prompt in prompts:
        rows = pair_call_rows(store, run, places[prompt]) if prompt in places else []
        sites = [
            row.site
            for row in rows
            if row.site.layer != ROLES_LAYER
            and judge.layer in (None, row.site.layer)
            and judge.neuron in (None, row.site.neuron)
        ]
        calls.append(tuple(call for site in sites for call in full_calls(store, run, site)))
    return calls


def parts_of(spec: NetworkSpec) -> dict[str, Judge]:
    """The layers, aggregations and the verdict of a network."""
    named = spec.name if spec.name and not _SIZE.fullmatch(spec.name) else f"Network {size_name(spec)}"
    parts = [Judge(NETWORK, named, "network")]
    for name in aggregation_names(spec):
        if name.startswith("c2_l"):
            layer = int(name.removeprefix("c2_l"))
            parts.append(Judge(f"layer-{layer}", f"Layer {layer}", "layer", layer))
        elif name != deciding(spec):
            parts.append(Judge(name, aggregation_title(name), "aggregation"))
    return {part.id: part for part in parts}


def neuron_id(layer: int, neuron: int) -> str:
    """The id of a neuron as a judge; both count from 1."""
    return f"l{layer}.n{neuron}"


class PartVerdicts(NamedTuple):
    """The verdicts of a part of a network: codes by pair, and ``there``, on which pairs it was asked at all. ``place``
    is that of a neuron (layer and neuron, from 1)."""

    id: str
    place: tuple[int, int] | None
    codes: Codes
    there: NDArray[np.bool_]


def verdicts_by_part(
    table: VerdictTable, spec: NetworkSpec, places: Sequence[tuple[int, int]]
) -> Iterator[PartVerdicts]:
    """The verdicts of the network, its layers and aggregations, and of the neurons ``places``, the first of the
    ``table``'s."""
    everywhere = np.ones(len(table.used), np.bool_)
    for name, codes in table.aggregations.items():
        part = f"layer-{name.removeprefix('c2_l')}" if name.startswith("c2_l") else name
        if name == deciding(spec):
            yield PartVerdicts(NETWORK, None, codes, everywhere)
        if name != deciding(spec) or part != name:
            yield PartVerdicts(part, None, codes, everywhere)
    for column, place in enumerate(places):
        yield PartVerdicts(neuron_id(*place), place, table.neurons[:, column], table.asked[:, column] > 0)


_CHOICES: dict[Order, tuple[Choice | None, ...]] = {
    "ab": (None, "first", "tie", "second"),
    "ba": (None, "second", "tie", "first"),
}


def positions_of(codes: Codes, order: Order) -> list[Choice | None]:
    """The position that each verdict chose where the responses were shown in ``order``."""
    choices = _CHOICES[order]
    return [choices[code] for code in codes.tolist()]


def lab_result(
    store: Store,
    lab_id: str | None = None,
    *,
    neurons: bool = True,
    coins: int = COINS,
    watch: Callable[[], None] = lambda: None,
    prompts: Sequence[Pair] | None = None,
) -> LabResult:
    """The result of a lab so far, computed from the kept calls; ``neurons`` measures each neuron too. ``watch`` is
    called now and then, and may end it by an exception. ``prompts`` are those of the lab where no judge was asked yet.

    :raises StoreError: there is no such lab.
    """
    info = lab_info(store, lab_id)
    judges, answers = lab_answers(store, info, neurons=neurons)
    orders = lab_orders(store, info.id)
    watch()
    rankings = None if orders is None else orders.rankings
    others = _other_networks(store, info)
    result = evaluate(info.lab, judges, answers, coins=coins, orders=rankings, others=others, watch=watch)
    asked = people_answers(store, lambda: lab_prompts(store, info) if prompts is None else prompts)
    return replace(result, people=people_bias(info.lab, asked))


def _other_networks(store: Store, info: LabInfo) -> list[tuple[Judge, dict[str, Choice | None]]]:
    """The networks of other labs in the store, newest first, each once, with their answers to the prompts whose
    wins rank systems here, where these show the very same texts."""
    wanted = {prompt for game in info.lab.games for prompt in game.prompts}
    mine = info.runs.get(NETWORK)
    if not wanted or mine is None:
        return []
    run = run_info(store, mine)
    seen = {network_json.digest(network_of(run))}
    texts = {
        run_pair.pair.id: run_pair.pair.content_hash for run_pair in run_pairs(store, run) if run_pair.pair.id in wanted
    }
    networks: list[tuple[Judge, dict[str, Choice | None]]] = []
    for lab in reversed(labs(store)):
        other_lab = lab_info(store, lab)
        their = other_lab.runs.get(NETWORK)
        if their is None or len(networks) == _MOST_OTHERS:
            continue
        run = run_info(store, their)
        spec = network_of(run)
        digest = network_json.digest(spec)
        if digest in seen:
            continue
        said: dict[str, Choice | None] = {}
        frame = RunFrame.read(store, run)
        done = (frame.states >= DONE_PHASE) & frame.begun
        codes = frame.aggregations[deciding(spec)]
        for run_pair in run_pairs(store, run):
            if (
                done[run_pair.index]
                and run_pair.pair.shown is not None
                and texts.get(run_pair.pair.id) == run_pair.pair.content_hash
            ):
                chosen = positions_of(codes[run_pair.index : run_pair.index + 1], run_pair.pair.shown.order or "ab")
                said[run_pair.pair.id] = chosen[0]
        if said:
            seen.add(digest)
            title = f"{parts_of(spec)[NETWORK].title} ({other_lab.title})"
            networks.append((Judge(f"lab-{other_lab.number}", title, "network"), said))
    return networks
