"""Reads the verdict that a judge's reply finally gives, or the reason why it gives none.

The order of precedence is fixed, and ``Reading.rule`` tells which rule fired:

1. ``json``: an object with the keys of :mod:`judgenet.core.schemas` or their synonyms, also fenced or nested;
2. ``labelled scores``, ``pair``, ``tag``, ``answer line``: formal verdicts, of which (with ``json``) the last holds;
3. ``first line``: two numbers on the first line, which hold against what follows;
4. ``scores in prose``, then ``statement`` ("Output (a) is better"), then ``bare`` (nothing but a choice).

What a judge quotes or reports is no verdict (:mod:`judgenet.core.reading_quotes`), and two verdicts that differ
contradict each other unless the last is plainly its own correction. Nothing is guessed and nothing is clamped: a
reply that says nothing, leaves the scale, contradicts itself or is cut off is unscored. The raw text stays with the
caller.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from judgenet.core.documents import well_formed
from judgenet.core.evaluation import SCALE, Reading, Reason, Unscored, choice_of
from judgenet.core.network import Role
from judgenet.core.reading_json import JsonVerdict, objects, unfinished, verdict_of
from judgenet.core.reading_quotes import corrects, quotations, reported_after, reported_before
from judgenet.core.reading_roles import roles_in
from judgenet.core.reading_text import FORMAL, FoundVerdict, conclusion, rating_in, verdict_in
from judgenet.core.reading_thinking import Parts, split_thinking
from judgenet.core.reading_words import HIDDEN, Folded, Scale, blanked, fold, label
from judgenet.core.schemas import EVIDENCE, SCORE_1, SCORE_2, ReplyForm

_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|afraid|unable|not able|not comfortable)|my apologies|i apologi[sz]e"
    r"|(?:i|we) (?:can(?:no|')t|can not|won't|will not|must decline|decline) "
    r"(?:provide|assist|help|comply|fulfil|answer|evaluate|rate|judge|score|compare|respond|engage|continue|in good)"
    r"|as an ai)\b|抱歉|对不起|我(?:无法|不能|拒绝)"
)
_HEADING = re.compile(
    r"\s*[#*_ ]*(?:evaluation )?(?:evidence|explanation|reason(?:ing)?|rationale|analysis"
    r"|证据|评价证据|评审依据|评价|理由|分析|解释|说明)[*_ ]*[:：]?[*_ ]*(?:\n|(?<=[:：*])|(?<=[:：] ))\s*",
    re.I,
)


ALL_THINKING = (
    "the whole answer came in the field of the thinking, which is not scored: set reasoning to none, turn "
    "thinking off at the server, or ask this endpoint for plain text (structured: never)"
)
"""Why an answer is empty whose words all stand in the field of the thinking, and the way out."""


def read_judgement(
    text: str,
    *,
    form: ReplyForm | None = None,
    finish_reason: str = "unknown",
    scale: Scale = SCALE,
    thought: bool = False,
) -> Reading | Unscored:
    """Reads a reply to the judge's question.

    ``form`` is how the reply was asked for; the other form is read too, but only a reply that was asked for in
    JSON, or begins with an object, is called cut off where its object does not end. ``finish_reason`` is the
    endpoint's ("stop", "length", "filtered", "refused", "too_large", "unreadable", "unknown"). Scores must lie within
    ``scale``, ends included. ``thought`` is true where the endpoint sent thinking in a field of its own.
    """
    if (unread := without_reading(finish_reason)) is not None:
        return unread
    reply = well_formed(text.strip())
    if finish_reason == "length":
        before = "" if reply else " before the first word of the answer"
        return Unscored(Reason.TRUNCATED, f"the limit of tokens was reached{before}")
    if not reply:
        return Unscored(Reason.EMPTY, ALL_THINKING if thought else "")
    if reply[0] == "{":
        quick = _quick(reply, scale)
        if quick is not None:
            return quick
    parts = split_thinking(reply)
    return _read(parts.answer, form, scale) if parts.answer else _no_answer(parts)


def without_reading(finish_reason: str) -> Unscored | None:
    """Why a reply that ended for this reason says nothing, whatever its text; ``None`` where its text is to be read."""
    if finish_reason in ("filtered", "refused"):
        return Unscored(Reason(finish_reason), "the endpoint says so")
    if finish_reason == "too_large":
        return Unscored(Reason.TOO_LARGE, "more than an answer can be; only its beginning is kept")
    if finish_reason == "unreadable":
        return Unscored(Reason.UNPARSED, "the JSON around the answer is nested too deeply to be read")
    return None


def read_rating(text: str, *, finish_reason: str = "unknown", scale: Scale = SCALE) -> float | Unscored:
    """Reads the rating of a single response: "Rating: [[9]]", "Score: 8/10". Not for pairs."""
    if (unread := without_reading(finish_reason)) is not None:
        return unread
    if finish_reason == "length":
        return Unscored(Reason.TRUNCATED)
    parts = split_thinking(text)
    answer = parts.answer
    if not answer:
        return _no_answer(parts) if text.strip() else Unscored(Reason.EMPTY)
    folded = fold(answer)
    score = rating_in(folded, scale)
    if isinstance(score, float):
        return score
    return _unreadable(folded, "") if score is None else Unscored(score)


def read_roles(text: str, *, form: ReplyForm | None = None, limit: int | None = None) -> tuple[Role, ...] | Unscored:
    """Reads a list of roles, in its order: JSON, "$name: description&", or a numbered or bulleted list.

    Names that differ only in case are one role; roles without a name are dropped; at most ``limit`` are kept.
    """
    if not text.strip():
        return Unscored(Reason.EMPTY)
    parts = split_thinking(text)
    answer = parts.answer
    if not answer:
        return _no_answer(parts)
    refused = _REFUSAL.match(fold(answer[:80]).low)
    roles = () if refused else roles_in(answer)
    cut = (form == "json" or _LEADING_VALUE.match(answer)) and unfinished(answer)
    if cut and not (limit is not None and len(roles) >= limit):
        return Unscored(Reason.TRUNCATED, f"the list ends within an object, after {len(roles)} roles")
    return roles[:limit] or _unreadable(fold(answer), "no role was named")


def without_thinking(text: str) -> str:
    """The answer of a reply without its thinking; see :mod:`judgenet.core.reading_thinking`."""
    return split_thinking(text).answer


def _no_answer(parts: Parts) -> Unscored:
    """Why a reply that is not empty has no answer."""
    if parts.unknown:
        return Unscored(Reason.UNPARSED, f"what stands beside the unknown mark {parts.unknown} may be thinking")
    return Unscored(Reason.TRUNCATED, "nothing follows the thinking")


def _quick(reply: str, scale: Scale) -> Reading | Unscored | None:
    """The short way of a reply that is the wanted object and nothing else."""
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError):
        return None
    first, second = value.get(SCORE_1), value.get(SCORE_2)
    evidence = value.get(EVIDENCE, "")
    # type() and not isinstance(): True is an int.
    if type(first) not in (int, float) or type(second) not in (int, float) or type(evidence) is not str:
        return None
    low, high = scale
    if reply.count(f'"{SCORE_1}"') > 1 or reply.count(f'"{SCORE_2}"') > 1:
        return None
    if len(value) > 2 + (EVIDENCE in value) or not (low <= first <= high and low <= second <= high):
        return None
    said = well_formed(evidence.strip())
    return _agreed(Reading(said, choice_of(first, second), float(first), float(second), "json"))


def _agreed(reading: Reading) -> Reading | Unscored:
    """The reading, unless its evidence concludes the opposite."""
    concluded = conclusion(reading.evidence)
    if concluded is not None and {concluded, reading.choice} == {"first", "second"}:
        return Unscored(Reason.CONTRADICTORY, f"the evidence concludes {concluded}, the scores {reading.choice}")
    return reading


_LEADING_VALUE = re.compile(r"(?:```\w*\s*)?[\[{]")
_LEADING_OBJECT = re.compile(r"(?:```\w*\s*)?(?=\{)")


def _read(answer: str, form: ReplyForm | None, scale: Scale) -> Reading | Unscored:
    values = list(objects(answer)) if "{" in answer else []
    leading = _LEADING_OBJECT.match(answer)
    broken = leading is not None and not (values and values[0][0] == leading.end())
    if broken and unfinished(answer):
        # What stands inside an object that does not end is not the verdict.
        return Unscored(Reason.TRUNCATED, "the object does not end")
    places = [(start, end) for start, end, _ in values]
    quotes = quotations(blanked(answer, places, "x"))
    hidden = [*quotes, *places]
    said = [] if broken else _own_objects(answer, values, quotes, hidden)
    verdicts = [verdict for it in said if (verdict := verdict_of(it[2], scale, it[0], it[1])) is not None]
    if verdicts:
        return _from_json(answer, verdicts, hidden, scale)
    if form == "json" and not values and unfinished(answer):
        return Unscored(Reason.TRUNCATED, "the object does not end")
    folded = fold(answer, hidden)
    read_verdict = verdict_in(folded, scale)
    return _unreadable(folded, "no verdict was found") if read_verdict is None else _from_text(folded, read_verdict)


def _own_objects(
    answer: str, values: list[tuple[int, int, Any]], quotes: list[tuple[int, int]], hidden: list[tuple[int, int]]
) -> list[tuple[int, int, Any]]:
    """The objects that the judge itself says: none that is quoted (a fence is the usual wrapping) or reported."""
    shown = blanked(answer, hidden, sign=HIDDEN)
    said = []
    for start, end, value in values:
        around = [place for place in quotes if place[0] <= start < place[1]]
        if any(not _FENCE.match(answer, first) for first, _ in around):
            continue
        first, last = min([start, *(place[0] for place in around)]), max([end, *(place[1] for place in around)])
        before = fold(shown[max(0, first - 400) : first]).low
        if reported_before(before, len(before), strict=True) or _ONLY_NAMED.search(before):
            continue
        if not reported_after(fold(shown[last : last + 240]).low, 0):
            said.append((start, end, value))
    return said


_FENCE = re.compile(r"[ \t]*(?:[-*+] |\d+[.)] )?(?:```|~~~)")
_ONLY_NAMED = re.compile(rf"(?:\A|\n)[ #>-]*(?:the )?{label()}[ '\"]*:?\s*(?:```\w*\s*)?\Z")


def _from_json(
    answer: str, verdicts: list[JsonVerdict], hidden: list[tuple[int, int]], scale: Scale
) -> Reading | Unscored:
    """The verdict of the last object, weighed against the other objects and against what is written around it."""
    verdict = verdicts[-1]
    folded = fold(answer, hidden)
    places = [len(fold(answer[:at]).low) for at in (verdict.start, verdict.end)]
    rest = fold(blanked(answer, hidden, sign=HIDDEN)[verdict.end :])
    after = verdict_in(rest, scale)
    if after is not None and after.rule in FORMAL and verdict.problem is not None:
        return _from_text(folded, replace(after, start=after.start + places[1], end=after.end + places[1]))
    if verdict.problem is not None or verdict.choice is None:
        return Unscored(verdict.problem or Reason.UNPARSED, verdict.detail)
    if after is not None and after.choice is not None and _opposed(after, verdict):
        if after.rule in FORMAL and corrects(folded.low, places[1], places[1] + after.start, places[1] + after.end):
            return _from_text(folded, replace(after, start=after.start + places[1], end=after.end + places[1]))
        return Unscored(Reason.CONTRADICTORY, f"the object says {verdict.choice}, what follows it {after.choice}")
    shown = blanked(answer, hidden, sign=HIDDEN)
    before = verdict_in(fold(shown[: verdict.start]), scale)
    others = [(len(fold(answer[: it.end]).low), it) for it in verdicts[:-1]]
    for end, other_verdict in others:
        same = (other_verdict.choice, other_verdict.first, other_verdict.second) == (
            verdict.choice,
            verdict.first,
            verdict.second,
        )
        if not same and other_verdict.problem is None and not corrects(folded.low, end, places[0], places[1]):
            return Unscored(Reason.CONTRADICTORY, f"one object says {other_verdict.choice}, another {verdict.choice}")
    if before is not None and before.rule in FORMAL and before.choice is not None:
        corrected = corrects(folded.low, before.end, places[0], places[1])
        if not corrected and _opposed(before, verdict):
            return Unscored(Reason.CONTRADICTORY, f"before the object stands {before.choice}, it says {verdict.choice}")
    said = well_formed(verdict.evidence.strip())
    return _agreed(Reading(said, verdict.choice, verdict.first, verdict.second, "json"))


def _opposed(after: FoundVerdict, verdict: JsonVerdict) -> bool:
    """Whether a finding contradicts an object before it; a mere statement does not where either is a tie."""
    if after.first is not None:
        return (after.first, after.second) != (verdict.first, verdict.second)
    if after.rule in FORMAL:
        return after.choice != verdict.choice
    return {after.choice, verdict.choice} == {"first", "second"}


def _from_text(folded: Folded, verdict: FoundVerdict) -> Reading | Unscored:
    if verdict.problem is not None or verdict.choice is None:
        return Unscored(verdict.problem or Reason.UNPARSED, verdict.detail)
    return Reading(_evidence(folded, verdict), verdict.choice, verdict.first, verdict.second, verdict.rule)


_LEAD_IN = re.compile(r"[^\w\n]*(?:(?:the|my|final|overall) )*(?:(?:scores?|ratings?|评分|得分|分数) ?:)?[^\w\n]*对?\Z")
_REST_OF_LINE = re.compile(r"[^\w\n]*(?:points?|分)?[^\w\n]*(?=\n|\Z)")
_TAG = re.compile(r"<[^<>]{1,200}>")
_BROKEN_OBJECT = re.compile(r"\{\s*[\"']\w{1,40}[\"']\s*:\s*[\"']")


def _evidence(folded: Folded, verdict: FoundVerdict) -> str:
    """What the reply says apart from its scores. A choice stays in: it is part of the argument."""
    end = len(folded.low)
    if verdict.rule == "first line":
        said = folded.original(verdict.end, end)
    elif verdict.first is None or verdict.rule == "scores in prose" or verdict.end - verdict.start > 160:
        said = folded.original(0, end)
    else:
        line = folded.low.rfind("\n", 0, verdict.start) + 1
        start = line if _LEAD_IN.match(folded.low[line : verdict.start]) else verdict.start
        rest = _REST_OF_LINE.match(folded.low, verdict.end)
        said = folded.original(0, start) + "\n" + folded.original(rest.end() if rest else verdict.end, end)
    said = said.strip()
    if "<" in said and not _TAG.sub("", said).strip():
        return ""
    if said.startswith("{") and (broken := _BROKEN_OBJECT.match(said)):
        said = said[broken.end() :].rstrip("\"', }\n")
    heading = _HEADING.match(said)
    return said[heading.end() if heading else 0 :].strip()


def _unreadable(folded: Folded, detail: str) -> Unscored:
    """No verdict: a refusal where the reply begins with one."""
    if _REFUSAL.search(folded.low[:240]):
        return Unscored(Reason.REFUSED, " ".join(folded.plain[:80].split()))
    return Unscored(Reason.UNPARSED, detail)
