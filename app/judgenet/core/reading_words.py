"""The words of verdicts: how judges name the responses, write numbers and call a tie.

All patterns of the reader run on a *folded* text: full-width forms, quotes and dashes are plain, letters
are lower case, and Markdown's emphasis is blank. Folding keeps every position.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from judgenet.core.evaluation import Choice, Reason

Scale = tuple[float, float]

_NO_WIDTH = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
ZERO_WIDTH = re.compile(f"[{_NO_WIDTH}]")
_WITH_WIDTH = re.compile(f"[^\n{_NO_WIDTH}]")

HIDDEN = "\ufffc"
"""Stands where a quotation stood, so that the words that announce it announce nothing else."""

_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_PLAIN |= dict.fromkeys(map(ord, "*`＊\t\u00a0\u2002\u2003\u2009\u202f\u3000"), ord(" "))
_PLAIN |= dict.fromkeys(map(ord, "‘’"), ord("'")) | dict.fromkeys(map(ord, "“”「」"), ord('"'))
_PLAIN |= dict.fromkeys(map(ord, "–—−"), ord("-")) | {ord("【"): ord("["), ord("】"): ord("]"), ord("\r"): ord("\n")}
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


@dataclass(frozen=True, slots=True)
class Folded:
    """A reply as the patterns see it. ``plain`` keeps the case, ``low`` does not; both have equal positions.

    ``source`` is the reply itself; it is longer where it held zero-width characters or HTML tags. ``shown`` is as
    long as the reply, with zero-width characters in their place.
    """

    source: str
    plain: str
    low: str = field(repr=False)
    shown: str = field(repr=False)

    def original(self, start: int, end: int) -> str:
        """What the reply says between two positions of the folded text."""
        if len(self.source) == len(self.plain):
            return self.source[start:end]
        places = [i for i, char in enumerate(self.shown) if not ZERO_WIDTH.match(char)]
        places.append(len(self.source))
        return self.source[places[start] if start else 0 : places[end]]


def blanked(text: str, spans: Iterable[tuple[int, int]], filler: str = " ", sign: str = "") -> str:
    """The text with a filler in place of all but the line breaks between some places. Places keep their numbers.

    ``sign`` takes the place of the first character of each.
    """
    pieces: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if end > done:
            begin = max(start, done)
            held = _WITH_WIDTH.sub(filler, text[begin:end])
            pieces += (text[done:begin], sign + held[1:] if sign and held[0] == filler else held)
            done = end
    return "".join((*pieces, text[done:])) if pieces else text


def fold(text: str, hidden: Iterable[tuple[int, int]] = ()) -> Folded:
    """Folds a reply; see :class:`Folded`. The patterns see :data:`HIDDEN` and blanks between ``hidden`` places."""
    shown = _without_tags(blanked(text, hidden, sign=HIDDEN))
    seen = shown if shown.isascii() else ZERO_WIDTH.sub("", shown)
    plain = seen.translate(_PLAIN)
    return Folded(text, plain, plain.translate(_LOWER), shown)


_HTML = re.compile(
    r"</?(?P<name>b|i|u|s|strong|em|span|font|mark|code|pre|tt|small|big|sub|sup|center|label|q|cite|blockquote|tbody|thead"
    r"|(?P<block>br|p|div|li|ul|ol|dl|dt|dd|tr|table|h[1-6]|hr|section|article)|(?P<cell>td|th))"
    r"(?:\s[^<>]{0,200})?/?>|&(?:nbsp|ensp|emsp|thinsp|#160);",
    re.I,
)


_BETWEEN_CELLS = re.compile(r"(?<=>)\s{1,80}(?=<t[dh][\s>])", re.I)


def _without_tags(text: str) -> str:
    """The text with zero-width characters in place of HTML tags, and a line break, bar or blank where a tag means one.

    A single letter is a tag only where it is closed somewhere: "<b>" may be a choice.
    """
    if ("<" not in text or ">" not in text) and "&" not in text:
        return text
    # The cells of a row stand on one line, however the table is written.
    text = _BETWEEN_CELLS.sub(lambda match: "\u200b" * len(match[0]), text)
    closed = text.lower()

    def flat(match: re.Match[str]) -> str:
        name = match["name"]
        if name and len(name) == 1 and f"</{name.lower()}>" not in closed:
            return match[0]
        cell = match["cell"] and match[0][1] != "/"
        row_end = match[0][:4].lower() == "</tr"
        sign = " " if name is None else "\n" if match["block"] and not row_end else "|" if cell else ""
        return sign + "\u200b" * (len(match[0]) - len(sign))

    return _HTML.sub(flat, text)


# How responses are named. The identifier of a label is group "id" plus a number.

NOUN = "(?:a(?:ssistant|nswer|i助手)|response|output|model|candidate|feedback|助手|助理|回答|回复|答案|响应|输出|模型)"
_ID = r"\( ?[12ab] ?\)|\[ ?[12ab] ?\]|[12](?![0-9a-z_]|\.[0-9])|[ab](?![0-9a-z_])|(?:one|two)(?![0-9a-z_])|[一二甲乙]"
_NAMED = NOUN + r"[ _-]{0,4}(?:# ?)?"
_ORDERED = f"(?:(?:first|second)(?= {NOUN})|第[一二](?=个?{NOUN}))"
_THINGS = "(?:answer|response|output|reply|solution|submission|code|implementation|work|version)s?"
POSSESSIVE = rf"(?:(?:'s?)?(?: {_THINGS}){{1,2}}|'s?|的(?:回答|答案|回复)?)? {{0,2}}"
"""What may stand between a name and what is said of it."""

_PLACES = {"1": 0, "2": 1, "a": 0, "b": 1, "one": 0, "two": 1, "一": 0, "二": 1, "甲": 0, "乙": 1}
_PLACES |= {"first": 0, "second": 1, "第一": 0, "第二": 1}
CHOICES: tuple[Choice, Choice] = ("first", "second")

_NAMED_LABEL = re.compile(f"{_NAMED}(?P<id0>{_ID})(?P<nth0>(?!))?")
_ORDERED_LABEL = re.compile(f"(?P<nth0>{_ORDERED})(?: |个)?{NOUN}(?P<id0>(?!))?")


@dataclass(frozen=True, slots=True)
class ResponseMention:
    """A place where the text names a response: 0 is the first shown, 1 the second."""

    index: int
    start: int
    end: int


def labels_in(text: Folded) -> list[ResponseMention]:
    """All names of responses, in order of place."""
    matches = list(_NAMED_LABEL.finditer(text.low))
    if "first " in text.low or "second " in text.low or "第" in text.low:
        matches += _ORDERED_LABEL.finditer(text.low)
        matches.sort(key=lambda match: match.start())
    labels = []
    for match in matches:
        start = match.start()
        index = None if start and "a" <= text.low[start - 1] <= "z" else place(text, match)
        if index is not None:
            labels.append(ResponseMention(index, start, match.end()))
    return labels


def label(number: int = 0) -> str:
    """Pattern for a response's name, for use in a longer pattern on the folded text."""
    return rf"(?<![a-z])(?:{_NAMED}(?P<id{number}>{_ID})|(?P<nth{number}>{_ORDERED})(?: |个)?{NOUN})"


