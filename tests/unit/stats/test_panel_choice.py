"""Chosen panels against an enumeration of all of them, against chance, and on LLMBar's recorded judges."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from judgenet.stats.panel_choice import choose_panels, greedy_order
from judgenet.store.frame import RunFrame

_SIGN = np.array([0, 1, 0, -1])


def majority_right(said: np.ndarray, human: np.ndarray) -> np.ndarray:
    lead = _SIGN[said].sum(axis=1)
    votes = np.where(lead > 0, 1, np.where(lead < 0, 3, 2))
    return np.asarray((votes == human) & (said > 0).any(axis=1))


def recorded(n: int, judges: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    human = rng.choice([1, 2, 3], n, p=[0.45, 0.1, 0.45]).astype(np.uint8)
    said = np.where(rng.random((n, judges)) < 0.6, human[:, None], rng.choice([0, 1, 2, 3], (n, judges)))
    said[: n // 10] = 0
    said[: n // 10, 0] = 1
    return said.astype(np.uint8), human


def test_the_mean_over_all_panels_is_that_of_an_enumeration() -> None:
    said, human = recorded(100, 6, 0)
    for rule in ("votes", "labels"):
        found = choose_panels(said, human, np.arange(100), rule, most=6)
        for step in found.steps:
            every = [majority_right(said[:, list(of)], human).mean() for of in combinations(range(6), step.size)]
            assert step.random == pytest.approx(np.mean(every))
            assert step.accuracy.value is not None
            assert step.gain.value == pytest.approx(step.accuracy.value - step.random)
            assert (step.accuracy.n, found.n, found.n_total) == (100, 100, 100)
    # A panel of all judges is the same whoever chose it.
    whole = majority_right(said, human).mean()
    assert found.steps[-1].accuracy.value == found.steps[-1].with_first == pytest.approx(whole)


def test_a_panel_without_a_verdict_has_no_tie() -> None:
    """On the first pairs, labelled a tie, one judge alone votes, and wrongly: panels without it are not right there."""
    human = np.array([2] * 20 + [1, 3] * 20, np.uint8)
    said = np.zeros((60, 3), np.uint8)
    said[:, 0] = [1] * 20 + [3, 1] * 20
    said[20:, 1:] = human[20:, None]
    found = choose_panels(said, human, np.arange(60), "labels", most=1)
    assert found.steps[0].accuracy.value == pytest.approx(40 / 60)
    assert found.steps[0].random == pytest.approx((0 + 40 / 60 * 2) / 3)
    assert found.steps[0].tied == 0


def test_copies_add_nothing_and_the_independent_judge_is_chosen_first() -> None:
    rng = np.random.default_rng(7)
    human = rng.choice([1, 3], 600).astype(np.uint8)
    right = rng.random((600, 2)) < (0.75, 0.7)
    own = np.where(right, human[:, None], 4 - human[:, None]).astype(np.uint8)
    said = np.concatenate([own[:, :1], own[:, :1], own[:, 1:], own[:, :1]], axis=1)
    assert greedy_order(said, human, "votes", 2) == [0, 2]
    found = choose_panels(said, human, np.arange(600), "votes", most=2)
    assert found.steps[1].votes == pytest.approx(2.0, abs=0.15)


def test_nothing_is_gained_where_judges_are_alike_in_all_but_chance() -> None:
    """Judges that guess: chosen panels are no better on held-out questions than any panel. On the pairs that chose
    them they look better: that is what cross-fitting is for."""
    rng = np.random.default_rng(11)
    gains, flattered = [], []
    for _ in range(30):
        human = rng.choice([1, 3], 120).astype(np.uint8)
        said = rng.choice([1, 3], (120, 9)).astype(np.uint8)
        step = choose_panels(said, human, np.arange(120), "labels", most=3).steps[2]
        assert step.gain.value is not None
        gains.append(step.gain.value)
        chosen = greedy_order(said, human, "labels", 3)
        flattered.append(float(majority_right(said[:, chosen], human).mean()) - step.random)
    assert abs(np.mean(gains)) < 0.02
    assert np.mean(flattered) > 0.05


def test_what_cannot_be_chosen_says_why() -> None:
    said, human = recorded(40, 3, 1)
    questions = np.arange(40)
    assert choose_panels(said[:, :1], human, questions, "votes").reason == "there is one judge"
    few = np.where(np.arange(40) < 12, human, 0).astype(np.uint8)
    assert choose_panels(said, few, questions, "votes").reason.startswith("12 pairs have a human label and a verdict")
    assert choose_panels(said, human, np.zeros(40, np.int64), "labels").reason.startswith("All pairs have the same")


@pytest.mark.data
def test_on_llmbar_a_panel_by_effective_votes_owes_its_gain_to_its_first_judge(llmbar: RunFrame) -> None:
    """Four judges by effective votes beat the mean of all fours on held-out labels, but not the fours that hold
    GPT-4|Vanilla, which alone is better than any of them."""
    found = choose_panels(llmbar.neurons, llmbar.human, llmbar.questions, "votes", most=4)
    one, *_, four = found.steps
    said, human = llmbar.neurons, llmbar.human
    every = [majority_right(said[:, list(of)], human).mean() for of in combinations(range(18), 4)]
    assert four.random == pytest.approx(np.mean(every))
    assert four.gain.value is not None
    assert four.gain.interval is not None
    assert four.gain.interval.low > 0.05
    assert four.gain_over_first.interval is not None
    assert four.gain_over_first.interval.low < 0 < four.gain_over_first.interval.high
    assert llmbar.names[one.column] == "GPT-4|Vanilla"
    assert round(one.accuracy.value or 0, 3) == 0.809
