"""Base of the pages about the figures of a run: the choice of runs, and what is shown until the run is read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from judgenet.ui.context import Context
from judgenet.ui.empty import EmptyState, Waiting
from judgenet.ui.navigation import Visit
from judgenet.ui.pages import texts
from judgenet.ui.pages.base import Page
from judgenet.ui.results.run_choice import CompareChoice, RunChoice

_SHARE_MS = 100


class OfRunPage(Page):
    """A page about the run in focus.

    Attributes:
        would_be: a sentence that says what the page will show.
        stack: the empty state, the progress of reading, and what the page adds.
    """

    would_be: ClassVar[str]

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._state = context.results
        self.run_choice = RunChoice(context.run_state)
        self.compare_choice = CompareChoice(context.run_state, context.results)
        self.empty = EmptyState(self.key)
        self.waiting = Waiting(texts.THE_RUN)
        self.waiting.stop.clicked.connect(self._state.cancel)
        self.stack = QStackedWidget()
        for widget in (self.empty, self.waiting):
            self.stack.addWidget(widget)
        self._in_view = False
        self._clock = QTimer(self)
        self._clock.setInterval(_SHARE_MS)
        self._clock.timeout.connect(self._show_share)

    def follow(self) -> None:
        """Shows the run in focus from now on."""
        self._state.changed.connect(self._refresh)
        self.context.run_state.run_changed.connect(self._refresh)
        self.context.run_state.loading_changed.connect(self._refresh)
        self._refresh()

    @abstractmethod
    def _refresh(self) -> None:
        """Shows the present state."""

    def top_widgets(self) -> Sequence[QWidget]:
        return (self.run_choice, self.compare_choice)

    def enter(self, visit: Visit) -> None:
        self._in_view = True
        self._state.watch(self.key)
        self._refresh()
        if visit.part == "compare":
            self.compare_choice.open()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self._in_view = False
            self._state.unwatch(self.key)

    def _show_missing(self) -> bool:
        """Shows why there are no figures yet, or the progress of reading; returns ``False`` where there are figures."""
        state, run = self._state, self._state.run
        self._clock.stop()
        if run is not None and state.results is not None:
            return False
        if run is None and not self.context.run_state.loading:
            why = self.context.runner.why_not()
            self.empty.say(self.would_be, texts.no_run_yet(why).strip(), "" if why else texts.RUN, self._run)
            self.stack.setCurrentWidget(self.empty)
        elif run is not None and state.stopped:
            self.empty.say(texts.reading_was_stopped(run.number), "", texts.READ_IT, state.again)
            self.stack.setCurrentWidget(self.empty)
        else:
            self._show_share()
            self._clock.start()
            self.stack.setCurrentWidget(self.waiting)
        return True

    def _show_share(self) -> None:
        run = self._state.run
        words = texts.READING_THE_RUN if run is None else texts.reading_run(run.number)
        self.waiting.show_share(self._state.share, words)

    def _run(self) -> None:
        self.context.actions.trigger("run.start")
