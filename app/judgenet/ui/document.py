"""What is edited: the project with its network and pairs, with undo, autosave and crash recovery."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from judgenet.core.aggregate import aggregation_names, deciding
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import NetworkSpec
from judgenet.core.pairs import Pair
from judgenet.core.presets import PRESETS, renamed
from judgenet.core.project import RULE, PairsSource, Project, ProjectError, Selection, rebased, relative_path, select
from judgenet.engine.endpoints import EndpointError, NotApproved
from judgenet.engine.setup import read_source
from judgenet.formats.errors import DataError
from judgenet.store.approvals import approve, carry, file_needs
from judgenet.store.db import Store, StoreError, StoreInUse
from judgenet.store.files import load_project, save_project, store_path
from judgenet.store.labels import has_labels
from judgenet.store.pictures import picture_folders
from judgenet.store.project_file import ProjectFile
from judgenet.store.recovery import (
    Session,
    discard_draft,
    drop_copy,
    is_draft,
    kept_copy,
    move_store,
    new_draft,
    set_store_aside,
)
from judgenet.store.settings import SettingsError, builtin_profiles, profiles
from judgenet.ui import texts
from judgenet.ui.document_approvals import Approvals
from judgenet.ui.document_saver import DocumentSaver, SaveState
from judgenet.ui.errors import ErrorPort, Mend
from judgenet.ui.tasks import JobCancelled, Tasks

if TYPE_CHECKING:
    from judgenet.formats import Dataset

UNDO_STEPS: Final = 1000

SELECTIONS_KEPT: Final = 8
"""Selections whose pairs are remembered, so that undo and redo are at once."""

"""The member of a project's metadata that names the aggregation chosen."""


@dataclass(frozen=True, slots=True)
class _Value:
    """What an edit replaces. The project's paths start at ``folder``."""

    project: Project
    dataset: Dataset | None
    folder: Path


class _Edit(QUndoCommand):
    """An edit: the value before and after it. Edits with the same ``merge`` become one."""

    _ids: Final[dict[str, int]] = {}

    def __init__(self, document: Document, text: str, before: _Value, after: _Value, merge: str) -> None:
        super().__init__(text)
        self._document = document
        self._before = before
        self._after = after
        self._merge = self._ids.setdefault(merge, len(self._ids) + 1) if merge else -1

    def id(self) -> int:
        return self._merge

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Edit) or self._merge == -1:
            return False
        self._after = other._after
        self.setText(other.text())
        self.setObsolete(self._after == self._before)
        return True

    def redo(self) -> None:
        self._document._replace(self._after)

    def undo(self) -> None:
        self._document._replace(self._before)


class KeptSelections:
    """Which pairs of a data set the last selections are: finding them out of many takes time, best in a thread."""

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


