"""``judgenet merge``: the shards of a project as one run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from judgenet.cli.common import JsonOption
from judgenet.cli.errors import InputError
from judgenet.core.pairs import Pair
from judgenet.core.project import PROJECT_SUFFIX, select
from judgenet.core.wording import plural
from judgenet.engine.setup import read_source
from judgenet.store.db import Store
from judgenet.store.files import load_project, store_path
from judgenet.store.runs import spent
from judgenet.store.shards import incomplete_words, merge_shards, read_shards, shards_folder


def merge(
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="The project whose shards were run.")],
    partial: Annotated[
        bool, typer.Option("--partial", help="Merge even though shards are missing or not finished.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Merge the shards of a project into one run in the project's own store, as if it had been run without --shard.

    No call is made. judgenet run without --shard goes on with the merged run. Merging again adds what is new.

    Example: judgenet merge study.judgenet
    """
    if project.suffix != PROJECT_SUFFIX:
        raise InputError(f"{project} is not a project: the name of a project ends in {PROJECT_SUFFIX}.")
    shards = read_shards(shards_folder(project))
    every_pair = _pairs(project) if partial and not shards.complete else None
    with Store.open(store_path(project)) as store:
        run = merge_shards(shards, store, every_pair)
        sums = spent(store, run)
    if as_json:
        record = {
            "run": run.id,
            "state": run.state,
            "message": run.message,
            "shards": len(shards.shards),
            "of": shards.of,
            "missing": list(shards.missing),
            "unfinished": list(shards.unfinished),
            "calls": sums.calls,
        }
        typer.echo(json.dumps(record))
        return
    typer.echo(f"{run.id} in {project.name}: {plural(sums.calls, 'call')} of {plural(len(shards.shards), 'shard')}")
    if not shards.complete:
        typer.echo(f"Not complete: {incomplete_words(shards)}")


def _pairs(path: Path) -> Sequence[Pair]:
    """All pairs of a project: those of shards that are missing are open in the merged run."""
    project = load_project(path)
    if project.pairs is None:
        raise InputError(f"{path}: the project names no pairs.")
    return select(read_source(project.pairs, path.absolute().parent, project.salt).pairs, project.pairs.selection)
