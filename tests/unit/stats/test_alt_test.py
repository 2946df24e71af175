"""The Alternative Annotator Test, against the paper's procedure written out with scipy and statsmodels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import ttest_1samp  # type: ignore[import-untyped]
from statsmodels.api import OLS  # type: ignore[import-untyped]
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]

from judgenet.figures.alt_test import annotator_codes, run_alt_test
from judgenet.formats import read_pairs
from judgenet.formats.judgments import read_judgments
from judgenet.stats.alt_test import AltTest, alt_test
from judgenet.stats.multiple import benjamini_yekutieli
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.recorded import import_run, select

Codes = NDArray[np.uint8]


def _crowd(n: int, accuracies: tuple[float, ...], seed: int = 0) -> tuple[Codes, Codes]:
    """A truth of three classes, and annotators that are right so often; one in five labels is missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 4, n).astype(np.uint8)
    labels = np.stack([np.where(rng.random(n) < of, truth, rng.integers(1, 4, n)) for of in accuracies], axis=1).astype(
        np.uint8
    )
    labels[rng.random(labels.shape) < 0.2] = 0
    return truth, labels


def _by_the_paper(
    judge: Codes, labels: Codes, epsilon: float
) -> tuple[list[float], list[bool], list[float], list[tuple[float, float]]]:
    """p values, wins, advantages, and both advantage probabilities: equations 1 to 5 of arXiv 2501.10970."""
    ps, advantages, both = [], [], []
    for left_out in range(labels.shape[1]):
        of_judge, of_human = [], []
        for said, row in zip(judge, labels, strict=True):
            others = [label for place, label in enumerate(row) if place != left_out and label]
            if not (said and row[left_out] and others):
                continue
            judge_score = sum(said == other for other in others) / len(others)
            human_score = sum(row[left_out] == other for other in others) / len(others)
            of_judge.append(float(judge_score >= human_score))
            of_human.append(float(human_score >= judge_score))
        differences = np.array(of_human) - np.array(of_judge)
        ps.append(float(ttest_1samp(differences, epsilon, alternative="less").pvalue))
        advantages.append(float(np.mean(of_judge)))
        both.append((float(np.mean(of_judge)), float(np.mean(of_human))))
    wins, _, _, _ = multipletests(ps, alpha=0.05, method="fdr_by")
    return ps, wins.tolist(), advantages, both


def _agrees(found: AltTest, judge: Codes, labels: Codes, epsilon: float) -> None:
    ps, wins, advantages, both = _by_the_paper(judge, labels, epsilon)
    assert [of.p for of in found.annotators] == pytest.approx(ps, abs=1e-12)
    assert [of.won for of in found.annotators] == wins
    assert [(of.judge, of.annotator) for of in found.annotators] == [pytest.approx(two) for two in both]
    assert found.winning_rate == pytest.approx(np.mean(wins))
    assert found.advantage.value == pytest.approx(np.mean(advantages))
    assert found.passes == (np.mean(wins) >= 0.5)


@pytest.mark.parametrize(("accuracy", "epsilon", "passes"), [(0.9, 0.1, True), (0.55, 0.1, False), (0.7, 0.2, True)])
def test_it_is_the_procedure_of_the_paper(accuracy: float, epsilon: float, passes: bool) -> None:
    truth, labels = _crowd(150, (0.8, 0.7, 0.75, 0.6))
    rng = np.random.default_rng(7)
    judge = np.where(rng.random(150) < accuracy, truth, rng.integers(1, 4, 150)).astype(np.uint8)
    judge[:5] = 0
    found = alt_test(judge, ("w", "x", "y", "z"), labels, epsilon=epsilon)
    _agrees(found, judge, labels, epsilon)
    assert found.passes is passes
    low, high = found.advantage.interval or (1.0, 0.0)
    assert low < (found.advantage.value or 0) < high
    assert all(of.n < of.n_total < 150 for of in found.annotators)


