"""The studio on a real X server, in a process of its own, as ``judgenet`` opens it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from judgenet.core.presets import network
from judgenet.core.project import Project
from judgenet.store.files import load_project, save_project

SCRIPT = """
import sys
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from judgenet.ui import app as studio_app

def studio():
    return next((w for w in QApplication.topLevelWidgets() if w.objectName() == "studio" and w.isVisible()), None)

def wait():
    window = studio()
    there = window is not None and window.context.document.file is not None and window.page("design").isVisible()
    QTimer.singleShot(500 if there else 100, act if there else wait)

def act():
    window = studio()
    page = window.page("design")
    column = page.scene.layout.columns[1]
    at = page.view.mapFromScene(column.x + column.w - 14, page.scene.layout.head - 5)
    QTest.mouseClick(page.view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    print("platform", QApplication.platformName(), "width", len(window.context.document.spec.layers[0].neurons))
    QTimer.singleShot(0, window.close)

make = studio_app.make_app

def make_app(*arguments):
    made = make(*arguments)
    QTimer.singleShot(100, wait)
    return made

studio_app.make_app = make_app
from judgenet.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_project_is_opened_changed_and_closed_on_a_screen(tmp_path: Path) -> None:
    if shutil.which("xvfb-run") is None:
        pytest.skip("xvfb-run is not on this machine (Debian: xvfb, xauth and the xcb libraries)")
    project = tmp_path / "study.judgenet"
    save_project(Project.new("study", network(2, 1)), project)
    environment = {name: value for name, value in os.environ.items() if name != "QT_QPA_PLATFORM"}
    environment |= {"JUDGENET_STATE_DIR": str(tmp_path / "state"), "JUDGENET_CONFIG_DIR": str(tmp_path / "config")}
    command = ["xvfb-run", "-a", "-s", "-screen 0 1440x900x24", sys.executable, "-c", SCRIPT, str(project)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert "platform xcb width 3" in done.stdout, done.stderr
    assert load_project(project).network == network(3, 1)
    assert list((tmp_path / "state" / "sessions").glob("*.json")) == []
