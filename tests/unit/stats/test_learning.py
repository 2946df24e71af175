"""Learned aggregation: its rules on made votes, and what was measured on LLMBar's recorded judges."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from judgenet.core.pairs import Verdict
from judgenet.figures.learned import below_baseline, neuron_likeness
from judgenet.stats.calibration import stratified
from judgenet.stats.curves import CODES
from judgenet.stats.learning import (
    LearningError,
    best_single,
    dawid_skene,
    ising,
    leave_out,
    logistic,
    logistic_weights,
    splits,
)
from judgenet.store.frame import RunFrame
from tests.short_forms import agreement

Votes = NDArray[np.float64]


def made(pairs: int, right: tuple[float, ...], seed: int = 0) -> tuple[Votes, list[Verdict | None]]:
    """Votes of independent neurons that are right with these chances, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([1.0, -1.0], size=pairs)
    hit = rng.random((pairs, len(right))) < np.array(right)
    votes = np.where(hit, truth[:, None], -truth[:, None])
    return votes, ["a" if one > 0 else "b" for one in truth]


def accuracy(labels: list[Verdict | None], verdicts: tuple[Verdict | None, ...]) -> float:
    found = agreement(labels, verdicts).accuracy
    assert found is not None
    return found


def test_weights_of_any_sign_are_those_of_scikit_learn() -> None:
    votes, labels = made(300, (0.8, 0.6, 0.4))
    signs = np.array([1.0 if label == "a" else -1.0 for label in labels])
    want = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-10, max_iter=1000).fit(votes, signs).coef_[0]
    assert logistic_weights(votes * signs[:, None], 0.3, False) == pytest.approx(want, abs=1e-4)
    kept = logistic_weights(votes * signs[:, None], 0.3, True)
    assert want[2] < 0
    assert kept[2] == 0
    assert min(kept[:2]) > 0


@pytest.mark.parametrize("nonnegative", [True, False])
def test_with_a_and_b_exchanged_the_answer_is_exchanged(nonnegative: bool) -> None:
    votes, labels = made(80, (0.8, 0.6, 0.55))
    swapped: list[Verdict | None] = ["b" if label == "a" else "a" for label in labels]
    groups = list(range(80))
    one = logistic(votes, labels, groups, nonnegative=nonnegative)
    other = logistic(-votes, swapped, groups, nonnegative=nonnegative)
    mirror = {"a": "b", "b": "a", "tie": "tie"}
    assert [mirror[str(verdict)] for verdict in one.verdicts] == list(other.verdicts)
    first, second = dawid_skene(votes, groups), dawid_skene(-votes, groups)
    assert [mirror[str(verdict)] for verdict in first.verdicts] == list(second.verdicts)


