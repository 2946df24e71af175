"""Asks whether a project may have what it wants: a key, headers or pairs for an address, a file outside its folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from judgenet.core.harmless import harmless
from judgenet.store.approvals import ApprovalNeed
from judgenet.ui.dialogs import shown
from judgenet.ui.document import Document
from judgenet.ui.elements import label, line
from judgenet.ui.measures import measure
from judgenet.ui.theme import ThemeManager
from judgenet.ui.widgets import set_kind

_WIDE: Final = 600
_HIGH: Final = 520

_WHAT: Final = {
    "key": "Send your key {name}, and the prompts with the pairs, to:",
    "address": "Send the prompts with the pairs to:",
    "header": "Send the header {name} to:",
    "file": "Read this file, which is outside the project's folder:",
}


class TrustDialog(QDialog):
    """What a project wants, each thing with the address or file that it is about. Its answer is no unless the user
    says yes."""

    def __init__(self, document: Document, needs: Sequence[ApprovalNeed], theme: ThemeManager, parent: QWidget) -> None:
        super().__init__(parent)
        px = theme.theme.px
        self.setWindowTitle("Do you trust this project?")
        self.setAccessibleName("Do you trust this project?")
        place = document.path or document.file
        lead = label(harmless(f"“{document.title}” asks for something you have not approved"), "title", wrap=True)
        file = label(harmless(str(place or "")), tone="text2", wrap=True)
        inner = QWidget()
        rows = QVBoxLayout(inner)
        measure(rows, margins=12, spacing=12)
        for number, need in enumerate(needs):
            if number:
                rows.addWidget(line())
            rows.addWidget(self._row(need, px(4)))
        rows.addStretch(1)
        area = QScrollArea()
        area.setWidget(inner)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName("What the project asks for")
        advice = label(
            "Allow it only if you know who made the project and recognise each address and file. "
            "Your answer is kept on this computer, not in the project. "
            "You can take it back in Settings.",
            tone="text2",
            wrap=True,
        )
        self.refuse = QPushButton("Do not allow")
        self.allow = QPushButton("Allow")
        set_kind(self.refuse, "primary")
        self.refuse.setDefault(True)
        self.allow.setAutoDefault(False)
        self.refuse.clicked.connect(self.reject)
        self.allow.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.allow)
        buttons.addWidget(self.refuse)
        column = QVBoxLayout(self)
        measure(column, margins=(24, 16, 24, 16), spacing=12)
        column.addWidget(lead)
        column.addWidget(file)
        column.addWidget(area, stretch=1)
        column.addWidget(advice)
        column.addLayout(buttons)
        wanted = px(230) + px(92) * len(needs)
        self.resize(min(px(_WIDE), parent.width() - px(32)), min(px(_HIGH), wanted, parent.height()))
        self.refuse.setFocus()

    @staticmethod
    def _row(need: ApprovalNeed, gap: int) -> QWidget:
        row = QWidget()
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(gap)
        if need.endpoint:
            column.addWidget(label(f"Endpoint {need.endpoint}", tone="text2"))
        column.addWidget(label(_WHAT[need.kind].format(name=harmless(need.name)), wrap=True))
        place = label(harmless(need.place), "mono", wrap=True)
        place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(place)
        return row


class TrustAsker:
    """Opens :class:`TrustDialog` over a window, one at a time."""

    def __init__(self, document: Document, theme: ThemeManager, parent: QWidget) -> None:
        self._document = document
        self._theme = theme
        self._parent = parent

    async def ask(self, needs: Sequence[ApprovalNeed]) -> bool:
        """Whether the user allows all of it."""
        dialog = TrustDialog(self._document, needs, self._theme, self._parent)
        try:
            return await shown(dialog)
        finally:
            dialog.deleteLater()
