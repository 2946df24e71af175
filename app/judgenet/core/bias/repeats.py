"""Repeats: the very same prompt several times; the answer is not always the same."""

from __future__ import annotations

from judgenet.core.bias.base import LabSettings, NotAllowed, Position, Probe, Showing, empty_reason, plain, presented
from judgenet.core.pairs import Pair, Shown


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """The plain prompt in one order; the first asking is that of the order probe."""
    if why := empty_reason(pair):
        return NotAllowed(why)
    again = (
        presented(pair, f"repeat {number + 1}", settings, Shown(order="ab", repeat=number))
        for number in range(1, settings.repeats)
    )
    first: Position = "first"
    return Showing((plain(pair, "ab", settings), *again), (first,) * settings.repeats)


PROBE = Probe(
    key="repeats",
    title="Repeats",
    tells="Asked again, it differs",
    rule="changed",
    show=show,
    outcomes=("first", "second", "changed"),
    above="Answers inconsistently",
    rate="Answer changed in {hits} of {n} pairs",
)
