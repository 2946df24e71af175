"""How the shards of a project are, for Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgenet.figures.shards import ShardSetFigures


def shard_status(project: str | Path) -> ShardSetFigures:
    """How the shards of a project are now (``judgenet run --shard``, ``--engine ray``): states, pairs, calls, money,
    failures, and agreement with the labels in the shards that have ended. The run itself, of the ended shards,
    is :func:`~judgenet.api.runs.open_run` of the project.

    :raises judgenet.figures.errors.FiguresError: the project has no shards.
    """
    from judgenet.figures.shards import shard_set

    return shard_set(Path(project))
