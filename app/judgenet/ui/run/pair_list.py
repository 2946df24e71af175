"""The list of pairs: the progress of each, the verdict of the network, and the human label."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QMargins,
    QModelIndex,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QHelpEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QToolTip,
    QVBoxLayout,
)

from judgenet.core.acceptance import FOR_PEOPLE
from judgenet.core.aggregate import NO_QUORUM, deciding
from judgenet.core.cascade import Stop
from judgenet.core.pairs import Verdict
from judgenet.core.wording import plural
from judgenet.store.acceptance import left_to_people
from judgenet.store.db import StoreError
from judgenet.store.quorum import lacks_quorum
from judgenet.ui.canvas.descriptions import SPOKEN
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.paint import draw_chip, draw_people
from judgenet.ui.context import Context
from judgenet.ui.elements import ElidedLabel, icon_button, label, link
from judgenet.ui.icons import icon_pixmap
from judgenet.ui.measures import measure
from judgenet.ui.models.index import ModelIndex
from judgenet.ui.run import texts
from judgenet.ui.run.picture import title_of
from judgenet.ui.run.refresh import Refresh
from judgenet.ui.run_state import RunState
from judgenet.ui.text_view import plain_tip
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import DOCK_HEADER, ICON_TEXT

Filter = Literal["all", "working", "disagree", "unscored", "early"]

FILTERS: Final[dict[Filter, str]] = {
    "all": texts.ALL_PAIRS,
    "working": texts.ON_THEIR_WAY,
    "disagree": texts.DISAGREEMENT,
    "unscored": texts.WITH_UNSCORED,
    "early": texts.DECIDED_EARLY,
}
REFRESH_MS: Final = 100
_ROOM_FOR_NOTE: Final = 130
"""The least room of a title, in px at 100 %, at which a row notes that its pair was decided early."""
_TITLES_KEPT: Final = 512
_STATE_WORDS: Final = {
    "open": texts.NOT_BEGUN,
    "working": texts.ON_ITS_WAY,
    "done": texts.FINISHED,
    "failed": texts.FINISHED_WITH_FAILURES,
}


class RunPairsModel(QAbstractListModel):
    """The pairs of the run that have begun, the newest first; or those of a filter or of :meth:`show_only`."""

    def __init__(self, run_state: RunState, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run_state = run_state
        self._rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self._filter: Filter = "all"
        self._only: tuple[int, ...] | None = None
        self._titles: OrderedDict[int, str] = OrderedDict()

    def set_filter(self, wanted: Filter) -> None:
        """Shows the pairs of a filter."""
        self._filter = wanted
        self._only = None
        self.refresh()

    def show_only(self, pairs: Sequence[int]) -> None:
        """Shows these pairs alone, in this order; they count from 0."""
        self._only = tuple(pairs)
        self.refresh()

    @property
    def filter(self) -> Filter:
        return self._filter

    @property
    def only(self) -> tuple[int, ...] | None:
        """The pairs shown alone, ``None`` where a filter is in force."""
        return self._only

    def forget(self) -> None:
        """Starts again with another run."""
        self._titles.clear()
        self._only = None
        self.beginResetModel()
        self._rows = self._wanted()
        self.endResetModel()

    def _wanted(self) -> NDArray[np.int64]:
        table = self._run_state.table
        if table is None:
            return np.zeros(0, np.int64)
        if self._only is not None:
            return np.array([index for index in self._only if 0 <= index < len(table)], np.int64)
        states = table.states
        shown = states > 0
        if self._filter == "working":
            shown = states == 1
        elif self._filter == "unscored":
            shown = table.pairs_with_unscored()
        elif self._filter == "early":
            shown = table.decided_early
        elif self._filter == "disagree":
            verdicts = table.verdict_codes(deciding(table.spec))
            shown = (states > 1) & (table.pairs.human > 0) & (verdicts > 0) & (table.pairs.human != verdicts)
        return np.flatnonzero(shown)[::-1]

    def refresh(self) -> int:
        """Adds and removes rows for pairs that changed. Returns how many rows were added at the top."""
        wanted, had = self._wanted(), self._rows
        if np.array_equal(wanted, had):
            return 0
        added = len(wanted) - len(had)
        if added > 0 and np.array_equal(wanted[added:], had):
            self.beginInsertRows(QModelIndex(), 0, added - 1)
            self._rows = wanted
            self.endInsertRows()
            return added
        self.beginResetModel()
        self._rows = wanted
        self.endResetModel()
        return 0

    def pair(self, row: int) -> int:
        """The pair of a row, both from 0."""
        return int(self._rows[row])

    def row_of(self, pair: int) -> int:
        """The row of a pair, both from 0; -1 where it is not shown."""
        rows = np.flatnonzero(self._rows == pair)
        return int(rows[0]) if len(rows) else -1

    def title(self, pair: int) -> str:
        """The title of a pair, in one line."""
        title = self._titles.get(pair)
        if title is None:
            try:
                title = title_of(self._run_state.pair(pair))
            except (StoreError, sqlite3.Error, IndexError):
                title = texts.PAIR_UNREADABLE
            self._titles[pair] = title
            if len(self._titles) > _TITLES_KEPT:
                self._titles.popitem(last=False)
        return title

    def network(self, pair: int) -> Verdict | None:
        """The deciding verdict of a finished pair; ``None`` without one."""
        table = self._run_state.table
        verdicts = self._run_state.verdicts(pair)
        if table is None or verdicts is None:
            return None
        return verdicts.get(deciding(table.spec))

    def stop(self, pair: int) -> Stop | None:
        """Where a pair was decided early; ``None`` where it was not."""
        table = self._run_state.table
        return None if table is None else table.stop(pair)

    def for_people(self, pair: int) -> bool:
        """Whether the network left a pair to people."""
        table = self._run_state.table
        return table is not None and left_to_people(table, pair)

    def lacks_quorum(self, pair: int) -> bool:
        """Whether a pair has no verdict because too few neurons have a valid answer."""
        table = self._run_state.table
        return table is not None and lacks_quorum(table, deciding(table.spec), pair)

    def words(self, pair: int) -> str:
        """A row in words, for tooltips and screen readers."""
        parts = [texts.pair_row(pair + 1, _STATE_WORDS[self._run_state.pair_state(pair)])]
        stop = self.stop(pair)
        if stop is not None:
            parts.append(stop.words())
        network, human = self.network(pair), self._run_state.human(pair)
        if network is not None:
            parts.append(texts.network_says(SPOKEN[network]))
        elif self.for_people(pair):
            parts.append(FOR_PEOPLE)
        elif self.lacks_quorum(pair):
            parts.append(NO_QUORUM)
        if human is not None:
            parts.append(texts.people_say(SPOKEN[human]))
        return f"{', '.join(parts)}: {self.title(pair)}"

    def rowCount(self, parent: ModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: ModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        pair = int(self._rows[index.row()])
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.words(pair)
        return pair if role == Qt.ItemDataRole.UserRole else None


class PairDelegate(QStyledItemDelegate):
    """Draws a row: state, number, title, and the chips of network and people in two columns."""

    def __init__(self, model: RunPairsModel, run_state: RunState, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._run_state = run_state

    def sizeHint(self, _option: QStyleOptionViewItem, _index: ModelIndex) -> QSize:
        return QSize(current_theme().px(160), current_theme().pair_row)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: ModelIndex) -> None:
        theme, pair = current_theme(), self._model.pair(index.row())
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        if selected:
            painter.fillRect(rect, theme.color("accentTint"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = rect.center().y()
        x = rect.x() + theme.px(12)
        self._draw_state(painter, x, middle, self._run_state.pair_state(pair))
        chips = rect.right() - theme.px(8) - 2 * theme.px(32)
        left = x + theme.px(24)
        self._draw_texts(painter, QRect(left, rect.y(), chips - left, rect.height()), pair, selected=selected)
        self._draw_chips(painter, chips, middle, pair)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.color("accent"), theme.focus_width))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(rect).adjusted(1, 1, -1, -1))
        painter.restore()

    def _draw_texts(self, painter: QPainter, box: QRect, pair: int, *, selected: bool) -> None:
        """Draws the number, the title, and the note that the pair was decided early where it has room."""
        theme = current_theme()
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.setFont(theme.font(tabular=True))
        painter.setPen(theme.color("text2"))
        width = painter.fontMetrics().horizontalAdvance(f"{self._run_state.pair_count:,}")
        painter.drawText(QRect(box.x(), box.y(), width, box.height()), flags, f"{pair + 1:,}")
        x = box.x() + width + theme.px(8)
        right = box.x() + box.width() - theme.px(6)
        if self._model.stop(pair) is not None and right - x > theme.px(_ROOM_FOR_NOTE):
            painter.setFont(theme.font())
            width = painter.fontMetrics().horizontalAdvance(texts.EARLY)
            painter.drawText(QRect(right - width, box.y(), width, box.height()), flags, texts.EARLY)
            right -= width + theme.px(8)
        painter.setFont(theme.font("strong") if selected else theme.font())
        painter.setPen(theme.color("text"))
        room = max(0, right - x)
        title = painter.fontMetrics().elidedText(self._model.title(pair), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(x, box.y(), room, box.height()), flags, title)

    def _draw_chips(self, painter: QPainter, x: int, middle: int, pair: int) -> None:
        """Draws the chips of the network and of people from ``x`` on."""
        theme = current_theme()
        ink = Ink.of(theme)
        for place, verdict in enumerate((self._model.network(pair), self._run_state.human(pair))):
            people = place == 0 and verdict is None and self._model.for_people(pair)
            if verdict is not None or people or (place == 0 and self._model.lacks_quorum(pair)):
                painter.save()
                painter.translate(x + place * theme.px(32), middle - theme.px(10) + 0.5)
                painter.scale(theme.scale, theme.scale)
                if people:
                    draw_people(painter, ink, QRectF(4, 0, 24, 20))
                else:
                    draw_chip(painter, ink, QRectF(4, 0, 24, 20), verdict)
                painter.restore()

    def _draw_state(self, painter: QPainter, x: int, middle: int, state: str) -> None:
        theme = current_theme()
        side = theme.px(ICON_TEXT)
        if state in ("done", "failed"):
            name, token = ("tick", "text2") if state == "done" else ("warning", "warn")
            device = painter.device()
            ratio = device.devicePixelRatio() if device is not None else 1.0
            painter.drawPixmap(x, middle - side // 2, icon_pixmap(name, getattr(theme.colors, token), side, ratio))
            return
        center = QPointF(x + side / 2, middle + 0.5)
        radius = 6 * theme.scale
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("line2"), 1.5 * theme.scale))
        painter.drawEllipse(center, radius, radius)
        if state == "working":
            painter.setPen(QPen(theme.color("accent"), 2.5 * theme.scale))
            painter.drawArc(
                QRectF(center.x() - radius, center.y() - radius, 2 * radius, 2 * radius), 90 * 16, -100 * 16
            )

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: ModelIndex
    ) -> bool:
        if event.type() == QEvent.Type.ToolTip and index.isValid():
            text = self._model.words(self._model.pair(index.row()))
            QToolTip.showText(event.globalPos(), plain_tip(text), view)
            return True
        return super().helpEvent(event, view, option, index)


class PairsPane(QFrame):
    """The list with its header.

    Signals:
        pair_chosen: the index, from 0, of the pair that the user chose.
    """

    pair_chosen = Signal(int)

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setAccessibleName(texts.PAIRS)
        self._context = context
        self._quiet = False
        self._was_drawn: tuple[object, ...] = ()
        self.model = RunPairsModel(context.run_state, self)
        self.title = label(texts.PAIRS, "section")
        self.amount = ElidedLabel(tone="text2")
        self.filter_button = icon_button("filter", texts.WHICH_PAIRS)
        self.filter_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        for key in get_args(Filter):
            action = menu.addAction(FILTERS[key])
            action.setCheckable(True)
            action.setData(key)
            action.setChecked(key == "all")
        menu.triggered.connect(self._filter_chosen)
        self._menu = menu
        self.filter_button.setMenu(menu)
        self.net_word = label(texts.NETWORK_COLUMN, tone="text2")
        self.human_word = label(texts.HUMAN_COLUMN, tone="text2")
        self.show_all = link(texts.SHOW_ALL)
        self.show_all.hide()
        self.show_all.clicked.connect(self._show_all)
        self.list = QListView()
        self.list.setAccessibleName(texts.PAIRS_OF_RUN)
        self.list.setModel(self.model)
        self.delegate = PairDelegate(self.model, context.run_state, self)
        self.list.setItemDelegate(self.delegate)
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._lay_out(context)

    def _lay_out(self, context: Context) -> None:
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addWidget(self.filter_button)
        head.addWidget(self.amount, stretch=1)
        head.addWidget(self.show_all)
        head.addWidget(self.net_word)
        head.addWidget(self.human_word)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.list, stretch=1)
        self._head = head
        self.list.verticalScrollBar().rangeChanged.connect(self._fit_head)
        self.list.selectionModel().currentChanged.connect(self._row_chosen)
        run_state = context.run_state
        self._refresher = Refresh(run_state, self._refresh, "pairs", REFRESH_MS, self)
        run_state.run_changed.connect(self._run_changed)
        run_state.pairs_changed.connect(self._pairs_changed)
        run_state.focus_changed.connect(self._focus_changed)
        self._table: object = None
        measure(self._head, spacing=8)
        self._fit_head()
        measure(self.title, min_height=DOCK_HEADER)
        measure(self.filter_button, icon=ICON_TEXT)
        for word in (self.net_word, self.human_word):
            word.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._run_changed()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_head()

    def _fit_head(self, *_: int) -> None:
        """Puts the names of the columns above their chips."""
        # The viewport gets its width only when the page is shown, so the scroll bar is measured itself.
        scroll = self.list.verticalScrollBar()
        bar = scroll.sizeHint().width() if scroll.maximum() > scroll.minimum() else 0
        wanted = QMargins(current_theme().px(12), 0, current_theme().px(8) + bar, 0)
        if wanted != self._head.contentsMargins():
            self._head.setContentsMargins(wanted)

    # Which pairs

    def _filter_chosen(self, action: object) -> None:
        key = action.data()  # type: ignore[attr-defined]  # a QAction
        self.model.set_filter(key)
        self._after_filter()

    def show_only(self, pairs: Sequence[int], why: str) -> None:
        """Shows these pairs alone, counted from 0; ``why`` says which they are, for the header."""
        self.model.show_only(pairs)
        self._after_filter()
        self.amount.say(f"{plural(len(pairs), 'pair')}: {why}" if why else plural(len(pairs), "pair"))

    def _show_all(self) -> None:
        self.model.set_filter("all")
        self._after_filter()

    def _after_filter(self) -> None:
        chosen = self.model.filter if self.model.only is None else None
        for action in self._menu.actions():
            action.setChecked(action.data() == chosen)
        self.show_all.setVisible(chosen != "all")
        self._show_amount()
        self._show_focus()

    def _show_amount(self) -> None:
        if self.model.only is not None:
            return
        if self.model.filter != "all":
            self.amount.say(f"{self.model.rowCount():,}: {FILTERS[self.model.filter].lower()}")
        else:
            self.amount.say("")

    # Following the run

    def _run_changed(self) -> None:
        table = self._context.run_state.table
        if table is not self._table:
            self._table = table
            self.model.forget()
            self._after_filter()

    def _pairs_changed(self, _pairs: set[int]) -> None:
        self._refresher.touch()

    def _refresh(self) -> None:
        bar = self.list.verticalScrollBar()
        before = bar.value()
        self._quiet = True
        added = self.model.refresh()
        self._quiet = False
        if added and before > 0 and not self._context.run_state.follow:
            # The user reads further down: the rows in view stay.
            bar.setValue(before + added * current_theme().pair_row)
        if added or self.model.filter != "all":
            self._show_amount()
        self._show_focus()
        self._fit_head()
        drawn = self._drawn()
        if drawn != self._was_drawn:
            self._was_drawn = drawn
            self.list.viewport().update()

    def _drawn(self) -> tuple[object, ...]:
        """What the rows in view show, so that they are drawn again only where that changed."""
        state, height = self._context.run_state, self.list.viewport().height()
        first = self.list.indexAt(QPoint(4, 1)).row()
        last = min(self.model.rowCount(), first + height // max(1, current_theme().pair_row) + 2)
        pairs = [self.model.pair(row) for row in range(max(0, first), last)]
        return tuple((pair, state.pair_state(pair), self.model.network(pair), state.human(pair)) for pair in pairs)

    def _focus_changed(self, _index: object) -> None:
        self._show_focus(scroll=True)

    def _show_focus(self, *, scroll: bool = False) -> None:
        """Selects the row of the pair in focus."""
        focus = self._context.run_state.focus
        row = -1 if focus is None else self.model.row_of(focus)
        if row < 0 and focus is not None and self._refresher.waiting:
            return
        self._quiet = True
        index = self.model.index(row, 0) if row >= 0 else QModelIndex()
        if index != self.list.currentIndex():
            self.list.setCurrentIndex(index)
        elif scroll and index.isValid():
            self.list.scrollTo(index)
        self._quiet = False

    def _row_chosen(self, current: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.pair_chosen.emit(self.model.pair(current.row()))
