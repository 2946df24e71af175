"""Verdicts in free text.

A *formal* verdict is written where a verdict belongs: labelled scores ("Score of Response 1: 8"), a pair
("Output: (8, 7)"), two numbers on the first line, a tag ("[[A]]", "[[A>>B]]") or an answer line ("Answer:
Assistant 1"). The last formal verdict holds, readable or not: there is no way back to an earlier mention.
Two numbers on the first line hold against what follows them, since their explanation follows.
Without a formal verdict, scores given in prose are read, then plain statements ("Output (a) is better").

All patterns run on the folded text, in time that grows with its length and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from judgenet.core.evaluation import Choice, Reason, choice_of
from judgenet.core.reading_quotes import corrects, ignored, reported, reported_after, reported_before
from judgenet.core.reading_words import (
    BETTER,
    CHOICES,
    NOUN,
    POSSESSIVE,
    Folded,
    ResponseMention,
    Scale,
    Score,
    choice_at,
    fold,
    label,
    labels_in,
    place,
    score_at,
)

_MOST = 200
"""So many scores and statements are looked at, the last ones: no judge writes more of them."""

FORMAL = frozenset({"labelled scores", "pair", "tag", "answer line"})
"""Rules that find a verdict where a verdict belongs."""

_NAME = "(?:scores?|ratings?|grades?|marks?|评分|得分|分数|打分|总分)"


@dataclass(frozen=True, slots=True)
class FoundVerdict:
    """A verdict found at a place of the text: a choice, perhaps with scores, or why it cannot be read."""

    start: int
    end: int
    rule: str
    choice: Choice | None = None
    first: float | None = None
    second: float | None = None
    problem: Reason | None = None
    detail: str = ""
    stated: bool = True
    """False where the text only mentions it: a tag in the middle of a thought."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """One response's score at a place of the text."""

    index: int
    score: Score
    start: int
    end: int
    bare: bool = False
    """True where no word says that the number is a score."""
    lead: int | None = None
    """Where the words before it end, if not at its start: at the brace of a broken object for its keys."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence that calls a response the better one. ``final`` where the sentence says that it concludes."""

    choice: Choice
    start: int
    end: int
    final: bool


def verdict_in(text: Folded, scale: Scale) -> FoundVerdict | None:
    """The verdict of a text; see the module. ``None`` where it says nothing."""
    names = labels_in(text)
    head = _first_line(text, scale)
    formal = [
        stated
        for stated in (
            _labelled_verdict(text, _labelled(text, names, scale)),
            _last_pair(text, scale, head.end if head else 0),
            *_tags(text),
            *_answer_lines(text),
        )
        if stated is not None
    ]
    formal.sort(key=lambda stated: stated.end)
    verdict = _formal_verdict(text, head, formal)
    statements = _statements(text, names)
    if verdict is not None:
        after = _last_group(text, _in_prose(text, names, scale, verdict.end), "scores in prose")
        if after is not None and after.problem is None and verdict.problem is None and not _agree(verdict, after):
            return _contradiction(text, verdict, after)
    else:
        verdict = _last_group(text, _in_prose(text, names, scale), "scores in prose")
        if verdict is not None and verdict.problem is not None and statements:
            verdict = None
    if verdict is None:
        return _statement_verdict(text, statements) or _bare(text)
    return _checked(text, verdict, statements)


def conclusion(evidence: str) -> Choice | None:
    """The choice that the last sentence of an evidence states as its conclusion, if it does."""
    tail = evidence[-400:].rstrip()
    begin = max(tail.rfind(stop, 0, -1) for stop in (". ", "\n", "。", "! "))
    last = tail[max(begin, 0) :].lower()
    # The short way: nearly all evidence ends without a verdict.
    if not (_BETTER_WORD.search(last) and _CONCLUDES.search(last)):
        return None
    text = fold(tail)
    statements = _statements(text, labels_in(text))
    said = statements[-1] if statements else None
    return said.choice if said and said.final and _ends(text.low, said.end) else None


_RATING = re.compile(rf"(?:{_NAME}|answer|response|as follows)[\"']?(?: is| of)? ?:[ \n]{{0,2}}[\"']?")
_BRACKETED = re.compile(r"\[\[ ?([^\[\]\n]{1,12}?) ?\]\]")


def rating_in(text: Folded, scale: Scale) -> Score | None:
    """The last rating of a single response: "[[9]]", else "Rating: 9" or "The assistant's answer: 8/10",
    else a reply that is nothing but a number."""
    last: Score | None = None
    for match in _BRACKETED.finditer(text.low):
        got = score_at(match[1], 0, scale)
        if got is not None and got[1] == len(match[1]):
            last = got[0]
    if last is None:
        for match in _RATING.finditer(text.low):
            got = score_at(text.low, match.end(), scale)
            if got is not None and _BARE_END.match(text.low, got[1]):
                last = got[0]
    whole = text.low.strip(" .\n")
    if last is None and (got := score_at(whole, 0, scale)) is not None and got[1] == len(whole):
        return got[0]
    return last


