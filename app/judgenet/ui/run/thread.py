"""The thread of one neuron through the layers: what it said in each, and the sentence that shows why."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from judgenet.core.evaluation import REASON_WORDS, Evaluation
from judgenet.core.evidence_highlights import KeySentence, key_sentence
from judgenet.core.pairs import Order
from judgenet.core.wording import score_text
from judgenet.engine.pair_snapshot import NeuronSnapshot, OrderSnapshot
from judgenet.ui.elements import label
from judgenet.ui.measures import measure
from judgenet.ui.run.evidence_text import FittedProse, Reference
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.marks import ChangeMark
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import PANEL_INSIDE
from judgenet.ui.widgets import Chip

SENTENCES_FROM = 430
"""From this width (px at 100 %) on there is room for the sentences."""


class _Row:
    """One layer of the thread."""

    def __init__(self, layer: int) -> None:
        self.layer = layer
        self.now: NeuronSnapshot | None = None
        self.title = label(f"Layer {layer}", tone="text2")
        self.chip = Chip()
        self.scores = label("")
        self.text = FittedProse(f"Why, in layer {layer}")
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
        """Puts everything on one line, or the layer's name above the rest."""
        self.column.setDirection(QBoxLayout.Direction.LeftToRight if flat else QBoxLayout.Direction.TopToBottom)


class _Fitting(QScrollArea):
    """As high as what is in it, where there is room for that."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
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
    """ "Through the layers".

    Signals:
        reference_chosen: a :class:`Reference` whose name was clicked.
    """

    reference_chosen = Signal(object)

    def __init__(self, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName("Through the layers")
        self._focus = focus
        self._rows: list[_Row] = []
        self._shown: tuple[int | None, int] | None = None
        self.title = label("Through the layers", "section")
        self.so_far = label("so far", tone="text2")
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
        self._scroll = _Fitting()
        self._scroll.setAccessibleName("What it said in each layer")
        self._scroll.setWidget(inner)
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
        """Shows the thread of a neuron of a layer."""
        pair = self._focus.now
        if pair is None:
            return
        depth = len(pair.layers)
        if len(self._rows) != depth:
            self._build(depth)
        neuron_now = [neurons[now.neuron - 1] if now.neuron <= len(neurons) else None for neurons in pair.layers]
        there = [one for one in neuron_now if one is not None and one.phase not in ("resting", "left_out")]
        other = (self._focus.index, now.neuron) != self._shown
        for row, one in zip(self._rows, neuron_now, strict=True):
            if other or one != row.now:
                row.now = one
                self._fill(row, one, other=other)
        self._shown = (self._focus.index, now.neuron)
        said = [one for one in there if one.verdict is not None]
        first, last = (said[0], said[-1]) if len(said) > 1 else (None, None)
        self.mark.say(None if first is None else first.verdict, None if last is None else last.verdict)
        outstanding = any(not one.complete for one in there)
        self.so_far.setVisible(outstanding and bool(said))
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
            row.scores.setText("Not in this layer" if now is None else "Not used: no role on this pair")
            row.text.say("")
            return
        if now.phase == "left_out":
            row.chip.hide()
            row.scores.setText("Not asked: the pair was decided early")
            row.text.say("")
            return
        row.chip.show_verdict(now.verdict, unscored=now.phase == "unscored")
        row.chip.setVisible(now.verdict is not None or now.phase == "unscored")
        row.scores.setText(_scores(now))
        told, before, order = self._telling(now)
        if told.text:
            row.text.say(
                f"“{told.text}”",
                names=self._focus.names(before) if before else (),
                refer=lambda place: Reference(before, place + 1),
                color="text2",
                order=order,
            )
        elif other or not now.complete:
            row.text.say("")

    def _telling(self, now: NeuronSnapshot) -> tuple[KeySentence, int, Order | None]:
        """The sentence of the order that agrees with the verdict, one that names another judge first; the layer whose
        judges it may name, and its order."""
        before = now.layer - 1
        names = [name if place + 1 != now.neuron else "" for place, name in enumerate(self._focus.names(before))]
        sentences: list[tuple[KeySentence, Order]] = []
        orders = sorted(now.orders, key=lambda one: one.verdict != now.verdict)
        for one in orders:
            if one.calls_in:
                result = self._result(now, one)
                if result is not None and result.evidence:
                    sentences.append((key_sentence(result.evidence, names), one.order))
        chosen = next(
            ((told, order) for told, order in sentences if told.mentions), sentences[0] if sentences else None
        )
        return (KeySentence("", ()), before, None) if chosen is None else (chosen[0], before, chosen[1])

    def _result(self, now: NeuronSnapshot, one: OrderSnapshot) -> Evaluation | None:
        for sample in range(1, one.calls + 1):
            result = self._focus.result(self._focus.site(now.layer, now.neuron, one.order, sample))
            if isinstance(result, Evaluation):
                return result
        return None


def _scores(now: NeuronSnapshot) -> str:
    """ "6 – 8, 6 – 7", "7 – 6, writing", or why there are none."""
    parts = []
    for one in now.orders:
        busy = [site for site in now.busy if site.order == one.order]
        if one.score_a is not None and one.score_b is not None:
            parts.append(f"{score_text(one.score_a)} – {score_text(one.score_b)}")
        elif one.reason is not None:
            parts.append(REASON_WORDS[one.reason].lower())
        elif one.verdict is not None:
            parts.append("verdict only")
        elif busy:
            parts.append("writing" if now.phase == "writing" and now.writing in (one.order, None) else "asked")
    if len(set(parts)) == 1 and now.phase == "unscored":
        parts = parts[:1]
    return ", ".join(parts) if parts else "waiting"
