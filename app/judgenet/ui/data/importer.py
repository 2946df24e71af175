"""An import in progress: opens files, keeps decisions, checks them in threads, and hands the pairs to the document."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QUndoCommand

from judgenet.core.matches import Matches
from judgenet.core.pairs import Verdict
from judgenet.core.project import PairsSource, ProjectError, Selection, select
from judgenet.engine.importing import ImportDraft, ImportShape, MappingPreview, cost_line, look, read
from judgenet.engine.setup import edited, picture_rule, refusing
from judgenet.formats import (
    DataError,
    Dataset,
    EncodingError,
    LabelValues,
    OpenFiles,
    PairMapping,
    Watch,
    open_files,
    release_memory,
)
from judgenet.ui.context import Context
from judgenet.ui.data import texts
from judgenet.ui.data.import_view import file_names, mend_words, place_words
from judgenet.ui.errors import MessageButton
from judgenet.ui.tasks import Job, JobCancelled

CHECK_WAIT_MS: Final = 120
"""How long decisions are gathered before they are checked."""

_NO_VALUES: Final = LabelValues({}, {})
OTHER_ENCODING: Final = "cp1252"


class _Superseded(Exception):
    """Another decision was made meanwhile."""


class _DraftEdit(QUndoCommand):
    """A decision of an import. When the import ends, its decisions can no longer be undone one by one."""

    def __init__(self, importer: Importer, text: str, before: ImportDraft, after: ImportDraft) -> None:
        super().__init__(text)
        self._importer = importer
        self._before = before
        self._after = after

    def redo(self) -> None:
        self._importer.put_draft(self._after)

    def undo(self) -> None:
        self._importer.put_draft(self._before)


class Importer(QObject):
    """One import at a time.

    Attributes:
        files: the files that are imported; empty where there is no import.
        opened: the tables in the files, ``None`` while they are read.
        draft: the decisions so far.
        seen: a quick preview of what the draft gives.
        dataset: all pairs as the draft reads them, with none left out; ``None`` while they are read.
        problem: what is wrong with the pairs as a whole.
        seconds: how long it took to open the files.
        cost: what judging the pairs would cost, in words; empty where it is not asked for or not known yet.

    Signals:
        changed: any of these changed.
        began, ended: an import begins to read its files, and ends.
    """

    changed = Signal()
    began = Signal()
    ended = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.files: tuple[Path, ...] = ()
        self.opened: OpenFiles | None = None
        self.draft: ImportDraft | None = None
        self.seen = MappingPreview(_NO_VALUES)
        self.dataset: Dataset | None = None
        self.problem: DataError | None = None
        self.seconds = 0.0
        self.cost = ""
        self._job: Job | None = None
        self._checking = False
        self._source: PairsSource | None = None
        self._edits: list[_DraftEdit] = []
        self._round = 0
        self._stop = threading.Event()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(CHECK_WAIT_MS)
        self._timer.timeout.connect(self._check_now)

    @property
    def active(self) -> bool:
        """Whether an import is in progress."""
        return bool(self.files)

    # Beginning

    def begin(
        self,
        files: Sequence[Path],
        source: PairsSource | None = None,
        encoding: str | None = None,
        *,
        sheet: str | None = None,
        leave_out_bad: bool = False,
    ) -> None:
        """Opens files to import them.

        Args:
            source: how the project reads them so far, from which the import starts.
            encoding, sheet, leave_out_bad: how to read them; they go before what ``source`` says.
        """
        document, errors = self._context.document, self._context.errors
        why = document.read_only or (texts.STOP_RUN_FIRST if self._context.runner.busy else "")
        if why:
            errors.post(texts.nothing_imported(why), document.title, level="warning")
            return
        if source is not None and not document.approvals.may_read(source):
            return
        self.cancel()
        self.files = tuple(file.absolute() for file in files)
        self._source = source
        mapping = None if source is None or source.mapping is None else PairMapping.from_json(source.mapping)
        if mapping is not None:
            encoding = encoding or mapping.encoding
            sheet = sheet or mapping.sheet
            leave_out_bad = leave_out_bad or mapping.leave_out_bad
        self._round += 1
        self.began.emit()
        self._context.tasks.start(self._open(self._round, encoding, sheet, leave_out_bad), texts.OPEN_FILES)

    async def _open(self, number: int, encoding: str | None, sheet: str | None, leave_out_bad: bool) -> None:
        files = self.files
        source, document = self._source, self._context.document
        # Files that the project names may read only what the project may; those that the user chooses now, anything.
        may_read = None if source is None else refusing(picture_rule(document.folder, document.project.salt))

        def work(job: Job) -> tuple[OpenFiles, ImportDraft]:
            self._job = job
            open_pairs = open_files(
                _paths(files),
                encoding=encoding,
                sheet=sheet,
                leave_out_bad=leave_out_bad,
                watch=lambda share: job.report(share, 1),
                may_read=may_read,
            )
            return open_pairs, ImportDraft.begin(open_pairs, source)

        began = time.perf_counter()
        try:
            opened, draft = await self._context.tasks.job(texts.read_files(file_names(files)), work)
        except JobCancelled:
            if number == self._round:
                self._end()
            return
        except DataError as error:
            if number == self._round:
                self._end()
                self._tell_error(error, files, may_leave_out=not leave_out_bad)
            return
        if number != self._round:
            return
        self._job = None
        self.seconds = time.perf_counter() - began
        self.opened = opened
        self.draft = replace(draft, encoding=encoding)
        self.seen = MappingPreview(_NO_VALUES)
        self._check()
        self.changed.emit()

    def _tell_error(self, error: DataError, files: Sequence[Path], *, may_leave_out: bool) -> None:
        source = self._source
        if isinstance(error, EncodingError):
            mend = MessageButton(texts.READ_AS_WINDOWS, self._reopener(files))
        elif error.row is not None and may_leave_out:
            mend = MessageButton(texts.LEAVE_OUT_BAD_ROWS, lambda: self.begin(files, source, leave_out_bad=True))
        else:
            mend = MessageButton(texts.OTHER_FILE_NAME, lambda: self._context.actions.trigger("data.import"))
        self._context.errors.post(
            f"{error.problem} {mend_words(error)}".strip(), place_words(error), mend, details=str(error)
        )

    def _reopener(self, files: Sequence[Path]) -> Callable[[], None]:
        source = self._source
        return lambda: self.begin(files, source, OTHER_ENCODING)

    def pick_sheet(self, sheet: str) -> None:
        """Reads another sheet of the workbook. It has other columns, so the import starts again."""
        if self.draft is not None and self.opened is not None and sheet != self.opened.tables[0].sheet:
            draft, source = self.draft, self._source
            if source is not None:
                source = replace(source, columns={}, labels={}, options={})
            self.begin(self.files, source, draft.encoding, sheet=sheet, leave_out_bad=draft.leave_out_bad)

    # Deciding

    def leave_out_bad_rows(self) -> None:
        """Leaves out the rows that cannot be read."""
        if self.draft is not None:
            self._edit(texts.LEAVE_OUT_BAD_ROWS, replace(self.draft, leave_out_bad=True))

    def pick_column(self, part: str, column: str) -> None:
        """Reads a field from another column."""
        if self.draft is not None:
            self._edit(texts.CHOOSE_COLUMN, self.draft.with_column(part, column))

    def pick_form(self, form: ImportShape) -> None:
        """Sets how the file holds the responses."""
        if self.draft is not None:
            self._edit(texts.PICK_FORM, self.draft.with_form(form))

    def pick_matches(self, matches: Matches, seed: int) -> None:
        """Sets how many pairs of questions with more than two responses are judged, and the seed that draws them."""
        if self.draft is not None:
            self._edit(texts.PICK_MATCHES, replace(self.draft, matches=matches, seed=seed))

    def pick_label(self, value: str, meaning: Verdict | None) -> None:
        """Sets what a label value means; ``None`` leaves it out."""
        if self.draft is not None:
            self._edit(texts.PICK_LABEL, self.draft.with_label(value, meaning))

    def pick_no_majority(self, meaning: Verdict | None) -> None:
        """Sets the label of pairs whose annotators have no majority; ``None`` for none."""
        if self.draft is not None:
            self._edit(texts.PICK_NO_MAJORITY, replace(self.draft, no_majority=meaning))

    def leave_out(self, kind: str, leave: bool) -> None:
        """Leaves the pairs of a kind of finding out, or keeps them."""
        if self.draft is not None:
            others = tuple(other for other in self.draft.leave_out if other != kind)
            text = texts.LEAVE_PAIRS_OUT if leave else texts.KEEP_PAIRS
            self._edit(text, replace(self.draft, leave_out=(*others, kind) if leave else others))

    def _edit(self, text: str, draft: ImportDraft) -> None:
        before = self.draft
        if before is None or draft == before:
            return
        edit = _DraftEdit(self, text, before, draft)
        self._edits.append(edit)
        self._context.document.undo_stack.push(edit)

    def put_draft(self, draft: ImportDraft) -> None:
        """Replaces the draft, on behalf of the undo stack."""
        before, self.draft = self.draft, draft
        if before is not None and replace(before, leave_out=()) != replace(draft, leave_out=()):
            self._check()
        self.changed.emit()

    # Checking

    def _check(self) -> None:
        self._stop.set()
        self.dataset = None
        self.cost = ""
        self.problem = None
        self._checking = True
        self._timer.start()

    def check_again(self) -> None:
        """Reads the pairs again after the user stopped it."""
        self._check()
        self.changed.emit()

    def _check_now(self) -> None:
        if self.opened is None or self.draft is None:
            return
        self._stop = threading.Event()
        self._round += 1
        self._context.tasks.start(
            self._check_draft(self.opened, self.draft, self._round, self._stop), texts.CHECK_PAIRS
        )

    async def _check_draft(self, opened: OpenFiles, draft: ImportDraft, number: int, stop: threading.Event) -> None:
        seen = await self._context.tasks.off_thread(look, opened, draft)
        if number != self._round:
            return
        self.seen = seen
        self.changed.emit()
        if seen.problem is not None or set(draft.missing) - {"human"}:
            return
        try:
            dataset = await self._context.tasks.job(
                texts.LOOK_THROUGH, lambda job: read(opened, draft, seen.values, _watch(job, stop))
            )
        except (_Superseded, JobCancelled):
            if number == self._round:
                self._checking = False
                self.changed.emit()
            return
        except DataError as error:
            if number == self._round:
                self.problem = error
                self.changed.emit()
            return
        if number != self._round:
            return
        self.dataset = dataset
        self.changed.emit()
        if dataset.systems is not None:
            document = self._context.document
            cost = await self._context.tasks.off_thread(cost_line, document.project, dataset, document.profiles)
            if number == self._round:
                self.cost = cost
                self.changed.emit()

    @property
    def left_out(self) -> int:
        """The number of pairs that the draft leaves out."""
        if self.dataset is None or self.draft is None:
            return 0
        kinds = self.draft.leave_out
        return len({pair_id for finding in self.dataset.findings if finding.kind in kinds for pair_id in finding.ids})

    @property
    def pair_count(self) -> int:
        """The number of pairs that will be imported; 0 while it is not known."""
        return 0 if self.dataset is None else len(self.dataset.pairs) - self.left_out

    @property
    def changes(self) -> bool:
        """Whether the files are those of the project, so that only the way in which they are read changes."""
        return self._source is not None

    @property
    def stopped(self) -> bool:
        """Whether the user stopped the search for findings."""
        ready = self.draft is not None and not set(self.draft.missing) - {"human"}
        has_problem = self.seen.problem is not None or self.problem is not None
        return ready and not has_problem and self.dataset is None and not self._checking

    @property
    def waits_for(self) -> str:
        """Why there are no findings yet; empty where there are."""
        if self.draft is None or self.dataset is not None:
            return ""
        if set(self.draft.missing) - {"human"}:
            return texts.CHOOSE_COLUMNS_FIRST
        if self.seen.problem is not None or self.problem is not None:
            return texts.CANNOT_BE_READ_YET
        return texts.LOOKING_STOPPED if self.stopped else texts.LOOKING

    @property
    def why_not(self) -> str:
        """Why the import cannot be accepted yet; empty where it can."""
        draft = self.draft
        if draft is None:
            return texts.STILL_READING
        if draft.missing:
            return texts.CHOOSE_COLUMNS_FIRST
        if self.seen.problem is not None or self.problem is not None:
            return texts.PROBLEM_ABOVE
        if draft.undecided(self.seen.values):
            return texts.SAY_MEANINGS_FIRST
        if self.dataset is None:
            return texts.STILL_LOOKING if self._checking else texts.LOOK_THROUGH_FIRST
        return "" if self.pair_count else texts.ALL_LEFT_OUT

    # Ending

    def accept(self) -> None:
        """Hands the pairs to the document."""
        if not self.why_not:
            self._context.tasks.start(self._accept(), texts.IMPORT_PAIRS)

    async def _accept(self) -> None:
        dataset, draft, seen, number = self.dataset, self.draft, self.seen, self._round
        if dataset is None or draft is None:
            return
        if draft.leave_out:
            try:
                dataset = await self._context.tasks.job(
                    texts.LEAVE_PAIRS_OUT,
                    lambda job: dataset.without(draft.leave_out, lambda share: job.report(share, 1)),
                )
            except JobCancelled:
                return
        if number != self._round or draft is not self.draft:
            return
        imported = dataset
        files, before = self.files, self._source
        document = self._context.document
        selection = Selection() if before is None else before.selection
        try:
            select(imported.pairs, selection)
        except ProjectError:
            selection = Selection()
        source = draft.source(tuple(str(file) for file in files), seen.values, selection)
        if before is not None:
            # The same files are read in another way: edits of single pairs stay.
            source = replace(source, edits=before.edits)
            imported = edited(imported, before.edits)
        self._end()
        try:
            document.edit_pairs(
                texts.CHANGE_MAPPING if before else texts.import_files(file_names(files)), source, imported
            )
        except ProjectError as error:
            self._context.errors.post_exception(error, file_names(files))

    def cancel(self) -> None:
        """Ends the import without changing the project."""
        if self.active:
            if self._job is not None:
                self._job.cancel()
            self._end()

    def _end(self) -> None:
        self._round += 1
        self._stop.set()
        self._timer.stop()
        self._retire_edits()
        self.files = ()
        self._job = None
        if self.opened is not None:
            # Freeing a hundred thousand records takes time too.
            self._context.tasks.start(self._context.tasks.off_thread(_throw_away, [self.opened]), texts.END_IMPORT)
        self.opened = self.draft = self.dataset = self.problem = None
        self.seen = MappingPreview(_NO_VALUES)
        self.ended.emit()

    def forget(self) -> None:
        """Ends the import because another project was opened, whose undo stack is empty."""
        self._edits.clear()
        self.cancel()

    def _retire_edits(self) -> None:
        """Removes the decisions from the undo stack, on which the import becomes one step."""
        edits, self._edits = self._edits, []
        stack = self._context.document.undo_stack
        for edit in edits:
            edit.setObsolete(True)
        while stack.index() > 0 and stack.command(stack.index() - 1) in edits:
            stack.undo()
        while stack.index() < stack.count() and stack.command(stack.index()) in edits:
            stack.redo()


def _throw_away(tables: list[OpenFiles]) -> None:
    """Frees tables in the thread that runs this, by dropping the last reference."""
    tables.clear()
    release_memory()


def _paths(files: Sequence[Path]) -> Sequence[Path] | Path:
    """The files to open; a single path by itself, since it may be a folder."""
    return files[0] if len(files) == 1 else files


def _watch(job: Job, stop: threading.Event) -> Watch:
    """Reports progress to a job, and ends the work where it was superseded."""

    def watch(share: float) -> None:
        if stop.is_set():
            raise _Superseded
        job.report(share, 1)

    return watch