def test_p_values_are_adjusted_as_statsmodels_does() -> None:
    ps = [0.001, 0.2, 0.011, 0.04, 0.9]
    _, expected, _, _ = multipletests(ps, method="fdr_by")
    assert benjamini_yekutieli(ps) == pytest.approx(expected)
    with_none = benjamini_yekutieli([0.01, None, 0.02])
    assert with_none[1] is None
    assert [p for p in with_none if p is not None] == pytest.approx(multipletests([0.01, 0.02], method="fdr_by")[1])
    with pytest.raises(ValueError, match=r"not 1\.5"):
        benjamini_yekutieli([1.5])


def test_pairs_of_one_question_are_no_further_looks() -> None:
    """The t value is that of a regression on a constant with standard errors clustered by question."""
    truth, labels = _crowd(160, (0.8, 0.8, 0.8), seed=3)
    labels = np.where(labels == 0, truth[:, None], labels).astype(np.uint8)
    judge = np.roll(truth, 1).astype(np.uint8)
    judge[::2] = truth[::2]
    groups = np.repeat(np.arange(40), 4)
    found = alt_test(judge, ("x", "y", "z"), labels, groups, epsilon=0.2)
    for place, of in enumerate(found.annotators):
        others = np.delete(labels, place, axis=1)
        of_judge = (others == judge[:, None]).mean(axis=1)
        of_human = (others == labels[:, [place]]).mean(axis=1)
        d = (of_human >= of_judge).astype(float) - (of_judge >= of_human)
        fit = OLS(d - 0.2, np.ones(160)).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
        expected = fit.pvalues[0] / 2 if fit.tvalues[0] < 0 else 1 - fit.pvalues[0] / 2
        assert of.p == pytest.approx(expected, abs=1e-9)
        assert of.questions == 40


def test_what_it_cannot_tell_it_refuses() -> None:
    truth, labels = _crowd(100, (0.8, 0.7, 0.75), seed=1)
    two = alt_test(truth, ("x", "y"), labels[:, :2])
    assert (two.winning_rate, two.passes) == (None, None)
    assert "two annotators" in two.reason
    none = alt_test(truth, (), labels[:, :0])
    assert "no pair has annotators" in none.reason
    few = labels.copy()
    few[30:, 2] = 0
    found = alt_test(truth, ("x", "y", "z"), few)
    assert "2 of 3 annotators" in found.reason
    assert found.annotators[2].won is None
    assert "at least 30" in found.annotators[2].reason
    assert found.annotators[2].judge is not None
    silent = alt_test(np.zeros(100, np.uint8), ("x", "y", "z"), labels)
    assert silent.passes is None
    assert silent.annotators[0].judge is None
    one_question = alt_test(truth, ("x", "y", "z"), labels, np.zeros(100, np.int64))
    assert one_question.passes is None
    assert "questions" in one_question.annotators[0].reason
    with pytest.raises(ValueError, match="epsilon"):
        alt_test(truth, ("x", "y", "z"), labels, epsilon=1.2)


def test_a_judge_that_always_agrees_with_everybody_wins() -> None:
    same = np.ones(40, np.uint8)
    found = alt_test(same, ("x", "y", "z"), np.ones((40, 3), np.uint8))
    assert (found.winning_rate, found.passes, found.advantage.value) == (1.0, True, 1.0)
    strict = alt_test(same, ("x", "y", "z"), np.ones((40, 3), np.uint8), epsilon=0.0)
    assert strict.winning_rate == 0.0


def test_pandalm_annotators_are_not_replaced_by_its_recorded_judges(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "pandalm"
    selected = select(read_judgments([folder / "judgments.jsonl"]), read_pairs(folder / "pairs.jsonl").pairs, {})
    with Store.open(tmp_path / "run.judgenet.db") as store:
        frame = RunFrame.read(store, import_run(store, selected))
    names, labels = annotator_codes(frame)
    assert names == ("annotator1", "annotator2", "annotator3")
    for column, name in enumerate(frame.names):
        _agrees(alt_test(frame.neurons[:, column], names, labels), frame.neurons[:, column], labels, 0.2)
        found = run_alt_test(frame).neurons[name]
        assert (found.passes, found.tested, found.won) == (False, 3, 0)
    assert run_alt_test(frame).pairs_annotated == 999
