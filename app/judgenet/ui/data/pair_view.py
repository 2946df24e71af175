"""The open pair: question, reference or criteria above the two responses side by side, and its labels and findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from judgenet.core.acceptance import FOR_PEOPLE
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.pictures import pictures_in
from judgenet.core.wording import longer_share, text_size_words, whole_percent
from judgenet.engine.pair_index import NoVerdict
from judgenet.formats import Finding
from judgenet.ui.criteria_text import criteria_count_words, criteria_list
from judgenet.ui.data import texts
from judgenet.ui.data.flow import FlowLayout
from judgenet.ui.elements import icon_button, label, line, link, set_tone, upright
from judgenet.ui.measures import Gap, measure
from judgenet.ui.text_view import TextView, one_line, plain_tip
from judgenet.ui.theme import current_theme
from judgenet.ui.widgets import Chip, Segment

_QUESTION_LINES: Final = 5
_QUESTION_LINES_LOW: Final = 3
_QUESTION_PICTURE: Final = 140
"""The greatest height of a picture in the question, in px at 100 %: the responses need the room."""
_LOW: Final = 420
"""Below this height, in px at 100 %, the question gets fewer lines."""


_TEXTS: Final = (("question", texts.QUESTION), ("reference", texts.REFERENCE), ("criteria", texts.CRITERIA))


def difference_words(share: float | None) -> str:
    """By how much B is longer than A, from that share of A: ``8 % longer than A``; empty where A is empty."""
    if share is None:
        return ""
    if abs(share) < 0.005:
        return texts.AS_LONG
    if share >= 9.995:
        return texts.times_as_long(share + 1)
    return (texts.longer if share > 0 else texts.shorter)(whole_percent(abs(share)))


class _Response(QWidget):
    """One response: its chip, its model, its length, and the text."""

    def __init__(self, side: Verdict, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        letter = side.upper()
        self._chip = Chip()
        self._chip.show_verdict(side)
        self._title = label(texts.RESPONSE, "node")
        self._model = label(tone="text2")
        self._model.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._size = label(tone="text3")
        self.more = label(tone="text2")
        self.text = TextView(texts.response(letter))
        self.text.in_text.within_view = True
        self._head = QHBoxLayout()
        for widget, stretch in (
            (self._chip, 0),
            (self._title, 0),
            (self._model, 1),
        ):
            self._head.addWidget(widget, stretch)
        self._facts = FlowLayout()
        self._facts.addWidget(self._size)
        self._facts.addWidget(self.more)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._head)
        self._column.addLayout(self._facts)
        self._column.addWidget(self.text, stretch=1)
        measure(self._column, margins=(16, Gap(12), 8, 6), spacing=6)
        measure(self._head, spacing=8)
        measure(self._facts, spacing=8)

    def show_response(self, pair: Pair, text: str, model: str | None, *, markdown: bool) -> None:
        """Shows a response of a pair."""
        self._model.setText(one_line(model or "", 80))
        self._model.setToolTip(plain_tip(model or ""))
        self._size.setText(text_size_words(text, pair.pictures))
        self.text.show_text(text, markdown=markdown, pictures=pair.pictures)


class PairView(QFrame):
    """A pair with its responses side by side.

    Signals:
        stepped: -1 or 1, to go to the pair before or after.
        closed: the user closed the view.
        whole_wanted: true to fill the page, false to share it with the table.
        markdown_chosen: true to show texts as Markdown, false to show them plainly.
        run_wanted: the user wants to see the pair on the page Run.
    """

    stepped = Signal(int)
    closed = Signal()
    whole_wanted = Signal(bool)
    markdown_chosen = Signal(bool)
    run_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("part", "panel")
        self.setAccessibleName(texts.PAIR)
        self._pair: Pair | None = None
        self._markdown = True
        self._findings: tuple[Finding, ...] = ()
        self._tags: list[QLabel] = []
        self._chips: list[Chip] = []

        self.back = icon_button("chevron-up", texts.PREVIOUS_PAIR)
        self.forth = icon_button("chevron-down", texts.NEXT_PAIR)
        self.back.clicked.connect(self._back)
        self.forth.clicked.connect(self._forth)
        self.title = label(kind="section")
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.place = label(tone="text2")
        self.form = Segment(texts.SHOW_TEXTS, [("markdown", texts.MARKDOWN), ("plain", texts.PLAIN_TEXT)])
        self.form.chosen.connect(self._form_chosen)
        self.whole = icon_button("fit", texts.PAIR_ALONE)
        self.whole.setCheckable(True)
        self.whole.toggled.connect(self.whole_wanted)
        self.close_button = icon_button("close", texts.CLOSE_PAIR)
        self.close_button.clicked.connect(self.closed)
        self._head = QHBoxLayout()
        self._head.addWidget(self.back)
        self._head.addWidget(self.forth)
        self._head.addWidget(self.title, stretch=1)
        self._head.addWidget(self.place)
        self._head.addWidget(self.form)
        self._head.addWidget(self.whole)
        self._head.addWidget(self.close_button)

        self._facts = FlowLayout()
        self._facts_box = QWidget()
        self._lay_out()

    def _lay_out(self) -> None:
        self._facts_box.setLayout(self._facts)
        self.run_link = link(texts.SHOW_IN_RUN, texts.SHOW_IN_RUN_NAME)
        self.run_link.clicked.connect(self.run_wanted)

        self.which = Segment(texts.TEXT_ABOVE, _TEXTS)
        self.which.chosen.connect(self._show_question)
        self._question_title = label(texts.QUESTION, tone="text2")
        self.question = TextView(texts.QUESTION)
        self.question.in_text.most_height = _QUESTION_PICTURE
        self._question_head = QHBoxLayout()
        self._question_head.addWidget(self._question_title)
        self._question_head.addWidget(self.which)
        self._question_head.addStretch(1)
        self._question_size = label(tone="text3")
        self._question_head.addWidget(self._question_size)
        self._above = QVBoxLayout()
        self._above.addLayout(self._head)
        self._above.addWidget(self._facts_box)
        self._above.addLayout(self._question_head)
        self._above.addWidget(self.question)

        self.a = _Response("a")
        self.b = _Response("b")
        self._sides = QHBoxLayout()
        self._sides.setSpacing(0)
        self._sides.addWidget(self.a, stretch=1)
        self._sides.addWidget(upright())
        self._sides.addWidget(self.b, stretch=1)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._column.addLayout(self._above)
        self._column.addWidget(line())
        self._column.addLayout(self._sides, stretch=1)
        measure(self._column, margins=1)
        measure(self._above, margins=(16, Gap(8), 8, Gap(12)), spacing=Gap(8))
        for row in (self._head, self._question_head):
            measure(row, spacing=8)
        measure(self._facts, margins=0, spacing=8)
        measure(self._head, spacing=4)
        for tool in (self.back, self.forth, self.whole, self.close_button):
            measure(tool, icon=20)

    @property
    def pair(self) -> Pair | None:
        """The pair that is shown; ``None`` before one is."""
        return self._pair

    def set_markdown(self, markdown: bool) -> None:
        """Shows the texts as Markdown or plainly."""
        self._markdown = markdown
        self.form.set_current("markdown" if markdown else "plain")
        if self._pair is not None:
            self._show_texts(self._pair)

    def show_pair(
        self,
        pair: Pair,
        *,
        place: str = "",
        verdict: Verdict | None = None,
        judged: bool = False,
        missing: NoVerdict = "",
        in_run: bool = False,
        findings: Sequence[Finding] = (),
    ) -> None:
        """Shows a pair.

        Args:
            place: which one it is, ``12 of 213``.
            verdict: the network's; ``missing`` says why there is none although the pair was ``judged``.
            in_run: whether the run in focus has the pair.
            findings: those about this pair.
        """
        same = pair is self._pair
        self._pair = pair
        self._findings = tuple(findings)
        self.title.setText(one_line(pair.id, 120))
        self.title.setToolTip(plain_tip(pair.id))
        self.setAccessibleName(texts.pair(one_line(pair.id, 120)))
        self.place.setText(place)
        self._show_facts(pair, verdict, judged, missing, in_run)
        if not same:
            others = [
                key
                for key, exists in (("reference", pair.reference is not None), ("criteria", pair.criteria))
                if exists
            ]
            self.which.show_only(("question", *others))
            self.which.setVisible(bool(others))
            self._question_title.setVisible(not others)
            self.which.set_current("question")
            self._show_texts(pair)

    def focus_texts(self) -> None:
        """Puts the focus into the texts, which the keyboard can then scroll."""
        self.a.text.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_whole(self, whole: bool) -> None:
        """Says whether the pair fills the page, without emitting :attr:`whole_wanted`."""
        self.whole.blockSignals(True)
        self.whole.setChecked(whole)
        self.whole.blockSignals(False)

    # Facts

    def _show_facts(self, pair: Pair, verdict: Verdict | None, judged: bool, missing: NoVerdict, in_run: bool) -> None:
        while self._facts.count():
            widget = self._facts.takeAt(0).widget()
            if widget is not None and widget is not self.run_link:
                widget.deleteLater()
        self._chips.clear()
        self._add_verdict(texts.PEOPLE, pair.human, missing=texts.NO_LABEL)
        if judged:
            self._add_verdict(texts.NETWORK, verdict, missing=missing, unscored=missing != FOR_PEOPLE)
        if judged and verdict is not None and pair.human is not None:
            agree = verdict == pair.human
            self._tag(texts.AGREE if agree else texts.DIFFER, "good" if agree else "warn")
        for name, annotated in pair.annotators:
            self._add_verdict(one_line(name, 40), annotated)
        if pair.task:
            self._tag(one_line(pair.task, 40))
        for tag in pair.tags:
            self._tag(one_line(tag, 40))
        if pair.criteria:
            self._tag(criteria_count_words(pair))
        for finding in self._findings:
            self._tag(finding.title, "warn" if finding.severity == "warning" else "", finding.message)
        if in_run:
            self._facts.addWidget(self.run_link)
        self.run_link.setVisible(in_run)

    def _add_verdict(self, who: str, verdict: Verdict | None, *, missing: str = "", unscored: bool = False) -> None:
        """Shows who gave which verdict, as a name with a chip."""
        box = QWidget()
        row = QHBoxLayout(box)
        measure(row, margins=(0, 0, 8, 0), spacing=6)
        row.addWidget(label(who, tone="text2"))
        if verdict is not None or unscored:
            chip = Chip()
            chip.show_verdict(verdict, unscored=unscored and verdict is None)
            self._chips.append(chip)
            row.addWidget(chip)
        if verdict is None and missing:
            row.addWidget(label(missing, tone="text3"))
        words = {"a": texts.A, "b": texts.B, "tie": texts.TIE, None: missing}[verdict]
        box.setAccessibleName(f"{who}: {words}")
        self._facts.addWidget(box)

    def _tag(self, text: str, tone: str = "", tip: str = "") -> None:
        tag = label(text, tone=tone)
        tag.setProperty("part", "tag")
        tag.setToolTip(plain_tip(tip))
        self._facts.addWidget(tag)

    # Texts

    def _show_texts(self, pair: Pair) -> None:
        self._show_question(self.which.current)
        self.a.show_response(pair, pair.response_a, pair.model_a, markdown=self._markdown)
        self.b.show_response(pair, pair.response_b, pair.model_b, markdown=self._markdown)
        sides = (pair.response_a, pair.response_b)
        # A picture has no length to compare.
        pictures = any(pictures_in(text, pair.pictures) for text in sides)
        share = None if pictures else longer_share(*sides)
        self.b.more.setText(difference_words(share))
        set_tone(self.b.more, "warn" if share is not None and abs(share) >= 0.5 else "text2")

    def _show_question(self, which: str) -> None:
        if self._pair is None:
            return
        pair = self._pair
        others = {"reference": pair.reference or "", "criteria": criteria_list(pair, markdown=self._markdown)}
        text = others.get(which, pair.question)
        self.question.setAccessibleName(which.capitalize())
        size = text_size_words(text, pair.pictures) if text.strip() else texts.EMPTY
        self._question_size.setText(criteria_count_words(pair) if which == "criteria" else size)
        self.question.show_text(text, markdown=self._markdown, pictures=pair.pictures)
        self._fit_question()

    def _fit_question(self) -> None:
        low = self.height() / current_theme().scale < _LOW
        self.question.setFixedHeight(self.question.height_for(_QUESTION_LINES_LOW if low else _QUESTION_LINES))

    def _form_chosen(self, key: str) -> None:
        self.markdown_chosen.emit(key == "markdown")

    def _back(self) -> None:
        self.stepped.emit(-1)

    def _forth(self) -> None:
        self.stepped.emit(1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_question()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_question()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            return
        super().keyPressEvent(event)
