"""Whether the judges of a run may stand in for its annotators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from judgenet.core.wording import percent
from judgenet.figures.base import Figures, Keys, figures_of
from judgenet.figures.parts import MeanFigures, mean_figures
from judgenet.stats.alt_test import EPSILON, LEVEL, AltTest, AnnotatorLeftOut, alt_test
from judgenet.stats.curves import CODES, Codes
from judgenet.store.frame import RunFrame

WHO = ((0.2, "experts"), (0.15, "skilled annotators"), (0.1, "crowd workers"))
"""The epsilon that the paper advises, by the kind of annotators."""


@dataclass(frozen=True)
class LeftOutFigures:
    """A judge against one annotator, both compared with the other annotators."""

    judge: Annotated[float | None, "how often the judge is at least as close to the other annotators as this one"]
    annotator: Annotated[float | None, "how often this annotator is at least as close to them as the judge"]
    difference: Annotated[float | None, "annotator less judge"]
    p: Annotated[float | None, "one-sided, of a difference below epsilon"]
    p_adjusted: Annotated[float | None, "the same, the false discovery rate held over the annotators"]
    won: Annotated[bool | None, "the judge wins against this annotator"]
    n: Annotated[int, "pairs with this annotator's label, another's, and the judge's verdict"]
    n_total: Annotated[int, "pairs that this annotator labelled"]
    n_questions: Annotated[int, "questions of the pairs used"]
    reason: str | None


@figures_of.register(AnnotatorLeftOut)
def left_out_figures(annotator_left_out: AnnotatorLeftOut) -> LeftOutFigures:
    """A judge against one annotator."""
    return LeftOutFigures(
        judge=annotator_left_out.judge,
        annotator=annotator_left_out.annotator,
        difference=annotator_left_out.difference,
        p=annotator_left_out.p,
        p_adjusted=annotator_left_out.p_adjusted,
        won=annotator_left_out.won,
        n=annotator_left_out.n,
        n_total=annotator_left_out.n_total,
        n_questions=annotator_left_out.questions,
        reason=annotator_left_out.reason or None,
    )


@dataclass(frozen=True)
class AltTestFigures:
    """A judge against all annotators (Alternative Annotator Test, arXiv 2501.10970)."""

    winning_rate: Annotated[float | None, "share of the tested annotators that the judge wins against"]
    won: Annotated[int, "annotators that it wins against"]
    tested: Annotated[int, "annotators with 30 pairs or more"]
    advantage: Annotated[MeanFigures, "how often it is at least as close to the others, the mean over annotators"]
    passes: Annotated[bool | None, "it may replace people: the winning rate is at least .5"]
    annotators: Annotated[Mapping[str, LeftOutFigures], Keys(("ANNOTATOR",)), "against each annotator"]
    reason: str | None


@figures_of.register(AltTest)
def alt_test_figures(result: AltTest) -> AltTestFigures:
    """A judge against all annotators."""
    return AltTestFigures(
        winning_rate=result.winning_rate,
        won=result.won,
        tested=result.tested,
        advantage=mean_figures(result.advantage),
        passes=result.passes,
        annotators={annotator.name: left_out_figures(annotator) for annotator in result.annotators},
        reason=result.reason or None,
    )


@dataclass(frozen=True, repr=False)
class RunAltTest(Figures):
    """Whether the aggregations, layers and neurons of a run may stand in for its annotators."""

    _rows = "aggregations"

    run: str
    epsilon: Annotated[float, "what a judge's lower price is worth, as a share of pairs"]
    fdr: Annotated[float, "the false discovery rate over the annotators (Benjamini and Yekutieli 2001)"]
    pairs: Annotated[int, "pairs of the run"]
    pairs_annotated: Annotated[int, "of these, pairs with the labels of two annotators or more"]
    annotators: Annotated[tuple[str, ...], "who labelled pairs, by name"]
    aggregations: Annotated[
        Mapping[str, AltTestFigures], Keys(("NAME",)), "the verdicts of `c1`, the layers (`c2_l1` …), `c2_all`, `chair`"
    ]
    neurons: Annotated[Mapping[str, AltTestFigures], Keys(("NAME",)), "the neurons, orders merged"]
    reason: Annotated[str | None, "why nothing can be tested"]


def annotator_codes(frame: RunFrame) -> tuple[tuple[str, ...], Codes]:
    """The annotators of a run by name, and what each said of each pair: codes of shape (pairs, annotators)."""
    kinds = frame.pairs.panel_kinds
    names = sorted({name for kind in kinds for name, _ in kind})
    place = {name: column for column, name in enumerate(names)}
    table = np.zeros((len(kinds), len(names)), np.uint8)
    for row, kind in enumerate(kinds):
        for name, verdict in kind:
            table[row, place[name]] = CODES.index(verdict)
    return tuple(names), table[frame.pairs.panels]


def run_alt_test(frame: RunFrame, epsilon: float = EPSILON) -> RunAltTest:
    """The test for each aggregation, layer and neuron of a run.

    :raises ValueError: ``epsilon`` is not from 0 to 1.
    """
    names, labels = annotator_codes(frame)

    def tested(judge: Codes) -> AltTestFigures:
        return alt_test_figures(alt_test(judge, names, labels, frame.groups, epsilon=epsilon))

    aggregations = {name: tested(codes) for name, codes in frame.aggregations.items()}
    neurons = {name: tested(frame.neurons[:, column]) for column, name in enumerate(frame.names)}
    judges = [*aggregations.values(), *neurons.values()]
    reasons = {result.reason for result in judges}
    return RunAltTest(
        run=frame.run.id,
        epsilon=epsilon,
        fdr=LEVEL,
        pairs=len(frame),
        pairs_annotated=int(((labels > 0).sum(axis=1) > 1).sum()),
        annotators=names,
        aggregations=aggregations,
        neurons=neurons,
        reason=reasons.pop() if len(reasons) == 1 else None,
    )


def alt_test_words(figures: AltTestFigures) -> str:
    """The result for a judge, without its full stop."""
    if figures.winning_rate is None:
        return f"not tested: {figures.reason}"
    may = "may replace people" if figures.passes else "may not replace people"
    return (
        f"{may}: it wins against {figures.won:,} of {figures.tested:,} annotators (winning rate "
        f"{percent(figures.winning_rate)})"
    )


def epsilon_words(epsilon: float) -> str:
    """An epsilon and for whom the paper advises it."""
    who = next((words for value, words in WHO if abs(value - epsilon) < 1e-9), "")
    return f"ε = {epsilon:g}{f', advised where annotators are {who}' if who else ''}"
