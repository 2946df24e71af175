"""``judgenet version``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from judgenet.engine.versions import versions


def show_version(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Show the versions of JudgeNet and of what it runs on."""
    found = versions()
    if as_json:
        typer.echo(json.dumps(found))
    else:
        typer.echo("\n".join(f"{name:20} {text}" for name, text in found.items()))
