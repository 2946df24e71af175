"""The page ``resources/figures.md``, whose tables of keys are made from the types of the figures.

``python packaging/figures_page.py`` writes it. Sections of commands without such a type are written by hand and kept.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

from judgenet.figures.alt_test import AltTestFigures, RunAltTest
from judgenet.figures.base import OPTIONAL, Keys
from judgenet.figures.bias import BiasFigures, RecordedBias
from judgenet.figures.cascade import CascadeFigures, RunCascade
from judgenet.figures.comparison import RunComparison
from judgenet.figures.comparison_plan import RunPower
from judgenet.figures.curve import RunCurve
from judgenet.figures.experiment import ExperimentFigures
from judgenet.figures.gate import GateFigures
from judgenet.figures.guarantee import RunGuarantee
from judgenet.figures.judge_parts import (
    ChangesFigures,
    DiversityFigures,
    MovesFigures,
    OverturnsFigures,
    PanelFigures,
    RatersFigures,
    UncertaintyFigures,
)
from judgenet.figures.label_plan import RunLabelPlan
from judgenet.figures.learning import RunLearning
from judgenet.figures.metrics import RunMetrics
from judgenet.figures.panel import ChoiceFigures, CorrelationFigures, RunPanel
from judgenet.figures.panel_worth import VotesFigures
from judgenet.figures.parts import (
    AgreementFigures,
    DifferenceFigures,
    EstimateFigures,
    GivenFigures,
    LengthFigures,
    MeanFigures,
    NeedFigures,
    OverlapFigures,
    PointFigures,
    PositionFigures,
    SampleFigures,
    ShortFigures,
)
from judgenet.figures.power import PowerFigures
from judgenet.figures.ranking import RankingFigures, RunRanking
from judgenet.figures.rates import RunRates
from judgenet.figures.reliability import ReliabilityFigures, RunReliability
from judgenet.figures.shards import ShardSetFigures
from judgenet.stats.intervals import Interval

COMMANDS: Final[dict[str, type]] = {
    "judgenet metrics": RunMetrics,
    "judgenet rate": RunRates,
    "judgenet labels": RunLabelPlan,
    "judgenet labels --compare": RunPower,
    "judgenet learn": RunLearning,
    "judgenet curve": RunCurve,
    "judgenet cascade": RunCascade,
    "judgenet panel": RunPanel,
    "judgenet guarantee": RunGuarantee,
    "judgenet calibration": RunReliability,
    "judgenet alt-test": RunAltTest,
    "judgenet compare": RunComparison,
    "judgenet check": GateFigures,
    "judgenet rank": RunRanking,
    "judgenet bias --recorded": RecordedBias,
    "judgenet experiment": ExperimentFigures,
    "judgenet status": ShardSetFigures,
}
PARTS: Final[dict[str, type]] = {
    "bias": BiasFigures,
    "overlap": OverlapFigures,
    "agreement": AgreementFigures,
    "short": ShortFigures,
    "position": PositionFigures,
    "mean": MeanFigures,
    "panel": PanelFigures,
    "raters": RatersFigures,
    "uncertainty": UncertaintyFigures,
    "moves": MovesFigures,
    "changes": ChangesFigures,
    "overturns": OverturnsFigures,
    "diversity": DiversityFigures,
    "savings": CascadeFigures,
    "votes": VotesFigures,
    "correlation": CorrelationFigures,
    "choice": ChoiceFigures,
    "estimate": EstimateFigures,
    "given": GivenFigures,
    "sample": SampleFigures,
    "need": NeedFigures,
    "point": PointFigures,
    "difference": DifferenceFigures,
    "plan": PowerFigures,
    "alt": AltTestFigures,
    "reliability": ReliabilityFigures,
    "length": LengthFigures,
    "ranking": RankingFigures,
}
_NAMES: Final = {kind: name for name, kind in PARTS.items()}


class PageRow(NamedTuple):
    """A key, what it holds, and what that means. ``holds`` ends in ``?`` where the key may be left out."""

    key: str
    holds: str
    meaning: str

    def __str__(self) -> str:
        return f"| `{self.key}` | {self.holds} | {self.meaning + ' ' if self.meaning else ''}|"


def page(text: str) -> str:
    """The page with the tables of all sections that have a type made anew.

    :raises ValueError: the page lacks one of these sections.
    """
    sections = re.split(r"(?m)^(?=##)", text)
    wanted = {**COMMANDS, **PARTS}
    page_parts = []
    for section in sections:
        title = section.split("\n", 1)[0].lstrip("# ")
        kind = wanted.pop(title, None)
        page_parts.append(section if kind is None else _section(section, kind))
    if wanted:
        raise ValueError(f"figures.md: there is no section named {', '.join(wanted)}.")
    return "".join(page_parts)


def _section(section: str, kind: type) -> str:
    before = section.split("| key |", 1)[0]
    table = ["| key | holds | meaning |", "| --- | --- | --- |", *map(str, rows(kind))]
    return before + "\n".join(table) + "\n\n"


def rows(kind: type) -> list[PageRow]:
    """The keys of a type of figures, those of inner types in place."""
    base = next((base_class for base_class in kind.__mro__[1:] if base_class in _NAMES), None)
    page_rows = [PageRow(_NAMES[base], _NAMES[base], "the keys of the part stand at the top level")] if base else []
    page_rows += _of_fields(kind, "", base)
    return sorted(page_rows, key=lambda row: row.key != "run")


def _of_fields(kind: type, prefix: str, base: type | None = None) -> Iterator[PageRow]:
    """The rows of a type's fields; of those that ``base`` has too only what is new in them."""
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else list(hints)
    known = get_type_hints(base, include_extras=True) if base else {}
    for name in names:
        there = {row.key for row in _of_type(known[name], f"{prefix}{name}")} if name in known else set()
        yield from (row for row in _of_type(hints[name], f"{prefix}{name}") if row.key not in there)


