"""The window: its pages and panels, its look, a picture of it, and help."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from judgenet.ui import texts
from judgenet.ui.actions import Action, known_action
from judgenet.ui.conditions import ActionConditions
from judgenet.ui.context import Context
from judgenet.ui.help import AboutDialog, KeysDialog
from judgenet.ui.navigation import PageKey
from judgenet.ui.shell import RAIL_PAGES
from judgenet.ui.theme import ThemeChoice
from judgenet.ui.tokens import UI_SCALES
from judgenet.ui.tour import Tour

_SCALE_STEP: Final = 0.1
_SCALE_WAIT_MS: Final = 150
"""Longer than a key that is held down takes to repeat."""
_THEMES: Final[tuple[tuple[ThemeChoice, str, str], ...]] = (
    ("system", texts.MATCH_SYSTEM_THEME, "theme"),
    ("light", texts.LIGHT_THEME, "sun"),
    ("dark", texts.DARK_THEME, "moon"),
    ("contrast", texts.HIGH_CONTRAST_THEME, "theme"),
)


class WindowActions(QObject):
    """Adds the actions of the window to the table and does them."""

    def __init__(
        self,
        context: Context,
        when: ActionConditions,
        window: QWidget,
        tour: Tour,
        next_region: Callable[[int], None],
        page_in_view: Callable[[], QWidget],
    ) -> None:
        super().__init__(window)
        self._context = context
        self._tour = tour
        self._next_region = next_region
        self._page_in_view = page_in_view
        self._next_scale: float | None = None
        self._scale_soon = QTimer(self)
        self._scale_soon.setSingleShot(True)
        self._scale_soon.setInterval(_SCALE_WAIT_MS)
        self._scale_soon.timeout.connect(self._take_scale)
        self._keys = KeysDialog(context, window)
        self._about = AboutDialog(context, window)
        context.actions.add(*self._pages(when), *self._themes())
        context.actions.add(
            known_action("endpoints.show", self.show_endpoints),
            known_action("view.larger", self.larger),
            known_action("view.smaller", self.smaller),
            known_action("view.next", partial(next_region, 1)),
            known_action("view.previous", partial(next_region, -1)),
            known_action("view.copy_picture", self.copy_picture),
            known_action("help.tour", self.tour),
            known_action("help.keys", self.show_keys),
            known_action("help.about", self.show_about),
        )

    def _pages(self, when: ActionConditions) -> list[Action]:
        page_actions = [
            Action(
                f"page.{key}",
                texts.page(word),
                self._goer(key),
                f"Ctrl+{place}",
                name,
                when.project,
                self._shower(key),
                menu="View",
                words=texts.SEARCH_WORDS_OF_PAGES,
            )
            for place, (key, word, name) in enumerate(RAIL_PAGES, 1)
        ]
        return [*page_actions, known_action("page.settings", self._goer("settings"))]

    def _themes(self) -> list[Action]:
        return [
            Action(
                f"theme.{choice}",
                text,
                self._theme_setter(choice),
                icon=name,
                checked=self._theme_is(choice),
                menu="View",
                words=texts.SEARCH_WORDS_OF_THEMES,
            )
            for choice, text, name in _THEMES
        ]

    def copy_picture(self) -> None:
        """Puts a picture of the page in view on the clipboard."""
        page = self._page_in_view()
        QGuiApplication.clipboard().setPixmap(page.grab())
        self._context.errors.post(texts.PICTURE_OF_THE_PAGE_COPIED, level="note")

    def show_keys(self) -> None:
        """Shows all shortcuts."""
        self._keys.show_for()

    def show_about(self) -> None:
        """Shows the version, the licences and where the log file is."""
        self._about.show_for()

    def _goer(self, key: PageKey) -> Callable[[], None]:
        return lambda: self._context.navigator.go(key)

    def _shower(self, key: PageKey) -> Callable[[], bool]:
        return lambda: self._context.navigator.page == key

    def show_endpoints(self) -> None:
        """Shows the endpoints."""
        self._context.navigator.go("settings", part="endpoints")

    def _theme_setter(self, choice: ThemeChoice) -> Callable[[], None]:
        return lambda: self._context.settings.set(theme=choice)

    def _theme_is(self, choice: ThemeChoice) -> Callable[[], bool]:
        return lambda: self._context.settings.preferences.theme == choice

    def larger(self) -> None:
        """Zooms the interface in by one step."""
        self._scale(_SCALE_STEP)

    def smaller(self) -> None:
        """Zooms the interface out by one step."""
        self._scale(-_SCALE_STEP)

    def _scale(self, by: float) -> None:
        """Sets the scale a little later, so that a key that is held down changes the window only once."""
        low, high = UI_SCALES
        now = self._context.settings.preferences.scale if self._next_scale is None else self._next_scale
        self._next_scale = round(min(high, max(low, now + by)), 2)
        self._scale_soon.start()

    def _take_scale(self) -> None:
        scale, self._next_scale = self._next_scale, None
        self._context.settings.set(scale=scale)

    def tour(self) -> None:
        """Shows the tour."""
        self._tour.begin()
