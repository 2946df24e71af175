"""What a panel of neurons is worth, which neurons are alike, and which adds most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, get_args

import numpy as np

from judgenet.figures.base import ASKED, Figures
from judgenet.figures.curve import NO_SHARED_NEURONS
from judgenet.figures.errors import FiguresError
from judgenet.figures.panel_worth import PanelWorth, VotesFigures, panel_worth, votes_figures
from judgenet.figures.parts import MeanFigures, mean_figures
from judgenet.stats.correlation_map import CorrelationMap, correlation_map, merged
from judgenet.stats.effective_votes import effective_votes
from judgenet.stats.learning import FOLDS
from judgenet.stats.panel_choice import LARGEST, ChoiceRule, PanelChoice, choose_panels
from judgenet.store.frame import RunFrame

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class MergeFigures:
    """Two branches that the dendrogram joins."""

    left: Annotated[tuple[str, ...], "neurons of a branch that the dendrogram joins with another, the closest first"]
    right: Annotated[tuple[str, ...], "neurons of the other branch"]
    distance: Annotated[float, "1 - r, the mean over the pairs of neurons of the two branches"]


@dataclass(frozen=True)
class CorrelationFigures:
    """How alike the neurons err, or decide."""

    r: Annotated[
        tuple[tuple[float | None, ...], ...],
        "Pearson's correlations, a row and a column for each of `neurons`; null where one of the two does not vary",
    ]
    n: Annotated[tuple[tuple[int, ...], ...], "the pairs that each rests on"]
    order: Annotated[tuple[str, ...], "the neurons in the order of the dendrogram: those that are alike stand together"]
    merges: Annotated[tuple[MergeFigures, ...], "average linkage"]
    pairs: Annotated[int, "pairs that they rest on"]
    pairs_total: int
    reason: str | None


@dataclass(frozen=True)
class StepFigures:
    """A panel that is chosen, of one neuron more than the one before."""

    size: Annotated[int, "neurons of the panel"]
    neuron: Annotated[str, "the neuron that is added at this step, by all labelled pairs"]
    accuracy: Annotated[MeanFigures, "of the panel's majority, cross-fitted; a tied vote is a tie"]
    tied: Annotated[float, "share of tied votes"]
    votes: Annotated[float | None, "effective votes, by the mean correlation of errors on held-out pairs"]
    random: Annotated[float, "the mean accuracy of all panels of this size, on the same pairs"]
    gain: Annotated[MeanFigures, "what the chosen panel has more"]
    with_first: Annotated[float, "the mean accuracy of all panels of this size that hold the neuron chosen first"]
    gain_over_first: Annotated[MeanFigures, "what the chosen panel has more"]
    reason: Annotated[str | None, "why there are no votes"]


@dataclass(frozen=True)
class ChoiceFigures:
    """Panels chosen step by step, by size."""

    steps: tuple[StepFigures, ...]
    n: Annotated[int, "pairs with a human label and a verdict"]
    n_total: Annotated[int, "all pairs"]
    folds: Annotated[int, "parts of the questions; a panel is measured on one and chosen on the others"]
    reason: Annotated[str | None, "why no panel is chosen"]


@dataclass(frozen=True)
class ByBasis:
    """The correlations by what is correlated."""

    errors: Annotated[CorrelationFigures, "of errors against human labels"]
    verdicts: Annotated[CorrelationFigures, "of verdicts, which needs no labels"]


@dataclass(frozen=True)
class ByRule:
    """Chosen panels by the rule that chooses."""

    votes: Annotated[ChoiceFigures, "the next neuron is the one with which the panel is worth most effective votes"]
    labels: Annotated[ChoiceFigures, "the next neuron is the one with which the majority is right most often"]


@dataclass(frozen=True)
class SetWorth:
    """What a chosen set of neurons is worth."""

    neurons: Annotated[tuple[str, ...], "the set that was asked for"]
    errors: Annotated[VotesFigures, "what it is worth, by errors"]
    verdicts: Annotated[VotesFigures, "by verdicts, which needs no labels"]


@dataclass(frozen=True)
class PanelStudy:
    """Which neurons of a run go together, and which adds most."""

    neurons: Annotated[tuple[str, ...], "the names of the neurons"]
    correlations: ByBasis
    choice: ByRule


@dataclass(frozen=True, repr=False)
class RunPanel(PanelStudy, Figures):
    """What the panel of a run's neurons is worth, which neurons go together, and which adds most."""

    run: str
    seed: Annotated[int, "of the folds and of the resamples"]
    worth: Annotated[PanelWorth, "how many independent votes the neurons are worth"]
    chosen: Annotated[SetWorth | None, ASKED]

    def to_frame(self) -> pd.DataFrame:
        """The chosen panels, a row a rule and size."""
        import pandas as pd

        rows = []
        for rule, choice in (("votes", self.choice.votes), ("labels", self.choice.labels)):
            for step in choice.steps:
                low, high = step.accuracy.ci or (None, None)
                rows.append(
                    {
                        "rule": rule,
                        "size": step.size,
                        "neuron": step.neuron,
                        "votes": step.votes,
                        "accuracy": step.accuracy.value,
                        "accuracy_low": low,
                        "accuracy_high": high,
                        "tied": step.tied,
                        "random": step.random,
                        "with_first": step.with_first,
                        "n": step.accuracy.n,
                    }
                )
        return pd.DataFrame(rows)


