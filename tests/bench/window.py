"""The studio's window: how late its ticks are while a run goes on, and how long it takes to open.

    python -m tests.bench.window [--only ticks|start|memory|look|paint] [--seconds 30] [--latency 1.0] [--network 50x5]

Ticks: a precise timer of 16 ms on the interface's thread, with the window idle on the page Run, and while a network
runs with 100 calls in flight against the judge server in a process of its own, answers streamed. Busy is the CPU time
of the interface's thread between two ticks, which other work of the machine does not lengthen. Start: CPU time and
time from the start of Python until the window is painted, against a bare window of PySide6 with an empty plot, each
in fresh processes, in turn. Memory: what 10,000 pairs of a run of 50 x 5 neurons add to the process. Look: how long
the window is busy with one step of the scale and with another theme, with the example run open and every page made,
against one style sheet for the whole application given to the same window. Paint: from a finished call's event until
its score is painted on the canvas and in the grid, with events that come at any time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tests.bench.installed import with_bytecode
from tests.fakes.judge_server import judge_process

TICK_MS: Final = 16
GOAL_P99_MS: Final = 16.0
GOAL_START: Final = 2.0
IN_FLIGHT: Final = 100

_BARE: Final = """
import sys, time, resource
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
import pyqtgraph
app = QApplication([])
window = QMainWindow()
window.setCentralWidget(pyqtgraph.PlotWidget())
window.resize(1440, 900)
window.show()
window.grab()
def told():
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, time.time(), flush=True)
    app.quit()
QTimer.singleShot(0, told)
app.exec()
"""

_STUDIO: Final = """
import sys, time, resource
from judgenet.ui.app import Studio, make_app
import asyncio, qasync
app = make_app()
loop = qasync.QEventLoop(app)
asyncio.set_event_loop(loop)
async def live():
    studio = Studio(app)
    studio.show(None)
    studio.window.grab()
    await asyncio.sleep(0)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, time.time(), flush=True)
    await studio.window.shut_down()
