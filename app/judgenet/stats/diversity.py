"""How much the judges of a layer differ: in their verdicts, in the pairs that they get wrong, and in their evidence.

WideDeep (arXiv 2308.01862) explains the loss beyond two layers by neurons that become alike; these figures show, layer
by layer, whether they do. Measures of classifiers that err together are those of Kuncheva and Whitaker (Machine
Learning 51, 2003). Verdicts in arrays are codes as in :mod:`judgenet.stats.curves`: 0 none, 1 A, 2 tie, 3 B.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from judgenet.core.pairs import Order
from judgenet.stats.intervals import Interval, Z
from judgenet.stats.means import Mean, mean_of, share_of_pairs
from judgenet.stats.resampling import few_questions, widening
from judgenet.stats.uncertainty import MOST_ENTROPY, entropies

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judgenet.stats.curves import Codes
    from judgenet.stats.means import Groups, Numbers

    Mask = NDArray[np.bool_]

_NOT_TWO = "no pair has verdicts of two neurons"
_NO_LABEL = "no labelled pair has verdicts of two neurons"


@dataclass(frozen=True, slots=True)
class VerdictDiversity:
    """How differently the neurons of a layer decide. All are means over pairs with verdicts of two neurons or more.

    ``disagreement`` is the share of pairs of neurons that differ; unlike the others it does not grow with the number of
    neurons. ``entropy`` is that of the neurons' verdicts over ln 3, ``unanimous`` the share of pairs on which all are
    equal. Over the ``n_labelled`` pairs with a human label: ``q`` is Yule's Q of being right, averaged over the pairs
    of neurons (1: right on the same pairs; 0: independent; below 0: on different ones), ``double_fault`` the share of
    pairs of neurons that are both wrong, ``error_disagreement`` of those of which one alone is right, and ``oracle``
    the share of pairs that at least one neuron gets right: what no aggregation can exceed unless it invents a verdict.
    """

    neurons: int
    n: int
    n_total: int
    disagreement: Mean
    entropy: Mean
    unanimous: Mean
    n_labelled: int
    q: Mean
    double_fault: Mean
    error_disagreement: Mean
    oracle: Mean


def verdict_diversity(codes: Codes, human: Codes, groups: Groups | None = None) -> VerdictDiversity:
    """The diversity of the verdicts ``codes`` (pairs, neurons) of a layer. ``groups`` numbers the pairs' questions."""
    import numpy as np

    disagreement, entropy = _by_pair(codes)
    there = codes > 0
    counts = _counts(codes)
    several = counts.sum(axis=1) > 1
    unanimous = np.where(several, (counts > 0).sum(axis=1) == 1, np.nan)
    right = there & (codes == human[:, None])
    labelled = several & (human > 0)
    valid = there.sum(axis=1)
    hits = right.sum(axis=1)
    wrong = valid - hits
    twos = valid * (valid - 1)

    def shares(of_pairs: Numbers) -> Numbers:
        differing: Numbers = np.divide(of_pairs, twos, out=np.full(len(twos), np.nan), where=labelled)
        return differing

    return VerdictDiversity(
        neurons=codes.shape[1],
        n=int(several.sum()),
        n_total=len(codes),
        disagreement=mean_of(disagreement, _NOT_TWO, groups),
        entropy=mean_of(entropy, _NOT_TWO, groups),
        unanimous=share_of_pairs(unanimous, _NOT_TWO, groups),
        n_labelled=int(labelled.sum()),
        q=_mean_q(right[labelled], there[labelled], None if groups is None else groups[labelled]),
        double_fault=mean_of(shares(wrong * (wrong - 1.0)), _NO_LABEL, groups),
        error_disagreement=mean_of(shares(2.0 * hits * wrong), _NO_LABEL, groups),
        oracle=share_of_pairs(np.where(labelled, hits > 0, np.nan), _NO_LABEL, groups),
    )


class DiversityChange(NamedTuple):
    """The later layer's diversity less the earlier one's, on the pairs that have both: below 0, they became alike."""

    disagreement: Mean
    entropy: Mean


