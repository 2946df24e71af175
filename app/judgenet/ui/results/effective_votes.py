"""What the neurons' votes are worth, which neurons go together, and which of them adds most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from judgenet.core.wording import of, percent, percent_interval, plural, points, ratio, ratio_interval
from judgenet.ui.context import Context
from judgenet.ui.elements import label, link
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.correlation_view import CorrelationView
from judgenet.ui.results.figures_table import NO_FIGURES, Column, FigureRow, FiguresTable
from judgenet.ui.results.latest import LatestComputation
from judgenet.ui.results.panel import Panel, stack
from judgenet.ui.results.point_chart import Picture, PointChart, PointMark, Tick, share_series, share_ticks, shares_of
from judgenet.ui.results.state import Results
from judgenet.ui.tasks import Job
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import TABLE_EDGE
from judgenet.ui.widgets import Segment

if TYPE_CHECKING:
    from judgenet.figures.panel import ChoiceFigures, PanelStudy, SetWorth, StepFigures
    from judgenet.figures.panel_worth import PanelWorth, VotesFigures
    from judgenet.store.frame import RunFrame

_NARROW: Final = 1200
"""Narrower than this many px at 100 % the chart stands below the table."""


@dataclass(frozen=True, slots=True)
class PanelReading:
    """What a run's panel of neurons is worth, and how its neurons go together."""

    worth: PanelWorth
    study: PanelStudy


class PanelState(QObject):
    """Reads a finished run's panel of neurons in a thread, and computes what any set of its neurons is worth.

    Attributes:
        reading: what was read, ``None`` where nothing was.
        why: why nothing was read.
        places: the neurons that are chosen, as places in ``reading.study.neurons``.
        set_worth: what the chosen neurons are worth; ``None`` while that is computed, or where none is chosen.

    Signals:
        changed: :attr:`reading` or :attr:`why` changed.
        set_changed: the chosen neurons, or what they are worth, changed.
    """

    changed = Signal()
    set_changed = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._frame: RunFrame | None = None
        self._latest = LatestComputation(context)
        self._set_number = 0
        self.reading: PanelReading | None = None
        self.why = ""
        self.places: tuple[int, ...] = ()
        self.set_worth: SetWorth | None = None
        context.document.opened.connect(self.forget)

    def forget(self) -> None:
        """Forgets everything: another project was opened."""
        self._latest.forget()
        self.reading = self._frame = None
        self.choose(())
        self.changed.emit()

    def look(self, results: Results, *, live: bool) -> None:
        """Reads a run, unless it was read before; not while it is running."""
        key = (results.run.id, results.run.finished_at, results.report.data.finished, results.labels_key)
        if live:
            self.why = texts.COMPUTED_AT_THE_END
            self.forget()
            return
        if not self._latest.is_new(key):
            return
        if len(results.frame.places) < 2:
            self._frame = None
            self.choose(())
            self._end(None, "")
            return
        if self._frame is None or self._frame.run.id != results.run.id:
            self.choose(())
        self._frame, self.reading, self.why = results.frame, None, texts.VERDICTS_ARE_READ
        self.changed.emit()
        self._latest.start_job(
            texts.CALCULATE_VOTES,
            partial(_panel, results.frame),
            partial(self._end, why=""),
            about=results.run.id,
            stopped=partial(self._end, None, texts.STOPPED),
        )

    def _end(self, panel: PanelReading | None, why: str) -> None:
        self.reading, self.why = panel, why
        self.changed.emit()
        if panel is not None and self.places:
            # Labels changed: the set that was chosen is worth something else.
            self.choose(self.places)

    def choose(self, places: tuple[int, ...]) -> None:
        """Chooses neurons; what they are worth is computed in a thread."""
        self._set_number += 1
        self.places, self.set_worth = places, None
        self.set_changed.emit()
        if places and self._frame is not None:
            self._context.tasks.start(self._value(self._frame, places, self._set_number), texts.CALCULATE_NEURONS)

    async def _value(self, frame: RunFrame, places: tuple[int, ...], number: int) -> None:
        from judgenet.figures.panel import set_worth

        worth = await self._context.tasks.off_thread(set_worth, frame, places)
        if number == self._set_number:
            self.set_worth = worth
            self.set_changed.emit()


def _panel(frame: RunFrame, job: Job) -> PanelReading:
    from judgenet.figures.panel import panel_study
    from judgenet.figures.panel_worth import panel_worth

    worth = panel_worth(frame)
    job.share_is(0.4)
    return PanelReading(worth, panel_study(frame))


