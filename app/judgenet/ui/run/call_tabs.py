"""The tabs of the inspector that show calls: inputs, prompt, raw answer, and all calls of a neuron."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import REASON_WORDS, Evaluation, Unscored
from judgenet.core.network import NetworkError
from judgenet.core.pairs import Order
from judgenet.core.probabilities import SCORE_SOURCE_WORDS, LikelyScores
from judgenet.core.prompts import Heard
from judgenet.core.schemas import ReplyForm
from judgenet.core.wording import capitalized, duration, money, percent, plural, score_text
from judgenet.engine.pair_snapshot import NeuronSnapshot
from judgenet.report.settings import extra_words, further_words
from judgenet.store.columns import CallState
from judgenet.store.db import StoreError
from judgenet.store.runs import LONGER, FullCall
from judgenet.ui.context import Context
from judgenet.ui.elements import ScrollColumn, label, line, link
from judgenet.ui.measures import measure
from judgenet.ui.prompt_text import PromptText
from judgenet.ui.run import texts
from judgenet.ui.run.elements import Tag
from judgenet.ui.run.evidence_text import FittedProse, Reference
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.likely_view import LikelyView
from judgenet.ui.run.marks import ScoreRow
from judgenet.ui.table import TextColumn, TextRow, TextTable
from judgenet.ui.text_view import one_line, showable
from judgenet.ui.tokens import PANEL_INSIDE, TYPE
from judgenet.ui.widgets import Chip, Segment

MOST_READ: Final = 40
"""At most so many evaluations are shown at first; the others on demand."""


class CallChoice(QWidget):
    """The choice of one call of a neuron: its order, and its sample where there are several.

    Signals:
        changed: the user chose another call.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.order = Segment(texts.ORDER, (("ab", texts.ORDER_AB), ("ba", texts.ORDER_BA)))
        self.sample = Segment(texts.SAMPLE, [(number, number) for number in "1234"])
        self.order.chosen.connect(self.changed)
        self.sample.chosen.connect(self.changed)
        self._sample_word = label(texts.SAMPLE, tone="text2")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.order)
        row.addWidget(self._sample_word)
        row.addWidget(self.sample)
        row.addStretch(1)

    def fit(self, now: NeuronSnapshot) -> None:
        """Offers the orders and samples of a neuron's calls."""
        orders = [asked.order for asked in now.orders]
        for order in ("ab", "ba"):
            self.order.button(order).setVisible(order in orders)
        if orders and self.order.current not in orders:
            self.order.set_current(orders[0])
        samples = now.settings.samples or 1
        for number in range(1, 5):
            self.sample.button(str(number)).setVisible(number <= samples)
        if int(self.sample.current) > samples:
            self.sample.set_current("1")
        several = samples > 1
        self.sample.setVisible(several)
        self._sample_word.setVisible(several)
        self.setVisible(len(orders) > 1 or several)

    def choose(self, order: Order, sample: int) -> None:
        """Sets the choice without emitting :attr:`changed`."""
        self.order.set_current(order)
        self.sample.set_current(str(min(sample, 4)))

    @property
    def call(self) -> tuple[Order, int]:
        """The chosen order, and the sample from 1."""
        return "ab" if self.order.current == "ab" else "ba", int(self.sample.current)


