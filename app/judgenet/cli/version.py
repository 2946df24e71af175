"""``judgenet version``."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from judgenet.assets import asset
from judgenet.core.project import SCHEMA, SCHEMA_FILE
from judgenet.engine.versions import versions


def show_version(
    check: Annotated[bool, typer.Option("--check", help="Ask the package index whether there is a newer one.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show the versions of JudgeNet, of its libraries, and of the project format, with the path of its JSON Schema.

    With --check it also asks the package index, through pip, whether there is a newer JudgeNet. No other command does
    that, and without a network it only says that it does not know. An upgrade keeps projects, labels and settings.

    Example: judgenet version --check
    """
    facts: dict[str, Any] = versions() | {"project": f"{SCHEMA}", "project schema": str(asset(SCHEMA_FILE))}
    if not check:
        typer.echo(json.dumps(facts) if as_json else _lines(facts))
        return
    from judgenet.engine.updates import check_for_update

    update = check_for_update()
    if as_json:
        update_record = {"latest": update.latest, "newer": update.newer}
        update_record |= {"upgrade": update.upgrade} if update.newer else {}
        update_record |= {"reason": update.reason} if update.latest is None else {}
        typer.echo(json.dumps(facts | {"update": update_record}))
        return
    typer.echo(_lines(facts))
    if update.latest is None:
        typer.echo(f"Whether there is a newer version is not known. {update.reason}")
    elif update.newer:
        typer.echo(f"JudgeNet {update.latest} is newer. To have it: {update.upgrade}")
    else:
        typer.echo(f"This is the newest version ({update.latest} is what the package index has).")


def _lines(facts: dict[str, Any]) -> str:
    return "\n".join(f"{name:20} {text}" for name, text in facts.items())
