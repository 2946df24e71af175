"""All figures of a report for machines as CSV, one figure a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgenet.core.wording import clean, plural
from judgenet.formats.tables import csv_text
from judgenet.report.bias_figures import LabFigures
from judgenet.report.figure_records import FigureRecord, lab_records, more_records
from judgenet.report.model import Report, ReportedAgreement
from judgenet.stats.agreement import PositionConsistency
from judgenet.stats.calibration import Estimate
from judgenet.stats.discussion import Overturns
from judgenet.stats.intervals import WinRate


def csv(report: Report) -> str:
    """All figures of the report, one a line. Cells that a spreadsheet would take for formulas are guarded."""
    return _csv(records(report))


def lab_csv(lab: LabFigures) -> str:
    """The figures of a bias lab without a run, as :func:`csv`."""
    return _csv(lab_records(lab))


def _csv(figure_records: Iterable[FigureRecord]) -> str:
    return csv_text(FigureRecord._fields, ([_csv_cell(value) for value in record] for record in figure_records))


def _csv_cell(value: float | int | str | None) -> float | int | str | None:
    return clean(value) if isinstance(value, str) else value


def records(report: Report) -> Iterator[FigureRecord]:
    """All figures of the report."""
    yield from _run_records(report)
    for name, figures in report.aggregations.items():
        yield from _figure_records("aggregation", name, figures)
    if report.baseline is not None:
        yield from _figure_records("baseline", f"always {report.baseline.label}", report.baseline.figures)
    yield _rate_record("network", report.verdicts, report.data.pairs)
    yield _rate_record("people", report.human, report.data.pairs)
    yield from _rate_records(report)
    for task in report.tasks:
        for name, figures in task.figures.items():
            yield from _figure_records("task", f"{task.task or '(no task)'}, {name}", figures)
    yield from _part_records(report)
    yield from _gap_records(report)
    for words in report.words:
        for word, count in words.words:
            yield FigureRecord("role names", words.task or "(no task)", word, count, n_total=words.pairs)
    yield from more_records(report)


def _run_records(report: Report) -> Iterator[FigureRecord]:
    """The facts of the run."""
    about, data = report.about, report.data
    yield FigureRecord("run", about.run_id, "state", about.state)
    yield FigureRecord("run", about.run_id, "pairs_finished", data.finished, n_total=data.pairs)
    yield FigureRecord("run", about.run_id, "pairs_labelled", data.labelled, n_total=data.pairs)
    yield FigureRecord("run", about.run_id, "data_hash", data.hash)
    unknown = "" if about.prompts_digest else "the prompts of recorded judges are not known"
    yield FigureRecord("run", about.run_id, "prompts", about.prompts_digest or None, reason=unknown)
    yield FigureRecord("run", about.run_id, "bootstrap_seed", report.bootstrap_seed)
    yield FigureRecord("run", about.run_id, "decides", report.decides)
    spent = about.spent
    yield FigureRecord("run", about.run_id, "calls", spent.calls)
    price_reason = f"the price of {plural(spent.unpriced, 'call')} is unknown" if spent.unpriced else ""
    yield FigureRecord("run", about.run_id, "price", None if spent.unpriced else spent.price, reason=price_reason)


def _part_records(report: Report) -> Iterator[FigureRecord]:
    """The figures of layers, neurons and roles."""
    yield from _position_records("c1", report.position)
    for layer in report.layers:
        yield from _position_records(f"layer {layer.layer}", layer.position)
        yield FigureRecord("calls", f"layer {layer.layer}", "scored", layer.calls_scored, n_total=layer.calls_total)
    for neuron in report.neurons:
        name = f"{neuron.layer}.{neuron.neuron}"
        no_role = "" if neuron.role else "none, or another by pair"
        yield FigureRecord("neuron", name, "role", neuron.role, reason=no_role)
        yield from _figure_records("neuron", name, neuron.figures)
        yield from _position_records(name, neuron.position)
        yield FigureRecord("calls", name, "scored", neuron.calls_scored, n_total=neuron.calls_total)
        if neuron.changed is not None:
            yield from _change_records(f"neuron {name}", neuron.changed)
    for role in report.roles:
        yield from _figure_records("role", role.role, role.figures)
    for change in report.changes:
        yield from _change_records(f"layer {change.before} to {change.after}", change.overturns)


def _gap_records(report: Report) -> Iterator[FigureRecord]:
    """Unscored calls, and what was left out."""
    for reason in report.unscored:
        yield FigureRecord("unscored", reason.reason, "calls", reason.calls, n_total=report.about.spent.calls)
    for left in report.left_out:
        yield FigureRecord("left out", left.what, "count", left.count, n_total=left.total, reason=left.why)
        if left.first:
            yield FigureRecord("left out", left.what, "first", ", ".join(left.first), n_used=len(left.first))


def _figure_records(about: str, name: str, figures: ReportedAgreement) -> Iterator[FigureRecord]:
    agreement, intervals = figures.agreement, figures.intervals
    reasons = agreement.reasons | {
        figure: why for figure, why in intervals.reasons.items() if figure not in agreement.reasons
    }
    values = (
        ("accuracy", agreement.accuracy, intervals.accuracy),
        ("macro_f1", agreement.macro_f1, intervals.macro_f1),
        ("kappa", agreement.kappa, intervals.kappa),
        ("majority_baseline", agreement.majority_baseline, None),
    )
    for figure, value, interval in values:
        low, high = interval or (None, None)
        why = agreement.reasons.get(figure, "") if value is None else "" if low is not None else reasons.get(figure, "")
        yield FigureRecord(about, name, figure, value, low, high, *figures.used, why)


def _rate_record(name: str, rate: WinRate, total: int) -> FigureRecord:
    low, high = rate.interval or (None, None)
    reason = "" if rate.n else "there is no verdict"
    return FigureRecord("win rate of b, uncorrected", name, "win_rate", rate.value, low, high, rate.n, total, reason)


def _rate_records(report: Report) -> Iterator[FigureRecord]:
    rates, about = report.rates, "win rate of b"
    named: dict[str, Estimate] = {str(method): estimate for method, estimate in rates.estimates.items()}
    named["decided"] = rates.decided
    for name, estimate in named.items():
        low, high = estimate.interval or (None, None)
        yield FigureRecord(
            about, name, "win_rate", estimate.value, low, high, estimate.n, rates.judged, estimate.reason
        )
        yield FigureRecord(about, name, "labels", estimate.labels, n_total=rates.judged)
    length = rates.length_adjusted
    low, high = length.interval or (None, None)
    yield FigureRecord(
        about, "length_adjusted", "win_rate", length.value, low, high, length.n, rates.judged, length.reason
    )
    yield FigureRecord(about, "length_adjusted", "slope", length.slope, reason=length.reason)
    yield FigureRecord(about, "labels", "chosen", rates.chosen, reason="assumed" if rates.assumed else "")
    for figure in ("multiplier", "per_verdict", "correlation"):
        yield FigureRecord(about, "worth", figure, getattr(rates.worth, figure), reason=rates.worth.reason)
    for part in rates.stratified.strata:
        used = (part.labels, part.n)
        for figure in ("share", "mean", "sd"):
            yield FigureRecord("verdict stratum", part.verdict, figure, getattr(part, figure), None, None, *used)


def _position_records(name: str, consistency: PositionConsistency) -> Iterator[FigureRecord]:
    for figure, value in (
        ("flip_rate", consistency.flip_rate),
        ("first_first", consistency.primacy),
        ("last_last", consistency.recency),
        ("tie_in_one", consistency.partial),
        ("p", consistency.p),
    ):
        yield FigureRecord(
            "orders", name, figure, value, n_used=consistency.n, n_total=consistency.n_total, reason=consistency.reason
        )


def _change_records(name: str, overturns: Overturns) -> Iterator[FigureRecord]:
    used = (overturns.n, overturns.n_total)
    yield FigureRecord("changes", name, "rate", overturns.rate, None, None, *used, overturns.reasons.get("rate", ""))
    for figure in ("overturned", "reversed", "to_right", "to_wrong", "between_wrong"):
        yield FigureRecord("changes", name, figure, getattr(overturns, figure), None, None, *used)
    labelled = (overturns.n_labelled, overturns.n_total)
    for figure in ("gain", "p", "questions_p"):
        yield FigureRecord(
            "changes",
            name,
            figure,
            getattr(overturns, figure),
            None,
            None,
            *labelled,
            overturns.reasons.get(figure, ""),
        )
