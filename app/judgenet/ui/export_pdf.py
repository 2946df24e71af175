"""A report laid out on A4 pages and written as PDF."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final, Literal

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPageSize,
    QPainter,
    QPainterPath,
    QPdfWriter,
    QPen,
    QTextLayout,
    QTextLine,
    QTextOption,
)

from judgenet.colors import LIGHT
from judgenet.core.pairs import Verdict
from judgenet.report.blocks import (
    Beside,
    Block,
    Bullets,
    Chip,
    Cloud,
    Clouds,
    Document,
    Facts,
    Figure,
    Given,
    Headline,
    Line,
    Notice,
    Paragraph,
    Section,
    Sent,
    Strong,
    Study,
    Table,
)
from judgenet.report.charts import WIDTH
from judgenet.report.drawing import BODY_PX, Drawing
from judgenet.report.model import Excerpt, PairStudy
from judgenet.report.words import LETTERS, clean
from judgenet.ui.export import UNITS, color_of, font, paint
from judgenet.version import __version__

_RESOLUTION: Final = 2400
"""Dots an inch: 20 dots are one px of the design, 120 of which are an inch, so that a page is 992 px wide."""
PAGE_W: Final = 210 / 25.4 * 120
PAGE_H: Final = 297 / 25.4 * 120
_LEFT: Final = (PAGE_W - WIDTH) / 2
_TOP: Final = 64.0
_BOTTOM: Final = PAGE_H - 88

PaintAt = Callable[[QPainter, float], None]
"""Paints at a y of the page, in px."""


@dataclass(frozen=True, slots=True)
class Strip:
    """What is not broken between pages.

    With ``keep`` it stays with the next one; ``space`` is left out at the top of a page, and never parts what belongs
    together. ``head`` goes before it again where it begins a page.
    """

    height: float
    paint: PaintAt
    keep: bool = False
    space: bool = False
    head: Strip | None = None


@dataclass(frozen=True, slots=True)
class Type:
    """How a text is set: size and line height in px."""

    px: float = BODY_PX
    line: float = 20.0
    weight: int = 400
    color: str = "text"
    mono: bool = False
    align: Literal["left", "right"] = "left"


_BODY: Final = Type()
_QUIET: Final = Type(color="text2")
_PROSE: Final = Type(px=14.0, line=22.0)
_MONO: Final = Type(mono=True)


class Pages:
    """A document laid out on A4 pages of :data:`PAGE_W` × :data:`PAGE_H` px. Needs a Qt application and the fonts."""

    def __init__(self, document: Document) -> None:
        self._foot = document.foot
        self._pages = _pages([*_top(document), *_body(document.blocks)])

    def __len__(self) -> int:
        return len(self._pages)

    def paint(self, painter: QPainter, number: int) -> None:
        """Paints a page, counted from 0; the painter works in :data:`~judgenet.ui.export.UNITS`."""
        for y, strip in self._pages[number]:
            strip.paint(painter, y)
        _foot(painter, self._foot, f"{number + 1} of {len(self._pages)}")


def write_pdf(document: Document) -> bytes:
    """The document on A4 pages. Needs a Qt application and the fonts loaded."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_RESOLUTION)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    writer.setTitle(clean(document.title))
    writer.setCreator(f"JudgeNet {__version__}")
    pages = Pages(document)
    painter = QPainter(writer)
    try:
        for number in range(len(pages)):
            if number:
                writer.newPage()
            pages.paint(painter, number)
    finally:
        painter.end()
    buffer.close()
    return _with_spaces(bytes(data.data()))


_LETTERS_OF_GLYPHS = re.compile(rb"begincmap.*?endcmap", re.DOTALL)
_IN_BRACKETS = re.compile(rb"\[[^]]*\]")


def _with_spaces(data: bytes) -> bytes:
    """Qt takes the glyph of a space for that of a tab: searching and copying would find tabs between all words.

    The tables of letters are not compressed, and the mended ones are as long, so that nothing else in the file moves.
    """

    def mended(table: re.Match[bytes]) -> bytes:
        return _IN_BRACKETS.sub(lambda letters: letters[0].replace(b"<0009>", b"<0020>"), table[0])

    return _LETTERS_OF_GLYPHS.sub(mended, data)


