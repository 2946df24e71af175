"""The tables of a report and its method as LaTeX, for a paper."""

from __future__ import annotations

from collections.abc import Iterator

from judgenet.core.wording import clean, plural
from judgenet.report.blocks import (
    Bullets,
    Figure,
    FigureWithText,
    Paragraph,
    ReportDocument,
    Section,
    Table,
    plain_line,
)
from judgenet.report.outline_method import METHOD_TITLE, SOURCES_TITLE


def latex(document: ReportDocument) -> str:
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


def _tex_method(document: ReportDocument) -> Iterator[str]:
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


def _count_tables(document: ReportDocument) -> int:
    return sum(1 for _ in _tables(document))


def _tables(document: ReportDocument) -> Iterator[tuple[str, str, Table]]:
    """All tables with the section that they stand in."""
    section = Section("Accuracy against people")
    for block in document.blocks:
        if isinstance(block, Section):
            section = block
        figure = block.left if isinstance(block, FigureWithText) else block
        table = figure.table if isinstance(figure, Figure) else figure
        if isinstance(table, Table):
            yield section.title, section.fact, table


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
