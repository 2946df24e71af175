"""The explorer: its script says what the program says, its file is inert, and nothing of the run is missing."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from judgenet.assets import asset
from judgenet.core.network import Aggregation
from judgenet.core.pairs import ORDERS, Pair
from judgenet.report.explorer import explorer_html
from judgenet.stats.intervals import wilson
from judgenet.stats.whatif import Calls, Subnetwork, VoteRule, answer
from tests.unit.report.runs import fixed_network, labelled_pairs, opened, random_say, record

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "x\u2028\u2029\x00\x07 <!-- ]]> {{ 7*7 }} ${7*7}",
    "javascript:alert(1)",
)


Script = Callable[[str], Any]


@pytest.fixture(scope="module")
def script() -> Script:
    """The value of an expression in the explorer's script."""
    context = pytest.importorskip("quickjs", reason="quickjs has no wheel for this Python").Context()
    context.eval(asset("explorer", "explorer.js").read_text(encoding="utf-8"))
    return lambda asked: json.loads(context.eval(f"JSON.stringify({asked})"))


def question(calls: Calls, choice: Subnetwork, rules: Aggregation, rule: str) -> str:
    """The expression whose value is what the script says of a sub-network."""
    given = {
        "differences": [None if np.isnan(of) else of for of in calls.differences.ravel().tolist()],
        "asked": calls.asked.ravel().astype(int).tolist(),
        "layers": calls.layers.tolist(),
        "samples": calls.samples,
        "pairs": len(calls.human),
    }
    of = {
        "depth": choice.depth,
        "width": choice.width,
        "samples": choice.samples,
        "orders": [ORDERS.index(order) for order in choice.orders],
    }
    named = {"vote": rules.vote, "ties": rules.ties, "fallback": rules.fallback, "quorum": rules.quorum}
    return f"""(() => {{
        const calls = {json.dumps(given)};
        calls.differences = Float64Array.from(calls.differences.map((of) => of === null ? NaN : of));
        const found = subnetwork(calls, {json.dumps(of)}, {json.dumps(named)}, {json.dumps(rule)});
        const accuracy = accuracyOf(found.codes, {json.dumps(calls.human.tolist())});
        return {{codes: Array.from(found.codes), calls: found.calls, accuracy}};
    }})()"""


def test_smaller_networks_say_what_the_program_says(script: Script) -> None:
    rng = np.random.default_rng(4)
    layers = np.array([1, 1, 1, 2, 2])
    differences = rng.integers(-2, 3, (40, 5, 2, 2)).astype(float)
    differences[rng.random(differences.shape) < 0.3] = np.nan
    human = rng.integers(0, 4, 40).astype(np.uint8)
    calls = Calls(differences, rng.random(differences.shape) < 0.9, layers, human)
    choices = [Subnetwork(2, width, ORDERS, samples) for width in (1, 2) for samples in (1, 2)]
    choices += [Subnetwork(1, width, (order,), 2) for width in (1, 3) for order in ORDERS]
    all_rules = [Aggregation(*of) for of in product(("neuron", "call"), ("abstain", "candidate"), ("tie", "c1"))]
    all_rules += [Aggregation(quorum=1), Aggregation("call", quorum=2)]
    seen = set()
    for choice, rules, rule in product(choices, all_rules, get_args(VoteRule)):
        wanted = answer(calls, choice, rules, rule)
        found = script(question(calls, choice, rules, rule))
        assert found["codes"] == wanted.codes.tolist()
        assert found["calls"] == pytest.approx(wanted.calls)
        accuracy = found["accuracy"]
        assert accuracy["n"] == wanted.n_used
        assert accuracy["value"] == pytest.approx(wanted.accuracy)
        if wanted.interval is None:
            assert rules.quorum is not None, "no pair has a verdict"
            continue
        assert (accuracy["low"], accuracy["high"]) == pytest.approx(tuple(wanted.interval))
        seen.add(bytes(found["codes"]))
    assert len(seen) > 50


