"""The report on one page: the figure that decides, agreement, bias, what was left out, and the method in short."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from judgenet.core.wording import SPOKEN, aggregation_title, percent, percent_interval
from judgenet.report.blocks import Block, Bullets, Figure, Line, Paragraph, ReportDocument, Row, Section, Strong, Table
from judgenet.report.model import Report, ReportedAgreement
from judgenet.report.outline import outline
from judgenet.report.outline_figures import figure_row
from judgenet.report.outline_method import METHOD_TITLE, short_method
from judgenet.report.outline_rates import RATE_TITLES, one_b
from judgenet.report.outline_record import left_line
from judgenet.stats.calibration import Estimate


def short_document(report: Report) -> ReportDocument:
    """The short report as blocks; it fits on one page."""
    head = outline(report, ())
    accuracy = report.rates.corrected.value is None or not one_b(report)
    # Of the charts only the one with the estimates of the rate: the aggregations are not compared here.
    blocks = [block for block in head.blocks if not (accuracy and isinstance(block, Figure))]
    return replace(head, blocks=(*blocks, *_body(report)))


def short_figures(report: Report) -> Report:
    """The report with the figures of the short one alone, for the formats that hold figures: the aggregation that
    decides, the win rate, the newest bias lab, what was left out."""
    return replace(
        report,
        aggregations={report.decides: report.headline},
        tasks=(),
        layers=(),
        neurons=(),
        roles=(),
        changes=(),
        unscored=(),
        words=(),
        studies=(),
        disagreements={},
        prompts=(),
        more=None,
        beside=None,
    )


def _body(report: Report) -> Iterable[Block]:
    rates = report.rates
    if rates.judged:
        yield Section("Win rate of B", "ties count half")
        yield Table(
            ("Estimate", "Win rate of B, %", "95 % interval", "Pairs", "Labels"),
            (False, True, True, True, True),
            (
                _rate_row(RATE_TITLES["stratified"], rates.corrected, strong=True),
                _rate_row(RATE_TITLES["naive"], rates.estimates["naive"]),
            ),
        )
    yield Section("Agreement with people", aggregation_title(report.decides))
    if report.headline.agreement.n_used:
        yield _agreement(report)
    else:
        yield Paragraph(("No pair has both a human label and a verdict, so agreement is unknown.",))
    if report.bias is not None:
        yield Section("Bias", report.bias.title)
        result = report.bias.result
        yield Paragraph((Strong(f"{result.headline}."), *((f" {result.subline}",) if result.subline else ())))
    yield Section("Left out")
    if report.left_out:
        yield Bullets(tuple(left_line(left) for left in report.left_out))
    else:
        yield Paragraph(("Nothing: all pairs are judged and labelled, and all calls are scored.",))
    yield Section(METHOD_TITLE)
    first, second = short_method(report)
    yield Paragraph((*first, " ", *second))


def _rate_row(name: str, estimate: Estimate, *, strong: bool = False) -> Row:
    value: Line = (percent(estimate.value, unit=False) if estimate.value is not None else "n/a",)
    interval = percent_interval(estimate.interval) or "none"
    return Row(((name,), value, (interval,), (f"{estimate.n:,}",), (f"{estimate.labels:,}",)), strong)


def _agreement(report: Report) -> Table:
    rows: list[tuple[str, ReportedAgreement, bool]] = [(aggregation_title(report.decides), report.headline, True)]
    if report.baseline is not None:
        rows.append((f"Always {SPOKEN[report.baseline.label]}", report.baseline.figures, False))
    return Table(
        ("", "Accuracy, %", "Macro-F1", "Kappa", "n used"),
        (False, True, True, True, True),
        tuple(figure_row(name, figures, strong=strong) for name, figures, strong in rows),
    )
