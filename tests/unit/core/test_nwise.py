"""N-wise ranking: who is put in order, what is asked, and how an order is read."""

from __future__ import annotations

import pytest

from judgenet.core.bias.base import BiasError, LabSettings
from judgenet.core.bias.nwise import groups_of, read_order
from judgenet.core.evaluation import Reason, Unscored
from judgenet.core.pairs import Pair
from judgenet.core.prompts import PromptBook, PromptError, mark_of

SYSTEMS = ("alpha", "beta", "gamma", "delta")
PAIRS = [
    Pair(f"{q}{one}{other}", f"Question {q}?", f"{one} says {q}", f"{other} says {q}", model_a=one, model_b=other)
    for q in range(3)
    for place, one in enumerate(SYSTEMS)
    for other in SYSTEMS[place + 1 :]
]
BOOK = PromptBook.default()


def test_all_systems_of_an_instruction_are_put_in_order_each_once() -> None:
    found = groups_of(PAIRS, 4)
    assert [group.question for group in found.groups] == [0, 1, 2]
    for group in found.groups:
        assert sorted(group.systems) == sorted(SYSTEMS)
        assert group.responses == tuple(f"{name} says {group.question}" for name in group.systems)
    # Shown in an order of their own, which the seed decides.
    assert len({group.systems for group in found.groups}) > 1
    assert groups_of(PAIRS, 4) == found
    assert groups_of(PAIRS, 4, LabSettings(seed=1)) != found
    assert {len(group.systems) for group in groups_of(PAIRS, 3).groups} == {3}


def test_instructions_with_too_few_systems_are_said() -> None:
    more = [*PAIRS, Pair("x", "Another?", "a", "b", model_a="alpha", model_b="beta"), Pair("y", "Third?", "a", "b")]
    assert groups_of(more, 3).left_out == {"fewer than 3 named systems": 2}
    with pytest.raises(BiasError, match="5 named systems"):
        groups_of(PAIRS, 5)
    with pytest.raises(BiasError, match="2 to 26"):
        groups_of(PAIRS, 1)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("form", ["json", "text"])
def test_the_prompt_holds_every_response_once_in_its_own_block(language: str, form: str) -> None:
    group = groups_of(PAIRS, 4).groups[0]
    mark = mark_of(group.material, "salt")
    prompt = BOOK.ranking(group.pair, group.responses, mark=mark, form=form, language=language, family="general")  # type: ignore[arg-type]
    text = prompt.user
    name = {"en": "Response {}", "zh": "回答{}"}[language]
    for number, response in enumerate(group.responses, 1):
        assert f"<<{name.format(number)} · {mark}>>\n{response}\n<<" in text
        assert text.count(response) == 1
    assert '{"ranking": [' in text if form == "json" else ("Ranking:" in text or "排名：" in text)
    assert not any(system in prompt.own for system in SYSTEMS)


def test_one_response_has_no_order() -> None:
    with pytest.raises(PromptError, match="Two responses"):
        BOOK.ranking(PAIRS[0], ["a"], mark="m", form="text", language="en", family="general")


@pytest.mark.parametrize(
    "text",
    [
        '{"ranking": [3, 1, 4, 2]}',
        'Here it is:\n```json\n{"ranking": ["Response 3", "1", 4, 2]}\n```',
        "Ranking: 3 > 1 > 4 > 2",
        "I thought of 1 > 2 > 3 > 4 first.\n\n**Ranking:** Response 3 > Response 1 > Response 4 > Response 2",
        "ranking: 3, 1, 4, 2.",
        "排名：3 > 1 > 4 > 2",
        "Ranking:\n1. Response 3\n2. Response 1\n3. Response 4\n4. Response 2",
        "<think>4 > 3 > 2 > 1</think>3 > 1 > 4 > 2",
        "Ranking: 1 > 2 > 3 > 4\nOn reflection:\nRanking: 3 > 1 > 4 > 2",
    ],
)
def test_orders_are_read(text: str) -> None:
    assert read_order(text, 4) == (2, 0, 3, 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Reason.EMPTY),
        ("All four are fine.", Reason.UNPARSED),
        ("Ranking: 3 > 1 > 4", Reason.UNPARSED),
        ("Ranking: 3 > 1 > 4 > 5", Reason.OUT_OF_RANGE),
        ("Ranking: 3 > 1 > 3 > 2", Reason.CONTRADICTORY),
        ("Ranking: 3 > 1 = 4 > 2", Reason.UNPARSED),
        ('{"ranking": [1, 2, [3], 4]}', Reason.UNPARSED),
        # No going back behind a last order that is none.
        ("Ranking: 1 > 2 > 3 > 4\nRanking: 1 > 2", Reason.UNPARSED),
        ("Response 3 has 10 points and Response 1 has 2", Reason.UNPARSED),
    ],
)
def test_what_is_no_order_is_unscored(text: str, reason: Reason) -> None:
    found = read_order(text, 4)
    assert isinstance(found, Unscored)
    assert found.reason is reason


def test_an_order_that_was_cut_or_withheld_says_so() -> None:
    for finish, reason in (("length", Reason.TRUNCATED), ("filtered", Reason.FILTERED), ("refused", Reason.REFUSED)):
        found = read_order("Ranking: 3 > 1", 4, finish)
        assert isinstance(found, Unscored)
        assert found.reason is reason
