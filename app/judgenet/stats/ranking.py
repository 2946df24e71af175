"""More than two systems, ranked from pairs: the model of Bradley and Terry (1952).

The chance that i beats j is 1 / (1 + exp(b_j - b_i)), with mean b = 0. A tie is half a win to each, or left out. The
order in which pairs were judged plays no part.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, Any, Literal

from judgenet.core.pairs import Verdict
from judgenet.stats.calibration import SCORES
from judgenet.stats.intervals import Interval
from judgenet.stats.length import LengthAdjusted, length_adjusted
from judgenet.stats.resampling import FEWEST_QUESTIONS, widening

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

PRIOR = 0.1
"""Wins each way that are added to every two systems where the results alone give no finite strengths."""
RESAMPLES = 1000
MOST_CIRCLES = 10
"""As many intransitive triples are named; all are counted."""
_NEAR = 1e-6
"""How exact the strengths of a resample are; ends of intervals are known to 0.01 at best."""
_STEPS = 200
_MOST = 2.0


@dataclass(frozen=True, slots=True)
class Game:
    """Two systems on one question, with the verdict; ``a`` and ``b`` are their places among the systems.

    ``longer_b`` is by how many characters the response of ``b`` is longer.
    """

    a: int
    b: int
    verdict: Verdict
    question: Hashable
    longer_b: int = 0


Ties = Literal["half", "drop"]
"""What a tie counts as: half a win to each, or nothing."""


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
    rest), so that :data:`PRIOR` was added. ``groups`` are the systems that met, directly or through others, the largest
    group first: ratings of different groups cannot be compared. ``intransitive`` of ``triples`` of systems that met and
    decided all three ways form a cycle, some of which ``circles`` names, each beating the next; so do
    ``question_circles`` of ``question_triples`` on single questions. ``wins`` holds how often the system of a row won
    against that of a column, ties counting half (unless dropped), ``games`` how often they met; both in the order of
    ``systems``.
    ``reason`` says why there are no intervals.
    """

    systems: tuple[Strength, ...]
    prior: bool
    groups: tuple[tuple[str, ...], ...]
    intransitive: int
    triples: int
    circles: tuple[tuple[str, str, str], ...]
    question_circles: int
    question_triples: int
    wins: tuple[tuple[float, ...], ...] = field(repr=False)
    games: tuple[tuple[int, ...], ...] = field(repr=False)
    questions: int
    ties: Ties
    resamples: int
    seed: int
    reason: str = ""


def rating(b: float) -> float:
    """A strength on the scale of Elo's ratings, with 1000 for the mean."""
    return 1000 + 400 * b / log(10)


def connected(wins: Array) -> bool:
    """Whether every system has beaten every other, directly or through others: only then are all strengths finite."""
    import numpy as np
    from scipy.sparse import csr_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    beats = csr_array(np.asarray(wins) > 0)
    return int(connected_components(beats, connection="strong", return_labels=False)) == 1


def bradley_terry(
    wins: Array | Sequence[Sequence[float]],
    prior: float = 0.0,
    *,
    start: Array | None = None,
    tolerance: float = 1e-10,
) -> Array | None:
    """The strengths of greatest likelihood from a matrix of wins (row beats column), with ``prior`` wins each way added
    to every two systems; ``None`` where they are not finite. By Newton's method, from ``start`` until no strength moves
    by ``tolerance``."""
    import numpy as np

    if not len(wins):
        return None
    table = np.asarray(wins, dtype=float) + prior
    np.fill_diagonal(table, 0.0)
    if not connected(table):
        return None
    games = table + table.T
    b = np.zeros(len(table)) if start is None else start.copy()
    won = table.sum(axis=1)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(b[None, :] - b[:, None]))
        expected = games * p
        weights = expected * (1 - p)
        # Strengths are known up to a constant: the added ones fix it.
        step = np.linalg.solve(np.diag(weights.sum(axis=1)) - weights + 1.0, won - expected.sum(axis=1))
        b = b + step * min(1.0, _MOST / max(_MOST, float(abs(step).max())))
        if abs(step).max() < tolerance:
            break
    strengths: Array = b - b.mean()
    return strengths


