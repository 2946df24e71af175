"""A run in memory: its pairs, its calls, and the verdicts that follow from them.

Everything that shows or computes something of a run, recorded, imported or live, reads this one form. Texts stay in
the store.
Verdicts are codes as in :data:`judgenet.stats.curves.CODES` (0 none, 1 A, 2 tie, 3 B);
:mod:`judgenet.store.tables` gives pandas data frames.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.aggregate import aggregation_names
from judgenet.core.asking_order import asking_order, order_seed
from judgenet.core.calls import ROLES_LAYER
from judgenet.core.cascade import Stop
from judgenet.core.evaluation import Evaluation, Reason
from judgenet.core.labels import Chosen, People
from judgenet.core.learned import LEARNED, NOTHING_TAUGHT, Taught
from judgenet.core.network import Aggregation, asks_probabilities
from judgenet.core.network_graph import network_graph
from judgenet.core.pairs import ORDERS, Order, Verdict
from judgenet.stats.agreement import Flips, flips_of
from judgenet.stats.curves import CODES, AgreementCurves, Codes, agreement_curves, pair_counts
from judgenet.stats.provenance import LabelSources, LabelTally, Sample
from judgenet.stats.resampling import question_counts
from judgenet.stats.verdicts import CallScores, VerdictTable, sign_codes, verdict_table
from judgenet.stats.whatif import Calls
from judgenet.store.call_frame import CallFrame
from judgenet.store.columns import DONE_PHASE, REASON_CODES, SCORED_PHASE, VERDICT_CODES, Annotations, NeuronPlace
from judgenet.store.decided_early import DecidedEarly, decided_early, stop_of
from judgenet.store.results import neuron_names, within_name

if TYPE_CHECKING:
    from judgenet.stats.means import Groups


@dataclass(frozen=True, slots=True)
class RoleVerdicts:
    """What the neurons of a role said together: ``codes`` on the pairs with these indexes, in order. ``name`` is the
    role's name as it was written first."""

    name: str
    pairs: NDArray[np.int64]
    codes: Codes


def role_key(name: str) -> str:
    """The key by which roles are told apart: their name without regard to case and white space."""
    return " ".join(name.split()).casefold()


