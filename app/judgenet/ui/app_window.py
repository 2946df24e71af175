"""The window: top bar, error bar, rail, pages, status bar; and everything they share."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QMenu,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from judgenet.store.db import Store, of_closed_store
from judgenet.ui import texts
from judgenet.ui.accessible import install_names
from judgenet.ui.action_texts import Menu
from judgenet.ui.actions import ActionTable
from judgenet.ui.approval import TrustAsker
from judgenet.ui.bridge import Bridge
from judgenet.ui.context import Context
from judgenet.ui.dialogs import confirm
from judgenet.ui.document import Document
from judgenet.ui.errors import ErrorBar
from judgenet.ui.figures import DesignEstimate
from judgenet.ui.frame_actions import FrameActions
from judgenet.ui.navigation import PAGES, Navigator, PageKey, Visit
from judgenet.ui.pages import make_page
from judgenet.ui.pages.base import Page
from judgenet.ui.pages.welcome import WelcomePage
from judgenet.ui.palette import Palette
from judgenet.ui.pictures import loader
from judgenet.ui.project_state import ProjectParts
from judgenet.ui.results.learning import Learning
from judgenet.ui.results.state import ResultsState
from judgenet.ui.run_state import RunState
from judgenet.ui.runner import Runner
from judgenet.ui.settings import Preferences, StudioSettings
from judgenet.ui.shards.state import ShardsState
from judgenet.ui.shell import Rail, StatusBar, TopBar
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.tasks import Tasks
from judgenet.ui.theme import ThemeManager
from judgenet.ui.tokens import NARROW_WINDOW
from judgenet.ui.tour import Tour

log = logging.getLogger(__name__)

DEFAULT_SIZE: Final = QSize(1440, 900)
SMALLEST: Final = QSize(960, 600)
_REACHABLE: Final = QSize(120, 48)
"""The part of a window's top that must be on a screen, so that it can be moved."""

NEXT_PAGE_MS: Final = 20
"""Pause in ms between making two pages, in which the window responds to the user."""

_MENUS: Final[tuple[Menu, ...]] = ("Project", "Edit", "Network", "Run", "View", "Help")


def fitting(wanted: QRect, screens: list[QRect]) -> QRect:
    """A window's place on these screens: as wanted where its top can be reached, else in the middle of the first.

    It is never larger than its screen.
    """
    if not screens:
        return wanted
    top = QRect(wanted.x(), wanted.y(), wanted.width(), _REACHABLE.height())
    best = max(screens, key=lambda screen: _area(screen.intersected(top)))
    seen = best.intersected(top)
    if seen.width() >= _REACHABLE.width() and seen.height() >= _REACHABLE.height() // 2:
        return QRect(wanted.topLeft(), wanted.size().boundedTo(best.size()))
    size = wanted.size().boundedTo(screens[0].size())
    place = QRect(screens[0].topLeft(), size)
    place.moveCenter(screens[0].center())
    return place


def _area(rect: QRect) -> int:
    return max(0, rect.width()) * max(0, rect.height())


class _Pages(QStackedWidget):
    """The pages, in an area that scrolls where the window is too small for the one in view."""

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._theme = theme
        self.area = QScrollArea()
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.setWidgetResizable(True)
        self.area.setWidget(self)
        self.area.setCornerWidget(QWidget())
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        if not isinstance(page, Page):
            return QSize(0, 0)
        wide, high = page.smallest
        return QSize(self._theme.theme.px(wide), self._theme.theme.px(high))