# Scores beside a response's name

_IS = r"(?::|=|->|\|| is:?| was:?| would be:?|为:?|是:?)"
_CLOSE = r"[\"'\])}]{0,2}"
_OPEN = re.compile(r"[ \n]{0,8}[\"'(\[<{]{0,3} ?")
_OPEN_BARE = re.compile(r" {0,8}[\"'(<]{0,2} ?")
_SCORE_BEFORE = re.compile(rf"(?<![a-z]){_NAME} {{0,4}}(?:(?:of|for|to|given to) {{0,4}})?(?:the )?[\"'\[]?\Z")
_SCORE_AFTER = re.compile(
    rf"{POSSESSIVE}{_CLOSE} ?:? ?(?:\n{{1,2}}[ #>•-]{{0,4}})?[(\[]?(?:(?:final|overall|total) )?{_NAME}[)\]]?"
    rf"(?: {{0,4}}{_IS}|(?=[0-9]))"
)
_IS_AFTER = re.compile(rf"{POSSESSIVE}{_CLOSE} {{0,4}}(?:{_IS}|\n{{1,2}}(?= {{0,4}}[0-9]))")
_BARE_BEFORE = re.compile(r"(?:\A|[\n(,;|>:。、]|\band)[ \"'\[#•|-]{0,6}(?:[0-9][.)] {1,3})?(?:the )?\Z")
_BARE_AFTER = re.compile(rf"{POSSESSIVE}{_CLOSE} {{0,4}}(?:[:=|]| - |为)")
_BARE_END = re.compile(
    r"[\"'\])}]{0,3} {0,2}(?:\Z|[\n();.|。、\"'-]|,(?! ?[0-9])|(?:and|with|due|because|as|since|while)\b)"
)
_COUNT_FOR = re.compile(r"(?:[:,;] ?|and |^)([0-9][0-9.]{0,4}(?:/[0-9]{1,3})?) for (?:the )?\Z")
_KEY = re.compile(r"(?:score|rating)[ _]?#?(?:([1a])|[2b])(?![0-9a-z])[\"']? {0,2}[:=] {0,4}[\"']?")


_GOES_ON = re.compile(
    r"(?:</\w{1,20}>)?"
    r"(?: ?\([^()\n]{0,80}\))?[ ,;.|\"'-]*\n?[ ,;.|\"'#>-]*(?:(?:and|while|whereas|but"
    r"|with) )?(?:the )?(?:final |overall )?对?"
)
"""What stands between the two scores of one verdict."""


def _own_marks(low: str, marks: list[_Mark]) -> list[_Mark]:
    """The scores that the judge gives: without those that it reports, and the other half of what it reports."""
    kept: list[_Mark] = []
    before: _Mark | None = None
    reported = False
    for mark in sorted(marks, key=lambda mark: mark.start)[-_MOST:]:
        half = (
            before is not None
            and before.index != mark.index
            and _GOES_ON.fullmatch(low, before.end, mark.start)
            and not (reported and _line_ended(low, before, mark))
        )
        if not half:
            reported = reported_before(low, mark.start if mark.lead is None else mark.lead, strict=True)
        if not reported:
            kept.append(mark)
        before = mark
    return kept


_LINE_END = re.compile(r"[\"')\]*_]{0,3}\.[\"')\]*_]{0,3} {0,4}\n[ \n]*")


def _line_ended(low: str, before: _Mark, mark: _Mark) -> bool:
    """Whether a score is the last word of a sentence in which the judge says that it ignored it, and only a line break
    stands between it and the next score, which is the judge's own."""
    if not _LINE_END.fullmatch(low, before.end, mark.start):
        return False
    return ignored(low[_sentence_start(low, before.start) : before.start])


def _labelled_verdict(text: Folded, marks: Sequence[_Mark]) -> FoundVerdict | None:
    """The last two labelled scores that the judge does not disown. Two that differ contradict each other, unless the
    last are plainly its own correction."""
    last: FoundVerdict | None = None
    left = sorted(marks, key=lambda mark: mark.end)
    while left:
        bare = all(mark.bare for mark in left[-2:])
        verdict = _group(text, left, "labelled scores")
        if bare and (verdict.problem is not None or last is not None):
            continue
        if reported_after(text.low, verdict.end):
            continue
        if last is None:
            last = verdict
            if verdict.problem is not None:
                break
        elif verdict.problem is None and (verdict.first, verdict.second) != (last.first, last.second):
            if not corrects(text.low, verdict.end, last.start, last.end):
                return _contradiction(text, verdict, last)
            break
    return last


