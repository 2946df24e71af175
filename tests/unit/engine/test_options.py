"""The options of a run as a value: checked wherever they come from."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from judgenet.core import presets
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import NetworkError, Settings
from judgenet.engine.options import OptionError, RunOptions, flag_of, option_info
from judgenet.engine.prepare import edited_network, limits_of, ready_network


def test_every_option_has_a_help_text_and_a_flag_of_its_own() -> None:
    flags = [flag_of(of) for of in fields(RunOptions)]
    assert len(set(flags)) == len(flags)
    assert all(option_info(of).help for of in fields(RunOptions))
    assert flag_of(next(of for of in fields(RunOptions) if of.name == "api_key_env")) == "--api-key-env"


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("depth", 0, "--depth 0"),
        ("samples", -1, "--samples -1"),
        ("budget", -0.5, "--budget -0.5"),
        ("budget", float("nan"), "--budget nan"),
        ("concurrency", 0, "--concurrency 0"),
        ("width", "three", "--width three: a whole number of 1 or more, or 'auto'."),
        ("temperature", "hot", "--temperature hot: a number from 0 to 2, or 'default'."),
        ("temperature", "2.5", "--temperature 2.5"),
        ("price", "1", "--price 1: two prices of 0 or more"),
        ("price", "1,nan", "--price 1,nan"),
        ("project", Path("pairs.jsonl"), "pairs.jsonl is not a project"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_the_options_name(name: str, value: Any, named: str) -> None:
    with pytest.raises(OptionError) as error:
        RunOptions(**{name: value})
    assert str(error.value).startswith(named)


def test_options_change_the_network_and_leave_the_rest_of_it() -> None:
    before = presets.network(3, 2, samples=2)
    after = edited_network(before, RunOptions(width="2", depth=3, orders="ab", temperature="0.5", chair=True))
    assert [len(layer.neurons) for layer in after.layers] == [2, 2, 2]
    assert (after.orders, after.settings.temperature, after.settings.samples) == ("ab", 0.5, 2)
    assert after.chair is not None
    assert edited_network(before, RunOptions()) == before


def test_limits_are_those_of_the_options() -> None:
    limits = limits_of(RunOptions(max_calls=3, token_budget=40, budget=0.5))
    assert (limits.max_calls, limits.max_tokens, limits.max_price) == (3, 40, 0.5)


def test_a_missing_model_is_asked_for_in_the_users_words() -> None:
    profile = EndpointProfile("lab", kind="openai", base_url="http://127.0.0.1:1/v1")
    spec = presets.network(1, 1, roles="none", settings=Settings(endpoint="lab"))
    with pytest.raises(NetworkError, match="Name it: --model MODEL"):
        ready_network(spec, {"lab": profile})
    with pytest.raises(NetworkError, match="Name it: model=…"):
        ready_network(spec, {"lab": profile}, "model=…")
