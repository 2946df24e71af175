"""The canvas used as a person does: mouse and keys on the real widget; and what it draws."""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QAccessible, QColor, QContextMenuEvent, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from judgenet.ui import tokens
from judgenet.ui.canvas.export import ExportError, export_bounds, network_image, network_png, network_svg
from judgenet.ui.canvas.hit_test import Spot
from judgenet.ui.canvas.layout import edge_y
from judgenet.ui.canvas.minimap import MiniMap
from judgenet.ui.canvas.model import (
    EdgeChange,
    NetworkState,
    NeuronState,
    Place,
    VerdictState,
    VoteState,
)
from judgenet.ui.canvas.scene import NetworkScene
from judgenet.ui.canvas.view import NetworkView
from judgenet.ui.fonts import load_fonts
from judgenet.ui.theme import make_theme
from tests.ui.samples import busy, design, run, scored

pytestmark = pytest.mark.usefixtures("qapp")

LEFT = Qt.MouseButton.LeftButton


class Canvas:
    """A shown canvas and hands to use it with."""

    def __init__(self, qtbot: QtBot, network: NetworkState, size: tuple[int, int] = (1008, 704)) -> None:
        load_fonts()
        self.scene = NetworkScene(make_theme("light", reduce_motion=True), network)
        self.view = NetworkView(self.scene)
        qtbot.addWidget(self.view)
        self.view.resize(*size)
        with qtbot.waitActive(self.view):
            self.view.show()
            self.view.activateWindow()
        self.view.setFocus()

    def at(self, x: float, y: float) -> QPoint:
        return self.view.mapFromScene(QPointF(x, y))

    def node(self, target: Place | str) -> QPoint:
        return self.at(*self.scene.layout.rect_of(target).center)  # type: ignore[arg-type]

    def click(self, at: QPoint, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.mouseClick(self.view.viewport(), LEFT, modifiers, at)

    def drag(self, start: QPoint, end: QPoint, *, button: Qt.MouseButton = LEFT) -> None:
        port = self.view.viewport()
        QTest.mousePress(port, button, Qt.KeyboardModifier.NoModifier, start)
        QTest.mouseMove(port, (start + end) / 2)
        QTest.mouseMove(port, end)
        QTest.mouseRelease(port, button, Qt.KeyboardModifier.NoModifier, end)

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.view, key, modifiers)

    def picture(self) -> QImage:
        return self.view.viewport().grab().toImage()

    def color(self, x: float, y: float) -> str:
        return QColor(self.picture().pixel(self.at(x, y))).name().upper()


@pytest.fixture
def plan(qtbot: QtBot) -> Canvas:
    """The design page's network."""
    return Canvas(qtbot, design())


@pytest.fixture
def live(qtbot: QtBot) -> Canvas:
    """The run page's network."""
    return Canvas(qtbot, run(), (1008, 560))


@pytest.fixture
def dense(qtbot: QtBot) -> Canvas:
    """200 × 3."""
    return Canvas(qtbot, busy([200] * 3), (1120, 800))


# What the mouse asks for


def test_a_click_selects_a_neuron_and_tells_it(plan: Canvas, qtbot: QtBot) -> None:
    with qtbot.waitSignals([plan.scene.neuron_selected, plan.scene.selection_changed]):
        plan.click(plan.node(Place(0, 1)))
    assert plan.scene.selection == {Place(0, 1)}
    rect = plan.scene.layout.rect_of(Place(0, 1))
    assert plan.color(rect.x, rect.y + 50) == tokens.LIGHT.accent


def test_ctrl_adds_shift_extends_and_the_empty_canvas_clears(plan: Canvas) -> None:
    plan.click(plan.node(Place(0, 0)))
    plan.click(plan.node(Place(0, 2)), Qt.KeyboardModifier.ControlModifier)
    assert plan.scene.selection == {Place(0, 0), Place(0, 2)}
    plan.click(plan.node(Place(0, 0)))
    plan.click(plan.node(Place(0, 3)), Qt.KeyboardModifier.ShiftModifier)
    assert plan.scene.selection == {Place(0, i) for i in range(4)}
    plan.click(plan.at(100, 560))
    assert plan.scene.selection == frozenset()


def test_other_nodes_are_told_apart_from_neurons(plan: Canvas, qtbot: QtBot) -> None:
    with qtbot.waitSignal(plan.scene.part_selected) as told:
        plan.click(plan.node("roles"))
    assert told.args == ["roles"]


