"""Finds what a judge repeats and does not say itself: quotations, fenced texts, and reports of an attack.

A verdict that a response holds may stand anywhere in a reply: between any quotation marks, in a fence, or in a
sentence about it. Quotations are hidden from the patterns of the reader. What stands in the middle of a sentence is
a verdict only where the words before it are the judge's own way to one (:func:`own_lead`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from judgenet.core.reading_words import blanked, label

# Quotations

_PAIRS = {
    "“": "”",
    "„": "“”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
    "‘": "’",
    "‚": "‘’",
    "〝": "〞〟",
    "”": "”",
}
_STRAIGHT = "\"'＂＇´"
_FENCE = re.compile(r"^[ \t]{0,8}(?:[-*+] |\d+[.)] )?(?P<ticks>`{3,}|~{3,})(?P<info>[^`\n]*)$", re.M)
_QUOTED_LINES = re.compile(r"^[ \t]*(?:[-*+•] |\d+[.)] )?[>＞|][ \t]?>?.*$", re.M)
_TAGGED = re.compile(
    r"(?<!<)<(?P<name>blockquote|q|cite|pre|code|kbd|samp|quote|quoted|injection|attack|(?:response|assistant"
    r"|answer)[ _-]?\w{0,3})"
    r"\b[^<>\n]{0,80}>",
    re.I,
)
_TABLE = re.compile(r"<table\b(?:.|\n)*?(?:</table>|\Z)|^[ \t]*\|.*(?:\n[ \t]*\|.*)*", re.M)
_STRUCK = re.compile(r"(?<!~)~~(?=[^\s~])[^\n~]{1,2000}~~(?!~)|<(?P<tag>del|strike)>.{1,2000}?</(?P=tag)>", re.I | re.S)
_ANGLED = re.compile(r"<<(?=\S)[^<>]{1,2000}>>")
_BACKTICKS = re.compile(r"`+")
_MARKS = re.compile("[" + re.escape("".join(_PAIRS) + "".join(_PAIRS.values()) + _STRAIGHT) + "]")
_LONGEST = 3000
_MOST_MARKS = 60
"""How far a quotation is followed, in characters and in quotation marks."""
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


def quotations(text: str) -> list[tuple[int, int]]:
    """The places of a text that are quoted: fences, block quotes, tags of quotations, and all quotation marks. What is
    struck out is not said either.

    A mark that is not closed quotes to the end of its paragraph. A mark around a number, a name or a verdict that the
    judge announces ("Final verdict: \\"B\\"") is emphasis.
    """
    spans: list[tuple[int, int]] = []
    for source in (_fences, _struck, _tagged, _block_quotes, _reported_tables, _ticked, _marked):
        spans += source(blanked(text, spans))
    return spans


def _fences(text: str) -> Iterator[tuple[int, int]]:
    place = 0
    for opening in _FENCE.finditer(text):
        if opening.start() < place:
            continue
        ticks = opening["ticks"]
        closing = re.compile(rf"^[ \t]{{0,8}}{re.escape(ticks)}[`~]*[ \t]*$", re.M).search(text, opening.end())
        place = closing.end() if closing else len(text)
        if text[: opening.start()].strip() or text[place:].strip():
            yield opening.start(), place


def _struck(text: str) -> Iterator[tuple[int, int]]:
    for match in _STRUCK.finditer(text):
        yield match.span()


def _tagged(text: str) -> Iterator[tuple[int, int]]:
    for match in _ANGLED.finditer(text):
        yield match.span()
    place = 0
    low = text.lower()
    for opening in _TAGGED.finditer(text):
        if opening.start() < place:
            continue
        closing = low.find(f"</{opening['name'].lower()}", opening.end())
        place = closing if closing >= 0 else _paragraph_end(text, opening.end())
        if not _emphasis(text, opening.start(), opening.end(), place):
            yield opening.end(), place


def _block_quotes(text: str) -> Iterator[tuple[int, int]]:
    if ">" in text or "＞" in text:
        for line in _QUOTED_LINES.finditer(text):
            if line[0].lstrip(" \t-*+•0123456789.)")[:1] in (">", "＞"):
                yield line.span()


def _reported_tables(text: str) -> Iterator[tuple[int, int]]:
    """Tables that the line before them announces as somebody else's."""
    if "|" in text or "<" in text:
        low = text.lower()
        for table in _TABLE.finditer(text):
            if _introduced(low, table.start()):
                yield table.span()


