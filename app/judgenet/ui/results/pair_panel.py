"""The pairs behind a figure, listed beside the page; each opens with one click."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.acceptance import ACCEPTED, FOR_PEOPLE
from judgenet.core.aggregate import NO_QUORUM
from judgenet.core.pairs import Verdict
from judgenet.core.wording import SPOKEN, capitalized, clean, plural
from judgenet.store.acceptance import left_to_people
from judgenet.store.db import Store, StoreError
from judgenet.store.quorum import lacks_quorum
from judgenet.store.runs import RunInfo, run_pair
from judgenet.ui.canvas.ink import Ink
from judgenet.ui.canvas.paint import draw_chip, draw_people
from judgenet.ui.elements import label, line, link
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.models.index import ModelIndex
from judgenet.ui.results import texts
from judgenet.ui.results.state import Results
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import INSPECTOR

_ROOT: Final = QModelIndex()
_TEXTS_KEPT: Final = 512
_CHARS: Final = 200
_NET_X, _HUMAN_X = 68, 34
"""Where the columns of chips begin, in px from the right."""


class SelectedPairsModel(QAbstractListModel):
    """Pairs of a run; their questions are read from the store as they come into view."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pairs: tuple[int, ...] = ()
        self._store: Store | None = None
        self._run: RunInfo | None = None
        self._results: Results | None = None
        self._aggregation = ""
        self._texts: OrderedDict[int, str] = OrderedDict()

    def show_pairs(
        self, store: Store | None, results: Results | None, aggregation: str, pairs: tuple[int, ...]
    ) -> None:
        """Lists pairs by their places in the run, with the verdicts of an aggregation."""
        run = None if results is None else results.run
        if (run.id if run else None) != (self._run.id if self._run else None) or store is not self._store:
            self._texts.clear()
        same = pairs == self.pairs
        if not same:
            self.beginResetModel()
        self.pairs = pairs
        self._store, self._run, self._results, self._aggregation = store, run, results, aggregation
        if not same:
            self.endResetModel()
        elif pairs:
            self.dataChanged.emit(self.index(0), self.index(len(pairs) - 1))

    def rowCount(self, parent: ModelIndex = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.pairs)

    def question(self, row: int) -> str:
        """The question's beginning, on one line."""
        pair = self.pairs[row]
        text = self._texts.get(pair)
        if text is None:
            if self._store is None or self._run is None:
                return ""
            try:
                content = run_pair(self._store, self._run, pair).pair
                text = " ".join(clean(content.readable(content.question)[:_CHARS]).split())
            except StoreError as error:
                text = str(error)
            self._texts[pair] = text
            if len(self._texts) > _TEXTS_KEPT:
                self._texts.popitem(last=False)
        return text

    def verdicts(self, row: int) -> tuple[Verdict | None, Verdict | None]:
        """The network's verdict and the human label of a row; ``None`` where there is none."""
        if self._results is None:
            return None, None
        frame, pair = self._results.frame, self.pairs[row]
        return frame.verdict(self._aggregation, pair), frame.human_label(pair)

    def for_people(self, row: int) -> bool:
        """Whether the network left a pair to people."""
        unsure = self._results is not None and self._aggregation == ACCEPTED
        return unsure and left_to_people(self._results.frame, self.pairs[row])  # type: ignore[union-attr]

    def lacks_quorum(self, row: int) -> bool:
        """Whether a pair has no verdict because too few neurons have a valid answer."""
        return self._results is not None and lacks_quorum(self._results.frame, self._aggregation, self.pairs[row])

    def data(self, index: ModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = index.row()
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{self.pairs[row] + 1:,} {self.question(row)}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            network, human = ((texts.NONE if said is None else SPOKEN[said]) for said in self.verdicts(row))
            network = FOR_PEOPLE if self.for_people(row) else NO_QUORUM if self.lacks_quorum(row) else network
            return texts.pair_in_list(self.pairs[row] + 1, network, human, self.question(row))
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.question(row)
        return None


class _Drawer(QStyledItemDelegate):
    def __init__(self, view: PairsView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, _option: QStyleOptionViewItem, _index: ModelIndex) -> QSize:
        return QSize(current_theme().px(120), current_theme().pair_row)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: ModelIndex) -> None:
        view, theme, box = self._view, current_theme(), option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("accentTint"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, theme.color("hover"))
        number = f"{view.pairs.pairs[index.row()] + 1:,}"
        painter.setFont(theme.font(tabular=True))
        painter.setPen(theme.color("text3"))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        side = theme.px(16)
        painter.drawText(box.adjusted(side, 0, 0, 0), flags, number)
        painter.setPen(theme.color("text"))
        left = side + view.number_width + theme.px(8)
        room = QRect(box.left() + left, box.top(), box.width() - left - theme.px(_NET_X + 8), box.height())
        painter.setFont(theme.font())
        text = painter.fontMetrics().elidedText(
            view.pairs.question(index.row()), Qt.TextElideMode.ElideRight, room.width()
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
        for x, verdict in zip((_NET_X, _HUMAN_X), view.pairs.verdicts(index.row()), strict=True):
            people = x == _NET_X and view.pairs.for_people(index.row())
            if verdict is not None or people or (x == _NET_X and view.pairs.lacks_quorum(index.row())):
                painter.save()
                painter.translate(QPointF(box.right() + 1 - theme.px(x), box.center().y() + 0.5 - 10 * theme.scale))
                painter.scale(theme.scale, theme.scale)
                if people:
                    draw_people(painter, Ink.of(theme), QRectF(0, 0, 24, 20))
                else:
                    draw_chip(painter, Ink.of(theme), QRectF(0, 0, 24, 20), verdict)
                painter.restore()
        if view.hasFocus() and index == view.currentIndex():
            half = theme.focus_width / 2
            painter.setPen(QPen(theme.color("accent"), theme.focus_width))
            painter.drawRect(QRectF(box).adjusted(half, half, -half, -half))
        painter.restore()


class PairsView(QListView):
    """The list of pairs. One click, or Enter, opens a pair.

    Signals:
        opened: the index of a pair within the run.
    """

    opened = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pairs = SelectedPairsModel(self)
        self.setModel(self.pairs)
        self.setItemDelegate(_Drawer(self))
        self.setAccessibleName(texts.PAIRS_OF_THIS_FIGURE)
        self.setProperty(OWN_FOCUS, True)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self._open)

    @property
    def number_width(self) -> int:
        """The width of the longest number of a pair in px."""
        last = self.pairs.pairs[-1] + 1 if self.pairs.pairs else 0
        return round(QFontMetricsF(current_theme().font(tabular=True)).horizontalAdvance(f"{last:,}"))

    def _open(self, index: QModelIndex) -> None:
        self.opened.emit(self.pairs.pairs[index.row()])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._open(self.currentIndex())
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self.pairs.pairs:
            self.setCurrentIndex(self.pairs.index(0))


