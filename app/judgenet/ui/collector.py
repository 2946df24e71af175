"""Garbage is collected on the interface's thread alone.

Python collects on whichever thread allocates. Where that is a worker's, widgets and timers that are part of a cycle are
destroyed there; Qt goes on with what is not there any more, and the program crashes.
"""

from __future__ import annotations

import gc
import time
from typing import Final

from PySide6.QtCore import QObject, QTimer

_EVERY_MS: Final = 40
"""Often, so that each time little has come together: what is collected at once holds the window up."""
_SHARE: Final = 100
"""The oldest generation is looked through for at most one in so many seconds."""
_LONG_S: Final = 0.03
"""Where that took longer, what was left is set aside: most of it (modules, pages, pairs) stays for good."""
_SET_ASIDE_TIMES: Final = 20
"""After so many times all of it is looked through once more, so that nothing is lost for ever."""
_SETTLED_TICKS: Final = round(1500 / _EVERY_MS)
"""The first full look is taken when the window stands, before the user has begun to work."""


class Collector(QObject):
    """Switches Python's own collecting off and does it from the event loop."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._next_full = 0.0
        self._ticks = 0
        self._set_aside = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()
        gc.disable()

    def collect(self) -> None:
        """Runs the garbage collection that is due."""
        young, middle, old = (count > limit for count, limit in zip(gc.get_count(), gc.get_threshold(), strict=True))
        now = time.monotonic()
        self._ticks += 1
        if (old and now >= self._next_full) or self._ticks == _SETTLED_TICKS:
            if self._set_aside >= _SET_ASIDE_TIMES:
                gc.unfreeze()
                self._set_aside = 0
            gc.collect(2)
            took = time.monotonic() - now
            self._next_full = now + _SHARE * took
            if took > _LONG_S:
                gc.freeze()
                self._set_aside += 1
        elif middle:
            gc.collect(1)
        elif young:
            gc.collect(0)


def collect_on_this_thread(app: QObject) -> None:
    """From now on garbage is collected by the application's event loop."""
    if app.findChild(Collector) is None:
        Collector(app)
