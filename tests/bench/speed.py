"""How fast the engine is, against bare clients and ideal times on the same machine: ``python -m tests.bench.speed``.

Every figure is a ratio of things run side by side, each in a process of its own against the same small server.
``--only NAME`` runs one part; ``--quick`` makes all of them smaller.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import queue
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import httpx
from aiohttp import web
from httpx_aiohttp import AiohttpTransport

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.events import CallFinished, Event, PairFinished, RunFinished
from judgenet.core.network import NetworkSpec, RolesSpec, Settings
from judgenet.core.pairs import Pair
from judgenet.core.plan import planned_calls
from judgenet.core.presets import network
from judgenet.core.prompts import PromptBook
from judgenet.core.roles import roles_for
from judgenet.engine.session import Engine, Start, with_models
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.prices import load_prices
from judgenet.store.runs import run_info
from tests.bench.installed import with_bytecode
from tests.fakes.judge_server import JudgeServer

TEXT = "The first response answers the question in plain words and gives a reason; the second leaves half of it out. "


# The server: as little work as possible, so that clients are what is measured


def serve(port: int, latency: float) -> None:
    """Answers every chat request after ``latency`` seconds with roles or an evaluation."""

    def body(content: dict[str, Any]) -> bytes:
        return json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "model": "bench",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": json.dumps(content)},
                    }
                ],
                "usage": {"prompt_tokens": 500, "completion_tokens": 60, "total_tokens": 560},
            }
        ).encode()

    # Answers differ from question to question, as a model's do: equal ones would let deeper layers share calls.
    before, after = body({"evidence": TEXT * 2 + "@@@@@@@@", "score_1": 8, "score_2": 6}).split(b"@@@@@@@@")
    roles = body({"roles": [{"name": f"Role {n}", "description": TEXT} for n in range(8)]})

    async def chat(request: web.Request) -> web.Response:
        asked = await request.read()
        if latency:
            await asyncio.sleep(latency)
        answer = roles if b'"roles"' in asked else b"%s%08x%s" % (before, zlib.crc32(asked), after)
        return web.Response(body=answer, content_type="application/json")

    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/v1/chat/completions", chat)
    web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None)


@contextmanager
def server(latency: float) -> Iterator[str]:
    """The server in a process of its own; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(port, latency), daemon=True)
    process.start()
    try:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.join()


# What is run


def pairs(count: int) -> list[Pair]:
    return [Pair(f"p{i}", f"Question {i}: why?", f"{i} " + TEXT * 3, f"{i} other " + TEXT * 3) for i in range(count)]


def fixed(width: int, depth: int) -> NetworkSpec:
    return network(width, depth, roles=roles_for("general", width, "en"), settings=Settings("bench", "bench", 0.0))


def start(url: str, spec: NetworkSpec, judged: list[Pair], in_flight: int) -> Start:
    profile = EndpointProfile("bench", base_url=url, model="bench", concurrency=in_flight)
    profiles = {"bench": profile}
    return Start(with_models(spec, profiles), judged, PromptBook.default(), load_prices(), profiles, "salt" * 8)


def drive(store: Store, begin: Start, on_event: Callable[[Event], None] | None = None) -> float:
    """Runs to the end and returns the seconds that it took."""
    told: queue.SimpleQueue[Event] = queue.SimpleQueue()
    began = time.perf_counter()
    with Engine() as engine:
        engine.start(store, begin, told.put)
        while True:
            event = told.get(timeout=120)
            if on_event is not None:
                on_event(event)
            if isinstance(event, RunFinished):
                if event.state != "done":
                    raise RuntimeError(f"{event.state}: {event.message}")
                return time.perf_counter() - began


def request_body() -> bytes:
    """A request of the size of the engine's."""
    return json.dumps(
        {
            "model": "bench",
            "messages": [{"role": "system", "content": TEXT}, {"role": "user", "content": TEXT * 20}],
            "max_tokens": 1024,
            "temperature": 0.0,
        }
    ).encode()


async def bare_aiohttp(url: str, calls: int, in_flight: int) -> None:
    body, left = request_body(), iter(range(calls))
    connector = aiohttp.TCPConnector(limit=in_flight)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def worker() -> None:
            for _ in left:
                headers = {"content-type": "application/json"}
                async with session.post(f"{url}/chat/completions", data=body, headers=headers) as response:
                    json.loads(await response.read())

        await asyncio.gather(*(worker() for _ in range(in_flight)))


async def bare_httpx(url: str, calls: int, in_flight: int) -> None:
    body, left = json.loads(request_body()), iter(range(calls))

    def session() -> aiohttp.ClientSession:
        return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=in_flight))

    async with httpx.AsyncClient(transport=AiohttpTransport(client=session), timeout=60) as client:

        async def worker() -> None:
            for _ in left:
                (await client.post(f"{url}/chat/completions", json=body)).json()

        await asyncio.gather(*(worker() for _ in range(in_flight)))


