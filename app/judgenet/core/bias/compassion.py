"""Compassion fade: as order, but with the systems' real names (statistics 4.1)."""

from __future__ import annotations

from judgenet.core.bias.base import SIDES, LabSettings, NotAllowed, Probe, Showing, empty_reason, presented
from judgenet.core.pairs import Order, Pair, Shown


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """Both orders with names; the judge's own is marked, wherever it stands."""
    if why := empty_reason(pair):
        return NotAllowed(why)
    if not (pair.model_a or "").strip() or not (pair.model_b or "").strip():
        return NotAllowed("the name of a system is missing")
    if pair.model_a == pair.model_b:
        return NotAllowed("both responses are of the same system")
    own = tuple(side for side in SIDES if (pair.model_a if side == "a" else pair.model_b) in settings.own)
    orders: tuple[Order, Order] = ("ab", "ba")
    prompts = tuple(
        presented(pair, "named", settings, Shown(pair.model_a, pair.model_b, own, order=order)) for order in orders
    )
    return Showing(prompts, ("first", "first"))


PROBE = Probe(
    key="compassion",
    title="Compassion fade",
    tells="With names, the first wins",
    rule="both",
    show=show,
    outcomes=("first", "last", "consistent"),
    above="With names, prefers the first response",
    against="With names, prefers the last response",
    toward=("the first response under real names", "the last response under real names"),
    source="CoBBLEr (Koo et al. 2023), implicit",
)
