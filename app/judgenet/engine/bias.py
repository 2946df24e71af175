"""Runs a bias lab: each judge answers all prompts of the lab in a run of its own, through the engine as any run.

Every prompt of the lab has one order, and everything a network does on it happens in that order: a neuron reads the
evaluations of the same order only. "The network, asked once with A first and once with B first" thus means two whole
passes that know nothing of each other, and a neuron, a layer's vote and an aggregation each have one answer to a
prompt, as a single judge has. (In an ordinary run layer 2 reads both orders: its answers are not two looks.)
Layer 1 asks the very questions of an ordinary run; roles are asked once per pair, whatever the lab says besides.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from judgenet.core import network_json, presets
from judgenet.core.bias.base import BiasError
from judgenet.core.bias.lab import BuiltLab, lab_id
from judgenet.core.cascade import without_stop_rules
from judgenet.core.events import Event, RunFinished, RunStatus
from judgenet.core.network import NetworkSpec, needs_roles
from judgenet.core.pairs import Pair
from judgenet.core.plan import PriceRange, Range, RunTotals, count_calls, estimate
from judgenet.core.roles import stand_in_roles
from judgenet.core.tally import Tally
from judgenet.core.wording import money_span, whole_range
from judgenet.engine.budget import Limits
from judgenet.engine.estimate import (
    FORMS,
    MOST_PAIRS,
    Duration,
    RunEstimate,
    duration_of,
    estimate_run,
    recorded_calls,
    time_words,
)
from judgenet.engine.questions import Questions
from judgenet.engine.session import Engine, RunHandle, Start
from judgenet.store.db import Store
from judgenet.store.labs import LAB_RECORD, LabJudge, keep_lab
from judgenet.store.runs import has_calls, recorded

LAB_JUDGES: tuple[LabJudge, ...] = ("single", "faireval", "network")
USUAL_JUDGES: tuple[LabJudge, ...] = ("single", "network")
NEURONS = "neurons"
"""The name in a list of judges that asks for each neuron of the network too."""


def chosen_judges(names: Sequence[str]) -> tuple[tuple[LabJudge, ...], bool]:
    """The judges of a list such as ``network``, ``single``, ``neurons``, and whether each neuron is shown.

    :raises BiasError: an unknown name, or none.
    """
    there = f"the judges are {', '.join(LAB_JUDGES)} and {NEURONS}."
    for name in names:
        if name not in (*LAB_JUDGES, NEURONS):
            raise BiasError(f"There is no judge {name!r}; {there}")
    judges = tuple(judge for judge in LAB_JUDGES if judge in names or (judge == "network" and NEURONS in names))
    if not judges:
        raise BiasError(f"No judge is named; {there}")
    return judges, NEURONS in names


def single_of(spec: NetworkSpec) -> NetworkSpec:
    """The single judge on a network's own model: one call without a role, with evidence where the network gives it."""
    single = presets.network(1, 1, roles="none", orders="ab", evidence=spec.evidence, name="Single judge")
    settings = replace(spec.settings, samples=1)
    return replace(single, settings=settings, language=spec.language, family=spec.family, seed=spec.seed)


def faireval_of(spec: NetworkSpec) -> NetworkSpec:
    """FairEval's multiple evidence on a network's own model: three samples at temperature 1, averaged (arXiv
    2305.17926). Its other half, both orders, cannot be measured on a prompt of one order."""
    single = single_of(spec)
    settings = replace(single.settings, samples=3, temperature=1.0)
    return replace(single, settings=settings, evidence=True, name="FairEval, 3 samples")


def lab_of(base: Start, built: BuiltLab) -> str:
    """The id of the lab in which the network of a start is asked about these prompts."""
    return lab_id(built, asked_of(base.spec))


def asked_of(spec: NetworkSpec) -> str:
    """The digest of a network (with its models) as a lab asks it."""
    return network_json.digest(_in_lab(spec))


