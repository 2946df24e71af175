"""A run that stands still in its middle: the events of the example run are replayed up to a moment.

The window cannot tell it from a run that goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future
from dataclasses import replace
from typing import Final

from judgenet.core.calls import CallSite
from judgenet.core.events import (
    CallFinished,
    CallStarted,
    CallText,
    Event,
    LayerFinished,
    PairFinished,
    RolesFound,
    RunFinished,
    RunStarted,
)
from judgenet.engine.example import IN_FLIGHT
from judgenet.engine.pairs_under_way import RunPlan
from judgenet.engine.runtime import Runtime
from judgenet.engine.session import Engine, RunHandle, Start, plan_run
from judgenet.store.db import Store

ASKED_AGO_S: Final = (6.1, 3.4, 3.1, 1.7, 0.9)
"""How long ago the calls that are on their way were sent, in their order; the last holds for the rest."""


class PlaybackHandle(RunHandle):
    """The handle of a replayed run. It ends when it is stopped."""

    def __init__(self, runtime: Runtime, plan: RunPlan, emit: Callable[[Event], None]) -> None:
        super().__init__(runtime, plan)
        self._emit = emit
        self.future = Future()

    def pause(self) -> None:
        """Nothing goes on."""

    def resume(self) -> None:
        """Nothing goes on."""

    def cancel(self) -> None:
        """Ends it."""
        ended = RunFinished(self.run.id, "cancelled", "", 0, len(self.plan.pairs))
        self._emit(ended)
        self.future.set_result(ended)


class PlaybackEngine(Engine):
    """Starts runs that replay the events of :func:`up_to`. No model is asked; the store must hold the run already."""

    def __init__(self) -> None:
        super().__init__()
        self.runtime = Runtime()

    def start(self, store: Store, start: Start, emit: Callable[[Event], None]) -> RunHandle:
        """Starts the replay as a new run."""
        plan = plan_run(store, start)
        return PlaybackHandle(self.runtime, replace(plan, states=["open"] * len(plan.pairs)), emit)

    def close(self) -> None:
        self.runtime.close()
        super().close()


def up_to(
    events: Sequence[Event],
    focus: int,
    done: Set[CallSite],
    writing: Mapping[CallSite, int],
    asked: Set[CallSite],
) -> Iterator[tuple[float, Event]]:
    """The events of a run up to a moment, each with its second since the beginning.

    Pairs before ``focus`` are finished, later ones have not begun. Of the pair in focus layer 1 and the calls in
    ``done`` are finished; those in ``writing`` have written so many characters; those in ``asked``, of any pair, are
    on their way.
    """
    at = 0.0
    late: list[CallSite] = []
    for event in events:
        if isinstance(event, RunStarted):
            yield at, event
            continue
        if isinstance(event, RunFinished):
            break
        if isinstance(event, CallStarted | CallText | CallFinished):
            site = event.site
            ended = event.pair < focus or (event.pair == focus and (event.layer <= 1 or site in done))
            if ended:
                if isinstance(event, CallFinished):
                    at += event.latency_s / IN_FLIGHT
                yield at, event
            elif isinstance(event, CallStarted) and (site in writing or site in asked):
                late.append(site)
        elif isinstance(event, PairFinished):
            if event.pair < focus:
                yield at, event
        elif isinstance(event, RolesFound):
            if event.pair <= focus:
                yield at, event
        elif isinstance(event, LayerFinished) and (event.pair < focus or (event.pair == focus and event.layer <= 1)):
            yield at, event
    written = dict.fromkeys(writing, "")
    for event in events:
        if isinstance(event, CallText) and event.site in written:
            written[event.site] += event.text
    run_id = events[0].run_id
    late.sort(key=lambda site: (site.pair, site not in writing, site))
    for place, site in enumerate(late):
        yield at - ASKED_AGO_S[min(place, len(ASKED_AGO_S) - 1)], CallStarted(run_id, *site)
    for site, length in writing.items():
        yield at, CallText(run_id, *site, written[site][:length])
