"""Which pairs of a run were decided early, from the calls that it has.

A stop rule is looked at when all calls of a stage are in, so that a finished pair without calls in a later stage was
decided before it (:mod:`judgenet.core.cascade`). Nothing else needs to be kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgenet.core.cascade import Stop, calls_of, has_stop_rules, stages, stop_at
from judgenet.core.network import NetworkSpec, StopRule, needs_roles
from judgenet.store.columns import DONE_PHASE, SCORED_PHASE

if TYPE_CHECKING:
    from judgenet.store.call_frame import CallFrame
    from judgenet.store.frame import RunFrame


@dataclass(frozen=True, slots=True)
class DecidedEarly:
    """How far the pairs of a run went, a value a pair.

    Attributes:
        layer, neuron: the last ones that were asked of a pair that was decided early, from 1; 0 for the other pairs.
        whole: whether all of that layer was asked.
        reached: how many stages of the network were asked; 0 where the pair is not finished.
    """

    layer: NDArray[np.int64]
    neuron: NDArray[np.int64]
    whole: NDArray[np.bool_]
    reached: NDArray[np.int64]


def decided_early(frame: CallFrame) -> DecidedEarly | None:
    """How far the finished pairs of a run went; ``None`` where its network has no stop rule."""
    spec = frame.spec
    if not has_stop_rules(spec):
        return None
    count = len(frame.pairs)
    layer, neuron, reached = (np.zeros(count, np.int64) for _ in range(3))
    whole = np.zeros(count, np.bool_)
    done = frame.states >= DONE_PHASE
    asked = _asked(frame)
    roles = roles_of_pairs(frame)
    for number in np.unique(roles).tolist():
        run_stages = stages(spec, int(number))
        mine = done & (roles == number)
        last = np.full(count, -1)
        for place, stage in enumerate(run_stages):
            there = np.zeros(count, np.bool_)
            for position in stage.neurons:
                there |= asked.get((stage.layer, position), False)
            last = np.where(there, place, last)
        for place in range(len(run_stages)):
            here = mine & (last == place)
            reached[here] = place + 1
            stop = stop_at(run_stages, place)
            if stop is not None:
                layer[here], neuron[here], whole[here] = stop
    return DecidedEarly(layer, neuron, whole, reached)


def stopped_after(early: DecidedEarly) -> NDArray[np.object_]:
    """Where each pair was decided early, in words ("layer 1"); ``None`` where it was not."""
    places = np.full(len(early.layer), None, dtype=object)
    for layer, neuron, whole in np.unique(np.stack([early.layer, early.neuron, early.whole], axis=1), axis=0).tolist():
        if layer:
            mine = (early.layer == layer) & (early.neuron == neuron) & (early.whole == bool(whole))
            places[mine] = Stop(layer, neuron, bool(whole)).place()
    return places


def stop_of(frame: CallFrame, index: int) -> Stop | None:
    """Where one pair was decided early, ``None`` where it was not; without a look at the others."""
    spec = frame.spec
    if not has_stop_rules(spec) or frame.states[index] < DONE_PHASE:
        return None
    roles = int(roles_of_pairs(frame)[index])
    asked = {
        (layer, neuron)
        for (layer, neuron, order, _), column in list(frame.columns.items())
        if order is not None and column.phase[index] >= SCORED_PHASE
    }
    run_stages = stages(spec, roles)
    last = [
        place
        for place, stage in enumerate(run_stages)
        if any((stage.layer, position) in asked for position in stage.neurons)
    ]
    return stop_at(run_stages, last[-1]) if last else None


def roles_of_pairs(frame: CallFrame) -> NDArray[np.int64]:
    """With how many roles each pair works, as :func:`judgenet.core.cascade.stages` counts them."""
    if needs_roles(frame.spec):
        return frame.pairs.role_counts.astype(np.int64)
    if frame.spec.roles.kind == "criteria":
        counts = frame.pairs.criteria_counts
        return np.where(counts > 0, counts, len(frame.spec.roles.roles))
    return np.full(len(frame.pairs), fixed_role_count(frame.spec))


def fixed_role_count(spec: NetworkSpec) -> int:
    """How many roles each pair has in a network that asks for none."""
    return len(spec.roles.roles) if spec.roles.kind == "fixed" else 0


def _asked(frame: CallFrame) -> dict[tuple[int, int], NDArray[np.bool_]]:
    """By layer and neuron, on which pairs some call of it is in."""
    asked: dict[tuple[int, int], NDArray[np.bool_]] = {}
    for (layer, neuron, order, _), column in list(frame.columns.items()):
        if order is not None:
            there = column.phase >= SCORED_PHASE
            asked[layer, neuron] = asked[layer, neuron] | there if (layer, neuron) in asked else there
    return asked


@dataclass(frozen=True, slots=True)
class StageCount:
    """How many of the finished ``pairs`` were ``asked`` a stage, and how many of these were ``decided`` after it, so
    that the stages that follow were not asked. ``calls`` of ``calls_most`` were made."""

    layer: int
    neurons: tuple[int, ...]
    rule: StopRule | None
    pairs: int
    asked: int
    decided: int
    calls: int
    calls_most: int


def stage_counts(frame: RunFrame) -> tuple[StageCount, ...]:
    """The stages of a run with stop rules over its finished pairs, in order; nothing for a run without."""
    early = frame.early
    if early is None:
        return ()
    spec, done = frame.spec, frame.states >= DONE_PHASE
    roles = roles_of_pairs(frame)
    counts: dict[tuple[int, int], StageCount] = {}
    calls_made = _calls_made(frame, done)
    for number in np.unique(roles[done]).tolist():
        mine = done & (roles == number)
        pairs = int(mine.sum())
        of_pair = stages(spec, int(number))
        for place, stage in enumerate(of_pair):
            # Pairs with fewer roles have fewer neurons in a stage, and fewer stages where neurons are asked in turn.
            turn = stage.layer <= spec.depth and spec.layers[stage.layer - 1].between is not None
            key = (stage.layer, stage.neurons[0] if turn else 0)
            asked = mine & (early.reached > place)
            decided = int((mine & (early.reached == place + 1)).sum()) if place < len(of_pair) - 1 else 0
            before = counts.get(key)
            neurons = max(stage.neurons, before.neurons if before else (), key=len)
            counts[key] = StageCount(
                stage.layer,
                neurons,
                stage.rule,
                pairs + (before.pairs if before else 0),
                int(asked.sum()) + (before.asked if before else 0),
                decided + (before.decided if before else 0),
                0,
                calls_of(spec, stage) * pairs + (before.calls_most if before else 0),
            )
    return tuple(
        replace(count, calls=sum(calls_made.get((count.layer, neuron), 0) for neuron in count.neurons))
        for _, count in sorted(counts.items())
    )


def _calls_made(frame: CallFrame, done: NDArray[np.bool_]) -> dict[tuple[int, int], int]:
    calls: Counter[tuple[int, int]] = Counter()
    for (layer, neuron, order, _), column in list(frame.columns.items()):
        if order is not None:
            calls[layer, neuron] += int((done & (column.phase >= SCORED_PHASE)).sum())
    return calls
