"""Criteria of a pair from the values of a column: a text, a list of texts, or a list of objects with name, description
and weight, as published sets write rubrics and checklists.

Read as they are: texts and lists (WildBench ``checklist``, RubricBench ``rubrics``), objects with ``criterion`` and
``points`` (HealthBench ``rubrics``), with ``title``, ``description`` and ``weight`` (RaR-Medicine ``rubric``; pitfalls
have weights below 0), and a rubric with a description of each score (Prometheus ``orig_criteria``, BiGGen Bench
``score_rubric``).
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgenet.core.criteria import CRITERION_NAME_LENGTH, Criterion, weights_differ
from judgenet.core.wording import of, plural
from judgenet.formats.containers import RecordTable
from judgenet.formats.errors import listed, shown
from judgenet.formats.findings import Finding
from judgenet.formats.values import is_missing

_NAME = ("name", "title", "criterion_name", "criterion", "criteria", "label")
_DESCRIPTION = ("description", "definition", "text", "detail", "details", "explanation", "requirement", "question")
_WEIGHT = ("weight", "points")
_INSIDE = ("criteria", "rubrics", "rubric", "checklist", "items")
"""What holds the list where it stands inside an object."""
_SCORE = re.compile(r"(?:orig_)?score_?(\d+)(?:_?description)?")
_ITEM = re.compile(r"(?:[-*•‣▪]|\[[ xX]?\]|\(?\d{1,3}[.):]|\(?[a-zA-Z][.)])\s+(?=\S)")
_AVOID = "Avoid: "
"""What a criterion with a weight below 0 describes is a fault."""

_MEND = (
    "A criterion is a text, or an object with name, description and weight, such as "
    '[{"name": "Correct", "description": "All claims are true.", "weight": 2}]. To read no criteria: criteria='
)


@dataclass(frozen=True, slots=True)
class CriteriaColumns:
    """The criteria of each record, and the members of their objects that nothing was made of, with how many there
    were."""

    criteria: tuple[tuple[Criterion, ...], ...]
    not_read: Mapping[str, int]


def holds_only_numbers(table: RecordTable, column: str) -> bool:
    """Whether a column that is called like criteria holds the numbers of some, or of scores, and no words."""
    values = [value for value in table.column(column) if not is_missing(value) and value != ""]
    return bool(values) and all(_is_numeral(value) for value in values)


def _is_numeral(value: Any) -> bool:
    if isinstance(value, bool | int | float):
        return True
    try:
        return isinstance(value, str) and math.isfinite(float(value))
    except ValueError:
        return False


def criteria_findings(columns_found: CriteriaColumns, columns: Sequence[str]) -> list[Finding]:
    """The findings about the criteria that were read."""
    counts = [len(criteria) for criteria in columns_found.criteria if criteria]
    if not counts:
        return []
    each = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    weights = any(weights_differ([criterion.weight for criterion in criteria]) for criteria in columns_found.criteria)
    records = of(len(counts), len(columns_found.criteria))
    message = (
        f"Criteria from {listed(list(columns))}: {each} each on {records} records, "
        f"{'with' if weights else 'without'} weights."
    )
    findings = [Finding("criteria", "note", len(counts), message)]
    faults = sum(criterion.name.startswith(_AVOID) for criteria in columns_found.criteria for criterion in criteria)
    if faults:
        criteria = plural(faults, "criterion", "criteria")
        message = f"Weights and points below 0 are for what a good response avoids: {criteria}."
        findings.append(Finding("criteria_to_avoid", "note", faults, message))
    if columns_found.not_read:
        message = f"Not read of the criteria: {listed(sorted(columns_found.not_read))}."
        findings.append(Finding("criteria_not_read", "note", len(columns_found.not_read), message))
    return findings


class _Wrong(ValueError):
    """A value that is no list of criteria."""


def criteria_of_columns(table: RecordTable, columns: Sequence[str]) -> CriteriaColumns:
    """The criteria of each record, those of several columns one after another.

    :raises DataError: a value cannot be read as criteria, with its row and column.
    """
    left: Counter[str] = Counter()
    by_row: list[list[Criterion]] = [[] for _ in table.rows]
    for column in columns:
        for index, value in enumerate(table.column(column)):
            try:
                by_row[index] += _criteria(value, left)
            except _Wrong as error:
                raise table.error(str(error), _MEND, index, column) from None
    for index, criteria in enumerate(by_row):
        if criteria and not any(criterion.weight for criterion in criteria):
            raise table.error("Every criterion has the weight 0.", "Give one of them a weight.", index, columns[0])
    return CriteriaColumns(tuple(map(tuple, by_row)), left)


def _criteria(value: Any, left: Counter[str]) -> list[Criterion]:
    if is_missing(value):
        return []
    if isinstance(value, str):
        parsed = _parsed(value)
        return _of_text(value) if parsed is None else _criteria(parsed, left)
    if isinstance(value, list):
        return [_item(item, f"Criterion {place}", left) for place, item in enumerate(value, 1)]
    if isinstance(value, dict):
        return _of_object(value, left)
    raise _Wrong(f"Criteria are a text or a list, here is {shown(value)}.")


def _parsed(text: str) -> Any:
    """The list or object that a cell holds as JSON, or as Python writes it; ``None`` for an ordinary text."""
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        try:
            value = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return value if isinstance(value, list | dict) else None


def _of_text(text: str) -> list[Criterion]:
    """One criterion, or one of each item where the lines are a list with bullets or numbers."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    items = [_ITEM.match(line) for line in lines]
    if len(lines) > 1 and all(items):
        return [Criterion.of_line(line[item.end() :]) for line, item in zip(lines, items, strict=True) if item]
    return [Criterion.of_line(text)] if lines else []


