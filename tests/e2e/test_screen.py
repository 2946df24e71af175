"""The real program on a virtual screen: opened with a project, run on the fake judge, its results looked at, closed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

from judgenet.colors import COLORS
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import Settings
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.store.db import Store
from judgenet.store.files import save_project, store_path
from judgenet.store.runs import run_info
from tests.e2e.command import write_pairs
from tests.fakes.judge_server import JudgeServer

if TYPE_CHECKING:
    from tests.e2e.screen import Screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X11 is Linux's")


def _project(folder: Path, url: str) -> Path:
    write_pairs(folder / "pairs.jsonl", 6)
    spec = network(2, 2, settings=Settings(endpoint="fake", model="judge"))
    project = replace(
        Project.new("On the screen", spec, PairsSource(("pairs.jsonl",))),
        endpoints=(EndpointProfile("fake", base_url=url, model="judge"),),
    )
    path = folder / "On the screen.judgenet"
    save_project(project, path)
    return path


def _run_state(project: Path) -> str:
    store = store_path(project)
    if not store.exists():
        return ""
    with Store.open(store, readonly=True) as opened:
        found = opened.reader.execute("SELECT count(*) FROM runs").fetchone()[0]
        return run_info(opened).state if found else ""


def _colors(picture: NDArray[np.uint8]) -> int:
    return len(np.unique(picture.reshape(-1, 3), axis=0))


def _differs(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """The share of pixels that differ."""
    return float((one != other).any(axis=2).mean())


def _rests(screen: Screen) -> bool:
    """Whether nothing moves for a while: a button that is being put elsewhere would not be hit."""
    before = screen.picture()
    time.sleep(0.5)
    return _differs(screen.picture(), before) < 0.001


def _is_accent(part: NDArray[np.uint8]) -> bool:
    """Whether a part of the screen is mostly in the accent's colour."""
    return any(
        float((np.abs(part.astype(int) - _rgb(colors.accent)) < 4).all(axis=2).mean()) > 0.4
        for colors in COLORS.values()
    )


def _rgb(color: str) -> NDArray[np.int_]:
    return np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)])


@pytest.mark.timeout(400)
def test_studio_on_a_screen(tmp_path: Path, config: Path) -> None:
    pytest.importorskip("Xlib", reason="python-xlib is not installed (it is a test tool)")
    from tests.e2e.screen import virtual_screen, wait_for, why_no_screen

    if why := why_no_screen():
        pytest.skip(why)
    state = tmp_path / "state"
    with JudgeServer(latency=0.02) as server, virtual_screen(tmp_path) as screen:
        project = _project(tmp_path, server.url)
        env = {name: value for name, value in os.environ.items() if not name.startswith(("QT_", "WAYLAND_"))}
        env |= {
            "DISPLAY": screen.name,
            "QT_QPA_PLATFORM": "xcb",
            "JUDGENET_STATE_DIR": str(state),
            "JUDGENET_CONFIG_DIR": str(config),
        }
        program = subprocess.Popen(
            [sys.executable, "-m", "judgenet", str(project)], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            empty = screen.picture()
            window = wait_for(lambda: screen.window("On the screen"), "the window with the project")
            screen.focus(window)
            left, top, width, _ = screen.place(window)
            wait_for(lambda: _colors(screen.picture()) > 200, "a page that is drawn")
            design = screen.picture()
            assert _differs(design, empty) > 0.5
            # By keys to the page Run, by mouse on its one primary button, at the right end of the top bar.
            screen.press("Control_L", "4")
            wait_for(lambda: _differs(screen.picture(), design) > 0.02, "the page Run")
            x, y = left + width - 50, top + 24
            wait_for(lambda: _is_accent(screen.picture()[y - 10 : y + 10, x - 20 : x + 20]), "the button Run")
            assert not server.requests
            wait_for(lambda: _rests(screen), "a page that stands still")
            screen.click(x, y)
            wait_for(lambda: server.requests, "the first call")
            wait_for(lambda: _run_state(project) == "done", "the end of the run")
            assert server.requests == 6 * (1 + 2 * 2 * 2)
            watched = screen.picture()
            assert _colors(watched) > 200
            screen.press("Control_L", "5")
            wait_for(lambda: _differs(screen.picture(), watched) > 0.05, "the page Results")
            wait_for(lambda: _colors(screen.picture()) > 200, "results that are drawn")
            screen.press("Control_L", "q")
            said = program.communicate(timeout=120)[0].decode(errors="replace")
        finally:
            program.kill()
            program.wait()
    assert program.returncode == 0, said
    assert not said
    assert "results" in (state / "studio.ini").read_text(encoding="utf-8")


@pytest.mark.timeout(400)
def test_a_run_does_not_go_on_where_the_screen_is_lost(tmp_path: Path, config: Path) -> None:
    """Qt ends the program's loop; what was answered stays, and nothing more is asked and paid for without a window."""
    pytest.importorskip("Xlib", reason="python-xlib is not installed (it is a test tool)")
    from tests.e2e.screen import virtual_screen, wait_for, why_no_screen

    if why := why_no_screen():
        pytest.skip(why)
    with JudgeServer(latency=0.3) as server:
        project = _project(tmp_path, server.url)
        write_pairs(tmp_path / "pairs.jsonl", 300)
        env = {name: value for name, value in os.environ.items() if not name.startswith(("QT_", "WAYLAND_"))}
        env |= {"QT_QPA_PLATFORM": "xcb", "JUDGENET_STATE_DIR": str(tmp_path), "JUDGENET_CONFIG_DIR": str(config)}
        with virtual_screen(tmp_path) as screen:
            program = subprocess.Popen(
                [sys.executable, "-m", "judgenet", str(project)],
                env=env | {"DISPLAY": screen.name},
                stderr=subprocess.PIPE,
                text=True,
            )
            window = wait_for(lambda: screen.window("On the screen"), "the window with the project")
            screen.focus(window)
            left, top, width, _ = screen.place(window)
            wait_for(lambda: _colors(screen.picture()) > 200, "a page that is drawn")
            x, y = left + width - 50, top + 24
            screen.press("Control_L", "4")
            wait_for(lambda: _is_accent(screen.picture()[y - 10 : y + 10, x - 20 : x + 20]), "the button Run")
            wait_for(lambda: _rests(screen), "a page that stands still")
            screen.click(x, y)
            wait_for(lambda: server.requests > 5, "the first calls")
        try:
            _, said = program.communicate(timeout=60)
        finally:
            program.kill()
        assert (program.returncode, "Traceback" in said) == (1, False), said
        assert "The connection to the screen was lost. Nothing is lost" in said
        with Store.open(store_path(project), readonly=True) as store:
            kept = store.reader.execute("SELECT count(*) FROM calls").fetchone()[0]
        assert 0 < kept <= server.requests < 300 * 9
