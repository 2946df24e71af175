"""Judgments made elsewhere, in every form that is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.pairs import Pair
from judgenet.formats import DataError
from judgenet.formats.judgments import Judgment, PairFinder, chosen, parse_conditions, read_judgments

PAIRS = (
    Pair("q1", "Q one", "left", "right", model_a="base", model_b="new"),
    Pair("q2-1", "Q two", "x", "y", model_a="new", model_b="base"),
)


def read(folder: Path, *records: dict[str, Any], name: str = "judgments.jsonl") -> list[Judgment]:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return list(read_judgments([path])[0].judgments)


def said(judgments: list[Judgment]) -> list[tuple[Any, ...]]:
    return [(one.order, one.verdict, one.scores) for one in judgments]


def test_the_normal_form_speaks_of_responses_a_and_b_whatever_the_order(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {"pair_id": "q1", "judge": "j", "order": "ab", "verdict": "a"},
        {"pair_id": "q1", "judge": "j", "order": "ba", "verdict": "Tie"},
        {"pair_id": "q1", "judge": "j", "order": "ba", "scores": [3, 8.5]},
        {"pair_id": "q1", "judge": "j", "order": "ba", "scores_as_presented": [3, 8.5]},
        {"pair_id": "q1", "judge": "j", "order": "ba", "recorded_decision": "A>>B"},
        {"pair_id": "q1", "judge": "j", "order": "ba", "text": "Output (a) is better.", "verdict": None},
        {"pair_id": "q1", "judge": "j", "order": "ab", "text": "?", "recorded_winner": None},
        {"pair_id": "q1", "judge": "j", "order": "ab", "text": "?", "recorded_scores": [-1, -1]},
    )
    assert said(found) == [
        ("ab", "a", None),
        ("ba", "tie", None),
        ("ba", None, (3.0, 8.5)),
        ("ba", None, (8.5, 3.0)),
        ("ba", "b", None),
        ("ba", None, None),
        ("ab", None, None),
        ("ab", None, None),
    ]
    assert [one.stated for one in found] == [True, True, True, True, True, False, True, True]


def test_a_table_of_cells_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text(
        'pair_id,judge,order,verdict,scores,text\nq1,j,ab,a,,\nq1,k,ba,,"[3, 8]",\nq1,l,ab,,,"Output (b) is better."\n',
        encoding="utf-8",
    )
    found = list(read_judgments([path])[0].judgments)
    assert said(found) == [("ab", "a", None), ("ba", None, (3.0, 8.0)), ("ab", None, None)]
    assert [one.stated for one in found] == [True, True, False]


def test_pandalm_results_count_from_0_and_garbage_is_no_verdict(tmp_path: Path) -> None:
    path = tmp_path / "gpt-x-testset-v1.json"
    rows = [
        {"idx": str(i), "gpt_result": value, "gpt_reason": "r"} for i, value in enumerate(["1", 2, "Tie", 0, "garbage"])
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    (file,) = read_judgments([path])
    assert file.format == "pandalm"
    assert [one.verdict for one in file.judgments] == ["a", "b", "tie", "tie", None]
    assert {one.judge for one in file.judgments} == {"gpt-x"}
    assert file.judgments[1].pair.place == 1


def test_mt_bench_has_two_games_and_a_second_turn_is_another_pair(tmp_path: Path) -> None:
    record = {
        "question_id": "q2",
        "turn": 1,
        "model_1": "base",
        "model_2": "new",
        "judge": ["gpt-4", "pair-v2"],
        "g1_winner": "model_1",
        "g2_winner": "error",
        "g1_judgment": "[[A]]",
        "g2_judgment": "?",
    }
    found = read(tmp_path, record, {**record, "turn": 2})
    assert [(one.order, one.verdict, one.judge, one.prompt) for one in found[:2]] == [
        ("ab", "a", "gpt-4", "pair-v2"),
        ("ba", None, "gpt-4", "pair-v2"),
    ]
    hit = PairFinder(PAIRS).find(found[0])
    assert hit is not None
    # The pair has the two systems the other way round.
    assert (hit[0], hit[1].verdict, hit[1].order) == (1, "b", "ba")
    assert PairFinder(PAIRS).find(found[2]) is None


def test_alpaca_eval_weights_become_scores_that_sum_to_1(tmp_path: Path) -> None:
    base = {"instruction": "Q one", "generator_1": "base", "generator_2": "new", "annotator": "w"}
    texts = {"output_1": "right", "output_2": "left"}
    found = read(
        tmp_path, *({**base, **texts, "preference": value} for value in (1.25, 0, 2.0, None)), name="annotations.json"
    )
    assert [one.scores for one in found] == [(0.75, 0.25), (0.5, 0.5), (0.0, 1.0), None]
    hit = PairFinder(PAIRS).find(found[0])
    assert hit is not None
    assert (hit[0], hit[1].scores) == (0, (0.25, 0.75))


def test_arena_hard_shows_the_baseline_first_in_game_1(tmp_path: Path) -> None:
    games = [{"judgment": "…", "score": "A>>B"}, {"judgment": {"answer": "x"}, "score": "B=A"}]
    found = read(tmp_path, {"question_id": "q1", "model": "new", "judge": "gpt-4", "games": games})
    assert [(one.order, one.verdict, one.text) for one in found] == [("ab", "a", "…"), ("ba", "tie", "x")]
    assert PairFinder(PAIRS).find(found[0]) == (0, found[0])


def test_judgebench_decisions_are_in_the_order_shown(tmp_path: Path) -> None:
    several = [
        {"judgment": {"judge_model": "m", "response": "[[A>B]]"}, "decision": "A>B"},
        {"judgment": {"judge_model": "m", "response": "[[A>B]]"}, "decision": "A>B"},
    ]
    found = read(tmp_path, {"pair_id": "q1", "label": "A>B", "judgments": several})
    assert [(one.order, one.verdict, one.judge) for one in found] == [("ab", "a", "m"), ("ba", "b", "m")]


def test_llm_comparator_scores_are_for_a_above_0(tmp_path: Path) -> None:
    path = tmp_path / "comparator.json"
    raters = [{"score": 1.5, "is_flipped": False, "rationale": "r"}, {"score": -0.5, "is_flipped": True}]
    example = {
        "input_text": "Q one",
        "output_text_a": "left",
        "output_text_b": "right",
        "score": 0.5,
        "individual_rater_scores": raters,
    }
    document = {"metadata": {}, "models": [{"name": "base"}, {"name": "new"}], "examples": [example]}
    path.write_text(json.dumps(document), encoding="utf-8")
    (file,) = read_judgments([path])
    assert file.format == "llm-comparator"
    assert said(list(file.judgments)) == [("ab", None, (1.5, 0.0)), ("ba", None, (0.0, 0.5))]
    assert PairFinder(PAIRS).find(file.judgments[0]) is not None


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"pair_id": "q1", "judge": "j", "order": "first", "verdict": "a"}, "row 1, column 'order'"),
        ({"pair_id": "q1", "judge": "j", "order": "ab", "verdict": "1"}, "row 1, column 'verdict'"),
        ({"pair_id": "q1", "judge": "j", "order": "ab", "scores": [1, 2, 3]}, "row 1, column 'scores'"),
        ({"pair_id": "q1", "judge": "j", "order": "ab", "scores": [1, None]}, "row 1, column 'scores'"),
        ({"pair_id": "q1", "judge": "j", "recorded_decision": "A is fine"}, "row 1, column 'recorded_decision'"),
        ({"question": "q", "answer": "x"}, "These are no judgments"),
    ],
)
def test_what_is_not_clear_is_an_error_that_says_where(tmp_path: Path, record: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(tmp_path, record)


def test_conditions_choose_judgments_and_errors_list_what_there_is(tmp_path: Path) -> None:
    rows = [
        {"pair_id": "q1", "judge": judge, "prompt": prompt, "order": "ab", "verdict": "a"}
        for judge, prompt in (("GPT-4", "CoT"), ("GPT-4", "Vanilla"), ("PaLM2", "CoT"))
    ]
    found = read(tmp_path, *rows)
    assert parse_conditions("judge=GPT-4,prompt=CoT,prompt=a,b") == {"judge": ("GPT-4",), "prompt": ("CoT", "a,b")}
    assert len(chosen(found, parse_conditions("judge=GPT*"))) == 2
    assert len(chosen(found, parse_conditions("judge=GPT-4,prompt=CoT,prompt=Vanilla"))) == 2
    with pytest.raises(DataError, match="'GPT-4' \\(2\\), 'PaLM2' \\(1\\)"):
        chosen(found, parse_conditions("judge=gpt-4"))
    with pytest.raises(DataError, match="judge, order, pair_id, prompt"):
        chosen(found, parse_conditions("model=x"))
    with pytest.raises(DataError, match="no condition"):
        parse_conditions("GPT-4")


@pytest.mark.parametrize(
    ("example", "words"),
    [
        ("text", "row 1: This example lacks a text"),
        ({"input_text": "q", "output_text_a": "x"}, "row 1: This example lacks a text"),
        (
            {"input_text": "q", "output_text_a": "x", "output_text_b": "y", "individual_rater_scores": [1]},
            "A rater's score is 1",
        ),
    ],
)
def test_a_broken_example_of_llm_comparator_is_an_error(tmp_path: Path, example: object, words: str) -> None:
    path = tmp_path / "comparator.json"
    path.write_text(json.dumps({"models": [], "examples": [example]}), encoding="utf-8")
    with pytest.raises(DataError, match=words):
        read_judgments([path])
