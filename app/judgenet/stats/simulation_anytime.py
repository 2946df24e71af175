"""How often intervals exclude the truth when one looks after every pair, and how many calls an early stop saves.

Simulated runs of which the truth is known. ``at_any_time`` are the intervals of :mod:`judgenet.stats.anytime`,
``ordinary`` the 95 % intervals that the program shows for one look (Wilson's for accuracy, and for win rates with ties
the one with three pseudo-pairs), looked at as often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.stats.adaptive_matches import AdaptiveMatches
from judgenet.stats.anytime import ALPHA, LABEL_ALPHA, LOG_WEIGHTS, SIDES, VERDICT_ALPHA, log_factors
from judgenet.stats.curves import Floats
from judgenet.stats.intervals import Z, win_rate_ends

PAIRS: Final = 1000
"""Pairs of a simulated run."""
_RUNS_AT_ONCE: Final = 500
_SCORES: Final[Floats] = np.array([1.0, 0.5, 0.0])
_FAVOURED: Final = 0.5
"""Of the pairs of a question that leans to one side so many are moved to that side."""

LookFigure = Literal["win_rate", "accuracy", "win_rate_over_questions", "corrected"]


class LookSetting(NamedTuple):
    """What is looked at: a figure whose truth is ``mean``, with this share of ``ties``, in questions of ``a_question``
    pairs."""

    figure: LookFigure
    mean: float
    ties: float = 0.0
    a_question: int = 1

    @property
    def words(self) -> str:
        """The setting for people."""
        if self.figure == "accuracy":
            return f"accuracy {self.mean:g}"
        if self.figure == "corrected":
            return f"corrected rate {self.mean:g}, judge right on .8, every 5th pair labelled"
        within = "" if self.a_question == 1 else f", {self.a_question} pairs a question"
        return f"win rate {self.mean:g}, {self.ties:.0%} ties{within}"


LOOKS: Final = (
    *(LookSetting("win_rate", 0.5, ties) for ties in (0.0, 0.2, 0.6)),
    *(LookSetting("win_rate", mean, 0.2) for mean in (0.3, 0.85)),
    *(LookSetting("accuracy", mean) for mean in (0.5, 0.8, 0.95)),
    LookSetting("win_rate_over_questions", 0.5, 0.2, 4),
    LookSetting("corrected", 0.5),
)


class SavingSetting(NamedTuple):
    """A run of so many ``pairs`` of which B wins with this rate, a share of them being ties."""

    mean: float
    ties: float
    pairs: int


SAVINGS: Final = tuple(
    SavingSetting(mean, ties, pairs) for mean in (0.6, 0.55) for ties in (0.0, 0.2) for pairs in (400, 1000, 3000)
)
"""A true difference of .1 from one half, and of .1 between the shares of A and B."""


@dataclass(frozen=True, slots=True)
class Looked:
    """In which share of the runs an interval excluded the truth at some look."""

    setting: LookSetting
    runs: int
    pairs: int
    at_any_time: float
    ordinary: float | None


@dataclass(frozen=True, slots=True)
class Saved:
    """The effect of stopping at the first look that excludes one half.

    ``stopped`` is the share of the runs that stopped before their last pair, ``asked`` the median share of the pairs
    that were asked, and ``found`` the share of the runs in which the ordinary interval, looked at once at the end,
    excludes one half.
    """

    setting: SavingSetting
    runs: int
    stopped: float
    asked: float
    found: float


def look(setting: LookSetting, runs: int, pairs: int = PAIRS, seed: int = 0) -> Looked:
    """Looks after every pair (or question) of simulated runs."""
    rng = np.random.default_rng(seed)
    wrong = peeked = 0
    for start in range(0, runs, _RUNS_AT_ONCE):
        count = min(_RUNS_AT_ONCE, runs - start)
        if setting.figure == "corrected":
            wrong += int(_corrected_excludes(rng, setting, count, pairs).sum())
            continue
        kinds = _drawn(rng, setting, count, pairs)
        if setting.a_question > 1:
            wrong += int(_question_excludes(kinds, setting).sum())
        else:
            wrong += int((_log_e(kinds, setting.mean) >= -np.log(ALPHA)).any(axis=1).sum())
        ordinary = _wilson_excludes if setting.figure == "accuracy" else _ordinary_excludes
        peeked += int(ordinary(kinds, setting.mean).any(axis=1).sum())
    rate = peeked / runs if setting.figure in ("win_rate", "accuracy") else None
    return Looked(setting, runs, pairs, wrong / runs, rate)


def save(setting: SavingSetting, runs: int, seed: int = 0) -> Saved:
    """Stops simulated runs at the first look that excludes one half."""
    rng = np.random.default_rng(seed)
    shares: list[Floats] = []
    exclusions = 0
    for start in range(0, runs, _RUNS_AT_ONCE):
        count = min(_RUNS_AT_ONCE, runs - start)
        kinds = _drawn(rng, LookSetting("win_rate", setting.mean, setting.ties), count, setting.pairs)
        excluded = _log_e(kinds, 0.5) >= -np.log(ALPHA)
        first = np.where(excluded.any(axis=1), excluded.argmax(axis=1) + 1, setting.pairs)
        shares.append(first / setting.pairs)
        exclusions += int(_ordinary_excludes(kinds, 0.5)[:, -1].sum())
    asked = np.concatenate(shares)
    return Saved(setting, runs, float((asked < 1).mean()), float(np.median(asked)), exclusions / runs)


def _drawn(rng: np.random.Generator, setting: LookSetting, runs: int, pairs: int) -> NDArray[np.int64]:
    """Places in ``_SCORES`` of shape (runs, pairs); pairs of a question lean to one side."""
    shares = (setting.mean - setting.ties / 2, setting.ties, 1 - setting.mean - setting.ties / 2)
    drawn = rng.random((runs, pairs))
    if setting.a_question > 1:
        # Whole questions in which a share of the pairs takes over the first one's outcome.
        first = np.repeat(drawn[:, :: setting.a_question], setting.a_question, axis=1)[:, :pairs]
        drawn = np.where(rng.random((runs, pairs)) < _FAVOURED, first, drawn)
    return np.searchsorted(np.cumsum(shares)[:2], drawn, side="right")


def _log_e(kinds: NDArray[np.int64], mean: float) -> Floats:
    """The logarithm of the e-value of both sides after every pair."""
    factors = [log_factors(side, np.ones(3), _SCORES, 1, np.array([mean])) for side in SIDES]
    evidence: Floats = _capital(kinds, factors) - np.log(2)
    return evidence


def _capital(kinds: NDArray[np.int64], factors: Sequence[Floats]) -> Floats:
    sides = []
    for side in factors:
        total = np.full(kinds.shape, -np.inf)
        for weight, logs in zip(LOG_WEIGHTS, side[:, 0, :], strict=True):
            total = np.logaddexp(total, weight + logs[kinds].cumsum(axis=1))
        sides.append(total)
    capital: Floats = np.maximum(*sides)
    return capital


def _question_excludes(kinds: NDArray[np.int64], setting: LookSetting) -> NDArray[np.bool_]:
    """Whether the interval over questions excludes the truth after some question."""
    size = setting.a_question
    whole = kinds[:, : kinds.shape[1] // size * size]
    halves = (2 * _SCORES)[whole].reshape(len(kinds), -1, size).sum(axis=2).astype(np.int64)
    totals = np.arange(2 * size + 1) / 2
    kinds_of = (np.full(len(totals), float(size)), totals, size, np.array([setting.mean]))
    factors = [log_factors(side, *kinds_of) for side in SIDES]
    excludes: NDArray[np.bool_] = (_capital(halves, factors) >= np.log(2 / ALPHA)).any(axis=1)
    return excludes


_RIGHT, _LABEL_EVERY = 0.8, 5


def _corrected_excludes(rng: np.random.Generator, setting: LookSetting, runs: int, pairs: int) -> NDArray[np.bool_]:
    """Whether one of the three intervals behind a corrected rate excludes its truth at some look: an upper bound of how
    often it does itself."""
    human = rng.random((runs, pairs)) < setting.mean
    verdict = np.where(rng.random((runs, pairs)) < _RIGHT, human, ~human)
    said = setting.mean * _RIGHT + (1 - setting.mean) * (1 - _RIGHT)
    by_verdicts = _log_e(np.where(verdict, 0, 2), said) >= -np.log(VERDICT_ALPHA)
    labelled = slice(None, None, _LABEL_EVERY)
    moved = (human[:, labelled].astype(np.int64) - verdict[:, labelled] + 1) / 2
    by_labels = _log_e(np.rint(2 - 2 * moved).astype(np.int64), (setting.mean - said + 1) / 2) >= -np.log(LABEL_ALPHA)
    alone = _log_e(np.where(human[:, labelled], 0, 2), setting.mean) >= -np.log(LABEL_ALPHA)
    excludes: NDArray[np.bool_] = by_verdicts.any(axis=1) | by_labels.any(axis=1) | alone.any(axis=1)
    return excludes


def _ordinary_excludes(kinds: NDArray[np.int64], mean: float) -> NDArray[np.bool_]:
    n = np.arange(1, kinds.shape[1] + 1, dtype=float)
    low, high = win_rate_ends((kinds == 0).cumsum(axis=1), (kinds == 1).cumsum(axis=1), n)
    excludes: NDArray[np.bool_] = (low > mean) | (high < mean)
    return excludes


def _wilson_excludes(kinds: NDArray[np.int64], mean: float) -> NDArray[np.bool_]:
    """Wilson's interval is the set of rates that the score test does not reject."""
    n = np.arange(1, kinds.shape[1] + 1, dtype=float)
    off = (kinds == 0).cumsum(axis=1) / n - mean
    excludes: NDArray[np.bool_] = abs(off) > Z * np.sqrt(mean * (1 - mean) / n)
    return excludes


