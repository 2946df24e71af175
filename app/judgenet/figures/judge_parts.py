"""Figures of the judges themselves: how they agree with each other, how sure they are, what layers change, and how
alike they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from judgenet.figures.base import Keys, figures_of, taken_over
from judgenet.figures.parts import (
    NO_REPEATS,
    AgreementFigures,
    MeanFigures,
    Reasons,
    ShortFigures,
    agreement_figures,
    mean_figures,
    short_figures,
)
from judgenet.figures.trust import (
    LayerDiscussion,
    LayerDiversity,
    Panels,
    RunDiversity,
    Sureness,
    Uncertainty,
)
from judgenet.stats.agreement import ReviewShare
from judgenet.stats.discussion import MindChanges, Moves, Overturns
from judgenet.stats.diversity import DiversityChange, EvidenceDiversity, VerdictDiversity
from judgenet.stats.intervals import Interval
from judgenet.stats.panel import AgainstBest, Annotator, PanelAgreement, Raters
from judgenet.stats.uncertainty import ReviewCurve, ReviewNeed, ReviewPoint, Share

# Panels


@dataclass(frozen=True)
class PanelFigures:
    """A panel's agreement with itself; of each two under ``NAME|NAME``."""

    names: Annotated[tuple[str, ...], "the raters"]
    h: Annotated[float | None, "mean share of pairs of raters that agree"]
    h_ci: Interval | None
    alpha_nominal: Annotated[float | None, "Krippendorff's alpha"]
    alpha_nominal_ci: Interval | None
    alpha_ordinal: Annotated[float | None, "the same with a < tie < b"]
    alpha_ordinal_ci: Interval | None
    fleiss: Annotated[float | None, "Fleiss' kappa, where all pairs have equally many raters"]
    fleiss_ci: Interval | None
    n: Annotated[int, "pairs with two raters or more"]
    mean_kappa: Annotated[float | None, "mean of Cohen's kappa over every two raters"]
    pairwise_kappa: Annotated[
        Mapping[str, float | None],
        Keys(("TWO",)),
        "of each two, as `NAME` and `NAME` with a bar between; up to 64 raters",
    ]
    pairwise_agreement: Annotated[Mapping[str, float | None], Keys(("TWO",))]
    pairwise_n: Annotated[Mapping[str, int], Keys(("TWO",))]
    reasons: Reasons


@figures_of.register(PanelAgreement)
def panel_figures(panel: PanelAgreement) -> PanelFigures:
    """A panel's agreement with itself."""
    named = {name: getattr(panel, name) for name in ("h", "alpha_nominal", "alpha_ordinal", "fleiss")}
    twos = {f"{first}|{second}": agreement for (first, second), agreement in panel.pairwise.items()}
    mean = panel.mean_kappa
    reasons = {name: agreement.reason for name, agreement in named.items() if agreement.reason}
    reasons |= {
        f"{name}_ci": agreement.interval_reason or agreement.reason or "no interval was asked for"
        for name, agreement in named.items()
        if agreement.interval is None
    }
    reasons |= {name: agreement.reasons["kappa"] for name, agreement in twos.items() if "kappa" in agreement.reasons}
    if mean.reason:
        reasons["mean_kappa"] = mean.reason
    return PanelFigures(
        names=panel.raters,
        h=panel.h.value,
        h_ci=panel.h.interval,
        alpha_nominal=panel.alpha_nominal.value,
        alpha_nominal_ci=panel.alpha_nominal.interval,
        alpha_ordinal=panel.alpha_ordinal.value,
        alpha_ordinal_ci=panel.alpha_ordinal.interval,
        fleiss=panel.fleiss.value,
        fleiss_ci=panel.fleiss.interval,
        n=panel.h.n,
        mean_kappa=mean.value,
        pairwise_kappa={name: agreement.kappa for name, agreement in twos.items()},
        pairwise_agreement={name: agreement.accuracy for name, agreement in twos.items()},
        pairwise_n={name: agreement.n_used for name, agreement in twos.items()},
        reasons=reasons,
    )


