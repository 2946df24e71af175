"""Drawing of the ends of the network (pair, roles, vote, verdict), of the headers and of the design's handles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from judgenet.core.pairs import Verdict
from judgenet.core.wording import plural, score_text
from judgenet.ui.canvas import texts
from judgenet.ui.canvas.descriptions import layer_words, outstanding_words, verdict_words, votes_used
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.layout import BAR_HEIGHT, VOTE_BOXES, VOTE_ROWS, vote_lines
from judgenet.ui.canvas.model import NetworkState, RolesState, VoteBox, VoteState, VoteTally
from judgenet.ui.canvas.paint import (
    DASH,
    INSIDE,
    PLAIN,
    Look,
    draw_box,
    draw_chip,
    draw_outline,
)
from judgenet.ui.tokens import TypeRole

STEPPER: Final = (88.0, 28.0)
PLUS: Final = 24.0

Stepper = tuple[QRectF, QRectF]


def _border(look: Look) -> str:
    return "accent" if look.selected else "text2" if look.hovered else "line2"


def draw_pair(painter: QPainter, ink: Ink, w: float, h: float, network: NetworkState, look: Look = PLAIN) -> None:
    """The pair: its title, its question in up to three lines, the lengths of the responses."""
    pair = network.pair
    draw_box(painter, ink, w, h, look, _border(look))
    if h < 26:
        return
    title = 24.0 if h >= 36 else h / 2 + 5
    _head(painter, ink, w, title, "pair", pair.title)
    room = w - 2 * INSIDE
    half = room * 80 / 152
    numbers = [words.split()[0] if words else "" for words in (pair.length_a, pair.length_b)]
    widest = max(ink.width(number, tabular=True) for number in numbers)
    lengths = widest > 0 and h >= 84 and half - 28 >= widest
    tall = h >= 134
    foot = h - 36.0 if tall else h - 30.0
    lines = max(0, min(3, int(((foot - 8 if lengths else h - 8) - 34) // 20)))
    baseline = 50.0 if tall else 48.0
    for line in ink.wrap(pair.question or pair.empty, "body", room, lines) if lines else ():
        ink.text(painter, INSIDE, baseline, line, color="text2")
        baseline += 20
    if not lengths:
        return
    if tall:
        painter.setPen(ink.pen("line"))
        painter.drawLine(QPointF(INSIDE, round(h - 48) + 0.5), QPointF(w - INSIDE, round(h - 48) + 0.5))
    sides: tuple[tuple[Verdict, float, str], ...] = (
        ("a", INSIDE, pair.length_a),
        ("b", INSIDE + half, pair.length_b),
    )
    whole = [26 + ink.width(words, tabular=True) + 8 <= half for _, _, words in sides]
    if not all(whole):
        # Where there is no room the unit stands once, or goes.
        first = 26 + ink.width(numbers[0], tabular=True) + 8
        if first + 26 + ink.width(pair.length_b, tabular=True) <= room:
            sides = (("a", INSIDE, numbers[0]), ("b", INSIDE + first, pair.length_b))
        else:
            sides = (("a", INSIDE, numbers[0]), ("b", INSIDE + half, numbers[1]))
    for verdict, left, words in sides:
        draw_chip(painter, ink, QRectF(left, foot, 20, 20), verdict)
        ink.text(painter, left + 26, foot + 15, words, color="text2", tabular=True)


_LOWEST: Final = 15.0
"""Px of height for a line of letters; a lower box stays empty."""


def _head(
    painter: QPainter, ink: Ink, w: float, baseline: float, icon: str, title: str, right: str = "", color: str = "text2"
) -> None:
    """A node's title with its icon, and a word at the right."""
    x = float(INSIDE)
    shown = w >= 140 or ink.width(title, "node") + 24 <= w - 2 * INSIDE - ink.width(right)
    if icon and shown:
        ink.icon(painter, icon, x, round(baseline - 12), 16, "text2")
        x += 24
    end = w - INSIDE
    if right:
        role: TypeRole = "node" if color == "text" else "body"
        ink.text(painter, end, baseline, right, role, color, align="right", tabular=True)
        end -= ink.width(right, role) + 8
    ink.text(painter, x, baseline, title, "node", room=end - x, tabular=True)


