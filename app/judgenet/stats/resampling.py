"""Drawing whole questions with replacement: the bootstrap of figures over pairs that share questions.

Pairs with one question are not independent looks (several pairs of systems a question), so that all intervals draw
questions, and the number of questions is the effective n. Everything that is shown is computed from counts; a resample
is therefore a sum of the counts of the drawn questions, and many figures share one drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from judgenet.stats.distributions import t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]
    Numbers: TypeAlias = NDArray[np.integer[Any]]

FEWEST_QUESTIONS = 10
"""Below this many questions with several pairs there is no interval."""

FEW_QUESTIONS = 30
"""Below this many questions an interval over them says that they are few."""

_FEW_KINDS = 64
_PER_KIND = 32
"""Where there are at least so many questions of each kind, drawing the kinds is faster than sharing a drawing."""
_MANY_QUESTIONS = 5000
_MANY_WITH_CELL = 100
_AT_ONCE = 2_000_000
"""So many drawn questions are held at once."""


def few_questions(questions: int, pairs: int) -> str:
    """Why ``pairs`` of so many questions have no interval; empty where they have one."""
    if questions >= min(FEWEST_QUESTIONS, pairs):
        return ""
    return f"the {pairs:,} pairs are of {questions:,} questions only; {FEWEST_QUESTIONS} are needed for an interval"


def few_groups(groups: Numbers) -> str:
    """As :func:`few_questions`, from the number of each pair's question."""
    import numpy as np

    return few_questions(len(np.unique(groups)), len(groups))


def few_note(questions: int) -> str:
    """What to say beside an interval over so few questions; empty from 30 on."""
    if questions >= FEW_QUESTIONS:
        return ""
    return f"few questions ({questions:,}): the interval is wider for that, and still a rough one"


def widening(questions: int) -> float:
    """By how much a bootstrap over so many questions is too narrow: draws vary by (G - 1) / G too little, and the
    normal quantile stands where Student's with G - 1 degrees of freedom belongs."""
    from math import sqrt

    return t_quantile(0.975, questions - 1) / 1.959963984540054 * sqrt(questions / (questions - 1))


def pseudo_cells(shape: tuple[int, ...], cells: Array, weight: float, seed: int) -> Array:
    """What a prior adds to each resample, of shape (resamples, cells): gamma draws, as of a Bayesian bootstrap, of as
    many pseudo-pairs of each cell as ``cells`` says, each of them weighing ``weight`` pairs.

    Resamples of equal pairs do not vary; with it they do. Figures of one run share the draws.
    """
    return weight * _gammas(shape, tuple(cells.tolist()), seed)


@lru_cache(maxsize=16)
def _gammas(shape: tuple[int, ...], cells: tuple[float, ...], seed: int) -> Array:
    import numpy as np

    draws: Array = np.random.default_rng((seed, 2)).standard_gamma(cells, size=(*shape, len(cells)))
    draws.flags.writeable = False
    return draws


def question_counts(questions: Numbers, *codes: Numbers) -> Array:
    """How many pairs of each question have which verdicts: of shape (questions, 4, ..., 4), an axis for each of
    ``codes``.

    ``questions`` numbers the question of each pair from 0; ``codes`` are verdicts as in :mod:`judgenet.stats.curves`
    (0 none, 1 A, 2 tie, 3 B), one a pair.

    :raises ValueError: they differ in length.
    """
    import numpy as np

    if any(len(column_codes) != len(questions) for column_codes in codes):
        raise ValueError("Questions and verdicts must have a value for each pair.")
    cell = questions.astype(np.int64)
    for column_codes in codes:
        cell = cell * 4 + column_codes
    rows = int(questions.max(initial=-1)) + 1
    shape = (rows, *(4 for _ in codes))
    return np.bincount(cell, minlength=rows * 4 ** len(codes)).reshape(shape).astype(np.float64)


def label_table(questions: Numbers, human: Numbers, said: Numbers) -> Array:
    """Pairs of each question by human label and verdict, as :func:`judgenet.stats.intervals.agreements_intervals`
    takes them: shape (questions, 9), in the order a, b, tie; pairs without one of the two are left out."""
    places = [1, 3, 2]
    return question_counts(questions, human, said)[:, places][:, :, places].reshape(-1, 9)


