"""The calls of a run as columns, and what they say of pairs, neurons and single calls."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import Opinion, aggregation_names
from judgenet.core.calls import ROLES_LAYER, CallSite
from judgenet.core.evaluation import ANSWERED
from judgenet.core.network import (
    Aggregation,
    NetworkSpec,
    criteria_roles_count,
    designed_width,
    takes_criterion,
)
from judgenet.core.pairs import ORDERS, Order, Verdict
from judgenet.core.plan import count_calls
from judgenet.stats.curves import CODES, Codes
from judgenet.store.columns import (
    DONE_PHASE,
    NOT_ASKED,
    PAIR_PHASES,
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
)
from judgenet.store.runs import RunInfo

CallKey = tuple[int, int, Order | None, int]
"""Layer, neuron, order and sample, as in :class:`CallSite`."""


class CallTable:
    """The pairs and calls of one run, and the verdicts that the engine reported or the store holds.

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

    def column(self, layer: int, neuron: int, order: Order | None, sample: int) -> CallColumn:
        """The column of a call, made where it was not seen before."""
        key = (layer, neuron, order, sample)
        column = self.columns.get(key)
        if column is None:
            column = self.columns[key] = CallColumn(len(self.pairs), self._scores)
            self._of_neuron.setdefault((layer, neuron), []).append((order, sample, column))
            self._roles.setdefault((layer, neuron), np.zeros(len(self.pairs), np.uint8))
            if neuron > self._widths.get(layer, 0):
                self._widths[layer] = neuron
        return column

    def set_labels(self, human: Iterable[Verdict | None]) -> None:
        """Takes over the human labels of now, one a pair in order."""
        self.pairs.human = np.fromiter((VERDICT_CODES[label] for label in human), np.uint8, len(self.pairs))

    @property
    def calls_unscored(self) -> int:
        """How many calls are in without an evaluation."""
        return self.unscored.total()

    @property
    def calls_planned(self) -> int:
        """The number of calls of the whole run: those of finished pairs as they were made, those of the other pairs
        by the design or by their criteria."""
        if self.spec.roles.kind == "criteria":
            kinds = self.pairs.criteria_weights
            of_each = [count_calls(self.spec, criteria_roles_count(self.spec, len(weights))).total for weights in kinds]
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
        begun = np.zeros(len(self.pairs), np.bool_)
        for column in self.columns.values():
            begun |= column.phase > 0
        return begun

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
        """The state and result of one call."""
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
        opinions = []
        for (layer, neuron, order, sample), column in self.columns.items():
            if layer != ROLES_LAYER and order is not None:
                result = column.result(index)
                if result is not None:
                    opinions.append(Opinion(layer, neuron, order, sample, result, self.weight(index, layer, neuron)))
        return opinions

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
        calls = []
        for order, sample, column in self._of_neuron.get((layer, neuron), ()):
            state = column.state(index)
            if state.phase != "none":
                calls.append((CallSite(index, layer, neuron, order, sample), state))
        return calls

    def roles(self, place: NeuronPlace) -> IntColumn:
        """The role of a neuron on each pair, as numbers of :attr:`role_names`."""
        roles = self._roles.get(place)
        return np.zeros(len(self.pairs), np.uint8) if roles is None else roles

    def pairs_with_unscored(self) -> NDArray[np.bool_]:
        """By pair, whether some call is in without an evaluation."""
        unscored = np.zeros(len(self.pairs), np.bool_)
        for column in self.columns.values():
            unscored |= column.phase == UNSCORED_PHASE
        return unscored

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