loop.run_until_complete(live())
"""


def _environment(folder: Path) -> dict[str, str]:
    return {
        **with_bytecode(folder),
        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", "offscreen"),
        "JUDGENET_STATE_DIR": str(folder / "state"),
        "JUDGENET_CONFIG_DIR": str(folder / "config"),
    }


# Start


def measure_start(times: int) -> None:
    """Opens both windows in turn and prints medians and their ratio."""
    found: dict[str, list[tuple[float, float]]] = {"bare": [], "studio": []}
    with tempfile.TemporaryDirectory() as place:
        environment = _environment(Path(place))
        for turn in range(times + 1):
            for name, code in (("bare", _BARE), ("studio", _STUDIO)):
                began = time.time()
                done = subprocess.run(
                    [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
                )
                cpu, shown = (float(word) for word in done.stdout.split()[-2:])
                if turn:  # the first turn fills the disk's cache and compiles
                    found[name].append((cpu, shown - began))
    medians = {
        name: tuple(statistics.median(row[place] for row in rows) for place in range(2)) for name, rows in found.items()
    }
    print(f"\nwindow shown after start, median of {times}")
    print(f"{'':<24}{'CPU s':>8}{'s':>8}")
    for name, (cpu, wall) in medians.items():
        print(f"{name:<24}{cpu:>8.2f}{wall:>8.2f}")
    ratio, wall_ratio = (medians["studio"][place] / medians["bare"][place] for place in range(2))
    print(f"{'ratio':<24}{ratio:>8.2f}{wall_ratio:>8.2f}   goal <= {GOAL_START:.0f}")


# Ticks


def measure_ticks(seconds: float, latency: float, network: str, pairs: int) -> None:
    """Runs the window in a process of its own and prints how late its ticks were."""
    with tempfile.TemporaryDirectory() as place, judge_process("--latency", str(latency), "--keep", "none") as url:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench.window", "--window", place, url, str(seconds), network, str(pairs)],
            env=_environment(Path(place)),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(done.stderr)
    told = json.loads(done.stdout.splitlines()[-1])
    print(f"\nlateness of a tick of {TICK_MS} ms, ms; {network} neurons, {pairs:,} pairs, {latency:g} s an answer")
    heads = ("p50", "p99", "max", "busy p99", "ticks", "CPU %", "calls/s", "in flight")
    print(" " * 24 + "".join(f"{head:>10}" for head in heads))
    for name in ("idle", "running"):
        row = told[name]
        print(
            f"{name:<24}{row['p50']:>10.1f}{row['p99']:>10.1f}{row['max']:>10.1f}{row['busy']:>10.1f}{row['ticks']:>10,}"
            f"{row['cpu']:>10.0f}{row['rate']:>10.1f}{row['in_flight']:>10.0f}"
        )
    print(f"goal: p99 <= {GOAL_P99_MS:.0f} while running. Memory {told['memory'][0]:.0f} -> {told['memory'][1]:.0f} MB")


def _late(ticks: list[float]) -> dict[str, float]:
    late = sorted(ticks)
    at = lambda share: late[min(len(late) - 1, int(share * len(late)))]  # noqa: E731
    return {"p50": at(0.5), "p99": at(0.99), "max": late[-1], "ticks": len(late)}


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    return pages * resource.getpagesize() / 1e6


def window_process(place: str, url: str, seconds: float, network: str, pairs: int) -> None:
    """The process with the window: prints one line of JSON."""
    import qasync
    from PySide6.QtCore import QObject, Qt, QTimer

    from judgenet.core.endpoints import EndpointProfile
    from judgenet.core.network import Role, RolesSpec, Settings
    from judgenet.core.presets import network as made
    from judgenet.core.project import PairsSource, Project
    from judgenet.store.files import save_project
    from judgenet.ui.app import Studio, make_app

    class Ticks(QObject):
        """A precise timer that writes down how late it was, in ms."""

        def __init__(self) -> None:
            super().__init__()
            self.late: list[float] = []
            self.busy: list[float] = []
            self._next = 0.0
            self._used = 0.0
            self.timer = QTimer(self)
            self.timer.setTimerType(Qt.TimerType.PreciseTimer)
            self.timer.setInterval(TICK_MS)
            self.timer.timeout.connect(self._tick)

        def start(self) -> None:
            self.late = []
            self.busy = []
            self._used = time.thread_time()
            self._next = time.perf_counter() + TICK_MS / 1000
            self.timer.start()

        def _tick(self) -> None:
            now, used = time.perf_counter(), time.thread_time()
            self.busy.append((used - self._used) * 1000)
            self._used = used
            late = (now - self._next) * 1000
            self.late.append(max(0.0, late))
            # A tick that is missed is one late tick, not many.
            self._next = (self._next if late < TICK_MS else now) + TICK_MS / 1000

    width, depth = (int(part) for part in network.split("x"))
    data = Path(place) / "pairs.jsonl"
    with data.open("w", encoding="utf-8") as out:
        for number in range(pairs):
            pair = {
                "id": f"p{number}",
                "question": f"Question {number} of the benchmark?",
                "response_a": f"The first answer to question {number}. " * 12,
                "response_b": f"The second answer to question {number}. " * 10,
                "human": "ab"[number % 2],
            }
            out.write(json.dumps(pair) + "\n")
    spec = made(width, depth, settings=Settings(endpoint="fake", model="judge"))
    spec = replace(spec, roles=RolesSpec("fixed", roles=tuple(Role(f"Aspect {i + 1}", "Look.") for i in range(width))))
    project = replace(
        Project.new("Bench", spec, PairsSource((data.name,))),
        endpoints=(EndpointProfile("fake", base_url=f"{url}/v1", model="judge", concurrency=IN_FLIGHT),),
    )
    path = Path(place) / "bench.judgenet"
    save_project(project, path)
    app = make_app()
    app.setQuitOnLastWindowClosed(False)
    loop = qasync.QEventLoop(app)
    asyncio.set_event_loop(loop)
    told: dict[str, Any] = {}

    async def measured(ticks: Ticks, of: float, state: Any) -> dict[str, float]:
        cpu, calls, began = time.process_time(), state.progress.calls, time.perf_counter()
        flights: list[int] = []
        ticks.start()
        while time.perf_counter() - began < of:
            await asyncio.sleep(0.5)
            flights.append(state.progress.in_flight)
        ticks.timer.stop()
        took = time.perf_counter() - began
        return {
            **_late(ticks.late),
            "busy": _late(ticks.busy)["p99"],
            "cpu": 100 * (time.process_time() - cpu) / took,
            "rate": (state.progress.calls - calls) / took,
            "in_flight": statistics.mean(flights),
        }

    async def live() -> None:
        studio = Studio(app)
        window = studio.window
        window.resize(1440, 900)
        studio.show(path)
        context = window.context
        state = context.run_state
        while not context.document.pairs or context.figures.stale:
            await asyncio.sleep(0.05)
        context.navigator.go("run")
        await asyncio.sleep(3)
        ticks = Ticks()
        told["idle"] = await measured(ticks, min(seconds, 10), state)
        context.actions.trigger("run.start")
        while state.progress.in_flight < IN_FLIGHT * 0.9:
            await asyncio.sleep(0.05)
        await asyncio.sleep(2)
        before = _resident_mb()
        told["running"] = await measured(ticks, seconds, state)
        told["memory"] = [before, _resident_mb()]
        await window.shut_down()

    loop.run_until_complete(live())
    print(json.dumps(told), flush=True)


# Memory


def measure_memory(pairs: int) -> None:
    """How much the interface's own picture of a run holds, from the first event to the last."""
    import tracemalloc

    from judgenet.core.events import CallFinished, CallStarted, PairFinished
    from judgenet.core.network import Role, RolesSpec
    from judgenet.core.pairs import ORDERS, Pair
    from judgenet.core.presets import network as made
    from judgenet.store.frame import RunFrame
    from judgenet.store.runs import RunInfo

    spec = replace(made(50, 5), roles=RolesSpec("fixed", roles=tuple(Role(f"Aspect {i}") for i in range(50))))
    run = RunInfo("run-1", 1, "", 0.0, None, "running", "", {})
    judged = [Pair(f"p{number}", "q", "a", "b", human="a") for number in range(pairs)]
    tracemalloc.start()
    table = RunFrame.fresh(run, spec, judged)
    held: list[float] = []
    marks = {round(pairs * share) - 1 for share in (0.02, 0.5, 1.0)}
    for pair in range(pairs):
        if pair in marks or pair % 50 == 0:
            for layer in range(1, 6):
                for neuron in range(1, 51):
                    for order in ORDERS:
                        table.take(CallStarted("run-1", pair, layer, neuron, order, 1))
                        table.take(
                            CallFinished(
                                "run-1",
                                pair,
                                layer,
                                neuron,
                                order,
                                1,
                                "scored",
                                None,
                                "a",
                                8.0,
                                6.0,
                                False,
                                900,
                                100,
                                0,
                                0.001,
                                2.0,
                                1,
                            )
                        )
            table.take(PairFinished("run-1", pair, f"p{pair}", "a", (("c1", "a"), ("c2_all", "a")), 500, 500, 0))
        if pair in marks:
            held.append(tracemalloc.get_traced_memory()[0] / 1e6)
    print(f"\nmemory of a run of 50 x 5 neurons on {pairs:,} pairs, as the interface holds it: MB after 2 %, half, all")
    print("  ".join(f"{value:.0f}" for value in held))


