"""Corrected win rates of pairs that share questions: against plain resampling of questions, and simulated truths."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from judgenet.core.pairs import Verdict
from judgenet.stats.agreement import agreement_of
from judgenet.stats.calibration import Method, rates
from judgenet.stats.clustered import rates_over_questions, split_counts
from judgenet.stats.curves import pair_counts
from judgenet.stats.intervals import agreement_intervals, agreements_intervals, share_interval, wilson
from judgenet.stats.resampling import few_questions, label_table, question_counts, resampled

Codes = NDArray[np.uint8]


def test_counts_by_question() -> None:
    counts = question_counts(np.array([0, 0, 1]), np.array([1, 1, 3]), np.array([0, 3, 2]))
    assert counts.shape == (2, 4, 4)
    assert (counts[0, 1, 0], counts[0, 1, 3], counts[1, 3, 2], counts.sum()) == (1, 1, 1, 3)
    with pytest.raises(ValueError, match="each pair"):
        question_counts(np.array([0, 1]), np.array([1]))


@pytest.mark.parametrize("kinds", [2, 4000])
def test_a_resample_is_a_sum_of_drawn_questions(kinds: int) -> None:
    """Mean and covariance of the sums are those of a multinomial bootstrap: n times the mean and the covariance of the
    rows; with few kinds of questions and with as many kinds as questions."""
    rng = np.random.default_rng(3)
    table = rng.integers(0, 3, size=(kinds, 3)).astype(float)[rng.integers(kinds, size=1200)]
    table[:, 2] += np.arange(1200) * (kinds > 1000)
    [drawn] = resampled([table], resamples=4000, seed=1)
    assert drawn.shape == (4000, 3)
    assert drawn.mean(axis=0) == pytest.approx(table.sum(axis=0), rel=0.01)
    assert np.cov(drawn.T) == pytest.approx(1200 * np.cov(table.T), rel=0.1, abs=60 if kinds < 10 else 20_000)


def test_a_table_is_drawn_alike_whatever_stands_beside_it() -> None:
    rng = np.random.default_rng(3)
    one, other = (rng.integers(0, 900, size=(50, 4)).astype(float) for _ in range(2))
    alone = resampled([one], resamples=20, seed=4)[0]
    assert (alone == resampled([other, one], resamples=20, seed=4)[1]).all()
    # Of a question that all tables know, all draw the same.
    assert (resampled([one, 2 * one], resamples=20, seed=4)[1] == 2 * alone).all()
    assert (alone != resampled([one], resamples=20, seed=5)[0]).any()


def test_very_many_questions_are_drawn_from_the_normal_limit() -> None:
    """Six thousand questions of five pairs: as by drawing them one by one, from which the limit is kept by a cell that
    only few questions have."""
    rng = np.random.default_rng(6)
    table = rng.multinomial(5, (0.4, 0.1, 0.1, 0.25, 0.05, 0.1), size=6000).astype(float)
    table = table * rng.integers(1, 4, size=(6000, 1))
    rare = np.zeros((6000, 1))
    rare[:50] = 1
    [limit] = resampled([table], resamples=4000, seed=1)
    [plain] = resampled([np.concatenate([table, rare], axis=1)], resamples=4000, seed=1)
    assert (plain == np.rint(plain)).all()
    assert (limit != np.rint(limit)).any()
    shares = [drawn[:, 0] / drawn[:, :6].sum(axis=1) for drawn in (limit, plain)]
    ends = [np.percentile(share, (2.5, 50, 97.5)) for share in shares]
    width = ends[1][2] - ends[1][0]
    assert ends[0] == pytest.approx(ends[1], abs=0.05 * width)
    assert np.cov(limit.T) == pytest.approx(np.cov(plain[:, :6].T), rel=0.1, abs=0.02 * np.cov(plain.T).max())
    # What never varies does not vary here either.
    steady = np.concatenate([table, np.full((6000, 1), 2.0), np.zeros((6000, 1))], axis=1)
    [drawn] = resampled([steady], resamples=50, seed=1)
    assert drawn[:, 6] == pytest.approx(12_000)
    assert drawn[:, 7] == pytest.approx(0, abs=1e-6)


def test_ten_questions_have_an_interval() -> None:
    assert few_questions(10, 50) == few_questions(5, 5) == ""
    assert "9 questions" in few_questions(9, 50)


def _said(rng: np.random.Generator, human: Codes, right: float) -> Codes:
    return np.where(rng.random(len(human)) < right, human, rng.choice([1, 3], size=len(human))).astype(np.uint8)


def _population(rng: np.random.Generator, questions: int, each: int, right: float = 0.7) -> tuple[Codes, Codes]:
    """(human, verdict) of pairs whose labels lean by their question: three quarters of the pairs of a question go to
    the response that it favours, and the judge errs on whole questions."""
    lean = rng.choice([1, 3], size=questions)
    human = np.where(rng.random((questions, each)) < 0.75, lean[:, None], 4 - lean[:, None])
    wrong = rng.random(questions) >= right
    said = np.where(wrong[:, None] & (rng.random((questions, each)) < 0.9), 4 - human, human)
    return human.ravel().astype(np.uint8), said.ravel().astype(np.uint8)


def _own_bootstrap(
    questions: Codes, human: Codes, said: Codes, used: NDArray[np.bool_], draws: int
) -> NDArray[np.float64]:
    """The stratified estimate of resamples, question by question, pair by pair."""
    rng = np.random.default_rng(9)
    of = [np.flatnonzero(questions == number) for number in range(int(questions.max()) + 1)]
    values = []
    for _ in range(draws):
        pairs = np.concatenate([of[number] for number in rng.integers(len(of), size=len(of))])
        value = 0.0
        for verdict in (1, 3):
            mine = pairs[said[pairs] == verdict]
            labels = human[mine[used[mine]]]
            value += len(mine) / len(pairs) * ((labels == 3).sum() + 0.5) / (len(labels) + 1)
        values.append(value)
    return np.array(values)


def test_the_stratified_interval_is_that_of_drawn_questions() -> None:
    rng = np.random.default_rng(2)
    human, said = _population(rng, 120, 6)
    questions = np.repeat(np.arange(120), 6)
    used = np.isin(questions, rng.choice(120, 60, replace=False))
    found = rates_over_questions(question_counts(questions, said, np.where(used, human, 0)), "random")
    plain = rates(*split_counts(question_counts(questions, said, np.where(used, human, 0))), "random")
    own = _own_bootstrap(questions, human, said, used, 600)
    estimate = found.estimates["stratified"]
    assert estimate.value == plain.estimates["stratified"].value
    assert found.stratified.se == pytest.approx(own.std(), rel=0.1)
    assert found.stratified.se is not None
    assert plain.stratified.se is not None
    assert found.stratified.se > 1.3 * plain.stratified.se
    assert (estimate.questions, found.estimates["naive"].questions) == (60, 120)
    for method in get_args(Method):
        shown, before = found.estimates[method], plain.estimates[method]
        assert shown.value == before.value
        assert (shown.interval is None) == (before.interval is None)


def test_questions_of_one_pair_change_nothing() -> None:
    rng = np.random.default_rng(2)
    human, said = _population(rng, 200, 1)
    label = np.where(np.arange(200) < 80, human, 0)
    found = rates_over_questions(question_counts(np.arange(200), said, label), "random")
    plain = rates(*split_counts(question_counts(np.arange(200), said, label)), "random")
    for method in get_args(Method):
        assert found.estimates[method].interval == plain.estimates[method].interval
    assert found.estimates["human_only"].questions == 80


def test_nine_questions_have_values_and_no_interval() -> None:
    rng = np.random.default_rng(2)
    human, said = _population(rng, 9, 20)
    found = rates_over_questions(
        question_counts(np.repeat(np.arange(9), 20), said, human * (np.arange(180) % 2)), "random"
    )
    for method in ("naive", "stratified", "ppi", "human_only"):
        estimate = found.estimates[method]
        assert estimate.value is not None
        assert estimate.interval is None
        assert "9 questions" in estimate.reason
    assert found.decided.interval is None


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_intervals_over_questions_hold_where_those_over_pairs_do_not(theta: float) -> None:
    """Forty labelled questions of 5 pairs that are alike: the truth is in 95 % of the intervals over questions (of 300,
    less three standard errors and the error of a normal interval), and in few of those over pairs. With labels that
    are all alike the interval is as wide as that of 40 pairs."""
    rng = np.random.default_rng(8)
    inside = inside_pairs = 0
    widths = []
    for _ in range(300):
        truth = rng.random(200) < theta
        human = np.repeat(np.where(truth, 3, 1), 5).astype(np.uint8)
        said = np.repeat(np.where(rng.random(200) < 0.8, np.where(truth, 3, 1), 1), 5).astype(np.uint8)
        questions = np.repeat(np.arange(200), 5)
        label = np.where(np.isin(questions, rng.choice(200, 40, replace=False)), human, 0)
        counts = question_counts(questions, said, label)
        interval = rates_over_questions(counts, "random", resamples=400).estimates["stratified"].interval
        over_pairs = rates(*split_counts(counts), "random").estimates["stratified"].interval
        assert interval is not None
        assert over_pairs is not None
        inside += interval.low <= theta <= interval.high
        inside_pairs += over_pairs.low <= theta <= over_pairs.high
        widths.append(interval.high - interval.low)
    assert inside >= 0.91 * 300
    if theta == 0.5:
        assert inside_pairs < 0.75 * 300
    else:
        assert 0.02 < np.mean(widths) < 0.12


def test_many_agreements_are_those_that_are_asked_one_by_one() -> None:
    rng = np.random.default_rng(4)
    human, _ = _population(rng, 30, 4)
    questions = np.repeat(np.arange(30), 4)
    order: list[Verdict] = ["a", "b", "tie"]
    tables, agreements, by_question = [], [], []
    for right in (0.9, 0.6):
        counts = question_counts(questions, human, _said(rng, human, right))[:, [1, 3, 2]][:, :, [1, 3, 2]]
        tables.append(counts.reshape(30, 9))
        cells = [
            {(one, other): int(row[i, j]) for i, one in enumerate(order) for j, other in enumerate(order)}
            for row in counts
        ]
        by_question.append(cells)
        whole = counts.sum(axis=0)
        agreements.append(
            agreement_of(
                {(one, other): int(whole[i, j]) for i, one in enumerate(order) for j, other in enumerate(order)}
            )
        )
    together = agreements_intervals(agreements, tables)
    for one, found, cells in zip(agreements, together, by_question, strict=True):
        assert found == agreement_intervals(one, questions=cells)
        assert found.questions == 30


def test_questions_without_a_pair_that_counts_change_no_interval() -> None:
    """Neither those of its own table, nor an agreement beside it that uses other questions."""
    rng = np.random.default_rng(5)
    human, _ = _population(rng, 40, 3)
    questions = np.repeat(np.arange(40), 3)
    whole, part = _said(rng, human, 0.8), _said(rng, human, 0.7)
    part[questions >= 25] = 0
    agreements = [agreement_of(pair_counts(human, said)) for said in (whole, part)]
    tables = [label_table(questions, human, said) for said in (whole, part)]
    together = agreements_intervals(agreements, tables)
    assert [of.questions for of in together] == [40, 25]
    assert together == [agreements_intervals([of], [table])[0] for of, table in zip(agreements, tables, strict=True)]
    assert together[1] == agreements_intervals([agreements[1]], [tables[1][:25]])[0]


def test_a_share_over_questions() -> None:
    """The accuracy of an agreement, and Wilson's interval where each question has one pair."""
    rng = np.random.default_rng(4)
    questions = np.repeat(np.arange(60), 4)
    right = np.repeat(rng.random(60) < 0.7, 4) ^ (rng.random(240) < 0.1)
    found = share_interval(questions, right)
    human = np.full(240, 1, dtype=np.uint8)
    table = label_table(questions, human, np.where(right, 1, 3))
    counts = {("a", "a"): int(right.sum()), ("a", "b"): int((~right).sum())}
    [spread] = agreements_intervals([agreement_of(counts)], [table])  # type: ignore[arg-type]
    assert found == pytest.approx(spread.accuracy, abs=0.01)
    assert share_interval(np.arange(240), right) == wilson(int(right.sum()), 240)
    assert share_interval(questions % 9, right) is None
    assert share_interval(questions, np.ones(240, dtype=bool)) == wilson(60, 60)
    assert share_interval(questions[:0], right[:0]) is None


def test_equal_pairs_of_one_question_are_one_pair() -> None:
    """All right on 20 questions of three pairs: Wilson's interval of 20 of 20."""
    found = agreement_intervals(agreement_of({("a", "a"): 60}), questions=[{("a", "a"): 3}] * 20)
    assert found.accuracy == pytest.approx((0.838875, 1), abs=1e-6)
