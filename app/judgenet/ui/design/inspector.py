"""The inspector of the design: what is selected, and everything that can be changed of it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.wording import plural, text_size_words
from judgenet.ui.canvas.model import Part
from judgenet.ui.design.acceptance_form import AcceptanceSection
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.forms import FormSection, RoleSection, SettingsSection
from judgenet.ui.design.network_forms import LearnedSection, NetworkSection, RolesSection, VoteSection
from judgenet.ui.design.prompt_view import PromptSection
from judgenet.ui.design.state import role_words, width_of
from judgenet.ui.design.stop_rules import StopSection
from judgenet.ui.elements import ElidedLabel, align_labels, label, line, link
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.widgets import Segment

_TITLES: Final[dict[Part, str]] = {
    "pair": "Pair",
    "roles": "Roles",
    "vote": "Vote",
    "chair": "Chair",
    "verdict": "Verdict",
}


class PairSection(FormSection):
    """The question and the responses of the pair in view, as plain text."""

    def __init__(self, editor: DesignEditor, prompt: PromptSection) -> None:
        super().__init__("Texts")
        self._editor = editor
        self._prompt = prompt
        self.question = label("", "evidence", wrap=True)
        self.lengths = label("", tone="text2")
        self.show_all = QPushButton("Show all pairs")
        self.show_all.clicked.connect(self._show_all)
        self.body.addWidget(self.question)
        self.body.addWidget(self.lengths)
        self.body.addWidget(self.show_all)

    def refresh(self) -> None:
        """Shows the pair."""
        pairs = self._editor.context.document.pairs
        if not pairs:
            self.question.setText("No pairs are loaded yet.")
            self.lengths.clear()
            self.show_all.setText("Load pairs")
            return
        pair = pairs[min(self._prompt.index, len(pairs) - 1)]
        text = " ".join(pair.told(pair.question or pair.response_a).split())
        self.question.setText(text if len(text) < 600 else text[:600] + " …")
        size_a, size_b = (text_size_words(text, pair.pictures) for text in (pair.response_a, pair.response_b))
        self.lengths.setText(f"A {size_a}, B {size_b}")
        self.show_all.setText("Show all pairs")

    def _show_all(self) -> None:
        self._editor.context.navigator.go("data")


class DesignInspector(QFrame):
    """The panel at the right.

    Signals:
        template_wanted: the templates are to be edited.
    """

    template_wanted = Signal()

    def __init__(self, editor: DesignEditor) -> None:
        super().__init__()
        self._editor = editor
        self.setProperty("part", "surface")
        self.setAccessibleName("Inspector")
        self.title = ElidedLabel("", "title")
        self.duplicate = QToolButton()
        self.remove = QToolButton()
        self.close_button = QToolButton()
        for button, name, what in (
            (self.duplicate, "duplicate", "Duplicate"),
            (self.remove, "trash", "Remove"),
            (self.close_button, "close", "Select nothing"),
        ):
            button.setIcon(icon(name))
            button.setAccessibleName(what)
            button.setToolTip(what)
        self.place = label("", tone="text2", wrap=True)
        self.scope = Segment("Change for", (("neuron", "Neuron"), ("layer", "Layer"), ("all", "All")))
        self._scope_row = QWidget()
        self._scope = scope = QHBoxLayout(self._scope_row)
        scope.addWidget(label("Change for", tone="text2"))
        scope.addStretch(1)
        scope.addWidget(self.scope)
        self.remove_layer = link("Remove the layer")
        self.remove_layer.clicked.connect(self._remove_layer)
        self.problem = label("", tone="warn", wrap=True)
        self.mend = link("Fix it")
        head = QHBoxLayout()
        head.addWidget(self.title, stretch=1)
        for button in (self.duplicate, self.remove, self.close_button):
            head.addWidget(button)
        self._head_box = QWidget()
        head_column = QVBoxLayout(self._head_box)
        head_column.addLayout(head)
        head_column.addWidget(self.place)
        head_column.addWidget(self.problem)
        head_column.addWidget(self.mend, alignment=Qt.AlignmentFlag.AlignLeft)
        head_column.addWidget(self._scope_row)
        head_column.addWidget(self.remove_layer, alignment=Qt.AlignmentFlag.AlignRight)
        self._head_column = head_column
        self.role = RoleSection(editor)
        self.roles = RolesSection(editor)
        self.settings = SettingsSection(editor)
        self.stop = StopSection(editor)
        self.vote = VoteSection(editor)
        self.learned = LearnedSection(editor)
        self._lay_out(editor)

    def _lay_out(self, editor: DesignEditor) -> None:
        self.acceptance = AcceptanceSection(editor)
        self.network = NetworkSection(editor)
        self.prompt = PromptSection(editor)
        self.pair = PairSection(editor, self.prompt)
        self._sections: list[FormSection] = [
            self.network, self.role, self.roles, self.vote, self.learned, self.acceptance, self.settings, self.stop,
            self.pair, self.prompt,
        ]  # fmt: skip
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head_box)
        self._lines: dict[FormSection, QFrame] = {}
        for section in self._sections:
            self._lines[section] = line()
            column.addWidget(self._lines[section])
            column.addWidget(section, stretch=int(section is self.prompt))
        column.addStretch(0)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setAccessibleName("Inspector")
        area.setWidget(inner)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)
        self.area = area
        self.scope.chosen.connect(editor.set_scope)
        self.duplicate.clicked.connect(editor.duplicate)
        self.remove.clicked.connect(editor.remove)
        self.close_button.clicked.connect(self._deselect)
        self.mend.clicked.connect(self._mend)
        self.prompt.template_wanted.connect(self.template_wanted)
        editor.selection_changed.connect(self.refresh)
        editor.problems_changed.connect(self.refresh)
        document = editor.context.document
        for signal in (document.project_changed, document.profiles_changed, document.read_only_changed):
            signal.connect(self.refresh)
        measure(self._head_column, margins=(16, 12, 8, 12), spacing=6)
        measure(self._scope, margins=(0, 0, 8, 0))
        for button in (self.duplicate, self.remove, self.close_button):
            measure(button, icon=20)
        self.refresh()
        align_labels(self)

    def _deselect(self) -> None:
        self._editor.select(())

    def _remove_layer(self) -> None:
        self._editor.remove_layer()

    def _mend(self) -> None:
        editor = self._editor
        target = editor.first or editor.part
        problem = editor.problem_at(target)
        if problem is not None:
            editor.fix(problem)

    def refresh(self) -> None:
        """Shows what is selected."""
        editor = self._editor
        if not editor.context.document.is_open:
            return
        spec, places, part = editor.spec, editor.places, editor.part
        self._head()
        shown = {
            self.network: not places and part in (None, "verdict"),
            self.role: bool(places),
            self.roles: part == "roles",
            self.vote: part in ("vote", "verdict"),
            self.learned: spec.aggregation.learned is not None and not places and part in (None, "vote", "verdict"),
            self.acceptance: spec.aggregation.acceptance is not None
            and not places
            and part in (None, "vote", "verdict"),
            self.settings: bool(places)
            or part == "chair"
            or (part == "roles" and spec.roles.kind == "generated")
            or (not places and part is None),
            self.stop: self.stop.places() is not None,
            self.pair: part == "pair",
            self.prompt: part not in ("vote", "verdict") and not (part == "roles" and spec.roles.kind != "generated"),
        }
        for section, visible in shown.items():
            section.setVisible(visible)
            self._lines[section].setVisible(visible)
            if visible:
                section.refresh()
        words = "Model for all" if not places and part is None else "Model"
        self.settings.heading.setText(words)

    def _head(self) -> None:
        editor = self._editor
        spec, places, part = editor.spec, editor.places, editor.part
        read_only = bool(editor.context.document.read_only)
        first = editor.first
        fixed = first is not None and not any(spec.layers[place.layer].adaptive for place in places)
        self.duplicate.setVisible(fixed and not read_only)
        self.remove.setVisible((fixed or part == "chair") and not read_only)
        self.close_button.setVisible(bool(places) or part is not None)
        self._scope_row.setVisible(first is not None)
        self.scope.set_current(editor.scope)
        layers = editor.layers()
        self.remove_layer.setVisible(
            first is not None and editor.scope == "layer" and len(layers) < spec.depth and not read_only
        )
        self.remove_layer.setText("Remove the layer" if len(layers) < 2 else "Remove the layers")
        if first is not None and len(places) == 1:
            title = role_words(spec, first.layer, first.neuron)
            width = width_of(spec, first.layer)
            where = f"Layer {first.layer + 1}, neuron {first.neuron + 1} of {width:,}"
            if spec.layers[first.layer].adaptive:
                one = "criterion" if spec.roles.kind == "criteria" else "role"
                where = f"Layer {first.layer + 1}, a neuron for each {one}"
            self.scope.button("neuron").setText("Neuron")
        elif first is not None:
            title = plural(len(places), "neuron")
            layers = editor.layers()
            where = "Layer " + ", ".join(str(layer + 1) for layer in layers)
            self.scope.button("neuron").setText("Selected")
        elif part is not None:
            title = _TITLES[part]
            where = {
                "pair": "What all neurons of the first layer read",
                "roles": "The roles from which the pair is judged",
                "vote": "How the neurons' verdicts become one",
                "chair": "Reads the last layer and decides",
                "verdict": "A, tie or B, with the votes beside it",
            }[part]
        else:
            title = "Network"
            neurons = sum(width_of(spec, layer) for layer in range(spec.depth))
            where = f"{plural(spec.depth, 'layer')}, {plural(neurons, 'neuron')}. Select one to change it alone."
        self.title.say(title)
        self.place.setText(where)
        target = first or part
        problem = editor.problem_at(target)
        self.problem.setVisible(problem is not None)
        self.mend.setVisible(False)
        if problem is not None:
            self.problem.setText(f"{problem.message} {problem.mend}")
            words = editor.mend_words(problem)
            self.mend.setText(words)
            self.mend.setAccessibleName(words)
            self.mend.setVisible(bool(words) and not read_only)