def _pages(strips: Sequence[Strip]) -> list[list[tuple[float, Strip]]]:
    """The strips on pages: each with its y. Those kept together move to the next page together, where they fit."""
    pages: list[list[tuple[float, Strip]]] = [[]]
    y = _TOP
    place = 0
    while place < len(strips):
        end = place
        while end + 1 < len(strips) and (strips[end].keep or (strips[end].space and end > place)):
            end += 1
        group = strips[place : end + 1]
        height = sum(strip.height for strip in group)
        together = height <= _BOTTOM - _TOP
        for strip in group:
            if pages[-1] and y + (height if together else strip.height) > _BOTTOM:
                pages.append([])
                y = _TOP
                if strip.head is not None:
                    pages[-1].append((y, strip.head))
                    y += strip.head.height
            together = False
            if strip.space and not pages[-1]:
                continue
            pages[-1].append((y, strip))
            y += strip.height
        place = end + 1
    return [page for page in pages if page] or [[]]


def _foot(painter: QPainter, text: str, number: str) -> None:
    y = PAGE_H - 56
    _rule(painter, _LEFT, y - 8, WIDTH, "line")
    for line, align in ((text, "left"), (number, "right")):
        for laid in _lines((line,), WIDTH, replace(_QUIET, align=align)):  # type: ignore[arg-type]
            laid.draw(painter, _LEFT, y)


def _rule(painter: QPainter, x: float, y: float, width: float, token: str) -> None:
    painter.setPen(QPen(color_of(LIGHT, token), UNITS))
    painter.drawLine(QPointF(x * UNITS, y * UNITS), QPointF((x + width) * UNITS, y * UNITS))


def _gap(height: float, *, keep: bool = False) -> Strip:
    return Strip(height, lambda painter, y: None, keep=keep, space=True)


# Text


@dataclass(frozen=True, slots=True)
class _Laid:
    """One line of text. ``layout`` is kept, as the line lives in it."""

    layout: QTextLayout
    line: QTextLine
    type: Type
    chips: tuple[tuple[float, Verdict | None], ...]

    @property
    def height(self) -> float:
        return self.type.line

    def draw(self, painter: QPainter, x: float, y: float) -> None:
        baseline = y + self.type.line / 2 + 0.36 * self.type.px
        painter.setPen(color_of(LIGHT, self.type.color))
        self.line.draw(painter, QPointF(x * UNITS, baseline * UNITS - self.line.ascent()))
        for at, verdict in self.chips:
            _chip(painter, x + at + 2, y + self.type.line / 2 - 10, verdict)


_CHIP_W: Final = 28.0


def _chip(painter: QPainter, x: float, y: float, verdict: Verdict | None) -> None:
    box = QRectF(x * UNITS, y * UNITS, 24 * UNITS, 20 * UNITS)
    if verdict is None:
        pen = QPen(color_of(LIGHT, "unscored"), UNITS)
        pen.setDashPattern([3, 3])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color_of(LIGHT, verdict))
    painter.drawRoundedRect(box, 4 * UNITS, 4 * UNITS)
    painter.setFont(font(BODY_PX, 600))
    painter.setPen(color_of(LIGHT, "unscored" if verdict is None else "on" + verdict.capitalize()))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "–" if verdict is None else LETTERS[verdict])


def _font_of(type: Type) -> QFont:
    return font(type.px, type.weight, mono=type.mono)


def _isolated(text: str) -> str:
    """A text of the data within one of ours: its direction stays its own."""
    if text.isascii() or not any(unicodedata.bidirectional(letter) in _TURNING for letter in text):
        return text
    return f"\u2068{text}\u2069"


_TURNING = frozenset(("R", "AL", "RLE", "RLO", "LRE", "LRO", "RLI", "LRI", "FSI"))


