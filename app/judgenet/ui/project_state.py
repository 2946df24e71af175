"""What all states that follow the open project are made of."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject

from judgenet.ui.document import Document
from judgenet.ui.errors import ErrorPort
from judgenet.ui.run_state import RunState
from judgenet.ui.tasks import Tasks


@dataclass(frozen=True, slots=True)
class ProjectParts:
    """The open project, its run in focus, what runs work in threads, and what takes errors."""

    document: Document
    run_state: RunState
    tasks: Tasks
    errors: ErrorPort


class ProjectState(QObject):
    """A state of the studio that follows the open project, such as the figures of its run."""

    def __init__(self, parts: ProjectParts, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = parts.document
        self._run_state = parts.run_state
        self._tasks = parts.tasks
        self._errors = parts.errors
