"""The progress of a run from its events: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from judgenet.core.acceptance import ACCEPTED, FOR_PEOPLE
from judgenet.core.aggregate import NO_QUORUM
from judgenet.core.events import (
    BatchesChanged,
    EndpointChanged,
    Event,
    PairFinished,
    RolesFound,
    RunChanged,
    RunFinished,
    RunStarted,
    StoreTrouble,
)
from judgenet.core.tally import Tally
from judgenet.core.wording import plural
from judgenet.formats import Finding

_LINE_EVERY_S = 10.0
_BATCH_LINE_EVERY_S = 600.0
_DRAW_EVERY_S = 0.1
_RECENT = 6
_SHOWN_IDS = 5


def finding_line(finding: Finding) -> str:
    """A finding of the import check in one line, with the first pairs concerned."""
    ids = ", ".join(finding.ids[:_SHOWN_IDS]) + (", …" if len(finding.ids) > _SHOWN_IDS else "")
    return f"{finding.severity}: {finding.message}" + (f" ({finding.count:,}: {ids})" if ids else "")


def print_findings(console: Console, findings: Iterable[Finding]) -> None:
    """Prints the findings of the import check, one a line."""
    for finding in findings:
        console.print(finding_line(finding), style="dim", soft_wrap=True, markup=False, highlight=False)


def verdict_text(verdict: str | None) -> str:
    """A verdict for people; a missing one is a dash."""
    return {"a": "A", "b": "B", "tie": "tie", None: "–"}.get(verdict, "–")


def pair_line(event: PairFinished) -> str:
    """One finished pair: verdicts of all aggregations, the human label, calls used of all."""
    left = dict.fromkeys(event.no_quorum, NO_QUORUM) | ({ACCEPTED: FOR_PEOPLE} if event.for_people else {})
    named = "  ".join(f"{name} {left.get(name) or verdict_text(verdict)}" for name, verdict in event.verdicts)
    line = f"pair {event.pair_id}: {named}  human {verdict_text(event.human)}"
    line += f"  ({event.calls_used} of {event.calls_total} calls used)"
    if event.stopped_after is not None:
        line += f"  decided early after layer {event.stopped_after[0]}"
    return line + (f"  {event.open_calls} without an answer, asked again next time" if event.open_calls else "")


class Reporter:
    """Shows a run's events. On a terminal a live panel, elsewhere a line a pair (unless ``each_pair`` is false) and one
    now and then."""

    def __init__(
        self, console: Console, pair_ids: Sequence[str], *, quiet: bool = False, each_pair: bool = True
    ) -> None:
        self.tally = Tally()
        self._pair_ids = pair_ids
        self._console = console
        self._quiet = quiet
        self._each_pair = each_pair
        self._last_line = self._began = time.monotonic()
        self._silence_s = _LINE_EVERY_S
        self._away: dict[str, str] = {}
        self._batches: dict[str, BatchesChanged] = {}
        self._last_drawn = 0.0
        self._recent: deque[str] = deque(maxlen=_RECENT)
        self._state = ""
        # Output of others is not redirected through the panel: it would be printed with its escape sequences.
        self._live = (
            Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False)
            if console.is_terminal and not quiet
            else None
        )

    def __enter__(self) -> Reporter:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._live is not None:
            self._live.stop()

    def _say(self, text: str, style: str = "") -> None:
        if not self._quiet:
            self._console.print(Text(text, style=style), soft_wrap=True)

    def take(self, event: Event) -> None:
        """Takes in an event and prints what is news."""
        self.tally.take(event)
        if isinstance(event, RunStarted):
            again = f", {event.pairs_done:,} of them done before" if event.pairs_done else ""
            self._say(
                f"{event.run_id}: {plural(event.pairs, 'pair')}{again}, about {plural(event.calls_planned, 'call')}"
            )
        elif isinstance(event, PairFinished):
            if self._live is not None:
                self._recent.append(pair_line(event))
            elif self._each_pair:
                self._say(pair_line(event))
        elif isinstance(event, RolesFound) and event.note and self._each_pair:
            self._say(f"pair {self._pair_ids[event.pair]}: {event.note}", "yellow")
        elif isinstance(event, EndpointChanged):
            self._endpoint(event)
        elif isinstance(event, BatchesChanged):
            self._batches_changed(event)
        elif isinstance(event, StoreTrouble):
            self._say(event.message or "The store can be written again.", "red" if event.message else "green")
        elif isinstance(event, RunChanged):
            self._state = "paused" if event.state == "paused" else ""
        elif isinstance(event, RunFinished):
            self._say(self.tally.line())
            if event.message:
                style = {"failed": "red", "halted": "red", "enough": "green"}.get(event.state, "yellow")
                self._say(f"{event.state}: {event.message}", style)

    def _endpoint(self, event: EndpointChanged) -> None:
        was_away = self._away.pop(event.endpoint, "")
        if event.state == "away":
            self._away[event.endpoint] = event.message
        elif event.state == "open" and not was_away:
            return
        # Most messages name their endpoint already.
        named = event.message if event.endpoint in event.message else f"{event.endpoint}: {event.message}"
        self._say(named, {"stopped": "red", "failing": "red", "open": "green"}.get(event.state, "yellow"))

    def _batches_changed(self, event: BatchesChanged) -> None:
        """Prints the batches when they change; their progress is shown in the panel, or in a line now and then."""
        before = self._batches.pop(event.endpoint, None)
        if not event.batches:
            return
        self._batches[event.endpoint] = event
        which = (event.stage, event.batches, event.calls)
        if before is None or (before.stage, before.batches, before.calls) != which:
            self._say(self._batch_line(event), "cyan")
            self._last_line = time.monotonic()

    def _batch_line(self, event: BatchesChanged) -> str:
        several = f" ({event.batches} batches)" if event.batches > 1 else ""
        return f"{event.message}{several}, at {event.endpoint}"

    def refresh(self) -> None:
        """Draws the present state, a few times a second however often it is called."""
        now = time.monotonic()
        if self._live is not None:
            if now - self._last_drawn >= _DRAW_EVERY_S:
                self._last_drawn = now
                self._live.update(self._panel(), refresh=True)
        elif self._batches:
            if now - self._last_line >= _BATCH_LINE_EVERY_S:
                self._last_line = now
                for event in self._batches.values():
                    self._say(self._batch_line(event), "cyan")
        elif not self._quiet and now - self._last_line >= _LINE_EVERY_S and self.tally.calls:
            self._last_line = now
            self._say(self.tally.line())
        if not self.tally.calls and not self._away and not self._batches and now - self._began >= self._silence_s:
            self._silence_s *= 2
            self._say(f"No answer yet after {now - self._began:.0f} s.", "yellow")

    def _panel(self) -> Group:
        tally = self.tally
        bar = Table.grid(padding=(0, 1))
        total = max(tally.calls_planned, tally.calls, 1)
        share = f"{100 * tally.calls / total:3.0f} %"
        bar.add_row(
            ProgressBar(total=total, completed=tally.calls, width=40),
            Text(share),
            Text(self._state or ("paused" if self._away else ""), "yellow"),
        )
        lines = [Text(line, overflow="ellipsis", no_wrap=True) for line in self._recent]
        out = [Text(self._batch_line(event), "cyan") for event in self._batches.values()]
        return Group(*lines, bar, Text(tally.line()), *out)