# Look


def measure_look(times: int) -> None:
    """Changes scale and theme on pages in turn and prints medians beside those of an application-wide style sheet."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "tests.bench.window", "--look", place, str(times)]
        done = subprocess.run(command, env=_environment(Path(place)), capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
    rows = json.loads(done.stdout.splitlines()[-1])
    print(f"\nCPU s of one change of the look, median of {times}")
    print(f"{'page':<16}{'widgets':>8}{'scale':>8}{'theme':>8}{'one sheet for all':>20}{'scale / that':>14}")
    for page, widgets, scale, theme, whole in rows:
        print(f"{page:<16}{widgets:>8,}{scale:>8.3f}{theme:>8.3f}{whole:>20.3f}{scale / whole:>14.2f}")


def look_process(place: str, times: int) -> None:
    """The process with the window whose look changes: prints one line of JSON."""
    import qasync
    from PySide6.QtWidgets import QWidget

    from judgenet.engine.example import record_example
    from judgenet.ui.app import Studio, make_app
    from judgenet.ui.navigation import PAGES
    from judgenet.ui.style import QssImages, render_qss

    file = record_example(Path(place)).file
    app = make_app()
    loop = qasync.QEventLoop(app)
    asyncio.set_event_loop(loop)
    found: list[tuple[str, int, float, float, float]] = []

    async def live() -> None:
        studio = Studio(app)
        window = studio.window
        studio.settings.set(theme="light", reduce_motion=True)
        window.resize(1440, 900)
        studio.show(file)
        context = window.context
        while not context.document.pairs or context.figures.stale:
            await asyncio.sleep(0.05)

        async def rest() -> None:
            while window.tasks.jobs or context.results.working or context.figures.stale:
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.5)

        for page in PAGES:
            context.navigator.go(page)
            await rest()

        async def busy(**changes: Any) -> float:
            began = time.process_time()
            studio.settings.set(**changes)
            app.processEvents()
            took = time.process_time() - began
            await rest()
            return took

        async def whole(scale: float) -> float:
            sheet = render_qss(context.theme.theme.colors, scale, "comfortable", 96, images)
            began = time.process_time()
            app.setStyleSheet(sheet)
            app.processEvents()
            took = time.process_time() - began
            await rest()
            return took

        images = QssImages()
        pages = ("design", "data", "run", "results", "bias")
        for page in pages:
            context.navigator.go(page)
            await rest()
            steps = [await busy(scale=1.1 if turn % 2 == 0 else 1.0) for turn in range(2 * times)]
            themes = [await busy(theme="dark" if turn % 2 == 0 else "light") for turn in range(2 * times)]
            found.append(
                (page, len(window.findChildren(QWidget)), statistics.median(steps), statistics.median(themes), 0)
            )
        for part in window.findChildren(QWidget):
            part.setStyleSheet("")
        await whole(1.2)  # styles the application for the first time
        for place_of, page in enumerate(pages):
            context.navigator.go(page)
            await rest()
            steps = [await whole(1.1 if turn % 2 == 0 else 1.0) for turn in range(2 * times)]
            found[place_of] = (*found[place_of][:4], statistics.median(steps))
        await window.shut_down()

    loop.run_until_complete(live())
    print(json.dumps(found), flush=True)


# Paint


def measure_paint(times: int) -> None:
    """Hands events over one by one and prints how long it takes until each is painted."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "tests.bench.window", "--paint", place, str(times)]
        done = subprocess.run(command, env=_environment(Path(place)), capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
    print(f"\nms from a finished call's event until its score is painted, {times} calls")
    print(f"{'':<24}{'p50':>8}{'p90':>8}{'max':>8}")
    for name, taken in json.loads(done.stdout.splitlines()[-1]).items():
        late = sorted(taken)
        print(f"{name:<24}{statistics.median(late):>8.1f}{late[int(0.9 * (len(late) - 1))]:>8.1f}{late[-1]:>8.1f}")


def paint_process(place: str, times: int) -> None:
    """The process with the window whose events are timed: prints one line of JSON."""
    import random

    import qasync
    from PySide6.QtCore import QEvent, QObject
    from PySide6.QtWidgets import QWidget

    from judgenet.core.events import CallFinished, CallStarted, RunStarted
    from judgenet.core.network import Role, RolesSpec
    from judgenet.core.pairs import ORDERS, Pair
    from judgenet.core.presets import network as made
    from judgenet.core.project import PairsSource, Project
    from judgenet.store.files import save_project
    from judgenet.store.runs import RunInfo
    from judgenet.ui.app import Studio, make_app
    from judgenet.ui.canvas.model import Place
    from judgenet.ui.pages.run import RunPage

    width, depth = 10, 5
    roles = RolesSpec("fixed", roles=tuple(Role(f"Aspect {i}", "Look.") for i in range(width)))
    spec = replace(made(width, depth), roles=roles)
    judged = tuple(Pair(f"p{number}", "q", "a", "b") for number in range(max(1, times // (2 * width * depth)) + 1))
    data = Path(place) / "pairs.jsonl"
    data.write_text("".join(json.dumps(pair.to_json()) + "\n" for pair in judged), encoding="utf-8")
    file = Path(place) / "paint.judgenet"
    save_project(Project.new("paint", spec, PairsSource((data.name,))), file)
    app = make_app()
    loop = qasync.QEventLoop(app)
    asyncio.set_event_loop(loop)
    taken: dict[str, list[float]] = {"canvas": [], "grid": []}

    class Paints(QObject):
        """Writes down when a widget was painted."""

        def __init__(self, widget: QWidget) -> None:
            super().__init__(widget)
            self.at = 0.0
            widget.installEventFilter(self)

        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint:
                self.at = time.perf_counter()
            return False

    async def live() -> None:
        studio = Studio(app)
        window = studio.window
        studio.settings.set(theme="light", reduce_motion=True)
        window.resize(1440, 900)
        studio.show(file)
        context = window.context
        await context.document.loaded()
        run = RunInfo("run-1", 1, "", 0.0, None, "running", "", {})
        context.run_state.begin(run, spec, judged, resumes=False)
        context.navigator.go("run")
        page = window.page("run")
        assert isinstance(page, RunPage)
        bridge, scene = window.bridge, page.canvas.scene
        bridge.put(RunStarted("run-1", len(judged), 0, 2 * width * depth * len(judged)))
        bridge.open()
        context.run_state.set_focus(0)
        await asyncio.sleep(1)
        painted = {"canvas": Paints(page.canvas.view.viewport()), "grid": Paints(page.dock.grid.grid.viewport())}
        rest = random.Random(7)
        sites = [(layer, neuron, order) for layer in range(depth) for neuron in range(width) for order in ORDERS]
        for number in range(times):
            pair, at = divmod(number, len(sites))
            if at == 0:
                context.run_state.set_focus(pair)
            await asyncio.sleep(rest.uniform(0.25, 0.35))
            layer, neuron, order = sites[at]
            call = (pair, layer + 1, neuron + 1, order, 1)
            bridge.put(CallStarted("run-1", *call))
            began = time.perf_counter()
            bridge.put(CallFinished("run-1", *call, "scored", None, "a", 8.0, 6.0, False, 900, 100, 0, 0.001, 2.0, 1))
            missing = set(painted)
            while missing and time.perf_counter() - began < 2:
                await asyncio.sleep(0.001)
                drawn = scene.state(Place(layer, neuron)).order(order) is not None
                for name in tuple(missing):
                    if painted[name].at > began and (drawn or name == "grid"):
                        taken[name].append((painted[name].at - began) * 1000)
                        missing.discard(name)
        bridge.close()
        await window.shut_down()

    loop.run_until_complete(live())
    print(json.dumps(taken), flush=True)


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] == "--paint":
        paint_process(sys.argv[2], int(sys.argv[3]))
        return
    if len(sys.argv) > 1 and sys.argv[1] == "--look":
        look_process(sys.argv[2], int(sys.argv[3]))
        return
    if len(sys.argv) > 1 and sys.argv[1] == "--window":
        place, url, seconds, network, pairs = sys.argv[2:]
        window_process(place, url, float(seconds), network, int(pairs))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("ticks", "start", "memory", "look", "paint"))
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds before each answer")
    parser.add_argument("--network", default="50x5")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    if given.only in (None, "start"):
        measure_start(given.times)
    if given.only in (None, "ticks"):
        measure_ticks(given.seconds, given.latency, given.network, given.pairs)
    if given.only in (None, "memory"):
        measure_memory(10_000)
    if given.only in (None, "look"):
        measure_look(given.times)
    if given.only in (None, "paint"):
        measure_paint(20 * given.times)


if __name__ == "__main__":
    main()
