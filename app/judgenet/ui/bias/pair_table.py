"""The pairs behind a bar: what was chosen in each prompt, and the outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.bias import PROBES
from judgenet.core.bias.lab import Item
from judgenet.core.evaluation import REASON_WORDS, Evaluation
from judgenet.stats.bias import Cell, answer_of_sign, outcome_of_signs
from judgenet.stats.lab import LabResult
from judgenet.store.runs import FullCall
from judgenet.ui.bias import texts
from judgenet.ui.bias.state import PairDetails
from judgenet.ui.elements import ComboBox, ElidedLabel, link
from judgenet.ui.icons import icon
from judgenet.ui.measures import measure
from judgenet.ui.table import TextColumn, TextRow, TextTable
from judgenet.ui.text_view import TextView
from judgenet.ui.widgets import Segment

_COLUMNS: Final = (
    TextColumn(texts.PAIR, 110),
    TextColumn(texts.QUESTION, 0),
    TextColumn(texts.CHOSEN, 120),
    TextColumn(texts.OUTCOME, 110),
)
_CHARS: Final = 160
HEIGHT: Final = 264
ALL: Final = ""


@dataclass(frozen=True, slots=True)
class BarPair:
    """A pair behind a bar: its id, the positions chosen in its prompts, and the outcome."""

    pair: str
    answers: str
    outcome: str
    item: Item


def bar_pairs(result: LabResult, cell: Cell) -> tuple[BarPair, ...]:
    """The pairs that a bar was counted from."""
    plan, probe = result.plan(cell.probe), PROBES[cell.probe]
    rows = []
    for item, signs in zip(plan.items, cell.codes, strict=True):
        outcome = outcome_of_signs(probe, signs)
        if outcome == "not_asked":
            continue
        answers = [
            answer_of_sign(sign, target) or texts.UNREADABLE for sign, target in zip(signs, item.targets, strict=True)
        ]
        rows.append(BarPair(item.pair, ", ".join(answers), outcome, item))
    return tuple(rows)


def answers_text(look: PairDetails) -> str:
    """What was answered to each prompt of a pair, call by call: scores in the order in which the responses were shown,
    and the evidence."""
    return _by_prompt(look, _answer)


def prompts_text(look: PairDetails) -> str:
    """What was sent for each prompt of a pair, call by call."""
    return _by_prompt(look, _prompt)


def _by_prompt(look: PairDetails, tell: Callable[[FullCall], str]) -> str:
    if look.calls is None:
        return texts.READING
    parts = []
    prompts = zip(look.item.prompts, look.item.targets, look.calls, strict=True)
    for number, (prompt, target, calls) in enumerate(prompts, 1):
        parts.append(texts.prompt_title(number, len(look.calls), prompt, target))
        parts += [tell(call) for call in calls] or [texts.NOT_ASKED]
    return "\n\n".join(parts)


def _site(call: FullCall) -> str:
    site = call.site
    role = f", {call.role}" if call.role else ""
    return texts.neuron(site.layer, site.neuron) + role + (texts.sample(site.sample) if site.sample > 1 else "")


def _answer(call: FullCall) -> str:
    result = call.result
    if not isinstance(result, Evaluation):
        why = REASON_WORDS[result.reason] if result is not None else texts.NO_ANSWER
        raw = f"\n{call.raw_text}" if call.raw_text else ""
        return texts.no_verdict(_site(call), why.lower()) + raw
    scores = (result.score_a, result.score_b) if call.site.order != "ba" else (result.score_b, result.score_a)
    first, second = ("n/a" if score is None else f"{score:g}" for score in scores)
    return texts.answer(_site(call), first, second, result.evidence).rstrip()


def _prompt(call: FullCall) -> str:
    messages = "\n\n".join(text for _, text in call.messages) or texts.NO_ANSWERS
    site = _site(call)
    return texts.sent_to(site[0].lower() + site[1:], messages)


class BarPairsPanel(QFrame):
    """The list of pairs behind a bar.

    Signals:
        opened: the ids of pairs that the user wants to read.
        picked: a pair in the list, as :class:`BarPair`, whose answers are to be shown beside it.
        closed: the user closes the list.
    """

    opened = Signal(object)
    picked = Signal(object)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("part", "foot")
        self.setAccessibleName(texts.PAIRS_BEHIND_BAR)
        self._rows: tuple[BarPair, ...] = ()
        self._questions: Mapping[str, str] = {}
        self.title = ElidedLabel("", "section")
        self.outcome = ComboBox(texts.WHICH_PAIRS)
        self.outcome.currentIndexChanged.connect(self._filter)
        self.read = link(texts.SHOW_ON_DATA)
        self.read.clicked.connect(self._open_all)
        self.close_button = QToolButton()
        self.close_button.setAccessibleName(texts.CLOSE_LIST)
        self.close_button.setIcon(icon("close"))
        self.close_button.clicked.connect(self.closed)
        head = QHBoxLayout()
        head.addWidget(self.title, stretch=1)
        for widget in (self.outcome, self.read, self.close_button):
            head.addWidget(widget)
        self.table = TextTable(texts.PAIRS_BEHIND_BAR, _COLUMNS)
        self.table.activated.connect(self._open)
        self.table.selectionModel().currentRowChanged.connect(self._picked)
        self.what = Segment(texts.ANSWERS_OR_PROMPTS, (("answers", texts.ANSWERS), ("prompts", texts.PROMPTS_SENT)))
        self.what.chosen.connect(self._show_look)
        self.text = TextView(texts.ASKED_AND_SAID)
        self._look: PairDetails | None = None
        beside = QVBoxLayout()
        beside.setContentsMargins(0, 0, 0, 0)
        beside.addWidget(self.what, alignment=Qt.AlignmentFlag.AlignLeft)
        beside.addWidget(self.text, stretch=1)
        row = QHBoxLayout()
        row.addWidget(self.table, stretch=3)
        row.addLayout(beside, stretch=2)
        column = QVBoxLayout(self)
        column.addLayout(head)
        column.addLayout(row, stretch=1)
        self._row, self._beside = row, beside
        self._column, self._head = column, head
        measure(self, height=HEIGHT)
        measure(self._column, margins=(24, 8, 16, 8), spacing=8)
        measure(self._row, spacing=16)
        measure(self._beside, spacing=8)
        measure(self._head, spacing=12)
        measure(self.close_button, icon=16)
        measure(self.outcome, min_width=180)

    def say(self, title: str, cell: Cell, rows: tuple[BarPair, ...], questions: Mapping[str, str]) -> None:
        """Lists the pairs of a bar, at first those that count as biased."""
        self._rows, self._questions = rows, questions
        self.title.say(title)
        self.outcome.blockSignals(True)
        before = self.outcome.currentData()
        self.outcome.clear()
        self.outcome.addItem(texts.all_pairs(len(rows)), ALL)
        for outcome, number in cell.counts.items():
            if number:
                self.outcome.addItem(f"{outcome.replace('_', ' ')} ({number:,})", outcome)
        probe = PROBES[cell.probe]
        wanted = probe.outcomes[2] if probe.rule == "changed" else probe.outcomes[0]
        place = max(self.outcome.findData(before if before else wanted), 0)
        self.outcome.setCurrentIndex(place)
        self.outcome.blockSignals(False)
        self._filter()

    @property
    def pairs(self) -> tuple[str, ...]:
        """The ids of the pairs that are listed."""
        return tuple(row.pair for row in self.rows)

    @property
    def rows(self) -> tuple[BarPair, ...]:
        """The pairs that are listed."""
        outcome = self.outcome.currentData()
        return tuple(row for row in self._rows if not outcome or row.outcome == outcome)

    def _filter(self, *_: object) -> None:
        rows = self.rows
        self.table.show_rows([self._texts(row) for row in rows])
        self.read.setEnabled(bool(rows))
        self.show_look(None)
        if rows:
            self.table.selectRow(0)

    def _texts(self, row: BarPair) -> TextRow:
        question = " ".join(self._questions.get(row.pair, texts.NOT_LOADED)[:_CHARS].split())
        return TextRow((row.pair, question, row.answers, row.outcome), row)

    def _picked(self, index: QModelIndex) -> None:
        if index.isValid():
            self.picked.emit(self.rows[index.row()])

    def show_look(self, look: PairDetails | None) -> None:
        """Shows what was asked and said of a pair; ``None`` shows nothing."""
        self._look = look
        self._show_look()

    def _show_look(self, *_: object) -> None:
        text_of = answers_text if self.what.current == "answers" else prompts_text
        self.text.show_text("" if self._look is None else text_of(self._look))

    def _open(self, index: QModelIndex) -> None:
        self.opened.emit((self.rows[index.row()].pair,))

    def _open_all(self) -> None:
        self.opened.emit(self.pairs)