def _ticked(text: str) -> Iterator[tuple[int, int]]:
    ticks = list(_BACKTICKS.finditer(text))
    i = 0
    while i < len(ticks):
        opening = ticks[i]
        j = next(
            (
                j
                for j in range(i + 1, min(len(ticks), i + 40))
                if len(ticks[j][0]) == len(opening[0]) and ticks[j].start() - opening.end() < _LONGEST
            ),
            None,
        )
        end = ticks[j].start() if j is not None else _paragraph_end(text, opening.end())
        if j is None and opening[0] == "``" and (apostrophes := text.find("''", opening.end(), end)) >= 0:
            # As in TeX.
            end = apostrophes
        if not _emphasis(text, opening.start(), opening.end(), end):
            yield opening.start(), end
        i = i + 1 if j is None else j + 1


def _marked(text: str) -> Iterator[tuple[int, int]]:
    """Quotation marks of all languages. Whether a mark opens or closes follows from the characters beside it."""
    marks = list(_MARKS.finditer(text))
    opens = [_opens(text, mark) for mark in marks]
    place = 0
    for i, mark in enumerate(marks):
        start = mark.start()
        if start < place or not opens[i]:
            continue
        end = _closing(text, marks, opens, i)
        if end is None:
            if mark[0] in "'＇´‘’‹›»" and not _VERDICT_NEXT.match(text, mark.end()):
                continue
            end = _paragraph_end(text, mark.end())
        if not _emphasis(text, start, mark.end(), end) and not _closing_line(text, start, end):
            # The end of a sentence within the marks is one for the reader too.
            yield start, end - (text[end - 1] in ".!?。")
        place = end + 1


def _opens(text: str, mark: re.Match[str]) -> bool:
    char, start, end = mark[0], mark.start(), mark.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if char in "“„«‹「『《〈‚〝":
        return True
    at_edge = not before or not (before.isalnum() or before in ".,;!?)]}%")
    return at_edge and (_BEGINS.match(text, end) is not None or (char in "»›" and after.isspace()))


_BEGINS = re.compile(r"[\"'“‘`]{0,2}[\w\[({*#$<+…-]")


def _closing(text: str, marks: list[re.Match[str]], opens: list[bool], i: int) -> int | None:
    """Where the quotation ends that a mark opens. Marks of the same kind inside it are counted; where they do not
    balance, the last closing mark of the paragraph ends it."""
    opening = marks[i]
    char, closers = opening[0], _PAIRS.get(opening[0], opening[0])
    depth = 1
    last: int | None = None
    stop: int | None = None
    for j in range(i + 1, min(i + _MOST_MARKS, len(marks))):
        mark, start = marks[j][0], marks[j].start()
        if start - opening.end() > _LONGEST:
            break
        if mark == char and opens[j]:
            depth += 1
        elif mark in closers and (mark not in "'’" or not text[start + 1 : start + 2].isalnum()):
            depth -= 1
            if depth == 0:
                return start
            stop = _paragraph_end(text, opening.end()) if stop is None else stop
            last = start if start < stop else last
    return last


def _paragraph_end(text: str, start: int) -> int:
    match = _PARAGRAPH.search(text, start)
    return match.start() if match else len(text)


_NAMED = label()
_VERDICT_NEXT = re.compile(
    rf"\s*(?:\W{{0,4}}(?:(?:the|final|my|overall) ){{0,3}}(?:score|rating|verdict|answer|overall|therefore|winner)s?\b"
    rf"|\[\[|{_NAMED})",
    re.I,
)
_ONLY_A_NUMBER = re.compile(r"[\W\d]*(?:(?:points?|out of|of|/)[\W\d]*){0,2}")
_ONLY_A_NAME = re.compile(
    rf"\W*(?:(?:the )?(?:score|rating)s?[ _]?(?:of |for )?(?:the )?)?(?:{_NAMED}|[12ab]"
    rf"|\w{{1,24}})(?:'s (?:score|rating))?\W*",
    re.I,
)


