"""The figures of the newest bias lab of a project, as a report has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from judgenet.core.network import NetworkSpec
from judgenet.figures.base import as_json
from judgenet.figures.bias import bias_figures
from judgenet.report.bias_card import BiasCard, bias_card
from judgenet.stats.lab import LabResult
from judgenet.store.db import Store
from judgenet.store.lab_people import lab_people
from judgenet.store.labs import NO_ORDERS, OrderAnswers, lab_info, lab_orders, lab_result, labs
from judgenet.store.results import network_of
from judgenet.store.runs import run_info
from judgenet.store.usage import models_used


@dataclass(frozen=True, slots=True)
class LabFigures:
    """A bias lab with its results.

    ``title`` is its name among the ``labs`` of the project. ``spec`` is the network that was tested, ``None`` where
    only other judges were. ``models`` are those that answered; ``unfinished`` are the judges whose run is not done.
    """

    id: str
    title: str
    created_at: float
    labs: int
    spec: NetworkSpec | None
    models: tuple[str, ...]
    unfinished: tuple[str, ...]
    result: LabResult
    orders: OrderAnswers | None

    @property
    def card(self) -> BiasCard | None:
        """A row for each bias of the network, or of the single judge where only that was asked."""
        return bias_card(self.result)

    def to_json(self) -> dict[str, Any]:
        """The keys of ``judgenet bias --json`` but for single pairs, which ``judgenet export --what bias`` has."""
        return {
            "lab": self.id,
            "title": self.title,
            "created_at": self.created_at,
            "labs": self.labs,
            "models": list(self.models),
            "unfinished": list(self.unfinished),
            **as_json(bias_figures(self.result, pair_by_pair=False)),
            "nwise": None if self.orders is None else self.orders.to_json(),
            "reasons": NO_ORDERS if self.orders is None else {},
        }


def lab_mark(store: Store) -> str:
    """A text that changes with the newest lab of a store: another lab, another run of it, how that stands, or what
    people answered."""
    known = labs(store)
    if not known:
        return ""
    info = lab_info(store)
    states = (f"{run_id} {run_info(store, run_id).state}" for run_id in info.runs.values())
    return " ".join((info.id, *states, str(hash(lab_people(store)))))


def lab_figures(store: Store, watch: Callable[[], None] = lambda: None) -> LabFigures | None:
    """The newest lab of a store, from its kept calls; ``None`` where there is none.

    Neurons are left out: a report shows what the network makes of them. ``watch`` is called now and then; what it
    raises ends the work.
    """
    known = labs(store)
    if not known:
        return None
    info = lab_info(store)
    spec: NetworkSpec | None = None
    models: dict[str, None] = {}
    unfinished: list[str] = []
    for judge, run_id in info.runs.items():
        run = run_info(store, run_id)
        if judge == "network":
            spec = network_of(run)
        if run.state != "done":
            unfinished.append(str(judge))
        models |= {use.returned or use.requested: None for use in models_used(store, run)}
    return LabFigures(
        id=info.id,
        title=info.title,
        created_at=info.created_at,
        labs=len(known),
        spec=spec,
        models=tuple(models),
        unfinished=tuple(unfinished),
        result=lab_result(store, info.id, neurons=False, watch=watch),
        orders=lab_orders(store, info.id),
    )