def resampled(tables: Sequence[Array], *, resamples: int, seed: int) -> list[Array]:
    """Sums over as many questions as there are, drawn with replacement: for each table an array (resamples, cells).

    Every table is of shape (questions, cells). What one table gets does not depend on the others; figures that are to
    be compared resample by resample belong into the cells of one table.

    Questions that are alike in a table are drawn together, by how often their kind occurs. Where there are too many
    kinds for that to be faster, one drawing of questions serves all tables. From 5,000 questions on, with each cell
    that is used in 100 or more of them, such sums are drawn from their normal limit: the error of that is far below
    the one of a few thousand resamples.
    """
    import numpy as np

    kinds = [_kinds(table) for table in tables]
    n = len(tables[0])
    drawn: list[Array] = []
    apart = []
    for place, (rows, counts) in enumerate(kinds):
        if len(counts) <= max(_FEW_KINDS, n / _PER_KIND):
            often = np.random.default_rng(seed).multinomial(n, counts / n, size=resamples)
            drawn.append(often @ rows)
        elif n >= _MANY_QUESTIONS and _fewest(tables[place]) >= _MANY_WITH_CELL:
            drawn.append(_normal_sums(tables[place], resamples, seed))
        else:
            apart.append(place)
            drawn.append(np.empty((resamples, tables[place].shape[1])))
    if apart:
        sums = _drawn_sums(np.concatenate([tables[place] for place in apart], axis=1), resamples, seed)
        at = 0
        for place in apart:
            width = tables[place].shape[1]
            drawn[place] = sums[:, at : at + width]
            at += width
    return drawn


def _kinds(table: Array) -> tuple[Array, Array]:
    """The different rows of a table, and how many questions are like each."""
    import numpy as np

    most = int(table.max(initial=0)) + 1
    if most ** table.shape[1] > 2**62 or (table != np.rint(table)).any():
        rows, often = np.unique(table, axis=0, return_counts=True)
        return rows, often.astype(np.float64)
    # One number a row sorts far faster than the rows.
    places = np.array([most**place for place in range(table.shape[1])], dtype=np.int64)
    _, first, often = np.unique(table.astype(np.int64) @ places, return_index=True, return_counts=True)
    return table[first], often.astype(np.float64)


def _fewest(table: Array) -> int:
    """The fewest questions that a cell occurs in, among the cells that occur."""
    import numpy as np

    questions = np.count_nonzero(table, axis=0)
    return int(questions[questions > 0].min(initial=len(table)))


def _normal_sums(table: Array, resamples: int, seed: int) -> Array:
    import numpy as np

    n, cells = table.shape
    mean = table.mean(axis=0)
    values, vectors = np.linalg.eigh(table.T @ table / n - np.outer(mean, mean))
    root = vectors * np.sqrt(n * np.maximum(values, 0.0))
    sums: Array = n * mean + np.random.default_rng(seed).standard_normal((resamples, cells)) @ root.T
    # A cell that never occurs is 0 up to rounding.
    return np.maximum(sums, 0.0)


def _drawn_sums(table: Array, resamples: int, seed: int) -> Array:
    import numpy as np

    n, cells = table.shape
    rng = np.random.default_rng(seed)
    sums = np.empty((resamples, cells))
    # Whole numbers below 2^24 are exact in single precision, which is twice as fast.
    exact = table.sum() < 2**22 and not (table != np.rint(table)).any()
    kind = np.float32 if exact else np.float64
    counts = table.astype(kind)
    step = max(1, _AT_ONCE // n)
    for start in range(0, resamples, step):
        drawn = rng.integers(n, size=(min(step, resamples - start), n), dtype=np.int32)
        often = np.empty(drawn.shape, dtype=kind)
        for row, places in zip(often, drawn, strict=True):
            row[:] = np.bincount(places, minlength=n)
        sums[start : start + len(often)] = often @ counts
    return sums
