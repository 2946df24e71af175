"""The actions of the page Design."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from judgenet.ui.actions import Action, known_action
from judgenet.ui.design import texts

if TYPE_CHECKING:
    from judgenet.ui.pages.design import DesignPage


class DesignActions(QObject):
    """Adds the actions of the page Design to the table of actions. Shortcuts that text fields use too (copy, paste, …)
    work only where the network has the focus."""

    def __init__(self, page: DesignPage) -> None:
        super().__init__(page)
        self._page = page
        self._editor = page.editor
        self._document = page.context.document
        page.context.actions.add(*self._neurons(), *self._network(), *self._views())

    def _neurons(self) -> list[Action]:
        editor, scope = self._editor, self._page.stack
        fixed = self._has_fixed
        return [
            known_action("neuron.add", editor.add_neuron, self._can_change, scope=self._page.view),
            known_action("neuron.duplicate", editor.duplicate, fixed, scope=scope),
            known_action("neuron.remove", editor.remove, self._can_remove),
            known_action("neuron.cut", editor.cut, fixed, scope=scope),
            known_action("neuron.copy", editor.copy, self._has_neurons, scope=scope),
            known_action("neuron.paste", editor.paste, self._can_change, scope=scope),
            known_action("neuron.select_all", editor.select_all, self._open, scope=scope),
        ]

    def _network(self) -> list[Action]:
        editor, page = self._editor, self._page
        return [
            known_action("layer.add", self._add_layer, self._can_change),
            known_action("layer.remove", self._remove_layer, self._can_remove_layer),
            known_action("chair.toggle", self._toggle_chair, self._can_change, self._has_chair),
            known_action("network.stop_rules", page.show_stop_rules, self._can_change),
            known_action("network.problem", editor.next_problem, self._has_problem),
            known_action("templates.edit", page.edit_templates, self._open, self._in_templates),
            known_action("canvas.search", page.search, self._open),
            known_action("canvas.copy", page.copy_picture, self._open),
            known_action("canvas.save", page.save_picture, self._open),
        ]

    def _views(self) -> list[Action]:
        page = self._page
        return [
            known_action("design.tree", page.toggle_tree, self._open, self._in_tree),
            known_action("design.inspector", page.toggle_inspector, self._open, self._has_inspector),
            known_action("canvas.fit", page.view.fit, self._open),
        ]

    def _open(self) -> bool | str:
        return self._document.is_open or texts.OPEN_PROJECT_FIRST

    def _can_change(self) -> bool | str:
        document = self._document
        return document.read_only or self._open() if document.is_open else self._open()

    def _has_neurons(self) -> bool | str:
        return bool(self._editor.places) or texts.SELECT_NEURON_FIRST

    def _has_fixed(self) -> bool | str:
        allowed = self._can_change()
        if allowed is not True:
            return allowed
        if any(self._editor.spec.layers[place.layer].adaptive for place in self._editor.places):
            return texts.NEURON_FOR_EACH_ROLE
        return self._has_neurons()

    def _can_remove(self) -> bool | str:
        if self._editor.part == "chair" and self._editor.spec.chair is not None:
            return self._can_change()
        return self._has_fixed()

    def _can_remove_layer(self) -> bool | str:
        allowed = self._can_change()
        return allowed if allowed is not True else self._editor.spec.depth > 1 or texts.ONLY_LAYER

    def _has_problem(self) -> bool | str:
        return bool(self._editor.problems) or texts.DESIGN_HAS_NO_PROBLEM

    def _has_chair(self) -> bool:
        return self._document.is_open and self._editor.spec.chair is not None

    def _in_tree(self) -> bool:
        return self._page.mode == "tree"

    def _in_templates(self) -> bool:
        return self._page.mode == "templates"

    def _has_inspector(self) -> bool:
        return self._page.has_inspector

    def _add_layer(self) -> None:
        self._editor.add_layer()

    def _remove_layer(self) -> None:
        self._editor.remove_layer()

    def _toggle_chair(self) -> None:
        if self._editor.spec.chair is None:
            self._editor.add_chair()
        else:
            self._editor.remove_chair()
