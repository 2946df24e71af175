"""The bias lab from the command line to the counts: judges with one bias each must come out as such."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from judgenet.core.bias import COBBLER, PROBES
from tests.e2e.command import ask
from tests.fakes.judge_server import JudgeServer, judge_process
from tests.unit.cli.conftest import Judgenet

NETWORK = ("--width", 2, "--depth", 2, "--roles", "none", "-j", 32)
PARTS = ("single", "layer-1", "layer-2", "c1", "network", "l1.n1", "l2.n2")


def write_pairs(path: Path, count: int) -> Path:
    """Pairs of two systems, two an instruction. The good response is now A, now B, now the longer, now the shorter."""
    with path.open("w", encoding="utf-8") as out:
        for i in range(count):
            good, poor = f"A good answer to number {i}. It says why. ", f"Nobody knows number {i}. It is hard to say. "
            good, poor = (good + "There is more. " * 3, poor) if i % 4 < 2 else (good, poor + "There is no more. " * 3)
            texts = (good, poor) if i % 2 else (poor, good)
            names = ("famous", "mine") if i % 3 else ("mine", "famous")
            record = {
                "id": f"p{i}",
                "question": f"What of {i // 2}?",
                "response_a": texts[0],
                "response_b": texts[1],
                "model_a": names[0],
                "model_b": names[1],
                "human": "a" if i % 2 else "b",
            }
            out.write(json.dumps(record) + "\n")
    return path


class Found:
    """A result by probe and judge."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record
        self.cells = {(cell["probe"], cell["judge"]): cell for cell in record["cells"]}

    def shares(self, probe: str) -> dict[str, float | None]:
        return {judge: self.cells[probe, judge]["share"] for judge in PARTS}


def lab(judgenet: Judgenet, tmp_path: Path, mind: str, probes: str, *options: object, count: int = 8) -> Found:
    pairs = write_pairs(tmp_path / "pairs.jsonl", count)
    with JudgeServer(mind=mind, keep="none") as server:
        at = ("--base-url", server.url, "--model", "judge")
        ran = judgenet(
            *("bias", "--pairs", pairs, *at, *NETWORK, "--probes", probes, "--judges", "network,single,neurons"),
            *("--out", "lab", "--json", "-q", *options),
        )
    assert ran.code == 0, ran.err
    return Found(ran.json)


def test_an_unbiased_judge_has_no_bias(judgenet: Judgenet, tmp_path: Path) -> None:
    found = lab(judgenet, tmp_path, "unbiased", "all", "--own-system", "mine")
    assert {probe["probe"] for probe in found.record["probes"]} == set(PROBES)
    for probe in PROBES:
        if probe not in ("egocentric", "salience"):
            assert set(found.shares(probe).values()) == {0.0}, probe
    # Half of the good responses are the longer ones.
    assert set(found.shares("salience").values()) == {0.5}
    order = found.cells["order", "network"]
    assert order["counts"] == {"first": 0, "last": 0, "consistent": 8, "tie": 0, "invalid": 0}
    own = found.cells["egocentric", "network"]
    assert own["counts"]["own"] + own["counts"]["other"] == own["n"] == 8
    ranks = found.record["rank_agreement"]
    assert ranks["shares"]["network"] == ranks["shares"]["people"]
    people = next(of for of in ranks["overlaps"] if (of["first"], of["second"]) == ("network", "people"))
    assert (people["questions"], people["total"]) == (4, 4)


@pytest.mark.parametrize(("mind", "share", "outcome"), [("first", 1.0, "first"), ("last", 0.0, "last")])
def test_judges_of_a_position(judgenet: Judgenet, tmp_path: Path, mind: str, share: float, outcome: str) -> None:
    found = lab(judgenet, tmp_path, mind, "order,compassion,egocentric,salience", "--own-system", "mine", count=20)
    for probe in ("order", "compassion"):
        assert set(found.shares(probe).values()) == {share}
        assert all(found.cells[probe, judge]["counts"][outcome] == 20 for judge in PARTS)
        assert found.cells[probe, "network"]["net"] == (1.0 if mind == "first" else -1.0)
        assert f"refers the {outcome} response" in found.cells[probe, "single"]["words"]
    # All pairs are order-biased: none is left for length, and none is a preference for the own system.
    length = found.cells["salience", "network"]
    assert (length["share"], length["n"]) == (None, 0)
    assert length["reasons"]["share"] == "no pair was judged the same way in both orders"
    assert set(found.shares("egocentric").values()) == {0.0}
    assert found.cells["egocentric", "network"]["counts"]["order-biased"] == 20


