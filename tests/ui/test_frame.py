"""The frame: opening and closing, saving, recovering, undo, palette, errors, look, keyboard and names."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFileDialog,
    QInputDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QMessageBox,
    QPlainTextEdit,
    QProgressBar,
    QSlider,
    QWidget,
)

from judgenet.assets import example
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.events import EndpointChanged
from judgenet.core.network import (
    RECORDED,
    LayerSpec,
    NetworkSpec,
    NeuronSpec,
    Role,
    RolesSpec,
    Settings,
    is_recorded,
)
from judgenet.core.presets import PRESETS, network
from judgenet.core.project import PairsSource, Project
from judgenet.engine.budget import Limits
from judgenet.store.files import load_project, save_project, store_path
from judgenet.store.prices import load_prices
from judgenet.store.recovery import drafts, kept_copy, log_file
from judgenet.ui.app import Studio
from judgenet.ui.app_window import fitting
from judgenet.ui.errors import MessageButton
from judgenet.ui.help import AboutDialog, KeysDialog
from judgenet.ui.limits import LimitsDialog
from judgenet.ui.navigation import PAGES, PageKey
from judgenet.ui.palette import rank
from judgenet.ui.preset_cards import PresetCard, draw_network
from judgenet.ui.shell import RAIL_PAGES
from judgenet.ui.tasks import Job, JobCancelled
from judgenet.version import __version__
from tests.fakes.judge_server import JudgeServer
from tests.short_forms import with_settings
from tests.ui.conftest import make_studio, settle, until
from tests.ui.person import click, close_all, find, key, name_of, press, type_text

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def project_at(place: Path, name: str = "study") -> Path:
    """A project file with the example's pairs."""
    path = place / f"{name}.judgenet"
    save_project(Project.new(name, network(2, 2), PairsSource((example("general.jsonl").as_posix(),))), path)
    return path


async def opened(studio: Studio, path: Path) -> None:
    studio.window.frame_actions.open_file(path)
    await studio.window.context.document.loaded()


# Opening


async def test_it_opens_on_the_welcome_page(studio: Studio) -> None:
    await settle()
    window = studio.window
    assert window.context.navigator.page == "welcome"
    assert not window.rail.isVisible()
    assert window.windowTitle() == "JudgeNet Studio"


async def test_loading_ends_where_another_project_is_opened_meanwhile(studio: Studio, place: Path) -> None:
    document = studio.window.context.document
    studio.window.frame_actions.open_file(project_at(place))
    await until(lambda: document.loading)
    document.new(Project.new("Other", PRESETS["jury"].spec))
    await document.loaded()
    assert not document.loading
    assert document.dataset is None


async def test_one_preset_is_recommended_and_pictures_have_as_many_boxes_as_their_texts_say(studio: Studio) -> None:
    cards = {card.key: card for card in studio.window.findChildren(PresetCard)}
    assert [preset for preset, card in cards.items() if "recommended" in card.accessibleName()] == ["widedeep"]
    boxes: dict[str, int] = {}
    for preset, card in cards.items():
        with patch.object(QPainter, "drawRoundedRect", autospec=True) as drawn:
            picture = QPixmap(300, 200)
            painter = QPainter(picture)
            draw_network(painter, studio.theme.theme, card.spec, preset)
            painter.end()
        boxes[preset] = drawn.call_count
    # FairEval's frame around its three samples is the fourth; three reviewers judge, then discuss, and a chair decides.
    assert boxes == {"single": 1, "faireval": 4, "jury": 8, "widedeep": 8, "review": 7, "panel": 3}


async def test_a_preset_begins_a_project_with_one_click(studio: Studio) -> None:
    await settle()
    cards = studio.window.page("welcome").findChildren(PresetCard)
    assert [card.key for card in cards] == ["single", "faireval", "jury", "widedeep", "review", "panel"]
    click(next(card for card in cards if card.key == "review"))
    document = studio.window.context.document
    assert document.spec == PRESETS["review"].spec
    assert studio.window.context.navigator.page == "design"
    assert studio.window.rail.isVisible()
    assert studio.window.top_bar.state.text() == "Draft"


async def test_a_project_opens_with_its_pairs_and_is_remembered(studio: Studio, place: Path) -> None:
    path = project_at(place)
    await opened(studio, path)
    document = studio.window.context.document
    assert len(document.pairs) == 24
    assert studio.window.windowTitle() == "study – JudgeNet Studio"
    assert studio.settings.recent[0].file == path
    press(studio.window.rail, "Settings")
    key(studio.window, Qt.Key.Key_W, CTRL)
    await settle()
    assert studio.window.context.navigator.page == "welcome"
    recent = find(studio.window, QListWidget, "Recent projects")
    assert recent.count() == 1
    recent.setCurrentRow(0)
    key(recent, Qt.Key.Key_Return)
    await document.loaded()
    assert document.path == path


