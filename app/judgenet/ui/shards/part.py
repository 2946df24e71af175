"""Where the page Run shows the shards of the project, beside the network and the pairs that it shows anyway."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from judgenet.core.wording import of
from judgenet.ui.context import Context
from judgenet.ui.measures import measure
from judgenet.ui.shards.view import ShardsView
from judgenet.ui.widgets import Segment


class ShardsPart(QStackedWidget):
    """The shards, or the pairs of a run; where the project has no shards the latter alone.

    Attributes:
        choice: chooses between both, for the top bar; empty where there are no shards.

    Signals:
        pairs_wanted: pairs that are to be shown, and why they are listed.
    """

    pairs_wanted = Signal(object, str)

    def __init__(self, context: Context, pairs: QWidget) -> None:
        super().__init__()
        self._context = context
        self._state = context.shards
        self._pairs = pairs
        self.addWidget(pairs)
        self.view: ShardsView | None = None
        self.segment = Segment("What the page shows", (("shards", "Shards"), ("pairs", "Pairs")))
        self.segment.chosen.connect(self._chosen)
        self.choice = QWidget()
        row = QHBoxLayout(self.choice)
        row.addWidget(self.segment)
        measure(row, margins=0)
        self._state.found.connect(self._found)
        self._state.changed.connect(self._changed)
        self._opened: int | None = None
        self._found()

    @property
    def regions(self) -> Sequence[QWidget]:
        """The parts among which the keyboard goes."""
        return () if self.view is None else (self.view.grid, self.view.facts)

    @property
    def run_title(self) -> str:
        """What the run in view is called where it is not one of the project's own; empty where it is."""
        state = self._state
        if state.look is None or not self._context.document.looks_elsewhere:
            return ""
        if state.opened is not None:
            return f"Shard {state.shard(state.opened)}"
        return f"{of(state.indexed, state.look.of)} shards"

    def show_pairs(self) -> None:
        """Shows the network and the pairs."""
        self.segment.set_current("pairs")
        self.setCurrentWidget(self._pairs)

    def show_shards(self) -> None:
        """Shows the shards; a shard that was looked into is left."""
        if self.view is None:
            self.view = ShardsView(self._context)
            self.view.pairs_wanted.connect(self.pairs_wanted)
            self.addWidget(self.view)
        self.segment.set_current("shards")
        self.setCurrentWidget(self.view)
        self._state.close_shard()

    def _found(self) -> None:
        there = self._state.there
        self.segment.setVisible(there)
        if there:
            self.show_shards()
        else:
            self.show_pairs()

    def _changed(self) -> None:
        if self._state.opened != self._opened:
            self._opened = self._state.opened
            if self._opened is not None:
                self.show_pairs()

    def _chosen(self, key: str) -> None:
        if key == "shards":
            self.show_shards()
        else:
            self.show_pairs()
