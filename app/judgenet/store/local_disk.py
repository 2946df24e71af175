"""Tells disks that are shared with other machines, and says where files go that must not lie on one of these.

SQLite's journal fails there: a write-ahead log needs memory that all readers share, and locks are often not kept.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from judgenet.store.files import FileError
from judgenet.store.recovery import state_folder

_NETWORK: Final = frozenset(
    (
        *("afp", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs2", "glusterfs", "gpfs", "lustre"),
        *("ncpfs", "nfs", "nfs3", "nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb", "smb2", "smb3", "smbfs"),
        *("vboxsf", "wekafs"),
    )
)
"""File systems of other machines, by the names that Linux and macOS have for them."""
_NETWORK_FUSE: Final = re.compile(
    r"fuse[a-z]*\.(sshfs|ceph|glusterfs|s3fs|gcsfuse|mount-s3|blobfuse2?|juicefs|rclone|davfs2|lustre|beegfs|moosefs|mfs)"
)
_REMOTE_DRIVE: Final = 4
"""``DRIVE_REMOTE`` of Windows."""
_MACOS_MOUNT: Final = re.compile(r" on (/.*) \(([^,)]+)")


def on_network(path: Path) -> bool:
    """Whether a file or folder, there or not, lies on a network file system; false where the system does not say."""
    place = path.absolute()
    if sys.platform == "win32":  # pragma: no cover - the system's own answer
        import ctypes

        drive = place.drive
        return drive.startswith("\\\\") or ctypes.windll.kernel32.GetDriveTypeW(f"{drive}\\") == _REMOTE_DRIVE
    kind = file_system(place.resolve(), _mounts())
    return kind in _NETWORK or _NETWORK_FUSE.fullmatch(kind) is not None


def file_system(path: Path, mounts: Iterator[tuple[str, str]]) -> str:
    """The kind of the file system on which an absolute path lies, by the mounts (folder, kind) in their order; empty
    where none holds it."""
    holding = ((len(folder), at, kind) for at, (folder, kind) in enumerate(mounts) if path.is_relative_to(folder))
    return max(holding, default=(0, 0, ""))[2]


def _mounts() -> Iterator[tuple[str, str]]:
    """The mounted file systems: folder and kind. A later one hides an earlier one at the same folder."""
    try:
        if sys.platform == "darwin":  # pragma: no cover - the system's own answer
            lines = subprocess.run(["/sbin/mount"], capture_output=True, text=True, timeout=5, check=True).stdout
            yield from _MACOS_MOUNT.findall(lines)
            return
        for line in Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            _, folder, kind, *_ = line.split(" ")
            yield re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), folder), kind
    except (OSError, ValueError, subprocess.SubprocessError):
        return


def local_folder(name: str) -> Path:
    """A folder on this machine for files that the program can make again: among what it remembers, or where the home
    lies on a network file system (as on many clusters) among the temporary files.

    :raises FileError: it cannot be made, or belongs to another user.
    """
    if not on_network(state_folder()):
        return private_folder(state_folder() / name)
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return private_folder(Path(tempfile.gettempdir()) / f"judgenet-{user}") / name


def private_folder(folder: Path) -> Path:
    """Makes a folder that nobody else can read, if it is not there.

    :raises FileError: it cannot be made, or belongs to another user.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        foreign = hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()
    except OSError as error:
        raise FileError(f"{folder} cannot be made ({error.strerror or error}). Set TMPDIR to another disk.") from None
    if foreign:
        raise FileError(f"{folder} belongs to another user. Set TMPDIR to a folder of your own.")
    return folder


def put_copy(source: Path, target: Path) -> None:
    """Copies a file into a shared folder: whole under another name first, then it takes its place.

    :raises FileError: it cannot be written.
    """
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        shutil.copyfile(source, draft)
        with open(draft, "rb+") as file:
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise FileError(
            f"{target} cannot be written ({error.strerror or error}); what was there is unchanged."
        ) from None
