"""A project file that is open: saved again and again, never over what somebody else wrote."""

from __future__ import annotations

import threading
from pathlib import Path

from judgenet.core.project import Project, ProjectError
from judgenet.store.files import load_project, save_project
from judgenet.store.recovery import drop_copy, keep_copy


class FileChanged(ProjectError):
    """The file was changed by another program since it was read or written here."""


class ProjectFile:
    """One project file. Methods may be called from any thread, one at a time waits for the other.

    The first save of a session leaves the file before it as ``NAME.bak``, so that this is the project as it was opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known = _content(path)
        self._guard = threading.Lock()
        self._backed_up = False

    def load(self) -> Project:
        """Reads the file.

        :raises ProjectError: where it cannot be read or is no project.
        """
        with self._guard:
            known = _content(self.path)
            project = load_project(self.path)
            self._known = known
            return project

    def save(self, project: Project, *, overwrite: bool = False) -> None:
        """Writes the file. Where that fails, the text is kept in the state folder (see ``recovery``).

        :raises FileChanged: another program changed it meanwhile, unless ``overwrite``.
        :raises ProjectError: it cannot be written.
        """
        with self._guard:
            if not overwrite and _content(self.path) != self._known:
                self._keep(project)
                raise FileChanged("", f"{self.path} was changed by another program since it was opened here.")
            try:
                save_project(project, self.path, backup=not self._backed_up)
            except ProjectError:
                self._keep(project)
                raise
            self._known = _content(self.path)
            self._backed_up = True
            drop_copy(self.path)

    def _keep(self, project: Project) -> None:
        try:
            keep_copy(self.path, project.dumps())
        except (OSError, ProjectError):
            # The error of saving says more than this one.
            return


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
