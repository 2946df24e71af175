"""``judgenet bias``: the biases of a network and its parts, compared with chance and with the single judge."""

from __future__ import annotations

import json
import queue
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.bias_people import (
    ForPeopleOption,
    PeopleOption,
    PersonOption,
    enter_people,
    print_people,
    write_for_people,
)
from judgenet.cli.bias_recorded import bias_recorded, check_own_systems
from judgenet.cli.common import JsonOption, open_output
from judgenet.cli.errors import ExitCode, InputError
from judgenet.cli.progress import Reporter, print_findings
from judgenet.cli.run import CODES, ends_cleanly, take_events
from judgenet.cli.run_options import ALL, with_setup
from judgenet.cli.terminal import Terminal
from judgenet.core.bias import PROBES, parse_probes
from judgenet.core.bias.base import MARGIN, BiasError, LabSettings
from judgenet.core.bias.lab import BuiltLab, build_lab
from judgenet.core.bias.nwise import MOST, Groups, groups_of
from judgenet.core.bias.reference import CITATION, COLUMNS, NOTE, reference
from judgenet.core.cascade import has_stop_rules
from judgenet.core.events import Event
from judgenet.core.pairs import systems_of
from judgenet.core.wording import plural
from judgenet.engine.bias import LabFinished, LabHandle, chosen_judges, estimate_lab, lab_starts, start_lab
from judgenet.engine.nwise import ask_orders, estimate_orders
from judgenet.engine.prepare import Setup
from judgenet.engine.session import Engine, Start
from judgenet.figures.base import as_json as json_of
from judgenet.figures.bias import bias_figures
from judgenet.stats.bias import Cell, Judge
from judgenet.stats.bias_conclusions import p_text, signed
from judgenet.stats.lab import AT_ONCE, PEOPLE, LabResult
from judgenet.store.db import Store
from judgenet.store.labs import NO_ORDERS, LabJudge, OrderAnswers, keep_orders, lab_orders, lab_result
from judgenet.store.links import link_out
from judgenet.store.secrets import scrub

RESULT_FILE = "bias.json"
_TITLE, _COLUMN = 17, 15
"""Widths in characters of the title of a bias, and of a judge's column."""


class DenominatorOption(StrEnum):
    VALID = "valid"
    PAPER = "paper"


def parse_judges(text: str) -> tuple[tuple[LabJudge, ...], bool]:
    """The judges of a list such as ``network,single,neurons``, and whether each neuron is shown.

    :raises InputError: an unknown name, or none.
    """
    try:
        return chosen_judges([name.strip().lower() for name in text.split(",") if name.strip()])
    except BiasError as error:
        raise InputError(f"--judges {text}: {error}") from None


def _reference(wanted: bool) -> None:
    """Shows CoBBLEr's figures and ends the command."""
    if not wanted:
        return
    table = Table(box=None, pad_edge=False, title=CITATION, caption=NOTE)
    table.add_column("judge")
    for title in COLUMNS.values():
        table.add_column(title, justify="right")
    for row in reference():
        figures = [row.figures[name] for name in COLUMNS]
        table.add_row(row.judge, *("–" if figure is None else f"{figure:.3f}" for figure in figures))
    Terminal().print(table)
    raise typer.Exit


_OPTIONS = tuple(name for name in ALL if name not in ("until", "stop_when"))
"""The options of ``run`` that a lab takes. It makes every call, so none that stops early."""


