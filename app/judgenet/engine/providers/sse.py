"""Server-sent events, read from bytes (WHATWG HTML, section 9.2).

Lines end at LF, with or without CR before it: never at U+2028 and the like, which are ordinary characters
of a JSON text. Whoever reads an event's data decodes it, when it is complete.
"""

from __future__ import annotations

from judgenet.engine.providers.line_reader import LineReader


class EventReader(LineReader):
    """Gives the events as (type, data). Comments, which servers send to keep a connection alive, are not events; lines
    that belong to no event stream are stray."""

    def __init__(self) -> None:
        super().__init__()
        self._data: list[bytes] = []
        self._type = ""

    def _events(self, lines: list[bytes]) -> list[tuple[str, bytes]]:
        events: list[tuple[str, bytes]] = []
        for line in lines:
            if line.endswith(b"\r"):
                line = line[:-1]
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
            elif name not in (b"", b"id", b"retry"):
                self._stray(line)
        return events

    def _incomplete(self) -> int:
        return sum(map(len, self._data))
