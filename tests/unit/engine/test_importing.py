"""An import that is being decided: what is open, what a person said, and what it comes to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgenet.core import presets
from judgenet.core.project import PairsSource, Project
from judgenet.engine.importing import ImportDraft, cost_line, look, read
from judgenet.engine.setup import read_files
from judgenet.formats import OpenFiles, PairMapping, open_files, read_pairs
from judgenet.store.settings import profiles

ROWS = [
    {"prompt": "why?", "answer_a": "so", "answer_b": "thus", "winner": "model_a", "category": "talk"},
    {"prompt": "how?", "answer_a": "well", "answer_b": "well", "winner": "tie (both bad)", "category": "craft"},
    {"prompt": "who?", "answer_a": "me", "answer_b": "you", "winner": "", "category": "talk"},
]


def written(folder: Path, records: list[dict[str, Any]], name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def as_kept(source: PairsSource, folder: Path) -> list[Any]:
    """The pairs that a project with this source reads."""
    return list(read_files(source, folder).pairs)


def test_clear_columns_and_one_open_label(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, ROWS))
    draft = ImportDraft.begin(opened)
    assert draft.fields[:5] == ("question", "response_a", "response_b", "human", "task")
    assert [draft.column(part) for part in draft.fields[:5]] == ["prompt", "answer_a", "answer_b", "winner", "category"]
    assert draft.missing == ()
    seen = look(opened, draft)
    assert draft.decided(seen.values) == {"model_a": "a"}
    assert draft.undecided(seen.values) == ("tie (both bad)",)
    assert [pair.human for pair in seen.first] == ["a", None, None]
    decided = draft.with_label("tie (both bad)", "tie")
    assert decided.undecided(seen.values) == ()
    source = decided.source(("data.jsonl",), seen.values)
    assert source.labels == {"model_a": "a", "tie (both bad)": "tie"}
    assert source.columns["response_a"] == "answer_a"
    assert source.options == {}
    assert as_kept(source, tmp_path) == list(read(opened, decided, seen.values).pairs)
    assert draft.undecided(seen.values) == ("tie (both bad)",), "a draft is a value"


def test_no_label_can_be_a_meaning(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, ROWS))
    draft = ImportDraft.begin(opened).with_label("tie (both bad)", None)
    seen = look(opened, draft)
    assert draft.undecided(seen.values) == ()
    assert [pair.human for pair in as_kept(draft.source(("data.jsonl",), seen.values), tmp_path)] == ["a", None, None]


def test_unclear_and_missing_columns(tmp_path: Path) -> None:
    records = [{"query": "q", "prompt": "p", "left": "x", "right": "y", "label": "a", "winner": "b"}]
    opened = open_files(written(tmp_path, records))
    draft = ImportDraft.begin(opened)
    assert draft.candidates("question") == ("prompt", "query")
    assert draft.candidates("human") == ("label", "winner")
    assert draft.missing == ("question", "response_a", "response_b", "human")
    assert look(opened, draft).first == ()
    for part, column in (("question", "query"), ("response_a", "left"), ("response_b", "right")):
        draft = draft.with_column(part, column)
    assert draft.missing == ("human",)
    assert [pair.human for pair in look(opened, draft).first] == [None]
    draft = draft.with_column("human", "winner")
    seen = look(opened, draft)
    assert (draft.missing, seen.first[0].question, seen.first[0].human) == ((), "q", "b")
    without = draft.with_column("human", "").with_column("question", "")
    assert without.missing == ()
    assert not without.reads_labels
    assert as_kept(without.source(("data.jsonl",), look(opened, without).values), tmp_path)[0].human is None


def test_better_and_worse_instead_of_a_and_b(tmp_path: Path) -> None:
    records = [{"prompt": f"{n}?", "chosen": f"good {n}", "rejected": f"bad {n}"} for n in range(40)]
    opened = open_files(written(tmp_path, records))
    draft = ImportDraft.begin(opened)
    assert draft.preference
    assert (draft.missing, draft.column("chosen")) == ((), "chosen")
    pairs = as_kept(draft.source(("data.jsonl",), look(opened, draft).values), tmp_path)
    assert {pair.human for pair in pairs} == {"a", "b"}
    assert all(pair.response(pair.human).startswith("good") for pair in pairs)
    plain = draft.with_form("ab")
    assert plain.missing == ("response_a", "response_b")
    assert plain.with_form("preference").missing == ()


def test_annotators_without_a_label_decide_by_majority(tmp_path: Path) -> None:
    records = [
        {"question": "q", "response_a": "x", "response_b": str(n), "annotator1": "1", "annotator2": n} for n in (1, 2)
    ]
    opened = open_files(written(tmp_path, records))
    draft = ImportDraft.begin(opened)
    assert draft.majority_decides
    seen = look(opened, draft)
    assert draft.undecided(seen.values) == ("1", "2")
    draft = draft.with_label("1", "a").with_label("2", "b")
    source = draft.source(("data.jsonl",), seen.values)
    assert [pair.human for pair in as_kept(source, tmp_path)] == ["a", "tie"]
    assert as_kept(source, tmp_path)[1].annotators == (("annotator1", "a"), ("annotator2", "b"))


def test_what_is_wrong_is_said_with_its_place(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, [*ROWS, {**ROWS[0], "winner": ["a", "b"]}]))
    problem = look(opened, ImportDraft.begin(opened)).problem
    assert problem is not None
    assert (problem.row, problem.column) == (4, "winner")


def test_many_values_are_no_labels(tmp_path: Path) -> None:
    records = [{**ROWS[0], "prompt": str(n), "winner": n / 7} for n in range(60)]
    opened = open_files(written(tmp_path, records))
    seen = look(opened, ImportDraft.begin(opened))
    assert len(seen.values.counts) == 60
    assert len(seen.first) == 10


def test_a_kept_source_is_taken_up_again(tmp_path: Path) -> None:
    records = [*ROWS, {**ROWS[0]}]
    opened = open_files(written(tmp_path, records))
    first = ImportDraft.begin(opened).with_label("tie (both bad)", None).with_column("task", "")
    values = look(opened, first).values
    source = ImportDraft(
        first.preview, first.columns, first.labels, seed=3, no_majority=None, leave_out=("duplicate",)
    ).source(("data.jsonl",), values)
    again = ImportDraft.begin(opened, source)
    assert again.source(("data.jsonl",), values) == source
    assert (again.seed, again.no_majority, again.leave_out, again.column("task")) == (3, None, ("duplicate",), "")
    assert len(as_kept(source, tmp_path)) == 3
    other = open_files(written(tmp_path, [{"question": "q", "response_a": "x", "response_b": "y"}], "other.jsonl"))
    moved = ImportDraft.begin(other, source)
    assert moved.missing == ()
    assert moved.column("question") == "question"


@pytest.mark.data
@pytest.mark.parametrize(
    ("path", "pairs", "labels"),
    [
        ("llmeval2/LLMEval2_benchmark.json", 2553, (1050, 1021, 482)),
        ("faireval", 80, (41, 25, 14)),
        ("pandalm/testset-v1.json", 999, (422, 472, 105)),
    ],
)
def test_published_sets_need_no_decision(
    shared_data: Path, path: str, pairs: int, labels: tuple[int, int, int]
) -> None:
    found = next(iter(shared_data.rglob(path.rsplit("/")[-1]))) if "/" in path else shared_data / path
    opened: OpenFiles = open_files(found)
    draft = ImportDraft.begin(opened)
    seen = look(opened, draft)
    assert (draft.missing, draft.undecided(seen.values), seen.problem) == ((), (), None)
    dataset = read(opened, draft, seen.values)
    assert len(dataset.pairs) == pairs
    assert (dataset.labels.a, dataset.labels.b, dataset.labels.tie) == labels
    source = draft.source((str(found),), seen.values)
    assert dataset.pairs == read_pairs(found).pairs
    assert as_kept(source, Path()) == list(dataset.pairs)
    assert dataset.pairs[:10] == seen.first


def test_progress_and_stop(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, ROWS))
    draft = ImportDraft.begin(opened)
    shares: list[float] = []
    dataset = read(opened, draft, look(opened, draft).values, shares.append)
    assert shares == sorted(shares)
    assert "findings" in dataset.__dict__
    assert PairMapping.from_json(draft.mapping().to_json()) == draft.mapping()


MANY = [
    {"id": f"q{q}", "question": f"Why {q}?", "answers": "-"}
    | {f"response_{k}": f"{k} to {q}" for k in range(1, 6)}
    | {f"model_{k}": f"m{k}" for k in range(1, 6)}
    for q in range(4)
]


def test_more_than_two_responses(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, MANY))
    draft = ImportDraft.begin(opened)
    assert (draft.form, draft.missing, draft.reads_labels) == ("responses", (), False)
    assert draft.column("models") == "model_1+model_2+model_3+model_4+model_5"
    assert not set(draft.fields) & {"response_a", "chosen", "human"}
    seen = look(opened, draft)
    assert (len(seen.first), seen.problem) == (10, None)
    draft = replace(draft, matches=5, seed=3)
    source = draft.source(("data.jsonl",), seen.values)
    assert source.options == {"matches": 5, "seed": 3}
    kept = as_kept(source, tmp_path)
    assert len(kept) == 4 * 5
    assert tuple(kept) == read(opened, draft, seen.values).pairs
    again = ImportDraft.begin(opened, source)
    assert (again.form, again.matches, again.seed) == ("responses", 5, 3)


def test_the_form_of_a_file_can_be_chosen(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, MANY))
    pairs = ImportDraft.begin(opened).with_form("ab")
    assert pairs.missing == ("response_a", "response_b")
    pairs = pairs.with_column("response_a", "response_1").with_column("response_b", "response_4")
    source = pairs.source(("data.jsonl",), look(opened, pairs).values)
    assert [pair.response_b for pair in as_kept(source, tmp_path)] == [f"4 to {q}" for q in range(4)]
    assert ImportDraft.begin(opened, source).form == "ab"
    rows = [{"ask": f"{q}?", "who": who, "said": f"{who} says"} for q in range(3) for who in "xyz"]
    opened = open_files(written(tmp_path, rows))
    draft = ImportDraft.begin(opened)
    assert draft.form == "ab"
    draft = draft.with_form("systems")
    assert draft.missing == ("question", "system", "response")
    for part, column in (("question", "ask"), ("system", "who"), ("response", "said")):
        draft = draft.with_column(part, column)
    seen = look(opened, draft)
    source = draft.source(("data.jsonl",), seen.values)
    assert len(as_kept(source, tmp_path)) == 9
    assert ImportDraft.begin(opened, source).form == "systems"


@pytest.mark.usefixtures("config")
def test_what_all_pairs_cost_is_known_before(tmp_path: Path) -> None:
    opened = open_files(written(tmp_path, MANY))
    draft = ImportDraft.begin(opened)
    dataset = read(opened, draft, look(opened, draft).values)
    project = Project.new("x", presets.network(2, 1, roles="none"))
    # 40 pairs, two neurons in both orders.
    assert cost_line(project, dataset, profiles()) == "160 calls, price $0.00 (prices of 2026-11-29)."
    unknown = replace(project.network, settings=replace(project.network.settings, endpoint="nowhere", model=None))
    assert cost_line(replace(project, network=unknown), dataset, profiles()).startswith("About 160 calls")
