"""Experiments in the studio: choose one, see its estimate, run it, read its results."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.experiments import EXPERIMENTS, set_name
from judgenet.core.network import NetworkError
from judgenet.core.plan import PriceError
from judgenet.core.prompts import PromptError
from judgenet.core.wording import plural
from judgenet.engine.endpoints import EndpointError
from judgenet.engine.experiments import ExperimentEstimate, ExperimentStep
from judgenet.engine.session import Start, profiles_of
from judgenet.engine.setup import start_of
from judgenet.report.experiment_files import ResultsError, write_all
from judgenet.store.db import StoreError
from judgenet.store.labels import has_labels
from judgenet.ui.context import Context
from judgenet.ui.dialogs import ask_folder
from judgenet.ui.elements import label, upright
from judgenet.ui.experiments import texts, work
from judgenet.ui.experiments.plan import ExperimentPlan
from judgenet.ui.experiments.results_view import ResultsView
from judgenet.ui.measures import measure
from judgenet.ui.tasks import Job, JobCancelled
from judgenet.ui.widgets import Segment, set_kind

_WIDE: Final = 1120
_HIGH: Final = 680
_NARROW: Final = 880
"""Narrower than this many px at 100 %, the plan has one column."""
_WAIT_MS: Final = 200
_SHOW_MS: Final = 100


class _Superseded(Exception):
    """The settings changed while their estimate was being made."""


class ExperimentsDialog(QDialog):
    """The experiments of the open project. Their runs go into the project's store, so that all share calls; results go
    into a folder beside the project."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._window = parent
        self._key = next(iter(EXPERIMENTS))
        self._estimate: ExperimentEstimate | None = None
        self._shown: work.ExperimentView | None = None
        self._going = False
        self._stop_run = threading.Event()
        self._stop_estimate = threading.Event()
        self._progress: tuple[ExperimentStep, int] | None = None
        self.setWindowTitle(texts.EXPERIMENTS)
        self.setAccessibleName(texts.EXPERIMENTS)
        self._make()
        self._estimate_timer = QTimer(self)
        self._estimate_timer.setSingleShot(True)
        self._estimate_timer.setInterval(_WAIT_MS)
        self._estimate_timer.timeout.connect(self._start_estimate)
        self._shower = QTimer(self)
        self._shower.setInterval(_SHOW_MS)
        self._shower.timeout.connect(self._show_progress)
        context.theme.dress(self)
        self.finished.connect(self._closed)

    # The parts

    def _make(self) -> None:
        self.list = QListWidget()
        self.list.setAccessibleName(texts.EXPERIMENTS)
        for preset in EXPERIMENTS.values():
            item = QListWidgetItem(preset.title)
            item.setToolTip(preset.description)
            self.list.addItem(item)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setCurrentRow(0)
        self.list.currentRowChanged.connect(self._choose_experiment)
        self.title = label("", "section", wrap=True)
        self.view = Segment(texts.VIEW, (("plan", texts.PLAN), ("results", texts.RESULTS), ("method", texts.METHOD)))
        self.view.chosen.connect(self._show_view)
        head = QHBoxLayout()
        head.addWidget(self.title, stretch=1)
        head.addWidget(self.view)
        self.results = ResultsView()
        self.method = QPlainTextEdit()
        self.method.setReadOnly(True)
        self.method.setProperty("kind", "bare")
        self.method.setAccessibleName(texts.METHOD_AS_MARKDOWN)
        self.stack = QStackedWidget()
        self.plan = ExperimentPlan()
        self.plan.edited.connect(self._edited)
        for widget in (self.plan, self.results, self.method):
            self.stack.addWidget(widget)
        self.state = label("", tone="text2", wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(texts.PROGRESS)
        self.bar.setRange(0, 1000)
        self._make_buttons()
        foot = QHBoxLayout()
        foot.addWidget(self.state, stretch=1)
        for button in (self.save, self.stop, self.leave, self.begin):
            foot.addWidget(button)
        column = QVBoxLayout()
        column.addLayout(head)
        column.addWidget(self.stack, stretch=1)
        column.addWidget(self.bar)
        column.addLayout(foot)
        row = QHBoxLayout(self)
        row.addWidget(self.list)
        row.addWidget(upright())
        row.addLayout(column, stretch=1)
        measure(row, margins=(12, 16, 24, 16), spacing=16)
        measure(column, spacing=12)
        measure(foot, spacing=8)

    def _make_buttons(self) -> None:
        self.save = QPushButton(texts.SAVE_FILES)
        self.stop = QPushButton(texts.STOP)
        self.leave = QPushButton(texts.CLOSE)
        self.begin = QPushButton(texts.RUN)
        set_kind(self.begin, "primary")
        self.begin.setDefault(True)
        self.begin.clicked.connect(self._begin)
        self.stop.clicked.connect(self._stop)
        self.leave.clicked.connect(self.reject)
        self.save.clicked.connect(self._save)

    # Opening and closing

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        theme = self._context.theme.theme
        narrow = self.width() < theme.px(_NARROW)
        self.plan.set_narrow(narrow)
        self.list.setFixedWidth(theme.px(172 if narrow else 200))

    def show_for(self) -> None:
        """Opens the dialog for the project as it stands."""
        theme = self._context.theme.theme
        room = self._window.size()
        self.resize(
            QSize(min(theme.px(_WIDE), room.width() - theme.px(48)), min(theme.px(_HIGH), room.height() - theme.px(32)))
        )
        self._choose_experiment(self.list.currentRow())
        self.open()
        self.list.setFocus()

    def _closed(self) -> None:
        self._stop()
        self._stop_estimate.set()

    # The choice

    @property
    def folder(self) -> Path:
        """Where results are kept: beside the project."""
        file = self._context.document.file
        return Path() if file is None else file.with_name(f"{file.stem}-experiments")

    @property
    def results_in_view(self) -> Mapping[str, Any] | None:
        """The results in view."""
        return None if self._shown is None else self._shown.results

    def _choose_experiment(self, row: int) -> None:
        """Shows an experiment, with the results of its last run."""
        if row < 0 or self._going:
            return
        self._key = list(EXPERIMENTS)[row]
        preset = EXPERIMENTS[self._key]
        self.title.setText(preset.title)
        tasks = {pair.task for pair in self._context.document.pairs} - {None}
        self.plan.choose(self._key, tasks=bool(tasks))
        self._set_results(None)
        self._edited()
        self._context.tasks.start(self._show_earlier(self._key), texts.LOOK_FOR_RESULTS)

    async def _show_earlier(self, key: str) -> None:
        """Shows the results of the experiment's last run."""
        try:
            earlier = await self._context.tasks.off_thread(work.earlier, self.folder, key)
        except ResultsError as error:
            self._context.errors.post_exception(error)
            return
        if key == self._key and not self._going and self._shown is None:
            self._set_results(earlier)
            self._refresh()

    def _edited(self, *_: object) -> None:
        """Shows the fields that go with a changed setting, and estimates anew."""
        self.plan.show_fields()
        self._estimate = None
        self._refresh()
        self._stop_estimate.set()
        self._estimate_timer.start()

    def _start(self) -> Start:
        document = self._context.document
        return start_of(
            document.project, document.pairs, document.profiles, folder=document.folder, dataset=document.dataset
        )

    def _why_not(self) -> str:
        return self._context.runner.why_not()

    # The estimate

    def _start_estimate(self) -> None:
        if not self._context.document.pairs or not self.isVisible():
            return
        stop = self._stop_estimate = threading.Event()
        self._context.tasks.start(self._make_estimate(stop), texts.ESTIMATE_COST)

    async def _make_estimate(self, stop: threading.Event) -> None:
        def check() -> None:
            if stop.is_set():
                raise _Superseded

        store = self._context.document.own_store
        try:
            estimate = await self._context.tasks.off_thread(
                work.estimate, self.plan.choice(), self._start(), store, check
            )
        except _Superseded:
            return
        except (NetworkError, PriceError, PromptError, StoreError, sqlite3.Error) as error:
            self.plan.show_estimate((), str(error))
            return
        if not stop.is_set():
            self._estimate = estimate
            self._refresh()

    # Running

    def _begin(self) -> None:
        if not self._going and not self._why_not():
            self._context.tasks.start(self._run(), texts.RUN_EXPERIMENT)

    def _stop(self) -> None:
        self._stop_run.set()

    async def _run(self) -> None:
        context, document = self._context, self._context.document
        try:
            choice, start = self.plan.choice(), self._start()
            store = document.own_store
            assert store is not None
            allowed = await document.approvals.may_send(profiles_of(start))
            # The user may have opened another project, or begun a run, while the question was open.
            if not allowed or store is not document.own_store or self._why_not():
                return
            document.save()
            engine = context.runner.engine()
        except (NetworkError, PriceError, PromptError, StoreError) as error:
            context.errors.post_exception(error, texts.NOT_RUN)
            return
        name = "pairs"
        if document.project.pairs is not None and document.project.pairs.files:
            name = set_name(document.folder / document.project.pairs.files[0])
        setting = work.ExperimentSetting(engine, store, self.folder, name)
        stop = self._stop_run = threading.Event()
        ended = threading.Event()
        title = texts.experiment(EXPERIMENTS[self._key].title)

        def progress(step: ExperimentStep, asked: int) -> None:
            self._progress = (step, asked)

        def go(job: Job) -> work.ExperimentView:
            try:
                return work.run(choice, start, setting, progress, lambda: stop.is_set() or job.cancelled)
            finally:
                ended.set()

        self._going, self._progress = True, None
        self._shower.start()
        self._refresh()
        try:
            self._set_results(await context.tasks.job(title, go), go_there=True)
        except JobCancelled:
            # The thread ends within a second; until then nothing else may begin.
            await context.tasks.off_thread(ended.wait)
        except (ResultsError, EndpointError, NetworkError, StoreError, OSError) as error:
            context.errors.post_exception(error, title)
        finally:
            self._going = False
            self._shower.stop()
            context.run_state.refresh_runs()
        self._edited()

    def _show_progress(self) -> None:
        if self._progress is None:
            return
        step, asked = self._progress
        most = self._estimate.calls_open.high if self._estimate is not None else 0
        self.bar.setValue(round(1000 * min(1.0, asked / most)) if most else 0)
        network = step.arm.title
        self.state.setText(
            texts.calls_asked_of(step.number, step.total, network, asked, most)
            if most
            else texts.calls_asked(step.number, step.total, network, asked)
        )

    # The view

    def _show_view(self, key: str) -> None:
        self.stack.setCurrentIndex(("plan", "results", "method").index(key))

    def _set_results(self, shown: work.ExperimentView | None, *, go_there: bool = False) -> None:
        """Sets the results in view; with ``go_there`` also turns to them."""
        self._shown = shown
        for key in ("results", "method"):
            self.view.button(key).setEnabled(shown is not None)
        self.results.show_results(shown)
        self.method.setPlainText("" if shown is None else shown.method)
        if shown is None or go_there:
            key = "plan" if shown is None else "results"
            self.view.set_current(key)
            self._show_view(key)

    def _refresh(self) -> None:
        going = self._going
        why = "" if going else self._why_not()
        self.list.setEnabled(not going)
        self.plan.setEnabled(not going)
        self.begin.setEnabled(not going and not why)
        self.begin.setToolTip(why)
        self.stop.setVisible(going)
        self.bar.setVisible(going)
        self.save.setEnabled(self._shown is not None and not going)
        states = [figures.state for figures in self._shown.results.sets] if self._shown is not None else []
        again = any(state != "done" for state in states)
        self.begin.setText(texts.RESUME if again else texts.RUN)
        if not going:
            where = "" if self._shown is None else texts.results_are_in(self.folder / self._key)
            self.state.setText(why or where)
        self._show_estimate()

    def _show_estimate(self) -> None:
        preset, pairs = EXPERIMENTS[self._key], self._context.document.pairs
        store = self._context.document.own_store
        has_human = any(pair.human for pair in pairs) or (store is not None and has_labels(store))
        unlabelled = preset.labels and pairs and not has_human
        text = texts.no_human_labels(plural(len(pairs), "pair"))
        lines = [(texts.CALLS, texts.CALCULATING)] if self._estimate is None else self._estimate.lines()
        self.plan.show_estimate(lines, text if unlabelled else "")

    # Files

    def _save(self) -> None:
        self._context.tasks.start(self._ask_and_save(), texts.SAVE_RESULTS)

    async def _ask_and_save(self) -> None:
        shown = self._shown
        if shown is None:
            return
        folder = await ask_folder(self, texts.FOLDER_FOR_RESULTS, str(self._context.document.folder))
        if folder is None:
            return
        try:
            files = await self._context.tasks.off_thread(partial(write_all, folder, shown.results))
        except ResultsError as error:
            self._context.errors.post_exception(error)
            return
        self.state.setText(texts.files_written(folder, ", ".join(path.name for path in files)))
