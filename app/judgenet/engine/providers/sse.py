"""Server-sent events, read from bytes (WHATWG HTML, section 9.2).

Lines end at LF, with or without CR before it: never at U+2028 and the like, which are ordinary characters
of a JSON text. Whoever reads an event's data decodes it, when it is complete.
"""

from __future__ import annotations


class EventReader:
    """Divides a stream into its events: (type, data).

    Comments, which servers send to keep a connection alive, are not events. ``stray`` collects lines that belong to no
    event stream (at most 64 KiB): they identify a server that answers with something else. ``held`` counts the bytes
    of an incomplete event.
    """

    _STRAY_KEPT = 65_536

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._data: list[bytes] = []
        self._type = ""
        self._first = True
        self.held = 0
        self.stray = b""

    def feed(self, piece: bytes) -> list[tuple[str, bytes]]:
        """The events that ``piece`` completes."""
        self._pieces.append(piece)
        self.held += len(piece)
        if b"\n" not in piece:
            return []
        lines = b"".join(self._pieces).split(b"\n")
        self._pieces = [lines.pop()]
        events = self._read(lines)
        self.held = len(self._pieces[0]) + sum(map(len, self._data))
        return events

    def close(self) -> list[tuple[str, bytes]]:
        """The last event, where the stream ended without an empty line."""
        lines = [b"".join(self._pieces), b""]
        self._pieces = []
        return self._read(lines)

    def _read(self, lines: list[bytes]) -> list[tuple[str, bytes]]:
        events: list[tuple[str, bytes]] = []
        for line in lines:
            if line.endswith(b"\r"):
                line = line[:-1]
            if self._first:
                self._first = False
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line:
                if self._data:
                    events.append((self._type, b"\n".join(self._data)))
                    self._data = []
                self._type = ""
                continue
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif name == b"event":
                self._type = value.removeprefix(b" ").decode("utf-8", "replace")
            elif name not in (b"", b"id", b"retry") and len(self.stray) < self._STRAY_KEPT:
                self.stray += line + b"\n"
        return events
