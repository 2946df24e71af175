from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path, PureWindowsPath

import pytest

from judgenet.core.network import LayerSpec, NetworkSpec, NeuronSpec
from judgenet.core.project import PairsSource, Project, ProjectError
from judgenet.store import files
from judgenet.store.files import FileError, atomic_write, load_project, read_text, save_project, store_path
from judgenet.store.secrets import set_session_key
from tests.fakes.keyrings import MemoryKeyring

PROJECT = Project.new("Test", NetworkSpec(layers=(LayerSpec((NeuronSpec(),)),)))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_file_is_written_as_utf8_with_its_line_feeds(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    atomic_write(path, "中\n\r\n")
    assert path.read_bytes() == "中\n\r\n".encode()
    atomic_write(path, b"bytes")
    assert path.read_bytes() == b"bytes"
    assert names(tmp_path) == {"x.txt"}


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_earlier_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    path = tmp_path / "x.txt"
    atomic_write(path, "before")

    def no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, failing, no_space)
    with pytest.raises(FileError, match=r"x\.txt cannot be written \(No space left on device\).*unchanged"):
        atomic_write(path, "after")
    assert path.read_text(encoding="utf-8") == "before"
    assert names(tmp_path) == {"x.txt"}


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere"):
        atomic_write(tmp_path / "nowhere" / "x.txt", "x")


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions and links")
def test_permissions_and_links_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("a", encoding="utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    atomic_write(link, "b")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "b"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    fresh = tmp_path / "fresh.txt"
    atomic_write(fresh, "c")
    plain = tmp_path / "plain.txt"
    plain.write_text("d", encoding="utf-8")
    assert fresh.stat().st_mode == plain.stat().st_mode


def test_readers_never_see_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    contents = {letter * 300_000 for letter in "ab"}
    atomic_write(path, "a" * 300_000)
    stop = threading.Event()
    seen: set[str] = set()

    def read() -> None:
        while not stop.is_set():
            seen.add(path.read_text(encoding="utf-8"))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(40):
        atomic_write(path, "ab"[turn % 2] * 300_000)
    stop.set()
    reader.join()
    assert seen
    assert seen <= contents


def test_a_killed_writer_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    atomic_write(path, "before")
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from judgenet.store import files\n"
        "files.os.fsync = lambda _: os._exit(9)\n"
        "files.atomic_write(Path(sys.argv[1]), 'after' * 100_000)\n"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert run.returncode == 9
    assert path.read_text(encoding="utf-8") == "before"


def test_windows_gets_more_than_one_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.txt"
    tries: list[object] = []
    replace_file = os.replace

    def busy(source: Path, target: Path) -> None:
        tries.append(source)
        if len(tries) < 3:
            raise PermissionError(errno.EACCES, "in use")
        replace_file(source, target)

    monkeypatch.setattr(files, "_ON_WINDOWS", True)
    monkeypatch.setattr(os, "replace", busy)
    atomic_write(path, "x")
    assert len(tries) == 3
    assert path.read_text(encoding="utf-8") == "x"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("text".encode("utf-16"), "it is UTF-16"),
        (b"ab\xff", "byte 3 is 0xff"),
    ],
)
def test_a_file_in_another_encoding_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(FileError, match=words):
        read_text(tmp_path / "x")


def test_a_project_is_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "name with space é.judgenet"
    save_project(PROJECT, path)
    assert load_project(path) == PROJECT
    assert names(tmp_path) == {path.name}


def test_the_file_before_stays_as_a_backup_where_something_changed(tmp_path: Path) -> None:
    path = tmp_path / "p.judgenet"
    save_project(PROJECT, path)
    before = path.stat().st_mtime_ns
    save_project(PROJECT, path)
    assert path.stat().st_mtime_ns == before
    assert names(tmp_path) == {"p.judgenet"}
    save_project(replace(PROJECT, name="Changed"), path)
    assert load_project(path).name == "Changed"
    assert load_project(tmp_path / "p.judgenet.bak") == PROJECT


def test_a_file_with_byte_order_mark_and_crlf_is_read(tmp_path: Path) -> None:
    path = tmp_path / "p.judgenet"
    path.write_bytes(b"\xef\xbb\xbf" + PROJECT.dumps().replace("\n", "\r\n").encode())
    assert load_project(path) == PROJECT


@pytest.mark.parametrize(
    ("data", "words"),
    [(None, "does not exist"), (b"", "not JSON"), (b"{}", "schema: is missing"), (b"\xff\xfe{\x00", "UTF-16")],
)
def test_a_file_that_is_no_project_is_named(tmp_path: Path, data: bytes | None, words: str) -> None:
    path = tmp_path / "p.judgenet"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ProjectError, match=rf"p\.judgenet.*{words}"):
        load_project(path)


def test_a_folder_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="cannot be read"):
        load_project(tmp_path)


def test_a_newer_project_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "p.judgenet"
    text = PROJECT.dumps().replace('"schema": 1', '"schema": 2').replace('"requires": "0.1.0"', '"requires": "0.9"')
    path.write_text(text, encoding="utf-8")
    project = load_project(path)
    assert project.readonly
    with pytest.raises(ProjectError, match=r"read-only.*JudgeNet 0\.9"):
        save_project(replace(project, name="Changed"), path)
    assert path.read_text(encoding="utf-8") == text


def test_paths_become_relative_to_the_file(tmp_path: Path) -> None:
    data = tmp_path / "data" / "pairs.csv"
    path = tmp_path / "projects" / "p.judgenet"
    path.parent.mkdir()
    save_project(replace(PROJECT, pairs=PairsSource(files=(str(data), "near.csv"))), path)
    loaded = load_project(path)
    assert loaded.pairs is not None
    assert loaded.pairs.files == ("../data/pairs.csv", "near.csv")
    save_project(loaded, tmp_path / "copy.judgenet", loaded_from=path)
    copy = load_project(tmp_path / "copy.judgenet")
    assert copy.pairs is not None
    assert copy.pairs.files == ("data/pairs.csv", "projects/near.csv")


def test_a_key_of_any_shape_is_not_written(tmp_path: Path, key_store: MemoryKeyring) -> None:
    set_session_key("MY_KEY", "correct-horse-battery")
    path = tmp_path / "p.judgenet"
    with pytest.raises(ProjectError, match="the key MY_KEY itself") as caught:
        save_project(replace(PROJECT, metadata={"notes": "it is correct-horse-battery"}), path)
    assert "correct-horse" not in str(caught.value)
    assert not path.exists()


def test_a_full_disk_leaves_the_project_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.judgenet"
    save_project(PROJECT, path)

    def no_space(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(ProjectError, match="No space left"):
        save_project(replace(PROJECT, name="Changed"), path)
    assert load_project(path) == PROJECT


def test_the_store_lies_beside_the_project() -> None:
    assert store_path(Path("a/b.judgenet")) == Path("a/b.judgenet.db")
    assert store_path(Path("a/b.c.JudgeNet")) == Path("a/b.c.JudgeNet.db")
    assert store_path(Path("a/b.json")) == Path("a/b.json.judgenet.db")
    assert store_path(PureWindowsPath("C:\\a\\b.judgenet")) == PureWindowsPath("C:\\a\\b.judgenet.db")
