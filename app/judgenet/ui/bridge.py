"""The way from the engine's thread to the interface: a queue that the interface's thread empties 30 times a second."""

from __future__ import annotations

import queue
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from judgenet.core.events import Event

PERIOD_MS: Final = 33
"""How often the queue is drained."""

MOST_EVENTS: Final = 4000
"""Events taken in at once; what is left waits for the next time, so that the window stays responsive."""


class Bridge(QObject):
    """Carries events over.

    Signals:
        drained: a list of events in order, never empty.
        ticked: each period while open, after ``drained``.
        beat: half a period after ``ticked``, with its number: overviews of all pairs are drawn then, apart from
            what the events changed.
    """

    drained = Signal(object)
    ticked = Signal()
    beat = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._timer = QTimer(self)
        self._timer.setInterval(PERIOD_MS // 2)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._half)
        self._halves = 0

    def put(self, event: Event) -> None:
        """Hands an event over. May be called from any thread."""
        self._queue.put(event)

    def open(self) -> None:
        """Begins to empty the queue."""
        self._timer.start()

    def close(self) -> None:
        """Drains what is left and stops."""
        self._timer.stop()
        while not self._queue.empty():
            self.drain()

    def _half(self) -> None:
        self._halves += 1
        if self._halves % 2:
            self.drain()
        else:
            self.beat.emit(self._halves // 2)

    @property
    def is_open(self) -> bool:
        return self._timer.isActive()

    def drain(self) -> None:
        """Emits the events that are queued now."""
        events: list[Event] = []
        while len(events) < MOST_EVENTS:
            try:
                events.append(self._queue.get_nowait())
            except queue.Empty:
                break
        if events:
            self.drained.emit(events)
        self.ticked.emit()