class PairPanel(QFrame):
    """The list with its title, at the right of the page.

    Signals:
        opened: a pair was clicked: its index within the run.
        all_wanted: all pairs are wanted on the page Data.
        closed: the panel was closed.
    """

    opened = Signal(int)
    all_wanted = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("part", "inspector")
        self.setAccessibleName(texts.PAIRS_OF_FIGURE)
        self.count = label("", "title")
        self.why = label("", tone="text2", wrap=True)
        self.close_button = QToolButton(self)
        self.close_button.setIcon(icon("close"))
        self.close_button.setAccessibleName(texts.CLOSE_LIST)
        self.close_button.setToolTip(texts.CLOSE_LIST_TIP)
        self.close_button.clicked.connect(self.closed)
        self.all_button = link(texts.SHOW_ALL_UNDER_DATA)
        self.all_button.clicked.connect(self.all_wanted)
        self.heads = label(texts.NETWORK_AND_HUMAN, tone="text2")
        self.heads.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.view = PairsView(self)
        self.view.opened.connect(self.opened)
        top = QHBoxLayout()
        top.addWidget(self.count, 1)
        top.addWidget(self.close_button, alignment=Qt.AlignmentFlag.AlignTop)
        self._column = QVBoxLayout(self)
        self._head = QVBoxLayout()
        self._head.addLayout(top)
        self._head.addWidget(self.why)
        links = QHBoxLayout()
        links.addWidget(self.all_button)
        links.addStretch(1)
        links.addWidget(self.heads)
        self._links = links
        self._head.addLayout(links)
        self._column.addLayout(self._head)
        self._column.addWidget(line())
        self._column.addWidget(self.view, stretch=1)
        measure(self, width=INSPECTOR["other"])
        self._column.setContentsMargins(1, 0, 0, 0)
        self._column.setSpacing(0)
        measure(self._head, margins=(16, 16, 10, 8), spacing=8)
        measure(self.close_button, icon=20)

    def show_pairs(
        self, store: Store | None, results: Results, aggregation: str, pairs: tuple[int, ...], why: str
    ) -> None:
        """Lists pairs by their places in the run; ``why`` says in words which pairs they are."""
        self.count.setText(plural(len(pairs), "pair"))
        self.why.setText(capitalized(why))
        self.setAccessibleName(f"{plural(len(pairs), 'pair')}: {why}")
        self.view.pairs.show_pairs(store, results, aggregation, pairs)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
            self.closed.emit()
            return True
        return super().event(event)
