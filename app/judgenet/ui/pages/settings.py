"""Settings: how the studio looks, and the endpoints with their keys."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, get_args

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.endpoints import EndpointKind, EndpointProfile
from judgenet.core.harmless import harmless
from judgenet.core.plan import Price, PriceError
from judgenet.core.wording import plural
from judgenet.engine.embedded_model import DEMO_NOTICE, model_name
from judgenet.engine.endpoints import EndpointError
from judgenet.engine.probe import EndpointProbe, probe
from judgenet.engine.server_models import server_models
from judgenet.store.approvals import approve, approved, take_back
from judgenet.store.prices import keep_price, load_prices
from judgenet.store.secrets import SecretError, find_key, keyring_problem, scrub, set_session_key, store_key
from judgenet.store.settings import (
    SettingsError,
    builtin_profiles,
    delete_profile,
    profile_from_flags,
    profile_problem,
    save_profile,
    user_profiles,
)
from judgenet.ui.context import Context
from judgenet.ui.elements import SpinBox, add_row, field, label, set_tone
from judgenet.ui.limits import both_prices
from judgenet.ui.measures import measure
from judgenet.ui.navigation import Visit
from judgenet.ui.pages.base import Page
from judgenet.ui.widgets import Segment, set_kind

_NAME: Final = Qt.ItemDataRole.UserRole
_NO_PRICE: Final = "The price of this model is unknown: enter it to see costs and to set a limit of money."
_SCALES: Final = (80, 90, 100, 110, 125, 150, 175, 200)
_KINDS: Final = {
    "openai": "OpenAI-compatible",
    "azure": "Azure OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Google Gemini",
    "embedded": "Local model (GGUF file)",
    "replay": "A recorded run",
}


class SettingsPage(Page):
    """The page of settings."""

    key = "settings"
    smallest = (640, 360)
    primary = ""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._area = area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setAccessibleName("Settings")
        inner = QWidget()
        self._column = column = QVBoxLayout(inner)
        column.addWidget(label("Settings", "page"))
        self._look = LookPanel(context)
        self._endpoints = EndpointsPanel(context)
        self._endpoints.said.connect(self._show_said)
        self._approved = ApprovedPanel(context)
        column.addWidget(self._look)
        column.addWidget(self._endpoints)
        column.addWidget(self._approved)
        column.addStretch(1)
        area.setWidget(inner)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)
        measure(self._column, margins=24, spacing=16)

    def enter(self, visit: Visit) -> None:
        self._look.refresh()
        self._endpoints.refresh()
        self._approved.refresh()
        if visit.part == "endpoints":
            self._area.ensureWidgetVisible(self._endpoints)
            self._endpoints.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_said(self) -> None:
        """Brings what is said below the form into view, once it has its place."""
        if self.isVisible():
            QTimer.singleShot(0, self, lambda: self._area.ensureWidgetVisible(self._endpoints.told))

    def regions(self) -> Sequence[QWidget]:
        return (self._look, self._endpoints, self._approved)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        most = self.context.theme.theme.px(1120)
        self._look.setMaximumWidth(most)
        self._endpoints.setMaximumWidth(most)
        self._approved.setMaximumWidth(most)


class LookPanel(QFrame):
    """Theme, scale, density, motion, and how texts are shown."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setProperty("part", "panel")
        self.setAccessibleName("Look")
        self._context = context
        self.theme = Segment(
            "Theme", (("system", "Match system"), ("light", "Light"), ("dark", "Dark"), ("contrast", "High contrast"))
        )
        self.scale = QComboBox()
        self.scale.setAccessibleName("Zoom")
        self.scale.setMinimumContentsLength(7)
        for percent in _SCALES:
            self.scale.addItem(f"{percent} %", percent / 100)
        self.density = Segment("Density", (("comfortable", "Comfortable"), ("compact", "Compact")))
        self.motion = Segment("Motion", (("system", "Match system"), ("on", "Show"), ("off", "Reduce")))
        self.markdown = QCheckBox("Show responses and evidence as Markdown (never as HTML, nothing is loaded)")
        form = QFormLayout()
        add_row(form, "Theme", self.theme)
        add_row(form, "Zoom", self.scale)
        add_row(form, "Density", self.density)
        add_row(form, "Motion", self.motion)
        add_row(form, "Texts", self.markdown)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._form = form
        column = QVBoxLayout(self)
        column.addWidget(label("Appearance", "section"))
        column.addLayout(form)
        self._column = column
        self.theme.chosen.connect(self._theme_chosen)
        self.scale.activated.connect(self._scale_chosen)
        self.density.chosen.connect(self._density_chosen)
        self.motion.chosen.connect(self._motion_chosen)
        self.markdown.toggled.connect(self._markdown_chosen)
        context.settings.changed.connect(self.refresh)
        self.refresh()
        measure(self._column, margins=16, spacing=12)
        measure(self._form, across=24, down=12)

    def refresh(self) -> None:
        """Shows the preferences."""
        chosen = self._context.settings.preferences
        self.theme.set_current(chosen.theme)
        self.density.set_current(chosen.density)
        self.motion.set_current({None: "system", False: "on", True: "off"}[chosen.reduce_motion])
        place = min(range(len(_SCALES)), key=lambda i: abs(_SCALES[i] / 100 - chosen.scale))
        self.scale.setCurrentIndex(place)
        self.markdown.setChecked(chosen.markdown)

    def _theme_chosen(self, key: str) -> None:
        self._context.settings.set(theme=key)

    def _scale_chosen(self, place: int) -> None:
        self._context.settings.set(scale=self.scale.itemData(place))

    def _density_chosen(self, key: str) -> None:
        self._context.settings.set(density=key)

    def _motion_chosen(self, key: str) -> None:
        self._context.settings.set(reduce_motion={"system": None, "on": False, "off": True}[key])

    def _markdown_chosen(self, on: bool) -> None:
        self._context.settings.set(markdown=on)


