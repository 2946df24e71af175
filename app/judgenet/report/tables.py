"""A report as Markdown, as LaTeX tables, and as plain figures for machines (CSV and JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from judgenet.core import network_json
from judgenet.core.network import NetworkSpec
from judgenet.formats.tables import csv_text
from judgenet.report.bias_figures import LabFigures
from judgenet.report.blocks import (
    Beside,
    Block,
    Bullets,
    Chip,
    Clouds,
    Document,
    Facts,
    Figure,
    Given,
    Headline,
    Inline,
    Line,
    Notice,
    Paragraph,
    Section,
    Sent,
    Strong,
    Study,
    Table,
)
from judgenet.report.model import Excerpt, Figures, Report
from judgenet.report.more_records import Record, lab_records, more_records
from judgenet.report.outline_method import METHOD_TITLE, SOURCES_TITLE
from judgenet.report.words import LETTERS, clean, plural
from judgenet.stats.agreement import PositionConsistency
from judgenet.stats.calibration import Estimate
from judgenet.stats.discussion import Overturns
from judgenet.stats.intervals import Interval, WinRate
from judgenet.version import __version__

# Markdown


def markdown(document: Document) -> str:
    """The report as GitHub's Markdown; charts are tables. Texts of the data are escaped, so that none is markup."""
    parts = [
        f"{_md_line(document.kicker)} · {document.date}",
        f"# {_md(document.title)}",
        *(text for block in document.blocks for text in _md_block(block) if text),
        "---",
        _md(document.foot.split(",")[0]),
    ]
    return "\n\n".join(parts) + "\n"


_MD_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_MD_START = re.compile(r"^(\d+)([.)])(?=\s|$)|^(#|[+\-](?=\s|$)|[=\-](?=[=\-]*\s*$))", re.MULTILINE)


def _md(text: str) -> str:
    """A text on one line without meaning as markup."""
    return _md_escaped(text.replace("\n", " ").replace("\r", " "))


def _md_escaped(text: str) -> str:
    safe = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = _MD_SPECIAL.sub(r"\\\1", safe)
    return _MD_START.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", safe)


def _md_inline(part: Inline) -> str:
    if isinstance(part, Strong):
        text = part.text.rstrip()
        return f"**{_md(text)}**{part.text[len(text) :]}"
    if isinstance(part, Given):
        return _md(part.text)
    if isinstance(part, Chip):
        return "–" if part.verdict is None else f"**{LETTERS[part.verdict]}**"
    return _md(part)


def _md_line(line: Line) -> str:
    return "".join(map(_md_inline, line)).strip()


