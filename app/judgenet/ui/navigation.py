"""Navigation from one page to another without an import of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from PySide6.QtCore import QObject, Signal

from judgenet.core.calls import CallSite

PageKey = Literal["welcome", "design", "data", "labels", "run", "results", "bias", "report", "settings"]
PAGES: Final[tuple[PageKey, ...]] = get_args(PageKey)


@dataclass(frozen=True, slots=True)
class Visit:
    """A page to go to and what to show there.

    ``pairs`` are 0-based indexes into the document's selected pairs (or the run's), ``site`` is a call; ``why`` says in
    words what was asked for ("network B, people A"), to stand beside it. ``files`` are files of pairs to be imported
    (page ``data``). ``part`` names a part of the page (``settings``: "look", "endpoints", "prices"), or where the pairs
    come from (``labels``: "plan" where the planner drew them, "people" where the network left them to people; else they
    were picked); "compare" on page ``results`` opens the choice of a run to compare with.
    """

    page: PageKey
    pairs: tuple[int, ...] | None = None
    site: CallSite | None = None
    why: str = ""
    files: tuple[Path, ...] = ()
    part: str = ""


class Navigator(QObject):
    """Receives requests to go to a page; the window shows it, and the page reads the visit.

    Signals:
        went: the :class:`Visit`, after its page is in view.
    """

    went = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._page: PageKey = "welcome"

    @property
    def page(self) -> PageKey:
        """The page in view."""
        return self._page

    def go(
        self,
        page: PageKey,
        *,
        pairs: tuple[int, ...] | None = None,
        site: CallSite | None = None,
        why: str = "",
        files: tuple[Path, ...] = (),
        part: str = "",
    ) -> None:
        """Goes to a page."""
        self._page = page
        self.went.emit(Visit(page, pairs, site, why, files, part))
