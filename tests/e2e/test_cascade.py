"""A run with stop rules never sends a call that it does not need, also when it is killed and goes on."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgenet.core.calls import CallSite
from judgenet.core.cascade import look, stages, voters_of
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.results import network_of
from judgenet.store.runs import full_calls, run_info
from tests.e2e.command import Command, ask, wait_for_size, write_pairs
from tests.fakes.judge_server import judge_process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")

PAIRS = 30
KILLS = 6
CONCURRENCY = 4


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with judge_process("--latency", "0.02") as url:
        yield url


def command(folder: Path, url: str, name: str, *options: str) -> Command:
    """The run with roles of its own, so that neurons differ. Both runs have the same salt, and so the same prompts."""
    roles = folder / "roles.json"
    roles.write_text(json.dumps([{"name": f"Role {i}", "description": "Reads."} for i in range(3)]), encoding="utf-8")
    pairs = write_pairs(folder / "pairs.jsonl", PAIRS)
    shape = ("--depth", "3", "--roles", str(roles), *options)
    return Command(pairs, url, folder / name, folder, CONCURRENCY, shape)


def frame_of(made: Command) -> tuple[RunFrame, dict[CallSite, str]]:
    with Store.open(made.out / "run.judgenet.db", readonly=True) as store:
        run = run_info(store)
        texts = {call.site: call.messages[-1][1] for call in full_calls(store, run) if call.messages}
        return RunFrame.read(store, run), texts


def needed(whole: RunFrame, rules: RunFrame) -> set[CallSite]:
    """The calls that the rules let through, by what a run says that asked everything."""
    spec = network_of(rules.run)
    found = set[CallSite]()
    of_pair = stages(spec)
    for pair in range(len(whole)):
        sites, opinions = whole.sites(pair), whole.opinions(pair)
        neurons = set[tuple[int, int]]()
        for place, stage in enumerate(of_pair):
            if stage.rule is not None:
                so_far = [of for of in opinions if (of.layer, of.neuron) in neurons]
                unasked = sum(voters_of(spec, rest) for rest in of_pair[place:])
                if look(stage.rule, so_far, of_pair[place - 1].layer, unasked, spec.aggregation).stops:
                    break
            neurons |= {(stage.layer, neuron) for neuron in stage.neurons}
        found |= {site for site in sites if (site.layer, site.neuron) in neurons}
    return found


def test_calls_that_are_not_needed_are_never_sent_though_the_run_is_killed(tmp_path: Path, server: str) -> None:
    whole = command(tmp_path, server, "whole")
    assert whole.finish()["state"] == "done"
    everything, questions = frame_of(whole)
    ask(server, "reset", {})
    made = command(tmp_path, server, "cascade", "--stop-when", "orders-agree")
    made.out.mkdir()
    (made.out / "run.judgenet").write_bytes((whole.out / "run.judgenet").read_bytes())
    kills = 0
    while kills < KILLS:
        events = made.events_path
        process = made.start()
        if wait_for_size(events, events.stat().st_size if events.exists() else 0, process):
            time.sleep(0.15)
        process.kill()
        process.communicate()
        if process.returncode == 0:
            break
        kills += 1
    assert kills >= 2
    printed = made.finish()
    assert printed["state"] == "done"
    rules, kept = frame_of(made)
    wanted = needed(everything, rules)
    assert 0 < len(wanted) < everything.calls_in
    assert set(kept) == wanted
    sent = Counter(entry["messages"][-1]["content"] for entry in ask(server, "log"))
    # Not one question of a call that is not needed. What is in flight at a kill may come twice: as many calls as are
    # asked at once, and as many again whose answers are not on disk yet.
    assert set(sent) == {questions[site] for site in wanted}
    assert sent.total() <= len(wanted) + kills * 2 * CONCURRENCY
    assert 0 < rules.decided_early.sum() < PAIRS
    ask(server, "reset", {})
    assert made.finish()["state"] == "done"
    assert ask(server, "stats")["requests"] == 0
