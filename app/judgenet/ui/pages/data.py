"""The page Data: import pairs, look through them, and choose which are judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final, Literal

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QHBoxLayout,
    QMenu,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from judgenet.assets import example
from judgenet.core.pairs import Pair
from judgenet.core.project import PROJECT_SUFFIX
from judgenet.ui.actions import known_action
from judgenet.ui.context import Context
from judgenet.ui.data import texts
from judgenet.ui.data.browse_view import BrowseView
from judgenet.ui.data.drop_zone import DropZone
from judgenet.ui.data.import_view import ImportView, file_names
from judgenet.ui.data.importer import Importer
from judgenet.ui.data.pair_actions import PairActions
from judgenet.ui.data.pair_view import PairView
from judgenet.ui.dialogs import shown
from judgenet.ui.empty import Waiting
from judgenet.ui.measures import Gap, measure
from judgenet.ui.navigation import PageKey, Visit
from judgenet.ui.pages.base import Page
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import set_kind

_SIDE: Final = 360
_SIDE_NARROW: Final = 312
_TO_TABLE: Final = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp, Qt.Key.Key_Home)
_NARROW: Final = 1240
"""Below this width of the page (px at 100 %) the panel beside it is narrower."""


class DataPage(Page):
    """The page Data in one of its states: empty, loading, importing, or browsing the pairs."""

    key: ClassVar[PageKey] = "data"
    smallest = (860, 480)
    primary_kind: ClassVar[Literal["primary", "normal"]] = "normal"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.setAccessibleName(texts.DATA)
        self.setAcceptDrops(True)
        self.setProperty(OWN_FOCUS, True)
        self.importer = Importer(context, self)
        self.empty = DropZone()
        self.loading = Waiting(texts.THE_PAIRS)
        self.importing = ImportView()
        self.browse = BrowseView(context)
        self.peek = _Peek()
        self.stack = QStackedWidget()
        for view in (self.empty, self.loading, self.importing, self.browse, self.peek):
            self.stack.addWidget(view)
        self.side = QStackedWidget()
        self.side.addWidget(self.importing.side)
        self.side.addWidget(self.browse.side)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.stack, stretch=1)
        row.addWidget(self.side)

        self._menu_button = QToolButton()
        self._menu_button.setText(texts.IMPORT)
        self._menu_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self._menu_button.setAccessibleName(texts.IMPORT)
        set_kind(self._menu_button, "menu")
        self._menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu_button.hide()

        self.pair_actions = PairActions(context, self.browse, self, self._can_browse, self._can_import)
        self._connect()
        self._add_actions()
        self._refresh()
        if context.document.dataset is not None:
            self.browse.show_document()

    def _connect(self) -> None:
        context, importer, view = self.context, self.importer, self.importing
        self.empty.button.clicked.connect(self._choose_file)
        self.empty.more.clicked.connect(self._choose_folder)
        self.empty.example.clicked.connect(self._use_example)
        importer.began.connect(self._refresh)
        importer.changed.connect(self._show_import)
        importer.ended.connect(self._refresh)
        view.column_picked.connect(importer.pick_column)
        view.form_picked.connect(importer.pick_form)
        view.matches_picked.connect(importer.pick_matches)
        view.label_picked.connect(importer.pick_label)
        view.no_majority_picked.connect(importer.pick_no_majority)
        view.left_out.connect(importer.leave_out)
        view.sheet_picked.connect(importer.pick_sheet)
        view.bad_rows_left_out.connect(importer.leave_out_bad_rows)
        view.accepted.connect(importer.accept)
        view.cancelled.connect(importer.cancel)
        view.check_wanted.connect(importer.check_again)
        view.other_wanted.connect(self._choose_file)
        view.pair_opened.connect(self._peek)
        self.peek.pair_view.closed.connect(self._close_peek)
        self.peek.pair_view.markdown_chosen.connect(self._peek_form)
        self.browse.mapping_wanted.connect(self._change_mapping)
        self.browse.other_wanted.connect(self._choose_file)
        self.browse.menu_wanted.connect(self.pair_actions.open_menu)
        self.browse.selected.connect(self.context.actions.refresh_soon)
        document = context.document
        self._generation = document.generation
        document.opened.connect(self._opened)
        document.pairs_changed.connect(self._pairs_changed)
        document.loading_changed.connect(self._refresh)
        context.tasks.jobs_changed.connect(self._follow_job)

    def _add_actions(self) -> None:
        actions = self.context.actions
        actions.add(
            known_action("data.import_folder", self._choose_folder, self._can_import),
            known_action("data.example", self._use_example, self._can_import),
            known_action("data.mapping", self._change_mapping, self._can_change),
            known_action("labels.review", self._review, self._can_browse),
            known_action("data.reload", self._reload, self._can_change),
            known_action("data.find", self._find, self._can_search),
            known_action("data.show_all", self._show_all, self._can_browse, scope=self),
            known_action("data.next", self._next, self._can_browse, scope=self),
            known_action("data.previous", self._previous, self._can_browse, scope=self),
        )
        menu = QMenu(texts.IMPORT, self)
        for name in ("data.import", "data.import_folder", "data.example", "data.mapping", "data.reload"):
            if name in actions:
                menu.addAction(actions.qaction(name))
        self._menu_button.setMenu(menu)

    # When actions are possible

    def _can_import(self) -> bool | str:
        document = self.context.document
        if not document.is_open:
            return texts.OPEN_A_PROJECT_FIRST
        if self.context.runner.busy:
            return texts.STOP_RUN_FIRST
        return document.read_only or True

    def _can_change(self) -> bool | str:
        if self.context.document.project.pairs is None:
            return texts.THERE_ARE_NO_PAIRS
        return self._can_import()

    def _can_browse(self) -> bool | str:
        return self.stack.currentWidget() is self.browse or texts.NO_PAIRS_TO_LOOK_THROUGH

    def _can_search(self) -> bool | str:
        return self.context.document.dataset is not None or texts.NO_PAIRS_TO_LOOK_THROUGH

    # Single pairs

    # Called by the window

    def top_widgets(self) -> Sequence[QWidget]:
        return (self._menu_button,)

    def regions(self) -> Sequence[QWidget]:
        view = self.stack.currentWidget()
        if view is self.browse:
            return (self.browse.bar, self.browse.table, self.browse.pair_view, self.side)
        if view is self.importing:
            return (self.importing.columns, self.importing.labels, self.importing.table, self.side)
        return (self.stack,)

    def enter(self, visit: Visit) -> None:
        if visit.files:
            self.import_files(visit.files)
        elif visit.pairs is not None:
            self.browse.show_visit(visit.pairs, visit.why)
        QTimer.singleShot(0, self, self._take_keys)

    def _take_keys(self) -> None:
        """Takes the keyboard focus, without a ring, where no control has it, so that the page's keys work."""
        focus = QApplication.focusWidget()
        if self.isVisible() and (focus is None or not self.isAncestorOf(focus)):
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        narrow = self.width() / current_theme().scale < _NARROW
        self.side.setFixedWidth(
            min(current_theme().px(_SIDE_NARROW if narrow else _SIDE), max(1, self.width() * 2 // 5))
        )

    # What is shown

    def _refresh(self) -> None:
        """Shows the view that fits the state."""
        document, importer = self.context.document, self.importer
        if importer.active:
            view: QWidget = self.importing if importer.draft is not None else self.loading
        elif document.dataset is not None:
            view = self.browse
        elif document.loading:
            view = self.loading
        else:
            view = self.empty
            self._say_why_empty()
        before = self.stack.currentWidget()
        self._put(view)
        self._follow_job()
        if self.isVisible() and view is not before:
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.context.actions.refresh()

    def _put(self, view: QWidget) -> None:
        self.stack.setCurrentWidget(view)
        beside = {self.importing: self.importing.side, self.peek: self.importing.side, self.browse: self.browse.side}
        side = beside.get(view)
        self.side.setVisible(side is not None)
        if side is not None:
            self.side.setCurrentWidget(side)

    def _say_why_empty(self) -> None:
        source = self.context.document.project.pairs
        if source is None:
            self.empty.say_why(
                texts.NO_PAIRS,
                texts.WHAT_A_PAIR_IS,
            )
        else:
            names = file_names([Path(file) for file in source.files])
            self.empty.say_why(texts.PAIRS_NOT_LOADED, texts.should_come_from(names))

    def _follow_job(self) -> None:
        if self.stack.currentWidget() is self.loading:
            job = self.context.tasks.jobs[-1] if self.context.tasks.jobs else None
            names = file_names(self.importer.files) if self.importer.active else texts.THE_PAIRS
            self.loading.follow(job, texts.reading(names))

    def _opened(self) -> None:
        if self.context.document.generation != self._generation:
            # Where the same project only reads another store, what is being imported stays.
            self._generation = self.context.document.generation
            self.importer.forget()
        self._refresh()

    def _pairs_changed(self) -> None:
        self.browse.show_document()
        self._refresh()

    # Importing

    def import_files(self, files: Sequence[Path]) -> None:
        """Opens files (or one folder) to import their pairs."""
        self.importer.begin(files)

    def _choose_file(self) -> None:
        self.context.actions.trigger("data.import")

    def _choose_folder(self) -> None:
        if self._can_import() is True:
            self.context.tasks.start(self._ask_for_folder(), texts.CHOOSE_A_FOLDER)

    async def _ask_for_folder(self) -> None:
        dialog = QFileDialog(self, texts.CHOOSE_FOLDER_NAME, str(self.context.document.folder))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        accepted = await shown(dialog)
        folders = [Path(folder) for folder in dialog.selectedFiles()] if accepted else []
        dialog.deleteLater()
        if folders:
            self.import_files(folders[:1])

    def _use_example(self) -> None:
        if self._can_import() is True:
            self.import_files([example("general.jsonl")])

    def _change_mapping(self) -> None:
        document = self.context.document
        source = document.project.pairs
        if source is not None:
            self.importer.begin([document.folder / file for file in source.files], source)

    def _reload(self) -> None:
        self.context.document.reload_pairs()

    def _show_import(self) -> None:
        importer, view = self.importer, self.importing
        draft, opened = importer.draft, importer.opened
        if draft is None or opened is None:
            return
        if self.stack.currentWidget() not in (view, self.peek):
            view.begin(draft, opened.files, importer.seconds)
            view.show_sheets(opened.sheets, opened.tables[0].sheet)
            self._refresh()
        view.show_draft(draft, importer.seen)
        if importer.problem is not None:
            view.show_problem(importer.problem)
        undecided = sum(importer.seen.values.counts[value] for value in draft.undecided(importer.seen.values))
        view.show_checked(
            importer.dataset, draft.leave_out, importer.waits_for, stopped=importer.stopped, undecided=undecided
        )
        view.show_cost(importer.dataset, importer.cost)
        view.show_ready(opened.count, importer.pair_count, importer.why_not, changes=importer.changes)

    def _peek(self, pair: Pair) -> None:
        """Shows a pair of the import."""
        dataset = self.importer.dataset
        findings = [finding for finding in dataset.findings if pair.id in finding.ids] if dataset is not None else []
        self.peek.pair_view.set_markdown(self.context.settings.preferences.markdown)
        self.peek.pair_view.show_pair(pair, findings=findings)
        self._put(self.peek)
        self.peek.pair_view.close_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _close_peek(self) -> None:
        self._put(self.importing)
        self.importing.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _peek_form(self, markdown: bool) -> None:
        self.context.settings.set(markdown=markdown)
        self.peek.pair_view.set_markdown(markdown)

    # Looking through

    def event(self, event: QEvent) -> bool:
        # Ctrl+F searches this page, even where it is a shortcut of something else.
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.matches(QKeySequence.StandardKey.Find)
            and self._can_browse() is True
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Find) and self._can_browse() is True:
            self._find()
        elif self.hasFocus() and event.key() in _TO_TABLE and self._can_browse() is True:
            self.browse.focus_table()
        else:
            super().keyPressEvent(event)

    def _find(self) -> None:
        if self.context.navigator.page != self.key:
            self.context.navigator.go(self.key)
        self.browse.bar.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.browse.bar.search.selectAll()

    def _review(self) -> None:
        """Leads to the label desk with the pairs that are listed, of those chosen to be judged."""
        model = self.browse.model
        places = {pair.id: place for place, pair in enumerate(self.context.document.pairs)}
        listed = (model.pairs[row].id for row in model.rows)
        self.context.navigator.go("labels", pairs=tuple(places[name] for name in listed if name in places))

    def _show_all(self) -> None:
        self.browse.bar.clear()

    def _next(self) -> None:
        self.browse.step_pair(1)

    def _previous(self) -> None:
        self.browse.step_pair(-1)

    # Files dropped on the page

    def _dropped(self, event: QDragEnterEvent | QDropEvent) -> list[Path]:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        # A project is opened by the window.
        return [] if any(path.suffix == PROJECT_SUFFIX for path in paths) or self._can_import() is not True else paths

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._dropped(event):
            event.acceptProposedAction()
            self.empty.set_over(True)
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self.empty.set_over(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self.empty.set_over(False)
        files = self._dropped(event)
        if not files:
            event.ignore()
            return
        event.acceptProposedAction()
        self.import_files(files)


class _Peek(QWidget):
    """A pair of an import, alone on the page."""

    def __init__(self) -> None:
        super().__init__()
        self.pair_view = PairView()
        for part in (self.pair_view.whole, self.pair_view.back, self.pair_view.forth):
            part.hide()
        self._column = QVBoxLayout(self)
        self._column.addWidget(self.pair_view)
        measure(self._column, margins=(24, Gap(16), 24, Gap(16)))
