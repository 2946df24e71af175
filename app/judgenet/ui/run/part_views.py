"""What the inspector shows of nodes other than neurons: pair, roles, vote and verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from judgenet.core.acceptance import ACCEPTED
from judgenet.core.aggregate import Votes, deciding
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.wording import capitalized, rule_title, text_size_words
from judgenet.store.acceptance import left_to_people
from judgenet.store.quorum import lacks_quorum
from judgenet.ui.context import Context
from judgenet.ui.elements import ScrollColumn, label, line
from judgenet.ui.measures import measure
from judgenet.ui.run import texts
from judgenet.ui.run.evidence_text import FittedProse
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.text_view import TextView, one_line
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import PANEL_INSIDE
from judgenet.ui.widgets import Chip

SIDE_BY_SIDE: Final = 430
"""The least width, in px at 100 %, at which both responses stand side by side."""
_QUESTION_PICTURE: Final = 160
"""The greatest height of a picture in the question, in px at 100 %."""
_SIDES: Final[tuple[Verdict, ...]] = ("a", "tie", "b")


class _Response(QWidget):
    """One response with its chip, its length and its model."""

    def __init__(self, side: Verdict) -> None:
        super().__init__()
        self.chip = Chip()
        self.chip.show_verdict(side)
        self.words = label("", tone="text2")
        self.text = TextView(texts.response(side.upper()))
        self.text.in_text.within_view = True
        head = QHBoxLayout()
        head.addWidget(self.chip)
        head.addWidget(self.words)
        head.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(head)
        column.addWidget(self.text, stretch=1)
        self._head, self._column = head, column
        measure(self._head, spacing=8)
        measure(self._column, spacing=8)

    def say(self, pair: Pair, text: str, model: str | None, *, markdown: bool) -> None:
        self.words.setText(text_size_words(text, pair.pictures) + (f", {model}" if model else ""))
        self.text.show_text(text, markdown=markdown, pictures=pair.pictures)


class RunPairView(QWidget):
    """The pair: its question and its two responses."""

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self._context = context
        self._focus = focus
        self.question = FittedProse(texts.QUESTION, role="evidence", lines=8)
        self.question.in_text.most_height = _QUESTION_PICTURE
        self.responses = {"a": _Response("a"), "b": _Response("b")}
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.addWidget(self.responses["a"], 1)
        self._both.addWidget(self.responses["b"], 1)
        column = QVBoxLayout(self)
        column.addWidget(self.question)
        column.addWidget(line())
        column.addLayout(self._both, stretch=1)
        self._column = column
        measure(self._column, margins=(PANEL_INSIDE, 12, PANEL_INSIDE, 12), spacing=12)
        measure(self._both, spacing=24)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        wide = self.width() >= current_theme().px(SIDE_BY_SIDE)
        self._both.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)

    def refresh(self) -> None:
        """Shows the pair in focus."""
        pair = self._focus.pair
        if pair is None:
            return
        markdown = self._context.settings.preferences.markdown
        question = pair.question or texts.NO_QUESTION
        self.question.say(question, markdown=markdown, pictures=pair.pictures)
        self.responses["a"].say(pair, pair.response_a, pair.model_a, markdown=markdown)
        self.responses["b"].say(pair, pair.response_b, pair.model_b, markdown=markdown)


class RolesView(ScrollColumn):
    """The roles of the pair with their descriptions."""

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__(name=texts.ROLES_OF_PAIR)
        self._context = context
        self._focus = focus
        self._shown: object = None
        self.refresh()

    def refresh(self) -> None:
        """Shows the roles of the pair in focus."""
        now = self._focus.now
        if now is None:
            return
        roles = self._context.run_state.roles(now.pair)
        note = self._context.run_state.roles_note(now.pair)
        if (roles, note) == self._shown:
            return
        self._shown = (roles, note)
        inner = QWidget()
        column = QVBoxLayout(inner)
        measure(column, margins=(PANEL_INSIDE, 12, PANEL_INSIDE, 12), spacing=4)
        if note:
            column.addWidget(label(f"{capitalized(note)}.", tone="warn", wrap=True))
        if not roles:
            words = texts.ROLES_UNKNOWN if roles is None else texts.ONE_QUESTION
            column.addWidget(label(words, tone="text2", wrap=True))
        for role in roles or ():
            name = one_line(role.name)
            column.addWidget(label(name, "node", wrap=True))
            text = FittedProse(texts.role(name))
            text.say(role.description or texts.NO_DESCRIPTION, color="text2")
            column.addWidget(text)
            column.addSpacing(8)
        column.addStretch(1)
        self.setWidget(inner)


class VoteView(ScrollColumn):
    """The votes of each layer, the verdict of every aggregation, and the human label."""

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__(name=texts.VOTE_AND_VERDICTS)
        self._context = context
        self._focus = focus
        self._built: object = None
        self._votes: list[tuple[list[QLabel], QLabel]] = []
        self._verdicts: list[tuple[str, Chip, QLabel]] = []
        self._human: Chip | None = None
        self.refresh()

    def _build(self, depth: int, names: Sequence[str]) -> None:
        inner = QWidget()
        grid = QGridLayout(inner)
        measure(grid, margins=(PANEL_INSIDE, 12, PANEL_INSIDE, 12), across=8, down=6)
        grid.setColumnStretch(0, 1)
        self._votes, self._verdicts = [], []
        row = 0
        for layer in range(depth + 1):
            title = label(texts.ALL_LAYERS if layer == depth else texts.layer(layer + 1), "node")
            grid.addWidget(title, row, 0)
            numbers: list[QLabel] = []
            for place, side in enumerate(_SIDES):
                chip = Chip()
                chip.show_verdict(side)
                number = label("", "node" if side != "tie" else "")
                measure(number, min_width=36, font="node" if side != "tie" else "body", tabular=True)
                grid.addWidget(chip, row, 1 + 2 * place)
                grid.addWidget(number, row, 2 + 2 * place)
                numbers.append(number)
            words = label("", tone="text2")
            grid.addWidget(words, row + 1, 0, 1, 7)
            grid.addWidget(line(), row + 2, 0, 1, 7)
            self._votes.append((numbers, words))
            row += 3
        for name in names:
            title = label(rule_title(name), "node" if name == names[-1] else "")
            chip = Chip()
            words = label("", tone="text2")
            grid.addWidget(title, row, 0)
            grid.addWidget(chip, row, 1)
            grid.addWidget(words, row, 2, 1, 5)
            self._verdicts.append((name, chip, words))
            row += 1
        grid.addWidget(line(), row, 0, 1, 7)
        grid.addWidget(label(texts.HUMAN_LABEL), row + 1, 0)
        self._human = Chip()
        grid.addWidget(self._human, row + 1, 1)
        grid.setRowStretch(row + 2, 1)
        self.setWidget(inner)

    def refresh(self) -> None:
        """Shows the vote on the pair in focus."""
        now, table = self._focus.now, self._context.run_state.table
        if now is None or table is None:
            return
        decides = deciding(table.spec)
        names = [name for name in table.aggregations if name != decides] + [decides]
        built = (len(now.layers), tuple(names))
        if built != self._built:
            self._built = built
            self._build(len(now.layers), names)
        per_layer = [*now.layer_votes, now.votes]
        for (numbers, words), votes, layer in zip(self._votes, per_layer, [*now.layers, None], strict=True):
            for number, value in zip(numbers, (votes.a, votes.tie, votes.b), strict=True):
                number.setText(f"{value:,}")
            words.setText(self._used(votes, len(layer) if layer is not None else now.of, layer is None))
        verdicts = self._context.run_state.verdicts(now.pair)
        for name, chip, words in self._verdicts:
            verdict = None if verdicts is None else verdicts.get(name)
            people = name == ACCEPTED and left_to_people(table, now.pair)
            chip.show_verdict(verdict, people=people)
            if verdict is not None:
                words.setText("")
            elif lacks_quorum(table, name, now.pair):
                words.setText(texts.NO_QUORUM)
            elif people:
                words.setText(texts.FOR_PEOPLE)
            else:
                words.setText(texts.NO_VERDICT if verdicts is not None else texts.WHEN_ALL_CALLS_IN)
        if self._human is not None:
            self._human.show_verdict(self._context.run_state.human(now.pair))

    def _used(self, votes: Votes, voters: int, whole: bool) -> str:
        """How many votes were counted; ``whole``: of all layers, which also says how many are to come."""
        now = self._focus.now
        text = texts.votes_used(f"{sum((votes.a, votes.tie, votes.b)):,} of {voters:,}")
        if whole and now is not None and now.outstanding:
            return texts.votes_to_come(text, now.outstanding)
        return text
