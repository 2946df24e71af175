"""``judgenet learn``: weights of neurons, learned from labels, beside the votes that need none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judgenet.cli.common import JsonOption, ProjectOption, RunArgument, figure, open_run
from judgenet.cli.errors import InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.learned import misfit
from judgenet.core.network import LearnedKind
from judgenet.core.project import PROJECT_SUFFIX, ProjectError, rebased
from judgenet.figures.learned import learn_way, learned_rule
from judgenet.figures.learning import run_learning
from judgenet.store.approvals import carry
from judgenet.store.copies import copied_network
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.project_file import ProjectFile
from judgenet.store.runs import RunInfo
from judgenet.store.taught import fair_frame


class LeaveOutPart(StrEnum):
    TASK = "task"


class LearnKind(StrEnum):
    NONNEGATIVE = "nonnegative"
    ANY_SIGN = "any-sign"
    DAWID_SKENE = "dawid-skene"

    @property
    def way(self) -> LearnedKind:
        ways: dict[LearnKind, LearnedKind] = {LearnKind.ANY_SIGN: "any_sign", LearnKind.DAWID_SKENE: "dawid_skene"}
        return ways.get(self, "nonnegative")


_TITLES = {
    "nonnegative": "learned, weights of 0 or more",
    "any_sign": "learned, weights of any sign",
    "dawid_skene": "Dawid-Skene (no labels)",
    "best_single": "best single neuron",
}


def print_learning(figures: dict[str, Any], console: Console) -> None:
    """The figures as tables for people."""
    pairs = figures["pairs"]
    console.print(
        f"{figures['run']}: {len(figures['neurons']):,} neurons, {pairs['labelled']:,} of {pairs['total']:,} pairs "
        f"with a human label, {figures['folds']} folds, seed {figures['seed']}",
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("way", "accuracy", "95 %", "kappa", "n used"):
        table.add_column(name, justify="left" if name == "way" else "right")
    notes = []
    rows = {**{_TITLES[name]: of for name, of in figures["learned"].items()}, **figures["votes"]}
    for title, of in rows.items():
        if of["accuracy"] is None:
            table.add_row(title, "n/a", "", "", "")
            notes.append(f"{title}: n/a – {of.get('reason') or of['reasons']['accuracy']}")
            continue
        kappa = figure(of["kappa"])
        table.add_row(title, f"{of['accuracy']:.4f}", _span(of["accuracy_ci"]), kappa, f"{of['n_used']:,}")
        for note in (of.get("below_baseline"), of.get("warning")):
            if note:
                notes.append(f"{title}: {note}")
    console.print(table)
    for name, of in figures["learned"].items():
        for other, less in of.get("less", {}).items():
            if other not in ("best_single", figures["decides"]):
                continue
            against = _TITLES.get(other, other)
            console.print(f"{_TITLES[name]} compared with {against}: {_less_words(less)}", soft_wrap=True, markup=False)
    weights = {name: of["weights"] for name, of in figures["learned"].items() if "weights" in of}
    if "nonnegative" in weights:
        used = {name: value for name, value in weights["nonnegative"].items() if value > 0}
        told = ", ".join(f"{name} {value:.3f}" for name, value in sorted(used.items(), key=lambda one: -one[1]))
        rest = "; the others are 0" if 0 < len(used) < len(weights["nonnegative"]) else ""
        console.print(f"Weights of 0 or more: {told or 'all are 0'}{rest}.", soft_wrap=True, markup=False)
    for task, of in figures.get("leave_out", {}).get("task", {}).items():
        if task == "reason":
            notes.append(f"Leave out a task: n/a – {of}")
            continue
        best = of["best_neuron"]
        console.print(
            f"{task}, left out: {figure(of['nonnegative']['accuracy'])} "
            f"(any sign {figure(of['any_sign']['accuracy'])}); "
            f"best single neuron there, chosen on these very labels, {figure(best['accuracy'])}",
            soft_wrap=True,
            markup=False,
        )
    for note in notes:
        console.print(note, soft_wrap=True, markup=False)
    if "saved" in figures:
        console.print(figures["saved"], soft_wrap=True, markup=False)


def _less_words(less: dict[str, Any]) -> str:
    found = less["accuracy"]
    if found["difference"] is None or less["p"] is None:
        return f"n/a – {less['reason'] or found['reason']}"
    ends = f"[{found['ci'][0]:+.3f}, {found['ci'][1]:+.3f}]" if found["ci"] else found["reason"]
    over = " over questions" if less["p_over"] == "questions" else ""
    p = f"p{over} = {less['p']:.4f}" if less["p"] >= 0.0001 else f"p{over} < 0.0001"
    return f"accuracy {found['difference']:+.4f} {ends}, {p}, on {less['n']:,} pairs"


def _span(interval: Sequence[float] | None) -> str:
    return "n/a" if interval is None else f"{interval[0]:.3f}–{interval[1]:.3f}"


def save_learned(store: Store, run: RunInfo, kind: LearnKind, seed: int, project: Path, decides: bool) -> str:
    """Writes what a run teaches into the network of a project, which is made from the run's where it is not there yet;
    and says so.

    :raises InputError: nothing can be learned, or the network is not that of the run.
    """
    if project.suffix != PROJECT_SUFFIX:
        raise InputError(f"--save {project}: the name of a project ends in {PROJECT_SUFFIX}.")
    frame = RunFrame.read(store, run)
    learned = learn_way(frame, kind.way, seed)
    if isinstance(learned, str):
        raise InputError(f"--save {project}: nothing was written. {learned}")
    made = datetime.now(UTC).date().isoformat()
    rule = learned_rule(store, frame, learned, kind.way, made, seed, decides)
    file = ProjectFile(project)
    try:
        folders = store.path.absolute().parent, project.absolute().parent
        copied = None if project.exists() else copied_network(store.path, run, project.stem)
        before = file.load() if copied is None else rebased(copied, *folders)
        if before.readonly:
            raise InputError(f"--save {project}: {before.notice}")
        why = misfit(before.network, rule)
        if why:
            raise InputError(
                f"--save {project}: its network is not that of {run.id}, and nothing was written. {why} "
                "Save into a project with the network of the run, or into a new file."
            )
        rules = replace(before.network.aggregation, learned=rule)
        file.save(replace(before, network=replace(before.network, aggregation=rules)))
        if copied is not None:
            carry(copied, *folders)
    except ProjectError as error:
        raise InputError(f"--save {project}: {error}") from None
    fitted = f"{rule.labels:,} labelled pairs" if rule.labels else f"{len(frame.done):,} pairs without their labels"
    verdict = "gives the verdict" if decides else "stands beside the other verdicts"
    return f"Written to {project}: the aggregation learned, fitted to {fitted} of {run.id}; it {verdict} of new runs."


def learn(
    run: RunArgument,
    leave: Annotated[
        LeaveOutPart | None,
        typer.Option("--leave-out", help="Also judge each task by weights fitted to the others.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 0,
    save: Annotated[
        Path | None,
        typer.Option(metavar="PROJECT", help="Write what was learned into a project's network.", show_default=False),
    ] = None,
    kind: Annotated[LearnKind, typer.Option(help="What --save writes.")] = LearnKind.NONNEGATIVE,
    decides: Annotated[bool, typer.Option("--decides", help="With --save: let it give the network's verdict.")] = False,
    as_json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Learn how far to trust each neuron of a run, and see whether that beats its votes and its best neuron.

    Weights are fitted to the human labels (logistic regression, weights of 0 or more unless said otherwise) or
    estimated without labels (Dawid-Skene). Every pair is judged by weights fitted to pairs with other questions.

    With --save a new run of the project computes its verdict, named learned, beside averages and votes. A project that
    is not there is made with the network of the run and its endpoints, prompts and prices.

    Example: judgenet learn out --leave-out task --save judges.judgenet
    """
    if decides and save is None:
        raise InputError("--decides: it goes with --save PROJECT.")
    with open_run(run, project) as (store, info):
        figures = run_learning(fair_frame(store, info), tasks=leave is not None, seed=seed)
        if save is not None:
            figures = replace(figures, saved=save_learned(store, info, kind, seed, save, decides))
    if as_json:
        typer.echo(figures.to_json())
    else:
        print_learning(figures.to_dict(), Terminal())
