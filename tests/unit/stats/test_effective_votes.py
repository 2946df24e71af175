"""Effective votes against numpy's correlations, worked examples, and LLMBar's recorded judges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judgenet.stats.effective_votes import correlations, effective, effective_votes, error_matrix, greedy_panel
from judgenet.store.frame import RunFrame


def test_kish_worked_examples() -> None:
    assert effective(0.0, 9) == 9
    assert effective(1.0, 9) == 1
    # Nine judges that are worth two votes (arXiv 2605.29800) have a mean correlation of .4375.
    assert effective(0.4375, 9) == pytest.approx(2.0)


def test_correlations_are_numpys_and_leave_out_what_is_missing() -> None:
    rng = np.random.default_rng(3)
    values = (rng.random((200, 5)) < 0.4).astype(float)
    assert correlations(values) == pytest.approx(np.corrcoef(values.T))
    values[:50, 1] = np.nan
    found = correlations(values)
    both = np.corrcoef(values[50:, 0], values[50:, 1])[0, 1]
    assert found[0, 1] == pytest.approx(both)
    values[:, 2] = 1.0
    assert np.isnan(correlations(values)[2]).all()


def test_copies_of_one_judge_are_one_vote_and_independent_ones_are_all() -> None:
    rng = np.random.default_rng(0)
    n = 4000
    human = rng.choice([1, 3], n).astype(np.uint8)
    right = rng.random((n, 6)) < 0.7
    independent = np.where(right, human[:, None], 4 - human[:, None]).astype(np.uint8)
    questions = np.arange(n)
    apart = effective_votes(independent, human, questions, resamples=400)
    assert apart.value == pytest.approx(6, abs=0.3)
    assert apart.interval is not None
    assert apart.interval[0] <= apart.value <= apart.interval[1]
    copies = np.repeat(independent[:, :1], 6, axis=1)
    same = effective_votes(copies, human, questions, resamples=0)
    assert same.value == pytest.approx(1.0)
    assert same.correlation == pytest.approx(1.0)


def test_intervals_cover_and_questions_widen_them() -> None:
    """A shared error with probability w makes the correlation of two judges known: e (1 - e) w² over e (1 - e)."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(120):
        human = np.full(300, 1, np.uint8)
        common = rng.random(300) < 0.3
        share = rng.random((300, 4)) < 0.6
        own = rng.random((300, 4)) < 0.3
        wrong = np.where(share, common[:, None], own)
        verdicts = np.where(wrong, 3, 1).astype(np.uint8)
        found = effective_votes(verdicts, human, np.arange(300), resamples=300)
        assert found.interval is not None
        covered += found.interval[0] <= effective(0.36, 4) <= found.interval[1]
    assert covered >= 105
    repeated = effective_votes(np.repeat(verdicts, 4, axis=0), np.repeat(human, 4), np.repeat(np.arange(300), 4))
    once = effective_votes(verdicts, human, np.arange(300))
    assert repeated.interval == pytest.approx(once.interval, abs=0.05)


def test_where_verdicts_are_missing_the_interval_is_of_what_two_judges_have() -> None:
    """As with stop rules: two judges are asked only where the others differ. Against pandas, which correlates over the
    rows that both columns have, on questions drawn by numpy."""
    rng = np.random.default_rng(5)
    common = rng.normal(size=(400, 1))
    verdicts = (1 + (common + rng.normal(size=(400, 4)) > -0.5) + (common + rng.normal(size=(400, 4)) > 0.5)).astype(
        np.uint8
    )
    verdicts[verdicts[:, 0] == verdicts[:, 1], 2:] = 0
    questions = np.arange(400) // 2
    votes = effective_votes(verdicts, np.zeros(400, np.uint8), questions, by_errors=False)
    signs = pd.DataFrame(np.array([np.nan, 1.0, 0.0, -1.0])[verdicts])
    upper = np.triu_indices(4, 1)

    def worth(rows: pd.DataFrame) -> float:
        return 4 / (1 + 3 * float(np.nanmean(rows.corr().to_numpy()[upper])))

    drawn = [
        worth(signs.iloc[(2 * rng.integers(0, 200, 200)[:, None] + [0, 1]).ravel()].reset_index(drop=True))
        for _ in range(600)
    ]
    assert votes.value == pytest.approx(worth(signs))
    assert votes.interval is not None
    assert votes.interval.low < worth(signs) < votes.interval.high
    assert votes.interval == pytest.approx(tuple(np.percentile(drawn, (2.5, 97.5))), rel=0.04)


@pytest.mark.parametrize("by_errors", [True, False])
def test_a_judge_without_any_verdict_is_no_vote(by_errors: bool) -> None:
    """Two judges and a third that never answered are worth what the two are worth, with the same interval."""
    rng = np.random.default_rng(5)
    human = rng.choice([1, 3], 60).astype(np.uint8)
    verdicts = np.where(rng.random((60, 2)) < 0.7, human[:, None], 4 - human[:, None]).astype(np.uint8)
    silent = np.concatenate([verdicts, np.zeros((60, 1), np.uint8)], axis=1)
    two = effective_votes(verdicts, human, np.arange(60), by_errors=by_errors)
    assert two.interval is not None
    assert two.missing == 0
    assert effective_votes(silent, human, np.arange(60), by_errors=by_errors) == two


