"""How nodes look. All functions draw with the node's left top corner at (0, 0), in px at 100 %.

The caller sets the painter up so that letters have their full size at each zoom: zooming out makes the box smaller, not
its letters, and the form follows from the room there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from judgenet.core.pairs import Order, Verdict
from judgenet.core.wording import LETTERS, score_text
from judgenet.ui.canvas import texts
from judgenet.ui.canvas.descriptions import state_words
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.model import STRONG, CellColor, NeuronState, OrderState
from judgenet.ui.tokens import TypeRole

INSIDE: Final = 12
"""Space inside a node, left and right."""
RADIUS: Final = 8.0
DASH: Final = (4.0, 3.0)
DASH_SMALL: Final = (3.0, 2.0)
LETTER_SIDE: Final = 15.0
"""px of a cell that a letter of 10 pt needs."""
POINTS: Final = 10.0
"""A full track stands for so many points."""

_FILL: Final[dict[Verdict, tuple[str, str, str]]] = {
    "a": ("a", "aTint", "onA"),
    "b": ("b", "bTint", "onB"),
    "tie": ("tie", "tieTint", "onTie"),
}


@dataclass(frozen=True, slots=True)
class Look:
    """What a node shows beside its state.

    ``turn`` is where the spinner and the writing bars are, 0 to 1. ``grown`` is how far a change has come, 0 to 1, and
    ``was`` the border's colour before it. ``fresh`` names the orders that have just come in.
    """

    selected: bool = False
    focused: bool = False
    hovered: bool = False
    turn: float = 0.0
    grown: float = 1.0
    was: str = "line2"
    fresh: frozenset[Order] = frozenset()


PLAIN: Final = Look()


def draw_chip(painter: QPainter, ink: Ink, box: QRectF, verdict: Verdict | None) -> None:
    """A verdict's chip: its letter on its colour; ``None`` is the dashed dash of what is unscored."""
    center = box.center()
    if verdict is None:
        painter.setPen(ink.pen("unscored", 1, DASH_SMALL))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setPen(ink.pen("unscored", 1.5))
        painter.drawLine(QPointF(center.x() - 3, center.y()), QPointF(center.x() + 3, center.y()))
        return
    fill, _, letter = _FILL[verdict]
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink.brush(fill))
    painter.drawRoundedRect(box, 4, 4)
    _letter(painter, ink, center, verdict, letter)


def draw_people(painter: QPainter, ink: Ink, box: QRectF) -> None:
    """The chip of a pair that is left to people: a person in an outline."""
    draw_outline(painter, ink, box)
    center = box.center()
    painter.setPen(ink.pen("text2", 1.5))
    painter.drawEllipse(QPointF(center.x(), center.y() - 3), 2.75, 2.75)
    painter.drawArc(QRectF(center.x() - 5, center.y() + 2, 10, 9), 0, 180 * 16)


def _letter(painter: QPainter, ink: Ink, center: QPointF, verdict: Verdict, color: str) -> None:
    if verdict == "tie":
        painter.setPen(ink.pen(color, 1.75))
        for y in (center.y() - 2, center.y() + 2):
            painter.drawLine(QPointF(center.x() - 3.5, y), QPointF(center.x() + 3.5, y))
        return
    ink.text(painter, center.x(), center.y() + 4.8, LETTERS[verdict], "chip", color, align="center")


def draw_outline(painter: QPainter, ink: Ink, box: QRectF) -> None:
    """The empty box of a vote that is still to come."""
    painter.setPen(ink.pen("line2"))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)


def draw_change(painter: QPainter, ink: Ink, x: float, y: float, old: Verdict, new: Verdict) -> None:
    """The mark of a changed verdict, 58 × 20 px: old and new letter in their colours."""
    painter.setPen(ink.pen("line2"))
    painter.setBrush(ink.brush("sunken"))
    painter.drawRoundedRect(QRectF(x + 0.5, y + 0.5, 57, 19), 4, 4)
    _letter(painter, ink, QPointF(x + 14, y + 10), old, old)
    _letter(painter, ink, QPointF(x + 44, y + 10), new, new)
    painter.setPen(ink.pen("text2", 1.5))
    tip = QPointF(x + 35, y + 10)
    painter.drawLine(QPointF(x + 22, y + 10), tip)
    painter.drawLine(QPointF(x + 31, y + 6), tip)
    painter.drawLine(QPointF(x + 31, y + 14), tip)


