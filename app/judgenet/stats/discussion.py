"""What a later layer changes of what an earlier one said, and whether the change was right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from judgenet.core.pairs import VERDICTS, Verdict
from judgenet.stats.agreement import Verdicts, sign_test

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
    of ``to_right`` against ``to_wrong`` (McNemar 1947). ``table`` counts pairs by earlier (rows) and later verdict
    (columns), in the order a, b, tie. ``reasons`` says for each figure that is ``None`` why.
    """

    n: int
    n_total: int
    kept: int
    overturned: int
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

    @property
    def rate(self) -> float | None:
        """The share of pairs overturned, ``None`` where no pair has both verdicts."""
        return self.overturned / self.n if self.n else None


def overturns(before: Verdicts, after: Verdicts, human: Verdicts) -> Overturns:
    """How the verdicts ``after`` differ from those ``before``, pair by pair, and which of the two people share.

    :raises ValueError: the three differ in length.
    """
    if not len(before) == len(after) == len(human):
        raise ValueError(f"{len(before)}, {len(after)} and {len(human)} verdicts cannot be compared.")
    return overturns_of(Counter(zip(before, after, human, strict=True)))


def overturns_of(counts: ChangeCounts) -> Overturns:
    """:func:`overturns` from the counts of (earlier verdict, later verdict, human label)."""
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
        reasons = dict.fromkeys(("rate", "gain", "p"), "no pair has both verdicts")
    elif not labelled:
        reasons = dict.fromkeys(("gain", "p"), "no pair with both verdicts has a human label")
    return Overturns(
        n=n,
        n_total=sum(counts.values()),
        kept=kept,
        overturned=n - kept,
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
