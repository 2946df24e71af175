"""A virtual X screen with a person's hands: keys and mouse by the XTEST extension, eyes by reading the screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from Xlib import XK, X, display, error
from Xlib.ext import xtest

PATIENCE_S = 60.0


def why_no_screen() -> str:
    """Why there can be no virtual screen here; empty where there can."""
    return "" if shutil.which("Xvfb") else "Xvfb is not installed (on Debian: apt-get install xvfb)"


def wait_for(condition: Callable[[], Any], what: str, seconds: float = PATIENCE_S) -> Any:
    """What a condition gives when it gives something."""
    ends = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < ends, f"in vain: {what}"
        time.sleep(0.05)


class Screen:
    """A screen, by its display's name such as ``:99``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._display = display.Display(name)
        self._root = self._display.screen().root
        self.width, self.height = self._display.screen().width_in_pixels, self._display.screen().height_in_pixels

    def window(self, title: str) -> Any:
        """The visible window whose title holds a text, ``None`` where there is none."""
        wanted = self._display.intern_atom("_NET_WM_NAME")
        for window in self._root.query_tree().children:
            try:
                name = window.get_full_property(wanted, X.AnyPropertyType)
                if name is None or title.encode() not in name.value:
                    continue
                if window.get_attributes().map_state == X.IsViewable:
                    return window
            except error.BadWindow:
                continue
        return None

    def focus(self, window: Any) -> None:
        """Gives a window the keyboard: there is no window manager that would."""
        window.set_input_focus(X.RevertToParent, X.CurrentTime)
        self._display.sync()

    def place(self, window: Any) -> tuple[int, int, int, int]:
        """Where a window is: x, y, width, height."""
        shape = window.get_geometry()
        corner = window.translate_coords(self._root, 0, 0)
        return -corner.x, -corner.y, shape.width, shape.height

    def click(self, x: int, y: int) -> None:
        """Moves the mouse to a point and clicks."""
        xtest.fake_input(self._display, X.MotionNotify, x=x, y=y)
        self._display.sync()
        time.sleep(0.1)
        for what in (X.ButtonPress, X.ButtonRelease):
            xtest.fake_input(self._display, what, 1)
            self._display.sync()
            time.sleep(0.03)

    def press(self, *keys: str) -> None:
        """Strikes a key with those before it held: ``press("Control_L", "q")``."""
        codes = [self._display.keysym_to_keycode(XK.string_to_keysym(key)) for key in keys]
        for code in codes:
            xtest.fake_input(self._display, X.KeyPress, code)
        for code in reversed(codes):
            xtest.fake_input(self._display, X.KeyRelease, code)
        self._display.sync()

    def picture(self) -> NDArray[np.uint8]:
        """What is on the screen: height × width × 3."""
        raw = self._root.get_image(0, 0, self.width, self.height, X.ZPixmap, 0xFFFFFFFF).data
        pixels = np.frombuffer(raw, np.uint8).reshape(self.height, self.width, 4)
        return pixels[:, :, 2::-1].copy()

    def close(self) -> None:
        self._display.close()


@contextmanager
def virtual_screen(folder: Path, size: str = "1440x900x24") -> Iterator[Screen]:
    """A screen of its own, on a display that is free."""
    read, write = os.pipe()
    with (folder / "xvfb.log").open("wb") as log:
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"],
            pass_fds=(write,),
            stdout=log,
            stderr=log,
        )
    os.close(write)
    try:
        with os.fdopen(read) as told:
            number = told.readline().strip()
        assert number, (folder / "xvfb.log").read_text(errors="replace")
        screen = Screen(f":{number}")
        try:
            yield screen
        finally:
            screen.close()
    finally:
        server.terminate()
        server.wait(10)
