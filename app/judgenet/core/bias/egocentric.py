"""Egocentric: the judge's own response wins in both orders (statistics 4.1)."""

from __future__ import annotations

from judgenet.core.bias.base import LabSettings, NotAllowed, Probe, Showing, both_orders, empty_reason
from judgenet.core.pairs import Pair


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """Both orders without names, of pairs with the judge's own response. Names are compared exactly."""
    if why := empty_reason(pair):
        return NotAllowed(why)
    if not settings.own:
        return NotAllowed("the judge's own system is not named")
    if pair.model_a is None and pair.model_b is None:
        return NotAllowed("the names of the systems are missing")
    own_a, own_b = pair.model_a in settings.own, pair.model_b in settings.own
    if own_a and own_b:
        return NotAllowed("both responses are the judge's own")
    if not (own_a or own_b):
        return NotAllowed("neither response is the judge's own")
    return both_orders(pair, settings, "a" if own_a else "b")


PROBE = Probe(
    key="egocentric",
    title="Own system",
    tells="Its own answers win",
    rule="both",
    show=show,
    outcomes=("own", "other", "order-biased"),
    above="Prefers its own system",
    against="Prefers other systems",
    toward=("its own system", "other systems"),
    by_consistent=True,
    source="CoBBLEr (Koo et al. 2023), implicit",
)
