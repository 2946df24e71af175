"""Small copies of the pictures of pairs, to stand in a report or in the explorer."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Final

from judgenet.core.pictures import PairPicture, PlacedPicture
from judgenet.formats.pictures import PictureError, SentForm, small_copy
from judgenet.report.model import ShownPicture
from judgenet.store.db import Store
from judgenet.store.pictures import picture_bytes

SMALL_EDGE: Final = 480
"""Pixels of a copy's longer side."""
MOST_PICTURES: Final = 4
"""So many pictures of a text are shown in a report; the others are counted."""


def copy_of(picture: PairPicture, stores: Iterable[Store], largest: int = SMALL_EDGE) -> SentForm | None:
    """A small copy of a picture, ``None`` where its bytes are not there."""
    try:
        return small_copy(picture_bytes(picture, stores), largest)
    except PictureError:
        return None


def shown_picture(placed: PlacedPicture, stores: Iterable[Store]) -> ShownPicture:
    """A picture in a text as a report shows it."""
    picture = placed.picture
    name = placed.name[1:-1]
    small = copy_of(picture, stores)
    if small is None:
        return ShownPicture(name, picture.words, picture.sha256)
    data = base64.b64encode(small.data).decode("ascii")
    return ShownPicture(name, picture.words, picture.sha256, small.media, data)
