"""How many labelled pairs show a difference of two networks, as figures and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from judgenet.core.wording import minus, percent, percent_interval, plural
from judgenet.figures.base import figures_of
from judgenet.figures.parts import Reasons
from judgenet.stats.intervals import Interval
from judgenet.stats.power import ComparisonPlan, Discordance, PilotSource


@dataclass(frozen=True)
class DiscordanceFigures:
    """How often one alone of two networks is right."""

    value: Annotated[float | None, "how often one alone of the two networks is right"]
    ci: Annotated[Interval | None, "Wilson's"]
    count: Annotated[int | None, "pairs that one alone gets right"]
    n: Annotated[int | None, "of so many labelled pairs that both judged"]
    source: Annotated[
        PilotSource,
        "`runs`: two recorded runs; `accuracy`: that of one run, for a second network whose errors are independent of "
        "it; `given`; `assumed`",
    ]
    words: Annotated[str, "the same in words"]
    reasons: Reasons


@dataclass(frozen=True)
class PowerFigures:
    """How many labelled pairs show a difference of two networks, by McNemar's exact test."""

    difference: Annotated[float, "the difference of the accuracies to be seen"]
    power: Annotated[float, "how probably the test is to find it"]
    alpha: Annotated[float, "the level of the test, two-sided"]
    discordance: DiscordanceFigures
    design_effect: Annotated[float, "multiplies the pairs, as pairs of one question are alike; 1 where none repeats"]
    pairs: Annotated[int | None, "labelled pairs that both must judge, for the exact test"]
    pairs_formula: Annotated[int | None, "by Connor's formula (1987), for the test by chi squared"]
    pairs_ci: Annotated[tuple[int, int] | None, "the pairs at the ends of the discordance's interval"]
    n: Annotated[int | None, "labelled pairs there are"]
    power_at_n: Annotated[float | None, "the power with these"]
    smallest: Annotated[float | None, "the smallest difference that these show with the power asked for"]
    words: Annotated[str, "the plan in a sentence"]
    reason: str | None
    reasons: Reasons


def discordance_words(discordance: Discordance) -> str:
    """Where a discordance comes from."""
    if discordance.share is None:
        return discordance.reason
    share = percent(discordance.share)
    if discordance.source == "runs":
        return (
            f"one alone of the two is right on {discordance.count:,} of {discordance.n:,} labelled pairs that both "
            f"judged ({share} {percent_interval(discordance.interval)})"
        )
    if discordance.source == "accuracy":
        return (
            f"one alone of the two is right on {share} of the pairs, if a second network errs independently of this "
            f"one (accuracy on {discordance.n:,} labelled pairs); two that share errors need fewer pairs"
        )
    how = "assumed" if discordance.source == "assumed" else "given"
    return f"one alone of the two is right on {share} of the pairs ({how})"


def short_basis(discordance: Discordance) -> str:
    """Where a discordance comes from, in a few words."""
    share = percent(discordance.share)
    return {
        "runs": f"two runs differ in who is right on {share}",
        "accuracy": f"if errors are independent, {share} discordant",
        "given": f"{share} discordant, given",
        "assumed": f"{share} discordant, assumed",
    }[discordance.source]


def in_points(share: float) -> str:
    """A size of a difference: ``3 points``, ``1 point``."""
    size = f"{100 * share:.1f}".removesuffix(".0")
    return f"{minus(size)} point{'' if size == '1' else 's'}"


def plan_words(plan: ComparisonPlan) -> str:
    """How many pairs a difference needs, in a sentence without its full stop."""
    head = f"To see a difference of {in_points(plan.difference)} with {100 * plan.power:g} % power at {plan.alpha:g}"
    if plan.pairs is None:
        return f"{head}: not known, {plan.reason}"
    return f"{head}: {plural(plan.pairs, 'labelled pair')}"


def at_words(plan: ComparisonPlan) -> str:
    """What the labelled pairs there are can show; empty where there are none or nothing is known."""
    if plan.n is None or plan.power_at is None:
        return ""
    text = f"With the {plural(plan.n, 'labelled pair')} there are, the power is {percent(plan.power_at)}"
    if plan.smallest is not None:
        text += f"; the smallest difference they show with {100 * plan.power:g} % is {in_points(plan.smallest)}"
    return text


@figures_of.register(Discordance)
def discordance_figures(discordance: Discordance) -> DiscordanceFigures:
    """How often one alone of two networks is right."""
    why = discordance.reason or f"the discordance is {discordance.source}, not counted"
    if discordance.source == "accuracy":
        why = discordance.reason or "reckoned from the accuracy of one run"
    values = {"value": discordance.share, "ci": discordance.interval, "count": discordance.count, "n": discordance.n}
    return DiscordanceFigures(
        discordance.share,
        discordance.interval,
        discordance.count,
        discordance.n,
        discordance.source,
        discordance_words(discordance),
        {name: why for name, value in values.items() if value is None},
    )


@figures_of.register(ComparisonPlan)
def power_figures(plan: ComparisonPlan) -> PowerFigures:
    """The plan of a comparison."""
    no_pairs = plan.reason or plan.smallest_reason or "no run says how many labelled pairs there are"
    ends = None
    if plan.range is not None and plan.range[0] is not None and plan.range[1] is not None:
        ends = plan.range[0], plan.range[1]
    reasons = {
        "pairs": plan.reason if plan.pairs is None else "",
        "pairs_formula": plan.reason if plan.formula is None else "",
        "pairs_ci": (plan.reason or "the discordance has no interval") if ends is None else "",
        "n": no_pairs if plan.n is None else "",
        "power_at_n": no_pairs if plan.power_at is None else "",
        "smallest": (plan.smallest_reason or no_pairs) if plan.smallest is None else "",
    }
    return PowerFigures(
        difference=plan.difference,
        power=plan.power,
        alpha=plan.alpha,
        discordance=discordance_figures(plan.discordance),
        design_effect=plan.discordance.effect,
        pairs=plan.pairs,
        pairs_formula=plan.formula,
        pairs_ci=ends,
        n=plan.n,
        power_at_n=plan.power_at,
        smallest=plan.smallest,
        words=f"{plan_words(plan)}.",
        reason=plan.reason or None,
        reasons={name: why for name, why in reasons.items() if why},
    )
