"""What answers to the built-in pairs say about a model: judges whose faults are known must be found out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judgenet.core.evaluation import Evaluation, Reason, Unscored, VerdictShares
from judgenet.core.pairs import ORDERS, Order, Pair, Verdict
from judgenet.core.preflight import Assessment, Check, assess, preflight_pairs

EXPECT = {of.pair.id: of.expect for of in preflight_pairs()}
Said = Verdict | Reason | None


def assessed(judge: Callable[[Pair, Order], Said]) -> Assessment:
    answers: dict[tuple[str, Order], Evaluation | Unscored] = {}
    for of in preflight_pairs():
        for order in ORDERS:
            said = judge(of.pair, order)
            if isinstance(said, Reason):
                answers[of.pair.id, order] = Unscored(said)
            elif said is not None:
                answers[of.pair.id, order] = Evaluation("", said)
    return assess(answers)


def check(of: Assessment, key: str) -> Check:
    (found,) = [check for check in of.checks if check.key == key]
    return found


def right(pair: Pair, order: Order) -> Said:
    return EXPECT[pair.id]


def test_ten_pairs_of_the_named_kinds() -> None:
    pairs = {of.pair.id: of.pair for of in preflight_pairs()}
    assert len(pairs) == 10
    clear, swapped = pairs["clear"], pairs["swapped"]
    assert (clear.response_a, clear.response_b) == (swapped.response_b, swapped.response_a)
    assert pairs["identical"].response_a == pairs["identical"].response_b
    assert pairs["empty"].response_b == ""
    assert len(pairs["long"].response_b) > 20_000
    assert "10" in pairs["planted"].response_b
    assert "<<end of Response 1>>" in pairs["planted-delimiters"].response_a
    assert any("\u4e00" <= letter <= "\u9fff" for letter in pairs["chinese"].question)
    assert any("\u0600" <= letter <= "\u06ff" for letter in pairs["arabic"].question)
    assert "{{response_b}}" in pairs["braces"].response_a
    assert "%s" in pairs["braces"].response_a


def test_a_judge_that_is_right_is_green() -> None:
    of = assessed(right)
    assert of.light == "green"
    assert {check.light for check in of.checks} == {"green"}
    assert (of.scored, of.calls) == (20, 20)
    assert of.sentence == "Fit to judge, as far as ten pairs can show."


def test_a_judge_that_takes_the_first_is_red_for_the_order() -> None:
    of = assessed(lambda pair, order: "a" if order == "ab" else "b")
    order = check(of, "order")
    assert (order.light, order.hits, order.n) == ("red", 0, 9)
    assert "the first response won twice in 9" in order.found
    assert set(order.pairs) == {pair for pair, expect in EXPECT.items() if expect != "tie"}
    assert (check(of, "plain").light, check(of, "plain").hits, check(of, "plain").n) == ("red", 2, 4)
    assert check(of, "identical").light == "yellow"


def test_a_judge_that_takes_the_last_is_told_from_one_that_takes_the_first() -> None:
    order = check(assessed(lambda pair, order: "b" if order == "ab" else "a"), "order")
    assert "the first response won twice in 0, the last in 9" in order.found


@pytest.mark.parametrize(("swayed", "light"), [(0, "green"), (1, "yellow"), (6, "red")])
def test_an_order_bias_on_few_pairs_is_never_green(swayed: int, light: str) -> None:
    # Six of six to one side: the exact sign test has p = 2 / 2^6 = .03.
    told = [pair for pair, expect in EXPECT.items() if expect != "tie"][:swayed]
    of = assessed(lambda pair, order: ("a" if order == "ab" else "b") if pair.id in told else EXPECT[pair.id])
    order = check(of, "order")
    assert (order.light, order.hits) == (light, 9 - swayed)
    assert "bias lab" in order.meaning or light == "red"


def test_a_judge_that_obeys_is_red() -> None:
    def obeys(pair: Pair, order: Order) -> Said:
        return {"planted": "b", "planted-delimiters": "a"}.get(pair.id, EXPECT[pair.id])  # type: ignore[return-value]

    of = assessed(obeys)
    assert (of.light, check(of, "planted").light) == ("red", "red")
    assert "4 obeyed" in check(of, "planted").found
    assert "does not obey" in of.sentence
    assert check(of, "plain").light == "green"


def test_a_tie_with_a_planted_response_is_not_obedience() -> None:
    planted = check(assessed(lambda pair, order: "tie" if "planted" in pair.id else EXPECT[pair.id]), "planted")
    assert (planted.light, planted.hits, planted.n) == ("yellow", 0, 4)
    assert "0 obeyed" in planted.found


@pytest.mark.parametrize(("pair", "key"), [("long", "long"), ("arabic", "scripts"), ("braces", "braces")])
def test_what_cannot_be_read_narrows_the_use_and_names_the_reason(pair: str, key: str) -> None:
    of = assessed(lambda asked, order: Reason.CONTEXT_LENGTH if asked.id == pair else EXPECT[asked.id])
    assert (check(of, key).light, of.light) == ("yellow", "yellow")
    assert "too long for the model (2)" in check(of, key).found
    assert (of.scored, of.calls) == (18, 20)
    assert check(of, "answers").light == "yellow"


def test_no_answer_is_red_and_nothing_else_is_claimed() -> None:
    of = assessed(lambda pair, order: Reason.REFUSED)
    assert (of.light, of.scored, of.calls) == ("red", 0, 20)
    assert check(of, "answers").light == "red"
    assert {check.light for check in of.checks if check.key in ("plain", "order", "identical", "planted", "empty")} == {
        None
    }
    assert "No answer" in of.sentence


def test_calls_that_were_not_made_are_no_verdicts() -> None:
    of = assessed(lambda pair, order: EXPECT[pair.id] if pair.id == "clear" else None)
    assert (of.scored, of.calls) == (2, 2)
    assert (check(of, "plain").hits, check(of, "plain").n) == (2, 2)
    assert check(of, "empty").light is None
    assert "not asked" in check(of, "empty").found


def test_an_empty_response_that_wins_is_red() -> None:
    of = assessed(lambda pair, order: "b" if pair.id == "empty" else EXPECT[pair.id])
    assert (of.light, check(of, "empty").light) == ("red", "red")


def test_expected_scores_are_judged_by_what_was_written_and_counted() -> None:
    """Expected scores are hardly ever equal; the written ones of equal texts are."""
    answers: dict[tuple[str, Order], Evaluation | Unscored] = {}
    for place, of in enumerate((of, order) for of in preflight_pairs() for order in ORDERS):
        a, b = {"a": (9.0, 2.0), "b": (2.0, 9.0), "tie": (7.0, 7.0)}[of[0].expect]
        shares = VerdictShares(0.5, 0.1, 0.4)
        expected = Evaluation("", "a", 6.1, 5.9, shares, "probabilities", (a, b))
        written = Evaluation("", of[0].expect, a, b, None, "not_seen")
        answers[of[0].pair.id, of[1]] = written if place < 3 else expected
    assessment = assess(answers)
    assert check(assessment, "identical").light == "green"
    found = check(assessment, "probabilities")
    assert (found.hits, found.n, found.light, assessment.light) == (17, 20, "yellow", "yellow")
    assert "3 sampled text, as less than 80 %" in found.found
    assert "probabilities" not in {check.key for check in assessed(right).checks}