_TAGGED_SCORE = re.compile(r"<(?:score|rating)[ _-]?(?:([1a])|[2b])> {0,4}\n?")
_IN_OBJECT = re.compile(r"[{,]\s{0,40}[\"']\Z")


def _labelled(text: Folded, names: Sequence[ResponseMention], scale: Scale) -> list[_Mark]:
    """Scores with a name, or with a numbered key as a broken object leaves them ("score_1: 8")."""
    low = text.low
    marks = [mark for name in names if (mark := _labelled_mark(low, name, scale)) is not None]
    for match in _KEY.finditer(low):
        if low[match.start() - 1 : match.start()].isalpha():
            continue
        got = score_at(low, match.end(), scale)
        score, end = got if got is not None else (Reason.UNPARSED, match.end())
        inside = _IN_OBJECT.search(low, max(0, match.start() - 48), match.start()) is not None
        brace = low.rfind("{", max(0, match.start() - 4000), match.start()) if inside else -1
        marks.append(_Mark(0 if match[1] else 1, score, match.start(), end, lead=brace if brace >= 0 else None))
    for match in _TAGGED_SCORE.finditer(low):
        got = score_at(low, match.end(), scale)
        if got is not None:
            marks.append(_Mark(0 if match[1] else 1, got[0], match.start(), got[1]))
    return _own_marks(low, marks)


def _labelled_mark(low: str, name: ResponseMention, scale: Scale) -> _Mark | None:
    before = low[max(0, name.start - 32) : name.start]
    begin = name.start
    after = None
    if (word := _SCORE_BEFORE.search(before)) is not None:
        begin -= len(before) - word.start()
        after = _IS_AFTER.match(low, name.end)
    else:
        after = _SCORE_AFTER.match(low, name.end)
        if after is None:
            return _bare_mark(low, before, name, scale)
    if after is None:
        return None
    opening = _OPEN.match(low, after.end())
    at = opening.end() if opening else after.end()
    if (got := score_at(low, at, scale)) is not None:
        return _Mark(name.index, got[0], begin, got[1])
    if low[after.end() - 1] not in ":=":
        return None
    # A label without a number is an unreadable verdict, or one that the end of the text cut off.
    return _Mark(name.index, Reason.TRUNCATED if _NOTHING.match(low, at) else Reason.UNPARSED, begin, after.end())


def _bare_mark(low: str, before: str, name: ResponseMention, scale: Scale) -> _Mark | None:
    """A number beside a name, as in a list of scores; and "8 for Response 1"."""
    after = _BARE_AFTER.match(low, name.end)
    if after is not None and _BARE_BEFORE.search(before):
        opening = _OPEN_BARE.match(low, after.end())
        got = score_at(low, opening.end() if opening else after.end(), scale)
        if got is not None and _BARE_END.match(low, got[1]):
            return _Mark(name.index, got[0], name.start, got[1], bare=True)
    count = _COUNT_FOR.search(before) if before.rstrip().endswith(("for", "the")) else None
    if count is not None and (got := score_at(count[1], 0, scale)) is not None:
        return _Mark(name.index, got[0], name.start - len(before) + count.start(1), name.end, bare=True)
    return None


# Scores in prose

_PROSE_WORD = re.compile(r"score|rating|rate|grade|g[ai]ve|/[0-9]| out of [0-9]")
_GIVEN_TO = re.compile(
    r"(?:score|rating|grade) of (?:an? )?([0-9][0-9.]{0,4}(?: ?(?:/|out of) ?[0-9]{1,3})?)(?: points?)?"
    r" (?:to|for) (?:the )?\Z"
)
_GIVE = re.compile(r"(?:^|[^a-z])(?:(?:giv|gave|award|assign|grant|rat|scor)[a-z]*|and|while) (?:the )?\Z")
_GIVEN = re.compile(
    rf"{POSSESSIVE} (?:(?P<way>(?:with )?(?:an? )?(?:overall )?(?:score|rating|grade) (?:of |at )?|(?:as"
    rf"|at) )(?:an? )?"
    r"|(?P<article>an? )|(?=[0-9]))"
)
_RECEIVES = re.compile(
    rf"{POSSESSIVE} (?:(?:would|should|could|will|can) )?"
    r"(?:(?:receiv|get|earn|deserv|achiev|obtain)[a-z]* (?P<article>an? )?|(?P<verb>scores? )(?:an? )?)"
    r"(?P<way>(?:overall )?(?:score|rating|grade) (?:of )?)?(?:an? )?"
)
_RESPECTIVELY = re.compile(
    rf"(?:scores?|ratings?) (?:of|for|to) (?:the )?{label(0)}{POSSESSIVE} and (?:the )?{label(1)}{POSSESSIVE}"
    r" (?:are|is|would be):? "
)
_AND = re.compile(" ?(?:, and|,|and) ")
_BOTH = re.compile(
    rf"both (?:{label(0)} and {label(1)}|(?:assistants|responses|answers|outputs|models|of them)){POSSESSIVE} "
    r"(?:(?:would |should |therefore )?(?:receive|get|earn|deserve) )?(?:an? )?(?P<way>(?:score"
    r"|rating) of (?:an? )?)?"
)


