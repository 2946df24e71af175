"""The example pairs of a report: where the network differs from people, and from itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import PairVerdicts, aggregate
from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Evaluation
from judgenet.core.learned import LEARNED
from judgenet.core.pairs import ORDERS, Order, Pair, Verdict
from judgenet.core.pictures import pictures_in
from judgenet.report.model import KINDS, DisagreementKind, Excerpt, PairStudy, Quote, excerpt
from judgenet.report.pair_pictures import MOST_PICTURES, shown_picture
from judgenet.stats.curves import Codes
from judgenet.store.columns import VERDICT_CODES
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import full_calls, run_pair

QUESTION_CHARS = 600
RESPONSE_CHARS = 1200
EVIDENCE_CHARS = 900

_DIGITS = 9
"""Means of scores that differ by less are equal: sums of decimal fractions are not exact."""


@dataclass(frozen=True, slots=True)
class Exemplars:
    """The indexes of the most instructive pairs of each kind, the most instructive first, and how many pairs are of
    each kind."""

    pairs: dict[DisagreementKind, tuple[int, ...]]
    counts: dict[DisagreementKind, int]


def exemplars(frame: RunFrame, decides: str, each: int) -> Exemplars:
    """Chooses ``each`` pairs of each kind; a pair that is the best of several kinds is shown once.

    A pair is more instructive the surer the network was of a verdict that people, the other order or the first layer
    contradict: a change from one response to the other goes before one from or to a tie, then the larger difference
    of scores. Of equal pairs the earlier one is kept.
    """
    means = _Means(frame)
    said, human, tie = frame.aggregations[decides], frame.human, VERDICT_CODES["tie"]
    ab, ba = frame.table.c1_ab, frame.table.c1_ba
    kinds: dict[DisagreementKind, tuple[Codes, Codes, NDArray[np.float64]]] = {
        "people": (said, human, np.abs(means.all)),
        "orders": (ab, ba, np.abs(np.nan_to_num(means.order["ab"]) - np.nan_to_num(means.order["ba"]))),
    }
    depth = frame.spec.depth
    if depth > 1:
        first, last = (frame.aggregations[f"c2_l{layer}"] for layer in (1, depth))
        kinds["layers"] = (first, last, np.abs(np.nan_to_num(means.layer[depth]) - np.nan_to_num(means.layer[1])))
    shown: set[int] = set()
    chosen: dict[DisagreementKind, tuple[int, ...]] = {}
    counts: dict[DisagreementKind, int] = {}
    for kind in KINDS:
        if kind not in kinds:
            continue
        verdicts, contradicting, gap = kinds[kind]
        differ = np.flatnonzero(frame.judged & (verdicts > 0) & (contradicting > 0) & (verdicts != contradicting))
        counts[kind] = len(differ)
        clear = (verdicts[differ] != tie) & (contradicting[differ] != tie)
        order = np.lexsort((differ, -np.round(np.nan_to_num(gap[differ]), _DIGITS), ~clear))
        chosen[kind] = tuple(int(index) for index in differ[order] if int(index) not in shown)[:each]
        shown.update(chosen[kind])
    return Exemplars(chosen, {kind: count for kind, count in counts.items() if count})


class _Means:
    """Mean differences of scores, A minus B, of the valid calls of neurons by pair: of all, by order, by layer."""

    def __init__(self, frame: RunFrame) -> None:
        scores = frame.call_scores()
        part = scores.difference[:, : len(frame.places)]
        layers = np.array([layer for layer, _ in frame.places])
        self.all = _mean(part)
        self.order: dict[Order, NDArray[np.float64]] = {
            order: _mean(part[:, :, [at]]) for at, order in enumerate(ORDERS)
        }
        self.layer = {layer: _mean(part[:, layers == layer]) for layer in range(1, frame.spec.depth + 1)}


def _mean(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    there = (~np.isnan(differences)).sum(axis=(1, 2, 3))
    total = np.nansum(differences, axis=(1, 2, 3))
    means: NDArray[np.float64] = np.divide(total, there, out=np.full(len(total), np.nan), where=there > 0)
    return means


@dataclass(frozen=True, slots=True)
class _Scored:
    """A call with an evaluation; ``difference`` is its score of A minus that of B."""

    site: CallSite
    difference: float
    verdict: Verdict


def pair_studies(store: Store, frame: RunFrame, decides: str, examples: Exemplars) -> tuple[PairStudy, ...]:
    """The chosen pairs with what their calls said, read from the store, by kind and the most instructive first."""
    return tuple(
        _study(store, frame, decides, kind, index) for kind, indexes in examples.pairs.items() for index in indexes
    )


def _study(store: Store, frame: RunFrame, decides: str, kind: DisagreementKind, index: int) -> PairStudy:
    spec = frame.spec
    verdicts = aggregate(frame.opinions(index), spec.depth, spec.aggregation)
    verdict, human = frame.verdict(decides, index), frame.human_label(index)
    scored = [
        _Scored(
            CallSite(index, opinion.layer, opinion.neuron, opinion.order, opinion.sample),
            opinion.result.difference,
            opinion.result.verdict,
        )
        for opinion in sorted(frame.opinions(index), key=lambda opinion: opinion[:4])
        if isinstance(opinion.result, Evaluation)
    ]
    neurons = [call for call in scored if call.site.layer <= spec.depth]
    if kind == "people" and verdict is not None and human is not None:
        sites = _for_and_against(scored, verdict, human)
    else:
        sites = _swayed(neurons) if kind == "orders" else _turned(neurons, spec.depth)
    pair = run_pair(store, frame.run, index).pair
    means = {order: _mean_of(call.difference for call in neurons if call.site.order == order) for order in ORDERS}
    return PairStudy(
        kind=kind,
        index=index,
        pair_id=pair.id,
        task=pair.task,
        question=_shown(store, frame, index, pair, pair.question, QUESTION_CHARS),
        response_a=_shown(store, frame, index, pair, pair.response_a, RESPONSE_CHARS),
        response_b=_shown(store, frame, index, pair, pair.response_b, RESPONSE_CHARS),
        human=human,
        verdict=verdict,
        verdicts=_fair(frame, index, verdicts),
        mean_ab=means["ab"],
        mean_ba=means["ba"],
        quotes=tuple(_quotes(store, frame, sites)),
    )


def _shown(store: Store, frame: RunFrame, index: int, pair: Pair, text: str, most: int) -> Excerpt:
    """The beginning of a text of a pair, with small copies of its pictures."""
    cut = excerpt(pair.readable(text), most)
    placed = pictures_in(text, pair.pictures)
    if not placed:
        return cut
    held = store.holder(frame.run, index)[0]
    pictures = tuple(shown_picture(placed_picture, (held,)) for placed_picture in placed[:MOST_PICTURES])
    return replace(cut, pictures=pictures, more_pictures=len(placed) - len(pictures))


def _fair(frame: RunFrame, index: int, pair_verdicts: PairVerdicts) -> PairVerdicts:
    """The verdicts, with a learned one that was fitted without this pair's label."""
    return replace(pair_verdicts, learned=frame.verdict(LEARNED, index)) if pair_verdicts.has_learned else pair_verdicts


