"""The form of an endpoint: API type and address, model with its price, key, limits."""

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
from judgenet.ui import texts
from judgenet.ui.context import Context
from judgenet.ui.elements import SpinBox, add_row, field, label
from judgenet.ui.limits import both_prices
from judgenet.ui.measures import measure
from judgenet.ui.request_forms import extra_line

_KINDS: Final = {
    "openai": texts.OPENAI_COMPATIBLE,
    "azure": texts.AZURE_OPENAI,
    "anthropic": texts.ANTHROPIC,
    "gemini": texts.GOOGLE_GEMINI,
    "ollama": texts.OLLAMA,
    "embedded": texts.LOCAL_MODEL,
    "replay": texts.RECORDED_RUN,
}

_ADDRESS_FORM = "https://host/v1"


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
        self.name = field(texts.NAME_OF_THE_ENDPOINT)
        self.kind = QComboBox()
        self.kind.setAccessibleName(texts.API_TYPE)
        self.kind.setMinimumContentsLength(26)
        for kind in get_args(EndpointKind):
            self.kind.addItem(_KINDS[kind], kind)
        self.url = field(texts.ADDRESS, _ADDRESS_FORM)
        self.model = QComboBox()
        self.model.setAccessibleName(texts.DEFAULT_MODEL)
        self.model.setEditable(True)
        self.model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.model.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.model.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.list_models = QPushButton(texts.LIST_MODELS)
        self.list_models.setToolTip(texts.LIST_MODELS_TIP)
        self.models_row = QWidget()
        models_row = QHBoxLayout(self.models_row)
        models_row.setContentsMargins(0, 0, 0, 0)
        models_row.addWidget(self.model, stretch=1)
        models_row.addWidget(self.list_models)
        self.price_in = field(texts.PRICE_OF_TOKENS_IN, texts.IN_UNKNOWN)
        self.price_out = field(texts.PRICE_OF_TOKENS_OUT, texts.OUT_UNKNOWN)
        self.prices = QWidget()
        prices = QHBoxLayout(self.prices)
        prices.setContentsMargins(0, 0, 0, 0)
        prices.addWidget(self.price_in)
        prices.addWidget(self.price_out)
        self.price_hint = label("", tone="text2", wrap=True)

    def _make_key(self) -> None:
        self.key_name = field(texts.NAME_OF_THE_KEY, "OPENAI_API_KEY")
        self.key_value = field(texts.KEY, texts.PASTE_THE_KEY)
        self.key_value.setEchoMode(QLineEdit.EchoMode.Password)
        self.keep_key = QPushButton(texts.SAVE_KEY)
        self.key_state = label("", tone="text2", wrap=True)

    def _make_limits(self) -> None:
        self.concurrency = SpinBox(texts.MAXIMUM_PARALLEL_CALLS, 1, 512)
        self.per_minute = SpinBox(texts.REQUESTS_PER_MINUTE, 0, 100_000)
        self.per_minute.setSpecialValueText(texts.NO_LIMIT)
        self.context_length = SpinBox(texts.CONTEXT_LENGTH_IN_TOKENS, 0, 10_000_000)
        self.context_length.setSpecialValueText(texts.SERVERS_OWN)
        self.context_length.setSingleStep(4096)
        self.context_length.setToolTip(texts.CONTEXT_LENGTH_TIP)
        self.extra = field(texts.FURTHER_FIELDS_OF_EVERY_REQUEST, '{"top_k": 20}')
        self.extra.setToolTip(texts.FURTHER_FIELDS_TIP)
        self.source = field(texts.FILE_OR_FOLDER, texts.PATH_OF_FILE_OR_FOLDER)

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        add_row(form, texts.NAME, self.name)
        add_row(form, texts.API_TYPE, self.kind)
        add_row(form, texts.ADDRESS, self.url)
        add_row(form, texts.DEFAULT_MODEL, self.models_row)
        add_row(form, texts.USD_PER_MILLION, self.prices)
        form.addRow("", self.price_hint)
        add_row(form, texts.KEY_NAME, self.key_name)
        self._key_row = QWidget()
        row = QHBoxLayout(self._key_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.key_value, stretch=1)
        row.addWidget(self.keep_key)
        add_row(form, texts.KEY, self._key_row)
        form.addRow("", self.key_state)
        add_row(form, texts.MAXIMUM_PARALLEL_CALLS, self.concurrency)
        add_row(form, texts.REQUESTS_PER_MINUTE, self.per_minute)
        add_row(form, texts.CONTEXT_LENGTH, self.context_length)
        add_row(form, texts.FURTHER_FIELDS, self.extra)
        add_row(form, texts.FILE, self.source)
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
            self._context.errors.post_exception(error, texts.PRICES)
            return None
        return table.find(profile.model, profile.name, profile.kind) if profile.model else None

    def _show_price(self, profile: EndpointProfile) -> None:
        price = self._price_of(profile)
        self.price_hint.setText("" if price is not None or not profile.model else texts.PRICE_UNKNOWN_TIP)
        self.price_in.setText("" if price is None else f"{price.input:g}")
        self.price_out.setText("" if price is None else f"{price.output:g}")

    def _model_changed(self, model: str) -> None:
        """Shows the price of another model, or asks for it where it is unknown."""
        if self.profile is not None and not self.model.signalsBlocked():
            self._show_price(replace(self.profile, model=model.strip() or None))
            self._kind_changed()

    def keep_price_of(self, profile: EndpointProfile) -> None:
        """Keeps a price that was entered or changed.

        :raises ValueError: the text is no price, or no model is named.
        """
        entered = both_prices(self.price_in.text(), self.price_out.text(), profile.model or texts.THE_MODEL)
        price = self._price_of(profile)
        if entered is None or (price is not None and entered == (price.input, price.output)):
            return
        if not profile.model:
            raise ValueError(texts.NAME_THE_MODEL)
        keep_price(profile.name, profile.model, *entered)
        self._context.figures.refresh()

    def _kind_changed(self) -> None:
        kind = self.kind.currentData()
        self.kind_changed.emit(kind)
        local = kind in ("embedded", "replay")
        for widget in (self.url, self.prices, self.key_name, self._key_row, self.key_state, self.per_minute):
            self._form.setRowVisible(widget, not local)
        self.url.setPlaceholderText(DEFAULT_URLS.get(kind, _ADDRESS_FORM))
        self._form.setRowVisible(self.price_hint, not local and bool(self.price_hint.text()))
        self.list_models.setVisible(not local)
        self._form.setRowVisible(self.source, local)
        self._form.setRowVisible(self.context_length, kind == "ollama")
        self._form.setRowVisible(self.extra, kind != "replay")

    def say_key(self) -> None:
        """Says whether the key is found."""
        name = self.key_name.text().strip()
        if not name:
            self.key_state.setText(texts.NO_KEY_IS_SENT)
            return
        self.key_state.setText(texts.LOOKING_FOR_THE_KEY)
        self._context.tasks.start(self._look_for_key(name), texts.LOOK_FOR_THE_KEY)

    async def _look_for_key(self, name: str) -> None:
        folder = self._context.document.folder
        try:
            key = await self._context.tasks.off_thread(find_key, name, folder)
        except SecretError as error:
            text = scrub(str(error))
        else:
            text = texts.key_is_set(name, key.source) if key is not None else texts.key_is_not_set(name)
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
        extra = "{}" if kind == "replay" else parse_extra(self.extra.text().strip() or "{}", texts.FURTHER_FIELDS)
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
            self.key_state.setText(texts.ENTER_NAME_AND_KEY)
            return
        self._context.tasks.start(self._store_key(name, value), texts.SAVE_KEY)

    async def _store_key(self, name: str, value: str) -> None:
        try:
            await self._context.tasks.off_thread(store_key, name, value)
            text = texts.key_is_stored(name)
        except SecretError:
            try:
                set_session_key(name, value)
                why = await self._context.tasks.off_thread(keyring_problem)
                why = (why or texts.KEY_WAS_NOT_STORED).partition(" (")[0].rstrip(".") + "."
                text = texts.key_kept_for_this_session(why, name)
            except SecretError as other:
                text = scrub(str(other))
        self.key_state.setText(text)
