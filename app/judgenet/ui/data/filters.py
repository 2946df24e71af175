"""The search field and filters above the table of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from judgenet.core.acceptance import FOR_PEOPLE
from judgenet.core.aggregate import NO_QUORUM
from judgenet.core.pairs import Verdict
from judgenet.core.wording import of, plural
from judgenet.engine.pair_index import DatasetVerdicts, JudgedState, PairFilter, PairIndex
from judgenet.formats import Finding
from judgenet.ui.data import texts
from judgenet.ui.data.flow import FlowLayout
from judgenet.ui.data.widgets import SearchField
from judgenet.ui.elements import label, link
from judgenet.ui.icons import icon_pixmap
from judgenet.ui.measures import Gap, measure
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import set_kind

SEARCH_WAIT_MS: Final = 200
"""How long after the last key a search begins."""

_MOST_OPTIONS: Final = 60
_LONGEST_WORD: Final = 40

_LABEL_WORDS: Final[dict[Verdict | None, str]] = {"a": texts.A, "tie": texts.TIE, "b": texts.B, None: texts.NO_LABEL}
_JUDGED_WORDS: Final[dict[JudgedState, str]] = {
    "a": texts.A,
    "tie": texts.TIE,
    "b": texts.B,
    "unscored": texts.UNSCORED,
    "people": FOR_PEOPLE,
    "no_quorum": NO_QUORUM,
    "open": texts.NOT_JUDGED,
}


@dataclass(frozen=True, slots=True)
class Option:
    """A value to filter by, its name, and how many pairs have it."""

    value: Any
    words: str
    count: int


class _StayingMenu(QMenu):
    """A menu that stays open while its boxes are ticked."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self._tick(self.actionAt(event.position().toPoint())):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() not in keys or not self._tick(self.activeAction()):
            super().keyPressEvent(event)

    @staticmethod
    def _tick(action: QAction | None) -> bool:
        if action is None or not action.isCheckable() or not action.isEnabled():
            return False
        action.trigger()
        return True


