"""A studio that was closed can be collected: no widget keeps what Qt destroys on its own."""

from __future__ import annotations

import gc

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QWidget

from judgenet.ui.app import Studio
from judgenet.ui.navigation import PageKey
from tests.ui.conftest import settle


async def test_no_widget_keeps_an_icon(studio: Studio) -> None:
    """An icon is destroyed with its engine; where a widget holds it among other garbage, the engine may go first."""
    pages: tuple[PageKey, ...] = ("welcome", "data", "design", "labels", "run", "results", "bias", "report", "settings")
    for key in pages:
        studio.window.page(key)
    await settle()
    widgets = [studio.window, *studio.window.findChildren(QWidget)]
    kept = [(type(of).__name__, name) for of in widgets for name, value in vars(of).items() if isinstance(value, QIcon)]
    assert kept == []
    gc.collect()
