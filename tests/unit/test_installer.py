"""What goes into an installer: nothing that the program loads is left out, and the package asks for what is missing."""

from __future__ import annotations

import ast
import ctypes.util
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("judgenet_installer", ROOT / "packaging" / "installer.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def left_out() -> set[str]:
    """The modules that PyInstaller is told to leave out."""
    tree = ast.parse((ROOT / "packaging" / "judgenet.spec").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "UNUSED":
            return set(ast.literal_eval(node.value))
    raise AssertionError("the list of modules that are left out is not found")


def imports(file: Path) -> set[str]:
    """The modules that a file imports, and those that it takes names from."""
    found = set[str]()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{name.name}" for name in node.names}
    return found


def test_nothing_that_the_program_imports_is_left_out() -> None:
    imported = {name for file in (ROOT / "app").rglob("*.py") for name in imports(file)}
    unused = left_out()
    assert "matplotlib" in unused
    assert {name for name in imported if any(name == out or name.startswith(f"{out}.") for out in unused)} == set()


@pytest.mark.skipif(not shutil.which("dpkg-query") or not shutil.which("objdump"), reason="Debian's tools are needed")
def test_the_package_depends_on_what_its_folder_does_not_hold(installer: ModuleType, tmp_path: Path) -> None:
    found = ctypes.util.find_library("xcb-keysyms")
    if found is None:
        pytest.skip("libxcb-keysyms1 is not installed")
    places = installer._loader_cache()
    shutil.copy(places[found], tmp_path)
    needed = installer.needed_packages(tmp_path)
    assert "libxcb1" in needed
    assert any(name.startswith("libc6 (>= 2.") for name in needed)
    shutil.copy(places["libxcb.so.1"], tmp_path)
    assert "libxcb1" not in installer.needed_packages(tmp_path)
    (tmp_path / "libxcb.so.1").rename(tmp_path / "libnowhere.so.1")
    assert {"libxau6", "libxdmcp6"} <= set(installer.needed_packages(tmp_path))


def test_the_menu_entry_and_the_package_are_whole(installer: ModuleType) -> None:
    told = installer.CONTROL.format(version="1.2.3", architecture="amd64", kilobytes=5, depends="libc6 (>= 2.36)")
    fields = dict(line.split(": ", 1) for line in told.splitlines() if not line.startswith(" "))
    assert {"Package", "Version", "Architecture", "Maintainer", "Description"} <= set(fields)
    assert (fields["Version"], fields["Depends"]) == ("1.2.3", "libc6 (>= 2.36)")
    assert "Exec=judgenet %f\n" in installer.DESKTOP
    assert "*.judgenet" in installer.FILE_TYPE


@pytest.mark.skipif(sys.platform != "linux", reason="the Debian package is made on Linux")
def test_whose_the_parts_are_is_told(installer: ModuleType) -> None:
    told = installer.copyright_text().casefold()
    for part in ("judgenet", "pyside6-essentials", "lgpl-3.0", "xllamacpp", "smollm2-135m-instruct"):
        assert part in told