@dataclass(frozen=True)
class AnnotatorFigures:
    """An annotator against the label in use and against the others."""

    against_label: Annotated[ShortFigures, "an annotator against the label in use, of which its own may be a part"]
    against_others: Annotated[ShortFigures, "an annotator against the majority of the others"]


@dataclass(frozen=True)
class AnnotatorsFigures(PanelFigures):
    """People as a panel, and each of them."""

    each: Annotated[Mapping[str, AnnotatorFigures], Keys(("NAME",))]


def annotators_figures(
    panel: PanelAgreement, each: Mapping[str, Annotator], *, repeated: bool = False
) -> AnnotatorsFigures:
    """People's agreement with each other, with the label in use, and with the majority of the others. Intervals of
    ``each`` are over pairs: there are none where questions are ``repeated``."""
    return AnnotatorsFigures(
        **vars(panel_figures(panel)),
        each={
            name: AnnotatorFigures(
                short_figures(annotator.against_label, repeated=repeated),
                short_figures(annotator.against_others, repeated=repeated),
            )
            for name, annotator in each.items()
        },
    )


@dataclass(frozen=True)
class RaterFigures:
    """One rater against people, and against the best."""

    name: Annotated[str, "the best first"]
    accuracy: float | None
    accuracy_ci: Interval | None
    kappa: float | None
    kappa_ci: Interval | None
    n: int
    only_best_right: Annotated[int, "of the pairs that both judged"]
    only_this_right: int
    n_common: int
    p: Annotated[float | None, "exact sign test against the best, over questions where these repeat"]
    p_holm: Annotated[float | None, "the same among all comparisons (Holm)"]
    reasons: Reasons


@dataclass(frozen=True)
class RatersFigures:
    """Raters by their agreement with people, the best first."""

    best: Annotated[
        str | None, "who agrees with people most (with fewer than 20 labelled pairs only where no other has more)"
    ]
    not_worse: Annotated[
        tuple[str, ...],
        "those that the labelled pairs cannot tell from it (`p_holm` of .05 or more, or no labelled pair that both "
        "judged)",
    ]
    tested_over: Annotated[str, "pairs, or questions where these repeat"]
    warning: Annotated[str, "of many comparisons; empty where there is none"]
    ranking: tuple[RaterFigures, ...]
    reason: str | None


@figures_of.register(AgainstBest)
def rater_figures(row: AgainstBest) -> RaterFigures:
    """One rater against people, and against the best."""
    reasons = {name: why for name, why in row.agreement.reasons.items() if name in ("accuracy", "kappa")}
    reasons |= {f"{name}_ci": why for name, why in row.intervals.reasons.items() if name in ("accuracy", "kappa")}
    return taken_over(
        RaterFigures,
        row,
        accuracy=row.agreement.accuracy,
        accuracy_ci=row.intervals.accuracy,
        kappa=row.agreement.kappa,
        kappa_ci=row.intervals.kappa,
        n=row.agreement.n_used,
        only_best_right=row.only_best,
        only_this_right=row.only_this,
        reasons=reasons | ({"p": row.reason, "p_holm": row.reason} if row.reason else {}),
    )


@figures_of.register(Raters)
def raters_figures(raters: Raters) -> RatersFigures:
    """Raters by their agreement with people, the best first."""
    return taken_over(
        RatersFigures,
        raters,
        ranking=tuple(rater_figures(row) for row in raters.raters),
    )


