"""Prompt order on the embedded model: calls ordered by shared prefix against the same calls in random order.

Run it from the project's folder with ``python -m tests.bench.embedded``; it takes a few minutes and needs the
embedded model. Eight neurons judge pairs of a benchmark's usual length in both orders, each call at
temperature 0 with the JSON schema, one after the other on the single slot.

A few pairs stand for a run of many, where a random order hardly ever brings two calls of one prefix together and
no memory holds all prompts. So the random order here has no such neighbours, and the server's memory for earlier
prompts, which would hold those of a few pairs, is off for both.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from judgenet.core.network import Role
from judgenet.core.pairs import ORDERS, Pair
from judgenet.core.prompts import LayerView, Prompt, PromptBook, Seat, mark_of
from judgenet.core.schemas import judge_schema
from judgenet.engine.embedded import EmbeddedServer
from judgenet.engine.embedded_model import ModelError

GOAL = 0.4
PAIRS = 4
EXAMPLES_IN_A_PAIR = 8
MAX_EVIDENCE = 120
ROLES = (
    Role("Accuracy", "Are the facts right?"),
    Role("Clarity", "Is it easy to follow?"),
    Role("Completeness", "Is anything missing that was asked for?"),
    Role("Relevance", "Does it stay with the question?"),
    Role("Tone", "Does it suit the person who asked?"),
    Role("Brevity", "Is it as short as it can be?"),
    Role("Safety", "Could it do harm?"),
    Role("Form", "Does it have the form that was asked for?"),
)


@dataclass(frozen=True, slots=True)
class Total:
    """What a series of calls took."""

    seconds: float
    prompt: int
    cached: int
    completion: int


def long_pairs() -> list[Pair]:
    """Pairs with prompts of some 850 tokens, the mean of FairEval's: several example pairs in one."""
    path = Path(__file__).resolve().parents[2] / "examples" / "general.jsonl"
    examples = [Pair.from_json(json.loads(line)) for line in path.read_text(encoding="utf-8").split("\n") if line]
    step = len(examples) // PAIRS
    groups = [(examples[k * step :] + examples)[:EXAMPLES_IN_A_PAIR] for k in range(PAIRS)]
    return [
        Pair(
            group[0].id,
            "\n".join(pair.question for pair in group),
            "\n".join(pair.response_a for pair in group),
            "\n".join(pair.response_b for pair in group),
        )
        for group in groups
    ]


def prompts() -> list[Prompt]:
    """Those of a first layer, ordered by what they share."""
    book = PromptBook.default()
    found = []
    for pair in long_pairs():
        for order in ORDERS:
            layer = book.layer(LayerView(pair, order, 1, mark_of(pair, "bench"), "json"))
            found += [layer.prompt(Seat(place, role)) for place, role in enumerate(ROLES, 1)]
    return found


def at_random(ordered: Sequence[Prompt], seed: int = 0) -> list[Prompt]:
    """A random order in which no two neighbours share their prefix."""
    rng = random.Random(seed)
    while True:
        left = rng.sample(ordered, len(ordered))
        mixed: list[Prompt] = []
        while left:
            place = next((i for i, one in enumerate(left) if not mixed or one.shared != mixed[-1].shared), None)
            if place is None:
                break
            mixed.append(left.pop(place))
        else:
            return mixed


async def judge(series: Sequence[Prompt]) -> Total:
    server = EmbeddedServer(cache_mib=0)
    address, key = await server.start()
    prompt = cached = completion = 0
    body = {
        "temperature": 0,
        "max_tokens": 512,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "evaluation", "schema": judge_schema(max_evidence=MAX_EVIDENCE)},
        },
    }
    bearer = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=address, headers=bearer, trust_env=False, timeout=600) as client:
        started = time.perf_counter()
        for one in series:
            reply = await client.post("/v1/chat/completions", json={**body, "messages": one.messages()})
            usage = reply.raise_for_status().json()["usage"]
            prompt += usage["prompt_tokens"]
            cached += usage["prompt_tokens_details"]["cached_tokens"]
            completion += usage["completion_tokens"]
        seconds = time.perf_counter() - started
    server.stop()
    return Total(seconds, prompt, cached, completion)


def report(name: str, total: Total, calls: int) -> None:
    print(
        f"{name:16} {total.seconds:7.1f} s   {total.seconds / calls:5.2f} s a call   "
        f"{total.prompt / calls:5.0f} prompt tokens, {total.cached / total.prompt:4.0%} of them cached   "
        f"{total.completion / calls:4.0f} tokens answered",
        flush=True,
    )


async def bench() -> int:
    ordered = prompts()
    print(f"{len(ordered)} calls: {PAIRS} pairs, both orders, {len(ROLES)} neurons", flush=True)
    by_prefix = await judge(ordered)
    report("shared prefix", by_prefix, len(ordered))
    mixed = await judge(at_random(ordered))
    report("random order", mixed, len(ordered))
    ratio = by_prefix.seconds / mixed.seconds
    print(f"ratio {ratio:.2f} (goal: at most {GOAL})")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(bench()))
    except ModelError as error:
        sys.exit(str(error))
