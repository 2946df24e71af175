"""What the documentation for developers names is there: files, modules, and the names in them."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app" / "judgenet"
PAGES = ("resources/docs/architecture.md", ".github/CONTRIBUTING.md")

PACKAGES = frozenset(path.name for path in APP.iterdir() if (path / "__init__.py").is_file())
CODE = re.compile(r"`([^`\n]+)`")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)\)")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)+|[\w-]+\.(?:py|md|toml|typ|yml)")
DOTTED = re.compile(r"[a-z]\w*(\.\w+)+")


def paths_named(text: str) -> list[str]:
    """Paths in code, also as words of a command. Of a made environment (`.venv`) nothing is kept in the repository."""
    words = [word for code in (*CODE.findall(FENCED.sub("", text)), *FENCED.findall(text)) for word in code.split()]
    found = [word for word in words if PATH.fullmatch(word) and not word.startswith(".venv/")]
    return list(dict.fromkeys(found))


def names_named(text: str) -> list[str]:
    """Modules, and names in modules, in code: `core.fixes`, `store.frame.RunFrame`."""
    found = [code for code in CODE.findall(FENCED.sub("", text)) if DOTTED.fullmatch(code) or code in PACKAGES]
    return [name for name in dict.fromkeys(found) if name.split(".")[0] in PACKAGES | {"judgenet"} and "/" not in name]


def is_there(name: str) -> bool:
    """Whether a module of the package, or a name in one, exists."""
    full = name if name.split(".")[0] == "judgenet" else f"judgenet.{name}"
    parts = full.split(".")
    for end in range(len(parts), 0, -1):
        try:
            if find_spec(".".join(parts[:end])) is None:
                continue
        except ModuleNotFoundError:
            continue
        value: object = import_module(".".join(parts[:end]))
        for part in parts[end:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


@pytest.mark.parametrize("page", PAGES)
def test_paths_of_a_page_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = [name for name in paths_named(text) if not ((ROOT / name).exists() or (APP / name).exists())]
    missing += [link for link in LINK.findall(text) if not ((ROOT / page).parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_modules_of_a_page_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [name for name in names_named(text) if not is_there(name)] == []


def test_architecture_names_every_package() -> None:
    text = (ROOT / PAGES[0]).read_text(encoding="utf-8")
    assert sorted(PACKAGES - set(CODE.findall(text))) == []


@pytest.mark.parametrize(
    ("text", "paths", "names"),
    [
        ("See `core/mends.py` and `core.mends`.", ["core/mends.py"], ["core.mends"]),
        ("`python packaging/start.py` and `.venv/bin/mkdocs`, `judgenet shots DIR`", ["packaging/start.py"], []),
        ("`store.frame.RunFrame`, `figures`, `Pair.shown`", [], ["store.frame.RunFrame", "figures"]),
    ],
)
def test_what_a_text_names(text: str, paths: list[str], names: list[str]) -> None:
    assert paths_named(text) == paths
    assert names_named(text) == names


def test_what_is_gone_is_not_there() -> None:
    assert is_there("store.frame.RunFrame")
    assert not is_there("core.mends")
    assert not is_there("store.frame.RunTable")
