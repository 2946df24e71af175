"""100,000 pairs on the page Data: ``QT_QPA_PLATFORM=offscreen python -m tests.bench.data_page``.

Loading is measured against pandas reading the same file, memory against the file's size, scrolling against a table of a
hundred pairs, filters and search against the same on pandas' columns. Each part runs in a process of its own.
``--pairs N`` takes another number of pairs, ``--only NAME`` one container.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pandas as pd
import qasync
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from judgenet.core.presets import PRESETS
from judgenet.core.project import PairsSource, Project, Selection
from judgenet.ui.app import Studio, make_app
from judgenet.ui.pages.data import DataPage

CONTAINERS = ("jsonl", "json", "csv", "parquet")
TASKS = ("coding", "science", "legal", "translation", "writing", "advice", "finance")
TEXT = (
    "water ice floats because its molecules lock into an open lattice when they freeze so that the solid is less dense "
    "than the liquid and a lake stays liquid below where fish can live through the winter under a lid of ice which is "
    "why rivers do not freeze from the bottom"
)
WORDS = TEXT.split()
FOREIGN = (
    "氷は水に浮かびます。",
    "冰比水轻，所以浮在水面上。",
    "الجليد أقل كثافة من الماء.",
    "Лёд легче воды и плавает.",
)
TICK_MS = 16


# The file


def write_files(folder: Path, count: int) -> dict[str, Path]:
    """The same pairs in every container: questions of about 100 characters, responses of about 800."""
    dice = random.Random(20)

    def text(low: int, high: int) -> str:
        words = dice.choices(WORDS, k=dice.randint(low, high))
        if dice.random() < 0.1:
            words.insert(len(words) // 2, dice.choice(FOREIGN))
        return " ".join(words)

    records = [
        {
            "id": f"pair-{number:06d}",
            "prompt": f"{number}: {text(8, 30)}?",
            "answer_a": text(60, 220),
            "answer_b": text(60, 220),
            "winner": dice.choice(("model_a", "model_b", "tie", "")),
            "category": dice.choice(TASKS),
        }
        for number in range(count)
    ]
    files = {name: folder / f"pairs.{name}" for name in CONTAINERS}
    with files["jsonl"].open("w", encoding="utf-8") as out:
        for record in records:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    files["json"].write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    table = pd.DataFrame(records)
    table.to_csv(files["csv"], index=False)
    table.to_parquet(files["parquet"])
    return files


def read_with_pandas(file: Path) -> pd.DataFrame:
    """What pandas makes of a file."""
    if file.suffix == ".jsonl":
        return pd.read_json(file, lines=True)
    if file.suffix == ".json":
        return pd.read_json(file)
    return pd.read_csv(file) if file.suffix == ".csv" else pd.read_parquet(file)


# One part, in its own process


def memory() -> float:
    """The memory of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise OSError("no VmRSS")


