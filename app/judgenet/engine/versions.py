"""Versions of what a run depends on, for its record."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from judgenet.version import __version__

_TOLD = ("httpx", "aiohttp", "networkx", "pandas", "scikit-learn", "PySide6-Essentials", "xllamacpp")


def versions() -> dict[str, str]:
    """Versions of JudgeNet, of Python and of the packages that a run depends on."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """Reading them takes longer than all else that is looked up before a start, and they do not change."""
    found = {"judgenet": __version__, "python": platform.python_version(), "system": platform.platform()}
    for name in _TOLD:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