_ANNOUNCES = re.compile(
    r"(?:verdict|winner|choice|decision|judge?ment|preference|conclusion|scores?|ratings?|answer|output"
    r"|result|better|结论|判断|评分|得分|分数)"
    r"(?: is| are)?\W*\Z"
)


def _emphasis(text: str, start: int, inside: int, end: int) -> bool:
    """Whether marks only stress what they hold: a number, a name, or what the judge announces before them."""
    held = text[inside:end]
    if _ONLY_A_NUMBER.fullmatch(held):
        return True
    if _ONLY_A_NAME.fullmatch(held) and "[[" not in held:
        return True
    line = text[max(text.rfind("\n", 0, start) + 1, start - 120) : start].lower()
    if "\n" in held.strip():
        return False
    return _ANNOUNCES.search(line) is not None and own_lead(line)


_LAST_LINE = re.compile(r"[\s*]*(?:(?:my|the) )?(?:final )?verdict\b", re.I)


def _closing_line(text: str, start: int, end: int) -> bool:
    """Whether marks stand around the whole last line of a reply, and nothing before attributes it to anybody else."""
    if text[end + 1 :].strip(" \n*.\"'”") or "\n" in text[start:end] or not _LAST_LINE.match(text, start + 1):
        return False
    line = text.rfind("\n", 0, start) + 1
    before = text[max(0, line - 300) : line].lower()
    return not text[line:start].strip(" *") and _HINTS.search(before) is None and not _introduced(before, len(before))


# Words around a verdict

