"""The shards of the open project: watched in a thread, read as one run, merged, and given commands."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from judgenet.core.shards import Shard
from judgenet.core.wording import of, plural, spent_text
from judgenet.figures.shards import STATE_WORDS
from judgenet.store.db import Store, StoreError, StoreInUse
from judgenet.store.files import store_path
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.runs import runs
from judgenet.store.shard_index import IndexMaker, pairs_of_shard, shards_in, take_labels_elsewhere
from judgenet.store.shard_labels import publish_if_possible
from judgenet.store.shard_states import Want, write_command
from judgenet.store.shard_watch import CellState, ShardSetLook, ShardWatch
from judgenet.store.shards import ShardsInRun, index_path, merge_shards, read_shards, shards_folder
from judgenet.ui.errors import MessageButton
from judgenet.ui.project_state import ProjectParts, ProjectState
from judgenet.ui.shards import texts
from judgenet.ui.shards.stamps import Stamps, stamps_of
from judgenet.ui.tasks import Job, JobCancelled

STATES_SHOWN: Final[tuple[CellState, ...]] = ("done", "running", "paused", "waiting", "failed", "silent")
"""The states of shards in the order in which people read them."""
_IN_VIEW_MS: Final = 1000
"""How often the files of the shards are read while the page shows them."""
_OUT_OF_VIEW_MS: Final = 5000
_REST_S: Final = 0.0005
"""How long the thread sleeps between two files, so that other threads can work."""


class ShardsSummary(NamedTuple):
    """The shards in the status bar: how many are in each state, pairs that are judged, calls, and price."""

    state: str
    pairs: str
    calls: str
    price: str


class ShardsState(ProjectState):
    """The state of the shards of the open project, and what can be done with them.

    Attributes:
        look: what the files of the shards say, ``None`` where the project has none.
        stamps: what the grid shows of :attr:`look`.
        opened: the shard whose store is open in place of the project's, by index from 1; ``None`` for none.
        chosen: the shard in the inspector, by index from 1; 0 for none.
        indexed: how many ended shards the figures rest on.
        working: the index is being made, or the shards are being merged.

    Signals:
        changed: one of the attributes changed; about once a second.
        found: the project now has shards and had none before, or the other way round.
    """

    changed = Signal()
    found = Signal()

    def __init__(self, parts: ProjectParts, parent: QObject | None = None) -> None:
        super().__init__(parts, parent)
        self.look: ShardSetLook | None = None
        self.stamps = stamps_of(None)
        self.opened: int | None = None
        self.chosen = 0
        self.indexed = 0
        self._in_index: frozenset[str] = frozenset()
        self._store_seen = (0, False)
        self._to_open = 0
        self.working = False
        self._watch: ShardWatch | None = None
        self._file: Path | None = None
        self._looking = False
        self._tried_to_index = False
        self._last_error = ""
        self._in_view = False
        self._ended_when_done = 0
        self._timer = QTimer(self)
        self._timer.setObjectName("shards")
        self._timer.setInterval(_OUT_OF_VIEW_MS)
        self._timer.timeout.connect(self._tick)
        self._document.opened.connect(self._opened)
        self._document.saved_changed.connect(self._opened)

    def close(self) -> None:
        """Stops watching the shards."""
        self._timer.stop()
        self._watch = None

    @property
    def there(self) -> bool:
        """Whether the project has shards."""
        return self.look is not None

    @property
    def behind(self) -> int:
        """How many shards have ended that are not in the figures yet."""
        return max(0, self.look.ended - self.indexed) if self.look is not None and self.reads_index else 0

    @property
    def reads_index(self) -> bool:
        """Whether the shards that have ended are shown as the project's run."""
        return self._document.looks_elsewhere and self.opened is None

    def _opened(self) -> None:
        if self._document.file == self._file:
            return
        self._file = self._document.file
        had_shards = self.there
        self.look, self.opened, self.indexed = None, None, 0
        self._tried_to_index, self._last_error, self._ended_when_done, self._to_open = False, "", 0, 0
        path = self._document.path
        self._watch = None if path is None else ShardWatch(shards_folder(path), lambda: time.sleep(_REST_S))
        if self._watch is None:
            self._timer.stop()
        else:
            self._timer.start()
            self._tick()
        if had_shards:
            self.found.emit()

    # Watching

    def _tick(self) -> None:
        if self._watch is not None and not self._looking:
            self._looking = True
            self._tasks.start(self._look(self._watch), texts.LOOK_AT_SHARDS)

    async def _look(self, watch: ShardWatch) -> None:
        try:
            index = self._document.store if self.reads_index else None
            look, stamps, self._store_seen = await self._tasks.off_thread(_look_at, watch, self.chosen, index)
        except StoreError as error:
            look, stamps = None, stamps_of(None)
            if str(error) != self._last_error:
                self._last_error = str(error)
                self._errors.post(self._last_error, self._document.title, level="warning")
        finally:
            self._looking = False
        if watch is not self._watch:
            return
        before, self.look, self.stamps = self.look, look, stamps
        if (before is None) != (look is None):
            self.found.emit()
        if look is not None:
            self.changed.emit()
            if look.ended and not self._tried_to_index and self._may_index():
                self._tried_to_index = True
                self.take_in()
            elif self.behind and look.state == "done" and self._in_view and look.ended != self._ended_when_done:
                # The last shard is done and nobody works on another page: read all of them, once.
                self._ended_when_done = look.ended
                self.take_in()

    def _may_index(self, *, while_working: bool = False) -> bool:
        """Whether the shards can be shown as the project's run: it has no run of its own."""
        own = self._document.own_store
        return self.opened is None and (while_working or not self.working) and (own is None or not runs(own))

    def status(self) -> ShardsSummary | None:
        """What the status bar says while shards run or where they are not read yet; ``None`` where the run in view
        says more."""
        look = self.look
        if look is None or self.opened is not None or (self.reads_index and not look.goes_on):
            return None
        counts = ((STATE_WORDS[state], look.count(state)) for state in STATES_SHOWN)
        by_state = ", ".join(f"{count:,} {words}" for words, count in counts if count)
        pairs = f"{look.pairs_done:,}" if look.pairs is None else of(look.pairs_done, look.pairs)
        price = spent_text(look.price, look.unpriced) if look.calls else ""
        calls = plural(look.calls, "call")
        return ShardsSummary(texts.shards_status(by_state), texts.pairs_judged(pairs), calls, price)

    # The shards as one run

    def take_in(self) -> None:
        """Reads all shards that have ended as the project's run."""
        if not self.working and self._watch is not None:
            self._tasks.start(self._take_in(self._watch), texts.READ_SHARDS)

    async def _take_in(self, watch: ShardWatch) -> None:
        self._set_working(True)
        try:
            index = await self._tasks.job(texts.READ_SHARDS, lambda job: _make_index(watch.folder, job))
            try:
                if watch is self._watch and self.reads_index:
                    # The index must not be open here while the new one takes its place.
                    self._look_away()
                # Another window that has it open keeps the old index until it reads the shards itself.
                with suppress(StoreInUse):
                    await self._tasks.off_thread(index.put)
            finally:
                await self._tasks.off_thread(index.close)
            await self._tasks.off_thread(take_labels_elsewhere, watch.folder)
            if watch is self._watch and self._may_index(while_working=True):
                await self._show_index(watch)
        except JobCancelled:
            return
        except (StoreError, OSError, sqlite3.Error) as error:
            if watch is self._watch:
                self._errors.post_exception(error, texts.THE_SHARDS, MessageButton(texts.TRY_AGAIN, self.take_in))
        finally:
            self._set_working(False)

    async def _show_index(self, watch: ShardWatch) -> None:
        """Opens the index in place of the project's store, unless another project was opened meanwhile."""
        index = await self._tasks.off_thread(_open_index, watch.folder)
        if watch is not self._watch or not self._may_index(while_working=True):
            index.store.close()
            return
        self.indexed, self._in_index = index.ended, index.shards
        self._document.look_into(index.store, index.read_only)
        self.changed.emit()

    def _set_working(self, working: bool) -> None:
        self.working = working
        self.changed.emit()

    @property
    def unmerged(self) -> bool:
        """Whether shards have ended that are not in the project's own runs."""
        merged = [shards for run in self._run_state.runs if (shards := ShardsInRun.of_run(run)) is not None]
        if self.look is None or not self.look.ended or self.opened is not None:
            return False
        return self.reads_index or any(shards.ended < self.look.ended for shards in merged[-1:])

    def merge(self) -> None:
        """Makes one run of the shards in the project's own store; pairs of missing shards stay unfinished."""
        if not self.working and self._watch is not None:
            self._tasks.start(self._merge(self._watch), texts.MERGE_SHARDS)

    def why_not_merge(self) -> str:
        """Why the shards cannot be merged now; empty where they can."""
        own = self._document.own_store
        if self.working:
            return texts.BEING_READ
        if own is None or own.readonly:
            return texts.STORE_NOT_WRITABLE
        if self.look is None or not self.look.ended:
            return texts.NONE_ENDED
        if self.look.goes_on:
            return texts.STILL_RUNNING
        return ""

    async def _merge(self, watch: ShardWatch) -> None:
        own, pairs = self._document.own_store, self._document.pairs
        if own is None or (why := self.why_not_merge()):
            self._errors.post(why or texts.NO_STORE, texts.THE_SHARDS, level="warning")
            return
        self._set_working(True)
        folder = watch.folder
        try:
            self._look_away()
            shards = await self._tasks.off_thread(read_shards, folder)
            all_pairs = None if shards.complete else pairs
            await self._tasks.job(texts.MERGE_SHARDS, lambda job: merge_shards(shards, own, all_pairs))
        except JobCancelled:
            return
        except (StoreError, OSError, sqlite3.Error) as error:
            self._errors.post_exception(error, texts.THE_SHARDS)
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
        """Says whether the page shows the shards; out of view they are watched less often."""
        self._in_view = in_view
        self._timer.setInterval(_IN_VIEW_MS if in_view else _OUT_OF_VIEW_MS)
        if in_view:
            self._tick()

    def choose(self, index: int) -> None:
        """Says which shard the inspector shows, by index from 1; 0 for none."""
        self.chosen = index
        self._tick()

    def has_pairs(self, index: int) -> bool:
        """Whether the run in view has pairs of a shard."""
        return self.reads_index and self.shard(index).folder in self._in_index

    def pairs_of(self, index: int) -> tuple[int, ...]:
        """The places of a shard's pairs in the run in view; empty where the run has none of them."""
        store = self._document.store
        if store is None or not self.reads_index:
            return ()
        try:
            return pairs_of_shard(store, self.shard(index).folder)
        except (StoreError, sqlite3.Error):
            return ()

    def why_not_open(self, index: int) -> str:
        """Why the store of a shard cannot be opened; empty where it can."""
        if self.look is None or index not in self.look.reports:
            return texts.NO_STORE_YET
        if self.working:
            return texts.BEING_READ
        if self._store_seen[0] != index:
            return texts.LOOKING_FOR_STORE
        if not self._store_seen[1]:
            return texts.STORE_ON_WORKER
        return ""

    def open_shard(self, index: int) -> None:
        """Opens the store of a shard, by index from 1, read-only and as it is on the disk now."""
        if self.look is not None and self._watch is not None:
            self._to_open = index
            self._tasks.start(self._open_shard(self._watch, self.look, index), texts.OPEN_SHARD)

    async def _open_shard(self, watch: ShardWatch, look: ShardSetLook, index: int) -> None:
        name = str(Shard(look.of, index))
        try:
            store = await self._tasks.off_thread(partial(Store.open, _store_of(look, index), readonly=True))
        except StoreError as error:
            self._errors.post_exception(error, texts.shard(name))
            return
        if watch is not self._watch or self._to_open != index or self.working:
            # The user went elsewhere meanwhile.
            store.close()
            return
        self.opened = index
        self._document.look_into(store, texts.shard_shown(name))
        self.changed.emit()

    def close_shard(self) -> None:
        """Goes back to all shards."""
        self._to_open = 0
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
        """Tells all shards to run, to pause or to stop."""
        if self._watch is not None:
            self._tasks.start(self._command(self._watch.folder, want), texts.COMMAND_SHARDS)

    async def _command(self, folder: Path, want: Want) -> None:
        try:
            await self._tasks.off_thread(write_command, folder, want)
        except OSError as error:
            self._errors.post_exception(error, texts.THE_SHARDS)
        self._tick()


