"""The reports of a shard that runs by itself (``judgenet run --shard``), and the commands that it obeys."""

from __future__ import annotations

import socket
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from judgenet.core.events import RunFinished
from judgenet.engine.session import RunHandle
from judgenet.store.db import Store, StoreError
from judgenet.store.runs import RunInfo, pair_states, spent
from judgenet.store.shard_states import (
    STALE_S,
    ShardReport,
    ShardStatus,
    Want,
    read_command,
    read_shard_report,
    write_shard_report,
)

COPY_EVERY_S: Final = 60.0
OBEYS_S: Final = 1.0
"""How often commands are looked for."""
_TELLS_S: Final = 2.0
_MOST_SHARE: Final = 20
"""Reports take no more than this part of the time."""

STOPPED: Final = (
    "the shards were told to stop, so that none begins. Let them go on with: judgenet status PROJECT --resume"
)
"""Why a shard does not begin."""

_ENDS: Final[dict[str, ShardStatus]] = {"done": "done", "enough": "done", "cancelled": "waiting"}


class ShardDesk:
    """Tells of one shard's run and does what is wanted of all. Not for several threads at a time.

    Args:
        folder: the shard's folder where it is seen from the desk; commands lie in the folder above.
        shared: the shard's folder, where its store lies on another disk (:mod:`judgenet.engine.shard_disk`) and is
            copied there every minute.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time, shared: Path | None = None) -> None:
        self.folder = folder
        self.shared = shared
        self._next_copy = 0.0
        self._clock = clock
        self._wanted: Want = "run"
        self._next_look = self._next_told = 0.0
        before = read_shard_report(folder)
        self._attempt = 1 if before is None else before.attempt + 1
        self._handle: RunHandle | None = None
        self._store: Store | None = None
        self._run: RunInfo | None = None

    def may_begin(self) -> bool:
        """Whether shards may begin: not while the last command is to stop."""
        return read_command(self.folder.parent).want != "stop"

    def follow(self, store: Store, handle: RunHandle) -> None:
        """Follows the run that was started."""
        self._store, self._handle, self._run = store, handle, handle.run
        self._next_copy = self._clock() + COPY_EVERY_S

    def beat(self) -> None:
        """Obeys commands and reports, where it is time to. To be called often."""
        now = self._clock()
        if self._handle is None or now < self._next_look:
            return
        self._next_look = now + OBEYS_S
        wanted = read_command(self.folder.parent).want
        if wanted != self._wanted:
            self._wanted = wanted
            action = {"run": self._handle.resume, "pause": self._handle.pause, "stop": self._handle.cancel}
            action[wanted]()
            self._next_told = now
        if now >= self._next_told:
            self._tell("paused" if self._wanted == "pause" else "running")
            took = self._clock() - now
            self._next_told = now + min(STALE_S / 3, max(_TELLS_S, _MOST_SHARE * took))
        if self.shared is not None and self._store is not None and now >= self._next_copy:
            from judgenet.engine.shard_disk import put_store  # runs that are no shards need none of it

            # A shared disk that is away for a while is tried again; the last copy, at the end, must be written.
            with suppress(OSError):
                put_store(self._store, self.shared)
            self._next_copy = self._clock() + COPY_EVERY_S

    def keep(self, store: Store, run: RunInfo) -> None:
        """Writes the shard's tables and manifest where its folder is.

        :raises OSError: one cannot be written.
        """
        from judgenet.engine.shard_disk import put_end, put_store
        from judgenet.store.shards import end_shard

        if self.shared is None:
            end_shard(store, run)
        else:
            put_store(store, self.shared)
            put_end(store, run, self.shared)

    def end(self, finished: RunFinished) -> None:
        """Reports how the run ended."""
        state = _ENDS.get(finished.state, "failed")
        self._tell(state, "" if state != "failed" else finished.message or finished.state)

    def fail(self, error: BaseException) -> None:
        """Reports that the run ended with an error."""
        self._tell("failed", str(error) or type(error).__name__)

    def _tell(self, state: ShardStatus, error: str = "") -> None:
        pairs = done = calls = unscored = unpriced = 0
        price = 0.0
        # Of a store that is gone nothing can be told but how the run ended.
        with suppress(StoreError, sqlite3.Error):
            pairs, done, calls, unscored, price, unpriced = self._sums()
        figures = (done, pairs, calls, unscored, price, error, self._clock(), unpriced)
        report = ShardReport(state, self._attempt, socket.gethostname(), *figures)
        # A shared disk that is full or away for a while must not end a run that keeps what it has on its own.
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_shard_report(self.folder, report)

    def _sums(self) -> tuple[int, int, int, int, float, int]:
        """The numbers of pairs, finished pairs, calls and unscored calls, their price, and the number of calls with an
        unknown price."""
        if self._store is None or self._run is None:
            return 0, 0, 0, 0, 0.0, 0
        states = pair_states(self._store, self._run)
        sums = spent(self._store, self._run)
        unscored = sum(sums.unscored.values())
        return len(states), states.count("done"), sums.calls, unscored, sums.price, sums.unpriced
