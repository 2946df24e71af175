"""How far the pairs of a run with stop rules went, and the verdicts and costs of a cascade replayed on a run that asked
more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Annotated

import numpy as np

from judgenet.core.cascade import read_stop_rule, stages, stop_rule_text, with_rule, without_stop_rules
from judgenet.core.network import NetworkError, NetworkSpec, StopRule, is_recorded
from judgenet.figures.base import Figures
from judgenet.figures.errors import FiguresError
from judgenet.stats.cascade import CascadeReplay, ReplayStage, replay, replay_stages
from judgenet.stats.intervals import Interval
from judgenet.stats.whatif import Calls, VoteRule, change
from judgenet.store.call_prices import CallPrices, call_prices
from judgenet.store.db import Store
from judgenet.store.decided_early import StageCount, stage_counts
from judgenet.store.frame import RunFrame

HARD_PAIRS = (
    "after a stop rule, neurons are asked only about the pairs on which the earlier ones were unsure; their figures "
    "(accuracy, bias, correlations, effective votes) are about those pairs only"
)
"""What to know of the neurons of a run with stop rules."""

_NO_PAIR = "no pair is finished"

Prices = Mapping[tuple[int, int], CallPrices]


@dataclass(frozen=True)
class StageFigures:
    """How many pairs were asked a stage of a cascade."""

    name: Annotated[str, "what is asked at this stage: a layer, neurons by name, or the chair"]
    rule: Annotated[str, "the stop rule before it, as `--stop-when` takes it; `never` where every pair is asked"]
    asked: Annotated[int, "pairs that were asked it"]
    n_total: Annotated[int, "finished pairs"]
    share: Annotated[float | None, "asked of all"]
    decided: Annotated[int, "pairs that were decided early after it"]
    calls: Annotated[int, "calls that were made"]
    calls_most: Annotated[int, "calls if every pair were asked it"]
    price: Annotated[float | None, "of the calls, at the mean price of the recorded calls of the same neurons"]
    price_saved: Annotated[float | None, "of the calls that were not made"]
    reason: Annotated[str | None, "why there is no price"]


@dataclass(frozen=True)
class CascadeFigures:
    """How far the pairs went, and what was saved. Calls that generate roles are not counted: each pair needs them."""

    stages: tuple[StageFigures, ...]
    decided_early: Annotated[int, "pairs that were decided before everything was asked"]
    n_total: Annotated[int, "finished pairs"]
    share: Annotated[float | None, "decided early of all"]
    calls: Annotated[int, "calls of neurons and chair that were made"]
    calls_most: Annotated[int, "calls if everything were asked of every pair"]
    calls_saved: Annotated[float | None, "share of calls that were not made"]
    price: Annotated[float | None, "of the calls that were made"]
    price_saved: Annotated[float | None, "of the calls that were not made"]
    reason: Annotated[str | None, "why there is no share, or no price"]


@dataclass(frozen=True)
class VariantFigures:
    """A cascade under one stop rule, or without any."""

    rule: Annotated[str, "as `--stop-when` takes it; `never` asks everything"]
    accuracy: Annotated[float | None, "against the human labels"]
    accuracy_ci: Annotated[Interval | None, "over questions where these repeat"]
    n_used: Annotated[int, "labelled pairs with a verdict"]
    calls_per_pair: Annotated[float | None, "mean over the pairs that are known"]
    calls_share: Annotated[float | None, "of the calls of `never`"]
    last_share: Annotated[float | None, "share of pairs that are asked the last stage"]
    difference: Annotated[float | None, "accuracy less that of `never`, on the same pairs"]
    difference_ci: Annotated[Interval | None, "of the difference"]
    reason: str | None


@dataclass(frozen=True, repr=False)
class RunCascade(CascadeFigures, Figures):
    """What a cascade would have said of the pairs of a run, and what it would have cost. No call is made."""

    _rows = "variants"

    run: str
    aggregation: Annotated[str, "the rule of voting: over what each pair was asked"]
    rule: Annotated[str, "the stop rule"]
    accuracy: Annotated[float | None, "against the human labels"]
    accuracy_ci: Interval | None
    n_used: Annotated[int, "labelled pairs with a verdict"]
    labelled: Annotated[int, "labelled pairs"]
    unknown: Annotated[int, "pairs whose next calls are not on record: they have no verdict"]
    last_accuracy: Annotated[float | None, "of the last stage alone, asked of every pair"]
    last_accuracy_ci: Interval | None
    last_n_used: int
    variants: Annotated[tuple[VariantFigures, ...], "other stop rules on the same stages"]


# A run that had stop rules


def cascade_figures(store: Store, frame: RunFrame) -> CascadeFigures | None:
    """How far the finished pairs of a run went; ``None`` where its network has no stop rule."""
    counts = stage_counts(frame)
    if not counts:
        return None
    prices = _prices(store, frame)
    return _totals(
        [_stage(count, _stage_name(frame, count), prices) for count in counts], sum(count.decided for count in counts)
    )


def _prices(store: Store, frame: RunFrame) -> Prices:
    """What calls cost; nothing of judgments that were made elsewhere, whose price nobody kept."""
    return {} if is_recorded(frame.spec) else call_prices(store, frame.run)


def _stage_name(frame: RunFrame, count: StageCount) -> str:
    if count.layer > frame.spec.depth:
        return "chair"
    in_turn = frame.spec.layers[count.layer - 1].between is not None
    return f"layer {count.layer}, neuron {count.neurons[0]}" if in_turn else f"layer {count.layer}"


def _stage(count: StageCount, name: str, prices: Prices) -> StageFigures:
    cost, reason = _cost(prices, ((count.layer, neuron) for neuron in count.neurons))
    return StageFigures(
        name=name,
        rule=stop_rule_text(count.rule),
        asked=count.asked,
        n_total=count.pairs,
        share=count.asked / count.pairs if count.pairs else None,
        decided=count.decided,
        calls=count.calls,
        calls_most=count.calls_most,
        price=None if cost is None else cost * count.calls,
        price_saved=None if cost is None else cost * (count.calls_most - count.calls),
        reason=reason or None,
    )


def _cost(prices: Prices, places: Iterable[tuple[int, int]]) -> tuple[float | None, str]:
    """The mean price of a call of these neurons, or why there is none."""
    mine = [prices[place] for place in places if place in prices]
    calls = sum(prices_of_neuron.calls for prices_of_neuron in mine)
    if not calls:
        return None, "no call with a known price is recorded"
    if any(prices_of_neuron.price is None for prices_of_neuron in mine):
        return None, "the price of some of its calls is unknown"
    return fsum(prices_of_neuron.price or 0.0 for prices_of_neuron in mine) / calls, ""


def _totals(stage_figures: Sequence[StageFigures], decided: int) -> CascadeFigures:
    pairs = stage_figures[0].n_total
    calls, most = sum(stage.calls for stage in stage_figures), sum(stage.calls_most for stage in stage_figures)
    # A stage that nobody was asked and whose price is unknown leaves only what was saved unknown.
    price = (
        None
        if any(stage.price is None and stage.calls for stage in stage_figures)
        else fsum(stage.price or 0.0 for stage in stage_figures)
    )
    saved = (
        None
        if any(stage.price_saved is None for stage in stage_figures)
        else fsum(stage.price_saved or 0.0 for stage in stage_figures)
    )
    reasons = [] if pairs else [_NO_PAIR]
    for why in dict.fromkeys(stage.reason for stage in stage_figures if stage.reason and pairs):
        named = [stage.name for stage in stage_figures if stage.reason == why]
        reasons.append(f"{'' if len(named) == len(stage_figures) else ', '.join(named) + ': '}{why}")
    return CascadeFigures(
        stages=tuple(stage_figures),
        decided_early=decided,
        n_total=pairs,
        share=decided / pairs if pairs else None,
        calls=calls,
        calls_most=most,
        calls_saved=1 - calls / most if most else None,
        price=price,
        price_saved=saved,
        reason="; ".join(reasons) or None,
    )


# A run that asked more

OTHER_RULES = (
    "orders-agree",
    "neurons-agree",
    "decided",
    "margin>=1",
    "margin>=2",
    "margin>=3",
    "difference>=0.5",
    "difference>=1",
    "difference>=2",
    "difference>=3",
)
"""The rules that are compared."""


@dataclass(frozen=True, slots=True)
class StagePlan:
    """The stages of a cascade over a run's recorded calls, each with its name, and the rule between them."""

    names: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]
    asks: tuple[bool, ...]
    """Whether a rule is looked at before the stage."""

    def with_rule(self, rule: StopRule | None) -> tuple[ReplayStage, ...]:
        """The stages under a rule."""
        return tuple(
            ReplayStage(columns, rule if asks else None) for columns, asks in zip(self.columns, self.asks, strict=True)
        )


