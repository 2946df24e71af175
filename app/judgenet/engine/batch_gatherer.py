"""Gathers calls into batches by model; a batch is closed when it is full or no more calls are to come."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from judgenet.engine.batch_apis import BatchApi, mark_of_call
from judgenet.engine.budget import Reserve
from judgenet.store.batch_book import Batch, BatchBook, BatchCall


@dataclass(slots=True)
class _Gathering:
    """A batch that is being filled."""

    batch: Batch
    calls: int = 0
    bytes: int = 0


class BatchGatherer:
    """Puts calls into batches of one endpoint, each of one model and within the endpoint's limits.

    Attributes:
        ready: the numbers of batches that can be sent, oldest first.
        most_calls, most_bytes: how large a batch may be, by what is known now.
    """

    def __init__(self, book: BatchBook, api: BatchApi, on_ready: Callable[[], None]) -> None:
        self.ready: dict[int, None] = {}
        self.most_calls, self.most_bytes = api.most_calls, api.most_bytes
        self._book = book
        self._api = api
        self._on_ready = on_ready
        self._open: dict[str, _Gathering] = {}

    def __bool__(self) -> bool:
        """Whether anything was gathered that is not sent."""
        return bool(self._open or self.ready)

    def put(
        self,
        key: bytes,
        model: str,
        body: Mapping[str, Any],
        reserve: Reserve,
        *,
        pair: int,
        layer: int,
        max_tokens: int,
        applied: Mapping[str, Any],
        before: BatchCall | None = None,
        earlier: bytes | None = None,
    ) -> None:
        """Adds a call to the batch that is being filled. ``before`` is its row where it was in a batch already,
        ``earlier`` an answer that was cut."""
        gathering, line = self._place(model, body)
        self._book.put(
            BatchCall(
                key=key,
                batch=gathering.batch.number,
                place=gathering.calls,
                pair=pair,
                layer=layer,
                state="waiting",
                tries=1 if before is None else before.tries + 1,
                tokens=reserve.tokens,
                price=reserve.price,
                max_tokens=max_tokens,
                applied=json.dumps(applied) if applied else "",
                line=line,
                earlier=earlier if earlier is not None else None if before is None else before.earlier,
            )
        )
        gathering.calls += 1
        gathering.bytes += len(line) + 1

    def _place(self, model: str, body: Mapping[str, Any]) -> tuple[_Gathering, bytes]:
        """The batch for a request, and the request as it stands there."""
        while True:
            gathering = self._open.get(model)
            if gathering is None:
                batch = self._book.open(f"jn{secrets.token_hex(6)}", model)
                gathering = self._open[model] = _Gathering(batch)
            line = self._api.line(mark_of_call(gathering.batch.id, gathering.calls), dict(body))
            if not gathering.calls or self.fits(gathering.calls + 1, gathering.bytes + len(line)):
                return gathering, line
            self._close(model)

    def fits(self, calls: int, size: int) -> bool:
        """Whether a batch of this many calls and bytes is within the limits."""
        return calls <= self.most_calls and (calls <= 1 or size <= self.most_bytes)

    def make_smaller(self, batch: Batch) -> None:
        """Halves the limits, as a batch was too large."""
        self.most_calls = max(1, min(self.most_calls, batch.calls) // 2)
        self.most_bytes = max(1, min(self.most_bytes, batch.bytes) // 2)

    def close(self) -> None:
        """Makes the gathered calls ready to be sent."""
        for model in list(self._open):
            self._close(model)

    def _close(self, model: str) -> None:
        gathering = self._open.pop(model)
        self._book.write_out()
        self.ready[gathering.batch.number] = None
        self._on_ready()

    def give_up(self) -> list[int]:
        """Discards the gathered calls; returns the numbers of the batches."""
        numbers = [*self.ready, *(gathering.batch.number for gathering in self._open.values())]
        self.ready.clear()
        self._open.clear()
        return numbers
