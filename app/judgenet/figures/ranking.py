"""The systems of a run from the strongest to the weakest, and beside the ranking by people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from judgenet.core.matches import matches_seed
from judgenet.figures.base import Figures, Keys, figures_of, taken_over
from judgenet.figures.errors import FiguresError
from judgenet.figures.parts import LengthFigures, Reasons, length_figures
from judgenet.figures.systems import AgainstPeople, rank_run, system_games
from judgenet.stats.adaptive_matches import neighbour_separations
from judgenet.stats.intervals import Interval
from judgenet.stats.ranking import RESAMPLES, Ranking, Strength, Ties
from judgenet.stats.ranking_overlap import Overlap
from judgenet.store.columns import DONE_PHASE
from judgenet.store.frame import RunFrame
from judgenet.store.system_matches import match_tallies, system_matches


@dataclass(frozen=True)
class StrengthFigures:
    """A system of a ranking."""

    name: Annotated[str, "the strongest first"]
    b: Annotated[float, "Bradley–Terry strength, mean 0"]
    rating: Annotated[float, "1000 + 400 b / ln 10"]
    ci: Annotated[Interval | None, "of the rating"]
    wins: int
    ties: int
    losses: int
    games: int
    win_rate: float | None
    reason: str | None


@figures_of.register(Strength)
def strength_figures(strength: Strength) -> StrengthFigures:
    """A system of a ranking."""
    return taken_over(
        StrengthFigures,
        strength,
        reason=None if strength.games else "the system is in no judged pair",
    )


@dataclass(frozen=True)
class MatrixFigures:
    """Who beat whom how often."""

    systems: tuple[str, ...]
    wins: Annotated[tuple[tuple[float, ...], ...], "rows beat columns"]
    games: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class RankingFigures:
    """A ranking of systems by the model of Bradley and Terry."""

    systems: tuple[StrengthFigures, ...]
    n: Annotated[int, "judged pairs"]
    questions: int
    ties: Annotated[Ties, "half, or drop"]
    prior: Annotated[bool, "wins were added each way, as some never lost"]
    matrix: MatrixFigures
    groups: Annotated[tuple[tuple[str, ...], ...], "systems that met each other"]
    circles: tuple[tuple[str, ...], ...]
    intransitive: Annotated[int, "triples that form a cycle"]
    triples: int
    question_intransitive: Annotated[int, "on single questions"]
    question_triples: int
    resamples: int
    seed: int
    reason: str | None


@figures_of.register(Ranking)
def ranking_figures(ranking: Ranking) -> RankingFigures:
    """A ranking of systems."""
    return taken_over(
        RankingFigures,
        ranking,
        systems=tuple(strength_figures(system) for system in ranking.systems),
        n=sum(system.games for system in ranking.systems) // 2,
        matrix=MatrixFigures(tuple(system.name for system in ranking.systems), ranking.wins, ranking.games),
        question_intransitive=ranking.question_circles,
    )


@dataclass(frozen=True)
class SystemFigures(StrengthFigures):
    """A system of a run's ranking."""

    at_equal_length: Annotated[LengthFigures, "win rate at equal length"]


@dataclass(frozen=True)
class NoRanking:
    """People labelled no pair of two named systems."""

    systems: None
    reason: str


@dataclass(frozen=True)
class RankOverlap:
    """How alike two rankings are, question by question."""

    rbo: Annotated[float | None, "mean over questions"]
    sd: float | None
    questions: int
    total: int
    reason: str | None
    reasons: Reasons


@dataclass(frozen=True)
class PeopleOverlap(RankOverlap):
    """How alike people's own rankings are, over questions and every two people."""

    rbo: Annotated[float | None, "of people's rankings among each other: mean over questions and every two people"]
    sd: Annotated[float | None, "over every two people"]
    questions: Annotated[int, "rankings compared"]
    rbo_not_extrapolated: Annotated[float | None, "the same as CoBBLEr states it"]


def rank_overlap(overlap: Overlap) -> RankOverlap:
    """How alike two rankings are, question by question."""
    reasons = {"sd": "one comparison has no spread"} if overlap.sd is None and overlap.value is not None else {}
    return RankOverlap(overlap.value, overlap.sd, overlap.questions, overlap.total, overlap.reason or None, reasons)


@dataclass(frozen=True)
class AgainstPeopleFigures:
    """The ranking by verdicts against that by people."""

    rbo: Annotated[float | None, "rank-biased overlap with people's ranking"]
    pairs: int
    systems: int
    by_question: RankOverlap
    among_people: PeopleOverlap
    reason: str | None


def against_people_figures(against: AgainstPeople) -> AgainstPeopleFigures:
    """The ranking by verdicts against that by people."""
    return AgainstPeopleFigures(
        rbo=against.overlap,
        pairs=against.pairs,
        systems=against.systems,
        by_question=rank_overlap(against.questions),
        among_people=PeopleOverlap(**vars(rank_overlap(against.among)), rbo_not_extrapolated=against.among_plain.value),
        reason=against.reason or None,
    )


