"""Actions of runs: start, pause, name, limit and compare them, test the models, experiments, the example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from judgenet.assets import example
from judgenet.core.network import is_recorded
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project, Selection
from judgenet.core.wording import plural
from judgenet.engine.embedded_model import ModelError, fetch_model, find_model
from judgenet.store.db import StoreError
from judgenet.ui import texts
from judgenet.ui.actions import known_action
from judgenet.ui.conditions import ActionConditions
from judgenet.ui.context import Context
from judgenet.ui.dialogs import ask_texts
from judgenet.ui.errors import MessageButton
from judgenet.ui.limits import LimitsDialog
from judgenet.ui.navigation import PageKey
from judgenet.ui.preflight import PreflightDialog
from judgenet.ui.project_actions import ProjectActions
from judgenet.ui.tasks import Job, JobCancelled

if TYPE_CHECKING:
    from judgenet.ui.experiments.dialog import ExperimentsDialog

EXAMPLE_PAIRS: Final = 12
"""The small model takes a few minutes for so many; the others of the file can be chosen on the page Data."""

_WIDTH, _DEPTH = 3, 2
"""The network that recorded judges make room for."""
_FOLLOWING: Final[frozenset[PageKey]] = frozenset({"run", "results", "labels", "bias", "report"})
"""Pages that follow a run that goes on; from the others, a start leads to the page Run."""


class RunActions(QObject):
    """Adds the actions of runs to the table and does them."""

    def __init__(self, context: Context, when: ActionConditions, projects: ProjectActions, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._when = when
        self._projects = projects
        self._window = window
        self._preflight = PreflightDialog(context, window)
        self._experiments: ExperimentsDialog | None = None
        self._limits = LimitsDialog(context, window)
        context.actions.add(
            known_action("run.start", self.start_run, self._can_run),
            known_action("run.anew", self.judge_anew, self._holds_recorded),
            known_action("models.try", self.try_models, when.project),
            known_action("experiments.open", self.show_experiments, when.project),
            known_action("run.limits", self.show_limits, when.still_project),
            known_action("run.name", self.name_run, self._can_name_run),
            known_action("results.compare", self.compare, self._can_compare),
            known_action("run.pause", self.pause, self._runs),
            known_action("run.stop", context.runner.stop, self._can_stop),
            known_action("help.examples", self.run_example, when.no_run),
        )
        context.runner.limits_wanted.connect(self.show_limits)
        context.runner.changed.connect(self._remember_endpoint)

    def _can_run(self) -> bool | str:
        # Pressing Run says what can be done with recorded judgments.
        return self._holds_recorded() is True or self._context.runner.why_not() or True

    def _holds_recorded(self) -> bool | str:
        document = self._context.document
        if not document.is_open or not is_recorded(document.spec):
            return texts.NO_JUDGMENTS_RECORDED_ELSEWHERE
        return document.read_only or self._when.no_run()

    def _runs(self) -> bool | str:
        return self._context.runner.running or texts.NO_RUN_IS_IN_PROGRESS

    def _can_stop(self) -> bool | str:
        return texts.ALREADY_STOPPING if self._context.runner.stopping else self._runs()

    def _can_compare(self) -> bool | str:
        return len(self._context.run_state.runs) > 1 or texts.NO_OTHER_RUN

    def _can_name_run(self) -> bool | str:
        if self._context.document.read_only:
            return self._context.document.read_only
        return self._context.run_state.run is not None or texts.NO_RUN_YET

    def start_run(self) -> None:
        """Starts the project's network and shows it at work; of judgments that were recorded elsewhere says what can be
        done with them."""
        document = self._context.document
        if not document.is_open or not is_recorded(document.spec):
            self._context.runner.start()
            if self._context.runner.running and self._context.navigator.page not in _FOLLOWING:
                self._context.navigator.go("run")
            return
        judges = len(document.spec.layers[0].neurons)
        self._context.errors.post(
            texts.judgments_recorded_elsewhere(plural(judges, "judge")),
            texts.NOTHING_WAS_RUN,
            MessageButton(texts.DESIGN_A_NETWORK, self.judge_anew),
            level="warning",
        )

    def judge_anew(self) -> None:
        """Puts a network that can be asked in the place of recorded judges; their run stays as it is."""
        spec = self._projects.own_model(network(_WIDTH, _DEPTH))
        self._context.document.edit_network(texts.JUDGE_WITH_A_NETWORK, spec)
        self._context.navigator.go("design")

    def _remember_endpoint(self) -> None:
        """New projects begin with the endpoint and the model that were used last."""
        if self._context.runner.running:
            used = self._context.document.spec.settings
            self._context.settings.keep_text("endpoint", used.endpoint or "")
            self._context.settings.keep_text("model", used.model or "")

    def run_example(self) -> None:
        """Begins a project of the examples and runs it on the embedded model."""
        self._context.tasks.start(self._run_example(), texts.RUN_THE_EXAMPLE)

    async def _run_example(self) -> None:
        context = self._context
        if find_model() is None:
            try:
                await context.tasks.job(texts.FETCH_THE_SMALL_MODEL, _fetch)
            except JobCancelled:
                return
            except ModelError as error:
                context.errors.post(str(error), texts.THE_EXAMPLE, MessageButton(texts.TRY_AGAIN, self.run_example))
                return
        source = PairsSource((example("general.jsonl").as_posix(),), selection=Selection("first", EXAMPLE_PAIRS))
        spec = network(3, 2, name=texts.TWO_LAYERS_OF_THREE)
        context.document.new(Project.new(texts.EXAMPLE, spec, source))
        context.navigator.go("run")
        await context.document.loaded()
        context.runner.start()

    def pause(self) -> None:
        """Pauses the run, or goes on with it."""
        runner = self._context.runner
        if runner.paused:
            runner.resume()
        else:
            runner.pause()

    def show_unscored(self) -> None:
        """Lists the pairs of the run in focus that have unscored calls."""
        table = self._context.run_state.table
        if table is not None and table.calls_unscored:
            pairs = tuple(table.pairs_with_unscored().nonzero()[0].tolist())
            self._context.navigator.go("run", pairs=pairs, why=texts.WITH_UNSCORED_CALLS)

    def try_models(self) -> None:
        """Opens the pre-flight of the network's models."""
        self._preflight.show_for()

    def name_run(self) -> None:
        """Asks what the run in focus is called, and what is to be noted of it."""
        self._context.tasks.start(self._ask_and_name_run(), texts.NAME_THE_RUN)

    async def _ask_and_name_run(self) -> None:
        state = self._context.run_state
        run = state.run
        if run is None:
            return
        name_and_note = await ask_texts(
            self._window,
            texts.run(run.number),
            ((texts.NAME_OF_THE_RUN, run.name), (texts.NOTE, run.note)),
        )
        if name_and_note is not None and state.run is not None and state.run.id == run.id:
            try:
                state.name_run(*name_and_note)
            except StoreError as error:
                self._context.errors.post_exception(error, texts.run(run.number))

    def show_limits(self) -> None:
        """Asks what a run must not exceed, and for prices that are unknown."""
        self._limits.show_for()

    def show_experiments(self) -> None:
        """Opens the experiments."""
        # The window opens without what only experiments need.
        from judgenet.ui.experiments.dialog import ExperimentsDialog

        if self._experiments is None:
            self._experiments = ExperimentsDialog(self._context, self._window)
        self._experiments.show_for()

    def compare(self) -> None:
        """Asks which run is to be compared with the one in focus, and shows both on the page Results."""
        self._context.navigator.go("results", part="compare")


def _fetch(job: Job) -> None:
    fetch_model(tell=lambda text: job.report(0, None, text))
