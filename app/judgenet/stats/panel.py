"""How several raters agree with each other: people of a panel, neurons of a layer, layers, orders, networks.

What is undefined is ``None`` with a reason. A rater that says nothing of a pair is missing there, and never a tie.
Verdicts in arrays are codes as in :mod:`judgenet.stats.curves`: 0 none, 1 A, 2 tie, 3 B.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Literal

from judgenet.core.pairs import Verdict, majority
from judgenet.stats.agreement import Agreement, agreement_of, sign_test_over_questions
from judgenet.stats.intervals import (
    RESAMPLES,
    AgreementIntervals,
    Interval,
    Z,
    agreement_intervals,
    bootstrap_interval,
)
from judgenet.stats.multiple import holm, many_compared
from judgenet.stats.resampling import few_questions, pseudo_cells

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judgenet.stats.curves import Codes
    from judgenet.stats.means import Groups, Numbers

Ratings = Mapping[str, Verdict]
"""What each rater said of one pair."""

Level = Literal["nominal", "ordinal"]

_ORDER: tuple[Verdict, ...] = ("a", "tie", "b")
"""From one response to the other: the order of ordinal alpha."""

ALL_TWOS = 64
"""Up to so many raters each two have their figures; of more, those that rated a pair together."""

_RESAMPLES = 1000
_MOST_DROPPED = 0.01


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient over ``n`` pairs, or ``None`` with a ``reason``. The interval is a percentile bootstrap over pairs,
    over questions where they repeat; ``None`` where it was not asked for, or ``interval_reason`` says why."""

    value: float | None
    n: int
    reason: str = ""
    interval: Interval | None = None
    interval_reason: str = ""


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """A panel's agreement with itself.

    ``h`` is the mean pairwise agreement: for each pair with two raters or more, the share of pairs of raters that
    agree, averaged over pairs. ``pairwise`` has Cohen's kappa (and all else) of each two raters.
    """

    raters: tuple[str, ...]
    h: Coefficient
    alpha_nominal: Coefficient
    alpha_ordinal: Coefficient
    fleiss: Coefficient
    pairwise: dict[tuple[str, str], Agreement]

    @property
    def mean_kappa(self) -> Coefficient:
        """The mean of Cohen's kappa over the pairs of raters that have one; ``n`` counts these."""
        if len(self.raters) > ALL_TWOS and not self.pairwise:
            return Coefficient(
                None, 0, f"each two of {ALL_TWOS} raters at most are compared, here {len(self.raters):,}"
            )
        kappas = [agreement.kappa for agreement in self.pairwise.values() if agreement.kappa is not None]
        if not kappas:
            return Coefficient(None, 0, "no two raters have a kappa")
        return Coefficient(sum(kappas) / len(kappas), len(kappas))


def panel_agreement(units: Iterable[Ratings], who: str = "annotators") -> PanelAgreement:
    """All coefficients of a panel, from what it said pair by pair. ``who`` names the raters in reasons.

    Beyond :data:`ALL_TWOS` raters ``pairwise`` has only those two that rated a pair together.
    """
    profiles = Counter(tuple(sorted(unit.items())) for unit in units if unit)
    raters = tuple(sorted({rater for profile in profiles for rater, _ in profile}))
    table: list[tuple[tuple[int, ...], int]] = [
        (category_counts((said for _, said in profile), _ORDER), count) for profile, count in profiles.items()
    ]
    counts = [row for row, times in table for _ in range(times)]
    pairwise: dict[tuple[str, str], Counter[tuple[Verdict | None, Verdict | None]]] = defaultdict(Counter)
    if len(raters) <= ALL_TWOS:
        pairwise.update({two: Counter() for two in combinations(raters, 2)})
    for profile, times in profiles.items():
        for (first, said), (second, other_said) in combinations(profile, 2):
            pairwise[first, second][said, other_said] += times
    return PanelAgreement(
        raters=raters,
        h=percent_agreement(counts, who),
        alpha_nominal=krippendorff_alpha(counts, "nominal", who),
        alpha_ordinal=krippendorff_alpha(counts, "ordinal", who),
        fleiss=fleiss_kappa(counts, who),
        pairwise={two: agreement_of(cells) for two, cells in pairwise.items()},
    )


