"""``judgenet run --shard`` and ``judgenet merge``: the same run as undivided, in every value."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from filelock import FileLock

from judgenet.cli import run as run_command
from judgenet.core.events import RunFinished
from judgenet.core.labels import HumanLabel
from judgenet.engine import shard_desk
from judgenet.store.db import _STEPS, Store
from judgenet.store.labels import add_labels
from judgenet.store.matrix import OF_ANSWER, OF_CALL
from judgenet.store.runs import run_info, run_pairs, spent
from judgenet.store.shards import index_path
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

SHARDS = 3


@pytest.fixture
def study(tmp_path: Path, judgenet: Judgenet, at: tuple[str, ...]) -> Path:
    """A project of 24 pairs over 12 questions, some labelled, judged undivided in ``whole``."""
    lines = [
        {
            "id": f"p{i}",
            "question": f"What is {i // 2}?",
            "response_a": f"It is {i}.",
            "response_b": "Who knows.",
            "human": ("a", "b", "tie", None)[i % 4],
            "task": ("maths", "code")[i % 2],
        }
        for i in range(24)
    ]
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(json.dumps({k: v for k, v in of.items() if v}) + "\n" for of in lines), encoding="utf-8")
    assert judgenet("run", "--pairs", pairs, *at, "--width", 2, "--out", "whole", "-q").code == 0
    document = json.loads((tmp_path / "whole" / "run.judgenet").read_text(encoding="utf-8"))
    document["pairs"]["files"] = ["pairs.jsonl"]
    path = tmp_path / "study.judgenet"
    path.write_text(json.dumps(document | {"name": "study"}), encoding="utf-8")
    return path


def run_all(judgenet: Judgenet, study: Path, at: tuple[str, ...], of: int = SHARDS) -> None:
    for index in range(1, of + 1):
        ran = judgenet("run", study.name, *at, "--shard", f"{index}/{of}", "-q")
        assert ran.code == 0, ran.err


def without_names(figures: dict[str, Any]) -> dict[str, Any]:
    """Figures without what tells when and at what price in time they were made."""
    return {name: value for name, value in figures.items() if name not in ("run", "name", "note", "cost")}


def compare_with_whole(judgenet: Judgenet, divided: str) -> None:
    """All figures and exports of shards, merged or not, are those of the undivided run."""
    for command in (("metrics",), ("metrics", "--by", "task"), ("rate",), ("learn",), ("curve",)):
        whole, found = (judgenet(*command[:1], run, *command[1:], "--json").json for run in ("whole", divided))
        assert without_names(found) == without_names(whole), command
    for what in ("verdicts", "roles"):
        assert judgenet("export", divided, "--what", what).lines == judgenet("export", "whole", "--what", what).lines
    calls = [judgenet("export", run, "--what", "calls").lines for run in (divided, "whole")]
    timed = ("latency_s", "started_at", "attempts", "cached")
    told = [[{name: of[name] for name in of if name not in timed} for of in lines] for lines in calls]
    assert told[0] == told[1]
    reports = [judgenet("report", run, "-o", f"{number}.md") for number, run in enumerate((divided, "whole"))]
    assert [of.code for of in reports] == [0, 0], reports


def test_merged_shards_are_the_undivided_run(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], server: JudgeServer, tmp_path: Path
) -> None:
    run_all(judgenet, study, at)
    asked = len(server.log)
    compare_with_whole(judgenet, study.name)
    assert not (tmp_path / "study.judgenet.db").exists()
    compare_with_whole(judgenet, "study.shards")
    merged = judgenet("merge", study.name, "--json").json
    assert (merged["state"], merged["shards"], merged["missing"], merged["unfinished"]) == ("done", SHARDS, [], [])
    compare_with_whole(judgenet, study.name)
    assert judgenet("report", study.name, "-o", "all.md").code == 0
    assert "3 of 3 ended, all pairs are judged" in (tmp_path / "all.md").read_text(encoding="utf-8")
    # The merged run is the project's own: it goes on, and nothing is asked again.
    again = judgenet("run", study.name, *at, "-q", "--json")
    assert again.code == 0
    assert len(server.log) == asked
    assert again.json["run"] == merged["run"]
    # Merging again changes nothing.
    assert judgenet("merge", study.name, "--json").json == merged


def test_a_shard_ends_with_a_manifest_and_a_matrix(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path
) -> None:
    run_all(judgenet, study, at)
    folders = sorted((tmp_path / "study.shards").iterdir())
    assert [of.name for of in folders] == [f"000{index}-of-0003" for index in range(1, SHARDS + 1)]
    manifests = [json.loads((of / "manifest.json").read_text(encoding="utf-8")) for of in folders]
    assert sum(of["pairs"] for of in manifests) == sum(of["finished"] for of in manifests) == 24
    matrix = pd.concat(pd.read_parquet(of / "matrix.parquet") for of in folders)
    places = [
        {"place": int(place), "id": json.loads(body)["id"]}
        for of in folders
        for place, body in pd.read_parquet(of / "pairs.parquet")[["place", "body"]].values
    ]
    calls = judgenet("export", "whole", "--what", "calls").lines
    assert len(matrix) == len(calls) == sum(of["calls"] for of in manifests)
    scored = {(of["pair_id"], of["layer"], of["neuron"], of["order"]): of["verdict"] for of in calls if of["layer"]}
    found = matrix[matrix["layer"] > 0]
    names = {of["place"]: of["id"] for of in places}
    keys = zip(found["place"].map(names), found["layer"], found["neuron"], found["ord"], strict=True)
    assert dict(zip(keys, found["verdict"], strict=True)) == scored
    assert {"place", "sample", "score_a", "score_b", "answer_tokens_in", "answer_tokens_out", "answer_price"} <= set(
        matrix.columns
    )
    assert sorted(set(matrix["place"])) == list(range(24))
    # A shard is a run like any other.
    assert judgenet("metrics", folders[0], "--json").json["pairs"]["total"] == manifests[0]["pairs"]


def test_more_shards_than_questions(study: Path, judgenet: Judgenet, at: tuple[str, ...]) -> None:
    run_all(judgenet, study, at, 40)
    assert judgenet("merge", study.name, "--json").json["state"] == "done"
    assert judgenet("metrics", study.name, "--json").json["pairs"]["finished"] == 24


def test_what_is_not_there_is_named(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], server: JudgeServer, tmp_path: Path
) -> None:
    none = judgenet("merge", study.name)
    assert none.code == 2
    assert "there are no shards here" in none.err
    assert judgenet("run", study.name, *at, "--shard", "2/3", "-q").code == 0
    refused = judgenet("merge", study.name)
    assert refused.code == 2
    assert "2 shards of 3 missing (1, 3)" in refused.err
    # Undivided, what the shards hold would be asked and paid again: not before they are merged.
    asked = len(server.log)
    again = judgenet("run", study.name, *at, "-q")
    assert again.code == 2
    assert "judgenet merge study.judgenet" in again.err
    assert len(server.log) == asked
    partial = judgenet("merge", study.name, "--partial", "--json").json
    assert (partial["state"], partial["missing"]) == ("halted", [1, 3])
    judged = judgenet("metrics", study.name, "--json").json["pairs"]
    assert 0 < judged["finished"] < 24
    # The undivided command asks what is left, and only that.
    before = len(server.log)
    assert judgenet("run", study.name, *at, "-q").code == 0
    assert len(server.log) - before == (24 - judged["finished"]) * 9
    mixed = judgenet("run", study.name, *at, "--shard", "1/2", "-q")
    assert mixed.code == 0
    assert "holds shards of different divisions (of 2, 3)" in judgenet("merge", study.name).err


def test_a_merged_run_knows_what_went_by_batch(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path
) -> None:
    run_all(judgenet, study, at, 2)
    batches = [("b1", "ended"), ("b2", "ended"), ("b3", "sent")]
    for index in (1, 2):
        with sqlite3.connect(tmp_path / "study.shards" / f"000{index}-of-0002" / "run.judgenet.db") as db:
            db.executemany(
                "INSERT INTO batches (id, endpoint, model, state, calls, created_at) VALUES (?, 'e', 'm', ?, 3, 1.0)",
                [(f"{index}-{name}", state) for name, state in batches],
            )
            db.execute(
                "UPDATE calls SET batch=?, price=0.25 WHERE id IN (SELECT id FROM calls LIMIT 3)", (f"{index}-b1",)
            )
    for _ in range(2):  # Merging again changes nothing.
        merged = judgenet("merge", study.name, "--json").json
        with Store.open(tmp_path / "study.judgenet.db", readonly=True) as store:
            known = store.reader.execute("SELECT id, calls FROM batches ORDER BY id").fetchall()
            by_batch = store.reader.execute(
                "SELECT b.id, count(*), sum(price) FROM calls c JOIN batches b ON b.id=c.batch GROUP BY 1 ORDER BY 1"
            ).fetchall()
            used = spent(store, run_info(store))
        # A batch that is still out stays the shard's own.
        assert known == [("1-b1", 3), ("1-b2", 3), ("2-b1", 3), ("2-b2", 3)]
        assert by_batch == [("1-b1", 3, 0.75), ("2-b1", 3, 0.75)]
        assert used.by_batch == 6, merged


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--shard", "4/3"), "shards count from 1"),
        (("--shard", "x"), "write K/N, such as 17/300"),
        (("--shard", "1/3", "--until", "width <= 0.1"), "cannot tell when enough is known"),
    ],
)
def test_what_cannot_be_a_shard(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], options: tuple[str, ...], words: str
) -> None:
    ran = judgenet("run", study.name, *at, *options)
    assert ran.code == 2
    assert words in ran.err


def test_a_shard_needs_a_project(study: Path, judgenet: Judgenet, at: tuple[str, ...]) -> None:
    ran = judgenet("run", "--pairs", "pairs.jsonl", *at, "--shard", "1/3")
    assert ran.code == 2
    assert "--shard needs a project file" in ran.err


def test_figures_are_there_before_all_shards_and_labels_given_then_stay(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path
) -> None:
    assert judgenet("run", study.name, *at, "--shard", "1/3", "-q").code == 0
    first = judgenet("metrics", study.name, "--json").json
    assert (first["state"], "2 shards of 3 missing (2, 3)" in first["message"]) == ("halted", True)
    verdicts = judgenet("export", study.name, "--what", "verdicts").lines
    assert 0 < len(verdicts) == first["pairs"]["total"] < 24
    assert judgenet("report", study.name, "-o", "part.md").code == 0
    report = (tmp_path / "part.md").read_text(encoding="utf-8")
    said = f"1 of 3 shards have ended, with {len(verdicts)} of 24 pairs judged: 2 shards of 3 missing (2, 3)."
    assert said in report
    assert "1 of 3 ended; 2 shards of 3 missing (2, 3)" in report
    assert "endpoint that stopped" not in report
    label = {"pair_id": verdicts[0]["pair_id"], "label": "b"}
    (tmp_path / "said.jsonl").write_text(json.dumps(label) + "\n", encoding="utf-8")
    given = judgenet("labels", study.name, "--import", "said.jsonl", "--annotator", "Ada", "--json").json
    assert given["imported"]["n"] == 1
    assert judgenet("run", study.name, *at, "--shard", "2/3", "-q").code == 0
    more = judgenet("metrics", study.name, "--json").json
    assert more["pairs"]["total"] > first["pairs"]["total"]
    assert [of["annotator"] for of in judgenet("export", study.name, "--what", "labels").lines] == ["Ada"]
    # They come along when the set is merged.
    assert judgenet("run", study.name, *at, "--shard", "3/3", "-q").code == 0
    assert judgenet("merge", study.name).code == 0
    assert [of["annotator"] for of in judgenet("export", study.name, "--what", "labels").lines] == ["Ada"]


def test_answers_that_were_asked_for_again_are_priced_in_the_set_too(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], server: JudgeServer
) -> None:
    priced = (*at, "--price", "1,10")
    server.set(faults={"prose": 0.3}, seed=2)
    for more in ((), ("--retry-unscored",), ("--retry-unscored",)):
        for index in (1, 2):
            assert judgenet("run", study.name, *priced, "--shard", f"{index}/2", *more, "-q").code == 0
    parts = [judgenet("metrics", f"study.shards/000{index}-of-0002", "--json").json["cost"] for index in (1, 2)]
    of_set = judgenet("metrics", study.name, "--json").json["cost"]
    assert judgenet("merge", study.name).code == 0
    of_merged = judgenet("metrics", study.name, "--json").json["cost"]
    assert sum(len(of["earlier_answers"]) for of in judgenet("export", study.name, "--what", "calls").lines) > 1
    for name in ("tokens_in", "tokens_out", "price"):
        assert of_set[name] == pytest.approx(of_merged[name])
        assert of_set[name] == pytest.approx(sum(of[name] for of in parts))


def test_an_empty_store_of_the_project_does_not_hide_its_shards(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path
) -> None:
    assert judgenet("run", study.name, *at, "--shard", "1/3", "-q").code == 0
    # The studio makes the store when it opens the project; people may label there before anything is judged.
    label = {"pair_id": judgenet("export", study.name, "--what", "verdicts").lines[0]["pair_id"], "label": "b"}
    with Store.open(tmp_path / "study.judgenet.db") as own, Store.open(index_path(tmp_path / "study.shards")) as index:
        said = judgenet("metrics", study.name, "--json")
        assert said.code == 0
        (pair,) = [of.pair for of in run_pairs(index, run_info(index)) if of.pair.id == label["pair_id"]]
        add_labels(own, [HumanLabel(pair.id, pair.content_hash, "Ada", "b", "random")])
    assert judgenet("metrics", study.name, "--json").json["pairs"]["total"] > 0
    assert [of["annotator"] for of in judgenet("export", study.name, "--what", "labels").lines] == ["Ada"]


def test_figures_are_of_all_shards_while_the_studio_has_an_index_open(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path
) -> None:
    assert judgenet("run", study.name, *at, "--shard", "1/3", "-q").code == 0
    first = judgenet("metrics", study.name, "--json").json["pairs"]["total"]
    assert judgenet("run", study.name, *at, "--shard", "2/3", "-q").code == 0
    with Store.open(index_path(tmp_path / "study.shards")) as index:
        (pair, *_) = [of.pair for of in run_pairs(index, run_info(index))]
        add_labels(index, [HumanLabel(pair.id, pair.content_hash, "Ada", "b", "random")])
        both = judgenet("metrics", study.name, "--json").json["pairs"]["total"]
        assert both > first
        # What people say in the meantime, on either of them, is everywhere.
        assert [of["annotator"] for of in judgenet("export", study.name, "--what", "labels").lines] == ["Ada"]
        (tmp_path / "said.jsonl").write_text(json.dumps({"pair_id": pair.id, "label": "a"}) + "\n", encoding="utf-8")
        assert judgenet("labels", study.name, "--import", "said.jsonl", "--annotator", "Bo").code == 0
    assert judgenet("metrics", study.name, "--json").json["pairs"]["total"] == both
    assert {of["annotator"] for of in judgenet("export", study.name, "--what", "labels").lines} == {"Ada", "Bo"}
    assert [of.name for of in (tmp_path / "study.shards").iterdir() if "making" in of.name and of.suffix == ".db"] == []


def test_no_database_is_opened_for_writing_where_the_shards_are(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may lie on a network file system. Labels given on one machine reach the next one all the same."""
    run_all(judgenet, study, at, 2)
    folder = tmp_path / "study.shards"
    before = {path for path in folder.rglob("*") if path.name != "run.judgenet.db.lock"}
    (tmp_path / "said.jsonl").write_text(json.dumps({"pair_id": "p3", "label": "b"}) + "\n", encoding="utf-8")
    monkeypatch.setenv("JUDGENET_STATE_DIR", str(tmp_path / "Ada's machine"))
    folder.chmod(0o555)
    unlabelled = judgenet("metrics", study.name, "--json").json
    folder.chmod(0o755)
    assert {path for path in folder.rglob("*") if path.name != "run.judgenet.db.lock"} == before
    assert judgenet("labels", study.name, "--import", "said.jsonl", "--annotator", "Ada").code == 0
    (published,) = set(folder.rglob("*.db")) - before
    assert published.parent == folder / "labels"
    assert published.read_bytes()[18:20] == b"\1\1"  # no write-ahead log: https://sqlite.org/fileformat.html
    monkeypatch.setenv("JUDGENET_STATE_DIR", str(tmp_path / "Bo's machine"))
    assert [of["annotator"] for of in judgenet("export", study.name, "--what", "labels").lines] == ["Ada"]
    labelled = judgenet("metrics", study.name, "--json").json["pairs"]["labelled"]
    assert labelled == unlabelled["pairs"]["labelled"] + 1
    assert list((folder / "labels").iterdir()) == [published]  # whoever only reads writes nothing
    monkeypatch.setenv("JUDGENET_STATE_DIR", str(tmp_path / "Cy's machine"))
    assert judgenet("merge", study.name).code == 0
    assert [of["annotator"] for of in judgenet("export", study.name, "--what", "labels").lines] == ["Ada"]


