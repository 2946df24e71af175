"""The edits of a document as undo commands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QUndoCommand

from judgenet.core.project import Project

if TYPE_CHECKING:
    from judgenet.formats import Dataset
    from judgenet.ui.document import Document


@dataclass(frozen=True, slots=True)
class DocumentValue:
    """What an edit replaces. The project's relative paths start at ``folder``."""

    project: Project
    dataset: Dataset | None
    folder: Path


class EditCommand(QUndoCommand):
    """An edit: the value before and after it. Edits with the same ``merge`` become one step of undo."""

    _ids: Final[dict[str, int]] = {}

    def __init__(
        self, document: Document, text: str, before: DocumentValue, after: DocumentValue, merge: str = ""
    ) -> None:
        super().__init__(text)
        self._document = document
        self._before = before
        self._after = after
        self._merge = self._ids.setdefault(merge, len(self._ids) + 1) if merge else -1

    def id(self) -> int:
        return self._merge

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, EditCommand) or self._merge == -1:
            return False
        self._after = other._after
        self.setText(other.text())
        self.setObsolete(self._after == self._before)
        return True

    def redo(self) -> None:
        self._document.replace_value(self._after)

    def undo(self) -> None:
        self._document.replace_value(self._before)