async def test_what_is_no_project_is_told_and_nothing_changes(studio: Studio, place: Path) -> None:
    path = project_at(place)
    await opened(studio, path)
    broken = place / "broken.judgenet"
    broken.write_text("{ nothing", encoding="utf-8")
    studio.window.frame_actions.open_file(broken)
    assert studio.window.context.document.path == path
    assert "broken.judgenet" in studio.window.errors.troubles[0].what


async def test_files_are_dropped_on_the_window(studio: Studio, place: Path) -> None:
    path = project_at(place)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    drop = QDropEvent(
        QPointF(300, 300), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    studio.window.dropEvent(drop)
    await studio.window.context.document.loaded()
    assert studio.window.context.document.path == path
    visits = []
    studio.window.context.navigator.went.connect(visits.append)
    data.setUrls([QUrl.fromLocalFile(str(example("scripts.jsonl")))])
    studio.window.dropEvent(drop)
    assert visits[-1].page == "data"
    assert [file.name for file in visits[-1].files] == ["scripts.jsonl"]


# Saving and recovering


async def test_changes_are_saved_by_themselves(studio: Studio, place: Path) -> None:
    path = project_at(place)
    await opened(studio, path)
    document = studio.window.context.document
    document.edit_network("Change", network(3, 1))
    assert studio.window.top_bar.state.text() == "Saving…"
    await until(lambda: document.saved)
    assert studio.window.top_bar.state.text() == "Saved"
    assert load_project(path).network == network(3, 1)
    assert load_project(path.with_name("study.judgenet.bak")).network == network(2, 2)


async def test_what_others_changed_is_not_overwritten_unasked(studio: Studio, place: Path) -> None:
    path = project_at(place)
    await opened(studio, path)
    document = studio.window.context.document
    save_project(replace(load_project(path), name="Theirs"), path)
    document.edit_network("Change", network(3, 1))
    await until(lambda: document.save_state == "failed")
    assert load_project(path).name == "Theirs"
    assert kept_copy(path) is not None
    press(studio.window.errors, "Overwrite")
    assert document.saved
    assert load_project(path).network == network(3, 1)


async def test_a_draft_is_named_and_takes_its_store_along(studio: Studio, place: Path) -> None:
    document = studio.window.context.document
    studio.window.frame_actions.new_from_preset("jury")
    document.edit_pairs("Add pairs", PairsSource((example("general.jsonl").as_posix(),)), None)
    await document.loaded()
    assert document.store is not None
    document.store.set_meta("mark", "kept")
    draft = document.file
    assert draft is not None
    key(studio.window, Qt.Key.Key_S, CTRL | SHIFT)
    await until(lambda: bool(studio.window.findChildren(QFileDialog)))
    dialog = studio.window.findChildren(QFileDialog)[0]
    dialog.findChild(QLineEdit).setText(str(place / "named"))
    dialog.accept()
    await until(lambda: document.path is not None)
    assert document.path == place / "named.judgenet"
    assert document.title == "named"
    assert document.store is not None
    assert document.store.meta("mark") == "kept"
    assert drafts() == []
    assert len(document.pairs) == 24
    document.undo_stack.undo()
    document.undo_stack.redo()
    await document.loaded()
    assert len(document.pairs) == 24


async def test_a_crash_loses_nothing_and_is_told(place: Path, qapp: object) -> None:
    first = make_studio()
    path = project_at(place)
    await opened(first, path)
    document = first.window.context.document
    document.edit_network("Change", network(4, 1))
    await until(lambda: document.saved)
    # The process dies here: its locks are gone, nothing was closed.
    assert document.store is not None
    document.store.close()
    document._session._lock.release()
    second = make_studio()
    troubles = second.window.errors.troubles
    assert len(troubles) == 1
    assert troubles[0].level == "note"
    press(second.window.errors, "Open it")
    assert second.window.context.document.path == path
    assert second.window.context.document.spec == network(4, 1)
    document.stores.store = None
    for studio in (second, first):
        await studio.close()


async def test_an_untouched_draft_is_thrown_away(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("single")
    assert len(drafts()) == 1
    studio.window.frame_actions.new_from_preset("jury")
    assert len(drafts()) == 1
    studio.window.context.document.edit_network("Change", network(2, 1))
    studio.window.frame_actions.projects.close()
    assert len(drafts()) == 1


async def test_a_second_window_can_only_read(studio: Studio, place: Path) -> None:
    path = project_at(place)
    await opened(studio, path)
    other = make_studio()
    try:
        await opened(other, path)
        document = other.window.context.document
        assert "another window" in document.read_only
        assert other.window.top_bar.state.text() == "Read-only"
        before = document.project
        document.edit_network("Change", network(5, 1))
        assert document.project == before
        assert "read-only" in other.window.errors.troubles[0].what
        assert other.window.context.actions.why_not("run.start") == document.read_only
        assert studio.window.context.document.read_only == ""
    finally:
        await other.close()


async def test_missing_pairs_are_told_with_a_way_out(studio: Studio, place: Path) -> None:
    path = place / "lost.judgenet"
    save_project(Project.new("lost", network(2, 1), PairsSource(("gone.jsonl",))), path)
    await opened(studio, path)
    trouble = studio.window.errors.troubles[0]
    assert "gone.jsonl" in trouble.what
    assert trouble.button is not None
    (place / "gone.jsonl").write_bytes(example("general.jsonl").read_bytes())
    press(studio.window.errors, "Try again")
    await studio.window.context.document.loaded()
    assert len(studio.window.context.document.pairs) == 24


async def test_the_project_is_renamed(studio: Studio, place: Path) -> None:
    path = project_at(place)
    await opened(studio, path)
    click(studio.window.top_bar.name)
    await until(lambda: bool(studio.window.findChildren(QInputDialog)))
    dialog = studio.window.findChildren(QInputDialog)[0]
    dialog.setTextValue("Release check")
    dialog.accept()
    await until(lambda: studio.window.context.document.title == "Release check")
    assert studio.window.top_bar.name.text() == "Release check"
    studio.window.context.document.undo_stack.undo()
    assert studio.window.top_bar.name.text() == "study"


async def test_limits_and_prices_are_entered_before_a_run(studio: Studio, place: Path) -> None:
    path = project_at(place)
    await opened(studio, path)
    context = studio.window.context
    mine = EndpointProfile("box", base_url="http://127.0.0.1:9/v1", model="own-judge-7b")
    context.document.edit_project("An endpoint", replace(context.document.project, endpoints=(mine,)))
    spec = with_settings(context.document.spec, endpoint="box", model="own-judge-7b")
    context.document.edit_network("Another model", spec)
    context.actions.trigger("run.limits")
    dialog = studio.window.findChildren(LimitsDialog)[0]
    await until(dialog.isVisible)
    dialog.money.setText("2.50")
    dialog.calls.setText("1,000")
    click(dialog.keep)
    # An unknown price is not 0: a limit of money needs it.
    assert dialog.isVisible()
    assert "own-judge-7b" in dialog.message.text()
    assert context.runner.limits == Limits()
    for edit, text in zip(dialog.prices["box", "own-judge-7b"], ("0.5", "x"), strict=True):
        edit.setText(text)
    click(dialog.keep)
    assert "not an amount of 0 or more" in dialog.message.text()
    dialog.prices["box", "own-judge-7b"][1].setText("1.5")
    click(dialog.keep)
    await until(lambda: not dialog.isVisible())
    assert context.runner.limits == Limits(max_calls=1000, max_price=2.5)
    found = load_prices().find("own-judge-7b", "box", "openai")
    assert found is not None
    assert (found.input, found.output) == (0.5, 1.5)
    assert load_prices().find("own-judge-7b", "elsewhere", "openai") is None
    # Kept with the project, and undone with it.
    context.document.save()
    assert load_project(path).metadata["limits"] == {"max_calls": 1000, "max_price": 2.5}
    context.document.undo_stack.undo()
    assert context.runner.limits == Limits()


# Undo, palette, actions


async def test_undo_names_what_it_undoes(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    document = studio.window.context.document
    actions = studio.window.context.actions
    assert actions.why_not("edit.undo") == "Nothing to undo."
    document.edit_network("Add a layer", network(8, 2))
    assert actions["edit.undo"].text == "Undo add a layer"
    await settle()
    click(studio.window.top_bar.undo)
    assert document.spec == PRESETS["jury"].spec
    assert actions["edit.redo"].text == "Redo add a layer"


async def test_quick_steps_of_one_control_are_one_step_of_undo(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    document = studio.window.context.document
    for width in (9, 10, 11):
        document.edit_network("Change the width", network(width, 1), merge="width 0")
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.spec == PRESETS["jury"].spec


@pytest.mark.parametrize(
    ("typed", "fits"), [("layer", True), ("add lay", True), ("adlyr", True), ("lay add", True), ("zebra", False)]
)
def test_the_palette_forgives(typed: str, fits: bool) -> None:
    assert (rank("Add a layer Network", typed) is not None) == fits


async def test_the_palette_finds_and_does(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    await settle()
    key(studio.window, Qt.Key.Key_K, CTRL)
    palette = studio.window.palette_popup
    field = find(palette, QLineEdit, "Find or do")
    type_text(field, "dark")
    assert palette.matches("dark")[0].id == "theme.dark"
    key(field, Qt.Key.Key_Return)
    assert studio.theme.theme.name == "dark"
    assert studio.settings.preferences.theme == "dark"
    key(studio.window, Qt.Key.Key_K, CTRL)
    key(field, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    assert palette.matches("page results")[0].id == "page.results"


@pytest.mark.usefixtures("pages_ahead")
async def test_pages_that_nobody_wanted_yet_are_made_while_the_window_is_idle(studio: Studio) -> None:
    await until(lambda: studio.window.stack.count() == len(PAGES))
    assert studio.window.stack.currentWidget() is studio.window.page("welcome")


class Shown(QObject):
    """Notes windows that show up."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.names.append(f"{type(watched).__name__} {watched.accessibleName()}")
        return False


@pytest.mark.parametrize("page", PAGES)
async def test_no_part_of_a_page_is_a_window_for_a_moment(studio: Studio, page: PageKey, qapp: QApplication) -> None:
    await settle()
    shown = Shown()
    qapp.installEventFilter(shown)
    studio.window.page(page)
    qapp.removeEventFilter(shown)
    assert shown.names == []


async def test_all_actions_have_words_and_no_shortcut_twice(studio: Studio) -> None:
    for page in PAGES:
        studio.window.page(page)
    keys: dict[str, list[object]] = {}
    for action in studio.window.context.actions:
        assert action.text[0].isupper(), action.id
        assert not action.text.isupper()
        for one in action.keys:
            keys.setdefault(one.toString(), []).append(action.scope)
    assert all(len(scopes) == len(set(scopes)) for scopes in keys.values()), keys
    with pytest.raises(ValueError, match="shortcut"):
        studio.window.context.actions.add(replace(studio.window.context.actions["palette.open"], id="x.y"))


async def test_the_menu_holds_the_table(studio: Studio) -> None:
    for page in PAGES:
        studio.window.page(page)
    menu = studio.window.menu
    texts = [action.text() for action in menu.actions()]
    assert texts == ["Project", "Edit", "Network", "Run", "View", "Help"]
    inner = [one for action in menu.actions() for one in action.menu().actions()]
    recent = [one for one in inner if one.menu() is not None]
    assert [one.text() for one in recent] == ["Recent projects"]
    shown = {one.objectName() for one in inner if one.menu() is None}
    shown |= {one.objectName() for one in recent[0].menu().actions()}
    assert shown == {action.id for action in studio.window.context.actions if action.menu}


async def test_a_new_project_leads_back_to_the_one_before(studio: Studio, place: Path) -> None:
    window = studio.window
    path = project_at(place, "Mine & yours")
    await opened(studio, path)
    window.context.navigator.go("data")
    key(window, Qt.Key.Key_N, CTRL)
    await until(lambda: window.context.navigator.page == "welcome")
    back = find(window, QAbstractButton, "Back to Mine & yours")
    assert back.isVisible()
    click(back)
    assert window.context.navigator.page == "data"
    assert window.context.document.path == path
    key(window, Qt.Key.Key_N, CTRL)
    await until(lambda: window.context.navigator.page == "welcome")
    key(window.page("welcome"), Qt.Key.Key_Escape)
    assert window.context.navigator.page == "data"

    window.frame_actions.new_from_preset("jury")
    document = window.context.document
    assert document.path is None
    listed = [action for action in window.context.actions if action.menu == "Recent projects"]
    assert [action.text.partition(" (")[0] for action in listed] == ["Mine & yours"]
    note = window.errors.troubles[0]
    assert note.level == "note"
    assert note.button is not None
    note.button.callback()
    assert document.path == path
    # The draft was untouched and is thrown away: it is no recent project either.
    assert [action for action in window.context.actions if action.menu == "Recent projects"] == []


async def test_a_recent_project_is_opened_from_the_menu(studio: Studio, place: Path) -> None:
    first, second = project_at(place, "first"), project_at(place, "second")
    await opened(studio, first)
    await opened(studio, second)
    actions = studio.window.context.actions
    (recent,) = [action for action in actions if action.menu == "Recent projects"]
    actions.qaction(recent.id).trigger()
    await studio.window.context.document.loaded()
    assert studio.window.context.document.path == first


async def test_the_first_save_of_a_draft_asks_for_a_place_and_later_ones_say_so(studio: Studio, place: Path) -> None:
    window = studio.window
    window.frame_actions.new_from_preset("jury")
    document = window.context.document
    await settle()
    key(window, Qt.Key.Key_S, CTRL)
    await until(lambda: bool(window.findChildren(QFileDialog)))
    dialog = window.findChildren(QFileDialog)[0]
    dialog.findChild(QLineEdit).setText(str(place / "mine"))
    dialog.accept()
    await until(lambda: document.path == place / "mine.judgenet")
    document.edit_network("Change", network(2, 1))
    await settle()
    window.context.actions.trigger("project.save")
    assert load_project(place / "mine.judgenet").network.layers == network(2, 1).layers
    assert window.errors.troubles[0].sentence == f"{place / 'mine.judgenet'}: Saved."


async def test_about_names_version_licences_and_the_log(studio: Studio) -> None:
    actions = studio.window.context.actions
    actions.trigger("help.about")
    dialog = studio.window.findChild(AboutDialog)
    assert dialog.isVisible()
    texts = " ".join(shown.text() for shown in dialog.findChildren(QLabel) if shown.isVisible())
    assert __version__ in texts
    assert str(log_file()) in texts.replace("\u200b", "")
    assert "pyside6-essentials" in texts.casefold()
    assert "LGPL-3.0-only" in texts
    dialog.accept()


async def test_the_sheet_of_keys_holds_every_shortcut(studio: Studio) -> None:
    window = studio.window
    for page in PAGES:
        window.page(page)
    key(window, Qt.Key.Key_F1, CTRL)
    dialog = window.findChild(KeysDialog)
    assert dialog.isVisible()
    shown = {text.text() for text in dialog.findChildren(QLabel) if text.isVisible()}
    for action in window.context.actions:
        if action.keys:
            assert action.text.removesuffix("…") in shown, action.id
    type_text(dialog.search, "find neuron")
    await settle()
    shown = {text.text() for text in dialog.findChildren(QLabel) if text.isVisible()}
    assert "Find a neuron" in shown
    assert "Quit" not in shown
    dialog.accept()


async def test_pictures_are_copied(studio: Studio, place: Path, qapp: QApplication) -> None:
    await opened(studio, project_at(place))
    actions = studio.window.context.actions
    qapp.clipboard().clear()
    key(studio.window, Qt.Key.Key_C, CTRL | SHIFT)
    page = studio.window.stack.currentWidget()
    assert qapp.clipboard().image().size() == page.size()
    qapp.clipboard().clear()
    actions.trigger("canvas.copy")
    assert not qapp.clipboard().image().isNull()


async def test_judgments_are_imported_into_a_project(studio: Studio, place: Path, monkeypatch: Any) -> None:
    pairs = [{"id": str(n), "question": "?", "response_a": "x", "response_b": "y", "human": "a"} for n in range(4)]
    said = [
        {"pair_id": str(n), "judge": "J", "order": order, "verdict": "ab"[n % 2]}
        for n in range(4)
        for order in ("ab", "ba")
    ]
    for name, lines in (("pairs.jsonl", pairs), ("said.jsonl", said)):
        (place / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    asked = iter([[place / "said.jsonl"], [place / "pairs.jsonl"]])

    async def files(*_: Any, **__: Any) -> list[Path]:
        return next(asked)

    async def where(*_: Any, **__: Any) -> Path:
        return place / "said.judgenet"

    monkeypatch.setattr("judgenet.ui.import_actions.ask_files", files)
    monkeypatch.setattr("judgenet.ui.import_actions.ask_save_file", where)
    studio.window.context.actions.trigger("judgments.import")
    document = studio.window.context.document
    await until(lambda: document.path == place / "said.judgenet")
    await document.loaded()
    assert is_recorded(document.spec)
    assert len(document.pairs) == 4
    await until(lambda: len(studio.window.context.run_state.runs) == 1)
    assert studio.window.context.navigator.page == "results"


async def test_networks_are_imported_and_exported(studio: Studio, place: Path, monkeypatch: Any) -> None:
    await opened(studio, project_at(place))
    context = studio.window.context
    before = context.document.spec
    target = place / "net.graphml"

    async def where(*_: Any, **__: Any) -> Path:
        return target

    async def files(*_: Any, **__: Any) -> list[Path]:
        return [target]

    monkeypatch.setattr("judgenet.ui.import_actions.ask_save_file", where)
    monkeypatch.setattr("judgenet.ui.import_actions.ask_files", files)
    context.actions.trigger("network.export")
    await until(target.exists)
    studio.window.frame_actions.new_from_preset("jury")
    await settle()
    jury = context.document.spec
    context.actions.trigger("network.import")
    await until(lambda: context.document.spec == before)
    assert context.navigator.page == "design"
    assert context.document.undo_stack.undoText() == "Import network"
    target.write_text("<svg/>", encoding="utf-8")
    context.document.undo_stack.undo()
    context.actions.trigger("network.import")
    await until(lambda: studio.window.errors.isVisible())
    assert context.document.spec == jury


# Errors


async def test_trouble_moves_nothing_that_somebody_is_about_to_click(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    await settle()
    # What the design costs is counted on another thread, and takes its place when it comes.
    await until(lambda: studio.window.context.figures.estimate is not None)
    await settle()
    page = studio.window.stack.currentWidget()
    parts = [widget for widget in page.findChildren(QWidget) if widget.isVisible()]
    before = [(widget.mapToGlobal(QPoint(0, 0)), widget.size()) for widget in parts]
    bar = studio.window.errors
    bar.post("The disk is full. " * 30, "study.judgenet")
    await settle()
    assert bar.isVisible()
    assert [(widget.mapToGlobal(QPoint(0, 0)), widget.size()) for widget in parts] == before
    area = studio.window.stack.area.geometry()
    assert bar.geometry().bottom() == area.bottom()
    assert bar.width() == area.width()
    # All of a long text is there, and it stays so at another width.
    text = next(label for label in bar.findChildren(QLabel) if "disk" in label.text())
    studio.window.resize(1280, 720)
    await settle()
    assert text.height() >= text.heightForWidth(text.width())
    close_all(bar)
    await settle()
    assert not bar.isVisible()


async def test_trouble_stays_until_it_is_closed(studio: Studio) -> None:
    mended: list[bool] = []
    bar = studio.window.errors
    bar.post(
        "The disk is full.", "study.judgenet", MessageButton("Try again", lambda: mended.append(True)), details="more"
    )
    bar.post("A second one.")
    await settle()
    assert bar.isVisible()
    labels = [label.text() for label in bar.findChildren(QLabel) if label.isVisible()]
    assert "A second one." in labels
    assert "and 1 more" in labels
    press(bar, "Close this message")
    press(bar, "Copy details")
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("study.judgenet: The disk is full.")
    assert "judgenet " in copied
    assert copied.endswith("more")
    press(bar, "Try again")
    assert mended == [True]
    assert not bar.isVisible()


async def test_what_nobody_caught_is_told(studio: Studio, caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise RuntimeError("an accident")

    studio.window.tasks.start(fail(), "Do something")
    await until(lambda: bool(studio.window.errors.troubles))
    trouble = studio.window.errors.troubles[0]
    assert "an accident" in trouble.what
    assert trouble.where == "Do something"
    assert "Traceback" in trouble.details
    studio.uncaught.happened.emit(ValueError("elsewhere"))
    assert "elsewhere" in studio.window.errors.troubles[0].what
    caplog.clear()


async def test_texts_of_others_are_never_html(studio: Studio) -> None:
    studio.window.errors.post("<b>bold</b> <img src=x>", "<i>where</i>")
    for label in studio.window.findChildren(QLabel):
        if "<b>" in label.text():
            assert label.textFormat() == Qt.TextFormat.PlainText


# Long work


async def test_long_work_shows_progress_and_can_be_stopped(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()

    def work(job: Job) -> None:
        job.report(1, 4, "a quarter")
        loop.call_soon_threadsafe(gate.set)
        while True:
            job.check()

    waiting = asyncio.ensure_future(studio.window.tasks.job("Count everything", work))
    await gate.wait()
    status = studio.window.status
    await until(lambda: any("a quarter" in label.text() for label in status.findChildren(QLabel)))
    bar = find(status, QProgressBar, "Progress")
    assert bar.value() == 250
    # All parts are done and the work goes on: a full bar would say that it has ended.
    studio.window.tasks.jobs[-1].report(4, 4, "the last touches")
    await until(lambda: any("last touches" in label.text() for label in status.findChildren(QLabel)))
    assert (bar.minimum(), bar.maximum()) == (0, 0)
    press(status, "Stop this work")
    with pytest.raises(JobCancelled):
        await waiting
    assert studio.window.tasks.jobs == []


# Look


async def test_theme_scale_and_density_are_kept(studio: Studio) -> None:
    studio.window.context.navigator.go("settings")
    await settle()
    page = studio.window.page("settings")
    press(page, "Theme: High contrast")
    assert studio.theme.theme.name == "contrast"
    press(page, "Density: Compact")
    assert studio.theme.theme.density == "compact"
    key(studio.window, Qt.Key.Key_Plus, CTRL | Qt.KeyboardModifier.AltModifier)
    await until(lambda: studio.theme.theme.scale == 1.1)
    studio.settings.flush()
    again = type(studio.settings)()
    assert again.preferences.theme == "contrast"
    assert again.preferences.scale == 1.1


async def test_keys_in_quick_succession_are_one_step_of_the_scale(studio: Studio) -> None:
    looks: list[float] = []
    studio.theme.changed.connect(lambda theme: looks.append(theme.scale))
    for _ in range(7):
        key(studio.window, Qt.Key.Key_Plus, CTRL | Qt.KeyboardModifier.AltModifier)
    for _ in range(5):
        key(studio.window, Qt.Key.Key_Minus, CTRL | Qt.KeyboardModifier.AltModifier)
    await until(lambda: bool(looks))
    await settle()
    assert looks == [1.2]


async def test_the_rail_loses_its_words_in_a_narrow_window(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    studio.window.resize(1440, 900)
    await settle()
    assert studio.window.rail.width() == 72
    studio.window.resize(1280, 720)
    await settle()
    assert studio.window.rail.width() == 56
    assert studio.window.width() == 1280
    assert studio.window.height() == 720


def test_windows_come_back_where_they_can_be_reached() -> None:
    screens = [QRect(0, 0, 1920, 1080), QRect(1920, 0, 1280, 1024)]
    inside = QRect(2000, 100, 1000, 700)
    assert fitting(inside, screens) == inside
    away = QRect(5000, 3000, 1000, 700)
    assert screens[0].contains(fitting(away, screens))
    above = QRect(100, -600, 1000, 700)
    assert screens[0].contains(fitting(above, screens))
    huge = fitting(QRect(0, 0, 5000, 4000), screens)
    assert huge.size() == screens[0].size()


# Keyboard and names


async def test_f6_goes_round_the_window(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    await settle()
    seen = []
    for _ in range(8):
        key(studio.window, Qt.Key.Key_F6)
        seen.append(studio.window.focusWidget())
    assert all(seen)
    assert any(studio.window.rail.isAncestorOf(widget) for widget in seen)
    assert any(studio.window.top_bar.isAncestorOf(widget) for widget in seen)
    assert any(studio.window.page("design").isAncestorOf(widget) for widget in seen)


async def test_pages_by_keys(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    await settle()
    for number, (page, *_) in enumerate(RAIL_PAGES, 1):
        key(studio.window, Qt.Key(Qt.Key.Key_0 + number), CTRL)
        assert studio.window.context.navigator.page == page
        assert studio.window.rail.button(page).isChecked()


CONTROLS = (
    QAbstractButton,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QAbstractSpinBox,
    QAbstractItemView,
    QSlider,
    QProgressBar,
)


def nameless(root: QWidget) -> list[str]:
    """Controls that a screen reader could not name, Qt's own inner parts aside."""
    found = []
    for widget in root.findChildren(QWidget):
        holder = widget.parent()
        inner = widget.objectName().startswith("qt_") or isinstance(holder, QComboBox | QAbstractSpinBox)
        inner = inner or (holder is not None and holder.metaObject().className() == "QComboBoxPrivateContainer")
        inner = inner or widget.metaObject().className() in ("QHeaderView", "QTableCornerButton")
        if isinstance(widget, CONTROLS) and not inner and not name_of(widget):
            around = holder
            while isinstance(around, QWidget) and not around.accessibleName():
                around = around.parent()
            found.append(f"{type(widget).__name__} in {getattr(around, 'accessibleName', str)()}")
    return found


@pytest.mark.parametrize("page", ["welcome", "design", "settings"])
async def test_every_control_has_a_name(studio: Studio, page: str) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    studio.window.context.navigator.go(page)  # type: ignore[arg-type]
    await settle()
    for part in (studio.window.top_bar, studio.window.rail, studio.window.status, studio.window.errors):
        assert nameless(part) == []
    assert nameless(studio.window.page(page)) == []  # type: ignore[arg-type]
    assert nameless(studio.window.palette_popup) == []
    assert nameless(studio.window.tour) == []


async def test_the_tour_leads_from_page_to_page(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    key(studio.window, Qt.Key.Key_F1)
    tour = studio.window.tour
    assert tour.isVisible()
    seen = []
    while tour.isVisible():
        seen.append(studio.window.context.navigator.page)
        click(tour.findChildren(QAbstractButton)[-1])
    assert seen == ["design", "data", "labels", "run", "results", "bias", "report"]


async def test_none_keeps_its_references(studio: Studio) -> None:
    studio.window.frame_actions.new_from_preset("jury")
    await settle()
    document = studio.window.context.document

    def use() -> None:
        for width in range(2, 12):
            document.edit_network("Change", network(width, 2))
        for _ in range(10):
            document.undo_stack.undo()

    use()
    gc.collect()
    before = sys.getrefcount(None)
    for _ in range(5):
        use()
    assert before - sys.getrefcount(None) < 50


# A run


async def test_closing_asks_stops_the_run_and_keeps_what_is_finished(
    studio: Studio, place: Path, judge: JudgeServer
) -> None:
    judge.set(latency=0.3)
    lab = EndpointProfile("lab", base_url=f"{judge.url}/v1", model="fake", concurrency=4)
    spec = network(2, 2, settings=Settings(endpoint="lab"))
    source = PairsSource((example("general.jsonl").as_posix(),))
    path = place / "running.judgenet"
    save_project(replace(Project.new("running", spec, source), endpoints=(lab,)), path)
    await opened(studio, path)
    window, context = studio.window, studio.window.context
    await settle()
    click(window.top_bar.primary)
    await until(lambda: context.run_state.progress.calls >= 4)
    assert window.top_bar.stop.isVisible()
    assert not window.top_bar.primary.isVisible()
    window.close()
    await until(lambda: bool(window.findChildren(QMessageBox)))
    box = window.findChildren(QMessageBox)[0]
    press(box, "Keep running")
    await settle()
    assert window.isVisible()
    assert context.runner.running
    window.close()
    await until(lambda: any(box.isVisible() for box in window.findChildren(QMessageBox)))
    box = next(box for box in window.findChildren(QMessageBox) if box.isVisible())
    begun = asyncio.get_running_loop().time()
    press(box, "Stop and close")
    await until(lambda: not window.isVisible())
    assert asyncio.get_running_loop().time() - begun < 5
    again = make_studio()
    try:
        await opened(again, path)
        state = again.window.context.run_state
        await until(lambda: state.run is not None and not state.loading and state.pair_count == 24)
        assert state.state == "cancelled"
        assert state.progress.calls >= 4
        assert again.window.context.actions.why_not("run.start") is None
    finally:
        await again.close()


async def test_a_finished_run_is_told_from_a_changed_design(studio: Studio, place: Path, judge: JudgeServer) -> None:
    lab = EndpointProfile("lab", base_url=f"{judge.url}/v1", model="fake", concurrency=8)
    spec = network(2, 1, settings=Settings(endpoint="lab"))
    path = place / "done.judgenet"
    source = PairsSource((example("general.jsonl").as_posix(),))
    save_project(replace(Project.new("done", spec, source), endpoints=(lab,)), path)
    await opened(studio, path)
    context = studio.window.context
    await settle()
    key(studio.window, Qt.Key.Key_F5)
    # A run shows itself.
    assert studio.window.context.navigator.page == "run"
    await until(lambda: context.run_state.state == "done" and not context.runner.running)
    assert context.run_state.progress.pairs_done == 24
    await until(lambda: not context.figures.stale)
    assert context.document.changed_since_run == ""
    assert context.figures.estimate is not None
    assert context.figures.estimate.estimate.calls_open == (0, 0)
    context.document.edit_network("Deeper", network(2, 2, settings=Settings(endpoint="lab")))
    await until(lambda: context.document.changed_since_run == "Network changed since run 1")
    shown = [label.text() for label in studio.window.status.findChildren(QLabel) if label.isVisible()]
    assert "Network changed since run 1" in shown
    assert store_path(path).exists()


async def test_an_outage_is_told_while_it_lasts(studio: Studio, place: Path, judge: JudgeServer) -> None:
    lab = EndpointProfile("lab", base_url=f"{judge.url}/v1", model="fake", concurrency=2)
    path = place / "away.judgenet"
    source = PairsSource((example("general.jsonl").as_posix(),))
    spec = network(2, 1, settings=Settings(endpoint="lab"))
    save_project(replace(Project.new("away", spec, source), endpoints=(lab,)), path)
    judge.set(latency=0.2)
    await opened(studio, path)
    context = studio.window.context
    await settle()
    key(studio.window, Qt.Key.Key_F5)
    await until(lambda: context.run_state.progress.calls > 0)

    def shown() -> list[str]:
        return [label.text() for label in studio.window.status.findChildren(QLabel) if label.isVisible()]

    def happens(state: Any, message: str) -> None:
        context.run_state.endpoint_changed.emit(EndpointChanged("run-1", "lab", state, message))

    assert "Paused" not in shown()
    happens("away", "paused: lab (127.0.0.1:1) not reached since 08:12:03; next try in 8 s. Is the server running?")
    await until(lambda: "Paused" in shown())
    assert "lab (127.0.0.1:1) not reached since 08:12:03; next try in 8 s" in shown()
    assert not any(text.endswith(" left") for text in shown())
    happens("open", "lab answers again.")
    await until(lambda: "Paused" not in shown())
    assert not any("not reached" in text for text in shown())
    happens("failing", "lab: HTTP 500. The endpoint failed.")
    assert studio.window.errors.troubles[0].sentence == "lab: HTTP 500. The endpoint failed."
    judge.set(latency=0.0)
    await until(lambda: not context.runner.running)


async def test_run_says_what_can_be_done_with_recorded_judgments(studio: Studio, place: Path) -> None:
    path = place / "recorded.judgenet"
    judges = NetworkSpec(
        (LayerSpec((NeuronSpec(Role("one")), NeuronSpec(Role("two")))),),
        roles=RolesSpec("fixed", roles=(Role("one"), Role("two"))),
        settings=Settings(RECORDED, "one"),
    )
    before = project_at(place)
    save_project(replace(load_project(before), network=judges), path)
    await opened(studio, path)
    key(studio.window, Qt.Key.Key_F5)
    await settle()
    bar = studio.window.errors
    labels = [label.text() for label in bar.findChildren(QLabel) if label.isVisible()]
    assert any("judgments of 2 judges that were recorded elsewhere" in text for text in labels)
    assert not studio.window.context.runner.running
    press(bar, "Design a network")
    await settle()
    document = studio.window.context.document
    assert not is_recorded(document.spec)
    assert studio.window.context.navigator.page == "design"
    key(studio.window, Qt.Key.Key_Z, CTRL)
    assert is_recorded(document.spec)
