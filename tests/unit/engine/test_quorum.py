"""A quorum over a run: the frame, the pair in focus, and the lists of pairs say the same of each pair."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.aggregate import NO_QUORUM, deciding
from judgenet.core.events import PairFinished
from judgenet.core.network import Aggregation
from judgenet.core.presets import network
from judgenet.engine.pair_index import DatasetVerdicts, PairIndex
from judgenet.engine.pair_snapshot import PairSnapshot
from judgenet.engine.ports import ChatRequest
from judgenet.report.selection import OfLeftOut, selected
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.quorum import lacks_quorum, quorum_words, without_quorum
from judgenet.store.runs import run_info
from tests.unit.engine.harness import SETTINGS, FakeEndpoint, Ran, pairs, plain_answer, run, site_of, start


def answer(request: ChatRequest) -> str:
    """Of pair 1 neuron 2 says nothing, of pair 2 no neuron does."""
    site = site_of(request)
    silent = (site.pair == 1 and site.neuron == 2) or site.pair == 2
    return "I cannot say." if silent and site.layer == 1 else plain_answer(request)


def ran(path: Path, *, chair: bool, **rules: int) -> Ran:
    spec = replace(network(2, 1, roles="none", chair=chair, settings=SETTINGS), aggregation=Aggregation(**rules))
    return run(path, start(spec, pairs(3)), FakeEndpoint(answer))


@pytest.mark.parametrize("chair", [False, True])
def test_every_view_says_the_same(tmp_path: Path, chair: bool) -> None:
    """With a quorum of 2 pairs 1 and 2 have no verdict, of the chair neither: it reads one neuron, or none."""
    path = tmp_path / "s.db"
    told = {event.pair: event for event in ran(path, chair=chair, quorum=2).events if isinstance(event, PairFinished)}
    with Store.open(path, readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
        name = deciding(frame.spec)
        assert name == ("chair" if chair else "c2_all")
        assert without_quorum(frame, name).tolist() == [False, True, True]
        assert [lacks_quorum(frame, name, pair) for pair in range(3)] == [False, True, True]
        assert [name in told[pair].no_quorum for pair in range(3)] == [False, True, True]
        assert selected(frame, OfLeftOut("no quorum", name)) == (1, 2)
        assert selected(frame, OfLeftOut("no verdict", name)) == ()
        assert [bool(words) for words in quorum_words(frame)] == [False, True, True]
        snapshots = [PairSnapshot(frame, pair, ()) for pair in range(3)]
        assert [snapshot.no_quorum for snapshot in snapshots] == [None, 1, 0]
        assert [snapshot.verdict for snapshot in snapshots] == [frame.verdict(name, pair) for pair in range(3)]
        listed = DatasetVerdicts.of(frame, ["p2", "p1", "p0", "p9"])
        assert [listed.missing(position) for position in range(4)] == [NO_QUORUM, NO_QUORUM, "", ""]
        counts = PairIndex(pairs(3)).judged_counts(DatasetVerdicts.of(frame, ["p0", "p1", "p2"]))
        assert (counts["no_quorum"], counts["unscored"], counts["people"]) == (2, 0, 0)
        assert ACCEPTED not in frame.aggregations
        # Another rule costs no call: the frame of the same run without a quorum.
        assert without_quorum(frame.under(Aggregation()), name).tolist() == [False] * 3
        assert frame.under(Aggregation()).verdict("c2_all", 1) is not None


def test_without_a_quorum_nothing_is_said_of_one(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    assert all(not event.no_quorum for event in ran(path, chair=False).events if isinstance(event, PairFinished))
    with Store.open(path, readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
        assert PairSnapshot(frame, 2, ()).no_quorum is None
        assert selected(frame, OfLeftOut("no verdict", "c2_all")) == (2,)
        assert DatasetVerdicts.of(frame, ["p2"]).missing(0) == "unscored"
