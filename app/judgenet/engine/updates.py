"""Looks for a newer JudgeNet, only when the user asks for it. It goes through pip, so that the user's settings (index,
proxy, certificates) hold, no address is written here, and nothing but the name of the package is sent."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from judgenet.children import child_command, is_frozen
from judgenet.version import __version__

SECONDS: Final = 20.0
"""How long the index may take to answer."""
_OPTIONS: Final = ("--disable-pip-version-check", "--no-input", "--no-color", "--retries", "0", "--timeout", "10")


@dataclass(frozen=True, slots=True)
class UpdateCheck:
    """The newest version available (``None`` where that is unknown, with the ``reason``), and the command that installs
    it where it is newer than this one."""

    latest: str | None
    newer: bool
    upgrade: str | None = None
    reason: str | None = None


def check_for_update() -> UpdateCheck:
    """Asks the package index for the newest JudgeNet. Without a network the reason says so; it never raises."""
    command = child_command("pip", "index", "versions", "judgenet", *_OPTIONS)
    try:
        ran = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return UpdateCheck(None, False, reason=f"The package index could not be asked: {error}.")
    # The output begins with the newest release: judgenet (1.2.3).
    match = re.match(r"judgenet \(([\d.]+)\)", ran.stdout)
    if match is None:
        return UpdateCheck(None, False, reason=_why_unknown(ran.stderr))
    newer = _numbers(match[1]) > _numbers(__version__)
    return UpdateCheck(match[1], newer, upgrade_command() if newer else None)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _why_unknown(said: str) -> str:
    if "ERROR: No matching distribution" in said:
        return "The package index has no release of JudgeNet, or could not be reached."
    # The last line says what went wrong, also of a traceback.
    lines = said.strip().splitlines() or ["it gave no reason"]
    return f"pip could not ask the package index: {lines[-1].removeprefix('ERROR: ')}"


def upgrade_command() -> str:
    """The command that updates this JudgeNet, by the way in which it was installed."""
    if is_frozen():
        return "Install the newer package over this one."
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").exists():
        return "uv tool upgrade judgenet"
    if (prefix / "pipx_metadata.json").exists():
        return "pipx upgrade judgenet"
    if _is_editable():
        return "git pull, then: python3 packaging/start.py setup"
    return "python -m pip install --upgrade judgenet"


def _is_editable() -> bool:
    """Whether this is an editable installation of a clone."""
    try:
        written = distribution("judgenet").read_text("direct_url.json")
    except PackageNotFoundError:
        return True
    return bool(written and json.loads(written).get("dir_info", {}).get("editable"))
