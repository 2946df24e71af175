"""The analyses of a run beyond the counts of its verdicts: people and neurons as panels, who agrees most, how similar
layers are, what people would still have to review, learned weights, smaller networks, a ranking of systems, and how
many labels are needed. All of it comes from the run in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgenet.core.labels import Chosen
from judgenet.core.learned import fixed_role
from judgenet.core.wording import plural
from judgenet.figures.alt_test import RunAltTest, run_alt_test
from judgenet.figures.curve import why_no_smaller
from judgenet.figures.label_plan import sample_plan
from judgenet.figures.learned import WARNINGS, WAY_TITLES, LessOther, Way, compared_votes, ways_against_people
from judgenet.figures.panel import PanelStudy, panel_study
from judgenet.figures.panel_worth import PanelWorth, panel_worth
from judgenet.figures.people import annotators_panel
from judgenet.figures.reliability import RunReliability, run_reliability
from judgenet.figures.systems import system_games
from judgenet.report.bias_figures import lab_figures
from judgenet.report.model import Report
from judgenet.stats.agreement import Agreement
from judgenet.stats.curves import Codes
from judgenet.stats.discussion import MindChanges, mind_changes, others_majority
from judgenet.stats.diversity import DiversityChange, VerdictDiversity, diversity_change, verdict_diversity
from judgenet.stats.intervals import AgreementIntervals
from judgenet.stats.label_plan import LabelPlan
from judgenet.stats.panel import PanelAgreement, Raters, against_people, panel_of
from judgenet.stats.ranking import Ranking, rank
from judgenet.stats.uncertainty import ReviewCurve, ReviewNeed, entropies, review_curve, review_need
from judgenet.stats.verdicts import sign_codes
from judgenet.stats.whatif import VoteRule, WhatIf, what_if
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame

PLAN_WIDTH = 0.1
"""The width of the interval that the label plan of a report is for."""
REVIEW_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
MOST_SIZES = 64
"""A network with a wider last layer has no curve of sizes."""

OnStep = Callable[[str], None]
"""Called with the name of each step before it is computed. What it raises ends the work."""


@dataclass(frozen=True, slots=True)
class PeoplePanel:
    """The agreement of the annotators with each other (``units`` pairs have labels of named annotators), and the share
    of pairs that people would have to review for the network to agree as well as they do. ``need`` is ``None`` where
    their own agreement is unknown."""

    panel: PanelAgreement
    units: int
    need: ReviewNeed | None


@dataclass(frozen=True, slots=True)
class LayerStudy:
    """The neurons of a layer (from 1) as a panel, how differently they decide, and, from layer 2 on, how that changed
    and how they changed their mind."""

    layer: int
    panel: PanelAgreement
    diversity: VerdictDiversity
    change: DiversityChange | None
    minds: MindChanges | None


@dataclass(frozen=True, slots=True)
class LearnedWay:
    """A learned way to combine the neurons, cross-fitted, compared with people. ``weights`` are by neuron, fitted to
    all pairs; without figures ``reason`` says why. ``warning`` is a caution to show with it, ``less`` what it gains
    over the best neuron and the votes on the same pairs; ``below_baseline`` says that people's most common label beats
    it, and why."""

    way: Way
    title: str
    agreement: Agreement | None
    intervals: AgreementIntervals | None
    weights: Mapping[str, float]
    penalty: float | None
    reason: str = ""
    warning: str = ""
    less: tuple[LessOther, ...] = ()
    below_baseline: str = ""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How accurate smaller networks would have been by ``rule``. Without ``what_if`` there is a ``reason``."""

    rule: VoteRule
    what_if: WhatIf | None
    names: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SystemRanks:
    """The systems by the network's verdicts, and by people where they have labels. ``n`` and ``n_human`` pairs of two
    named systems were used."""

    verdicts: Ranking
    human: Ranking | None
    n: int
    n_human: int


