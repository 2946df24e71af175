"""Ways to join the neurons of a run that learn from labels, beside the votes that need none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from judgenet.core.aggregate import deciding
from judgenet.figures.base import ASKED, OPTIONAL, Figures, Keys, figures_of
from judgenet.figures.learned import (
    OF_CRITERIA,
    WARNINGS,
    LessOther,
    Way,
    WayAgainstPeople,
    neuron_likeness,
    ways_against_people,
)
from judgenet.figures.metrics import agreement_by_name
from judgenet.figures.parts import AgreementFigures, DifferenceFigures, agreement_figures, difference_figures
from judgenet.stats.agreement import agreement_of
from judgenet.stats.curves import CODES, Codes, pair_counts, verdict_codes
from judgenet.stats.learning import FOLDS, LearningError, leave_out
from judgenet.stats.verdicts import sign_codes
from judgenet.store.frame import RunFrame
from judgenet.store.results import network_of


@dataclass(frozen=True)
class LearnedPairs:
    """The pairs from which a run learns."""

    total: int
    labelled: int


@dataclass(frozen=True)
class LessFigures:
    """A learned way less another verdict, on the labelled pairs that both judge."""

    accuracy: DifferenceFigures
    macro_f1: DifferenceFigures
    kappa: DifferenceFigures
    n: Annotated[int, "these pairs"]
    only_learned_right: Annotated[int, "pairs that the learned way alone gets right"]
    only_other_right: Annotated[int, "pairs that the other alone gets right"]
    p: Annotated[float | None, "McNemar's test"]
    p_over: Annotated[str, "`questions` where pairs share them, else `pairs`"]
    reason: str | None


@figures_of.register(LessOther)
def less_figures(less: LessOther) -> LessFigures:
    """What a way gains over another verdict."""
    test = less.comparison.test
    return LessFigures(
        **{name: difference_figures(difference) for name, difference in less.comparison.differences.items()},
        n=test.n,
        only_learned_right=test.only_first,
        only_other_right=test.only_second,
        p=less.p,
        p_over="pairs" if less.comparison.questions_p is None else "questions",
        reason=None if less.p is not None else "no labelled pair has a verdict of both",
    )


@dataclass(frozen=True)
class LearnedWayFigures(AgreementFigures):
    """A way to join the neurons, cross-fitted."""

    weights: Annotated[Mapping[str, float], Keys(("NEURON",)), "fitted to all pairs"]
    penalty: Annotated[float | None, "C of the fit"]
    less: Annotated[
        Mapping[str, LessFigures],
        Keys(("OTHER",)),
        "accuracy, macro-F1 and kappa less `best_single` or an aggregation, on the labelled pairs that both judge",
    ]
    below_baseline: Annotated[str, "that the commonest label beats it, and why; empty where it does not"]
    warning: Annotated[str | None, OPTIONAL]


@dataclass(frozen=True)
class RefusedWay:
    """A way that does not learn from these pairs."""

    accuracy: None
    reason: Annotated[str, "why this way is refused"]
    warning: Annotated[str | None, OPTIONAL]


@dataclass(frozen=True)
class NeuronLikeness:
    """How alike neurons are in being right."""

    q: Annotated[
        float | None, "Yule's Q of two neurons being right, the mean over all twos; 0 where they are independent"
    ]
    reason: str | None


@dataclass(frozen=True)
class BestOfTask:
    """The neuron that is best on a task."""

    name: Annotated[
        str | None,
        "the neuron that is best on this very task, chosen by the labels on which it is measured",
    ]
    accuracy: float | None
    reason: Annotated[str | None, OPTIONAL]


@dataclass(frozen=True)
class TaskLeftOut:
    """A task judged by weights fitted to the others, without their pairs that share a question with it."""

    nonnegative: Annotated[
        AgreementFigures,
        "a task judged by weights of 0 or more fitted to the others, without their pairs that share a question with it "
        "(`--leave-out task`); `leave_out.task.reason` alone where that cannot be learned",
    ]
    any_sign: Annotated[AgreementFigures, "the same with weights of any sign"]
    best_neuron: BestOfTask


@dataclass(frozen=True)
class LeftOutTasks:
    """Each task judged by weights fitted to the others."""

    task: Annotated[Mapping[str, TaskLeftOut | str], Keys(("TASK",))]


@dataclass(frozen=True, repr=False)
class RunLearning(Figures):
    """Every way to join the neurons of a run, cross-fitted, with its agreement."""

    _rows = "learned"

    run: str
    folds: int
    seed: int
    decides: Annotated[str, "the aggregation that gives the network's verdict"]
    pairs: LearnedPairs
    neurons: tuple[str, ...]
    learned: Annotated[
        Mapping[str, LearnedWayFigures | RefusedWay],
        Keys(("WAY",)),
        "`nonnegative`, `any_sign`, `ising`, `dawid_skene`, `best_single`: cross-fitted, no pair helps to judge itself",
    ]
    votes: Annotated[
        Mapping[str, AgreementFigures], Keys(("NAME",)), "the aggregations that learn nothing, on the same pairs"
    ]
    neurons_alike: NeuronLikeness
    leave_out: Annotated[LeftOutTasks | None, ASKED]
    saved: Annotated[str | None, OPTIONAL, "what `--save` wrote, in words"] = None


def run_learning(frame: RunFrame, *, tasks: bool = False, seed: int = 0) -> RunLearning:
    """Every way to join the neurons of a run, cross-fitted; one that is refused has a reason.

    With ``tasks`` each task is judged by weights fitted to the others too. ``frame`` is
    :func:`judgenet.store.taught.fair_frame`; ``seed`` is that of the folds.
    """
    done = frame.done
    ways = ways_against_people(frame, frame.aggregations, seed=seed)
    alike = neuron_likeness(frame)
    return RunLearning(
        run=frame.run.id,
        folds=FOLDS,
        seed=seed,
        decides=deciding(network_of(frame.run)),
        pairs=LearnedPairs(len(done), int((frame.human[done] > 0).sum())),
        neurons=frame.names,
        learned={way: _way(frame, way, way_verdicts) for way, way_verdicts in ways.items()},
        votes={name: _agreement(frame, done, codes[done]) for name, codes in frame.aggregations.items()},
        neurons_alike=NeuronLikeness(alike, None if alike is not None else "no two neurons have a labelled pair"),
        leave_out=LeftOutTasks(_left_out(frame, seed)) if tasks else None,
    )


def _agreement(frame: RunFrame, places: NDArray[np.int64], codes: Codes) -> AgreementFigures:
    """Agreement with people on some pairs; ``codes`` are of these pairs."""
    spread = np.zeros(len(frame), np.uint8)
    spread[places] = codes
    return agreement_by_name(frame, {"learned": spread}, places)["learned"]


def _way(frame: RunFrame, way: Way, way_against_people: WayAgainstPeople | str) -> LearnedWayFigures | RefusedWay:
    warning = WARNINGS.get(way)
    if isinstance(way_against_people, str):
        return RefusedWay(None, way_against_people, warning)
    agreement = vars(agreement_figures(way_against_people.agreement, way_against_people.intervals))
    if way_against_people.learned.penalty is None:
        agreement |= {"reasons": agreement["reasons"] | {"penalty": "there is no penalty in this way"}}
    return LearnedWayFigures(
        **agreement,
        weights=dict(zip(frame.names, way_against_people.learned.weights, strict=True)),
        penalty=way_against_people.learned.penalty,
        less={less.other: less_figures(less) for less in way_against_people.less},
        below_baseline=way_against_people.below_baseline,
        warning=warning,
    )


def _left_out(frame: RunFrame, seed: int) -> dict[str, TaskLeftOut | str]:
    """Each task judged by weights fitted to the others, beside the neuron that is best on this very task: chosen by the
    labels on which it is measured, it looks better than it is."""
    if frame.spec.roles.kind == "criteria":
        return {"reason": OF_CRITERIA}
    done = frame.done
    labels = [CODES[code] for code in frame.human[done]]
    names = [name or "(none)" for name in frame.pairs.task_names]
    tasks = [names[number] for number in frame.pairs.tasks[done]]
    questions = frame.questions[done].tolist()
    try:
        verdicts = {
            name: verdict_codes(
                leave_out(
                    frame.votes[done], labels, tasks, questions, nonnegative=name == "nonnegative", seed=seed
                ).verdicts
            )
            for name in ("nonnegative", "any_sign")
        }
    except LearningError as error:
        return {"reason": str(error)}
    by_task: dict[str, TaskLeftOut | str] = {}
    for task in sorted(set(tasks)):
        mine = np.array([pair_task == task for pair_task in tasks])
        by_way = {name: _agreement(frame, done[mine], codes[mine]) for name, codes in verdicts.items()}
        by_task[task] = TaskLeftOut(**by_way, best_neuron=_best_neuron(frame, done[mine]))
    return by_task


def _best_neuron(frame: RunFrame, places: NDArray[np.int64]) -> BestOfTask:
    votes = frame.votes[places]
    codes = sign_codes(np.nan_to_num(votes), ~np.isnan(votes))
    scores = [
        (agreement_of(pair_counts(frame.human[places], codes[:, neuron])).accuracy, name)
        for neuron, name in enumerate(frame.names)
    ]
    known = [(value, name) for value, name in scores if value is not None]
    if not known:
        return BestOfTask(None, None, "no labelled pair of this task has a verdict")
    value, name = max(known, key=lambda known_neuron: known_neuron[0])
    return BestOfTask(name, value, None)
