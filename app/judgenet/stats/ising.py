"""Aggregation that lets neurons depend on one another: a pairwise (Ising) model of their verdicts given the label.

Given the better response y (+1 for A, -1 for B, 0 where people call it a tie), the verdicts s of the neurons (the same
codes) have the probability

    P(s | y) = exp(sum_j y h_j s_j + sum_(j<k) J_jk s_j s_k + sum_j (u_j + v_j y^2) s_j^2) / Z(y).

``h`` says how far a neuron follows the label, ``J`` how far two neurons say the same beyond that, ``u`` how rarely a
neuron calls a tie, and ``v`` how much more rarely where people do not. With A and B exchanged, s and y change their
sign and P stays, so that Z(1) = Z(-1), and the couplings cancel in the odds of A against B: log odds = 2 sum_j h_j s_j.
The rule is a weighted vote whose weights were estimated beside the couplings, as linear discriminant analysis stands to
logistic regression: a neuron that repeats another gets little weight of its own. This is the dependence-aware model
with class-independent couplings of Balasubramanian, Podkopaev and Kasiviswanathan ("Dependence-aware label aggregation
for LLM-as-a-judge via Ising models", ICML 2026, arXiv 2601.22336), with a third state for ties as in the model of Blume
and Capel.

Everything is fitted to labelled pairs by the pseudo-likelihood (Besag 1975): the product over neurons of the
probability of a neuron's verdict given those of the others and the label, with an L2 penalty on h, J and v. A verdict
that is missing has no factor, and takes no part in those of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.stats.curves import Floats

MOST_NEURONS = 40
"""Couplings are fitted for up to so many neurons: their number grows with the square of it."""
_AT_ONCE = 10_000
"""So many verdicts are worked on at a time: their arrays then stay in the processor's cache."""
_LOOSE = 1e-3
"""The penalty on u, which keeps it finite where a neuron never calls a tie."""


@dataclass(frozen=True, slots=True)
class IsingModel:
    """The parameters of the model, and ``tie_odds``: log(P(y = 1) Z(0) / (P(y = 0) Z(1))), ``None`` where no label
    is a tie, so that none is ever decided but where the vote is exactly even."""

    h: Floats
    j: Floats
    u: Floats
    v: Floats
    tie_odds: float | None = None


def fit_ising(said: Floats, labels: Floats, c: float, weights: Floats | None = None) -> IsingModel:
    """The model that minimises (|h|^2 + |J|^2 + |v|^2) / 2 less c times the log pseudo-likelihood.

    ``said`` holds +1, 0, -1 or NaN (missing), of shape (pairs, neurons); ``labels`` +1, 0 or -1 a pair; ``weights`` how
    often each pair counts, once where they are ``None``.
    """
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    n = said.shape[1]
    upper = np.triu_indices(n, 1)
    said, labels, count = _distinct(said, labels, np.ones(len(said)) if weights is None else weights)
    ties = bool((labels == 0).any())
    sizes = (n, len(upper[0]), n, n)
    cuts = np.cumsum(sizes)[:-1]
    step = max(1, _AT_ONCE // n)
    rows = [slice(start, start + step) for start in range(0, len(said), step)]
    parts = [_Part(np.nan_to_num(said[row]), ~np.isnan(said[row]), labels[row], count[row]) for row in rows]
    # Divided by c and the number of pairs, so that what ends the search does not depend on either.
    total = float(count.sum())
    shrink = np.concatenate([np.ones(n + sizes[1]), np.full(n, _LOOSE), np.ones(n)]) / (c * total)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        h, pairs, u, v = np.split(parameters, cuts)
        j = np.zeros((n, n))
        j[upper] = pairs
        value, slope = 0.0, np.zeros_like(parameters)
        for part in parts:
            mine, of_h, both, of_u, of_v = _pseudo(part, h, j + j.T, u, v)
            value += mine
            # Without a tie among the labels nothing tells v from u.
            slope += np.concatenate([of_h, (both + both.T)[upper], of_u, of_v * ties])
        return float(shrink @ parameters**2 / 2 - value / total), shrink * parameters - slope / total

    solution = minimize(loss, np.zeros(sum(sizes)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    h, pairs, u, v = np.split(np.asarray(solution.x, np.float64), cuts)
    j = np.zeros((n, n))
    j[upper] = pairs
    model = IsingModel(h, j + j.T, u, v)
    return replace(model, tie_odds=_tie_odds(model, said, labels, count)) if ties else model


def _distinct(said: Floats, labels: Floats, count: Floats) -> tuple[Floats, Floats, Floats]:
    """Each kind of pair once, with how often it counts: many pairs of few neurons are of few kinds."""
    kinds = np.column_stack([np.nan_to_num(said, nan=2.0), labels])
    distinct, place = np.unique(kinds, axis=0, return_inverse=True)
    each = distinct[:, :-1]
    times = np.bincount(place.ravel(), weights=count).astype(np.float64)
    return np.where(each == 2.0, np.nan, each), distinct[:, -1], times


class _Part(NamedTuple):
    """Some of the pairs: verdicts with 0 where they are missing, which are there, labels, and how often each counts."""

    s: Floats
    there: NDArray[np.bool_]
    labels: Floats
    times: Floats


def _pseudo(part: _Part, h: Floats, j: Floats, u: Floats, v: Floats) -> tuple[float, Floats, Floats, Floats, Floats]:
    """The log pseudo-likelihood of some pairs, and its slopes by h, J (each direction by itself), u and v."""
    s, there, labels, times = part
    decided = (labels**2)[:, None]
    field = labels[:, None] * h + s @ j
    bias = u + decided * v
    log_z = np.logaddexp(0.0, np.logaddexp(bias + field, bias - field))
    used = times[:, None] * there
    up, down = np.exp(bias + field - log_z), np.exp(bias - field - log_z)
    of_field, of_bias = used * (s - up + down), used * (s * s - up - down)
    return (
        float((used * (s * field + s * s * bias - log_z)).sum()),
        (labels[:, None] * of_field).sum(axis=0),
        of_field.T @ s,
        of_bias.sum(axis=0),
        (decided * of_bias).sum(axis=0),
    )


def _tie_odds(model: IsingModel, said: Floats, labels: Floats, count: Floats) -> float:
    """The one number of the posterior that the pseudo-likelihood leaves open, by maximum likelihood of the labels."""
    from scipy.optimize import minimize_scalar

    def loss(odds: float) -> float:
        return float((count * log_losses(replace(model, tie_odds=odds), said, labels)).sum())

    return float(minimize_scalar(loss, bounds=(-30.0, 30.0), method="bounded").x)


def log_posterior(model: IsingModel, said: Floats) -> Floats:
    """The log probabilities of A, B and tie given the verdicts, of shape (pairs, 3); missing ones add nothing."""
    s = np.nan_to_num(said)
    side = s @ model.h
    if model.tie_odds is None:
        logs = np.stack([side, -side, np.full(len(s), -np.inf)], axis=1)
    else:
        either = model.tie_odds + (s * s) @ model.v
        logs = np.stack([either + side, either - side, np.zeros(len(s))], axis=1)
    posterior: Floats = logs - np.logaddexp.reduce(logs, axis=1)[:, None]
    return posterior


def log_losses(model: IsingModel, said: Floats, labels: Floats) -> Floats:
    """Minus the log probability of each label (+1, 0, -1)."""
    places = np.where(labels > 0, 0, np.where(labels < 0, 1, 2))
    losses: Floats = -log_posterior(model, said)[np.arange(len(labels)), places]
    return losses
