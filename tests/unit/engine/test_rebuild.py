"""What is shown as the question of a call is what was sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgenet.core.calls import CallSite
from judgenet.core.network import ChairSpec, NetworkError, NetworkSpec, Settings
from judgenet.core.presets import network
from judgenet.core.prompts import PromptBook
from judgenet.core.roles import roles_for
from judgenet.engine.questions import Questions
from judgenet.engine.rebuild import Rebuilt
from judgenet.store.db import Store
from judgenet.store.runs import CallRow, full_calls, pair_call_rows, run_info, run_pair
from tests.unit.engine import harness


def _questions(spec: NetworkSpec) -> Questions:
    return Questions(spec, PromptBook.default(), "salt-of-the-tests", roles_for)


def test_every_question_of_a_run_is_made_as_it_was_sent(tmp_path: Path) -> None:
    spec = network(3, 2, settings=harness.SETTINGS)
    begin = harness.start(
        NetworkSpec(**{**{name: getattr(spec, name) for name in spec.__slots__}, "chair": ChairSpec(Settings())}),
        harness.pairs(2),
    )
    harness.run(tmp_path / "a.judgenet.db", begin)
    with Store.open(tmp_path / "a.judgenet.db", readonly=True) as store:
        run = run_info(store)
        for index in range(2):
            pair = run_pair(store, run, index)
            rebuilt = Rebuilt(_questions(begin.spec), index, pair.pair, pair.roles, pair_call_rows(store, run, index))
            sent = [call for call in full_calls(store, run) if call.site.pair == index]
            assert len(sent) == 1 + 6 + 6 + 2
            for call in sent:
                prompt = rebuilt.question(call.site, "json").prompt
                assert [(m["role"], m["content"]) for m in prompt.messages()] == list(call.messages)
            heard = rebuilt.heard(CallSite(index, 2, 1, "ba", 1))
            assert [(one.neuron, one.order) for one in heard] == [(n, o) for n in (1, 2, 3) for o in ("ab", "ba")]
            assert rebuilt.heard(CallSite(index, 1, 1, "ab", 1)) == ()


def test_what_cannot_be_asked_yet_says_why(tmp_path: Path) -> None:
    begin = harness.start(judged=harness.pairs(1))
    harness.run(tmp_path / "a.judgenet.db", begin)
    with Store.open(tmp_path / "a.judgenet.db", readonly=True) as store:
        run = run_info(store)
        pair = run_pair(store, run, 0)
        rows: list[CallRow] = [row for row in pair_call_rows(store, run, 0) if row.site.neuron != 2]
    rebuilt = Rebuilt(_questions(begin.spec), 0, pair.pair, pair.roles, rows)
    rebuilt.question(CallSite(0, 1, 1, "ab", 1), "json")
    with pytest.raises(NetworkError, match="waits for the layer before"):
        rebuilt.question(CallSite(0, 2, 1, "ab", 1), "json")
    with pytest.raises(NetworkError, match="no call"):
        rebuilt.question(CallSite(0, 1, 9, "ab", 1), "json")
    early = Rebuilt(_questions(begin.spec), 0, pair.pair, None, [])
    early.question(CallSite(0, 0, 0, None, 1), "json")
    with pytest.raises(NetworkError, match="not known yet"):
        early.question(CallSite(0, 1, 1, "ab", 1), "json")