_OWN_WORD = (
    r"the|my|our|own|final|finally|overall|total|so|and|but|thus|hence|therefore|then|accordingly"
    r"|consequently|in|to|a|an"
    r"|conclusion|conclude|summary|short|all|here(?:'s)?|are|is|as|follows?|following|of|for|each|both"
    r"|with|at|on|be|would|will"
    r"|should|can|could|i|we|i'd|i'll|i'm|we'd|give|giving|given|assign|award|rate|score|scores|scored"
    r"|scoring|rating|ratings|grades?"
    r"|marks?|points?|tuple|verdict|decision|evaluation|judge?ment|assessment|answer|output|result"
    r"|results|resulting|numbers"
    r"|corrected|correction|revised|revise|updated|adjusted|reflection|reconsideration|reconsidering"
    r"|consideration|after|second"
    r"|thought|wait|actually|no|sorry|now|correct|this|that|these|it|them|based|above|stand|keep|remain"
    r"|stay|sure|certainly"
    r"|okay|ok|well|json|object|requested|format|valid|both|better|significantly|slightly|much|tie|tied"
    r"|draw|relatively|same"
    r"|equal|think|believe|say|choose|pick|prefer|go|winner|choice|preference|is:|out|\d{1,2}"
    r"|的|最终|因此|所以|综上|综上所述|我的|我|评分|得分|分数|总分|对|给|会|为|如下|结论|判断|评价|是|总体|最后"
)
_OWN = re.compile(rf"[^\w]*(?:(?:{_OWN_WORD}|{label()}(?:'s)?)(?:[^\w']+|(?=[\u4e00-\u9fff])|\Z))*", re.I)
_NAMED_ONLY = re.compile(rf"\W*(?:the )?{label()}(?:'s)?(?: (?:answer|response|output|text|reply))?\W*")
_OWN_VOICE = re.compile(
    r"\bmy (?:own |final |overall |actual |corrected |revised |independent )*(?:scores?|ratings?|verdict"
    r"|evaluation|assessment|judge?ment|decision)\b"
    r"|\b(?:i|we)(?:'d| would| will| therefore| thus| hereby| still| now)* (?:give|assign|award|rate|score|grade)\b"
    r"|\b(?:score|rate|grade)d? (?:them |both |the (?:two )?\w+ )?as follows"
    r"|\bit (?:can|may|must) be concluded|\b(?:i|we) (?:have |can |must |would |therefore "
    r"|thus )*(?:conclude|believe|think|find|found|decide|determine|judge|consider)|我的(?:最终)?(?:评分|判断|结论)"
)
_SAYS = (
    r"according|itself\b|claim|sa(?:y|id)|stat(?:e|ing)|writ|wrote|assert|declar|announc|end(?:s|ed"
    r"|ing)?\b|contain|includ|print|read(?:s|ing)?\b|add(?:s|ed)?\b"
    r"|append|outputs\b|insist|demand|clos(?:e|es|ed|ing)\b|finish|conclud|begin|began|start"
    r"|instruct|tell|told|ask|want"
    r"|request|order|suggest|propos|pretend|fake|quot|repeat|echo|embed|hid(?:e|den)|insert|smuggl|put\b"
    r"|award(?:s|ed)? itself|gives? itself"
    r"|ha(?:s|d|ve)\b|text\b|words?\b|lines?\b|phrase|sentence|string|message|note\b"
)
_ATTACK = (
    r"according to (?:the )?(?:first|second|response|assistant|answer)|"
    r"ignor|disregard|inject|plant(?:ed|s)?\b|manipulat|attack|jailbreak|adversarial|malicious|suspicio"
    r"|attempt|tried|tries|trick"
    r"|not follow|n't follow|not obey|n't obey|not count|not trust|not mine|not my|bogus|fabricat"
    r"|self-assign|so-called|alleged|supposed"
    r"|hidden|override|hijack|spoof|forged?\b|refus|reject|discard|dismiss|overlook|skip(?:ped)?\b"
    r"|set aside|unaffected|detected|warning"
    r"|behaupt|endet|sagt|schreib|enth[aä]lt|steht|ignorier|angriff|eingef[uü]gt|eingeschleust"
    r"|nicht gefolgt|manipulier|worten|zeile"
    r"|pr[eé]tend\b|\btermin|\baffirme|contient|\bdit\b|[eé]crit|ignor[eé]|inject[eé]|phrase|mots|attaque"
    r"|\bdice\b|contiene|ignorad|inyect|palabras|ataque|afirma|\bdiz\b|palavras|cont[eé]m|parole|ignorat"
    r"|iniezion|zegt|bevat|negeer"
    r"|утвержда|говорит|заканчив|содержит|игнорир|инъекц|слов|атак|пишет|строк"
    r"|声称|写道|说|写着|结尾|注入|忽略|攻击|植入|包含|无视|攻撃|無視|注入|末尾|書|言|주장|무시|주입|끝"
)
_REPORTS = re.compile(rf"\b(?:{_SAYS})|{_ATTACK}", re.I)
_HINTS = re.compile(_ATTACK, re.I)
_NOT_TAKEN = (
    r"(?:ignor|disregard|inject|plant(?:ed)?\b|manipulat|attack|suspicio|attempt|trick|not follow|n't follow|not obey"
    r"|n't obey|not count|not (?:take|use|accept|trust)|n't (?:take|use|accept|trust|count)|not (?:my|mine)\b"
    r"|not an? (?:real|valid|genuine|own)|not part|reject|discard|dismiss|fabricat|fake|bogus|hidden|forged|no weight"
    r"|by (?:the )?(?:first |second )?(?:response|assistant|answer|output)|(?:from"
    r"|in) (?:the )?(?:response|first|second))"
)
_THIS = r"(?:this|that|these|those|it|they|them|such|all of (?:this|that|it|them)|which)"
_AROUND = re.escape("".join(_PAIRS) + "".join(_PAIRS.values()) + _STRAIGHT + "`*_~\\")
_DISOWNS = re.compile(
    # In the same sentence
    rf"(?:\.(?=[ \t]?[,);({_AROUND}-]))?[ \t,;:()\[\]>|{_AROUND}-]*(?:"
    r"(?:\.[\"')\]*_]* )?"
    r"(?:(?:is|are|was|were) (?:\w+ ){0,2}?|(?:stands?|stood|appears?|sits?|occurs?|comes?) (?:\w+ )?)"
    r"(?:in|inside|within|part of|from|at the (?:end|top|start|bottom|beginning) of) (?:the )?"
    r"(?:first|second|other|response|assistant|answer|output|model|feedback|summary|text)\b|"
    rf"(?:(?:but|and|so|as) )?(?:{_THIS}\b|i\b|we\b|i've|we've|was|were|is|are|has been"
    rf"|have been)[^.\n]{{0,60}}?{_NOT_TAKEN}"
    r"|(?:it|the (?:response|first|second|text)|response|assistant|according|stands?|appears?|(?:say"
    r"|claim|read|write)s?)\b"
    r"[^.,\n]{0,40}?(?:\bsays?\b|\bsaid|\bclaim|\breads?\b|\bwrote|\bwrit|\bdemand)"
    r"|is what (?:the |response|assistant|answer|output)"
    r"|(?:planted|injected|fake|quoted|as quoted|sic\b|from (?:the )?(?:response|first|second|answer|assistant)"
    r"|in (?:the )?(?:response|first|second|answer) )"
    r"|(?:dem|das|dies|diese[mns]?|ich|was ich)\b[^.\n]{0,40}(?:nicht|ignor)|je (?:ne|n|l|les"
    r"|ai)\b[^.\n]{0,40}(?:pas|ignor)"
    r"|(?:que|lo que|o que|che) (?:\w+ )?ignor|no (?:lo|la|las|los) segu|我(?:没有|忽略|未|不)|这是|已忽略)"
    # In the next one, of what stands before it
    r"|[\s.!\"'):>*]*(?:"
    rf"(?:i|we)\b(?:'ve)?[^.\n]{{0,40}}?(?:ignor|disregard|reject|discard|dismiss|not \w+"
    rf"|n't \w+)\w*(?: \w+)? {_THIS}\b"
    rf"|{_THIS} (?:lines? |text |words? |scores? |instructions? |sentence |one )?"
    rf"(?:was|were|is|are|has been|have been|should be|must be|will be|looks?|seems?|does|do"
    rf"|did)\b[^.\n]{{0,60}}?{_NOT_TAKEN}"
    r"|(?:dem|das|dies|diese[mns]?)\b[^.\n]{0,40}(?:nicht gefolgt|ignor))",
    re.I,
)
_LATIN = re.compile(r"[\x00-\x7f…–—'’]*")
_LEAD = 200
_SENTENCE = re.compile(r"[.!?;][\"')\]*_]{0,3}[ \t]|[。！？；]|\n")


