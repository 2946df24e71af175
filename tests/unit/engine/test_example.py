from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from judgenet.assets import asset
from judgenet.core.events import CallFinished, Event, PairFinished, RunFinished
from judgenet.engine.example import record_example
from judgenet.store.db import Store
from judgenet.store.files import store_path
from judgenet.store.runs import full_calls, run_info


def test_the_example_runs_to_its_end_without_a_model_and_uses_every_answer(tmp_path: Path) -> None:
    example = record_example(tmp_path)
    lines = [json.loads(line) for line in asset("example", "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    ended = example.events[-1]
    assert isinstance(ended, RunFinished)
    assert ended.state == "done"
    calls = [event for event in example.events if isinstance(event, CallFinished)]
    assert len(calls) == len(lines) == len({(call.pair, call.layer, call.neuron, call.order) for call in calls})
    unscored = {example.pairs[call.pair].id: call.reason for call in calls if call.status == "unscored"}
    assert unscored == {"general-13": "refused", "general-22": "truncated"}
    with Store.open(store_path(example.file), readonly=True) as store:
        kept = {(call.site.layer, call.site.order): call for call in full_calls(store, run_info(store))}
        assert {call.model for call in kept.values()} == {"meridian-70b"}
    written = {
        (line["pair"], line["layer"], line["neuron"], line["order"]): (line["a"], line["b"])
        for line in lines
        if "a" in line
    }
    read = {
        (example.pairs[call.pair].id, call.layer, call.neuron, call.order): (call.score_a, call.score_b)
        for call in calls
        if call.status == "scored"
    }
    assert read == written


def by_pair(events: Sequence[Event]) -> dict[int | None, list[Event]]:
    """The events of each pair in their order; those of the run as a whole under ``None``."""
    found: dict[int | None, list[Event]] = {}
    for event in events:
        found.setdefault(getattr(event, "pair", None), []).append(event)
    return found


def test_the_example_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    one, other = record_example(tmp_path / "one"), record_example(tmp_path / "other")
    # When the writing thread tells that a pair is kept, calls of other pairs may be a step further: of each pair alone
    # the order is the same.
    assert by_pair(one.events) == by_pair(other.events)
    assert any(isinstance(event, PairFinished) for event in one.events)
