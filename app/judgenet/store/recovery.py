"""Where work is kept that has no file yet, or whose file cannot be written; and which sessions ended by a crash.

Everything lies in the user's state folder: ``JUDGENET_STATE_DIR``, or the system's place for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_state_path

from judgenet.core.project import PROJECT_SUFFIX
from judgenet.store.db import Store
from judgenet.store.files import atomic_write, store_path

STATE_VARIABLE = "JUDGENET_STATE_DIR"


def state_folder() -> Path:
    """The folder of what the program remembers."""
    chosen = os.environ.get(STATE_VARIABLE, "").strip()
    return Path(chosen).expanduser().absolute() if chosen else user_state_path("judgenet", appauthor=False)


def log_file() -> Path:
    """Where the studio's warnings and errors are kept."""
    return state_folder() / "judgenet.log"


# Drafts: projects that were not saved under a name yet


def new_draft() -> Path:
    """The file of a new draft, in a folder of its own that exists."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    folder = state_folder() / "drafts" / f"{stamp}-{secrets.token_hex(3)}"
    folder.mkdir(parents=True)
    return folder / f"Untitled{PROJECT_SUFFIX}"


def is_draft(path: Path) -> bool:
    """Whether a project file is a draft's."""
    return path.absolute().parent.parent == (state_folder() / "drafts").absolute()


def drafts() -> list[Path]:
    """The files of all drafts, the newest first."""
    files = (state_folder() / "drafts").glob(f"*/*{PROJECT_SUFFIX}")
    return sorted(files, key=lambda path: path.parent.name, reverse=True)


def discard_draft(path: Path) -> None:
    """Removes a draft with its store; without effect for other files."""
    if is_draft(path):
        shutil.rmtree(path.absolute().parent, ignore_errors=True)


def move_store(before: Path, after: Path) -> None:
    """Moves the store of a project file to that of another. Neither may be open anywhere.

    A store that is there already is set aside as ``NAME.judgenet.db.bak``.
    """
    set_store_aside(after)
    for source, target in zip(_store_files(before), _store_files(after), strict=True):
        if source.exists():
            shutil.move(source, target)


def set_store_aside(project: Path) -> None:
    """Makes room for another store of a project file; the one before stays as ``NAME.judgenet.db.bak``."""
    for file, kept in zip(_store_files(project), _store_files(project, ".bak"), strict=True):
        if file.exists():
            os.replace(file, kept)


def _store_files(project: Path, more: str = "") -> list[Path]:
    store = store_path(project)
    return [store.with_name(store.name + more + suffix) for suffix in ("", "-wal", "-shm")]


def rescue_store(store: Store) -> Path:
    """Saves a store whose file was deleted while it is open; what is in it ends with the program otherwise.

    :raises OSError: it cannot be saved.
    :raises sqlite3.Error: the same.
    """
    folder = state_folder() / "rescued" / f"{datetime.now(UTC).strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
    folder.mkdir(parents=True)
    store.copy_to(folder / store.path.name)
    return folder / store.path.name


# Copies of what could not be saved


def _copy_of(path: Path) -> Path:
    name = hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return state_folder() / "unsaved" / f"{name}{PROJECT_SUFFIX}"


def keep_copy(path: Path, text: str) -> Path:
    """Keeps the text of a project whose file cannot be written."""
    copy = _copy_of(path)
    copy.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(copy, text)
    return copy


def kept_copy(path: Path) -> Path | None:
    """The copy kept for a project file, if there is one."""
    copy = _copy_of(path)
    return copy if copy.exists() else None


def drop_copy(path: Path) -> None:
    """Forgets the copy of a project file."""
    with contextlib.suppress(OSError):
        _copy_of(path).unlink()


# Sessions


@dataclass(frozen=True, slots=True)
class UnclosedSession:
    """A session that ended without closing its project ``file``."""

    file: Path
    at: datetime


class Session:
    """This program's mark that it has a project open. The mark of a program that died is recognised by its free lock.

    Without a folder to write in there is no mark, and nothing else changes.
    """

    def __init__(self) -> None:
        folder = state_folder() / "sessions"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        self._mark = folder / f"{os.getpid()}-{secrets.token_hex(4)}.json"
        self._lock = FileLock(str(self._mark.with_suffix(".lock")))
        with contextlib.suppress(OSError, Timeout):
            self._lock.acquire(timeout=0)

    def set_file(self, file: Path | None) -> None:
        """Notes which project is open; ``None`` for none."""
        if file is None:
            with contextlib.suppress(OSError):
                self._mark.unlink()
            return
        record = {"file": str(file.absolute()), "at": datetime.now(UTC).isoformat()}
        with contextlib.suppress(OSError):
            atomic_write(self._mark, json.dumps(record))

    def close(self) -> None:
        """The session ends by itself."""
        self.set_file(None)
        self._lock.release()
        with contextlib.suppress(OSError):
            self._mark.with_suffix(".lock").unlink()


def ended_sessions() -> list[UnclosedSession]:
    """Sessions that did not end by themselves, the newest first. Each is reported once."""
    sessions = []
    for mark in (state_folder() / "sessions").glob("*.json"):
        lock = FileLock(str(mark.with_suffix(".lock")))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            continue
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            record = json.loads(mark.read_text(encoding="utf-8"))
            sessions.append(UnclosedSession(Path(record["file"]), datetime.fromisoformat(record["at"])))
        with contextlib.suppress(OSError):
            mark.unlink()
        lock.release()
        with contextlib.suppress(OSError):
            mark.with_suffix(".lock").unlink()
    return sorted(sessions, key=lambda session: session.at, reverse=True)
