"""The list of pairs at the right of the page Results, and the pages that it leads to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from judgenet.core.wording import plural
from judgenet.report.selection import PairSelection, selected
from judgenet.store.files import atomic_write
from judgenet.ui.context import Context
from judgenet.ui.dialogs import ask_save_file
from judgenet.ui.results import texts
from judgenet.ui.results.agreement import DifferPanel
from judgenet.ui.results.discussion import ChangesPanel
from judgenet.ui.results.pair_panel import PairPanel
from judgenet.ui.results.selection_titles import selection_words
from judgenet.ui.results.state import Results
from judgenet.ui.results.what_if import looked_at

if TYPE_CHECKING:
    pass


class PairListing(QObject):
    """Knows which pairs are listed, and lists them anew when the figures change.

    Attributes:
        results: the figures in view.
    """

    def __init__(self, context: Context, panel: PairPanel, marking: Sequence[DifferPanel | ChangesPanel]) -> None:
        """``marking`` are the panels that mark the selection that is listed."""
        super().__init__(panel)
        self._context = context
        self._panel = panel
        self._marking = marking
        self.results: Results | None = None
        self._chosen: PairSelection | None = None
        self._listed: tuple[tuple[int, ...], str] | None = None
        self._task: asyncio.Task[None] | None = None
        panel.opened.connect(self._open_pair)
        panel.all_wanted.connect(self._open_all)
        panel.closed.connect(self._close_pairs)

    def forget(self) -> None:
        """Lists nothing any more: another run is in focus."""
        self._chosen = self._listed = None

    def choose(self, chosen: PairSelection | None) -> None:
        """Lists the pairs of a selection."""
        self._chosen, self._listed = chosen, None
        for panel in self._marking:
            panel.select(chosen)
        if chosen is None:
            self._panel.hide()
        else:
            self.show_again()
            self._panel.show()

    def show_pairs(self, pairs: tuple[int, ...], why: str) -> None:
        """Lists these pairs; ``why`` says in words which pairs they are."""
        self.choose(None)
        self._listed = (pairs, why)
        self.show_again()
        self._panel.show()

    def show_again(self) -> None:
        """Lists the last selection again, with the pairs that belong to it now."""
        results = self.results
        if results is None:
            return
        if self._chosen is not None:
            pairs = selected(results.frame, self._chosen)
            why = selection_words(self._chosen, results.report)
        elif self._listed is not None:
            pairs, why = self._listed
        else:
            return
        self._panel.show_pairs(self._context.document.store, results, self._verdict_shown(results), pairs, why)

    def _verdict_shown(self, results: Results) -> str:
        """The aggregation whose verdict the list shows."""
        of_cell = getattr(self._chosen, "aggregation", None)
        if isinstance(of_cell, str):
            return of_cell
        return looked_at(results.report.decides) if self._listed is not None else results.report.decides

    def _why(self) -> str:
        return self._panel.why.text()

    def _open_pair(self, index: int) -> None:
        """Opens a pair on the page Run, which then steps through the listed pairs."""
        self._context.navigator.go("run", pairs=self._panel.view.pairs.pairs, why=self._why())
        self._context.run_state.set_focus(index)

    def _open_all(self) -> None:
        """Shows all listed pairs on the page Data."""
        pairs = self._loaded(self._panel.view.pairs.pairs)
        if pairs:
            self._context.navigator.go("data", pairs=pairs, why=self._why())

    def _loaded(self, listed: tuple[int, ...]) -> tuple[int, ...]:
        """Pairs of the run as places in the pairs that are loaded now; a message says that some are not loaded."""
        document, table = self._context.document, self._context.run_state.table
        places = {pair.id: place for place, pair in enumerate(document.pairs)}
        ids: Sequence[str] = () if table is None else table.pairs.ids
        loaded = tuple(places[ids[pair]] for pair in listed if pair < len(ids) and ids[pair] in places)
        if not loaded:
            self._context.errors.post(texts.PAIRS_NOT_LOADED, texts.DATA, level="warning")
        elif len(loaded) < len(listed):
            missing = len(listed) - len(loaded)
            self._context.errors.post(texts.some_not_loaded(plural(missing, "pair")), texts.DATA, level="note")
        return loaded

    def _close_pairs(self) -> None:
        self.choose(None)

    def queue_people(self, pairs: tuple[int, ...]) -> None:
        """Opens the label desk with the pairs that are left to people."""
        loaded = self._loaded(pairs)
        if loaded:
            self._context.navigator.go("labels", pairs=loaded, why=texts.FOR_PEOPLE, part="people")

    def save_queue(self, pairs: tuple[int, ...]) -> None:
        """Asks for a file and writes the ids of pairs to it, one a line."""
        self._task = self._context.tasks.start(self._write_queue(pairs), texts.SAVE_LIST_OF_PAIRS)

    async def _write_queue(self, pairs: tuple[int, ...]) -> None:
        results = self.results
        suggestion = self._context.document.folder / "for-people.txt"
        path = await ask_save_file(self._panel, texts.SAVE_LIST_FOR_PEOPLE, (texts.TEXT_FILES,), suggestion, "txt")
        if path is None or results is None:
            return
        text = "".join(f"{results.frame.pairs.ids[pair]}\n" for pair in pairs)
        try:
            await self._context.tasks.off_thread(atomic_write, path, text)
        except OSError as error:
            self._context.errors.post_exception(error, str(path))
            return
        self._context.errors.post(texts.pairs_saved(plural(len(pairs), "pair")), str(path), level="note")
