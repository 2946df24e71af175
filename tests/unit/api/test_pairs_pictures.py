"""Pairs with pictures from a program's own values."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

import judgenet as jn
from judgenet.formats import DataError


def png(color: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 6), color).save(out, "PNG")
    return out.getvalue()


def test_records_and_frames_take_paths_and_bytes(tmp_path: Path) -> None:
    file = tmp_path / "red.png"
    file.write_bytes(png("red"))
    records = [
        {
            "id": "p",
            "question": ["Which? ", file],
            "response_a": file,
            "response_b": [png("blue"), " this"],
            "human": "a",
        },
        {"id": "q", "question": "words", "response_a": "a", "response_b": "b", "human": "b"},
    ]
    of_records, of_frame = jn.read_pairs(records), jn.read_pairs(pd.DataFrame(records))
    assert list(of_records) == list(of_frame)
    first, second = of_records
    assert [one.data for one in first.pictures] == [png("red"), png("blue")]
    assert first.readable(first.question) == "Which? [picture 1]"
    assert first.readable(first.response_b) == "[picture 1] this"
    assert second.pictures == ()
    with pytest.raises(DataError, match="cannot be read"):
        jn.read_pairs([{**records[0], "response_a": tmp_path / "none.png"}])


def test_a_column_of_images_as_hugging_face_has_them() -> None:
    frame = pd.DataFrame(
        {"question": ["q"], "response_a": ["a"], "response_b": ["b"], "image": [{"bytes": png("red"), "path": None}]}
    )
    (pair,) = jn.read_pairs(frame, mapping={"pictures_question": "image"})
    assert [one.data for one in pair.pictures] == [png("red")]
    assert pair.readable(pair.question) == "q\n[picture 1]"