def panel_of(
    names: Sequence[str],
    codes: Codes,
    who: str = "neurons",
    *,
    groups: Groups | None = None,
    resamples: int = _RESAMPLES,
    seed: int = 0,
) -> PanelAgreement:
    """:func:`panel_agreement` of verdict codes of shape (pairs, raters), with intervals.

    ``groups`` numbers the question of each pair, where questions repeat. Beyond :data:`ALL_TWOS` raters there is
    nothing in ``pairwise``.

    :raises ValueError: there are not as many names as columns.
    """
    import numpy as np

    from judgenet.stats.curves import pair_counts

    if codes.ndim != 2 or codes.shape[1] != len(names):
        raise ValueError(f"{len(names)} raters do not go with codes of the shape {codes.shape}.")
    table = np.stack([(codes == code).sum(axis=1) for code in (1, 2, 3)], axis=1)
    counts = [tuple(row) for row in table.tolist()]
    agreement = PanelAgreement(
        raters=tuple(names),
        h=percent_agreement(counts, who),
        alpha_nominal=krippendorff_alpha(counts, "nominal", who),
        alpha_ordinal=krippendorff_alpha(counts, "ordinal", who),
        fleiss=fleiss_kappa(counts, who),
        pairwise={
            (names[first], names[second]): agreement_of(pair_counts(codes[:, first], codes[:, second]))
            for first, second in combinations(range(len(names) if len(names) <= ALL_TWOS else 0), 2)
        },
    )
    return with_intervals(agreement, counts, groups=groups, resamples=resamples, seed=seed)


def category_counts(said: Iterable[object], categories: Sequence[object]) -> tuple[int, ...]:
    """How often each of the categories was said."""
    counted = Counter(said)
    return tuple(counted[category] for category in categories)


def percent_agreement(counts: Sequence[Sequence[int]], who: str = "annotators") -> Coefficient:
    """The mean share of agreeing pairs of raters, over the units (counts by category) that two or more rated."""
    shares = []
    for row in counts:
        raters = sum(row)
        if raters > 1:
            shares.append(sum(count * (count - 1) for count in row) / (raters * (raters - 1)))
    if not shares:
        return Coefficient(None, 0, f"no pair has two {who}")
    return Coefficient(sum(shares) / len(shares), len(shares))


def krippendorff_alpha(counts: Sequence[Sequence[int]], level: Level, who: str = "annotators") -> Coefficient:
    """Krippendorff's alpha (2004, chapter 11), ``nominal`` or ``ordinal`` (in the order of the categories); raters may
    be missing.

    ``counts`` has a unit a row and a category a column.
    """
    rated = [list(row) for row in counts if sum(row) > 1]
    if not rated:
        return Coefficient(None, 0, f"no pair has two {who}")
    if sum(1 for column in zip(*rated, strict=True) if any(column)) < 2:
        return Coefficient(None, len(rated), f"all {who} gave one and the same class")
    import numpy as np

    said = np.asarray(rated, dtype=float)
    # Each two ratings of a unit count once in each direction, and a unit by its ratings, not by its twos.
    each = said / (said.sum(axis=1, keepdims=True) - 1)
    together = each.T @ said - np.diag(each.sum(axis=0))
    return Coefficient(float(_alphas(together[None], level)[0]), len(rated))


