"""Which disks are shared with other machines, and what is kept off them."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgenet.store import local_disk
from judgenet.store.local_disk import file_system, local_folder, on_network

MOUNTS = (
    ("/", "ext4"),
    ("/net", "nfs4"),
    ("/net/ada/local disk", "xfs"),
    ("/scratch", "lustre"),
    ("/mnt/far", "fuse.sshfs"),
    ("/mnt/near", "fuse.ntfs-3g"),
    ("/data", "ext4"),
    ("/data", "cifs"),
)


@pytest.fixture(autouse=True)
def mounts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_disk, "_mounts", lambda: iter(MOUNTS))


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/usr/share/x", "ext4", False),
        ("/net/ada/study.shards", "nfs4", True),
        ("/net/ada/local disk/study", "xfs", False),
        ("/nets/ada", "ext4", False),
        ("/scratch", "lustre", True),
        ("/mnt/far/study", "fuse.sshfs", True),
        ("/mnt/near/study", "fuse.ntfs-3g", False),
        ("/data/study", "cifs", True),  # mounted over the other one
    ],
)
def test_the_innermost_mount_says_what_a_disk_is(path: str, kind: str, network: bool) -> None:
    assert file_system(Path(path), iter(MOUNTS)) == kind
    assert on_network(Path(path)) is network


def test_a_home_on_a_network_is_left_for_the_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("JUDGENET_STATE_DIR", "/net/ada/.local/state/judgenet")
    place = local_folder("indexes")
    assert place.is_relative_to(tmp_path)
    assert place.parent.stat().st_mode & 0o077 == 0
    monkeypatch.setenv("JUDGENET_STATE_DIR", str(tmp_path / "state"))
    assert local_folder("indexes") == tmp_path / "state" / "indexes"
