"""The engine's own thread with an asyncio loop. Callers stay on their own threads and get futures."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_YOUNG_OBJECTS = 10_000
"""New objects between two searches for garbage during a run; Python's own value is 700. A call in flight consists of
hundreds of objects, none of them garbage, and searching them every few calls took a seventh of a run's CPU time."""
_counting = threading.Lock()
_runs = 0
_usual: tuple[int, int, int] = gc.get_threshold()


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Collects garbage less often within. A threshold that the program has set itself stays, and so does a disabled
    collector."""
    global _runs, _usual
    with _counting:
        _runs += 1
        if _runs == 1:
            _usual = gc.get_threshold()
            if 0 < _usual[0] < _YOUNG_OBJECTS and gc.isenabled():
                gc.set_threshold(_YOUNG_OBJECTS, *_usual[1:])
    try:
        yield
    finally:
        with _counting:
            _runs -= 1
            if _runs == 0 and gc.get_threshold() == (_YOUNG_OBJECTS, *_usual[1:]):
                gc.set_threshold(*_usual)


class TurnBuffer(Generic[T]):
    """Collects items and passes them on, in order, at the end of the loop's turn. Passed on one by one, each would wake
    the thread that waits for it, and that thread would take the interpreter from the loop."""

    def __init__(self, pass_on: Callable[[T], object]) -> None:
        self._pass_on = pass_on
        self._waiting: list[T] = []

    def __call__(self, item: T) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self.flush)
        self._waiting.append(item)

    def flush(self) -> None:
        """Passes on all collected items now."""
        waiting, self._waiting = self._waiting, []
        for item in waiting:
            self._pass_on(item)


class Runtime:
    """An asyncio loop in a thread.

    ``close`` cancels the tasks that are left, so that no request outlives the program.
    """

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="judgenet-engine", daemon=True)
        self._thread.start()
        self._ready.wait()

    def _run(self) -> None:
        async def body() -> None:
            self._loop = asyncio.get_running_loop()
            self._stop = asyncio.Event()
            self._ready.set()
            await self._stop.wait()

        # asyncio.run cancels the tasks that are left and shuts down generators and the executor.
        asyncio.run(body())

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        assert self._loop is not None
        return self._loop

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs a coroutine on the engine's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def call(self, action: Callable[[], None]) -> None:
        """Runs a function on the engine's loop, without waiting for it."""
        self.loop.call_soon_threadsafe(action)

    def close(self, patience: float = 5.0) -> None:
        """Stops the loop and waits for its thread at most ``patience`` seconds."""
        if self._thread.is_alive() and self._stop is not None:
            self.loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(patience)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