@dataclass(frozen=True, slots=True)
class RunStudy:
    """All analyses of a run. What does not apply to it is ``None`` or empty.

    ``raters`` are the neurons against people, ``role_raters`` the roles that neurons have on all pairs. ``review`` is
    people's review of the pairs whose calls differ most. ``worth`` is the number of independent votes that the neurons
    are worth, ``panel`` which of them are alike, and which adds most. ``alt_test`` says whether the judges may replace
    the annotators, where pairs have several, ``reliability`` whether probabilities mean what they say.
    """

    people: PeoplePanel | None
    layers: tuple[LayerStudy, ...]
    worth: PanelWorth | None
    panel: PanelStudy | None
    raters: Raters | None
    role_raters: Raters | None
    review: ReviewCurve | None
    learned: tuple[LearnedWay, ...]
    sizes: Sizes | None
    ranks: SystemRanks | None
    plan: LabelPlan | None
    alt_test: RunAltTest | None = None
    reliability: RunReliability | None = None


def deepen(
    store: Store,
    report: Report,
    frame: RunFrame,
    *,
    chosen: Chosen | None = None,
    on_step: OnStep | None = None,
) -> Report:
    """The report with :class:`RunStudy`, and the newest bias lab of the store. ``frame`` is the run that the report was
    built from."""
    report_step = on_step or (lambda _: None)
    judged = frame.aggregations[report.decides]
    uncertainty = entropies(frame.calls.sum(axis=(1, 2), dtype=np.int64))
    draws, seed = report.resamples, report.bootstrap_seed
    report_step("Panels")
    people = _people(frame, judged, uncertainty, draws, seed)
    layers = tuple(_layers(frame, draws, seed))
    several = len(frame.names) > 1
    worth = panel_worth(frame, seed=seed) if several else None
    panel = panel_study(frame, seed=seed) if several else None
    raters = role_raters = None
    labelled = bool(((frame.human > 0) & (judged > 0)).any())
    if labelled and several:
        raters = against_people(
            frame.names, frame.neurons, frame.human, groups=frame.groups, resamples=draws, seed=seed
        )
        role_raters = _roles(frame, draws, seed)
    review = _review(frame, judged, uncertainty, draws, seed) if labelled else None
    alt_test = run_alt_test(frame) if any(len(panel) > 1 for panel in frame.pairs.panel_kinds) else None
    report_step("Learned weights")
    learned = tuple(_learned(frame, report, draws, seed)) if several else ()
    report_step("Calibration")
    reliable = run_reliability(frame, seed=seed) if labelled else None
    report_step("Smaller networks")
    sizes = _sizes(report, frame) if labelled and several else None
    report_step("Ranking")
    ranks = (
        _ranks(frame, report.decides, seed) if len({name for name in frame.pairs.system_names if name}) > 2 else None
    )
    plan = None
    if report.rates.judged:
        plan = sample_plan(frame, report.decides, PLAN_WIDTH, chosen).plan
    more = RunStudy(
        people, layers, worth, panel, raters, role_raters, review, learned, sizes, ranks, plan, alt_test, reliable
    )
    return replace(report, more=more, bias=lab_figures(store, lambda: report_step("Bias lab")))


def _review(frame: RunFrame, judged: Codes, uncertainty: NDArray[np.float64], draws: int, seed: int) -> ReviewCurve:
    """The accuracy by the share that people review."""
    return review_curve(
        frame.human,
        judged,
        uncertainty,
        shares=REVIEW_SHARES,
        groups=frame.groups,
        resamples=0 if frame.groups is None else min(draws, 1000),
        seed=seed,
    )


def _people(
    frame: RunFrame, judged: Codes, uncertainty: NDArray[np.float64], draws: int, seed: int
) -> PeoplePanel | None:
    if not frame.panel_counts:
        return None
    panel = annotators_panel(frame, intervals=draws > 0, seed=seed)
    need = None
    if panel.h.value is not None and bool(((frame.human > 0) & (judged > 0)).any()):
        resamples = min(draws, 1000)
        need = review_need(
            frame.human, judged, uncertainty, panel.h.value, groups=frame.groups, resamples=resamples, seed=seed
        )
    return PeoplePanel(panel, frame.panel_counts.total(), need)


