"""Identical: a response against itself is a tie; a judge that names a winner does not judge by the texts."""

from __future__ import annotations

from judgenet.core.bias.base import LabSettings, NotAllowed, Probe, Showing, drawn, presented
from judgenet.core.pairs import Pair


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """One of the responses, drawn by the seed, in both places."""
    if not settings.tie:
        return NotAllowed("a tie is not offered")
    if not pair.response_a.strip() and not pair.response_b.strip():
        return NotAllowed("the responses have no text")
    texts = [text for text in (pair.response_a, pair.response_b) if text.strip()]
    text = texts[drawn(settings.seed, pair, len(texts), "identical")]
    prompt = presented(pair, "identical", settings, response_a=text, response_b=text)
    return Showing((prompt,), ("first",))


PROBE = Probe(
    key="identical",
    title="Same text twice",
    tells="Equal texts, yet a winner",
    rule="decided",
    show=show,
    outcomes=("first", "second", "tie"),
    above="Names a winner between equal texts",
    rate="{hits} of {n} not judged a tie",
)