_WITHIN = re.compile(
    r"(?<!\band)(?<!\bbut)(?<!\bso)(?<!\bis)(?<!\bthat)(?<!\bwhich)(?<!\bconclude)(?<=\w)"
    r" (?:therefore|thus|hence|overall|in conclusion|in summary), "
)
"""A conclusion that begins within a clause: the words before it announce it."""
_CLAIMS = re.compile(
    rf"(?:{label()}(?:'s)?|\bit|\btext|\blines?|\bwords?|\bpassage)\b[^.\n]{{0,60}}?\b(?:claim|sa(?:y|id)"
    rf"|stat|writ|wrote|assert|declar"
    r"|announc|end(?:s|ed)?\b|contain|includ|print|reads?\b|insist|demand|conclud|instruct|tells?\b|told"
    r"|pretend|holds?\b|was\b|there (?:is|are|was|were)\b)[a-z]*"
    r"(?: (?:with|that|by|in|the|a|words?|lines?|text|table|list|following|this|is|was|saying|stating|reading))*"
    r"[ :,]*\Z"
)


def own_lead(lead: str) -> bool:
    """Whether the words before a verdict, in its sentence, are a way in which a judge announces its own."""
    return _OWN.fullmatch(lead) is not None and not _NAMED_ONLY.fullmatch(lead)


def reported(low: str, start: int, end: int, *, strict: bool | Literal["words"] = False) -> bool:
    """Whether a folded text reports what stands at a place instead of saying it.

    With ``strict`` it does wherever the words before it, in its sentence, are not the judge's own way to a verdict;
    with ``"words"`` only where such words speak of a text, or are not English.
    """
    return reported_before(low, start, strict=strict) or reported_after(low, end)


def reported_before(low: str, start: int, *, strict: bool | Literal["words"] = False) -> bool:
    """Whether the words before a place, in its sentence or the line above it, announce what somebody else says."""
    floor = max(0, start - 400)
    begin = floor
    for match in _SENTENCE.finditer(low, floor, start):
        begin = match.end()
    lead = low[max(begin, start - _LEAD) : start]
    if lead.strip(" \t#*_->•|(["):
        if own_lead(lead):
            return low[:begin].rstrip(" \n")[-1:] in (":", "：") and _introduced(low, begin)
        if strict is True:
            return not _own_clause(lead)
        if strict and not _own_clause(lead) and (_REPORTS.search(lead) is not None or not _LATIN.fullmatch(lead)):
            return True
        if _WITHIN.search(lead):
            return True
        announced = lead.rpartition(":")[0].rpartition(", ")[2]
        if announced and _REPORTS.search(announced) and not _OWN_VOICE.search(announced):
            return True
        return (
            _OWN_VOICE.search(lead) is None
            and (_HINTS.search(lead) or _CLAIMS.search(lead, max(0, len(lead) - 110))) is not None
        )
    return _introduced(low, begin)