def intransitive_triples(wins: Array | Sequence[Sequence[float]]) -> tuple[int, int]:
    """How many triples of systems form a cycle (each beats the next more often than not), and how many triples have
    a winner in each of their three matches."""
    import numpy as np

    table = np.asarray(wins, dtype=float)
    beats = (table > table.T).astype(float)
    decided = beats + beats.T
    # A circle is three walks of length three that come back, a triple six.
    return round(float(np.trace(beats @ beats @ beats)) / 3), round(float(np.trace(decided @ decided @ decided)) / 6)


def some_circles(wins: Array | Sequence[Sequence[float]], most: int = MOST_CIRCLES) -> list[tuple[int, int, int]]:
    """The first intransitive triples, each beating the next and the last the first; at most ``most``."""
    import numpy as np

    table = np.asarray(wins, dtype=float)
    beats = table > table.T
    circles: list[tuple[int, int, int]] = []
    for i in range(len(table)):
        for j in np.flatnonzero(beats[i]).tolist():
            # The lowest place comes first, so that a circle is found once.
            for k in np.flatnonzero(beats[j] & beats[:, i]).tolist() if j > i else ():
                if k > i:
                    circles.append((i, j, k))
                    if len(circles) == most:
                        return circles
    return circles


def length_rates(names: Sequence[str], games: Iterable[Game]) -> dict[str, LengthAdjusted]:
    """Each system's win rate over its games at equal length (see :mod:`judgenet.stats.length`)."""
    scores: list[list[float]] = [[] for _ in names]
    longer: list[list[int]] = [[] for _ in names]
    for game in games:
        score = SCORES[game.verdict]
        for system, won, length in ((game.b, score, game.longer_b), (game.a, 1 - score, -game.longer_b)):
            scores[system].append(won)
            longer[system].append(length)
    return {name: length_adjusted(scores[place], longer[place]) for place, name in enumerate(names)}


def rank(
    names: Sequence[str],
    games: Iterable[Game],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    ties: Ties = "half",
    on_step: Callable[[int, int], object] | None = None,
) -> Ranking:
    """Ranks systems from judged pairs. Intervals are percentile bootstraps over questions, with all games of a question
    drawn together, and widened by Student's quantile; each resample has half a question's games, spread over the
    systems that met, drawn with it, so that it varies where all games end alike. Below :data:`FEWEST_QUESTIONS`
    questions there are none. ``on_step`` is called with how many resamples of how many are done; what it raises ends
    the work.

    :raises ValueError: fewer than two systems.
    """
    import numpy as np

    k = len(names)
    if k < 2:
        raise ValueError("A ranking needs two systems.")
    played = list(games)
    outcomes = _outcomes(k, played)
    counted = [game for game in played if ties == "half" or game.verdict != "tie"]
    by_question = _by_question(k, counted)
    wins = np.asarray(by_question.sum(axis=0)).reshape(k, k)
    strengths, prior = _finite_strengths(wins)
    questions = by_question.shape[0]
    reason = ""
    ends: list[Interval | None] = [None] * k
    if questions < FEWEST_QUESTIONS:
        reason = f"no intervals: {questions:,} questions are too few ({FEWEST_QUESTIONS} are needed)"
        resamples = 0
    elif resamples:
        drawn = _resampled(by_question, wins, strengths, prior, resamples, seed, on_step)
        ends = _rating_intervals(drawn, strengths, questions)
    else:
        reason = "no intervals were asked for"
    order = sorted(range(k), key=lambda i: (-float(strengths[i]), names[i]))
    systems = [_strength(names[i], float(strengths[i]), ends[i], outcomes[i]) for i in order]
    wins = wins[np.ix_(order, order)]
    met = wins + wins.T
    circles, decided = intransitive_triples(wins)
    own_circles, own_triples = _question_triples(counted)
    return Ranking(
        systems=tuple(systems),
        prior=prior,
        groups=_groups([system.name for system in systems], met),
        intransitive=circles,
        triples=decided,
        circles=tuple(
            (systems[i].name, systems[j].name, systems[m].name) for i, j, m in (some_circles(wins) if circles else ())
        ),
        question_circles=own_circles,
        question_triples=own_triples,
        wins=tuple(map(tuple, wins.tolist())),
        games=tuple(map(tuple, np.rint(met).astype(int).tolist())),
        questions=questions,
        ties=ties,
        resamples=resamples,
        seed=seed,
        reason=reason,
    )