def diversity_change(before: Codes, after: Codes, groups: Groups | None = None) -> DiversityChange:
    """How the diversity of verdicts changed from one layer to another, pair by pair.

    :raises ValueError: the two differ in the number of pairs.
    """
    if len(before) != len(after):
        raise ValueError(f"{len(before)} pairs cannot be compared with {len(after)}.")
    (first, first_entropy), (second, second_entropy) = _by_pair(before), _by_pair(after)
    why = "no pair has verdicts of two neurons in both layers"
    bounds = (-1.0, 1.0)
    return DiversityChange(
        mean_of(second - first, why, groups, bounds), mean_of(second_entropy - first_entropy, why, groups, bounds)
    )


def _counts(codes: Codes) -> NDArray[np.int64]:
    import numpy as np

    return np.stack([(codes == code).sum(axis=1) for code in (1, 2, 3)], axis=1)


def _by_pair(codes: Codes) -> tuple[Numbers, Numbers]:
    """Disagreement and relative entropy of each pair, NaN below two verdicts."""
    import numpy as np

    counts = _counts(codes)
    n = counts.sum(axis=1)
    twos = n * (n - 1)
    alike = (counts * (counts - 1)).sum(axis=1)
    disagreement = np.divide(twos - alike, twos, out=np.full(len(n), np.nan), where=n > 1)
    return disagreement, np.where(n > 1, entropies(counts) / MOST_ENTROPY, np.nan)


def _mean_q(right: Mask, there: Mask, groups: Groups | None) -> Mean:
    """The mean of Yule's Q over the pairs of neurons that have one, with the interval of the delta method."""
    import numpy as np

    n = len(right)
    values: list[float] = []
    influence: Numbers = np.zeros(n)
    for left, right_place in combinations(range(right.shape[1]), 2):
        both = there[:, left] & there[:, right_place]
        cell = right[both, left] * 2 + right[both, right_place]
        wrong, second, first, hit = (float(count) for count in np.bincount(cell, minlength=4))
        same, apart = hit * wrong, first * second
        if same + apart == 0:
            continue
        values.append((same - apart) / (same + apart))
        slopes = np.array([hit * apart, -first * same, -second * same, wrong * apart]) * 2 / (same + apart) ** 2
        influence[both] += slopes[cell]
    if not values:
        why = _NO_LABEL if not n else "every two neurons are right, or wrong, on all pairs"
        return Mean(None, None, n, why)
    value = sum(values) / len(values)
    influence /= len(values)
    z = Z
    if groups is not None:
        _, places = np.unique(groups, return_inverse=True)
        there_are = int(places.max(initial=-1)) + 1
        if why := few_questions(there_are, n):
            return Mean(value, None, n, why)
        z *= widening(there_are)
        influence = np.bincount(places, influence).astype(np.float64)
    error = sqrt(float((influence**2).sum()))
    if error == 0:
        return Mean(value, None, n, "no interval: each two neurons are never right apart, or never together")
    return Mean(value, Interval(max(-1.0, value - z * error), min(1.0, value + z * error)), n)


# Evidence


MOST_CHARACTERS = 4000
"""So much of an evidence is compared: the beginning."""

NGRAMS = (2, 3)
"""Lengths of the character n-grams within words that stand for a text; in scripts without spaces they are its words."""


class Evidence(NamedTuple):
    """What a neuron wrote of a pair in one order. ``pair`` is the pair's place in the run; layer and neuron from 1."""

    pair: int
    layer: int
    neuron: int
    order: Order
    text: str


@dataclass(frozen=True, slots=True)
class EvidenceDiversity:
    """How differently the neurons of one layer write about the same pair, in the same order.

    Texts are compared by the cosine of their TF-IDF vectors over character n-grams; a distance is 1 less it: 0 for the
    same text, 1 where they share nothing. ``distance`` is the mean over pairs of that between each two neurons.
    ``change`` is the difference to the layer before on the pairs that have both: below 0, they became alike.
    ``to_own`` is the distance of a neuron's text to its own of the layer before. ``between_pairs`` is the distance of
    the layer's texts about *different* pairs, a scale for the others. ``texts`` were compared, ``empty`` had no
    evidence, ``cut`` were longer than :data:`MOST_CHARACTERS`. ``length`` is their mean number of characters.
    """

    layer: int
    distance: Mean
    change: Mean
    to_own: Mean
    between_pairs: float | None
    texts: int
    empty: int
    cut: int
    length: float | None
    reason: str = ""


