"""Small copies of the pictures of pairs, to stand in a report or in the explorer."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

from judgenet.core.pairs import Pair
from judgenet.core.pictures import PairPicture, PlacedPicture, pictures_in
from judgenet.core.wording import of
from judgenet.formats.pictures import PictureError, SentForm, small_copy
from judgenet.report.model import ShownPicture
from judgenet.store.db import Store
from judgenet.store.pictures import picture_bytes
from judgenet.store.runs import RunInfo

SMALL_EDGE: Final = 480
"""The longer side of a copy, in pixels."""
MOST_EXPLORER: Final = 8_000_000
"""Bytes of base64 that the pictures of an explorer may take."""
MOST_PICTURES: Final = 4
"""The number of pictures of a text that a report shows; the others are counted."""


class ExplorerAlbum:
    """The pictures of an explorer: a small copy of each, once, up to :data:`MOST_EXPLORER` bytes in all.

    Attributes:
        blocks: name and base64 of each copy.
    """

    def __init__(self, store: Store, run: RunInfo) -> None:
        self.blocks: list[tuple[str, Markup]] = []
        self._store = store
        self._run = run
        self._known: dict[str, str | None] = {}
        self._size = 0

    def of(self, pair: Pair, place: int) -> dict[str, list[list[str | None]]]:
        """The pictures of a pair by text: name, what it is, and the name of its block (``None``: left out)."""
        held = self._store.holder(self._run, place)[0]
        texts = {"q": pair.question, "a": pair.response_a, "b": pair.response_b, "ref": pair.reference or ""}
        return {
            name: [
                [placed_picture.name[1:-1], placed_picture.picture.words, self._block(placed_picture.picture, held)]
                for placed_picture in placed
            ]
            for name, text in texts.items()
            if (placed := pictures_in(text, pair.pictures))
        }

    def _block(self, picture: PairPicture, held: Store) -> str | None:
        if picture.sha256 not in self._known:
            small = copy_of(picture, (held,)) if self._size < MOST_EXPLORER else None
            name = None if small is None else f"picture-{picture.sha256[:24]}"
            self._known[picture.sha256] = name
            if small is not None and name is not None:
                self._size += len(small.data) * 4 // 3
                self.blocks.append((name, Markup(base64.b64encode(small.data).decode("ascii"))))
        return self._known[picture.sha256]

    @property
    def notes(self) -> list[str]:
        """What was left out, in a sentence."""
        left_out = sum(name is None for name in self._known.values())
        if not left_out:
            return []
        most = f"{MOST_EXPLORER / 1e6:.0f} MB"
        return [
            f"{of(left_out, len(self._known))} pictures are left out: a file holds at most {most} of small copies, "
            "and a picture that is missing from the store has none."
        ]


def copy_of(picture: PairPicture, stores: Iterable[Store], largest: int = SMALL_EDGE) -> SentForm | None:
    """A small copy of a picture; ``None`` where none of ``stores`` holds its bytes."""
    try:
        return small_copy(picture_bytes(picture, stores), largest)
    except PictureError:
        return None


def shown_picture(placed: PlacedPicture, stores: Iterable[Store]) -> ShownPicture:
    """A picture of a text with its small copy, as a report shows it."""
    picture = placed.picture
    name = placed.name[1:-1]
    small = copy_of(picture, stores)
    if small is None:
        return ShownPicture(name, picture.words, picture.sha256)
    data = base64.b64encode(small.data).decode("ascii")
    return ShownPicture(name, picture.words, picture.sha256, small.media, data)
