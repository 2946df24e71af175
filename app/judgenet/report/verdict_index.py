"""What was said of each pair of a run, a byte a verdict: from a figure back to the pairs that it counts."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import PairVerdicts, aggregation_names, merged
from judgenet.core.evaluation import Evaluation
from judgenet.core.labels import Chosen, People
from judgenet.core.network import NetworkSpec
from judgenet.core.pairs import Verdict, question_key
from judgenet.report.model import Left
from judgenet.stats.curves import CODES
from judgenet.stats.discussion import Overturns, overturns_of
from judgenet.stats.provenance import LabelSources, LabelTally, Sample
from judgenet.stats.resampling import question_counts
from judgenet.store.runs import CallRow, RunPair

_CODE: Final[dict[Verdict | None, int]] = {verdict: code for code, verdict in enumerate(CODES)}
_NONE: Final = _CODE[None]
_STATES: Final = {"open": 0, "done": 1, "failed": 2}

_Codes = NDArray[np.uint8]
_Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Cell:
    """Pairs on which an aggregation said one thing and people another, or the same."""

    aggregation: str
    said: Verdict
    human: Verdict


Swayed = Literal["all", "first", "last", "partial"]


@dataclass(frozen=True, slots=True)
class OrdersDiffer:
    """Pairs whose verdict depends on the order: all of them, or those on which the response shown first (last) won
    both times, or those with a tie in one order (``partial``)."""

    kind: Swayed = "all"


Turn = Literal["all", "right", "wrong", "between"]


@dataclass(frozen=True, slots=True)
class Overturned:
    """Pairs on which the vote of layer ``after`` differs from that of layer ``before`` (both from 1).

    ``turn`` keeps those that became right or wrong by people's label, or stayed wrong (``between``).
    """

    before: int
    after: int
    turn: Turn = "all"


@dataclass(frozen=True, slots=True)
class Turned:
    """Pairs of which layer ``before`` said ``was`` and layer ``after`` says ``now`` (layers from 1)."""

    before: int
    after: int
    was: Verdict
    now: Verdict


@dataclass(frozen=True, slots=True)
class OfAggregation:
    """Pairs that have a label and an aggregation's verdict; ``right`` where both are the same."""

    aggregation: str
    right: bool


@dataclass(frozen=True, slots=True)
class OfTask:
    """Pairs of a task on which an aggregation was right or wrong."""

    task: str | None
    aggregation: str
    right: bool


@dataclass(frozen=True, slots=True)
class OfNeuron:
    """Pairs on which a neuron (layer and neuron from 1) was right or wrong."""

    layer: int
    neuron: int
    right: bool


@dataclass(frozen=True, slots=True)
class OfRole:
    """Pairs on which a role was right or wrong."""

    role: str
    right: bool


@dataclass(frozen=True, slots=True)
class OfLeftOut:
    """Pairs that figures do not rest on; ``unscored`` are pairs with a call without an evaluation."""

    what: Left
    aggregation: str


Selection = (
    Cell | OrdersDiffer | Overturned | Turned | OfAggregation | OfTask | OfNeuron | OfRole | OfLeftOut
)  # fmt: skip

LISTED: Final[frozenset[Left]] = frozenset(
    {"not judged", "calls missing", "no verdict", "no label", "label without verdict", "unscored"}
)
"""What is left out and can be listed pair by pair."""


@dataclass(slots=True)
class _Said:
    """What one neuron or role said: indexes of pairs, and codes of its verdicts on them."""

    pairs: array[int] = field(default_factory=lambda: array("L"))
    codes: bytearray = field(default_factory=bytearray)

    def add(self, pair: int, verdict: Verdict | None) -> None:
        self.pairs.append(pair)
        self.codes.append(_CODE[verdict])


def role_key(name: str) -> str:
    """What tells roles apart: their name without regard to case and white space."""
    return " ".join(name.split()).casefold()


