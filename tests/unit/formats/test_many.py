"""More than two responses to a question, in columns or in a row for each system."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.pairs import Pair
from judgenet.formats import DataError, Dataset, Finding, PairMapping, open_files, parse_matches, preview, read_pairs
from tests.unit.formats.test_opening import written

K = 4


def wide(questions: int = 3, systems: int = K) -> list[dict[str, Any]]:
    return [
        {"id": f"q{q}", "question": f"Why {q}?"}
        | {f"response_{k}": f"answer {k} to {q}" for k in range(1, systems + 1)}
        | {f"model_{k}": f"system-{k}" for k in range(1, systems + 1)}
        for q in range(questions)
    ]


def long(questions: int = 3, systems: int = K) -> list[dict[str, Any]]:
    return [
        {"id": f"q{q}", "question": f"Why {q}?", "system": f"system-{k}", "response": f"answer {k} to {q}"}
        for q in range(questions)
        for k in range(1, systems + 1)
    ]


def who_met(pair: Pair) -> frozenset[str]:
    assert pair.model_a is not None
    assert pair.model_b is not None
    return frozenset((pair.model_a, pair.model_b))


def finding(dataset: Dataset, kind: str) -> Finding:
    return next(one for one in dataset.notes if one.kind == kind)


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "careful.csv", "xlsx", "parquet"])
@pytest.mark.parametrize("shape", ["responses", "systems"])
def test_all_pairs_of_every_question(tmp_path: Path, suffix: str, shape: str) -> None:
    path = written(tmp_path, wide() if shape == "responses" else long(), suffix)
    assert preview(path).format == shape
    dataset = read_pairs(path)
    assert len(dataset.pairs) == 3 * 6
    assert len({pair.id for pair in dataset.pairs}) == 18
    assert len({(pair.question, who_met(pair)) for pair in dataset.pairs}) == 18
    for pair in dataset.pairs:
        question, _, systems = pair.id.partition(":")
        assert pair.question == f"Why {question[1:]}?"
        assert systems == f"{pair.model_a}/{pair.model_b}"
        for model, response in ((pair.model_a, pair.response_a), (pair.model_b, pair.response_b)):
            assert model is not None
            assert response == f"answer {model[-1]} to {question[1:]}"
    assert dataset.systems is not None
    assert dataset.systems.to_json() == {
        "systems": 4,
        "questions": 3,
        "responses": 12,
        "matches": 18,
        "possible_matches": 18,
    }
    assert finding(dataset, "systems").message == "4 systems, 3 questions with 4 responses each: all 18 pairs."


def test_both_shapes_give_the_same_pairs(tmp_path: Path) -> None:
    one, other = (read_pairs(written(tmp_path, records)) for records in (wide(), long()))
    assert one.pairs == other.pairs
    sample = PairMapping(matches=4, seed=7)
    drawn = [read_pairs(written(tmp_path, records), mapping=sample).pairs for records in (wide(), long())]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 3 * 4


def test_no_system_is_always_first(tmp_path: Path) -> None:
    first = Counter(pair.model_a for pair in read_pairs(written(tmp_path, wide(200))).pairs)
    # Each system is in 600 pairs; five standard deviations of their coins are 61.
    assert all(239 < count < 361 for count in first.values())


def test_a_sample_is_drawn_by_the_seed_and_stays(tmp_path: Path) -> None:
    path = written(tmp_path, wide(20, 8))
    ids = [pair.id for pair in read_pairs(path, mapping=PairMapping(matches=9, seed=2)).pairs]
    assert len(ids) == 20 * 9
    assert ids == [pair.id for pair in read_pairs(path, mapping=PairMapping(matches=9, seed=2)).pairs]
    assert ids != [pair.id for pair in read_pairs(path, mapping=PairMapping(matches=9, seed=3)).pairs]
    assert len(read_pairs(path, mapping=PairMapping(matches=0.5)).pairs) == 20 * 14
    more = written(tmp_path, wide(25, 8))
    assert ids == [pair.id for pair in read_pairs(more, mapping=PairMapping(matches=9, seed=2)).pairs][: len(ids)]


def test_too_few_matches_are_raised_and_told(tmp_path: Path) -> None:
    dataset = read_pairs(written(tmp_path, wide(5, 8)), mapping=PairMapping(matches=3))
    assert len(dataset.pairs) == 5 * 7
    assert "3 pairs do not connect all systems of 5 questions" in finding(dataset, "matches_raised").message
    share = read_pairs(written(tmp_path, wide(5, 8)), mapping=PairMapping(matches=0.1))
    assert len(share.pairs) == 5 * 7
    assert "10% of the pairs do not connect all systems" in finding(share, "matches_raised").message
    enough = read_pairs(written(tmp_path, wide(5, 8)), mapping=PairMapping(matches=7))
    assert not any(one.kind == "matches_raised" for one in enough.notes)


@pytest.mark.parametrize("shape", ["wide", "long"])
def test_missing_responses_are_not_judged(tmp_path: Path, shape: str) -> None:
    records = wide() if shape == "wide" else long()
    if shape == "wide":
        records[0]["response_2"] = None
        records[1]["response_1"] = ""
        for k in (1, 2, 3):
            records[2][f"response_{k}"] = None
    else:
        for place, nothing in ((1, None), (4, ""), (8, None), (9, None), (10, None)):
            records[place]["response"] = nothing
    for suffix in ("jsonl", "csv"):
        dataset = read_pairs(written(tmp_path, records, suffix))
        assert Counter(pair.id.partition(":")[0] for pair in dataset.pairs) == {"q0": 3, "q1": 3}
        assert finding(dataset, "missing_response").count == 5
        assert "1 questions have fewer than two responses" in finding(dataset, "single_response").message
        assert finding(dataset, "systems").message.startswith("4 systems, 2 questions with 3 responses")


def test_a_file_for_each_system(tmp_path: Path) -> None:
    """As AlpacaEval keeps the outputs of models."""
    paths = []
    for name in ("alpaca", "org/llama", "b:c"):
        paths.append(tmp_path / f"{len(paths)}.json")
        records = [{"instruction": f"Do {q}.", "output": f"{name} does {q}.", "generator": name} for q in range(4)]
        paths[-1].write_text(json.dumps(records))
    dataset = read_pairs(paths)
    assert len(dataset.pairs) == 4 * 3
    ids = {pair.id.partition(":")[2] for pair in dataset.pairs if pair.question == "Do 1."}
    assert {frozenset(one.split("/")) for one in ids} == {
        frozenset(("alpaca", "org%2Fllama")),
        frozenset(("alpaca", "b%3Ac")),
        frozenset(("org%2Fllama", "b%3Ac")),
    }
    assert {pair.id.partition(":")[0] for pair in dataset.pairs} == {"row-1", "row-2", "row-3", "row-4"}
    with pytest.raises(DataError, match="name all files"):
        read_pairs(paths[0])


def test_records_with_ids_of_their_own_belong_together_by_text(tmp_path: Path) -> None:
    records = [{**record, "id": place} for place, record in enumerate(long())]
    assert len(read_pairs(written(tmp_path, records)).pairs) == 18


def test_lists_and_objects_of_responses(tmp_path: Path) -> None:
    two = [{"id": 1, "question": "Why?"}, {"id": 2, "question": "How?"}]
    listed = [record | {"responses": ["x", "y", "z"], "models": ["m", "n", "o"]} for record in two]
    by_system = [record | {"responses": {"m": "x", "n": "y", "o": "z"}} for record in two]
    each = [{"model": model, "text": text} for model, text in zip("mno", "xyz", strict=True)]
    objects = [record | {"responses": each} for record in two]
    cells = [record | {"responses": json.dumps(record["responses"])} for record in by_system]
    found = [
        read_pairs(written(tmp_path, records, suffix)).pairs
        for records, suffix in ((listed, "jsonl"), (by_system, "json"), (objects, "jsonl"), (cells, "csv"))
    ]
    assert found[0] == found[1] == found[2] == found[3]
    assert {who_met(pair) for pair in found[0]} == {frozenset("mn"), frozenset("mo"), frozenset("no")}
    with pytest.raises(DataError, match="3 responses of 2 systems"):
        read_pairs(written(tmp_path, [{**listed[0], "models": ["m", "n"]}]))


def test_columns_can_be_mapped(tmp_path: Path) -> None:
    records = [{"ask": f"Why {q}?", "gpt": "x", "llama": "y", "qwen": "z", "note": "-"} for q in range(2)]
    path = written(tmp_path, records, "csv")
    dataset = read_pairs(path, mapping=PairMapping({"question": "ask", "responses": "gpt+llama+qwen"}))
    assert dataset.systems is not None
    assert dataset.systems.names == ("gpt", "llama", "qwen")
    assert finding(dataset, "unused_columns").message == "Not read: note."
    rows = [{"q": 1, "who": who, "said": f"{who}!"} for who in "abc"]
    other = written(tmp_path, [{"question": "Why?", "gpt": "x", "llama": "y"}], "csv")
    assert len(read_pairs(other, mapping=PairMapping({"responses": "gpt+llama"})).pairs) == 1
    mapped = PairMapping({"id": "q", "system": "who", "response": "said"})
    found = read_pairs(written(tmp_path, rows), mapping=mapped)
    assert len(found.pairs) == 3
    two = read_pairs(
        written(tmp_path, wide()), mapping=PairMapping({"response_a": "response_1", "response_b": "response_3"})
    )
    assert (len(two.pairs), two.systems) == (3, None)


def test_systems_without_names(tmp_path: Path) -> None:
    records = [{key: value for key, value in record.items() if "model" not in key} for record in wide()]
    path = written(tmp_path, records)
    dataset = read_pairs(path)
    assert dataset.systems is not None
    assert dataset.systems.names == ("response_1", "response_2", "response_3", "response_4")
    assert "have no names" in finding(dataset, "unnamed_systems").message
    named = read_pairs(path, mapping=PairMapping(systems=("p", "q", "r", "s")))
    assert named.systems is not None
    assert named.systems.names == ("p", "q", "r", "s")
    assert not any(one.kind == "unnamed_systems" for one in named.notes)
    with pytest.raises(DataError, match="2 systems are named for 4 columns"):
        read_pairs(path, mapping=PairMapping(systems=("p", "q")))
    with pytest.raises(DataError, match="named twice"):
        PairMapping(systems=("p", "p"))


def test_systems_that_never_meet_are_told(tmp_path: Path) -> None:
    records = [
        {"question": f"Why {q}?", "system": f"{group}{k}", "response": f"{group}{k}"}
        for q, group in enumerate("xy")
        for k in range(2 + q)
    ]
    dataset = read_pairs(written(tmp_path, records))
    told = finding(dataset, "disconnected_systems")
    assert told.severity == "warning"
    assert "2 groups" in told.message
    assert "y0, y1, y2; x0, x1" in told.message


def test_the_same_response_twice_counts_once(tmp_path: Path) -> None:
    records = [*long(), long()[0]]
    dataset = read_pairs(written(tmp_path, records))
    assert len(dataset.pairs) == 18
    assert finding(dataset, "repeated_response").count == 1
    records[-1] = {**records[-1], "response": "another one"}
    with pytest.raises(DataError, match=r"row 13.*'system-1' has two responses to the question 'q0'.*row 1\."):
        read_pairs(written(tmp_path, records))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"system": None}, "names no system"),
        ({"id": None}, "names no question"),
        ({"question": "Another one?"}, "another text"),
    ],
)
def test_rows_that_cannot_be_placed(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    records = long()
    records[6] = {**records[6], **change}
    with pytest.raises(DataError, match=f"row 7.*{message}"):
        read_pairs(written(tmp_path, records))


def test_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No question has responses of two systems"):
        read_pairs(written(tmp_path, long(3, 1)))
    with pytest.raises(DataError, match="no part of a file with several responses"):
        read_pairs(
            written(tmp_path, wide()), mapping=PairMapping({"responses": "response_1+response_2", "human": "id"})
        )
    with pytest.raises(DataError, match="id 'q0' is there already"):
        read_pairs(written(tmp_path, [wide()[0], wide()[0]]))


# --- what people said ---


def labels(dataset: Dataset) -> dict[tuple[str, str, str], str | None]:
    """Who won, by question and the two systems in order."""
    found: dict[tuple[str, str, str], str | None] = {}
    for pair in dataset.pairs:
        assert pair.model_a is not None
        assert pair.model_b is not None
        first, second = sorted((pair.model_a, pair.model_b))
        won = {"a": pair.model_a, "b": pair.model_b, "tie": "tie", None: None}[pair.human]
        found[(pair.id.partition(":")[0], first, second)] = won
    return found


EXPECTED = {("q0", "x", "y"): "y", ("q0", "x", "z"): "tie", ("q0", "y", "z"): "y"}


@pytest.mark.parametrize(
    "said",
    [
        {"rank_1": 2, "rank_2": 1, "rank_3": 2},
        {"ranking": ["y", ["x", "z"]]},
        {"ranking": "y > x = z"},
        {"winners": [["x", "y", "y"], ["z", "x", "tie"], {"model_a": "y", "model_b": "z", "winner": "model_a"}]},
    ],
)
def test_ranks_orders_and_winners_are_labels(tmp_path: Path, said: dict[str, Any]) -> None:
    record = {"id": "q0", "question": "Why?"}
    record |= {f"response_{k}": f"answer {k}" for k in (1, 2, 3)} | {f"model_{k}": "xyz"[k - 1] for k in (1, 2, 3)}
    assert labels(read_pairs(written(tmp_path, [record | said]))) == EXPECTED


def test_a_rank_in_each_row(tmp_path: Path) -> None:
    records = [
        {"id": "q0", "question": "Why?", "model": name, "response": f"I am {name}", "rank": rank}
        for name, rank in (("x", 2), ("y", 1), ("z", 2), ("w", None))
    ]
    for suffix in ("jsonl", "csv"):
        found = labels(read_pairs(written(tmp_path, records, suffix)))
        assert {key: won for key, won in found.items() if "w" not in key} == EXPECTED
        assert [won for key, won in found.items() if "w" in key] == [None] * 3


def test_several_people_are_annotators(tmp_path: Path) -> None:
    record = {"id": "q0", "question": "Why?", "responses": {"x": "1", "y": "2", "z": "3"}}
    rankings = {"ann": ["x", "y", "z"], "bob": ["y", "x"], "cem": ["y", "x", "z"]}
    dataset = read_pairs(written(tmp_path, [record | {"rankings": rankings}]))
    assert labels(dataset) == {("q0", "x", "y"): "y", ("q0", "x", "z"): "x", ("q0", "y", "z"): "y"}
    pair = next(pair for pair in dataset.pairs if who_met(pair) == frozenset("yz"))
    won = "a" if pair.model_a == "y" else "b"
    assert pair.annotators == (("ann", won), ("cem", won))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"rank_1": "best", "rank_2": 1, "rank_3": 2}, "A rank is a number"),
        ({"ranking": ["p", "q"]}, "A ranking names the systems"),
        ({"ranking": 3}, "A ranking names the systems"),
        ({"winners": [["x", "y", "z"]]}, "A winner is"),
    ],
)
def test_what_cannot_be_a_label(tmp_path: Path, said: dict[str, Any], message: str) -> None:
    record = {"id": "q0", "question": "Why?"}
    record |= {f"response_{k}": f"answer {k}" for k in (1, 2, 3)} | {f"model_{k}": "xyz"[k - 1] for k in (1, 2, 3)}
    with pytest.raises(DataError, match=message):
        read_pairs(written(tmp_path, [record | said]))


# --- looking before reading ---


def test_a_look_into_the_file(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, long(30)))
    shown = opened.preview()
    assert (shown.format, shown.count) == ("systems", 120)
    assert shown.columns == {"id": "id", "question": "question", "system": "system", "response": "response"}
    mapping = PairMapping(matches=3)
    first = opened.first(mapping)
    assert len(first) == 10
    assert first == opened.read(mapping).pairs[:10]
    assert opened.label_values(mapping).counts == {}


def test_files_of_pairs_stay_what_they_are(tmp_path: Path) -> None:
    for records in (
        [{"question": "q", "response_1": "x", "response_2": "y"}],
        [{"prompt": "q", "response_a": "x", "response_b": "y", "model": "m", "output": "z"}],
    ):
        dataset = read_pairs(written(tmp_path, records))
        assert (len(dataset.pairs), dataset.systems) == (1, None)


@pytest.mark.parametrize(
    ("text", "found"), [("all", None), ("12", 12), ("25%", 0.25), ("0.25", 0.25), ("1", 1), ("100%", None)]
)
def test_number_of_matches(text: str, found: int | float | None) -> None:
    assert parse_matches(text) == found
    assert PairMapping.from_json(PairMapping(matches=found).to_json()).matches == found


@pytest.mark.parametrize("text", ["none", "0", "-3", "1.5", "200%", ""])
def test_no_number_of_matches(text: str) -> None:
    with pytest.raises(DataError, match="Cannot read"):
        parse_matches(text)


@pytest.mark.parametrize("matches", [0, -1, 1.5, True])
def test_a_mapping_refuses_what_is_no_number_of_matches(matches: Any) -> None:
    with pytest.raises(DataError, match="no number of pairs"):
        PairMapping(matches=matches)