def test_a_drag_over_the_empty_canvas_selects_what_it_touches(plan: Canvas) -> None:
    top, bottom = plan.scene.layout.rect_of(Place(1, 0)), plan.scene.layout.rect_of(Place(1, 1))
    plan.drag(plan.at(top.right + 30, bottom.bottom + 8), plan.at(top.x + 90, top.y + 40))
    assert plan.scene.selection == {Place(1, 0), Place(1, 1)}


def test_the_stepper_asks_for_a_width_and_changes_nothing_itself(plan: Canvas, qtbot: QtBot) -> None:
    header = plan.scene.layout
    baseline = header.head
    column = header.columns[1]
    with qtbot.waitSignal(plan.scene.width_requested) as more:
        plan.click(plan.at(column.x + column.w - 14, baseline - 5))
    assert more.args == [0, 5]
    with qtbot.waitSignal(plan.scene.width_requested) as fewer:
        plan.click(plan.at(column.x + column.w - 74, baseline - 5))
    assert fewer.args == [0, 3]
    assert len(plan.scene.network.layers[0].neurons) == 4


def test_one_neuron_is_the_least(qtbot: QtBot) -> None:
    single = Canvas(qtbot, design((1,)))
    column = single.scene.layout.columns[1]
    with qtbot.assertNotEmitted(single.scene.width_requested):
        single.click(single.at(column.x + column.w - 74, single.scene.layout.head - 5))


def test_the_plus_between_columns_asks_for_a_layer_there(plan: Canvas, qtbot: QtBot) -> None:
    for index, (left, right) in enumerate(plan.scene.layout.gaps):
        with qtbot.waitSignal(plan.scene.layer_add_requested) as told:
            plan.click(plan.at((left + right) / 2, plan.scene.layout.head - 5))
        assert told.args == [index]


def test_the_cross_beside_a_title_asks_to_remove_the_layer(plan: Canvas, qtbot: QtBot) -> None:
    column = plan.scene.layout.columns[2]
    cross = plan.at(column.x + 68, plan.scene.layout.head - 5)
    assert plan.scene.spot_at(plan.view.mapToScene(cross)).kind == "remove"
    with qtbot.waitSignal(plan.scene.layer_remove_requested) as told:
        plan.click(cross)
    assert told.args == [1]
    plan.scene.set_network(design((4,)))
    column = plan.scene.layout.columns[1]
    only = plan.at(column.x + 68, plan.scene.layout.head - 5)
    with qtbot.assertNotEmitted(plan.scene.layer_remove_requested):
        plan.click(only)


def test_the_menu_key_asks_for_the_menu_of_the_current_node(plan: Canvas, qtbot: QtBot) -> None:
    plan.click(plan.node(Place(0, 2)))
    at = plan.node(Place(1, 0))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, at, plan.view.viewport().mapToGlobal(at))
    with qtbot.waitSignal(plan.scene.menu_requested) as told:
        QApplication.sendEvent(plan.view.viewport(), event)
    assert told.args[0].target == Place(0, 2)
    assert told.args[0].selection == {Place(0, 2)}
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, plan.view.viewport().mapToGlobal(at))
    with qtbot.waitSignal(plan.scene.menu_requested) as told:
        QApplication.sendEvent(plan.view.viewport(), event)
    assert told.args[0].target == Place(1, 0)


def test_the_wirings_word_asks_for_a_choice(plan: Canvas, qtbot: QtBot) -> None:
    left, right = plan.scene.layout.gaps[1]
    with qtbot.waitSignal(plan.scene.wiring_requested) as told:
        plan.click(plan.at((left + right) / 2, plan.scene.layout.head + 25))
    assert told.args[0] == 1


def test_the_handle_is_dragged_to_a_width(plan: Canvas, qtbot: QtBot) -> None:
    handle = plan.scene.layout.handles[1]
    assert handle is not None
    x, y = handle.center
    with qtbot.waitSignal(plan.scene.width_requested) as told:
        plan.drag(plan.at(x, y), plan.at(x, y + 2 * 116))
    assert told.args == [1, 5]
    with qtbot.waitSignal(plan.scene.width_requested) as told:
        plan.drag(plan.at(x, y), plan.at(x, y - 2 * 116))
    assert told.args == [1, 1]


