"""What is said where no window can be opened: which libraries and packages are missing, instead of Qt's abort."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judgenet.assets import asset
from judgenet.cli.main import main
from judgenet.ui import screen_check
from judgenet.ui.screen_check import (
    ScreenCheck,
    explain,
    install_command,
    missing_libraries,
    no_screen,
    packages_of,
    platform_gaps,
    platforms,
    plugin_file,
    screen_trouble,
    system_family,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="plug-ins that lack a library are Linux's")

NOWHERE = ":7654"
"""A display that does not exist."""
GIVEN_BY_OTHERS = {
    # The C and C++ libraries, which Python itself and pip's wheels need.
    "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6",
    "linux-vdso.so.1",
    # What comes with the packages of the table, as their dependencies.
    "libXau.so.6", "libXdmcp.so.6", "libbsd.so.0", "libmd.so.0", "libGLdispatch.so.0", "libGLX.so.0",
    "libpcre2-8.so.0", "libpng16.so.16", "libbrotlidec.so.1", "libbrotlicommon.so.1", "libsystemd.so.0",
    "libcap.so.2", "libgcrypt.so.20", "liblzma.so.5", "liblz4.so.1", "libgpg-error.so.0", "libffi.so.8",
    "libatomic.so.1", "libpcre.so.3", "libuuid.so.1", "libbz2.so.1.0",
}  # fmt: skip

Ldd = Callable[..., Path]


@pytest.fixture
def ldd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ldd:
    """Puts an ``ldd`` first on the path that does not find some libraries."""

    def hide(*libraries: str) -> Path:
        folder = tmp_path / "hidden"
        folder.mkdir()
        lines = "".join(f"\t{name} => not found\n" for name in libraries)
        told = f"\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/libc.so.6 (0x00007f01)\n{lines}"
        program = folder / "ldd"
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{told}END\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return folder

    return hide


@pytest.fixture
def debian(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_check, "system_family", lambda: "debian")


@pytest.mark.parametrize("platform", ["xcb", "wayland"])
def test_each_library_that_qt_needs_of_the_system_has_its_package(platform: str) -> None:
    """Also those that a newer Qt asks for: what the loader resolves outside of Qt is in the table."""
    file = plugin_file(platform)
    assert file is not None
    told = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=True).stdout
    needed = {
        line.split()[0] for line in told.splitlines() if "PySide6" not in line and not line.lstrip().startswith("/")
    }
    known = json.loads(asset("system-libraries.json").read_text(encoding="utf-8"))
    assert needed - set(known) - GIVEN_BY_OTHERS == set()
    assert all(set(names) == {"debian", "fedora"} for names in known.values())


def test_missing_libraries_and_their_packages_are_named(ldd: Ldd, debian: None) -> None:
    ldd("libxcb-icccm.so.4", "libxcb-keysyms.so.1", "libunheard.so.9")
    gaps = platform_gaps("xcb")
    assert gaps.libraries == ("libxcb-icccm.so.4", "libxcb-keysyms.so.1", "libunheard.so.9")
    assert gaps.packages == ("libxcb-icccm4", "libxcb-keysyms1")
    trouble = explain("", {"DISPLAY": NOWHERE})
    assert str(trouble) == (
        "Qt's plug-in for X11 (xcb) lacks libxcb-icccm.so.4, libxcb-keysyms.so.1, libunheard.so.9. "
        "Install what is missing: sudo apt-get install libxcb-icccm4 libxcb-keysyms1."
    )


def test_wayland_is_looked_at_where_it_is_preferred(ldd: Ldd, debian: None) -> None:
    ldd("libwayland-cursor.so.0")
    told = str(explain("", {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}))
    assert told.startswith("Qt's plug-in for Wayland (wayland) lacks libwayland-cursor.so.0.")
    assert told.endswith("sudo apt-get install libwayland-cursor0.")


def test_a_system_with_unknown_names_gets_the_libraries(ldd: Ldd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_check, "system_family", lambda: "")
    ldd("libxcb-icccm.so.4")
    told = str(explain("", {"DISPLAY": NOWHERE}))
    assert told.endswith("lacks libxcb-icccm.so.4. Install the packages of your system that hold these libraries.")


@pytest.mark.parametrize(
    ("environment", "tried"),
    [
        ({}, ["xcb"]),
        ({"DISPLAY": ":0"}, ["xcb"]),
        ({"WAYLAND_DISPLAY": "wayland-0"}, ["wayland"]),
        ({"XDG_SESSION_TYPE": "wayland", "DISPLAY": ":0"}, ["wayland", "xcb"]),
        ({"QT_QPA_PLATFORM": "wayland;xcb:rotate", "DISPLAY": ":0"}, ["wayland", "xcb"]),
    ],
)
def test_platforms_that_qt_tries(environment: dict[str, str], tried: list[str]) -> None:
    assert platforms(environment) == tried


@pytest.mark.parametrize(
    ("release", "family", "command"),
    [
        ('NAME="Debian GNU/Linux"\nID=debian\n', "debian", "sudo apt-get install libgl1"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"\n', "debian", "sudo apt-get install libgl1"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "fedora", "sudo dnf install libglvnd-glx"),
        ("ID=nixos\n", "", None),
    ],
)
def test_systems(
    release: str, family: str, command: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "os-release"
    file.write_text(release, encoding="utf-8")
    assert system_family(file) == family
    monkeypatch.setattr(screen_check, "system_family", lambda: family)
    assert install_command(packages_of(("libGL.so.1",), family)) == command
    assert system_family(tmp_path / "absent") == ""


def test_a_window_can_be_tried_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert ScreenCheck().trouble() is None


def test_a_display_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", NOWHERE)
    told = str(screen_trouble(os.environ))
    assert told == f"No window can be opened with DISPLAY={NOWHERE}: could not connect to display {NOWHERE}."


def test_a_platform_that_qt_does_not_know_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "paper")
    told = str(screen_trouble(os.environ))
    assert told == "No window can be opened with QT_QPA_PLATFORM=paper: Qt has no platform plug-in that loads."


def test_without_any_screen_nothing_is_tried() -> None:
    assert "There is no screen here" in str(no_screen({}))
    assert no_screen({"WAYLAND_DISPLAY": "wayland-0"}) is None


def test_a_loader_that_is_not_there_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert missing_libraries(Path("/bin/sh")) == ()


def test_judgenet_names_the_packages_and_does_not_abort(ldd: Ldd, tmp_path: Path) -> None:
    """The command itself, as on a bare system."""
    ldd("libxcb-icccm.so.4", "libxcb-keysyms.so.1")
    env = {name: text for name, text in os.environ.items() if name not in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY")}
    ran = subprocess.run(
        [sys.executable, "-m", "judgenet"],
        env=env | {"DISPLAY": NOWHERE},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("judgenet: The studio cannot be opened: Qt's plug-in for X11 (xcb) lacks libxcb-icccm")
    if system_family() == "debian":
        assert "sudo apt-get install libxcb-icccm4 libxcb-keysyms1" in ran.stderr
    assert list(tmp_path.glob("core*")) == []


@pytest.mark.parametrize(("words", "asked"), [([], (None, False)), (["--example"], (None, True))])
def test_the_studio_opens_with_what_was_asked(
    words: list[str], asked: tuple[Path | None, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[Path | None, bool]] = []

    def open_studio(project: Path | None, *, example: bool) -> int:
        opened.append((project, example))
        return 0

    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setattr("judgenet.ui.app.open_studio", open_studio)
    assert main(words) == 0
    assert opened == [asked]
