"""Versions of what a run depends on, for its record."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from judgenet import __version__

_TOLD = ("httpx", "aiohttp", "networkx", "pandas", "scikit-learn", "PySide6-Essentials", "xllamacpp")


def versions() -> dict[str, str]:
    """Versions of JudgeNet, of Python and of the packages that a run depends on."""
    found = {"judgenet": __version__, "python": platform.python_version(), "system": platform.platform()}
    for name in _TOLD:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