def draw_roles(painter: QPainter, ink: Ink, w: float, h: float, roles: RolesState, look: Look = PLAIN) -> None:
    """Where the roles come from."""
    draw_box(painter, ink, w, h, look, _border(look))
    if h < _LOWEST:
        return
    picture = "roles" if h >= 20 else ""
    _head(
        painter, ink, w, 24.0 if h >= 44 else h / 2 + 5, picture, texts.ROLES, roles.count if w >= 120 else "", "text"
    )
    if h < 62:
        return
    lines = [text for text in roles.lines[:2] if text]
    room = w - 2 * INSIDE
    baseline = 50.0 if len(lines) > 1 or roles.note else min(56.0, h - 16)
    for line in lines:
        if baseline > h - 8:
            return
        ink.text(painter, INSIDE, baseline, line, color="text2", room=room)
        baseline += 20
    baseline += 10 if baseline + 10 <= h - 12 else 2
    if roles.note and baseline <= h - 8:
        ink.text(painter, INSIDE, baseline, roles.note, color="text3", room=room)


def rule_rect(w: float, h: float) -> QRectF:
    """Where the field with the rule stands in the design."""
    return QRectF(INSIDE, 40, w - 2 * INSIDE, 32)


def draw_vote(painter: QPainter, ink: Ink, w: float, h: float, network: NetworkState, look: Look = PLAIN) -> None:
    """The aggregation: its rule, a box a neuron in each layer's row, the totals, and how many votes were used."""
    vote = network.vote
    design = network.mode == "design"
    draw_box(painter, ink, w, h, look, _border(look))
    if h < 26:
        return
    field = design and h >= 84
    name_and_rule = f"{vote.name}, {vote.rule}" if vote.name else vote.rule
    beside = w - 3 * INSIDE - 24 - ink.width(texts.VOTE, "node")
    right = name_and_rule if ink.width(name_and_rule, tabular=True) <= beside else vote.name or vote.rule
    _head(painter, ink, w, 24.0 if h >= 40 else h / 2 + 5, "vote", texts.VOTE, "" if field or w < 150 else right)
    if field:
        box = rule_rect(w, h)
        wordings = (name_and_rule, vote.name or vote.rule, vote.rule)
        whole = next((text for text in wordings if ink.width(text) <= box.width() - 40), vote.rule)
        _draw_field(painter, ink, box, whole)
    used = votes_used(vote)
    room = w - 2 * INSIDE
    if vote.bars and not design and h >= 118:
        _draw_vote_bars(painter, ink, w, vote.votes or (0, 0, 0))
        if h >= 138:
            ink.text(painter, INSIDE, h - 12, used, color="text3", room=room, tabular=True)
        return
    plan = _plan_rows(vote, w, h, design)
    if plan is None:
        if not design and vote.votes is not None and h >= 62:
            _draw_totals(painter, ink, INSIDE, 36, room, vote.votes)
        if design and h >= 128:
            for place, words in enumerate(ink.wrap(vote.note, "body", room, 2)):
                ink.text(painter, INSIDE, 96 + 20 * place, words, color="text3")
        if not design and h >= 84:
            ink.text(painter, INSIDE, h - 11, used, color="text3", room=room, tabular=True)
        return
    y = _draw_vote_rows(painter, ink, w, network, plan)
    foot = vote.note if design else used
    if h - y >= 30 and (design or plan.step >= 28.5):
        line = round(y) + 0.5
        painter.setPen(ink.pen("line"))
        painter.drawLine(QPointF(INSIDE, line), QPointF(w - INSIDE, line))
        if not design and vote.votes is not None and h - y >= 34:
            _draw_totals_line(painter, ink, w, y + 9.5, vote.votes)
            foot = foot if h - y >= 58 else ""
    if h - y >= (28 if design else 18):
        below = 16 if design else 20 if h - y >= 66 else 11
        ink.text(painter, INSIDE, h - below, foot, color="text3", room=room, tabular=True)


@dataclass(frozen=True, slots=True)
class _Rows:
    """How the rows of a vote are laid out: where they begin, their steps, and the boxes' first x, pitch and side."""

    top: float
    step: float
    more: float
    left: float
    pitch: float
    side: float
    short: bool


