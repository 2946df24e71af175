"""The page on which the network is designed."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from judgenet.ui.context import Context
from judgenet.ui.pages.base import Page


class DesignPage(Page):
    """The network on a canvas, with its inspector and what it costs."""

    key = "design"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
