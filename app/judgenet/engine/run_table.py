"""A run in short, for showing: each call's state and scores in arrays, each pair's state and verdicts.

It is filled from the store or from events, and both give the same: it can be thrown away and read again at any time.
Texts are left in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import Opinion, aggregate, aggregation_names, merged
from judgenet.core.calls import ROLES_LAYER, CallSite
from judgenet.core.evaluation import ANSWERED, Evaluation, Reason, Unscored
from judgenet.core.events import CallFinished, CallStarted, CallText, Event, PairFinished, RolesFound
from judgenet.core.network import NetworkSpec, designed_width
from judgenet.core.pairs import ORDERS, Order, Pair, Verdict
from judgenet.stats.agreement import Flips, flips_of
from judgenet.stats.curves import CODES as CODES
from judgenet.stats.curves import AgreementCurves, agreement_curves, pair_counts
from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, call_heads, pair_heads

CallPhase = Literal["none", "asked", "writing", "scored", "unscored", "roles"]
PairPhase = Literal["open", "working", "done", "failed"]
"""``failed``: all calls are in, some without an answer; the next start asks these again."""

_CALL_PHASES: Final[tuple[CallPhase, ...]] = ("none", "asked", "writing", "scored", "unscored", "roles")
_PAIR_PHASES: Final[tuple[PairPhase, ...]] = ("open", "working", "done", "failed")
_FINISHED: Final = 3
"""Calls with this phase or a later one are in."""
_UNSCORED: Final = 4

_CODE: Final[dict[Verdict | None, int]] = {verdict: code for code, verdict in enumerate(CODES)}
_REASONS: Final[tuple[Reason | None, ...]] = (None, *Reason)
_REASON_CODE: Final = {None if reason is None else reason.value: code for code, reason in enumerate(_REASONS)}

_PAIRS_PER_CHECK: Final = 200


@dataclass(frozen=True, slots=True)
class CallState:
    """One call in short. Scores are those of A and B, whatever the order. ``seconds`` is how long the answer took;
    ``cached``: it was in the store already and cost this run nothing."""

    phase: CallPhase = "none"
    verdict: Verdict | None = None
    score_a: float | None = None
    score_b: float | None = None
    reason: Reason | None = None
    seconds: float | None = None
    attempts: int = 0
    cached: bool = False

    @property
    def finished(self) -> bool:
        return self.phase in ("scored", "unscored", "roles")


NOT_ASKED: Final = CallState()

RUNNING: Final = 1
UNSCORED: Final = 2
"""Bits of :attr:`Strip.state`."""


class Strip(NamedTuple):
    """A neuron over a stretch of pairs.

    ``difference`` is the score of A minus that of B, the mean over its valid calls that are in (a verdict without
    scores counts one point), NaN where there are none. ``state`` has the bits :data:`RUNNING` (a call is on its way)
    and :data:`UNSCORED` (calls are in, and none is valid).
    """

    difference: NDArray[np.float32]
    state: NDArray[np.uint8]


class Column:
    """One call of the network (layer, neuron, order, sample) on all pairs; the arrays are indexed by pair.

    ``verdict`` holds codes (:data:`CODES`), ``score_a``, ``score_b`` and ``seconds`` NaN where there is no value.
    """

    __slots__ = ("attempts", "cached", "phase", "reason", "score_a", "score_b", "seconds", "verdict")

    def __init__(self, pairs: int) -> None:
        self.phase: NDArray[np.uint8] = np.zeros(pairs, np.uint8)
        self.verdict: NDArray[np.uint8] = np.zeros(pairs, np.uint8)
        self.reason: NDArray[np.uint8] = np.zeros(pairs, np.uint8)
        self.attempts: NDArray[np.uint8] = np.zeros(pairs, np.uint8)
        self.cached: NDArray[np.bool_] = np.zeros(pairs, np.bool_)
        self.score_a: NDArray[np.float64] = np.full(pairs, np.nan)
        self.score_b: NDArray[np.float64] = np.full(pairs, np.nan)
        self.seconds: NDArray[np.float32] = np.full(pairs, np.nan, np.float32)

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
    ) -> None:
        """Keeps what a call came to."""
        self.phase[pair] = _CALL_PHASES.index(status)
        self.reason[pair] = _REASON_CODE[reason]
        self.verdict[pair] = _CODE[verdict]
        self.score_a[pair] = np.nan if score_a is None else score_a
        self.score_b[pair] = np.nan if score_b is None else score_b
        self.cached[pair] = cached
        self.attempts[pair] = min(attempts, 255)
        self.seconds[pair] = np.nan if seconds is None else seconds

    def result(self, pair: int) -> Evaluation | Unscored | None:
        """The call's result without its evidence; ``None`` where it is not in."""
        phase = _CALL_PHASES[int(self.phase[pair])]
        if phase == "unscored":
            return Unscored(_REASONS[int(self.reason[pair])] or Reason.INTERNAL)
        verdict = CODES[int(self.verdict[pair])]
        if phase != "scored" or verdict is None:
            return None
        return Evaluation("", verdict, _number(self.score_a[pair]), _number(self.score_b[pair]))


