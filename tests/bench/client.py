"""Processor time of a call: bare httpx over the aiohttp transport against ``HttpEndpoint.chat``, in one run on
the same server, which runs in a process of its own.

    python -m tests.bench.client [--calls 4000] [--in-flight 100] [--rounds 5]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.schemas import judge_schema
from judgenet.engine.client import open_endpoint
from judgenet.engine.ports import ChatRequest, ReplySchema
from tests.fakes.judge_server import judge_process

Call = Callable[[int], Awaitable[object]]

_SHARED = "Question: " + "Which of the two is better, and why? " * 20
_SCHEMA = ReplySchema("evaluation", judge_schema())


def request(number: int) -> ChatRequest:
    """A request of a usual size, different for each number."""
    return ChatRequest(
        model="judge",
        system="You judge texts fairly and with care.",
        shared=_SHARED,
        own=f"Perspective {number}.",
        form="json",
        schema=_SCHEMA,
        temperature=0.0,
    )


def body(number: int) -> dict[str, object]:
    """The same request as JSON for the bare clients."""
    asked = request(number)
    return {
        "model": asked.model,
        "messages": [{"role": "system", "content": asked.system}, {"role": "user", "content": asked.user}],
        "max_tokens": asked.max_tokens,
        "temperature": asked.temperature,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "evaluation", "strict": True, "schema": _SCHEMA.schema},
        },
    }


async def measure(call: Call, calls: int, in_flight: int) -> tuple[float, float]:
    """(milliseconds of processor time a call, calls a second) of ``in_flight`` workers."""
    numbers = iter(range(calls))

    async def worker() -> None:
        for number in numbers:
            await call(number)

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return 1000 * (time.process_time() - cpu) / calls, calls / (time.perf_counter() - wall)


async def run(url: str, calls: int, in_flight: int, rounds: int) -> None:
    route = f"{url}/v1/chat/completions"
    transport = AiohttpTransport(limits=httpx.Limits(max_connections=in_flight))
    endpoint = open_endpoint(EndpointProfile("bench", base_url=url, concurrency=in_flight, deadline=60.0))
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
        httpx.AsyncClient(transport=transport, timeout=60.0, trust_env=False) as client,
    ):

        async def bare_aiohttp(number: int) -> object:
            async with session.post(route, json=body(number)) as response:
                return await response.json()

        async def bare_httpx(number: int) -> object:
            response = await client.post(route, json=body(number))
            return response.json()

        async def chat(number: int) -> object:
            return await endpoint.chat(request(number))

        def ignore(_: str) -> None:
            return None

        async def stream(number: int) -> object:
            return await endpoint.chat(request(number), ignore)

        ways: dict[str, Call] = {
            "bare aiohttp": bare_aiohttp,
            "bare httpx over aiohttp": bare_httpx,
            "HttpEndpoint.chat": chat,
            "HttpEndpoint.chat, streaming": stream,
        }
        for way in ways.values():
            await measure(way, in_flight, in_flight)
        results: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, way in ways.items():
                results[name].append(await measure(way, calls, in_flight))
    await endpoint.close()
    base = statistics.median(cpu for cpu, _ in results["bare httpx over aiohttp"])
    print(f"{calls} calls, {in_flight} in flight, median of {rounds} rounds")
    print(f"{'':30}{'CPU ms/call':>12}{'ratio':>8}{'calls/s':>10}")
    for name, measured in results.items():
        cpu = statistics.median(cpu for cpu, _ in measured)
        rate = statistics.median(rate for _, rate in measured)
        print(f"{name:30}{cpu:12.3f}{cpu / base:8.2f}{rate:10.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--in-flight", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with judge_process("--keep", "none") as url:
        asyncio.run(run(url, given.calls, given.in_flight, given.rounds))


if __name__ == "__main__":
    main()
