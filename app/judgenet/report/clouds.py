"""Word clouds of roles: laid out by the ``wordcloud`` library, drawn as letters, so that they stay sharp and take the
page's colours."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from math import ceil, sqrt
from random import Random

from judgenet.assets import asset
from judgenet.report.drawing import BODY_PX, Drawing, Label, Token, text_width

MOST_WORDS = 40
_LARGEST_PX = 34
_FONT = ("fonts", "Inter-Medium.otf")


def word_cloud(words: Sequence[tuple[str, int]], title: str, width: int = 420, seed: int = 0) -> Drawing | None:
    """The more often a name occurs, the larger it is; ``None`` where none fits. The same names and seed give
    the same picture.
    """
    # It brings Pillow and Matplotlib, which take longer to load than all else that a report needs.
    from PIL import ImageFont
    from wordcloud import WordCloud  # type: ignore[import-untyped]

    smallest = ceil(BODY_PX)
    stands_for: dict[str, str] = {}
    weights: dict[str, float] = {}
    for name, count in words[:MOST_WORDS]:
        stand_in = _stand_in(name, len(stands_for))
        stands_for[stand_in] = name
        # Sizes go with the root, so that areas go with the counts, and none begins too small to be read.
        weights[stand_in] = smallest + (_LARGEST_PX - smallest) * sqrt(count / words[0][1])
    if not weights:
        return None
    # Few names in a large picture lie scattered.
    height = 96 if len(weights) <= 6 else 132 if len(weights) <= 14 else 176
    maker = WordCloud(
        font_path=str(asset(*_FONT)),
        width=width,
        height=height,
        margin=4,
        prefer_horizontal=1.0,
        min_font_size=smallest,
        max_font_size=_LARGEST_PX,
        font_step=1,
        relative_scaling=1,
        max_words=MOST_WORDS,
        random_state=seed,
        color_func=_no_color,
    )
    try:
        laid = maker.generate_from_frequencies(weights).layout_
    except ValueError:
        # The first name alone is too long for the picture.
        return None
    labels = []
    for (stand_in, weight), px, (y, x), _, _ in laid:
        # A word's place is the top of its highest letter.
        above = -ImageFont.truetype(str(asset(*_FONT)), px).getbbox(stand_in, anchor="ls")[1]
        color: Token = "text" if weight > 0.7 else "text2"
        labels.append(Label(float(x), float(y + above), stands_for[stand_in], color, weight=500, px=float(px)))
    if not labels:
        return None
    labels = _centred(labels, width)
    said = ", ".join(f"{name} {count:,}" for name, count in words[:12])
    return Drawing(float(width), float(height), tuple(labels), f"{title}: {said}")


def _no_color(*_: object, random_state: Random, **_more: object) -> str:
    """The page draws the words in its own colours. The library's choice of a colour would load all of Matplotlib; the
    random number that it draws is drawn here too, since the places of the next words depend on it."""
    random_state.uniform(0, 1)
    return "black"


def _centred(labels: list[Label], width: float) -> list[Label]:
    """The names moved together so that as much is free at the left as at the right."""
    left = min(label.x for label in labels)
    right = max(label.x + text_width(label.text, label.px, label.weight) * 0.94 for label in labels)
    shift = max((width - (right - left)) / 2 - left, -left)
    return [replace(label, x=label.x + shift) for label in labels]


def _stand_in(name: str, number: int) -> str:
    """A text of about the same width in letters that the font has: it lacks most scripts.

    Zero-width spaces tell two of them apart that would be equal.
    """
    letters = []
    for letter in name:
        if ord(letter) < 0x460:
            letters.append(letter)
        elif unicodedata.east_asian_width(letter) in "WF":
            letters.append("Ŵ")
        elif not unicodedata.combining(letter):
            letters.append("n")
    return "".join(letters) + "\u200b" * number
