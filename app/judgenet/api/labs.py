"""Bias labs for Python: probes are asked of a network, and counted as ``judgenet bias`` counts them."""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from judgenet.api.judging import JudgingRequest, JudgingSession, PairsLike, follow_run, live_progress
from judgenet.api.networks import Network
from judgenet.api.pairs import as_pairs
from judgenet.api.runs import Run
from judgenet.core.bias import parse_probes
from judgenet.core.bias.base import MARGIN, BiasError, Denominator, LabSettings
from judgenet.core.bias.lab import build_lab, require_own
from judgenet.core.events import Event, RunStatus
from judgenet.core.network import NetworkSpec
from judgenet.core.pairs import systems_of
from judgenet.core.prompts import PromptBook
from judgenet.core.until import StopWish
from judgenet.engine.budget import Limits
from judgenet.formats.people_sheet import read_sheet
from judgenet.store.copies import project_beside
from judgenet.store.db import Store
from judgenet.store.locate import find_run
from judgenet.store.runs import run_info

if TYPE_CHECKING:
    import pandas as pd

    from judgenet.core.bias.for_people import PeoplePrompt
    from judgenet.figures.bias import BiasFigures
    from judgenet.store.labs import LabInfo, LabJudge


@dataclass(frozen=True)
class EnteredAnswers:
    """What was entered from a sheet: ``n`` answers, of which ``new`` were not known before; ``empty`` rows have no
    answer."""

    n: int
    new: int
    empty: int


class BiasLab:
    """A bias lab as it is recorded in its store. Nothing here makes a call to a model.

    Data is read once. :meth:`reload` returns the lab as it stands now.
    """

    def __init__(self, store_path: Path, lab_id: str, *, neurons: bool = False, ended: RunStatus | None = None) -> None:
        self.store_path = store_path
        self.id = lab_id
        self.neurons = neurons
        self._ended = ended

    def reload(self) -> BiasLab:
        """The lab as it stands now."""
        return BiasLab(self.store_path, self.id, neurons=self.neurons)

    @cached_property
    def info(self) -> LabInfo:
        """What is counted (settings, probes, pairs), when the lab was made, and the ids of its runs by judge."""
        from judgenet.store.labs import lab_info

        with Store.open(self.store_path, readonly=True) as store:
            return lab_info(store, self.id)

    @property
    def runs(self) -> dict[LabJudge, Run]:
        """The run of each judge that was asked: ``"single"``, ``"faireval"``, ``"network"``. Their pairs are the lab's
        prompts."""
        return {judge: Run(self.store_path, run) for judge, run in self.info.runs.items()}

    @property
    def state(self) -> str:
        """How the call of :func:`bias` that returned it ended (:attr:`Run.state`). Of an opened lab: ``done`` where the
        runs of all judges that were begun are, else the state of the first that is not; ``open`` where none was."""
        if self._ended is not None:
            return self._ended
        with Store.open(self.store_path, readonly=True) as store:
            states = [run_info(store, run).state for run in self.info.runs.values()]
        return next((state for state in states if state != "done"), "done" if states else "open")

    @cached_property
    def figures(self) -> BiasFigures:
        """The figures of every probe and judge, as ``judgenet bias --json`` has them. ``to_frame()`` has a row a probe
        and judge: shares and net effects are shares of pairs, from 0 to 1 and from -1 to 1, with 95 % intervals."""
        from judgenet.figures.bias import bias_figures
        from judgenet.store.labs import lab_result

        with Store.open(self.store_path, readonly=True) as store:
            return bias_figures(lab_result(store, self.id, neurons=self.neurons))

    @cached_property
    def answers(self) -> pd.DataFrame:
        """One row per probe, judge (each neuron too) and pair that was asked: its prompts, the answers to them
        (``first``, ``second``, ``tie``, or none where it is unreadable), their outcome, and whether the pair counts
        and is biased. As ``judgenet export --what bias`` writes it."""
        import pandas as pd

        from judgenet.report.run_records import bias_records

        with Store.open(self.store_path, readonly=True) as store:
            return pd.DataFrame(bias_records(store, self.id))

    def for_people(self, path: str | Path) -> Path:
        """Writes the prompts as people see them, shuffled and without a hint of the probe, as CSV (``.csv``) or JSON
        Lines. They write ``1``, ``2``, ``tie`` or ``unsure`` into the column ``answer``.

        :raises judgenet.core.bias.base.BiasError: no judge was asked yet.
        :raises judgenet.store.files.FileError: the file cannot be written.
        """
        from judgenet.store.lab_people import write_sheet

        with Store.open(self.store_path, readonly=True) as store:
            prompts = self._prompts(store)
        write_sheet(prompts, Path(path))
        return Path(path)

    def people(self, path: str | Path, annotator: str | None = None) -> EnteredAnswers:
        """Enters what people answered on a sheet of :meth:`for_people`; ``figures.people`` then has the result.
        A later answer of the same person to the same prompt replaces the earlier one.

        Args:
            annotator: who answered, where the column ``person`` does not say.

        :raises judgenet.formats.DataError: the sheet cannot be read, or a row is no answer to a prompt of this lab.
            Nothing is taken of it then.
        :raises judgenet.core.bias.base.BiasError: no judge was asked yet.
        :raises judgenet.store.db.StoreError: the store cannot be written.
        """
        from judgenet.store.lab_people import keep_sheet

        with Store.open(self.store_path) as store:
            sheet = read_sheet(Path(path), {prompt.key: prompt for prompt in self._prompts(store)}, annotator)
            new = keep_sheet(store, sheet)
        with suppress(AttributeError):
            del self.figures
        return EnteredAnswers(len(sheet.answers), new, sheet.empty)

    def _prompts(self, store: Store) -> tuple[PeoplePrompt, ...]:
        from judgenet.store.lab_people import lab_prompts_for_people

        beside = project_beside(self.store_path)
        book = PromptBook.default().edited({} if beside is None else beside.prompts)
        prompts = lab_prompts_for_people(store, self.info, book)
        if not prompts:
            raise BiasError(f"{self.store_path}: no judge of this lab was asked yet. Ask with judgenet.bias(...).")
        return prompts

    def __repr__(self) -> str:
        return f"<BiasLab {self.info.number} in {self.store_path}: {self.state}>"

    def _repr_html_(self) -> str:
        return self.figures._repr_html_()


