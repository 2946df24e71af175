"""Choosing which pairs of a data set are judged, as an edit of the project."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from judgenet.core.project import Selection, select
from judgenet.core.wording import plural
from judgenet.engine.pair_index import PairIndex
from judgenet.ui.data import texts
from judgenet.ui.document import Document
from judgenet.ui.tasks import Tasks


class PairChooser:
    """Chooses pairs of the open project; they are searched in a thread."""

    def __init__(self, document: Document, tasks: Tasks) -> None:
        self._document = document
        self._tasks = tasks
        self._round = 0

    def choose(self, selection: Selection, index: PairIndex, shown: NDArray[np.int32]) -> None:
        """Chooses pairs. A selection of kind ``ids`` takes those at the positions ``shown`` of the index."""
        document = self._document
        source = document.project.pairs
        if source is None:
            return
        left_out = source.selection.left_out
        if selection.kind == "ids":
            rows = np.sort(shown)
            selection = Selection("ids", ids=tuple(index.pairs[place].id for place in rows.tolist()))
            text = texts.choose_the_shown(plural(len(rows), "pair"))
        else:
            text = {
                "all": texts.CHOOSE_ALL,
                "sample": texts.CHOOSE_SAMPLE,
                "per_task": texts.CHOOSE_PER_TASK,
            }[selection.kind]
        selection = replace(selection, left_out=left_out)
        self._round += 1
        self._tasks.start(self._choose_pairs(text, selection, self._round), texts.CHOOSE_PAIRS)

    async def _choose_pairs(self, text: str, selection: Selection, number: int) -> None:
        document, dataset = self._document, self._document.dataset
        if dataset is None:
            return
        chosen = await self._tasks.off_thread(select, dataset.pairs, selection)
        source = document.project.pairs
        if number != self._round or dataset is not document.dataset or source is None:
            return
        document.selections.remember(dataset, selection, chosen)
        project = replace(document.project, pairs=replace(source, selection=selection))
        merge = f"selection.{selection.kind}" if selection.kind in ("sample", "per_task") else ""
        document.edit_project(text, project, merge=merge)
