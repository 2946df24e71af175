"""The pairs of a document: read from their source in a job, and selected from what was read."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from judgenet.core.pairs import Pair
from judgenet.core.project import PairsSource, Selection, relative_path, select
from judgenet.engine.endpoints import EndpointError, NotApproved
from judgenet.engine.setup import read_source
from judgenet.formats.errors import DataError
from judgenet.ui import texts
from judgenet.ui.errors import ErrorPort, MessageButton
from judgenet.ui.tasks import JobCancelled, Tasks

if TYPE_CHECKING:
    from judgenet.formats import Dataset
    from judgenet.ui.document import Document

SELECTIONS_KEPT: Final = 8
"""Selections whose pairs are remembered, so that undo and redo are at once."""


class KeptSelections:
    """The pairs of the last selections of a data set. Selecting among many pairs takes time, best in a thread."""

    def __init__(self) -> None:
        self._kept: list[tuple[Dataset, Selection, tuple[Pair, ...]]] = []

    def pairs_of(self, dataset: Dataset, selection: Selection) -> tuple[Pair, ...]:
        """The selected pairs of a data set, in its order.

        :raises ProjectError: the selection does not fit the data set.
        """
        if selection == Selection():
            return dataset.pairs
        for known, chosen, pairs in self._kept:
            if known is dataset and chosen == selection:
                return pairs
        selected = select(dataset.pairs, selection)
        self.remember(dataset, selection, selected)
        return selected

    def remember(self, dataset: Dataset, selection: Selection, pairs: tuple[Pair, ...]) -> None:
        """Keeps what was found in a thread."""
        self._kept.append((dataset, selection, pairs))
        if len(self._kept) > SELECTIONS_KEPT:
            self._kept.pop(0)

    def clear(self) -> None:
        """Forgets all of them."""
        self._kept.clear()


class PairsLoader(QObject):
    """Reads the pairs of a document from their source.

    Attributes:
        loading: pairs are being loaded.

    Signals:
        changed: :attr:`loading` changed.
    """

    changed = Signal()

    def __init__(self, document: Document, tasks: Tasks, errors: ErrorPort) -> None:
        super().__init__(document)
        self._document = document
        self._tasks = tasks
        self._errors = errors
        self._task: asyncio.Task[None] | None = None
        self._newest = 0
        """Counts the readings: the newest one says when loading has ended, whichever project is open by then."""
        self.loading = False

    def start(self) -> None:
        """Begins to read the pairs that the project names, where they are not read yet and may be."""
        source = self._document.project.pairs
        if source is not None and self._document.dataset is None and self._document.approvals.may_read(source):
            self._task = self._tasks.start(self._load(source, self._document.generation), texts.LOAD_THE_PAIRS)

    async def finished(self) -> None:
        """Returns when the pairs are loaded, or could not be."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _load(self, source: PairsSource, generation: int) -> None:
        document = self._document
        self._newest += 1
        number = self._newest
        self._set_loading(True)
        folder, salt = document.folder, document.project.salt
        try:
            dataset = await self._tasks.job(
                texts.LOAD_THE_PAIRS, lambda job: read_source(source, folder, salt, lambda share: job.report(share, 1))
            )
        except JobCancelled:
            again = MessageButton(texts.LOAD_THEM, document.reload_pairs)
            self._errors.post(texts.PAIRS_WERE_NOT_LOADED, document.title, again, level="warning")
            return
        except NotApproved as error:
            document.approvals.post_outside(error.needs)
            return
        except (DataError, EndpointError, OSError) as error:
            self._errors.post_exception(error, button=MessageButton(texts.TRY_AGAIN, document.reload_pairs))
            return
        finally:
            if number == self._newest:
                self._set_loading(False)
        wanted = unselected(document.project.pairs) == unselected(source)
        if generation == document.generation and document.dataset is None and wanted:
            document.take_dataset(dataset)

    def _set_loading(self, loading: bool) -> None:
        if loading != self.loading:
            self.loading = loading
            self.changed.emit()


def with_relative_files(source: PairsSource, folder: Path) -> PairsSource:
    """A source of pairs with its absolute paths made relative to the project's folder.

    :raises ProjectError: a path cannot be kept in a project.
    """
    files = (relative_path(Path(file), folder) if Path(file).is_absolute() else file for file in source.files)
    return replace(source, files=tuple(files))


def unselected(source: PairsSource | None) -> PairsSource | None:
    """A source of pairs without its selection."""
    return None if source is None else replace(source, selection=Selection())
