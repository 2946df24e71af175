"""What a run would cost, with what is already paid for counted from the store."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judgenet.core.calls import ROLES_LAYER
from judgenet.core.pairs import Pair
from judgenet.core.plan import Estimate, Range, estimate
from judgenet.core.roles import roles_for
from judgenet.engine.ports import Form
from judgenet.engine.questions import Questions
from judgenet.engine.session import Start, evidence_chars
from judgenet.store.db import Store
from judgenet.store.runs import recorded

# What an endpoint takes shows only when it is asked: a recorded answer may be in either form.
_FORMS: tuple[Form, ...] = ("json", "text")

MOST_PAIRS = 200
"""Pairs whose recorded calls are looked up; with more, a part spread over all is taken for the whole."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """An estimate and how the recorded calls were counted: on ``pairs_looked_at`` of all pairs."""

    estimate: Estimate
    pairs_looked_at: int

    def to_json(self) -> dict[str, Any]:
        """Stable keys; an unknown price is ``null`` with a reason."""
        found = self.estimate
        return {
            "pairs": found.pairs,
            "calls": list(found.calls),
            "calls_recorded": found.calls_recorded,
            "calls_recorded_from_pairs": self.pairs_looked_at,
            "calls_open": list(found.calls_open),
            "tokens_in": list(found.tokens_in),
            "tokens_out": list(found.tokens_out),
            "price": None if found.price is None else list(found.price),
            "price_reason": found.reason or None,
            "currency": found.currency,
            "price_date": found.price_date,
            "models": [
                {
                    "endpoint": model.endpoint,
                    "model": model.model,
                    "calls": list(model.calls),
                    "tokens_in": list(model.tokens_in),
                    "tokens_out": list(model.tokens_out),
                    "price": None if model.price is None else list(model.price),
                    "price_reason": model.reason or None,
                }
                for model in found.models
            ],
        }

    def line(self) -> str:
        """The estimate in one line, for people."""
        shown = dict(self.lines())
        paid = f" ({shown['already paid for']} of them paid for)" if self.estimate.calls_recorded else ""
        return (
            f"Estimate: {shown['calls']} calls{paid}, {shown['tokens in']} tokens in, {shown['tokens out']} out, "
            f"price {shown['price']}"
        )

    def lines(self) -> list[tuple[str, str]]:
        """Label and text of each figure, for people."""
        found = self.estimate
        looked = "" if self.pairs_looked_at >= found.pairs else f" (from {self.pairs_looked_at:,} of the pairs)"
        if found.price is None:
            price = f"unknown: {found.reason}"
        else:
            low, high = found.price
            price = f"{low:,.2f} to {high:,.2f} {found.currency} (prices of {found.price_date})"
        return [
            ("pairs", f"{found.pairs:,}"),
            ("calls", _span(found.calls)),
            ("already paid for", f"{found.calls_recorded:,}{looked}"),
            ("still to ask", _span(found.calls_open)),
            ("tokens in", _span(found.tokens_in)),
            ("tokens out", _span(found.tokens_out)),
            ("price", price),
        ]


def _span(span: Range) -> str:
    return f"{span.low:,}" if span.low == span.high else f"{span.low:,} to {span.high:,}"


def recorded_calls(start: Start, store: Store, pairs: Sequence[Pair]) -> int:
    """How many calls for these pairs the store can answer: each pair is followed as far as answers go."""
    questions = Questions(start.spec, start.book, store.salt(start.salt), roles_for, evidence_chars(start))
    found = 0
    for index, pair in enumerate(pairs):
        work, first = questions.take_up(index, pair)
        ready = deque(first)
        while ready:
            call = ready.popleft()
            for form in _FORMS:
                question = questions.question(call, form)
                answer = recorded(store, question.key)
                if answer is not None:
                    break
            else:
                continue
            found += 1
            said, _ = questions.read(call, form, answer.raw_text, answer.finish_reason)
            if call.site.layer == ROLES_LAYER:
                ready.extend(work.set_roles(*questions.roles_of(work, said)))
            elif not isinstance(said, tuple):
                ready.extend(work.finish(call.site, said)[0])
    return found


def estimate_run(start: Start, store: Store | None) -> RunEstimate:
    """Calls, tokens and price of a start; ``store`` (``None``: there is none yet) tells what is paid for."""
    pairs = list(start.pairs)
    step = max(1, -(-len(pairs) // MOST_PAIRS))
    looked_at = pairs[::step]
    known = 0
    if store is not None and looked_at:
        known = round(recorded_calls(start, store, looked_at) * len(pairs) / len(looked_at))
    kinds = {name: profile.kind for name, profile in start.profiles.items()}
    found = estimate(start.spec, pairs, start.prices, recorded=known, kinds=kinds)
    return RunEstimate(found, len(looked_at))
