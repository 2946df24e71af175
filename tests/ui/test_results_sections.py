"""The quick ways through the page Results: its menu of sections, and the palette."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QFrame, QMenu

from judgenet.ui.app import Studio
from judgenet.ui.pages.results import ResultsPage
from judgenet.ui.results.figures_table import FiguresTable
from judgenet.ui.results.panel import Panel
from tests.ui.conftest import settle, until
from tests.ui.story import story_network, story_pairs, story_project
from tests.ui.test_results import judged, results_page


def menu_texts(page: ResultsPage) -> list[str]:
    menu = page.sections.menu()
    assert isinstance(menu, QMenu)
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def top_of(page: ResultsPage, panel: QFrame) -> int:
    """Where a panel begins, in px below the top of what is in view."""
    return panel.mapTo(page.area.viewport(), QPoint(0, 0)).y()


async def test_the_menu_leads_to_every_panel_of_the_run_in_the_order_of_the_page(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(40, labelled=0.85))
    await until(lambda: page.reliability.isVisible(), "the calibration")
    await settle()
    shown = [panel for panel in page.rows.findChildren(Panel) if panel.isVisible()]
    shown.sort(key=lambda panel: (panel.mapTo(page.rows, QPoint(0, 0)).y(), panel.mapTo(page.rows, QPoint(0, 0)).x()))
    assert menu_texts(page) == ["Win rate", *(panel.accessibleName() for panel in shown)]
    assert page.sections.accessibleName()
    menu = page.sections.menu()
    chosen = next(action for action in menu.actions() if action.text() == "What if")
    chosen.trigger()
    await until(lambda: 0 <= top_of(page, page.what_if) < 60, "What if at the top")
    focused = QApplication.focusWidget()
    assert focused is not None
    assert page.what_if.isAncestorOf(focused)


async def test_the_palette_leads_to_a_panel_from_another_page(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(40, labelled=0.85))
    context = studio.window.context
    context.actions.trigger("page.design")
    await settle()
    found = studio.window.palette_popup.matches("results: left out")
    assert found[0].text == "Results: Left out, and why"
    context.actions.trigger(found[0].id)
    assert context.navigator.page == "results"
    await until(lambda: 0 <= top_of(page, page.left_out) < page.area.viewport().height(), "the panel in view")
    two_runs = studio.window.palette_popup.matches("results: two runs")[0]
    assert context.actions.why_not(two_runs.id) == "Not part of the results of this run."


async def test_without_a_run_there_is_nothing_to_go_to(studio: Studio, place: Path) -> None:
    context = studio.window.context
    context.document.open(story_project(place, story_pairs(6), story_network(2, None)))
    await until(lambda: len(context.document.pairs) == 6, "the pairs")
    context.actions.trigger("page.results")
    assert not results_page(studio).sections.isEnabled()
    action = studio.window.palette_popup.matches("results: what if")[0]
    assert context.actions.why_not(action.id) == "There is no run yet."


async def test_the_lines_of_a_table_end_where_the_table_does(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(40, labelled=0.85))
    await until(lambda: page.worth.isVisible(), "the effective votes")
    await settle()
    tables = [table for table in page.rows.findChildren(FiguresTable) if table.isVisible()]
    assert page.worth.table in tables
    for table in tables:
        widths = sum(table.columnWidth(column) for column in table.shown_columns)
        assert abs(widths - table.viewport().width()) <= 1, table.accessibleName()