def evidence_diversity(
    evidence: Iterable[Evidence], layers: Sequence[int], questions: Mapping[int, int] | None = None
) -> list[EvidenceDiversity]:
    """The diversity of evidence in each of ``layers``, in their order.

    ``questions`` numbers the question of each pair, where questions repeat. All texts are compared on one vocabulary,
    so that layers can be compared.
    """
    import numpy as np

    counts, kept = _compared_texts(evidence, layers)
    if not kept:
        return [_nothing(layer, counts[layer].empty) for layer in layers]
    vectors = _vectors([written.text for written in kept])
    distances, own = _distances_by_pair(kept, vectors, layers)
    diversities = []
    pairs = sorted({written.pair for written in kept})
    groups = None if questions is None else np.array([questions[pair] for pair in pairs], dtype=np.int64)
    before: Numbers | None = None
    for layer in layers:
        count = counts[layer]
        mine_of = [place for place, written in enumerate(kept) if written.layer == layer]
        mine = _of_pairs(pairs, distances[layer])
        of_own = _of_pairs(pairs, own[layer])
        change = np.full(len(pairs), np.nan) if before is None else mine - before
        diversities.append(
            EvidenceDiversity(
                layer=layer,
                distance=mean_of(mine, "no pair has evidence of two neurons", groups),
                change=mean_of(change, "no pair has evidence of two neurons in both layers", groups, (-1.0, 1.0)),
                to_own=mean_of(of_own, "no neuron has evidence in both layers", groups),
                between_pairs=_between_pairs(vectors[mine_of], [kept[place].pair for place in mine_of]),
                texts=count.texts,
                empty=count.empty,
                cut=count.cut,
                length=count.characters / count.texts if count.texts else None,
                reason="" if count.texts else "no evidence is recorded",
            )
        )
        before = mine
    return diversities


def _nothing(layer: int, empty: int) -> EvidenceDiversity:
    why = "no evidence is recorded"
    none = Mean(None, None, 0, why)
    return EvidenceDiversity(layer, none, none, none, None, 0, empty, 0, None, why)


@dataclass(slots=True)
class _TextCounts:
    """Of a layer: texts with evidence, those without, those that were cut, and the characters before that."""

    texts: int = 0
    empty: int = 0
    cut: int = 0
    characters: int = 0


def _compared_texts(
    evidence: Iterable[Evidence], layers: Sequence[int]
) -> tuple[dict[int, _TextCounts], list[Evidence]]:
    """The counts of each of ``layers``, and the evidence in them that has a text, cut to :data:`MOST_CHARACTERS`."""
    counts = {layer: _TextCounts() for layer in layers}
    kept: list[Evidence] = []
    for written in evidence:
        count = counts.get(written.layer)
        if count is None:
            continue
        text = written.text.strip()
        if not text:
            count.empty += 1
            continue
        count.texts += 1
        count.cut += len(text) > MOST_CHARACTERS
        count.characters += len(text)
        kept.append(written._replace(text=text[:MOST_CHARACTERS]))
    return counts, kept


_ByPair = dict[int, dict[int, list[float]]]
"""Distances by layer and pair, one for each order."""