def _plan_rows(vote: VoteState, w: float, h: float, design: bool) -> _Rows | None:
    """The rows of boxes that fit, or ``None`` where none do."""
    lines = 0 if vote.bars else sum(vote_lines(vote))
    rows = len(vote.boxes[:VOTE_ROWS])
    top = 88.0 if design else 44.0
    if design:
        wanted = 28.0 * max(lines, rows)
        free = h - top - 6
        scale = min(1.0, free / wanted) if wanted else 1.0
        step = 28 * scale
        return _Rows(top - 4 * (1 - scale), step, step, w - INSIDE, 20, 16, w < 150) if step >= 21 else None
    natural = sum(32.0 + 24 * (n - 1) for n in vote_lines(vote)) + 124
    scale = h / natural
    if scale >= 0.9 and w >= 156:
        return _Rows(44 * scale, 32 * scale, max(22.0, 24 * scale), INSIDE + 60, 24, 20, False)
    left = INSIDE + 40.0 if w >= 150 else INSIDE + 26.0
    pitch = min(24.0, (w - INSIDE - left + 4) / VOTE_BOXES)
    side = min(20.0, pitch - 2)
    step = min(28.0, (h - 40 - 22) / max(1, lines))
    if side < 16 or step < side + 2:
        return None
    return _Rows(40, step, step, left, pitch, side, True)


def _draw_vote_rows(painter: QPainter, ink: Ink, w: float, network: NetworkState, plan: _Rows) -> float:
    vote = network.vote
    design = network.mode == "design"
    lines = vote_lines(vote)
    y, side = plan.top, plan.side
    for number, row in enumerate(vote.boxes[:VOTE_ROWS]):
        title = vote.titles[number] if number < len(vote.titles) else texts.layer(number + 1)
        if plan.short and title.startswith(texts.LAYER):
            title = texts.short_layer(title.removeprefix(texts.LAYER).strip())
        ink.text(painter, INSIDE, y + side / 2 + 4.8, title, color="text2", room=56)
        if vote.bars:
            ink.text(painter, w - INSIDE, y + side / 2 + 4.8, f"{len(row):,}", align="right", tabular=True)
            y += plan.step
            continue
        for place, box in enumerate(row):
            line, column = divmod(place, VOTE_BOXES)
            left = plan.left + column * plan.pitch
            if design:
                left -= min(len(row) - line * VOTE_BOXES, VOTE_BOXES) * plan.pitch - 4
            _draw_box_of_vote(painter, ink, QRectF(left, y + line * plan.more, side, side), box)
        y += plan.step + plan.more * (lines[number] - 1)
    hidden = len(vote.boxes) - VOTE_ROWS
    if hidden > 0:
        ink.text(painter, INSIDE, y + 15, texts.more_layers(plural(hidden, "more layer")), color="text3")
        y += 20
    return y


def _draw_box_of_vote(painter: QPainter, ink: Ink, box: QRectF, what: VoteBox) -> None:
    if what == "pending":
        draw_outline(painter, ink, box)
    elif what == "unscored":
        draw_chip(painter, ink, box, None)
    else:
        draw_chip(painter, ink, box, what)


def _draw_totals_line(painter: QPainter, ink: Ink, w: float, y: float, votes: tuple[float, float, float]) -> None:
    """The totals of all layers below the boxes, with their word where it fits."""
    room = w - 2 * INSIDE
    if _totals_width(ink, votes) <= room - 60:
        ink.text(painter, INSIDE, y + 15, texts.ALL_LAYERS, "strong")
        _draw_totals(painter, ink, INSIDE + 60, y, room - 60, votes)
    else:
        _draw_totals(painter, ink, INSIDE, y, room, votes)


def _shown_totals(votes: tuple[float, float, float]) -> list[tuple[Verdict, str]]:
    sides: tuple[tuple[Verdict, float], ...] = (("a", votes[0]), ("tie", votes[1]), ("b", votes[2]))
    return [(verdict, score_text(count)) for verdict, count in sides if verdict != "tie" or count]


def _totals_width(ink: Ink, votes: tuple[float, float, float], gap: float = 8) -> float:
    shown = _shown_totals(votes)
    return sum(24 + ink.width(text, "node", tabular=True) for _, text in shown) + gap * (len(shown) - 1)


def _draw_totals(
    painter: QPainter, ink: Ink, x: float, y: float, room: float, votes: tuple[float, float, float]
) -> None:
    """Chips with counts; ties and then all counts are left out where there is no room for them."""
    shown = _shown_totals(votes)
    if _totals_width(ink, votes) > room:
        shown = [row for row in shown if row[0] != "tie"]
    wide = len(shown) == 2 and room >= 84
    for verdict, text in shown:
        width = ink.width(text, "node", tabular=True)
        draw_chip(painter, ink, QRectF(x, y, 20, 20), verdict)
        if room >= 66:
            ink.text(painter, x + 25, y + 15, text, "node", tabular=True)
            x += max(48.0, 36 + width) if wide else 32 + width
        else:
            x += 26


