"""All shards of the project: how they are in figures, the grid with its legend, and what can be done with them."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from judgenet.core.shards import Shard
from judgenet.core.wording import money, of, percent, percent_interval, plural, spent_text
from judgenet.figures.shards import STATE_WORDS, shard_agreement
from judgenet.store.shard_watch import CELL_STATES, CellState, ShardSetLook
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.context import Context
from judgenet.ui.elements import ElidedLabel, label, line, link
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.shards.facts import ShardFacts
from judgenet.ui.shards.grid import ShardGrid
from judgenet.ui.shards.stamps import draw_stamp
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import INSPECTOR, PANEL_INSIDE

_TITLES: Final = {
    "waiting": "Waiting",
    "running": "Running",
    "paused": "Paused",
    "stopped": "Stopped",
    "done": "All shards are done",
}
_GAP: Final = 28
_GOES_FIRST: Final = ("unscored", "calls/s", "pairs/s", "accuracy against people", "price")
_LEGEND: Final[tuple[CellState, ...]] = ("done", "running", "paused", "waiting", "failed", "silent")


def _title(look: ShardSetLook) -> str:
    """How the shards are, at the head of the view."""
    if look.state == "failed":
        return f"{plural(look.count('failed'), 'shard')} failed"
    if look.state == "silent":
        return f"No news of {plural(look.count('silent'), 'shard')}"
    return _TITLES[look.state]


class _Figure(QWidget):
    """A figure and what it is."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.value = label("", "figure")
        self.name = label(name, tone="text2")
        column = QVBoxLayout(self)
        column.addWidget(self.value)
        column.addWidget(self.name)
        measure(column, margins=0, spacing=0)
        measure(self.value, font="figure", tabular=True)

    def say(self, value: str, tip: str = "", name: str = "") -> None:
        """Shows a value, and another word of what it is where ``name`` is given."""
        if value != self.value.text() or (name and name != self.name.text()):
            self.value.setText(value)
            self.name.setText(name or self.name.text())
            self.setAccessibleName(f"{self.name.text()}: {value}")
        self.setToolTip(tip)


