"""Settings: how the studio looks, and the endpoints with their keys."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.harmless import harmless
from judgenet.core.wording import plural
from judgenet.engine.embedded_model import DEMO_NOTICE, model_name
from judgenet.engine.endpoints import EndpointError
from judgenet.engine.probe import EndpointProbe, probe
from judgenet.engine.server_models import server_models
from judgenet.store.approvals import approve, approved, take_back
from judgenet.store.secrets import SecretError, scrub
from judgenet.store.settings import (
    SettingsError,
    builtin_profiles,
    delete_profile,
    profile_problem,
    save_profile,
    user_profiles,
)
from judgenet.ui.context import Context
from judgenet.ui.elements import add_row, label, set_tone
from judgenet.ui.endpoint_form import EndpointForm
from judgenet.ui.measures import measure
from judgenet.ui.navigation import Visit
from judgenet.ui.pages import texts
from judgenet.ui.pages.base import Page
from judgenet.ui.widgets import Segment, set_kind

_NAME: Final = Qt.ItemDataRole.UserRole
_SCALES: Final = (80, 90, 100, 110, 125, 150, 175, 200)


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
        area.setAccessibleName(texts.SETTINGS)
        inner = QWidget()
        self._column = column = QVBoxLayout(inner)
        column.addWidget(label(texts.SETTINGS, "page"))
        self._look = LookPanel(context)
        self._endpoints = EndpointsPanel(context)
        self._endpoints.message_shown.connect(self._scroll_to_message)
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

    def _scroll_to_message(self) -> None:
        """Scrolls the message below the form into view after it was laid out."""
        if self.isVisible():
            QTimer.singleShot(0, self, lambda: self._area.ensureWidgetVisible(self._endpoints.message))

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
        self.setAccessibleName(texts.LOOK)
        self._context = context
        themes = {
            "system": texts.MATCH_SYSTEM,
            "light": texts.LIGHT,
            "dark": texts.DARK,
            "contrast": texts.HIGH_CONTRAST,
        }
        self.theme = Segment(texts.THEME, tuple(themes.items()))
        self.scale = QComboBox()
        self.scale.setAccessibleName(texts.ZOOM)
        self.scale.setMinimumContentsLength(7)
        for percent in _SCALES:
            self.scale.addItem(f"{percent} %", percent / 100)
        self.density = Segment(texts.DENSITY, (("comfortable", texts.COMFORTABLE), ("compact", texts.COMPACT)))
        motions = {"system": texts.MATCH_SYSTEM, "on": texts.SHOW_MOTION, "off": texts.REDUCE_MOTION}
        self.motion = Segment(texts.MOTION, tuple(motions.items()))
        self.markdown = QCheckBox(texts.SHOW_AS_MARKDOWN)
        form = QFormLayout()
        add_row(form, texts.THEME, self.theme)
        add_row(form, texts.ZOOM, self.scale)
        add_row(form, texts.DENSITY, self.density)
        add_row(form, texts.MOTION, self.motion)
        add_row(form, texts.TEXTS, self.markdown)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._form = form
        column = QVBoxLayout(self)
        column.addWidget(label(texts.APPEARANCE, "section"))
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
        """Shows the user's preferences."""
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
    """The list of endpoints, and a form to change and test one.

    Signals:
        message_shown: a message is shown below the form.
    """

    message_shown = Signal()

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setProperty("part", "panel")
        self.setAccessibleName(texts.ENDPOINTS)
        self._context = context
        self._tested: EndpointProfile | None = None
        head = QHBoxLayout()
        head.addWidget(label(texts.ENDPOINTS, "section"))
        head.addStretch(1)
        head.addWidget(label(texts.KEYS_ARE_STORED_SECURELY, tone="text2"))
        self.list = QListWidget()
        self.list.setAccessibleName(texts.ENDPOINTS)
        self.list.currentItemChanged.connect(self._chosen)
        self.add = QPushButton(texts.ADD_AN_ENDPOINT)
        self.add.clicked.connect(self._add)
        left = QVBoxLayout()
        left.addWidget(self.list, stretch=1)
        left.addWidget(self.add)

        self.form = EndpointForm(context)
        self.save = QPushButton(texts.SAVE)
        self.test = QPushButton(texts.TEST)
        self.test.setToolTip(texts.TEST_TIP)
        self.remove = QPushButton(texts.REMOVE)
        set_kind(self.remove, "flat")
        buttons = QHBoxLayout()
        for button in (self.save, self.test, self.remove):
            buttons.addWidget(button)
        buttons.addStretch(1)
        self._buttons = buttons
        self.message = label("", tone="text2", wrap=True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        right = QVBoxLayout()
        right.addWidget(self.form)
        right.addLayout(buttons)
        right.addWidget(self.message)
        right.addStretch(1)
        sides = QHBoxLayout()
        sides.addLayout(left, stretch=2)
        sides.addLayout(right, stretch=3)
        self._sides = sides
        column = QVBoxLayout(self)
        self.form.kind_changed.connect(self._kind_changed)
        column.addLayout(head)
        column.addLayout(sides)
        self._column = column
        self._connect(context)

    def _connect(self, context: Context) -> None:
        self.form.list_models.clicked.connect(self._list_models)
        self.save.clicked.connect(self._save)
        self.test.clicked.connect(self._test)
        self.remove.clicked.connect(self._remove)
        context.document.profiles_changed.connect(self.refresh)
        measure(self._column, margins=16, spacing=12)
        measure(self._sides, spacing=24)
        measure(self._buttons, margins=(0, 8, 0, 0))
        measure(self.list, min_width=220, min_height=320)

    # What there is

    def _profiles(self) -> dict[str, EndpointProfile]:
        return dict(self._context.document.profiles) or {**builtin_profiles(), **self._user()}

    def _user(self) -> dict[str, EndpointProfile]:
        try:
            return user_profiles()
        except SettingsError as error:
            self._context.errors.post_exception(error)
            return {}

    def refresh(self) -> None:
        """Shows the endpoints that there are."""
        wanted = self.form.profile.name if self.form.profile is not None else "embedded"
        own = {profile.name for profile in self._context.document.project.endpoints}
        user = self._user()
        self.list.blockSignals(True)
        self.list.clear()
        for name, profile in self._profiles().items():
            origin = texts.OF_THE_PROJECT if name in own else texts.YOURS if name in user else texts.BUILT_IN
            item = QListWidgetItem(f"{name}    {origin}")
            item.setData(_NAME, profile)
            self.list.addItem(item)
            if name == wanted:
                self.list.setCurrentItem(item)
        self.list.blockSignals(False)
        if not self.form.new:
            self._chosen(self.list.currentItem())

    def _chosen(self, item: QListWidgetItem | None, _before: QListWidgetItem | None = None) -> None:
        if item is None:
            return
        self._show(item.data(_NAME))

    def _show(self, profile: EndpointProfile, *, new: bool = False) -> None:
        self.form.show_profile(profile, new=new)
        self.test.setVisible(profile.kind != "replay")
        user = profile.name in self._user()
        built_in = profile.name in builtin_profiles()
        own = profile.name in {endpoint.name for endpoint in self._context.document.project.endpoints}
        self.remove.setVisible(user and not new)
        self.remove.setText(texts.BACK_TO_BUILT_IN if built_in else texts.REMOVE)
        self.save.setEnabled(not own)
        self.save.setToolTip(texts.ENDPOINT_OF_THE_PROJECT if own else "")
        # The user did not ask for this, so the page does not scroll to it.
        self.message.setText(DEMO_NOTICE if profile.kind == "embedded" and profile.source is None else "")
        set_tone(self.message, "text2")

    def _kind_changed(self, kind: str) -> None:
        self.test.setVisible(kind != "replay")

    # What the user does

    def _add(self) -> None:
        self.list.clearSelection()
        self._show(EndpointProfile("", base_url="", concurrency=16), new=True)
        self.form.name.setFocus(Qt.FocusReason.OtherFocusReason)

    def _save(self) -> None:
        try:
            profile = self.form.entered()
            problem = profile_problem(profile)
            if problem:
                raise SettingsError(problem)
            of_the_environment = (
                not self.form.new and self.form.profile is not None and self.form.profile.base_url == profile.base_url
            )
            if of_the_environment and self._context.document.approvals.needs([profile]):
                # The address comes from a .env file beside the project: saving it would approve it.
                self._context.tasks.start(self._ask_and_keep(profile), texts.SAVE_THE_ENDPOINT)
                return
            self._keep(profile)
        except (SettingsError, ValueError, OSError) as error:
            self._tell(str(error), "warn")

    def _tell(self, text: str, tone: str = "text2") -> None:
        """Says something below the form."""
        self.message.setText(scrub(text))
        set_tone(self.message, tone)
        if text:
            self.message_shown.emit()

    async def _ask_and_keep(self, profile: EndpointProfile) -> None:
        if await self._context.document.approvals.may_send([profile]):
            try:
                self._keep(profile)
            except (SettingsError, ValueError, OSError) as error:
                self._context.errors.post_exception(error)

    def _keep(self, profile: EndpointProfile) -> None:
        if profile.kind not in ("embedded", "replay"):
            self.form.keep_price_of(profile)
        save_profile(profile)
        self.form.new = False
        self.form.profile = profile
        self._context.document.reload_profiles()
        self.refresh()
        self.form.say_key()
        tested = self._tested == _as_tested(profile) or profile.kind in ("embedded", "replay")
        if tested:
            self._tell(texts.endpoint_is_saved(profile.name))
        else:
            self._tell(texts.endpoint_is_saved_untested(profile.name), "warn")

    def _remove(self) -> None:
        if self.form.profile is None:
            return
        try:
            delete_profile(self.form.profile.name)
        except SettingsError as error:
            self._context.errors.post_exception(error)
            return
        self._context.document.reload_profiles()
        self.refresh()

    # Asking the server

    def _asked_of(self) -> EndpointProfile | None:
        """The endpoint as entered in the form; ``None``, with a message, where it cannot be asked."""
        try:
            profile = self.form.entered()
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
            self._context.tasks.start(self._ask(profile), texts.test_of(profile.name))

    def _list_models(self) -> None:
        profile = self._asked_of()
        if profile is not None:
            self._context.tasks.start(self._ask_for_models(profile), texts.list_the_models_of(profile.name))

    async def _may_ask(self, profile: EndpointProfile) -> bool:
        """Whether anything may be sent to the endpoint in the form. An address that the user typed is approved by that,
        as one on the command line."""
        if self.form.new or self.form.profile is None or profile.base_url != self.form.profile.base_url:
            try:
                approve(self._context.document.approvals.needs([profile]))
            except (OSError, SettingsError) as error:
                self._tell(str(error), "warn")
                return False
        if await self._context.document.approvals.may_send([profile]):
            return True
        self._tell(texts.ADDRESS_NOT_APPROVED, "warn")
        return False

    async def _ask_for_models(self, profile: EndpointProfile) -> None:
        if not await self._may_ask(profile):
            return
        folder, salt = self._context.document.folder, self._context.document.project.salt
        self.form.list_models.setEnabled(False)
        self._tell(texts.asking_for_models(profile.name))

        def ask() -> tuple[str, ...]:
            return asyncio.run(server_models(profile, folder, salt))

        try:
            names = await self._context.tasks.off_thread(ask)
        except (EndpointError, SecretError, OSError) as error:
            self._tell(str(error), "warn")
            return
        finally:
            self.form.list_models.setEnabled(True)
        chosen = self.form.model.currentText().strip()
        self.form.model.clear()
        self.form.model.addItems([harmless(name) for name in names])
        self.form.model.setCurrentText(chosen or names[0])
        missing = f" {texts.is_not_among_them(chosen)}" if chosen and chosen not in names else ""
        self._tell(texts.lists_models(profile.name, plural(len(names), "model"), missing))

    async def _ask(self, profile: EndpointProfile) -> None:
        model = profile.model or (model_name(profile.source) if profile.kind == "embedded" else None)
        if model is None:
            self._tell(texts.ENTER_THE_MODEL_FIRST, "warn")
            return
        if not await self._may_ask(profile):
            return
        folder, salt = self._context.document.folder, self._context.document.project.salt
        # Where the pairs have pictures it matters whether the model sees.
        picture = any(pair.pictures for pair in self._context.document.pairs)
        self.test.setEnabled(False)
        self._tell(texts.asking(profile.name))

        def ask() -> EndpointProbe:
            return asyncio.run(probe(replace(profile, retries=0), model, folder, salt, picture=picture))

        try:
            answer = await self._context.tasks.off_thread(ask)
        except (EndpointError, SecretError, OSError, ValueError) as error:
            self._tell(str(error), "warn")
            return
        finally:
            self.test.setEnabled(True)
        if answer.reply is not None:
            self._tested = _as_tested(profile)
        self._tell(_probe_words(answer), "good" if answer.reply is not None else "warn")


def _as_tested(profile: EndpointProfile) -> EndpointProfile:
    """The endpoint without its name and limits, which a test does not depend on."""
    return replace(profile, name="", concurrency=1, requests_per_minute=None)


class ApprovedPanel(QFrame):
    """The approvals that the user gave projects, which can be revoked."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setProperty("part", "panel")
        self.setAccessibleName(texts.APPROVED_FOR_PROJECTS)
        self._context = context
        self.list = QListWidget()
        self.list.setAccessibleName(texts.APPROVED_FOR_PROJECTS)
        self.take_back = QPushButton(texts.REVOKE)
        self.take_back.clicked.connect(self._take_back)
        self._lead = label("", tone="text2", wrap=True)
        buttons = QHBoxLayout()
        buttons.addWidget(self.take_back)
        buttons.addStretch(1)
        self._column = column = QVBoxLayout(self)
        column.addWidget(label(texts.APPROVED_FOR_PROJECTS, "section"))
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
            self._context.errors.post_exception(error)
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
        self._lead.setText(texts.ALLOWED_ON_THIS_COMPUTER if needs else texts.NOTHING_APPROVED_YET)

    def _take_back(self) -> None:
        if self.list.currentRow() < 0:
            return
        try:
            take_back([self.list.currentItem().data(_NAME)])
        except OSError as error:
            self._context.errors.post_exception(error)
        self.refresh()


def _probe_words(result: EndpointProbe) -> str:
    """The result of a test of an endpoint, in lines of text."""
    if result.reply is None:
        return texts.did_not_answer(result.endpoint, str(result.reason), result.message)
    reply = result.reply
    lines = [texts.answers(result.endpoint, reply.model or result.model, f"{reply.latency_s:.1f}")]
    lines.append(texts.OUTPUT_BY_SCHEMA if result.form == "json" else texts.OUTPUT_AS_TEXT)
    lines += [f"{parameter}: {value}" for parameter, value in result.learned]
    if result.sees is not None:
        lines.append(texts.IT_SEES_PICTURES if result.sees else texts.IT_MAY_NOT_SEE_PICTURES)
    lines.append(texts.it_said(" ".join(reply.text.split())[:200]))
    return "\n".join(lines)