def _draw_vote_bars(painter: QPainter, ink: Ink, w: float, votes: tuple[float, float, float]) -> None:
    largest = max(votes) or 1
    y = 40.0
    sides: tuple[tuple[Verdict, float], ...] = (("a", votes[0]), ("tie", votes[1]), ("b", votes[2]))
    numbers = max(ink.width(f"{count:,.0f}", "node", tabular=True) for count in votes)
    for verdict, count in sides:
        draw_chip(painter, ink, QRectF(INSIDE, y, 20, 20), verdict)
        track = QRectF(INSIDE + 28, y + 6, max(8.0, w - 2 * INSIDE - 28 - numbers - 10), BAR_HEIGHT)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink.brush("sunken"))
        painter.drawRect(track)
        painter.setBrush(ink.brush(verdict))
        painter.drawRect(QRectF(track.x(), track.y(), track.width() * count / largest, BAR_HEIGHT))
        role: TypeRole = "body" if verdict == "tie" else "node"
        ink.text(painter, w - INSIDE, y + 15, f"{count:,.0f}", role, align="right", tabular=True)
        y += 28


def _draw_field(painter: QPainter, ink: Ink, box: QRectF, text: str) -> None:
    painter.setPen(ink.pen("line2"))
    painter.setBrush(ink.brush("surface"))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    ink.text(painter, box.x() + INSIDE, box.center().y() + 5, text, "strong", room=box.width() - 2 * INSIDE - 20)
    ink.icon(painter, "chevron-down", box.right() - 24, box.center().y() - 8, 16, "text2")


def draw_verdict(painter: QPainter, ink: Ink, w: float, h: float, network: NetworkState, look: Look = PLAIN) -> None:
    """The network's verdict; dashed until no outstanding vote can change it. Below it the human label."""
    state = network.verdict
    run = network.mode == "run"
    open_ = run and state.verdict is None
    draw_box(painter, ink, w, h, look, _border(look), dashed=open_)
    if h < 26:
        if state.verdict is not None and h >= 20:
            draw_chip(painter, ink, QRectF(w / 2 - 12, h / 2 - 10, 24, 20), state.verdict)
        elif h >= _LOWEST:
            ink.text(painter, INSIDE, h / 2 + 5, texts.VERDICT, "node", room=w - 2 * INSIDE)
        return
    words = verdict_words(network)
    room = w - 2 * INSIDE
    title = 24.0 if h >= 40 else h / 2 + 5
    if state.verdict is not None:
        if ink.width(texts.VERDICT, "node") <= room - 32:
            ink.text(painter, INSIDE, title, texts.VERDICT, "node")
        top = 12.0 if h >= 92 else 8.0 if h >= 60 else max(2.0, title - 16)
        high = 24.0 if h >= 92 else 20.0 if h >= 60 else min(24.0, h - 2 * top)
        draw_chip(painter, ink, QRectF(w - INSIDE - 28, top, 28, high), state.verdict)
        if h >= 92:
            if state.outstanding:
                ink.text(painter, INSIDE, 52, words[:1].upper() + words[1:], color="text2", room=room, tabular=True)
            elif state.votes is not None:
                _draw_totals(painter, ink, INSIDE, 37, room - 36, state.votes)
    elif h < 84 or not run:
        right = ""
        if h < 84 and run:
            short = verdict_words(network, short=True)
            right = short[:1].lower() + short[1:]
        fits = ink.width(texts.VERDICT, "node") + ink.width(right) + 12 <= room
        _head(painter, ink, w, title, "", texts.VERDICT, right if fits else "")
        if not run and h >= 60:
            if h < 80 and ink.width(words) > room:
                # One line has room for what the verdict can be, not for what comes with it.
                words = words.rpartition(", ")[0] or words
            for place, line in enumerate(ink.wrap(words, "body", room, 2 if h >= 80 else 1)):
                ink.text(painter, INSIDE, (54 if h >= 80 else 48) + 20 * place, line, color="text3")
    else:
        ink.text(painter, INSIDE, title, texts.VERDICT, "node", room=room)
        ink.text(painter, INSIDE, 52, words[:1].upper() + words[1:], color="text2", room=room, tabular=True)
    if run and state.human is not None and h >= 60:
        _draw_human_label(painter, ink, w, h, state.human)