def in_process(work: Callable[..., dict[str, float]], *args: Any) -> dict[str, float]:
    """Runs a function in a fresh process and returns what it found."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_send, args=(there, work, args))
    process.start()
    there.close()
    try:
        found: dict[str, float] = here.recv()
    finally:
        process.join()
    return found


def _send(out: Connection, work: Callable[..., dict[str, float]], args: tuple[Any, ...]) -> None:
    out.send(work(*args))


def pandas_part(file: Path) -> dict[str, float]:
    """Reading, filtering and searching by pandas. The first reading also loads its parts, so that it does not count."""
    head = Path(tempfile.mkdtemp()) / f"head{file.suffix}"
    _head(file, head)
    read_with_pandas(head)
    start = time.perf_counter()
    table = read_with_pandas(file)
    found = {"read": time.perf_counter() - start}
    # Of some files pandas makes Arrow's texts, which nothing in Python can read before they are made once more.
    for column in table.columns:
        table[column].tolist()
    found["texts"] = time.perf_counter() - start
    texts = ("prompt", "answer_a", "answer_b")
    for name, work in (
        ("task", lambda: table[table["category"] == "coding"]),
        ("search", lambda: table[_any(table[text].str.contains("frozen", case=False, regex=False) for text in texts)]),
        ("sort", lambda: table.sort_values("prompt")),
    ):
        start = time.perf_counter()
        work()
        found[name] = time.perf_counter() - start
    return found


def _any(columns: Any) -> Any:
    whole = None
    for column in columns:
        whole = column if whole is None else whole | column
    return whole


def _head(file: Path, head: Path) -> None:
    table = pd.DataFrame([{"prompt": "q", "answer_a": "a", "answer_b": "b", "winner": "", "category": "x"}])
    if file.suffix in (".jsonl", ".json"):
        table.to_json(head, orient="records", lines=file.suffix == ".jsonl")
    elif file.suffix == ".csv":
        table.to_csv(head, index=False)
    else:
        table.to_parquet(head)


class Ticker:
    """How late a timer of 16 ms comes, in ms."""

    def __init__(self) -> None:
        self.late: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer()
        self._timer.timeout.connect(self._tick)
        self._timer.start(TICK_MS)

    def _tick(self) -> None:
        now = time.perf_counter()
        self.late.append(max(0.0, (now - self._last) * 1000 - TICK_MS))
        self._last = now

    def take(self) -> list[float]:
        """The latenesses since the last time."""
        found, self.late = sorted(self.late), []
        self._last = time.perf_counter()
        return found


def at(values: list[float], share: float) -> float:
    """A quantile of sorted values."""
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0.0


async def until(condition: Callable[[], bool]) -> None:
    """Waits with the loop alive."""
    while not condition():
        await asyncio.sleep(0.01)


def page_part(file: Path, how: str) -> dict[str, float]:
    """The studio: ``how`` is ``import`` (as a person does) or ``open`` (a project that has the file)."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["JUDGENET_STATE_DIR"] = tempfile.mkdtemp()
    os.environ["JUDGENET_CONFIG_DIR"] = tempfile.mkdtemp()
    app = make_app()
    loop = qasync.QEventLoop(app)
    asyncio.set_event_loop(loop)
    found: dict[str, float] = {}
    loop.run_until_complete(_measure(app, file, how, found))
    return found


async def _measure(app: QApplication, file: Path, how: str, found: dict[str, float]) -> None:
    studio = Studio(app)
    window = studio.window
    window.resize(1440, 900)
    studio.show(None)
    context = window.context
    spec = PRESETS["widedeep"].spec
    columns = {"question": "prompt", "response_a": "answer_a", "response_b": "answer_b", "human": "winner"}
    source = PairsSource((str(file),), columns=columns)
    context.document.new(Project.new("Bench", spec))
    context.navigator.go("data")
    page = window.page("data")
    assert isinstance(page, DataPage)
    ticker = Ticker()
    # The pages that are not in view are made meanwhile.
    await asyncio.sleep(4)
    ticker.take()
    await asyncio.sleep(1.5)
    idle = ticker.take()
    before = memory()
    start = time.perf_counter()
    if how == "import":
        page.import_files([file])
        await until(lambda: bool(page.importer.seen.first))
        found["first rows"] = time.perf_counter() - start
        await until(lambda: page.importer.dataset is not None)
        found["findings"] = time.perf_counter() - start
        page.importer.accept()
    else:
        context.document.new(Project.new("Bench", spec, source))
    await until(lambda: page.browse.index is not None and not page.browse.busy)
    found["table"] = time.perf_counter() - start
    late = ticker.take()
    found |= {"tick p50": at(late, 0.5), "tick p99": at(late, 0.99), "tick max": at(late, 1)}
    found |= {"idle p99": at(idle, 0.99), "idle max": at(idle, 1)}
    await until(lambda: bool(page.browse.side.findings.rows) and not context.tasks.jobs and not context.figures.stale)
    found["all"] = time.perf_counter() - start
    late = ticker.take()
    found["after p99"], found["after max"] = at(late, 0.99), at(late, 1)
    await asyncio.sleep(0.2)
    found["memory"] = memory() - before
    if how == "import":
        await _use(page, found, ticker)
    await window.shut_down()
    window.hide()


