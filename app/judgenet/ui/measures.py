"""The one scale of the interface: measures in px at 100 % that layouts and widgets keep, applied at every UI scale.

A style sheet reaches no layout and no width that depends on another. What it cannot say, :func:`measure` says once,
where the widget is made; the theme applies it again when the scale changes, so that pages need no code for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractButton, QFormLayout, QGridLayout, QLayout, QPlainTextEdit, QSplitter, QWidget

from judgenet.ui.fonts import make_font
from judgenet.ui.tokens import PX_PER_POINT, TYPE, TypeRole


class Gap(float):
    """A space between or inside things in px at 100 %: a quarter less in the compact density."""


Sides = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_KEY: Final = "measures"
"""The dynamic property in which a layout or a widget keeps its measures."""

_COMPACT: Final = 0.75
"""So much of a gap is left in the compact density."""

_scale = 1.0
_dpi = 96.0
_compact = False


def scaled(value: float, scale: float) -> int:
    """A measure of the design in px of a UI scale, never less than 1."""
    return max(1, round(value * scale))


@cache
def type_font(role: TypeRole, scale: float, dpi: float, tabular: bool) -> QFont:
    """The font of a step of the type scale; ``tabular`` gives figures of one width. The answer is shared."""
    step = TYPE[role]
    return make_font(step.points * PX_PER_POINT * scale, step.weight, mono=step.mono, tabular=tabular, dpi=dpi)


@dataclass(frozen=True, slots=True)
class _Kept:
    """The measures of a layout or a widget, by the names that :func:`measure` gives them."""

    by_name: dict[str, Any]


def set_scale(scale: float, dpi: float, *, compact: bool = False) -> None:
    """Sets scale and density for measures from now on; :func:`apply_measures` brings those of before up to them."""
    global _scale, _dpi, _compact
    _scale, _dpi, _compact = scale, dpi, compact


def measure(
    target: QLayout | QWidget,
    *,
    margins: float | Sides | None = None,
    spacing: float | None = None,
    across: float | None = None,
    down: float | None = None,
    width: float | None = None,
    height: float | None = None,
    min_width: float | None = None,
    min_height: float | None = None,
    max_width: float | None = None,
    max_height: float | None = None,
    icon: float | tuple[float, float] | None = None,
    handle: float | None = None,
    inside: float | None = None,
    font: TypeRole | None = None,
    tabular: bool | None = None,
) -> None:
    """Gives a layout or a widget measures in px at 100 %. Those given before and not now stay.

    A :class:`Gap` is less in the compact density.

    ``across`` and ``down`` are the spaces between columns and between rows of a grid or a form; ``width`` and
    ``height`` are fixed; ``icon`` is the side of a button's icon, or its width and height; ``handle`` is the width of
    a splitter's handle, ``inside`` the margin of a text edit's text; ``font`` is a step of the type scale, ``tabular``
    gives its figures one width.
    """
    measures: dict[str, object] = {
        "margins": margins if margins is None or isinstance(margins, tuple) else (margins,) * 4,
        "spacing": spacing,
        "across": across,
        "down": down,
        "width": width,
        "height": height,
        "min_width": min_width,
        "min_height": min_height,
        "max_width": max_width,
        "max_height": max_height,
        "icon": icon if icon is None or isinstance(icon, tuple) else (icon, icon),
        "handle": handle,
        "inside": inside,
        "font": font,
        "tabular": tabular,
    }
    before = target.property(_KEY)
    kept = {} if before is None else dict(before.by_name)
    kept |= {name: value for name, value in measures.items() if value is not None}
    target.setProperty(_KEY, _Kept(kept))
    _apply(target, kept)


def apply_measures(part: QWidget) -> None:
    """Applies the measures of a part of the interface and of all that is in it, at the scale of the moment."""
    targets: list[QLayout | QWidget] = [part, *part.findChildren(QWidget), *part.findChildren(QLayout)]
    for target in targets:
        apply_own_measures(target)


def apply_own_measures(target: QLayout | QWidget) -> None:
    """Applies the measures of a layout or a widget: after it was polished anew, which takes away the font."""
    kept = target.property(_KEY)
    if kept is not None:
        _apply(target, kept.by_name)


def _px(value: float) -> int:
    if not value:
        return 0
    return scaled(value * _COMPACT if _compact and isinstance(value, Gap) else value, _scale)


def _apply(target: QLayout | QWidget, kept: dict[str, Any]) -> None:
    if "margins" in kept:
        target.setContentsMargins(*(_px(side) for side in kept["margins"]))
    if isinstance(target, QLayout):
        if "spacing" in kept:
            target.setSpacing(_px(kept["spacing"]))
        if isinstance(target, QGridLayout | QFormLayout):
            if "across" in kept:
                target.setHorizontalSpacing(_px(kept["across"]))
            if "down" in kept:
                target.setVerticalSpacing(_px(kept["down"]))
        return
    for name, set_it in (
        ("width", target.setFixedWidth),
        ("height", target.setFixedHeight),
        ("min_width", target.setMinimumWidth),
        ("min_height", target.setMinimumHeight),
        ("max_width", target.setMaximumWidth),
        ("max_height", target.setMaximumHeight),
    ):
        if name in kept:
            set_it(_px(kept[name]))
    if "icon" in kept and isinstance(target, QAbstractButton):
        target.setIconSize(QSize(*(_px(side) for side in kept["icon"])))
    if "handle" in kept and isinstance(target, QSplitter):
        target.setHandleWidth(_px(kept["handle"]))
    if "inside" in kept and isinstance(target, QPlainTextEdit):
        target.document().setDocumentMargin(_px(kept["inside"]))
    if "font" in kept or "tabular" in kept:
        target.setFont(QFont(type_font(kept.get("font", "body"), _scale, _dpi, bool(kept.get("tabular")))))