def _draw_human_label(painter: QPainter, ink: Ink, w: float, h: float, label: Verdict) -> None:
    """The human label at the foot of the verdict's node."""
    if h >= 92:
        painter.setPen(ink.pen("line"))
        painter.drawLine(QPointF(INSIDE, round(h - 40) + 0.5), QPointF(w - INSIDE, round(h - 40) + 0.5))
    y = h - 30.0 if h >= 66 else h - 26
    room = w - 2 * INSIDE - 32
    words = texts.HUMAN_LABEL if ink.width(texts.HUMAN_LABEL) <= room else texts.HUMAN
    ink.text(painter, INSIDE, y + 15, words, color="text2", room=room)
    draw_chip(painter, ink, QRectF(w - INSIDE - 24, y, 24, 20), label)


def draw_add_chair(painter: QPainter, ink: Ink, w: float, h: float, look: Look = PLAIN) -> None:
    """The dashed place where a chair can be added."""
    painter.setPen(ink.pen("text2" if look.hovered else "line2", 1, DASH))
    painter.setBrush(ink.brush("hover") if look.hovered else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(0.5, 0.5, w - 1, h - 1), 8, 8)
    if h < _LOWEST:
        return
    room, x = w - 2 * INSIDE, float(INSIDE)
    if h >= 22 and (w >= 140 or ink.width(texts.ADD_A_CHAIR) + 24 <= room):
        ink.icon(painter, "plus", x, round(h / 2 - 8), 16, "text2")
        x, room = x + 24, room - 24
    words = texts.ADD_A_CHAIR if ink.width(texts.ADD_A_CHAIR) <= room else texts.CHAIR
    ink.text(painter, x, h / 2 + 5, words, color="text2", room=room)


def draw_handle(painter: QPainter, ink: Ink, w: float, h: float, look: Look = PLAIN) -> None:
    """The handle under a layer that is dragged to change its width."""
    painter.setPen(ink.pen("text2" if look.hovered else "line2", 1, DASH))
    painter.setBrush(ink.brush("hover") if look.hovered else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(0.5, 0.5, w - 1, h - 1), 6, 6)
    painter.setPen(ink.pen("text2", 1.5))
    center = w / 2
    for y in (h / 2 - 2.5, h / 2 + 2.5):
        painter.drawLine(QPointF(center - 10, y), QPointF(center + 10, y))


def draw_ghost(painter: QPainter, ink: Ink, box: QRectF) -> None:
    """A neuron that is coming while the handle is dragged."""
    painter.setPen(ink.pen("accent", 1, DASH))
    painter.setBrush(ink.brush("canvas"))
    radius = 8.0 if box.height() > 24 else 3.0
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)


def stepper_rect(w: float, baseline: float) -> QRectF:
    """Where a header's stepper stands, its right edge at the column's."""
    return QRectF(w - STEPPER[0], baseline - 18.5, *STEPPER)


def stepper_parts(w: float, baseline: float) -> Stepper:
    """The minus and the plus of a stepper."""
    box = stepper_rect(w, baseline)
    return QRectF(box.x(), box.y(), 29, box.height()), QRectF(box.right() - 29, box.y(), 29, box.height())


def remove_rect(ink: Ink, title: str, baseline: float) -> QRectF:
    """Where the cross that removes a layer stands: beside the title, left of the stepper."""
    x = min(ink.width(title, "section") + 4, 176 - STEPPER[0] - 28)
    return QRectF(x, baseline - 18, 24, 26)


def header_room(w: float, design: bool) -> bool:
    """Whether a header has room for its stepper, or for the count, beside the title."""
    return w >= 148 if design else w >= 112