def _in_prose(text: Folded, names: Sequence[ResponseMention], scale: Scale, start: int = 0) -> list[_Mark]:
    """Scores that a sentence gives: "I would give Assistant 1 a score of 8", "both receive 8/10"."""
    low = text.low
    if not _PROSE_WORD.search(low, start):
        return []
    marks = [mark for name in names if name.start >= start and (mark := _prose_mark(low, name, scale)) is not None]
    for match in _RESPECTIVELY.finditer(low, start):
        indices = [place(text, match, number) for number in (0, 1)]
        first = score_at(low, match.end(), scale, comma=False)
        joined = _AND.match(low, first[1]) if first else None
        second = score_at(low, joined.end(), scale, comma=False) if joined else None
        if first and second and {0, 1} == set(indices):
            pair = zip(indices, (first, second), strict=True)
            marks += [_Mark(index or 0, got[0], match.start(), second[1]) for index, got in pair]
    if "both " in low:
        for match in _BOTH.finditer(low, start):
            got = score_at(low, match.end(), scale)
            if got is not None and (match["way"] or _out_of(low, match.end(), got[1])):
                marks += [_Mark(index, got[0], match.start(), got[1]) for index in (0, 1)]
    return marks


def _prose_mark(low: str, name: ResponseMention, scale: Scale) -> _Mark | None:
    before = low[max(0, name.start - 48) : name.start]
    given = _GIVEN_TO.search(before) if " of " in before else None
    if given is not None:
        got = score_at(given[1], 0, scale)
        return _Mark(name.index, got[0], name.start, name.end) if got else None
    after = _GIVEN.match(low, name.end) if _GIVE.search(before[-16:]) else None
    after = after or _RECEIVES.match(low, name.end)
    got = score_at(low, after.end(), scale) if after else None
    if after is None or got is None:
        return None
    # "gave Assistant 1 2 examples" and "a 5 minute wait" are no scores.
    is_score = after["way"] or after.groupdict().get("verb") or _out_of(low, after.end(), got[1])
    if not (is_score or (after["article"] and _BARE_END.match(low, got[1]))):
        return None
    sentence = low[_sentence_start(low, name.start) : name.start]
    if _OTHERS_SAY.search(sentence) or reported(low, name.start, got[1], strict="words"):
        return None
    return _Mark(name.index, got[0], name.start, got[1])


def _out_of(low: str, start: int, end: int) -> bool:
    return "/" in low[start:end] or " of " in low[start:end]


# Groups of two scores


def _last_group(text: Folded, marks: Sequence[_Mark], rule: str) -> FoundVerdict | None:
    """The last two scores, one for each response; a finding with a problem where the text ends otherwise."""
    if not marks:
        return None
    verdict = _group(text, sorted(marks, key=lambda mark: mark.end), rule)
    # Numbers beside names are a verdict only where they make a pair.
    return None if verdict.problem is not None and all(mark.bare for mark in marks) else verdict


def _group(text: Folded, left: list[_Mark], rule: str) -> FoundVerdict:
    """Takes the last two scores from a list in order of their ends."""
    last = left.pop()
    while left and left[-1].index == last.index and left[-1].score == last.score:
        left.pop()
    opened = left.pop() if left else None
    if last.score is Reason.TRUNCATED:
        return _unread(text, last, rule)
    alone = opened is None or opened.index == last.index
    if not alone and opened is not None and left and left[-1].index == last.index < opened.index:
        # 1, 2, 1: the second belongs to the nearer of its neighbours.
        alone = opened.start - left[-1].end <= last.start - opened.end
    if opened is not None and alone:
        left.append(opened)
    if opened is None or alone:
        return FoundVerdict(last.start, last.end, rule, problem=Reason.UNPARSED, detail="a score for one response only")
    scores = {mark.index: mark.score for mark in (last, opened)}
    first, second = scores[0], scores[1]
    if isinstance(first, Reason) or isinstance(second, Reason):
        return _unread(text, last if isinstance(last.score, Reason) else opened, rule)
    start, end = min(last.start, opened.start), max(last.end, opened.end)
    return FoundVerdict(start, end, rule, choice_of(first, second), first, second)


def _unread(text: Folded, mark: _Mark, rule: str) -> FoundVerdict:
    assert isinstance(mark.score, Reason)
    return FoundVerdict(mark.start, mark.end, rule, problem=mark.score, detail=_quote(text, mark.start, mark.end + 16))


