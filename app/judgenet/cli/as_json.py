"""Figures as stable JSON keys, for machines. What is undefined is ``null``, with ``reason`` or ``reasons`` beside it.

The keys are listed in ``resources/figures.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgenet.figures.trust import (
    LayerDiscussion,
    LayerDiversity,
    Panels,
    RunDiversity,
    Sureness,
    Uncertainty,
    agreements,
)
from judgenet.stats.agreement import (
    Agreement,
    PositionConsistency,
    ReviewShare,
    macro_precision,
    macro_recall,
    matthews,
)
from judgenet.stats.curves import Codes, RightByOrder
from judgenet.stats.discussion import MindChanges, Moves, Overturns
from judgenet.stats.diversity import EvidenceDiversity
from judgenet.stats.intervals import AgreementIntervals, Interval, wilson
from judgenet.stats.means import Mean
from judgenet.stats.panel import Annotator, PanelAgreement, Raters, kappa_interval
from judgenet.stats.uncertainty import ReviewCurve, ReviewNeed, ReviewPoint, Share
from judgenet.store.runs import ScoreSums


def ends(interval: Interval | None) -> list[float] | None:
    """An interval as ``[low, high]``."""
    return None if interval is None else list(interval)


def agreement_figures(questions: NDArray[np.int64], human: Codes, said: Mapping[str, Codes]) -> dict[str, Any]:
    """Agreement of each of ``said`` with the labels ``human``, all given as codes by pair
    (:data:`judgenet.stats.curves.CODES`), with intervals over questions where these repeat."""
    return {name: figures_json(*of) for name, of in agreements(questions, human, said).items()}


def figures_json(found: Agreement, within: AgreementIntervals) -> dict[str, Any]:
    """Agreement with people and its 95 % intervals.

    ``n_questions`` is how many questions the pairs used have: where it is less than ``n_used`` it is the effective n.
    """
    correlation = matthews(found)
    reasons = dict(found.reasons) | {f"{figure}_ci": reason for figure, reason in within.reasons.items()}
    if within.questions is None:
        reasons["n_questions"] = found.reasons.get("accuracy", "not counted")
    if not found.n_used:
        reasons |= dict.fromkeys(("macro_precision", "macro_recall"), found.reasons["accuracy"])
    if correlation is None:
        reasons["mcc"] = found.reasons.get("accuracy", "people or network gave one class only")
    return {
        "accuracy": found.accuracy,
        "accuracy_ci": ends(within.accuracy),
        "macro_f1": found.macro_f1,
        "macro_f1_ci": ends(within.macro_f1),
        "kappa": found.kappa,
        "kappa_ci": ends(within.kappa),
        "macro_precision": macro_precision(found),
        "macro_recall": macro_recall(found),
        "mcc": correlation,
        "n_used": found.n_used,
        "n_total": found.n_total,
        "n_questions": within.questions,
        "n_unlabelled": found.n_unlabelled,
        "n_unjudged": found.n_unjudged,
        "labels": list(found.labels),
        "confusion": [list(row) for row in found.confusion],
        "majority_baseline": found.majority_baseline,
        "reasons": reasons,
        "resamples": within.resamples,
        "seed": within.seed,
        "few": within.few,
    }


def position_json(found: PositionConsistency, flips: Share, right: RightByOrder) -> dict[str, Any]:
    """Verdicts in both orders with the interval of the flip rate, and each order against people."""
    return {
        "first_first": found.primacy,
        "last_last": found.recency,
        "partial": found.partial,
        "valid_both": found.n,
        "n_total": found.n_total,
        "consistent": found.consistent,
        "flip_rate": found.flip_rate,
        "flip_rate_ci": ends(flips.interval),
        "net": found.net,
        "p": found.p,
        "questions_p": found.questions_p,
        "right_ab": right.right_ab,
        "n_ab": right.n_ab,
        "right_ba": right.right_ba,
        "n_ba": right.n_ba,
        "right_both": right.right_both,
        "n_both": right.n_both,
        "reason": found.reason or flips.reason or None,
        "reasons": {"questions_p": found.reason or "every question has one pair, so that p is over questions already"}
        if found.questions_p is None
        else {},
    }


def scores_json(found: ScoreSums | None) -> dict[str, Any]:
    """The scores that a neuron gave, summed and averaged over its calls."""
    if found is None:
        keys = ("sum_a", "sum_b", "mean_a", "mean_b")
        return {"calls": 0, **dict.fromkeys(keys), "reason": "its calls gave verdicts alone, or none is scored"}
    means = (found.a / found.calls, found.b / found.calls)
    figures = {"calls": found.calls, "sum_a": found.a, "sum_b": found.b, "mean_a": means[0], "mean_b": means[1]}
    return {**figures, "reason": None}


def mean_json(found: Mean) -> dict[str, Any]:
    """A mean over pairs with its interval."""
    return {"value": found.value, "ci": ends(found.interval), "n": found.n, "reason": found.reason or None}


# Panels

_COEFFICIENTS = ("h", "alpha_nominal", "alpha_ordinal", "fleiss")


def panel_json(panel: PanelAgreement) -> dict[str, Any]:
    """A panel's agreement with itself; of each two under ``NAME|NAME``."""
    named = {name: getattr(panel, name) for name in _COEFFICIENTS}
    twos = {f"{one}|{other}": found for (one, other), found in panel.pairwise.items()}
    mean = panel.mean_kappa
    reasons = {name: found.reason for name, found in named.items() if found.reason}
    reasons |= {
        f"{name}_ci": found.interval_reason or found.reason or "no interval was asked for"
        for name, found in named.items()
        if found.interval is None
    }
    reasons |= {name: found.reasons["kappa"] for name, found in twos.items() if "kappa" in found.reasons}
    if mean.reason:
        reasons["mean_kappa"] = mean.reason
    figures: dict[str, Any] = {"names": list(panel.raters)}
    for name, found in named.items():
        figures |= {name: found.value, f"{name}_ci": ends(found.interval)}
    return figures | {
        "n": panel.h.n,
        "mean_kappa": mean.value,
        "pairwise_kappa": {name: found.kappa for name, found in twos.items()},
        "pairwise_agreement": {name: found.accuracy for name, found in twos.items()},
        "pairwise_n": {name: found.n_used for name, found in twos.items()},
        "reasons": reasons,
    }


