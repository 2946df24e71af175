"""The example's bias lab: the example pairs judged by a rule with known biases. It needs no network and no model.

Pictures of the studio show it, and it is the same each time it is made.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from judgenet.core.bias.base import LabSettings
from judgenet.core.bias.lab import BuiltLab, build_lab
from judgenet.core.calls import ROLES_LAYER
from judgenet.core.pairs import Pair
from judgenet.core.project import Project
from judgenet.core.schemas import ReplyForm
from judgenet.engine.bias import start_lab
from judgenet.engine.example import BEGAN, ENDPOINT
from judgenet.engine.ports import ChatReply, ChatRequest, OnText, Usage
from judgenet.engine.session import Engine
from judgenet.engine.setup import start_of
from judgenet.store.db import Store
from judgenet.store.labs import LabJudge, keep_lab, labs

PROBES_SHOWN: Final = (
    "order",
    "salience",
    "bandwagon",
    "attention",
    "planted",
    "identical",
    "padding",
    "format",
    "repeats",
)
"""The probes that the example pairs allow: they name no systems."""

INSTRUCTIONS: Final = 50
"""The most instructions that are drawn, more than there are: the studio's default."""

_SITE: Final = re.compile(r"pair=(\d+), layer=(\d+), neuron=(\d+)")
_SWAYED: Final = {
    "plain": (0.5, 0.3, 0.15),
    "bandwagon": (0.3, 0.25, 0.8),
    "distraction": (0.15, 0.1, 0.0),
    "planted": (0.4, 0.25, 0.1),
    "identical": (0.2, 0.04, 0.02),
    "padded": (0.35, 0.25, 0.15),
    "listed": (0.3, 0.3, 0.3),
}
"""How often the single judge, layer 1 and layer 2 are swayed, by what is asked; ``plain`` by the first place."""
_UNSURE: Final = 0.06
"""How often a prompt that sways nobody is judged against the better response."""
_ROLES: Final = {"Accuracy": "Whether all that is said is right.", "Clarity": "Whether it is easily understood."} | {
    "Completeness": "Whether nothing that was asked for is missing."
}


class RuledAnswers:
    """An endpoint that judges prompts of a lab by hashes, so that each of its biases is known."""

    away_for = 0.0
    concurrency = 8

    def __init__(self, prompts: Sequence[Pair], *, single: bool) -> None:
        self.name = ENDPOINT
        self._prompts = prompts
        self._single = single

    def form(self, model: str) -> ReplyForm:
        return "json"

    def known(self, model: str) -> bool:
        return True

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        """The answer of the rule."""
        site = _SITE.search(request.site)
        assert site is not None, request.site
        pair, layer, neuron = map(int, site.groups())
        reply = _roles() if layer == ROLES_LAYER else self._judged(self._prompts[pair], layer, neuron)
        text = json.dumps(reply)
        usage = Usage((len(request.system) + len(request.user)) // 4, len(text) // 4)
        return ChatReply(text, "stop", model=request.model, usage=usage, latency_s=2.5)

    def _judged(self, prompt: Pair, layer: int, neuron: int) -> dict[str, Any]:
        pair_id, kind, about = _parts(prompt)
        stage = 0 if self._single else layer
        who = f"{stage} {neuron}"
        if _chance(who, kind, pair_id) < _SWAYED[kind][stage]:
            first = about != "b"
            why = "It makes the better case."
        elif kind == "identical":
            return {"evidence": "Both say the same.", "score_1": 7, "score_2": 7}
        else:
            better = _chance("better", pair_id) < 0.5
            unsure = _chance(who, prompt.id, prompt.content_hash) < _UNSURE
            shown = prompt.shown
            first = (better != unsure) == (shown is None or shown.order != "ba")
            why = "It answers what was asked, and nothing in it is wrong."
        return {"evidence": why, "score_1": 8 if first else 5, "score_2": 5 if first else 8}

    def learned(self, model: str) -> dict[str, Any]:
        return {}

    def pause(self) -> None:
        """Nothing to hold back."""

    def resume(self) -> None:
        """Nothing stopped."""

    async def close(self) -> None:
        """Nothing is open."""


def _roles() -> dict[str, Any]:
    return {"roles": [{"name": name, "description": text} for name, text in _ROLES.items()]}


def _parts(prompt: Pair) -> tuple[str, str, str]:
    """The pair of a prompt, what is asked of it, and the response that it promotes; an empty text for none."""
    pair_id, _, what = prompt.id.rpartition(" · ")
    kind, *rest = what.split()
    return pair_id, kind if kind in _SWAYED else "plain", rest[0] if rest and kind in _SWAYED else ""


def _chance(*parts: str) -> float:
    """A number between 0 and 1, always the same for the same."""
    return int.from_bytes(hashlib.sha256("\n".join(parts).encode()).digest()[:6], "big") / 2**48


def record_example_lab(store: Store, project: Project, pairs: Sequence[Pair], folder: Path) -> str:
    """Records the lab in the store of the example's project. Do not call it on an event loop's thread.

    :returns: the id of the lab.
    """
    built: BuiltLab = build_lab(pairs, PROBES_SHOWN, LabSettings(instructions=INSTRUCTIONS))
    profiles = {profile.name: profile for profile in project.endpoints}
    start = start_of(project, pairs, profiles, folder=folder)
    judges: tuple[LabJudge, ...] = ("single", "network")
    for judge in judges:
        answers = RuledAnswers(built.prompts, single=judge == "single")
        with Engine(open_with=lambda *_, answers=answers: {ENDPOINT: answers}) as engine:
            start_lab(engine, store, start, built, (judge,), lambda event: None).future.result()
    lab = labs(store)[-1]
    keep_lab(store, lab, built.lab, {}, created_at=BEGAN)
    return lab
