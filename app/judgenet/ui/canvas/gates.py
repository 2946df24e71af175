"""Texts of the stop rules on the canvas."""

from __future__ import annotations

from dataclasses import replace
from math import fsum

from judgenet.core.cascade import StopPlace, has_stop_rules, rule_at, stages, stop_rule_words
from judgenet.core.network import NetworkSpec, StopRule
from judgenet.core.plan import ExpectedCalls, RunTotals
from judgenet.core.wording import money_span, percent, plural
from judgenet.ui.canvas import texts
from judgenet.ui.canvas.model import GateState, NetworkState


def short_words(rule: StopRule) -> str:
    """A rule in the few words that fit between two nodes."""
    number = "" if rule.at_least is None else f"{rule.at_least:g}"
    return {
        "decided": texts.VOTE_DECIDED,
        "orders_agree": texts.ORDERS_AGREE,
        "neurons_agree": texts.NEURONS_AGREE,
        "margin": texts.lead_at_least(number),
        "difference": texts.scores_apart(number),
    }[rule.when]


def gate_state(spec: NetworkSpec, place: StopPlace, expected: ExpectedCalls | None, currency: str) -> GateState | None:
    """What a gate shows; ``None`` where there is no stop rule."""
    rule = rule_at(spec, place)
    if rule is None:
        return None
    words = stop_rule_words(rule)
    tip = texts.not_asked_where(words)
    stops = _stages_after(spec, place)
    if expected is None or not stops or stops[-1] >= len(expected.reached):
        return GateState(short_words(rule), "", tip)
    shares = tuple(percent(expected.reached[stop]) for stop in stops)
    tip += texts.pairs_that_go_on(shares[-1], plural(expected.pairs, "recorded pair"))
    if expected.stage_prices is not None and stops[-1] < len(expected.stage_prices):
        low, high = (fsum(ends) for ends in zip(*(expected.stage_prices[stop] for stop in stops), strict=True))
        tip += f", {money_span(low, high, currency)}"
    return GateState(short_words(rule), shares[-1], tip, shares)


def with_gates(state: NetworkState, spec: NetworkSpec, totals: RunTotals | None = None) -> NetworkState:
    """The state of the canvas with the stop rules of its network and the shares of pairs that are expected to go on."""
    if not has_stop_rules(spec):
        return state
    expected = None if totals is None else totals.expected
    currency = "USD" if totals is None else totals.currency
    layers = tuple(
        replace(
            layer,
            gate=gate_state(spec, ("before", number), expected, currency),
            between=gate_state(spec, ("within", number), expected, currency),
        )
        for number, layer in enumerate(state.layers)
    )
    gate = None if spec.chair is None else gate_state(spec, ("before", spec.depth), expected, currency)
    return replace(state, layers=layers, chair_gate=gate)


def _stages_after(spec: NetworkSpec, place: StopPlace) -> list[int]:
    """Numbers of the stages that a rule precedes: the layer's first, or those of its second and later neurons."""
    side, layer = place
    numbers = [number for number, stage in enumerate(stages(spec)) if stage.layer == layer + 1]
    return numbers[:1] if side == "before" else numbers[1:]
