"""How far the judges of a run can be trusted, beyond their agreement with people: how sure they are of each pair, how
they agree among themselves, what they change and whether it helps, and whether they become alike.

Everything is computed from the verdicts of a run as arrays (:class:`~judgenet.store.frame.RunFrame`); evidence alone is
read from the store, for a sample of pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.pairs import ORDERS, Order
from judgenet.stats.agreement import Agreement, LabelSet, agreement_of
from judgenet.stats.curves import Codes, pair_counts
from judgenet.stats.discussion import (
    MindChanges,
    Overturns,
    mind_changes,
    others_majority,
    overturns_by_question,
)
from judgenet.stats.diversity import (
    DiversityChange,
    EvidenceDiversity,
    VerdictDiversity,
    diversity_change,
    evidence_diversity,
    verdict_diversity,
)
from judgenet.stats.intervals import RESAMPLES, AgreementIntervals, agreements_intervals
from judgenet.stats.means import Mean, mean_of, share_of_pairs
from judgenet.stats.panel import PanelAgreement, Raters, against_people, panel_of
from judgenet.stats.resampling import label_table
from judgenet.stats.uncertainty import (
    MOST_ENTROPY,
    ReviewCurve,
    ReviewNeed,
    Share,
    conflicts,
    entropies,
    review_curve,
    review_need,
)
from judgenet.store.db import Store
from judgenet.store.evidence import Sampled, evidence_of, sample_evidence
from judgenet.store.frame import RunFrame
from judgenet.store.runs import RunInfo

CallScope = Literal["all", "last"] | str
"""Whose calls tell how sure the network is: of all layers, of the last, or of one neuron by name."""

AgreementWithIntervals = tuple[Agreement, AgreementIntervals]


def agreements(
    questions: NDArray[np.int64],
    human: Codes,
    said: Mapping[str, Codes],
    *,
    labels: LabelSet = "occurring",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, AgreementWithIntervals]:
    """Agreement of each of ``said`` with the labels ``human`` (codes by pair), with intervals over questions where
    these repeat. Every face of the program compares verdicts with people here."""
    agreement = {name: agreement_of(pair_counts(human, codes), labels) for name, codes in said.items()}
    tables = [label_table(questions, human, codes) for codes in said.values()]
    spreads = agreements_intervals(list(agreement.values()), tables, resamples=resamples, seed=seed)
    return {name: (counts, spread) for (name, counts), spread in zip(agreement.items(), spreads, strict=True)}


# How sure


def call_counts(frame: RunFrame, scope: CallScope = "all", order: Order | None = None) -> NDArray[np.int64]:
    """How many calls of a scope say that A wins, a tie, that B wins: of shape (pairs, 3); of one order or both.

    :raises KeyError: the run has no neuron of this name.
    """
    if scope == "all":
        columns = np.arange(len(frame.places))
    elif scope == "last":
        columns = frame.columns_of(frame.spec.depth)
    elif scope in frame.names:
        columns = np.array([frame.names.index(scope)])
    else:
        raise KeyError(scope)
    places = list(range(len(ORDERS))) if order is None else [ORDERS.index(order)]
    counts: NDArray[np.int64] = frame.calls[:, columns][:, :, places].sum(axis=(1, 2), dtype=np.int64)
    return counts


def uncertainty(frame: RunFrame, scope: CallScope = "all") -> NDArray[np.float64]:
    """The entropy (BPDE) of the calls of a scope by pair, NaN where none is valid.

    :raises KeyError: the run has no neuron of this name.
    """
    return entropies(call_counts(frame, scope))


@dataclass(frozen=True, slots=True)
class Sureness:
    """How sure the calls of a scope are: means over the pairs that have a valid call.

    ``entropy`` is the BPDE in nats, ``relative`` over ln 3, ``one_order`` the plain entropy of the calls of one order.
    ``certain`` is the share of pairs whose calls all say the same. ``calls`` is the mean of valid
    calls per pair.
    """

    scope: str
    entropy: Mean
    relative: Mean
    one_order: dict[Order, Mean]
    certain: Mean
    calls: float | None
    n_total: int


_NO_CALL = "no pair has a valid call"


def sureness(frame: RunFrame, scope: CallScope = "all") -> Sureness:
    """How sure the calls of a scope are of the pairs.

    :raises KeyError: the run has no neuron of this name.
    """
    counts = call_counts(frame, scope)
    calls = counts.sum(axis=1)
    values = entropies(counts)
    bounds = (0.0, MOST_ENTROPY)
    certain = np.where(calls > 0, (counts > 0).sum(axis=1) == 1, np.nan)
    return Sureness(
        scope=scope,
        entropy=mean_of(values, _NO_CALL, frame.groups, bounds),
        relative=mean_of(values / MOST_ENTROPY, _NO_CALL, frame.groups),
        one_order={
            order: mean_of(
                entropies(call_counts(frame, scope, order)), f"{_NO_CALL} in this order", frame.groups, bounds
            )
            for order in ORDERS
        },
        certain=share_of_pairs(certain, _NO_CALL, frame.groups),
        calls=float(calls[calls > 0].mean()) if calls.any() else None,
        n_total=len(frame),
    )


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """FairEval's figures of a run.

    ``sureness`` is that of all layers and of the last, ``conflict`` the share of pairs on which the averages of the two
    orders differ. ``calibration`` compares with people the average over the calls that showed A first (``mec_ab``), B
    first (``mec_ba``), over all calls (``bpc_pooled``) and the average of the two orders' averages (``bpc_balanced``).
    ``review`` is the human-in-the-loop curve of ``aggregation`` by the calls of ``scope``, and ``need`` what it takes
    to reach the people's own agreement, ``None`` where that is unknown.
    """

    aggregation: str
    scope: str
    sureness: tuple[Sureness, ...]
    conflict: Share
    calibration: dict[str, AgreementWithIntervals]
    review: ReviewCurve
    need: ReviewNeed | None


def uncertainty_figures(
    frame: RunFrame, aggregation: str, *, scope: CallScope = "all", target: float | None = None, seed: int = 0
) -> Uncertainty:
    """FairEval's figures of a run; ``target`` is people's agreement among themselves (h).

    :raises KeyError: the run has no such aggregation or neuron.
    """
    said, unsure, groups = frame.aggregations[aggregation], uncertainty(frame, scope), frame.groups
    merges = {
        "mec_ab": frame.table.c1_ab,
        "mec_ba": frame.table.c1_ba,
        "bpc_pooled": frame.aggregations["c1"],
        "bpc_balanced": frame.table.balanced,
    }
    scopes: tuple[CallScope, ...] = ("all", "last") if frame.spec.depth > 1 else ("all",)
    return Uncertainty(
        aggregation=aggregation,
        scope=scope,
        sureness=tuple(sureness(frame, scope_name) for scope_name in dict.fromkeys((*scopes, scope))),
        conflict=conflicts(frame.table.c1_ab, frame.table.c1_ba, groups, seed=seed),
        calibration=agreements(frame.questions, frame.human, merges, seed=seed),
        review=review_curve(frame.human, said, unsure, groups=groups, seed=seed),
        need=None if target is None else review_need(frame.human, said, unsure, target, groups=groups, seed=seed),
    )


# Who agrees with whom


@dataclass(frozen=True, slots=True)
class Panels:
    """A run's judges as panels: all neurons, the neurons of each layer, the layers' votes, the two orders of the
    network's average and of each neuron; and the neurons and roles by their agreement with people.

    ``roles`` are those with :data:`FEWEST_OF_ROLE` labelled verdicts or more; ``rare_roles`` counts the others.
    """

    neurons: PanelAgreement
    layers: dict[int, PanelAgreement]
    between_layers: PanelAgreement
    orders: dict[str, PanelAgreement]
    people: Raters
    roles: Raters | None
    rare_roles: int


FEWEST_OF_ROLE = 20


def panels(frame: RunFrame, *, seed: int = 0, resamples: int = RESAMPLES) -> Panels:
    """The panels of a run."""
    depth, groups = frame.spec.depth, frame.groups
    votes = [f"c2_l{layer}" for layer in range(1, depth + 1)]
    of_layers = np.stack([frame.aggregations[name] for name in votes], axis=1)
    roles = frame.role_verdicts()
    common: dict[str, Codes] = {}
    for role in roles.values():
        if np.count_nonzero((role.codes > 0) & (frame.human[role.pairs] > 0)) >= FEWEST_OF_ROLE:
            common[role.name] = np.zeros(len(frame), np.uint8)
            common[role.name][role.pairs] = role.codes
    return Panels(
        neurons=panel_of(frame.names, frame.neurons, groups=groups, seed=seed),
        layers={
            layer: panel_of(
                [frame.names[place] for place in frame.columns_of(layer)],
                frame.neurons[:, frame.columns_of(layer)],
                groups=groups,
                seed=seed,
            )
            for layer in range(1, depth + 1)
        },
        between_layers=panel_of(votes, of_layers, "layers", groups=groups, seed=seed),
        orders={
            name: panel_of(ORDERS, np.stack(both, axis=1), "orders", groups=groups, seed=seed)
            for name, both in frame.both_orders.items()
        },
        people=against_people(frame.names, frame.neurons, frame.human, groups=groups, seed=seed, resamples=resamples),
        roles=against_people(
            tuple(common),
            np.stack(list(common.values()), axis=1),
            frame.human,
            "roles",
            groups=groups,
            seed=seed,
            resamples=resamples,
        )
        if common
        else None,
        rare_roles=len(roles) - len(common),
    )


# What a layer changes


@dataclass(frozen=True, slots=True)
class LayerDiscussion:
    """What layer ``layer`` (from 2) changes: its vote against that of the layer before, all of its neurons, and each of
    them by name with what it overturned of its own."""

    layer: int
    vote: Overturns
    neurons: MindChanges
    each: dict[str, tuple[MindChanges, Overturns]]


class _TwoLayers(NamedTuple):
    """What the neurons of a layer said before and after, merged and by order, and what most others said."""

    before: Codes
    after: Codes
    others: Codes
    ab: tuple[Codes, Codes]
    ba: tuple[Codes, Codes]

    def changes(self, frame: RunFrame, pairs: slice) -> MindChanges:
        return mind_changes(
            self.before[:, pairs],
            self.after[:, pairs],
            self.others[:, pairs],
            frame.human,
            orders=((self.ab[0][:, pairs], self.ab[1][:, pairs]), (self.ba[0][:, pairs], self.ba[1][:, pairs])),
            groups=frame.groups,
        )


def discussion(frame: RunFrame) -> tuple[LayerDiscussion, ...]:
    """How each layer after the first changes what the one before said."""
    layers = []
    for layer in range(2, frame.spec.depth + 1):
        mine, earlier = frame.columns_of(layer), frame.columns_before(layer)
        two = _TwoLayers(
            before=_at(frame.neurons, earlier),
            after=frame.neurons[:, mine],
            others=others_majority(frame.neurons[:, frame.columns_of(layer - 1)], frame.reads_others(layer)),
            ab=(_at(frame.neurons_by_order["ab"], earlier), frame.neurons_by_order["ab"][:, mine]),
            ba=(_at(frame.neurons_by_order["ba"], earlier), frame.neurons_by_order["ba"][:, mine]),
        )
        each = {
            frame.names[column]: (
                two.changes(frame, slice(place, place + 1)),
                overturns_by_question(two.before[:, place], two.after[:, place], frame.human, frame.groups),
            )
            for place, column in enumerate(mine)
        }
        said = frame.aggregations
        vote = overturns_by_question(said[f"c2_l{layer - 1}"], said[f"c2_l{layer}"], frame.human, frame.groups)
        layers.append(LayerDiscussion(layer, vote, two.changes(frame, slice(None)), each))
    return tuple(layers)


def _at(codes: Codes, columns: NDArray[np.intp]) -> Codes:
    """The columns asked for; zeros where one is -1."""
    codes_at = np.zeros((len(codes), len(columns)), np.uint8)
    there = columns >= 0
    codes_at[:, there] = codes[:, columns[there]]
    return codes_at


# How alike


@dataclass(frozen=True, slots=True)
class LayerDiversity:
    """The diversity of a layer's verdicts; ``change`` is against the layer before, ``None`` for the first."""

    layer: int
    verdicts: VerdictDiversity
    change: DiversityChange | None


