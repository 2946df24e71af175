"""Names, rows and small tables that several sections of a report use."""

from __future__ import annotations

from collections.abc import Sequence

from judgenet.core.pairs import Verdict
from judgenet.core.wording import SPOKEN, of, percent, percent_interval, plural
from judgenet.report import charts
from judgenet.report.blocks import Given, Line, Row, Table
from judgenet.report.charts import ForestRow
from judgenet.report.drawing import Drawing
from judgenet.report.model import NeuronFigures, Report, ReportedAgreement
from judgenet.stats.agreement import PositionConsistency

PLACES: tuple[Verdict, ...] = ("a", "b", "tie")


def system_name(report: Report, side: Verdict) -> Line:
    """The name of the system that gave response A or B, after a space; empty where pairs are not all of one system."""
    name = report.data.system_a if side == "a" else report.data.system_b
    return () if name is None else (" ", Given(name))


def in_order(report: Report) -> list[str]:
    """The network's verdict first, the other aggregations by accuracy."""
    others = [name for name in report.aggregations if name != report.decides]
    others.sort(key=lambda name: -(report.aggregations[name].agreement.accuracy or 0.0))
    return [report.decides, *others]


def estimate(
    name: str, figures: ReportedAgreement, *, subject: bool = False, with_n: bool = True, baseline: float | None = None
) -> ForestRow:
    """A row of a forest chart: the accuracy of ``figures`` with its interval, and the pairs used with ``with_n``."""
    return ForestRow(
        name,
        figures.agreement.accuracy,
        figures.intervals.accuracy,
        "subject" if subject else "other",
        of(*figures.used) if with_n else "",
        figures.agreement.reasons.get("accuracy", ""),
        baseline,
    )


def baseline_line(report: Report) -> tuple[str, float] | None:
    """The name and the accuracy of the constant answer; ``None`` without labels."""
    if report.baseline is None or report.baseline.figures.agreement.accuracy is None:
        return None
    return f"always {SPOKEN[report.baseline.label]}", report.baseline.figures.agreement.accuracy


def forest(rows: Sequence[ForestRow], words: str, baseline: tuple[str, float] | None = None) -> tuple[Drawing, Table]:
    """A forest chart of ``rows``, and the same figures as a table. ``words`` begin the description of the chart."""
    with_note = any(row.note for row in rows)
    with_baseline = any(row.baseline is not None for row in rows)
    cells = []
    for row in rows:
        value = (
            "" if row.heading else percent(row.value, unit=False) if row.value is not None else f"n/a – {row.reason}"
        )
        extra = [(percent(row.baseline, unit=False),)] if with_baseline else []
        note = [(row.note,)] if with_note else []
        cells.append(
            Row(((Given(row.name),), (value,), (percent_interval(row.interval),), *extra, *note), row.look == "subject")
        )
    if baseline is not None:
        blank: list[Line] = [("",)] * (with_baseline + with_note)
        cells.append(Row(((baseline[0],), (percent(baseline[1], unit=False),), ("",), *blank)))
    columns = ("", "%", "95 % interval", *(["baseline"] if with_baseline else []), *(["n used"] if with_note else []))
    table = Table(columns, (False, *(True,) * (len(columns) - 1)), tuple(cells))
    said = "; ".join(
        f"{row.name} {percent(row.value)} {percent_interval(row.interval)}" for row in rows if not row.heading
    )
    return charts.forest(rows, f"{words}: {said}", baseline), table


def flip_words(position: PositionConsistency) -> str:
    """The share of pairs whose verdict depends on the order: ``56.2 % of 80 pairs``."""
    if position.flip_rate is None:
        return f"n/a – {position.reason}"
    if position.n == position.n_total:
        return f"{percent(position.flip_rate)} of {plural(position.n, 'pair')}"
    return f"{percent(position.flip_rate)} of {of(position.n, position.n_total)} pairs"


def share_of(share: float | None, n: int) -> str:
    """``56.2 % of 80``."""
    return "n/a" if share is None else f"{percent(share)} of {n:,}"


def layer_name(report: Report, layer: int) -> str:
    """The name of a layer (from 1); the layer after the last is the chair."""
    return "Chair" if layer > report.spec.depth else f"Layer {layer}"


def neuron_name(report: Report, neuron: NeuronFigures) -> str:
    """A neuron's role, else its number in the layer."""
    if neuron.layer > report.spec.depth:
        return "Chair"
    if neuron.role is not None:
        return neuron.role
    return f"Neuron {neuron.neuron}, role by pair" if neuron.roles else f"Neuron {neuron.neuron}"


def verdict_table(table: Sequence[Sequence[int]], rows: str, columns: str) -> Table:
    """Counts by two verdicts, both in the order a, b, tie, as a table."""
    return Table(
        (f"{rows} \\ {columns}", *(SPOKEN[verdict] for verdict in PLACES)),
        (False, True, True, True),
        tuple(
            Row(((SPOKEN[verdict],), *((f"{count:,}",) for count in row)))
            for verdict, row in zip(PLACES, table, strict=True)
        ),
    )


STATES = {
    "running": "The run goes on",
    "paused": "The run is paused",
    "enough": "The run stopped when enough was known",
    "budget": "The run stopped at its limit",
    "halted": "The run waits for an endpoint that stopped",
    "cancelled": "The run was stopped",
    "failed": "The run failed",
}
