"""The executor: which calls are made, when, and what becomes of them."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgenet.core import design
from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.events import (
    CallFinished,
    CallText,
    EndpointChanged,
    Event,
    LayerFinished,
    PairFinished,
    RolesFound,
    RunChanged,
    RunStarted,
)
from judgenet.core.network import ChairSpec, NetworkSpec, Role, RolesSpec, Settings
from judgenet.core.presets import network
from judgenet.engine.budget import Limits
from judgenet.engine.executor import Executor
from judgenet.engine.ports import CallFailed, ChatReply, ChatRequest, EndpointStopped, FormRefused, Usage
from judgenet.store.db import Store
from judgenet.store.runs import call_rows, full_calls, pair_states, run_info, run_pairs, spent, unscored_pairs
from tests.pair_verdicts import pair_results
from tests.unit.engine.harness import SETTINGS, FakeEndpoint, pairs, plain_answer, run, scores_of, site_of, start


def told(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def test_a_network_of_two_layers_asks_roles_then_layer_by_layer(tmp_path: Path) -> None:
    ran = run(tmp_path / "s.judgenet.db", start(judged=pairs(1)))
    assert ran.finished.state == "done"
    layers = [site_of(request).layer for request in ran.asked]
    assert layers == [0] + [1] * 6 + [2] * 6
    [finished] = told(ran.events, PairFinished)
    assert dict(finished.verdicts).keys() == {"c1", "c2_l1", "c2_l2", "c2_all"}
    assert (finished.calls_used, finished.calls_total) == (12, 12)
    assert [event.layer for event in told(ran.events, LayerFinished)] == [1, 2]
    [roles] = told(ran.events, RolesFound)
    assert [name for name, _ in roles.roles] == ["Role 1", "Role 2", "Role 3"]


def test_verdicts_equal_those_recomputed_from_the_answers(tmp_path: Path) -> None:
    """The average over all calls, mapped back by hand from what the endpoint was asked."""
    ran = run(tmp_path / "s.judgenet.db", start(judged=pairs(5)))
    for finished in told(ran.events, PairFinished):
        sums = [0, 0]
        for request in ran.asked:
            site = site_of(request)
            if site.pair == finished.pair and site.layer:
                first, second = scores_of(request.user)
                sums[0] += first if site.order == "ab" else second
                sums[1] += second if site.order == "ab" else first
        expected = "tie" if sums[0] == sums[1] else "a" if sums[0] > sums[1] else "b"
        assert dict(finished.verdicts)["c1"] == expected


def test_the_first_call_goes_alone(tmp_path: Path) -> None:
    order: list[int] = []

    def answer(request: ChatRequest) -> str:
        order.append(endpoint.in_flight)
        return plain_answer(request)

    endpoint = FakeEndpoint(answer, concurrency=8, delay=0.01)
    run(tmp_path / "s.judgenet.db", start(judged=pairs(20)), endpoint)
    assert order[0] == 1
    assert endpoint.most_in_flight == 8


def test_running_again_asks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    first = run(path, start(judged=pairs(3)))
    again = run(path, start(judged=pairs(3)))
    assert len(first.asked) == 3 * 13
    assert again.asked == []
    assert again.finished.run_id == first.finished.run_id
    assert again.finished.state == "done"


def test_more_pairs_ask_only_for_the_new_ones(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    run(path, start(judged=pairs(3)))
    more = run(path, start(judged=pairs(5)))
    assert {site_of(request).pair for request in more.asked} == {3, 4}
    with Store.open(path, readonly=True) as store:
        sums = spent(store, run_info(store))
    assert (sums.calls, sums.calls_new) == (65, 26)


def test_an_edited_pair_is_judged_anew_and_the_others_are_not(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    judged = pairs(3)
    run(path, start(judged=judged))
    judged[1] = replace(judged[1], response_b="edited")
    again = run(path, start(judged=judged))
    assert {site_of(request).pair for request in again.asked} == {1}
    assert len(again.asked) == 13


def test_a_changed_label_asks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    run(path, start(judged=pairs(2)))
    again = run(path, start(judged=pairs(2, human="a")))
    assert again.asked == []


def test_a_wider_run_shares_layer_one(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    roles = RolesSpec(limit=3)
    wide = replace(network(3, 1, settings=SETTINGS), roles=roles)
    narrow = replace(network(2, 1, settings=SETTINGS), roles=roles)
    run(path, start(wide, pairs(2)))
    assert run(path, start(narrow, pairs(2))).asked == []


def test_neurons_without_roles_are_calls_of_their_own(tmp_path: Path) -> None:
    spec = network(3, 1, roles="none", settings=SETTINGS)
    ran = run(tmp_path / "s.judgenet.db", start(spec, pairs(1)))
    assert len(ran.asked) == 6
    assert len({request.key for request in ran.asked}) == 6


def test_neurons_at_two_endpoints_are_calls_of_their_own(tmp_path: Path) -> None:
    """Also where model and question are the same, and where one of them is asked more often."""
    spec = network(2, 1, roles="none", orders="ab", settings=SETTINGS)
    spec = design.set_settings(spec, (0, 1), Settings(endpoint="other", model="judge", samples=2))
    ran = run(tmp_path / "s.judgenet.db", start(spec, pairs(2)), FakeEndpoint(), FakeEndpoint(name="other"))
    assert {name: len(endpoint.asked) for name, endpoint in ran.endpoints.items()} == {"fake": 2, "other": 4}


def test_samples_are_calls_of_their_own(tmp_path: Path) -> None:
    spec = network(1, 1, roles="none", samples=3, settings=replace(SETTINGS, temperature=1.0))
    ran = run(tmp_path / "s.judgenet.db", start(spec, pairs(1)))
    assert len(ran.asked) == 6
    assert len({request.key for request in ran.asked}) == 6
    assert len({request.user for request in ran.asked}) == 2


def test_equal_pairs_are_asked_once(tmp_path: Path) -> None:
    judged = pairs(1)
    judged.append(replace(judged[0], id="copy"))
    ran = run(tmp_path / "s.judgenet.db", start(judged=judged), FakeEndpoint(delay=0.01))
    assert len(ran.asked) == 13
    verdicts = [event.verdicts for event in told(ran.events, PairFinished)]
    assert len(verdicts) == 2
    assert verdicts[0] == verdicts[1]
    assert Counter(event.cached for event in told(ran.events, CallFinished)) == {False: 13, True: 13}


@pytest.mark.parametrize(("orders", "expected"), [("ab", {"ab"}), ("ba", {"ba"})])
def test_one_order_asks_that_order(tmp_path: Path, orders: Any, expected: set[str]) -> None:
    spec = network(2, 2, orders=orders, settings=SETTINGS)
    ran = run(tmp_path / "s.judgenet.db", start(spec, pairs(1)))
    assert {site_of(request).order for request in ran.asked if site_of(request).layer} == expected
    assert len(ran.asked) == 5


def test_random_order_is_drawn_from_the_seed(tmp_path: Path) -> None:
    spec = network(4, 1, roles="none", orders="random", settings=SETTINGS)

    def orders(seed: int, name: str) -> list[tuple[int, int, str | None]]:
        ran = run(tmp_path / name, start(replace(spec, seed=seed), pairs(10)))
        return sorted((site_of(r).pair, site_of(r).neuron, site_of(r).order) for r in ran.asked)

    first = orders(1, "a.judgenet.db")
    assert first == orders(1, "b.judgenet.db")
    assert first != orders(2, "c.judgenet.db")
    assert len(first) == 40
    assert {order for _, _, order in first} == {"ab", "ba"}


def test_fewer_roles_make_the_layer_narrower_and_the_record_says_so(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    ran = run(path, start(network(5, 2, settings=SETTINGS), pairs(1)))
    [roles] = told(ran.events, RolesFound)
    assert roles.note == "3 of 5 roles came back"
    [finished] = told(ran.events, PairFinished)
    assert finished.calls_total == 12
    with Store.open(path, readonly=True) as store:
        [pair] = run_pairs(store, run_info(store))
    assert pair.note == "3 of 5 roles came back"


def test_adaptive_layers_are_as_wide_as_the_roles(tmp_path: Path) -> None:
    ran = run(tmp_path / "s.judgenet.db", start(network(None, 2, settings=SETTINGS), pairs(1)))
    assert Counter(site_of(request).layer for request in ran.asked) == {0: 1, 1: 6, 2: 6}


@pytest.mark.parametrize("fixed", [(), (Role("Truth", "is it true"), Role("Style", "is it well said"))])
def test_no_roles_fall_back_and_say_so(tmp_path: Path, fixed: tuple[Role, ...]) -> None:
    def answer(request: ChatRequest) -> str:
        roles = request.schema is not None and request.schema.name == "roles"
        return "I have no idea." if roles else plain_answer(request)

    spec = network(2, 1, settings=SETTINGS)
    spec = replace(spec, roles=replace(spec.roles, roles=fixed))
    ran = run(tmp_path / "s.judgenet.db", start(spec, pairs(1)), FakeEndpoint(answer))
    [roles] = told(ran.events, RolesFound)
    assert "stand in" in roles.note
    assert len(roles.roles) == 2
    if fixed:
        assert [name for name, _ in roles.roles] == ["Truth", "Style"]
    [finished] = told(ran.events, PairFinished)
    assert (finished.calls_used, finished.calls_total) == (4, 4)


def test_a_failed_predecessor_is_named_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"

    def answer(request: ChatRequest) -> str | Exception:
        site = site_of(request)
        if (site.layer, site.neuron, site.order) == (1, 2, "ba"):
            return CallFailed(Reason.TIMEOUT, "no answer in 60 s", attempts=7)
        return plain_answer(request)

    ran = run(path, start(judged=pairs(1)), FakeEndpoint(answer))
    [finished] = told(ran.events, PairFinished)
    assert (finished.calls_used, finished.calls_total, finished.open_calls) == (11, 12, 1)
    with Store.open(path, readonly=True) as store:
        calls = {call.site: call for call in full_calls(store, run_info(store))}
    failed = next(call for site, call in calls.items() if site[1:4] == (1, 2, "ba"))
    assert failed.result == Unscored(Reason.TIMEOUT, "no answer in 60 s")
    assert (failed.attempts, failed.raw_text) == (7, None)
    deeper = [call for site, call in calls.items() if site.layer == 2]
    assert all(call.missing == ("layer 1, neuron 2, order ba: timeout",) for call in deeper)


def test_running_again_asks_what_brought_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    fail = True

    def answer(request: ChatRequest) -> str | Exception:
        site = site_of(request)
        if fail and (site.pair, site.layer, site.neuron) == (0, 2, 1):
            return CallFailed(Reason.NETWORK, "connection reset")
        return plain_answer(request)

    first = run(path, start(judged=pairs(2)), FakeEndpoint(answer))
    assert first.finished.state == "done"
    fail = False
    again = run(path, start(judged=pairs(2)), FakeEndpoint(answer))
    assert sorted(site_of(request)[:4] for request in again.asked) == [(0, 2, 1, "ab"), (0, 2, 1, "ba")]
    with Store.open(path, readonly=True) as store:
        assert all(isinstance(row.result, Evaluation | None) for row in call_rows(store, run_info(store)))


def test_an_unreadable_answer_is_paid_for_and_not_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"

    def answer(request: ChatRequest) -> str:
        return "Both are lovely." if site_of(request)[1:3] == (1, 1) else plain_answer(request)

    spec = network(3, 1, settings=SETTINGS)
    ran = run(path, start(spec, pairs(1)), FakeEndpoint(answer))
    [finished] = told(ran.events, PairFinished)
    assert (finished.calls_used, finished.calls_total, finished.open_calls) == (4, 6, 0)
    assert run(path, start(spec, pairs(1)), FakeEndpoint(answer)).asked == []
    with Store.open(path, readonly=True) as store:
        raw = [c.raw_text for c in full_calls(store, run_info(store)) if isinstance(c.result, Unscored)]
    assert raw == ["Both are lovely."] * 2


def test_answers_that_cannot_be_read_are_asked_for_again_when_wanted_and_the_old_ones_stay(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    bad = {("p", 1), ("p", 3)}

    def garbled(request: ChatRequest) -> str:
        site = site_of(request)
        wrong = site.layer == 1 and site.neuron == 2 and site.order == "ab" and ("p", site.pair) in bad
        return "No comment." if wrong else plain_answer(request)

    begin = start(judged=pairs(5))
    first = run(path, begin, FakeEndpoint(garbled))
    assert len(first.asked) == 5 * 13
    # An ordinary start pays for nothing again.
    assert not run(path, begin, FakeEndpoint(garbled)).asked
    again = replace(begin, scope="unscored")
    bad.discard(("p", 1))
    second = run(path, again, FakeEndpoint(garbled))
    assert second.finished.state == "done"
    asked = [site_of(request) for request in second.asked]
    # Both are asked once more; where the answer is another one, what layer 2 reads is another text.
    assert sorted((site.pair, site.layer) for site in asked if site.layer == 1) == [(1, 1), (3, 1)]
    assert {site.pair for site in asked if site.layer == 2} == {1}
    with Store.open(path, readonly=True) as store:
        info = run_info(store)
        assert pair_states(store, info) == ["done"] * 5
        one, other = (next(full_calls(store, info, CallSite(pair, 1, 2, "ab", 1))) for pair in (1, 3))
        assert isinstance(one.result, Evaluation)
        assert one.earlier == ("No comment.",)
        assert isinstance(other.result, Unscored)
        assert (other.raw_text, other.earlier) == ("No comment.", ("No comment.",))
        # All answers were paid for; a call of the fake judge is 100 tokens in. What was read before is no part of it.
        asked_for = 5 * 13 + 2
        assert spent(store, info).tokens_in == 100 * asked_for
        assert unscored_pairs(store, info) == {3}
    # The answer that holds by now is taken by every later start.
    assert not run(path, begin, FakeEndpoint(garbled)).asked
    third = run(path, again, FakeEndpoint(plain_answer))
    assert {site_of(request).pair for request in third.asked} == {3}
    with Store.open(path, readonly=True) as store:
        call = next(full_calls(store, run_info(store), CallSite(3, 1, 2, "ab", 1)))
        assert call.earlier == ("No comment.", "No comment.")
        assert isinstance(call.result, Evaluation)


def test_a_retry_that_is_stopped_goes_on_with_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "a.db"

    def garbled(request: ChatRequest) -> str:
        return "No comment." if site_of(request).layer == 1 else plain_answer(request)

    begin = start(judged=pairs(2))
    run(path, begin, FakeEndpoint(garbled))
    stopped = run(path, replace(begin, scope="unscored", limits=Limits(max_calls=4)))
    assert stopped.finished.state == "budget"
    assert len(stopped.asked) == 4
    rest = run(path, replace(begin, scope="unscored"))
    assert rest.finished.state == "done"
    with Store.open(path, readonly=True) as store:
        assert not unscored_pairs(store, run_info(store))
        assert pair_states(store, run_info(store)) == ["done", "done"]


def test_a_cut_answer_is_asked_once_more_with_a_larger_limit(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"

    def answer(request: ChatRequest) -> str | ChatReply:
        if request.max_tokens <= 1024:
            return ChatReply('{"evidence": "it goes on and', "length", usage=Usage(100, 1024))
        return plain_answer(request)

    spec = network(1, 1, roles="none", orders="ab", settings=SETTINGS)
    ran = run(path, start(spec, pairs(1)), FakeEndpoint(answer))
    assert [request.max_tokens for request in ran.asked] == [1024, 4096]
    [call] = told(ran.events, CallFinished)
    assert call.status == "scored"
    assert (call.tokens_in, call.tokens_out, call.attempts) == (200, 1034, 2)


def test_an_answer_that_stays_cut_is_unscored(tmp_path: Path) -> None:
    cut = ChatReply('{"evidence": "it goes on and', "length", usage=Usage(100, 1024))
    spec = network(1, 1, roles="none", orders="ab", settings=SETTINGS)
    ran = run(tmp_path / "s.judgenet.db", start(spec, pairs(1)), FakeEndpoint(lambda request: cut))
    assert len(ran.asked) == 2
    [call] = told(ran.events, CallFinished)
    assert (call.status, call.reason) == ("unscored", "truncated")
    [finished] = told(ran.events, PairFinished)
    assert dict(finished.verdicts) == {"c1": None, "c2_l1": None, "c2_all": None}


def test_a_refused_form_is_put_again_as_text(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> str | Exception:
        if request.form == "json":
            endpoint.form_now = "text"
            return FormRefused()
        assert request.schema is None
        if site_of(request).layer == 0:
            return "1. Truth: is it true\n2. Style: is it well said\n3. Use: does it help"
        first, second = scores_of(request.user)
        return f"Because.\nScore of Response 1: {first}\nScore of Response 2: {second}"

    endpoint = FakeEndpoint(answer)
    ran = run(tmp_path / "s.judgenet.db", start(judged=pairs(2)), endpoint)
    assert [request.form for request in ran.asked].count("json") == 1
    assert len(ran.asked) == 1 + 2 * 13
    assert all(event.calls_used == 12 for event in told(ran.events, PairFinished))


def test_answers_in_a_form_that_is_refused_by_now_are_not_asked_again(tmp_path: Path) -> None:
    """An endpoint that took schemas yesterday and refuses them today: what it answered is kept and used."""
    path = tmp_path / "s.judgenet.db"

    def as_text(request: ChatRequest) -> str:
        assert request.form == "text"
        if site_of(request).layer == 0:
            return "1. Truth: is it true\n2. Style: is it well said\n3. Use: does it help"
        first, second = scores_of(request.user)
        return f"Because.\nScore of Response 1: {first}\nScore of Response 2: {second}"

    first = run(path, start(judged=pairs(3), limits=Limits(max_calls=20)))
    rest = run(path, start(judged=pairs(3)), FakeEndpoint(as_text, form_now="text"))
    assert (len(first.asked), len(rest.asked)) == (20, 3 * 13 - 20)
    assert run(path, start(judged=pairs(3))).asked == []
    with Store.open(path, readonly=True) as store:
        forms = Counter(call.form for call in full_calls(store, run_info(store)))
    assert forms == {"json": 20, "text": 19}


def test_calls_of_roles_that_no_longer_stand_are_gone(tmp_path: Path) -> None:
    """Roles of the library stood in at the first start; at the second fewer ones come back."""
    path = tmp_path / "s.judgenet.db"
    spec = network(None, 2, settings=SETTINGS)
    broken = True

    def answer(request: ChatRequest) -> str | Exception:
        if site_of(request).layer == 0:
            roles = [{"name": f"Role {n}", "description": f"aspect {n}"} for n in (1, 2)]
            return CallFailed(Reason.NETWORK, "connection reset") if broken else json.dumps({"roles": roles})
        return plain_answer(request)

    run(path, start(spec, pairs(1)), FakeEndpoint(answer))
    broken = False
    ran = run(path, start(spec, pairs(1)), FakeEndpoint(answer))
    [finished] = told(ran.events, PairFinished)
    assert (finished.calls_used, finished.calls_total) == (8, 8)
    with Store.open(path, readonly=True) as store:
        [result] = pair_results(store, run_info(store))
        roles = {call.role for call in full_calls(store, run_info(store))}
    assert result.verdicts is not None
    assert tuple(result.verdicts.named().items()) == finished.verdicts
    assert roles == {None, "Role 1", "Role 2"}


def test_the_call_limit_is_never_passed(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    ran = run(path, start(judged=pairs(5), limits=Limits(max_calls=20)), FakeEndpoint(delay=0.002))
    assert ran.finished.state == "budget"
    assert "20 of 20 calls" in ran.finished.message
    assert len(ran.asked) == 20
    rest = run(path, start(judged=pairs(5)))
    assert rest.finished.state == "done"
    assert len(rest.asked) == 5 * 13 - 20


def test_the_price_limit_holds_with_calls_in_flight(tmp_path: Path) -> None:
    """A call costs 100 tokens at 10 and 10 tokens at 20 USD a million: 0.0012 USD, at most about 0.03."""
    path = tmp_path / "s.judgenet.db"
    begin = start(judged=pairs(20), limits=Limits(max_price=0.1))
    ran = run(path, begin, FakeEndpoint(delay=0.002, concurrency=50))
    assert ran.finished.state == "budget"
    spent_now = sum(event.price for event in told(ran.events, CallFinished))
    assert 0.05 < spent_now <= 0.1


def test_limits_hold_where_prompts_have_more_tokens_than_estimated(tmp_path: Path) -> None:
    """A tokenizer that makes ten times as many tokens: the first answer shows it."""

    def answer(request: ChatRequest) -> ChatReply:
        return ChatReply(plain_answer(request), "stop", usage=Usage(10 * len(request.user) // 4, 10))

    for limit in (Limits(max_tokens=100_000), Limits(max_price=1.0)):
        begin = start(judged=pairs(40), limits=limit)
        ran = run(
            tmp_path / f"{limit.max_tokens}.judgenet.db", begin, FakeEndpoint(answer, delay=0.002, concurrency=64)
        )
        assert ran.finished.state == "budget"
        calls = told(ran.events, CallFinished)
        assert 0 < sum(call.tokens_in + call.tokens_out for call in calls) <= (limit.max_tokens or 10**9)
        assert sum(call.price for call in calls) <= (limit.max_price or 10**9)


def test_a_token_limit_stops(tmp_path: Path) -> None:
    ran = run(tmp_path / "s.judgenet.db", start(judged=pairs(20), limits=Limits(max_tokens=5000)))
    assert ran.finished.state == "budget"
    assert 0 < sum(e.tokens_in + e.tokens_out for e in told(ran.events, CallFinished)) <= 5000


def test_a_stopped_endpoint_halts_its_calls_and_leaves_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    spec = network(2, 1, roles="none", settings=SETTINGS)
    spec = design.set_settings(spec, (0, 1), Settings(endpoint="other", model="second"))
    stop = EndpointStopped(Reason.QUOTA, "the quota is used up; buy more, then run again")
    other = FakeEndpoint(lambda request: stop, name="other")
    ran = run(path, start(spec, pairs(4)), FakeEndpoint(), other)
    assert ran.finished.state == "halted"
    assert "quota is used up" in ran.finished.message
    assert len(other.asked) == 1
    assert len(ran.endpoints["fake"].asked) == 8
    assert [event.endpoint for event in told(ran.events, EndpointChanged)] == ["other"]
    again = run(path, start(spec, pairs(4)), FakeEndpoint(), FakeEndpoint(name="other"))
    assert again.finished.state == "done"
    assert len(again.endpoints["fake"].asked) == 0
    assert len(again.endpoints["other"].asked) == 8


def test_a_stopped_model_does_not_stop_the_endpoint(tmp_path: Path) -> None:
    spec = network(2, 1, roles="none", settings=SETTINGS)
    spec = design.set_settings(spec, (0, 1), Settings(model="gone"))

    def answer(request: ChatRequest) -> str | Exception:
        if request.model == "gone":
            return EndpointStopped(Reason.BAD_REQUEST, "no model of this name", model="gone")
        return plain_answer(request)

    endpoint = FakeEndpoint(answer)
    ran = run(tmp_path / "s.judgenet.db", start(spec, pairs(3)), endpoint)
    assert ran.finished.state == "halted"
    assert Counter(request.model for request in ran.asked)["judge"] == 6


def test_pause_sends_nothing_and_resume_goes_on(tmp_path: Path) -> None:
    counted: list[int] = []
    endpoint = FakeEndpoint(delay=0.005, concurrency=2)

    async def during(executor: Executor, events: list[Event]) -> None:
        while len(endpoint.asked) < 5:
            await asyncio.sleep(0.001)
        executor.pause()
        while endpoint.in_flight:
            await asyncio.sleep(0.001)
        counted.append(len(endpoint.asked))
        await asyncio.sleep(0.1)
        counted.append(len(endpoint.asked))
        executor.resume()

    ran = run(tmp_path / "s.judgenet.db", start(judged=pairs(3)), endpoint, during=during)
    assert ran.finished.state == "done"
    assert counted[0] == counted[1] < len(endpoint.asked) == 39
    assert [event.state for event in told(ran.events, RunChanged)] == ["paused", "running"]


@pytest.mark.parametrize("paused", [False, True])
def test_cancel_works_in_flight_and_paused(tmp_path: Path, paused: bool) -> None:
    path = tmp_path / "s.judgenet.db"
    endpoint = FakeEndpoint(delay=0.002)

    async def during(executor: Executor, events: list[Event]) -> None:
        while len(told(events, CallFinished)) < 10:
            await asyncio.sleep(0.001)
        if paused:
            executor.pause()
        else:
            endpoint.delay = 3600
            while not endpoint.in_flight:
                await asyncio.sleep(0.001)
        executor.cancel()

    ran = run(path, start(judged=pairs(10)), endpoint, during=during)
    assert ran.finished.state == "cancelled"
    kept = len(told(ran.events, CallFinished))
    rest = run(path, start(judged=pairs(10)))
    assert rest.finished.state == "done"
    assert len(rest.asked) <= 130 - kept
    with Store.open(path, readonly=True) as store:
        assert spent(store, run_info(store)).calls_new == 130


def _half_done(path: Path) -> list[tuple[int, str]]:
    """A run of four pairs: 0 done, 1 with a call without an answer, 2 begun, 3 not begun. Returns pair and state."""

    def answer(request: ChatRequest) -> str | Exception:
        site = site_of(request)
        if site.pair == 1 and site.layer == 2 and site.neuron == 1:
            return CallFailed(Reason.TIMEOUT, "too slow", attempts=1)
        return plain_answer(request)

    async def stop(executor: Executor, events: list[Event]) -> None:
        while not any(event.pair == 2 and event.layer == 1 for event in told(events, CallFinished)):
            await asyncio.sleep(0.001)
        executor.cancel()

    run(path, start(judged=pairs(4)), FakeEndpoint(answer, concurrency=1), during=stop)
    with Store.open(path, readonly=True) as store:
        return [(pair.index, pair.state) for pair in run_pairs(store, run_info(store))]


def test_a_start_may_retry_only_what_brought_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    assert _half_done(path) == [(0, "done"), (1, "failed"), (2, "open"), (3, "open")]
    ran = run(path, start(judged=pairs(4), scope="unscored"))
    assert {site_of(request)[:3] for request in ran.asked} == {(1, 2, 1)}
    assert (ran.finished.state, ran.finished.pairs_done) == ("cancelled", 2)
    assert "2 pairs are left" in ran.finished.message
    [began] = told(ran.events, RunStarted)
    assert (began.pairs_done, began.pairs_left) == (1, 2)
    rest = run(path, start(judged=pairs(4)))
    assert rest.finished.state == "done"
    assert {site_of(request).pair for request in rest.asked} == {2, 3}


def test_a_start_may_begin_with_fresh_pairs(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    _half_done(path)
    ran = run(path, start(judged=pairs(4), scope="fresh"))
    assert {site_of(request).pair for request in ran.asked} == {3}
    assert ran.finished.state == "cancelled"
    with Store.open(path, readonly=True) as store:
        states = [pair.state for pair in run_pairs(store, run_info(store))]
    assert states == ["done", "failed", "open", "done"]


def test_text_is_told_piece_by_piece_when_wanted(tmp_path: Path) -> None:
    spec = network(1, 1, roles="none", orders="ab", settings=SETTINGS)
    ran = run(tmp_path / "a.judgenet.db", start(spec, pairs(1), stream=True))
    text = "".join(event.text for event in told(ran.events, CallText))
    assert json.loads(text).keys() == {"evidence", "score_1", "score_2"}
    assert told(run(tmp_path / "b.judgenet.db", start(spec, pairs(1))).events, CallText) == []


def test_the_chair_reads_the_last_layer_and_decides(tmp_path: Path) -> None:
    spec = replace(network(2, 2, settings=SETTINGS), chair=ChairSpec())
    path = tmp_path / "s.judgenet.db"
    ran = run(path, start(spec, pairs(1)))
    chair = [request for request in ran.asked if site_of(request).layer == 3]
    assert [site_of(request).order for request in chair] == ["ab", "ba"]
    [finished] = told(ran.events, PairFinished)
    expected = 0
    for request in chair:
        first, second = scores_of(request.user)
        expected += (first - second) * (1 if site_of(request).order == "ab" else -1)
    verdict = "a" if expected > 0 else "b" if expected < 0 else "tie"
    assert dict(finished.verdicts)["chair"] == verdict
    with Store.open(path, readonly=True) as store:
        [result] = pair_results(store, run_info(store))
    assert result.verdicts is not None
    assert result.verdicts.chair == verdict


def deeper_inputs(spec: NetworkSpec, path: Path) -> dict[int, set[int]]:
    """Which neurons of layer 1 each neuron of layer 2 waited for, seen from the order of the calls."""
    slow = FakeEndpoint(concurrency=100)
    first_done: dict[int, set[int]] = {}
    done: Counter[int] = Counter()

    def answer(request: ChatRequest) -> str:
        site = site_of(request)
        if site.layer == 2:
            first_done.setdefault(site.neuron, {n for n, count in done.items() if count == 2})
        elif site.layer == 1:
            done[site.neuron] += 1
        return plain_answer(request)

    slow.answer = answer
    run(path, start(spec, pairs(1)), slow)
    return first_done


def test_a_window_reads_neighbours_only(tmp_path: Path) -> None:
    spec = network(4, 2, roles="none", wiring="window", settings=SETTINGS)
    ran = run(tmp_path / "s.judgenet.db", start(spec, pairs(1)))
    heard: dict[int, int] = {}
    evidence = {
        (site_of(request).neuron, site_of(request).order): f"seen {request.key[:8]}"
        for request in ran.asked
        if site_of(request).layer == 1
    }
    for request in ran.asked:
        site = site_of(request)
        if site.layer == 2:
            heard[site.neuron] = sum(text in request.user for text in evidence.values())
    assert heard == {1: 4, 2: 6, 3: 6, 4: 4}
    waited = deeper_inputs(spec, tmp_path / "w.judgenet.db")
    for neuron, ready in waited.items():
        assert ready >= {n for n in (neuron - 1, neuron, neuron + 1) if 1 <= n <= 4}


def test_every_call_is_on_disk_before_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    from tests.unit.engine import harness

    seen: list[bool] = []

    async def go() -> None:
        with Store.open(path) as store:
            begin = start(judged=pairs(3))
            plan = harness.plan_run(store, begin)

            def emit(event: Event) -> None:
                if isinstance(event, CallFinished):
                    row = store.reader.execute(
                        "SELECT count(*) FROM run_calls JOIN calls ON calls.id=call_id "
                        "WHERE pair=? AND layer=? AND neuron=? AND ord=?",
                        (event.pair, event.layer, event.neuron, event.order or ""),
                    ).fetchone()
                    seen.append(row[0] == 1)

            await Executor(plan, store, {"fake": FakeEndpoint()}, emit).run()

    asyncio.run(go())
    assert len(seen) == 39
    assert all(seen)
