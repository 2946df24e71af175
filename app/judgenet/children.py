"""Programs of JudgeNet's own that run in a process of their own: the model server, pip, the attempt to open a window.

They start in the same way whether JudgeNet was installed for a Python or frozen into a program without one: a frozen
``sys.executable`` is JudgeNet itself, understands none of Python's options, and has no files of source beside it.
So nothing else starts a process by ``sys.executable``.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import MutableMapping
from importlib import import_module
from pathlib import Path

OPTION = "--child"
"""The option by which the frozen program runs a child in place of a command. No user needs it."""

CHILDREN = {
    "model-server": "judgenet.engine.embedded_server",
    "window": "judgenet.ui.window_attempt",
    "pip": "pip",
}
"""The module of each child, by the child's name. One of the package has a function ``main``."""


def is_frozen() -> bool:
    """Whether the program was frozen (by PyInstaller): it has no Python of its own to be called."""
    return bool(getattr(sys, "frozen", False))


def child_command(name: str, *arguments: str) -> tuple[str, ...]:
    """The command line that runs a child, with arguments of its own.

    :raises KeyError: there is no child of that name.
    """
    _ = CHILDREN[name]
    if is_frozen():
        return (sys.executable, OPTION, name, *arguments)
    # -P keeps this folder off the child's path, where its modules could hide others of their names.
    return (sys.executable, "-P", str(Path(__file__)), name, *arguments)


def run_child(name: str, *arguments: str) -> None:
    """Is the child: runs its module in this process."""
    module = CHILDREN[name]
    sys.argv = [name, *arguments]
    if module.startswith("judgenet."):
        import_module(module).main()
    else:
        runpy.run_module(module, run_name="__main__", alter_sys=True)


def restore_library_path(environment: MutableMapping[str, str] = os.environ) -> None:
    """Takes the frozen program's own libraries out of the environment, so that other programs which it opens (a
    browser, a viewer of PDF files) load the system's. The loader of this process has read the variable already, and a
    child of this program sets it anew where PyInstaller's start program is told to."""
    if not is_frozen():
        return
    environment["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
    before = environment.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        environment["LD_LIBRARY_PATH"] = before
    else:
        environment.pop("LD_LIBRARY_PATH", None)


if __name__ == "__main__":
    # This very package, also where another version is installed; no other module comes from here before its own place.
    _PLACE = str(Path(__file__).resolve().parent.parent)
    sys.path.insert(0, _PLACE)
    import_module("judgenet")
    sys.path.remove(_PLACE)
    sys.path.append(_PLACE)
    run_child(*sys.argv[1:])
