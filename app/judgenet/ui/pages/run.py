"""The page Run: the network at work, the selected neuron, and all pairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSplitter, QToolButton, QWidget

from judgenet.core.calls import CallSite
from judgenet.core.wording import near_day, plural
from judgenet.store.batch_book import open_batches
from judgenet.store.runs import RunInfo
from judgenet.store.shards import ShardsInRun
from judgenet.ui import clock
from judgenet.ui.actions import known_action
from judgenet.ui.canvas.model import Place, Target
from judgenet.ui.context import Context
from judgenet.ui.elements import ElidedLabel
from judgenet.ui.navigation import Visit
from judgenet.ui.pages.base import Page
from judgenet.ui.results.run_choice import called
from judgenet.ui.run import texts
from judgenet.ui.run.canvas_pane import CanvasPane
from judgenet.ui.run.dock import RunDock
from judgenet.ui.run.focus import FocusPair
from judgenet.ui.run.inspector import RunInspector
from judgenet.ui.shards.part import ShardsPart
from judgenet.ui.tokens import INSPECTOR, NARROW_WINDOW, RAIL_NARROW
from judgenet.ui.widgets import set_kind

DOCK: Final = 272
DOCK_NARROW: Final = 236
_TIGHT: Final = 1180
"""Px of the page, at 100 %, below which the header of the chart has no room for facts."""
TALL: Final = 96
"""A layer of more neurons fills the page's height."""
KEEP_MS: Final = 500
"""Delay in ms after which the user's place on the page is saved."""

_STATES: Final = {
    "running": texts.GOES_ON,
    "paused": texts.PAUSED,
    "done": texts.FINISHED,
    "enough": texts.ENOUGH_IS_KNOWN,
    "budget": texts.STOPPED_AT_ITS_LIMIT,
    "halted": texts.HALTED,
    "cancelled": texts.STOPPED_BY_USER,
    "failed": texts.FAILED,
}


