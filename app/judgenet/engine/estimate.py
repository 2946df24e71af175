"""What a run would cost, with what is already paid for counted from the store."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judgenet.core.calls import ROLES_LAYER, CallSite
from judgenet.core.cascade import has_stop_rules
from judgenet.core.checks import copies_words
from judgenet.core.network import asked_settings, needs_roles, stand_ins
from judgenet.core.pairs import Pair
from judgenet.core.plan import NONE_SETTLED, ExpectedCalls, RunTotals, Settled, StandInPrice, count_calls, estimate
from judgenet.core.reasoning import likely_thinking, reasoning_words
from judgenet.core.roles import stand_in_roles
from judgenet.core.schemas import ReplyForm
from judgenet.core.wording import duration_range, money_span, plural, whole_range
from judgenet.engine.questions import Questions
from judgenet.engine.session import Start, fingerprint, with_recorded_prompts
from judgenet.store.db import Store
from judgenet.store.pace import throughput
from judgenet.store.runs import has_calls, mean_latency, recorded, runs, stood_in_calls

# Whether an endpoint takes schemas is known only after a call: a recorded answer may be in either form.
FORMS: tuple[ReplyForm, ...] = ("json", "text")

MOST_PAIRS = 200
MOST_CALLS = 20_000
"""Pairs and calls that are looked up in the store; with more, a part spread over all is taken for the whole."""

USUAL_LATENCY_S = 5.0
"""Seconds that an answer is assumed to take where none of its model was measured yet."""


class Duration(NamedTuple):
    """How long a run takes, in seconds. ``measured`` is false where :data:`USUAL_LATENCY_S` was
    assumed for some model."""

    low: float
    high: float
    measured: bool


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """An estimate, how the recorded calls were counted (on ``pairs_looked_at`` of all pairs), how long the open
    calls take, and which neurons ask the very same question, in words. ``thinking`` are the reasoning settings in
    force, each with the thinking tokens that are assumed for a call (from, to)."""

    estimate: RunTotals
    pairs_looked_at: int
    duration: Duration
    copies: str = ""
    thinking: tuple[tuple[int | str, tuple[int, int]], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Stable keys; an unknown price is ``null`` with a reason."""
        totals = self.estimate
        return {
            "pairs": totals.pairs,
            "calls": list(totals.calls),
            **({} if totals.expected is None else {"expected": _expected_json(totals.expected)}),
            "calls_recorded": totals.calls_recorded,
            "calls_recorded_from_pairs": self.pairs_looked_at,
            "calls_open": list(totals.calls_open),
            "tokens_in": list(totals.tokens_in),
            "tokens_out": list(totals.tokens_out),
            "price": None if totals.price is None else list(totals.price),
            "price_reason": totals.reason or None,
            "reasons": {} if totals.price is not None else {"price": totals.reason},
            **({} if totals.batch_price is None else {"batch_price": list(totals.batch_price)}),
            **_stand_in_json(totals.stand_in),
            "currency": totals.currency,
            "price_date": totals.price_date,
            "seconds": [self.duration.low, self.duration.high],
            "seconds_measured": self.duration.measured,
            "copies": self.copies,
            **({"thinking": {str(name): list(tokens) for name, tokens in self.thinking}} if self.thinking else {}),
            "models": [
                {
                    "endpoint": model.endpoint,
                    "model": model.model,
                    "calls": list(model.calls),
                    "tokens_in": list(model.tokens_in),
                    "tokens_out": list(model.tokens_out),
                    "price": None if model.price is None else list(model.price),
                    "price_reason": model.reason or None,
                    "reasons": {} if model.price is not None else {"price": model.reason},
                }
                for model in totals.models
            ],
        }

    def line(self) -> str:
        """The estimate in one line, for people."""
        shown = dict(self.lines())
        paid = f" ({shown['already paid for']} of them paid for)" if self.estimate.calls_recorded else ""
        return (
            f"Estimate: {shown['calls']} calls{paid}, {shown['tokens in']} tokens in, {shown['tokens out']} out, "
            f"price {shown['price']}"
            + (f"; {batch} by batches" if (batch := self.batch_words()) else "")
            + (f"; with stand-ins {shown['with stand-ins']}" if "with stand-ins" in shown else "")
        )

    def lines(self) -> list[tuple[str, str]]:
        """Label and text of each figure, for people."""
        totals = self.estimate
        looked = "" if self.pairs_looked_at >= totals.pairs else f" (from {self.pairs_looked_at:,} of the pairs)"
        if totals.price is None:
            price = f"unknown: {totals.reason}"
        else:
            low, high = totals.price
            price = f"{money_span(low, high, totals.currency)} (prices of {totals.price_date})"
        return [
            ("pairs", f"{totals.pairs:,}"),
            ("calls", whole_range(*totals.calls)),
            *([] if totals.expected is None else [("expected", _expected_words(totals.expected, totals.currency))]),
            ("already paid for", f"{totals.calls_recorded:,}{looked}"),
            ("still to ask", whole_range(*totals.calls_open)),
            ("tokens in", whole_range(*totals.tokens_in)),
            ("tokens out", whole_range(*totals.tokens_out)),
            *([("thinking", self.thinking_words())] if self.thinking else []),
            ("price", price),
            *([("price by batches", batch)] if (batch := self.batch_words()) else []),
            *(
                []
                if totals.stand_in is None
                else [("with stand-ins", _stand_in_price(totals.stand_in, totals.currency))]
            ),
            ("time", self.time_text()),
            *([("copies", self.copies)] if self.copies else []),
        ]

    def batch_words(self) -> str:
        """What the open calls cost by batches, in words; empty where that is not known, or nothing is to be paid."""
        totals = self.estimate
        if totals.batch_price is None or not totals.batch_price.high:
            return ""
        return money_span(*totals.batch_price, totals.currency)

    def thinking_words(self) -> str:
        """How many of the tokens out are assumed to be thinking: ``3,072 to 24,576 tokens a call at high``."""
        return "; ".join(
            f"{whole_range(*tokens)} tokens a call {'with a budget of' if isinstance(setting, int) else 'at'} "
            f"{reasoning_words(setting)}"
            for setting, tokens in self.thinking
        )

    def time_text(self) -> str:
        """How long the open calls take, in words."""
        return time_words(self.duration)