def child(what: str, url: str, calls: int, in_flight: int) -> dict[str, float]:
    """One measurement in this process: seconds and CPU seconds. A few calls go before it, so that what is loaded once
    is no part of a call; what a start takes is measured apart."""
    if what == "engine":
        with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "s.judgenet.db") as store:
            drive(store, start(url, fixed(4, 2), pairs(2), in_flight))
            begin = start(url, fixed(4, 2), pairs(calls // 16 + 2)[2:], in_flight)
            cpu = time.process_time()
            seconds = drive(store, begin)
            cpu = time.process_time() - cpu
    else:
        work = {"aiohttp": bare_aiohttp, "httpx": bare_httpx}[what]
        asyncio.run(work(url, in_flight, in_flight))
        cpu, began = time.process_time(), time.perf_counter()
        asyncio.run(work(url, calls, in_flight))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return {"seconds": seconds, "cpu": cpu}


def measured(what: str, url: str, calls: int, in_flight: int, times: int = 3) -> dict[str, float]:
    """The best of some measurements, each in a fresh process."""
    best: dict[str, float] = {}
    for _ in range(times):
        command = [sys.executable, "-m", "tests.bench.speed", "--child", what, url, str(calls), str(in_flight)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        best = {name: min(value, best.get(name, value)) for name, value in found.items()}
    return best


# The parts


def report(name: str, value: float, goal: str, detail: str) -> None:
    print(f"{name:52} {value:7.3f}   goal {goal:9} {detail}", flush=True)


def calls_per_second(quick: bool) -> None:
    """100 in flight: calls a second against a bare aiohttp loop, CPU a call against httpx over aiohttp."""
    for latency, calls in ((0.0, 3200), (0.05, 3200)):
        calls = calls // 4 if quick else calls
        with server(latency) as url:
            found = {what: measured(what, url, calls, 100) for what in ("aiohttp", "httpx", "engine")}
        rates = {what: calls / values["seconds"] for what, values in found.items()}
        cpu = {what: 1000 * values["cpu"] / calls for what, values in found.items()}
        detail = f"({rates['engine']:.0f} and {rates['aiohttp']:.0f} calls/s)"
        report(
            f"calls/s, {1000 * latency:.0f} ms: engine / bare aiohttp",
            rates["engine"] / rates["aiohttp"],
            ">= 0.5",
            detail,
        )
        detail = f"({cpu['engine']:.2f} and {cpu['httpx']:.2f} ms; bare aiohttp {cpu['aiohttp']:.2f} ms)"
        report(f"CPU a call, {1000 * latency:.0f} ms: engine / httpx", cpu["engine"] / cpu["httpx"], "<= 1.2", detail)


def many_pairs(quick: bool) -> None:
    """1,000 pairs, 2 layers of 4 neurons, both orders, 1 s latency, 256 in flight, against the ideal time."""
    count = 100 if quick else 1000
    with server(1.0) as url:
        for name, spec in (("fixed roles", fixed(4, 2)), ("generated roles", replace(fixed(4, 2), roles=RolesSpec()))):
            with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "s.judgenet.db") as store:
                seconds = drive(store, start(url, spec, pairs(count), 256))
            calls = planned_calls(spec, count)
            report(f"{count} pairs, {name}: time / ideal", seconds / (calls / 256), "<= 1.05", f"({seconds:.1f} s)")


def one_pair(quick: bool) -> None:
    """One pair alone, roles and 2 layers, 1 s latency: seconds until its verdict against the chain of 3."""
    seen: list[float] = []
    spec = replace(fixed(4, 2), roles=RolesSpec())
    with (
        server(1.0) as url,
        tempfile.TemporaryDirectory() as folder,
        Store.open(Path(folder) / "s.judgenet.db") as store,
    ):
        began = time.perf_counter()
        drive(
            store,
            start(url, spec, pairs(1), 16),
            lambda e: isinstance(e, PairFinished) and seen.append(time.perf_counter()),
        )
    report(
        "one pair: time to its verdict / chain of 3 s", (seen[0] - began) / 3, "<= 1.067", f"({seen[0] - began:.2f} s)"
    )


def memory_mb() -> float:
    """Memory of this process without mapped files, in MB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1000
    raise RuntimeError("this system does not tell RssAnon")


def long_run(quick: bool) -> None:
    """200,000 calls: memory after the first 10,000 against the end; opening and resuming the store."""
    calls = 20_000 if quick else 200_000
    judged = pairs(calls // 16)
    marks: dict[int, float] = {}
    counted = 0

    def on_event(event: Event) -> None:
        nonlocal counted
        if isinstance(event, CallFinished):
            counted += 1
            if counted % 10_000 == 0:
                marks[counted] = memory_mb()

    with server(0.0) as url, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.judgenet.db"
        begin = start(url, fixed(4, 2), judged, 100)
        with Store.open(path) as store:
            drive(store, begin, on_event)
        report(
            f"{calls:,} calls: memory at the end / after 10,000",
            marks[max(marks)] / marks[10_000],
            "flat",
            f"({marks[10_000]:.0f} and {marks[max(marks)]:.0f} MB)",
        )
        print(f"    store: {path.stat().st_size / 1e6:.0f} MB")
        began = time.perf_counter()
        with Store.open(path) as store:
            drive(store, begin)
            resumed = time.perf_counter() - began
            found = len(RunFrame.read(store, run_info(store)).done)
            read = time.perf_counter() - began - resumed
        report(f"opening and resuming {calls:,} calls / 3 s", resumed / 3, "<= 1", f"({resumed:.2f} s)")
        print(f"    verdicts of {found:,} pairs read back in {read:.2f} s")


def sweep(quick: bool) -> None:
    """n = 1..8, l = 1..4 in one store: calls asked against the sum of what each run alone would ask."""
    judged = pairs(3 if quick else 10)
    asked = alone = 0

    def on_event(event: Event) -> None:
        nonlocal asked
        asked += isinstance(event, CallFinished) and not event.cached

    with (
        server(0.0) as url,
        tempfile.TemporaryDirectory() as folder,
        Store.open(Path(folder) / "s.judgenet.db") as store,
    ):
        for width in range(1, 9):
            for depth in range(1, 5):
                spec = replace(fixed(width, depth), roles=RolesSpec(limit=8))
                drive(store, start(url, spec, judged, 50), on_event)
                alone += planned_calls(spec, len(judged))
    report("sweep n=1..8, l=1..4: calls / sum of its runs", asked / alone, "<= 0.33", f"({asked:,} of {alone:,} calls)")


def first_request(quick: bool) -> None:
    """From the start of ``judgenet run`` to its first request, against the import of the bare clients: seconds, and
    seconds of the processor, the least of some starts that take turns. Modules are compiled, as in an installed
    program: the first turn does that and does not count."""
    found: dict[str, list[float]] = {name: [] for name in ("import", "import's CPU", "run", "run's CPU")}
    with tempfile.TemporaryDirectory() as folder, JudgeServer() as judge:
        place, environment = Path(folder), with_bytecode(Path(folder))
        record = {"id": "1", "question": "Why?", "response_a": "So.", "response_b": "Because."}
        (place / "pairs.jsonl").write_text(json.dumps(record), encoding="utf-8")
        shape = ["--width", "1", "--depth", "1", "--roles", "none", "--max-calls", "1", "--quiet"]
        asked = ["--pairs", place / "pairs.jsonl", "--base-url", judge.url, "--model", "judge", *shape]
        for turn in range(4 if quick else 9):
            began = time.perf_counter()
            bare = subprocess.Popen([sys.executable, "-c", "import httpx, aiohttp"], env=environment)
            _, _, used = os.wait4(bare.pid, 0)
            found["import"].append(time.perf_counter() - began)
            found["import's CPU"].append(used.ru_utime + used.ru_stime)
            before, began = judge.requests, time.perf_counter()
            command = [sys.executable, "-c", "from judgenet.cli.main import main; main()", "run", *asked]
            run = subprocess.Popen(
                [*command, "--out", place / str(turn)],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while judge.requests == before and run.poll() is None:
                time.sleep(0.001)
            found["run"].append(time.perf_counter() - began)
            ticks = Path(f"/proc/{run.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
            found["run's CPU"].append(sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"))
            run.wait()
    least = {name: min(values[1:]) for name, values in found.items()}
    detail = f"({least['run']:.2f} and {least['import']:.2f} s)"
    report("start to first request / import of the clients", least["run"] / least["import"], "<= 2", detail)
    report("the same, CPU", least["run's CPU"] / least["import's CPU"], "<= 2", "")


PARTS = {
    "start": first_request,
    "rate": calls_per_second,
    "pairs": many_pairs,
    "one": one_pair,
    "long": long_run,
    "sweep": sweep,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--child", nargs=4, metavar=("WHAT", "URL", "CALLS", "IN_FLIGHT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        what, url, calls, in_flight = options.child
        print(json.dumps(child(what, url, int(calls), int(in_flight))))
        return
    print(f"{os.cpu_count()} cores, CPython {sys.version.split()[0]}")
    for name, part in PARTS.items():
        if options.only in (None, name):
            part(options.quick)


if __name__ == "__main__":
    main()
