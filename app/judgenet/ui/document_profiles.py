"""The endpoints that a project can use."""

from __future__ import annotations

from pathlib import Path

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.project import Project
from judgenet.store.settings import SettingsError, builtin_profiles, profiles
from judgenet.ui.errors import ErrorPort


def project_profiles(project: Project, folder: Path, errors: ErrorPort) -> dict[str, EndpointProfile]:
    """The endpoints of a project, the user and the program, by name. Where the user's settings cannot be read, this is
    reported, and those of the project and the program remain."""
    try:
        return profiles(project.endpoints, folder)
    except SettingsError as error:
        errors.post_exception(error)
        return {**builtin_profiles(), **{profile.name: profile for profile in project.endpoints}}
