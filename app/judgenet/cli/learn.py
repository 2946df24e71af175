"""``judgenet learn``: weights of neurons learned from labels, compared with the votes that need none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, figure, interval_text, open_run, p_text
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.learned import misfit
from judgenet.core.network import LearnedKind
from judgenet.core.project import PROJECT_SUFFIX, ProjectError
from judgenet.core.wording import plural
from judgenet.engine.project_rules import save_rules
from judgenet.figures.learned import learn_way, learned_rule
from judgenet.figures.learning import LearnedWayFigures, LessFigures, RefusedWay, RunLearning, TaskLeftOut, run_learning
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import RunInfo
from judgenet.store.taught import fair_frame


class LeaveOutPart(StrEnum):
    TASK = "task"


class LearnKind(StrEnum):
    NONNEGATIVE = "nonnegative"
    ANY_SIGN = "any-sign"
    ISING = "ising"
    DAWID_SKENE = "dawid-skene"

    @property
    def way(self) -> LearnedKind:
        """The name of the way in figures and rules."""
        ways: dict[LearnKind, LearnedKind] = {
            LearnKind.NONNEGATIVE: "nonnegative",
            LearnKind.ANY_SIGN: "any_sign",
            LearnKind.ISING: "ising",
            LearnKind.DAWID_SKENE: "dawid_skene",
        }
        return ways[self]


_TITLES = {
    "nonnegative": "learned, weights of 0 or more",
    "any_sign": "learned, weights of any sign",
    "ising": "Ising (neurons depend on one another)",
    "dawid_skene": "Dawid-Skene (no labels)",
    "best_single": "best single neuron",
}


def print_learning(figures: RunLearning, console: Console) -> None:
    """The figures as tables for people."""
    console.print(
        f"{figures.run}: {plural(len(figures.neurons), 'neuron')}, {figures.pairs.labelled:,} of "
        f"{plural(figures.pairs.total, 'pair')} with a human label, {figures.folds} folds, seed {figures.seed}",
        soft_wrap=True,
    )
    notes = _print_ways(figures, console)
    for name, way in figures.learned.items():
        if isinstance(way, RefusedWay):
            continue
        for against, less in way.less.items():
            if against in ("best_single", figures.decides):
                title = _TITLES.get(against, against)
                console.print(
                    f"{_TITLES[name]} compared with {title}: {_less_words(less)}", soft_wrap=True, markup=False
                )
    way = figures.learned["nonnegative"]
    if not isinstance(way, RefusedWay):
        console.print(f"Weights of 0 or more: {_weights_words(way.weights)}.", soft_wrap=True, markup=False)
    if figures.leave_out is not None:
        notes += _print_left_out(figures.leave_out.task, console)
    for note in notes:
        console.print(note, soft_wrap=True, markup=False)
    if figures.saved is not None:
        console.print(figures.saved, soft_wrap=True, markup=False)


def _print_ways(figures: RunLearning, console: Console) -> list[str]:
    """Prints the table of ways and votes; returns the notes on them."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("way", "accuracy", "95 % interval", "kappa", "n used"):
        table.add_column(name, justify="left" if name == "way" else "right")
    notes = []
    rows = {**{_TITLES[name]: row for name, row in figures.learned.items()}, **figures.votes}
    for title, row in rows.items():
        if isinstance(row, RefusedWay) or row.accuracy is None:
            table.add_row(title, "n/a", "", "", "")
            reason = row.reason if isinstance(row, RefusedWay) else row.reasons["accuracy"]
            notes.append(f"{title}: n/a – {reason}")
            continue
        within = interval_text(row.accuracy_ci) or "n/a"
        table.add_row(title, f"{row.accuracy:.4f}", within, figure(row.kappa), f"{row.n_used:,}")
        if isinstance(row, LearnedWayFigures):
            notes += [f"{title}: {note}" for note in (row.below_baseline, row.warning) if note]
    console.print(table)
    return notes


def _weights_words(weights: Mapping[str, float]) -> str:
    """The weights above 0, the largest first."""
    used = sorted((weight for weight in weights.items() if weight[1] > 0), key=lambda weight: -weight[1])
    if not used:
        return "all are 0"
    return ", ".join(f"{name} {value:.3f}" for name, value in used) + (
        "; the others are 0" if len(used) < len(weights) else ""
    )