class Document(QObject):
    """The open project. Values are frozen and replaced; every change is an undo command.

    Changes are saved by themselves; a project without a name is saved as a draft in the user's state folder.

    Attributes:
        project: the project; there is always one.
        path: its file, ``None`` before it has a name.
        dataset: the pairs as read, ``None`` where none are loaded.
        pairs: the selected pairs, in the order of the source.
        selections: which pairs the last selections are.
        undo_stack: all edits.
        store: the store that is read, ``None`` where there is none: the project's own, or the one that is looked into
            in its place (:meth:`look_into`); read-only where :attr:`read_only`.
        read_only: why the project cannot be changed, in words; empty where it can.
        approvals: what the user approves of the project.
        generation: counts the projects that were opened, and the files that they got.

    Signals:
        opened: another project was opened; sent before the other signals.
        network_changed, pairs_changed: that part has another value.
        project_changed: anything of the project has another value (after the two above).
        saved_changed: :attr:`save_state` or :attr:`path` changed.
        read_only_changed: :attr:`read_only` changed.
        loading_changed: pairs begin or end to be loaded.
        profiles_changed: endpoints came, went or changed.
        difference_changed: :attr:`changed_since_run` changed.
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
        self.store: Store | None = None
        self._set_aside: tuple[Store | None, str] | None = None
        self.read_only = ""
        self._file: ProjectFile | None = None
        self._loading = False
        self._load_task: asyncio.Task[None] | None = None
        self.generation = 0
        self._changed_since_run = ""
        self.selections = KeptSelections()
        self._profiles: dict[str, EndpointProfile] = {}
        self.approvals = Approvals(self, tasks, errors)
        self._saver = DocumentSaver(self, tasks, errors)
        self._saver.changed.connect(self.saved_changed)

    # What is there

    @property
    def is_open(self) -> bool:
        """A project was opened or made; before that the welcome page stands alone."""
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
    def own_store(self) -> Store | None:
        """The project's own store, whichever is read."""
        return self.store if self._set_aside is None else self._set_aside[0]

    @property
    def looks_elsewhere(self) -> bool:
        """Another store is read in place of the project's own."""
        return self._set_aside is not None

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
        """Chooses the aggregation that gives the verdict. All others are reckoned too: it costs no call."""
        metadata = {**self.project.metadata, RULE: rule}
        self.edit_project(texts.CHOOSE_THE_RULE_OF_THE_VOTE, replace(self.project, metadata=metadata))

    @property
    def profiles(self) -> Mapping[str, EndpointProfile]:
        """The endpoints that the project can use, by name."""
        return self._profiles

    @property
    def loading(self) -> bool:
        """Pairs are being loaded."""
        return self._loading

    @property
    def changed_since_run(self) -> str:
        """What is different from the newest run, in words ("Network changed since run 12"); empty where nothing is."""
        return self._changed_since_run

    def note_changed_since_run(self, text: str) -> None:
        """Takes in what was found out about it (:mod:`judgenet.ui.figures`)."""
        if text != self._changed_since_run:
            self._changed_since_run = text
            self.difference_changed.emit()

    # Opening and closing

    def new(self, project: Project, dataset: Dataset | None = None) -> None:
        """Begins a project that has no file yet. Absolute paths in it are turned to its draft's folder."""
        draft = new_draft()
        self._take_over(ProjectFile(draft), rebased(project, draft.parent, draft.parent), None, dataset)
        self._saver.save_now()
        self._load_pairs()

    def open(self, path: Path) -> None:
        """Opens a project file, or a draft.

        :raises ProjectError: it cannot be read; the open project stays.
        """
        file = ProjectFile(path.absolute())
        project = file.load()
        self._take_over(file, project, None if is_draft(path) else path.absolute(), None)
        copy = kept_copy(path)
        if copy is not None and not self.read_only:
            self._offer_copy(path, copy)
        self._load_pairs()

    def _take_over(self, file: ProjectFile, project: Project, path: Path | None, dataset: Dataset | None) -> None:
        self.close()
        self._file = file
        self.path = path
        self.project = project
        self.dataset = dataset
        self.read_only = project.notice
        self.generation += 1
        self._saver.set_file(file)
        self.store, self.read_only = _opened_store(self._file.path, self.read_only, self._errors)
        self._session.set_file(file.path)
        self._read_profiles()
        self._select()
        self.opened.emit()
        self._tell_all()
        if self.read_only:
            self._errors.tell(self.read_only, self.title, level="warning")

    def _offer_copy(self, path: Path, copy: Path) -> None:
        kept = _unsaved(path, copy, self.project)
        if kept is not None:
            self._errors.tell(
                texts.CHANGES_NOT_SAVED,
                path.name,
                Mend(texts.RESTORE_THEM, lambda: self.edit_project(texts.RESTORE_UNSAVED_CHANGES, kept)),
                level="warning",
            )

    def look_into(self, store: Store | None, read_only: str = "") -> None:
        """Reads runs and labels from another store in place of the project's own, such as that of its shards;
        ``None`` goes back. No run may go on. The store is closed with the project, or when another one is looked into.

        Args:
            read_only: why nothing can be changed meanwhile; empty where labels may be given.
        """
        self._look_away()
        if store is not None:
            self._set_aside = (self.store, self.read_only)
            self.store, self.read_only = store, read_only or self.read_only
        self.read_only_changed.emit()
        self.opened.emit()

    def _look_away(self) -> None:
        """Closes what was looked into."""
        if self._set_aside is not None:
            if self.store is not None:
                self.store.close()
            (self.store, self.read_only), self._set_aside = self._set_aside, None

    def close(self) -> None:
        """Saves and closes the project. A draft that nobody touched is thrown away. No run may go on."""
        if self._file is None:
            return
        self.generation += 1
        untouched = self.undo_stack.count() == 0 and is_draft(self._file.path)
        if not self.saved:
            self._saver.save_now()
        self._look_away()
        if self.store is not None:
            if untouched and not self.store.readonly:
                untouched = self.store.reader.execute("SELECT 1 FROM runs").fetchone() is None
                untouched = untouched and not has_labels(self.store)
            self.store.close()
            self.store = None
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

    def _tell_all(self) -> None:
        for signal in (
            self.saved_changed,
            self.read_only_changed,
            self.profiles_changed,
            self.network_changed,
            self.pairs_changed,
            self.project_changed,
        ):
            signal.emit()

    # What the user approves

    # Editing

    def edit_network(self, text: str, spec: NetworkSpec, *, merge: str = "") -> None:
        """Pushes an edit of the network. ``text`` names it in the menu ("Add a layer").

        Edits that follow each other with the same ``merge`` become one step of undo (a spin box that is turned).
        A name that nobody gave follows the shape.
        """
        self.edit_project(text, replace(self.project, network=renamed(spec, self.spec)), merge=merge)

    def edit_project(self, text: str, project: Project, *, merge: str = "") -> None:
        """Pushes an edit of anything of the project."""
        self._push(text, _Value(project, self.dataset, self.folder), merge)

    def edit_pairs(self, text: str, source: PairsSource | None, dataset: Dataset | None) -> None:
        """Pushes another source of pairs together with what was read from it.

        Paths may be absolute or relative to :attr:`folder`. To change only the selection, keep ``dataset`` as it is.

        :raises ProjectError: a path cannot be kept in a project.
        """
        if source is not None:
            files = tuple(
                relative_path(Path(file), self.folder) if Path(file).is_absolute() else file for file in source.files
            )
            source = replace(source, files=files)
            if dataset is not None:
                select(dataset.pairs, source.selection)
                # They were read already: by the user's choice, or because they were approved before.
                folders = picture_folders(dataset.pairs)
                self.approvals.keep(lambda: approve(file_needs([*files, *folders], self.folder, self.project.salt)))
        self._push(text, _Value(replace(self.project, pairs=source), dataset, self.folder), "")

    def _push(self, text: str, after: _Value, merge: str) -> None:
        before = _Value(self.project, self.dataset, self.folder)
        if self.read_only:
            self._errors.tell(texts.nothing_was_changed(self.read_only), self.title, level="warning")
            return
        if after.project == before.project and after.dataset is before.dataset:
            return
        self.undo_stack.push(_Edit(self, text, before, after, merge))

    def _replace(self, value: _Value) -> None:
        """Puts a value in place: the one way in which the project changes."""
        before, data = self.project, self.dataset
        project = self.project = rebased(value.project, value.folder, self.folder)
        if value.dataset is not None or _source(project) != _source(before):
            self.dataset = value.dataset
        if project.endpoints != before.endpoints:
            self._read_profiles()
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
            self._load_pairs()

    def _select(self) -> None:
        source = self.project.pairs
        self.pairs = ()
        if self.dataset is not None:
            try:
                self.pairs = self.selections.pairs_of(self.dataset, Selection() if source is None else source.selection)
            except ProjectError as error:
                self._errors.tell_exception(error, self.title)

    def _read_profiles(self) -> None:
        try:
            self._profiles = profiles(self.project.endpoints, self.folder)
        except SettingsError as error:
            self._errors.tell_exception(error)
            own = {profile.name: profile for profile in self.project.endpoints}
            self._profiles = {**builtin_profiles(), **own}

    def reload_profiles(self) -> None:
        """Reads the user's endpoints anew, after they were edited."""
        before = self._profiles
        self._read_profiles()
        if before != self._profiles:
            self.profiles_changed.emit()

    # Pairs

    def _load_pairs(self) -> None:
        if self.project.pairs is not None and self.dataset is None and self.approvals.may_read(self.project.pairs):
            self._load_task = self._tasks.start(self._load(self.project.pairs, self.generation), texts.LOAD_THE_PAIRS)

    async def loaded(self) -> None:
        """Returns when the pairs are loaded, or could not be."""
        if self._load_task is not None:
            await asyncio.wait({self._load_task})

    def reload_pairs(self) -> None:
        """Reads the source of the pairs anew."""
        self.dataset = None
        self._load_pairs()

    async def _load(self, source: PairsSource, generation: int) -> None:
        self._set_loading(True)
        folder, salt = self.folder, self.project.salt
        try:
            dataset = await self._tasks.job(
                texts.LOAD_THE_PAIRS, lambda job: read_source(source, folder, salt, lambda share: job.report(share, 1))
            )
        except JobCancelled:
            self._errors.tell(
                texts.PAIRS_WERE_NOT_LOADED, self.title, Mend(texts.LOAD_THEM, self.reload_pairs), level="warning"
            )
            return
        except NotApproved as error:
            self.approvals.tell_outside(error.needs)
            return
        except (DataError, EndpointError, OSError) as error:
            self._errors.tell_exception(error, mend=Mend(texts.TRY_AGAIN, self.reload_pairs))
            return
        finally:
            if generation == self.generation:
                self._set_loading(False)
        if generation == self.generation and self.dataset is None and _source(self.project) == _unselected(source):
            self.dataset = dataset
            self._select()
            self.pairs_changed.emit()
            self.project_changed.emit()

    def _set_loading(self, loading: bool) -> None:
        if loading != self._loading:
            self._loading = loading
            self.loading_changed.emit()

    # Saving

    @property
    def save_state(self) -> SaveState:
        """How the last change stands on disk."""
        return self._saver.state

    @property
    def saved(self) -> bool:
        """Everything is on disk."""
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
        self._look_away()
        if self.store is not None:
            source, self.store = self.store, None
            await self._tasks.off_thread(_carry, source, before, path, draft)
        if draft:
            discard_draft(before)
        self._file = ProjectFile(path)
        self.path = path
        self.read_only = ""
        self.project = self._file.load()
        self.generation += 1
        self.store, self.read_only = _opened_store(self._file.path, self.read_only, self._errors)
        self._session.set_file(path)
        self._saver.set_file(self._file)
        if elsewhere:
            self.opened.emit()
        self._tell_all()