def _stand_in_json(stand_in: StandInPrice | None) -> dict[str, Any]:
    if stand_in is None:
        return {}
    price, reason = stand_in
    reasons = {} if price is not None else {"price": reason}
    return {"stand_in": {"price": None if price is None else list(price), "reasons": reasons}}


def _stand_in_price(stand_in: StandInPrice, currency: str) -> str:
    return f"unknown: {stand_in.reason}" if stand_in.price is None else money_span(*stand_in.price, currency)


def _expected_json(expected: ExpectedCalls) -> dict[str, Any]:
    return {
        "calls": expected.calls,
        "price": None if expected.price is None else list(expected.price),
        "from_pairs": expected.pairs,
        "stages": list(expected.reached),
        "reasons": {} if expected.price is not None else {"price": "the price of a model is unknown"},
    }


def _expected_words(expected: ExpectedCalls, currency: str) -> str:
    price = "" if expected.price is None else f", {money_span(*expected.price, currency)}"
    return f"about {plural(round(expected.calls), 'call')}{price} (as in {plural(expected.pairs, 'recorded pair')})"


def time_words(time: Duration) -> str:
    """How long calls take, in words."""
    low, high, measured = time
    text = duration_range(low, high)
    return text if measured or not high else f"{text} (assuming {USUAL_LATENCY_S:g} s per call, not measured)"


class Followed(NamedTuple):
    """The number of calls that the store can answer, and the calls of the pairs whose number of calls is known: pairs
    whose roles are known and, with stop rules, all of whose answers are there."""

    recorded: int
    settled: Settled


def recorded_calls(
    start: Start, store: Store, pairs: Sequence[Pair], check: Callable[[], object] = lambda: None
) -> Followed:
    """How many calls for these pairs the store can answer: each pair is followed as far as answers go.

    ``check`` is called for each pair and may raise to end the search.
    """
    questions = Questions(start.spec, start.book, store.salt(start.salt), stand_in_roles)
    answered = settled = calls = 0
    gated = has_stop_rules(start.spec)
    stood_in = stood_in_answers(start, store)
    reached: Counter[int] = Counter()
    for index, pair in enumerate(pairs):
        check()
        work, first = questions.take_up(index, pair)
        ready = deque(first)
        while ready:
            call = ready.popleft()
            for settings in stand_ins(call.settings):
                if stood_in.get(call.site) == (settings.endpoint, settings.model):
                    call = work.stand_in_call(call, settings)
                    break
            for form in FORMS:
                question = questions.question(call, form)
                answer = recorded(store, question.key)
                if answer is not None:
                    break
            else:
                continue
            answered += 1
            result, _ = questions.read(call, form, answer)
            if call.site.layer == ROLES_LAYER:
                ready.extend(work.set_roles(*questions.roles_of(work, result)))
            elif not isinstance(result, tuple):
                ready.extend(work.finish(call.site, result)[0])
        if work.done if gated else work.roles is not None:
            settled += 1
            calls += work.calls_total + work.needs_roles
            reached.update(range(work.stages_asked))
    return Followed(answered, Settled(settled, calls, tuple(reached[place] for place in sorted(reached))))


