"""``judgenet export`` for other programs: what these read is what the run says."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import judgenet as jn
from judgenet.formats import read_pairs
from tests.unit.cli.conftest import Judgenet

PEOPLE = ("Ada", "Ben")
VERDICTS = {"p0": "a", "p1": "b", "p2": "tie", "p3": None}
SCORES = {"p0": (9, 4), "p1": (2, 8), "p2": (5, 5)}


@pytest.fixture
def recorded(judgenet: Judgenet, tmp_path: Path) -> Judgenet:
    """Four pairs: A, B, tie, and one without a readable verdict; Ada and Ben label the first two."""
    pairs = tmp_path / "pairs.jsonl"
    with pairs.open("w", encoding="utf-8") as out:
        for i in range(4):
            line = {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": f"=1+{i}"}
            line |= {"model_a": "old", "model_b": "new", "task": "maths" if i else "code"}
            out.write(json.dumps(line | ({"annotators": dict.fromkeys(PEOPLE, "ab"[i])} if i < 2 else {})) + "\n")
    with (tmp_path / "said.jsonl").open("w", encoding="utf-8") as said:
        for pair, (a, b) in SCORES.items():
            call = {"pair_id": pair, "judge": "j", "order": "ab", "score_a": a, "score_b": b}
            said.write(json.dumps(call | {"text": f"Because of {pair}."}) + "\n")
        said.write(json.dumps({"pair_id": "p3", "judge": "j", "order": "ab", "text": "I cannot say."}) + "\n")
    assert judgenet("import", "said.jsonl", "--pairs", pairs, "--out", "out").code == 0
    return judgenet


def test_preferences_are_the_decisions(recorded: Judgenet, tmp_path: Path) -> None:
    ran = recorded("export", "out", "--what", "preferences")
    first, second = ran.lines
    assert (first["prompt"], first["chosen"], first["rejected"], first["margin"]) == ("Why 0?", "So 0.", "=1+0", 5.0)
    assert (second["chosen"], second["chosen_model"], second["margin"]) == ("=1+1", "new", 6.0)
    assert "Left out: 1 pair with a tie, 1 pair without a verdict" in ran.err
    by_people = recorded("export", "out", "--what", "preferences", "--aggregation", "human")
    assert [line["preferred_by"] for line in by_people.lines] == ["human", "human"]
    assert "Left out: 2 pairs without a label" in by_people.err
    wrong = recorded("export", "out", "--what", "preferences", "--aggregation", "c9")
    assert wrong.code == 2
    assert "Choose one of: c1, c2_l1, c2_all" in wrong.err


def test_parquet_has_the_records_of_the_lines(recorded: Judgenet, tmp_path: Path) -> None:
    for what in ("calls", "verdicts", "preferences", "systems"):
        lines = recorded("export", "out", "--what", what, "--format", "jsonl").lines
        assert recorded("export", "out", "--what", what, "-o", f"{what}.parquet").code == 0
        rows = pq.read_table(tmp_path / f"{what}.parquet").to_pylist()
        nested = {name for line in lines for name, value in line.items() if isinstance(value, list | dict)}
        found = [
            {name: json.loads(value) if name in nested and value is not None else value for name, value in row.items()}
            for row in rows
        ]
        assert found == lines
    refused = recorded("export", "out", "--what", "verdicts", "--format", "parquet")
    assert refused.code == 2
    assert "Name a file with -o" in refused.err


def test_systems_have_a_row_a_response(recorded: Judgenet, tmp_path: Path) -> None:
    assert recorded("export", "out", "--what", "systems", "-o", "systems.csv").code == 0
    table = pd.read_csv(tmp_path / "systems.csv")
    assert list(table["system"]) == ["old", "new"] * 4
    by_system = table.groupby("system")
    assert by_system["won"].mean().to_dict() == {"old": 0.5, "new": 0.5}
    assert by_system["score"].mean().to_dict() == pytest.approx({"old": 16 / 3, "new": 17 / 3})
    assert table["won"].isna().sum() == 2
    assert table.loc[table["pair_id"] == "p0", "won_by_people"].tolist() == [1.0, 0.0]


def test_llm_comparators_file_is_read_back(recorded: Judgenet, tmp_path: Path) -> None:
    ran = recorded("export", "out", "--what", "llm-comparator", "-o", "lc.json")
    assert "Left out: 1 pair without a verdict" in ran.err
    document = json.loads((tmp_path / "lc.json").read_text(encoding="utf-8"))
    assert [model["name"] for model in document["models"]] == ["old", "new"]
    assert [example["score"] for example in document["examples"]] == [1.5, -1.5, 0.0]
    assert document["examples"][0]["individual_rater_scores"][0]["rationale"] == "Because of p0."
    back = read_pairs(tmp_path / "lc.json")
    assert [pair.question for pair in back.pairs] == ["Why 0?", "Why 1?", "Why 2?"]
    assert {(pair.model_a, pair.model_b) for pair in back.pairs} == {("old", "new")}
    assert recorded("import", "lc.json", "--pairs", "lc.json", "--out", "again").code == 0
    said = [line["c1"] for line in recorded("export", "again", "--what", "verdicts").lines]
    assert said == ["a", "b", "tie"]


@pytest.mark.parametrize("program", ["argilla", "label-studio"])
def test_labelling_programs_give_labels_back(recorded: Judgenet, tmp_path: Path, program: str) -> None:
    """The network's verdicts go out as suggestions; what Cleo answers there comes back as labels of hers."""
    assert recorded("export", "out", "--what", program, "-o", "tool.json").code == 0
    records = json.loads((tmp_path / "tool.json").read_text(encoding="utf-8"))
    if program == "argilla":
        assert [of["suggestions"].get("verdict", {}).get("value") for of in records] == list(VERDICTS.values())
        assert records[0]["suggestions"]["verdict"]["score"] == 1.0
        for of in records[2:]:
            of["responses"] = {"verdict": [{"value": "b", "user_id": "Cleo"}]}
    else:
        said = [of["predictions"][0]["result"][0]["value"]["choices"][0] for of in records[:3]]
        assert [*said, None] == list(VERDICTS.values())
        assert "predictions" not in records[3]
        for number, of in enumerate(records):
            of["id"] = 1000 + number
        for of in records[2:]:
            answer = {"from_name": "verdict", "to_name": "question", "type": "choices", "value": {"choices": ["b"]}}
            of["annotations"] = [{"completed_by": {"email": "Cleo"}, "result": [answer]}]
    (tmp_path / "back.json").write_text(json.dumps(records), encoding="utf-8")
    ran = recorded("labels", "out", "--import", "back.json", "--chosen", "random", "--json")
    assert ran.json["imported"]["n"] == 6
    labels = recorded("export", "out", "--what", "labels").lines
    cleo = {line["pair_id"]: line["label"] for line in labels if line["annotator"].endswith("Cleo")}
    assert cleo == {"p2": "b", "p3": "b"}
    again = read_pairs(tmp_path / "back.json")
    assert [pair.human for pair in again.pairs] == ["a", "b", "b", "b"]


