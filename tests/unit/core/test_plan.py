"""Counts of calls, the price table, and what a run is estimated to cost."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from judgenet.core.design import set_role, set_settings, set_wiring
from judgenet.core.network import NeuronSpec, Role, RolesSpec, Settings
from judgenet.core.pairs import Pair
from judgenet.core.plan import (
    Guesses,
    Price,
    PriceError,
    PriceRange,
    PriceTable,
    Range,
    batch_price,
    bundled_prices,
    cost_of,
    count_calls,
    estimate,
    planned_calls,
    prices_from_json,
)
from judgenet.core.presets import network, panel

TABLE = PriceTable(
    (
        Price(endpoints=("embedded",), local=True),
        Price(("gpt-4o-2024-05-13",), input=5.0, output=15.0),
        Price(("gpt-4o",), input=2.5, cached=1.25, output=10.0),
        Price(("small-*",), input=1.0, output=2.0),
    ),
    "2026-01-01",
)


def test_the_script_needs_seventeen_calls_where_the_chain_is_three() -> None:
    """Two layers of four neurons in both orders, and the call for roles."""
    count = count_calls(network(4, 2))
    assert (count.roles, count.layers, count.chair, count.total) == (1, (8, 8), 0, 17)
    assert count.by_order == (("ab", 8), ("ba", 8))
    assert planned_calls(network(4, 2), 1000) == 17_000


def test_calls_of_other_designs() -> None:
    assert count_calls(network(3, 1, roles="none", orders="ab", samples=5)).layers == (15,)
    assert count_calls(network(3, 2, orders="random", chair=True)).by_order == (("random", 7),)
    assert count_calls(network(3, 2, samples=2, chair=True)).chair == 4
    assert count_calls(network(None, 2), 5).layers == (10, 10)
    assert count_calls(network(4, 2), 2).layers == (4, 4)
    assert count_calls(replace(network(4, 2), roles=RolesSpec(limit=3))).layers == (6, 6)
    own = set_role(network(1, 1), 0, 0, Role("Truth"))
    assert count_calls(own).total == 2
    more = set_settings(network(2, 1), (0, 1), Settings(samples=3))
    assert count_calls(more).layers == (2 * (1 + 3),)


def price_of(
    tokens_in: int, tokens_out: int, cached: int, model: str, table: PriceTable, endpoint: str = "", kind: str = ""
) -> float | None:
    price = table.find(model, endpoint, kind)
    return None if price is None else cost_of(price, tokens_in, tokens_out, cached)


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("gpt-4o", 2.5 + 1.0),
        ("GPT-4o", 2.5 + 1.0),
        ("openai/gpt-4o", 2.5 + 1.0),
        ("gpt-4o-2024-08-06", 2.5 + 1.0),
        ("openai/gpt-4o-latest", 2.5 + 1.0),
        ("gpt-4o-2024-05-13", 5.0 + 1.5),
        ("small-and-new", 1.0 + 0.2),
    ],
)
def test_prices_of_models(model: str, price: float) -> None:
    assert price_of(1_000_000, 100_000, 0, model, TABLE) == pytest.approx(price)


def test_cached_tokens_are_cheaper_where_the_table_says_so() -> None:
    assert price_of(1_000_000, 0, 400_000, "gpt-4o", TABLE) == pytest.approx(0.6 * 2.5 + 0.4 * 1.25)
    assert price_of(1_000_000, 0, 400_000, "small-one", TABLE) == pytest.approx(1.0)
    assert price_of(10, 0, 400_000, "gpt-4o", TABLE) == pytest.approx(10 * 1.25 / 1e6)


@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-4", "", "llama-3"])
def test_an_unknown_price_is_unknown(model: str) -> None:
    assert price_of(1000, 1000, 0, model, TABLE) is None
    assert price_of(1000, 1000, 0, model, TABLE, "ollama", "openai") is None


def test_only_what_the_table_calls_local_is_free() -> None:
    assert price_of(1000, 1000, 0, "", TABLE, "embedded", "embedded") == 0.0
    assert price_of(1000, 1000, 0, "any", TABLE, "my-demo", "embedded") == 0.0
    own = PriceTable((Price(("*",), ("Lab",), local=True),)).over(TABLE)
    assert price_of(1000, 1000, 0, "llama-3", own, "lab", "openai") == 0.0
    assert price_of(1000, 1000, 0, "llama-3", own, "elsewhere", "openai") is None


def test_own_prices_come_first() -> None:
    own = PriceTable((Price(("gpt-*",), input=1.0, output=1.0),), "2026-02-02").over(TABLE)
    assert price_of(1_000_000, 0, 0, "gpt-4o", own) == pytest.approx(1.0)
    assert price_of(1_000_000, 0, 0, "small-x", own) == pytest.approx(1.0)
    assert own.date == "2026-02-02"
    with pytest.raises(PriceError, match="in EUR"):
        PriceTable(currency="EUR").over(TABLE)


def test_the_table_that_comes_with_the_program() -> None:
    table = bundled_prices()
    assert (table.currency, len(table.date)) == ("USD", 10)
    assert all(price.as_of or price.local for price in table.prices)
    assert all(price.cached is None or price.cached < price.input < price.output for price in table.prices)
    assert price_of(5000, 5000, 0, "", table, "embedded", "embedded") == 0.0
    assert price_of(1_000_000, 1_000_000, 0, "gpt-4o-mini-2024-07-18", table) == pytest.approx(0.75)
    assert price_of(1_000_000, 0, 0, "claude-sonnet-4-20250514", table) == pytest.approx(3.0)
    assert price_of(1, 1, 0, "gpt-5.4-pro", table) is None
    named = [model for price in table.prices for model in price.models]
    assert len(named) == len(set(named))


def table_text(entry: Any, **members: Any) -> str:
    return json.dumps({"prices": 1, "date": "2026-01-01", "entries": [entry], **members})


def test_a_table_of_ones_own() -> None:
    text = table_text({"models": ["m"], "input": 1, "output": 2, "cached_input": 0.5, "note": "mine"})
    assert prices_from_json(text).prices == (Price(("m",), input=1, output=2, cached=0.5, note="mine"),)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "mine.json: not JSON"),
        (table_text({}), r"mine.json: entries\[0\]: names neither models nor endpoints"),
        (table_text({"models": ["m"], "input": 1}), r"entries\[0\]\.output: is missing"),
        (table_text({"models": ["m"], "input": -1, "output": 1}), r"entries\[0\]\.input: must be a price of 0 or more"),
        (table_text({"models": ["m"], "input": "1", "output": 1}), r"entries\[0\]\.input: must be a number"),
        (table_text({"models": "m", "input": 1, "output": 1}), r"entries\[0\]\.models: must be a list of texts"),
        (table_text({"models": ["m"], "local": True, "input": 1}), r"entries\[0\]\.input: a local model has no price"),
        (table_text({"models": ["m"], "local": "yes"}), r"entries\[0\]\.local: must be true or false"),
        (table_text({"models": ["m"], "inputs": 1}), r"entries\[0\]\.inputs: is not known; did you mean 'input'"),
        (table_text({"models": ["m"], "local": True}, prices=2), "prices: is version 2"),
        ("{}", "entries: must be a list"),
    ],
)
def test_tables_that_cannot_be_read(text: str, complaint: str) -> None:
    with pytest.raises(PriceError, match=complaint):
        prices_from_json(text, "mine.json")


PAIR = Pair("1", "q" * 10, "a" * 20, "b" * 30, reference="r" * 40)
GUESSES = Guesses(
    roles=(2, 3),
    roles_prompt=1000,
    judge_prompt=100,
    deeper_prompt=200,
    chair_prompt=10,
    role=1,
    heading=3,
    roles_answer=(5, 7),
    answer=(20, 50),
    bare_answer=(2, 4),
)


def hundred(*pairs: Pair, **options: Any) -> Any:
    """An estimate that counts a token a character."""
    return estimate(options.pop("spec"), pairs, TABLE, tokens=len, guesses=GUESSES, **options)


def test_tokens_of_a_flat_network() -> None:
    spec = network(2, 1, roles="none", settings=Settings("lab", "gpt-4o"))
    found = hundred(PAIR, PAIR, spec=spec)
    assert (found.pairs, found.calls, found.calls_open) == (2, Range(8, 8), Range(8, 8))
    assert found.tokens_in == Range(8 * (100 + 100), 8 * (100 + 100))
    assert found.tokens_out == Range(8 * 20, 8 * 50)
    assert found.price is not None
    assert found.price == pytest.approx(((1600 * 2.5 + 160 * 10) / 1e6, (1600 * 2.5 + 400 * 10) / 1e6))
    assert (found.currency, found.price_date, found.reason) == ("USD", "2026-01-01", "")


def test_tokens_of_a_deep_network_count_what_is_read() -> None:
    spec = network(2, 2, chair=True, settings=Settings("lab", "gpt-4o"))
    found = hundred(PAIR, spec=spec)
    texts = 100
    low = 1 * (1000 + texts)
    low += 4 * (100 + texts + 1)  # layer 1: its role
    low += 4 * (200 + texts + 1 + 2 + 2 * 2 * (3 + 20))  # layer 2: two neurons' roles, evaluations in both orders
    low += 2 * (10 + texts + 2 + 2 * 2 * (3 + 20))  # the chair
    assert found.calls == Range(1 + 4 + 4 + 2, 11)
    assert found.tokens_in.low == low
    assert found.tokens_in.high == low + (4 + 2) * 2 * 2 * 30
    assert found.tokens_out == Range(5 + 10 * 20, 7 + 10 * 50)


def test_windows_read_less() -> None:
    full = network(4, 2, roles="none")
    window = set_wiring(full, 1, "window", 1)
    difference = hundred(PAIR, spec=full).tokens_in.low - hundred(PAIR, spec=window).tokens_in.low
    assert difference == 2 * (16 - 10) * 2 * (3 + 20)


def test_roles_that_the_model_decides_make_a_range() -> None:
    found = hundred(PAIR, spec=network(None, 1, settings=Settings("lab", "gpt-4o")))
    assert found.calls == Range(1 + 2 * 2, 1 + 3 * 2)
    assert [count.total for count in found.per_pair] == [5, 7]
    assert found.tokens_in == Range(1100 + 4 * 201, 1100 + 6 * 201)
    assert found.price is not None
    assert found.price.low < found.price.high


def test_answers_within_their_limit_and_without_evidence() -> None:
    short = network(1, 1, roles="none", settings=Settings(max_tokens=30))
    assert hundred(PAIR, spec=short).tokens_out == Range(2 * 20, 2 * 30)
    assert hundred(PAIR, spec=replace(short, evidence=False)).tokens_out == Range(2 * 2, 2 * 4)


def test_recorded_calls_cost_nothing_again() -> None:
    spec = network(2, 1, roles="none", settings=Settings("lab", "gpt-4o"))
    half = hundred(PAIR, PAIR, spec=spec, recorded=4)
    whole = hundred(PAIR, PAIR, spec=spec)
    assert (half.calls, half.calls_recorded, half.calls_open) == (Range(8, 8), 4, Range(4, 4))
    assert half.tokens_in.low == whole.tokens_in.low // 2
    assert half.price is not None
    assert half.price.high == pytest.approx(whole.price.high / 2)
    unknown = network(2, 1, roles="none", settings=Settings(endpoint="lab", model="llama-3"))
    done = hundred(PAIR, spec=unknown, recorded=9)
    assert (done.calls_open, done.tokens_out, done.price) == (Range(0, 0), Range(0, 0), PriceRange(0.0, 0.0))


def test_a_panel_is_priced_by_model_and_unknown_stays_unknown() -> None:
    spec = panel([Settings("lab", "gpt-4o"), Settings("lab", "llama-3"), Settings("demo", None)])
    found = hundred(PAIR, spec=spec, kinds={"demo": "embedded"})
    assert [(model.endpoint, model.model, model.calls.low) for model in found.models] == [
        ("demo", "", 2),
        ("lab", "gpt-4o", 2),
        ("lab", "llama-3", 2),
    ]
    assert found.models[0].price == PriceRange(0.0, 0.0)
    assert found.models[1].price == pytest.approx(((400 * 2.5 + 40 * 10) / 1e6, (400 * 2.5 + 100 * 10) / 1e6))
    assert (found.models[2].price, found.price) == (None, None)
    assert found.reason == "the price of llama-3 at lab is unknown"
    known = replace(spec, layers=(replace(spec.layers[0], neurons=spec.layers[0].neurons[:1]),))
    assert hundred(PAIR, spec=known).price is not None


def test_nothing_to_judge_costs_nothing() -> None:
    found = hundred(spec=network(4, 2))
    assert (found.pairs, found.calls, found.tokens_in, found.price) == (0, Range(0, 0), Range(0, 0), PriceRange(0, 0))


def test_a_neuron_of_its_own_model() -> None:
    spec = network(2, 1, roles="none", settings=Settings("lab", "gpt-4o"))
    neurons = (NeuronSpec(), NeuronSpec(settings=Settings(model="small-x", samples=3)))
    spec = replace(spec, layers=(replace(spec.layers[0], neurons=neurons),))
    assert [(model.model, model.calls) for model in hundred(PAIR, spec=spec).models] == [
        ("gpt-4o", Range(2, 2)),
        ("small-x", Range(6, 6)),
    ]


def test_a_batch_costs_half_unless_the_table_says_otherwise() -> None:
    # OpenAI's price list, November 2026: gpt-4.1 2.00 and 8.00 live, 1.00 and 4.00 in a batch.
    usual = batch_price(Price(("gpt-4.1",), input=2.0, cached=0.5, output=8.0))
    assert (usual.input, usual.cached, usual.output) == (1.0, 0.25, 4.0)
    assert cost_of(usual, 1_000_000, 500_000) == pytest.approx(3.0)
    own = prices_from_json(
        '{"prices": 1, "entries": [{"models": ["m"], "input": 2, "output": 4, "cached_input": 1, "batch_input": 1.5, '
        '"batch_output": 4}]}'
    ).prices[0]
    assert (batch_price(own).input, batch_price(own).cached, batch_price(own).output) == (1.5, 0.75, 4.0)
    assert cost_of(batch_price(Price(("m",), local=True)), 5, 5) == 0.0
    with pytest.raises(PriceError, match="batch_input"):
        prices_from_json('{"prices": 1, "entries": [{"models": ["m"], "input": 2, "output": 4, "batch_input": -1}]}')
