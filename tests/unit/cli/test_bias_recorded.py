"""Biases counted from runs that are there: recorded judgments against figures counted here from their files, and
ordinary runs of judges with one bias each."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest, chi2

from judgenet.assets import asset
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

Cells = dict[tuple[str, str], dict[str, Any]]


def cells(record: dict[str, Any]) -> Cells:
    """The figures by probe and name of the judge."""
    titles = {judge["id"]: judge["title"] for judge in record["judges"]}
    return {(cell["probe"], titles[cell["judge"]]): cell for cell in record["cells"]}


def counted(judgenet: Judgenet, run: str, *options: object) -> Cells:
    ran = judgenet("bias", "--recorded", run, "--json", *options)
    assert ran.code == 0, ran.err
    return cells(ran.json)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            yield json.loads(line)


# The vector of statistics 4.2


VECTOR = (
    ("J", "B", 120, 80, "first", "second"),
    ("J", "C", 60, 90, "first", "first"),
    ("B", "C", 80, 90, "second", "second"),
    ("J", "D", 100, 100, "second", "first"),
    ("B", "D", 80, 100, "first", None),
    ("C", "D", 90, 100, None, "first"),
    ("J", "B", 150, 70, "first", "second"),
    ("C", "D", 40, 95, "second", "first"),
    ("J", "C", 80, 80, "first", None),
    ("B", "C", 50, 40, "second", "first"),
)
"""Systems, lengths, and the position chosen with response A first and with response B first."""


def write_vector(folder: Path) -> tuple[Path, Path]:
    pairs, judgments = folder / "pairs.jsonl", folder / "judgments.jsonl"
    with pairs.open("w") as texts, judgments.open("w") as said:
        for i, (one, other, long_a, long_b, *chosen) in enumerate(VECTOR):
            names = {"model_a": one, "model_b": other}
            lengths = {"response_a": "a" * long_a, "response_b": "b" * long_b}
            texts.write(json.dumps({"id": f"p{i}", "question": f"{i}?", **lengths, **names}) + "\n")
            for order, position in zip(("ab", "ba"), chosen, strict=True):
                verdict = None if position is None else "a" if (position == "first") == (order == "ab") else "b"
                said.write(
                    json.dumps({"pair_id": f"p{i}", "judge": "j", "order": order, "recorded_verdict": verdict}) + "\n"
                )
    return pairs, judgments


def test_the_vector_is_counted_from_recorded_judgments(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs, judgments = write_vector(tmp_path)
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "vector").code == 0
    found = counted(judgenet, "vector", "--own-system", "J")
    order, length, own = (found[probe, "j"] for probe in ("order", "salience", "egocentric"))
    assert (order["items"], order["valid_first"], order["valid_rate"], order["valid"]) == (10, 9, 0.9, 7)
    assert order["counts"] == {"first": 1, "last": 1, "consistent": 5, "tie": 0, "invalid": 3}
    assert order["share"] == pytest.approx(1 / 7)
    assert (order["net"], order["net_p"]) == (0.0, 1.0)
    assert (length["n"], length["hits"], length["share"]) == (4, 3, 0.75)
    assert own["counts"]["own"] == 2
    paper = counted(judgenet, "vector", "--own-system", "J", "--denominator", "paper")
    assert paper["order", "j"]["share"] == pytest.approx(1 / 10)
    assert paper["egocentric", "j"]["hits"] == 3


def test_the_pairs_that_are_counted_are_exported(judgenet: Judgenet, tmp_path: Path) -> None:
    pairs, judgments = write_vector(tmp_path)
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "vector").code == 0
    ran = judgenet("export", "vector", "--what", "bias")
    order = [row for row in ran.lines if row["probe"] == "order"]
    # One first-first of the seven pairs that are valid in both orders.
    assert (sum(row["counted"] for row in order), sum(row["biased"] for row in order)) == (7, 1)
    assert judgenet("export", "vector/run-1", "--what", "bias").out == ran.out
    assert "Runs: run-1" in judgenet("export", "vector/run-7", "--what", "calls").err


# Published judgments


Said = dict[str, dict[str, dict[str, str | None]]]
"""Verdicts by judge, pair and order."""


def by_judge(rows: Iterable[dict[str, Any]], name: Any) -> Said:
    said: Said = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        said[name(row)][row["pair_id"]][row["order"]] = row["recorded_winner"]
    return said


def positions(orders: dict[str, str | None]) -> tuple[str | None, str | None]:
    """What was chosen with A first and with B first, by position."""
    first = {"ab": "a", "ba": "b"}
    return tuple(  # type: ignore[return-value]
        said if (said := orders[order]) in (None, "tie") else "first" if said == first[order] else "last"
        for order in ("ab", "ba")
    )


def told() -> dict[str, list[str]]:
    """The rows of the table in the documentation, by the judge's name there."""
    rows = {}
    for line in (asset("bias") / "recorded.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and " of " in line and not line.startswith("| judge"):
            name, *figures = (part.strip() for part in line.strip("|").split("|"))
            rows[name] = figures
    return rows


def short(share: float) -> str:
    return f"{share:.3f}".removeprefix("0")


def row_of(cell: dict[str, Any]) -> list[str]:
    """First-first, last-last, net and n of a judge as the documentation writes them."""
    net = cell["net"]
    sign = "+" if net > 0 else "-" if net < 0 else ""
    return [
        short(cell["share"]),
        short(cell["counts"]["last"] / cell["n"]),
        sign + short(abs(net)),
        f"{cell['n']:,} of {cell['items']:,}",
    ]


def check_told(figures: list[str], cell: dict[str, Any]) -> None:
    assert [figures[0].split()[0], figures[1], figures[2].split()[0], figures[5]] == row_of(cell)
    ends = [float(end) for end in figures[2].split(" ", 1)[1].strip("()").split(" to ")]
    assert ends == pytest.approx(cell["net_ci"], abs=5.1e-4)
    words = {"toward_target": "first", "toward_rival": "last", "no_bias": "none"}
    assert figures[7] == words[cell["conclusion"]]


def check(found: Cells, said: Said, pairs: dict[str, dict[str, Any]]) -> None:
    """Compares every judge with counts made here."""
    for judge, mine in said.items():
        usable = {
            key: positions(orders)
            for key, orders in mine.items()
            if len(orders) == 2
            and pairs[key]["response_a"].strip()
            and pairs[key]["response_b"].strip()
            and pairs[key]["response_a"] != pairs[key]["response_b"]
        }
        valid = {key: both for key, both in usable.items() if None not in both}
        counts = Counter(valid.values())
        first, last = counts["first", "first"], counts["last", "last"]
        order = found["order", judge]
        assert order["items"] == len(usable), judge
        assert order["valid_rate"] == pytest.approx(sum(both[0] is not None for both in usable.values()) / len(usable))
        assert (order["n"], order["valid"]) == (len(valid), len(valid))
        assert (order["counts"]["first"], order["counts"]["last"]) == (first, last), judge
        assert order["share"] == pytest.approx(first / len(valid))
        assert order["net"] == pytest.approx((first - last) / len(valid))
        expected = binomtest(first, first + last, 0.5).pvalue if first + last else 1.0
        against_chance = binomtest(first, len(valid), 0.25).pvalue
        if order["net_over"] == "pairs":
            assert order["net_p"] == pytest.approx(expected), judge
        else:
            leads: Counter[str] = Counter()
            above: dict[str, float] = defaultdict(float)
            for key, both in valid.items():
                above[pairs[key]["question"]] += 0.75 if both == ("first", "first") else -0.25
                leads[pairs[key]["question"]] += (both == ("first", "first")) - (both == ("last", "last"))
            ahead, behind = sum(lead > 0 for lead in leads.values()), sum(lead < 0 for lead in leads.values())
            assert order["net_p"] == pytest.approx(binomtest(ahead, ahead + behind, 0.5).pvalue), judge
            # Obuchowski (1998), of what each question has above chance.
            statistic = sum(above.values()) ** 2 / sum(of * of for of in above.values())
            against_chance = max(against_chance, chi2.sf(statistic, 1))
        assert order["p"] == pytest.approx(against_chance), judge
        assert order["interval"][0] <= order["share"] <= order["interval"][1]

        longer = {
            key: "a" if len(pairs[key]["response_a"]) > len(pairs[key]["response_b"]) else "b"
            for key in valid
            if len(pairs[key]["response_a"]) != len(pairs[key]["response_b"])
        }
        steady = {key: mine[key]["ab"] for key in longer if mine[key]["ab"] == mine[key]["ba"] != "tie"}
        length = found["salience", judge]
        assert length["n"] == len(steady), judge
        assert length["hits"] == sum(side == longer[key] for key, side in steady.items()), judge


@pytest.mark.data
def test_order_bias_of_auto_j(judgenet: Judgenet, shared_data: Path) -> None:
    folder = shared_data / "autoj"
    assert judgenet("import", folder / "judgments.jsonl", "--pairs", folder / "pairs.jsonl", "--out", "autoj").code == 0
    said = by_judge(lines(folder / "judgments.jsonl"), lambda row: row["judge"])
    # Published by its authors: the same verdict in both orders on 83.41 % of 1,392 pairs.
    same = sum(orders["ab"] == orders["ba"] for orders in said["autoj-13b"].values())
    assert round(100 * same / 1392, 2) == 83.41
    found = counted(judgenet, "autoj")
    check(found, said, {pair["id"]: pair for pair in lines(folder / "pairs.jsonl")})
    assert found["order", "autoj-13b"]["counts"]["first"] == 55
    assert found["order", "autoj-13b"]["counts"]["last"] == 121
    check_told(told()["Auto-J 13B"], found["order", "autoj-13b"])


@pytest.mark.data
def test_order_bias_of_the_judges_of_judgebench(judgenet: Judgenet, shared_data: Path) -> None:
    folder = shared_data / "judgebench"
    files = (folder / "judgments.jsonl", "--pairs", folder / "pairs.jsonl")
    assert judgenet("import", *files, "--out", "judgebench").code == 0
    said: Said = defaultdict(lambda: defaultdict(dict))
    for row in lines(folder / "judgments.jsonl"):
        decision = row["recorded_decision"]
        winner = None if decision is None else {"A": "a", "B": "b"}[decision[0]] if decision[1] == ">" else "tie"
        if row["order"] == "ba" and winner in ("a", "b"):
            winner = "b" if winner == "a" else "a"
        said[f"{row['judge']}|{row['prompt']}"][row["pair_id"]][row["order"]] = winner
    expected = json.loads((shared_data / "expected.json").read_text(encoding="utf-8"))["judgebench"]
    for judge in ("claude-3-haiku-20240307", "o1-mini-2024-09-12"):
        both = [orders for orders in said[f"{judge}|arena_hard"].values() if None not in orders.values()]
        differ = sum(orders["ab"] != orders["ba"] for orders in both)
        inconsistent = expected[judge]["inconsistent_between_orders"]
        assert [differ, len(both)] == inconsistent["of_pairs_with_both_verdicts"]
    found = counted(judgenet, "judgebench")
    check(found, said, {pair["id"]: pair for pair in lines(folder / "pairs.jsonl")})
    rows = told()
    for judge in said:
        check_told(rows[judge.split("|")[0].split("/")[-1]], found["order", judge])


@pytest.mark.data
def test_order_bias_of_the_six_judges_of_llmbar(judgenet: Judgenet, shared_data: Path) -> None:
    folder = shared_data / "llmbar"
    where = "task=LLMBar/*,prompt=Vanilla"
    files = (folder / "judgments_short.jsonl", "--pairs", folder / "pairs.jsonl")
    assert judgenet("import", *files, "--where", where, "--out", "llmbar").code == 0
    pairs = {pair["id"]: pair for pair in lines(folder / "pairs.jsonl")}
    own = {key for key, pair in pairs.items() if pair["task"].startswith("LLMBar/")}
    rows = [
        row for row in lines(folder / "judgments_short.jsonl") if row["prompt"] == "Vanilla" and row["pair_id"] in own
    ]
    said = by_judge(rows, lambda row: f"{row['judge']}|{row['prompt']}")
    assert len(said) == 6
    found = counted(judgenet, "llmbar")
    check(found, said, pairs)
    # Of the source's own statistics: how often the two orders agree, an answer that neither reads included.
    agreement: Counter[str] = Counter()
    for row in lines(folder / "statistics.jsonl"):
        if row["prompt"] == "Vanilla" and row["subset"].startswith("LLMBar/"):
            agreement[f"{row['judge']}|Vanilla"] += row["order_agreement"]
    assert len(agreement) == 6
    for judge, agree in agreement.items():
        unread = sum(set(orders.values()) == {None} for orders in said[judge].values())
        assert found["order", judge]["counts"]["consistent"] == agree - unread
        check_told(told()[judge.replace("|", ", ")], found["order", judge])


@pytest.mark.data
def test_judgments_in_one_order_say_so(judgenet: Judgenet, shared_data: Path) -> None:
    folder = shared_data / "pandalm"
    files = (folder / "judgments.jsonl", "--pairs", folder / "pairs.jsonl")
    assert judgenet("import", *files, "--out", "pandalm").code == 0
    ran = judgenet("bias", "--recorded", "pandalm", "--json")
    assert ran.json["orders"] == ["ab"]
    assert "needs both orders" in ran.json["notes"][0]
    for judge in ("gpt-3.5-turbo", "pandalm-7b"):
        order = cells(ran.json)["order", judge]
        assert order["share"] is None
        assert order["reasons"]["share"] == "no pair was judged in both orders"


# Ordinary runs


NETWORK = ("--width", 2, "--depth", 2, "--roles", "none")
PARTS = ("l1.n1", "l1.n2", "l2.n1", "l2.n2", "Layer 1", "Layer 2", "c1*", "Network 2×2")


def run(judgenet: Judgenet, tmp_path: Path, mind: str, *options: object) -> None:
    """A run of a judge with a bias."""
    pairs = tmp_path / "pairs.jsonl"
    with pairs.open("w") as out:
        for i in range(12):
            texts = {"response_a": "Short.", "response_b": f"A longer answer to number {i}."}
            out.write(json.dumps({"id": f"p{i}", "question": f"What of {i}?", **texts}) + "\n")
    with JudgeServer(mind=mind, keep="none") as server:
        at = ("--base-url", server.url, "--model", "judge", "-j", 16)
        ran = judgenet("run", "--pairs", pairs, *at, *NETWORK, *options, "--out", "out")
        assert ran.code == 0, ran.err


@pytest.mark.parametrize(("mind", "share", "net"), [("first", 1.0, 1.0), ("last", 0.0, -1.0), ("longer", 0.0, 0.0)])
def test_every_part_of_a_run_is_counted_at_no_cost(
    judgenet: Judgenet, tmp_path: Path, mind: str, share: float, net: float
) -> None:
    run(judgenet, tmp_path, mind)
    # The server is gone: nothing can be asked any more.
    ran = judgenet("bias", "--recorded", "out", "--json")
    found = cells(ran.json)
    for part in PARTS:
        order = found["order", part]
        assert (order["share"], order["net"], order["n"], order["items"]) == (share, net, 12, 12), part
        assert order["net_p"] == pytest.approx(1.0 if net == 0 else 2 * 0.5**12)
    if mind == "longer":
        assert {found["salience", part]["share"] for part in PARTS} == {1.0}
    assert any("not two looks" in note for note in ran.json["notes"])


def test_a_run_in_one_order_has_no_order_bias(judgenet: Judgenet, tmp_path: Path) -> None:
    run(judgenet, tmp_path, "first", "--orders", "ab")
    ran = judgenet("bias", "--recorded", "out")
    assert "needs both orders of a pair" in " ".join(ran.out.split())
    assert ran.code == 0


def test_the_runs_of_a_lab_are_looked_at_as_a_lab(judgenet: Judgenet, tmp_path: Path) -> None:
    run(judgenet, tmp_path, "first")
    with JudgeServer(mind="first", keep="none") as server:
        at = ("--pairs", tmp_path / "pairs.jsonl", "--base-url", server.url, "--model", "judge", *NETWORK)
        assert judgenet("bias", *at, "--probes", "order", "--out", "out", "-q").code == 0
    ran = judgenet("bias", "--recorded", "out/run-2")
    assert ran.code == 2
    assert "part of a bias lab" in ran.err
    # Without a name it is the newest run that is none of a lab.
    assert judgenet("bias", "--recorded", "out", "--json").json["run"] == "run-1"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--probes", "bandwagon"), "does not ask the prompts"),
        (("--own-system", "nobody"), "no pair has a response of this name"),
        (("--model", "some"), "--model does not apply"),
        (("--estimate",), "--estimate does not apply"),
    ],
)
def test_what_a_run_cannot_answer_is_refused(
    judgenet: Judgenet, tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    pairs, judgments = write_vector(tmp_path)
    judgenet("import", judgments, "--pairs", pairs, "--out", "vector")
    ran = judgenet("bias", "--recorded", "vector", *options)
    assert ran.code == 2
    assert says in ran.err


def test_the_table_fits_a_terminal(judgenet: Judgenet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    pairs, judgments = write_vector(tmp_path)
    judgenet("import", judgments, "--pairs", pairs, "--out", "vector")
    said = judgenet("bias", "--recorded", "vector", "--own-system", "J").out
    assert max(len(line) for line in said.splitlines()) <= 80
    rows = [line.split() for line in said.splitlines() if line.startswith("j ")]
    # Of seven valid pairs one each is first-first and last-last; the interval is Wilson's of 1 in 7.
    assert rows[0][:7] == ["j", ".143", ".026", "to", ".513", ".143", "+.000"]
    assert rows[0][-3:] == ["1.00", "7", "unclear"]
    assert [row[1] for row in rows[1:]] == [".500", ".750"]
