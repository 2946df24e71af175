"""Starts a run of a network on pairs, for the command line and the studio."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judgenet.core import network_json
from judgenet.core.aggregate import aggregation_names
from judgenet.core.asking_order import ORDER_RECORD, order_seed
from judgenet.core.checks import require_valid
from judgenet.core.endpoint_extra import with_endpoint_extra
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.events import EndpointChanged, Event, RunFinished
from judgenet.core.matches import MATCHES_RECORD, MatchesError
from judgenet.core.network import (
    NetworkError,
    NetworkSpec,
    Settings,
    asked_settings,
    stand_ins,
)
from judgenet.core.pair_checks import require_judgeable
from judgenet.core.pairs import Pair, data_hash
from judgenet.core.pictures import takes_no_pictures
from judgenet.core.plan import PriceTable, calls_of_pairs
from judgenet.core.prompts import PromptBook
from judgenet.core.roles import stand_in_roles
from judgenet.core.until import UntilError, UntilRule
from judgenet.core.wording import plural
from judgenet.engine.batches import BATCH_RECORD, BatchChoice, choice_for, open_desks
from judgenet.engine.budget import Budget, Limits, Used
from judgenet.engine.embedded_model import model_name
from judgenet.engine.endpoints import open_endpoints, replay_store, require_approved
from judgenet.engine.executor import Executor
from judgenet.engine.pair_choice import Steering
from judgenet.engine.pairs_under_way import RunPlan
from judgenet.engine.ports import Endpoint, EndpointState
from judgenet.engine.runtime import Runtime, TurnBuffer, fewer_collections
from judgenet.engine.server_context import ContextWatch
from judgenet.store.db import Store
from judgenet.store.pictures import keep_pictures
from judgenet.store.runs import (
    PairState,
    RunInfo,
    begun_pairs,
    pair_states,
    reopen_pairs,
    run_info,
    run_marks,
    set_run_state,
    start_run,
    unscored_pairs,
)

if TYPE_CHECKING:
    from judgenet.engine.batch_desk import BatchDesk


def with_models(spec: NetworkSpec, profiles: Mapping[str, EndpointProfile]) -> NetworkSpec:
    """The network with every model named: a level that names an endpoint and no model gets that endpoint's model.

    :raises NetworkError: an endpoint is unknown, or a call would have no model.
    """

    def model_of(endpoint: str) -> str | None:
        profile = profiles.get(endpoint)
        if profile is None:
            raise NetworkError(
                f"The network uses the endpoint {endpoint!r}, which is not set up. "
                f"Known: {', '.join(sorted(profiles))}. Add it with: judgenet endpoint add {endpoint}"
            )
        if profile.model is None and profile.kind == "embedded":
            return model_name(profile.source)
        return profile.model

    def filled(settings: Settings) -> Settings:
        if settings.stand_in:
            named = (
                stand_in if stand_in.model else replace(stand_in, model=model_of(stand_in.endpoint))
                for stand_in in settings.stand_in
            )
            settings = replace(settings, stand_in=tuple(named))
        if settings.endpoint is None or settings.model is not None:
            return settings
        return replace(settings, model=model_of(settings.endpoint))

    return each_settings(spec, filled)


def each_settings(spec: NetworkSpec, change: Callable[[Settings], Settings]) -> NetworkSpec:
    """The network with the settings of every level changed: its own, those of roles, chair, layers and neurons."""
    return replace(
        spec,
        settings=change(spec.settings),
        roles=replace(spec.roles, settings=change(spec.roles.settings)),
        chair=None if spec.chair is None else replace(spec.chair, settings=change(spec.chair.settings)),
        layers=tuple(
            replace(
                layer,
                settings=change(layer.settings),
                neurons=tuple(replace(neuron, settings=change(neuron.settings)) for neuron in layer.neurons),
            )
            for layer in spec.layers
        ),
    )


def all_settings(spec: NetworkSpec) -> tuple[Settings, ...]:
    """The settings in force for each kind of call of the network, and those of its stand-ins."""
    used = asked_settings(spec)
    return (*used, *(stand_in for settings in used for stand_in in stand_ins(settings)))


def endpoints_of(spec: NetworkSpec) -> tuple[str, ...]:
    """The names of the endpoints that calls of the network go to, stand-ins with them, sorted."""
    return tuple(sorted({settings.endpoint for settings in all_settings(spec) if settings.endpoint}))


def profiles_of(start: Start) -> tuple[EndpointProfile, ...]:
    """The endpoints that calls of a start go to."""
    return tuple(start.profiles[name] for name in endpoints_of(start.spec))


Scope = Literal["all", "fresh", "unscored", "roles"]
"""What a start works on. ``all``: every pair that is not done. ``fresh``: pairs without any call so far. ``unscored``:
pairs with all their answers, some of which could not be read; these calls are made again. ``roles``: only the roles of
the pairs that are not done."""


@dataclass(frozen=True, slots=True)
class Start:
    """Everything that a start of a run needs.

    ``spec`` has its models (:func:`with_models`) and gets the further fields of its endpoints
    (:func:`with_endpoint_extra`). ``folder`` is the project's, where ``.env`` and relative sources are looked for.
    ``scope`` says which pairs it works on. ``until`` is the rule by which it stops early; with ``auto_matches`` it
    chooses pairs until the ranks of their systems are separated. ``batch`` sends calls in batches (``False``: it does
    not; ``None``: as the run was begun).
    """

    spec: NetworkSpec
    pairs: Sequence[Pair]
    book: PromptBook
    prices: PriceTable
    profiles: Mapping[str, EndpointProfile]
    salt: str
    folder: Path | None = None
    limits: Limits = field(default_factory=Limits)
    stream: bool = False
    record: Mapping[str, Any] = field(default_factory=dict)
    scope: Scope = "all"
    until: UntilRule | None = None
    auto_matches: bool = False
    batch: BatchChoice | bool | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "spec", with_endpoint_extra(self.spec, self.profiles))


def fingerprint(start: Start) -> str:
    """Identifies a run by its network, prompts and pairs: a start with the same fingerprint resumes it."""
    return _fingerprint(start.spec, start.book, data_hash(start.pairs))


def _fingerprint(spec: NetworkSpec, book: PromptBook, pairs_hash: str) -> str:
    parts = [network_json.digest(spec), book.digest, pairs_hash]
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()


def with_recorded_prompts(store: Store, start: Start) -> Start:
    """The start with the prompts of the version with which the same run was begun, or other runs of the same bias lab
    or experiment: recorded answers are found by the text of their questions, so none is paid for twice. A new run
    gets today's prompts."""
    older = {book.digest: book for book in start.book.versions[1:]}
    marks = run_marks(store) if older else []
    if not any(mark.prompts in older for mark in marks):
        return start
    lab, experiment = start.record.get("lab"), start.record.get("experiment", {}).get("name")
    if lab is not None or experiment is not None:
        kin = [mark.prompts for mark in marks if (mark.lab, mark.experiment) == (lab, experiment)]
    else:
        pairs_hash = data_hash(start.pairs)
        books = (start.book, *older.values())
        wanted = {_fingerprint(start.spec, book, pairs_hash): book.digest for book in books}
        kin = [wanted[mark.fingerprint] for mark in marks if mark.fingerprint in wanted]
    if not kin or start.book.digest in kin:
        return start
    return replace(start, book=older.get(kin[-1], start.book))


