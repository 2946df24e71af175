"""The import doctor."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judgenet.core.pairs import Pair, Verdict
from judgenet.formats import findings
from judgenet.formats.findings import Finding, examine

PAIR = Pair("1", "q", "x", "y", human="a")


def found(*pairs: Pair) -> dict[str, Finding]:
    numbered = [replace(pair, id=str(number)) for number, pair in enumerate(pairs, 1)]
    return {finding.kind: finding for finding in examine(numbered)}


def swapped(human: Verdict | None) -> Pair:
    return replace(PAIR, response_a="y", response_b="x", human=human)


def test_nothing_to_find() -> None:
    assert set(found(PAIR, replace(PAIR, question="other", human="b"))) == {"label_balance"}


def test_duplicates() -> None:
    findings = found(PAIR, PAIR, replace(PAIR, question="other"), swapped("b"), PAIR)
    assert findings["duplicate"].ids == ("2", "5")
    assert findings["swapped_duplicate"].ids == ("4", "5")
    assert "conflicting_label" not in findings


@pytest.mark.parametrize(
    ("second", "conflict"),
    [
        (replace(PAIR, human="b"), True),
        (replace(PAIR, human="tie"), True),
        (replace(PAIR, human=None), False),
        (swapped("b"), False),
        (swapped("a"), True),
        (swapped("tie"), True),
        (swapped(None), False),
    ],
)
def test_conflicting_labels(second: Pair, conflict: bool) -> None:
    findings = found(PAIR, second)
    assert ("conflicting_label" in findings) == conflict
    if conflict:
        assert findings["conflicting_label"].ids == ("2",)
        assert findings["conflicting_label"].severity == "warning"


def test_identical_responses_are_no_swapped_duplicates() -> None:
    same = replace(PAIR, response_b="x")
    findings = found(same, same)
    assert findings["identical_responses"].count == 2
    assert findings["duplicate"].count == 1
    assert "swapped_duplicate" not in findings


def test_empty_texts() -> None:
    findings = found(replace(PAIR, question=" "), replace(PAIR, response_a=""), replace(PAIR, response_b="\n \t"), PAIR)
    assert findings["empty_question"].ids == ("1",)
    assert findings["empty_response"].ids == ("2", "3")


def test_long_pairs_are_counted_in_bytes() -> None:
    findings = found(
        replace(PAIR, response_a="x" * 12_001),
        replace(PAIR, response_a="x" * 11_997),
        replace(PAIR, question="字" * 2_000, response_b="字" * 2_001),
        replace(PAIR, reference="\ud800" * 4_001),
    )
    assert findings["long_pair"].ids == ("1", "3", "4")


@pytest.mark.parametrize(
    ("pair", "named"),
    [
        (replace(PAIR, response_a="I am ChatGPT, how can I help?"), True),
        (replace(PAIR, response_b="I was made by OpenAI."), True),
        (replace(PAIR, response_b="As vicuna-13b I think", model_b="vicuna-13b"), True),
        (replace(PAIR, response_a="my name is Claude"), True),
        (replace(PAIR, response_a="Claude Monet painted lilies under Gemini."), False),
        (replace(PAIR, response_a="ChatGPT is a program", question="What is ChatGPT?"), False),
        (replace(PAIR, response_a="As vicuna-13b I think", model_b="vicuna-13b"), False),
        (replace(PAIR, response_a="I opt for it", model_a="opt"), False),
    ],
)
def test_models_that_name_themselves(pair: Pair, named: bool) -> None:
    assert ("model_named" in found(pair)) == named


@pytest.mark.parametrize(
    ("humans", "severity", "counts", "share"),
    [
        (["a", "b", "tie", None], "note", "A 1, B 1, tie 1 of 3 labelled pairs", "33.3%"),
        (["a"] * 8 + ["b"] * 2, "warning", "A 8, B 2, tie 0 of 10 labelled pairs", "80.0%"),
        (["b"] * 7 + ["a"] * 2, "note", "A 2, B 7, tie 0 of 9 labelled pairs", "77.8%"),
    ],
)
def test_balance(humans: list[Verdict | None], severity: str, counts: str, share: str) -> None:
    balance = found(*(replace(PAIR, human=human) for human in humans))["label_balance"]
    assert balance.severity == severity
    assert balance.count == len([human for human in humans if human])
    assert balance.message.startswith(counts)
    assert balance.message.endswith(f"right in {share}.")


def test_no_labels_at_all() -> None:
    findings = found(replace(PAIR, human=None))
    assert "label_balance" not in findings
    assert findings["no_labels"].count == 1


def test_one_side_that_is_longer() -> None:
    pairs = [replace(PAIR, question=str(number), response_a="x" * 100, response_b="y" * 145) for number in range(20)]
    finding = found(*pairs)["length_difference"]
    assert (finding.figure, finding.count, finding.severity) == ("+45%", 20, "note")
    assert "B is longer: the median has 145 characters against 100" in finding.message
    assert "length_difference" not in found(*pairs[:19])
    assert "length_difference" not in found(*(replace(pair, response_a="x" * 125) for pair in pairs))
    swapped_sides = [replace(pair, response_a=pair.response_b, response_b=pair.response_a) for pair in pairs]
    assert "A is longer" in found(*swapped_sides)["length_difference"].message


def test_every_kind_has_words_for_people() -> None:
    assert set(findings.OF_PAIRS) <= set(findings.TITLES)
    assert Finding("duplicate", "warning", 1, "").title == "Same pair twice"
    assert Finding("something_else", "note", 1, "").title == "Something else"
