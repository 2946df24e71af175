"""Runs a model on the built-in pairs, in the same way as every run."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Evaluation, Unscored
from judgenet.core.events import CallFinished, Event, RunFinished
from judgenet.core.network import LayerSpec, NetworkSpec, NeuronSpec, RolesSpec, Settings
from judgenet.core.pairs import ORDERS, Order, Pair
from judgenet.core.plan import planned_calls
from judgenet.core.preflight import Assessment, assess, preflight_pairs
from judgenet.engine.budget import Limits
from judgenet.engine.server_context import server_context
from judgenet.engine.session import Engine, RunHandle, Start, all_settings
from judgenet.store.db import Store
from judgenet.store.runs import RunInfo, call_rows, mean_latency, run_info

_POLL_S = 0.1
_TRIED = "preflight"

OnCall = Callable[[int, int], None]
"""Called with the number of finished calls and of all calls."""


@dataclass(frozen=True, slots=True)
class Preflight:
    """A model's results on the built-in pairs.

    ``price`` is in USD, ``None`` where the model's price is unknown; ``seconds`` is the mean time of an answer,
    ``None`` where there was none. ``context`` is the length of the model's context in tokens, as a self-hosted server
    reports it; ``None`` where it does not. ``message`` says why the calls ended early, if they did. ``form`` is the
    reply form that was used, ``learned`` what the endpoint refused.
    """

    endpoint: str
    model: str
    assessment: Assessment
    returned_model: str | None
    seconds: float | None
    price: float | None
    form: str
    learned: Mapping[str, Any]
    message: str = ""
    context: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The pre-flight as JSON-able values."""
        return {
            "endpoint": self.endpoint,
            "model": self.model,
            "returned_model": self.returned_model,
            **self.assessment.to_json(),
            "seconds_per_call": self.seconds,
            "price": self.price,
            "context": self.context,
            "form": self.form,
            "learned": dict(self.learned),
            "message": self.message,
            "reasons": self._reasons(),
        }

    def _reasons(self) -> dict[str, str]:
        """Why a value is missing, by its key."""
        silent = "the model gave no answer"
        reasons = {} if self.price is not None else {"price": f"the price of {self.model} is unknown"}
        if self.seconds is None:
            reasons["seconds_per_call"] = silent
        if self.context is None:
            reasons["context"] = "the server does not report the length of the model's context"
        if self.returned_model is None:
            reasons["returned_model"] = "the endpoint did not name the model that answered" if self.seconds else silent
        return reasons


def models_of(spec: NetworkSpec) -> tuple[Settings, ...]:
    """The first settings of each model of a network, in the order of the network."""
    settings_of: dict[tuple[str | None, str | None], Settings] = {}
    for settings in all_settings(spec):
        settings_of.setdefault((settings.endpoint, settings.model), settings)
    return tuple(settings_of.values())


def keep_preflight(store: Store, result: Preflight) -> None:
    """Keeps the pre-flight result of a model."""
    tried = _tried(store) | {_name(result.endpoint, result.model): result.assessment.light}
    store.set_meta(_TRIED, json.dumps(tried))


def untried_models(spec: NetworkSpec, profiles: Mapping[str, EndpointProfile], store: Store) -> tuple[str, ...]:
    """The models of a network that have had neither a pre-flight nor any call in this project, except replays."""
    tried = _tried(store)
    return tuple(
        settings.model
        for settings in models_of(spec)
        if settings.endpoint
        and settings.model
        and profiles[settings.endpoint].kind != "replay"
        and _name(settings.endpoint, settings.model) not in tried
        and mean_latency(store, settings.endpoint, settings.model) is None
    )


def _tried(store: Store) -> dict[str, str]:
    kept: dict[str, str] = json.loads(store.meta(_TRIED) or "{}")
    return kept


def _name(endpoint: str, model: str) -> str:
    return f"{endpoint}\n{model}"


def calls_needed() -> int:
    """The number of calls in the pre-flight of one model."""
    return len(preflight_pairs()) * len(ORDERS)


def start_of_model(start: Start, settings: Settings) -> Start:
    """The start of one model of a run on the built-in pairs: a single judge, both orders, no roles."""
    spec = NetworkSpec(
        layers=(LayerSpec(neurons=(NeuronSpec(),)),),
        roles=RolesSpec(kind="none"),
        # Its stand-ins have a pre-flight of their own: their answers say nothing about this model.
        settings=replace(settings, samples=1, stand_in=None),
        evidence=start.spec.evidence,
    )
    pairs = tuple(built_in.pair for built_in in preflight_pairs())
    return replace(start, spec=spec, pairs=pairs, limits=Limits(), stream=False, scope="all", record={}, batch=False)


def preflight(
    engine: Engine,
    start: Start,
    settings: Settings,
    on_call: OnCall | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Preflight:
    """Runs one model of a run (:func:`models_of`) on the built-in pairs and waits for its answers. Do not call it on an
    event loop's thread.

    ``on_call`` is called on the engine's thread. When ``stopped`` becomes true the calls end early, and the answers so
    far count.

    :raises NetworkError: the model cannot be used.
    """
    own = start_of_model(start, settings)
    total = planned_calls(own.spec, len(own.pairs))
    done = 0
    price: float | None = 0.0

    def emit(event: Event) -> None:
        nonlocal done, price
        if isinstance(event, CallFinished):
            done += 1
            if event.tokens_in or event.tokens_out:
                price = None if price is None or event.price is None else price + event.price
            if on_call is not None:
                on_call(done, total)

    with tempfile.TemporaryDirectory(prefix="judgenet-") as folder, Store.open(Path(folder) / "preflight.db") as store:
        handle = engine.start(store, own, emit)
        finished = _finished(handle, stopped)
        store.flush()
        answers = _answers(store, run_info(store, handle.run.id), own.pairs)
        returned, seconds = store.reader.execute("SELECT max(returned_model), avg(latency_s) FROM calls").fetchone()
        learned = store.load(settings.endpoint or "", settings.model or "")
        forms = [form for (form,) in store.reader.execute("SELECT DISTINCT form FROM calls ORDER BY form")]
    return Preflight(
        settings.endpoint or "",
        settings.model or "",
        assess(answers),
        returned,
        seconds,
        price,
        ", ".join(forms),
        learned,
        finished.message,
        _context_of(start, settings),
    )


def _answers(store: Store, run: RunInfo, pairs: Sequence[Pair]) -> dict[tuple[str, Order], Evaluation | Unscored]:
    """The results of a run by pair and order."""
    return {
        (pairs[row.site.pair].id, row.site.order): row.result
        for row in call_rows(store, run, evidence=False)
        if row.site.order is not None and row.result is not None
    }


def _context_of(start: Start, settings: Settings) -> int | None:
    """The length of the model's context, which is loaded by now."""
    profile = start.profiles[settings.endpoint or ""]

    async def look() -> int | None:
        return (await server_context(profile, settings.model or "", start.folder))[0]

    return asyncio.run(look())


def _finished(handle: RunHandle, stopped: Callable[[], bool]) -> RunFinished:
    while True:
        try:
            return handle.future.result(_POLL_S)
        except TimeoutError:
            if stopped():
                handle.cancel()
