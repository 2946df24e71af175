"""The panels of an import in which the user confirms or changes what columns hold and what labels mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QWheelEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.pairs import Verdict
from judgenet.core.wording import plural
from judgenet.engine.importing import FIELD_WORDS, JOINABLE, MOST_LABEL_VALUES, ImportDraft, ImportShape
from judgenet.formats import LabelValues
from judgenet.formats.mapping import PICTURE_FIELDS
from judgenet.ui.data import texts
from judgenet.ui.data.raw_table import sample
from judgenet.ui.elements import ComboBox, ElidedLabel, IconLabel, ScrollColumn, label, link
from judgenet.ui.measures import Gap, measure
from judgenet.ui.text_view import one_line, plain_tip
from judgenet.ui.widgets import Chip, Segment

_ALWAYS: Final = (
    "question",
    "response_a",
    "response_b",
    "chosen",
    "rejected",
    "human",
    "task",
    "responses",
    "models",
    "system",
    "response",
)
_SAMPLE: Final = Qt.ItemDataRole.UserRole + 1
"""The role of an item that holds a value of its column."""
_LIST_CHARS: Final = 60
"""The width of the list of columns in characters, so that a value fits beside each name."""
_SEVERAL: Final = "\0several"
_DERIVED: Final = "\0derived"
_OPTIONAL: Final = (
    "id",
    "task",
    "reference",
    "model_a",
    "model_b",
    "annotators",
    "annotator",
    "tags",
    "criteria",
    *PICTURE_FIELDS,
    "human",
    "question",
    "models",
    "ranks",
    "scores",
    "ranking",
    "winners",
)
_FORMS: Final[tuple[tuple[ImportShape, str], ...]] = (
    ("ab", texts.A_AND_B),
    ("preference", texts.BETTER_AND_WORSE),
    ("responses", texts.SEVERAL),
    ("systems", texts.A_ROW_EACH),
)
_MEANINGS: Final = (("a", texts.A), ("tie", texts.TIE), ("b", texts.B), ("none", texts.LEAVE_OUT_VALUE))


def joined(column: str) -> str:
    """Columns that are joined, in words: ``instruction + input``."""
    return one_line(column.replace("+", " + "), 80)


class _WithSample(QStyledItemDelegate):
    """Shows a value of each column after its name, in the open list only."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        if shown := index.data(_SAMPLE):
            option.text = texts.with_sample(option.text, shown)