@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (0, 20), (20, 20), (7, 20)])
def test_the_interval_is_wilsons_at_the_edges_too(script: Script, right: int, n: int) -> None:
    codes = [1] * right + [3] * (n - right)
    found = script(f"accuracyOf({json.dumps(codes)}, {json.dumps([1] * n)})")
    ends = wilson(right, n)
    assert ends is not None
    assert (found["low"], found["high"]) == pytest.approx(tuple(ends))


class _Scripts(HTMLParser):
    """The tags of a page, and the texts of its scripts by id."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self._in: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        self.tags.append((tag, of))
        self._in = (of.get("id") or "") if tag == "script" else None

    def handle_endtag(self, tag: str) -> None:
        self._in = None

    def handle_data(self, data: str) -> None:
        if self._in is not None:
            self.scripts[self._in] = self.scripts.get(self._in, "") + data


def page_of(text: str) -> _Scripts:
    found = _Scripts()
    found.feed(text)
    found.close()
    return found


def unpacked(page: _Scripts, name: str) -> bytes:
    return gzip.decompress(base64.b64decode(page.scripts[f"data-{name}"]))


def texts(page: _Scripts) -> Iterator[dict[str, Any]]:
    for name in page.scripts:
        if re.fullmatch(r"data-texts-\d+", name):
            yield from json.loads(unpacked(page, name.removeprefix("data-")))


def hostile_pairs() -> list[Pair]:
    return [
        Pair(f"p{place} {text}", f"{text} {place}", text, f"{text}!", task=text, human="a")
        for place, text in enumerate(HOSTILE)
    ]


def test_hostile_texts_are_data_and_only_our_script_runs(tmp_path: Path) -> None:
    pairs = hostile_pairs()
    say, _ = random_say(pairs, unread=0.0)
    path = tmp_path / "run.db"
    record(path, pairs, say, evidence=lambda site: HOSTILE[site.pair])
    with opened(path) as (store, run):
        text, count = explorer_html(store, run)
    assert count == len(pairs)
    page = page_of(text)
    active = [of for tag, of in page.tags if tag == "script" and of.get("type") != "application/octet-stream"]
    assert active == [{}]
    assert page.scripts[""] == asset("explorer", "explorer.js").read_text(encoding="utf-8")
    assert not [tag for tag, of in page.tags if tag in ("img", "iframe", "object", "embed", "link", "base")]
    assert not [name for _, of in page.tags for name in of if name.startswith("on")]
    assert "alert(1)" not in text
    policy = next(of["content"] for tag, of in page.tags if of.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert [of["id"] for of in texts(page)] == [pair.id for pair in pairs]
    assert {call[3] for of in texts(page) for call in of["calls"]} == set(HOSTILE)
    # The script itself never makes markup of a text, and asks nothing of a network.
    written = page.scripts[""]
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "fetch(", "XMLHttp", "http"):
        assert word not in written, word


def test_everything_of_the_run_is_in_it(tmp_path: Path) -> None:
    pairs = labelled_pairs(30)
    say, scores = random_say(pairs, unread=0.1)
    path = tmp_path / "run.db"
    record(path, pairs, say, fixed_network(3, 2))
    with opened(path) as (store, run):
        page = page_of(explorer_html(store, run)[0])
    head = json.loads(unpacked(page, "head"))
    assert (head["pairs"], head["depth"], head["layers"]) == (30, 2, [1, 1, 1, 2, 2])
    human = np.frombuffer(unpacked(page, "human"), dtype=np.uint8)
    assert human.tolist() == [{"a": 1, "tie": 2, "b": 3, None: 0}[pair.human] for pair in pairs]
    found = list(texts(page))
    assert [(of["id"], of["q"], of["a"], of["b"]) for of in found] == [
        (pair.id, pair.question, pair.response_a, pair.response_b) for pair in pairs
    ]
    calls = [call for of in found for call in of["calls"]]
    assert len(calls) == 30 * 5 * 2
    assert sum(call[0] == 0 for call in calls) == sum(of is None for of in scores.values()) > 0
