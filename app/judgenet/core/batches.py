"""Runs by batches: the deadline after which calls are asked live, and the progress of the batches in words."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta
from typing import Final

from judgenet.core.calls import ROLES_LAYER
from judgenet.core.network import NetworkSpec, needs_roles
from judgenet.core.wording import duration, of

BATCH_KINDS: Final = frozenset({"openai", "azure", "anthropic", "gemini"})
"""Kinds of endpoints that take batches."""
USUAL_HOURS: Final = 24
"""How long a batch may take: OpenAI and Anthropic end it then, Google aims at it."""


_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(min|h|d)")
_UNITS: Final = {"min": 60.0, "h": 3600.0, "d": 86400.0}


class BatchError(ValueError):
    """A deadline that cannot be read; the message says what it may be."""


def parse_live_after(text: str, at: float | None = None) -> float:
    """A deadline in seconds since the epoch: a time of day (the next one), a date and time, a span from now (6h), or
    ``now``. ``at`` stands in for the present.

    :raises BatchError: it is none.
    """
    at = time.time() if at is None else at
    text = text.strip()
    if text == "now":
        return at
    if match := _SPAN.fullmatch(text):
        return at + float(match[1]) * _UNITS[match[2]]
    present = datetime.fromtimestamp(at).astimezone()
    if match := _CLOCK.fullmatch(text):
        then = present.replace(hour=int(match[1]), minute=int(match[2]), second=0, microsecond=0)
        return (then if then > present else then + timedelta(days=1)).timestamp()
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except ValueError:
        raise BatchError(
            f"{text!r} is no deadline: write a time of day (18:00), a date and time (2026-12-01T06:00), or a span from "
            "now (90min, 6h)."
        ) from None


def stages_of(spec: NetworkSpec) -> tuple[int, ...]:
    """The layers that a run asks one after the other, each a batch: roles (0), the layers, the chair."""
    first = (ROLES_LAYER,) if needs_roles(spec) else ()
    last = (spec.depth + 1,) if spec.chair is not None else ()
    return (*first, *range(1, spec.depth + 1), *last)


def layer_words(layer: int, depth: int) -> str:
    """A layer by its number in a sentence, those of roles and chair with them."""
    if layer == ROLES_LAYER:
        return "roles"
    return "the chair" if layer > depth else f"layer {layer}"


def batch_words(
    stage: int, stages: int, layer: str, answered: int, calls: int, seconds: float | None, *, overdue: bool = False
) -> str:
    """The progress of the batches: ``Batch 2 of 3: layer 1, 1,204 of 1,360 calls, about 3 h``."""
    when = f"within {USUAL_HOURS} h" if seconds is None else f"about {duration(max(1.0, seconds))}"
    if overdue:
        when = "cancelled at the deadline; what is left is asked live"
    return f"Batch {of(stage, stages)}: {layer}, {of(answered, calls)} calls, {when}"