def annotators_json(panel: PanelAgreement, each: Mapping[str, Annotator], *, repeated: bool = False) -> dict[str, Any]:
    """People's agreement with each other, with the label in use, and with the majority of the others. Intervals of
    ``each`` are over pairs: there are none where questions are ``repeated``."""
    return panel_json(panel) | {
        "each": {
            name: {
                "against_label": _short(of.against_label, repeated=repeated),
                "against_others": _short(of.against_others, repeated=repeated),
            }
            for name, of in each.items()
        }
    }


def _short(found: Agreement, *, repeated: bool) -> dict[str, Any]:
    """Accuracy with Wilson's interval, kappa with its asymptotic one."""
    hits = sum(found.confusion[place][place] for place in range(len(found.confusion)))
    within, asymptotic = wilson(hits, found.n_used), kappa_interval(found)
    reasons = {name: why for name, why in found.reasons.items() if name in ("accuracy", "kappa")}
    if asymptotic is None:
        reasons["kappa_ci"] = reasons.get("kappa", "the verdicts do not vary enough for an interval")
    if "accuracy" in reasons:
        reasons["accuracy_ci"] = reasons["accuracy"]
    elif repeated:
        within = asymptotic = None
        reasons |= dict.fromkeys(("accuracy_ci", "kappa_ci"), "questions repeat: an interval over pairs is too narrow")
    return {
        "accuracy": found.accuracy,
        "accuracy_ci": ends(within),
        "kappa": found.kappa,
        "kappa_ci": None if asymptotic is None else list(asymptotic[1]),
        "n": found.n_used,
        "reasons": reasons,
    }


def raters_json(found: Raters) -> dict[str, Any]:
    """Raters by their agreement with people, the best first."""
    return {
        "best": found.best,
        "not_worse": list(found.not_worse),
        "tested_over": found.tested_over,
        "warning": found.warning,
        "ranking": [
            {
                "name": row.name,
                "accuracy": row.agreement.accuracy,
                "accuracy_ci": ends(row.intervals.accuracy),
                "kappa": row.agreement.kappa,
                "kappa_ci": ends(row.intervals.kappa),
                "n": row.agreement.n_used,
                "only_best_right": row.only_best,
                "only_this_right": row.only_this,
                "n_common": row.n_common,
                "p": row.p,
                "p_holm": row.p_holm,
                "reasons": {name: why for name, why in row.agreement.reasons.items() if name in ("accuracy", "kappa")}
                | {f"{name}_ci": why for name, why in row.intervals.reasons.items() if name in ("accuracy", "kappa")}
                | ({"p": row.reason, "p_holm": row.reason} if row.reason else {}),
            }
            for row in found.raters
        ],
        "reason": found.reason or None,
    }


