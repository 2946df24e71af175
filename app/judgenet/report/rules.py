"""The rules by which a report counts votes: those of the project in the store's folder, where there is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from judgenet.core.aggregate import aggregation_names
from judgenet.core.network import Aggregation
from judgenet.core.project import RULE
from judgenet.store.copies import project_beside
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo


@dataclass(frozen=True, slots=True)
class ProjectRules:
    """The rules of a project for a run: its rules of voting, ``None`` where its network has changed since, and the
    aggregation that gives the verdict, ``None`` where it names none that the run has."""

    aggregation: Aggregation | None
    decides: str | None


def project_rules(store: Path, run: RunInfo) -> ProjectRules:
    """The rules of the project beside a store; neither where there is no project that can be read."""
    project = project_beside(store)
    if project is None:
        return ProjectRules(None, None)
    spec = network_of(run)
    same = replace(project.network, aggregation=spec.aggregation, name=spec.name) == spec
    # A rule that accepts verdicts decides new runs, not the one whose labels it was chosen from.
    kept = replace(project.network.aggregation, acceptance=spec.aggregation.acceptance)
    rules = kept if same else None
    chosen = project.metadata.get(RULE)
    names = aggregation_names(replace(spec, aggregation=rules or spec.aggregation))
    return ProjectRules(rules, chosen if chosen in names else None)
