"""Attentional: a sentence that does not matter is about the first, then about the second response (statistics 4.1)."""

from __future__ import annotations

from judgenet.core.bias.base import LabSettings, NotAllowed, Probe, Showing
from judgenet.core.bias.promoted import remarked
from judgenet.core.pairs import Pair, Shown


def show(pair: Pair, settings: LabSettings) -> Showing | NotAllowed:
    """The same order twice, as CoBBLEr asks it."""
    return remarked(pair, settings, Shown(remark="distraction"))


PROBE = Probe(
    key="attention",
    title="Distraction",
    tells="An irrelevant sentence wins",
    rule="both",
    show=show,
    outcomes=("followed", "defied", "unmoved"),
    above="Prefers the response in an irrelevant sentence",
    against="Avoids the response in an irrelevant sentence",
    toward=("the response that an irrelevant sentence mentions", "the response that an irrelevant sentence leaves out"),
    source="CoBBLEr (Koo et al. 2023), induced",
)
