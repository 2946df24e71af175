"""Opens endpoints by their profiles, whatever their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from judgenet.core.endpoints import EndpointProfile
from judgenet.engine.ports import Endpoint, EndpointState
from judgenet.engine.replay import ReplayEndpoint
from judgenet.store.db import Store
from judgenet.store.locate import find_store
from judgenet.store.secrets import find_key


class EndpointError(Exception):
    """An endpoint that cannot be opened; the message says what to do."""


def open_endpoints(
    names: Iterable[str],
    profiles: Mapping[str, EndpointProfile],
    store: Store,
    folder: Path | None,
    on_state: Callable[[EndpointState], None],
) -> dict[str, Endpoint]:
    """Opens the endpoints of a network. Must run on the engine's loop."""
    # The HTTP libraries load slowly, and nothing but a run needs them.
    from judgenet.engine.client import open_endpoint
    from judgenet.engine.embedded import EmbeddedEndpoint

    def key_of(profile: EndpointProfile) -> Callable[[], str | None]:
        def find() -> str | None:
            found = find_key(profile.api_key, folder) if profile.api_key else None
            return None if found is None else found.reveal()

        return find

    opened: dict[str, Endpoint] = {}
    for name in names:
        profile = profiles[name]
        if profile.kind == "embedded":
            opened[name] = EmbeddedEndpoint(profile, capabilities=store, on_state=on_state)
        elif profile.kind == "replay":
            opened[name] = ReplayEndpoint(name, Store.open(replay_store(profile), readonly=True), profile.concurrency)
        else:
            opened[name] = open_endpoint(profile, key=key_of(profile), capabilities=store, on_state=on_state)
    return opened


def replay_store(profile: EndpointProfile) -> Path:
    """The store that a replay endpoint answers from: its source is a store, a project or the folder of a run.

    :raises EndpointError: there is no store.
    """
    if not profile.source:
        raise EndpointError(f"The replay endpoint {profile.name} names no recorded run (source).")
    return find_store(Path(profile.source))