def fleiss_kappa(counts: Sequence[Sequence[int]], who: str = "annotators") -> Coefficient:
    """Fleiss' kappa (1971) over units that all have the same number of raters; refused where they have not."""
    rated = [list(row) for row in counts if sum(row)]
    raters = {sum(row) for row in rated}
    if not rated or raters == {1}:
        return Coefficient(None, 0, f"no pair has two {who}")
    if len(raters) > 1:
        said = f"{min(raters)} to {max(raters)} {who} a pair"
        return Coefficient(None, len(rated), f"made for equally many {who} a pair, here {said}; use alpha")
    if sum(1 for column in zip(*rated, strict=True) if any(column)) < 2:
        return Coefficient(None, len(rated), f"all {who} gave one and the same class")
    n, each = len(rated), raters.pop()
    agreeing = sum(sum(count * (count - 1) for count in row) for row in rated) / (n * each * (each - 1))
    by_chance = sum((sum(column) / (n * each)) ** 2 for column in zip(*rated, strict=True))
    return Coefficient((agreeing - by_chance) / (1 - by_chance), n)


@dataclass(frozen=True, slots=True)
class Annotator:
    """One annotator against the label that is in use, of which its own may be a part, and against the majority of the
    other annotators of the pair; without a majority among them the pair does not count."""

    against_label: Agreement
    against_others: Agreement


def each_annotator(
    counts: Mapping[tuple[Verdict | None, tuple[tuple[str, Verdict], ...]], int],
) -> dict[str, Annotator]:
    """How each annotator agrees with the label and with the others, from the numbers of pairs with a label and what the
    annotators said of them."""
    Cells = Counter[tuple[Verdict | None, Verdict | None]]
    label: dict[str, Cells] = defaultdict(Counter)
    rest: dict[str, Cells] = defaultdict(Counter)
    for (human, profile), times in counts.items():
        for place, (name, said) in enumerate(profile):
            others = [verdict for number, (_, verdict) in enumerate(profile) if number != place]
            label[name][human, said] += times
            rest[name][majority(others, None), said] += times
    return {name: Annotator(agreement_of(label[name]), agreement_of(rest[name])) for name in sorted(label)}


# Intervals


def with_intervals(
    panel: PanelAgreement,
    counts: Sequence[Sequence[int]] | NDArray[np.integer],
    *,
    groups: Groups | None = None,
    resamples: int = _RESAMPLES,
    seed: int = 0,
) -> PanelAgreement:
    """The panel with the intervals of h, both alphas and Fleiss' kappa; ``counts`` are those that it was made of."""
    import numpy as np

    from judgenet.stats.means import resampled_sums

    table = np.asarray(counts, dtype=np.float64).reshape(-1, len(_ORDER))
    several = table.sum(axis=1) > 1
    table, mine = table[several], None if groups is None else groups[several]
    if not len(table) or not resamples:
        return panel
    if mine is not None:
        questions = len(np.unique(mine))
        if questions == len(mine):
            mine = None
        elif why := few_questions(questions, len(mine)):
            return replace(
                panel,
                **{
                    name: replace(getattr(panel, name), interval_reason=why)
                    for name in ("h", "alpha_nominal", "alpha_ordinal", "fleiss")
                },
            )
    drawn = resampled_sums(_panel_terms(table), resamples, seed, mine)
    n = len(table) if mine is None else questions
    drawn = drawn + _pseudo_pairs(table, n, resamples, seed)
    effective = None if mine is None else n
    together, columns = drawn[:, :9].reshape(-1, 3, 3), drawn[:, 9:12]
    h = drawn[:, 12] / drawn[:, 13]
    by_chance = ((columns / drawn[:, 14:]) ** 2).sum(axis=1)
    fleiss = np.divide(h - by_chance, 1 - by_chance, out=np.full(len(h), np.nan), where=by_chance < 1)
    return replace(
        panel,
        h=_between(panel.h, h, effective, 0.0),
        alpha_nominal=_between(panel.alpha_nominal, _alphas(together, "nominal"), effective, -1.0),
        alpha_ordinal=_between(panel.alpha_ordinal, _alphas(together, "ordinal"), effective, -1.0),
        fleiss=_between(panel.fleiss, fleiss, effective, -1.0),
    )


