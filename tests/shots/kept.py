"""The kept pictures. To renew them after a wanted change, and then to look at each: python -m tests.shots.kept"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.shots.compare import shrink

KEPT: Final = Path(__file__).parent / "kept"
NAMES: Final = tuple(
    f"{name}-1280x720"
    for name in (
        "welcome-light",
        "design-light",
        "design-dark",
        "data-light",
        "pair-dark",
        "run-light",
        "run-dark",
        "run-contrast",
        "run-end-light",
        "results-light",
        "results-dark",
        "report-light",
        "palette-dark",
        "settings-light",
        "dense-dark",
    )
)


def draw(folder: Path) -> None:
    """Draws the pictures that are kept, with the command that draws them all."""
    only = [part for name in NAMES for part in ("--only", name)]
    # The studio chooses its own platform, whatever the tests run on.
    env = {name: value for name, value in os.environ.items() if not name.startswith("QT_")}
    done = subprocess.run(
        [sys.executable, "-m", "judgenet", "shots", str(folder), *only], capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr


def main() -> None:
    """Renews the kept pictures."""
    with tempfile.TemporaryDirectory() as place:
        draw(Path(place))
        for old in KEPT.glob("*.png"):
            old.unlink()
        for name in NAMES:
            shrink(Path(place) / f"{name}.png", KEPT / f"{name}.png")
            print(KEPT / f"{name}.png")


if __name__ == "__main__":
    main()
