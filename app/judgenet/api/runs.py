"""Recorded runs for Python: their pairs and calls as data frames, and their figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from judgenet.api.networks import Network
from judgenet.core.aggregate import deciding
from judgenet.core.labels import Chosen
from judgenet.store.copies import named_endpoints, project_beside
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.locate import find_run
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, run_info
from judgenet.store.taught import fair_frame

if TYPE_CHECKING:
    import pandas as pd

    from judgenet.core.network import Confidence
    from judgenet.figures.alt_test import RunAltTest
    from judgenet.figures.bias import RecordedBias
    from judgenet.figures.cascade import RunCascade
    from judgenet.figures.comparison import RunComparison
    from judgenet.figures.gate import GateFigures
    from judgenet.figures.guarantee import RunGuarantee
    from judgenet.figures.metrics import Grouping, RunMetrics
    from judgenet.figures.panel import RunPanel
    from judgenet.figures.rates import RunRates
    from judgenet.figures.reliability import RunReliability
    from judgenet.stats.reliability import Binning
    from judgenet.stats.whatif import VoteRule


class Run:
    """A run as it is recorded in its store. Its methods make no call to a model.

    Data is read once. For a run that is still going on, :meth:`reload` returns the run as it stands now.
    """

    def __init__(self, store_path: Path, run_id: str) -> None:
        self.store_path = store_path
        self.id = run_id

    @contextmanager
    def _open(self) -> Iterator[tuple[Store, RunInfo]]:
        with Store.open(self.store_path, readonly=True) as store:
            yield store, run_info(store, self.id)

    def reload(self) -> Run:
        """The run as it stands now."""
        return Run(self.store_path, self.id)

    @cached_property
    def info(self) -> RunInfo:
        """The run's state and times, and what its record holds (network, settings, versions)."""
        with self._open() as (_, run):
            return run

    @property
    def state(self) -> str:
        """``done``, ``running``, ``enough``, ``budget``, ``cancelled``, ``halted`` or ``failed``."""
        return self.info.state

    @property
    def network(self) -> Network:
        """The network as it was run, with the endpoints and prompts that it names."""
        beside = project_beside(self.store_path)
        prompts = () if beside is None else tuple(beside.prompts.items())
        return Network(network_of(self.info), named_endpoints(self.info, beside), prompts)

    @cached_property
    def frame(self) -> RunFrame:
        """The run as arrays, for figures of your own (:class:`judgenet.store.frame.RunFrame`)."""
        with self._open() as (store, run):
            return RunFrame.read(store, run)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """One row per pair, with its label, its verdicts and its texts (:func:`judgenet.store.tables.pair_table`)."""
        from judgenet.store.tables import pair_table

        with self._open() as (store, _):
            return pair_table(self.frame, store)

    @cached_property
    def calls(self) -> pd.DataFrame:
        """One row per call, with scores, evidence, tokens and price in US dollars
        (:func:`judgenet.store.tables.call_table`)."""
        from judgenet.store.tables import call_table

        with self._open() as (store, run):
            return call_table(store, run, texts=True)

    def agreement(self, by: Grouping | None = None, *, anytime: bool = False, seed: int = 0) -> RunMetrics:
        """Accuracy, macro-F1 and Cohen's kappa of every aggregation and neuron against the human labels, with 95 %
        intervals, and what ``judgenet metrics`` counts beside them.

        ``by`` is ``"task"`` or ``"human"``, for each group too. ``anytime`` adds win rate, accuracy and corrected rate
        of every aggregation with intervals that are valid however often one looks.
        """
        from judgenet.figures.metrics import run_metrics

        with self._open() as (store, run):
            return run_metrics(store, fair_frame(store, run), by, anytime=anytime, seed=seed)

    def rate(
        self,
        labels: Chosen | None = None,
        *,
        aggregation: str | None = None,
        use: str = "all",
        anytime: bool = False,
        seed: int = 0,
    ) -> RunRates:
        """How often response B is better, corrected for the network's errors by the human labels.

        Args:
            labels: how the labelled pairs were chosen (``"random"``, ``"within-verdict"``, ``"imported"``,
                ``"targeted"``); ``None``: as recorded with each label.
            aggregation: whose verdicts; ``None``: those that decide.
            use: which labels: ``"all"`` or ``"every:5"``.
            anytime: also with intervals that are valid however often one looks.
        """
        from judgenet.cli.rate import aggregation_of, labels_used
        from judgenet.figures.rates import run_rates

        with self._open() as (store, run):
            frame = fair_frame(store, run)
            name, used = aggregation_of(run, aggregation), labels_used(frame, use)
            return run_rates(frame, name, labels, used=used, anytime=anytime, seed=seed)

    def compare(self, other: Run, labels: Chosen | None = None, *, seed: int = 0) -> RunComparison:
        """The differences of two runs, this one less the other, on the pairs that both judged.

        :raises judgenet.figures.errors.FiguresError: they have no pair in common.
        """
        from judgenet.figures.comparison import run_comparison

        with self._open() as first, other._open() as second:
            mine, theirs = fair_frame(*first), fair_frame(*second)
            names = (deciding(mine.spec), deciding(theirs.spec))
            return run_comparison((first[0], mine), (second[0], theirs), names, labels, seed=seed)

    def check(self, requirements: Sequence[str], against: Run | None = None, *, seed: int = 0) -> GateFigures:
        """Whether the run meets requirements on its figures, such as ``"c2_all.kappa.low >= .6"``; ``passed`` says
        whether it meets all. Keys are those of ``--json``, as ``judgenet check`` has them; ``against`` is the run for
        those of ``compare``.

        :raises judgenet.core.documents.DocumentError: one is no requirement.
        :raises judgenet.figures.errors.FiguresError: there is no figure of such a name.
        """
        from judgenet.core.requirements import parse_requirement
        from judgenet.figures.gate import run_gate

        asked = [parse_requirement(text) for text in requirements]
        with ExitStack() as opened:
            store, run = opened.enter_context(self._open())
            comparison = None
            if against is not None:
                beside = opened.enter_context(against._open())
                comparison = (beside[0], fair_frame(*beside))
            return run_gate(store, fair_frame(store, run), asked, comparison, seed=seed)

    def guarantee(
        self,
        alpha: float = 0.1,
        delta: float = 0.05,
        *,
        confidence: Confidence = "calls",
        labels: Chosen | None = None,
        aggregation: str | None = None,
        seed: int = 0,
        save: str | Path | None = None,
    ) -> RunGuarantee:
        """Which verdicts can be accepted so that at most ``alpha`` of them are wrong, with probability 1 - ``delta``
        over the choice of the labelled pairs (Learn then Test, arXiv 2110.01052).

        Args:
            confidence: what tells how sure a verdict is: ``"calls"``, the share of a pair's valid calls that say it;
                ``"orders"``, the same where both orders must say it first; ``"neurons"``, the share of the neurons;
                ``"samples"``, how alike a neuron's samples are; ``"margin"``, the distance of the scores;
                ``"learned"``, the probability that it is right, learned from the labels and cross-fitted.
            labels: how the labelled pairs were chosen; a promise takes ``"random"`` ones.
            aggregation: whose verdicts; ``None``: those that decide.
            save: a project whose new runs the rule is to decide; it is made with the run's network where it is not
                there yet.

        :raises ValueError: ``alpha`` or ``delta`` is not between 0 and 1, or nothing can be promised that could be
            saved.
        :raises judgenet.core.project.ProjectError: the project cannot be written, or its network is another.
        """
        from judgenet.cli.rate import aggregation_of
        from judgenet.engine.project_rules import save_acceptance
        from judgenet.figures.guarantee import acceptance_rule, confident_verdicts, guarantee_of

        with self._open() as (store, run):
            name, frame = aggregation_of(run, aggregation), fair_frame(store, run)
            verdicts = confident_verdicts(frame, name, confidence, labels, seed)
            figures = guarantee_of(frame, verdicts, alpha, delta, seed)
            if save is not None:
                date = datetime.now(UTC).date().isoformat()
                save_acceptance(store, run, acceptance_rule(frame, figures, verdicts, date), Path(save))
            return figures

    def panel(self, neurons: Sequence[str] = (), *, most: int = 8, seed: int = 0) -> RunPanel:
        """How many independent votes the neurons are worth, which of them err alike, and which adds most.

        Args:
            neurons: the names of a set to be valued by itself.
            most: the largest panel that is chosen.

        :raises judgenet.figures.errors.FiguresError: a neuron has no such name.
        """
        from judgenet.figures.panel import run_panel

        with self._open() as (store, run):
            return run_panel(fair_frame(store, run), neurons, most=most, seed=seed)

    def cascade(
        self,
        stop_when: str = "orders-agree",
        stages: Sequence[Sequence[str]] = (),
        *,
        aggregation: VoteRule = "c2_all",
    ) -> RunCascade:
        """What the run would have said, and cost, had it asked on only where it matters. No call is made.

        Args:
            stop_when: the rule between the stages, as ``--stop-when`` takes it: ``"orders-agree"``, ``"margin>=2"``,
                ``"decided after=1"``.
            stages: the neurons of each stage by name; without them the layers, or the neurons of the only layer.
            aggregation: the rule of voting over what a pair was asked.

        :raises judgenet.core.network.NetworkError: ``stop_when`` is no rule.
        :raises judgenet.figures.errors.FiguresError: a neuron has no such name.
        """
        from judgenet.core.cascade import read_placed_rule, stop_rule_text
        from judgenet.figures.cascade import run_cascade

        rule, after = read_placed_rule(stop_when)
        with self._open() as (store, run):
            frame = fair_frame(store, run)
            return run_cascade(store, frame, stop_rule_text(rule), stages, after=after, aggregation=aggregation)

    def alt_test(self, epsilon: float = 0.2) -> RunAltTest:
        """Whether the network, its layers and neurons may judge instead of people, by the Alternative Annotator Test
        (arXiv 2501.10970): each annotator is left out in turn and held, as the judge is, against the others.

        Args:
            epsilon: what a judge's lower price is worth, as a share of pairs: 0.2 where annotators are experts, 0.15
                where they are skilled, 0.1 where they are crowd workers.

        :raises ValueError: ``epsilon`` is not from 0 to 1.
        """
        from judgenet.figures.alt_test import run_alt_test

        with self._open() as (store, run):
            return run_alt_test(fair_frame(store, run), epsilon)

    def calibration(self, bins: int = 10, binning: Binning = "uniform", *, seed: int = 0) -> RunReliability:
        """Whether the probabilities that B is better, by the share of calls, the score difference and learned weights
        (both cross-fitted), mean what they say: reliability curve, expected calibration error and Brier score.

        Args:
            bins: how many bins the curve has.
            binning: ``"uniform"``, bins of equal width, or ``"quantile"``, of about equally many pairs.

        :raises ValueError: there are fewer than 2 bins.
        """
        from judgenet.figures.reliability import run_reliability

        with self._open() as (store, run):
            return run_reliability(fair_frame(store, run), bins, binning, seed=seed)

    def bias(self, own: Sequence[str] = ()) -> RecordedBias:
        """Order bias, length bias and, with the systems that are the judge's own, own-system bias of each neuron, layer
        and aggregation, from the recorded calls.

        :raises judgenet.core.bias.base.BiasError: no pair is finished, or none has a response of an ``own`` system.
        """
        from judgenet.core.bias.base import LabSettings
        from judgenet.core.bias.lab import require_own
        from judgenet.figures.bias import recorded_bias
        from judgenet.store.run_bias import run_bias

        with self._open() as (store, run):
            bias = run_bias(store, run, LabSettings(own=tuple(own)))
            require_own(own, bias.systems)
            return recorded_bias(run.id, bias)

    def export(self, what: str, path: str | Path, *, aggregation: str | None = None) -> Path:
        """Writes the run for another program, as ``judgenet export`` does; the ending of the file says the format.

        Args:
            what: ``"calls"``, ``"verdicts"``, ``"roles"``, ``"labels"``, ``"preferences"`` (chosen and rejected),
                ``"systems"``, ``"llm-comparator"``, ``"argilla"``, ``"label-studio"``,
                ``"explorer"`` (one HTML file), or ``"dataset"`` (a folder).
            aggregation: whose verdicts, or ``"human"``; ``None``: those that decide.

        :raises ValueError: there is no such export, format or aggregation.
        :raises judgenet.store.files.FileError: the file cannot be written.
        """
        from judgenet.report.run_files import export_run

        with self._open() as (store, run):
            export_run(store, run, what, Path(path), aggregation)
        return Path(path)

    def report(
        self, path: str | Path | Sequence[str | Path], *, aggregation: str | None = None, seed: int = 0
    ) -> list[Path]:
        """Writes the run's report; the ending of each file says the form (``.html``, ``.pdf``, ``.md``, ``.tex``,
        ``.csv``, ``.json``). Returns the paths."""
        from judgenet.cli.report import report as write_report

        targets = [Path(path)] if isinstance(path, str | Path) else [Path(target) for target in path]
        write_report(f"{self.store_path}", targets, aggregation=aggregation, seed=seed)
        return targets

    def __repr__(self) -> str:
        return f"<Run {self.id} in {self.store_path}: {self.state}>"

    def _repr_html_(self) -> str:
        return self.agreement()._repr_html_()


def open_run(place: str | Path, run: str | None = None) -> Run:
    """Opens a recorded run: ``place`` is a folder, a project or a store (its newest run), or names a run in one
    (``"study/run-2"``); ``run`` is a run's id in it.

    :raises judgenet.store.db.StoreError: there is no such run; the message lists those that there are.
    """
    path, run_id = find_run(str(place))
    with Store.open(path, readonly=True) as store:
        return Run(path, run_info(store, run or run_id).id)
