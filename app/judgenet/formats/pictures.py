"""Pictures in files of pairs: the forms in which they come, the limits within which they are read, and their bytes as
they are sent and shown.

While a table is read, a picture is a mark within its text that nothing in a file can be (it holds a random number of
this process) with what the file says of the picture. :func:`with_pictures` puts the placeholder in its place.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from judgenet.core.pairs import Pair
from judgenet.core.pictures import (
    LARGEST_EDGE,
    MEDIA_TYPES,
    PairPicture,
    sent_size,
    text_parts,
)
from judgenet.formats.errors import DataError, shown
from judgenet.formats.limits import size_text

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_BYTES: Final = 20_000_000
"""The largest file of a picture that is read, in bytes."""
MOST_PIXELS: Final = 50_000_000
"""The most pixels of a picture: what a small file unpacks to is decided by this, and never by the file."""
MOST_PICTURES: Final = 50
"""The most pictures of a pair; Anthropic takes 100 in a request, others fewer."""
MOST_SENT: Final = 3_750_000
"""Bytes of a picture as it is sent: 5 MB in base64, Anthropic's limit."""
_JPEG_QUALITY: Final = 90
_FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")
_NAMES: Final = "PNG, JPEG, WebP and GIF"


class PictureError(DataError):
    """A picture that cannot be read."""


class PictureOutside(Exception):
    """A project's pairs name a picture outside its folder, which was not approved."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} lies outside the project's folder.")
        self.path = path


MayRead = Callable[[Path], None]
"""Refuses a picture's file.

:raises PictureError: this picture must not be read.
:raises PictureOutside: the user has to approve it first.
"""


@dataclass(frozen=True, slots=True)
class Album:
    """Where the pictures of a file of pairs may lie. Relative paths start at ``folder``; what lies below it may be
    read, unless ``may_read`` says otherwise."""

    folder: Path
    may_read: MayRead | None = None

    def file(self, named: str) -> Path:
        """The file that a path means.

        :raises PictureError: it may not be read.
        :raises PictureOutside: it may not be read before it is approved.
        """
        path = self.folder / named
        if self.may_read is not None:
            self.may_read(path)
            return path
        real, root = path.resolve(), self.folder.resolve()
        if not real.is_relative_to(root) or any(part.startswith(".") for part in real.relative_to(root).parts):
            raise PictureError(
                f"The picture {shown(named)} lies outside the folder of the file that names it.",
                f"Put the pictures below {root}, or into the file as data URIs.",
            )
        return path


# --- forms of a picture in a file ---

_NONCE: Final = secrets.token_hex(8)
_OPEN: Final = f"\ufdd0{_NONCE}:"
_CLOSE: Final = "\ufdd1"
_MARK: Final = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")
_IN_MARKDOWN: Final = "](data:image/"
_MARKDOWN: Final = re.compile(r"!\[[^\]\n]*\]\((data:image/[\w.+-]+;base64,[A-Za-z0-9+/=]+)\)")
_IMAGE_TYPES: Final = ("image", "image_url", "input_image", "picture")


def marked(where: str) -> str:
    """A picture within a text while a file is read: its path, address or data URI."""
    return f"{_OPEN}{where}{_CLOSE}"


def picture_part(part: Any) -> str | None:
    """The mark of a picture for a part of a message; ``None`` for any other part.

    Parts are those of OpenAI (``{"type": "image_url", "image_url": {"url": …}}``, also ``input_image``), of Anthropic
    (``{"type": "image", "source": {"type": "base64", "media_type": …, "data": …}}``, or with a ``url``), of Gemini
    (``{"inlineData": {"mimeType": …, "data": …}}``), of LLM Comparator (``{"type": "image_byte", "data": …}``, base64),
    and ``{"type": "image", "path": …}``.
    """
    if not isinstance(part, dict):
        return None
    if part.get("type") == "image_byte" and isinstance(part.get("data"), str):
        return marked(_data_uri("image/jpeg", part["data"]))
    inline = part.get("inlineData") or part.get("inline_data")
    if isinstance(inline, dict) and isinstance(inline.get("data"), str):
        return marked(_data_uri(inline.get("mimeType") or inline.get("mime_type"), inline["data"]))
    if part.get("type") not in _IMAGE_TYPES:
        return None
    where = _where(part)
    return None if where is None else marked(where)


def _where(part: Mapping[str, Any]) -> str | None:
    """Where the bytes of a picture's part are: a path, an address or a data URI."""
    for name in ("image_url", "source", "image", "picture"):
        inner = part.get(name)
        if isinstance(inner, str):
            return inner
        if isinstance(inner, dict):
            if isinstance(inner.get("data"), str):
                return _data_uri(inner.get("media_type") or inner.get("mime_type"), inner["data"])
            address = inner.get("url") or inner.get("path") or _bytes_uri(inner.get("bytes"))
            return address if isinstance(address, str) else None
    address = part.get("path") or part.get("url") or part.get("data") or _bytes_uri(part.get("bytes"))
    return address if isinstance(address, str) else None


