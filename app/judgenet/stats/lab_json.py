"""What a bias lab found as JSON: stable keys, and ``null`` only with a reason beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from judgenet.core.bias import PROBES
from judgenet.core.bias.lab import ProbePlan
from judgenet.stats.bias import Cell, Chance, Judge, Shift
from judgenet.stats.intervals import Interval
from judgenet.stats.lab import LabResult, NamesEffect, RankAgreement
from judgenet.stats.ranking_overlap import Overlap

_OWN_ONLY = "it is told of own system only, where a pair is judged the same way in both orders"


def lab_json(result: LabResult) -> dict[str, Any]:
    """A result with stable keys: ``null`` where there is no figure, with a reason beside it."""
    settings = result.lab.settings
    return {
        "headline": result.headline,
        "subline": result.subline,
        "settings": _with_reasons(
            {**asdict(settings), "own": list(settings.own)}, {"instructions": "all of the pairs are used"}
        ),
        "pairs": result.lab.pairs,
        "instructions": result.lab.questions,
        "probes": [_probe(plan, result.chances[plan.key]) for plan in result.lab.probes],
        "judges": [_judge(judge) for judge in result.judges],
        "cells": [_cell(cell) for cell in result.cells],
        "differences": [_difference(shift) for shift in result.shifts],
        "names_effects": [_names(effect) for effect in result.names_effects],
        "rank_agreement": _ranks(result.ranks),
    }


def _with_reasons(record: dict[str, Any], reasons: Mapping[str, str]) -> dict[str, Any]:
    """The record with the reason of each figure that is not there."""
    return {**record, "reasons": {name: why for name, why in reasons.items() if record[name] is None}}


def _probe(plan: ProbePlan, chance: Chance) -> dict[str, Any]:
    why = "no pair allows it" if not plan.items else "chance is no meaningful reference here"
    record = {
        "probe": plan.key,
        "title": PROBES[plan.key].title,
        "tells": PROBES[plan.key].tells,
        "pairs": len(plan.items),
        "left_out": plan.left_out,
        "random": chance.analytic,
        "random_mean": chance.mean,
        "random_97_5": chance.high,
        "random_repetitions": chance.repetitions,
        "pair_ids": [item.pair for item in plan.items],
    }
    return _with_reasons(record, dict.fromkeys(("random", "random_mean", "random_97_5"), why))


def _judge(judge: Judge) -> dict[str, Any]:
    return _with_reasons(
        asdict(judge), {"layer": "it is no part of one layer", "neuron": "it is more than one neuron of a network"}
    )


def _cell(cell: Cell) -> dict[str, Any]:
    record = {
        **{of.name: getattr(cell, of.name) for of in fields(cell)},
        **{name: _ends(getattr(cell, name)) for name in ("interval", "net_ci", "net_ci90")},
        "varieties": {name: {"hits": hits, "n": n} for name, (hits, n) in cell.varieties.items()},
        "codes": list(cell.codes),
    }
    no_share = cell.reasons.get("share", "")
    no_test = cell.reasons.get("p", "")
    changed = PROBES[cell.probe].rule == "changed"
    no_net = "answers to the same prompt have no other side" if changed else no_share or "no pair has valid answers"
    no_z = no_test or "all or none of the pairs are biased"
    reasons = {
        "share": no_share,
        "interval": cell.reasons.get("interval", no_share),
        "valid_rate": no_share or "no pair was asked",
        "net": no_net,
        "net_ci": cell.reasons.get("net_ci", no_net),
        "net_ci90": cell.reasons.get("net_ci", no_net),
        "net_p": no_net,
        "net_p_holm": no_net if PROBES[cell.probe].has_rival else "the verdict rests on the share",
        "net_over": no_net,
        "equivalent": cell.reasons.get("equivalent", no_share or "no pair has valid answers"),
        "pairs_needed": _why_no_plan(cell),
        "p": no_test,
        "p_holm": no_test,
        "z": no_z,
        "z_p": no_z,
        "consistent_share": no_share if cell.probe == "egocentric" and no_share else _OWN_ONLY,
    }
    return _with_reasons(record, reasons)


def _why_no_plan(cell: Cell) -> str:
    if cell.conclusion == "unclear":
        return cell.reasons.get("equivalent", "there are too few questions")
    return "no verdict" if cell.conclusion == "none" else "there are pairs enough to tell"


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _difference(shift: Shift) -> dict[str, Any]:
    record = {**asdict(shift), "interval": _ends(shift.interval), "net_ci": _ends(shift.net_ci)}
    record["reason"] = shift.reason or None
    few = shift.reason or "too few instructions that several pairs share"
    no_pair = "no pair counts for both"
    no_net = "answers have no other side" if not PROBES[shift.probe].has_rival else no_pair
    reasons = {
        **dict.fromkeys(("first_share", "second_share", "difference"), no_pair),
        **dict.fromkeys(("interval", "p", "p_holm"), few),
        **dict.fromkeys(("first_net", "second_net", "net_difference"), no_net),
        "net_ci": no_net if shift.net_difference is None else few,
        **dict.fromkeys(("net_p", "net_p_holm"), no_net if shift.net_difference is None else shift.reason),
    }
    return _with_reasons(record, reasons)


def _names(effect: NamesEffect) -> dict[str, Any]:
    none = "no pair counts both with names and without"
    reasons = dict.fromkeys(("share_named", "share_plain", "difference", "p"), none)
    return _with_reasons(asdict(effect), {**reasons, "own_named": "no pair has the judge's own system"})


def _ranks(ranks: RankAgreement) -> dict[str, Any]:
    record = {
        "systems": list(ranks.systems),
        "raters": list(ranks.raters),
        "others": ranks.others,
        "overlaps": [
            {"first": one, "second": other, **_overlap(overlap)} for (one, other), overlap in ranks.overlaps.items()
        ],
        "shares": ranks.shares,
        "reason": ranks.reason or None,
        "persons": ranks.persons,
        "among_people": None if ranks.among_people is None else _overlap(ranks.among_people),
        "with_people": {rater: _overlap(overlap) for rater, overlap in ranks.with_people.items()},
    }
    return _with_reasons(record, {"among_people": ranks.reason or "fewer than two people labelled by name"})


def _overlap(overlap: Overlap) -> dict[str, Any]:
    record = {**asdict(overlap), "reason": overlap.reason or None}
    return _with_reasons(record, {"sd": overlap.reason or "fewer than two instructions"})
