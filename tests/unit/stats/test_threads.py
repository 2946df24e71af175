"""Products of small matrices are not spread over threads, unless the user says so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import judgenet
import numpy
from threadpoolctl import threadpool_info
print(max([pool["num_threads"] for pool in threadpool_info() if pool["internal_api"] == "openblas"], default=""))
"""


def threads(**environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    ).stdout.strip()
    if not found:
        pytest.skip("NumPy does not use OpenBLAS here")
    return found


def test_one_thread_multiplies() -> None:
    assert threads() == "1"


def test_the_users_own_setting_holds() -> None:
    assert threads(OPENBLAS_NUM_THREADS="2") == str(min(2, os.cpu_count() or 1))
