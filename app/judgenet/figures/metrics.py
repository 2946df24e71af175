"""How a run agrees with people, and how far its judges can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import deciding
from judgenet.core.wording import plural
from judgenet.figures.acceptance import AcceptanceFigures, acceptance_figures
from judgenet.figures.answered import QuorumFigures, StandInFigures, quorum_figures, stand_in_figures
from judgenet.figures.anytime import RunAnytime, UntilFigures, chosen_pairs_notes, run_anytime, until_figures
from judgenet.figures.base import ASKED, OPTIONAL, Figures, Keys
from judgenet.figures.cascade import HARD_PAIRS, CascadeFigures, cascade_figures
from judgenet.figures.criteria import CriteriaFigures, criteria_figures
from judgenet.figures.judge_parts import (
    AnnotatorsFigures,
    DiscussionFigures,
    PanelsFigures,
    RunDiversityFigures,
    UncertaintyFigures,
    annotators_figures,
    discussion_figures,
    diversity_figures,
    panels_figures,
    uncertainty_parts,
)
from judgenet.figures.learned import run_learned_notes
from judgenet.figures.panel_worth import PanelWorth, panel_worth
from judgenet.figures.parts import AgreementFigures, PositionFigures, agreement_figures, position_figures
from judgenet.figures.people import ReviewShareFigures, people_among_themselves
from judgenet.figures.probabilities import ProbabilityFigures, probability_figures, probability_notes
from judgenet.figures.trust import (
    agreements,
    discussion,
    diversity,
    panels,
    uncertainty_figures,
    with_evidence,
)
from judgenet.stats.agreement import position_of_codes
from judgenet.stats.curves import CODES, Codes, right_by_order
from judgenet.stats.panel import Coefficient, each_annotator
from judgenet.stats.provenance import LabelSources
from judgenet.stats.resampling import few_note
from judgenet.stats.uncertainty import conflicts
from judgenet.store.db import Store
from judgenet.store.evidence import SAMPLED_PAIRS
from judgenet.store.frame import RunFrame
from judgenet.store.runs import ScoreSums, Spent, score_sums, spent

Grouping = Literal["task", "human"]
GROUPINGS: Final[tuple[Grouping, ...]] = ("task", "human")


@dataclass(frozen=True)
class RunPairs:
    """The pairs of a run."""

    total: Annotated[int, "pairs of the run"]
    finished: Annotated[int, "pairs whose calls are in"]
    labelled: Annotated[int, "pairs with a human label"]
    not_asked: Annotated[int, "pairs of which no call was asked"]


@dataclass(frozen=True)
class NeuronScores:
    """The scores that a neuron gave, over its calls."""

    calls: Annotated[int, "calls of a neuron that gave both scores"]
    sum_a: Annotated[float | None, "the sum of its scores for A"]
    sum_b: float | None
    mean_a: float | None
    mean_b: Annotated[
        float | None, "where scores are preferences from 0 to 1, such as AlpacaEval's, the win rate of B by them"
    ]
    reason: str | None


@dataclass(frozen=True)
class RunCalls:
    """The calls of a run."""

    finished_pairs_used: Annotated[int, "valid calls of finished pairs"]
    finished_pairs_total: Annotated[int, "all calls of finished pairs"]
    all: Annotated[int, "all calls of the run"]
    scored: Annotated[int, "calls with a verdict"]
    unscored: Annotated[
        Mapping[str, int],
        Keys(("REASON",)),
        "calls without one, by reason: `unparsed`, `out_of_range`, `contradictory`, `truncated`, `refused`, "
        "`filtered`, `empty`, `too_large`, `timeout`, `network`, `server_error`, `rate_limited`, `bad_request`, "
        "`context_length`, `auth`, `quota`, `no_key`, `not_recorded`, `budget`, `cancelled`, `internal`",
    ]


@dataclass(frozen=True)
class RunCost:
    """What a run used."""

    tokens_in: int
    tokens_out: int
    tokens_cached: Annotated[int, "of those in"]
    price: Annotated[float | None, "USD; `null` where the price of a call is unknown"]
    price_known: Annotated[float, "USD of the calls with a known price"]
    calls_unpriced: int
    calls_new: Annotated[int, "calls that this run paid for"]
    calls_from_store: Annotated[int, "calls that were there already"]
    calls_by_batch: Annotated[int, "of the new calls, those that a batch answered"]
    reason: str | None


@dataclass(frozen=True)
class RunLabels:
    """The human labels of a run."""

    used: Annotated[Mapping[str, int], Keys(("CHOSEN",)), "labelled pairs by how they were chosen"]
    left_out: Annotated[Mapping[str, int], Keys(("WHY",)), "pairs that somebody labelled without a label that counts"]
    disputed: Annotated[int, "pairs whose annotators disagree, not settled"]
    settled: Annotated[int, "pairs whose annotators disagreed, settled"]


ByGroup = Mapping[str, Mapping[str, Mapping[str, AgreementFigures]]]


@dataclass(frozen=True, repr=False)
class RunMetrics(Figures):
    """How a run agrees with people, and how far its judges can be trusted."""

    _rows = "aggregations"

    run: Annotated[str, "the run"]
    name: Annotated[str, "what somebody called it (`run --name`)"]
    note: Annotated[str, "what somebody noted of it (`run --note`)"]
    state: Annotated[str, "of the run: running, done, interrupted …"]
    message: Annotated[str, "why it stopped"]
    pairs: RunPairs
    aggregations: Annotated[
        Mapping[str, AgreementFigures],
        Keys(("NAME",)),
        "the verdicts of `c1`, `c2_l1` …, `c2_all`, `chair`, `learned`, `accepted` against people",
    ]
    neurons: Annotated[Mapping[str, AgreementFigures], Keys(("NAME",)), "the neurons, orders merged, against people"]
    position: Annotated[
        Mapping[str, PositionFigures],
        Keys(("NAME",)),
        "the two orders of `c1` (the average over all calls) and of each neuron",
    ]
    scores: Annotated[Mapping[str, NeuronScores], Keys(("NAME",))]
    by: Annotated[
        ByGroup | None,
        ASKED,
        Keys(("GROUPING", "GROUP", "NAME")),
        "the aggregations on the pairs of one task (`--by task`) or one human label (`--by human`)",
    ]
    neurons_by: Annotated[ByGroup | None, ASKED, Keys(("GROUPING", "GROUP", "NAME")), "the neurons on the same pairs"]
    labels: RunLabels
    annotators: Annotated[AnnotatorsFigures, "people among themselves; `h` is how often they agree"]
    review_share: ReviewShareFigures
    calls: RunCalls
    cost: RunCost
    questions: Annotated[int, "different questions: the effective n where pairs share them"]
    notes: Annotated[tuple[str, ...], "what to know when reading these figures"]
    acceptance: Annotated[
        AcceptanceFigures | None,
        OPTIONAL,
        "what the rule accepted and what it left to people; there where the network has a rule that accepts verdicts",
    ]
    quorum: Annotated[QuorumFigures | None, OPTIONAL, "there where the network asks for a quorum"]
    stand_ins: Annotated[StandInFigures | None, OPTIONAL, "there where stand-ins answered calls"]
    uncertainty: Annotated[UncertaintyFigures | None, ASKED, "how sure the network is of each pair (FairEval)"]
    panel: Annotated[PanelsFigures | None, ASKED]
    discussion: Annotated[DiscussionFigures | None, ASKED]
    diversity: Annotated[RunDiversityFigures | None, ASKED]
    effective_votes: Annotated[PanelWorth | None, ASKED, "how many independent votes the neurons are worth"]
    until: Annotated[UntilFigures | None, OPTIONAL, "the rule of `run --until`, and what met it"]
    anytime: Annotated[RunAnytime | None, ASKED, "intervals that are valid at any time (`--anytime`)"]
    cascade: Annotated[CascadeFigures | None, OPTIONAL, "how far the pairs went; only of a network that has stop rules"]
    probabilities: Annotated[
        ProbabilityFigures | None, OPTIONAL, "only of a run that was to be scored by token probabilities"
    ]
    criteria: Annotated[CriteriaFigures | None, OPTIONAL, "the criteria of the pairs; there where a pair has some"]


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What is computed of the judges beyond agreement and position: whose calls say how sure the network is (``all``,
    ``last`` or a neuron), and of how many pairs the evidence is compared."""

    scope: str = "all"
    evidence: int = SAMPLED_PAIRS