def test_a_shard_on_a_network_disk_is_judged_on_the_machines_own(
    study: Path,
    judgenet: Judgenet,
    at: tuple[str, ...],
    server: JudgeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_command, "on_network", lambda path: True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "own"))
    (tmp_path / "own").mkdir()
    seen = set()

    def look(handle: object, events: object, reporter: object, log: object, beat: Callable[[], object]) -> RunFinished:
        """Copies at every beat in place of every minute, and looks at what is there."""

        def copied() -> None:
            beat()
            seen.update(path.name for path in (tmp_path / "study.shards").rglob("*"))

        return follow(handle, events, reporter, log, copied)  # type: ignore[arg-type]

    follow = run_command.follow
    monkeypatch.setattr(run_command, "follow", look)
    monkeypatch.setattr(shard_desk, "COPY_EVERY_S", 0.0)
    run_all(judgenet, study, at, 2)
    assert seen >= {"run.judgenet", "run.judgenet.db", "state.json"}
    assert not any(name.endswith(("-wal", "-shm", "-journal")) for name in seen)
    assert list((tmp_path / "own").iterdir()) == []
    whole, divided = (judgenet("metrics", run, "--json").json for run in ("whole", study.name))
    assert without_names(divided) == without_names(whole)
    asked = len(server.log)
    run_all(judgenet, study, at, 2)
    assert len(server.log) == asked
    with FileLock(tmp_path / "study.shards" / "0001-of-0002" / "run.judgenet.db.lock"):
        refused = judgenet("run", study.name, *at, "--shard", "1/2")
    assert refused.code != 0
    assert "another JudgeNet judges this shard" in refused.err