class RunFrame(CallFrame):
    """The pairs, calls and verdicts of one run; :class:`~judgenet.store.call_table.CallTable` has its columns."""

    taught: Taught = NOTHING_TAUGHT
    """The pairs whose labels taught the learned aggregation (:func:`judgenet.store.taught.fair_frame`)."""
    _cached_table: VerdictTable | None = None
    _cached_places: tuple[NeuronPlace, ...] | None = None
    _cached_order: NDArray[np.int64] | None = None
    _cached_early: tuple[DecidedEarly | None] | None = None

    def _changed(self) -> None:
        self._cached_table = self._cached_places = self._cached_early = None

    def _judge(self) -> None:
        table = self.table
        self.aggregations = dict(table.aggregations)
        self._orders = {"ab": table.c1_ab, "ba": table.c1_ba}

    def under(self, rules: Aggregation) -> Self:
        """The same run under other rules of aggregation; pairs and calls are shared."""
        if rules == self.spec.aggregation:
            return self
        frame = copy.copy(self)
        frame.spec = replace(self.spec, aggregation=rules)
        frame._changed()
        frame._judge()
        return frame

    # Pairs

    @property
    def human(self) -> Codes:
        """The codes of the human labels."""
        return self.pairs.human

    @property
    def questions(self) -> NDArray[np.int64]:
        """The number of each pair's question, from 0."""
        return self.pairs.questions.astype(np.int64)

    @property
    def question_count(self) -> int:
        """How many different questions the pairs ask."""
        return int(self.pairs.questions.max(initial=0)) + 1 if len(self) else 0

    @property
    def order(self) -> NDArray[np.int64]:
        """The places of the pairs in the order in which the run asks them."""
        if self._cached_order is None:
            seed = order_seed(self.run.record)
            drawn = range(len(self)) if seed is None else asking_order(seed, self.questions.tolist())
            self._cached_order = np.array(drawn, dtype=np.int64)
        return self._cached_order

    @property
    def longer_b(self) -> NDArray[np.int64]:
        """By how many characters response B is longer than A."""
        lengths = self.pairs.lengths.astype(np.int64)
        return lengths[:, 1] - lengths[:, 0]

    @property
    def groups(self) -> Groups | None:
        """:attr:`questions` where a question has several pairs, else ``None``."""
        questions = self.questions
        return questions if self.question_count < len(self) else None

    @property
    def panels(self) -> Counter[tuple[Verdict | None, Annotations]]:
        """How many pairs have which human label and annotations, of those with annotations."""
        kinds = Counter(zip(self.human.tolist(), self.pairs.panels.tolist(), strict=True))
        return Counter(
            {(CODES[human], self.pairs.panel_kinds[panel]): count for (human, panel), count in kinds.items() if panel}
        )

    @property
    def panel_counts(self) -> Counter[Annotations]:
        """How many pairs have which annotations by name, of those with annotations."""
        counts: Counter[Annotations] = Counter()
        for (_, panel), count in self.panels.items():
            counts[panel] += count
        return counts

    @property
    def done(self) -> NDArray[np.int64]:
        """The indexes of the pairs whose calls are all in, in order."""
        return np.flatnonzero(self.states >= DONE_PHASE)

    @property
    def early(self) -> DecidedEarly | None:
        """How far the finished pairs went; ``None`` where the network asks everything of every pair."""
        if self._cached_early is None:
            self._cached_early = (decided_early(self),)
        return self._cached_early[0]

    @property
    def decided_early(self) -> NDArray[np.bool_]:
        """By pair, whether a stop rule decided it before everything was asked."""
        early = self.early
        return np.zeros(len(self), np.bool_) if early is None else early.layer > 0

    def stop(self, index: int) -> Stop | None:
        """Where a pair was decided early, ``None`` where it was not."""
        return stop_of(self, index)

    @property
    def for_people(self) -> NDArray[np.bool_]:
        """By pair, whether its verdict is not sure enough for the acceptance rule: an abstention, no missing verdict.
        Nowhere without such a rule."""
        rule = self.spec.aggregation.acceptance
        if rule is None or rule.aggregation not in self.aggregations:
            return np.zeros(len(self), np.bool_)
        abstained: NDArray[np.bool_] = (self.aggregations[rule.aggregation] > 0) & (self.aggregations[ACCEPTED] == 0)
        return abstained & (self.states >= DONE_PHASE)

    # Neurons

    @property
    def voters(self) -> tuple[NeuronPlace, ...]:
        """The neurons with calls on finished pairs, in order, and the chair after them."""
        if self._cached_places is None:
            done = self.states >= DONE_PHASE
            # A run that goes on adds columns meanwhile, and figures are made on other threads.
            places = {
                (layer, neuron)
                for (layer, neuron, order, _), column in list(self.columns.items())
                if order is not None and layer != ROLES_LAYER and bool((done & (column.phase >= SCORED_PHASE)).any())
            }
            self._cached_places = tuple(sorted(places))
        return self._cached_places

    @property
    def places(self) -> tuple[NeuronPlace, ...]:
        """The neurons with calls on finished pairs, in order, without the chair."""
        return tuple(place for place in self.voters if place[0] <= self.spec.depth)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each of :attr:`places`; names are unique."""
        return tuple(neuron_names(self.spec, self.places).values())

    def columns_of(self, layer: int) -> NDArray[np.intp]:
        """Which of :attr:`places` are neurons of a layer, from 1."""
        return np.array([column for column, place in enumerate(self.places) if place[0] == layer], dtype=np.intp)

    def columns_before(self, layer: int) -> NDArray[np.intp]:
        """For each neuron of a layer the column of the neuron of the same place a layer before, -1 without one."""
        column = {place: column for column, place in enumerate(self.places)}
        mine = (self.places[column_index] for column_index in self.columns_of(layer))
        return np.array([column.get((layer - 1, neuron), -1) for _, neuron in mine], dtype=np.intp)

    def reads_others(self, layer: int) -> NDArray[np.bool_]:
        """Which neurons of the layer before each neuron of a layer (from 2) reads besides its own place: of shape
        (neurons, neurons of the layer before)."""
        mine, earlier = self.columns_of(layer), self.columns_of(layer - 1)
        wired = network_graph(self.spec, max((neuron for _, neuron in self.places), default=0))
        reads = np.zeros((len(mine), len(earlier)), dtype=bool)
        at = {self.places[column][1] - 1: place for place, column in enumerate(earlier)}
        for row, column in enumerate(mine):
            neuron = self.places[column][1] - 1
            for read in wired.inputs(layer - 1, neuron):
                if read != neuron and read in at:
                    reads[row, at[read]] = True
        return reads

    # Verdicts

    def verdict(self, name: str, index: int) -> Verdict | None:
        """What an aggregation says of a pair."""
        return CODES[int(self.aggregations[name][index])]

    def verdicts(self, index: int) -> dict[str, Verdict | None] | None:
        """The verdict of each aggregation on a finished pair, ``None`` before."""
        if self.states[index] < DONE_PHASE:
            return None
        return {name: CODES[int(codes[index])] for name, codes in self.aggregations.items()}

    def verdict_codes(self, name: str) -> Codes:
        """The codes of one aggregation's verdicts by pair; 0 where there is none (yet).

        :raises KeyError: this network has no such aggregation.
        """
        return self.aggregations[name]

    def call_scores(self, *, without: Reason | None = None) -> CallScores:
        """The calls of neurons and chair (:attr:`voters`) on the finished pairs.

        Calls that are unscored for the reason ``without`` count as not asked.
        """
        voters, count = self.voters, len(self.pairs)
        at = {place: column for column, place in enumerate(voters)}
        columns = [(key, column) for key, column in list(self.columns.items()) if key[:2] in at]
        samples = max((sample for (_, _, _, sample), _ in columns), default=1)
        difference = np.full((count, len(voters), len(ORDERS), samples), np.nan)
        asked = np.zeros(difference.shape, np.bool_)
        done = self.states >= DONE_PHASE
        code = REASON_CODES[without]
        shares = np.full((*difference.shape, 3), np.nan) if asks_probabilities(self.spec) else None
        for (layer, neuron, order, sample), column in columns:
            if order is not None:
                site = (slice(None), at[layer, neuron], ORDERS.index(order), sample - 1)
                difference[site] = np.where(done, column.differences, np.nan)
                there = done & (column.phase >= SCORED_PHASE)
                if shares is not None and column.likely is not None:
                    shares[site] = np.where(done[:, None], column.likely.shares, np.nan)
                asked[site] = there & (column.reason != code) if code else there
        early = self.early
        last = None if early is None else early.layer
        return CallScores(difference, asked, voters, self.spec.depth, last, shares, self.weights(voters))

    def what_if_calls(self) -> Calls:
        """The calls of the neurons on the finished pairs, for questions about smaller networks."""
        scores, done, neurons = self.call_scores(without=Reason.NOT_RECORDED), self.done, len(self.places)
        _, questions = np.unique(self.questions[done], return_inverse=True)
        return Calls(
            scores.difference[done, :neurons],
            scores.asked[done, :neurons],
            np.array([layer for layer, _ in self.places], dtype=np.int64),
            self.human[done],
            questions,
            None if scores.weights is None else scores.weights[done, :neurons],
        )

    @property
    def table(self) -> VerdictTable:
        """The verdicts of all aggregations, orders, and neurons (:attr:`voters`)."""
        if self._cached_table is None:
            self._cached_table = verdict_table(self.call_scores(), aggregation_names(self.spec), self.spec.aggregation)
        return self._cached_table

    @property
    def neurons(self) -> Codes:
        """Codes of shape (pairs, neurons), all calls of a neuron merged; neurons as in :attr:`places`."""
        return self.table.neurons[:, : len(self.places)]

    @property
    def neurons_by_order(self) -> dict[Order, Codes]:
        """Codes of shape (pairs, neurons) by order; neurons as in :attr:`places`."""
        n, table = len(self.places), self.table
        return {"ab": table.neurons_ab[:, :n], "ba": table.neurons_ba[:, :n]}

    def layer_orders(self, layer: int) -> tuple[Codes, Codes]:
        """The average over the calls of a layer (from 1) in order AB and in order BA, codes by pair."""
        return self.table.layers_ab[:, layer - 1], self.table.layers_ba[:, layer - 1]

    @property
    def both_orders(self) -> dict[str, tuple[Codes, Codes]]:
        """The verdicts in order AB and in order BA by pair: of the average over all calls (``c1``) and of each neuron
        by name."""
        by_order = self.neurons_by_order
        both = {name: (by_order["ab"][:, at], by_order["ba"][:, at]) for at, name in enumerate(self.names)}
        return {"c1": (self.table.c1_ab, self.table.c1_ba)} | both

    @property
    def votes(self) -> NDArray[np.float64]:
        """Of shape (pairs, neurons): the mean over the valid calls of +1 (A), -1 (B) and 0 (tie), NaN without one."""
        return self.table.votes[:, : len(self.places)]

    @property
    def calls(self) -> NDArray[np.uint8]:
        """Of shape (pairs, neurons, 2, 3): how many calls of each order say that A wins, a tie, that B wins."""
        return self.table.calls[:, : len(self.places)]

    def mean_scores(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean scores of A and of B by pair, over the valid calls of neurons that have scores, by the neurons'
        weights where these have some; NaN without one."""
        sums, counts = np.zeros((2, len(self))), np.zeros(len(self))
        judged = self.judged
        places = sorted({key[:2] for key in self.columns})
        by_place = self.weights(places)
        for (layer, neuron, order, _), column in self.columns.items():
            if order is not None and 1 <= layer <= self.spec.depth:
                scores = np.stack(column.scores)
                there = judged & (column.phase == SCORED_PHASE) & ~np.isnan(scores).any(axis=0)
                weight = 1.0 if by_place is None else by_place[:, places.index((layer, neuron))]
                sums += np.where(there, scores, 0.0) * weight
                counts += there * weight
        means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        return means[0], means[1]

    def role_verdicts(self) -> dict[str, RoleVerdicts]:
        """What the neurons of each role said together, by :func:`role_key`, in the order in which roles came."""
        return _role_verdicts(self)

    # Labels

    @property
    def sources(self) -> LabelSources:
        """Where the labels come from, and what does not count."""
        sources = LabelSources()
        for (human, people), count in self._label_kinds().items():
            sources.add(CODES[human], self.pairs.people_kinds[people], count=count)
        return sources

    def _label_kinds(self) -> Counter[tuple[int, int]]:
        return Counter(zip(self.human.tolist(), self.pairs.people.tolist(), strict=True))

    def people(self, index: int) -> People:
        """Where the label of a pair comes from."""
        return self.pairs.people_kinds[int(self.pairs.people[index])]

    def labels_from_file(self) -> int:
        """How many pairs have a label that came with the data, and not from a draw of pairs to be labelled."""
        kinds = self.pairs.people_kinds
        return sum(
            count
            for (human, people), count in self._label_kinds().items()
            if (CODES[human] is not None or kinds[people].targeted is not None)
            and kinds[people].population is None
            and kinds[people].settled_by is None
        )

    def label_sample(
        self,
        aggregation: str,
        chosen: Chosen | None = None,
        used: NDArray[np.bool_] | None = None,
        *,
        only_random: bool = False,
    ) -> Sample:
        """The labels that an estimate may rest on, as ``chosen`` says for all of them or as is kept of each. Labels of
        pairs that are not ``used`` count as not asked for. ``only_random`` leaves out those drawn within verdicts."""
        tally = LabelTally(within_name(self.run, aggregation))
        said = self.aggregations[aggregation].tolist()
        asked = [True] * len(self) if used is None else used.tolist()
        kinds = Counter(zip(said, self.human.tolist(), self.pairs.people.tolist(), asked, strict=True))
        for (verdict, human, people, wanted), count in kinds.items():
            tally.add(CODES[verdict], CODES[human], self.pairs.people_kinds[people], asked=wanted, count=count)
        return tally.sample(chosen, only_random=only_random)

    def sampled_labels(self, aggregation: str, sample: Sample, used: NDArray[np.bool_] | None = None) -> Codes:
        """The human labels that ``sample`` rests on, codes by pair; 0 for the others."""
        tally = LabelTally(within_name(self.run, aggregation))
        counting = np.array([tally.counts(people, sample) for people in self.pairs.people_kinds], dtype=bool)
        wanted = counting[self.pairs.people] if used is None else counting[self.pairs.people] & used
        return np.where(wanted, self.human, 0).astype(np.uint8)

    def by_question(
        self, aggregation: str, sample: Sample, used: NDArray[np.bool_] | None = None
    ) -> NDArray[np.float64]:
        """Pairs of each question by verdict and by the label that ``sample`` rests on, of shape (questions, 4, 4)."""
        labels = self.sampled_labels(aggregation, sample, used)
        return question_counts(self.questions, self.aggregations[aggregation], labels)

    def unlabelled(self, aggregation: str, *, counting: bool = True) -> dict[Verdict, list[int]]:
        """The indexes of the pairs with a verdict and no label that counts, by verdict, in order: of all of them where
        labels are not ``counting`` (:func:`judgenet.stats.label_plan.plan_labels`)."""
        wanted = (self.human == 0) | (not counting)
        codes = self.aggregations[aggregation]
        by_verdict = {
            verdict: np.flatnonzero(wanted & (codes == VERDICT_CODES[verdict])).tolist()
            for verdict in CODES
            if verdict is not None
        }
        return {verdict: pairs for verdict, pairs in by_verdict.items() if pairs}

    # Figures of a run that goes on

    def curves(self, name: str) -> AgreementCurves:
        """How one aggregation agrees with people over the finished pairs, in the order in which they finished. The
        learned one is not compared with labels that taught it."""
        done = np.asarray(self.finished, np.int64)
        human = self.human[done]
        if name == LEARNED:
            human = np.where(self.pairs.taught[done], 0, human).astype(np.uint8)
        return agreement_curves(human, self.aggregations[name][done])

    def flips(self) -> Flips:
        """How often the average's verdict differs between the two orders, over the finished pairs."""
        done = np.asarray(self.finished, np.int64)
        return flips_of(pair_counts(self._orders["ab"][done], self._orders["ba"][done]))

    def difference(self, index: int, layer: int, neuron: int, order: Order | None = None) -> float | None:
        """Score of A minus score of B of a neuron on a pair: the mean over its valid calls (of one order or all)."""
        differences = [
            result.difference
            for of_order, _, column in self._of_neuron.get((layer, neuron), ())
            if of_order is not None and order in (None, of_order)
            if isinstance(result := column.result(index), Evaluation)
        ]
        return sum(differences) / len(differences) if differences else None


