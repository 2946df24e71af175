"""Order: the same pair in both orders; the same position wins both times (statistics 4.1)."""

from __future__ import annotations

from judgenet.core.bias.base import LabSettings, NotAllowed, Probe, Showing, empty_reason, plain
from judgenet.core.pairs import Pair


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """Both orders without names."""
    if why := empty_reason(pair):
        return NotAllowed(why)
    return Showing((plain(pair, "ab", settings), plain(pair, "ba", settings)), ("first", "first"))


PROBE = Probe(
    key="order",
    title="Order",
    tells="The first response wins",
    rule="both",
    show=show,
    outcomes=("first", "last", "consistent"),
    above="Prefers the first response",
    against="Prefers the last response",
    toward=("the first response", "the last response"),
    source="CoBBLEr (Koo et al. 2023), implicit",
)
