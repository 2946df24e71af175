"""Every form of recorded judgments becomes a run with the same verdicts, whatever it calls them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Judgenet

QUESTIONS = ("Why?", "How?", "Who?", "When?")
VERDICTS = ("a", "b", "tie", "a")
"""What the judge said of each pair, in both orders where the form has both."""


def pairs_file(folder: Path) -> Path:
    path = folder / "pairs.jsonl"
    records = [
        {
            "id": f"{place}",
            "question": question,
            "response_a": f"{question} x",
            "response_b": f"{question} y",
            "model_a": "base",
            "model_b": "new",
            "human": verdict,
        }
        for place, (question, verdict) in enumerate(zip(QUESTIONS, VERDICTS, strict=True))
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def by_order(make: Callable[[int, str, str], dict[str, Any]]) -> list[dict[str, Any]]:
    return [make(place, verdict, order) for place, verdict in enumerate(VERDICTS) for order in ("ab", "ba")]


def shown(verdict: str, order: str, words: tuple[str, str, str]) -> str:
    """A verdict in the terms of who was shown first: (first, second, tie)."""
    return words[2] if verdict == "tie" else words[(verdict == "a") != (order == "ab")]


SCORES = {"a": [8, 3], "b": [2, 9], "tie": [5, 5]}
TAGS = ("A>B", "B>>A", "A=B")
FORMS: dict[str, Any] = {
    "verdict": by_order(lambda i, v, o: {"pair_id": str(i), "judge": "j", "order": o, "verdict": v}),
    "scores": by_order(lambda i, v, o: {"pair_id": str(i), "judge": "j", "order": o, "scores": SCORES[v]}),
    "text": by_order(
        lambda i, v, o: {
            "pair_id": str(i),
            "judge": "j",
            "order": o,
            "text": shown(v, o, ("My verdict: [[A]]", "My verdict: [[B]]", "My verdict: [[C]]")),
        }
    ),
    "pandalm": [
        {"idx": i, "j_result": {"a": "1", "b": "2", "tie": "Tie"}[verdict], "j_reason": "-"}
        for i, verdict in enumerate(VERDICTS)
    ],
    "mt-bench": [
        {"question_id": str(i), "model_1": "base", "model_2": "new", "judge": ["j", "pair-v2"], "turn": 1}
        | {f"g{game}_winner": {"a": "model_1", "b": "model_2", "tie": "tie"}[verdict] for game in (1, 2)}
        for i, verdict in enumerate(VERDICTS)
    ],
    # The same two systems the other way round.
    "mt-bench turned": [
        {"question_id": str(i), "model_1": "new", "model_2": "base", "judge": ["j", "pair-v2"], "turn": 1}
        | {f"g{game}_winner": {"a": "model_2", "b": "model_1", "tie": "tie"}[verdict] for game in (1, 2)}
        for i, verdict in enumerate(VERDICTS)
    ],
    "alpaca-eval": [
        {
            "instruction": question,
            "output_1": f"{question} x",
            "output_2": f"{question} y",
            "generator_1": "base",
            "generator_2": "new",
            "annotator": "j",
            "preference": {"a": 1.0, "b": 2.0, "tie": 1.5}[verdict],
        }
        for question, verdict in zip(QUESTIONS, VERDICTS, strict=True)
    ],
    "llm-comparator": {
        "metadata": {"source_path": "", "custom_fields_schema": []},
        "models": [{"name": "base"}, {"name": "new"}],
        "examples": [
            {
                "input_text": question,
                "tags": [],
                "output_text_a": f"{question} x",
                "output_text_b": f"{question} y",
                "score": {"a": 1.5, "b": -1.5, "tie": 0.0}[verdict],
                "individual_rater_scores": [
                    {"score": {"a": 1.5, "b": -1.0, "tie": 0.0}[verdict], "is_flipped": flipped, "rationale": "-"}
                    for flipped in (False, True)
                ],
            }
            for question, verdict in zip(QUESTIONS, VERDICTS, strict=True)
        ],
    },
    "arena-hard": [
        {
            "question_id": str(i),
            "model": "new",
            "judge": "j",
            "games": [{"user_prompt": "-", "judgment": "-", "score": shown(v, o, TAGS)} for o in ("ab", "ba")],
        }
        for i, v in enumerate(VERDICTS)
    ],
    "judgebench": [
        {
            "pair_id": str(i),
            "judge_name": "j",
            "judgments": [{"judgment": {"response": "-"}, "decision": shown(v, o, TAGS)} for o in ("ab", "ba")],
        }
        for i, v in enumerate(VERDICTS)
    ],
}
ONE_ORDER = ("pandalm", "alpaca-eval")


@pytest.mark.parametrize("form", FORMS)
def test_a_form_becomes_a_run(judgenet: Judgenet, tmp_path: Path, form: str) -> None:
    file = tmp_path / "judgments.jsonl"
    content = FORMS[form]
    lines = [content] if isinstance(content, dict) else content
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    ran = judgenet("import", file, "--pairs", pairs_file(tmp_path), "--out", "out", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["calls"] == 4 * (1 if form in ONE_ORDER else 2)
    assert ran.json["read_from_text"] == (8 if form == "text" else 0)
    verdicts = {line["pair_id"]: line["c2_all"] for line in judgenet("export", "out", "--what", "verdicts").lines}
    assert verdicts == {str(place): verdict for place, verdict in enumerate(VERDICTS)}
    figures = judgenet("metrics", "out", "--json").json
    assert (figures["aggregations"]["c2_all"]["accuracy"], figures["aggregations"]["c2_all"]["n_used"]) == (1.0, 4)
    position = figures["position"][ran.json["neurons"][0]]
    if form in ONE_ORDER:
        assert position["valid_both"] == 0
    else:
        assert (position["valid_both"], position["flip_rate"]) == (4, 0.0)


def test_judgments_find_the_pairs_of_several_systems(judgenet: Judgenet, tmp_path: Path) -> None:
    """MT-bench's judgments name a question and two systems; the pairs are made of three responses each."""
    pairs, file = tmp_path / "many.jsonl", tmp_path / "judgments.jsonl"
    records = [
        {"id": f"q{i}", "question": f"Why {i}?", "responses": {name: f"{name} {i}" for name in "xyz"}} for i in range(4)
    ]
    pairs.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    said = [
        {"question_id": f"q{i}", "model_1": one, "model_2": other, "judge": ["j", "p"], "turn": 1}
        | {"g1_winner": "model_1", "g2_winner": "model_1"}
        for i in range(4)
        for one, other in (("x", "y"), ("z", "y"), ("x", "z"))
    ]
    file.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    ran = judgenet("import", file, "--pairs", pairs, "--out", "out", "--json")
    assert (ran.code, ran.json["calls"], ran.json["judgments_without_pair"]) == (0, 24, 0)
    ranked = judgenet("rank", "out", "--json").json
    assert [(system["name"], system["wins"], system["losses"]) for system in ranked["systems"]] == [
        ("x", 8, 0),
        ("z", 4, 4),
        ("y", 0, 8),
    ]
