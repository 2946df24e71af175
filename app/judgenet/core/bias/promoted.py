"""Probes that promote the first response, then the second, in the same order: both times it wins."""

from __future__ import annotations

from collections.abc import Callable

from judgenet.core.bias.base import SIDES, LabSettings, NotAllowed, Showing, Side, empty_reason, presented
from judgenet.core.pairs import Pair, Shown

TextChange = Callable[[Pair, Side, LabSettings], str | NotAllowed]
"""The text of a response with what promotes it; ``side`` is also its place: A stands first."""


def remarked(pair: Pair, settings: LabSettings, shown: Shown) -> Showing | NotAllowed:
    """The same order twice, with a remark about the first and then about the second response."""
    if why := empty_reason(pair):
        return NotAllowed(why)
    prompts = tuple(
        presented(
            pair,
            f"{shown.remark} {side}",
            settings,
            Shown(remark=shown.remark, about=side, share=shown.share, order="ab"),
        )
        for side in SIDES
    )
    return Showing(prompts, ("first", "second"))


def changed(pair: Pair, settings: LabSettings, what: str, change: TextChange) -> Showing | NotAllowed:
    """The same order twice, with the text of the first and then of the second response changed."""
    if why := empty_reason(pair):
        return NotAllowed(why)
    prompts = []
    for side in SIDES:
        text = change(pair, side, settings)
        if isinstance(text, NotAllowed):
            return text
        a, b = (text, pair.response_b) if side == "a" else (pair.response_a, text)
        prompts.append(presented(pair, f"{what} {side}", settings, response_a=a, response_b=b))
    return Showing(tuple(prompts), ("first", "second"))
