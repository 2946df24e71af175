"""The pictures of pairs in exports for other programs, in the form that each of them has for pictures.

They are exported as judges were sent them: no side above 1,568 pixels, without a camera's notes of place and time. The
export of pairs alone has the files themselves.

LLM Comparator takes a list of chunks in place of a text, pictures as base64 of JPEG (``SequenceChunk`` in its
``client/lib/types.ts``). Argilla shows pictures within a text that is Markdown, also as data URIs (docs.argilla.io,
"TextField", ``use_markdown``). Label Studio's tag Image takes a list of addresses, ``valueList``, also data URIs
(labelstud.io, "Image"). TRL reads preferences with pictures as messages with ``{"type": "image"}`` in the place of each
picture, and the pictures in the column ``images`` (huggingface.co/docs/trl, "Dataset formats", vision datasets).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from judgenet.core.pairs import Pair
from judgenet.core.pictures import PairPicture, PlacedPicture, named_text, pictures_in, text_parts
from judgenet.core.wording import plural
from judgenet.formats.pictures import SentForm, as_jpeg, sent_form
from judgenet.store.db import Store
from judgenet.store.pictures import picture_bytes
from judgenet.store.runs import RunInfo

_SUFFIX: Final = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}


@dataclass
class PictureFiles:
    """The files of the pictures of an export, beside it. Without a folder (an export to standard output) a picture is a
    data URI in place of its path.

    Attributes:
        folder: where the files go; it is made with the first of them.
        prefix: the path of the folder as the export has it.
        paths: the path of each picture in the export, by the SHA-256 of its file.
    """

    folder: Path | None = None
    prefix: str = ""
    paths: dict[str, str] = field(default_factory=dict)
    _beside: bool = False
    _written: list[Path] = field(default_factory=list)

    def beside(self, export: Path) -> None:
        """Puts the files into a folder beside an export, unless a folder was chosen."""
        if self.folder is None:
            self.prefix = f"{export.stem}-images"
            self.folder = export.parent / self.prefix
            self._beside = True

    def path_of(self, picture: PairPicture, store: Store) -> str:
        """The path of a picture as the export has it; its file is written once.

        :raises PictureError: its bytes are nowhere.
        :raises OSError: the file cannot be written.
        """
        known = self.paths.get(picture.sha256)
        if known is not None:
            return known
        sent = sent_picture(picture, store)
        if self.folder is None:
            return _data_uri(sent)
        name = hashlib.sha256(sent.data).hexdigest()[:20] + _SUFFIX[sent.media]
        file = self.folder / name
        if not file.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            file.write_bytes(sent.data)
            self._written.append(file)
        self.paths[picture.sha256] = path = f"{self.prefix}/{name}"
        return path

    def discard(self) -> None:
        """Takes back the files of an export that was not written."""
        for file in self._written:
            file.unlink(missing_ok=True)
        if self.folder is not None:
            with suppress(OSError):  # there are other files in it
                self.folder.rmdir()
        self._written.clear()
        self.paths.clear()

    @property
    def words(self) -> str:
        """How many files there are beside the export and where; empty for none, and for a folder that was chosen."""
        return f"{plural(len(self.paths), 'picture')} in {self.folder}" if self.paths and self._beside else ""


def holder_of(store: Store, run: RunInfo, pair: int) -> Store:
    """The store that has the pictures of a pair: of shards, each has those of its own pairs."""
    return store.holder(run, pair)[0]


def sent_picture(picture: PairPicture, store: Store) -> SentForm:
    """A picture as judges were sent it.

    :raises PictureError: its bytes are nowhere.
    """
    return sent_form(picture_bytes(picture, (store,)))


def _data_uri(sent: SentForm) -> str:
    return f"data:{sent.media};base64,{base64.b64encode(sent.data).decode('ascii')}"


def comparator_text(text: str, pair: Pair, store: Store) -> str | list[dict[str, str]]:
    """A text for LLM Comparator: itself, or chunks where it has pictures."""
    if not pictures_in(text, pair.pictures):
        return text
    chunks = []
    for part in text_parts(text, pair.pictures):
        if isinstance(part, str):
            chunks.append({"type": "text", "data": part})
        else:
            data = as_jpeg(sent_picture(part.picture, store))
            chunks.append({"type": "image_byte", "data": base64.b64encode(data).decode("ascii")})
    return chunks


def markdown_text(text: str, pair: Pair, store: Store) -> str:
    """A text for Argilla: pictures are Markdown's, as data URIs, in their places."""

    def image(placed: PlacedPicture) -> str:
        return f"![picture {placed.number}]({_data_uri(sent_picture(placed.picture, store))})"

    return named_text(text, pair.pictures, image)


def label_studio_pictures(texts: dict[str, str], pair: Pair, store: Store) -> dict[str, Any]:
    """The data of a Label Studio task: in the texts the names of pictures (``[picture 1]``), and a list of pictures
    beside each text, ``question_pictures`` and so on, in their order."""
    data: dict[str, Any] = {name: named_text(text, pair.pictures) for name, text in texts.items()}
    for name, text in texts.items():
        data[f"{name}_pictures"] = [
            _data_uri(sent_picture(placed.picture, store)) for placed in pictures_in(text, pair.pictures)
        ]
    return data


def message(role: str, text: str, pair: Pair) -> list[dict[str, Any]]:
    """A text as a conversation of one message, in the form that TRL has for vision models."""
    content = [
        {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"}
        for part in text_parts(text, pair.pictures)
    ]
    return [{"role": role, "content": content}]


def images_of(texts: Iterable[str], pair: Pair, store: Store, files: PictureFiles) -> list[str]:
    """The paths of the pictures of texts, in the order in which they stand."""
    return [files.path_of(placed.picture, store) for text in texts for placed in pictures_in(text, pair.pictures)]


def picture_rows(pair: Pair, store: Store, files: PictureFiles) -> Iterable[dict[str, Any]]:
    """One record a picture of a pair, with the path of its file: which text it belongs to, and its number there."""
    for name in ("question", "response_a", "response_b", "reference"):
        for placed in pictures_in(getattr(pair, name) or "", pair.pictures):
            yield {
                "pair_id": pair.id,
                "text": name,
                "number": placed.number,
                "path": files.path_of(placed.picture, store),
                "sha256": placed.picture.sha256,
                "width": placed.picture.width,
                "height": placed.picture.height,
            }
