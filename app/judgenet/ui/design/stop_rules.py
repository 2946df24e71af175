"""Stop rules of the design: the form in the inspector, and the menus of the canvas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QMenu, QWidget

from judgenet.core.cascade import (
    StopPlace,
    has_stop_rules,
    place_words,
    put_rule,
    rule_at,
    stop_places,
    stop_rule_text,
    stop_rule_words,
    with_rule,
)
from judgenet.core.network import NetworkSpec, StopRule, StopWhen
from judgenet.core.plan import ExpectedCalls
from judgenet.core.wording import capitalized
from judgenet.ui.canvas.gates import gate_state
from judgenet.ui.design import texts
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.forms import FormSection
from judgenet.ui.elements import ComboBox, DecimalBox, add_row, label

_NAMES: Final[dict[StopWhen, str]] = {
    "decided": texts.VOTE_DECIDED,
    "orders_agree": texts.ORDERS_AGREE,
    "neurons_agree": texts.NEURONS_AGREE,
    "margin": texts.LEAD_IN_VOTES,
    "difference": texts.SCORE_DIFFERENCE,
}
_USUAL: Final[dict[StopWhen, float]] = {"margin": 2.0, "difference": 1.0}
"""The number that a new rule of a kind has."""


def usual_rule(when: StopWhen) -> StopRule:
    """A rule of a kind with its usual number."""
    return StopRule(when, _USUAL.get(when))


def stop_words(spec: NetworkSpec, layer: int) -> str:
    """The stop rules of a layer for its row of the tree; empty where it has none. Layers count from 0; the number of
    layers means the chair."""
    parts = []
    before = rule_at(spec, ("before", layer))
    if before is not None:
        parts.append(texts.not_asked_where(stop_rule_words(before)))
    within = rule_at(spec, ("within", layer)) if layer < spec.depth else None
    if within is not None:
        parts.append(texts.in_turn_until(stop_rule_words(within)))
    return "".join(parts)


# Menus


def fill_stop_rules(menu: QMenu, editor: DesignEditor, place: StopPlace) -> None:
    """Fills a menu with the rules possible at a place; the current one is checked."""
    now = rule_at(editor.spec, place)

    for rule in (None, *(usual_rule(when) for when in _NAMES)):
        same = (None if now is None else now.when) == (None if rule is None else rule.when)
        shown = now if same else rule
        action = menu.addAction(texts.ASK_EVERY_PAIR if shown is None else stop_rule_words(shown).capitalize())
        action.setData(shown)
        action.setCheckable(True)
        action.setChecked(same)
        action.triggered.connect(lambda _checked=False, chosen=shown: set_rule(editor, place, chosen))


def set_rule(editor: DesignEditor, place: StopPlace, rule: StopRule | None, merge: str = "") -> None:
    """Sets the stop rule at a place of the design; ``None`` removes it. Edits in a row with the same ``merge`` become
    one step of Undo."""
    if rule_at(editor.spec, place) != rule:
        editor.edit(texts.CHANGE_STOP_RULE, lambda spec: put_rule(spec, place, rule), merge)


# The inspector


class _RuleRow(QWidget):
    """The stop rule at one place: its kind, and its number if it has one."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.kind = ComboBox(name)
        self.number = DecimalBox(texts.at_least(name), 0.5, 99, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.kind, stretch=2)
        row.addWidget(self.number, stretch=1)

    def show_rule(self, rule: StopRule | None, *, mixed: bool = False) -> None:
        """Shows a rule, ``None`` for none; ``mixed``: the places differ."""
        with QSignalBlocker(self.kind), QSignalBlocker(self.number):
            self.kind.clear()
            if mixed:
                self.kind.addItem(texts.AS_SET_FOR_LAYERS, "mixed")
            self.kind.addItem(texts.ASK_EVERY_PAIR, None)
            for when, text in _NAMES.items():
                self.kind.addItem(text, when)
            chosen = "mixed" if mixed else None if rule is None else rule.when
            self.kind.setCurrentIndex(self.kind.findData(chosen) if chosen is not None else int(mixed))
            counted = rule is not None and rule.at_least is not None and not mixed
            self.number.setVisible(counted)
            if rule is not None and rule.at_least is not None:
                self.number.setSingleStep(1.0 if rule.when == "margin" else 0.5)
                self.number.setValue(rule.at_least)

    @property
    def rule(self) -> StopRule | None:
        """The rule that is chosen, with its usual number where none was entered."""
        when = self.kind.currentData()
        if when not in get_args(StopWhen):
            return None
        rule = usual_rule(when)
        if rule.at_least is not None and self.number.isVisible():
            return StopRule(when, self.number.value())
        return rule


