"""The page Report: a preview of the report of the run in focus, the choice of its parts, and saving it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final, Literal

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPlainTextEdit,
    QStackedWidget,
    QWidget,
)

from judgenet.core.wording import clean, plural
from judgenet.report.bias_figures import lab_mark
from judgenet.report.blocks import ReportDocument, drawings
from judgenet.report.drawing import of_theme, svg
from judgenet.report.forms import FORMS
from judgenet.report.model import Report
from judgenet.report.outline import Sections, outline, sections
from judgenet.report.short import short_document, short_figures
from judgenet.report.writers.markdown import markdown
from judgenet.report.writers.pdf import font_warning, page_pictures
from judgenet.store.files import FileError, atomic_write
from judgenet.ui.actions import Action, known_action
from judgenet.ui.canvas.export import ExportError, network_png, network_svg
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.context import Context
from judgenet.ui.design.state import design_state
from judgenet.ui.dialogs import ask_folder, ask_save_file
from judgenet.ui.errors import MessageButton
from judgenet.ui.export import png
from judgenet.ui.measures import measure
from judgenet.ui.navigation import PageKey
from judgenet.ui.pages import texts
from judgenet.ui.pages.of_run import OfRunPage
from judgenet.ui.report_panel import ReportPanel
from judgenet.ui.results.page_view import PageView
from judgenet.ui.results.state import OtherRun, Results
from judgenet.ui.tasks import Job, JobCancelled

_WAIT_MS: Final = 60


class ReportPage(OfRunPage):
    """The page Report."""

    key: ClassVar[PageKey] = "report"
    smallest = (780, 400)
    primary: ClassVar[str] = "report.save"
    primary_kind: ClassVar[Literal["primary", "normal"]] = "primary"
    would_be: ClassVar[str] = texts.WHAT_THE_REPORT_WILL_SHOW

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._shown: Results | None = None
        self._document: ReportDocument | None = None
        self._sections: Sections | None = None
        self._report: Report | None = None
        self._more: tuple[Hashable, str, Report | None] = (None, "", None)
        self._beside: OtherRun | None = None
        self._computing = False
        self._task: asyncio.Task[None] | None = None
        self._laid_out: ReportDocument | None = None
        self._layout: asyncio.Task[None] | None = None

        self.pages = PageView()
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setProperty("type", "mono")
        self.text.setProperty("kind", "bare")
        self.text.setAccessibleName(texts.REPORT_AS_MARKDOWN)
        self.views = QStackedWidget()
        self.views.addWidget(self.pages)
        self.views.addWidget(self.text)
        self.stack.addWidget(self.views)
        self.panel = ReportPanel(self._state.studies)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.stack, 1)
        row.addWidget(self.panel)

        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self._compose)
        context.document.opened.connect(self._forget)
        self._add_actions()
        self.panel.view_chosen.connect(self._view_chosen)
        self.panel.length_chosen.connect(self._length_chosen)
        self.panel.parts_changed.connect(self._parts_changed)
        self.panel.studies_chosen.connect(self._state.choose_studies)
        self.panel.save_wanted.connect(self.save_as)
        self.panel.picture_wanted.connect(self._save_picture)
        measure(self.text, font="mono", inside=24)
        self.follow()

    # Making

    def _add_actions(self) -> None:
        self.context.actions.add(
            known_action("report.save", self.save, self._can_save),
            *(
                Action(
                    f"report.save_{ending[1:]}",
                    texts.save_report_as(form.name),
                    self._saver(ending),
                    "",
                    "export",
                    self._can_save,
                    words=texts.SEARCH_WORDS_OF_SAVING,
                )
                for ending, form in FORMS.items()
            ),
        )

    def _saver(self, ending: str) -> Callable[[], None]:
        return lambda: self.save_as(ending)

    # Called by the window

    def regions(self) -> Sequence[QWidget]:
        return (self.stack, self.panel)

    # What is shown

    def _forget(self) -> None:
        self._shown = self._document = self._sections = self._report = None
        self._more = (None, "", None)
        self._laid_out = None
        self.pages.show_pages(())
        self.text.clear()

    def _can_save(self) -> bool | str:
        if self._document is None:
            return texts.NO_REPORT_YET
        return not self._computing or texts.STILL_CALCULATED

    @property
    def whole(self) -> bool:
        """Whether the report in view is complete."""
        return self._can_save() is True and self._laid_out is self._document

    def _refresh(self) -> None:
        """Shows the present state."""
        results, beside = self._state.results, self._state.beside
        if self._show_missing() or results is None:
            self._shown = self._document = self._sections = self._report = self._beside = None
        elif self._in_view and (results is not self._shown or beside is not self._beside):
            self._shown, self._beside = results, beside
            self._computing = True
            self._show_about(results)
            self._task = self.context.tasks.start(self._read_sections(results), texts.LAY_OUT_THE_REPORT)
        self.panel.setVisible(self._state.run is not None)
        self._refresh_buttons()

    def _show_about(self, results: Results) -> None:
        report = results.report
        self.panel.title.setText(texts.report_of_run(results.run.number))
        self.panel.about.setText(f"{clean(report.spec.name)}, {plural(report.data.pairs, 'pair')}")

    def _refresh_buttons(self) -> None:
        can_save = self._can_save() is True
        self.panel.enable(ready=can_save)
        self.context.actions.refresh()

    def _parts_changed(self) -> None:
        if self._sections is not None:
            self._soon.start()

    def _length_chosen(self, _key: str) -> None:
        self._enable_parts()
        if self._sections is not None:
            self._compose()

    def _enable_parts(self) -> None:
        """Enables the parts for which the run has data; the short report has its own parts."""
        self.panel.studies.setEnabled(not self.panel.short)
        if self._sections is not None:
            self.panel.enable_parts(self._sections, self._beside)

    def _view_chosen(self, key: str) -> None:
        self.views.setCurrentWidget(self.pages if key == "pages" else self.text)

    async def _read_sections(self, results: Results) -> None:
        """Makes the parts in a thread: first those that are available at once, then those that take computing."""
        run, report = results.run, results.report
        key = (run.id, run.finished_at, report.decides, report.spec.aggregation)
        store = self.context.document.store
        lab = "" if store is None else await self.context.tasks.off_thread(lab_mark, store)
        known_key, known_lab, deep = self._more
        if deep is not None and (known_key, known_lab) == (key, lab):
            self._computing = False
            await self._show_parts(results, replace(report, more=deep.more, bias=deep.bias))
            return
        self._computing = store is not None and run.state != "running"
        await self._show_parts(results, report)
        if store is None or run.state == "running" or results is not self._shown:
            # While a run goes on, its figures change every few seconds.
            return

        def work(job: Job) -> Report:
            # Loaded late, so that the window opens sooner.
            from judgenet.report.judge_analysis import deepen

            def on_step(_name: str) -> None:
                job.check()

            return deepen(store, report, results.frame, on_step=on_step)

        try:
            deep = await self.context.tasks.job(texts.CALCULATE_PANELS_AND_WEIGHTS, work)
            if results is self._shown:
                self._more = (key, lab, deep)
                await self._show_parts(results, deep)
        except JobCancelled:
            # The report stays without these parts.
            pass
        finally:
            if results is self._shown:
                self._computing = False
                self._refresh_buttons()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._shown is not None and self.whole:
            self._task = self.context.tasks.start(self._look_at_lab(self._shown), texts.LOOK_FOR_A_NEWER_LAB)

    async def _look_at_lab(self, results: Results) -> None:
        """Reads the report again where the bias lab has new results."""
        store = self.context.document.store
        if store is None or self._more[2] is None:
            return
        lab = await self.context.tasks.off_thread(lab_mark, store)
        if results is self._shown and lab != self._more[1] and not self._computing:
            await self._read_sections(results)

    async def _show_parts(self, results: Results, report: Report) -> None:
        beside = self._beside
        if beside is not None:
            report = await self.context.tasks.off_thread(self._with_beside, results, report, beside)
        parts = await self.context.tasks.off_thread(sections, report)
        if results is self._shown and beside is self._beside:
            self._report, self._sections = report, parts
            self._enable_parts()
            self._compose()

    def _with_beside(self, results: Results, report: Report, beside: OtherRun) -> Report:
        """The report compared with another run; runs in a thread."""
        from judgenet.report.run_comparison import compare_runs

        store = self.context.document.store
        if store is None or not beside.common:
            return report
        other_run = beside.other
        return compare_runs(store, results.run, report, results.frame, store, other_run.run, read=other_run.frame)

    def _compose(self) -> None:
        """Puts the chosen parts together."""
        report = self._report
        if report is None or self._sections is None:
            return
        document = (
            short_document(report) if self.panel.short else outline(report, self.panel.chosen_parts, self._sections)
        )
        self._document = document
        where = self.text.verticalScrollBar().value()
        self.text.setPlainText(markdown(document))
        self.text.verticalScrollBar().setValue(where)
        self._refresh_buttons()
        self._layout = self.context.tasks.start(self._lay_out(document), texts.LAY_OUT_THE_PAGES)

    async def _lay_out(self, document: ReportDocument) -> None:
        """Shows the pages of a document, unless it was replaced meanwhile."""
        pictures = await self.context.tasks.off_thread(page_pictures, document)
        if document is not self._document:
            return
        page = self.pages.page
        self.pages.show_pages(pictures, document.title)
        self.pages.go_to(page)
        self._laid_out = document
        self.stack.setCurrentWidget(self.views)

    # Saving

    def _save_picture(self, what: str, ending: str) -> None:
        work = self._save_charts(ending) if what == "charts" else self._save_network(ending)
        self._task = self.context.tasks.start(work, texts.SAVE_PICTURES)

    def save(self) -> None:
        """Asks where to save the report, and in which form."""
        self._task = self.context.tasks.start(self._ask_and_save(None), texts.SAVE_THE_REPORT)

    def save_as(self, ending: str) -> None:
        """Asks where to save the report in one form."""
        self._task = self.context.tasks.start(self._ask_and_save(ending), texts.SAVE_THE_REPORT)

    def _suggestion(self, ending: str) -> Path:
        number = 0 if self._shown is None else self._shown.run.number
        folder = self.context.document.folder if self.context.document.path is not None else Path.home()
        return folder / f"{'short-' if self.panel.short else ''}report-run-{number}{ending}"

    async def _ask_and_save(self, ending: str | None) -> None:
        forms = {known: form for known, form in FORMS.items() if ending in (None, known)}
        filters = [f"{form.name} (*{known})" for known, form in forms.items()]
        suggestion = self._suggestion(ending or ".html")
        path = await ask_save_file(self, texts.SAVE_THE_REPORT, filters, suggestion, (ending or ".html")[1:])
        if path is not None:
            await self.write(path)

    async def write(self, path: Path) -> None:
        """Writes the report; the ending of the file says in which form."""
        report, document = self._report, self._document
        if report is None or document is None:
            return
        form = FORMS.get(path.suffix.lower())
        if form is None:
            self.context.errors.post(texts.known_endings(", ".join(FORMS)), path.name, level="warning")
            return
        figures = short_figures(report) if self.panel.short else report

        def work(job: Job) -> str:
            written = form.write(figures, document)
            job.check()
            atomic_write(path, written)
            return font_warning(document) if path.suffix.lower() == ".pdf" else ""

        try:
            warning = await self.context.tasks.job(texts.write(form.name), work)
        except JobCancelled:
            return
        except FileError as error:
            self.context.errors.post_exception(error)
            return
        if warning:
            self.context.errors.post(warning[:1].upper() + warning[1:], path.name, level="warning")
        self._say_saved(path)

    async def _save_charts(self, ending: str) -> None:
        results, document = self._shown, self._document
        if results is None or document is None:
            return
        folder = await ask_folder(self, texts.SAVE_ALL_CHARTS, str(self._suggestion("").parent))
        if folder is None:
            return
        prefix = f"run-{results.run.number}"
        pictures = list(drawings(document))

        def work(job: Job) -> int:
            for number, (title, drawing) in enumerate(pictures, 1):
                job.report(number - 1, len(pictures), title)
                content: str | bytes = svg(drawing, of_theme("light"), alone=True) if ending == ".svg" else png(drawing)
                atomic_write(folder / f"{prefix}-{number:02}-{_slug(title)}{ending}", content)
            return len(pictures)

        try:
            count = await self.context.tasks.job(texts.WRITE_THE_CHARTS, work)
        except JobCancelled:
            return
        except FileError as error:
            self.context.errors.post_exception(error)
            return
        self._say_saved(folder, plural(count, "chart"))

    async def _save_network(self, ending: str) -> None:
        results = self._shown
        if results is None:
            return
        suggestion = self._suggestion("").with_name(f"network-run-{results.run.number}{ending}")
        name = ending[1:]
        path = await ask_save_file(self, texts.SAVE_THE_NETWORK, [f"{name.upper()} (*{ending})"], suggestion, name)
        if path is None:
            return
        spec = results.report.spec
        state = design_state(spec, self.context.document.profiles, (), results.report.decides, None, 0, editable=False)
        scene = NetworkScene(self.context.theme.theme, state)
        try:
            if ending == ".svg":
                atomic_write(path, network_svg(scene, title=clean(spec.name)))
            else:
                network_png(scene, path)
        except (ExportError, FileError) as error:
            self.context.errors.post_exception(error)
            return
        finally:
            scene.deleteLater()
        self._say_saved(path)

    def _say_saved(self, path: Path, what: str = "") -> None:
        folder = path if path.is_dir() else path.parent
        show = MessageButton(texts.SHOW_FOLDER, lambda: _open_outside(folder))
        text = texts.saved(what) if what else texts.SAVED
        if path.is_dir():
            self.context.errors.post(text, str(path), show, level="note")
        else:
            opener = MessageButton(texts.OPEN, lambda: _open_outside(path))
            self.context.errors.post(text, str(path), opener, level="note", second=show)


def _open_outside(path: Path) -> None:
    """Opens a file or folder with the system's program for it."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def _slug(title: str) -> str:
    """A title as part of a file's name."""
    return re.sub(r"[^\w]+", "-", clean(title), flags=re.UNICODE).strip("-").lower()[:48] or "chart"