def test_no_pair_helps_to_judge_itself() -> None:
    votes, labels = made(60, (0.5, 0.5, 0.5, 0.5), seed=3)
    groups = [place // 2 for place in range(60)]
    for train, test in splits(groups, 5, 0):
        assert not {groups[place] for place in train} & {groups[place] for place in test}
    # The label of a pair and of its twin of the same question are turned round: their verdicts stay.
    before = logistic(votes, labels, groups, penalties=(1.0,)).verdicts
    turned = list(labels)
    for place in (10, 11):
        turned[place] = "b" if labels[place] == "a" else "a"
    after = logistic(votes, turned, groups, penalties=(1.0,)).verdicts
    assert (before[10], before[11]) == (after[10], after[11])
    before, after = (ising(votes, of, groups, penalties=(0.3,)).verdicts for of in (labels, turned))
    assert (before[10], before[11]) == (after[10], after[11])


def test_a_pair_without_a_valid_call_has_no_verdict_and_a_score_of_0_is_a_tie() -> None:
    votes, labels = made(40, (0.9, 0.7))
    votes[0] = np.nan
    votes[1] = 0
    votes[2, 0] = np.nan
    labels[3] = "tie"
    labels[4] = None
    for found in (
        logistic(votes, labels, list(range(40))),
        dawid_skene(votes, list(range(40))),
        ising(votes, labels, list(range(40))),
        best_single(votes, labels, list(range(40))),
    ):
        assert found.verdicts[0] is None
        assert found.verdicts[4] in ("a", "b")
    assert logistic(votes, labels, list(range(40))).verdicts[1] == "tie"
    assert logistic(votes, labels, list(range(40))).verdicts[2] in ("a", "b")


def test_too_few_labels_are_refused_with_what_would_help() -> None:
    votes, labels = made(40, (0.9, 0.7))
    few: list[Verdict | None] = [*labels[:19], *[None] * 21]
    with pytest.raises(LearningError, match="19 pairs have a human label; weights are learned from 20"):
        logistic(votes, few, list(range(40)))
    with pytest.raises(LearningError, match="All human labels are ties"):
        best_single(votes, ["tie"] * 40, list(range(40)))
    with pytest.raises(LearningError, match="same question"):
        logistic(votes, labels, ["q"] * 40)
    with pytest.raises(LearningError, match="one part only"):
        leave_out(votes, labels, ["t"] * 40, range(40))
    # Dawid-Skene needs none.
    assert len(dawid_skene(votes, list(range(40))).verdicts) == 40


def test_dawid_skene_finds_the_good_neurons_without_labels() -> None:
    right = (0.85, 0.8, 0.75, 0.55, 0.52)
    votes, labels = made(2000, right)
    found = dawid_skene(votes, list(range(2000)))
    # The log odds of a vote for A are those of its chances, up to sampling error.
    assert found.weights == pytest.approx([np.log(p / (1 - p)) for p in right], abs=0.35)
    assert accuracy(labels, found.verdicts) > accuracy(labels, tuple("a" if s > 0 else "b" for s in votes.sum(axis=1)))


def test_a_rate_corrected_with_cross_fitted_verdicts_covers_the_truth() -> None:
    """Labels that taught a rule make it look right where they are: a rate corrected with its own verdicts on them does
    not hold the truth, one with the cross-fitted verdicts does."""
    rng, truth_is, runs = np.random.default_rng(0), 0.7, 250
    held = Counter[str]()
    errors = dict.fromkeys(("own", "cross-fitted"), 0.0)
    for _ in range(runs):
        truth = np.where(rng.random(600) < truth_is, -1.0, 1.0)
        right = rng.random((600, 40)) < rng.uniform(0.5, 0.56, 40)
        votes = np.where(right, truth[:, None], -truth[:, None])
        chosen = set(rng.choice(600, 60, replace=False).tolist())
        labels: list[Verdict | None] = [
            ("a" if truth[place] > 0 else "b") if place in chosen else None for place in range(600)
        ]
        found = logistic(votes, labels, list(range(600)), penalties=(1.0,))
        scores = votes @ np.array(found.weights)
        own: list[Verdict] = ["a" if score > 0 else "b" if score < 0 else "tie" for score in scores]
        for name, said in (("own", own), ("cross-fitted", found.verdicts)):
            labelled, others = Counter[tuple[Verdict, Verdict]](), Counter[Verdict]()
            for verdict, label in zip(said, labels, strict=True):
                assert verdict is not None
                if label is None:
                    others[verdict] += 1
                else:
                    labelled[verdict, label] += 1
            estimate = stratified(labelled, others).estimate
            assert estimate.value is not None
            assert estimate.interval is not None
            held[name] += estimate.interval.low <= truth_is <= estimate.interval.high
            errors[name] += estimate.value - truth_is
    assert held["cross-fitted"] / runs >= 0.92
    assert abs(errors["cross-fitted"] / runs) < 0.01
    assert held["own"] / runs < 0.8
    assert errors["own"] / runs < -0.04


def test_an_unlabelled_pair_is_judged_by_a_rule_that_knows_none_of_its_question() -> None:
    """Twins of one question, one of them labelled: both get the verdict of the same fold."""
    rng = np.random.default_rng(5)
    truth = np.where(rng.random(60) < 0.5, -1.0, 1.0)
    one = np.where(rng.random((60, 15)) < 0.55, truth[:, None], -truth[:, None])
    labels: list[Verdict | None] = [*("a" if of > 0 else "b" for of in truth), *([None] * 60)]
    found = logistic(np.concatenate([one, one]), labels, [*range(60), *range(60)])
    assert found.verdicts[:60] == found.verdicts[60:]
    best = best_single(np.concatenate([one, one]), labels, [*range(60), *range(60)])
    assert best.verdicts[:60] == best.verdicts[60:]


def test_a_part_that_is_left_out_teaches_nothing_by_its_questions() -> None:
    """The label of a pair elsewhere whose question stands in the part changes nothing that is said of the part."""
    rng = np.random.default_rng(11)
    truth = np.where(rng.random(80) < 0.5, -1.0, 1.0)
    votes = np.where(rng.random((80, 6)) < 0.6, truth[:, None], -truth[:, None])
    labels: list[Verdict | None] = ["a" if of > 0 else "b" for of in truth]
    parts = ["x"] * 40 + ["y"] * 40
    # Each question of x stands in y too, but for ten of y's own.
    questions = [*range(40), *range(30), *range(100, 110)]
    told = leave_out(votes, labels, parts, questions, nonnegative=False)
    turned = [*labels[:40], *("b" if label == "a" else "a" for label in labels[40:70]), *labels[70:]]
    assert leave_out(votes, turned, parts, questions, nonnegative=False).verdicts[:40] == told.verdicts[:40]
    assert leave_out(votes, turned, parts, range(80), nonnegative=False).verdicts[:40] != told.verdicts[:40]
    with pytest.raises(LearningError, match="Every labelled pair outside x"):
        leave_out(votes, labels, parts, [*range(40), *range(40)])


# LLMBar


def labels_of(frame: RunFrame) -> list[Verdict | None]:
    return [CODES[code] for code in frame.human]


def tasks_of(frame: RunFrame) -> list[str]:
    return [frame.pairs.task_names[number] or "" for number in frame.pairs.tasks]


def of_neuron(found: RunFrame, neuron: int) -> tuple[Verdict | None, ...]:
    return tuple("a" if vote > 0 else "b" if vote < 0 else "tie" for vote in found.votes[:, neuron])


@pytest.mark.data
def test_learned_weights_beat_the_best_judge_and_the_vote_on_llmbar(llmbar: RunFrame) -> None:
    labels, groups = labels_of(llmbar), llmbar.questions.tolist()
    singles = {name: accuracy(labels, of_neuron(llmbar, place)) for place, name in enumerate(llmbar.names)}
    assert max(singles, key=lambda name: singles[name]) == "GPT-4|Vanilla"
    assert round(singles["GPT-4|Vanilla"], 3) == 0.809
    seeds = range(3)
    learned = [accuracy(labels, logistic(llmbar.votes, labels, groups, seed=seed).verdicts) for seed in seeds]
    assert 0.834 <= np.mean(learned) <= 0.836
    assert min(learned) >= 0.83
    signed = accuracy(labels, logistic(llmbar.votes, labels, groups, nonnegative=False, penalties=(0.3,)).verdicts)
    assert signed == pytest.approx(0.879, abs=0.012)
    assert accuracy(labels, best_single(llmbar.votes, labels, groups).verdicts) == pytest.approx(0.809, abs=0.001)


@pytest.mark.data
def test_dawid_skene_on_copies_of_a_judge_is_said_to_be_below_the_baseline(llmbar: RunFrame) -> None:
    """Kappa -.09 on LLMBar: three prompts a judge, most of them fooled together."""
    labels, groups = labels_of(llmbar), llmbar.questions.tolist()
    found = agreement(labels, dawid_skene(llmbar.votes, groups, ties=False).verdicts)
    assert found.kappa == pytest.approx(-0.094, abs=0.005)
    alike = neuron_likeness(llmbar)
    assert alike is not None
    assert alike > 0.5
    words = below_baseline("dawid_skene", found, alike)
    assert "below the baseline: right on 45.3 % of 419 pairs (kappa −0.09)" in words
    assert "copies of one judge" in words
    good = agreement(labels, logistic(llmbar.votes, labels, groups).verdicts)
    assert below_baseline("nonnegative", good, alike) == ""


@pytest.mark.data
def test_a_task_left_out_is_judged_better_than_by_the_best_judge_there(llmbar: RunFrame) -> None:
    labels, tasks = labels_of(llmbar), tasks_of(llmbar)
    questions = llmbar.questions.tolist()
    kept = leave_out(llmbar.votes, labels, tasks, questions).verdicts
    signed = leave_out(llmbar.votes, labels, tasks, questions, nonnegative=False).verdicts
    published = {"GPTInst": 0.837, "GPTOut": 0.745, "Manual": 0.717, "Neighbor": 0.754, "Natural": 0.930}
    for task in set(tasks):
        places = [place for place, of in enumerate(tasks) if of == task]
        human = [labels[place] for place in places]
        best = max(
            accuracy(human, tuple(of_neuron(llmbar, neuron)[place] for place in places))
            for neuron in range(len(llmbar.names))
        )
        assert round(best, 3) == published[task.rpartition("/")[2]]
        assert accuracy(human, tuple(kept[place] for place in places)) > best
        if task == "LLMBar/Natural":
            assert accuracy(human, tuple(signed[place] for place in places)) < 0.5