def plan_stages(frame: RunFrame, groups: Sequence[Sequence[str]] = (), *, after: str = "") -> StagePlan:
    """The stages of a cascade: ``groups`` of neurons by name, else those of the network with a rule at ``after`` (a
    layer, ``neurons``, or empty as in :func:`judgenet.core.cascade.with_rule`).

    :raises FiguresError: a neuron has no such name or is named twice, or neurons of a later layer are asked before all
        of the layers that they read.
    """
    names, places = frame.names, frame.places
    if not groups:
        bare: NetworkSpec = without_stop_rules(frame.spec)
        try:
            spec = with_rule(bare, f"decided after={after}" if after else "decided")
        except NetworkError as error:
            raise FiguresError(str(error)) from None
        replayed = replay_stages(stages(spec, max((neuron for _, neuron in places), default=0)), places)
        return StagePlan(
            tuple(_names_of(frame, stage.columns) for stage in replayed),
            tuple(stage.columns for stage in replayed),
            tuple(stage.rule is not None for stage in replayed),
        )
    at = {name: column for column, name in enumerate(names)}
    for name in (name for group in groups for name in group):
        if name not in at:
            raise FiguresError(f"{frame.run.id} has no neuron named {name!r}. It has {', '.join(names)}.")
    columns = [tuple(at[name] for name in group) for group in groups]
    flat = [column for group in columns for column in group]
    if len(set(flat)) < len(flat) or not all(columns):
        raise FiguresError("Each stage needs a neuron, and each neuron is in one stage only.")
    _check_layers(frame, columns)
    return StagePlan(
        tuple(", ".join(group) for group in groups), tuple(columns), tuple(place > 0 for place in range(len(groups)))
    )


