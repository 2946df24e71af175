"""Stand-ins as texts: models that are asked in place of a neuron's own when its endpoint stops."""

from __future__ import annotations

from collections.abc import Iterable

from judgenet.core.network import STAND_IN_AFTER_S, NetworkError, StandIn
from judgenet.core.wording import duration

NO_STAND_IN = "none"
"""How it is written that nothing stands in, where a level above names something."""


def read_stand_in(text: str) -> StandIn:
    """A stand-in as it is written on the command line: ``ENDPOINT``, ``ENDPOINT/MODEL``, ``ENDPOINT/MODEL after=60``.

    The model begins after the first slash and may hold others.

    :raises NetworkError: the text is no stand-in; the message says how it is written.
    """
    place, marked, after = text.partition(" after=")
    endpoint, _, model = (part.strip() for part in place.partition("/"))
    try:
        seconds = float(after) if marked else STAND_IN_AFTER_S
    except ValueError:
        seconds = -1.0
    if not endpoint or any(mark.isspace() for mark in endpoint) or ("/" in place and not model):
        raise NetworkError(f"{text!r} is no stand-in: write ENDPOINT/MODEL, such as backup/gpt-4o-mini.")
    if not 0 <= seconds < 1e9:
        raise NetworkError(f"{text!r}: after={after} must be a number of seconds, 0 or more.")
    return StandIn(endpoint, model or None, seconds)


def read_stand_ins(texts: Iterable[str]) -> tuple[StandIn, ...]:
    """Stand-ins in the order in which they are asked; ``none`` alone for none at all.

    :raises NetworkError: as :func:`read_stand_in`.
    """
    given = [text.strip() for text in texts]
    return () if given == [NO_STAND_IN] else tuple(map(read_stand_in, given))


def stand_in_text(stand_in: StandIn) -> str:
    """The inverse of :func:`read_stand_in`."""
    place = stand_in.endpoint if stand_in.model is None else f"{stand_in.endpoint}/{stand_in.model}"
    return place if stand_in.after == STAND_IN_AFTER_S else f"{place} after={stand_in.after:g}"


def stand_in_words(stand_ins: Iterable[StandIn]) -> str:
    """Stand-ins for people, in their order: ``backup/gpt-4o-mini (after 2 min out of reach)``."""
    named = [
        f"{stand_in.endpoint}{'' if stand_in.model is None else f'/{stand_in.model}'} "
        f"(after {duration(stand_in.after)} out of reach)"
        for stand_in in stand_ins
    ]
    return ", then ".join(named) or NO_STAND_IN
