"""Biases counted, against the vectors of the statistics specification, computed by scripts of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, chi2  # type: ignore[import-untyped]

from judgenet.core.bias import PROBES
from judgenet.core.bias.base import BiasError, Denominator, LabSettings, Position, both_orders
from judgenet.core.bias.lab import Item, Lab, ProbePlan, build_lab
from judgenet.core.evaluation import Choice
from judgenet.core.pairs import Pair
from judgenet.figures.base import as_json
from judgenet.figures.bias import bias_figures
from judgenet.stats.agreement import sign_test
from judgenet.stats.bias import (
    Answers,
    Cell,
    Judge,
    Shift,
    biased_of,
    chance_of,
    clustered_interval,
    codes_of,
    exact_test,
    measure,
    shift_of,
    z_test,
)
from judgenet.stats.bias_conclusions import p_text, rounded
from judgenet.stats.lab import LabResult, counted_pairs, evaluate, rank_agreement

# The vector of 4.2: systems, lengths, choice in order 12, choice in order 21 by the position shown.
VECTOR: list[tuple[str, str, int, int, Choice | None, Choice | None]] = [
    ("J", "B", 120, 80, "first", "second"),
    ("J", "C", 60, 90, "first", "first"),
    ("B", "C", 80, 90, "second", "second"),
    ("J", "D", 100, 100, "second", "first"),
    ("B", "D", 80, 100, "first", None),
    ("C", "D", 90, 100, None, "first"),
    ("J", "B", 150, 70, "first", "second"),
    ("C", "D", 40, 95, "second", "first"),
    ("J", "C", 80, 80, "first", None),
    ("B", "C", 50, 40, "second", "first"),
]
PAIRS = [
    Pair(f"p{i}", f"Q{i}?", "x" * a, "y" * b, model_a=one, model_b=other)
    for i, (one, other, a, b, _, _) in enumerate(VECTOR)
]
ANSWERS: dict[str, Choice | None] = {
    f"p{i} · {order}": said for i, row in enumerate(VECTOR) for order, said in zip(("ab", "ba"), row[4:], strict=True)
}
OWN = LabSettings(own=("J",))


def measured(plan: ProbePlan, said: Answers, denominator: Denominator, analytic: float) -> Cell:
    return measure(plan, "j", codes_of(plan.items, said), denominator, analytic)


def plans(settings: LabSettings = OWN) -> dict[str, ProbePlan]:
    built = build_lab(PAIRS, ("order", "egocentric", "salience"), settings)
    return {plan.key: plan for plan in built.lab.probes}


def test_the_vector_counts_by_valid_pairs() -> None:
    order = measured(plans()["order"], ANSWERS, "valid", 0.25)
    assert (order.items, order.valid_first, order.valid) == (10, 9, 7)
    assert order.valid_rate == 0.9
    assert order.counts == {"first": 1, "last": 1, "consistent": 5, "tie": 0, "invalid": 3}
    assert order.share == pytest.approx(1 / 7)
    salience = measured(plans()["salience"], ANSWERS, "valid", 0.5)
    assert (salience.counts["longer"], salience.counts["shorter"]) == (3, 1)
    assert (salience.share, salience.n) == (0.75, 4)
    own = measured(plans()["egocentric"], ANSWERS, "valid", 0.25)
    assert (own.items, own.counts["own"]) == (5, 2)
    # Four own pairs are valid, three of them consistent.
    assert (own.hits, own.n) == (2, 4)
    assert own.consistent_share == pytest.approx(2 / 3)


def test_two_of_the_lengths_are_equal_and_said_to_be_left_out() -> None:
    assert plans()["salience"].left_out == {"both responses are equally long": 2}
    assert plans()["egocentric"].left_out == {"neither response is the judge's own": 5}


def test_the_papers_code_divides_by_all_pairs_and_counts_half_answers() -> None:
    settings = LabSettings(own=("J",), denominator="paper")
    order = measured(plans(settings)["order"], ANSWERS, "paper", 0.25)
    assert (order.hits, order.n, order.share) == (1, 10, 0.1)
    own = measured(plans(settings)["egocentric"], ANSWERS, "paper", 0.25)
    # Two that are its own both times, and one whose second answer is unreadable.
    assert (own.hits, own.n) == (3, 5)


@pytest.mark.parametrize(("b", "c", "p"), [(40, 10, 2.386e-05), (5, 5, 1), (0, 0, 1), (3, 0, 0.25), (12, 30, 0.007916)])
def test_net_effects_have_the_exact_sign_test(b: int, c: int, p: float) -> None:
    assert sign_test(b, c) == pytest.approx(p, rel=1e-3)
    items = tuple(Item(f"p{i}", i, (f"{i} a", f"{i} b"), ("first", "second")) for i in range(b + c + 1))
    said: dict[str, Choice | None] = {}
    for i in range(b + c):
        said |= {f"{i} a": "first" if i < b else "second", f"{i} b": "second" if i < b else "first"}
    said |= {f"{b + c} a": "first", f"{b + c} b": "first"}
    cell = measured(ProbePlan("bandwagon", items), said, "valid", 0.25)
    assert cell.net == pytest.approx((b - c) / (b + c + 1))
    assert cell.net_p == pytest.approx(p, rel=1e-3)


@pytest.mark.parametrize(
    ("x1", "n1", "x2", "n2", "z", "p", "exact"),
    [
        (2019, 5250, 1313, 5250, 14.802936, 1.402e-49, 2.917e-102),
        (30, 100, 25, 100, 0.791808, 0.428473, 0.249071),
        (0, 100, 25, 100, -5.345225, 9.030e-08, 4.534e-13),
        (25, 100, 25, 100, 0, 1, 1),
        (60, 100, 25, 100, 5.006390, 5.546e-07, 1.327e-13),
    ],
)
def test_tests_against_random(x1: int, n1: int, x2: int, n2: int, z: float, p: float, exact: float) -> None:
    found_z, found_p = z_test(x1, n1, x2, n2)
    assert found_z == pytest.approx(z, abs=1e-6)
    assert found_p == pytest.approx(p, rel=1e-3)
    assert exact_test(x1, n1, 0.25) == pytest.approx(exact, rel=1e-3)


def test_z_is_undefined_where_all_or_none_are_biased() -> None:
    assert z_test(0, 10, 0, 10) == (None, None)
    assert z_test(10, 10, 10, 10) == (None, None)
    assert exact_test(0, 0, 0.25) is None


@pytest.mark.parametrize(("n", "sd", "high"), [(5250, 0.00598, 0.2617), (750, 0.0158, 0.2810), (100, 0.0433, 0.3349)])
def test_a_coin_through_the_counting_comes_to_a_quarter(n: int, sd: float, high: float) -> None:
    found = chance_of("both", n, 2, 0.25, repetitions=1000, seed=3)
    assert found.repetitions == 1000
    assert found.mean == pytest.approx(0.25, abs=4 * sd / 1000**0.5)
    # The 97.5 % point of the normal, which the shares follow but for their steps.
    assert found.high == pytest.approx(high, abs=0.25 * sd + 0.5 / n)


def test_coins_by_rule() -> None:
    assert chance_of("consistent", 400, 2, 0.5).mean == pytest.approx(0.5, abs=0.01)
    assert chance_of("changed", 400, 3, 0.75).mean == pytest.approx(0.75, abs=0.01)
    none = chance_of("decided", 400, 1, None)
    assert (none.analytic, none.mean, none.high) == (None, None, None)


def test_chances_of_the_probes() -> None:
    found = {key: probe.chance(LabSettings(repeats=2)) for key, probe in PROBES.items()}
    assert found["order"] == found["bandwagon"] == found["attention"] == found["egocentric"] == 0.25
    assert found["salience"] == 0.5
    assert found["repeats"] == 0.5
    assert PROBES["repeats"].chance(LabSettings(repeats=3)) == 0.75
    assert found["identical"] is None


def test_a_tie_is_neither_biased_nor_consistent() -> None:
    items = tuple(Item(f"p{i}", i, (f"{i} a", f"{i} b"), ("first", "second")) for i in range(3))
    said: Answers = {"0 a": "first", "0 b": "tie", "1 a": "tie", "1 b": "tie", "2 a": "first", "2 b": "second"}
    codes = codes_of(items, said)
    biased, counted = biased_of("both", codes)
    assert biased.tolist() == [False, False, True]
    assert counted.tolist() == [True, True, True]
    biased, counted = biased_of("consistent", codes)
    assert counted.tolist() == [False, False, True]
    biased, counted = biased_of("changed", codes)
    assert biased.tolist() == [True, False, False]


def test_what_is_not_asked_is_not_invalid() -> None:
    items = tuple(Item(f"p{i}", i, (f"{i} a", f"{i} b"), ("first", "second")) for i in range(2))
    cell = measured(ProbePlan("bandwagon", items), {"0 a": "first", "0 b": None}, "valid", 0.25)
    assert (cell.items, cell.valid_first, cell.valid) == (1, 1, 0)
    assert cell.codes == ("+?", "..")
    assert cell.share is None
    assert cell.reasons["share"] == "no pair has valid answers"


def test_intervals_draw_instructions() -> None:
    few = np.array([True] * 3 + [False] * 6)
    found, why = clustered_interval(few, np.ones(9, dtype=bool), [i // 3 for i in range(9)])
    assert found is None
    assert "3 questions" in why
    # One pair an instruction: Wilson's 10 of 20 (statistics 5.3).
    half = np.array([True, False] * 10)
    found, why = clustered_interval(half, np.ones(20, dtype=bool), list(range(20)))
    assert found == pytest.approx((0.299298, 0.700702), abs=1e-6)
    # Pairs of an instruction that all agree: as wide as that of the instructions alone.
    found, _ = clustered_interval(np.repeat(half, 5), np.ones(100, dtype=bool), list(np.repeat(range(20), 5)))
    assert found is not None
    assert found == pytest.approx((0.3, 0.7), abs=0.051)
    # Without spread: Wilson's 0 of 20.
    found, why = clustered_interval(np.zeros(100, dtype=bool), np.ones(100, dtype=bool), list(np.repeat(range(20), 5)))
    assert found == pytest.approx((0, 0.161125), abs=1e-6)
    assert why == "Wilson over instructions"


def test_a_low_valid_rate_refuses_a_verdict() -> None:
    items = tuple(Item(f"p{i}", i, (f"{i} a", f"{i} b"), ("first", "first")) for i in range(20))
    plan = ProbePlan("order", items)
    said: dict[str, Choice | None] = {f"{i} {x}": "first" if i < 9 else None for i in range(20) for x in "ab"}
    result = evaluate(Lab(LabSettings(), (plan,), 20, 20), [Judge("single", "Single", "single")], {"single": said})
    cell = result.cell("order", "single")
    assert (cell.valid_first, cell.items, cell.share) == (9, 20, 1.0)
    assert (cell.p, cell.p_holm) == (None, None)
    assert "9 of 20" in cell.reasons["p"]
    assert cell.words == "No verdict: 9 of 20 answers valid"


# Two judges


def _judges(layers: int = 0) -> list[Judge]:
    of_layers = [Judge(f"layer-{i}", f"Layer {i}", "layer", i) for i in range(1, layers + 1)]
    return [Judge("single", "Single judge", "single"), *of_layers, Judge("network", "Network", "network")]


def _lab(n: int, key: str = "bandwagon") -> Lab:
    second: Position = "first" if key == "order" else "second"
    items = tuple(Item(f"p{i}", i, (f"{i} a", f"{i} b"), ("first", second)) for i in range(n))
    return Lab(LabSettings(), (ProbePlan(key, items),), n, n)


def _follows(n: int, biased: set[int]) -> dict[str, Choice | None]:
    """Follows the first prompt's target throughout, the second's only on some pairs."""
    found: dict[str, Choice | None] = {}
    for i in range(n):
        found |= {f"{i} a": "first", f"{i} b": "second" if i in biased else "first"}
    return found


def shifted(lab: Lab, one: Answers, other: Answers) -> Shift:
    plan = lab.probes[0]
    return shift_of(plan, ("single", codes_of(plan.items, one)), ("network", codes_of(plan.items, other)), "valid")


def test_judges_are_compared_pair_by_pair() -> None:
    lab = _lab(100)
    one, other = _follows(100, set(range(10, 50))), _follows(100, set(range(48)) | {99})
    shift = shifted(lab, one, other)
    # McNemar's vector: 2 only by the first, 11 only by the second; exact p by scipy's binomtest(2, 13).
    assert (shift.only_first, shift.only_second, shift.n) == (2, 11, 100)
    assert (shift.first_share, shift.second_share, shift.difference) == (0.4, 0.49, pytest.approx(0.09))
    assert shift.p == pytest.approx(0.022461, abs=1e-6)
    assert shift.interval is not None
    # Wald's interval of the difference, by the formula of statistics 5.6.
    assert shift.interval == pytest.approx((0.09 - 0.068437, 0.09 + 0.068437), abs=0.015)


def test_tests_are_over_instructions_where_pairs_share_them() -> None:
    """Four pairs of each of 25 instructions that are all judged alike are as much as 25 pairs."""
    lab = _lab(100)
    items = tuple(replace(item, question=place // 4) for place, item in enumerate(lab.probes[0].items))
    shared = Lab(LabSettings(), (ProbePlan("bandwagon", items),), 100, 25)
    one, other = _follows(100, set(range(8))), _follows(100, set(range(4, 48)))
    shift = shifted(shared, one, other)
    # One instruction only by the first, ten only by the second.
    assert (shift.only_first, shift.only_second) == (4, 40)
    assert shift.p == pytest.approx(binomtest(1, 11).pvalue)
    plan = shared.probes[0]
    cell = measure(plan, "network", codes_of(plan.items, other), "valid", 0.25)
    # 11 instructions of 4 hits, which are 3 above chance, and 14 of none, 1 below it; far from the exact p over pairs.
    assert cell.p == pytest.approx(chi2.sf((11 * 3 - 14) ** 2 / (11 * 9 + 14), 1))
    assert cell.p > 100 * binomtest(44, 100, 0.25).pvalue
    alone = measure(lab.probes[0], "network", codes_of(lab.probes[0].items, other), "valid", 0.25)
    assert alone.p == pytest.approx(binomtest(44, 100, 0.25).pvalue)
    few = tuple(replace(item, question=place // 20) for place, item in enumerate(lab.probes[0].items))
    plan = ProbePlan("bandwagon", few)
    refused = measure(plan, "network", codes_of(plan.items, other), "valid", 0.25)
    assert refused.p is None
    assert "5 questions" in refused.reasons["p"]


def test_only_pairs_that_count_for_both_are_compared() -> None:
    lab = _lab(3)
    one = {**_follows(3, {0}), "1 a": None}
    shift = shifted(lab, one, {"0 a": "first", "0 b": "first"})
    assert (shift.n, shift.only_first) == (1, 1)
    none = shifted(lab, {}, {})
    assert (none.n, none.p, none.difference) == (0, None, None)
    assert none.reason == "no pair counts for both"


def test_a_judge_whose_answers_are_seldom_valid_is_not_compared() -> None:
    lab = _lab(100)
    one: dict[str, Choice | None] = {**_follows(100, set(range(40))), **{f"{i} a": None for i in range(49)}}
    assert shifted(lab, one, _follows(100, set())).p is not None
    one = {**_follows(100, set(range(90))), **{f"{i} a": None for i in range(51)}}
    shift = shifted(lab, one, _follows(100, set()))
    assert (shift.n, shift.only_first, shift.p) == (49, 39, None)
    assert shift.reason == "fewer than 50% of a judge's first answers are valid"
    result = evaluate(lab, _judges(), {"single": one, "network": _follows(100, set())})
    assert result.headline == "No bias above 0.05 found in the network"
    assert "No verdict on any bias in the single judge. The two cannot be compared." in result.subline
    assert "Single judge: 49 of 100 first answers valid." in result.subline
    assert result.cell("bandwagon", "network").words == "No bias (net effect within ±0.05)"
    alone = evaluate(lab, _judges()[:1], {"single": one})
    assert (alone.headline, alone.subline) == ("No verdict on any bias", "Single judge: 49 of 100 first answers valid.")


def test_a_share_below_the_coin_is_a_bias_all_the_same() -> None:
    lab = _lab(100)
    answers = {"single": _follows(100, set(range(31))), "network": _follows(100, set(range(8)))}
    result = evaluate(lab, _judges(), answers)
    network = result.cell("bandwagon", "network")
    assert network.words == "Follows an invented majority; less biased than the single judge"
    assert (network.conclusion, network.mood) == ("toward_target", "warning")
    # Eight of eight to one side.
    assert network.net_p_holm == pytest.approx(2 * 0.5**8)
    assert result.cell("bandwagon", "single").words == "Follows an invented majority"
    assert result.headline == "The network is biased toward an invented majority"
    assert "The single judge is biased toward an invented majority." in result.subline
    assert "The network is less biased in Bandwagon (net +0.31 → +0.08, p < 0.001)." in result.subline


def test_words_of_order() -> None:
    lab = _lab(100, "order")

    def answers(first: int, last: int) -> dict[str, Choice | None]:
        found: dict[str, Choice | None] = {}
        for i in range(100):
            said = (
                ("first", "first") if i < first else ("second", "second") if i < first + last else ("first", "second")
            )
            found |= {f"{i} a": said[0], f"{i} b": said[1]}  # type: ignore[dict-item]
        return found

    def words(first: int, last: int) -> tuple[str, str]:
        judged = {"single": answers(40, 0), "network": answers(first, last)}
        cell = evaluate(lab, _judges(), judged).cell("order", "network")
        return cell.words, cell.mood

    # As often first as last is noise, and a hundred pairs with so much of it rule out nothing.
    said, mood = words(10, 10)
    assert said.startswith("Not enough pairs to tell (about ")
    assert said.endswith("needed); less biased than the single judge")
    assert mood == "neutral"
    assert words(60, 0) == ("Prefers the first response; more biased than the single judge", "warning")
    # Nothing but the last is no lack of bias.
    assert words(0, 100)[0].startswith("Prefers the last response")
    # A coin's share, and yet all to one side.
    assert words(26, 0) == ("Prefers the first response; less biased than the single judge", "warning")
    assert words(0, 0) == ("No bias (net effect within ±0.05); less biased than the single judge", "good")


def _prefers(own: int, other: int, flips: int) -> dict[str, Choice | None]:
    """Own responses stand first: chosen in both orders, then rivals in both, then the first position."""
    found: dict[str, Choice | None] = {}
    for i in range(own + other + flips):
        found[f"{i} a"] = "second" if own <= i < own + other else "first"
        found[f"{i} b"] = "second" if i < own else "first"
    return found


@pytest.mark.parametrize(
    ("own", "other", "flips", "words", "mood"),
    [
        # A steady judge without the bias chooses its own in half of the pairs, far above the coin's quarter. To rule
        # a net effect of .05 out takes (1.645 + 1.282)² · 101 / 102 / .05² pairs, 3,392.
        (50, 50, 0, "Not enough pairs to tell (about 3,400 needed)", "neutral"),
        (70, 30, 0, "Prefers its own system", "warning"),
        (30, 70, 0, "Prefers other systems", "warning"),
        # 8.564 · 11 / 102 / .05².
        (5, 5, 90, "Not enough pairs to tell (about 370 needed)", "neutral"),
    ],
)
def test_an_own_system_must_beat_its_rivals(own: int, other: int, flips: int, words: str, mood: str) -> None:
    items = tuple(Item(f"p{i}", i, (f"{i} a", f"{i} b"), ("first", "second")) for i in range(100))
    lab = Lab(LabSettings(), (ProbePlan("egocentric", items),), 100, 100)
    judged = {"single": _prefers(own, other, flips), "network": _prefers(50, 50, 0)}
    result = evaluate(lab, _judges(), judged)
    cell = result.cell("egocentric", "single")
    assert (cell.words, cell.mood) == (words, mood)
    assert cell.counts == {"own": own, "other": other, "order-biased": flips, "tie": 0, "invalid": 0}
    shift = result.shift("egocentric", "single", "network")
    assert shift is not None
    assert shift.n == own + other


def test_a_layer_that_makes_it_worse_is_named() -> None:
    lab = _lab(100)
    answers = {
        "single": _follows(100, set(range(44))),
        "layer-1": _follows(100, set(range(38))),
        "layer-2": _follows(100, set(range(55))),
        "network": _follows(100, set(range(50))),
    }
    result = evaluate(lab, _judges(2), answers)
    assert result.cell("bandwagon", "network").words == "Follows an invented majority; layer 2 makes it worse"
    assert result.cell("bandwagon", "network").mood == "bad"
    assert result.headline == "The network is biased toward an invented majority"


def test_a_layer_that_worsens_what_is_not_known_of_the_network_is_a_warning_and_named_first() -> None:
    """Bad is only what is known: words and colour agree."""
    lab = _lab(100)
    answers = {
        "single": _follows(100, set(range(3))),
        "layer-1": _follows(100, set(range(3))),
        "layer-2": _follows(100, set(range(40))),
        "network": _follows(100, set(range(3))),
    }
    cell = evaluate(lab, _judges(2), answers).cell("bandwagon", "network")
    assert cell.conclusion == "unclear"
    assert cell.words.startswith("More biased after layer 2; not enough pairs to tell (about ")
    assert cell.mood == "warning"


def test_shares_without_a_yardstick_are_told_as_they_are() -> None:
    items = tuple(Item(f"p{i}", i, (f"{i}",), ("first",)) for i in range(100))
    lab = Lab(LabSettings(), (ProbePlan("identical", items),), 100, 100)
    said: dict[str, Choice | None] = {f"{i}": "first" if i < 4 else "second" if i < 7 else "tie" for i in range(100)}
    cell = evaluate(lab, [Judge("single", "Single", "single")], {"single": said}).cell("identical", "single")
    assert cell.words.startswith("7 of 100 not judged a tie; not enough pairs to tell (about ")
    assert cell.mood == "neutral"
    assert cell.counts == {"first": 4, "second": 3, "tie": 93, "invalid": 0}
    assert cell.net == pytest.approx(0.01)
    assert cell.p is None


def test_forms_of_a_probe_are_counted_apart() -> None:
    items = tuple(Item(f"p{i}", i, (f"{i} a", f"{i} b"), ("first", "second"), f"form {i % 2}") for i in range(10))
    cell = measured(ProbePlan("planted", items), {**_follows(10, {0, 2, 3}), "4 a": None}, "valid", 0.25)
    assert cell.varieties == {"form 0": (2, 4), "form 1": (1, 5)}


def test_p_as_people_read_it() -> None:
    assert [p_text(p) for p in (0.0001, 0.004, 0.0412, 0.0496, 1.0, None)] == [
        "p < 0.001",
        "p = 0.004",
        "p = 0.04",
        "p = 0.050",
        "p = 1.00",
        "p n/a",
    ]


# Records


def _json_of(result: LabResult) -> dict[str, Any]:
    return as_json(bias_figures(result))


def test_a_result_is_json_without_nan_and_keeps_every_pair() -> None:
    built = build_lab(PAIRS, ("order", "egocentric", "salience"), OWN)
    result = evaluate(built.lab, [Judge("single", "Single", "single")], {"single": ANSWERS})
    record = json.loads(json.dumps(_json_of(result), allow_nan=False))
    assert record["settings"]["own"] == ["J"]
    assert [cell["probe"] for cell in record["cells"]] == ["order", "egocentric", "salience"]
    rows = list(counted_pairs(result))
    assert sum(row["probe"] == "order" for row in rows) == 10
    row = next(row for row in rows if (row["probe"], row["pair_id"]) == ("order", "p1"))
    assert row["answers"] == ["first", "first"]
    assert (row["outcome"], row["counted"], row["biased"]) == ("first", True, True)
    unread = next(row for row in rows if (row["probe"], row["pair_id"]) == ("order", "p4"))
    assert unread["answers"] == ["first", None]
    assert (unread["outcome"], unread["counted"], unread["biased"]) == ("invalid", False, False)


def test_targets_follow_the_order() -> None:
    showing = both_orders(PAIRS[0], OWN, "b")
    assert showing.targets == ("second", "first")


def test_rankings_count_wins_by_appearance() -> None:
    pairs = [
        Pair("1", "Q?", "a1", "b1", model_a="A", model_b="B", human="a"),
        Pair("2", "Q?", "a1", "c1", model_a="A", model_b="C", human="tie"),
        Pair("3", "Q?", "b1", "c1", model_a="B", model_b="C", human="b"),
    ]
    built = build_lab(pairs, ("order",))
    said: dict[str, Choice | None] = {
        "1 · ab": "first",
        "1 · ba": "second",  # A beats B
        "2 · ab": "first",
        "2 · ba": "first",  # conflict: half each
        "3 · ab": "second",
        "3 · ba": "first",  # C beats B
    }
    found = rank_agreement(built.lab.games, [Judge("single", "Single", "single")], {"single": said})
    assert found.shares["single"] == {"A": 0.75, "B": 0.0, "C": 0.75}
    assert found.shares["people"] == {"A": 0.75, "B": 0.0, "C": 0.75}
    assert found.systems == ("A", "B", "C")
    # A and C are tied: half of the random orders agree, the others swap the first two.
    overlap = found.overlaps["single", "people"]
    assert overlap.value == pytest.approx(0.9, abs=0.05)
    none = rank_agreement((), [Judge("single", "Single", "single")], {"single": said})
    assert none.reason


def test_people_one_by_one_are_compared_with_each_judge_and_each_other() -> None:
    # Three people on three systems: x ranks A B C, y the same, z C B A.
    labels = {"AB": ("a", "a", "b"), "AC": ("a", "a", "b"), "BC": ("a", "a", "b")}
    pairs = [
        Pair(
            name,
            "Q?",
            f"text of {name[0]}",
            f"text of {name[1]}",
            model_a=name[0],
            model_b=name[1],
            annotators=tuple(zip("xyz", said, strict=True)),  # type: ignore[arg-type]
        )
        for name, said in labels.items()
    ]
    built = build_lab(pairs, ("order",))
    assert Lab.from_json(json.loads(json.dumps(built.lab.to_json()))) == built.lab
    said: dict[str, Choice | None] = {}
    for name in labels:
        said |= {f"{name} · ab": "first", f"{name} · ba": "second"}
    found = rank_agreement(built.lab.games, [Judge("single", "Single", "single")], {"single": said})
    # Three systems in reverse: A_1 = 0, A_2 = 1/2, A_3 = 1; .2 (.8 / 2 + .64) + .512 = .72.
    assert found.persons == 3
    assert found.among_people is not None
    assert found.among_people.value == pytest.approx((1 + 0.72 + 0.72) / 3)
    assert found.with_people["single"].value == pytest.approx((1 + 1 + 0.72) / 3)
    assert found.overlaps["single", "people"].value == pytest.approx(1.0)


# Verdicts rest on the net effect


def _answered(n: int, first: int, last: int) -> dict[str, Choice | None]:
    """The first response both times, then the last, then the same response in both orders."""
    found: dict[str, Choice | None] = {}
    for i in range(n):
        one: Choice = "second" if first <= i < first + last else "first"
        other: Choice = "first" if i < first else "second"
        found |= {f"{i} a": one, f"{i} b": other}
    return found


@pytest.mark.parametrize(
    ("n", "first", "last", "headline", "conclusion", "mood"),
    [
        (300, 63, 0, "Biased toward the first response", "toward_target", "warning"),
        (300, 31, 0, "Biased toward the first response", "toward_target", "warning"),
        (300, 0, 63, "Biased toward the last response", "toward_rival", "warning"),
        (300, 75, 75, "No significant bias found", "unclear", "neutral"),
        (6, 0, 0, "No significant bias found", "unclear", "neutral"),
        (300, 2, 1, "No bias above 0.05 found", "no_bias", "good"),
        (2000, 30, 5, "No bias above 0.05 found", "negligible", "info"),
    ],
)
def test_the_headline_rests_on_the_net_effect(
    n: int, first: int, last: int, headline: str, conclusion: str, mood: str
) -> None:
    result = evaluate(_lab(n, "order"), _judges()[:1], {"single": _answered(n, first, last)})
    cell = result.cell("order", "single")
    assert (result.headline, cell.conclusion, cell.mood) == (headline, conclusion, mood)
    # The published figure stays.
    assert cell.share == pytest.approx(first / n)
    assert (cell.pairs_needed is not None) == (conclusion == "unclear")


def test_another_margin_is_another_verdict_on_the_same_answers() -> None:
    said = {"single": _answered(300, 2, 1)}
    lab = _lab(300, "order")
    strict = replace(lab, settings=LabSettings(margin=0.01))
    assert evaluate(lab, _judges()[:1], said).cell("order", "single").equivalent is True
    cell = evaluate(strict, _judges()[:1], said).cell("order", "single")
    assert (cell.equivalent, cell.conclusion) == (False, "unclear")
    with pytest.raises(BiasError, match="margin"):
        LabSettings(margin=0.0)


@pytest.mark.parametrize(
    ("key", "hits", "n", "mood"),
    [
        ("planted", 0, 6, "neutral"),
        ("planted", 0, 60, "good"),
        ("planted", 9, 60, "warning"),
        ("identical", 0, 6, "neutral"),
        ("identical", 0, 60, "good"),
        ("identical", 5, 6, "warning"),
        ("repeats", 0, 6, "neutral"),
        ("repeats", 0, 60, "good"),
        ("repeats", 30, 60, "warning"),
    ],
)
def test_a_tick_takes_enough_pairs_and_counts_are_of_those_that_there_are(
    key: str, hits: int, n: int, mood: str
) -> None:
    prompts = 1 if key == "identical" else 2
    targets: tuple[Position, ...] = ("first", "second" if key == "planted" else "first")
    items = tuple(Item(f"p{i}", i, (f"{i} a", f"{i} b")[:prompts], targets[:prompts]) for i in range(n))
    said: dict[str, Choice | None] = {}
    for i in range(n):
        hit: tuple[Choice, Choice] = ("first", "second")
        miss: tuple[Choice, Choice] = ("tie", "tie") if key == "identical" else ("first", "first")
        one, other = hit if i < hits else miss
        said |= {f"{i} a": one, f"{i} b": other}
    lab = Lab(LabSettings(repeats=2), (ProbePlan(key, items),), n, n)
    cell = evaluate(lab, _judges()[:1], {"single": said}).cell(key, "single")
    assert cell.mood == mood
    assert f"{hits} of {n}" in cell.words
    assert ("not enough pairs to tell" in cell.words) == (mood == "neutral")


def test_pairs_that_share_an_instruction_are_tested_by_instruction() -> None:
    # Eight pairs of four instructions, all to the first: 8 of 8 pairs, and p = 2 · .5⁴ over instructions.
    items = tuple(Item(f"p{i}", i // 2, (f"{i} a", f"{i} b"), ("first", "first")) for i in range(8))
    lab = Lab(LabSettings(), (ProbePlan("order", items),), 8, 4)
    cell = evaluate(lab, _judges()[:1], {"single": _answered(8, 8, 0)}).cell("order", "single")
    assert (cell.net, cell.net_over, cell.net_ci) == (1.0, "questions", None)
    assert cell.net_p == pytest.approx(0.125)
    assert cell.words == "Not enough instructions to tell (10 needed)"
    assert (
        "4 questions"
        in _json_of(evaluate(lab, _judges()[:1], {"single": _answered(8, 8, 0)}))["cells"][0]["reasons"]["net_ci"]
    )


def test_noise_that_falls_is_no_bias_that_falls() -> None:
    # Thirty pairs to each side, and then five: the share falls from .30 to .05, the net effect stays 0.
    judged = {"single": _answered(100, 30, 30), "network": _answered(100, 5, 5)}
    result = evaluate(_lab(100, "order"), _judges(), judged)
    shift = result.shift("order", "single", "network")
    assert shift is not None
    assert shift.difference == pytest.approx(-0.25)
    assert shift.net_difference == 0.0
    assert not shift.clear
    assert "No probe shows a significant difference between the two." in result.subline


def test_the_probes_name_both_sides() -> None:
    for key, probe in PROBES.items():
        assert probe.above, key
        assert probe.has_rival == bool(probe.against) == all(probe.toward), key
        assert probe.has_rival or probe.rate, key


def test_planned_pairs_are_rounded_up_to_two_digits() -> None:
    assert [rounded(pairs) for pairs in (7, 65, 101, 245, 999, 1778)] == [7, 65, 110, 250, 1000, 1800]


def test_no_valid_pair_is_no_verdict_however_shares_are_divided() -> None:
    # The second answers are all unreadable: the paper's code divides by all pairs, and a net effect there is none.
    said: dict[str, Choice | None] = {f"{i} {x}": "first" if x == "a" else None for i in range(20) for x in "ab"}
    lab = replace(_lab(20, "order"), settings=LabSettings(denominator="paper"))
    result = evaluate(lab, _judges()[:1], {"single": said})
    cell = result.cell("order", "single")
    assert (cell.share, cell.net, cell.conclusion, cell.mood) == (0.0, None, "none", "none")
    assert cell.words == "No verdict: 0 of 20 pairs have valid answers to all prompts"
    assert result.headline == "No verdict on any bias"
    [record] = _json_of(result)["cells"]
    assert all(record["reasons"].get(key) for key, value in record.items() if value is None)


def test_few_steady_pairs_of_few_instructions_say_why_there_is_no_plan() -> None:
    # Forty pairs of eight instructions; five of them, each of its own instruction, are judged alike in both orders.
    items = tuple(Item(f"p{i}", i % 8, (f"{i} a", f"{i} b"), ("first", "second")) for i in range(40))
    said: dict[str, Choice | None] = {}
    for i in range(40):
        said |= {f"{i} a": "first", f"{i} b": "second" if i < 5 else "first"}
    lab = Lab(LabSettings(), (ProbePlan("salience", items),), 40, 8)
    [record] = _json_of(evaluate(lab, _judges()[:1], {"single": said}))["cells"]
    assert (record["conclusion"], record["equivalent"], record["pairs_needed"]) == ("unclear", None, None)
    assert "8 questions" in record["reasons"]["equivalent"]
    assert all(record["reasons"].get(key) for key, value in record.items() if value is None)
