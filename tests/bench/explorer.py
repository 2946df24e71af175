"""How large the explorer of a run is, and how soon a browser shows it.

``python -m tests.bench.explorer`` makes a run of 10,000 pairs, 16 calls each, from the texts of LLMEval2's pairs and
the explanations of LLMBar's judges (cut to 120 characters, some 30 tokens), and prints the size of the explorer, the
time to write it, and, where Chromium is installed, when a headless one painted first, when the pairs were there, and
how many requests it made; the last three also of a page of the same size that holds nothing but text. It needs the
reference data beside the project.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp

from judgenet.report.explorer import explorer_html
from judgenet.store.db import Store
from judgenet.store.runs import run_info
from tests.bench.reading import DATA
from tests.bench.report import make

EVALUATION = 120
"""Characters of an evaluation."""


def real_texts(data: Path) -> Callable[[str], str]:
    """Texts of real pairs and judges, drawn at random."""
    draw = random.Random(1)
    pairs = [json.loads(line) for line in (data / "llmeval2" / "pairs.jsonl").open(encoding="utf-8")]
    calls = [json.loads(line) for line in (data / "llmbar" / "judgments_cot.jsonl").open(encoding="utf-8")]
    texts = {
        "question": [pair["question"] for pair in pairs],
        "response": [pair["response_a"] for pair in pairs],
        "evaluation": [call["text"][:EVALUATION] for call in calls if call["text"]],
    }
    return lambda of: draw.choice(texts[of])


async def painted(page: Path, ready: str) -> dict[str, Any]:
    """When Chromium painted first and when ``ready`` was true, in ms, and how many requests it made beyond the file."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return {}
    with tempfile.TemporaryDirectory() as profile:
        process = await asyncio.create_subprocess_exec(
            browser,
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"),
            f"--user-data-dir={profile}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            return await _measured(Path(profile), page, ready)
        finally:
            process.kill()
            await process.wait()


async def _measured(profile: Path, page: Path, ready: str) -> dict[str, Any]:
    told = profile / "DevToolsActivePort"
    while not told.exists() or not told.read_text():
        await asyncio.sleep(0.05)
    port = told.read_text().split()[0]
    requests: list[str] = []
    number = 0
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{port}/json") as reply:
            target = next(of for of in await reply.json() if of["type"] == "page")
        async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:

            async def call(method: str, **given: Any) -> Any:
                nonlocal number
                number += 1
                await socket.send_json({"id": number, "method": method, "params": given})
                while True:
                    message = await socket.receive_json()
                    if message.get("method") == "Network.requestWillBeSent":
                        requests.append(message["params"]["request"]["url"])
                    if message.get("id") == number:
                        return message["result"]

            await call("Network.enable")
            await call("Page.navigate", url=page.as_uri())
            script = f"""new Promise((done) => {{
                const look = () => {{
                    const paint = performance.getEntriesByName("first-contentful-paint")[0];
                    if (paint && ({ready})) done({{paint: paint.startTime, ready: performance.now()}});
                    else setTimeout(look, 10);
                }};
                look();
            }})"""
            await asyncio.sleep(0.2)
            found = await call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
    beyond = [url for url in requests if not url.startswith(("file:", "data:"))]
    return dict(found["result"]["value"]) | {"requests": len(beyond)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000)
    options = parser.parse_args()
    if not (DATA / "llmbar").is_dir():
        print(f"There is no reference data at {DATA}: nothing was measured.")
        return
    with tempfile.TemporaryDirectory() as place:
        path, page, plain = Path(place) / "run.db", Path(place) / "run.html", Path(place) / "plain.html"
        make(path, options.pairs, real_texts(DATA))
        began = time.process_time()
        with Store.open(path, readonly=True) as store:
            text, count = explorer_html(store, run_info(store))
        took = time.process_time() - began
        page.write_text(text, encoding="utf-8")
        plain.write_text(f"<!doctype html><p>Text<pre hidden>{'x ' * (len(text) // 2)}</pre>", encoding="utf-8")
        print(f"{count:,} pairs, 16 calls each: {page.stat().st_size / 1e6:.1f} MB, {took:.1f} s of CPU to make")
        found = asyncio.run(painted(page, "document.documentElement.dataset.ready === 'yes'"))
        beside = asyncio.run(painted(plain, "true"))
        if not found:
            print("No Chromium here: the time to paint was not measured.")
            return
        print(json.dumps({"explorer, ms": found, "a plain page of this size, ms": beside}))
        print(f"first paint: {found['paint']:.0f} ms, {found['paint'] / beside['paint']:.2f} × the plain page")


if __name__ == "__main__":
    main()
