"""A report whose intervals of accuracy and win rates are those that are valid at any time."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from judgenet.figures.anytime import AnytimeEstimate, AnytimeFigures
from judgenet.figures.rates import CorrectedRates
from judgenet.report.model import Report, ReportedAgreement
from judgenet.stats.calibration import Estimate

NO_INTERVAL: Final = "it has no interval that is valid at any time"
_NOTE: Final = "corrected at any time: labels against the verdicts on the same pairs, and labels alone, taken together"


def at_any_time(report: Report) -> Report:
    """The report with anytime-valid intervals, as the page Results shows it; unchanged where the run has none. Values
    are over the pairs that these intervals use; the baseline has no interval, as none of it is valid at any time."""
    if report.anytime is None:
        return report
    at_any_time_rates, baseline = report.anytime.aggregations, report.baseline
    return replace(
        report,
        baseline=None if baseline is None else replace(baseline, figures=_agreement(baseline.figures)),
        rates=_rates(report.rates, at_any_time_rates[report.decides]),
        aggregations={
            name: _agreement(figures, at_any_time_rates[name].accuracy) if name in at_any_time_rates else figures
            for name, figures in report.aggregations.items()
        },
    )


def _rates(rates: CorrectedRates, anytime_figures: AnytimeFigures) -> CorrectedRates:
    estimates = {
        method: estimate.refused(NO_INTERVAL) if estimate.value is not None else estimate
        for method, estimate in rates.estimates.items()
    }
    estimates["stratified"] = _estimate(
        anytime_figures.corrected, anytime_figures.win_rate.n, anytime_figures.corrected.n, (_NOTE,)
    )
    estimates["naive"] = _estimate(
        anytime_figures.win_rate, anytime_figures.win_rate.n, 0, rates.estimates["naive"].notes
    )
    estimates["human_only"] = _estimate(
        anytime_figures.human_only, anytime_figures.human_only.n, anytime_figures.human_only.n
    )
    return replace(rates, estimates=estimates)


def _estimate(estimate: AnytimeEstimate, n: int, labels: int, notes: tuple[str, ...] = ()) -> Estimate:
    kept = notes if estimate.value is not None else ()
    return Estimate(estimate.value, estimate.ci, n, labels, estimate.reason or "", kept, estimate.n_questions)


def _agreement(reported: ReportedAgreement, accuracy: AnytimeEstimate | None = None) -> ReportedAgreement:
    """Figures with the interval of the accuracy alone, or with none."""
    refused = ("macro_f1", "kappa") if accuracy is not None else ("accuracy", "macro_f1", "kappa")
    reasons = {name: why for name, why in reported.intervals.reasons.items() if name not in refused}
    intervals = replace(
        reported.intervals,
        accuracy=None if accuracy is None else accuracy.ci,
        macro_f1=None,
        kappa=None,
        reasons=reasons | dict.fromkeys(refused, NO_INTERVAL),
    )
    return replace(reported, intervals=intervals)
