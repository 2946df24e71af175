"""The shards of the open project: looked at once a second in a thread, read as one run, and told what to do."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from judgenet.core.shards import Shard
from judgenet.core.wording import plural
from judgenet.store.db import Store, StoreError, StoreInUse
from judgenet.store.files import store_path
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.runs import runs
from judgenet.store.shard_index import IndexMaker, index_path, pairs_of_shard, shards_in, take_labels
from judgenet.store.shard_states import Want, write_command
from judgenet.store.shard_watch import ShardSetLook, ShardWatch
from judgenet.store.shards import ShardsInRun, merge_shards, read_shards, shards_folder
from judgenet.ui.document import Document
from judgenet.ui.errors import ErrorPort, Mend
from judgenet.ui.run_state import RunState
from judgenet.ui.shards.stamps import Stamps, stamps_of
from judgenet.ui.tasks import Job, JobCancelled, Tasks

EVERY_MS: Final = 1000
"""Shards are looked at so often while they are in view."""
_UNSEEN_MS: Final = 5000
_REST_S: Final = 0.0005
"""Between two files the thread lets others work."""


class ShardsState(QObject):
    """What is known of the shards of the open project.

    Attributes:
        look: how they are, ``None`` where the project has none; ``stamps`` what the grid shows of it.
        opened: the shard whose store is looked into, by index from 1; ``None`` for none.
        chosen: the shard whose facts are shown, 0 for none.
        indexed: how many ended shards the figures are of.
        working: the index is being made, or the shards merged.

    Signals:
        changed: :attr:`look`, or one of the others, changed; about once a second.
        found: the project has shards, or has none, other than before.
    """

    changed = Signal()
    found = Signal()

    def __init__(
        self,
        document: Document,
        run_state: RunState,
        tasks: Tasks,
        errors: ErrorPort,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._run_state = run_state
        self._tasks = tasks
        self._errors = errors
        self.look: ShardSetLook | None = None
        self.stamps = stamps_of(None)
        self.opened: int | None = None
        self.chosen = 0
        self.indexed = 0
        self._in_index: frozenset[str] = frozenset()
        self._store_seen = (0, False)
        self.working = False
        self._watch: ShardWatch | None = None
        self._file: Path | None = None
        self._looking = self._tried = False
        self._trouble = ""
        self._in_view = False
        self._finished = 0
        self._timer = QTimer(self)
        self._timer.setObjectName("shards")
        self._timer.setInterval(_UNSEEN_MS)
        self._timer.timeout.connect(self._tick)
        document.opened.connect(self._opened)
        document.saved_changed.connect(self._opened)

    def close(self) -> None:
        """Nobody looks at the shards any more."""
        self._timer.stop()
        self._watch = None

    @property
    def there(self) -> bool:
        """The project has shards."""
        return self.look is not None

    @property
    def behind(self) -> int:
        """How many shards have ended that the figures do not hold yet."""
        return max(0, self.look.ended - self.indexed) if self.look is not None and self.reads_index else 0

    @property
    def reads_index(self) -> bool:
        """The shards that have ended are read as the project's run."""
        return self._document.looks_elsewhere and self.opened is None

    def _opened(self) -> None:
        if self._document.file == self._file:
            return
        self._file = self._document.file
        had = self.there
        self.look, self.opened, self.indexed = None, None, 0
        self._tried, self._trouble, self._finished = False, "", 0
        path = self._document.path
        self._watch = None if path is None else ShardWatch(shards_folder(path), lambda: time.sleep(_REST_S))
        if self._watch is None:
            self._timer.stop()
        else:
            self._timer.start()
            self._tick()
        if had:
            self.found.emit()

    # Looking

    def _tick(self) -> None:
        if self._watch is not None and not self._looking:
            self._looking = True
            self._tasks.start(self._look(self._watch), "Look at the shards")

    async def _look(self, watch: ShardWatch) -> None:
        try:
            look, stamps, self._store_seen = await self._tasks.off_thread(_looked, watch, self.chosen)
        except StoreError as error:
            look, stamps = None, stamps_of(None)
            if str(error) != self._trouble:
                self._trouble = str(error)
                self._errors.tell(self._trouble, self._document.title, level="warning")
        finally:
            self._looking = False
        if watch is not self._watch:
            return
        before, self.look, self.stamps = self.look, look, stamps
        if (before is None) != (look is None):
            self.found.emit()
        if look is not None:
            self.changed.emit()
            if look.ended and not self._tried and self._may_index():
                self._tried = True
                self.take_in()
            elif self.behind and look.state == "done" and self._in_view and look.ended != self._finished:
                # Nothing more comes, and nobody is at work on another page: all of it is read by itself, once.
                self._finished = look.ended
                self.take_in()

    def _may_index(self, *, while_working: bool = False) -> bool:
        """The set can be read as the project's run: the project has none of its own."""
        own = self._document.own_store
        return self.opened is None and (while_working or not self.working) and (own is None or not runs(own))

    # The set as one run

    def take_in(self) -> None:
        """Reads all shards that have ended as the project's run."""
        if not self.working and self._watch is not None:
            self._tasks.start(self._take_in(self._watch), "Read the shards")

    async def _take_in(self, watch: ShardWatch) -> None:
        self._set_working(True)
        try:
            made = await self._tasks.job("Read the shards", lambda job: _made(watch.folder, job))
            try:
                if watch is self._watch and self.reads_index:
                    # Nobody else may have the index open while another takes its place.
                    self._look_away()
                # In another window the index stays as it is until that one takes in what has ended.
                with suppress(StoreInUse):
                    await self._tasks.off_thread(made.put)
            finally:
                await self._tasks.off_thread(made.close)
            await self._tasks.off_thread(take_labels, watch.folder)
            if watch is self._watch and self._may_index(while_working=True):
                self._show_index(watch.folder)
        except JobCancelled:
            return
        except (StoreError, OSError, sqlite3.Error) as error:
            if watch is self._watch:
                self._errors.tell_exception(error, "The shards", Mend("Try again", self.take_in))
        finally:
            self._set_working(False)

    def _show_index(self, folder: Path) -> None:
        read_only = ""
        try:
            store = Store.open(index_path(folder))
        except StoreInUse:
            store = Store.open(index_path(folder), readonly=True)
            read_only = "The shards are open in another window: they are open read-only here."
        self.indexed, self._in_index = _indexed(store), shards_in(store)
        self._document.look_into(store, read_only)
        self.changed.emit()

    def _set_working(self, working: bool) -> None:
        self.working = working
        self.changed.emit()

    @property
    def unmerged(self) -> bool:
        """Shards have ended that the project's own runs do not hold."""
        made = [shards for run in self._run_state.runs if (shards := ShardsInRun.of_run(run)) is not None]
        if self.look is None or not self.look.ended or self.opened is not None:
            return False
        return self.reads_index or any(shards.ended < self.look.ended for shards in made[-1:])

    def merge(self) -> None:
        """Makes one run of the shards, in the project's own store; those that are missing stay open."""
        if not self.working and self._watch is not None:
            self._tasks.start(self._merge(self._watch), "Merge the shards")

    def why_not_merge(self) -> str:
        """Why the shards cannot be merged now, in words; empty where they can."""
        own = self._document.own_store
        if self.working:
            return "The shards are being read."
        if own is None or own.readonly:
            return "The project's store cannot be written."
        if self.look is None or not self.look.ended:
            return "No shard has ended yet."
        if self.look.goes_on:
            return "Shards are still running. Merging before they end leaves out what they have."
        return ""

    async def _merge(self, watch: ShardWatch) -> None:
        own, pairs = self._document.own_store, self._document.pairs
        if own is None or (why := self.why_not_merge()):
            self._errors.tell(why or "There is no store.", "The shards", level="warning")
            return
        self._set_working(True)
        folder = watch.folder
        try:
            self._look_away()
            shards = await self._tasks.off_thread(read_shards, folder)
            every = None if shards.complete else pairs
            await self._tasks.job("Merge the shards", lambda job: merge_shards(shards, own, every))
        except JobCancelled:
            return
        except (StoreError, OSError, sqlite3.Error) as error:
            self._errors.tell_exception(error, "The shards")
        finally:
            self._set_working(False)
            if watch is self._watch:
                self._run_state.refresh_runs()
                self._document.opened.emit()

    # One shard

    def shard(self, index: int) -> Shard:
        """A shard by its index, from 1."""
        assert self.look is not None
        return Shard(self.look.of, index)

    def set_in_view(self, in_view: bool) -> None:
        """The shards come into view, or go out of it: nobody then needs to know of them within a second."""
        self._in_view = in_view
        self._timer.setInterval(EVERY_MS if in_view else _UNSEEN_MS)
        if in_view:
            self._tick()

    def choose(self, index: int) -> None:
        """The facts of a shard come into view, 0 for none."""
        self.chosen = index
        self._tick()

    def has_pairs(self, index: int) -> bool:
        """Whether the run in view has pairs of a shard."""
        return self.reads_index and self.shard(index).folder in self._in_index

    def pairs_of(self, index: int) -> tuple[int, ...]:
        """The pairs of a shard in the run that is in view; none where it is not in there."""
        store = self._document.store
        if store is None or not self.reads_index:
            return ()
        try:
            return pairs_of_shard(store, self.shard(index).folder)
        except (StoreError, sqlite3.Error):
            return ()

    def why_not_open(self, index: int) -> str:
        """Why a shard's store cannot be looked into, in words; empty where it can."""
        if self.look is None or index not in self.look.reports:
            return "It has not begun: there is no store yet."
        if self.working:
            return "The shards are being read."
        if self._store_seen[0] != index:
            return "Its store is looked for."
        if not self._store_seen[1]:
            return "Its store is on its worker's disk until it ends, or until it is next copied."
        return ""

    def open_shard(self, index: int) -> None:
        """Looks into the store of one shard, read-only, as it is on the disk now."""
        if self.look is None:
            return
        try:
            store = Store.open(_store_of(self.look, index), readonly=True)
        except StoreError as error:
            self._errors.tell_exception(error, f"Shard {index}")
            return
        self.opened = index
        self._document.look_into(store, f"Shard {self.shard(index)} is shown. It can only be read.")
        self.changed.emit()

    def close_shard(self) -> None:
        """Goes back to all shards."""
        if self.opened is None:
            return
        self._look_away()
        if self.look is not None and self.look.ended and self._may_index():
            self.take_in()

    def _look_away(self) -> None:
        self.opened = None
        if self._document.looks_elsewhere:
            self._document.look_into(None)
        self.changed.emit()

    # Commands

    def command(self, want: Want) -> None:
        """Tells all shards to go on, to pause or to stop."""
        if self._watch is not None:
            self._tasks.start(self._command(self._watch.folder, want), "Tell the shards")

    async def _command(self, folder: Path, want: Want) -> None:
        try:
            await self._tasks.off_thread(write_command, folder, want)
        except OSError as error:
            self._errors.tell_exception(error, "The shards")
        self._tick()

    def behind_words(self) -> str:
        """What the figures lack, in words; empty where that is nothing."""
        return f"{plural(self.behind, 'shard')} more ended" if self.behind else ""


def _looked(watch: ShardWatch, chosen: int) -> tuple[ShardSetLook | None, Stamps, tuple[int, bool]]:
    """How the shards are, what the grid shows of it, and whether the store of the chosen one is there: disks that
    others share can be slow."""
    look = watch.look()
    there = look is not None and 0 < chosen <= look.of and _store_of(look, chosen).exists()
    return look, stamps_of(look), (chosen, there)


def _store_of(look: ShardSetLook, index: int) -> Path:
    return look.folder / Shard(look.of, index).folder / store_path(Path(RUN_PROJECT)).name


def _indexed(store: Store) -> int:
    found = runs(store)
    return int(found[-1].record.get("shards", {}).get("ended", 0)) if found else 0


def _made(folder: Path, job: Job) -> IndexMaker:
    """The index of all shards that have ended, made beside the one that is there."""
    made = IndexMaker(read_shards(folder), lambda done, total: job.report(done, total))
    made.make()
    try:
        job.check()
    except JobCancelled:
        made.close()
        raise
    return made
