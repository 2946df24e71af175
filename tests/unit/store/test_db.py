"""The store: what is committed stays, whatever happens to the process."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.pairs import Pair
from judgenet.store import writer
from judgenet.store.db import Store, StoreError, StoreInUse
from judgenet.store.runs import (
    Answer,
    Outcome,
    RunInfo,
    call_rows,
    full_calls,
    pair_states,
    recorded,
    run_info,
    run_pairs,
    runs,
    set_run_state,
    spent,
    start_run,
    write_outcome,
    write_pair,
)

SITE = CallSite(0, 1, 1, "ba", 1)


def pairs(count: int, human: str | None = None) -> list[Pair]:
    return [Pair(f"p{i}", f"question {i}", "one", "two", human=human) for i in range(count)]  # type: ignore[arg-type]


def answer(key: bytes = b"k" * 32, **changes: Any) -> Answer:
    values: dict[str, Any] = {
        "key": key,
        "endpoint": "e",
        "model": "m",
        "form": "json",
        "parameters": '["m", null, 512, null]',
        "system": "be fair",
        "shared": "the pair",
        "own": "your role",
        "raw_text": '{"score_1": 3, "score_2": 4}',
        "finish_reason": "stop",
        "tokens_in": 100,
        "tokens_out": 20,
        "tokens_cached": 60,
        "price": 0.25,
        "latency_s": 1.5,
        "attempts": 2,
        "started_at": 1000.0,
    }
    return Answer(**{**values, **changes})


def keep(store: Store, run: RunInfo, outcome: Outcome, kept: Answer | int | None) -> None:
    store.put(lambda db: write_outcome(db, store, run.number, outcome, kept))
    store.flush()


def outcome(site: CallSite = SITE, **changes: Any) -> Outcome:
    values: dict[str, Any] = {
        "site": site,
        "result": Evaluation("B is right", "b", 3.0, 4.0),
        "endpoint": "e",
        "model": "m",
        "role": "Clarity",
        "started_at": 1000.0,
    }
    return Outcome(**{**values, **changes})


def test_a_call_comes_back_whole(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.judgenet.db") as store:
        run = start_run(store, "f", {"network": {}}, pairs(1))
        keep(store, run, outcome(missing=("layer 1, neuron 2, order ab: timeout",)), answer())
        [call] = full_calls(store, run)
    assert call.messages == (("system", "be fair"), ("user", "the pairyour role"))
    assert call.result == Evaluation("B is right", "b", 3.0, 4.0)
    assert (call.pair_id, call.site, call.role) == ("p0", SITE, "Clarity")
    assert call.missing == ("layer 1, neuron 2, order ab: timeout",)
    assert call.usage == {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "cached_tokens": 60,
        "reasoning_tokens": 0,
        "estimated": False,
    }
    assert (call.latency_s, call.attempts, call.price, call.cached) == (1.5, 2, 0.25, False)


def test_lone_surrogates_and_nul_survive(tmp_path: Path) -> None:
    odd = "a\ud800b\x00c\u2028d"
    pair = Pair("id\udfff", odd, odd, odd)
    with Store.open(tmp_path / "s.judgenet.db") as store:
        run = start_run(store, "f", {}, [pair])
        keep(store, run, outcome(result=Evaluation(odd, "tie", 5.0, 5.0), role=odd), answer(own=odd, raw_text=odd))
        [call] = full_calls(store, run)
        [kept] = run_pairs(store, run)
    assert call.raw_text == odd
    assert call.role == odd
    assert isinstance(call.result, Evaluation)
    assert call.result.evidence == odd
    assert call.pair_id == pair.id
    assert kept.pair == pair


def test_an_answer_is_found_by_its_key(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.judgenet.db") as store:
        run = start_run(store, "f", {}, pairs(1))
        assert recorded(store, b"k" * 32) is None
        keep(store, run, outcome(), answer())
        found = recorded(store, b"k" * 32)
        assert found is not None
        assert found.raw_text == '{"score_1": 3, "score_2": 4}'
        assert recorded(store, b"x" * 32) is None


def test_the_same_key_is_kept_once_and_shared(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.judgenet.db") as store:
        run = start_run(store, "f", {}, pairs(2))
        keep(store, run, outcome(), answer())
        keep(store, run, outcome(site=CallSite(1, 1, 1, "ba", 1), cached=True), 1)
        assert store.reader.execute("SELECT count(*) FROM calls").fetchone()[0] == 1
        sums = spent(store, run)
    assert (sums.calls, sums.calls_new, sums.tokens_in, sums.price, sums.unpriced) == (2, 1, 100, 0.25, 0)


def test_resuming_does_not_make_a_paid_call_look_free(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.judgenet.db") as store:
        run = start_run(store, "f", {}, pairs(1))
        keep(store, run, outcome(), answer())
        keep(store, run, outcome(cached=True), 1)
        [call] = full_calls(store, run)
        assert not call.cached
        other = start_run(store, "g", {}, pairs(1))
        keep(store, other, outcome(cached=True), 1)
        [call] = full_calls(store, other)
        assert call.cached


def test_an_unscored_call_keeps_its_reason_and_no_scores(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.judgenet.db") as store:
        run = start_run(store, "f", {}, pairs(1))
        keep(store, run, outcome(result=Unscored(Reason.TIMEOUT, "after 60 s")), None)
        [row] = call_rows(store, run)
        [call] = full_calls(store, run)
        sums = spent(store, run)
    assert row.result == Unscored(Reason.TIMEOUT, "after 60 s")
    assert call.messages == ()
    assert call.usage is None
    assert sums.unscored == {"timeout": 1}
    assert sums.scored == 0


def test_unknown_prices_are_counted_not_summed(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.judgenet.db") as store:
        run = start_run(store, "f", {}, pairs(1))
        keep(store, run, outcome(), answer(price=None))
        keep(store, run, outcome(site=CallSite(0, 1, 2, "ab", 1)), answer(key=b"z" * 32))
        sums = spent(store, run)
    assert (sums.price, sums.unpriced) == (0.25, 1)


def test_the_same_fingerprint_is_the_same_run(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.judgenet.db") as store:
        first = start_run(store, "f", {"starts": [1]}, pairs(3))
        store.put(lambda db: write_pair(db, first.number, 1, "done", (), "", 4))
        set_run_state(store, first.id, "cancelled", "stopped")
        store.flush()
        again = start_run(store, "f", {"starts": [2]}, pairs(3))
        other = start_run(store, "g", {}, pairs(3))
        assert again.id == first.id
        assert other.id != first.id
        assert pair_states(store, again) == ["open", "done", "open"]
        assert again.record["starts"] == [1, 2]
        assert again.state == "running"
        assert [run.id for run in runs(store)] == [first.id, other.id]
        assert run_info(store).id == other.id


def test_changed_labels_are_taken_over(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.judgenet.db") as store:
        run = start_run(store, "f", {}, pairs(2))
        start_run(store, "f", {}, pairs(2, human="a"))
        assert [pair.pair.human for pair in run_pairs(store, run)] == ["a", "a"]


def test_an_unknown_run_names_those_there_are(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.judgenet.db") as store:
        start_run(store, "f", {}, pairs(1))
        with pytest.raises(StoreError, match=r"no run run-9.*run-1"):
            run_info(store, "run-9")


def test_a_second_writer_is_refused_and_a_reader_is_not(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    with Store.open(path) as store:
        run = start_run(store, "f", {}, pairs(1))
        with pytest.raises(StoreInUse, match="another JudgeNet"):
            Store.open(path)
        with Store.open(path, readonly=True) as reader:
            assert run_info(reader).id == run.id
    Store.open(path).close()


def test_a_killed_process_frees_the_store_and_keeps_what_it_committed(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    program = f"""
import os, signal
from pathlib import Path
from tests.unit.store.test_db import *
store = Store.open(Path({str(path)!r}))
run = start_run(store, "f", {{}}, pairs(1))
keep(store, run, outcome(), answer())
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[3], check=False)
    assert done.returncode == -9
    with Store.open(path) as store:
        assert recorded(store, b"k" * 32) is not None
        [row] = call_rows(store, run_info(store))
        assert isinstance(row.result, Evaluation)


