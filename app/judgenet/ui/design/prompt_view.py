"""The prompt of a call as it will be sent, for one of the loaded pairs."""

from __future__ import annotations

import sqlite3
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy

from judgenet.core.calls import ROLES_LAYER
from judgenet.core.network import NetworkError, needs_roles
from judgenet.core.pairs import Order, Pair
from judgenet.core.plan import PriceError
from judgenet.core.prompts import PromptError
from judgenet.core.wording import plural
from judgenet.engine.preview import NoSuchCall, Preview, preview
from judgenet.engine.session import Start
from judgenet.engine.setup import start_of
from judgenet.store.db import Store, StoreError
from judgenet.ui.design import texts
from judgenet.ui.design.editor import DesignEditor
from judgenet.ui.design.forms import FormSection
from judgenet.ui.design.state import orders_of
from judgenet.ui.elements import icon_button, label, link
from judgenet.ui.measures import measure
from judgenet.ui.prompt_text import PromptText
from judgenet.ui.widgets import Segment

WAIT_MS: Final = 120
"""How long changes are gathered before the prompt is made again."""
EXAMPLE: Final = Pair("example", texts.EXAMPLE_QUESTION, texts.EXAMPLE_RESPONSE_A, texts.EXAMPLE_RESPONSE_B)
"""Shown in the prompt while no pair is loaded."""


class PromptSection(FormSection):
    """The prompt of the selected neuron, of the chair, or of the call that generates roles.

    Signals:
        template_wanted: the user wants to edit the templates.
        pair_chosen: the place, from 0, of the pair that the user went to.
    """

    template_wanted = Signal()
    pair_chosen = Signal(int)

    def __init__(self, editor: DesignEditor) -> None:
        self.edit = link(texts.EDIT_TEMPLATE, texts.EDIT_TEMPLATE_NAME)
        super().__init__(texts.PROMPT, self.edit)
        self._editor = editor
        self._index = 0
        self._generation = 0
        self.previous = icon_button("chevron-left", texts.PREVIOUS_PAIR)
        self.following = icon_button("chevron-right", texts.NEXT_PAIR)
        self.pair = label("", tone="text2")
        self.order = Segment(texts.ORDER, (("ab", texts.AB), ("ba", texts.BA)))
        for key in ("ab", "ba"):
            self.order.button(key).setProperty("control", "small")
        self.tokens = label("", tone="text3")
        row = QHBoxLayout()
        row.addWidget(self.previous)
        row.addWidget(self.pair)
        row.addWidget(self.following)
        row.addWidget(self.order)
        row.addStretch(1)
        row.addWidget(self.tokens)
        self._row = row
        self.note = label("", tone="text3", wrap=True)
        self.text = PromptText(texts.PROMPT_NAME)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.body.addLayout(row)
        self.body.addWidget(self.note)
        self.body.addWidget(self.text, stretch=1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WAIT_MS)
        self._timer.timeout.connect(self._make)
        self.edit.clicked.connect(self.template_wanted)
        self.previous.clicked.connect(self._step_back)
        self.following.clicked.connect(self._step_on)
        self.order.chosen.connect(self._order_chosen)
        measure(self._row, spacing=4)
        measure(self.text, min_height=220)

    @property
    def index(self) -> int:
        """The place, from 0, of the pair whose prompt is shown."""
        return self._index

    def set_index(self, index: int) -> None:
        """Shows the prompt for another pair."""
        if index != self._index:
            self._index = index
            self.refresh()

    def _step_back(self) -> None:
        self._step(-1)

    def _step_on(self) -> None:
        self._step(1)

    def _step(self, by: int) -> None:
        count = len(self._editor.context.document.pairs)
        if count:
            self.set_index((self._index + by) % count)
            self.pair_chosen.emit(self._index)

    def _order_chosen(self, _key: str) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Makes the prompt again after a short wait."""
        pairs = self._editor.context.document.pairs
        self._index = min(self._index, max(0, len(pairs) - 1))
        self.pair.setText(texts.pair_number(self._index + 1) if pairs else texts.NO_PAIR_YET)
        for button in (self.previous, self.following):
            button.setEnabled(len(pairs) > 1)
        orders = orders_of(self._editor.spec)
        for key in ("ab", "ba"):
            self.order.button(key).setEnabled(key in orders)
        if self.order.current not in orders:
            self.order.set_current(orders[0])
        self.order.setVisible(self._editor.part != "roles")
        self._generation += 1
        self._timer.start()

    def _site(self) -> tuple[int, int, Order | None]:
        """Layer and neuron (from 1) and order of the call whose prompt is shown."""
        editor = self._editor
        order: Order = "ba" if self.order.current == "ba" else "ab"
        if editor.part == "roles":
            return ROLES_LAYER, 0, None
        if editor.part == "chair":
            return editor.spec.depth + 1, 1, order
        first = editor.first
        return (1, 1, order) if first is None else (first.layer + 1, first.neuron + 1, order)

    def _make(self) -> None:
        editor = self._editor
        if not editor.context.document.is_open:
            return
        if editor.part == "roles" and not needs_roles(editor.spec):
            self._show_note(texts.ROLES_NOT_GENERATED)
            return
        editor.context.tasks.start(self._make_now(self._generation), texts.SHOW_PROMPT)

    async def _make_now(self, generation: int) -> None:
        document = self._editor.context.document
        pairs, store = document.pairs, document.own_store
        pair = pairs[self._index] if self._index < len(pairs) else EXAMPLE
        layer, neuron, order = self._site()
        try:
            start = start_of(document.project, (pair,), document.profiles, folder=document.folder)
            prompt = await self._editor.context.tasks.off_thread(_preview_of, start, store, pair, layer, neuron, order)
        except (NetworkError, PromptError, PriceError, NoSuchCall, StoreError, sqlite3.Error) as error:
            if generation == self._generation:
                self._show_note(str(error).splitlines()[0])
            return
        if generation == self._generation:
            self._show(prompt)

    def _show_note(self, text: str) -> None:
        self.note.setText(text)
        self.note.show()
        self.text.clear()
        self.tokens.clear()

    def _show(self, prompt: Preview) -> None:
        notes = list(prompt.notes)
        if prompt.answer is not None:
            notes.append(texts.ANSWERED_ALREADY)
        self.note.setText(" ".join(notes))
        self.note.setVisible(bool(notes))
        self.tokens.setText(plural(prompt.tokens, "token"))
        self.tokens.setToolTip(texts.TOKENS_TIP)
        head = f"{prompt.prompt.system}\n\n" if prompt.prompt.system else ""
        passages = [(len(head) + begin, len(head) + end) for begin, end in prompt.fills]
        self.text.show_text(head + prompt.prompt.user, passages)


def _preview_of(start: Start, store: Store | None, pair: Pair, layer: int, neuron: int, order: Order | None) -> Preview:
    return preview(start, store, pair, layer=layer, neuron=neuron, order=order)
