"""The pairs of a start: which begins next, how each continues when a call ends, and when it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from judgenet.core.calls import ROLES_LAYER
from judgenet.core.events import Event, LayerFinished, PairFinished, RolesFound
from judgenet.core.network import NetworkError, NetworkSpec
from judgenet.core.pairs import Pair
from judgenet.core.plan import PriceTable
from judgenet.core.prompts import PromptBook
from judgenet.engine.asked_calls import EndedCall
from judgenet.engine.budget import Budget, Limits
from judgenet.engine.pair_choice import Enough, InOrder, Steering
from judgenet.engine.questions import FallbackRoles, Questions
from judgenet.engine.work import Call, PairWork
from judgenet.store.db import Store
from judgenet.store.runs import PairState, RunInfo, retryable, write_pair

Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything that the executor needs for a start of a run.

    ``states`` are the pairs' states from earlier starts, by index; ``kinds`` are the kinds of the endpoints by name,
    for prices. ``chosen`` are the pairs of this start, ``None`` for all. ``budget`` takes the place of one made from
    the limits. ``stream`` requests answers piece by piece. ``roles_only`` requests the pairs' roles and leaves the rest
    open. ``again`` repeats calls whose kept answers cannot be read. ``steering`` chooses the order of the pairs and may
    end the run; without it they are begun in their order. ``begun`` are the pairs with calls of earlier starts, where
    the run may end before every pair has begun. ``by_batch`` sends calls in batches, until ``live_after`` (seconds
    since the epoch) where that is given.
    """

    run: RunInfo
    spec: NetworkSpec
    pairs: Sequence[Pair]
    states: Sequence[PairState]
    book: PromptBook
    salt: str
    prices: PriceTable
    fallback_roles: FallbackRoles
    calls_planned: int
    kinds: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    budget: Budget | None = None
    stream: bool = False
    chosen: frozenset[int] | None = None
    roles_only: bool = False
    again: bool = False
    steering: Steering | None = None
    begun: frozenset[int] = frozenset()
    by_batch: bool = False
    live_after: float | None = None

    def asks(self, index: int) -> bool:
        """Whether this start works on a pair."""
        return self.states[index] != "done" and (self.chosen is None or index in self.chosen)


class PairsUnderWay:
    """The pairs of a start that have begun and are not done, and counts of the others. Runs on the engine's loop.

    ``emit`` gets the events of pairs; ``call_soon`` runs a function of the store's thread on the loop.

    Attributes:
        done: the number of pairs that are done, including those of earlier starts.
        left: the number of pairs that another start continues.
    """

    def __init__(
        self,
        plan: RunPlan,
        store: Store,
        questions: Questions,
        emit: Emit,
        call_soon: Callable[[Callable[[], None]], None],
    ) -> None:
        self._plan = plan
        self._store = store
        self._questions = questions
        self._emit = emit
        self._call_soon = call_soon
        self._steering = plan.steering or InOrder(range(len(plan.pairs)))
        self._turn = 0
        self._begun = set(plan.begun)
        self._active: dict[int, PairWork] = {}
        self.done = sum(state == "done" for state in plan.states)
        self.left = len(plan.pairs) - self.done - sum(plan.asks(index) for index in range(len(plan.pairs)))

    def __len__(self) -> int:
        return len(self._active)

    @property
    def enough(self) -> Enough | None:
        """Why the run should stop now, ``None`` while it should not."""
        return self._steering.enough

    @property
    def never_begun(self) -> int:
        """The number of pairs without any call."""
        return len(self._plan.pairs) - len(self._begun)

    def take_up(self) -> Sequence[Call] | None:
        """The first calls of the next pair that this start works on; ``None`` where there is none now."""
        while (index := self._steering.next_pair()) is not None:
            if self._plan.asks(index):
                break
        else:
            return None
        return self._begin(index)

    def _begin(self, index: int) -> Sequence[Call]:
        work, calls = self._questions.take_up(index, self._plan.pairs[index])
        if not calls:
            raise NetworkError(f"The network asks nothing of pair {work.pair.id}: it has no neuron.")
        work.turn = self._turn
        self._turn += 1
        self._active[index] = work
        return calls

    def begun(self, index: int) -> None:
        """Notes that a pair has a call in the store."""
        self._begun.add(index)

    def advance(self, ended: EndedCall) -> Sequence[Call]:
        """Records the result of a call. Returns the calls that are ready now."""
        work, site, result = ended.call.work, ended.call.site, ended.result
        ready: Sequence[Call] = ()
        if site.layer == ROLES_LAYER:
            if not isinstance(result, tuple):
                work.open_calls += retryable(result)
            roles, note = self._questions.roles_of(work, result)
            ready = work.set_roles(roles, note)
            run_id = self._plan.run.id
            self._emit(RolesFound(run_id, work.index, tuple((r.name, r.description) for r in roles), note))
            if self._plan.roles_only:
                self._leave(work)
                return ()
        elif not isinstance(result, tuple):
            work.open_calls += retryable(result)
            ready, complete = work.finish(site, result)
            if complete:
                self._emit(LayerFinished(self._plan.run.id, work.index, site.layer))
        if work.done:
            self._finish(work)
        return ready

    def _leave(self, work: PairWork) -> None:
        """Keeps the roles of a pair that another start continues."""
        run, roles, note, total = self._plan.run.number, work.roles, work.note, work.calls_total
        del self._active[work.index]
        self.left += 1
        self._store.put(lambda db: write_pair(db, run, work.index, "open", roles, note, total))

    def _finish(self, work: PairWork) -> None:
        run = self._plan.run.number
        state: PairState = "failed" if work.open_calls else "done"
        roles, note, total, sites = work.roles, work.note, work.calls_total, work.results.keys()
        del self._active[work.index]
        self.done += 1
        verdicts = work.verdicts()
        event = PairFinished(
            self._plan.run.id,
            work.index,
            work.pair.id,
            work.pair.human,
            tuple(verdicts.named().items()),
            verdicts.calls_used,
            verdicts.calls_total,
            work.open_calls,
            None if work.stop is None else (work.stop.layer, work.stop.neuron),
            verdicts.for_people,
            verdicts.no_quorum,
        )
        self._steering.take(work.index, dict(event.verdicts))
        self._store.put(
            lambda db: write_pair(db, run, work.index, state, roles, note, total, sites),
            event,
            self._on_commit,
        )

    def _on_commit(self, batch: Sequence[PairFinished]) -> None:
        # On the store's thread.
        self._call_soon(lambda: self._emit_all(batch))

    def _emit_all(self, batch: Sequence[PairFinished]) -> None:
        for event in batch:
            self._emit(event)