def border_of(neuron: NeuronState, look: Look = PLAIN) -> str:
    """The colour of a neuron's border."""
    if look.selected:
        return "accent"
    if neuron.problem is not None:
        return "warn"
    if neuron.phase == "unscored":
        return "unscored"
    return "text2" if look.hovered else "line2"


def draw_box(
    painter: QPainter,
    ink: Ink,
    w: float,
    h: float,
    look: Look,
    border: str,
    *,
    dashed: bool = False,
    radius: float = RADIUS,
    fill: str = "surface",
) -> None:
    """A node's ground and border, with the ring of the keyboard's focus."""
    if look.focused:
        painter.setPen(ink.pen("accent", 1.5 if ink.theme.name != "contrast" else 2.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(-4.25, -4.25, w + 8.5, h + 8.5), radius + 4, radius + 4)
    painter.setBrush(ink.brush(fill))
    if look.selected:
        painter.setPen(ink.pen("accent", 2))
        painter.drawRoundedRect(QRectF(0, 0, w, h), radius, radius)
        return
    box = QRectF(0.5, 0.5, w - 1, h - 1)
    if look.grown < 1 and look.was != border:
        painter.setPen(ink.pen(look.was, 1))
        painter.drawRoundedRect(box, radius, radius)
        painter.setOpacity(look.grown)
    painter.setPen(ink.pen(border, 1, DASH if dashed else ()))
    painter.drawRoundedRect(box, radius, radius)
    if look.grown < 1:
        painter.setOpacity(1)


def draw_neuron(painter: QPainter, ink: Ink, w: float, h: float, neuron: NeuronState, look: Look = PLAIN) -> None:
    """A neuron in the largest form that fits: full from about 158 × 90 on, compact from 28 px of height on."""
    if h >= 88 and w >= 150:
        _draw_full(painter, ink, w, h, neuron, look)
    elif h >= 28:
        _draw_compact(painter, ink, w, h, neuron, look)
    else:
        draw_cell(painter, ink, QRectF(0, 0, w, h), cell_key(neuron), look)
        return
    x = INSIDE - 4.0
    for text in filter(None, (neuron.weight, neuron.stood_in)):
        x = draw_tag(painter, ink, x, text) + 4


def draw_tag(painter: QPainter, ink: Ink, x: float, text: str) -> float:
    """A tag on the upper border, such as the weight of a learned aggregation; returns where it ends."""
    box = QRectF(x, -12, ink.width(text, tabular=True) + 10, 17)
    painter.setPen(ink.pen("line2", 1))
    painter.setBrush(ink.brush("surface"))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    ink.text(painter, box.x() + 5, 1, text, color="text2", tabular=True)
    return box.right()


def slot_rect(w: float, h: float) -> QRectF:
    """Where the slot of the state is: all that moves while a neuron works lies in it."""
    top = 9.0 if h >= 60 else 7.0 if h >= 44 else 1.0
    return QRectF(w - INSIDE - 24, top, 24, 20 if h >= 44 else 18)


def _draw_full(painter: QPainter, ink: Ink, w: float, h: float, neuron: NeuronState, look: Look) -> None:
    part = h / 100
    draw_box(painter, ink, w, h, look, border_of(neuron, look), dashed=neuron.phase == "unscored")
    _draw_title(painter, ink, w, 24 * part, neuron, w - INSIDE - slot_rect(w, h).width() - INSIDE - 6)
    draw_slot(painter, ink, slot_rect(w, h), neuron, look)
    room = w - 2 * INSIDE
    if neuron.problem is not None:
        ink.text(painter, INSIDE, 54 * part, neuron.problem.text, room=room)
        _draw_link(painter, ink, fix_rect(w, h), neuron.problem.fix)
    elif neuron.phase == "idle":
        ink.text(painter, INSIDE, 54 * part, neuron.model, room=room)
        ink.text(painter, INSIDE, 80 * part, neuron.settings, color="text3", room=room, tabular=True)
    elif neuron.phase == "unscored":
        ink.icon(painter, "warning", INSIDE, round(49 * part - 12), 16, "warn")
        ink.text(painter, INSIDE + 22, 49 * part, neuron.reason or texts.UNSCORED, room=room - 22)
        ink.text(painter, INSIDE, 70 * part, neuron.note, color="text2", room=room)
        ink.text(painter, INSIDE, 90 * part, neuron.note2, color="text2", room=room)
    else:
        for order, y in zip(neuron.orders, (44, 62), strict=False):
            _draw_order(painter, ink, w, y * part, order, neuron.order(order), look)
        _draw_foot(painter, ink, w, 90 * part, neuron)


def fix_rect(w: float, h: float) -> QRectF:
    """Where the link that fixes a mistake stands."""
    part = h / 100
    return QRectF(INSIDE, 80 * part - 16, w - 2 * INSIDE, 22)


def _draw_link(painter: QPainter, ink: Ink, box: QRectF, text: str) -> None:
    if not text:
        return
    text = ink.elide(text, "strong", box.width())
    baseline = box.y() + 16
    ink.text(painter, box.x(), baseline, text, "strong", "accent")
    painter.setPen(ink.pen("accent", 1))
    y = round(baseline + 2) + 0.5
    painter.drawLine(QPointF(box.x(), y), QPointF(box.x() + ink.width(text, "strong"), y))


def _draw_title(painter: QPainter, ink: Ink, w: float, baseline: float, neuron: NeuronState, room: float) -> None:
    quiet = neuron.phase == "waiting" or not neuron.role
    ink.text(painter, INSIDE, baseline, neuron.role or texts.NO_ROLE, "node", "text3" if quiet else "text", room=room)


def draw_slot(painter: QPainter, ink: Ink, box: QRectF, neuron: NeuronState, look: Look) -> None:
    """The state at a node's top right: circle, spinner, bars, chip, dashed chip or triangle."""
    center = box.center()
    if neuron.problem is not None:
        ink.icon(painter, "warning", box.right() - 16, box.y() + 3, 16, "warn")
    elif neuron.phase == "waiting":
        painter.setPen(ink.pen("line2", 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(center, 6.5, 6.5)
    elif neuron.phase == "asked":
        painter.setPen(ink.pen("line2", 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(center, 7, 7)
        painter.setPen(ink.pen("accent", 2.5))
        circle = QRectF(center.x() - 7, center.y() - 7, 14, 14)
        painter.drawArc(circle, round((90 - 360 * look.turn) * 16), -90 * 16)
    elif neuron.phase == "writing":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink.brush("accent"))
        for place, height in enumerate(_bar_heights(look.turn)):
            box_of_bar = QRectF(center.x() - 8 + 6 * place, center.y() - height / 2, 4, height)
            painter.drawRoundedRect(box_of_bar, 1, 1)
    elif neuron.phase == "scored" and neuron.verdict is not None:
        draw_chip(painter, ink, box, neuron.verdict)
    elif neuron.phase == "unscored":
        draw_chip(painter, ink, box, None)


def _bar_heights(turn: float) -> tuple[float, float, float]:
    if turn == 0:
        return 6, 12, 8
    heights = [6 + 6 * (1 - abs(2 * ((turn + shift) % 1) - 1)) for shift in (0.0, 0.33, 0.66)]
    return heights[0], heights[1], heights[2]


def _draw_order(
    painter: QPainter, ink: Ink, w: float, y: float, order: Order, state: OrderState | None, look: Look
) -> None:
    baseline = y + 4.8
    ink.text(painter, INSIDE, baseline, order.upper(), color="text3")
    axis = 103 * w / 176
    track = _track(ink, w, axis, state)
    if state is not None and state.unscored:
        box = QRectF(36.5, round(y - 8) + 0.5, w - 36 - INSIDE, 16)
        painter.setPen(ink.pen("unscored", 1, DASH_SMALL))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 4, 4)
        ink.text(painter, 42, baseline, state.unscored, color="text2", room=box.width() - 10)
        return
    if state is not None and (state.a is None or state.b is None):
        ink.text(painter, 40, baseline, texts.VERDICT_ONLY, color="text3", room=w - 40 - INSIDE - 20)
        if state.verdict is not None:
            _letter(painter, ink, QPointF(w - INSIDE - 8, y), state.verdict, state.verdict)
        return
    top = round(y - 4)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink.brush("sunken"))
    painter.drawRect(QRectF(axis - 1 - track, top, track, 8))
    painter.drawRect(QRectF(axis + 1, top, track, 8))
    if state is None or state.a is None or state.b is None:
        return
    grown = look.grown if order in look.fresh else 1.0
    for score, token, left in ((state.a, "a", True), (state.b, "b", False)):
        length = track * min(POINTS, max(0.0, score)) / POINTS * grown
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink.brush(token))
        painter.drawRect(QRectF(axis - 1 - length if left else axis + 1, top, length, 8))
    a_role, b_role = _score_roles(state.a, state.b)
    ink.text(painter, axis - 5 - track, baseline, score_text(state.a), a_role, align="right", tabular=True)
    ink.text(painter, axis + 5 + track, baseline, score_text(state.b), b_role, tabular=True)


def _track(ink: Ink, w: float, axis: float, state: OrderState | None) -> float:
    """Length of a score's track: 46 px, less where scores with decimals need the room."""
    track = 46 * w / 176
    if state is None or state.a is None or state.b is None:
        return track
    left = axis - 36 - ink.width(score_text(state.a), "chip", tabular=True)
    right = w - 8 - axis - 5 - ink.width(score_text(state.b), "chip", tabular=True)
    return min(track, left, right)


def _score_roles(a: float, b: float) -> tuple[TypeRole, TypeRole]:
    if a == b:
        return "strong", "strong"
    return ("chip", "strong") if a > b else ("strong", "chip")


def _draw_foot(painter: QPainter, ink: Ink, w: float, baseline: float, neuron: NeuronState) -> None:
    changed = neuron.changed_from is not None and neuron.verdict is not None
    room = w - 2 * INSIDE - (62 if changed else 0)
    if neuron.orders_differ:
        ink.icon(painter, "swap", INSIDE, round(baseline - 12), 16, "warn")
        ink.text(
            painter,
            INSIDE + 20,
            baseline,
            texts.DIFFER if changed else texts.ORDERS_DIFFER,
            color="warn",
            room=room - 20,
        )
    else:
        quiet = neuron.phase in ("waiting", "scored")
        color = "text3" if quiet else "text2"
        ink.text(painter, INSIDE, baseline, state_words(neuron), color=color, room=room, tabular=True)
    if neuron.changed_from is not None and neuron.verdict is not None:
        draw_change(painter, ink, w - INSIDE - 58, round(baseline - 15), neuron.changed_from, neuron.verdict)


_NAME_ROOM: Final = 48.0
"""So many px of its name tell a neuron from others."""


def _draw_compact(painter: QPainter, ink: Ink, w: float, h: float, neuron: NeuronState, look: Look) -> None:
    draw_box(painter, ink, w, h, look, border_of(neuron, look), dashed=neuron.phase == "unscored")
    slot = slot_rect(w, h)
    empty = neuron.phase == "idle" and neuron.problem is None
    # Alone in a low box the name stands in its middle.
    title = h / 2 + 5 if empty and h < 44 else slot.center().y() + 5
    room = w - 2 * INSIDE - (0 if empty else 30)
    # The name goes before the mark, which the inspector and the list show in words.
    if neuron.orders_differ and room - 22 >= min(_NAME_ROOM, ink.width(neuron.role or "", "node")):
        ink.icon(painter, "swap", slot.x() - 22, slot.center().y() - 8, 16, "warn")
        room -= 22
    _draw_title(painter, ink, w, title, neuron, room)
    draw_slot(painter, ink, slot, neuron, look)
    line = min(title + 22, h - 9)
    scores = neuron.mean_scores
    foot = state_words(neuron)
    if neuron.problem is not None or neuron.phase in ("idle", "unscored") or scores is None:
        if h >= 44:
            words, color = foot, "text2"
            if neuron.problem is not None:
                words, color = neuron.problem.text, "text"
            elif neuron.phase == "idle":
                words = neuron.model
            elif neuron.phase == "unscored":
                words = neuron.reason or texts.UNSCORED
            ink.text(painter, INSIDE, line, words, color=color, room=w - 2 * INSIDE, tabular=True)
        return
    y = round(min(title + 16, h - 16) if h >= 44 else h - 9)
    _draw_means(painter, ink, QRectF(INSIDE, y, w - 2 * INSIDE, 6 if h >= 36 else 5), scores)
    if h >= 72:
        _draw_foot(painter, ink, w, h - 12, neuron)
    elif neuron.changed_from is not None and neuron.verdict is not None and w >= 86:
        draw_change(painter, ink, w - INSIDE - 58, h - 6, neuron.changed_from, neuron.verdict)


def _draw_means(painter: QPainter, ink: Ink, box: QRectF, scores: tuple[float, float]) -> None:
    half = (box.width() - 2) / 2
    axis = box.x() + half + 1
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink.brush("sunken"))
    painter.drawRect(QRectF(box.x(), box.y(), half, box.height()))
    painter.drawRect(QRectF(axis + 1, box.y(), half, box.height()))
    for score, token, left in ((scores[0], "a", True), (scores[1], "b", False)):
        length = half * min(POINTS, max(0.0, score)) / POINTS
        painter.setBrush(ink.brush(token))
        painter.drawRect(QRectF(axis - 1 - length if left else axis + 1, box.y(), length, box.height()))


