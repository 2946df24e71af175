"""A neuron through the layers: its verdict and scores in each, and the sentence that best explains them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.evaluation import REASON_WORDS, Evaluation
from judgenet.core.evidence_highlights import KeySentence, key_sentence
from judgenet.core.pairs import Order
from judgenet.core.wording import score_text
from judgenet.engine.pair_snapshot import NeuronSnapshot, OrderSnapshot
from judgenet.ui.elements import ScrollColumn, label
from judgenet.ui.measures import measure
from judgenet.ui.run import texts
from judgenet.ui.run.evidence_text import FittedProse, Reference
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.marks import ChangeMark
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import PANEL_INSIDE
from judgenet.ui.widgets import Chip

SENTENCES_FROM = 430
"""The least width, in px at 100 %, at which sentences are shown."""


class _Row:
    """The widgets of one layer."""

    def __init__(self, layer: int) -> None:
        self.layer = layer
        self.now: NeuronSnapshot | None = None
        self.title = label(texts.layer(layer), tone="text2")
        self.chip = Chip()
        self.scores = label("")
        self.text = FittedProse(texts.why_in_layer(layer))
        self.place = QWidget()
        self.column = QBoxLayout(QBoxLayout.Direction.TopToBottom, self.place)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.line = QHBoxLayout()
        self.column.addWidget(self.title)
        self.column.addLayout(self.line)
        self.column.addStretch(1)
        self.line.addWidget(self.chip)
        self.line.addWidget(self.scores)
        self.line.addStretch(1)
        measure(self.scores, font="body", tabular=True)
        measure(self.line, spacing=8)
        measure(self.column, spacing=2)

    def lie(self, flat: bool) -> None:
        """Puts everything on one line (``flat``), or the name of the layer above the rest."""
        self.column.setDirection(QBoxLayout.Direction.LeftToRight if flat else QBoxLayout.Direction.TopToBottom)


class _FittedColumn(ScrollColumn):
    """A scrolling area as high as what is in it, if there is room for that."""

    def __init__(self, inner: QWidget, name: str) -> None:
        super().__init__(inner, name)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def sizeHint(self) -> QSize:
        inner = self.widget()
        if inner is None:
            return super().sizeHint()
        layout = inner.layout()
        height = inner.sizeHint().height()
        if layout is not None and layout.hasHeightForWidth():
            height = layout.heightForWidth(self.viewport().width())
        return QSize(inner.sizeHint().width(), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, min(self.sizeHint().height(), 120))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


class ThreadPanel(QWidget):
    """The panel "Through the layers".

    Signals:
        reference_chosen: the :class:`Reference` whose name was clicked.
    """

    reference_chosen = Signal(object)

    def __init__(self, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName(texts.THROUGH_LAYERS)
        self._focus = focus
        self._rows: list[_Row] = []
        self._shown: tuple[int | None, int] | None = None
        self.title = label(texts.THROUGH_LAYERS, "section")
        self.so_far = label(texts.SO_FAR, tone="text2")
        self.mark = ChangeMark()
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self.so_far)
        head.addWidget(self.mark)
        inner = QWidget()
        self._grid = QGridLayout(inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(1, 1)
        self._scroll = _FittedColumn(inner, texts.SAID_IN_EACH_LAYER)
        inner.installEventFilter(self._scroll)
        column = QVBoxLayout(self)
        column.addLayout(head)
        column.addWidget(self._scroll)
        self._head, self._column = head, column
        measure(self._column, margins=(PANEL_INSIDE, 12, PANEL_INSIDE, 12), spacing=12)
        measure(self._head, spacing=8)
        measure(self._grid, across=16, down=10)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        roomy = self.width() >= current_theme().px(SENTENCES_FROM)
        for row in self._rows:
            row.text.setVisible(roomy and bool(row.text.said))
            row.title.setFixedWidth(current_theme().px(60 if not roomy else 130))
            row.lie(not roomy)
        self._scroll.setMaximumHeight(
            max(current_theme().px(100), round(0.4 * self.window().height()) - current_theme().px(60))
        )
        self._grid.setColumnMinimumWidth(0, current_theme().px(130 if roomy else 60))

    def show_neuron(self, now: NeuronSnapshot) -> None:
        """Shows a neuron in all layers."""
        pair = self._focus.now
        if pair is None:
            return
        depth = len(pair.layers)
        if len(self._rows) != depth:
            self._build(depth)
        by_layer = [neurons[now.neuron - 1] if now.neuron <= len(neurons) else None for neurons in pair.layers]
        asked = [neuron for neuron in by_layer if neuron is not None and neuron.phase not in ("resting", "left_out")]
        other = (self._focus.index, now.neuron) != self._shown
        for row, neuron in zip(self._rows, by_layer, strict=True):
            if other or neuron != row.now:
                row.now = neuron
                self._fill(row, neuron, other=other)
        self._shown = (self._focus.index, now.neuron)
        verdicts = [neuron.verdict for neuron in asked if neuron.verdict is not None]
        self.mark.say(*((verdicts[0], verdicts[-1]) if len(verdicts) > 1 else (None, None)))
        outstanding = any(not neuron.complete for neuron in asked)
        self.so_far.setVisible(outstanding and bool(verdicts))
        self._arrange()

    def _build(self, depth: int) -> None:
        for row in self._rows:
            for widget in (row.place, row.text):
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        self._shown = None
        self._rows = [_Row(layer) for layer in range(1, depth + 1)]
        for place, row in enumerate(self._rows):
            self._grid.addWidget(row.place, place, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(row.text, place, 1, Qt.AlignmentFlag.AlignTop)
            row.text.reference_chosen.connect(self.reference_chosen)

    def _fill(self, row: _Row, now: NeuronSnapshot | None, *, other: bool) -> None:
        if now is None or now.phase == "resting":
            row.chip.hide()
            row.scores.setText(texts.NOT_IN_LAYER if now is None else texts.NOT_USED)
            row.text.say("")
            return
        if now.phase == "left_out":
            row.chip.hide()
            row.scores.setText(texts.NOT_ASKED_EARLY)
            row.text.say("")
            return
        row.chip.show_verdict(now.verdict, unscored=now.phase == "unscored")
        row.chip.setVisible(now.verdict is not None or now.phase == "unscored")
        row.scores.setText(_scores(now))
        before = now.layer - 1
        sentence, order = self._key_sentence(now)
        if sentence.text:
            row.text.say(
                f"“{sentence.text}”",
                names=self._focus.names(before) if before else (),
                refer=lambda place: Reference(before, place + 1),
                color="text2",
                order=order,
            )
        elif other or not now.complete:
            row.text.say("")

    def _key_sentence(self, now: NeuronSnapshot) -> tuple[KeySentence, Order | None]:
        """The sentence that best explains a verdict, and the order in which it was written: preferably one that names
        another judge of the layer before, of an order that agrees with the verdict."""
        names = [name if place + 1 != now.neuron else "" for place, name in enumerate(self._focus.names(now.layer - 1))]
        sentences: list[tuple[KeySentence, Order]] = []
        for asked in sorted(now.orders, key=lambda asked: asked.verdict != now.verdict):
            result = self._evaluation(now, asked) if asked.calls_in else None
            if result is not None and result.evidence:
                sentences.append((key_sentence(result.evidence, names), asked.order))
        naming = next(((sentence, order) for sentence, order in sentences if sentence.mentions), None)
        return naming or (sentences[0] if sentences else (KeySentence("", ()), None))

    def _evaluation(self, now: NeuronSnapshot, asked: OrderSnapshot) -> Evaluation | None:
        """The first evaluation of a neuron in an order; ``None`` without one."""
        for sample in range(1, asked.calls + 1):
            result = self._focus.result(self._focus.site(now.layer, now.neuron, asked.order, sample))
            if isinstance(result, Evaluation):
                return result
        return None


def _scores(now: NeuronSnapshot) -> str:
    """The scores of each order, or what stands in their place: ``6 – 8, 6 – 7``, ``7 – 6, writing``, ``waiting``."""
    parts = []
    for asked in now.orders:
        busy = any(site.order == asked.order for site in now.busy)
        if asked.score_a is not None and asked.score_b is not None:
            parts.append(f"{score_text(asked.score_a)} – {score_text(asked.score_b)}")
        elif asked.reason is not None:
            parts.append(REASON_WORDS[asked.reason].lower())
        elif asked.verdict is not None:
            parts.append(texts.VERDICT_ONLY)
        elif busy:
            writing = now.phase == "writing" and now.writing in (asked.order, None)
            parts.append(texts.WRITING_STATE if writing else texts.ASKED_STATE)
    if len(set(parts)) == 1 and now.phase == "unscored":
        parts = parts[:1]
    return ", ".join(parts) if parts else texts.WAITING_STATE
