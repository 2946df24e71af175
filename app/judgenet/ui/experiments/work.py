"""Estimates and runs an experiment, in a thread of the studio: nothing here touches Qt."""

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
class ExperimentChoice:
    """What the user chose. ``each`` and ``limit`` select pairs (see ``selection_of``); ``changes`` are fields of
    ``Choices``; ``target`` is the agreement, 0 to 1, that review by people is to reach; ``labour`` is the time and
    price of a label."""

    key: str
    each: int | None = None
    limit: int | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    target: float | None = None
    labour: Labour = field(default_factory=Labour)
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class ExperimentView:
    """Results in the forms that the dialog shows: tables and notes, a plot for each set of pairs with the set's name,
    and the method as Markdown."""

    results: ExperimentFigures
    document: ReportDocument
    plots: tuple[tuple[str, Drawing], ...]
    method: str


def view_of(results: ExperimentFigures) -> ExperimentView:
    """Draws and writes out results. Word clouds take about a second."""
    return ExperimentView(
        results,
        document(results),
        tuple((figures.set, plot(results, figures)) for figures in results.sets),
        markdown(method(results)),
    )


def earlier(folder: Path, key: str) -> ExperimentView | None:
    """The results that an earlier run of the experiment left; ``None`` without any.

    :raises ResultsError: their file cannot be read.
    """
    results = kept_results(folder / key)
    return None if results is None else view_of(results)


def _selected(choice: ExperimentChoice, start: Start) -> tuple[Experiment, Start, str]:
    """The experiment, the start with the selected pairs, and the selection in words."""
    selection, words = selection_of(EXPERIMENTS[choice.key], choice.limit, choice.each, start.spec.seed)
    selected = replace(start, pairs=select(start.pairs, selection), limits=choice.limits)
    return make(choice.key, choices_of(selected, **choice.changes)), selected, words


def estimate(
    choice: ExperimentChoice, start: Start, store: Store | None, check: Callable[[], object]
) -> ExperimentEstimate:
    """The calls, tokens, price and time of an experiment. ``check`` is called now and then, and may raise to end the
    work.

    :raises NetworkError: a number is below 1.
    """
    experiment, selected, _ = _selected(choice, start)
    return estimate_experiment(selected, experiment, store, check=check)


@dataclass(frozen=True, slots=True)
class ExperimentSetting:
    """The engine and store that an experiment uses, the folder of its results, and the name of the set of pairs."""

    engine: Engine
    store: Store
    folder: Path
    name: str


def run(
    choice: ExperimentChoice,
    start: Start,
    setting: ExperimentSetting,
    progress: Callable[[ExperimentStep, int], None],
    stopped: Callable[[], bool],
) -> ExperimentView:
    """Runs an experiment, or resumes it, and writes its results beside those of other sets of pairs.

    ``progress`` gets the step and the number of calls asked so far; ``stopped`` says whether the user ended it.

    :raises NetworkError: the networks cannot run.
    :raises ResultsError: the results cannot be written.
    """
    asked = 0

    def count_call(step: ExperimentStep, event: Event) -> None:
        nonlocal asked
        asked += isinstance(event, CallFinished) and not event.cached
        progress(step, asked)

    experiment, selected, words = _selected(choice, start)
    course = Course(setting.store, selected, experiment)
    end = drive(course, setting.engine, setting.store, count_call, stopped)
    setting.store.flush()
    set_figures = experiment_set(
        setting.store,
        experiment,
        selected.pairs,
        course.runs,
        name=setting.name,
        state=end.state,
        message=end.message,
        target=choice.target,
        labour=choice.labour,
        selection=words,
        source=dict(selected.record.get("source", {})),
        this_time=course.used.calls,
    )
    return view_of(write_results(setting.folder / choice.key, choice.key, set_figures)[0])
