"""Projects and stores that version 0.1.0 made open, show the same figures, and are gone on with."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from judgenet.store.db import Store
from judgenet.store.runs import full_calls, run_info, runs
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

KEPT = Path(__file__).parent / "version_0_1"
DIGEST = "c096729f03a18e76b6d7d5b3587e402d5a581a0647aa2a385de9f80616283605"
"""Of the prompts of version 0.1.0."""
CALLS = 12 * (1 + 4 * 2)
"""Roles, and four neurons in two orders, for each pair."""
STOPPED_AFTER = 50


@pytest.fixture
def kept(tmp_path: Path, server: JudgeServer) -> Path:
    """The kept projects in a folder of their own, with the address of a judge of today."""
    for path in (KEPT / "pairs.jsonl", *KEPT.glob("*.judgenet")):
        shutil.copy(path, tmp_path)
    for name in ("finished", "stopped"):
        packed = (KEPT / f"{name}.judgenet.db.gz").read_bytes()
        (tmp_path / f"{name}.judgenet.db").write_bytes(gzip.decompress(packed))
        project = tmp_path / f"{name}.judgenet"
        record = json.loads(project.read_text(encoding="utf-8"))
        record["endpoints"]["judge"]["base_url"] = f"{server.url}/v1"
        project.write_text(json.dumps(record), encoding="utf-8")
    return tmp_path


def _then(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((KEPT / f"{name}.metrics.json.gz").read_bytes()))
    return found


def _differences(then: Any, now: Any, at: str = "") -> list[str]:
    """Where figures differ; keys that came later aside, and intervals with their reasons: bootstraps draw pseudo-pairs
    too since, so that they do not collapse where all pairs are equal."""
    if isinstance(then, dict) and isinstance(now, dict):
        found = [f"{at}.{key} is gone" for key in then.keys() - now.keys() if not key.endswith("ci")]
        for key in then.keys() & now.keys():
            if not key.endswith("ci"):
                found += _differences(then[key], now[key], f"{at}.{key}")
        return found
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [
            words
            for place, two in enumerate(zip(then, now, strict=True))
            for words in _differences(*two, f"{at}[{place}]")
        ]
    if isinstance(then, float) and isinstance(now, float):
        return [] if now == pytest.approx(then, abs=1e-12) else [f"{at}: {then} is {now}"]
    return [] if then == now else [f"{at}: {then} is {now}"]


def _entries(project: Path) -> tuple[int, str, int]:
    """How many runs a store holds, the prompts of the newest, and its calls."""
    with Store.open(project.with_name(project.name + ".db"), readonly=True) as store:
        run = run_info(store)
        return len(runs(store)), str(run.record["prompts"]), len(list(full_calls(store, run)))


@pytest.mark.parametrize("name", ["finished", "stopped"])
def test_figures_are_those_that_version_0_1_gave(judgenet: Judgenet, kept: Path, name: str) -> None:
    assert _differences(_then(name), judgenet("metrics", f"{name}.judgenet", "--json").json) == []
    assert judgenet("report", f"{name}.judgenet", "-o", "report.html").code == 0
    assert judgenet("export", f"{name}.judgenet", "--what", "verdicts", "-o", "verdicts.csv").code == 0


def test_a_finished_run_is_not_paid_for_again(judgenet: Judgenet, kept: Path, server: JudgeServer) -> None:
    assert judgenet("run", "finished.judgenet").code == 0
    assert server.requests == 0
    assert _entries(kept / "finished.judgenet") == (1, DIGEST, CALLS)
    assert _differences(_then("finished"), judgenet("metrics", "finished.judgenet", "--json").json) == []


def test_a_stopped_run_goes_on_with_its_prompts(judgenet: Judgenet, kept: Path, server: JudgeServer) -> None:
    estimate = judgenet("estimate", "stopped.judgenet", "--json").json
    assert estimate["calls_recorded"] == STOPPED_AFTER
    assert judgenet("run", "stopped.judgenet").code == 0
    assert (server.requests, server.judge.paid_again) == (CALLS - STOPPED_AFTER, 0)
    assert _entries(kept / "stopped.judgenet") == (1, DIGEST, CALLS)
    # Salt and pairs are those of the finished run, and so are the prompts to the letter: the judge says the same.
    whole, now = _then("finished"), judgenet("metrics", "stopped.judgenet", "--json").json
    for figures in ("aggregations", "neurons", "position", "scores", "calls"):
        assert _differences(whole[figures], now[figures]) == []
