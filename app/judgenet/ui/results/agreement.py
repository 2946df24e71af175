"""How the network agrees with people: by aggregation, where they differ, and by layer, neuron, role and task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from judgenet.core.pairs import Verdict
from judgenet.core.wording import SPOKEN, aggregation_title, of, percent, percent_interval, plural, points
from judgenet.report.model import Report
from judgenet.report.outline_figures import agreement_note
from judgenet.report.outline_tables import in_order, layer_name, neuron_name, share_of
from judgenet.report.selection import ConfusionCell, OfAggregation, OfNeuron, OfRole, OfTask, PairSelection
from judgenet.ui.elements import label, link
from judgenet.ui.measures import measure
from judgenet.ui.plotting import ReferenceLine
from judgenet.ui.results import texts
from judgenet.ui.results.figures_table import Column, FigureRow, FiguresTable, agreement_columns
from judgenet.ui.results.panel import Panel
from judgenet.ui.results.point_chart import (
    Picture,
    PointChart,
    PointMark,
    Series,
    Tick,
    Upright,
    baseline_line,
    share_ticks,
)
from judgenet.ui.results.selection_titles import selection_words
from judgenet.ui.results.verdict_grid import SHOWN, GridCell, VerdictGrid
from judgenet.ui.tokens import TABLE_EDGE
from judgenet.ui.widgets import Segment

_PLACE: Final[dict[Verdict, int]] = {"a": 0, "b": 1, "tie": 2}


class AgreementPanel(Panel):
    """A table of aggregations by metric. The selected row is the aggregation that the other panels show.

    Signals:
        aggregation_chosen: the name of an aggregation.
        verdict_wanted: the name of the aggregation that is to give the network's verdict.
        data_wanted: the pairs are wanted on the page Data, where labels come from.
    """

    aggregation_chosen = Signal(object)
    verdict_wanted = Signal(str)
    data_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.table = FiguresTable(
            texts.AGREEMENT_BY_AGGREGATION,
            agreement_columns(texts.AGGREGATION),
            most=12,
        )
        self.note = label("", tone="text2", wrap=True)
        self.data_link = link(texts.SHOW_PAIRS_UNDER_DATA)
        self.verdict_link = link("")
        super().__init__(texts.AGREEMENT, flush=True, parent=parent)
        self.body.setSpacing(0)
        self.body.addWidget(self.table)
        self._foot = QHBoxLayout()
        self._foot.addWidget(self.note, 1)
        self._foot.addWidget(self.verdict_link)
        self._foot.addWidget(self.data_link)
        self.body.addLayout(self._foot)
        self.body.addStretch(1)
        self.table.current_changed.connect(self.aggregation_chosen)
        self.data_link.clicked.connect(self.data_wanted)
        self.verdict_link.clicked.connect(self._want_verdict)
        self._decides = self._aggregation = ""
        measure(self.body, spacing=0)
        measure(self._foot, margins=(TABLE_EDGE, 10, TABLE_EDGE, 10), spacing=16)

    def show_report(self, report: Report, aggregation: str, *, at_any_time: bool = False) -> None:
        """Shows the aggregations of a report; ``aggregation`` is the selected one. ``at_any_time``: whether the
        report's intervals are valid at any time."""
        rows = [
            FigureRow(aggregation_title(name), report.aggregations[name], name, subject=name == report.decides)
            for name in in_order(report)
        ]
        baseline = None
        if report.baseline is not None:
            baseline = report.baseline.figures.agreement.accuracy
            rows.append(FigureRow(texts.always(SPOKEN[report.baseline.label]), report.baseline.figures))
        self.table.show_rows(rows, baseline=baseline)
        self.table.set_current(aggregation)
        labelled = report.headline.agreement.n_used > 0
        self.note.setText(
            agreement_note(report).removeprefix(f"{texts.INTERVALS_IN_BRACKETS}. ") if labelled else texts.NO_LABELS
        )
        kind = texts.INTERVALS_AT_ANY_TIME if at_any_time else texts.INTERVALS_IN_BRACKETS
        self.say(kind if labelled else "")
        self.data_link.setVisible(not labelled)
        self._decides = report.decides
        self.look_at(aggregation)

    def look_at(self, aggregation: str) -> None:
        """Selects an aggregation, and offers a link that lets it give the verdict."""
        self._aggregation = aggregation
        title = aggregation_title(aggregation)
        self.verdict_link.setText(texts.let_it_decide(title))
        self.verdict_link.setAccessibleName(self.verdict_link.text())
        self.verdict_link.setVisible(aggregation != self._decides)

    def _want_verdict(self) -> None:
        self.verdict_wanted.emit(self._aggregation)


