"""A run that is killed at any moment loses at most the calls in flight, and never pays for a told one again."""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judgenet.store.db import Store, StoreError
from judgenet.store.runs import full_calls, run_info
from tests.e2e.command import Command, Site, ask, site_of, wait_for_size, write_pairs
from tests.fakes.judge_server import judge_process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")

CONCURRENCY = 8
PAIRS = 50
CALLS = 9
"""Of a pair: roles, and two layers of two neurons in both orders."""
KILLS = 30


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The judge in a process of its own, so that it outlives every kill. 25 ms an answer."""
    with judge_process("--latency", "0.025") as url:
        yield url


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kill")


@pytest.fixture(scope="module")
def whole(place: Path, server: str) -> Command:
    """A run that nobody killed."""
    command = Command(write_pairs(place / "pairs.jsonl", PAIRS), server, place / "whole", place, CONCURRENCY)
    printed = command.finish()
    assert printed["state"] == "done"
    assert ask(server, "stats")["requests"] == PAIRS * CALLS
    return command


def beside(whole: Command, name: str) -> Command:
    """The same run in another folder, with the same salt: its prompts, and so the judge's answers, are the same."""
    command = Command(whole.pairs, whole.url, whole.out.with_name(name), whole.config, whole.concurrency)
    command.out.mkdir()
    shutil.copy(whole.out / "run.judgenet", command.out)
    ask(whole.url, "reset", {})
    return command


def asked_of(entry: dict[str, Any]) -> str:
    text: str = entry["messages"][-1]["content"]
    return text


def kept(command: Command) -> dict[Site, str]:
    """What the store holds now: the call's place and the question that its answer belongs to."""
    path = command.out / "run.judgenet.db"
    try:
        with Store.open(path, readonly=True) as store:
            calls = full_calls(store, run_info(store))
            return {call.site: call.messages[-1][1] for call in calls if call.raw_text is not None}
    except StoreError:
        # Killed before there was a run.
        return {}


class Chain:
    """One run, killed again and again until it is done."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.kills = 0
        self.in_flight: Counter[str] = Counter()
        """At how many kills a question was sent and its answer not kept."""
        self.most_in_flight = 0
        self.answered = 0
        """Of those in flight, how many the server had answered whole."""
        self._sent_before = 0

    def kill_after(self, seconds: float, *, of_work: bool = True) -> bool:
        """Starts the run and kills it that long after it began to work, or was started; ``False`` when it was done
        before."""
        events = self.command.events_path
        size = events.stat().st_size if events.exists() else 0
        process = self.command.start()
        if not of_work or wait_for_size(events, size, process):
            time.sleep(seconds)
        process.kill()
        process.communicate()
        if process.returncode == 0:
            return False
        self.look()
        return True

    def crash(self, program: str) -> None:
        """Starts the run with a program that kills itself."""
        process = self.command.start(program)
        _, err = process.communicate(timeout=120)
        assert process.returncode == -9, err
        self.look()

    def look(self) -> None:
        """After a kill: what was told is in the store; what was sent and is not there was in flight."""
        self.kills += 1
        there = kept(self.command)
        told = {site_of(event) for event in self.command.events() if event["event"] == "call_finished"}
        assert told <= there.keys()
        log = ask(self.command.url, "log")
        sent = {asked_of(entry): entry for entry in log[self._sent_before :]}
        lost = sent.keys() - set(there.values())
        self.answered += sum(sent[question]["delivered"] for question in lost)
        assert len(lost) <= 2 * self.command.concurrency
        self.most_in_flight = max(self.most_in_flight, len(lost))
        self.in_flight.update(lost)
        self._sent_before = len(log)

    def check_requests(self) -> int:
        """Counts at the server, when the run is done: each call was sent once, and once more for each kill at which
        it was in flight. Returns how often that was."""
        requests = Counter(asked_of(entry) for entry in ask(self.command.url, "log"))
        assert requests == Counter(kept(self.command).values()) + self.in_flight
        return self.in_flight.total()


@pytest.mark.timeout(600)
def test_thirty_runs_killed_at_random_moments_lose_and_repeat_nothing(whole: Command) -> None:
    rng = random.Random(20_260_101)
    verdicts = whole.export("verdicts")
    kills = repeated = most_in_flight = answered = 0
    chains: list[Chain] = []
    while kills < KILLS:
        chain = Chain(beside(whole, f"chain-{len(chains)}"))
        chains.append(chain)
        while kills < KILLS and chain.kill_after(rng.uniform(0.0, 0.5)):
            kills += 1
        printed = chain.command.finish()
        assert (printed["state"], printed["cost"]["calls_new"]) == ("done", PAIRS * CALLS)
        repeated += chain.check_requests()
        answered += chain.answered
        most_in_flight = max(most_in_flight, chain.most_in_flight)
        assert chain.command.export("verdicts") == verdicts
    print(f"{kills} kills in {len(chains)} runs: no call lost, no kept call asked again")
    print(f"{repeated} calls in flight asked again, {answered} of them answered, at most {most_in_flight} a kill")


def test_killed_while_it_starts(place: Path, server: str) -> None:
    ask(server, "reset", {})
    chain = Chain(Command(write_pairs(place / "few.jsonl", 4), server, place / "starts", place, CONCURRENCY))
    rng = random.Random(7)
    for _ in range(4):
        chain.kill_after(rng.uniform(0.0, 1.0), of_work=False)
    assert chain.command.finish()["state"] == "done"
    chain.check_requests()


CRASH = """
import os, signal, sqlite3, sys
from judgenet.cli.main import main
from judgenet.engine.executor import Executor
from judgenet.engine.pairs_under_way import PairsUnderWay
from judgenet.store.db import Store, StoreError

statement, moment = {point!r}
seen = False

def kill(*of_no_interest):
    os.kill(os.getpid(), signal.SIGKILL)

def watch(text):
    global seen
    seen = seen or text.strip().startswith(statement)
    if seen and text == "COMMIT":
        kill()

connect = Store._connect
def watched(self):
    connection = connect(self)
    connection.set_trace_callback(watch)
    return connection

if moment == "before the commit":
    Store._connect = watched
else:
    of, _, name = statement.partition(".")
    setattr({{"Executor": Executor, "PairsUnderWay": PairsUnderWay}}[of], name, kill)
sys.exit(main(sys.argv[1:]))
"""
POINTS = (
    ("INSERT INTO run_pairs", "before the commit"),
    ("INSERT INTO calls", "before the commit"),
    ("Executor._on_commit", "between commit and telling"),
    ("UPDATE run_pairs SET state", "before the commit"),
    ("PairsUnderWay._on_commit", "between commit and telling"),
    ("UPDATE runs SET state", "before the commit"),
)


def test_killed_within_a_commit_and_before_it_is_told(place: Path, server: str) -> None:
    ask(server, "reset", {})
    command = Command(write_pairs(place / "two.jsonl", 2), server, place / "commits", place, 2)
    chain = Chain(command)
    for point in POINTS:
        chain.crash(CRASH.format(point=point))
    assert command.finish()["state"] == "done"
    chain.check_requests()
    told = [event for event in command.events() if event["event"] == "call_finished" and not event["cached"]]
    # Some were kept and never told as new: the next start took them from the store.
    assert 0 < len(told) < 2 * CALLS
