"""The systems whose responses a run judged: ranked by its verdicts, and beside the ranking by people."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgenet.core.pairs import Verdict
from judgenet.stats.calibration import SCORES
from judgenet.stats.curves import CODES
from judgenet.stats.length import LengthAdjusted
from judgenet.stats.ranking import PRIOR, RESAMPLES, Game, Ranking, Ties, length_rates, rank
from judgenet.stats.ranking_overlap import Overlap, mean_overlap, overlap_among, overlap_of_scores, win_shares
from judgenet.stats.resampling import few_note
from judgenet.store.frame import RunFrame


@dataclass(frozen=True, slots=True)
class SystemGames:
    """Every pair of two named systems of a run as a game, with what each aggregation and people said of it.

    ``games`` gives the places of the two systems among ``names``, the question, and by how much B is longer.
    ``verdicts`` and ``human`` hold ``None`` where nothing was said; ``annotators`` has what each person said by name.
    ``indexes`` are the places of their pairs in the run, ``pairs`` is how many the run has, ``unnamed`` how many of
    them do not name two systems.
    """

    names: tuple[str, ...]
    games: tuple[tuple[int, int, Hashable, int], ...]
    indexes: tuple[int, ...]
    verdicts: Mapping[str, Sequence[Verdict | None]]
    human: Sequence[Verdict | None]
    annotators: Sequence[Mapping[str, Verdict]]
    pairs: int
    unnamed: int

    def by_system(self) -> dict[str, tuple[int, ...]]:
        """The places in the run of the pairs in which each system plays, by its name."""
        games: dict[str, list[int]] = {name: [] for name in self.names}
        for (a, b, *_), index in zip(self.games, self.indexes, strict=True):
            games[self.names[a]].append(index)
            games[self.names[b]].append(index)
        return {name: tuple(indexes) for name, indexes in games.items()}

    def of(self, said: Sequence[Verdict | None]) -> list[Game]:
        """The games of which something was said."""
        return [
            Game(a, b, verdict, question, longer)
            for (a, b, question, longer), verdict in zip(self.games, said, strict=True)
            if verdict is not None
        ]


def system_games(frame: RunFrame) -> SystemGames:
    """The games of a run, by each of its aggregations."""
    pairs = frame.pairs
    known = sorted({name for name in pairs.system_names if name})
    place = np.array([known.index(name) if name else -1 for name in pairs.system_names], dtype=np.int64)
    sides = place[pairs.systems] if len(pairs) else np.zeros((0, 2), np.int64)
    games = np.flatnonzero((sides >= 0).all(axis=1) & (sides[:, 0] != sides[:, 1]))
    # A system that is named on one side alone plays no game.
    playing = sorted({int(system) for system in sides[games].ravel()})
    number = {system: at for at, system in enumerate(playing)}
    return SystemGames(
        tuple(known[system] for system in playing),
        tuple(
            (number[int(a)], number[int(b)], int(question), int(longer))
            for (a, b), question, longer in zip(
                sides[games], frame.questions[games], frame.longer_b[games], strict=True
            )
        ),
        tuple(games.tolist()),
        {name: [CODES[code] for code in codes[games]] for name, codes in frame.aggregations.items()},
        [CODES[code] for code in frame.human[games]],
        [dict(pairs.panel_kinds[system]) for system in pairs.panels[games]],
        len(pairs),
        len(pairs) - len(games),
    )


@dataclass(frozen=True, slots=True)
class AgainstPeople:
    """How alike the ranking by verdicts and that by people are, over the ``pairs`` that have both.

    ``overlap`` is that of the two rankings of Bradley and Terry, rank-biased and extrapolated with p = 0.8;
    ``questions`` the mean over questions, on each of which the systems are ranked by their share of wins. ``None`` with
    a ``reason``. ``among`` is how alike people's own rankings are, over questions and every two people, and
    ``among_plain`` the same without extrapolation, as CoBBLEr (arXiv 2309.17012) states it.
    """

    overlap: float | None
    questions: Overlap
    among: Overlap
    among_plain: Overlap
    pairs: int
    systems: int
    reason: str = ""


def against_people(ranked_games: SystemGames, aggregation: str, seed: int = 0, ties: Ties = "half") -> AgainstPeople:
    """Compares the ranking by an aggregation with that by people, on the same pairs."""
    both = [
        verdict and human for verdict, human in zip(ranked_games.verdicts[aggregation], ranked_games.human, strict=True)
    ]
    games = [game for game, there in zip(ranked_games.games, both, strict=True) if there]
    here = sorted({place for a, b, *_ in games for place in (a, b)})
    said = [
        [verdict for verdict, there in zip(whose, both, strict=True) if there]
        for whose in (ranked_games.verdicts[aggregation], ranked_games.human)
    ]
    by_question = [_question_scores(ranked_games.names, games, whose) for whose in said]
    questions = mean_overlap(by_question[0], by_question[1], seed=seed)
    among, plain = (_among_people(ranked_games, extrapolated, seed) for extrapolated in (True, False))
    if len(here) < 2:
        why = "no pair has both a verdict and a human label"
        return AgainstPeople(None, questions, among, plain, len(games), len(here), why)
    names = [ranked_games.names[place] for place in here]
    new = {place: number for number, place in enumerate(here)}
    scores = []
    for whose in said:
        played = [Game(new[a], new[b], v, q) for (a, b, q, _), v in zip(games, whose, strict=True) if v is not None]
        ranking = rank(names, played, resamples=0, ties=ties)
        scores.append({system.name: round(system.b, 9) for system in ranking.systems})
    overlap = overlap_of_scores(scores[0], scores[1], seed=seed)
    return AgainstPeople(overlap, questions, among, plain, len(games), len(here))


def _among_people(games: SystemGames, extrapolated: bool, seed: int) -> Overlap:
    """How alike people rank the systems, question by question."""
    people = sorted({name for said in games.annotators for name in said})
    rankings = [
        _question_scores(games.names, games.games, [said.get(name) for said in games.annotators]) for name in people
    ]
    if len(rankings) < 2:
        return Overlap(None, None, 0, 0, "fewer than two people ranked systems by name")
    return overlap_among(rankings, extrapolated=extrapolated, seed=seed)


def _question_scores(
    names: Sequence[str], games: Sequence[tuple[int, int, Hashable, int]], said: Sequence[Verdict | None]
) -> dict[Hashable, dict[str, float]]:
    """Shares of wins by question."""
    scores: dict[Hashable, list[tuple[str, str, float]]] = {}
    for (a, b, question, _), verdict in zip(games, said, strict=True):
        if verdict is not None:
            scores.setdefault(question, []).append((names[a], names[b], 1 - SCORES[verdict]))
    return {question: win_shares(own) for question, own in scores.items()}


@dataclass(frozen=True, slots=True)
class SystemsRanking:
    """The systems of a run by one aggregation.

    ``human`` is the ranking by labels, ``None`` where no pair has one. ``at_equal_length`` gives each system's win rate
    without what goes with length. ``others`` are the rankings by every aggregation, without intervals.
    """

    aggregation: str
    games: SystemGames
    ranking: Ranking
    judged: int
    human: Ranking | None
    labelled: int
    at_equal_length: Mapping[str, LengthAdjusted]
    people: AgainstPeople
    others: Mapping[str, Ranking]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know."""
        notes = ["uncorrected: the verdicts' own errors are not taken out"]
        if self.ranking.prior:
            notes.append(
                f"some systems never lost to, or never met, the others: {PRIOR:g} wins each way were added to every two"
            )
        if len(self.ranking.groups) > 1:
            notes.append(
                f"the systems fall into {len(self.ranking.groups)} groups that never met, not even through others: "
                "only ratings within a group can be compared"
            )
        if self.ranking.resamples and (few := few_note(self.ranking.questions)):
            notes.append(few)
        notes.append("at equal length: where longer answers are truly better, this takes away real quality")
        return tuple(notes)


def rank_run(
    games: SystemGames,
    aggregation: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    ties: Ties = "half",
    others: bool = True,
    on_step: Callable[[int, int], object] | None = None,
) -> SystemsRanking:
    """Ranks the systems of a run by one of its aggregations; ``others`` also by all of them. ``on_step`` hears how many
    resamples of how many are done; what it raises ends the work.

    :raises ValueError: the pairs name fewer than two systems.
    :raises KeyError: the run has no such aggregation.
    """
    judged, labelled = games.of(games.verdicts[aggregation]), games.of(games.human)
    return SystemsRanking(
        aggregation,
        games,
        rank(games.names, judged, resamples=resamples, seed=seed, ties=ties, on_step=on_step),
        len(judged),
        rank(games.names, labelled, resamples=resamples, seed=seed, ties=ties, on_step=on_step) if labelled else None,
        len(labelled),
        length_rates(games.names, judged),
        against_people(games, aggregation, seed, ties),
        {
            name: rank(games.names, games.of(said), resamples=0, ties=ties)
            for name, said in (games.verdicts.items() if others else ())
        },
    )
