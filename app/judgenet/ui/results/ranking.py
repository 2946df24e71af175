"""The systems of a run from the strongest to the weakest, where it judged more than two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from judgenet.core.wording import aggregation_title, capitalized, minus, of, plural
from judgenet.report.axis import round_ticks
from judgenet.stats.intervals import Interval
from judgenet.ui.context import Context
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.plotting import ReferenceLine
from judgenet.ui.results import texts
from judgenet.ui.results.figures_table import NO_FIGURES, Column, FigureRow, FiguresTable
from judgenet.ui.results.latest import LatestComputation
from judgenet.ui.results.panel import Panel, stack
from judgenet.ui.results.point_chart import Picture, PointChart, PointMark, Series, Tick
from judgenet.ui.results.state import Results
from judgenet.ui.tasks import Job
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import TABLE_EDGE
from judgenet.ui.widgets import Segment

if TYPE_CHECKING:
    from judgenet.figures.ranking import SeparationFigures
    from judgenet.figures.systems import SystemsRanking
    from judgenet.store.frame import RunFrame

FEWEST: Final = 3
"""With fewer systems, the win rate says all that a ranking would."""
_MOST_IN_MATRIX: Final = 24
_ROWS: Final = 16
_NARROW: Final = 900
"""Narrower than this many px at 100 % the chart stands below the table."""
_CHART: Final = 264
"""Height of the chart in px at 100 %."""
_CIRCLES: Final = 3


@dataclass(frozen=True, slots=True)
class Ranked:
    """A run's ranking; by system the places of its pairs in the run; and which systems are separated from the next."""

    ranking: SystemsRanking
    pairs: Mapping[str, tuple[int, ...]]
    separation: SeparationFigures


class RankingPanel(Panel):
    """Ratings with intervals, win rates, the table of wins, cycles of systems, and the overlap with people's ranking.

    The run is ranked in a thread. The panel is hidden where fewer than three systems were judged.

    Signals:
        pairs_wanted: the places of a system's pairs in the run, and in words which pairs they are.
    """

    pairs_wanted = Signal(object, str)

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        self.shows = Segment(texts.RANKING_SHOWS, [("ratings", texts.RATINGS), ("wins", texts.WINS)])
        self.table = FiguresTable(texts.SYSTEMS_BY_RATING, (Column(texts.SYSTEM_COLUMN, "name"),), most=_ROWS)
        self.chart = PointChart(texts.RATINGS_OF_SYSTEMS, texts.RATINGS_HINT)
        self.words = label("", tone="text2", wrap=True)
        super().__init__(texts.RANKING, flush=True, parent=parent)
        self._context = context
        self.ranked: Ranked | None = None
        self._latest = LatestComputation(context)
        self._run_id = ""
        self.head.insertWidget(1, self.shows)
        self._row = QHBoxLayout()
        column = QVBoxLayout()
        column.addWidget(self.table)
        column.addStretch(1)
        self._row.addLayout(column, 66)
        self._row.addWidget(self.chart, 34)
        self.body.addLayout(self._row)
        self.body.addWidget(self.words)
        self.shows.chosen.connect(self._turned)
        self.table.chosen.connect(self._chosen)
        self.chart.chosen.connect(self._chosen)
        context.document.opened.connect(self.forget)
        self.hide()
        measure(self.body, spacing=0)
        measure(self._row, spacing=8)
        measure(self.chart, height=_CHART)
        measure(self.words, font="body", tabular=True, margins=(TABLE_EDGE, 10, TABLE_EDGE, 10))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if stack(self._row, self.width() < current_theme().px(_NARROW)):
            self._fill()

    def forget(self) -> None:
        """Forgets everything: another project was opened."""
        self._latest.forget()
        self.ranked = None
        self.hide()

    def look(self, results: Results, *, live: bool) -> None:
        """Ranks the systems of a run under the rules of ``results``; not while it is running."""
        if live:
            # What was ranked before is of another run, or of this one when it had fewer pairs.
            self.forget()
            return
        data = results.report.data
        run, decides = results.run, results.report.decides
        key = (run.id, run.finished_at, data.finished, data.labelled, results.rules, decides)
        if self._context.document.store is None or not self._latest.is_new(key):
            return
        if run.id != self._run_id:
            self.ranked = None
            self.hide()
        self._run_id = run.id
        work = partial(_ranked, results.frame, decides)
        self._latest.start_job(texts.RANK_SYSTEMS, work, self._take, about=run.id)

    def _take(self, ranked: Ranked | None) -> None:
        self.ranked = ranked
        self._fill()

    def _turned(self, _key: str) -> None:
        self._fill()

    def _chosen(self, key: object) -> None:
        if self.ranked is not None and isinstance(key, str):
            self.pairs_wanted.emit(self.ranked.pairs.get(key, ()), texts.pairs_of(key))

    def _fill(self) -> None:
        ranked = self.ranked
        self.setVisible(ranked is not None)
        if ranked is None:
            return
        ranking = ranked.ranking
        few = len(ranking.ranking.systems) <= _MOST_IN_MATRIX
        self.shows.setVisible(few)
        wins = few and self.shows.current == "wins"
        self.chart.setVisible(not wins)
        narrow = self._row.direction() == QBoxLayout.Direction.TopToBottom
        rows, columns = _matrix(ranking) if wins else _ratings(ranking, counts=not narrow)
        self.table.setAccessibleName(texts.WINS_BY_SYSTEM if wins else texts.SYSTEMS_BY_RATING)
        self.table.show_rows(rows, columns=columns)
        self.chart.show_picture(_picture(ranking))
        self.say(
            texts.ranked_by(
                aggregation_title(ranking.aggregation),
                plural(ranking.judged, "judged pair"),
                plural(ranking.ranking.questions, "question"),
            )
        )
        self.words.setText(" ".join([*_words(ranking, wins=wins), separation_words(ranked.separation)]))


