"""The comparison of two runs: whose verdicts agree more with people, and how much their win rates differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from judgenet.core.aggregate import deciding
from judgenet.core.labels import Chosen
from judgenet.core.project import PROJECT_SUFFIX
from judgenet.figures.comparison import two_runs
from judgenet.figures.judges import judges_warning
from judgenet.report.model import Report
from judgenet.stats.comparison import Comparison, Difference
from judgenet.stats.power import ComparisonPlan, plan_comparison
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.runs import RunInfo
from judgenet.store.taught import fair_frame


@dataclass(frozen=True, slots=True)
class ReportedComparison:
    """This run (the first) less another (the second), on the ``common`` pairs: with the same id and the same texts.

    ``first`` and ``second`` name the runs, ``decides`` are their aggregations. ``pairs`` are those of each. On
    ``labels_differ`` pairs the labels of the two runs differ; they count as unlabelled. ``questions`` is the number of
    questions of the pairs that both judged. ``judges_differ`` holds the settings in which the judges differ, with
    the values of the first and the second, and ``warning`` what follows. ``power`` is the number of labelled pairs that
    show a difference of 3 points.
    """

    first: str
    second: str
    decides: tuple[str, str]
    pairs: tuple[int, int]
    common: int
    labels_differ: int
    questions: int
    comparison: Comparison
    rate: Difference
    judges_differ: Mapping[str, tuple[str, str]]
    warning: str
    power: ComparisonPlan


def compare_runs(
    store: Store,
    run: RunInfo,
    report: Report,
    frame: RunFrame,
    other_store: Store,
    other_run: RunInfo,
    *,
    chosen: Chosen | None = None,
    read: RunFrame | None = None,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
) -> Report:
    """The report with :class:`ReportedComparison`. ``frame`` is the run that it is about; of the other run
    the same aggregation is taken, where it has it. ``chosen`` says how the labelled pairs were chosen;
    ``read`` is the frame of the other run, where it is read already.

    :raises ValueError: the two have no pair in common.
    """
    other = fair_frame(other_store, other_run, on_progress=on_progress) if read is None else read
    same_store = store.path == other_store.path
    wanted = report.decides
    names = (wanted, wanted if wanted in other.aggregations else deciding(other.spec))
    called = (run.id, other_run.id if same_store else f"{_place(other_store.path)}, {other_run.id}")
    two = two_runs((store, frame), (other_store, other), names, chosen, seed=report.bootstrap_seed, names=called)
    if not two.common:
        raise ValueError(
            f"{run.id} and {other_run.id}: no pair is in both (the same id and the same texts). "
            "Compare runs of the same pairs."
        )
    return replace(
        report,
        beside=ReportedComparison(
            first=called[0],
            second=called[1],
            decides=names,
            pairs=(len(frame), len(other)),
            common=len(two.common),
            labels_differ=two.labels_differ,
            questions=two.compared.questions,
            comparison=two.compared.figures,
            rate=two.compared.rate,
            judges_differ=two.differing,
            warning=judges_warning(two.differing),
            power=plan_comparison(two.compared.discordance, n=two.compared.figures.test.n),
        ),
    )


def _place(store: Path) -> str:
    """The name of a store for people: that of its project, or of the folder of a run without one."""
    name = store.name.removesuffix(".db")
    return store.parent.name if name == RUN_PROJECT else name.removesuffix(PROJECT_SUFFIX)
