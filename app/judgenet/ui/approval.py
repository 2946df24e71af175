"""Asks whether a project may have what it wants: a key, headers or pairs for an address, a file outside its folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from judgenet.core.harmless import harmless
from judgenet.store.approvals import ApprovalNeed, NeedKind
from judgenet.ui import texts
from judgenet.ui.dialogs import shown
from judgenet.ui.document import Document
from judgenet.ui.elements import label, line
from judgenet.ui.measures import measure
from judgenet.ui.theme import ThemeManager
from judgenet.ui.widgets import set_kind

_WIDE: Final = 600
_HIGH: Final = 520


class TrustDialog(QDialog):
    """What a project asks for, each with its address or file. The answer is no unless the user says yes."""

    def __init__(self, document: Document, needs: Sequence[ApprovalNeed], theme: ThemeManager, parent: QWidget) -> None:
        super().__init__(parent)
        px = theme.theme.px
        self.setWindowTitle(texts.DO_YOU_TRUST_THIS_PROJECT)
        self.setAccessibleName(texts.DO_YOU_TRUST_THIS_PROJECT)
        place = document.path or document.file
        lead = label(harmless(texts.asks_for_something_new(document.title)), "title", wrap=True)
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
        area.setAccessibleName(texts.WHAT_THE_PROJECT_ASKS_FOR)
        advice = label(
            texts.ALLOW_ONLY_IF_YOU_KNOW,
            tone="text2",
            wrap=True,
        )
        self.refuse = QPushButton(texts.DO_NOT_ALLOW)
        self.allow = QPushButton(texts.ALLOW)
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
            column.addWidget(label(texts.endpoint(need.endpoint), tone="text2"))
        column.addWidget(label(_what_is_asked(need.kind, harmless(need.name)), wrap=True))
        place = label(harmless(need.place), "mono", wrap=True)
        place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column.addWidget(place)
        return row


def _what_is_asked(kind: NeedKind, name: str) -> str:
    """What a project asks for: a key or a header by its name, an address, or a file."""
    if kind == "key":
        return texts.send_your_key(name)
    if kind == "header":
        return texts.send_the_header(name)
    return texts.SEND_THE_PROMPTS if kind == "address" else texts.READ_THIS_FILE


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
