"""Drafts, copies of what could not be saved, sessions that a crash ended, and files that others change."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.presets import network
from judgenet.core.project import Project, ProjectError
from judgenet.store import recovery
from judgenet.store.db import Store
from judgenet.store.files import load_project, save_project, store_path
from judgenet.store.project_file import FileChanged, ProjectFile

PROJECT = Project("Test", network(2, 1), "0123456789abcdef0123456789abcdef")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("JUDGENET_STATE_DIR", str(folder))
    return folder


def test_drafts_come_and_go() -> None:
    draft = recovery.new_draft()
    save_project(PROJECT, draft)
    assert recovery.is_draft(draft)
    assert recovery.drafts() == [draft]
    recovery.discard_draft(draft)
    assert recovery.drafts() == []


def test_discarding_touches_drafts_only(tmp_path: Path) -> None:
    file = tmp_path / "own" / "a.judgenet"
    file.parent.mkdir()
    save_project(PROJECT, file)
    recovery.discard_draft(file)
    assert file.exists()


def test_a_store_moves_along_and_sets_another_aside(tmp_path: Path) -> None:
    before, after = tmp_path / "a.judgenet", tmp_path / "b.judgenet"
    for file, word in ((before, "mine"), (after, "theirs")):
        with Store.open(store_path(file)) as store:
            store.set_meta("word", word)
    recovery.move_store(before, after)
    with Store.open(store_path(after), readonly=True) as store:
        assert store.meta("word") == "mine"
    assert not store_path(before).exists()
    aside = store_path(after).with_name(store_path(after).name + ".bak")
    with Store.open(aside, readonly=True) as store:
        assert store.meta("word") == "theirs"


def test_a_copy_of_a_store_is_whole(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.judgenet.db") as store:
        store.set_meta("word", "kept")
        store.copy_to(tmp_path / "b.judgenet.db")
    with Store.open(tmp_path / "b.judgenet.db", readonly=True) as store:
        assert store.meta("word") == "kept"


def test_the_backup_is_the_project_as_it_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.judgenet"
    save_project(PROJECT, path)
    file = ProjectFile(path)
    assert file.load() == PROJECT
    for name in ("One", "Two", "Three"):
        file.save(replace(PROJECT, name=name))
    assert load_project(path).name == "Three"
    assert load_project(path.with_name("a.judgenet.bak")).name == "Test"


def test_what_another_program_wrote_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.judgenet"
    save_project(PROJECT, path)
    file = ProjectFile(path)
    file.load()
    save_project(replace(PROJECT, name="Theirs"), path)
    with pytest.raises(FileChanged, match="another program"):
        file.save(replace(PROJECT, name="Mine"))
    assert load_project(path).name == "Theirs"
    kept = recovery.kept_copy(path)
    assert kept is not None
    assert load_project(kept).name == "Mine"
    file.save(replace(PROJECT, name="Mine"), overwrite=True)
    assert load_project(path).name == "Mine"
    assert recovery.kept_copy(path) is None


def test_what_cannot_be_saved_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "a.judgenet"
    file = ProjectFile(path)
    with pytest.raises(ProjectError):
        file.save(PROJECT)
    kept = recovery.kept_copy(path)
    assert kept is not None
    assert load_project(kept) == PROJECT


def test_a_session_that_died_is_told_once(tmp_path: Path) -> None:
    project = tmp_path / "a.judgenet"
    code = (
        "import os; from pathlib import Path; from judgenet.store.recovery import Session\n"
        f"session = Session(); session.set_file(Path({str(project)!r})); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False, timeout=200)
    assert [one.file for one in recovery.ended_sessions()] == [project]
    assert recovery.ended_sessions() == []


def test_sessions_that_live_or_ended_well_are_not_told(tmp_path: Path) -> None:
    living = recovery.Session()
    living.set_file(tmp_path / "a.judgenet")
    assert recovery.ended_sessions() == []
    living.close()
    assert recovery.ended_sessions() == []
