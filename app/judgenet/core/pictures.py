"""Pictures in pairs: what is known of each, where it stands in its text, and how many tokens a model counts for it.

A text keeps a placeholder in the place of each picture, ``[picture 1: 3f9a2c71]``: its number within the text and the
beginning of its hash. The pictures of a text are those whose placeholder stands in it. So pictures go with a text that
is moved or taken out, and texts that differ in their pictures alone differ as texts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

LARGEST_EDGE: Final = 1568
"""Pixels. Larger pictures are made smaller before they are sent, so that their longer side has so many: above it
most of Anthropic's models scale down themselves, and no provider's rule gains much."""
PICTURES_RECORD: Final = "pictures"
"""The name of a call's pictures among its parameters."""

MEDIA_TYPES: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
"""The formats that are read, by Pillow's names."""
_SHORT: Final = 8


@dataclass(frozen=True, slots=True)
class PairPicture:
    """A picture in the texts of a pair.

    ``sha256`` (hex) is of the bytes of its file, ``width`` and ``height`` are pixels as it is shown (turned as its file
    says), ``size`` is bytes. ``path`` or ``data`` says where its bytes are; a picture of a recorded run has neither,
    since the store holds them.
    """

    sha256: str
    media: str
    width: int
    height: int
    size: int
    path: str | None = field(default=None, compare=False)
    data: bytes | None = field(default=None, compare=False, repr=False)

    def placeholder(self, number: int) -> str:
        """What stands in its place where it is the picture ``number`` of a text."""
        return f"[picture {number}: {self.sha256[:_SHORT]}]"

    @property
    def words(self) -> str:
        """What it is, for people: ``640 × 480 PNG, 31.4 kB``."""
        kind = {"image/jpeg": "JPEG", "image/webp": "WebP"}.get(self.media, self.media.removeprefix("image/").upper())
        size = f"{self.size / 1e6:,.1f} MB" if self.size >= 1e6 else f"{max(0.1, self.size / 1e3):,.1f} kB"
        return f"{self.width} × {self.height} {kind}, {size}"

    def to_json(self) -> dict[str, Any]:
        """The record of the store; where its bytes were read is left out."""
        return {name: getattr(self, name) for name in ("sha256", "media", "width", "height", "size")}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> PairPicture:
        """The inverse of :meth:`to_json`; the record is trusted."""
        return cls(**record)


@dataclass(frozen=True, slots=True)
class PlacedPicture:
    """A picture in its place in a text, where it has a number."""

    number: int
    picture: PairPicture

    @property
    def name(self) -> str:
        """What people read in its place."""
        return f"[picture {self.number}]"


_PLACEHOLDER: Final = re.compile(rf"\[picture (\d{{1,6}}): ([0-9a-f]{{{_SHORT}}})\]")


def text_parts(text: str, pictures: Iterable[PairPicture]) -> list[str | PlacedPicture]:
    """A text and its pictures in the order in which they are seen. A placeholder that comes again is a name in the
    text (``[picture 1]``), and what looks like one of a picture that is not there stays as it is."""
    known = {known_picture.sha256[:_SHORT]: known_picture for known_picture in pictures}
    parts: list[str | PlacedPicture] = []
    shown: set[str] = set()
    spoken, begun = "", 0
    for match in _PLACEHOLDER.finditer(text) if known else ():
        picture = known.get(match[2])
        if picture is None:
            continue
        spoken += text[begun : match.start()]
        begun = match.end()
        placed = PlacedPicture(int(match[1]), picture)
        if match[0] in shown:
            spoken += placed.name
            continue
        shown.add(match[0])
        parts += [spoken, placed] if spoken else [placed]
        spoken = ""
    spoken += text[begun:]
    return [*parts, spoken] if spoken else parts


def pictures_in(text: str, pictures: Iterable[PairPicture]) -> list[PlacedPicture]:
    """The pictures of a text in the order in which they are seen."""
    return [part for part in text_parts(text, pictures) if isinstance(part, PlacedPicture)]


def named_text(
    text: str, pictures: Iterable[PairPicture], name_of: Callable[[PlacedPicture], str] = lambda placed: placed.name
) -> str:
    """A text with a name in place of each placeholder: by default as people read it, ``[picture 1]``."""
    parts = text_parts(text, pictures)
    return "".join(part if isinstance(part, str) else name_of(part) for part in parts)


def spoken_text(text: str, pictures: Iterable[PairPicture]) -> str:
    """A text without its pictures: the words alone, for lengths and languages."""
    return named_text(text, pictures, lambda placed: "")


def sent_size(width: int, height: int, largest: int = LARGEST_EDGE) -> tuple[int, int]:
    """The pixels with which a picture is sent: its own, or smaller in proportion."""
    longer = max(width, height)
    if longer <= largest:
        return width, height
    return max(1, round(width * largest / longer)), max(1, round(height * largest / longer))


# --- tokens ---