_NO_ARTICLE = re.compile(r"'s\b| {0,4}[:=]| is\b|[.\"]?\s*\Z")


def place(text: Folded, match: re.Match[str], number: int = 0, offset: int = 0) -> int | None:
    """Which response a label names.

    ``offset`` is where the searched string begins in the folded text. A small letter after a noun is a label
    only where it cannot be the article ("assistant a score").
    """
    nth = match[f"nth{number}"]
    if nth is not None:
        return _PLACES[nth]
    start, end = match.span(f"id{number}")
    if start < 0:
        return None
    written = text.plain[offset + start : offset + end]
    if written in ("a", "b") and not _NO_ARTICLE.match(text.low[offset + end : offset + end + 8]):
        return None
    return _PLACES[written.strip("()[] ").translate(_LOWER)]


# Numbers.

_SCORE = re.compile(
    r"""(?:about\ |around\ |approximately\ |roughly\ |~\ ?|≈\ ?|an?\ (?=[0-9])|约|大约)?
    (?P<n>[-+]?(?:(?<!\.)\.)?[0-9][0-9.,]{0,11})
    (?:\ ?(?:/|out\ of|of)\ ?(?P<of>[0-9]{1,4}))?
    (?:\ ?(?:分|points?\b|marks?\b|stars?\b))?
    (?P<rest>[0-9a-z_]|\ ?%|-[0-9]|\ ?~\ ?[0-9]|\ (?:to|or)\ [0-9]|/[0-9])?""",
    re.X,
)
_WORD = re.compile(
    r"(one|two|three|four|five|six|seven|eight|nine|ten)(?![a-z'-]| and| point| or| to)|([一二三四五六七八九十])分"
)
_ENGLISH = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDS = {word: float(i) for i, word in enumerate(_ENGLISH, 1)}
_WORDS |= {word: float(i) for i, word in enumerate("一二三四五六七八九十", 1)}
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,4}(?:\.[0-9]{1,4}|,[0-9]{1,2})?|\.[0-9]{1,4})")

