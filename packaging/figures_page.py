"""Writes the keys of the figures, ``resources/figures.md``, from the types that define them (``judgenet.figures``).

Needed only when one of these types changes: ``python packaging/figures_page.py``.
"""

from __future__ import annotations

from judgenet.assets import asset
from judgenet.figures.page import page


def main() -> None:
    """Writes the file."""
    file = asset("figures.md")
    file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
