"""A run's figures with intervals that are valid however often one looks, and the rule that stopped it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from judgenet.core.labels import Chosen
from judgenet.figures.base import Keys
from judgenet.stats.anytime import ALPHA, AnytimeRate
from judgenet.stats.intervals import Interval
from judgenet.store.anytime import (
    TurnPairs,
    anytime_accuracy,
    anytime_corrected_rate,
    anytime_human_rate,
    anytime_win_rate,
    turn_pairs,
)
from judgenet.store.frame import RunFrame
from judgenet.store.runs import RunInfo

CHOSEN_PAIRS: Final = (
    "the run chose its pairs by their verdicts (--matches auto): they are no random sample, and rates over all of them "
    "say little; see the ranking"
)


def chosen_pairs_notes(frame: RunFrame) -> tuple[str, ...]:
    """The note that a run chose the pairs that it judged by their verdicts; empty where it did not, or judged all."""
    return (CHOSEN_PAIRS,) if turn_pairs(frame).chosen else ()


@dataclass(frozen=True)
class AnytimeEstimate:
    """A mean with a 95 % interval that is valid at any time."""

    value: float | None
    ci: Annotated[Interval | None, "valid however often one looks: a confidence sequence, without approximation"]
    n: Annotated[int, "pairs that count; of a corrected rate, labelled ones"]
    n_questions: Annotated[int, "their questions: the units"]
    reason: str | None


@dataclass(frozen=True)
class AnytimeWinRate(AnytimeEstimate):
    """A win rate, with the evidence against one half."""

    e_value: Annotated[float | None, "against a rate of 1/2; 20 or more excludes it"]
    p: Annotated[float | None, "1 / e, valid at whatever pair one stops"]


@dataclass(frozen=True)
class AnytimeFigures:
    """The figures of one aggregation's verdicts, with intervals that are valid at any time."""

    win_rate: Annotated[AnytimeWinRate, "of B, ties as half, by the verdicts as they are"]
    accuracy: Annotated[AnytimeEstimate, "share of the labelled pairs whose verdict is the label"]
    corrected: Annotated[
        AnytimeEstimate,
        "win rate of B corrected by labels of pairs drawn at random (difference estimator, and the labels alone); a "
        "union bound over three intervals",
    ]
    human_only: Annotated[AnytimeEstimate, "win rate of B by the labels alone"]


@dataclass(frozen=True)
class UntilFigures:
    """The rule of `run --until`, and what met it."""

    rule: str
    met: bool
    figure: Annotated[str | None, "`win_rate`, `accuracy` or `corrected`"]
    aggregation: str | None
    value: float | None
    ci: Interval | None
    e_value: Annotated[float | None, "none of a corrected rate, or where a width was asked for"]
    pairs: Annotated[int | None, "pairs that counted when it was met"]
    n_questions: int | None
    n_total: Annotated[int | None, "pairs of the run"]
    reason: str | None


@dataclass(frozen=True)
class RunAnytime:
    """A run's figures with intervals that are valid at any time."""

    alpha: float
    aggregations: Annotated[Mapping[str, AnytimeFigures], Keys(("NAME",))]
    n: Annotated[int, "pairs that count: their turn has come, and that of their whole question"]
    waiting: Annotated[int, "finished pairs that do not count yet"]
    n_total: Annotated[int, "pairs of the run"]
    order: Annotated[Literal["drawn", "file"], "in which pairs are asked and count: drawn by a seed, or as they come"]
    notes: tuple[str, ...]


def run_anytime(
    frame: RunFrame,
    aggregations: Iterable[str] | None = None,
    chosen: Chosen | None = None,
    used: NDArray[np.bool_] | None = None,
) -> RunAnytime:
    """The figures of these aggregations (``None``: all) at any time. ``chosen`` says how the labelled pairs were chosen
    (``None``: as is kept of each label), ``used`` which labels a corrected rate may use, a value a pair."""
    turn = turn_pairs(frame)
    names = tuple(frame.aggregations if aggregations is None else aggregations)
    return RunAnytime(
        alpha=ALPHA,
        aggregations={name: anytime_figures(frame, name, turn, chosen, used) for name in names},
        n=len(turn.pairs),
        waiting=turn.waiting,
        n_total=len(frame),
        order="drawn" if turn.drawn else "file",
        notes=tuple(_notes(frame, turn)),
    )


def anytime_figures(
    frame: RunFrame,
    aggregation: str,
    turn: TurnPairs,
    chosen: Chosen | None = None,
    used: NDArray[np.bool_] | None = None,
) -> AnytimeFigures:
    """The figures of one aggregation over the pairs that count."""
    rate = anytime_win_rate(frame, aggregation, turn)
    evidence = rate.evidence
    return AnytimeFigures(
        win_rate=AnytimeWinRate(
            **_estimate(rate),
            e_value=None if evidence is None else evidence.e_value,
            p=None if evidence is None else evidence.p,
        ),
        accuracy=AnytimeEstimate(**_estimate(anytime_accuracy(frame, aggregation, turn))),
        corrected=AnytimeEstimate(**_estimate(anytime_corrected_rate(frame, aggregation, turn, chosen, used))),
        human_only=AnytimeEstimate(**_estimate(anytime_human_rate(frame, aggregation, turn, chosen, used))),
    )


def _estimate(anytime_rate: AnytimeRate) -> dict[str, Any]:
    return {
        "value": anytime_rate.value,
        "ci": anytime_rate.interval,
        "n": anytime_rate.n,
        "n_questions": anytime_rate.units,
        "reason": anytime_rate.reason or None,
    }


def _notes(frame: RunFrame, turn: TurnPairs) -> Iterable[str]:
    if turn.chosen:
        yield CHOSEN_PAIRS
    elif not turn.drawn and len(turn.pairs) < len(frame):
        yield (
            "pairs were asked in the order of the file: what is in so far is a fair sample only where that order is "
            "random (run --until draws one)"
        )


def until_figures(run: RunInfo) -> UntilFigures | None:
    """The rule of a run and what met it, from its record; ``None`` where it had none."""
    kept = run.record.get("until")
    if not isinstance(kept, Mapping) or not isinstance(kept.get("rule"), str):
        return None
    met = bool(kept.get("met"))
    ends = kept.get("interval")
    reason = None
    if not met:
        reason = "the rule was not met"
    elif kept.get("e_value") is None:
        reason = "an e-value is made of a win rate or an accuracy that is held against a value"
    return UntilFigures(
        rule=kept["rule"],
        met=met,
        figure=kept.get("figure"),
        aggregation=kept.get("aggregation"),
        value=kept.get("value"),
        ci=None if ends is None else Interval(*ends),
        e_value=kept.get("e_value"),
        pairs=kept.get("pairs"),
        n_questions=kept.get("questions"),
        n_total=kept.get("of"),
        reason=reason,
    )