@partial(with_setup, names=_OPTIONS, instead={"recorded": bias_recorded})
def bias(
    setup: Setup,
    probes: Annotated[
        str, typer.Option(metavar="LIST", help=f"all, cobbler (the paper's six), or some of {', '.join(PROBES)}.")
    ] = "all",
    judges: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="network (with its layers and aggregations), single (one judge on the same model), faireval (three "
            "samples of it), neurons (each of the network's).",
        ),
    ] = "network,single",
    instructions: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Use the pairs of N instructions, drawn by --seed.")
    ] = None,
    own_system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Name of the system in the pairs that is the judge's own model, exactly as written there. Repeatable.",
        ),
    ] = None,
    share: Annotated[
        int, typer.Option(min=1, max=100, help="Size of the invented majority, in per cent of people.")
    ] = 85,
    tie: Annotated[bool, typer.Option("--tie/--no-tie", help="Whether the judges may answer with a tie.")] = True,
    denominator: Annotated[
        DenominatorOption,
        typer.Option(help="valid: share of the pairs with valid answers; paper: as CoBBLEr's released code divides."),
    ] = DenominatorOption.VALID,
    margin: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="A judge counts as unbiased where an equivalence test rules out a net effect above this. Changing it "
            "makes no new calls.",
        ),
    ] = MARGIN,
    repeats: Annotated[int, typer.Option(min=2, help="How many times the probe 'repeats' asks the same.")] = 3,
    nwise: Annotated[
        int | None,
        typer.Option(
            min=2, max=MOST, metavar="N", help="Also ask the network's own model for an order of N responses at once."
        ),
    ] = None,
    for_people: ForPeopleOption = None,
    people: PeopleOption = None,
    annotator: PersonOption = None,
    recorded: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Make no call: measure order, length and own-system bias from an existing run, also of judgments made "
            "elsewhere, for each of its neurons, layers and aggregations.",
        ),
    ] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Show the plan and the price; make no call.")] = False,
    reference_table: Annotated[
        bool,
        typer.Option("--reference", help="Show the paper's own figures and exit.", callback=_reference, is_eager=True),
    ] = False,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> int:
    """Measure the biases of a network, each of its parts and the single judge.

    Findings rest on the net effect: pairs on which the bias decides, less those on which its opposite does. The share
    of biased pairs is shown with that of chance, as published.

    The same command resumes a lab and pays for no call twice. Prompts that probes share are sent once. The result is
    also written to bias.json in the folder of the run.

    \b
    Examples:
      judgenet bias --pairs pairs.jsonl --probes all --limit 50 --out lab
      judgenet bias study.judgenet --probes cobbler --own-system gpt-4o \\
        --instructions 50 --estimate
      judgenet bias --recorded study
      judgenet bias --pairs pairs.jsonl --out lab --for-people sheet.csv
      judgenet bias --pairs pairs.jsonl --out lab --people sheet.csv \\
        --annotator Ada
      judgenet export lab --what bias --format csv -o counted.csv
    """
    assert recorded is None
    chosen, neurons = parse_judges(judges)
    settings = LabSettings(
        own=tuple(own_system or ()),
        share=share,
        tie=tie,
        denominator=denominator.value,
        repeats=repeats,
        instructions=instructions,
        seed=setup.start.record.get("seed", 0),
        margin=margin,
    )
    check_own_systems(settings.own, systems_of(setup.start.pairs))
    built = build_lab(setup.start.pairs, parse_probes(probes), settings)
    groups = None if nwise is None else groups_of(setup.start.pairs, nwise, settings)
    if for_people is not None:
        return write_for_people(setup, built, for_people, as_json=as_json)
    if people is not None:
        return enter_people(setup, built, people, annotator, as_json=as_json)
    if estimate:
        return _show_estimate(setup, built, chosen, groups, as_json)
    setup.require_approved()
    finished, result, orders = _measure(setup, built, chosen, groups, neurons=neurons, quiet=quiet)
    folder = setup.project_path.parent
    record = {
        "lab": finished.lab,
        "state": finished.state,
        "message": scrub(finished.message),
        "place": str(folder),
        **json_of(bias_figures(result)),
        "nwise": None if orders is None else orders.to_json(),
        "reasons": NO_ORDERS if orders is None else {},
    }
    _write_record(record, folder / RESULT_FILE)
    if as_json:
        sys.stdout.write(json.dumps(record, allow_nan=False) + "\n")
    else:
        print_result(result, Terminal(), neurons=neurons)
        if orders is not None:
            typer.echo(_orders_line(orders))
    if finished.message and (quiet or finished.state != "done"):
        typer.echo(f"judgenet: {finished.state}: {scrub(finished.message)}", err=True)
    return CODES[finished.state]