@pytest.mark.parametrize(("mind", "side"), [("first-20", "first"), ("first-10", "first"), ("last-20", "last")])
def test_a_judge_that_is_swayed_now_and_then_is_called_biased(
    judgenet: Judgenet, tmp_path: Path, mind: str, side: str
) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 300)
    with JudgeServer(mind=mind, keep="none") as server:
        at = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", "--judges", "single", "-j", 64)
        found = judgenet("bias", *at, "--probes", "order", "--out", "lab", "--json", "-q").json
        said = judgenet("bias", *at, "--probes", "order", "--out", "lab", "-q").out
    [cell] = found["cells"]
    other = "last" if side == "first" else "first"
    hits = cell["counts"][side]
    assert cell["counts"][other] == 0
    # Three standard deviations of 300 draws.
    expected = int(mind.split("-")[1]) / 100
    assert hits / 300 == pytest.approx(expected, abs=3 * (expected * (1 - expected) / 300) ** 0.5)
    # The share of first-first is below the coin's quarter; the verdict is not.
    assert (cell["share"], cell["share"] < 0.25) == (cell["counts"]["first"] / 300, True)
    assert cell["net"] == pytest.approx((hits if side == "first" else -hits) / 300)
    # Over the 150 instructions, all of which lean to one side.
    assert cell["net_over"] == "questions"
    assert cell["net_p"] < 1e-6
    assert cell["net_ci"][0] < cell["net"] < cell["net_ci"][1]
    assert found["headline"] == f"Biased toward the {side} response"
    assert (cell["conclusion"], cell["mood"], cell["equivalent"]) == (
        "toward_target" if side == "first" else "toward_rival",
        "warning",
        False,
    )
    assert f"Biased toward the {side} response" in said
    assert f"Prefers the {side} response" in said


def test_no_bias_is_said_only_where_the_margin_is_ruled_out(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 120)
    with JudgeServer(mind="unbiased", keep="none") as server:
        at = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", "--judges", "single", "-j", 64)
        asked = ("bias", *at, "--probes", "order", "--out", "lab", "--json", "-q")
        found = judgenet(*asked).json
        before = server.requests
        strict = judgenet(*asked, "--margin", 0.01).json
        # Another margin reads the same answers of the same lab.
        assert server.requests == before
        few = judgenet(*asked[:-1], "--limit", 6, "--out", "few", "-q").json
        refused = judgenet(*asked, "--margin", 0)
    assert (found["headline"], found["cells"][0]["mood"]) == ("No bias above 0.05 found", "good")
    assert (found["settings"]["margin"], strict["settings"]["margin"]) == (0.05, 0.01)
    assert strict["lab"] == found["lab"]
    assert (strict["headline"], strict["cells"][0]["equivalent"]) == ("No significant bias found", False)
    assert strict["cells"][0]["pairs_needed"] > 120
    assert (few["headline"], few["cells"][0]["mood"]) == ("No significant bias found", "neutral")
    assert refused.code == 2
    assert "margin" in refused.err


def test_a_judge_of_length(judgenet: Judgenet, tmp_path: Path) -> None:
    found = lab(judgenet, tmp_path, "longer", "salience,padding,identical,order")
    for probe in ("salience", "padding"):
        assert set(found.shares(probe).values()) == {1.0}
    for probe in ("order", "identical"):
        assert set(found.shares(probe).values()) == {0.0}


def test_an_obedient_judge(judgenet: Judgenet, tmp_path: Path) -> None:
    found = lab(judgenet, tmp_path, "obedient", "bandwagon,attention,planted,order", count=16)
    for probe in ("bandwagon", "attention", "planted"):
        assert set(found.shares(probe).values()) == {1.0}, probe
    varieties = found.cells["planted", "network"]["varieties"]
    assert sum(of["n"] for of in varieties.values()) == 16
    assert len(varieties) > 2
    assert all(of["hits"] == of["n"] for of in varieties.values())
    assert found.cells["planted", "network"]["words"] == "Followed in 16 of 16 pairs"
    assert set(found.shares("order").values()) == {0.0}


