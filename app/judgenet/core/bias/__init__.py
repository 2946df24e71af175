"""The bias lab's probes. Each is a module of its own: a way to show a pair and a rule for counting, entered here."""

from __future__ import annotations

from judgenet.core.bias import (
    attention,
    bandwagon,
    compassion,
    egocentric,
    identical,
    layout,
    order,
    padding,
    planted,
    repeats,
    salience,
)
from judgenet.core.bias.base import BiasError, Probe

PROBES: dict[str, Probe] = {
    module.PROBE.key: module.PROBE
    for module in (
        order,
        compassion,
        egocentric,
        salience,
        bandwagon,
        attention,
        planted,
        identical,
        padding,
        layout,
        repeats,
    )
}
"""All probes by key, CoBBLEr's six first."""

COBBLER = ("order", "compassion", "egocentric", "salience", "bandwagon", "attention")
"""The six biases of CoBBLEr (Koo et al. 2023)."""


def parse_probes(text: str) -> tuple[str, ...]:
    """The keys of a list such as ``order,bandwagon``; ``all`` are all, ``cobbler`` the six of the paper.

    :raises BiasError: an unknown name, or none.
    """
    wanted: dict[str, None] = {}
    for name in (part.strip().lower() for part in text.split(",")):
        if name in ("all", "cobbler"):
            wanted |= dict.fromkeys(PROBES if name == "all" else COBBLER)
        elif name in PROBES:
            wanted[name] = None
        elif name:
            raise BiasError(f"There is no probe {name!r}; there are all, cobbler, {', '.join(PROBES)}.")
    if not wanted:
        raise BiasError(f"No probe is named; there are all, cobbler, {', '.join(PROBES)}.")
    return tuple(key for key in PROBES if key in wanted)