def _measure(
    setup: Setup,
    built: BuiltLab,
    judges: tuple[LabJudge, ...],
    groups: Groups | None,
    *,
    neurons: bool,
    quiet: bool,
) -> tuple[LabFinished, LabResult, OrderAnswers | None]:
    """Makes the calls of a lab, and those about orders: how the lab ended, its result, and the orders."""
    console = Terminal(stderr=True)
    with Store.open(setup.store_path) as store:
        setup.save()
        if not quiet:
            print_findings(console, setup.dataset.findings)
            _print_plan(built, console, gated=has_stop_rules(setup.start.spec))
            for name, text in estimate_lab(lab_starts(setup.start, built, judges), store).lines():
                console.print(f"{name}: {text}", soft_wrap=True, markup=False, highlight=False)
        with Engine() as engine:
            finished = _follow(engine, store, setup, built, judges, console, quiet)
        if groups is not None and finished.state == "done":
            _ask_orders(store, replace(setup.start, limits=finished.left), groups, finished.lab)
        store.require_kept()
        return finished, lab_result(store, finished.lab, neurons=neurons), lab_orders(store, finished.lab)


def _orders_line(orders: OrderAnswers) -> str:
    rate = "n/a" if orders.valid_rate is None else f"{orders.valid_rate:.3f}"
    return (
        f"Orders of {orders.size} responses: {len(orders.rankings):,} of {orders.asked:,} answers valid "
        f"({rate}), {plural(orders.groups, 'instruction')}"
    )


def _write_record(record: Mapping[str, Any], path: Path) -> None:
    """Writes the result as a file; a link that leads out of the folder is replaced."""
    if link_out(path) is not None:
        path.unlink()
    with open_output("--out", path, "w") as out:
        out.write(json.dumps(record, allow_nan=False) + "\n")


def _ask_orders(store: Store, start: Start, groups: Groups, lab: str) -> None:
    handle = ask_orders(store, start, groups)
    try:
        keep_orders(store, lab, handle.future.result())
    finally:
        handle.close()


def _show_estimate(
    setup: Setup, built: BuiltLab, judges: tuple[LabJudge, ...], groups: Groups | None, as_json: bool
) -> int:
    store = Store.open(setup.store_path, readonly=True) if setup.store_path.exists() else None
    try:
        estimate = estimate_lab(lab_starts(setup.start, built, judges), store)
        orders = None if groups is None else estimate_orders(setup.start, groups, store)
    finally:
        if store is not None:
            store.close()
    if as_json:
        plan = [
            {"probe": plan_of_probe.key, "pairs": len(plan_of_probe.items), "left_out": plan_of_probe.left_out}
            for plan_of_probe in built.lab.probes
        ]
        nwise = None if orders is None else orders.to_json()
        reasons = estimate.to_json()["reasons"] | (NO_ORDERS if orders is None else {})
        record = {**estimate.to_json(), "probes": plan, "nwise": nwise, "reasons": reasons}
        typer.echo(json.dumps(record, allow_nan=False))
        return ExitCode.DONE
    console = Terminal()
    _print_plan(built, console, gated=has_stop_rules(setup.start.spec))
    for name, text in estimate.lines():
        console.print(f"{name}: {text}", soft_wrap=True, markup=False, highlight=False)
    if groups is not None and orders is not None:
        text = f"orders of {groups.size} responses: {orders.line()}"
        console.print(text, soft_wrap=True, markup=False, highlight=False)
    return ExitCode.DONE


def _print_plan(built: BuiltLab, console: Console, *, gated: bool) -> None:
    lab = built.lab
    pairs = plural(lab.pairs, "pair")
    questions = plural(lab.questions, "instruction")
    line = f"Plan: {pairs} of {questions}, {plural(len(built.prompts), 'prompt')} a judge"
    console.print(line, soft_wrap=True, markup=False, highlight=False)
    for plan in lab.probes:
        console.print(f"  {PROBES[plan.key].title}: {plan.line}", soft_wrap=True, markup=False, highlight=False)
    if gated:
        console.print("The lab makes every call: the stop rules of the network are left out.", soft_wrap=True)


