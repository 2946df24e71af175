"""Changes of single pairs that a project keeps."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from judgenet.core.documents import DocumentError
from judgenet.core.pair_edits import edit_pair, with_edits, without_edits
from judgenet.core.pairs import Pair, data_hash
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project, Selection, select

PAIRS = tuple(Pair(f"p{n}", f"Question {n}?", "one", "two", human="a") for n in range(5))


def test_a_change_keeps_what_the_file_says_and_goes_when_it_says_the_same_again() -> None:
    edits = edit_pair({}, PAIRS[1], {"question": "Q", "human": "b"})
    assert edits == {"p1": {"question": ("Question 1?", "Q"), "human": ("a", "b")}}
    changed = with_edits(PAIRS, edits)
    assert changed[1] == replace(PAIRS[1], question="Q", human="b")
    assert [pair for place, pair in enumerate(changed) if place != 1] == [PAIRS[0], *PAIRS[2:]]
    again = edit_pair(edits, changed[1], {"question": "Another"})
    assert again["p1"]["question"] == ("Question 1?", "Another")
    back = edit_pair(again, with_edits(PAIRS, again)[1], {"question": "Question 1?", "human": "a"})
    assert back == {}
    assert without_edits(changed[1], edits) == PAIRS[1]


def test_another_text_is_another_content_and_another_label_is_not() -> None:
    label = with_edits(PAIRS, edit_pair({}, PAIRS[0], {"human": None}))
    assert label[0].human is None
    assert data_hash(label) == data_hash(PAIRS)
    text = with_edits(PAIRS, edit_pair({}, PAIRS[0], {"response_a": "One"}))
    assert text[0].content_hash != PAIRS[0].content_hash


def test_a_change_is_not_made_to_what_the_file_says_otherwise_now() -> None:
    edits = edit_pair({}, PAIRS[0], {"question": "Q"})
    newer = (replace(PAIRS[0], question="Written anew?"), *PAIRS[1:])
    assert with_edits(newer, edits) == newer
    assert with_edits(PAIRS[1:], edits) == PAIRS[1:]


def test_changes_and_pairs_left_out_are_kept_in_the_project() -> None:
    edits = edit_pair({}, PAIRS[2], {"human": None, "response_b": "three\r\n"})
    source = PairsSource(("pairs.jsonl",), selection=Selection(left_out=("p0", "p4")), edits=edits)
    project = Project.new("study", network(1, 1), source)
    text = project.dumps()
    assert Project.loads(text) == project
    assert json.loads(text)["pairs"]["edits"]["p2"]["human"] == {"from": "a", "to": None}
    plain = Project.new("study", network(1, 1), PairsSource(("pairs.jsonl",)))
    assert "edits" not in json.loads(plain.dumps())["pairs"]


@pytest.mark.parametrize(
    ("edits", "where"),
    [
        ({"p1": {"id": {"from": "a", "to": "b"}}}, "id"),
        ({"p1": {"human": {"from": "a", "to": "A"}}}, "to"),
        ({"p1": {"question": {"from": None, "to": "b"}}}, "from"),
    ],
)
def test_changes_that_cannot_be_are_refused_with_their_place(edits: object, where: str) -> None:
    project = json.loads(Project.new("study", network(1, 1), PairsSource(("pairs.jsonl",))).dumps())
    project["pairs"]["edits"] = edits
    with pytest.raises(DocumentError, match=rf"pairs\.edits.*{where}"):
        Project.loads(json.dumps(project))


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        (Selection(), ["p0", "p2", "p3", "p4"]),
        (Selection("first", 3), ["p0", "p2"]),
        (Selection("ids", ids=("p1", "p3")), ["p3"]),
    ],
)
def test_pairs_left_out_are_not_judged_however_they_were_selected(selection: Selection, ids: list[str]) -> None:
    assert [pair.id for pair in select(PAIRS, replace(selection, left_out=("p1",)))] == ids
