"""How similarly judges and people rank the systems: a heat map of the overlaps of rankings, and the rankings below
it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from judgenet.core.wording import plural
from judgenet.stats.lab import AT_ONCE, PEOPLE, LabResult
from judgenet.store.labs import OrderAnswers
from judgenet.ui.bias import texts
from judgenet.ui.elements import label
from judgenet.ui.measures import Gap, measure
from judgenet.ui.theme import current_theme

_PARTS: Final = ("single", "baseline", "layer", "network")
_LINE: Final = 28
_CELL: Final = 72
_NAME: Final = 150
_MOST_SYSTEMS: Final = 30


class _Map(QWidget):
    """A table of raters by raters: the average rank-biased overlap of their rankings. The darker a cell, the larger the
    overlap."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._titles: tuple[str, ...] = ()
        self._values: dict[tuple[int, int], tuple[float | None, int]] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)

    def say(self, titles: tuple[str, ...], values: dict[tuple[int, int], tuple[float | None, int]]) -> None:
        """Shows the overlap of every two raters, by their places, with the number of instructions behind it."""
        self._titles, self._values = titles, values
        listed = [
            texts.overlap(titles[row], titles[column], f"{value:.2f}", instructions)
            for (row, column), (value, instructions) in values.items()
            if value is not None
        ]
        self.setAccessibleName(texts.overlaps("; ".join(listed)))
        self.setToolTip("\n".join(listed))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        rows = len(self._titles)
        return QSize(current_theme().px(_NAME + _CELL * rows), current_theme().px(_LINE) * (rows + 1))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        line, cell, name = theme.px(_LINE), theme.px(_CELL), theme.px(_NAME)
        metrics = QFontMetricsF(theme.font())
        left = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        middle = int(Qt.AlignmentFlag.AlignCenter)
        painter.setFont(theme.font())
        for place, title in enumerate(self._titles):
            painter.setPen(theme.color("text"))
            elided = metrics.elidedText(title, Qt.TextElideMode.ElideRight, name - theme.px(8))
            painter.drawText(QRectF(0, (place + 1) * line, name, line), left, elided)
            painter.setPen(theme.color("text2"))
            elided = metrics.elidedText(title, Qt.TextElideMode.ElideRight, cell - theme.px(4))
            painter.drawText(QRectF(name + place * cell, 0, cell, line), middle, elided)
        painter.setFont(theme.font(tabular=True))
        for row in range(len(self._titles)):
            for column in range(len(self._titles)):
                box = QRectF(name + column * cell, (row + 1) * line, cell - 2, line - 2)
                if row == column:
                    painter.fillRect(box, theme.color("sunken"))
                    continue
                value, _ = self._values.get((min(row, column), max(row, column)), (None, 0))
                painter.setPen(theme.color("text"))
                if value is None:
                    painter.drawText(box, middle, "n/a")
                    continue
                painter.fillRect(box, theme.color("accent", 0.05 + 0.3 * value))
                painter.drawText(box, middle, f"{value:.2f}")
        painter.end()


class _Ranks(QWidget):
    """A table of systems by raters: the rank of each system and its wins per appearance."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._titles: tuple[str, ...] = ()
        self._rows: list[tuple[str, list[str]]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def say(self, titles: tuple[str, ...], rows: list[tuple[str, list[str]]]) -> None:
        """Shows a row for each system: its name, and a text for each rater."""
        self._titles, self._rows = titles, rows
        listed = "; ".join(
            f"{name}: {', '.join(f'{title} {rank}' for title, rank in zip(titles, ranks, strict=True))}"
            for name, ranks in rows
        )
        self.setAccessibleName(texts.rankings(listed))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        wide = current_theme().px(_NAME + 2 * _CELL * len(self._titles))
        return QSize(wide, current_theme().px(_LINE) * (len(self._rows) + 1))

    def minimumSizeHint(self) -> QSize:
        return QSize(current_theme().px(_NAME), self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        line, name = theme.px(_LINE), theme.px(_NAME)
        cell = min(theme.px(2 * _CELL), (self.width() - name) / max(1, len(self._titles)))
        metrics = QFontMetricsF(theme.font())
        left = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.setFont(theme.font(tabular=True))
        painter.setPen(theme.color("text2"))
        for place, title in enumerate(self._titles):
            elided = metrics.elidedText(title, Qt.TextElideMode.ElideRight, cell - theme.px(8))
            painter.drawText(QRectF(name + place * cell, 0, cell, line), right, elided)
        for row, (system, ranks) in enumerate(self._rows, 1):
            painter.fillRect(QRectF(0, row * line, name + cell * len(self._titles), 1), theme.color("line"))
            painter.setPen(theme.color("text"))
            elided = metrics.elidedText(system, Qt.TextElideMode.ElideRight, name - theme.px(8))
            painter.drawText(QRectF(0, row * line, name, line), left, elided)
            for place, text in enumerate(ranks):
                painter.drawText(QRectF(name + place * cell, row * line, cell, line), right, text)
        painter.end()


class RanksView(QWidget):
    """The heat map and the rankings, with what they rest on; hidden where there are fewer than two raters."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = label(texts.SIMILARITY_OF_RANKINGS, "section")
        self.fact = label("", tone="text2", wrap=True)
        self.map = _Map(self)
        self.table = _Ranks(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.title, self.fact, self.map, self.table):
            column.addWidget(widget)
        self._column = column
        measure(self._column, spacing=Gap(12))

    def show_ranks(self, result: LabResult, orders: OrderAnswers | None = None) -> None:
        """Shows the rankings of a lab; ``orders`` are the answers that ranked several responses in one call."""
        ranks = result.ranks
        titles = {judge.id: judge.title for judge in result.judges if judge.kind in _PARTS}
        titles |= {PEOPLE: texts.PEOPLE, AT_ONCE: texts.AT_ONCE} | ranks.others
        raters = tuple(rater for rater in ranks.raters if rater in titles)
        self.setVisible(len(raters) > 1)
        if len(raters) < 2:
            return
        places = {rater: place for place, rater in enumerate(raters)}
        values = {
            (places[first], places[second]): (overlap.value, overlap.questions)
            for (first, second), overlap in ranks.overlaps.items()
            if first in places and second in places
        }
        names = tuple(titles[rater] for rater in raters)
        self.fact.setText(texts.OVERLAP_AND_RANKS + (f" {_valid_orders(orders)}" if orders is not None else ""))
        self.map.say(names, values)
        raters = tuple(rater for rater in raters if rater in ranks.shares)
        names = tuple(titles[rater] for rater in raters)
        first = ranks.shares[raters[-1]] if raters else {}
        systems = sorted(ranks.systems, key=lambda name: -first.get(name, -1.0))[:_MOST_SYSTEMS]
        self.table.say(names, [(name, [_place(ranks.shares[rater], name) for rater in raters]) for name in systems])


def _valid_orders(orders: OrderAnswers) -> str:
    return texts.valid_rankings(orders.size, len(orders.rankings), plural(orders.asked, "answer"))


def _place(shares: dict[str, float], system: str) -> str:
    """The rank of a system by its wins per appearance, with these wins: "2  0.61"."""
    if system not in shares:
        return "n/a"
    place = 1 + sum(share > shares[system] for share in shares.values())
    return f"{place}  {shares[system]:.2f}"