def _md_table(table: Table) -> str:
    def row(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    head = row(map(_md, table.columns))
    rule = row("--:" if numeric else ":--" for numeric in table.numeric)
    body = []
    for line in table.rows:
        cells = [_md_line(cell) for cell in line.cells]
        body.append(row(f"**{cell}**" if line.strong and cell else cell for cell in cells))
    return "\n".join([head, rule, *body])


def _md_quote(text: Excerpt) -> str:
    lines = []
    for line in text.text.split("\n"):
        bare = line.lstrip(" \t")
        # Four spaces at the beginning would make it code.
        lines.append("> " + "&nbsp;" * (len(line) - len(bare)) + _md_escaped(bare.rstrip()))
    shown = "  \n".join(lines)
    if text.left_out:
        shown += f"\n\n{text.note}"
    return shown


def _md_block(block: Block) -> Iterator[str]:
    if isinstance(block, Section):
        fact = f" ({_md(block.fact)})" if block.fact else ""
        yield f"{'#' * block.level} {_md(block.title)}{fact}"
    elif isinstance(block, Headline):
        yield f"**{_md(block.figure)}**, {_md(block.interval)}: {_md_line(block.line)}"
    elif isinstance(block, (Notice, Paragraph)):
        yield _md_line(block.line)
    elif isinstance(block, Bullets):
        yield "\n".join(f"- {_md_line(item)}" for item in block.items)
    elif isinstance(block, Facts):
        yield "\n".join(f"- {_md(name)}: {_md_line(value)}" for name, value in block.rows)
    elif isinstance(block, Table):
        yield _md_table(block)
    elif isinstance(block, Figure):
        yield _md_table(block.table) if block.table is not None else f"*{_md(block.drawing.words)}*"
    elif isinstance(block, Beside):
        yield from _md_block(block.left)
        for part in block.right:
            yield from _md_block(part)
    elif isinstance(block, Clouds):
        for cloud in block.items:
            words = ", ".join(f"{_md(name)} {count:,}" for name, count in cloud.words)
            yield f"**{_md_line(cloud.title)}** ({cloud.fact}): {words}"
    elif isinstance(block, Study):
        yield from _md_study(block)
    elif isinstance(block, Sent):
        yield f"### {_md(block.title)}"
        for name, text in block.texts:
            if text.text:
                yield f"{_md(name)}:"
                yield _md_quote(text)


def _md_study(block: Study) -> Iterator[str]:
    study = block.study
    task = f", {_md(study.task)}" if study.task else ""
    yield f"#### {_md(study.pair_id)}{task}"
    yield _md_line(block.why)
    yield "Question:"
    yield _md_quote(study.question)
    for letter, text in (("A", study.response_a), ("B", study.response_b)):
        yield f"Response {letter}:"
        yield _md_quote(text)
    for quote, speaker in zip(study.quotes, block.speakers, strict=True):
        yield f"{_md_line(speaker)}"
        yield _md_quote(quote.evidence)


# LaTeX


def latex(document: Document) -> str:
    """All tables of the report and the text of its method as LaTeX, to be put into a document that loads ``booktabs``
    and ``adjustbox``: a table wider than the line is made as wide as it."""
    parts = [
        f"% Tables of a JudgeNet report ({plural(_count_tables(document), 'table')}) and its method. "
        "Needs \\usepackage{booktabs,adjustbox}.",
        *_tex_method(document),
    ]
    for title, fact, table in _tables(document):
        columns = "".join("r" if numeric else "l" for numeric in table.numeric)
        rows = [" & ".join(_tex(column) for column in table.columns) + r" \\"]
        body = []
        for row in table.rows:
            cells = [_tex(plain_line(cell)) for cell in row.cells]
            if row.strong:
                cells = [rf"\textbf{{{cell}}}" if cell else "" for cell in cells]
            body.append(" & ".join(cells) + r" \\")
        caption = _tex(f"{title} ({fact})" if fact else title)
        parts.append(
            "\n".join(
                (
                    r"\begin{table}",
                    r"\centering",
                    rf"\caption{{{caption}.}}",
                    r"\begin{adjustbox}{max width=\linewidth}",
                    rf"\begin{{tabular}}{{{columns}}}",
                    r"\toprule",
                    *rows,
                    r"\midrule",
                    *body,
                    r"\bottomrule",
                    r"\end{tabular}",
                    r"\end{adjustbox}",
                    r"\end{table}",
                )
            )
        )
    return "\n\n".join(parts) + "\n"


def _tex_method(document: Document) -> Iterator[str]:
    """The paragraphs of the method, and its sources as a list."""
    title = ""
    for block in document.blocks:
        if isinstance(block, Section):
            title = block.title
        elif title == METHOD_TITLE and isinstance(block, Paragraph):
            yield _tex(plain_line(block.line))
        elif title == SOURCES_TITLE and isinstance(block, Bullets):
            items = "\n".join(rf"\item {_tex(plain_line(item))}" for item in block.items)
            yield f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}"


def _count_tables(document: Document) -> int:
    return sum(1 for _ in _tables(document))


def _tables(document: Document) -> Iterator[tuple[str, str, Table]]:
    """All tables with the section that they stand in."""
    section = Section("Accuracy against people")
    for block in document.blocks:
        if isinstance(block, Section):
            section = block
        figure = block.left if isinstance(block, Beside) else block
        table = figure.table if isinstance(figure, Figure) else figure
        if isinstance(table, Table):
            yield section.title, section.fact, table


def plain_line(line: Line) -> str:
    """A line without markup; a verdict as its letter."""
    texts = []
    for part in line:
        if isinstance(part, Chip):
            texts.append("–" if part.verdict is None else LETTERS[part.verdict])
        else:
            texts.append(part if isinstance(part, str) else part.text)
    return "".join(texts)


