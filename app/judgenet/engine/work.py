"""The progress of one pair through the network: which calls it needs, when they are ready, what they read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from judgenet.core.aggregate import Opinion, PairVerdicts, aggregate
from judgenet.core.calls import ROLES_LAYER, CallSite, KeyPrefix
from judgenet.core.cascade import Stage, Stop, has_stop_rules, look, stages, stop_at, voters_of
from judgenet.core.criteria import vote_weights
from judgenet.core.evaluation import Evaluation, Unscored
from judgenet.core.network import (
    NetworkError,
    NetworkSpec,
    Role,
    Settings,
    asks_probabilities,
    chair_settings,
    needs_roles,
    neuron_settings,
    role_limit,
    role_settings,
    takes_criterion,
)
from judgenet.core.network_graph import NetworkGraph, network_graph
from judgenet.core.pairs import ORDERS, Order, Pair
from judgenet.core.prompts import Heard, LayerPrompts, LayerView, Prompt, PromptBook, PromptLanguage, Seat
from judgenet.core.schemas import ReplyForm

Result = Evaluation | Unscored

_REPEAT = 1_000_000
"""Replica numbers of repeated calls start here: a layer has fewer neurons."""


@dataclass(frozen=True, slots=True)
class Neuron:
    """A neuron as it works on one pair. ``place`` is 0-based; ``replica`` counts earlier neurons of the layer
    that would ask exactly the same question; ``inherited`` are the roles of earlier layers that are named to it."""

    place: int
    role: Role | None
    settings: Settings
    inputs: tuple[int, ...]
    replica: int
    inherited: tuple[Role, ...] = ()


@dataclass(slots=True, eq=False)
class Call:
    """A call that is ready to be sent."""

    work: PairWork
    site: CallSite
    settings: Settings
    role: Role | None
    neuron: Neuron | None = None
    instead_of: Call | None = None
    """The call as designed, where this one goes to a stand-in in its place."""

    @property
    def rank(self) -> tuple[int, int, int, int, int]:
        """Its place in the sending order: pairs begun earlier first, then layer, then order, so that calls whose
        prompts begin alike follow each other."""
        site = self.site
        return (self.work.turn, site.layer, 1 if site.order == "ba" else 0, site.neuron, site.sample)


def drawn_order(seed: int, pair_id: str, layer: int, neuron: int, sample: int) -> Order:
    """The order of a call under ``orders="random"``: drawn from the seed, and the same each time."""
    text = f"{seed}\n{layer}\n{neuron}\n{sample}\n{pair_id}"
    return ORDERS[hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[0] & 1]


def orders_of(spec: NetworkSpec, pair_id: str, layer: int, place: int, sample: int) -> tuple[Order, ...]:
    """The orders in which a neuron answers for one sample; ``layer`` and ``place`` are 0-based."""
    if spec.orders == "both":
        return ORDERS
    if spec.orders == "random":
        return (drawn_order(spec.seed, pair_id, layer + 1, place + 1, sample),)
    return (spec.orders,)


def role_at(spec: NetworkSpec, layer: int, place: int, roles: tuple[Role, ...]) -> Role | None:
    """The role of a neuron on a pair with these roles: its own, else the one of its place."""
    design = spec.layers[layer]
    own = design.neurons[0 if design.adaptive else place].role
    if own is None and spec.roles.kind != "none" and place < len(roles):
        return roles[place]
    return own


def _roles_of(neurons: Iterable[Neuron]) -> tuple[Role, ...]:
    """The roles of neurons and those that they inherited, each once, in order."""
    roles = dict.fromkeys(role for n in neurons for role in (n.role, *n.inherited) if role is not None)
    return tuple(roles)


class PairWork:
    """The state of one pair in a run. It uses neither endpoints nor the event loop."""

    def __init__(
        self,
        index: int,
        pair: Pair,
        spec: NetworkSpec,
        book: PromptBook,
        mark: str,
        language: PromptLanguage,
        family: str,
    ) -> None:
        self.index = index
        self.turn = index
        """When it was begun: the calls of earlier pairs come first."""
        self.pair = pair
        self.spec = spec
        self.book = book
        self.mark = mark
        self.language = language
        self.family = family
        self.roles: tuple[Role, ...] | None = None
        self.note = ""
        self.layers: list[tuple[Neuron, ...]] = []
        self.results: dict[CallSite, Result] = {}
        self.open_calls = 0
        self.calls_total = 0
        self._weights = vote_weights([criterion.weight for criterion in pair.criteria])
        self.stop: Stop | None = None
        """Where the pair was decided early; its calls are those sent until then."""
        self._stages: tuple[Stage, ...] = ()
        self._stage = 0
        self._stage_left = 0
        self._left: list[dict[int, int]] = []
        self._layer_left: list[int] = []
        self._waiting: list[dict[int, int]] = []
        self._prompts: dict[tuple[int, Order, int, ReplyForm, tuple[int, ...] | None], LayerPrompts] = {}
        self._prefixes: dict[tuple[str, int, Order, int, ReplyForm, tuple[int, ...] | None], KeyPrefix] = {}

    # From roles to calls

    @property
    def needs_roles(self) -> bool:
        """True where the model must name roles: some neuron has none of its own."""
        return needs_roles(self.spec)

    def roles_call(self) -> Call:
        """The call that generates roles, once per pair."""
        return Call(self, CallSite(self.index, ROLES_LAYER, 0, None, 1), role_settings(self.spec), None)

    def roles_prompt(self, form: ReplyForm) -> Prompt:
        return self.book.roles(
            self.pair,
            mark=self.mark,
            form=form,
            limit=role_limit(self.spec),
            language=self.language,
            family=self.family,
        )

    def set_roles(self, roles: tuple[Role, ...], note: str) -> list[Call]:
        """Fixes roles and widths for this pair and returns the calls of layer 1."""
        self.roles = roles
        self.note = note
        wired = network_graph(self.spec, len(roles))
        for layer in range(self.spec.depth):
            self.layers.append(self._neurons(wired, layer))
        for layer, neurons in enumerate(self.layers):
            left = {neuron.place: len(self._calls_of(layer, neuron)) for neuron in neurons}
            self._left.append(left)
            self._layer_left.append(sum(left.values()))
            self._waiting.append({n.place: len(n.inputs) for n in neurons if layer > 0 and not self._reads_all(layer)})
        self.calls_total = sum(self._layer_left) + (len(self._chair_calls()) if self.spec.chair else 0)
        if has_stop_rules(self.spec):
            self._stages = stages(self.spec, len(roles))
            return self._begin_stage()
        ready = list(self._layer_calls(0))
        for layer in range(1, self.spec.depth):
            # A neuron whose inputs do not exist for this pair has nothing to wait for.
            for neuron in self.layers[layer]:
                if self._waiting[layer].get(neuron.place) == 0:
                    ready += self._calls_of(layer, neuron)
        return ready

    def _reads_all(self, layer: int) -> bool:
        return self.spec.layers[layer].wiring.kind == "full"

    def _neurons(self, wired: NetworkGraph, layer: int) -> tuple[Neuron, ...]:
        spec = self.spec
        roles = self.roles or ()
        there = {neuron.place: neuron for neuron in (self.layers[layer - 1] if layer else ())}
        same: dict[tuple[object, ...], int] = {}
        neurons = []
        for place in wired.layers[layer]:
            role = role_at(spec, layer, place, roles)
            settings = neuron_settings(spec, layer, place)
            inputs = wired.inputs(layer, place)
            # The endpoint is no part of the question; a neuron of another endpoint gives an answer of its own.
            asks = (role, replace(settings, endpoint=None, samples=None, stand_in=None), inputs)
            replica = same.get(asks, 0)
            same[asks] = replica + 1
            # Under full wiring every neuron knows all roles anyway.
            inherited = () if self._reads_all(layer) else _roles_of(there[i] for i in inputs)
            neurons.append(Neuron(place, role, settings, inputs, replica, inherited))
        return tuple(neurons)

    def _orders(self, layer: int, place: int, sample: int) -> tuple[Order, ...]:
        if self.pair.shown is not None and self.pair.shown.order is not None:
            return (self.pair.shown.order,)
        return orders_of(self.spec, self.pair.id, layer, place, sample)

    def _calls_of(self, layer: int, neuron: Neuron) -> list[Call]:
        return [
            Call(
                self,
                CallSite(self.index, layer + 1, neuron.place + 1, order, sample),
                neuron.settings,
                neuron.role,
                neuron,
            )
            for sample in range(1, (neuron.settings.samples or 1) + 1)
            for order in self._orders(layer, neuron.place, sample)
        ]

    def call_at(self, site: CallSite) -> Call:
        """A call by its place, once the roles are set.

        :raises NetworkError: the pair has no such call.
        """
        if site.layer == ROLES_LAYER:
            return self.roles_call()
        if site.layer > self.spec.depth:
            calls = self._chair_calls() if self.spec.chair else []
        else:
            neurons = self.layers[site.layer - 1]
            calls = [call for n in neurons if n.place + 1 == site.neuron for call in self._calls_of(site.layer - 1, n)]
        for call in calls:
            if call.site == site:
                return call
        raise NetworkError(f"Pair {self.pair.id} has no call {tuple(site)}.")

    def stand_in_call(self, call: Call, settings: Settings) -> Call:
        """A call as it is sent to a stand-in with these settings.

        The replica number distinguishes neurons with the same question from those whose own model this is, and from
        one another: each is an answer of its own.
        """
        neuron = call.neuron
        if neuron is not None and call.site.layer <= self.spec.depth:
            layer = self.layers[call.site.layer - 1]
            alike = [other for other in layer if (other.role, other.inputs) == (neuron.role, neuron.inputs)]
            earlier = [other for other in alike if other.place < neuron.place]
            before = [stand_in for other in earlier for stand_in in other.settings.stand_in or ()]
            models = [other.settings.model for other in alike] + [stand_in.model for stand_in in before]
            neuron = replace(neuron, settings=settings, replica=models.count(settings.model))
        return Call(self, call.site, settings, call.role, neuron, call)

    def _layer_calls(self, layer: int) -> Iterator[Call]:
        for neuron in self.layers[layer]:
            yield from self._calls_of(layer, neuron)

    def _chair_calls(self) -> list[Call]:
        settings = chair_settings(self.spec)
        layer = self.spec.depth
        last = self.layers[-1] if self.layers else ()
        chair = Neuron(0, None, settings, tuple(neuron.place for neuron in last), 0)
        return self._calls_of(layer, chair)

    # From results to the next calls

    def finish(self, site: CallSite, result: Result) -> tuple[list[Call], bool]:
        """Records a result. Returns the calls that are ready now, and whether the layer is complete."""
        self.results[site] = result
        if self._stages:
            return self._finish_in_stage(site)
        layer, place = site.layer - 1, site.neuron - 1
        if layer == self.spec.depth:
            return [], len(self.results) == self.calls_total
        self._layer_left[layer] -= 1
        self._left[layer][place] -= 1
        complete = self._layer_left[layer] == 0
        ready: list[Call] = []
        following = layer + 1
        if following < self.spec.depth:
            if self._reads_all(following):
                if complete:
                    ready += self._layer_calls(following)
            elif self._left[layer][place] == 0:
                waiting = self._waiting[following]
                for neuron in self.layers[following]:
                    if place in neuron.inputs:
                        waiting[neuron.place] -= 1
                        if waiting[neuron.place] == 0:
                            ready += self._calls_of(following, neuron)
        elif complete and self.spec.chair:
            ready += self._chair_calls()
        return ready, complete

    def _begin_stage(self) -> list[Call]:
        """The calls of the next stage. All calls of the stages before it have results, whatever the wiring: the outcome
        of a stop rule must not depend on which answers came first."""
        stage = self._stages[self._stage]
        if stage.layer > self.spec.depth:
            calls = self._chair_calls()
        else:
            neurons = [neuron for neuron in self.layers[stage.layer - 1] if neuron.place + 1 in stage.neurons]
            calls = [call for neuron in neurons for call in self._calls_of(stage.layer - 1, neuron)]
        self._stage_left = len(calls)
        return calls

    def _finish_in_stage(self, site: CallSite) -> tuple[list[Call], bool]:
        """Like :meth:`finish`, in a network with stop rules."""
        self._stage_left -= 1
        if self._stage_left:
            return [], False
        last, following = self._stages[self._stage], self._stages[self._stage + 1 : self._stage + 2]
        complete = not following or following[0].layer != last.layer
        if not following:
            return [], complete
        rule = following[0].rule
        if rule is not None:
            unasked = sum(voters_of(self.spec, stage, self.weight) for stage in self._stages[self._stage + 1 :])
            if look(rule, self.opinions(), last.layer, unasked, self.spec.aggregation).stops:
                self.stop = stop_at(self._stages, self._stage)
                self.calls_total = len(self.results)
                return [], complete
        self._stage += 1
        return self._begin_stage(), complete

    @property
    def stages_asked(self) -> int:
        """How many stages of a network with stop rules were begun so far; 0 in one without."""
        return self._stage + 1 if self._stages else 0

    def verdicts(self) -> PairVerdicts:
        """The verdicts on the pair by the calls that have arrived."""
        spec, stop = self.spec, self.stop
        last = None if stop is None else stop.layer
        left_out = stop is not None and spec.chair is not None
        return aggregate(
            self.opinions(),
            spec.depth,
            spec.aggregation,
            last_asked=last,
            chair_left_out=left_out,
            soft=asks_probabilities(spec),
        )

    @property
    def done(self) -> bool:
        """All calls have results."""
        return self.roles is not None and len(self.results) == self.calls_total

    def opinions(self) -> list[Opinion]:
        """The results of neurons and chair, for aggregation."""
        return [
            Opinion(site.layer, site.neuron, site.order, site.sample, result, self.weight(site.layer, site.neuron))
            for site, result in self.results.items()
            if site.order is not None
        ]

    def weight(self, layer: int, neuron: int) -> float:
        """The weight of a neuron, both from 1: that of its criterion, else 1."""
        if neuron > len(self._weights) or not takes_criterion(self.spec, layer - 1, neuron - 1):
            return 1
        return self._weights[neuron - 1]

    # What a call reads

    def heard(self, call: Call) -> tuple[Heard, ...]:
        """The evaluations of the layer before that a call reads, by neuron and order.

        Sample s reads sample s of the layer before, starting again at 1 where that has fewer.
        """
        site, neuron = call.site, call.neuron
        if neuron is None or site.layer < 2:
            return ()
        layer = site.layer - 2
        by_place = {source.place: source for source in self.layers[layer]}
        evaluations = []
        for place in neuron.inputs:
            source = by_place[place]
            sample = (site.sample - 1) % (source.settings.samples or 1) + 1
            for order in self._orders(layer, place, sample):
                result = self.results[CallSite(self.index, layer + 1, place + 1, order, sample)]
                evaluations.append(Heard(place + 1, source.role, order, result, source.inherited))
        return tuple(evaluations)

    @staticmethod
    def missing(heard: Iterable[Heard], layer: int) -> tuple[str, ...]:
        """The failed evaluations among those heard, for the record."""
        return tuple(
            f"layer {layer - 1}, neuron {item.neuron}, order {item.order}: {item.result.reason}"
            for item in heard
            if isinstance(item.result, Unscored)
        )

    def prompt(self, call: Call, form: ReplyForm) -> Prompt:
        """The prompt of a neuron's or the chair's call."""
        assert call.neuron is not None
        if call.site.layer > self.spec.depth:
            return self.book.chair(self._view(call, form))
        prompts = self._layer_prompts(call, form)
        neuron = call.neuron
        own = neuron.place + 1 if call.site.layer > 1 and neuron.place in neuron.inputs else None
        return prompts.prompt(Seat(neuron.place + 1, call.role, own, self._by_criterion(call)))

    def _by_criterion(self, call: Call) -> bool:
        """Whether a neuron judges by a criterion of the pair."""
        layer, place = call.site.layer - 1, call.site.neuron - 1
        return place < len(self.pair.criteria) and takes_criterion(self.spec, layer, place)

    def _group(self, call: Call, form: ReplyForm) -> tuple[int, Order, int, ReplyForm, tuple[int, ...] | None]:
        site = call.site
        assert site.order is not None
        assert call.neuron is not None
        if site.layer == 1:
            return (1, site.order, 1, form, None)
        return (site.layer, site.order, site.sample, form, call.neuron.inputs)

    def _layer_prompts(self, call: Call, form: ReplyForm) -> LayerPrompts:
        group = self._group(call, form)
        prompts = self._prompts.get(group)
        if prompts is None:
            prompts = self._prompts[group] = self.book.layer(self._view(call, form))
        return prompts

    def _view(self, call: Call, form: ReplyForm) -> LayerView:
        assert call.site.order is not None
        return LayerView(
            pair=self.pair,
            order=call.site.order,
            layer=call.site.layer,
            mark=self.mark,
            form=form,
            heard=self.heard(call),
            language=self.language,
            family=self.family,
            evidence=self.spec.evidence,
            # Neurons of criteria see theirs alone; the chair weighs all of them.
            criteria=self.pair.criteria if not self.by_criteria or call.site.layer > self.spec.depth else (),
            by_criteria=self.by_criteria,
        )

    @property
    def by_criteria(self) -> bool:
        """The roles of this pair are its criteria."""
        return self.spec.roles.kind == "criteria" and bool(self.pair.criteria)

    def key(self, call: Call, form: ReplyForm, prompt: Prompt, parameters: str) -> bytes:
        """The content key of a call. The shared text is hashed once for all calls that have it."""
        repeated = 0 if self.pair.shown is None else _REPEAT * self.pair.shown.repeat
        if call.neuron is None or call.site.layer > self.spec.depth:
            return KeyPrefix(parameters, prompt.system, prompt.shared).key(prompt.own, call.site.sample, repeated)
        group = (parameters, *self._group(call, form))
        prefix = self._prefixes.get(group)
        if prefix is None:
            prefix = self._prefixes[group] = KeyPrefix(parameters, prompt.system, prompt.shared)
        return prefix.key(prompt.own, call.site.sample, call.neuron.replica + repeated)
