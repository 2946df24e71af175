"""How much a file may unpack to, and how much memory reading it may take."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Final

from judgenet.formats.errors import DataError, shown
from judgenet.formats.watch import Watch

DEFAULT_LIMIT: Final = 2**30
"""Bytes that a file may unpack to where nothing else is said: 1 GiB."""

VARIABLE: Final = "JUDGENET_UNPACK_LIMIT"
OPTION: Final = "--unpack-limit"

_MEMORY_FACTOR: Final = 2.75
"""Memory while reading stays below three times the limit; the rest allows for what is noticed a moment too late."""

_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Reads a number of bytes such as ``4GB``, ``512 MiB`` or ``1000000``.

    :raises DataError: it is none, or 0.
    """
    match = _SIZE.fullmatch(text)
    size = 0
    if match:
        size = round(float(match[1]) * (1024 if match[3] else 1000) ** " kmgt".index(match[2].lower() or " "))
    if size < 1:
        raise DataError(f"Cannot read {shown(text)} as a size.", "Write it as 4GB, 500MB or a number of bytes.")
    return size


def unpack_limit() -> int:
    """The limit that the environment sets, or :data:`DEFAULT_LIMIT`.

    :raises DataError: the variable holds no size.
    """
    text = os.environ.get(VARIABLE, "")
    return parse_size(text) if text.strip() else DEFAULT_LIMIT


def size_text(size: float) -> str:
    """A size for people: "1.1 GB"."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}".replace(".0 ", " ")
    return f"{size:,.0f} bytes"


def too_large(file: str, limit: int, problem: str, row: int | None = None) -> DataError:
    """The refusal of a file beyond the limit, with the way to raise it."""
    more = size_text(4 * limit).replace(" ", "").replace("bytes", "")
    return DataError(
        f"{problem}; the limit of the unpacked size is {size_text(limit)}.",
        f"Divide the file. If it is meant to be this large, raise the limit: {OPTION} {more}, or the environment "
        f"variable {VARIABLE}={more}.",
        file=file,
        row=row,
    )


class Room:
    """The memory that reading may take, watched while files are read."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = unpack_limit() if limit is None else limit
        self.most = round(_MEMORY_FACTOR * self.limit)
        self._start = resident_bytes()

    def check(self, file: str) -> None:
        """:raises DataError: reading took more memory than it may."""
        if resident_bytes() - self._start > self.most:
            raise too_large(file, self.limit, f"Reading the file takes more than {size_text(self.most)} of memory")

    def require(self, file: str, size: float, row: int | None = None) -> None:
        """Refuses what would take ``size`` bytes of memory at once, before it is begun.

        :raises DataError: it is too much.
        """
        if size > self.most:
            problem = f"Reading the file would take up to {size_text(size)} of memory"
            raise too_large(file, self.limit, problem, row)

    def watched(self, watch: Watch, file: str) -> Watch:
        """The watch, with the memory looked at each time."""

        def both(share: float) -> None:
            self.check(file)
            watch(share)

        return both


def resident_bytes() -> int:
    """The memory that this process takes, 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        pass
    if sys.platform == "win32":
        return _windows_bytes()
    try:
        import resource
    except ImportError:
        return 0
    # The most that there ever was, in bytes on macOS: it can only be too careful.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _windows_bytes() -> int:
    import ctypes
    from ctypes import wintypes

    names = ("peak", "now", "a", "b", "c", "d", "pagefile", "peak_pagefile")

    class Counters(ctypes.Structure):
        _fields_ = [("cb", wintypes.DWORD), ("faults", wintypes.DWORD), *((name, ctypes.c_size_t) for name in names)]

    counters = Counters()
    counters.cb = ctypes.sizeof(counters)
    library: object = getattr(ctypes, "windll").psapi  # noqa: B009  # only Windows has it
    process = getattr(ctypes, "windll").kernel32.GetCurrentProcess  # noqa: B009
    process.restype = wintypes.HANDLE
    if not library.GetProcessMemoryInfo(wintypes.HANDLE(process()), ctypes.byref(counters), counters.cb):  # type: ignore[attr-defined]
        return 0
    return int(counters.now)