class AppWindow(QMainWindow):
    """The studio's window. ``on_closed`` is called after everything is saved and stopped."""

    def __init__(
        self,
        theme: ThemeManager,
        settings: StudioSettings,
        on_closed: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self.setObjectName("studio")
        install_names()
        self.setAcceptDrops(True)
        self._on_closed = on_closed
        self._closing = False
        self._closed = False
        self._theme = theme
        self._settings = settings
        self._pages: dict[PageKey, Page] = {}

        self.errors = ErrorBar()
        self.tasks = Tasks(self)
        self.tasks.failed.connect(self._task_failed)
        self.bridge = Bridge(self)
        self.context = self._make_context()
        context = self.context

        central = QWidget(self)
        self.setCentralWidget(central)
        self.palette_popup = Palette(context.actions, central)
        self.tour = Tour(context.navigator, context.document, central)
        self.frame_actions = FrameActions(
            context, self, self.palette_popup, self.tour, self.close_window, self.next_region, self.page_in_view
        )
        self.menu = QMenu(texts.MENU, self)
        self.top_bar = TopBar(context.actions, context.document, context.runner, self.menu)
        self.rail = Rail()
        self.status = StatusBar(
            context.document, context.run_state, context.runner, context.figures, context.shards, self.tasks
        )
        self.status.unscored_wanted.connect(self.frame_actions.runs.show_unscored)
        self.stack = _Pages(theme)
        # It takes the keyboard until a control is chosen, and shows no ring.
        self.stack.setProperty(OWN_FOCUS, True)
        self._lay_out(central)
        self._connect()
        self._fill_menu()
        self._apply_theme()
        self._restore()
        self._title()
        context.navigator.go("welcome")

    def _make_context(self) -> Context:
        """Makes the state that the pages share."""
        document = Document(self.tasks, self.errors, self)
        document.approvals.ask_trust = TrustAsker(document, self._theme, self).ask
        run_state = RunState(document, self.bridge, self.tasks, self.errors, self)
        parts = ProjectParts(document, run_state, self.tasks, self.errors)
        return Context(
            document=document,
            run_state=run_state,
            results=ResultsState(parts, self),
            learning=Learning(parts, self),
            shards=ShardsState(parts, self),
            runner=Runner(parts, self.bridge, self),
            figures=DesignEstimate(parts, self),
            theme=self._theme,
            actions=ActionTable(self),
            errors=self.errors,
            settings=self._settings,
            tasks=self.tasks,
            navigator=Navigator(self),
        )

    def _lay_out(self, central: QWidget) -> None:
        middle = QHBoxLayout()
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        middle.addWidget(self.rail)
        middle.addWidget(self.stack.area, stretch=1)
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        column.addLayout(middle, stretch=1)
        column.addWidget(self.status)
        self.errors.setParent(central)
        self.errors.lie_over(self.stack.area)
        self.palette_popup.raise_()
        self.tour.raise_()

    def _connect(self) -> None:
        context, theme = self.context, self._theme
        self.top_bar.palette_wanted.connect(self.frame_actions.open_palette)
        self.rail.chosen.connect(self._rail_chosen)
        context.navigator.went.connect(self._go)
        # Of the area only the scroll bars: the pages are dressed one by one.
        bars = (self.stack.area.horizontalScrollBar(), self.stack.area.verticalScrollBar())
        for part in (self.menu, self.top_bar, self.rail, self.status):
            theme.dress(part)
        for rarer in (self.errors, self.palette_popup, self.tour, *bars):
            theme.dress(rarer, when_shown=True)
        theme.changed.connect(self._apply_theme)
        context.settings.changed.connect(self._apply_preferences)
        context.document.opened.connect(self._opened)
        loader().stores = self._stores
        context.document.pairs_changed.connect(self._know_pictures)
        context.document.saved_changed.connect(self._title)
        context.document.project_changed.connect(self._title)
        context.actions.changed.connect(self._fill_menu)
        welcome = self.page("welcome")
        assert isinstance(welcome, WelcomePage)
        welcome.preset_chosen.connect(self.frame_actions.new_from_preset)
        welcome.file_chosen.connect(self.frame_actions.open_file)
        welcome.example_wanted.connect(self.frame_actions.runs.run_example)

    # Pages

    def page(self, key: PageKey) -> Page:
        """A page by its key; made when it is first wanted."""
        page = self._pages.get(key)
        if page is None:
            page = self._pages[key] = make_page(key, self.context)
            self.stack.addWidget(page)
        return page

    def page_in_view(self) -> QWidget:
        """The page that is shown."""
        return self.page(self.context.navigator.page)

    def load_pages(self) -> None:
        """Makes the pages that were not opened yet, one at a time while the window is idle."""
        missing = [key for key in PAGES if key not in self._pages]
        if missing and not self._closed:
            self.page(missing[0])
            QTimer.singleShot(NEXT_PAGE_MS, self, self.load_pages)

    def _rail_chosen(self, key: str) -> None:
        self.context.actions.trigger(f"page.{key}")
        self.rail.show_page(self.context.navigator.page)

    def _go(self, visit: Visit) -> None:
        page = self.page(visit.page)
        self.stack.setCurrentWidget(page)
        welcome = visit.page == "welcome"
        self.rail.setVisible(not welcome)
        self.status.setVisible(not welcome or self.context.runner.running or bool(self.tasks.jobs))
        self.rail.show_page(visit.page)
        self.top_bar.set_page(page.top_widgets(), page.primary, page.primary_kind)
        if visit.page not in ("welcome", "settings"):
            self._settings.keep_text("page", visit.page)
        page.enter(visit)
        focused = self.focusWidget()
        if self.rail.isAncestorOf(focused):
            # The ring goes along to the page that is shown.
            self.rail.focus_page(visit.page)
        elif self.stack.isAncestorOf(focused) or focused is None:
            self.stack.setFocus(Qt.FocusReason.OtherFocusReason)
        self.context.actions.refresh_soon()

    def _opened(self) -> None:
        self.rail.set_open(self.context.document.is_open)
        self._title()

    def _title(self) -> None:
        document = self.context.document
        if not document.is_open:
            self.setWindowTitle(texts.JUDGENET_STUDIO)
            return
        title_of = texts.window_title_read_only if document.read_only else texts.window_title
        self.setWindowTitle(title_of(document.title))

    def next_region(self, step: int) -> None:
        """Moves the focus to the next part of the window: top bar, rail, the page's parts, status bar."""
        page = self.stack.currentWidget()
        inner = list(page.regions()) if isinstance(page, Page) else []
        regions = [r for r in (self.errors, self.top_bar, self.rail, *inner, self.status) if r.isVisible()]
        now = self.focusWidget()
        at = next((i for i, region in enumerate(regions) if now is not None and region.isAncestorOf(now)), -1)
        if at < 0 and now in regions:
            at = regions.index(now)
        for offset in range(1, len(regions) + 1):
            region = regions[(at + step * offset) % len(regions)]
            target = _first_focus(region)
            if target is not None:
                target.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    # Menu

    def _fill_menu(self) -> None:
        self.menu.clear()
        actions = self.context.actions
        for name in _MENUS:
            listed = [action for action in actions if action.menu == name]
            if listed:
                submenu = self.menu.addMenu(name)
                for action in listed:
                    submenu.addAction(actions.qaction(action.id))
                    if action.id == "project.open":
                        recent = submenu.addMenu(texts.RECENT_PROJECTS)
                        listed_there = [entry for entry in actions if entry.menu == recent.title()]
                        recent.addActions([actions.qaction(entry.id) for entry in listed_there])
                        recent.setEnabled(not recent.isEmpty())

    # Look

    def _apply_preferences(self, preferences: Preferences) -> None:
        theme = self._theme
        theme.choose(preferences.theme)
        theme.set_scale(preferences.scale)
        theme.set_density(preferences.density)
        theme.set_reduce_motion(preferences.reduce_motion)

    @property
    def narrow(self) -> bool:
        """Whether the window is too narrow for the rail's words."""
        return self.width() / self._theme.theme.scale < NARROW_WINDOW

    def _apply_theme(self, *_: object) -> None:
        self.stack.updateGeometry()
        self._arrange()
        screen = self.screen() or QGuiApplication.primaryScreen()
        room = screen.availableSize() if screen is not None else SMALLEST
        self.setMinimumSize(SMALLEST.boundedTo(room))

    def _arrange(self) -> None:
        self.rail.set_narrow(narrow=self.narrow)
        self.top_bar.set_narrow(narrow=self.narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        before = event.oldSize().width() / self._theme.theme.scale < NARROW_WINDOW
        super().resizeEvent(event)
        if before != self.narrow:
            self._arrange()

    # Place on the screens

    def _restore(self) -> None:
        kept = self._settings.layout("window")
        if kept is None or not self.restoreGeometry(kept):
            self.resize(DEFAULT_SIZE)
        screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
        if not self.isMaximized() and not self.isFullScreen():
            self.setGeometry(fitting(self.geometry(), screens))

    def _keep_place(self) -> None:
        geometry: QByteArray = self.saveGeometry()
        self._settings.keep_layout("window", geometry)
        self._settings.flush()

    def _stores(self) -> tuple[Store, ...]:
        store = self.context.document.store
        return () if store is None else (store,)

    def _know_pictures(self) -> None:
        loader().know(self.context.document.pairs)

    # Files dropped on the window

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()) and not self.context.runner.busy:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        self.frame_actions.projects.open_dropped(paths)

    # Closing

    def _task_failed(self, error: BaseException, name: str) -> None:
        if of_closed_store(error):
            # Another store is looked into by now: what was asked of the one before interests nobody.
            log.info("%s: %s", name, error)
            return
        self.errors.post_exception(error, name)

    def close_window(self) -> None:
        """Closes the window, asking first where a run goes on."""
        self.close()

    def end(self) -> None:
        """Closes without asking, when the system asks the program to end."""
        if not self._closing:
            self._closing = True
            self.tasks.start(self.shut_down(), texts.CLOSE_THE_WINDOW)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._closed:
            event.accept()
            return
        event.ignore()
        if not self._closing:
            self._closing = True
            self.tasks.start(self._close(), texts.CLOSE_THE_WINDOW)

    async def _close(self) -> None:
        try:
            runner = self.context.runner
            if runner.busy and not await confirm(
                self,
                texts.A_RUN_GOES_ON,
                texts.STOP_THE_RUN_AND_CLOSE,
                texts.STOP_AND_CLOSE,
                texts.KEEP_RUNNING,
            ):
                return
            await self.shut_down()
        finally:
            self._closing = False
        self.close()

    async def shut_down(self) -> None:
        """Stops the run and all work, saves, and closes the project."""
        if self._closed:
            return
        self.context.runner.stop()
        await self.context.runner.stop_and_wait()
        self.context.runner.close()
        self.bridge.close()
        self.context.shards.close()
        loader().close()
        self.frame_actions.projects.remember()
        self._keep_place()
        self.context.document.shut_down()
        self._closed = True
        await self.tasks.close()
        self._on_closed()


def _first_focus(region: QWidget) -> QWidget | None:
    """The first control of a region that takes the keyboard's focus."""
    if region.focusPolicy() & Qt.FocusPolicy.TabFocus and region.isEnabled():
        return region
    for widget in region.findChildren(QWidget):
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible() and widget.isEnabled():
            return widget
    return None