def _data_uri(media: object, data: str) -> str:
    return f"data:{media if isinstance(media, str) else 'image/png'};base64,{data}"


def _bytes_uri(data: object) -> str | None:
    return f"data:image/any;base64,{base64.b64encode(data).decode()}" if isinstance(data, bytes) else None


def parts_text(value: Any) -> str | None:
    """The text of a list of typed parts with the marks of its pictures; ``None`` for any other value."""
    parts = value if isinstance(value, list) else [value]
    texts: list[str] = []
    for part in parts:
        if isinstance(part, dict) and part.get("type") in ("text", "input_text", "output_text"):
            text = part.get("text", part.get("data"))
            if not isinstance(text, str):
                return None
            texts.append(text)
        elif (mark := picture_part(part)) is not None:
            texts.append(mark)
        else:
            return None
    return "".join(texts) if parts else None


def holds_picture(text: str) -> bool:
    """Whether a text of a file is itself a picture: a data URI, or a JSON list of parts with one among them. Cheap."""
    start = text[:24].lstrip()
    return start.startswith("data:image/") or (start.startswith(("[{", "[ {", "[\n")) and '"image' in text)


def read_text(text: str) -> str:
    """A text for which :func:`holds_picture` holds, with the marks of its pictures; any other as it is."""
    if text.lstrip().startswith("data:image/"):
        where = text.strip()
        return marked(where) if re.fullmatch(r"data:image/[\w.+-]+;base64,[A-Za-z0-9+/=\s]+", where) else text
    try:
        text_read = parts_text(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return text_read if text_read is not None and _OPEN in text_read else text


def read_markdown(text: str) -> str:
    """A text of a file whose Markdown shows pictures as data URIs, with the marks of these pictures."""
    return _MARKDOWN.sub(lambda found: marked(found[1]), text) if _IN_MARKDOWN in text else text


def read_named(text: str, pictures: Sequence[object]) -> str:
    """A text of a file that names its pictures (``[picture 1]``), which stand beside it as paths or data URIs, with the
    marks of these pictures. What is no text is left out."""
    for number, where in enumerate(pictures, 1):
        if isinstance(where, str):
            text = text.replace(f"[picture {number}]", marked(where), 1)
    return text


def column_marks(value: Any) -> str | None:
    """The marks of what a cell of a column of pictures holds: a path, a data URI, an object with ``bytes`` or ``path``
    (as in Hugging Face's Parquet files), or a list of these. Empty for an empty cell, ``None`` for anything else."""
    if value is None or value == "" or value == []:
        return ""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if isinstance(value, list):
        items = [column_marks(item) for item in value]
        return None if None in items else "".join(mark or "" for mark in items)
    if isinstance(value, str):
        return marked(value.strip())
    if isinstance(value, bytes):
        return marked(_bytes_uri(value) or "")
    if isinstance(value, dict):
        where = _bytes_uri(value.get("bytes")) or _where({"type": "image", **value})
        return None if where is None else marked(where)
    return None


_FILE_NAME: Final = re.compile(r"\.(?:png|jpe?g|webp|gif)$", re.IGNORECASE)


def looks_like_picture(value: Any) -> bool:
    """Whether a value of a column looks like what :func:`column_marks` reads."""
    if isinstance(value, list):
        return bool(value) and looks_like_picture(value[0])
    if isinstance(value, dict):
        return isinstance(value.get("bytes"), bytes)
    return isinstance(value, str) and (value.startswith("data:image/") or _FILE_NAME.search(value[-8:]) is not None)


def joined(text: str, marks: str) -> str:
    """A text with the marks of a column of pictures behind it, on a line of their own."""
    return f"{text}\n{marks}" if text.strip() and marks else text + marks


def with_uris(value: Any) -> Any:
    """A value of a program's own with data URIs in place of its pictures: bytes, ``Path`` objects, objects with
    ``bytes``, and parts with a path; a list with some is a list of parts. Anything else stays as it is.

    :raises PictureError: a file cannot be read.
    """
    if isinstance(value, bytes | Path):
        return _uri_of(value)
    if isinstance(value, dict):
        if isinstance(value.get("bytes"), bytes):
            return _uri_of(value["bytes"])
        if value.get("type") in _IMAGE_TYPES and isinstance(value.get("path"), str | Path):
            return _uri_part(Path(value["path"]))
        if "content" in value:
            return {**value, "content": with_uris(value["content"])}
        return value
    if isinstance(value, list | tuple):
        seen = any(isinstance(part, bytes | Path) for part in value)
        return [
            _uri_part(part)
            if isinstance(part, bytes | Path)
            else {"type": "text", "text": part}
            if seen and isinstance(part, str)
            else with_uris(part)
            for part in value
        ]
    return value


def _uri_of(value: bytes | Path) -> str:
    try:
        data = value if isinstance(value, bytes) else value.read_bytes()
    except OSError as error:
        words = error.strerror or str(error)
        raise PictureError(f"The picture {value!s} cannot be read ({words}).", "Check its path.") from None
    return _bytes_uri(data) or ""


def _uri_part(value: bytes | Path) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": _uri_of(value)}}


# --- from marks to pictures ---


class Refused(NamedTuple):
    """A text of a pair with a picture that cannot be read."""

    of: str
    error: PictureError


_TEXTS: Final = ("question", "response_a", "response_b", "reference")


def with_pictures(pair: Pair, album: Album) -> Pair | Refused:
    """A pair with placeholders in place of the marks and its pictures; the same pair where there are none.

    :raises PictureOutside: a picture's file has to be approved first.
    """
    texts = {field: text for field in _TEXTS if _OPEN in (text := getattr(pair, field) or "")}
    if not texts:
        return pair
    changes: dict[str, str] = {}
    pictures: dict[str, PairPicture] = {}
    count = 0
    for field, text in texts.items():
        marked, begun = "", 0
        for number, match in enumerate(_MARK.finditer(text), 1):
            try:
                picture = _picture(match[1], album)
            except PictureError as error:
                return Refused(field, error)
            pictures.setdefault(picture.sha256, picture)
            marked += text[begun : match.start()] + picture.placeholder(number)
            begun = match.end()
            count += 1
        changes[field] = marked + text[begun:]
    if count > MOST_PICTURES:
        problem = f"The pair has {count} pictures; at most {MOST_PICTURES} are read."
        return Refused(next(iter(texts)), PictureError(problem, "Leave some out."))
    return replace(pair, pictures=tuple(pictures.values()), **changes)  # type: ignore[arg-type]


def _picture(where: str, album: Album) -> PairPicture:
    """The picture of a path, address or data URI.

    :raises PictureError: it cannot be read.
    """
    if where.startswith("data:"):
        data = _of_uri(where)
        looked = look(data)
        return PairPicture(looked.sha256, looked.media, looked.width, looked.height, looked.size, data=data)
    scheme = urlsplit(where).scheme if "://" in where else ""
    if scheme and scheme != "file":
        raise PictureError(
            f"The picture is an address at {urlsplit(where).hostname or 'an unknown host'} ({shown(where, 100)}), and "
            "addresses are not fetched: reading pairs contacts no host.",
            "Download the pictures, and give their paths or data URIs; the page Pictures in pairs has a script.",
        )
    path = album.file(url2pathname(unquote(urlsplit(where).path)) if scheme else where)
    looked = _look_at(path, where)
    place = str(path.absolute())
    return PairPicture(looked.sha256, looked.media, looked.width, looked.height, looked.size, path=place)


def _of_uri(uri: str) -> bytes:
    head, _, body = uri.partition(",")
    if not head.endswith(";base64"):
        raise PictureError("The picture is a data URI without base64.", "Write it as data:image/png;base64,…")
    if len(body) > MOST_BYTES * 4 // 3 + 1024:
        raise _too_large(len(body) * 3 // 4)
    try:
        return base64.b64decode(re.sub(r"\s+", "", body), validate=True)
    except (binascii.Error, ValueError):
        raise PictureError("The picture's data URI is no valid base64.", "Write the file anew.") from None


def _too_large(size: int) -> PictureError:
    return PictureError(
        f"The picture has {size_text(size)}; at most {size_text(MOST_BYTES)} are read.", "Make it smaller."
    )


class PictureFacts(NamedTuple):
    """What was found in the bytes of a picture."""

    sha256: str
    media: str
    width: int
    height: int
    size: int


_known: dict[tuple[str, int, int], PictureFacts] = {}
_MOST_KNOWN: Final = 50_000


def _look_at(path: Path, named: str) -> PictureFacts:
    """As :func:`look`, of a file; one that is known and has not changed is not read again."""
    try:
        about = path.stat()
        key = (str(path), about.st_mtime_ns, about.st_size)
        if key in _known:
            return _known[key]
        if about.st_size > MOST_BYTES:
            raise _too_large(about.st_size)
        data = path.read_bytes()
    except FileNotFoundError:
        raise PictureError(f"There is no picture {shown(named)}.", f"It is looked for at {path.absolute()}.") from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise PictureError(f"The picture {shown(named)} cannot be read ({words}).", "Check its path.") from None
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    looked = _known[key] = look(data)
    return looked


def look(data: bytes) -> PictureFacts:
    """The hash, format and size of a picture, which is unpacked once to see that it is whole.

    :raises PictureError: it is none of the known formats, is broken, or is too large.
    """
    if len(data) > MOST_BYTES:
        raise _too_large(len(data))
    with _opened(data) as image:
        width, height = image.size
        media = _media(image)
        if _orientation(image) >= 5:
            width, height = height, width
        # JPEG is unpacked at an eighth of its size, which reads all of it.
        image.draft("RGB", (max(1, width // 8), max(1, height // 8)))
        _load(image)
    return PictureFacts(hashlib.sha256(data).hexdigest(), media, width, height, len(data))


def _opened(data: bytes) -> Image:
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(io.BytesIO(data), formats=_FORMATS)
    except Image.DecompressionBombError:
        raise PictureError(
            f"The picture has more than {MOST_PIXELS / 1e6:.0f} million pixels.", "Make it smaller."
        ) from None
    except UnidentifiedImageError:
        what = "an SVG drawing" if b"<svg" in data[:1000].lower() else "in no format that is read, or it is broken"
        raise PictureError(f"The picture is {what}.", f"Formats are {_NAMES}.") from None
    except Exception as error:  # decoders raise whatever their format's reader does
        raise _broken(error) from None
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise PictureError(
            f"The picture has {width} × {height} pixels; at most {MOST_PIXELS / 1e6:.0f} million are read.",
            "Make it smaller.",
        )
    return image


def _load(image: Image) -> None:
    try:
        image.load()
    except Exception as error:
        raise _broken(error) from None


def _broken(error: Exception) -> PictureError:
    return PictureError(f"The picture is broken ({str(error)[:100] or type(error).__name__}).", "Give a whole file.")


def _media(image: Image) -> str:
    # Cameras write several pictures into a JPEG file; the first is the picture.
    return MEDIA_TYPES["JPEG" if image.format == "MPO" else image.format or ""]


_ORIENTATION: Final = 0x0112


def _orientation(image: Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # a broken note about a picture is no reason to refuse it
        return 1


# --- bytes as they are sent and shown ---


class SentForm(NamedTuple):
    """A picture as it is sent."""

    media: str
    data: bytes


def sent_form(data: bytes, largest: int = LARGEST_EDGE) -> SentForm:
    """The bytes of a picture as endpoints get them: the file itself where it is PNG, JPEG or WebP, has one frame, no
    notes of a camera (which may say where it was taken) and no side above ``largest`` pixels; else encoded anew from
    the first frame, turned as the file says: JPEG (quality 90) where it was one, else PNG. No larger than
    :data:`MOST_SENT`.

    :raises PictureError: it cannot be read.
    """
    with _opened(data) as image:
        media = _media(image)
        plain = image.format in ("PNG", "JPEG", "WEBP") and getattr(image, "n_frames", 1) == 1
        plain = plain and not image.getexif() and "exif" not in image.info and "xmp" not in image.info
        plain = plain and image.mode in ("RGB", "RGBA", "L", "LA", "P", "1") and len(data) <= MOST_SENT
        if plain and sent_size(*image.size, largest) == image.size:
            return SentForm(media, data)
        frame = _frame(image, largest)
    if media != "image/jpeg" or frame.mode == "RGBA":
        content = _encoded(frame, "PNG")
        if len(content) <= MOST_SENT:
            return SentForm("image/png", content)
    for quality in (_JPEG_QUALITY, 75, 50):
        content = _encoded(_on_white(frame), "JPEG", quality=quality)
        if len(content) <= MOST_SENT:
            break
    return SentForm("image/jpeg", content)


def as_jpeg(sent: SentForm) -> bytes:
    """A picture as JPEG, on white where it has transparent parts.

    :raises PictureError: it cannot be read.
    """
    if sent.media == "image/jpeg":
        return sent.data
    with _opened(sent.data) as image:
        frame = _frame(image, LARGEST_EDGE)
    return _encoded(_on_white(frame), "JPEG", quality=_JPEG_QUALITY)


def small_copy(data: bytes, largest: int) -> SentForm:
    """A small copy of a picture, to be shown: no side above ``largest`` pixels; JPEG, or PNG where it has transparent
    parts or is tiny.

    :raises PictureError: it cannot be read.
    """
    with _opened(data) as image:
        image.draft("RGB", (2 * largest, 2 * largest))
        frame = _frame(image, largest)
    if frame.mode == "RGBA" or max(frame.size) <= 64:
        return SentForm("image/png", _encoded(frame, "PNG"))
    return SentForm("image/jpeg", _encoded(frame, "JPEG", quality=85))


def _frame(image: Image, largest: int) -> Image:
    """The first frame as RGB or RGBA, turned as the file says, no side above ``largest``."""
    from PIL import Image, ImageOps

    image.seek(0)
    _load(image)
    turned = ImageOps.exif_transpose(image)
    clear = "A" in turned.getbands() or "transparency" in turned.info
    frame = turned.convert("RGBA" if clear else "RGB")
    size = sent_size(*frame.size, largest)
    return frame if size == frame.size else frame.resize(size, Image.Resampling.LANCZOS)


def _on_white(image: Image) -> Image:
    from PIL import Image

    if image.mode != "RGBA":
        return image
    ground = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(ground, image).convert("RGB")


def _encoded(image: Image, form: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


# --- bytes and parts for others ---


def file_bytes(picture: PairPicture) -> bytes | None:
    """The bytes of a picture that was read in this process, ``None`` for one of a recorded run.

    :raises PictureError: its file is gone or has changed since it was read.
    """
    if picture.data is not None:
        return picture.data
    if picture.path is None:
        return None
    try:
        data = Path(picture.path).read_bytes()
    except OSError as error:
        words = error.strerror or str(error)
        raise PictureError(f"The picture {picture.path} cannot be read ({words}).", "Put it back.") from None
    if hashlib.sha256(data).hexdigest() != picture.sha256:
        raise PictureError(f"The picture {picture.path} has changed since it was read.", "Read the pairs again.")
    return data


def known_bytes(picture: PairPicture) -> bytes:
    """As :func:`file_bytes`, where a picture without bytes is an error.

    :raises PictureError: its bytes are not there.
    """
    data = file_bytes(picture)
    if data is None:
        raise PictureError(f"The bytes of a picture ({picture.words}) are not there.", "Read the pairs again.")
    return data


def content_parts(
    text: str, pictures: Iterable[PairPicture], data_of: Callable[[PairPicture], bytes]
) -> list[dict[str, Any]]:
    """A text with pictures as the list of typed parts that a file of pairs holds; :func:`parts_text` reads it back."""
    parts: list[dict[str, Any]] = []
    for part in text_parts(text, pictures):
        if isinstance(part, str):
            parts.append({"type": "text", "text": part})
        else:
            data = base64.b64encode(data_of(part.picture)).decode()
            uri = f"data:{part.picture.media};base64,{data}"
            parts.append({"type": "image_url", "image_url": {"url": uri}})
    return parts
