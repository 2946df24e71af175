"""The menus of the canvas on page Design."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu, QWidget

from judgenet.core.aggregate import aggregation_names
from judgenet.core.network import WiringKind
from judgenet.ui.canvas.model import EdgeChange, MenuRequest, Place
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.context import Context
from judgenet.ui.design import texts
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.network_forms import rule_choice
from judgenet.ui.design.stop_rules import fill_stop_rules

_WIRINGS: Final[tuple[tuple[str, WiringKind, int], ...]] = (
    (texts.FULL_WIRING_CHOICE, "full", 1),
    (texts.NEXT_WINDOW_CHOICE, "window", 1),
    (texts.WIDE_WINDOW_CHOICE, "window", 2),
    (texts.CUSTOM_WIRING, "explicit", 1),
)


class CanvasMenus(QObject):
    """Opens the menus of nodes, layers, edges, wirings and the vote."""

    def __init__(self, context: Context, editor: DesignEditor, scene: NetworkScene, page: QWidget) -> None:
        super().__init__(page)
        self._context = context
        self._editor = editor
        self._scene = scene
        self._page = page
        scene.wiring_requested.connect(self.open_wirings)
        scene.rule_requested.connect(self.open_rules)
        scene.menu_requested.connect(self.open_menu)

    def open_wirings(self, layer: int, x: int, y: int) -> None:
        """Opens the menu of wirings of a layer, counted from 0; ``x`` and ``y`` are px of the screen."""
        menu = QMenu(self._page)
        self._fill_wirings(menu, layer)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(QPoint(x, y))

    def _fill_wirings(self, menu: QMenu, layer: int) -> None:
        wiring = self._editor.spec.layers[layer].wiring
        for text, kind, window in _WIRINGS:
            action = menu.addAction(text, self._wiring_picked)
            action.setData((layer, kind, window))
            action.setCheckable(True)
            action.setChecked(kind == wiring.kind and (kind != "window" or window == wiring.window))

    def _wiring_picked(self) -> None:
        action: Any = self.sender()
        layer, kind, window = action.data()
        self._editor.set_wiring(layer, kind, window)

    def open_rules(self, x: int, y: int) -> None:
        """Opens the menu of rules of the vote; ``x`` and ``y`` are px of the screen."""
        menu = QMenu(self._page)
        spec = self._editor.spec
        for rule in aggregation_names(spec):
            action = menu.addAction(rule_choice(rule, spec.depth), self._rule_picked)
            action.setData(rule)
            action.setCheckable(True)
            action.setChecked(rule == self._context.document.rule)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(QPoint(x, y))

    def _rule_picked(self) -> None:
        action: Any = self.sender()
        self._context.document.set_rule(action.data())

    def open_menu(self, request: MenuRequest) -> None:
        """Opens the menu of the node, layer or edge that was clicked."""
        menu = QMenu(self._page)
        table = self._context.actions
        if request.edge is not None:
            action = menu.addAction(texts.REMOVE_THIS_EDGE, self._edge_picked)
            action.setData(EdgeChange(request.edge.layer, request.edge.source, request.edge.target, False))
        elif request.layer is not None and request.target is None:
            layer = request.layer
            self._editor.select(Place(layer, place) for place in range(self._scene.layout.layers[layer].count))
            names = ("neuron.add", "layer.add", "layer.remove")
            for name in names:
                menu.addAction(table.qaction(name))
            if layer:
                self._fill_wirings(menu.addMenu(texts.WIRING), layer)
                fill_stop_rules(menu.addMenu(texts.STOP_RULE_BEFORE_LAYER), self._editor, ("before", layer))
            fill_stop_rules(menu.addMenu(texts.STOP_RULE_BETWEEN_NEURONS), self._editor, ("within", layer))
        elif isinstance(request.target, Place):
            for name in ("neuron.duplicate", "neuron.copy", "neuron.cut", "neuron.paste", "neuron.remove"):
                menu.addAction(table.qaction(name))
            menu.addSeparator()
            for name in ("layer.add", "layer.remove"):
                menu.addAction(table.qaction(name))
        elif request.target == "chair":
            menu.addAction(table.qaction("chair.toggle"))
        elif request.target == "vote":
            self.open_rules(request.x, request.y)
            return
        else:
            for name in ("neuron.paste", "neuron.select_all", "layer.add", "chair.toggle", "canvas.fit", "canvas.save"):
                menu.addAction(table.qaction(name))
        table.refresh()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(QPoint(request.x, request.y))

    def _edge_picked(self) -> None:
        action: Any = self.sender()
        self._editor.toggle_edge(action.data())
