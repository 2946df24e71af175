"""Fills the columns of a run: from the store, or by events while the run goes on.

:class:`~judgenet.store.frame.RunFrame` adds the verdicts that follow from them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import merged
from judgenet.core.calls import ROLES_LAYER, CallSite
from judgenet.core.evaluation import Evaluation, Reason
from judgenet.core.events import CallFinished, CallStarted, CallText, Event, PairFinished, RolesFound
from judgenet.core.network import (
    Aggregation,
    NetworkSpec,
    asks_probabilities,
    needs_roles,
)
from judgenet.core.pairs import Order, Pair
from judgenet.store.call_table import CallTable
from judgenet.store.columns import (
    CALL_PHASES,
    DONE_PHASE,
    PAIR_PHASES,
    REASON_CODES,
    REASONS,
    SCORED_PHASE,
    UNSCORED_PHASE,
    VERDICT_CODES,
    NeuronPlace,
    PairColumns,
    holding,
)
from judgenet.store.db import Store, restored
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, RunPair, likely_calls, run_pairs
from judgenet.store.stand_ins import stood_in_sites

_ROWS_AT_ONCE: Final = 50_000
_PAIRS_PER_CHECK: Final = 200


class CallFrame(CallTable):
    """A table of calls that is read from the store or takes in the events of a run."""

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

        ``on_progress`` is called with how many pairs of how many are read; what it raises ends the reading.
        """
        (total,) = store.reader.execute("SELECT count(*) FROM run_pairs WHERE run=?", (run.number,)).fetchone()
        states = bytearray()

        def each() -> Iterable[RunPair]:
            for number, run_pair in enumerate(run_pairs(store, run)):
                if number % _PAIRS_PER_CHECK == 0:
                    on_progress(0, total)
                states.append(PAIR_PHASES.index(run_pair.state))
                yield run_pair

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
            for (in_layer, place, shown, drawn), rows_here in where.items():
                column = self.column(in_layer, place, "ab" if shown == "ab" else "ba" if shown else None, drawn)
                at_pairs = pairs[rows_here]
                column.phase[at_pairs], column.reason[at_pairs] = phase[rows_here], why[rows_here]
                column.verdict[at_pairs], column.cached[at_pairs] = said[rows_here], known[rows_here]
                column.attempts[at_pairs], column.seconds[at_pairs] = tries[rows_here], took[rows_here]
                column.set_scores(at_pairs, score_a[rows_here], score_b[rows_here])
                roles_here = holding(self._roles[in_layer, place], len(self.role_names))
                roles_here[at_pairs] = of_role[rows_here]
                self._roles[in_layer, place] = roles_here
            self.calls_in += len(rows)
            for code in why[phase == UNSCORED_PHASE]:
                self._count_unscored(code, 1)
            yield int(pairs[-1])
        if asks_probabilities(self.spec):
            for site, source, shares, sampled in likely_calls(store, self.run):
                self.column(*site[1:]).set_likely(site.pair, shares, source, sampled)

    # Events

    def take(self, event: Event) -> CallSite | int | None:
        """Takes an event of this run in. Returns the call or the pair that changed."""
        if isinstance(event, CallStarted | CallText):
            return self._take_begun(event, 1 if isinstance(event, CallStarted) else 2)
        if isinstance(event, CallFinished):
            site = event.site
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
            self._strips.set(pair, (layer, neuron), [seen for _, _, seen in self._of_neuron[layer, neuron]])

    def _take_begun(self, event: CallStarted | CallText, phase: int) -> CallSite | None:
        site = event.site
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
        differences_by_order: dict[Order, list[float]] = {"ab": [], "ba": []}
        for (layer, neuron, order, _), column in self.columns.items():
            if order is not None and layer <= self.spec.depth:
                result = column.result(pair)
                weight = self.weight(pair, layer, neuron)
                if isinstance(result, Evaluation) and weight > 0:
                    differences_by_order[order].append(result.difference * weight)
        for order, differences in differences_by_order.items():
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
