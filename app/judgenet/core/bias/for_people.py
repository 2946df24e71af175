"""A lab's prompts as people see them: the question, both responses in the order of the prompt, and the remarks that the
prompt makes about them. They do not show to which probe a prompt belongs, or from which pair it comes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from judgenet.core.bias.lab import Lab
from judgenet.core.criteria import criteria_to_lines
from judgenet.core.pairs import Pair

_BLOCK: Final = 12
"""The prompts of so many counted pairs are shuffled together: those of one pair stand apart, and whoever stops early
has answered whole pairs."""


@dataclass(frozen=True, slots=True)
class PeoplePrompt:
    """A prompt for people. ``key`` names it without telling the probe, ``prompt`` is its id in the lab, ``content`` the
    hash of its texts.

    ``reference`` is the reference answer that judges see, empty where there is none. ``remarks`` are the pair's
    criteria and the sentences that the prompt says of the responses; ``tie`` says whether a tie may be called."""

    key: str
    prompt: str
    content: str
    question: str
    reference: str
    first: str
    second: str
    remarks: str
    tie: bool


def _key(prompt: Pair) -> str:
    """The name of a prompt on sheets for people."""
    text = f"{prompt.id}\n{prompt.content_hash}".encode("utf-8", "surrogatepass")
    # No spreadsheet takes it for a number.
    return "q" + hashlib.sha256(text).hexdigest()[:11]


def for_people(lab: Lab, prompts: Mapping[str, Pair], remarks: Callable[[Pair], str]) -> tuple[PeoplePrompt, ...]:
    """The prompts of a lab in the order in which people see them, drawn by the lab's seed; each once, also where
    several probes count it. ``prompts`` are by id; those that are not there are left out,
    and those with pictures. ``remarks`` tells what a
    prompt says of its responses.
    """
    seed = str(lab.settings.seed)

    def rank(what: str, text: str) -> bytes:
        return hashlib.sha256(f"{seed}\n{what}\n{text}".encode("utf-8", "surrogatepass")).digest()

    items = [(plan.key, item) for plan in lab.probes for item in plan.items]
    items.sort(key=lambda item: rank("item", f"{item[0]}\n{item[1].pair}"))
    order: dict[str, None] = {}
    for start in range(0, len(items), _BLOCK):
        block = dict.fromkeys(prompt for _, item in items[start : start + _BLOCK] for prompt in item.prompts)
        order |= dict.fromkeys(sorted(block, key=lambda prompt: rank("prompt", prompt)))
    shown = [prompts[name] for name in order if name in prompts]
    # A sheet for people holds texts alone.
    return tuple(_shown(pair, remarks) for pair in shown if not pair.pictures)


def _shown(pair: Pair, remarks: Callable[[Pair], str]) -> PeoplePrompt:
    shown = pair.shown
    turned = shown is not None and shown.order == "ba"
    first, second = (pair.response_b, pair.response_a) if turned else (pair.response_a, pair.response_b)
    # Nobody among people wrote a response.
    impersonal = pair if shown is None else replace(pair, shown=replace(shown, own=()))
    tie = shown is None or shown.tie
    key, reference = _key(pair), (pair.reference or "").strip()
    criteria = f"Criteria:\n{criteria_to_lines(pair.criteria)}" if pair.criteria else ""
    notes = "\n".join(part for part in (criteria, remarks(impersonal)) if part)
    return PeoplePrompt(key, pair.id, pair.content_hash, pair.question, reference, first, second, notes, tie)
