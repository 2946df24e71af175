"""Settings of the studio itself: how it looks, where its windows stand, what was open. Typed, with their defaults."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal

from judgenet.store.recovery import state_folder
from judgenet.ui.theme import ThemeChoice
from judgenet.ui.tokens import UI_SCALES, Density

RECENT: Final = 12
"""So many projects are remembered."""

IntervalKind = Literal["once", "anytime"]
"""Intervals for one look at a fixed number of pairs, or intervals that are valid at any time."""

_CHECKS: Final[dict[str, Callable[[Any], bool]]] = {
    "theme": lambda value: value in get_args(ThemeChoice),
    "scale": lambda value: isinstance(value, int | float) and UI_SCALES[0] <= value <= UI_SCALES[1],
    "density": lambda value: value in get_args(Density),
    "reduce_motion": lambda value: value is None or isinstance(value, bool),
    "markdown": lambda value: isinstance(value, bool),
    "intervals": lambda value: value in get_args(IntervalKind),
}


@dataclass(frozen=True, slots=True)
class Preferences:
    """What the user chose. ``scale`` is the UI scale, 0.8 to 2; ``reduce_motion`` of ``None`` follows the system;
    ``markdown`` shows responses and evidence as Markdown instead of plain text; ``intervals`` says which ones live
    plots and the page Results have."""

    theme: ThemeChoice = "system"
    scale: float = 1.0
    density: Density = "comfortable"
    reduce_motion: bool | None = None
    markdown: bool = True
    intervals: IntervalKind = "once"


@dataclass(frozen=True, slots=True)
class Recent:
    """A project that was open: its file, its name, a line about it, and when (POSIX time)."""

    file: Path
    name: str
    line: str
    at: float


class StudioSettings(QObject):
    """Reads and keeps settings, in ``studio.ini`` in the user's state folder.

    Signals:
        changed: the :class:`Preferences` changed.
        recent_changed: :attr:`recent` changed.
    """

    changed = Signal(object)
    recent_changed = Signal()

    def __init__(self, parent: QObject | None = None, file: Path | None = None) -> None:
        super().__init__(parent)
        place = file or state_folder() / "studio.ini"
        self._settings = QSettings(str(place), QSettings.Format.IniFormat)
        kept = self._json("preferences", {})
        names = {field.name for field in fields(Preferences)}
        good = {name: value for name, value in kept.items() if name in names and _CHECKS[name](value)}
        self._preferences = Preferences(**good)

    def _json(self, key: str, default: Any) -> Any:
        """A value kept as JSON; the default where it cannot be read or is of another kind."""
        try:
            value = json.loads(str(self._settings.value(key, "")))
        except ValueError:
            return default
        return value if isinstance(value, type(default)) else default

    def _keep(self, key: str, value: Any) -> None:
        self._settings.setValue(key, json.dumps(value))

    @property
    def preferences(self) -> Preferences:
        return self._preferences

    def set(self, **changes: Any) -> None:
        """Changes preferences and keeps them."""
        wanted = replace(self._preferences, **changes)
        if wanted != self._preferences:
            self._preferences = wanted
            self._keep("preferences", {field.name: getattr(wanted, field.name) for field in fields(wanted)})
            self.changed.emit(wanted)

    # What was open

    @property
    def recent(self) -> tuple[Recent, ...]:
        """Projects that were open, the newest first; files that are gone are left out."""
        recents = []
        for record in self._json("recent", []):
            try:
                project = Recent(Path(record["file"]), str(record["name"]), str(record["line"]), float(record["at"]))
            except (KeyError, TypeError, ValueError):
                continue
            if project.file.exists():
                recents.append(project)
        return tuple(recents)

    def remember(self, recent: Recent) -> None:
        """Puts a project at the head of the recent ones."""
        others = [project for project in self.recent if project.file != recent.file]
        self._keep_recent([recent, *others][:RECENT])

    def forget(self, file: Path) -> None:
        """Takes a project out of the recent ones."""
        self._keep_recent([project for project in self.recent if project.file != file])

    def _keep_recent(self, all_of_them: list[Recent]) -> None:
        records = [
            {"file": str(project.file), "name": project.name, "line": project.line, "at": project.at}
            for project in all_of_them
        ]
        self._keep("recent", records)
        self.recent_changed.emit()

    # The window

    def layout(self, name: str) -> QByteArray | None:
        """A kept geometry or arrangement of a window."""
        value = self._settings.value(f"layout/{name}")
        return value if isinstance(value, QByteArray) else None

    def keep_layout(self, name: str, value: QByteArray) -> None:
        self._settings.setValue(f"layout/{name}", value)

    def number(self, name: str, default: int) -> int:
        """A kept measure of the window, such as the width of a panel in px at 100 %."""
        try:
            return int(str(self._settings.value(f"number/{name}", default)))
        except ValueError:
            return default

    def keep_number(self, name: str, value: int) -> None:
        self._settings.setValue(f"number/{name}", value)

    def text(self, name: str, default: str = "") -> str:
        """A kept word, such as the page that was in view."""
        return str(self._settings.value(f"text/{name}", default))

    def keep_text(self, name: str, value: str) -> None:
        self._settings.setValue(f"text/{name}", value)

    def flush(self) -> None:
        """Writes everything to disk."""
        self._settings.sync()
