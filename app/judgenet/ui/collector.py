"""Garbage is collected on the interface's thread alone.

Python collects on whichever thread allocates. Where that is a worker's, widgets and timers that are part of a cycle are
destroyed there; Qt goes on with what is not there any more, and the program crashes.
"""

from __future__ import annotations

import gc
import time
from typing import Final

from PySide6.QtCore import QObject, QTimer

_EVERY_MS: Final = 250
_SHARE: Final = 100
"""The oldest generation is looked through for at most one in so many seconds: with many pairs loaded it is large."""


class Collector(QObject):
    """Switches Python's own collecting off and does it from the event loop."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._next_full = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()
        gc.disable()

    def collect(self) -> None:
        """Collects what is due, as Python would have done by now."""
        young, middle, old = (count > limit for count, limit in zip(gc.get_count(), gc.get_threshold(), strict=True))
        now = time.monotonic()
        if old and now >= self._next_full:
            gc.collect(2)
            took = time.monotonic() - now
            self._next_full = now + _SHARE * took
        elif middle:
            gc.collect(1)
        elif young:
            gc.collect(0)


def collect_on_this_thread(app: QObject) -> None:
    """From now on garbage is collected by the application's event loop."""
    if app.findChild(Collector) is None:
        Collector(app)