def test_a_judge_of_names(judgenet: Judgenet, tmp_path: Path) -> None:
    found = lab(judgenet, tmp_path, "named", "order,compassion,egocentric", "--own-system", "mine")
    effects = {effect["judge"]: effect for effect in found.record["names_effects"]}
    for judge in PARTS:
        # Told which response is its own, it always prefers it; without names it does not know.
        assert (effects[judge]["own_named"], effects[judge]["own_n"]) == (1.0, 8)
        assert effects[judge]["systems"]["mine"][0] == 1.0
        assert effects[judge]["systems"]["mine"][1] == found.cells["egocentric", judge]["share"] < 1
    other = lab(judgenet, tmp_path, "named", "order,compassion", "--out", "other")
    effects = {effect["judge"]: effect for effect in other.record["names_effects"]}
    assert effects["network"]["systems"]["famous"][0] == 1.0
    assert effects["network"]["own_named"] is None


def test_a_coin_comes_to_a_quarter(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 150)
    with JudgeServer(mind="coin", keep="none") as server:
        ran = judgenet(
            *("bias", "--pairs", pairs, "--base-url", server.url, "--model", "judge", "--judges", "single", "-j", 64),
            *("--probes", "order,bandwagon,salience,repeats", "--repeats", 2, "--out", "lab", "--json", "-q"),
        )
    cells = {cell["probe"]: cell for cell in ran.json["cells"]}
    # Five standard deviations: .0354 for a quarter of 150, .0408 for a half.
    for probe in ("order", "bandwagon"):
        assert cells[probe]["share"] == pytest.approx(0.25, abs=0.177)
        assert cells[probe]["words"].startswith("Not enough pairs to tell (about ")
    assert cells["salience"]["share"] == pytest.approx(0.5, abs=0.29)
    assert cells["repeats"]["share"] == pytest.approx(0.5, abs=0.205)
    random = {probe["probe"]: probe for probe in ran.json["probes"]}
    assert random["order"]["random_repetitions"] == 1000
    assert random["order"]["random_mean"] == pytest.approx(0.25, abs=0.005)
    assert random["order"]["random_97_5"] == pytest.approx(0.25 + 1.96 * 0.0354, abs=0.015)


def test_unreadable_answers_are_neither_biased_nor_fair(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 40)
    with JudgeServer(mind="first", faults={"off_scale": 0.3}, seed=5) as server:
        arguments = (
            *("bias", "--pairs", pairs, "--base-url", server.url, "--model", "judge", "--judges", "single"),
            *("--probes", "order", "--json", "-q", "-j", 32),
        )
        valid = judgenet(*arguments, "--out", "valid").json["cells"][0]
        asked = server.requests
        paper = judgenet(*arguments, "--out", "valid", "--denominator", "paper").json["cells"][0]
        assert server.requests == asked
    assert 0 < valid["counts"]["invalid"] < 40
    assert valid["share"] == 1.0
    assert valid["n"] == valid["valid"] == 40 - valid["counts"]["invalid"]
    assert valid["valid_rate"] == valid["valid_first"] / 40
    assert paper["share"] == valid["hits"] / 40


def test_calls_are_shared_and_nothing_is_paid_twice(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 4)
    with JudgeServer(mind="unbiased") as server:
        common = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", "--out", "lab", "-j", 16)
        bias = ("bias", *common, "--width", 2, "--depth", 1, "--roles", "generated", "--json", "-q")
        plan = judgenet(*bias[:-1], "--probes", "order,salience,bandwagon", "--estimate").json
        judgenet(*bias, "--probes", "order,salience,bandwagon")
        # Four prompts a pair: order and salience share two. A role call for each pair, whatever is said besides.
        assert server.requests == 4 * (4 + 1 + 4 * 2) == plan["calls_open"][1]
        assert (plan["prompts"], plan["calls_shared"]) == (16, 4 * 3)
        asked = server.requests
        # The same again asks nothing.
        judgenet(*bias, "--probes", "order,salience,bandwagon")
        assert server.requests == asked
        # A further probe asks its own prompts only.
        more = ("--probes", "order,salience,bandwagon,attention")
        assert judgenet(*bias[:-1], *more, "--estimate").json["calls_open"] == [4 * 2 * 3, 4 * 2 * 3]
        judgenet(*bias, *more)
        assert server.requests == asked + 4 * 2 * 3
        # An ordinary run of the network finds its whole first layer.
        asked = server.requests
        assert judgenet("run", *common, "--width", 2, "--depth", 1, "--roles", "generated", "-q").code == 0
        assert server.requests == asked


