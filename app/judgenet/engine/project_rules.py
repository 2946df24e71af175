"""Writes aggregation rules learned from a run into the network of a project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from judgenet.core.acceptance import acceptance_misfit, asks_otherwise
from judgenet.core.aggregate import verdict_names
from judgenet.core.endpoint_extra import with_endpoint_extra
from judgenet.core.network import AcceptanceRule, Aggregation, NetworkSpec
from judgenet.core.project import PROJECT_SUFFIX, ProjectError, rebased
from judgenet.store.approvals import carry
from judgenet.store.copies import copied_network
from judgenet.store.db import Store
from judgenet.store.project_file import ProjectFile
from judgenet.store.runs import RunInfo
from judgenet.store.settings import profiles


def save_rules(
    store: Store,
    run: RunInfo,
    project: Path,
    change: Callable[[Aggregation], Aggregation],
    misfit: Callable[[NetworkSpec], str],
) -> None:
    """Changes the aggregation rules of a project, which is made with the run's network where there is none yet.

    ``misfit`` says why its network cannot have the changed rules; empty where it can.

    :raises ProjectError: it cannot be written, or its network is not that of the run.
    :raises SettingsError: the user's settings cannot be read.
    """
    if project.suffix != PROJECT_SUFFIX:
        raise ProjectError("", f"the name of a project ends in {PROJECT_SUFFIX}.")
    file = ProjectFile(project)
    folders = store.path.absolute().parent, project.absolute().parent
    copied = None if project.exists() else copied_network(store.path, run, project.stem)
    before = file.load() if copied is None else rebased(copied, *folders)
    if before.readonly:
        raise ProjectError("", before.notice)
    network = replace(before.network, aggregation=change(before.network.aggregation))
    # A run records the further fields of its endpoints with its network, a project beside it.
    known = profiles(before.endpoints, project.absolute().parent)
    if why := misfit(with_endpoint_extra(network, known)):
        raise ProjectError(
            "",
            f"its network is not that of {run.id}, and nothing was written. {why} Save into a project with the network "
            "of the run, or into a new file.",
        )
    file.save(replace(before, network=network))
    if copied is not None:
        carry(copied, *folders)


def save_acceptance(store: Store, run: RunInfo, rule: AcceptanceRule, project: Path) -> None:
    """Writes the acceptance rule into the network of a project, which is made from the run's where there is none yet.

    :raises ProjectError: the project cannot be written, or its network makes other calls than the run's.
    """
    save_rules(store, run, project, lambda rules: replace(rules, acceptance=rule), acceptance_why_not)


def acceptance_why_not(network: NetworkSpec) -> str:
    """Why the guarantee of an acceptance rule does not hold for a network; empty where it does."""
    if why := acceptance_misfit(network, verdict_names(network)):
        return why
    return "Its models, prompts or settings differ from those of the run." if asks_otherwise(network) else ""
