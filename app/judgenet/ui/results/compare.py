"""Two runs side by side, compared on the pairs that both judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from judgenet.core.network_changes import Change
from judgenet.core.wording import (
    aggregation_title,
    minus,
    p_value,
    percent,
    plural,
    points,
    points_interval,
    ratio,
    ratio_interval,
)
from judgenet.figures.comparison import Compared
from judgenet.figures.judges import network_words
from judgenet.figures.power import at_words, plan_words
from judgenet.report.blocks import Given, Line, Strong
from judgenet.report.selection import Turn
from judgenet.stats.comparison import Difference
from judgenet.store.runs import RunInfo
from judgenet.ui.elements import label, link
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.figures_table import FigureRow, FiguresTable, agreement_columns
from judgenet.ui.results.headline import NoticeStrip
from judgenet.ui.results.line_label import LineLabel
from judgenet.ui.results.panel import Panel
from judgenet.ui.results.run_choice import called
from judgenet.ui.results.state import OtherRun, Results
from judgenet.ui.tokens import TABLE_EDGE

_FIGURES: Final = {
    "accuracy": texts.ACCURACY,
    "macro_f1": texts.MACRO_F1,
    "kappa": texts.KAPPA,
    "rate": texts.CORRECTED_WIN_RATE,
}
_IN_PERCENT: Final = ("accuracy", "rate")
_HEADS: Final = ("", texts.FIRST, texts.SECOND, texts.DIFFERENCE, texts.INTERVAL, "n")
_TONES: Final = ("text2", "", "", "", "text2", "text2")
_DIFFERENCE: Final = 3
_WHAT: Final = {
    "network": texts.THE_NETWORK,
    "prompts": texts.THE_PROMPTS,
    "model": texts.MODEL_ASKED,
    "returned_model": texts.MODEL_THAT_ANSWERED,
}


def _side(place: int) -> Qt.AlignmentFlag:
    return Qt.AlignmentFlag.AlignLeft if place == 0 else Qt.AlignmentFlag.AlignRight


def _signed(value: float) -> str:
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0 else minus(text)


_MOST_CHANGES: Final = 6
"""At most so many differences between two networks are listed; the others are counted."""


def differing_line(beside: OtherRun, mine: RunInfo) -> Line:
    """What makes two runs different judges, from the older run to the newer, and what follows from that; an empty line
    where nothing differs."""
    differing = beside.differing
    if not differing:
        return ()
    other = beside.other.run
    swapped = mine.number > other.number
    older, newer = (other, mine) if swapped else (mine, other)
    parts: list[str | Strong | Given] = [
        Strong(texts.DIFFERENT_JUDGES),
        texts.they_differ_in(older.number, newer.number),
    ]

    def arrow(values: tuple[str, str]) -> list[str | Strong | Given]:
        first, second = reversed(values) if swapped else values
        return [Given(first or texts.NONE), " → ", Given(second or texts.NONE)]

    for place, (name, values) in enumerate(differing.items()):
        parts.append(f"{'; ' if place else ''}{_WHAT[name]}")
        if name == "network":
            parts += _network_parts(beside.changes, (network_words(older), network_words(newer)))
        elif name != "prompts":
            parts += [": ", *arrow(values)]
    return (*parts, ".")


def _network_parts(changes: Sequence[Change], names: tuple[str, str]) -> list[str | Strong | Given]:
    parts: list[str | Strong | Given] = []
    if names[0] != names[1]:
        parts += [": ", Given(names[0]), " → ", Given(names[1])]
    for change in changes[:_MOST_CHANGES]:
        parts += [", " if parts else ": ", Given(change.what), ": ", Given(change.first), " → ", Given(change.second)]
    if len(changes) > _MOST_CHANGES:
        parts.append(texts.more_differences(plural(len(changes) - _MOST_CHANGES, "more difference")))
    return parts


def _gain_line(beside: OtherRun, one: str) -> Line:
    """What the run in focus gains over the other one on the pairs that both judged, or why that is not known."""
    overturns = beside.comparison.overturns
    if not beside.common:
        return (texts.NO_COMMON_PAIR,)
    common = plural(beside.common, "pair")
    if overturns.gain is None:
        return (texts.no_gain(common, overturns.reasons.get("gain", "")),)
    over_questions = beside.compared.figures.questions_p
    test = (
        texts.mcnemar(p_value(overturns.p))
        if over_questions is None
        else texts.mcnemar_over_questions(p_value(over_questions))
    )
    labelled = plural(overturns.n_labelled, "labelled pair")
    return (
        Strong(texts.gain_for(points(overturns.gain), one.lower())),
        texts.on_common_pairs(labelled, common, test),
    )


class ComparePanel(Panel):
    """The figures of two runs, and the pairs on which only one of them is right.

    Signals:
        pairs_wanted: places of pairs in the run in focus, and in words which pairs they are.
        closed: the user closes the comparison.
    """

    pairs_wanted = Signal(object, str)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.table = FiguresTable(
            texts.TWO_RUNS,
            agreement_columns(texts.RUN),
        )
        self.line = LineLabel()
        self.warning = NoticeStrip()
        self.differences = {name: tuple(label("", tone=tone) for tone in _TONES) for name in _FIGURES}
        self.reasons = label("", tone="text2", wrap=True)
        self.plan = label("", tone="text2", wrap=True)
        self.close_link = link(texts.CLOSE_COMPARISON)
        super().__init__(texts.TWO_RUNS, flush=True, parent=parent)
        self.head.addWidget(self.close_link)
        self._turns: tuple[Turn, ...] = ("right", "wrong", "all")
        self.links: dict[Turn, QPushButton] = {turn: link("") for turn in self._turns}
        self._grid = QGridLayout()
        self._grid.setColumnStretch(3, 1)
        for turn in self._turns:
            column = self._turns.index(turn)
            self._grid.addWidget(self.links[turn], 0, column)
            self.links[turn].clicked.connect(self._clicked)
        self._lay_out()

    def _lay_out(self) -> None:
        self._figures = QGridLayout()
        self._figures.setColumnStretch(len(_TONES), 1)
        for place, title in enumerate(_HEADS):
            head = label(title, "strong", "text2")
            self._figures.addWidget(head, 0, place, _side(place))
        for row, (name, cells) in enumerate(self.differences.items(), 1):
            cells[0].setText(_FIGURES[name])
            for place, cell in enumerate(cells):
                self._figures.addWidget(cell, row, place, _side(place))
                measure(cell, font="node" if place == _DIFFERENCE else "body", tabular=True)
        self._inner = QGridLayout()
        self._inner.addLayout(self._figures, 0, 0)
        self._inner.addWidget(self.reasons, 1, 0)
        self._inner.addWidget(self.line, 2, 0)
        self._inner.addWidget(self.plan, 3, 0)
        self._inner.addLayout(self._grid, 4, 0)
        self._top = QVBoxLayout()
        self._top.addWidget(self.warning)
        self.body.addLayout(self._top)
        self.body.addWidget(self.table)
        self.body.addLayout(self._inner)
        self.close_link.clicked.connect(self.closed)
        self._beside: OtherRun | None = None
        self._words: dict[Turn, str] = {}
        measure(self.body, spacing=0)
        measure(self._inner, margins=(TABLE_EDGE, 10, TABLE_EDGE, 10), spacing=8)
        measure(self._grid, across=24)
        measure(self._figures, across=24, down=4)
        measure(self._top, margins=(TABLE_EDGE, 0, TABLE_EDGE, 8))

    def show_both(self, mine: Results, beside: OtherRun) -> None:
        """Shows the run in focus and the run that it is compared with."""
        self._beside = beside
        other = beside.other
        one, two = texts.run(mine.run.number), texts.run(other.run.number)
        self.title.setText(texts.compared(one, two.lower()))
        rows = []
        for results in (mine, other):
            run, report = called(results.run).replace("&&", "&"), results.report
            name = f"{run}, {aggregation_title(report.decides)}, {report.spec.name}"
            rows.append(FigureRow(name, report.headline, subject=results is mine))
        self.table.show_rows(rows)
        self.warning.say(differing_line(beside, mine.run), warning=True)
        self._show_differences(beside.compared, one, two)
        sentences = plan_words(beside.plan), at_words(beside.plan)
        self.plan.setText(" ".join(f"{sentence}." for sentence in sentences if sentence))
        self.line.say(_gain_line(beside, one))
        self._show_links(one.lower(), two.lower())

    def _show_links(self, one: str, two: str) -> None:
        """Shows how many pairs only one of the two runs has right, each number as a link to its pairs."""
        assert self._beside is not None
        overturns = self._beside.comparison.overturns
        counts: dict[Turn, int] = {
            "right": overturns.to_right,
            "wrong": overturns.to_wrong,
            "all": overturns.overturned,
        }
        which: dict[Turn, str] = {
            "right": texts.only_right(one),
            "wrong": texts.only_right(two),
            "all": texts.THEY_DIFFER,
        }
        for turn in self._turns:
            button = self.links[turn]
            self._words[turn] = texts.pairs_compared(one, two, which[turn])
            button.setText(f"{plural(counts[turn], 'pair')}: {which[turn]}")
            button.setAccessibleName(button.text())
            button.setEnabled(counts[turn] > 0)
            button.setVisible(overturns.n > 0)

    def _show_differences(self, compared: Compared, one: str, two: str) -> None:
        differences: dict[str, Difference] = {**compared.figures.differences, "rate": compared.rate}
        heads = ("", one, two, texts.DIFFERENCE, texts.INTERVAL, "n")
        for place, title in enumerate(heads):
            item = self._figures.itemAtPosition(0, place)
            head = item.widget() if item is not None else None
            if isinstance(head, QLabel):
                head.setText(title)
        reasons = []
        for name, cells in self.differences.items():
            difference = differences[name]
            in_percent = name in _IN_PERCENT
            figure = percent if in_percent else ratio
            interval = points_interval(difference.interval) if in_percent else ratio_interval(difference.interval)
            if difference.difference is None:
                words = "n/a"
            else:
                words = points(difference.difference) if in_percent else _signed(difference.difference)
            row = (
                _FIGURES[name],
                figure(difference.first),
                figure(difference.second),
                words,
                interval,
                f"{difference.n:,}",
            )
            for cell, text in zip(cells, row, strict=True):
                cell.setText(text)
            if difference.reason:
                reasons.append(
                    f"{_FIGURES[name]}: {'n/a – ' if difference.difference is None else ''}{difference.reason}."
                )
        if compared.questions < compared.figures.n:
            reasons.append(texts.over_questions(compared.questions))
        self.reasons.setText(" ".join(reasons))
        self.reasons.setVisible(bool(reasons))

    def _clicked(self) -> None:
        for turn, button in self.links.items():
            if button is self.sender() and self._beside is not None:
                self.pairs_wanted.emit(self._beside.comparison.pairs[turn], self._words[turn])