@dataclass(frozen=True, slots=True)
class RunDiversity:
    """The diversity of the layers of a run. ``evidence`` is that of the ``sampled`` pairs, ``None`` where it was not
    asked for."""

    layers: tuple[LayerDiversity, ...]
    evidence: tuple[EvidenceDiversity, ...] | None
    sampled: Sampled | None


def diversity(frame: RunFrame) -> RunDiversity:
    """The diversity of verdicts by layer."""
    layers = []
    for layer in range(1, frame.spec.depth + 1):
        codes = frame.neurons[:, frame.columns_of(layer)]
        change = None
        if layer > 1:
            change = diversity_change(frame.neurons[:, frame.columns_of(layer - 1)], codes, frame.groups)
        layers.append(LayerDiversity(layer, verdict_diversity(codes, frame.human, frame.groups), change))
    return RunDiversity(tuple(layers), None, None)


def with_evidence(
    diversities: RunDiversity, frame: RunFrame, store: Store, run: RunInfo, pairs: int, *, seed: int = 0
) -> RunDiversity:
    """The diversity with that of the evidence on a random sample of so many finished pairs."""
    sampled = sample_evidence(store, run, pairs, seed=seed)
    questions = None
    if frame.groups is not None:
        questions = {pair: int(frame.groups[pair]) for pair in sampled.pairs}
    evidence = evidence_diversity(evidence_of(store, run, sampled), range(1, frame.spec.depth + 1), questions)
    return RunDiversity(diversities.layers, tuple(evidence), sampled)
