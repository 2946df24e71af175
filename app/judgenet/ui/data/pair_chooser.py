"""Which pairs of a data set are judged: the choice becomes an edit of the project."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgenet.core.project import Selection, select
from judgenet.core.wording import plural
from judgenet.engine.pair_index import PairIndex
from judgenet.ui.document import Document
from judgenet.ui.tasks import Tasks

VERDICTS_WAIT_MS: Final = 1000
"""While a run goes on, filters and order follow new verdicts so often."""


class PairChooser:
    """Chooses pairs of the open project; finding them out of many takes a thread."""

    def __init__(self, document: Document, tasks: Tasks) -> None:
        self._document = document
        self._tasks = tasks
        self._round = 0

    def choose(self, selection: Selection, index: PairIndex, shown: NDArray[np.int32]) -> None:
        """Chooses pairs; of kind ``ids`` those that are ``shown``, by their positions in the index."""
        document = self._document
        source = document.project.pairs
        if source is None:
            return
        left_out = source.selection.left_out
        if selection.kind == "ids":
            rows = np.sort(shown)
            selection = Selection("ids", ids=tuple(index.pairs[place].id for place in rows.tolist()))
            text = f"Choose the {plural(len(rows), 'pair')} shown"
        else:
            text = {
                "all": "Choose all pairs",
                "sample": "Choose a sample of the pairs",
                "per_task": "Choose pairs of each task",
            }[selection.kind]
        selection = replace(selection, left_out=left_out)
        self._round += 1
        self._tasks.start(self._choose_pairs(text, selection, self._round), "Choose pairs")

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