class RankSetting(NamedTuple):
    """``systems`` on so many ``questions``, the strengths of neighbours ``gap`` apart (Bradley and Terry: 1 is a rate
    of 73 % between neighbours, 0 makes all equal); one match in ten is a tie."""

    systems: int
    questions: int
    gap: float


RANKINGS: Final = (
    RankSetting(4, 100, 0.0),
    RankSetting(5, 100, 1.0),
    RankSetting(5, 400, 1.0),
    RankSetting(5, 400, 0.5),
    RankSetting(8, 200, 1.0),
)
RANK_SHARE: Final = 20
"""Rankings take longer: a run for so many of the others."""
_TIES: Final = 0.1


@dataclass(frozen=True, slots=True)
class RankedRuns:
    """The results of choosing matches (:mod:`judgenet.stats.adaptive_matches`): the share of the runs with two systems
    separated that are equal or the other way round (``wrong``), of those with each separated from the next, and the
    median share of all matches that were played."""

    setting: RankSetting
    runs: int
    wrong: float
    separated: float
    played: float


def rank_runs(setting: RankSetting, runs: int, seed: int = 0) -> RankedRuns:
    """Chooses the matches of simulated runs until ranks are separated or no match is left."""
    rng = np.random.default_rng(seed)
    pairs = list(combinations(range(setting.systems), 2))
    matches = {
        pair: [(place * setting.questions + question,) for question in range(setting.questions)]
        for place, pair in enumerate(pairs)
    }
    total = len(pairs) * setting.questions
    wrong = separated = 0
    shares = []
    for _ in range(runs):
        strengths = rng.permutation(setting.systems) * setting.gap
        plan = AdaptiveMatches(setting.systems, matches)
        while (match := plan.next_match()) is not None:
            first, second = pairs[match // setting.questions]
            wins = 1 / (1 + np.exp(strengths[second] - strengths[first]))
            plan.take(match, 0.5 if rng.random() < _TIES else float(rng.random() < wins))
        wrong += any(
            neighbours.separated and strengths[neighbours.better] <= strengths[neighbours.worse]
            for neighbours in plan.neighbours
        )
        separated += plan.separated
        shares.append(plan.played / total)
    return RankedRuns(setting, runs, wrong / runs, separated / runs, float(np.median(shares)))


def _too_often(share: float, runs: int) -> bool:
    """Whether a share of the runs is above what is promised, by more than the simulation's own error."""
    return share > ALPHA + 3 * float(np.sqrt(ALPHA * (1 - ALPHA) / runs))


def anytime_failures(looks: Sequence[Looked], rankings: Sequence[RankedRuns] = ()) -> list[str]:
    """Which intervals exclude the truth, and which rankings separate systems wrongly, more often than they promise."""
    return [
        f"{look.setting.words}: excluded in {look.at_any_time:.4f} of {look.runs:,} runs"
        for look in looks
        if _too_often(look.at_any_time, look.runs)
    ] + [
        f"{ranking.setting.systems} systems, gap {ranking.setting.gap:g}: wrongly separated in {ranking.wrong:.4f} of "
        f"{ranking.runs:,} runs"
        for ranking in rankings
        if _too_often(ranking.wrong, ranking.runs)
    ]


def simulate_anytime(
    runs: int, seed: int = 0, on_setting: Callable[[str], object] | None = None
) -> tuple[list[Looked], list[Saved], list[RankedRuns]]:
    """All settings; ``on_setting`` is called with each before it begins."""
    looks, savings, rankings = [], [], []
    for place, setting in enumerate(LOOKS):
        if on_setting is not None:
            on_setting(setting.words)
        looks.append(look(setting, runs, seed=seed + place))
    for place, saving in enumerate(SAVINGS):
        if on_setting is not None:
            on_setting(f"savings at {saving.mean:g}, {saving.pairs:,} pairs")
        savings.append(save(saving, runs, seed=seed + 100 + place))
    for place, ranking in enumerate(RANKINGS):
        if on_setting is not None:
            on_setting(f"{ranking.systems} systems, {ranking.questions:,} questions")
        rankings.append(rank_runs(ranking, max(1, runs // RANK_SHARE), seed=seed + 200 + place))
    return looks, savings, rankings
