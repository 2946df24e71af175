"""The weight of each neuron, learned from the labels of the run in focus: in a thread, with progress and a stop."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from judgenet.core.learned import misfit
from judgenet.core.network import LearnedKind, LearnedRule, NetworkSpec
from judgenet.core.wording import plural
from judgenet.store.db import Store, StoreError
from judgenet.store.runs import RunInfo
from judgenet.ui.clock import today
from judgenet.ui.project_state import ProjectParts, ProjectState
from judgenet.ui.results import texts
from judgenet.ui.tasks import Job, JobCancelled

if TYPE_CHECKING:
    from judgenet.figures.learned import LessOther, Way
    from judgenet.report.model import ReportedAgreement

KIND: Final[LearnedKind] = "nonnegative"
"""The way of learning whose weights are shown on the canvas and go into the network."""


@dataclass(frozen=True, slots=True)
class LearnedRun:
    """What was learned from a run.

    ``figures`` are cross-fitted, by way of learning; ``reasons`` say why a way is refused. ``less`` is the gain of a
    way over the best neuron and over the votes; ``below_baseline`` says why the most common label beats a way, where it
    does. ``weights`` are fitted to all labelled pairs, by way, one a neuron in the order of ``names`` and of ``places``
    (layer and neuron, from 1). ``rule`` is that of :data:`KIND`, ``None`` where it is refused.
    """

    run_id: str
    names: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    figures: Mapping[Way, ReportedAgreement]
    weights: Mapping[Way, tuple[float, ...]]
    reasons: Mapping[Way, str]
    less: Mapping[Way, tuple[LessOther, ...]]
    below_baseline: Mapping[Way, str]
    rule: LearnedRule | None
    labels: int


class Learning(ProjectState):
    """Learns from the run in focus when asked to.

    Attributes:
        learned: what was learned from the run in focus, ``None`` where nothing was.
        working: weights are being learned.

    Signals:
        changed: any of these changed.
    """

    changed = Signal()

    def __init__(self, parts: ProjectParts, parent: QObject | None = None) -> None:
        super().__init__(parts, parent)
        self._by_run: dict[str, LearnedRun] = {}
        self._number = 0
        self.working = False
        self._document.opened.connect(self.forget)
        self._run_state.run_changed.connect(self._run_changed)

    def _run_changed(self) -> None:
        if self._run_state.live and self._run_state.run is not None:
            # What was learned from it is of fewer pairs.
            self._by_run.pop(self._run_state.run.id, None)
        self.changed.emit()

    @property
    def learned(self) -> LearnedRun | None:
        run = self._run_state.run
        return None if run is None else self._by_run.get(run.id)

    def forget(self) -> None:
        """Forgets what was learned: labels or the project changed."""
        self._by_run.clear()
        self._number += 1
        self.working = False
        self.changed.emit()

    def why_not(self, labelled: int) -> str:
        """Why nothing can be learned from ``labelled`` labelled pairs of the run in focus; empty where it can."""
        from judgenet.stats.learning import FEWEST

        if self._run_state.run is None:
            return texts.NO_RUN
        if self._run_state.live:
            return texts.LEARN_AT_THE_END
        if labelled < FEWEST:
            return texts.too_few_labels(labelled, FEWEST, plural(FEWEST - labelled, "more pair"))
        return ""

    def learn(self) -> None:
        """Learns from the run in focus."""
        store, run = self._document.store, self._run_state.run
        if store is not None and run is not None and not self.working:
            self._number += 1
            self.working = True
            self.changed.emit()
            self._tasks.start(self._learn(store, run, self._number), texts.LEARN_WEIGHTS)

    async def _learn(self, store: Store, run: RunInfo, number: int) -> None:
        date = today().isoformat()
        try:
            learned = await self._tasks.job(texts.LEARN_WEIGHTS, lambda job: _learn(store, run, date, job))
        except JobCancelled:
            learned = None
        except (StoreError, sqlite3.Error) as error:
            learned = None
            if number == self._number and self._document.store is store:
                self._errors.post_exception(error, run.id)
        if number != self._number:
            return
        self.working = False
        if learned is not None:
            self._by_run[run.id] = learned
        self.changed.emit()

    # The network

    def rule_of_run(self, spec: NetworkSpec, run: RunInfo | None) -> LearnedRule | None:
        """The learned weights to show on the canvas of a run: those of its network, else those learned from it."""
        if spec.aggregation.learned is not None:
            return spec.aggregation.learned
        rule = None if run is None else self._by_run.get(run.id)
        return None if rule is None else rule.rule

    def rule_of_design(self) -> LearnedRule | None:
        """The learned weights to show on the design: those that it keeps, else those learned from the run in focus
        where they fit it."""
        spec = self._document.spec
        if spec.aggregation.learned is not None:
            return spec.aggregation.learned
        rule = None if self.learned is None else self.learned.rule
        return rule if rule is not None and not misfit(spec, rule) else None

    def why_not_use(self) -> str:
        """Why the learned weights cannot go into the network; empty where they can."""
        rule = None if self.learned is None else self.learned.rule
        if rule is None:
            return texts.NOTHING_LEARNED
        if self._document.read_only:
            return self._document.read_only
        kept = self._document.spec.aggregation.learned
        if kept is not None and replace(kept, decides=rule.decides) == rule:
            return texts.NETWORK_HAS_WEIGHTS
        why = misfit(self._document.spec, rule)
        return texts.other_network(why) if why else ""

    def use(self) -> None:
        """Keeps the learned weights in the network, so that new runs have their verdict too. Can be undone."""
        rule = None if self.learned is None else self.learned.rule
        if rule is None or self.why_not_use():
            return
        spec = self._document.spec
        self._document.edit_network(
            texts.USE_LEARNED_WEIGHTS, replace(spec, aggregation=replace(spec.aggregation, learned=rule))
        )
        self.changed.emit()


def _learn(store: Store, run: RunInfo, date: str, job: Job) -> LearnedRun:
    from judgenet.figures.learned import learned_rule, ways_against_people
    from judgenet.report.model import ReportedAgreement
    from judgenet.store.taught import fair_frame

    frame = fair_frame(store, run)
    job.check()
    ways = ways_against_people(frame, frame.aggregations, on_step=lambda done, total: job.report(done, total))
    learned = {way: figures for way, figures in ways.items() if not isinstance(figures, str)}
    fitted = learned.get(KIND)
    return LearnedRun(
        run_id=run.id,
        names=frame.names,
        places=frame.places,
        figures={way: ReportedAgreement(figures.agreement, figures.intervals) for way, figures in learned.items()},
        weights={way: figures.learned.weights for way, figures in learned.items()},
        reasons={way: figures for way, figures in ways.items() if isinstance(figures, str)},
        less={way: figures.less for way, figures in learned.items() if way != "best_single"},
        below_baseline={way: figures.below_baseline for way, figures in learned.items()},
        rule=None if fitted is None else learned_rule(store, frame, fitted.learned, KIND, date),
        labels=int((frame.human[frame.done] > 0).sum()),
    )
