"""What is known of one shard, or of what leads them all where none is chosen."""

from __future__ import annotations

import time
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from judgenet.core.wording import clean, duration, of, plural, spent_text
from judgenet.figures.shards import STATE_WORDS, TROUBLED, ShardTrouble, shard_trouble, trouble_groups
from judgenet.store.shard_states import ShardReport
from judgenet.store.shard_watch import CellState, ShardSetLook
from judgenet.ui.elements import ElidedLabel, label, line, link
from judgenet.ui.measures import measure
from judgenet.ui.run.elements import Tag
from judgenet.ui.shards.state import ShardsState
from judgenet.ui.tokens import PANEL_INSIDE

TONES: Final[dict[CellState, str]] = {
    "waiting": "",
    "running": "accent",
    "paused": "",
    "done": "good",
    "failed": "bad",
    "silent": "warn",
}
_ROWS: Final = ("Pairs", "Calls", "Unscored", "Price", "Attempt", "Machine", "Last news")
_FAULTS: Final = 4


class ShardFacts(QFrame):
    """The inspector of the shards.

    Signals:
        wanted: the index of a shard that is to be chosen.
        pairs_wanted: the pairs of the chosen shard are to be shown, places in the run.
    """

    wanted = Signal(int)
    pairs_wanted = Signal(object)

    def __init__(self, state: ShardsState) -> None:
        super().__init__()
        self.setProperty("part", "surface")
        self.setAccessibleName("Inspector of a shard")
        self._state = state
        self._shard = 0
        self.title = ElidedLabel(kind="title", fitted=True)
        self.tag = Tag()
        self.sentence = label("", tone="text2", wrap=True)
        self.rows = {name: (label(name, tone="text2"), ElidedLabel()) for name in _ROWS}
        self.error = label("", tone="bad", wrap=True)
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.pairs = QPushButton("Show its pairs")
        self.open = QPushButton("Open its store")
        self.endpoints = label("", tone="text2", wrap=True)
        self.faults = [(label("", wrap=True), link("", f"Shards with fault {place + 1}")) for place in range(_FAULTS)]
        self.more = label("", tone="text2")
        self.pairs.clicked.connect(self._show_pairs)
        self.open.clicked.connect(self._open)
        for place, (_, button) in enumerate(self.faults):
            button.setProperty("place", place)
            button.clicked.connect(self._go)
        self._lay_out()
        self._shown: list[tuple[ShardTrouble, ...]] = []
        state.changed.connect(self.refresh)
        self.refresh()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addWidget(self.tag)
        head.addStretch(1)
        self._table = QWidget()
        grid = QGridLayout(self._table)
        grid.setColumnStretch(1, 1)
        for place, (name, value) in enumerate(self.rows.values()):
            grid.addWidget(name, place, 0)
            grid.addWidget(value, place, 1)
            measure(value, font="body", tabular=True)
        buttons = QHBoxLayout()
        buttons.addWidget(self.pairs)
        buttons.addWidget(self.open)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.addLayout(head)
        column.addWidget(self.sentence)
        column.addWidget(self._table)
        column.addWidget(self.error)
        column.addLayout(buttons)
        column.addWidget(self.endpoints)
        self._line = line()
        column.addWidget(self._line)
        for words, button in self.faults:
            column.addWidget(words)
            column.addWidget(button, alignment=Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.more)
        column.addStretch(1)
        measure(column, margins=(PANEL_INSIDE, 12, PANEL_INSIDE, 12), spacing=12)
        measure(head, margins=0, spacing=8)
        measure(self.title, min_height=32)
        measure(grid, margins=0, across=16, down=6)
        measure(buttons, margins=0, spacing=8)

    def show_shard(self, index: int) -> None:
        """Shows a shard, 0 for all of them."""
        self._shard = index
        self._state.choose(index)
        self.refresh()

    def refresh(self) -> None:
        """Shows the present state."""
        look = self._state.look
        if look is None or not self.isVisibleTo(self.window()):
            return
        if self._shard > look.of:
            self._shard = 0
        one = bool(self._shard)
        for widget in (self._table, self.pairs, self.open):
            widget.setVisible(one)
        if one:
            self._show_one(look, self._shard)
        else:
            self.title.say("Shards")
            self.tag.say("")
            self.error.hide()
            self.sentence.setText("Choose a shard to see how it is.")
        self.sentence.setVisible(bool(self.sentence.text()))
        self._show_endpoints(look)
        self._show_faults(look)

    def _show_one(self, look: ShardSetLook, index: int) -> None:
        state = look.state_of(index)
        self.title.say(f"Shard {index:,} of {look.of:,}")
        self.tag.say(STATE_WORDS[state], TONES[state])
        report = look.reports.get(index)
        self._table.setVisible(report is not None)
        self.sentence.setText("" if report is not None else "It has not begun.")
        if report is not None:
            for name, text in _texts(report).items():
                self.rows[name][1].say(text)
        said = report.error if report is not None else ""
        if state == "silent" and report is not None:
            said = (
                f"It said that it runs, and has told nothing for {duration(look.at - report.updated)}. Its machine may "
                "be gone. What it had copied is kept; start the shard again."
            )
        self.error.setProperty("tone", "warn" if state == "silent" else "bad")
        self.error.style().polish(self.error)
        self.error.setText(said)
        self.error.setVisible(bool(said))
        why = self._state.why_not_open(index)
        self.open.setEnabled(not why)
        self.open.setToolTip(why or "Read-only, as it is on the disk now")
        there = self._state.has_pairs(index)
        self.pairs.setEnabled(there)
        tip = "Its pairs, on this page" if there else "Its pairs are there when it has ended and is read."
        self.pairs.setToolTip(tip)

    def _show_endpoints(self, look: ShardSetLook) -> None:
        lines = [
            f"{clean(one.name)}, {clean(one.model)}: {of(one.in_flight, one.window)} calls in flight"
            + {"open": "", "slow": "; slowed down by the endpoint", "stopped": f"; stopped. {one.message}"}[one.state]
            for one in (look.told.endpoints if look.told is not None else ())
        ]
        self.endpoints.setText("\n".join(lines))
        self.endpoints.setVisible(bool(lines) and not self._shard)

    def _show_faults(self, look: ShardSetLook) -> None:
        groups = trouble_groups([shard_trouble(look, of) for state in TROUBLED for of in look.in_state(state)])
        shown = list(groups.items())[:_FAULTS]
        self._line.setVisible(bool(shown))
        self._shown = [troubles for _, troubles in shown]
        for place, (words, button) in enumerate(self.faults):
            there = place < len(shown)
            words.setVisible(there)
            button.setVisible(there)
            if there:
                said, troubles = shown[place]
                words.setText(said)
                button.setText("Show the shard" if len(troubles) == 1 else f"Go through {len(troubles):,} shards")
        rest = len(groups) - len(shown)
        self.more.setVisible(rest > 0)
        self.more.setText(f"and {plural(rest, 'other fault')}")

    def _go(self) -> None:
        """Goes to the next shard that has a fault."""
        sender = self.sender()
        place = -1 if sender is None else int(sender.property("place"))
        if 0 <= place < len(self._shown):
            having = [trouble.shard for trouble in self._shown[place]]
            self.wanted.emit(next((shard for shard in having if shard > self._shard), having[0]))

    def _show_pairs(self) -> None:
        self.pairs_wanted.emit(self._state.pairs_of(self._shard))

    def _open(self) -> None:
        self._state.open_shard(self._shard)


def _texts(report: ShardReport) -> dict[str, str]:
    """The facts of a shard, by the names of their rows."""
    ago = "n/a" if not report.updated else f"{duration(max(0.0, time.time() - report.updated))} ago"
    return {
        "Pairs": of(report.pairs_done, report.pairs),
        "Calls": f"{report.calls:,}",
        "Unscored": f"{report.unscored:,}",
        "Price": spent_text(report.price, report.unpriced),
        "Attempt": f"{report.attempt:,}" if report.attempt else "n/a",
        "Machine": report.worker or "n/a",
        "Last news": ago,
    }