class _Strips:
    """The strips of a layer's neurons over all pairs, kept up to date call by call: a grid is painted from them."""

    __slots__ = ("difference", "state")

    def __init__(self, neurons: int, pairs: int) -> None:
        self.difference: NDArray[np.float32] = np.full((neurons, pairs), np.nan, np.float32)
        self.state: NDArray[np.uint8] = np.zeros((neurons, pairs), np.uint8)

    def hold(self, neurons: int) -> None:
        """Makes room for so many neurons."""
        missing = neurons - len(self.state)
        if missing > 0:
            pairs = self.state.shape[1]
            self.difference = np.concatenate((self.difference, np.full((missing, pairs), np.nan, np.float32)))
            self.state = np.concatenate((self.state, np.zeros((missing, pairs), np.uint8)))


def _number(value: np.float64 | np.float32) -> float | None:
    return None if np.isnan(value) else float(value)


class RunTable:
    """The calls and pairs of one run.

    Attributes:
        run, spec: the run and its network.
        ids, tasks: by pair; ``human`` holds the codes of people's labels, ``states`` codes of the pairs' phases.
        columns: by (layer, neuron, order, sample) as in :class:`CallSite`; those that were seen so far.
        finished: indexes of finished pairs in the order in which they finished.
        calls_in, calls_unscored: calls that are in, and those of them without an evaluation.
    """

    def __init__(
        self,
        run: RunInfo,
        spec: NetworkSpec,
        ids: Iterable[str],
        human: Iterable[Verdict | None],
        tasks: Iterable[str | None],
    ) -> None:
        self.run = run
        self.spec = spec
        self.ids = tuple(ids)
        self.tasks = tuple(tasks)
        count = len(self.ids)
        self.human: NDArray[np.uint8] = np.fromiter((_CODE[label] for label in human), np.uint8, count)
        self.states: NDArray[np.uint8] = np.zeros(count, np.uint8)
        self.columns: dict[tuple[int, int, Order | None, int], Column] = {}
        self.finished: list[int] = []
        self._names = aggregation_names(spec)
        self._verdicts: dict[str, NDArray[np.uint8]] = {name: np.zeros(count, np.uint8) for name in self._names}
        self._orders: dict[Order, NDArray[np.uint8]] = {order: np.zeros(count, np.uint8) for order in ORDERS}
        self._widths = {layer + 1: designed_width(spec, layer) or 0 for layer in range(spec.depth)}
        self._of_neuron: dict[tuple[int, int], list[tuple[Order | None, int, Column]]] = {}
        self._strips: dict[int, _Strips] = {}
        self.calls_in = 0
        self.calls_unscored = 0

    @classmethod
    def fresh(cls, run: RunInfo, spec: NetworkSpec, pairs: Iterable[Pair]) -> RunTable:
        """The table of a run that begins."""
        pairs = tuple(pairs)
        return cls(
            run,
            spec,
            (pair.id for pair in pairs),
            (pair.human for pair in pairs),
            (pair.task for pair in pairs),
        )

    @classmethod
    def read(cls, store: Store, run: RunInfo, check: Callable[[], object] = lambda: None) -> RunTable:
        """The table of a recorded run. ``check`` is called now and then and may raise to end the reading."""
        heads = tuple(pair_heads(store, run))
        table = cls(
            run,
            network_of(run),
            (head.pair_id for head in heads),
            (head.human for head in heads),
            (head.task for head in heads),
        )
        last = 0
        for call in call_heads(store, run):
            if call.pair - last >= _PAIRS_PER_CHECK:
                last = call.pair
                check()
            table._set(
                CallSite(call.pair, call.layer, call.neuron, call.order, call.sample),
                call.status,
                call.reason,
                call.verdict,
                call.score_a,
                call.score_b,
                bool(call.cached),
                call.attempts,
                call.latency_s,
                restrip=False,
            )
        table._restrip_all()
        for number, head in enumerate(heads):
            if number % _PAIRS_PER_CHECK == 0:
                check()
            if head.state == "open":
                table.states[head.pair] = any(column.phase[head.pair] for column in table.columns.values())
                continue
            table.states[head.pair] = _PAIR_PHASES.index(head.state)
            table.finished.append(head.pair)
            found = aggregate(table.opinions(head.pair), table.spec.depth, table.spec.aggregation)
            table._set_verdicts(head.pair, found.named())
            table._orders["ab"][head.pair] = _CODE[found.c1_ab]
            table._orders["ba"][head.pair] = _CODE[found.c1_ba]
        return table

    # Filling

    def column(self, layer: int, neuron: int, order: Order | None, sample: int) -> Column:
        """The column of a call, made where it was not seen before."""
        key = (layer, neuron, order, sample)
        found = self.columns.get(key)
        if found is None:
            found = self.columns[key] = Column(len(self.ids))
            self._of_neuron.setdefault((layer, neuron), []).append((order, sample, found))
            if neuron > self._widths.get(layer, 0):
                self._widths[layer] = neuron
        return found

    def _set(
        self,
        site: CallSite,
        status: str,
        reason: str | None,
        verdict: Verdict | None,
        score_a: float | None,
        score_b: float | None,
        cached: bool,
        attempts: int,
        seconds: float | None,
        *,
        restrip: bool = True,
    ) -> None:
        column = self.column(*site[1:])
        before = int(column.phase[site.pair])
        column.set(site.pair, status, reason, verdict, score_a, score_b, cached, attempts, seconds)
        self.calls_in += before < _FINISHED
        self.calls_unscored += (status == "unscored") - (before == _UNSCORED)
        if restrip:
            self._restrip(site.pair, site.layer, site.neuron)

    def _strips_of(self, layer: int, neuron: int) -> _Strips:
        strips = self._strips.get(layer)
        if strips is None:
            strips = self._strips[layer] = _Strips(max(neuron, self.width(layer)), len(self.ids))
        elif neuron > len(strips.state):
            strips.hold(max(neuron, self.width(layer)))
        return strips

    def _restrip_all(self) -> None:
        """Looks anew at all neurons on all pairs, none of which has a call on its way."""
        for (layer, neuron), columns in self._of_neuron.items():
            if layer == ROLES_LAYER:
                continue
            total = np.zeros(len(self.ids))
            valid = np.zeros(len(self.ids), np.uint8)
            unscored = np.zeros(len(self.ids), np.bool_)
            for _, _, column in columns:
                scored = column.phase == _FINISHED
                difference = column.score_a - column.score_b
                difference = np.where(np.isnan(difference), 2.0 - column.verdict, difference)
                total += np.where(scored, difference, 0.0)
                valid += scored
                unscored |= column.phase == _UNSCORED
            strips = self._strips_of(layer, neuron)
            strips.difference[neuron - 1] = np.divide(total, valid, out=np.full(len(total), np.nan), where=valid > 0)
            strips.state[neuron - 1] = np.where(unscored & (valid == 0), UNSCORED, 0)

    def _restrip(self, pair: int, layer: int, neuron: int) -> None:
        """Looks anew at one neuron on one pair."""
        if layer == ROLES_LAYER:
            return
        strips = self._strips_of(layer, neuron)
        total, valid, state = 0.0, 0, 0
        for _, _, column in self._of_neuron[layer, neuron]:
            phase = column.phase[pair]
            if phase == _FINISHED:
                difference = column.score_a[pair] - column.score_b[pair]
                # A verdict without scores counts one point: A 1, tie 0, B -1.
                total += difference if difference == difference else 2.0 - column.verdict[pair]
                valid += 1
            elif phase == _UNSCORED:
                state |= UNSCORED
            elif phase:
                state |= RUNNING
        strips.difference[neuron - 1, pair] = total / valid if valid else np.nan
        strips.state[neuron - 1, pair] = state & RUNNING if valid else state

    def take(self, event: Event) -> CallSite | int | None:
        """Takes an event of this run in. Returns the call or the pair that changed."""
        if isinstance(event, CallStarted | CallText):
            site = CallSite(event.pair, event.layer, event.neuron, event.order, event.sample)
            phase = self.column(*site[1:]).phase
            wanted = 1 if isinstance(event, CallStarted) else 2
            before = int(phase[event.pair])
            if before == wanted:
                return None
            phase[event.pair] = wanted
            self.calls_in -= before >= _FINISHED
            self.calls_unscored -= before == _UNSCORED
            if wanted == 1:
                self._restrip(*site[:3])
            self._begin(event.pair)
            return site
        if isinstance(event, CallFinished):
            site = CallSite(event.pair, event.layer, event.neuron, event.order, event.sample)
            self._set(
                site,
                event.status,
                event.reason,
                event.verdict,
                event.score_a,
                event.score_b,
                event.cached,
                event.attempts,
                event.latency_s or None,
            )
            self._begin(event.pair)
            return site
        if isinstance(event, RolesFound):
            return event.pair
        if isinstance(event, PairFinished):
            if self.states[event.pair] < 2:
                self.finished.append(event.pair)
            self.states[event.pair] = 3 if event.open_calls else 2
            self._set_verdicts(event.pair, dict(event.verdicts))
            self._set_orders(event.pair)
            return event.pair
        return None

    def _begin(self, pair: int) -> None:
        if self.states[pair] == 0:
            self.states[pair] = 1

    def _set_verdicts(self, pair: int, verdicts: Mapping[str, Verdict | None]) -> None:
        for name, verdict in verdicts.items():
            self._verdicts[name][pair] = _CODE[verdict]

    def _set_orders(self, pair: int) -> None:
        """Keeps the average's verdict in each order."""
        found: dict[Order, list[float]] = {"ab": [], "ba": []}
        for (layer, _, order, _), column in self.columns.items():
            if order is not None and layer <= self.spec.depth:
                result = column.result(pair)
                if isinstance(result, Evaluation):
                    found[order].append(result.difference)
        for order, differences in found.items():
            self._orders[order][pair] = _CODE[merged(differences)]

    def interrupted(self) -> None:
        """The run ended: calls that were on their way are not any more. Those that were asked again stay unscored."""
        for column in self.columns.values():
            given_up = (column.phase > 0) & (column.phase < _FINISHED)
            again = int((given_up & (column.reason > 0)).sum())
            self.calls_in += again
            self.calls_unscored += again
            column.phase[given_up] = np.where(column.reason[given_up] > 0, _UNSCORED, 0)
        for layer, strips in self._strips.items():
            for neuron, pair in zip(*np.nonzero(strips.state & RUNNING), strict=True):
                self._restrip(int(pair), layer, int(neuron) + 1)

    # Reading

    @property
    def pair_count(self) -> int:
        return len(self.ids)

    def pair_state(self, index: int) -> PairPhase:
        return _PAIR_PHASES[int(self.states[index])]

    def human_label(self, index: int) -> Verdict | None:
        return CODES[int(self.human[index])]

    def set_labels(self, human: Iterable[Verdict | None]) -> None:
        """Takes over what people say now, a label a pair in order."""
        self.human = np.fromiter((_CODE[label] for label in human), np.uint8, len(self.ids))

    @property
    def aggregations(self) -> tuple[str, ...]:
        """The names of the aggregations."""
        return self._names

    def verdicts(self, index: int) -> dict[str, Verdict | None] | None:
        """The verdict of each aggregation on a finished pair, ``None`` before."""
        if self.states[index] < 2:
            return None
        return {name: CODES[int(codes[index])] for name, codes in self._verdicts.items()}

    def verdict_codes(self, name: str) -> NDArray[np.uint8]:
        """The codes of one aggregation's verdicts by pair; 0 where there is none (yet)."""
        return self._verdicts[name]

    def width(self, layer: int) -> int:
        """The most neurons that a layer (1 to depth) had on any pair so far, or as designed."""
        return self._widths.get(layer, 0)

    def call(self, site: CallSite) -> CallState:
        """One call in short."""
        column = self.columns.get(site[1:])
        return NOT_ASKED if column is None else self._state(column, site.pair)

    @staticmethod
    def _state(column: Column, pair: int) -> CallState:
        if not column.phase[pair]:
            return NOT_ASKED
        return CallState(
            _CALL_PHASES[int(column.phase[pair])],
            CODES[int(column.verdict[pair])],
            _number(column.score_a[pair]),
            _number(column.score_b[pair]),
            _REASONS[int(column.reason[pair])],
            _number(column.seconds[pair]),
            int(column.attempts[pair]),
            bool(column.cached[pair]),
        )

    def sites(self, index: int) -> list[CallSite]:
        """The calls of a pair that have begun, by layer, neuron, order and sample."""
        return sorted(
            (CallSite(index, *key) for key, column in self.columns.items() if column.phase[index]),
            key=lambda site: (site.layer, site.neuron, site.order or "", site.sample),
        )

    def opinions(self, index: int) -> list[Opinion]:
        """The calls of a pair that are in, for aggregation; evidence is left empty."""
        found = []
        for (layer, neuron, order, sample), column in self.columns.items():
            if layer != ROLES_LAYER and order is not None:
                result = column.result(index)
                if result is not None:
                    found.append(Opinion(layer, neuron, order, sample, result))
        return found

    def neuron(self, index: int, layer: int, neuron: int) -> list[tuple[CallSite, CallState]]:
        """The calls of one neuron (or of the chair) on a pair that have begun."""
        found = []
        for order, sample, column in self._of_neuron.get((layer, neuron), ()):
            state = self._state(column, index)
            if state.phase != "none":
                found.append((CallSite(index, layer, neuron, order, sample), state))
        return found

    def pairs_with_unscored(self) -> NDArray[np.bool_]:
        """By pair, whether some call is in without an evaluation."""
        found = np.zeros(len(self.ids), np.bool_)
        for column in self.columns.values():
            found |= column.phase == _UNSCORED
        return found

    def unanswered(self) -> int:
        """How many calls of finished pairs brought no answer: a retry asks them again."""
        if not self.calls_unscored:
            return 0
        asked_again = np.array([reason is not None and reason not in ANSWERED for reason in _REASONS])
        failed = self.states == _PAIR_PHASES.index("failed")
        return sum(
            int(((column.phase == _UNSCORED) & failed & asked_again[column.reason]).sum())
            for column in self.columns.values()
        )

    def strip(self, layer: int, neuron: int, start: int, stop: int) -> Strip:
        """A neuron over the pairs from ``start`` to ``stop`` (not included)."""
        many = self.strips(layer, neuron, neuron, start, stop)
        return Strip(many.difference[0], many.state[0])

    def strips(self, layer: int, first: int, last: int, start: int, stop: int) -> Strip:
        """The neurons from ``first`` to ``last`` of a layer over the pairs from ``start`` to ``stop`` (not included):
        arrays of a row a neuron. They are views of what changes with the run."""
        strips = self._strips.get(layer)
        if strips is None or last > len(strips.state):
            shape = (last - first + 1, max(0, min(stop, len(self.ids)) - start))
            difference = np.full(shape, np.nan, np.float32)
            state = np.zeros(shape, np.uint8)
            if strips is None:
                return Strip(difference, state)
            known = strips.state[first - 1 : last, start:stop]
            difference[: len(known)], state[: len(known)] = strips.difference[first - 1 : last, start:stop], known
            return Strip(difference, state)
        return Strip(strips.difference[first - 1 : last, start:stop], strips.state[first - 1 : last, start:stop])

    def curves(self, name: str) -> AgreementCurves:
        """How one aggregation agrees with people over the finished pairs, in the order in which they finished."""
        done = np.asarray(self.finished, np.int64)
        return agreement_curves(self.human[done], self._verdicts[name][done])

    def flips(self) -> Flips:
        """How often the average's verdict differs between the two orders, over the finished pairs."""
        done = np.asarray(self.finished, np.int64)
        return flips_of(pair_counts(self._orders["ab"][done], self._orders["ba"][done]))

    def difference(self, index: int, layer: int, neuron: int, order: Order | None = None) -> float | None:
        """Score of A minus score of B of a neuron on a pair: the mean over its valid calls (of one order or all)."""
        found = [
            result.difference
            for (of_layer, of_neuron, of_order, _), column in self.columns.items()
            if of_layer == layer and of_neuron == neuron and of_order is not None and order in (None, of_order)
            if isinstance(result := column.result(index), Evaluation)
        ]
        return sum(found) / len(found) if found else None