def _print_left_out(tasks: Mapping[str, TaskLeftOut | str], console: Console) -> list[str]:
    """Prints a line for each task that was left out; returns why there is none."""
    notes = []
    for task, left_out in tasks.items():
        if isinstance(left_out, str):
            notes.append(f"Leave out a task: n/a – {left_out}")
            continue
        console.print(
            f"{task}, left out: {figure(left_out.nonnegative.accuracy)} (any sign "
            f"{figure(left_out.any_sign.accuracy)}); best single neuron there, chosen on these very labels, "
            f"{figure(left_out.best_neuron.accuracy)}",
            soft_wrap=True,
            markup=False,
        )
    return notes


def _less_words(less: LessFigures) -> str:
    accuracy = less.accuracy
    if accuracy.difference is None or less.p is None:
        return f"n/a – {less.reason or accuracy.reason}"
    within = f"({interval_text(accuracy.ci, signed=True) or accuracy.reason})"
    over = " over questions" if less.p_over == "questions" else ""
    p = f"p{over} {'' if less.p < 0.0001 else '= '}{p_text(less.p)}"
    return f"accuracy {accuracy.difference:+.4f} {within}, {p}, on {plural(less.n, 'pair')}"


def save_learned(store: Store, run: RunInfo, kind: LearnKind, seed: int, project: Path, decides: bool) -> str:
    """Writes what was learned from a run into the network of a project, which is created with the run's network where
    it does not exist; returns a sentence about that.

    :raises InputError: nothing can be learned, or the network is not that of the run.
    """
    if project.suffix != PROJECT_SUFFIX:
        raise InputError(f"--save {project}: the name of a project ends in {PROJECT_SUFFIX}.")
    frame = RunFrame.read(store, run)
    learned = learn_way(frame, kind.way, seed)
    if isinstance(learned, str):
        raise InputError(f"--save {project}: nothing was written. {learned}")
    today = datetime.now(UTC).date().isoformat()
    rule = learned_rule(store, frame, learned, kind.way, today, seed, decides)
    try:
        save_rules(
            store, run, project, lambda rules: replace(rules, learned=rule), lambda network: misfit(network, rule)
        )
    except ProjectError as error:
        raise InputError(f"--save {project}: {error}") from None
    fitted = (
        f"{rule.labels:,} labelled pairs" if rule.labels else f"{plural(len(frame.done), 'pair')} without their labels"
    )
    verdict = "gives the verdict" if decides else "stands beside the other verdicts"
    return f"Written to {project}: the aggregation learned, fitted to {fitted} of {run.id}; it {verdict} of new runs."


def learn(
    run: RunArgument,
    leave: Annotated[
        LeaveOutPart | None,
        typer.Option(
            "--leave-out", help="Also judge each task with weights fitted to the other tasks.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 0,
    save: Annotated[
        Path | None,
        typer.Option(metavar="PROJECT", help="Write what was learned into a project's network.", show_default=False),
    ] = None,
    kind: Annotated[LearnKind, typer.Option(help="The kind of rule that --save writes.")] = LearnKind.NONNEGATIVE,
    decides: Annotated[
        bool, typer.Option("--decides", help="With --save: the rule gives the network's verdict.")
    ] = False,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Learn a weight for each neuron of a run, and see whether that beats its votes and its best neuron.

    Weights are fitted to the human labels (logistic regression, weights of 0 or more unless said otherwise; or an Ising
    model, in which neurons depend on one another) or estimated without labels (Dawid-Skene). Every pair is judged by
    weights fitted to pairs with other questions.

    With --save, new runs of the project have a further aggregation, named learned. A project that does not exist is
    created with the network of the run and its endpoints, prompts and prices.

    Example: judgenet learn out --leave-out task --save judges.judgenet
    """
    if decides and save is None:
        raise InputError("--decides goes with --save PROJECT.")
    with open_run(run, project) as (store, info):
        figures = run_learning(fair_frame(store, info), tasks=leave is not None, seed=seed)
        if save is not None:
            figures = replace(figures, saved=save_learned(store, info, kind, seed, save, decides))
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_learning(figures, Terminal())