_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "×": r"$\times$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    # A row that begins with a bracket would be taken for an argument of the line break before it.
    "[": "{[}",
    "]": "{]}",
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in " ".join(clean(text).split()))


# Figures for machines


def csv(report: Report) -> str:
    """All figures of the report, one a line. Cells that a spreadsheet would take for formulas are guarded."""
    return _csv(records(report))


def lab_csv(lab: LabFigures) -> str:
    """The figures of a bias lab that has no run beside it, as :func:`csv`."""
    return _csv(lab_records(lab))


def _csv(found: Iterable[Record]) -> str:
    return csv_text(Record._fields, ([_csv_cell(value) for value in record] for record in found))


def _csv_cell(value: float | int | str | None) -> float | int | str | None:
    return clean(value) if isinstance(value, str) else value


def records(report: Report) -> Iterator[Record]:
    """All figures of the report."""
    about, data = report.about, report.data
    yield Record("run", about.run_id, "state", about.state)
    yield Record("run", about.run_id, "pairs_finished", data.finished, n_total=data.pairs)
    yield Record("run", about.run_id, "pairs_labelled", data.labelled, n_total=data.pairs)
    yield Record("run", about.run_id, "data_hash", data.hash)
    unknown = "" if about.prompts_digest else "what recorded judges were asked is not known"
    yield Record("run", about.run_id, "prompts", about.prompts_digest or None, reason=unknown)
    yield Record("run", about.run_id, "bootstrap_seed", report.bootstrap_seed)
    yield Record("run", about.run_id, "decides", report.decides)
    spent = about.spent
    yield Record("run", about.run_id, "calls", spent.calls)
    price_reason = f"the price of {plural(spent.unpriced, 'call')} is unknown" if spent.unpriced else ""
    yield Record("run", about.run_id, "price", None if spent.unpriced else spent.price, reason=price_reason)
    for name, figures in report.aggregations.items():
        yield from _figure_records("aggregation", name, figures)
    if report.baseline is not None:
        yield from _figure_records("baseline", f"always {report.baseline.label}", report.baseline.figures)
    yield _rate_record("network", report.verdicts, data.pairs)
    yield _rate_record("people", report.human, data.pairs)
    yield from _rate_records(report)
    for task in report.tasks:
        for name, figures in task.figures.items():
            yield from _figure_records("task", f"{task.task or '(no task)'}, {name}", figures)
    yield from _position_records("c1", report.position)
    for layer in report.layers:
        yield from _position_records(f"layer {layer.layer}", layer.position)
        yield Record("calls", f"layer {layer.layer}", "scored", layer.calls_scored, n_total=layer.calls_total)
    for neuron in report.neurons:
        name = f"{neuron.layer}.{neuron.neuron}"
        yield Record("neuron", name, "role", neuron.role, reason="" if neuron.role else "none, or another by pair")
        yield from _figure_records("neuron", name, neuron.figures)
        yield from _position_records(name, neuron.position)
        yield Record("calls", name, "scored", neuron.calls_scored, n_total=neuron.calls_total)
        if neuron.changed is not None:
            yield from _change_records(f"neuron {name}", neuron.changed)
    for role in report.roles:
        yield from _figure_records("role", role.role, role.figures)
    for change in report.changes:
        yield from _change_records(f"layer {change.before} to {change.after}", change.overturns)
    for reason in report.unscored:
        yield Record("unscored", reason.reason, "calls", reason.calls, n_total=spent.calls)
    for left in report.left_out:
        yield Record("left out", left.what, "count", left.count, n_total=left.total, reason=left.why)
        if left.first:
            yield Record("left out", left.what, "first", ", ".join(left.first), n_used=len(left.first))
    for words in report.words:
        for word, count in words.words:
            yield Record("role names", words.task or "(no task)", word, count, n_total=words.pairs)
    yield from more_records(report)


