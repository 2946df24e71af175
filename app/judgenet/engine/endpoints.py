"""Opens endpoints by their profiles, whatever their kind."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from judgenet.core.endpoints import EndpointProfile
from judgenet.engine.ports import Endpoint, EndpointState
from judgenet.engine.replay import ReplayEndpoint
from judgenet.store.approvals import ApprovalNeed, endpoint_needs
from judgenet.store.db import Store
from judgenet.store.locate import find_store
from judgenet.store.secrets import find_key


class EndpointError(Exception):
    """An endpoint that cannot be opened; the message says what to do."""


class NotApproved(EndpointError):
    """A project needs something that this user has not approved; nothing was sent or read.

    ``needs`` are all such needs. ``project`` names the project for ``judgenet endpoint trust``.
    """

    def __init__(self, needs: Sequence[ApprovalNeed], project: Path | None = None) -> None:
        self.needs = tuple(needs)
        self.project = project
        wants = "; ".join(need.words for need in self.needs)
        place = "PROJECT" if project is None else shlex.quote(str(project))
        super().__init__(
            f"Nothing was sent or read. The project wants to {wants}. You have not approved that on this computer. "
            f"If you trust it, approve it with: judgenet endpoint trust {place}"
        )


def require_approved(
    names: Iterable[str],
    profiles: Mapping[str, EndpointProfile],
    folder: Path | None,
    salt: str,
    project: Path | None = None,
) -> None:
    """The gate before anything is sent: each of these endpoints was approved, or needs no approval.

    :raises NotApproved: one was not.
    """
    needs = endpoint_needs([profiles[name] for name in names], folder, salt)
    if needs:
        raise NotApproved(needs, project)


def key_finder(profile: EndpointProfile, folder: Path | None) -> Callable[[], str | None]:
    """A function that returns an endpoint's key when the first call needs it, ``None`` where there is none."""

    def find() -> str | None:
        key = find_key(profile.api_key, folder) if profile.api_key else None
        return None if key is None else key.reveal()

    return find


def open_endpoints(
    names: Iterable[str],
    profiles: Mapping[str, EndpointProfile],
    store: Store,
    folder: Path | None,
    on_state: Callable[[EndpointState], None],
    *,
    salt: str,
) -> dict[str, Endpoint]:
    """Opens the endpoints of a network. ``folder`` and ``salt`` are the project's. Must run on the engine's loop.

    :raises NotApproved: one of them was not approved.
    """
    names = tuple(names)
    require_approved(names, profiles, folder, salt)
    return open_approved(names, profiles, store, folder, on_state)


def open_approved(
    names: Iterable[str],
    profiles: Mapping[str, EndpointProfile],
    store: Store,
    folder: Path | None,
    on_state: Callable[[EndpointState], None],
) -> dict[str, Endpoint]:
    """As :func:`open_endpoints`, for endpoints that were approved already, here or on the computer that sent this one
    its work. Keys are looked up on this computer."""
    # The HTTP libraries load slowly, and nothing but a run needs them.
    from judgenet.engine.client import open_endpoint
    from judgenet.engine.embedded import EmbeddedEndpoint

    opened: dict[str, Endpoint] = {}
    for name in names:
        profile = profiles[name]
        if profile.kind == "embedded":
            opened[name] = EmbeddedEndpoint(profile, capabilities=store, on_state=on_state)
        elif profile.kind == "replay":
            opened[name] = ReplayEndpoint(name, Store.open(replay_store(profile), readonly=True), profile.concurrency)
        else:
            opened[name] = open_endpoint(
                profile, key=key_finder(profile, folder), capabilities=store, on_state=on_state
            )
    return opened


def replay_store(profile: EndpointProfile) -> Path:
    """The store that a replay endpoint answers from: its source is a store, a project or the folder of a run.

    :raises EndpointError: there is no store.
    """
    if not profile.source:
        raise EndpointError(f"The replay endpoint {profile.name} names no recorded run (source).")
    return find_store(Path(profile.source))
