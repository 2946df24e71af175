"""Makes a project of the network of a run, with the endpoints, prompts and prices that it names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.project import Project, ProjectError
from judgenet.store.files import load_project
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo
from judgenet.store.settings import profiles


def project_path(store: Path) -> Path:
    """The path of the project file to which a store belongs."""
    return store.with_name(store.name.removesuffix(".db"))


def project_beside(store: Path) -> Project | None:
    """The project file to which a store belongs, ``None`` where it is not there or cannot be read."""
    try:
        return load_project(project_path(store))
    except ProjectError:
        return None


def named_endpoints(run: RunInfo, beside: Project | None) -> tuple[EndpointProfile, ...]:
    """The profiles that the network of a run names, beyond the user's own: from the project beside its store, else from
    what the run's record says of them (their addresses; the names of their keys are not in it)."""
    used: dict[str, dict[str, Any]] = run.record.get("endpoints", {})
    by_name = {profile.name: profile for profile in (beside.endpoints if beside else ()) if profile.name in used}
    known = profiles((), None)
    for name, described in used.items():
        if name not in by_name and name not in known and described.get("base_url"):
            by_name[name] = EndpointProfile(
                name, described["kind"], described["base_url"], concurrency=described.get("concurrency", 16)
            )
    return tuple(by_name.values())


def copied_network(store: Path, run: RunInfo, name: str) -> Project:
    """A project called ``name`` with the network of a run and all that this names; it has no pairs, and its paths are
    relative to the store's folder. Its salt is that of the run's project, so that a recorded run answers it and what
    the user approved stays approved."""
    beside = project_beside(store)
    project = Project.new(name, network_of(run))
    if beside is not None:
        project = replace(project, salt=beside.salt, prompts=beside.prompts, prices=beside.prices)
    return replace(project, endpoints=named_endpoints(run, beside))
