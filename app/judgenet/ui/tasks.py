"""Work of the interface that takes time: coroutines that are not forgotten, and jobs off the interface's thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Final, ParamSpec, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

P = ParamSpec("P")
T = TypeVar("T")


CLOSE_PATIENCE_S: Final = 1.0
"""How long closing waits for threads that were told to stop."""


class JobCancelled(Exception):
    """The user stopped a job."""


class Job(QObject):
    """Long work that can be watched and stopped. Made by :meth:`Tasks.job`.

    ``report`` and ``check`` may be called from the thread that works.

    Signals:
        progressed: (share, text), the share 0 to 1 or ``None`` while it is unknown; at most 15 times a second.
    """

    progressed = Signal(object, str)

    def __init__(self, title: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.share: float | None = None
        self.text = ""
        self._emitted: tuple[float | None, str] = (None, "")
        self._stop = threading.Event()
        self._stopped: asyncio.Event = asyncio.Event()
        self._timer = QTimer(self)
        self._timer.setInterval(66)
        self._timer.timeout.connect(self._tell)
        self._timer.start()

    def report(self, done: float, total: float | None = None, text: str = "") -> None:
        """Says how far the work is, and ends it with :class:`JobCancelled` where the user stopped it."""
        self.share = None if not total else min(1.0, done / total)
        self.text = text
        self.check()

    def share_is(self, share: float) -> None:
        """As :meth:`report`, with the share that is done, 0 to 1."""
        self.report(share, 1.0)

    def check(self) -> None:
        """Ends the work with :class:`JobCancelled` where the user stopped it."""
        if self._stop.is_set():
            raise JobCancelled

    def cancel(self) -> None:
        """Stops the job: who waits for it hears :class:`JobCancelled` at once, its thread at its next check."""
        self._stop.set()
        self._stopped.set()

    @property
    def cancelled(self) -> bool:
        return self._stop.is_set()

    async def wait_cancelled(self) -> None:
        """Returns when the job was stopped."""
        await self._stopped.wait()

    def close(self) -> None:
        """Ends the job."""
        self._timer.stop()

    def _tell(self) -> None:
        now = (self.share, self.text)
        if now != self._emitted:
            self._emitted = now
            self.progressed.emit(*now)


class Tasks(QObject):
    """Keeps references to coroutines and emits their failures; runs blocking work in threads.

    Signals:
        jobs_changed: a job began or ended; see :attr:`jobs`.
        failed: the exception of a coroutine that nobody waits for, and its name.
    """

    jobs_changed = Signal()
    failed = Signal(object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._working: set[Future[Any]] = set()
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="judgenet-work")
        self.jobs: list[Job] = []

    def start(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Runs a coroutine on the interface's loop. ``name`` says in words what it does, for error messages."""
        task = asyncio.get_event_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, JobCancelled):
            self.failed.emit(error, task.get_name())

    async def off_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a function in a thread and returns what it returns. It must not touch Qt."""
        working = self._pool.submit(lambda: work(*args, **kwargs))
        self._working.add(working)
        working.add_done_callback(self._working.discard)
        return await asyncio.wrap_future(working)

    async def job(self, title: str, work: Callable[[Job], T]) -> T:
        """Runs long work in a thread, with progress and a way to stop it in the status bar.

        :raises JobCancelled: the user stopped it.
        """
        job = Job(title, self)
        self.jobs.append(job)
        self.jobs_changed.emit()
        working = asyncio.ensure_future(self.off_thread(work, job))
        # After the job was stopped, further progress of its thread is ignored.
        working.add_done_callback(_heard)
        stopped = asyncio.ensure_future(job.wait_cancelled())
        try:
            await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                # The thread ends at its next check.
                raise JobCancelled
            return working.result()
        finally:
            stopped.cancel()
            job.close()
            self.jobs.remove(job)
            self.jobs_changed.emit()
            job.deleteLater()

    async def close(self) -> None:
        """Stops jobs and coroutines and waits for the coroutines."""
        for job in list(self.jobs):
            job.cancel()
        waiting = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)
        # Threads hold the loop and widgets: what ends on a thread later would be destroyed there.
        wait(self._working.copy(), CLOSE_PATIENCE_S)


def _heard(work: asyncio.Future[Any]) -> None:
    if not work.cancelled():
        work.exception()