def cell_key(neuron: NeuronState, color: CellColor = "verdict") -> str:
    """The key of a neuron's look as a cell; cells have few looks, so each is drawn once."""
    if neuron.problem is not None:
        return "problem"
    if neuron.phase in ("idle", "waiting", "asked", "writing", "unscored"):
        return neuron.phase
    verdict = neuron.verdict
    if verdict is None:
        return "waiting"
    if color == "state":
        return "scored"
    if color == "differ":
        return "differ" if neuron.orders_differ else "quiet"
    if color == "changed" and neuron.changed_from is None:
        return "quiet"
    if verdict == "tie":
        return "tie"
    by = neuron.by
    return verdict if by is None or by >= STRONG else f"{verdict} weak"


def draw_cell(painter: QPainter, ink: Ink, box: QRectF, key: str, look: Look = PLAIN) -> None:
    """A cell: its letter on a strong or a quiet ground; where a letter has no room, a side instead of it.

    A fills the left 60 %, B the right 60 %, a tie the middle third; what is unscored is dashed.
    """
    side = min(box.width(), box.height())
    radius = min(6.0, side * 0.15)
    lettered = side >= LETTER_SIDE
    if look.focused or look.selected:
        painter.setPen(ink.pen("accent", 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), radius + 2, radius + 2)
    name, _, weak = key.partition(" ")
    if name in ("a", "b", "tie"):
        _draw_verdict_cell(painter, ink, box, name, bool(weak), lettered, radius)
        return
    inner = box.adjusted(0.5, 0.5, -0.5, -0.5)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    center = box.center()
    if key == "unscored":
        painter.setPen(ink.pen("unscored", 1, DASH_SMALL))
        painter.drawRoundedRect(inner, radius, radius)
        if lettered:
            painter.setPen(ink.pen("unscored", 1.5))
            painter.drawLine(QPointF(center.x() - 3, center.y()), QPointF(center.x() + 3, center.y()))
        return
    if key in ("asked", "writing"):
        painter.setPen(ink.pen("accent", 1.5))
        if key == "writing":
            painter.setBrush(ink.brush("accentTint"))
        painter.drawRoundedRect(box.adjusted(0.75, 0.75, -0.75, -0.75), radius, radius)
        return
    if key in ("quiet", "scored", "differ"):
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink.brush("warnTint" if key == "differ" else "sunken"))
        painter.drawRoundedRect(box, radius, radius)
        if lettered and key != "quiet":
            name, color = ("swap", "warn") if key == "differ" else ("tick", "text2")
            ink.icon(painter, name, center.x() - 8, center.y() - 8, 16, color)
        return
    painter.setPen(ink.pen("warn" if key == "problem" else "line2"))
    painter.setBrush(ink.brush("surface"))
    painter.drawRoundedRect(inner, radius, radius)
    if key == "problem" and lettered:
        ink.icon(painter, "warning", center.x() - 8, center.y() - 8, 16, "warn")


def _draw_verdict_cell(
    painter: QPainter, ink: Ink, box: QRectF, name: str, weak: bool, lettered: bool, radius: float
) -> None:
    verdict: Verdict = "a" if name == "a" else "b" if name == "b" else "tie"
    fill, tint, on = _FILL[verdict]
    quiet = weak or verdict == "tie"
    painter.setPen(Qt.PenStyle.NoPen)
    if lettered:
        painter.setBrush(ink.brush(tint if quiet else fill))
        painter.drawRoundedRect(box, radius, radius)
        _letter(painter, ink, box.center(), verdict, fill if quiet else on)
        return
    painter.setBrush(ink.brush(tint))
    painter.drawRoundedRect(box, radius, radius)
    w = box.width()
    start, share = {"a": (0.0, 0.6), "b": (0.4, 0.6), "tie": (1 / 3, 1 / 3)}[verdict]
    painter.setBrush(ink.brush(fill, 0.55 if weak else 1.0))
    painter.drawRect(QRectF(box.x() + start * w, box.y(), share * w, box.height()))