def test_a_data_set_folder_has_a_card_and_is_never_written_over(recorded: Judgenet, tmp_path: Path) -> None:
    assert recorded("export", "out", "--what", "dataset", "-o", "set").code == 0
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\n")
    assert "| `data/preferences.parquet` | 2 |" in card
    assert "Left out of `preferences`: 1 pair with a tie, 1 pair without a verdict." in card
    assert len(pd.read_parquet(tmp_path / "set" / "data" / "verdicts.parquet")) == 4
    refused = recorded("export", "out", "--what", "dataset", "-o", "set")
    assert refused.code == 2
    assert "set is not an empty folder" in refused.err


def test_the_ending_of_a_file_says_the_format(recorded: Judgenet, tmp_path: Path) -> None:
    recorded("export", "out", "--what", "verdicts", "-o", "v.csv")
    assert list(pd.read_csv(tmp_path / "v.csv")["pair_id"]) == list(VERDICTS)
    wrong = recorded("export", "out", "--what", "argilla", "--format", "csv")
    assert wrong.code == 2
    assert "--what argilla is written as json, jsonl" in wrong.err


def test_python_writes_the_same(recorded: Judgenet, tmp_path: Path) -> None:
    run = jn.open_run("out")
    recorded("export", "out", "--what", "preferences", "-o", "by-command.jsonl")
    assert run.export("preferences", "by-python.jsonl").read_text() == Path("by-command.jsonl").read_text()
    with pytest.raises(ValueError, match=r"written as \.json, \.jsonl"):
        run.export("argilla", "x.csv")
    with pytest.raises(ValueError, match="There is no export 'all'"):
        run.export("all", "x.csv")
