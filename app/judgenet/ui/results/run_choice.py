"""Menus of the project's runs in the top bar: the run in focus, and the run that it is compared with."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from judgenet.core.wording import clean, near_day
from judgenet.report.outline_tables import STATES
from judgenet.store.runs import RunInfo
from judgenet.store.shards import ShardsInRun
from judgenet.ui import clock
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.state import ResultsState
from judgenet.ui.run_state import RunState
from judgenet.ui.widgets import set_kind

_MOST = 40
"""The menus show at most so many runs: the newest."""


def called(run: RunInfo) -> str:
    """A run by its number, and by its name where it has one: "Run 12 “Baseline”"."""
    name = clean(run.name).replace("&", "&&")
    shards = ShardsInRun.of_run(run)
    part = f", {shards.words}" if shards is not None and shards.lacking else ""
    return texts.run_named(run.number, name, part)


def run_line(run: RunInfo) -> str:
    """A run in one line: "Run 12 “Baseline”, yesterday, Network 4 × 3; stopped"."""
    name = clean(str(run.record.get("network", {}).get("name", ""))).replace("&", "&&")
    shards = ShardsInRun.of_run(run)
    whole = run.state == "done" or (shards is not None and bool(shards.lacking))
    state = "" if whole else f"; {STATES[run.state][0].lower()}{STATES[run.state][1:]}"
    return f"{called(run)}, {near_day(run.created_at, clock.today())}{', ' if name else ''}{name}{state}"


class RunChoice(QToolButton):
    """The run in focus, with a menu that puts another run into focus."""

    def __init__(self, run_state: RunState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run_state = run_state
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        set_kind(self, "menu")
        self._menu = QMenu(self)
        self._menu.setAccessibleName(texts.RUNS)
        self.setMenu(self._menu)
        self._menu.aboutToShow.connect(self._fill)
        run_state.run_changed.connect(self.refresh)
        run_state.runs_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Shows the run in focus."""
        run = self._run_state.run
        self.setText(texts.NO_RUN_YET if run is None else texts.run(run.number))
        self.setAccessibleName(texts.WHICH_RUN if run is None else texts.choose_another(self.text()))
        tip = "" if run is None else "\n".join(part for part in (run_line(run), clean(run.note)) if part)
        self.setToolTip(tip.replace("&&", "&"))
        self.setEnabled(bool(self._run_state.runs))

    def _fill(self) -> None:
        self._menu.clear()
        group = QActionGroup(self._menu)
        current = self._run_state.run
        for run in reversed(self._run_state.runs[-_MOST:]):
            action = QAction(run_line(run), self._menu)
            action.setCheckable(True)
            action.setChecked(current is not None and run.id == current.id)
            action.setData(run.id)
            action.triggered.connect(self._chosen)
            group.addAction(action)
            self._menu.addAction(action)

    def _chosen(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self._run_state.show_run(action.data())


class CompareChoice(QToolButton):
    """A menu of the runs that the run in focus can be compared with."""

    def __init__(self, run_state: RunState, results: ResultsState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run_state = run_state
        self._results = results
        self.setText(texts.COMPARE)
        self.setIcon(icon("plus", "text2"))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setAccessibleName(texts.COMPARE_WITH_ANOTHER)
        set_kind(self, "menu")
        self._menu = QMenu(self)
        self._menu.setAccessibleName(texts.RUNS_TO_COMPARE_WITH)
        self.setMenu(self._menu)
        self._menu.aboutToShow.connect(self._fill)
        run_state.run_changed.connect(self.refresh)
        run_state.runs_changed.connect(self.refresh)
        results.changed.connect(self.refresh)
        self.refresh()
        measure(self, icon=16)

    def refresh(self) -> None:
        """Shows which run is compared with, if any."""
        others = [run for run in self._run_state.runs if self._is_other(run)]
        self.setEnabled(bool(others))
        beside = next((run for run in others if run.id == self._results.other_id), None)
        self.setText(texts.COMPARE if beside is None else texts.compared_with_run(beside.number))
        self.setAccessibleName(texts.COMPARE_WITH_ANOTHER if beside is None else texts.choose_another(self.text()))
        self.setToolTip(texts.COMPARE_TIP if others else texts.NO_OTHER_RUN)

    def open(self) -> None:
        """Opens the menu."""
        self._menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def _is_other(self, run: RunInfo) -> bool:
        return self._run_state.run is not None and run.id != self._run_state.run.id

    def _fill(self) -> None:
        self._menu.clear()
        if self._results.other_id is not None:
            none = QAction(texts.NO_COMPARISON, self._menu)
            none.triggered.connect(self._chosen)
            self._menu.addAction(none)
        for run in reversed([run for run in self._run_state.runs if self._is_other(run)][-_MOST:]):
            action = QAction(run_line(run), self._menu)
            action.setData(run.id)
            action.triggered.connect(self._chosen)
            self._menu.addAction(action)

    def _chosen(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self._results.compare_with(action.data())
