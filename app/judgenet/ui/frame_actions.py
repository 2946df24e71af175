"""Actions that are available on every page: projects, files, runs, the window, and the command palette."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from judgenet.core import design
from judgenet.core.fixes import with_enough_roles
from judgenet.core.network import NetworkError
from judgenet.core.presets import parse_size
from judgenet.core.wording import plural
from judgenet.ui import texts
from judgenet.ui.actions import Action, known_action
from judgenet.ui.conditions import ActionConditions
from judgenet.ui.context import Context
from judgenet.ui.import_actions import ImportActions
from judgenet.ui.palette import Palette
from judgenet.ui.project_actions import ProjectActions
from judgenet.ui.run_actions import RunActions
from judgenet.ui.tour import Tour
from judgenet.ui.window_actions import WindowActions


class FrameActions(QObject):
    """Adds the frame's actions to the table.

    Attributes:
        projects: what is done with projects.
        runs: what is done with runs.
        open_file: opens a project file.
        new_from_preset: begins a project with a ready network, by its key.
    """

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
        self._palette = palette
        when = ActionConditions(context)
        self.projects = ProjectActions(context, when, window)
        self._imports = ImportActions(context, when, self.projects, window)
        self.runs = RunActions(context, when, self.projects, window)
        self._window_actions = WindowActions(context, when, window, tour, next_region, page_in_view)
        self.open_file = self.projects.open_file
        self.new_from_preset = self.projects.new_from_preset
        context.actions.add(
            known_action("app.quit", quit_all),
            known_action("palette.open", self.open_palette),
        )
        palette.add_answers(self._size_answers)
        palette.add_answers(self._pair_answers)
        document = context.document
        for signal in (
            document.project_changed,
            document.opened,
            document.read_only_changed,
            document.loading_changed,
            context.runner.changed,
            document.undo_stack.indexChanged,
            context.navigator.went,
            context.run_state.runs_changed,
        ):
            signal.connect(context.actions.refresh_soon)

    def _size_answers(self, text: str) -> list[Action]:
        try:
            width, depth = parse_size(text)
        except NetworkError:
            return []
        document = self._context.document
        if not document.is_open or document.read_only:
            return []
        wide = texts.AS_MANY_NEURONS_AS_ROLES if width is None else plural(width, "neuron")
        layers = plural(depth, "layer")
        return [
            Action(
                f"network.size.{text}",
                texts.make_it(layers, wide),
                lambda: self.set_size(width, depth),
                icon="design",
            )
        ]

    def _pair_answers(self, text: str) -> list[Action]:
        """Answers to a number in the palette: the pair at that place."""
        if not text.isdecimal() or not 1 <= int(text) <= len(self._context.document.pairs):
            return []
        place = int(text) - 1
        return [
            Action(
                f"pair.{text}",
                texts.design_with_pair(f"{int(text):,}"),
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
            self._context.errors.post_exception(error)
            return
        self._context.document.edit_network(texts.CHANGE_THE_SIZE, spec)
        self._context.navigator.go("design")

    def open_palette(self) -> None:
        """Opens the command palette."""
        self._palette.open()