def _quote(text: Folded, start: int, end: int) -> str:
    """What the reply says there, short enough for a message."""
    return " ".join(text.plain[start : min(end, start + 80)].split())


_N = r"[-+]?\.?[0-9][0-9.]{0,6}(?:/[0-9]{1,3})?"
_NAMED_PAIR = re.compile(
    r"(?:tuple|scores?|ratings?|评分|得分|分数)[^\n.()\[\]0-9]{0,60}[(\[] ?"
    rf"(?P<a>{_N}) ?, ?(?P<b>{_N}) ?[)\]]"
)
_BRACKETED_PAIR = re.compile(rf"\[\[ ?(?P<a>{_N}) ?, ?(?P<b>{_N}) ?\]\]")
_LINE_PAIR = re.compile(
    r"(?:output|scores?|ratings?|评分|得分|分数) ?:[ \n]{0,2}"
    rf"(?:[(\[]{{1,2}} ?(?P<c>{_N}) ?, ?(?P<d>{_N}) ?[)\]]{{1,2}}|(?P<e>{_N})(?:, ?"
    rf"| {{1,3}})(?P<f>{_N}))[ .]*(?=\n|\Z)"
)
_LINE_LEAD = re.compile(r"(?:\A|\n)[ #>-]{0,4}(?:(?:the|final|overall|my) ){0,2}\Z")
_FIRST_LINE = re.compile(
    r"\s*(?:(?P<a>[-+]?\.?[0-9][0-9.,/]{0,10}?),? +(?P<b>[-+]?\.?[0-9][0-9.,/]{0,10}?)"
    r"|[(\[]{1,2} ?(?P<c>[-+]?\.?[0-9][0-9./]{0,10}) ?, ?(?P<d>[-+]?\.?[0-9][0-9./]{0,10}) ?[)\]]{1,2})[.]? *(?:\n|\Z)"
)


def _last_pair(text: Folded, scale: Scale, start: int) -> FoundVerdict | None:
    low = text.low
    matches: list[re.Match[str]] = []
    if "[[" in low:
        matches += _BRACKETED_PAIR.finditer(low, start)
    if "(" in low or "[" in low:
        matches += (
            match for match in _NAMED_PAIR.finditer(low, start) if not low[match.start() - 1 : match.start()].isalpha()
        )
    for match in _LINE_PAIR.finditer(low, start):
        if _LINE_LEAD.search(low[max(0, match.start() - 24) : match.start()]):
            matches.append(match)
    said = (match for match in matches if not reported(low, match.start(), match.end(), strict=True))
    last = max(said, key=lambda match: match.end(), default=None)
    return _pair(text, last, "pair", scale) if last else None


def _first_line(text: Folded, scale: Scale) -> FoundVerdict | None:
    match = _FIRST_LINE.match(text.low)
    return _pair(text, match, "first line", scale) if match else None


def _pair(text: Folded, match: re.Match[str], rule: str, scale: Scale) -> FoundVerdict:
    start, end = match.span()
    scores: list[Score] = []
    for token in match.groups():
        if token is not None:
            got = score_at(token, 0, scale)
            whole = got is not None and got[1] >= len(token.rstrip(".,"))
            scores.append(got[0] if got is not None and whole else Reason.UNPARSED)
    first, second = scores
    if isinstance(first, Reason) or isinstance(second, Reason):
        problem = first if isinstance(first, Reason) else second
        assert isinstance(problem, Reason)
        return FoundVerdict(start, end, rule, problem=problem, detail=_quote(text, start, end))
    return FoundVerdict(start, end, rule, choice_of(first, second), first, second)


# Choices

_COMPARED = re.compile(r"([ab]) ?(>>|>|=|<|<<) ?([ab])")
_TAGS: dict[str, Choice] = {"a": "first", "b": "second", "c": "tie", "tie": "tie"}
_STATED = re.compile(
    r"verdict|final|better|worse|rate\b|winner|decision|judge|tie\b|same\b|conclusion|choice|prefer"
    r"|answer is|therefore"
)
_HEDGED = re.compile(r"initial|at first|lean|might|could|tempt|if\b|seem")
_LOOKS = re.compile(
    r"[\"']? (?:looks?|looked|seem(?:s|ed)?|appear(?:s|ed)?|might|may|could|would have|was)\b"
    r"|[^.\n]{0,60}\bat first\b"
)
_EXPLAINED = re.compile(r"[\"']? ?(?:if|when)\b")


