"""Published formats by their fields, with records made up here; the real files are in test_reference_sets."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from judgenet.formats import DataError, Dataset, PairMapping, preview, read_pairs


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read_records(*records: dict[str, Any], **mapping: Any) -> Dataset:
        (tmp_path / "x").write_text(json.dumps(records))
        return read_pairs(tmp_path / "x", mapping=PairMapping(**mapping) if mapping else None)

    return read_records


def talk(*texts: Any) -> list[dict[str, Any]]:
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


BATTLE = {
    "question_id": 81,
    "model_a": "m1",
    "model_b": "m2",
    "winner": "model_b",
    "judge": "expert_3",
    "conversation_a": talk("why?", "so", "more?", "no"),
    "conversation_b": talk("why?", "thus", "more?", "yes"),
    "turn": 1,
}


def test_llmeval2_without_its_optional_column(read: Any) -> None:
    data = read({"query": "q", "response1": "x", "response2": "y", "human": "TIE"})
    assert (data.format, data.pairs[0].human, data.pairs[0].id) == ("llmeval2", "tie", "llmeval2-0000")
    with pytest.raises(DataError, match="'model3'"):
        read({"query": "q", "response1": "x", "response2": "y", "human": "model3"})


@pytest.mark.parametrize("names", [("annotator1", "annotator2", "annotator3"), ("label_0", "label_1", "label_2")])
def test_pandalm_as_in_its_file_and_as_in_its_readme(read: Any, names: tuple[str, ...]) -> None:
    record = {
        "index": 5,
        "motivation_app": "Mail",
        "cmp_key": "opt-7b_llama-7b",
        "instruction": "do",
        "input": "this",
        "reference_response": "done",
        "response1": True,
        "response2": "",
    }
    data = read({**record, **dict(zip(names, (2, "2", 0), strict=True))})
    (pair,) = data.pairs
    assert data.format == "pandalm"
    assert (pair.id, pair.question, pair.response_a, pair.response_b) == ("pandalm-005", "do\n\nthis", "True", "")
    assert (pair.model_a, pair.model_b, pair.reference, pair.task) == ("opt-7b", "llama-7b", "done", "Mail")
    assert pair.annotators == ((names[0], "b"), (names[1], "b"), (names[2], "tie"))
    assert pair.human == "b"


def test_pandalm_models_whose_names_cannot_be_split(read: Any) -> None:
    record = {"instruction": "do", "input": "", "response1": "x", "response2": "y", "annotator1": 1}
    (pair,) = read({**record, "cmp_key": "opt_7b_llama_7b"}).pairs
    assert (pair.model_a, pair.model_b, pair.human) == (None, None, "a")


def test_codings_of_small_numbers_belong_to_exactly_these_columns(read: Any) -> None:
    llmbar = {"input": "q", "output_1": "x", "output_2": "y", "label": 2}
    assert read(llmbar).pairs[0].human == "b"
    with pytest.raises(DataError, match="meaning of the label '2'"):
        read({**llmbar, "model": "m"})
    with pytest.raises(DataError, match="meaning of the label '0'"):
        read({**llmbar, "label": 0})
    autoj = {"scenario": "s", "label": 0, "prompt": "q", "response 1": "x", "response 2": "y"}
    assert read(autoj).pairs[0].human == "a"


def test_judgebench_label_that_is_none_of_its_own(read: Any) -> None:
    record = {"pair_id": "p", "question": "q", "response_model": "m", "response_A": "x", "response_B": "y"}
    (pair,) = read({**record, "label": "B>A", "source": "math"}).pairs
    assert (pair.id, pair.model_a, pair.model_b, pair.human, pair.task) == ("judgebench-p", "m", "m", "b", "math")
    with pytest.raises(DataError, match="'A=B'"):
        read({**record, "label": "A=B"})


def test_mt_bench_judgments_of_the_first_turn(read: Any) -> None:
    data = read(BATTLE)
    (pair,) = data.pairs
    assert data.format == "arena"
    assert (pair.question, pair.response_a, pair.response_b) == ("why?", "so", "thus")
    assert (pair.model_a, pair.model_b, pair.human) == ("m1", "m2", "b")


def test_conversations_of_several_turns_are_transcripts(read: Any) -> None:
    (pair,) = read({**BATTLE, "turn": 2, "winner": "tie (bothbad)"}).pairs
    assert pair.question == "why?"
    assert pair.response_a == "assistant: so\n\nuser: more?\n\nassistant: no"
    assert pair.human == "tie"


@pytest.mark.parametrize("judge", [["gpt-4", "pair-v2"], "gpt4_pair"])
def test_a_models_judgment_is_no_human_label(read: Any, judge: Any) -> None:
    data = read({**BATTLE, "judge": judge}, {**BATTLE, "judge": "expert_3"})
    assert [pair.human for pair in data.pairs] == [None, "a" if BATTLE["winner"] == "model_a" else "b"]
    assert next(note for note in data.notes if note.kind == "model_judgments").count == 1


def test_contents_in_typed_parts(read: Any) -> None:
    parts = [{"type": "text", "text": "so"}, {"type": "text", "text": " it is"}]
    assert read({**BATTLE, "conversation_a": talk("why?", parts)}).pairs[0].response_a == "so it is"
    with pytest.raises(DataError, match="more than texts and pictures") as caught:
        read(BATTLE, {**BATTLE, "conversation_b": talk("why?", [{"type": "audio", "audio": "x"}])})
    assert (caught.value.row, caught.value.column) == (2, "conversation_b")
    with pytest.raises(DataError, match="list of messages"):
        read({**BATTLE, "conversation_a": "no talk"})


def arena_55k(**changes: Any) -> dict[str, Any]:
    record = {
        "id": 30192,
        "model_a": "m1",
        "model_b": "m2",
        "prompt": '["why?"]',
        "response_a": '["so"]',
        "response_b": "[null]",
        "winner_model_a": 0,
        "winner_model_b": 0,
        "winner_tie": 1,
    }
    return {**record, **changes}


def test_arena_55k_from_csv(tmp_path: Path) -> None:
    records = [
        arena_55k(),
        arena_55k(
            id=2, winner_tie=0, winner_model_b=1, prompt='["a","b"]', response_a='["x","y"]', response_b='["u","v"]'
        ),
    ]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(records[0]))
    writer.writeheader()
    writer.writerows(records)
    (tmp_path / "x").write_text(out.getvalue(), newline="")
    assert preview(tmp_path / "x").format == "arena55k"
    first, second = read_pairs(tmp_path / "x").pairs
    assert (first.id, first.question, first.response_a, first.response_b, first.human) == (
        "30192",
        "why?",
        "so",
        "",
        "tie",
    )
    assert (second.question, second.response_b, second.human) == ("a", "assistant: u\n\nuser: b\n\nassistant: v", "b")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"winner_tie": 0}, "Exactly one"),
        ({"winner_model_a": 1}, "Exactly one"),
        ({"response_a": '["x", "y"]'}, "1 prompts, but 2 responses"),
        ({"prompt": "why?"}, "JSON array"),
    ],
)
def test_arena_55k_rows_that_cannot_be_right(read: Any, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataError, match=problem) as caught:
        read(arena_55k(), arena_55k(id=2, **changes))
    assert caught.value.row == 2


def test_alpaca_eval_preferences_are_a_judges(read: Any) -> None:
    record = {
        "instruction": "q",
        "output_1": "x",
        "output_2": "y",
        "generator_1": "base",
        "generator_2": "new",
        "annotator": "gpt-4",
        "preference": 2.0,
    }
    data = read(record)
    (pair,) = data.pairs
    assert data.format == "alpaca_eval"
    assert (pair.model_a, pair.model_b, pair.human) == ("base", "new", None)
    assert "preference" in next(note for note in data.notes if note.kind == "unused_columns").message
    wanted = read(record, columns={"human": "preference"}, labels={"1": "a", "2": "b"})
    assert wanted.pairs[0].human == "b"


def test_helpsteer_needs_its_coding_said(read: Any) -> None:
    record = {"context": talk("q"), "response1": "x", "response2": "y", "overall_preference": -2}
    with pytest.raises(DataError, match="question"):
        read(record)
    with pytest.raises(DataError, match="'-2'"):
        read(record, columns={"question": "context"})
    (pair,) = read(record, columns={"question": "context"}, labels={"-2": "a"}).pairs
    assert (pair.question, pair.human) == ("q", "a")


def test_a_mapping_goes_over_a_known_format(read: Any) -> None:
    record = {"query": "q", "response1": "x", "response2": "y", "human": "model1", "own": "1"}
    data = read(record, columns={"human": "own"}, labels={"1": "b"})
    assert (data.format, data.pairs[0].human) == ("llmeval2", "b")


def test_preview_names_only_columns_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(json.dumps([BATTLE]))
    seen = preview(tmp_path / "x")
    assert seen.format == "arena"
    assert seen.columns == {"model_a": "model_a", "model_b": "model_b", "human": "winner"}
    assert seen.values["winner"] == {"model_b": 1}
