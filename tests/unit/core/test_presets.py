"""Ready designs and what the command line asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from judgenet.core.design import set_depth, set_width
from judgenet.core.network import (
    DEFAULTS,
    ChairSpec,
    NetworkError,
    Role,
    Settings,
    Wiring,
    neuron_settings,
)
from judgenet.core.plan import count_calls
from judgenet.core.presets import PRESETS, network, panel, parse_size, renamed
from tests.short_forms import with_settings


@pytest.mark.parametrize(
    ("key", "calls"),
    [
        ("single", 1),
        ("single-evidence", 1),
        ("faireval", 6),
        ("jury", 1 + 8 * 2),
        ("widedeep-no-roles", 4 * 2 * 2),
        ("review", 1 + 3 * 2 * 2 + 2),
        ("panel", 3 * 2),
    ],
)
def test_calls_of_the_presets(key: str, calls: int) -> None:
    assert count_calls(PRESETS[key].spec).total == calls


def test_what_makes_the_presets() -> None:
    assert (PRESETS["single"].spec.evidence, PRESETS["single-evidence"].spec.evidence) == (False, True)
    widedeep = PRESETS["widedeep"].spec
    assert [(layer.width, layer.wiring.kind) for layer in widedeep.layers] == [(None, "full")] * 2
    assert (widedeep.roles.kind, widedeep.orders) == ("generated", "both")
    assert count_calls(widedeep, 4).total == 1 + 4 * 2 * 2
    assert all(preset.title and preset.description for preset in PRESETS.values())


def test_a_network_for_the_command_line() -> None:
    spec = network(4, 3, wiring="window", window=2, samples=2, orders="random", seed=7, settings=Settings(model="m"))
    assert [layer.wiring for layer in spec.layers] == [Wiring(), Wiring("window", 2), Wiring("window", 2)]
    assert spec.settings == replace(DEFAULTS, model="m", samples=2)
    assert (spec.orders, spec.seed, spec.name) == ("random", 7, "4×3")
    fixed = network(None, 1, roles=[Role("Truth"), Role("Form")])
    assert (fixed.roles.kind, fixed.layers[0].adaptive, count_calls(fixed).total) == ("fixed", True, 4)


def test_a_panel_has_a_model_a_neuron() -> None:
    spec = panel([Settings("lab", "m1"), Settings("work", "m2")], depth=2)
    assert [(neuron_settings(spec, 1, place).endpoint, neuron_settings(spec, 1, place).model) for place in (0, 1)] == [
        ("lab", "m1"),
        ("work", "m2"),
    ]


@pytest.mark.parametrize(
    ("width", "depth", "options", "complaint"),
    [
        (4, 0, {}, "one layer or more"),
        (0, 1, {}, "one neuron or more"),
        (None, 1, {"roles": "none"}, "decides the width"),
        (2, 1, {"roles": "fixed"}, "must be given"),
        (2, 1, {"roles": []}, "must be given"),
        (3, 1, {"roles": [Role("x")]}, "3 neurons a layer need as many roles, but there are 1"),
    ],
)
def test_networks_that_cannot_be(width: int | None, depth: int, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(NetworkError, match=complaint):
        network(width, depth, **options)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4x2", (4, 2)),
        ("12X1", (12, 1)),
        (" 3 × 4 ", (3, 4)),
        ("*x2", (None, 2)),
        ("nx3", (None, 3)),
    ],
)
def test_sizes(text: str, size: tuple[int | None, int]) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "4", "x2", "4x", "4*2", "-4x2", "4.5x2", "0x2", "4x0", "4x2x1"])
def test_texts_that_are_no_size(text: str) -> None:
    with pytest.raises(NetworkError, match="is no size"):
        parse_size(text)


def test_a_name_that_tells_the_size_follows_it() -> None:
    before = network(3, 2)
    assert before.name == "3×2"
    assert renamed(set_depth(before, 1), before).name == "3×1"
    assert renamed(set_width(before, 0, 4), before).name == "4+3"
    assert renamed(set_width(set_width(before, 0, None), 1, None), before).name == "n×2"
    named = replace(before, name="Mine")
    assert renamed(set_depth(named, 1), named).name == "Mine"


def test_a_preset_that_is_edited_is_named_by_its_shape() -> None:
    single = PRESETS["single"].spec
    deeper = renamed(set_depth(single, 2), single)
    assert deeper.name == "1×2, scores only"
    asking = replace(deeper, evidence=True)
    assert renamed(asking, deeper).name == "1×2"
    chaired = replace(network(3, 2), chair=ChairSpec())
    assert renamed(chaired, network(3, 2)).name == "3×2 with a chair"
    # Another model, seed, or length of answers makes no other design of it.
    for changes in ({"endpoint": "lab", "model": "judge"}, {"max_tokens": 400}):
        same = with_settings(single, **changes)
        assert renamed(same, single).name == "Single judge, scores only"
    assert renamed(replace(single, seed=7, language="en"), single).name == "Single judge, scores only"
    # Samples are what makes FairEval's judge.
    faireval = PRESETS["faireval"].spec
    assert renamed(with_settings(faireval, samples=1), faireval).name == "1×1"
    # A name that is given, before or with the edit, stays.
    given = replace(single, name="Baseline of May")
    assert renamed(set_depth(given, 3), given).name == "Baseline of May"
    assert renamed(replace(set_depth(single, 3), name="Mine"), single).name == "Mine"
