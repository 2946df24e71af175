"""Makes texts of others harmless for a terminal, a log or a dialog: they may not steer it, nor look like what they are
not."""

from __future__ import annotations

import re

_STEERING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)",
)
"""All control characters (ESC and CSI among them) but tab and line end, and the marks that turn the direction of text
around. U+200E and U+200F, which right-to-left texts need, turn nothing around."""


def harmless(text: str) -> str:
    """The text with every control character and every change of direction shown instead of obeyed: as its symbol
    (U+2400 and following), or as ``<U+009B>``. Line ends stay."""
    return _STEERING.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"<U+{code:04X}>"