def _quotes(store: Store, frame: RunFrame, sites: Sequence[CallSite]) -> Iterator[Quote]:
    for site in sites:
        for call in full_calls(store, frame.run, site):
            if isinstance(call.result, Evaluation) and site.order is not None:
                said = call.result
                yield Quote(
                    site.layer,
                    site.neuron,
                    call.role,
                    site.order,
                    said.verdict,
                    said.score_a,
                    said.score_b,
                    excerpt(said.evidence, EVIDENCE_CHARS),
                )


def _mean_of(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return fsum(numbers) / len(numbers) if numbers else None


def _towards(verdict: Verdict, difference: float) -> float:
    """How strongly a difference of scores speaks for a verdict."""
    return {"a": difference, "b": -difference, "tie": -abs(difference)}[verdict]


def _for_and_against(scored: Sequence[_Scored], verdict: Verdict, human: Verdict) -> tuple[CallSite, ...]:
    """The call that is most strongly for the network's verdict, later layers first, and the one most for people's."""
    sites = []
    for wanted in (verdict, human):
        speakers = [call for call in scored if call.verdict == wanted]
        if speakers:
            best = max(speakers, key=lambda c: (_towards(wanted, c.difference), c.site.layer, -c.site.neuron))
            sites.append(best.site)
    return tuple(sites)


def _swayed(neurons: Sequence[_Scored]) -> tuple[CallSite, ...]:
    """The calls in both orders of the neuron whose scores depend most on the order."""
    best: tuple[float, CallSite, CallSite] | None = None
    by_order = {(c.site.layer, c.site.neuron, c.site.sample, c.site.order): c for c in neurons}
    for (layer, neuron, sample, order), call in by_order.items():
        swapped = by_order.get((layer, neuron, sample, "ba")) if order == "ab" else None
        if swapped is not None:
            swing = abs(call.difference - swapped.difference) + (call.verdict != swapped.verdict)
            if best is None or swing > best[0]:
                best = (swing, call.site, swapped.site)
    return () if best is None else best[1:]


def _turned(neurons: Sequence[_Scored], depth: int) -> tuple[CallSite, ...]:
    """The first and the last layer's call of the neuron whose scores moved most."""
    best: tuple[float, CallSite, CallSite] | None = None
    at = {(c.site.layer, c.site.neuron, c.site.sample, c.site.order): c for c in neurons}
    for (layer, neuron, sample, order), call in at.items():
        later = at.get((depth, neuron, sample, order)) if layer == 1 else None
        if later is not None:
            move = abs(later.difference - call.difference) + (later.verdict != call.verdict)
            if best is None or move > best[0]:
                best = (move, call.site, later.site)
    return () if best is None else best[1:]
