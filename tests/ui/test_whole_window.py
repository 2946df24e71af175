"""The whole window with the example run in it, page after page: names, sizes of letters, the keyboard, references."""

from __future__ import annotations

import gc
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QGraphicsView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QSlider,
    QTextEdit,
    QWidget,
)

from judgenet.engine.example import record_example
from judgenet.ui.app import Studio
from judgenet.ui.canvas.view import NetworkView
from judgenet.ui.navigation import PAGES, PageKey
from tests.ui.conftest import settle, until

CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QGraphicsView,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QSlider,
    QTextEdit,
)
SMALLEST_PT = 10.0
MOST_LINKS = 20
REGIONS = 10


async def _quiet(studio: Studio) -> None:
    """Waits until the page that is shown is filled."""
    window = studio.window
    context = window.context

    def rests() -> bool:
        waits = any(timer.isActive() and timer.isSingleShot() for timer in window.findChildren(QTimer))
        return not (waits or window.tasks.jobs or context.figures.stale or context.document.loading)

    await settle()
    await until(rests, "a page that is filled")
    await settle()


async def _open(studio: Studio, place: Path) -> None:
    studio.window.frame_actions.open_file(record_example(place).file)
    await studio.window.context.document.loaded()
    await _quiet(studio)


async def _pages(studio: Studio) -> AsyncIterator[PageKey]:
    """Goes to each page, and waits until it is filled."""
    for page in PAGES:
        studio.window.context.navigator.go(page)
        await _quiet(studio)
        yield page


def _inner(widget: QWidget) -> bool:
    """A part that Qt puts into a control of its own, which has the name."""
    holder = widget.parent()
    inside = holder.metaObject().className() if holder is not None else ""
    return (
        widget.objectName().startswith("qt_")
        or isinstance(holder, QComboBox | QAbstractSpinBox)
        or inside == "QComboBoxPrivateContainer"
        or widget.metaObject().className() in ("QHeaderView", "QTableCornerButton")
    )


