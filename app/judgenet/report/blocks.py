"""What a report is made of, whatever the form it is written in: a list of typed blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from judgenet.core.pairs import Verdict
from judgenet.core.wording import LETTERS
from judgenet.report.drawing import Drawing
from judgenet.report.model import Excerpt, PairStudy


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True, slots=True)
class Given:
    """A short text from the data or from a model: written as it is, in its own direction, never as markup."""

    text: str


@dataclass(frozen=True, slots=True)
class VerdictMark:
    """A verdict with its letter and colour; ``None`` is a dashed chip: no verdict."""

    verdict: Verdict | None


Inline = str | Strong | Given | VerdictMark
Line = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Headline:
    """The report's main figure with its interval. A ``hollow`` one is uncorrected."""

    figure: str
    interval: str
    line: Line
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning that must be read before any figure."""

    line: Line


@dataclass(frozen=True, slots=True)
class Section:
    """A title, with one fact at its right."""

    title: str
    fact: str = ""
    level: Literal[2, 3] = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Prose, or a ``note`` in smaller, grey letters."""

    line: Line
    look: Literal["prose", "note"] = "prose"


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, in ``columns`` columns where there is room."""

    rows: tuple[tuple[str, Line], ...]
    columns: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table; ``strong`` for the subject."""

    cells: tuple[Line, ...]
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table; ``numeric`` says for each column whether it holds figures, which are aligned to the right."""

    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, and the same figures as a table for formats without pictures."""

    drawing: Drawing
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class FigureWithText:
    """A figure with facts or prose at its right."""

    left: Figure
    right: tuple[Facts | Paragraph | Bullets, ...]


@dataclass(frozen=True, slots=True)
class Cloud:
    """A word cloud of one task, and the words with their counts."""

    title: Line
    fact: str
    drawing: Drawing
    words: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Clouds:
    """Word clouds side by side."""

    items: tuple[Cloud, ...]


@dataclass(frozen=True, slots=True)
class PairCloseUp:
    """A pair in full. ``why`` says in one sentence why it is shown; ``speakers`` names the author of each quote."""

    study: PairStudy
    why: Line
    speakers: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """A prompt as it was sent: named texts in order."""

    title: str
    texts: tuple[tuple[str, Excerpt], ...]


Block = (
    Headline
    | Notice
    | Section
    | Paragraph
    | Bullets
    | Facts
    | Table
    | Figure
    | FigureWithText
    | Clouds
    | PairCloseUp
    | Sent
)


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """A report in full. ``kicker`` and ``date`` stand above the title."""

    kicker: Line
    date: str
    title: str
    blocks: tuple[Block, ...]
    foot: str


def plain_line(line: Line) -> str:
    """A line without markup; a verdict as its letter."""
    texts = []
    for part in line:
        if isinstance(part, VerdictMark):
            texts.append("–" if part.verdict is None else LETTERS[part.verdict])
        else:
            texts.append(part if isinstance(part, str) else part.text)
    return "".join(texts)


def drawings(document: ReportDocument) -> Iterator[tuple[str, Drawing]]:
    """All pictures of a report with what they show, in order."""
    title = "Figures"
    for block in document.blocks:
        if isinstance(block, Section):
            title = block.title
        figure = block.left if isinstance(block, FigureWithText) else block
        if isinstance(figure, Figure):
            yield title, figure.drawing
        elif isinstance(figure, Clouds):
            for cloud in figure.items:
                yield f"{title}, {plain_line(cloud.title)}", cloud.drawing
