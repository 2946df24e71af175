"""The columns of a run in memory: what is kept of its pairs and of each call, without any text.

Verdicts are codes as in :data:`judgenet.stats.curves.CODES`: 0 none, 1 A, 2 tie, 3 B.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Generic, Literal, NamedTuple, SupportsIndex, TypeVar, get_args, overload

import numpy as np
from numpy.typing import NDArray

from judgenet.core.criteria import vote_weights
from judgenet.core.evaluation import Evaluation, Reason, ScoreSource, Unscored, VerdictShares
from judgenet.core.labels import People
from judgenet.core.learned import teachers
from judgenet.core.network import LearnedRule
from judgenet.core.pairs import ORDERS, Verdict, question_key
from judgenet.core.pictures import spoken_text
from judgenet.stats.curves import CODES, Codes
from judgenet.store.runs import RunPair

CallPhase = Literal["none", "asked", "writing", "scored", "unscored", "roles"]
PairPhase = Literal["open", "working", "done", "failed"]
"""``failed``: all calls are in, some without an answer; the next start asks these again."""

CALL_PHASES: Final[tuple[CallPhase, ...]] = ("none", "asked", "writing", "scored", "unscored", "roles")
PAIR_PHASES: Final[tuple[PairPhase, ...]] = ("open", "working", "done", "failed")
SCORED_PHASE: Final = 3
"""Calls with this phase or a later one are in."""
UNSCORED_PHASE: Final = 4
DONE_PHASE: Final = 2
"""Pairs with this phase or a later one have all their calls in."""

VERDICT_CODES: Final[dict[Verdict | None, int]] = {verdict: code for code, verdict in enumerate(CODES)}
REASONS: Final[tuple[Reason | None, ...]] = (None, *Reason)
REASON_CODES: Final = {None if reason is None else reason.value: code for code, reason in enumerate(REASONS)}

T = TypeVar("T")

IntColumn = NDArray[np.unsignedinteger[Any]]


def holding(values: IntColumn, number: int) -> IntColumn:
    """The same array, or a copy in a larger type where it could not hold ``number``."""
    return values if number <= np.iinfo(values.dtype).max else values.astype(np.min_scalar_type(number))


NeuronPlace = tuple[int, int]
"""Layer and neuron, both from 1; the chair's layer is the network's depth + 1."""


class Distinct(Generic[T]):
    """Values that occur often, each with a number from 0 in the order in which they came."""

    __slots__ = ("_numbers", "values")

    def __init__(self, values: Iterable[T] = ()) -> None:
        self.values: list[T] = []
        self._numbers: dict[T, int] = {}
        for value in values:
            self.number(value)

    def number(self, value: T) -> int:
        """The number of a value, a new one where it was not seen before."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number

    def find(self, value: T) -> int:
        """The number of a value, -1 where it does not occur."""
        return self._numbers.get(value, -1)

    def __len__(self) -> int:
        return len(self.values)


class PairIds(Sequence[str]):
    """The ids of the pairs of a run in one buffer, which takes a quarter of the memory of as many strings."""

    __slots__ = ("_ends", "_text")

    def __init__(self, ids: Iterable[str]) -> None:
        text, ends = bytearray(), array("Q", (0,))
        for pair_id in ids:
            # Ids from broken files may hold lone surrogates.
            text += pair_id.encode("utf-8", "surrogatepass")
            ends.append(len(text))
        self._text = bytes(text)
        self._ends: IntColumn = np.array(ends, dtype=np.min_scalar_type(len(text)))

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: SupportsIndex) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[at] for at in range(*index.indices(len(self))))
        place = range(len(self))[index]
        return self._text[self._ends[place] : self._ends[place + 1]].decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for start, end in pairwise(self._ends.tolist()):
            yield self._text[start:end].decode("utf-8", "surrogatepass")


Annotations = tuple[tuple[str, Verdict], ...]
"""What the annotators of a pair said, by name, sorted."""


