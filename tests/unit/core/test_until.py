"""Rules by which a run stops when enough is known, and the order in which it asks meanwhile."""

from __future__ import annotations

import pytest

from judgenet.core.asking_order import asking_order, order_seed
from judgenet.core.until import UntilCondition, UntilError, parse_until


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("c2_all excludes 50%", [UntilCondition("win_rate", "c2_all", "excludes", 0.5)]),
        ("width <= 0.1", [UntilCondition("win_rate", None, "width", 0.1)]),
        ("width<.1", [UntilCondition("win_rate", None, "width", 0.1)]),
        ("c1.accuracy above 70 %", [UntilCondition("accuracy", "c1", "above", 0.7)]),
        ("corrected below .4", [UntilCondition("corrected", None, "below", 0.4)]),
        (
            "  chair excludes 50%  OR  accuracy width <= 10% ",
            [
                UntilCondition("win_rate", "chair", "excludes", 0.5),
                UntilCondition("accuracy", None, "width", 0.1),
            ],
        ),
    ],
)
def test_rules_are_read(text: str, conditions: list[UntilCondition]) -> None:
    assert list(parse_until(text).conditions) == conditions


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'' is no condition. Write one such as 'c2_all excludes 50%'"),
        ("c2_all = 50%", "'c2_all = 50%' is no condition"),
        ("c2_all excludes 50% and width <= .1", "joined by 'or'"),
        ("c2_all excludes 120%", "120% is not between 0% and 100% (0 and 1), both left out."),
        ("width <= 0", "0 is not between 0% and 100%"),
        ("width 0.1", "write it as 'width <= 0.1'"),
        ("width >= 0.1", "write it as 'width <= 0.1'"),
        ("excludes <= 50%", "write it as 'excludes 50%'"),
        (
            "c2_all.kappa above 60%",
            "kappa is no figure that a run can stop by. Choose win_rate, accuracy or corrected.",
        ),
    ],
)
def test_other_rules_are_refused_with_what_to_write(text: str, words: str) -> None:
    with pytest.raises(UntilError) as error:
        parse_until(text)
    assert words in str(error.value)


def test_an_aggregation_must_be_the_networks() -> None:
    rule = parse_until("c2_l3 excludes 50%")
    with pytest.raises(UntilError, match=r"c2_l3, which this network does not have\. It has c1, c2_all"):
        rule.require_known(("c1", "c2_all"))
    rule.require_known(("c1", "c2_l3"))


def test_questions_are_drawn_whole_by_the_seed() -> None:
    questions = [0, 1, 0, 2, 1, 3, 3, 3]
    order = asking_order(7, questions)
    assert sorted(order) == list(range(8))
    blocks = [questions[place] for place in order]
    assert [of for at, of in enumerate(blocks) if of not in blocks[:at]] == list(dict.fromkeys(blocks))
    assert all(blocks[at] == blocks[at - 1] or blocks[at] not in blocks[:at] for at in range(1, 8))
    places = {of: [place for place in order if questions[place] == of] for of in range(4)}
    assert all(of == sorted(of) for of in places.values())
    assert order == asking_order(7, questions)
    assert len({tuple(asking_order(seed, questions)) for seed in range(20)}) > 10


def test_the_first_question_is_any_of_them_by_the_seed() -> None:
    """Drawn evenly: of 2,000 seeds each of four questions is first in a quarter, up to four standard errors."""
    first = [asking_order(seed, [0, 1, 2, 3])[0] for seed in range(2000)]
    assert all(abs(first.count(of) - 500) < 4 * (2000 * 0.25 * 0.75) ** 0.5 for of in range(4))


def test_the_seed_is_that_of_the_record() -> None:
    assert order_seed({"order": {"seed": 3}}) == 3
    assert order_seed({}) is None
    assert order_seed({"order": "file"}) is None
