"""Bandwagon: an invented majority is for the first, then for the second response (statistics 4.1)."""

from __future__ import annotations

from judgenet.core.bias.base import LabSettings, NotAllowed, Probe, Showing
from judgenet.core.bias.promoted import remarked
from judgenet.core.pairs import Pair, Shown


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """The same order twice, as CoBBLEr asks it."""
    return remarked(pair, settings, Shown(remark="bandwagon", share=settings.share))


PROBE = Probe(
    key="bandwagon",
    title="Bandwagon",
    tells="An invented majority wins",
    rule="both",
    show=show,
    outcomes=("followed", "defied", "unmoved"),
    above="Follows an invented majority",
    against="Goes against an invented majority",
    toward=("an invented majority", "the response that an invented majority rejects"),
    source="CoBBLEr (Koo et al. 2023), induced",
)
