"""Runs an experiment: its networks one after the other in one store, so that none pays for a call that another has
made, within one budget; and estimates it before anything is sent."""

from __future__ import annotations

import queue
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judgenet.core.calls import ROLES_LAYER
from judgenet.core.evaluation import Evaluation
from judgenet.core.events import Event, RunFinished, RunStatus
from judgenet.core.experiments import Arm, Choices, Experiment, as_wide_as, calls_alone
from judgenet.core.network import NetworkSpec, Role, needs_roles, role_limit
from judgenet.core.pairs import Pair
from judgenet.core.plan import Guesses, PriceRange, Range, cost_of, count_calls
from judgenet.core.reasoning import likely_thinking
from judgenet.core.roles import stand_in_roles
from judgenet.core.wording import money_span, whole_range
from judgenet.engine.budget import Used
from judgenet.engine.estimate import FORMS, MOST_PAIRS, Duration, time_of, time_words
from judgenet.engine.questions import Question, Questions
from judgenet.engine.session import Engine, Start, with_recorded_prompts
from judgenet.engine.work import Call
from judgenet.store.db import Store
from judgenet.store.runs import RecordedAnswer, RunInfo, recorded, run_info, run_pairs


def choices_of(start: Start, **changes: Any) -> Choices:
    """The choices of an experiment whose calls go where those of a start would go, and whose verdicts need its quorum;
    ``changes`` as fields of :class:`~judgenet.core.experiments.Choices`."""
    spec = start.spec
    given = {"quorum": spec.aggregation.quorum, **changes}
    return Choices(settings=spec.settings, language=spec.language, seed=spec.seed, **given)


# Running


@dataclass(frozen=True, slots=True)
class ExperimentStep:
    """One run of an experiment: what to start. ``number`` counts from 1, of ``total`` as far as that is known."""

    arm: Arm
    start: Start
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How an experiment ended: the state and message of its last run, ``done`` where all runs are."""

    state: RunStatus
    message: str


class Course:
    """Leads an experiment through its runs: ask :meth:`next` for a step, start it, and report its end to
    :meth:`ended`, until there is none. The same experiment in the same store goes on where it was left.

    Attributes:
        runs: the runs of each arm by its key, in order.
        used: what all starts used of the limits.
    """

    def __init__(self, store: Store, start: Start, experiment: Experiment) -> None:
        self.experiment = experiment
        self.runs: dict[str, list[str]] = {arm.key: [] for arm in experiment.arms}
        self.used = Used(0, 0, 0.0)
        self.end: Ended | None = None
        self._store = store
        self._start = start
        self._number = 0
        self._later: deque[Arm] = deque(experiment.arms)
        self._ready: deque[tuple[Arm, NetworkSpec, Sequence[Pair]]] = deque()

    def next(self) -> ExperimentStep | None:
        """The next run, ``None`` where the experiment has ended."""
        if self.end is not None:
            return None
        while not self._ready:
            if not self._later:
                self.end = Ended("done", "")
                return None
            arm = self._later.popleft()
            self._ready.extend((arm, spec, pairs) for spec, pairs in self._parts(arm))
        arm, spec, pairs = self._ready.popleft()
        self._number += 1
        start = replace(
            self._start,
            spec=spec,
            pairs=pairs,
            limits=self._start.limits.less(self.used),
            scope="roles" if arm.roles_only else "all",
            record={**self._start.record, "experiment": {"name": self.experiment.key, "arm": arm.key}},
        )
        return ExperimentStep(arm, start, self._number, self._number + len(self._ready) + len(self._later))

    def ended(self, step: ExperimentStep, run: RunInfo, finished: RunFinished, used: Used) -> None:
        """Takes in the end of a step."""
        self.runs[step.arm.key].append(run.id)
        self.used = self.used.plus(used)
        done = finished.state == "done"
        if step.arm.roles_only and finished.state == "cancelled":
            done = all(pair.roles is not None for pair in run_pairs(self._store, run))
        if not done:
            self.end = Ended(finished.state, finished.message)

    def _parts(self, arm: Arm) -> Iterator[tuple[NetworkSpec, Sequence[Pair]]]:
        """The runs of an arm: one, or one for each width where another arm's roles decide it."""
        if arm.width_of is None:
            yield arm.spec, self._start.pairs
            return
        places = {pair.id: pair for pair in self._start.pairs}
        by_width: dict[int, list[Pair]] = {}
        for run in runs_of(self._store, self.runs[arm.width_of]):
            for recorded_pair in run_pairs(self._store, run):
                if recorded_pair.roles:
                    by_width.setdefault(len(recorded_pair.roles), []).append(places[recorded_pair.pair.id])
        for width, pairs in sorted(by_width.items()):
            yield as_wide_as(arm.spec, width), pairs