def _panel_terms(table: Numbers) -> Numbers:
    """What each unit adds to the sums of a panel: the coincidences of two values within it, as Krippendorff counts
    them; its counts; then the share that agrees, the unit, and what Fleiss' kappa sums."""
    import numpy as np

    raters = table.sum(axis=1)
    agreeing = (table * (table - 1)).sum(axis=1) / (raters * (raters - 1))
    coincidences = (table[:, :, None] * table[:, None, :] - table[:, :, None] * np.eye(3)) / (raters - 1)[:, None, None]
    last = np.stack([agreeing, np.ones(len(table)), raters], axis=1)
    return np.concatenate([coincidences.reshape(len(table), 9), table, last], axis=1)


def _pseudo_pairs(table: Numbers, n: int, resamples: int, seed: int) -> Numbers:
    """What half a pair on which two raters agree, and half a one on which they do not, add to the sums of each
    resample, so that these vary where all agree: spread over the classes in use, and as large as one of ``n`` pairs or
    questions."""
    import numpy as np

    used = np.flatnonzero(table.any(axis=0))
    places = used if len(used) > 1 else np.arange(len(_ORDER))
    kinds = [(first, first) for first in used] + list(combinations(places.tolist(), 2))
    rows = []
    for first, second in kinds:
        counts = np.eye(3)[first] + np.eye(3)[second]
        together = np.zeros((3, 3))
        together[first, second] += 1
        together[second, first] += 1
        rows.append(np.concatenate([together.ravel(), counts, [float(first == second), 1.0, 2.0]]))
    shares = [1 / len(used)] * len(used) + [1 / (len(kinds) - len(used))] * (len(kinds) - len(used))
    weights = pseudo_cells((resamples,), np.array(shares) / 2, len(table) / n, seed)
    pairs: Numbers = weights @ np.array(rows)
    return pairs


def _alphas(together: Numbers, level: Level) -> Numbers:
    """Krippendorff's alpha of tables of coincidences (2004, chapter 11), shape (tables, categories, categories); NaN
    where one value only occurs."""
    import numpy as np

    margins = together.sum(axis=2)
    n = margins.sum(axis=1)
    if level == "nominal":
        distance: Numbers = np.broadcast_to(1 - np.eye(together.shape[1]), together.shape)
    else:
        below = np.cumsum(margins, axis=1) - margins / 2
        distance = (below[:, :, None] - below[:, None, :]) ** 2
    seen = (together * distance).sum(axis=(1, 2)) * (n - 1)
    expected = (margins[:, :, None] * margins[:, None, :] * distance).sum(axis=(1, 2))
    apart = np.divide(seen, expected, out=np.full(len(n), np.nan), where=expected > 0)
    alphas: Numbers = 1 - apart
    return alphas


def _between(coefficient: Coefficient, drawn: Numbers, questions: int | None, least: float) -> Coefficient:
    import numpy as np

    if coefficient.value is None:
        return replace(coefficient, interval_reason=coefficient.reason)
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < (1 - _MOST_DROPPED) * len(drawn):
        return replace(
            coefficient, interval_reason=f"undefined in {len(drawn) - len(defined):,} of {len(drawn):,} resamples"
        )
    return replace(coefficient, interval=bootstrap_interval(defined, coefficient.value, questions, (least, 1.0)))


