"""Ways through the long page Results: a menu in the top bar, and actions of the palette that lead to each panel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QMenu, QScrollArea, QToolButton, QWidget

from judgenet.ui.actions import Action
from judgenet.ui.context import Context
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import PANEL_GAP
from judgenet.ui.widgets import set_kind


class SectionMenu(QToolButton):
    """A menu of the panels of the page Results, in the order of the page; choosing one brings it to the top.

    A panel that this run does not have is left out of the menu; its action in the palette says why.
    """

    def __init__(self, context: Context, area: QScrollArea, groups: Sequence[Sequence[QFrame]]) -> None:
        """``groups`` are the panels in the order of the page; panels of one group belong together."""
        super().__init__()
        self._context = context
        self._area = area
        self._groups = [tuple(group) for group in groups]
        self._wanted: QFrame | None = None
        self.setText(texts.SECTIONS)
        self.setToolTip(texts.GO_TO_SECTION)
        self.setAccessibleName(texts.GO_TO_SECTION)
        self.setIcon(icon("more"))
        self.set_short(short=False)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        set_kind(self, "menu")
        self._menu = QMenu(self)
        self._menu.setAccessibleName(texts.SECTIONS_OF_PAGE)
        self.setMenu(self._menu)
        self._menu.aboutToShow.connect(self._fill)
        context.run_state.run_changed.connect(self._follow)
        context.results.changed.connect(self._follow)
        context.actions.add(*self._actions())
        self._follow()
        measure(self, icon=16)

    def set_short(self, *, short: bool) -> None:
        """Shows the icon alone, where the top bar has little room."""
        style = Qt.ToolButtonStyle.ToolButtonIconOnly if short else Qt.ToolButtonStyle.ToolButtonTextOnly
        self.setToolButtonStyle(style)

    @property
    def panels(self) -> tuple[QFrame, ...]:
        """All panels of the page, in its order."""
        return tuple(panel for group in self._groups for panel in group)

    def _actions(self) -> list[Action]:
        """An action for each panel, which the palette finds from any page."""
        return [
            Action(
                f"results.section.{place}",
                texts.section_action(panel.accessibleName()),
                partial(self.go_to, panel),
                icon="results",
                enabled=partial(self._can_show, panel),
                words=texts.SECTION_WORDS,
            )
            for place, panel in enumerate(self.panels, 1)
        ]

    def _can_show(self, panel: QFrame) -> bool | str:
        if self._context.run_state.run is None:
            return texts.NO_RUN
        return not self._is_read() or not panel.isHidden() or texts.NOT_IN_THIS_RUN

    def _is_read(self) -> bool:
        return self._context.results.results is not None

    def _follow(self) -> None:
        self.setEnabled(self._is_read())

    def _fill(self) -> None:
        self._menu.clear()
        for group in self._groups:
            shown = [panel for panel in group if not panel.isHidden()]
            if shown and not self._menu.isEmpty():
                self._menu.addSeparator()
            for panel in shown:
                action = QAction(panel.accessibleName(), self._menu)
                action.triggered.connect(partial(self.go_to, panel))
                self._menu.addAction(action)

    def go_to(self, panel: QFrame, *_: object) -> None:
        """Goes to the page and brings a panel to its top, once the figures are read; the focus goes into the panel."""
        self._wanted = panel
        self._context.navigator.go("results")
        self.arrive()

    def arrive(self) -> None:
        """Brings the wanted panel into view when its place is known; called whenever the page shows or hides
        figures."""
        if self._wanted is not None and self._is_read():
            QTimer.singleShot(0, self, self._scroll)

    def _scroll(self) -> None:
        panel, rows = self._wanted, self._area.widget()
        self._wanted = None
        if panel is None or rows is None or panel.isHidden():
            return
        gap = current_theme().gap(PANEL_GAP)
        self._area.verticalScrollBar().setValue(panel.mapTo(rows, QPoint(0, 0)).y() - gap)
        first = _first_stop(panel)
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)


def _first_stop(panel: QWidget) -> QWidget | None:
    """The first widget of a panel that Tab moves the focus to."""
    at = panel.nextInFocusChain()
    while at is not None and at is not panel and panel.isAncestorOf(at):
        if at.focusPolicy() & Qt.FocusPolicy.TabFocus and at.isVisible() and at.isEnabled():
            return at
        at = at.nextInFocusChain()
    return None