_TICK_S = 0.1


def drive(
    course: Course,
    engine: Engine,
    store: Store,
    on_event: Callable[[ExperimentStep, Event], None],
    stopped: Callable[[], bool],
) -> Ended:
    """Leads an experiment to its end, on the calling thread, on which ``on_event`` is called with every event;
    ``stopped`` is asked now and then, and true ends the experiment within a second."""
    while (step := course.next()) is not None:
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        handle = engine.start(store, step.start, events.put)
        stopping = False
        while not handle.future.done() or not events.empty():
            if stopped() and not stopping:
                stopping = True
                handle.cancel()
            try:
                on_event(step, events.get(timeout=_TICK_S))
            except queue.Empty:
                continue
        course.ended(step, handle.run, handle.future.result(), handle.used)
    assert course.end is not None
    return course.end


def runs_of(store: Store, ids: Sequence[str]) -> list[RunInfo]:
    """Runs by their ids."""
    return [run_info(store, run_id) for run_id in ids]


# Estimating


@dataclass(frozen=True, slots=True)
class ExperimentEstimate:
    """The estimate of an experiment.

    ``calls`` are all calls that differ, ``calls_alone`` what its networks would ask if each ran by itself. Of the
    calls ``calls_recorded`` are in the store and free, ``calls_open`` are still to ask; tokens and price are theirs.
    ``runs`` is the number of runs. Counted on ``pairs_looked_at`` pairs, by the questions themselves; the lower end
    has few roles and short answers, the upper end many and long ones. ``price`` is ``None`` where a model's is
    unknown, and ``reason`` names it. ``duration`` is how long the open calls take.
    """

    pairs: int
    pairs_looked_at: int
    runs: int
    calls: Range
    calls_alone: Range
    calls_recorded: Range
    calls_open: Range
    tokens_in: Range
    tokens_out: Range
    price: PriceRange | None
    reason: str
    currency: str
    price_date: str
    duration: Duration

    @property
    def calls_shared(self) -> Range:
        """The calls that are saved because networks share them."""
        return Range(*(max(0, alone - asked) for alone, asked in zip(self.calls_alone, self.calls, strict=True)))

    def to_json(self) -> dict[str, Any]:
        """Stable keys; an unknown price is ``null`` with a reason."""
        return {
            "pairs": self.pairs,
            "runs": self.runs,
            "calls": list(self.calls),
            "calls_alone": list(self.calls_alone),
            "calls_shared": list(self.calls_shared),
            "calls_recorded": list(self.calls_recorded),
            "calls_open": list(self.calls_open),
            "counted_on_pairs": self.pairs_looked_at,
            "tokens_in": list(self.tokens_in),
            "tokens_out": list(self.tokens_out),
            "price": None if self.price is None else list(self.price),
            "reasons": {} if self.price is not None else {"price": self.reason},
            "currency": self.currency,
            "price_date": self.price_date,
            "seconds": [self.duration.low, self.duration.high],
            "seconds_measured": self.duration.measured,
        }

    def lines(self) -> list[tuple[str, str]]:
        """Label and text of each figure, for people."""
        looked = "" if self.pairs_looked_at >= self.pairs else f" (counted on {self.pairs_looked_at:,} of the pairs)"
        if self.price is None:
            price = f"unknown: {self.reason}"
        else:
            price = f"{money_span(*self.price, self.currency)} (prices of {self.price_date})"
        return [
            ("pairs", f"{self.pairs:,}"),
            ("runs", f"{self.runs:,}"),
            ("calls", f"{whole_range(*self.calls)}{looked}"),
            ("saved by sharing", f"{whole_range(*self.calls_shared)} of {whole_range(*self.calls_alone)}"),
            ("already paid for", whole_range(*self.calls_recorded)),
            ("still to ask", whole_range(*self.calls_open)),
            ("tokens in", whole_range(*self.tokens_in)),
            ("tokens out", whole_range(*self.tokens_out)),
            ("price", price),
            ("time", time_words(self.duration)),
        ]