class ColumnBox(ComboBox):
    """The choice of the column of one field.

    Signals:
        picked: the field, and its column: several are joined by ``+``, empty means not read.
    """

    picked = Signal(str, str)

    def __init__(self, part: str) -> None:
        super().__init__(texts.column_of(FIELD_WORDS[part]))
        self._part = part
        self._names: tuple[str, ...] = ()
        self._column = ""
        self.setPlaceholderText(texts.CHOOSE_COLUMN)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.activated.connect(self._activated)
        self.setItemDelegate(_WithSample(self))
        self.view().setTextElideMode(Qt.TextElideMode.ElideRight)

    def showPopup(self) -> None:
        self.view().setMinimumWidth(max(self.width(), self.fontMetrics().averageCharWidth() * _LIST_CHARS))
        super().showPopup()

    def show_draft(self, draft: ImportDraft) -> None:
        """Shows the columns of the file, and the one that is read."""
        part = self._part
        self._names = draft.preview.names
        self._column = draft.column(part)
        candidates = draft.candidates(part)
        self.blockSignals(True)
        self.clear()
        if part in _OPTIONAL:
            self.addItem(texts.NOT_READ, "")
        if part in draft.preview.derived:
            self.addItem(texts.as_format_has_it(draft.preview.title), _DERIVED)
        single = (*candidates, *(name for name in self._names if name not in candidates))
        for name in single:
            self.addItem(one_line(name, 80), name)
            shown = sample(draft.preview.rows, name)
            self.setItemData(self.count() - 1, shown, _SAMPLE)
            self.setItemData(self.count() - 1, plain_tip(f"{name}: {shown}"), Qt.ItemDataRole.ToolTipRole)
        if "+" in self._column and self._column not in self._names:
            self.addItem(joined(self._column), self._column)
        if part in JOINABLE and len(self._names) > 1:
            self.addItem(texts.SEVERAL_COLUMNS, _SEVERAL)
        undecided = part in draft.missing
        wanted = _DERIVED if draft.derived(part) else self._column
        self.setCurrentIndex(-1 if undecided else self.findData(wanted))
        self.setProperty("problem", "true" if undecided else "false")
        self.style().unpolish(self)
        self.style().polish(self)
        tip = texts.candidates(texts.OR.join(candidates)) if candidates else ""
        if part == "id" and candidates:
            tip = texts.id_candidates(texts.AND.join(candidates))
        self.setToolTip(tip)
        self.blockSignals(False)

    def _activated(self, place: int) -> None:
        chosen = str(self.itemData(place))
        if chosen == _SEVERAL:
            self.setCurrentIndex(self.findData(self._column))
            self._ask_for_several()
        elif chosen != _DERIVED or self._column:
            self.picked.emit(self._part, chosen)

    def _ask_for_several(self) -> None:
        menu = QMenu(self)
        menu.setAccessibleName(texts.columns_of(FIELD_WORDS[self._part]))
        used = self._used_columns()
        for name in self._names:
            action = menu.addAction(one_line(name, 80).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(name in used)
            action.setData(name)
        menu.triggered.connect(self._add_or_remove)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))

    def _used_columns(self) -> list[str]:
        """The columns that are read; a name may itself hold a ``+``."""
        parts = [self._column] if self._column in self._names else self._column.split("+")
        return [part for part in parts if part]

    def _add_or_remove(self, action: QAction) -> None:
        name = str(action.data())
        used = self._used_columns()
        if name in used:
            used.remove(name)
        else:
            used.append(name)
        self.picked.emit(self._part, "+".join(used))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leaves the wheel to the panel, so that scrolling changes no column by accident."""
        event.ignore()


class ColumnsPanel(QFrame):
    """The columns of the fields of a pair.

    Signals:
        picked: field and column, as in :class:`ColumnBox`.
        form_picked: how the file holds the responses, an ``ImportShape``.
    """

    picked = Signal(str, str)
    form_picked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("part", "panel")
        self.setAccessibleName(texts.COLUMNS)
        self._draft: ImportDraft | None = None
        self._all = False
        self.boxes: dict[str, ColumnBox] = {}
        self._names: dict[str, QWidget] = {}
        self._chips: list[Chip] = []
        title = label(texts.COLUMNS, "section")
        self.more = link(texts.MORE_COLUMNS)
        self.more.clicked.connect(self._toggle_more)
        self._head = QHBoxLayout()
        self._head.addWidget(title)
        self._head.addStretch(1)
        self._head.addWidget(self.more)
        self.sides = Segment(texts.RESPONSES_ARE, list(_FORMS))
        self.sides.chosen.connect(self._sides_chosen)
        self._grid = QGridLayout()
        self._grid.setColumnStretch(1, 1)
        for row, part in enumerate(FIELD_WORDS):
            box = ColumnBox(part)
            box.picked.connect(self.picked)
            self.boxes[part] = box
            self._names[part] = self._name(part)
            measure(self._names[part], min_width=108)
            self._grid.addWidget(self._names[part], row, 0)
            self._grid.addWidget(box, row, 1)
        self._grid.addWidget(self.sides, len(FIELD_WORDS), 0, 1, 2)
        inner = QWidget()
        inner.setLayout(self._grid)
        self._scroll = ScrollColumn(inner, focusable=False)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._head)
        self._column.addWidget(self._scroll, stretch=1)
        measure(self._column, margins=(16, Gap(8), 8, Gap(12)), spacing=Gap(8))
        measure(self._head, margins=(0, 0, 8, 0))
        measure(self._grid, margins=(0, 0, 8, 0), across=12, down=Gap(8))

    def _name(self, part: str) -> QWidget:
        side: dict[str, Verdict] = {"response_a": "a", "response_b": "b"}
        if part not in side:
            return label(FIELD_WORDS[part], tone="" if part in _ALWAYS and part != "task" else "text2")
        box = QWidget()
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        chip = Chip()
        chip.show_verdict(side[part])
        self._chips.append(chip)
        row.addWidget(chip)
        row.addWidget(label(texts.RESPONSE))
        row.addStretch(1)
        return box

    def begin(self) -> None:
        """Starts with other files: shows the most important columns."""
        self._all = False
        self._scroll.verticalScrollBar().setValue(0)

    def show_draft(self, draft: ImportDraft) -> None:
        """Shows the columns chosen so far."""
        self._draft = draft
        for part, box in self.boxes.items():
            box.show_draft(draft)
            offered = part == "id" and bool(draft.candidates("id"))
            shown = part in draft.fields and (self._all or part in _ALWAYS or offered)
            box.setVisible(shown)
            self._names[part].setVisible(shown)
        self.sides.set_current(draft.form)
        self.sides.setVisible(draft.form != "ab" or self._all)
        self.more.setText(texts.FEWER_COLUMNS if self._all else texts.MORE_COLUMNS)

    def _toggle_more(self) -> None:
        self._all = not self._all
        if self._draft is not None:
            self.show_draft(self._draft)

    def _sides_chosen(self, key: str) -> None:
        self.form_picked.emit(key)


class LabelRow:
    """The widgets of one label value: how often it occurs, and what it means."""

    def __init__(self, value: str, number: int, annotators: int) -> None:
        """``number`` counts the rows with the value, ``annotators`` those of them that hold an annotator's label."""
        self.value = value
        shown = one_line(value, 60)
        self.name = ElidedLabel(shown, "mono")
        labels = number - annotators
        self.count = label(" + ".join(f"{count:,}" for count in (labels, annotators) if count), tone="text2")
        counts = [plural(labels, "pair") if labels else "", texts.said_by_annotators(annotators) if annotators else ""]
        self.count.setToolTip(", ".join(filter(None, counts)))
        self.count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.meaning = Segment(texts.meaning_of(shown), list(_MEANINGS))
        for key, _ in _MEANINGS:
            self.meaning.button(key).setProperty("tight", True)
        self.mark = IconLabel()
        measure(self.count, font="body", tabular=True)

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        return (self.name, self.count, self.meaning, self.mark)

    def show_meaning(self, decided: Mapping[str, Verdict | None]) -> None:
        """Shows what the value means, or that this is not decided yet."""
        known = self.value in decided
        if known:
            self.meaning.set_current(decided[self.value] or "none")
        else:
            self.meaning.clear()
        name, color = ("tick", "good") if known else ("warning", "warn")
        self.mark.show_icon(name, color)
        self.mark.setAccessibleName(texts.DECIDED if known else texts.TO_BE_DECIDED)
        self.mark.setToolTip("" if known else texts.SAY_MEANING)