def test_labels_on_an_index_of_an_earlier_program_are_kept(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path
) -> None:
    assert judgenet("run", study.name, *at, "--shard", "1/3", "-q").code == 0
    assert judgenet("metrics", study.name).code == 0
    index = index_path(tmp_path / "study.shards")
    with Store.open(tmp_path / "study.shards" / "index.judgenet.db") as earlier, Store.open(index) as store:
        pair = next(iter(run_pairs(store, run_info(store)))).pair
        add_labels(earlier, [HumanLabel(pair.id, pair.content_hash, "Ada", "b", "random")])
    assert [of["annotator"] for of in judgenet("export", study.name, "--what", "labels").lines] == ["Ada"]


def test_indexes_of_shards_that_are_gone_are_removed(
    study: Path, judgenet: Judgenet, at: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGENET_STATE_DIR", str(tmp_path / "state"))
    assert judgenet("run", study.name, *at, "--shard", "1/3", "-q").code == 0
    assert judgenet("metrics", study.name).code == 0
    shutil.move(tmp_path / "study.shards", tmp_path / "other.shards")
    assert judgenet("metrics", "other.shards").code == 0
    assert len(list((tmp_path / "state" / "shard-indexes").iterdir())) == 1


def test_a_matrix_has_every_column_but_texts() -> None:
    """What a later store keeps of a call is either in the matrix or a text that is read from the shard."""
    with sqlite3.connect(":memory:") as db:
        for step in _STEPS:
            db.executescript(step.read_text(encoding="utf-8"))
        there = {
            table: {row[1] for row in db.execute(f"PRAGMA table_info({table})")} for table in ("run_calls", "calls")
        }
    assert there["run_calls"] - set(OF_CALL) == {"run", "pair", "call_id", "evidence"}
    texts = {"system_id", "shared_id", "own", "raw_text", "thinking", "likely"}
    assert there["calls"] - set(OF_ANSWER) == {"id", "key", "endpoint", "model", *texts}
