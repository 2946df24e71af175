"""Texts of the user's data: nothing is HTML, nothing is loaded, nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextBlock, QTextDocument
from pytestqt.qtbot import QtBot

from judgenet.fonts import MONO_FAMILY
from judgenet.ui.fonts import load_fonts
from judgenet.ui.text_view import MOST_MARKDOWN, TextView, one_line, plain_tip, showable
from judgenet.ui.theme import make_theme, set_current_theme


@pytest.fixture
def view(qtbot: QtBot) -> TextView:
    load_fonts()
    set_current_theme(make_theme("light"))
    made = TextView("Text")
    qtbot.addWidget(made)
    made.resize(400, 300)
    return made


def blocks(view: TextView) -> Iterator[QTextBlock]:
    block = view.document().begin()
    while block.isValid():
        yield block
        block = block.next()


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("<b>bold</b> <script>alert(1)</script>", "<b>bold</b> <script>alert(1)</script>"),
        ("<img src='http://127.0.0.1:9/x.png'>", "<img src='http://127.0.0.1:9/x.png'>"),
        ("**strong** and `code`", "strong and code"),
        ("one line\nthe next", "one line\nthe next"),
        ("---\ntitle: kept\n---\n\nbody", "kept"),
        ("![a cat](http://127.0.0.1:9/cat.png)", "[Image, not loaded: a cat, http://127.0.0.1:9/cat.png]"),
        ("![](file:///etc/hostname)", "[Image, not loaded: image, file:///etc/hostname]"),
        ("[![in a link](a.png)](http://127.0.0.1:9/)", "[Image, not loaded: in a link, a.png]"),
        ("see [this](javascript:alert(1))", "see this"),
        ("a\ud800b", "a\ufffdb"),
        ("```\n![](kept.png)\n  two\nlines\n```", "![](kept.png)\n  two\nlines"),
        ("~~~\n```\nstill code\n~~~\nafter\nwards", "still code"),
    ],
)
def test_markdown(view: TextView, text: str, seen: str) -> None:
    view.show_text(text, markdown=True)
    shown = view.toPlainText().replace("\u2028", "\n")
    assert seen in shown
    assert "\ufffc" not in shown


@pytest.mark.parametrize("text", ["<b>x</b>\n\n**y**", "---\na\n---", "  spaces  \n\ttab", "\u2028kept\u2029"])
def test_plain_text_is_as_it_is(view: TextView, text: str) -> None:
    view.show_text(text)
    assert view.document().toRawText().replace("\u2029", "\n") == text.replace("\u2029", "\n")


def test_nothing_is_loaded(view: TextView, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[object] = []
    own = type(view.document()).loadResource

    def watch(document: QTextDocument, kind: int, name: QUrl | str) -> object:
        found.append(own(document, kind, name))
        return found[-1]

    monkeypatch.setattr(type(view.document()), "loadResource", watch)
    for text in ("![x](file:///etc/hostname) ![](http://127.0.0.1:9/a.png)", "<img src='file:///etc/hostname'>"):
        view.show_text(text, markdown=True)
        view.show()
        view.grab()
    assert set(found) <= {None}
    kind = QTextDocument.ResourceType.ImageResource.value
    assert view.document().resource(kind, QUrl("file:///etc/hostname")) is None


def test_each_paragraph_has_its_own_direction(view: TextView) -> None:
    for markdown in (False, True):
        view.show_text("Ice floats.\n\nلماذا يطفو الجليد؟\n\nמים\n\n水", markdown=markdown)
        directions = [block.textDirection() for block in blocks(view) if block.text()]
        left, right = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
        assert directions == [left, right, right, left]


def test_headings_and_code_have_the_sizes_of_the_theme(view: TextView) -> None:
    view.show_text("# Head\n\nbody `in` line\n\n```py\ncode\n```", markdown=True)
    sizes = {}
    for block in blocks(view):
        fragments = block.begin()
        while not fragments.atEnd():
            form = fragments.fragment().charFormat()
            sizes[fragments.fragment().text()] = (form.fontPointSize(), form.fontFamilies())
            fragments += 1
    assert sizes["Head"][0] == 13
    assert (sizes["in"][0], sizes["code"][0]) == (10, 10)
    assert sizes["code"][1][0] == MONO_FAMILY


def test_long_and_odd_texts(view: TextView) -> None:
    view.show_text("word " * (MOST_MARKDOWN // 4), markdown=True)
    assert not view.markdown
    view.show_text("x" * 300_000)
    assert view.document().size().height() > 0
    for nasty in (">" * 5000 + " x", "[" * 20_000, "".join("  " * depth + "- x\n" for depth in range(300)), "|a" * 500):
        view.show_text(nasty, markdown=True)
        assert view.document().size().height() > 0


def test_height_follows_the_text_up_to_a_limit(view: TextView) -> None:
    view.show()
    line = make_theme("light").line_height("evidence")
    view.show_text("short")
    assert view.height_for(5) < 2 * line
    view.show_text("line\n" * 40)
    assert view.height_for(5) < 6 * line


def test_words_for_tips_and_rows() -> None:
    assert "<b>" not in plain_tip("<b>x</b>")
    assert plain_tip("") == ""
    assert len(plain_tip("x" * 5000)) < 1000
    assert one_line("a\n b\t c") == "a b c"
    assert showable("\ud83d") == "\ufffd"
    assert showable("😀") == "😀"
