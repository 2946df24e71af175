"""Files that are opened first and read later: trying mappings, leaving pairs out, watching and stopping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judgenet.core.pairs import Pair
from judgenet.formats import DataError, PairMapping, open_files, preview, read_pairs

PAIRS = [
    {"prompt": "why?", "answer_a": "so", "answer_b": "thus", "winner": "model_a", "category": "talk"},
    {"prompt": "why?", "answer_a": "so", "answer_b": "thus", "winner": "tie (both bad)", "category": "talk"},
    {"prompt": "how?", "answer_a": "well", "answer_b": "well", "winner": "tie", "category": "craft"},
    {"prompt": "who?", "answer_a": "me", "answer_b": "", "winner": "", "category": "talk"},
]


def written(folder: Path, records: list[dict[str, Any]], suffix: str = "jsonl") -> Path:
    """A file of records in a container."""
    path = folder / f"data.{suffix}"
    table = pd.DataFrame(records)
    if suffix == "jsonl":
        path.write_text("\n".join(map(json.dumps, records)))
    elif suffix == "json":
        path.write_text(json.dumps(records, indent=1))
    elif suffix == "csv":
        table.to_csv(path, index=False)
    elif suffix == "careful.csv":
        path.write_text(" " + table.to_csv(index=False))
    elif suffix == "xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_parquet(path)
    return path


def texts(pairs: tuple[Pair, ...]) -> list[tuple[str, str, str]]:
    return [(pair.question, pair.response_a, pair.response_b) for pair in pairs]


# --- labels that have to be decided ---


def test_label_values_are_counted_and_none_is_guessed(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, PAIRS))
    values = opened.label_values(PairMapping())
    assert values.counts == {"model_a": 1, "tie (both bad)": 1, "tie": 1}
    assert values.known == {"model_a": "a", "tie": "tie"}
    assert values.undecided == ("tie (both bad)",)
    assert list(values.counts) == ["model_a", "tie", "tie (both bad)"]
    assert values.annotators == {}
    with pytest.raises(DataError, match="tie \\(both bad\\)"):
        opened.read(PairMapping())
    decided = PairMapping(labels={**values.known, "tie (both bad)": "tie"})
    assert [pair.human for pair in opened.read(decided).pairs] == ["a", "tie", "tie", None]


@pytest.mark.parametrize("values", [("1", "2"), ("yes", "no"), ("left", "right"), ("A>B", "B>A"), ("0", "1", "2")])
def test_a_coding_that_could_mean_anything_is_left_open(tmp_path: Path, values: tuple[str, ...]) -> None:
    records = [{**PAIRS[0], "prompt": value, "winner": value} for value in values]
    found = open_files(written(tmp_path, records)).label_values(PairMapping())
    assert found.known == {}
    assert set(found.undecided) == set(values)


def test_letters_and_names_are_not_mixed(tmp_path: Path) -> None:
    records = [{**PAIRS[0], "winner": value} for value in ("A", "model_a", "model_b")]
    assert open_files(written(tmp_path, records)).label_values(PairMapping()).known == {"model_a": "a", "model_b": "b"}


def test_annotators_count_too(tmp_path: Path) -> None:
    records = [{**PAIRS[0], "winner": None, "annotator1": "1", "annotator2": one} for one in ("1", "2", "")]
    found = open_files(written(tmp_path, records)).label_values(PairMapping())
    assert found.counts == {"1": 4, "2": 1}
    assert found.annotators == found.counts
    both = open_files(written(tmp_path, [{**records[0], "winner": "1"}])).label_values(PairMapping())
    assert (both.counts, both.annotators) == ({"1": 3}, {"1": 2})


def test_undecided_labels_are_none_while_a_mapping_is_tried(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, PAIRS))
    assert [pair.human for pair in opened.read(PairMapping(), lenient=True).pairs] == ["a", None, "tie", None]
    assert opened.first(PairMapping(), 2) == opened.read(PairMapping(), lenient=True).pairs[:2]


def test_the_first_pairs_are_those_of_the_whole(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, PAIRS[2:] + PAIRS[:1]))
    whole = opened.read(PairMapping()).pairs
    for rows in (1, 2, 3, 10):
        assert opened.first(PairMapping(), rows) == whole[:rows]


def test_another_mapping_needs_no_other_file(tmp_path: Path) -> None:
    path = written(tmp_path, [{**PAIRS[0], "more": "please"}])
    opened = open_files(path)
    path.unlink()
    mapping = PairMapping({"question": "prompt+more", "response_a": "answer_b", "response_b": "answer_a"})
    assert texts(opened.read(mapping).pairs) == [("why?\n\nplease", "thus", "so")]


def test_a_preview_says_what_a_published_format_makes_itself(tmp_path: Path) -> None:
    record = {"idx": 1, "motivation_app": "Mail", "cmp_key": "m_n", "instruction": "do", "input": "", "response1": "x"}
    seen = preview(written(tmp_path, [{**record, "response2": "y", "annotator1": 1, "annotator2": 2}]))
    assert (seen.format, seen.title) == ("pandalm", "PandaLM test set")
    assert seen.columns["question"] == "instruction+input"
    assert set(seen.derived) == {"id", "model_a", "model_b", "annotators"}


def test_several_files_are_counted_together(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    files = [written(tmp_path, PAIRS[:1]), written(tmp_path / "one", PAIRS[2:])]
    opened = open_files(files)
    assert (opened.count, opened.preview().count) == (3, 3)
    assert opened.label_values(PairMapping()).counts == {"model_a": 1, "tie": 1}


# --- leaving pairs out ---

CODED = PairMapping(labels={"model_a": "a", "tie": "tie", "tie (both bad)": "tie"})


def test_pairs_with_a_finding_can_be_left_out(tmp_path: Path) -> None:
    dataset = read_pairs(written(tmp_path, PAIRS), mapping=CODED)
    assert {finding.kind: finding.ids for finding in dataset.findings if finding.ids} == {
        "duplicate": ("row-2",),
        "conflicting_label": ("row-2",),
        "identical_responses": ("row-3",),
        "empty_response": ("row-4",),
    }
    kept = dataset.without(["duplicate", "identical_responses"])
    assert [pair.id for pair in kept.pairs] == ["row-1", "row-4"]
    (note,) = [note for note in kept.notes if note.kind == "left_out"]
    assert note.count == 2
    assert "Same question and responses as an earlier pair. (1)" in note.message
    assert {finding.kind for finding in kept.findings if finding.ids} == {"empty_response"}


def test_nothing_to_leave_out_leaves_everything(tmp_path: Path) -> None:
    dataset = read_pairs(written(tmp_path, PAIRS[:1]))
    assert dataset.without([]) is dataset
    assert dataset.without(["duplicate", "long_pair"]) is dataset
    with pytest.raises(DataError, match="All pairs"):
        read_pairs(written(tmp_path, PAIRS[2:3])).without(["identical_responses"])


def test_what_is_left_out_is_part_of_the_mapping(tmp_path: Path) -> None:
    mapping = PairMapping(labels=CODED.labels, leave_out=("duplicate", "empty_response"))
    again = PairMapping.from_json(json.loads(json.dumps(mapping.to_json())))
    assert again == mapping
    dataset = read_pairs(written(tmp_path, PAIRS), mapping=again)
    assert [pair.id for pair in dataset.pairs] == ["row-1", "row-3"]
    with pytest.raises(DataError, match="'label_balance'"):
        PairMapping(leave_out=("label_balance",))


# --- watching and stopping ---


class Stopped(Exception):
    """Stands for the user's stop."""