def test_a_budget_holds_for_all_judges_together(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 4)
    with JudgeServer(mind="unbiased") as server:
        arguments = (
            *("bias", "--pairs", pairs, "--base-url", server.url, "--model", "judge", "--probes", "order"),
            *("--width", 2, "--depth", 1, "--roles", "none", "--out", "lab", "--json", "-q"),
        )
        ran = judgenet(*arguments, "--max-calls", 10)
        assert (ran.code, server.requests) == (3, 10)
        assert ran.json["state"] == "budget"
        again = judgenet(*arguments)
        # The first neuron asks what the single judge asks: eight calls, and eight of the second neuron.
        assert (again.code, server.requests) == (0, 16)


def test_a_lab_is_no_run_of_the_project(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 4)
    with JudgeServer(mind="unbiased") as server:
        common = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", "--out", "lab", *NETWORK)
        judgenet("bias", *common, "--probes", "order", "-q")
        assert "no run" in judgenet("metrics", "lab").err
        judgenet("run", *common, "-q")
        assert judgenet("metrics", "lab", "--json").json["pairs"]["total"] == 4


def test_every_counted_pair_is_exported(judgenet: Judgenet, tmp_path: Path) -> None:
    lab(judgenet, tmp_path, "first", "order,bandwagon", count=4)
    rows = judgenet("export", "lab", "--what", "bias").lines
    of_network = [row for row in rows if (row["probe"], row["judge"]) == ("order", "network")]
    assert [row["pair_id"] for row in of_network] == ["p0", "p1", "p2", "p3"]
    assert of_network[0]["answers"] == ["first", "first"]
    assert (of_network[0]["outcome"], of_network[0]["biased"], of_network[0]["counted"]) == ("first", True, True)
    csv = judgenet("export", "lab", "--what", "bias", "--format", "csv").out.splitlines()
    assert csv[0].startswith("probe,judge,pair_id,instruction,")
    assert len(csv) == len(rows) + 1
    assert judgenet("export", "lab/lab-1", "--what", "bias").out == judgenet("export", "lab", "--what", "bias").out
    assert "lab-1" in judgenet("export", "lab/lab-7", "--what", "bias").err


def test_every_figure_can_be_counted_again_from_what_is_exported(judgenet: Judgenet, tmp_path: Path) -> None:
    found = lab(judgenet, tmp_path, "coin", "all", "--own-system", "mine", count=16)
    rows = judgenet("export", "lab", "--what", "bias").lines
    counted = {(row["probe"], row["judge"]) for row in rows}
    assert counted == {key for key, cell in found.cells.items() if cell["items"]}
    for key in counted:
        cell, mine = found.cells[key], [row for row in rows if (row["probe"], row["judge"]) == key]
        assert (len(mine), sum(row["counted"] for row in mine)) == (cell["items"], cell["n"]), key
        assert sum(row["biased"] for row in mine) == cell["hits"], key
        assert sum(None not in row["answers"] for row in mine) == cell["valid"], key
        outcomes = {name: sum(row["outcome"] == name for row in mine) for name in cell["counts"]}
        assert outcomes == cell["counts"], key
        # By the definition, from the answers alone: the target is chosen in each prompt.
        if PROBES[key[0]].rule == "both":
            assert sum(row["answers"] == row["targets"] for row in mine) == cell["hits"], key


