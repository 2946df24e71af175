"""A report as one HTML file without remote content and without scripts.

Everything is escaped by Jinja; the policy in the file forbids scripts, remote requests and any style but its own.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judgenet.assets import asset
from judgenet.colors import COLORS, ThemeName
from judgenet.core.wording import LETTERS, SPOKEN, clean
from judgenet.report.blocks import ReportDocument
from judgenet.report.drawing import Drawing, svg

if TYPE_CHECKING:
    from jinja2 import Environment

FONT_WEIGHTS = (400, 500, 600)


def html(document: ReportDocument) -> str:
    """The report as HTML; encode it as UTF-8."""
    css = style_sheet(asset("report", "report.css").read_text(encoding="utf-8"))
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; font-src data:; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    template = environment("report").get_template("report.html.jinja")
    # Only our own style sheet is passed as it is: its hash stands in the policy.
    return template.render(document=document, css=Markup(css), policy=policy).lstrip()


@cache
def style_sheet(text: str) -> str:
    """A style sheet, preceded by the fonts and by the colours of the themes as variables."""
    fonts = "".join(
        "@font-face{font-family:Inter;"
        f"font-weight:{weight};src:url(data:font/woff2;base64,{_font(weight)}) format('woff2')}}\n"
        for weight in FONT_WEIGHTS
    )
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{_variables('dark')}}}}}\n"
    contrast = f"@media screen and (prefers-contrast:more){{:root{{{_variables('contrast')}}}}}\n"
    return f"{fonts}:root{{color-scheme:light dark;{_variables('light')}}}\n{dark}{contrast}{text}"


def _font(weight: int) -> str:
    return base64.b64encode(asset("report", f"inter-{weight}.woff2").read_bytes()).decode()


def _variables(name: ThemeName) -> str:
    colors = COLORS[name]
    return ";".join(f"--{field}:{getattr(colors, field)}" for field in colors.__dataclass_fields__)


def _picture(drawing: Drawing) -> Markup:
    """A drawing as SVG; its writer has escaped the texts."""
    return Markup(svg(drawing))


def _kind(block: object) -> str:
    return type(block).__name__


@cache
def environment(folder: str) -> Environment:
    """Jinja for the templates in a folder of the resources: everything is escaped."""
    # Every command would wait for it, and one needs it.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(asset(folder)),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_written,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = _kind
    environment.filters["picture"] = _picture
    environment.globals.update(letters=LETTERS, spoken=SPOKEN)
    return environment


def _written(value: Any) -> Any:
    """A value for the page, without characters that HTML cannot hold."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
