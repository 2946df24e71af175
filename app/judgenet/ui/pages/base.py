"""The base class of pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from PySide6.QtWidgets import QWidget

from judgenet.ui.context import Context
from judgenet.ui.navigation import PageKey, Visit


class Page(QWidget):
    """A page of the studio.

    Attributes:
        key: its name.
        primary: the action of the button at the right of the top bar; empty for none.
        primary_kind: ``primary`` for the accent, ``normal`` without.
        smallest: width and height in px at a scale of 100 % below which the page is scrolled instead of squeezed.
    """

    key: ClassVar[PageKey]
    primary: ClassVar[str] = "run.start"
    primary_kind: ClassVar[Literal["primary", "normal"]] = "primary"
    smallest: ClassVar[tuple[int, int]] = (640, 360)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.setProperty("part", "page")
        context.theme.dress(self)

    def top_widgets(self) -> Sequence[QWidget]:
        """Widgets that stand in the top bar while the page is in view, beside undo and redo."""
        return ()

    def regions(self) -> Sequence[QWidget]:
        """The parts between which F6 jumps, in reading order."""
        return (self,)

    def enter(self, visit: Visit) -> None:
        """The page comes into view."""
