"""A report as JSON: its figures have the keys of the commands' ``--json`` (``resources/figures.md``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from judgenet.core.labels import Chosen
from judgenet.figures.base import as_json, figures_of
from judgenet.figures.comparison import AgreeFigures, McNemarFigures, agree_figures, mcnemar_figures
from judgenet.figures.curve import CurveFigures, curve_figures
from judgenet.figures.judge_parts import PanelFigures, ReviewNeedFigures, panel_figures, review_need_figures
from judgenet.figures.learning import LearnedWayFigures, LessFigures, less_figures
from judgenet.figures.parts import (
    AgreementFigures,
    DifferenceFigures,
    EstimateFigures,
    LengthFigures,
    Reasons,
    SampleFigures,
    agreement_figures,
    difference_figures,
    estimate_figures,
    length_figures,
    sample_figures,
)
from judgenet.figures.power import PowerFigures, power_figures
from judgenet.figures.ranking import RankingFigures, ranking_figures
from judgenet.figures.rates import CorrectedRates, StratumFigures, WorthFigures, worth_figures
from judgenet.report.bias_figures import LabFigures
from judgenet.report.judge_analysis import LearnedWay, PeoplePanel, Sizes, SystemRanks
from judgenet.report.model import Report, ReportedAgreement
from judgenet.report.run_comparison import ReportedComparison
from judgenet.stats.calibration import VerdictStratum
from judgenet.version import __version__


def report_json(report: Report) -> str:
    """The whole report as one JSON object: an undefined figure is ``null`` and has its reason in ``reasons``."""
    return _json(as_json(report))


def lab_report_json(lab: LabFigures) -> str:
    """A bias lab without a run, in the form of :func:`report_json`."""
    return _json({"bias": as_json(lab)})


def _json(figures: Mapping[str, Any]) -> str:
    return json.dumps({"judgenet": __version__, "report": 2, **figures}, allow_nan=False, indent=1) + "\n"


@figures_of.register(LabFigures)
def _lab(lab_figures: LabFigures) -> dict[str, Any]:
    return lab_figures.to_json()


@figures_of.register(ReportedAgreement)
def _agreement(reported_agreement: ReportedAgreement) -> AgreementFigures:
    return agreement_figures(reported_agreement.agreement, reported_agreement.intervals)


@figures_of.register(VerdictStratum)
def _stratum(verdict_stratum: VerdictStratum) -> StratumFigures:
    return StratumFigures(
        verdict_stratum.verdict,
        verdict_stratum.share,
        verdict_stratum.n,
        verdict_stratum.labels,
        verdict_stratum.mean,
        verdict_stratum.sd,
    )


@dataclass(frozen=True)
class ReportRates:
    """The win rate of B with the keys of ``judgenet rate``; the estimates by their methods."""

    estimates: Mapping[str, EstimateFigures]
    decided: EstimateFigures
    these_pairs: EstimateFigures
    length_adjusted: LengthFigures
    worth: WorthFigures
    strata: tuple[StratumFigures, ...]
    labelled: int
    judged: int
    chosen: Chosen
    chosen_assumed: bool
    labels: SampleFigures


@figures_of.register(CorrectedRates)
def _rates(corrected_rates: CorrectedRates) -> ReportRates:
    return ReportRates(
        estimates={str(method): estimate_figures(estimate) for method, estimate in corrected_rates.estimates.items()},
        decided=estimate_figures(corrected_rates.decided),
        these_pairs=estimate_figures(corrected_rates.stratified.these_pairs),
        length_adjusted=length_figures(corrected_rates.length_adjusted),
        worth=worth_figures(corrected_rates.worth),
        strata=tuple(_stratum(part) for part in corrected_rates.stratified.strata),
        labelled=corrected_rates.labelled,
        judged=corrected_rates.judged,
        chosen=corrected_rates.chosen,
        chosen_assumed=corrected_rates.assumed,
        labels=sample_figures(corrected_rates.sample),
    )


@dataclass(frozen=True)
class ReportPeople:
    """The agreement of people with each other, and what they would still have to review."""

    panel: PanelFigures
    units: int
    need: ReviewNeedFigures | None
    reasons: Reasons


@figures_of.register(PeoplePanel)
def _people(people_panel: PeoplePanel) -> ReportPeople:
    why = {
        "need": f"people's agreement is unknown: {people_panel.panel.h.reason}"
        if people_panel.panel.h.reason
        else _NO_PAIR
    }
    need = None if people_panel.need is None else review_need_figures(people_panel.need)
    return ReportPeople(panel_figures(people_panel.panel), people_panel.units, need, why if need is None else {})


_NO_PAIR = "no pair has both a human label and a verdict"


@dataclass(frozen=True)
class ReportWay(LearnedWayFigures):
    """A learned way to combine the neurons, with its name."""

    way: str
    title: str


@dataclass(frozen=True)
class ReportRefusedWay:
    """A way that cannot be learned from these pairs."""

    way: str
    title: str
    accuracy: None
    reason: str


@figures_of.register(LearnedWay)
def _learned(learned_way: LearnedWay) -> ReportWay | ReportRefusedWay:
    if learned_way.agreement is None or learned_way.intervals is None:
        return ReportRefusedWay(learned_way.way, learned_way.title, None, learned_way.reason)
    figures = vars(agreement_figures(learned_way.agreement, learned_way.intervals))
    if learned_way.penalty is None:
        figures |= {"reasons": figures["reasons"] | {"penalty": "there is no penalty in this way"}}
    less: dict[str, LessFigures] = {gain.other: less_figures(gain) for gain in learned_way.less}
    return ReportWay(
        **figures,
        weights=learned_way.weights,
        penalty=learned_way.penalty,
        less=less,
        below_baseline=learned_way.below_baseline,
        warning=learned_way.warning or None,
        way=learned_way.way,
        title=learned_way.title,
    )


@dataclass(frozen=True)
class ReportRanks:
    """Systems by the network's verdicts, and by people."""

    verdicts: RankingFigures
    human: RankingFigures | None
    n: int
    n_human: int
    reasons: Reasons


