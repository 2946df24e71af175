"""What the user can do whatever page is in view: projects, undo, run, look, pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from judgenet.assets import example
from judgenet.core import design
from judgenet.core.fixes import with_enough_roles
from judgenet.core.network import NetworkError, NetworkSpec, is_recorded
from judgenet.core.presets import PRESETS, network, parse_size, size_name
from judgenet.core.project import PROJECT_SUFFIX, PairsSource, Project, ProjectError, Selection
from judgenet.core.wording import clean, near_day, plural
from judgenet.engine.embedded_model import ModelError, fetch_model, find_model
from judgenet.engine.recorded_project import record_judgments
from judgenet.formats import read_pairs
from judgenet.formats.errors import DataError
from judgenet.formats.judgments import read_judgments
from judgenet.formats.network_files import read_network
from judgenet.report.network_files import write_network
from judgenet.store.db import StoreError
from judgenet.store.recorded import describe
from judgenet.ui import clock
from judgenet.ui.actions import Action, known_action
from judgenet.ui.context import Context
from judgenet.ui.dialogs import ask_files, ask_save_file, ask_text, ask_texts
from judgenet.ui.errors import Mend
from judgenet.ui.experiments.dialog import ExperimentsDialog
from judgenet.ui.help import AboutDialog, KeysDialog
from judgenet.ui.limits import LimitsDialog
from judgenet.ui.navigation import PageKey
from judgenet.ui.palette import Palette
from judgenet.ui.preflight import PreflightDialog
from judgenet.ui.settings import RECENT, Recent
from judgenet.ui.shell import RAIL_PAGES
from judgenet.ui.tasks import Job, JobCancelled
from judgenet.ui.theme import ThemeChoice
from judgenet.ui.tokens import UI_SCALES
from judgenet.ui.tour import Tour

PROJECT_FILES: Final = (f"JudgeNet projects (*{PROJECT_SUFFIX})", "All files (*)")
NETWORK_FILES: Final = ("Networks (*.graphml *.xml *.json)", "All files (*)")
PAIR_FILES: Final = ("Pairs (*.jsonl *.json *.csv *.tsv *.xlsx *.parquet *.txt *.gz *.zip)", "All files (*)")
EXAMPLE_PAIRS: Final = 12
"""The small model takes a few minutes for so many; the others of the file can be chosen on the page Data."""

_WIDTH, _DEPTH = 3, 2
"""The network that recorded judges make room for."""
_FOLLOWING: Final[frozenset[PageKey]] = frozenset({"run", "results", "labels", "bias", "report"})
"""Pages that follow a run that goes on; from the others, a start leads to the page Run."""
_SCALE_STEP: Final = 0.1
_SCALE_WAIT_MS: Final = 150
"""Longer than a key that is held down takes to repeat."""
_THEMES: Final[tuple[tuple[ThemeChoice, str, str], ...]] = (
    ("system", "Match system theme", "theme"),
    ("light", "Light theme", "sun"),
    ("dark", "Dark theme", "moon"),
    ("contrast", "High-contrast theme", "theme"),
)


def size_words(spec: NetworkSpec) -> str:
    """A network's size: "4 × 3" (width × depth), "4, 3" where widths differ, "n × 2" where roles decide."""
    return size_name(spec).replace("×", " × ").replace("+", " + ")