def draw_header(
    painter: QPainter,
    ink: Ink,
    w: float,
    baseline: float,
    title: str,
    *,
    width: int | None = None,
    count: VoteTally | None = None,
    hovered: str = "",
    line: bool = False,
    varies: Sequence[str] = (),
    can_shrink: bool = True,
    fixed: bool = False,
    removable: bool = False,
) -> None:
    """A column's header: title, and at the right the stepper of the design (``width``; where the roles of a pair decide
    it the first of the words ``varies`` that fit) or how far it is (``count``).

    Under the mouse a removable layer shows its cross beside the title.
    """
    room = w
    if width is not None and header_room(w, True) and not fixed:
        room = w - STEPPER[0] - 8
        _draw_stepper(painter, ink, w, baseline, width, hovered, can_shrink)
    elif width is not None and w >= 90:
        beside = w - ink.width(title, "section") - 8
        widths = tuple(varies) or (f"{width:,}",)
        text = next((words for words in widths if ink.width(words, "node") <= beside), widths[-1])
        ink.text(painter, w, baseline, text, "node", "text2", align="right", tabular=True)
        room = w - ink.width(text, "node") - 8
    elif count is not None and header_room(w, False):
        text = layer_words(count)
        title_width = ink.width(title, "section")
        if title_width + ink.width(text, tabular=True) + 8 > w:
            text = layer_words(count, short=True)
        ink.text(painter, w, baseline, text, color="text2", align="right", tabular=True)
        room = w - ink.width(text, tabular=True) - 8
    if removable:
        box = remove_rect(ink, title, baseline)
        if hovered == "remove":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink.brush("hover"))
            painter.drawRoundedRect(box, 4, 4)
        ink.icon(painter, "close", round(box.center().x() - 8), round(box.center().y() - 8), 16, "text2")
        room = box.x() - 2
    ink.text(painter, 0, baseline, title, "section", room=max(room, 24))
    if line:
        painter.setPen(ink.pen("line"))
        painter.drawLine(QPointF(0, baseline + 21.5), QPointF(w, baseline + 21.5))


def _draw_stepper(
    painter: QPainter, ink: Ink, w: float, baseline: float, width: int, hovered: str, can_shrink: bool
) -> None:
    box = stepper_rect(w, baseline)
    minus, plus = stepper_parts(w, baseline)
    painter.setPen(ink.pen("line2"))
    painter.setBrush(ink.brush("surface"))
    frame = box.adjusted(0.5, 0.5, -0.5, -0.5)
    painter.drawRoundedRect(frame, 6, 6)
    for name, part in (("minus", minus), ("plus", plus)):
        if hovered == name:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink.brush("hover"))
            painter.drawRoundedRect(part.adjusted(1, 1, -1, -1), 5, 5)
        off = name == "minus" and not can_shrink
        center = part.center()
        ink.icon(painter, name, round(center.x() - 8), round(center.y() - 8), 16, "line2" if off else "text2")
    painter.setPen(ink.pen("line"))
    for x in (minus.right(), plus.x()):
        painter.drawLine(QPointF(x - 0.5, box.y() + 1), QPointF(x - 0.5, box.bottom() - 1))
    ink.text(painter, box.center().x(), baseline, f"{width}", "node", align="center", tabular=True)


def draw_plus(painter: QPainter, ink: Ink, x: float, y: float, hovered: bool) -> None:
    """The round + that adds a layer, its middle at (x, y)."""
    painter.setPen(ink.pen("accent" if hovered else "line2", 1))
    painter.setBrush(ink.brush("accentTint" if hovered else "surface"))
    painter.drawEllipse(QPointF(x, y), PLUS / 2 - 0.5, PLUS / 2 - 0.5)
    ink.icon(painter, "plus", x - 8, y - 8, 16, "accent" if hovered else "text2")


def draw_layer_bar(painter: QPainter, ink: Ink, box: QRectF, count: VoteTally) -> None:
    """A dense layer's stacked bar: A from the left, B from the right, ties after A, the rest empty."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink.brush("sunken"))
    painter.drawRect(box)
    total = count.total or 1
    w = box.width()
    a, tie, b = (w * share / total for share in (count.a, count.tie, count.b))
    painter.setBrush(ink.brush("a"))
    painter.drawRect(QRectF(box.x(), box.y(), a, box.height()))
    painter.setBrush(ink.brush("tie"))
    painter.drawRect(QRectF(box.x() + a + (1 if count.a else 0), box.y(), max(0.0, tie - 1), box.height()))
    painter.setBrush(ink.brush("b"))
    painter.drawRect(QRectF(box.right() - b, box.y(), b, box.height()))


def draw_layer_counts(painter: QPainter, ink: Ink, w: float, count: VoteTally) -> None:
    """Below a dense layer: the counts of A, tie and B with their chips, then what is unscored or still to come."""
    sides: tuple[tuple[Verdict, int, float], ...] = (("a", count.a, 0), ("tie", count.tie, 62), ("b", count.b, 118))
    for verdict, number, x in sides:
        left = x * w / 174
        draw_chip(painter, ink, QRectF(left, 0, 20, 20), verdict)
        room = w * (56 if verdict == "b" else 62) / 174 - 24
        role: TypeRole = "body" if verdict == "tie" else "node"
        ink.text(painter, left + 25, 15, f"{number:,}", role, room=max(room, 10), tabular=True)
    ink.text(painter, 0, 40, outstanding_words(count), color="text3", room=w, tabular=True)
