"""How the shards of a project are, from the files that they leave beside each other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from judgenet.core.pairs import VERDICTS
from judgenet.core.project import PROJECT_SUFFIX
from judgenet.core.wording import plural
from judgenet.figures.base import OPTIONAL, Figures
from judgenet.figures.errors import FiguresError
from judgenet.stats.agreement import agreement_of
from judgenet.stats.intervals import Interval, wilson
from judgenet.store.locate import SHARDS_SUFFIX
from judgenet.store.shard_states import STALE_S, ShardReport, Want
from judgenet.store.shard_watch import CellState, ShardSetLook, ShardWatch
from judgenet.store.shards import shards_folder

SetState = Literal["waiting", "running", "paused", "stopped", "done", "failed", "silent"]

STATE_WORDS: Final[dict[CellState, str]] = {
    "waiting": "waiting",
    "running": "running",
    "paused": "paused",
    "done": "done",
    "failed": "failed",
    "silent": "no news",
}
"""The states of a shard as people read them."""
TROUBLED: Final[tuple[CellState, ...]] = ("failed", "silent")
_NAMED: Final = 8
"""Of the shards that have a fault so many are named."""


@dataclass(frozen=True)
class ShardCounts:
    """How many shards are in which state."""

    total: Annotated[int, "shards in all"]
    waiting: Annotated[int, "have not begun, or begin again"]
    running: int
    paused: int
    done: Annotated[int, "all their pairs are finished"]
    failed: Annotated[int, "ended before that"]
    silent: Annotated[int, "said that they run, and have told nothing for 90 s"]


@dataclass(frozen=True)
class ShardPairs:
    """How many pairs are finished."""

    finished: int
    total: Annotated[int | None, "of all shards"]
    reason: Annotated[str | None, "why the total is not known"]


@dataclass(frozen=True)
class ShardRates:
    """How fast the shards go, over the last minute."""

    pairs_per_second: float | None
    calls_per_second: float | None
    reason: str | None


@dataclass(frozen=True)
class ShardTrouble:
    """A shard that failed, or of which nothing is heard."""

    shard: Annotated[int, "from 1"]
    attempt: Annotated[int, "from 1; 0 where nobody counts"]
    worker: Annotated[str, "the machine"]
    error: Annotated[str, "what went wrong; empty where it only fell silent"]
    silent_s: Annotated[float | None, "seconds since it told something"]
    reason: Annotated[str | None, "why these are not known"]


@dataclass(frozen=True)
class ShardEndpoint:
    """The share of an endpoint's model over all workers."""

    name: str
    model: str
    window: Annotated[int, "calls that may be in flight"]
    in_flight: Annotated[int, "calls that are"]
    state: Annotated[str, "`open`, `slow` or `stopped`"]
    message: str


@dataclass(frozen=True)
class ShardAgreement:
    """Agreement with the labels in the shards that have ended."""

    aggregation: str
    accuracy: float | None
    ci: Annotated[Interval | None, "Wilson's; none where pairs share questions"]
    kappa: float | None
    n: Annotated[int, "labelled pairs with a verdict"]
    n_labelled: Annotated[int, "finished pairs with a label"]
    shards: Annotated[int, "ended shards that count"]
    reason: str | None


@dataclass(frozen=True, repr=False)
class ShardSetFigures(Figures):
    """How the shards of a project are."""

    _rows = "troubles"

    project: str
    state: Annotated[
        SetState,
        "`waiting`, `running`, `paused`, `stopped` (by a command or a limit), `done`, `failed`, or `silent`: some said "
        "that they run, and nothing is heard of them",
    ]
    message: str
    engine: Annotated[str, "what leads the shards, such as `ray`; empty where each runs by itself"]
    want: Annotated[Want, "the last command: `run`, `pause` or `stop`"]
    shards: ShardCounts
    pairs: ShardPairs
    rates: ShardRates
    calls: Annotated[int, "with an outcome"]
    unscored: Annotated[int, "without an evaluation"]
    price: Annotated[float, "USD, of calls with a known price"]
    unpriced: Annotated[int, "calls of unknown price"]
    missing: Annotated[tuple[int, ...], "shards that have not begun"]
    troubles: Annotated[tuple[ShardTrouble, ...], "shards that failed, and those of which nothing is heard"]
    endpoints: tuple[ShardEndpoint, ...]
    agreement: Annotated[ShardAgreement | None, OPTIONAL]


def project_shards(project: Path) -> Path:
    """The folder of the shards that a project, or the folder itself, means.

    :raises FiguresError: it is neither.
    """
    if project.suffix == SHARDS_SUFFIX and project.is_dir():
        return project
    if project.suffix != PROJECT_SUFFIX:
        raise FiguresError(f"{project} is not a project: the name of a project ends in {PROJECT_SUFFIX}.")
    return shards_folder(project)


def shard_set(project: Path, watch: ShardWatch | None = None) -> ShardSetFigures:
    """How the shards of a project are now. With a ``watch`` that has looked before, rates are known.

    :raises FiguresError: the project has no shards.
    :raises judgenet.store.db.StoreError: the folder holds shards of different divisions.
    """
    watch = watch or ShardWatch(project_shards(project))
    look = watch.look(time.time())
    if look is None:
        raise FiguresError(
            f"{watch.folder}: there are no shards here. Make them with: judgenet run {project.name} --shard K/N"
        )
    return shard_set_figures(look, project.name)


