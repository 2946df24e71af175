"""The view of all shards of the project: commands, figures, the grid with its legend, and the inspector."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QHideEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSplitter, QVBoxLayout, QWidget

from judgenet.core.shards import Shard
from judgenet.core.wording import money, of, percent, percent_interval, plural, spent_text
from judgenet.figures.shards import STATE_WORDS, shard_agreement
from judgenet.store.shard_watch import CELL_STATES, CellState, ShardSetLook
from judgenet.ui.canvas.ink import scaled_painter
from judgenet.ui.context import Context
from judgenet.ui.elements import ElidedLabel, label, line, link
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.shards import texts
from judgenet.ui.shards.facts import ShardFacts
from judgenet.ui.shards.grid import ShardGrid
from judgenet.ui.shards.stamps import draw_stamp
from judgenet.ui.shards.state import STATES_SHOWN
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import INSPECTOR, PANEL_INSIDE

_TITLES: Final = {
    "waiting": texts.WAITING,
    "running": texts.RUNNING,
    "paused": texts.PAUSED,
    "stopped": texts.STOPPED,
    "done": texts.ALL_DONE,
}
_GAP: Final = 28
_LEAST_IMPORTANT: Final = (
    texts.UNSCORED_FIGURE,
    texts.CALLS_PER_SECOND_FIGURE,
    texts.PAIRS_PER_SECOND_FIGURE,
    texts.ACCURACY_FIGURE,
    texts.PRICE_FIGURE,
)


def _title(look: ShardSetLook) -> str:
    """The title of the view: the state of the shards as a whole."""
    if look.state == "failed":
        return texts.failed_shards(plural(look.count("failed"), "shard"))
    if look.state == "silent":
        return texts.silent_shards(plural(look.count("silent"), "shard"))
    return _TITLES[look.state]


class _Figure(QWidget):
    """A figure with its name below it."""

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
        """Shows a value, and another name of the figure where one is given."""
        if value != self.value.text() or (name and name != self.name.text()):
            self.value.setText(value)
            self.name.setText(name or self.name.text())
            self.setAccessibleName(f"{self.name.text()}: {value}")
        self.setToolTip(tip)


class _Legend(QWidget):
    """The legend of the grid: each state with its number of shards."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: tuple[tuple[CellState, int], ...] = ()
        self._large = False
        measure(self, height=36)

    def show_counts(self, look: ShardSetLook, *, large: bool) -> None:
        """Shows how many shards are in each state; ``large``: with icons in the cells, as the grid has them."""
        counts = tuple((state, look.count(state)) for state in STATES_SHOWN)
        if (counts, large) != (self._counts, self._large):
            self._counts, self._large = counts, large
            self.setAccessibleName(", ".join(f"{count:,} {STATE_WORDS[state]}" for state, count in counts))
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, ink = scaled_painter(self)
        side = 20 if self._large else 14
        shown = [(state, count, f"{STATE_WORDS[state]} {count:,}") for state, count in self._counts]
        if PANEL_INSIDE + sum(side + 28 + ink.width(words) for *_, words in shown) > self.width() / ink.scale:
            # Not all states fit: leave out those without shards.
            shown = [entry for entry in shown if entry[1]]
        x = float(PANEL_INSIDE)
        for state, count, words in shown:
            filled = 4 if state == "running" else 0
            draw_stamp(painter, ink, QRectF(x, 18 - side / 2, side, side), CELL_STATES.index(state) * 16 + filled)
            ink.text(painter, x + side + 8, 22, words, color="text" if count else "text3", tabular=True)
            x += side + 28 + ink.width(words)