def _pairs(frame: RunFrame) -> RunPairs:
    return RunPairs(
        total=len(frame),
        finished=int(frame.judged.sum()),
        labelled=int((frame.human > 0).sum()),
        not_asked=int((~frame.begun & ~frame.judged).sum()),
    )


def _labels(sources: LabelSources) -> RunLabels:
    return RunLabels(
        used={str(name): count for name, count in sources.counted.items()},
        left_out={str(name): count for name, count in sources.left_out.items()},
        disputed=sources.disputed,
        settled=sources.settled,
    )


def _calls(frame: RunFrame, sums: Spent) -> RunCalls:
    return RunCalls(
        finished_pairs_used=int(frame.table.used.sum()),
        finished_pairs_total=int(frame.table.total.sum()),
        all=sums.calls,
        scored=sums.scored,
        unscored=sums.unscored,
    )


def _by_group(frame: RunFrame, said: Mapping[str, Codes], by: Grouping | None, seed: int) -> ByGroup | None:
    """Agreement with people of verdicts (codes of all pairs by name) in each group; ``None`` without a grouping."""
    if by is None:
        return None
    groups = sorted(_groups(frame, by).items())
    return {by: {name: agreement_by_name(frame, said, places, seed=seed) for name, places in groups}}


def run_metrics(
    store: Store,
    frame: RunFrame,
    by: Grouping | None = None,
    *,
    judges: JudgeOptions | None = None,
    anytime: bool = False,
    seed: int = 0,
) -> RunMetrics:
    """Agreement by aggregation and neuron, position, annotators, calls and cost of a run, from its frame
    (:func:`judgenet.store.taught.fair_frame`); with ``judges`` uncertainty, panels, discussion and diversity too, with
    ``anytime`` intervals that are valid at any time.

    :raises KeyError: the run has no such scope.
    """
    run = frame.run
    decides = deciding(frame.spec)
    sums, scores = spent(store, run), score_sums(store, run)
    neurons = {name: frame.neurons[:, place] for place, name in enumerate(frame.names)}
    aggregations = agreement_by_name(frame, frame.aggregations, seed=seed)
    people = people_among_themselves(frame, decides, aggregations[decides], seed=seed)
    panel = people.panel
    of_judges = _NO_JUDGES if judges is None else _judges(store, frame, decides, judges, panel.h, seed)
    return RunMetrics(
        run=run.id,
        name=run.name,
        note=run.note,
        state=run.state,
        message=run.message,
        pairs=_pairs(frame),
        aggregations=aggregations,
        neurons=agreement_by_name(frame, neurons, seed=seed),
        position=_position(frame, seed),
        scores={name: _scores(scores.get(place)) for place, name in zip(frame.places, frame.names, strict=True)},
        by=_by_group(frame, frame.aggregations, by, seed),
        neurons_by=_by_group(frame, neurons, by, seed),
        labels=_labels(frame.sources),
        annotators=annotators_figures(panel, each_annotator(frame.panels), repeated=frame.groups is not None),
        review_share=people.review,
        calls=_calls(frame, sums),
        cost=_cost(sums),
        questions=len(np.unique(frame.questions)),
        notes=(
            *_notes(frame),
            *chosen_pairs_notes(frame),
            *frame.sources.notes,
            *run_learned_notes(frame),
            *probability_notes(frame),
        ),
        acceptance=acceptance_figures(frame),
        quorum=quorum_figures(frame),
        stand_ins=stand_in_figures(store, frame),
        **of_judges._asdict(),
        until=until_figures(run),
        anytime=run_anytime(frame) if anytime else None,
        cascade=cascade_figures(store, frame),
        probabilities=probability_figures(frame, seed),
        criteria=criteria_figures(frame, seed=seed),
    )


