"""A line that says how many labelled pairs a comparison of two networks needs."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from judgenet.core.wording import capitalized
from judgenet.store.db import StoreError
from judgenet.store.labels import newest_label
from judgenet.ui.context import Context
from judgenet.ui.design import texts
from judgenet.ui.elements import WrappedLabel, set_tone
from judgenet.ui.measures import measure
from judgenet.ui.text_view import plain_tip

if TYPE_CHECKING:
    from judgenet.stats.power import ComparisonPlan


class ComparisonNote(WrappedLabel):
    """How many labelled pairs are needed to detect a difference of 3 points, by the recorded runs of the project.

    It is calculated in a thread when the page is shown and when a run begins or ends.
    """

    def __init__(self, context: Context) -> None:
        super().__init__("")
        set_tone(self, "text2")
        self._context = context
        self._asked = 0
        self._known: tuple[object, ...] | None = None
        self.hide()
        context.run_state.runs_changed.connect(self.refresh)
        context.document.opened.connect(self.refresh)
        measure(self, margins=(32, 0, 16, 8))

    def refresh(self) -> None:
        """Plans again if the page is in view."""
        page = self.parentWidget()
        if page is not None and page.isVisible():
            self.begin()

    def begin(self) -> None:
        """Plans again if runs or labels have changed; reading a run takes a while."""
        context = self._context
        store = context.document.store
        if not context.document.is_open:
            return
        labels = 0 if store is None else newest_label(store)
        runs = tuple((run.id, run.state, run.finished_at) for run in context.run_state.runs)
        known = (None if store is None else store.path, runs, labels)
        if known == self._known:
            return
        self._known = known
        self._asked += 1
        context.tasks.start(self._plan(self._asked), texts.PLAN_COMPARISON)

    async def _plan(self, number: int) -> None:
        from judgenet.figures.comparison_plan import project_plan

        store, runs = self._context.document.store, self._context.run_state.runs
        try:
            plan = await self._context.tasks.off_thread(project_plan, store, runs)
        except (StoreError, sqlite3.Error) as error:
            # Another project was opened meanwhile, and the store of the one before is closed.
            if number == self._asked and self._context.document.store is store:
                self._context.errors.post_exception(error)
            return
        if number == self._asked:
            self._show(plan)

    def _show(self, plan: ComparisonPlan) -> None:
        from judgenet.figures.power import at_words, discordance_words, plan_words, short_basis

        basis = discordance_words(plan.discordance)
        sentences = (plan_words(plan), capitalized(basis), at_words(plan))
        whole = " ".join(f"{sentence}." for sentence in sentences if sentence)
        # The line is short; the tooltip says what it rests on.
        self.setText(f"{plan_words(plan)} ({short_basis(plan.discordance)})")
        self.setToolTip(plain_tip(whole))
        self.setAccessibleName(whole)
        self.setVisible(plan.pairs is not None)
