"""The pairs that are worth reading closely: where the network differs from people, and from itself."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from judgenet.core.aggregate import PairVerdicts
from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Evaluation
from judgenet.core.pairs import ORDERS, Order, Verdict
from judgenet.report.model import KINDS, Excerpt, Kind, PairStudy, Quote, excerpt
from judgenet.store.db import Store
from judgenet.store.runs import CallRow, RunInfo, RunPair, full_calls

QUESTION_CHARS = 600
RESPONSE_CHARS = 1200
EVIDENCE_CHARS = 900

_Rank = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A pair that may be shown: its texts are cut at once, so that many candidates weigh little."""

    index: int
    pair_id: str
    task: str | None
    question: Excerpt
    response_a: Excerpt
    response_b: Excerpt
    human: Verdict | None
    verdict: Verdict | None
    verdicts: PairVerdicts
    means: dict[Order, float | None]
    sites: tuple[CallSite, ...]


@dataclass(frozen=True, slots=True)
class _Scored:
    """A call with an evaluation: A minus B."""

    site: CallSite
    difference: float
    verdict: Verdict


class Closest:
    """Keeps the most instructive pairs of each kind while a run is read.

    A pair is the more instructive the surer the network was of what people, the other order or the layer before
    contradict: a change from one response to the other goes before one from or to a tie, then the larger difference
    of scores. Of equal pairs the earlier one is kept.
    """

    def __init__(self, decides: str, depth: int, each: int) -> None:
        self._decides = decides
        self._depth = depth
        self._each = each
        self._kept: dict[Kind, list[tuple[_Rank, int, _Candidate]]] = {kind: [] for kind in KINDS}
        self.counts: Counter[Kind] = Counter()

    def offer(self, of: RunPair, rows: Sequence[CallRow], found: PairVerdicts) -> None:
        """Looks at a pair with verdicts."""
        verdict, human = found.named().get(self._decides), of.pair.human
        scored = [
            _Scored(row.site, row.result.difference, row.result.verdict)
            for row in rows
            if row.site.order is not None and isinstance(row.result, Evaluation)
        ]
        neurons = [call for call in scored if call.site.layer <= self._depth]
        means = {order: _mean(c.difference for c in neurons if c.site.order == order) for order in ORDERS}
        if verdict is not None and human is not None and verdict != human:
            self.counts["people"] += 1
            mean = _mean(call.difference for call in neurons) or 0.0
            rank = (float("tie" not in (verdict, human)), abs(mean))
            self._keep("people", rank, of, found, verdict, means, _for_and_against(scored, verdict, human))
        if found.c1_ab is not None and found.c1_ba is not None and found.c1_ab != found.c1_ba:
            self.counts["orders"] += 1
            swing = abs((means["ab"] or 0.0) - (means["ba"] or 0.0))
            rank = (float("tie" not in (found.c1_ab, found.c1_ba)), swing)
            self._keep("orders", rank, of, found, verdict, means, _swayed(neurons))
        first, last = (found.c2_layers[0], found.c2_layers[-1]) if found.c2_layers else (None, None)
        if self._depth > 1 and first is not None and last is not None and first != last:
            self.counts["layers"] += 1
            by_layer = [_mean(c.difference for c in neurons if c.site.layer == layer) for layer in (1, self._depth)]
            rank = (float("tie" not in (first, last)), abs((by_layer[1] or 0.0) - (by_layer[0] or 0.0)))
            self._keep("layers", rank, of, found, verdict, means, _turned(neurons, self._depth))

    def _keep(
        self,
        kind: Kind,
        rank: _Rank,
        of: RunPair,
        found: PairVerdicts,
        verdict: Verdict | None,
        means: dict[Order, float | None],
        sites: tuple[CallSite, ...],
    ) -> None:
        kept = self._kept[kind]
        # A pair may be the best of all kinds and is shown once: as many spare ones are kept as there are kinds.
        most = self._each * len(KINDS)
        if not most or (len(kept) == most and (rank, -of.index) <= kept[0][:2]):
            return
        pair = of.pair
        candidate = _Candidate(
            of.index,
            pair.id,
            pair.task,
            excerpt(pair.question, QUESTION_CHARS),
            excerpt(pair.response_a, RESPONSE_CHARS),
            excerpt(pair.response_b, RESPONSE_CHARS),
            pair.human,
            verdict,
            found,
            means,
            sites,
        )
        entry = (rank, -of.index, candidate)
        if len(kept) < most:
            heapq.heappush(kept, entry)
        else:
            heapq.heapreplace(kept, entry)

    def studies(self, store: Store, run: RunInfo) -> tuple[PairStudy, ...]:
        """The chosen pairs with what their calls said, read from the store, by kind and the most instructive first."""
        shown: set[int] = set()
        found: list[PairStudy] = []
        for kind in KINDS:
            chosen = [
                candidate
                for _, _, candidate in sorted(self._kept[kind], key=lambda entry: entry[:2], reverse=True)
                if candidate.index not in shown
            ][: self._each]
            for candidate in chosen:
                shown.add(candidate.index)
                found.append(_study(store, run, kind, candidate))
        return tuple(found)


def _study(store: Store, run: RunInfo, kind: Kind, candidate: _Candidate) -> PairStudy:
    quotes = []
    for site in candidate.sites:
        for call in full_calls(store, run, site):
            if isinstance(call.result, Evaluation) and site.order is not None:
                said = call.result
                quotes.append(
                    Quote(
                        site.layer,
                        site.neuron,
                        call.role,
                        site.order,
                        said.verdict,
                        said.score_a,
                        said.score_b,
                        excerpt(said.evidence, EVIDENCE_CHARS),
                    )
                )
    return PairStudy(
        kind=kind,
        index=candidate.index,
        pair_id=candidate.pair_id,
        task=candidate.task,
        question=candidate.question,
        response_a=candidate.response_a,
        response_b=candidate.response_b,
        human=candidate.human,
        verdict=candidate.verdict,
        verdicts=candidate.verdicts,
        mean_ab=candidate.means["ab"],
        mean_ba=candidate.means["ba"],
        quotes=tuple(quotes),
    )


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return fsum(numbers) / len(numbers) if numbers else None


def _towards(verdict: Verdict, difference: float) -> float:
    """How strongly a difference of scores speaks for a verdict."""
    return {"a": difference, "b": -difference, "tie": -abs(difference)}[verdict]


def _for_and_against(scored: Sequence[_Scored], verdict: Verdict, human: Verdict) -> tuple[CallSite, ...]:
    """The call that speaks most for the network's verdict, later layers first, and the one most for people's."""
    sites = []
    for wanted in (verdict, human):
        speakers = [call for call in scored if call.verdict == wanted]
        if speakers:
            best = max(speakers, key=lambda c: (_towards(wanted, c.difference), c.site.layer, -c.site.neuron))
            sites.append(best.site)
    return tuple(sites)


def _swayed(neurons: Sequence[_Scored]) -> tuple[CallSite, ...]:
    """The two orders of the neuron that they sway most."""
    best: tuple[float, CallSite, CallSite] | None = None
    by_order = {(c.site.layer, c.site.neuron, c.site.sample, c.site.order): c for c in neurons}
    for (layer, neuron, sample, order), call in by_order.items():
        other = by_order.get((layer, neuron, sample, "ba")) if order == "ab" else None
        if other is not None:
            swing = abs(call.difference - other.difference) + (call.verdict != other.verdict)
            if best is None or swing > best[0]:
                best = (swing, call.site, other.site)
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
