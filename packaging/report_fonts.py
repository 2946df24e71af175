"""Makes the fonts that are embedded in a report: the bundled Inter, reduced to its scripts, as WOFF2.

Needed only when ``resources/fonts`` changes: ``pip install fonttools brotli``, then
``python packaging/report_fonts.py``.
"""

from __future__ import annotations

from pathlib import Path

from fontTools import subset  # type: ignore[import-untyped]

RESOURCES = Path(__file__).resolve().parents[1] / "resources"
WEIGHTS = {400: "Regular", 500: "Medium", 600: "SemiBold"}
RANGES = ((0x20, 0x7E), (0xA0, 0x17F), (0x370, 0x3FF), (0x400, 0x45F), (0x2010, 0x2027), (0x2030, 0x203A))
SINGLE = "−×÷±≈≠≤≥∞→←↑↓↔€™…•"


def main() -> None:
    """Writes ``resources/report/inter-WEIGHT.woff2``."""
    letters = {chr(code) for first, last in RANGES for code in range(first, last + 1)} | set(SINGLE)
    for weight, name in WEIGHTS.items():
        options = subset.Options(
            flavor="woff2", hinting=False, layout_features=["kern", "mark", "mkmk", "ccmp", "calt", "tnum"]
        )
        font = subset.load_font(str(RESOURCES / "fonts" / f"Inter-{name}.otf"), options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(text="".join(letters))
        subsetter.subset(font)
        subset.save_font(font, str(RESOURCES / "report" / f"inter-{weight}.woff2"), options)


if __name__ == "__main__":
    main()