MOST_CALLS = 6_000
"""The most questions that are made at each end of the range; with more, a part of the pairs stands for all."""


@dataclass(slots=True)
class _Sums:
    """The sums of one pair, or of all that were looked at, at one end of the range."""

    calls: int = 0
    alone: int = 0
    recorded: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    price: float = 0.0
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The open calls of each endpoint and model."""


def estimate_experiment(
    start: Start, experiment: Experiment, store: Store | None, *, check: Callable[[], object] = lambda: None
) -> ExperimentEstimate:
    """Calls, shared calls, tokens and price of an experiment; ``store`` (``None``: there is none yet) holds what is
    paid for.

    Every question is made as it would be sent, with stand-ins where an answer is not known, and counted once:
    whatever two networks share, it is seen. ``check`` is called for each pair and may raise to end the work.
    """
    if store is not None:
        part = {**start.record, "experiment": {"name": experiment.key}}
        start = replace(start, book=with_recorded_prompts(store, replace(start, record=part)).book)
    pairs, guesses = list(start.pairs), Guesses()
    unlimited = any(needs_roles(arm.spec) and role_limit(arm.spec) is None for arm in experiment.arms)
    usual = Range(*guesses.roles) if unlimited else Range(1, 1)
    most = sum(count_calls(arm.spec).total for arm in experiment.arms)
    step = max(1, -(-len(pairs) // max(1, min(MOST_PAIRS, MOST_CALLS // most))))
    looked_at = pairs[::step]
    ends = [_Sums(), _Sums()]
    unknown: set[str] = set()
    for pair in looked_at:
        for end, sums in enumerate(ends):
            check()
            _count_pair(start, experiment, store, pair, (usual[end], end, guesses), sums, unknown)
    scale = len(pairs) / len(looked_at) if looked_at else 0.0
    return _estimate(start, experiment, store, len(looked_at), ends, scale, unknown)


def _estimate(
    start: Start,
    experiment: Experiment,
    store: Store | None,
    looked_at: int,
    ends: Sequence[_Sums],
    scale: float,
    unknown: set[str],
) -> ExperimentEstimate:
    """The estimate by the sums at both ends, over the pairs that were looked at, scaled to all."""

    def both(count: Callable[[_Sums], int]) -> Range:
        return Range(*sorted(round(scale * count(sums)) for sums in ends))

    price = None if unknown else PriceRange(*sorted(scale * sums.price for sums in ends))
    asked = {
        key: (min(counts), max(counts))
        for key in sorted(ends[0].asked.keys() | ends[1].asked.keys())
        for counts in [[scale * sums.asked[key] for sums in ends]]
    }
    return ExperimentEstimate(
        pairs=len(start.pairs),
        pairs_looked_at=looked_at,
        runs=len(experiment.arms),
        calls=both(lambda sums: sums.calls),
        calls_alone=both(lambda sums: sums.alone),
        calls_recorded=both(lambda sums: sums.recorded),
        calls_open=both(lambda sums: sums.calls - sums.recorded),
        tokens_in=both(lambda sums: sums.tokens_in),
        tokens_out=both(lambda sums: sums.tokens_out),
        price=price,
        reason="; ".join(sorted(unknown)),
        currency=start.prices.currency,
        price_date=start.prices.date,
        duration=time_of(asked, start, store),
    )


def _count_pair(
    start: Start,
    experiment: Experiment,
    store: Store | None,
    pair: Pair,
    guessed: tuple[int, int, Guesses],
    sums: _Sums,
    unknown: set[str],
) -> None:
    """Follows a pair through all networks, each question counted once."""
    roles_guessed, end, guesses = guessed
    salt = start.salt if store is None else store.salt(start.salt)
    seen: set[bytes] = set()
    widths: dict[str, int] = {}
    for arm in experiment.arms:
        spec = arm.spec if arm.width_of is None else as_wide_as(arm.spec, widths[arm.width_of])
        questions = Questions(spec, start.book, salt, stand_in_roles)
        work, first = questions.take_up(0, pair)
        ready = deque(first)
        while ready:
            call = ready.popleft()
            question, answer = _looked_up(questions, call, store)
            of_roles = call.site.layer == ROLES_LAYER
            if question.key not in seen:
                seen.add(question.key)
                sums.calls += 1
                if answer is not None:
                    sums.recorded += 1
                else:
                    written = _answer_tokens(call, of_roles, end, guesses)
                    written += likely_thinking(call.settings.reasoning)[end]
                    _add_open_call(start, call, question, written, sums, unknown)
            if answer is not None:
                said, _ = questions.read(call, question.form, answer)
            elif of_roles:
                limit = role_limit(spec)
                said = _some_roles(question.key, roles_guessed if limit is None else limit)
            else:
                said = _evaluation(question.key, _answer_tokens(call, False, end, guesses))
            if of_roles:
                layer_1 = work.set_roles(*questions.roles_of(work, said))
                ready.extend(() if arm.roles_only else layer_1)
            elif not isinstance(said, tuple):
                ready.extend(work.finish(call.site, said)[0])
        widths[arm.key] = spec.layers[0].width or len(work.roles or ())
        if needs_roles(spec):
            widths[arm.key] = len(work.roles or ())
    sums.alone += calls_alone(experiment, widths)


def _looked_up(questions: Questions, call: Call, store: Store | None) -> tuple[Question, RecordedAnswer | None]:
    if store is not None:
        for form in FORMS:
            question = questions.question(call, form)
            answer = recorded(store, question.key)
            if answer is not None:
                return question, answer
    return questions.question(call, FORMS[0]), None


def _answer_tokens(call: Call, of_roles: bool, end: int, guesses: Guesses) -> int:
    usual = guesses.roles_answer if of_roles else guesses.answer if call.work.spec.evidence else guesses.bare_answer
    return min(usual[end], call.settings.max_tokens or usual[end])


def _add_open_call(
    start: Start, call: Call, question: Question, tokens_out: int, sums: _Sums, unknown: set[str]
) -> None:
    endpoint, model = call.settings.endpoint or "", call.settings.model or ""
    kind = start.profiles[endpoint].kind if endpoint in start.profiles else ""
    tokens_in = question.prompt.tokens(kind, model)
    sums.tokens_in += tokens_in
    sums.tokens_out += tokens_out
    sums.asked[endpoint, model] += 1
    price = start.prices.find(model, endpoint, kind)
    if price is None:
        unknown.add(f"the price of {model or 'the model'} at {endpoint or 'no endpoint'} is unknown")
    else:
        sums.price += cost_of(price, tokens_in, tokens_out)


def _some_roles(key: bytes, count: int) -> tuple[Role, ...]:
    """Stand-ins that differ where the question differs."""
    return tuple(
        Role(f"Role {place} {key.hex()[:8]}", "What the model will say of it.") for place in range(1, count + 1)
    )


def _evaluation(key: bytes, tokens: int) -> Evaluation:
    """A stand-in that differs where the question differs, as long as an answer is assumed to be."""
    return Evaluation(f"{key.hex()} ".ljust(4 * tokens, "x"), "tie", 5.0, 5.0)
