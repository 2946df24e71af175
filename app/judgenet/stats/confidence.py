"""How sure each verdict of a run is: agreement of its calls, orders, neurons or samples, its margin, or a learned
probability. The rule for one pair is :mod:`judgenet.core.acceptance`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgenet.core.network import Confidence
from judgenet.stats.curves import Codes, Floats
from judgenet.stats.soft_votes import sureness_of


def confidences(
    kind: Confidence,
    verdicts: Codes,
    calls: NDArray[np.integer[Any]],
    neurons: Codes,
    margin: Floats,
    probability: Floats,
    soft: Floats | None = None,
) -> Floats:
    """How sure each verdict is, a value a pair; NaN without a verdict, or where this is not defined.

    ``calls`` are of shape (pairs, neurons, 2, 3): how many valid calls of each order said A, a tie, B. ``neurons`` are
    codes of shape (pairs, neurons), each neuron's calls merged. ``margin`` is the absolute mean of A minus B over the
    valid calls, ``probability`` the learned one that A is better; both are NaN where there are none.

    ``soft``, of shape (pairs, 3), is the mean of the neurons' distributions over A, tie and B; ``None`` without token
    probabilities.

    ``samples`` is the mean, over the neurons and orders with several valid samples, of the share of samples that say
    what most of them say.
    """
    there = verdicts > 0
    of_verdict = np.maximum(verdicts.astype(np.int64) - 1, 0)
    match kind:
        case "margin":
            values = margin
        case "learned":
            values = np.select([verdicts == 1, verdicts == 3], [probability, 1 - probability], 0.0)
            values = np.where(np.isnan(probability), np.nan, values)
        case "entropy":
            values = np.full(len(verdicts), np.nan) if soft is None else sureness_of(soft)
        case "neurons":
            values = _share((neurons == verdicts[:, None]).sum(axis=1), (neurons > 0).sum(axis=1))
        case "samples":
            drawn = calls.sum(axis=3, dtype=np.int64)
            several = drawn > 1
            same = np.divide(calls.max(axis=3), drawn, out=np.zeros(drawn.shape), where=several)
            values = _share(same.sum(axis=(1, 2)), several.sum(axis=(1, 2)))
        case "calls" | "orders":
            by_order = calls.sum(axis=1, dtype=np.int64)
            said = np.take_along_axis(by_order.sum(axis=1), of_verdict[:, None], axis=1)[:, 0]
            values = _share(said, by_order.sum(axis=(1, 2)))
            if kind == "orders":
                lead = by_order[:, :, 0] - by_order[:, :, 2]
                of_order = np.where(lead > 0, 1, np.where(lead < 0, 3, 2))
                asked = (by_order.sum(axis=2) > 0).all(axis=1)
                values = values + (asked & (of_order == verdicts[:, None]).all(axis=1))
    return np.where(there, values, np.nan)


def _share(part: NDArray[np.number], total: NDArray[np.number]) -> Floats:
    whole: Floats = np.divide(part, total, out=np.full(len(total), np.nan), where=total > 0)
    return whole
