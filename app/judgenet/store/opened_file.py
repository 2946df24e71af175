"""The file of an open store: it may be moved, deleted or replaced while it is written, and lie where nothing may be
written beside it while it is read."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import NamedTuple


class Trouble(NamedTuple):
    """Why a store cannot be written now: what is wrong, what mends it meanwhile, and what is to be done after the end.

    ``gone`` where its file is no longer where it was; what is written goes into it all the same. ``lost`` where that
    file has no name any more, and ends with the program.
    """

    what: str
    meanwhile: str
    afterwards: str
    gone: bool = False
    lost: bool = False

    @property
    def message(self) -> str:
        return f"{self.what} {self.meanwhile}"


class OpenedFile:
    """The file of a store as it was when it was opened for writing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._path_then = path.absolute()
        self._identity: tuple[int, int] | None = None

    def opened(self) -> None:
        """Notes which file it is. Until then nothing is known to be gone."""
        status = self._path.stat()
        self._identity = (status.st_dev, status.st_ino)

    def gone(self) -> Trouble | None:
        """What became of the store's file, where it is no longer the one that was opened: what is written now would be
        found by nobody."""
        if self._identity is None:
            return None
        try:
            status = self._path_then.stat()
        except OSError:
            status = None
        if status is not None and (status.st_dev, status.st_ino) == self._identity:
            return None
        place = self._place()
        if place is not None:
            what = f"{self._path}: was moved to {place} while it is open."
            afterwards = f"What was judged is kept there: go on with it in {place.parent}, or move it back first."
        elif status is not None:
            what = f"{self._path}: another file took its place while it is open."
            afterwards = "Put back the file that was there, or name another folder."
        else:
            what = f"{self._path}: was deleted or moved while it is open."
            afterwards = "Put it back where it was and start again; without it, another start begins anew."
        meanwhile = "No more calls are sent. Put it back and the run goes on, or stop it."
        return Trouble(what, meanwhile, afterwards, gone=True, lost=place is None)

    def _place(self) -> Path | None:
        """Where the opened file lies now; ``None`` where the system does not tell, or it has no name any more."""
        for link in Path("/proc/self/fd").glob("*"):
            with contextlib.suppress(OSError):
                status = link.stat()
                if (status.st_dev, status.st_ino) == self._identity:
                    place = Path(os.readlink(link))
                    return place if place.exists() else None
        return None


class ReadableFile:
    """How the file of a store is read by those who write nothing.

    Where SQLite cannot even put its index of the write-ahead log beside the store (a folder or disk that is read-only),
    the file is read as one that nobody changes, or, where a log is left from a run that was killed, both are read in a
    copy.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._uri = ""
        self._copy: tempfile.TemporaryDirectory[str] | None = None

    def uri(self) -> str:
        """The address for SQLite, found out once. Not for several threads at a time."""
        if self._uri:
            return self._uri
        uri = self._path.absolute().as_uri()
        self._uri = f"{uri}?mode=ro"
        try:
            with contextlib.closing(sqlite3.connect(self._uri, uri=True, timeout=10)) as tried:
                tried.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            log_left = self._path.with_name(self._path.name + "-wal")
            if log_left.exists() and log_left.stat().st_size:
                self._copy = tempfile.TemporaryDirectory(prefix="judgenet-")
                for file in (self._path, log_left):
                    shutil.copyfile(file, Path(self._copy.name) / file.name)
                self._uri = (Path(self._copy.name) / self._path.name).as_uri()
            else:
                self._uri = f"{uri}?mode=ro&immutable=1"
        return self._uri

    def close(self) -> None:
        """Removes the copy, where there is one."""
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None