def _look_at(
    watch: ShardWatch, chosen: int, index: Store | None
) -> tuple[ShardSetLook | None, Stamps, tuple[int, bool]]:
    """How the shards are, what the grid shows of it, and whether the store of the chosen shard exists; in a thread,
    since a shared disk can be slow. New labels in the open index are copied into the folder of the shards."""
    if index is not None and not index.readonly:
        publish_if_possible(index)
    look = watch.look()
    exists = look is not None and 0 < chosen <= look.of and _store_of(look, chosen).exists()
    return look, stamps_of(look), (chosen, exists)


def _store_of(look: ShardSetLook, index: int) -> Path:
    return look.folder / Shard(look.of, index).folder / store_path(Path(RUN_PROJECT)).name


class _OpenIndex(NamedTuple):
    """The open index of the shards: why it cannot be changed (empty where it can), how many ended shards it holds,
    and their folders."""

    store: Store
    read_only: str
    ended: int
    shards: frozenset[str]


def _open_index(folder: Path) -> _OpenIndex:
    """Opens the index of a folder of shards; read-only where another window has it open.

    :raises StoreError: it cannot be read.
    """
    read_only = ""
    try:
        store = Store.open(index_path(folder))
    except StoreInUse:
        store = Store.open(index_path(folder), readonly=True)
        read_only = texts.OPEN_ELSEWHERE
    try:
        recorded = runs(store)
        ended = int(recorded[-1].record.get("shards", {}).get("ended", 0)) if recorded else 0
        return _OpenIndex(store, read_only, ended, shards_in(store))
    except (StoreError, sqlite3.Error):
        store.close()
        raise


def _make_index(folder: Path, job: Job) -> IndexMaker:
    """Makes the index of all shards that have ended, beside the one that exists.

    :raises JobCancelled: the user stopped it.
    """
    index = IndexMaker(read_shards(folder), lambda done, total: job.report(done, total))
    index.make()
    try:
        job.check()
    except JobCancelled:
        index.close()
        raise
    return index