def _finite_strengths(wins: Array) -> tuple[Array, bool]:
    """The strengths, and whether :data:`PRIOR` had to be added because the results alone give no finite ones."""
    strengths = bradley_terry(wins)
    if strengths is not None:
        return strengths, False
    strengths = bradley_terry(wins, PRIOR)
    assert strengths is not None
    return strengths, True


def _outcomes(k: int, games: Iterable[Game]) -> Any:
    """Wins, ties and losses of each of ``k`` systems, of shape (systems, 3)."""
    import numpy as np

    outcomes = np.zeros((k, 3), dtype=int)
    for game in games:
        outcomes[game.b, {"b": 0, "tie": 1, "a": 2}[game.verdict]] += 1
        outcomes[game.a, {"a": 0, "tie": 1, "b": 2}[game.verdict]] += 1
    return outcomes


def _rating_intervals(drawn: Array, strengths: Array, questions: int) -> list[Interval | None]:
    """Percentiles of the strengths ``drawn``, of shape (resamples, systems), as ratings; widened for so many
    questions."""
    import numpy as np

    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    by = widening(questions)
    low = np.minimum(strengths, strengths + (low - strengths) * by)
    high = np.maximum(strengths, strengths + (high - strengths) * by)
    return [Interval(rating(float(a)), rating(float(b))) for a, b in zip(low, high, strict=True)]


def _strength(name: str, strength: float, interval: Interval | None, outcomes: Any) -> Strength:
    """A system of the ranking; ``outcomes`` are its wins, ties and losses."""
    return Strength(
        name=name,
        b=strength,
        rating=rating(strength),
        interval=interval,
        wins=int(outcomes[0]),
        ties=int(outcomes[1]),
        losses=int(outcomes[2]),
        win_rate=float(outcomes @ (1.0, 0.5, 0.0) / outcomes.sum()) if outcomes.sum() else None,
    )


