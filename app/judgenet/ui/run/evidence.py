"""The tab Evidence: what a neuron writes, in both orders side by side, or one at a time where room is short."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import REASON_WORDS, Evaluation, Unscored
from judgenet.core.pairs import ORDERS, Order, Verdict
from judgenet.core.reading_partial import evidence_so_far
from judgenet.core.wording import capitalized, duration
from judgenet.engine.pair_snapshot import NeuronSnapshot
from judgenet.store.columns import CallState
from judgenet.ui.clock import monotonic
from judgenet.ui.context import Context
from judgenet.ui.elements import label, line, upright
from judgenet.ui.measures import measure
from judgenet.ui.run import texts
from judgenet.ui.run.evidence_text import Prose, Reference
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.marks import ScoreRow, chip_icon
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import PANEL_INSIDE
from judgenet.ui.widgets import Chip, Segment

SIDE_BY_SIDE: Final = 430
"""The least width, in px at 100 %, at which both orders stand side by side."""

ORDER_HEADS: Final[dict[Order, str]] = {"ab": texts.A_FIRST, "ba": texts.B_FIRST}


class OrderColumn(QWidget):
    """The evidence of one call, with its scores below."""

    def __init__(self, context: Context, focus: FocusPair, order: Order) -> None:
        super().__init__()
        self._context = context
        self._focus = focus
        self.order: Order = order
        self.site: CallSite | None = None
        self.setAccessibleName(texts.order(order.upper()))
        self.title = label(texts.order(order.upper()), "node")
        self.first = label(ORDER_HEADS[order], tone="text2")
        self.text = Prose(texts.evidence_in(order.upper()))
        self.scores = ScoreRow()
        self.chip = Chip()
        self.state = label("", tone="text2", wrap=True)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        for widget in (self.title, self.first):
            head.addWidget(widget)
        head.addStretch(1)
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 0, 0, 0)
        foot.addWidget(self.scores)
        foot.addWidget(self.chip)
        foot.addWidget(self.state, stretch=1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(head)
        column.addWidget(self.text, stretch=1)
        column.addWidget(line())
        column.addLayout(foot)
        self._head, self._foot, self._column = head, foot, column
        measure(self._column, spacing=4)
        measure(self._head, spacing=8)
        measure(self._foot, spacing=8)
        measure(self.state, min_height=36)

    def show_head(self, shown: bool) -> None:
        """Shows or hides the line that names the order."""
        for part in (self.title, self.first):
            part.setVisible(shown)

    def refresh(self, now: NeuronSnapshot, sample: int) -> None:
        """Shows the call of a sample, counted from 1, in its current state."""
        self.site = self._focus.site(now.layer, now.neuron, self.order, sample)
        state = self._context.run_state.call_state(self.site)
        scored = state.phase == "scored"
        with_scores = scored and state.score_a is not None and state.score_b is not None
        self.scores.setVisible(with_scores)
        self.chip.setVisible(state.phase == "unscored" or (scored and not with_scores))
        if with_scores:
            self.scores.say(state.score_a, state.score_b)
        self.chip.show_verdict(state.verdict, unscored=state.phase == "unscored")
        if state.finished:
            self._show_finished(now, self.site, state, with_scores)
        else:
            self._show_unfinished(now, self.site, state)

    def _show_finished(self, now: NeuronSnapshot, site: CallSite, state: CallState, with_scores: bool) -> None:
        result = self._focus.result(site)
        markdown = self._context.settings.preferences.markdown
        if isinstance(result, Evaluation):
            before = now.layer - 1
            names = self._focus.names(before) if before else ()
            self.state.setText("" if with_scores else texts.VERDICT_WITHOUT_SCORES)
            if result.evidence:
                self.text.say(
                    result.evidence,
                    markdown=markdown,
                    names=names,
                    refer=lambda place: Reference(before, place + 1),
                    order=self.order,
                )
            else:
                self.text.say(texts.NO_EVIDENCE, color="text3")
            return
        reason = state.reason
        self.state.setText(texts.UNSCORED if reason is None else REASON_WORDS[reason])
        detail = result.detail if isinstance(result, Unscored) else ""
        call = self._focus.call(site)
        partial = evidence_so_far(call.raw_text) if call is not None and call.raw_text else ""
        if partial:
            self.text.say(partial, markdown=markdown, order=self.order)
        else:
            self.text.say(capitalized(detail) or texts.NO_ANSWER, color="text2")

    def _show_unfinished(self, now: NeuronSnapshot, site: CallSite, state: CallState) -> None:
        if state.phase == "writing":
            self.text.say(evidence_so_far(self._context.run_state.live_text(site)), writing=True)
            self.state.setText(texts.SCORES_FOLLOW)
            return
        if state.phase == "asked":
            since = self._context.run_state.since(site)
            now_or_ago = texts.ASKED_NOW if since is None else texts.asked_ago(duration(max(0.0, monotonic() - since)))
            self.text.say(now_or_ago, color="text3")
            self.state.setText("")
            return
        self.state.setText("")
        self.text.say(self._why_waiting(now), color="text3")

    def _why_waiting(self, now: NeuronSnapshot) -> str:
        pair, state = self._focus.now, self._context.run_state
        if not state.live:
            return texts.RUN_STOPPED_BEFORE
        if state.state == "paused":
            return texts.RUN_PAUSED
        if pair is not None and now.layer > 1 and not pair.layers_complete[now.layer - 2]:
            return texts.waits_for_layer(now.layer - 1)
        return texts.WAITS_FOR_TURN

    def grow(self) -> None:
        """Shows what the model wrote since."""
        if self.site is not None and self._context.run_state.call_state(self.site).phase == "writing":
            self.text.say(evidence_so_far(self._context.run_state.live_text(self.site)), writing=True)


class EvidenceTab(QWidget):
    """The evidence of the selected neuron in both orders.

    Signals:
        reference_chosen: the :class:`Reference` whose name was clicked.
    """

    reference_chosen = Signal(object)

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setAccessibleName(texts.EVIDENCE)
        self._context = context
        self._now: NeuronSnapshot | None = None
        self._sample = 1
        self._was_wide = True
        self.columns: dict[Order, OrderColumn] = {order: OrderColumn(context, focus, order) for order in ORDERS}
        for column in self.columns.values():
            column.text.reference_chosen.connect(self.reference_chosen)
        self.choice = Segment(texts.ORDER, (("both", texts.BOTH), ("ab", texts.AB), ("ba", texts.BA)))
        self.choice.chosen.connect(self._arrange)
        for order in ("both", *ORDERS):
            measure(self.choice.button(order), icon=(24, 20))
        self.samples = QComboBox()
        self.samples.setAccessibleName(texts.SAMPLE)
        self.samples.activated.connect(self._sample_chosen)
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.addWidget(self.choice)
        top.addWidget(self.samples)
        top.addStretch(1)
        self._between = upright()
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setContentsMargins(0, 0, 0, 0)
        self._both.addWidget(self.columns["ab"], 1)
        self._both.addWidget(self._between)
        self._both.addWidget(self.columns["ba"], 1)
        column_of_all = QVBoxLayout(self)
        column_of_all.addLayout(top)
        column_of_all.addLayout(self._both, stretch=1)
        self._top, self._column = top, column_of_all
        measure(self._column, margins=(PANEL_INSIDE, 12, PANEL_INSIDE, 4), spacing=12)
        measure(self._top, spacing=8)
        self._arrange()

    @property
    def wide(self) -> bool:
        """Whether both orders have room side by side."""
        return self.width() >= current_theme().px(SIDE_BY_SIDE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _asked_orders(self) -> list[Order]:
        return [] if self._now is None else [asked.order for asked in self._now.orders]

    def _arrange(self) -> None:
        if self._was_wide and not self.wide:
            self._choose_order()
        self._was_wide = self.wide
        orders = self._asked_orders()
        several = len(orders) > 1
        choice = "both" if self.wide or not several else self.choice.current
        self.choice.setVisible(several and not self.wide)
        for order, part in self.columns.items():
            part.setVisible(order in orders and choice in ("both", order))
            part.show_head(choice == "both")
        stacked = choice == "both" and not self.wide
        direction = QBoxLayout.Direction.TopToBottom if stacked else QBoxLayout.Direction.LeftToRight
        self._both.setDirection(direction)
        self._both.setSpacing(current_theme().px(16 if stacked else 23))
        self._between.setVisible(choice == "both" and several and not stacked)

    def show_neuron(self, now: NeuronSnapshot, *, other: bool) -> None:
        """Shows a neuron in its current state; ``other``: it is not the one shown before."""
        self._now = now
        samples = max((asked.calls for asked in now.orders), default=1)
        if now.settings.samples:
            samples = now.settings.samples
        if other or self.samples.count() != samples:
            self._sample = 1
            self.samples.clear()
            self.samples.addItems([texts.sample_of(number, samples) for number in range(1, samples + 1)])
        self.samples.setVisible(samples > 1)
        if other and not self.wide:
            self._choose_order()
        for order, part in self.columns.items():
            if order in self._asked_orders():
                part.refresh(now, self._sample)
        self._show_orders()
        self._arrange()

    def _choose_order(self) -> None:
        """Chooses the order to show alone: one whose call is running, else the first."""
        busy = set() if self._now is None else {site.order for site in self._now.busy}
        wanted = next((order for order in self._asked_orders() if order in busy), None)
        self.choice.set_current(wanted or next(iter(self._asked_orders()), "both"))

    def show_order(self, order: Order, sample: int) -> None:
        """Shows one call: its order, and its sample from 1."""
        self.choice.set_current(order)
        if sample <= self.samples.count():
            self.samples.setCurrentIndex(sample - 1)
            self._sample = sample
        if self._now is not None:
            self.show_neuron(self._now, other=False)

    def _show_orders(self) -> None:
        """Puts the state and the verdict of each order on its button."""
        now = self._now
        if now is None:
            return
        for order in self._asked_orders():
            asked = now.order(order)
            button = self.choice.button(order)
            assert asked is not None
            verdict: Verdict | None = asked.verdict if asked.complete else None
            words = order.upper()
            if any(site.order == order for site in now.busy):
                writing = now.phase == "writing" and now.writing in (order, None)
                words = texts.order_writing(words) if writing else texts.order_asked(words)
            button.setText(words)
            has_chip = asked.complete and asked.said
            button.setIcon(chip_icon(verdict) if has_chip else QIcon())
            if isinstance(button, QToolButton):
                # The chip stands after the word.
                button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
                style = Qt.ToolButtonStyle
                button.setToolButtonStyle(style.ToolButtonTextBesideIcon if has_chip else style.ToolButtonTextOnly)

    def _sample_chosen(self, place: int) -> None:
        self._sample = place + 1
        if self._now is not None:
            self.show_neuron(self._now, other=False)

    def grow(self, sites: set[CallSite]) -> None:
        """Shows what the model wrote since; ``sites`` are the calls that grew."""
        for part in self.columns.values():
            if part.site in sites and part.isVisibleTo(self):
                part.grow()

    def tick(self) -> None:
        """Shows how many seconds running calls have taken by now."""
        if self._now is not None:
            for order, part in self.columns.items():
                if order in self._asked_orders():
                    part.refresh(self._now, self._sample)
