"""Can the studio open a window here, and if not, which packages of the system are missing?

Qt aborts where its platform plug-in lacks a library. So a child process tries it first, and where it fails, the
libraries that the plug-in asks for are looked up. Nothing here loads Qt.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from judgenet.assets import asset
from judgenet.children import child_command, is_frozen
from judgenet.ui import texts

ATTEMPT_SECONDS: Final = 30.0
"""Seconds to wait for the screen. Where it does not answer, the studio tries to open its window."""

_NAMES: Final = {"xcb": "X11", "wayland": "Wayland", "offscreen": texts.NO_SCREEN}
_INSTALL: Final = {"debian": "apt-get install", "fedora": "dnf install"}
_ADVICE: Final = ("This application failed", "Reinstalling", "Available platform plugins", "qt.qpa.plugin:")
"""Beginnings of lines in Qt's output that do not help: that a plug-in was not loaded, and to reinstall it."""


@dataclass(frozen=True, slots=True)
class PlatformGaps:
    """What a platform plug-in of Qt (``xcb``, ``wayland``) lacks: libraries by their file names, and the packages of
    this system that hold them (empty where the system's names are not known)."""

    platform: str
    libraries: tuple[str, ...]
    packages: tuple[str, ...]

    def __str__(self) -> str:
        name = _NAMES.get(self.platform, self.platform)
        return texts.lacks_libraries(name, self.platform, ", ".join(self.libraries))


@dataclass(frozen=True, slots=True)
class ScreenTrouble:
    """Why no window can be opened: the reason as a sentence, and what the plug-in that Qt prefers here lacks."""

    reason: str
    gaps: PlatformGaps | None = None

    def __str__(self) -> str:
        if self.gaps is None:
            return self.reason
        command = install_command(self.gaps.packages)
        if command is None:
            return texts.install_the_packages(self.reason)
        return texts.install_what_is_missing(self.reason, command)


class ScreenCheck:
    """An attempt to open a window in a child process. It runs while this process loads what the studio needs."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._child: subprocess.Popen[str] | None = None
        if sys.platform == "linux":
            self._child = subprocess.Popen(
                child_command("window"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )

    def trouble(self) -> ScreenTrouble | None:
        """Waits for the attempt and says why it failed; ``None`` where a window opens."""
        if self._child is None:
            return None
        try:
            _, output = self._child.communicate(timeout=ATTEMPT_SECONDS)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.communicate()
            return None
        return None if self._child.returncode == 0 else explain(output, os.environ)


def no_screen(environment: Mapping[str, str]) -> ScreenTrouble | None:
    """The trouble that nothing in the environment names a screen, or tells Qt to do without (Linux alone)."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if sys.platform != "linux" or any(environment.get(name) for name in names):
        return None
    return ScreenTrouble(texts.STUDIO_NEEDS_A_SCREEN)


def screen_trouble(environment: Mapping[str, str]) -> ScreenTrouble | None:
    """Why no window can be opened here; ``None`` where one can."""
    return no_screen(environment) or ScreenCheck().trouble()


def explain(output: str, environment: Mapping[str, str]) -> ScreenTrouble:
    """Why an attempt failed, by what it said on standard error and by the libraries that are missing here."""
    for platform in platforms(environment):
        gaps = platform_gaps(platform)
        if gaps.libraries:
            # One platform that works is enough: the first is the one that Qt prefers.
            return ScreenTrouble(f"{gaps}.", gaps)
    lines = [line.strip() for line in output.splitlines() if line.strip() and not line.strip().startswith(_ADVICE)]
    # A traceback says last what went wrong, Qt first.
    cause = lines[-1 if output.startswith("Traceback") else 0] if lines else texts.NO_PLUG_IN_LOADS
    return ScreenTrouble(f"{_screen_name(environment)}: {cause.removeprefix('qt.qpa.xcb: ').rstrip('.')}.")


def install_command(packages: Iterable[str]) -> str | None:
    """The command that installs packages on this system; ``None`` where it is not known, or for no package."""
    command = _INSTALL.get(system_family())
    names = " ".join(packages)
    return f"sudo {command} {names}" if command and names else None


def _screen_name(environment: Mapping[str, str]) -> str:
    for name in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY"):
        if environment.get(name):
            return texts.no_window_with(name, environment[name])
    return texts.NO_WINDOW


def platforms(environment: Mapping[str, str]) -> list[str]:
    """The platform plug-ins that Qt tries in an environment, the preferred one first."""
    chosen = environment.get("QT_QPA_PLATFORM")
    if chosen:
        return [part.partition(":")[0] for part in chosen.split(";") if part]
    wayland = environment.get("WAYLAND_DISPLAY") or environment.get("XDG_SESSION_TYPE") == "wayland"
    names = ["wayland"] if wayland else []
    return [*names, "xcb"] if environment.get("DISPLAY") or not names else names


def plugin_file(platform: str) -> Path | None:
    """The file of a platform plug-in of the Qt that is installed here; ``None`` where there is none of that name."""
    spec = find_spec("PySide6")
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        file = Path(place) / "Qt" / "plugins" / "platforms" / f"libq{platform}.so"
        if file.is_file():
            return file
    return None


def platform_gaps(platform: str) -> PlatformGaps:
    """What a platform plug-in lacks here."""
    file = plugin_file(platform)
    libraries = () if file is None else missing_libraries(file)
    return PlatformGaps(platform, libraries, packages_of(libraries, system_family()))


def missing_libraries(file: Path) -> tuple[str, ...]:
    """The shared libraries that a file asks for, itself or through others, and the system's loader does not find.

    What a missing library asks for in turn is not known.
    """
    ldd = shutil.which("ldd")
    if ldd is None:
        return ()
    environment = dict(os.environ)
    if is_frozen():
        # The frozen program's libraries are beside its modules.
        environment["LD_LIBRARY_PATH"] = str(sys._MEIPASS)  # type: ignore[attr-defined]
    linked = subprocess.run([ldd, str(file)], env=environment, capture_output=True, text=True, check=False).stdout
    return tuple(dict.fromkeys(re.findall(r"^\s*(\S+) => not found", linked, re.M)))


def system_family(release: Path = Path("/etc/os-release")) -> str:
    """``debian`` or ``fedora`` by what the system says of itself; empty for others."""
    try:
        lines = release.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    ids = " ".join(line.partition("=")[2].strip("\"'") for line in lines if line.startswith(("ID=", "ID_LIKE=")))
    names = set(ids.split())
    if names & {"debian", "ubuntu"}:
        return "debian"
    return "fedora" if names & {"fedora", "rhel", "centos"} else ""


def packages_of(libraries: Iterable[str], family: str) -> tuple[str, ...]:
    """The packages of a family of systems that hold some libraries, each once; libraries that are not known are left
    out."""
    packages: dict[str, dict[str, str]] = json.loads(asset("system-libraries.json").read_text(encoding="utf-8"))
    return tuple(sorted({packages[name][family] for name in libraries if family in packages.get(name, {})}))
