"""A store tells without a query which answers it cannot have, and never misses one that it has."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from judgenet.store import known_keys
from judgenet.store.db import Store
from judgenet.store.known_keys import KnownKeys
from judgenet.store.runs import next_key, recorded
from tests.unit.engine import harness


def key(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


def test_no_key_that_is_there_is_missed_and_hardly_any_other_is_taken_for_one(tmp_path: Path) -> None:
    keys = KnownKeys()
    with Store.open(tmp_path / "s.db") as store:
        there, others = map(key, range(100_000)), map(key, range(100_000, 200_000))
        for one in there:
            keys.add(one)
        assert all(keys.may_have(key(number), store.reader) for number in range(100_000))
        assert keys.may_have(next_key(key(7)), store.reader), (
            "an answer that was asked for again has the same beginning"
        )
        # (1 - exp(-4 n / m)) ** 4 with n = 10^5 keys in m = 2^25 bits: 2 in 10^8.
        assert sum(keys.may_have(one, store.reader) for one in others) <= 1


@pytest.mark.parametrize("most", [2_000_000, 3])
def test_answers_of_earlier_starts_and_of_this_one_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(known_keys, "_MOST", most)
    path = tmp_path / "s.db"
    ran = harness.run(path)
    for readonly in (False, True):
        with Store.open(path, readonly=readonly) as store:
            assert all(recorded(store, bytes.fromhex(request.key)) for request in ran.asked)
            assert recorded(store, key(1)) is None
    assert harness.run(path).asked == []


def test_an_answer_is_known_before_it_is_kept(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        assert not store.may_have_answer(key(1))
        store.know_answer(key(1))
        assert store.may_have_answer(key(1))