class ShardsView(QFrame):
    """The grid of shards beside the inspector of one.

    Signals:
        pairs_wanted: the places in the run of pairs to show, and why they are listed.
    """

    pairs_wanted = Signal(object, str)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setAccessibleName(texts.ALL_SHARDS)
        self._context = context
        self._state = context.shards
        self.title = label("", "title")
        self.message = ElidedLabel(tone="text2")
        self.pause = QPushButton(texts.PAUSE)
        self.stop = QPushButton(texts.STOP)
        self.merge = QPushButton(texts.MERGE)
        self.figures = {
            name: _Figure(name)
            for name in (
                texts.DONE_SHARDS_FIGURE,
                texts.PAIRS_FIGURE,
                texts.PAIRS_PER_SECOND_FIGURE,
                texts.CALLS_PER_SECOND_FIGURE,
                texts.PRICE_FIGURE,
                texts.UNSCORED_FIGURE,
                texts.ACCURACY_FIGURE,
            )
        }
        self.grid = ShardGrid(self._description)
        self.grid.setAccessibleName(texts.GRID)
        self.legend = _Legend()
        self.note = ElidedLabel(tone="text2")
        self.take_in = link(texts.READ_ENDED)
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
        self.across.setAccessibleName(texts.INSPECTOR_WIDTH)
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
        self._context.theme.changed.connect(self._redraw)

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
        """Hides figures that do not fit, the least important ones first."""
        theme = current_theme()
        room = self._left.width() - 2 * theme.px(PANEL_INSIDE)
        needed = {name: figure.sizeHint().width() + theme.px(_GAP) for name, figure in self.figures.items()}
        hidden: set[str] = set()
        for name in _LEAST_IMPORTANT:
            if sum(width for figure, width in needed.items() if figure not in hidden) <= room:
                break
            hidden.add(name)
        for name, figure in self.figures.items():
            figure.setVisible(name not in hidden)

    def _redraw(self) -> None:
        self.grid.viewport().update()
        self.legend.update()

    # What is shown

    def _description(self, index: int) -> str:
        """A shard in one line, for tooltips and screen readers."""
        look = self._state.look
        if look is None:
            return ""
        text = texts.shard_state(str(Shard(look.of, index)), STATE_WORDS[look.state_of(index)])
        report = look.reports.get(index)
        if report is None:
            return text
        progress = texts.shard_progress(text, of(report.pairs_done, report.pairs))
        return f"{progress}, {report.worker}" if report.worker else progress

    def refresh(self) -> None:
        """Shows the current state."""
        look = self._state.look
        if look is None or not self.isVisible():
            return
        self.grid.show_stamps(self._state.stamps)
        self.legend.show_counts(look, large=self.grid.large)
        self._show_figures(look)
        report = look.set_report
        led = texts.led_by(report.engine.capitalize()) if report is not None and report.engine else ""
        self.title.setText(_title(look))
        self.message.say(f"{led}{report.message if report is not None else ''}".strip())
        self._fit()
        self._show_commands(look)
        self._show_note(look)
        self.facts.refresh()

    def _show_figures(self, look: ShardSetLook) -> None:
        figures = self.figures
        figures[texts.DONE_SHARDS_FIGURE].say(of(look.count("done"), look.of))
        pairs = f"{look.pairs_done:,}" if look.pairs is None else of(look.pairs_done, look.pairs)
        figures[texts.PAIRS_FIGURE].say(pairs, "" if look.pairs is not None else texts.PAIRS_UNKNOWN)
        for name, rate in (
            (texts.PAIRS_PER_SECOND_FIGURE, look.pairs_per_second),
            (texts.CALLS_PER_SECOND_FIGURE, look.calls_per_second),
        ):
            if look.goes_on and rate is not None:
                figures[name].say(f"{rate:,.1f}")
            else:
                figures[name].say("n/a", texts.RATE_UNKNOWN_YET if look.goes_on else texts.NONE_RUNNING)
        price = money(look.price) if look.price or not look.unpriced else texts.PRICE_UNKNOWN
        partly = bool(look.price and look.unpriced)
        name = texts.price_partly_unknown(f"{look.unpriced:,}") if partly else texts.PRICE_FIGURE
        figures[texts.PRICE_FIGURE].say(price, spent_text(look.price, look.unpriced), name)
        figures[texts.UNSCORED_FIGURE].say(f"{look.unscored:,}", texts.of_calls(plural(look.calls, "call")))
        self._show_accuracy(look)

    def _show_accuracy(self, look: ShardSetLook) -> None:
        figure, agreement = self.figures[texts.ACCURACY_FIGURE], shard_agreement(look)
        if agreement is None:
            figure.say("n/a", texts.NO_LABELS)
            return
        interval = f" {percent_interval(agreement.ci)}" if agreement.ci is not None else ""
        labelled, shards = of(agreement.n, agreement.n_labelled), of(agreement.shards, look.of)
        basis = texts.accuracy_basis(agreement.aggregation, labelled, shards)
        figure.say(f"{percent(agreement.accuracy)}{interval}", f"{basis} {agreement.reason or ''}")

    def _show_commands(self, look: ShardSetLook) -> None:
        held = look.command.want != "run"
        self.pause.setText(texts.RESUME if held else texts.PAUSE)
        self.pause.setIcon(icon("play" if held else "pause", "text"))
        self.pause.setAccessibleName(texts.RESUME_ALL if held else texts.PAUSE_ALL)
        self.pause.setEnabled(held or look.goes_on)
        self.pause.setToolTip("" if held or look.goes_on else texts.NONE_RUNNING)
        self.stop.setEnabled(look.goes_on and look.command.want != "stop")
        self.stop.setText(texts.STOPPING if look.goes_on and look.command.want == "stop" else texts.STOP)
        self.stop.setAccessibleName(texts.STOP_ALL)
        self.merge.setVisible(not look.goes_on and self._state.unmerged)
        why = self._state.why_not_merge()
        self.merge.setEnabled(not why)
        self.merge.setToolTip(why or texts.MERGE_TIP)

    def _show_note(self, look: ShardSetLook) -> None:
        state = self._state
        text = ""
        if state.working:
            text = texts.READING
        elif state.reads_index:
            text = texts.shards_in_results(of(state.indexed, look.of))
            if state.behind:
                text += texts.ended_since(plural(state.behind, texts.MORE_HAS, texts.MORE_HAVE))
        elif look.ended == 0:
            text = texts.RESULTS_LATER
        self.note.say(text)
        self.take_in.setVisible(bool(state.behind) and not state.working)
        self._foot.setVisible(bool(text))

    # What the user does

    def choose(self, index: int) -> None:
        """Selects a shard in the grid and shows it in the inspector."""
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
            self.pairs_wanted.emit(pairs, texts.pairs_of_shard(str(Shard(look.of, self.grid.current))))

    def _pause(self) -> None:
        look = self._state.look
        self._state.command("run" if look is not None and look.command.want != "run" else "pause")

    def _stop(self) -> None:
        self._state.command("stop")
