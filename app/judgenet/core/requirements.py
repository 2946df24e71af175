"""Requirements on the figures of a run, such as ``c2_all.kappa.low >= .6``.

A requirement names a figure by its key in ``--json``, compares it, and says with what. The ends of an interval are
``KEY.low`` and ``KEY.high``; a requirement on the value alone may be met by luck.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from judgenet.core.documents import DocumentError

_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
_FORM: Final = re.compile(r"(?P<key>[^<>=!]+?)\s*(?P<sign>>=|<=|==|!=|>|<)\s*(?P<bound>[^<>=!]+)")
_NUMBER: Final = re.compile(r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<percent>%?)")

Bound = float | str


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a figure must be: ``key`` names it, ``sign`` compares it with ``bound``, a number or (with ``==`` and
    ``!=`` only) a text such as the state of the run. ``text`` is the requirement as it was written."""

    text: str
    key: str
    sign: str
    bound: Bound

    def met_by(self, figure: Bound) -> bool:
        """Whether a figure is as required. A text and a number are never equal."""
        if isinstance(figure, str) or isinstance(self.bound, str):
            return figure == self.bound if self.sign == "==" else self.sign == "!=" and figure != self.bound
        return _COMPARISONS[self.sign](figure, self.bound)

    @property
    def safe_end(self) -> str:
        """The end of an interval that must meet the requirement for the whole interval to meet it, or empty."""
        return {">": "low", "<": "high"}.get(self.sign[0], "")


def parse_requirement(text: str, path: str = "") -> Requirement:
    """A requirement from its text; ``path`` names where it stands in errors.

    :raises DocumentError: it is none.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise DocumentError(path, f"{text!r} is no requirement: write KEY >= NUMBER, such as c2_all.kappa.low >= .6")
    key, sign, bound = match["key"], match["sign"], match["bound"].strip()
    number = _NUMBER.fullmatch(bound)
    if number is None and sign in ("==", "!="):
        return Requirement(text.strip(), key, sign, bound.strip("'\""))
    if number is None:
        raise DocumentError(path, f"{text!r}: {bound!r} is no number; a share is written .6 or 60%")
    value = float(number["number"]) / (100 if number["percent"] else 1)
    return Requirement(text.strip(), key, sign, value)


def figure_words(figure: Bound | None) -> str:
    """A figure beside its requirement: ``0.6123``, ``1,200``, ``done``, ``n/a``."""
    if figure is None:
        return "n/a"
    return figure if isinstance(figure, str) else f"{figure:,}" if isinstance(figure, int) else f"{figure:.4f}"
