"""Pictures in pairs, seen on the pages Data, Run and Labels: loaded off the interface's thread, opened by mouse and
key, and shown from the store when their files are gone."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QWidget

from judgenet.core import presets
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import Settings
from judgenet.core.project import PairsSource, Project, new_salt
from judgenet.store.files import save_project
from judgenet.ui.app import Studio
from judgenet.ui.pages.data import DataPage
from judgenet.ui.pages.labels import LabelsPage
from judgenet.ui.pictures import PictureDialog, loader
from judgenet.ui.text_view import TextView
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import until
from tests.ui.person import click, key


def project_with_pictures(place: Path, url: str) -> Path:
    for name, size in (("red", (64, 48)), ("blue", (20, 2000))):
        Image.new("RGB", size, name).save(place / f"{name}.png")
    parts = {name: {"type": "image", "path": f"{name}.png"} for name in ("red", "blue")}
    record = {
        "id": "p",
        "question": [{"type": "text", "text": "Which is red? "}, parts["red"]],
        "response_a": [{"type": "text", "text": "**this** "}, parts["red"]],
        "response_b": [parts["blue"]],
    }
    (place / "pairs.jsonl").write_text(json.dumps(record), encoding="utf-8")
    settings = Settings(endpoint="fake", model="seer")
    spec = presets.network(1, 1, roles="none", settings=settings)
    endpoints = (EndpointProfile("fake", base_url=url, model="seer"),)
    source = PairsSource(("pairs.jsonl",))
    path = place / "pictures.judgenet"
    save_project(Project("pictures", spec, salt=new_salt(), pairs=source, endpoints=endpoints), path)
    return path


def view(page: QWidget, name: str) -> TextView:
    return next(of for of in page.findChildren(TextView) if of.accessibleName() == name and of.text)


def colors(of: TextView) -> set[str]:
    """The colours in the middle of the pictures that a text shows."""
    document = of.document()
    found = set()
    for spot in of.in_text._spots:
        url = QUrl(f"judgenet-picture:{spot.placed.picture.sha256}")
        image = document.resource(QTextDocument.ResourceType.ImageResource.value, url)
        seen = image.pixelColor(image.rect().center())
        found.add(
            {seen.red() > 200 > 50 > seen.blue(): "red", seen.blue() > 200 > 50 > seen.red(): "blue"}.get(True, "")
        )
    return found


async def test_pictures_are_seen_in_their_places(studio: Studio, place: Path, judge: JudgeServer) -> None:
    window, context = studio.window, studio.window.context
    window.frame_actions.open_file(project_with_pictures(place, judge.url))
    await until(lambda: context.document.is_open)
    await context.document.loaded()
    context.navigator.go("data")
    page = window.page("data")
    assert isinstance(page, DataPage)
    await until(lambda: page.browse.model.rowCount() == 1)
    assert page.browse.model.text(0, "question") == "Which is red? [picture 1]"
    page.browse.open_pair(0)
    response = view(page, "Response A")
    await until(lambda: colors(response) == {"red"})
    await until(lambda: colors(view(page, "Response B")) == {"blue"}, "blue", 5)
    assert "picture 1: 64 × 48 PNG" in response.accessibleDescription()
    # Nothing of the text is lost, and nobody reads a hash.
    assert response.document().toPlainText() == "this \n\ufffc"

    cursor = response.textCursor()
    cursor.setPosition(response.in_text._spots[0].position)
    click(response.viewport(), at=response.cursorRect(cursor).center() + QPoint(10, 0))
    dialog = window.findChild(PictureDialog)
    assert dialog is not None
    assert dialog.windowTitle().startswith("Picture 1 of Response A: 64 × 48 PNG")
    await until(lambda: not dialog.view.pixmap().isNull())
    key(dialog, Qt.Key.Key_Escape)
    key(view(page, "Response B"), Qt.Key.Key_Return)
    await until(lambda: any(of.isVisible() for of in window.findChildren(PictureDialog)))
    for of in window.findChildren(PictureDialog):
        of.close()

    context.runner._tasks.start(context.runner._start("all"), "Start the run")
    await until(lambda: context.run_state.run is not None and context.run_state.run.state == "done")
    assert {len(entry.pictures) for entry in judge.log} == {3}
    # The files go; what was judged stays to be seen, from the store.
    for name in ("red", "blue"):
        (place / f"{name}.png").unlink()
    loader().know(())
    loader()._kept.clear()
    context.navigator.go("labels")
    labels = window.page("labels")
    assert isinstance(labels, LabelsPage)
    labels.state.set_annotator("me")
    desk = [of for of in labels.findChildren(TextView) if of.accessibleName().startswith("Response")]
    await until(lambda: set[str]().union(*map(colors, desk)) == {"red", "blue"})


async def test_a_picture_that_is_gone_says_so(studio: Studio, place: Path, judge: JudgeServer) -> None:
    window, context = studio.window, studio.window.context
    window.frame_actions.open_file(project_with_pictures(place, judge.url))
    await until(lambda: context.document.is_open)
    await context.document.loaded()
    (place / "blue.png").unlink()
    loader()._kept.clear()
    context.navigator.go("data")
    page = window.page("data")
    assert isinstance(page, DataPage)
    await until(lambda: page.browse.model.rowCount() == 1)
    page.browse.open_pair(0)
    blue = context.document.pairs[0].pictures[1]
    await until(lambda: "cannot be read" in loader().why_missing(blue))
    # Nothing is paid where a picture is not there.
    context.runner._tasks.start(context.runner._start("all"), "Start the run")
    await until(lambda: bool(window.errors.troubles))
    assert "blue.png" in window.errors.troubles[0].what
    assert not judge.log