@dataclass(frozen=True)
class PanelsFigures:
    """A run's judges as panels."""

    neurons: Annotated[PanelFigures, "all neurons among themselves"]
    layers: Annotated[Mapping[str, PanelFigures], Keys(("LAYER",)), "the neurons of a layer (`l1` …)"]
    between_layers: Annotated[PanelFigures, "the votes of the layers"]
    orders: Annotated[Mapping[str, PanelFigures], Keys(("NAME",)), "the two orders of `c1` and of each neuron"]
    against_people: Annotated[RatersFigures, "the neurons by agreement with people"]
    roles_against_people: Annotated[RatersFigures | None, "the roles with 20 labelled verdicts or more"]
    rare_roles: Annotated[int, "roles with fewer"]
    reasons: Reasons


def panels_figures(panels: Panels) -> PanelsFigures:
    """A run's judges as panels."""
    no_roles = {"roles_against_people": "no role has 20 labelled verdicts or more"}
    return PanelsFigures(
        neurons=panel_figures(panels.neurons),
        layers={f"l{layer}": panel_figures(panel) for layer, panel in panels.layers.items()},
        between_layers=panel_figures(panels.between_layers),
        orders={name: panel_figures(panel) for name, panel in panels.orders.items()},
        against_people=raters_figures(panels.people),
        roles_against_people=None if panels.roles is None else raters_figures(panels.roles),
        rare_roles=panels.rare_roles,
        reasons=no_roles if panels.roles is None else {},
    )


# How sure


@dataclass(frozen=True)
class SurenessFigures:
    """How sure the calls of a scope are."""

    entropy: Annotated[MeanFigures, "entropy of the calls' verdicts in nats (BPDE), from 0 to ln 3"]
    relative: Annotated[MeanFigures, "over ln 3"]
    one_order: Annotated[Mapping[str, MeanFigures], Keys(("ORDER",)), "of the calls of one order alone"]
    certain: Annotated[MeanFigures, "share of pairs whose calls all say the same"]
    calls: Annotated[float | None, "valid calls per pair"]
    n_total: int
    reasons: Reasons


def sureness_figures(sureness: Sureness) -> SurenessFigures:
    """How sure the calls of a scope are."""
    return SurenessFigures(
        entropy=mean_figures(sureness.entropy),
        relative=mean_figures(sureness.relative),
        one_order={order: mean_figures(mean) for order, mean in sureness.one_order.items()},
        certain=mean_figures(sureness.certain),
        calls=sureness.calls,
        n_total=sureness.n_total,
        reasons={"calls": sureness.entropy.reason} if sureness.calls is None else {},
    )


@dataclass(frozen=True)
class ConflictFigures:
    """How often the averages of the two orders differ."""

    value: Annotated[float | None, "share of pairs on which the averages of the two orders differ"]
    ci: Interval | None
    differ: int
    n: int
    reason: str | None


@figures_of.register(Share)
def conflict_figures(share: Share) -> ConflictFigures:
    """The share of pairs that differ."""
    return ConflictFigures(share.value, share.interval, share.hits, share.n, share.reason or None)


@dataclass(frozen=True)
class ReviewPointFigures:
    """What people reach who review some pairs, the most uncertain first."""

    reviewed: Annotated[int, "pairs reviewed, the most uncertain first"]
    share: float
    accuracy: Annotated[float, "of all pairs afterwards: reviewed pairs are right by definition"]
    accuracy_ci: Interval | None
    by_chance: Annotated[float, "after a review of as many pairs at random"]
    mended: Annotated[int, "reviewed pairs that were wrong"]
    reasons: Reasons
    untouched: Annotated[ShortFigures, "the network alone on the pairs that nobody reviewed"]


@figures_of.register(ReviewPoint)
def review_point_figures(point: ReviewPoint) -> ReviewPointFigures:
    """What people reach who review some pairs."""
    return taken_over(
        ReviewPointFigures,
        point,
        accuracy_ci=point.interval,
        reasons={} if point.interval else {"accuracy_ci": "too few questions for an interval over them"},
        untouched=ShortFigures(
            accuracy=point.untouched.accuracy,
            accuracy_ci=point.untouched_interval,
            kappa=point.untouched.kappa,
            kappa_ci=point.untouched_kappa_interval,
            n=point.untouched.n_used,
            reasons={name: why for name, why in point.reasons.items() if name.split("_")[0] in ("accuracy", "kappa")},
        ),
    )


