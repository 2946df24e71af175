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
    cutter = _Cutter(text)
    for mark in marks:
        if not any(start < mark.start() < end for start, end in spans):
            cutter.cut(mark)
    return cutter.parts()


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


class _Cutter:
    """A reply that is being cut at its marks: the pieces so far, and what the one from ``place`` on belongs to."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.answer: list[str] = []
        self.thinking: list[str] = []
        self.place = 0
        self.mode: Literal["answer", "thinking", "other"] = "answer"
        self.channels = False
        self.details = False
        self.waiting: re.Match[str] | None = None

    def cut(self, mark: re.Match[str]) -> None:
        """Goes on to a mark, which ends the piece before it unless it counts as text."""
        kind = _kind(mark)
        if mark.start() < self.place or (mark["details_end"] and not self.details):
            return
        if kind == "unknown":
            self._unknown(mark)
        elif kind == "open":
            if self.mode != "answer" or _begins(self.text, self.place, mark):
                self._open(mark)
        elif kind == "close":
            self._close(mark)
        elif kind == "answer":
            self._flush(mark)
            self._answer_is_thinking()
            self.mode, self.waiting = "answer", None
        elif kind == "other":
            self._flush(mark)
            self.mode = "other"
        else:
            self._end(mark)

    def parts(self) -> Parts:
        """The parts of the reply after its last mark."""
        self._keep(self.text[self.place :])
        answer_text, thinking, unknown = "".join(self.answer).strip(), self.thinking, ""
        if self.waiting is not None:
            # On which side of the token the thinking is, is not known.
            unknown = self.waiting[0]
            thinking = [*self.answer, *thinking] if answer_text else thinking
            answer_text = ""
        return Parts(answer_text, "\n".join(part.strip() for part in thinking if part.strip()), unknown)

    def _keep(self, piece: str) -> None:
        (self.answer if self.mode == "answer" else self.thinking).append(piece)

    def _flush(self, mark: re.Match[str]) -> None:
        """Keeps the piece before a mark; the next one begins after it."""
        self._keep(self.text[self.place : mark.start()])
        self.place = mark.end()

    def _answer_is_thinking(self) -> None:
        self.thinking += self.answer
        self.answer.clear()

    def _unknown(self, mark: re.Match[str]) -> None:
        """A token that the table does not know begins thinking, or ends what its like began."""
        waiting = self.waiting
        closes = waiting is not None and _CLOSING.search(mark["special"] or "") and _stem(mark) == _stem(waiting)
        opens = self.mode == "answer" and bool(self.text[mark.end() :].strip())
        self._flush(mark)
        if closes:
            self.mode, self.waiting = "answer", None
        elif opens:
            self.mode, self.waiting = "thinking", mark

    def _open(self, mark: re.Match[str]) -> None:
        self._flush(mark)
        self.mode, self.details = "thinking", bool(mark["details"])
        self.channels = self.channels or mark["channel"] is not None
        if mark["fence"]:
            closing = re.compile(r"\n(?:```|~~~)").search(self.text, mark.end())
            self.thinking.append(self.text[mark.end() : closing.start() if closing else len(self.text)])
            self.place, self.mode = closing.end() if closing else len(self.text), "answer"

    def _close(self, mark: re.Match[str]) -> None:
        self._flush(mark)
        if self.mode == "answer":
            self._answer_is_thinking()
        self.mode, self.details, self.waiting = "answer", False, None

    def _end(self, mark: re.Match[str]) -> None:
        """The end of a turn, or the head of the assistant's."""
        self._flush(mark)
        if self.mode == "answer" and "".join(self.answer).strip():
            # What a model writes behind the end of its answer is none.
            head = mark["end"] is None and mark["turn"] is None and mark["header"] is None
            self.mode = "answer" if head else "other"
        elif self.mode != "answer" and not self.channels and self.waiting is None:
            self.mode = "answer"


def _begins(text: str, place: int, mark: re.Match[str]) -> bool:
    """An opening tag counts at the start of a line; special tokens count anywhere."""
    if mark["tag"] is None and mark["square"] is None and mark["kimi"] is None and mark["details"] is None:
        return True
    start = mark.start()
    return text[max(place, start - 8) : start].rstrip(" \t")[-1:] in ("", "\n")
