"""What makes two runs different judges, from runs as they are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.design import override, set_depth
from judgenet.core.network import (
    Aggregation,
    ChairSpec,
    LearnedRule,
    NetworkSpec,
    NeuronWeight,
    Role,
    RolesSpec,
)
from judgenet.core.network_changes import network_changes
from judgenet.core.network_json import to_json
from judgenet.core.presets import network
from judgenet.figures import judges
from judgenet.figures.judges import judges_warning, what_differs
from judgenet.store.db import Store
from judgenet.store.runs import RunInfo
from judgenet.store.usage import ModelUse

PLAIN = replace(network(2, 2), settings=replace(network(2, 2).settings, endpoint="lab", model="judge"))
RULE = LearnedRule("nonnegative", (NeuronWeight(1, 1, None, 1.0),), (2, 2), run="r1")


@dataclass(frozen=True)
class Answered:
    """A run's network, prompts, and the (model asked, model that answered) of its calls."""

    spec: NetworkSpec = PLAIN
    prompts: str = "p1"
    models: tuple[tuple[str, str | None], ...] = (("judge", "judge-1"),)


@pytest.fixture
def differ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., dict[str, tuple[str, str]]]]:
    """What differs of two such runs."""
    answered: dict[str, Answered] = {}

    def used(_: Store, run: RunInfo) -> list[ModelUse]:
        models = answered[run.id].models
        return [ModelUse("lab", asked, returned, None, 1, 0, 0, 0.0, 0, 0.0) for asked, returned in models]

    monkeypatch.setattr(judges, "models_used", used)
    with Store.open(tmp_path / "runs.db") as store:

        def found(one: Answered, other: Answered, **more: Any) -> dict[str, tuple[str, str]]:
            answered.update(one=one, other=other)
            runs = [
                RunInfo(name, place, "", 0.0, None, "done", "", {"network": to_json(of.spec), "prompts": of.prompts})
                for place, (name, of) in enumerate(answered.items())
            ]
            return what_differs((store, runs[0]), (store, runs[1]), **more)

        yield found


Differ = Callable[..., dict[str, tuple[str, str]]]


def test_the_same_judge_differs_in_nothing(differ: Differ) -> None:
    assert differ(Answered(), Answered()) == {}
    assert judges_warning({}) == ""
    renamed = replace(PLAIN, name="Another name")
    learned = replace(PLAIN, aggregation=replace(PLAIN.aggregation, learned=RULE))
    assert differ(Answered(), Answered(renamed)) == {}
    assert differ(Answered(), Answered(learned), aggregations=("c1", "c1")) == {}


@pytest.mark.parametrize(
    ("spec", "change"),
    [
        (set_depth(PLAIN, 1), ("number of layers", "2", "1")),
        (replace(PLAIN, orders="ab"), ("orders", "both", "ab")),
        (replace(PLAIN, roles=RolesSpec("fixed", roles=(Role("A"), Role("B")))), ("roles", "generated", "fixed")),
        (replace(PLAIN, evidence=False), ("evidence", "asked for", "not asked for")),
        (replace(PLAIN, chair=ChairSpec()), ("chair", "none", "a chair")),
        (replace(PLAIN, language="zh"), ("language", "auto", "zh")),
        (override(PLAIN, "network", temperature=0.7), ("temperature", "default", "0.7")),
        (override(PLAIN, (0, 1), samples=3), ("samples of neuron 2 of layer 1", "inherited", "3")),
        (replace(PLAIN, aggregation=Aggregation(ties="candidate")), ("tied voters", "abstain", "candidate")),
    ],
)
def test_another_network(differ: Differ, spec: NetworkSpec, change: tuple[str, str, str]) -> None:
    found = differ(Answered(), Answered(spec))
    assert list(found) == ["network"]
    what, before, after = change
    for words, value in zip(found["network"], (before, after), strict=True):
        assert f"{what}: {value}" in words
    assert "(network)" in judges_warning(found)


def test_each_difference_is_named_with_both_values() -> None:
    roles = (Role("Accuracy", "Is it right?"), Role("Fluency"))
    one = replace(PLAIN, roles=RolesSpec("fixed", roles=roles))
    other = replace(one, roles=replace(one.roles, roles=(replace(roles[0], description="True?"), Role("Clarity"))))
    assert network_changes(one, other) == (
        ("description of the role of neuron 1 (Accuracy)", "Is it right?", "True?"),
        ("role of neuron 2", "Fluency", "Clarity"),
    )
    own = override(PLAIN, (1, 0), model="small")
    assert network_changes(PLAIN, own) == (("model of neuron 1 of layer 2", "inherited", "small"),)
    assert network_changes(PLAIN, own, models=False) == ()
    assert network_changes(one, replace(one, name="Another name")) == ()


def test_other_models_prompts_and_answering_models(differ: Differ) -> None:
    other = override(PLAIN, "network", model="judge-2")
    assert differ(Answered(), Answered(other, models=(("judge-2", "judge-1"),))) == {
        "model": ("lab:judge", "lab:judge-2")
    }
    assert differ(Answered(), Answered(prompts="p2")) == {"prompts": ("p1", "p2")}
    assert differ(Answered(), Answered(models=(("judge", None),))) == {"returned_model": ("judge-1", "(not named)")}
    # An update in the middle of a run.
    two = differ(Answered(), Answered(models=(("judge", "judge-1"), ("judge", "judge-1b"))))
    assert two == {"returned_model": ("judge-1", "judge-1, judge-1b")}
    many = differ(Answered(), Answered(set_depth(other, 1), "p2", (("judge-2", "judge-2"),)))
    assert list(many) == ["network", "prompts", "model", "returned_model"]
    assert "network, prompts, model, returned model" in judges_warning(many)
    assert "not comparable" in judges_warning(many)


def test_the_same_models_asked_by_other_neurons(differ: Differ) -> None:
    one, other = (override(PLAIN, (0, place), model="small") for place in (0, 1))
    models = (("judge", "judge"), ("small", "small"))
    found = differ(Answered(one, models=models), Answered(other, models=models))
    assert list(found) == ["network"]


def test_other_aggregations(differ: Differ) -> None:
    found = differ(Answered(), Answered(), aggregations=("c1", "c2_all"))
    assert found == {"aggregation": ("c1*", "c2*(all)")}
    specs = [
        replace(PLAIN, aggregation=replace(PLAIN.aggregation, learned=rule))
        for rule in (RULE, replace(RULE, kind="any_sign", run="r2"))
    ]
    found = differ(Answered(specs[0]), Answered(specs[1]), aggregations=("learned", "learned"))
    assert found == {"aggregation": ("Learned (nonnegative, from r1)", "Learned (any sign, from r2)")}
    assert differ(Answered(specs[0]), Answered(specs[0]), aggregations=("learned", "learned")) == {}
