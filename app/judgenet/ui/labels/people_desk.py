"""The label desk for the prompts of a bias lab: people see what a judge sees, and nothing that reveals the probe."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from judgenet.core.bias.for_people import PeoplePrompt
from judgenet.core.evaluation import Choice
from judgenet.core.labels import Said
from judgenet.core.prompts import PromptBook, PromptError
from judgenet.core.wording import plural
from judgenet.store.db import Store, StoreError
from judgenet.store.lab_people import (
    PersonAnswer,
    keep_people,
    lab_prompts,
    lab_prompts_for_people,
    people_answers,
)
from judgenet.store.labs import LabInfo
from judgenet.ui.clock import monotonic
from judgenet.ui.context import Context
from judgenet.ui.elements import field, label
from judgenet.ui.empty import EmptyState
from judgenet.ui.labels import texts
from judgenet.ui.labels.pair_view import DeskView
from judgenet.ui.labels.state import FIRST_ANNOTATOR
from judgenet.ui.measures import measure

_WIDE: Final = 1080
_HIGH: Final = 720
_CHOICES: Final[dict[Said, Choice | None]] = {"a": "first", "b": "second", "tie": "tie", "unsure": None}
_SAID: Final[dict[Choice | None, Said]] = {"first": "a", "second": "b", "tie": "tie", None: "unsure"}


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The prompts, and what each person answered before, by prompt."""

    prompts: tuple[PeoplePrompt, ...]
    given: dict[str, dict[str, Choice | None]]


class PeopleDesk(QDialog):
    """People answer the prompts of a lab, one after the other. Each answer is saved at once, with the lab.

    ``changed`` is true once somebody has answered.
    """

    def __init__(self, context: Context, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._over = parent
        self.setWindowTitle(texts.LABEL_DESK)
        self.setAccessibleName(texts.LABEL_DESK)
        self.person = field(texts.ANNOTATOR)
        self.person.setMaxLength(60)
        self.person.setText(context.settings.text("annotator", FIRST_ANNOTATOR) or FIRST_ANNOTATOR)
        self.person.editingFinished.connect(self._named)
        self.lead = label(texts.WHICH_IS_BETTER, "section")
        self.leave = QPushButton(texts.CLOSE)
        self.leave.setAutoDefault(False)
        self.leave.clicked.connect(self.accept)
        self.desk = DeskView(letters=("1", "2"))
        self.empty = EmptyState("labels")
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.desk)
        head = QHBoxLayout()
        head.addWidget(self.lead, 1)
        head.addWidget(label(texts.ANNOTATOR, tone="text2"))
        head.addWidget(self.person)
        head.addWidget(self.leave)
        column = QVBoxLayout(self)
        column.addLayout(head)
        column.addWidget(self.stack, 1)
        self.changed = False
        self.prompts: tuple[PeoplePrompt, ...] = ()
        self.at = 0
        self._given: dict[str, dict[str, Choice | None]] = {}
        self._since = monotonic()
        self._writes = asyncio.Lock()
        self.desk.said.connect(self._say)
        self.desk.back.connect(self.back)
        self.desk.markdown_chosen.connect(lambda on: context.settings.set(markdown=on))
        measure(head, margins=(32, 16, 32, 0), spacing=12)
        measure(column, margins=0, spacing=0)
        measure(self.person, width=200)
        context.theme.dress(self)

    def show_for(self, info: LabInfo, probes: Collection[str] | None = None) -> None:
        """Opens the desk on the prompts of a lab; with ``probes``, on those of these probes alone."""
        store = self._context.document.store
        if store is None:
            return
        theme = self._context.theme.theme
        room = self._over.size()
        self.resize(min(theme.px(_WIDE), room.width() - theme.px(32)), min(theme.px(_HIGH), room.height()))
        self.desk.set_markdown(self._context.settings.preferences.markdown)
        if probes is not None:
            plans = tuple(plan for plan in info.lab.probes if plan.key in probes)
            info = replace(info, lab=replace(info.lab, probes=plans))
        self.empty.say(texts.READING_PROMPTS, "")
        self._context.tasks.start(self._read(store, info), texts.READ_PROMPTS)
        self.open()

    async def _read(self, store: Store, info: LabInfo) -> None:
        edits = self._context.document.project.prompts
        try:
            sheet = await self._context.tasks.off_thread(_sheet, store, info, dict(edits))
        except (PromptError, StoreError, sqlite3.Error) as error:
            self._context.errors.post_exception(error)
            self.reject()
            return
        self.prompts, self._given = sheet.prompts, sheet.given
        self._first_open()

    # Who answers, and what is on the desk

    @property
    def who(self) -> str:
        """The annotator."""
        return " ".join(self.person.text().split()) or FIRST_ANNOTATOR

    @property
    def given(self) -> dict[str, Choice | None]:
        """This person's answers, by prompt."""
        return self._given.setdefault(self.who, {})

    def _named(self) -> None:
        self._context.settings.keep_text("annotator", self.who)
        self._first_open()

    def _first_open(self) -> None:
        """Goes to the first prompt that this person has not answered."""
        given = self.given
        self.at = next((at for at, prompt in enumerate(self.prompts) if prompt.prompt not in given), len(self.prompts))
        self._show()

    def _show(self) -> None:
        self._since = monotonic()
        if not self.prompts:
            self.empty.say(texts.NO_PROMPTS, texts.RUN_LAB_FIRST)
            self.stack.setCurrentWidget(self.empty)
            return
        if self.at >= len(self.prompts):
            answered = sum(prompt.prompt in self.given for prompt in self.prompts)
            self.empty.say(
                texts.all_answered(plural(answered, "answer"), len(self.prompts)), "", texts.CLOSE, self.accept
            )
            self.stack.setCurrentWidget(self.empty)
            return
        prompt = self.prompts[self.at]
        said = _SAID[self.given[prompt.prompt]] if prompt.prompt in self.given else None
        self.desk.show_prompt(prompt, self.at, len(self.prompts), said, self._context.document.read_only)
        self.stack.setCurrentWidget(self.desk)
        self.desk.setFocus()

    def back(self) -> None:
        """Goes back to the prompt before."""
        if self.at:
            self.at -= 1
            self._show()

    def _say(self, said: Said) -> None:
        if self.at >= len(self.prompts) or self._context.document.read_only:
            return
        prompt = self.prompts[self.at]
        if said != "skip":
            choice = _CHOICES[said]
            seconds = round(monotonic() - self._since, 2)
            answer = PersonAnswer(prompt.prompt, prompt.content, self.who, choice, seconds, time.time())
            self.given[prompt.prompt] = choice
            self.changed = True
            self._context.tasks.start(self._keep(answer), texts.SAVE_ANSWER)
        self.at += 1
        self._show()

    async def _keep(self, answer: PersonAnswer) -> None:
        store = self._context.document.store
        if store is None:
            return
        try:
            async with self._writes:
                await self._context.tasks.off_thread(keep_people, store, (answer,))
        except (StoreError, sqlite3.Error) as error:
            self._given.get(answer.person, {}).pop(answer.prompt, None)
            self._context.errors.post_exception(error, texts.LABEL_DESK)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.stack.currentWidget() is self.desk and not self.person.hasFocus() and self.desk.take_key(event):
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # In the field it ends the name; the dialog stays.
            return
        super().keyPressEvent(event)


def _sheet(store: Store, info: LabInfo, edits: dict[str, str]) -> _Sheet:
    book = PromptBook.default().edited(edits)
    given = people_answers(store, lambda: lab_prompts(store, info))
    return _Sheet(lab_prompts_for_people(store, info, book), given)
