"""The kept pictures, and those of the README. To renew them after a wanted change, and then to look at each:

python -m tests.shots.kept
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.shots.compare import shrink

KEPT: Final = Path(__file__).parent / "kept"
README: Final = Path(__file__).parents[2] / "resources" / "docs" / "pictures"
_PAGES: Final = tuple(
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
        "labels-light",
        "labels-dark",
        "bias-light",
        "bias-dark",
        "bias-pairs-light",
        "report-light",
        "palette-dark",
        "settings-light",
        "dense-dark",
    )
)
_LOOKS: Final = ("light", "dark")
_SHOWN: Final = tuple(f"{page}-{look}-1440x900" for page in ("design", "run", "results", "bias") for look in _LOOKS)
FILES: Final = {
    **{name: KEPT / f"{name}.png" for name in _PAGES},
    **{name: README / f"{name.removesuffix('-1440x900')}.png" for name in _SHOWN},
}
"""Where each picture is kept, by its name."""


def draw(folder: Path, names: Iterable[str] = FILES) -> None:
    """Draws the pictures that are kept, or some of them, with the command that draws them all."""
    only = [part for name in names for part in ("--only", name)]
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
        for folder in (KEPT, README):
            for old in folder.glob("*.png"):
                old.unlink()
        for name, path in FILES.items():
            shrink(Path(place) / f"{name}.png", path)
            print(path)


if __name__ == "__main__":
    main()
