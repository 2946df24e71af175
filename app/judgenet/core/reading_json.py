"""Verdicts in JSON, also fenced, surrounded by words, nested, or slightly broken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from judgenet.core.evaluation import Choice, Reason, choice_of
from judgenet.core.reading_words import NOUN, Scale, Score, choice_at, fold, in_scale, score_at

_ATTEMPTS = 16
"""Objects tried from either end of a reply, so that a reply full of braces costs no more than a long one."""
_DEPTH = 4
"""How deep a verdict may be nested."""

_OPENING = re.compile(r"\{\s*[\"'“}]")
_TWICE = "\0twice"
"""Marks an object that gives one of its scores or its choice twice, and not the same."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        for name, given in pairs:
            if given != value[name] and _meaning(name)[0] in ("score", "scores", "choice"):
                return {**value, _TWICE: name}
    return value


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object)


@dataclass(frozen=True, slots=True)
class JsonVerdict:
    """What an object says. ``problem`` where its scores cannot be used; no fields at all where it has none."""

    start: int
    end: int
    evidence: str = ""
    choice: Choice | None = None
    first: float | None = None
    second: float | None = None
    problem: Reason | None = None
    detail: str = ""


def objects(text: str) -> Iterator[tuple[int, int, Any]]:
    """The outermost JSON objects of a text with their places.

    Not more than a fixed number are tried from either end. A text whose objects are all broken gets one
    repair: raw line breaks are let pass, comments and trailing commas are taken out.
    """
    starts = [match.start() for match in _OPENING.finditer(text)]
    tried = starts if len(starts) <= 2 * _ATTEMPTS else starts[:_ATTEMPTS] + starts[-_ATTEMPTS:]
    done = 0
    for start in tried:
        if start >= done and (decoded := _decode(text, start)) is not None:
            value, done = decoded
            yield start, done, value
    if starts and not done:
        end = text.rfind("}") + 1
        decoded = _decode(_repaired(text[starts[0] : end]), 0)
        if decoded is not None:
            yield starts[0], end, decoded[0]


def unfinished(text: str) -> bool:
    """True where a text begins an object and does not end it, nor the list that it stands in."""
    match = _OPENING.search(text)
    if match is None:
        return text.rstrip().endswith(("{", "["))
    rest = text[match.start() :].rstrip(" \n\t`")
    return not rest.endswith(("}", "]")) or rest.count("{") > rest.count("}")


def _decode(text: str, start: int) -> tuple[Any, int] | None:
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*(?:"|\Z)|//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)|,(?=(?:\s|//[^\n]*\n)*[}\]])', re.S
)


def _repaired(text: str) -> str:
    return _TOKEN.sub(lambda match: match[0] if match[0][0] == '"' else "", text)


# What the keys of an object mean

_WORD = "(?:score|rating|grade|mark|points?|评分|得分|分数|打分)"
_WHICH = "(1|2|a|b|one|two|first|second|一|二|甲|乙)"
_SCORE_KEY = re.compile(
    rf"(?:the|final|overall|total|llm)*(?:{_WORD}s?(?:of|for)?(?:the)?(?:{NOUN}|r)?{_WHICH}|{NOUN}的?{_WHICH}的?{_WORD}?"
    rf"|(first|second)(?:{NOUN})?{_WORD}|第(一|二)个?{NOUN}的?{_WORD}?)"
)
_SCORES_KEY = re.compile(rf"(?:final|overall)?(?:{_WORD}s|评分|得分|分数)")
_PART_KEY = re.compile(rf"(?:{NOUN}|r)?的?{_WHICH}")
_EVIDENCE_KEY = re.compile(
    r"(?:evaluation|judging)?(?:evidences?|explanation|reasons?|reasoning|rationale|analysis|justification|feedback|comments?"
    r"|critique|comparison|thoughts?|评价|评估|证据|依据|评审依据|理由|分析|解释|说明)(?:of|for)?(?:assistant|response)?[12ab]?"
)
_CHOICE_KEY = re.compile(
    r"(?:my|the|final|overall)*(?:verdict|winner|choice|better(?:response|answer|assistant|output)?|preferred(?:response|answer)?"
    r"|preference|decision|judge?ment|结论|判断|胜者|更好的?回答)"
)
_INDEX = {"1": 0, "a": 0, "one": 0, "first": 0, "一": 0, "甲": 0}


@lru_cache(maxsize=512)
def _meaning(key: str) -> tuple[str, int]:
    """What a key holds: ("score", 0 or 1), ("scores", 0), ("evidence", 0), ("choice", 0) or ("", 0)."""
    plain = re.sub(r"[^a-z0-9\u4e00-\u9fff]", "", fold(key[:64]).low)
    if match := _SCORE_KEY.fullmatch(plain):
        return "score", _INDEX.get(next(part for part in match.groups() if part), 1)
    for kind, pattern in (("scores", _SCORES_KEY), ("evidence", _EVIDENCE_KEY), ("choice", _CHOICE_KEY)):
        if pattern.fullmatch(plain):
            return kind, 0
    return "", 0


