"""The published sets, read from their original files: the counts that the sources print."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgenet.formats import DataError, LabelCounts, preview, read_pairs

pytestmark = pytest.mark.data

COUNTS = {
    "llmeval2": LabelCounts(1050, 1021, 482),
    "faireval": LabelCounts(41, 25, 14),
    "pandalm": LabelCounts(422, 472, 105),
    "llmbar": LabelCounts(596, 604, 0),
    "fastchat_vicuna": LabelCounts(41, 25, 14, 1040),
    "judgebench": LabelCounts(336, 284, 0),
    "autoj": LabelCounts(520, 499, 373),
}
LLMEVAL2_TASKS = {
    "bagel": (80, 80, 15),
    "code-contests": (21, 24, 0),
    "eli5": (77, 72, 0),
    "hellaswag": (81, 79, 0),
    "hh-rlhf": (73, 67, 0),
    "mt-bench": (71, 72, 132),
    "openmeva": (67, 51, 127),
    "pku-saferlhf": (80, 80, 0),
    "reward-aira-portuguese": (80, 80, 0),
    "rlhf-reward-chinese": (80, 80, 0),
    "rlhf-reward-russian": (77, 83, 0),
    "shp": (80, 80, 0),
    "summarizefeedback": (80, 80, 122),
    "summeval": (27, 30, 34),
    "webgpt": (76, 63, 52),
}
FAIREVAL_FILES = (
    "question.jsonl",
    "answer/answer_gpt35.jsonl",
    "answer/answer_vicuna-13b.jsonl",
    "review/review_gpt35_vicuna-13b_human.txt",
)


@pytest.mark.parametrize("name", COUNTS)
def test_common_form(shared_data: Path, name: str) -> None:
    data = read_pairs(shared_data / name / "pairs.jsonl")
    assert data.format == "normal"
    assert data.labels == COUNTS[name]
    records = [json.loads(line) for line in (shared_data / name / "pairs.jsonl").read_bytes().split(b"\n") if line]
    assert len(data.pairs) == len(records)
    for row, (pair, record) in enumerate(zip(data.pairs, records, strict=True), 1):
        for part in ("id", "question", "response_a", "response_b", "human", "model_a", "model_b", "task"):
            assert getattr(pair, part) == record[part]
        assert [label for _, label in pair.annotators] == record["annotators"]
        assert pair.source is not None
        assert (pair.source.file, pair.source.row) == ("pairs.jsonl", row)


def test_llmeval2_from_its_json_that_is_json_lines(shared_data: Path) -> None:
    data = read_pairs(shared_data / "llmeval2" / "LLMEval2_benchmark.json")
    assert data.format == "llmeval2"
    assert len(data.pairs) == 2553
    assert data.labels == COUNTS["llmeval2"]
    tasks = Counter((pair.task, pair.human) for pair in data.pairs)
    assert {task: (tasks[task, "a"], tasks[task, "b"], tasks[task, "tie"]) for task, _ in tasks} == LLMEVAL2_TASKS
    assert data.pairs == read_pairs(shared_data / "llmeval2" / "pairs.jsonl").pairs


def test_faireval_from_its_folder(shared_data: Path) -> None:
    data = read_pairs(shared_data / "faireval")
    assert data.format == preview(shared_data / "faireval").format == "faireval"
    assert data.labels == COUNTS["faireval"]
    assert data.pairs == read_pairs(shared_data / "faireval" / "pairs.jsonl").pairs
    assert sorted(Path(file.path).name for file in data.files) == sorted(Path(name).name for name in FAIREVAL_FILES)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_faireval_from_four_files_in_any_order_under_any_name(
    shared_data: Path, tmp_path: Path, order: tuple[int, ...]
) -> None:
    files = []
    for place in order:
        files.append(tmp_path / f"{place}.data")
        shutil.copyfile(shared_data / "faireval" / FAIREVAL_FILES[place], files[-1])
    assert read_pairs(files).pairs == read_pairs(shared_data / "faireval" / "pairs.jsonl").pairs


def test_faireval_without_labels_has_none(shared_data: Path) -> None:
    data = read_pairs([shared_data / "faireval" / name for name in FAIREVAL_FILES[:3]])
    assert data.labels == LabelCounts(missing=80)


@pytest.mark.parametrize("name", FAIREVAL_FILES)
def test_one_file_of_faireval_is_not_enough(shared_data: Path, name: str) -> None:
    with pytest.raises(DataError, match="four files"):
        read_pairs(shared_data / "faireval" / name)


def test_faireval_labels_must_be_as_many_as_questions(shared_data: Path, tmp_path: Path) -> None:
    shutil.copytree(shared_data / "faireval", tmp_path / "set", ignore=shutil.ignore_patterns("pairs.jsonl"))
    review = tmp_path / "set" / FAIREVAL_FILES[3]
    review.chmod(0o644)
    review.write_bytes(review.read_bytes().rsplit(b"\n", 1)[0])
    with pytest.raises(DataError, match="79 labels for 80 questions"):
        read_pairs(tmp_path / "set")


def test_pandalm_keeps_its_three_annotators(shared_data: Path) -> None:
    data = read_pairs(shared_data / "pandalm" / "testset-v1.json")
    assert data.format == "pandalm"
    assert data.labels == COUNTS["pandalm"]
    assert data.pairs == read_pairs(shared_data / "pandalm" / "pairs.jsonl").pairs
    assert all([name for name, _ in pair.annotators] == [f"annotator{n}" for n in (1, 2, 3)] for pair in data.pairs)
    distinct = Counter(len({label for _, label in pair.annotators}) for pair in data.pairs)
    assert distinct == {1: 879, 2: 120}
    assert data.pairs[157].response_a == "True"


# The original files of these sets are not at hand: their published fields are made from the common form.
ORIGINALS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "llmbar": lambda r: {
        "input": r["question"],
        "output_1": r["response_a"],
        "output_2": r["response_b"],
        "label": {"a": 1, "b": 2}[r["human"]],
    },
    "judgebench": lambda r: {
        "pair_id": r["id"].removeprefix("judgebench-"),
        "original_id": "x",
        "source": r["task"],
        "question": r["question"],
        "response_model": r["model_a"],
        "response_A": r["response_a"],
        "response_B": r["response_b"],
        "label": {"a": "A>B", "b": "B>A"}[r["human"]],
    },
    "autoj": lambda r: {
        "scenario": r["task"],
        "label": {"a": 0, "b": 1, "tie": 2}[r["human"]],
        "prompt": r["question"],
        "response 1": r["response_a"],
        "response 2": r["response_b"],
    },
}


@pytest.mark.parametrize("name", ORIGINALS)
@pytest.mark.parametrize("as_list", [True, False])
def test_sets_by_their_published_fields(shared_data: Path, tmp_path: Path, name: str, as_list: bool) -> None:
    common = read_pairs(shared_data / name / "pairs.jsonl")
    originals = [ORIGINALS[name](record) for record in (pair.to_json() for pair in common.pairs)]
    text = json.dumps(originals) if as_list else "\n".join(map(json.dumps, originals))
    (tmp_path / "set.json").write_text(text, "utf-8")
    data = read_pairs(tmp_path / "set.json")
    assert data.format == name
    assert data.labels == COUNTS[name]
    assert [pair.response_b for pair in data.pairs] == [pair.response_b for pair in common.pairs]
    if name != "llmbar":
        assert data.pairs == common.pairs


def test_a_folder_with_two_sets_asks_for_one(shared_data: Path) -> None:
    with pytest.raises(DataError, match=r"2 files with pairs \(pairs.jsonl, testset-v1.json\)"):
        read_pairs(shared_data / "pandalm")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("llmbar/judgments_cot.jsonl", "recorded judgments"),
        ("pandalm/gpt-3.5-turbo-testset-v1.json", "question, response_a, response_b"),
        ("README.md", "neither JSON nor a table"),
    ],
)
def test_files_that_hold_no_pairs(shared_data: Path, name: str, what: str) -> None:
    assert preview(shared_data / name).format == "unknown"
    with pytest.raises(DataError, match=what):
        read_pairs(shared_data / name)


def test_findings_are_those_measured_on_the_sets(shared_data: Path) -> None:
    def counts(name: str) -> dict[str, int]:
        return {finding.kind: finding.count for finding in read_pairs(shared_data / name / "pairs.jsonl").findings}

    llmeval2, pandalm, autoj, llmbar = map(counts, ("llmeval2", "pandalm", "autoj", "llmbar"))
    assert (llmeval2["swapped_duplicate"], llmeval2["conflicting_label"]) == (22, 7)
    assert (llmeval2["identical_responses"], llmeval2["empty_question"], llmeval2["empty_response"]) == (4, 275, 13)
    assert (pandalm["duplicate"], pandalm["swapped_duplicate"], pandalm["empty_response"]) == (99, 50, 54)
    assert "conflicting_label" not in pandalm
    assert (autoj["duplicate"], autoj["conflicting_label"], autoj["identical_responses"]) == (2, 1, 9)
    assert autoj["empty_response"] == 1
    assert (llmbar["swapped_duplicate"], llmbar["identical_responses"], llmbar["empty_response"]) == (7, 1, 1)
    identical = next(f for f in read_pairs(shared_data / "llmeval2" / "pairs.jsonl").findings if f.count == 4)
    assert identical.ids == ("llmeval2-0194", "llmeval2-0461", "llmeval2-0719", "llmeval2-1242")
