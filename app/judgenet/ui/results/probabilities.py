"""Of runs that are scored by token probabilities: for how many calls, how sharp these are, and what they change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QGridLayout, QWidget

from judgenet.core.wording import MINUS, aggregation_title, of, percent, percent_interval, plural, ratio, ratio_interval
from judgenet.report.charts import BarPart
from judgenet.report.model import Report
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.results import texts
from judgenet.ui.results.discussion import SplitBars, Swatch
from judgenet.ui.results.figures_table import NO_FIGURES, Column, FigureRow, FiguresTable
from judgenet.ui.results.panel import Panel
from judgenet.ui.tokens import TABLE_EDGE

if TYPE_CHECKING:
    from judgenet.figures.probabilities import ProbabilityFigures

_STRENGTHS: Final = (0.08, 0.3, 0.6, 1.0)
_MOST_LAYERS: Final = 8


class ProbabilitiesPanel(Panel):
    """How many calls have expected scores, why the others have not, how sharp the distributions are, and soft votes
    beside votes by expected scores and by sampled text. Hidden for runs that are scored by their texts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.why = label("", wrap=True)
        self.bars = SplitBars()
        self.table = FiguresTable(
            texts.PROBABILITIES_TABLE,
            [
                Column(texts.VOTE_COLUMN, "name"),
                *(Column(title, "extra", at) for at, title in enumerate(texts.SOFT_COLUMNS)),
            ],
            most=8,
        )
        self.note = label("", tone="text2", wrap=True)
        super().__init__(texts.TOKEN_PROBABILITIES, flush=True, parent=parent)
        self._legend = QGridLayout()
        self._swatches = [Swatch(strength) for strength in _STRENGTHS]
        for at, swatch in enumerate(self._swatches):
            self._legend.addWidget(swatch, 0, 2 * at)
            self._legend.addWidget(label(texts.LARGEST_BINS[at], tone="text2"), 0, 2 * at + 1)
        self._legend.setColumnStretch(2 * len(_STRENGTHS), 1)
        self._sharp = QWidget()
        sharp = QGridLayout(self._sharp)
        sharp.addWidget(label(texts.LARGEST_PROBABILITY, tone="text2"), 0, 0)
        sharp.addWidget(self.bars, 1, 0)
        sharp.addLayout(self._legend, 2, 0)
        for widget in (self.why, self._sharp, self.table, self.note):
            self.body.addWidget(widget)
        self.body.addStretch(1)
        measure(self._legend, across=8, down=4)
        measure(sharp, margins=(TABLE_EDGE, 0, TABLE_EDGE, 0), down=6)
        measure(self.why, font="body", tabular=True, margins=(TABLE_EDGE, 0, TABLE_EDGE, 0))
        measure(self.note, font="body", tabular=True, margins=(TABLE_EDGE, 0, TABLE_EDGE, 10))
        self.hide()

    def show_report(self, report: Report) -> None:
        """Shows what the token probabilities of a run come to."""
        figures = report.probabilities
        self.setVisible(figures is not None)
        if figures is None:
            return
        self.say(f"{of(figures.used, figures.calls)} calls")
        self.why.setText(_why(figures))
        bars = list(_bars(figures))
        self.bars.show_rows(bars)
        read_out = "; ".join(
            f"{name}: {', '.join(f'{part.name} {part.count:,}' for part in parts)}, {note}"
            for name, parts, note in bars
        )
        self.bars.setAccessibleName(texts.sharpness_read_out(read_out))
        self._sharp.setVisible(figures.sharpness["all"].calls > 0)
        labelled = report.headline.agreement.n_used > 0
        self.table.setVisible(labelled)
        self.table.show_rows(list(_rows(report, figures)) if labelled else [])
        self.note.setText(_difference(figures) if labelled else texts.NO_LABELS_FOR_PROBABILITIES)


def _why(figures: ProbabilityFigures) -> str:
    from judgenet.core.probabilities import SCORE_SOURCE_WORDS

    words: dict[str, str] = {str(source): text for source, text in SCORE_SOURCE_WORDS.items()}
    others = [
        texts.calls_by_text(of(count, figures.calls), words.get(why, why)) for why, count in figures.by_text.items()
    ]
    return texts.calls_by_probabilities(of(figures.used, figures.calls), others)


def _bars(figures: ProbabilityFigures) -> Iterator[tuple[str, list[BarPart], str]]:
    for name, sharp in list(figures.sharpness.items())[: _MOST_LAYERS + 1]:
        parts = [
            BarPart(words, count, strength)
            for words, count, strength in zip(texts.LARGEST_BINS, sharp.by_largest.values(), _STRENGTHS, strict=True)
        ]
        title = texts.ALL_CALLS if name == "all" else texts.layer(int(name.removeprefix("l")))
        yield title, parts, "n/a" if sharp.entropy is None else texts.mean_entropy(ratio(sharp.entropy))


def _rows(report: Report, figures: ProbabilityFigures) -> Iterator[FigureRow]:
    soft = [name for name in report.aggregations if name in ("soft_all", "soft_entropy")]
    for name in (*soft, "c2_all", "c1"):
        if (reported := report.aggregations.get(name)) is not None:
            agreement, within = reported.agreement, reported.intervals
            brier = f"{ratio(figures.brier.value)} {ratio_interval(figures.brier.ci)}" if name == "soft_all" else ""
            yield FigureRow(
                aggregation_title(name) if name in soft else texts.by_expected_scores(aggregation_title(name)),
                NO_FIGURES,
                subject=name == report.decides,
                extra=(
                    f"{percent(agreement.accuracy)} {percent_interval(within.accuracy)}",
                    f"{ratio(agreement.kappa)} {ratio_interval(within.kappa)}",
                    brier,
                    of(agreement.n_used, agreement.n_total),
                ),
            )
    for name in ("c2_all", "c1"):
        if (sampled := figures.sampled.get(name)) is not None:
            brier = f"{ratio(figures.brier_sampled.value)} {ratio_interval(figures.brier_sampled.ci)}"
            yield FigureRow(
                texts.by_sampled_text(aggregation_title(name)),
                NO_FIGURES,
                extra=(
                    f"{percent(sampled.accuracy)} {percent_interval(sampled.accuracy_ci)}",
                    f"{ratio(sampled.kappa)} {ratio_interval(sampled.kappa_ci)}",
                    brier if name == "c2_all" else "",
                    of(sampled.n_used, sampled.n_total),
                ),
            )


def _difference(figures: ProbabilityFigures) -> str:
    difference = figures.brier_difference
    if difference.value is None:
        return f"{texts.BRIER_MEANING} {texts.brier_missing(difference.reason or '')}"
    ends = difference.ci
    interval = "" if ends is None else f" [{_signed(ends.low)}, {_signed(ends.high)}]"
    clear = ends is not None and not ends.low <= 0 <= ends.high
    words = texts.brier_difference(
        f"{_signed(difference.value)}{interval}", plural(difference.n, "labelled pair"), clear
    )
    return f"{words} {texts.BRIER_MEANING}"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", MINUS)
