"""Compares two pictures of the studio as an eye would: by what changed visibly, not by how letters are hinted.

Both are cut into tiles. A tile differs where its mean colour does: another word, chip or line moves the mean, while
other hinting moves ink within the tile only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

TILE: Final = 16
"""Side of a tile in px."""
VISIBLE: Final = 6.0
"""A tile differs where its mean colour does by more, of 255, in any channel."""
MOST_TILES: Final = 3
"""So many tiles may differ."""

Picture = NDArray[np.float64]
"""Height × width × 3, 0 to 255."""


def load(path: Path) -> Picture:
    """The picture of a file."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), dtype=np.float64)


def differing(one: Picture, other: Picture) -> list[tuple[int, int]]:
    """The tiles that differ visibly, by their left upper corner (x, y) in px.

    :raises ValueError: the pictures have different sizes.
    """
    if one.shape != other.shape:
        raise ValueError(f"sizes differ: {one.shape[1]}×{one.shape[0]} and {other.shape[1]}×{other.shape[0]}")
    high, wide = -(-one.shape[0] // TILE), -(-one.shape[1] // TILE)
    room = ((0, high * TILE - one.shape[0]), (0, wide * TILE - one.shape[1]), (0, 0))
    gap = np.pad(one - other, room).reshape(high, TILE, wide, TILE, 3).mean(axis=(1, 3))
    rows, columns = np.nonzero((np.abs(gap) > VISIBLE).any(axis=2))
    return [(int(column) * TILE, int(row) * TILE) for row, column in zip(rows, columns, strict=True)]


def shrink(source: Path, target: Path) -> None:
    """Keeps a picture with a palette of 256 colours."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(source) as image:
        small = image.convert("RGB").quantize(256, Image.Quantize.MEDIANCUT, kmeans=3, dither=Image.Dither.NONE)
    small.save(target, optimize=True)