def _figure_records(about: str, name: str, figures: Figures) -> Iterator[Record]:
    found, intervals = figures.agreement, figures.intervals
    reasons = found.reasons | {figure: why for figure, why in intervals.reasons.items() if figure not in found.reasons}
    values = (
        ("accuracy", found.accuracy, intervals.accuracy),
        ("macro_f1", found.macro_f1, intervals.macro_f1),
        ("kappa", found.kappa, intervals.kappa),
        ("majority_baseline", found.majority_baseline, None),
    )
    for figure, value, interval in values:
        low, high = interval or (None, None)
        why = found.reasons.get(figure, "") if value is None else "" if low is not None else reasons.get(figure, "")
        yield Record(about, name, figure, value, low, high, *figures.used, why)


def _rate_record(name: str, rate: WinRate, total: int) -> Record:
    low, high = rate.interval or (None, None)
    reason = "" if rate.n else "there is no verdict"
    return Record("win rate of b, uncorrected", name, "win_rate", rate.value, low, high, rate.n, total, reason)


def _rate_records(report: Report) -> Iterator[Record]:
    rates, about = report.rates, "win rate of b"
    named: dict[str, Estimate] = {str(method): found for method, found in rates.estimates.items()}
    named["decided"] = rates.decided
    for name, found in named.items():
        low, high = found.interval or (None, None)
        yield Record(about, name, "win_rate", found.value, low, high, found.n, rates.judged, found.reason)
        yield Record(about, name, "labels", found.labels, n_total=rates.judged)
    length = rates.length_adjusted
    low, high = length.interval or (None, None)
    yield Record(about, "length_adjusted", "win_rate", length.value, low, high, length.n, rates.judged, length.reason)
    yield Record(about, "length_adjusted", "slope", length.slope, reason=length.reason)
    yield Record(about, "labels", "chosen", rates.chosen, reason="assumed" if rates.assumed else "")
    for figure in ("multiplier", "per_verdict", "correlation"):
        yield Record(about, "worth", figure, getattr(rates.worth, figure), reason=rates.worth.reason)
    for part in rates.strata:
        used = (part.labels, part.n)
        for figure in ("share", "mean", "sd"):
            yield Record("verdict stratum", part.verdict, figure, getattr(part, figure), None, None, *used)


def _position_records(name: str, found: PositionConsistency) -> Iterator[Record]:
    for figure, value in (
        ("flip_rate", found.flip_rate),
        ("first_first", found.primacy),
        ("last_last", found.recency),
        ("tie_in_one", found.partial),
        ("p", found.p),
    ):
        yield Record("orders", name, figure, value, n_used=found.n, n_total=found.n_total, reason=found.reason)


def _change_records(name: str, found: Overturns) -> Iterator[Record]:
    used = (found.n, found.n_total)
    yield Record("changes", name, "rate", found.rate, None, None, *used, found.reasons.get("rate", ""))
    for figure in ("overturned", "reversed", "to_right", "to_wrong", "between_wrong"):
        yield Record("changes", name, figure, getattr(found, figure), None, None, *used)
    labelled = (found.n_labelled, found.n_total)
    for figure in ("gain", "p", "questions_p"):
        yield Record(
            "changes", name, figure, getattr(found, figure), None, None, *labelled, found.reasons.get(figure, "")
        )


def report_json(report: Report) -> str:
    """The whole report as one JSON object: what is undefined is ``null``, with its reason beside it."""
    return _json(_plain(report))


def lab_report_json(lab: LabFigures) -> str:
    """A bias lab that has no run beside it, as :func:`report_json` has it."""
    return _json({"bias": lab.to_json()})


def _json(found: dict[str, Any]) -> str:
    return json.dumps({"judgenet": __version__, "report": 1, **found}, allow_nan=False, indent=1) + "\n"


def _key(name: Any) -> str:
    return "|".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _plain(value: Any) -> Any:
    """A value as JSON has it: dataclasses and named tuples as objects, intervals as ``[low, high]``."""
    if isinstance(value, NetworkSpec):
        return network_json.to_json(value)
    if isinstance(value, LabFigures):
        return value.to_json()
    if isinstance(value, Interval):
        return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {of.name: _plain(getattr(value, of.name)) for of in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {_key(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    return value
