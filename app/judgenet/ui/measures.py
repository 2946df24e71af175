"""The one scale of the interface: measures in px at 100 % that layouts and widgets keep, applied at every UI scale.

A style sheet reaches no layout and no width that depends on another. What it cannot say, :func:`measure` says once,
where the widget is made; the theme applies it again when the scale changes, so that pages need no code for that.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractButton, QFormLayout, QGridLayout, QLayout, QWidget

from judgenet.ui.fonts import make_font
from judgenet.ui.tokens import PX_PER_POINT, TYPE, TypeRole

Sides = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_KEY: Final = "measures"
"""The dynamic property in which a layout or a widget keeps its measures."""

_scale = 1.0
_dpi = 96.0


def scaled(value: float, scale: float) -> int:
    """A measure of the design in px of a UI scale, never less than 1."""
    return max(1, round(value * scale))


@cache
def type_font(role: TypeRole, scale: float, dpi: float, tabular: bool) -> QFont:
    """The font of a step of the type scale; ``tabular`` gives figures of one width. The answer is shared."""
    step = TYPE[role]
    return make_font(step.points * PX_PER_POINT * scale, step.weight, mono=step.mono, tabular=tabular, dpi=dpi)


def set_scale(scale: float, dpi: float) -> None:
    """Sets the scale for measures from now on; :func:`apply_measures` brings those of before up to it."""
    global _scale, _dpi
    _scale, _dpi = scale, dpi


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
    icon: float | None = None,
    font: TypeRole | None = None,
    tabular: bool | None = None,
) -> None:
    """Gives a layout or a widget measures in px at 100 %. Those given before and not now stay.

    ``across`` and ``down`` are the spaces between columns and between rows of a grid or a form; ``width`` and
    ``height`` are fixed; ``icon`` is the side of a button's icon; ``font`` is a step of the type scale, ``tabular``
    gives its figures one width.
    """
    given: dict[str, object] = {
        "margins": None if margins is None else list(margins) if isinstance(margins, tuple) else [margins] * 4,
        "spacing": spacing,
        "across": across,
        "down": down,
        "width": width,
        "height": height,
        "min_width": min_width,
        "min_height": min_height,
        "max_width": max_width,
        "icon": icon,
        "font": font,
        "tabular": tabular,
    }
    kept = {**(target.property(_KEY) or {}), **{name: value for name, value in given.items() if value is not None}}
    target.setProperty(_KEY, kept)
    _apply(target, kept)


def apply_measures(part: QWidget) -> None:
    """Applies the measures of a part of the interface and of all that is in it, at the scale of the moment."""
    targets: list[QLayout | QWidget] = [part, *part.findChildren(QWidget), *part.findChildren(QLayout)]
    for target in targets:
        kept = target.property(_KEY)
        if kept:
            _apply(target, kept)


def _px(value: float) -> int:
    return scaled(value, _scale) if value else 0


def _apply(target: QLayout | QWidget, kept: dict) -> None:  # type: ignore[type-arg]  # as Qt hands it back
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
    ):
        if name in kept:
            set_it(_px(kept[name]))
    if "icon" in kept and isinstance(target, QAbstractButton):
        target.setIconSize(QSize(_px(kept["icon"]), _px(kept["icon"])))
    if "font" in kept or "tabular" in kept:
        target.setFont(QFont(type_font(kept.get("font", "body"), _scale, _dpi, bool(kept.get("tabular")))))