def panels_json(found: Panels) -> dict[str, Any]:
    """A run's judges as panels."""
    return {
        "neurons": panel_json(found.neurons),
        "layers": {f"l{layer}": panel_json(panel) for layer, panel in found.layers.items()},
        "between_layers": panel_json(found.between_layers),
        "orders": {name: panel_json(panel) for name, panel in found.orders.items()},
        "against_people": raters_json(found.people),
        "roles_against_people": None if found.roles is None else raters_json(found.roles),
        "rare_roles": found.rare_roles,
        "reasons": (
            {"roles_against_people": "no role has 20 labelled verdicts or more"} if found.roles is None else {}
        ),
    }


# Uncertainty


def uncertainty_json(found: Uncertainty, no_target: str) -> dict[str, Any]:
    """FairEval's figures; ``no_target`` says why there is no agreement of people to reach."""
    conflict = found.conflict
    return {
        "aggregation": found.aggregation,
        "scope": found.scope,
        "scopes": {of.scope: _sureness_json(of) for of in found.sureness},
        "conflict": {
            "value": conflict.value,
            "ci": ends(conflict.interval),
            "differ": conflict.hits,
            "n": conflict.n,
            "reason": conflict.reason or None,
        },
        "calibration": {name: figures_json(*of) for name, of in found.calibration.items()},
        "review": _review_json(found.review),
        "needed": None if found.need is None else _need_json(found.need),
        "reasons": {"needed": no_target} if found.need is None else {},
    }


def _sureness_json(found: Sureness) -> dict[str, Any]:
    return {
        "entropy": mean_json(found.entropy),
        "relative": mean_json(found.relative),
        "one_order": {order: mean_json(mean) for order, mean in found.one_order.items()},
        "certain": mean_json(found.certain),
        "calls": found.calls,
        "n_total": found.n_total,
        "reasons": {"calls": found.entropy.reason} if found.calls is None else {},
    }


def _review_json(found: ReviewCurve) -> dict[str, Any]:
    return {
        "n": found.n,
        "n_total": found.n_total,
        "unknown": found.unknown,
        "levels": found.levels,
        "seed": found.seed,
        "gain": found.gain,
        "few": found.few,
        "points": [_point_json(point) for point in found.points],
        "reason": found.reason or None,
    }


def _point_json(found: ReviewPoint) -> dict[str, Any]:
    return {
        "reviewed": found.reviewed,
        "share": found.share,
        "accuracy": found.accuracy,
        "accuracy_ci": ends(found.interval),
        "by_chance": found.by_chance,
        "mended": found.mended,
        "reasons": {} if found.interval else {"accuracy_ci": "too few questions for an interval over them"},
        "untouched": {
            "n": found.untouched.n_used,
            "accuracy": found.untouched.accuracy,
            "accuracy_ci": ends(found.untouched_interval),
            "kappa": found.untouched.kappa,
            "kappa_ci": ends(found.untouched_kappa_interval),
            "reasons": {
                name: why for name, why in found.reasons.items() if name.split("_")[0] in ("accuracy", "kappa")
            },
        },
    }


def _need_json(found: ReviewNeed) -> dict[str, Any]:
    shares: dict[str, ReviewShare | None] = {
        "random": found.random,
        "random_best": found.random_ends[0] if found.random_ends else None,
        "random_worst": found.random_ends[1] if found.random_ends else None,
    }
    why = found.reasons.get("random_ends", "")
    reasons = {name: told for name, told in found.reasons.items() if name != "random_ends"}
    for name, share in shares.items():
        if share is None or share.review is None:
            reasons[name] = share.reason if share is not None else reasons.get(name, why)
    return {
        "target": found.target,
        "accuracy": found.accuracy,
        "accuracy_ci": ends(found.accuracy_interval),
        "measured": found.measured,
        "measured_ci": ends(found.interval),
        "reviewed": found.reviewed,
        **{name: None if share is None else share.review for name, share in shares.items()},
        "n": found.n,
        "seed": found.seed,
        "reasons": reasons | ({"reviewed": reasons["measured"]} if "measured" in reasons else {}),
    }


# Discussion


