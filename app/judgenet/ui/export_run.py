"""Export of the run in focus for other programs: what, whose verdicts, and where to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QDialog, QFormLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from judgenet.core.aggregate import aggregation_names, deciding
from judgenet.core.wording import aggregation_title, plural
from judgenet.store.db import Store, StoreError
from judgenet.store.files import FileError
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo
from judgenet.ui import texts
from judgenet.ui.context import Context
from judgenet.ui.dialogs import ask_folder, ask_save_file
from judgenet.ui.elements import ComboBox, add_row, label
from judgenet.ui.measures import measure
from judgenet.ui.tasks import Job, JobCancelled
from judgenet.ui.widgets import set_kind

if TYPE_CHECKING:
    from judgenet.report.run_files import ExportedRun
    from judgenet.report.run_records import Record

_SAYS: Final[dict[str, str]] = {
    "calls": texts.EXPORT_OF_CALLS,
    "verdicts": texts.EXPORT_OF_VERDICTS,
    "pairs": texts.EXPORT_OF_PAIRS,
    "roles": texts.EXPORT_OF_ROLES,
    "labels": texts.EXPORT_OF_LABELS,
    "preferences": texts.EXPORT_OF_PREFERENCES,
    "systems": texts.EXPORT_OF_SYSTEMS,
    "llm-comparator": texts.EXPORT_FOR_LLM_COMPARATOR,
    "argilla": texts.EXPORT_FOR_ARGILLA,
    "label-studio": texts.EXPORT_FOR_LABEL_STUDIO,
    "explorer": texts.EXPORT_AS_EXPLORER,
    "dataset": texts.EXPORT_AS_DATASET,
}
_OF_VERDICTS: Final = ("preferences", "systems", "argilla", "label-studio", "dataset")
"""The exports that take the verdicts of one aggregation."""
_FORMATS: Final = {"jsonl": texts.JSON_LINES, "csv": texts.CSV, "parquet": texts.PARQUET, "json": texts.JSON}
_WIDE: Final = 520


class ExportDialog(QDialog):
    """Asks what of the run in focus is exported, and whose verdicts it has."""

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._over = parent
        self.setWindowTitle(texts.EXPORT_THE_RUN)
        self.setAccessibleName(texts.EXPORT_THE_RUN)
        self.kind = ComboBox(texts.WHAT_IS_EXPORTED)
        self.form = ComboBox(texts.FORMAT)
        self.source = ComboBox(texts.VERDICTS_OF)
        self.says = label("", tone="text2", wrap=True)
        self.export_button, self.cancel_button = QPushButton(texts.EXPORT_TO_A_FILE), QPushButton(texts.CANCEL)
        set_kind(self.export_button, "primary")
        self.export_button.setDefault(True)
        rows = QFormLayout()
        add_row(rows, texts.EXPORT, self.kind)
        add_row(rows, texts.FORMAT, self.form)
        add_row(rows, texts.VERDICTS_OF, self.source)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.export_button)
        column = QVBoxLayout(self)
        column.addLayout(rows)
        column.addWidget(self.says)
        column.addStretch(1)
        column.addLayout(buttons)
        measure(column, margins=24, spacing=16)
        measure(rows, across=24, down=14)
        measure(buttons, spacing=8)
        self._rows = rows
        self._run: RunInfo | None = None
        self.kind.currentIndexChanged.connect(self._turned)
        self.export_button.clicked.connect(self._export)
        self.cancel_button.clicked.connect(self.reject)

    def show_for(self, run: RunInfo) -> None:
        """Opens the dialog for a run."""
        from judgenet.report.run_files import RUN_EXPORTS, WHOLE_EXPORTS
        from judgenet.report.run_records import HUMAN

        self._run = run
        if not self.kind.count():
            for name, export in (RUN_EXPORTS | WHOLE_EXPORTS).items():
                self.kind.addItem(export.title, name)
        spec = network_of(run)
        self.source.clear()
        for name in aggregation_names(spec):
            self.source.addItem(aggregation_title(name), name)
        self.source.addItem(texts.HUMAN_LABELS, HUMAN)
        self.source.setCurrentIndex(self.source.findData(deciding(spec)))
        self._turned()
        theme = self._context.theme.theme
        self._context.theme.dress(self)
        self.resize(min(theme.px(_WIDE), self._over.width() - theme.px(32)), self.sizeHint().height())
        self.open()
        self.kind.setFocus()

    def _turned(self) -> None:
        from judgenet.report.run_files import RUN_EXPORTS

        kind = self.kind.currentData()
        self.says.setText(_SAYS.get(kind, ""))
        self.form.clear()
        formats = RUN_EXPORTS[kind].formats if kind in RUN_EXPORTS else ()
        for format_name in formats:
            self.form.addItem(_FORMATS[format_name], format_name)
        self._rows.setRowVisible(self.form, len(formats) > 1)
        self._rows.setRowVisible(self.source, kind in _OF_VERDICTS)

    def _export(self) -> None:
        store = self._context.document.store
        if store is None or self._run is None:
            return
        self.accept()
        chosen = (self.kind.currentData(), self.form.currentData(), self.source.currentData())
        self._context.tasks.start(self._write(store, self._run, *chosen), texts.EXPORT_THE_RUN)

    async def _write(self, store: Store, run: RunInfo, kind: str, form: str | None, source: str) -> None:
        path = await self._ask(run, kind, form)
        if path is None:
            return
        context = self._context
        try:
            exported, counts = await context.tasks.job(
                texts.export_to(path.name), lambda job: _written(store, run, kind, form, source, path, job)
            )
        except JobCancelled:
            context.errors.post(texts.export_was_stopped(path.name), level="note")
            return
        except (FileError, StoreError, sqlite3.Error) as error:
            context.errors.post_exception(error, texts.RUN_NOT_EXPORTED)
            return
        written = ", ".join(plural(count, unit) for unit, count in counts.items())
        pictures = f" {exported.pictures.words}." if exported.pictures.words else ""
        left_out = texts.left_out(exported.left_out_words) if exported.left_out else ""
        context.errors.post(texts.is_written(path.name, written, pictures + left_out), str(path), level="note")

    async def _ask(self, run: RunInfo, kind: str, form: str | None) -> Path | None:
        from judgenet.report.run_files import WHOLE_EXPORTS

        folder, title = self._context.document.folder, self.kind.currentText()
        if kind == "dataset":
            chosen = await ask_folder(self._over, texts.FOLDER_FOR_THE_DATA_SET, str(folder))
            return None if chosen is None else chosen / f"{run.id}-dataset"
        suffix = form or WHOLE_EXPORTS[kind].suffix.removeprefix(".")
        suggestion = folder / f"{run.id}-{kind}.{suffix}"
        return await ask_save_file(self._over, title, (f"{title} (*.{suffix})",), suggestion, suffix)


def _written(
    store: Store, run: RunInfo, kind: str, form: str | None, source: str, path: Path, job: Job
) -> tuple[ExportedRun, dict[str, int]]:
    """Writes an export in a thread; a job that is stopped leaves no file."""
    from judgenet.report.run_files import RUN_EXPORTS, WHOLE_EXPORTS, ExportedRun, write_export

    exported = ExportedRun.of(store, run, source)
    if kind in WHOLE_EXPORTS:
        return exported, WHOLE_EXPORTS[kind].write(exported, path)
    records = RUN_EXPORTS[kind].of(exported)

    def watched() -> Iterator[Record]:
        for record in records.make():
            job.check()
            yield record

    format = next(candidate for candidate in RUN_EXPORTS[kind].formats if candidate == form)
    return exported, {records.unit: write_export(replace(records, make=watched), format, path)}
