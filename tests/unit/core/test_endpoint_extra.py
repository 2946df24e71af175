"""The further fields of endpoints under those of a network."""

from __future__ import annotations

from dataclasses import replace

from judgenet.core.acceptance import asks_otherwise
from judgenet.core.design import set_settings
from judgenet.core.endpoint_extra import with_endpoint_extra
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import AcceptanceRule, ChairSpec, Settings, chair_settings, neuron_settings, role_settings
from judgenet.core.network_json import digest
from judgenet.core.presets import network

BASE = replace(
    network(2, 2, settings=Settings("one", "m", extra='{"a":{"x":1},"top_k":5}')), chair=ChairSpec(Settings("two", "m"))
)
SPEC = set_settings(set_settings(BASE, (0, 1), Settings("two", "m")), (1, 0), Settings(extra="{}"))
ENDPOINTS = {
    "one": EndpointProfile("one", base_url="http://h:1", extra='{"a":{"x":0,"y":2},"min_p":0.1}'),
    "two": EndpointProfile("two", base_url="http://h:2"),
}


def test_each_call_has_the_fields_of_its_own_endpoint() -> None:
    spec = with_endpoint_extra(SPEC, ENDPOINTS)
    joined = '{"a":{"x":1,"y":2},"min_p":0.1,"top_k":5}'
    assert neuron_settings(spec, 0, 0).extra == joined
    assert role_settings(spec).extra == joined
    # Another endpoint gets nothing of the first one's, and the network's own fields as before.
    assert neuron_settings(spec, 0, 1).extra == '{"a":{"x":1},"top_k":5}'
    assert chair_settings(spec).extra == '{"a":{"x":1},"top_k":5}'
    # What inherits nothing still has its endpoint's.
    assert neuron_settings(spec, 1, 0).extra == '{"a":{"x":0,"y":2},"min_p":0.1}'
    assert with_endpoint_extra(spec, ENDPOINTS) == spec


def test_without_fields_of_endpoints_nothing_changes() -> None:
    assert with_endpoint_extra(SPEC, {"two": ENDPOINTS["two"]}) is SPEC


def test_a_rule_of_a_run_holds_for_the_design_that_the_run_was_started_from() -> None:
    recorded = digest(with_endpoint_extra(SPEC, ENDPOINTS))
    rule = AcceptanceRule("c1", "calls", 0.8, 0.1, 0.1, network=recorded)
    spec = replace(SPEC, aggregation=replace(SPEC.aggregation, acceptance=rule))
    assert asks_otherwise(spec)
    assert not asks_otherwise(spec, ENDPOINTS)
