"""The models that a server lists."""

from __future__ import annotations

import asyncio
from pathlib import Path

from judgenet.core.endpoints import EndpointProfile
from judgenet.engine.embedded_model import model_name
from judgenet.engine.endpoints import EndpointError, key_finder, require_approved
from judgenet.engine.exchange import Exchange
from judgenet.engine.providers import provider_for
from judgenet.engine.providers.common import NotAnAnswer, model_names
from judgenet.engine.providers.errors import Fault


async def server_models(profile: EndpointProfile, folder: Path | None, salt: str) -> tuple[str, ...]:
    """The names of the models that an endpoint's server lists, in its order. This costs nothing.

    ``folder`` and ``salt`` are those of the project that names the endpoint (``None`` and empty where none does).

    :raises NotApproved: the endpoint was not approved; nothing is sent.
    :raises EndpointError: the server has no such list, or it cannot be read.
    :raises SecretError: the key cannot be read.
    """
    require_approved([profile.name], {profile.name: profile}, folder, salt)
    if profile.kind == "embedded":
        return (model_name(profile.source),)
    if profile.kind == "replay":
        raise EndpointError(f"{profile.name} replays a recorded run; there is no server that lists models.")
    try:
        provider = provider_for(profile)
    except ValueError as error:
        raise EndpointError(str(error)) from None
    address = provider.models_url()
    if address is None:
        raise EndpointError(f"{profile.name}: this API does not list its models. Enter the name of your deployment.")
    exchange = Exchange(profile, provider)
    try:
        key = await asyncio.to_thread(key_finder(profile, folder))
        exchange.set_key(key or "")
        answer = await exchange.get(address)
        if isinstance(answer, Fault):
            raise EndpointError(answer.text)
        try:
            names = model_names(answer)
        except NotAnAnswer as problem:
            raise EndpointError(exchange.say(f"the answer is {problem}", "Enter the name of a model.")) from None
    finally:
        await exchange.close()
    if not names:
        raise EndpointError(exchange.say("the server lists no models", "Load one there, or enter a name."))
    return tuple(names)
