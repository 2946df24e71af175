"""``judgenet version --check``: through the real pip, which sees a folder of the test's own or nothing."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from judgenet.engine import updates
from judgenet.engine.updates import upgrade_command
from judgenet.version import __version__
from tests.unit.cli.conftest import Judgenet


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all that pip sees."""
    folder = tmp_path / "offered"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def offer(folder: Path, version: str) -> None:
    """Puts a release there; pip looks at its name alone."""
    with zipfile.ZipFile(folder / f"judgenet-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("judgenet/version.py", "")


def test_a_newer_version_is_named_with_the_way_to_it(judgenet: Judgenet, offered: Path) -> None:
    for version in ("0.0.9", "99.10.0", "99.9.0"):
        offer(offered, version)
    ran = judgenet("version", "--check")
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == f"JudgeNet 99.10.0 is newer. To have it: {upgrade_command()}"
    shown = judgenet("version", "--check", "--json").json
    assert shown["judgenet"] == __version__
    assert shown["update"] == {"latest": "99.10.0", "newer": True, "upgrade": upgrade_command()}


def test_the_newest_version_says_so(judgenet: Judgenet, offered: Path) -> None:
    offer(offered, "0.0.9")
    assert judgenet("version", "--check").out.splitlines()[-1].startswith("This is the newest version")
    assert judgenet("version", "--check", "--json").json["update"] == {"latest": "0.0.9", "newer": False}


def test_without_a_network_it_only_does_not_know(judgenet: Judgenet, offered: Path) -> None:
    ran = judgenet("version", "--check")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1] == (
        "Whether there is a newer version is not known. "
        "The package index has no release of JudgeNet, or could not be reached."
    )
    update = judgenet("version", "--check", "--json").json["update"]
    assert (update["latest"], update["newer"]) == (None, False)
    assert "could not be reached" in update["reason"]


def test_an_index_that_does_not_answer_is_not_waited_for(judgenet: Judgenet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updates, "child_command", lambda *_: (sys.executable, "-c", "import time; time.sleep(60)"))
    monkeypatch.setattr(updates, "SECONDS", 0.2)
    ran = judgenet("version", "--check")
    assert ran.code == 0
    assert "The package index could not be asked" in ran.out


def test_what_pip_stumbled_over_is_told(judgenet: Judgenet, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "ERROR: Exception:\nTraceback (most recent call last):\n  File x\nOSError: no certificate at absent.pem\n"
    code = f"import sys; sys.stderr.write({said!r}); sys.exit(2)"
    monkeypatch.setattr(updates, "child_command", lambda *_: (sys.executable, "-c", code))
    ran = judgenet("version", "--check")
    assert ran.code == 0
    assert ran.out.splitlines()[-1].endswith(
        "pip could not ask the package index: OSError: no certificate at absent.pem"
    )


def test_nobody_is_asked_without_the_option(judgenet: Judgenet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updates, "check_for_update", lambda: pytest.fail("the index was asked"))
    assert judgenet("version").code == 0


@pytest.mark.parametrize(
    ("receipt", "command"),
    [("uv-receipt.toml", "uv tool upgrade judgenet"), ("pipx_metadata.json", "pipx upgrade judgenet")],
)
def test_the_way_to_a_newer_version_is_that_of_the_installation(
    receipt: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / receipt).touch()
    assert upgrade_command() == command
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert upgrade_command() == "Install the newer package over this one."
