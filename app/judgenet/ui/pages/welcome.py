"""The page Welcome: open a project, start one from a preset network, or run the example."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.presets import PRESETS
from judgenet.core.wording import near_day
from judgenet.engine.embedded_model import find_model
from judgenet.store.recovery import drafts
from judgenet.ui import clock
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.paint import draw_chip
from judgenet.ui.context import Context
from judgenet.ui.elements import ElidedLabel, IconLabel, label
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.navigation import Visit
from judgenet.ui.pages import texts
from judgenet.ui.pages.base import Page
from judgenet.ui.preset_cards import BY_CRITERIA, CARDS, PresetCard
from judgenet.ui.settings import Recent
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import set_kind

_LEFT: Final = 432
_LEFT_NARROW: Final = 344
_RECENT: Final = Qt.ItemDataRole.UserRole


class WelcomePage(Page):
    """The welcome page.

    Signals:
        preset_chosen: the key of a preset.
        file_chosen: the path of a project to open.
        example_wanted: the example is to run.
    """

    key = "welcome"
    smallest = (640, 440)
    primary = ""

    preset_chosen = Signal(str)
    file_chosen = Signal(object)
    example_wanted = Signal()

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._left = self._make_left()
        self._right = self._make_right()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._left)
        row.addWidget(self._right, stretch=1)
        context.settings.recent_changed.connect(self._show_recent)
        self._columns = 0
        measure(self._left_column, spacing=12)
        measure(self._buttons, margins=(0, 12, 0, 20), spacing=12)
        measure(self._links, spacing=20)
        measure(self._right_column, spacing=20)
        measure(self._grid, spacing=16)
        measure(self._more, spacing=8)
        measure(self._panel_row, margins=(24, 20, 24, 20), spacing=24)
        for button in (self.open_button, self.pairs_button, self.example, self.back):
            measure(button, icon=16)
        self._show_recent()

    def _make_left(self) -> QFrame:
        frame = QFrame()
        frame.setProperty("part", "rail")
        self._left_column = column = QVBoxLayout(frame)
        self.back = QPushButton("")
        set_kind(self.back, "link")
        self.back.setIcon(icon("chevron-left", "accent"))
        self.context.actions.attach(self.back, "project.back")
        title = label(texts.JUDGENET_STUDIO, "page")
        text = label(
            texts.WHICH_ANSWER_IS_BETTER,
            "evidence",
            "text2",
            wrap=True,
        )
        self.open_button = QPushButton(texts.OPEN_PROJECT)
        set_kind(self.open_button, "primary")
        self.open_button.setIcon(icon("open", "onAccent"))
        self.pairs_button = QPushButton(texts.FILE_OF_PAIRS)
        self.pairs_button.setIcon(icon("drop", "text"))
        self.pairs_button.setToolTip(texts.DROP_THE_FILE)
        self.context.actions.attach(self.open_button, "project.open")
        self.context.actions.attach(self.pairs_button, "data.import")
        buttons = QHBoxLayout()
        buttons.addWidget(self.open_button)
        buttons.addWidget(self.pairs_button)
        buttons.addStretch(1)
        self._buttons = buttons
        self._make_recent()
        tour = QPushButton(texts.TWO_MINUTE_TOUR)
        check = QPushButton(texts.CHECK_AN_ENDPOINT)
        self.context.actions.attach(tour, "help.tour")
        self.context.actions.attach(check, "endpoints.show")
        links = QHBoxLayout()
        for button in (tour, check):
            set_kind(button, "link")
            links.addWidget(button)
        links.addStretch(1)
        self._links = links
        column.addWidget(self.back, alignment=Qt.AlignmentFlag.AlignLeft)
        column.addWidget(title)
        column.addWidget(text)
        column.addLayout(buttons)
        column.addWidget(self.recent_title)
        # Only one of the two is visible; it takes the remaining room.
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        column.addWidget(self.nothing, stretch=1)
        column.addWidget(self.recent, stretch=1)
        column.addLayout(links)
        return frame

    def _make_recent(self) -> None:
        self.recent_title = label(texts.RECENT, "section")
        self.recent = QListWidget()
        self.recent.setAccessibleName(texts.RECENT_PROJECTS)
        self.recent.setProperty("kind", "bare")
        self.recent.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.recent.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.recent.itemClicked.connect(self._open_item)
        self.recent.installEventFilter(self)
        self.nothing = label(texts.NO_RECENT_PROJECTS, tone="text3", wrap=True)

    def _make_right(self) -> QScrollArea:
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setAccessibleName(texts.NEW_NETWORK)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        self._right_column = column = QVBoxLayout(inner)
        head = QHBoxLayout()
        head.addWidget(label(texts.NEW_NETWORK, "title"))
        head.addStretch(1)
        head.addWidget(label(texts.PRICE_IS_SHOWN_FIRST, tone="text2"))
        column.addLayout(head)
        self._grid = QGridLayout()
        self.cards = [PresetCard(key, title, line, inner) for key, title, line in CARDS]
        for card in self.cards:
            card.chosen.connect(self.preset_chosen)
        column.addLayout(self._grid)
        self._more = more = QHBoxLayout()
        self.criteria = QPushButton(PRESETS[BY_CRITERIA].title)
        set_kind(self.criteria, "link")
        self.criteria.setToolTip(PRESETS[BY_CRITERIA].description)
        self.criteria.setAccessibleDescription(PRESETS[BY_CRITERIA].description)
        self.criteria.clicked.connect(partial(self.preset_chosen.emit, BY_CRITERIA))
        more.addWidget(label(texts.PAIRS_WITH_CRITERIA, tone="text2"))
        more.addWidget(self.criteria)
        more.addStretch(1)
        column.addLayout(more)
        panel = QFrame()
        panel.setProperty("part", "panel")
        row = QHBoxLayout(panel)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(label(texts.TRY_IT_NOW, "section"))
        self._offline = label("", tone="text2", wrap=True)
        words.addWidget(self._offline)
        self.example = QPushButton(texts.RUN_THE_EXAMPLE)
        set_kind(self.example, "outline")
        self.example.setIcon(icon("run", "accent"))
        self.example.clicked.connect(self.example_wanted)
        row.addLayout(words, stretch=1)
        row.addWidget(self.example)
        self._panel_row = row
        column.addWidget(panel)
        column.addWidget(label(texts.HOW_A_NETWORK_JUDGES, "section"))
        self._picture = HowItWorks()
        column.addWidget(self._picture)
        column.addStretch(1)
        area.setWidget(inner)
        return area

    def enter(self, visit: Visit) -> None:
        self._show_recent()
        self._show_back()
        here = find_model() is not None
        self._offline.setText(texts.EXAMPLE_AND_MODEL if here else texts.EXAMPLE_AND_MODEL_TO_FETCH)

    def _show_back(self) -> None:
        """Shows the button that leads back to the open project."""
        document = self.context.document
        self.back.setVisible(document.is_open)
        text = texts.back_to(document.title)
        self.back.setAccessibleName(text)
        room = self.context.theme.theme.px(_LEFT_NARROW - 96)
        text = self.back.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)
        self.back.setText(text.replace("&", "&&"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.context.document.is_open:
            self.context.actions.trigger("project.back")
            return
        super().keyPressEvent(event)

    def regions(self) -> Sequence[QWidget]:
        return (self._left, self._right)

    # Recent projects

    def _show_recent(self) -> None:
        self.recent.clear()
        recent = list(self.context.settings.recent)
        files = {project.file for project in recent}
        unsaved = [path for path in drafts() if path not in files]
        recent += [Recent(path, texts.UNTITLED, texts.DRAFT, path.stat().st_mtime) for path in unsaved]
        for project in recent:
            item = QListWidgetItem()
            item.setData(_RECENT, project)
            day = near_day(project.at, clock.today())
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{project.name}, {project.line}, {day}")
            item.setToolTip(str(project.file))
            self.recent.addItem(item)
            self.recent.setItemWidget(item, _RecentRow(project))
        self.recent.setVisible(self.recent.count() > 0)
        self.nothing.setVisible(self.recent.count() == 0)
        self._size_recent()

    def _size_recent(self) -> None:
        size = QSize(current_theme().px(120), current_theme().px(56))
        for place in range(self.recent.count()):
            self.recent.item(place).setSizeHint(size)

    def _open_item(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.file_chosen.emit(item.data(_RECENT).file)

    def eventFilter(self, watched: object, event: object) -> bool:
        if watched is self.recent and isinstance(event, QKeyEvent) and event.type() == QKeyEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._open_item(self.recent.currentItem())
                return True
            if event.key() == Qt.Key.Key_Delete and self.recent.currentItem() is not None:
                self.context.settings.forget(self.recent.currentItem().data(_RECENT).file)
                return True
        return super().eventFilter(watched, event)  # type: ignore[arg-type]

    # Look

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        width = self.width() / current_theme().scale
        narrow = width < 1360
        measure(self._left, width=_LEFT_NARROW if narrow else _LEFT)
        side, top = (24, 32) if narrow else (40, 48)
        for column in (self._left_column, self._right_column):
            measure(column, margins=(side, top, side, 24))
        room = width - (_LEFT_NARROW if narrow else _LEFT)
        columns = 3 if room >= 760 else 2 if room >= 480 else 1
        if columns != self._columns:
            self._columns = columns
            for place, card in enumerate(self.cards):
                self._grid.addWidget(card, place // columns, place % columns)
        self._size_recent()


class _RecentRow(QWidget):
    """A recent project: icon, name over a line, and the day at the right."""

    def __init__(self, recent: Recent) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        picture = IconLabel("file")
        name, line = ElidedLabel(recent.name, "strong"), ElidedLabel(recent.line, tone="text2")
        words = QGridLayout()
        words.setSpacing(0)
        measure(words, across=12)
        words.setColumnStretch(0, 1)
        words.addWidget(name, 0, 0)
        words.addWidget(label(near_day(recent.at, clock.today()), tone="text2"), 0, 1)
        words.addWidget(line, 1, 0, 1, 2)
        row = QHBoxLayout(self)
        measure(row, margins=(0, 6, 0, 6), spacing=12)
        row.addWidget(picture)
        row.addLayout(words, stretch=1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(current_theme().color("line"))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)


class HowItWorks(QWidget):
    """A picture that explains a network: a pair, two layers, a vote."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(texts.HOW_A_NETWORK_JUDGES_IN_WORDS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(current_theme().px(640), current_theme().px(140))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        ink = Ink.of(theme)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(theme.scale, theme.scale)
        width = self.width() / theme.scale
        node, vote = 112.0, 168.0
        gap = (width - 144 - 2 * node - vote) / 3
        xs = (0.0, 144 + gap, 144 + gap + node + gap, width - vote)
        roles = (texts.ACCURACY, texts.CLARITY, texts.SAFETY)
        rows = [QRectF(0, 14 + 35 * row, node, 28) for row in range(3)]
        middle = 50.0
        for row in rows:
            self._edge(painter, ink, QPointF(144, middle), QPointF(xs[1], row.center().y()), "line2")
            self._edge(painter, ink, QPointF(xs[2] + node, row.center().y()), QPointF(xs[3], middle), "line2")
        for source in rows:
            for reader in rows:
                own = source is reader
                begin = QPointF(xs[1] + node, source.center().y())
                self._edge(painter, ink, begin, QPointF(xs[2], reader.center().y()), "edge", 2.0 if own else 1.0)
        self._box(painter, ink, QRectF(0.5, 0.5, 143, 99))
        ink.text(painter, 12, 22, texts.QUESTION)
        for y, verdict, text in ((36.0, "a", texts.ONE_ANSWER), (64.0, "b", texts.ANOTHER_ANSWER)):
            draw_chip(painter, ink, QRectF(12, y, 20, 20), verdict)  # type: ignore[arg-type]
            ink.text(painter, 40, y + 15, text)
        for x in xs[1:3]:
            for row, role in zip(rows, roles, strict=True):
                box = row.translated(x + 0.5, 0.5)
                self._box(painter, ink, box)
                ink.text(painter, x + (node - ink.width(role)) / 2, box.center().y() + 5, role)
        self._box(painter, ink, QRectF(xs[3] + 0.5, 0.5, vote - 1, 99))
        ink.text(painter, xs[3] + 12, 22, texts.VOTE)
        for place, verdict in enumerate("aababa"):
            draw_chip(painter, ink, QRectF(xs[3] + 12 + 24 * place, 36, 20, 20), verdict)  # type: ignore[arg-type]
        ink.text(painter, xs[3] + 12, 82, texts.FOUR_TO_TWO_FOR)
        draw_chip(painter, ink, QRectF(xs[3] + 84, 67, 20, 20), "a")
        words = (texts.A_PAIR, texts.JUDGE_FROM_ONE_PERSPECTIVE, texts.READ_THE_OTHERS, texts.VERDICT_WITH_ITS_VOTES)
        for x, text in zip(xs, words, strict=True):
            ink.text(painter, x, 130, text, color="text2")

    @staticmethod
    def _box(painter: QPainter, ink: Ink, box: QRectF) -> None:
        painter.setPen(ink.pen("line2"))
        painter.setBrush(ink.brush("surface"))
        painter.drawRoundedRect(box, 6, 6)

    @staticmethod
    def _edge(painter: QPainter, ink: Ink, a: QPointF, b: QPointF, token: str, width: float = 1.0) -> None:
        half = (a.x() + b.x()) / 2
        path = QPainterPath(a)
        path.cubicTo(QPointF(half, a.y()), QPointF(half, b.y()), b)
        painter.setPen(ink.pen(token, width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
