"""The definitions of the experiments: shapes, shared networks, and how many calls they come to."""

from __future__ import annotations

import pytest

from judgenet.core.experiments import EXPERIMENTS, Choices, budget_layers, calls_alone, make
from judgenet.core.network import NetworkError, Settings

CHOICES = Choices(settings=Settings(endpoint="e", model="m"))


def test_every_preset_can_be_made_and_its_rows_have_their_arms() -> None:
    assert set(EXPERIMENTS) == {
        "main-table",
        "width-depth",
        "roles",
        "neuron-budget",
        "word-clouds",
        "annotation-saving",
        "baselines",
    }
    for key in EXPERIMENTS:
        found = make(key, CHOICES)
        arms = {arm.key for arm in found.arms}
        assert {row.arm for row in found.rows} <= arms
        assert len({row.key for row in found.rows}) == len(found.rows)
        for row in found.rows:
            assert row.against is None or found.row(row.against)
            # A row is read of its arm: no deeper, no wider, no more samples.
            spec = found.arm(row.arm).spec
            assert row.network.depth <= spec.depth
            assert (row.network.settings.samples or 1) <= (spec.settings.samples or 1)
            assert (row.network.settings.endpoint, row.network.settings.model) == ("e", "m")


@pytest.mark.parametrize(
    ("neurons", "layers"), [(1, (1,)), (2, (1, 1)), (3, (2, 1)), (4, (2, 2)), (5, (3, 2)), (9, (5, 4)), (10, (5, 5))]
)
def test_an_odd_budget_takes_one_neuron_from_layer_2(neurons: int, layers: tuple[int, ...]) -> None:
    assert budget_layers(neurons) == layers


@pytest.mark.parametrize(("most", "widest"), [(1, (1,)), (2, (1, 1)), (5, (3, 2)), (6, (3, 3))])
def test_the_largest_budget_is_run_with_no_neuron_too_many(most: int, widest: tuple[int, ...]) -> None:
    found = make("neuron-budget", Choices(settings=CHOICES.settings, budget=most))
    shapes = [tuple(len(of.neurons) for of in arm.spec.layers) for arm in found.arms[1:]]
    assert shapes[0] == widest
    assert shapes[1:] == [(width, width) for width in range(widest[0] - 1, 0, -1)]
    assert {row.x for row in found.rows} == set(range(1, most + 1))
    assert found.arms[0].spec.settings.samples == most


def test_a_sweep_runs_once_a_width_and_the_widest_first() -> None:
    found = make("width-depth", Choices(settings=CHOICES.settings, widths=(1, 2, 4), depths=(1, 3)))
    assert [arm.key for arm in found.arms] == ["n4", "n2", "n1"]
    assert {arm.spec.depth for arm in found.arms} == {3}
    assert {arm.spec.roles.limit for arm in found.arms} == {4}
    assert len(found.rows) == 3 * 2 * 2


def test_calls_alone_are_those_of_each_network_by_itself() -> None:
    sweep = make("width-depth", Choices(settings=CHOICES.settings, widths=(1, 2), depths=(1, 2)))
    # Roles, and both orders of every neuron: (1 + 2) + (1 + 4) + (1 + 4) + (1 + 8).
    assert calls_alone(sweep, {"n1": 2, "n2": 2}) == 22
    table = make("main-table", CHOICES)
    assert calls_alone(table, {"faireval": 0, "widedeep": 5}) == 6 + 1 + 2 * 2 * 5
    without = make("roles", CHOICES)
    widths = {"roles": 4, "no-roles": 4, "roles-wide": 6, "no-roles-wide": 6}
    assert calls_alone(without, widths) == (1 + 16) + 16 + (1 + 24) + 24


def test_what_cannot_be_an_experiment_is_said() -> None:
    with pytest.raises(NetworkError, match="There are: main-table"):
        make("table-9", CHOICES)
    with pytest.raises(NetworkError, match="widths of an experiment begins at 1"):
        make("width-depth", Choices(widths=(0, 2)))
    with pytest.raises(NetworkError, match="width of an experiment begins at 1"):
        make("main-table", Choices(width=0))