class PairColumns:
    """What is known of the pairs of a run beside their texts, a value a pair in the order of the run.

    Attributes:
        ids: the pairs' ids.
        human: codes of the human labels.
        people: numbers of :attr:`people_kinds`: where each label comes from.
        questions: the number of each pair's question, from 0 in the order in which questions come.
        tasks, systems: numbers of :attr:`task_names` and, of shape (pairs, 2) for A and B, of :attr:`system_names`.
        lengths: characters of the responses, of shape (pairs, 2).
        panels: numbers of :attr:`panel_kinds`: what the annotators of each pair said.
        notes: numbers of :attr:`note_texts`: where the roles of a pair differ from the design.
        expected: how many calls the pair takes, 0 where that is not known yet.
        role_counts: how many roles came back for each pair, 0 where none are known.
        criteria: numbers of :attr:`criteria_weights`: the weights of each pair's criteria
            (:func:`judgenet.core.criteria.vote_weights`), none for a pair without criteria. ``weight_rows`` has them in
            rows of the same length, filled up with 1; ``weighted`` says whether some differ.
        shown: codes of the one order in which a prompt of a bias lab is shown: 1 for AB, 2 for BA, 0 for other pairs.
        taught: whether a label of each pair taught ``rule``, the learned aggregation of the run's network.
    """

    def __init__(self, pairs: Iterable[RunPair], rule: LearnedRule | None = None) -> None:
        ids: list[str] = []
        human, people, questions = bytearray(), array("L"), array("L")
        tasks, systems, lengths = array("L"), array("L"), array("L")
        panels, notes, expected, role_counts, criteria = (array("L") for _ in range(5))
        shown, taught = bytearray(), bytearray()
        task_names: Distinct[str | None] = Distinct()
        system_names: Distinct[str | None] = Distinct()
        people_kinds: Distinct[People] = Distinct()
        panel_kinds: Distinct[Annotations] = Distinct([()])
        note_texts: Distinct[str] = Distinct([""])
        criteria_weights: Distinct[tuple[float, ...]] = Distinct([()])
        question_keys: Distinct[bytes] = Distinct()
        is_teacher = teachers(rule)
        for run_pair in pairs:
            pair = run_pair.pair
            ids.append(pair.id)
            human.append(VERDICT_CODES[pair.human])
            people.append(people_kinds.number(run_pair.people))
            questions.append(question_keys.number(question_key(pair.question)))
            tasks.append(task_names.number(pair.task))
            systems.extend((system_names.number(pair.model_a), system_names.number(pair.model_b)))
            texts = (pair.response_a, pair.response_b)
            # Pictures have no length that words could be compared with.
            lengths.extend(len(spoken_text(text, pair.pictures) if pair.pictures else text) for text in texts)
            panels.append(panel_kinds.number(tuple(sorted(pair.annotators))))
            notes.append(note_texts.number(run_pair.note))
            expected.append(run_pair.calls_total or 0)
            role_counts.append(len(run_pair.roles or ()))
            criteria.append(criteria_weights.number(vote_weights([criterion.weight for criterion in pair.criteria])))
            shown.append(0 if pair.shown is None or pair.shown.order is None else 1 + ORDERS.index(pair.shown.order))
            taught.append(is_teacher(pair))

        def narrow(values: array[int]) -> IntColumn:
            """The values in the smallest type that holds them."""
            return np.array(values, dtype=np.min_scalar_type(max(values, default=0)))

        self.ids = PairIds(ids)
        self.human: Codes = np.frombuffer(bytes(human), np.uint8).copy()
        self.people, self.people_kinds = narrow(people), people_kinds.values
        self.questions = narrow(questions)
        self.tasks, self.task_names = narrow(tasks), tuple(task_names.values)
        self.systems, self.system_names = narrow(systems).reshape(-1, 2), tuple(system_names.values)
        self.lengths = narrow(lengths).reshape(-1, 2)
        self.panels, self.panel_kinds = narrow(panels), tuple(panel_kinds.values)
        self.notes, self.note_texts = narrow(notes), tuple(note_texts.values)
        self.expected = narrow(expected)
        self.role_counts = np.array(role_counts, dtype=np.int32)
        self.criteria, self.criteria_weights = narrow(criteria), tuple(criteria_weights.values)
        self.weighted = any(len(set(weights)) > 1 for weights in self.criteria_weights)
        self.weight_rows = np.ones((len(self.criteria_weights), max(map(len, self.criteria_weights))))
        for row, weights in zip(self.weight_rows, self.criteria_weights, strict=True):
            row[: len(weights)] = weights
        self.shown: Codes = np.frombuffer(bytes(shown), np.uint8)
        self.taught = np.frombuffer(bytes(taught), np.uint8).astype(np.bool_)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def criteria_counts(self) -> NDArray[np.int64]:
        """How many criteria each pair has."""
        return np.array([len(weights) for weights in self.criteria_weights], dtype=np.int64)[self.criteria]

    @property
    def annotations(self) -> NDArray[np.int64]:
        """How many annotators of each pair said A, tie and B; of shape (pairs, 3)."""
        kinds = np.array(
            [
                [sum(said == verdict for _, said in panel) for verdict in ("a", "tie", "b")]
                for panel in self.panel_kinds
            ],
            dtype=np.int64,
        )
        return kinds.reshape(-1, 3)[self.panels]


