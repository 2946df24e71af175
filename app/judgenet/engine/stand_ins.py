"""Which model answers a call: its own, or a stand-in while its endpoint is out of reach or stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from judgenet.core.calls import CallSite
from judgenet.core.network import STAND_IN_AFTER_S, Settings, stand_ins
from judgenet.core.wording import duration
from judgenet.engine.asked_calls import AskedCall, Lane
from judgenet.engine.work import Call
from judgenet.store.db import Store
from judgenet.store.runs import RunInfo, stood_in_calls

_CHECK_S = 1.0
"""How often the calls under way are checked for an endpoint that is out of reach."""


@dataclass(slots=True)
class _UnderWay:
    task: asyncio.Task[None]
    since: float
    given_up: bool = False


class StandIns:
    """Chooses the endpoint of each call of a start. Runs on the engine's loop.

    A call goes to its own endpoint unless that has stopped, or has been out of reach for as long as the stand-in's
    ``after`` says: then to the first of its stand-ins that is available. While an endpoint is out of reach, one call
    tries it from time to time; once it answers, calls go there again. A call that a stand-in answered in an earlier
    start of the run keeps that answer.
    """

    def __init__(self, settings: Sequence[Settings], lanes: Mapping[str, Lane], store: Store, run: RunInfo) -> None:
        given = [stand_in for own in settings for stand_in in stand_ins(own)]
        self._lanes = lanes
        self._try_at: dict[str, float] = {}
        self._under_way: dict[AskedCall, _UnderWay] = {}
        self._answered: dict[CallSite, tuple[str, str]] = {}
        self._settings = tuple(settings)
        if given:
            models = {(stand_in.endpoint or "", stand_in.model or "") for stand_in in given}
            self._answered = stood_in_calls(store, run, models)
            asked = {stand_in.endpoint for stand_in in self._settings}
            for name, lane in lanes.items():
                lane.spare = name not in asked
        self.used = bool(given)

    def choose(self, call: Call, *, sending: bool = False) -> Call:
        """A call with the model that answers it as things stand. Whether an endpoint is out of reach matters only for a
        call that is about to be sent (``sending``)."""
        own = call.instead_of or call
        if not own.settings.stand_in:
            return own
        others = stand_ins(own.settings)
        kept = self._answered.get(own.site)
        for settings in others:
            if kept == (settings.endpoint, settings.model):
                return own.work.stand_in_call(own, settings)
        pictures = bool(own.work.pair.pictures)
        if self._can_ask(own.settings, sending, may_try=call is own, pictures=pictures):
            return own
        for settings in others:
            if self._can_ask(settings, sending, pictures=pictures):
                self._lanes[settings.endpoint or ""].spare = False
                return own.work.stand_in_call(own, settings)
        return own

    def not_kept(self, call: Call) -> Call | None:
        """The call as designed, where the kept answer of a stand-in was expected and is not there."""
        if call.instead_of is None or self._answered.pop(call.site, None) is None:
            return None
        return call.instead_of

    def _can_ask(
        self, settings: Settings, sending: bool = True, *, may_try: bool = False, pictures: bool = False
    ) -> bool:
        lane = self._lanes[settings.endpoint or ""]
        if lane.stopped or settings.model in lane.stopped_models:
            return False
        if pictures and settings.model in lane.blind_models:
            return False
        if not sending or not self._out_of_reach(lane, settings):
            return True
        now = asyncio.get_running_loop().time()
        if may_try and now >= self._try_at.get(lane.endpoint.name, 0.0):
            self._try_at[lane.endpoint.name] = now + max(_after(settings), _CHECK_S)
            return True
        return False

    @staticmethod
    def _out_of_reach(lane: Lane, settings: Settings) -> bool:
        away = lane.endpoint.away_for
        return away > 0 and away >= _after(settings)

    def try_again(self) -> None:
        """Allows every endpoint to be tried again at once."""
        self._try_at.clear()

    # Calls under way

    def begin(self, asked: AskedCall, task: asyncio.Task[None]) -> None:
        """Notes a call as sent."""
        if asked.call.settings.stand_in:
            self._under_way[asked] = _UnderWay(task, asyncio.get_running_loop().time())

    def end(self, asked: AskedCall) -> bool:
        """Notes a call as ended. True where it was cancelled here, so that a stand-in gets it."""
        under_way = self._under_way.pop(asked, None)
        return under_way is not None and under_way.given_up

    async def watch(self, on_outage: Callable[[str, str], None]) -> None:
        """Cancels calls whose endpoint is out of reach for too long, until the run ends. ``on_outage`` gets the
        endpoint's name and a sentence, once per outage."""
        reported: set[str] = set()
        while True:
            await asyncio.sleep(_CHECK_S)
            reported = {name for name in reported if self._lanes[name].endpoint.away_for > 0}
            now = asyncio.get_running_loop().time()
            for asked, under_way in list(self._under_way.items()):
                settings, name = asked.call.settings, asked.lane.endpoint.name
                waited = now - under_way.since >= _after(settings)
                if under_way.given_up or not waited or not self._out_of_reach(asked.lane, settings):
                    continue
                if not any(self._can_ask(stand_in) for stand_in in stand_ins(settings)):
                    continue
                self._try_at[name] = now + max(_after(settings), _CHECK_S)
                under_way.given_up = True
                under_way.task.cancel()
                if name not in reported:
                    reported.add(name)
                    on_outage(
                        name, f"{name} not reached for {duration(asked.lane.endpoint.away_for)}. {self.words(name)}"
                    )

    def words(self, endpoint: str, model: str | None = None) -> str:
        """Where the calls to an endpoint, or to one of its models, go meanwhile; empty without stand-ins."""
        named = dict.fromkeys(f"{stand_in.endpoint}/{stand_in.model}" for stand_in in self._followers(endpoint, model))
        if not named:
            return ""
        return f"Calls go to the stand-in{'' if len(named) == 1 else 's'} {', '.join(named)}."

    def step_in(self, endpoint: str, model: str | None = None) -> None:
        """Lets pairs be taken up for the stand-ins of an endpoint that stopped, or of one model of it, before any call
        was chosen to go there."""
        for settings in self._followers(endpoint, model):
            self._lanes[settings.endpoint or ""].spare = False

    def _followers(self, endpoint: str, model: str | None) -> list[Settings]:
        """The stand-ins of an endpoint, or of one model of it."""
        return [
            follower
            for settings in self._settings
            if settings.endpoint == endpoint and model in (None, settings.model)
            for follower in stand_ins(settings)
        ]


def _after(settings: Settings) -> float:
    return settings.stand_in[0].after if settings.stand_in else STAND_IN_AFTER_S
