"""PySide6 must not lose references to None: 6.12.0 does on CPython 3.11, and the process aborts within seconds."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys
from PySide6.QtWidgets import QApplication, QLabel
app = QApplication([])
label = QLabel()
label.setText("warm")
before = sys.getrefcount(None)
for i in range(1000):
    label.setText(str(i))
print(sys.getrefcount(None) - before)
"""


def test_a_thousand_void_calls_leave_the_references_to_none_alone() -> None:
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, timeout=200)
    if "ImportError" in run.stderr:
        pytest.skip(f"Qt's system libraries are missing: {run.stderr.splitlines()[-1]}")
    assert run.returncode == 0, run.stderr
    assert abs(int(run.stdout)) < 100