def _lines(line: Line, width: float, type: Type) -> list[_Laid]:
    """A paragraph broken into lines of at most ``width`` px."""
    used = _font_of(type)
    filler = "\u00a0" * max(1, round(_CHIP_W * UNITS / QFontMetricsF(used).horizontalAdvance("\u00a0")))
    text = ""
    strong: list[tuple[int, int]] = []
    chips: list[tuple[int, Verdict | None]] = []
    for part in line:
        if isinstance(part, Chip):
            chips.append((len(text), part.verdict))
            text += filler
        elif isinstance(part, Strong):
            strong.append((_utf16(text), _utf16(part.text)))
            text += clean(part.text)
        else:
            text += clean(part) if isinstance(part, str) else _isolated(clean(part.text))
    layout = QTextLayout(text.replace("\n", " "), used)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    if type.align == "right":
        option.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    layout.setTextOption(option)
    layout.setFormats([_bold(start, length, type) for start, length in strong])
    found: list[QTextLine] = []
    layout.beginLayout()
    while (next_line := layout.createLine()).isValid():
        next_line.setLineWidth(width * UNITS)
        next_line.setPosition(QPointF(0, 0))
        found.append(next_line)
    layout.endLayout()
    places = [(_utf16(text[:at]), verdict) for at, verdict in chips]
    laid = []
    for one in found:
        start, length = one.textStart(), one.textLength()
        mine = tuple((_x_of(one, at) / UNITS, verdict) for at, verdict in places if start <= at < start + length)
        laid.append(_Laid(layout, one, type, mine))
    return laid


def _utf16(text: str) -> int:
    """How long Qt takes a text to be."""
    return len(text.encode("utf-16-le")) // 2


def _x_of(line: QTextLine, at: int) -> float:
    found = line.cursorToX(at)
    # The types say object; what comes is the x with the cursor's place, which may be another one within a letter.
    assert isinstance(found, tuple)
    return float(found[0])


def _bold(start: int, length: int, type: Type) -> QTextLayout.FormatRange:
    wanted = QTextLayout.FormatRange()
    wanted.start, wanted.length = start, length
    format = wanted.format
    format.setFont(_font_of(replace(type, weight=600)))
    wanted.format = format
    return wanted


def _given(text: Excerpt, width: float, type: Type) -> list[_Laid]:
    """A text of the data, paragraph by paragraph in its own direction."""
    shown = text.text + ("…" if text.left_out else "")
    found = [laid for part in shown.split("\n") for laid in _lines((part,), width, type)]
    if text.left_out:
        note = f"Cut here: {len(text.text):,} of {text.total:,} characters are shown."
        found += _lines((note,), width, _QUIET)
    return found


def _strips(lines: Sequence[_Laid], x: float, *, keep_first: int = 0) -> list[Strip]:
    """A strip a line; a paragraph's first and last two lines stay together."""
    last = len(lines) - 1
    return [
        Strip(laid.height, _drawn(laid, x), keep=place < keep_first or (last > 0 and place in (0, last - 1)))
        for place, laid in enumerate(lines)
    ]


def _drawn(laid: _Laid, x: float) -> PaintAt:
    return lambda painter, y: laid.draw(painter, x, y)


def _text_width(line: Line, type: Type) -> float:
    metrics = QFontMetricsF(_font_of(type))
    width = 0.0
    for part in line:
        if isinstance(part, Chip):
            width += _CHIP_W
        else:
            width += metrics.horizontalAdvance(clean(part if isinstance(part, str) else part.text)) / UNITS
    return width + 2


# Blocks


def _top(document: Document) -> Iterator[Strip]:
    kicker = _lines(document.kicker, WIDTH - 200, _QUIET)[:1]
    date = _lines((document.date,), WIDTH, replace(_QUIET, align="right"))[:1]

    def header(painter: QPainter, y: float) -> None:
        for laid in (*kicker, *date):
            laid.draw(painter, _LEFT, y)

    yield Strip(20, header, keep=True)
    yield _gap(12, keep=True)
    yield from _strips(_lines((document.title,), WIDTH, Type(80 / 3, 36, 600)), _LEFT)


def _body(blocks: Sequence[Block]) -> Iterator[Strip]:
    for place, block in enumerate(blocks):
        # A note between two titles belongs to both.
        titles = (blocks[place - 1 : place] or (None,))[0], (blocks[place + 1 : place + 2] or (None,))[0]
        between = isinstance(block, Paragraph) and all(isinstance(title, Section) for title in titles)
        for strip in _block(block):
            yield replace(strip, keep=True) if between else strip