def _resampled(
    by_question: Any,
    wins: Array,
    strengths: Array,
    prior: bool,
    resamples: int,
    seed: int,
    on_step: Callable[[int, int], object] | None,
) -> Array:
    """Strengths in each resample of questions, of shape (resamples, systems)."""
    import numpy as np

    questions, k = by_question.shape[0], len(wins)
    rng = np.random.default_rng(seed)
    even = np.full(questions, 1 / questions)
    by_cell = by_question.T.tocsr()
    met = (wins + wins.T > 0).astype(float)
    shape, weight = met * (_PSEUDO_QUESTIONS / max(1.0, met.sum())), wins.sum() / questions
    results = np.empty((resamples, k))
    step = max(1, _AT_ONCE // (k * k))
    for start in range(0, resamples, step):
        if on_step is not None:
            on_step(start, resamples)
        size = min(step, resamples - start)
        often = rng.multinomial(questions, even, size=size)
        drawn = np.asarray(by_cell @ often.T).T.reshape(size, k, k)
        # A resample that leaves a system without a loss is smoothed as the results themselves would be.
        smooth = np.full(size, True) if prior else ~_all_connected(drawn)
        drawn = (
            drawn + weight * rng.standard_gamma(shape, size=(size, k, k)) + np.where(smooth, PRIOR, 0.0)[:, None, None]
        )
        results[start : start + size] = _strengths(drawn, strengths)
    return results


_PSEUDO_QUESTIONS = 0.5
_AT_ONCE = 250_000


def _all_connected(tables: Array) -> NDArray[np.bool_]:
    """Of each matrix of wins whether it is :func:`connected`."""
    import numpy as np

    k = tables.shape[-1]
    reached = ((tables > 0) | np.eye(k, dtype=bool)).astype(np.float32)
    steps = 1
    while steps < k - 1:
        reached = (reached @ reached > 0).astype(np.float32)
        steps *= 2
    return np.asarray((reached > 0).all(axis=(1, 2)))


def _by_question(k: int, games: Sequence[Game]) -> Any:
    """Wins by question and, in one row, by winner and loser: (questions, k * k), sparse."""
    import numpy as np
    from scipy.sparse import csr_array

    numbers: dict[Hashable, int] = {}
    rows = [numbers.setdefault(game.question, len(numbers)) for game in games]
    won_b = np.array([SCORES[game.verdict] for game in games], dtype=float)
    a, b = (np.array([getattr(game, side) for game in games], dtype=np.int64) for side in ("a", "b"))
    return csr_array(
        (
            np.concatenate([won_b, 1 - won_b]),
            (np.concatenate([rows, rows]).astype(np.int64), np.concatenate([b * k + a, a * k + b])),
        ),
        shape=(len(numbers), k * k),
    )


def _groups(names: Sequence[str], met: Array) -> tuple[tuple[str, ...], ...]:
    """Systems that met, directly or through others; the largest group first."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(csr_array(met > 0), directed=False)
    groups: dict[int, list[str]] = {}
    for name, label in zip(names, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(name)
    return tuple(sorted(map(tuple, groups.values()), key=lambda group: -len(group)))


def _question_triples(games: Sequence[Game]) -> tuple[int, int]:
    """Circles and decided triples on single questions."""
    import numpy as np

    by_question: dict[Hashable, list[Game]] = {}
    for game in games:
        by_question.setdefault(game.question, []).append(game)
    circles = triples = 0
    for own in by_question.values():
        if len(own) < 3:
            continue
        places: dict[int, int] = {}
        for game in own:
            places.setdefault(game.a, len(places))
            places.setdefault(game.b, len(places))
        wins = np.zeros((len(places), len(places)))
        for game in own:
            score = SCORES[game.verdict]
            wins[places[game.b], places[game.a]] += score
            wins[places[game.a], places[game.b]] += 1 - score
        some = intransitive_triples(wins)
        circles, triples = circles + some[0], triples + some[1]
    return circles, triples


def _strengths(tables: Array, start: Array) -> Array:
    """The strengths of many matrices of wins, all connected, from near those of the whole: as :func:`bradley_terry`,
    all at once."""
    import numpy as np

    k = tables.shape[-1]
    tables = tables * (1 - np.eye(k))
    games, won = tables + tables.transpose(0, 2, 1), tables.sum(axis=2)
    b = np.broadcast_to(start, won.shape).copy()
    places = np.arange(k)
    left = np.arange(len(tables))
    for _ in range(_STEPS):
        mine, own = games[left], b[left]
        p = 1 / (1 + np.exp(own[:, None, :] - own[:, :, None]))
        expected = mine * p
        weights = expected * (1 - p)
        slopes = 1.0 - weights
        slopes[:, places, places] += weights.sum(axis=2)
        step = np.linalg.solve(slopes, (won[left] - expected.sum(axis=2))[:, :, None])[:, :, 0]
        most = abs(step).max(axis=1)
        b[left] = own + step * np.minimum(1.0, _MOST / np.maximum(_MOST, most))[:, None]
        left = left[most >= _NEAR]
        if not len(left):
            break
    strengths: Array = b - b.mean(axis=1, keepdims=True)
    return strengths