class FrameActions(QObject):
    """Adds the frame's actions to the table and does them."""

    def __init__(
        self,
        context: Context,
        window: QWidget,
        palette: Palette,
        tour: Tour,
        quit_all: Callable[[], None],
        next_region: Callable[[int], None],
        page_in_view: Callable[[], QWidget],
    ) -> None:
        super().__init__(window)
        self._context = context
        self._window = window
        self._palette = palette
        self._tour = tour
        self._quit = quit_all
        self._next_region = next_region
        self._page_in_view = page_in_view
        self._next_scale: float | None = None
        self._scale_soon = QTimer(self)
        self._scale_soon.setSingleShot(True)
        self._scale_soon.setInterval(_SCALE_WAIT_MS)
        self._scale_soon.timeout.connect(self._take_scale)
        self._preflight = PreflightDialog(context, window)
        self._experiments = ExperimentsDialog(context, window)
        self._limits = LimitsDialog(context, window)
        self._keys = KeysDialog(context, window)
        self._about = AboutDialog(context, window)
        context.runner.limits_wanted.connect(self.show_limits)
        palette.add_answers(self._size_answers)
        palette.add_answers(self._pair_answers)
        self._add()
        document = context.document
        for signal in (
            document.project_changed,
            document.opened,
            document.read_only_changed,
            document.loading_changed,
            context.runner.changed,
            document.undo_stack.indexChanged,
        ):
            signal.connect(context.actions.refresh_soon)
        document.undo_stack.undoTextChanged.connect(self._undo_text)
        document.undo_stack.redoTextChanged.connect(self._redo_text)
        document.opened.connect(self.remember)
        document.pairs_changed.connect(self.remember)
        context.runner.changed.connect(self._remember_endpoint)
        context.settings.recent_changed.connect(self._list_recent)
        document.opened.connect(self._list_recent)
        context.navigator.went.connect(context.actions.refresh_soon)
        context.run_state.runs_changed.connect(context.actions.refresh_soon)
        self._list_recent()

    def _add(self) -> None:
        context = self._context
        open_ = self._needs_project
        still = self._needs_still_project
        stack = context.document.undo_stack
        context.actions.add(
            known_action("project.new", self.new, self._no_run),
            known_action("project.open", self.open, self._no_run),
            known_action("project.back", self.back, self._can_go_back),
            known_action("data.import", self.choose_pairs, self._no_run),
            known_action("judgments.import", self.import_judgments, self._no_run),
            known_action("network.import", self.import_network, self._can_edit),
            known_action("network.export", self.export_network, open_),
            known_action("project.save", self.save, open_),
            known_action("project.save_as", self.save_as, still),
            known_action("project.rename", self.rename, open_),
            known_action("project.close", self.close, still),
            known_action("app.quit", self._quit),
            known_action("edit.undo", stack.undo, self._can_undo),
            known_action("edit.redo", stack.redo, self._can_redo),
            known_action("run.start", self.start_run, self._can_run),
            known_action("run.anew", self.judge_anew, self._holds_recorded),
            known_action("models.try", self.try_models, self._needs_project),
            known_action("experiments.open", self.show_experiments, self._needs_project),
            known_action("run.limits", self.show_limits, self._needs_still_project),
            known_action("run.name", self.name_run, self._can_name_run),
            known_action("results.compare", self.compare, self._can_compare),
            known_action("run.pause", self.pause, self._runs),
            known_action("run.stop", context.runner.stop, self._can_stop),
            known_action("palette.open", self.open_palette),
            *(
                Action(
                    f"page.{key}",
                    f"Page {word}",
                    self._goer(key),
                    f"Ctrl+{place}",
                    name,
                    open_,
                    self._shower(key),
                    menu="View",
                    words="go show",
                )
                for place, (key, word, name) in enumerate(RAIL_PAGES, 1)
            ),
            known_action("page.settings", self._goer("settings")),
            known_action("endpoints.show", self.show_endpoints),
            *(
                Action(
                    f"theme.{choice}",
                    text,
                    self._theme_setter(choice),
                    "",
                    name,
                    None,
                    self._theme_is(choice),
                    menu="View",
                    words="theme look colours mode",
                )
                for choice, text, name in _THEMES
            ),
            known_action("view.larger", self.larger),
            known_action("view.smaller", self.smaller),
            known_action("view.next", self._forward),
            known_action("view.previous", self._back),
            known_action("view.copy_picture", self.copy_picture),
            known_action("help.tour", self.tour),
            known_action("help.examples", self.run_example, self._no_run),
            known_action("help.keys", self.show_keys),
            known_action("help.about", self.show_about),
        )

    def _list_recent(self) -> None:
        """Keeps an action for each recent project but the open one."""
        actions = self._context.actions
        now = self._context.document.file
        recent = [one for one in self._context.settings.recent if one.file != now]
        listed = [
            Action(
                f"project.recent.{place}",
                f"{clean(one.name)} ({near_day(one.at, clock.today())}, {clean(one.line)})",
                partial(self.open_file, one.file),
                "",
                "file",
                self._no_run,
                menu="Recent projects",
                words=f"open recent {one.file.name}",
            )
            for place, one in enumerate(recent, 1)
        ]
        actions.remove(*(f"project.recent.{place}" for place in range(len(listed) + 1, RECENT + 1)))
        actions.add(*listed)

    # When things are possible

    def _needs_project(self) -> bool | str:
        return self._context.document.is_open or "Open a project first."

    def _no_run(self) -> bool | str:
        return not self._context.runner.busy or "Stop the run first."

    def _needs_still_project(self) -> bool | str:
        return self._no_run() if self._context.document.is_open else self._needs_project()

    def _can_edit(self) -> bool | str:
        still = self._needs_still_project()
        if still is not True:
            return still
        return self._context.document.read_only or True

    def _can_undo(self) -> bool | str:
        document = self._context.document
        if document.read_only:
            return document.read_only
        return document.undo_stack.canUndo() or "Nothing to undo."

    def _can_redo(self) -> bool | str:
        document = self._context.document
        if document.read_only:
            return document.read_only
        return document.undo_stack.canRedo() or "Nothing to redo."

    def _can_run(self) -> bool | str:
        # Pressing Run says what can be done with recorded judgments.
        return self._holds_recorded() is True or self._context.runner.why_not() or True

    def _holds_recorded(self) -> bool | str:
        document = self._context.document
        if not document.is_open or not is_recorded(document.spec):
            return "The project holds no judgments recorded elsewhere."
        return document.read_only or self._no_run()

    def _runs(self) -> bool | str:
        return self._context.runner.running or "No run goes on."

    def _can_stop(self) -> bool | str:
        return "Stopping already." if self._context.runner.stopping else self._runs()

    def _undo_text(self, text: str) -> None:
        self._context.actions.set_text("edit.undo", f"Undo {text[:1].lower()}{text[1:]}" if text else "Undo")

    def _redo_text(self, text: str) -> None:
        self._context.actions.set_text("edit.redo", f"Redo {text[:1].lower()}{text[1:]}" if text else "Redo")

    def _can_go_back(self) -> bool | str:
        if not self._context.document.is_open:
            return "Open a project first."
        return self._context.navigator.page == "welcome" or "The project is in view."

    def _can_compare(self) -> bool | str:
        return len(self._context.run_state.runs) > 1 or "There is no other run to compare with."

    # Runs

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
        self._context.errors.tell(
            f"These are judgments of {plural(judges, 'judge')} that were recorded elsewhere: there is no model to ask, "
            "and their figures are on the page Results already. A network of your own can judge the same pairs beside "
            "them.",
            "Nothing was run",
            Mend("Design a network", self.judge_anew),
            level="warning",
        )

    def judge_anew(self) -> None:
        """Puts a network that can be asked in the place of recorded judges; their run stays as it is."""
        spec = self._with_own_model(network(_WIDTH, _DEPTH))
        self._context.document.edit_network("Judge with a network", spec)
        self._context.navigator.go("design")

    def _with_own_model(self, spec: NetworkSpec) -> NetworkSpec:
        """A ready network with the endpoint and model that the user likes to begin with."""
        endpoint, model = self._context.settings.text("endpoint"), self._context.settings.text("model")
        if endpoint not in self._context.document.profiles:
            return spec
        return replace(spec, settings=replace(spec.settings, endpoint=endpoint, model=model or None))

    # Projects

    def new(self) -> None:
        """Shows the ready networks to begin from."""
        self._context.navigator.go("welcome")

    def new_from_preset(self, key: str) -> None:
        """Begins a project with a ready network. The one that was open is saved, and one click leads back to it."""
        document = self._context.document
        before, title = document.file, document.title
        self.remember()
        spec = self._with_own_model(PRESETS[key].spec)
        document.new(Project.new("Untitled", spec))
        self._context.navigator.go("design")
        if before is not None and before.exists():
            self._context.errors.tell(
                "This project is saved, and listed among the recent projects.",
                title,
                Mend("Back to it", partial(self.open_file, before)),
                level="note",
            )

    def back(self) -> None:
        """Leads from the welcome page back to the project that is open."""
        kept = self._context.settings.text("page", "design")
        self._context.navigator.go(next((key for key, _, _ in RAIL_PAGES if key == kept), "design"))

    def new_from_pairs(self, files: Sequence[Path]) -> None:
        """Imports files of pairs, into a new project where none is open."""
        if not self._context.document.is_open:
            self.new_from_preset("widedeep")
        self._context.navigator.go("data", files=tuple(files))

    def open(self) -> None:
        """Asks for a project and opens it."""
        self._context.tasks.start(self._ask_and_open(), "Open a project")

    async def _ask_and_open(self) -> None:
        files = await ask_files(self._window, "Open project", PROJECT_FILES, str(self._context.document.folder))
        if files:
            self.open_file(files[0])

    def open_file(self, path: Path) -> None:
        """Opens a project file."""
        if self._context.runner.busy:
            self._context.errors.tell("Stop the run first.", path.name, level="warning")
            return
        try:
            self._context.document.open(path)
        except ProjectError as error:
            self._context.errors.tell_exception(error)
            return
        self._context.navigator.go("design")

    def open_dropped(self, paths: Sequence[Path]) -> None:
        """Opens a dropped project, or imports dropped files of pairs."""
        projects = [path for path in paths if path.suffix == PROJECT_SUFFIX]
        if projects:
            self.open_file(projects[0])
        elif paths:
            self.new_from_pairs(paths)

    def choose_pairs(self) -> None:
        """Asks for files of pairs and imports them."""
        self._context.tasks.start(self._ask_for_pairs(), "Choose a file of pairs")

    async def _ask_for_pairs(self) -> None:
        files = await ask_files(self._window, "Choose a file of pairs", PAIR_FILES, several=True)
        if files:
            self.new_from_pairs(files)

    def import_judgments(self) -> None:
        """Asks for judgments that were made elsewhere and for the pairs that were judged, and makes a project of them,
        with their run."""
        self._context.tasks.start(self._ask_and_import(), "Import judgments")

    async def _ask_and_import(self) -> None:
        window = self._window
        judgments = await ask_files(window, "Choose files of judgments", PAIR_FILES, several=True)
        if not judgments:
            return
        pairs = await ask_files(
            window, "Choose the pairs that were judged", PAIR_FILES, str(judgments[0].parent), several=True
        )
        if not pairs:
            return
        suggestion = judgments[0].with_name(f"{judgments[0].name.partition('.')[0]}{PROJECT_SUFFIX}")
        path = await ask_save_file(
            window, "Save the project with the judgments", PROJECT_FILES, suggestion, PROJECT_SUFFIX.lstrip(".")
        )
        if path is None:
            return
        project = path.absolute()
        source = PairsSource(tuple(file.absolute().as_posix() for file in pairs))

        def work(_job: Job) -> str:
            run, _ = record_judgments(project, read_judgments(judgments), read_pairs(pairs), source)
            return describe(run.record["recorded"])

        try:
            told = await self._context.tasks.job("Import judgments", work)
        except JobCancelled:
            return
        except (DataError, ProjectError, StoreError, OSError) as error:
            self._context.errors.tell_exception(error, "No judgments were imported")
            return
        self.open_file(project)
        self._context.navigator.go("results")
        self._context.errors.tell(told, project.name, level="note")

    def import_network(self) -> None:
        """Asks for a network that was drawn elsewhere, and puts it in the place of the project's."""
        self._context.tasks.start(self._ask_for_network(), "Import network")

    async def _ask_for_network(self) -> None:
        document = self._context.document
        files = await ask_files(self._window, "Import network", NETWORK_FILES, str(document.folder))
        if not files:
            return
        try:
            spec = read_network(files[0])
        except NetworkError as error:
            self._context.errors.tell_exception(error, "No network was imported")
            return
        document.edit_network("Import network", spec)
        self._context.navigator.go("design")

    def export_network(self) -> None:
        """Asks where to write the network's graph, and writes it."""
        self._context.tasks.start(self._ask_and_export_network(), "Export network")

    async def _ask_and_export_network(self) -> None:
        document = self._context.document
        suggestion = document.folder / f"{document.title}.graphml"
        forms = ("GraphML (*.graphml)", "Node-link JSON (*.json)", "Graphviz (*.dot)", "SVG (*.svg)")
        path = await ask_save_file(self._window, "Export network", forms, suggestion, "graphml")
        if path is None:
            return
        try:
            write_network(document.spec, path)
        except (NetworkError, OSError) as error:
            self._context.errors.tell_exception(error, "The network was not exported")
            return
        self._context.errors.tell(f"The network is in {path.name}.", level="note")

    def save(self) -> None:
        """Saves now, and says so. A draft is asked for a place first."""
        document = self._context.document
        if document.path is None:
            self.save_as()
            return
        document.save()
        if document.saved:
            self._context.errors.tell("Saved.", str(document.path), level="note")

    def save_as(self) -> None:
        """Asks for a name and saves under it."""
        self._context.tasks.start(self._ask_and_save(), "Save the project")

    async def _ask_and_save(self) -> None:
        document = self._context.document
        suggestion = document.path or Path.home() / f"{document.title}{PROJECT_SUFFIX}"
        path = await ask_save_file(self._window, "Save as", PROJECT_FILES, suggestion, PROJECT_SUFFIX.lstrip("."))
        if path is None:
            return
        try:
            await document.save_as(path.absolute())
        except (ProjectError, StoreError) as error:
            self._context.errors.tell_exception(error, mend=Mend("Choose another place", self.save_as))
            return
        self.remember()

    def rename(self) -> None:
        """Asks for another name of the project."""
        self._context.tasks.start(self._ask_and_rename(), "Rename the project")

    async def _ask_and_rename(self) -> None:
        project = self._context.document.project
        name = await ask_text(self._window, "Rename", "Name of the project", project.name)
        if name is not None:
            self._context.document.edit_project(
                "Rename the project", replace(self._context.document.project, name=name)
            )

    def close(self) -> None:
        """Saves and closes the project."""
        self.remember()
        self._context.document.close()
        self._context.navigator.go("welcome")
        self._context.document.opened.emit()

    def remember(self) -> None:
        """Puts the open project at the head of the recent ones."""
        document = self._context.document
        if not document.is_open or document.file is None:
            return
        parts = [plural(len(document.pairs), "pair") if document.pairs else "", f"network {size_words(document.spec)}"]
        newest = self._context.run_state.newest
        if newest is not None:
            parts.append(f"run {newest.number}")
        line = ", ".join(part for part in parts if part)
        if document.path is None:
            line = f"Draft, {line}"
        self._context.settings.remember(Recent(document.file, document.title, line, time.time()))

    def _remember_endpoint(self) -> None:
        """New projects begin with the endpoint and the model that were used last."""
        if self._context.runner.running:
            used = self._context.document.spec.settings
            self._context.settings.keep_text("endpoint", used.endpoint or "")
            self._context.settings.keep_text("model", used.model or "")

    # The example

    def run_example(self) -> None:
        """Begins a project of the examples and runs it on the embedded model."""
        self._context.tasks.start(self._run_example(), "Run the example")

    async def _run_example(self) -> None:
        context = self._context
        if find_model() is None:
            try:
                await context.tasks.job("Fetch the small model (93 MB)", _fetch)
            except JobCancelled:
                return
            except ModelError as error:
                context.errors.tell(str(error), "The example", Mend("Try again", self.run_example))
                return
        source = PairsSource((example("general.jsonl").as_posix(),), selection=Selection("first", EXAMPLE_PAIRS))
        spec = network(3, 2, name="Two layers of three")
        context.document.new(Project.new("Example", spec, source))
        context.navigator.go("run")
        await context.document.loaded()
        context.runner.start()

    # The run

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
            self._context.navigator.go("run", pairs=pairs, why="with unscored calls")

    def try_models(self) -> None:
        """Opens the pre-flight of the network's models."""
        self._preflight.show_for()

    def _can_name_run(self) -> bool | str:
        if self._context.document.read_only:
            return self._context.document.read_only
        return self._context.run_state.run is not None or "There is no run yet."

    def name_run(self) -> None:
        """Asks what the run in focus is called, and what is to be noted of it."""
        self._context.tasks.start(self._ask_and_name_run(), "Name the run")

    async def _ask_and_name_run(self) -> None:
        state = self._context.run_state
        run = state.run
        if run is None:
            return
        given = await ask_texts(
            self._window, f"Run {run.number:,}", (("Name of the run", run.name), ("Note", run.note))
        )
        if given is not None and state.run is not None and state.run.id == run.id:
            try:
                state.name_run(*given)
            except StoreError as error:
                self._context.errors.tell_exception(error, f"Run {run.number:,}")

    def show_limits(self) -> None:
        """Asks what a run must not exceed, and for prices that are unknown."""
        self._limits.show_for()

    def show_experiments(self) -> None:
        """Opens the experiments."""
        self._experiments.show_for()

    def compare(self) -> None:
        """Asks which run is to be compared with the one in focus, and shows both on the page Results."""
        self._context.navigator.go("results", part="compare")

    # Pictures and help

    def copy_picture(self) -> None:
        """Puts a picture of the page in view on the clipboard."""
        page = self._page_in_view()
        QGuiApplication.clipboard().setPixmap(page.grab())
        self._context.errors.tell("A picture of the page is on the clipboard.", level="note")

    def show_keys(self) -> None:
        """Shows all shortcuts."""
        self._keys.show_for()

    def show_about(self) -> None:
        """Shows the version, the licences and where the log file is."""
        self._about.show_for()

    # The network by typing

    def _size_answers(self, text: str) -> list[Action]:
        try:
            width, depth = parse_size(text)
        except NetworkError:
            return []
        document = self._context.document
        if not document.is_open or document.read_only:
            return []
        wide = "as many neurons as roles" if width is None else f"{width:,} neuron{'s' if width != 1 else ''}"
        layers = f"{depth:,} layer{'s' if depth != 1 else ''}"
        return [
            Action(
                f"network.size.{text}",
                f"Make it {layers} of {wide}",
                lambda: self.set_size(width, depth),
                icon="design",
            )
        ]

    def _pair_answers(self, text: str) -> list[Action]:
        """A number is a pair's place."""
        if not text.isdecimal() or not 1 <= int(text) <= len(self._context.document.pairs):
            return []
        place = int(text) - 1
        return [
            Action(
                f"pair.{text}",
                f"Design with pair {int(text):,} in view",
                partial(self._context.navigator.go, "design", pairs=(place,)),
                icon="pair",
            )
        ]

    def set_size(self, width: int | None, depth: int) -> None:
        """Gives the network another width and depth."""
        try:
            before = self._context.document.spec
            spec = with_enough_roles(design.set_size(before, width, depth), before)
        except NetworkError as error:
            self._context.errors.tell_exception(error)
            return
        self._context.document.edit_network("Change the size", spec)
        self._context.navigator.go("design")

    # Look and pages

    def open_palette(self) -> None:
        """Opens the command palette."""
        self._palette.open()

    def _goer(self, key: PageKey) -> Callable[[], None]:
        return lambda: self._context.navigator.go(key)

    def _shower(self, key: PageKey) -> Callable[[], bool]:
        return lambda: self._context.navigator.page == key

    def show_endpoints(self) -> None:
        """Shows the endpoints."""
        self._context.navigator.go("settings", part="endpoints")

    def _theme_setter(self, choice: ThemeChoice) -> Callable[[], None]:
        return lambda: self._context.settings.set(theme=choice)

    def _theme_is(self, choice: ThemeChoice) -> Callable[[], bool]:
        return lambda: self._context.settings.preferences.theme == choice

    def larger(self) -> None:
        """Everything a step larger."""
        self._scale(_SCALE_STEP)

    def smaller(self) -> None:
        """Everything a step smaller."""
        self._scale(-_SCALE_STEP)

    def _scale(self, by: float) -> None:
        """A key that is held down or struck again leads to one new look of the window, at the end."""
        low, high = UI_SCALES
        now = self._context.settings.preferences.scale if self._next_scale is None else self._next_scale
        self._next_scale = round(min(high, max(low, now + by)), 2)
        self._scale_soon.start()

    def _take_scale(self) -> None:
        scale, self._next_scale = self._next_scale, None
        self._context.settings.set(scale=scale)

    def _forward(self) -> None:
        self._next_region(1)

    def _back(self) -> None:
        self._next_region(-1)

    def tour(self) -> None:
        """Shows the tour."""
        self._tour.begin()


def _fetch(job: Job) -> None:
    fetch_model(tell=lambda text: job.report(0, None, text))
