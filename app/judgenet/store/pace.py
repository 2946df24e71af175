"""How fast a recorded run went and what it had cost by when, from the times of its calls, and how fast an endpoint
has answered of late."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from judgenet.store.db import Store
from judgenet.store.runs import RunInfo, asked_live

LONGEST_GAP_S: Final = 60
"""Of a longer time without any answer only so much counts: the run stood still, or was closed."""
MOST_POINTS: Final = 600


class Pace(NamedTuple):
    """A stretch of a run. ``at`` is where it ends, in seconds of running time; ``calls_s`` and ``tokens_s`` are a
    second within it, ``price`` is the sum of all known prices by then."""

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
    stretches: list[Pace] = []
    spent = 0.0
    place = 0
    for end in range(width, at + width, width):
        calls = tokens = 0
        while place < len(seconds) and seconds[place][0] <= end:
            _, more, used, price = seconds[place]
            calls, tokens, spent = calls + more, tokens + used, spent + price
            place += 1
        stretches.append(Pace(float(end), calls / width, tokens / width, spent))
    return stretches


NEWEST_CALLS: Final = 500
"""So many of the newest answers of an endpoint tell how fast it answers now."""
_FULL: Final = 0.7
"""From this share of the possible calls in flight on, an endpoint was waited for and nothing held calls back."""


class Throughput(NamedTuple):
    """How fast an endpoint answered. ``latency_s`` is the mean time of an answer; ``calls_s`` are the answers a second
    while calls were waiting to be sent, ``None`` where too few were asked to tell; ``in_flight`` is how many could be
    in flight then."""

    latency_s: float
    calls_s: float | None
    in_flight: int

    def seconds_a_call(self, in_flight: int) -> float:
        """How long each of many calls takes with so many in flight: ``latency_s / in_flight``, or the pace that was
        seen where that was slower though places were free: a limit of the endpoint, which more calls in flight do
        not raise."""
        each = self.latency_s / in_flight
        if self.calls_s is None or self.calls_s * self.latency_s >= _FULL * min(self.in_flight, in_flight):
            return each
        return max(each, 1 / self.calls_s)


def throughput(store: Store, endpoint: str, in_flight: int) -> Throughput | None:
    """How fast the newest answers of an endpoint came; ``None`` where there is none. ``in_flight`` is how many calls
    could be in flight, for runs that do not say so.

    With c calls in flight at most, a call is sent c places after another as soon as c answers have come: the time
    between the two tells the pace, whatever made the calls wait (a busy server, a limit a minute, a pause that the
    endpoint asked for). The pace is c calls in the mean of these times, so that bursts and the pauses between them
    count as they came. Where no call was sent for longer than :data:`LONGEST_GAP_S`, there was nothing to be asked, or
    the program was closed: no time is taken across such a gap.
    """
    rows = store.reader.execute(
        f"SELECT started_at, latency_s FROM calls WHERE endpoint=?{asked_live(store)} ORDER BY id DESC LIMIT ?",
        (endpoint, NEWEST_CALLS),
    ).fetchall()
    if not rows:
        return None
    latency = sum(row[1] for row in rows) / len(rows)
    at_once = _in_flight(store, endpoint) or in_flight
    import numpy as np  # The first request of a run does not wait for it.

    starts = np.sort(np.array([row[0] for row in rows]))
    stretches = np.split(starts, np.flatnonzero(np.diff(starts) > LONGEST_GAP_S) + 1)
    times = np.concatenate([stretch[at_once:] - stretch[:-at_once] for stretch in stretches])
    mean = float(times.mean()) if len(times) else 0.0
    return Throughput(latency, at_once / mean if mean > 0 else None, at_once)


def _in_flight(store: Store, endpoint: str) -> int | None:
    """How many calls at a time the newest run that says so could have at an endpoint."""
    for (text,) in store.reader.execute("SELECT record FROM runs ORDER BY number DESC LIMIT 20"):
        most = json.loads(text).get("endpoints", {}).get(endpoint, {}).get("concurrency")
        if isinstance(most, int) and most > 0:
            return most
    return None
