"""Whether enough neurons answered, and who answered in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from judgenet.core.aggregate import aggregation_names
from judgenet.core.wording import of, plural
from judgenet.figures.base import Keys
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.quorum import without_quorum
from judgenet.store.results import neuron_names
from judgenet.store.stand_ins import StoodIn, stood_in_counts


@dataclass(frozen=True)
class QuorumFigures:
    """The pairs that have no verdict for want of a quorum."""

    neurons: Annotated[int, "the fewest neurons with a valid answer for a verdict"]
    without: Annotated[Mapping[str, int], Keys(("NAME",)), "finished pairs on which an aggregation lacks it"]
    n_total: Annotated[int, "finished pairs"]

    @property
    def words(self) -> str:
        """The pairs without a quorum by aggregation, in a sentence."""
        missing = ", ".join(f"{name} {count:,}" for name, count in self.without.items() if count)
        pairs = f"of {plural(self.n_total, 'pair')}"
        return f"Without a quorum of {plural(self.neurons, 'neuron')}, {pairs}: {missing or 'none'}."


def quorum_figures(frame: RunFrame) -> QuorumFigures | None:
    """The pairs of a run without a quorum; ``None`` where its rules ask for none."""
    quorum = frame.spec.aggregation.quorum
    if quorum is None:
        return None
    without = {name: int(without_quorum(frame, name).sum()) for name in aggregation_names(frame.spec)}
    return QuorumFigures(quorum, without, int(frame.judged.sum()))


@dataclass(frozen=True)
class StandInCalls:
    """The calls of a neuron that one model answered in its place."""

    neuron: Annotated[str, "the neuron, `roles` or `chair`"]
    endpoint: str
    model: str
    calls: Annotated[int, "calls that it answered"]
    n_total: Annotated[int, "answered calls of the neuron"]


@dataclass(frozen=True)
class StandInFigures:
    """The calls that were answered by another model than the network names for them."""

    calls: Annotated[int, "calls that stand-ins answered"]
    n_total: Annotated[int, "answered calls of the run"]
    neurons: tuple[StandInCalls, ...]

    @property
    def words(self) -> str:
        """Who answered how many calls, in a sentence."""
        by_model: dict[str, int] = {}
        for use in self.neurons:
            name = f"{use.endpoint}/{use.model}"
            by_model[name] = by_model.get(name, 0) + use.calls
        named = ", ".join(f"{name} {calls:,}" for name, calls in by_model.items())
        by = "a stand-in" if len(by_model) == 1 else "stand-ins"
        return f"{of(self.calls, self.n_total)} calls were answered by {by}: {named}."


def stand_in_figures(store: Store, frame: RunFrame) -> StandInFigures | None:
    """The calls of a run that stand-ins answered; ``None`` where they answered none."""
    counts, answered = stood_in_counts(store, frame.run, frame.spec)
    if not counts:
        return None
    names = neuron_names(frame.spec, frame.places)

    def name_of(stood_in: StoodIn) -> str:
        if not stood_in.layer:
            return "roles"
        place = (stood_in.layer, stood_in.neuron)
        return (
            "chair" if stood_in.layer > frame.spec.depth else names.get(place, f"l{stood_in.layer}.n{stood_in.neuron}")
        )

    return StandInFigures(
        sum(use.calls for use in counts),
        answered,
        tuple(StandInCalls(name_of(use), use.endpoint, use.model, use.calls, use.answered) for use in counts),
    )
