"""The editor of the network: the selection, and every edit that the parts of the page make."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any, Final, Literal

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtGui import QGuiApplication

from judgenet.core import design
from judgenet.core.checks import Problem, check, copy_problems
from judgenet.core.fixes import fix, with_enough_roles
from judgenet.core.network import (
    Aggregation,
    ChairSpec,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    Role,
    RolesSpec,
    Settings,
    WiringKind,
    designed_role,
)
from judgenet.core.network_json import neurons_from_json, neurons_to_json
from judgenet.core.pair_checks import check_pairs
from judgenet.core.project import RULE
from judgenet.core.roles import library, roles_for
from judgenet.engine.session import blind_words
from judgenet.ui.canvas.model import EdgeChange, Part, Place, Target
from judgenet.ui.context import Context
from judgenet.ui.design import texts
from judgenet.ui.design.state import problems_at, spec_place, width_of

EditScope = Literal["neuron", "layer", "all"]

NEURONS_MIME: Final = "application/x-judgenet-neurons+json"


class DesignEditor(QObject):
    """Edits the document's network.

    Attributes:
        places: the selected neurons, as drawn.
        part: the selected node where no neuron is selected; ``None`` for none.
        scope: what settings of the inspector apply to: the selected neurons, their layers, or all.
        problems: what is wrong with the design, errors first.

    Signals:
        selection_changed: :attr:`places`, :attr:`part` or :attr:`scope` changed.
        problems_changed: :attr:`problems` changed.
    """

    selection_changed = Signal()
    problems_changed = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self._document = context.document
        self.places: frozenset[Place] = frozenset()
        self.part: Part | None = None
        self.scope: EditScope = "neuron"
        self.problems = self._check() if self._document.is_open else ()
        self._document.opened.connect(self._opened)
        self._document.network_changed.connect(self._changed)
        self._document.profiles_changed.connect(self._changed)
        self._document.pairs_changed.connect(self._changed)

    def _check(self) -> tuple[Problem, ...]:
        """Finds what is wrong with the design, errors first, and neurons that are copies of others."""
        pairs = check_pairs(self.spec, self._document.pairs)
        if words := blind_words(self.spec, self._document.profiles, self._document.pairs):
            head, _, mend = words.partition(". ")
            pairs = (*pairs, Problem("error", "settings.model", f"{head}.", mend))
        return (*pairs, *check(self.spec, self._document.profiles), *copy_problems(self.spec))

    @property
    def spec(self) -> NetworkSpec:
        return self._document.spec

    def _opened(self) -> None:
        """Clears the selection: another project was opened."""
        self.places, self.part = frozenset(), None
        self.problems = self._check()
        self.selection_changed.emit()
        self.problems_changed.emit()

    def _changed(self) -> None:
        problems = self._check()
        kept = frozenset(
            place for place in self.places if place.layer < self.spec.depth and place.neuron < self._width(place.layer)
        )
        gone = self.part == "chair" and self.spec.chair is None
        changed = kept != self.places or gone
        self.places = kept
        if gone:
            self.part = None
        if problems != self.problems:
            self.problems = problems
            self.problems_changed.emit()
        if changed:
            self.selection_changed.emit()

    def _width(self, layer: int) -> int:
        return width_of(self.spec, layer)

    # What is selected

    def select(self, places: Iterable[Place], part: Part | None = None) -> None:
        """Selects neurons; without any, another node."""
        places = frozenset(places)
        if (places, part) != (self.places, self.part):
            self.places, self.part = places, part if not places else None
            self.selection_changed.emit()

    def set_scope(self, scope: EditScope) -> None:
        """Sets what settings of the inspector apply to."""
        if scope != self.scope:
            self.scope = scope
            self.selection_changed.emit()

    @property
    def first(self) -> Place | None:
        """The first selected neuron; ``None`` without one."""
        return min(self.places, default=None)

    def spec_places(self) -> list[tuple[int, int]]:
        """Layer and neuron, from 0, of the selected neurons in the design."""
        return sorted({spec_place(self.spec, place.layer, place.neuron) for place in self.places})

    def layers(self) -> list[int]:
        """The layers of the selected neurons, from 0, in order."""
        return sorted({place.layer for place in self.places})

    def problem_at(self, target: Target | None) -> Problem | None:
        """The first problem of a node; for ``None`` of the network as a whole."""
        if target is None:
            of_parts = ("roles.", "chair.", "aggregation.", "settings.")
            return next((p for p in self.problems if p.layer is None and not p.path.startswith(of_parts)), None)
        if isinstance(target, Place):
            return problems_at(self.spec, self.problems).get((target.layer, target.neuron))
        prefix = {"roles": "roles.", "chair": "chair.", "vote": "aggregation."}.get(target)
        return next((p for p in self.problems if prefix is not None and p.path.startswith(prefix)), None)

    # Editing

    def edit(self, text: str, change: Callable[[NetworkSpec], NetworkSpec], merge: str = "") -> bool:
        """Makes a change, which Undo calls ``text``, or tells the user why it cannot be made. Changes in a row with
        the same ``merge`` become one step of Undo. Returns whether it was made."""
        before = self.spec
        try:
            spec = change(before)
            if spec.layers is not before.layers:
                spec = with_enough_roles(spec, before)
        except NetworkError as error:
            self.context.errors.post(str(error), text, level="warning")
            return False
        self._document.edit_network(text, spec, merge=merge)
        return True

    def set_width(self, layer: int, width: int | None) -> None:
        """Sets the number of neurons of a layer; ``None`` gives it one for each role."""
        self.edit(texts.CHANGE_WIDTH, lambda spec: design.set_width(spec, layer, width), f"width {layer}")

    def set_all_widths(self, width: int | None) -> None:
        """Sets the number of neurons of all layers; ``None`` gives each one for each role."""
        self.edit(texts.CHANGE_WIDTH, lambda spec: design.set_size(spec, width, spec.depth), "width")

    def set_depth(self, depth: int) -> None:
        """Sets the number of layers."""
        self.edit(texts.CHANGE_DEPTH, lambda spec: design.set_depth(spec, depth), "depth")

    def add_layer(self, at: int | None = None) -> None:
        """Adds a layer before layer ``at``; without it after the selected one, or at the end."""
        if at is None:
            layers = self.layers()
            at = layers[-1] + 1 if layers else self.spec.depth
        place = at
        self.edit(texts.ADD_LAYER, lambda spec: design.add_layer(spec, place))

    def remove_layer(self, layer: int | None = None) -> None:
        """Removes a layer; without one the selected layers, or the last."""
        layers = [layer] if layer is not None else self.layers() or [self.spec.depth - 1]

        def change(spec: NetworkSpec) -> NetworkSpec:
            for number in reversed(layers):
                spec = design.remove_layer(spec, number)
            return spec

        self.edit(texts.REMOVE_LAYER if len(layers) == 1 else texts.REMOVE_LAYERS, change)

    def move(self, layer: int, neuron: int, to: int) -> None:
        """Moves a neuron within its layer and selects it."""
        if self.edit(texts.MOVE_NEURON, lambda spec: design.move_neuron(spec, layer, neuron, to)):
            self.select([Place(layer, to)])

    def move_selected(self, by: int) -> None:
        """Moves the selected neuron up or down."""
        place = self.first
        if place is not None and 0 <= place.neuron + by < self._width(place.layer):
            self.move(place.layer, place.neuron, place.neuron + by)

    def toggle_edge(self, edge: EdgeChange) -> None:
        """Adds or removes an edge between two neurons."""
        source, target = (edge.layer - 1, edge.source), (edge.layer, edge.target)
        if edge.connect:
            self.edit(texts.ADD_EDGE, lambda spec: design.connect(spec, source, target))
        else:
            self.edit(texts.REMOVE_EDGE, lambda spec: design.disconnect(spec, source, target))

    def set_wiring(self, layer: int | None, kind: WiringKind, window: int = 1) -> None:
        """Sets what a layer reads of the one before it; without ``layer`` for all layers."""
        layers = range(1, self.spec.depth) if layer is None else (layer,)

        def change(spec: NetworkSpec) -> NetworkSpec:
            for number in layers:
                spec = design.set_wiring(spec, number, kind, window)
            return spec

        self.edit(texts.CHANGE_WIRING, change)

    # Neurons

    def add_neuron(self) -> None:
        """Adds a neuron to the selected layer, or to the last."""
        layers = self.layers()
        layer = layers[0] if layers else self.spec.depth - 1
        if self.edit(texts.ADD_NEURON, lambda spec: design.add_neuron(spec, layer)):
            self.select([Place(layer, self._width(layer) - 1)])

    def duplicate(self) -> None:
        """Adds a copy after each selected neuron, and selects the copies."""
        places = self.spec_places()

        def change(spec: NetworkSpec) -> NetworkSpec:
            for layer, neuron in reversed(places):
                spec = design.duplicate_neuron(spec, layer, neuron)
            return spec

        if places and self.edit(texts.DUPLICATE, change):
            before: dict[int, int] = {}
            copies = []
            for layer, neuron in places:
                before[layer] = before.get(layer, 0) + 1
                copies.append(Place(layer, neuron + before[layer]))
            self.select(copies)

    def remove(self) -> None:
        """Removes the selected neurons, or the chair where it is selected."""
        if self.part == "chair":
            self.remove_chair()
            return
        places = self.spec_places()
        if not places:
            return
        if len(places) == sum(len(layer.neurons) for layer in self.spec.layers if not layer.adaptive):
            self.context.errors.post(texts.NEEDS_A_NEURON, texts.REMOVE, level="warning")
            return
        text = texts.REMOVE_NEURON if len(places) == 1 else texts.remove_neurons(len(places))
        first = self.first
        if self.edit(text, lambda spec: design.remove_neurons(spec, places)) and first is not None:
            layer = min(first.layer, self.spec.depth - 1)
            self.select([Place(layer, min(first.neuron, self._width(layer) - 1))])

    def select_all(self) -> None:
        """Selects all neurons."""
        self.select(Place(layer, neuron) for layer in range(self.spec.depth) for neuron in range(self._width(layer)))

    def copy(self) -> None:
        """Copies the selected neurons to the clipboard, each with the role that it has here."""
        neurons = []
        for layer, neuron in self.spec_places():
            copied = self.spec.layers[layer].neurons[neuron]
            neurons.append(replace(copied, role=designed_role(self.spec, layer, neuron)))
        if not neurons:
            return
        text = json.dumps(neurons_to_json(neurons), indent=2)
        data = QMimeData()
        data.setText(text)
        data.setData(NEURONS_MIME, text.encode())
        QGuiApplication.clipboard().setMimeData(data)

    def cut(self) -> None:
        """Copies the selected neurons and removes them."""
        self.copy()
        self.remove()

    def paste(self) -> None:
        """Adds the neurons of the clipboard after the last selected one, or at the end of the last layer."""
        neurons = clipboard_neurons()
        if not neurons:
            self.context.errors.post(texts.CLIPBOARD_EMPTY, texts.PASTE, level="warning")
            return
        place = max(self.places, default=None)
        layer = self.spec.depth - 1 if place is None else place.layer
        at = self._width(layer) if place is None else place.neuron + 1

        def change(spec: NetworkSpec) -> NetworkSpec:
            for offset, neuron in enumerate(neurons):
                spec = design.add_neuron(spec, layer, neuron, at + offset)
            return spec

        if self.edit(texts.PASTE, change):
            self.select(Place(layer, at + offset) for offset in range(len(neurons)))

    # Roles

    def set_role(self, role: Role | None, merge: str = "") -> None:
        """Gives the selected neurons a role of their own; ``None`` gives them the network's again."""
        places = self.spec_places()

        def change(spec: NetworkSpec) -> NetworkSpec:
            for layer, neuron in places:
                spec = design.set_role(spec, layer, neuron, role)
            return spec

        self.edit(texts.CHANGE_ROLE if role is not None else texts.TAKE_NETWORK_ROLE, change, merge)

    def set_network_role(self, place: int, role: Role, merge: str = "") -> None:
        """Changes one of the fixed roles of the network."""
        roles = self.spec.roles.roles
        changed = (*roles[:place], role, *roles[place + 1 :])
        self.set_roles(replace(self.spec.roles, roles=changed), merge)

    def set_roles(self, roles: RolesSpec, merge: str = "") -> None:
        """Sets the roles of the network."""
        self.edit(texts.CHANGE_ROLES, lambda spec: replace(spec, roles=roles), merge)

    def set_role_kind(self, kind: str) -> None:
        """Chooses where roles come from. Fixed roles start with as many from the library as the widest layer needs;
        the criteria of a pair give each layer one neuron for each of them."""
        roles = self.spec.roles
        if kind == "fixed" and not roles.roles:
            widest = max(width_of(self.spec, layer) for layer in range(self.spec.depth))
            language = "zh" if self.spec.language == "zh" else "en"
            family = "general" if self.spec.family == "auto" else self.spec.family
            roles = replace(roles, roles=roles_for(family, max(1, min(widest, len(library(language)))), language))
        roles = replace(roles, kind=kind)  # type: ignore[arg-type]
        if kind == "criteria":
            self.edit(texts.CHANGE_ROLES, lambda spec: design.one_neuron_per_role(replace(spec, roles=roles)))
        else:
            self.set_roles(roles)

    # Settings

    def targets(self) -> list[design.DesignPlace]:
        """The places of the design to which settings of the inspector apply."""
        if self.part in ("roles", "chair"):
            return [self.part]
        if not self.places or self.scope == "all":
            return ["network"]
        if self.scope == "layer":
            return [(layer,) for layer in self.layers()]
        return list(self.spec_places())

    def set_settings(self, merge: str = "", **changes: Any) -> None:
        """Changes settings at :meth:`targets`; ``merge`` as in :meth:`edit`."""
        targets = self.targets()

        def change(spec: NetworkSpec) -> NetworkSpec:
            for place in targets:
                spec = design.override(spec, place, **changes)
            return spec

        words = {"extra": texts.FURTHER_FIELDS}
        name = ", ".join(words.get(name, name.replace("_", " ")) for name in changes if name != "endpoint")
        self.edit(texts.change(name or "endpoint"), change, f"{merge} {targets}" if merge else "")

    def inherit(self) -> None:
        """Removes the settings of the selection, so that it inherits those of the network."""
        nothing = dict.fromkeys(setting.name for setting in fields(Settings))
        self.set_settings("", **nothing)

    # The network

    def change_network(self, text: str, merge: str = "", **changes: Any) -> None:
        """Changes fields of the network itself (orders, seed, language, family, evidence, name)."""
        self.edit(text, lambda spec: replace(spec, **changes), merge)

    def set_aggregation(self, **changes: Any) -> None:
        """Changes the rules of the vote."""
        rules: Aggregation = replace(self.spec.aggregation, **changes)
        self.edit(texts.CHANGE_VOTE, lambda spec: replace(spec, aggregation=rules))

    def remove_learned(self) -> None:
        """Removes the learned aggregation."""
        rules = replace(self.spec.aggregation, learned=None)
        self.edit(texts.REMOVE_LEARNED, lambda spec: replace(spec, aggregation=rules))

    def let_learned_decide(self, decides: bool) -> None:
        """Chooses whether the learned aggregation gives the verdict, in place of a rule that was chosen before."""
        project, learned = self._document.project, self.spec.aggregation.learned
        if learned is None:
            return
        rules = replace(self.spec.aggregation, learned=replace(learned, decides=decides))
        metadata = {name: value for name, value in project.metadata.items() if name != RULE}
        changed = replace(project, network=replace(self.spec, aggregation=rules), metadata=metadata)
        self._document.edit_project(texts.CHOOSE_RULE, changed)

    def add_chair(self) -> None:
        """Adds a chair and selects it."""
        if self.spec.chair is None:
            self.edit(texts.ADD_CHAIR, lambda spec: replace(spec, chair=ChairSpec()))
        self.select((), "chair")

    def remove_chair(self) -> None:
        """Removes the chair."""
        self.edit(texts.REMOVE_CHAIR, lambda spec: replace(spec, chair=None))

    # Problems

    def fix_words(self, problem: Problem) -> str:
        """The text of the button that fixes a problem; empty where it has no automatic fix."""
        repair = fix(self.spec, problem, self._document.profiles)
        return repair.words if repair is not None else ""

    def fix(self, problem: Problem) -> None:
        """Applies the automatic fix of a problem, if it has one."""
        repair = fix(self.spec, problem, self._document.profiles)
        if repair is not None:
            self.edit(repair.words, lambda _spec: repair.spec)

    def next_problem(self) -> None:
        """Selects the node of the next problem."""
        if not self.problems:
            return
        marked = sorted(problems_at(self.spec, self.problems))
        if marked:
            now = self.first
            after = [place for place in marked if now is not None and place > (now.layer, now.neuron)]
            self.select([Place(*(after or marked)[0])])
            return
        path = self.problems[0].path
        parts: dict[str, Part] = {"chair": "chair", "aggregation": "vote", "roles": "roles"}
        # A problem of the whole network is shown with its fix at the head of the inspector.
        self.select((), parts.get(path.partition(".")[0]))


def clipboard_neurons() -> tuple[NeuronSpec, ...]:
    """The neurons on the clipboard; empty where it holds something else."""
    data: QMimeData | None = QGuiApplication.clipboard().mimeData()
    if data is None:
        return ()
    own_format = bytes(data.data(NEURONS_MIME).data()).decode("utf-8", "replace")
    try:
        return neurons_from_json(json.loads(own_format or data.text()))
    except (ValueError, RecursionError):
        return ()
