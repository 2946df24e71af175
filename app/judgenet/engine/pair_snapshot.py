"""The current state of a pair: every neuron's state, the votes so far, and whether the verdict is certain.

The canvas and the inspector show it for the pair in focus. It follows the run's table call by call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum
from typing import Literal

from judgenet.core.aggregate import Opinion, PairVerdicts, Votes, aggregate, decided, leading, merged
from judgenet.core.calls import CallSite
from judgenet.core.evaluation import ANSWERED, Evaluation, Reason, Unscored
from judgenet.core.network import (
    Role,
    Settings,
    chair_settings,
    designed_roles,
    needs_roles,
    neuron_settings,
)
from judgenet.core.network_graph import network_graph
from judgenet.core.pairs import ORDERS, Order, Verdict
from judgenet.engine.work import orders_of, role_at
from judgenet.store.acceptance import left_to_people
from judgenet.store.columns import CallState
from judgenet.store.frame import RunFrame

NeuronPhase = Literal["resting", "left_out", "waiting", "asked", "writing", "scored", "unscored"]
"""``resting``: the pair has no role for it, so it makes no calls. ``left_out``: the pair was decided before its
calls."""


@dataclass(frozen=True, slots=True)
class OrderSnapshot:
    """The answers of a neuron in one order, over its samples.

    Scores are the means of the valid calls that have scores. ``reason`` is set where all ``calls`` have results and
    none is valid.
    """

    order: Order
    calls: int
    calls_in: int
    verdict: Verdict | None = None
    score_a: float | None = None
    score_b: float | None = None
    reason: Reason | None = None

    @property
    def complete(self) -> bool:
        return self.calls_in >= self.calls

    @property
    def said(self) -> bool:
        """Whether there is an evaluation, or the reason why there will be none."""
        return self.verdict is not None or self.reason is not None


@dataclass(frozen=True, slots=True)
class NeuronSnapshot:
    """A neuron (or the chair) on one pair. ``layer`` and ``neuron`` count from 1 as in a call's site.

    ``busy`` are its calls under way, ``writing`` the order whose answer is being written (``None`` also where both
    are). ``seconds`` is the time of its slowest answer (``None`` where it is unknown, as for judgments recorded
    elsewhere), ``attempts`` the most that a call needed. ``reason`` is set where it is unscored. ``changed_from`` is
    its verdict in the layer before, where that differed. ``stood_in`` counts the calls, of the ``answered`` ones, that
    a stand-in answered.
    """

    layer: int
    neuron: int
    role: Role | None
    settings: Settings
    phase: NeuronPhase
    orders: tuple[OrderSnapshot, ...] = ()
    busy: tuple[CallSite, ...] = ()
    writing: Order | None = None
    verdict: Verdict | None = None
    changed_from: Verdict | None = None
    seconds: float | None = None
    attempts: int = 0
    reason: Reason | None = None
    stood_in: int = 0
    answered: int = 0

    @property
    def complete(self) -> bool:
        """Whether all its calls have results, or it makes none."""
        return self.phase in ("resting", "left_out", "scored", "unscored")

    def order(self, order: Order) -> OrderSnapshot | None:
        """Its answers in one order, ``None`` where it is not used."""
        return next((snapshot for snapshot in self.orders if snapshot.order == order), None)


class PairSnapshot:
    """All neurons of a pair.

    Attributes:
        layers: the neurons of each layer by place, including resting ones between working ones.
        chair: the chair, ``None`` where the network has none.
        roles_known: the roles of the pair are known; until then widths are as designed.
        votes, layer_votes: the votes of neurons whose calls all have results.
        used, of: the number of voters that have voted, and of all voters; ``outstanding`` ones may still vote.
        verdict: the network's verdict, once no outstanding vote can change it.
        leads: the response that is ahead meanwhile.
        stop: where the pair was decided early, ``None`` where it was not.
        no_quorum: the number of neurons with an answer, where the pair has no verdict for lack of a quorum.
    """

    def __init__(self, table: RunFrame, pair: int, roles: tuple[Role, ...] | None) -> None:
        self._table = table
        self.pair = pair
        self.spec = table.spec
        self.roles_known = roles is not None or not needs_roles(self.spec)
        self._roles = roles or ()
        self.stop = table.stop(pair)
        count = len(self._roles) if self.roles_known else designed_roles(self.spec)
        self.layers: list[list[NeuronSnapshot]] = []
        for layer, places in enumerate(network_graph(self.spec, count).layers):
            working = set(places)
            self.layers.append(
                [
                    self._snapshot(layer, place, working=place in working)
                    for place in range(max(working, default=-1) + 1)
                ]
            )
        self.chair = None if self.spec.chair is None else self._snapshot(self.spec.depth, 0)
        self._count_votes()

    def __getitem__(self, at: tuple[int, int]) -> NeuronSnapshot:
        """A neuron by layer and neuron as in a call's site."""
        layer, neuron = at
        if layer > self.spec.depth:
            if self.chair is None:
                raise KeyError(at)
            return self.chair
        return self.layers[layer - 1][neuron - 1]

    def has(self, layer: int, neuron: int) -> bool:
        """Whether there is such a neuron."""
        if layer == self.spec.depth + 1:
            return self.chair is not None and neuron == 1
        return 1 <= layer <= self.spec.depth and 1 <= neuron <= len(self.layers[layer - 1])

    def take(self, sites: Iterable[CallSite]) -> set[tuple[int, int]]:
        """Updates the neurons of these calls, which must be of this pair. Returns those that changed, with the same
        neuron of the next layer where its ``changed_from`` did."""
        touched = {(site.layer, site.neuron) for site in sites if self.has(site.layer, site.neuron)}
        changed: set[tuple[int, int]] = set()
        for layer, neuron in sorted(touched):
            if self._renew(layer, neuron):
                changed.add((layer, neuron))
                if self.has(layer + 1, neuron) and layer < self.spec.depth and self._renew(layer + 1, neuron):
                    changed.add((layer + 1, neuron))
        if any(self[at].complete for at in changed):
            self._count_votes()
        return changed

    def _renew(self, layer: int, neuron: int) -> bool:
        old = self[layer, neuron]
        if old.phase == "resting":
            return False
        new = self._snapshot(layer - 1, neuron - 1)
        if new == old:
            return False
        if layer > self.spec.depth:
            self.chair = new
        else:
            self.layers[layer - 1][neuron - 1] = new
        return True

    def _snapshot(self, layer: int, place: int, *, working: bool = True) -> NeuronSnapshot:
        """The state of a neuron by the table; ``layer`` and ``place`` are 0-based."""
        spec = self.spec
        is_chair = layer == spec.depth
        settings = chair_settings(spec) if is_chair else neuron_settings(spec, layer, place)
        role = None if is_chair else role_at(spec, layer, place, self._roles)
        if not working:
            return NeuronSnapshot(layer + 1, place + 1, role, settings, "resting")
        begun = dict(self._table.neuron(self.pair, layer + 1, place + 1))
        designed = self._designed_calls(layer, place, settings.samples or 1, begun)
        orders = tuple(_order(order, designed[order], begun) for order in ORDERS if order in designed)
        finished = [state for state in begun.values() if state.finished]
        busy = tuple(site for site, state in begun.items() if state.phase in ("asked", "writing"))
        if self.stop is not None and not begun:
            return NeuronSnapshot(layer + 1, place + 1, role, settings, "left_out")
        writing = {site.order for site in busy if begun[site].phase == "writing"}
        results = [state for state in finished if state.phase == "scored"]
        verdict = merged([_difference(state) for state in results])
        complete = not busy and all(order.complete for order in orders)
        phase: NeuronPhase = "waiting"
        if complete:
            phase = "unscored" if verdict is None else "scored"
        elif writing:
            phase = "writing"
        elif busy:
            phase = "asked"
        reasons = [state.reason for state in finished if state.reason is not None]
        before = None
        if 0 < layer < spec.depth and place < len(self.layers[layer - 1]):
            before = self.layers[layer - 1][place].verdict
        return NeuronSnapshot(
            layer + 1,
            place + 1,
            role,
            settings,
            phase,
            orders,
            busy,
            next(iter(writing)) if len(writing) == 1 else None,
            verdict,
            before if verdict is not None and before != verdict else None,
            max((state.seconds for state in finished if state.seconds), default=None),
            max((state.attempts for state in finished), default=0),
            reasons[0] if complete and verdict is None and reasons else None,
            sum(state.stood_in for state in finished),
            sum(state.reason is None or state.reason in ANSWERED for state in finished),
        )

    def _designed_calls(
        self, layer: int, place: int, samples: int, begun: Iterable[CallSite]
    ) -> dict[Order, list[CallSite]]:
        """The calls of a neuron as designed, by order."""
        calls: dict[Order, list[CallSite]] = {}
        pair_id = self._table.pairs.ids[self.pair]
        # A prompt of a bias lab has its own order, which its calls name.
        named = {site.order for site in begun if site.order is not None} if self.spec.orders in ORDERS else set()
        for sample in range(1, samples + 1):
            for order in named or orders_of(self.spec, pair_id, layer, place, sample):
                calls.setdefault(order, []).append(CallSite(self.pair, layer + 1, place + 1, order, sample))
        return calls

    def _count_votes(self) -> None:
        """Counts the votes."""
        rules = self.spec.aggregation
        neurons = [n for layer in self.layers for n in layer if n.phase not in ("resting", "left_out")]
        complete = [n for n in neurons if n.complete]
        so_far: PairVerdicts = aggregate(self._opinions(complete), self.spec.depth, rules)
        self.votes: Votes = so_far.votes
        self.layer_votes: tuple[Votes, ...] = so_far.layer_votes
        by_call = rules.vote == "call"
        self.of = sum(_calls(n) for n in neurons) if by_call else len(neurons)
        voted = [neuron for neuron in so_far.neurons if neuron.verdict is not None]
        self.used = sum(neuron.calls_used for neuron in voted) if by_call else len(voted)
        self.outstanding = (
            sum(_calls(n) for n in neurons if not n.complete) if by_call else len(neurons) - len(complete)
        )
        left = sum(self._weight(n) * (_calls(n) if by_call else 1) for n in neurons if not n.complete)
        self.leads = leading(so_far.votes)
        if self.chair is not None and self.chair.phase == "left_out":
            self.verdict = so_far.c2_all
        elif self.chair is not None:
            self.verdict = self.chair.verdict if self.chair.complete else None
        else:
            self.verdict = decided(so_far.votes, left, rules, so_far.c1)
        self.no_quorum = self._short_of_quorum(so_far.valid)
        self.for_people = left_to_people(self._table, self.pair)

    def _short_of_quorum(self, valid: tuple[int, ...]) -> int | None:
        """Withdraws the verdict while too few neurons have a valid answer (``valid``, by layer). Returns the number of
        neurons with an answer where the pair is complete."""
        quorum = self.spec.aggregation.quorum
        by_chair = self.chair is not None and self.chair.phase != "left_out"
        answered = valid[-1] if by_chair and valid else sum(valid)
        if quorum is None or answered >= quorum:
            return None
        self.verdict = None
        done = self.chair.complete if self.chair is not None else not self.outstanding
        return answered if done else None

    def _opinions(self, neurons: Iterable[NeuronSnapshot]) -> list[Opinion]:
        opinions = []
        for neuron in neurons:
            for site, state in self._table.neuron(self.pair, neuron.layer, neuron.neuron):
                if site.order is not None and state.finished:
                    result = _result(state)
                    opinions.append(Opinion(*site[1:3], site.order, site.sample, result, self._weight(neuron)))
        return opinions

    def _weight(self, neuron: NeuronSnapshot) -> float:
        return self._table.weight(self.pair, neuron.layer, neuron.neuron)

    @property
    def layers_complete(self) -> tuple[bool, ...]:
        """For each layer whether all its neurons are complete."""
        return tuple(all(neuron.complete for neuron in layer) for layer in self.layers)


def _calls(neuron: NeuronSnapshot) -> int:
    return sum(order.calls for order in neuron.orders)


def _result(state: CallState) -> Evaluation | Unscored:
    if state.phase == "scored" and state.verdict is not None:
        return Evaluation("", state.verdict, state.score_a, state.score_b)
    return Unscored(state.reason or Reason.INTERNAL)


def _difference(state: CallState) -> float:
    result = _result(state)
    return result.difference if isinstance(result, Evaluation) else 0.0


def _order(order: Order, sites: list[CallSite], begun: dict[CallSite, CallState]) -> OrderSnapshot:
    states = [begun[site] for site in sites if site in begun and begun[site].finished]
    valid = [state for state in states if state.phase == "scored"]
    scores = [(s.score_a, s.score_b) for s in valid if s.score_a is not None and s.score_b is not None]
    a = b = None
    if scores:
        a, b = (fsum(side) / len(scores) for side in zip(*scores, strict=True))
    reason = None
    if not valid and len(states) == len(sites):
        reason = next((state.reason for state in states if state.reason is not None), None)
    return OrderSnapshot(order, len(sites), len(states), merged([_difference(state) for state in valid]), a, b, reason)
