"""What a page can use of the studio. Pages know the context, never each other."""

from __future__ import annotations

from dataclasses import dataclass

from judgenet.ui.actions import ActionTable
from judgenet.ui.document import Document
from judgenet.ui.errors import ErrorPort
from judgenet.ui.figures import DesignEstimate
from judgenet.ui.navigation import Navigator
from judgenet.ui.results.learning import Learning
from judgenet.ui.results.state import ResultsState
from judgenet.ui.run_state import RunState
from judgenet.ui.runner import Runner
from judgenet.ui.settings import StudioSettings
from judgenet.ui.shards.state import ShardsState
from judgenet.ui.tasks import Tasks
from judgenet.ui.theme import ThemeManager


@dataclass(frozen=True, slots=True)
class Context:
    """The parts of the studio that a page may use.

    ``document`` is what is edited, ``run_state`` the run in focus, ``results`` its figures, ``learning`` what was
    learned from it, ``shards`` those of the project, ``runner`` starts and stops runs, ``figures`` say what the
    design costs, ``theme`` keeps the look, ``actions`` is the table of what can be done, ``errors`` takes what went
    wrong, ``settings`` keep the user's choices, ``tasks`` runs what takes time, ``navigator`` leads to another
    page.
    """

    document: Document
    run_state: RunState
    results: ResultsState
    learning: Learning
    shards: ShardsState
    runner: Runner
    figures: DesignEstimate
    theme: ThemeManager
    actions: ActionTable
    errors: ErrorPort
    settings: StudioSettings
    tasks: Tasks
    navigator: Navigator
