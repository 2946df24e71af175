"""Which store a document reads: the project's own, or one that is looked into in its place."""

from __future__ import annotations

from pathlib import Path

from judgenet.store.db import Store, StoreError, StoreInUse
from judgenet.store.files import store_path
from judgenet.store.labels import has_labels
from judgenet.store.recovery import move_store, set_store_aside
from judgenet.ui import texts
from judgenet.ui.errors import ErrorPort


class DocumentStores:
    """The store that is read, and why nothing can be changed.

    Attributes:
        store: the store that is read, ``None`` where there is none.
        read_only: why the project cannot be changed, in words; empty where it can.
    """

    def __init__(self, errors: ErrorPort) -> None:
        self._errors = errors
        self.store: Store | None = None
        self.read_only = ""
        self._set_aside: tuple[Store | None, str] | None = None

    @property
    def own(self) -> Store | None:
        """The project's own store, whichever is read."""
        return self.store if self._set_aside is None else self._set_aside[0]

    @property
    def looks_elsewhere(self) -> bool:
        """Whether another store is read in place of the project's own."""
        return self._set_aside is not None

    def open(self, project_file: Path, read_only: str = "") -> None:
        """Opens the store of a project file, read-only where another program has it open, where its folder cannot be
        written, or where ``read_only`` says why."""
        self.store, self.read_only = _opened_store(store_path(project_file), read_only, self._errors)

    def look_into(self, store: Store | None, read_only: str = "") -> None:
        """Reads another store in place of the project's own from now on; ``None`` goes back. The one that was looked
        into before is closed."""
        if self._set_aside is not None:
            if self.store is not None:
                self.store.close()
            (self.store, self.read_only), self._set_aside = self._set_aside, None
        if store is not None:
            self._set_aside = (self.store, self.read_only)
            self.store, self.read_only = store, read_only or self.read_only

    def has_records(self) -> bool:
        """Whether there is a run or a label in the store, as far as can be told: one that is only read counts as
        empty, as does none."""
        store = self.store
        if store is None or store.readonly:
            return False
        return store.reader.execute("SELECT 1 FROM runs").fetchone() is not None or has_labels(store)

    def close(self) -> None:
        """Closes the store that is read, and the project's own."""
        self.look_into(None)
        if self.store is not None:
            self.store.close()
            self.store = None

    def give_away(self) -> Store | None:
        """Leaves the project's own store to the caller, who moves and closes it."""
        self.look_into(None)
        store, self.store = self.store, None
        return store


def carry_store(source: Store, before: Path, after: Path, *, draft: bool) -> None:
    """Takes what was recorded along to another project file, and closes the store: that of a draft is moved, that of
    a named project is copied."""
    if draft:
        source.close()
        move_store(before, after)
        return
    set_store_aside(after)
    source.copy_to(store_path(after))
    source.close()


def _opened_store(path: Path, read_only: str, errors: ErrorPort) -> tuple[Store | None, str]:
    """The store at a path, and why it can only be read; ``None`` where there is none to read."""
    try:
        if not read_only:
            return Store.open(path), ""
    except StoreInUse:
        read_only = texts.OPEN_ELSEWHERE
    except (StoreError, OSError) as error:
        read_only = texts.FOLDER_CANNOT_BE_WRITTEN
        errors.post_exception(error, str(path))
    try:
        return Store.open(path, readonly=True) if path.exists() else None, read_only
    except StoreError as error:
        errors.post_exception(error, str(path))
        return None, read_only