class EndpointsPanel(QFrame):
    """The endpoints: what there is, whether its key is found, and a form that changes and tests it.

    Signals:
        said: something is said below the form.
    """

    said = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setProperty("part", "panel")
        self.setAccessibleName("Endpoints")
        self._context = context
        self._shown: EndpointProfile | None = None
        self._new = False
        self._tested: EndpointProfile | None = None
        head = QHBoxLayout()
        head.addWidget(label("Endpoints", "section"))
        head.addStretch(1)
        head.addWidget(label("Keys are stored securely and never displayed.", tone="text2"))
        self.list = QListWidget()
        self.list.setAccessibleName("Endpoints")
        self.list.currentItemChanged.connect(self._chosen)
        self.add = QPushButton("Add an endpoint")
        self.add.clicked.connect(self._add)
        left = QVBoxLayout()
        left.addWidget(self.list, stretch=1)
        left.addWidget(self.add)

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
        self.key_name = field("Name of the key", "OPENAI_API_KEY")
        self.key_value = field("Key", "Paste the key; it goes into the system keyring")
        self.key_value.setEchoMode(QLineEdit.EchoMode.Password)
        self.keep_key = QPushButton("Save key")
        self.key_state = label("", tone="text2", wrap=True)
        self.concurrency = SpinBox("Parallel calls (max.)", 1, 512)
        self.per_minute = SpinBox("Requests per minute", 0, 100_000)
        self.per_minute.setSpecialValueText("no limit")
        self.price_in = field("Price of tokens in, USD per million", "in, unknown")
        self.price_out = field("Price of tokens out, USD per million", "out, unknown")
        self.prices = QWidget()
        prices = QHBoxLayout(self.prices)
        prices.setContentsMargins(0, 0, 0, 0)
        prices.addWidget(self.price_in)
        prices.addWidget(self.price_out)
        self.price_hint = label("", tone="text2", wrap=True)
        self.source = field("File or folder", "Path of the file or folder")
        form = QFormLayout()
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        add_row(form, "Name", self.name)
        add_row(form, "API type", self.kind)
        add_row(form, "Address", self.url)
        add_row(form, "Default model", self.models_row)
        add_row(form, "USD per million", self.prices)
        form.addRow("", self.price_hint)
        add_row(form, "Key name", self.key_name)
        key_row = QHBoxLayout()
        key_row.addWidget(self.key_value, stretch=1)
        key_row.addWidget(self.keep_key)
        form.addRow("Key", key_row)
        form.addRow("", self.key_state)
        add_row(form, "Parallel calls (max.)", self.concurrency)
        add_row(form, "Requests per minute", self.per_minute)
        add_row(form, "File", self.source)
        self._form = form
        self.save = QPushButton("Save")
        self.test = QPushButton("Test")
        self.test.setToolTip("Asks one tiny question; a paid endpoint charges it")
        self.remove = QPushButton("Remove")
        set_kind(self.remove, "flat")
        buttons = QHBoxLayout()
        for button in (self.save, self.test, self.remove):
            buttons.addWidget(button)
        buttons.addStretch(1)
        self._buttons = buttons
        self.told = label("", tone="text2", wrap=True)
        self.told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        right = QVBoxLayout()
        right.addLayout(form)
        right.addLayout(buttons)
        right.addWidget(self.told)
        right.addStretch(1)
        sides = QHBoxLayout()
        sides.addLayout(left, stretch=2)
        sides.addLayout(right, stretch=3)
        self._sides = sides
        column = QVBoxLayout(self)
        column.addLayout(head)
        column.addLayout(sides)
        self._column = column
        self.kind.currentIndexChanged.connect(self._kind_changed)
        self.list_models.clicked.connect(self._list_models)
        self.model.currentTextChanged.connect(self._model_changed)
        self.save.clicked.connect(self._save)
        self.test.clicked.connect(self._test)
        self.remove.clicked.connect(self._remove)
        self.keep_key.clicked.connect(self._keep_key)
        self.key_value.returnPressed.connect(self._keep_key)
        context.document.profiles_changed.connect(self.refresh)
        measure(self._column, margins=16, spacing=12)
        measure(self._sides, spacing=24)
        measure(self._form, across=24, down=8)
        measure(self._buttons, margins=(0, 8, 0, 0))
        measure(self.list, min_width=220, min_height=280)

    # What there is

    def _profiles(self) -> dict[str, EndpointProfile]:
        return dict(self._context.document.profiles) or {**builtin_profiles(), **self._user()}

    def _user(self) -> dict[str, EndpointProfile]:
        try:
            return user_profiles()
        except SettingsError as error:
            self._context.errors.tell_exception(error)
            return {}

    def refresh(self) -> None:
        """Shows the endpoints that there are."""
        wanted = self._shown.name if self._shown is not None else "embedded"
        own = {profile.name for profile in self._context.document.project.endpoints}
        user = self._user()
        self.list.blockSignals(True)
        self.list.clear()
        for name, profile in self._profiles().items():
            origin = "project" if name in own else "yours" if name in user else "built in"
            item = QListWidgetItem(f"{name}    {origin}")
            item.setData(_NAME, profile)
            self.list.addItem(item)
            if name == wanted:
                self.list.setCurrentItem(item)
        self.list.blockSignals(False)
        if not self._new:
            self._chosen(self.list.currentItem())

    def _chosen(self, item: QListWidgetItem | None, _before: QListWidgetItem | None = None) -> None:
        if item is None:
            return
        self._new = False
        self._show(item.data(_NAME))

    def _show(self, profile: EndpointProfile) -> None:
        self._shown = profile
        self.name.setText(profile.name)
        self.name.setReadOnly(not self._new)
        self.kind.setCurrentIndex(get_args(EndpointKind).index(profile.kind))
        self.url.setText(profile.base_url)
        self.model.clear()
        self.model.setCurrentText(profile.model or "")
        self.key_name.setText(profile.api_key or "")
        self.key_value.clear()
        self.concurrency.setValue(profile.concurrency)
        self.per_minute.setValue(round(profile.requests_per_minute or 0))
        self.source.setText(profile.source or "")
        self._show_price(profile)
        self._kind_changed()
        user = profile.name in self._user()
        built_in = profile.name in builtin_profiles()
        own = profile.name in {one.name for one in self._context.document.project.endpoints}
        self.remove.setVisible(user and not self._new)
        self.remove.setText("Back to the built-in settings" if built_in else "Remove")
        self.save.setEnabled(not own)
        self.save.setToolTip("This endpoint belongs to the project" if own else "")
        # Nobody asked for this, so that the page does not scroll to it.
        self.told.setText(DEMO_NOTICE if profile.kind == "embedded" and profile.source is None else "")
        set_tone(self.told, "text2")
        self._say_key()

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
        if self._shown is not None and not self.model.signalsBlocked():
            self._show_price(replace(self._shown, model=model.strip() or None))
            self._kind_changed()

    def _keep_price(self, profile: EndpointProfile) -> None:
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
        local = kind in ("embedded", "replay")
        for widget in (self.url, self.prices, self.key_name, self.per_minute):
            self._form.setRowVisible(widget, not local)
        self._form.setRowVisible(self.price_hint, not local and bool(self.price_hint.text()))
        self.test.setVisible(kind != "replay")
        self.list_models.setVisible(not local)
        for row in range(self._form.rowCount()):
            item = self._form.itemAt(row, QFormLayout.ItemRole.FieldRole)
            if item is not None and item.layout() is not None:
                self._form.setRowVisible(row, not local)
        self._form.setRowVisible(self.key_state, not local)
        self._form.setRowVisible(self.source, local)

    def _say_key(self) -> None:
        name = self.key_name.text().strip()
        if not name:
            self.key_state.setText("No key is sent.")
            return
        self.key_state.setText("Looking for the key…")
        self._context.tasks.start(self._look_for_key(name), "Look for the key")

    async def _look_for_key(self, name: str) -> None:
        folder = self._context.document.folder
        try:
            found = await self._context.tasks.off_thread(find_key, name, folder)
        except SecretError as error:
            text = scrub(str(error))
        else:
            text = f"{name} is set ({found.source})." if found is not None else f"{name} is not set."
        if self.key_name.text().strip() == name:
            self.key_state.setText(text)

    # What the user does

    def _add(self) -> None:
        self._new = True
        self.list.clearSelection()
        self._show(EndpointProfile("", base_url="", concurrency=16))
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _entered(self) -> EndpointProfile:
        """The profile as it stands in the form.

        :raises SettingsError: the address or a name cannot be used.
        """
        kind: EndpointKind = self.kind.currentData()
        local = kind in ("embedded", "replay")
        url = "" if local else self.url.text().strip()
        base = self._shown if self._shown is not None and not self._new else EndpointProfile(self.name.text().strip())
        key = self.key_name.text().strip() or None
        if self._new and url and kind == "openai" and key is None:
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
            source=(self.source.text().strip() or None) if local else None,
        )

    def _save(self) -> None:
        try:
            profile = self._entered()
            problem = profile_problem(profile)
            if problem:
                raise SettingsError(problem)
            theirs = not self._new and self._shown is not None and self._shown.base_url == profile.base_url
            if theirs and self._context.document.approvals.needs([profile]):
                # The address comes from a .env beside the project: to keep it would approve it.
                self._context.tasks.start(self._ask_and_keep(profile), "Keep the endpoint")
                return
            self._keep(profile)
        except (SettingsError, ValueError, OSError) as error:
            self._tell(str(error), "warn")

    def _tell(self, text: str, tone: str = "text2") -> None:
        """Says something below the form."""
        self.told.setText(scrub(text))
        set_tone(self.told, tone)
        if text:
            self.said.emit()

    async def _ask_and_keep(self, profile: EndpointProfile) -> None:
        if await self._context.document.approvals.may_send([profile]):
            try:
                self._keep(profile)
            except (SettingsError, ValueError, OSError) as error:
                self._context.errors.tell_exception(error)

    def _keep(self, profile: EndpointProfile) -> None:
        if profile.kind not in ("embedded", "replay"):
            self._keep_price(profile)
        save_profile(profile)
        self._new = False
        self._shown = profile
        self._context.document.reload_profiles()
        self.refresh()
        self._say_key()
        tested = self._tested == _as_tested(profile) or profile.kind in ("embedded", "replay")
        note = "" if tested else " It has not been tested: press Test to see whether it answers."
        self._tell(f"{profile.name} is saved.{note}", "text2" if tested else "warn")

    def _remove(self) -> None:
        if self._shown is None:
            return
        try:
            delete_profile(self._shown.name)
        except SettingsError as error:
            self._context.errors.tell_exception(error)
            return
        self._context.document.reload_profiles()
        self.refresh()

    def _keep_key(self) -> None:
        name, value = self.key_name.text().strip(), self.key_value.text()
        self.key_value.clear()
        if not name or not value.strip():
            self.key_state.setText("Give the key's name and paste the key.")
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
                why = (why or "The system's key store did not keep it.").partition(" (")[0].rstrip(".") + "."
                text = f"Key kept for this session only. {why} To keep it, set the environment variable {name}."
            except SecretError as other:
                text = scrub(str(other))
        self.key_state.setText(text)

    # Asking the server

    def _asked_of(self) -> EndpointProfile | None:
        """The endpoint as it stands in the form, to be asked; ``None`` where it cannot be, which is said."""
        try:
            profile = self._entered()
            if not profile.name:
                profile = replace(profile, name="endpoint")
            if problem := profile_problem(profile):
                raise SettingsError(problem)
        except (SettingsError, ValueError) as error:
            self._tell(str(error), "warn")
            return None
        return profile

    def _test(self) -> None:
        profile = self._asked_of()
        if profile is not None:
            self._context.tasks.start(self._ask(profile), f"Test {profile.name}")

    def _list_models(self) -> None:
        profile = self._asked_of()
        if profile is not None:
            self._context.tasks.start(self._ask_for_models(profile), f"List the models of {profile.name}")

    async def _may_ask(self, profile: EndpointProfile) -> bool:
        """The gate before anything is sent to the endpoint in the form. An address that the user typed into it is
        approved by that, as one on the command line."""
        if self._new or self._shown is None or profile.base_url != self._shown.base_url:
            try:
                approve(self._context.document.approvals.needs([profile]))
            except (OSError, SettingsError) as error:
                self._tell(str(error), "warn")
                return False
        if await self._context.document.approvals.may_send([profile]):
            return True
        self._tell("Nothing was sent: you have not approved the address.", "warn")
        return False

    async def _ask_for_models(self, profile: EndpointProfile) -> None:
        if not await self._may_ask(profile):
            return
        folder, salt = self._context.document.folder, self._context.document.project.salt
        self.list_models.setEnabled(False)
        self._tell(f"Asking {profile.name} for its models…")

        def ask() -> tuple[str, ...]:
            return asyncio.run(server_models(profile, folder, salt))

        try:
            names = await self._context.tasks.off_thread(ask)
        except (EndpointError, SecretError, OSError) as error:
            self._tell(str(error), "warn")
            return
        finally:
            self.list_models.setEnabled(True)
        chosen = self.model.currentText().strip()
        self.model.clear()
        self.model.addItems([harmless(name) for name in names])
        self.model.setCurrentText(chosen or names[0])
        missing = f" {chosen} is not among them." if chosen and chosen not in names else ""
        self._tell(f"{profile.name} lists {plural(len(names), 'model')}.{missing} Choose one under Default model.")

    async def _ask(self, profile: EndpointProfile) -> None:
        model = profile.model or (model_name(profile.source) if profile.kind == "embedded" else None)
        if model is None:
            self._tell("Enter the default model first, or press List models.", "warn")
            return
        if not await self._may_ask(profile):
            return
        folder, salt = self._context.document.folder, self._context.document.project.salt
        self.test.setEnabled(False)
        self._tell(f"Asking {profile.name}…")

        def ask() -> EndpointProbe:
            return asyncio.run(probe(replace(profile, retries=0), model, folder, salt))

        try:
            found = await self._context.tasks.off_thread(ask)
        except (EndpointError, SecretError, OSError, ValueError) as error:
            self._tell(str(error), "warn")
            return
        finally:
            self.test.setEnabled(True)
        if found.reply is not None:
            self._tested = _as_tested(profile)
        self._tell(_probe_words(found), "good" if found.reply is not None else "warn")