def _in_lab(spec: NetworkSpec) -> NetworkSpec:
    """A network as a lab asks it: in one order a prompt, and every call of every prompt. With stop rules the later
    neurons would be measured only on the prompts on which the earlier ones are unsure; and a rule that accepts sure
    verdicts alone would hide how the others are biased."""
    rules = replace(spec.aggregation, acceptance=None)
    return replace(without_stop_rules(spec), orders="ab", aggregation=rules)


def lab_starts(base: Start, built: BuiltLab, judges: Sequence[LabJudge] = USUAL_JUDGES) -> dict[LabJudge, Start]:
    """The start of each judge. ``base`` is the start of the network on the pairs; its pairs are replaced."""
    specs = {
        "single": single_of(base.spec),
        "faireval": faireval_of(base.spec),
        "network": _in_lab(base.spec),
    }
    lab = lab_of(base, built)
    return {
        judge: replace(
            base,
            spec=specs[judge],
            pairs=built.prompts,
            record={**base.record, LAB_RECORD: lab, "judge": judge},
            until=None,
            auto_matches=False,
        )
        for judge in LAB_JUDGES
        if judge in judges
    }


# What it costs


@dataclass(frozen=True, slots=True)
class LabEstimate:
    """The estimate of a lab, judge by judge. ``shared`` is the number of calls that prompts or judges have in common:
    made once, paid once."""

    judges: dict[LabJudge, RunEstimate]
    shared: int
    prompts: int

    @property
    def calls(self) -> Range:
        """All calls of all judges."""
        return _sum([judge.estimate.calls for judge in self.judges.values()])

    @property
    def calls_open(self) -> Range:
        """The calls that are still to be paid."""
        return _sum([judge.estimate.calls_open for judge in self.judges.values()])

    @property
    def recorded(self) -> int:
        """The calls that are answered already."""
        return sum(judge.estimate.calls_recorded for judge in self.judges.values()) - self.shared

    @property
    def price(self) -> PriceRange | None:
        """The price of the open calls, ``None`` where a model's is unknown."""
        prices = [judge.estimate.price for judge in self.judges.values()]
        known = [price for price in prices if price is not None]
        if len(known) < len(prices):
            return None
        return PriceRange(sum(price.low for price in known), sum(price.high for price in known))

    @property
    def seconds(self) -> Duration:
        """How long it takes, one judge after the other."""
        durations = [judge.duration for judge in self.judges.values()]
        return Duration(
            sum(duration.low for duration in durations),
            sum(duration.high for duration in durations),
            all(duration.measured for duration in durations),
        )

    def to_json(self) -> dict[str, Any]:
        """Stable keys; an unknown price is ``null`` with a reason."""
        price = self.price
        reasons = [
            judge_estimate.estimate.reason for judge_estimate in self.judges.values() if judge_estimate.estimate.reason
        ]
        return {
            "prompts": self.prompts,
            "calls": list(self.calls),
            "calls_shared": self.shared,
            "calls_recorded": self.recorded,
            "calls_open": list(self.calls_open),
            "price": None if price is None else list(price),
            "price_reason": "; ".join(dict.fromkeys(reasons)) or None,
            "reasons": {} if price is not None else {"price": "; ".join(dict.fromkeys(reasons))},
            "currency": next(iter(self.judges.values())).estimate.currency,
            "seconds": [self.seconds.low, self.seconds.high],
            "seconds_measured": self.seconds.measured,
            "judges": {judge: judge_estimate.to_json() for judge, judge_estimate in self.judges.items()},
        }

    def lines(self) -> list[tuple[str, str]]:
        """Label and text of each figure, for people."""
        price = self.price
        first_judge = next(iter(self.judges.values())).estimate
        reasons = dict.fromkeys(judge.estimate.reason for judge in self.judges.values() if judge.estimate.reason)
        return [
            ("prompts", f"{self.prompts:,} for each of {len(self.judges)} judges"),
            ("calls", whole_range(*self.calls)),
            ("shared calls, made once", f"{self.shared:,}"),
            ("already paid for", f"{self.recorded:,}"),
            ("still to ask", whole_range(*self.calls_open)),
            (
                "price",
                f"unknown: {'; '.join(reasons)}"
                if price is None
                else f"{money_span(*price, first_judge.currency)} (prices of {first_judge.price_date})",
            ),
            ("time", time_words(self.seconds)),
        ]


