"""A run that is being read."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from judgenet.ui.parts import label
from judgenet.ui.theme import Theme


class Waiting(QWidget):
    """The run is being read: how far it is, and a way to stop it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = label("")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of reading the run")
        self.stop = QPushButton("Stop")
        self.stop.setAccessibleName("Stop reading the run")
        row = QHBoxLayout()
        row.addWidget(self.bar, 1)
        row.addWidget(self.stop)
        column = QVBoxLayout(self)
        column.addStretch(2)
        column.addWidget(self.words)
        column.addLayout(row)
        column.addStretch(3)
        self._column = column
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Takes on a theme's measures."""
        side = theme.px(48)
        self._column.setContentsMargins(side, side, side, side)
        self._column.setSpacing(theme.px(12))
        self.bar.setMaximumWidth(theme.px(480))

    def show_share(self, share: float | None, words: str) -> None:
        """Shows how far it is; ``None`` where that is unknown."""
        self.bar.setRange(0, 0 if share is None else 1000)
        self.bar.setValue(0 if share is None else round(1000 * share))
        self.words.setText(words if share is None else f"{words}, {100 * share:.0f} %")