class DifferPanel(Panel):
    """The confusion of one aggregation with people, each cell of which leads to its pairs.

    Signals:
        chosen: a selection of pairs, ``None`` where a cell was clicked again.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.grid = VerdictGrid(texts.NETWORK_SAID, texts.PEOPLE_SAID)
        self.words = label("", wrap=True)
        super().__init__(texts.WHERE_THEY_DIFFER, parent=parent)
        self.body.addWidget(self.grid)
        self.body.addStretch(1)
        self.body.addWidget(self.words)
        self.grid.chosen.connect(self._clicked)
        self._report: Report | None = None
        self._aggregation = ""
        self._place: GridCell | None = None

    def show_report(self, report: Report, aggregation: str) -> None:
        """Shows the confusion of an aggregation with people."""
        if aggregation != self._aggregation:
            self._place = None
        self._report, self._aggregation = report, aggregation
        agreement = report.aggregations[aggregation].agreement
        self.say(aggregation_title(aggregation))
        self.grid.show_counts(
            {
                (verdict, human): agreement.confusion[_PLACE[human]][_PLACE[verdict]]
                for verdict in SHOWN
                for human in SHOWN
            }
        )
        self.setVisible(agreement.n_used > 0)
        self.grid.select(self._place)
        self._tell()

    def select(self, chosen: PairSelection | None) -> None:
        """Marks the cell of a selection that was made elsewhere, or none."""
        mine = isinstance(chosen, ConfusionCell) and chosen.aggregation == self._aggregation
        self._place = (chosen.said, chosen.human) if mine and isinstance(chosen, ConfusionCell) else None
        self.grid.select(self._place)
        self._tell()

    def _clicked(self, place: GridCell | None) -> None:
        self._place = place
        self._tell()
        self.chosen.emit(None if place is None else ConfusionCell(self._aggregation, *place))

    def _tell(self) -> None:
        report, place = self._report, self._place
        if report is None:
            return
        agreement = report.aggregations[self._aggregation].agreement
        if place is None:
            wrong = agreement.n_used - sum(agreement.confusion[row][row] for row in range(3))
            text = texts.off_the_diagonal(plural(wrong, "pair"), agreement.n_used)
            self.words.setText(text if agreement.n_used else "")
            return
        verdict, human = place
        count = agreement.confusion[_PLACE[human]][_PLACE[verdict]]
        self.words.setText(
            f"{plural(count, 'pair')}: {selection_words(ConfusionCell(self._aggregation, verdict, human), report)}"
        )


By = Literal["layer", "neuron", "role", "task"]
_BY: Final[tuple[tuple[By, str], ...]] = (
    ("layer", texts.LAYER),
    ("neuron", texts.NEURON),
    ("role", texts.ROLE),
    ("task", texts.TASK),
)
_MANY: Final = 4


_NAMES: Final = {"criterion": ("criterion", "criteria"), "role": ("role", "roles")}


def _role_word(report: Report) -> str:
    """What the neurons' roles are called in a run: ``role`` or ``criterion``."""
    return "criterion" if report.spec.roles.kind == "criteria" else "role"


