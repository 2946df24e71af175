"""What benches of starts have in common: the program as an installer leaves it."""

from __future__ import annotations

import os
from pathlib import Path


def with_bytecode(folder: Path) -> dict[str, str]:
    """The environment of processes that keep the bytecode of all modules in ``folder`` and use it from the second
    start on. pip compiles what it installs; from a source tree, and where PYTHONDONTWRITEBYTECODE is set, each start
    would compile the program's modules anew and measure the compiler."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
