"""The forms of the inspector for the selected neurons: settings of calls, and the role."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QMenu,
    QPlainTextEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from judgenet.core import design
from judgenet.core.network import (
    Role,
    RoleKind,
    Settings,
    StandIn,
    chair_settings,
    designed_role,
    neuron_settings,
    role_settings,
)
from judgenet.core.roles import library
from judgenet.ui.design import texts
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.models import ModelBox, ModelDialog, model_choices
from judgenet.ui.design.stand_in_row import StandInRow
from judgenet.ui.dialogs import shown
from judgenet.ui.elements import DecimalBox, SpinBox, field, label, link
from judgenet.ui.measures import measure
from judgenet.ui.request_forms import RequestRows
from judgenet.ui.widgets import set_kind

_HINTS: Final[dict[RoleKind, str]] = {
    "generated": texts.GENERATED_BY_MODEL,
    "fixed": texts.NO_ROLE_YET,
    "criteria": texts.CRITERION_OF_PAIR,
    "none": texts.NO_ROLE,
}
_SOURCES: Final[dict[RoleKind, str]] = {
    "generated": texts.GENERATED_FOR_EACH_PAIR,
    "fixed": texts.ROLE_OF_NETWORK,
    "criteria": texts.CRITERION_OF_THE_PAIR,
    "none": texts.NONE,
}
_BACK: Final[dict[RoleKind, str]] = {
    "generated": texts.BACK_TO_GENERATED,
    "fixed": texts.BACK_TO_NETWORK,
    "criteria": texts.BACK_TO_CRITERION,
    "none": texts.NO_ROLE,
}


class TemperatureBox(DecimalBox):
    """A temperature from 0 to 2; values below 0 are shown as "default"."""

    def __init__(self) -> None:
        super().__init__(texts.TEMPERATURE, -0.1, 2.0)
        self.setSingleStep(0.1)
        self.setSpecialValueText("default")
        self.setToolTip(texts.DEFAULT_TEMPERATURE_TIP)


class FormSection(QWidget):
    """A section of the inspector: a heading, a widget at its right where one is given, and :attr:`body` below."""

    def __init__(self, title: str, right: QWidget | None = None) -> None:
        super().__init__()
        self.setAccessibleName(title)
        self.setProperty("part", "section")
        self.heading = label(title, "section")
        head = QHBoxLayout()
        head.addWidget(self.heading)
        head.addStretch(1)
        if right is not None:
            head.addWidget(right)
        self.body = QVBoxLayout(self)
        self.body.addLayout(head)
        measure(self.body, margins=(16, 12, 16, 16), spacing=8)

    def refresh(self) -> None:
        """Shows the current state of the design."""


class SettingsSection(FormSection):
    """Model, temperature, samples, token limit, reasoning, scores, further fields and stand-ins of the selection."""

    def __init__(self, editor: DesignEditor) -> None:
        self._inherit = link(texts.INHERIT, texts.INHERIT_TIP)
        super().__init__(texts.MODEL, self._inherit)
        self._editor = editor
        self.model = ModelBox()
        self.temperature = TemperatureBox()
        self.samples = SpinBox(texts.SAMPLES, 1, 99)
        self.max_tokens = SpinBox(texts.MAX_TOKENS_NAME, 1, 200_000)
        self.max_tokens.setSingleStep(256)
        self.body.addWidget(self.model)
        grid = QGridLayout()
        for column, (text, widget) in enumerate(
            ((texts.TEMPERATURE, self.temperature), (texts.SAMPLES, self.samples), (texts.MAX_TOKENS, self.max_tokens))
        ):
            grid.addWidget(label(text, tone="text2"), 0, column)
            grid.addWidget(widget, 1, column)
            grid.setColumnStretch(column, 1)
        self._grid = grid
        self.body.addLayout(grid)
        self.request = RequestRows()
        self.body.addWidget(self.request)
        self.stand_in = StandInRow()
        self.body.addWidget(self.stand_in)
        self._inherit.clicked.connect(editor.inherit)
        self.model.picked.connect(self._model_picked)
        self.model.other_wanted.connect(self._ask_model)
        self.model.endpoints_wanted.connect(self._show_endpoints)
        self.temperature.valueChanged.connect(self._temperature_changed)
        self.samples.valueChanged.connect(self._samples_changed)
        self.max_tokens.valueChanged.connect(self._max_tokens_changed)
        self.request.reasoning.chosen.connect(self._reasoning_chosen)
        self.request.scores.chosen.connect(self._scores_chosen)
        self.request.extra.entered.connect(self._extra_entered)
        self.stand_in.entered.connect(self._stand_in_entered)
        measure(self._grid, across=12, down=2)

    def _effective(self) -> list[Settings]:
        editor = self._editor
        spec = editor.spec
        if editor.part == "roles":
            return [role_settings(spec)]
        if editor.part == "chair" and spec.chair is not None:
            return [chair_settings(spec)]
        places = editor.spec_places()
        return [neuron_settings(spec, *place) for place in places] or [spec.settings]

    def refresh(self) -> None:
        """Shows the settings in force."""
        editor = self._editor
        effective = self._effective()
        first = effective[0]
        several = any((s.endpoint, s.model) != (first.endpoint, first.model) for s in effective)
        self.model.show_model(editor.spec, editor.context.document.profiles, first, several)
        for widget, values in (
            (
                self.temperature,
                [-0.1 if s.temperature in (None, "default") else float(s.temperature) for s in effective],
            ),
            (self.samples, [s.samples or 1 for s in effective]),
            (self.max_tokens, [s.max_tokens or 1024 for s in effective]),
        ):
            widget.blockSignals(True)
            widget.setValue(values[0])  # type: ignore[arg-type]
            widget.blockSignals(False)
            mixed = len(set(values)) > 1
            widget.setToolTip(texts.NEURONS_DIFFER if mixed else "")
        asks_once = editor.part == "roles"
        editable = not editor.context.document.read_only
        self.request.show_settings(effective, editable=editable)
        self.request.scores.setEnabled(editable and not asks_once)
        choices = model_choices(editor.spec, editor.context.document.profiles)
        names = [c.endpoint if c.model is None else f"{c.endpoint}/{c.model}" for c in choices]
        self.stand_in.show_settings(effective, names, editable=editable)
        self.samples.setEnabled(editable and not asks_once)
        self.samples.setToolTip(texts.ROLES_ONCE if asks_once else self.samples.toolTip())
        own = any(
            design.settings_at(editor.spec, place) != Settings() for place in editor.targets() if place != "network"
        )
        self._inherit.setVisible(own)
        for control in (self.model, self.temperature, self.max_tokens, self._inherit):
            control.setEnabled(editable)

    def _model_picked(self, endpoint: str, model: str) -> None:
        self._editor.set_settings(endpoint=endpoint, model=model or None)

    def _ask_model(self) -> None:
        self.refresh()
        self._editor.context.tasks.start(self._ask(), texts.CHOOSE_MODEL)

    async def _ask(self) -> None:
        first = self._effective()[0]
        dialog = ModelDialog(self._editor.context.document.profiles, first.endpoint or "openai", self.window())
        if await shown(dialog):
            endpoint, model = dialog.chosen
            self._editor.set_settings(endpoint=endpoint, model=model or None)
        dialog.deleteLater()

    def _show_endpoints(self) -> None:
        self.refresh()
        self._editor.context.navigator.go("settings", part="endpoints")

    def _temperature_changed(self, value: float) -> None:
        self._editor.set_settings("temperature", temperature="default" if value < 0 else round(value, 2))

    def _samples_changed(self, value: int) -> None:
        self._editor.set_settings("samples", samples=value)

    def _reasoning_chosen(self, value: int | str) -> None:
        whole = value == "default" and self._editor.targets() == ["network"]
        self._editor.set_settings("reasoning", reasoning=None if whole else value)

    def _scores_chosen(self, value: str) -> None:
        whole = value == "text" and self._editor.targets() == ["network"]
        self._editor.set_settings("scores", scores=None if whole else value)

    def _extra_entered(self, text: str) -> None:
        whole = text == "{}" and self._editor.targets() == ["network"]
        self._editor.set_settings(extra=None if whole else text)

    def _stand_in_entered(self, given: tuple[StandIn, ...]) -> None:
        whole = not given and self._editor.targets() == ["network"]
        self._editor.set_settings(stand_in=None if whole else given)

    def _max_tokens_changed(self, value: int) -> None:
        self._editor.set_settings("max_tokens", max_tokens=value)


class Text(QPlainTextEdit):
    """A field of several lines.

    Signals:
        edited: the text, after each change by the user.
    """

    edited = Signal(str)

    def __init__(self, name: str, hint: str = "") -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(hint)
        self.setTabChangesFocus(True)
        self._quiet = False
        self.textChanged.connect(self._emit_edited)

    def show_text(self, text: str) -> None:
        """Shows a text without emitting :attr:`edited`; the cursor stays if the text does not change."""
        if text != self.toPlainText():
            self._quiet = True
            self.setPlainText(text)
            self._quiet = False

    def _emit_edited(self) -> None:
        if not self._quiet:
            self.edited.emit(self.toPlainText())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.ensureCursorVisible()


class RoleSection(FormSection):
    """The role of the selected neurons: the network's, one from the library, or one of their own."""

    def __init__(self, editor: DesignEditor) -> None:
        self.source = QToolButton()
        set_kind(self.source, "menu")
        self.source.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.source.setAccessibleName(texts.ROLE_SOURCE)
        super().__init__(texts.ROLE, self.source)
        self._editor = editor
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.source.setMenu(self._menu)
        self.name = field(texts.NAME_OF_ROLE)
        self.description = Text(texts.ROLE_LOOKS_AT, texts.ROLE_LOOKS_AT_HINT)
        self.body.addWidget(self.name)
        self.body.addWidget(self.description)
        self.name.textEdited.connect(self._edited)
        self.description.edited.connect(self._edited)
        measure(self.description, height=84)

    def refresh(self) -> None:
        """Shows the role of the selected neurons."""
        editor = self._editor
        spec, first = editor.spec, editor.first
        if first is None:
            return
        roles = {designed_role(spec, place.layer, place.neuron) for place in editor.places}
        role = next(iter(roles)) if len(roles) == 1 else None
        own = [spec.layers[layer].neurons[neuron].role for layer, neuron in editor.spec_places()]
        adaptive = any(spec.layers[place.layer].adaptive for place in editor.places)
        if self.name.text() != (role.name if role else "") and not self.name.hasFocus():
            self.name.setText(role.name if role else "")
        if not self.description.hasFocus():
            self.description.show_text(role.description if role else "")
        hint = _HINTS[spec.roles.kind]
        self.name.setPlaceholderText(texts.SEVERAL_ROLES if len(roles) > 1 else hint)
        word = _SOURCES[spec.roles.kind]
        if any(own):
            known = {entry.role for entry in library("en")} | {entry.role for entry in library("zh")}
            word = texts.FROM_LIBRARY if all(role in known for role in own if role) else texts.OWN_ROLE
        elif spec.roles.kind == "fixed" and role is None:
            word = texts.NONE
        self.source.setText(word)
        editable = not adaptive and not editor.context.document.read_only
        what = "criteria" if spec.roles.kind == "criteria" else "roles"
        why = texts.takes_one_of(what) if adaptive else ""
        for widget in (self.name, self.description, self.source):
            widget.setEnabled(editable)
            widget.setToolTip(why)

    def _fill_menu(self) -> None:
        self._menu.clear()
        kind = self._editor.spec.roles.kind
        self._menu.addAction(_BACK[kind], self._give_back)
        self._menu.addSeparator()
        language = "zh" if self._editor.spec.language == "zh" else "en"
        for entry in library(language):
            action = self._menu.addAction(entry.role.name, self._take_from_library)
            action.setData(entry.role)
            action.setToolTip(entry.role.description)
        self._menu.setToolTipsVisible(True)

    def _give_back(self) -> None:
        self._editor.set_role(None)

    def _take_from_library(self) -> None:
        action: Any = self.sender()
        role = action.data()
        if isinstance(role, Role):
            self._change_role(role, "")

    def _edited(self, _text: str = "") -> None:
        name = self.name.text().strip()
        description = self.description.toPlainText().strip()
        if not name:
            if not description:
                return
            name = texts.role_number((self._editor.first.neuron if self._editor.first else 0) + 1)
        self._change_role(Role(name, description), "role")

    def _change_role(self, role: Role, merge: str) -> None:
        editor = self._editor
        first = editor.first
        if first is None:
            return
        spec = editor.spec
        own = spec.layers[first.layer].neurons[0 if spec.layers[first.layer].adaptive else first.neuron].role
        shared = editor.scope == "all" and spec.roles.kind == "fixed" and own is None and len(editor.places) == 1
        merge = f"{merge} {sorted((p.layer, p.neuron) for p in editor.places)}" if merge else ""
        if shared and first.neuron < len(spec.roles.roles):
            editor.set_network_role(first.neuron, role, merge)
        else:
            editor.set_role(role, merge)
