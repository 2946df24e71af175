"""Salience: of the pairs judged the same way in both orders, the longer response wins (statistics 4.1)."""

from __future__ import annotations

from judgenet.core.bias.base import LabSettings, NotAllowed, Probe, Showing, both_orders, empty_reason, picture_reason
from judgenet.core.pairs import Pair


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """Both orders without names. Length is in characters; the paper's code takes B as longer of two equal ones."""
    if why := empty_reason(pair) or picture_reason(pair):
        return NotAllowed(why)
    length_a, length_b = len(pair.response_a), len(pair.response_b)
    if length_a == length_b and settings.denominator == "valid":
        return NotAllowed("both responses are equally long")
    return both_orders(pair, settings, "a" if length_a > length_b else "b")


PROBE = Probe(
    key="salience",
    title="Length",
    tells="The longer response wins",
    rule="consistent",
    show=show,
    outcomes=("longer", "shorter", "order-biased"),
    above="Prefers longer responses",
    against="Prefers shorter responses",
    toward=("longer responses", "shorter responses"),
    source="CoBBLEr (Koo et al. 2023), implicit",
)