@dataclass(frozen=True)
class ReviewFigures:
    """Accuracy against the share of pairs that people review."""

    n: Annotated[int, "pairs with label and verdict"]
    n_total: int
    unknown: Annotated[int, "of them without an entropy: they count as the most uncertain"]
    levels: Annotated[int, "values that the entropy has; pairs of one value are shuffled by the seed"]
    seed: int
    gain: Annotated[float | None, "accuracy above a random review, mean over all shares"]
    few: bool
    points: tuple[ReviewPointFigures, ...]
    reason: str | None


@figures_of.register(ReviewCurve)
def review_figures(curve: ReviewCurve) -> ReviewFigures:
    """Accuracy against the share of pairs that people review."""
    return taken_over(
        ReviewFigures,
        curve,
        points=tuple(review_point_figures(point) for point in curve.points),
    )


@dataclass(frozen=True)
class ReviewNeedFigures:
    """What people must review so that the accuracy of all pairs reaches a target."""

    target: Annotated[float, "people's agreement among themselves (h)"]
    accuracy: float | None
    accuracy_ci: Interval | None
    measured: Annotated[float | None, "smallest share to review, the most uncertain first, that reaches it"]
    measured_ci: Interval | None
    reviewed: Annotated[int | None, "the same in pairs"]
    random: Annotated[float | None, "by the formula, for pairs at random"]
    random_best: Annotated[float | None, "the formula at the upper end of the accuracy's interval"]
    random_worst: Annotated[float | None, "at the lower end"]
    n: int
    seed: int
    reasons: Reasons


@figures_of.register(ReviewNeed)
def review_need_figures(need: ReviewNeed) -> ReviewNeedFigures:
    """What people must review to reach the target."""
    shares: dict[str, ReviewShare | None] = {
        "random": need.random,
        "random_best": need.random_ends[0] if need.random_ends else None,
        "random_worst": need.random_ends[1] if need.random_ends else None,
    }
    why = need.reasons.get("random_ends", "")
    reasons = {name: reason for name, reason in need.reasons.items() if name != "random_ends"}
    for name, share in shares.items():
        if share is None or share.review is None:
            reasons[name] = share.reason if share is not None else reasons.get(name, why)
    values = {name: None if share is None else share.review for name, share in shares.items()}
    return taken_over(
        ReviewNeedFigures,
        need,
        accuracy_ci=need.accuracy_interval,
        measured_ci=need.interval,
        random=values["random"],
        random_best=values["random_best"],
        random_worst=values["random_worst"],
        reasons=reasons | ({"reviewed": reasons["measured"]} if "measured" in reasons else {}),
    )


@dataclass(frozen=True)
class UncertaintyFigures:
    """How sure the network is of each pair (FairEval)."""

    aggregation: Annotated[str, "whose verdicts are reviewed"]
    scope: Annotated[str, "whose calls say how sure the network is: `all`, `last` (layer) or a neuron"]
    scopes: Annotated[Mapping[str, SurenessFigures], Keys(("SCOPE",))]
    conflict: ConflictFigures
    calibration: Annotated[
        Mapping[str, AgreementFigures],
        Keys(("WAY",)),
        "`mec_ab`, `mec_ba` (one order), `bpc_pooled` (all calls), `bpc_balanced` (each order averaged first)",
    ]
    review: ReviewFigures
    needed: ReviewNeedFigures | None
    reasons: Reasons


