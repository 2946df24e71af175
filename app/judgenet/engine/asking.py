"""Sends a call: as designed, in the forms that a recorded run may hold, and once more if its answer was cut."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from judgenet.core.evaluation import Reason, Unscored
from judgenet.engine.asked_calls import AskedCall, Spending, request_of
from judgenet.engine.kept_answers import KeptAnswers
from judgenet.engine.ports import CallFailed, ChatReply, FormRefused, Usage
from judgenet.engine.questions import CallResult, Question
from judgenet.engine.work import Call
from judgenet.store.runs import LONGER

LENGTH_FACTOR = 4
"""A call whose answer was cut is repeated with this many times the limit."""
LENGTH_MOST = 16_384
_ROOM_S = 0.1
"""Seconds between two looks at the budget of a call that waits for room in it."""

OnPiece = Callable[[str], None]


class AskedAnswer(NamedTuple):
    """The reply to a call, its result and the rule that read it, and the tokens and attempts of all its requests."""

    reply: ChatReply
    result: CallResult
    rule: str
    usage: Usage
    attempts: int


class Asking:
    """Sends the calls that have no kept answer. ``followers`` are the calls that wait for the answer to a question in
    flight, by its key."""

    def __init__(self, kept: KeptAnswers, spending: Spending, followers: dict[bytes, list[Call]]) -> None:
        self._kept = kept
        self._spending = spending
        self._followers = followers

    async def ask(self, asked: AskedCall, on_text: OnPiece | None) -> AskedAnswer:
        """Sends a call; once more, with a larger limit, if its answer was cut and cannot be read.

        :raises CallFailed, FormRefused: as the endpoint does.
        """
        reply = self._kept.with_likely(asked, await self._reply(asked, on_text))
        asked.lane.opened = True
        result, rule = self._kept.read(asked, reply)
        usage, attempts = reply.usage, reply.attempts
        if reply.finish_reason == "length" and isinstance(result, Unscored):
            longer = await self._ask_longer(asked, on_text)
            if longer is not None:
                reply = self._kept.with_likely(asked, longer)
                result, rule = self._kept.read(asked, reply)
                usage, attempts = usage.plus(reply.usage), attempts + reply.attempts
        return AskedAnswer(reply, result, rule, usage, attempts)

    async def _reply(self, asked: AskedCall, on_text: OnPiece | None) -> ChatReply:
        """The answer to a call; a recorded run may hold it in either form, or that of a stand-in."""
        endpoint, limit = asked.lane.endpoint, asked.question.parameters.max_tokens
        own = (asked.call, asked.question)
        try:
            return await endpoint.chat(request_of(asked, limit), on_text)
        except CallFailed as failure:
            if failure.reason is not Reason.NOT_RECORDED:
                raise
            missing = failure
        for call, question in self._kept.recorded_otherwise(asked):
            self._ask_instead(asked, call, question)
            try:
                return await endpoint.chat(request_of(asked, limit), on_text)
            except CallFailed as failure:
                if failure.reason is not Reason.NOT_RECORDED:
                    raise
        self._ask_instead(asked, *own)
        raise missing

    def _ask_instead(self, asked: AskedCall, call: Call, question: Question) -> None:
        """Replaces a call's question; the calls that wait for its answer wait for the new one."""
        followers = self._followers.pop(asked.question.key, [])
        self._followers.setdefault(question.key, []).extend(followers)
        asked.call, asked.question = call, question

    async def _ask_longer(self, asked: AskedCall, on_text: OnPiece | None) -> ChatReply | None:
        """The answer with a larger limit; ``None`` where the budget has no room for it, or no answer came."""
        limit = min(asked.question.parameters.max_tokens * LENGTH_FACTOR, LENGTH_MOST)
        if limit <= asked.question.parameters.max_tokens:
            return None
        more = self._spending.reserve(asked, limit)
        while more is None and self._spending.waits:
            await asyncio.sleep(_ROOM_S)
            more = self._spending.reserve(asked, limit)
        if more is None:
            return None
        try:
            reply = await asked.lane.endpoint.chat(request_of(asked, limit), on_text)
        except (CallFailed, FormRefused):
            # The first answer was paid for and is kept as it is: cut.
            return None
        finally:
            self._spending.give_back(more, asked=True)
        return replace(reply, applied={**reply.applied, LONGER: limit})
