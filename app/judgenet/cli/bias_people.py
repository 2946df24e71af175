"""``judgenet bias --for-people`` and ``--people``: a lab's prompts for people, and their answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.errors import ExitCode
from judgenet.cli.terminal import Terminal
from judgenet.core.bias import PROBES
from judgenet.core.bias.for_people import PeoplePrompt, for_people
from judgenet.core.bias.lab import BuiltLab
from judgenet.core.network import Language
from judgenet.core.prompts import PromptLanguage
from judgenet.core.wording import plural
from judgenet.engine.bias import lab_of
from judgenet.engine.prepare import Setup
from judgenet.figures.base import as_json as json_of
from judgenet.figures.bias import bias_figures
from judgenet.formats.people_sheet import read_sheet
from judgenet.stats.bias_conclusions import signed
from judgenet.stats.lab import LabResult
from judgenet.store.db import Store
from judgenet.store.lab_people import keep_sheet, write_sheet
from judgenet.store.labs import keep_lab, lab_result

ForPeopleOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Make no call: write the prompts as people see them, shuffled and without a hint of the probe, as CSV "
        "(.csv) or JSON Lines. They fill in the column answer.",
        show_default=False,
    ),
]
PeopleOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Make no call: enter the answers of people (a sheet from --for-people, with the same pairs, probes and "
        "settings) and show the result.",
        show_default=False,
    ),
]
PersonOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Who answered, where the file of --people does not say.", show_default=False),
]


def _prompts(setup: Setup, built: BuiltLab) -> tuple[PeoplePrompt, ...]:
    language = _language(setup.start.spec.language)
    texts = {prompt.id: prompt for prompt in built.prompts}
    return for_people(built.lab, texts, lambda pair: setup.start.book.remarks(pair, language))


def _language(language: Language) -> PromptLanguage:
    return "zh" if language == "zh" else "en"


def write_for_people(setup: Setup, built: BuiltLab, target: Path, *, as_json: bool) -> int:
    """Writes the sheet of a lab."""
    lab = lab_of(setup.start, built)
    prompts = _prompts(setup, built)
    write_sheet(prompts, target)
    if as_json:
        typer.echo(json.dumps({"lab": lab, "file": str(target), "prompts": len(prompts), "pairs": built.lab.pairs}))
    else:
        typer.echo(
            f"{target}: {plural(len(prompts), 'prompt')} of {built.lab.pairs:,} pairs. In the column answer "
            "people write 1, 2, tie or unsure; then judgenet bias … --people FILE"
        )
    return ExitCode.DONE


def enter_people(setup: Setup, built: BuiltLab, source: Path, person: str | None, *, as_json: bool) -> int:
    """Enters the answers of a sheet and shows the result, with the judges that were asked before."""
    lab = lab_of(setup.start, built)
    sheet = read_sheet(source, {prompt.key: prompt for prompt in _prompts(setup, built)}, person)
    with Store.open(setup.store_path) as store:
        setup.save()
        keep_lab(store, lab, built.lab, {})
        new = keep_sheet(store, sheet)
        result = lab_result(store, lab, neurons=False, prompts=built.prompts)
    entered = {"file": str(source), "n": len(sheet.answers), "new": new, "empty": sheet.empty}
    if as_json:
        figures = json_of(bias_figures(result))
        sys.stdout.write(json.dumps({"lab": lab, "entered": entered, **figures}, allow_nan=False) + "\n")
        return ExitCode.DONE
    typer.echo(
        f"{source}: {plural(len(sheet.answers), 'answer')}, {new:,} of them new; "
        f"{plural(sheet.empty, 'row')} without an answer"
    )
    print_people(result, Terminal())
    return ExitCode.DONE


def print_people(result: LabResult, console: Console) -> None:
    """The figures of people's answers, one row a probe; nothing where nobody answered."""
    people = result.people
    if people is None:
        return
    many = "1 person" if len(people.persons) == 1 else f"{len(people.persons):,} persons"
    console.print(
        Text(
            f"People: {many}, {plural(people.answers, 'answer')} to {people.prompts:,} of "
            f"{people.prompts_total:,} prompts",
            style="bold",
        )
    )
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("People", no_wrap=True)
    for name in ("share", "95 % interval", "n", "pairs", "net effect", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Finding")
    for cell in people.cells:
        rival = PROBES[cell.probe].has_rival
        table.add_row(
            PROBES[cell.probe].title,
            "–" if cell.share is None else f"{cell.share:.3f}",
            "–" if cell.interval is None else f"{cell.interval.low:.3f} to {cell.interval.high:.3f}",
            f"{cell.n:,} of {cell.items:,}",
            f"{people.pairs[cell.probe]:,} of {len(result.plan(cell.probe).items):,}",
            "–" if cell.net is None or not rival else signed(cell.net, 3),
            "–" if cell.net_ci is None or not rival else " to ".join(signed(end, 3) for end in cell.net_ci),
            Text(cell.words),
        )
    console.print(table)