def test_ghosts_show_the_coming_neurons_while_dragging_and_escape_ends_it(plan: Canvas, qtbot: QtBot) -> None:
    handle = plan.scene.layout.handles[1]
    assert handle is not None
    x, y = handle.center
    port = plan.view.viewport()
    QTest.mousePress(port, LEFT, Qt.KeyboardModifier.NoModifier, plan.at(x, y))
    QTest.mouseMove(port, plan.at(x, y + 60))
    QTest.mouseMove(port, plan.at(x, y + 116))
    ghost = plan.scene.drag_item.boundingRect()
    assert ghost.contains(QPointF(x, 3 * 116 + 50))
    with qtbot.assertNotEmitted(plan.scene.width_requested):
        plan.key(Qt.Key.Key_Escape)
        QTest.mouseRelease(port, LEFT, Qt.KeyboardModifier.NoModifier, plan.at(x, y + 116))
    assert plan.scene.drag_item.boundingRect().isNull()


def test_a_new_edge_is_drawn_from_port_to_neuron_and_an_old_one_taken_away(qtbot: QtBot) -> None:
    network = design((3, 3))
    by_hand = replace(network.layers[1], wiring="explicit", inputs=((0,), (1,), (2,)))
    canvas = Canvas(qtbot, replace(network, layers=(network.layers[0], by_hand)))
    start = canvas.scene.layout.rect_of(Place(0, 0))
    port = canvas.at(start.right - 3, start.middle)
    with qtbot.waitSignal(canvas.scene.edge_toggle_requested) as told:
        canvas.drag(port, canvas.node(Place(1, 2)))
    assert told.args == [EdgeChange(1, 0, 2, connect=True)]
    with qtbot.waitSignal(canvas.scene.edge_toggle_requested) as told:
        canvas.drag(port, canvas.node(Place(1, 0)))
    assert told.args == [EdgeChange(1, 0, 0, connect=False)]
    end = canvas.scene.layout.rect_of(Place(1, 1))
    with qtbot.waitSignal(canvas.scene.edge_toggle_requested) as told:
        canvas.drag(canvas.at(end.x + 3, end.middle), canvas.node(Place(0, 2)))
    assert told.args == [EdgeChange(1, 2, 1, connect=True)]
    with qtbot.assertNotEmitted(canvas.scene.edge_toggle_requested):
        canvas.drag(port, canvas.node(Place(0, 2)))


def test_an_edge_is_clicked_and_deleted(plan: Canvas, qtbot: QtBot) -> None:
    before, after = plan.scene.layout.layers
    x = before.right + 24
    y = edge_y(x, before.right, after.left, before.port(3), after.port(0))
    with qtbot.waitSignal(plan.scene.edge_selected) as told:
        plan.click(plan.at(x, y))
    assert told.args == [EdgeChange(1, 3, 0, connect=False)]
    with qtbot.waitSignal(plan.scene.edge_toggle_requested) as told:
        plan.key(Qt.Key.Key_Delete)
    assert told.args == [EdgeChange(1, 3, 0, connect=False)]


def test_a_neuron_is_dragged_to_another_row(plan: Canvas, qtbot: QtBot) -> None:
    with qtbot.waitSignal(plan.scene.neuron_move_requested) as told:
        plan.drag(plan.node(Place(0, 0)), plan.node(Place(0, 2)) + QPoint(0, 30))
    assert told.args == [0, 0, 2]
    with qtbot.assertNotEmitted(plan.scene.neuron_move_requested):
        plan.drag(plan.node(Place(0, 1)), plan.node(Place(0, 1)) + QPoint(0, 20))


def test_a_mistake_is_mended_by_its_link(plan: Canvas, qtbot: QtBot) -> None:
    rect = plan.scene.layout.rect_of(Place(0, 3))
    with qtbot.waitSignal(plan.scene.fix_requested) as told:
        plan.click(plan.at(rect.x + 40, rect.y + 76))
    assert told.args == [Place(0, 3)]


def test_rule_and_chair_are_asked_for(plan: Canvas, qtbot: QtBot) -> None:
    vote = plan.scene.layout.parts["vote"]
    with qtbot.waitSignal(plan.scene.rule_requested):
        plan.click(plan.at(vote.x + 60, vote.y + 56))
    chair = plan.scene.layout.add_chair
    assert chair is not None
    with qtbot.waitSignal(plan.scene.chair_add_requested):
        plan.click(plan.at(*chair.center))


def test_a_double_click_opens_a_node(plan: Canvas, qtbot: QtBot) -> None:
    with qtbot.waitSignal(plan.scene.node_activated) as told:
        QTest.mouseDClick(plan.view.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, plan.node(Place(1, 0)))
    assert told.args == [Place(1, 0)]


