"""The forms of the inspector for the whole network: size and questions, roles, vote, learned aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.aggregate import aggregation_names
from judgenet.core.learned import LEARNED, misfit
from judgenet.core.network import Language, LearnedKind, OrderSetting, Role, RoleKind
from judgenet.core.roles import library
from judgenet.core.templates import FAMILIES
from judgenet.core.wording import of, plural, rule_words
from judgenet.ui.design import texts
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.forms import FormSection, Text
from judgenet.ui.elements import ComboBox, ElidedLabel, SpinBox, add_row, field, icon_button, label, link
from judgenet.ui.measures import measure
from judgenet.ui.widgets import Segment

MAX_SIZE: Final = 512
"""The largest width and depth that spin boxes offer."""

_ORDERS: Final[dict[OrderSetting, str]] = {
    "both": texts.BOTH_ORDERS,
    "ab": texts.AB_ONLY,
    "ba": texts.BA_ONLY,
    "random": texts.DRAWN_ORDER,
}
_LEARNED: Final[dict[LearnedKind, str]] = {
    "nonnegative": texts.NONNEGATIVE,
    "any_sign": texts.ANY_SIGN,
    "dawid_skene": texts.DAWID_SKENE,
    "ising": texts.ISING,
}
_LANGUAGES: Final[dict[Language, str]] = {"auto": texts.SAME_AS_PAIR, "en": texts.ENGLISH, "zh": texts.CHINESE}


_ROLE_KINDS: Final = (
    ("generated", texts.MODEL),
    ("fixed", texts.FIXED_ROLES_KIND),
    ("criteria", texts.CRITERIA),
    ("none", texts.NONE),
)
_ROLE_NOTES: Final[dict[RoleKind, str]] = {
    "generated": texts.GENERATED_NOTE,
    "fixed": texts.FIXED_NOTE,
    "criteria": texts.CRITERIA_NOTE,
    "none": texts.NO_ROLES_NOTE,
}


class RolesSection(FormSection):
    """Where the roles of the network come from, and the list of fixed ones."""

    def __init__(self, editor: DesignEditor) -> None:
        super().__init__(texts.ROLES_FROM)
        self._editor = editor
        self._row = -1
        self.kind = Segment(texts.ROLES, _ROLE_KINDS)
        self.limit = SpinBox(texts.MOST_ROLES, 0, 99)
        self.limit.setSpecialValueText(texts.AS_MANY_AS_NEURONS)
        self._limit_row = QWidget()
        limit = QHBoxLayout(self._limit_row)
        limit.setContentsMargins(0, 0, 0, 0)
        limit.addWidget(label(texts.AT_MOST, tone="text2"))
        limit.addWidget(self.limit, stretch=1)
        self.list = QListWidget()
        self.list.setAccessibleName(texts.FIXED_ROLES)
        self.name = field(texts.NAME_OF_ROLE, texts.NAME)
        self.description = Text(texts.ROLE_LOOKS_AT, texts.ROLE_LOOKS_AT_SHORT_HINT)
        self.add = QPushButton(texts.ADD_FROM_LIBRARY)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.add.setMenu(self._menu)
        self.own = QPushButton(texts.ADD_OWN)
        self.remove = icon_button("trash", texts.REMOVE_ROLE)
        self.up = icon_button("chevron-up", texts.MOVE_ROLE_UP)
        self.down = icon_button("chevron-down", texts.MOVE_ROLE_DOWN)
        self._lay_out(editor)

    def _lay_out(self, editor: DesignEditor) -> None:
        buttons = QHBoxLayout()
        buttons.addWidget(self.add)
        buttons.addWidget(self.own)
        buttons.addStretch(1)
        for tool in (self.up, self.down, self.remove):
            buttons.addWidget(tool)
        self._fixed = QWidget()
        fixed = QVBoxLayout(self._fixed)
        fixed.setContentsMargins(0, 0, 0, 0)
        fixed.addWidget(self.list)
        fixed.addLayout(buttons)
        fixed.addWidget(self.name)
        fixed.addWidget(self.description)
        self.note = label("", tone="text2", wrap=True)
        self.body.addWidget(self.kind)
        self.body.addWidget(self.note)
        self.body.addWidget(self._limit_row)
        self.body.addWidget(self._fixed)
        self.kind.chosen.connect(editor.set_role_kind)
        self.limit.valueChanged.connect(self._limit_changed)
        self.list.currentRowChanged.connect(self._row_chosen)
        self.own.clicked.connect(self._add_own)
        self.remove.clicked.connect(self._remove)
        self.up.clicked.connect(self._move_up)
        self.down.clicked.connect(self._move_down)
        self.name.textEdited.connect(self._edited)
        self.description.edited.connect(self._edited)
        measure(self.list, height=180)
        measure(self.description, height=84)

    def refresh(self) -> None:
        """Shows the roles of the network."""
        roles = self._editor.spec.roles
        self.kind.set_current(roles.kind)
        counted = self._pairs_with_criteria() if roles.kind == "criteria" else ""
        self.note.setText(f"{_ROLE_NOTES[roles.kind]}{counted}")
        self._limit_row.setVisible(roles.kind == "generated")
        self.limit.blockSignals(True)
        self.limit.setValue(roles.limit or 0)
        self.limit.blockSignals(False)
        self._fixed.setVisible(roles.kind == "fixed")
        row = min(max(self._row, 0), len(roles.roles) - 1)
        self.list.blockSignals(True)
        self.list.clear()
        for place, role in enumerate(roles.roles, 1):
            item = QListWidgetItem(f"{place}   {role.name or texts.NO_NAME}")
            item.setToolTip(role.description)
            self.list.addItem(item)
        self.list.setCurrentRow(row)
        self.list.blockSignals(False)
        self._row_chosen(row)
        editable = not self._editor.context.document.read_only
        for widget in (self.kind, self.limit, self._fixed):
            widget.setEnabled(editable)

    def _pairs_with_criteria(self) -> str:
        """How many of the loaded pairs have criteria, and how many criteria each."""
        pairs = self._editor.context.document.pairs
        counts = [len(pair.criteria) for pair in pairs if pair.criteria]
        if not pairs:
            return ""
        each = texts.criteria_each(min(counts), max(counts)) if counts and min(counts) < max(counts) else ""
        instead = self._editor.spec.roles.roles
        rest = texts.judged_by_fixed(plural(len(instead), texts.FIXED_ROLE)) if instead else ""
        return texts.pairs_with_criteria(of(len(counts), len(pairs)), each, rest if len(counts) < len(pairs) else "")

    def _row_chosen(self, row: int) -> None:
        self._row = row
        roles = self._editor.spec.roles.roles
        exists = 0 <= row < len(roles)
        for widget in (self.name, self.description, self.remove):
            widget.setEnabled(exists)
        self.up.setEnabled(exists and row > 0)
        self.down.setEnabled(exists and row + 1 < len(roles))
        if not self.name.hasFocus():
            self.name.setText(roles[row].name if exists else "")
        if not self.description.hasFocus():
            self.description.show_text(roles[row].description if exists else "")

    def _fill_menu(self) -> None:
        self._menu.clear()
        spec = self._editor.spec
        taken = {role.name for role in spec.roles.roles}
        for entry in library("zh" if spec.language == "zh" else "en"):
            action = self._menu.addAction(entry.role.name, self._add_from_library)
            action.setData(entry.role)
            action.setEnabled(entry.role.name not in taken)
            action.setToolTip(entry.role.description)
        self._menu.setToolTipsVisible(True)

    def _add_from_library(self) -> None:
        action: Any = self.sender()
        role = action.data()
        if isinstance(role, Role):
            self._append(role)

    def _add_own(self) -> None:
        self._append(Role(texts.role_number(len(self._editor.spec.roles.roles) + 1)))
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)
        self.name.selectAll()

    def _append(self, role: Role) -> None:
        roles = self._editor.spec.roles
        self._row = len(roles.roles)
        self._editor.set_roles(replace(roles, roles=(*roles.roles, role)))

    def _remove(self) -> None:
        roles = self._editor.spec.roles
        row = self._row
        self._editor.set_roles(replace(roles, roles=(*roles.roles[:row], *roles.roles[row + 1 :])))

    def _move_up(self) -> None:
        self._move(-1)

    def _move_down(self) -> None:
        self._move(1)

    def _move(self, by: int) -> None:
        roles = self._editor.spec.roles
        order = list(roles.roles)
        row = self._row
        order.insert(row + by, order.pop(row))
        self._row = row + by
        self._editor.set_roles(replace(roles, roles=tuple(order)))

    def _edited(self, _text: str = "") -> None:
        roles = self._editor.spec.roles.roles
        if 0 <= self._row < len(roles):
            role = Role(self.name.text(), self.description.toPlainText().strip())
            if role != roles[self._row]:
                self._editor.set_network_role(self._row, role, f"network role {self._row}")

    def _limit_changed(self, value: int) -> None:
        self._editor.set_roles(replace(self._editor.spec.roles, limit=value or None), "role limit")


class VoteSection(FormSection):
    """The rule that gives the verdict, and choices about voting that the published methods leave open."""

    def __init__(self, editor: DesignEditor) -> None:
        super().__init__(texts.RULES)
        self._editor = editor
        self.rule = ComboBox(texts.VERDICT_RULE)
        self.voters = Segment(texts.WHO_VOTES, (("neuron", texts.EACH_NEURON), ("call", texts.EACH_CALL)))
        self.ties = Segment(texts.NEURON_SEES_TIE, (("abstain", texts.ABSTAINS), ("candidate", texts.VOTES_TIE)))
        self.fallback = Segment(texts.A_TIED_VOTE, (("tie", texts.IS_TIE), ("c1", texts.BY_SCORES)))
        self.quorum = SpinBox(texts.QUORUM_NAME, 0, 999)
        self.quorum.setSpecialValueText(texts.NONE)
        self.quorum.setToolTip(texts.QUORUM_TIP)
        note = label(
            texts.RULES_COST_NOTHING,
            tone="text2",
            wrap=True,
        )
        form = QFormLayout()
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        add_row(form, texts.VERDICT_BY, self.rule)
        add_row(form, texts.VOTES, self.voters)
        add_row(form, texts.ON_TIE, self.ties)
        add_row(form, texts.TIED_VOTE, self.fallback)
        add_row(form, texts.QUORUM, self.quorum)
        self._form = form
        self.body.addLayout(form)
        self.body.addWidget(note)
        self.rule.activated.connect(self._rule_chosen)
        self.voters.chosen.connect(self._voters_chosen)
        self.ties.chosen.connect(self._ties_chosen)
        self.fallback.chosen.connect(self._fallback_chosen)
        self.quorum.valueChanged.connect(self._quorum_changed)
        measure(self._form, down=8, across=16)

    def refresh(self) -> None:
        """Shows the rules of the vote."""
        document, spec = self._editor.context.document, self._editor.spec
        self.rule.blockSignals(True)
        self.rule.clear()
        for name in aggregation_names(spec):
            self.rule.addItem(rule_choice(name, spec.depth), name)
        self.rule.setCurrentIndex(self.rule.findData(document.rule))
        self.rule.blockSignals(False)
        rules = spec.aggregation
        self.voters.set_current(rules.vote)
        self.ties.set_current(rules.ties)
        self.fallback.set_current(rules.fallback)
        with QSignalBlocker(self.quorum):
            self.quorum.setValue(rules.quorum or 0)
        self.setEnabled(not document.read_only)

    def _rule_chosen(self, place: int) -> None:
        self._editor.context.document.set_rule(self.rule.itemData(place))

    def _voters_chosen(self, key: str) -> None:
        self._editor.set_aggregation(vote=key)

    def _ties_chosen(self, key: str) -> None:
        self._editor.set_aggregation(ties=key)

    def _fallback_chosen(self, key: str) -> None:
        self._editor.set_aggregation(fallback=key)

    def _quorum_changed(self, neurons: int) -> None:
        self._editor.set_aggregation(quorum=neurons or None)


class LearnedSection(FormSection):
    """The learned aggregation of the network: where it comes from, whether it decides, and a link that removes it."""

    def __init__(self, editor: DesignEditor) -> None:
        self.remove = link(texts.REMOVE, texts.REMOVE_LEARNED)
        super().__init__(texts.LEARNED, self.remove)
        self._editor = editor
        self.facts = {
            name: ElidedLabel() for name in (texts.KIND, texts.LEARNED_FROM, texts.LABELS, texts.DATE, texts.WEIGHTS)
        }
        self.decides = QCheckBox(texts.LEARNED_DECIDES)
        self.note = label("", tone="warn", wrap=True)
        form = QFormLayout()
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for name, value in self.facts.items():
            add_row(form, name, value)
        self._form = form
        self.body.addLayout(form)
        self.body.addWidget(self.note)
        self.body.addWidget(self.decides)
        self.remove.clicked.connect(editor.remove_learned)
        self.decides.clicked.connect(editor.let_learned_decide)
        measure(self._form, down=4, across=16)

    def refresh(self) -> None:
        """Shows the learned aggregation, if the network has one."""
        document, spec = self._editor.context.document, self._editor.spec
        rule = spec.aggregation.learned
        if rule is None:
            return
        facts = {
            texts.KIND: _LEARNED[rule.kind],
            texts.LEARNED_FROM: rule.run,
            texts.LABELS: f"{rule.labels:,}" if rule.labels else texts.NO_LABELS,
            texts.DATE: rule.made,
            texts.WEIGHTS: texts.weights(len(rule.neurons)),
        }
        for name, value in self.facts.items():
            value.say(facts[name])
            self._form.setRowVisible(value, bool(facts[name]))
        why = misfit(spec, rule)
        self.note.setText(why)
        self.note.setVisible(bool(why))
        self.decides.setChecked(document.rule == LEARNED)
        for widget in (self.remove, self.decides):
            widget.setEnabled(not document.read_only)


def rule_choice(rule: str, depth: int) -> str:
    """A rule in a list of rules, with its meaning: ``c2*(l1), votes of layer 1``."""
    words = rule_words(rule)
    if rule == "c1":
        return texts.means_of_all(words)
    if rule == "c2_all":
        return texts.votes_of_all(words) if depth > 1 else texts.the_vote(words)
    if rule == "chair":
        return texts.THE_CHAIRS_DECISION
    if rule == LEARNED:
        return texts.weights_of_run(words)
    if rule == ACCEPTED:
        return texts.sure_verdicts(words)
    if rule.startswith("soft_"):
        return texts.summed_probabilities(words)
    return texts.votes_of_layer(words, rule.removeprefix("c2_l"))


class NetworkSection(FormSection):
    """Name, size, orders, seed, language, kind of task and evidence of the network."""

    def __init__(self, editor: DesignEditor) -> None:
        super().__init__(texts.SIZE_AND_QUESTIONS)
        self._editor = editor
        self.name = field(texts.NAME_OF_NETWORK)
        self.layer_count = SpinBox(texts.LAYERS, 1, MAX_SIZE)
        self.same = QCheckBox(texts.SAME_WIDTH)
        self.adaptive = QCheckBox(texts.ONE_NEURON_PER_ROLE)
        self.widths: list[SpinBox] = []
        self._widths_box = QWidget()
        self._widths = QFormLayout(self._widths_box)
        self._widths.setContentsMargins(0, 0, 0, 0)
        self.orders = ComboBox(texts.ORDERS)
        for key, text in _ORDERS.items():
            self.orders.addItem(text, key)
        self.seed = SpinBox(texts.SEED, 0, 2_000_000_000)
        self.language = ComboBox(texts.PROMPT_LANGUAGE)
        for language, text in _LANGUAGES.items():
            self.language.addItem(text, language)
        self.family = ComboBox(texts.TASK_KIND)
        self.family.addItem(texts.SAME_AS_PAIR, "auto")
        for name in FAMILIES:
            self.family.addItem(name.replace("_", " ").capitalize(), name)
        self.evidence = QCheckBox(texts.EVIDENCE_FIRST)
        self._lay_out(editor)

    def _lay_out(self, editor: DesignEditor) -> None:
        size = QFormLayout()
        add_row(size, texts.NAME, self.name)
        add_row(size, texts.LAYERS, self.layer_count)
        self._size = size
        form = QFormLayout()
        add_row(form, texts.ORDERS, self.orders)
        add_row(form, texts.SEED, self.seed)
        add_row(form, texts.LANGUAGE, self.language)
        add_row(form, texts.TASK, self.family)
        self._form = form
        for rows in (size, form, self._widths):
            rows.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.body.addLayout(size)
        self.body.addWidget(self.same)
        self.body.addWidget(self.adaptive)
        self.body.addWidget(self._widths_box)
        self.body.addLayout(form)
        self.body.addWidget(self.evidence)
        self.name.textEdited.connect(self._renamed)
        self.layer_count.valueChanged.connect(editor.set_depth)
        self.same.toggled.connect(self._same_toggled)
        self.adaptive.toggled.connect(self._adaptive_toggled)
        self.orders.activated.connect(self._orders_chosen)
        self.seed.valueChanged.connect(self._seed_changed)
        self.language.activated.connect(self._language_chosen)
        self.family.activated.connect(self._family_chosen)
        self.evidence.toggled.connect(self._evidence_toggled)
        self._want_same = True
        for form in (self._size, self._form, self._widths):
            measure(form, down=8, across=16)

    def refresh(self) -> None:
        """Shows the current values."""
        spec = self._editor.spec
        widths = [layer.width for layer in spec.layers]
        adaptive = all(width is None for width in widths)
        equal = len(set(widths)) <= 1
        self._want_same = self._want_same and equal
        for widget, value in (
            (self.same, self._want_same and not adaptive),
            (self.adaptive, adaptive),
            (self.evidence, spec.evidence),
        ):
            widget.blockSignals(True)
            widget.setChecked(value)
            widget.blockSignals(False)
        self.same.setEnabled(not adaptive)
        self.adaptive.setEnabled(spec.roles.kind != "none")
        self.adaptive.setToolTip("" if spec.roles.kind != "none" else texts.NETWORK_HAS_NO_ROLES)
        self._fill_widths(widths)
        if not self.name.hasFocus():
            self.name.setText(spec.name)
        for spin, number in ((self.layer_count, spec.depth), (self.seed, spec.seed)):
            spin.blockSignals(True)
            spin.setValue(number)
            spin.blockSignals(False)
        for box, key in ((self.orders, spec.orders), (self.language, spec.language), (self.family, spec.family)):
            box.setCurrentIndex(box.findData(key))
        self.setEnabled(not self._editor.context.document.read_only)

    def _fill_widths(self, widths: Sequence[int | None]) -> None:
        rows = 0 if not widths or widths[0] is None else 1 if self.same.isChecked() else len(widths)
        while len(self.widths) > rows:
            self._widths.removeRow(len(self.widths) - 1)
            self.widths.pop()
        while len(self.widths) < rows:
            spin = SpinBox(texts.neurons_of_layer(len(self.widths) + 1), 1, MAX_SIZE)
            spin.valueChanged.connect(self._width_changed)
            add_row(self._widths, texts.layer(len(self.widths) + 1), spin)
            self.widths.append(spin)
        for place, spin in enumerate(self.widths):
            text = self._widths.labelForField(spin)
            if isinstance(text, QLabel):
                text.setText(texts.NEURONS if self.same.isChecked() else texts.layer(place + 1))
            spin.blockSignals(True)
            spin.setValue(widths[place] or 1)
            spin.setEnabled(widths[place] is not None)
            spin.blockSignals(False)

    def _renamed(self, text: str) -> None:
        self._editor.change_network(texts.RENAME_NETWORK, "name", name=text.strip())

    def _width_changed(self, value: int) -> None:
        if self.same.isChecked():
            self._editor.set_all_widths(value)
            return
        place = self.widths.index(self.sender())  # type: ignore[arg-type]
        self._editor.set_width(place, value)

    def _same_toggled(self, on: bool) -> None:
        self._want_same = on
        if on and self.widths:
            self._editor.set_all_widths(self.widths[0].value())
        self.refresh()

    def _adaptive_toggled(self, on: bool) -> None:
        self._editor.set_all_widths(None if on else 4)

    def _orders_chosen(self, place: int) -> None:
        self._editor.change_network(texts.CHANGE_ORDERS, orders=self.orders.itemData(place))

    def _seed_changed(self, value: int) -> None:
        self._editor.change_network(texts.CHANGE_SEED, "seed", seed=value)

    def _language_chosen(self, place: int) -> None:
        self._editor.change_network(texts.CHANGE_LANGUAGE, language=self.language.itemData(place))

    def _family_chosen(self, place: int) -> None:
        self._editor.change_network(texts.CHANGE_TASK_KIND, family=self.family.itemData(place))

    def _evidence_toggled(self, on: bool) -> None:
        self._editor.change_network(texts.CHANGE_EVIDENCE, evidence=on)
