"""Every interval holds its estimate, and has a width unless the value is known: on a thousand random runs, small and
one-sided ones among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from judgenet.core.labels import Chosen
from judgenet.core.network import Aggregation
from judgenet.core.pairs import Verdict
from judgenet.stats.agreement import agreement_of
from judgenet.stats.calibration import k_class_bootstrap, rates
from judgenet.stats.clustered import rates_over_questions, split_counts
from judgenet.stats.comparison import compare, rate_difference
from judgenet.stats.curves import CODES, Codes, agreement_curves, pair_counts
from judgenet.stats.discussion import change_counts, overturns_of
from judgenet.stats.diversity import verdict_diversity
from judgenet.stats.intervals import Interval, agreement_intervals, agreements_intervals, decided_win_rate, shown_rate
from judgenet.stats.length import length_adjusted
from judgenet.stats.panel import against_people, panel_of
from judgenet.stats.ranking import Game, rank
from judgenet.stats.resampling import label_table, question_counts
from judgenet.stats.uncertainty import conflicts, review_curve, review_need
from judgenet.stats.whatif import Calls, what_if

Groups = NDArray[np.int64]
RESAMPLES = 60


class Shown(NamedTuple):
    name: str
    value: float | None
    interval: Interval | None
    known: bool = False


class Run(NamedTuple):
    """Labels, verdicts of two networks and of three neurons (pairs, neurons), and the question of each pair."""

    human: Codes
    one: Codes
    other: Codes
    neurons: Codes
    questions: Groups
    rng: np.random.Generator


def random_run(seed: int) -> Run:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    truth = rng.choice(np.array([1, 2, 3], np.uint8), size=n, p=rng.dirichlet([rng.choice([0.1, 1.0, 5.0])] * 3))
    if rng.random() < 0.4:
        truth[truth == 2] = 1

    def judged(right: float) -> Codes:
        said = np.where(rng.random(n) < right, truth, rng.choice(np.array([1, 2, 3], np.uint8), size=n))
        if rng.random() < 0.4:
            said[said == 2] = 3
        said[rng.random(n) < rng.choice([0.0, 0.05])] = 0
        return said.astype(np.uint8)

    human = np.where(rng.random(n) < rng.choice([0.4, 0.9, 1.0]), truth, 0).astype(np.uint8)
    right = rng.choice([0.3, 0.7, 0.95, 1.0], size=5)
    neurons = np.stack([judged(of) for of in right[2:]], axis=1)
    questions = rng.integers(max(1, int(n * rng.choice([0.3, 0.6]))), size=n) if rng.random() < 0.6 else np.arange(n)
    return Run(human, judged(right[0]), judged(right[1]), neurons, questions.astype(np.int64), rng)


def _rates(run: Run) -> Iterator[Shown]:
    counts = question_counts(run.questions, run.one, run.human)
    labelled, others = split_counts(counts)
    choices: tuple[Chosen, ...] = ("random", "within-verdict", "imported")
    for chosen in choices:
        for over, found in (
            ("pairs", rates(labelled, others, chosen)),
            ("questions", rates_over_questions(counts, chosen, resamples=RESAMPLES)),
        ):
            all_of = {**found.estimates, "decided": found.decided, "these_pairs": found.stratified.these_pairs}
            for name, estimate in all_of.items():
                known = any("known" in note for note in estimate.notes)
                yield Shown(f"rate {name} {chosen} over {over}", estimate.value, estimate.interval, known)
                assert estimate.interval is not None or estimate.reason, name
        if chosen == "imported":
            value = found.estimates["k_class"].value
            if value is not None:
                bootstrap = k_class_bootstrap(labelled, others, resamples=RESAMPLES)
                yield Shown("K-class bootstrap", value, bootstrap.interval)
    by_label = counts[:, 1:].sum(axis=2)
    a, tie, b = (int(count) for count in by_label.sum(axis=0))
    decided = decided_win_rate(a, b, by_label[:, [0, 2]])
    yield Shown("decided verdicts", decided.value, decided.interval)
    whole = shown_rate(a, b, tie)
    yield Shown("win rate", whole.value, whole.interval)
    lengths = run.rng.normal(size=len(run.one)).round(1)
    used = run.one > 0
    adjusted = length_adjusted(((run.one[used] - 1) / 2).tolist(), lengths[used].tolist(), run.questions[used].tolist())
    yield Shown("at equal length", adjusted.value, adjusted.interval)


def _agreement(run: Run) -> Iterator[Shown]:
    found = agreement_of(pair_counts(run.human, run.one))
    [clustered] = agreements_intervals([found], [label_table(run.questions, run.human, run.one)], resamples=RESAMPLES)
    for over, within in (("pairs", agreement_intervals(found, resamples=RESAMPLES)), ("questions", clustered)):
        for name in ("accuracy", "macro_f1", "kappa"):
            yield Shown(f"{name} over {over}", getattr(found, name), getattr(within, name))
    curve = agreement_curves(run.human, run.one)
    for value, low, high in zip(curve.accuracy.values, curve.low, curve.high, strict=True):
        yield Shown("accuracy as pairs finish", float(value), Interval(float(low), float(high)))


def _differences(run: Run) -> Iterator[Shown]:
    both = (run.one > 0) & (run.other > 0)
    cells: Counter[tuple[Verdict | None, Verdict, Verdict]] = Counter()
    for human, one, other in zip(run.human[both], run.one[both], run.other[both], strict=True):
        first, second = CODES[one], CODES[other]
        assert first is not None
        assert second is not None
        cells[CODES[human], first, second] += 1
    table = question_counts(run.questions[both], run.human[both], run.one[both], run.other[both])
    for over, by_question in (("pairs", None), ("questions", table)):
        found = compare(cells, by_question=by_question, resamples=RESAMPLES)
        yield Shown(f"McNemar over {over}", found.test.difference, found.test.interval)
        rate = rate_difference(cells, "random", by_question=by_question, resamples=RESAMPLES)
        for name, of in {**found.differences, "rate": rate}.items():
            yield Shown(f"difference of {name} over {over}", of.difference, of.interval)


def _panels(run: Run) -> Iterator[Shown]:
    names = ("x", "y", "z")
    repeated = len(np.unique(run.questions)) < len(run.questions)
    groups = run.questions if repeated else None
    panel = panel_of(names, run.neurons, groups=groups, resamples=RESAMPLES)
    for name in ("h", "alpha_nominal", "alpha_ordinal", "fleiss"):
        of = getattr(panel, name)
        yield Shown(f"panel {name}", of.value, of.interval)
    for rater in against_people(names, run.neurons, run.human, groups=groups, resamples=RESAMPLES).raters:
        for name in ("accuracy", "kappa"):
            yield Shown(f"rater {name}", getattr(rater.agreement, name), getattr(rater.intervals, name))
        assert rater.only_best <= rater.n_common
    spread = verdict_diversity(run.neurons, run.human, groups)
    for name in ("disagreement", "entropy", "unanimous", "q", "double_fault", "error_disagreement", "oracle"):
        mean = getattr(spread, name)
        yield Shown(f"diversity {name}", mean.value, mean.interval)
    flips = conflicts(run.one, run.other, groups)
    yield Shown("flips", flips.value, flips.interval)
    turned = overturns_of(change_counts(run.one, run.other, run.human))
    yield Shown("overturned", turned.rate, turned.interval)


def _reviews(run: Run) -> Iterator[Shown]:
    entropy = run.rng.choice([0.0, 0.45, 0.69, 1.01], size=len(run.one))
    groups = run.questions if run.rng.random() < 0.5 else None
    right = float(run.rng.choice([1.0, 0.85]))
    curve = review_curve(
        run.human, run.one, entropy, shares=(0.0, 0.3, 1.0), reviewed_right=right, groups=groups, resamples=RESAMPLES
    )
    for point in curve.points:
        yield Shown("accuracy after review", point.accuracy, point.interval)
        yield Shown("untouched", point.untouched.accuracy, point.untouched_interval)
    need = review_need(run.human, run.one, entropy, 0.8, reviewed_right=right, groups=groups, resamples=RESAMPLES)
    yield Shown("share to review", need.measured, need.interval)
    yield Shown("accuracy before review", need.accuracy, need.accuracy_interval)


def _sizes(run: Run) -> Iterator[Shown]:
    differences = np.where(run.neurons == 0, np.nan, 2.0 - run.neurons)[:, :, None, None] * np.ones((1, 1, 2, 1))
    asked = np.ones(differences.shape, dtype=bool)
    found = what_if(Calls(differences, asked, np.array([1, 1, 1]), run.human, run.questions), Aggregation())
    for point in () if found is None else (*found.points, found.best):
        yield Shown("accuracy of a size", point.accuracy, point.interval)
        whole = point.width == point.of_width and len(point.orders) == 2
        yield Shown("difference of a size", point.difference, point.difference_interval, known=whole)


def _ranking(run: Run) -> Iterator[Shown]:
    games = []
    for said, question in zip(run.one.tolist(), run.questions.tolist(), strict=True):
        a, b = run.rng.permutation(3)[:2].tolist()
        verdict = CODES[said]
        if verdict is not None:
            games.append(Game(a, b, verdict, question))
    for system in rank(("x", "y", "z"), games, resamples=RESAMPLES).systems:
        yield Shown("rating", system.rating, system.interval, known=not system.games)


PARTS: tuple[Callable[[Run], Iterator[Shown]], ...] = (
    _rates,
    _agreement,
    _differences,
    _panels,
    _reviews,
    _sizes,
    _ranking,
)


@pytest.mark.parametrize("place", range(len(PARTS)))
def test_every_interval_holds_its_estimate(place: int) -> None:
    """A seventh of the thousand runs each."""
    seen: Counter[str] = Counter()
    for seed in range(place, 1001, len(PARTS)):
        for name, value, interval, known in PARTS[place](random_run(seed)):
            if interval is None:
                continue
            seen[name] += 1
            assert value is not None, (seed, name)
            assert interval.low <= value <= interval.high, (seed, name, value, interval)
            assert known or interval.high - interval.low > 1e-9, (seed, name, value, interval)
    assert seen