def kappa_interval(agreement: Agreement) -> tuple[float, Interval] | None:
    """The asymptotic standard error of Cohen's kappa and its 95 % interval (Fleiss, Cohen and Everitt 1969), for pairs
    that count as drawn independently; ``None`` where kappa is undefined, or all verdicts agree or none does.
    """
    n = agreement.n_used
    if agreement.kappa is None or not n:
        return None
    shares = [[count / n for count in row] for row in agreement.confusion]
    rows = [sum(row) for row in shares]
    columns = [sum(column) for column in zip(*shares, strict=True)]
    places = range(len(shares))
    agreeing = sum(shares[i][i] for i in places)
    by_chance = sum(rows[i] * columns[i] for i in places)
    off = 1 - by_chance
    on_diagonal = sum(shares[i][i] * (off - (rows[i] + columns[i]) * (1 - agreeing)) ** 2 for i in places)
    others = (1 - agreeing) ** 2 * sum(
        shares[i][j] * (columns[i] + rows[j]) ** 2 for i in places for j in places if i != j
    )
    rest = (agreeing * by_chance - 2 * by_chance + agreeing) ** 2
    variance = (on_diagonal + others - rest) / (n * off**4)
    if variance <= 1e-15:
        return None
    error = sqrt(variance)
    return error, Interval(max(-1.0, agreement.kappa - Z * error), min(1.0, agreement.kappa + Z * error))


# Who agrees with people most


@dataclass(frozen=True, slots=True)
class AgainstBest:
    """One rater against people, and against the rater that agrees with them most.

    Of the pairs that both judged, ``only_best`` and ``only_this`` count those that one alone gets right; where
    questions repeat, the questions of which one gets more pairs right. ``p`` is the exact sign test of the two
    (McNemar's), ``p_holm`` the same among all comparisons; both are ``None`` for the best itself, and where the two
    share no labelled pair.
    """

    name: str
    agreement: Agreement
    intervals: AgreementIntervals
    only_best: int
    only_this: int
    n_common: int
    p: float | None
    p_holm: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Raters:
    """Raters by their agreement with people, the best accuracy first; raters without a labelled pair come last, and
    before them those with fewer than 20 where others have more: three pairs make nobody the best.

    ``best`` is the name of the first. ``not_worse`` are those that the labelled pairs cannot tell from it (``p_holm``
    of .05 or more, or no labelled pair that both judged). ``warning`` says what comparing many does (from three on),
    and where they did not all judge the same pairs.
    """

    raters: tuple[AgainstBest, ...]
    best: str | None
    not_worse: tuple[str, ...]
    warning: str
    tested_over: Literal["pairs", "questions"]
    reason: str = ""


_LEVEL = 0.05
_FEW_RATERS = 3

_ENOUGH = 20
"""Below so many labelled pairs a rater is the best only where no other has more."""