def bias(
    pairs: PairsLike | pd.DataFrame,
    network: Network | NetworkSpec,
    *,
    out: str | Path,
    probes: str | Sequence[str] = "all",
    judges: Sequence[str] = ("network", "single"),
    own: Sequence[str] = (),
    instructions: int | None = None,
    share: int = 85,
    tie: bool = True,
    denominator: Denominator = "valid",
    margin: float = MARGIN,
    repeats: int = 3,
    budget: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    limit: int | None = None,
    progress: bool = True,
    on_event: Callable[[Event], object] | None = None,
) -> BiasLab:
    """Measures the biases of a network, of its parts and of the single judge on the same model, by asking probes; waits
    until that is done, and returns the lab.

    The same call made again goes on where the lab stopped and pays for no call twice; it also goes on with a lab of
    ``judgenet bias --out``. Ctrl+C ends it within a second and keeps what is finished. It works inside a running event
    loop. Networks with stop rules are asked every call.

    Args:
        pairs, network, out: as :func:`judge` takes them.
        probes: ``"all"``, ``"cobbler"`` (the six of arXiv 2309.17012), or names of probes.
        judges: ``"network"`` (with its layers and aggregations), ``"single"``, ``"faireval"`` (three samples of the
            single judge, arXiv 2305.17926), ``"neurons"`` (each of the network's).
        own: the systems in the pairs that are the judge's own model, exactly as the pairs name them.
        instructions: use the pairs of only so many instructions, drawn by the network's seed.
        share: per cent of people in the invented majority, 1 to 100.
        tie: whether the judges may call a tie.
        denominator: ``"valid"``: share of the pairs with valid answers; ``"paper"``: as CoBBLEr's released code
            divides.
        margin: the net effect, as a share of pairs, that must be ruled out before a judge is said to have no bias.
        repeats: how often the probe ``repeats`` asks the very same; 2 or more.
        budget, max_calls, max_tokens: as in :func:`judge`, for all judges together.
        limit: use only this many pairs, the first ones.
        progress, on_event: as in :func:`judge`; the runs of the judges follow one another.

    Raises:
        judgenet.core.bias.base.BiasError: no such probe or judge, a setting outside its range, a system in ``own`` that
            no pair names, or no pair that a probe allows. Nothing is written or asked then.
        judgenet.core.network.NetworkError, judgenet.store.settings.SettingsError,
        judgenet.engine.endpoints.NotApproved, judgenet.formats.DataError: as :func:`judge` raises them.
    """
    from judgenet.engine.bias import chosen_judges, start_lab

    asked, neurons = chosen_judges(judges)
    chosen = as_pairs(pairs)[:limit]
    spec = network.spec if isinstance(network, Network) else network
    settings = LabSettings(
        own=tuple(own),
        share=share,
        tie=tie,
        denominator=denominator,
        repeats=repeats,
        instructions=instructions,
        seed=spec.seed,
        margin=margin,
    )
    require_own(settings.own, systems_of(chosen))
    built = build_lab(chosen, parse_probes(probes if isinstance(probes, str) else ",".join(probes)), settings)
    limits = Limits(max_calls, max_tokens, budget)
    request = JudgingRequest(chosen, network, Path(out), limits, None, StopWish("", False))
    with JudgingSession(request) as session:
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        handle = start_lab(session.engine, session.store, session.start_value, built, asked, events.put)
        running = True
        while running:
            with live_progress(built.prompts, progress) as reporter:
                running = follow_run(handle, events, reporter, on_event)
        ended = handle.future.result().state
        session.store.require_kept()
        return BiasLab(session.store.path, handle.lab, neurons=neurons, ended=ended)


def open_lab(place: str | Path, lab: str | None = None, *, neurons: bool = False) -> BiasLab:
    """Opens a recorded bias lab: ``place`` is a folder, a project or a store (its newest lab), or names a lab in one
    (``"study/lab-2"``); ``lab`` is a lab's id or title (``"lab-2"``) in it. ``neurons``: with figures of each neuron.

    :raises judgenet.store.db.StoreError: there is no such lab; the message lists those that there are.
    """
    from judgenet.store.labs import lab_info

    path, name = find_run(str(place))
    with Store.open(path, readonly=True) as store:
        return BiasLab(path, lab_info(store, lab or name).id, neurons=neurons)
