"""The network as an editable tree, for use without the canvas, as with a screen reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QSpinBox,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import (
    NetworkError,
    Role,
    RoleKind,
    Settings,
    chair_settings,
    designed_role,
    neuron_settings,
    role_settings,
)
from judgenet.core.network_graph import design_graph
from judgenet.core.reasoning import read_reasoning_text
from judgenet.core.wording import plural, rule_words
from judgenet.ui.canvas.model import Place, Target
from judgenet.ui.context import Context
from judgenet.ui.design import texts
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.models import model_choices
from judgenet.ui.design.state import model_of, problems_at, role_words, width_of
from judgenet.ui.design.stop_rules import stop_words

COLUMNS: Final = (
    texts.NODE,
    texts.MODEL,
    texts.TEMPERATURE,
    texts.SAMPLES,
    texts.REASONING,
    texts.READS,
    texts.PROBLEM,
)
NAME, MODEL, TEMPERATURE, SAMPLES, REASONING, READS, PROBLEM = range(7)
_ROLE_ROWS: Final[dict[RoleKind, str]] = {
    "generated": texts.ROLES_BY_MODEL,
    "fixed": texts.FIXED_ROLES_ROW,
    "criteria": texts.CRITERIA_ROW,
}
_TARGET: Final = Qt.ItemDataRole.UserRole
_LAYER: Final = Qt.ItemDataRole.UserRole + 1


class _Delegate(QStyledItemDelegate):
    """The editors of the cells: a list of models, a spin box of samples, a field for the rest."""

    def __init__(self, editor: DesignEditor, parent: QWidget) -> None:
        super().__init__(parent)
        self._editor = editor

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        if index.column() == MODEL:
            box = QComboBox(parent)
            for choice in model_choices(self._editor.spec, self._editor.context.document.profiles):
                box.addItem(choice.shown, choice)
            box.setAccessibleName(texts.MODEL)
            return box
        if index.column() == SAMPLES:
            spin = QSpinBox(parent)
            spin.setRange(1, 99)
            spin.setAccessibleName(texts.SAMPLES)
            return spin
        field = super().createEditor(parent, option, index)
        field.setAccessibleName(COLUMNS[index.column()])
        return field

    def setEditorData(self, editor: QWidget, index: QModelIndex | QPersistentModelIndex) -> None:
        if isinstance(editor, QComboBox):
            text = str(index.data())
            place = next((i for i in range(editor.count()) if editor.itemText(i).startswith(text)), 0)
            editor.setCurrentIndex(place)
        elif isinstance(editor, QSpinBox):
            editor.setValue(int(index.data() or 1))
        else:
            super().setEditorData(editor, index)


class NetworkTree(QTreeView):
    """The pair, the layers with their neurons, the vote and the verdict. Insert adds a neuron, Delete removes it, Alt
    with the arrow keys moves it, F2 edits the name; the other columns are edited in place.

    Signals:
        activated_target: a node was chosen with Enter.
    """

    activated_target = Signal(object)

    def __init__(self, context: Context, editor: DesignEditor) -> None:
        super().__init__()
        self._context = context
        self._editor = editor
        self._quiet = False
        self._items: dict[Target, QStandardItem] = {}
        self._layers: dict[int, QStandardItem] = {}
        self.model_of_tree = QStandardItemModel(self)
        self.setModel(self.model_of_tree)
        self.setAccessibleName(texts.TREE)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked)
        self.setUniformRowHeights(True)
        self.setItemDelegate(_Delegate(editor, self))
        self.header().setStretchLastSection(True)
        context.document.network_changed.connect(self.rebuild)
        editor.problems_changed.connect(self.rebuild)
        editor.selection_changed.connect(self._show_selection)
        self.selectionModel().selectionChanged.connect(self._selected)
        self.model_of_tree.itemChanged.connect(self._edited)
        self.activated.connect(self._activated)

    # Filling

    def rebuild(self) -> None:
        """Fills the tree from the current design; open layers stay open."""
        if not self.isVisible():
            return
        spec, profiles = self._editor.spec, self._context.document.profiles
        closed = {layer for layer, item in self._layers.items() if not self.isExpanded(item.index())}
        self._quiet = True
        model = self.model_of_tree
        model.clear()
        model.setHorizontalHeaderLabels(list(COLUMNS))
        self._items.clear()
        self._layers.clear()
        root = model.invisibleRootItem()
        self._row(root, texts.PAIR, "pair")
        if spec.roles.kind != "none":
            self._add_roles(root)
        self._add_layers(root)
        self._row(root, texts.vote_by(rule_words(self._context.document.rule)), "vote")
        if spec.chair is not None:
            settings = chair_settings(spec)
            cells = _cells(settings, profiles)
            self._row(
                root,
                texts.chair_row(stop_words(spec, spec.depth)),
                "chair",
                cells,
                not self._context.document.read_only,
            )
        self._row(root, texts.VERDICT, "verdict")
        self.expandAll()
        for layer in closed:
            if layer in self._layers:
                self.collapse(self._layers[layer].index())
        header = self.header()
        for column in range(len(COLUMNS) - 1):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        if header.sectionSize(NAME) < self._context.theme.theme.px(180):
            header.resizeSection(NAME, self._context.theme.theme.px(220))
            header.resizeSection(MODEL, self._context.theme.theme.px(170))
            for column, width in ((TEMPERATURE, 108), (SAMPLES, 80), (REASONING, 92), (READS, 88)):
                header.resizeSection(column, self._context.theme.theme.px(width))
        self._quiet = False
        self._show_selection()

    def _add_roles(self, root: QStandardItem) -> None:
        spec, profiles = self._editor.spec, self._context.document.profiles
        settings = role_settings(spec)
        words = _ROLE_ROWS[spec.roles.kind]
        asked = spec.roles.kind == "generated"
        cells: tuple[str, ...] = ()
        if asked:
            cells = _cells(replace(settings, samples=1), profiles)
        item = self._row(root, words, "roles", cells)
        if spec.roles.kind == "fixed":
            for role in spec.roles.roles:
                item.appendRow([_cell(role.name), *(_cell("") for _ in COLUMNS[1:])])

    def _add_layers(self, root: QStandardItem) -> None:
        spec, profiles = self._editor.spec, self._context.document.profiles
        problems = problems_at(spec, self._editor.problems)
        editable = not self._context.document.read_only
        graph = design_graph(spec)
        for layer, designed in enumerate(spec.layers):
            width = width_of(spec, layer)
            as_many = texts.AS_MANY_AS_CRITERIA if spec.roles.kind == "criteria" else texts.AS_MANY_AS_ROLES
            words = as_many if designed.adaptive else plural(width, "neuron")
            item = self._row(root, texts.layer_row(layer + 1, words, stop_words(spec, layer)), None)
            item.setData(layer, _LAYER)
            self._layers[layer] = item
            for place in range(width):
                settings = neuron_settings(spec, layer, place)
                reads = ""
                if layer:
                    before = width_of(spec, layer - 1)
                    reads = reads_words(graph.inputs(layer, place), before)
                problem = problems.get((layer, place))
                cells = (
                    *_cells(settings, profiles),
                    reads,
                    str(problem) if problem is not None else "",
                )
                self._row(item, role_words(spec, layer, place), Place(layer, place), cells, editable)

    def _row(
        self,
        parent: QStandardItem,
        name: str,
        target: Target | None,
        cells: tuple[str, ...] = (),
        editable: bool = False,
    ) -> QStandardItem:
        values = [name, *cells, *("" for _ in range(len(COLUMNS) - 1 - len(cells)))]
        row = [_cell(text) for text in values]
        for column, item in enumerate(row):
            if target is not None:
                item.setData(target, _TARGET)
            setting = column in (MODEL, TEMPERATURE, SAMPLES, REASONING) and bool(cells)
            item.setEditable(editable and (setting or (column == NAME and isinstance(target, Place))))
            item.setData(f"{COLUMNS[column]}: {item.text() or texts.EMPTY_CELL}", Qt.ItemDataRole.AccessibleTextRole)
        parent.appendRow(row)
        if target is not None:
            self._items[target] = row[0]
        return row[0]

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self.rebuild()

    # Selection

    def _show_selection(self) -> None:
        if not self.isVisible() or self._quiet:
            return
        editor = self._editor
        wanted: list[Target] = sorted(editor.places) if editor.places else []
        if not wanted and editor.part is not None:
            wanted = [editor.part]
        chosen = QItemSelection()
        first: QModelIndex | None = None
        for target in wanted:
            item = self._items.get(target)
            if item is not None:
                index = item.index()
                chosen.select(index, index.siblingAtColumn(len(COLUMNS) - 1))
                first = first or index
        self._quiet = True
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().select(chosen, flags)
        if first is not None and self.currentIndex().siblingAtColumn(0) != first:
            self.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.scrollTo(first)
        self._quiet = False

    def _selected(self) -> None:
        if self._quiet:
            return
        places: set[Place] = set()
        part = None
        for index in self.selectionModel().selectedRows():
            target = index.data(_TARGET)
            layer = index.data(_LAYER)
            if isinstance(target, Place):
                places.add(target)
            elif isinstance(layer, int):
                places |= {Place(layer, place) for place in range(width_of(self._editor.spec, layer))}
            elif isinstance(target, str):
                part = target
        self._quiet = True
        self._editor.select(places, part)  # type: ignore[arg-type]
        self._quiet = False

    def _activated(self, index: QModelIndex) -> None:
        target = index.data(_TARGET)
        if target is not None:
            self.activated_target.emit(target)

    # Editing

    def _edited(self, item: QStandardItem) -> None:
        target = item.data(_TARGET)
        if self._quiet or target is None:
            return
        editor = self._editor
        before = editor.scope
        if isinstance(target, Place):
            editor.select([target])
        else:
            editor.select((), target)
        editor.set_scope("neuron")
        try:
            self._apply(item, target)
        except (NetworkError, ValueError) as error:
            self._context.errors.post(str(error), COLUMNS[item.column()], level="warning")
        editor.set_scope(before)
        self.rebuild()

    def _apply(self, item: QStandardItem, target: Target) -> None:
        editor, text = self._editor, item.text().strip()
        if item.column() == NAME and isinstance(target, Place):
            role = designed_role(editor.spec, target.layer, target.neuron)
            editor.set_role(Role(text, role.description if role else "") if text else None)
        elif item.column() == MODEL:
            choices = model_choices(editor.spec, self._context.document.profiles)
            choice = next((choice for choice in choices if choice.shown == text), None)
            if choice is not None:
                editor.set_settings(endpoint=choice.endpoint, model=choice.model)
        elif item.column() == TEMPERATURE:
            editor.set_settings(temperature="default" if text in ("", "default") else _number(text))
        elif item.column() == REASONING:
            editor.set_settings(reasoning=read_reasoning_text("", text or "default"))
        elif item.column() == SAMPLES:
            editor.set_settings(samples=max(1, int(text)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        editor = self._editor
        if event.key() == Qt.Key.Key_Insert:
            editor.add_neuron()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            editor.remove()
        elif alt and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            editor.move_selected(-1 if event.key() == Qt.Key.Key_Up else 1)
        elif (
            event.key() in (Qt.Key.Key_Plus, Qt.Key.Key_Minus)
            and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self._widen(1 if event.key() == Qt.Key.Key_Plus else -1)
        else:
            super().keyPressEvent(event)

    def _widen(self, by: int) -> None:
        layers = self._editor.layers()
        if layers and not self._editor.spec.layers[layers[0]].adaptive:
            self._editor.set_width(layers[0], max(1, width_of(self._editor.spec, layers[0]) + by))


def _cell(text: str) -> QStandardItem:
    item = QStandardItem(text)
    item.setEditable(False)
    item.setToolTip(text)
    return item


def _cells(settings: Settings, profiles: Mapping[str, EndpointProfile]) -> tuple[str, ...]:
    """The cells of settings: model, temperature, samples, reasoning."""
    reasoning = "default" if settings.reasoning is None else str(settings.reasoning)
    return (
        model_of(settings, profiles),
        _temperature(settings.temperature),
        str(settings.samples or 1),
        reasoning,
    )


def _temperature(value: float | str | None) -> str:
    return "default" if value in (None, "default") else f"{value:g}"


def _number(text: str) -> float:
    value = float(text.replace(",", "."))
    if not 0 <= value <= 2:
        raise ValueError(texts.NOT_A_TEMPERATURE)
    return value


def reads_words(inputs: tuple[int, ...], width_before: int) -> str:
    """What a neuron reads of the layer before it: ``all 4``, ``1, 3 to 5``, ``nothing``. ``inputs`` count from 0, in
    order; ``width_before`` is the width of the layer before."""
    if len(inputs) == width_before:
        return texts.reads_all(width_before)
    if not inputs:
        return texts.READS_NONE
    runs: list[tuple[int, int]] = []
    for place in inputs:
        if runs and place == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return ", ".join(
        str(first + 1) if first == last else texts.reads_range(first + 1, last + 1) for first, last in runs
    )