Score = float | Reason
"""A score as written, or why there is none."""


def score_at(low: str, start: int, scale: Scale, comma: bool = True) -> tuple[Score, int] | None:
    """The score that stands at a position, and where it ends; ``None`` where there is no number.

    ``8.5``, ``8,5``, ``.5``, ``8/10``, ``8 out of 10``, ``8分`` and ``eight`` are scores. A range, a number that runs
    into a word, or two decimal marks is unparsed; another scale (``4/5``) or a number off the scale is out of range.
    ``comma=False`` ends a number at a comma.
    """
    match = _SCORE.match(low, start)
    if match is None:
        word = _WORD.match(low, start)
        return word and (in_scale(_WORDS[word[1] or word[2]], scale), word.end())
    token = match["n"]
    end = match.end() if match["rest"] is None else match.start("rest")
    if not comma:
        token = token.split(",", 1)[0]
    if not match["of"]:
        token = token.rstrip(".,")
        if len(token) < len(match["n"]):
            return _value(token, None, scale), match.start("n") + len(token)
    if match["rest"] is not None:
        return Reason.UNPARSED, end
    return _value(token, match["of"], scale), end


def _value(token: str, out_of: str | None, scale: Scale) -> Score:
    if not _NUMBER.fullmatch(token):
        return Reason.OUT_OF_RANGE if re.fullmatch(r"[-+]?[0-9]+", token) else Reason.UNPARSED
    if out_of is not None and float(out_of) != scale[1]:
        return Reason.OUT_OF_RANGE
    return in_scale(float(token.replace(",", ".")), scale)


def in_scale(value: float, scale: Scale) -> Score:
    """The value, or "out of range": nothing is clamped."""
    return value if scale[0] <= value <= scale[1] else Reason.OUT_OF_RANGE


# Choices in a word or two.

_ADVERB = "(?:(?:the|a|an|also|clearly|slightly|significantly|marginally|somewhat|overall|still|therefore|thus) )"
BETTER = rf"(?:is|was|would be|to be) {{1,3}}{_ADVERB}{{0,3}}(?:better|best|superior|winner|preferred)"
_TIE = (
    r"(?:(?:it's |it is )?an? )?(?:tied?|draw)|same|equal|equally (?:good|bad)"
    r"|(?:they|both)(?: \w+){0,2} are (?:equal|the same)|both (?:\w+ ){0,2}are equally good"
    r"|neither(?: \w+){0,3} is(?: significantly)? better|neither|both"
    r"|平局|一样好?|相同|同样好|不分上下|(?:两个?|二)者?(?:回答)?(?:都)?(?:同样好|一样好|相同|不分上下)"
)
_CHOICE = re.compile(
    rf"(?:the )?(?:{label()}{POSSESSIVE}(?: {BETTER}|(?:明显|略|稍)?(?:更好|更优|较好))?"
    rf"|(?P<bare>[12ab]|\([12ab]\))|(?P<tie>{_TIE}))"
    r"(?= ?(?:\Z|[\n.,;:!()\[\]\"'。、-]|because\b|as\b|since\b|than\b))"
)
_ATTEMPT = re.compile(rf"(?:the )?{NOUN}(?![a-z])")


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """The choice that a piece of text names. ``bare``: without a noun ("B"). ``attempt``: it tries to name one,
    though perhaps one that is not there ("Response 3")."""

    choice: Choice | None = None
    attempt: bool = False
    bare: bool = False


def choice_at(text: Folded, start: int, end: int, whole: bool = False) -> NamedChoice:
    """The choice that a piece of the folded text begins with (with ``whole``: that it is)."""
    piece = text.low[start:end]
    skipped = len(piece) - len(piece.lstrip(" \"'[(<"))
    # "(a)" keeps its parenthesis.
    skipped -= piece[:skipped].endswith("(") and piece[skipped + 1 : skipped + 2] == ")"
    match = _CHOICE.match(piece, skipped)
    if match is None or (whole and match.end() < len(piece)):
        return NamedChoice(attempt=_ATTEMPT.match(piece, skipped) is not None)
    if match["tie"]:
        return NamedChoice("tie", attempt=True)
    if match["bare"]:
        return NamedChoice(CHOICES[_PLACES[match["bare"].strip("()")]], attempt=True, bare=True)
    index = place(text, match, offset=start)
    return NamedChoice(None if index is None else CHOICES[index], attempt=True)
