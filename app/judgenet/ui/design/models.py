"""Choosing the model of a neuron: one in use, the model of an endpoint, or any that the user names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QFormLayout, QVBoxLayout, QWidget

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import NetworkSpec, Settings
from judgenet.core.plan import bundled_prices
from judgenet.engine.embedded_model import model_name
from judgenet.engine.session import all_settings
from judgenet.ui.design import texts
from judgenet.ui.elements import ComboBox, add_row, label

_OTHER: Final = "other"
_ENDPOINTS: Final = "endpoints"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model at an endpoint. ``model`` is ``None`` for the model that the endpoint names."""

    endpoint: str
    model: str | None
    text: str

    @property
    def shown(self) -> str:
        return f"{self.text}   {self.endpoint}"


def model_choices(spec: NetworkSpec, profiles: Mapping[str, EndpointProfile]) -> list[ModelChoice]:
    """The models offered in a list: those in use first, then the one that each endpoint names."""
    choices: dict[tuple[str, str], ModelChoice] = {}

    def add(endpoint: str, model: str | None) -> None:
        profile = profiles.get(endpoint)
        own = None if profile is None else profile.model
        if own is None and profile is not None and profile.kind == "embedded":
            own = model_name(profile.source)
        name = model or own
        if name:
            choices.setdefault((endpoint, name), ModelChoice(endpoint, None if model == own else model, name))

    for settings in all_settings(spec):
        if settings.endpoint:
            add(settings.endpoint, settings.model)
    for name in profiles:
        add(name, None)
    return list(choices.values())


def known_models(endpoint: str, profiles: Mapping[str, EndpointProfile]) -> list[str]:
    """Names of models to suggest for an endpoint: those of the price table that its provider offers."""
    profile = profiles.get(endpoint)
    starts = {"anthropic": ("claude",), "gemini": ("gemini",), "openai": ("gpt", "o3", "o4")}
    wanted = starts.get(
        endpoint, starts.get(profile.kind, ()) if profile is not None and profile.name == endpoint else ()
    )
    return sorted(
        {
            model
            for price in bundled_prices().prices
            for model in price.models
            if model.startswith(wanted or ("\0",)) and "*" not in model
        }
    )


class ModelBox(ComboBox):
    """The list of models at endpoints.

    Signals:
        picked: endpoint, and model (empty for the one that the endpoint names).
        other_wanted: the user wants to name another model.
        endpoints_wanted: the user wants to see the endpoints.
    """

    picked = Signal(str, str)
    other_wanted = Signal()
    endpoints_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(texts.MODEL)
        self.activated.connect(self._activated)

    def show_model(
        self, spec: NetworkSpec, profiles: Mapping[str, EndpointProfile], settings: Settings | None, several: bool
    ) -> None:
        """Shows the model in force; ``several``: the selected neurons have different ones."""
        self.blockSignals(True)
        self.clear()
        choices = model_choices(spec, profiles)
        wanted = -1
        for choice in choices:
            self.addItem(choice.shown, choice)
            if settings is not None and choice.endpoint == settings.endpoint:
                own = choice.model is None and (settings.model is None or settings.model == choice.text)
                if own or settings.model == choice.text:
                    wanted = self.count() - 1
        self.insertSeparator(self.count())
        self.addItem(texts.ANOTHER_MODEL_CHOICE, _OTHER)
        self.addItem(texts.ENDPOINTS_CHOICE, _ENDPOINTS)
        self.setPlaceholderText(texts.SEVERAL_MODELS if several else texts.NO_MODEL)
        self.setCurrentIndex(-1 if several else wanted)
        missing = not several and wanted < 0
        self.setProperty("problem", "true" if missing else "false")
        self.style().unpolish(self)
        self.style().polish(self)
        self.setToolTip(self.currentText())
        self.blockSignals(False)

    def _activated(self, place: int) -> None:
        data = self.itemData(place)
        if isinstance(data, ModelChoice):
            self.picked.emit(data.endpoint, data.model or "")
        elif data == _OTHER:
            self.other_wanted.emit()
        elif data == _ENDPOINTS:
            self.endpoints_wanted.emit()


class ModelDialog(QDialog):
    """The dialog in which the user names a model at an endpoint."""

    def __init__(self, profiles: Mapping[str, EndpointProfile], endpoint: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(texts.ANOTHER_MODEL)
        self._profiles = profiles
        self.endpoint = QComboBox()
        self.endpoint.setAccessibleName(texts.ENDPOINT)
        for name, profile in profiles.items():
            if profile.kind != "replay":
                self.endpoint.addItem(name)
        self.endpoint.setCurrentText(endpoint)
        self.model = QComboBox()
        self.model.setEditable(True)
        self.model.setAccessibleName(texts.NAME_OF_MODEL)
        self.model.setMinimumContentsLength(28)
        form = QFormLayout()
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        add_row(form, texts.ENDPOINT, self.endpoint)
        add_row(form, texts.MODEL, self.model)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(label(texts.MODEL_NAME_NOTE, tone="text2"))
        column.addLayout(form)
        column.addWidget(buttons)
        self.endpoint.currentTextChanged.connect(self._suggest)
        self._suggest(self.endpoint.currentText())

    def _suggest(self, endpoint: str) -> None:
        self.model.clear()
        self.model.addItems(known_models(endpoint, self._profiles))
        profile = self._profiles.get(endpoint)
        self.model.setEditText((profile.model if profile is not None else None) or "")

    @property
    def chosen(self) -> tuple[str, str]:
        """The endpoint and the model that were entered."""
        return self.endpoint.currentText(), self.model.currentText().strip()
