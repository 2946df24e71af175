"""Messages of trouble: a bar that says what happened, where, and what to do about it."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, Protocol

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from judgenet.core.documents import DocumentError
from judgenet.core.matches import MatchesError
from judgenet.core.network import NetworkError
from judgenet.core.plan import PriceError
from judgenet.core.prompts import PromptError
from judgenet.core.roles import RoleError
from judgenet.core.until import UntilError
from judgenet.engine.endpoints import EndpointError
from judgenet.engine.versions import versions
from judgenet.formats.errors import DataError
from judgenet.store.db import StoreError
from judgenet.store.files import FileError
from judgenet.store.secrets import SecretError, scrub
from judgenet.store.settings import SettingsError
from judgenet.ui import texts
from judgenet.ui.elements import IconLabel
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.widgets import set_kind

log = logging.getLogger(__name__)

MessageLevel = Literal["error", "warning", "note"]

OUR_ERRORS: Final = (
    DataError,
    DocumentError,
    EndpointError,
    FileError,
    MatchesError,
    NetworkError,
    PriceError,
    PromptError,
    RoleError,
    SecretError,
    SettingsError,
    StoreError,
    UntilError,
)
"""Errors whose message is written for the user."""

_LOOK: Final[dict[MessageLevel, tuple[str, str, str]]] = {
    "error": ("error", "error", "bad"),
    "warning": ("warning", "warning", "warn"),
    "note": ("note", "info", "text2"),
}
"""By level: the bar's part in the style sheet, its icon, the icon's colour."""


@dataclass(frozen=True, slots=True)
class MessageButton:
    """A button of a message: its text and what it does."""

    text: str
    callback: Callable[[], object]


@dataclass(frozen=True, slots=True)
class UserMessage:
    """Something that the user must know. ``details`` is what "Copy details" copies beside what is shown; ``second`` is
    another thing that can be done than ``button``."""

    what: str
    where: str = ""
    button: MessageButton | None = None
    details: str = ""
    level: MessageLevel = "error"
    second: MessageButton | None = None
    at: datetime = field(default_factory=lambda: datetime.now().astimezone(), compare=False)

    @property
    def sentence(self) -> str:
        """What happened and where, in one line."""
        text = f"{self.where}: {self.what}" if self.where else self.what
        return " ".join(text.split())

    def report(self) -> str:
        """All that helps somebody else to understand it; secrets are struck out."""
        lines = [self.sentence, texts.at(self.at.isoformat(timespec="seconds"))]
        lines += [f"{name} {version}" for name, version in versions().items()]
        if self.details:
            lines += ["", self.details]
        return scrub("\n".join(lines))


class ErrorPort(Protocol):
    """Takes messages of trouble from the pages."""

    def post(
        self,
        what: str,
        where: str = "",
        button: MessageButton | None = None,
        details: str = "",
        level: MessageLevel = "error",
        second: MessageButton | None = None,
    ) -> None:
        """Shows trouble in the bar. Texts are plain, and secrets in them are struck out."""
        ...

    def post_exception(self, error: BaseException, where: str = "", button: MessageButton | None = None) -> None:
        """Shows an exception: the message of our own errors, and the traceback under "Copy details"."""
        ...


class ErrorBar(QWidget):
    """A bar over the foot of the pages. It stays until it is closed; further ones wait behind it, the newest first.

    It lies above what it covers, so that nothing moves away under the pointer when it comes or goes.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._troubles: list[UserMessage] = []
        self._over: QWidget | None = None
        self._frame = QFrame(self)
        self._icon = IconLabel(side=20)
        self._text = QLabel(self._frame)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._more = QLabel(self._frame)
        self._button = QPushButton(self._frame)
        self._button.setAccessibleName(texts.FIX_IT)
        self._second = QPushButton(self._frame)
        self._second.setAccessibleName(texts.ANOTHER_WAY)
        self._copy = QPushButton(texts.COPY_DETAILS, self._frame)
        self._close = QToolButton(self._frame)
        self._close.setIcon(icon("close"))
        self._close.setAccessibleName(texts.CLOSE_THIS_MESSAGE)
        self._close.setToolTip(texts.CLOSE_THIS_MESSAGE)
        for button in (self._button, self._second, self._copy):
            button.setProperty("control", "small")
        set_kind(self._copy, "flat")
        self._button.clicked.connect(self._button_clicked)
        self._second.clicked.connect(self._did_second)
        self._copy.clicked.connect(self._copied)
        self._close.clicked.connect(self.close_first)
        row = QHBoxLayout(self._frame)
        for widget in (self._icon, self._text, self._more, self._button, self._second, self._copy, self._close):
            row.addWidget(widget, stretch=int(widget is self._text))
        self._row = row
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._frame)
        measure(self._row, margins=(16, 6, 12, 6), spacing=12)
        self._show()

    def lie_over(self, area: QWidget) -> None:
        """Lies over the foot of an area of the same window from now on."""
        self._over = area
        area.installEventFilter(self)
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show):
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        """Makes the bar as wide as the area below it, and as high as its text."""
        over = self._over
        if over is None or self.isHidden():
            return
        self.ensurePolished()
        room = over.geometry()
        self._row.activate()
        high = max(self.heightForWidth(room.width()), self.minimumSizeHint().height())
        high = min(high, room.height())
        self.setGeometry(room.x(), room.bottom() + 1 - high, room.width(), high)
        self.raise_()

    @property
    def troubles(self) -> tuple[UserMessage, ...]:
        """The message that is shown, and those that wait behind it."""
        return tuple(self._troubles)

    def post(
        self,
        what: str,
        where: str = "",
        button: MessageButton | None = None,
        details: str = "",
        level: MessageLevel = "error",
        second: MessageButton | None = None,
    ) -> None:
        """Shows a message; a repeated one replaces the one before."""
        trouble = UserMessage(scrub(what), scrub(where), button, details, level, second)
        self._troubles = [earlier for earlier in self._troubles if earlier.sentence != trouble.sentence]
        self._troubles.insert(0, trouble)
        self._show()

    def post_exception(self, error: BaseException, where: str = "", button: MessageButton | None = None) -> None:
        """Shows an exception: the message of our own errors, else its kind; the traceback goes to the details."""
        details = "".join(traceback.format_exception(error))
        if isinstance(error, OUR_ERRORS):
            self.post(str(error), where, button, details)
            return
        log.error("%s", scrub(details))
        message = texts.error_in_the_program(type(error).__name__, str(error))
        self.post(message, where, button, details)

    def close_first(self) -> None:
        """Closes what is shown; the next one comes into view."""
        if self._troubles:
            self._troubles.pop(0)
        self._show()

    def _button_clicked(self) -> None:
        if self._troubles and self._troubles[0].button is not None:
            button = self._troubles[0].button
            self.close_first()
            button.callback()

    def _did_second(self) -> None:
        if self._troubles and self._troubles[0].second is not None:
            self._troubles[0].second.callback()

    def _copied(self) -> None:
        if self._troubles:
            QGuiApplication.clipboard().setText(self._troubles[0].report())
            self._copy.setText(texts.COPIED)

    def _show(self) -> None:
        self.setVisible(bool(self._troubles))
        if not self._troubles:
            return
        first = self._troubles[0]
        part, name, color = _LOOK[first.level]
        self._frame.setProperty("part", part)
        for widget in (self._frame, self._text, self._more):
            widget.style().unpolish(widget)
            widget.style().polish(widget)
        self._icon.show_icon(name, color)
        self._icon.setAccessibleName({"error": texts.ERROR, "warning": texts.WARNING, "note": texts.NOTE}[first.level])
        self._text.setText(first.sentence)
        self._text.setAccessibleName(first.sentence)
        more = len(self._troubles) - 1
        self._more.setVisible(more > 0)
        self._more.setText(texts.more_messages(f"{more:,}"))
        self._button.setVisible(first.button is not None)
        self._button.setText(first.button.text if first.button else "")
        self._button.setAccessibleName(first.button.text if first.button else texts.FIX_IT)
        self._second.setVisible(first.second is not None)
        self._second.setText(first.second.text if first.second else "")
        self._second.setAccessibleName(first.second.text if first.second else texts.ANOTHER_WAY)
        self._copy.setVisible(first.level != "note" or bool(first.details))
        self._copy.setText(texts.COPY_DETAILS)
        self._place()
