"""Which layers of a design are asked otherwise than in another one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judgenet.core.network import Aggregation, NetworkSpec, Settings, Wiring
from judgenet.core.network_changes import changed_layers
from judgenet.core.presets import network

SPEC = network(3, 3)


def with_layer(number: int, **changes: object) -> NetworkSpec:
    layers = list(SPEC.layers)
    layers[number - 1] = replace(layers[number - 1], **changes)  # type: ignore[arg-type]
    return replace(SPEC, layers=tuple(layers))


@pytest.mark.parametrize(
    ("other", "layers"),
    [
        (SPEC, set()),
        (replace(SPEC, name="Another name"), set()),
        (replace(SPEC, aggregation=Aggregation(vote="call", ties="candidate")), set()),
        (replace(SPEC, settings=Settings(temperature=0.7)), {1, 2, 3}),
        (replace(SPEC, orders="ab"), {1, 2, 3}),
        (replace(SPEC, evidence=not SPEC.evidence), {1, 2, 3}),
        (with_layer(2, settings=Settings(samples=3)), {2, 3}),
        (with_layer(3, wiring=Wiring("window", 1)), {3}),
        (replace(SPEC, layers=SPEC.layers[:2]), set()),
        (replace(SPEC, layers=(*SPEC.layers, SPEC.layers[-1])), {4}),
    ],
)
def test_a_layer_changes_with_all_that_it_rests_on(other: NetworkSpec, layers: set[int]) -> None:
    assert changed_layers(SPEC, other) == layers