def _as_replayed(start: Start) -> Start:
    """The start with the prompts of the recorded run that it replays, if it replays one."""
    for profile in profiles_of(start):
        if profile.kind == "replay":
            with Store.open(replay_store(profile), readonly=True) as recorded:
                return replace(start, book=start.book.of_digest(run_info(recorded).record.get("prompts")))
    return start


def plan_run(store: Store, start: Start) -> RunPlan:
    """Enters the run in the store, or finds the earlier one that it continues.

    :raises NetworkError: the design cannot run, or a model is known to see no pictures.
    :raises PictureError: a picture of the pairs is gone or has changed since they were read.
    """
    require_valid(start.spec, start.profiles)
    require_judgeable(start.spec, start.pairs)
    start = with_recorded_prompts(store, _as_replayed(start))
    record = _start_record(start)
    require_sight(start)
    keep_pictures(store, start.pairs)
    run = start_run(store, fingerprint(start), record, start.pairs)
    by_batch = _by_batch(store, run, start)
    steering = _steering(store, run, start)
    if start.scope == "unscored":
        reopen_pairs(store, run, unscored_pairs(store, run))
    states = pair_states(store, run)
    return RunPlan(
        run=run,
        spec=start.spec,
        pairs=start.pairs,
        states=states,
        book=start.book,
        salt=store.salt(start.salt),
        prices=start.prices,
        fallback_roles=stand_in_roles,
        calls_planned=calls_of_pairs(start.spec, start.pairs),
        kinds={name: start.profiles[name].kind for name in endpoints_of(start.spec)},
        limits=start.limits,
        stream=start.stream,
        chosen=_chosen(start.scope, states, store, run),
        roles_only=start.scope == "roles",
        again=start.scope == "unscored",
        steering=steering,
        begun=frozenset() if steering is None else begun_pairs(store, run),
        by_batch=by_batch is not None,
        live_after=None if by_batch is None else by_batch.get("until"),
    )


