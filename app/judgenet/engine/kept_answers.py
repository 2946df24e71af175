"""Answers that the store holds: found before a call is sent, and asked for again where they cannot be read."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from judgenet.core.evaluation import Reason, Unscored
from judgenet.core.network import stand_ins
from judgenet.core.schemas import ReplyForm
from judgenet.engine.asked_calls import AskedCall
from judgenet.engine.pairs_under_way import RunPlan
from judgenet.engine.ports import ChatReply
from judgenet.engine.questions import CallResult, Question, Questions
from judgenet.engine.work import Call
from judgenet.store.db import Store
from judgenet.store.runs import RecordedAnswer, next_key, recorded

log = logging.getLogger(__name__)


class KeptAnswers:
    """The kept answers to the calls of a start, and which of them it asks for once more."""

    def __init__(self, plan: RunPlan, store: Store, questions: Questions) -> None:
        self._plan = plan
        self._store = store
        self._questions = questions
        self._forms = store.forms()
        self._again: dict[bytes, bytes] = {}

    def awaited_key(self, asked: AskedCall) -> bytes:
        """The key of the answer that a call waits for: where it is asked for again, that of the new one."""
        return self._again.get(asked.question.key, asked.question.key)

    def find(self, asked: AskedCall) -> RecordedAnswer | None:
        """The kept answer to a call, also where an earlier start put the question in another form: an endpoint that
        now refuses schemas may have answered then, and was paid."""
        answer = recorded(self._store, asked.question.key)
        if answer is not None or self._forms <= {asked.question.form}:
            return answer
        other_form = self.in_other_form(asked)
        answer = recorded(self._store, other_form.key)
        if answer is not None:
            asked.question = other_form
        return answer

    def asks_again(self, asked: AskedCall, answer: RecordedAnswer) -> bool:
        """Whether a kept answer that cannot be read is asked for once more in this start: its question gets the key of
        the next answer then. A recorded run would only give the same again."""
        key = asked.question.key
        kind = self._plan.kinds.get(asked.lane.endpoint.name, "")
        if not self._plan.again or key in self._again or kind == "replay":
            return False
        if not isinstance(self.read(asked, answer)[0], Unscored):
            return False
        if asked.question.form == asked.lane.endpoint.form(asked.question.parameters.model):
            asked.question = replace(asked.question, key=next_key(answer.key))
        else:
            # It was asked in a form that the endpoint refuses by now: in the other one it is another question.
            asked.question = self.in_other_form(asked)
        self._again[key] = asked.question.key
        return True

    def in_other_form(self, asked: AskedCall) -> Question:
        """The question of a call in the other form of reply."""
        return self._questions.question(asked.call, "text" if asked.question.form == "json" else "json")

    def recorded_otherwise(self, asked: AskedCall) -> Iterator[tuple[Call, Question]]:
        """How a recorded run may hold the answer to a call that it does not have as asked: in the other form, or as
        that of a stand-in that was asked at the same endpoint, in either."""
        own = asked.call
        yield own, self.in_other_form(asked)
        for settings in stand_ins(own.settings):
            if settings.endpoint == own.settings.endpoint:
                call = own.work.stand_in_call(own, settings)
                for form in get_args(ReplyForm):
                    yield call, self._questions.question(call, form)

    def forget(self, asked: AskedCall) -> None:
        """A question that was to be asked again and brought no answer may be asked again later in this start."""
        for key in [key for key, again in self._again.items() if again == asked.question.key]:
            del self._again[key]

    def with_likely(self, asked: AskedCall, reply: ChatReply) -> ChatReply:
        """The reply with the distributions of its scores, where the call asks for them."""
        try:
            return self._questions.with_likely(asked.call, asked.question.form, reply)
        except Exception:
            log.exception("the tokens of %s of %s cannot be read", asked.call.site, self._plan.run.id)
            return replace(reply, tokens=(), likely="not_found")

    def read(self, asked: AskedCall, answer: ChatReply | RecordedAnswer) -> tuple[CallResult, str]:
        """The result of an answer, and the rule by which it was read."""
        try:
            return self._questions.read(asked.call, asked.question.form, answer)
        except Exception as error:
            # A fault of ours must not lose a paid answer: it is kept, and read again by the next start.
            log.exception("the answer to %s of %s cannot be read", asked.call.site, self._plan.run.id)
            return Unscored(Reason.INTERNAL, f"{type(error).__name__}: {error}"), ""
