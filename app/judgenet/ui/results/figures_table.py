"""Tables of figures: a name, the accuracy drawn with its interval, the figures, and n used of n."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QHeaderView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from judgenet.core.wording import clean, of, percent, percent_interval, ratio, ratio_interval
from judgenet.report.axis import Axis
from judgenet.report.marks import estimate_mark
from judgenet.report.model import ReportedAgreement
from judgenet.stats.agreement import agreement_of
from judgenet.stats.intervals import Interval, agreement_intervals
from judgenet.ui.export import paint_marks
from judgenet.ui.measures import measure
from judgenet.ui.models.index import ModelIndex
from judgenet.ui.results import texts
from judgenet.ui.style import OWN_FOCUS
from judgenet.ui.table import RowsModel, StudioTable
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import TABLE_EDGE, TypeRole

FigureKind = Literal["name", "place", "accuracy", "macro_f1", "kappa", "used", "extra"]
"""What a column holds; ``place`` draws accuracy with its interval on an axis."""

_OF_FIGURES: Final = ("place", "accuracy", "macro_f1", "kappa")
FOREST_LEAST: Final = 84
"""Where fewer px than these are left, the drawn intervals are hidden: the numbers say the same."""
NAME_LEAST: Final = 96


@dataclass(frozen=True, slots=True)
class Column:
    """A column with its title; ``extra`` is the place of its text in :attr:`FigureRow.extra`."""

    title: str
    kind: FigureKind
    extra: int = 0


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A row. ``key`` is what the table emits when the row is chosen; a row without one cannot be chosen.

    Without ``figures`` the row is a heading. ``baseline`` is a mark in this row alone; ``extra`` are the texts of the
    columns of kind ``extra``.
    """

    name: str
    figures: ReportedAgreement | None = None
    key: object = None
    subject: bool = False
    baseline: float | None = None
    extra: tuple[str, ...] = ()


NO_FIGURES: Final = ReportedAgreement(agreement_of({}), agreement_intervals(agreement_of({}), resamples=0))
"""For rows that show nothing but texts of their own."""


def agreement_columns(name: str) -> tuple[Column, ...]:
    """The columns of a table of agreement with people, the first one with its title."""
    return (
        Column(name, "name"),
        Column("", "place"),
        Column(texts.ACCURACY_PERCENT, "accuracy"),
        Column(texts.MACRO_F1, "macro_f1"),
        Column(texts.KAPPA, "kappa"),
        Column(texts.N_USED, "used"),
    )


def axis_of(shares: Sequence[float]) -> Axis:
    """An axis that holds all shares, in steps of five points."""
    if not shares:
        return Axis(0.0, 1.0)
    low, high = int(min(shares) * 20) / 20, -int(-max(shares) * 20 - 0.9999) / 20
    return Axis(max(0.0, low), min(1.0, high) if high - low >= 0.1 else min(1.0, low + 0.1))


_TEXTS: Final[dict[FigureKind, Callable[[ReportedAgreement], tuple[str, str, str]]]] = {
    "accuracy": lambda of_: (
        percent(of_.agreement.accuracy, unit=False),
        percent_interval(of_.intervals.accuracy),
        of_.agreement.reasons.get("accuracy", ""),
    ),
    "macro_f1": lambda of_: (
        ratio(of_.agreement.macro_f1),
        ratio_interval(of_.intervals.macro_f1),
        of_.agreement.reasons.get("macro_f1", ""),
    ),
    "kappa": lambda of_: (
        ratio(of_.agreement.kappa),
        ratio_interval(of_.intervals.kappa),
        of_.agreement.reasons.get("kappa", ""),
    ),
    "used": lambda of_: ("", of(*of_.used), ""),
}
"""By kind of column: the figure, its interval, and why there is none."""