def test_tokens_are_told_after_the_commit_in_order(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    told: list[int] = []
    seen: list[int] = []
    done = threading.Event()

    with Store.open(path) as store:
        run = start_run(store, "f", {}, pairs(1))

        def on_commit(tokens: Sequence[int]) -> None:
            other = sqlite3.connect(path)
            seen.append(other.execute("SELECT count(*) FROM run_calls").fetchone()[0])
            other.close()
            told.extend(tokens)
            if len(told) == 50:
                done.set()

        for number in range(50):
            made = outcome(site=CallSite(0, 1, number + 1, "ab", 1))
            store.put(lambda db, made=made: write_outcome(db, store, run.number, made, None), number, on_commit)
        assert done.wait(20)
    assert told == list(range(50))
    assert seen[-1] == 50


def test_answers_wait_while_the_disk_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_RETRY_SECONDS", 0.01)
    troubles: list[str] = []
    failures = 3

    with Store.open(tmp_path / "s.judgenet.db") as store:
        run = start_run(store, "f", {}, pairs(1))
        store.on_trouble(troubles.append)

        def full_disk(db: sqlite3.Connection) -> None:
            nonlocal failures
            if failures:
                failures -= 1
                raise sqlite3.OperationalError("database or disk is full")

        store.put(lambda db: write_outcome(db, store, run.number, outcome(), answer()))
        store.put(full_disk)
        store.flush()
        assert recorded(store, b"k" * 32) is not None
    assert len(troubles) == 4
    assert "disk is full" in troubles[0]
    assert troubles[-1] == ""


def test_a_newer_store_opens_for_reading_only(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    with Store.open(path) as store:
        start_run(store, "f", {}, pairs(1))
    changed = sqlite3.connect(path)
    changed.execute("PRAGMA user_version=99")
    changed.close()
    with pytest.raises(StoreError, match="newer JudgeNet"):
        Store.open(path)
    with Store.open(path, readonly=True) as store:
        assert run_info(store).id == "run-1"


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to look at", b""])
def test_what_is_no_store_is_refused_for_reading(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.judgenet.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="store"):
        Store.open(path, readonly=True)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match="another program"):
        Store.open(path)
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]


