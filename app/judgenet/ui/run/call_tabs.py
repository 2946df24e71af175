"""The tabs that show one call whole: what it read, its prompt, its raw answer, and all calls of a neuron."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import REASON_WORDS, Evaluation, Unscored
from judgenet.core.network import NetworkError
from judgenet.core.pairs import Order, Pair
from judgenet.core.probabilities import SCORE_SOURCE_WORDS, LikelyScores
from judgenet.core.prompts import Heard
from judgenet.core.schemas import ReplyForm
from judgenet.core.wording import duration, money, percent, score_text
from judgenet.engine.pair_snapshot import NeuronSnapshot
from judgenet.report.settings import extra_words, further_words
from judgenet.store.columns import CallState
from judgenet.store.db import StoreError
from judgenet.store.runs import LONGER, FullCall
from judgenet.ui.context import Context
from judgenet.ui.elements import label, line, link
from judgenet.ui.measures import measure
from judgenet.ui.prompt_text import PromptText
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
"""So many evaluations are laid out at once; the rest on demand."""


class CallChoice(QWidget):
    """Which of a neuron's calls is shown: its order, and its sample where there are several.

    Signals:
        changed: another call is to be shown.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.order = Segment("Order", (("ab", "Order AB"), ("ba", "Order BA")))
        self.sample = Segment("Sample", (("1", "1"), ("2", "2"), ("3", "3"), ("4", "4")))
        self.order.chosen.connect(self.changed)
        self.sample.chosen.connect(self.changed)
        self._sample_word = label("Sample", tone="text2")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.order)
        row.addWidget(self._sample_word)
        row.addWidget(self.sample)
        row.addStretch(1)

    def fit(self, now: NeuronSnapshot) -> None:
        """Offers the calls of a neuron."""
        orders = [one.order for one in now.orders]
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
        """Sets the call without telling."""
        self.order.set_current(order)
        self.sample.set_current(str(min(sample, 4)))

    @property
    def call(self) -> tuple[Order, int]:
        """The chosen order and sample."""
        return "ab" if self.order.current == "ab" else "ba", int(self.sample.current)


class _CallTab(QWidget):
    """A tab about one call."""

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
        """Shows a neuron as it is now."""
        self.now = now
        self.choice.fit(now)
        self.refresh()

    @property
    def site(self) -> CallSite | None:
        """The call that is shown."""
        return None if self.now is None else self.focus.site(self.now.layer, self.now.neuron, *self.choice.call)

    def refresh(self) -> None:
        """Shows the chosen call."""


