"""The inspector of the design: the forms of the selected neurons, node, or network."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.checks import Problem
from judgenet.core.wording import plural, text_size_words
from judgenet.ui.canvas.model import Part
from judgenet.ui.design import texts
from judgenet.ui.design.acceptance_form import AcceptanceSection
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.forms import FormSection, RoleSection, SettingsSection
from judgenet.ui.design.network_forms import LearnedSection, NetworkSection, RolesSection, VoteSection
from judgenet.ui.design.prompt_view import PromptSection
from judgenet.ui.design.state import role_words, width_of
from judgenet.ui.design.stop_rules import StopSection
from judgenet.ui.elements import ElidedLabel, ScrollColumn, align_labels, icon_button, label, line, link
from judgenet.ui.measures import measure
from judgenet.ui.widgets import Segment

_TITLES: Final[dict[Part, str]] = {
    "pair": texts.PAIR,
    "roles": texts.ROLES,
    "vote": texts.VOTE,
    "chair": texts.CHAIR,
    "verdict": texts.VERDICT,
}
_TIPS: Final[dict[Part, str]] = {
    "pair": texts.PAIR_TIP,
    "roles": texts.ROLES_TIP,
    "vote": texts.VOTE_TIP,
    "chair": texts.CHAIR_TIP,
    "verdict": texts.VERDICT_TIP,
}
"""What the line below the title says of a node."""


class PairSection(FormSection):
    """The question and the responses of the pair in view, as plain text."""

    def __init__(self, editor: DesignEditor, prompt: PromptSection) -> None:
        super().__init__(texts.PAIR_TEXTS)
        self._editor = editor
        self._prompt = prompt
        self.question = label("", "evidence", wrap=True)
        self.lengths = label("", tone="text2")
        self.show_all = QPushButton(texts.SHOW_ALL_PAIRS)
        self.show_all.clicked.connect(self._show_all)
        self.body.addWidget(self.question)
        self.body.addWidget(self.lengths)
        self.body.addWidget(self.show_all)

    def refresh(self) -> None:
        """Shows the pair."""
        pairs = self._editor.context.document.pairs
        if not pairs:
            self.question.setText(texts.NO_PAIRS)
            self.lengths.clear()
            self.show_all.setText(texts.LOAD_PAIRS)
            return
        pair = pairs[min(self._prompt.index, len(pairs) - 1)]
        text = " ".join(pair.readable(pair.question or pair.response_a).split())
        self.question.setText(text if len(text) < 600 else text[:600] + " …")
        size_a, size_b = (text_size_words(text, pair.pictures) for text in (pair.response_a, pair.response_b))
        self.lengths.setText(texts.lengths(size_a, size_b))
        self.show_all.setText(texts.SHOW_ALL_PAIRS)

    def _show_all(self) -> None:
        self._editor.context.navigator.go("data")


class DesignInspector(QFrame):
    """The panel at the right of the canvas.

    Signals:
        template_wanted: the user wants to edit the templates.
    """

    template_wanted = Signal()

    def __init__(self, editor: DesignEditor) -> None:
        super().__init__()
        self._editor = editor
        self.setProperty("part", "surface")
        self.setAccessibleName(texts.INSPECTOR)
        self.title = ElidedLabel("", "title")
        self.duplicate = icon_button("duplicate", texts.DUPLICATE)
        self.remove = icon_button("trash", texts.REMOVE)
        self.close_button = icon_button("close", texts.SELECT_NOTHING)
        self.place = label("", tone="text2", wrap=True)
        self.scope = Segment(texts.CHANGE_FOR, (("neuron", texts.NEURON), ("layer", texts.LAYER), ("all", texts.ALL)))
        self._scope_row = QWidget()
        self._scope = scope = QHBoxLayout(self._scope_row)
        scope.addWidget(label(texts.CHANGE_FOR, tone="text2"))
        scope.addStretch(1)
        scope.addWidget(self.scope)
        self.remove_layer = link(texts.REMOVE_LAYER_LINK)
        self.remove_layer.clicked.connect(self._remove_layer)
        self.problem = label("", tone="warn", wrap=True)
        self.mend = link(texts.FIX_IT)
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
        area = ScrollColumn(inner, texts.INSPECTOR, focusable=False)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)
        self.area = area
        self.scope.chosen.connect(editor.set_scope)
        self.duplicate.clicked.connect(editor.duplicate)
        self.remove.clicked.connect(editor.remove)
        self.close_button.clicked.connect(self._deselect)
        self.mend.clicked.connect(self._fix)
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

    def _fix(self) -> None:
        problem = self._editor.problem_at(self._editor.first or self._editor.part)
        if problem is not None:
            self._editor.fix(problem)

    def refresh(self) -> None:
        """Shows the forms of the selection."""
        editor = self._editor
        if not editor.context.document.is_open:
            return
        spec, places, part = editor.spec, editor.places, editor.part
        self._show_head()
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
        words = texts.MODEL_FOR_ALL if not places and part is None else texts.MODEL
        self.settings.heading.setText(words)

    def _show_head(self) -> None:
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
        self.scope.button("neuron").setText(texts.NEURON if len(places) < 2 else texts.SELECTED)
        layers = editor.layers()
        self.remove_layer.setVisible(
            first is not None and editor.scope == "layer" and len(layers) < spec.depth and not read_only
        )
        self.remove_layer.setText(texts.REMOVE_LAYER_LINK if len(layers) < 2 else texts.REMOVE_LAYERS_LINK)
        title, place = self._head_words()
        self.title.say(title)
        self.place.setText(place)
        self._show_problem(editor.problem_at(first or part), read_only=read_only)

    def _head_words(self) -> tuple[str, str]:
        """The title of the inspector and the line below it."""
        editor = self._editor
        spec, part, first = editor.spec, editor.part, editor.first
        if first is not None and len(editor.places) > 1:
            numbers = ", ".join(str(layer + 1) for layer in editor.layers())
            return plural(len(editor.places), "neuron"), texts.layer(numbers)
        if first is not None:
            title = role_words(spec, first.layer, first.neuron)
            if spec.layers[first.layer].adaptive:
                role = "criterion" if spec.roles.kind == "criteria" else "role"
                return title, texts.neuron_for_each(first.layer + 1, role)
            width = width_of(spec, first.layer)
            return title, texts.neuron_place(first.layer + 1, first.neuron + 1, width)
        if part is not None:
            return _TITLES[part], _TIPS[part]
        neurons = sum(width_of(spec, layer) for layer in range(spec.depth))
        return texts.NETWORK, texts.network_size(plural(spec.depth, "layer"), plural(neurons, "neuron"))

    def _show_problem(self, problem: Problem | None, *, read_only: bool) -> None:
        self.problem.setVisible(problem is not None)
        self.mend.setVisible(False)
        if problem is not None:
            self.problem.setText(f"{problem.message} {problem.mend}")
            words = self._editor.fix_words(problem)
            self.mend.setText(words)
            self.mend.setAccessibleName(words)
            self.mend.setVisible(bool(words) and not read_only)
