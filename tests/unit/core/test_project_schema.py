"""The project file as its classes define it: files of version 0.1.0 to the letter, and the JSON Schema that ships."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from judgenet.assets import asset, example
from judgenet.core.checks import check
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import NetworkSpec
from judgenet.core.network_json import digest
from judgenet.core.presets import PRESETS
from judgenet.core.project import SCHEMA_FILE, PairsSource, Project, ProjectError, Selection, project_schema
from judgenet.core.values import names

KEPT = Path(__file__).parent / "version_0_1"
"""Projects that version 0.1.0 (commit d80e18e) wrote; ``everything`` has all members, and three that are unknown."""
DIGESTS = {
    "everything": "1f4c14a906e837d430b52aa8331faf1cdf709cba35cde599b1e620f5d62b1f85",
    "adaptive": "69a577b7fd739353a282e1292b892ac7c3c094288832f569ae590623dee166cd",
}
"""Of their networks, by version 0.1.0."""


def kept(name: str) -> str:
    return (KEPT / f"{name}.judgenet").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DIGESTS)
def test_a_project_of_version_0_1_is_written_as_it_was(name: str) -> None:
    project = Project.loads(kept(name))
    assert project.dumps() == kept(name)
    assert digest(project.network) == DIGESTS[name]
    assert not project.readonly


def test_its_values_are_those_that_it_was_made_of() -> None:
    project = Project.loads(kept("everything"))
    lab = next(profile for profile in project.endpoints if profile.name == "lab")
    assert lab == EndpointProfile(
        "lab",
        base_url="http://gpu:8000/v1",
        api_key="LAB_KEY",
        model="m",
        concurrency=64,
        requests_per_minute=600,
        deadline=90,
        retries=0,
        headers=(("X-Title", "t"),),
        structured="never",
    )
    assert project.pairs == PairsSource(
        ("pairs/a.csv", "pairs/b.csv"),
        "table",
        {"question": "prompt"},
        {"1": "a", "2": "b", "0": "tie", "?": None},
        {"seed": 4},
        Selection("per_task", 20, 9),
    )
    spec = project.network
    assert (spec.orders, spec.seed, spec.language, spec.family, spec.roles.limit) == ("random", 7, "en", "qa", 5)
    assert spec.roles.settings.temperature is None
    assert spec.layers[0].neurons[1].settings.temperature == 1.0
    assert [neuron.inputs for neuron in spec.layers[2].neurons] == [(0, 2), (0, 1, 2), (0, 1, 2)]
    rule = spec.aggregation.learned
    assert rule is not None
    assert (rule.widths, rule.prior, rule.neurons[1].weight) == ((3, 3, 3), (0.4, 0.4, 0.2), -0.25)
    unknown = {".".join(map(str, path)) for path, _ in project.extra}
    assert unknown == {"later", "network.layers.0.colour", "endpoints.lab.region"}


def test_a_project_of_a_newer_version_opens_for_reading() -> None:
    newer = json.loads(kept("everything")) | {"schema": 9, "requires": "9.0.0"}
    project = Project.loads(json.dumps(newer))
    assert (project.readonly, project.network) == (True, Project.loads(kept("everything")).network)
    with pytest.raises(ProjectError, match="read-only"):
        project.dumps()


# The schema


def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(asset(SCHEMA_FILE).read_text(encoding="utf-8"))
    return found


def valid(record: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema()).is_valid(record))


def test_the_schema_that_ships_is_that_of_the_classes() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema() == json.loads(json.dumps(project_schema())), "Write it anew: python packaging/project_schema.py"


def test_the_schema_names_every_member() -> None:
    defined = schema()["$defs"]
    assert set(defined["NetworkSpec"]["properties"]) == {"network", *names(NetworkSpec)}
    assert set(schema()["properties"]) == {"schema", "requires", *names(Project)}


@pytest.mark.parametrize("name", DIGESTS)
def test_projects_are_valid_by_the_schema(name: str) -> None:
    assert valid(json.loads(kept(name)))


def test_presets_and_examples_are_valid_by_the_schema() -> None:
    for preset in PRESETS.values():
        assert check(preset.spec) == ()
        assert valid(json.loads(Project.new("x", preset.spec).dumps()))
    examples = [*example("").glob("*.judgenet")]
    assert examples
    for path in examples:
        assert valid(json.loads(path.read_text(encoding="utf-8")))


def at(*path: str | int, to: Any) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(kept("everything"))
    owner: Any = record
    for step in path[:-1]:
        owner = owner[step]
    if to is None:
        del owner[path[-1]]
    else:
        owner[path[-1]] = to
    return record


@pytest.mark.parametrize(
    ("path", "to"),
    [
        (("salt",), "short"),
        (("name",), None),
        (("network", "layers"), None),
        (("network", "layers", 0, "neurons", 1, "role", "name"), 3),
        (("network", "layers", 2, "neurons", 0, "inputs"), [-1]),
        (("network", "layers", 1, "wiring", "kind"), "ring"),
        (("network", "orders"), "AB"),
        (("network", "settings", "temperature"), "hot"),
        (("network", "aggregation", "learned", "neurons", 0, "layer"), 0),
        (("network", "network"), 2),
        (("endpoints", "lab", "concurrency"), 0),
        (("endpoints", "lab", "deadline"), 0),
        (("endpoints", "lab", "headers", "X-Title"), 1),
        (("endpoints", "lab", "kind"), "opnai"),
        (("pairs", "files"), []),
        (("pairs", "labels", "1"), "x"),
        (("pairs", "selection", "kind"), "some"),
        (("prompts", "judge"), ["a"]),
    ],
)
def test_what_the_schema_refuses_the_program_refuses_with_its_path(path: tuple[str | int, ...], to: Any) -> None:
    record = at(*path, to=to)
    assert not valid(record)
    with pytest.raises(ProjectError) as refused:
        Project.loads(json.dumps(record))
    shown = ""
    for step in path:
        shown += f"[{step}]" if isinstance(step, int) else f".{step}" if shown else step
    assert str(refused.value).startswith(shown)
