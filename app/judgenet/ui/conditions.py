"""When actions are possible: ``True``, or why not in words."""

from __future__ import annotations

from judgenet.ui import texts
from judgenet.ui.context import Context


class ActionConditions:
    """Conditions that actions of several pages share."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def project(self) -> bool | str:
        """A project is open."""
        return self._context.document.is_open or texts.OPEN_A_PROJECT_FIRST

    def no_run(self) -> bool | str:
        """No run is in progress."""
        return not self._context.runner.busy or texts.STOP_THE_RUN_FIRST

    def still_project(self) -> bool | str:
        """A project is open, and no run goes on."""
        return self.no_run() if self._context.document.is_open else self.project()

    def editable(self) -> bool | str:
        """The open project can be changed now."""
        still = self.still_project()
        if still is not True:
            return still
        return self._context.document.read_only or True
