"""Starts, pauses and stops the document's run."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Runner(QObject):
    """The run that goes on in this window, if any. Its events reach :class:`~judgenet.ui.run_state.RunState`.

    Signals:
        changed: any of the properties changed.
    """

    changed = Signal()

    @property
    def running(self) -> bool:
        """A run goes on, paused or not."""
        raise NotImplementedError

    @property
    def paused(self) -> bool:
        raise NotImplementedError

    @property
    def stopping(self) -> bool:
        """The run was told to stop and has not ended yet."""
        raise NotImplementedError

    def why_not(self) -> str:
        """Why no run can be started now, in words; empty where one can."""
        raise NotImplementedError

    def start(self) -> None:
        """Starts the document's network on its pairs, or goes on with the same run where it stopped: pairs that are
        done are not asked again, calls without an answer are."""
        raise NotImplementedError

    def pause(self) -> None:
        raise NotImplementedError

    def resume(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        """Ends the run within a second; what is finished is kept."""
        raise NotImplementedError
