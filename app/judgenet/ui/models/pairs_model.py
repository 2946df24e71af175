"""The model of the table of pairs: a tuple of pairs, and an array of positions as rows. No object is made per row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt

from judgenet.core.pairs import Pair, Verdict
from judgenet.core.pictures import spoken_text
from judgenet.engine.pair_index import DatasetVerdicts, NoVerdict, SortKey
from judgenet.stats.curves import CODES
from judgenet.ui.models import texts
from judgenet.ui.models.index import ModelIndex
from judgenet.ui.table import RowsModel
from judgenet.ui.text_view import one_line, plain_tip

ColumnKey = Literal[
    "chosen", "id", "task", "question", "response_a", "response_b", "length_a", "length_b", "verdict", "human", "match"
]
CellKind = Literal["tick", "mono", "text", "quiet", "number", "chip", "match"]
"""The form in which a cell is drawn."""

VERDICT_WORDS: Final[dict[Verdict | None, str]] = {"a": texts.A, "b": texts.B, "tie": texts.TIE, None: ""}


@dataclass(frozen=True, slots=True)
class PairColumn:
    """A column of the table. ``width`` is in px at 100 %, 0 for what is left; ``side`` puts the chip of A or B before
    the title. ``words`` is the title for those who do not see the chip."""

    key: ColumnKey
    title: str
    kind: CellKind
    width: int
    sort: SortKey | None = None
    side: Verdict | None = None
    words: str = ""

    @property
    def name(self) -> str:
        return self.words or self.title


BROWSE: Final = (
    PairColumn("chosen", "", "tick", 36, "chosen", words=texts.CHOSEN),
    PairColumn("id", texts.ID, "mono", 112, "id"),
    PairColumn("question", texts.QUESTION, "text", 0, "question"),
    PairColumn("task", texts.TASK, "quiet", 112, "task"),
    PairColumn("length_a", texts.CHARACTERS, "number", 92, "length_a", "a", texts.LENGTH_OF_A),
    PairColumn("length_b", texts.CHARACTERS, "number", 92, "length_b", "b", texts.LENGTH_OF_B),
    PairColumn("verdict", texts.NETWORK, "chip", 56, "verdict", words=texts.NETWORK_VERDICT),
    PairColumn("human", texts.HUMAN, "chip", 68, "human", words=texts.HUMAN_LABEL),
    PairColumn("match", "", "match", 72, "agreement", words=texts.AGREEMENT),
)
"""What is shown of pairs that are loaded."""

PREVIEW: Final = (
    PairColumn("id", texts.ID, "mono", 112),
    PairColumn("question", texts.QUESTION, "text", 0),
    PairColumn("response_a", texts.RESPONSE, "text", 0, side="a", words=texts.RESPONSE_A),
    PairColumn("response_b", texts.RESPONSE, "text", 0, side="b", words=texts.RESPONSE_B),
    PairColumn("human", texts.LABEL, "chip", 64, words=texts.HUMAN_LABEL),
    PairColumn("task", texts.TASK, "quiet", 104),
)
"""What is shown of pairs that are about to be imported."""

TEXTS: Final = ("question", "response_a", "response_b")


class PairsModel(RowsModel):
    """Pairs in rows. ``rows`` holds the positions of the pairs that are shown, in the order in which they are."""

    def __init__(self, columns: Sequence[PairColumn], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[PairColumn, ...] = tuple(columns)
        self.pairs: Sequence[Pair] = ()
        self.rows: NDArray[np.int32] = np.zeros(0, np.int32)  # type: ignore[assignment]  # an array has a length
        self.verdicts: DatasetVerdicts | None = None
        self.chosen: NDArray[np.bool_] | None = None
        self._row_of: NDArray[np.int32] | None = None

    # Filling

    def set_pairs(
        self,
        pairs: Sequence[Pair],
        rows: NDArray[np.int32] | None = None,
        verdicts: DatasetVerdicts | None = None,
        chosen: NDArray[np.bool_] | None = None,
    ) -> None:
        """Shows other pairs; all of them in their own order where no ``rows`` are given."""
        self.beginResetModel()
        self.pairs = pairs
        self.rows = np.arange(len(pairs), dtype=np.int32) if rows is None else rows
        self.verdicts = verdicts
        self.chosen = chosen
        self._row_of = None
        self.endResetModel()

    def set_rows(self, rows: NDArray[np.int32]) -> None:
        """Shows other rows of the same pairs."""
        self.beginResetModel()
        self.rows = rows
        self._row_of = None
        self.endResetModel()

    def set_chosen(self, chosen: NDArray[np.bool_] | None) -> None:
        """Says which pairs are chosen; ``None``: all."""
        self.chosen = chosen
        self._all_changed()

    def set_verdicts(self, verdicts: DatasetVerdicts | None) -> None:
        """Shows the verdicts of another run."""
        self.verdicts = verdicts
        self._all_changed()

    def _all_changed(self) -> None:
        if len(self.rows):
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(self.columns) - 1))

    def pairs_changed(self, positions: Iterable[int]) -> None:
        """Updates the rows of pairs whose verdicts have changed."""
        rows = [row for row in map(self.row_of, positions) if row is not None]
        if rows:
            self.dataChanged.emit(self.index(min(rows), 0), self.index(max(rows), len(self.columns) - 1))

    # Rows and positions

    def position(self, row: int) -> int:
        """The position in the data set of the pair in a row."""
        return int(self.rows[row])

    def row_of(self, position: int) -> int | None:
        """The row of the pair at a position, ``None`` where it is not shown."""
        if self._row_of is None:
            self._row_of = np.full(len(self.pairs), -1, np.int32)
            self._row_of[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        row = int(self._row_of[position]) if 0 <= position < len(self._row_of) else -1
        return None if row < 0 else row

    def pair(self, row: int) -> Pair:
        """The pair shown in a row."""
        return self.pairs[int(self.rows[row])]

    # Cells

    def text(self, row: int, key: ColumnKey) -> str:
        """The text of a cell, empty for chips and ticks."""
        pair = self.pairs[self.rows[row]]
        if key in TEXTS:
            return one_line(pair.readable(getattr(pair, key)))
        if key == "id":
            return one_line(pair.id)
        if key == "task":
            return one_line(pair.task or "")
        if key == "length_a":
            return f"{len(spoken_text(pair.response_a, pair.pictures)):,}"
        if key == "length_b":
            return f"{len(spoken_text(pair.response_b, pair.pictures)):,}"
        return ""

    def verdict(self, row: int, key: ColumnKey) -> tuple[Verdict | None, NoVerdict]:
        """What a chip's cell shows, and why there is no verdict where the pair was judged."""
        position = self.rows[row]
        if key == "human":
            return self.pairs[position].human, ""
        if self.verdicts is None:
            return None, ""
        verdict = CODES[self.verdicts.verdict[position]]
        return verdict, self.verdicts.missing(position)

    def agrees(self, row: int) -> bool | None:
        """Whether verdict and label of a pair are the same; ``None`` where one is missing."""
        verdict, _ = self.verdict(row, "verdict")
        human = self.pairs[self.rows[row]].human
        return None if verdict is None or human is None else verdict == human

    def is_chosen(self, row: int) -> bool:
        """Whether the pair in a row is among those that are judged."""
        return self.chosen is None or bool(self.chosen[self.rows[row]])

    def words(self, row: int, column: PairColumn) -> str:
        """A cell in words."""
        if column.kind == "chip":
            verdict, missing = self.verdict(row, column.key)
            return missing or VERDICT_WORDS[verdict]
        if column.kind == "match":
            return {True: texts.AGREE, False: texts.DIFFER, None: ""}[self.agrees(row)]
        if column.kind == "tick":
            return texts.IS_CHOSEN if self.is_chosen(row) else texts.NOT_CHOSEN
        return self.text(row, column.key)

    # Qt's side

    def data(self, index: ModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        column = self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.words(index.row(), column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            words = self.words(index.row(), column)
            return f"{column.name}: {words}" if words else f"{column.name}: {texts.NONE}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(index.row(), column)
        return None

    def _tip(self, row: int, column: PairColumn) -> str | None:
        if column.key in TEXTS:
            return plain_tip(getattr(self.pair(row), column.key))
        if column.key == "match":
            match = self.agrees(row)
            if match is None:
                return None
            return texts.NETWORK_AND_PEOPLE_AGREE if match else texts.NETWORK_AND_PEOPLE_DIFFER
        if column.key in ("id", "task"):
            return plain_tip(self.text(row, column.key))
        words = self.words(row, column)
        return f"{column.name}: {words}" if words else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return section + 1 if role == Qt.ItemDataRole.DisplayRole else None
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.columns[section].name
        return super().headerData(section, orientation, role)
