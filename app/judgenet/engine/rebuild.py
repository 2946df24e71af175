"""Rebuilds the question of a call of a run, also of one without an answer so far, and what the call has read."""

from __future__ import annotations

from collections.abc import Iterable

from judgenet.core.calls import ROLES_LAYER, CallSite
from judgenet.core.network import NetworkError, Role
from judgenet.core.pairs import Pair
from judgenet.core.prompts import Heard
from judgenet.core.schemas import ReplyForm
from judgenet.engine.questions import Question, Questions
from judgenet.engine.work import Call
from judgenet.store.runs import CallRow


class Rebuilt:
    """A pair of a run with the calls answered so far. ``roles`` are ``None`` before they are known.

    :raises NetworkError: (from its methods) the network has no such call, or cannot make it yet.
    """

    def __init__(
        self, questions: Questions, index: int, pair: Pair, roles: tuple[Role, ...] | None, calls: Iterable[CallRow]
    ) -> None:
        self._questions = questions
        self._work, _ = questions.take_up(index, pair)
        if self._work.needs_roles and roles is not None:
            self._work.set_roles(roles, "")
        self._known = roles is not None or not self._work.needs_roles
        for row in calls:
            if row.site.layer != ROLES_LAYER and row.result is not None:
                self._work.results[row.site] = row.result

    def question(self, site: CallSite, form: ReplyForm) -> Question:
        """The question as it is sent in this reply form."""
        call = self._call(site)
        self.heard(site)
        return self._questions.question(call, form)

    def heard(self, site: CallSite) -> tuple[Heard, ...]:
        """The evaluations of the layer before that a call reads, by neuron and order."""
        try:
            return self._work.heard(self._call(site))
        except KeyError:
            raise NetworkError("It waits for the layer before.") from None

    def _call(self, site: CallSite) -> Call:
        if site.layer != ROLES_LAYER and not self._known:
            raise NetworkError("The roles of this pair are not known yet.")
        return self._work.call_at(site)
