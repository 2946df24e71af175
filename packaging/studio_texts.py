"""Lists the texts of the program, to read all of them in one go.

    python packaging/studio_texts.py [results bias …]
    python packaging/studio_texts.py --in cli [rate …]

The studio's texts are collected by page, in modules called ``texts`` (those of actions in ``ui/action_texts.py``):
without ``--in`` these are listed, panel by panel, in the order in which they appear. Texts of commands and of the
report are in the code that prints them: with ``--in`` those of a folder of the package are listed, module by module.
Further words select modules whose path contains one of them. Values that are filled in are shown as {…}, on a page of
the studio with their names.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "app" / "judgenet"
_LEAST_LETTERS = 7
_STYLES = "setStyleSheet"


def literals(source: str, *, named: bool = False) -> list[tuple[int, str]]:
    """Line and text of each string of a module that a user may see, in order.

    Values that are filled in are shown as ``{…}``; with ``named``, a variable by its name. Docstrings, style sheets,
    keys of dictionaries, and the messages of ``raise`` and ``assert`` are left out.
    """
    tree = ast.parse(source)
    passed = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(id(node.value))
        elif isinstance(node, ast.JoinedStr | ast.FormattedValue):
            inside = node.values if isinstance(node, ast.JoinedStr) else [node.format_spec]
            passed.update(id(part) for part in inside if not isinstance(part, ast.FormattedValue))
        elif isinstance(node, ast.Dict):
            passed.update(id(key) for key in node.keys)
        elif isinstance(node, ast.Raise | ast.Assert) or _sets_styles(node):
            passed.update(id(part) for part in ast.walk(node))
    texts = [(node.lineno, text) for node in ast.walk(tree) if id(node) not in passed and (text := _text(node, named))]
    return sorted(texts)


def _sets_styles(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _STYLES


def _text(node: ast.AST, named: bool) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else _filled(part, named) for part in node.values
        )
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _filled(part: ast.expr, named: bool) -> str:
    value = part.value if isinstance(part, ast.FormattedValue) else None
    return f"{{{value.id}}}" if named and isinstance(value, ast.Name) else "{…}"


def texts_of(source: str) -> list[tuple[int, str]]:
    """The literals of a module with several words."""
    return [
        (line, text)
        for line, text in literals(source)
        if " " in text.strip() and sum(letter.isalpha() for letter in text) >= _LEAST_LETTERS
    ]


def page_of(source: str) -> list[tuple[int, str]]:
    """All texts of a ``texts`` module, and the comment lines between them that name the panels."""
    panels = [(line, text) for line, text in enumerate(source.splitlines(), 1) if text.startswith("# ")]
    return sorted(literals(source, named=True) + panels)


def is_texts_module(path: Path) -> bool:
    """Whether a module contains texts of the studio and nothing else."""
    return path.stem == "texts" or path.stem.endswith("_texts")


def modules(folder: Path, wanted: list[str]) -> Iterator[Path]:
    """The modules below a folder whose path contains one of these words; all where there are none."""
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if not wanted or any(word in name for word in wanted):
            yield path


def main() -> None:
    """Prints the texts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*", help="pages, or other words of a module's path")
    parser.add_argument("--in", dest="folder", help="list all strings of this folder of the package, as cli or report")
    choice = parser.parse_args()
    for path in modules(PACKAGE / (choice.folder or "ui"), choice.words):
        if choice.folder is None and not is_texts_module(path):
            continue
        source = path.read_text(encoding="utf-8")
        texts = texts_of(source) if choice.folder else page_of(source)
        if texts:
            print(f"\n{path.relative_to(PACKAGE).as_posix()}")
        for line, text in texts:
            print(f"{line:>5}  {text if text.startswith('# ') else repr(text)}")


if __name__ == "__main__":
    main()