def run_panel(frame: RunFrame, neurons: Sequence[str] = (), *, most: int = LARGEST, seed: int = 0) -> RunPanel:
    """The panel of a run's neurons; ``neurons`` name a set to be valued by itself, ``most`` is the largest panel that
    is chosen.

    :raises FiguresError: a neuron has no such name, or the run no neuron.
    """
    if not frame.places:
        raise FiguresError(f"{frame.run.id} has no neuron with a call on a finished pair yet.")
    names = frame.names
    for name in neurons:
        if name not in names:
            listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
            raise FiguresError(f"{frame.run.id} has no neuron {name}. Its neurons are: {listed}.")
    columns = [names.index(name) for name in dict.fromkeys(neurons)]
    return RunPanel(
        **vars(panel_study(frame, most=most, seed=seed)),
        run=frame.run.id,
        seed=seed,
        worth=panel_worth(frame, seed=seed),
        chosen=set_worth(frame, columns, seed=seed) if columns else None,
    )


def panel_study(frame: RunFrame, *, most: int = LARGEST, seed: int = 0) -> PanelStudy:
    """Which neurons go together, and the panels of up to ``most`` that each rule chooses."""
    names, said, human = frame.names, frame.neurons, frame.human
    choices = {
        rule: _no_choice(frame, rule)
        if frame.spec.roles.kind == "criteria"
        else choice_figures(choose_panels(said, human, frame.questions, rule, most=most, seed=seed), names)
        for rule in get_args(ChoiceRule)
    }
    return PanelStudy(
        neurons=names,
        correlations=ByBasis(
            errors=correlation_figures(correlation_map(said, human), names),
            verdicts=correlation_figures(correlation_map(said, human, by_errors=False), names),
        ),
        choice=ByRule(**choices),
    )


def _no_choice(frame: RunFrame, rule: ChoiceRule) -> ChoiceFigures:
    """A run whose neurons are the criteria of each pair has none that all pairs share."""
    return choice_figures(PanelChoice(rule, (), 0, len(frame), FOLDS, NO_SHARED_NEURONS), frame.names)


def set_worth(frame: RunFrame, columns: Sequence[int], *, seed: int = 0) -> SetWorth:
    """What the neurons of some columns (places in ``frame.names``) are worth."""
    errors, verdicts = (
        votes_figures(
            effective_votes(
                frame.neurons, frame.human, frame.questions, columns=columns, by_errors=by_errors, seed=seed
            )
        )
        for by_errors in (True, False)
    )
    return SetWorth(tuple(frame.names[column] for column in columns), errors, verdicts)


def correlation_figures(correlations: CorrelationMap, names: Sequence[str]) -> CorrelationFigures:
    """Correlations and dendrogram; ``names`` are those of the neurons."""
    branches = [(place,) for place in range(len(names))] + merged(correlations.merges, len(names))
    return CorrelationFigures(
        r=tuple(tuple(None if np.isnan(value) else float(value) for value in row) for row in correlations.r),
        n=tuple(tuple(int(count) for count in row) for row in correlations.n),
        order=tuple(names[place] for place in correlations.order),
        merges=tuple(
            MergeFigures(
                tuple(names[place] for place in branches[merge.left]),
                tuple(names[place] for place in branches[merge.right]),
                merge.distance,
            )
            for merge in correlations.merges
        ),
        pairs=correlations.pairs,
        pairs_total=correlations.pairs_total,
        reason=correlations.reason or None,
    )


def choice_figures(panel_choice: PanelChoice, names: Sequence[str]) -> ChoiceFigures:
    """Chosen panels; ``names`` are those of the neurons."""
    steps = tuple(
        StepFigures(
            size=step.size,
            neuron=names[step.column],
            accuracy=mean_figures(step.accuracy),
            tied=step.tied,
            votes=step.votes,
            random=step.random,
            gain=mean_figures(step.gain),
            with_first=step.with_first,
            gain_over_first=mean_figures(step.gain_over_first),
            reason=None if step.votes is not None else "no two neurons of the panel both err and are right",
        )
        for step in panel_choice.steps
    )
    return ChoiceFigures(steps, panel_choice.n, panel_choice.n_total, panel_choice.folds, panel_choice.reason or None)