def uncertainty_parts(uncertainty: Uncertainty, no_target: str) -> UncertaintyFigures:
    """FairEval's figures; ``no_target`` says why there is no agreement of people to reach."""
    return UncertaintyFigures(
        aggregation=uncertainty.aggregation,
        scope=uncertainty.scope,
        scopes={scope.scope: sureness_figures(scope) for scope in uncertainty.sureness},
        conflict=conflict_figures(uncertainty.conflict),
        calibration={name: agreement_figures(*scope) for name, scope in uncertainty.calibration.items()},
        review=review_figures(uncertainty.review),
        needed=None if uncertainty.need is None else review_need_figures(uncertainty.need),
        reasons={"needed": no_target} if uncertainty.need is None else {},
    )


# What layers change


@dataclass(frozen=True)
class OverturnsFigures:
    """Earlier against later verdicts of the same pairs."""

    n: Annotated[int, "pairs with both verdicts"]
    n_total: int
    overturned: int
    rate: float | None
    rate_ci: Annotated[Interval | None, "Wilson's, or over questions"]
    reversed: Annotated[int, "from one response to the other"]
    n_labelled: int
    to_right: int
    to_wrong: int
    between_wrong: int
    gain: Annotated[float | None, "difference of the two accuracies"]
    p: Annotated[float | None, "exact sign test of to_right and to_wrong, over pairs"]
    questions_p: Annotated[
        float | None,
        "the same for pairs that share questions (Obuchowski 1998): the one to read where these repeat",
    ]
    reasons: Reasons


@figures_of.register(Overturns)
def overturns_figures(overturns: Overturns) -> OverturnsFigures:
    """What later verdicts changed."""
    reasons = dict(overturns.reasons)
    if overturns.questions_p is None:
        reasons.setdefault("questions_p", NO_REPEATS)
    return taken_over(
        OverturnsFigures,
        overturns,
        rate_ci=overturns.interval,
        reasons=reasons,
    )


@dataclass(frozen=True)
class MovesFigures:
    """Verdicts of neurons that moved, of those that could."""

    moved: Annotated[int, "verdicts of neurons"]
    chances: Annotated[int, "of so many"]
    value: Annotated[float | None, "mean over pairs of the share that moved"]
    ci: Interval | None
    n: Annotated[int, "pairs with a chance"]
    reason: str | None


@figures_of.register(Moves)
def moves_figures(moves: Moves) -> MovesFigures:
    """Verdicts of neurons that moved."""
    mean = moves.mean
    return MovesFigures(moves.moved, moves.chances, mean.value, mean.interval, mean.n, mean.reason or None)


@dataclass(frozen=True)
class ChangesFigures:
    """How neurons changed the verdict that they had a layer before."""

    neurons: int
    n_total: Annotated[int, "pairs"]
    changed: Annotated[MovesFigures, "verdicts that differ from the neuron's own a layer before"]
    to_others: Annotated[MovesFigures, "where most of the others that it read said otherwise: taken over"]
    against_others: Annotated[MovesFigures, "where most of them said the same: changed all the same"]
    to_own_order: Annotated[MovesFigures, "where it had said otherwise in the other order: taken over"]
    towards_others: Annotated[int, "changed verdicts that went to what most others said"]
    away: Annotated[int, "that went elsewhere"]
    undecided: Annotated[int, "that had no majority to follow"]
    n_labelled: Annotated[int, "pairs with both verdicts and a label"]
    to_right: Annotated[int, "changed verdicts that became right"]
    to_wrong: Annotated[int, "that became wrong"]
    between_wrong: Annotated[int, "that stayed wrong"]
    followed_right: Annotated[int, "became right by following the others"]
    followed_wrong: Annotated[int, "became wrong by it"]
    gain: Annotated[MeanFigures, "by how much the change raised the neurons' accuracy"]
    gained: Annotated[int, "pairs (questions where these repeat) that gained right verdicts"]
    lost: Annotated[int, "that lost some"]
    p: Annotated[float | None, "exact sign test of the two"]
    reason: str | None