def shard_set_figures(look: ShardSetLook, project: str) -> ShardSetFigures:
    """How shards are, as they were looked at."""
    no_rate = "known after a second look: judgenet status --watch" if look.goes_on else "no shard runs"
    known = look.goes_on and look.calls_per_second is not None
    pairs_rate = look.pairs_per_second if look.goes_on else None
    total_reason = None if look.pairs is not None else "the total is known when all shards have begun"
    report = look.set_report
    return ShardSetFigures(
        project=project,
        state=look.state,
        message=report.message if report is not None else "",
        engine=report.engine if report is not None else "",
        want=look.command.want,
        shards=ShardCounts(look.of, **{state: look.count(state) for state in STATE_WORDS}),
        pairs=ShardPairs(look.pairs_done, look.pairs, total_reason),
        rates=ShardRates(
            pairs_rate,
            look.calls_per_second if known else None,
            None if known and pairs_rate is not None else no_rate,
        ),
        calls=look.calls,
        unscored=look.unscored,
        price=look.price,
        unpriced=look.unpriced,
        missing=tuple(index for index in range(1, look.of + 1) if index not in look.reports),
        troubles=tuple(shard_trouble(look, index) for state in TROUBLED for index in look.in_state(state)),
        endpoints=tuple(
            ShardEndpoint(
                endpoint.name, endpoint.model, endpoint.window, endpoint.in_flight, endpoint.state, endpoint.message
            )
            for endpoint in (report.endpoints if report is not None else ())
        ),
        agreement=shard_agreement(look),
    )


def shard_trouble(look: ShardSetLook, shard: int) -> ShardTrouble:
    """What is known of a shard that failed or fell silent."""
    report: ShardReport = look.reports[shard]
    silent = look.at - report.updated if report.updated else None
    why = None if silent is not None else "it left no time"
    return ShardTrouble(shard, report.attempt, report.worker, report.error, silent, why)


def shard_agreement(look: ShardSetLook) -> ShardAgreement | None:
    """Agreement with the labels over the shards that have ended; ``None`` where none of their pairs is labelled."""
    counted = look.agreement
    labelled = sum(counted.counts.values())
    if not labelled:
        return None
    agreement = agreement_of(counted.counts)
    hits = sum(agreement.confusion[place][place] for place in range(len(VERDICTS)))
    reasons = list(dict.fromkeys(agreement.reasons.values()))
    shared = counted.questions < labelled
    if shared:
        reasons.append("pairs share questions: judgenet metrics gives the interval over questions")
    return ShardAgreement(
        aggregation=counted.rule,
        accuracy=agreement.accuracy,
        ci=None if shared else wilson(hits, agreement.n_used),
        kappa=agreement.kappa,
        n=agreement.n_used,
        n_labelled=labelled,
        shards=look.agreement_shards,
        reason="; ".join(reasons) or None,
    )


def trouble_groups(troubles: Sequence[ShardTrouble]) -> dict[str, tuple[ShardTrouble, ...]]:
    """Shards in trouble by what is wrong with them, the commonest first: a refused key is one fault, not hundreds."""
    groups: dict[str, list[ShardTrouble]] = {}
    for trouble in troubles:
        words = trouble.error or f"No news for more than {STALE_S:.0f} s: the machine may be gone."
        groups.setdefault(words, []).append(trouble)
    return {words: tuple(group) for words, group in sorted(groups.items(), key=lambda item: -len(item[1]))}


def trouble_words(words: str, troubles: Sequence[ShardTrouble]) -> str:
    """A fault and the shards that have it: ``3 shards failed: 17 (node-7, attempt 3), 18, 30. The key was refused.``"""
    shards = []
    for trouble in troubles[:_NAMED]:
        about = [trouble.worker] if trouble.worker else []
        about += [f"attempt {trouble.attempt}"] if trouble.attempt > 1 else []
        shards.append(f"{trouble.shard} ({', '.join(about)})" if about else f"{trouble.shard}")
    more = "" if len(troubles) <= _NAMED else " …"
    state = "failed" if troubles[0].error else "silent"
    return f"{plural(len(troubles), 'shard')} {state}: {', '.join(shards)}{more}. {words}"


def missing_words(missing: Sequence[int]) -> str:
    """The shards that have not begun, the first of them by number: ``4, 5, 9``."""
    return ", ".join(f"{shard:,}" for shard in missing[:_NAMED]) + (" …" if len(missing) > _NAMED else "")


def state_counts_words(shards: ShardCounts) -> str:
    """The shards by state: ``3 of 300 shards done, 2 running, 295 waiting``."""
    counts = {state: getattr(shards, state) for state in STATE_WORDS if state != "done"}
    others = [f"{count:,} {STATE_WORDS[state]}" for state, count in counts.items() if count]
    return ", ".join([f"{shards.done:,} of {plural(shards.total, 'shard')} done", *others])
