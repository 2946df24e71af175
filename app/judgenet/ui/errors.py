"""What went wrong: said in a bar with what happened, where, and what to do; nothing is swallowed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Mend:
    """A button that mends: its words and what it does."""

    text: str
    callback: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that the user must know. ``details`` is what "Copy details" copies beside what is shown."""

    what: str
    where: str = ""
    mend: Mend | None = None
    details: str = ""
    level: Level = "error"
    at: datetime = field(default_factory=lambda: datetime.now().astimezone())

    @property
    def sentence(self) -> str:
        """What happened and where, in one line."""
        return f"{self.where}: {self.what}" if self.where else self.what


class ErrorPort(Protocol):
    """Where pages tell of trouble."""

    def tell(
        self, what: str, where: str = "", mend: Mend | None = None, details: str = "", level: Level = "error"
    ) -> None:
        """Shows trouble in the bar. Texts are plain, and secrets in them are struck out."""
        ...

    def tell_exception(self, error: BaseException, where: str = "", mend: Mend | None = None) -> None:
        """Shows an exception: the message of our own errors, and the traceback under "Copy details"."""
        ...
