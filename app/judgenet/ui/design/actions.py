"""What can be done with a network, in the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from judgenet.ui.actions import Action

if TYPE_CHECKING:
    from judgenet.ui.pages.design import DesignPage


class DesignActions(QObject):
    """Adds the actions of the page Design. Shortcuts that text fields know too hold on the network only."""

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
            Action(
                "neuron.add",
                "Add a neuron",
                editor.add_neuron,
                "Ins",
                "plus",
                self._can_change,
                menu="Network",
                scope=self._page.view,
            ),
            Action(
                "neuron.duplicate",
                "Duplicate",
                editor.duplicate,
                "Ctrl+D",
                "duplicate",
                fixed,
                menu="Network",
                scope=scope,
            ),
            Action(
                "neuron.remove", "Remove", editor.remove, "", "trash", self._can_remove, menu="Network", words="delete"
            ),
            Action("neuron.cut", "Cut neurons", editor.cut, "Ctrl+X", "cut", fixed, menu="Edit", scope=scope),
            Action(
                "neuron.copy",
                "Copy neurons",
                editor.copy,
                "Ctrl+C",
                "copy",
                self._has_neurons,
                menu="Edit",
                scope=scope,
            ),
            Action(
                "neuron.paste",
                "Paste neurons",
                editor.paste,
                "Ctrl+V",
                "paste",
                self._can_change,
                menu="Edit",
                scope=scope,
            ),
            Action(
                "neuron.select_all",
                "Select all neurons",
                editor.select_all,
                "Ctrl+A",
                "",
                self._open,
                menu="Edit",
                scope=scope,
            ),
        ]

    def _network(self) -> list[Action]:
        editor, page = self._editor, self._page
        return [
            Action(
                "layer.add",
                "Add a layer",
                self._add_layer,
                "Ctrl+L",
                "layer",
                self._can_change,
                menu="Network",
                words="deeper",
            ),
            Action(
                "layer.remove",
                "Remove the layer",
                self._remove_layer,
                "Ctrl+Shift+L",
                "",
                self._can_remove_layer,
                menu="Network",
            ),
            Action(
                "chair.toggle",
                "Chair",
                self._toggle_chair,
                "",
                "chair",
                self._can_change,
                self._has_chair,
                menu="Network",
            ),
            Action(
                "network.problem",
                "Next problem",
                editor.next_problem,
                "F8",
                "warning",
                self._has_problem,
                menu="Network",
            ),
            Action(
                "templates.edit",
                "Templates of the prompts",
                page.edit_templates,
                "Ctrl+T",
                "edit",
                self._open,
                self._in_templates,
                menu="Network",
                words="prompt edit",
            ),
            Action("canvas.search", "Find a neuron…", page.search, "Ctrl+F", "search", self._open, menu="Network"),
            Action(
                "canvas.copy",
                "Copy picture of the network",
                page.copy_picture,
                "",
                "copy",
                self._open,
                menu="Network",
                words="image clipboard png canvas",
            ),
            Action(
                "canvas.save",
                "Save picture of the network…",
                page.save_picture,
                "",
                "export",
                self._open,
                menu="Network",
                words="svg png export canvas",
            ),
        ]

    def _views(self) -> list[Action]:
        page = self._page
        return [
            Action(
                "design.tree",
                "Network as a tree",
                page.toggle_tree,
                "Ctrl+Shift+T",
                "columns",
                self._open,
                self._in_tree,
                menu="View",
                words="list outline",
            ),
            Action(
                "design.inspector",
                "Inspector",
                page.toggle_inspector,
                "F4",
                "inspector",
                self._open,
                self._has_inspector,
                menu="View",
            ),
            Action("canvas.fit", "Fit the network", page.view.fit, "", "fit", self._open, menu="View", words="zoom"),
        ]

    def _open(self) -> bool | str:
        return self._document.is_open or "Open a project first."

    def _can_change(self) -> bool | str:
        document = self._document
        return document.read_only or self._open() if document.is_open else self._open()

    def _has_neurons(self) -> bool | str:
        return bool(self._editor.places) or "Select a neuron first."

    def _has_fixed(self) -> bool | str:
        may = self._can_change()
        if may is not True:
            return may
        if any(self._editor.spec.layers[place.layer].adaptive for place in self._editor.places):
            return "This layer has a neuron for each role."
        return self._has_neurons()

    def _can_remove(self) -> bool | str:
        if self._editor.part == "chair" and self._editor.spec.chair is not None:
            return self._can_change()
        return self._has_fixed()

    def _can_remove_layer(self) -> bool | str:
        may = self._can_change()
        return may if may is not True else self._editor.spec.depth > 1 or "It is the only layer."

    def _has_problem(self) -> bool | str:
        return bool(self._editor.problems) or "The design has no problem."

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
