"""A network written to a file: a graph that other programs read, or a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from judgenet.core.network import NetworkError, NetworkSpec
from judgenet.formats.network_files import dot_text, graphml_text, node_link_text
from judgenet.report.network_picture import network_svg
from judgenet.store.files import atomic_write

NETWORK_FORMATS: Final[dict[str, Callable[[NetworkSpec], str]]] = {
    "graphml": graphml_text,
    "json": node_link_text,
    "dot": dot_text,
    "svg": network_svg,
}
"""The writer of each format, by the ending of its files."""


def write_network(spec: NetworkSpec, path: Path) -> None:
    """Writes a network in the format that the ending of the file names.

    :raises NetworkError: it has no such ending.
    :raises judgenet.store.files.FileError: it cannot be written.
    """
    text = NETWORK_FORMATS.get(path.suffix.removeprefix(".").lower())
    if text is None:
        endings = ", ".join(f".{name}" for name in NETWORK_FORMATS)
        raise NetworkError(f"{path}: a network is written as {endings}. Name a file with one of these endings.")
    atomic_write(path, text(spec))
