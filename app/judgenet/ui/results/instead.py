"""Whether the judges of a run can replace its annotators."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QWidget

from judgenet.core.wording import aggregation_title, of, percent, percent_interval
from judgenet.ui.context import Context
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.figures_table import NO_FIGURES, Column, FigureRow, FiguresTable
from judgenet.ui.results.latest import LatestComputation
from judgenet.ui.results.panel import Panel
from judgenet.ui.results.state import Results
from judgenet.ui.tokens import TABLE_EDGE
from judgenet.ui.widgets import Segment

if TYPE_CHECKING:
    from judgenet.figures.alt_test import AltTestFigures, RunAltTest
    from judgenet.store.frame import RunFrame

_ROWS: Final = 12
_ANSWERS: Final = {True: texts.YES, False: texts.NO, None: "n/a"}
_COLUMNS: Final = (
    Column(texts.JUDGE, "name"),
    Column(texts.WINS_AGAINST, "extra", 0),
    Column(texts.AS_CLOSE, "extra", 1),
    Column(texts.PAIRS, "extra", 2),
    Column(texts.MAY_REPLACE, "extra", 3),
)


class InsteadPanel(Panel):
    """ "Judge instead of people?": the Alternative Annotator Test of each aggregation, layer and neuron.

    The test runs in a thread. The panel is hidden while a run is running, and where no pair has labels by two
    annotators.
    """

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        self.epsilon = Segment(
            texts.ANNOTATORS_ARE, [("0.2", texts.EXPERTS), ("0.15", texts.SKILLED), ("0.1", texts.CROWD)]
        )
        self.table = FiguresTable(texts.JUDGES_AGAINST_ANNOTATORS, _COLUMNS, most=_ROWS)
        self.words = label("", wrap=True)
        self.note = label(texts.ALT_TEST, tone="text2", wrap=True)
        super().__init__(texts.JUDGE_INSTEAD, flush=True, parent=parent)
        self.tested: RunAltTest | None = None
        self._results: Results | None = None
        self._latest = LatestComputation(context)
        self.head.insertWidget(1, self.epsilon)
        for widget in (self.words, self.table, self.note):
            self.body.addWidget(widget)
        self.body.addStretch(1)
        self.epsilon.chosen.connect(self._again)
        context.document.opened.connect(self.forget)
        self.hide()
        measure(self.body, spacing=0)
        measure(self.words, font="body", tabular=True, margins=(TABLE_EDGE, 0, TABLE_EDGE, 10))
        measure(self.note, font="body", tabular=True, margins=(TABLE_EDGE, 10, TABLE_EDGE, 10))

    def forget(self) -> None:
        """Forgets everything: another project was opened."""
        self._latest.forget()
        self._results = self.tested = None
        self.hide()

    def look(self, results: Results, *, live: bool) -> None:
        """Tests the judges of a run under the rules of ``results``; not while it is running."""
        several = any(len(panel) > 1 for panel in results.frame.pairs.panel_kinds)
        if live or not several:
            self.forget()
            return
        self._results = results
        self._again()

    def _again(self) -> None:
        results = self._results
        if results is None:
            return
        key = (results.run.id, results.report.data.finished, results.rules, results.frame, self.epsilon.current)
        if self._latest.is_new(key):
            work = partial(_test, results.frame, float(self.epsilon.current))
            take = partial(self._take, decides=results.report.decides)
            self._latest.start(texts.TEST_JUDGES, work, take, about=results.run.id)

    def _take(self, tested: RunAltTest, *, decides: str) -> None:
        self.tested = tested
        self._fill(tested, decides)

    def _fill(self, tested: RunAltTest, decides: str) -> None:
        from judgenet.figures.alt_test import alt_test_words

        self.show()
        self.say(texts.epsilon_and_annotators(f"{tested.epsilon:g}", len(tested.annotators)))
        refused = tested.reason is not None
        self.table.setVisible(not refused)
        if refused:
            self.words.setText(texts.not_tested(tested.reason or ""))
            return
        decided = tested.aggregations[decides]
        self.words.setText(f"{aggregation_title(decides)} {alt_test_words(decided)}.")
        names = [decides, *(name for name in tested.aggregations if name != decides)]
        rows = [_row(aggregation_title(name), tested.aggregations[name], subject=name == decides) for name in names]
        rows += [_row(name, judge) for name, judge in tested.neurons.items()]
        self.table.show_rows(rows)


def _test(frame: RunFrame, epsilon: float) -> RunAltTest:
    from judgenet.figures.alt_test import run_alt_test

    return run_alt_test(frame, epsilon)


def _row(name: str, figures: AltTestFigures, *, subject: bool = False) -> FigureRow:
    close = f"{percent(figures.advantage.value, unit=False)} {percent_interval(figures.advantage.ci)}".strip()
    extra = (of(figures.won, figures.tested), close, f"{figures.advantage.n:,}", _ANSWERS[figures.passes])
    return FigureRow(name, NO_FIGURES, subject=subject, extra=extra)
