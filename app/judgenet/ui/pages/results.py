"""The page Results: the figures of the run in focus, and the pairs behind each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QWidget,
)

from judgenet.core.labels import Chosen
from judgenet.core.network import Aggregation
from judgenet.report.anytime_view import at_any_time
from judgenet.report.model import Report
from judgenet.report.outline import rules_line, state_line
from judgenet.report.outline_figures import role_clouds
from judgenet.report.selection import OfNeuron, PairSelection
from judgenet.store.db import StoreError
from judgenet.store.labels import label_rules, set_label_rules
from judgenet.ui.actions import known_action
from judgenet.ui.context import Context
from judgenet.ui.export_run import ExportDialog
from judgenet.ui.interval_switch import IntervalSwitch
from judgenet.ui.navigation import PageKey
from judgenet.ui.pages.of_run import OfRunPage
from judgenet.ui.results import texts
from judgenet.ui.results.agreement import AgreementPanel, BreakdownPanel, DifferPanel
from judgenet.ui.results.cascade import CascadePanel
from judgenet.ui.results.compare import ComparePanel
from judgenet.ui.results.curve import CurvePanel
from judgenet.ui.results.discussion import ChangesPanel, OrdersPanel
from judgenet.ui.results.effective_votes import AddsPanel, CorrelationPanel, PanelState, WorthPanel
from judgenet.ui.results.explore import Explorer
from judgenet.ui.results.guarantee import GuaranteePanel
from judgenet.ui.results.guarantee_state import GuaranteeState
from judgenet.ui.results.headline import HeadPanel, NoticeStrip
from judgenet.ui.results.instead import InsteadPanel
from judgenet.ui.results.learn_panel import LearnPanel
from judgenet.ui.results.listing import PairListing
from judgenet.ui.results.pair_panel import PairPanel
from judgenet.ui.results.panel import Rows
from judgenet.ui.results.planner import PlannerPanel
from judgenet.ui.results.probabilities import ProbabilitiesPanel
from judgenet.ui.results.ranking import RankingPanel
from judgenet.ui.results.reliability import ReliabilityPanel
from judgenet.ui.results.requirements import RequirementsPanel
from judgenet.ui.results.rest import CLOUD_W, CloudsPanel, LeftOutPanel
from judgenet.ui.results.sections import SectionMenu
from judgenet.ui.results.state import Results
from judgenet.ui.results.trust import AlikePanel, Divided, ReviewPanel, Trusting, Unsure
from judgenet.ui.results.what_if import WhatIfPanel
from judgenet.ui.theme import current_theme

if TYPE_CHECKING:
    from judgenet.stats.whatif import Subnetwork

_NARROW: Final = 980
"""Below this width in px there is one panel a row."""


class ResultsPage(OfRunPage):
    """The page Results."""

    key: ClassVar[PageKey] = "results"
    smallest = (780, 400)
    primary: ClassVar[str] = "report.show"
    primary_kind: ClassVar[Literal["primary", "normal"]] = "normal"
    would_be: ClassVar[str] = texts.WHAT_THE_PAGE_WILL_SHOW

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._shown: Results | None = None
        self._aggregation: str | None = None
        self._clouds_of: object = None
        self._wanted_size: Subnetwork | None = None
        self._task: asyncio.Task[None] | None = None

        self.strips = {key: NoticeStrip() for key in ("state", "rules", "changed", "working")}
        self.head = HeadPanel()
        self.intervals = IntervalSwitch(context.settings)
        self.head.add_switch(self.intervals)
        self._make_panels(context)
        groups = (
            (self.head, self.compare, self.agreement, self.differ, self.ranking, self.planner, self.breakdown),
            (self.orders, self.reliability, self.probabilities, self.review, self.instead, self.guarantee),
            (self.what_if, self.curve, self.cascade, self.worth, self.together, self.adds, self.learned),
            (self.changes, self.alike, self.clouds),
            (self.requirements, self.left_out),
        )

        self._lay_out()
        self.sections = SectionMenu(context, self.area, groups)
        self._connect()
        context.actions.add(
            known_action("report.show", self._go_report, self._has_run),
            known_action("run.export", self._export, self._has_run),
            known_action("results.own_rules", self._own_rules),
        )
        self.follow()

    def _make_panels(self, context: Context) -> None:
        self.compare = ComparePanel()
        self.agreement = AgreementPanel()
        self.differ = DifferPanel()
        self.explorer = Explorer(context, self)
        self.what_if = WhatIfPanel(self.explorer)
        self.curve = CurvePanel(self.explorer)
        self.cascade = CascadePanel(context)
        self.planner = PlannerPanel()
        self.learned = LearnPanel(context.learning)
        self.guarantee_state = GuaranteeState(context, self)
        self.guarantee = GuaranteePanel(self.guarantee_state)
        self.trusting = Trusting(context, self)
        self.review = ReviewPanel(self.trusting)
        self.alike = AlikePanel(self.trusting)
        self.instead = InsteadPanel(context)
        self.reliability = ReliabilityPanel(context)
        self.probabilities = ProbabilitiesPanel()
        self.panel_state = PanelState(context, self)
        self.worth = WorthPanel(self.panel_state)
        self.together = CorrelationPanel(self.panel_state)
        self.adds = AddsPanel(self.panel_state)
        self.breakdown = BreakdownPanel()
        self.orders = OrdersPanel()
        self.changes = ChangesPanel()
        self.clouds = CloudsPanel()
        self.left_out = LeftOutPanel()
        self.ranking = RankingPanel(context)
        self.requirements = RequirementsPanel(context)
        self.exporting = ExportDialog(context, self)
        self.pairs = PairPanel()
        self.listing = PairListing(context, self.pairs, (self.differ, self.changes))

    def _lay_out(self) -> None:
        self.rows = Rows(_NARROW)
        for strip in self.strips.values():
            self.rows.add(strip)
        self.rows.add(self.head)
        self.rows.add(self.compare)
        self.rows.add(self.agreement, self.differ, weights=(63, 37))
        self.rows.add(self.ranking)
        self.rows.add(self.planner, self.breakdown, weights=(38, 62))
        # How far verdicts can be trusted
        self.rows.add(self.orders, self.reliability)
        self.rows.add(self.probabilities)
        self.rows.add(self.review, self.instead)
        self.rows.add(self.guarantee)
        # What the network needs
        self.rows.add(self.what_if, self.curve, weights=(38, 62))
        self.rows.add(self.cascade)
        self.rows.add(self.worth, self.together, weights=(44, 56))
        self.rows.add(self.adds)
        self.rows.add(self.learned)
        # What the discussion did
        self.rows.add(self.changes, self.alike)
        self.rows.add(self.clouds)
        self.rows.add(self.requirements, self.left_out)
        self.rows.add_stretch()
        self.area = QScrollArea()
        self.area.setWidget(self.rows)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setAccessibleName(texts.RESULTS_OF_THE_RUN)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.stack.addWidget(self.area)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.stack, 1)
        row.addWidget(self.pairs)
        self.pairs.hide()
        self.compare.hide()
        self.clouds.hide()

    def _connect(self) -> None:
        context = self.context
        context.runner.changed.connect(self._refresh_strips)
        context.settings.changed.connect(self._show_intervals)
        context.document.difference_changed.connect(self._refresh_strips)
        context.document.opened.connect(self._opened)
        self.agreement.aggregation_chosen.connect(self._look_at)
        self.agreement.data_wanted.connect(self._go_data)
        self.agreement.verdict_wanted.connect(context.document.set_rule)
        for panel in (self.differ, self.changes):
            panel.chosen.connect(self.listing.choose)
        for chooser in (self.breakdown, self.orders, self.left_out):
            chooser.chosen.connect(self.listing.choose)
        self.what_if.rules_chosen.connect(self._choose_rules)
        self.what_if.pairs_wanted.connect(self.listing.show_pairs)
        self.what_if.rule_chosen.connect(self.explorer.choose_rule)
        self.curve.chosen.connect(self._ask_size)
        self.head.plan_wanted.connect(self._show_planner)
        self.head.file_chosen_changed.connect(self._choose_file_labels)
        self.review.chosen.connect(self._list_trusted)
        self.alike.chosen.connect(self._list_trusted)
        self.learned.neuron_chosen.connect(self._choose_neuron)
        self.planner.label_wanted.connect(self._label_next)
        self.guarantee.queue_wanted.connect(self.listing.queue_people)
        self.guarantee.labels_wanted.connect(lambda: context.navigator.go("labels"))
        self.guarantee.list_wanted.connect(self.listing.save_queue)
        self.explorer.answered.connect(self._list_wrong)
        self.ranking.pairs_wanted.connect(self.listing.show_pairs)
        self.compare.pairs_wanted.connect(self.listing.show_pairs)
        self.compare.closed.connect(self._stop_comparing)

    # Called by the window

    def top_widgets(self) -> Sequence[QWidget]:
        return (*super().top_widgets(), self.sections)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.sections.set_short(short=self.width() < current_theme().px(_NARROW))

    def regions(self) -> Sequence[QWidget]:
        return (self.stack, self.pairs)

    # What is shown

    def _opened(self) -> None:
        self._aggregation = self._clouds_of = None
        self.listing.forget()
        self._shown = self.listing.results = None
        self.pairs.hide()

    def _has_run(self) -> bool | str:
        return self._state.run is not None or texts.NO_RUN

    def _refresh(self) -> None:
        """Shows the present state."""
        results = self._state.results
        if self._show_missing() or results is None:
            self.pairs.hide()
            self._shown = self.listing.results = None
        else:
            self.stack.setCurrentWidget(self.area)
            if results is not self._shown:
                self._show(results)
            self._refresh_beside(results)
            self.requirements.look(results, self._state.beside, live=self.context.run_state.live)
            self.sections.arrive()
        self._refresh_strips()

    def _show(self, results: Results) -> None:
        """Shows a run's figures."""
        before = self._shown
        self._shown = self.listing.results = results
        report = results.report
        if before is not None and before.run.id == results.run.id and before.labels_key != results.labels_key:
            self.context.learning.forget()
        if before is None or before.run.id != results.run.id:
            self._aggregation = self._clouds_of = None
            self.listing.forget()
            self.pairs.hide()
            self.clouds.hide()
            self.area.verticalScrollBar().setValue(0)
        if self._aggregation not in report.aggregations or (before and before.report.decides != report.decides):
            self._aggregation = report.decides
        assert self._aggregation is not None
        self._show_intervals()
        self._show_file_labels(results)
        self.differ.show_report(report, self._aggregation)
        own = self._state.own or results
        rules = self._state.rules or report.recorded
        self.explorer.look(results, live=self.context.run_state.live)
        self.ranking.look(results, live=self.context.run_state.live)
        self.what_if.show_results(own, results, rules)
        self.curve.show_report(report)
        self.cascade.look(results, live=self.context.run_state.live)
        self.planner.show_results(results)
        self.guarantee.show_results(results, live=self.context.run_state.live)
        self.learned.show_report(report)
        self.trusting.look(results, live=self.context.run_state.live)
        self.panel_state.look(results, live=self.context.run_state.live)
        self.review.show_people(results.people)
        self.instead.look(results, live=self.context.run_state.live)
        self.reliability.look(results, live=self.context.run_state.live)
        self.breakdown.show_report(report, self._aggregation)
        self.orders.show_report(report)
        self.probabilities.show_report(report)
        self.changes.show_report(report)
        self.left_out.show_report(report)
        self._show_clouds(report)
        self.listing.show_again()

    def _show_intervals(self, *_: object) -> None:
        """Shows rates and agreement with the kind of interval that the user's setting names."""
        if self._shown is None or self._aggregation is None:
            return
        always = self.context.settings.preferences.intervals == "anytime"
        report = at_any_time(self._shown.report) if always else self._shown.report
        self.head.show_results(report, at_any_time=always)
        self.agreement.show_report(report, self._aggregation, at_any_time=always)

    def _show_file_labels(self, results: Results) -> None:
        store = self.context.document.store
        if store is not None:
            # Where every judged pair has a label, no sample was drawn.
            count = (
                results.frame.labels_from_file() if results.report.rates.judged > results.report.rates.with_label else 0
            )
            self.head.show_file_labels(label_rules(store).file_chosen, count)

    def _choose_file_labels(self, chosen: Chosen) -> None:
        """Keeps how the labelled pairs of the data file were chosen; every figure follows."""
        self._task = self.context.tasks.start(self._keep_file_labels(chosen), texts.SAVE_HOW_LABELS_WERE_CHOSEN)

    async def _keep_file_labels(self, chosen: Chosen) -> None:
        store = self.context.document.store
        if store is None:
            return
        try:
            rules = replace(label_rules(store), file_chosen=chosen)
            await self.context.tasks.off_thread(set_label_rules, store, rules)
        except StoreError as error:
            self.context.errors.post_exception(error, texts.LABELS)
            return
        self._state.labels_changed()

    def _show_clouds(self, report: Report) -> None:
        if not report.words:
            self.clouds.hide()
            self._clouds_of = None
        elif report.words != self._clouds_of:
            self._clouds_of = report.words
            self._task = self.context.tasks.start(self._draw_clouds(report), texts.DRAW_THE_WORD_CLOUDS)

    async def _draw_clouds(self, report: Report) -> None:
        clouds = await self.context.tasks.off_thread(role_clouds, report, CLOUD_W)
        if report.words == self._clouds_of:
            self.clouds.show_clouds(clouds)
            self.clouds.setVisible(bool(clouds))

    def _refresh_beside(self, results: Results) -> None:
        beside = self._state.beside
        self.compare.setVisible(beside is not None)
        if beside is not None:
            self.compare.show_both(results, beside)

    def _refresh_strips(self) -> None:
        results, context = self._shown, self.context
        if results is None:
            return
        report = results.report
        line = state_line(report)
        stopped = bool(line) and not context.run_state.live and report.about.state != "enough"
        why = context.actions.why_not("run.start") if "run.start" in context.actions else ""
        self.strips["state"].say(
            line,
            warning=stopped,
            button=texts.RESUME if stopped else "",
            do=self._run,
            why_not="" if why is None else why or texts.NOT_POSSIBLE_NOW,
        )
        self.strips["rules"].say(rules_line(report), button=texts.RUNS_OWN_RULES, do=self._own_rules)
        newest = context.run_state.newest
        changed = context.document.changed_since_run if newest is not None and newest.id == results.run.id else ""
        self.strips["changed"].say((texts.figures_are_about_the_run(changed),) if changed else ())
        working = self._state.working and self._state.other_rules and results.rules != self._state.rules
        self.strips["working"].say(
            (texts.COUNTING_BY_OTHER_RULES,) if working else (), button=texts.STOP, do=self._state.cancel
        )

    # Choices

    def _look_at(self, aggregation: str) -> None:
        if self._shown is not None and aggregation != self._aggregation:
            self._aggregation = aggregation
            self.agreement.look_at(aggregation)
            self.differ.show_report(self._shown.report, aggregation)
            self.breakdown.show_report(self._shown.report, aggregation)

    def _choose_rules(self, rules: Aggregation | None) -> None:
        self._state.choose_rules(rules)

    def _own_rules(self) -> None:
        self._state.choose_rules(None)

    def _stop_comparing(self) -> None:
        self._state.compare_with(None)

    def _show_planner(self) -> None:
        self.area.ensureWidgetVisible(self.planner, 0, self.context.theme.theme.px(24))
        self.planner.width_slider.setFocus(Qt.FocusReason.OtherFocusReason)

    def _label_next(self) -> None:
        """Opens the label desk with the pairs that the planner draws."""
        self.context.navigator.go("labels", pairs=self.planner.draw(), why=texts.PAIRS_TO_LABEL_NEXT, part="plan")

    def _list_trusted(self, chosen: PairSelection | Unsure | Divided) -> None:
        """Lists the pairs behind a mark of the charts of trust."""
        trust = self.trusting.trust
        if trust is not None and isinstance(chosen, Unsure):
            self.listing.show_pairs(trust.pairs(chosen), texts.PAIRS_LEAST_SURE)
        elif trust is not None and isinstance(chosen, Divided):
            self.listing.show_pairs(trust.pairs(chosen), texts.neurons_of_layer_differ(chosen.layer))
        elif not isinstance(chosen, Unsure | Divided):
            self.listing.choose(chosen)

    def _choose_neuron(self, place: tuple[int, int]) -> None:
        self.listing.choose(OfNeuron(*place, right=False))

    def _go_data(self) -> None:
        self.context.navigator.go("data")

    def _export(self) -> None:
        if self._state.run is not None:
            self.exporting.show_for(self._state.run)

    def _go_report(self) -> None:
        self.context.navigator.go("report")

    # Pairs

    def _ask_size(self, choice: Subnetwork) -> None:
        """Asks for the verdicts of a network of another size; the answer lists the pairs that it gets wrong."""
        self._wanted_size = choice
        self.what_if.set_choice(choice)

    def _list_wrong(self) -> None:
        reply = self.explorer.reply
        if reply is not None and reply.question.choice == self._wanted_size:
            self._wanted_size = None
            self.listing.show_pairs(self.explorer.wrong(reply), texts.SMALLER_NETWORK_IS_WRONG)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.pairs.isVisible():
            self.listing.choose(None)
            return
        super().keyPressEvent(event)
