"""Tests an endpoint with one small call: whether it answers, and what it supports."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from judgenet.core.calls import further_settings
from judgenet.core.endpoint_extra import with_extra_of
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.network import DEFAULTS, Settings
from judgenet.core.pictures import PairPicture, takes_no_pictures
from judgenet.core.schemas import ReplyForm, judge_schema
from judgenet.engine.client import HttpEndpoint, open_endpoint
from judgenet.engine.embedded import EmbeddedEndpoint
from judgenet.engine.endpoints import key_finder, require_approved
from judgenet.engine.ports import CallFailed, ChatReply, ChatRequest, FormRefused, OnState, ReplySchema, SentPicture
from judgenet.formats.pictures import look

_SYSTEM = "You compare two responses to a question."
_QUESTION = "Question: How much is 1 + 1?\n\nResponse 1: 2\n\nResponse 2: 3\n\n"
_TASK = "Say in one sentence which response is right, then give each a whole score from 1 to 10."
_EVIDENCE_CHARS = 200
_PICTURE = "<<picture 1>>"
_LOOK = "Begin with the colour of the picture in one English word. "
_COLORS = {"red": "#e00000", "green": "#00a000", "blue": "#0000e0", "yellow": "#ffe000"}
_EDGE = 224


@dataclass(frozen=True, slots=True)
class EndpointProbe:
    """The result of the test call.

    ``reply`` is the answer, or ``reason`` and ``message`` say why there is none. ``form`` is the reply form that was
    used in the end, ``learned`` what the endpoint refused and what is sent instead. ``sees`` says whether the answer
    names the colour of the picture; ``None`` where none was sent, or there is no answer.
    """

    endpoint: str
    model: str
    form: str
    reply: ChatReply | None = None
    reason: Reason | None = None
    message: str = ""
    learned: tuple[tuple[str, Any], ...] = ()
    sees: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """The probe as JSON-able values."""
        record: dict[str, Any] = {
            "endpoint": self.endpoint,
            "model": self.model,
            "ok": self.reply is not None,
            "form": self.form,
            "learned": dict(self.learned),
            "sees_pictures": self.sees,
        }
        if self.reply is None:
            return record | {"reason": self.reason and self.reason.value, "message": self.message}
        return record | {
            "returned_model": self.reply.model,
            "text": self.reply.text,
            "finish_reason": self.reply.finish_reason,
            "usage": asdict(self.reply.usage),
            "latency_s": round(self.reply.latency_s, 3),
            "attempts": self.reply.attempts,
        }


async def probe(
    profile: EndpointProfile,
    model: str,
    folder: Path | None,
    salt: str,
    on_state: OnState | None = None,
    settings: Settings | None = None,
    *,
    picture: bool = False,
) -> EndpointProbe:
    """Opens the endpoint, makes one call, and closes it. ``folder`` and ``salt`` are those of the project that names it
    (``None`` and empty where none does). ``settings`` may ask for reasoning and have further fields. With ``picture``
    a small picture goes with the question, whose colour the answer must name: some servers accept pictures and ignore
    them.

    :raises ValueError: for an endpoint that takes no calls (a replay).
    :raises NotApproved: the endpoint was not approved; nothing is sent.
    """
    require_approved([profile.name], {profile.name: profile}, folder, salt)
    if picture and takes_no_pictures(profile.kind, model):
        words = f"{profile.name}: {model} takes no pictures. Choose another model for pairs with pictures."
        return EndpointProbe(profile.name, model, "", None, Reason.BAD_REQUEST, words)
    color = random.choice(tuple(_COLORS)) if picture else ""
    endpoint: HttpEndpoint | EmbeddedEndpoint
    if profile.kind == "embedded":
        endpoint = EmbeddedEndpoint(profile, on_state=on_state)
    else:
        endpoint = open_endpoint(profile, key=key_finder(profile, folder), on_state=on_state)
    in_force = replace(settings or Settings(), endpoint=profile.name)
    more = further_settings(with_extra_of(in_force, {profile.name: profile}))
    reply: ChatReply | None = None
    reason: Reason | None = None
    message = ""
    try:
        while reply is None:
            form = endpoint.form(model)
            try:
                reply = await endpoint.chat(_request(model, form, color, more))
            except FormRefused:
                if form == "text":
                    raise
    except CallFailed as error:
        reason, message = error.reason, str(error)
    finally:
        form, learned = endpoint.form(model), endpoint.learned(model)
        await endpoint.close()
    sees = color in reply.text.lower() if picture and reply is not None else None
    return EndpointProbe(profile.name, model, form, reply, reason, message, tuple(learned.items()), sees)


def _request(model: str, form: ReplyForm, color: str, more: Mapping[str, Any]) -> ChatRequest:
    """The test call; ``color`` is that of its picture, empty without one."""
    return ChatRequest(
        model=model,
        system=_SYSTEM,
        shared=_QUESTION + (f"{_PICTURE}\n\n" if color else ""),
        own=(_LOOK if color else "") + _TASK,
        pictures=(_colored(color),) if color else (),
        form=form,
        schema=ReplySchema("probe", judge_schema(max_evidence=_EVIDENCE_CHARS)) if form == "json" else None,
        temperature=0.0,
        max_tokens=DEFAULTS.max_tokens or 1024,
        more=more,
        site="probe",
    )


def _colored(color: str) -> SentPicture:
    """A small picture of one colour, with its mark."""
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (_EDGE, _EDGE), _COLORS[color]).save(out, "PNG")
    facts = look(out.getvalue())
    known = PairPicture(facts.sha256, facts.media, facts.width, facts.height, facts.size)
    return SentPicture(_PICTURE, facts.media, base64.b64encode(out.getvalue()).decode("ascii"), known)
