"""A report whose intervals of accuracy and win rates are those that are valid at any time."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from judgenet.figures.anytime import AnytimeEstimate, AnytimeFigures
from judgenet.figures.rates import CorrectedRates
from judgenet.report.model import Report, ReportedAgreement
from judgenet.stats.calibration import Estimate

NO_INTERVAL: Final = "no interval of it is valid at any time"
_NOTE: Final = "corrected at any time: labels against the verdicts on the same pairs, and labels alone, taken together"


def at_any_time(report: Report) -> Report:
    """The report as the page Results shows it under intervals that are valid at any time; the same where there are
    none. Values are over the pairs that count; the baseline keeps no interval, as none of it is valid at any time."""
    if report.anytime is None:
        return report
    at_any_time_rates, baseline = report.anytime.aggregations, report.baseline
    return replace(
        report,
        baseline=None if baseline is None else replace(baseline, figures=_agreement(baseline.figures)),
        rates=_rates(report.rates, at_any_time_rates[report.decides]),
        aggregations={
            name: _agreement(of, at_any_time_rates[name].accuracy) if name in at_any_time_rates else of
            for name, of in report.aggregations.items()
        },
    )


def _rates(rates: CorrectedRates, anytime_figures: AnytimeFigures) -> CorrectedRates:
    estimates = {
        method: of.refused(NO_INTERVAL) if of.value is not None else of for method, of in rates.estimates.items()
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


def _estimate(of: AnytimeEstimate, n: int, labels: int, notes: tuple[str, ...] = ()) -> Estimate:
    kept = notes if of.value is not None else ()
    return Estimate(of.value, of.ci, n, labels, of.reason or "", kept, of.n_questions)


def _agreement(of: ReportedAgreement, accuracy: AnytimeEstimate | None = None) -> ReportedAgreement:
    """Figures with the interval of the accuracy alone, or with none."""
    refused = ("macro_f1", "kappa") if accuracy is not None else ("accuracy", "macro_f1", "kappa")
    reasons = {name: why for name, why in of.intervals.reasons.items() if name not in refused}
    intervals = replace(
        of.intervals,
        accuracy=None if accuracy is None else accuracy.ci,
        macro_f1=None,
        kappa=None,
        reasons=reasons | dict.fromkeys(refused, NO_INTERVAL),
    )
    return replace(of, intervals=intervals)
