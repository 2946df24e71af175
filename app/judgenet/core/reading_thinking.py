"""Separates the answer of a reply from the thinking before it, by one table of the marks of all model families.

A reply is cut at its marks, and each piece belongs to the mark before it. Marks inside quotation marks, backticks,
a JSON object or a sentence are mentioned, and cut nothing. A special token or channel that the table does not know
may begin thinking or end it, so that neither side of it is an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from judgenet.core.reading_json import objects

_Kind = Literal["open", "close", "answer", "end", "other", "unknown"]

_THOUGHT = (
    r"think|thought|reason|reflect|scratch_?pad|ponder|monologue|deliberat|contemplat|brainstorm|chain_of|rumination"
    r"|inner|internal|\bcot\b|musing"
)
_THOUGHT_NAME = re.compile(_THOUGHT, re.I)
_ANSWER_NAME = re.compile(r"response|answer|final|solution|content|output|text\b|reply|summary", re.I)
_CLOSING = re.compile(r"/|\bend|end\b|(?:^|_)end(?:_|$)|close|suffix|stop", re.I)
_BOUNDS = re.compile(r"/|(?:^|(?<=_))(?:begin|start|end|open|close|prefix|suffix|stop|of)(?:_|$)", re.I)

_MARK = re.compile(
    # gpt-oss (harmony): <|channel|>analysis<|message|>; Gemma: <|channel>thought ... <channel|>
    r"<\|channel\|>(?P<channel>[^<\n]{0,60}(?:<\|constrain\|>[^<\n]{0,20})?)<\|message\|>"
    r"|<\|channel>(?P<gemma>\w{0,20})\n?|(?P<gemma_end><channel\|>)"
    # MedGemma
    r"|(?P<medgemma><unused94>(?:thought\n?)?)|(?P<medgemma_end><unused95>)"
    # The head of a turn: ChatML, Llama 3, harmony, Gemma, Solar
    r"|(?:<\|(?:im_start|start|begin)\|>|<start_of_turn>|<\|turn>)(?P<turn>\w{0,20})\n?"
    r"|<\|start_header_id\|>(?P<header>\w{0,20})<\|end_header_id\|>\n*"
    # Ends of turns and texts
    r"|(?P<end><\|(?:end|return|call|im_end|eot_id|eom_id|endoftext|end_of_text|eot|turn_end|END_OF_TURN_TOKEN)\|>"
    r"|<end_of_turn>|<turn\|>|</s>|<eos>|<｜end▁of▁sentence｜>|\[e~\[)"
    # Other special tokens: Cohere's <|START_THINKING|>, <|begin_of_thought|>, Apertus' <|inner_prefix|>
    r"|<[|｜](?P<special>/?[A-Za-z][\w▁:/.-]{0,40})[|｜]>"
    # Tags: DeepSeek, Qwen, Granite, Seed (<seed:think>), EXAONE (<thought>), Claude (<antThinking>)
    rf"|<\s?(?P<tag>/?\s?(?:[\w.-]{{1,20}}:)?[\w.-]{{0,24}}(?:(?i:{_THOUGHT}))[\w.-]{{0,24}})(?:\s[^<>\n]{{0,80}})?\s?>"
    # Mistral, Kimi
    r"|\[(?P<square>/?(?i:(?:begin_|start_|end_|begin_of_|end_of_)?(?:think|thinking|thought|reasoning)))\]"
    r"|◁(?P<kimi>/?think)▷"
    # Open WebUI's fold-out, and fences that are called thinking
    r"|(?P<details><details[^<>\n]{0,80}type=\"reasoning\"[^<>\n]{0,80}>|<details[^<>\n]{0,80}>\s{0,8}<summary>\s{0,8}"
    r"(?i:thought|thinking|reasoning|chain of thought)[^<>\n]{0,60}</summary>)|(?P<details_end></details>)"
    r"|(?:^|(?<=\n))(?P<fence>(?:```|~~~)(?i:think|thinking|thought|thoughts|reasoning) *\n)"
)
_LIKELY = re.compile(r"[<◁]|\[(?:/?(?i:begin|start|end|think|reason|thought)|e~)|(?:```|~~~)(?i:think|thought|reason)")
# gpt-oss whose special tokens the server left out.
_BARE_HARMONY = re.compile(r"(?:analysis|commentary)(?=[A-Z{\"'\[*])|(?:assistant)?final(?=[A-Z{\"'\[*]|json\b)")
_BARE_FINAL = re.compile(r"assistant(?:<\|channel\|>)?final(?:json(?=\{))?")
# Granite 3.2, and what Ollama prints
_IN_WORDS = (
    (re.compile(r"here(?:'s| is) my thought process:?", re.I), re.compile(r"here(?:'s| is) my response:?", re.I)),
    (re.compile(r"thinking\.\.\.\n", re.I), re.compile(r"\.\.\.done thinking\.?", re.I)),
)
_QUOTES = "\"'`“”„‘’«»「」"


@dataclass(frozen=True, slots=True)
class Parts:
    """The answer of a reply and its thinking, both without marks. ``unknown`` is the special token whose meaning
    the table does not know, where for that reason nothing counts as the answer."""

    answer: str
    thinking: str = ""
    unknown: str = ""


def split_thinking(text: str) -> Parts:
    """Cuts a reply into answer and thinking.

    A closing mark alone ends thinking that began before the reply; an opening mark alone begins thinking that does
    not end, and in a reply with channels only the final one is the answer.
    """
    text = text.strip()
    if (in_words := _in_words(text)) is not None:
        rest = split_thinking(in_words.answer) if in_words.answer else in_words
        return Parts(rest.answer, "\n".join(filter(None, (in_words.thinking, rest.thinking))), rest.unknown)
    if not _LIKELY.search(text):
        return Parts(text)
    marks = [mark for mark in _MARK.finditer(text) if not _fragment(text, mark)]
    if not marks:
        return Parts(text)
    # The marks of a text in JSON are part of what it says.
    spans = [(start, end) for start, end, _ in objects(text)] if "{" in text else []
    return _cut(text, [mark for mark in marks if not any(start < mark.start() < end for start, end in spans)])


def _in_words(text: str) -> Parts | None:
    for opening, closing in _IN_WORDS:
        if (opened := opening.match(text)) is not None:
            closed = closing.search(text, opened.end())
            inside = text[opened.end() : closed.start() if closed else len(text)].strip()
            return Parts(text[closed.end() :].strip() if closed else "", inside)
    if (head := _BARE_HARMONY.match(text)) is not None:
        finals = [] if "final" in head[0] else list(_BARE_FINAL.finditer(text))
        if "final" in head[0]:
            return Parts(text[head.end() :].removeprefix("json").strip())
        if finals:
            return Parts(text[finals[-1].end() :].strip(), text[head.end() : finals[-1].start()].strip())
        return Parts("", text[head.end() :].strip())
    return None


def _fragment(text: str, mark: re.Match[str]) -> bool:
    """Whether a text only mentions the mark: in quotation marks or backticks, or as a word of a sentence."""
    start, end = mark.span()
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:] in _QUOTES and before and (after[:1] in _QUOTES or (mark["tag"] or "").startswith("/")):
        return True
    word_before = re.search(r"[^\W\d_],? \Z|[(,:] \Z", before) is not None
    word_after = re.match(r" [a-z(]|[.,;:!?)](?:\s|\Z)|,", after) is not None
    return word_before and word_after


def _kind(mark: re.Match[str]) -> _Kind:
    if mark["end"]:
        return "end"
    for name in ("channel", "gemma"):
        if (channel := mark[name]) is not None:
            if name == "channel" and " to=" in channel:
                # The call of a tool: its arguments are the answer.
                return "answer"
            return "answer" if channel.split("<")[0].split(" ")[0] in ("final", "answer", "response") else "open"
    for name in ("turn", "header"):
        if (role := mark[name]) is not None:
            return "other" if role and role not in ("assistant", "model", "chatbot") else "end"
    if mark["medgemma"] or mark["details"] or mark["fence"]:
        return "open"
    if mark["gemma_end"] or mark["medgemma_end"] or mark["details_end"]:
        return "close"
    special = mark["special"]
    written = special or mark["tag"] or mark["square"] or mark["kimi"]
    name = written.replace("▁", "_")
    closes = _CLOSING.search(name) is not None
    if _THOUGHT_NAME.search(name):
        return "close" if closes else "open"
    if special and _ANSWER_NAME.search(name):
        return "end" if closes else "answer"
    return "unknown"


def _stem(mark: re.Match[str]) -> str:
    return _BOUNDS.sub("", (mark["special"] or "").replace("▁", "_")).strip("_").lower()


def _cut(text: str, marks: list[re.Match[str]]) -> Parts:
    answer: list[str] = []
    thinking: list[str] = []
    place = 0
    mode: Literal["answer", "thinking", "other"] = "answer"
    channels = False
    fenced = details = False
    waiting: re.Match[str] | None = None
    unknown = ""

    def flush(end: int) -> None:
        (answer if mode == "answer" else thinking).append(text[place:end])

    for mark in marks:
        start, end = mark.span()
        kind = _kind(mark)
        if start < place:
            continue
        if mark["details_end"] and not details:
            continue
        if kind == "unknown":
            if waiting is not None and _CLOSING.search(mark["special"] or "") and _stem(mark) == _stem(waiting):
                flush(start)
                place, mode, waiting = end, "answer", None
            elif text[end:].strip() and mode == "answer":
                flush(start)
                place, mode, waiting = end, "thinking", mark
            else:
                flush(start)
                place = end
            continue
        if kind == "open":
            if mode == "answer" and not _begins(text, place, mark):
                continue
            flush(start)
            place, mode = end, "thinking"
            channels = channels or mark["channel"] is not None
            fenced, details = bool(mark["fence"]), bool(mark["details"])
            if fenced:
                closing = re.compile(r"\n(?:```|~~~)").search(text, end)
                thinking.append(text[end : closing.start() if closing else len(text)])
                place, mode = (closing.end(), "answer") if closing else (len(text), "answer")
        elif kind == "close":
            if mode == "answer":
                thinking += [*answer, text[place:start]]
                answer.clear()
            else:
                flush(start)
            place, mode, details, waiting = end, "answer", False, None
        elif kind == "answer":
            flush(start)
            thinking += answer
            answer.clear()
            place, mode, waiting = end, "answer", None
        elif kind == "other":
            flush(start)
            place, mode = end, "other"
        else:
            flush(start)
            place = end
            head = mark["end"] is None
            if mode == "answer" and "".join(answer).strip():
                # What a model writes behind the end of its answer is none.
                mode = "answer" if head and mark["turn"] is None and mark["header"] is None else "other"
            elif mode != "answer" and not channels and waiting is None:
                mode = "answer"
    flush(len(text))
    answer_text = "".join(answer).strip()
    if waiting is not None:
        # Which side of the token is the thinking, cannot be told.
        unknown = waiting[0]
        thinking = [*answer, *thinking] if answer_text else thinking
        answer_text = ""
    return Parts(answer_text, "\n".join(part.strip() for part in thinking if part.strip()), unknown)


def _begins(text: str, place: int, mark: re.Match[str]) -> bool:
    """An opening tag counts at the start of a line; special tokens count anywhere."""
    if mark["tag"] is None and mark["square"] is None and mark["kimi"] is None and mark["details"] is None:
        return True
    start = mark.start()
    return text[max(place, start - 8) : start].rstrip(" \t")[-1:] in ("", "\n")
