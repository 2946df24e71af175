"""The normal form: majority, hashes, JSON."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from judgenet.core.pairs import Pair, Source, Verdict, data_hash, majority

PAIR = Pair("p1", "Why?", "Because.", "No idea.", human="a")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["a", "a", "b"], "a"),
        (["b", "tie", "b"], "b"),
        (["tie", "tie", "a"], "tie"),
        (["a"], "a"),
        (["a", "b"], "tie"),
        (["a", "b", "tie"], "tie"),
        (["a", "a", "b", "b"], "tie"),
        # Two of five is the most, but not the majority.
        (["a", "a", "b", "tie", "tie"], "tie"),
    ],
)
def test_majority_is_more_than_half(labels: list[Verdict], expected: Verdict) -> None:
    assert majority(labels) == expected
    assert majority(reversed(labels)) == expected


def test_without_a_majority_the_rule_decides() -> None:
    assert majority(["a", "b"], None) is None
    assert majority(["a", "b", "tie"], "b") == "b"
    assert majority(["a", "a", "b"], None) == "a"


def test_no_labels_are_no_label_and_not_a_tie() -> None:
    assert majority([]) is None
    assert majority([], "a") is None


def test_json_round_trip_keeps_all_but_the_source() -> None:
    pair = Pair(
        "007",
        " q\n",
        "",
        "\ud800",
        reference="r",
        model_a="m1",
        model_b="m2",
        task="t",
        tags=("x", "y"),
        human="tie",
        annotators=(("zoë", "b"), ("ann", "tie")),
        source=Source("f.jsonl", 3),
    )
    again = Pair.from_json(json.loads(json.dumps(pair.to_json())))
    assert again == pair
    assert again.annotators == (("zoë", "b"), ("ann", "tie"))
    assert again.source is None


def test_json_leaves_out_what_is_not_there() -> None:
    assert Pair("1", "q", "x", "y").to_json() == {"id": "1", "question": "q", "response_a": "x", "response_b": "y"}


def test_content_hash_is_of_what_a_judge_sees() -> None:
    seen = json.dumps(["Why?", "Because.", "No idea.", None, None]).encode()
    assert PAIR.content_hash == hashlib.sha256(seen).hexdigest()
    same = replace(PAIR, id="p2", human="b", model_a="m", tags=("t",), annotators=(("x", "a"),))
    assert same.content_hash == PAIR.content_hash


@pytest.mark.parametrize("part", ["question", "response_a", "response_b", "reference", "task"])
def test_content_hash_changes_with_each_part(part: str) -> None:
    assert replace(PAIR, **{part: "other"}).content_hash != PAIR.content_hash


def test_content_hash_tells_white_space_order_and_surrogates_apart() -> None:
    variants = [
        PAIR,
        replace(PAIR, question="Why? "),
        replace(PAIR, response_a=PAIR.response_b, response_b=PAIR.response_a),
        replace(PAIR, question="\ud800"),
        replace(PAIR, question="\ud801"),
        replace(PAIR, reference="x", task=None),
        replace(PAIR, reference=None, task="x"),
    ]
    assert len({variant.content_hash for variant in variants}) == len(variants)


def test_data_hash_depends_on_ids_contents_and_order() -> None:
    other = replace(PAIR, id="p2")
    hashes = {data_hash([]), data_hash([PAIR]), data_hash([PAIR, other]), data_hash([other, PAIR]), data_hash([other])}
    assert len(hashes) == 5
    assert data_hash([replace(PAIR, human=None)]) == data_hash([PAIR])


def test_response_by_side() -> None:
    assert (PAIR.response("a"), PAIR.response("b")) == ("Because.", "No idea.")


def test_the_source_is_no_part_of_equality() -> None:
    assert replace(PAIR, source=Source("a", 1)) == PAIR