class FilterButton(QToolButton):
    """A button that opens the values of one property. Pairs with a ticked value pass.

    Signals:
        changed: the ticked values changed.
    """

    changed = Signal()

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = title
        self._options: tuple[Option, ...] = ()
        self._ticked: frozenset[Any] = frozenset()
        self._menu = _StayingMenu(self)
        self._menu.setAccessibleName(title)
        set_kind(self, "filter")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(self.open)
        self._show()

    @property
    def options(self) -> tuple[Option, ...]:
        return self._options

    @property
    def ticked(self) -> frozenset[Any] | None:
        """The values that pass; ``None`` for all."""
        return self._ticked or None

    def set_options(self, options: Sequence[Option]) -> None:
        """Offers other values; ticks of values that are gone are removed."""
        self._options = tuple(options)
        self._ticked &= frozenset(option.value for option in self._options)
        self.setVisible(len(self._options) > 1 or bool(self._ticked))
        self._fill()
        self._show()

    def set_ticked(self, values: frozenset[Any] | None) -> None:
        """Ticks values without emitting :attr:`changed`."""
        self._ticked = values or frozenset()
        for action in self._menu.actions():
            action.blockSignals(True)
            action.setChecked(action.isCheckable() and action.data() in self._ticked)
            action.blockSignals(False)
        self._show()

    def _fill(self) -> None:
        self._menu.clear()
        for place, option in enumerate(self._options[:_MOST_OPTIONS]):
            words = option.words if len(option.words) <= _LONGEST_WORD else f"{option.words[: _LONGEST_WORD - 1]}…"
            action = self._menu.addAction(f"{words.replace('&', '&&')}\t{option.count:,}")
            action.setCheckable(True)
            action.setChecked(option.value in self._ticked)
            action.setData(option.value)
            action.setProperty("place", place)
            action.toggled.connect(self._toggled)
        if len(self._options) > _MOST_OPTIONS:
            more = self._menu.addAction(texts.more_options(len(self._options) - _MOST_OPTIONS))
            more.setEnabled(False)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme, side = current_theme(), current_theme().px(16)
        color = theme.colors.accent if self._ticked else theme.colors.text2
        painter = QPainter(self)
        pixmap = icon_pixmap("chevron-down", color, side, self.devicePixelRatio())
        painter.drawPixmap(self.width() - side - theme.px(6), (self.height() - side) // 2, pixmap)

    def open(self) -> None:
        """Opens the menu of values."""
        self._menu.popup(self.mapToGlobal(QPoint(0, self.height() + 2)))

    def _toggled(self) -> None:
        ticked = {
            self._options[action.property("place")].value for action in self._menu.actions() if action.isChecked()
        }
        self._ticked = frozenset(ticked)
        self._show()
        self.changed.emit()

    def words(self) -> str:
        """The ticked values in words; empty where all pass."""
        ticked = [option.words for option in self._options if option.value in self._ticked]
        return of(len(ticked), len(self._options)) if len(ticked) > 2 else texts.OR.join(ticked)

    def _show(self) -> None:
        words = self.words()
        shown = words if len(words) <= 24 else f"{words[:23]}…"
        self.setText(f"{self._title}: {shown}".replace("&", "&&") if words else self._title)
        self.setAccessibleName(texts.filter_by(self._title.lower(), words or texts.ALL_PASS))
        if self.property("active") != bool(words):
            self.setProperty("active", bool(words))
            self.style().unpolish(self)
            self.style().polish(self)
        self.updateGeometry()


class FilterBar(QWidget):
    """The search field, the filters, and how many pairs pass them.

    Signals:
        changed: :attr:`wanted` changed.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(texts.SEARCH_AND_FILTERS)
        self._visit: tuple[tuple[int, ...], str] | None = None
        self._total = 0
        self.search = SearchField(texts.SEARCH_ALL)
        self.search.textChanged.connect(self._typed)
        self.search.returnPressed.connect(self._search_now)
        self.task = FilterButton(texts.TASK)
        self.human = FilterButton(texts.LABEL)
        self.verdict = FilterButton(texts.VERDICT)
        self.match = FilterButton(texts.AGREEMENT)
        self.finding = FilterButton(texts.FINDING)
        self.chosen = FilterButton(texts.CHOSEN)
        self._buttons: tuple[FilterButton, ...] = (
            self.task,
            self.human,
            self.verdict,
            self.match,
            self.finding,
            self.chosen,
        )
        self._flow = FlowLayout()
        self._flow.addWidget(self.search)
        for button in self._buttons:
            button.changed.connect(self.changed)
            button.hide()
            self._flow.addWidget(button)
        self.shown = label(tone="text2")
        self.clear_link: QPushButton = link(texts.SHOW_ALL, texts.CLEAR_FILTERS)
        self.clear_link.clicked.connect(self.clear)
        self._state = QHBoxLayout()
        self._state.addWidget(self.shown)
        self._state.addWidget(self.clear_link)
        self._state.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._flow)
        self._column.addLayout(self._state)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SEARCH_WAIT_MS)
        self._timer.timeout.connect(self.changed)
        measure(self._column, margins=0, spacing=Gap(8))
        measure(self._flow, spacing=Gap(8))
        measure(self._state, spacing=12)
        measure(self.shown, min_height=20)
        self.show_count(0, 0)

    # The options

    def set_options(
        self,
        index: PairIndex,
        verdicts: DatasetVerdicts | None,
        findings: Sequence[Finding],
        chosen: int,
    ) -> None:
        """Offers the values that occur in the data set; ``chosen`` is how many of its pairs are chosen."""
        self.task.set_options(
            [Option(task, task or texts.NO_TASK, number) for task, number in index.task_counts().items()]
        )
        self.human.set_options(_occurring(_LABEL_WORDS, index.human_counts()))
        judged = index.judged_counts(verdicts) if verdicts is not None and verdicts.judged.any() else {}
        self.verdict.set_options(_occurring(_JUDGED_WORDS, judged))
        self.match.set_options(self._matches(index, verdicts) if judged else [])
        self.finding.set_options(
            [Option(finding.kind, finding.title, len(finding.ids)) for finding in findings if finding.ids]
        )
        self.finding.setVisible(bool(self.finding.options))
        total = len(index)
        self.chosen.set_options(
            [Option(True, texts.CHOSEN_OPTION, chosen), Option(False, texts.NOT_CHOSEN, total - chosen)]
            if chosen < total
            else []
        )

    @staticmethod
    def _matches(index: PairIndex, verdicts: DatasetVerdicts | None) -> list[Option]:
        if verdicts is None:
            return []
        agreement = index.agreement(verdicts)
        agree = sum(agreement.confusion[place][place] for place in range(3))
        return [Option("agree", texts.AGREE, agree), Option("differ", texts.DIFFER, agreement.n_used - agree)]

    # The filter

    @property
    def wanted(self) -> PairFilter:
        """The filter that a pair must pass to be shown."""
        chosen = self.chosen.ticked
        return PairFilter(
            tasks=self.task.ticked,
            human=self.human.ticked,
            verdict=self.verdict.ticked,
            match=self.match.ticked,
            findings=self.finding.ticked,
            chosen=None if chosen is None or len(chosen) > 1 else next(iter(chosen)),
            text=self.search.text(),
            positions=None if self._visit is None else self._visit[0],
        )

    def show_finding(self, kind: str) -> None:
        """Shows only the pairs of a kind of finding."""
        self._clear()
        self.finding.set_ticked(frozenset({kind}))
        self.changed.emit()

    def show_positions(self, positions: tuple[int, ...], why: str) -> None:
        """Shows only the pairs at these positions; ``why`` says which they are."""
        self._clear()
        self._visit = (positions, why)
        self.changed.emit()

    def clear(self) -> None:
        """Clears the search and all filters."""
        self._clear()
        self.changed.emit()

    def _clear(self) -> None:
        self._timer.stop()
        self._visit = None
        self.search.blockSignals(True)
        self.search.clear()
        self.search.blockSignals(False)
        for button in self._buttons:
            button.set_ticked(None)

    def _typed(self) -> None:
        self._timer.start()

    def _search_now(self) -> None:
        self._timer.stop()
        self.changed.emit()

    # How many pass

    def show_count(self, shown: int, total: int, *, busy: bool = False) -> None:
        """Shows how many pairs pass."""
        self._total = total
        filtered = not self.wanted.empty
        text = texts.pairs_shown(shown, plural(total, "pair")) if filtered else plural(total, "pair")
        if self._visit is not None and self._visit[1]:
            text += f": {self._visit[1]}"
        self.shown.setText(texts.SEARCHING if busy else text)
        self.clear_link.setVisible(filtered)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self.wanted.empty:
            self.clear()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._flow.invalidate()


def _occurring(words: Mapping[Any, str], counts: Mapping[Any, int]) -> list[Option]:
    """The options for values that occur."""
    return [Option(value, text, counts[value]) for value, text in words.items() if counts.get(value)]