def _layers(frame: RunFrame, draws: int, seed: int) -> Sequence[LayerStudy]:
    layers: list[LayerStudy] = []
    before: NDArray[np.intp] | None = None
    for layer in range(1, frame.spec.depth + 1):
        columns = frame.columns_of(layer)
        if len(columns) < 2:
            before = columns
            continue
        codes, names = frame.neurons[:, columns], [frame.names[place] for place in columns]
        panel = panel_of(names, codes, groups=frame.groups, resamples=min(draws, 1000), seed=seed)
        change = minds = None
        if before is not None and len(before):
            change = diversity_change(frame.neurons[:, before], codes, frame.groups)
            minds = _minds(frame, layer)
        layers.append(LayerStudy(layer, panel, verdict_diversity(codes, frame.human, frame.groups), change, minds))
        before = columns
    return layers


def _minds(frame: RunFrame, layer: int) -> MindChanges | None:
    """How the neurons of a layer changed the verdict of the neuron of the same place in the layer before."""
    earlier, later = frame.columns_before(layer), frame.columns_of(layer)
    both = earlier >= 0
    if not both.any():
        return None
    earlier, later, reads = earlier[both], later[both], frame.reads_others(layer)[both]
    by_order = frame.neurons_by_order
    return mind_changes(
        frame.neurons[:, earlier],
        frame.neurons[:, later],
        others_majority(frame.neurons[:, frame.columns_of(layer - 1)], reads),
        frame.human,
        orders=(
            (by_order["ab"][:, earlier], by_order["ab"][:, later]),
            (by_order["ba"][:, earlier], by_order["ba"][:, later]),
        ),
        groups=frame.groups,
    )


def _roles(frame: RunFrame, draws: int, seed: int) -> Raters | None:
    """The roles that neurons have on all pairs, over all calls of all layers."""
    columns: dict[str, list[int]] = {}
    for column, (layer, neuron) in enumerate(frame.places):
        role = fixed_role(frame.spec, layer, neuron)
        if role is not None:
            columns.setdefault(" ".join(role.split()), []).append(column)
    if len(columns) < 2 or len(columns) == len(frame.places):
        return None
    differences = frame.call_scores().difference
    sums, there = np.nansum(differences, axis=(2, 3)), (~np.isnan(differences)).sum(axis=(2, 3))
    codes = np.stack(
        [sign_codes(sums[:, mine].sum(axis=1), there[:, mine].sum(axis=1) > 0) for mine in columns.values()], axis=1
    )
    return against_people(list(columns), codes, frame.human, "roles", groups=frame.groups, resamples=draws, seed=seed)


def _learned(frame: RunFrame, report: Report, draws: int, seed: int) -> Sequence[LearnedWay]:
    ways = ways_against_people(frame, compared_votes(report.decides), resamples=draws, seed=seed)
    return [
        LearnedWay(way, WAY_TITLES[way], None, None, {}, None, accuracy.rstrip("."))
        if isinstance(accuracy, str)
        else LearnedWay(
            way=way,
            title=WAY_TITLES[way],
            agreement=accuracy.agreement,
            intervals=accuracy.intervals,
            weights=dict(zip(frame.names, accuracy.learned.weights, strict=True)),
            penalty=accuracy.learned.penalty,
            warning=WARNINGS.get(way, ""),
            less=accuracy.less,
            below_baseline=accuracy.below_baseline,
        )
        for way, accuracy in ways.items()
    ]


def _sizes(report: Report, frame: RunFrame) -> Sizes:
    decides, depth = report.decides, report.spec.depth
    last = f"c2_l{depth}"
    rule: VoteRule = "c1" if decides == "c1" else "c2_last" if decides == last else "c2_all"
    widest = max(len(frame.columns_of(layer)) for layer in range(1, depth + 1))
    if widest > MOST_SIZES:
        why = f"a layer has {plural(widest, 'neuron')}: the curve is made for up to {MOST_SIZES}"
        return Sizes(rule, None, frame.names, why)
    if why := why_no_smaller(frame):
        return Sizes(rule, None, frame.names, why)
    sizes = what_if(frame.what_if_calls(), report.spec.aggregation, rule, seed=report.bootstrap_seed)
    return Sizes(rule, sizes, frame.names, "" if sizes else "no pair has both a human label and a verdict")


def _ranks(frame: RunFrame, decides: str, seed: int) -> SystemRanks | None:
    games = system_games(frame)
    mine, people = games.of(games.verdicts[decides]), games.of(games.human)
    if not mine:
        return None
    human = rank(games.names, people, seed=seed) if people else None
    return SystemRanks(rank(games.names, mine, seed=seed), human, len(mine), len(people))