_TILES: Final[tuple[tuple[re.Pattern[str], int, int], ...]] = (
    (re.compile(r"gpt-4o-mini"), 2833, 5667),
    (re.compile(r"gpt-5(?!.*(?:mini|nano))"), 70, 140),
    (re.compile(r"gpt-4o|gpt-4\.1(?!-(?:mini|nano))|gpt-4\.5|gpt-4-turbo|gpt-4-vision"), 85, 170),
    (re.compile(r"(?:^|/)o[13](?!-mini)"), 75, 150),
    (re.compile(r"computer-use"), 65, 129),
)
"""Base tokens and tokens of a tile of 512 pixels, by model (OpenAI, "Images and vision", "Calculating costs")."""

_PATCHES: Final[tuple[tuple[re.Pattern[str], float], ...]] = (
    (re.compile(r"gpt-4\.1-mini|gpt-5.*mini"), 1.62),
    (re.compile(r"gpt-4\.1-nano|gpt-5.*nano"), 2.46),
    (re.compile(r"o4-mini"), 1.72),
)
"""The factor on patches of 32 pixels, by model (the same page)."""

_MOST_PATCHES: Final = 1536
_GEMINI_BEFORE_3: Final = re.compile(r"gemini-(?:1|2|pro|flash)")
_CLAUDE_SMALL: Final = re.compile(r"claude-(?:3|.*-4(?:-[0-6]\b|-\d{8}|$))")
"""Claude up to 4.6 scales a picture down to about 1,600 tokens; later models see more of it."""
_CLAUDE_SMALL_MOST: Final = 1600
_PIXELS_A_TOKEN: Final = 750


def picture_tokens(kind: str, model: str, width: int, height: int) -> int:
    """About how many tokens a model counts for a picture of ``width`` × ``height`` pixels, which is sent no larger than
    :data:`LARGEST_EDGE`.

    ``kind`` is the endpoint's. Models that are known by name are counted by their provider's rule, wherever they are
    asked: OpenAI by tiles of 512 pixels or patches of 32; Anthropic by width × height / 750; Gemini by 258 for each
    tile of 768 pixels, from Gemini 3 on 1,120 for each picture. All others by width × height / 750.

    Sources: developers.openai.com "Images and vision"; platform.claude.com "Vision"; ai.google.dev "Token counting"
    and "Media resolution".
    """
    width, height = sent_size(width, height)
    name = model.casefold()
    if kind == "gemini" or "gemini" in name:
        if not _GEMINI_BEFORE_3.search(name):
            return 1120
        return 258 if max(width, height) <= 384 else 258 * math.ceil(width / 768) * math.ceil(height / 768)
    if kind != "anthropic" and "claude" not in name:
        for pattern, factor in _PATCHES:
            if pattern.search(name):
                return math.ceil(_patches(width, height) * factor)
        for pattern, base, tile in _TILES:
            if pattern.search(name):
                return base + tile * _tiles(width, height)
    tokens = math.ceil(width * height / _PIXELS_A_TOKEN)
    return min(tokens, _CLAUDE_SMALL_MOST) if _CLAUDE_SMALL.search(name) else tokens


def _tiles(width: int, height: int) -> int:
    """Tiles of 512 pixels after the picture is made to fit 2048 × 2048, then its shorter side 768."""
    width, height = sent_size(width, height, 2048)
    shorter = min(width, height)
    scale = min(1.0, 768 / shorter)
    return math.ceil(round(width * scale) / 512) * math.ceil(round(height * scale) / 512)


def _patches(width: int, height: int) -> int:
    """Patches of 32 pixels, at most 1536: a larger picture is scaled down to whole patches that fit."""
    patches = math.ceil(width / 32) * math.ceil(height / 32)
    if patches <= _MOST_PATCHES:
        return patches
    scale = math.sqrt(32**2 * _MOST_PATCHES / (width * height))
    wide, high = width * scale / 32, height * scale / 32
    scale *= min(math.floor(wide) / wide, math.floor(high) / high)
    # Floating point must not make one patch more of a whole number.
    return math.ceil(round(width * scale / 32, 6)) * math.ceil(round(height * scale / 32, 6))


# --- models that cannot see ---

_TEXT_ONLY: Final = re.compile(
    r"gpt-3\.5|gpt-4(?:-0\d{3}|-32k\S*)?$|gpt-oss|(?:^|/)o1-mini|(?:^|/)o3-mini|(?:^|/)o1-preview"
    r"|claude-(?:instant|2)|deepseek-(?:r1|v[23])|mixtral|mistral-7b|codestral"
    r"|llama-?[23](?:[.:]1|[.:]3)?(?![\d.]|.*(?:vision|vl|llava))|gemma-?2\b|phi-?[23](?!.*vision)|phi-?4(?!.*(?:vision|multimodal))"
    r"|qwen-?(?:2(?:\.5)?|3)(?![.\d]|.*(?:vl|omni))|qwq|command-r|glm-4(?:\.[567])?(?![.\d]|.*v)|kimi-k2(?![.\d])"
)
"""Models that take no pictures, by name. What is not here may see or not: the endpoint tells."""


def takes_no_pictures(kind: str, model: str) -> bool:
    """Whether a model is known to see no pictures: the embedded model, and text models known by name."""
    return kind == "embedded" or _TEXT_ONLY.search(model.casefold().rpartition("/")[2] or model.casefold()) is not None
