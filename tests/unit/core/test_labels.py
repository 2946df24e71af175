"""Labels of several people become one a pair, and it is known where that comes from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judgenet.core.labels import NOBODY, Chosen, HumanLabel, LabelRules, Said, in_force, merged
from judgenet.core.pairs import Pair, Verdict

PAIR = Pair("p", "Why?", "So.", "Because.")
FROM_FILE = replace(PAIR, human="a")
RULES = LabelRules()


def label(annotator: str, said: Said, chosen: Chosen = "random", **more: object) -> HumanLabel:
    return HumanLabel("p", PAIR.content_hash, annotator, said, chosen, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "human"),
    [
        (["a"], "a"),
        (["a", "a", "b"], "a"),
        (["a", "b"], "tie"),
        (["a", "b", "tie"], "tie"),
        (["tie", "tie", "a"], "tie"),
        (["a", "skip"], "a"),
        (["b", "unsure", "skip"], "b"),
        (["skip"], None),
        (["unsure", "unsure"], None),
    ],
)
def test_the_majority_counts_and_who_gave_no_label_has_no_vote(said: list[Said], human: Verdict | None) -> None:
    labels = [label(f"n{i}", one) for i, one in enumerate(said)]
    pair, people = merged(PAIR, labels, RULES)
    assert pair.human == human
    votes = [one for one in said if one not in ("skip", "unsure")]
    assert [one for _, one in pair.annotators] == votes
    assert people.chosen == ("random" if human else None)
    assert people.disputed is (len(set(votes)) > 1)
    assert people.without == ("" if human else "undecided")


def test_no_majority_may_count_as_no_label() -> None:
    pair, people = merged(PAIR, [label("x", "a"), label("y", "b")], LabelRules("drop"))
    assert (pair.human, people.chosen, people.without, people.disputed) == (None, None, "no majority", True)


def test_a_settled_disagreement_wins_over_the_majority() -> None:
    said = [label("x", "a"), label("y", "a"), label("z", "b"), label("z", "b", settles=True)]
    pair, people = merged(PAIR, said, RULES)
    assert (pair.human, people.settled_by, people.disputed) == ("b", "z", False)
    assert dict(pair.annotators) == {"x": "a", "y": "a", "z": "b"}


def test_a_pair_whose_file_gives_annotators_and_no_label_says_why_it_has_none() -> None:
    split = replace(PAIR, annotators=(("x", "a"), ("y", "b")))
    assert merged(split, [], RULES)[1].without == "no majority"
    assert merged(replace(PAIR, annotators=(("x", "a"),)), [], RULES)[1].without == "no label in the file"
    assert merged(replace(split, human="tie"), [], RULES)[1].without == ""


def test_the_file_is_one_annotator_and_its_label_is_imported() -> None:
    assert merged(PAIR, [], RULES) == (PAIR, NOBODY)
    pair, people = merged(FROM_FILE, [], RULES)
    assert (pair, people.chosen) == (FROM_FILE, "imported")
    pair, people = merged(FROM_FILE, [label("x", "b")], RULES)
    assert (pair.human, people.chosen, people.disputed) == ("tie", "random", True)
    assert dict(pair.annotators) == {"data file": "a", "x": "b"}
    named = replace(FROM_FILE, annotators=(("x", "a"), ("y", "a")))
    pair, _ = merged(named, [label("x", "b")], RULES)
    assert dict(pair.annotators) == {"y": "a", "x": "b"}
    assert merged(FROM_FILE, [], LabelRules(file_chosen="random"))[1].chosen == "random"


def test_a_targeted_review_never_becomes_the_label() -> None:
    pair, people = merged(PAIR, [label("x", "b", "targeted")], RULES)
    assert (pair.human, pair.annotators, people.chosen) == (None, (), None)
    assert (people.targeted, people.without) == ("b", "targeted")
    pair, people = merged(PAIR, [label("x", "a"), label("x", "b", "targeted")], RULES)
    assert (pair.human, people.chosen, people.targeted) == ("a", "random", "b")
    pair, people = merged(FROM_FILE, [], LabelRules(file_chosen="targeted"))
    assert (pair.human, people.chosen, people.targeted, people.without) == (None, None, "a", "targeted")
    settled = [label("x", "a", "targeted"), label("y", "b", "targeted"), label("z", "b", "targeted", settles=True)]
    assert merged(PAIR, settled, RULES)[0].human is None


def test_the_most_telling_way_of_choosing_is_that_of_the_pair() -> None:
    drawn = label("x", "a", "within-verdict", within="run-1/c1", population=90)
    _, people = merged(PAIR, [drawn, label("y", "a", "imported")], RULES)
    assert (people.chosen, people.within, people.population) == ("within-verdict", frozenset({"run-1/c1"}), 90)
    _, people = merged(PAIR, [drawn, label("y", "a", population=40)], RULES)
    assert (people.chosen, people.within, people.population) == ("random", frozenset(), 40)


def test_a_pair_whose_text_was_changed_keeps_no_label() -> None:
    changed = replace(PAIR, response_a="So not.")
    pair, people = merged(changed, [label("x", "a")], RULES)
    assert (pair.human, people.chosen, people.without) == (None, None, "text changed")


def test_the_last_label_that_was_not_taken_back_is_in_force() -> None:
    first, second = label("x", "a", number=1), label("x", "b", number=2)
    other, targeted = label("y", "b", number=3), label("x", "tie", "targeted", number=4)
    history = [first, second, other, targeted]
    assert in_force(history) == [second, other, targeted]
    assert in_force(history, frozenset({2})) == [first, other, targeted]
    assert in_force(history, frozenset({1, 2, 3})) == [targeted]
    ruled = [label("y", "a", settles=True, number=5), label("z", "b", settles=True, number=6)]
    assert in_force(ruled) == [ruled[1]]
