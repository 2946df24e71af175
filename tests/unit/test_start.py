"""``packaging/start.py``: the first command with a screen and without one, and set-up without root."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "packaging" / "start.py"
COMPLETE = [{"platform": "xcb", "libraries": [], "packages": []}]
INCOMPLETE = [
    {"platform": "xcb", "libraries": ["libxcb-icccm.so.4"], "packages": ["libxcb-icccm4"]},
    {"platform": "wayland", "libraries": ["libwayland-cursor.so.0"], "packages": ["libwayland-cursor0"]},
]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module that sets nothing up."""
    spec = importlib.util.spec_from_file_location("judgenet_start", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "set_up", lambda dev: None)
    monkeypatch.setattr(module.sys, "argv", ["start.py"])
    monkeypatch.setattr(module.sys, "platform", "linux")
    return module


def test_without_an_argument_the_studio_opens_with_the_example(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(start, "screen", lambda: {"opens": True, "reason": None, "plugins": COMPLETE})
    monkeypatch.setattr(start, "judgenet", lambda *words: asked.append(words) or 0)
    assert start.main() == 0
    assert asked == [("--example",)]
    assert "no better\nthan tossing a coin" in capsys.readouterr().out


def test_without_a_screen_it_says_so_and_the_demo_runs_in_the_terminal(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = "There is no screen here, and the studio needs one."
    monkeypatch.setattr(start, "screen", lambda: {"opens": False, "reason": reason, "plugins": COMPLETE})
    monkeypatch.setattr(start, "demo", lambda: 7)
    assert start.main() == 7
    assert f"{reason} So the demo runs in the terminal." in capsys.readouterr().out


def test_set_up_installs_what_windows_need_until_nothing_is_missing(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A library that was missing can itself need another."""
    deeper = [{"platform": "xcb", "libraries": ["libxcb-util.so.1"], "packages": ["libxcb-util1"]}]
    seen = iter([INCOMPLETE, deeper, COMPLETE])
    installed: list[list[str]] = []
    monkeypatch.setattr(start, "runtime_failure", lambda: "")
    monkeypatch.setattr(start.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(start, "screen", lambda: {"opens": False, "reason": "no", "plugins": next(seen)})
    monkeypatch.setattr(start, "apt_install", lambda names: installed.append(names) or True)
    start.add_system_libraries(for_tests=False)
    assert installed == [["libwayland-cursor0", "libxcb-icccm4"], ["libxcb-util1"]]
    assert capsys.readouterr().out == "== System libraries: in place\n"


def test_without_root_set_up_names_exactly_what_is_missing(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start, "runtime_failure", lambda: "")
    monkeypatch.setattr(start.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(start, "privilege", lambda: None)
    monkeypatch.setattr(start, "screen", lambda: {"opens": False, "reason": "no", "plugins": INCOMPLETE})
    start.add_system_libraries(for_tests=False)
    told = capsys.readouterr().out
    assert "missing: libwayland-cursor.so.0 libxcb-icccm.so.4\n" in told
    assert "to install them: sudo apt-get install libwayland-cursor0 libxcb-icccm4\n" in told


@pytest.mark.parametrize("words", [["paint"], ["demo", "--fast"]])
def test_other_words_are_refused(start: ModuleType, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start.sys, "argv", ["start.py", *words])
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == 2


def test_the_developers_tools_are_installed_for_the_tests_alone(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[Any] = []
    monkeypatch.setattr(start, "set_up", lambda dev: wanted.append(dev))
    for name in ("studio", "demo", "tests"):
        monkeypatch.setattr(start, name, lambda *_: 0)
    for words in ([], ["demo"], ["test"], ["setup"]):
        monkeypatch.setattr(start.sys, "argv", ["start.py", *words])
        assert start.main() == 0
    assert wanted == [False, False, True, True]
