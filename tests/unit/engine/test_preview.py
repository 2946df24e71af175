from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.design import set_size
from judgenet.core.network import ChairSpec
from judgenet.core.roles import library
from judgenet.engine.preview import EVALUATIONS_STAND_IN, ROLES_STAND_IN, NoSuchCall, preview
from judgenet.store.db import Store
from judgenet.store.runs import full_calls, run_info
from tests.unit.engine import harness


def test_what_was_asked_is_shown_as_it_was_sent(tmp_path: Path) -> None:
    begin = harness.start(judged=harness.pairs(2))
    begin = replace(begin, spec=replace(begin.spec, chair=ChairSpec()))
    path = tmp_path / "a.judgenet.db"
    harness.run(path, begin)
    with Store.open(path, readonly=True) as store:
        calls = {call.site: call for call in full_calls(store, run_info(store))}
        assert {site.layer for site in calls} == {0, 1, 2, 3}
        for site, call in calls.items():
            shown = preview(
                begin,
                store,
                begin.pairs[site.pair],
                layer=site.layer,
                neuron=site.neuron,
                order=site.order,
                sample=site.sample,
                index=site.pair,
            )
            assert tuple((m["role"], m["content"]) for m in shown.prompt.messages()) == call.messages
            assert shown.answer == call.raw_text
            assert shown.notes == ()


def test_before_a_run_stand_ins_are_named() -> None:
    begin = harness.start(judged=harness.pairs(1))
    pair = begin.pairs[0]
    first = preview(begin, None, pair, layer=1, neuron=2)
    assert first.notes == (ROLES_STAND_IN,)
    assert first.role is not None
    assert first.role.name in first.prompt.own
    assert first.answer is None
    deeper = preview(begin, None, pair, layer=2, neuron=1, order="ba")
    assert deeper.notes == (ROLES_STAND_IN, EVALUATIONS_STAND_IN)
    assert f"[What {first.role.name} will write in the order AB]" in deeper.prompt.user
    roles = preview(begin, None, pair, layer=0, neuron=0, order=None)
    assert roles.notes == ()


def test_a_network_wider_than_the_library_has_stand_ins_as_far_as_they_go() -> None:
    begin = harness.start(spec=set_size(harness.start().spec, 200, 2), judged=harness.pairs(1))
    most = len(library("en"))
    last = preview(begin, None, begin.pairs[0], layer=2, neuron=most)
    assert last.role in {entry.role for entry in library("en")}
    with pytest.raises(NoSuchCall, match=f"which has {most} roles"):
        preview(begin, None, begin.pairs[0], layer=2, neuron=most + 1)


def test_what_is_filled_in_can_be_told_apart() -> None:
    begin = harness.start(judged=harness.pairs(1))
    pair = begin.pairs[0]
    shown = preview(begin, None, pair, layer=1, neuron=1)
    filled = [shown.prompt.user[a:b] for a, b in shown.fills]
    for text in (pair.question, pair.response_a, pair.response_b):
        assert any(text in part for part in filled)
    assert all(a < b for a, b in shown.fills)
    assert all(one[1] <= other[0] for one, other in zip(shown.fills, shown.fills[1:], strict=False))


def test_calls_that_are_not_made_are_refused() -> None:
    begin = harness.start(judged=harness.pairs(1))
    one_order = replace(begin, spec=replace(begin.spec, orders="ab"))
    with pytest.raises(NoSuchCall, match="AB only"):
        preview(one_order, None, begin.pairs[0], layer=1, neuron=1, order="ba")
    with pytest.raises(NoSuchCall, match="no chair"):
        preview(begin, None, begin.pairs[0], layer=3, neuron=1)
