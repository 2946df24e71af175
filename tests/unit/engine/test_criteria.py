"""Runs on pairs with criteria: one neuron a criterion, with its weight, or all criteria in each prompt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.aggregate import aggregate
from judgenet.core.cascade import with_rule
from judgenet.core.checks import check
from judgenet.core.criteria import Criterion, vote_weights
from judgenet.core.events import PairFinished
from judgenet.core.fixes import fix
from judgenet.core.network import NetworkError, NetworkSpec, NeuronSpec, Role, RolesSpec
from judgenet.core.pair_checks import check_pairs
from judgenet.core.plan import count_calls
from judgenet.core.presets import network
from judgenet.engine.estimate import estimate_run
from judgenet.engine.pair_snapshot import PairSnapshot
from judgenet.engine.ports import ChatRequest
from judgenet.engine.preview import CRITERIA_STAND_IN, preview
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import call_rows, run_info, run_pairs
from tests.unit.engine.harness import PROFILES, SETTINGS, FakeEndpoint, pairs, run, site_of, start

CRITERIA = (
    (Criterion("Facts", "All claims are true.", 6), Criterion("Tone"), Criterion("Length")),
    (Criterion("Facts"), Criterion("Code runs")),
    (Criterion("tone", weight=2), Criterion("Facts", weight=2)),
    (Criterion("Length", weight=0), Criterion("Tone", weight=1)),
)
PAIRS = [replace(pair, criteria=of) for pair, of in zip(pairs(4), CRITERIA, strict=True)]
SPEC = network(None, 2, roles="criteria", settings=SETTINGS)


def facts_first(request: ChatRequest) -> str:
    """A judge for which A is better on facts alone, and B else, in whatever order they are shown."""
    a_first = site_of(request).order == "ab"
    a = "Facts" in request.own
    scores = (8, 5) if a == a_first else (5, 8)
    return json.dumps({"evidence": "seen", "score_1": scores[0], "score_2": scores[1]})


def test_one_neuron_a_criterion_with_its_weight(tmp_path: Path) -> None:
    path = tmp_path / "s.judgenet.db"
    ran = run(path, start(SPEC, PAIRS), FakeEndpoint(facts_first))
    assert ran.finished.state == "done"
    said = {event.pair_id: dict(event.verdicts) for event in ran.events if isinstance(event, PairFinished)}
    # Facts weighs 6 of 8 on p0; on p1 and p2 one is for A and one for B; on p3 only tone counts.
    assert {pair: of["c2_all"] for pair, of in said.items()} == {"p0": "a", "p1": "tie", "p2": "tie", "p3": "b"}
    assert {pair: of["c1"] for pair, of in said.items()} == {"p0": "a", "p1": "tie", "p2": "tie", "p3": "b"}
    with Store.open(path, readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
        for index, pair in enumerate(PAIRS):
            assert frame.verdicts(index) == said[pair.id]
            one = aggregate(frame.opinions(index), 2)
            assert [side[index] for side in frame.mean_scores()] == pytest.approx([one.mean_a, one.mean_b])
            assert frame.table.cast[index].tolist() == pytest.approx(list(one.votes))
            snapshot = PairSnapshot(frame, index, tuple(Role(of.name, of.description) for of in pair.criteria))
            assert snapshot.verdict == said[pair.id]["c2_all"]
            assert [len(layer) for layer in snapshot.layers] == [len(pair.criteria)] * 2
            assert (snapshot.used, snapshot.of) == (2 * len(pair.criteria),) * 2
        assert frame.weights(frame.places) is not None
        assert frame.weight(0, 1, 1) == vote_weights((6, 1, 1))[0]
        assert frame.calls_planned == len(ran.asked) == 4 * (3 + 2 + 2 + 2)
        begun = RunFrame.fresh(run_info(store), frame.spec, PAIRS)
        assert begun.calls_planned == len(ran.asked), "known before anything is asked"
        kept = next(iter(run_pairs(store, run_info(store))))
        assert [role.name for role in kept.roles or ()] == ["Facts", "Tone", "Length"]
        assert kept.pair.criteria == CRITERIA[0]
        roles = {row.site[1:3]: row.role for row in call_rows(store, run_info(store)) if row.site.pair == 1}
        assert roles == {(1, 1): "Facts", (1, 2): "Code runs", (2, 1): "Facts", (2, 2): "Code runs"}
        verdicts = frame.role_verdicts()
        assert {name: len(of.pairs) for name, of in verdicts.items()} == {
            "facts": 3, "tone": 3, "length": 2, "code runs": 1,
        }  # fmt: skip


def test_each_neuron_is_shown_its_criterion_and_nothing_of_the_others(tmp_path: Path) -> None:
    ran = run(tmp_path / "s.judgenet.db", start(SPEC, PAIRS[:1]))
    first = [request for request in ran.asked if site_of(request).layer == 1]
    assert {site_of(of).neuron: of.own.splitlines()[4] for of in first} == {
        1: "Facts: All claims are true.",
        2: "Tone",
        3: "Length",
    }
    assert all("criteria ·" not in of.shared for of in first)
    assert len({of.shared for of in first}) == 2, "one beginning for each order"


def test_the_chair_sees_all_criteria_with_their_weights(tmp_path: Path) -> None:
    spec = network(None, 1, roles="criteria", chair=True, settings=SETTINGS)
    ran = run(tmp_path / "s.judgenet.db", start(spec, PAIRS[:1]))
    chair = next(request for request in ran.asked if site_of(request).layer == 2)
    assert "- Facts: All claims are true. (weight 6)\n- Tone (weight 1)" in chair.shared


def test_other_networks_show_all_criteria_to_each_neuron(tmp_path: Path) -> None:
    ran = run(tmp_path / "s.judgenet.db", start(network(2, 1, roles="none", settings=SETTINGS), PAIRS[:1]))
    assert len(ran.asked) == 4
    assert all("- Facts: All claims are true. (weight 6)\n" in request.shared for request in ran.asked)
    assert all(event.verdicts for event in ran.events if isinstance(event, PairFinished))


def test_a_fixed_width_lets_neurons_rest_and_a_role_of_its_own_has_the_weight_1(tmp_path: Path) -> None:
    spec = network(3, 1, roles="criteria", settings=SETTINGS)
    own = NeuronSpec(role=Role("Editor"))
    spec = replace(spec, layers=(replace(spec.layers[0], neurons=(*spec.layers[0].neurons[:2], own)),))
    path = tmp_path / "s.judgenet.db"
    run(path, start(spec, PAIRS), FakeEndpoint(facts_first))
    with Store.open(path, readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
    assert [frame.weight(0, 1, neuron) for neuron in (1, 2, 3)] == [*vote_weights((6, 1, 1))[:2], 1]
    assert frame.verdict("c2_all", 0) == "a", "2.25 for A, .375 and 1 for B"
    weights = frame.weights(frame.places)
    assert weights is not None
    assert weights[0].tolist() == [2.25, 0.375, 1.0]
    narrow = network(4, 1, roles="criteria", settings=SETTINGS)
    run(tmp_path / "narrow.db", start(narrow, PAIRS))
    with Store.open(tmp_path / "narrow.db", readonly=True) as store:
        assert [of.calls_total for of in run_pairs(store, run_info(store))] == [6, 4, 4, 4]
        assert next(iter(run_pairs(store, run_info(store)))).note == "3 criteria for 4 neurons"


def test_a_network_of_criteria_has_no_problem_of_its_own() -> None:
    assert check(SPEC, PROFILES) == ()
    [problem] = check_pairs(SPEC, pairs(3))
    assert (problem.severity, problem.message.split(" for ")[0]) == ("error", "3 of 3 pairs have no criteria")
    mended = fix(SPEC, problem)
    assert mended is not None
    assert check_pairs(mended.spec, pairs(3)) == ()


def test_pairs_without_criteria_are_refused_with_how_many_there_are(tmp_path: Path) -> None:
    mixed = [*PAIRS[:2], *(replace(pair, criteria=()) for pair in PAIRS[2:])]
    with pytest.raises(
        NetworkError, match=r"2 of 4 pairs have no criteria for the neurons to judge by, such as p2\. Say which column"
    ) as caught:
        run(tmp_path / "s.judgenet.db", start(SPEC, mixed))
    assert "criteria=COLUMN" in str(caught.value)


def test_an_estimate_counts_nothing_for_pairs_without_criteria(tmp_path: Path) -> None:
    mixed = [PAIRS[1], replace(PAIRS[0], criteria=())]
    path = tmp_path / "s.judgenet.db"
    run(path, start(SPEC, PAIRS[1:2]))
    with Store.open(path, readonly=True) as store:
        found = estimate_run(start(SPEC, mixed), store).estimate
    assert (found.calls, found.calls_recorded) == ((8, 8), 8)


def test_roles_can_stand_in_where_there_are_no_criteria(tmp_path: Path) -> None:
    spec = replace(SPEC, roles=RolesSpec("criteria", roles=(Role("Clear"),)))
    mixed = [PAIRS[0], replace(PAIRS[1], criteria=())]
    path = tmp_path / "s.judgenet.db"
    run(path, start(spec, mixed))
    with Store.open(path, readonly=True) as store:
        kept = list(run_pairs(store, run_info(store)))
    assert [len(of.roles or ()) for of in kept] == [3, 1]
    assert kept[1].note == "no criteria: the fixed roles stand in"


def test_the_calls_of_an_estimate_are_known_exactly(tmp_path: Path) -> None:
    for spec in (SPEC, network(3, 2, roles="criteria", chair=True, settings=SETTINGS)):
        found = estimate_run(start(spec, PAIRS), None).estimate
        exact = sum(count_calls(spec, len(pair.criteria)).total for pair in PAIRS)
        assert found.calls == (exact, exact)
        path = tmp_path / f"{spec.name}.db"
        ran = run(path, start(spec, PAIRS))
        assert len(ran.asked) == exact
        with Store.open(path, readonly=True) as store:
            again = estimate_run(start(spec, PAIRS), store).estimate
            assert (again.calls_recorded, again.calls_open) == (exact, (0, 0))


def test_a_stop_rule_counts_the_weights(tmp_path: Path) -> None:
    def spec(rule: str) -> NetworkSpec:
        return with_rule(network(None, 1, roles="criteria", settings=SETTINGS), f"{rule} after=neurons")

    path = tmp_path / "s.judgenet.db"
    ran = run(path, start(spec("decided"), PAIRS[:2]), FakeEndpoint(facts_first))
    stopped = {event.pair_id: event.stopped_after for event in ran.events if isinstance(event, PairFinished)}
    assert stopped == {"p0": (1, 1), "p1": None}, "facts alone weigh more than the two that are left"
    with Store.open(path, readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
        assert frame.verdict("c2_all", 0) == "a"
        stop = frame.stop(0)
        assert stop is not None
        assert (stop.layer, stop.neuron) == (1, 1)


def test_criteria_without_weights_judge_as_roles_do(tmp_path: Path) -> None:
    plain = [replace(pair, criteria=tuple(replace(of, weight=1.0) for of in pair.criteria)) for pair in PAIRS]
    path = tmp_path / "s.judgenet.db"
    run(path, start(SPEC, plain))
    with Store.open(path, readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
    assert frame.weights(frame.places) is None
    assert frame.table.cast.dtype.kind == "u", "votes are counts"


def test_a_preview_shows_a_stand_in_for_a_pair_without_criteria() -> None:
    shown = preview(start(SPEC, PAIRS), None, replace(PAIRS[0], criteria=()), layer=1, neuron=1)
    assert shown.notes == (CRITERIA_STAND_IN,)
    with_criteria = preview(start(SPEC, PAIRS), None, PAIRS[0], layer=1, neuron=1)
    assert with_criteria.notes == ()
    assert "Facts: All claims are true." in with_criteria.prompt.own