def stood_in_answers(start: Start, store: Store) -> dict[CallSite, tuple[str, str]]:
    """The calls of a run that an earlier start of it had answered by stand-ins, and by whom."""
    models = {
        (stand_in.endpoint or "", stand_in.model or "")
        for own in asked_settings(start.spec)
        for stand_in in stand_ins(own)
    }
    earlier = next((run for run in runs(store) if run.fingerprint == fingerprint(start)), None) if models else None
    return {} if earlier is None else stood_in_calls(store, earlier, models)


def estimate_run(
    start: Start,
    store: Store | None,
    *,
    lengths: Sequence[int] | None = None,
    check: Callable[[], object] = lambda: None,
) -> RunEstimate:
    """Calls, tokens, price and time of a start; ``store`` (``None``: there is none yet) holds what is paid for.

    ``lengths`` are the ``pair_tokens`` of the pairs where they are known; ``check`` as in :func:`recorded_calls`.
    """
    if store is not None:
        start = with_recorded_prompts(store, start)
    pairs = list(start.pairs)
    per_pair = max(1, count_calls(start.spec).total)
    step = max(1, -(-len(pairs) // max(1, min(MOST_PAIRS, MOST_CALLS // per_pair))))
    looked_at = pairs[::step]
    known, settled = 0, NONE_SETTLED
    if store is not None and looked_at and has_calls(store):
        found_calls, of_looked_at = recorded_calls(start, store, looked_at, check)
        scale = len(pairs) / len(looked_at)
        known = round(found_calls * scale)
        settled = Settled(
            round(of_looked_at.pairs * scale),
            round(of_looked_at.calls * scale),
            tuple(round(count * scale) for count in of_looked_at.reached),
        )
    kinds = {name: profile.kind for name, profile in start.profiles.items()}
    totals = estimate(start.spec, pairs, start.prices, recorded=known, settled=settled, kinds=kinds, lengths=lengths)
    settings = dict.fromkeys(setting.reasoning for setting in asked_settings(start.spec))
    return RunEstimate(
        totals,
        len(looked_at),
        duration_of(totals, start, store),
        copies_words(start.spec),
        tuple((setting, likely_thinking(setting)) for setting in settings if setting not in (None, "default")),
    )


def duration_of(run_totals: RunTotals, start: Start, store: Store | None) -> Duration:
    """How long the open calls of an estimate take. No run is over before a pair has gone through all its layers, one
    after the other; what is open may be the last layers alone."""
    spec = start.spec
    stages = spec.depth + needs_roles(spec) + (spec.chair is not None)
    in_a_row = max((min(stages, calls / max(1, run_totals.pairs)) for calls in run_totals.calls_open), default=0.0)
    return time_of({(model.endpoint, model.model): model.calls for model in run_totals.models}, start, store, in_a_row)


def time_of(
    calls: Mapping[tuple[str, str], tuple[float, float]], start: Start, store: Store | None, in_a_row: float = 0.0
) -> Duration:
    """How long calls by endpoint and model take, at the pace that was measured, else at a usual one: the longest that
    any endpoint needs, since endpoints work side by side, and no less than ``in_a_row`` measured answers, one after
    the other."""
    needs: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    measured = True
    slowest = 0.0
    for (endpoint, model), ends in calls.items():
        profile = start.profiles.get(endpoint)
        if profile is None or not ends[1]:
            continue
        latency = None if store is None else mean_latency(store, endpoint, model)
        seen = None if store is None else throughput(store, endpoint, profile.concurrency)
        measured = measured and latency is not None
        slowest = max(slowest, latency or 0.0)
        latency = USUAL_LATENCY_S if latency is None else latency
        each = latency / profile.concurrency
        if seen is not None:
            each = max(each, seen.seconds_a_call(profile.concurrency))
        if profile.requests_per_minute is not None:
            each = max(each, 60 / profile.requests_per_minute)
        for end, count in enumerate(ends):
            needs[endpoint][end] += count * each
    low, high = (max((ends[end] for ends in needs.values()), default=0.0) for end in (0, 1))
    least = in_a_row * slowest
    return Duration(max(low, least) if high else 0.0, max(high, least) if high else 0.0, measured)
