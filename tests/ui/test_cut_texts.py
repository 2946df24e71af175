"""No text of the window is cut, at any size and scale. What may end in an ellipsis is declared here, with a reason."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QTabBar,
    QTableWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from judgenet.engine.example_lab import record_example_lab
from judgenet.ui.app import Studio
from judgenet.ui.canvas.model import Place
from judgenet.ui.elements import ElidedLabel, label
from judgenet.ui.experiments.dialog import ExperimentsDialog
from judgenet.ui.pages.bias import BiasPage
from judgenet.ui.pages.data import DataPage
from judgenet.ui.pages.design import DesignPage
from judgenet.ui.pages.run import RunPage
from judgenet.ui.tour import STEPS
from tests.ui.conftest import until
from tests.ui.cut_texts import cut_widgets, overlapping, painted_texts, path
from tests.ui.person import press
from tests.ui.test_whole_window import _open, _pages, _quiet

FORMS = [((1280, 720), 1.0), ((1440, 900), 1.0), ((1440, 880), 1.5), ((1440, 880), 2.0), ((1280, 720), 2.0)]

ELIDED = {
    "_RecentRow": "names of projects, of any length; the whole one is in the tool tip",
    "PairStrip": "the question of the pair; the whole one is in the list of pairs and on the page Data",
    "SidePanel": "questions of pairs in a list; a click shows the pair",
    "_QueueRow": "questions of pairs in a list; a click shows the pair",
    "BarPairsPanel": "what a list shows, in one line; the list itself says it again",
}
"""Labels that may end in an ellipsis, by a class that they stand in."""

PAINTED = {
    "judgenet.ui.run.pair_list": "questions of pairs in a list",
    "judgenet.ui.data.table": "cells of the table of pairs: questions and responses",
    "judgenet.ui.results.pair_panel": "questions of pairs in a list",
    "judgenet.ui.canvas": "names in nodes, which shrink with the zoom; the inspector and the tool tip have them whole",
    "judgenet.ui.bias": "titles of probes and sentences of the card of biases; each row has them whole in its tool tip",
}
"""Modules whose painted texts may end in an ellipsis."""

SHORTEST = 3
"""So many letters must be left of a text that ends in an ellipsis: fewer tell nothing."""


def _declared(widget: QWidget) -> bool:
    holder: QWidget | None = widget
    while holder is not None:
        if type(holder).__name__ in ELIDED:
            return True
        holder = holder.parentWidget()
    return False


def cut_in(window: QWidget) -> set[str]:
    """All texts that are cut in what a window shows, but those declared above."""
    found = set()
    with painted_texts() as painted:
        window.grab()
    for widget, text, what in cut_widgets(window):
        if not (isinstance(widget, ElidedLabel) and what.startswith("elided") and _declared(widget)):
            found.add(f"{path(widget)}: {text[:60]!r}: {what}")
    for module, text, what in painted:
        letters = what.removeprefix("elided to ").strip("'\"").rstrip("…").strip()
        if not module.startswith(tuple(PAINTED)) or (what.startswith("elided") and len(letters) < SHORTEST):
            found.add(f"{module}: {text[:60]!r}: {what}")
    for one, other in overlapping(window):
        found.add(f"{path(one)} lies over {path(other)}")
    return found


@pytest.mark.parametrize(("size", "scale"), FORMS)
async def test_no_text_of_any_page_is_cut(studio: Studio, place: Path, size: tuple[int, int], scale: float) -> None:
    studio.settings.set(scale=scale)
    studio.window.resize(*size)
    await _open(studio, place)
    cut: dict[str, set[str]] = {}
    async for page in _pages(studio):
        cut[page] = cut_in(studio.window)
    run = studio.window.page("run")
    assert isinstance(run, RunPage)
    studio.window.context.navigator.go("run")
    studio.window.context.run_state.set_focus(18)
    run.show_target(Place(0, 1))
    tabs = run.inspector.tabs
    for tab in range(tabs.count()):
        tabs.setCurrentIndex(tab)
        await _quiet(studio)
        cut[f"run, {tabs.tabText(tab)}"] = cut_in(studio.window)
    data = studio.window.page("data")
    assert isinstance(data, DataPage)
    studio.window.context.navigator.go("data")
    data.browse.open_pair(18)
    await _quiet(studio)
    cut["a pair"] = cut_in(studio.window)
    assert {page: found for page, found in cut.items() if found} == {}


@pytest.mark.parametrize(("size", "scale"), FORMS)
async def test_no_text_of_dialogs_of_the_tour_and_of_a_lab_is_cut(
    studio: Studio, place: Path, size: tuple[int, int], scale: float
) -> None:
    studio.settings.set(scale=scale)
    studio.window.resize(*size)
    await _open(studio, place)
    context = studio.window.context
    cut: dict[str, set[str]] = {}
    for action in ("help.about", "help.keys", "run.limits", "models.try", "experiments.open"):
        context.actions.trigger(action)
        await _quiet(studio)
        (dialog,) = (one for one in studio.window.findChildren(QDialog) if one.isVisible())
        cut[dialog.windowTitle()] = cut_in(dialog)
        if isinstance(dialog, ExperimentsDialog):
            for row in range(dialog.list.count()):
                dialog.list.setCurrentRow(row)
                await _quiet(studio)
                cut[f"experiment {row}"] = cut_in(dialog)
        dialog.reject()
    document = context.document
    assert document.store is not None
    await asyncio.to_thread(record_example_lab, document.store, document.project, document.pairs, document.folder)
    bias = studio.window.page("bias")
    assert isinstance(bias, BiasPage)
    bias.state.refresh_labs()
    context.navigator.go("bias")
    await until(lambda: bool(bias.card.rows), "the card")
    await _quiet(studio)
    studio.window.grab()
    cut["bias"] = cut_in(studio.window)
    context.actions.trigger("help.tour")
    for step in STEPS[1:]:
        await _quiet(studio)
        cut[f"tour, {step[1]}"] = {
            found for found in cut_in(studio.window) if "Tour" in found and "lies over" not in found
        }
        press(studio.window, "Done" if step is STEPS[-1] else "Next")
    assert {page: found for page, found in cut.items() if found} == {}


@pytest.mark.parametrize(("size", "scale"), FORMS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (200, 3)])
async def test_the_cost_strip_shows_its_figures_whole_or_not_at_all(
    studio: Studio, place: Path, size: tuple[int, int], scale: float, shape: tuple[int, int]
) -> None:
    studio.settings.set(scale=scale)
    studio.window.resize(*size)
    await _open(studio, place)
    studio.window.context.navigator.go("design")
    studio.window.frame_actions.set_size(*shape)
    await _quiet(studio)
    design = studio.window.page("design")
    assert isinstance(design, DesignPage)
    assert design.costs.calls.isVisible()
    assert {found for found in cut_in(studio.window) if "CostStrip" in found} == set()
    # A price that nobody knows is a longer word than most prices.
    design.costs.price.say("unknown", "price of this model", "")
    # The page may be wider than the window, so that a smaller window resizes nothing.
    QApplication.sendEvent(design.costs, QResizeEvent(design.costs.size(), design.costs.size()))
    await _quiet(studio)
    assert design.costs.price.word.text() == "price of this model"
    assert {found for found in cut_in(studio.window) if "CostStrip" in found} == set()


async def test_at_the_usual_size_the_cost_strip_has_room_for_all_its_buttons(studio: Studio, place: Path) -> None:
    studio.window.resize(1440, 900)
    await _open(studio, place)
    studio.window.context.navigator.go("design")
    await _quiet(studio)
    design = studio.window.page("design")
    assert isinstance(design, DesignPage)
    costs = design.costs
    for widget in (costs.tokens, costs.paid, costs.open, costs.time, costs.limits, costs.try_models, costs.experiments):
        assert widget.isVisible(), widget.accessibleName()


# The finder itself


@contextmanager
def _row(qtbot: QtBot, *widgets: QWidget, width: int = 60) -> Iterator[QWidget]:
    window = QWidget()
    row = QHBoxLayout(window)
    for widget in widgets:
        widget.setFixedWidth(width)
        row.addWidget(widget)
    qtbot.addWidget(window)
    window.show()
    yield window


@pytest.mark.parametrize("width", [60, 400])
def test_the_finder_knows_what_is_cut_from_what_is_not(qtbot: QtBot, width: int) -> None:
    combo, tabs, table, wrapped = (
        QComboBox(),
        QTabBar(),
        QTableWidget(1, 1),
        label("many words in few px " * 4, wrap=True),
    )
    combo.addItem("none of the systems")
    tabs.addTab("What it read in detail")
    table.setHorizontalHeaderLabels(["A header with words"])
    table.setColumnWidth(0, width)
    hint, spin = QLineEdit(), QSpinBox()
    hint.setPlaceholderText("Paste the key of this endpoint")
    spin.setRange(0, 10**9)
    spin.setValue(10**9)
    wrapped.setFixedHeight(30 if width == 60 else 200)
    parts = (QLabel("A label with many words"), QPushButton("Try the models now"), combo, tabs, hint, spin, wrapped)
    elided = ElidedLabel("A label that ends in an ellipsis")
    with _row(qtbot, *parts, elided, table, width=width) as window:
        found = {type(widget) for widget, _, _ in cut_widgets(window)}
        cut = width == 60
        for widget in (*parts, elided, table.horizontalHeader()):
            kind = QLineEdit if isinstance(widget, QSpinBox) else type(widget)
            assert (kind in found) == cut, kind


def test_the_finder_sees_what_stands_beyond_its_place_unless_that_scrolls(qtbot: QtBot) -> None:
    holder = QWidget()
    holder.setFixedSize(80, 30)
    inside = QLabel("beyond the edge of it", holder)
    inside.adjustSize()
    inside.move(40, 4)
    area = QScrollArea()
    wide = label("wide words in an area that scrolls")
    wide.setMinimumWidth(600)
    area.setWidget(wide)
    window = QWidget()
    row = QHBoxLayout(window)
    row.addWidget(holder)
    row.addWidget(area)
    qtbot.addWidget(window)
    window.resize(300, 100)
    window.show()
    assert [widget for widget, _, _ in cut_widgets(window)] == [inside]
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    assert {widget for widget, _, _ in cut_widgets(window)} == {inside, wide}


def test_the_finder_sees_labels_that_lie_over_each_other_and_painted_texts(qtbot: QtBot) -> None:
    window = QWidget()
    one, other = QLabel("one text here", window), QLabel("another text", window)
    other.move(30, 0)
    qtbot.addWidget(window)
    window.resize(300, 60)
    window.show()
    assert list(overlapping(window)) == [(one, other)]
    other.move(0, 40)
    assert list(overlapping(window)) == []
    with painted_texts() as painted:
        picture = QPixmap(200, 40)
        painter = QPainter(picture)
        painter.drawText(QRectF(0, 0, 20, 20), Qt.AlignmentFlag.AlignLeft, "too long for its box")
        painter.drawText(QRectF(0, 0, 200, 20), Qt.AlignmentFlag.AlignLeft, "fits")
        painter.fontMetrics().elidedText("too long for its room", Qt.TextElideMode.ElideRight, 30)
        painter.fontMetrics().elidedText("fits", Qt.TextElideMode.ElideRight, 300)
        painter.end()
    assert [text for _, text, _ in painted] == ["too long for its box", "too long for its room"]