def _check_layers(frame: RunFrame, columns: Sequence[tuple[int, ...]]) -> None:
    """Later layers have read all of the layers before: they are exact only after these."""
    asked: set[int] = set()
    for group in columns:
        for column in group:
            layer = frame.places[column][0]
            earlier = {place_column for place_column, place in enumerate(frame.places) if place[0] < layer}
            if not earlier <= asked:
                raise FiguresError(
                    f"{frame.names[column]} has read all of layer {layer - 1}: put these neurons into earlier stages."
                )
        asked |= set(group)


def _names_of(frame: RunFrame, columns: Sequence[int]) -> str:
    layers = {frame.places[column][0] for column in columns}
    if len(layers) == 1 and len(columns) > 1:
        return f"layer {layers.pop()}"
    return ", ".join(frame.names[column] for column in columns)


def run_cascade(
    store: Store,
    frame: RunFrame,
    rule: str = "orders-agree",
    groups: Sequence[Sequence[str]] = (),
    *,
    after: str = "",
    aggregation: VoteRule = "c2_all",
) -> RunCascade:
    """What a cascade would have said of a run's pairs. ``rule`` is written as ``--stop-when`` takes it; ``groups`` and
    ``after`` as in :func:`plan_stages`.

    :raises FiguresError: the rule or the stages cannot be used.
    """
    try:
        stop = read_stop_rule(rule)
    except NetworkError as error:
        raise FiguresError(str(error)) from None
    plan = plan_stages(frame, groups, after=after)
    if not plan.columns:
        raise FiguresError(f"{frame.run.id}: no pair is finished.")
    calls, rules = frame.what_if_calls(), frame.spec.aggregation
    replayed = replay(calls, plan.with_rule(stop), rules, aggregation)
    last = replay(calls, (ReplayStage(plan.columns[-1], None),), rules, aggregation)
    prices = _prices(store, frame)
    return RunCascade(
        **vars(_replayed(frame, plan, stop, replayed, prices)),
        run=frame.run.id,
        aggregation=aggregation,
        rule=stop_rule_text(stop),
        accuracy=replayed.accuracy,
        accuracy_ci=replayed.interval,
        n_used=replayed.n_used,
        labelled=int((calls.human > 0).sum()),
        unknown=int((~replayed.known).sum()),
        last_accuracy=last.accuracy,
        last_accuracy_ci=last.interval,
        last_n_used=last.n_used,
        variants=variants(frame, plan, (stop_rule_text(stop), *OTHER_RULES), aggregation),
    )


