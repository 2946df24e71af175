"""Pictures in files of pairs: the forms in which they come, the limits, the refusals, and the way back."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from judgenet.core.pairs import Pair
from judgenet.core.pictures import picture_tokens, sent_size, spoken_text, takes_no_pictures, text_parts
from judgenet.formats import DataError, PairMapping, read_pairs, write_pairs
from judgenet.formats.pictures import look, sent_form, small_copy


def picture(form: str = "PNG", size: tuple[int, int] = (8, 6), color: str = "red", **options: Any) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, form, **options)
    return out.getvalue()


RED = picture()
B64 = base64.b64encode(RED).decode()
SHORT = look(RED).sha256[:8]


def record(**changes: Any) -> dict[str, Any]:
    return {"id": "p", "question": "q", "response_a": "a", "response_b": "b", **changes}


def read(path: Path, *records: dict[str, Any], **options: Any) -> tuple[Pair, ...]:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return read_pairs(path, mapping=PairMapping(**options)).pairs


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics" / "red.png").write_bytes(RED)
    return tmp_path / "pairs.jsonl"


FORMS: list[Any] = [
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{B64}"}},
    {"type": "image_url", "image_url": f"data:image/png;base64,{B64}"},
    {"type": "input_image", "image_url": f"data:image/png;base64,{B64}"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": B64}},
    {"inlineData": {"mimeType": "image/png", "data": B64}},
    {"type": "image", "path": "pics/red.png"},
    {"type": "image_url", "image_url": {"url": "pics/red.png"}},
    {"type": "image", "image": "pics/red.png"},
]


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_part(form: dict[str, Any], file: Path) -> None:
    text = {"type": "text", "text": "see "}
    (pair,) = read(file, record(response_a=[text, form], response_b=[{"role": "assistant", "content": [form]}]))
    assert (pair.response_a, pair.response_b) == (f"see [picture 1: {SHORT}]", f"[picture 1: {SHORT}]")
    assert [(one.media, one.width, one.height, one.size) for one in pair.pictures] == [("image/png", 8, 6, len(RED))]
    assert spoken_text(pair.response_a, pair.pictures) == "see "


def test_a_bare_data_uri_and_a_list_in_a_cell(file: Path) -> None:
    parts = json.dumps([{"type": "text", "text": "so: "}, FORMS[0]])
    (pair,) = read(file, record(response_a=f"data:image/png;base64,{B64}", response_b=parts))
    assert (pair.response_a, pair.response_b) == (f"[picture 1: {SHORT}]", f"so: [picture 1: {SHORT}]")
    (words,) = read(file, record(response_a='[{"type": "image of a list"}]', response_b="data:image/png is a prefix"))
    assert (words.response_a, words.response_b) == ('[{"type": "image of a list"}]', "data:image/png is a prefix")
    assert words.pictures == ()


def test_columns_of_pictures(file: Path) -> None:
    row = record(shown="pics/red.png", first=["pics/red.png", f"data:image/png;base64,{B64}"], second={"path": None})
    mapping = {"pictures_question": "shown", "pictures_a": "first"}
    (pair,) = read(file, row, columns=mapping)
    assert pair.question == f"q\n[picture 1: {SHORT}]"
    assert pair.response_a == f"a\n[picture 1: {SHORT}][picture 2: {SHORT}]"
    # They are not taken by their names: an earlier run over the same file was made without them.
    assert read(file, record(image="pics/red.png"))[0].pictures == ()


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (
            "https://example.org/a.png",
            "is an address at example.org .'https://example.org/a.png'., and addresses are not fetched",
        ),
        ("../red.png", "lies outside the folder"),
        ("/etc/hostname", "lies outside the folder"),
        ("pics/none.png", "There is no picture"),
        ("pairs.jsonl", "in no format that is read"),
        ("data:image/png;base64,####", "no valid base64"),
        (f"data:image/png;base64,{base64.b64encode(RED[:40]).decode()}", "broken"),
        ("data:image/svg+xml;base64," + base64.b64encode(b"<svg/>").decode(), "SVG"),
    ],
)
def test_refusals_name_their_place(where: str, words: str, file: Path) -> None:
    bad = record(id="q", response_b=[{"type": "image_url", "image_url": {"url": where}}])
    with pytest.raises(DataError, match=words) as caught:
        read(file, record(), bad)
    assert (caught.value.row, caught.value.column) == (2, "response_b")
    assert [pair.id for pair in read(file, record(), bad, leave_out_bad=True)] == ["p"]


def test_a_link_does_not_lead_out(file: Path, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.png"
    outside.write_bytes(RED)
    (tmp_path / "pics" / "link.png").symlink_to(outside)
    with pytest.raises(DataError, match="lies outside the folder"):
        read(file, record(response_a=[{"type": "image", "path": "pics/link.png"}]))


def test_a_bomb_is_refused_by_its_size_alone() -> None:
    header = picture("PNG", (1, 1))
    # Width and height of the header, with the checksum of the chunk: 50,000 by 50,000 pixels that nobody unpacks.
    import struct
    import zlib

    chunk = b"IHDR" + struct.pack(">II", 50_000, 50_000) + header[24:29]
    bomb = header[:8] + header[8:12] + chunk + struct.pack(">I", zlib.crc32(chunk)) + header[33:]
    with pytest.raises(DataError, match="million"):
        look(bomb)


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "tsv", "parquet"])
def test_written_pairs_are_read_back_with_their_pictures(form: Any, file: Path, tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "one "}, FORMS[5], {"type": "text", "text": "\n\ntwo "}, FORMS[0]]
    pairs = read(file, record(question=parts, response_a=[FORMS[1]], human="a"), record(id="words"))
    path = tmp_path / "elsewhere" / f"pairs.{form}"
    path.parent.mkdir()
    write_pairs(pairs, path, form)
    back = read_pairs(path).pairs
    assert back == pairs
    assert [pair.content_hash for pair in back] == [pair.content_hash for pair in pairs]


def test_pairs_without_pictures_keep_their_hash() -> None:
    # Of version 0.1.
    import hashlib

    pair = Pair("p", "q", "a", "b")
    assert pair.content_hash == hashlib.sha256(b'["q", "a", "b", null, null]').hexdigest()


def test_the_first_frame_and_no_notes_of_a_camera_are_sent() -> None:
    frames = [Image.new("RGB", (4, 4), color) for color in ("red", "blue")]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    media, data = sent_form(out.getvalue())
    with Image.open(io.BytesIO(data)) as image:
        assert (media, image.format, image.convert("RGB").getpixel((0, 0))) == ("image/png", "PNG", (255, 0, 0))
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "a camera"
    turned = picture("JPEG", (40, 20), exif=exif)
    assert look(turned)[1:4] == ("image/jpeg", 20, 40)
    media, data = sent_form(turned)
    with Image.open(io.BytesIO(data)) as image:
        assert (media, image.size, dict(image.getexif())) == ("image/jpeg", (20, 40), {})


def test_what_is_sent_is_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judgenet.formats.pictures.MOST_SENT", 100_000)
    noise = Image.merge("RGB", [Image.effect_noise((300, 300), 100) for _ in range(3)])
    out = io.BytesIO()
    noise.save(out, "PNG")
    media, data = sent_form(out.getvalue())
    assert len(out.getvalue()) > 100_000 >= len(data)
    assert media == "image/jpeg"
    assert max(Image.open(io.BytesIO(small_copy(out.getvalue(), 100).data)).size) == 100


def test_text_parts() -> None:
    (pair,) = (Pair("p", "q", f"x[picture 1: {SHORT}]y[picture 1: {SHORT}] [picture 9: 00000000]", "b"),)
    from judgenet.core.pictures import PairPicture

    known = PairPicture(look(RED).sha256, "image/png", 8, 6, len(RED))
    parts = text_parts(pair.response_a, [known])
    assert [part if isinstance(part, str) else part.name for part in parts] == [
        "x",
        "[picture 1]",
        "y[picture 1] [picture 9: 00000000]",
    ]
    assert text_parts(pair.response_a, []) == [pair.response_a]


@pytest.mark.parametrize(
    ("kind", "model", "size", "tokens"),
    [
        # OpenAI, "Images and vision", "Calculating costs": the worked examples of the page.
        ("openai", "gpt-4o", (1024, 1024), 85 + 4 * 170),
        ("openai", "gpt-4.1-mini", (1024, 1024), 1659),
        ("openai", "gpt-5-nano", (512, 512), 630),
        # Anthropic, "Vision": tokens of images that are not resized.
        ("anthropic", "claude-opus-4-6", (200, 200), 54),
        ("anthropic", "claude-opus-4-6", (1000, 1000), 1334),
        ("anthropic", "claude-opus-4-6", (4000, 4000), 1600),
        # Gemini, "Token counting": 258 tokens up to 384 pixels, then for each tile of 768.
        ("gemini", "gemini-2.5-flash", (384, 384), 258),
        ("gemini", "gemini-2.5-flash", (960, 540), 2 * 258),
        ("gemini", "gemini-3-pro", (960, 540), 1120),
        ("openai", "some/model", (300, 250), 100),
    ],
)
def test_tokens_by_the_providers_rules(kind: str, model: str, size: tuple[int, int], tokens: int) -> None:
    assert picture_tokens(kind, model, *size) == tokens


def test_sizes_and_blind_models() -> None:
    assert sent_size(3136, 100) == (1568, 50)
    assert sent_size(3, 20_000) == (1, 1568)
    assert [takes_no_pictures("openai", name) for name in ("gpt-4o", "gpt-4", "qwen2.5-vl-7b", "qwen2.5-7b")] == [
        False,
        True,
        False,
        True,
    ]
    assert takes_no_pictures("embedded", "anything")
