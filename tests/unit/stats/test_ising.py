"""The Ising model against exact enumeration of small ones, and against scikit-learn's logistic regression."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from judgenet.core.pairs import Verdict
from judgenet.stats.curves import Floats
from judgenet.stats.ising import IsingModel, fit_ising, log_posterior
from judgenet.stats.learning import LearningError, dawid_skene, ising


def enumerated(model: IsingModel, ties: float) -> tuple[Floats, Floats, Floats]:
    """All states of neurons and label, and the probability of each. ``ties`` is the share of pairs whose label is a
    tie; 0 leaves that label out."""
    n = len(model.h)
    states = np.array(list(product((1.0, 0.0, -1.0), repeat=n)))
    said, labels, shares = [], [], []
    for y, share in ((1.0, (1 - ties) / 2), (-1.0, (1 - ties) / 2), (0.0, ties)):
        if not share:
            continue
        energy = y * states @ model.h + np.einsum("ij,jk,ik->i", states, np.triu(model.j, 1), states)
        energy += states**2 @ (model.u + y * y * model.v)
        weight = np.exp(energy)
        said.append(states)
        labels.append(np.full(len(states), y))
        shares.append(share * weight / weight.sum())
    return np.concatenate(said), np.concatenate(labels), np.concatenate(shares)


def drawn(n: int, seed: int) -> IsingModel:
    rng = np.random.default_rng(seed)
    j = np.triu(rng.normal(0, 0.6, (n, n)), 1)
    return IsingModel(rng.uniform(-0.3, 1.0, n), j + j.T, rng.normal(0.3, 0.3, n), rng.normal(0.4, 0.2, n))


@pytest.mark.parametrize("ties", [0.0, 0.2])
def test_the_parameters_and_the_odds_of_an_exact_model_come_back(ties: float) -> None:
    """The pseudo-likelihood of all states, each as often as it occurs, is greatest at the parameters they come from."""
    model = drawn(4, 1)
    said, labels, shares = enumerated(model, ties)
    found = fit_ising(said, labels, 1e6, shares)
    assert found.h == pytest.approx(model.h, abs=2e-3)
    assert found.j == pytest.approx(model.j, abs=2e-3)
    if ties:
        assert found.u == pytest.approx(model.u, abs=2e-3)
        assert found.v == pytest.approx(model.v, abs=2e-3)
    # Bayes' rule over the table of all states.
    table = {1.0: 0, -1.0: 1, 0.0: 2}
    states = said[labels == 1]
    exact = np.zeros((len(states), 3))
    for y, column in table.items():
        if (labels == y).any():
            exact[:, column] = shares[labels == y]
    exact /= exact.sum(axis=1, keepdims=True)
    assert np.exp(log_posterior(found, states)) == pytest.approx(exact, abs=2e-3)
    assert (found.tie_odds is None) == (ties == 0)


def test_binary_verdicts_are_scikit_learns_logistic_regression_of_all_conditionals_at_once() -> None:
    """Without ties the pseudo-likelihood of three neurons is one logistic regression of stacked rows: a neuron's
    verdict on twice the label (for h) and on twice the others' verdicts (for J, shared by both directions)."""
    rng = np.random.default_rng(3)
    labels = rng.choice([1.0, -1.0], 400)
    common = rng.random(400) < 0.4
    said = np.where(rng.random((400, 3)) < 0.7, labels[:, None], -labels[:, None])
    said[common, 1] = said[common, 0]
    pairs = [(0, 1), (0, 2), (1, 2)]
    rows, answers = [], []
    for s, y in zip(said, labels, strict=True):
        for neuron in range(3):
            row = np.zeros(6)
            row[neuron] = 2 * y
            for place, pair in enumerate(pairs, 3):
                if neuron in pair:
                    row[place] = 2 * s[pair[1] if neuron == pair[0] else pair[0]]
            rows.append(row)
            answers.append(s[neuron])
    want = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-10, max_iter=1000).fit(rows, answers).coef_[0]
    found = fit_ising(said, labels, 0.3)
    assert found.h == pytest.approx(want[:3], abs=3e-3)
    assert [found.j[pair] for pair in pairs] == pytest.approx(want[3:], abs=3e-3)