def _of_type(hint: Any, key: str) -> list[PageRow]:
    extras: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        extras = tuple(more)
    meaning = next((extra for extra in extras if isinstance(extra, str)), "")
    for names in (extra for extra in extras if isinstance(extra, Keys)):
        key = ".".join((key, *names))
    optional = OPTIONAL in extras
    inner = _inner(hint, key, meaning)
    return [row._replace(holds=f"{row.holds.removesuffix('?')}?") for row in inner] if optional else inner


def _inner(hint: Any, key: str, meaning: str) -> list[PageRow]:
    # A figure that is always undefined stands for one of another type that is known.
    options = [option for option in _options(hint) if option is not types.NoneType] or [float]
    objects = [
        option for option in options if isinstance(option, type) and (is_dataclass(option) or _is_record(option))
    ]
    if objects:
        return _objects(objects, key, meaning)
    (hint, *_) = options
    origin = get_origin(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if key.endswith("reasons"):
            return [PageRow(key, "reasons", meaning)]
        inner = get_args(hint)[1]
        return [PageRow(key, "object", meaning)] if inner is Any else _inner(inner, key, meaning)
    if origin is tuple:
        inner = get_args(hint)[0]
        if isinstance(inner, type) and (is_dataclass(inner) or _is_record(inner)):
            return _objects([inner], f"{key}[]", meaning)
    return [PageRow(key, _plain(hint), meaning)]


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _is_record(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields") and kind is not Interval


def _objects(kinds: list[type], key: str, meaning: str) -> list[PageRow]:
    """The rows of an object that has one of some types: keys that only a later type has may be left out."""
    first, *others = kinds
    base = next((base_class for base_class in first.__mro__ if base_class in _NAMES), None)
    if base is not None:
        object_rows = [PageRow(key, _NAMES[base], meaning)]
        object_rows += _of_fields(first, f"{key}.", base) if base is not first else ()
    else:
        object_rows = list(_of_fields(first, f"{key}."))
        if meaning and object_rows and not object_rows[0].meaning:
            object_rows[0] = object_rows[0]._replace(meaning=meaning)
    known = {row.key for row in object_rows} | {f"{key}.{name}" for name in get_type_hints(first)}
    for other_type in others:
        more = [row for row in _of_fields(other_type, f"{key}.") if row.key not in known]
        object_rows += [row._replace(holds=f"{row.holds.removesuffix('?')}?") for row in more]
    return object_rows


def _plain(hint: Any) -> str:
    """What a value that is no object holds."""
    if hint is Interval:
        return "interval"
    if hint is bool:
        return "yes/no"
    if hint in (int, float):
        return "number"
    if hint is Any:
        return "object"
    return "list" if get_origin(hint) is tuple else "text"