@figures_of.register(SystemRanks)
def _ranks(system_ranks: SystemRanks) -> ReportRanks:
    human = None if system_ranks.human is None else ranking_figures(system_ranks.human)
    why = {"human": "no pair of two named systems has a human label"} if human is None else {}
    return ReportRanks(ranking_figures(system_ranks.verdicts), human, system_ranks.n, system_ranks.n_human, why)


@figures_of.register(Sizes)
def _sizes(sizes: Sizes) -> CurveFigures:
    return curve_figures(sizes.what_if, sizes.rule, sizes.names, why=sizes.reason)


@dataclass(frozen=True)
class ReportComparison:
    """The comparison with another run, with the keys of ``judgenet compare``; differences are this run less the
    other."""

    first: str
    second: str
    decides: tuple[str, str]
    pairs: tuple[int, int]
    common: int
    both_judged: int
    labels_differ: int
    questions: int
    mcnemar: McNemarFigures
    differences: Mapping[str, DifferenceFigures]
    rate: DifferenceFigures
    agree: AgreeFigures
    judges_differ: Mapping[str, tuple[str, str]]
    warning: str
    power: PowerFigures


@figures_of.register(ReportedComparison)
def _compared(reported_comparison: ReportedComparison) -> ReportComparison:
    same = {
        field.name: getattr(reported_comparison, field.name)
        for field in fields(reported_comparison)
        if field.name not in ("comparison", "rate", "power")
    }
    return ReportComparison(
        **same,
        both_judged=reported_comparison.comparison.n,
        mcnemar=mcnemar_figures(reported_comparison.comparison),
        differences={
            name: difference_figures(difference)
            for name, difference in reported_comparison.comparison.differences.items()
        },
        rate=difference_figures(reported_comparison.rate),
        agree=agree_figures(reported_comparison.comparison),
        power=power_figures(reported_comparison.power),
    )