async def _use(page: DataPage, found: dict[str, float], ticker: Ticker) -> None:
    """Scrolls, filters, searches and sorts, as a person does."""
    browse = page.browse
    found["scroll"] = scroll(page)

    async def timed(name: str, change: Callable[[], object]) -> None:
        start = time.perf_counter()
        change()
        await until(lambda: not browse.busy)
        page.repaint()
        found[name] = time.perf_counter() - start

    ticker.take()
    browse.bar.task.set_ticked(frozenset({"coding"}))
    await timed("task", browse.refresh_rows)
    browse.bar.clear()
    await until(lambda: not browse.busy)
    browse.bar.search.setText("frozen")
    await timed("search", browse.bar.search.returnPressed.emit)
    browse.bar.search.setText("freeze")
    await timed("search hits", browse.bar.search.returnPressed.emit)
    browse.bar.clear()
    await until(lambda: not browse.busy)
    await timed("sort", lambda: browse.sort("question", False))
    await timed("sort again", lambda: browse.sort("question", True))
    late = ticker.take()
    found["use p99"], found["use max"] = at(late, 0.99), at(late, 1)
    start = time.perf_counter()
    half = len(browse.model.pairs) // 2
    browse.side.chosen.chosen.emit(Selection("sample", half, 1))
    await until(lambda: len(page.context.document.pairs) == half)
    found["choose"] = time.perf_counter() - start
    late = ticker.take()
    found["choose max"] = at(late, 1)
    await until(lambda: not browse.busy)
    few = browse.model.rows[:100].copy()
    browse.model.set_rows(few)
    found["scroll few"] = scroll(page)


def scroll(page: DataPage) -> float:
    """Median CPU time in ms of scrolling by half a page and painting it."""
    table = page.browse.table
    bar = table.verticalScrollBar()
    taken = []
    step = table.viewport().height() // 2
    for _ in range(80):
        start = time.process_time_ns()
        bar.setValue(bar.value() + step if bar.value() + step < bar.maximum() else 0)
        table.viewport().repaint()
        taken.append((time.process_time_ns() - start) / 1e6)
    return statistics.median(taken)


# What is printed


def show(name: str, file: Path) -> None:
    """Measures one container and prints its figures."""
    size = file.stat().st_size / 2**20
    plain = in_process(pandas_part, file)
    imported = in_process(page_part, file, "import")
    opened = in_process(page_part, file, "open")
    print(
        f"\n{name}, {size:,.0f} MB; pandas reads it in {plain['read']:.2f} s, "
        f"and has its texts as Python's after {plain['texts']:.2f} s"
    )
    rows = [
        ("project opened, table shown", opened["table"] / plain["read"], "× pandas", 2.0),
        ("the same, to texts in Python", opened["table"] / plain["texts"], "× pandas", None),
        ("file dropped, first rows shown", imported["first rows"] / plain["read"], "× pandas", 2.0),
        ("file dropped, findings shown", imported["findings"] / plain["read"], "× pandas", None),
        ("imported, table shown", imported["table"] / plain["read"], "× pandas", None),
        ("memory after the import", imported["memory"] / size, "× the file", 3.0),
        ("memory after opening", opened["memory"] / size, "× the file", 3.0),
        ("lateness of a 16 ms tick, p99", imported["tick p99"], f"ms (idle {imported['idle p99']:.1f})", None),
        ("lateness of a 16 ms tick, max", imported["tick max"], f"ms (idle {imported['idle max']:.1f})", None),
        ("the same while opening, p99", opened["tick p99"], f"ms (max {opened['tick max']:.1f})", None),
        ("the same while findings and costs come", opened["after p99"], f"ms (max {opened['after max']:.1f})", None),
        (
            "scrolling half a page",
            imported["scroll"] / imported["scroll few"],
            f"× 100 pairs ({imported['scroll']:.1f} ms)",
            2.0,
        ),
        ("filter by task", imported["task"] * 1000, f"ms ({imported['task'] / plain['task']:.1f} × pandas)", None),
        (
            "search without a hit",
            imported["search"] * 1000,
            f"ms ({imported['search'] / plain['search']:.1f} × pandas)",
            None,
        ),
        ("search with hits", imported["search hits"] * 1000, "ms", None),
        (
            "sort by question, first",
            imported["sort"] * 1000,
            f"ms ({imported['sort'] / plain['sort']:.1f} × pandas)",
            None,
        ),
        ("sort by question, again", imported["sort again"] * 1000, "ms", None),
        ("choosing a sample", imported["choose"] * 1000, f"ms (tick at most {imported['choose max']:.1f} late)", None),
        ("lateness of a 16 ms tick meanwhile, p99", imported["use p99"], f"ms (max {imported['use max']:.1f})", None),
    ]
    for text, value, unit, goal in rows:
        verdict = "" if goal is None else f"   goal <= {goal:g}: {'met' if value <= goal else 'MISSED'}"
        print(f"  {text:42} {value:8.2f} {unit}{verdict}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--only", choices=CONTAINERS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder), options.pairs)
        print(f"{options.pairs:,} pairs")
        for name in CONTAINERS if options.only is None else (options.only,):
            show(name, files[name])
    return 0


if __name__ == "__main__":
    sys.exit(main())
