"""The choice between intervals for one look and intervals that are valid at any time, for live plots and Results."""

from __future__ import annotations

from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from judgenet.ui import texts
from judgenet.ui.elements import label, link
from judgenet.ui.measures import measure
from judgenet.ui.settings import IntervalKind, Preferences, StudioSettings
from judgenet.ui.widgets import Segment

NAMES: Final[dict[IntervalKind, str]] = {"once": texts.FIXED_N, "anytime": texts.VALID_AT_ANY_TIME}
_SHORT: Final[dict[IntervalKind, str]] = {"once": texts.FIXED_N_SHORT, "anytime": texts.AT_ANY_TIME_SHORT}
TIPS: Final[dict[IntervalKind, str]] = {
    "once": texts.FIXED_N_TIP,
    "anytime": texts.AT_ANY_TIME_TIP,
}


class IntervalSwitch(QWidget):
    """A switch between the two kinds of intervals; it shows and sets the user's preference."""

    def __init__(self, settings: StudioSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.kinds = Segment(texts.INTERVAL, list(NAMES.items()))
        for kind, tip in TIPS.items():
            self.kinds.button(kind).setToolTip(tip)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(label(texts.INTERVAL, tone="text2"))
        row.addWidget(self.kinds)
        row.addStretch(1)
        measure(row, spacing=8)
        self.kinds.chosen.connect(lambda kind: settings.set(intervals=kind))
        settings.changed.connect(self._follow)
        self._follow(settings.preferences)

    def _follow(self, preferences: Preferences) -> None:
        self.kinds.set_current(preferences.intervals)


def interval_link(settings: StudioSettings, parent: QWidget) -> QPushButton:
    """A link that names the kind of interval; a click switches to the other, where there is no room for both."""
    button = link("", texts.INTERVAL)
    button.setParent(parent)

    def follow(preferences: Preferences) -> None:
        kind = preferences.intervals
        button.setText(texts.interval(_SHORT[kind]))
        button.setAccessibleName(button.text())
        button.setToolTip(TIPS[kind])

    def turn() -> None:
        settings.set(intervals="anytime" if settings.preferences.intervals == "once" else "once")

    button.clicked.connect(turn)
    settings.changed.connect(follow)
    follow(settings.preferences)
    return button
