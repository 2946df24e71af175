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
    ExperimentStep,
    choices_of,
    drive,
    estimate_experiment,
)
from judgenet.engine.session import Engine, Start
from judgenet.figures.experiment import ExperimentFigures
from judgenet.report.blocks import ReportDocument
from judgenet.report.drawing import Drawing
from judgenet.report.experiment_document import document
from judgenet.report.experiment_files import kept_results, write_results
from judgenet.report.experiment_method import method
from judgenet.report.experiment_plots import plot
from judgenet.report.experiment_results import experiment_set
from judgenet.report.writers.markdown import markdown
from judgenet.stats.labour import Labour
from judgenet.store.db import Store


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user chose. ``each`` and ``limit`` choose pairs (see ``selection_of``); ``changes`` are fields of
    ``Choices``; ``target`` is the agreement that people's review is to reach, ``labour`` what a label takes and
    costs."""

    key: str
    each: int | None = None
    limit: int | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    target: float | None = None
    labour: Labour = field(default_factory=Labour)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class ExperimentView:
    """Results, and all that is shown of them: tables and notes, a plot of each set of pairs by its name, the method."""

    results: ExperimentFigures
    document: ReportDocument
    plots: tuple[tuple[str, Drawing], ...]
    method: str


def shown(results: ExperimentFigures) -> ExperimentView:
    """Draws and writes out results. Word clouds take a second."""
    return ExperimentView(
        results,
        document(results),
        tuple((of.set, plot(results, of)) for of in results.sets),
        markdown(method(results)),
    )


def earlier(folder: Path, key: str) -> ExperimentView | None:
    """The results that an earlier experiment left.

    :raises ResultsError: they cannot be read.
    """
    results = kept_results(folder / key)
    return None if results is None else shown(results)


def _chosen(wanted: Wanted, start: Start) -> tuple[Experiment, Start, str]:
    """The experiment, the start on the pairs that were chosen, and which these are, in words."""
    selection, words = selection_of(EXPERIMENTS[wanted.key], wanted.limit, wanted.each, start.spec.seed)
    chosen = replace(start, pairs=select(start.pairs, selection), limits=wanted.limits)
    return make(wanted.key, choices_of(chosen, **wanted.changes)), chosen, words


def reckon(wanted: Wanted, start: Start, store: Store | None, check: Callable[[], object]) -> ExperimentEstimate:
    """What an experiment comes to; ``check`` may raise to end the work.

    :raises NetworkError: a number is below 1.
    """
    experiment, chosen, _ = _chosen(wanted, start)
    return estimate_experiment(chosen, experiment, store, check=check)


@dataclass(frozen=True, slots=True)
class ExperimentSetting:
    """Where an experiment runs: in which engine and store, into which folder, and under which name of the pairs."""

    engine: Engine
    store: Store
    folder: Path
    name: str


def run(
    wanted: Wanted,
    start: Start,
    place: ExperimentSetting,
    progress: Callable[[ExperimentStep, int], None],
    stopped: Callable[[], bool],
) -> ExperimentView:
    """Runs an experiment, or goes on with it, and writes its results, which stand beside those of other sets of pairs.

    ``progress`` hears the step and how many calls were asked so far.

    :raises NetworkError: the networks cannot run.
    :raises ResultsError: the results cannot be written.
    """
    asked = 0

    def told(step: ExperimentStep, event: Event) -> None:
        nonlocal asked
        asked += isinstance(event, CallFinished) and not event.cached
        progress(step, asked)

    experiment, chosen, words = _chosen(wanted, start)
    course = Course(place.store, chosen, experiment)
    end = drive(course, place.engine, place.store, told, stopped)
    place.store.flush()
    of_set = experiment_set(
        place.store,
        experiment,
        chosen.pairs,
        course.runs,
        name=place.name,
        state=end.state,
        message=end.message,
        target=wanted.target,
        labour=wanted.labour,
        selection=words,
        source=dict(chosen.record.get("source", {})),
        this_time=course.used.calls,
    )
    return shown(write_results(place.folder / wanted.key, wanted.key, of_set)[0])
