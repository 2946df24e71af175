"""What makes two runs different judges, and what follows for their figures."""

from __future__ import annotations

import json
from collections.abc import Mapping

from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo
from judgenet.store.usage import models_used

Differing = Mapping[str, tuple[str, str]]
"""By what differs (``network``, ``prompts``, ``model``, ``returned_model``), as the first and the second have it."""


def what_differs(first: tuple[Store, RunInfo], second: tuple[Store, RunInfo]) -> dict[str, tuple[str, str]]:
    """What of two runs makes them different judges: network, prompts, models asked and models that answered, each as
    the first and the second have it."""
    described = []
    for store, run in (first, second):
        used = models_used(store, run)
        described.append(
            {
                "network": json.dumps(run.record["network"], sort_keys=True),
                "prompts": run.record.get("prompts") or "(not known)",
                "model": ", ".join(sorted({f"{use.endpoint}:{use.requested}" for use in used})),
                "returned_model": ", ".join(sorted({use.returned or "(not named)" for use in used})),
            }
        )
    differing = {
        name: (described[0][name], described[1][name])
        for name in described[0]
        if described[0][name] != described[1][name]
    }
    if "network" in differing:
        differing["network"] = (network_words(first[1]), network_words(second[1]))
    return differing


def network_words(run: RunInfo) -> str:
    """A run's network in words: "Four by three, layers of 4 + 3"."""
    spec = network_of(run)
    widths = " + ".join("as roles" if layer.adaptive else str(len(layer.neurons)) for layer in spec.layers)
    return f"{spec.name}, layers of {widths}"


def judges_warning(differing: Differing) -> str:
    """What follows where the judges differ, in one sentence; empty where they are the same."""
    if not differing:
        return ""
    return (
        f"the judges differ ({', '.join(name.replace('_', ' ') for name in differing)}): their win rates are not "
        "comparable as they are, only corrected by human labels"
    )