def _distances_by_pair(kept: Sequence[Evidence], vectors: Any, layers: Sequence[int]) -> tuple[_ByPair, _ByPair]:
    """The mean distance of every two neurons, and the distances of neurons to their own text a layer before."""
    rows: dict[tuple[int, int, Order], list[int]] = defaultdict(list)
    place_of: dict[tuple[int, int, int, Order], int] = {}
    for place, written in enumerate(kept):
        rows[written.layer, written.pair, written.order].append(place)
        place_of[written.layer, written.pair, written.neuron, written.order] = place
    distances: _ByPair = {layer: defaultdict(list) for layer in layers}
    own: _ByPair = {layer: defaultdict(list) for layer in layers}
    twice: list[tuple[int, int]] = []
    for (layer, pair, order), places in rows.items():
        if len(places) > 1:
            distances[layer][pair].append(_mean_distance(vectors[places]))
        for place in places:
            earlier = place_of.get((layer - 1, pair, kept[place].neuron, order))
            if earlier is not None:
                twice.append((place, earlier))
    for (place, _), distance in zip(twice, _distances(vectors, twice), strict=True):
        own[kept[place].layer][kept[place].pair].append(distance)
    return distances, own


def _vectors(texts: Sequence[str]) -> Any:
    """TF-IDF vectors of length 1, a sparse row a text: n-grams of the characters of each word in lower case, with a
    blank at both its ends; 1 + log(count) times 1 + log((1 + texts) / (1 + texts with it)).

    They are those of scikit-learn's ``TfidfVectorizer(analyzer="char_wb", sublinear_tf=True)``, which takes longer to
    load than all figures of a run to be computed; the order of the columns differs.
    """
    import numpy as np
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    columns: dict[str, int] = {}
    counts: list[Counter[str]] = [Counter(_ngrams(text.lower())) for text in texts]
    places = [columns.setdefault(ngram, len(columns)) for ngrams in counts for ngram in ngrams]
    values = 1 + np.log(np.array([count for ngrams in counts for count in ngrams.values()], dtype=np.float64))
    ends = np.cumsum([0, *(len(ngrams) for ngrams in counts)])
    vectors = csr_matrix((values, places, ends), shape=(len(texts), len(columns)))
    with_it = np.bincount(vectors.indices, minlength=len(columns))
    vectors.data *= (1 + np.log((1 + len(texts)) / (1 + with_it)))[vectors.indices]
    lengths = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
    vectors.data /= np.repeat(lengths, np.diff(ends))
    return vectors


def _ngrams(text: str) -> Iterator[str]:
    """The n-grams of characters within words; a word that is shorter than n with its blanks counts once."""
    for word in text.split():
        padded = f" {word} "
        for n in range(NGRAMS[0], NGRAMS[1] + 1):
            yield padded[:n]
            for start in range(1, len(padded) - n + 1):
                yield padded[start : start + n]
            if len(padded) <= n:
                break


def _mean_distance(vectors: Any) -> float:
    """The mean of 1 - cosine over each two rows."""
    n = int(vectors.shape[0])
    products = float((vectors @ vectors.T).sum()) - n
    return min(1.0, max(0.0, 1 - products / (n * (n - 1))))


def _distances(vectors: Any, twos: Sequence[tuple[int, int]]) -> list[float]:
    """1 - cosine of each two rows."""
    import numpy as np

    if not twos:
        return []
    ones, others = (vectors[list(places)] for places in zip(*twos, strict=True))
    cosines = np.asarray(ones.multiply(others).sum(axis=1)).ravel()
    return [float(distance) for distance in np.clip(1 - cosines, 0, 1)]


def _between_pairs(vectors: Any, pairs: Sequence[int]) -> float | None:
    """The mean distance over each two texts about different pairs; ``pairs`` says which pair each row is about."""
    import numpy as np
    from scipy.sparse import csr_matrix

    n = len(pairs)
    names, places = np.unique(np.array(pairs, dtype=np.int64), return_inverse=True)
    if len(names) < 2:
        return None
    sums = csr_matrix((np.ones(n), (places, np.arange(n))), shape=(len(names), n)) @ vectors
    whole = np.asarray(sums.sum(axis=0)).ravel()
    products = float(whole @ whole) - float(sums.multiply(sums).sum())
    twos = n * n - int((np.bincount(places) ** 2).sum())
    return min(1.0, max(0.0, 1 - products / twos))


def _of_pairs(pairs: Sequence[int], similarities: Mapping[int, Sequence[float]]) -> Numbers:
    import numpy as np

    return np.array(
        [sum(similarities[pair]) / len(similarities[pair]) if similarities.get(pair) else np.nan for pair in pairs]
    )
