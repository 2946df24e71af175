"""Files that ship with the program: prompts, role library, prices, icons."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def asset(*parts: str) -> Path:
    """Path of a file or folder under ``resources/``, in a wheel as in a checkout."""
    installed = _PACKAGE / "resources"
    root = installed if installed.is_dir() else _PACKAGE.parent.parent / "resources"
    return root.joinpath(*parts)


def example(name: str) -> Path:
    """Path of a file of the examples, in a wheel as in a checkout."""
    installed = _PACKAGE / "resources" / "examples"
    return (installed if installed.is_dir() else _PACKAGE.parent.parent / "examples") / name