def test_copies_share_the_weight_that_one_of_them_would_have_alone() -> None:
    """Three copies of a judge and one that is independent and as good: by Bayes each side has one vote's weight, so
    that copies against the other are undecided. Dawid and Skene's estimate counts the copies three times."""
    rng = np.random.default_rng(5)
    n, right = 4000, 0.75
    labels = rng.choice([1.0, -1.0], n)
    own = np.where(rng.random((n, 2)) < right, labels[:, None], -labels[:, None])
    said = np.concatenate([np.repeat(own[:, :1], 3, axis=1), own[:, 1:]], axis=1)
    found = fit_ising(said, labels, 0.1)
    assert found.h[:3].sum() == pytest.approx(found.h[3], rel=0.1)
    named: list[Verdict | None] = ["a" if y > 0 else "b" for y in labels]
    independent = dawid_skene(said, list(range(n)), ties=False)
    assert sum(independent.weights[:3]) > 4 * independent.weights[3]
    split = (own[:, 0] != own[:, 1]).tolist()
    by_copies = [verdict == ("a" if s > 0 else "b") for verdict, s in zip(independent.verdicts, own[:, 0], strict=True)]
    assert all(same for same, apart in zip(by_copies, split, strict=True) if apart)
    assert len(ising(said, named, list(range(n)), penalties=(0.1,)).weights) == 4


def test_what_is_missing_has_no_part() -> None:
    """A neuron without any verdict leaves the others as they are without it; a missing verdict is no tie."""
    rng = np.random.default_rng(6)
    labels = rng.choice([1.0, -1.0, 0.0], 300, p=[0.4, 0.4, 0.2])
    said = np.sign(labels[:, None] + rng.normal(0, 1, (300, 3))) * (rng.random((300, 3)) < 0.85)
    silent = np.concatenate([said, np.full((300, 1), np.nan)], axis=1)
    two, three = fit_ising(said, labels, 0.3), fit_ising(silent, labels, 0.3)
    assert three.h[:3] == pytest.approx(two.h, abs=1e-3)
    assert three.h[3] == three.j[3].max() == pytest.approx(0, abs=1e-6)
    assert log_posterior(three, silent) == pytest.approx(log_posterior(two, said), abs=5e-3)
    some = said.copy()
    some[:150, 0] = np.nan
    tied = np.nan_to_num(some)
    assert fit_ising(some, labels, 0.3).u[0] > fit_ising(tied, labels, 0.3).u[0] + 0.5


def test_too_many_neurons_and_ties_alone_are_refused() -> None:
    labels: list[Verdict | None] = ["a", "b"] * 20
    with pytest.raises(LearningError, match="up to 40 of them, and these are 41"):
        ising(np.ones((40, 41)), labels, list(range(40)))
    with pytest.raises(LearningError, match="All human labels are ties"):
        ising(np.ones((40, 2)), ["tie"] * 40, list(range(40)))
    with pytest.raises(LearningError, match="weights are learned from 20"):
        ising(np.ones((40, 2)), [*labels[:10], *([None] * 30)], list(range(40)))


def test_ties_are_decided_where_people_call_them_and_neurons_do() -> None:
    rng = np.random.default_rng(8)
    truth = rng.choice([1.0, -1.0, 0.0], 600, p=[0.35, 0.35, 0.3])
    hit = rng.random((600, 3)) < 0.8
    said = np.where(hit, truth[:, None], rng.choice([1.0, -1.0, 0.0], (600, 3)))
    named: list[Verdict | None] = [{1.0: "a", -1.0: "b", 0.0: "tie"}[y] for y in truth]  # type: ignore[misc]
    found = ising(said, named, list(range(600)), penalties=(0.3,))
    right = np.mean([one == other for one, other in zip(found.verdicts, named, strict=True)])
    assert right > 0.85
    assert found.tie_odds is not None
    mirror: dict[str, Verdict] = {"a": "b", "b": "a", "tie": "tie"}
    mirrored = ising(-said, [mirror[str(y)] for y in named], list(range(600)), penalties=(0.3,))
    assert [mirror[str(verdict)] for verdict in found.verdicts] == list(mirrored.verdicts)