def _as_tested(profile: EndpointProfile) -> EndpointProfile:
    """What of an endpoint a test is about: not its name and its limits."""
    return replace(profile, name="", concurrency=1, requests_per_minute=None)


class ApprovedPanel(QFrame):
    """What the user has approved for projects, to be taken back."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setProperty("part", "panel")
        self.setAccessibleName("Approved for projects")
        self._context = context
        self.list = QListWidget()
        self.list.setAccessibleName("Approved for projects")
        self.take_back = QPushButton("Revoke")
        self.take_back.clicked.connect(self._take_back)
        self._lead = label("", tone="text2", wrap=True)
        buttons = QHBoxLayout()
        buttons.addWidget(self.take_back)
        buttons.addStretch(1)
        self._column = column = QVBoxLayout(self)
        column.addWidget(label("Approved for projects", "section"))
        column.addWidget(self._lead)
        column.addWidget(self.list)
        column.addLayout(buttons)
        self.list.currentRowChanged.connect(lambda row: self.take_back.setEnabled(row >= 0))
        measure(self._column, margins=16, spacing=12)
        measure(self.list, height=140)

    def refresh(self) -> None:
        """Shows the approvals that there are."""
        try:
            needs = approved()
        except OSError as error:
            self._context.errors.tell_exception(error)
            needs = ()
        self.list.clear()
        for need in needs:
            item = QListWidgetItem(harmless(need.words[:1].upper() + need.words[1:]))
            item.setToolTip(harmless(need.place))
            item.setData(_NAME, need)
            self.list.addItem(item)
        self.list.setVisible(bool(needs))
        self.take_back.setVisible(bool(needs))
        self.take_back.setEnabled(False)
        self._lead.setText(
            "A project may do this on this computer because you allowed it, or added the file yourself."
            if needs
            else "Nothing yet. A project that wants to send a key, or to read outside its folder, asks first."
        )

    def _take_back(self) -> None:
        if self.list.currentRow() < 0:
            return
        try:
            take_back([self.list.currentItem().data(_NAME)])
        except OSError as error:
            self._context.errors.tell_exception(error)
        self.refresh()


def _probe_words(result: EndpointProbe) -> str:
    """What a test of an endpoint showed."""
    if result.reply is None:
        return f"{result.endpoint} did not answer ({result.reason}): {result.message}"
    reply = result.reply
    lines = [f"{result.endpoint} answers as {reply.model or result.model} in {reply.latency_s:.1f} s."]
    form = "JSON by a schema" if result.form == "json" else "plain text"
    lines.append(f"Replies are asked for as {form}.")
    lines += [f"{parameter}: {value}" for parameter, value in result.learned]
    lines.append(f"It said: {' '.join(reply.text.split())[:200]}")
    return "\n".join(lines)
