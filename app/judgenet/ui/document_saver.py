"""Saves a project's changes to its file: automatically a little later, or at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from PySide6.QtCore import QObject, QTimer, Signal

from judgenet.core.project import Project, ProjectError
from judgenet.store.files import load_project
from judgenet.store.project_file import FileChanged, ProjectFile
from judgenet.store.recovery import drop_copy, kept_copy
from judgenet.ui import texts
from judgenet.ui.errors import ErrorPort, MessageButton
from judgenet.ui.tasks import Tasks

if TYPE_CHECKING:
    from judgenet.ui.document import Document

SaveState = Literal["saved", "saving", "unsaved", "failed"]
AUTOSAVE_MS: Final = 800
"""Delay in ms between a change and saving it, together with the changes that followed."""


class DocumentSaver(QObject):
    """Saves the project of a document.

    Attributes:
        state: whether the last change is saved.

    Signals:
        changed: :attr:`state` changed.
    """

    changed = Signal()

    def __init__(self, document: Document, tasks: Tasks, errors: ErrorPort) -> None:
        super().__init__(document)
        self._document = document
        self._tasks = tasks
        self._errors = errors
        self._file: ProjectFile | None = None
        self.state: SaveState = "saved"
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(AUTOSAVE_MS)
        self._timer.timeout.connect(self._autosave)

    def set_file(self, file: ProjectFile | None) -> None:
        """Saves to another file from now on, which is up to date; ``None`` where no project is open."""
        self._timer.stop()
        self._file = file
        self.state = "saved"

    def touch(self) -> None:
        """Marks the project as changed; it is saved soon."""
        self._set_state("unsaved")
        self._timer.start()

    def _set_state(self, state: SaveState) -> None:
        if state != self.state:
            self.state = state
            self.changed.emit()

    def _autosave(self) -> None:
        if self._file is None or self._document.read_only:
            return
        if self.state == "saving":
            self._timer.start()
            return
        self._tasks.start(self._save(self._file, self._document.project), texts.SAVE_THE_PROJECT)

    async def _save(self, file: ProjectFile, project: Project) -> None:
        self._set_state("saving")
        try:
            await self._tasks.off_thread(file.save, project)
        except ProjectError as error:
            if file is self._file:
                self._save_failed(error)
            return
        if file is self._file:
            self._set_state("saved" if self._document.project is project else "unsaved")

    def _save_failed(self, error: ProjectError) -> None:
        self._set_state("failed")
        changed = isinstance(error, FileChanged)
        button = (
            MessageButton(texts.OVERWRITE, self.save_over)
            if changed
            else MessageButton(texts.TRY_AGAIN, self._document.save)
        )
        self._errors.post_exception(error, button=button)

    def offer_copy(self, path: Path) -> None:
        """Offers to restore the changes of a copy that was kept because the project file could not be written."""
        copy = kept_copy(path)
        kept = None if copy is None else _unsaved(path, copy, self._document.project)
        if kept is None:
            return
        edit = self._document.edit_project
        restore = MessageButton(texts.RESTORE_THEM, lambda: edit(texts.RESTORE_UNSAVED_CHANGES, kept))
        self._errors.post(texts.CHANGES_NOT_SAVED, path.name, restore, level="warning")

    def save_over(self) -> None:
        """Saves over the changes that another program made to the file."""
        self.save_now(overwrite=True)

    def save_now(self, *, overwrite: bool = False) -> None:
        """Saves at once, before the call returns."""
        self._timer.stop()
        if self._file is None or self._document.read_only:
            return
        try:
            self._file.save(self._document.project, overwrite=overwrite)
        except ProjectError as error:
            self._save_failed(error)
        else:
            self._set_state("saved")


def _unsaved(path: Path, copy: Path, project: Project) -> Project | None:
    """The project of a kept copy where it differs from the saved one; else ``None``, and the copy is removed."""
    try:
        kept = load_project(copy)
    except ProjectError:
        kept = project
    if kept == project:
        drop_copy(path)
        return None
    return kept