def discussion_json(found: Sequence[LayerDiscussion]) -> dict[str, Any]:
    """What each layer after the first changes."""
    return {
        "layers": {
            f"l{of.layer}": {
                "vote": _overturns_json(of.vote),
                "neurons": _changes_json(of.neurons),
                "each": {
                    name: _changes_json(changes) | {"own": _overturns_json(own)}
                    for name, (changes, own) in of.each.items()
                },
            }
            for of in found
        },
        "reason": None if found else "the network has one layer: nothing is discussed",
    }


def _overturns_json(found: Overturns) -> dict[str, Any]:
    reasons = dict(found.reasons)
    if found.questions_p is None:
        reasons.setdefault("questions_p", "every question has one pair, so that p is over questions already")
    return {
        "n": found.n,
        "n_total": found.n_total,
        "overturned": found.overturned,
        "rate": found.rate,
        "rate_ci": ends(found.interval),
        "reversed": found.reversed,
        "n_labelled": found.n_labelled,
        "to_right": found.to_right,
        "to_wrong": found.to_wrong,
        "between_wrong": found.between_wrong,
        "gain": found.gain,
        "p": found.p,
        "questions_p": found.questions_p,
        "reasons": reasons,
    }


def _moves_json(found: Moves) -> dict[str, Any]:
    return {"moved": found.moved, "chances": found.chances, **mean_json(found.mean)}


def _changes_json(found: MindChanges) -> dict[str, Any]:
    return {
        "neurons": found.neurons,
        "n_total": found.n_total,
        "changed": _moves_json(found.changed),
        "to_others": _moves_json(found.to_others),
        "against_others": _moves_json(found.against_others),
        "to_own_order": _moves_json(found.to_own_order),
        "towards_others": found.towards_others,
        "away": found.away,
        "undecided": found.undecided,
        "n_labelled": found.n_labelled,
        "to_right": found.to_right,
        "to_wrong": found.to_wrong,
        "between_wrong": found.between_wrong,
        "followed_right": found.followed_right,
        "followed_wrong": found.followed_wrong,
        "gain": mean_json(found.gain),
        "gained": found.gained,
        "lost": found.lost,
        "p": found.p,
        "reason": found.reason or None,
    }


# Diversity


def diversity_json(found: RunDiversity) -> dict[str, Any]:
    """How alike the neurons of each layer are, in verdicts and in evidence."""
    evidence = {of.layer: of for of in found.evidence or ()}
    sampled = found.sampled
    return {
        "layers": {f"l{of.layer}": _layer_json(of, evidence.get(of.layer)) for of in found.layers},
        "evidence_sample": (
            None
            if sampled is None
            else {
                "pairs": len(sampled.pairs),
                "n_total": sampled.n_total,
                "neurons": list(sampled.neurons),
                "seed": sampled.seed,
            }
        ),
        "reasons": {} if sampled is not None else {"evidence_sample": _NO_EVIDENCE},
    }


_NO_EVIDENCE = "evidence was not compared (--evidence 0)"


def _layer_json(of: LayerDiversity, evidence: EvidenceDiversity | None) -> dict[str, Any]:
    said = of.verdicts
    reasons: dict[str, str] = {}
    if of.change is None:
        reasons["change"] = "the first layer"
    if evidence is None:
        reasons["evidence"] = _NO_EVIDENCE
    return {
        "neurons": said.neurons,
        "n": said.n,
        "n_total": said.n_total,
        "n_labelled": said.n_labelled,
        "disagreement": mean_json(said.disagreement),
        "entropy": mean_json(said.entropy),
        "unanimous": mean_json(said.unanimous),
        "q": mean_json(said.q),
        "double_fault": mean_json(said.double_fault),
        "error_disagreement": mean_json(said.error_disagreement),
        "oracle": mean_json(said.oracle),
        "change": (
            None
            if of.change is None
            else {"disagreement": mean_json(of.change.disagreement), "entropy": mean_json(of.change.entropy)}
        ),
        "evidence": None if evidence is None else _evidence_json(evidence),
        "reasons": reasons,
    }


def _evidence_json(found: EvidenceDiversity) -> dict[str, Any]:
    reasons: dict[str, str] = {}
    if found.between_pairs is None:
        reasons["between_pairs"] = found.reason or "the evidence is of one pair only"
    if found.length is None:
        reasons["length"] = found.reason
    return {
        "distance": mean_json(found.distance),
        "change": mean_json(found.change),
        "to_own": mean_json(found.to_own),
        "between_pairs": found.between_pairs,
        "texts": found.texts,
        "empty": found.empty,
        "cut": found.cut,
        "length": found.length,
        "reasons": reasons,
    }