def _tags(text: Folded) -> Iterator[FoundVerdict]:
    """Tags of MT-Bench and Arena-Hard. A tag that is explained ("[[A]] if …") repeats the task."""
    if "[[" not in text.low:
        return
    for match in _BRACKETED.finditer(text.low):
        start, end = match.span()
        written = match[1].strip("\"' ")
        if _EXPLAINED.match(text.low, end) or reported(text.low, start, end, strict="words"):
            continue
        choice = _TAGS.get(written)
        compared = _COMPARED.fullmatch(written)
        if compared and compared[1] != compared[3]:
            larger = {"<": compared[3], "=": None}.get(compared[2][0], compared[1])
            choice = "tie" if larger is None else CHOICES["ab".index(larger)]
        if choice is not None:
            line = text.low[max(0, start - 90) : start].rpartition("\n")[2].rpartition("]]")[2]
            hedged = _HEDGED.search(re.split("[,;.!?…]", line)[-1])
            looks = _LOOKS.match(text.low, end) is not None
            stated = not looks and (not line.strip() or (_STATED.search(line) is not None and not hedged))
            yield FoundVerdict(start, end, "tag", choice, detail=written, stated=stated)
        elif compared or re.fullmatch("[a-z]{1,2}", written):
            yield FoundVerdict(start, end, "tag", problem=Reason.UNPARSED, detail=_quote(text, start, end))


_ANSWER = re.compile(
    r"(?:(?P<sure>verdict|decision|judge?ment|winner|choice|better (?:answer|response|output|assistant|one)"
    r"|结论|裁决|判断|胜者|更好的?回答)|(?P<loose>answer|preference|conclusion|答案))"
    r"(?: is|是|为)?(?: {0,3}[:|]|(?<= is)|(?<=[是为]))[ \n|]{0,4}"
)
_ANSWER_LEAD = re.compile(
    r"(?:\A|\n|[.!?] |。)[ #>|\"'-]{0,4}(?:(?:so|therefore|thus|hence|overall|因此|所以),? ?)?"
    r"(?:(?:(?:my|the|final|overall|own) ){0,3}|(?:我的)?(?:最终|最后)?)\Z"
)
_LETTERED = re.compile(rf"\s*([abc]) ?: (?={NOUN} ?[12]|neither|both)")


def _answer_lines(text: Folded) -> Iterator[FoundVerdict]:
    """Lines that announce an answer: "Final verdict: B", "Answer: Assistant 1", "A: Feedback 1 is better"."""
    low = text.low
    stop = len(low.rstrip())
    if (lettered := _LETTERED.match(low)) is not None:
        end = low.find("\n", lettered.end()) if "\n" in low[lettered.end() :] else stop
        choice = choice_at(text, lettered.end(), end).choice
        if choice == _TAGS[lettered[1]]:
            yield FoundVerdict(0, end, "answer line", choice, detail=choice)
        elif choice is not None:
            yield FoundVerdict(0, end, "answer line", problem=Reason.CONTRADICTORY, detail=_quote(text, 0, end))
    for match in _ANSWER.finditer(low):
        start, at = match.span()
        lead = _ANSWER_LEAD.search(low[max(0, start - 40) : start])
        if lead is None or reported_before(low, start - len(lead[0].lstrip(".!?。 \n"))):
            continue
        end = low.find("\n", at)
        end = len(low) if end < 0 else end
        end = at + len(low[at:end].rstrip(" |")) if low[at:end].rstrip().endswith("|") else end
        line = low[at:end].strip(" .\"'")
        if "[[" in line:
            continue
        named = choice_at(text, at, end)
        added = [low.find(sign, at + 1, end) for sign in ("(", " - ")]
        if named.choice is not None and any(reported_after(low, where) for where in (*added, end) if where > 0):
            continue
        announced = ":" in match[0]
        if named.bare and match["loose"] and end < stop:
            continue
        if named.choice is not None:
            yield FoundVerdict(start, end, "answer line", named.choice, detail=named.choice)
        elif (announced and at >= stop) or (named.attempt and end >= stop and re.fullmatch(NOUN, line)):
            yield FoundVerdict(start, stop, "answer line", problem=Reason.TRUNCATED, detail=_quote(text, start, stop))
        elif announced and len(line) <= 24 and (named.attempt or match["sure"]):
            yield FoundVerdict(start, end, "answer line", problem=Reason.UNPARSED, detail=_quote(text, start, end))


def _bare(text: Folded) -> FoundVerdict | None:
    """A reply that is nothing but a choice: "Output (a)", "Assistant 2", "Same"."""
    end = len(text.low.rstrip(" \n.\"'"))
    start = len(text.low) - len(text.low.lstrip())
    if end - start > 60:
        return None
    named = choice_at(text, start, end, whole=True)
    if named.choice is None or (named.bare and text.low[start:end].strip("() ") in ("1", "2")):
        return None
    return FoundVerdict(start, end, "bare", named.choice)


# Statements

