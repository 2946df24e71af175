"""Pictures of pairs in reports and in the explorer: small copies from the store, or what is left out, said."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfReader

from judgenet.core.pairs import Pair
from judgenet.core.pictures import pictures_in
from judgenet.report import pair_pictures
from judgenet.report.blocks import ReportDocument, Sent
from judgenet.report.explorer import explorer_html
from judgenet.report.model import Excerpt
from judgenet.report.pair_pictures import shown_picture
from judgenet.report.writers.html import html
from judgenet.report.writers.markdown import markdown
from judgenet.report.writers.pdf import pdf
from judgenet.store.db import Store
from judgenet.store.runs import run_info, run_pairs
from tests.fakes.judge_server import JudgeServer
from tests.unit.engine.test_pictures import pairs, run, start_of

__all__ = ["pairs"]


@pytest.fixture
def store(pairs: tuple[Pair, ...], tmp_path: Path) -> Iterator[Store]:
    """A run over a pair with pictures that people judged otherwise, whatever the verdict."""
    with JudgeServer() as server, Store.open(tmp_path / "x.judgenet.db") as found:
        run(found, start_of(pairs, server.url))
        yield found


def test_a_report_shows_small_copies_from_the_store(store: Store) -> None:
    pair = next(run_pairs(store, run_info(store))).pair
    (placed,) = pictures_in(pair.response_b, pair.pictures)
    there, gone = shown_picture(placed, (store,)), shown_picture(placed, ())
    excerpt = Excerpt(pair.readable(pair.response_b), 15, (there, gone), more_pictures=2)
    document = ReportDocument(("k",), "d", "t", (Sent("Prompt", (("Response B", excerpt),)),), "foot")
    page = html(document)
    (data,) = re.findall('<img src="data:image/png;base64,([^"]+)"', page)
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        assert image.convert("RGB").getpixel((3, 3)) == (0, 0, 255)
    assert "mine: [picture 1]" in page
    assert "Picture 1: 8 × 6 PNG, 0.1 kB (the picture itself is missing)" in page
    assert "Not shown: 2 more pictures." in page
    assert sum(len(of.images) for of in PdfReader(io.BytesIO(pdf(document))).pages) == 1
    text = markdown(document)
    assert f"Picture 1: 8 × 6 PNG, 0.1 kB, SHA-256 `{placed.picture.sha256[:16]}…`" in text


def test_an_explorer_holds_each_picture_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    text, _ = explorer_html(store, run_info(store))
    assert text.count('id="data-picture-') == 3
    assert "left out" not in text.partition("<script>")[0]
    monkeypatch.setattr(pair_pictures, "MOST_EXPLORER", 1)
    text, _ = explorer_html(store, run_info(store))
    assert text.count('id="data-picture-') == 1
    assert "2 of 3 pictures are left out" in text
