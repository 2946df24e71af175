"""Fixtures that all tests share."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from judgenet.engine.embedded_model import find_model

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# How fast a machine under load is says nothing of the program.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_configure() -> None:
    """Tests send SIGINT and SIGHUP to programs that they start. Where the tests themselves run in the background
    (``&``, nohup), these signals are ignored, and programs inherit that."""
    for name in ("SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP.
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the program remembers of tests is not kept among the user's own."""
    os.environ.setdefault("JUDGENET_STATE_DIR", str(tmp_path_factory.mktemp("state")))


_MOST_OBJECTS = 500_000


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """The studio switches Python's own garbage collection off and collects in its event loop. Tests that come after
    its own in a process have no such loop: what they leave would take gigabytes."""
    if not gc.isenabled() and gc.get_count()[0] > _MOST_OBJECTS:
        gc.collect()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The reference data beside the project: real pairs, labels and judge texts, which are not shipped."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the reference data (../shared/data) is not on this machine")
    return SHARED_DATA


@pytest.fixture(scope="session")
def weights() -> Path:
    """The embedded model's file, for tests against llama.cpp's real server."""
    found = find_model()
    if found is None:
        pytest.skip("the embedded model is not on this machine (fetch it with: judgenet model fetch)")
    return found