_BETTER_WORD = re.compile("better|superior|best|prefer|winn|wins|更|较好|胜出")
_BETTER_AFTER = re.compile(
    rf"{POSSESSIVE}(?: (?:(?:is [^.,;\n]{{1,60}}? and )?{BETTER}|performed better|wins)"
    r"(?P<noun> [a-z]+)?(?P<rest>[^\n]{0,40})|(?:明显|略|稍微?|显著)?(?:更好|更优|较好|胜出))"
)
_PARTLY = re.compile(
    r"(?: ?,)? (?:in terms of|in (?:its|this|that|some|one)|with (?:respect|regard)|regarding|if|when|at first|only"
    r"|suited|for (?!several|many|these|this|the (?:following|given|instruction|task|question|reasons)|a number)"
    rf"|than (?!(?:the )?(?:other|that of|first|second)|(?:the )?{NOUN}))"
)
_NOT_SAID = re.compile(
    r"\b(?:neither|nor|if|unless|doubt|suppose|may|might|could)\b|\b(?:not|cannot|can't|whether|which|why)\b[^,;:]*\Z"
    r"|(?:^|[,;:] ?)(?:(?:and|but|even) )?(?:while|although|though)\b[^,]*\Z"
)
_OTHERS_SAY = re.compile(
    r"\b(?:argument|claim|view|opinion|belief|assertion)s? that\b"
    rf"|\b(?:{NOUN}|reviewer|evaluator|judge|critic|debater|evaluation|they|some|others|people|users?|he|she)\b"
    r"[^,]{0,60}? (?:(?:argue|believe|state|conclude)[sd]?"
    r"|(?:claim|suggest|maintain|consider|assert|insist|deem)(?:s|ed)?|prefer(?:s|red)?|thinks?|thought"
    r"|finds?|found|feels?"
    r"|felt|says?|said)\b"
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|overall|in conclusion|in summary|to conclude|finally|final|conclusion|verdict"
    r"|based on|considering|ultimately|all in all|in short)\b|\bso,|因此|综上|总之|最终|所以|总体|总的来说"
)
_BETTER_IS = re.compile(
    rf"(?:better|preferred|best|superior|winning) (?:{NOUN}|choice|option|one)\b[^.\n]{{0,60}}? is (?:the )?"
    rf"{label()}{POSSESSIVE}(?= ?[.,;!\n]|\Z)"
)
_NO_BETTER = re.compile(
    r"neither\b[^.\n]{0,80}? (?:is|can be considered|could be considered)(?: significantly)?(?: the)? better\b"
    r"|either (?:one |of them |output |response )?can be considered (?:as )?(?:the )?better\b"
)


def _statements(text: Folded, names: Sequence[ResponseMention]) -> list[_Statement]:
    """Sentences that say which response is the better one, without a condition and on nobody else's behalf."""
    low = text.low
    if not _BETTER_WORD.search(low):
        return []
    better = [(name, after) for name in names if (after := _BETTER_AFTER.match(low, name.end)) is not None]
    said = [_better_after(text, name, after) for name, after in better[-_MOST:]]
    if " is " in low:
        for match in _BETTER_IS.finditer(low):
            index = place(text, match)
            if index is not None:
                said.append(_own_statement(text, CHOICES[index], match.start(), match.end()))
    if "either" in low:
        said += (_own_statement(text, "tie", match.start(), match.end()) for match in _NO_BETTER.finditer(low))
    ordered = sorted(
        (statement for statement in said if statement), key=lambda statement: (statement.start, statement.end)
    )
    echoed: set[int] = set()
    for i, (first, second) in enumerate(pairwise(ordered)):
        if first.choice != second.choice and _ALTERNATIVE.match(low, first.end):
            # "Output (a) is better or Output (b) is better" repeats the task.
            echoed |= {i, i + 1}
    return [statement for i, statement in enumerate(ordered) if i not in echoed]


_ALTERNATIVE = re.compile(
    r"[^\w\n]*(?:or|/|或者?)[^\w\n]+(?:with |say |write )?[^\w\n]*(?:therefore, )?(?:the )?" + label()
)


def _better_after(text: Folded, name: ResponseMention, after: re.Match[str]) -> _Statement | None:
    rest = after["rest"]
    if rest is None:
        return _own_statement(text, CHOICES[name.index], name.start, after.end())
    if _PARTLY.match((after["noun"] or "") + rest) or _PARTLY.match(rest):
        return None
    begin = after.start("rest") if after["noun"] is None else after.start("noun")
    return _own_statement(text, CHOICES[name.index], name.start, after.start("rest"), begin)