def test_tables_for_people(judgenet: Judgenet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    pairs = write_pairs(tmp_path / "pairs.jsonl", 30)
    with JudgeServer(mind="first") as server:
        at = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", *NETWORK, "--out", "lab")
        ran = judgenet("bias", *at, "--probes", "cobbler", "--limit", 24)
    assert "Plan: 24 pairs of 12 instructions, 192 prompts a judge" not in ran.out
    assert "24 pairs of 12 instructions" in ran.err
    assert "Own system: 0 of 24 pairs (24: the judge's own system is not named)" in ran.err
    assert "n/a – no pair of it is judged" in ran.out
    assert ran.out.startswith("The network is biased toward the first response and the first response under real names")
    assert re.search(r"famous +0\.500 \(1\)", ran.out)
    assert re.search(r"^Order +\+1\.000 .* Prefers the first response", ran.out, re.MULTILINE)
    monkeypatch.setenv("COLUMNS", "80")
    with JudgeServer(mind="first") as server:
        again = judgenet("bias", *at[:2], "--base-url", server.url, *at[4:], "--probes", "cobbler", "--limit", 24, "-q")
    # What is there already is shown again: what the verdict rests on, and below it the share beside the coin's.
    assert max(map(len, again.out.splitlines())) <= 80
    assert re.search(r"^Order +\+1\.000 .* Prefers the first response", again.out, re.MULTILINE)
    assert re.search(r"^Order +1\.000 .* 24 of 24", again.out, re.MULTILINE)
    written = json.loads((tmp_path / "lab" / "bias.json").read_text(encoding="utf-8"))
    assert [probe["probe"] for probe in written["probes"]] == list(COBBLER)
    assert written["state"] == "done"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--probes", "ordre"), "There is no probe 'ordre'"),
        (("--judges", "jury"), "--judges jury"),
        (("--own-system", "Mine"), "no pair has a response of this name. Names in the pairs: famous, mine"),
        (("--probes", "identical", "--no-tie"), "a tie is not offered"),
        (("--share", "0"), "--share"),
    ],
)
def test_mistakes_are_told(judgenet: Judgenet, tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 2)
    ran = judgenet("bias", "--pairs", pairs, "--base-url", "http://127.0.0.1:9", "--model", "judge", *options)
    assert ran.code == 2
    assert says in ran.err
    assert not (tmp_path / "judgenet-run").exists()


def test_instructions_are_drawn_by_the_seed(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 20)

    def plan(number: int, seed: int) -> dict[str, Any]:
        at = ("--pairs", pairs, "--base-url", "http://127.0.0.1:9", "--model", "judge", "--probes", "order")
        return judgenet(
            "bias", *at, "--instructions", number, "--seed", seed, "--estimate", "--json", "--judges", "single"
        ).json

    assert plan(3, 1)["probes"] == [{"probe": "order", "pairs": 6, "left_out": {}}]
    assert plan(3, 1)["calls"] == [12, 12]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_after_a_kill_nothing_is_paid_twice(tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 12)
    out = tmp_path / "lab"
    environment = {**os.environ, "JUDGENET_CONFIG_DIR": str(tmp_path / "config")}
    with judge_process("--latency", "0.02") as url:
        arguments = [
            *(sys.executable, "-m", "judgenet", "bias", "--pairs", str(pairs), "--base-url", url, "--model", "judge"),
            *("--width", "2", "--depth", "2", "--roles", "none", "-j", "4", "--probes", "order,bandwagon"),
            *("--out", str(out), "--json", "-q"),
        ]
        process = subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        # Killed in the run of the second judge.
        while ask(url, "stats")["paid"] < 90 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        killed = ask(url, "stats")["paid"]
        done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        stats = ask(url, "stats")
    assert 90 <= killed < 4 * 12 * 4
    # 48 prompts: once for the single judge, whose calls the first neuron of layer 1 shares, and for three neurons more.
    every = 48 * 4
    # At most what was in flight, and as many answers that were not on disk yet, is asked again.
    assert every <= stats["paid"] <= every + 2 * 4
    cells = json.loads(done.stdout)["cells"]
    assert all(cell["items"] == 12 for cell in cells)


def test_the_papers_figures_and_faireval_beside_the_single_judge(judgenet: Judgenet, tmp_path: Path) -> None:
    shown = judgenet("bias", "--reference")
    assert shown.code == 0
    assert re.search(r"GPT-4 +0\.989 +0\.166 +0\.059", shown.out)
    assert "values in the authors' repository" in " ".join(shown.out.split())
    pairs = write_pairs(tmp_path / "pairs.jsonl", 4)
    with JudgeServer(mind="last") as server:
        at = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", "--out", "lab")
        ran = judgenet("bias", *at, "--judges", "single,faireval", "--probes", "order", "--json", "-q")
        # One call of the single judge on each of eight prompts, and three of FairEval.
        assert server.requests == 8 * 4
        temperatures = [entry.asked.get("temperature") for entry in server.log]
    assert temperatures.count(1.0) == 24
    assert [judge["id"] for judge in ran.json["judges"]] == ["single", "faireval"]
    assert {cell["counts"]["last"] for cell in ran.json["cells"]} == {4}


