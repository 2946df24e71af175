"""The panel of an import that chooses how many pairs of questions with more than two responses are judged."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from judgenet.core.matches import Matches
from judgenet.engine.importing import ImportDraft
from judgenet.formats.many import Systems
from judgenet.ui.data import texts
from judgenet.ui.elements import SpinBox, label
from judgenet.ui.measures import Gap, measure
from judgenet.ui.widgets import Segment

_BOX: Final = 96
"""The width of a box for a number, in px at 100 %."""
_MOST: Final = 100_000
_FIRST_NUMBER: Final = 12
_FIRST_SHARE: Final = 25


class MatchesPanel(QFrame):
    """Chooses all pairs of each question, or a sample. Hidden where all questions have two responses.

    Signals:
        picked: a number of pairs for each question, a share of them, or ``None`` for all; and the seed of the sample.
    """

    picked = Signal(object, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("part", "panel")
        self.setAccessibleName(texts.PAIRS_TO_JUDGE)
        self._draft: ImportDraft | None = None
        self.how = Segment(
            texts.PAIRS_TO_JUDGE,
            [("all", texts.ALL_PAIRS), ("number", texts.NUMBER_PER_QUESTION), ("share", texts.SHARE)],
        )
        self.how.chosen.connect(self._kind_chosen)
        self.number = SpinBox(texts.PAIRS_PER_QUESTION, 1, _MOST)
        self.share = SpinBox(texts.SHARE_NAME, 1, 99)
        self.share.setSuffix(texts.PER_CENT)
        self.seed = SpinBox(texts.SEED_NAME, 0, 2**31 - 1)
        self._seed_name = label(texts.SEED, tone="text2")
        for box in (self.number, self.share, self.seed):
            box.valueChanged.connect(self._changed)
            box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            measure(box, min_width=_BOX)
        self._row = QHBoxLayout()
        self._row.addWidget(label(texts.PAIRS_TO_JUDGE, "section"))
        self._row.addStretch(1)
        for widget in (self.how, self.number, self.share, self._seed_name, self.seed):
            self._row.addWidget(widget)
        self.words = label(wrap=True)
        self.cost = label(tone="text2", wrap=True)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._row)
        self._column.addWidget(self.words)
        self._column.addWidget(self.cost)
        self.hide()
        measure(self._column, margins=(16, Gap(8), 16, Gap(12)), spacing=Gap(6))
        measure(self._row, spacing=12)
        measure(self.words, font="body", tabular=True)
        measure(self.cost, font="body", tabular=True)

    def show_draft(self, draft: ImportDraft) -> None:
        """Shows the choice so far."""
        self._draft = draft
        self.setVisible(bool(draft.several))
        matches = draft.matches
        how = "all" if matches is None else "share" if isinstance(matches, float) else "number"
        self.how.set_current(how)
        for box, value in (
            (self.number, matches if isinstance(matches, int) else None),
            (self.share, round(100 * matches) if isinstance(matches, float) else None),
            (self.seed, draft.seed),
        ):
            box.blockSignals(True)
            if value is not None:
                box.setValue(value)
            box.blockSignals(False)
        self.number.setVisible(how == "number")
        self.share.setVisible(how == "share")
        for widget in (self._seed_name, self.seed):
            widget.setVisible(how != "all")

    def say(self, systems: Systems | None, cost: str) -> None:
        """Shows how many pairs and what cost the choice gives; ``None`` while they are counted."""
        self.words.setText(texts.COUNTING_PAIRS if systems is None else f"{systems.line()}.")
        self.cost.setText(cost or ("" if systems is None else texts.CALCULATING_COST))

    def _kind_chosen(self, key: str) -> None:
        seed = 0 if self._draft is None else self._draft.seed
        first: dict[str, Matches] = {"all": None, "number": _FIRST_NUMBER, "share": _FIRST_SHARE / 100}
        self.picked.emit(first[key], seed)

    def _changed(self, _value: int) -> None:
        if self._draft is None or self._draft.matches is None:
            return
        share = isinstance(self._draft.matches, float)
        self.picked.emit(self.share.value() / 100 if share else self.number.value(), self.seed.value())