def _told(widget: QWidget) -> str:
    """What a screen reader says of a widget."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name).strip() if interface is not None else ""


def _where(widget: QWidget) -> str:
    """A widget by its class and by what it stands in."""
    around = []
    holder = widget.parent()
    while isinstance(holder, QWidget):
        around.append(type(holder).__name__)
        holder = holder.parent()
    return f"{type(widget).__name__} in {', '.join(around[:4])}"


async def test_a_screen_reader_can_name_every_control(studio: Studio, place: Path) -> None:
    await _open(studio, place)
    nameless: dict[str, list[str]] = {}
    seen = 0
    async for page in _pages(studio):
        controls = [
            w
            for w in studio.window.findChildren(QWidget)
            if isinstance(w, CONTROLS) and w.isVisible() and not _inner(w)
        ]
        seen += len(controls)
        found = sorted({_where(widget) for widget in controls if not _told(widget)})
        if found:
            nameless[page] = found
    assert nameless == {}
    assert seen > 200


async def test_no_letter_is_smaller_than_ten_points(studio: Studio, place: Path) -> None:
    await _open(studio, place)
    small = set()
    async for page in _pages(studio):
        for widget in studio.window.findChildren(QWidget):
            if isinstance(widget, QLabel | QAbstractButton | QLineEdit | QPlainTextEdit | QTextEdit):
                points = widget.fontInfo().pointSizeF()
                if widget.isVisible() and points < SMALLEST_PT - 0.3:
                    small.add(f"{page}: {_where(widget)}: {points:.1f} pt")
    assert small == set()


def _strike(qapp: QApplication, studio: Studio, key: Qt.Key) -> None:
    QTest.keyClick(qapp.focusWidget() or studio.window, key)


@pytest.mark.parametrize("page", PAGES)
async def test_the_tab_key_reaches_every_control_and_leaves_it_again(
    studio: Studio, place: Path, page: PageKey, qapp: QApplication
) -> None:
    await _open(studio, place)
    studio.window.context.navigator.go(page)
    await _quiet(studio)
    studio.window.activateWindow()
    reached: list[QWidget] = []
    # F6 leads to the parts of the window, Tab through each; on the canvas Tab searches.
    for _ in range(REGIONS):
        _strike(qapp, studio, Qt.Key.Key_F6)
        while (at := qapp.focusWidget()) is not None and at not in reached:
            reached.append(at)
            for _ in range(MOST_LINKS):
                # Texts lead from link to link before they let go.
                if qapp.focusWidget() is at and not isinstance(at, NetworkView):
                    _strike(qapp, studio, Qt.Key.Key_Tab)
            assert isinstance(at, NetworkView) or qapp.focusWidget() is not at, f"the keyboard is held by {_where(at)}"
    wanted = {
        widget
        for widget in studio.window.findChildren(QWidget)
        if isinstance(widget, CONTROLS)
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isVisible()
        and widget.isEnabled()
        and not _inner(widget)
        and widget.focusProxy() is None
    }
    missed = sorted(_where(widget) + f" {_told(widget)!r}" for widget in wanted - set(reached))
    assert missed == []


async def _walk(studio: Studio) -> None:
    for page in PAGES:
        studio.window.context.navigator.go(page)
        await settle(1)


@pytest.mark.parametrize(
    ("theme", "size", "scale"),
    [("light", (1280, 720), 1.0), ("dark", (1920, 1080), 1.0), ("contrast", (2560, 1440), 2.0)],
)
async def test_walking_through_the_window_warns_of_nothing(
    studio: Studio, place: Path, theme: str, size: tuple[int, int], scale: float
) -> None:
    """Log records of level warning fail every test of this folder."""
    studio.settings.set(theme=theme, scale=scale)
    studio.window.resize(*size)
    await _open(studio, place)
    await _walk(studio)
    await _quiet(studio)
    assert studio.window.errors.troubles == ()


async def test_walking_through_the_window_keeps_none(studio: Studio, place: Path) -> None:
    await _open(studio, place)
    await _walk(studio)
    await _quiet(studio)
    gc.collect()  # What earlier tests left would give its references back meanwhile.
    before = sys.getrefcount(None)
    await _walk(studio)
    await _quiet(studio)
    # Pages hold some; what must not happen is that references are lost.
    assert before - sys.getrefcount(None) < 200


async def test_assistive_technology_hears_the_names_of_choices_and_the_pages_of_the_rail(
    studio: Studio, place: Path, qapp: QApplication
) -> None:
    """Qt gives the value of a combo box for its name on Linux, and takes a checkable button for a check box."""
    await _open(studio, place)
    seen = 0
    async for _ in _pages(studio):
        for box in studio.window.findChildren(QComboBox):
            if not box.isVisible() or not box.accessibleName():
                continue
            seen += 1
            interface = QAccessible.queryAccessibleInterface(box)
            assert interface.text(QAccessible.Text.Name) == box.accessibleName()
            assert interface.text(QAccessible.Text.Value) == box.currentText()
            assert interface.role() == QAccessible.Role.ComboBox
    assert seen > 10
    rail = studio.window.rail
    studio.window.context.navigator.go("data")
    for key in ("design", "data", "settings"):
        interface = QAccessible.queryAccessibleInterface(rail.button(key))
        assert interface.role() == QAccessible.Role.PageTab
        assert interface.state().selected == (key == "data")


async def test_the_focus_ring_of_the_rail_goes_along_to_the_page_that_is_shown(
    studio: Studio, place: Path, qapp: QApplication
) -> None:
    await _open(studio, place)
    studio.window.activateWindow()
    rail = studio.window.rail
    studio.window.context.navigator.go("design")
    rail.button("design").setFocus(Qt.FocusReason.TabFocusReason)
    QTest.mouseClick(rail.button("data"), Qt.MouseButton.LeftButton)
    assert qapp.focusWidget() is rail.button("data")
    QTest.keyClick(rail.button("data"), Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    await settle()
    assert studio.window.context.navigator.page == "run"
    assert qapp.focusWidget() is rail.button("run")
