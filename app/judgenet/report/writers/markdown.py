"""A report as GitHub's Markdown: charts are tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from judgenet.core.wording import LETTERS, clean
from judgenet.report.blocks import (
    Block,
    Bullets,
    Clouds,
    Facts,
    Figure,
    FigureWithText,
    Given,
    Headline,
    Inline,
    Line,
    Notice,
    PairCloseUp,
    Paragraph,
    ReportDocument,
    Section,
    Sent,
    Strong,
    Table,
    VerdictMark,
)
from judgenet.report.model import Excerpt


def markdown(document: ReportDocument) -> str:
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
    return _MD_START.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", safe)


def _md_inline(part: Inline) -> str:
    if isinstance(part, Strong):
        text = part.text.rstrip()
        return f"**{_md(text)}**{part.text[len(text) :]}"
    if isinstance(part, Given):
        return _md(part.text)
    if isinstance(part, VerdictMark):
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
    for picture in text.pictures:
        shown += f"\n\n{_md_escaped(picture.caption)}, SHA-256 `{picture.sha256[:16]}…`"
    if text.note:
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
    elif isinstance(block, FigureWithText):
        yield from _md_block(block.left)
        for part in block.right:
            yield from _md_block(part)
    elif isinstance(block, Clouds):
        for cloud in block.items:
            words = ", ".join(f"{_md(name)} {count:,}" for name, count in cloud.words)
            yield f"**{_md_line(cloud.title)}** ({cloud.fact}): {words}"
    elif isinstance(block, PairCloseUp):
        yield from _md_study(block)
    elif isinstance(block, Sent):
        yield f"### {_md(block.title)}"
        for name, text in block.texts:
            if text.text:
                yield f"{_md(name)}:"
                yield _md_quote(text)


def _md_study(block: PairCloseUp) -> Iterator[str]:
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
