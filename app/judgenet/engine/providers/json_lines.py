"""Reads a stream with one JSON object per line (``application/x-ndjson``) from bytes."""

from __future__ import annotations


class JsonLines:
    """Divides a stream into its lines, as events without a type, like
    :class:`judgenet.engine.providers.sse.EventReader`.

    ``stray`` collects lines that begin no JSON object (at most 64 KiB): they identify a server that answers with
    something else. ``held`` counts the bytes of an incomplete line.
    """

    _STRAY_KEPT = 65_536

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._first = True
        self.held = 0
        self.stray = b""

    def feed(self, piece: bytes) -> list[tuple[str, bytes]]:
        """The lines that ``piece`` completes."""
        self._pieces.append(piece)
        self.held += len(piece)
        if b"\n" not in piece:
            return []
        lines = b"".join(self._pieces).split(b"\n")
        self._pieces = [lines.pop()]
        self.held = len(self._pieces[0])
        return self._read(lines)

    def close(self) -> list[tuple[str, bytes]]:
        """The last line, where the stream ended without a line break."""
        lines = [b"".join(self._pieces)]
        self._pieces = []
        return self._read(lines)

    def _read(self, lines: list[bytes]) -> list[tuple[str, bytes]]:
        events: list[tuple[str, bytes]] = []
        for line in lines:
            line = line.strip()
            if self._first and line:
                self._first = False
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line.startswith(b"{"):
                events.append(("", line))
            elif line and len(self.stray) < self._STRAY_KEPT:
                self.stray += line + b"\n"
        return events
