"""Whether a run meets requirements on its figures: a gate before a release."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, Final, Literal, NamedTuple

from judgenet.core.aggregate import deciding
from judgenet.core.requirements import Bound, Requirement
from judgenet.figures.base import Figures
from judgenet.figures.errors import FiguresError
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame

GateOutcome = Literal["met", "not met", "undefined"]

_ALIASES: Final = {"rate.corrected": "rate.stratified"}
"""Names that people say, by the keys that they stand for."""

_VALUES: Final = ("value", "difference")
"""The figure that is meant where a key names an object."""


@dataclass(frozen=True)
class RequirementFigures:
    """A requirement, the figure that it names, and whether it is met."""

    requirement: Annotated[str, "as it was written"]
    key: Annotated[str, "the key of the figure, from the name of the command on"]
    outcome: Annotated[GateOutcome, "`met`, `not met`, or `undefined` where the run cannot give the figure"]
    figure: Annotated[float | str | None, "what the run has there"]
    bound: Annotated[float | str, "what it is compared with"]
    notes: Annotated[tuple[str, ...], "what weakens it: a requirement on a value that leaves out its interval"]
    reason: Annotated[str | None, "why the figure is undefined"]


@dataclass(frozen=True)
class GatePairs:
    """The pairs of the run."""

    total: int
    finished: Annotated[int, "pairs whose calls are in"]
    labelled: Annotated[int, "pairs with a human label"]


@dataclass(frozen=True, repr=False)
class GateFigures(Figures):
    """Whether a run meets requirements on its figures."""

    _rows = "requirements"

    run: str
    against: Annotated[str | None, "the run that it is compared with"]
    state: Annotated[str, "of the run: a gate over a run that is not done rests on a part of its pairs"]
    pairs: GatePairs
    passed: Annotated[bool, "all requirements are met; one on an undefined figure is not"]
    met: Annotated[int, "requirements that are met"]
    total: Annotated[int, "requirements"]
    requirements: tuple[RequirementFigures, ...]
    reasons: Annotated[Mapping[str, str], "why `against` is `null`"]
    notes: tuple[str, ...]


def run_gate(
    store: Store,
    frame: RunFrame,
    requirements: Sequence[Requirement],
    comparison: tuple[Store, RunFrame] | None = None,
    *,
    seed: int = 0,
) -> GateFigures:
    """Whether a run meets each of some requirements.

    A key begins with the command whose figure it is (``rate.corrected.low``, ``compare.differences.kappa.low``);
    without one it is a key of ``metrics``, and the name of an aggregation or a neuron may begin it
    (``c2_all.kappa.low``). ``comparison`` is the run that ``compare`` compares with. Only figures that are asked for
    are computed. The frames are those of :func:`judgenet.store.taught.fair_frame`.

    :raises FiguresError: there is no figure of this name, or ``compare`` has no other run.
    """
    asked = _commands(store, frame, comparison, seed)
    rows = tuple(_checked(requirement, _figure_at(requirement.key, asked)) for requirement in requirements)
    met = sum(row.outcome == "met" for row in rows)
    pairs = GatePairs(len(frame), int(frame.judged.sum()), int((frame.human > 0).sum()))
    run = frame.run
    notes = []
    if run.state != "done":
        notes.append(
            f"the run is not done ({run.state}): {pairs.finished:,} of {pairs.total:,} pairs are finished, and the "
            "figures rest on these; require state == done to refuse such runs"
        )
    return GateFigures(
        run=run.id,
        against=None if comparison is None else comparison[1].run.id,
        state=run.state,
        pairs=pairs,
        passed=met == len(rows),
        met=met,
        total=len(rows),
        requirements=rows,
        reasons={} if comparison is not None else {"against": "no other run was named"},
        notes=tuple(notes),
    )


_Maker = Callable[[], Mapping[str, Any]]


def _commands(store: Store, frame: RunFrame, comparison: tuple[Store, RunFrame] | None, seed: int) -> dict[str, _Maker]:
    """The figures of each command as its ``--json`` has them; computed once, when they are first asked for."""
    decides = deciding(frame.spec)

    def metrics(judges: bool) -> Mapping[str, Any]:
        from judgenet.figures.metrics import JudgeOptions, run_metrics

        return run_metrics(store, frame, judges=JudgeOptions() if judges else None, seed=seed).to_dict()

    def rate() -> Mapping[str, Any]:
        from judgenet.figures.rates import run_rates

        return run_rates(frame, decides, seed=seed).to_dict()

    def compare() -> Mapping[str, Any]:
        from judgenet.figures.comparison import run_comparison

        if comparison is None:
            raise FiguresError("A requirement on compare needs the run to compare with: name it with --against RUN.")
        names = (decides, deciding(comparison[1].spec))
        return run_comparison((store, frame), comparison, names, seed=seed).to_dict()

    def rank() -> Mapping[str, Any]:
        from judgenet.figures.ranking import run_ranking

        return run_ranking(frame, decides, seed=seed).to_dict()

    def learn() -> Mapping[str, Any]:
        from judgenet.figures.learning import run_learning

        return run_learning(frame, seed=seed).to_dict()

    def bias() -> Mapping[str, Any]:
        from judgenet.core.bias.base import LabSettings
        from judgenet.figures.bias import recorded_bias
        from judgenet.store.run_bias import run_bias

        return recorded_bias(frame.run.id, run_bias(store, frame.run, LabSettings())).to_dict()

    makers: dict[str, _Maker] = {
        "metrics": partial(metrics, False),
        _JUDGES: partial(metrics, True),
        "rate": rate,
        "compare": compare,
        "rank": rank,
        "learn": learn,
        "bias": bias,
    }
    return {name: cache(maker) for name, maker in makers.items()}


_JUDGES: Final = "metrics of judges"
_OF_JUDGES: Final = ("uncertainty", "panel", "discussion", "diversity", "effective_votes")
"""Keys of ``metrics`` that take longer: computed only where one of them is named."""


class _Figure(NamedTuple):
    """What stands at a key: a figure or ``None``, its interval where it has one and is not an end of it itself, and
    why it is undefined."""

    key: str
    value: Bound | None
    interval: Sequence[float] | None
    reason: str


def _figure_at(key: str, asked: Mapping[str, _Maker]) -> _Figure:
    """The figure of a key.

    :raises FiguresError: there is none.
    """
    wanted = next((key.replace(said, meant, 1) for said, meant in _ALIASES.items() if key.startswith(said)), key)
    command, _, rest = wanted.partition(".")
    if command not in asked:
        command, rest = "metrics", wanted
    part = rest.partition(".")[0]
    figures = asked[_JUDGES if command == "metrics" and part in _OF_JUDGES else command]()
    starts = ("", "aggregations.", "neurons.") if command == "metrics" else ("",)
    for start in starts:
        figure = _walk(figures, f"{start}{rest}".split("."), [])
        if figure is not None:
            return figure._replace(key=f"{command}.{start}{rest}")
    raise FiguresError(_unknown(key, command, rest, figures, starts))


def _walk(value: Any, path: Sequence[str], above: list[tuple[Any, str]]) -> _Figure | None:
    """The figure at a path of keys below a value; names that hold a dot are several parts of the path. ``above`` is
    the way so far: each object with the key that was taken."""
    if not path:
        return _at_end(value, above)
    if len(path) == 1 and path[0] in ("low", "high"):
        return _end_of_interval(value, ("low", "high").index(path[0]), above)
    for size in range(len(path), 0, -1):
        name = ".".join(path[:size])
        if isinstance(value, Mapping) and name in value:
            inner = value[name]
        elif isinstance(value, list) and any(
            isinstance(entry, Mapping) and entry.get("name") == name for entry in value
        ):
            inner = next(entry for entry in value if entry["name"] == name)
        else:
            continue
        figure = _walk(inner, path[size:], [*above, (value, name)])
        if figure is not None:
            return figure
    return None


def _at_end(value: Any, above: list[tuple[Any, str]]) -> _Figure | None:
    if isinstance(value, Mapping):
        name = next((value_name for value_name in _VALUES if value_name in value), None)
        return None if name is None else _at_end(value[name], [*above, (value, name)])
    if isinstance(value, bool | list) or not above:
        return None
    if value is not None:
        return _Figure("", value, _interval(above), "")
    return _Figure("", None, None, _reason(above, above[-1][1]))


def _interval(above: list[tuple[Any, str]]) -> Sequence[float] | None:
    owner, name = above[-1]
    if not isinstance(owner, Mapping):
        return None
    interval: Sequence[float] | None = owner.get(f"{name}_ci", owner.get("ci") if name in _VALUES else None)
    return interval


def _end_of_interval(value: Any, end: int, above: list[tuple[Any, str]]) -> _Figure | None:
    """An end of the interval of a figure, or of the one in an object; ``None`` where the figure has none by nature."""
    if isinstance(value, Mapping):
        name = next((value_name for value_name in _VALUES if value_name in value and "ci" in value), None)
        return None if name is None else _end_of_interval(value[name], end, [*above, (value, name)])
    owner, name = above[-1] if above else ({}, "")
    key = next(
        (value_name for value_name in (f"{name}_ci", "ci") if isinstance(owner, Mapping) and value_name in owner), None
    )
    if key is None or (key == "ci" and name not in _VALUES):
        return None
    ends = owner[key]
    if ends is None or ends[end] is None:
        return _Figure("", None, None, _reason(above, key) if ends is None else "the interval has no such end")
    return _Figure("", ends[end], None, "")


def _reason(above: list[tuple[Any, str]], key: str) -> str:
    """Why a figure is undefined: the reason beside it, or on the way to it."""
    for owner, name in reversed(above):
        if isinstance(owner, Mapping):
            reasons = owner.get("reasons") or {}
            reason = reasons.get(key) or reasons.get(name) or owner.get("reason")
            if reason:
                return str(reason)
    return "the run does not have it"


def _unknown(key: str, command: str, rest: str, figures: Mapping[str, Any], starts: Sequence[str]) -> str:
    known = [name for start in starts for name in _keys(figures, start)]
    close = difflib.get_close_matches(rest, known, n=3, cutoff=0.5)
    if close:
        names = ", ".join(close if command == "metrics" else (f"{command}.{name}" for name in close))
        return f"{key}: there is no such figure. Similar keys: {names}."
    return f"{key}: there is no such figure. The keys are those of judgenet {command} --json."


def _keys(value: Any, start: str) -> Iterator[str]:
    """The keys of figures below a start, with the ends of intervals as they are written in a requirement."""
    for part in filter(None, start.split(".")):
        value = value.get(part, {}) if isinstance(value, Mapping) else {}
    yield from _keys_below(value, "")


def _keys_below(value: Any, prefix: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        return
    for name, inner in value.items():
        if name == "ci" and any(key in value for key in _VALUES):
            yield from (f"{prefix}low", f"{prefix}high")
        elif name.endswith("_ci"):
            yield from (f"{prefix}{name.removesuffix('_ci')}.{end}" for end in ("low", "high"))
        elif isinstance(inner, Mapping):
            yield from _keys_below(inner, f"{prefix}{name}.")
        elif not isinstance(inner, list):
            yield f"{prefix}{name}"


def _checked(requirement: Requirement, figure: _Figure) -> RequirementFigures:
    outcome: GateOutcome = "undefined"
    notes: tuple[str, ...] = ()
    if figure.value is not None:
        outcome = "met" if requirement.met_by(figure.value) else "not met"
        notes = _notes(requirement, figure)
    return RequirementFigures(
        requirement=requirement.text,
        key=figure.key,
        outcome=outcome,
        figure=figure.value,
        bound=requirement.bound,
        notes=notes,
        reason=figure.reason or None,
    )


def _notes(requirement: Requirement, figure: _Figure) -> tuple[str, ...]:
    end = requirement.safe_end
    if figure.interval is None or not end:
        return ()
    low, high = figure.interval
    return (
        f"this is a value alone, and its 95 % interval is {low:.4g} to {high:.4g}: "
        f"a requirement on {requirement.key}.{end} takes chance into account",
    )