class FiguresModel(RowsModel):
    """Rows of figures as text; the delegate draws them."""

    ROW = Qt.ItemDataRole.UserRole

    def __init__(self, columns: Sequence[Column], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = tuple(columns)
        self.rows: tuple[FigureRow, ...] = ()

    def show_rows(self, rows: Sequence[FigureRow], columns: Sequence[Column] | None = None) -> None:
        """Replaces the rows, and the columns where they are given."""
        self.beginResetModel()
        self.rows = tuple(rows)
        if columns is not None:
            self.columns = tuple(columns)
        self.endResetModel()

    def flags(self, index: ModelIndex) -> Qt.ItemFlag:
        row = self.rows[index.row()]
        if row.key is None:
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.TextAlignmentRole:
            left = self.columns[section].kind in ("name", "place")
            side = Qt.AlignmentFlag.AlignLeft if left else Qt.AlignmentFlag.AlignRight
            return side | Qt.AlignmentFlag.AlignVCenter
        return super().headerData(section, orientation, role)

    def texts(self, row: FigureRow, column: Column) -> tuple[str, str, str]:
        """A cell: its figure, the quieter text after it, and why there is no figure."""
        if column.kind == "name":
            return row.name, "", ""
        if row.figures is None:
            return "", "", ""
        if column.kind == "extra":
            return "", row.extra[column.extra] if column.extra < len(row.extra) else "", ""
        if column.kind == "place":
            return "", "", ""
        return _TEXTS[column.kind](row.figures)

    def data(self, index: ModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], self.columns[index.column()]
        if role == self.ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            if column.kind == "place":
                column = Column(column.title, "accuracy")
            value, interval, why = self.texts(row, column)
            if why:
                return f"{value} – {why}"
            text = f"{value} {interval}".strip()
            return clean(text) if role != Qt.ItemDataRole.ToolTipRole or column.kind == "name" else None
        return None


class _Drawer(QStyledItemDelegate):
    """Draws the cells."""

    def __init__(self, table: FiguresTable) -> None:
        super().__init__(table)
        self._table = table

    def sizeHint(self, _option: QStyleOptionViewItem, _index: ModelIndex) -> QSize:
        return QSize(current_theme().px(80), self._table.row_height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: ModelIndex) -> None:
        table = self._table
        theme, model = current_theme(), table.figures
        row, column = model.rows[index.row()], model.columns[index.column()]
        box: QRect = option.rect
        state: QStyle.StateFlag = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = "accentTint" if selected else "hover" if row.key is not None and index.row() == table.hovered else ""
        if ground:
            painter.fillRect(box, theme.color(ground))
        painter.setPen(QPen(theme.color("line"), theme.px(1)))
        painter.drawLine(QPointF(box.left(), box.bottom() + 0.5), QPointF(box.right() + 1, box.bottom() + 0.5))
        if column.kind == "name":
            self._name(painter, box, row)
        elif row.figures is not None and row.figures.agreement.accuracy is None and column.kind in _OF_FIGURES:
            self._reason(painter, box, index.column(), row)
        elif column.kind == "place":
            self._place(painter, box, row)
        else:
            self._figure(painter, box, row, column)
        if table.hasFocus() and index.row() == table.currentIndex().row():
            self._focus(painter, box, index.column())
        painter.restore()

    def _focus(self, painter: QPainter, box: QRect, column: int) -> None:
        """A frame around the whole row, drawn cell by cell."""
        theme, half = current_theme(), current_theme().focus_width / 2
        painter.setPen(QPen(theme.color("accent"), theme.focus_width))
        top, bottom = box.top() + half, box.bottom() + 1 - half
        painter.drawLine(QPointF(box.left(), top), QPointF(box.right() + 1, top))
        painter.drawLine(QPointF(box.left(), bottom), QPointF(box.right() + 1, bottom))
        columns = self._table.shown_columns
        if column == columns[0]:
            painter.drawLine(QPointF(box.left() + half, top), QPointF(box.left() + half, bottom))
        if column == columns[-1]:
            painter.drawLine(QPointF(box.right() + 1 - half, top), QPointF(box.right() + 1 - half, bottom))

    def _name(self, painter: QPainter, box: QRect, row: FigureRow) -> None:
        theme = current_theme()
        role: TypeRole = "node" if row.subject else "strong" if row.figures is None else "body"
        painter.setFont(theme.font(role))
        painter.setPen(theme.color("text2" if row.figures is None else "text"))
        room = box.adjusted(theme.px(TABLE_EDGE), 0, -theme.px(4), 0)
        text = painter.fontMetrics().elidedText(
            " ".join(clean(row.name).split()), Qt.TextElideMode.ElideRight, room.width()
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def _reason(self, painter: QPainter, box: QRect, column: int, row: FigureRow) -> None:
        """Why there is no figure, across the columns that would show one."""
        table, theme = self._table, current_theme()
        assert row.figures is not None
        spanned = [place for place in table.shown_columns if table.figures.columns[place].kind in _OF_FIGURES]
        left = box.left() - sum(table.columnWidth(place) for place in spanned if place < column)
        width = sum(table.columnWidth(place) for place in spanned)
        painter.setClipRect(box)
        painter.setFont(theme.font())
        painter.setPen(theme.color("text3"))
        room = QRect(left, box.top(), width, box.height()).adjusted(theme.px(TABLE_EDGE), 0, -theme.px(4), 0)
        text = f"n/a – {row.figures.agreement.reasons.get('accuracy', '')}"
        text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)

    def _figure(self, painter: QPainter, box: QRect, row: FigureRow, column: Column) -> None:
        """The figure in strong letters, its interval after it, or below it where the table is narrow."""
        table, theme = self._table, current_theme()
        value, quiet, _ = table.figures.texts(row, column)
        right = box.right() + 1 - theme.px(TABLE_EDGE)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        lines = [box, box]
        if table.two_lines and value and quiet:
            half = theme.line_height("body")
            top = box.center().y() - half + 1
            lines = [QRect(box.left(), top, box.width(), half), QRect(box.left(), top + half, box.width(), half)]
        if quiet:
            painter.setFont(theme.font(tabular=True))
            painter.setPen(theme.color("text2"))
            room = QRect(lines[1].left(), lines[1].top(), right - lines[1].left(), lines[1].height())
            elided = painter.fontMetrics().elidedText(quiet, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, flags, elided)
            if not table.two_lines:
                right -= round(QFontMetricsF(painter.font()).horizontalAdvance(f"{quiet} "))
        if value:
            painter.setFont(theme.font("node" if column.kind == "accuracy" or row.subject else "body", tabular=True))
            painter.setPen(theme.color("text"))
            painter.drawText(
                QRect(lines[0].left(), lines[0].top(), right - lines[0].left(), lines[0].height()), flags, value
            )

    def _place(self, painter: QPainter, box: QRect, row: FigureRow) -> None:
        table, theme = self._table, current_theme()
        left, width = box.left() + theme.px(14), box.width() - theme.px(28)
        middle = box.center().y() + 0.5
        if table.baseline is not None:
            x = table.axis.at(table.baseline, left, width)
            pen = QPen(theme.color("text"), theme.px(1))
            pen.setDashPattern([6, 4])
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom() + 1))
        if row.baseline is not None:
            x = table.axis.at(row.baseline, left, width)
            painter.setPen(QPen(theme.color("text"), theme.px(2)))
            painter.drawLine(QPointF(x, middle - theme.px(8)), QPointF(x, middle + theme.px(8)))
        if row.figures is not None and row.figures.agreement.accuracy is not None:
            scale = theme.scale
            marks = estimate_mark(
                row.figures.agreement.accuracy,
                row.figures.intervals.accuracy,
                middle / scale,
                lambda share: table.axis.at(share, left, width) / scale,
                "subject" if row.subject else "other",
            )
            paint_marks(painter, marks)


