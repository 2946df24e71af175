"""A run beside another one: whose verdicts people share more often, and by how much the implied win rates differ."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from judgenet.core.aggregate import aggregation_names
from judgenet.core.pairs import question_key
from judgenet.core.project import PROJECT_SUFFIX
from judgenet.report.judges import judges_warning, what_differs
from judgenet.report.model import Report
from judgenet.report.verdict_index import VerdictIndex
from judgenet.stats.comparison import Comparison, Difference, compare, rate_difference
from judgenet.stats.curves import CODES
from judgenet.stats.resampling import question_counts
from judgenet.store.db import Store
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.results import common_pairs, network_of, pair_calls, verdicts_of
from judgenet.store.runs import RunInfo, run_pairs

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Compared:
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
    on_progress: Progress | None = None,
) -> Report:
    """The report with :class:`Compared`. ``index`` heard of the run's pairs while the report was built; of the other
    run the same aggregation is taken, where it has it.

    :raises ValueError: the two have no pair in common.
    """
    other = _indexed(other_store, other_run, on_progress)
    places = (
        common_pairs(store, run, other_run)
        if store.path == other_store.path
        else _common(store, run, other_store, other_run)
    )
    if not places:
        raise ValueError(
            f"{run.id} and {other_run.id}: no pair is in both (the same id and the same texts). "
            "Compare runs of the same pairs."
        )
    names = (report.decides, _decides(other, report.decides))
    mine, theirs = np.array(places, dtype=np.intp).reshape(-1, 2).T
    said, other_said = index.codes(names[0])[mine], other.codes(names[1])[theirs]
    human, other_human = index.human_codes[mine], other.human_codes[theirs]
    clash = (human > 0) & (other_human > 0) & (human != other_human)
    label = np.where(clash, 0, np.where(human > 0, human, other_human)).astype(np.uint8)
    both = (said > 0) & (other_said > 0)
    label, said, other_said = label[both], said[both], other_said[both]
    questions = _questions(store, run)[mine][both]
    by_question = question_counts(np.unique(questions, return_inverse=True)[1], label, said, other_said)
    cells = np.bincount(label * np.int64(16) + said * np.int64(4) + other_said, minlength=64)
    counts = {}
    for cell in map(int, np.flatnonzero(cells)):
        one, two = CODES[cell // 4 % 4], CODES[cell % 4]
        assert one is not None
        assert two is not None
        counts[CODES[cell // 16], one, two] = int(cells[cell])
    draws, seed = report.resamples, report.bootstrap_seed
    differing = what_differs((store, run), (other_store, other_run))
    compared = Compared(
        first=run.id,
        second=other_run.id if store.path == other_store.path else f"{_place(other_store.path)}, {other_run.id}",
        decides=names,
        pairs=(len(index), len(other)),
        common=len(places),
        labels_differ=int(clash.sum()),
        questions=len(np.unique(questions)),
        found=compare(counts, by_question=by_question, resamples=draws, seed=seed),
        rate=rate_difference(counts, report.rates.chosen, by_question=by_question, resamples=draws, seed=seed),
        judges_differ=differing,
        warning=judges_warning(differing),
    )
    return replace(report, compared=compared)


def _place(store: Path) -> str:
    """What people call a store by: the name of its project, or of the folder of a run without one."""
    name = store.name.removesuffix(".db")
    return store.parent.name if name == RUN_PROJECT else name.removesuffix(PROJECT_SUFFIX)


def _decides(index: VerdictIndex, wanted: str) -> str:
    names = aggregation_names(index.spec.depth, chair=index.spec.chair is not None)
    return wanted if wanted in names else names[-1]


def _indexed(store: Store, run: RunInfo, on_progress: Progress | None) -> VerdictIndex:
    spec = network_of(run)
    index = VerdictIndex(spec)
    (total,) = store.reader.execute("SELECT count(*) FROM run_pairs WHERE run=?", (run.number,)).fetchone()
    for pair, rows in pair_calls(store, run):
        if on_progress is not None and len(index) % 250 == 0:
            on_progress(len(index), total)
        index.add(pair, rows, verdicts_of(pair, rows, spec.depth, spec.aggregation))
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


def _questions(store: Store, run: RunInfo) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    digests = array("Q", (int.from_bytes(question_key(of.pair.question)[:8]) for of in run_pairs(store, run)))
    return np.asarray(digests, dtype=np.uint64)