def _start_record(start: Start) -> dict[str, Any]:
    """What a run's record says of its start.

    :raises UntilError: the rule that ends the run cannot be used.
    """
    record = {
        "network": network_json.to_json(start.spec),
        "prompts": start.book.digest,
        "data_hash": data_hash(start.pairs),
        "pairs": len(start.pairs),
        "endpoints": {name: _endpoint_record(start.profiles[name]) for name in endpoints_of(start.spec)},
        "starts": [{"at": time.time()}],
        **start.record,
    }
    if start.until is not None:
        start.until.require_known(aggregation_names(start.spec))
        if start.auto_matches:
            raise UntilError("A rule and chosen matches both say when to stop: give one of the two.")
        record["until"] = {"rule": start.until.text, "met": False}
        record[ORDER_RECORD] = {"seed": start.spec.seed}
    if start.auto_matches:
        record[MATCHES_RECORD] = {"kind": "auto", "seed": start.spec.seed}
    return record


def blind_words(spec: NetworkSpec, profiles: Mapping[str, EndpointProfile], pairs: Sequence[Pair]) -> str:
    """A sentence about models that are known to take no pictures, where some pairs have them; else empty."""
    with_some = sum(bool(pair.pictures) for pair in pairs)
    if not with_some:
        return ""
    blind: dict[str, None] = {}
    for settings in all_settings(spec):
        profile = profiles.get(settings.endpoint or "")
        model = settings.model or (profile.model if profile else None) or ""
        if profile is not None and profile.kind != "replay" and takes_no_pictures(profile.kind, model):
            name = "The embedded model" if profile.kind == "embedded" else f"{model} at {profile.name}"
            blind[name] = None
    if not blind:
        return ""
    sees = "sees" if len(blind) == 1 else "see"
    return (
        f"{' and '.join(blind)} {sees} no pictures, and {with_some:,} of {plural(len(pairs), 'pair')} "
        f"{'has' if with_some == 1 else 'have'} some. Choose a model that sees, or leave these pairs out."
    )


def require_sight(start: Start) -> None:
    """Refuses models that are known to take no pictures where some pairs have them, before anything is paid.

    :raises NetworkError: the network has such a model.
    """
    if words := blind_words(start.spec, start.profiles, start.pairs):
        raise NetworkError(words)


def _by_batch(store: Store, run: RunInfo, start: Start) -> dict[str, Any] | None:
    """The entry of the run's record about batches from now on; ``None`` where it sends none."""
    kept = run.record.get(BATCH_RECORD)
    choice = choice_for(store, start.batch, kept)
    record = None if choice is None else choice.record(kept)
    if record != kept:
        set_run_state(store, run.id, "running", "", **{BATCH_RECORD: record})
    return record


def _steering(store: Store, run: RunInfo, start: Start) -> Steering | None:
    """What chooses the run's pairs: a rule needs them in random order, and a run that began in one keeps it."""
    if not start.auto_matches and start.until is None and order_seed(run.record) is None:
        return None
    # Few runs need these, and they import numpy.
    from judgenet.engine.auto_matches import AutoMatches
    from judgenet.engine.steering import in_run_order
    from judgenet.store.frame import RunFrame

    frame = RunFrame.read(store, run)
    try:
        return AutoMatches(frame) if start.auto_matches else in_run_order(frame, start.until)
    except (MatchesError, UntilError) as error:
        set_run_state(store, run.id, "failed", str(error))
        raise


def _chosen(scope: Scope, states: Sequence[PairState], store: Store, run: RunInfo) -> frozenset[int] | None:
    """The pairs of a scope, ``None`` for all."""
    if scope in ("all", "roles"):
        return None
    if scope == "unscored":
        return frozenset(index for index, state in enumerate(states) if state == "failed")
    return frozenset(range(len(states))) - begun_pairs(store, run)


def _endpoint_record(profile: EndpointProfile) -> dict[str, Any]:
    return {"kind": profile.kind, "base_url": profile.base_url, "concurrency": profile.concurrency}