def _ranked(frame: RunFrame, decides: str, job: Job) -> Ranked | None:
    """Ranks the systems of a run; ``None`` where too few are named."""
    from judgenet.figures.ranking import separation_figures
    from judgenet.figures.systems import rank_run, system_games

    games = system_games(frame)
    if len(games.names) < FEWEST:
        return None
    ranking = rank_run(games, decides, others=False, on_step=lambda done, of_all: job.share_is(done / of_all))
    order = [system.name for system in ranking.ranking.systems]
    return Ranked(ranking, games.by_system(), separation_figures(frame, decides, order))


def _ratings(ranking: SystemsRanking, *, counts: bool) -> tuple[list[FigureRow], list[Column]]:
    """The rows and columns of ratings; ``counts``: whether there is room for wins, ties and losses."""
    people = {} if ranking.human is None else {system.name: system.rating for system in ranking.human.systems}
    titles = [texts.RATING, "95 %", *([texts.WON_TIED_LOST] if counts else []), texts.WIN_RATE, texts.EQUAL_LENGTH]
    titles += [texts.BY_PEOPLE] if people else []
    rows = []
    for system in ranking.ranking.systems:
        even = ranking.at_equal_length[system.name].value
        cells = [
            _rating(system.rating),
            _span(system.interval),
            *([f"{system.wins:,}, {system.ties:,}, {system.losses:,}"] if counts else []),
            "n/a" if system.win_rate is None else f"{100 * system.win_rate:.1f} %",
            "n/a" if even is None else f"{100 * even:.1f} %",
        ]
        if people:
            cells.append(_rating(people[system.name]))
        rows.append(FigureRow(system.name, NO_FIGURES, system.name, extra=tuple(cells)))
    return rows, [
        Column(texts.SYSTEM_COLUMN, "name"),
        *(Column(title, "extra", place) for place, title in enumerate(titles)),
    ]