class StopSection(FormSection):
    """The stop rules of the selection: before and within a layer, before the chair, or of the whole network."""

    def __init__(self, editor: DesignEditor) -> None:
        super().__init__(texts.STOP_RULES)
        self._editor = editor
        self._places: tuple[StopPlace | None, StopPlace | None] = (None, None)
        self.before = _RuleRow(texts.STOP_BEFORE_NAME)
        self.within = _RuleRow(texts.STOP_IN_TURN_NAME)
        self._form = form = QFormLayout()
        add_row(form, texts.STOP_BEFORE, self.before)
        add_row(form, texts.STOP_IN_TURN, self.within)
        self.note = label("", tone="text2", wrap=True)
        self.body.addLayout(form)
        self.body.addWidget(self.note)
        for row in (self.before, self.within):
            row.kind.activated.connect(lambda _index, row=row: self._kind_chosen(row))
            row.number.valueChanged.connect(lambda _value, row=row: self._number_changed(row))
        editor.context.figures.changed.connect(self._show_note)

    def places(self) -> tuple[StopPlace | None, StopPlace | None] | None:
        """The places of the two rules in the form; ``None`` where the selection has none. Both are ``None`` for the
        whole network."""
        editor = self._editor
        spec, layers = editor.spec, editor.layers()
        if editor.part == "chair":
            return (("before", spec.depth), None)
        if len(layers) == 1:
            layer = layers[0]
            several = spec.layers[layer].adaptive or len(spec.layers[layer].neurons) > 1
            before: StopPlace | None = ("before", layer) if layer else None
            within: StopPlace | None = ("within", layer) if several or rule_at(spec, ("within", layer)) else None
            return (before, within) if before or within else None
        if editor.part is None and not layers:
            return (None, None)
        return None

    def refresh(self) -> None:
        """Shows the rules of the selection."""
        places = self.places()
        if places is None:
            return
        self._places = places
        spec = self._editor.spec
        before, within = places
        if before is None and within is None:
            everywhere = [rule_at(spec, place) for place in stop_places(spec)]
            rule = everywhere[0] if everywhere else None
            uniform = any(with_rule(spec, stop_rule_text(everywhere_rule)) == spec for everywhere_rule in (rule, None))
            self.before.show_rule(rule, mixed=not uniform)
        else:
            self.before.show_rule(None if before is None else rule_at(spec, before))
            self.within.show_rule(None if within is None else rule_at(spec, within))
        self._form.setRowVisible(self.before, before is not None or within is None)
        self._form.setRowVisible(self.within, within is not None)
        editable = not self._editor.context.document.read_only
        for row in (self.before, self.within):
            row.setEnabled(editable)
        self._show_note()

    def _kind_chosen(self, row: _RuleRow) -> None:
        if row.kind.currentData() == "mixed":
            return
        rule = row.rule
        # A rule of another kind starts with its usual number.
        self._change_rule(row, rule if rule is None else usual_rule(rule.when))

    def _number_changed(self, row: _RuleRow) -> None:
        self._change_rule(row, row.rule, f"stop rule {self._places}")

    def _change_rule(self, row: _RuleRow, rule: StopRule | None, merge: str = "") -> None:
        before, within = self._places
        place = before if row is self.before else within
        if place is not None:
            set_rule(self._editor, place, rule, merge)
        elif before is None and within is None:
            text = stop_rule_text(rule)
            self._editor.edit(texts.CHANGE_STOP_RULES, lambda spec: with_rule(spec, text), merge)

    def _show_note(self) -> None:
        if not self._editor.context.document.is_open:
            return
        spec = self._editor.spec
        if not has_stop_rules(spec):
            self.note.setText(texts.STOP_RULES_NOTE)
            return
        figures = self._editor.context.figures
        expected = None if figures.estimate is None else figures.estimate.estimate.expected
        self.note.setText("\n".join(_effects(spec, self._places, expected, figures.currency)))


def _effects(
    spec: NetworkSpec, places: Sequence[StopPlace | None], expected: ExpectedCalls | None, currency: str
) -> list[str]:
    """What each rule does, one line each; at the end a note where no recorded pairs tell how many pairs go on."""
    lines = []
    for place in [place for place in places if place is not None] or stop_places(spec):
        state = gate_state(spec, place, expected, currency)
        if state is not None:
            effect = state.words[:1].lower() + state.words[1:]
            lines.append(f"{capitalized(place_words(spec, place))}: {effect}.")
    if lines and expected is None:
        lines.append(texts.SHARE_UNKNOWN)
    return lines
