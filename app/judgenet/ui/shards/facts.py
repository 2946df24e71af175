"""The inspector of one shard; where none is chosen, the endpoints and the faults of all shards."""

from __future__ import annotations

from time import time
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
from judgenet.ui.shards import texts
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
_ROWS: Final = (texts.PAIRS, texts.CALLS, texts.UNSCORED, texts.PRICE, texts.ATTEMPT, texts.MACHINE, texts.LAST_NEWS)
_FAULTS: Final = 4
"""At most so many faults are listed; the others are counted."""


class ShardFacts(QFrame):
    """The inspector of the shards.

    Signals:
        wanted: the index of a shard to choose.
        pairs_wanted: the places in the run of the pairs to show.
    """

    wanted = Signal(int)
    pairs_wanted = Signal(object)

    def __init__(self, state: ShardsState) -> None:
        super().__init__()
        self.setProperty("part", "surface")
        self.setAccessibleName(texts.INSPECTOR)
        self._state = state
        self._shard = 0
        self.title = ElidedLabel(kind="title", fitted=True)
        self.tag = Tag()
        self.sentence = label("", tone="text2", wrap=True)
        self.rows = {name: (label(name, tone="text2"), ElidedLabel()) for name in _ROWS}
        self.error = label("", tone="bad", wrap=True)
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.pairs = QPushButton(texts.SHOW_PAIRS)
        self.open = QPushButton(texts.OPEN_STORE)
        self.endpoints = label("", tone="text2", wrap=True)
        self.faults = [(label("", wrap=True), link("", texts.faulty_shards(place + 1))) for place in range(_FAULTS)]
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
        """Shows a shard by its index from 1; 0 shows all of them."""
        self._shard = index
        self._state.choose(index)
        self.refresh()

    def refresh(self) -> None:
        """Shows the current state."""
        look = self._state.look
        if look is None or not self.isVisibleTo(self.window()):
            return
        if self._shard > look.of:
            self._shard = 0
        chosen = bool(self._shard)
        for widget in (self._table, self.pairs, self.open):
            widget.setVisible(chosen)
        if chosen:
            self._show_shard(look, self._shard)
        else:
            self.title.say(texts.SHARDS)
            self.tag.say("")
            self.error.hide()
            self.sentence.setText(texts.CHOOSE_SHARD)
        self.sentence.setVisible(bool(self.sentence.text()))
        self._show_endpoints(look)
        self._show_faults(look)

    def _show_shard(self, look: ShardSetLook, index: int) -> None:
        state = look.state_of(index)
        self.title.say(texts.shard_number(index, look.of))
        self.tag.say(STATE_WORDS[state], TONES[state])
        report = look.reports.get(index)
        self._table.setVisible(report is not None)
        self.sentence.setText("" if report is not None else texts.NOT_BEGUN)
        if report is not None:
            for name, text in _facts(report).items():
                self.rows[name][1].say(text)
        error = report.error if report is not None else ""
        if state == "silent" and report is not None:
            error = texts.silent_for(duration(look.at - report.updated))
        self.error.setProperty("tone", "warn" if state == "silent" else "bad")
        self.error.style().polish(self.error)
        self.error.setText(error)
        self.error.setVisible(bool(error))
        why = self._state.why_not_open(index)
        self.open.setEnabled(not why)
        self.open.setToolTip(why or texts.OPEN_STORE_TIP)
        readable = self._state.has_pairs(index)
        self.pairs.setEnabled(readable)
        self.pairs.setToolTip(texts.SHOW_PAIRS_TIP if readable else texts.PAIRS_LATER)

    def _show_endpoints(self, look: ShardSetLook) -> None:
        lines = [
            texts.parallel_calls(clean(endpoint.name), clean(endpoint.model), of(endpoint.in_flight, endpoint.window))
            + {
                "open": "",
                "slow": texts.ENDPOINT_SLOW,
                "stopped": texts.endpoint_stopped(endpoint.message),
            }[endpoint.state]
            for endpoint in (look.set_report.endpoints if look.set_report is not None else ())
        ]
        self.endpoints.setText("\n".join(lines))
        self.endpoints.setVisible(bool(lines) and not self._shard)

    def _show_faults(self, look: ShardSetLook) -> None:
        groups = trouble_groups([shard_trouble(look, shard) for state in TROUBLED for shard in look.in_state(state)])
        shown = list(groups.items())[:_FAULTS]
        self._line.setVisible(bool(shown))
        self._shown = [troubles for _, troubles in shown]
        for place, (words, button) in enumerate(self.faults):
            used = place < len(shown)
            words.setVisible(used)
            button.setVisible(used)
            if used:
                fault, troubles = shown[place]
                words.setText(fault)
                button.setText(
                    texts.SHOW_FAULTY_SHARD if len(troubles) == 1 else texts.go_through_shards(len(troubles))
                )
        rest = len(groups) - len(shown)
        self.more.setVisible(rest > 0)
        self.more.setText(texts.more_faults(plural(rest, texts.OTHER_FAULT)))

    def _go(self) -> None:
        """Goes to the next shard that has a fault."""
        sender = self.sender()
        place = -1 if sender is None else int(sender.property("place"))
        if 0 <= place < len(self._shown):
            shards = [trouble.shard for trouble in self._shown[place]]
            self.wanted.emit(next((shard for shard in shards if shard > self._shard), shards[0]))

    def _show_pairs(self) -> None:
        self.pairs_wanted.emit(self._state.pairs_of(self._shard))

    def _open(self) -> None:
        self._state.open_shard(self._shard)


def _facts(report: ShardReport) -> dict[str, str]:
    """What a shard reported, by the names of the rows."""
    last_news = "n/a" if not report.updated else texts.ago(duration(max(0.0, time() - report.updated)))
    return {
        texts.PAIRS: of(report.pairs_done, report.pairs),
        texts.CALLS: f"{report.calls:,}",
        texts.UNSCORED: f"{report.unscored:,}",
        texts.PRICE: spent_text(report.price, report.unpriced),
        texts.ATTEMPT: f"{report.attempt:,}" if report.attempt else "n/a",
        texts.MACHINE: report.worker or "n/a",
        texts.LAST_NEWS: last_news,
    }