@dataclass(frozen=True)
class AggregationRanking:
    """The ranking by one aggregation, without intervals."""

    n: Annotated[int, "judged pairs of an aggregation"]
    order: Annotated[tuple[str, ...], "the systems, best first"]
    ratings: Annotated[Mapping[str, float], Keys(("SYSTEM",))]


@dataclass(frozen=True)
class NeighbourFigures:
    """A system and the next one of the ranking: whether their matches separate them, at any time."""

    better: Annotated[str, "a system"]
    worse: Annotated[str, "the next one of the ranking"]
    n: Annotated[int, "matches between the two that count, with a verdict"]
    rate: Annotated[float | None, "share that the better one won, ties as half"]
    e_value: Annotated[float, "against an even rate, valid at any time"]
    p: Annotated[float, "after Holm, of all pairs of systems; 1 where the matches favour the other one"]
    separated: Annotated[bool, "p is at most .05"]
    reason: str | None


@dataclass(frozen=True)
class SeparationFigures:
    """Whether each system of a ranking is separated from the next, however often one looks."""

    neighbours: Annotated[tuple[NeighbourFigures, ...], "the strongest first"]
    separated: Annotated[bool, "each system from the next"]
    auto: Annotated[bool, "the run chose its matches (`run --matches auto`)"]
    played: Annotated[int, "pairs of two systems that are finished"]
    n_total: Annotated[int, "pairs of two systems of the run"]


def separation_figures(frame: RunFrame, aggregation: str, order: Sequence[str]) -> SeparationFigures:
    """How far each system of ``order`` is separated from the next by an aggregation's verdicts."""
    matches = system_matches(frame)
    tallies = match_tallies(frame, matches, frame.verdict_codes(aggregation))
    place = {name: number for number, name in enumerate(matches.names)}
    separations = neighbour_separations([place[name] for name in order], tallies)
    finished = frame.states >= DONE_PHASE
    return SeparationFigures(
        neighbours=tuple(
            NeighbourFigures(
                better=matches.names[separation.better],
                worse=matches.names[separation.worse],
                n=separation.n,
                rate=separation.rate,
                e_value=separation.e_value,
                p=separation.p,
                separated=separation.separated,
                reason=None if separation.n else "the two did not meet",
            )
            for separation in separations
        ),
        separated=bool(separations) and all(separation.separated for separation in separations),
        auto=matches_seed(frame.run.record) is not None,
        played=sum(bool(finished[index]) for index in matches.first_is_a),
        n_total=matches.pairs,
    )


@dataclass(frozen=True, repr=False)
class RunRanking(RankingFigures, Figures):
    """The systems of a run by its verdicts and, where there are labels, by people."""

    _rows = "systems"

    run: str
    aggregation: str
    aggregations: Annotated[Mapping[str, AggregationRanking], Keys(("NAME",))]
    pairs: int
    unnamed: Annotated[int, "pairs that do not name two systems"]
    systems: tuple[SystemFigures, ...]
    human: Annotated[RankingFigures | NoRanking, "the same by people's labels"]
    against_people: AgainstPeopleFigures
    separation: Annotated[SeparationFigures, "whether each system is separated from the next, at any time"]
    notes: tuple[str, ...]


def run_ranking(
    frame: RunFrame, aggregation: str, *, ties: Ties = "half", resamples: int = RESAMPLES, seed: int = 0
) -> RunRanking:
    """The ranking of a run's systems by one of its aggregations.

    :raises FiguresError: the pairs name fewer than two systems.
    """
    games = system_games(frame)
    if len(games.names) < 2:
        raise FiguresError(
            f"{frame.run.id}: the pairs name {len(games.names)} systems, and a ranking needs two. "
            "Name the systems in the columns model_a and model_b of the pairs."
        )
    ranking = rank_run(games, aggregation, resamples=resamples, seed=seed, ties=ties)
    mine = vars(ranking_figures(ranking.ranking))
    systems = tuple(
        SystemFigures(**vars(entry), at_equal_length=length_figures(ranking.at_equal_length[entry.name]))
        for entry in mine.pop("systems")
    )
    human = NoRanking(None, "no pair of two named systems has a human label")
    return RunRanking(
        run=frame.run.id,
        aggregation=aggregation,
        aggregations={
            name: AggregationRanking(
                n=sum(system.games for system in other_order.systems) // 2,
                order=tuple(system.name for system in other_order.systems),
                ratings={system.name: system.rating for system in other_order.systems},
            )
            for name, other_order in ranking.others.items()
        },
        pairs=games.pairs,
        unnamed=games.unnamed,
        systems=systems,
        **mine,
        human=human if ranking.human is None else ranking_figures(ranking.human),
        against_people=against_people_figures(ranking.people),
        separation=separation_figures(frame, aggregation, [entry.name for entry in systems]),
        notes=ranking.notes,
    )