class VerdictIndex:
    """Verdicts by pair, filled while a run is read (:func:`judgenet.report.build.build`).

    It weighs a byte for each aggregation of a pair and five for each neuron and role.
    """

    def __init__(self, spec: NetworkSpec, run_id: str = "") -> None:
        """``run_id`` tells which labels were drawn within the verdicts of this run."""
        self.spec = spec
        self.run_id = run_id
        self._names = aggregation_names(spec)
        self._human = bytearray()
        self._state = bytearray()
        self._unscored = bytearray()
        self._tasks: array[int] = array("L")
        self._task_numbers: dict[str | None, int] = {}
        self._orders = (bytearray(), bytearray())
        self._said: dict[str, bytearray] = {name: bytearray() for name in self._names}
        self._neurons: dict[tuple[int, int], _Said] = {}
        self._roles: dict[str, _Said] = {}
        self._panels: Counter[tuple[tuple[str, Verdict], ...]] = Counter()
        self._questions: array[int] = array("L")
        self._question_numbers: dict[bytes, int] = {}
        self._people: array[int] = array("L")
        self._people_numbers: dict[People, int] = {}

    def __len__(self) -> int:
        return len(self._human)

    def add(self, of: RunPair, rows: Sequence[CallRow], found: PairVerdicts | None) -> None:
        """Takes the next pair of the run in; ``found`` is ``None`` where it has no verdicts yet."""
        pair = of.pair
        self._human.append(_CODE[pair.human])
        asks = question_key(pair.question)
        self._questions.append(self._question_numbers.setdefault(asks, len(self._question_numbers)))
        self._people.append(self._people_numbers.setdefault(of.people, len(self._people_numbers)))
        if pair.annotators:
            self._panels[tuple(sorted(pair.annotators))] += 1
        self._state.append(_STATES[of.state if found is not None else "open"])
        self._tasks.append(self._task_numbers.setdefault(pair.task, len(self._task_numbers)))
        named = {} if found is None else found.named()
        for name, codes in self._said.items():
            codes.append(_CODE[named.get(name)])
        self._orders[0].append(_NONE if found is None else _CODE[found.c1_ab])
        self._orders[1].append(_NONE if found is None else _CODE[found.c1_ba])
        if found is None:
            self._unscored.append(False)
            return
        unscored = False
        differences: dict[tuple[int, int], list[float]] = {}
        of_roles: dict[str, list[float]] = {}
        for row in rows:
            if row.site.order is None:
                continue
            scored = isinstance(row.result, Evaluation)
            unscored |= not scored
            values = [row.result.difference] if isinstance(row.result, Evaluation) else []
            differences.setdefault((row.site.layer, row.site.neuron), []).extend(values)
            if row.role is not None:
                of_roles.setdefault(role_key(row.role), []).extend(values)
        self._unscored.append(unscored)
        for place, values in differences.items():
            self._neurons.setdefault(place, _Said()).add(of.index, merged(values))
        for key, values in of_roles.items():
            self._roles.setdefault(key, _Said()).add(of.index, merged(values))

    # Reading

    def human(self, pair: int) -> Verdict | None:
        """What people said of a pair."""
        return CODES[self._human[pair]]

    def verdict(self, aggregation: str, pair: int) -> Verdict | None:
        """What an aggregation says of a pair."""
        return CODES[self._said[aggregation][pair]]

    def codes(self, aggregation: str) -> _Codes:
        """The codes of an aggregation's verdicts by pair (:data:`judgenet.stats.curves.CODES`)."""
        return np.frombuffer(bytes(self._said[aggregation]), np.uint8)

    @property
    def human_codes(self) -> _Codes:
        """The codes of people's labels by pair."""
        return np.frombuffer(bytes(self._human), np.uint8)

    @property
    def panels(self) -> Mapping[tuple[tuple[str, Verdict], ...], int]:
        """What the people of a panel said of a pair, as (name, verdict), and of how many pairs they said it."""
        return self._panels

    def labelled_counts(self, aggregation: str) -> tuple[Counter[tuple[Verdict, Verdict]], Counter[Verdict]]:
        """Counts of the pairs with a verdict: those with a label by (verdict, label), the others by verdict."""
        codes = np.bincount(self.codes(aggregation) * np.uint8(4) + self.human_codes, minlength=16).reshape(4, 4)
        labelled: Counter[tuple[Verdict, Verdict]] = Counter()
        others: Counter[Verdict] = Counter()
        for said, human in zip(*codes.nonzero(), strict=True):
            verdict, label = CODES[said], CODES[human]
            if verdict is None:
                continue
            if label is None:
                others[verdict] += int(codes[said, human])
            else:
                labelled[verdict, label] += int(codes[said, human])
        return labelled, others

    def sample(self, aggregation: str, chosen: Chosen | None = None) -> Sample:
        """The labels that an estimate may rest on, as ``chosen`` says for all of them or as is kept of each."""
        kinds = tuple(self._people_numbers)
        tally = LabelTally(f"{self.run_id}/{aggregation}")
        counts = Counter(zip(self._said[aggregation], self._human, self._people, strict=True))
        for (said, human, people), count in counts.items():
            tally.add(CODES[said], CODES[human], kinds[people], count=count)
        return tally.sample(chosen)

    def by_question(self, aggregation: str, sample: Sample) -> NDArray[np.float64]:
        """Pairs of each question by verdict and by the label that ``sample`` rests on, of shape (questions, 4, 4)."""
        tally = LabelTally(f"{self.run_id}/{aggregation}")
        counting = np.array([tally.counts(people, sample) for people in self._people_numbers], dtype=bool)
        questions = np.asarray(self._questions, dtype=np.int64)
        labels = np.where(counting[np.asarray(self._people, dtype=np.int64)], self.human_codes, _NONE).astype(np.uint8)
        return question_counts(questions, self.codes(aggregation), labels)

    @property
    def sources(self) -> LabelSources:
        """Where the labels come from, and what does not count."""
        kinds = tuple(self._people_numbers)
        found = LabelSources()
        for (human, people), count in Counter(zip(self._human, self._people, strict=True)).items():
            found.add(CODES[human], kinds[people], count=count)
        return found

    def people(self, pair: int) -> People:
        """Where the label of a pair comes from."""
        return tuple(self._people_numbers)[self._people[pair]]

    def question(self, pair: int) -> int:
        """A number for the question of a pair: the same for the same question."""
        return self._questions[pair]

    def from_file(self) -> int:
        """How many pairs have a label that came with the data, and not from a draw of pairs to be labelled."""
        kinds = tuple(self._people_numbers)
        counts = Counter(zip(self._human, self._people, strict=True))
        return sum(
            count
            for (human, people), count in counts.items()
            if (CODES[human] is not None or kinds[people].targeted is not None)
            and kinds[people].population is None
            and kinds[people].settled_by is None
        )

    def unlabelled(self, aggregation: str, *, counting: bool = True) -> dict[Verdict, list[int]]:
        """The indexes of the pairs with a verdict and no label that counts, by verdict, in order: of all of them where
        labels are not ``counting`` (:func:`judgenet.stats.label_plan.plan_labels`)."""
        open_to_label = _is(self.human_codes, None) | (not counting)
        codes = self.codes(aggregation)
        found = {
            verdict: np.flatnonzero(open_to_label & _is(codes, verdict)).tolist()
            for verdict in CODES
            if verdict is not None
        }
        return {verdict: pairs for verdict, pairs in found.items() if pairs}

    def pairs(self, chosen: Selection) -> tuple[int, ...]:
        """The indexes of the pairs that a selection means, in order.

        :raises KeyError: this network has no such aggregation.
        """
        mask = self._mask(chosen)
        if isinstance(mask, tuple):
            return mask
        return tuple(int(pair) for pair in np.flatnonzero(mask))

    def _mask(self, chosen: Selection) -> _Mask | tuple[int, ...]:
        human = self.human_codes
        match chosen:
            case Cell(name, said, meant):
                return _is(self.codes(name), said) & _is(human, meant)
            case OrdersDiffer(kind):
                return self._orders_mask(kind)
            case Overturned(before, after, turn):
                return _turned(self.codes(f"c2_l{before}"), self.codes(f"c2_l{after}"), human, turn)
            case Turned(before, after, was, now):
                return _is(self.codes(f"c2_l{before}"), was) & _is(self.codes(f"c2_l{after}"), now)
            case OfAggregation(name, right):
                return _right(self.codes(name), human, right)
            case OfTask(task, name, right):
                mine: _Mask = np.asarray(self._tasks) == self._task_numbers.get(task, -1)
                return _right(self.codes(name), human, right) & mine
            case OfNeuron(layer, neuron, right):
                return self._said_right(self._neurons.get((layer, neuron)), right)
            case OfRole(role, right):
                return self._said_right(self._roles.get(role_key(role)), right)
            case OfLeftOut(what, name):
                return self._left_mask(what, name)

    def _orders_mask(self, kind: Swayed) -> _Mask:
        ab, ba = (np.frombuffer(bytes(codes), np.uint8) for codes in self._orders)
        differ = ~_same(ab, ba) & ~_is(ab, None) & ~_is(ba, None)
        match kind:
            case "all":
                return differ
            case "first":
                return _is(ab, "a") & _is(ba, "b")
            case "last":
                return _is(ab, "b") & _is(ba, "a")
            case "partial":
                return differ & (_is(ab, "tie") | _is(ba, "tie"))

    def _said_right(self, said: _Said | None, right: bool) -> tuple[int, ...]:
        if said is None:
            return ()
        pairs = np.asarray(said.pairs)
        codes = np.frombuffer(bytes(said.codes), np.uint8)
        return tuple(int(pair) for pair in pairs[_right(codes, self.human_codes[pairs], right)])

    def _left_mask(self, what: Left, name: str) -> _Mask:
        said, human = self.codes(name), self.human_codes
        state = np.frombuffer(bytes(self._state), np.uint8)
        open_pairs: _Mask = state == _STATES["open"]
        match what:
            case "not judged":
                return open_pairs
            case "calls missing":
                missing: _Mask = state == _STATES["failed"]
                return missing
            case "no verdict":
                return ~open_pairs & _is(said, None)
            case "no label":
                return _is(human, None)
            case "label without verdict":
                return ~_is(human, None) & _is(said, None)
            case "unscored":
                return np.frombuffer(bytes(self._unscored), np.bool_)
            case "unread inputs":
                return np.zeros(len(self), np.bool_)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two verdicts of the same pairs: under other rules, or by another run. ``pairs`` holds by :data:`Turn` the
    indexes, in the second of the two, of the pairs on which they differ."""

    overturns: Overturns
    pairs: Mapping[Turn, tuple[int, ...]]


def compare(
    before: VerdictIndex,
    after: VerdictIndex,
    aggregations: tuple[str, str],
    common: Sequence[tuple[int, int]] | None = None,
) -> Comparison:
    """Compares an aggregation of one index with one of another. Labels are those of ``after``.

    ``common`` holds the places of the same pairs in both; without it both hold the same pairs in the same order.
    """
    mine: NDArray[np.intp] = np.arange(len(after))
    theirs = mine
    if common is not None:
        theirs, mine = np.array(common, np.intp).reshape(-1, 2).T
    was, now = before.codes(aggregations[0])[theirs], after.codes(aggregations[1])[mine]
    human = after.human_codes[mine]
    counts = np.bincount(was * 16 + now * 4 + human, minlength=64).reshape(4, 4, 4)
    overturns = overturns_of(
        {
            (CODES[one], CODES[other], CODES[label]): int(counts[one, other, label])
            for one, other, label in zip(*counts.nonzero(), strict=True)
        }
    )
    turns: tuple[Turn, ...] = get_args(Turn)
    return Comparison(
        overturns,
        {turn: tuple(int(pair) for pair in mine[_turned(was, now, human, turn)]) for turn in turns},
    )


def _turned(was: _Codes, now: _Codes, human: _Codes, turn: Turn) -> _Mask:
    """Where two verdicts differ, and which of them people share."""
    overturned = ~_same(was, now) & ~_is(was, None) & ~_is(now, None)
    match turn:
        case "all":
            return overturned
        case "right":
            return overturned & _same(now, human)
        case "wrong":
            return overturned & _same(was, human)
        case "between":
            return overturned & ~_same(now, human) & ~_same(was, human) & ~_is(human, None)


def _is(codes: _Codes, verdict: Verdict | None) -> _Mask:
    found: _Mask = codes == _CODE[verdict]
    return found


def _same(one: _Codes, other: _Codes) -> _Mask:
    found: _Mask = one == other
    return found


def _right(said: _Codes, human: _Codes, right: bool) -> _Mask:
    """Where both are there and equal (``right``) or different."""
    both = ~_is(said, None) & ~_is(human, None)
    return both & (_same(said, human) if right else ~_same(said, human))
