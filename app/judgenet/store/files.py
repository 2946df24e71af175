"""Reading and writing files so that none is ever half written."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from pathlib import Path, PurePath
from typing import TypeVar

from judgenet.core.project import PROJECT_SUFFIX, Project, ProjectError, rebased
from judgenet.store.links import link_out
from judgenet.store.secrets import key_in

BACKUP_SUFFIX = ".bak"
_ON_WINDOWS = os.name == "nt"
_WINDOWS_TRIES = 10

P = TypeVar("P", bound=PurePath)


class FileError(OSError):
    """A file that cannot be read or written; the message names it and says what to do."""


def atomic_write(path: Path, content: str | bytes) -> None:
    """Writes a file whole or not at all: a temporary file beside it, flushed to the disk, takes its place.

    Text is written as UTF-8 with line feeds as they are. A symbolic link stays one. An existing file keeps its
    permissions.

    :raises FileError: where it cannot be written; the earlier file is then unchanged.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        target = path.resolve()
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, temporary)
            _replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        _flush_folder(target.parent)
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror or error}); what was there is unchanged.") from None


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte-order mark.

    :raises FileError: where it cannot be read or is not UTF-8.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileError(f"{path} does not exist.") from None
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error.strerror or error}).") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        detail = "it is UTF-16" if utf16 else f"byte {error.start + 1} is {data[error.start]:#04x}"
        raise FileError(f"{path} is not UTF-8 ({detail}); save it as UTF-8.") from None


def load_project(path: Path) -> Project:
    """Reads a project file.

    :raises ProjectError: where it cannot be read or is no project; the message begins with the file's name.
    """
    try:
        return Project.loads(read_text(path))
    except FileError as error:
        raise ProjectError("", str(error)) from None
    except ProjectError as error:
        raise ProjectError("", f"{path}: {error}") from None


def save_project(project: Project, path: Path, *, loaded_from: Path | None = None, backup: bool = True) -> None:
    """Writes a project file, whole or not at all. The file before it, where it differs, stays as ``NAME.bak`` unless
    ``backup`` is off.

    Absolute paths in the project become relative to the file. With ``loaded_from`` ("save as"), relative ones are
    turned so that they still point to the same files.

    :raises ProjectError: for a read-only project, one that holds a key, or a file that cannot be written.
    """
    folder = path.absolute().parent
    before = folder if loaded_from is None else loaded_from.absolute().parent
    text = rebased(project, before, folder).dumps()
    if name := key_in(text):
        raise ProjectError("", f"{path} was not saved: the key {name} itself stands in the project. Take it out.")
    try:
        data = text.encode()
        earlier = path.read_bytes() if path.exists() else None
        if earlier == data:
            return
        if earlier is not None and backup:
            kept = path.with_name(path.name + BACKUP_SUFFIX)
            if link_out(kept) is not None:
                kept.unlink()
            atomic_write(kept, earlier)
        atomic_write(path, data)
    except FileError as error:
        raise ProjectError("", str(error)) from None
    except OSError as error:
        raise ProjectError("", f"{path} cannot be written ({error.strerror or error}).") from None


def store_path(project: P) -> P:
    """The store of a project: beside its file, with the suffix ``.judgenet.db``."""
    if project.name.lower().endswith(PROJECT_SUFFIX):
        return project.with_name(project.name + ".db")
    return project.with_name(f"{project.name}{PROJECT_SUFFIX}.db")


def _replace(temporary: Path, target: Path) -> None:
    """Windows refuses while a virus scanner or indexer has the target open for a moment."""
    for attempt in range(_WINDOWS_TRIES):
        try:
            os.replace(temporary, target)
            return
        except PermissionError:
            if not _ON_WINDOWS or attempt == _WINDOWS_TRIES - 1:
                raise
            time.sleep(0.05 * (attempt + 1))


def _flush_folder(folder: Path) -> None:
    """Makes the new name itself durable; Windows has no such call, and some file systems refuse it."""
    if _ON_WINDOWS:
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
