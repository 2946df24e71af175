"""Pairs with pictures from the command line: what may be read, what is asked for, what is refused, and the way back."""

from __future__ import annotations

import io
import json
from pathlib import Path

from PIL import Image

from judgenet.core import presets
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import Settings
from judgenet.core.project import PairsSource, Project, new_salt
from judgenet.store.files import save_project
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet


def png(color: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 6), color).save(out, "PNG")
    return out.getvalue()


def pairs_file(folder: Path, where: str) -> Path:
    part = {"type": "image", "path": where}
    record = {"id": "p", "question": "q", "response_a": [part], "response_b": "b", "human": "a"}
    path = folder / "pairs.jsonl"
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def test_a_run_its_export_and_a_run_over_that(judgenet: Judgenet, tmp_path: Path, server: JudgeServer) -> None:
    (tmp_path / "red.png").write_bytes(png("red"))
    pairs_file(tmp_path, "red.png")
    asked = ("--base-url", server.url, "--model", "seer", "--width", 1, "--depth", 1, "--roles", "none")
    assert judgenet("run", "--pairs", "pairs.jsonl", *asked, "--out", "out").code == 0
    assert [len(entry.pictures) for entry in server.log] == [1, 1]
    (tmp_path / "red.png").unlink()
    assert judgenet("export", "out", "--what", "pairs", "-o", "back.jsonl").code == 0
    # The same run goes on from its export: it asks nothing again.
    assert judgenet("run", "--pairs", "back.jsonl", *asked, "--out", "out").code == 0
    assert len(server.log) == 2
    estimate = judgenet("estimate", "--pairs", "back.jsonl", *asked, "--json").json
    assert estimate["pairs"] == 1
    assert judgenet("run", "--pairs", "back.jsonl", *asked, "--out", "again").code == 0
    assert {entry.pictures[0].sha256 for entry in server.log} == {server.log[0].pictures[0].sha256}
    # What takes no pictures is refused before anything is asked.
    count = server.requests
    blind = judgenet("run", "--pairs", "back.jsonl", *asked[:3], "gpt-3.5-turbo", "--out", "blind")
    assert blind.code == 2
    assert "gpt-3.5-turbo at" in blind.err
    assert "sees no pictures" in blind.err
    assert server.requests == count


def test_a_project_asks_before_it_reads_pictures_elsewhere(
    judgenet: Judgenet, tmp_path: Path, server: JudgeServer
) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "red.png").write_bytes(png("red"))
    pairs_file(inside, str(outside / "red.png"))
    spec = presets.network(1, 1, roles="none", settings=Settings(endpoint="fake", model="seer"))
    profile = EndpointProfile("fake", base_url=server.url, model="seer")
    source = PairsSource(("pairs.jsonl",))
    project = inside / "study.judgenet"
    save_project(Project("s", spec, salt=new_salt(), pairs=source, endpoints=(profile,)), project)

    refused = judgenet("run", project)
    assert refused.code != 0
    assert f"read {outside}, which is outside its folder" in refused.err
    assert not server.log
    assert str(outside) in judgenet("endpoint", "trust", project).out
    assert judgenet("run", project).code == 0
    assert [len(entry.pictures) for entry in server.log] == [1, 1]
    # The same file named on the command line has no project that somebody approved.
    elsewhere = judgenet("run", "--pairs", inside / "pairs.jsonl", "--base-url", server.url, "--model", "m")
    assert "lies outside the folder of the file that names it" in elsewhere.err