CONTAINERS = ["jsonl", "json", "csv", "careful.csv", "xlsx", "parquet"]
MANY = [{**PAIRS[0], "id": f"p{number}", "prompt": f"{number}?"} for number in range(5000)]


@pytest.mark.parametrize("suffix", CONTAINERS)
def test_progress_grows_to_the_end(tmp_path: Path, suffix: str) -> None:
    shares: list[float] = []
    dataset = read_pairs(
        written(tmp_path, MANY, suffix), mapping=PairMapping(leave_out=("duplicate",)), watch=shares.append
    )
    assert len(dataset.pairs) == 5000
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.1
    assert 0.9 < shares[-1] <= 1
    assert len(shares) > 8


@pytest.mark.parametrize("suffix", CONTAINERS)
@pytest.mark.parametrize("at", [0.0, 0.3, 0.55, 0.7, 0.9])
def test_reading_stops_where_it_is_told_to(tmp_path: Path, suffix: str, at: float) -> None:
    def watch(share: float) -> None:
        if share >= at:
            raise Stopped

    with pytest.raises(Stopped):
        read_pairs(written(tmp_path, MANY, suffix), mapping=PairMapping(leave_out=("duplicate",)), watch=watch)


def test_looking_for_findings_stops_and_begins_again(tmp_path: Path) -> None:
    dataset = read_pairs(written(tmp_path, MANY))

    def watch(share: float) -> None:
        if share >= 0.5:
            raise Stopped

    with pytest.raises(Stopped):
        dataset.examine(watch)
    assert dataset.examine() is dataset.findings


# --- a JSON list is read item by item ---


@pytest.mark.parametrize(
    "text",
    [
        '[{"question":"q","response_a":"x","response_b":"y"}]',
        ' \r\n\t[ {"question":"q","response_a":"x","response_b":"y"} ,\n'
        '{"question":"r","response_a":"]","response_b":","}\n]\n ',
        '[{"question":"\\u2028[","response_a":"{\\"a\\": [1, 2]}","response_b":"line\n\ttab"}]',
    ],
)
def test_json_lists_are_read_as_the_library_reads_them(tmp_path: Path, text: str) -> None:
    (tmp_path / "data").write_text(text)
    records = json.loads(text, strict=False)
    found = read_pairs(tmp_path / "data").pairs
    assert texts(found) == [(one["question"], one["response_a"], one["response_b"]) for one in records]


ONE = '{"question":"q","response_a":"x","response_b":"y"}'


@pytest.mark.parametrize(
    "text", [f"[{ONE},]", f"[{ONE} {ONE}]", f"[{ONE}", f"[{ONE}] x", f"[,{ONE}]", f"[{ONE}}}", f"[{ONE},,{ONE}]", "[}"]
)
def test_what_is_no_json_list_stays_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "data").write_text(text)
    with pytest.raises(DataError, match=r"not valid JSON|not closed|not an object"):
        read_pairs(tmp_path / "data")
