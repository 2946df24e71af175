"""Reads a stream with one JSON object per line (``application/x-ndjson``) from bytes."""

from __future__ import annotations

from judgenet.engine.providers.line_reader import LineReader


class JsonLines(LineReader):
    """Gives the lines as events without a type; lines that begin no JSON object are stray."""

    def _events(self, lines: list[bytes]) -> list[tuple[str, bytes]]:
        events: list[tuple[str, bytes]] = []
        for line in map(bytes.strip, lines):
            if line.startswith(b"{"):
                events.append(("", line))
            elif line:
                self._stray(line)
        return events
