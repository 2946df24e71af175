"""The view of the loaded pairs, in which they are searched, filtered, sorted, opened and chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from judgenet.core.pairs import Pair
from judgenet.core.project import Selection
from judgenet.core.wording import of, percent, plural
from judgenet.engine.pair_index import DatasetVerdicts, PairFilter, PairIndex, SortKey, chosen_mask
from judgenet.formats import Dataset, Finding
from judgenet.ui.context import Context
from judgenet.ui.data import texts
from judgenet.ui.data.chosen import ChosenPanel
from judgenet.ui.data.filters import FilterBar
from judgenet.ui.data.findings import FindingList
from judgenet.ui.data.import_view import file_names, megabytes
from judgenet.ui.data.pair_chooser import PairChooser
from judgenet.ui.data.pair_view import PairView
from judgenet.ui.data.row_finder import RowFinder
from judgenet.ui.data.table import PairsTable
from judgenet.ui.elements import ScrollColumn, label, line
from judgenet.ui.measures import Gap, measure
from judgenet.ui.models.pairs_model import BROWSE, PairsModel
from judgenet.ui.settings import Preferences
from judgenet.ui.tasks import JobCancelled
from judgenet.ui.text_view import plain_tip
from judgenet.ui.theme import current_theme

VERDICTS_WAIT_MS: Final = 1000
"""How often filters and order follow new verdicts while a run is in progress."""

_LOW_PAGE: Final = 700
"""Below this height of the page, in px at 100 %, an open pair fills the page at first."""


class BrowseView(QWidget):
    """The table and the open pair; the panel in :attr:`side` is put beside it by the page. Work that takes time is done
    in threads.

    Signals:
        mapping_wanted, other_wanted: the button to change columns and labels, to choose another file was clicked.
        rows_shown: the table shows the rows that were wanted.
        menu_wanted: where, in px of the screen, to open the menu of the selected pairs.
        selected: the selection changed.
    """

    mapping_wanted = Signal()
    other_wanted = Signal()
    rows_shown = Signal()
    menu_wanted = Signal(QPoint)
    selected = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(texts.PAIRS)
        self._context = context
        self._dataset: Dataset | None = None
        self._index: PairIndex | None = None
        self._verdicts: DatasetVerdicts | None = None
        self._table_of_run: object = None
        self._chosen: NDArray[np.bool_] | None = None
        self._findings: Mapping[str, frozenset[str]] = {}
        self._by_pair: dict[str, list[Finding]] = {}
        self._visit: tuple[tuple[int, ...], str] | None = None

        self._finder = RowFinder(context.tasks, self)
        self._finder.found.connect(self._show_rows)
        self._chooser = PairChooser(context.document, context.tasks)
        self.bar = FilterBar()
        self.bar.changed.connect(self.refresh_rows)
        self.bar.search.left.connect(self.focus_table)
        self.model = PairsModel(BROWSE, self)
        self.table = PairsTable(texts.PAIRS, self.model, several=True)
        self.table.set_empty_text(texts.NO_PAIR_MATCHES)
        self.table.current_changed.connect(self._current_changed)
        self.table.opened.connect(self.open_pair)
        self.table.sort_wanted.connect(self.sort)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(
            lambda place: self.menu_wanted.emit(self.table.viewport().mapToGlobal(place))
        )
        self.table.selectionModel().selectionChanged.connect(self.selected)
        self._lay_out()
        self.side = _Side(context)
        self.side.chosen.chosen.connect(self._choose)
        self.side.findings.show_wanted.connect(self.bar.show_finding)
        self.side.mapping.clicked.connect(self.mapping_wanted)
        self.side.other.clicked.connect(self.other_wanted)

        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(VERDICTS_WAIT_MS)
        self._later.timeout.connect(self._verdicts_settled)
        run_state, document = context.run_state, context.document
        run_state.run_changed.connect(self._run_changed)
        run_state.pairs_changed.connect(self._verdicts_came)
        document.project_changed.connect(self._project_changed)
        document.read_only_changed.connect(self._show_side)
        context.settings.changed.connect(self._preferences_changed)

    def _lay_out(self) -> None:
        self._frame = QFrame()
        self._frame.setProperty("part", "panel")
        inside = QVBoxLayout(self._frame)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.addWidget(self.table)
        self._top = QWidget()
        self._top_column = QVBoxLayout(self._top)
        self._top_column.setContentsMargins(0, 0, 0, 0)
        self._top_column.addWidget(self.bar)
        self._top_column.addWidget(self._frame, stretch=1)
        self.pair_view = PairView()
        self.pair_view.hide()
        self.pair_view.closed.connect(self.close_pair)
        self.pair_view.stepped.connect(self.table.step)
        self.pair_view.whole_wanted.connect(self._set_whole)
        self.pair_view.markdown_chosen.connect(lambda on: self._context.settings.set(markdown=on))
        self.pair_view.run_wanted.connect(self._show_in_run)
        self.pair_view.set_markdown(self._context.settings.preferences.markdown)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setProperty("kind", "bare")
        self.splitter.addWidget(self._top)
        self.splitter.addWidget(self.pair_view)
        self.splitter.setStretchFactor(0, 2)
        self.splitter.setStretchFactor(1, 3)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self.splitter)
        measure(self._column, margins=(24, Gap(16), 24, Gap(16)))
        measure(self._top_column, spacing=Gap(8))
        measure(self.splitter, handle=Gap(12))

    # The data set

    @property
    def index(self) -> PairIndex | None:
        """The index of the pairs, ``None`` until it is made."""
        return self._index

    @property
    def busy(self) -> bool:
        """Whether rows are being searched."""
        return self._finder.busy

    def show_document(self) -> None:
        """Shows the pairs of the document, and which of them are chosen."""
        document = self._context.document
        dataset = document.dataset
        if dataset is None:
            self._forget()
            return
        self._context.tasks.start(self._show_dataset(dataset, document.pairs), texts.SHOW_PAIRS)

    def _forget(self) -> None:
        self._dataset = self._index = self._verdicts = self._chosen = None
        self._table_of_run = None
        self._findings = {}
        self._by_pair = {}
        # A search that is running is about other pairs.
        self._finder.cancel()
        self.close_pair()
        self.bar.clear()
        self.model.set_pairs(())

    async def _show_dataset(self, dataset: Dataset, chosen: tuple[Pair, ...]) -> None:
        new = dataset is not self._dataset
        index = self._index
        current = self.table.current_position
        if new:
            # Where only single pairs were changed, the rows in view stay.
            same = self._dataset is not None and _same_pairs(self._dataset, dataset)
            if not same:
                self._forget()
                current = None
            self._dataset, index = dataset, None
            self.side.findings.show_findings(None)
        table = self._context.run_state.table
        rule = self._context.document.rule
        new_index, mask, verdicts = await self._context.tasks.off_thread(
            lambda: _keys(dataset, chosen, index, None if index is not None else (table, rule))
        )
        if dataset is not self._dataset or self._context.document.pairs is not chosen:
            return
        self._index = new_index
        self._chosen = mask
        if verdicts is not None:
            self._verdicts, self._table_of_run = verdicts, table
            if self._context.run_state.table is not table:
                self._run_changed()
        if new:
            self.model.set_pairs(dataset.pairs, verdicts=self._verdicts, chosen=mask)
            if current is not None:
                self.table.go_to(current)
        else:
            self.model.set_chosen(mask)
        self._show_filters()
        if self._visit is not None:
            self._follow_visit()
        else:
            self.refresh_rows()
        if new:
            await self._look_for_findings(dataset)

    async def _look_for_findings(self, dataset: Dataset) -> None:
        if "findings" not in dataset.__dict__:
            try:
                await self._context.tasks.job(
                    texts.LOOK_THROUGH, lambda job: dataset.examine(lambda share: job.report(share, 1))
                )
            except JobCancelled:
                return
        if dataset is not self._dataset:
            return
        self._findings = {finding.kind: frozenset(finding.ids) for finding in dataset.findings if finding.ids}
        self._by_pair = {}
        for finding in dataset.findings:
            for pair_id in finding.ids:
                self._by_pair.setdefault(pair_id, []).append(finding)
        self.side.findings.show_findings(dataset.findings)
        self._show_filters()
        self._show_pair()

    def _show_filters(self) -> None:
        """Offers the filters and columns that make sense for the pairs."""
        if self._index is None or self._dataset is None or self._chosen is None:
            return
        judged = self._verdicts is not None and bool(self._verdicts.judged.any())
        labelled = self._dataset.labels.labelled > 0
        self.table.show_column("chosen", not bool(self._chosen.all()))
        self.table.show_column("verdict", judged)
        self.table.show_column("human", labelled)
        self.table.show_column("match", judged and labelled)
        self.table.show_column("task", len(self._index.tasks) > 1)
        findings = self._dataset.findings if "findings" in self._dataset.__dict__ else ()
        self.bar.set_options(self._index, self._verdicts, findings, int(self._chosen.sum()))

    # Rows

    def sort(self, key: SortKey | None, descending: bool) -> None:
        """Sorts by a key; ``None`` for the order of the source."""
        self._finder.sort = (key, descending)
        self.table.set_sort(key, descending)
        self.refresh_rows()

    def refresh_rows(self) -> None:
        """Searches again which rows to show, and in which order."""
        if self._index is not None:
            self._finder.find(self._index, self.bar.wanted, self._verdicts, self._chosen, self._findings)

    def _show_rows(self, rows: NDArray[np.int32], wanted: PairFilter) -> None:
        if not np.array_equal(rows, self.model.rows):
            current = self.table.current_position
            self.model.set_rows(rows)
            if current is not None:
                self.table.go_to(current)
                if self.table.current_position is None and self.pair_view.isVisible() and len(rows):
                    self.table.go_to(int(rows[0]))
        self.bar.show_count(len(rows), len(self.model.pairs))
        self._show_side()
        self._show_pair()
        self.rows_shown.emit()

    def focus_table(self) -> None:
        """Puts the focus on the current row of the table, or on the first."""
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        if self.table.current_position is None:
            self.table.step(0)

    def show_visit(self, indexes: tuple[int, ...], why: str) -> None:
        """Shows pairs for another page, by their indexes among the chosen pairs, from 0; ``why`` says which."""
        self._visit = (indexes, why)
        if self._index is not None:
            self._follow_visit()

    def _follow_visit(self) -> None:
        if self._visit is None or self._chosen is None:
            return
        (indexes, why), self._visit = self._visit, None
        places = np.flatnonzero(self._chosen)
        positions = tuple(int(places[index]) for index in indexes if 0 <= index < len(places))
        self.bar.show_positions(positions, why)
        if len(positions) == 1:
            self.open_pair(positions[0])

    # Verdicts

    def _run_changed(self) -> None:
        if self._index is not None and self._context.run_state.table is not self._table_of_run:
            self._context.tasks.start(self._read_verdicts(), texts.SHOW_VERDICTS)

    async def _read_verdicts(self) -> None:
        index, table = self._index, self._context.run_state.table
        if index is None:
            return
        self._table_of_run = table
        rule = self._context.document.rule
        ids = [pair.id for pair in index.pairs]
        verdicts = await self._context.tasks.off_thread(DatasetVerdicts.of, table, ids, rule)
        if index is not self._index or table is not self._context.run_state.table:
            return
        self._verdicts = verdicts
        verdicts.take(range(0 if table is None else len(table)))
        self.model.set_verdicts(verdicts)
        self._verdicts_settled()

    def _verdicts_came(self, pairs: set[int]) -> None:
        if self._verdicts is None or self._context.run_state.table is not self._table_of_run:
            return
        self.model.pairs_changed(self._verdicts.take(pairs))
        if not self._later.isActive():
            self._later.start()

    def _verdicts_settled(self) -> None:
        wanted = self.bar.wanted
        self._show_filters()
        if self._finder.sort[0] in ("verdict", "agreement") or wanted.verdict is not None or wanted.match is not None:
            self.refresh_rows()
        else:
            self._show_side()
            self._show_pair()

    def _project_changed(self) -> None:
        if self._verdicts is not None and self._verdicts.rule != self._context.document.rule:
            self._table_of_run = None
            self._run_changed()
        self._show_side()

    # Choosing

    def _choose(self, selection: Selection) -> None:
        if self._index is not None:
            self._chooser.choose(selection, self._index, self.model.rows)

    def _show_side(self) -> None:
        document = self._context.document
        if self._index is None or self._dataset is None or self._chosen is None or document.project.pairs is None:
            return
        self.side.chosen.show_selection(
            document.project.pairs.selection,
            int(self._chosen.sum()),
            len(self._index),
            len(self.model.rows),
            filtered=not self.bar.wanted.empty,
            tasks=len(self._index.tasks),
            why_not=document.read_only,
        )
        self.side.show_source(self._dataset, self._index, self._verdicts, document.read_only)

    # Single pairs

    @property
    def selection(self) -> tuple[Pair, ...]:
        """The selected pairs; where none is, the one in the current row."""
        positions = self.table.selected_positions
        if not positions and self.table.current_position is not None:
            positions = (self.table.current_position,)
        return tuple(self.model.pairs[place] for place in positions)

    def run_indexes(self) -> tuple[int, ...]:
        """The indexes of the selected pairs in the run in focus, from 0; pairs that it does not have are left out."""
        if self._verdicts is None:
            return ()
        indexes = (self._verdicts.run_index(place) for place in self.table.selected_positions)
        return tuple(place for place in indexes if place is not None)

    # The open pair

    def open_pair(self, position: int) -> None:
        """Opens the pair at a position of the data set, below the table."""
        if self.model.row_of(position) is None and self._index is None:
            return
        opened = self.pair_view.isVisible()
        self.table.go_to(position)
        self.pair_view.show()
        if not opened:
            self._set_whole(self.height() / current_theme().scale < _LOW_PAGE)
            self.splitter.setSizes([2 * self.height() // 5, 3 * self.height() // 5])
        self._show_pair(position)

    def close_pair(self) -> None:
        """Closes the open pair."""
        if self.pair_view.isHidden():
            return
        self.pair_view.hide()
        self._top.show()
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _current_changed(self, position: int | None) -> None:
        if position is not None and not self.pair_view.isHidden():
            self._show_pair(position)

    def _show_pair(self, position: int | None = None) -> None:
        position = self.table.current_position if position is None else position
        if self.pair_view.isHidden() or position is None or not 0 <= position < len(self.model.pairs):
            return
        pair = self.model.pairs[position]
        row = self.model.row_of(position)
        verdicts = self._verdicts
        judged = verdicts is not None and bool(verdicts.judged[position])
        self.pair_view.show_pair(
            pair,
            place="" if row is None else of(row + 1, len(self.model.rows)),
            verdict=None if verdicts is None else verdicts.at(position),
            judged=judged,
            missing="" if verdicts is None else verdicts.missing(position),
            in_run=verdicts is not None and verdicts.run_index(position) is not None,
            findings=self._by_pair.get(pair.id, ()),
        )
        last = len(self.model.rows) - 1
        self.pair_view.back.setEnabled(row is not None and row > 0)
        self.pair_view.forth.setEnabled(row is not None and row < last)

    def step_pair(self, by: int) -> None:
        """Goes so many rows on, and opens the pair there if none is open."""
        self.table.step(by)
        position = self.table.current_position
        if position is not None and self.pair_view.isHidden():
            self.open_pair(position)

    def _set_whole(self, whole: bool) -> None:
        self._top.setVisible(not whole)
        self.pair_view.set_whole(whole)
        if whole:
            self.pair_view.focus_texts()

    def _preferences_changed(self, preferences: Preferences) -> None:
        self.pair_view.set_markdown(preferences.markdown)

    def _show_in_run(self) -> None:
        position, verdicts = self.table.current_position, self._verdicts
        if position is not None and verdicts is not None:
            index = verdicts.run_index(position)
            if index is not None:
                self._context.navigator.go("run", pairs=(index,))


def _same_pairs(before: Dataset, after: Dataset) -> bool:
    """Whether both hold the pairs of the same files; single ones may be edited."""
    return before.files == after.files and [pair.id for pair in before.pairs] == [pair.id for pair in after.pairs]


def _keys(
    dataset: Dataset, chosen: tuple[Pair, ...], index: PairIndex | None, run: tuple[object, str] | None
) -> tuple[PairIndex, NDArray[np.bool_], DatasetVerdicts | None]:
    """The index of a data set, the mask of its chosen pairs, and with a ``run`` (its frame and the rule that gives the
    verdict) the verdicts. An ``index`` that exists is kept."""
    new_index = index or PairIndex(dataset.pairs)
    verdicts = None
    if run is not None:
        table, rule = run
        verdicts = DatasetVerdicts.of(table, [pair.id for pair in dataset.pairs], rule)  # type: ignore[arg-type]
    return new_index, chosen_mask(dataset.pairs, chosen), verdicts


def _no_labels(dataset: Dataset) -> str:
    """A note that no pair has a label, or that annotators have no majority."""
    waiting = sum(1 for pair in dataset.pairs if pair.annotators)
    return texts.no_majority(plural(waiting, "pair")) if waiting else texts.NO_HUMAN_LABELS


class _Side(QFrame):
    """The panel about the pairs: which are chosen and what they cost, where they come from, and findings."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setProperty("part", "inspector")
        self.setAccessibleName(texts.ABOUT_PAIRS)
        self.chosen = ChosenPanel(context.figures)
        self._source_title = label(texts.SOURCE, "section")
        self.file = label(tone="text", wrap=True)
        self.facts = label(tone="text2", wrap=True)
        self.labels = label(tone="text2", wrap=True)
        self.agreement = label(tone="text2", wrap=True)
        self.mapping = QPushButton(texts.COLUMNS_AND_LABELS)
        self.mapping.setAccessibleName(texts.COLUMNS_AND_LABELS_NAME)
        self.other = QPushButton(texts.OTHER_FILE)
        self.other.setAccessibleName(texts.OTHER_FILE_NAME)
        self._buttons = QHBoxLayout()
        self._buttons.addWidget(self.mapping)
        self._buttons.addWidget(self.other)
        self._buttons.addStretch(1)
        for button in (self.mapping, self.other):
            button.setProperty("control", "small")
        self._source = QVBoxLayout()
        for widget in (self._source_title, self.file, self.facts, self.labels, self.agreement):
            self._source.addWidget(widget)
        self._source.addLayout(self._buttons)
        self._findings_title = label(texts.FINDINGS, "section")
        self.findings = FindingList(choices=False)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.chosen)
        column.addWidget(line())
        column.addLayout(self._source)
        column.addWidget(line())
        column.addWidget(self._findings_title)
        column.addWidget(self.findings)
        column.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(ScrollColumn(inner, focusable=False))
        measure(self._source, margins=(16, 12, 16, 16), spacing=4)
        measure(self._buttons, margins=(0, 8, 0, 0), spacing=8)
        measure(self._findings_title, margins=(16, 12, 16, 0))

    def show_source(self, dataset: Dataset, index: PairIndex, verdicts: DatasetVerdicts | None, read_only: str) -> None:
        """Shows where the pairs come from, their labels, and how far the run in focus agrees with people."""
        self.file.setText(file_names(file.path for file in dataset.files))
        self.file.setToolTip(plain_tip("\n".join(file.path for file in dataset.files)))
        size = megabytes(sum(file.size for file in dataset.files))
        self.facts.setText(texts.source_facts(plural(len(index), "pair"), size, dataset.files[0].sha256[:12]))
        self.facts.setToolTip(dataset.files[0].sha256)
        labels = dataset.labels
        self.labels.setText(
            texts.labels_of_people(labels.a, labels.tie, labels.b, labels.missing)
            if labels.labelled
            else _no_labels(dataset)
        )
        self.agreement.setText(self._agreement(index, verdicts))
        self.agreement.setVisible(bool(self.agreement.text()))
        for button in (self.mapping, self.other):
            button.setEnabled(not read_only)
            button.setToolTip(read_only)

    @staticmethod
    def _agreement(index: PairIndex, verdicts: DatasetVerdicts | None) -> str:
        if verdicts is None or not verdicts.judged.any():
            return ""
        agreement = index.agreement(verdicts)
        if agreement.accuracy is None:
            return texts.network_and_people(agreement.reasons["accuracy"])
        kappa = "" if agreement.kappa is None else texts.kappa(agreement.kappa)
        pairs, judged = plural(agreement.n_used, "pair"), of(agreement.n_used, agreement.n_total)
        return texts.agreement(percent(agreement.accuracy), pairs, kappa, judged)
