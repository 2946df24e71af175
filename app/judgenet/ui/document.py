"""The open project with its network and pairs, with undo, autosave and crash recovery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from judgenet.core.aggregate import aggregation_names, deciding
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import NetworkSpec
from judgenet.core.pairs import Pair
from judgenet.core.presets import PRESETS, renamed
from judgenet.core.project import RULE, PairsSource, Project, ProjectError, Selection, rebased, select
from judgenet.store.approvals import carry
from judgenet.store.db import Store
from judgenet.store.files import save_project, store_path
from judgenet.store.pictures import picture_folders
from judgenet.store.project_file import ProjectFile
from judgenet.store.recovery import Session, discard_draft, is_draft, new_draft
from judgenet.ui import texts
from judgenet.ui.document_approvals import Approvals
from judgenet.ui.document_edits import DocumentValue, EditCommand
from judgenet.ui.document_pairs import KeptSelections, PairsLoader, unselected, with_relative_files
from judgenet.ui.document_profiles import project_profiles
from judgenet.ui.document_saver import DocumentSaver, SaveState
from judgenet.ui.document_stores import DocumentStores, carry_store
from judgenet.ui.errors import ErrorPort
from judgenet.ui.tasks import Tasks

if TYPE_CHECKING:
    from judgenet.formats import Dataset

UNDO_STEPS: Final = 1000


class Document(QObject):
    """The open project. Values are frozen and replaced; every change is an undo command.

    Changes are saved by themselves; a project without a name is saved as a draft in the user's state folder.

    Attributes:
        project: the project; there is always one.
        path: its file, ``None`` before it has a name.
        dataset: the pairs as read, ``None`` where none are loaded.
        pairs: the selected pairs, in the order of the source.
        selections: the pairs of the last selections.
        undo_stack: all edits.
        stores: the store that is read, and why nothing can be changed.
        approvals: what the user approves of the project.
        generation: increases when a project is opened, closed or saved under another name.

    Signals:
        opened: another project was opened; sent before the other signals.
        network_changed, pairs_changed: that part has another value.
        project_changed: anything of the project has another value (after the two above).
        saved_changed: :attr:`save_state` or :attr:`path` changed.
        read_only_changed: :attr:`read_only` changed.
        loading_changed: pairs begin or end to be loaded.
        profiles_changed: endpoints came, went or changed.
        difference_changed: :attr:`changed_since_run` has another value.
    """

    opened = Signal()
    network_changed = Signal()
    pairs_changed = Signal()
    project_changed = Signal()
    saved_changed = Signal()
    read_only_changed = Signal()
    loading_changed = Signal()
    profiles_changed = Signal()
    difference_changed = Signal()

    def __init__(self, tasks: Tasks, errors: ErrorPort, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._errors = errors
        self._session = Session()
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(UNDO_STEPS)
        self.project = Project.new(texts.UNTITLED, PRESETS["widedeep"].spec)
        self.path: Path | None = None
        self.dataset: Dataset | None = None
        self.pairs: tuple[Pair, ...] = ()
        self.stores = DocumentStores(errors)
        self._file: ProjectFile | None = None
        self.generation = 0
        self._changed_since_run = ""
        self.selections = KeptSelections()
        self._profiles: dict[str, EndpointProfile] = {}
        self.approvals = Approvals(self, tasks, errors)
        self._saver = DocumentSaver(self, tasks, errors)
        self._saver.changed.connect(self.saved_changed)
        self._loader = PairsLoader(self, tasks, errors)
        self._loader.changed.connect(self.loading_changed)

    # What is there

    @property
    def is_open(self) -> bool:
        """Whether a project is open; without one, only the pages Welcome and Settings can be used."""
        return self._file is not None

    @property
    def file(self) -> Path | None:
        """Where the project is kept: :attr:`path`, or the file of its draft."""
        return None if self._file is None else self._file.path

    @property
    def folder(self) -> Path:
        """The folder from which the project's relative paths start."""
        return Path() if self._file is None else self._file.path.absolute().parent

    @property
    def title(self) -> str:
        return self.project.name

    @property
    def spec(self) -> NetworkSpec:
        return self.project.network

    @property
    def store(self) -> Store | None:
        """The store that is read, ``None`` where there is none: the project's own, or the one that is looked into in
        its place (:meth:`look_into`); read-only where :attr:`read_only`."""
        return self.stores.store

    @property
    def own_store(self) -> Store | None:
        """The project's own store, whichever is read."""
        return self.stores.own

    @property
    def looks_elsewhere(self) -> bool:
        """Whether another store is read in place of the project's own."""
        return self.stores.looks_elsewhere

    @property
    def read_only(self) -> str:
        """Why the project cannot be changed, in words; empty where it can."""
        return self.stores.read_only

    @property
    def rule(self) -> str:
        """The aggregation that gives the verdict: the one chosen, else the learned one where it decides, else the
        chair's, else c2 over all layers."""
        names = aggregation_names(self.spec)
        chosen = self.project.metadata.get(RULE)
        if chosen in names:
            return str(chosen)
        return deciding(self.spec)

    def set_rule(self, rule: str) -> None:
        """Chooses the aggregation that gives the verdict. All others are computed as well: it costs no call."""
        metadata = {**self.project.metadata, RULE: rule}
        self.edit_project(texts.CHOOSE_THE_RULE_OF_THE_VOTE, replace(self.project, metadata=metadata))

    @property
    def profiles(self) -> Mapping[str, EndpointProfile]:
        """The endpoints that the project can use, by name."""
        return self._profiles

    @property
    def loading(self) -> bool:
        """Whether pairs are being loaded."""
        return self._loader.loading

    @property
    def changed_since_run(self) -> str:
        """What differs from the newest run, in words ("Network changed since run 12"); empty where nothing does."""
        return self._changed_since_run

    def note_changed_since_run(self, text: str) -> None:
        """Sets :attr:`changed_since_run` (by :mod:`judgenet.ui.figures`)."""
        if text != self._changed_since_run:
            self._changed_since_run = text
            self.difference_changed.emit()

    # Opening and closing

    def new(self, project: Project, dataset: Dataset | None = None) -> None:
        """Begins a project that has no file yet. Absolute paths in it are turned to its draft's folder."""
        draft = new_draft()
        self._take_over(ProjectFile(draft), rebased(project, draft.parent, draft.parent), None, dataset)
        self._saver.save_now()
        self._loader.start()

    def open(self, path: Path) -> None:
        """Opens a project file, or a draft.

        :raises ProjectError: it cannot be read; the open project stays.
        """
        file = ProjectFile(path.absolute())
        project = file.load()
        self._take_over(file, project, None if is_draft(path) else path.absolute(), None)
        if not self.read_only:
            self._saver.offer_copy(path)
        self._loader.start()

    def _take_over(self, file: ProjectFile, project: Project, path: Path | None, dataset: Dataset | None) -> None:
        self.close()
        self._file = file
        self.path = path
        self.project = project
        self.dataset = dataset
        self.generation += 1
        self._saver.set_file(file)
        self.stores.open(file.path, project.notice)
        self._session.set_file(file.path)
        self._profiles = project_profiles(self.project, self.folder, self._errors)
        self._select()
        self.opened.emit()
        self._emit_all()
        if self.read_only:
            self._errors.post(self.read_only, self.title, level="warning")

    def look_into(self, store: Store | None, read_only: str = "") -> None:
        """Reads runs and labels from another store in place of the project's own, such as that of its shards;
        ``None`` goes back. No run may go on. The store is closed with the project, or when another one is looked into.

        Args:
            read_only: why nothing can be changed meanwhile; empty where labels may be given.
        """
        self.stores.look_into(store, read_only)
        self.read_only_changed.emit()
        self.opened.emit()

    def close(self) -> None:
        """Saves and closes the project. A draft that nobody touched is thrown away. No run may go on."""
        if self._file is None:
            return
        self.generation += 1
        untouched = self.undo_stack.count() == 0 and is_draft(self._file.path)
        if not self.saved:
            self._saver.save_now()
        self.stores.look_into(None)
        untouched = untouched and not self.stores.has_records()
        self.stores.close()
        if untouched:
            discard_draft(self._file.path)
        self._session.set_file(None)
        self._saver.set_file(None)
        self.selections.clear()
        self._file = None
        self.undo_stack.clear()

    def shut_down(self) -> None:
        """Closes the project and ends the session."""
        self.close()
        self._session.close()

    def _emit_all(self) -> None:
        for signal in (
            self.saved_changed,
            self.read_only_changed,
            self.profiles_changed,
            self.network_changed,
            self.pairs_changed,
            self.project_changed,
        ):
            signal.emit()

    # Editing

    def edit_network(self, text: str, spec: NetworkSpec, *, merge: str = "") -> None:
        """Pushes an edit of the network. ``text`` names it in the menu ("Add a layer").

        Edits that follow each other with the same ``merge`` become one step of undo (a spin box that is turned).
        A name that nobody gave follows the shape.
        """
        self.edit_project(text, replace(self.project, network=renamed(spec, self.spec)), merge=merge)

    def edit_project(self, text: str, project: Project, *, merge: str = "") -> None:
        """Pushes an edit of anything of the project."""
        self._push(text, DocumentValue(project, self.dataset, self.folder), merge)

    def edit_pairs(self, text: str, source: PairsSource | None, dataset: Dataset | None) -> None:
        """Pushes another source of pairs together with what was read from it.

        Paths may be absolute or relative to :attr:`folder`. To change only the selection, keep ``dataset`` as it is.

        :raises ProjectError: a path cannot be kept in a project.
        """
        if source is not None:
            source = with_relative_files(source, self.folder)
            if dataset is not None:
                select(dataset.pairs, source.selection)
                self.approvals.keep_read(source, dataset)
        self._push(text, DocumentValue(replace(self.project, pairs=source), dataset, self.folder), "")

    def _push(self, text: str, after: DocumentValue, merge: str) -> None:
        before = DocumentValue(self.project, self.dataset, self.folder)
        if self.read_only:
            self._errors.post(texts.nothing_was_changed(self.read_only), self.title, level="warning")
            return
        if after.project == before.project and after.dataset is before.dataset:
            return
        self.undo_stack.push(EditCommand(self, text, before, after, merge))

    def replace_value(self, value: DocumentValue) -> None:
        """Puts a value in place: the one way in which the project changes. For undo commands."""
        before, data = self.project, self.dataset
        project = self.project = rebased(value.project, value.folder, self.folder)
        if value.dataset is not None or unselected(project.pairs) != unselected(before.pairs):
            self.dataset = value.dataset
        if project.endpoints != before.endpoints:
            self._profiles = project_profiles(self.project, self.folder, self._errors)
        pairs = project.pairs != before.pairs or self.dataset is not data
        if pairs:
            self._select()
        self._saver.touch()
        if project.endpoints != before.endpoints:
            self.profiles_changed.emit()
        if project.network != before.network:
            self.network_changed.emit()
        if pairs:
            self.pairs_changed.emit()
        self.project_changed.emit()
        if pairs and self.dataset is None and project.pairs is not None:
            self._loader.start()

    def _select(self) -> None:
        source = self.project.pairs
        self.pairs = ()
        if self.dataset is not None:
            try:
                self.pairs = self.selections.pairs_of(self.dataset, Selection() if source is None else source.selection)
            except ProjectError as error:
                self._errors.post_exception(error, self.title)

    def reload_profiles(self) -> None:
        """Reads the user's endpoints again after an edit."""
        before = self._profiles
        self._profiles = project_profiles(self.project, self.folder, self._errors)
        if before != self._profiles:
            self.profiles_changed.emit()

    # Pairs

    async def loaded(self) -> None:
        """Returns when the pairs are loaded, or could not be."""
        await self._loader.finished()

    def reload_pairs(self) -> None:
        """Reads the pairs from their source again."""
        self.dataset = None
        self._loader.start()

    def take_dataset(self, dataset: Dataset) -> None:
        """Takes the pairs that were read from the project's source."""
        self.dataset = dataset
        self._select()
        self.pairs_changed.emit()
        self.project_changed.emit()

    # Saving

    @property
    def save_state(self) -> SaveState:
        """Whether the last change is saved."""
        return self._saver.state

    @property
    def saved(self) -> bool:
        """Whether all changes are on disk."""
        return self.save_state == "saved"

    def save(self) -> None:
        """Saves now."""
        self._saver.save_now()

    async def save_as(self, path: Path) -> None:
        """Gives the project a name, or another one, and goes on with that file (absolute). No run may go on.

        What was recorded comes along: a draft's store is moved, that of a named project is copied.

        :raises ProjectError: the file cannot be written; everything stays as it was.
        :raises StoreInUse: another program has the project of that name open.
        """
        assert self._file is not None
        before = self._file.path
        if path == before:
            self.save()
            return
        draft = is_draft(before)
        if store_path(path).exists():
            with Store.open(store_path(path)):
                """Nobody else has it open."""
        project = (
            replace(self.project, name=path.stem) if draft and self.project.name == texts.UNTITLED else self.project
        )
        pictures = () if self.dataset is None else picture_folders(self.dataset.pairs)
        self.approvals.keep(lambda: carry(project, before.parent, path.parent, pictures))
        save_project(project, path, loaded_from=before)
        elsewhere = self.looks_elsewhere
        recorded = self.stores.give_away()
        if recorded is not None:
            await self._tasks.off_thread(partial(carry_store, recorded, before, path, draft=draft))
        if draft:
            discard_draft(before)
        self._file = ProjectFile(path)
        self.path = path
        self.project = self._file.load()
        self.generation += 1
        self.stores.open(path)
        self._session.set_file(path)
        self._saver.set_file(self._file)
        if elsewhere:
            self.opened.emit()
        self._emit_all()