class BreakdownPanel(Panel):
    """Accuracy by layer, neuron, role or task; a row leads to the pairs on which it was wrong.

    Signals:
        chosen: a selection of pairs.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.by = Segment(texts.ACCURACY_BY, [(key, text) for key, text in _BY])
        self.table = FiguresTable(texts.ACCURACY_BY_LAYER, (Column("", "name"),), most=14)
        self.note = label("", tone="text2", wrap=True)
        self.chart = PointChart(texts.ACCURACY_BY_LAYER, texts.BREAKDOWN_HINT)
        super().__init__(texts.ACCURACY_BY, flush=True, parent=parent)
        self.setAccessibleName(texts.ACCURACY_BY_PARTS)
        self.head.insertWidget(1, self.by)
        self.body.setSpacing(0)
        self.body.addWidget(self.table)
        self.body.addWidget(self.note)
        self._plot = QHBoxLayout()
        self._plot.addWidget(self.chart)
        self.body.addLayout(self._plot, 1)
        self.by.chosen.connect(self._turned)
        self.table.chosen.connect(self.chosen)
        self.chart.chosen.connect(self.chosen)
        self._report: Report | None = None
        self._aggregation = ""
        self._by_user = False
        measure(self.body, spacing=0)
        measure(self.note, margins=(TABLE_EDGE, 10, TABLE_EDGE, 10))
        measure(self._plot, margins=(TABLE_EDGE, 0, TABLE_EDGE, 8))

    def show_report(self, report: Report, aggregation: str) -> None:
        """Shows a report; accuracy by task is that of ``aggregation``."""
        self._report, self._aggregation = report, aggregation
        self.by.button("role").setText(_role_word(report).capitalize())
        if not self._by_user:
            # One layer by itself says what the whole network does.
            self.by.set_current("layer" if len(report.layers) > 1 else "neuron")
        self._fill()

    def _turned(self, _key: str) -> None:
        self._by_user = True
        self.table.clear_current()
        self._fill()

    def _fill(self) -> None:
        report = self._report
        if report is None:
            return
        key = self.by.current
        rows, columns, note = {
            "layer": self._layers,
            "neuron": self._neurons,
            "role": self._roles,
            "task": self._tasks,
        }[key](report)
        baseline = None
        notes = [note] if note else []
        if key != "task" and report.baseline is not None:
            baseline = report.baseline.figures.agreement.accuracy
            notes.insert(0, texts.dashed_line(SPOKEN[report.baseline.label], percent(baseline)))
        if not report.headline.agreement.n_used:
            rows = [replace(row, key=None) for row in rows]
        self.table.setAccessibleName(texts.accuracy_by(key))
        self.table.show_rows(rows, baseline=baseline, columns=columns)
        self.say(
            f"{aggregation_title(self._aggregation)}, {plural(len(rows), key)}"
            if key == "task"
            else plural(sum(row.figures is not None for row in rows), *_NAMES[_role_word(report)])
            if key == "role"
            else plural(sum(row.figures is not None for row in rows), key)
        )
        labelled = report.headline.agreement.n_used > 0
        if rows and labelled:
            notes.append(texts.ROW_LEADS_TO_PAIRS)
        self.note.setText(" ".join(notes))
        self.chart.setVisible(bool(rows) and labelled)
        self.chart.setAccessibleName(texts.accuracy_by(key))
        self.chart.go_to(None)
        base = None if key == "task" else baseline_line(report)
        self.chart.show_picture(rows_picture(rows, base, _role_word(report) if key == "role" else key))

    def _layers(self, report: Report) -> tuple[list[FigureRow], tuple[Column, ...], str]:
        rows = [
            FigureRow(
                texts.layer(layer.layer),
                layer.figures,
                OfAggregation(f"c2_l{layer.layer}", False),
                extra=(
                    share_of(layer.position.flip_rate, layer.position.n),
                    of(layer.calls_scored, layer.calls_total),
                ),
            )
            for layer in report.layers
        ]
        return rows, _columns(texts.LAYER, texts.ORDERS_DIFFER, texts.CALLS_SCORED), ""

    def _neurons(self, report: Report) -> tuple[list[FigureRow], tuple[Column, ...], str]:
        rows: list[FigureRow] = []
        before = 0
        for neuron in report.neurons:
            if neuron.layer != before:
                before = neuron.layer
                if len(report.neurons) > 1:
                    rows.append(FigureRow(layer_name(report, neuron.layer)))
            changed = neuron.changed
            rows.append(
                FigureRow(
                    neuron_name(report, neuron),
                    neuron.figures,
                    OfNeuron(neuron.layer, neuron.neuron, False),
                    extra=(
                        share_of(neuron.position.flip_rate, neuron.position.n),
                        "–" if changed is None else share_of(changed.rate, changed.n),
                        "–" if changed is None or changed.gain is None else points(changed.gain),
                    ),
                )
            )
        note = ""
        if len(report.neurons) > _MANY:
            note = texts.best_of_many(len(report.neurons))
        return rows, _columns(texts.NEURON, texts.ORDERS_DIFFER, texts.CHANGED_ITS_MIND, texts.GAIN_BY_CHANGES), note

    def _roles(self, report: Report) -> tuple[list[FigureRow], tuple[Column, ...], str]:
        rows = [
            FigureRow(role.role, role.figures, OfRole(role.role, False), extra=(f"{role.pairs:,}",))
            for role in report.roles
        ]
        role_word = _role_word(report)
        role_words = "criteria" if role_word == "criterion" else "roles"
        note = texts.verdict_of_role(role_word, role_words) if rows else texts.NO_ROLES
        return rows, _columns(_role_word(report).capitalize(), texts.PAIRS_JUDGED), note

    def _tasks(self, report: Report) -> tuple[list[FigureRow], tuple[Column, ...], str]:
        rows = []
        for task in report.tasks:
            baseline = None if task.baseline is None else task.baseline.figures.agreement.accuracy
            rows.append(
                FigureRow(
                    task.task or texts.NO_TASK,
                    task.figures[self._aggregation],
                    OfTask(task.task, self._aggregation, False),
                    baseline=baseline,
                    extra=(percent(baseline, unit=False),),
                )
            )
        note = texts.TASK_BASELINE
        return rows, _columns(texts.TASK, texts.MOST_COMMON_LABEL), note


_NAMED: Final = 8
"""Up to so many marks have their names below the axis; with more, numbers stand there."""
_LETTERS: Final = 56
"""The names below the axis are cut so that all of them together have at most so many letters."""


def rows_picture(rows: Sequence[FigureRow], base: ReferenceLine | None, word: str) -> Picture:
    """The accuracies of a table's rows with their intervals, one mark a row; groups that headings open are series."""
    groups: list[tuple[str, list[PointMark]]] = []
    names: list[Tick] = []
    shares = [] if base is None else [base.y]
    for row in rows:
        if row.figures is None or not groups:
            groups.append((row.name if row.figures is None else "", []))
        if row.figures is None:
            continue
        agreement, interval = row.figures.agreement, row.figures.intervals.accuracy
        if agreement.accuracy is None:
            continue
        group = groups[-1][0]
        at = len(names) + 1
        words = texts.accuracy_of(
            f"{group}, {row.name}" if group else row.name,
            percent(agreement.accuracy),
            percent_interval(interval),
            of(*row.figures.used),
        )
        groups[-1][1].append(PointMark(float(at), agreement.accuracy, words, interval, row.key))
        names.append((float(at), row.name))
        shares += [agreement.accuracy, *(interval or ())]
    if len(names) > _NAMED:
        step = -(-len(names) // _NAMED)
        names = [(at, f"{at:.0f}") for at, _ in names if (at - 1) % step == 0]
    else:
        most = _LETTERS // max(1, len(names))
        names = [(at, name if len(name) <= most else f"{name[: most - 1]}…") for at, name in names]
    series = tuple(
        Series(name, tuple(spots), place, joined=False, spread="bars")
        for place, (name, spots) in enumerate(groups)
        if spots
    )
    uprights = tuple(Upright(line.spots[0].x - 0.5, "", line.name) for line in series if line.name)
    return Picture(series, tuple(names), share_ticks(shares), word, base, uprights)


def _columns(name: str, *extra: str) -> tuple[Column, ...]:
    return (
        Column(name, "name"),
        Column("", "place"),
        Column(texts.ACCURACY_PERCENT, "accuracy"),
        *(Column(title, "extra", place) for place, title in enumerate(extra)),
        Column(texts.N_USED, "used"),
    )