def verdict_of(value: Any, scale: Scale, start: int = 0, end: int = 0, depth: int = _DEPTH) -> JsonVerdict | None:
    """The verdict that a decoded object holds, itself or further inside; ``None`` where it holds none."""
    if isinstance(value, list):
        inner: list[tuple[str, Any]] = [("", item) for item in value]
    elif isinstance(value, dict):
        fields = _fields(value, scale, start, end)
        if fields is not None:
            return fields
        # What the evidence repeats is no verdict, nor what is called a quotation.
        inner = [
            (key, item) for key, item in value.items() if _meaning(key)[0] != "evidence" and not _REPEATED.search(key)
        ]
    else:
        return None
    if not depth:
        return None
    read = [(key, verdict_of(item, scale, start, end, depth - 1)) for key, item in inner]
    said = [(key, verdict) for key, verdict in read if verdict is not None]
    verdicts = [verdict for key, verdict in said if _FINAL.search(key)] or [verdict for _, verdict in said]
    if len({(each.choice, each.first, each.second) for each in verdicts if each.problem is None}) > 1:
        return JsonVerdict(start, end, problem=Reason.CONTRADICTORY, detail="the object holds two verdicts that differ")
    return verdicts[-1] if verdicts else None


_REPEATED = re.compile(
    r"quot|inject|plant|attack|claim|sa(?:ys|id)|ignor|manipulat|suspicio|note|warning|security|(?:response|assistant)_?(?:text|content)"
    r"|excerpt|passage|引用|注入|声称|忽略",
    re.I,
)
_FINAL = re.compile(r"final|overall|total|verdict|最终|总", re.I)


class _Fields:
    """What the fields of an object say, by their names."""

    def __init__(self, value: dict[Any, Any]) -> None:
        self.scores: dict[int, Any] = {}
        self.choice: Choice | None = None
        self.chosen: str | None = None
        """The response that is called the better one, as it is written."""
        self.twice: str = value.get(_TWICE, "")
        """A field that is given twice, and not the same."""
        self._final: set[int] = set()
        evidence: list[str] = []
        for key, item in value.items():
            kind, index = _meaning(key)
            if kind == "score":
                self._score(key, index, item)
            elif kind == "scores":
                self.scores |= _parts(item)
            elif kind == "evidence":
                evidence += [part for part in (item if isinstance(item, list) else [item]) if isinstance(part, str)]
            elif kind == "choice" and isinstance(item, str | int):
                self.chosen = str(item)
                text = fold(self.chosen)
                self.choice = choice_at(text, 0, len(text.low)).choice
        self.evidence = "\n".join(evidence)

    def _score(self, key: str, index: int, item: Any) -> None:
        """A score counts over an earlier one of the same response where it is called final, and not after such a
        one."""
        if _FINAL.search(key):
            self._final.add(index)
        elif index in self.scores and self.scores[index] != item:
            if index in self._final:
                return
            self.twice = self.twice or key
        self.scores[index] = item


def _fields(value: dict[Any, Any], scale: Scale, start: int, end: int) -> JsonVerdict | None:
    fields = _Fields(value)
    choice, chosen = fields.choice, fields.chosen

    def problem(reason: Reason, detail: str) -> JsonVerdict:
        return JsonVerdict(start, end, fields.evidence, problem=reason, detail=detail[:80])

    if fields.twice:
        return problem(Reason.CONTRADICTORY, f"{fields.twice} is given twice, and not the same")
    if not fields.scores:
        if choice is not None:
            return JsonVerdict(start, end, fields.evidence, choice)
        return problem(Reason.UNPARSED, f"no response is called {chosen!r}") if chosen is not None else None
    read: list[float] = []
    for index in (0, 1):
        if index not in fields.scores:
            return problem(Reason.UNPARSED, f"the score of response {index + 1} is missing")
        score = _score(fields.scores[index], scale)
        if isinstance(score, Reason):
            return problem(score, f"score of response {index + 1}: {str(fields.scores[index])[:40]}")
        read.append(score)
    first, second = read
    sign = choice_of(first, second)
    if choice is not None and choice != sign:
        return problem(Reason.CONTRADICTORY, f"scores {first:g} and {second:g}, but chosen is {chosen}")
    return JsonVerdict(start, end, fields.evidence, sign, first, second)


def _parts(value: Any) -> dict[int, Any]:
    """Two scores in a list, or in an object whose keys name the responses."""
    if isinstance(value, list):
        return dict(enumerate(value)) if len(value) == 2 else {}
    parts: dict[int, Any] = {}
    if isinstance(value, dict):
        for key, item in value.items():
            plain = re.sub(r"[^a-z0-9\u4e00-\u9fff]", "", fold(key[:64]).low)
            if match := _SCORE_KEY.fullmatch(plain) or _PART_KEY.fullmatch(plain):
                parts[_INDEX.get(next(part for part in match.groups() if part), 1)] = item
    return parts


def _score(value: Any, scale: Scale) -> Score:
    if isinstance(value, dict):
        value = next((item for key, item in value.items() if re.fullmatch(_WORD, fold(key[:64]).low)), None)
    if isinstance(value, bool) or value is None:
        return Reason.UNPARSED
    if isinstance(value, int | float):
        if isinstance(value, int) and abs(value) > 10**6:
            return Reason.OUT_OF_RANGE
        return in_scale(float(value), scale)
    if not isinstance(value, str):
        return Reason.UNPARSED
    low = fold(value).low.strip(" \"'[](){}\n")
    got = score_at(low, 0, scale)
    if got is None or low[got[1] :].strip(" .分") not in ("", "points", "point", "marks", "stars"):
        return Reason.UNPARSED
    return got[0]
