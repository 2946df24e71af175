"""What the user approves of a project: the addresses to which it sends, and the files that it reads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.project import PairsSource
from judgenet.store.approvals import ApprovalNeed, approve, endpoint_needs, file_needs
from judgenet.store.pictures import picture_folders
from judgenet.store.settings import SettingsError
from judgenet.ui import texts
from judgenet.ui.errors import ErrorPort, MessageButton
from judgenet.ui.tasks import Tasks

if TYPE_CHECKING:
    from judgenet.formats import Dataset
    from judgenet.ui.document import Document


class Approvals:
    """Asks for the approvals that a project needs, and keeps them.

    Attributes:
        ask_trust: asks the user to approve what the project needs; the answer is no where nobody can be asked.
    """

    def __init__(self, document: Document, tasks: Tasks, errors: ErrorPort) -> None:
        self._document = document
        self._tasks = tasks
        self._errors = errors
        self.ask_trust: Callable[[Sequence[ApprovalNeed]], Awaitable[bool]] = _nobody

    async def may_send(self, used: Iterable[EndpointProfile]) -> bool:
        """Whether anything may be sent to these endpoints. Asks the user for what is not approved yet; where that is
        refused, or the approvals cannot be read, nothing may be sent."""
        try:
            needs = self.needs(used)
            return not needs or await self._ask(needs)
        except (OSError, SettingsError) as error:
            self._errors.post_exception(error, texts.NOTHING_WAS_SENT)
            return False

    def needs(self, used: Iterable[EndpointProfile]) -> tuple[ApprovalNeed, ...]:
        """What endpoints need that the user has not approved.

        :raises FileError: the approvals cannot be read.
        :raises SettingsError: the user's settings cannot be read.
        """
        return endpoint_needs(used, self._document.folder, self._document.project.salt)

    def may_read(self, source: PairsSource) -> bool:
        """Whether the project may read these files. Where it may not, it says so and offers to approve them."""
        try:
            needs = file_needs(source.files, self._document.folder, self._document.project.salt)
        except OSError as error:
            self._errors.post_exception(error, texts.NO_PAIRS_WERE_READ)
            return False
        if needs:
            self.post_outside(needs)
        return not needs

    def post_outside(self, needs: Sequence[ApprovalNeed]) -> None:
        """Says that the project may not read its pairs, or pictures of them, and offers to approve what it needs."""
        files = ", ".join(need.place for need in needs)
        self._errors.post(
            texts.files_outside_the_folder(files),
            self._document.title,
            MessageButton(texts.DECIDE, lambda: self._tasks.start(self._ask_to_read(needs), texts.APPROVE_FILES)),
            level="warning",
        )

    async def _ask_to_read(self, needs: Sequence[ApprovalNeed]) -> None:
        try:
            if await self._ask(needs):
                self._document.reload_pairs()
        except OSError as error:
            self._errors.post_exception(error, texts.NO_PAIRS_WERE_READ)

    async def _ask(self, needs: Sequence[ApprovalNeed]) -> bool:
        project = self._document.generation
        if not await self.ask_trust(needs) or project != self._document.generation:
            return False
        approve(needs)
        return True

    def keep_read(self, source: PairsSource, dataset: Dataset) -> None:
        """Approves the files and folders of pairs that were read already: by the user's choice, or because they were
        approved before."""
        document, files = self._document, [*source.files, *picture_folders(dataset.pairs)]
        self.keep(lambda: approve(file_needs(files, document.folder, document.project.salt)))

    def keep(self, keep: Callable[[], None]) -> None:
        """Runs a function that writes approvals, and reports where they cannot be written."""
        try:
            keep()
        except OSError as error:
            self._errors.post_exception(error, self._document.title)


async def _nobody(needs: Sequence[ApprovalNeed]) -> bool:
    return False