class FiguresTable(StudioTable):
    """Figures in rows. The table is as high as its rows, up to ``most`` of them; beyond that it scrolls.

    Signals:
        chosen: the key of the row that was clicked, or reached and confirmed with Enter.
        current_changed: the key of the row that is now selected.
    """

    chosen = Signal(object)
    current_changed = Signal(object)

    def __init__(self, name: str, columns: Sequence[Column], *, most: int = 14, parent: QWidget | None = None) -> None:
        self.figures = FiguresModel(columns)
        super().__init__(name, self.figures, parent)
        self.figures.setParent(self)
        self.axis = Axis(0.0, 1.0)
        self.baseline: float | None = None
        self.two_lines = False
        self._most = most
        self._filling = False
        self.setItemDelegate(_Drawer(self))
        self.setProperty(OWN_FOCUS, True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        measure(self.horizontalHeader(), font="strong")
        self.clicked.connect(self._clicked)
        self.selectionModel().currentRowChanged.connect(self._moved)
        self.fit()
        measure(self.horizontalHeader(), font="strong")

    @property
    def row_height(self) -> int:
        """The height of a row in px."""
        return current_theme().row + (current_theme().px(12) if self.two_lines else 0)

    @property
    def shown_columns(self) -> list[int]:
        """The columns that are in view, from the left."""
        return [place for place in range(len(self.figures.columns)) if not self.isColumnHidden(place)]

    def show_rows(
        self, rows: Sequence[FigureRow], *, baseline: float | None = None, columns: Sequence[Column] | None = None
    ) -> None:
        """Replaces the rows; the selected one stays selected where it still exists. ``baseline`` is drawn across all
        rows."""
        key = self.current_key
        self._filling = True
        self.figures.show_rows(rows, columns)
        self.baseline = baseline
        self.axis = axis_of(_shares(rows, baseline))
        if key is not None:
            self.set_current(key)
        self._filling = False
        self.fit()

    @property
    def current_key(self) -> object:
        """The key of the selected row, ``None`` without one."""
        index = self.currentIndex()
        return self.figures.rows[index.row()].key if index.isValid() else None

    def set_current(self, key: object) -> None:
        """Selects a row without emitting a signal."""
        before, self._filling = self._filling, True
        for place, row in enumerate(self.figures.rows):
            if row.key == key and key is not None:
                self.selectionModel().setCurrentIndex(
                    self.figures.index(place, 0),
                    QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows,
                )
                break
        self._filling = before

    def clear_current(self) -> None:
        """Selects no row, without emitting a signal."""
        before, self._filling = self._filling, True
        self.setCurrentIndex(QModelIndex())
        self._filling = before

    def _moved(self, current: QModelIndex) -> None:
        self.viewport().update()
        if not self._filling and current.isValid():
            key = self.figures.rows[current.row()].key
            if key is not None:
                self.current_changed.emit(key)

    def _clicked(self, index: QModelIndex) -> None:
        key = self.figures.rows[index.row()].key
        if key is not None:
            self.chosen.emit(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.currentIndex().isValid():
            self._clicked(self.currentIndex())
            return
        super().keyPressEvent(event)

    def hover(self, row: int) -> None:
        super().hover(row)
        leads = 0 <= row < len(self.figures.rows) and self.figures.rows[row].key is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if leads else Qt.CursorShape.ArrowCursor)

    # Widths

    def fit(self) -> None:
        """Gives each column its width: figures what they need, the drawn intervals what is left, or the name where
        these are hidden."""
        if not self.figures.columns:
            return
        theme, room = current_theme(), self.viewport().width()
        needed = self._needed(two_lines=False)
        name = max(theme.px(NAME_LEAST), min(self._name_width(), theme.px(280)))
        rest = sum(needed.values())
        two_lines = theme.px(NAME_LEAST) + rest > room and any(
            column.kind == "macro_f1" for column in self.figures.columns
        )
        if two_lines:
            needed = self._needed(two_lines=True)
            rest = sum(needed.values())
        has_place = any(column.kind == "place" for column in self.figures.columns)
        forest = room - rest - name if has_place else 0
        for place, column in enumerate(self.figures.columns):
            drawn = column.kind == "place"
            self.setColumnHidden(place, drawn and forest < theme.px(FOREST_LEAST))
            if drawn:
                forest = forest if forest >= theme.px(FOREST_LEAST) else 0
                self.setColumnWidth(place, max(1, forest))
        for place, column in enumerate(self.figures.columns):
            if column.kind == "name":
                self.setColumnWidth(place, max(theme.px(NAME_LEAST), room - rest - forest))
            elif column.kind != "place":
                self.setColumnWidth(place, needed[place])
        self.two_lines = two_lines
        super().fit()
        height = self.height_of(min(self._most, len(self.figures.rows)))
        if height != self.height():
            self.setFixedHeight(height)
        self.viewport().update()

    def _name_width(self) -> int:
        metrics = QFontMetricsF(current_theme().font("node"))
        names = [metrics.horizontalAdvance(row.name) for row in self.figures.rows]
        head = metrics.horizontalAdvance(self.figures.columns[0].title)
        return round(max([head + current_theme().px(TABLE_EDGE), *names])) + current_theme().px(TABLE_EDGE + 8)

    def _needed(self, *, two_lines: bool) -> dict[int, int]:
        """The widths in px that the columns of figures need, by column."""
        theme = current_theme()
        strong, body = QFontMetricsF(theme.font("node", tabular=True)), QFontMetricsF(theme.font(tabular=True))
        widths = {}
        for place, column in enumerate(self.figures.columns):
            if column.kind in ("name", "place"):
                continue
            width = strong.horizontalAdvance(column.title)
            for row in self.figures.rows:
                if row.figures is None or (row.figures.agreement.accuracy is None and column.kind in _OF_FIGURES):
                    continue
                value, quiet, _ = self.figures.texts(row, column)
                parts = strong.horizontalAdvance(value), body.horizontalAdvance(quiet)
                both = parts[0] + parts[1] + (body.horizontalAdvance(" ") if value and quiet else 0)
                width = max(width, max(parts) if two_lines else both)
            widths[place] = round(width) + theme.px(2 * TABLE_EDGE)
        return widths


def _shares(rows: Sequence[FigureRow], baseline: float | None) -> list[float]:
    shares = [] if baseline is None else [baseline]
    for row in rows:
        if row.figures is None or row.figures.agreement.accuracy is None:
            continue
        interval: Interval | None = row.figures.intervals.accuracy
        shares += [row.figures.agreement.accuracy, *(interval or ())]
        shares += [] if row.baseline is None else [row.baseline]
    return shares
