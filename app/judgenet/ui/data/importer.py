"""The import under way: opens files, keeps what is decided, checks it in threads, and hands it to the document."""

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
from judgenet.ui.data.import_view import mend_words, place_words
from judgenet.ui.errors import Mend
from judgenet.ui.tasks import Job, JobCancelled

CHECK_WAIT_MS: Final = 120
"""Changes that follow each other faster are checked once."""

_NO_VALUES: Final = LabelValues({}, {})
OTHER_ENCODING: Final = "cp1252"


class _Superseded(Exception):
    """Something else was decided meanwhile."""


class _DraftEdit(QUndoCommand):
    """A decision of an import. When the import ends, its decisions cannot be undone one by one any more."""

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
        files: what is imported.
        opened: the files' tables, ``None`` while there are none.
        draft: what is decided.
        seen: what the draft gives, found quickly.
        dataset: all pairs as the draft reads them, nothing left out, ``None`` while they are read.
        problem: what is wrong with the pairs as a whole.
        seconds: how long it took to open the files.
        cost: what judging the pairs would take, in words; empty where it is not asked for or not known yet.

    Signals:
        changed: any of these changed.
        began, ended: an import begins (to read its files) and ends.
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
        """An import is under way."""
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
        """Opens files to import them; with ``source`` it begins with what that one says of them. What is said here of
        how they are read goes before that."""
        document, errors = self._context.document, self._context.errors
        why = document.read_only or ("Stop the run first." if self._context.runner.busy else "")
        if why:
            errors.tell(f"Nothing was imported. {why}", document.title, level="warning")
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
        self._context.tasks.start(self._open(self._round, encoding, sheet, leave_out_bad), "Open the files")

    async def _open(self, number: int, encoding: str | None, sheet: str | None, leave_out_bad: bool) -> None:
        files = self.files

        source, document = self._source, self._context.document
        # What the project itself names may read no more than the project; a file that is chosen now is the user's.
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
            opened, draft = await self._context.tasks.job(f"Read {file_names(files)}", work)
        except JobCancelled:
            if number == self._round:
                self._end()
            return
        except DataError as error:
            if number == self._round:
                self._end()
                self._tell(error, files, may_leave_out=not leave_out_bad)
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

    def _tell(self, error: DataError, files: Sequence[Path], *, may_leave_out: bool) -> None:
        source = self._source
        if isinstance(error, EncodingError):
            mend = Mend("Read it as Windows-1252", self._reopener(files))
        elif error.row is not None and may_leave_out:
            mend = Mend("Leave out bad rows", lambda: self.begin(files, source, leave_out_bad=True))
        else:
            mend = Mend("Choose another file", lambda: self._context.actions.trigger("data.import"))
        self._context.errors.tell(
            f"{error.problem} {mend_words(error)}".strip(), place_words(error), mend, details=str(error)
        )

    def _reopener(self, files: Sequence[Path]) -> Callable[[], None]:
        source = self._source
        return lambda: self.begin(files, source, OTHER_ENCODING)

    def pick_sheet(self, sheet: str) -> None:
        """Reads another sheet of the workbook: its columns are others, so that the import begins anew."""
        if self.draft is not None and self.opened is not None and sheet != self.opened.tables[0].sheet:
            draft, source = self.draft, self._source
            if source is not None:
                source = replace(source, columns={}, labels={}, options={})
            self.begin(self.files, source, draft.encoding, sheet=sheet, leave_out_bad=draft.leave_out_bad)

    # Deciding

    def leave_out_bad_rows(self) -> None:
        """Leaves out the rows that cannot be read."""
        if self.draft is not None:
            self._edit("Leave out bad rows", replace(self.draft, leave_out_bad=True))

    def pick_column(self, part: str, column: str) -> None:
        """Reads a field from another column."""
        if self.draft is not None:
            self._edit("Choose a column", self.draft.with_column(part, column))

    def pick_form(self, form: ImportShape) -> None:
        """Says how the file holds the responses."""
        if self.draft is not None:
            self._edit("Choose how the file holds the responses", self.draft.with_form(form))

    def pick_matches(self, matches: Matches, seed: int) -> None:
        """Says how many pairs of each question with more than two responses are judged, and what draws them."""
        if self.draft is not None:
            self._edit("Choose the pairs to judge", replace(self.draft, matches=matches, seed=seed))

    def pick_label(self, value: str, meaning: Verdict | None) -> None:
        """Says what a label value means."""
        if self.draft is not None:
            self._edit("Say what a label means", self.draft.with_label(value, meaning))

    def pick_no_majority(self, meaning: Verdict | None) -> None:
        """Says which label pairs without a majority get."""
        if self.draft is not None:
            self._edit("Choose the label without a majority", replace(self.draft, no_majority=meaning))

    def leave_out(self, kind: str, leave: bool) -> None:
        """Leaves the pairs of a finding out, or keeps them."""
        if self.draft is not None:
            others = tuple(one for one in self.draft.leave_out if one != kind)
            text = "Leave pairs out" if leave else "Keep pairs"
            self._edit(text, replace(self.draft, leave_out=(*others, kind) if leave else others))

    def _edit(self, text: str, draft: ImportDraft) -> None:
        before = self.draft
        if before is None or draft == before:
            return
        edit = _DraftEdit(self, text, before, draft)
        self._edits.append(edit)
        self._context.document.undo_stack.push(edit)

    def put_draft(self, draft: ImportDraft) -> None:
        """Puts a draft in place, as the undo stack wants it."""
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
        """Reads the pairs after the user had stopped it."""
        self._check()
        self.changed.emit()

    def _check_now(self) -> None:
        if self.opened is None or self.draft is None:
            return
        self._stop = threading.Event()
        self._round += 1
        self._context.tasks.start(self._checked(self.opened, self.draft, self._round, self._stop), "Check the pairs")

    async def _checked(self, opened: OpenFiles, draft: ImportDraft, number: int, stop: threading.Event) -> None:
        seen = await self._context.tasks.off_thread(look, opened, draft)
        if number != self._round:
            return
        self.seen = seen
        self.changed.emit()
        if seen.problem is not None or set(draft.missing) - {"human"}:
            return
        try:
            dataset = await self._context.tasks.job(
                "Look through the pairs", lambda job: read(opened, draft, seen.values, _watch(job, stop))
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
        """How many pairs the draft leaves out."""
        if self.dataset is None or self.draft is None:
            return 0
        kinds = self.draft.leave_out
        return len({one for finding in self.dataset.findings if finding.kind in kinds for one in finding.ids})

    @property
    def pair_count(self) -> int:
        """How many pairs there will be; 0 while it is not known."""
        return 0 if self.dataset is None else len(self.dataset.pairs) - self.left_out

    @property
    def changes(self) -> bool:
        """The files are those that the project has: only how they are read changes."""
        return self._source is not None

    @property
    def stopped(self) -> bool:
        """The user stopped looking through the pairs."""
        ready = self.draft is not None and not set(self.draft.missing) - {"human"}
        wrong = self.seen.problem is not None or self.problem is not None
        return ready and not wrong and self.dataset is None and not self._checking

    @property
    def waits_for(self) -> str:
        """Why there are no findings yet, in words."""
        if self.draft is None or self.dataset is not None:
            return ""
        if set(self.draft.missing) - {"human"}:
            return "Choose the columns first."
        if self.seen.problem is not None or self.problem is not None:
            return "The pairs cannot be read yet."
        return "Not looked through: it was stopped." if self.stopped else "Looking through the pairs…"

    @property
    def why_not(self) -> str:
        """Why the import cannot be accepted yet; empty where it can."""
        draft = self.draft
        if draft is None:
            return "The files are still being read."
        if draft.missing:
            return "Choose the columns first."
        if self.seen.problem is not None or self.problem is not None:
            return "There is a problem: see above the preview."
        if draft.undecided(self.seen.values):
            return "Say what each label means first."
        if self.dataset is None:
            return "The pairs are still being looked through." if self._checking else "Look through the pairs first."
        return "" if self.pair_count else "All pairs would be left out."

    # Ending

    def accept(self) -> None:
        """Hands the pairs to the document."""
        if not self.why_not:
            self._context.tasks.start(self._accept(), "Import the pairs")

    async def _accept(self) -> None:
        dataset, draft, seen, number = self.dataset, self.draft, self.seen, self._round
        if dataset is None or draft is None:
            return
        if draft.leave_out:
            try:
                dataset = await self._context.tasks.job(
                    "Leave pairs out", lambda job: dataset.without(draft.leave_out, lambda share: job.report(share, 1))
                )
            except JobCancelled:
                return
        if number != self._round or draft is not self.draft:
            return
        taken = dataset
        files, before = self.files, self._source
        document = self._context.document
        selection = Selection() if before is None else before.selection
        try:
            select(taken.pairs, selection)
        except ProjectError:
            selection = Selection()
        source = draft.source(tuple(str(file) for file in files), seen.values, selection)
        if before is not None:
            # The same files read in another way: what was changed in single pairs stays.
            source = replace(source, edits=before.edits)
            taken = edited(taken, before.edits)
        self._end()
        try:
            document.edit_pairs("Change the mapping" if before else f"Import {file_names(files)}", source, taken)
        except ProjectError as error:
            self._context.errors.tell_exception(error, file_names(files))

    def cancel(self) -> None:
        """Ends the import; nothing changes."""
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
            # Throwing away a hundred thousand records takes time, too.
            self._context.tasks.start(self._context.tasks.off_thread(_throw_away, [self.opened]), "End the import")
        self.opened = self.draft = self.dataset = self.problem = None
        self.seen = MappingPreview(_NO_VALUES)
        self.ended.emit()

    def forget(self) -> None:
        """Ends the import because another project was opened; its undo stack is empty."""
        self._edits.clear()
        self.cancel()

    def _retire_edits(self) -> None:
        """Takes the decisions off the undo stack: what counts now is the import as a whole."""
        edits, self._edits = self._edits, []
        stack = self._context.document.undo_stack
        for edit in edits:
            edit.setObsolete(True)
        while stack.index() > 0 and stack.command(stack.index() - 1) in edits:
            stack.undo()
        while stack.index() < stack.count() and stack.command(stack.index()) in edits:
            stack.redo()


def file_names(files: Sequence[Path]) -> str:
    """Files in words."""
    if len(files) > 2:
        return f"{files[0].name} and {len(files) - 1} more"
    return " and ".join(file.name for file in files)


def _throw_away(tables: list[OpenFiles]) -> None:
    """Gives up the last reference to tables, in the thread that runs it."""
    tables.clear()
    release_memory()


def _paths(files: Sequence[Path]) -> Sequence[Path] | Path:
    """One path stands alone: it may be a folder."""
    return files[0] if len(files) == 1 else files


def _watch(job: Job, stop: threading.Event) -> Watch:
    def watch(share: float) -> None:
        if stop.is_set():
            raise _Superseded
        job.report(share, 1)

    return watch