def test_a_running_network_cannot_be_changed_by_the_mouse(live: Canvas, qtbot: QtBot) -> None:
    scene = live.scene
    signals = [
        scene.width_requested,
        scene.edge_toggle_requested,
        scene.neuron_move_requested,
        scene.layer_add_requested,
    ]
    seen: list[object] = []
    for signal in signals:
        signal.connect(lambda *args: seen.append(args))
    live.drag(live.node(Place(0, 0)), live.node(Place(0, 2)))
    rect = scene.layout.rect_of(Place(0, 0))
    live.drag(live.at(rect.right - 3, rect.middle), live.node(Place(1, 1)))
    left, right = scene.layout.gaps[1]
    live.click(live.at((left + right) / 2, scene.layout.head - 5))
    live.key(Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    live.scene.delete_requested.connect(seen.append)
    live.key(Qt.Key.Key_Delete)
    assert seen == []


# The keyboard


def test_arrows_walk_and_show_where_they_are(plan: Canvas) -> None:
    plan.click(plan.node(Place(0, 0)))
    plan.key(Qt.Key.Key_Down)
    plan.key(Qt.Key.Key_Right)
    assert plan.scene.current == Place(1, 1)
    assert plan.scene.selection == {Place(1, 1)}
    rect = plan.scene.layout.rect_of(Place(1, 1))
    assert plan.color(rect.x + 80, rect.y - 4.25) != tokens.LIGHT.canvas
    plan.key(Qt.Key.Key_Right)
    plan.key(Qt.Key.Key_Right)
    assert plan.scene.current in ("vote", "verdict")
    assert "Vote" in plan.view.accessibleDescription() or "Verdict" in plan.view.accessibleDescription()


def test_shift_and_arrows_extend_space_toggles_enter_opens(plan: Canvas, qtbot: QtBot) -> None:
    plan.click(plan.node(Place(0, 0)))
    plan.key(Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    plan.key(Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert plan.scene.selection == {Place(0, 0), Place(0, 1), Place(0, 2)}
    plan.key(Qt.Key.Key_Space)
    assert plan.scene.selection == {Place(0, 0), Place(0, 1)}
    with qtbot.waitSignal(plan.scene.node_activated) as told:
        plan.key(Qt.Key.Key_Return)
    assert told.args == [Place(0, 2)]


def test_ctrl_plus_and_minus_change_the_width(plan: Canvas, qtbot: QtBot) -> None:
    plan.click(plan.node(Place(1, 0)))
    with qtbot.waitSignal(plan.scene.width_requested) as told:
        plan.key(Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
    assert told.args == [1, 4]
    with qtbot.waitSignal(plan.scene.width_requested) as told:
        plan.key(Qt.Key.Key_Minus, Qt.KeyboardModifier.ControlModifier)
    assert told.args == [1, 2]


def test_alt_and_arrows_move_a_neuron_and_delete_asks(plan: Canvas, qtbot: QtBot) -> None:
    plan.click(plan.node(Place(0, 1)))
    with qtbot.waitSignal(plan.scene.neuron_move_requested) as told:
        plan.key(Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert told.args == [0, 1, 2]
    with qtbot.waitSignal(plan.scene.delete_requested) as deleted:
        plan.key(Qt.Key.Key_Delete)
    assert deleted.args == [frozenset({Place(0, 1)})]


def test_tab_searches_and_goes_to_what_is_chosen(plan: Canvas, qtbot: QtBot) -> None:
    plan.key(Qt.Key.Key_Tab)
    field = plan.view.findChild(QLineEdit)
    assert field is not None
    assert field.isVisible()
    QTest.keyClicks(field, "clarity layer 2")
    with qtbot.waitSignal(plan.scene.neuron_selected) as told:
        QTest.keyClick(field, Qt.Key.Key_Return)
    assert told.args == [Place(1, 2)]
    assert not field.isVisible()
    assert plan.view.hasFocus()
    plan.key(Qt.Key.Key_Tab)
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not field.isVisible()


# Zoom and pan


def test_keys_zoom_and_zero_fits(plan: Canvas, qtbot: QtBot) -> None:
    assert plan.view.zoom == 1.0
    with qtbot.waitSignal(plan.view.zoom_changed):
        plan.key(Qt.Key.Key_Minus)
    assert plan.view.zoom == pytest.approx(1 / 1.2)
    plan.key(Qt.Key.Key_Plus)
    plan.key(Qt.Key.Key_Plus)
    assert plan.view.zoom == pytest.approx(1.2)
    plan.key(Qt.Key.Key_0)
    assert plan.view.zoom == 1.0


def test_the_wheel_zooms_and_keeps_what_is_under_the_mouse(plan: Canvas) -> None:
    at = plan.node(Place(1, 1))
    fixed = plan.view.mapToScene(at)
    for steps in (120, 120, -120, -360):
        turn_wheel(plan, at, steps)
        now = plan.view.mapToScene(at)
        assert abs(now.x() - fixed.x()) * plan.view.zoom <= 3
        assert abs(now.y() - fixed.y()) * plan.view.zoom <= 3


def test_the_zoom_has_limits(plan: Canvas) -> None:
    for _ in range(40):
        turn_wheel(plan, plan.node(Place(0, 0)), 240)
    assert plan.view.zoom == 2.0
    for _ in range(40):
        turn_wheel(plan, plan.node(Place(0, 0)), -240)
    assert 0.05 < plan.view.zoom <= 0.1


def turn_wheel(canvas: Canvas, at: QPoint, steps: int) -> None:
    """A mouse wheel, in eighths of a degree."""
    event = QWheelEvent(
        QPointF(at),
        QPointF(canvas.view.viewport().mapToGlobal(at)),
        QPoint(),
        QPoint(0, steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas.view.viewport(), event)


def test_two_fingers_pan(plan: Canvas) -> None:
    before = plan.view.mapToScene(QPoint(0, 0))
    at = QPointF(300, 300)
    event = QWheelEvent(
        at,
        at,
        QPoint(-30, -20),
        QPoint(-30, -20),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.ScrollUpdate,
        False,
    )
    QApplication.sendEvent(plan.view.viewport(), event)
    moved = plan.view.mapToScene(QPoint(0, 0)) - before
    assert (moved.x(), moved.y()) == (30, 20)
    assert plan.view.zoom == 1.0


def test_the_middle_button_and_space_pan(plan: Canvas) -> None:
    before = plan.view.mapToScene(QPoint(0, 0))
    plan.drag(QPoint(400, 600), QPoint(430, 580), button=Qt.MouseButton.MiddleButton)
    moved = plan.view.mapToScene(QPoint(0, 0)) - before
    assert (moved.x(), moved.y()) == (-30, 20)
    QTest.keyPress(plan.view, Qt.Key.Key_Space)
    plan.drag(QPoint(400, 600), QPoint(370, 620))
    QTest.keyRelease(plan.view, Qt.Key.Key_Space)
    assert plan.view.mapToScene(QPoint(0, 0)) == before
    assert plan.scene.selection == frozenset()


def test_the_whole_network_is_shown_at_first_and_after_a_change(qtbot: QtBot) -> None:
    canvas = Canvas(qtbot, busy([12] * 8))
    assert canvas.view.zoom < 1
    whole = canvas.scene.layout.bounds
    assert canvas.view.visible_rect().contains(QRectF(whole.x, whole.y, whole.w, whole.h))
    canvas.scene.set_network(design((3, 2)))
    assert canvas.view.zoom == 1.0


def test_a_zoom_moves_over_time_unless_motion_is_reduced(qtbot: QtBot) -> None:
    canvas = Canvas(qtbot, design())
    canvas.view.set_theme(make_theme("light"))
    canvas.view.set_zoom(1.5)
    assert canvas.view.zoom < 1.5
    qtbot.waitUntil(lambda: canvas.view.zoom == 1.5, timeout=30_000)
    canvas.view.set_theme(make_theme("light", reduce_motion=True))
    canvas.view.set_zoom(0.8)
    assert canvas.view.zoom == 0.8


def test_the_mini_map_is_there_only_when_something_is_out_of_view(plan: Canvas) -> None:
    overview = plan.view.findChild(MiniMap)
    assert overview is not None
    assert not overview.isVisible()
    plan.view.set_zoom(2.0, animate=False)
    assert overview.isVisible()
    before = plan.view.visible_rect().center()
    QTest.mouseClick(overview, LEFT, Qt.KeyboardModifier.NoModifier, QPoint(130, 40))
    assert plan.view.visible_rect().center().x() > before.x()
    plan.view.fit(animate=False)
    assert not overview.isVisible()


def test_a_small_view_has_compact_nodes_and_a_large_one_full_ones(qtbot: QtBot) -> None:
    canvas = Canvas(qtbot, run(), (832, 404))
    assert canvas.scene.base == "compact"
    canvas.view.resize(1000, 600)
    qtbot.waitUntil(lambda: canvas.scene.base == "full", timeout=30_000)
    canvas.view.set_base("compact")
    assert canvas.scene.base == "compact"


# States


def test_changes_that_come_together_are_one_picture(live: Canvas) -> None:
    scene = live.scene
    pictures: list[None] = []
    scene.repainted.connect(lambda: pictures.append(None))
    before = scene.states(1).copy()
    changed = {Place(1, 0): NeuronState("Accuracy", phase="asked"), Place(0, 3): NeuronState("Depth", phase="waiting")}
    scene.update_neurons(changed | {Place(1, 1): before[1], Place(7, 7): NeuronState("gone")})
    assert len(pictures) == 1
    assert {place: scene.state(place) for place in changed} == changed
    assert scene.states(1)[1:] == before[1:]
    scene.update_neurons(changed)
    assert len(pictures) == 1


def test_a_change_shows_in_node_header_and_edges(live: Canvas) -> None:
    scene = live.scene
    rect = scene.layout.rect_of(Place(1, 0))
    assert live.color(rect.right - 34, rect.y + 12) == tokens.LIGHT.surface
    scene.update_neurons({Place(1, 0): scored("Accuracy", (9, 3), (8, 4), "a")})
    assert live.color(rect.right - 34, rect.y + 12) == tokens.LIGHT.a
    assert scene.count(1).scored == 2
    assert scene.network.neuron(Place(1, 0)).verdict == "a"


def test_what_is_unscored_is_dashed_white_and_sends_nothing_on(live: Canvas) -> None:
    scene = live.scene
    rect = scene.layout.rect_of(Place(0, 3))
    assert live.color(rect.x + 80, rect.y + 6) == tokens.LIGHT.surface
    picture = live.picture()
    edge = [QColor(picture.pixel(live.at(rect.x + i, rect.y))).name().upper() for i in range(12, 160)]
    assert any(color == tokens.LIGHT.unscored for color in edge)
    assert any(QColor(color).lightness() > 240 for color in edge)
    after = live.at(rect.right + 10, rect.middle)
    row = [QColor(picture.pixel(after.x(), after.y() + dy)).name().upper() for dy in range(-8, 9)]
    assert set(row) == {tokens.LIGHT.canvas}


def test_the_ends_take_their_states(live: Canvas) -> None:
    scene = live.scene
    scene.update_vote(replace(scene.network.vote, votes=(5, 0, 2), used=7))
    scene.update_verdict(VerdictState(verdict="a", human="b"))
    network = scene.network
    assert (network.vote.used, network.verdict.verdict) == (7, "a")
    rect = scene.layout.rect_of("verdict")
    assert live.color(rect.right - 38, rect.y + 14) == tokens.LIGHT.a
    assert live.color(rect.right - 34, rect.bottom - 26) == tokens.LIGHT.b


def test_another_shape_of_the_vote_moves_what_is_below(live: Canvas) -> None:
    scene = live.scene
    before = scene.layout.rect_of("verdict").y
    boxes = (("a",) * 7, ("pending",) * 7, ("tie",) * 3)
    scene.update_vote(VoteState(boxes=boxes, votes=(7, 3, 0), used=10, total=17))  # type: ignore[arg-type]
    assert scene.layout.rect_of("verdict").y > before
    assert scene.network.vote.used == 10


def test_a_new_network_keeps_selection_and_place_where_they_still_are(plan: Canvas) -> None:
    plan.click(plan.node(Place(0, 1)))
    plan.scene.select(Place(0, 3), add=True)
    plan.scene.set_network(design((3, 3), problem=False))
    assert plan.scene.selection == {Place(0, 1)}
    assert plan.scene.current == Place(0, 2)
    plan.scene.set_network(design((1,)))
    assert plan.scene.selection == frozenset()
    assert plan.scene.current == Place(0, 0)


def test_a_hundred_rebuilds_leave_no_items_behind(plan: Canvas) -> None:
    first = len(plan.scene.items())
    for turn in range(100):
        plan.scene.set_network(design((2 + turn % 5, 30 if turn % 3 == 0 else 3)))
        plan.scene.update_neurons({Place(0, 9): NeuronState("gone")})
    plan.scene.set_network(design())
    gc.collect()
    QApplication.processEvents()
    assert len(plan.scene.items()) == first
    assert not plan.picture().isNull()


def test_running_seconds_are_counted_by_the_canvas(live: Canvas) -> None:
    state = NeuronState("Accuracy", phase="asked", since=time.monotonic() - 5)
    assert live.scene.timed(state).seconds == pytest.approx(5, abs=0.5)
    assert live.scene.timed(replace(state, phase="waiting")).seconds is None


def test_nothing_turns_where_nobody_looks_or_motion_is_reduced(live: Canvas, qtbot: QtBot) -> None:
    turned: list[QRectF] = []
    live.scene.changed.connect(lambda regions: turned.extend(regions))
    live.view.set_theme(make_theme("light"))
    qtbot.waitUntil(lambda: len(turned) > 5, timeout=30_000)
    live.view.hide()
    qtbot.wait(100)
    turned.clear()
    qtbot.wait(150)
    assert turned == []
    live.view.show()
    qtbot.waitUntil(lambda: len(turned) > 5, timeout=30_000)
    live.view.set_theme(make_theme("light", reduce_motion=True))
    qtbot.wait(100)
    turned.clear()
    qtbot.wait(150)
    assert turned == []


# Dense layers


def test_a_cell_is_found_by_arithmetic_and_the_loupe_shows_its_node(dense: Canvas, qtbot: QtBot) -> None:
    dense.view.set_zoom(1.0, animate=False)
    with qtbot.waitSignal(dense.scene.hovered) as told:
        QTest.mouseMove(dense.view.viewport(), dense.node(Place(1, 71)))
    assert told.args == [Place(1, 71)]
    rect = dense.scene.layout.rect_of(Place(1, 71))
    loupe = next(item for item in dense.scene.items() if type(item).__name__ == "Loupe")
    assert loupe.isVisible()
    assert loupe.sceneBoundingRect().left() >= rect.right
    dense.scene.show_focus(False)
    QApplication.sendEvent(dense.scene, QEvent(QEvent.Type.Leave))
    assert not loupe.isVisible()


def test_the_loupe_stays_in_view_at_the_right_edge(dense: Canvas) -> None:
    dense.view.resize(700, 800)
    dense.view.set_zoom(1.0, animate=False)
    dense.view.center_at(QPointF(*dense.scene.layout.rect_of(Place(2, 7)).center) - QPointF(300, 0))
    QTest.mouseMove(dense.view.viewport(), dense.node(Place(2, 7)))
    loupe = next(item for item in dense.scene.items() if type(item).__name__ == "Loupe")
    assert loupe.isVisible()
    assert loupe.sceneBoundingRect().right() <= dense.scene.layout.rect_of(Place(2, 7)).x + 2


def test_one_cells_change_repaints_that_cell(dense: Canvas) -> None:
    dense.view.set_zoom(1.0, animate=False)
    scene = dense.scene
    place = Place(2, 199)
    rect = scene.layout.rect_of(place)
    assert dense.color(rect.x + 10, rect.y + 10) == tokens.LIGHT.surface
    scene.update_neurons({Place(2, 199): scored("Role 200", (2, 9), (2, 9), "b")})
    assert dense.color(rect.x + 3, rect.y + 3) == tokens.LIGHT.b
    scene.update_neurons({Place(2, 199): scored("Role 200", (7, 8), (7, 8), "b")})
    assert dense.color(rect.x + 3, rect.y + 3) == tokens.LIGHT.bTint


def test_cells_are_coloured_by_what_is_asked(dense: Canvas) -> None:
    dense.view.set_zoom(1.0, animate=False)
    scene = dense.scene
    rect = scene.layout.rect_of(Place(0, 0))
    differ = replace(scored("Role 1", (8, 6), (5, 9), "b"), changed_from="a")
    scene.update_neurons({Place(0, 0): differ})
    shown = {}
    for color in ("verdict", "state", "changed", "differ"):
        scene.set_cell_color(color)  # type: ignore[arg-type]
        shown[color] = dense.color(rect.x + 2.5, rect.y + 2.5)
    assert shown["differ"] == tokens.LIGHT.warnTint
    assert shown["state"] == tokens.LIGHT.sunken
    assert shown["changed"] in (tokens.LIGHT.b, tokens.LIGHT.bTint)
    scene.set_cell_color("changed")
    other = scene.layout.rect_of(Place(0, 1))
    assert dense.color(other.x + 3, other.y + 3) == tokens.LIGHT.sunken


def test_a_dense_network_has_few_items_and_no_edge_items(dense: Canvas) -> None:
    assert len(dense.scene.items()) < 40


# Words


def test_tool_tips_say_what_the_picture_says_and_show_no_html(live: Canvas) -> None:
    tip = live.view.tip(Spot("node", Place(0, 2)))
    assert tip == "Clarity, layer 1, verdict B, orders differ, AB 8 to 7, BA 6 to 8"
    live.scene.update_neurons({Place(0, 0): NeuronState("<b>bold</b>", phase="waiting")})
    assert live.view.tip(Spot("node", Place(0, 0))).startswith("<b>bold</b>, layer 1")
    assert live.view.tip(Spot("plus", index=0)) == "One neuron more"


def test_the_view_has_a_name_and_tells_where_the_keyboard_is(live: Canvas) -> None:
    assert live.view.accessibleName() == "Judge network"
    live.click(live.node(Place(0, 3)))
    assert live.view.accessibleDescription() == "Safety, layer 1, unscored, Cut at 1,024 tokens"


def test_a_screen_reader_finds_every_node_with_its_words(live: Canvas) -> None:
    QAccessible.setActive(True)
    try:
        reader = QAccessible.queryAccessibleInterface(live.view)
        assert reader is not None
        assert reader.text(QAccessible.Text.Name) == "Judge network"
        assert reader.childCount() == 4 + 3 + 4
        names = [reader.child(i).text(QAccessible.Text.Name) for i in range(reader.childCount())]
        assert names[0].startswith("Pair 413")
        assert names[4] == "Clarity, layer 1, verdict B, orders differ, AB 8 to 7, BA 6 to 8"
        assert names[-1] == "Verdict, Waits for 2 neurons, human label A"
        live.click(live.node(Place(0, 2)))
        node = reader.child(4)
        assert node.state().selected
        assert node.state().focused
        assert node.parent().childCount() == reader.childCount()
        assert reader.focusChild() is node
        middle = node.rect().center()
        assert reader.childAt(middle.x(), middle.y()) is node
        live.scene.set_network(design((1,)))
        assert reader.child(reader.childCount()) is None
        gc.collect()
        assert reader.child(2).text(QAccessible.Text.Name).startswith("Accuracy, layer 1")
    finally:
        QAccessible.setActive(False)


# Pictures


def test_svg_holds_the_texts_and_no_marks(live: Canvas) -> None:
    live.click(live.node(Place(1, 1)))
    zoom = live.view.zoom
    data = network_svg(live.scene, title="Run 12")
    root = ElementTree.fromstring(data)
    text = " ".join(root.itertext())
    for words in ("Run 12", "Completeness", "Cut at 1,024 tokens", "3 of 4 scored", "c2*(all)"):
        assert words in text
    assert b"<image" not in data
    assert b"Noto" not in data
    assert root.get("width") == root.get("viewBox", "").split()[2]
    assert live.view.zoom == zoom
    assert live.scene.selection == {Place(1, 1)}
    assert not live.scene.exporting


def test_png_is_as_large_as_asked_and_the_same_at_each_zoom(live: Canvas, tmp_path: Path) -> None:
    bounds = export_bounds(live.scene)
    image = network_image(live.scene, 2.0)
    assert abs(image.width() - 2 * bounds.width()) <= 1
    live.view.set_zoom(0.6, animate=False)
    assert network_image(live.scene, 2.0) == image
    path = tmp_path / "network.png"
    network_png(live.scene, path)
    assert QImage(str(path)).size() == image.size()
    with pytest.raises(ExportError, match="cannot be written"):
        network_png(live.scene, tmp_path / "missing" / "network.png")


def test_a_dense_network_is_exported_as_lines(dense: Canvas) -> None:
    data = network_svg(dense.scene)
    assert b"<image" not in data
    assert b"40,000" in data


@pytest.mark.parametrize("name", tokens.THEME_NAMES)
def test_the_canvas_takes_another_theme(live: Canvas, name: tokens.ThemeName) -> None:
    live.view.set_theme(make_theme(name, reduce_motion=True))
    rect = live.scene.layout.rect_of(Place(0, 0))
    colors = tokens.COLORS[name]
    assert live.color(rect.right - 30, rect.y + 12) == colors.a
    assert live.color(rect.x - 30, rect.bottom + 6) == colors.canvas


def test_the_ui_scale_enlarges_the_canvas_at_the_same_zoom(qtbot: QtBot) -> None:
    canvas = Canvas(qtbot, run(), (1900, 1100))
    assert canvas.view.zoom == 1.0
    canvas.view.set_theme(make_theme("light", scale=2.0, reduce_motion=True))
    assert canvas.view.zoom == 1.0
    assert canvas.view.transform().m11() == 2.0
