"""What a start holds back for the calls that are in flight."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from judgenet.core.calls import CallSite, Parameters
from judgenet.core.plan import PriceTable
from judgenet.core.prompts import Prompt
from judgenet.engine.asked_calls import AskedCall, Spending
from judgenet.engine.budget import Limits
from judgenet.engine.ports import Usage


def _call(message: str) -> AskedCall:
    """A call with a system prompt of 400 characters and a message; of its endpoint only the name is asked."""
    question = SimpleNamespace(
        prompt=Prompt(system="s" * 400, shared="", own=message),
        digest="d" * 400,
        parameters=Parameters("m", None, 512, None),
    )
    lane = SimpleNamespace(endpoint=SimpleNamespace(name="e"))
    call = SimpleNamespace(site=CallSite(0, 1, 1, "ab", 1))
    return AskedCall(cast(Any, call), cast(Any, lane), cast(Any, question))


def test_a_short_prompt_shows_what_a_long_one_may_use() -> None:
    """A tokenizer that makes 2.5 tokens of each character of the message: a long prompt uses no more than is held.

    The system prompt and the reply schema are half of a short prompt and next to nothing of a long one, so a factor
    over the whole prompt would promise 7,000 tokens too few.
    """
    spending = Spending(Limits(max_tokens=10**6), PriceTable(()), {})
    short, long = _call("m" * 800), _call("m" * 8_000)
    assert spending.reserve(short, 10) is not None
    spending.settle(short, Usage(2_000, 10), Usage(2_000, 10))
    held = spending.reserve(long, 10)
    assert held is not None
    assert 20_000 + 10 <= held.tokens < 30_000


def test_a_tokenizer_as_estimated_holds_as_estimated() -> None:
    spending = Spending(Limits(max_tokens=10**6), PriceTable(()), {})
    first, second = _call("m" * 800), _call("m" * 800)
    assert spending.reserve(first, 10) is not None
    spending.settle(first, Usage(410, 10), Usage(410, 10))
    held = spending.reserve(second, 10)
    assert held is not None
    assert held.tokens == 200 + 100 + 100 + 16 + 10