def _role_verdicts(frame: RunFrame) -> dict[str, RoleVerdicts]:
    keys: dict[str, int] = {}
    of_name = np.zeros(len(frame.role_names), np.int64)
    names: list[str] = []
    for code, name in enumerate(frame.role_names.values):
        if name is not None:
            if role_key(name) not in keys:
                names.append(" ".join(name.split()))
            of_name[code] = keys.setdefault(role_key(name), len(keys)) + 1
    if not keys or not frame.places:
        return {}
    count = len(frame.pairs)
    scores = frame.call_scores()
    valid = ~np.isnan(scores.difference)
    sums, there = np.where(valid, scores.difference, 0.0).sum(axis=(2, 3)), valid.sum(axis=(2, 3)) > 0
    asked = scores.asked.sum(axis=(2, 3)) > 0
    cells = [
        np.where(asked[:, column], of_name[frame.roles(place)] * count + np.arange(count), -1)
        for column, place in enumerate(frame.places)
    ]
    cell, total, scored = np.concatenate(cells), sums[:, : len(cells)].T.ravel(), there[:, : len(cells)].T.ravel()
    known: NDArray[np.bool_] = np.asarray(cell >= count)
    at, number = np.unique(cell[known], return_inverse=True)
    codes = sign_codes(
        np.bincount(number, weights=total[known], minlength=len(at)),
        np.bincount(number, weights=scored[known], minlength=len(at)) > 0,
    )
    key_of, pair_of = at // count - 1, at % count
    starts = np.searchsorted(key_of, np.arange(len(keys) + 1))
    return {
        key: RoleVerdicts(names[place], pair_of[start:stop], codes[start:stop])
        for key, (place, start, stop) in zip(
            keys, zip(range(len(keys)), starts[:-1], starts[1:], strict=True), strict=True
        )
        if stop > start
    }