@figures_of.register(MindChanges)
def changes_figures(changes: MindChanges) -> ChangesFigures:
    """How neurons changed their verdicts."""
    return taken_over(
        ChangesFigures,
        changes,
        changed=moves_figures(changes.changed),
        to_others=moves_figures(changes.to_others),
        against_others=moves_figures(changes.against_others),
        to_own_order=moves_figures(changes.to_own_order),
        gain=mean_figures(changes.gain),
    )


@dataclass(frozen=True)
class NeuronChangesFigures(ChangesFigures):
    """How one neuron changed its verdicts."""

    own: Annotated[OverturnsFigures, "the same, by verdicts"]


@dataclass(frozen=True)
class LayerDiscussionFigures:
    """What a layer changes."""

    vote: Annotated[OverturnsFigures, "the vote of a layer (from `l2`) against that of the layer before"]
    neurons: Annotated[ChangesFigures, "the neurons of the layer against themselves a layer before"]
    each: Annotated[Mapping[str, NeuronChangesFigures], Keys(("NAME",)), "one of them"]


@dataclass(frozen=True)
class DiscussionFigures:
    """What each layer after the first changes."""

    layers: Annotated[Mapping[str, LayerDiscussionFigures], Keys(("LAYER",))]
    reason: str | None


def discussion_figures(layer_discussions: Sequence[LayerDiscussion]) -> DiscussionFigures:
    """What each layer after the first changes."""
    return DiscussionFigures(
        layers={
            f"l{discussion.layer}": LayerDiscussionFigures(
                vote=overturns_figures(discussion.vote),
                neurons=changes_figures(discussion.neurons),
                each={
                    name: NeuronChangesFigures(**vars(changes_figures(changes)), own=overturns_figures(own))
                    for name, (changes, own) in discussion.each.items()
                },
            )
            for discussion in layer_discussions
        },
        reason=None if layer_discussions else "the network has one layer: nothing is discussed",
    )


# How alike


@dataclass(frozen=True)
class DiversityChangeFigures:
    """The diversity of a layer less that of the layer before."""

    disagreement: Annotated[MeanFigures, "this layer less the one before, pair by pair: below 0 they became alike"]
    entropy: MeanFigures


@figures_of.register(DiversityChange)
def diversity_change_figures(change: DiversityChange) -> DiversityChangeFigures:
    """How diversity changed from one layer to the next."""
    return DiversityChangeFigures(mean_figures(change.disagreement), mean_figures(change.entropy))


@dataclass(frozen=True)
class EvidenceFigures:
    """How differently the neurons of a layer write about the same pair."""

    distance: Annotated[
        MeanFigures, "of the texts of every two neurons on a pair: 1 - cosine of TF-IDF over character n-grams"
    ]
    change: Annotated[MeanFigures, "this layer less the one before"]
    to_own: Annotated[MeanFigures, "distance of a neuron's text to its own a layer before"]
    between_pairs: Annotated[float | None, "distance of texts about different pairs: a scale"]
    texts: Annotated[int, "compared"]
    empty: Annotated[int, "without text"]
    cut: Annotated[int, "longer than 4,000 characters, compared by their beginning"]
    length: Annotated[float | None, "mean characters"]
    reasons: Reasons


@figures_of.register(EvidenceDiversity)
def evidence_figures(evidence: EvidenceDiversity) -> EvidenceFigures:
    """How differently the neurons of a layer write."""
    reasons: Reasons = {}
    if evidence.between_pairs is None:
        reasons["between_pairs"] = evidence.reason or "the evidence is of one pair only"
    if evidence.length is None:
        reasons["length"] = evidence.reason
    return taken_over(
        EvidenceFigures,
        evidence,
        distance=mean_figures(evidence.distance),
        change=mean_figures(evidence.change),
        to_own=mean_figures(evidence.to_own),
        reasons=reasons,
    )


