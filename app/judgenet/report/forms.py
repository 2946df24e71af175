"""The formats of a report, by the ending of its file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judgenet.report.blocks import ReportDocument
from judgenet.report.model import Report
from judgenet.report.writers.csv import csv
from judgenet.report.writers.html import html
from judgenet.report.writers.json import report_json
from judgenet.report.writers.latex import latex
from judgenet.report.writers.markdown import markdown
from judgenet.report.writers.pdf import pdf


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """A format: its name, what it holds in words, and its writer."""

    name: str
    holds: str
    write: Callable[[Report, ReportDocument], str | bytes]


FORMS: dict[str, ReportFormat] = {
    ".html": ReportFormat(
        "HTML", "one file to read and print, nothing remote", lambda report, document: html(document)
    ),
    ".pdf": ReportFormat("PDF", "A4 pages, ready to print", lambda report, document: pdf(document)),
    ".md": ReportFormat("Markdown", "text and tables", lambda report, document: markdown(document)),
    ".tex": ReportFormat("LaTeX", "the tables and the method", lambda report, document: latex(document)),
    ".csv": ReportFormat("CSV", "every figure, one a line", lambda report, document: csv(report)),
    ".json": ReportFormat("JSON", "every figure with its reasons", lambda report, document: report_json(report)),
}
"""The formats by ending."""
