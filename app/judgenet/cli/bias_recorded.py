"""``judgenet bias --recorded RUN``: the biases of an existing run, at no cost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from judgenet.cli.common import open_run
from judgenet.cli.errors import ExitCode, InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.bias import PROBES, parse_probes
from judgenet.core.bias.base import BiasError, Denominator, LabSettings
from judgenet.core.bias.lab import require_own
from judgenet.core.pairs import ORDERS
from judgenet.core.wording import plural
from judgenet.figures.bias import recorded_bias
from judgenet.stats.bias import Cell, Conclusion
from judgenet.stats.intervals import Interval
from judgenet.stats.lab import LabResult
from judgenet.store.run_bias import RUN_PROBES, RunBias, run_bias

_VERDICTS: dict[Conclusion, str] = {
    "no_bias": "none",
    "negligible": "small",
    "unclear": "unclear",
    "none": "n/a",
}
"""The last column where a judge is not biased."""

_LEGEND = (
    "Column bias: the side that a judge is biased toward; small: significant, yet below the margin; none: a net effect "
    "above the margin is ruled out; unclear: too few pairs. p: sign test of the net effect, Holm-adjusted. "
    "Margin:"
)
SETS = ("all", "cobbler")
"""Names for several probes; a run answers those of them that it can."""


def bias_recorded(
    recorded: str,
    probes: str,
    own_system: list[str] | None,
    denominator: StrEnum,
    margin: float,
    seed: int,
    as_json: bool,
) -> int:
    """Counts the biases of a run's neurons, layers and aggregations from its calls."""
    chosen = RUN_PROBES if probes.strip().lower() in SETS else parse_probes(probes)
    settings = LabSettings(
        own=tuple(own_system or ()), denominator=cast(Denominator, denominator.value), seed=seed, margin=margin
    )
    with open_run(recorded, None) as (store, run):
        result = run_bias(store, run, settings, chosen)
    check_own_systems(settings.own, result.systems)
    if as_json:
        sys.stdout.write(recorded_bias(run.id, result).to_json() + "\n")
    else:
        print_run_bias(run.id, result, Terminal())
    return ExitCode.DONE


def check_own_systems(own: Sequence[str], systems: Sequence[str]) -> None:
    """Checks that the pairs name each system of ``--own-system``.

    :raises InputError: they do not.
    """
    try:
        require_own(own, systems)
    except BiasError as error:
        raise InputError(f"--own-system {error}") from None


def print_run_bias(run: str, bias: RunBias, console: Console) -> None:
    """A table for each bias, with a row for each part of the run."""
    result = bias.result
    pairs, questions = result.lab.pairs, result.lab.questions
    console.print(Text(f"{run}: {result.headline}", style="bold"))
    console.print(Text(f"{plural(pairs, 'pair')} of {questions:,} instructions. {result.subline}"))
    console.print(Text(f"{_LEGEND} ±{result.lab.settings.margin:g}.", style="dim"))
    for note in bias.notes:
        console.print(Text(note, style="dim"))
    for plan in result.lab.probes:
        console.print()
        chance = result.chances[plan.key]
        random = "" if chance.analytic is None else f"; random {chance.analytic:.2f}"
        random += "" if chance.high is None else f" (97.5 % point of chance {chance.high:.3f})"
        console.print(Text(f"{PROBES[plan.key].title}: {PROBES[plan.key].tells.lower()}{random}", style="bold"))
        console.print(Text(plan.line, style="dim"))
        if plan.items and len(bias.orders) == len(ORDERS):
            console.print(_table(result, plan.key))


def _table(result: LabResult, key: str) -> Table:
    """The table of a bias. Rows fit 80 columns: only the judge's name is broken over lines."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    target, rival, _ = PROBES[key].outcomes
    table.add_column("Judge", overflow="fold")
    for name in (target, "95 % CI", rival, "net", "95 % CI", "p", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("bias", no_wrap=True)
    for judge in result.judges:
        cell = result.cell(key, judge.id)
        if cell.share is None:
            table.add_row(Text(judge.title), *["–"] * 6, "0", "–")
            continue
        table.add_row(
            Text(judge.title),
            _short(cell.share),
            _ends(cell.interval),
            _short(_rival(cell, rival)),
            "–" if cell.net is None else _signed(cell.net),
            _ends(cell.net_ci, _signed),
            _p(cell.net_p_holm),
            f"{cell.n:,}",
            _VERDICTS.get(cell.conclusion) or (target if cell.conclusion == "toward_target" else rival),
        )
    return table


def _ends(interval: Interval | None, number: Callable[[float], str] | None = None) -> str:
    """The ends of an interval: ``.026 to .513``, and with signs ``-.290 to +.290``."""
    number = number or _short
    return "–" if interval is None else f"{number(interval.low)} to {number(interval.high)}"


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{_short(abs(value))}"


def _rival(cell: Cell, rival: str) -> float | None:
    """The share of the other side, of the same pairs."""
    return cell.counts[rival] / cell.n if cell.n else None


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".removeprefix("0") if value < 1 else f"{value:.2f}"


def _p(value: float | None) -> str:
    return "–" if value is None else "<.001" if value < 0.001 else _short(value)
