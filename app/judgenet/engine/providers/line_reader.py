"""Divides a stream of bytes into lines, for streams in different forms."""

from __future__ import annotations

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_STRAY_KEPT = 65_536


class LineReader:
    """Divides a stream into the events of a form, which :meth:`_events` finds in its lines.

    ``stray`` collects the lines that belong to no event (at most 64 KiB): they identify a server that answers with
    something else. ``held`` counts the bytes of an incomplete event.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._first = True
        self.held = 0
        self.stray = b""

    def feed(self, piece: bytes) -> list[tuple[str, bytes]]:
        """The events that a piece completes."""
        self._pieces.append(piece)
        self.held += len(piece)
        if b"\n" not in piece:
            return []
        lines = b"".join(self._pieces).split(b"\n")
        self._pieces = [lines.pop()]
        if self._first:
            self._first = False
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        events = self._events(lines)
        self.held = len(self._pieces[0]) + self._incomplete()
        return events

    def close(self) -> list[tuple[str, bytes]]:
        """The last event, where the stream ended before its end."""
        last = b"".join(self._pieces)
        self._pieces = []
        return self._events([last.removeprefix(_BYTE_ORDER_MARK) if self._first else last, b""])

    def _events(self, lines: list[bytes]) -> list[tuple[str, bytes]]:
        """The events that complete lines end."""
        raise NotImplementedError

    def _incomplete(self) -> int:
        """The bytes of complete lines that belong to an incomplete event."""
        return 0

    def _stray(self, line: bytes) -> None:
        """Keeps a line that belongs to no event."""
        if len(self.stray) < _STRAY_KEPT:
            self.stray += line + b"\n"
