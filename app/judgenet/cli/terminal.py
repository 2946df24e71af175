"""Output to the terminal, made harmless: no text of the data or of a model can control the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, TextIO, cast

from rich.console import Console
from rich.segment import Segment
from rich.style import Style

from judgenet.core.harmless import harmless


class HarmlessStream:
    """Standard output or error on which no text steers the terminal. Only :class:`Terminal` writes past it, to style
    and move what it shows itself. It has no ``buffer``, so that nobody else does."""

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    @property
    def encoding(self) -> str:
        return self.raw.encoding

    @property
    def errors(self) -> str | None:
        return self.raw.errors

    @property
    def closed(self) -> bool:
        return self.raw.closed

    def write(self, text: str) -> int:
        self.raw.write(harmless(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self.raw.flush()

    def isatty(self) -> bool:
        return self.raw.isatty()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.raw.fileno()

    def close(self) -> None:
        self.raw.close()


class Terminal(Console):
    """A console that styles and moves what it shows, and lets no text do so: neither control characters nor markup."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False)

    @property
    def file(self) -> IO[str]:
        stream: Any = super().file
        return stream.raw if isinstance(stream, HarmlessStream) else stream

    @file.setter
    def file(self, new: IO[str]) -> None:
        self._file = new

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(
            segment if segment.control else Segment(harmless(segment.text), _without_link(segment.style))
            for segment in buffer
        )


def _without_link(style: Style | None) -> Style | None:
    """The program shows no links: one could only come from markup in a text of others."""
    return style.update_link(None) if style is not None and style.link else style


@contextmanager
def harmless_streams() -> Iterator[None]:
    """Standard output and error are harmless inside; after an exception that nobody caught they stay so, since Python
    prints it then."""
    before: tuple[Any, Any] = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        stream if stream is None or isinstance(stream, HarmlessStream) else cast(TextIO, HarmlessStream(stream))
        for stream in before
    )
    yield
    sys.stdout, sys.stderr = before


def exact_stdout() -> TextIO:
    """Standard output for data of which every character counts: as it is where a file or a program takes it, harmless
    where a person looks at it."""
    stream: Any = sys.stdout
    return stream.raw if isinstance(stream, HarmlessStream) and not stream.isatty() else stream
