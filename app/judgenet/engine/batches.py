"""Whether a start of a run sends its calls in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from judgenet.core.batches import BATCH_KINDS, BatchError, parse_live_after
from judgenet.core.endpoints import EndpointProfile
from judgenet.engine.endpoints import key_finder
from judgenet.engine.ports import EndpointState
from judgenet.store.batch_book import open_batches
from judgenet.store.db import Store

if TYPE_CHECKING:
    from judgenet.engine.batch_desk import BatchDesk

BATCH_RECORD: Final = "batch"
"""The entry of a run's record about batches."""


@dataclass(frozen=True, slots=True)
class BatchChoice:
    """A start in batches. ``live_after`` is the deadline as the user wrote it; empty for none."""

    live_after: str = ""

    def record(self, kept: object) -> dict[str, Any]:
        """The choice as a run's record keeps it, with the deadline as a time. A deadline that the run has already, in
        the same words, stays as it was: "18:00" has passed when the run is resumed at 19:00."""
        if not self.live_after:
            return {}
        if isinstance(kept, Mapping) and kept.get("live_after") == self.live_after:
            return dict(kept)
        return {"live_after": self.live_after, "until": parse_live_after(self.live_after)}


def wish_to_json(wish: BatchChoice | bool | None) -> dict[str, Any]:
    """Whether runs of a project use batches, by name; empty where it is not set."""
    if isinstance(wish, BatchChoice):
        return {"batch": True, **({"live_after": wish.live_after} if wish.live_after else {})}
    return {} if wish is None else {"batch": wish}


def wish_from_json(record: object) -> BatchChoice | bool | None:
    """The setting in such a record; what cannot be read is left out."""
    given = record if isinstance(record, Mapping) else {}
    if given.get("batch") is not True:
        return False if given.get("batch") is False else None
    text = given.get("live_after")
    try:
        parse_live_after(text if isinstance(text, str) and text else "now")
    except BatchError:
        text = ""
    return BatchChoice(text if isinstance(text, str) else "")


def choice_for(store: Store, wanted: BatchChoice | bool | None, kept: object) -> BatchChoice | None:
    """Whether a start uses batches: as the start says, else as its run was begun (``kept``, from its record). A start
    without batches cancels those that are open, so that no call is paid for twice."""
    if isinstance(wanted, BatchChoice):
        return wanted
    if wanted is False:
        return BatchChoice("now") if open_batches(store) else None
    if isinstance(kept, Mapping):
        return BatchChoice(str(kept.get("live_after") or ""))
    return BatchChoice() if open_batches(store) else None


def open_desks(
    names: Iterable[str],
    profiles: Mapping[str, EndpointProfile],
    store: Store,
    folder: Path | None,
    on_state: Callable[[EndpointState], None],
    live_after: float | None,
) -> dict[str, BatchDesk]:
    """Opens the batches of those endpoints that take some. Must run on the engine's loop, with approved endpoints."""
    from judgenet.engine.batch_desk import BatchDesk

    return {
        name: BatchDesk(profiles[name], store, key_finder(profiles[name], folder), on_state, live_after)
        for name in names
        if profiles[name].kind in BATCH_KINDS
    }