class WorthPanel(Panel):
    """The effective votes of all neurons, of layers and models, and of the neurons that are chosen in the map."""

    def __init__(self, state: PanelState, parent: QWidget | None = None) -> None:
        self._state = state
        titles = (texts.BASIS, texts.VOTES_COLUMN, texts.MEAN_R, "n")
        columns = [
            Column(texts.NEURONS_CHOICE, "name"),
            *(Column(title, "extra", at) for at, title in enumerate(titles)),
        ]
        self.table = FiguresTable(texts.EFFECTIVE_VOTES, columns, most=18)
        self.note = label("", tone="text2", wrap=True)
        self.clear = link(texts.CHOOSE_NONE)
        super().__init__(texts.VOTES_WORTH, flush=True, parent=parent)
        self.body.addWidget(self.table)
        self._foot = QHBoxLayout()
        self._foot.addWidget(self.note, 1)
        self._foot.addWidget(self.clear)
        self.body.addLayout(self._foot)
        self.body.addStretch(1)
        self.clear.clicked.connect(lambda: state.choose(()))
        state.changed.connect(self._fill)
        state.set_changed.connect(self._fill)
        measure(self.body, spacing=0)
        measure(self._foot, margins=(TABLE_EDGE, 10, TABLE_EDGE, 10), spacing=12)
        self._fill()

    def _fill(self) -> None:
        from judgenet.report.outline_panel import KISH, worth_reasons, worth_rows

        state, panel = self._state, self._state.reading
        self.setVisible(panel is not None or bool(state.why))
        self.table.setVisible(panel is not None)
        self.clear.setVisible(bool(state.places))
        if panel is None:
            self.say("")
            self.note.setText(state.why)
            return
        worth = panel.worth
        self.say(plural(len(panel.study.neurons), "neuron"))
        rows = [_worth_row(f"{name} ({votes.neurons:,})", basis, votes) for name, basis, votes in worth_rows(worth)]
        if state.places:
            name = texts.chosen_neurons(len(state.places))
            if state.set_worth is None:
                rows.append(FigureRow(name, NO_FIGURES, subject=True, extra=("", "…", "", "")))
            else:
                rows += [
                    _worth_row(name, basis, votes, subject=True)
                    for basis, votes in (("errors", state.set_worth.errors), ("verdicts", state.set_worth.verdicts))
                ]
        self.table.show_rows(rows)
        shown = list(worth_rows(worth))
        if state.set_worth is not None:
            shown += [
                (texts.CHOSEN, "errors", state.set_worth.errors),
                (texts.CHOSEN, "verdicts", state.set_worth.verdicts),
            ]
        notes = [f"{name}: {why}." for name, why in worth_reasons(shown)]
        missing = worth.network.n_missing
        if missing:
            notes.append(texts.missing_is_not_right(missing))
        notes.append(KISH)
        if not state.places:
            notes.append(texts.CHOOSE_IN_MAP)
        self.note.setText(" ".join(notes))


def _worth_row(name: str, basis: str, votes: VotesFigures, *, subject: bool = False) -> FigureRow:
    value = f"{ratio(votes.value)} {ratio_interval(votes.ci)}".strip()
    return FigureRow(
        name,
        NO_FIGURES,
        subject=subject,
        extra=(basis, value, ratio(votes.correlation), of(votes.n, votes.n_total)),
    )


class CorrelationPanel(Panel):
    """The heat map of the correlations of errors, or of verdicts, with the dendrogram."""

    def __init__(self, state: PanelState, parent: QWidget | None = None) -> None:
        self._state = state
        self.by = Segment(texts.CORRELATION_OF, [("errors", texts.ERRORS), ("verdicts", texts.VERDICTS)])
        self.view = CorrelationView()
        self.readout = label(texts.MAP_HINT, tone="text2", wrap=True)
        super().__init__(texts.NEURONS_TOGETHER, parent=parent)
        self.head.insertWidget(1, self.by)
        self.body.addWidget(self.view)
        self.body.addWidget(self.readout)
        self.body.addStretch(1)
        self._by_user = False
        self.by.chosen.connect(self._turned)
        self.view.pointed.connect(self._tell)
        self.view.chosen.connect(state.choose)
        state.changed.connect(self._fill)
        state.set_changed.connect(lambda: self.view.mark(state.places))
        measure(self.readout, font="body", tabular=True)
        self._fill()

    def _turned(self, _key: str) -> None:
        self._by_user = True
        self._fill()

    def _tell(self, words: str) -> None:
        self.readout.setText(words or texts.MAP_HINT)

    def _fill(self) -> None:
        panel = self._state.reading
        self.setVisible(panel is not None)
        if panel is None:
            self._by_user = False
            self.view.show_map(None, (), "")
            return
        correlations = panel.study.correlations
        if not self._by_user:
            self.by.set_current("errors" if correlations.errors.reason is None else "verdicts")
        basis = self.by.current
        shown = correlations.errors if basis == "errors" else correlations.verdicts
        self.view.setVisible(shown.reason is None)
        if shown.reason is not None:
            self.say("")
            self.readout.setText(texts.not_available(shown.reason))
            return
        self.say(texts.count_of_pairs(of(shown.pairs, shown.pairs_total)))
        self.view.show_map(shown, panel.study.neurons, basis)
        self.view.mark(self._state.places)
        self.readout.setText(texts.MAP_HINT)


