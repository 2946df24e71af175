"""The section of a report about effective votes: how many independent votes the neurons are worth, which of them are
alike, and which adds most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgenet.core.wording import (
    capitalized,
    minus,
    of,
    percent,
    percent_with_interval,
    plural,
    ratio,
    ratio_with_interval,
)
from judgenet.figures.panel import ChoiceFigures, CorrelationFigures, PanelStudy, StepFigures
from judgenet.figures.panel_worth import PanelWorth, VotesFigures
from judgenet.figures.parts import MeanFigures
from judgenet.report.blocks import Block, Bullets, Figure, Given, Line, Paragraph, Row, Section, Strong, Table
from judgenet.report.correlation_chart import MOST_NAMED, CorrelationLayout, correlation_drawing
from judgenet.report.model import Report

_FORMULA = "n / (1 + (n − 1) r)".replace(" ", "\u00a0")
KISH = (
    f"n neurons whose errors have the mean correlation r are worth {_FORMULA} independent votes (Kish 1965). Without "
    "labels the verdicts themselves are correlated: neurons that are right together are alike too, so that this counts "
    "fewer votes."
)
CHOSEN = (
    "Each pair is judged by a panel that was chosen on other questions; a tied vote is a tie. A panel that beats the "
    "mean of all panels of its size, but not of those with the same first neuron, owes that to its first neuron alone."
)
LATER = "A neuron of a later layer has read others: a panel with it needs their calls too."
MOST_TWOS = 12


def panel_section(report: Report) -> Iterable[Block]:
    """Effective votes, correlations of the neurons, and which neuron adds most."""
    more = report.more
    if more is None or more.worth is None or more.panel is None:
        return
    yield Section("Effective votes", plural(len(more.panel.neurons), "neuron"))
    yield Table(
        ("", "Correlated", "Neurons", "Effective votes", "Mean correlation", "Pairs"),
        (False, False, True, True, True, True),
        tuple(_worth_row(name, basis, worth) for name, basis, worth in worth_rows(more.worth)),
    )
    missing = more.worth.network.n_missing
    if missing:
        yield Paragraph((f"By errors, a missing verdict counts as not right ({missing:,} missing on these pairs).",))
    reasons = worth_reasons(worth_rows(more.worth))
    if reasons:
        yield Bullets(tuple((Given(name), f": {why}.") for name, why in reasons))
    yield Paragraph((KISH,), "note")
    yield from _together(more.panel)
    yield from _adds(more.panel, layers=len(more.worth.layers))


def worth_rows(worth: PanelWorth) -> Iterator[tuple[str, str, VotesFigures]]:
    """A name, what is correlated and what the set is worth: all neurons, then layers and models where there are
    several of them, and of several neurons. Layers and models are by errors, or by verdicts without labels."""
    yield "All neurons", "errors", worth.network
    yield "All neurons", "verdicts", worth.verdicts
    known = worth.network.value is not None
    basis = "errors" if known else "verdicts"
    layers, models = (worth.layers, worth.models) if known else (worth.layers_by_verdicts, worth.models_by_verdicts)
    named = {f"Layer {name.removeprefix('l')}": votes for name, votes in layers.items()} if len(layers) > 1 else {}
    named |= models if len(models) > 1 else {}
    for name, votes in named.items():
        if votes.neurons > 1:
            yield name, basis, votes


def worth_reasons(rows: Iterable[tuple[str, str, VotesFigures]]) -> list[tuple[str, str]]:
    """Which sets have no figure or no interval, and why."""
    return [
        (f"{name}, by {basis}", f"{'n/a' if worth.value is None else 'no interval'} – {worth.reason}")
        for name, basis, worth in rows
        if worth.reason
    ]


def _worth_row(name: str, basis: str, votes_figures: VotesFigures) -> Row:
    return Row(
        (
            (Given(name),),
            (basis,),
            (f"{votes_figures.neurons:,}",),
            (ratio_with_interval(votes_figures.value, votes_figures.ci),),
            (ratio(votes_figures.correlation),),
            (of(votes_figures.n, votes_figures.n_total),),
        )
    )


def _together(panel: PanelStudy) -> Iterable[Block]:
    """The heat map of correlations, or the most similar neurons where they are too many for one."""
    basis, correlations = shown_basis(panel)
    if correlations.reason is not None:
        return
    yield Section(f"Correlation of {basis}", of(correlations.pairs, correlations.pairs_total) + " pairs", level=3)
    table = _twos(panel, correlations)
    if len(panel.neurons) <= MOST_NAMED:
        yield Figure(correlation_drawing(CorrelationLayout(correlations, panel.neurons), basis), table)
    else:
        yield table
        drawn = f"The map is drawn for up to {MOST_NAMED} neurons; the JSON form has all correlations."
        yield Paragraph((drawn,), "note")


def shown_basis(panel: PanelStudy) -> tuple[str, CorrelationFigures]:
    """What is correlated, and the correlations: of errors where they are known, else of verdicts."""
    errors = panel.correlations.errors
    return ("errors", errors) if errors.reason is None else ("verdicts", panel.correlations.verdicts)


def _twos(panel: PanelStudy, correlation_figures: CorrelationFigures) -> Table:
    twos = [
        (r, correlation_figures.n[row][column], panel.neurons[row], panel.neurons[column])
        for row, values in enumerate(correlation_figures.r)
        for column, r in enumerate(values[:row])
        if r is not None
    ]
    twos.sort(reverse=True)
    rows = (Row(((Given(first), " and ", Given(second)), (ratio(r),), (f"{n:,}",))) for r, n, first, second in twos)
    return Table(("Most alike", "r", "Pairs"), (False, True, True), tuple(rows)[:MOST_TWOS])


def _adds(panel: PanelStudy, layers: int) -> Iterable[Block]:
    choices = {
        "Chosen by effective votes": panel.choice.votes,
        "Chosen by labels": panel.choice.labels,
    }
    if all(choice.reason is not None for choice in choices.values()):
        return
    yield Section("Which neuron adds most", "cross-fitted over questions", level=3)
    for title, choice in choices.items():
        if choice.reason is not None:
            yield Paragraph((Strong(f"{title}: n/a. "), f"{capitalized(choice.reason)}."))
            continue
        yield _choice_table(title, choice)
    yield Paragraph((chosen_note(layers),), "note")


def chosen_note(layers: int) -> str:
    """A note to show with chosen panels of a network with ``layers`` layers."""
    return f"{CHOSEN} {LATER}" if layers > 1 else CHOSEN


def _choice_table(title: str, choice_figures: ChoiceFigures) -> Table:
    heads = (title, "Effective votes", "Accuracy, %", "All of this size, %", "With the first, %", "More, points")
    return Table(heads, (False, True, True, True, True, True), tuple(_step_row(step) for step in choice_figures.steps))


def _step_row(step: StepFigures) -> Row:
    gain = step.gain_over_first
    name: Line = (f"{step.size} ", Given(step.neuron))
    return Row(
        (
            name,
            (ratio(step.votes),),
            (percent_with_interval(step.accuracy.value, step.accuracy.ci),),
            (percent(step.random, unit=False),),
            (percent(step.with_first, unit=False),),
            ("–" if step.size == 1 else f"{gain_text(gain)}",),
        )
    )


def gain_text(gain: MeanFigures) -> str:
    """A difference in points with its interval."""
    if gain.value is None:
        return "n/a"
    if gain.ci is None:
        return minus(f"{100 * gain.value:+.1f}")
    value, low, high = (minus(f"{100 * share:+.1f}") for share in (gain.value, *gain.ci))
    return f"{value} [{low}, {high}]"
