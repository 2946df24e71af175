"""Figures of two or three lists of verdicts, pair by pair, and networks with other settings, as tests write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from judgenet.core.network import NetworkSpec
from judgenet.core.pairs import Verdict
from judgenet.stats.agreement import Agreement, LabelSet, PositionConsistency, agreement_of, position_of
from judgenet.stats.discussion import Overturns, overturns_of

VerdictList = Sequence[Verdict | None]


def agreement(human: VerdictList, judged: VerdictList, labels: LabelSet = "occurring") -> Agreement:
    return agreement_of(Counter(zip(human, judged, strict=True)), labels)


def position(order_ab: VerdictList, order_ba: VerdictList) -> PositionConsistency:
    return position_of(Counter(zip(order_ab, order_ba, strict=True)))


def overturns(before: VerdictList, after: VerdictList, human: VerdictList) -> Overturns:
    return overturns_of(Counter(zip(before, after, human, strict=True)))


def with_settings(spec: NetworkSpec, **changes: object) -> NetworkSpec:
    """The network with some of its own settings replaced."""
    return replace(spec, settings=replace(spec.settings, **changes))  # type: ignore[arg-type]
