"""The form of an endpoint: its kind and address, its model with a price, its key, its limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from judgenet.core.endpoints import DEFAULT_URLS, EndpointKind, EndpointProfile
from judgenet.core.extra_fields import parse_extra
from judgenet.core.plan import Price, PriceError
from judgenet.store.prices import keep_price, load_prices
from judgenet.store.secrets import SecretError, find_key, keyring_problem, scrub, set_session_key, store_key
from judgenet.store.settings import (
    profile_from_flags,
)
from judgenet.ui.context import Context
from judgenet.ui.elements import SpinBox, add_row, field, label
from judgenet.ui.limits import both_prices
from judgenet.ui.measures import measure
from judgenet.ui.request_forms import extra_line

_NO_PRICE: Final = "The price of this model is unknown: enter it to see costs and to set a limit of money."
_KINDS: Final = {
    "openai": "OpenAI-compatible",
    "azure": "Azure OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Google Gemini",
    "ollama": "Ollama",
    "embedded": "Local model (GGUF file)",
    "replay": "A recorded run",
}


class EndpointForm(QWidget):
    """An endpoint's settings.

    Attributes:
        profile: the endpoint as it was before anything was changed; ``None`` before the first.
        new: it is not among the endpoints yet.

    Signals:
        kind_changed: another kind was chosen.
    """

    kind_changed = Signal(str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context
        self.profile: EndpointProfile | None = None
        self.new = False
        self._make_model()
        self._make_key()
        self._make_limits()
        self._lay_out()
        self.kind.currentIndexChanged.connect(self._kind_changed)
        self.model.currentTextChanged.connect(self._model_changed)
        self.keep_key.clicked.connect(self._keep_key)
        self.key_value.returnPressed.connect(self._keep_key)

    def _make_model(self) -> None:
        self.name = field("Name of the endpoint")
        self.kind = QComboBox()
        self.kind.setAccessibleName("API type")
        self.kind.setMinimumContentsLength(26)
        for kind in get_args(EndpointKind):
            self.kind.addItem(_KINDS[kind], kind)
        self.url = field("Address", "https://host/v1")
        self.model = QComboBox()
        self.model.setAccessibleName("Default model")
        self.model.setEditable(True)
        self.model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.model.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.model.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.list_models = QPushButton("List models")
        self.list_models.setToolTip("Asks the server which models it has; that costs nothing")
        self.models_row = QWidget()
        models_row = QHBoxLayout(self.models_row)
        models_row.setContentsMargins(0, 0, 0, 0)
        models_row.addWidget(self.model, stretch=1)
        models_row.addWidget(self.list_models)
        self.price_in = field("Price of tokens in, USD per million", "in, unknown")
        self.price_out = field("Price of tokens out, USD per million", "out, unknown")
        self.prices = QWidget()
        prices = QHBoxLayout(self.prices)
        prices.setContentsMargins(0, 0, 0, 0)
        prices.addWidget(self.price_in)
        prices.addWidget(self.price_out)
        self.price_hint = label("", tone="text2", wrap=True)

    def _make_key(self) -> None:
        self.key_name = field("Name of the key", "OPENAI_API_KEY")
        self.key_value = field("Key", "Paste the key; it goes into the system keyring")
        self.key_value.setEchoMode(QLineEdit.EchoMode.Password)
        self.keep_key = QPushButton("Save key")
        self.key_state = label("", tone="text2", wrap=True)

    def _make_limits(self) -> None:
        self.concurrency = SpinBox("Parallel calls (max.)", 1, 512)
        self.per_minute = SpinBox("Requests per minute", 0, 100_000)
        self.per_minute.setSpecialValueText("no limit")
        self.context_length = SpinBox("Context length in tokens", 0, 10_000_000)
        self.context_length.setSpecialValueText("server's own")
        self.context_length.setSingleStep(4096)
        self.context_length.setToolTip(
            "How many tokens of prompt and answer a model holds; Ollama loads it with so many"
        )
        self.extra = field("Further fields of every request", '{"top_k": 20}')
        self.extra.setToolTip("Fields of the request that only this endpoint knows, as a JSON object; no keys")
        self.source = field("File or folder", "Path of the file or folder")

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        add_row(form, "Name", self.name)
        add_row(form, "API type", self.kind)
        add_row(form, "Address", self.url)
        add_row(form, "Default model", self.models_row)
        add_row(form, "USD per million", self.prices)
        form.addRow("", self.price_hint)
        add_row(form, "Key name", self.key_name)
        key = QWidget()
        key_row = QHBoxLayout(key)
        key_row.setContentsMargins(0, 0, 0, 0)
        key_row.addWidget(self.key_value, stretch=1)
        key_row.addWidget(self.keep_key)
        add_row(form, "Key", key)
        form.addRow("", self.key_state)
        add_row(form, "Parallel calls (max.)", self.concurrency)
        add_row(form, "Requests per minute", self.per_minute)
        add_row(form, "Context length", self.context_length)
        add_row(form, "Further fields", self.extra)
        add_row(form, "File", self.source)
        self._form = form
        form.setContentsMargins(0, 0, 0, 0)
        measure(form, across=24, down=8)

    def show_profile(self, profile: EndpointProfile, *, new: bool) -> None:
        """Shows an endpoint; a new one has no name yet."""
        self.new = new
        self.profile = profile
        self.name.setText(profile.name)
        self.name.setReadOnly(not self.new)
        self.kind.setCurrentIndex(get_args(EndpointKind).index(profile.kind))
        self.url.setText(profile.base_url)
        self.model.clear()
        self.model.setCurrentText(profile.model or "")
        self.key_name.setText(profile.api_key or "")
        self.key_value.clear()
        self.concurrency.setValue(profile.concurrency)
        self.per_minute.setValue(round(profile.requests_per_minute or 0))
        self.context_length.setValue(profile.context_length or 0)
        self.extra.setText(extra_line(profile.extra))
        self.extra.setCursorPosition(0)
        self.source.setText(profile.source or "")
        self._show_price(profile)
        self._kind_changed()
        self.say_key()

    def _price_of(self, profile: EndpointProfile) -> Price | None:
        """What the endpoint's model costs, ``None`` where that is unknown."""
        try:
            table = load_prices(self._context.document.project.prices)
        except PriceError as error:
            self._context.errors.tell_exception(error, "Prices")
            return None
        return table.find(profile.model, profile.name, profile.kind) if profile.model else None

    def _show_price(self, profile: EndpointProfile) -> None:
        price = self._price_of(profile)
        self.price_hint.setText("" if price is not None or not profile.model else _NO_PRICE)
        self.price_in.setText("" if price is None else f"{price.input:g}")
        self.price_out.setText("" if price is None else f"{price.output:g}")

    def _model_changed(self, model: str) -> None:
        """Another model has another price: it is shown, or asked for where it is unknown."""
        if self.profile is not None and not self.model.signalsBlocked():
            self._show_price(replace(self.profile, model=model.strip() or None))
            self._kind_changed()

    def keep_price_of(self, profile: EndpointProfile) -> None:
        """Keeps a price that was entered or changed.

        :raises ValueError: it is no price, or there is no model whose price it could be.
        """
        entered = both_prices(self.price_in.text(), self.price_out.text(), profile.model or "The model")
        known = self._price_of(profile)
        if entered is None or (known is not None and entered == (known.input, known.output)):
            return
        if not profile.model:
            raise ValueError("Name the model whose price this is.")
        keep_price(profile.name, profile.model, *entered)
        self._context.figures.refresh()

    def _kind_changed(self) -> None:
        kind = self.kind.currentData()
        self.kind_changed.emit(kind)
        local = kind in ("embedded", "replay")
        for widget in (self.url, self.prices, self.key_name, self.per_minute):
            self._form.setRowVisible(widget, not local)
        self._form.setRowVisible(self.price_hint, not local and bool(self.price_hint.text()))
        self.list_models.setVisible(not local)
        for row in range(self._form.rowCount()):
            item = self._form.itemAt(row, QFormLayout.ItemRole.FieldRole)
            if item is not None and item.layout() is not None:
                self._form.setRowVisible(row, not local)
        self._form.setRowVisible(self.key_state, not local)
        self._form.setRowVisible(self.source, local)
        self._form.setRowVisible(self.context_length, kind == "ollama")
        self._form.setRowVisible(self.extra, kind != "replay")

    def say_key(self) -> None:
        """Says whether the key is found."""
        name = self.key_name.text().strip()
        if not name:
            self.key_state.setText("No key is sent.")
            return
        self.key_state.setText("Looking for the key…")
        self._context.tasks.start(self._look_for_key(name), "Look for the key")

    async def _look_for_key(self, name: str) -> None:
        folder = self._context.document.folder
        try:
            known = await self._context.tasks.off_thread(find_key, name, folder)
        except SecretError as error:
            text = scrub(str(error))
        else:
            text = f"{name} is set ({known.source})." if known is not None else f"{name} is not set."
        if self.key_name.text().strip() == name:
            self.key_state.setText(text)

    def entered(self) -> EndpointProfile:
        """The profile as it stands in the form.

        :raises SettingsError: the address or a name cannot be used.
        :raises DocumentError: a further field cannot be sent.
        """
        kind: EndpointKind = self.kind.currentData()
        local = kind in ("embedded", "replay")
        url = "" if local else self.url.text().strip() or DEFAULT_URLS.get(kind, "")
        base = self.profile if self.profile is not None and not self.new else EndpointProfile(self.name.text().strip())
        key = self.key_name.text().strip() or None
        extra = "{}" if kind == "replay" else parse_extra(self.extra.text().strip() or "{}", "Further fields")
        if self.new and url and kind == "openai" and key is None:
            # The kind and the key's name of well-known hosts are filled in.
            usual = profile_from_flags(url)
            kind, key = usual.kind, usual.api_key
            base = replace(usual, name=self.name.text().strip())
        return replace(
            base,
            kind=kind,
            base_url=url,
            model=self.model.currentText().strip() or None,
            api_key=None if local else key,
            concurrency=self.concurrency.value(),
            requests_per_minute=self.per_minute.value() or None,
            context_length=(self.context_length.value() or None) if kind == "ollama" else None,
            extra=None if extra == "{}" else extra,
            source=(self.source.text().strip() or None) if local else None,
        )

    def _keep_key(self) -> None:
        name, value = self.key_name.text().strip(), self.key_value.text()
        self.key_value.clear()
        if not name or not value.strip():
            self.key_state.setText("Enter the key's name and paste the key.")
            return
        self._context.tasks.start(self._store_key(name, value), "Save key")

    async def _store_key(self, name: str, value: str) -> None:
        try:
            await self._context.tasks.off_thread(store_key, name, value)
            text = f"{name} is in the system's key store."
        except SecretError:
            try:
                set_session_key(name, value)
                why = await self._context.tasks.off_thread(keyring_problem)
                why = (why or "The system's key store did not save it.").partition(" (")[0].rstrip(".") + "."
                text = f"Key kept for this session only. {why} To keep it, set the environment variable {name}."
            except SecretError as other:
                text = scrub(str(other))
        self.key_state.setText(text)