class RunHandle:
    """A run in the engine. All methods may be called from any thread."""

    def __init__(self, runtime: Runtime, plan: RunPlan) -> None:
        self.plan = plan
        self._runtime = runtime
        self._executor: Executor | None = None
        self._early: list[Callable[[Executor], None]] = []
        self.future: Future[RunFinished]

    @property
    def run(self) -> RunInfo:
        return self.plan.run

    @property
    def used(self) -> Used:
        """How much of its limits this start has used so far."""
        return Used(0, 0, 0.0) if self._executor is None else self._executor.used

    def _control(self, action: Callable[[Executor], None]) -> None:
        def apply() -> None:
            if self._executor is None:
                self._early.append(action)
            else:
                action(self._executor)

        self._runtime.call(apply)

    def pause(self) -> None:
        """Sends no further calls."""
        self._control(lambda executor: executor.pause())

    def resume(self) -> None:
        """Continues, and tries stopped endpoints again."""
        self._control(lambda executor: executor.resume())

    def cancel(self) -> None:
        """Ends the run within a second; what is finished is kept."""
        self._control(lambda executor: executor.cancel())

    def look_again(self) -> None:
        """Continues where there was no room before: the run's budget or its share of an endpoint has grown."""
        self._control(lambda executor: executor.look_again())


def _executor(
    plan: RunPlan,
    store: Store,
    endpoints: Mapping[str, Endpoint],
    desks: Mapping[str, BatchDesk],
    emit: Callable[[Event], None],
) -> Executor:
    if not desks:
        return Executor(plan, store, endpoints, emit)
    # It imports the HTTP libraries, which are slow to load.
    from judgenet.engine.batch_executor import BatchExecutor

    return BatchExecutor(plan, store, endpoints, desks, emit)


OpenEndpoints = Callable[
    [Iterable[str], Mapping[str, EndpointProfile], Store, Path | None, Callable[[EndpointState], None]],
    dict[str, Endpoint],
]
"""The signature of :func:`open_endpoints`."""


class Engine:
    """The engine on its thread. One per program; several runs in different stores may go on at once.

    ``open_with`` opens the endpoints of a network in place of :func:`open_endpoints`. ``budget``, where runs share
    one, takes the place of one made from the start's limits.
    """

    def __init__(self, open_with: OpenEndpoints | None = None, budget: Budget | None = None) -> None:
        self._runtime = Runtime()
        self._open_with = open_with
        self._budget = budget

    def start(self, store: Store, start: Start, emit: Callable[[Event], None]) -> RunHandle:
        """Starts a run, or continues it. ``emit`` is called on the engine's thread: put events into a queue.

        :raises NetworkError: the design cannot run.
        :raises NotApproved: an endpoint of the network was not approved; nothing is entered in the store.
        """
        if self._open_with is None:
            require_approved(endpoints_of(start.spec), start.profiles, start.folder, start.salt)
        handle = RunHandle(self._runtime, replace(plan_run(store, start), budget=self._budget))
        handle.future = self._runtime.submit(self._go(handle, store, start, emit))
        return handle

    async def _go(self, handle: RunHandle, store: Store, start: Start, emit: Callable[[Event], None]) -> RunFinished:
        run_id = handle.run.id
        buffer = TurnBuffer(emit)

        def on_state(state: EndpointState) -> None:
            # The executor reports a stop itself, when it holds the calls back.
            if state.state != "stopped":
                buffer(EndpointChanged(run_id, state.endpoint, state.state, state.message))

        opens = self._open_with or partial(open_endpoints, salt=start.salt)
        endpoints = opens(endpoints_of(start.spec), start.profiles, store, start.folder, on_state)
        desks: dict[str, BatchDesk] = {}
        if handle.plan.by_batch:
            until = handle.plan.live_after
            desks = open_desks(endpoints_of(start.spec), start.profiles, store, start.folder, on_state, until)
        watch = ContextWatch(start.profiles, start.folder, on_state)
        try:
            if self._open_with is None:
                await watch.begin(start.spec, start.pairs)
            handle._executor = _executor(handle.plan, store, endpoints, desks, buffer)
            for action in handle._early:
                action(handle._executor)
            with fewer_collections():
                return await handle._executor.run()
        finally:
            buffer.flush()
            watch.end()
            opened: list[BatchDesk | Endpoint] = [*desks.values(), *endpoints.values()]
            await asyncio.gather(*(each.close() for each in opened), return_exceptions=True)

    def close(self) -> None:
        """Ends the runs that still go on, and the thread."""
        self._runtime.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