class _Legend(QWidget):
    """What the cells mean, with how many shards are in each state."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: tuple[tuple[CellState, int], ...] = ()
        self._large = False
        measure(self, height=36)

    def show_counts(self, look: ShardSetLook, *, large: bool) -> None:
        """Shows how many shards are in each state, with cells as the grid has them."""
        counts = tuple((state, look.count(state)) for state in _LEGEND)
        if (counts, large) != (self._counts, self._large):
            self._counts, self._large = counts, large
            self.setAccessibleName(", ".join(f"{count:,} {STATE_WORDS[state]}" for state, count in counts))
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scale = current_theme().scale
        painter.scale(scale, scale)
        ink = Ink.of(current_theme())
        side = 20 if self._large else 14
        shown = [(state, count, f"{STATE_WORDS[state]} {count:,}") for state, count in self._counts]
        if PANEL_INSIDE + sum(side + 28 + ink.width(words) for *_, words in shown) > self.width() / scale:
            # Where there is no room for all, states that no shard is in are left out.
            shown = [one for one in shown if one[1]]
        x = float(PANEL_INSIDE)
        for state, count, words in shown:
            filled = 4 if state == "running" else 0
            draw_stamp(painter, ink, QRectF(x, 18 - side / 2, side, side), CELL_STATES.index(state) * 16 + filled)
            ink.text(painter, x + side + 8, 22, words, color="text" if count else "text3", tabular=True)
            x += side + 28 + ink.width(words)


class ShardsView(QFrame):
    """The grid of shards beside the facts of one.

    Signals:
        pairs_wanted: pairs of the run that are to be shown, and why they are listed.
    """

    pairs_wanted = Signal(object, str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setAccessibleName("All shards")
        self._context = context
        self._state = context.shards
        self.title = label("", "title")
        self.message = ElidedLabel(tone="text2")
        self.pause = QPushButton("Pause")
        self.stop = QPushButton("Stop")
        self.merge = QPushButton("Make one run")
        self.figures = {
            name: _Figure(name)
            for name in ("shards done", "pairs", "pairs/s", "calls/s", "price", "unscored", "accuracy against people")
        }
        self.grid = ShardGrid(self._line)
        self.grid.setAccessibleName("Grid of shards")
        self.legend = _Legend()
        self.note = ElidedLabel(tone="text2")
        self.take_in = link("Read them")
        self.facts = ShardFacts(self._state)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self.pause.setIcon(icon("pause", "text"))
        self.stop.setIcon(icon("stop", "text"))
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addWidget(self.message, stretch=1)
        for button in (self.merge, self.pause, self.stop):
            head.addWidget(button)
            measure(button, icon=16)
        strip = QHBoxLayout()
        for figure in self.figures.values():
            strip.addWidget(figure)
        strip.addStretch(1)
        foot = QHBoxLayout()
        foot.addWidget(self.note, stretch=1)
        foot.addWidget(self.take_in)
        self._foot = QWidget()
        self._foot.setLayout(foot)
        left = self._left = QFrame()
        left.setProperty("part", "canvas")
        left.installEventFilter(self)
        measure(left, min_width=360)
        column = QVBoxLayout(left)
        column.addLayout(head)
        column.addLayout(strip)
        column.addWidget(line())
        column.addWidget(self.grid, stretch=1)
        column.addWidget(line())
        column.addWidget(self.legend)
        column.addWidget(self._foot)
        self.across = QSplitter(Qt.Orientation.Horizontal)
        self.across.addWidget(left)
        self.across.addWidget(self.facts)
        self.across.setHandleWidth(1)
        self.across.setChildrenCollapsible(False)
        self.across.setStretchFactor(0, 1)
        self.across.setStretchFactor(1, 0)
        self.across.setAccessibleName("Width of the inspector of a shard")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.across)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        measure(head, margins=(PANEL_INSIDE, 12, PANEL_INSIDE, 8), spacing=12)
        measure(strip, margins=(PANEL_INSIDE, 0, PANEL_INSIDE, 12), spacing=_GAP)
        measure(foot, margins=(PANEL_INSIDE, 0, PANEL_INSIDE, 10), spacing=12)
        measure(self.facts, min_width=INSPECTOR["other"], max_width=520)

    def _connect(self) -> None:
        self.grid.selected.connect(self.choose)
        self.grid.activated.connect(self._activated)
        self.facts.wanted.connect(self.choose)
        self.facts.pairs_wanted.connect(self._show_pairs)
        self.pause.clicked.connect(self._pause)
        self.stop.clicked.connect(self._stop)
        self.merge.clicked.connect(self._state.merge)
        self.take_in.clicked.connect(self._state.take_in)
        self._state.changed.connect(self.refresh)
        self._context.theme.changed.connect(self._dressed)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._state.set_in_view(True)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._state.set_in_view(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        """Where there is no room for all figures, the least of them go."""
        theme = current_theme()
        room = self._left.width() - 2 * theme.px(PANEL_INSIDE)
        needed = {name: figure.sizeHint().width() + theme.px(_GAP) for name, figure in self.figures.items()}
        gone: set[str] = set()
        for name in _GOES_FIRST:
            if sum(wide for of_name, wide in needed.items() if of_name not in gone) <= room:
                break
            gone.add(name)
        for name, figure in self.figures.items():
            figure.setVisible(name not in gone)

    def _dressed(self) -> None:
        self.grid.viewport().update()
        self.legend.update()

    # What is shown

    def _line(self, index: int) -> str:
        """A shard in a line, for tool tips and screen readers."""
        look = self._state.look
        if look is None:
            return ""
        text = f"Shard {Shard(look.of, index)}: {STATE_WORDS[look.state_of(index)]}"
        report = look.reports.get(index)
        if report is None:
            return text
        where = f", {report.worker}" if report.worker else ""
        return f"{text}, {of(report.pairs_done, report.pairs)} pairs{where}"

    def refresh(self) -> None:
        """Shows the present state."""
        look = self._state.look
        if look is None or not self.isVisible():
            return
        self.grid.show_stamps(self._state.stamps)
        self.legend.show_counts(look, large=self.grid.large)
        self._show_figures(look)
        led = f"Led by {look.told.engine.capitalize()}. " if look.told is not None and look.told.engine else ""
        self.title.setText(_title(look))
        self.message.say(f"{led}{look.told.message if look.told is not None else ''}".strip())
        self._fit()
        self._show_commands(look)
        self._show_note(look)
        self.facts.refresh()

    def _show_figures(self, look: ShardSetLook) -> None:
        goes_on = look.goes_on
        none = "n/a"
        shown = self.figures
        shown["shards done"].say(of(look.count("done"), look.of))
        pairs = f"{look.pairs_done:,}" if look.pairs is None else of(look.pairs_done, look.pairs)
        shown["pairs"].say(pairs, "" if look.pairs is not None else "Shards that have not begun do not tell how many.")
        for name, rate in (("pairs/s", look.pairs_per_second), ("calls/s", look.calls_per_second)):
            known = goes_on and rate is not None
            why = "" if known else "No shard is running." if not goes_on else "It is known after a few seconds."
            shown[name].say(f"{rate:,.1f}" if known and rate is not None else none, why)
        known_price = money(look.price) if look.price or not look.unpriced else "unknown"
        also = f", {look.unpriced:,} unknown" if look.price and look.unpriced else ""
        shown["price"].say(known_price, spent_text(look.price, look.unpriced), f"price{also}")
        shown["unscored"].say(f"{look.unscored:,}", f"of {plural(look.calls, 'call')}")
        found = shard_agreement(look)
        if found is None:
            shown["accuracy against people"].say(none, "No pair of the shards that have ended is labelled.")
            return
        interval = f" {percent_interval(found.ci)}" if found.ci is not None else ""
        tip = (
            f"{found.aggregation}, on {of(found.n, found.n_labelled)} labelled pairs of "
            f"{of(found.shards, look.of)} shards."
        )
        shown["accuracy against people"].say(f"{percent(found.accuracy)}{interval}", f"{tip} {found.reason or ''}")

    def _show_commands(self, look: ShardSetLook) -> None:
        held = look.command.want != "run"
        self.pause.setText("Resume" if held else "Pause")
        self.pause.setIcon(icon("play" if held else "pause", "text"))
        self.pause.setAccessibleName("Let the shards go on" if held else "Pause all shards")
        self.pause.setEnabled(held or look.goes_on)
        self.pause.setToolTip("" if held or look.goes_on else "No shard is running.")
        self.stop.setEnabled(look.goes_on and look.command.want != "stop")
        self.stop.setText("Stopping…" if look.goes_on and look.command.want == "stop" else "Stop")
        self.stop.setAccessibleName("Stop all shards")
        self.merge.setVisible(not look.goes_on and self._state.unmerged)
        why = self._state.why_not_merge()
        self.merge.setEnabled(not why)
        self.merge.setToolTip(why or "Puts all shards into the project's own store, so that Run goes on with them")

    def _show_note(self, look: ShardSetLook) -> None:
        state = self._state
        text = ""
        if state.working:
            text = "The shards that have ended are being read."
        elif state.reads_index:
            text = f"Results, Labels and Report show {of(state.indexed, look.of)} shards."
            if state.behind:
                text += f" {plural(state.behind, 'more has', 'more have')} ended since."
        elif look.ended == 0:
            text = "Results are there when the first shard has ended."
        self.note.say(text)
        self.take_in.setVisible(bool(state.behind) and not state.working)
        self._foot.setVisible(bool(text))

    # What the user does

    def choose(self, index: int) -> None:
        """Shows the facts of a shard."""
        self.grid.select(index)
        self.facts.show_shard(index)

    def _activated(self, index: int) -> None:
        self.choose(index)
        if pairs := self._state.pairs_of(index):
            self._show_pairs(pairs)
        elif not self._state.why_not_open(index):
            self._state.open_shard(index)

    def _show_pairs(self, pairs: tuple[int, ...]) -> None:
        look = self._state.look
        if pairs and look is not None:
            self.pairs_wanted.emit(pairs, f"of shard {Shard(look.of, self.grid.current)}")

    def _pause(self) -> None:
        look = self._state.look
        self._state.command("run" if look is not None and look.command.want != "run" else "pause")

    def _stop(self) -> None:
        self._state.command("stop")
