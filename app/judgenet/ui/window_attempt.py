"""The child that tries to open a window: Qt ends a program at once where its plug-in for the screen does not load.

It prints the name of the platform that Qt chose (``xcb``, ``wayland``, …). Nothing is shown.
"""

from __future__ import annotations

import contextlib
import sys


def main() -> None:
    if sys.platform != "win32":
        import resource

        # Qt ends the process by abort(); a core dump is not needed.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from PySide6.QtGui import QGuiApplication

    app = QGuiApplication(["judgenet"])
    print(app.platformName())
