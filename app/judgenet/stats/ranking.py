"""More than two systems, ranked from pairs: the model of Bradley and Terry (1952).

The chance that i beats j is 1 / (1 + exp(b_j - b_i)), with mean b = 0. A tie is half a win to each. The order in which
pairs were judged plays no part.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import TYPE_CHECKING

from judgenet.core.pairs import Verdict
from judgenet.stats.calibration import SCORES
from judgenet.stats.intervals import Interval
from judgenet.stats.resampling import FEWEST_QUESTIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PRIOR = 0.1
"""Wins each way that are added to every two systems where the results alone give no finite strengths."""
RESAMPLES = 1000
_STEPS = 200
_MOST = 2.0


@dataclass(frozen=True, slots=True)
class Game:
    """Two systems on one question, with the verdict; ``a`` and ``b`` are their places among the systems."""

    a: int
    b: int
    verdict: Verdict
    question: Hashable


@dataclass(frozen=True, slots=True)
class Strength:
    """A system's strength ``b`` and its ``rating`` 1000 + 400 b / ln 10, with a 95 % interval of the rating.

    ``win_rate`` is over its own games, a tie counting half; ``None`` where it has none.
    """

    name: str
    b: float
    rating: float
    interval: Interval | None
    wins: int
    ties: int
    losses: int
    win_rate: float | None

    @property
    def games(self) -> int:
        return self.wins + self.ties + self.losses


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems from the strongest to the weakest.

    ``prior`` is true where the results alone give no finite strengths (some systems never lose to, or never meet, the
    rest), so that :data:`PRIOR` was added. ``intransitive`` of ``triples`` of systems that met and decided all three
    ways form a circle. ``reason`` says why there are no intervals.
    """

    systems: tuple[Strength, ...]
    prior: bool
    intransitive: int
    triples: int
    questions: int
    resamples: int
    seed: int
    reason: str = ""


def rating(b: float) -> float:
    """A strength on the scale of Elo's ratings, with 1000 for the mean."""
    return 1000 + 400 * b / log(10)


def connected(wins: Array) -> bool:
    """Whether every system has beaten every other, directly or through others: only then are all strengths finite."""
    import numpy as np

    reach = (np.asarray(wins) > 0) | np.eye(len(wins), dtype=bool)
    for _ in range(len(wins).bit_length()):
        reach = (reach.astype(np.int64) @ reach.astype(np.int64)) > 0
    return bool(reach.all())


def bradley_terry(wins: Array | Sequence[Sequence[float]], prior: float = 0.0) -> Array | None:
    """The strengths of greatest likelihood from a matrix of wins (row beats column), with ``prior`` wins each way added
    to every two systems; ``None`` where they are not finite. By Newton's method."""
    import numpy as np

    if not len(wins):
        return None
    table = np.asarray(wins, dtype=float) + prior
    np.fill_diagonal(table, 0.0)
    if not connected(table):
        return None
    games = table + table.T
    b = np.zeros(len(table))
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(b[None, :] - b[:, None]))
        gradient = (table - games * p).sum(axis=1)
        weights = games * p * (1 - p)
        # Strengths are known up to a constant: the added ones fix it.
        step = np.linalg.solve(np.diag(weights.sum(axis=1)) - weights + 1.0, gradient)
        b = b + step * min(1.0, _MOST / max(_MOST, float(abs(step).max())))
        if abs(step).max() < 1e-10:
            break
    found: Array = b - b.mean()
    return found


def intransitive_triples(wins: Array | Sequence[Sequence[float]]) -> tuple[int, int]:
    """How many triples of systems form a circle (each beats the next more often than not), and how many triples have
    a winner in each of their three matches."""
    import numpy as np

    table = np.asarray(wins, dtype=float)
    beats = np.sign(table - table.T)
    circles = decided = 0
    for i, j, k in combinations(range(len(table)), 3):
        one, two, three = beats[i, j], beats[j, k], beats[k, i]
        if one and two and three:
            decided += 1
            circles += one == two == three
    return circles, decided


def rank(names: Sequence[str], games: Iterable[Game], *, resamples: int = RESAMPLES, seed: int = 0) -> Ranking:
    """Ranks systems from judged pairs. Intervals are percentile bootstraps over questions, with all games of a question
    drawn together; below :data:`FEWEST_QUESTIONS` questions there are none.

    :raises ValueError: fewer than two systems.
    """
    import numpy as np

    k = len(names)
    if k < 2:
        raise ValueError("A ranking needs two systems.")
    by_question: dict[Hashable, Array] = {}
    outcomes = np.zeros((k, 3), dtype=int)
    for game in games:
        table = by_question.setdefault(game.question, np.zeros((k, k)))
        score = SCORES[game.verdict]
        table[game.b, game.a] += score
        table[game.a, game.b] += 1 - score
        for system, won in ((game.b, score), (game.a, 1 - score)):
            outcomes[system, {1.0: 0, 0.5: 1, 0.0: 2}[won]] += 1
    tables = np.stack(list(by_question.values())) if by_question else np.zeros((0, k, k))
    wins = tables.sum(axis=0)
    strengths = bradley_terry(wins)
    prior = strengths is None
    if strengths is None:
        strengths = bradley_terry(wins, PRIOR)
    assert strengths is not None
    questions = len(tables)
    reason = ""
    ends: list[Interval | None] = [None] * k
    if questions < FEWEST_QUESTIONS:
        reason = f"no intervals: {questions:,} questions are too few ({FEWEST_QUESTIONS} are needed)"
        resamples = 0
    elif resamples:
        rng = np.random.default_rng(seed)
        even = np.full(questions, 1 / questions)
        flat = tables.reshape(questions, k * k)
        # A resample that leaves a system without a loss is smoothed as the results themselves would be.
        found = np.stack(
            [
                _strengths((rng.multinomial(questions, even) @ flat).reshape(k, k), always=prior)
                for _ in range(resamples)
            ]
        )
        low, high = np.percentile(found, (2.5, 97.5), axis=0)
        ends = [Interval(rating(float(a)), rating(float(b))) for a, b in zip(low, high, strict=True)]
    circles, decided = intransitive_triples(wins)
    systems = [
        Strength(
            name=names[i],
            b=float(strengths[i]),
            rating=rating(float(strengths[i])),
            interval=ends[i],
            wins=int(outcomes[i, 0]),
            ties=int(outcomes[i, 1]),
            losses=int(outcomes[i, 2]),
            win_rate=float(outcomes[i] @ (1.0, 0.5, 0.0) / outcomes[i].sum()) if outcomes[i].sum() else None,
        )
        for i in range(k)
    ]
    systems.sort(key=lambda system: (-system.b, system.name))
    return Ranking(tuple(systems), prior, circles, decided, questions, resamples, seed, reason)


def _strengths(table: Array, *, always: bool) -> Array:
    found = None if always else bradley_terry(table)
    if found is None:
        found = bradley_terry(table, PRIOR)
    assert found is not None
    return found