class RunPage(Page):
    """The page Run."""

    key = "run"
    smallest = (900, 500)
    primary = "run.start"

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._narrow: bool | None = None
        self._ran = False
        self._out = ""
        self._scale = 1.0
        self._dock_wanted: bool | None = None
        self.focus = FocusPair(context, self)
        self.dock = RunDock(context, self.focus)
        self._add_actions()
        self.canvas = CanvasPane(context, self.focus)
        self.inspector = RunInspector(context, self.focus)
        self.down = QSplitter(Qt.Orientation.Vertical)
        self.down.addWidget(self.canvas)
        self.down.addWidget(self.dock)
        self.across = QSplitter(Qt.Orientation.Horizontal)
        self.across.addWidget(self.down)
        self.across.addWidget(self.inspector)
        for splitter, name in ((self.down, texts.HEIGHT_OF_THE_DOCK), (self.across, texts.WIDTH_OF_THE_INSPECTOR)):
            splitter.setHandleWidth(1)
            splitter.setChildrenCollapsible(False)
            splitter.setStretchFactor(0, 1)
            splitter.setStretchFactor(1, 0)
            splitter.setAccessibleName(name)
            splitter.splitterMoved.connect(self._moved)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self.shards = ShardsPart(context, self.across)
        row.addWidget(self.shards)
        self.run_choice = QToolButton()
        self.run_choice.setAccessibleName(texts.WHICH_RUN_IS_SHOWN)
        self.run_choice.setToolTip(texts.WHICH_RUN_IS_SHOWN)
        set_kind(self.run_choice, "menu")
        self.run_choice.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self.batches = ElidedLabel(tone="text2", fitted=True)
        self._connect(context)

    def _connect(self, context: Context) -> None:
        self._menu.aboutToShow.connect(self._fill_menu)
        self.run_choice.setMenu(self._menu)
        self._keeper = QTimer(self)
        self._keeper.setObjectName("run place")
        self._keeper.setSingleShot(True)
        self._keeper.setInterval(KEEP_MS)
        self._keeper.timeout.connect(self.keep_place)
        self._wanted: CallSite | None = None
        self._returned_to: object = None

        self.canvas.target_selected.connect(self._target_selected)
        self.canvas.target_activated.connect(self._activated)
        self.inspector.target_wanted.connect(self.show_target)
        self.dock.pair_chosen.connect(self._pair_chosen)
        self.dock.call_opened.connect(self._call_opened)
        self.dock.call_wanted.connect(self.show_call)
        self.inspector.tabs.currentChanged.connect(self._keep_soon)
        state = context.run_state
        state.run_changed.connect(self._run_changed)
        state.runs_changed.connect(self._run_changed)
        state.focus_changed.connect(self._keep_soon)
        state.focus_changed.connect(self._refresh_steps)
        self.focus.replaced.connect(self._focus_replaced)
        context.runner.changed.connect(self._runner_changed)
        self.shards.pairs_wanted.connect(self._show_pairs)
        self._run_changed()
        self._focus_replaced()

    # Actions

    def _add_actions(self) -> None:
        self.context.actions.add(
            known_action("run.retry_unscored", self._retry_unscored, self._can_retry),
            known_action("run.start_fresh", self._start_fresh, self._can_start_fresh),
            known_action("run.previous_pair", self.previous_pair, self._can_go_back, scope=self),
            known_action("run.next_pair", self.next_pair, self._can_go_on, scope=self),
            known_action("run.dock", self._toggle_dock, self._has_run, self._dock_shown, scope=self),
            known_action("run.follow", self._toggle_follow, self._can_follow, self._follows, scope=self),
        )

    def _can_retry(self) -> bool | str:
        why = self.context.runner.why_not()
        if why:
            return why
        return bool(self._to_retry()) or texts.NOTHING_TO_RETRY

    def _to_retry(self) -> int:
        """The number of unscored calls that a retry would ask again; 0 where the project has changed since that run."""
        state, document = self.context.run_state, self.context.document
        newest = state.newest
        if state.table is None or state.run is None or newest is None or state.run.id != newest.id:
            return 0
        return 0 if document.changed_since_run else state.table.to_retry()

    def _can_start_fresh(self) -> bool | str:
        why = self.context.runner.why_not()
        if why:
            return why
        table = self.context.run_state.table
        begun = table is not None and bool((table.states > 0).any()) and bool((table.states == 0).any())
        return begun or texts.NO_RUN_TO_BEGIN_AFRESH

    def _retry_unscored(self) -> None:
        self.context.runner.start("unscored")

    def _start_fresh(self) -> None:
        self.context.runner.start("fresh")

    def _can_go_back(self) -> bool | str:
        focus = self.context.run_state.focus
        return (focus is not None and focus > 0) or texts.THIS_IS_THE_FIRST_PAIR

    def _can_go_on(self) -> bool | str:
        state = self.context.run_state
        return (state.focus is not None and state.focus + 1 < state.pair_count) or texts.THIS_IS_THE_LAST_PAIR

    def _has_run(self) -> bool | str:
        return self.focus.now is not None or texts.THERE_IS_NO_RUN

    def _dock_shown(self) -> bool:
        return not self.dock.isHidden()

    def _toggle_dock(self) -> None:
        self._dock_wanted = self.dock.isHidden()
        self._show_dock()

    def _show_dock(self) -> None:
        """Shows or hides the dock. Very wide layers take its room until the user opens it."""
        now = self.focus.now
        wanted = self._dock_wanted
        if wanted is None:
            wanted = now is None or max((len(layer) for layer in now.layers), default=0) <= TALL
        self.dock.setVisible(now is not None and wanted)

    def _can_follow(self) -> bool | str:
        return self.context.run_state.live or texts.NO_RUN_IN_PROGRESS_NOW

    def _follows(self) -> bool:
        return self.context.run_state.follow and self.context.run_state.live

    def _toggle_follow(self) -> None:
        state = self.context.run_state
        state.set_follow(not state.follow)

    def previous_pair(self) -> None:
        """Pins the pair before."""
        self._step(-1)

    def next_pair(self) -> None:
        """Pins the pair after."""
        self._step(1)

    def _step(self, by: int) -> None:
        focus = self.context.run_state.focus
        if focus is not None:
            self.context.run_state.set_focus(focus + by)

    # Frame

    def top_widgets(self) -> Sequence[QWidget]:
        return (self.run_choice, self.shards.choice, self.batches)

    def regions(self) -> Sequence[QWidget]:
        return (self.canvas, self.inspector, self.dock, *self.shards.regions)

    def enter(self, visit: Visit) -> None:
        if visit.pairs is not None:
            self._show_pairs(visit.pairs, visit.why, focus=visit.site is None)
        if visit.site is not None:
            self.shards.show_pairs()
            self.show_call(visit.site)
        self._refresh_actions()

    def _show_pairs(self, pairs: tuple[int, ...], why: str, *, focus: bool = True) -> None:
        self.shards.show_pairs()
        self.dock.show_tab(0)
        self.dock.pairs.show_only(pairs, why)
        if pairs and focus:
            self.context.run_state.set_focus(pairs[0])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Arranges the parts for a wide or a narrow window."""
        theme = self.context.theme.theme
        narrow = self.width() < theme.px(NARROW_WINDOW - RAIL_NARROW)
        self.dock.chart.set_tight(self.width() < theme.px(_TIGHT))
        if (narrow, theme.scale) == (self._narrow, self._scale):
            return
        self._narrow, self._scale = narrow, theme.scale
        self.dock.set_narrow(narrow)
        key = "narrow" if narrow else "wide"
        settings = self.context.settings
        inspector = settings.number(f"run.inspector.{key}", INSPECTOR["run narrow" if narrow else "run"])
        dock = settings.number(f"run.dock.{key}", DOCK_NARROW if narrow else DOCK)
        self.inspector.setMinimumWidth(theme.px(320))
        self.canvas.setMinimumSize(theme.px(360), theme.px(200))
        self.dock.setMinimumHeight(theme.px(120))
        # The splitter's line is part of the inspector's width.
        wide = theme.px(inspector) - self.across.handleWidth()
        self.across.setSizes([max(1, self.width() - theme.px(inspector)), wide])
        self.down.setSizes([max(1, self.height() - theme.px(dock)), theme.px(dock)])

    def _moved(self) -> None:
        """Keeps the sizes of the parts after the user dragged a splitter."""
        theme, settings = self.context.theme.theme, self.context.settings
        key = "narrow" if self._narrow else "wide"
        settings.keep_number(f"run.inspector.{key}", round((self.inspector.width() + 1) / theme.scale))
        settings.keep_number(f"run.dock.{key}", round(self.dock.height() / theme.scale))

    # What is looked at

    def show_target(self, target: Target) -> None:
        """Selects a node, as a click on it would."""
        self.canvas.select(target)
        if not self.canvas.scene.layout.has(target):
            return
        rect = self.canvas.scene.layout.rect_of(target)
        if not self.canvas.view.visible_rect().contains(QRectF(rect.x, rect.y, rect.w, rect.h)):
            self.canvas.view.show_target(target)

    def show_call(self, site: CallSite) -> None:
        """Brings one call into view: its pair, its neuron, its order."""
        if site.pair != self.context.run_state.focus:
            self._wanted = site
            self.context.run_state.set_focus(site.pair)
            self._wanted = None
        self._show_in_focus(site)

    def _show_in_focus(self, site: CallSite) -> None:
        now = self.focus.now
        if now is None or now.pair != site.pair:
            return
        if site.layer == 0:
            self.show_target("roles")
        elif site.layer > now.spec.depth:
            self.show_target("chair")
        elif now.has(site.layer, site.neuron):
            self.show_target(Place(site.layer - 1, site.neuron - 1))
        self.inspector.show_call(site)

    def _target_selected(self, target: Target | None) -> None:
        self.inspector.show_target(target)
        self.dock.grid.show_target(target)
        self._keep_soon()

    def _activated(self, target: Target) -> None:
        self.inspector.show_target(target)
        self.inspector.tabs.setFocus(Qt.FocusReason.OtherFocusReason)

    def _pair_chosen(self, pair: int) -> None:
        self.context.run_state.set_focus(pair)

    def _call_opened(self, pair: int, layer: int, neuron: int) -> None:
        self.show_call(CallSite(pair, layer, neuron, None, 1))

    def _focus_replaced(self) -> None:
        now = self.focus.now
        self._show_dock()
        if now is None:
            return
        target = self.inspector.target
        if isinstance(target, Place) and not now.has(target.layer + 1, target.neuron + 1):
            target = Place(0, 0)
        present = isinstance(target, Place) and now.has(target.layer + 1, target.neuron + 1)
        if present and not self.canvas.scene.selection:
            self.canvas.select(target)
            self._target_selected(target)
        self._refresh_steps()

    # The run

    def _run_changed(self) -> None:
        state = self.context.run_state
        self._out = self._words_out()
        self._say_batches()
        run = state.run
        self.run_choice.setText(
            texts.NO_RUN_SHOWN if run is None else self.shards.run_title or texts.run_number(f"{run.number:,}")
        )
        self.run_choice.setEnabled(bool(state.runs))
        self._return()
        self._refresh_actions()

    def _runner_changed(self) -> None:
        self._say_batches()
        self._refresh_actions()

    def _say_batches(self) -> None:
        """Shows the batches that the run waits for, or that are still out after it was stopped."""
        runner = self.context.runner
        if runner.running != self._ran:
            self._ran = runner.running
            self._out = self._words_out()
        self.batches.say(runner.batches if runner.running else self._out)

    def _words_out(self) -> str:
        store = self.context.document.store
        out = [] if store is None or self.context.runner.running else open_batches(store)
        if not out:
            return ""
        calls = plural(sum(batch.calls for batch in out), "call")
        return texts.batches_out(plural(len(out), "batch", "batches"), calls)

    def _refresh_actions(self) -> None:
        self.context.actions.refresh()

    def _refresh_steps(self) -> None:
        """Updates the actions that depend on the pair in focus; updating all of them takes longer."""
        actions = self.context.actions
        for action_id in ("run.previous_pair", "run.next_pair", "run.follow", "run.dock"):
            qaction, checked = actions.qaction(action_id), actions[action_id].checked
            qaction.setEnabled(actions.why_not(action_id) is None)
            if checked is not None:
                qaction.setChecked(checked())

    def _fill_menu(self) -> None:
        self._menu.clear()
        state = self.context.run_state
        for run in reversed(state.runs):
            action = self._menu.addAction(_run_line(run))
            action.setCheckable(True)
            action.setChecked(state.run is not None and run.id == state.run.id)
            action.setData(run.id)
            action.triggered.connect(self._run_chosen)
        self._menu.addSeparator()
        for action_id in ("run.retry_unscored", "run.start_fresh"):
            self._menu.addAction(self.context.actions.qaction(action_id))

    def _run_chosen(self) -> None:
        action = self.sender()
        if action is not None:
            self.context.run_state.show_run(str(action.data()))  # type: ignore[attr-defined]  # a QAction

    # Coming back

    def _place_key(self) -> str:
        file = self.context.document.file
        return f"run.place/{'' if file is None else file.name}"

    def _keep_soon(self) -> None:
        if not self._keeper.isActive():
            self._keeper.start()

    def keep_place(self) -> None:
        """Keeps which pair, which neuron and which tab are looked at."""
        state = self.context.run_state
        if state.run is None or state.focus is None or not self.context.document.is_open:
            return
        target = self.inspector.target
        place = {
            "run": state.run.id,
            "pair": state.focus,
            "target": [target.layer, target.neuron] if isinstance(target, Place) else target,
            "tab": self.inspector.tab,
        }
        self.context.settings.keep_text(self._place_key(), json.dumps(place))

    def _return(self) -> None:
        """Goes back to where the user was when the run was last in view; once for each run."""
        state = self.context.run_state
        if state.table is None or state.run is None or state.table is self._returned_to:
            return
        self._returned_to = state.table
        if state.live:
            return
        try:
            place = json.loads(self.context.settings.text(self._place_key(), "{}"))
            if place.get("run") != state.run.id:
                return
            pair, target, tab = int(place["pair"]), place["target"], str(place["tab"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        if 0 <= pair < state.pair_count:
            state.set_focus(pair)
        self.inspector.show_tab(tab)
        if isinstance(target, list) and len(target) == 2:
            self.show_target(Place(int(target[0]), int(target[1])))
        elif target in ("pair", "roles", "vote", "verdict", "chair"):
            self.show_target(target)


def _run_line(run: RunInfo) -> str:
    pairs = run.record.get("pairs")
    shards = ShardsInRun.of_run(run)
    partly = shards is not None and bool(shards.lacking)
    parts = [called(run), *(() if partly else (_STATES.get(run.state, run.state),))]
    if isinstance(pairs, int):
        parts.append(plural(pairs, "pair"))
    parts.append(near_day(run.created_at, clock.today()))
    return ", ".join(parts)
