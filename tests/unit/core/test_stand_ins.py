"""Stand-ins: how they are written, what is wrong with them, and which model each level of a network has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judgenet.core.checks import check
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.fixes import fix
from judgenet.core.network import (
    DEFAULTS,
    Aggregation,
    NetworkError,
    NetworkSpec,
    Settings,
    StandIn,
    neuron_settings,
    stand_ins,
)
from judgenet.core.network_changes import network_changes
from judgenet.core.network_json import digest, from_json, to_json
from judgenet.core.presets import network
from judgenet.core.stand_ins import read_stand_in, read_stand_ins, stand_in_text, stand_in_words

PLAIN = network(3, 2)
KNOWN = {"embedded": EndpointProfile("embedded", kind="embedded"), "b": EndpointProfile("b", base_url="http://b")}


def standing_in(*given: StandIn, quorum: int | None = None) -> NetworkSpec:
    rules = Aggregation(quorum=quorum)
    return replace(PLAIN, settings=replace(PLAIN.settings, stand_in=given or None), aggregation=rules)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("backup", StandIn("backup")),
        ("backup/gpt-4o-mini", StandIn("backup", "gpt-4o-mini")),
        ("router/meta/llama-3", StandIn("router", "meta/llama-3")),
        ("backup/m after=5", StandIn("backup", "m", 5.0)),
        ("backup after=0.5", StandIn("backup", None, 0.5)),
    ],
)
def test_a_stand_in_as_text(text: str, expected: StandIn) -> None:
    assert read_stand_in(text) == expected
    assert stand_in_text(expected) == text


@pytest.mark.parametrize("text", ["", "/m", "backup/", "two words/m", "b/m after=x", "b/m after=-1", "b/m after=nan"])
def test_a_text_that_is_no_stand_in(text: str) -> None:
    with pytest.raises(NetworkError, match=r"stand-in|after="):
        read_stand_in(text)


def test_several_in_order_and_none() -> None:
    assert read_stand_ins(["b/m", "c"]) == (StandIn("b", "m"), StandIn("c"))
    assert read_stand_ins(["none"]) == ()
    assert stand_in_words(read_stand_ins(["b/m", "c after=60"])) == (
        "b/m (after 2 min out of reach), then c (after 1 min out of reach)"
    )


def test_levels_inherit_and_an_empty_tuple_ends_it() -> None:
    spec = standing_in(StandIn("b", "m"))
    assert neuron_settings(spec, 1, 2).stand_in == (StandIn("b", "m"),)
    off = replace(spec.layers[0], settings=Settings(stand_in=()))
    spec = replace(spec, layers=(off, *spec.layers[1:]))
    assert stand_ins(neuron_settings(spec, 0, 0)) == ()
    assert stand_ins(neuron_settings(spec, 1, 0)) == (replace(DEFAULTS, endpoint="b", model="m"),)


def test_the_form_is_written_only_where_something_is_set() -> None:
    plain = to_json(PLAIN)
    assert "stand_in" not in plain["settings"]
    assert "quorum" not in plain["aggregation"]
    spec = standing_in(StandIn("b", "m"), StandIn("c", after=5.0), quorum=2)
    record = to_json(spec)
    assert record["settings"]["stand_in"] == [{"endpoint": "b", "model": "m"}, {"after": 5.0, "endpoint": "c"}]
    assert record["aggregation"]["quorum"] == 2
    assert from_json(record) == spec
    # Another design asks otherwise; a quorum costs no call.
    assert digest(spec) != digest(PLAIN)
    assert digest(standing_in(quorum=2)) == digest(PLAIN)
    with pytest.raises(NetworkError, match=r"settings\.stand_in\[0\]\.endpoint: is missing"):
        from_json({"layers": [], "settings": {"stand_in": [{"model": "m"}]}})


@pytest.mark.parametrize(
    ("given", "severity", "path", "words"),
    [
        (
            StandIn("gone", "m"),
            "error",
            "settings.stand_in[0].endpoint",
            "there is no such endpoint. Endpoints: b, emb",
        ),
        (StandIn("b"), "error", "settings.stand_in[0].model", "needs the name of a model"),
        (StandIn("embedded"), "warning", "settings.stand_in[0]", "a model that is asked before it"),
    ],
)
def test_what_is_wrong_with_a_stand_in(given: StandIn, severity: str, path: str, words: str) -> None:
    spec = standing_in(given)
    (found,) = check(spec, KNOWN)
    assert (found.severity, found.path) == (severity, path)
    assert words in str(found)
    mended = fix(spec, found, KNOWN)
    assert mended is not None
    assert (mended.words, check(mended.spec, KNOWN)) == ("Remove the stand-in", ())


@pytest.mark.parametrize(
    ("quorum", "found"),
    [
        (0, [("error", "The quorum is 0.")]),
        (3, []),
        (4, [("warning", "c2_l1 rests on 3 neurons"), ("warning", "c2_l2 rests on 3 neurons")]),
        (7, [("error", "c2_all rests on 6 neurons: it never has a verdict. Ask for 6 or fewer")]),
    ],
)
def test_a_quorum_that_cannot_be_reached(quorum: int, found: list[tuple[str, str]]) -> None:
    spec = standing_in(quorum=quorum)
    problems = check(spec)
    assert all(problem.path == "aggregation.quorum" for problem in problems)
    for severity, words in found:
        assert any(problem.severity == severity and words in str(problem) for problem in problems)
    assert bool(found) == bool(problems)
    if problems and problems[0].severity == "error":
        mended = fix(spec, problems[0])
        assert mended is not None
        assert all(problem.severity == "warning" for problem in check(mended.spec))


def test_a_chair_rests_on_the_layer_that_it_reads() -> None:
    spec = replace(network(3, 2, chair=True), aggregation=Aggregation(quorum=4))
    (error, *warnings) = check(spec)
    assert "chair rests on 3 neurons" in str(error)
    assert [problem.severity for problem in (error, *warnings)] == ["error", "warning", "warning"]


def test_differences_of_designs_name_both() -> None:
    changes = network_changes(PLAIN, standing_in(StandIn("b", "m"), quorum=2))
    assert [tuple(change) for change in changes] == [
        ("quorum", "none", "2"),
        ("stand-in", "not set", "b/m (after 2 min out of reach)"),
    ]
    assert not network_changes(PLAIN, standing_in(StandIn("b", "m")), models=False)