def test_the_salt_stays_with_the_store(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    with Store.open(path) as store:
        assert store.salt("first") == "first"
    with Store.open(path) as store:
        assert store.salt("second") == "first"


def test_what_endpoints_taught_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    with Store.open(path) as store:
        assert store.load("e", "m") == {}
        store.save("e", "m", {"temperature": "refused"})
    with Store.open(path) as store:
        assert store.load("e", "m") == {"temperature": "refused"}
        assert store.load("e", "other") == {}


def test_a_connection_that_opens_while_the_store_closes_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(tmp_path / "s.db")
    opened: list[sqlite3.Connection] = []
    ends: list[BaseException] = []
    connect = sqlite3.connect

    def closed_meanwhile(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*args, **options)
        if threading.current_thread() is thread and not opened:
            opened.append(connection)
            store.close()
        return connection

    def read() -> None:
        try:
            store.meta("version")
        except StoreError as error:
            ends.append(error)

    monkeypatch.setattr(sqlite3, "connect", closed_meanwhile)
    thread = threading.Thread(target=read)
    thread.start()
    thread.join(30)
    assert [str(error) for error in ends] == [f"{tmp_path / 's.db'}: closed already."]
    with pytest.raises(sqlite3.ProgrammingError):
        opened[0].execute("SELECT 1")


def test_a_store_is_closed_while_other_threads_read_it(tmp_path: Path) -> None:
    """In a process of its own: what was wrong here ended the program."""
    script = """
import sqlite3, sys, threading, time
from pathlib import Path
from judgenet.store.db import Store, StoreError

for turn in range(4):
    store = Store.open(Path(sys.argv[1]) / f"{turn}.db")
    rows = [(f"k{place}", "v" * 200) for place in range(300)]
    store.run_now(lambda db: db.executemany("INSERT INTO meta VALUES (?, ?)", rows))
    ends = []

    def read(many):
        try:
            while True:
                if many:
                    for _ in store.reader.execute("SELECT a.name FROM meta a, meta b ORDER BY a.value, b.name"):
                        pass
                else:
                    store.reader.execute("SELECT value FROM meta WHERE name=?", ("k5",)).fetchone()
        except (sqlite3.Error, StoreError) as error:
            ends.append(error)

    threads = [threading.Thread(target=read, args=(many,)) for many in (0, 1, 0, 1)]
    for thread in threads:
        thread.start()
    time.sleep(0.03)
    store.close()
    for thread in threads:
        thread.join(10)
    assert len(ends) == 4, ends
print("alive")
"""
    ended = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=100, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr


def test_a_thread_that_comes_late_opens_nothing(tmp_path: Path) -> None:
    place = tmp_path / "run.db"
    store = Store.open(place)
    store.close()
    place.unlink()
    heard: list[Exception] = []

    def read() -> None:
        try:
            store.meta("salt")
        except StoreError as error:
            heard.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert len(heard) == 1
    assert not place.exists()


def test_a_store_that_a_thread_opened_is_free_when_another_one_closed_it(tmp_path: Path) -> None:
    path = tmp_path / "study.judgenet.db"
    with ThreadPoolExecutor(1) as pool:
        pool.submit(Store.open, path).result().close()
        Store.open(path).close()