def test_a_missing_verdict_is_not_right_and_said() -> None:
    """By errors as if the judge had said what nobody says; by verdicts as numpy correlates what is there."""
    rng = np.random.default_rng(6)
    human = rng.choice([1, 3], 80).astype(np.uint8)
    verdicts = np.where(rng.random((80, 3)) < 0.7, human[:, None], 4 - human[:, None]).astype(np.uint8)
    verdicts[:7, 0] = 0
    found = effective_votes(verdicts, human, np.arange(80), resamples=0)
    assert (found.n, found.missing) == (80, 7)
    errors = np.corrcoef((verdicts != human[:, None]).astype(float).T)
    assert found.correlation == pytest.approx(errors[np.triu_indices(3, 1)].mean())
    alike = effective_votes(verdicts, human, np.arange(80), by_errors=False, resamples=0)
    assert alike.missing == 7
    twos = ((0, 1, 7), (0, 2, 7), (1, 2, 0))
    said = 2.0 - verdicts
    by_hand = [np.corrcoef(said[start:, one], said[start:, other])[0, 1] for one, other, start in twos]
    assert alike.correlation == pytest.approx(np.mean(by_hand))


def test_what_has_no_worth_says_why() -> None:
    one = np.full((20, 1), 1, np.uint8)
    human = np.full(20, 1, np.uint8)
    assert effective_votes(one, human, np.arange(20)).reason == "one judge is one vote"
    two = np.full((20, 2), 1, np.uint8)
    assert effective_votes(two, human, np.arange(20)).reason == "no two judges both err and are right"
    assert effective_votes(two, np.zeros(20, np.uint8), np.arange(20)).n == 0
    assert error_matrix(np.array([[0, 1]], np.uint8), np.array([1], np.uint8)).tolist() == [[1.0, 0.0]]


@pytest.mark.data
def test_eighteen_judges_of_llmbar_are_two_and_a_half_votes(llmbar: RunFrame) -> None:
    frame = llmbar
    found = effective_votes(frame.neurons, frame.human, frame.questions, resamples=500)
    assert (round(found.value or 0, 2), round(found.correlation or 0, 3)) == (2.55, 0.357)
    assert found.interval is not None
    assert found.interval[0] < 2.55 < found.interval[1]
    names = frame.names
    vanilla = [place for place, name in enumerate(names) if name.endswith("|Vanilla")]
    one_a_model = effective_votes(frame.neurons, frame.human, frame.questions, columns=vanilla, resamples=0)
    assert round(one_a_model.value or 0, 2) == 2.25
    for model in {name.partition("|")[0] for name in names}:
        mine = [place for place, name in enumerate(names) if name.startswith(f"{model}|")]
        prompts = effective_votes(frame.neurons, frame.human, frame.questions, columns=mine, resamples=0)
        assert 1.2 <= round(prompts.value or 0, 1) <= 1.7
    order = greedy_panel(frame.neurons, frame.human, most=6)
    assert names[order[0].column] == "GPT-4|Vanilla"
    assert order[-1].votes > one_a_model.value  # type: ignore[operator]


def test_the_interval_of_many_judges_is_that_of_the_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """The formula for many judges against the bootstrap over questions, of judges of which one never errs, with
    questions of several pairs."""
    rng = np.random.default_rng(9)
    human = rng.choice([1, 3], 600).astype(np.uint8)
    common = np.repeat(rng.random(200) < 0.35, 3)
    wrong = np.where(rng.random((600, 9)) < 0.5, common[:, None], rng.random((600, 9)) < 0.25)
    wrong[:, 4] = False
    verdicts = np.where(wrong, 4 - human[:, None], human[:, None]).astype(np.uint8)
    questions = np.repeat(np.arange(200), 3)
    for by_errors in (True, False):
        drawn = effective_votes(verdicts, human, questions, by_errors=by_errors)
        monkeypatch.setattr("judgenet.stats.effective_votes.MANY_JUDGES", 2)
        linear = effective_votes(verdicts, human, questions, by_errors=by_errors)
        monkeypatch.undo()
        assert linear.value == drawn.value
        assert linear.interval == pytest.approx(drawn.interval, rel=0.02)


def test_hundreds_of_judges_have_an_interval_in_little_memory() -> None:
    rng = np.random.default_rng(10)
    human = np.ones(300, np.uint8)
    common = rng.random(300) < 0.3
    wrong = np.where(rng.random((300, 400)) < 0.6, common[:, None], rng.random((300, 400)) < 0.3)
    found = effective_votes(np.where(wrong, 3, 1).astype(np.uint8), human, np.arange(300))
    assert found.interval is not None
    assert found.interval[0] < effective(0.36, 400) < found.interval[1]


def test_errors_that_cancel_out_are_worth_no_finite_number() -> None:
    """Two judges of whom always exactly one is right: correlation -1, where n / (1 + (n - 1) r) has no bound."""
    human = np.tile([1, 3], 20).astype(np.uint8)
    first = np.where(np.arange(40) % 4 < 2, human, 4 - human)
    second = np.where(np.arange(40) % 4 < 2, 4 - human, human)
    verdicts = np.stack([first, second], axis=1).astype(np.uint8)
    votes = effective_votes(verdicts, human, np.arange(40))
    assert votes.value is None
    assert votes.reason == "the errors cancel out on these pairs: no finite number of votes"
