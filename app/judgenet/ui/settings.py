"""Settings of the studio itself: how it looks, where its windows stand, what was open. Typed, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from judgenet.ui.theme import ThemeChoice
from judgenet.ui.tokens import Density


@dataclass(frozen=True, slots=True)
class Preferences:
    """What the user chose. ``scale`` is the UI scale, 0.8 to 2; ``reduce_motion`` of ``None`` follows the system."""

    theme: ThemeChoice = "system"
    scale: float = 1.0
    density: Density = "comfortable"
    reduce_motion: bool | None = None


class StudioSettings(QObject):
    """Reads and keeps settings.

    Signals:
        changed: the :class:`Preferences` changed.
    """

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = Preferences()

    @property
    def preferences(self) -> Preferences:
        return self._preferences

    def set(self, **changes: Any) -> None:
        """Changes preferences and keeps them."""
        self._preferences = replace(self._preferences, **changes)
        self.changed.emit(self._preferences)
