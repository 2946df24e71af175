"""How a start of a run ends, in words."""

from __future__ import annotations

from collections.abc import Mapping

from judgenet.core.events import RunStatus
from judgenet.core.wording import plural
from judgenet.engine.asked_calls import Lane
from judgenet.store.opened_file import Trouble


def not_kept(state: RunStatus, message: str, trouble: Trouble | None, calls: int) -> tuple[RunStatus, str]:
    """How a run ends whose store cannot be written: never well, and with what is to be done. ``calls`` ended and are
    not on disk."""
    words = ["Stopped." if state == "cancelled" else message]
    if trouble is not None:
        words.append(trouble.what)
    if calls and not (trouble is not None and trouble.gone):
        ended = "1 finished call is" if calls == 1 else f"{calls:,} finished calls are"
        words.append(f"{ended} not kept and will be asked again.")
    if trouble is not None:
        words.append(trouble.afterwards)
    return "failed" if state == "done" else state, " ".join(word for word in words if word)


def left_pairs(count: int) -> str:
    """What is said of pairs that go on in another start."""
    return f"Finished what was chosen; {plural(count, 'pair')} {'is' if count == 1 else 'are'} left for another start."


def all_stops(lanes: Mapping[str, Lane]) -> str:
    """Why no endpoint goes on, each with its name."""
    stops = ((name, message) for name, lane in lanes.items() for message in lane.stops)
    return "; ".join(message if message.startswith(name) else f"{name}: {message}" for name, message in stops)
