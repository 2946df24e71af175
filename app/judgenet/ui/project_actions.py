"""Actions of projects: new, open, save, rename and close, recent projects, undo and redo."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from judgenet.core.network import NetworkSpec
from judgenet.core.presets import PRESETS, size_name
from judgenet.core.project import PROJECT_SUFFIX, Project, ProjectError
from judgenet.core.wording import clean, near_day, plural
from judgenet.store.db import StoreError
from judgenet.ui import clock, texts
from judgenet.ui.actions import Action, known_action
from judgenet.ui.conditions import ActionConditions
from judgenet.ui.context import Context
from judgenet.ui.dialogs import ask_files, ask_save_file, ask_text
from judgenet.ui.errors import MessageButton
from judgenet.ui.settings import RECENT, Recent
from judgenet.ui.shell import RAIL_PAGES

PROJECT_FILES: Final = (f"JudgeNet projects (*{PROJECT_SUFFIX})", "All files (*)")


def size_words(spec: NetworkSpec) -> str:
    """A network's size: "4 × 3" (width × depth), "4, 3" where widths differ, "n × 2" where roles decide."""
    return size_name(spec).replace("×", " × ").replace("+", " + ")


class ProjectActions(QObject):
    """Adds the actions of projects to the table and does them."""

    def __init__(self, context: Context, when: ActionConditions, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._when = when
        self._window = window
        document = context.document
        stack = document.undo_stack
        context.actions.add(
            known_action("project.new", self.new, when.no_run),
            known_action("project.open", self.open, when.no_run),
            known_action("project.back", self.back, self._can_go_back),
            known_action("project.save", self.save, when.project),
            known_action("project.save_as", self.save_as, when.still_project),
            known_action("project.rename", self.rename, when.project),
            known_action("project.close", self.close, when.still_project),
            known_action("edit.undo", stack.undo, self._can_undo),
            known_action("edit.redo", stack.redo, self._can_redo),
        )
        stack.undoTextChanged.connect(self._undo_text)
        stack.redoTextChanged.connect(self._redo_text)
        document.opened.connect(self.remember)
        document.pairs_changed.connect(self.remember)
        context.settings.recent_changed.connect(self._list_recent)
        document.opened.connect(self._list_recent)
        self._list_recent()

    def _list_recent(self) -> None:
        """Keeps an action for each recent project but the open one."""
        actions = self._context.actions
        now = self._context.document.file
        recent = [project for project in self._context.settings.recent if project.file != now]
        listed = [
            Action(
                f"project.recent.{place}",
                f"{clean(project.name)} ({near_day(project.at, clock.today())}, {clean(project.line)})",
                partial(self.open_file, project.file),
                "",
                "file",
                self._when.no_run,
                menu="Recent projects",
                words=texts.open_recent(project.file.name),
            )
            for place, project in enumerate(recent, 1)
        ]
        actions.remove(*(f"project.recent.{place}" for place in range(len(listed) + 1, RECENT + 1)))
        actions.add(*listed)

    def _can_undo(self) -> bool | str:
        document = self._context.document
        if document.read_only:
            return document.read_only
        return document.undo_stack.canUndo() or texts.NOTHING_TO_UNDO

    def _can_redo(self) -> bool | str:
        document = self._context.document
        if document.read_only:
            return document.read_only
        return document.undo_stack.canRedo() or texts.NOTHING_TO_REDO

    def _undo_text(self, text: str) -> None:
        self._context.actions.set_text("edit.undo", texts.undo(text[:1].lower() + text[1:]) if text else texts.UNDO)

    def _redo_text(self, text: str) -> None:
        self._context.actions.set_text("edit.redo", texts.redo(text[:1].lower() + text[1:]) if text else texts.REDO)

    def _can_go_back(self) -> bool | str:
        if not self._context.document.is_open:
            return texts.OPEN_A_PROJECT_FIRST
        return self._context.navigator.page == "welcome" or texts.PROJECT_IS_IN_VIEW

    def new(self) -> None:
        """Shows the ready networks to begin from."""
        self._context.navigator.go("welcome")

    def new_from_preset(self, key: str) -> None:
        """Begins a project with a ready network. The one that was open is saved, and one click leads back to it."""
        document = self._context.document
        before, title = document.file, document.title
        self.remember()
        spec = self.own_model(PRESETS[key].spec)
        document.new(Project.new(texts.UNTITLED, spec))
        self._context.navigator.go("design")
        if before is not None and before.exists():
            self._context.errors.post(
                texts.THIS_PROJECT_IS_SAVED,
                title,
                MessageButton(texts.BACK_TO_IT, partial(self.open_file, before)),
                level="note",
            )

    def own_model(self, spec: NetworkSpec) -> NetworkSpec:
        """A preset network with the endpoint and model that the user used last."""
        endpoint, model = self._context.settings.text("endpoint"), self._context.settings.text("model")
        if endpoint not in self._context.document.profiles:
            return spec
        return replace(spec, settings=replace(spec.settings, endpoint=endpoint, model=model or None))

    def back(self) -> None:
        """Leads from the welcome page back to the project that is open."""
        kept = self._context.settings.text("page", "design")
        self._context.navigator.go(next((key for key, _, _ in RAIL_PAGES if key == kept), "design"))

    def open(self) -> None:
        """Asks for a project and opens it."""
        self._context.tasks.start(self._ask_and_open(), texts.OPEN_A_PROJECT)

    async def _ask_and_open(self) -> None:
        files = await ask_files(self._window, texts.OPEN_PROJECT, PROJECT_FILES, str(self._context.document.folder))
        if files:
            self.open_file(files[0])

    def open_file(self, path: Path) -> None:
        """Opens a project file."""
        if self._context.runner.busy:
            self._context.errors.post(texts.STOP_THE_RUN_FIRST, path.name, level="warning")
            return
        try:
            self._context.document.open(path)
        except ProjectError as error:
            self._context.errors.post_exception(error)
            return
        self._context.navigator.go("design")

    def open_dropped(self, paths: Sequence[Path]) -> None:
        """Opens a dropped project, or imports dropped files of pairs."""
        projects = [path for path in paths if path.suffix == PROJECT_SUFFIX]
        if projects:
            self.open_file(projects[0])
        elif paths:
            self.new_from_pairs(paths)

    def new_from_pairs(self, files: Sequence[Path]) -> None:
        """Imports files of pairs, into a new project where none is open."""
        if not self._context.document.is_open:
            self.new_from_preset("widedeep")
        self._context.navigator.go("data", files=tuple(files))

    def save(self) -> None:
        """Saves now, and says so. A draft is asked for a place first."""
        document = self._context.document
        if document.path is None:
            self.save_as()
            return
        document.save()
        if document.saved:
            self._context.errors.post(f"{texts.SAVED}.", str(document.path), level="note")

    def save_as(self) -> None:
        """Asks for a name and saves under it."""
        self._context.tasks.start(self._ask_and_save(), texts.SAVE_THE_PROJECT)

    async def _ask_and_save(self) -> None:
        document = self._context.document
        suggestion = document.path or Path.home() / f"{document.title}{PROJECT_SUFFIX}"
        path = await ask_save_file(self._window, texts.SAVE_AS, PROJECT_FILES, suggestion, PROJECT_SUFFIX.lstrip("."))
        if path is None:
            return
        try:
            await document.save_as(path.absolute())
        except (ProjectError, StoreError) as error:
            self._context.errors.post_exception(error, button=MessageButton(texts.CHOOSE_ANOTHER_PLACE, self.save_as))
            return
        self.remember()

    def rename(self) -> None:
        """Asks for another name of the project."""
        self._context.tasks.start(self._ask_and_rename(), texts.RENAME_THE_PROJECT)

    async def _ask_and_rename(self) -> None:
        project = self._context.document.project
        name = await ask_text(self._window, texts.RENAME, texts.NAME_OF_THE_PROJECT, project.name)
        if name is not None:
            self._context.document.edit_project(
                texts.RENAME_THE_PROJECT, replace(self._context.document.project, name=name)
            )

    def close(self) -> None:
        """Saves and closes the project."""
        self.remember()
        self._context.document.close()
        self._context.navigator.go("welcome")
        self._context.document.opened.emit()

    def remember(self) -> None:
        """Puts the open project at the head of the recent ones."""
        document = self._context.document
        if not document.is_open or document.file is None:
            return
        parts = [
            plural(len(document.pairs), "pair") if document.pairs else "",
            texts.network(size_words(document.spec)),
        ]
        newest = self._context.run_state.newest
        if newest is not None:
            parts.append(texts.run_in_a_line(newest.number))
        line = ", ".join(part for part in parts if part)
        if document.path is None:
            line = texts.draft(line)
        self._context.settings.remember(Recent(document.file, document.title, line, time.time()))
