"""What an answer says while it is still being written."""

from __future__ import annotations

import json
import re

from judgenet.core.reading import without_thinking
from judgenet.core.schemas import EVIDENCE

_KEY = re.compile(rf'\{{\s*"{EVIDENCE}"\s*:\s*"')
_STRING = re.compile(r'(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*')
_HALF_PAIR = re.compile(r"(?:\\\\)*(\\u[dD][89abAB][0-9a-fA-F]{2})\Z")
_OBJECT = re.compile(r"(?:```\w*\s*)?\{")


def evidence_so_far(text: str) -> str:
    """The evidence in the beginning of an answer: of JSON the value as far as it goes, of prose all of it.

    An answer that was begun anew (after a break, or because it had been cut) counts from its last beginning. Thinking
    is left out.
    """
    answer = without_thinking(text)
    starts = list(_KEY.finditer(answer))
    if not starts:
        return "" if _OBJECT.match(answer) else answer
    match = _STRING.match(answer, starts[-1].end())
    evidence = "" if match is None else match[0]
    half = _HALF_PAIR.search(evidence)
    if half is not None and match is not None and answer[match.end() : match.end() + 1] != '"':
        # The first half of a sign whose second half is to come.
        evidence = evidence[: half.start(1)]
    try:
        return str(json.loads(f'"{evidence}"', strict=False))
    except ValueError:
        return evidence