def _matrix(systems: SystemsRanking) -> tuple[list[FigureRow], list[Column]]:
    ranking = systems.ranking
    rows = []
    for i, system in enumerate(ranking.systems):
        cells = [
            f"{won:g}/{games}" if games else "–" if i == j else ""
            for j, (won, games) in enumerate(zip(ranking.wins[i], ranking.games[i], strict=True))
        ]
        rows.append(FigureRow(f"{i + 1}  {system.name}", NO_FIGURES, system.name, extra=tuple(cells)))
    columns = [Column(str(place + 1), "extra", place) for place in range(len(ranking.systems))]
    return rows, [Column(texts.WINS_OF_GAMES, "name"), *columns]


def _rating(rating: float) -> str:
    return minus(f"{rating:,.0f}")


def _span(interval: Interval | None) -> str:
    return "n/a" if interval is None else texts.interval_to(_rating(interval.low), _rating(interval.high))


def _picture(ranking: SystemsRanking) -> Picture:
    systems = ranking.ranking.systems
    spots = tuple(
        PointMark(
            place,
            system.rating,
            texts.system_rating(
                system.name,
                _rating(system.rating),
                _span(system.interval),
                of(system.wins, system.games),
                plural(system.ties, "tie"),
            ),
            system.interval,
            system.name,
        )
        for place, system in enumerate(systems, 1)
    )
    values = [end for system in systems for end in (system.rating, *(system.interval or ()))]
    ticks = round_ticks(min(values), max(values), (50, 100, 200, 500, 1000, 10_000))
    y_ticks: list[Tick] = [(tick, _rating(tick)) for tick in ticks]
    every = -(-len(systems) // 12)
    x_ticks: list[Tick] = [(float(place), str(place)) for place in range(1, len(systems) + 1, every)]
    return Picture(
        (Series(texts.RATING, spots, joined=False, spread="bars"),),
        tuple(x_ticks),
        tuple(y_ticks),
        texts.RANK,
        ReferenceLine(texts.MEAN, "1,000", 1000.0),
    )


def separation_words(separation: SeparationFigures) -> str:
    """Which systems are separated from the next, in a sentence."""
    apart = [
        texts.better_from_worse(neighbour.better, neighbour.worse)
        for neighbour in separation.neighbours
        if neighbour.separated
    ]
    open_ones = [
        texts.both(neighbour.better, neighbour.worse) for neighbour in separation.neighbours if not neighbour.separated
    ]
    chosen = texts.matches_chosen(of(separation.played, separation.n_total)) if separation.auto else ""
    if not open_ones:
        return f"{texts.ALL_SEPARATED}{chosen}"
    head = texts.separated(", ".join(apart)) if apart else texts.NONE_SEPARATED
    rest = texts.not_separated(", ".join(open_ones)) if apart else ""
    return f"{head}{rest}.{chosen}"


def _words(systems: SystemsRanking, *, wins: bool) -> list[str]:
    """The sentences below: cycles, the overlap with people's ranking, and notes."""
    ranking = systems.ranking
    parts = []
    if wins:
        parts.append(texts.TIE_IS_HALF_A_WIN)
    if ranking.triples:
        text = texts.circles(ranking.intransitive, plural(ranking.triples, "triple"))
        shown = [texts.BEATS.join((*circle, circle[0])) for circle in ranking.circles[:_CIRCLES]]
        parts.append(text + (f": {'; '.join(shown)}" if shown else "") + ".")
    people = systems.people
    if people.overlap is not None:
        by_question = people.questions.value
        text = texts.overlap_with_people(f"{people.overlap:.3f}", plural(people.pairs, "pair"))
        parts.append(text + (texts.overlap_by_question(f"{by_question:.3f}") if by_question is not None else "") + ".")
    if ranking.reason:
        parts.append(f"{capitalized(ranking.reason)}.")
    for note in systems.notes:
        parts.append(f"{capitalized(note)}.")
    return parts
