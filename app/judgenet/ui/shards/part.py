"""The part of the page Run that switches between the shards of the project and the pairs of the run."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from judgenet.core.wording import of
from judgenet.ui.context import Context
from judgenet.ui.measures import measure
from judgenet.ui.shards import texts
from judgenet.ui.shards.view import ShardsView
from judgenet.ui.widgets import Segment


class ShardsPart(QStackedWidget):
    """The shards, or the pairs of a run; where the project has no shards the latter alone.

    Attributes:
        choice: the switch between both, for the top bar; empty where there are no shards.

    Signals:
        pairs_wanted: the places of pairs to show, and why they are listed.
    """

    pairs_wanted = Signal(object, str)

    def __init__(self, context: Context, pairs: QWidget) -> None:
        super().__init__()
        self._context = context
        self._state = context.shards
        self._pairs = pairs
        self.addWidget(pairs)
        self.view: ShardsView | None = None
        self.segment = Segment(texts.SHOWN_PART, (("shards", texts.SHARDS), ("pairs", texts.PAIRS)))
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
        """The widgets between which F6 moves the focus."""
        return () if self.view is None else (self.view.grid, self.view.facts)

    @property
    def run_title(self) -> str:
        """The title of the run in view where it is a shard or all shards; empty for a run of the project itself."""
        state = self._state
        if state.look is None or not self._context.document.looks_elsewhere:
            return ""
        if state.opened is not None:
            return texts.shard(str(state.shard(state.opened)))
        return texts.shards_shown(of(state.indexed, state.look.of))

    def show_pairs(self) -> None:
        """Shows the network and the pairs."""
        self.segment.set_current("pairs")
        self.setCurrentWidget(self._pairs)

    def show_shards(self) -> None:
        """Shows the shards, and closes the shard that is open."""
        if self.view is None:
            self.view = ShardsView(self._context)
            self.view.pairs_wanted.connect(self.pairs_wanted)
            self.addWidget(self.view)
        self.segment.set_current("shards")
        self.setCurrentWidget(self.view)
        self._state.close_shard()

    def _found(self) -> None:
        self.segment.setVisible(self._state.there)
        if self._state.there:
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
