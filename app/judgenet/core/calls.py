"""The place of a call in a run, and the content key under which its answer is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from judgenet.core.extra_fields import extra_of_text
from judgenet.core.network import Settings
from judgenet.core.pairs import Order
from judgenet.core.probabilities import PROBABILITIES, SCORES

ROLES_LAYER = 0
"""The layer number of role generation. Layers of neurons count from 1, the chair is the layer after the last."""


class CallSite(NamedTuple):
    """The place of a call in a run.

    ``pair`` is the 0-based index of the pair in the run. ``layer`` is 0 for role generation, 1 to depth for
    neurons, depth + 1 for the chair. ``neuron`` and ``sample`` count from 1; role generation has neuron 0 and
    no order.
    """

    pair: int
    layer: int
    neuron: int
    order: Order | None
    sample: int


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a request besides its text; they are part of the key.

    They are the values as designed. What an endpoint refuses is left out when sending and noted in the run's
    record, so that a run keeps its keys. ``more`` has the settings that not every call has, by name; where there are
    none the key is that of version 0.1.
    """

    model: str
    temperature: float | None
    max_tokens: int
    schema: dict[str, Any] | None
    more: Mapping[str, Any] = field(default_factory=dict)

    def digest(self) -> str:
        asked = [self.model, self.temperature, self.max_tokens, self.schema, *([dict(self.more)] if self.more else [])]
        return json.dumps(asked, sort_keys=True, ensure_ascii=True)


def further_settings(settings: Settings) -> dict[str, Any]:
    """The settings in force that not every call has, by name: :attr:`Parameters.more`."""
    more: dict[str, Any] = {}
    if settings.reasoning not in (None, "default"):
        more["reasoning"] = settings.reasoning
    if extra := extra_of_text(settings.extra):
        more["extra"] = extra
    return more


def scores_setting(settings: Settings) -> dict[str, str]:
    """The same of the calls that give scores: whether they are to be scored by token probabilities."""
    return {SCORES: PROBABILITIES} if settings.scores == PROBABILITIES else {}


class KeyPrefix:
    """The part of a key that calls with the same shared text have in common, hashed once."""

    __slots__ = ("_hash",)

    def __init__(self, parameters: str, system: str, shared: str) -> None:
        self._hash = hashlib.sha256(f"{parameters}\n{json.dumps(system)}\n".encode("ascii"))
        self._hash.update(shared.encode("utf-8", "surrogatepass"))

    def key(self, own: str, sample: int, replica: int) -> bytes:
        """SHA-256 (32 bytes) of everything that determines the answer.

        ``sample`` tells repeated calls of a neuron apart, ``replica`` neurons that ask the very same question.
        Where the user message is split into shared and own text does not matter.
        """
        digest = self._hash.copy()
        digest.update(own.encode("utf-8", "surrogatepass"))
        digest.update(b"\n%d\n%d" % (sample, replica))
        return digest.digest()