def _opened_store(path: Path, read_only: str, errors: ErrorPort) -> tuple[Store | None, str]:
    """The store of a project file, and why it can only be read; ``None`` where there is none to read."""
    place = store_path(path)
    try:
        if not read_only:
            return Store.open(place), ""
    except StoreInUse:
        read_only = texts.OPEN_ELSEWHERE
    except (StoreError, OSError) as error:
        read_only = texts.FOLDER_CANNOT_BE_WRITTEN
        errors.tell_exception(error, str(place))
    try:
        return Store.open(place, readonly=True) if place.exists() else None, read_only
    except StoreError as error:
        errors.tell_exception(error, str(place))
        return None, read_only


def _unsaved(path: Path, copy: Path, project: Project) -> Project | None:
    """What a kept copy holds that a project file lacks; the copy is dropped where that is nothing."""
    try:
        kept = load_project(copy)
    except ProjectError:
        kept = project
    if kept == project:
        drop_copy(path)
        return None
    return kept


def _source(project: Project) -> PairsSource | None:
    """Where a project's pairs come from, whichever are selected."""
    return None if project.pairs is None else _unselected(project.pairs)


def _unselected(source: PairsSource) -> PairsSource:
    return replace(source, selection=Selection())


def _carry(source: Store, before: Path, after: Path, draft: bool) -> None:
    """Takes what was recorded along to another project file."""
    if draft:
        source.close()
        move_store(before, after)
        return
    set_store_aside(after)
    source.copy_to(store_path(after))
    source.close()