def _block(block: Block) -> Iterator[Strip]:
    if isinstance(block, Section):
        yield from _section(block)
    elif isinstance(block, Headline):
        yield from _headline(block)
    elif isinstance(block, Notice):
        yield from _notice(block)
    elif isinstance(block, Paragraph):
        yield _gap(8)
        note = block.look == "note"
        yield from _strips(_lines(block.line, 800, _QUIET if note else _PROSE), _LEFT)
        yield _gap(4)
    elif isinstance(block, Bullets):
        yield from _bullets(block)
    elif isinstance(block, Facts):
        yield from _fact_columns(block)
    elif isinstance(block, Table):
        yield from _table(block)
    elif isinstance(block, Figure):
        yield _gap(12)
        yield _figure(block.drawing, _LEFT)
        yield _gap(4)
    elif isinstance(block, Beside):
        yield from _beside(block)
    elif isinstance(block, Clouds):
        yield from _clouds(block)
    elif isinstance(block, Study):
        yield from _study(block)
    else:
        yield from _sent(block)


def _section(block: Section) -> Iterator[Strip]:
    high = block.level == 2
    title = _lines((block.title,), WIDTH * 0.6, Type(44 / 3 if high else BODY_PX, 24, 600))[:1]
    fact = _lines((block.fact,), WIDTH * 0.6, replace(_QUIET, align="right"))[:1] if block.fact else []

    def drawn(painter: QPainter, y: float) -> None:
        for laid in title:
            laid.draw(painter, _LEFT, y)
        for laid in fact:
            laid.draw(painter, _LEFT + WIDTH * 0.4, y + 2)
        if high:
            _rule(painter, _LEFT, y + 32, WIDTH, "line2")

    yield _gap(32 if high else 20)
    yield Strip(44 if high else 28, drawn, keep=True)


def _headline(block: Headline) -> Iterator[Strip]:
    big = Type(48, 52, 400 if block.hollow else 600, "text3" if block.hollow else "text")
    figure = _lines((block.figure,), WIDTH, big)[:1]
    x = _LEFT + _text_width((block.figure,), big) + 22
    width = _LEFT + WIDTH - x
    said = [
        *_lines((block.interval,), width, Type(52 / 3, 24, 500)),
        *_lines(block.line, width, _QUIET),
    ]
    height = sum(laid.height for laid in said)

    def drawn(painter: QPainter, y: float) -> None:
        for laid in figure:
            laid.draw(painter, _LEFT, y)
        at = y + max(0.0, (52 - height) / 2)
        for laid in said:
            laid.draw(painter, x, at)
            at += laid.height

    yield _gap(16)
    yield Strip(max(52, height), drawn)
    yield _gap(4)


def _notice(block: Notice) -> Iterator[Strip]:
    lines = _lines(block.line, WIDTH - 32, _BODY)
    height = 24 + sum(laid.height for laid in lines)

    def drawn(painter: QPainter, y: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color_of(LIGHT, "warnTint"))
        painter.drawRoundedRect(QRectF(_LEFT * UNITS, y * UNITS, WIDTH * UNITS, height * UNITS), 8 * UNITS, 8 * UNITS)
        for place, laid in enumerate(lines):
            laid.draw(painter, _LEFT + 16, y + 12 + 20 * place)

    yield _gap(16)
    yield Strip(height, drawn)


def _bullets(block: Bullets) -> Iterator[Strip]:
    for item in block.items:
        strips = _strips(_lines(item, 780, _PROSE), _LEFT + 20)
        first = strips[0]

        def drawn(painter: QPainter, y: float, first: Strip = first) -> None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color_of(LIGHT, "text"))
            painter.drawEllipse(QPointF((_LEFT + 8) * UNITS, (y + 11) * UNITS), 2.5 * UNITS, 2.5 * UNITS)
            first.paint(painter, y)

        yield replace(first, paint=drawn)
        yield from strips[1:]
        yield _gap(4)


