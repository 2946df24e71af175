"""What the interface knows of a run: it follows the newest pair at a pace that can be watched, and stays small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from judgenet.core.calls import CallSite
from judgenet.core.events import CallFinished, CallStarted, CallText, PairFinished, RunFinished, RunStarted
from judgenet.core.network import NetworkSpec
from judgenet.core.presets import network
from judgenet.store.runs import RunInfo
from judgenet.ui.app import Studio
from judgenet.ui.bridge import Bridge
from judgenet.ui.clock import StoppedClock, stopped_clock
from judgenet.ui.run_state import RunState
from tests.ui.story import story_network, story_pairs

RUN = RunInfo("run-1", 1, "", 0.0, None, "running", "", {})


class Told:
    """A run that is told event by event, on a clock that stands still."""

    def __init__(self, studio: Studio, clock: StoppedClock, count: int, spec: NetworkSpec) -> None:
        self.state: RunState = studio.window.context.run_state
        self.bridge: Bridge = studio.window.bridge
        self.clock = clock
        self.state.begin(RUN, spec, story_pairs(count), resumes=False)
        self.bridge.put(RunStarted("run-1", count, 0, 4 * count))

    def started(self, pair: int, neuron: int = 1) -> None:
        self.bridge.put(CallStarted("run-1", pair, 1, neuron, "ab", 1))

    def text(self, pair: int, text: str) -> None:
        self.bridge.put(CallText("run-1", pair, 1, 1, "ab", 1, text))

    def finished(self, pair: int, neuron: int = 1) -> None:
        done = CallFinished(
            "run-1", pair, 1, neuron, "ab", 1, "scored", None, "a", 8.0, 6.0, False, 900, 100, 0, 0.01, 2.0, 1
        )
        self.bridge.put(done)

    def done(self, pair: int) -> None:
        self.bridge.put(PairFinished("run-1", pair, f"p{pair}", "a", (("c1", "a"), ("c2_all", "a")), 1, 1, 0))

    def pass_time(self, seconds: float) -> None:
        self.clock.seconds += seconds
        self.bridge.drain()


@pytest.fixture
def clock() -> Iterator[StoppedClock]:
    with stopped_clock(datetime(2026, 1, 1, tzinfo=UTC)) as made:
        yield made


async def test_following_sees_each_pair_to_its_end_and_then_the_newest(clock: StoppedClock, studio: Studio) -> None:
    told = Told(studio, clock, 50, story_network(2, None))
    seen: list[object] = []
    told.state.focus_changed.connect(seen.append)
    told.started(0)
    told.pass_time(1.0)
    assert told.state.focus == 0
    for pair in range(1, 30):
        told.started(pair)
        told.pass_time(0.03)
    # Thirty pairs have begun; the one in focus is not finished yet.
    assert told.state.focus == 0
    told.finished(0)
    told.done(0)
    told.pass_time(0.03)
    assert told.state.focus == 0
    told.pass_time(1.0)
    assert told.state.focus == 29
    told.state.set_focus(3)
    told.finished(29)
    told.done(29)
    told.pass_time(5.0)
    assert told.state.focus == 3
    told.state.set_follow(True)
    assert told.state.focus == 28
    assert seen[-3:] == [29, 3, 28]


async def test_a_long_run_is_remembered_in_few_samples(clock: StoppedClock, studio: Studio) -> None:
    told = Told(studio, clock, 9000, network(1, 1))
    began = told.clock.seconds
    for second in range(9000):
        told.started(second)
        told.finished(second)
        told.pass_time(1.0)
    assert 900 <= len(told.state.history) <= 2001
    pace = told.state.pace
    assert pace[-1].at == pytest.approx(told.clock.seconds - began, abs=8.0)
    assert all(one.calls_s == pytest.approx(1.0, rel=0.35) for one in pace[2:-1])
    assert pace[-1].price == pytest.approx(90.0, rel=0.01)


async def test_texts_are_kept_only_while_they_are_written(clock: StoppedClock, studio: Studio) -> None:
    told = Told(studio, clock, 400, story_network(2, None))
    grown: list[set[CallSite]] = []
    told.state.text_changed.connect(grown.append)
    for pair in range(400):
        told.started(pair)
        for _ in range(20):
            told.text(pair, "More and more. ")
        told.pass_time(0.1)
        site = CallSite(pair, 1, 1, "ab", 1)
        assert told.state.live_text(site) == "More and more. " * 20
        assert set(told.state.in_flight) == {site}
        told.finished(pair)
        told.done(pair)
        told.pass_time(0.1)
        assert not told.state.live_text(site)
    assert not told.state.in_flight
    assert len(grown) <= 400
    assert len(told.state._texts) == len(told.state._began) == 0
    told.bridge.put(RunFinished("run-1", "done", "", 400, 400))
    told.pass_time(0.1)
    assert told.state.state == "done"
    assert not told.state.live


async def test_a_run_of_an_experiment_is_not_the_newest_of_the_design(studio: Studio) -> None:
    state = studio.window.context.run_state
    tried = replace(RUN, id="run-2", number=2, record={"experiment": {"name": "small", "arm": "one judge"}})
    state._runs = (RUN, tried)
    assert state.newest is RUN
    state._runs = (tried,)
    assert state.newest is None
