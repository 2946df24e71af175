"""What each fault of the fake judge server must come to, and verdicts computed by hand from the server's log."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from judgenet.core.pairs import Pair
from tests.fakes.judge_server import FAULTS, Entry

STOPS = ("auth", "forbidden", "payment", "quota", "no_model", "no_route", "throttle_long")
"""The endpoint is asked once, and no more."""

REASONS = {
    "bad_request": "bad_request",
    "context": "context_length",
    "content_filter": "filtered",
    **dict.fromkeys(("throttle", "throttle_date", "throttle_ms", "throttle_plain"), "rate_limited"),
    **dict.fromkeys(("409", "425", "500", "502", "503", "529", "html_502"), "server_error"),
    **dict.fromkeys(("408", "504", "hang", "hang_body", "comments", "blanks"), "timeout"),
    **dict.fromkeys(("reset", "cut"), "network"),
    **dict.fromkeys(("bad_json", "html_200", "error_200", "stream_error", "brotli"), "server_error"),
    **dict.fromkeys(("empty_choices", "empty_content"), "empty"),
    "refusal": "refused",
    "filtered": "filtered",
    "length": "truncated",
    "off_scale": "out_of_range",
    **dict.fromkeys(("prose", "nested"), "unparsed"),
    **dict.fromkeys(("bomb", "huge"), "too_large"),
    "contradictory": "contradictory",
}
"""Why a call has no evaluation where the fault comes at every attempt."""

HARMLESS = tuple(fault for fault in FAULTS if fault not in STOPS and fault not in REASONS)
"""The call is scored all the same: what is refused is left out, what is odd is read."""

ONCE = (
    *("bad_request", "context", "content_filter", "empty_choices", "empty_content", "refusal", "filtered"),
    *("off_scale", "prose", "contradictory", "bomb", "huge", "nested"),
)
"""Asking again would bring the same: one request."""

USELESS = frozenset(ONCE) | {"length"}
"""Answers that hold no evaluation."""


def answer_to(log: Iterable[Entry], question: str) -> Entry:
    """The last whole answer to a question. A refused system message stands before the question itself."""
    found = None
    for entry in log:
        whole = entry.delivered and entry.status == 200 and entry.answer is not None
        if whole and entry.messages[-1]["content"].endswith(question):
            found = entry
    assert found is not None, f"never answered: {question[-200:]}"
    return found


def scores_in(entry: Entry, pair: Pair) -> tuple[int, int] | None:
    """The scores of responses A and B that an answer gives, whatever the order in which they were shown."""
    assert entry.answer is not None
    if entry.fault in USELESS:
        return None
    found = re.search(r'"score_1": (\d+), "score_2": (\d+)', entry.answer) or re.search(
        r"1\D{,10}: (\d+)\n.*2\D{,10}: (\d+)", entry.answer
    )
    assert found is not None, entry.answer
    first, second = int(found[1]), int(found[2])
    asked = entry.messages[-1]["content"]
    a_first = asked.index(pair.response_a) < asked.index(pair.response_b)
    return (first, second) if a_first else (second, first)


def verdict(a: float, b: float) -> str:
    return "tie" if a == b else "a" if a > b else "b"


def by_hand(calls: Sequence[dict[str, Any]], log: Iterable[Entry], pair: Pair, depth: int) -> dict[str, str | None]:
    """The verdicts of a pair: of each of its exported calls the question is looked up in the server's log."""
    totals: dict[int, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for call in calls:
        if call["pair_id"] != pair.id or call["layer"] == 0 or not call["messages"]:
            continue
        scores = scores_in(answer_to(log, call["messages"][-1]["content"]), pair)
        if scores is not None:
            totals[call["layer"]][call["neuron"]].append(scores)

    def average(scores: list[tuple[int, int]]) -> str:
        return verdict(sum(a for a, _ in scores), sum(b for _, b in scores))

    def vote(neurons: list[list[tuple[int, int]]]) -> str | None:
        votes = [average(scores) for scores in neurons]
        return verdict(votes.count("a"), votes.count("b")) if votes else None

    everyone = [scores for layer in totals.values() for scores in layer.values()]
    found: dict[str, str | None] = {
        "c1": average([one for scores in everyone for one in scores]) if everyone else None,
        "c2_all": vote(everyone),
    }
    for layer in range(1, depth + 1):
        found[f"c2_l{layer}"] = vote(list(totals[layer].values()))
    return found


def paid_twice(log: Iterable[Entry]) -> list[str]:
    """Questions that were answered whole more than once. A larger limit makes another question."""
    seen: set[str] = set()
    twice = []
    for entry in log:
        if entry.delivered and entry.status == 200 and entry.answer is not None:
            key = json.dumps([entry.messages, entry.asked.get("max_tokens"), entry.asked.get("max_completion_tokens")])
            twice += [key] if key in seen else []
            seen.add(key)
    return twice
