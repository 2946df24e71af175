"""A run divided into shards that a cluster judges: how many, which are done already, and what each worker is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from judgenet.core.network import asked_settings, stand_ins
from judgenet.core.pairs import question_key
from judgenet.core.project import Project
from judgenet.core.shards import MOST_SHARDS, Shard
from judgenet.core.wording import of
from judgenet.engine.broker import BrokerPlan, ModelAt
from judgenet.engine.division import Division
from judgenet.engine.options import OptionError
from judgenet.engine.session import OpenEndpoints, Start, all_settings, profiles_of
from judgenet.engine.shard_desk import COPY_EVERY_S
from judgenet.engine.shard_worker import ShardJob
from judgenet.store.matrix import MATRIX
from judgenet.store.shard_states import ShardReport
from judgenet.store.shards import Manifest, shards_folder

PAIRS_A_SHARD: Final = 2000
"""About so many pairs a shard: some 34,000 calls, or 20 minutes at 30 calls a second."""
_FEWEST_PAIRS: Final = 100
_SHARDS_A_WORKER: Final = 4


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How a run is spread: how many workers, and into how many shards (``None``: by the number of pairs, or as it was
    before). ``open_with`` opens the endpoints in place of the usual way; with ``events`` workers write theirs down."""

    workers: int
    shards: int | None = None
    copy_every_s: float = COPY_EVERY_S
    open_with: OpenEndpoints | None = None
    events: bool = False


class DividedRun:
    """The shards of a run as a cluster is given them. Where what is unscored is asked again, these are the shards that
    have such calls.

    :raises OptionError: the run cannot be divided, was divided otherwise, or has shards that are not done where what is
        unscored is to be asked again.
    """

    def __init__(self, start: Start, project: Project, project_path: Path, options: ClusterOptions) -> None:
        if start.batch:
            raise OptionError(
                "Batches do not go with --engine ray: what a machine knew of a batch would be lost with it, and the "
                "answers paid twice. One machine is enough for them; leave out one of the two."
            )
        self.folder = shards_folder(project_path).absolute()
        self.of = shard_count(start, self.folder, options)
        self._options = options
        self._start = start
        self._division = Division(start, project, project_path, self.of)
        self._places = self._division.all_places()
        self._models = models_of(start)
        open_shards = self.of - len(self._done()) if start.scope == "unscored" else 0
        if open_shards:
            raise OptionError(
                f"--retry-unscored: {of(self.of - open_shards, self.of)} shards are done. Run the same command without "
                "it first."
            )

    def plan(self) -> BrokerPlan:
        """What the broker is given."""
        return BrokerPlan(
            shards={index: len(places) for index, places in enumerate(self._places, 1)},
            finished=self._finished(),
            limits=self._start.limits,
            windows=self._models,
            workers=self._options.workers,
            patience_s=max((profile.patience for profile in profiles_of(self._start)), default=0.0),
        )

    def _finished(self) -> Mapping[int, ShardReport]:
        """The shards in which nothing is to be asked."""
        done = self._done()
        if self._start.scope != "unscored":
            return done
        return {index: report for index, report in done.items() if not report.unscored}

    def _done(self) -> Mapping[int, ShardReport]:
        """The shards of this run that have all their pairs done."""
        done = {}
        for index, places in enumerate(self._places, 1):
            folder = self.folder / Shard(self.of, index).folder
            manifest = Manifest.read(folder)
            if manifest is None or manifest.whole != self._division.whole or not (folder / MATRIX).exists():
                continue
            if manifest.state == "done" and manifest.pairs == len(places):
                done[index] = ShardReport(
                    "done",
                    calls=manifest.calls,
                    unscored=manifest.unscored or 0,
                    price=manifest.price,
                    unpriced=manifest.unpriced,
                )
        return done

    def job(self, index: int) -> ShardJob:
        """What the worker of a shard is given."""
        part = self._division.part(index, self._places[index - 1])
        folder = part.start.folder
        return ShardJob(
            shard=Shard(self.of, index),
            start=replace(part.start, folder=None if folder is None else folder.absolute()),
            project=part.project,
            folder=part.project_path.parent.absolute(),
            models=tuple(self._models),
            stood_in_for=stood_in_for(self._start),
            workers=self._options.workers,
            copy_every_s=self._options.copy_every_s,
            open_with=self._options.open_with,
            events=self._options.events,
        )


def models_of(start: Start) -> dict[ModelAt, int]:
    """The models that a run asks, with the calls that each may have in flight at a time."""
    return {
        (settings.endpoint, settings.model): start.profiles[settings.endpoint].concurrency
        for settings in all_settings(start.spec)
        if settings.endpoint is not None and settings.model is not None
    }


def stood_in_for(start: Start) -> frozenset[ModelAt]:
    """The models of a run behind each of which a stand-in waits, in every call that asks it."""
    held, followed = set(), set()
    for settings in asked_settings(start.spec):
        *firsts, last = ((of.endpoint or "", of.model or "") for of in (settings, *stand_ins(settings)))
        followed.update(firsts)
        held.add(last)
    return frozenset(followed - held)


def shard_count(start: Start, folder: Path, options: ClusterOptions) -> int:
    """Into how many shards a run is divided: as before, as asked for, or by the number of its pairs.

    :raises OptionError: it was divided otherwise before.
    """
    before = {
        int(of)
        for index, mark, of in (path.name.partition("-of-") for path in (folder.iterdir() if folder.is_dir() else ()))
        if mark and index.isdecimal() and of.isdecimal()
    }
    if before and options.shards is not None and before != {options.shards}:
        raise OptionError(
            f"--shards {options.shards}: {folder.name} holds a division into {min(before):,}. Leave the option out to "
            "go on with it, or put that folder elsewhere to begin anew."
        )
    if before:
        return min(before)
    if options.shards is not None:
        return options.shards
    pairs = len(start.pairs)
    questions = len({question_key(pair.question) for pair in start.pairs})
    spread = min(_SHARDS_A_WORKER * options.workers, math.ceil(pairs / _FEWEST_PAIRS))
    return max(1, min(questions, max(math.ceil(pairs / PAIRS_A_SHARD), spread), MOST_SHARDS))