def against_people(
    names: Sequence[str],
    codes: Codes,
    human: Codes,
    what: str = "neurons",
    *,
    groups: Groups | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Raters:
    """Which of several raters agrees with people most, and whether the labelled pairs can tell it from the others.

    ``codes`` has the shape (pairs, raters), ``human`` a code a pair; ``groups`` numbers the question of each pair.

    :raises ValueError: the shapes do not go together.
    """
    if codes.shape != (len(human), len(names)):
        raise ValueError(f"{len(names)} raters and {len(human)} labels do not go with codes of shape {codes.shape}.")
    places, repeated = _questions(human, groups)
    raters = []
    for place in range(len(names)):
        tables = _by_question(human, codes[:, place], places) if repeated else None
        agreement = agreement_of(_cells(human, codes[:, place]))
        raters.append((agreement, agreement_intervals(agreement, resamples=resamples, seed=seed, questions=tables)))
    enough = min(_ENOUGH, max((rater_agreement.n_used for rater_agreement, _ in raters), default=0))
    order = sorted(range(len(names)), key=lambda place: _rank(raters[place][0], enough))
    over: Literal["pairs", "questions"] = "questions" if repeated else "pairs"
    if not order or raters[order[0]][0].accuracy is None:
        why = "no pair has both a human label and a verdict"
        rest = tuple(AgainstBest(names[place], *raters[place], 0, 0, 0, None, None, why) for place in order)
        return Raters(rest, None, (), "", over, why)
    best = order[0]
    rows = [
        _against_best(
            names[place], *raters[place], codes[:, best], codes[:, place], human, places, is_best=place == best
        )
        for place in order
    ]
    adjusted = iter(holm([row.p for row in rows if row.p is not None]))
    rows = [row if row.p is None else replace(row, p_holm=next(adjusted)) for row in rows]
    n = int((human > 0).sum())
    warning = many_compared(what, len(names), n) if len(names) >= _FEW_RATERS else ""
    if len({row.agreement.n_used for row in rows}) > 1:
        warning = f"{warning}; " if warning else ""
        warning += f"the {what} did not all judge the same pairs, so that their accuracies are of different pairs"
    return Raters(
        raters=tuple(rows),
        best=names[best],
        not_worse=tuple(
            row.name for row in rows[1:] if row.agreement.n_used and (row.p_holm is None or row.p_holm >= _LEVEL)
        ),
        warning=warning,
        tested_over=over,
    )


def _against_best(
    name: str,
    agreement: Agreement,
    intervals: AgreementIntervals,
    best: Codes,
    own: Codes,
    human: Codes,
    questions: NDArray[np.intp],
    *,
    is_best: bool,
) -> AgainstBest:
    """A rater against the one that agrees with people most; p is not corrected yet."""
    import numpy as np

    both = (human > 0) & (best > 0) & (own > 0)
    lead = (best[both] == human[both]).astype(np.int64) - (own[both] == human[both])
    ahead, behind, common = int((lead > 0).sum()), int((lead < 0).sum()), int(both.sum())
    why, p = "", None
    if is_best:
        why = "the best itself"
    elif not common:
        why = "shares no labelled pair with the best"
    else:
        p = sign_test_over_questions(questions[both], lead)
    return AgainstBest(name, agreement, intervals, ahead, behind, common, p, None, why)


def distinguished_words(others: int, same: int, what: str = "other") -> str:
    """Which of ``others`` the labelled pairs can tell the best from, where they cannot for ``same`` of them: "can tell
    it from all 17 others", to follow "the labelled pairs". ``what`` is the noun of one of them."""
    if others == 1:
        return f"can{'not' if same else ''} tell it from the {what}"
    if not same:
        return f"can tell it from all {others:,} {what}s"
    if same == others:
        return f"cannot tell it from any of the {others:,} {what}s"
    return f"cannot tell it from {same:,} of the {others:,} {what}s"


def _rank(agreement: Agreement, enough: int) -> tuple[bool, bool, float, float]:
    return (
        agreement.accuracy is None,
        agreement.n_used < enough,
        -(agreement.accuracy or 0.0),
        -(-2.0 if agreement.kappa is None else agreement.kappa),
    )


def _questions(human: Codes, groups: Groups | None) -> tuple[NDArray[np.intp], bool]:
    """The place of each pair's question, and whether labelled pairs share one."""
    import numpy as np

    if groups is None:
        return np.arange(len(human)), False
    _, places = np.unique(groups, return_inverse=True)
    labelled = places[human > 0]
    return places, len(np.unique(labelled)) < len(labelled)


def _cells(human: Codes, said: Codes) -> Mapping[tuple[Verdict | None, Verdict | None], int]:
    from judgenet.stats.curves import pair_counts

    return pair_counts(human, said)


def _by_question(
    human: Codes, said: Codes, places: NDArray[np.intp]
) -> list[Counter[tuple[Verdict | None, Verdict | None]]]:
    import numpy as np

    from judgenet.stats.curves import CODES

    used = (human > 0) & (said > 0)
    tables: dict[int, Counter[tuple[Verdict | None, Verdict | None]]] = defaultdict(Counter)
    keys, counts = np.unique(
        places[used].astype(np.int64) * 16 + human[used].astype(np.int64) * 4 + said[used], return_counts=True
    )
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        tables[key // 16][CODES[key // 4 % 4], CODES[key % 4]] += count
    return list(tables.values())