def test_orders_of_several_responses_at_once(judgenet: Judgenet, tmp_path: Path) -> None:
    systems = ("bad", "poor", "fair", "fine")
    path = tmp_path / "many.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for question in range(6):
            for one, other in itertools.combinations(range(4), 2):
                texts = [f"{question}: {'good ' * level}." for level in (one, other)]
                record = {"id": f"{question}-{one}-{other}", "question": f"Q{question}?", "human": "b"}
                record |= {"response_a": texts[0], "response_b": texts[1]}
                out.write(json.dumps({**record, "model_a": systems[one], "model_b": systems[other]}) + "\n")
    with JudgeServer(mind="unbiased", faults={"off_scale": 0.3}, seed=11) as server:
        at = ("--pairs", path, "--base-url", server.url, "--model", "judge", "--out", "lab", "-j", 16)
        arguments = ("bias", *at, "--probes", "order", "--judges", "single", "--nwise", 4, "--json", "-q")
        plan = judgenet(*arguments[:-1], "--estimate").json["nwise"]
        assert (plan["calls"], plan["calls_open"], plan["price"]) == (6, 6, None)
        assert "the price of judge" in plan["price_reason"]
        # At 2.5 and 10 USD a million tokens, in and out.
        priced = judgenet(*arguments[:-1], "--estimate", "--model", "gpt-4o").json["nwise"]["price"]
        assert 6 * 150 * 2.5e-6 < priced[0] < priced[1] < 6 * (600 * 2.5e-6 + 60 * 1e-5)
        ran = judgenet(*arguments)
        asked = server.requests
        assert asked == 6 * 6 * 2 + 6
        assert judgenet(*arguments[:-1], "--estimate").json["nwise"]["calls_open"] == 0
        again = judgenet(*arguments)
        assert server.requests == asked
    nwise = ran.json["nwise"]
    assert (nwise["size"], nwise["groups"], nwise["asked"]) == (4, 6, 6)
    assert 0 < nwise["valid"] < 6
    assert nwise["valid"] + sum(nwise["reasons"].values()) == 6
    assert nwise["valid_rate"] == nwise["valid"] / 6
    assert set(map(tuple, nwise["rankings"].values())) == {("fine", "fair", "poor", "bad")}
    assert {**again.json["nwise"], "calls_new": 6} == nwise
    overlaps = {(of["first"], of["second"]): of for of in ran.json["rank_agreement"]["overlaps"]}
    # On the instructions with a valid order it agrees with people wholly.
    assert overlaps["people", "at_once"]["value"] == pytest.approx(1.0)
    assert overlaps["people", "at_once"]["questions"] == nwise["valid"]


def test_another_network_has_a_lab_of_its_own_and_rankings_are_compared(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.jsonl", 8)
    with JudgeServer(mind="unbiased") as server:
        at = ("--pairs", pairs, "--base-url", server.url, "--model", "judge", "--out", "lab", "-j", 16, "--json", "-q")
        arguments = ("bias", *at, "--roles", "none", "--probes", "order")
        deep = judgenet(*arguments, "--width", 1, "--depth", 2).json
        server.judge.settings.mind = "longer"
        wide = judgenet(*arguments, "--width", 2, "--depth", 1).json
        asked = server.requests
        # Both labs are there: the first is found again, and nothing is asked.
        again = judgenet(*arguments, "--width", 1, "--depth", 2).json
        assert server.requests == asked
    assert deep["lab"] == again["lab"] != wide["lab"]
    assert deep["rank_agreement"]["others"] == {}
    assert wide["rank_agreement"]["others"] == {"lab-1": "Network 1×2 (Lab 1)"}
    assert again["rank_agreement"]["others"] == {"lab-2": "Network 2×1 (Lab 2)"}
    assert again["cells"] == deep["cells"]
    overlaps = {(of["first"], of["second"]): of for of in wide["rank_agreement"]["overlaps"]}
    # Of the two neurons of the wide network one asks what the first network's layer 1 asked: it has its answers.
    between = overlaps["network", "lab-1"]
    assert (between["questions"], between["total"]) == (4, 4)
    assert 0.8 <= between["value"] <= 1.0
    assert set(wide["rank_agreement"]["shares"]["lab-1"]) == {"famous", "mine"}
