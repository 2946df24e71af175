"""``judgenet version``."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

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


def show_version(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Show the versions of JudgeNet and of what it runs on."""
    found = versions()
    if as_json:
        typer.echo(json.dumps(found))
    else:
        typer.echo("\n".join(f"{name:20} {text}" for name, text in found.items()))