def _replayed(
    frame: RunFrame, plan: StagePlan, rule: StopRule | None, cascade_replay: CascadeReplay, prices: Prices
) -> CascadeFigures:
    pairs = int(cascade_replay.known.sum())
    rows = []
    for place, (name, columns) in enumerate(zip(plan.names, plan.columns, strict=True)):
        asked = int((cascade_replay.known & (cascade_replay.reached > place)).sum())
        later = place < len(plan.names) - 1
        calls_made = int(cascade_replay.calls[:, place].sum())
        each = cascade_replay.calls_most[:, place]
        known = cascade_replay.known & ~np.isnan(each)
        # Where a stage is not on record for a pair that does not need it, it would have as many calls as elsewhere.
        most = round(float(each[known].mean()) * pairs) if known.any() else 0
        cost, reason = _cost(prices, (frame.places[column] for column in columns))
        rows.append(
            StageFigures(
                name=name,
                rule=stop_rule_text(rule if plan.asks[place] else None),
                asked=asked,
                n_total=pairs,
                share=asked / pairs if pairs else None,
                decided=int((cascade_replay.known & (cascade_replay.reached == place + 1)).sum()) if later else 0,
                calls=calls_made,
                calls_most=most,
                price=None if cost is None else cost * calls_made,
                price_saved=None if cost is None else cost * (most - calls_made),
                reason=(reason if pairs else _NO_PAIR) or None,
            )
        )
    return _totals(rows, sum(row.decided for row in rows))


def variants(
    frame: RunFrame, plan: StagePlan, rules: Sequence[str], aggregation: VoteRule = "c2_all"
) -> tuple[VariantFigures, ...]:
    """The stages without a rule and under each of ``rules``; a rule that decides no pair, or all before the last stage
    is asked at all, stands there as well."""
    calls = frame.what_if_calls()
    whole = replay(calls, plan.with_rule(None), frame.spec.aggregation, aggregation)
    cheaper = [_variant("never", whole, whole, calls)]
    for text in dict.fromkeys(rules):
        if text != "never":
            mine = replay(calls, plan.with_rule(read_stop_rule(text)), frame.spec.aggregation, aggregation)
            cheaper.append(_variant(text, mine, whole, calls))
    return tuple(cheaper)


def _variant(rule: str, cascade_replay: CascadeReplay, whole: CascadeReplay, calls: Calls) -> VariantFigures:
    known = int(cascade_replay.known.sum())
    against = change(cascade_replay, whole, calls.human, calls.questions).test
    both = cascade_replay.known & whole.known
    most = int(whole.calls[both].sum())
    reason = None
    if cascade_replay.accuracy is None:
        reason = "no pair has both a human label and a verdict"
    elif against.interval is None:
        reason = "no interval of the difference: too few questions"
    return VariantFigures(
        rule=rule,
        accuracy=cascade_replay.accuracy,
        accuracy_ci=cascade_replay.interval,
        n_used=cascade_replay.n_used,
        calls_per_pair=float(cascade_replay.calls.sum()) / known if known else None,
        calls_share=float(cascade_replay.calls[both].sum()) / most if most else None,
        last_share=float((cascade_replay.reached[cascade_replay.known] == cascade_replay.calls.shape[1]).mean())
        if known
        else None,
        difference=against.difference,
        difference_ci=Interval(0.0, 0.0)
        if cascade_replay is whole and against.difference is not None
        else against.interval,
        reason=reason,
    )
