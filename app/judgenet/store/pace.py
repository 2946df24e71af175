"""How fast a recorded run went and what it had cost by when, from the times of its calls."""

from __future__ import annotations

from typing import Final, NamedTuple

from judgenet.store.db import Store
from judgenet.store.runs import RunInfo

LONGEST_GAP_S: Final = 60
"""Of a longer time without any answer only so much counts: the run stood still, or was closed."""
MOST_POINTS: Final = 600


class Pace(NamedTuple):
    """A stretch of a run. ``at`` is where it ends, in seconds of running time; ``calls_s`` and ``tokens_s`` are a
    second within it, ``price`` is what all known prices came to by then."""

    at: float
    calls_s: float
    tokens_s: float
    price: float


def pace(store: Store, run: RunInfo) -> list[Pace]:
    """The pace of a run's own calls (those from the store cost no time), in at most :data:`MOST_POINTS` stretches."""
    rows = store.reader.execute(
        "SELECT cast(c.started_at + latency_s AS INTEGER) AS second, count(*), sum(tokens_in + tokens_out), "
        "coalesce(sum(c.price), 0.0) FROM run_calls r JOIN calls c ON c.id=call_id "
        "WHERE run=? AND NOT r.cached GROUP BY second ORDER BY second",
        (run.number,),
    ).fetchall()
    seconds: list[tuple[int, int, int, float]] = []
    at, before = 0, None
    for second, calls, tokens, price in rows:
        at += 1 if before is None else min(second - before, LONGEST_GAP_S)
        before = second
        seconds.append((at, calls, tokens, price))
    width = max(1, -(-at // MOST_POINTS))
    found: list[Pace] = []
    spent = 0.0
    place = 0
    for end in range(width, at + width, width):
        calls = tokens = 0
        while place < len(seconds) and seconds[place][0] <= end:
            _, more, used, price = seconds[place]
            calls, tokens, spent = calls + more, tokens + used, spent + price
            place += 1
        found.append(Pace(float(end), calls / width, tokens / width, spent))
    return found