def estimate_lab(starts: Mapping[LabJudge, Start], store: Store | None) -> LabEstimate:
    """Calls, price and time of a lab; ``store`` holds the answers that are paid for already."""
    judges: dict[LabJudge, RunEstimate] = {}
    shared = 0
    earlier: set[bytes] = set()
    for judge, start in starts.items():
        run_estimate = estimate_run(start, store)
        once = _shared_within(start, store) + _shared_with(earlier, start, store)
        if once:
            less = _with_recorded(start, run_estimate.estimate, once)
            run_estimate = replace(run_estimate, estimate=less, duration=duration_of(less, start, store))
        shared += once
        judges[judge] = run_estimate
    return LabEstimate(judges, shared, len(next(iter(starts.values())).pairs))


def _shared_within(start: Start, store: Store | None) -> int:
    """Calls that are made for one prompt and then serve others: all calls for a prompt with the same texts, role
    generation for one of the same pair, since what the lab adds does not change roles. With many prompts, a part
    spread over all is looked up in the store."""
    whole = _open_for_others(start, store, _grouped(start.pairs, shown=True), count_calls(start.spec).total)
    if not needs_roles(start.spec):
        return whole
    return whole + _open_for_others(start, store, _grouped(_distinct(start), shown=False), 1)


def _distinct(start: Start) -> list[Pair]:
    return [some[0] for some in _grouped(start.pairs, shown=True)]


def _grouped(pairs: Iterable[Pair], *, shown: bool) -> list[list[Pair]]:
    """Prompts of the same texts; without ``shown`` whatever the lab says besides."""
    alike: dict[tuple[str, int], list[Pair]] = {}
    for pair in pairs:
        repeat = 0 if pair.shown is None else pair.shown.repeat
        seen = pair if shown else replace(pair, shown=None)
        alike.setdefault((seen.content_hash, repeat), []).append(pair)
    return list(alike.values())


