"""Links among the files of a project."""

from __future__ import annotations

from pathlib import Path


def link_out(path: Path) -> Path | None:
    """Where a link leads that is a file of a project and points out of the project's folder, ``None`` for any other
    file. What a project keeps beside its file is read and written without a question, so such a link, which may have
    come with the project, is not followed."""
    if not path.is_symlink():
        return None
    target = path.resolve()
    return None if target.is_relative_to(path.parent.resolve()) else target
