"""``judgenet shots``: pictures of the studio's pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judgenet.cli.errors import ExitCode, InputError


def shots(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the PNG files.")],
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only pictures whose name begins with this, such as run, run-dark or run-dark-1280x720. Repeatable."
        ),
    ] = None,
) -> None:
    """Draw every page of the studio with the example run, without a screen: light and dark, at each size.

    It needs no network and no model, and changes no settings or projects.

    \b
    Examples:
      judgenet shots pictures
      judgenet shots pictures --only design-light --only run
    """
    try:
        # Qt takes a while to load, and the other commands do without it.
        from judgenet.ui.shots import ShotError, all_shots, take
    except ImportError as error:
        raise InputError(f"Pictures are drawn by Qt, which cannot be loaded here ({error}).") from None
    known = all_shots()
    wanted = [shot for shot in known if not only or shot.name.startswith(tuple(only))]
    for part in only or ():
        if not any(shot.name.startswith(part) for shot in known):
            views = ", ".join(dict.fromkeys(shot.view for shot in known))
            raise InputError(f"--only {part}: there is no such picture. Pages: {views}")
    try:
        take(wanted, folder, lambda path: typer.echo(str(path)))
    except ShotError as error:
        typer.echo(f"judgenet: {error}", err=True)
        raise typer.Exit(ExitCode.FAILED) from None
