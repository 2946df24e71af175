"""The studio looks as it did: its pages against kept pictures, and the comparison against changes made on purpose."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from tests.shots.compare import MOST_TILES, TILE, Picture, differing, load
from tests.shots.kept import FILES, KEPT, README, draw


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not sys.platform.startswith("linux"):
        pytest.skip("the kept pictures were drawn with FreeType; other systems draw letters in their own way")
    folder = tmp_path_factory.mktemp("shots")
    draw(folder)
    return folder


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", FILES)
def test_page_looks_as_kept(name: str, drawn: Path, tmp_path: Path) -> None:
    new = drawn / f"{name}.png"
    tiles = differing(load(new), load(FILES[name]))
    if len(tiles) > MOST_TILES:
        shutil.copy(new, tmp_path / f"{name}.png")
    assert len(tiles) <= MOST_TILES, (
        f"{len(tiles)} tiles of {TILE} px differ, the first at {tiles[:5]}: see {tmp_path / f'{name}.png'}. "
        "If the change is wanted: python -m tests.shots.kept, and look at each picture."
    )


def test_no_other_pictures_are_kept() -> None:
    for folder, most in ((KEPT, 4_000_000), (README, 1_500_000)):
        pictures = set(folder.glob("*.png"))
        assert pictures == {path for path in FILES.values() if path.parent == folder}
        assert sum(path.stat().st_size for path in pictures) < most


# The comparison itself


def _image(name: str = "run-light-1280x720") -> Image.Image:
    with Image.open(KEPT / f"{name}.png") as image:
        return image.convert("RGB")


def _picture(image: Image.Image) -> Picture:
    return np.asarray(image, dtype=np.float64)


def _without(box: tuple[int, int, int, int]) -> Image.Image:
    """The picture with a box filled with the colour of its corner."""
    image = _image()
    ImageDraw.Draw(image).rectangle(box, fill=image.getpixel(box[:2]))
    return image


def _teal(pixels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where the picture has the colour of A."""
    found = (np.abs(pixels.astype(int) - (0x00, 0x6F, 0x8C)) < 12).all(axis=2)
    assert found.sum() > 500
    return found


def _without_a_verdict() -> Image.Image:
    """The picture with the uppermost chip of A overpainted."""
    y, x = np.argwhere(_teal(np.array(_image())))[0]
    return _without((int(x) - 3, int(y) - 2, int(x) + 24, int(y) + 22))


def _recoloured() -> Image.Image:
    """The picture with all of A's teal as B's orange."""
    pixels = np.array(_image())
    teal = _teal(pixels)
    pixels[teal] = (0xA8, 0x4A, 0x08)
    return Image.fromarray(pixels)


def _moved(by: int) -> Image.Image:
    """The picture with everything below the top bar lower."""
    pixels = np.array(_image())
    pixels[60 + by :] = pixels[60:-by].copy()
    return Image.fromarray(pixels)


CHANGES = {
    "a button is missing": lambda: _without((1104, 10, 1184, 38)),
    "a heading is missing": lambda: _without((902, 64, 1050, 90)),
    "a single verdict is missing": _without_a_verdict,
    "A has the colour of B": _recoloured,
    "all stands four px lower": lambda: _moved(4),
    "the dark theme": lambda: _image("run-dark-1280x720"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_visible_change_is_seen(what: str) -> None:
    assert len(differing(_picture(CHANGES[what]()), _picture(_image()))) > MOST_TILES


NO_CHANGES = {
    "letters drawn a little softer": lambda: _image().filter(ImageFilter.GaussianBlur(0.5)),
    "each colour off by two": lambda: Image.fromarray(np.clip(np.array(_image()).astype(int) - 2, 0, 255).astype("u1")),
    "letters a third of a px to the right": lambda: Image.blend(
        _image(), _image().transform(_image().size, Image.Transform.AFFINE, (1, 0, -1, 0, 1, 0)), 0.33
    ),
}


@pytest.mark.parametrize("what", NO_CHANGES)
def test_what_no_eye_sees_is_no_change(what: str) -> None:
    assert len(differing(_picture(NO_CHANGES[what]()), _picture(_image()))) <= MOST_TILES


def test_pictures_of_different_size_are_not_compared() -> None:
    with pytest.raises(ValueError, match="1280×720 and 640×720"):
        differing(_picture(_image()), _picture(_image().crop((0, 0, 640, 720))))