def _of_object(value: Mapping[str, Any], left: Counter[str]) -> list[Criterion]:
    held = [key for key in _INSIDE if isinstance(value.get(key), list)]
    if held:
        left.update(key for key in value if key != held[0])
        return _criteria(value[held[0]], left)
    known = {*_NAME, *_DESCRIPTION, *_WEIGHT}
    if any(key in known or _SCORE.fullmatch(key) for key in value):
        return [_item(value, "The criterion", left)] if value else []
    if all(isinstance(text, str) for text in value.values()):
        return [_named(str(name), text, 1.0, str(name)) for name, text in value.items()]
    if all(_is_number(weight) for weight in value.values()):
        weights = {str(name): _weight(weight, str(name), "weight") for name, weight in value.items()}
        return [
            Criterion.of_line(name, weight) if weight >= 0 else Criterion.of_text(f"{_AVOID}{name}", -weight)
            for name, weight in weights.items()
        ]
    raise _Wrong(f"Criteria are a text or a list, here is {shown(value)}.")


def _item(value: Any, where: str, left: Counter[str]) -> Criterion:
    if isinstance(value, str):
        if not value.strip():
            raise _Wrong(f"{where} is empty.")
        return Criterion.of_line(value)
    if not isinstance(value, dict):
        raise _Wrong(f"{where} is no text and no object but {shown(value)}.")
    name, description = _first(value, _NAME, where), _first(value, _DESCRIPTION, where)
    weighed = next((key for key in _WEIGHT if not is_missing(value.get(key))), "weight")
    scores = sorted(
        (int(match[1]), text)
        for key, text in value.items()
        if (match := _SCORE.fullmatch(key)) and isinstance(text, str) and text.strip()
    )
    used = {key for key in value if key in (*_NAME, *_DESCRIPTION, *_WEIGHT) or _SCORE.fullmatch(key)}
    left.update(str(key) for key in value if key not in used)
    if scores:
        most = max(number for number, _ in scores)
        levels = "; ".join(f"{number} of {most}: {' '.join(text.split())}" for number, text in scores)
        description = f"{description} {levels}" if description else levels
    weight = _weight(value.get(weighed), where, weighed)
    if any(key in value for key in _NAME[:3]) and not name and description:
        raise _Wrong(f"{where} has an empty name.")
    criterion = _named(name, description, abs(weight), where)
    if weight >= 0:
        return criterion
    if description and name:
        return replace(criterion, name=f"{_AVOID}{criterion.name}")
    return Criterion.of_text(f"{_AVOID}{name or description}", -weight)


def _named(name: str, description: str, weight: float, where: str) -> Criterion:
    name, description = " ".join(name.split()), " ".join(description.split())
    if not name and not description:
        raise _Wrong(f"{where} has no name.")
    if not name:
        return Criterion.of_line(description, weight)
    if not description:
        return Criterion.of_line(name, weight)
    if len(name) > CRITERION_NAME_LENGTH:
        return Criterion.of_text(f"{name} {description}", weight)
    return Criterion(name, description, weight)


def _first(value: Mapping[str, Any], keys: Sequence[str], where: str) -> str:
    for key in keys:
        text = value.get(key)
        if is_missing(text):
            continue
        if not isinstance(text, str):
            raise _Wrong(f"{where}: its {key} is no text but {shown(text)}.")
        if text.strip():
            return text.strip()
    return ""


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float)


def _weight(value: Any, where: str, key: str) -> float:
    """A weight, or points; below 0 where the criterion is what a good response avoids."""
    if is_missing(value):
        return 1.0
    try:
        weight = float(value) if _is_number(value) or isinstance(value, str) else math.nan
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        raise _Wrong(f"{where}: its {key} is no number but {shown(value)}.")
    return weight
