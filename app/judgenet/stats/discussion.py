"""How a later layer changes the verdicts of an earlier one, towards whom, and whether the change was right.

Verdicts in arrays are codes as in :mod:`judgenet.stats.curves`: 0 none, 1 A, 2 tie, 3 B.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.stats.agreement import clustered_sign_test, sign_test
from judgenet.stats.intervals import Interval, share_interval, wilson
from judgenet.stats.means import Mean, mean_of
from judgenet.stats.resampling import few_groups

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judgenet.stats.curves import Codes
    from judgenet.stats.means import Groups, Numbers

    Mask = NDArray[np.bool_]

ChangeCounts = Mapping[tuple[Verdict | None, Verdict | None, Verdict | None], int]
"""How many pairs have which earlier verdict, later verdict and human label."""


@dataclass(frozen=True, slots=True)
class Overturns:
    """Earlier against later verdicts of the same pairs, by a layer or by one neuron.

    ``n`` of ``n_total`` pairs have both verdicts; ``kept`` of them are equal, ``overturned`` differ. Of the
    overturned, ``reversed`` went from one response to the other, the rest came from or went to a tie.
    ``overturned_labelled`` have a human label: for ``to_right`` the later verdict is the human one, for ``to_wrong``
    the earlier one was, ``between_wrong`` had neither. ``n_labelled`` are all pairs with both verdicts and a label,
    ``gain`` is (to_right - to_wrong) / n_labelled, the difference of the two accuracies. ``p`` is the exact sign test
    of ``to_right`` against ``to_wrong`` (McNemar 1947), as if pairs did not depend on each other; ``questions_p`` is
    the test for pairs that share questions (Obuchowski, Statistics in Medicine 1998), where it was made. ``table``
    counts pairs by earlier (rows) and later verdict (columns), in the order a, b, tie. ``interval`` is that of the
    share overturned (Wilson's over pairs). ``reasons`` says for each figure that is ``None`` why.
    """

    n: int
    n_total: int
    kept: int
    overturned: int
    interval: Interval | None
    reversed: int
    n_labelled: int
    overturned_labelled: int
    to_right: int
    to_wrong: int
    between_wrong: int
    gain: float | None
    p: float | None
    table: tuple[tuple[int, int, int], ...]
    reasons: dict[str, str]
    questions_p: float | None = None

    @property
    def rate(self) -> float | None:
        """The share of pairs overturned, ``None`` where no pair has both verdicts."""
        return self.overturned / self.n if self.n else None


def overturns_of(counts: ChangeCounts) -> Overturns:
    """How later verdicts differ from earlier ones, and which of the two people share, from the counts of (earlier
    verdict, later verdict, human label) of pairs."""
    table = {(before, after): 0 for before in VERDICTS for after in VERDICTS}
    labelled = to_right = to_wrong = between = 0
    for (before, after, human), count in counts.items():
        if before is None or after is None:
            continue
        table[before, after] += count
        if human is None:
            continue
        labelled += count
        if before == after:
            continue
        if after == human:
            to_right += count
        elif before == human:
            to_wrong += count
        else:
            between += count
    n = sum(table.values())
    kept = sum(table[verdict, verdict] for verdict in VERDICTS)
    reasons: dict[str, str] = {}
    if not n:
        reasons = dict.fromkeys(("rate", "rate_ci", "gain", "p"), "no pair has both verdicts")
    elif not labelled:
        reasons = dict.fromkeys(("gain", "p"), "no pair with both verdicts has a human label")
    return Overturns(
        n=n,
        n_total=sum(counts.values()),
        kept=kept,
        overturned=n - kept,
        interval=wilson(n - kept, n),
        reversed=table["a", "b"] + table["b", "a"],
        n_labelled=labelled,
        overturned_labelled=to_right + to_wrong + between,
        to_right=to_right,
        to_wrong=to_wrong,
        between_wrong=between,
        gain=(to_right - to_wrong) / labelled if labelled else None,
        p=sign_test(to_right, to_wrong) if labelled else None,
        table=tuple((table[row, "a"], table[row, "b"], table[row, "tie"]) for row in VERDICTS),
        reasons=reasons,
    )


def change_counts(before: Codes, after: Codes, human: Codes) -> ChangeCounts:
    """The counts that :func:`overturns_of` takes, of codes by pair."""
    import numpy as np

    from judgenet.stats.curves import CODES

    cells = np.bincount(before.astype(np.int64) * 16 + after.astype(np.int64) * 4 + human, minlength=64)
    return {
        (CODES[cell // 16], CODES[cell // 4 % 4], CODES[cell % 4]): int(cells[cell])
        for cell in map(int, cells.nonzero()[0])
    }


def overturns_by_question(before: Codes, after: Codes, human: Codes, groups: Groups | None) -> Overturns:
    """:func:`overturns_of` codes by pair. Where questions repeat (``groups`` numbers that of each pair) the interval
    and the second p are over questions."""
    overturns = overturns_of(change_counts(before, after, human))
    if groups is None or not overturns.n:
        return overturns
    both = (before > 0) & (after > 0)
    within = share_interval(groups[both], (before != after)[both])
    p, no_test = _questions_p(before, after, human, groups)
    why = {"questions_p": no_test} if no_test else {}
    if within is None:
        why["rate_ci"] = few_groups(groups[both])
    return replace(overturns, interval=within, reasons=overturns.reasons | why, questions_p=p)


def _questions_p(before: Codes, after: Codes, human: Codes, groups: Groups) -> tuple[float | None, str]:
    """The p of right against wrong changes, over the questions of the labelled pairs with both verdicts."""
    import numpy as np

    there = (before > 0) & (after > 0) & (human > 0)
    if not there.any():
        return None, "no pair with both verdicts has a human label"
    if few := few_groups(groups[there]):
        return None, few
    _, places = np.unique(groups[there], return_inverse=True)
    right = (after == human)[there].astype(np.float64) - (before == human)[there]
    p = clustered_sign_test(np.bincount(places, right).astype(np.float64))
    return p, "" if p is not None else "as many became right as wrong on each question"


# How neurons change their mind


@dataclass(frozen=True, slots=True)
class Moves:
    """``moved`` of ``chances`` verdicts of neurons, and the mean over pairs of the share that moved.

    The mean and its interval are over the pairs that have a chance at all: the neurons of a pair are repeated looks at
    the same pair.
    """

    moved: int
    chances: int
    mean: Mean


@dataclass(frozen=True, slots=True)
class MindChanges:
    """How neurons changed the verdict that they (the neuron of the same place) had a layer before.

    ``changed``: of the verdicts with one before, those that differ from it. ``to_others``: where most of the *other*
    neurons that it read said something else than itself, how often it took that over. ``against_others``: where most of
    them agreed with it, how often it changed all the same. ``to_own_order``: where the neuron itself had said something
    else with the responses in the other order, how often it took that over, order by order. Of the changed verdicts
    ``towards_others`` went to what most others said, ``away`` elsewhere, and for ``undecided`` the others had no
    majority, or there were none.

    Of the changed verdicts with a human label, ``to_right`` became right, ``to_wrong`` wrong, ``between_wrong`` stayed
    wrong; ``followed_right`` and ``followed_wrong`` are those of them that went towards the others. ``gain`` is the
    mean over labelled pairs of (to_right - to_wrong) by the neurons of the pair: by how much the change raised the
    neurons' accuracy. ``p`` is the exact sign test of the pairs that gained against those that lost, of questions where
    these repeat.
    """

    neurons: int
    n_total: int
    changed: Moves
    to_others: Moves
    against_others: Moves
    to_own_order: Moves
    towards_others: int
    away: int
    undecided: int
    n_labelled: int
    to_right: int
    to_wrong: int
    between_wrong: int
    followed_right: int
    followed_wrong: int
    gain: Mean
    gained: int
    lost: int
    p: float | None
    reason: str = ""


def others_majority(before: Codes, reads: Mask) -> Codes:
    """What most of those say whom each neuron reads: codes (pairs, neurons), 0 where they are undecided or silent.

    ``before`` has the shape (pairs, neurons of the layer before), ``reads`` (neurons, neurons of the layer before).
    As in a vote with abstentions the larger of A and B wins; it is a tie where all of them say tie.
    """
    import numpy as np

    wires = reads.astype(np.float32).T
    a, tie, b = ((before == code).astype(np.float32) @ wires for code in (1, 2, 3))
    said = np.select([a > b, b > a, (tie > 0) & (a == 0) & (b == 0)], [1, 3, 2], 0)
    majority: Codes = said.astype(np.uint8)
    return majority


def mind_changes(
    before: Codes,
    after: Codes,
    others: Codes,
    human: Codes,
    *,
    orders: tuple[tuple[Codes, Codes], tuple[Codes, Codes]] | None = None,
    groups: Groups | None = None,
) -> MindChanges:
    """How the neurons of a layer, or one of them, changed their mind.

    ``before``, ``after`` and ``others`` (:func:`others_majority`) have the shape (pairs, neurons), ``human`` is by
    pair. ``orders`` are the codes of the calls with A first, before and after, and of those with B first. ``groups``
    numbers the question of each pair.

    :raises ValueError: the shapes differ.
    """
    import numpy as np

    if not before.shape == after.shape == others.shape or before.shape[:1] != human.shape:
        raise ValueError(f"Verdicts of the shapes {before.shape}, {after.shape} and {others.shape} do not go together.")
    both = (before > 0) & (after > 0)
    changed = both & (before != after)
    decided = both & (others > 0)
    labelled = both & (human > 0)[:, None]
    right_before, right_after = (labelled & (said == human[:, None]) for said in (before, after))
    to_right, to_wrong = labelled & ~right_before & right_after, labelled & right_before & ~right_after
    followed = changed & (others > 0) & (after == others)
    gain, counted = _lead(to_right, to_wrong, labelled)
    gained, lost = _ahead(to_right, to_wrong, groups)
    reason = ""
    if not both.any():
        reason = "no neuron has a verdict in both layers"
    elif not counted.any():
        reason = "no pair with both verdicts has a human label"
    return MindChanges(
        neurons=before.shape[1],
        n_total=len(before),
        changed=_moves(changed, both, groups, "no neuron has a verdict in both layers"),
        to_others=_moves(
            followed, decided & (others != before), groups, "no neuron read a majority against its own verdict"
        ),
        against_others=_moves(
            changed, decided & (others == before), groups, "no neuron read a majority for its own verdict"
        ),
        to_own_order=_own_orders(orders, groups),
        towards_others=int(followed.sum()),
        away=int((changed & (others > 0) & (after != others)).sum()),
        undecided=int((changed & (others == 0)).sum()),
        n_labelled=int(counted.sum()),
        to_right=int(to_right.sum()),
        to_wrong=int(to_wrong.sum()),
        between_wrong=int((changed & labelled & ~right_before & ~right_after).sum()),
        followed_right=int((followed & to_right).sum()),
        followed_wrong=int((followed & to_wrong).sum()),
        gain=mean_of(np.where(counted, gain, np.nan), reason, groups, (-1.0, 1.0)),
        gained=gained,
        lost=lost,
        p=sign_test(gained, lost) if counted.any() else None,
        reason=reason,
    )


def _moves(moved: Mask, chances: Mask, groups: Groups | None, why: str) -> Moves:
    import numpy as np

    moved = moved & chances
    totals = chances.sum(axis=1)
    shares = np.divide(moved.sum(axis=1), totals, out=np.full(len(totals), np.nan), where=totals > 0)
    return Moves(int(moved.sum()), int(chances.sum()), mean_of(shares, why, groups))


def _own_orders(orders: tuple[tuple[Codes, Codes], tuple[Codes, Codes]] | None, groups: Groups | None) -> Moves:
    import numpy as np

    why = "no neuron had two verdicts that depend on the order"
    if orders is None:
        return Moves(0, 0, Mean(None, None, 0, why))
    (ab_before, ab_after), (ba_before, ba_after) = orders
    apart = (ab_before > 0) & (ba_before > 0) & (ab_before != ba_before)
    chances = np.concatenate([apart & (ab_after > 0), apart & (ba_after > 0)], axis=1)
    moved = np.concatenate([ab_after == ba_before, ba_after == ab_before], axis=1)
    return _moves(moved, chances, groups, why)


def _lead(to_right: Mask, to_wrong: Mask, labelled: Mask) -> tuple[Numbers, Mask]:
    import numpy as np

    totals = labelled.sum(axis=1)
    lead = to_right.sum(axis=1) - to_wrong.sum(axis=1).astype(np.float64)
    return np.divide(lead, totals, out=np.zeros(len(totals)), where=totals > 0), totals > 0


def _ahead(to_right: Mask, to_wrong: Mask, groups: Groups | None) -> tuple[int, int]:
    """How many pairs, or questions, gained and lost right verdicts."""
    import numpy as np

    lead = to_right.sum(axis=1).astype(np.int64) - to_wrong.sum(axis=1)
    if groups is not None:
        _, places = np.unique(groups, return_inverse=True)
        lead = np.bincount(places, lead).astype(np.int64)
    return int((lead > 0).sum()), int((lead < 0).sum())