@dataclass(frozen=True, slots=True)
class CallState:
    """The state and result of one call. Scores are those of A and B, whatever the order. ``seconds`` is how long the
    answer took; ``cached``: it was in the store already and cost this run nothing. ``stood_in``: a stand-in answered
    it."""

    phase: CallPhase = "none"
    verdict: Verdict | None = None
    score_a: float | None = None
    score_b: float | None = None
    reason: Reason | None = None
    seconds: float | None = None
    attempts: int = 0
    cached: bool = False
    shares: VerdictShares | None = None
    scores_from: ScoreSource | None = None
    stood_in: bool = False

    @property
    def finished(self) -> bool:
        return self.phase in ("scored", "unscored", "roles")


NOT_ASKED: Final = CallState()


SOURCES: Final[tuple[ScoreSource | None, ...]] = (None, *get_args(ScoreSource))
SOURCE_CODES: Final = {source: code for code, source in enumerate(SOURCES)}


class LikelyColumn:
    """Of a call that was to be scored by token probabilities, by pair: ``source`` has the numbers of :data:`SOURCES`,
    ``shares``, of shape (pairs, 3), the probabilities of A, tie and B, and ``sampled``, of shape (pairs, 2), the scores
    for A and B that the text gives where the scores are expected ones; NaN where there are none."""

    __slots__ = ("sampled", "shares", "source")

    def __init__(self, pairs: int) -> None:
        self.source: NDArray[np.uint8] = np.zeros(pairs, np.uint8)
        self.shares: NDArray[np.float64] = np.full((pairs, 3), np.nan)
        self.sampled: NDArray[np.float64] = np.full((pairs, 2), np.nan)