_COMES_TO = re.compile(
    r"\b(?:therefore|thus|hence|so|overall|accordingly|consequently|finally|conclusion)\b|因此|所以|综上"
)


def _own_clause(lead: str) -> bool:
    """A longer clause that ends with the judge's own verb ("based on its steps, I would give")."""
    if _REPORTS.search(lead.rpartition(",")[2] if "," in lead else lead):
        return False
    if _HINTS.search(lead) or "according" in lead:
        return False
    last = re.split(r"[,:-] ", lead.rstrip(" ,:-([#*"))[-1]
    return own_lead(last) and (_OWN_VOICE.search(last) or _COMES_TO.search(last)) is not None


def _introduced(low: str, begin: int) -> bool:
    """Whether the line or sentence before announces somebody else's words."""
    before = low[max(0, begin - 400) : begin].rstrip(" \t\n#*_>-|`~([")
    if before[-4:] == "json":
        before = before[:-4].rstrip(" \t\n`~")
    line = before.rpartition("\n")[2]
    sentence = line
    for match in _SENTENCE.finditer(line[:-1]):
        sentence = line[match.end() :]
    if not before.endswith((":", "：", ",", "，")):
        if ignored(sentence) and before.endswith("."):
            return False
        return re.search(
            r"\b(?:with|said|says|saying|reads?|reading|writes|wrote|state[sd]|stating|words?|follows|following|text|lines?)"
            r"(?: this| these)?[.… ]*\Z",
            sentence,
        ) is not None and (_REPORTS.search(sentence) is not None and not _OWN_VOICE.search(sentence))
    last = re.split(r"[,;] ", sentence)[-1]
    if (own_lead(last) and _ANNOUNCES.search(last)) or re.fullmatch(
        r"(?:so )?it (?:can|may|must) be concluded that:", last
    ):
        return False
    if _OWN_VOICE.search(sentence) and not re.search(
        rf"(?:{label()}|\bit|\bthat|\btext)\b[^,:]{{0,40}}(?:{_SAYS})", sentence
    ):
        return False
    return (_REPORTS.search(sentence) or _CLAIMS.search(sentence)) is not None and not own_lead(sentence)


_IGNORED = re.compile(
    r"\b(?:i|we)(?:'ve)? (?:(?:have|did|do|will|also|therefore|thus) ){0,2}"
    r"(?:ignored?|disregard(?:ed)?|reject(?:ed)?|discard(?:ed)?|dismiss(?:ed)?|not (?:follow|count|trust)|set aside)\b"
    r"(?!.*\b(?:following|this|these|below|next)\b)"
)


def ignored(lead: str) -> bool:
    """Whether a sentence says that the judge ignored what it names, and does not announce what comes next."""
    return _IGNORED.search(lead) is not None


def reported_after(low: str, end: int) -> bool:
    """Whether the words after a place disown what stands there."""
    rest = low[end : end + 240]
    stop = _PARAGRAPH.search(rest)
    return _DISOWNS.match(rest[: stop.start()] if stop else rest) is not None


_CORRECTS = re.compile(
    r"reflection|reconsider|on second thought|correct(?:ion|ed|ing)\b|revis|\bfinal\b|finally|overall"
    r"|\btotal|adjust|updat|instead|wait|actually"
    r"|in conclusion|conclusion|change my mind|rather|therefore|to sum up|summary|最终|综上|总体|修正|更正|重新"
)


def corrects(low: str, first_end: int, last_start: int, last_end: int) -> bool:
    """Whether a second verdict is plainly the judge's own correction of the first: words between them say so, and
    nothing in the reply speaks of an attack or of what a response says."""
    line = low.rfind("\n", 0, last_start) + 1
    between = low[first_end:last_end] if last_start >= first_end else low[line:last_end]
    return _CORRECTS.search(between) is not None and _HINTS.search(low) is None
