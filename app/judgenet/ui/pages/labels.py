"""The page Labels: a desk at which people say which response is better, without seeing names, verdicts or scores."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QStackedWidget, QWidget

from judgenet.core.labels import CHOSEN, Said
from judgenet.core.pairs import Pair
from judgenet.core.wording import plural
from judgenet.formats import DataError, csv_text
from judgenet.formats.labels import LabelFile, read_labels
from judgenet.formats.tables import whole_file
from judgenet.store.db import Store, StoreError, now
from judgenet.store.labels import add_labels, history_records
from judgenet.ui.actions import known_action
from judgenet.ui.context import Context
from judgenet.ui.elements import ComboBox
from judgenet.ui.empty import EmptyState, Waiting
from judgenet.ui.labels import texts
from judgenet.ui.labels.pair_view import DeskView
from judgenet.ui.labels.side import SidePanel
from judgenet.ui.labels.state import LabelsState
from judgenet.ui.navigation import PageKey, Visit
from judgenet.ui.pages.base import Page
from judgenet.ui.settings import Preferences
from judgenet.ui.text_view import one_line


class LabelsPage(Page):
    """The page Labels."""

    key: ClassVar[PageKey] = "labels"
    smallest = (900, 440)
    primary: ClassVar[str] = "labels.export"
    primary_kind: ClassVar[Literal["primary", "normal"]] = "normal"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.state = LabelsState(context, self)
        self._task: asyncio.Task[None] | None = None
        self.annotator = ComboBox(texts.ANNOTATOR)
        self.annotator.setEditable(True)
        self.annotator.setInsertPolicy(ComboBox.InsertPolicy.NoInsert)
        self.annotator.setToolTip(texts.ANNOTATOR_TIP)
        edit = self.annotator.lineEdit()
        assert edit is not None
        edit.setAccessibleName(texts.ANNOTATOR)
        edit.setMaxLength(60)
        edit.editingFinished.connect(self._annotator_named)
        self.annotator.activated.connect(self._annotator_named)
        self.desk = DeskView()
        self.empty = EmptyState("labels")
        self.waiting = Waiting(texts.THE_RUN)
        self.waiting.stop.hide()
        self.stack = QStackedWidget()
        for widget in (self.empty, self.waiting, self.desk):
            self.stack.addWidget(widget)
        self.side = SidePanel()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.stack, 1)
        row.addWidget(self.side)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._connect()
        context.actions.add(
            known_action("labels.export", self._export, self._can_export),
            known_action("labels.import", self._import, self._can_import),
            known_action("labels.settle", self._settle, self._can_settle),
        )
        self._prefer(context.settings.preferences)
        self._name_annotators()
        self._refresh()

    def _connect(self) -> None:
        state = self.state
        state.changed.connect(self._refresh)
        state.surveyed.connect(self._refresh_survey)
        state.saved.connect(self._refresh_side)
        self.desk.said.connect(self._say)
        self.desk.back.connect(state.back)
        self.desk.markdown_chosen.connect(self._choose_markdown)
        self.side.mode_chosen.connect(state.set_mode)
        self.side.goal_chosen.connect(state.set_goal)
        self.side.settle_wanted.connect(self._settle)
        self.side.file_chosen.connect(self._choose_file)
        self.side.no_majority_chosen.connect(self._choose_no_majority)
        self.context.settings.changed.connect(self._prefer)

    # Called by the window

    def top_widgets(self) -> Sequence[QWidget]:
        return (self.annotator,)

    def regions(self) -> Sequence[QWidget]:
        return (self.desk if self.stack.currentWidget() is self.desk else self.stack, self.side)

    def enter(self, visit: Visit) -> None:
        self.state.enter(visit.pairs, drawn=visit.part == "plan", for_people=visit.part == "people")
        self._refresh()
        # The window moves the focus after the page is in view.
        QTimer.singleShot(0, self, self._listen)

    def _listen(self) -> None:
        """Moves the keyboard focus to the desk, so that its keys work at once."""
        if self.isVisible() and self.stack.currentWidget() is self.desk and not self.side.hasFocus():
            self.desk.setFocus(Qt.FocusReason.OtherFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.state.leave()

    # What is shown

    def _refresh(self) -> None:
        state, desk = self.state, self.state.desk
        if not self.context.document.pairs:
            sentence, note = texts.NO_PAIRS_TO_LABEL, ""
            if state.table is not None:
                sentence = texts.NO_FILE_OF_PAIRS
                note = texts.recorded_elsewhere(plural(len(state.table), "pair"))
            self._say_empty(sentence, note, texts.CHOOSE_PAIRS, self._go_data)
        elif desk is None or state.working:
            if self.stack.currentWidget() is not self.desk:
                self.waiting.show_share(None, texts.DRAWING_PAIRS)
                self.stack.setCurrentWidget(self.waiting)
        elif not desk.draw.places:
            self._show_nothing()
        elif desk.finished:
            self._show_finished()
        else:
            self.desk.show_desk(desk, state.why_not, self._labels_so_far())
            had = self.stack.currentWidget() is self.desk
            self.stack.setCurrentWidget(self.desk)
            if not had:
                self._listen()
        self._refresh_side()

    def _refresh_side(self) -> None:
        self.side.show_state(self.state)
        self.context.actions.refresh_soon()

    def _refresh_survey(self) -> None:
        self.side.show_survey(self.state)
        self._name_annotators()
        if self.state.desk is not None and self.state.mode == "settle":
            self._refresh()

    def _labels_so_far(self) -> str:
        """The labels that annotators gave the pair on the desk, where it is to be resolved."""
        desk = self.state.desk
        if desk is None or desk.pair is None or desk.draw.mode != "settle":
            return ""
        votes = self.state.votes(desk.pair)
        return texts.LABELS_GIVEN + "; ".join(f"{one_line(name, 30)}: {words}" for name, words in votes)

    def _show_nothing(self) -> None:
        desk = self.state.desk
        assert desk is not None
        match desk.draw.mode:
            case "settle":
                self._say_empty(texts.ANNOTATORS_AGREE, "", texts.BACK, self._random)
            case "planned":
                self._say_empty(
                    texts.PLANNER_NEEDS_A_RUN,
                    desk.draw.note,
                    texts.DRAW_FROM_ALL_PAIRS,
                    self._random,
                )
            case _:
                self._say_empty(
                    texts.WHAT_A_TARGETED_REVIEW_IS,
                    desk.draw.note,
                    texts.DRAW_FROM_ALL_PAIRS,
                    self._random,
                )

    def _show_finished(self) -> None:
        desk = self.state.desk
        assert desk is not None
        more = desk.at < len(desk.draw.places)
        if desk.draw.mode == "settle":
            self._say_empty(texts.settled(plural(desk.labelled, "pair")), "", texts.BACK, self._random)
            return
        notes = [desk.draw.note] if desk.draw.note else []
        agreement = self.state.with_network()
        if agreement is not None and agreement.accuracy is not None:
            hits = round(agreement.accuracy * agreement.n_used)
            notes.append(
                texts.network_agrees(f"{hits:,}", f"{agreement.n_used:,}", f"{100 * agreement.accuracy:.0f} %")
            )
        if desk.draw.mode == "targeted":
            notes.append(texts.LABELS_ENTER_NO_ESTIMATE)
        self._say_empty(
            texts.labels_given(plural(desk.labelled, "label"), one_line(desk.annotator, 40))
            + " "
            + (texts.TARGET_REACHED if more else texts.EVERY_PAIR_SEEN),
            " ".join(notes),
            texts.LABEL_50_MORE if more else texts.SEE_THE_RESULTS,
            self.state.go_on if more else self._go_results,
        )

    def _say_empty(self, sentence: str, note: str, button: str, do: object) -> None:
        assert callable(do)
        self.empty.say(sentence, note, button, do)
        self.stack.setCurrentWidget(self.empty)

    def _name_annotators(self) -> None:
        names = [self.state.annotator]
        if self.state.survey is not None:
            names += [name for name in self.state.survey.said if name != self.state.annotator]
        if [self.annotator.itemText(place) for place in range(self.annotator.count())] != names:
            self.annotator.blockSignals(True)
            self.annotator.clear()
            self.annotator.addItems(names)
            self.annotator.setCurrentIndex(0)
            self.annotator.blockSignals(False)

    def _prefer(self, preferences: Preferences) -> None:
        self.desk.set_markdown(preferences.markdown)
        if self.state.desk is not None:
            self._refresh()

    # What the user does

    def _say(self, said: Said) -> None:
        self.state.say(said)

    def _annotator_named(self, _place: int = 0) -> None:
        name = self.annotator.currentText()
        if not name.strip():
            self.annotator.setEditText(self.state.annotator)
            return
        self.state.set_annotator(name)
        if self.annotator.hasFocus():
            self.desk.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        on_desk = self.stack.currentWidget() is self.desk
        if on_desk and self.desk.take_key(event):
            return
        if event.key() == Qt.Key.Key_Left and self.state.back():
            return
        super().keyPressEvent(event)

    def _choose_markdown(self, markdown: bool) -> None:
        self.context.settings.set(markdown=markdown)

    def _choose_file(self, chosen: str) -> None:
        for name in CHOSEN:
            if name == chosen:
                self.state.set_rules(file_chosen=name)

    def _choose_no_majority(self, rule: str) -> None:
        self.state.set_rules(no_majority="drop" if rule == "drop" else "tie")

    def _random(self) -> None:
        self.state.set_mode("random")

    def _settle(self) -> None:
        self.state.set_mode("settle")
        self.context.navigator.go("labels")

    def _can_settle(self) -> bool | str:
        survey = self.state.survey
        return (survey is not None and bool(survey.disputed)) or texts.NOTHING_TO_SETTLE

    def _go_data(self) -> None:
        self.context.navigator.go("data")

    def _go_results(self) -> None:
        self.context.navigator.go("results")

    # Import and export

    def _can_import(self) -> bool | str:
        return self.state.why_not or bool(self.context.document.pairs) or texts.NO_PAIRS_YET

    def _import(self) -> None:
        file, _ = QFileDialog.getOpenFileName(
            self, texts.IMPORT_LABELS, "", "Labels (*.csv *.tsv *.jsonl *.json *.xlsx);;All files (*)"
        )
        if file:
            self.import_from(Path(file))

    def import_from(self, file: Path) -> None:
        """Imports the labels of a file, all or none. Where the file does not say how a pair was chosen, its label
        counts as imported."""
        store = self.context.document.store
        if store is not None:
            pairs = tuple(self.context.document.pairs)
            work = self._read(store, pairs, file, self.state.annotator)
            self._task = self.context.tasks.start(work, texts.IMPORT_THE_LABELS)

    async def _read(self, store: Store, pairs: Sequence[Pair], file: Path, annotator: str) -> None:
        try:
            read, new = await self.context.tasks.off_thread(_entered, store, pairs, file, annotator)
        except (DataError, StoreError) as error:
            self.context.errors.post_exception(error)
            return
        stale = texts.of_other_texts(f"{read.stale:,}") if read.stale else ""
        message = texts.imported(plural(new, "new label"), f"{len(read.labels):,}", stale)
        self.context.errors.post(message, file.name, level="note")
        self.state.labels_imported()

    def _can_export(self) -> bool | str:
        survey = self.state.survey
        desk = self.state.desk
        labelled = (survey is not None and bool(survey.said)) or (desk is not None and bool(desk.given))
        return labelled or texts.NO_LABELS_TO_EXPORT

    def _export(self) -> None:
        file, _ = QFileDialog.getSaveFileName(
            self, texts.EXPORT_LABELS, "labels.csv", "CSV (*.csv);;JSON Lines (*.jsonl)"
        )
        if file:
            self.export_to(Path(file))

    def export_to(self, file: Path) -> None:
        """Writes the whole history of labels to a file: JSON Lines for ``.jsonl`` and ``.json``, else CSV."""
        store = self.context.document.store
        if store is not None:
            work = self._write(store, tuple(self.context.document.pairs), file)
            self._task = self.context.tasks.start(work, texts.EXPORT_THE_LABELS)

    async def _write(self, store: Store, pairs: Sequence[Pair], file: Path) -> None:
        try:
            await self.context.tasks.off_thread(_written, store, pairs, file)
        except OSError as error:
            self.context.errors.post_exception(error, str(file))


def _entered(store: Store, pairs: Sequence[Pair], file: Path, annotator: str) -> tuple[LabelFile, int]:
    read = read_labels(file, {pair.id: pair for pair in pairs}, annotator=annotator, at=now())
    return read, add_labels(store, read.labels)


def _written(store: Store, pairs: Sequence[Pair], file: Path) -> None:
    if not store.readonly:
        store.flush()
    records = list(history_records(store, pairs))
    if file.suffix.lower() in (".jsonl", ".json"):
        text = "".join(json.dumps(record, allow_nan=False) + "\n" for record in records)
    else:
        header = list(records[0]) if records else []
        rows = [[_cell(record[name]) for name in header] for record in records]
        text = csv_text(header, rows)
    with whole_file(file) as draft:
        draft.write_text(text, encoding="utf-8", errors="replace", newline="")


def _cell(value: object) -> str | int | float | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str | int | float) else None
