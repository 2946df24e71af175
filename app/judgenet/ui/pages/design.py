"""The page Design: the network on a canvas or as a tree, its inspector, and its cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from judgenet.core.cascade import has_stop_rules
from judgenet.core.endpoint_extra import with_endpoint_extra
from judgenet.core.pairs import Pair
from judgenet.core.plan import criteria_range
from judgenet.store.files import atomic_write
from judgenet.ui.canvas.export import network_image, network_png, network_svg
from judgenet.ui.canvas.gates import with_gates
from judgenet.ui.canvas.model import NetworkState, Part, Place, Target
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.canvas.view import NetworkView
from judgenet.ui.canvas.weights import weights_legend, with_weights
from judgenet.ui.context import Context
from judgenet.ui.design import texts
from judgenet.ui.design.actions import DesignActions
from judgenet.ui.design.canvas_menus import CanvasMenus
from judgenet.ui.design.comparison_note import ComparisonNote
from judgenet.ui.design.costs import CostStrip
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.inspector import DesignInspector
from judgenet.ui.design.state import design_state
from judgenet.ui.design.templates import TemplateEditor
from judgenet.ui.design.toolbar import DesignToolbar
from judgenet.ui.design.tree import NetworkTree
from judgenet.ui.design.worth import LayerWorth
from judgenet.ui.dialogs import ask_save_file
from judgenet.ui.elements import ElidedLabel
from judgenet.ui.measures import measure
from judgenet.ui.navigation import Visit
from judgenet.ui.pages.base import Page
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import INSPECTOR

_NARROW: Final = 760
"""Below this width of the page in px at 100 % the canvas has all of it until the inspector is asked for."""


class DesignPage(Page):
    """The page Design."""

    key = "design"
    smallest = (600, 420)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._quiet = False
        self._index = 0
        self._widths: tuple[Sequence[Pair], object, tuple[int, int] | None] | None = None
        self.editor = DesignEditor(context, self)
        document = context.document
        self.worth = LayerWorth(context, self)
        self.scene = NetworkScene(context.theme.theme, self._state(), self)
        self.view = NetworkView(self.scene)
        self.tree = NetworkTree(context, self.editor)
        self.templates = TemplateEditor(context)
        self.stack = QStackedWidget()
        for widget in (self.view, self.tree, self.templates):
            self.stack.addWidget(widget)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.actions_of_page = DesignActions(self)
        self.toolbar = DesignToolbar(self.editor, context.actions)
        self.weights = ElidedLabel(tone="text2")
        self.weights.hide()
        self.comparison = ComparisonNote(context)
        self.costs = CostStrip(context)
        self.inspector = DesignInspector(self.editor)
        center = QWidget()
        center.setProperty("part", "canvas")
        column = QVBoxLayout(center)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.toolbar)
        column.addWidget(self.stack, stretch=1)
        column.addWidget(self.weights)
        column.addWidget(self.comparison)
        column.addWidget(self.costs)
        self._center = center
        self.splitter.addWidget(center)
        self.splitter.addWidget(self.inspector)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 0)
        self.splitter.setCollapsible(0, False)
        self.splitter.setHandleWidth(1)
        self.splitter.splitterMoved.connect(self._keep_width)
        self._placed = False
        self._narrow = False
        self._scale = 1.0
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.splitter)
        for signal in (document.project_changed, document.pairs_changed, document.read_only_changed, document.opened):
            signal.connect(self.show_design)
        self._connect(context)

    def _connect(self, context: Context) -> None:
        self.editor.problems_changed.connect(self.show_design)
        context.learning.changed.connect(self.show_design)
        self.worth.changed.connect(self.show_design)
        context.figures.changed.connect(self._show_gates)
        self.editor.selection_changed.connect(self._show_selection)
        self.inspector.template_wanted.connect(self.edit_templates)
        self.inspector.prompt.pair_chosen.connect(self._pair_chosen)
        self.templates.closed.connect(self.show_canvas)
        self.tree.activated_target.connect(self._activated)
        self.costs.problem_wanted.connect(self.editor.next_problem)
        self._connect_scene()
        measure(self.weights, margins=(16, 4, 16, 4))
        measure(self.inspector, min_width=336)
        measure(self._center, min_width=200)

    def _connect_scene(self) -> None:
        scene, editor, toolbar = self.scene, self.editor, self.toolbar
        self._menus = CanvasMenus(self.context, editor, scene, self)
        scene.selection_changed.connect(self._selected)
        scene.part_selected.connect(self._part_selected)
        scene.neuron_selected.connect(self._neuron_selected)
        scene.node_activated.connect(self._activated)
        scene.width_requested.connect(editor.set_width)
        scene.layer_add_requested.connect(editor.add_layer)
        scene.layer_remove_requested.connect(editor.remove_layer)
        scene.neuron_move_requested.connect(editor.move)
        scene.edge_toggle_requested.connect(editor.toggle_edge)
        scene.delete_requested.connect(self._delete)
        scene.fix_requested.connect(self._fix)
        scene.gate_chosen.connect(self._gate_chosen)
        scene.chair_add_requested.connect(editor.add_chair)
        self.view.zoom_changed.connect(toolbar.show_zoom)
        toolbar.fit_wanted.connect(self.view.fit)
        toolbar.zoom_in_wanted.connect(self.view.zoom_in)
        toolbar.zoom_out_wanted.connect(self.view.zoom_out)
        toolbar.full_wanted.connect(self.view.zoom_to_full)

    def regions(self) -> Sequence[QWidget]:
        return (self.toolbar, self.stack, self.costs, self.inspector)

    def enter(self, visit: Visit) -> None:
        if visit.site is not None and visit.site.layer >= 1:
            self.editor.select([Place(visit.site.layer - 1, visit.site.neuron - 1)])
        if visit.pairs:
            self.inspector.prompt.set_index(visit.pairs[0])
            self._index = visit.pairs[0]
        self.show_design()
        self.comparison.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._place_inspector()
        self.worth.watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.worth.watch(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        theme = current_theme()
        if (self.width() < theme.px(_NARROW), theme.scale) != (self._narrow, self._scale):
            self._place_inspector()

    def _place_inspector(self) -> None:
        if not self.isVisible() or not self.width():
            return
        theme = self.context.theme.theme
        narrow, before = self.width() < theme.px(_NARROW), self._narrow
        self._narrow, self._scale = narrow, theme.scale
        self.toolbar.show_inspector_button(narrow)
        shut = narrow if narrow != before else self._placed and not self.has_inspector
        self._open_inspector(not shut)
        self._placed = True

    def _open_inspector(self, opened: bool) -> None:
        theme = self.context.theme.theme
        wanted = theme.px(self.context.settings.number("design inspector", INSPECTOR["design"])) if opened else 0
        self.splitter.setSizes([max(1, self.width() - wanted), wanted])
        self.context.actions.refresh_soon()

    def _keep_width(self) -> None:
        width = self.splitter.sizes()[1]
        if width:
            self.context.settings.keep_number("design inspector", round(width / self.context.theme.theme.scale))

    # What is shown

    def _state(self) -> NetworkState:
        document = self.context.document
        index = min(self._index, max(0, len(document.pairs) - 1))
        pair = document.pairs[index] if index < len(document.pairs) else None
        state = design_state(
            document.spec,
            document.profiles,
            self.editor.problems,
            document.rule,
            pair,
            index,
            editable=not document.read_only,
            criteria=self._criteria_widths(),
        )
        estimate = self.context.figures.estimate
        state = with_gates(state, document.spec, None if estimate is None else estimate.estimate)
        state = with_weights(state, self.context.learning.rule_of_design())
        return self.worth.below_layers(state, with_endpoint_extra(document.spec, document.profiles))

    def _criteria_widths(self) -> tuple[int, int] | None:
        """The widths of layers with one neuron per criterion, counted once for the loaded pairs."""
        spec, pairs = self.context.document.spec, self.context.document.pairs
        decides = (spec.roles.kind, len(spec.roles.roles), any(layer.adaptive for layer in spec.layers))
        if self._widths is None or self._widths[0] is not pairs or self._widths[1] != decides:
            self._widths = (pairs, decides, criteria_range(spec, pairs))
        return self._widths[2]

    def _pair_chosen(self, index: int) -> None:
        self._index = index
        self.show_design()

    def show_design(self) -> None:
        """Shows the design as it is now."""
        if not self.context.document.is_open:
            return
        self._quiet = True
        self.scene.set_network(self._state())
        self._quiet = False
        self.weights.say(weights_legend(self.context.learning.rule_of_design()))
        self.weights.setVisible(bool(self.weights.whole))
        self.costs.show_problems(self.editor.problems)
        self._show_selection()

    def _show_gates(self) -> None:
        """Updates the shares at the stop rules from the estimate."""
        if self.context.document.is_open and has_stop_rules(self.context.document.spec):
            self.show_design()

    def _gate_chosen(self, layer: int) -> None:
        """Selects the layer after a stop rule, so that the inspector edits the rule."""
        self.editor.select(Place(layer, place) for place in range(self.scene.layout.layers[layer].count))
        self.show_stop_rules()

    def show_stop_rules(self) -> None:
        """Leads to the stop rules of what is selected, or of the whole network."""
        self.context.navigator.go("design")
        if not self.has_inspector:
            self._open_inspector(True)
        if self.inspector.stop.places() is None:
            self.editor.select(())
        self.inspector.area.ensureWidgetVisible(self.inspector.stop)
        self.inspector.stop.before.kind.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_selection(self) -> None:
        if self._quiet:
            return
        self._quiet = True
        if self.scene.selection != self.editor.places:
            self.scene.set_selection(self.editor.places)
            if self.editor.first is not None and self.scene.layout.has(self.editor.first):
                self.scene.set_current(self.editor.first)
                if self.view.isVisible():
                    self.view.show_target(self.editor.first)
        part = self.editor.part
        if part is not None and self.scene.current != part and self.scene.layout.has(part):
            self.scene.set_current(part)
        self._quiet = False
        self.context.actions.refresh_soon()

    def _selected(self, places: frozenset[Place]) -> None:
        if not self._quiet:
            self._quiet = True
            self.editor.select(places)
            self._quiet = False
            self.context.actions.refresh_soon()

    def _part_selected(self, part: Part) -> None:
        self.editor.select((), part)

    def _neuron_selected(self, place: Place | None) -> None:
        if place is None and not self.scene.selection:
            self.editor.select(())

    def _activated(self, target: Target) -> None:
        """Moves the keyboard focus to the inspector, after Enter or a double click on a node."""
        if not self.has_inspector:
            self._open_inspector(True)
        if isinstance(target, Place):
            self.editor.select([target])
            self.inspector.role.name.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.editor.select((), target)
            self.inspector.area.setFocus(Qt.FocusReason.OtherFocusReason)

    def _delete(self, places: frozenset[Place]) -> None:
        self.editor.select(places)
        self.editor.remove()

    def _fix(self, target: Target) -> None:
        problem = self.editor.problem_at(target)
        if problem is not None:
            self.editor.fix(problem)

    # Canvas, tree, templates

    @property
    def mode(self) -> str:
        """``canvas``, ``tree`` or ``templates``."""
        return ("canvas", "tree", "templates")[self.stack.currentIndex()]

    def show_canvas(self) -> None:
        """Shows the network as a picture."""
        self._show(self.view)

    def toggle_tree(self) -> None:
        """Shows the network as a tree, or as a picture again."""
        self._show(self.view if self.mode == "tree" else self.tree)

    def edit_templates(self) -> None:
        """Shows the templates of the prompts."""
        if self.mode == "templates":
            self.templates.apply()
            self._show(self.view)
            return
        self._show(self.templates)
        self.templates.open(self._template_in_view())

    def _template_in_view(self) -> str:
        spec = self.editor.spec
        language = "zh" if spec.language == "zh" else "en"
        what = "roles.ask" if self.editor.part == "roles" else "judge.evidence" if spec.evidence else "judge.scores"
        return f"{language}.frame.{what}"

    def _show(self, widget: QWidget) -> None:
        self.stack.setCurrentWidget(widget)
        self.toolbar.set_canvas(widget is self.view)
        widget.setFocus(Qt.FocusReason.OtherFocusReason)
        self.context.actions.refresh_soon()

    # Menus

    # Panels

    def toggle_inspector(self) -> None:
        """Shows or hides the inspector."""
        self._open_inspector(not self.has_inspector)

    @property
    def has_inspector(self) -> bool:
        """Whether the inspector is in view."""
        return self.splitter.count() > 1 and self.splitter.sizes()[1] > 0

    def search(self) -> None:
        """Finds a neuron on the canvas."""
        self.context.navigator.go("design")
        self.show_canvas()
        self.view.open_search()

    def copy_picture(self) -> None:
        """Puts the network's picture on the clipboard."""
        try:
            QGuiApplication.clipboard().setImage(network_image(self.scene))
        except OSError as error:
            self.context.errors.post_exception(error, texts.NO_PICTURE_COPIED)
            return
        self.context.errors.post(texts.PICTURE_IS_COPIED, level="note")

    def save_picture(self) -> None:
        """Asks where to save the network's picture, and saves it."""
        self.context.tasks.start(self._ask_and_save(), texts.SAVE_PICTURE)

    async def _ask_and_save(self) -> None:
        suggestion = self.context.document.folder / f"{self.context.document.title}.svg"
        forms = ("SVG (*.svg)", "PNG (*.png)")
        path = await ask_save_file(self.window(), texts.SAVE_PICTURE, forms, suggestion, "svg")
        if path is not None:
            self._write_picture(path)

    def _write_picture(self, path: Path) -> None:
        try:
            if path.suffix.lower() == ".png":
                network_png(self.scene, path)
            else:
                atomic_write(path, network_svg(self.scene, title=self.context.document.title))
        except OSError as error:
            self.context.errors.post_exception(error, path.name)
