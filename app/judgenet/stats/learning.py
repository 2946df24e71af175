"""Aggregation learned from the neurons' verdicts: weights fitted to labels, or estimated without any.

Features are votes, an array of shape (pairs, neurons): the mean over a neuron's valid calls of the call's verdict, +1
for A, -1 for B and 0 for a tie, NaN where it has no valid call. Everything is cross-fitted: the folds are made of whole
groups (pairs with the same question), and no pair helps to judge itself. All rules are antisymmetric: with A and B
exchanged the answer is exchanged too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.evaluation import TIE_TOLERANCE
from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.stats.ising import MOST_NEURONS, IsingModel, fit_ising, log_losses

VoteMatrix = NDArray[np.float64]
Labels = Sequence[Verdict | None]

FEWEST = 20
"""With fewer labelled pairs nothing is learned from labels."""

FOLDS = 5
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0)
"""The inverse strengths of the L2 penalty that are tried (scikit-learn's C)."""
ISING_PENALTIES = (0.03, 0.1, 0.3)
_ISING_FOLDS = 3
"""An Ising model takes longer to fit: fewer strengths are tried, on fewer folds."""

_SIGN = {"a": 1.0, "b": -1.0, "tie": 0.0}
_MIRROR = np.array([1, 0, 2])
_ROUNDS = 200
_SETTLED = 1e-6
_NEVER = 1e-300


class LearningError(ValueError):
    """Nothing can be learned; the message says why and what would help."""


@dataclass(frozen=True, slots=True)
class Learned:
    """The cross-fitted verdicts of a learned rule, and the rule fitted to all.

    ``verdicts`` are ``None`` where no neuron has a valid call. ``weights`` has one number a neuron: its weight, or with
    Dawid-Skene and in an Ising model the log odds by which its vote for A speaks for A. ``penalty`` is the C of the fit
    to all pairs, ``None`` where there is none. ``tie_weights`` and ``tie_odds`` are those of an Ising model
    (:class:`judgenet.core.network.LearnedRule`). ``prior`` are the shares of A, B and tie that Dawid-Skene estimates,
    and ``tables`` the shares of each neuron's verdicts (last axis) by what is true, of the fit to all pairs.
    """

    verdicts: tuple[Verdict | None, ...]
    weights: tuple[float, ...]
    penalty: float | None = None
    prior: tuple[float, ...] = ()
    tables: tuple[tuple[tuple[float, ...], ...], ...] = ()
    tie_weights: tuple[float, ...] = ()
    tie_odds: float | None = None


def require_labels(labels: Labels) -> int:
    """The number of labelled pairs.

    :raises LearningError: they are too few, or all of them are ties.
    """
    n = sum(label is not None for label in labels)
    if n < FEWEST:
        raise LearningError(
            f"{n} pairs have a human label; weights are learned from {FEWEST} or more. Label some more."
        )
    if not any(label in ("a", "b") for label in labels):
        raise LearningError("All human labels are ties: nothing says which neurons to trust.")
    return n


# Logistic regression


def logistic(
    votes: VoteMatrix,
    labels: Labels,
    groups: Sequence[object],
    *,
    nonnegative: bool = True,
    penalties: Sequence[float] = PENALTIES,
    folds: int = FOLDS,
    seed: int = 0,
) -> Learned:
    """Antisymmetric logistic regression over neurons: P(A is better) = 1 / (1 + exp(-sum w_j x_j)), without intercept.

    Weights carry an L2 penalty and are 0 or more unless ``nonnegative`` is false. The penalty is the one with the least
    cross-validated log loss inside the training pairs. Pairs labelled a tie are left out of the fit. A score of 0 is
    a tie. ``groups`` has a value a pair; pairs of one value stay together: one without a label is judged by the rule
    that knows none of its group.

    :raises LearningError: labels are too few.
    """
    scores, weights, penalty = cross_fitted_scores(
        votes, labels, groups, nonnegative=nonnegative, penalties=penalties, folds=folds, seed=seed
    )
    return Learned(_verdicts(scores), tuple(float(weight) for weight in weights), penalty)


def cross_fitted_scores(
    votes: VoteMatrix,
    labels: Labels,
    groups: Sequence[object],
    *,
    nonnegative: bool = True,
    penalties: Sequence[float] = PENALTIES,
    folds: int = FOLDS,
    seed: int = 0,
) -> tuple[NDArray[np.float64], VoteMatrix, float]:
    """As :func:`logistic`: the score of each pair (the log odds that A is better; NaN where no neuron votes), each by
    a fit that knows no label of its group; and weights and penalty of the fit to all labelled pairs.

    :raises LearningError: labels are too few.
    """
    require_labels(labels)
    labelled = np.array([place for place, label in enumerate(labels) if label is not None], dtype=np.intp)
    weights, penalty = _fit_logistic(votes, labels, groups, labelled, nonnegative, penalties, folds, seed)
    scores = _scores(votes, weights)
    for train, test in splits([groups[place] for place in labelled], folds, seed):
        without, _ = _fit_logistic(votes, labels, groups, labelled[train], nonnegative, penalties, folds, seed)
        own = _members(groups, {groups[place] for place in labelled[test]})
        scores[own] = _scores(votes[own], without)
    return scores, weights, penalty


def _scores(votes: VoteMatrix, weights: VoteMatrix) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = np.where(np.isnan(votes).all(axis=1), np.nan, np.nan_to_num(votes) @ weights)
    return scores


def _members(groups: Sequence[object], chosen: Set[object]) -> NDArray[np.intp]:
    """The places of the pairs whose group is chosen."""
    return np.array([place for place, group in enumerate(groups) if group in chosen], dtype=np.intp)


def splits(groups: Sequence[object], folds: int, seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """(places to train on, places to test on), whole groups at a time, shuffled by ``seed``.

    :raises LearningError: there are fewer than two groups.
    """
    from sklearn.model_selection import GroupKFold  # type: ignore[import-untyped]

    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    if len(numbers) < 2:
        raise LearningError("All pairs have the same question: none can be judged without its like. Add other pairs.")
    codes = np.array([numbers[group] for group in groups])
    splitter = GroupKFold(n_splits=min(folds, len(numbers)), shuffle=True, random_state=seed)
    yield from splitter.split(codes, groups=codes)


def _fit_logistic(
    votes: VoteMatrix,
    labels: Labels,
    groups: Sequence[object],
    train: NDArray[np.intp],
    nonnegative: bool,
    penalties: Sequence[float],
    folds: int,
    seed: int,
) -> tuple[VoteMatrix, float]:
    decided = np.array([place for place in train if labels[place] in ("a", "b")], dtype=np.intp)
    if not len(decided):
        raise LearningError("A part of the labelled pairs holds ties alone. Label some more pairs.")
    signs = np.array([_SIGN[labels[place] or "tie"] for place in decided])
    x = np.nan_to_num(votes[decided]) * signs[:, None]
    penalty = penalties[0]
    inner = [groups[place] for place in decided]
    if len(penalties) > 1 and len(set(inner)) > 1:
        losses = np.zeros(len(penalties))
        for fit_on, test_on in splits(inner, folds, seed):
            for place, c in enumerate(penalties):
                weights = logistic_weights(x[fit_on], c, nonnegative)
                losses[place] += np.logaddexp(0, -(x[test_on] @ weights)).sum()
        penalty = penalties[int(losses.argmin())]
    return logistic_weights(x, penalty, nonnegative), penalty


def logistic_weights(x: VoteMatrix, c: float, nonnegative: bool) -> VoteMatrix:
    """The weights that minimise |w|^2 / 2 + c sum log(1 + exp(-x w)); rows of ``x`` are turned so that their label is
    A."""
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    def loss(weights: VoteMatrix) -> tuple[float, VoteMatrix]:
        margin = x @ weights
        slope = -x.T @ (1 / (1 + np.exp(np.clip(margin, -500, 500))))
        return float(weights @ weights / 2 + c * np.logaddexp(0, -margin).sum()), weights + c * slope

    bounds = [(0.0 if nonnegative else None, None)] * x.shape[1]
    solution = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(solution.x, dtype=np.float64)


def _by_score(votes: VoteMatrix, weights: VoteMatrix) -> list[Verdict | None]:
    return list(_verdicts(_scores(votes, weights)))


def _verdicts(scores: NDArray[np.float64]) -> tuple[Verdict | None, ...]:
    return tuple(None if np.isnan(score) else _sign(float(score)) for score in scores)


def _sign(score: float) -> Verdict:
    if abs(score) < TIE_TOLERANCE:
        return "tie"
    return "a" if score > 0 else "b"


# The best single neuron


def best_single(
    votes: VoteMatrix, labels: Labels, groups: Sequence[object], *, folds: int = FOLDS, seed: int = 0
) -> Learned:
    """The neuron that agrees most with people, chosen in each fold by the training pairs alone.

    ``weights`` is 1 for the best over all labelled pairs and 0 for the others; the earlier one where several are equal.

    :raises LearningError: labels are too few.
    """
    require_labels(labels)
    said = _merged(votes)
    truth = np.array([-1 if label is None else VERDICTS.index(label) for label in labels])
    right = (said == truth[:, None]) & (said >= 0)
    labelled = np.flatnonzero(truth >= 0)
    best = int(right[labelled].sum(axis=0).argmax())
    verdicts = [_verdict(code) for code in said[:, best]]
    for train, test in splits([groups[int(place)] for place in labelled], folds, seed):
        chosen = int(right[labelled[train]].sum(axis=0).argmax())
        for place in _members(groups, {groups[int(index)] for index in labelled[test]}):
            verdicts[place] = _verdict(said[place, chosen])
    return Learned(tuple(verdicts), tuple(float(place == best) for place in range(votes.shape[1])))


def _merged(votes: VoteMatrix) -> NDArray[np.int64]:
    """The verdict of each neuron as its place in a, b, tie; -1 where it has none."""
    filled = np.nan_to_num(votes)
    codes = np.where(filled > TIE_TOLERANCE, 0, np.where(filled < -TIE_TOLERANCE, 1, 2))
    return np.where(np.isnan(votes), -1, codes).astype(np.int64)


def _verdict(code: int) -> Verdict | None:
    return None if code < 0 else VERDICTS[code]


# Dawid and Skene


class _Model(NamedTuple):
    """Shares of the true classes, and of each neuron's verdicts (last axis) given the true class."""

    prior: NDArray[np.float64]
    confusion: NDArray[np.float64]


def dawid_skene(
    votes: VoteMatrix, groups: Sequence[object], *, ties: bool = True, folds: int = FOLDS, seed: int = 0
) -> Learned:
    """Dawid and Skene's estimate (Applied Statistics 1979) of what is true from the neurons' verdicts alone.

    Expectation maximisation over the classes a, b and tie, begun with the vote, with one pseudo-pair spread over each
    neuron's table. Tables are tied so that A and B may be exchanged. Neurons are taken as independent given the truth;
    prompts of one model are not, and count for too much. Without ``ties`` no pair is taken to be truly a tie, though
    neurons may say so.

    :raises LearningError: there are no votes.
    """
    if not votes.size:
        raise LearningError("No pair is finished: there are no verdicts to learn from.")
    said = _merged(votes)
    whole = _estimate(said, ties)
    verdicts = _decide(said, whole)
    if len(set(groups)) > 1:
        for train, test in splits(groups, folds, seed):
            for place, verdict in zip(test, _decide(said[test], _estimate(said[train], ties)), strict=True):
                verdicts[place] = verdict
    odds = np.log(whole.confusion[:, 0, 0] / whole.confusion[:, 1, 0])
    return Learned(
        tuple(verdicts),
        tuple(float(odd) for odd in odds),
        prior=tuple(float(share) for share in whole.prior),
        tables=tuple(tuple(tuple(float(share) for share in row) for row in table) for table in whole.confusion),
    )


def _estimate(said: NDArray[np.int64], ties: bool) -> _Model:
    pairs, neurons = said.shape
    shown = np.zeros((pairs, neurons, 3))
    rows, columns = np.nonzero(said >= 0)
    shown[rows, columns, said[rows, columns]] = 1
    counts = shown.sum(axis=1)
    total = counts.sum(axis=1, keepdims=True)
    posterior = np.divide(counts, total, out=np.full_like(counts, 1 / 3), where=total > 0)
    if not ties:
        posterior[:, :2] += posterior[:, 2:] / 2
    model = _maximised(shown, posterior, ties)
    for _ in range(_ROUNDS):
        posterior = _posterior(shown, model)
        after = _maximised(shown, posterior, ties)
        moved = np.abs(after.confusion - model.confusion).max()
        model = after
        if moved < _SETTLED:
            break
    return model


def _maximised(shown: NDArray[np.float64], posterior: NDArray[np.float64], ties: bool) -> _Model:
    posterior = posterior if ties else posterior * (1.0, 1.0, 0.0)
    tables = np.einsum("pk,pnv->nkv", posterior, shown)
    tables = tables + tables[:, _MIRROR][:, :, _MIRROR] + 1 / 3
    prior = posterior.sum(axis=0)
    prior = prior + prior[_MIRROR] + 1 / 3
    if not ties:
        prior[2] = _NEVER
    return _Model(prior / prior.sum(), tables / tables.sum(axis=2, keepdims=True))


def _posterior(shown: NDArray[np.float64], model: _Model) -> NDArray[np.float64]:
    logs = np.einsum("pnv,nkv->pk", shown, np.log(model.confusion)) + np.log(model.prior)
    logs -= logs.max(axis=1, keepdims=True)
    shares = np.exp(logs)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)


def _decide(said: NDArray[np.int64], model: _Model) -> list[Verdict | None]:
    shown = np.zeros((*said.shape, 3))
    rows, columns = np.nonzero(said >= 0)
    shown[rows, columns, said[rows, columns]] = 1
    decided: list[Verdict | None] = []
    for shares, there in zip(_posterior(shown, model), [(row >= 0).any() for row in said], strict=True):
        a, b, tie = shares
        if not there:
            decided.append(None)
        elif tie > max(a, b) or abs(a - b) <= TIE_TOLERANCE:
            decided.append("tie")
        else:
            decided.append("a" if a > b else "b")
    return decided


# Neurons that depend on one another


def ising(
    votes: VoteMatrix,
    labels: Labels,
    groups: Sequence[object],
    *,
    penalties: Sequence[float] = ISING_PENALTIES,
    folds: int = FOLDS,
    seed: int = 0,
) -> Learned:
    """The likeliest label by an Ising model of the neurons' merged verdicts (:mod:`judgenet.stats.ising`).

    The penalty is the one with the least cross-validated log loss of the labels inside the training pairs. A tie is
    decided where it is likeliest, if people call pairs ties at all, and where the vote is exactly even.

    :raises LearningError: labels are too few, or neurons too many for their couplings.
    """
    require_labels(labels)
    if votes.shape[1] > MOST_NEURONS:
        raise LearningError(
            f"The couplings of neurons are fitted for up to {MOST_NEURONS} of them, and these are {votes.shape[1]:,}."
        )
    said = _merged(votes)
    signs = np.where(said < 0, np.nan, np.array([1.0, -1.0, 0.0])[said])
    labelled = np.array([place for place, label in enumerate(labels) if label is not None], dtype=np.intp)
    truth = np.array([_SIGN[labels[place] or "tie"] for place in labelled])
    asked = [groups[place] for place in labelled]
    whole, penalty = _fit_ising(signs[labelled], truth, asked, penalties, seed)
    verdicts = _by_ising(signs, whole)
    for train, test in splits(asked, folds, seed):
        mine = labelled[train]
        model, _ = _fit_ising(signs[mine], truth[train], [groups[place] for place in mine], penalties, seed)
        own = _members(groups, {asked[place] for place in test})
        for place, verdict in zip(own, _by_ising(signs[own], model), strict=True):
            verdicts[place] = verdict
    return Learned(
        tuple(verdicts),
        tuple(float(2 * weight) for weight in whole.h),
        penalty,
        tie_weights=() if whole.tie_odds is None else tuple(float(weight) for weight in whole.v),
        tie_odds=whole.tie_odds,
    )


def _fit_ising(
    signs: VoteMatrix, truth: VoteMatrix, groups: Sequence[object], penalties: Sequence[float], seed: int
) -> tuple[IsingModel, float]:
    """The model of labelled pairs, and the penalty with the least cross-validated log loss."""
    if not truth.any():
        raise LearningError("A part of the labelled pairs holds ties alone. Label some more pairs.")
    penalty = penalties[0]
    if len(penalties) > 1 and len(set(groups)) > 1:
        losses = np.zeros(len(penalties))
        for fit_on, test_on in splits(groups, _ISING_FOLDS, seed):
            for place, c in enumerate(penalties):
                model = fit_ising(signs[fit_on], truth[fit_on], c)
                # Where no tie was seen, the model has none: what it says of A and B counts.
                known = test_on[(truth[test_on] != 0) | (model.tie_odds is not None)]
                losses[place] += log_losses(model, signs[known], truth[known]).sum()
        penalty = penalties[int(losses.argmin())]
    return fit_ising(signs, truth, penalty), penalty


def _by_ising(signs: VoteMatrix, model: IsingModel) -> list[Verdict | None]:
    s = np.nan_to_num(signs)
    side = 2 * s @ model.h
    odds = np.full(len(s), np.inf) if model.tie_odds is None else model.tie_odds + (s * s) @ model.v
    tied = odds + np.abs(side) / 2 < 0
    judged = [not np.isnan(row).all() for row in signs]
    return [
        None if not there else "tie" if even else _sign(float(score))
        for score, even, there in zip(side, tied, judged, strict=True)
    ]


# Other data


def leave_out(
    votes: VoteMatrix,
    labels: Labels,
    parts: Sequence[str],
    groups: Sequence[object],
    *,
    nonnegative: bool = True,
    seed: int = 0,
) -> Learned:
    """As :func:`logistic`, each part (such as a task) judged by weights fitted to the other parts, without their pairs
    whose group (question) stands in the part too.

    :raises LearningError: labels are too few, there is one part only, or a part shares its groups with all others.
    """
    names = sorted(set(parts))
    if len(names) < 2:
        raise LearningError("There is one part only: nothing is left to learn from. Leave --leave-out away.")
    require_labels(labels)
    verdicts: list[Verdict | None] = [None] * len(labels)
    labelled = [place for place, label in enumerate(labels) if label is not None]
    for name in names:
        test = np.array([place for place in range(len(labels)) if parts[place] == name], dtype=np.intp)
        known = {groups[place] for place in test}
        train = np.array(
            [place for place in labelled if parts[place] != name and groups[place] not in known], dtype=np.intp
        )
        if not len(train):
            raise LearningError(
                f"Every labelled pair outside {name} has a question that is in {name} too: nothing is left to learn "
                "from. Leave --leave-out away."
            )
        weights, _ = _fit_logistic(votes, labels, groups, train, nonnegative, PENALTIES, FOLDS, seed)
        for place, verdict in zip(test, _by_score(votes[test], weights), strict=True):
            verdicts[place] = verdict
    whole = np.array(labelled, dtype=np.intp)
    weights, penalty = _fit_logistic(votes, labels, groups, whole, nonnegative, PENALTIES, FOLDS, seed)
    return Learned(tuple(verdicts), tuple(float(weight) for weight in weights), penalty)
