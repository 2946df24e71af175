"""When an overview of all pairs is drawn again while a run is in progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Literal

from PySide6.QtCore import QObject

from judgenet.ui.bridge import PERIOD_MS
from judgenet.ui.run_state import RunState

TURNS: Final = {"grid": 0, "pairs": 1, "chart": 2}
"""The beats at which overviews are drawn: each has its own, so that no beat draws two."""


class Refresh(QObject):
    """Draws an overview again at the beat that brings the events of the run, at most once in ``every_ms``; at once
    where no run is in progress.

    Attributes:
        waiting: something changed that is not drawn yet.
    """

    def __init__(
        self,
        run_state: RunState,
        redraw: Callable[[], None],
        turn: Literal["grid", "pairs", "chart"],
        every_ms: int,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._turn = TURNS[turn]
        self._run_state = run_state
        self._redraw = redraw
        self._every_s = (every_ms - PERIOD_MS / 2) / 1000
        self._drawn_at = 0.0
        self.waiting = False
        run_state.beat.connect(self._beat)
        run_state.run_changed.connect(self._run_changed)

    def touch(self) -> None:
        """Says that something changed."""
        self.waiting = True
        if not self._run_state.live:
            self.now()

    def now(self) -> None:
        """Draws the overview now."""
        self.waiting = False
        self._redraw()
        self._drawn_at = time.monotonic()

    def _beat(self, number: int) -> None:
        my_turn = number % len(TURNS) == self._turn
        if my_turn and self.waiting and time.monotonic() - self._drawn_at >= self._every_s:
            self.now()

    def _run_changed(self) -> None:
        if self.waiting and not self._run_state.live:
            self.now()