class _Judges(NamedTuple):
    """What is computed of the judges where that is asked for."""

    uncertainty: UncertaintyFigures | None
    panel: PanelsFigures | None
    discussion: DiscussionFigures | None
    diversity: RunDiversityFigures | None
    effective_votes: PanelWorth | None


_NO_JUDGES = _Judges(None, None, None, None, None)


def _judges(
    store: Store, frame: RunFrame, decides: str, asked: JudgeOptions, people: Coefficient, seed: int
) -> _Judges:
    """How sure the judges are, how alike, what later layers change and what their votes are worth; ``people`` is how
    often people agree among themselves."""
    unsure = uncertainty_figures(frame, decides, scope=asked.scope, target=people.value, seed=seed)
    likeness = diversity(frame)
    if asked.evidence:
        likeness = with_evidence(likeness, frame, store, frame.run, asked.evidence, seed=seed)
    return _Judges(
        uncertainty=uncertainty_parts(unsure, f"people's agreement is unknown: {people.reason}"),
        panel=panels_figures(panels(frame, seed=seed)),
        discussion=discussion_figures(discussion(frame)),
        diversity=diversity_figures(likeness),
        effective_votes=panel_worth(frame, seed=seed) if frame.places else None,
    )


def _position(frame: RunFrame, seed: int) -> dict[str, PositionFigures]:
    """The two orders of the average over all calls and of each neuron."""
    return {
        name: position_figures(
            position_of_codes(*both, frame.groups),
            conflicts(*both, frame.groups, seed=seed),
            right_by_order(frame.human, *both),
        )
        for name, both in frame.both_orders.items()
    }


