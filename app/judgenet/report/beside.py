"""A run beside another one: whose verdicts people share more often, and by how much the implied win rates differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from judgenet.core.aggregate import aggregation_names, deciding
from judgenet.core.labels import Chosen
from judgenet.core.project import PROJECT_SUFFIX
from judgenet.report.comparing import Both, compare_pairs
from judgenet.report.judges import judges_warning, what_differs
from judgenet.report.model import Report
from judgenet.report.verdict_index import VerdictIndex
from judgenet.stats.comparison import Comparison, Difference
from judgenet.store.db import Store
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.results import common_pairs, network_of, pair_calls, verdicts_of, within_name
from judgenet.store.runs import RunInfo, run_pairs
from judgenet.store.taught import taught

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Beside:
    """This run (the first) less another (the second), on the ``common`` pairs: with the same id and the same texts.

    ``first`` and ``second`` name the runs, ``decides`` are their aggregations. ``pairs`` are those of each. On
    ``labels_differ`` pairs the labels of the two runs differ; they count as unlabelled. ``questions`` is the number of
    questions of the pairs that both judged. ``judges_differ`` says what makes them different judges, as the first and
    the second have it, and ``warning`` what follows.
    """

    first: str
    second: str
    decides: tuple[str, str]
    pairs: tuple[int, int]
    common: int
    labels_differ: int
    questions: int
    found: Comparison
    rate: Difference
    judges_differ: Mapping[str, tuple[str, str]]
    warning: str


def compare_runs(
    store: Store,
    run: RunInfo,
    report: Report,
    index: VerdictIndex,
    other_store: Store,
    other_run: RunInfo,
    *,
    chosen: Chosen | None = None,
    read: VerdictIndex | None = None,
    on_progress: Progress | None = None,
) -> Report:
    """The report with :class:`Beside`. ``index`` heard of the run's pairs while the report was built; of the other run
    the same aggregation is taken, where it has it. ``chosen`` says how the labelled pairs were chosen;
    ``read`` are the other run's verdicts where they are read already.

    :raises ValueError: the two have no pair in common.
    """
    other = _indexed(other_store, other_run, on_progress) if read is None else read
    same_store = store.path == other_store.path
    # Places in the other run, and in this one.
    places = common_pairs(store, other_run, run) if same_store else _common(other_store, other_run, store, run)
    if not places:
        raise ValueError(
            f"{run.id} and {other_run.id}: no pair is in both (the same id and the same texts). "
            "Compare runs of the same pairs."
        )
    wanted = report.decides
    names = (wanted, wanted if wanted in aggregation_names(other.spec) else deciding(other.spec))
    both, clashes = [], 0
    for theirs, mine in places:
        human, other_human = index.human(mine), other.human(theirs)
        clash = human is not None and other_human is not None and human != other_human
        clashes += clash
        said, other_said = index.verdict(names[0], mine), other.verdict(names[1], theirs)
        if said is not None and other_said is not None:
            people = index.people(mine)
            label = None if clash else human or other_human
            source = people if people.chosen else other.people(theirs)
            both.append(Both(index.question(mine), label, source, True, said, other_said))
    called = (run.id, other_run.id if same_store else f"{_place(other_store.path)}, {other_run.id}")
    compared = compare_pairs(both, within_name(run, names[0]), chosen, report.bootstrap_seed, called)
    differing = what_differs((store, run), (other_store, other_run))
    return replace(
        report,
        beside=Beside(
            first=called[0],
            second=called[1],
            decides=names,
            pairs=(len(index), len(other)),
            common=len(places),
            labels_differ=clashes,
            questions=compared.questions,
            found=compared.figures,
            rate=compared.rate,
            judges_differ=differing,
            warning=judges_warning(differing),
        ),
    )


def _place(store: Path) -> str:
    """What people call a store by: the name of its project, or of the folder of a run without one."""
    name = store.name.removesuffix(".db")
    return store.parent.name if name == RUN_PROJECT else name.removesuffix(PROJECT_SUFFIX)


def _indexed(store: Store, run: RunInfo, on_progress: Progress | None) -> VerdictIndex:
    spec = network_of(run)
    index = VerdictIndex(spec, run.id)
    (total,) = store.reader.execute("SELECT count(*) FROM run_pairs WHERE run=?", (run.number,)).fetchone()
    known = taught(store, run)
    for pair, rows in pair_calls(store, run):
        if on_progress is not None and len(index) % 250 == 0:
            on_progress(len(index), total)
        index.add(pair, rows, known.fair(pair.index, verdicts_of(pair, rows, spec.depth, spec.aggregation)))
    return index


def _common(store: Store, run: RunInfo, other_store: Store, other_run: RunInfo) -> list[tuple[int, int]]:
    """The places of the pairs that runs in two stores both have."""
    mine = {of.pair.id: (of.index, bytes.fromhex(of.pair.content_hash)[:16]) for of in run_pairs(store, run)}
    found = []
    for of in run_pairs(other_store, other_run):
        place, content = mine.get(of.pair.id, (-1, b""))
        if content == bytes.fromhex(of.pair.content_hash)[:16]:
            found.append((place, of.index))
    return found
