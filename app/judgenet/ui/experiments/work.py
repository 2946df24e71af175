"""What an experiment in the studio is made of, reckoned and run in a thread: nothing here touches Qt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from judgenet.core.events import CallFinished, Event
from judgenet.core.experiments import EXPERIMENTS, Experiment, make, selection_of
from judgenet.core.project import select
from judgenet.engine.budget import Limits
from judgenet.engine.experiments import (
    Course,
    ExperimentEstimate,
    Step,
    choices_of,
    drive,
    estimate_experiment,
)
from judgenet.engine.session import Engine, Start
from judgenet.report.experiment_files import kept_results, write_results
from judgenet.report.experiment_results import experiment_set
from judgenet.store.db import Store


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user chose. ``each`` and ``limit`` choose pairs (see ``selection_of``); ``changes`` are fields of
    ``Choices``; ``target`` is the agreement that people's review is to reach."""

    key: str
    each: int | None = None
    limit: int | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    target: float | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Ready:
    """An experiment that can begin: the start that its runs are made of, and which pairs, in words."""

    wanted: Wanted
    experiment: Experiment
    start: Start
    selection: str


def ready(wanted: Wanted, start: Start) -> Ready:
    """The experiment on the pairs that were chosen.

    :raises NetworkError: a number is below 1.
    """
    selection, words = selection_of(EXPERIMENTS[wanted.key], wanted.limit, wanted.each, start.spec.seed)
    chosen = replace(start, pairs=select(start.pairs, selection), limits=wanted.limits)
    return Ready(wanted, make(wanted.key, choices_of(chosen, **wanted.changes)), chosen, words)


def reckon(of: Ready, store: Store | None, check: Callable[[], object]) -> ExperimentEstimate:
    """What the experiment comes to."""
    return estimate_experiment(of.start, of.experiment, store, check=check)


def run(
    of: Ready,
    engine: Engine,
    store: Store,
    folder: Path,
    name: str,
    progress: Callable[[Step, int], None],
    stopped: Callable[[], bool],
) -> dict[str, Any]:
    """Runs the experiment, or goes on with it, and writes its results. Returns those of all sets of pairs.

    ``progress`` hears the step and how many calls were asked so far.

    :raises ResultsError: the results cannot be written.
    """
    asked = 0

    def told(step: Step, event: Event) -> None:
        nonlocal asked
        asked += isinstance(event, CallFinished) and not event.cached
        progress(step, asked)

    course = Course(store, of.start, of.experiment)
    end = drive(course, engine, store, told, stopped)
    store.flush()
    found = experiment_set(
        store,
        of.experiment,
        of.start.pairs,
        course.runs,
        name=name,
        state=end.state,
        message=end.message,
        target=of.wanted.target,
        selection=of.selection,
        source=dict(of.start.record.get("source", {})),
        this_time=course.used.calls,
    )
    return write_results(folder / of.wanted.key, of.wanted.key, found)[0]


def earlier(folder: Path, key: str) -> dict[str, Any] | None:
    """The results that an earlier experiment left.

    :raises ResultsError: they cannot be read.
    """
    return kept_results(folder / key)