class LabelsPanel(QFrame):
    """The meaning of label values.

    Signals:
        picked: a value and its meaning: ``a``, ``b``, ``tie``, or ``None`` for no label.
        no_majority_picked: the label of pairs whose annotators have no majority: ``tie`` or ``None``.
    """

    picked = Signal(str, object)
    no_majority_picked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("part", "panel")
        self.setAccessibleName(texts.LABEL_MEANINGS)
        self.rows: list[LabelRow] = []
        self._values: dict[str, int] = {}
        self._head = QHBoxLayout()
        self._head.addWidget(label(texts.LABEL_MEANINGS, "section"))
        self._head.addStretch(1)
        self._fact = label(tone="text2")
        self._head.addWidget(self._fact)
        self._grid = QGridLayout()
        self._grid.setColumnStretch(0, 1)
        inner = QWidget()
        self._inner = QVBoxLayout(inner)
        self._inner.setContentsMargins(0, 0, 0, 0)
        self._inner.addLayout(self._grid)
        self.note = label(tone="text2", wrap=True)
        self._inner.addWidget(self.note)
        self._majority = QHBoxLayout()
        self._majority_name = label(texts.WITHOUT_MAJORITY, tone="text2")
        self.no_majority = Segment(texts.WITHOUT_MAJORITY_NAME, [("tie", texts.TIE), ("none", texts.NO_LABEL)])
        self.no_majority.chosen.connect(self._no_majority_chosen)
        self._majority.addWidget(self._majority_name)
        self._majority.addWidget(self.no_majority)
        self._majority.addStretch(1)
        self._inner.addLayout(self._majority)
        self._inner.addStretch(1)
        self._scroll = ScrollColumn(inner, focusable=False)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._head)
        self._column.addWidget(self._scroll, stretch=1)
        measure(self._column, margins=(16, Gap(8), 8, Gap(12)), spacing=Gap(8))
        measure(self._head, margins=(0, 0, 8, 0))
        measure(self._inner, spacing=Gap(12))
        measure(self._grid, margins=(0, 0, 8, 0), across=8, down=Gap(8))
        measure(self._majority, spacing=12)

    def show_draft(self, draft: ImportDraft, values: LabelValues) -> None:
        """Shows the label values of the file and what they mean so far."""
        many = len(values.counts) > MOST_LABEL_VALUES
        shown = {} if many else dict(values.counts)
        if shown != self._values:
            self._values = shown
            self._fill(shown, values.annotators)
        decided = draft.decided(values)
        for row in self.rows:
            row.show_meaning(decided)
        meant = {value: number for value, number in values.counts.items() if decided.get(value)}
        annotators = sum(values.annotators.get(value, 0) for value in meant)
        labelled = sum(meant.values()) - annotators
        facts = [texts.labelled(labelled) if labelled else "", texts.by_annotators(annotators) if annotators else ""]
        self._fact.setText(
            ", ".join(filter(None, (plural(draft.preview.count, "row"), *facts))) if values.counts else ""
        )
        self.note.setText(self._words(draft, values, many))
        self.note.setVisible(bool(self.note.text()))
        by_majority = draft.majority_decides and bool(values.counts or draft.several)
        self._majority_name.setVisible(by_majority)
        self.no_majority.setVisible(by_majority)
        self.no_majority.set_current(draft.no_majority or "none")

    @staticmethod
    def _words(draft: ImportDraft, values: LabelValues, many: bool) -> str:
        """What is to be decided, or what the labels will be."""
        if many:
            return texts.no_label_column(len(values.counts))
        open_rows = sum(values.counts[value] for value in draft.undecided(values))
        if open_rows:
            needs_choice = texts.label_needs_choice if open_rows == 1 else texts.labels_need_choice
            return needs_choice(plural(open_rows, "label"))
        if set(draft.missing) - {"human"}:
            return texts.CHOOSE_COLUMNS_FIRST
        if draft.candidates("human"):
            return texts.choose_label_column(texts.OR.join(draft.candidates("human")))
        if draft.several:
            if draft.reads_labels:
                return texts.RATINGS_BECOME_LABELS
            return texts.NO_RATINGS
        if draft.preference:
            return texts.COIN_DECIDES
        if not draft.reads_labels:
            return texts.NO_LABEL_COLUMN
        return "" if values.counts else texts.NO_LABELS_IN_COLUMN

    def _fill(self, values: Mapping[str, int], annotators: Mapping[str, int]) -> None:
        for row in self.rows:
            for widget in row.widgets:
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        self.rows = [LabelRow(value, number, annotators.get(value, 0)) for value, number in values.items()]
        for place, row in enumerate(self.rows):
            for column, widget in enumerate(row.widgets):
                self._grid.addWidget(widget, place, column)
            row.meaning.chosen.connect(self._chosen)

    def row(self, value: str) -> LabelRow:
        """The row of a label value."""
        return next(row for row in self.rows if row.value == value)

    def _chosen(self, key: str) -> None:
        sender = self.sender()
        for row in self.rows:
            if row.meaning is sender:
                self.picked.emit(row.value, None if key == "none" else key)
                return

    def _no_majority_chosen(self, key: str) -> None:
        self.no_majority_picked.emit("tie" if key == "tie" else None)
