"""The examples for clusters, run with a stand-in for ``judgenet``: what a task does around it is theirs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

EXAMPLES = Path(__file__).parents[2] / "examples"

JUDGENET = """#!/bin/sh
echo "$@" > "$TOLD"
trap 'echo stopped >> "$TOLD"; echo kept > "study.shards/$SHARD/run.judgenet.db"; exit 130' TERM
cat "study.shards/$SHARD/run.judgenet.db" >> "$TOLD" 2>/dev/null
i=0
while [ -n "$SLOW" ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i + 1)); done
for file in run.judgenet run.judgenet.db pairs.parquet matrix.parquet manifest.json; do
    echo "new $file" > "study.shards/$SHARD/$file"
done
exit "${ENDS:-0}"
"""
"""Says what it was asked and what it found; ends at once, or waits to be told to (SLOW)."""

SHARD = "0017-of-0300"
FILES = ["manifest.json", "matrix.parquet", "pairs.parquet", "run.judgenet", "run.judgenet.db"]

Task = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """The folder of the study, which all nodes see."""
    folder = tmp_path / "study"
    folder.mkdir()
    for name in ("study.judgenet", "pairs.jsonl"):
        (folder / name).write_text("{}", encoding="utf-8")
    return folder


@pytest.fixture(params=["slurm", "kubernetes"])
def task(request: pytest.FixtureRequest, tmp_path: Path, shared: Path) -> Task:
    """Starts the task of shard 17 of 300."""
    if os.name == "nt" or shutil.which("bash") is None:
        pytest.skip("the examples are for shells of Unix")
    programs, disk = tmp_path / "programs", tmp_path / "disk"
    programs.mkdir()
    disk.mkdir()
    (programs / "judgenet").write_text(JUDGENET, encoding="utf-8")
    (programs / "judgenet").chmod(0o755)
    about = {"PATH": f"{programs}:{os.environ['PATH']}", "TOLD": str(tmp_path / "told"), "SHARD": SHARD}

    def start(**more: str) -> subprocess.Popen[bytes]:
        if request.param == "slurm":
            about.update(SLURM_ARRAY_TASK_ID="17", SLURM_JOB_ID="4711", SLURM_TMPDIR=str(disk))
            return subprocess.Popen(["bash", EXAMPLES / "slurm-array.sh"], cwd=shared, env={**about, **more})
        job = yaml.safe_load((EXAMPLES / "kubernetes-job.yml").read_text(encoding="utf-8"))
        (container,) = job["spec"]["template"]["spec"]["containers"]
        # The pod's folders are those of this test.
        (script,) = (text.replace("/study/", f"{shared}/") for text in container["args"])
        about.update(JOB_COMPLETION_INDEX="16")
        return subprocess.Popen([*container["command"], script], cwd=disk, env={**about, **more})

    return start


def test_a_shard_is_judged_on_the_nodes_disk_and_copied_back(task: Task, shared: Path, tmp_path: Path) -> None:
    there = shared / "study.shards" / SHARD
    there.mkdir(parents=True)
    (there / "run.judgenet.db").write_text("of before\n", encoding="utf-8")
    assert task().wait(30) == 0
    told = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
    assert told == [
        f"run study.judgenet --shard 17/300 --tell {shared / 'study.shards'} --budget 2 --quiet",
        "of before",
    ]
    assert sorted(of.name for of in there.iterdir()) == FILES
    assert (there / "manifest.json").read_text(encoding="utf-8") == "new manifest.json\n"


def test_how_judgenet_ended_is_how_the_task_ends(task: Task, shared: Path) -> None:
    assert task(ENDS="3").wait(30) == 3
    assert (shared / "study.shards" / SHARD / "run.judgenet.db").exists()


def test_a_task_that_is_to_end_keeps_what_is_finished(task: Task, shared: Path, tmp_path: Path) -> None:
    there = shared / "study.shards" / SHARD
    there.mkdir(parents=True)
    (there / "manifest.json").write_text("of before", encoding="utf-8")
    started = task(SLOW="yes")
    ends = time.monotonic() + 20
    while not (tmp_path / "told").exists() or not (tmp_path / "told").read_text(encoding="utf-8"):
        assert time.monotonic() < ends
        time.sleep(0.02)
    started.send_signal(signal.SIGTERM)
    assert started.wait(30) == 130
    assert "stopped" in (tmp_path / "told").read_text(encoding="utf-8")
    assert (there / "run.judgenet.db").read_text(encoding="utf-8") == "kept\n"
    # It has no manifest any more: what the last attempt left is not of this store.
    assert not (there / "manifest.json").exists()


def test_the_job_has_an_index_for_each_shard() -> None:
    job = yaml.safe_load((EXAMPLES / "kubernetes-job.yml").read_text(encoding="utf-8"))
    spec = job["spec"]
    assert (job["kind"], spec["completionMode"], spec["completions"]) == ("Job", "Indexed", 300)
    (container,) = spec["template"]["spec"]["containers"]
    assert "shards=300" in container["args"][0]
    volumes = {of["name"] for of in spec["template"]["spec"]["volumes"]}
    assert {of["name"] for of in container["volumeMounts"]} == volumes
    # Indexes are tried again one by one only with pods that are never restarted.
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    lines = (EXAMPLES / "slurm-array.sh").read_text(encoding="utf-8").splitlines()
    assert "#SBATCH --array=1-300%40" in lines
    assert "shards=300" in lines
