"""Commands that only read work on a run that cannot be written: another's folder, a mounted snapshot, a backup."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgenet.store.db import Store, StoreError
from judgenet.store.runs import run_info, spent
from tests.unit.cli.conftest import Judgenet

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders of Windows are not made read-only so")

At = tuple[str, ...]
NOBODY = 65534
READS = (
    ("metrics", "out"),
    ("metrics", "out", "--json"),
    ("labels", "out"),
    ("rate", "out"),
    ("rank", "out"),
    ("compare", "out", "out"),
    ("curve", "out"),
    ("export", "out", "--what", "calls"),
    ("export", "out", "--what", "verdicts", "--format", "csv"),
)


@contextlib.contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """The folder and all in it can be read and not written, also where root runs the tests."""
    found = [folder, *folder.rglob("*")]
    for path in found:
        path.chmod(0o555 if path.is_dir() else 0o444)
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        with pytest.raises(OSError, match="denied"):
            (folder / "new").touch()
        yield
    finally:
        if root:
            os.seteuid(0)
        for path in found:
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.fixture
def here(judgenet: Judgenet, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that everybody may look into; pytest's own are for their owner."""
    folder = Path(tempfile.mkdtemp(prefix="judgenet-test-"))
    folder.chmod(0o755)
    (folder / "config").mkdir()
    monkeypatch.setenv("JUDGENET_CONFIG_DIR", str(folder / "config"))
    monkeypatch.chdir(folder)
    yield folder
    shutil.rmtree(folder)


def test_everything_that_reads_works_as_before(judgenet: Judgenet, pairs: Path, at: At, here: Path) -> None:
    pairs = Path(shutil.copy(pairs, here))
    assert judgenet("run", "--pairs", pairs, *at, "--out", "out").code == 0
    before = [judgenet(*command) for command in READS]
    files = sorted(here.rglob("*"))
    with unwritable(here):
        after = [judgenet(*command) for command in READS]
        refused = judgenet("run", "--pairs", pairs, *at, "--out", "out")
    assert [ran.code for ran in before] == [ran.code for ran in after]
    assert before == after
    assert before[0].code == 0
    assert sorted(here.rglob("*")) == files
    # Running is refused for what it is; nothing is broken that a backup would mend.
    assert refused.code != 0
    assert "backup" not in refused.err
    assert "writable" in refused.err
    (reports := here / "reports").mkdir()
    reports.chmod(0o777)
    # What it loads may not be readable for nobody: it is loaded before.
    assert judgenet("report", "out", "-o", reports / "before.html").code == 0
    with unwritable(here / "out"):
        assert judgenet("report", "out", "-o", reports / "report.html").code == 0


@pytest.mark.parametrize("with_index", [True, False])
def test_what_a_killed_run_left_in_the_log_is_read_too(
    judgenet: Judgenet, pairs: Path, at: At, here: Path, with_index: bool
) -> None:
    assert judgenet("run", "--pairs", pairs, *at, "--out", "whole", "--max-calls", 20).code == 3
    with Store.open(here / "whole/run.judgenet.db") as store:
        store.set_meta("left", "in the log")
        left = here / "left"
        shutil.copytree(here / "whole", left)
    if not with_index:
        (left / "run.judgenet.db-shm").unlink()
    assert (left / "run.judgenet.db-wal").stat().st_size
    size = (left / "run.judgenet.db-wal").stat().st_size
    with unwritable(here), Store.open(left / "run.judgenet.db", readonly=True) as store:
        assert store.meta("left") == "in the log"
        assert spent(store, run_info(store)).calls == 20
    assert (left / "run.judgenet.db-wal").stat().st_size == size


def test_what_writes_says_why_it_cannot(here: Path) -> None:
    path = here / "s.judgenet.db"
    with Store.open(path) as store:
        store.set_meta("a", "b")
    path.chmod(0o444)
    with Store.open(path, readonly=True) as store:
        assert store.meta("a") == "b"
    with unwritable(here), pytest.raises(StoreError, match="writable"):
        Store.open(path)
