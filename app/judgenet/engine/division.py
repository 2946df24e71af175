"""A run divided into shards, each a run of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from judgenet.core.pairs import data_hash
from judgenet.core.project import Project, Selection
from judgenet.core.shards import SHARD_RECORD, Shard, divide
from judgenet.engine.options import OptionError
from judgenet.engine.session import Start, fingerprint
from judgenet.store.locate import RUN_PROJECT, shards_folder


class ShardPart(NamedTuple):
    """What a shard is started with: its start, its project, and where that lies."""

    start: Start
    project: Project
    project_path: Path


class Division:
    """A start divided into so many shards, each with its pairs, in a folder and with a store of its own. Their records
    tell of the whole, so that the run that is merged of all shards is the one that the start would have made.

    :raises OptionError: the run chooses its pairs as it goes on.
    """

    def __init__(self, start: Start, project: Project, project_path: Path, of: int) -> None:
        if start.auto_matches or start.until is not None:
            raise OptionError(
                "A shard knows its own pairs alone and cannot tell when enough is known. Leave out --until and "
                "--matches auto."
            )
        self.of = of
        self._start = start
        self._project = project
        self._project_path = project_path
        self._pairs = tuple(start.pairs)
        self.whole = fingerprint(start)
        self._told = {"whole": self.whole, "data_hash": data_hash(self._pairs), "pairs": len(self._pairs)}

    def all_places(self) -> tuple[tuple[int, ...], ...]:
        """The places of the pairs of every shard, in order."""
        return divide(self._pairs, self.of)

    def part(self, index: int, places: Sequence[int] | None = None) -> ShardPart:
        """A shard, by its number from 1; ``places`` are those of its pairs where they are known."""
        shard, start, project, pairs = Shard(self.of, index), self._start, self._project, self._pairs
        if places is None:
            places = shard.places(pairs)
        record = {SHARD_RECORD: {"index": index, "of": self.of, "places": list(places), **self._told}}
        held = tuple(pairs[place] for place in places)
        assert project.pairs is not None
        # Of few questions a shard may have none.
        kept = tuple(pair.id for pair in held)
        selection = Selection("ids", ids=kept) if kept else Selection(left_out=tuple(pair.id for pair in pairs))
        return ShardPart(
            replace(start, pairs=held, record={**start.record, **record}),
            replace(project, pairs=replace(project.pairs, selection=selection)),
            shards_folder(self._project_path) / shard.folder / RUN_PROJECT,
        )