def agreement_by_name(
    frame: RunFrame, said: Mapping[str, Codes], places: NDArray[np.intp] | None = None, *, seed: int = 0
) -> dict[str, AgreementFigures]:
    """Agreement with people of verdicts (codes of all pairs by name) on the pairs at ``places`` (``None``: all), with
    intervals over questions where these repeat. Pairs without label or verdict are in ``n_total`` only."""
    questions, human = frame.questions, frame.human
    if places is not None:
        questions, human = np.unique(questions[places], return_inverse=True)[1], human[places]
        said = {name: codes[places] for name, codes in said.items()}
    return {
        name: agreement_figures(*agreement) for name, agreement in agreements(questions, human, said, seed=seed).items()
    }


_NO_GROUP = "(none)"


def _groups(frame: RunFrame, by: Grouping) -> dict[str, NDArray[np.intp]]:
    """The places of the pairs of each task, or of each human label."""
    numbers, names = (frame.pairs.tasks, frame.pairs.task_names) if by == "task" else (frame.human, CODES)
    places = {name or _NO_GROUP: np.flatnonzero(numbers == number) for number, name in enumerate(names)}
    return {name: indexes for name, indexes in places.items() if len(indexes)}


def _scores(sums: ScoreSums | None) -> NeuronScores:
    if sums is None:
        return NeuronScores(0, None, None, None, None, "its calls gave verdicts alone, or none is scored")
    return NeuronScores(sums.calls, sums.a, sums.b, sums.a / sums.calls, sums.b / sums.calls, None)


_MANY = 5


def _notes(frame: RunFrame) -> list[str]:
    notes = []
    questions = len(np.unique(frame.questions))
    if questions < len(frame):
        notes.append(f"the {len(frame):,} pairs hold {questions:,} different questions: intervals are over questions")
        if few := few_note(questions):
            notes.append(few)
    if frame.early is not None:
        notes.append(HARD_PAIRS)
    if frame.spec.roles.kind == "criteria":
        notes.append(
            "neurons are numbered by the place of their criterion, and judge by another one on each question: see the "
            "criteria by name"
        )
    if len(frame.names) >= _MANY:
        notes.append(f"{len(frame.names):,} neurons are compared: the best of them looks better here than it is")
    return notes


def _cost(sums: Spent) -> RunCost:
    return RunCost(
        tokens_in=sums.tokens_in,
        tokens_out=sums.tokens_out,
        tokens_cached=sums.tokens_cached,
        price=None if sums.unpriced else sums.price,
        price_known=sums.price,
        calls_unpriced=sums.unpriced,
        calls_new=sums.calls_new,
        calls_from_store=sums.calls - sums.calls_new,
        calls_by_batch=sums.by_batch,
        reason=f"{plural(sums.unpriced, 'call has', 'calls have')} no known price" if sums.unpriced else None,
    )
