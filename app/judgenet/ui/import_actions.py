"""Import and export of files of other programs: pairs, judgments and networks."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from judgenet.core.network import NetworkError
from judgenet.core.project import PROJECT_SUFFIX, PairsSource, ProjectError
from judgenet.engine.recorded_project import record_judgments
from judgenet.formats import read_pairs
from judgenet.formats.errors import DataError
from judgenet.formats.judgments import read_judgments
from judgenet.formats.network_files import read_network
from judgenet.report.network_files import write_network
from judgenet.store.db import StoreError
from judgenet.store.recorded import describe
from judgenet.ui import texts
from judgenet.ui.actions import known_action
from judgenet.ui.conditions import ActionConditions
from judgenet.ui.context import Context
from judgenet.ui.dialogs import ask_files, ask_save_file
from judgenet.ui.project_actions import PROJECT_FILES, ProjectActions
from judgenet.ui.tasks import Job, JobCancelled

NETWORK_FILES: Final = ("Networks (*.graphml *.xml *.json)", "All files (*)")
PAIR_FILES: Final = ("Pairs (*.jsonl *.json *.csv *.tsv *.xlsx *.parquet *.txt *.gz *.zip)", "All files (*)")


class ImportActions(QObject):
    """Adds the actions for files of others to the table and does them."""

    def __init__(self, context: Context, when: ActionConditions, projects: ProjectActions, window: QWidget) -> None:
        super().__init__(window)
        self._context = context
        self._projects = projects
        self._window = window
        context.actions.add(
            known_action("data.import", self.choose_pairs, when.no_run),
            known_action("judgments.import", self.import_judgments, when.no_run),
            known_action("network.import", self.import_network, when.editable),
            known_action("network.export", self.export_network, when.project),
        )

    def choose_pairs(self) -> None:
        """Asks for files of pairs and imports them."""
        self._context.tasks.start(self._ask_for_pairs(), texts.CHOOSE_A_FILE_OF_PAIRS)

    async def _ask_for_pairs(self) -> None:
        files = await ask_files(self._window, texts.CHOOSE_A_FILE_OF_PAIRS, PAIR_FILES, several=True)
        if files:
            self._projects.new_from_pairs(files)

    def import_judgments(self) -> None:
        """Asks for judgments that were made elsewhere and for the pairs that were judged, and makes a project of them,
        with their run."""
        self._context.tasks.start(self._ask_and_import(), texts.IMPORT_JUDGMENTS)

    async def _ask_and_import(self) -> None:
        window = self._window
        judgments = await ask_files(window, texts.CHOOSE_FILES_OF_JUDGMENTS, PAIR_FILES, several=True)
        if not judgments:
            return
        pairs = await ask_files(
            window, texts.CHOOSE_THE_JUDGED_PAIRS, PAIR_FILES, str(judgments[0].parent), several=True
        )
        if not pairs:
            return
        suggestion = judgments[0].with_name(f"{judgments[0].name.partition('.')[0]}{PROJECT_SUFFIX}")
        path = await ask_save_file(
            window, texts.SAVE_THE_PROJECT_WITH_JUDGMENTS, PROJECT_FILES, suggestion, PROJECT_SUFFIX.lstrip(".")
        )
        if path is None:
            return
        project = path.absolute()
        source = PairsSource(tuple(file.absolute().as_posix() for file in pairs))

        def work(_job: Job) -> str:
            run, _ = record_judgments(project, read_judgments(judgments), read_pairs(pairs), source)
            return describe(run.record["recorded"])

        try:
            imported = await self._context.tasks.job(texts.IMPORT_JUDGMENTS, work)
        except JobCancelled:
            return
        except (DataError, ProjectError, StoreError, OSError) as error:
            self._context.errors.post_exception(error, texts.NO_JUDGMENTS_IMPORTED)
            return
        self._projects.open_file(project)
        self._context.navigator.go("results")
        self._context.errors.post(imported, project.name, level="note")

    def import_network(self) -> None:
        """Asks for a network that was drawn elsewhere, and puts it in the place of the project's."""
        self._context.tasks.start(self._ask_for_network(), texts.IMPORT_NETWORK)

    async def _ask_for_network(self) -> None:
        document = self._context.document
        files = await ask_files(self._window, texts.IMPORT_NETWORK, NETWORK_FILES, str(document.folder))
        if not files:
            return
        try:
            spec = read_network(files[0])
        except NetworkError as error:
            self._context.errors.post_exception(error, texts.NO_NETWORK_IMPORTED)
            return
        document.edit_network(texts.IMPORT_NETWORK, spec)
        self._context.navigator.go("design")

    def export_network(self) -> None:
        """Asks where to write the network's graph, and writes it."""
        self._context.tasks.start(self._ask_and_export_network(), texts.EXPORT_NETWORK)

    async def _ask_and_export_network(self) -> None:
        document = self._context.document
        suggestion = document.folder / f"{document.title}.graphml"
        forms = ("GraphML (*.graphml)", "Node-link JSON (*.json)", "Graphviz (*.dot)", "SVG (*.svg)")
        path = await ask_save_file(self._window, texts.EXPORT_NETWORK, forms, suggestion, "graphml")
        if path is None:
            return
        try:
            write_network(document.spec, path)
        except (NetworkError, OSError) as error:
            self._context.errors.post_exception(error, texts.NETWORK_NOT_EXPORTED)
            return
        self._context.errors.post(texts.network_is_in(path.name), level="note")