def _own_statement(
    text: Folded, choice: Choice, start: int, end: int, report_from: int | None = None
) -> _Statement | None:
    """A statement at a place, whose words end at ``report_from``, unless it is not the judge's own."""
    sentence = _sentence_start(text.low, start)
    before = text.low[sentence:start]
    if (
        _NOT_SAID.search(before)
        or _OTHERS_SAY.search(before)
        or reported(text.low, start, end if report_from is None else report_from)
    ):
        return None
    alone = not before.strip() and _NOTHING.match(text.low, end) is not None
    final = alone or _CONCLUDES.search(before) is not None
    return _Statement(choice, sentence, end, final)


_SENTENCE_END = re.compile(r"[.!?][\"')\]]{0,2} |[。！？]|\n")


def _sentence_start(low: str, at: int) -> int:
    start = floor = max(0, at - 400)
    for match in _SENTENCE_END.finditer(low, floor, at):
        start = match.end()
    return start


_NOTHING = re.compile(r"[ .!\n\"']*\Z")
_TO_THE_END = re.compile(r"[^.!?。！？\n]{0,200}[.!?。！？\"' \n]{0,20}\Z")


def _ends(low: str, start: int, end: int | None = None) -> bool:
    """True where nothing but the end of a sentence stands between two places."""
    return _TO_THE_END.match(low, start, len(low) if end is None else end) is not None


def _statement_verdict(text: Folded, statements: Sequence[_Statement]) -> FoundVerdict | None:
    """The last statement that concludes, else the one choice that all statements agree on."""
    if not statements:
        return None
    final = [statement for statement in statements if statement.final]
    said = final or statements
    last = said[-1]
    later = [statement for statement in statements if statement.start > last.start]
    if any({statement.choice, last.choice} == {"first", "second"} for statement in (*said, *later)):
        return _contradiction(text, *(FoundVerdict(it.start, it.end, "statement") for it in (said[0], statements[-1])))
    if not final and any(statement.choice != last.choice for statement in said):
        return None
    return FoundVerdict(last.start, last.end, "statement", last.choice)


# The verdict of all findings

_BETWEEN = re.compile(r"[ .\n#-]*")


def _formal_verdict(text: Folded, head: FoundVerdict | None, formal: Sequence[FoundVerdict]) -> FoundVerdict | None:
    tail = formal[-1] if formal else None
    if head is not None and head.problem is None:
        other_verdict = next((verdict for verdict in reversed(formal) if verdict.problem is None), None)
        return (
            head if other_verdict is None or _agree(head, other_verdict) else _contradiction(text, head, other_verdict)
        )
    if tail is None or tail.problem is not None:
        return tail or head
    if tail.first is None:
        return _chosen(text, tail, formal)
    for verdict in formal[:-1]:
        if verdict.problem is not None or verdict.choice == tail.choice:
            continue
        beside = _BETWEEN.fullmatch(text.low, verdict.end, max(verdict.end, tail.start)) is not None
        if (verdict.first is None and beside) or (verdict.first is not None and verdict.rule != tail.rule):
            return _contradiction(text, verdict, tail)
    return tail


def _agree(first: FoundVerdict, second: FoundVerdict) -> bool:
    """Whether two findings say the same: one choice, and the same scores where both give scores."""
    scores = [(verdict.first, verdict.second) for verdict in (first, second) if verdict.first is not None]
    return first.choice == second.choice and len(set(scores)) < 2


def _chosen(text: Folded, tail: FoundVerdict, formal: Sequence[FoundVerdict]) -> FoundVerdict:
    """A final choice, with the scores that the text gives beside it."""
    for verdict in formal[:-1]:
        stated = verdict.stated or not tail.stated
        if verdict.rule == tail.rule and stated and verdict.problem is None and verdict.detail != tail.detail:
            return _contradiction(text, verdict, tail)
    scores = next((verdict for verdict in reversed(formal) if verdict.first is not None), None)
    if scores is None:
        return tail
    if scores.choice != tail.choice:
        return _contradiction(text, scores, tail)
    return replace(tail, start=scores.start, first=scores.first, second=scores.second)


def _checked(text: Folded, verdict: FoundVerdict, statements: Sequence[_Statement]) -> FoundVerdict:
    """The verdict, unless the sentence beside it concludes the opposite."""
    if verdict.problem is not None or verdict.choice == "tie":
        return verdict
    for said in statements:
        opposite = said.choice not in {"tie", verdict.choice}
        after = said.start >= verdict.end and (said.final or _ends(text.low, said.end))
        before = said.end <= verdict.start and said.final and _ends(text.low, said.end, verdict.start)
        if opposite and (after or before):
            return _contradiction(text, verdict, FoundVerdict(said.start, said.end, "statement"))
    return verdict


def _contradiction(text: Folded, first: FoundVerdict, second: FoundVerdict) -> FoundVerdict:
    quoted = " / ".join(_quote(text, verdict.start, verdict.end) for verdict in (first, second))
    return FoundVerdict(first.start, second.end, second.rule, problem=Reason.CONTRADICTORY, detail=quoted)
