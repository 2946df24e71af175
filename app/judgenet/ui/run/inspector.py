"""The inspector of the page Run: everything about one node of the canvas."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from judgenet.core.calls import CallSite
from judgenet.core.criteria import weights_differ
from judgenet.core.network import takes_criterion
from judgenet.core.pairs import Order
from judgenet.core.wording import duration, money, of
from judgenet.engine.pair_snapshot import NeuronSnapshot
from judgenet.ui.canvas.model import Part, Place, Target
from judgenet.ui.context import Context
from judgenet.ui.elements import ElidedLabel, icon_button, label, line
from judgenet.ui.measures import measure
from judgenet.ui.run import texts
from judgenet.ui.run.call_tabs import CallsTab, PromptTab, RawTab, ReadTab
from judgenet.ui.run.elements import Tag
from judgenet.ui.run.evidence import EvidenceTab
from judgenet.ui.run.evidence_text import Reference
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.part_views import RolesView, RunPairView, VoteView
from judgenet.ui.run.thread import ThreadPanel
from judgenet.ui.theme import current_theme
from judgenet.ui.tokens import ICON_TEXT, PANEL_INSIDE
from judgenet.ui.widgets import Chip

TABS: Final = (
    ("evidence", texts.EVIDENCE),
    ("read", texts.INPUTS),
    ("prompt", texts.PROMPT),
    ("raw", texts.RAW_ANSWER),
    ("calls", texts.CALLS_TAB),
)
SHORT_TABS: Final = {"raw": texts.RAW_SHORT}
NARROW: Final = 440
"""Below this width, in px at 100 %, tabs and facts are shorter."""
TICK_MS: Final = 250
"""How often the seconds of running calls are updated."""

_PARTS: Final[dict[Part, str]] = {
    "pair": texts.PAIR,
    "roles": texts.ROLES,
    "vote": texts.VOTE,
    "chair": texts.CHAIR,
    "verdict": texts.VERDICT,
}


class RunInspector(QFrame):
    """Title, place, tabs, the thread through the layers, and a line of facts.

    Signals:
        target_wanted: a :data:`Target` to select.
    """

    target_wanted = Signal(object)

    def __init__(self, context: Context, focus: FocusPair) -> None:
        super().__init__()
        self.setProperty("part", "surface")
        self.setAccessibleName(texts.INSPECTOR)
        self._context = context
        self._focus = focus
        self._target: Target = Place(0, 0)
        self._at: tuple[int, int] | None = None
        self.title = ElidedLabel(kind="title", fitted=True)
        self.chip = Chip()
        self.tag = Tag()
        self.mark = Tag()
        self.up = icon_button("chevron-up", texts.NEURON_ABOVE, "text")
        self.down = icon_button("chevron-down", texts.NEURON_BELOW, "text")
        self.up.clicked.connect(self._go_up)
        self.down.clicked.connect(self._go_down)
        self.place = ElidedLabel(tone="text2")
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(texts.VIEW_OF_NEURON)
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setUsesScrollButtons(False)
        for key, text in TABS:
            self.tabs.setTabData(self.tabs.addTab(text), key)
        self._make_tabs(context, focus)
        self.thread_panel = ThreadPanel(focus)
        self._thread_line = line()
        self.facts = ElidedLabel(tone="text2")
        self.facts.setAccessibleName(texts.FACTS)
        self._foot_line = line()
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setObjectName("inspector seconds")
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._connect(context, focus)
        self.refresh()

    def _make_tabs(self, context: Context, focus: FocusPair) -> None:
        self.evidence = EvidenceTab(context, focus)
        self.read = ReadTab(context, focus)
        self.prompt = PromptTab(context, focus)
        self.raw = RawTab(context, focus)
        self.calls = CallsTab(context, focus)
        self.pair = RunPairView(context, focus)
        self.roles = RolesView(context, focus)
        self.vote = VoteView(context, focus)
        self.nothing = label(texts.SELECT_NODE, tone="text2", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._body = QStackedWidget()
        self._pages: tuple[QWidget, ...] = (
            self.evidence,
            self.read,
            self.prompt,
            self.raw,
            self.calls,
            self.pair,
            self.roles,
            self.vote,
            self.nothing,
        )
        for page in self._pages:
            self._body.addWidget(page)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addWidget(self.chip)
        head.addWidget(self.tag)
        head.addWidget(self.mark)
        head.addStretch(1)
        head.addWidget(self.up)
        head.addWidget(self.down)
        column = QVBoxLayout(self)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.place)
        self._tab_row = QHBoxLayout()
        self._tab_row.addWidget(self.tabs)
        column.addLayout(self._tab_row)
        self._tab_line = line()
        column.addWidget(self._tab_line)
        column.addWidget(self._body, stretch=1)
        column.addWidget(self._thread_line)
        column.addWidget(self.thread_panel)
        column.addWidget(self._foot_line)
        column.addWidget(self.facts)
        self._head, self._column = head, column

    def _connect(self, context: Context, focus: FocusPair) -> None:
        self.tabs.currentChanged.connect(self._tab_changed)
        self.evidence.reference_chosen.connect(self._refer)
        self.read.reference_chosen.connect(self._refer)
        self.read.pair_wanted.connect(self._want_pair)
        self.thread_panel.reference_chosen.connect(self._refer)
        self.calls.call_chosen.connect(self._call_chosen)
        focus.replaced.connect(self._replaced)
        focus.neurons_changed.connect(self._neurons_changed)
        context.run_state.text_changed.connect(self._text_changed)
        context.run_state.run_changed.connect(self.refresh)
        context.settings.changed.connect(self.refresh)
        measure(self._column, margins=(1, 12, 0, 0))
        measure(self._head, margins=(PANEL_INSIDE, 0, 12, 0), spacing=8)
        measure(self.title, min_height=32)
        measure(self.place, margins=(PANEL_INSIDE, 0, PANEL_INSIDE, 4), font="body", tabular=True)
        measure(self._tab_row, margins=(PANEL_INSIDE - 10, 0, 0, 0))
        measure(self.facts, margins=(PANEL_INSIDE, 12, PANEL_INSIDE, 12), font="body", tabular=True)
        measure(self.nothing, margins=PANEL_INSIDE)
        for button in (self.up, self.down):
            measure(button, icon=ICON_TEXT)

    # Look

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._name_tabs()

    @property
    def narrow(self) -> bool:
        """Whether there is no room for two columns."""
        return self.width() < current_theme().px(NARROW)

    def _name_tabs(self) -> None:
        for place, (key, text) in enumerate(TABS):
            self.tabs.setTabText(place, SHORT_TABS.get(key, text) if self.narrow else text)

    # What is shown

    @property
    def target(self) -> Target:
        """The node that is shown."""
        return self._target

    @property
    def tab(self) -> str:
        """The key of the tab in view."""
        return str(self.tabs.tabData(self.tabs.currentIndex()))

    def show_tab(self, key: str) -> None:
        """Shows a tab by its key."""
        for place, (name, _) in enumerate(TABS):
            if name == key:
                self.tabs.setCurrentIndex(place)

    def show_target(self, target: Target | None) -> None:
        """Shows a node; ``None`` keeps the one shown."""
        if target is not None and target != self._target:
            self._target = target
            self.refresh()

    def show_call(self, site: CallSite) -> None:
        """Shows one call: its neuron, its order and its sample."""
        if site.order is not None:
            self.show_order(site.order, site.sample)

    def show_order(self, order: Order, sample: int) -> None:
        """Shows an order, and a sample from 1, in all tabs."""
        self.evidence.show_order(order, sample)
        for tab in (self.read, self.prompt, self.raw):
            tab.choice.choose(order, sample)
        self.refresh()

    def _call_chosen(self, order: str, sample: int) -> None:
        for tab in (self.read, self.prompt, self.raw):
            tab.choice.choose("ab" if order == "ab" else "ba", sample)

    def now(self) -> NeuronSnapshot | None:
        """The current state of the neuron that is shown; ``None`` for other nodes."""
        pair, target = self._focus.now, self._target
        if pair is None:
            return None
        if target == "chair":
            return pair.chair
        if isinstance(target, Place) and pair.has(target.layer + 1, target.neuron + 1):
            return pair[target.layer + 1, target.neuron + 1]
        return None

    def _replaced(self) -> None:
        self._at = None
        self.refresh()

    def _neurons_changed(self, changed: set[tuple[int, int]]) -> None:
        now = self.now()
        if now is None:
            if self._target in ("vote", "verdict"):
                self.vote.refresh()
            return
        mine = (now.layer, now.neuron) in changed
        thread = any(neuron == now.neuron for _, neuron in changed)
        before = any(layer == now.layer - 1 for layer, _ in changed)
        pair = self._focus.now
        ready = before and pair is not None and pair.layers_complete[now.layer - 2]
        if mine or (ready and self.tab in ("read", "prompt")):
            self.refresh()
        elif thread and not self.thread_panel.isHidden():
            self.thread_panel.show_neuron(now)
        if ready and not mine and self.tab == "evidence":
            self.evidence.tick()

    def _text_changed(self, sites: set[CallSite]) -> None:
        if self.now() is None:
            return
        if self.tab == "evidence":
            self.evidence.grow(sites)
        elif self.tab == "raw":
            self.raw.grow(sites)

    def _tick(self) -> None:
        now = self.now()
        if now is None or not now.busy:
            self._timer.stop()
            return
        if self.tab == "evidence" and now.phase == "asked":
            self.evidence.tick()
        self._show_facts(now)

    def refresh(self) -> None:
        """Shows the node in its current state."""
        now = self.now()
        is_part = not isinstance(self._target, Place) and self._target != "chair"
        shown = self._focus.now is not None
        self.tabs.setVisible(now is not None)
        self._tab_line.setVisible(shown)
        for button in (self.up, self.down):
            button.setVisible(now is not None and now.layer <= len(self._layers()))
        self.facts.setVisible(now is not None)
        self._foot_line.setVisible(now is not None)
        thread = now is not None and len(self._layers()) > 1 and now.layer <= len(self._layers())
        self.thread_panel.setVisible(thread)
        self._thread_line.setVisible(thread)
        if not shown or (now is None and not is_part):
            self.title.say("")
            self.place.say("")
            self.chip.hide()
            self.tag.say("")
            self.mark.say("")
            self._body.setCurrentWidget(self.nothing)
            return
        if now is None:
            self._show_part()
            return
        self._show_head(now)
        self._show_tab(now)
        if thread:
            self.thread_panel.show_neuron(now)
        self._show_facts(now)
        self._at = (now.layer, now.neuron)
        if now.busy and not self._timer.isActive():
            self._timer.start()

    def _layers(self) -> list[list[NeuronSnapshot]]:
        return [] if self._focus.now is None else self._focus.now.layers

    def _show_part(self) -> None:
        index = self._focus.index or 0
        part = self._target
        assert not isinstance(part, Place)
        self.chip.hide()
        self.tag.say("")
        self.mark.say("")
        title, place = _PARTS[part], texts.pair_number(index + 1)
        if part == "pair":
            title, place = place, self._pair_place()
        self.title.say(title)
        self.place.say(place)
        view: RunPairView | RolesView | VoteView = self.vote
        if part == "pair":
            view = self.pair
        elif part == "roles":
            view = self.roles
        view.refresh()
        self._body.setCurrentWidget(view)

    def _pair_place(self) -> str:
        pair = self._focus.pair
        if pair is None:
            return ""
        stop = None if self._focus.now is None else self._focus.now.stop
        parts = [pair.id, pair.task or "", ", ".join(pair.tags), "" if stop is None else stop.words()]
        return ", ".join(part for part in parts if part)

    def _weight_words(self, now: NeuronSnapshot) -> str:
        """The weight of a neuron's criterion, where the pair's criteria have weights that differ."""
        pair, snapshot = self._focus.pair, self._focus.now
        if pair is None or snapshot is None or now.neuron > len(pair.criteria):
            return ""
        weights = [criterion.weight for criterion in pair.criteria]
        judges = takes_criterion(snapshot.spec, now.layer - 1, now.neuron - 1)
        return texts.weight(weights[now.neuron - 1]) if judges and weights_differ(weights) else ""

    def _show_head(self, now: NeuronSnapshot) -> None:
        self.title.say(self._focus.name(now))
        layers = self._layers()
        if now.layer > len(layers):
            place = texts.chair_place(len(layers))
        else:
            place = texts.neuron_place(now.layer, now.neuron, len(layers[now.layer - 1]), self._weight_words(now))
        place = f"{place}, {now.settings.model}" if now.settings.model else place
        if now.stood_in:
            place = texts.calls_by_stand_in(place, of(now.stood_in, now.answered))
        self.place.say(place)
        self.chip.setVisible(now.phase in ("scored", "unscored"))
        self.chip.show_verdict(now.verdict, unscored=now.phase == "unscored")
        if now.phase == "writing":
            self.tag.say(texts.writing_order(now.writing.upper()) if now.writing else texts.WRITING, "accent")
        elif now.phase == "asked":
            self.tag.say(texts.ASKED, "accent")
        elif now.phase == "scored":
            self.tag.say("")
        else:
            self.tag.say(
                {"waiting": texts.WAITING, "resting": texts.NOT_USED_NODE, "left_out": texts.NOT_ASKED}.get(
                    now.phase, texts.UNSCORED
                )
            )
        verdicts = {asked.verdict for asked in now.orders if asked.verdict is not None}
        differ = len(verdicts) > 1 and len(now.orders) > 1
        self.mark.say(texts.ORDERS_DIFFER if differ else "", "warn")
        first, last = now.neuron == 1, now.layer <= len(layers) and now.neuron == len(layers[now.layer - 1])
        self.up.setEnabled(not first)
        self.down.setEnabled(not last)

    def _show_tab(self, now: NeuronSnapshot) -> None:
        key = self.tab
        if key == "evidence":
            self.evidence.show_neuron(now, other=self._at != (now.layer, now.neuron))
        elif key == "read":
            self.read.show_neuron(now)
        elif key == "prompt":
            self.prompt.show_neuron(now)
        elif key == "raw":
            self.raw.show_neuron(now)
        else:
            self.calls.show_neuron(now)
        self._body.setCurrentIndex(self.tabs.currentIndex())

    def _tab_changed(self) -> None:
        self.refresh()

    def _show_facts(self, now: NeuronSnapshot) -> None:
        """Shows tokens, time, price and attempts of the neuron's calls that are in."""
        tokens_in = tokens_out = attempts = 0
        price: float | None = 0.0
        cached = True
        seconds = 0.0
        for asked in now.orders:
            for sample in range(1, asked.calls + 1):
                call = self._focus.call(self._focus.site(now.layer, now.neuron, asked.order, sample))
                if call is None:
                    continue
                attempts = max(attempts, call.attempts)
                seconds = max(seconds, call.latency_s or 0.0)
                cached = cached and call.cached
                if call.usage is not None:
                    tokens_in += call.usage["prompt_tokens"]
                    tokens_out += call.usage["completion_tokens"]
                    price = None if price is None or call.price is None else price + call.price
        facts = []
        if tokens_in or tokens_out:
            facts.append(texts.tokens_in_and_out(tokens_in, tokens_out))
        if seconds:
            facts.append(duration(seconds))
        if tokens_out:
            currency = self._context.figures.currency
            facts.append(money(price, currency) if price is not None else texts.PRICE_UNKNOWN)
            facts.append(texts.FROM_STORE if cached else "")
        if attempts:
            facts.append(texts.FIRST_ATTEMPT if attempts == 1 else texts.attempts(attempts))
        text = ("\u2002" if self.narrow else "\u2003").join(fact for fact in facts if fact)
        self.facts.say(text or (texts.PAIR_DECIDED_EARLY if now.phase == "left_out" else texts.NO_ANSWER_YET))

    # Going elsewhere

    def _refer(self, reference: Reference) -> None:
        self.target_wanted.emit(Place(reference.layer - 1, reference.neuron - 1))

    def _want_pair(self) -> None:
        self.target_wanted.emit("pair")

    def _go_up(self) -> None:
        self._go(-1)

    def _go_down(self) -> None:
        self._go(1)

    def _go(self, step: int) -> None:
        if isinstance(self._target, Place):
            self.target_wanted.emit(Place(self._target.layer, self._target.neuron + step))
