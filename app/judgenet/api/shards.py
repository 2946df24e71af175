"""The progress of the shards of a project, for Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgenet.figures.shards import ShardSetFigures


def shard_status(project: str | Path) -> ShardSetFigures:
    """Returns the progress of a project's shards (``judgenet run --shard``, ``--engine ray``): states, pairs, calls,
    money in US dollars, failures, and agreement with the labels in the shards that have ended. To open the run that
    the ended shards make up, call :func:`~judgenet.api.runs.open_run` with the project.

    :raises judgenet.figures.errors.FiguresError: the project has no shards.
    """
    from judgenet.figures.shards import shard_set

    return shard_set(Path(project))