class ReadTab(_CallTab):
    """The evaluations of the layer before that a call has read, or will.

    Signals:
        reference_chosen: a :class:`Reference` that was clicked.
        pair_wanted: the pair itself is to be shown.
    """

    reference_chosen = Signal(object)
    pair_wanted = Signal()

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__(context, focus, "Inputs")
        self.words = label("", tone="text2", wrap=True)
        self.show_pair = link("Show the pair")
        self.show_pair.clicked.connect(self.pair_wanted)
        self.more = link("Show all")
        self.more.clicked.connect(self._show_all)
        self._all = False
        self._shown: object = None
        self._list = QWidget()
        self._rows = QVBoxLayout(self._list)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._scroll = QScrollArea()
        self._scroll.setAccessibleName("Evaluations that it read")
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self._list)
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
        heard: Sequence[Heard] = ()
        if first:
            self.words.setText("The first layer reads the pair alone.")
        else:
            try:
                heard = self.focus.heard(site)
            except (NetworkError, StoreError, sqlite3.Error) as error:
                self.words.setText(str(error).splitlines()[0])
            else:
                self._say(now, heard)
        state = (self.focus.index, site, tuple(heard), self._all)
        if state != self._shown:
            self._shown = state
            self._fill(now, heard)

    def _say(self, now: NeuronSnapshot, heard: Sequence[Heard]) -> None:
        neurons = len({one.neuron for one in heard})
        failed = sum(isinstance(one.result, Unscored) for one in heard)
        if not neurons:
            self.words.setText(f"It reads nothing of layer {now.layer - 1}.")
            return
        text = f"{neurons:,} neuron{'s' if neurons != 1 else ''} of layer {now.layer - 1}, {len(heard):,} evaluations"
        missing = f"; {failed:,} of them failed, and the prompt said so" if failed else ""
        self.words.setText(f"{text}{missing}. Scores are mapped back to A and B.")

    def _show_all(self) -> None:
        self._all = True
        self.refresh()

    def _fill(self, now: NeuronSnapshot, heard: Sequence[Heard]) -> None:
        while self._rows.count():
            item = self._rows.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is self.more:
                widget.setParent(None)
            elif widget is not None:
                widget.hide()
                widget.deleteLater()
        by_neuron: dict[int, list[Heard]] = {}
        for one in heard:
            by_neuron.setdefault(one.neuron, []).append(one)
        shown = list(by_neuron.items())
        if not self._all:
            shown = shown[: MOST_READ // 2]
        for neuron, told in shown:
            card = _HeardCard(now.layer - 1, neuron, told, own=neuron == now.neuron)
            card.reference_chosen.connect(self.reference_chosen)
            self._rows.addWidget(card)
        left = len(by_neuron) - len(shown)
        if left:
            self.more.setText(f"Show {left:,} more")
            self._rows.addWidget(self.more)
        self._rows.addStretch(1)


class _HeardCard(QWidget):
    """One neuron of the layer before: its name as a link, and what it said in each order."""

    reference_chosen = Signal(object)

    def __init__(self, layer: int, neuron: int, told: Sequence[Heard], *, own: bool) -> None:
        super().__init__()
        self._reference = Reference(layer, neuron)
        role = told[0].role
        name = one_line(role.name) if role is not None and role.name.strip() else f"Judge {neuron}"
        self.name = link(name, f"{name}, layer {layer}")
        self.name.clicked.connect(self._chosen)
        tag = Tag()
        tag.say("Its own" if own else "")
        head = QHBoxLayout()
        measure(head, spacing=8)
        head.addWidget(self.name)
        head.addWidget(tag)
        head.addStretch(1)
        column = QVBoxLayout(self)
        measure(column, margins=(0, 0, 8, 0), spacing=4)
        column.addLayout(head)
        for one in told:
            row = QHBoxLayout()
            measure(row, spacing=8)
            row.addWidget(label(one.order.upper(), tone="text3"))
            column.addLayout(row)
            if isinstance(one.result, Evaluation):
                if one.result.score_a is not None and one.result.score_b is not None:
                    scores = ScoreRow()
                    scores.say(one.result.score_a, one.result.score_b)
                    row.addWidget(scores)
                else:
                    chip = Chip()
                    chip.show_verdict(one.result.verdict)
                    row.addWidget(chip)
                if one.result.evidence:
                    text = FittedProse(f"Evidence of {name}, order {one.order.upper()}")
                    text.say(one.result.evidence, order=one.order)
                    column.addWidget(text)
            else:
                chip = Chip()
                chip.show_verdict(None, unscored=True)
                row.addWidget(chip)
                row.addWidget(label(REASON_WORDS[one.result.reason], tone="text2"))
            row.addStretch(1)
        column.addWidget(line())

    def _chosen(self) -> None:
        self.reference_chosen.emit(self._reference)


class _Copy(QWidget):
    """A link that copies a text and says so."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.text = ""
        self.button = link("Copy", name)
        self.button.clicked.connect(self._copy)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(1500)
        self._timer.timeout.connect(self._again)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.button)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(showable(self.text))
        self.button.setText("Copied")
        self._timer.start()

    def _again(self) -> None:
        self.button.setText("Copy")


class PromptTab(_CallTab):
    """The prompt of a call exactly as it was sent, or as it will be."""

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__(context, focus, "Prompt")
        self.words = label("", tone="text2", wrap=True)
        self.copy = _Copy("Copy the prompt")
        self.system_word = label("System", "strong", "text2")
        self.user_word = label("User", "strong", "text2")
        self.system = PromptText("System message")
        self.user = PromptText("User message")
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
            return call.messages, f"Exactly as it was sent to {call.endpoint}."
        try:
            question = self.focus.question(site, self._form())
        except (NetworkError, StoreError, sqlite3.Error) as error:
            return (), str(error).splitlines()[0]
        state = self.context.run_state.call_state(site)
        words = "As it was sent." if state.phase in ("asked", "writing", "unscored") else "As it will be sent."
        return [(message["role"], message["content"]) for message in question.prompt.messages()], words

    def _form(self) -> ReplyForm:
        """The form in which another call of the same model was asked."""
        now = self.now
        if now is not None:
            for order in ("ab", "ba"):
                for layer in range(now.layer, 0, -1):
                    call = self.focus.call(self.focus.site(layer, now.neuron, "ab" if order == "ab" else "ba"))
                    if call is not None and call.form in ("json", "text"):
                        return "json" if call.form == "json" else "text"
        return "json"

    def _passages(self, prompt: str) -> list[tuple[int, int]]:
        """Where the texts of the pair and the role stand, with which the templates were filled."""
        pair, now = self.focus.pair, self.now
        filled = _filled(pair) if pair is not None else []
        if now is not None and now.role is not None:
            filled += [now.role.description, now.role.name]
        passages = []
        for text in map(showable, filled):
            first = text[:200].splitlines()
            begin = prompt.find(first[0]) if text.strip() and first else -1
            if begin >= 0:
                passages.append((begin, min(begin + len(text), len(prompt))))
        return passages


def _filled(pair: Pair) -> list[str]:
    return [text for text in pair.spoken_parts() if text.strip()]


def with_earlier(call: FullCall) -> str:
    """A call's answer as the model gave it, and below it the earlier ones that could not be read, newest first."""
    parts = [call.raw_text or ""]
    for number, text in reversed(list(enumerate(call.earlier, 1))):
        parts.append(f"– Answer {number} of {len(call.earlier) + 1}, which could not be read –\n{text}")
    return "\n\n".join(parts)


class RawTab(_CallTab):
    """The answer as the model gave it, and how it was read."""

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__(context, focus, "Raw answer")
        self.what = Segment("Show", (("answer", "Answer"), ("thinking", "Thinking")))
        self.what.chosen.connect(self.refresh)
        self.words = label("", tone="text2", wrap=True)
        self.copy = _Copy("Copy the answer")
        self.text = PromptText("Raw answer")
        row = QHBoxLayout()
        row.addWidget(self.words, stretch=1)
        row.addWidget(self.copy)
        self.column.addWidget(self.what)
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
        self.what.setVisible(bool(thinking))
        copied = text = "" if call is None or call.raw_text is None else call.raw_text
        if call is not None and call.earlier:
            text = with_earlier(call)
        if thinking and self.what.current == "thinking":
            copied = text = thinking
        if state.phase == "writing":
            copied = text = self.context.run_state.live_text(site)
        self.words.setText(self._words(state, call))
        self.copy.text = copied
        self.copy.setVisible(bool(text))
        self.text.setVisible(bool(text))
        self.text.show_text(showable(text))

    def _words(self, state: CallState, call: FullCall | None) -> str:
        if call is None:
            return {"writing": "The answer is being written.", "asked": "Nothing has been written yet."}.get(
                state.phase, "Not asked yet."
            )
        parts = []
        if isinstance(call.result, Unscored):
            detail = f": {call.result.detail}" if call.result.detail else ""
            parts.append(f"{REASON_WORDS[call.result.reason]}{detail}")
        elif call.rule:
            parts.append(f"Read by rule “{call.rule}”")
        if call.finish_reason:
            parts.append(f"ended with “{call.finish_reason}”")
        if call.earlier:
            parts.append(f"asked {len(call.earlier) + 1} times; the earlier answers stand below")
        return ". ".join(part[:1].upper() + part[1:] for part in parts) + "." if parts else ""

    def grow(self, sites: set[CallSite]) -> None:
        """Takes in what was written since."""
        if self.site in sites:
            self.refresh()


_COLUMNS: Final = (
    TextColumn("Order"),
    TextColumn("State"),
    *(TextColumn(title, numeric=True) for title in ("In", "Out", "Time", "Price", "Tries")),
)


class CallsTab(QWidget):
    """All calls of a neuron with what they used, and one of them in full.

    Signals:
        call_chosen: (order, sample) of the row that was chosen.
    """

    call_chosen = Signal(str, int)

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName("Calls")
        self._context = context
        self._focus = focus
        self._own_model = ""
        self.table = TextTable("Calls of this neuron", _COLUMNS)
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
        scroll = QScrollArea()
        scroll.setAccessibleName("The chosen call")
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(below)
        column = QVBoxLayout(self)
        column.addWidget(self.table)
        column.addWidget(scroll, stretch=1)
        names = ("Scores", "Endpoint", "Model", "Answered by", "Parameters", "Thinking", "Asked", "Cache", "Detail")
        for name in names:
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
        """Shows a neuron's calls as they are."""
        self._own_model = now.settings.model or now.settings.endpoint or ""
        rows = []
        chosen = self.table.currentIndex().row()
        for one in now.orders:
            for sample in range(1, one.calls + 1):
                rows.append(self._row(self._focus.site(now.layer, now.neuron, one.order, sample), one.calls))
        self.table.show_rows(rows)
        # A column in which nothing stands takes no room from the states.
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
        currency = self._currency()
        if state.phase == "scored":
            words = f"{score_text(state.score_a)} – {score_text(state.score_b)}"
            if state.score_a is None:
                words = {"a": "A", "b": "B", "tie": "Tie"}.get(state.verdict or "", "")
        elif state.phase == "unscored":
            words = REASON_WORDS[state.reason] if state.reason is not None else "Unscored"
        else:
            words = {"asked": "Asked", "writing": "Writing"}.get(state.phase, "Waiting")
        cells = (
            order,
            words,
            "" if usage is None else f"{usage['prompt_tokens']:,}",
            "" if usage is None else f"{usage['completion_tokens']:,}",
            "" if state.seconds is None else duration(state.seconds),
            "" if call is None or call.price is None else money(call.price, currency),
            str(state.attempts) if state.finished and state.attempts else "",
        )
        return TextRow(cells, site)

    def _site(self, row: int) -> CallSite | None:
        """The call of a row."""
        rows = self.table.texts.rows
        key = rows[row].key if 0 <= row < len(rows) else None
        return key if isinstance(key, CallSite) else None

    def _currency(self) -> str:
        known = self._context.figures.estimate
        return "USD" if known is None else known.estimate.currency

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
                facts["Model"] = f"{call.model}, a stand-in for {self._own_model}"
        self.likely.show_call(call)
        for (name, value), word in zip(self._fact_rows.items(), self._fact_words, strict=True):
            value.setText(showable(facts[name]))
            shown = bool(facts[name])
            value.setVisible(shown)
            word.setVisible(shown)


def _source_words(result: Evaluation, likely: LikelyScores | None) -> str:
    """Where the scores of a call come from that was to be scored by token probabilities."""
    words = "" if result.scores_from is None else SCORE_SOURCE_WORDS[result.scores_from]
    if result.shares is not None and result.sampled is not None and likely is not None:
        a, tie, b = (percent(share) for share in result.shares)
        written = " – ".join(map(score_text, result.sampled))
        words += f"; written: {written}. A {a}, tie {tie}, B {b}. On the scale: {percent(min(likely.seen))} or more"
    return f"{words[:1].upper()}{words[1:]}."


def _facts_of(call: FullCall) -> dict[str, str]:
    facts = {"Endpoint": call.endpoint, "Model": call.model}
    if isinstance(call.result, Evaluation) and call.result.scores_from is not None:
        facts["Scores"] = _source_words(call.result, call.likely)
    if call.returned_model:
        facts["Answered by"] = f"{call.returned_model}, {call.fingerprint}" if call.fingerprint else call.returned_model
    if call.parameters is not None:
        temperature, schema = call.parameters.temperature, call.parameters.schema
        applied = call.parameters.applied or {}
        warmth = "endpoint’s own temperature" if temperature is None else f"temperature {temperature:g}"
        if "temperature" in applied:
            warmth += " not applied, as it is refused"
        most = applied.get(LONGER, call.parameters.max_tokens)
        form = "JSON by a schema" if schema is not None else "text"
        further = [*further_words(call.parameters.more, applied), extra_words(call.parameters.more)]
        parts = (warmth, f"at most {most:,} tokens", form, *further)
        facts["Parameters"] = ", ".join(part for part in parts if part)
    if call.started_at:
        facts["Asked"] = datetime.fromtimestamp(call.started_at).astimezone().strftime("%d %b %Y, %H:%M:%S")
    usage = call.usage
    if usage is not None and usage["reasoning_tokens"]:
        facts["Thinking"] = f"{usage['reasoning_tokens']:,} of the {usage['completion_tokens']:,} tokens out"
    if call.cached:
        facts["Cache"] = "From the store, at no cost to this run"
    elif usage is not None and usage["cached_tokens"]:
        facts["Cache"] = f"{usage['cached_tokens']:,} tokens of the prompt came from the endpoint’s cache"
    if isinstance(call.result, Unscored) and call.result.detail:
        facts["Detail"] = call.result.detail
    elif call.missing:
        facts["Detail"] = "Missing: " + "; ".join(call.missing)
    return facts