def _open_for_others(start: Start, store: Store | None, groups: Sequence[Sequence[Pair]], calls: int) -> int:
    """``calls`` for each prompt of a group beyond the first, less those that are recorded."""
    shared = sum(len(some) - 1 for some in groups) * calls
    if not shared or store is None or not has_calls(store):
        return shared
    groups = [some for some in groups if len(some) > 1]
    looked_at = groups[:: -(-len(groups) // MOST_PAIRS)]
    counted = sum(len(some) - 1 for some in looked_at) * calls
    still_open = sum(
        (len(some) - 1) * max(0, calls - recorded_calls(start, store, some[:1]).recorded) for some in looked_at
    )
    return round(shared * still_open / counted)


def _shared_with(earlier: set[bytes], start: Start, store: Store | None) -> int:
    """First calls of a judge that an earlier one asks too, and that are not recorded: the first neuron of a layer
    without roles asks what the single judge asks. Takes the judge's own into ``earlier``. With many prompts, a part
    spread over all is taken for the whole."""
    salt = start.salt if store is None else store.salt(start.salt)
    questions = Questions(start.spec, start.book, salt, stand_in_roles)
    prompts = _distinct(start)
    looked_at = prompts[:: -(-len(prompts) // MOST_PAIRS)]
    some_kept = store is not None and has_calls(store)
    keys: list[bytes] = []
    shared = 0
    for index, pair in enumerate(looked_at):
        for call in questions.take_up(index, pair)[1]:
            forms = [questions.question(call, form).key for form in FORMS]
            keys.append(forms[0])
            kept = some_kept and store is not None and any(recorded(store, key) is not None for key in forms)
            shared += forms[0] in earlier and not kept
    earlier.update(keys)
    return round(shared * len(prompts) / len(looked_at))


def _with_recorded(start: Start, run_totals: RunTotals, more: int) -> RunTotals:
    kinds = {name: profile.kind for name, profile in start.profiles.items()}
    known = run_totals.calls_recorded + more
    return estimate(start.spec, start.pairs, start.prices, recorded=known, settled=run_totals.settled, kinds=kinds)


def _sum(ranges: Sequence[Range]) -> Range:
    return Range(sum(each.low for each in ranges), sum(each.high for each in ranges))


# Running it


@dataclass(frozen=True, slots=True)
class LabFinished:
    """How a lab ended: the state and message of the run that ended it, ``done`` where all did, and what is left of the
    limits."""

    lab: str
    state: RunStatus
    message: str
    left: Limits


class LabHandle:
    """A lab that runs: one judge's run after the other, on a thread of its own. All methods may be called from any
    thread. ``future`` holds the end; the limits of the start hold for all runs together."""

    def __init__(
        self,
        engine: Engine,
        store: Store,
        lab: str,
        starts: Mapping[LabJudge, Start],
        emit: Callable[[Event], None],
        *,
        began: Callable[[Mapping[LabJudge, str]], None],
    ) -> None:
        self.lab = lab
        self.future: Future[LabFinished] = Future()
        self._engine = engine
        self._store = store
        self._starts = starts
        self._emit = emit
        self._began = began
        self._guard = threading.Lock()
        self._handle: RunHandle | None = None
        self._cancelled = False
        self._paused = False
        self._thread = threading.Thread(target=self._run, name="judgenet-lab", daemon=True)

    def start(self) -> LabHandle:
        """Begins, and returns the handle itself."""
        self._thread.start()
        return self

    def pause(self) -> None:
        """Sends no further call."""
        self._change("_paused", True, RunHandle.pause)

    def resume(self) -> None:
        """Goes on, and tries stopped endpoints again."""
        self._change("_paused", False, RunHandle.resume)

    def cancel(self) -> None:
        """Ends the lab within a second; what is finished is kept, and a new start goes on from there."""
        self._change("_cancelled", True, RunHandle.cancel)

    def _change(self, name: str, value: bool, action: Callable[[RunHandle], None]) -> None:
        with self._guard:
            setattr(self, name, value)
            if self._handle is not None:
                action(self._handle)

    def _run(self) -> None:
        try:
            self.future.set_result(self._run_all())
        except BaseException as error:
            self.future.set_exception(error)

    def _run_all(self) -> LabFinished:
        limits = next(iter(self._starts.values())).limits
        finished: RunFinished | None = None
        for judge, start in self._starts.items():
            tally = Tally()

            def take(event: Event, tally: Tally = tally) -> None:
                tally.take(event)
                self._emit(event)

            with self._guard:
                if self._cancelled:
                    return LabFinished(self.lab, "cancelled", "Stopped. The same command goes on from here.", limits)
                handle = self._handle = self._engine.start(self._store, replace(start, limits=limits), take)
                self._began({judge: handle.run.id})
                if self._paused:
                    handle.pause()
            finished = handle.future.result()
            limits = _left(limits, tally)
            if finished.state != "done":
                return LabFinished(self.lab, finished.state, finished.message, limits)
        assert finished is not None
        return LabFinished(self.lab, "done", finished.message, limits)


def _left(limits: Limits, tally: Tally) -> Limits:
    """What is left of the limits for the next judge."""
    tokens = tally.tokens_in + tally.tokens_out
    return Limits(
        None if limits.max_calls is None else max(0, limits.max_calls - (tally.calls - tally.calls_cached)),
        None if limits.max_tokens is None else max(0, limits.max_tokens - tokens),
        None if limits.max_price is None else max(0.0, limits.max_price - tally.price),
    )


def start_lab(
    engine: Engine,
    store: Store,
    base: Start,
    built: BuiltLab,
    judges: Sequence[LabJudge],
    emit: Callable[[Event], None],
) -> LabHandle:
    """Starts a lab, or goes on with it. ``emit`` hears the events of its runs, one run after the other, on the engine's
    thread.

    :raises NetworkError: (of the handle's future) the network cannot run.
    """
    starts = lab_starts(base, built, judges)
    lab = lab_of(base, built)
    keep_lab(store, lab, built.lab, {})

    def began(runs: Mapping[LabJudge, str]) -> None:
        keep_lab(store, lab, built.lab, runs)

    return LabHandle(engine, store, lab, starts, emit, began=began).start()
