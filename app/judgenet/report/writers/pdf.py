"""A report as PDF on A4 pages. Needs no window system: pages are laid out by typst, by the template ``report.typ``.

The template is fixed and everything of the report reaches it as data, so that no text of the data or of a model is
ever read as markup. Nothing is fetched: fonts are those that the program ships, then those of the system.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from judgenet.assets import asset
from judgenet.colors import LIGHT
from judgenet.core.aggregate import NeuronVerdict, Votes
from judgenet.core.wording import LETTERS, SPOKEN, clean
from judgenet.fonts import families
from judgenet.report.blocks import ReportDocument
from judgenet.report.charts import WIDTH
from judgenet.report.model import Excerpt, ShownPicture
from judgenet.version import __version__

if TYPE_CHECKING:
    from typst import Fonts


PAGE_W: Final = 210 / 25.4 * 120
PAGE_H: Final = 297 / 25.4 * 120
"""A page in px of the design, 120 of which are an inch."""

_STANDARDS: Final = ("a-2a", "ua-1")
_NOT_DISPLAYED = re.compile('the text `"(.+?)"` could not be displayed')
_TYPST_FORMATS: Final = {"image/png": "png", "image/jpeg": "jpg"}
_MOST_LETTERS: Final = 20
_LINE_END = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufeff\U00010e60-\U0001eeff]")
"""Hebrew, Arabic, Syriac, Thaana and N'Ko: the letters that ``right-to-left`` in the template looks for."""
_WITH_OPACITY = re.compile(rb'="(#[0-9a-f]{6})([0-9a-f]{2})"')


def pdf(document: ReportDocument) -> bytes:
    """The report as PDF: charts are vectors, texts can be selected, fonts are embedded, titles are bookmarks.

    It keeps to PDF/A-2a, for archives, and PDF/UA-1, for screen readers, unless letters have no font here.
    """
    return _printed(document)[0]


def letters_without_font(document: ReportDocument) -> str:
    """The letters of a report that no font on this machine has, each once. :func:`pdf` prints them as boxes."""
    return _printed(document)[1]


@lru_cache(maxsize=1)
def _printed(document: ReportDocument) -> tuple[bytes, str]:
    """The PDF and the letters without a font. The last one is kept: whoever writes a PDF asks for its letters next."""
    from typst import TypstError

    try:
        return bytes(_compiled(document, "pdf", _STANDARDS)), ""
    except TypstError as error:
        missing = dict.fromkeys(_NOT_DISPLAYED.findall(error.diagnostic))
        letters = "".join(letters for letters in missing if letters.isprintable() and "\\" not in letters)
        return bytes(_compiled(document, "pdf")), letters


def font_warning(document: ReportDocument) -> str:
    """Which letters of a report have no font here, and what helps; empty where all have one."""
    letters = letters_without_font(document)
    if not letters:
        return ""
    shown = letters[:_MOST_LETTERS] + (" and others" if len(letters) > _MOST_LETTERS else "")
    return (
        f"no font on this machine has {shown}. They are printed as boxes. Install fonts for them (on Debian or Ubuntu: "
        "apt-get install fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji) and write the PDF again."
    )


def page_pictures(document: ReportDocument) -> list[bytes]:
    """The pages of :func:`pdf` as SVG 1.1, one each. Texts are paths."""
    compiled = _compiled(document, "svg")
    pages = [compiled] if isinstance(compiled, bytes) else compiled
    # SVG 1.1 knows no opacity within a colour.
    return [
        _WITH_OPACITY.sub(lambda match: b'="%s" fill-opacity="%.3f"' % (match[1], int(match[2], 16) / 255), page)
        for page in pages
    ]


def _compiled(document: ReportDocument, form: Literal["pdf", "svg"], standards: Sequence[str] = ()) -> Any:
    # Loaded where a page is made: other commands do not wait for it.
    from typst import Compiler

    data = json.dumps(_data(document), ensure_ascii=False)
    inputs = {"data": data, "rtl": "yes" if _RIGHT_TO_LEFT.search(data) else ""}
    # A compiler serves one thread at a time, so each report has its own; they share the fonts.
    return Compiler(_template(), font_paths=_fonts(), sys_inputs=inputs).compile(
        format=form,
        pdf_standards=list(standards),  # type: ignore[arg-type]
    )


@cache
def _fonts() -> Fonts:
    from typst import Fonts

    return Fonts(include_system_fonts=True, include_embedded_fonts=False, font_paths=[str(asset("fonts"))])


@cache
def _template() -> bytes:
    return asset("report", "report.typ").read_bytes()


def _data(document: ReportDocument) -> dict[str, Any]:
    """What the template reads."""
    installed = _fonts().families()
    return {
        "document": _plain(document),
        "colors": {field.name: getattr(LIGHT, field.name) for field in fields(LIGHT)},
        "fonts": {"text": families(installed), "mono": families(installed, mono=True)},
        "letters": LETTERS,
        "spoken": SPOKEN,
        "width": WIDTH,
        "creator": f"JudgeNet {__version__}",
    }


def _picture(shown: ShownPicture) -> dict[str, Any]:
    """A picture as the template takes it: bytes as numbers."""
    data = list(base64.b64decode(shown.data))
    return {"caption": shown.caption, "format": _TYPST_FORMATS.get(shown.media, ""), "data": data}


def _plain(value: Any) -> Any:
    """A value of the document as JSON holds it: a block as a table of its fields with its ``kind``."""
    if isinstance(value, str):
        return clean(_LINE_END.sub(" ", value))
    if isinstance(value, Excerpt):
        text = clean(_LINE_END.sub("\n", value.text).expandtabs(4))
        return {"text": text, "cut": value.note, "pictures": [_picture(shown) for shown in value.pictures]}
    if isinstance(value, Votes):
        return {name: f"{count:,}" for name, count in value._asdict().items()}
    if isinstance(value, NeuronVerdict):
        return {"layer": value.layer, "verdict": value.verdict}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {"kind": type(value).__name__} | {
            field.name: _plain(getattr(value, field.name)) for field in fields(value)
        }
    return value