@dataclass(frozen=True)
class VerdictDiversityFigures:
    """How differently the neurons of a layer decide."""

    neurons: int
    n: Annotated[int, "pairs with verdicts of two neurons or more"]
    n_total: int
    n_labelled: int
    disagreement: Annotated[MeanFigures, "share of pairs of neurons that differ"]
    entropy: Annotated[MeanFigures, "of the neurons' verdicts, over ln 3"]
    unanimous: Annotated[MeanFigures, "share of pairs on which all say the same"]
    q: Annotated[MeanFigures, "Yule's Q of being right, mean over every two (1: on the same pairs, 0: independently)"]
    double_fault: Annotated[MeanFigures, "share of pairs of neurons that are both wrong"]
    error_disagreement: Annotated[MeanFigures, "of which one alone is right"]
    oracle: Annotated[MeanFigures, "share of pairs that at least one neuron gets right"]


@figures_of.register(VerdictDiversity)
def verdict_diversity_figures(diversity: VerdictDiversity) -> VerdictDiversityFigures:
    """How differently the neurons of a layer decide."""
    return taken_over(
        VerdictDiversityFigures,
        diversity,
        disagreement=mean_figures(diversity.disagreement),
        entropy=mean_figures(diversity.entropy),
        unanimous=mean_figures(diversity.unanimous),
        q=mean_figures(diversity.q),
        double_fault=mean_figures(diversity.double_fault),
        error_disagreement=mean_figures(diversity.error_disagreement),
        oracle=mean_figures(diversity.oracle),
    )


@dataclass(frozen=True)
class DiversityFigures(VerdictDiversityFigures):
    """How alike the neurons of a layer are, in verdicts and in evidence."""

    change: DiversityChangeFigures | None
    evidence: EvidenceFigures | None
    reasons: Reasons


@dataclass(frozen=True)
class EvidenceSampleFigures:
    """Which pairs had their evidence compared."""

    pairs: Annotated[int, "pairs whose evidence was compared (`--evidence`)"]
    n_total: Annotated[int, "finished pairs, from which they were drawn"]
    neurons: Annotated[tuple[int, ...], "places of the neurons whose evidence was compared"]
    seed: int


@dataclass(frozen=True)
class RunDiversityFigures:
    """How alike the neurons of each layer are."""

    layers: Annotated[Mapping[str, DiversityFigures], Keys(("LAYER",)), "how alike the neurons of a layer are"]
    evidence_sample: EvidenceSampleFigures | None
    reasons: Reasons


_NO_EVIDENCE = "evidence was not compared (--evidence 0)"


def diversity_figures(diversity: RunDiversity) -> RunDiversityFigures:
    """How alike the neurons of each layer are, in verdicts and in evidence."""
    evidence = {layer_evidence.layer: layer_evidence for layer_evidence in diversity.evidence or ()}
    layer_evidence = diversity.sampled
    sample = (
        None
        if layer_evidence is None
        else EvidenceSampleFigures(
            len(layer_evidence.pairs), layer_evidence.n_total, layer_evidence.neurons, layer_evidence.seed
        )
    )
    return RunDiversityFigures(
        layers={
            f"l{layer_evidence.layer}": _layer_figures(layer_evidence, evidence.get(layer_evidence.layer))
            for layer_evidence in diversity.layers
        },
        evidence_sample=sample,
        reasons={} if sample is not None else {"evidence_sample": _NO_EVIDENCE},
    )


def _layer_figures(diversity: LayerDiversity, evidence: EvidenceDiversity | None) -> DiversityFigures:
    reasons: Reasons = {}
    if diversity.change is None:
        reasons["change"] = "the first layer"
    if evidence is None:
        reasons["evidence"] = _NO_EVIDENCE
    return DiversityFigures(
        **vars(verdict_diversity_figures(diversity.verdicts)),
        change=None if diversity.change is None else diversity_change_figures(diversity.change),
        evidence=None if evidence is None else evidence_figures(evidence),
        reasons=reasons,
    )
