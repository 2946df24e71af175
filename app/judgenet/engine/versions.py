"""Versions of what a run depends on, for its record, and the licences of the installed packages."""

from __future__ import annotations

import platform
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from judgenet.version import __version__

_PACKAGES = ("aiohttp", "networkx", "pandas", "scikit-learn", "PySide6-Essentials", "xllamacpp")


def versions() -> dict[str, str]:
    """Versions of JudgeNet, of Python and of the packages that a run depends on."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """Cached: reading them is the slowest look-up before a start, and they do not change."""
    by_name = {"judgenet": __version__, "python": platform.python_version(), "system": platform.platform()}
    for name in _PACKAGES:
        try:
            by_name[name] = version(name)
        except PackageNotFoundError:
            by_name[name] = "not installed"
    return by_name


def licences() -> list[tuple[str, str, str]]:
    """Name, version and licence of each package that JudgeNet needs and that is installed here, by name. The
    licence is empty where a package names none."""
    try:
        needed = requires("judgenet") or []
    except PackageNotFoundError:
        needed = list(_PACKAGES)
    names = {re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in needed if "extra ==" not in line}
    rows = []
    for name in sorted(names, key=str.casefold):
        try:
            about = metadata(name)
        except PackageNotFoundError:
            continue
        kinds = about.get_all("Classifier") or []
        stated = [
            *(about.get_all("License-Expression") or ()),
            *(kind.rpartition(" :: ")[2] for kind in kinds if kind.startswith("License ::")),
            *(about.get_all("License") or ()),
        ]
        lines = stated[0].strip().splitlines() if stated else []
        # Some give the whole text of their licence instead of its name.
        rows.append((name, about["Version"], lines[0] if len(lines) == 1 else ""))
    return rows
