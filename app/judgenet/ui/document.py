"""What is edited: the project with its network and pairs, with undo, autosave and crash recovery."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from judgenet.core.network import NetworkSpec
from judgenet.core.pairs import Pair
from judgenet.core.project import PairsSource, Project
from judgenet.formats import Dataset
from judgenet.store.db import Store


class Document(QObject):
    """The open project. Values are frozen and replaced; every change is an undo command.

    Attributes:
        project: the project; there is always one.
        path: its file, ``None`` before it was first saved.
        spec: the network, ``project.network``.
        dataset: the pairs as read, ``None`` where none are loaded.
        pairs: the selected pairs, in the order of the source.
        undo_stack: all edits.
        store: the project's store, ``None`` before a run where there is none yet; read-only where ``read_only``.
        read_only: why the project cannot be changed, in words; empty where it can.

    Signals:
        network_changed, pairs_changed: that part has another value.
        project_changed: anything of the project has another value (after the two above).
        saved_changed: :attr:`saved` or :attr:`save_state` changed.
        read_only_changed: :attr:`read_only` changed.
        loading_changed: pairs begin or end to be loaded.
        opened: another project was opened; sent before the other signals.
    """

    network_changed = Signal()
    pairs_changed = Signal()
    project_changed = Signal()
    saved_changed = Signal()
    read_only_changed = Signal()
    loading_changed = Signal()
    opened = Signal()

    project: Project
    path: Path | None
    dataset: Dataset | None
    pairs: tuple[Pair, ...]
    undo_stack: QUndoStack
    store: Store | None
    read_only: str

    @property
    def spec(self) -> NetworkSpec:
        return self.project.network

    @property
    def folder(self) -> Path:
        """The folder from which the project's relative paths start."""
        raise NotImplementedError

    @property
    def loading(self) -> bool:
        """Pairs are being loaded."""
        raise NotImplementedError

    @property
    def changed_since_run(self) -> bool:
        """The newest run had another network, other prompts or other pairs; ``False`` before the first run."""
        raise NotImplementedError

    def edit_network(self, text: str, spec: NetworkSpec, *, merge: str = "") -> None:
        """Pushes an edit of the network. ``text`` names it in the menu ("Add a layer").

        Edits that follow each other with the same ``merge`` become one step of undo (a spin box that is turned).
        """
        raise NotImplementedError

    def edit_project(self, text: str, project: Project, *, merge: str = "") -> None:
        """Pushes an edit of anything of the project."""
        raise NotImplementedError

    def edit_pairs(self, text: str, source: PairsSource | None, dataset: Dataset | None) -> None:
        """Pushes another source of pairs together with what was read from it (file paths absolute or relative to
        :attr:`folder`). To change only the selection, keep ``dataset`` as it is."""
        raise NotImplementedError