class CallColumn:
    """One call of the network (layer, neuron, order, sample) on all pairs; the arrays are indexed by pair.

    ``verdict`` holds codes, ``seconds`` NaN where there is no value. Scores are kept as numbers of distinct values,
    which takes an eighth of the memory; :meth:`score` gives them back to the digit.
    """

    __slots__ = (
        *("_a", "_b", "_scores", "_stood_in", "attempts", "cached", "likely", "phase", "reason", "seconds", "verdict"),
    )

    def __init__(self, pairs: int, scores: Distinct[float | None]) -> None:
        self.phase: NDArray[np.uint8] = np.zeros(pairs, np.uint8)
        self.verdict: Codes = np.zeros(pairs, np.uint8)
        self.reason: NDArray[np.uint8] = np.zeros(pairs, np.uint8)
        self.attempts: NDArray[np.uint8] = np.zeros(pairs, np.uint8)
        self.cached: NDArray[np.bool_] = np.zeros(pairs, np.bool_)
        self.seconds: NDArray[np.float32] = np.full(pairs, np.nan, np.float32)
        self._a: IntColumn = np.zeros(pairs, np.uint8)
        self._b: IntColumn = np.zeros(pairs, np.uint8)
        self._scores = scores
        self.likely: LikelyColumn | None = None
        self._stood_in: NDArray[np.bool_] | None = None

    def set_stood_in(self, pair: int, stood_in: bool) -> None:
        """Records whether a stand-in answered. Few runs have any: the column is made when the first one comes."""
        if self._stood_in is None and stood_in:
            self._stood_in = np.zeros(len(self.phase), np.bool_)
        if self._stood_in is not None:
            self._stood_in[pair] = stood_in

    def set(
        self,
        pair: int,
        status: str,
        reason: str | None,
        verdict: Verdict | None,
        score_a: float | None,
        score_b: float | None,
        cached: bool,
        attempts: int,
        seconds: float | None,
        shares: VerdictShares | None = None,
        scores_from: ScoreSource | None = None,
        sampled: tuple[float, float] | None = None,
    ) -> None:
        """Records the result of a call."""
        if self.likely is not None or scores_from is not None:
            self.set_likely(pair, shares, scores_from, sampled)
        a, b = self._scores.number(score_a), self._scores.number(score_b)
        self._hold(max(a, b))
        self.phase[pair] = CALL_PHASES.index(status)
        self.reason[pair] = REASON_CODES[reason]
        self.verdict[pair] = VERDICT_CODES[verdict]
        self._a[pair], self._b[pair] = a, b
        self.cached[pair] = cached
        self.attempts[pair] = min(attempts, 255)
        self.seconds[pair] = np.nan if seconds is None else seconds

    def set_likely(
        self,
        pair: int,
        shares: VerdictShares | None,
        source: ScoreSource | None,
        sampled: tuple[float, float] | None,
    ) -> None:
        """Records the result of a call that was to be scored by token probabilities."""
        if self.likely is None:
            self.likely = LikelyColumn(len(self.phase))
        self.likely.source[pair] = SOURCE_CODES[source]
        self.likely.shares[pair] = np.nan if shares is None else shares
        self.likely.sampled[pair] = np.nan if sampled is None else sampled

    def set_scores(self, pairs: NDArray[np.int64], a: NDArray[np.int64], b: NDArray[np.int64]) -> None:
        """Records the scores of several pairs, as numbers of the distinct scores."""
        self._hold(int(max(a.max(initial=0), b.max(initial=0))))
        self._a[pairs], self._b[pairs] = a, b

    def _hold(self, number: int) -> None:
        self._a, self._b = holding(self._a, number), holding(self._b, number)

    def score(self, pair: int) -> tuple[float | None, float | None]:
        """The scores of A and B on a pair."""
        values = self._scores.values
        return values[int(self._a[pair])], values[int(self._b[pair])]

    @property
    def scores(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The scores of A and of B by pair, NaN where there is none."""
        values = np.array([np.nan if value is None else value for value in self._scores.values])
        return values[self._a], values[self._b]

    @property
    def differences(self) -> NDArray[np.float64]:
        """A minus B of each valid call, NaN for the others; a verdict without scores counts one point."""
        a, b = self.scores
        differences = a - b
        differences = np.where(np.isnan(differences), 2.0 - self.verdict, differences)
        return np.where(self.phase == SCORED_PHASE, differences, np.nan)

    def result(self, pair: int) -> Evaluation | Unscored | None:
        """The call's result without its evidence; ``None`` where it is not in."""
        phase = CALL_PHASES[int(self.phase[pair])]
        if phase == "unscored":
            return Unscored(REASONS[int(self.reason[pair])] or Reason.INTERNAL)
        verdict = CODES[int(self.verdict[pair])]
        if phase != "scored" or verdict is None:
            return None
        return Evaluation("", verdict, *self.score(pair), *self.likely_result(pair))

    def likely_result(self, pair: int) -> tuple[VerdictShares | None, ScoreSource | None]:
        """The probabilities of the verdicts on a pair, and where the scores come from."""
        if self.likely is None:
            return None, None
        shares = self.likely.shares[pair]
        known = None if np.isnan(shares).any() else VerdictShares(*shares.tolist())
        return known, SOURCES[int(self.likely.source[pair])]

    def state(self, pair: int) -> CallState:
        """The state and result of the call on a pair."""
        if not self.phase[pair]:
            return NOT_ASKED
        seconds = self.seconds[pair]
        return CallState(
            CALL_PHASES[int(self.phase[pair])],
            CODES[int(self.verdict[pair])],
            *self.score(pair),
            REASONS[int(self.reason[pair])],
            None if np.isnan(seconds) else float(seconds),
            int(self.attempts[pair]),
            bool(self.cached[pair]),
            *self.likely_result(pair),
            self._stood_in is not None and bool(self._stood_in[pair]),
        )


RUNNING: Final = 1
UNSCORED: Final = 2
"""Bits of :attr:`NeuronStrip.state`."""


class NeuronStrip(NamedTuple):
    """The calls of a neuron over a range of pairs, or of several neurons, one row each.

    ``difference`` is the score of A minus that of B, the mean over its valid calls that are in (a verdict without
    scores counts one point), NaN where there are none. ``state`` has the bits :data:`RUNNING` (a call is in flight)
    and :data:`UNSCORED` (calls are in, and none is valid).
    """

    difference: NDArray[np.float32]
    state: NDArray[np.uint8]


class Strips:
    """The strips of the neurons of all layers, kept up to date call by call: a grid is painted from them."""

    def __init__(self, pairs: int) -> None:
        self._pairs = pairs
        self._difference: dict[int, NDArray[np.float32]] = {}
        self._state: dict[int, NDArray[np.uint8]] = {}

    def _hold(self, layer: int, neurons: int) -> None:
        """Makes room for so many neurons of a layer."""
        there = len(self._state.get(layer, ()))
        if there < neurons:
            missing = (neurons - there, self._pairs)
            difference, state = np.full(missing, np.nan, np.float32), np.zeros(missing, np.uint8)
            if there:
                difference = np.concatenate((self._difference[layer], difference))
                state = np.concatenate((self._state[layer], state))
            self._difference[layer], self._state[layer] = difference, state

    def set_all(self, place: NeuronPlace, columns: Sequence[CallColumn]) -> None:
        """Sets a neuron's strip on all pairs from its columns; no call may be in flight."""
        layer, neuron = place
        self._hold(layer, neuron)
        differences = np.stack([column.differences for column in columns])
        valid = (~np.isnan(differences)).sum(axis=0)
        total = np.nansum(differences, axis=0)
        unscored = np.stack([column.phase == UNSCORED_PHASE for column in columns]).any(axis=0)
        self._difference[layer][neuron - 1] = np.divide(total, valid, out=np.full(len(total), np.nan), where=valid > 0)
        self._state[layer][neuron - 1] = np.where(unscored & (valid == 0), UNSCORED, 0)

    def set(self, pair: int, place: NeuronPlace, columns: Sequence[CallColumn]) -> None:
        """Sets a neuron's strip on one pair from its columns."""
        layer, neuron = place
        self._hold(layer, neuron)
        total, valid, state = 0.0, 0, 0
        for column in columns:
            phase = column.phase[pair]
            if phase == SCORED_PHASE:
                a, b = column.score(pair)
                # A verdict without scores counts one point: A 1, tie 0, B -1.
                total += 2.0 - column.verdict[pair] if a is None or b is None else a - b
                valid += 1
            elif phase == UNSCORED_PHASE:
                state |= UNSCORED
            elif phase:
                state |= RUNNING
        self._difference[layer][neuron - 1, pair] = total / valid if valid else np.nan
        self._state[layer][neuron - 1, pair] = state & RUNNING if valid else state

    def running(self) -> list[tuple[int, NeuronPlace]]:
        """The pairs and neurons that have a call in flight."""
        return [
            (int(pair), (layer, int(neuron) + 1))
            for layer, state in self._state.items()
            for neuron, pair in zip(*np.nonzero(state & RUNNING), strict=True)
        ]

    def part(self, layer: int, first: int, last: int, start: int, stop: int) -> NeuronStrip:
        """The neurons from ``first`` to ``last`` over the pairs from ``start`` to ``stop`` (not included)."""
        known = self._state.get(layer)
        if known is not None and last <= len(known):
            return NeuronStrip(
                self._difference[layer][first - 1 : last, start:stop], known[first - 1 : last, start:stop]
            )
        shape = (last - first + 1, max(0, min(stop, self._pairs) - start))
        difference, state = np.full(shape, np.nan, np.float32), np.zeros(shape, np.uint8)
        if known is not None:
            there = known[first - 1 : last, start:stop]
            difference[: len(there)], state[: len(there)] = self._difference[layer][first - 1 : last, start:stop], there
        return NeuronStrip(difference, state)
