"""One pass over a recorded run: everything that a report counts, in memory that grows with the network and not with
the number of pairs."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from judgenet.core.aggregate import PairVerdicts, aggregation_names, merged
from judgenet.core.evaluation import Evaluation
from judgenet.core.labels import People
from judgenet.core.network import Aggregation, NetworkSpec, needs_roles
from judgenet.core.pairs import Order, Verdict, question_key
from judgenet.report.closest import Closest
from judgenet.report.model import FIRST_IDS, Left
from judgenet.stats.curves import CODES
from judgenet.stats.provenance import LabelSources
from judgenet.store.db import Store
from judgenet.store.results import pair_calls, verdicts_of
from judgenet.store.runs import CallRow, RunInfo, RunPair
from judgenet.store.taught import NOTHING_TAUGHT, Taught, taught

Progress = Callable[[int, int], None]
"""Hears how many pairs of how many are read. What it raises ends the reading."""

Two = Counter[tuple[Verdict | None, Verdict | None]]
Three = Counter[tuple[Verdict | None, Verdict | None, Verdict | None]]
Place = tuple[int, int]
"""Layer and neuron, from 1."""

Observe = Callable[[RunPair, Sequence[CallRow], PairVerdicts | None], object]
"""Hears of each pair with its calls and verdicts; ``None`` while it has none."""

_TELL_EVERY = 250

_CODE = {verdict: code for code, verdict in enumerate(CODES)}


@dataclass(slots=True)
class Cells:
    """Verdicts of some of the pairs beside their labels: places of the pairs, and a byte a pair for both verdicts."""

    pairs: array[int] = field(default_factory=lambda: array("I"))
    codes: bytearray = field(default_factory=bytearray)

    def add(self, pair: int, human: Verdict | None, verdict: Verdict | None) -> None:
        """Takes the next pair in."""
        self.pairs.append(pair)
        self.codes.append(_CODE[human] << 2 | _CODE[verdict])


def two_verdicts(code: int) -> tuple[Verdict | None, Verdict | None]:
    """The label and the verdict that a byte of :class:`Cells` stands for."""
    return CODES[code >> 2], CODES[code & 3]


@dataclass(slots=True)
class NeuronCounts:
    """What one neuron said: (human, verdict), (verdict in AB, in BA), (verdict a layer before, verdict, human)."""

    against: Two = field(default_factory=Counter)
    cells: Cells = field(default_factory=Cells)
    orders: Two = field(default_factory=Counter)
    changes: Three = field(default_factory=Counter)
    roles: set[str] = field(default_factory=set)
    scored: int = 0
    total: int = 0


@dataclass(slots=True)
class LayerCounts:
    """The verdicts of one layer in both orders, and its calls."""

    orders: Two = field(default_factory=Counter)
    scored: int = 0
    total: int = 0


@dataclass(slots=True)
class RoleCounts:
    """What a role said on the pairs that it judged; ``name`` as it was written first."""

    name: str
    pairs: int = 0
    against: Two = field(default_factory=Counter)
    cells: Cells = field(default_factory=Cells)


@dataclass(slots=True)
class TaskCounts:
    """The pairs of a task: (human, verdict) by aggregation, and the names of their roles."""

    pairs: int = 0
    places: array[int] = field(default_factory=lambda: array("I"))
    against: dict[str, Two] = field(default_factory=dict)
    role_names: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Counts:
    """All counts of a run. Tables by aggregation have a column of their own for pairs without a verdict (``None``).

    Of each pair a few numbers are kept, and no text: a digest of its question, a byte for each aggregation and one for
    the two orders, five for each neuron and role, the difference of its responses' lengths (B minus A, in characters),
    its systems' numbers.
    """

    spec: NetworkSpec
    pairs: int = 0
    finished: int = 0
    failed: int = 0
    labelled: int = 0
    annotated: int = 0
    annotators: set[str] = field(default_factory=set)
    questions: array[int] = field(default_factory=lambda: array("Q"))
    people: array[int] = field(default_factory=lambda: array("L"))
    people_numbers: dict[People, int] = field(default_factory=dict)
    sources: LabelSources = field(default_factory=LabelSources)
    cells: dict[str, bytearray] = field(default_factory=dict)
    lengths: array[int] = field(default_factory=lambda: array("q"))
    systems: dict[str | None, int] = field(default_factory=dict)
    played: tuple[array[int], array[int]] = field(default_factory=lambda: (array("I"), array("I")))
    panel: Counter[tuple[tuple[str, Verdict], ...]] = field(default_factory=Counter)
    first: dict[Left, list[str]] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    tasks: dict[str | None, TaskCounts] = field(default_factory=dict)
    human: Counter[Verdict | None] = field(default_factory=Counter)
    against: dict[str, Two] = field(default_factory=dict)
    verdicts: Counter[Verdict | None] = field(default_factory=Counter)
    orders: Two = field(default_factory=Counter)
    order_cells: bytearray = field(default_factory=bytearray)
    layer_changes: dict[int, Three] = field(default_factory=dict)
    layers: dict[int, LayerCounts] = field(default_factory=dict)
    neurons: dict[Place, NeuronCounts] = field(default_factory=dict)
    roles: dict[str, RoleCounts] = field(default_factory=dict)
    calls_used: int = 0
    calls_total: int = 0
    taught: Taught = NOTHING_TAUGHT

    def left_out(self, why: Left, name: str) -> None:
        """Keeps the first names of what is left out."""
        names = self.first.setdefault(why, [])
        if len(names) < FIRST_IDS:
            names.append(name)


@dataclass(slots=True)
class _Calls:
    """A and B apart, call by call, by order."""

    ab: list[float] = field(default_factory=list)
    ba: list[float] = field(default_factory=list)

    def add(self, order: Order, difference: float) -> None:
        (self.ab if order == "ab" else self.ba).append(difference)

    @property
    def verdict(self) -> Verdict | None:
        return merged([*self.ab, *self.ba])


def collect(
    store: Store,
    run: RunInfo,
    spec: NetworkSpec,
    decides: str,
    closest: Closest,
    rules: Aggregation | None = None,
    on_progress: Progress | None = None,
    observe: Observe | None = None,
) -> Counts:
    """Reads a run once, pair by pair. ``closest`` is offered each pair that has verdicts."""
    rules = rules or spec.aggregation
    counts = Counts(spec)
    names = aggregation_names(spec)
    counts.against = {name: Counter() for name in names}
    counts.cells = {name: bytearray() for name in names}
    counts.layers = {layer: LayerCounts() for layer in range(1, spec.depth + 1)}
    counts.layer_changes = {layer: Counter() for layer in range(2, spec.depth + 1)}
    (total,) = store.reader.execute("SELECT count(*) FROM run_pairs WHERE run=?", (run.number,)).fetchone()
    with_words = needs_roles(spec)
    known = counts.taught = taught(store, run, rules)
    for pair, rows in pair_calls(store, run):
        if on_progress is not None and counts.pairs % _TELL_EVERY == 0:
            on_progress(counts.pairs, total)
        found = known.fair(pair.index, verdicts_of(pair, rows, spec.depth, rules))
        _count_pair(counts, pair, found, names, decides, with_words=with_words)
        if observe is not None:
            observe(pair, rows, found)
        if found is not None:
            _count_calls(counts, pair, rows, found)
            closest.offer(pair, rows, found)
    if on_progress is not None:
        on_progress(counts.pairs, total)
    return counts


def _count_pair(
    counts: Counts,
    of: RunPair,
    found: PairVerdicts | None,
    names: Sequence[str],
    decides: str,
    *,
    with_words: bool,
) -> None:
    pair = of.pair
    counts.pairs += 1
    counts.finished += found is not None
    counts.failed += of.state == "failed"
    counts.human[pair.human] += 1
    counts.labelled += pair.human is not None
    if len(pair.annotators) > 1:
        counts.annotated += 1
        counts.annotators.update(name for name, _ in pair.annotators)
    if pair.annotators:
        counts.panel[tuple(sorted(dict(pair.annotators).items()))] += 1
    counts.sources.add(pair.human, of.people)
    counts.people.append(counts.people_numbers.setdefault(of.people, len(counts.people_numbers)))
    counts.questions.append(int.from_bytes(question_key(pair.question)[:8]))
    counts.lengths.append(len(pair.response_b) - len(pair.response_a))
    for played, system in zip(counts.played, (pair.model_a, pair.model_b), strict=True):
        played.append(counts.systems.setdefault(system, len(counts.systems)))
    if of.note:
        counts.notes[of.note] += 1
    task = counts.tasks.get(pair.task)
    if task is None:
        task = counts.tasks[pair.task] = TaskCounts(against={name: Counter() for name in names})
    task.pairs += 1
    task.places.append(counts.pairs - 1)
    named = {} if found is None else found.named()
    for name in names:
        cell = (pair.human, named.get(name))
        counts.against[name][cell] += 1
        counts.cells[name].append(_CODE[cell[0]] << 2 | _CODE[cell[1]])
        task.against[name][cell] += 1
    counts.verdicts[named.get(decides)] += 1
    ab, ba = (None, None) if found is None else (found.c1_ab, found.c1_ba)
    counts.orders[ab, ba] += 1
    counts.order_cells.append(_CODE[ab] << 2 | _CODE[ba])
    _leave_out(counts, of, found, named.get(decides))
    if with_words and of.roles is not None:
        task.role_names.update({" ".join(role.name.split()): 1 for role in of.roles})


def _leave_out(counts: Counts, of: RunPair, found: PairVerdicts | None, verdict: Verdict | None) -> None:
    """Names the pair where a figure does not rest on it."""
    if found is None:
        counts.left_out("not judged", of.pair.id)
    elif verdict is None:
        counts.left_out("no verdict", of.pair.id)
    if of.state == "failed":
        counts.left_out("calls missing", of.pair.id)
    if of.pair.human is None:
        counts.left_out("no label", of.pair.id)
    elif verdict is None:
        counts.left_out("label without verdict", of.pair.id)


def _count_calls(counts: Counts, of: RunPair, rows: Sequence[CallRow], found: PairVerdicts) -> None:
    human, depth = of.pair.human, counts.spec.depth
    neurons: dict[Place, _Calls] = {}
    layers: dict[int, _Calls] = {layer: _Calls() for layer in counts.layers}
    roles: dict[str, _Calls] = {}
    for row in rows:
        site = row.site
        if site.order is None:
            continue
        place = (site.layer, site.neuron)
        calls = neurons.get(place)
        if calls is None:
            calls = neurons[place] = _Calls()
            if place not in counts.neurons:
                counts.neurons[place] = NeuronCounts()
            if row.role is not None:
                counts.neurons[place].roles.add(row.role)
        of_neuron = counts.neurons[place]
        of_neuron.total += 1
        role = None if row.role is None else roles.setdefault(row.role, _Calls())
        if site.layer <= depth:
            counts.layers[site.layer].total += 1
        if not isinstance(row.result, Evaluation):
            counts.left_out("unscored", f"{of.pair.id} {site.layer}.{site.neuron} {site.order} {site.sample}")
            continue
        difference = row.result.difference
        of_neuron.scored += 1
        calls.add(site.order, difference)
        if role is not None:
            role.add(site.order, difference)
        if site.layer <= depth:
            counts.layers[site.layer].scored += 1
            layers[site.layer].add(site.order, difference)

    counts.calls_used += found.calls_used + found.chair_used
    counts.calls_total += found.calls_total + found.chair_total
    said = {place: calls.verdict for place, calls in neurons.items()}
    for place, calls in neurons.items():
        of_neuron = counts.neurons[place]
        of_neuron.against[human, said[place]] += 1
        of_neuron.cells.add(counts.pairs - 1, human, said[place])
        of_neuron.orders[merged(calls.ab), merged(calls.ba)] += 1
        layer, neuron = place
        if 1 < layer <= depth and (layer - 1, neuron) in said:
            of_neuron.changes[said[layer - 1, neuron], said[place], human] += 1
    for layer, calls in layers.items():
        counts.layers[layer].orders[merged(calls.ab), merged(calls.ba)] += 1
        if layer > 1:
            counts.layer_changes[layer][found.c2_layers[layer - 2], found.c2_layers[layer - 1], human] += 1
    merged_roles: dict[str, tuple[str, _Calls]] = {}
    for name, calls in roles.items():
        key = " ".join(name.split()).casefold()
        if key in merged_roles:
            kept = merged_roles[key][1]
            kept.ab += calls.ab
            kept.ba += calls.ba
        else:
            merged_roles[key] = (name, calls)
    for key, (name, calls) in merged_roles.items():
        of_role = counts.roles.get(key)
        if of_role is None:
            of_role = counts.roles[key] = RoleCounts(" ".join(name.split()))
        of_role.pairs += 1
        of_role.against[human, calls.verdict] += 1
        of_role.cells.add(counts.pairs - 1, human, calls.verdict)
