"""What was said of each pair of a run, as arrays: for figures over pairs, neurons, orders and layers.

A run is read once, pair by pair; a few bytes are kept for each verdict and no text. Verdicts are codes as in
:mod:`judgenet.stats.curves`: 0 none, 1 A, 2 tie, 3 B.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import PairVerdicts, aggregation_names, merged
from judgenet.core.evaluation import Evaluation
from judgenet.core.network import Aggregation, NetworkSpec, inputs_of
from judgenet.core.pairs import ORDERS, Order, Verdict, question_key
from judgenet.stats.curves import CODES, Codes
from judgenet.stats.diversity import Evidence
from judgenet.stats.provenance import LabelSources
from judgenet.stats.uncertainty import balanced_verdict
from judgenet.store.db import Store
from judgenet.store.results import network_of, neuron_names, pair_calls, verdicts_of
from judgenet.store.runs import CallRow, RunInfo, RunPair, pair_call_rows, pair_states
from judgenet.store.taught import taught

if TYPE_CHECKING:
    from judgenet.stats.means import Groups

Place = tuple[int, int]
"""Layer and neuron, both from 1."""

Annotated = tuple[Verdict | None, tuple[tuple[str, Verdict], ...]]
"""The label of a pair and what each annotator said, by name."""

_CODE: dict[Verdict | None, int] = {verdict: code for code, verdict in enumerate(CODES)}
_OUTCOMES: tuple[Verdict, ...] = ("a", "tie", "b")
_WIDEST = 255


@dataclass(frozen=True)
class Judged:
    """A run's verdicts by pair, in the order of the run.

    ``human``, the columns of ``aggregations`` (by name), ``c1_ab``, ``c1_ba`` (the average over the calls of one
    order) and ``balanced`` (the average of the two orders' averages) have a code a pair. ``neurons``, ``ab`` and ``ba``
    have the shape (pairs, neurons): merged, and by order. ``calls`` has the shape (pairs, neurons, 2, 3): how many
    calls of each order say that A wins, a tie, that B wins. ``roles`` has by name what the neurons of a role said
    together. ``questions`` numbers the question of each pair; ``tasks`` are places in ``task_names``. ``panels`` counts
    the pairs by their human label and what annotators said by name; ``annotations`` has the numbers of annotators who
    said A, tie and B of each pair. ``sources`` says where the labels come from.
    """

    spec: NetworkSpec
    finished: NDArray[np.bool_]
    human: Codes
    questions: Groups
    tasks: NDArray[np.int64]
    task_names: tuple[str | None, ...]
    aggregations: dict[str, Codes]
    c1_ab: Codes
    c1_ba: Codes
    balanced: Codes
    places: tuple[Place, ...]
    names: tuple[str, ...]
    neurons: Codes
    ab: Codes
    ba: Codes
    calls: NDArray[np.uint8]
    roles: dict[str, Codes]
    panels: Counter[Annotated]
    annotations: NDArray[np.int64]
    sources: LabelSources
    calls_used: int
    calls_total: int

    def __len__(self) -> int:
        return len(self.human)

    @cached_property
    def groups(self) -> Groups | None:
        """The numbers of the questions where a question has several pairs, else ``None``."""
        return self.questions if len(np.unique(self.questions)) < len(self) else None

    def columns(self, layer: int) -> NDArray[np.intp]:
        """The columns of the neurons of a layer, from 1."""
        return np.array([column for column, place in enumerate(self.places) if place[0] == layer], dtype=np.intp)

    def before(self, layer: int) -> NDArray[np.intp]:
        """For each neuron of a layer the column of the neuron of the same place a layer before, -1 without one."""
        column = {place: column for column, place in enumerate(self.places)}
        return np.array([column.get((layer - 1, self.places[of][1]), -1) for of in self.columns(layer)], dtype=np.intp)

    def read_others(self, layer: int) -> NDArray[np.bool_]:
        """Which neurons of the layer before each neuron of a layer (from 2) reads besides its own place: of shape
        (neurons, neurons of the layer before)."""
        mine, earlier = self.columns(layer), self.columns(layer - 1)
        width = max((self.places[of][1] for of in earlier), default=0)
        reads = np.zeros((len(mine), len(earlier)), dtype=bool)
        at = {self.places[of][1] - 1: place for place, of in enumerate(earlier)}
        for row, of in enumerate(mine):
            neuron = self.places[of][1] - 1
            for read in inputs_of(self.spec, layer - 1, neuron, width):
                if read != neuron and read in at:
                    reads[row, at[read]] = True
        return reads


@dataclass(slots=True)
class _Column:
    """What one neuron or role said: a byte a pair merged and by order, and the counts of its calls."""

    merged: bytearray = field(default_factory=bytearray)
    ab: bytearray = field(default_factory=bytearray)
    ba: bytearray = field(default_factory=bytearray)
    calls: bytearray = field(default_factory=bytearray)

    def add(self, pair: int, differences: dict[Order, list[float]]) -> None:
        missing = pair - len(self.merged)
        for codes, width in ((self.merged, 1), (self.ab, 1), (self.ba, 1), (self.calls, 6)):
            codes.extend(bytes(missing * width))
        self.merged.append(_CODE[merged([*differences["ab"], *differences["ba"]])])
        self.ab.append(_CODE[merged(differences["ab"])])
        self.ba.append(_CODE[merged(differences["ba"])])
        for order in ORDERS:
            said = [merged([difference]) for difference in differences[order]]
            self.calls.extend(min(_WIDEST, said.count(outcome)) for outcome in _OUTCOMES)

    def codes(self, of: bytearray, pairs: int, width: int = 1) -> Codes:
        return np.frombuffer(bytes(of) + bytes(pairs * width - len(of)), np.uint8)


class JudgedPairs:
    """Takes the pairs of a run in one by one; :meth:`arrays` gives what they came to."""

    def __init__(self, spec: NetworkSpec) -> None:
        self.spec = spec
        self._names = aggregation_names(spec)
        self._finished = bytearray()
        self._human = bytearray()
        self._questions: array[int] = array("Q")
        self._tasks: array[int] = array("L")
        self._task_numbers: dict[str | None, int] = {}
        self._said: dict[str, bytearray] = {name: bytearray() for name in self._names}
        self._orders = (bytearray(), bytearray(), bytearray())
        self._neurons: dict[Place, _Column] = {}
        self._roles: dict[str, tuple[str, _Column]] = {}
        self._panels: Counter[Annotated] = Counter()
        self._annotations: array[int] = array("L")
        self._sources = LabelSources()
        self._used = 0
        self._total = 0

    def add(self, of: RunPair, rows: Sequence[CallRow], found: PairVerdicts | None) -> None:
        """Takes the next pair in; ``found`` is ``None`` where it has no verdicts yet."""
        pair, place = of.pair, len(self._human)
        self._human.append(_CODE[pair.human])
        self._finished.append(found is not None)
        self._questions.append(int.from_bytes(question_key(pair.question)[:8], "big"))
        self._tasks.append(self._task_numbers.setdefault(pair.task, len(self._task_numbers)))
        self._sources.add(pair.human, of.people)
        if pair.annotators:
            self._panels[pair.human, tuple(sorted(pair.annotators))] += 1
        verdicts = [verdict for _, verdict in pair.annotators]
        self._annotations.extend(verdicts.count(outcome) for outcome in _OUTCOMES)
        named = {} if found is None else found.named()
        for name, codes in self._said.items():
            codes.append(_CODE[named.get(name)])
        neurons: dict[Place, dict[Order, list[float]]] = {}
        roles: dict[str, dict[Order, list[float]]] = {}
        whole: dict[Order, list[float]] = {"ab": [], "ba": []}
        for row in rows if found is not None else ():
            site = row.site
            if site.order is None or not 1 <= site.layer <= self.spec.depth:
                continue
            mine = neurons.setdefault((site.layer, site.neuron), {"ab": [], "ba": []})
            role = None if row.role is None else roles.setdefault(row.role, {"ab": [], "ba": []})
            if isinstance(row.result, Evaluation):
                difference = row.result.difference
                for differences in (mine, whole, role):
                    if differences is not None:
                        differences[site.order].append(difference)
        by_order = (None, None) if found is None else (found.c1_ab, found.c1_ba)
        for codes, verdict in zip(self._orders, (*by_order, balanced_verdict(*whole.values())), strict=True):
            codes.append(_CODE[verdict])
        for where, differences in neurons.items():
            self._neurons.setdefault(where, _Column()).add(place, differences)
        for key, (name, differences) in _by_key(roles).items():
            self._roles.setdefault(key, (name, _Column()))[1].add(place, differences)
        if found is not None:
            self._used += found.calls_used + found.chair_used
            self._total += found.calls_total + found.chair_total

    def arrays(self) -> Judged:
        """All that was taken in."""
        n = len(self._human)
        places = tuple(sorted(self._neurons))
        columns = [self._neurons[place] for place in places]
        _, questions = np.unique(np.asarray(self._questions, dtype=np.uint64), return_inverse=True)
        c1_ab, c1_ba, balanced = (_codes(codes) for codes in self._orders)

        def stacked(name: str) -> Codes:
            each = [column.codes(getattr(column, name), n) for column in columns]
            return np.stack(each, axis=1) if each else np.zeros((n, 0), np.uint8)

        calls = [column.codes(column.calls, n, 6).reshape(n, 2, 3) for column in columns]
        return Judged(
            spec=self.spec,
            finished=np.frombuffer(bytes(self._finished), np.bool_),
            human=_codes(self._human),
            questions=questions.astype(np.int64),
            tasks=np.asarray(self._tasks, dtype=np.int64),
            task_names=tuple(self._task_numbers),
            aggregations={name: _codes(codes) for name, codes in self._said.items()},
            c1_ab=c1_ab,
            c1_ba=c1_ba,
            balanced=balanced,
            places=places,
            names=tuple(neuron_names(self.spec, places).values()),
            neurons=stacked("merged"),
            ab=stacked("ab"),
            ba=stacked("ba"),
            calls=np.stack(calls, axis=1) if calls else np.zeros((n, 0, 2, 3), np.uint8),
            roles={name: column.codes(column.merged, n) for name, column in self._roles.values()},
            panels=self._panels,
            annotations=np.asarray(self._annotations, dtype=np.int64).reshape(n, 3),
            sources=self._sources,
            calls_used=self._used,
            calls_total=self._total,
        )


def _codes(of: bytearray) -> Codes:
    return np.frombuffer(bytes(of), np.uint8)


def _by_key(roles: dict[str, dict[Order, list[float]]]) -> dict[str, tuple[str, dict[Order, list[float]]]]:
    """The calls of a pair by role, without regard to case and white space in its name."""
    found: dict[str, tuple[str, dict[Order, list[float]]]] = {}
    for name, differences in roles.items():
        written = " ".join(name.split())
        kept = found.setdefault(written.casefold(), (written, {"ab": [], "ba": []}))[1]
        for order in ORDERS:
            kept[order] += differences[order]
    return found


def judged(store: Store, run: RunInfo, rules: Aggregation | None = None) -> Judged:
    """The verdicts of a run under its own aggregation rules or others. Memory holds no text of the pairs."""
    spec = network_of(run)
    found = JudgedPairs(spec)
    known = taught(store, run, rules)
    for pair, rows in pair_calls(store, run):
        verdicts = verdicts_of(pair, rows, spec.depth, rules or spec.aggregation)
        found.add(pair, rows, known.fair(pair.index, verdicts))
    return found.arrays()


SAMPLED_PAIRS = 100
SAMPLED_NEURONS = 8


@dataclass(frozen=True, slots=True)
class Sampled:
    """Which pairs' evidence is read: ``pairs`` (places in the run) of ``n_total`` finished ones, and in each layer the
    neurons at ``neurons`` (from 1), in one order a pair."""

    pairs: tuple[int, ...]
    n_total: int
    neurons: tuple[int, ...]
    seed: int


def sample_evidence(
    store: Store,
    run: RunInfo,
    pairs: int = SAMPLED_PAIRS,
    neurons: int = SAMPLED_NEURONS,
    seed: int = 0,
) -> Sampled:
    """A random sample of finished pairs and of places of neurons. The places are the same in all layers, so that a
    neuron can be compared with itself."""
    rng = np.random.default_rng(seed)
    finished = [index for index, state in enumerate(pair_states(store, run)) if state != "open"]
    chosen = rng.permutation(len(finished))[:pairs]
    (width,) = store.reader.execute(
        "SELECT coalesce(max(neuron), 0) FROM run_calls WHERE run=? AND layer BETWEEN 1 AND ?",
        (run.number, network_of(run).depth),
    ).fetchone()
    places = rng.permutation(width)[:neurons] + 1
    return Sampled(
        tuple(sorted(finished[int(place)] for place in chosen)),
        len(finished),
        tuple(sorted(int(place) for place in places)),
        seed,
    )


def evidence_of(store: Store, run: RunInfo, sampled: Sampled) -> Iterator[Evidence]:
    """What the sampled neurons wrote of the sampled pairs, pair by pair: of each pair in one order, drawn by the
    seed, and of each neuron its first valid sample."""
    rng = np.random.default_rng(sampled.seed)
    neurons, depth = frozenset(sampled.neurons), network_of(run).depth
    for pair in sampled.pairs:
        rows = [
            row
            for row in pair_call_rows(store, run, pair)
            if row.site.order is not None
            and 1 <= row.site.layer <= depth
            and row.site.neuron in neurons
            and isinstance(row.result, Evaluation)
        ]
        orders = sorted({row.site.order for row in rows if row.site.order is not None})
        if not orders:
            continue
        order = orders[int(rng.integers(len(orders)))]
        taken: set[Place] = set()
        for row in rows:
            place = (row.site.layer, row.site.neuron)
            if row.site.order == order and place not in taken and isinstance(row.result, Evaluation):
                taken.add(place)
                yield Evidence(pair, *place, order, row.result.evidence)
