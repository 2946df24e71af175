"""What the calls of a run's neurons cost, by neuron."""

from __future__ import annotations

from typing import NamedTuple

from judgenet.store.db import Store
from judgenet.store.runs import RunInfo


class CallPrices(NamedTuple):
    """The answered ``calls`` of a neuron, and the sum of their prices, ``None`` where that of a call is unknown."""

    calls: int
    price: float | None

    @property
    def mean(self) -> float | None:
        """The price of a call."""
        return None if self.price is None or not self.calls else self.price / self.calls


def call_prices(store: Store, run: RunInfo) -> dict[tuple[int, int], CallPrices]:
    """What the answers of each neuron of a run cost when they were asked for, by layer and neuron, from 1."""
    rows = store.reader.execute(
        "SELECT r.layer, r.neuron, count(*), coalesce(sum(c.price), 0.0), sum(c.price IS NULL) "
        "FROM run_calls r JOIN calls c ON c.id=r.call_id WHERE run=? AND r.layer>0 GROUP BY r.layer, r.neuron",
        (run.number,),
    )
    return {
        (layer, neuron): CallPrices(calls, None if unpriced else price)
        for layer, neuron, calls, price, unpriced in rows
    }