_Row = tuple[list[_Laid], list[_Laid]]


def _facts(block: Facts, width: float) -> list[_Row]:
    return [(_lines((name,), 116, _QUIET)[:1], _lines(value, width - 124, _BODY)) for name, value in block.rows]


def _fact_columns(block: Facts) -> Iterator[Strip]:
    width = (WIDTH - 48 * (block.columns - 1)) / block.columns
    columns: list[list[Strip]] = []
    rows = _facts(block, width)
    high = -(-len(rows) // block.columns)
    for place in range(block.columns):
        x = _LEFT + place * (width + 48)
        columns.append([strip for row in rows[place * high : (place + 1) * high] for strip in _strips_of_row(row, x)])
    if block.columns == 1:
        yield from columns[0]
        return

    def drawn(painter: QPainter, top: float) -> None:
        for column in columns:
            y = top
            for strip in column:
                strip.paint(painter, y)
                y += strip.height

    yield Strip(max((sum(strip.height for strip in column) for column in columns), default=0.0), drawn)


def _strips_of_row(row: _Row, x: float) -> list[Strip]:
    name, value = row
    strips = []
    for place, (left, right) in enumerate(zip_longest(name, value)):

        def drawn(painter: QPainter, y: float, left: _Laid | None = left, right: _Laid | None = right) -> None:
            if left is not None:
                left.draw(painter, x, y)
            if right is not None:
                right.draw(painter, x + 124, y)

        last = place == max(len(name), len(value)) - 1
        strips.append(Strip(26 if last else 20, drawn))
    return strips


def _figure(drawing: Drawing, x: float) -> Strip:
    return Strip(drawing.height + 4, lambda painter, y: paint(painter, drawing, LIGHT, x, y, tabular=False))


def _beside(block: Beside) -> Iterator[Strip]:
    drawing = block.left.drawing
    x = _LEFT + drawing.width + 48
    width = _LEFT + WIDTH - x
    right: list[Strip] = []
    for part in block.right:
        if isinstance(part, Facts):
            right += [strip for row in _facts(part, width) for strip in _strips_of_row(row, x)]
        else:
            items = (part.line,) if isinstance(part, Paragraph) else part.items
            right += [strip for item in items for strip in _strips(_lines(item, width, _PROSE), x)]

    def drawn(painter: QPainter, y: float) -> None:
        paint(painter, drawing, LIGHT, _LEFT, y, tabular=False)
        for strip in right:
            strip.paint(painter, y)
            y += strip.height

    yield _gap(8)
    yield Strip(max(drawing.height, sum(strip.height for strip in right)), drawn)


def _clouds(block: Clouds) -> Iterator[Strip]:
    for first in range(0, len(block.items), 2):
        yield _cloud_row(block.items[first : first + 2])


def _cloud_row(clouds: Sequence[Cloud]) -> Strip:
    half = (WIDTH - 16) / 2
    titles = [
        (
            _lines(cloud.title, half - 180, replace(_BODY, weight=600))[:1],
            _lines((cloud.fact,), half, replace(_QUIET, align="right"))[:1],
        )
        for cloud in clouds
    ]

    def drawn(painter: QPainter, y: float) -> None:
        for place, (cloud, (title, fact)) in enumerate(zip(clouds, titles, strict=True)):
            x = _LEFT + place * (half + 16)
            for laid in (*title, *fact):
                laid.draw(painter, x, y)
            _rule(painter, x, y + 26, half, "line")
            paint(painter, cloud.drawing, LIGHT, x, y + 32, tabular=False)

    return Strip(44 + max(cloud.drawing.height for cloud in clouds), drawn)


def _table(block: Table) -> Iterator[Strip]:
    widths = _column_widths(block)
    xs = [_LEFT + sum(widths[:place]) for place in range(len(widths))]
    head = _table_row(
        [(column,) for column in block.columns],
        block.numeric,
        widths,
        xs,
        [replace(_QUIET, weight=500)] * len(widths),
    )
    yield _gap(4)
    yield replace(head, keep=True)
    for number, row in enumerate(block.rows, 1):
        types = []
        for place in range(len(row.cells)):
            strong = row.strong and place < 2
            quiet = place == len(row.cells) - 1
            types.append(replace(_QUIET if quiet else _BODY, weight=600 if strong else 400))
        strip = _table_row(row.cells, block.numeric, widths, xs, types)
        whole = len(block.rows) <= _WHOLE_ROWS and number < len(block.rows)
        yield replace(strip, keep=whole or number == 1, head=head)
    yield _gap(8)


_CELL_GAP: Final = 24.0
_WHOLE_ROWS: Final = 14
"""Tables of at most so many rows are not broken between pages."""


def _column_widths(block: Table) -> list[float]:
    """Widths of columns in px, the space between them included; together as wide as the page's column."""
    natural = []
    for place, column in enumerate(block.columns):
        cells = [_text_width(row.cells[place], replace(_BODY, weight=600 if row.strong else 400)) for row in block.rows]
        natural.append(max([_text_width((column,), replace(_BODY, weight=500)), *cells]) + _CELL_GAP)
    spare = WIDTH - sum(natural)
    if spare >= 0:
        share = spare / max(1, len(natural) - 1)
        return [width if not place else width + share for place, width in enumerate(natural)]
    texts = [place for place, numeric in enumerate(block.numeric) if not numeric]
    wide = sum(natural[place] for place in texts)
    if not texts or wide + spare < 60 * len(texts):
        return [width * WIDTH / sum(natural) for width in natural]
    return [width * (wide + spare) / wide if place in texts else width for place, width in enumerate(natural)]


def _table_row(
    cells: Sequence[Line],
    numeric: Sequence[bool],
    widths: Sequence[float],
    xs: Sequence[float],
    types: Sequence[Type],
) -> Strip:
    set_cells: list[tuple[float, list[_Laid]]] = []
    for place, cell in enumerate(cells):
        type = replace(types[place], align="right") if numeric[place] else types[place]
        # A column of figures ends where the next one begins, the others leave the space at their right.
        room = widths[place] if numeric[place] else widths[place] - _CELL_GAP
        set_cells.append((xs[place], _lines(cell, room, type)))
    height = 12 + 20 * max(len(lines) for _, lines in set_cells)

    def drawn(painter: QPainter, y: float) -> None:
        for x, lines in set_cells:
            for place, laid in enumerate(lines):
                laid.draw(painter, x, y + 6 + 20 * place)
        _rule(painter, _LEFT, y + height, WIDTH, "line")

    return Strip(height, drawn)


_WHO_W: Final = 208.0


def _study(block: Study) -> Iterator[Strip]:
    study = block.study
    x = _LEFT + _WHO_W + 24
    width = WIDTH - _WHO_W - 24
    who = _who(study)
    who_height = sum(height for height, _ in who)
    right = _strips(_lines(block.why, width, _PROSE), x)
    right.append(_gap(6))
    for quote, speaker in zip(study.quotes, block.speakers, strict=True):
        lines = [*_given(quote.evidence, width - 18, _PROSE), *_lines(speaker, width - 18, _QUIET)]
        right += [_quoted(strip, x) for strip in _strips(lines, x + 18)]
        right.append(_gap(10))
    right += _texts(study, x, width)

    # What stands at the left is painted with the first strips at the right, which stay together as far as it reaches.
    height, kept = 0.0, 0
    while kept < len(right) and height < who_height:
        height += right[kept].height
        kept += 1
    if height < who_height:
        right.append(_gap(who_height - height))
        kept = len(right)
    first = right[0]

    def drawn(painter: QPainter, y: float) -> None:
        at = y
        for line_height, lines in who:
            for laid in lines:
                laid.draw(painter, _LEFT, at)
            at += line_height
        first.paint(painter, y)

    yield _gap(12)
    for place, strip in enumerate(right):
        strip = replace(strip, paint=drawn) if place == 0 else strip
        yield replace(strip, keep=strip.keep or place < kept - 1)
    yield Strip(12, lambda painter, y: _rule(painter, _LEFT, y + 8, WIDTH, "line"))


def _who(study: PairStudy) -> list[tuple[float, list[_Laid]]]:
    rows: list[tuple[float, list[_Laid]]] = []
    for laid in _lines((Strong(study.pair_id),), _WHO_W, _BODY):
        rows.append((20, [laid]))
    if study.task:
        rows += [(20.0, [laid]) for laid in _lines((Given(study.task),), _WHO_W, _QUIET)]
    marks: list[tuple[str, Line]] = [("network", (Chip(study.verdict),)), ("people", (Chip(study.human),))]
    for layer, votes in enumerate(study.verdicts.layer_votes, 1):
        neurons = [neuron.verdict for neuron in study.verdicts.neurons if neuron.layer == layer]
        if len(neurons) <= 4:
            marks.append((f"layer {layer}", tuple(Chip(verdict) for verdict in neurons)))
        else:
            counts: Line = (Chip("a"), f"{votes.a:,} ", Chip("tie"), f"{votes.tie:,} ", Chip("b"), f"{votes.b:,}")
            marks.append((f"layer {layer}", counts))
    for name, value in marks:
        laid_name = _lines((name,), 64, _QUIET)[:1]
        laid_value = [_moved(laid, 66) for laid in _lines(value, _WHO_W - 66, _BODY)[:1]]
        rows.append((26, [*laid_name, *laid_value]))
    return rows


def _moved(laid: _Laid, by: float) -> _Laid:
    return _Shifted(laid.layout, laid.line, laid.type, laid.chips, by)


@dataclass(frozen=True, slots=True)
class _Shifted(_Laid):
    """A line at the right of another one."""

    by: float = 0.0

    def draw(self, painter: QPainter, x: float, y: float) -> None:
        _Laid.draw(self, painter, x + self.by, y)


def _quoted(strip: Strip, x: float) -> Strip:
    def drawn(painter: QPainter, y: float) -> None:
        painter.setPen(QPen(color_of(LIGHT, "line2"), UNITS))
        painter.drawLine(QPointF(x * UNITS, y * UNITS), QPointF(x * UNITS, (y + strip.height) * UNITS))
        strip.paint(painter, y)

    return replace(strip, paint=drawn)


def _texts(study: PairStudy, x: float, width: float) -> list[Strip]:
    """The question, and both responses side by side."""
    half = (width - 24) / 2
    heading = replace(_BODY, weight=600)
    strips = _strips(_lines(("Question",), width, heading), x, keep_first=1)
    strips += _strips(_given(study.question, width, _PROSE), x)
    strips.append(_gap(6))
    left = [*_lines((Chip("a"), " Response A"), half, heading), *_given(study.response_a, half, _PROSE)]
    right = [*_lines((Chip("b"), " Response B"), half, heading), *_given(study.response_b, half, _PROSE)]
    for place, (one, other) in enumerate(zip_longest(left, right)):

        def drawn(painter: QPainter, y: float, one: _Laid | None = one, other: _Laid | None = other) -> None:
            if one is not None:
                one.draw(painter, x, y)
            if other is not None:
                other.draw(painter, x + half + 24, y)

        strips.append(Strip(24 if not place else 22, drawn, keep=place < 2))
    return strips


def _sent(block: Sent) -> Iterator[Strip]:
    yield _gap(8)
    yield from _strips(_lines((block.title,), WIDTH, replace(_BODY, weight=600)), _LEFT, keep_first=1)
    for name, text in block.texts:
        if not text.text:
            continue
        yield from _strips(_lines((name,), WIDTH, _QUIET), _LEFT, keep_first=1)
        for strip in _strips(_given(text, WIDTH - 24, _MONO), _LEFT + 12):
            yield replace(strip, paint=_on_ground(strip))
        yield _gap(8)


def _on_ground(strip: Strip) -> PaintAt:
    def drawn(painter: QPainter, y: float) -> None:
        ground = QPainterPath()
        # A hair taller than the line, so that no seam shows between two of them.
        ground.addRect(QRectF(_LEFT * UNITS, y * UNITS, WIDTH * UNITS, (strip.height + 0.05) * UNITS))
        painter.fillPath(ground, color_of(LIGHT, "bg"))
        strip.paint(painter, y)

    return drawn