def _follow(
    engine: Engine,
    store: Store,
    setup: Setup,
    built: BuiltLab,
    judges: tuple[LabJudge, ...],
    console: Console,
    quiet: bool,
) -> LabFinished:
    """Shows all runs until the lab ends. The first interrupt stops it cleanly."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    ids = [prompt.id for prompt in built.prompts]
    handle: LabHandle = start_lab(engine, store, setup.start, built, judges, events.put)
    with ends_cleanly():
        while True:
            # Each judge is a run of its own, with a line of progress of its own.
            with Reporter(console, ids, quiet=quiet) as reporter:
                if take_events(handle, events, reporter) is None:
                    return handle.future.result()


def print_result(result: LabResult, console: Console, *, neurons: bool = False) -> None:
    """The result as tables: the biases judge by judge, the differences, and the similarity of the rankings of
    systems."""
    console.print(Text(result.headline, style="bold"))
    if result.subline:
        console.print(Text(result.subline))
    for judge in reversed(result.judges):
        if judge.kind in ("network", "single", "baseline"):
            console.print()
            console.print(
                Text(f"{judge.title} ({judge.kind})" if judge.kind == "network" else judge.title, style="bold")
            )
            console.print(_net_table(result, judge))
            console.print()
            console.print(_shares_table(result, judge))
    for table in _parts_tables(result, neurons, console.width):
        console.print()
        console.print(table)
    if result.people is not None:
        console.print()
        print_people(result, console)
    if any(cell.varieties for cell in result.cells):
        console.print()
        console.print(_varieties_table(result))
    if result.ranks.overlaps:
        console.print()
        console.print(_ranks_table(result))
        console.print()
        console.print(_systems_table(result))
    elif result.ranks.reason:
        console.print(Text(f"Rankings of systems: n/a – {result.ranks.reason}", style="dim"))


def _net_table(result: LabResult, judge: Judge) -> Table:
    """The net effects of a judge with their tests, and the findings."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Bias", no_wrap=True)
    for name in ("net effect", "95 % interval", "p (Holm)"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Finding")
    for plan in result.lab.probes:
        cell = result.cell(plan.key, judge.id)
        net = _net(cell)
        interval = "–" if net == "–" or cell.net_ci is None else " to ".join(signed(end, 3) for end in cell.net_ci)
        table.add_row(PROBES[plan.key].title, net, interval, _p(cell.net_p_holm), Text(cell.words))
    return table


def _shares_table(result: LabResult, judge: Judge) -> Table:
    """The shares of biased pairs as published, with those of chance."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("Share of biased pairs", no_wrap=True)
    for name in ("share", "95 % interval", "random", "n", "valid"):
        table.add_column(name, justify="right", no_wrap=True)
    for plan in result.lab.probes:
        cell = result.cell(plan.key, judge.id)
        chance = result.chances[plan.key]
        interval = "–" if cell.interval is None else f"{cell.interval.low:.3f} to {cell.interval.high:.3f}"
        random = "–" if chance.analytic is None else f"{chance.analytic:.2f}"
        if chance.high is not None:
            random += f" (≤ {chance.high:.2f})"
        valid = "–" if cell.valid_rate is None else f"{cell.valid_rate:.2f}"
        n = f"{cell.n:,} of {cell.items:,}"
        table.add_row(PROBES[plan.key].title, _share(cell), interval, random, n, valid)
    return table


def _p(p: float | None) -> str:
    return "–" if p is None else p_text(p).removeprefix("p ").removeprefix("= ")


def _net(cell: Cell) -> str:
    return "–" if cell.net is None or not PROBES[cell.probe].has_rival else signed(cell.net, 3)


def _share(cell: Cell) -> str:
    return "–" if cell.share is None else f"{cell.share:.3f}"


def _parts_tables(result: LabResult, neurons: bool, width: int) -> Iterator[Table]:
    """Net effects and shares of every part, to see whether width or depth lowers a bias; several tables where one would
    be wider than the terminal."""
    shown = [judge for judge in result.judges if neurons or judge.kind != "neuron"]
    each = max(1, (width - _TITLE) // _COLUMN)
    for name, figure in (("Net by part", _net), ("Share by part", _share)):
        for start in range(0, len(shown), each):
            some = shown[start : start + each]
            table = Table(box=None, pad_edge=False)
            table.add_column(name)
            for judge in some:
                table.add_column(Text(judge.title), justify="right", max_width=_COLUMN - 2)
            for plan in result.lab.probes:
                cells = (result.cell(plan.key, judge.id) for judge in some)
                table.add_row(PROBES[plan.key].title, *(figure(cell) for cell in cells))
            yield table


def _varieties_table(result: LabResult) -> Table:
    """How often each variety of a probe succeeds, for probes with several, by judge."""
    table = Table(box=None, pad_edge=False)
    judges = [judge for judge in result.judges if judge.kind in ("network", "single", "baseline")]
    table.add_column("By form")
    for judge in judges:
        table.add_column(Text(judge.title), justify="right")
    for plan in result.lab.probes:
        cells = [result.cell(plan.key, judge.id).varieties for judge in judges]
        for name in dict.fromkeys(name for cell in cells for name in cell):
            counts = [cell.get(name, (0, 0)) for cell in cells]
            table.add_row(f"{PROBES[plan.key].title}: {name}", *(f"{hits:,} of {n:,}" for hits, n in counts))
    return table


def _systems_table(result: LabResult) -> Table:
    """Wins per appearance of each system, and its rank, by rater."""
    table = Table(box=None, pad_edge=False)
    others = {PEOPLE: "people", AT_ONCE: "orders at once"}
    kinds = {judge.id: judge.kind for judge in result.judges}
    titles = {judge.id: judge.title for judge in result.judges} | others | result.ranks.others
    raters = [rater for rater in result.ranks.raters if kinds.get(rater) not in ("neuron", "aggregation")]
    raters = [rater for rater in raters if rater in result.ranks.shares]
    table.add_column("System: wins per appearance (rank)")
    for rater in raters:
        table.add_column(Text(titles[rater]), justify="right")
    for system in result.ranks.systems:
        row = []
        for rater in raters:
            shares = result.ranks.shares[rater]
            if system not in shares:
                row.append("–")
                continue
            rank = 1 + sum(share > shares[system] for share in shares.values())
            row.append(f"{shares[system]:.3f} ({rank})")
        table.add_row(Text(system), *row)
    return table


def _ranks_table(result: LabResult) -> Table:
    """Average rank-biased overlap of the network, the single judge and people."""
    table = Table(box=None, pad_edge=False)
    table.add_column("Similarity of rankings (RBO)")
    for name in ("overlap", "instructions"):
        table.add_column(name, justify="right")
    others = {PEOPLE: "people", AT_ONCE: "orders at once"}
    titles = {judge.id: judge.title for judge in result.judges} | others | result.ranks.others
    kinds = (
        {judge.id: str(judge.kind) for judge in result.judges} | others | dict.fromkeys(result.ranks.others, "network")
    )
    for (first, second), overlap in result.ranks.overlaps.items():
        if "neuron" not in (kinds[first], kinds[second]) and "aggregation" not in (kinds[first], kinds[second]):
            value = "–" if overlap.value is None else f"{overlap.value:.4f}"
            count = f"{overlap.questions:,} of {overlap.total:,}"
            table.add_row(Text(f"{titles[first]} and {titles[second]}"), value, count)
    for rater, overlap in result.ranks.with_people.items():
        if kinds[rater] not in ("neuron", "aggregation") and overlap.value is not None:
            count = f"{overlap.questions:,} of {overlap.total:,}"
            table.add_row(
                Text(f"{titles[rater]} and each of {result.ranks.persons} people"), f"{overlap.value:.4f}", count
            )
    among = result.ranks.among_people
    if among is not None and among.value is not None:
        table.add_row("people with each other", f"{among.value:.4f}", f"{among.questions:,} of {among.total:,}")
    return table
