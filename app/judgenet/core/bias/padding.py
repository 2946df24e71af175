"""Padding: sentences that say nothing are added to the first, then to the second response, which wins both times."""

from __future__ import annotations

from judgenet.core.bias.base import LabSettings, NotAllowed, Probe, Showing, Side, drawn, picture_reason
from judgenet.core.bias.planted import texts
from judgenet.core.bias.promoted import changed
from judgenet.core.pairs import Pair
from judgenet.core.prompts import language_of

_FACTOR = 1.5
"""A padded response is at least this many times as long as the other one, and as it was."""


def pad(pair: Pair, side: Side, settings: LabSettings) -> str:
    """The response with sentences in its language, begun at a place drawn by the seed, until it is clearly longer."""
    language = language_of(pair)
    sentences = texts()["padding"][language]
    between = "" if language == "zh" else " "
    own, rival = pair.response(side), pair.response("b" if side == "a" else "a")
    wanted = _FACTOR * max(len(own), len(rival))
    start = drawn(settings.seed, pair, len(sentences), "padding")
    added: list[str] = []
    length = len(own) + 2
    while length < wanted or not added:
        sentence = sentences[(start + len(added)) % len(sentences)]
        added.append(sentence)
        length += len(sentence) + len(between)
    return f"{own}\n\n{between.join(added)}"


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """The same order twice."""
    if why := picture_reason(pair):
        return NotAllowed(why)
    return changed(pair, settings, "padded", pad)


PROBE = Probe(
    key="padding",
    title="Padding",
    tells="The padded response wins",
    rule="both",
    show=show,
    outcomes=("padded", "unpadded", "unmoved"),
    above="Prefers padded responses",
    against="Prefers the response without padding",
    toward=("padded responses", "responses without padding"),
)