class _CallTab(QWidget):
    """A tab about one call of a neuron."""

    def __init__(self, context: Context, focus: FocusPair, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.context = context
        self.focus = focus
        self.now: NeuronSnapshot | None = None
        self.choice = CallChoice()
        self.choice.changed.connect(self.refresh)
        self.column = QVBoxLayout(self)
        self.column.addWidget(self.choice)
        measure(self.column, margins=(PANEL_INSIDE, 12, PANEL_INSIDE, 8), spacing=8)

    def show_neuron(self, now: NeuronSnapshot) -> None:
        """Shows a neuron in its current state."""
        self.now = now
        self.choice.fit(now)
        self.refresh()

    @property
    def site(self) -> CallSite | None:
        """The call that is shown; ``None`` before a neuron is."""
        return None if self.now is None else self.focus.site(self.now.layer, self.now.neuron, *self.choice.call)

    def refresh(self) -> None:
        """Shows the chosen call."""


class ReadTab(_CallTab):
    """The evaluations of the layer before that a call read, or will read.

    Signals:
        reference_chosen: the :class:`Reference` that was clicked.
        pair_wanted: the user wants to see the pair itself.
    """

    reference_chosen = Signal(object)
    pair_wanted = Signal()

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__(context, focus, texts.INPUTS)
        self.words = label("", tone="text2", wrap=True)
        self.show_pair = link(texts.SHOW_PAIR)
        self.show_pair.clicked.connect(self.pair_wanted)
        self.more = link(texts.SHOW_ALL)
        self.more.clicked.connect(self._show_all)
        self._all = False
        self._shown: object = None
        self._list = QWidget()
        self._rows = QVBoxLayout(self._list)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._scroll = ScrollColumn(self._list, texts.EVALUATIONS_READ)
        self.column.addWidget(self.words)
        self.column.addWidget(self.show_pair)
        self.column.addWidget(self._scroll, stretch=1)
        measure(self._rows, spacing=8)

    def show_neuron(self, now: NeuronSnapshot) -> None:
        if self.now is None or (now.layer, now.neuron) != (self.now.layer, self.now.neuron):
            self._all = False
        super().show_neuron(now)

    def refresh(self) -> None:
        now, site = self.now, self.site
        if now is None or site is None or self.focus.now is None:
            return
        first = now.layer == 1
        self.show_pair.setVisible(first)
        self.choice.setVisible(not first and self.choice.isVisibleTo(self))
        inputs: Sequence[Heard] = ()
        if first:
            self.words.setText(texts.READS_PAIR_ALONE)
        else:
            try:
                inputs = self.focus.heard(site)
            except (NetworkError, StoreError, sqlite3.Error) as error:
                self.words.setText(str(error).splitlines()[0])
            else:
                self._show_summary(now, inputs)
        state = (self.focus.index, site, tuple(inputs), self._all)
        if state != self._shown:
            self._shown = state
            self._fill(now, inputs)

    def _show_summary(self, now: NeuronSnapshot, inputs: Sequence[Heard]) -> None:
        neurons = len({evaluation.neuron for evaluation in inputs})
        failed = sum(isinstance(evaluation.result, Unscored) for evaluation in inputs)
        if not neurons:
            self.words.setText(texts.reads_nothing(now.layer - 1))
            return
        missing = texts.failed_evaluations(failed) if failed else ""
        evaluations = plural(len(inputs), "evaluation")
        self.words.setText(texts.reads(plural(neurons, "neuron"), now.layer - 1, evaluations, missing))

    def _show_all(self) -> None:
        self._all = True
        self.refresh()

    def _fill(self, now: NeuronSnapshot, inputs: Sequence[Heard]) -> None:
        while self._rows.count():
            item = self._rows.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is self.more:
                widget.setParent(None)
            elif widget is not None:
                widget.hide()
                widget.deleteLater()
        by_neuron: dict[int, list[Heard]] = {}
        for evaluation in inputs:
            by_neuron.setdefault(evaluation.neuron, []).append(evaluation)
        shown = list(by_neuron.items())
        if not self._all:
            shown = shown[: MOST_READ // 2]
        for neuron, evaluations in shown:
            card = _InputCard(now.layer - 1, neuron, evaluations, own=neuron == now.neuron)
            card.reference_chosen.connect(self.reference_chosen)
            self._rows.addWidget(card)
        left = len(by_neuron) - len(shown)
        if left:
            self.more.setText(texts.show_more(left))
            self._rows.addWidget(self.more)
        self._rows.addStretch(1)


class _InputCard(QWidget):
    """One neuron of the layer before: its name as a link, and its evaluation in each order.

    Signals:
        reference_chosen: its :class:`Reference`, when the name was clicked.
    """

    reference_chosen = Signal(object)

    def __init__(self, layer: int, neuron: int, evaluations: Sequence[Heard], *, own: bool) -> None:
        """``own``: it is the reading neuron's own place in the layer before."""
        super().__init__()
        self._reference = Reference(layer, neuron)
        role = evaluations[0].role
        name = one_line(role.name) if role is not None and role.name.strip() else texts.judge(neuron)
        self.name = link(name, texts.judge_in_layer(name, layer))
        self.name.clicked.connect(self._chosen)
        tag = Tag()
        tag.say(texts.ITS_OWN if own else "")
        head = QHBoxLayout()
        measure(head, spacing=8)
        head.addWidget(self.name)
        head.addWidget(tag)
        head.addStretch(1)
        column = QVBoxLayout(self)
        measure(column, margins=(0, 0, 8, 0), spacing=4)
        column.addLayout(head)
        for evaluation in evaluations:
            self._add_evaluation(column, evaluation, name)
        column.addWidget(line())

    @staticmethod
    def _add_evaluation(column: QVBoxLayout, evaluation: Heard, name: str) -> None:
        row = QHBoxLayout()
        measure(row, spacing=8)
        row.addWidget(label(evaluation.order.upper(), tone="text3"))
        column.addLayout(row)
        result = evaluation.result
        if isinstance(result, Unscored):
            chip = Chip()
            chip.show_verdict(None, unscored=True)
            row.addWidget(chip)
            row.addWidget(label(REASON_WORDS[result.reason], tone="text2"))
        elif result.score_a is not None and result.score_b is not None:
            scores = ScoreRow()
            scores.say(result.score_a, result.score_b)
            row.addWidget(scores)
        else:
            chip = Chip()
            chip.show_verdict(result.verdict)
            row.addWidget(chip)
        if isinstance(result, Evaluation) and result.evidence:
            text = FittedProse(texts.evidence_of(name, evaluation.order.upper()))
            text.say(result.evidence, order=evaluation.order)
            column.addWidget(text)
        row.addStretch(1)

    def _chosen(self) -> None:
        self.reference_chosen.emit(self._reference)


class _Copy(QWidget):
    """A link that copies :attr:`text` to the clipboard and says so for a moment."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.text = ""
        self.button = link(texts.COPY, name)
        self.button.clicked.connect(self._copy)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(1500)
        self._timer.timeout.connect(self._reset)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.button)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(showable(self.text))
        self.button.setText(texts.COPIED)
        self._timer.start()

    def _reset(self) -> None:
        self.button.setText(texts.COPY)


class PromptTab(_CallTab):
    """The prompt of a call, exactly as it was sent or as it will be sent."""

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__(context, focus, texts.PROMPT)
        self.words = label("", tone="text2", wrap=True)
        self.copy = _Copy(texts.COPY_PROMPT)
        self.system_word = label(texts.SYSTEM, "strong", "text2")
        self.user_word = label(texts.USER, "strong", "text2")
        self.system = PromptText(texts.SYSTEM_MESSAGE)
        self.user = PromptText(texts.USER_MESSAGE)
        row = QHBoxLayout()
        row.addWidget(self.words, stretch=1)
        row.addWidget(self.copy)
        self.column.addLayout(row)
        self.column.addWidget(self.system_word)
        self.column.addWidget(self.system)
        self.column.addWidget(self.user_word)
        self.column.addWidget(self.user, stretch=1)
        self.column.addStretch(0)
        self._shown: tuple[str, str] | None = None
        measure(self.system, height=2 * TYPE["mono"].line + 20)

    def refresh(self) -> None:
        site = self.site
        if site is None or self.focus.now is None:
            return
        messages, words = self._messages(site)
        system = next((text for role, text in messages if role == "system"), "")
        user = next((text for role, text in messages if role == "user"), "")
        self.words.setText(words)
        for widget, text in (
            (self.system_word, system),
            (self.system, system),
            (self.user_word, user),
            (self.user, user),
        ):
            widget.setVisible(bool(text))
        self.copy.text = "\n\n".join(text for _, text in messages)
        self.copy.setVisible(bool(messages))
        if (system, user) != self._shown:
            self._shown = (system, user)
            self.system.show_text(showable(system))
            self.user.show_text(showable(user), self._passages(showable(user)))

    def _messages(self, site: CallSite) -> tuple[Sequence[tuple[str, str]], str]:
        call = self.focus.call(site)
        if call is not None and call.messages:
            return call.messages, texts.exactly_as_sent(call.endpoint)
        try:
            question = self.focus.question(site, self._form())
        except (NetworkError, StoreError, sqlite3.Error) as error:
            return (), str(error).splitlines()[0]
        state = self.context.run_state.call_state(site)
        words = texts.AS_SENT if state.phase in ("asked", "writing", "unscored") else texts.AS_TO_BE_SENT
        return [(message["role"], message["content"]) for message in question.prompt.messages()], words

    def _form(self) -> ReplyForm:
        """The form in which an answered call of the same neuron was asked, newest layer first; JSON without one."""
        now = self.now
        if now is not None:
            for order in ("ab", "ba"):
                for layer in range(now.layer, 0, -1):
                    call = self.focus.call(self.focus.site(layer, now.neuron, "ab" if order == "ab" else "ba"))
                    if call is not None and call.form in ("json", "text"):
                        return "json" if call.form == "json" else "text"
        return "json"

    def _passages(self, prompt: str) -> list[tuple[int, int]]:
        """Begin and end, in characters, of the texts of the pair and of the role in the prompt."""
        pair, now = self.focus.pair, self.now
        filled = [text for text in pair.spoken_parts() if text.strip()] if pair is not None else []
        if now is not None and now.role is not None:
            filled += [now.role.description, now.role.name]
        passages = []
        for text in map(showable, filled):
            first = text[:200].splitlines()
            begin = prompt.find(first[0]) if text.strip() and first else -1
            if begin >= 0:
                passages.append((begin, min(begin + len(text), len(prompt))))
        return passages


def with_earlier(call: FullCall) -> str:
    """The answer of a call as the model gave it, and below it earlier ones that could not be read, newest first."""
    parts = [call.raw_text or ""]
    for number, text in reversed(list(enumerate(call.earlier, 1))):
        parts.append(texts.earlier_answer(number, len(call.earlier) + 1, text))
    return "\n\n".join(parts)


class RawTab(_CallTab):
    """The answer as the model gave it, and how it was read."""

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__(context, focus, texts.RAW_ANSWER)
        self.part = Segment(texts.SHOW, (("answer", texts.ANSWER), ("thinking", texts.THINKING)))
        self.part.chosen.connect(self.refresh)
        self.words = label("", tone="text2", wrap=True)
        self.copy = _Copy(texts.COPY_ANSWER)
        self.text = PromptText(texts.RAW_ANSWER)
        row = QHBoxLayout()
        row.addWidget(self.words, stretch=1)
        row.addWidget(self.copy)
        self.column.addWidget(self.part)
        self.column.addLayout(row)
        self.column.addWidget(self.text, stretch=1)
        self.column.addStretch(0)

    def refresh(self) -> None:
        site = self.site
        if site is None:
            return
        state = self.context.run_state.call_state(site)
        call = self.focus.call(site) if state.finished else None
        thinking = call.thinking if call is not None and call.thinking else ""
        self.part.setVisible(bool(thinking))
        copied = text = "" if call is None or call.raw_text is None else call.raw_text
        if call is not None and call.earlier:
            text = with_earlier(call)
        if thinking and self.part.current == "thinking":
            copied = text = thinking
        if state.phase == "writing":
            copied = text = self.context.run_state.live_text(site)
        self.words.setText(self._words(state, call))
        self.copy.text = copied
        self.copy.setVisible(bool(text))
        self.text.setVisible(bool(text))
        self.text.show_text(showable(text))

    def _words(self, state: CallState, call: FullCall | None) -> str:
        """How the answer was read, or why there is none yet."""
        if call is None:
            return {"writing": texts.BEING_WRITTEN, "asked": texts.NOTHING_WRITTEN}.get(
                state.phase, texts.NOT_ASKED_YET
            )
        parts = []
        if isinstance(call.result, Unscored):
            detail = f": {call.result.detail}" if call.result.detail else ""
            parts.append(f"{REASON_WORDS[call.result.reason]}{detail}")
        elif call.rule:
            parts.append(texts.read_by_rule(call.rule))
        if call.finish_reason:
            parts.append(texts.ended_with(call.finish_reason))
        if call.earlier:
            parts.append(texts.asked_times(len(call.earlier) + 1))
        return ". ".join(map(capitalized, parts)) + "." if parts else ""

    def grow(self, sites: set[CallSite]) -> None:
        """Shows what the model wrote since; ``sites`` are the calls that grew."""
        if self.site in sites:
            self.refresh()


_COLUMNS: Final = (
    TextColumn(texts.ORDER),
    TextColumn(texts.STATE),
    *(
        TextColumn(title, numeric=True)
        for title in (texts.TOKENS_IN, texts.TOKENS_OUT, texts.TIME, texts.PRICE, texts.TRIES)
    ),
)


_FACTS: Final = (
    texts.SCORES,
    texts.ENDPOINT,
    texts.MODEL,
    texts.ANSWERED_BY,
    texts.BATCH,
    texts.PARAMETERS,
    texts.THINKING,
    texts.ASKED,
    texts.CACHE,
    texts.DETAIL,
)


class CallsTab(QWidget):
    """The table of all calls of a neuron with their use of tokens, time and money, and one of them in full.

    Signals:
        call_chosen: order and sample of the row that was chosen.
    """

    call_chosen = Signal(str, int)

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName(texts.CALLS_TAB)
        self._context = context
        self._focus = focus
        self._own_model = ""
        self.table = TextTable(texts.CALLS_OF_NEURON, _COLUMNS)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.selectionModel().currentRowChanged.connect(self._row_chosen)
        self._facts = QVBoxLayout()
        self._fact_rows: dict[str, QLabel] = {}
        self._fact_words: list[QLabel] = []
        self.likely = LikelyView()
        self._likely_row = QVBoxLayout()
        self._likely_row.addWidget(self.likely)
        below = QWidget()
        inside = QVBoxLayout(below)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addLayout(self._likely_row)
        inside.addLayout(self._facts)
        inside.addStretch(1)
        scroll = ScrollColumn(below, texts.CHOSEN_CALL)
        column = QVBoxLayout(self)
        column.addWidget(self.table)
        column.addWidget(scroll, stretch=1)
        for name in _FACTS:
            row = QHBoxLayout()
            word = label(name, tone="text2")
            value = label("", wrap=True)
            row.addWidget(word, alignment=Qt.AlignmentFlag.AlignTop)
            row.addWidget(value, stretch=1)
            measure(word, width=100)
            self._fact_words.append(word)
            self._fact_rows[name] = value
            self._facts.addLayout(row)
        self._column = column
        measure(self._column, margins=(0, 0, 0, 8), spacing=12)
        measure(self._facts, margins=(PANEL_INSIDE, 0, PANEL_INSIDE, 0), spacing=2)
        measure(self._likely_row, margins=(PANEL_INSIDE, 0, PANEL_INSIDE, 0))

    def show_neuron(self, now: NeuronSnapshot) -> None:
        """Shows the calls of a neuron in their current state."""
        self._own_model = now.settings.model or now.settings.endpoint or ""
        rows = []
        chosen = self.table.currentIndex().row()
        for asked in now.orders:
            for sample in range(1, asked.calls + 1):
                rows.append(self._row(self._focus.site(now.layer, now.neuron, asked.order, sample), asked.calls))
        self.table.show_rows(rows)
        # Empty columns are hidden, so that the states have more room.
        for column in range(2, len(_COLUMNS)):
            self.table.setColumnHidden(column, bool(rows) and not any(row.cells[column] for row in rows))
        bar = self.table.horizontalScrollBar()
        across = bar.sizeHint().height() if self.table.horizontalHeader().length() > self.table.width() else 0
        self.table.setFixedHeight(self.table.height_of(min(6, max(1, len(rows)))) + across)
        if rows and not 0 <= chosen < len(rows):
            self.table.selectRow(0)
        self._show_facts()

    def _row(self, site: CallSite, samples: int) -> TextRow:
        state = self._context.run_state.call_state(site)
        call = self._focus.call(site) if state.finished else None
        order = (site.order or "").upper() + (f" {site.sample}" if samples > 1 else "")
        usage = call.usage if call is not None else None
        if state.phase == "scored":
            words = f"{score_text(state.score_a)} – {score_text(state.score_b)}"
            if state.score_a is None:
                words = {"a": texts.A, "b": texts.B, "tie": texts.TIE}.get(state.verdict or "", "")
        elif state.phase == "unscored":
            words = REASON_WORDS[state.reason] if state.reason is not None else texts.UNSCORED
        else:
            words = {"asked": texts.ASKED, "writing": texts.WRITING}.get(state.phase, texts.WAITING)
        cells = (
            order,
            words,
            "" if usage is None else f"{usage['prompt_tokens']:,}",
            "" if usage is None else f"{usage['completion_tokens']:,}",
            "" if state.seconds is None else duration(state.seconds),
            "" if call is None or call.price is None else money(call.price, self._context.figures.currency),
            str(state.attempts) if state.finished and state.attempts else "",
        )
        return TextRow(cells, site)

    def _site(self, row: int) -> CallSite | None:
        """The call of a row of the table; ``None`` where there is no such row."""
        rows = self.table.texts.rows
        key = rows[row].key if 0 <= row < len(rows) else None
        return key if isinstance(key, CallSite) else None

    def _row_chosen(self, current: QModelIndex) -> None:
        site = self._site(current.row())
        if site is not None:
            self.call_chosen.emit(site.order or "ab", site.sample)
            self._show_facts()

    def _show_facts(self) -> None:
        site = self._site(self.table.currentIndex().row())
        call = None if site is None else self._focus.call(site)
        facts = dict.fromkeys(self._fact_rows, "")
        if call is not None:
            facts |= _facts_of(call)
            if site is not None and self._context.run_state.call_state(site).stood_in:
                facts[texts.MODEL] = texts.stand_in_for(call.model, self._own_model)
        self.likely.show_call(call)
        for (name, value), word in zip(self._fact_rows.items(), self._fact_words, strict=True):
            value.setText(showable(facts[name]))
            shown = bool(facts[name])
            value.setVisible(shown)
            word.setVisible(shown)


def _source_words(result: Evaluation, likely: LikelyScores | None) -> str:
    """Where the scores of a call by token probabilities come from."""
    words = "" if result.scores_from is None else SCORE_SOURCE_WORDS[result.scores_from]
    if result.shares is not None and result.sampled is not None and likely is not None:
        a, tie, b = (percent(share) for share in result.shares)
        written = " – ".join(map(score_text, result.sampled))
        words += texts.written_scores(written, a, tie, b, percent(min(likely.seen)))
    return f"{capitalized(words)}."


def _facts_of(call: FullCall) -> dict[str, str]:
    """What is known of a call, by the names of the rows."""
    facts = {texts.ENDPOINT: call.endpoint, texts.MODEL: call.model}
    if isinstance(call.result, Evaluation) and call.result.scores_from is not None:
        facts[texts.SCORES] = _source_words(call.result, call.likely)
    if call.returned_model:
        facts[texts.ANSWERED_BY] = (
            f"{call.returned_model}, {call.fingerprint}" if call.fingerprint else call.returned_model
        )
    if call.batch:
        facts[texts.BATCH] = call.batch
    if call.parameters is not None:
        temperature, schema = call.parameters.temperature, call.parameters.schema
        applied = call.parameters.applied or {}
        heat = texts.OWN_TEMPERATURE if temperature is None else texts.temperature(temperature)
        if "temperature" in applied:
            heat += texts.TEMPERATURE_REFUSED
        most_tokens = applied.get(LONGER, call.parameters.max_tokens)
        form = texts.JSON_SCHEMA if schema is not None else texts.PLAIN_TEXT
        further = [*further_words(call.parameters.more, applied), extra_words(call.parameters.more)]
        parts = (heat, texts.most_tokens(most_tokens), form, *further)
        facts[texts.PARAMETERS] = ", ".join(part for part in parts if part)
    if call.started_at:
        facts[texts.ASKED] = f"{datetime.fromtimestamp(call.started_at).astimezone():%d %b %Y, %H:%M:%S}"
    usage = call.usage
    if usage is not None and usage["reasoning_tokens"]:
        facts[texts.THINKING] = texts.thinking_tokens(usage["reasoning_tokens"], usage["completion_tokens"])
    if call.cached:
        facts[texts.CACHE] = texts.FROM_STORE_FREE
    elif usage is not None and usage["cached_tokens"]:
        facts[texts.CACHE] = texts.cached_tokens(usage["cached_tokens"])
    if isinstance(call.result, Unscored) and call.result.detail:
        facts[texts.DETAIL] = call.result.detail
    elif call.missing:
        facts[texts.DETAIL] = texts.MISSING + "; ".join(call.missing)
    return facts
