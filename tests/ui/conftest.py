"""A studio to use as a person does, offscreen: its own settings, its own loop; nothing may warn unexpectedly."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytestqt.plugin

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtWidgets import QApplication

from judgenet.ui.app import Studio, make_app
from judgenet.ui.settings import StudioSettings
from tests.fakes.judge_server import JudgeServer
from tests.unit.conftest import config, key_store

__all__ = ["config", "key_store"]

# pytest-qt lets Qt work between the phases of a test, where the interface's loop stands still: coroutines would be
# stepped without a running loop.
pytestqt.plugin._process_events = lambda: None

DEADLINE_S = 120.0
"""Nothing here takes a tenth of this, but a machine under load may."""


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@pytest.fixture(scope="session", autouse=True)
def clipboard(qapp: QApplication) -> Iterator[None]:
    """Empties the clipboard at the end: what Python put there would be destroyed after Python has gone."""
    yield
    qapp.clipboard().clear()


@pytest.fixture
def loop(qapp: QApplication) -> Iterator[qasync.QEventLoop]:
    """The interface's loop; what is left on it at the end is cancelled."""
    made = qasync.QEventLoop(qapp)
    asyncio.set_event_loop(made)
    yield made
    left = asyncio.all_tasks(made)
    for task in left:
        task.cancel()
    if left:
        made.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    made.run_until_complete(made.shutdown_asyncgens())
    made.close()
    asyncio.set_event_loop(None)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs coroutine tests on the interface's loop."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    running = pyfuncitem.funcargs["loop"]
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    running.run_until_complete(asyncio.wait_for(pyfuncitem.obj(**arguments), DEADLINE_S))
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Coroutine tests need the loop."""
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and inspect.iscoroutinefunction(item.obj)
            and "loop" not in item.fixturenames
        ):
            item.fixturenames.append("loop")


@pytest.fixture(autouse=True)
def no_warnings(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test that logs a warning or worse. A test that expects one clears ``caplog``."""
    caplog.set_level(logging.INFO)
    yield
    heard = [record for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    assert not heard, [record.getMessage() for record in heard]


@pytest.fixture(autouse=True)
def no_pages_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are made when a test wants them. The studio otherwise makes all of them while it is idle, which takes
    longer than most tests."""
    monkeypatch.setattr("judgenet.ui.app.FIRST_PAGE_MS", 3_600_000)


@pytest.fixture
def pages_ahead(no_pages_ahead: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are made as in real use."""
    monkeypatch.setattr("judgenet.ui.app.FIRST_PAGE_MS", 150)


@pytest.fixture
def place(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clean folder for projects, with settings and state of its own."""
    monkeypatch.setenv("JUDGENET_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def studio(place: Path, qapp: QApplication, loop: qasync.QEventLoop) -> Iterator[Studio]:
    """The studio with its window shown, 1,440 × 900, on the welcome page, in the light theme."""
    made = make_studio()
    yield made
    loop.run_until_complete(made.close())


def make_studio(size: tuple[int, int] = (1440, 900), **preferences: Any) -> Studio:
    """A studio; close it with ``close``."""
    app = make_app()
    # Before the studio, which would otherwise be styled twice.
    kept = StudioSettings()
    kept.set(**{"theme": "light", "reduce_motion": True, **preferences})
    kept.flush()
    studio = Studio(app)
    studio.window.resize(*size)
    studio.show(None)
    app.sendPostedEvents(None, 0)
    return studio


@pytest.fixture
def judge() -> Iterator[JudgeServer]:
    """A judge that answers at once."""
    with JudgeServer() as server:
        yield server


async def until(condition: Callable[[], bool], what: str = "", seconds: float = 60.0) -> None:
    """Waits until something is so, with the loop alive."""
    ends = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < ends, f"in vain: {what or inspect.getsource(condition)}"
        await asyncio.sleep(0.01)


async def settle(rounds: int = 5) -> None:
    """Lets what is queued happen."""
    for _ in range(rounds):
        await asyncio.sleep(0)
    await asyncio.sleep(0.02)
