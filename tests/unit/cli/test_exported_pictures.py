"""Pictures of pairs in exports for other programs: each is read back in the form that its program has for it."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from PIL import Image

import judgenet as jn
from judgenet.formats import read_pairs
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet


def picture(color: str, size: tuple[int, int] = (8, 6), form: str = "PNG", **more: Any) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, form, **more)
    return out.getvalue()


def color_of(data: bytes) -> str:
    with Image.open(io.BytesIO(data)) as image:
        red, green, blue = image.convert("RGB").getpixel((0, 0))  # type: ignore[misc]
    return {(True, False, False): "red", (False, True, False): "green", (False, False, True): "blue"}[
        (red > 200, green > 100, blue > 200)
    ]


RED, GREEN, BLUE = (picture(color) for color in ("red", "green", "blue"))


@pytest.fixture
def judged(judgenet: Judgenet, tmp_path: Path, server: JudgeServer) -> Judgenet:
    """Two pairs: one with a picture in its question and in each of its responses, and one of words."""

    def part(name: str) -> dict[str, str]:
        return {"type": "image", "path": name}

    for name, data in (("red.png", RED), ("green.png", GREEN), ("blue.png", BLUE)):
        (tmp_path / name).write_bytes(data)
    seen = {
        "id": "seen",
        "question": [{"type": "text", "text": "Which is like "}, part("red.png"), {"type": "text", "text": "?"}],
        "response_a": [part("green.png"), {"type": "text", "text": " is mine."}],
        "response_b": [part("blue.png")],
        "human": "a",
    }
    words = {"id": "words", "question": "2 + 2?", "response_a": "4", "response_b": "5", "human": "b"}
    (tmp_path / "pairs.jsonl").write_text(f"{json.dumps(seen)}\n{json.dumps(words)}\n")
    asked = ("--base-url", server.url, "--model", "seer", "--width", 1, "--depth", 1, "--roles", "none")
    assert judgenet("run", "--pairs", "pairs.jsonl", *asked, "--out", "out").code == 0
    for name in ("red.png", "green.png", "blue.png"):
        (tmp_path / name).unlink()  # the run's store has them
    return judgenet


def bytes_of(uri: str) -> bytes:
    head, _, data = uri.partition(";base64,")
    assert head == "data:image/png"
    return base64.b64decode(data, validate=True)


def check_preference(record: dict[str, Any], images: list[bytes]) -> None:
    """The record of the pair with pictures, whose label is A: markers in their places, pictures in their order."""
    assert record["prompt"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Which is like "}, {"type": "image"}, {"type": "text", "text": "?"}],
        }
    ]
    assert record["chosen"] == [
        {"role": "assistant", "content": [{"type": "image"}, {"type": "text", "text": " is mine."}]}
    ]
    assert record["rejected"] == [{"role": "assistant", "content": [{"type": "image"}]}]
    assert images == [RED, GREEN, BLUE]


def test_preferences_have_messages_and_files_beside_them(judged: Judgenet, tmp_path: Path) -> None:
    asked = ("export", "out", "--what", "preferences", "--aggregation", "human")
    ran = judged(*asked, "-o", "to/preferences.jsonl")
    assert "3 pictures in to/preferences-images" in ran.err
    seen, words = map(json.loads, (tmp_path / "to/preferences.jsonl").read_text().splitlines())
    assert all(path.startswith("preferences-images/") for path in seen["images"])
    check_preference(seen, [(tmp_path / "to" / path).read_bytes() for path in seen["images"]])
    # One form for all records of a file.
    assert words["prompt"] == [{"role": "user", "content": [{"type": "text", "text": "2 + 2?"}]}]
    assert words["images"] == []
    assert len(list((tmp_path / "to/preferences-images").iterdir())) == 3

    # On standard output there is no folder: a picture is a data URI.
    seen, _ = judged(*asked).lines
    check_preference(seen, [bytes_of(uri) for uri in seen["images"]])
    assert not Path("preferences-images").exists()

    judged(*asked, "-o", "to/preferences.parquet")
    row = pq.read_table(tmp_path / "to/preferences.parquet").to_pylist()[0]
    for name in ("prompt", "chosen", "rejected"):
        for said in row[name]:
            said["content"] = [
                {key: value for key, value in part.items() if value is not None} for part in said["content"]
            ]
    check_preference(row, [(tmp_path / "to" / path).read_bytes() for path in row["images"]])


def test_an_export_that_fails_leaves_no_picture(
    judged: Judgenet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        list(_[0])  # type: ignore[call-overload]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("judgenet.report.run_files.write_records", fail)
    ran = judged("export", "out", "--what", "preferences", "--aggregation", "human", "-o", "full.jsonl")
    assert ran.code == 2
    assert "No space left" in ran.err
    assert not list(tmp_path.glob("full*"))


def test_a_data_set_folder_has_them_with_a_column_of_paths(judged: Judgenet, tmp_path: Path) -> None:
    ran = judged("export", "out", "--what", "dataset", "--aggregation", "human", "-o", "set")
    assert ran.err.startswith("set: 2 verdicts, 4 calls, 2 preferences, 4 responses, 3 pictures")
    rows = pq.read_table(tmp_path / "set/data/pictures.parquet").to_pylist()
    assert [(row["pair_id"], row["text"], row["number"]) for row in rows] == [
        ("seen", "question", 1),
        ("seen", "response_a", 1),
        ("seen", "response_b", 1),
    ]
    assert [(tmp_path / "set" / row["path"]).read_bytes() for row in rows] == [RED, GREEN, BLUE]
    assert all(row["path"].startswith("images/") for row in rows)
    row = pq.read_table(tmp_path / "set/data/preferences.parquet").to_pylist()[0]
    assert row["images"] == [row["path"] for row in rows]
    card = (tmp_path / "set/README.md").read_text()
    assert "| `data/pictures.parquet` | 3 |" in card
    assert "The pictures of the pairs are in `images` (3 files)" in card


def test_llm_comparator_has_chunks(judged: Judgenet, tmp_path: Path) -> None:
    judged("export", "out", "--what", "llm-comparator", "-o", "lc.json")
    seen, words = json.loads((tmp_path / "lc.json").read_text())["examples"]
    assert [chunk["type"] for chunk in seen["input_text"]] == ["text", "image_byte", "text"]
    (chunk,) = seen["output_text_b"]
    data = base64.b64decode(chunk["data"], validate=True)
    # Its page shows the bytes as JPEG.
    assert (data[:3], color_of(data)) == (b"\xff\xd8\xff", "blue")
    assert words["input_text"] == "2 + 2?"
    pair, other = read_pairs(tmp_path / "lc.json").pairs
    assert [one.media for one in pair.pictures] == ["image/jpeg"] * 3
    assert [color_of(one.data or b"") for one in pair.pictures] == ["red", "green", "blue"]
    assert (pair.question.startswith("Which is like [picture 1: "), other.question) == (True, "2 + 2?")


def check_read_back(path: Path) -> None:
    """The file as pairs again: the same questions, so that a run over it asks nothing anew."""
    pair, words = read_pairs(path).pairs
    assert [one.data for one in pair.pictures] == [RED, GREEN, BLUE]
    names = [f"[picture 1: {hashlib.sha256(data).hexdigest()[:8]}]" for data in (RED, GREEN, BLUE)]
    texts = (pair.question, pair.response_a, pair.response_b)
    assert texts == (f"Which is like {names[0]}?", f"{names[1]} is mine.", names[2])
    assert (words.question, words.pictures) == ("2 + 2?", ())


def test_argilla_has_markdown(judged: Judgenet, tmp_path: Path) -> None:
    judged("export", "out", "--what", "argilla", "-o", "argilla.json")
    seen, words = json.loads((tmp_path / "argilla.json").read_text())
    images = re.compile(r"!\[picture 1\]\((data:image/png;base64,[A-Za-z0-9+/=]+)\)")
    fields = seen["fields"]
    assert [bytes_of(uri) for name in fields for uri in images.findall(fields[name])] == [RED, GREEN, BLUE]
    assert images.sub("#", fields["question"]) == "Which is like #?"
    assert words["fields"] == {"question": "2 + 2?", "response_a": "4", "response_b": "5"}
    check_read_back(tmp_path / "argilla.json")


def test_label_studio_has_lists_of_pictures(judged: Judgenet, tmp_path: Path) -> None:
    judged("export", "out", "--what", "label-studio", "-o", "tasks.json")
    seen, words = (task["data"] for task in json.loads((tmp_path / "tasks.json").read_text()))
    assert (seen["question"], seen["response_a"]) == ("Which is like [picture 1]?", "[picture 1] is mine.")
    named = ("question_pictures", "response_a_pictures", "response_b_pictures")
    assert [bytes_of(uri) for name in named for uri in seen[name]] == [RED, GREEN, BLUE]
    assert [words[name] for name in named] == [[], [], []]
    check_read_back(tmp_path / "tasks.json")


def test_pictures_go_out_as_judges_saw_them(judgenet: Judgenet, tmp_path: Path, server: JudgeServer) -> None:
    """No larger, and without the notes of a camera."""
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    large = picture("red", (2000, 1000), "JPEG", exif=exif)
    assert b"taken at home" in large
    (tmp_path / "photo.jpg").write_bytes(large)
    record = {"question": "q", "response_a": [{"type": "image", "path": "photo.jpg"}], "response_b": "b", "human": "a"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(record))
    asked = ("--base-url", server.url, "--model", "seer", "--width", 1, "--depth", 1, "--roles", "none")
    assert judgenet("run", "--pairs", "pairs.jsonl", *asked, "--out", "out").code == 0
    jn.open_run("out").export("preferences", tmp_path / "p.jsonl", aggregation="human")
    (path,) = json.loads((tmp_path / "p.jsonl").read_text())["images"]
    data = (tmp_path / path).read_bytes()
    with Image.open(io.BytesIO(data)) as image:
        assert (image.format, image.size) == ("JPEG", (1568, 784))
    assert b"taken at home" not in data
    assert server.log[0].pictures[0].media == "image/jpeg"


def test_a_run_without_pictures_is_exported_as_it_was(judgenet: Judgenet, pairs: Path, server: JudgeServer) -> None:
    asked = ("--base-url", server.url, "--model", "m", "--width", 1, "--depth", 1, "--roles", "none")
    assert judgenet("run", "--pairs", pairs, *asked, "--out", "out").code == 0
    (first, *_) = judgenet("export", "out", "--what", "preferences", "--aggregation", "human").lines
    assert "images" not in first
    assert isinstance(first["prompt"], str)
    assert judgenet("export", "out", "--what", "dataset", "-o", "set").code == 0
    assert not Path("set/images").exists()
    assert not Path("set/data/pictures.parquet").exists()