class AddsPanel(Panel):
    """Panels that grow neuron by neuron, chosen by effective votes or by labels, and measured on questions that did not
    choose them."""

    def __init__(self, state: PanelState, parent: QWidget | None = None) -> None:
        self._state = state
        self.by = Segment(texts.CHOSEN_BY, [("votes", texts.BY_EFFECTIVE_VOTES), ("labels", texts.BY_LABELS)])
        titles = (
            texts.VOTES_COLUMN,
            texts.ACCURACY_PERCENT,
            texts.ALL_OF_SIZE_PERCENT,
            texts.WITH_FIRST_PERCENT,
            texts.MORE_POINTS,
        )
        columns = [Column(texts.ADDS, "name"), *(Column(title, "extra", at) for at, title in enumerate(titles))]
        self.table = FiguresTable(texts.PANELS_BY_SIZE, columns, most=10)
        self.chart = PointChart(texts.PANELS_ACCURACY, texts.PANELS_HINT)
        self.note = label("", tone="text2", wrap=True)
        super().__init__(texts.ADDS_MOST, flush=True, parent=parent)
        self.head.insertWidget(1, self.by)
        self._row = QHBoxLayout()
        column = QVBoxLayout()
        column.addWidget(self.table)
        column.addStretch(1)
        self._row.addLayout(column, 66)
        self._plot = QHBoxLayout()
        self._plot.addWidget(self.chart)
        self._row.addLayout(self._plot, 34)
        self.body.addLayout(self._row)
        self.body.addWidget(self.note)
        self.body.addStretch(1)
        self.by.chosen.connect(lambda _key: self._fill())
        state.changed.connect(self._fill)
        measure(self.body, spacing=0)
        measure(self._row, spacing=8)
        measure(self.chart, height=300)
        measure(self._plot, margins=(TABLE_EDGE, 0, TABLE_EDGE, 0))
        measure(self.note, margins=(TABLE_EDGE, 10, TABLE_EDGE, 10))
        self._fill()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        stack(self._row, self.width() < current_theme().px(_NARROW))

    def _fill(self) -> None:
        from judgenet.report.outline_panel import chosen_note

        panel = self._state.reading
        self.setVisible(panel is not None)
        if panel is None:
            return
        choice = panel.study.choice.votes if self.by.current == "votes" else panel.study.choice.labels
        known = choice.reason is None
        self.table.setVisible(known)
        self.chart.setVisible(known)
        if not known:
            self.say("")
            self.note.setText(texts.not_available(choice.reason or ""))
            return
        self.say(texts.pairs_and_folds(of(choice.n, choice.n_total), choice.folds))
        self.table.show_rows([_step_row(step) for step in choice.steps])
        self.chart.go_to(None)
        self.chart.show_picture(choice_picture(choice))
        self.note.setText(chosen_note(len(panel.worth.layers)))


def _step_row(step: StepFigures) -> FigureRow:
    from judgenet.report.outline_panel import gain_text

    right = step.accuracy
    cells = (
        ratio(step.votes),
        f"{percent(right.value, unit=False)} {percent_interval(right.ci)}".strip(),
        percent(step.random, unit=False),
        percent(step.with_first, unit=False),
        "–" if step.size == 1 else gain_text(step.gain_over_first),
    )
    return FigureRow(f"{step.size}  {step.neuron}", NO_FIGURES, extra=cells)


def choice_picture(choice: ChoiceFigures) -> Picture:
    """Accuracy by size: of the chosen panels, of all panels, and of those with the same first neuron."""
    chosen, every, first = [], [], []
    for step in choice.steps:
        right, size = step.accuracy, plural(step.size, "neuron")
        if right.value is None:
            continue
        gain = "" if step.gain.value is None else texts.against_mean(points(step.gain.value))
        share = f"{percent(right.value)} {percent_interval(right.ci)}"
        words = texts.neuron_added(size, step.neuron, share, gain, right.n)
        chosen.append(PointMark(float(step.size), right.value, words, right.ci))
        words = texts.all_panels(size, percent(step.random), right.n)
        every.append(PointMark(float(step.size), step.random, words))
        words = texts.panels_with_first(size, percent(step.with_first), right.n)
        first.append(PointMark(float(step.size), step.with_first, words))
    lines = {texts.CHOSEN: chosen, texts.WITH_FIRST: first, texts.ALL_OF_SIZE: every}
    series = share_series(lines.items(), "band")
    ticks: tuple[Tick, ...] = tuple((float(step.size), f"{step.size}") for step in choice.steps)
    return Picture(series, ticks, share_ticks(shares_of(series)), texts.NEURONS_AXIS)
