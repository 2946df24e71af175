"""The pages of the studio. Each knows the context and no other page.

A page is loaded when it is made: plots and tables take longer to load than the window takes to open.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from judgenet.ui.context import Context
    from judgenet.ui.navigation import PageKey
    from judgenet.ui.pages.base import Page

_CLASSES: Final[dict[PageKey, str]] = {
    "welcome": "WelcomePage",
    "design": "DesignPage",
    "data": "DataPage",
    "labels": "LabelsPage",
    "run": "RunPage",
    "results": "ResultsPage",
    "bias": "BiasPage",
    "report": "ReportPage",
    "settings": "SettingsPage",
}
"""The class of each page, in the module of its key."""


def make_page(key: PageKey, context: Context) -> Page:
    """Loads and makes a page."""
    page: Page = getattr(import_module(f"judgenet.ui.pages.{key}"), _CLASSES[key])(context)
    return page
