"""Processes that the program starts of itself: the same way installed and frozen."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from judgenet import children
from judgenet.children import CHILDREN, OPTION, child_command, restore_library_path

PACKAGE = Path(children.__file__).parent


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)


def test_nothing_else_starts_a_process_by_the_interpreter() -> None:
    """A frozen program's ``sys.executable`` is the program itself."""
    users = [str(path) for path in PACKAGE.rglob("*.py") if re.search(r"sys\.executable", path.read_text("utf-8"))]
    assert users == [str(PACKAGE / "children.py")]


@pytest.mark.parametrize("name", CHILDREN)
def test_each_child_is_there(name: str) -> None:
    module = importlib.import_module(CHILDREN[name])
    assert name == "pip" or callable(module.main)


def test_an_unknown_child_is_refused() -> None:
    with pytest.raises(KeyError):
        child_command("nothing")


def test_a_child_runs_from_any_folder_though_the_package_is_on_no_path(tmp_path: Path) -> None:
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__main__.py").write_text("print('the wrong pip')\n", encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(child_command("pip", "--version"), cwd=tmp_path, env=env, capture_output=True, text=True)
    assert ran.stdout.startswith("pip ")
    env["QT_QPA_PLATFORM"] = "offscreen"
    ran = subprocess.run(child_command("window"), cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "offscreen\n")


def test_the_frozen_program_runs_a_child_by_a_word_of_its_own(frozen: None) -> None:
    assert child_command("pip", "--version") == (sys.executable, OPTION, "pip", "--version")
    # What the frozen program begins with understands that word.
    ran = subprocess.run(
        [sys.executable, "-m", "judgenet", OPTION, "pip", "--version"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("pip ")


def test_other_programs_do_not_load_the_frozen_programs_libraries(frozen: None) -> None:
    environment = {"LD_LIBRARY_PATH": "/bundle", "LD_LIBRARY_PATH_ORIG": "/usr/local/lib"}
    restore_library_path(environment)
    assert environment == {"LD_LIBRARY_PATH": "/usr/local/lib", "PYINSTALLER_RESET_ENVIRONMENT": "1"}
    environment = {"LD_LIBRARY_PATH": "/bundle"}
    restore_library_path(environment)
    assert "LD_LIBRARY_PATH" not in environment


def test_an_installed_program_leaves_the_path_of_libraries_alone() -> None:
    environment = {"LD_LIBRARY_PATH": "/usr/local/lib"}
    restore_library_path(environment)
    assert environment == {"LD_LIBRARY_PATH": "/usr/local/lib"}
