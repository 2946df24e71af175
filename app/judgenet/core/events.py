"""The events of a run: frozen values that have a JSON form, named in the past tense.

A finished call is on disk before its event is emitted.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Literal

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import ScoreSource, VerdictShares
from judgenet.core.pairs import Order, Verdict

RunStatus = Literal["running", "paused", "done", "enough", "budget", "halted", "cancelled", "failed"]
"""``enough``: its rule is met, and the other pairs were not asked. ``halted``: the rest waits for an endpoint that
stopped. ``budget``: a limit was reached."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """``calls_planned`` counts roles, neurons and chair of all pairs as designed; ``pairs_done`` were finished
    by an earlier start of the same run, ``pairs_left`` of the others are left for a later one."""

    run_id: str
    pairs: int
    pairs_done: int
    calls_planned: int
    pairs_left: int = 0


class _OfCall:
    """An event of one call."""

    __slots__ = ()
    pair: int
    layer: int
    neuron: int
    order: Order | None
    sample: int

    @property
    def site(self) -> CallSite:
        """The place of the call in the run."""
        return CallSite(self.pair, self.layer, self.neuron, self.order, self.sample)


@dataclass(frozen=True, slots=True)
class CallStarted(_OfCall):
    """A call was sent to its endpoint."""

    run_id: str
    pair: int
    layer: int
    neuron: int
    order: Order | None
    sample: int


@dataclass(frozen=True, slots=True)
class CallText(_OfCall):
    """A piece of an answer, while it is written."""

    run_id: str
    pair: int
    layer: int
    neuron: int
    order: Order | None
    sample: int
    text: str


@dataclass(frozen=True, slots=True)
class CallFinished(_OfCall):
    """A call has its evaluation (or roles), or the reason why it has none.

    ``cached``: the answer was in the store already and cost nothing now. ``price`` is in the table's
    currency, ``None`` where the model's price is unknown. Tokens count this run's spending only. ``stand_in`` is who
    answered in place of the neuron's own model, as ``endpoint/model``; empty where it did itself.
    """

    run_id: str
    pair: int
    layer: int
    neuron: int
    order: Order | None
    sample: int
    status: Literal["scored", "unscored", "roles"]
    reason: str | None
    verdict: Verdict | None
    score_a: float | None
    score_b: float | None
    cached: bool
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    price: float | None
    latency_s: float
    attempts: int
    shares: VerdictShares | None = None
    scores_from: ScoreSource | None = None
    stand_in: str = ""
    sampled: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class RolesFound:
    """The roles of a pair. ``note`` says where they differ from the design (fewer, fallback)."""

    run_id: str
    pair: int
    roles: tuple[tuple[str, str], ...]
    note: str


@dataclass(frozen=True, slots=True)
class LayerFinished:
    """All calls of a layer of a pair are in."""

    run_id: str
    pair: int
    layer: int


@dataclass(frozen=True, slots=True)
class PairFinished:
    """All calls of a pair are in. ``verdicts`` maps each aggregation (c1, c2_l1, …, c2_all, chair) to a verdict,
    ``None`` where no valid call exists in its scope. ``open_calls`` brought no answer and will be asked again
    by the next start. ``stopped_after`` is the layer and the neuron, both from 1, after which a stop rule decided the
    pair early; ``calls_total`` are then those that were asked. ``for_people``: its verdict is not sure enough for the
    acceptance rule, so that there is no accepted one. ``no_quorum`` are the aggregations that have no verdict because
    too few neurons have a valid answer."""

    run_id: str
    pair: int
    pair_id: str
    human: Verdict | None
    verdicts: tuple[tuple[str, Verdict | None], ...]
    calls_used: int
    calls_total: int
    open_calls: int
    stopped_after: tuple[int, int] | None = None
    for_people: bool = False
    no_quorum: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndpointChanged:
    """An endpoint slows down, waits, stops, recovers, or learned something; ``message`` is for people.

    ``away``: it is not reached any more, and the run pauses for it. ``failing``: a call failed; only the first failure
    for each reason is reported."""

    run_id: str
    endpoint: str
    state: Literal["open", "slow", "waiting", "away", "failing", "stopped", "learned"]
    message: str


@dataclass(frozen=True, slots=True)
class BatchesChanged:
    """The progress of an endpoint's batches whose results are not in: ``answered`` of ``calls`` calls in ``batches``.

    The calls are of ``stage`` of ``stages``: roles, the layers, the chair; ``layer`` is 0 for roles. ``until`` is when
    they should be back, in seconds since the epoch, ``None`` where nothing tells. ``message`` says the same, for
    people."""

    run_id: str
    endpoint: str
    stage: int
    stages: int
    layer: int
    batches: int
    answered: int
    calls: int
    until: float | None
    message: str


@dataclass(frozen=True, slots=True)
class StoreTrouble:
    """The store cannot be written (disk full, locked), or its file is gone. The run waits; an event with an empty
    ``message`` says that writing works again."""

    run_id: str
    message: str


@dataclass(frozen=True, slots=True)
class RunChanged:
    """The run was paused or goes on."""

    run_id: str
    state: RunStatus


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run ended. ``message`` says why where ``state`` is not ``done``."""

    run_id: str
    state: RunStatus
    message: str
    pairs_done: int
    pairs: int


Event = (
    RunStarted
    | CallStarted
    | CallText
    | CallFinished
    | RolesFound
    | LayerFinished
    | PairFinished
    | EndpointChanged
    | BatchesChanged
    | StoreTrouble
    | RunChanged
    | RunFinished
)


def event_json(event: Event) -> dict[str, Any]:
    """The event as a JSON object, with its name under ``event`` (``call_finished``)."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
    return {"event": name, **asdict(event)}
