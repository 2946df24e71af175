"""The calls of a run as columns, read from the store or filled by events while the run goes on.

:class:`~judgenet.store.frame.RunFrame` adds the verdicts that follow from them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import Opinion, aggregation_names, merged
from judgenet.core.calls import ROLES_LAYER, CallSite
from judgenet.core.evaluation import ANSWERED, Evaluation, Reason
from judgenet.core.events import CallFinished, CallStarted, CallText, Event, PairFinished, RolesFound
from judgenet.core.network import (
    Aggregation,
    NetworkSpec,
    asks_probabilities,
    criteria_roles_count,
    designed_width,
    needs_roles,
    takes_criterion,
)
from judgenet.core.pairs import ORDERS, Order, Pair, Verdict
from judgenet.core.plan import count_calls
from judgenet.stats.curves import CODES, Codes
from judgenet.store.columns import (
    CALL_PHASES,
    DONE_PHASE,
    NOT_ASKED,
    PAIR_PHASES,
    REASON_CODES,
    REASONS,
    SCORED_PHASE,
    UNSCORED_PHASE,
    VERDICT_CODES,
    CallColumn,
    CallState,
    Distinct,
    IntColumn,
    NeuronPlace,
    NeuronStrip,
    PairColumns,
    PairPhase,
    Strips,
    holding,
)
from judgenet.store.db import Store, restored
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, RunPair, likely_calls, run_pairs
from judgenet.store.stand_ins import stood_in_sites

_ROWS_AT_ONCE: Final = 50_000
_PAIRS_PER_CHECK: Final = 200

CallKey = tuple[int, int, Order | None, int]
"""Layer, neuron, order and sample, as in :class:`CallSite`."""


class CallFrame:
    """The pairs and calls of one run, and the verdicts as they were told or kept.

    Attributes:
        run, spec: the run and its network; verdicts are made by the rules of ``spec.aggregation``.
        pairs: what is known of the pairs beside their texts.
        states: codes of the pairs' phases; see :meth:`pair_state`.
        columns: the calls by (layer, neuron, order, sample) as in :class:`CallSite`; those that were seen so far.
        finished: indexes of finished pairs in the order in which they finished.
        aggregations: the codes of each aggregation's verdicts by pair; 0 where there is none (yet).
        calls_in, unscored: calls that are in, and those of them without an evaluation by their reason.
    """

    def __init__(self, run: RunInfo, spec: NetworkSpec, pairs: PairColumns, rules: Aggregation | None = None) -> None:
        self.run = run
        self.spec = spec if rules is None else replace(spec, aggregation=rules)
        self.pairs = pairs
        self.states: NDArray[np.uint8] = np.zeros(len(pairs), np.uint8)
        self.columns: dict[CallKey, CallColumn] = {}
        self.finished: array[int] = array("I")
        self.calls_in = 0
        self.unscored: Counter[str] = Counter()
        self._calls_a_pair = count_calls(spec).total
        self._calls_of_finished = 0
        self.role_names: Distinct[str | None] = Distinct([None])
        self._roles: dict[NeuronPlace, IntColumn] = {}
        self._scores: Distinct[float | None] = Distinct([None])
        self._of_neuron: dict[NeuronPlace, list[tuple[Order | None, int, CallColumn]]] = {}
        self._widths = {layer + 1: designed_width(spec, layer) or 0 for layer in range(spec.depth)}
        self._strips = Strips(len(pairs))
        self.aggregations: dict[str, Codes] = {
            name: np.zeros(len(pairs), np.uint8) for name in aggregation_names(self.spec)
        }
        self._orders: dict[Order, Codes] = {order: np.zeros(len(pairs), np.uint8) for order in ORDERS}

    @classmethod
    def fresh(cls, run: RunInfo, spec: NetworkSpec, pairs: Iterable[Pair]) -> Self:
        """The frame of a run that begins."""
        fresh = (RunPair(at, pair, "open", None, "", None) for at, pair in enumerate(pairs))
        return cls(run, spec, PairColumns(fresh, spec.aggregation.learned))

    @classmethod
    def read(
        cls,
        store: Store,
        run: RunInfo,
        rules: Aggregation | None = None,
        on_progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> Self:
        """The frame of a recorded run, under its own rules of aggregation or others.

        ``on_progress`` hears how many pairs of how many are read; what it raises ends the reading.
        """
        (total,) = store.reader.execute("SELECT count(*) FROM run_pairs WHERE run=?", (run.number,)).fetchone()
        states = bytearray()

        def each() -> Iterable[RunPair]:
            for number, of in enumerate(run_pairs(store, run)):
                if number % _PAIRS_PER_CHECK == 0:
                    on_progress(0, total)
                states.append(PAIR_PHASES.index(of.state))
                yield of

        spec = network_of(run)
        frame = cls(run, spec, PairColumns(each(), (rules or spec.aggregation).learned), rules)
        for last in frame._read_calls(store):
            on_progress(last, total)
        for site in stood_in_sites(store, run, spec):
            frame.column(*site[1:]).set_stood_in(site.pair, True)
        frame.states[:] = np.frombuffer(bytes(states), np.uint8)
        done = np.flatnonzero(frame.states >= DONE_PHASE)
        frame.finished = array("I", done.tolist())
        frame._calls_of_finished = sum(
            int((column.phase[done] >= SCORED_PHASE).sum()) for column in frame.columns.values()
        )
        frame.states[(frame.states == 0) & frame.begun] = 1
        for place, columns in frame._of_neuron.items():
            if place[0] != ROLES_LAYER:
                frame._strips.set_all(place, [column for _, _, column in columns])
        frame._judge()
        on_progress(total, total)
        return frame

    def _judge(self) -> None:
        """Makes the verdicts of the finished pairs from their calls."""

    def _changed(self) -> None:
        """Calls or pairs changed."""

    def _read_calls(self, store: Store) -> Iterable[int]:
        """Reads the calls, many at once; gives the last pair after each stretch."""
        cursor = store.reader.execute(
            "SELECT r.pair, layer, neuron, ord, sample, status, reason, verdict, score_a, score_b, cached, "
            "coalesce(c.attempts, r.attempts), latency_s, role FROM run_calls r LEFT JOIN calls c ON c.id=call_id "
            "WHERE run=? ORDER BY r.pair, layer, neuron, ord, sample",
            (self.run.number,),
        )
        roles: dict[str | bytes | None, int] = {None: 0}
        phases = {name: code for code, name in enumerate(CALL_PHASES)}
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            pair, layer, neuron, order, sample, status, reason, verdict, a, b, cached, attempts, seconds, role = zip(
                *rows, strict=True
            )
            for name in dict.fromkeys(role):
                if name not in roles:
                    roles[name] = self.role_names.number(restored(name))

            def codes(values: Iterable[object], numbers: Mapping[Any, int]) -> NDArray[np.int64]:
                return np.fromiter(map(numbers.__getitem__, values), np.int64, len(rows))

            pairs = np.array(pair, dtype=np.int64)
            phase, why, said = codes(status, phases), codes(reason, REASON_CODES), codes(verdict, VERDICT_CODES)
            score_a = np.fromiter(map(self._scores.number, a), np.int64, len(rows))
            score_b = np.fromiter(map(self._scores.number, b), np.int64, len(rows))
            known, tries = np.array(cached, dtype=bool), np.minimum(np.array(attempts, dtype=np.int64), 255)
            took, of_role = np.array(seconds, dtype=np.float32), codes(role, roles)
            where: dict[tuple[int, int, str, int], list[int]] = {}
            for at, key in enumerate(zip(layer, neuron, order, sample, strict=True)):
                where.setdefault(key, []).append(at)
            for (in_layer, place, shown, drawn), found in where.items():
                column = self.column(in_layer, place, "ab" if shown == "ab" else "ba" if shown else None, drawn)
                at_pairs = pairs[found]
                column.phase[at_pairs], column.reason[at_pairs] = phase[found], why[found]
                column.verdict[at_pairs], column.cached[at_pairs] = said[found], known[found]
                column.attempts[at_pairs], column.seconds[at_pairs] = tries[found], took[found]
                column.set_scores(at_pairs, score_a[found], score_b[found])
                roles_here = holding(self._roles[in_layer, place], len(self.role_names))
                roles_here[at_pairs] = of_role[found]
                self._roles[in_layer, place] = roles_here
            self.calls_in += len(rows)
            for code in why[phase == UNSCORED_PHASE]:
                self._count_unscored(code, 1)
            yield int(pairs[-1])
        if asks_probabilities(self.spec):
            for site, source, shares, sampled in likely_calls(store, self.run):
                self.column(*site[1:]).set_likely(site.pair, shares, source, sampled)

    # Filling

    def column(self, layer: int, neuron: int, order: Order | None, sample: int) -> CallColumn:
        """The column of a call, made where it was not seen before."""
        key = (layer, neuron, order, sample)
        found = self.columns.get(key)
        if found is None:
            found = self.columns[key] = CallColumn(len(self.pairs), self._scores)
            self._of_neuron.setdefault((layer, neuron), []).append((order, sample, found))
            self._roles.setdefault((layer, neuron), np.zeros(len(self.pairs), np.uint8))
            if neuron > self._widths.get(layer, 0):
                self._widths[layer] = neuron
        return found

    def take(self, event: Event) -> CallSite | int | None:
        """Takes an event of this run in. Returns the call or the pair that changed."""
        if isinstance(event, CallStarted | CallText):
            return self._take_begun(event, 1 if isinstance(event, CallStarted) else 2)
        if isinstance(event, CallFinished):
            site = CallSite(event.pair, event.layer, event.neuron, event.order, event.sample)
            column = self.column(*site[1:])
            before = int(column.phase[site.pair])
            if before == UNSCORED_PHASE:
                self._count_unscored(column.reason[site.pair], -1)
            column.set(
                site.pair,
                event.status,
                event.reason,
                event.verdict,
                event.score_a,
                event.score_b,
                event.cached,
                event.attempts,
                event.latency_s or None,
                event.shares,
                event.scores_from,
                event.sampled,
            )
            column.set_stood_in(site.pair, bool(event.stand_in))
            self.calls_in += before < SCORED_PHASE
            if event.status == "unscored":
                self._count_unscored(column.reason[site.pair], 1)
            self._begin(site)
            return site
        if isinstance(event, RolesFound):
            self.pairs.role_counts[event.pair] = len(event.roles)
            return event.pair
        if isinstance(event, PairFinished):
            if self.states[event.pair] < DONE_PHASE:
                self.finished.append(event.pair)
                self._calls_of_finished += event.calls_total + needs_roles(self.spec)
            self.states[event.pair] = 3 if event.open_calls else DONE_PHASE
            if event.stopped_after is not None:
                self._drop_later(event.pair, event.stopped_after)
            for name, verdict in event.verdicts:
                self.aggregations[name][event.pair] = VERDICT_CODES[verdict]
            self._set_orders(event.pair)
            self._changed()
            return event.pair
        return None

    def _drop_later(self, pair: int, last: NeuronPlace) -> None:
        """Forgets what an earlier start asked of a pair after the neuron at which it was now decided: a call that was
        missing then has come, and the store drops these calls too."""
        for (layer, neuron, order, _), column in self.columns.items():
            phase = int(column.phase[pair])
            if order is None or (layer, neuron) <= last or not phase:
                continue
            self.calls_in -= phase >= SCORED_PHASE
            if phase == UNSCORED_PHASE:
                self._count_unscored(column.reason[pair], -1)
            column.phase[pair] = 0
            self._strips.set(pair, (layer, neuron), [of for _, _, of in self._of_neuron[layer, neuron]])

    def _take_begun(self, event: CallStarted | CallText, phase: int) -> CallSite | None:
        site = CallSite(event.pair, event.layer, event.neuron, event.order, event.sample)
        column = self.column(*site[1:])
        phases = column.phase
        before = int(phases[event.pair])
        if before == phase:
            return None
        phases[event.pair] = phase
        self.calls_in -= before >= SCORED_PHASE
        if before == UNSCORED_PHASE:
            self._count_unscored(column.reason[event.pair], -1)
        self._begin(site)
        return site

    def _begin(self, site: CallSite) -> None:
        self._changed()
        if self.states[site.pair] == 0:
            self.states[site.pair] = 1
        if site.layer != ROLES_LAYER:
            place = (site.layer, site.neuron)
            self._strips.set(site.pair, place, [column for _, _, column in self._of_neuron[place]])

    def _set_orders(self, pair: int) -> None:
        """Keeps the average's verdict in each order."""
        found: dict[Order, list[float]] = {"ab": [], "ba": []}
        for (layer, neuron, order, _), column in self.columns.items():
            if order is not None and layer <= self.spec.depth:
                result = column.result(pair)
                weight = self.weight(pair, layer, neuron)
                if isinstance(result, Evaluation) and weight > 0:
                    found[order].append(result.difference * weight)
        for order, differences in found.items():
            self._orders[order][pair] = VERDICT_CODES[merged(differences)]

    def interrupted(self) -> None:
        """The run ended: calls that were on their way are not any more. Those that were asked again stay unscored."""
        for column in self.columns.values():
            given_up = (column.phase > 0) & (column.phase < SCORED_PHASE)
            again = column.reason[given_up & (column.reason > 0)]
            self.calls_in += len(again)
            for code in again:
                self._count_unscored(code, 1)
            column.phase[given_up] = np.where(column.reason[given_up] > 0, UNSCORED_PHASE, 0)
        for pair, place in self._strips.running():
            self._strips.set(pair, place, [column for _, _, column in self._of_neuron[place]])
        self._changed()

    def _count_unscored(self, code: int, by: int) -> None:
        reason = (REASONS[code] or Reason.INTERNAL).value
        self.unscored[reason] += by
        if not self.unscored[reason]:
            del self.unscored[reason]

    def set_labels(self, human: Iterable[Verdict | None]) -> None:
        """Takes over the human labels of now, one a pair in order."""
        self.pairs.human = np.fromiter((VERDICT_CODES[label] for label in human), np.uint8, len(self.pairs))

    @property
    def calls_unscored(self) -> int:
        """How many calls are in without an evaluation."""
        return self.unscored.total()

    @property
    def calls_planned(self) -> int:
        """The calls of the whole run: those that finished pairs have, and of the others as many as by the design or by
        their criteria."""
        if self.spec.roles.kind == "criteria":
            kinds = self.pairs.criteria_weights
            of_each = [count_calls(self.spec, criteria_roles_count(self.spec, len(of))).total for of in kinds]
            left = np.ones(len(self.pairs), np.bool_)
            left[np.asarray(self.finished, np.int64)] = False
            return self._calls_of_finished + int(np.array(of_each)[self.pairs.criteria[left]].sum())
        return self._calls_of_finished + self._calls_a_pair * (len(self.pairs) - len(self.finished))

    # Pairs

    def __len__(self) -> int:
        return len(self.pairs)

    def pair_state(self, index: int) -> PairPhase:
        """How far a pair is."""
        return PAIR_PHASES[int(self.states[index])]

    def human_label(self, index: int) -> Verdict | None:
        """The human label of a pair."""
        return CODES[int(self.pairs.human[index])]

    @property
    def begun(self) -> NDArray[np.bool_]:
        """By pair, whether some call of it was asked."""
        found = np.zeros(len(self.pairs), np.bool_)
        for column in self.columns.values():
            found |= column.phase > 0
        return found

    @property
    def judged(self) -> NDArray[np.bool_]:
        """By pair, whether all its calls are in, and there are some."""
        asked = np.zeros(len(self.pairs), np.bool_)
        for (layer, *_), column in self.columns.items():
            if layer != ROLES_LAYER:
                asked |= column.phase >= SCORED_PHASE
        return asked & (self.states >= DONE_PHASE)

    # Calls

    def width(self, layer: int) -> int:
        """The most neurons that a layer (1 to depth) had on any pair so far, or as designed."""
        return self._widths.get(layer, 0)

    def call(self, site: CallSite) -> CallState:
        """One call in short."""
        column = self.columns.get(site[1:])
        return NOT_ASKED if column is None else column.state(site.pair)

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
                    found.append(Opinion(layer, neuron, order, sample, result, self.weight(index, layer, neuron)))
        return found

    def weight(self, index: int, layer: int, neuron: int) -> float:
        """The weight of a neuron on a pair: that of its criterion, else 1."""
        if not takes_criterion(self.spec, layer - 1, neuron - 1):
            return 1
        weights = self.pairs.criteria_weights[int(self.pairs.criteria[index])]
        return weights[neuron - 1] if neuron <= len(weights) else 1

    def weights(self, places: Iterable[NeuronPlace]) -> NDArray[np.float64] | None:
        """The weights of these neurons on each pair, of shape (pairs, neurons); ``None`` where all are 1."""
        if self.spec.roles.kind != "criteria" or not self.pairs.weighted:
            return None
        rows = self.pairs.weight_rows[self.pairs.criteria]
        columns = [
            rows[:, neuron - 1]
            if neuron <= rows.shape[1] and takes_criterion(self.spec, layer - 1, neuron - 1)
            else np.ones(len(rows))
            for layer, neuron in places
        ]
        return np.stack(columns, axis=1) if columns else np.ones((len(rows), 0))

    def neuron(self, index: int, layer: int, neuron: int) -> list[tuple[CallSite, CallState]]:
        """The calls of one neuron (or of the chair) on a pair that have begun."""
        found = []
        for order, sample, column in self._of_neuron.get((layer, neuron), ()):
            state = column.state(index)
            if state.phase != "none":
                found.append((CallSite(index, layer, neuron, order, sample), state))
        return found

    def roles(self, place: NeuronPlace) -> IntColumn:
        """The role of a neuron on each pair, as numbers of :attr:`role_names`."""
        found = self._roles.get(place)
        return np.zeros(len(self.pairs), np.uint8) if found is None else found

    def pairs_with_unscored(self) -> NDArray[np.bool_]:
        """By pair, whether some call is in without an evaluation."""
        found = np.zeros(len(self.pairs), np.bool_)
        for column in self.columns.values():
            found |= column.phase == UNSCORED_PHASE
        return found

    def unanswered(self) -> int:
        """How many calls of finished pairs brought no answer: the next start asks them again."""
        if not self.calls_unscored:
            return 0
        asked_again = np.array([reason is not None and reason not in ANSWERED for reason in REASONS])
        failed = self.states == PAIR_PHASES.index("failed")
        return sum(
            int(((column.phase == UNSCORED_PHASE) & failed & asked_again[column.reason]).sum())
            for column in self.columns.values()
        )

    def to_retry(self) -> int:
        """How many calls of finished pairs are unscored, with an answer or without: a retry asks them again."""
        done = self.states >= DONE_PHASE
        return sum(int(((column.phase == UNSCORED_PHASE) & done).sum()) for column in self.columns.values())

    def strip(self, layer: int, neuron: int, start: int, stop: int) -> NeuronStrip:
        """A neuron over the pairs from ``start`` to ``stop`` (not included)."""
        many = self.strips(layer, neuron, neuron, start, stop)
        return NeuronStrip(many.difference[0], many.state[0])

    def strips(self, layer: int, first: int, last: int, start: int, stop: int) -> NeuronStrip:
        """The neurons from ``first`` to ``last`` of a layer over the pairs from ``start`` to ``stop`` (not included):
        arrays of a row a neuron. They are views of what changes with the run."""
        return self._strips.part(layer, first, last, start, stop)
