"""``judgenet version``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from judgenet.assets import asset
from judgenet.core.project import SCHEMA, SCHEMA_FILE
from judgenet.engine.versions import versions


def show_version(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """Show the versions of JudgeNet, of what it runs on, and of the project file, with the file of its JSON Schema."""
    found = versions() | {"project": f"{SCHEMA}", "project schema": str(asset(SCHEMA_FILE))}
    if as_json:
        typer.echo(json.dumps(found))
    else:
        typer.echo("\n".join(f"{name:20} {text}" for name, text in found.items()))
